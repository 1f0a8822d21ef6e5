"""What ratings of any study say about each aspect, in plain words, and the file that keeps it."""

from collections.abc import Mapping, Sequence

import pandas as pd

from helpers import paths
from helpers.checkup import prevalence
from helpers.own_plots import label
from helpers.own_study import Study
from helpers.paths import replace_files

SMALL = 0.1  # of the length of the outcome's scale: less is hardly any link
SIGNIFICANT = 0.05  # after Holm's correction

UP, DOWN, NONE, UNKNOWN = "higher", "lower", "hardly any link", "not known"


def verdicts(study: Study, least_squares: pd.DataFrame) -> pd.Series:
    """Judge each aspect by its interval from least squares, corrected for their number.

    Parameters
    ----------
    study : Study
        Ratings.
    least_squares : pandas.DataFrame
        Result of `helpers.own_weights.least_squares`.

    Returns
    -------
    pandas.Series
        By aspect: "higher" or "lower" (the outcome that goes with higher marks, p of all aspects
        by Holm below `SIGNIFICANT`), "hardly any link" (the interval lies within `SMALL` of the
        scale around zero), or "not known".

    Examples
    --------
    >>> import numpy as np
    >>> from helpers.own_study import prepare
    >>> from helpers.own_weights import least_squares
    >>> table = pd.DataFrame({"item_id": range(20), "prompt_id": range(20), "tone": [1.0, 2.0] * 10,
    ...                       "overall": [1.0, 4.0] * 9 + [2.0, 3.0]})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> verdicts(study, least_squares(study.moments()))
    tone    higher
    dtype: str
    """
    if "estimate" not in least_squares:
        return pd.Series(UNKNOWN, index=study.aspects)
    judged = pd.Series(UNKNOWN, index=study.aspects)
    judged[_is_small(study, least_squares["low"], least_squares["high"])] = NONE
    sure = least_squares["p, Holm"] < SIGNIFICANT
    judged[sure & (least_squares["estimate"] > 0)] = UP
    judged[sure & (least_squares["estimate"] < 0)] = DOWN
    return judged


def results(
    study: Study, aspects: Sequence[str], tables: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Put all that was found about each aspect into one row, with a conclusion in plain words.

    Parameters
    ----------
    study : Study
        Ratings.
    aspects : sequence of str
        All aspects that were asked for.
    tables : mapping of str to pandas.DataFrame
        Tables with a row per aspect by their names: ``"least squares"``, and any others with an
        ``estimate``. Those that are `helpers.own_weights.not_done` have no columns in the result.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: ``conclusion``, ``other ratings`` (with another mark than the most
        frequent one), and for each table its ``estimate``, ``low`` and ``high`` and, if it has
        one, ``p, Holm``, under the name of the table.
    """
    rows = prevalence(study.frame, study.aspects)[["other ratings", "warning"]]
    judged = verdicts(study, tables["least squares"])
    words = {
        aspect: _in_words(study, aspect, judged[aspect], rows["warning"][aspect], tables)
        for aspect in study.aspects
    }
    words |= {aspect: f"left out: {reason}" for aspect, reason in study.left_out.items()}
    counts = rows["other ratings"].astype("Int64")
    columns = {"conclusion": pd.Series(words), "other ratings": counts}
    for name, table in tables.items():
        for part in ("estimate", "low", "high", "p, Holm"):
            if "estimate" in table and part in table:
                columns[name if part == "estimate" else f"{name}: {part}"] = table[part]
    return pd.DataFrame(columns).reindex(list(aspects)).rename_axis("aspect")


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Choose the columns of the results that a reader wants to see side by side.

    Parameters
    ----------
    table : pandas.DataFrame
        From `results`.

    Returns
    -------
    pandas.DataFrame
        Without intervals and p-values of the single methods.

    Examples
    --------
    >>> shown(pd.DataFrame(columns=["conclusion", "Lasso", "Lasso: low"])).columns.tolist()
    ['conclusion', 'Lasso']
    """
    return table[[column for column in table if ": " not in column]]


def summary(study: Study, least_squares: pd.DataFrame) -> str:
    """Sum up the verdicts in one sentence.

    Parameters
    ----------
    study : Study
        Ratings.
    least_squares : pandas.DataFrame
        Result of `helpers.own_weights.least_squares`.

    Returns
    -------
    str
        How many aspects have which verdict.
    """
    counts = verdicts(study, least_squares).value_counts()
    found = counts.get(UP, 0) + counts.get(DOWN, 0)
    return (
        f"Aspects that go with {study.outcome} beyond chance: {found} of {len(study.aspects)}; "
        f"with hardly any link: {counts.get(NONE, 0)}; not known: {counts.get(UNKNOWN, 0)}."
    )


def largest_weight(weights: pd.DataFrame, outcome: str) -> str:
    """Name the aspect with the largest weight, for the title of a figure.

    Parameters
    ----------
    weights : pandas.DataFrame
        ``estimate`` by aspect.
    outcome : str
        Column to explain.

    Returns
    -------
    str

    Examples
    --------
    >>> largest_weight(pd.DataFrame({"estimate": [0.5, -1.5]}, ["tone", "refusal"]), "overall")
    'refusal weighs most: −1.50 points of overall'
    """
    if "estimate" not in weights:
        return f"Weights in {label(outcome)}"
    first = weights["estimate"].abs().idxmax()
    if weights["estimate"][first] == 0:
        return "No aspect has a weight"
    points = f"{weights['estimate'][first]:+.2f}".replace("-", "−")
    return f"{label(first)} weighs most: {points} points of {label(outcome)}"


def least_agreement(agreement: pd.DataFrame) -> str:
    """Name the column on which raters agree least, for the title of a figure.

    Parameters
    ----------
    agreement : pandas.DataFrame
        Result of `helpers.own_checks.agreement`.

    Returns
    -------
    str

    Examples
    --------
    >>> least_agreement(pd.DataFrame({"estimate": [0.5, 0.25]}, ["tone", "refusal"]))
    'People agree least on refusal: alpha 0.25'
    """
    if "estimate" not in agreement or agreement["estimate"].isna().all():
        return "Agreement between raters"
    last = agreement["estimate"].idxmin()
    alpha = f"{agreement['estimate'][last]:.2f}".replace("-", "−")
    return f"People agree least on {label(last)}: alpha {alpha}"


def most_sensitive(choices: pd.DataFrame) -> str:
    """Name the aspect whose weight depends most on choices, for the title of a figure.

    Parameters
    ----------
    choices : pandas.DataFrame
        Result of `helpers.own_weights.sensitivity`.

    Returns
    -------
    str

    Examples
    --------
    >>> most_sensitive(pd.DataFrame({"all ratings": [0.5], "lowest": [0.25]}, index=["tone"]))
    'Most sensitive to choices: tone, by 0.25 points'
    """
    if "not done" in choices:
        return "Weights under other choices"
    spread = choices.max(axis="columns") - choices.min(axis="columns")
    return f"Most sensitive to choices: {label(spread.idxmax())}, by {spread.max():.2f} points"


def largest_change(held: pd.DataFrame) -> str:
    """Name the aspect whose weight changes most with the covariate, for the title of a figure.

    Parameters
    ----------
    held : pandas.DataFrame
        Result of `helpers.own_checks.confounder`.

    Returns
    -------
    str

    Examples
    --------
    >>> held = pd.DataFrame({"alone": [0.5], "estimate": [0.25], "change": [-0.25]}, ["tone"])
    >>> largest_change(held)
    'Largest change with the covariate: tone, 0.50 to 0.25'
    """
    if "estimate" not in held:
        return "A covariate held constant"
    first = held["change"].abs().idxmax()
    before, after = held.loc[first, ["alone", "estimate"]]
    change = f"{before:.2f} to {after:.2f}".replace("-", "−")
    return f"Largest change with the covariate: {label(first)}, {change}"


def save(table: pd.DataFrame, name: str, out_dir: str) -> None:
    """Write a table of results in one step, so that no half file is ever seen.

    Parameters
    ----------
    table : pandas.DataFrame
        Results with a named index.
    name : str
        Name of the notebook; the file is ``<out_dir>/results/<name>.csv``.
    out_dir : str
        Output folder of the run, relative to the project root.

    Examples
    --------
    >>> import tempfile
    >>> table = pd.DataFrame({"weight": [0.5]}, index=pd.Index(["tone"], name="aspect"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(table, "53_your_ratings", folder)
    ...     print((paths.ROOT / folder / "results" / "53_your_ratings.csv").read_text())
    aspect,weight
    tone,0.5
    <BLANKLINE>
    """
    file = paths.output_dir(out_dir) / "results" / f"{name}.csv"
    replace_files({file: table.to_csv(lineterminator="\n", float_format="%.6g").encode()})


def _is_small(study: Study, low: float | pd.Series, high: float | pd.Series) -> bool | pd.Series:
    """Tell whether an interval holds small weights only."""
    bottom, top = study.ends.loc[study.outcome, ["low", "high"]]
    small = SMALL * (top - bottom)
    return (low > -small) & (high < small)


def _in_words(
    study: Study, aspect: str, verdict: str, warning: str, tables: Mapping[str, pd.DataFrame]
) -> str:
    """Say what was found about one aspect."""
    table = tables["least squares"]
    if "estimate" not in table:
        return f"{UNKNOWN}: too few clusters for so many aspects"
    low, high = table.loc[aspect, ["low", "high"]]
    at_most = f"at most {max(-low, high):.2f} points either way"
    if verdict == UNKNOWN:
        words = f"{verdict}: anything from {low:+.2f} to {high:+.2f} points fits"
    elif verdict == NONE:
        words = f"{verdict}: {at_most}"
    else:
        words = f"higher marks go with {verdict} {study.outcome}"
        words += f", but hardly: {at_most}" if _is_small(study, low, high) else ""
    return f"{words}; {warning}" if warning else words
