"""Checks of a table before a statistic: what it refuses, and what to do about it."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd


def check_regression(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    cluster: str | None = None,
) -> None:
    """Stop unless a table can be used to explain an outcome by features."""
    if not len(features):
        raise ValueError("no features are named: give at least one column")
    check_numeric(frame, [*features, outcome])
    if cluster is not None:
        check_clusters(frame, cluster)
    if frame[outcome].nunique() < 2:
        raise ValueError(
            f"outcome {outcome!r} has the same value in all {len(frame)} rows: "
            "there is nothing to explain"
        )


def check_numeric(
    frame: pd.DataFrame, columns: Iterable[str], missing: str = "refuse"
) -> None:
    """Stop unless every column exists, is named once, is numeric and finite."""
    columns = list(columns)
    for position, column in enumerate(columns):
        check_known(frame, column)
        if column in columns[:position]:
            raise ValueError(f"column {column!r} is named twice: name each column once")
        values = frame[column]
        if not pd.api.types.is_numeric_dtype(values):
            raise ValueError(
                f"column {column!r} is of type {values.dtype}: convert it to numbers"
            )
        if missing == "refuse":
            check_complete(frame, [column])
        infinite = np.isinf(values.to_numpy(dtype=float, na_value=np.nan))
        if infinite.any():
            row = values.index[infinite][0]
            raise ValueError(
                f"column {column!r} is infinite in row {row}: correct the value"
            )


def check_complete(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Stop unless every column exists and has a value in each row."""
    for column in columns:
        check_known(frame, column)
        gaps = frame[column].isna().to_numpy()
        if gaps.any():
            n_missing = gaps.sum()
            plural = "s" if n_missing > 1 else ""
            first_row = frame.index[gaps][0]
            raise ValueError(
                f"column {column!r} has {n_missing} missing value{plural}, first in "
                f"row {first_row}: fill in or drop what is missing"
            )


def check_clusters(frame: pd.DataFrame, cluster: str) -> None:
    """Stop unless every row belongs to a cluster and there are two clusters or more."""
    check_complete(frame, [cluster])
    n_clusters = frame[cluster].nunique()
    if n_clusters < 2:
        plural = "" if n_clusters == 1 else "s"
        raise ValueError(
            f"column {cluster!r} has {n_clusters} distinct value{plural}: "
            "clusters need at least 2"
        )


def check_full_rank(
    frame: pd.DataFrame, features: Sequence[str], intercept: bool
) -> None:
    """Stop if a feature is a combination of the features before it."""
    names = []
    columns = []
    if intercept:
        names.append("the intercept")
        columns.append(np.ones(len(frame)))
    for name in features:
        column = frame[name].to_numpy(dtype=float)
        if not column.any():
            raise ValueError(f"feature {name!r} is zero: leave it out")
        # Columns of length one: the rank is not to depend on their units. The length of
        # a column of tiny numbers is rounded to zero.
        length = np.linalg.norm(column)
        columns.append(column / length if length > 0 else column)
        if np.linalg.matrix_rank(np.column_stack(columns)) < len(columns):
            raise ValueError(
                f"feature {name!r} is a combination of {', '.join(names)}: leave it out"
            )
        names.append(name)


def check_known(frame: pd.DataFrame, column: str) -> None:
    """Stop if the table has no such column."""
    if column not in frame.columns:
        columns = ", ".join(str(name) for name in frame.columns)
        raise ValueError(f"column {column!r} is not in the table, which has: {columns}")
