"""How far raters of the same items agree: alpha, AC1, percent and specific agreement.

Every coefficient is a function of sums over items, and an item enters by how often it
got each value. Without a rater or a prompt only the items that it touches change, so
that nothing is computed again for the jackknife. Raters are interchangeable, items may
have any number of ratings, and items with a single rating form no pair.

Few ratings of a rare label say little, however many items there are. `interval_rule`
states when an interval comes from the jackknife, when from Wilson's interval, and when
there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from helpers import intervals
from helpers.data.tables import OptionError
from helpers.intervals import Estimates

BY_SCALE = ("alpha", "AC1", "percent")
COEFFICIENTS = (*BY_SCALE, "specific")
LEVELS = ("nominal", "ordinal", "interval")
FEWEST_RATINGS = 10  # of the rarer label
FEWEST_ITEMS = 10  # on which two raters agree on the rarer label
MOST_CATEGORIES = 200
NEVER_MOVES = "none: no rater and no prompt moves the estimate when left out"
CLUSTER_NEEDED = (
    "none: without one of the raters or prompts the coefficient is not defined; leave "
    "their column out of clusters, and say that the result is about them only"
)


def value_counts(
    frame: pd.DataFrame,
    column: str,
    *,
    item: str = "item_id",
    categories: Sequence | None = None,
) -> pd.DataFrame:
    """Count how often each item got each value.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per item and rater.
    column : str
        Column of ratings; rows without a rating are left out.
    item : str, optional
        Column of items.
    categories : sequence, optional
        All values of the scale in increasing order, whether they occur or not; by
        default those that occur.

    Returns
    -------
    pandas.DataFrame of int, shape (n_items, n_categories)
        Items with at least one rating, in sorted order.

    Raises
    ------
    OptionError
        If a column is missing, occurs twice or mixes types, or if a rating is not among
        `categories`.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aab"), "refusal": [0, 1, 1]})
    >>> value_counts(ratings, "refusal")
    refusal  0  1
    item_id
    a        1  1
    b        0  1
    """
    rows = _rated(frame, [column], item)
    scale = scale_of(rated_values(rows, column), categories)
    position = pd.Index(scale).get_indexer(rows[column])
    marks = position[:, None] == np.arange(len(scale))
    marks = pd.DataFrame(marks.astype(int), columns=pd.Index(scale, name=column))
    return marks.groupby(rows[item], observed=True).sum()


def rated_values(frame: pd.DataFrame, column: str) -> pd.Series:
    """The ratings of a column; stop if they mix types or are infinite."""
    values = frame[column].dropna()
    is_text = values.map(_is_text).astype(bool)
    if is_text.any() and not is_text.all():
        raise OptionError(
            f"column {column!r} mixes numbers and text, first "
            f"{values[~is_text].iloc[0]!r} and {values[is_text].iloc[0]!r}: convert "
            "all ratings to one type"
        )
    if is_text.all():
        return values
    infinite = np.isinf(values.to_numpy(dtype=float))
    if infinite.any():
        raise OptionError(
            f"column {column!r} has {infinite.sum()} infinite ratings: correct them"
        )
    return values


def _is_text(value: object) -> bool:
    """Tell text from numbers."""
    return isinstance(value, str)


def scale_of(values: pd.Series, categories: Sequence | None) -> list:
    """All values of the scale; stop if a rating is not among them."""
    occurring = np.unique(values.to_numpy()).tolist()
    name = values.name
    if categories is None:
        if len(occurring) > MOST_CATEGORIES:
            raise OptionError(
                f"column {name!r} has {len(occurring)} different values: round them to "
                f"at most {MOST_CATEGORIES}"
            )
        return occurring
    scale = list(categories)
    if len(set(scale)) < len(scale):
        raise OptionError(
            f"categories of {name!r} repeat a value: name each value once"
        )
    outside = ~values.isin(scale)
    if outside.any():
        raise OptionError(
            f"{outside.sum()} of {len(values)} ratings in column {name!r} are not "
            f"among categories={scale}, first {values[outside].iloc[0]}: add it to "
            "categories, or drop these rows"
        )
    return scale


def krippendorff_alpha(counts: pd.DataFrame, level: str = "nominal") -> float:
    """Krippendorff's alpha: one less observed over expected disagreement.

    Parameters
    ----------
    counts : pandas.DataFrame, shape (n_items, n_categories)
        As from `value_counts`.
    level : {"nominal", "ordinal", "interval"}, optional
        Whether ratings differ or not, by ranks, or by the squared difference.

    Returns
    -------
    float
        1 if all ratings of an item are equal, about 0 if raters answer at random; NaN
        if all ratings are equal.

    Raises
    ------
    OptionError
        If the level is unknown, or needs numbers where ratings are text.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aabbcc"), "tone": [1, 1, 1, 2, 2, 2]})
    >>> round(krippendorff_alpha(value_counts(ratings, "tone")), 3)
    0.444
    """
    return float(_coefficients(counts, level)["alpha"])


def gwet_ac1(counts: pd.DataFrame) -> float:
    """Gwet's AC1: agreement beyond the chance that a random rating agrees by luck.

    AC1 = (a - c) / (1 - c), where a is percent agreement and c the sum of p (1 - p)
    over the shares p of the categories (within items, averaged over items), divided by
    the number of categories less one. Items with one rating count for p only.

    Parameters
    ----------
    counts : pandas.DataFrame, shape (n_items, n_categories)
        As from `value_counts`; categories that do not occur count, too.

    Returns
    -------
    float
        1 if all ratings of an item are equal; NaN with a single category.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61; Gwet
    (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 2.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aabb"), "refusal": [0, 0, 0, 1]})
    >>> round(gwet_ac1(value_counts(ratings, "refusal")), 3)
    0.2
    """
    return float(_coefficients(counts)["AC1"])


def percent_agreement(counts: pd.DataFrame) -> float:
    """How often two raters of an item give the same rating, averaged over items.

    Parameters
    ----------
    counts : pandas.DataFrame, shape (n_items, n_categories)
        As from `value_counts`.

    Returns
    -------
    float
        A share from 0 to 1; NaN if no item has two ratings.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aabb"), "refusal": [0, 0, 0, 1]})
    >>> percent_agreement(value_counts(ratings, "refusal"))
    0.5
    """
    return float(_coefficients(counts)["percent"])


def specific_agreement(counts: pd.DataFrame) -> pd.Series:
    """How often another rater gives a category that one rater of the item gave.

    Parameters
    ----------
    counts : pandas.DataFrame, shape (n_items, n_categories)
        As from `value_counts`.

    Returns
    -------
    pandas.Series
        For each category a share from 0 to 1; NaN where it does not occur in a pair.

    References
    ----------
    Cicchetti and Feinstein (1990), Journal of Clinical Epidemiology 43.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aabb"), "refusal": [0, 0, 0, 1]})
    >>> specific_agreement(value_counts(ratings, "refusal")).round(2).to_dict()
    {0: 0.67, 1: 0.0}
    """
    shares = _coefficients(counts).iloc[len(BY_SCALE) :]
    return shares.set_axis(counts.columns)


def _coefficients(counts: pd.DataFrame, level: str = "nominal") -> pd.Series:
    """All coefficients of one table of counts."""
    scale = list(counts.columns)
    pairs = Pairs(str(counts.columns.name), scale, level, (slice(None),))
    sums = pairs.terms(counts.to_numpy()).sum(axis=0)
    return pd.Series(pairs.values(sums[None])[0], index=pairs.names)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Coefficients of agreement as functions of sums over items.

    In these sums each rating counts once: an ordered pair of ratings has the weight 1 /
    (n - 1), where n is the number of ratings of the item. Counts of several columns
    stand side by side, in the slices of `positions`; each is a unit of its own.
    """

    column: str
    scale: list
    level: str
    positions: tuple[slice, ...]

    def __post_init__(self) -> None:
        """Stop if the level of measurement is unknown or does not suit the scale."""
        if self.level not in LEVELS:
            raise OptionError(
                f"level {self.level!r} is unknown: choose one of {LEVELS}"
            )
        if self.level != "nominal" and any(map(_is_text, self.scale)):
            raise OptionError(
                f"level {self.level!r} needs numbers, and column {self.column!r} has "
                "text: convert it, or use level='nominal'"
            )

    @property
    def names(self) -> list[str]:
        """Names of the coefficients in the order of `values`."""
        return [*BY_SCALE, *map(_specific, self.scale)]

    def units(self, counts: np.ndarray) -> np.ndarray:
        """Counts of each unit, shape (n_units, n_categories)."""
        return np.concatenate([counts[:, each] for each in self.positions])

    def terms(self, counts: np.ndarray) -> np.ndarray:
        """What is added up over items, shape (n_items, n_sums)."""
        return sum(self._terms_of_units(counts[:, each]) for each in self.positions)

    def _terms_of_units(self, counts: np.ndarray) -> np.ndarray:
        """Items rated, paired, alike; shares, ratings in pairs, same; by level."""
        n = counts.sum(axis=1, keepdims=True)
        is_paired = n >= 2
        others = np.maximum(n - 1, 1)
        same = counts * (counts - 1) / others
        alike = same.sum(axis=1, keepdims=True) / np.maximum(n, 1)
        shares = counts / np.maximum(n, 1)
        terms = [n >= 1, is_paired, alike, shares, counts * is_paired, same]
        if self.level == "interval":
            distance = self._values()
            total = counts @ distance[:, None]
            squares = counts @ distance[:, None] ** 2
            terms.append(2 * (n * squares - total**2) / others)
        if self.level == "ordinal":
            itself = np.eye(counts.shape[1])
            coincidences = counts[:, :, None] * (counts[:, None, :] - itself)
            coincidences = coincidences / others[:, :, None]
            terms.append(coincidences.reshape(len(counts), -1))
        return np.concatenate(terms, axis=1, dtype=float)

    def _values(self) -> np.ndarray:
        """Values of the scale, centred, as squares of large numbers lose digits."""
        values = np.asarray(self.scale, dtype=float)
        return values - values.mean()

    def values(self, sums: np.ndarray) -> np.ndarray:
        """Coefficients of each set of sums, shape (n_sets, 3 + n_categories)."""
        n = len(self.scale)
        ends = [1, 2, 3, 3 + n, 3 + 2 * n, 3 + 3 * n]
        parts = np.split(sums, ends, axis=1)
        rated, paired, alike, shares, in_pairs, same, by_level = parts
        alpha = self._alpha(in_pairs, same, by_level)
        percent = share(alike, paired)[:, 0]
        ac1 = ac1_of(percent, gwet_chance(share(shares, rated)))
        return np.column_stack([alpha, ac1, percent, share(same, in_pairs)])

    def _alpha(
        self, in_pairs: np.ndarray, same: np.ndarray, by_level: np.ndarray
    ) -> np.ndarray:
        """Krippendorff's alpha."""
        n = in_pairs.sum(axis=1)
        if self.level == "nominal":
            observed = n - same.sum(axis=1)
            expected = n**2 - (in_pairs**2).sum(axis=1)
        elif self.level == "interval":
            values = self._values()
            observed = by_level[:, 0]
            expected = 2 * (n * (in_pairs @ values**2) - (in_pairs @ values) ** 2)
        else:
            coincidences = by_level.reshape(len(n), len(self.scale), -1)
            # the mean rank of the ratings of a category
            ranks = in_pairs.cumsum(axis=1) - in_pairs / 2
            squared = (ranks[:, :, None] - ranks[:, None, :]) ** 2
            by_chance = in_pairs[:, :, None] * in_pairs[:, None, :]
            observed = (coincidences * squared).sum(axis=(1, 2))
            expected = (by_chance * squared).sum(axis=(1, 2))
        # equal ratings are not expected to differ, up to rounding errors
        expected = np.where((in_pairs > 0).sum(axis=1) >= 2, expected, 0.0)
        return 1 - (n - 1) * share(observed, expected)

    def information(self, removed: np.ndarray) -> np.ndarray:
        """Ratings in pairs that are lost with a cluster, for each coefficient."""
        n = len(self.scale)
        ratings = removed[:, 3 + n : 3 + 2 * n].sum(axis=1, keepdims=True)
        return np.repeat(ratings, len(self.names), axis=1)


@dataclass(frozen=True, eq=False)
class Together:
    """Several `Pairs` side by side, for `intervals.item_sums` and `jackknife`."""

    pairs: list[Pairs]
    ends: list[int]

    def terms(self, counts: np.ndarray) -> np.ndarray:
        """What is added up over items."""
        return np.concatenate([each.terms(counts) for each in self.pairs], axis=1)

    def values(self, sums: np.ndarray) -> np.ndarray:
        """Coefficients of each set of sums."""
        parts = zip(self.pairs, np.split(sums, self.ends, axis=1), strict=True)
        return np.concatenate([each.values(part) for each, part in parts], axis=1)

    def information(self, removed: np.ndarray) -> np.ndarray:
        """What each cluster tells about each coefficient."""
        parts = zip(self.pairs, np.split(removed, self.ends, axis=1), strict=True)
        return np.concatenate([each.information(part) for each, part in parts], axis=1)


def _specific(category: object) -> str:
    """Name specific agreement on a category."""
    if _is_text(category):
        return f"specific {category}"
    return f"specific {category:.12g}"


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide; NaN where there is nothing to divide by."""
    return intervals.ratio(*np.broadcast_arrays(part, whole))


def gwet_chance(shares: np.ndarray) -> np.ndarray:
    """Chance agreement according to Gwet, from shares of the categories."""
    others = shares.shape[-1] - 1
    chance = (shares * (1 - shares)).sum(axis=-1)
    return chance / others if others else np.full(chance.shape, np.nan)


def ac1_of(percent: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """AC1 from percent agreement and chance agreement."""
    return (percent - chance) / (1 - chance)


# Intervals -------------------------------------------------------------------------


def agreement_table(
    frame: pd.DataFrame,
    columns: Sequence[str],
    coefficients: Sequence[str] = ("alpha",),
    *,
    item: str = "item_id",
    rater: str | None = "rater_id",
    clusters: Sequence[str] = ("rater_id", "prompt_id"),
    level: str = "nominal",
    categories: Sequence | None = None,
    pooled: str | None = None,
    baseline: str | None = None,
) -> pd.DataFrame:
    """Coefficients of agreement with 95 % intervals.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per item and rater.
    columns : sequence of str
        Columns of ratings; missing ratings are left out column by column.
    coefficients : sequence of {"alpha", "AC1", "percent", "specific"}, optional
        Krippendorff's alpha, Gwet's AC1, percent agreement (as a share), and specific
        agreement, which has a row for each category.
    item : str, optional
        Column of items.
    rater : str or None, optional
        Column of raters; None if they are not known, and nobody rated an item twice.
    clusters : sequence of str, optional
        One or two columns that are left out for the intervals: `rater`, and one in
        which items lie as a whole, such as their prompt.
    level : {"nominal", "ordinal", "interval"}, optional
        Level of measurement for alpha; the other coefficients are nominal.
    categories : sequence, optional
        All values of the scale in increasing order; by default those that occur.
    pooled : str, optional
        Name of one more row, over all columns: each column of an item is a unit.
    baseline : str, optional
        One of the columns, whose agreement is subtracted from that of the others.

    Returns
    -------
    pandas.DataFrame
        Indexed by column and coefficient: ``estimate``, ``low``, ``high``,
        ``standard_error``, ``df``, ``n`` ratings, ``items`` with two ratings or more,
        ``raters`` (missing if not known), and ``interval``: ``jackknife``, ``Wilson``,
        or why there is none; see `interval_rule`.

    Raises
    ------
    OptionError
        If a column cannot be used, a rater rates an item twice, an item lies in
        several prompts, no item has two ratings, there are fewer than three clusters,
        or a rating is not among `categories`.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> ratings = ratings.drop_duplicates(["rater_id", "item_id"])
    >>> table = agreement_table(ratings, ["typos"], ["alpha", "percent"])
    >>> table.iloc[:, :3].round(2)
                        estimate   low  high
    column coefficient
    typos  alpha            0.59  0.39  0.79
           percent          0.94  0.91  0.98
    """
    columns = list(columns)
    clusters = list(clusters)
    _check_options(columns, coefficients, baseline)
    rows = _rated(frame, columns, item)
    _check_items(rows, columns, item, rater, clusters)
    marks, all_pairs = _marks(rows, columns, level, categories, pooled)
    counts = marks.groupby(rows[item], observed=True).sum().to_numpy()
    n_sums = [each.terms(counts[:1]).shape[1] for each in all_pairs]
    together = Together(all_pairs, list(np.cumsum(n_sums[:-1])))
    keys = rows[list(dict.fromkeys([item, *clusters]))]
    table = pd.concat([keys, marks], axis=1)
    sums = intervals.item_sums(table, list(marks), item, clusters, together.terms)
    names = [(each.column, name) for each in all_pairs for name in each.names]
    names = pd.MultiIndex.from_tuples(names, names=["column", "coefficient"])
    estimates = intervals.jackknife(sums, together.values, names, together.information)

    raters_first = clusters[0] == rater
    units = {each.column: each.units(counts) for each in all_pairs}
    per_item = {column: raters_per_item(each) for column, each in units.items()}
    result = _jackknife_table(estimates, per_item, raters_first)
    result = _with_rules(result, all_pairs, units)
    result = result.join(_sizes(rows, units, rater), on="column")
    if baseline is not None:
        weights = _minus_baseline(names, baseline)
        change = _jackknife_table(estimates.contrast(weights), per_item, raters_first)
        result = _known_differences(change, result, baseline)
    kind = result.index.get_level_values("coefficient").str.split().str[0]
    return result[kind.isin(list(coefficients))]


def _check_options(
    columns: list[str], coefficients: Sequence[str], baseline: str | None
) -> None:
    """Stop if a name of a coefficient or column cannot be used."""
    if not columns:
        raise OptionError("no columns are named: give at least one column of ratings")
    for column in columns:
        if columns.count(column) > 1:
            raise OptionError(f"column {column!r} is named twice: name it once")
    for coefficient in coefficients:
        if coefficient not in COEFFICIENTS:
            raise OptionError(
                f"coefficient {coefficient!r} is unknown: choose from {COEFFICIENTS}"
            )
    if baseline is not None and baseline not in columns:
        known = ", ".join(columns)
        raise OptionError(f"baseline {baseline!r} is unknown: choose one of {known}")


def _rated(frame: pd.DataFrame, columns: list[str], item: str) -> pd.DataFrame:
    """Rows with a rating in some column, numbered anew; stop if an item is missing."""
    intervals.check_columns(frame, [*columns, item])
    n_missing = frame[item].isna().sum()
    if n_missing:
        raise OptionError(
            f"column {item!r} has {n_missing} missing values: fill in or drop what is "
            "missing"
        )
    return frame[frame[columns].notna().any(axis=1)].reset_index(drop=True)


def _check_items(
    rows: pd.DataFrame,
    columns: list[str],
    item: str,
    rater: str | None,
    clusters: list[str],
) -> None:
    """Stop if a rater repeats an item, an item has several prompts or none a pair."""
    known = clusters if rater is None else [*clusters, rater]
    intervals.check_columns(rows, known)
    if rater is not None and rows[rater].isna().any():
        raise OptionError(
            f"column {rater!r} has {rows[rater].isna().sum()} missing values: fill in "
            "or drop what is missing"
        )
    for column in known:
        if column in (rater, item):
            continue
        of_items = rows[[item, column]].drop_duplicates()
        spread = of_items.loc[of_items[item].duplicated(), item]
        if len(spread):
            raise OptionError(
                f"item {spread.iloc[0]} has rows with different {column!r}: if "
                f"{column!r} are the raters, name them, as in rater={column!r}; if "
                f"numbers of items start anew in each {column!r}, join both into one "
                "column"
            )
    for column in columns:
        rated = rows[rows[column].notna()]
        if not rated[item].duplicated().any():
            raise OptionError(
                f"no {item!r} has two ratings of {column!r}: rate some items repeatedly"
            )
        if rater is not None:
            intervals.check_rated_once(rated, rater, item)
        if len(rated) < len(rows):
            intervals.check_clusters(rated, clusters)


def _marks(
    rows: pd.DataFrame,
    columns: list[str],
    level: str,
    categories: Sequence | None,
    pooled: str | None,
) -> tuple[pd.DataFrame, list[Pairs]]:
    """Zeros and ones for each category of each column, and the formulas for them."""
    if pooled is not None and categories is None:
        every = pd.concat([rated_values(rows, column) for column in columns])
        categories = scale_of(every.rename(pooled), None)
    marks = []
    all_pairs = []
    start = 0
    for column in columns:
        scale = scale_of(rated_values(rows, column), categories)
        codes = pd.Index(scale).get_indexer(rows[column])
        # a missing rating has the code -1, which is no category
        marks.append(codes[:, None] == np.arange(len(scale)))
        position = slice(start, start + len(scale))
        all_pairs.append(Pairs(column, scale, level, (position,)))
        start = position.stop
    if pooled is not None:
        positions = tuple(each.positions[0] for each in all_pairs)
        all_pairs.append(Pairs(pooled, scale, level, positions))
    return pd.DataFrame(np.concatenate(marks, axis=1, dtype=float)), all_pairs


def raters_per_item(counts: np.ndarray) -> float:
    """Mean number of ratings of the items that have two or more."""
    n = counts.sum(axis=1)
    return float(n[n >= 2].mean())


def _jackknife_table(
    estimates: Estimates, per_item: Mapping[str, float], raters_first: bool
) -> pd.DataFrame:
    """Estimates with their intervals by the jackknife."""
    variances = [np.diagonal(each) for each in estimates.covariances]
    variance = variances[0]
    if len(variances) == 3:
        first, second, cells = variances
        raters, prompts = (first, second) if raters_first else (second, first)
        k = estimates.value.index.get_level_values(0).map(per_item)
        variance = two_way_variance(prompts, raters, cells, k.to_numpy())
    # the variance of a difference can be less than zero by rounding
    standard_error = np.sqrt(np.maximum(variance, 0.0))
    margin = t.ppf(0.5 + intervals.LEVEL / 2, estimates.degrees) * standard_error
    value = estimates.value
    table = pd.DataFrame({"estimate": value, "low": value - margin})
    table["high"] = value + margin
    table["standard_error"] = standard_error
    table["df"] = estimates.degrees
    return table


def two_way_variance(
    prompts: np.ndarray, raters: np.ndarray, cells: np.ndarray, per_item: np.ndarray
) -> np.ndarray:
    """Variance of coefficients of agreement by prompts and by raters.

    Without one of its k raters an item moves k / (k - 1) times as far as with a
    slightly smaller weight of that rater; the factor (k - 1) / k allows for it.

    Parameters
    ----------
    prompts, raters, cells : numpy.ndarray
        Variances by each kind of cluster and by their cells.
    per_item : numpy.ndarray
        See `raters_per_item`.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> two_way_variance(4.0, np.array([5.0, 1.0]), 2.0, 3.0)
    array([6., 4.])
    """
    of_raters = np.maximum(0.0, raters - cells)
    return prompts + of_raters * (per_item - 1) / per_item


def _with_rules(
    table: pd.DataFrame, all_pairs: list[Pairs], units: Mapping[str, np.ndarray]
) -> pd.DataFrame:
    """Replace the jackknife's intervals where `interval_rule` says so."""
    rules = []
    ends = table[["low", "high"]].to_numpy(copy=True)
    standard_error = table["standard_error"].to_numpy()
    number = 0
    for pairs in all_pairs:
        counts = units[pairs.column]
        for position, name in enumerate(pairs.names):
            category = position - len(BY_SCALE)
            rule = interval_rule(counts, name, category)
            if rule == "jackknife" and np.isnan(standard_error[number]):
                rule = CLUSTER_NEEDED
            if rule == "jackknife" and standard_error[number] == 0:
                n_occurring = (counts.sum(axis=0) > 0).sum()
                is_scale = name == "alpha" and n_occurring > 2
                rule = NEVER_MOVES if is_scale else "Wilson"
            if rule == "Wilson":
                ends[number] = wilson_interval(counts, name, category)
            elif rule != "jackknife":
                ends[number] = np.nan
            rules.append(rule)
            number += 1
    lowest = np.where(table.index.isin(["alpha", "AC1"], level=1), -np.inf, 0.0)
    is_jackknife = np.array(rules) == "jackknife"
    return table.assign(
        low=np.maximum(ends[:, 0], lowest),
        high=np.minimum(ends[:, 1], 1.0),
        standard_error=table["standard_error"].where(is_jackknife),
        df=table["df"].where(is_jackknife),
        interval=rules,
    )


def interval_rule(counts: np.ndarray, coefficient: str, category: int = -1) -> str:
    """Choose the interval of a coefficient from what it rests on.

    What is missing when labels are rare is items on which two raters agree on the
    label. So for alpha of two categories, and for specific agreement, there is no
    interval with fewer than ten ratings of the (rarer) label, and with fewer than ten
    items that agree on it the interval is Wilson's. Alpha of more categories has none
    where fewer than ten items agree on a category other than the commonest one. Percent
    agreement and AC1 have Wilson's interval where ratings differ, or agree, on fewer
    than ten items.

    Parameters
    ----------
    counts : numpy.ndarray, shape (n_items, n_categories)
        How often each item got each value.
    coefficient : str
        ``"alpha"``, ``"AC1"``, ``"percent"``, or another for specific agreement.
    category : int, optional
        Position of the category for specific agreement.

    Returns
    -------
    str
        ``"jackknife"``, ``"Wilson"``, or a sentence that says why there is none.

    Examples
    --------
    >>> counts = np.array([[3, 0]] * 50 + [[2, 1]] * 8)
    >>> interval_rule(counts, "alpha")
    'none: 8 ratings of the rarer label, fewer than 10'
    """
    paired = counts[counts.sum(axis=1) >= 2]
    ratings = paired.sum(axis=0)
    occurring = np.flatnonzero(ratings)
    if coefficient in ("percent", "AC1"):
        if coefficient == "AC1" and counts.shape[1] < 2:
            return "none: AC1 needs two categories, see the option categories"
        n_differing = ((paired > 0).sum(axis=1) > 1).sum()
        n_agreeing = (paired >= 2).any(axis=1).sum()
        is_known = min(n_differing, n_agreeing) >= FEWEST_ITEMS
        return "jackknife" if is_known else "Wilson"
    if coefficient == "alpha":
        if len(occurring) < 2:
            return "none: all ratings are equal, so that alpha is not defined"
        if len(occurring) > 2:
            others = np.delete(paired, ratings.argmax(), axis=1)
            n_agreeing = (others >= 2).any(axis=1).sum()
            if n_agreeing >= FEWEST_ITEMS:
                return "jackknife"
            return (
                f"none: {n_agreeing} items on which two raters agree on a category "
                f"other than the commonest, fewer than {FEWEST_ITEMS}"
            )
        category = occurring[ratings[occurring].argmin()]
    if ratings[category] < FEWEST_RATINGS:
        label = "rarer label" if coefficient == "alpha" else "category"
        n_ratings = round(ratings[category])
        return f"none: {n_ratings} ratings of the {label}, fewer than {FEWEST_RATINGS}"
    n_agreeing = (paired[:, category] >= 2).sum()
    return "jackknife" if n_agreeing >= FEWEST_ITEMS else "Wilson"


def wilson_interval(
    counts: np.ndarray, coefficient: str, category: int = -1
) -> np.ndarray:
    """Wilson's interval of percent or specific agreement, transformed for AC1 or alpha.

    Two ratings that agree on a label tell the same, so that its ratings count half, and
    at most once per item. Parameters as for `interval_rule`.
    """
    paired = counts[counts.sum(axis=1) >= 2]
    n = paired.sum(axis=1)
    same = paired * (paired - 1)
    if coefficient in ("percent", "AC1"):
        percent = (same.sum(axis=1) / (n * (n - 1))).mean()
        ends = np.array(intervals.wilson(percent, len(paired)))
        if coefficient == "percent":
            return ends
        rated = counts[counts.sum(axis=1) >= 1]
        shares = rated / rated.sum(axis=1, keepdims=True)
        return ac1_of(ends, gwet_chance(shares.mean(axis=0)))
    ratings = paired.sum(axis=0)
    if coefficient == "alpha":
        category = np.where(ratings > 0, ratings, np.inf).argmin()
    n_label = ratings[category]
    specific = (same[:, category] / (n - 1)).sum() / n_label
    n_effective = min(n_label / 2, (paired[:, category] > 0).sum())
    ends = np.array(intervals.wilson(specific, n_effective))
    if coefficient != "alpha":
        return ends
    # (s - p) / (1 - p), with Krippendorff's correction for small samples
    total = ratings.sum()
    return 1 - (total - 1) / total * (1 - ends) / (1 - n_label / total)


def _sizes(
    rows: pd.DataFrame, units: Mapping[str, np.ndarray], rater: str | None
) -> pd.DataFrame:
    """Numbers of ratings, of items with two or more, and of raters, by column."""
    sizes = {}
    for column, counts in units.items():
        per_unit = counts.sum(axis=1).round().astype(int)
        rated = rows[rows[column].notna()] if column in rows else rows
        n_raters = pd.NA if rater is None else rated[rater].nunique()
        sizes[column] = (per_unit.sum(), (per_unit >= 2).sum(), n_raters)
    table = pd.DataFrame.from_dict(sizes, "index", columns=["n", "items", "raters"])
    return table.astype({"raters": "Int64"}).rename_axis("column")


def _minus_baseline(names: pd.MultiIndex, baseline: str) -> pd.DataFrame:
    """Weights that subtract the baseline's coefficient of the same name."""
    others = [
        (column, name)
        for column, name in names
        if column != baseline and (baseline, name) in names
    ]
    weights = pd.DataFrame(
        0.0, index=pd.MultiIndex.from_tuples(others, names=names.names), columns=names
    )
    for column, name in others:
        weights.loc[(column, name), (column, name)] = 1.0
        weights.loc[(column, name), (baseline, name)] = -1.0
    return weights


def _known_differences(
    change: pd.DataFrame, single: pd.DataFrame, baseline: str
) -> pd.DataFrame:
    """Remove intervals of differences where an estimate has none by the jackknife."""
    rules = []
    for column, name in change.index:
        own = single.loc[(column, name), "interval"]
        other = single.loc[(baseline, name), "interval"]
        rule = "jackknife"
        if own != "jackknife":
            rule = f"none: {name} of {column} has no interval by the jackknife"
        elif other != "jackknife":
            rule = f"none: {name} of {baseline} has no interval by the jackknife"
        elif change.loc[(column, name), "standard_error"] == 0:
            rule = NEVER_MOVES
        rules.append(rule)
    is_known = np.array(rules) == "jackknife"
    numbers = ["low", "high", "standard_error", "df"]
    change.loc[~is_known, numbers] = np.nan
    change["interval"] = rules
    return change.join(single[["n", "items", "raters"]])
