"""Whether an error is there, when all that is known is what several people marked.

Each output has the error or not. A rater marks it with one probability if it is there, and with
another if it is not; an expert has two probabilities of their own. Which outputs have it is not
observed, but the numbers of marks tell: with raters who only guess they would be binomial.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers.files.tables import check_clusters, check_numeric

COLUMNS = (
    "prevalence",
    "sensitivity",
    "false_alarms",
    "expert_sensitivity",
    "expert_false_alarms",
)
MAX_STEPS = 5000
TOLERANCE = 1e-6  # largest change of a probability in the last step


def fit_classes(
    marks: pd.DataFrame, errors: Sequence[str], experts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Estimate how common errors are, and how often they are marked rightly and wrongly.

    Marks of one output by different people are taken to be independent, given whether the error
    is there. The estimates maximise the likelihood with one mark and one missing mark added to
    either class, and one output to either, so that no probability is 0 or 1.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per output and rater: ``item_id`` and the errors, 0 or 1.
    errors : sequence of str
        Error columns.
    experts : pandas.DataFrame, optional
        One row per output that an expert checked: ``item_id`` and the errors, 0 or 1.

    Returns
    -------
    pandas.DataFrame
        A row per error: ``prevalence``, ``sensitivity``, ``false_alarms``,
        ``expert_sensitivity`` and ``expert_false_alarms``, all shares. Without experts the last
        two are NaN.

    Raises
    ------
    ValueError
        If a column cannot be used, a mark is neither 0 nor 1, or the experts checked an output
        that nobody else did.

    References
    ----------
    Dawid and Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM
    Algorithm; Dempster, Laird and Rubin (1977).

    Examples
    --------
    >>> counts = [5] * 20 + [0] * 80
    >>> marks = pd.DataFrame({"item_id": np.repeat(np.arange(100), 5),
    ...                       "refusal": np.concatenate([[1] * n + [0] * (5 - n) for n in counts])})
    >>> fit_classes(marks, ["refusal"]).round(2)
             prevalence  sensitivity  ...  expert_sensitivity  expert_false_alarms
    refusal        0.21         0.99  ...                 NaN                  NaN
    <BLANKLINE>
    [1 rows x 5 columns]
    """
    errors = list(errors)
    _check_marks(marks, errors)
    marked = marks.groupby("item_id")[errors].sum()
    size = marks.groupby("item_id").size()
    if experts is None:
        seen = pd.DataFrame(np.nan, marked.index, errors)
    else:
        _check_marks(experts, errors)
        _check_known(experts["item_id"], marked.index)
        seen = experts.drop_duplicates("item_id").set_index("item_id")[errors].reindex(marked.index)
    rows = {error: _fit(marked[error], size, seen[error]) for error in errors}
    table = pd.DataFrame(rows, index=list(COLUMNS)).T
    if experts is None:
        table[list(COLUMNS[3:])] = np.nan
    return table


def _fit(marked: pd.Series, size: pd.Series, seen: pd.Series) -> np.ndarray:
    """Probabilities for one error, in the order of `COLUMNS`."""
    patterns = pd.DataFrame({"marked": marked, "size": size, "seen": seen})
    patterns = patterns.value_counts(dropna=False).sort_index().reset_index()
    yes = patterns[["marked", "seen"]].fillna(0.0).to_numpy(dtype=float)
    no = np.column_stack([patterns["size"] - patterns["marked"], 1.0 - patterns["seen"]])
    no = np.nan_to_num(no)
    count = patterns["count"].to_numpy(dtype=float)
    rate = (marked.sum() + 1) / (size.sum() + 2)
    found = np.array([0.1, 0.6, 0.5 * rate, 0.8, 0.1])
    for _ in range(MAX_STEPS):
        there = count * expit(_log_odds(found, yes, no))
        before, found = found, _probabilities(there, count - there, yes, no)
        if np.abs(found - before).max() < TOLERANCE:
            break
    return found


def _log_odds(found: np.ndarray, yes: np.ndarray, no: np.ndarray) -> np.ndarray:
    """Log-odds that the error is there, for each pattern of marks."""
    prevalence, right, wrong = found[0], found[[1, 3]], found[[2, 4]]
    evidence = yes @ np.log(right / wrong) + no @ np.log((1 - right) / (1 - wrong))
    return np.log(prevalence / (1 - prevalence)) + evidence


def _probabilities(
    there: np.ndarray, absent: np.ndarray, yes: np.ndarray, no: np.ndarray
) -> np.ndarray:
    """Probabilities if so many outputs of each pattern have the error and so many do not."""
    right, wrong = ((n @ yes + 1) / (n @ (yes + no) + 2) for n in (there, absent))
    prevalence = (there.sum() + 1) / (there.sum() + absent.sum() + 2)
    return np.array([prevalence, right[0], wrong[0], right[1], wrong[1]])


def _check_marks(marks: pd.DataFrame, errors: list[str]) -> None:
    """Stop unless every mark is 0 or 1."""
    check_clusters(marks, "item_id")
    check_numeric(marks, errors)
    for error in errors:
        wrong = ~marks[error].isin([0, 1]).to_numpy()
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"column {error!r} is {marks[error].iloc[row]} in row {marks.index[row]}: "
                "give single marks, 0 or 1, not averages"
            )


def _check_known(items: pd.Series, known: pd.Index) -> None:
    """Stop at the first output that only experts checked."""
    unknown = ~items.isin(known).to_numpy()
    if unknown.any():
        raise ValueError(
            f"experts checked output {items.iloc[int(np.argmax(unknown))]}, which nobody marked: "
            "leave it out"
        )
