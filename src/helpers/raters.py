"""What to clear up with the raters before any conclusion is drawn.

Means, weights and agreement all take it that raters use a scale in the same direction
and the same range. `concerns` names those who do not seem to. It drops nobody: the
owner of the ratings knows whether a person misread the form, and decides.
"""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from helpers import intervals, reliability
from helpers.data.tables import OptionError

BELOW_CHANCE = "agreement below chance"
REVERSED = "reversed"
OTHER_SCALE = "other scale"
SHIFTED = "shifted"
KINDS = (BELOW_CHANCE, REVERSED, OTHER_SCALE, SHIFTED)
COLUMNS = ["concern", "rater", "estimate", "low", "high", "camp", "sentence"]
FEWEST_RATINGS = 10  # of a rater, on items that others rated, too
MOST_ALIGNED = 30  # raters for whom directions are found without their own ratings
MOST_DENSE = 1_000  # raters of a dense matrix
ONE_DIRECTION = 0.25  # by which votes for the other direction must outweigh
ERROR_RATE = 0.025  # as much again for agreement below chance
LARGE_SHIFT = 0.375  # of the scale: 1.5 points of 1 to 5, more than people's severity
OUTSIDE = 0.05  # of the ratings of raters on another scale
N_STEPS = 100  # of a continuous scale, for alpha
MOST_NAMED = 12


def concerns(
    frame: pd.DataFrame,
    column: str,
    *,
    item: str = "item_id",
    rater: str = "rater_id",
    prompt: str | None = None,
    level: str = "interval",
    scale: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Name raters who use a scale upside down, shifted or differently.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per item and rater, people only. Rows with missing values are not used.
    column : str
        Column of ratings.
    item, rater : str, optional
        Columns of items and raters.
    prompt : str, optional
        Column of clusters in which items lie; by default each item is one.
    level : {"interval", "ordinal", "nominal"}, optional
        Level of measurement. Labels without an order (nominal) are checked for
        agreement below chance only.
    scale : tuple of two float, optional
        Lowest and highest rating that the form allows.

    Returns
    -------
    pandas.DataFrame
        A row per concern and rater; no row if nothing stands in the way. ``concern`` is
        one of

        - ``agreement below chance``: the interval of Krippendorff's alpha for these
          raters and other prompts lies wholly below 0;
        - ``reversed``: a rater's correlation with the mean of the others, each turned
          into the direction of most, is below 0 (one-sided, 2.5 %, Holm for all
          raters);
        - ``other scale``: ratings outside of `scale`; or without `scale` a range that
          is shifted against that of most raters at both ends, or exceeds it by more
          than its whole width;
        - ``shifted``: on the same items, a mean that differs from the others' by three
          eighths of the scale or more (with 95 % confidence). Smaller differences in
          severity are usual, and rater effects allow for them.

        ``rater`` is the label, empty for agreement below chance; ``estimate``, ``low``
        and ``high`` are alpha, the correlation, the rater's lowest and highest rating
        (no estimate), or the difference in means; ``camp`` tells raters of the one
        direction (1, most) from those of the other (2); ``sentence`` says it in words.

    Raises
    ------
    OptionError
        If a column cannot be used or a rater rates an item twice.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ratings = pd.DataFrame({"item_id": np.repeat(np.arange(40), 3),
    ...                         "score": np.repeat(rng.integers(1, 6, 40), 3),
    ...                         "rater_id": ["ann", "ben", "cem"] * 40})
    >>> is_cem = ratings["rater_id"] == "cem"
    >>> ratings.loc[is_cem, "score"] = 6 - ratings["score"]
    >>> concerns(ratings, "score")[["concern", "rater"]]
                      concern rater
    0  agreement below chance
    1                reversed   cem
    """
    needed = [item, rater, column]
    if prompt is not None and prompt not in needed:
        needed.append(prompt)
    intervals.check_columns(frame, needed)
    rows = frame[needed].dropna()
    intervals.check_rated_once(rows, rater, item)
    is_numeric = pd.api.types.is_numeric_dtype(rows[column])
    if level != "nominal" and not is_numeric:
        raise OptionError(
            f"column {column!r} is of type {rows[column].dtype}: convert it to "
            "numbers, or use level='nominal'"
        )
    clusters = item if prompt is None else prompt
    n_raters = rows.groupby(item, observed=True)[rater].transform("size")
    shared = rows[n_raters > 1]
    found = []
    if len(shared) and shared[clusters].nunique() >= intervals.FEWEST_CLUSTERS:
        found += _below_chance(shared, column, item, rater, clusters, level)
        if level != "nominal":
            found += _reversed(shared, column, item, rater, clusters)
    if level != "nominal":
        elsewhere = _other_scale(rows, column, rater, scale)
        found += elsewhere
        named = [each["rater"] for each in elsewhere]
        others = shared[~shared[rater].isin(named)]
        found += _shifted(others, column, item, rater, clusters, scale)
    table = pd.DataFrame(found, columns=COLUMNS)
    return table.astype({"camp": "Int64"})


def _below_chance(
    rows: pd.DataFrame, column: str, item: str, rater: str, clusters: str, level: str
) -> list[dict]:
    """Alpha of these raters, with an interval for other prompts."""
    values = rows[column]
    if values.nunique() < 2:
        return []
    if level == "interval" and values.nunique() > N_STEPS:
        step = (values.max() - values.min()) / N_STEPS
        rows = rows.assign(**{column: (values / step).round()})
    table = reliability.agreement_table(
        rows, [column], item=item, rater=rater, clusters=[clusters], level=level
    )
    alpha = table.iloc[0]
    if not alpha["high"] < 0:
        return []
    sentence = (
        f"raters agree less on {column!r} than by chance (alpha {alpha['estimate']:.2f}"
        f", 95 % interval {alpha['low']:.2f} to {alpha['high']:.2f}): somebody may use "
        "the scale upside down, or another scale"
    )
    ends = {name: alpha[name] for name in ("estimate", "low", "high")}
    return [{"concern": BELOW_CHANCE, "rater": "", **ends, "sentence": sentence}]


# Direction -----------------------------------------------------------------------


def _reversed(
    rows: pd.DataFrame, column: str, item: str, rater: str, clusters: str
) -> list[dict]:
    """Raters whose ratings fall where those of most others rise."""
    raters, labels = pd.factorize(rows[rater], sort=True)
    items, _ = pd.factorize(rows[item])
    if len(labels) < 2:
        return []
    standard = _standardised(rows[column].to_numpy(dtype=float), raters)
    matrix = csr_array((standard, (raters, items)))
    was_rated = csr_array((np.ones(len(rows)), (raters, items)))
    shared = _without_diagonal(matrix @ matrix.T)
    n_shared = _without_diagonal(was_rated @ was_rated.T)
    # most ratings point upwards, among those who rate the same items
    direction = _direction(shared, np.bincount(raters))
    # a row of signs for each rater, or one row for all
    signs = direction[None]
    if len(labels) <= MOST_ALIGNED:
        signs = np.tile(direction, (len(labels), 1))
        for number in range(len(labels)):
            others = np.delete(np.arange(len(labels)), number)
            without = shared[others][:, others]
            signs[number, others] = _direction(without, direction[others])
    own_vote = n_shared.max(axis=1).toarray().ravel()
    votes = n_shared.multiply(signs).sum(axis=1) + direction * own_vote
    n_votes = n_shared.sum(axis=1) + own_vote
    # a group that few ratings link to the others is no group in reverse
    turn = np.where(votes < -ONE_DIRECTION * n_votes, -1.0, 1.0)
    of_items = (matrix.T @ signs.T).T
    summed = of_items[raters if len(signs) > 1 else 0, items]
    summed = turn[raters] * (summed - direction[raters] * standard)
    others = summed / (np.bincount(items)[items] - 1)
    tests = _correlations(raters, pd.factorize(rows[clusters])[0], standard, others)
    falls = tests["estimate"] < 0
    tests["p_value"] = np.where(falls, tests["p_value"] / 2, 1 - tests["p_value"] / 2)
    is_tested = tests["estimate"].notna()
    tests["is_reversed"] = False
    adjusted = intervals.holm(tests.loc[is_tested, "p_value"])
    tests.loc[is_tested, "is_reversed"] = adjusted <= ERROR_RATE
    return _camps(tests, direction * turn, labels, column)


def _camps(
    tests: pd.DataFrame, direction: np.ndarray, labels: pd.Index, column: str
) -> list[dict]:
    """Name who rates in the other direction; of two camps of one size name both."""
    is_reversed = tests["is_reversed"].to_numpy()
    if not is_reversed.any():
        return []
    camps = np.where((direction < 0) | is_reversed, 2, 1)
    is_even = 2 * (camps == 2).sum() >= len(labels)
    against = f"{_named(labels[camps == 2])} against {_named(labels[camps == 1])}"
    if len(labels) == 2:
        against = f"{labels[0]} against {labels[1]}"
    found = []
    for number in np.flatnonzero(is_reversed | is_even):
        test = tests.loc[number, ["estimate", "low", "high"]].to_dict()
        sentence = (
            f"{labels[number]} rates {column!r} high where most others rate low "
            f"(correlation {test['estimate']:.2f}): is the scale upside down?"
        )
        if is_even:
            sentence = (
                f"raters rate {column!r} in opposite directions, {against}: who has "
                "the scale upside down? The ratings alone do not tell"
            )
        concern = {"concern": REVERSED, "rater": labels[number], **test}
        found.append({**concern, "camp": camps[number], "sentence": sentence})
    return found


def _named(labels: pd.Index) -> str:
    """List names, of many the first."""
    names = [str(label) for label in labels[:MOST_NAMED]]
    rest = len(labels) - len(names)
    return ", ".join(names) + (f" and {rest} others" if rest else "")


def _standardised(values: np.ndarray, raters: np.ndarray) -> np.ndarray:
    """Subtract each rater's mean and divide by the standard deviation, if there is."""
    n = np.bincount(raters)
    centred = values - (np.bincount(raters, values) / n)[raters]
    spread = np.sqrt(np.bincount(raters, centred**2) / n)
    varies = spread > intervals.CONSTANT * (np.abs(values).max() + 1)
    return centred * np.where(varies, 1 / np.where(varies, spread, 1.0), 0.0)[raters]


def _without_diagonal(products: csr_array) -> csr_array:
    """Leave out what raters share with themselves."""
    products.setdiag(0.0)
    products.eliminate_zeros()
    return products


def _direction(shared: csr_array, like: np.ndarray) -> np.ndarray:
    """Signs of raters in the leading eigenvector of their products.

    Raters who share no items, directly or through others, have eigenvectors of their
    own. Each is turned so that its product with `like` is positive.
    """
    signs = np.ones(shared.shape[0])
    _, part = connected_components(shared != 0, directed=False)
    order = np.argsort(part, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(part))[:-1]):
        own = shared[members][:, members]
        if len(members) <= MOST_DENSE:
            leading = np.linalg.eigh(own.toarray())[1][:, -1]
        else:
            start = np.random.default_rng(0).standard_normal(len(members))
            leading = eigsh(own, k=1, which="LA", v0=start)[1][:, 0]
        own = np.where(leading < 0, -1.0, 1.0)
        signs[members] = own if own @ like[members] >= 0 else -own
    return signs


def _correlations(
    raters: np.ndarray, clusters: np.ndarray, own: np.ndarray, others: np.ndarray
) -> pd.DataFrame:
    """Correlation of each rater with others, without each cluster; NaN if not known."""
    # not on Fisher's scale, on which a rater who always agrees is infinitely far
    found = intervals.by_group(raters, clusters, own, others)
    tests = found[["estimate", "low", "high", "p_value"]].copy()
    is_perfect = tests["p_value"].isna() & (
        tests["estimate"].abs() > 1 - intervals.CONSTANT
    )
    tests.loc[is_perfect, ["low", "high"]] = tests["estimate"]
    tests.loc[is_perfect, "p_value"] = 0.0
    tests[["low", "high"]] = tests[["low", "high"]].clip(-1.0, 1.0)
    is_enough = found["n"] >= FEWEST_RATINGS
    is_enough &= found["n_clusters"] >= intervals.FEWEST_CLUSTERS
    for values in (own, others):
        of_raters = pd.Series(values).groupby(raters)
        is_enough &= of_raters.max() > of_raters.min()
    return tests.where(is_enough)


# Range and level -----------------------------------------------------------------


def _other_scale(
    rows: pd.DataFrame, column: str, rater: str, scale: tuple[float, float] | None
) -> list[dict]:
    """Raters whose ratings do not lie on the scale, or on that of most raters."""
    of_raters = rows.groupby(rater, observed=True)[column].agg(["min", "max", "size"])
    if scale is not None:
        is_outside = (of_raters["min"] < scale[0]) | (of_raters["max"] > scale[1])
        known = f"the scale is {scale[0]:g} to {scale[1]:g}"
        return _ranges(of_raters[is_outside], column, known)
    enough = of_raters[of_raters["size"] >= FEWEST_RATINGS]
    for turn in (1, -1):
        # a scale that starts higher is one that starts lower, upside down
        ends = (turn * enough[["min", "max"]]).agg(["min", "max"], axis=1)
        values = turn * rows[column]
        for lowest in np.unique(ends["min"]):
            below = ends.index[ends["min"] <= lowest]
            rest = ends.index.difference(below)
            if not len(rest) or len(below) > len(rest):
                break
            if _lies_lower(values, rows[rater], below, rest):
                others = rows.loc[rows[rater].isin(rest), column]
                known = f"others use {others.min():g} to {others.max():g}"
                return _ranges(enough.loc[below], column, known)
    return []


def _lies_lower(
    values: pd.Series, raters: pd.Series, below: pd.Index, rest: pd.Index
) -> bool:
    """Whether a range is shifted downwards at both ends, or by its whole width."""
    low = values[raters.isin(below)]
    high = values[raters.isin(rest)]
    width = high.max() - high.min()
    if high.min() - low.min() > width > 0:
        return True
    is_shifted = low.max() < high.max() and low.min() < high.min()
    share_below = (low < high.min()).mean()
    share_above = (high > low.max()).mean()
    return bool(is_shifted and min(share_below, share_above) >= OUTSIDE)


def _ranges(of_raters: pd.DataFrame, column: str, known: str) -> list[dict]:
    """Say which range each of these raters uses."""
    found = []
    for label, row in of_raters.iterrows():
        sentence = f"{label} rates {column!r} from {row['min']:g} to {row['max']:g}; "
        sentence += f"{known}: is it another scale?"
        found.append(
            {
                "concern": OTHER_SCALE,
                "rater": label,
                "low": row["min"],
                "high": row["max"],
                "sentence": sentence,
            }
        )
    return found


def _shifted(
    rows: pd.DataFrame,
    column: str,
    item: str,
    rater: str,
    clusters: str,
    scale: tuple[float, float] | None,
) -> list[dict]:
    """Raters whose ratings of the same items are much higher or lower."""
    of_items = rows.groupby(item, observed=True)[column]
    n_others = of_items.transform("size") - 1
    rows = rows[n_others > 0]
    others = (of_items.transform("sum") - rows[column]) / n_others
    low, high = scale or (rows[column].min(), rows[column].max())
    least = LARGE_SHIFT * (high - low)
    found = []
    if rows.empty:
        return found
    raters, labels = pd.factorize(rows[rater], sort=True)
    prompts, _ = pd.factorize(rows[clusters])
    shift = (rows[column] - others[rows.index]).to_numpy(dtype=float)
    tests = intervals.by_group(raters, prompts, shift)
    is_enough = tests["n"] >= FEWEST_RATINGS
    is_enough &= tests["n_clusters"] >= intervals.FEWEST_CLUSTERS
    for number, fitted in tests[is_enough].iterrows():
        label = labels[number]
        ends = fitted[["estimate", "low", "high"]].to_dict()
        if np.isnan(ends["low"]):  # the same shift everywhere
            ends["low"] = ends["high"] = ends["estimate"]
        nearest = min(abs(ends["low"]), abs(ends["high"]))
        if ends["low"] * ends["high"] <= 0 or nearest < least or least == 0:
            continue
        where = "higher" if ends["estimate"] > 0 else "lower"
        sentence = (
            f"{label} rates {column!r} {abs(ends['estimate']):.1f} points {where} than "
            "others rate the same items: is it the same scale?"
        )
        concern = {"concern": SHIFTED, "rater": label, **ends, "sentence": sentence}
        found.append(concern)
    return found
