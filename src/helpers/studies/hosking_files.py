"""The released files of Hosking, Blunsom and Bartolo (2024), in the words of `helpers.files.schemas`."""

from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from helpers.files import schemas, tables
from helpers.files.tables import as_text

SYSTEM_NAMES = {
    "command_52B_v14_20230622": "Command 52B",
    "command_52Bpref_v14.7_20230817": "Command 52B",
    "command_6B_v14_20230622": "Command 6B",
    "command_6Bpref_v14.7_20230817": "Command 6B",
    "falcon40": "Falcon 40B",
    "llama13chat": "Llama 2 13B",
    "mpt30instruct": "MPT 30B",
    "refs": "References",
}
ARM_NAMES = {
    "normal": "baseline",
    "confidence_low": "assertive_low",
    "confidence_high": "assertive_high",
    "complexity_low": "complex_low",
    "complexity_high": "complex_high",
}
COLUMN_NAMES = {
    "assertive": "assertiveness",
    "inconsistent": "inconsistency",
    "length": "response_words",
    "overall": "quality_biased",
    "score": "quality_unbiased",
    "useful": "usefulness",
}


def read_pairs(path: Path, schema: pa.DataFrameSchema) -> pd.DataFrame:
    """Read a released table of crowd ratings, in which rows 2k and 2k + 1 are a pair.

    A distractor is another output of the system that it is paired with, whose name the file
    leaves out. Identities of raters are not released: the rater is named after the pair, which
    one person rated at one time.

    Parameters
    ----------
    path : pathlib.Path
        A Parquet file.
    schema : pandera.pandas.DataFrameSchema
        What its table must look like.

    Returns
    -------
    pandas.DataFrame
        The columns of the schema, rows in the order of the file.

    Raises
    ------
    tables.BadTableError
        If the file is not as expected.
    """
    raw = tables.read_parquet(path)
    tables.require(raw, ["dataset", "sample_ix", "model"], path.name)
    raw = as_text(raw, ["dataset", "model"], path.name)
    if len(raw) % 2:
        problem = f"{len(raw)} rows: rows form pairs, so their number must be even"
        raise tables.bad_table(path.name, [problem])
    pair = np.arange(len(raw)) // 2
    is_distractor = raw["model"] == "distractor"
    partner = raw["model"].to_numpy()[np.arange(len(raw)) ^ 1]
    table = raw.rename(columns=COLUMN_NAMES).assign(
        **_design(raw, raw["model"].where(~is_distractor, partner)),
        is_distractor=is_distractor,
        pair_id=pair,
        rater_id="pair-" + pd.Series(pair).astype(str),
    )
    table["item_id"] = table["item_id"].where(~is_distractor, table["item_id"] + "|distractor")
    return schemas.check(table, schema, path.name)


def read_experts(path: Path, batch: str) -> pd.DataFrame:
    """Read a file of experts' error checks, one JSON object per output.

    The released identifier is a name and the running number of the submission; raters are told
    apart by the name alone.

    Parameters
    ----------
    path : pathlib.Path
        A JSONL file.
    batch : str
        Batch that the file belongs to.

    Returns
    -------
    pandas.DataFrame
        The columns of `schemas.HOSKING_EXPERTS`, rows in the order of the file. ``rater_id``
        still holds names.

    Raises
    ------
    tables.BadTableError
        If the file is not as expected.
    """
    raw = tables.read_jsonl(path)
    raw = raw.rename(columns=lambda name: name.rpartition(".")[2].removesuffix("_a"))
    tables.require(raw, ["dataset", "sample_ix", "model", "preamble_type", "email"], path.name)
    raw = as_text(raw, ["dataset", "model", "preamble_type", "email"], path.name)
    table = raw.replace({"No": 0, "Yes": 1}).rename(columns=COLUMN_NAMES)
    table = table.assign(
        **_design(raw, raw["model"]),
        rater_id=raw["email"].str.replace(r"_\d+$", "", regex=True),
        batch=batch,
    )
    return schemas.check(table, schemas.HOSKING_EXPERTS, path.name)


def _design(raw: pd.DataFrame, model: pd.Series) -> dict[str, pd.Series]:
    """Name the task, prompt, system and arm of each row; unknown names are left as they are."""
    prompt_id = raw["dataset"] + "-" + raw["sample_ix"].astype(str).str.removeprefix("distractor_")
    system = model.replace(SYSTEM_NAMES)
    if "preamble_type" in raw:
        arm = raw["preamble_type"].replace(ARM_NAMES)
    else:
        arm = pd.Series("baseline", index=raw.index)
    return {
        "item_id": prompt_id + "|" + system + "|" + arm,
        "prompt_id": prompt_id,
        "task": raw["dataset"],
        "system": system,
        "arm": arm,
    }
