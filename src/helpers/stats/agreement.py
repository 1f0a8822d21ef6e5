"""How far raters agree beyond chance, and what they make of attention checks.

Raters are interchangeable: a row of a table is one rating of one item, items may have
any number of ratings, and missing ratings are left out. In an attention check a
response is shown beside a *distractor*, which the same system wrote to a different
prompt; these tables have a row per response and submission with ``pair_id`` (the
submission), ``item_id``, ``prompt_id``, ``system`` and ``is_distractor``.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from helpers.stats import jackknife
from helpers.stats.checks import check_clusters, check_numeric
from helpers.stats.moments import cluster_sums, ratio
from helpers.stats.rates import error_rates

MEASUREMENT_LEVELS = ("nominal", "ordinal", "interval")
FEWEST_DIFFERENT = 10  # checks: with fewer that differ a jackknife says too little
TWO_PEOPLE = ["marks", "marks none", "same", "ac1", "alpha"]  # see `two_people`


def rating_counts(
    frame: pd.DataFrame, item: str, aspect: str, categories: Sequence[float]
) -> pd.DataFrame:
    """How often each item got each category.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating of an item.
    item : str
        Column of items.
    aspect : str
        Column of ratings; missing ratings are left out.
    categories : sequence of float
        All values of the scale in increasing order, whether they occur or not.

    Returns
    -------
    pandas.DataFrame of int, shape (n_items, n_categories)
        Items in sorted order; an item without a rating has zeros.

    Raises
    ------
    ValueError
        If a column cannot be used, or no item has two ratings.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a", "a", "b"], "refusal": [0, 1, 1]})
    >>> rating_counts(frame, "item_id", "refusal", [0, 1])
    refusal  0  1
    item_id
    a        1  1
    b        0  1
    """
    check_clusters(frame, item)
    check_numeric(frame, [aspect], missing="allow")
    ratings = frame[aspect].to_numpy(dtype=float, na_value=np.nan)
    # a missing rating equals no category, so that it is counted nowhere
    is_category = ratings[:, None] == np.asarray(categories, dtype=float)
    counts = cluster_sums(is_category, frame[item]).astype(int)
    if counts.sum(axis=1).max() < 2:
        raise ValueError(
            f"no item has two ratings of {aspect!r}: rate some items repeatedly"
        )
    _, items = pd.factorize(frame[item], sort=True)
    return pd.DataFrame(
        counts,
        index=pd.Index(items, name=item),
        columns=pd.Index(categories, name=aspect),
    )


def gwet_ac1(
    frame: pd.DataFrame, item: str, aspect: str, categories: Sequence[float]
) -> float:
    """Gwet's AC1: agreement beyond chance between ratings in unordered categories.

    AC1 = (a - c) / (1 - c), where a is how often two ratings of an item are the same,
    and chance agreement c is the sum of p (1 - p) over the prevalence p of the
    categories (their shares within an item, averaged over items), divided by their
    number less one. Items with one rating count for prevalence only. Where nearly all
    ratings fall into one category, AC1 expects little agreement by chance, kappa and
    alpha much: AC1 is then high, the others may be near zero.

    Parameters
    ----------
    frame, item, aspect, categories
        See `rating_counts`. The number of categories is that of the scale: it enters
        chance agreement even where a category does not occur.

    Returns
    -------
    float
        1 if all ratings agree, 0 if they agree as often as by chance.

    Raises
    ------
    ValueError
        See `rating_counts`.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61; Gwet
    (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 2; used by Hosking
    et al. (2024), section 2.1.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a", "a", "b", "b"], "refusal": [0, 0, 0, 1]})
    >>> round(gwet_ac1(frame, "item_id", "refusal", [0, 1]), 3)
    0.2
    """
    counts = rating_counts(frame, item, aspect, categories).to_numpy()
    n_ratings = counts.sum(axis=1, keepdims=True)
    n_pairs = n_ratings * (n_ratings - 1)
    n_agreeing = (counts * (counts - 1)).sum(axis=1, keepdims=True)
    # divided by 1 where there is no pair or no rating: such items add nothing
    observed = (n_agreeing / np.maximum(n_pairs, 1)).sum() / (n_pairs > 0).sum()
    shares = (counts / np.maximum(n_ratings, 1)).sum(axis=0) / (n_ratings > 0).sum()
    chance = (shares * (1 - shares)).sum() / (len(shares) - 1)
    return float((observed - chance) / (1 - chance))


def krippendorff_alpha(
    frame: pd.DataFrame, item: str, aspect: str, categories: Sequence[float], level: str
) -> float:
    """Krippendorff's alpha: one minus observed over expected disagreement."""
    counts = rating_counts(frame, item, aspect, categories)
    pairs = _coincidences(counts.to_numpy()).sum(axis=0)
    margins = pairs.sum(axis=1)
    distances = _distances(level, counts.columns.to_numpy(dtype=float), margins)
    observed = (pairs * distances).sum()
    # where all ratings are the same, nothing is expected to differ: no alpha
    expected = (np.outer(margins, margins) * distances).sum()
    return float(1 - (margins.sum() - 1) * ratio(observed, expected))


def two_people(
    marks: pd.DataFrame, item: str, aspect: str
) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function that computes how two people agree on a yes-or-no mark.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per item and rater.
    item : str
        Column of items.
    aspect : str
        Column of marks, 0 or 1.

    Returns
    -------
    callable
        From weights of rows, zeros and ones of shape (n_sets, n_rows), to an array of
        shape (n_sets, 5), see `TWO_PEOPLE`: how often another person marks an item that
        one marks, or does not mark, and how often the two give the same answer, in %;
        AC1; Krippendorff's alpha (nominal).

    Raises
    ------
    ValueError
        If the column cannot be used.

    Examples
    --------
    >>> marks = pd.DataFrame({"item_id": list("aabbcc"), "refusal": [1, 1, 0, 1, 0, 0]})
    >>> compute = two_people(marks, "item_id", "refusal")
    >>> compute(np.ones((1, 6))).round(2)
    array([[66.67, 33.33, 66.67,  0.33,  0.44]])
    """
    check_numeric(marks, [aspect])
    codes, _ = pd.factorize(marks[item], sort=True)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    marked = marks[aspect].to_numpy(dtype=float)[order]

    def compute(weights: np.ndarray) -> np.ndarray:
        counted = weights[:, order]
        n_raters = np.add.reduceat(counted, starts, axis=1)
        n_marks = np.add.reduceat(counted * marked, starts, axis=1)
        # prevalence counts items with one rating, pairs do not
        shares = n_marks / np.maximum(n_raters, 1)
        prevalence = shares.sum(axis=1) / (n_raters > 0).sum(axis=1)
        has_pair = n_raters >= 2
        n_raters = np.where(has_pair, n_raters, 0)
        n_marks = np.where(has_pair, n_marks, 0)
        n_none = n_raters - n_marks
        others = np.maximum(n_raters - 1, 1)
        total_marks = n_marks.sum(axis=1)
        total_none = n_none.sum(axis=1)
        both = (n_marks * (n_marks - 1) / others).sum(axis=1)
        differ = (n_marks * n_none / others).sum(axis=1)
        neither = (n_none * (n_none - 1) / others).sum(axis=1)

        alike = n_marks * (n_marks - 1) + n_none * (n_none - 1)
        alike = alike / np.maximum(n_raters * others, 1)
        observed = alike.sum(axis=1) / has_pair.sum(axis=1)
        chance = 2 * prevalence * (1 - prevalence)
        total = total_marks + total_none
        expected = 2 * ratio(total_marks * total_none, total - 1)
        found = [
            100 * ratio(both, total_marks),
            100 * ratio(differ, total_none),
            100 * (both + neither) / total,
            (observed - chance) / (1 - chance),
            1 - ratio(2 * differ, expected),
        ]
        return np.column_stack(found)

    return compute


def _coincidences(counts: np.ndarray) -> np.ndarray:
    """Ordered pairs of categories within each item, so that a rating counts once."""
    n_categories = counts.shape[1]
    # a rating makes no pair with itself: one less on the diagonal
    pairs = counts[:, :, None] * (counts[:, None, :] - np.eye(n_categories))
    n_partners = np.maximum(counts.sum(axis=1) - 1, 1)
    return pairs / n_partners[:, None, None]


def _distances(level: str, categories: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Squared distances of categories."""
    if level not in MEASUREMENT_LEVELS:
        raise ValueError(
            f"level {level!r} is unknown: choose one of {MEASUREMENT_LEVELS}"
        )
    if level == "nominal":
        return 1 - np.eye(len(categories))
    place = categories
    if level == "ordinal":
        # mean rank of a category's ratings
        place = margins.cumsum() - margins / 2
    return (place[:, None] - place) ** 2


def against_partner(
    ratings: pd.DataFrame, errors: Sequence[str], scores: Sequence[str] = ()
) -> pd.DataFrame:
    """Rate distractors against the response beside them, given by the same person.

    One person judges several checks, and one text is a distractor in several. So each
    person and each text is left out in turn for the intervals. Where fewer than ten
    checks differ in an error, that says too little: there the interval joins those of
    the two rates (Wilson's) by Newcombe's rule, and there is no test.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per response and submission, with the columns ``rater_id`` and
        ``response``, its text.
    errors : sequence of str
        Columns of marks, 0 or 1.
    scores : sequence of str, optional
        Columns of scores.

    Returns
    -------
    pandas.DataFrame
        Indexed by error and score: ``estimate`` (mean of the distractors less that of
        the other responses; errors in percentage points, scores in points of their
        scale), ``standard_error``, ``low``, ``high`` (95 %), ``p_value``, ``df``, ``n``
        checks, and ``differ``, how many of them differ.

    Raises
    ------
    ValueError
        If all checks are by one person or show one text.

    References
    ----------
    Hosking et al. (2024), section 2.2, Figure 2; Newcombe (1998), method 10.

    Examples
    --------
    >>> ratings = pd.DataFrame(
    ...     {"pair_id": np.repeat(range(20), 2), "is_distractor": [True, False] * 20,
    ...      "rater_id": np.repeat(list("abcd"), 10),
    ...      "response": [f"text {number}" for number in range(40)],
    ...      "relevance": [1, 0] * 12 + [0, 0] * 8})
    >>> against_partner(ratings, ["relevance"])[["estimate", "n", "differ"]]
               estimate   n  differ
    relevance      60.0  20      12
    """
    distractor, partner = split_checks(ratings)
    columns = [*errors, *scores]
    changes = distractor[columns].astype(float) - partner[columns]
    changes[list(errors)] *= 100
    table = _mean_changes(changes, distractor)
    few = table["differ"] < FEWEST_DIFFERENT
    checks = ratings[_in_check(ratings)]
    for error in table.index[few].intersection(list(errors)):
        table.loc[error, ["low", "high"]] = _newcombe(checks, error)
    table["p_value"] = table["p_value"].mask(few)
    return table


def against_same_text(ratings: pd.DataFrame, errors: Sequence[str]) -> pd.DataFrame:
    """Rate distractors against the very same text where it answers its own prompt.

    Whatever depends on the text alone should not change. Distractors that were not
    rated under their own prompt, or whose text several outputs share, are left out.

    Parameters
    ----------
    ratings, errors
        As in `against_partner`.

    Returns
    -------
    pandas.DataFrame
        As from `against_partner`; a distractor's marks are compared with the mean marks
        of its text under its own prompt, and there is a test however few differ.

    Raises
    ------
    ValueError
        If no distractor was rated under its own prompt.

    Examples
    --------
    >>> ratings = pd.DataFrame(
    ...     {"pair_id": [0, 0, 1, 1, 2, 2], "rater_id": list("aabbcc"),
    ...      "is_distractor": [True, False, True, False, False, False],
    ...      "item_id": list("uvwxyz"), "response": list("yvzxyz"),
    ...      "factuality": [1, 0, 1, 0, 0, 1]})
    >>> against_same_text(ratings, ["factuality"])[["estimate", "n"]]
                estimate  n
    factuality      50.0  2
    """
    by_text = ratings[~_in_check(ratings)].groupby("response")
    is_of_one_output = by_text["item_id"].nunique().eq(1)
    own = by_text[list(errors)].mean()[is_of_one_output]
    has_own_rating = ratings["response"].isin(own.index)
    distractor = ratings[ratings["is_distractor"] & has_own_rating]
    if distractor.empty:
        raise ValueError(
            "no distractor was rated under its own prompt: compare with the partner"
        )
    own_marks = own.loc[distractor["response"]].to_numpy()
    return _mean_changes(100 * (distractor[list(errors)] - own_marks), distractor)


def _in_check(ratings: pd.DataFrame) -> pd.Series:
    """Tell which rows belong to a pair with a distractor."""
    checks = ratings.loc[ratings["is_distractor"], "pair_id"]
    return ratings["pair_id"].isin(checks)


def split_checks(ratings: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split checks into distractors and the responses beside them, pair by pair.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per response and submission.

    Returns
    -------
    distractor, partner : pandas.DataFrame
        Both indexed by ``pair_id``, in the same order.

    Examples
    --------
    >>> ratings = pd.DataFrame(
    ...     {"pair_id": [0, 0, 1, 1], "is_distractor": [True, False, False, False],
    ...      "quality": [1, 5, 3, 4]})
    >>> distractor, partner = split_checks(ratings)
    >>> (distractor["quality"] < partner["quality"]).to_dict()
    {0: True}
    """
    checks = ratings[_in_check(ratings)].sort_values("pair_id", kind="stable")
    distractor = checks[checks["is_distractor"]].set_index("pair_id")
    partner = checks[~checks["is_distractor"]].set_index("pair_id")
    return distractor, partner


def _mean_changes(changes: pd.DataFrame, distractor: pd.DataFrame) -> pd.DataFrame:
    """Mean changes, people and texts of distractors left out in turn."""
    values = changes.to_numpy(dtype=float)

    def means(weights: np.ndarray) -> np.ndarray:
        return weights @ values / weights.sum(axis=1, keepdims=True)

    clusters = distractor[["rater_id", "response"]].reset_index(drop=True)
    table = jackknife.leave_one_out(means, clusters, list(changes))
    return table.assign(n=len(changes), differ=(changes != 0).sum())


def _newcombe(checks: pd.DataFrame, error: str) -> tuple[float, float]:
    """Interval of the difference of two rates, from the intervals of both."""
    rates = error_rates(checks, [error], "is_distractor", "rater_id")
    rates = rates.set_index("is_distractor")
    distractor = rates.loc[True]
    partner = rates.loc[False]
    change = distractor["estimate"] - partner["estimate"]
    below = np.hypot(
        distractor["estimate"] - distractor["low"],
        partner["high"] - partner["estimate"],
    )
    above = np.hypot(
        distractor["high"] - distractor["estimate"],
        partner["estimate"] - partner["low"],
    )
    return change - below, change + above
