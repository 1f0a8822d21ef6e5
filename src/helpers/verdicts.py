"""Verdicts: how a recomputed number is compared, and the files that hold the outcome.

Each notebook writes one file; `merge` joins those files with the list of all published claims.
"""

import math
from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.paths import replace_files
from helpers.published import ClaimError, published_claims, read_text, unknown_claim

VERDICTS = (
    "reproduced",
    "within variability",
    "differs",
    "not testable",
    "simulated",
    "not run",
)
AGREEMENT_WITHIN = {"split": "within variability", "attainable": "reproduced"}
PRINTED = ("study", "where", "statement", "published")
ENTERED = ("computed", "low", "high", "verdict", "note", "notebook", "source")
COLUMNS = ("claim_id", *PRINTED, *ENTERED)

_ROUNDING_SLACK = 1e-9


def verdict_on_number(
    kind: str,
    published: float,
    computed: float,
    decimals: int,
    interval: tuple[float, float] | None = None,
) -> str:
    """Compare a recomputed number with the printed one.

    Parameters
    ----------
    kind : {"value", "count", "split", "attainable"}
        A value agrees if it lies within half a unit of the last printed digit, a count if it is
        equal. A result of an unpublished random split, and a number recomputed from rounded
        numbers, agree if some number that rounds to the printed one lies in `interval`.
    published, computed : float
        Both in the unit of the claim.
    decimals : int
        Digits printed after the decimal point.
    interval : (float, float), optional
        Central range over redrawn splits, or the range that rounding leaves.

    Returns
    -------
    str
        "reproduced", "within variability" or "differs".

    Examples
    --------
    >>> verdict_on_number("value", 3.2, 3.24, decimals=1)
    'reproduced'
    >>> verdict_on_number("value", 3.2, 3.26, decimals=1)
    'differs'
    >>> verdict_on_number("split", 3, 2.77, decimals=0, interval=(2.6, 2.9))
    'within variability'
    """
    half_unit = 0.5 * 10**-decimals + _ROUNDING_SLACK
    if kind in AGREEMENT_WITHIN:
        low, high = interval
        inside = low - half_unit <= published <= high + half_unit
        return AGREEMENT_WITHIN[kind] if inside else "differs"
    tolerance = 0 if kind == "count" else half_unit
    return "reproduced" if abs(computed - published) <= tolerance else "differs"


def write(entered: pd.DataFrame, notebook: str, out_dir: str) -> Path:
    """Write a notebook's claims in one step, so that no half file is ever seen.

    Parameters
    ----------
    entered : pandas.DataFrame
        Indexed by `claim_id`, with the other `COLUMNS` among its columns.
    notebook : str
        Name of the file, without ending.
    out_dir : str
        Folder of the run; the file goes into its folder `claims`.

    Returns
    -------
    pathlib.Path
        The written file. Numbers have six digits.
    """
    written = entered.reset_index()[list(COLUMNS)].astype(object)
    written[["computed", "low", "high"]] = written[["computed", "low", "high"]].map(_six_digits)
    file = paths.output_dir(out_dir) / "claims" / f"{notebook}.csv"
    replace_files({file: written.to_csv(index=False, lineterminator="\n").encode()})
    return file


def merge(claims_dir: str | Path) -> pd.DataFrame:
    """Join the files of all notebooks with the list of published claims.

    Parameters
    ----------
    claims_dir : str or pathlib.Path
        The folder `claims` of a run.

    Returns
    -------
    pandas.DataFrame
        Every published claim, in the order of the published files, with the columns `COLUMNS` as
        text. Claims that no notebook entered are "not run" or "not testable".

    Raises
    ------
    ClaimError
        If the folder does not exist, if two notebooks entered the same claim, or if a file names
        a claim that is not published.
    """
    published = published_claims()
    entered = _read_entered(Path(claims_dir), published.index)
    merged = published.join(entered.drop(columns=list(PRINTED))).fillna("")
    not_testable = merged["testable"] == "no"
    absent = merged["verdict"] == ""
    merged.loc[absent, "verdict"] = "not run"
    merged.loc[not_testable, "verdict"] = "not testable"
    merged.loc[not_testable, "note"] = merged["why_not"]
    return merged.reset_index()[list(COLUMNS)]


def summary(merged: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of each study.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    pandas.DataFrame
        One row per study, one column per verdict in the order of `VERDICTS`.

    Examples
    --------
    >>> merged = pd.DataFrame({"study": ["a", "a"], "verdict": ["differs", "reproduced"]})
    >>> summary(merged).loc["a", ["reproduced", "differs", "not run"]].tolist()
    [1, 1, 0]
    """
    counts = pd.crosstab(merged["study"], merged["verdict"])
    return counts.reindex(columns=list(VERDICTS), fill_value=0)


def _six_digits(value: object) -> object:
    """Write a number to six digits and leave words as they are."""
    return f"{value:.6g}" if isinstance(value, float) and not math.isnan(value) else value


def _read_entered(folder: Path, known: pd.Index) -> pd.DataFrame:
    """Read the files of all notebooks, indexed by claim."""
    if not folder.is_dir():
        raise ClaimError(f"There is no folder {folder}: run the notebooks first.")
    files = [read_text(file) for file in sorted(folder.glob("*.csv"))]
    entered = pd.concat([pd.DataFrame(columns=list(COLUMNS), dtype=str), *files])
    for claim_id, notebooks in entered.groupby("claim_id", sort=False)["notebook"]:
        if claim_id not in known:
            raise ClaimError(f"{notebooks.iloc[0]}: {unknown_claim(claim_id, known)}")
        if len(notebooks) > 1:
            raise ClaimError(f"{claim_id} was entered by {' and '.join(notebooks)}.")
    return entered.set_index("claim_id")
