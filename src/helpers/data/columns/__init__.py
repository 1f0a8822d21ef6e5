"""What the tables of each study must look like: one module for each study.

The module of a study holds the words used in its tables, such as the names of systems,
and a schema for each table. Tables are wide: one row per (item, rater). Real and
simulated tables pass the same schema. What schemas are made of is in `kinds`.
"""

import pandas as pd
import pandera.pandas as pa

from helpers.data.tables import bad_table, cell, require_plain


def check(frame: pd.DataFrame, schema: pa.DataFrameSchema, name: str) -> pd.DataFrame:
    """Validate a table and return it with the schema's column types."""
    present = frame.columns.intersection(schema.columns, sort=False).unique()
    require_plain(frame, present, name)
    try:
        checked = schema.validate(frame.reset_index(drop=True), lazy=True)
    except pa.errors.SchemaErrors as error:
        problems = _problems(error.failure_cases, schema)
        raise bad_table(name, problems) from None
    return checked[list(schema.columns)]


def _problems(cases: pd.DataFrame, schema: pa.DataFrameSchema) -> list[str]:
    """Describe pandera's failure cases: whole columns first, then row by row."""
    # A cell that cannot become a number fails every later check of its column too.
    uncastable = cases["check"].str.startswith("coerce_dtype")
    uncastable_columns = cases.loc[uncastable, "column"]
    is_follow_up = ~uncastable & cases["column"].isin(uncastable_columns)
    # A repeated row is reported once for each column of the key; one report will do.
    is_repeated_row = cases["check"] == "multiple_fields_uniqueness"
    is_same_report = is_repeated_row & (cases["column"] != schema.unique[0])
    cases = cases[~is_follow_up & ~is_same_report]
    cases = cases.assign(row=cases["index"].astype(float) + 1)
    cases = cases.sort_values("row", na_position="first", kind="stable")
    return [_problem(case, schema) for case in cases.itertuples()]


def _problem(case: tuple, schema: pa.DataFrameSchema) -> str:
    """Describe one failure case in one line."""
    if case.check == "column_in_dataframe":
        return f"column {case.failure_case!r} is missing"
    allowed = schema.columns[case.column].description
    if pd.isna(case.row):
        return f"column {case.column!r} holds {case.failure_case}; allowed: {allowed}"
    where = f"column {case.column!r}, row {case.row:.0f}"
    if case.check == "not_nullable":
        return f"{where}: empty; a value is needed"
    value = cell(case.failure_case)
    if case.check == "multiple_fields_uniqueness":
        problem = f"{where}: {value} stands there again"
        other_keys = " and ".join(schema.unique[1:])
        return f"{problem} with the same {other_keys}" if other_keys else problem
    return f"{where}: {value} is not allowed; allowed: {allowed}"
