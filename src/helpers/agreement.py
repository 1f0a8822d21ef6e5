"""How far ratings of the same item agree beyond chance: Gwet's AC1 and Krippendorff's alpha.

Raters are interchangeable: each row of a table is one rating of one item, and items may have any
number of ratings. Every statistic is a function of how often each item got each category. Missing
ratings are left out.
"""

from collections.abc import Mapping, Sequence

import krippendorff
import numpy as np
import pandas as pd

from helpers.files.tables import check_clusters, check_numeric
from helpers.moments import cluster_sums
from helpers.resampling import bootstrap_ratio, cluster_weights, interval

LEVELS = ("nominal", "ordinal", "interval", "ratio")


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
        If a column cannot be used, the scale is not increasing, a rating is not on the scale, or
        no item has two ratings.

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
    _check_categories(categories)
    rows, items = pd.factorize(frame[item], sort=True)
    rated = frame[aspect].notna().to_numpy()
    columns = _columns(frame.loc[rated, aspect], categories)
    counts = np.zeros((len(items), len(categories)), dtype=int)
    np.add.at(counts, (rows[rated], columns), 1)
    if counts.sum(axis=1).max() < 2:
        raise ValueError(f"no item has two ratings of {aspect!r}: rate some items repeatedly")
    return pd.DataFrame(
        counts, index=pd.Index(items, name=item), columns=pd.Index(categories, name=aspect)
    )


def observed_agreement(
    frame: pd.DataFrame, item: str, aspect: str, categories: Sequence[float]
) -> float:
    """Percent agreement as a share: how often two ratings of an item are the same.

    Parameters
    ----------
    frame, item, aspect, categories
        See `rating_counts`.

    Returns
    -------
    float
        Share of agreeing pairs of ratings within an item, averaged over the items that have two
        or more ratings. Between 0 and 1.

    Raises
    ------
    ValueError
        See `rating_counts`.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 2.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a", "a", "b", "b"], "refusal": [0, 0, 0, 1]})
    >>> observed_agreement(frame, "item_id", "refusal", [0, 1])
    0.5
    """
    counts = rating_counts(frame, item, aspect, categories)
    return float(_observed_agreement(counts, *_every_item_once(counts))[0])


def prevalence(
    frame: pd.DataFrame, item: str, aspect: str, categories: Sequence[float]
) -> pd.Series:
    """Share of each category within an item, averaged over all items with a rating.

    Parameters
    ----------
    frame, item, aspect, categories
        See `rating_counts`.

    Returns
    -------
    pandas.Series
        One share per category; they sum to 1.

    Raises
    ------
    ValueError
        See `rating_counts`.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 2.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a", "a", "b"], "refusal": [0, 1, 1]})
    >>> prevalence(frame, "item_id", "refusal", [0, 1]).to_dict()
    {0: 0.25, 1: 0.75}
    """
    counts = rating_counts(frame, item, aspect, categories)
    shares = _prevalence(counts, *_every_item_once(counts))[0]
    return pd.Series(shares, index=counts.columns, name="prevalence")


def gwet_ac1(frame: pd.DataFrame, item: str, aspect: str, categories: Sequence[float]) -> float:
    """Gwet's AC1: agreement beyond chance between ratings in unordered categories.

    AC1 = (a - c) / (1 - c), where a is `observed_agreement` and chance agreement c is the sum of
    p (1 - p) over the `prevalence` p of the categories, divided by their number less one. Items
    with one rating count for prevalence only. Unlike kappa and alpha, AC1 stays high where nearly
    all ratings fall into one category and nearly all agree.

    Parameters
    ----------
    frame, item, aspect, categories
        See `rating_counts`. The number of categories is that of the scale: it enters chance
        agreement even where a category does not occur.

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
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61; Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th edition, chapter 2; used by Hosking et al. (2024),
    section 2.1.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a", "a", "b", "b"], "refusal": [0, 0, 0, 1]})
    >>> round(gwet_ac1(frame, "item_id", "refusal", [0, 1]), 3)
    0.2
    """
    counts = rating_counts(frame, item, aspect, categories)
    return float(_ac1(counts, *_every_item_once(counts))[0])


def krippendorff_alpha(
    frame: pd.DataFrame, item: str, aspect: str, categories: Sequence[float], level: str
) -> float:
    """Krippendorff's alpha: one minus observed over expected disagreement.

    Items with one rating do not count. For one alpha over several aspects, melt the table and let
    every (item, aspect) be an item of its own. This raises alpha where the aspects differ in
    level, because telling the aspects apart then counts as agreement.

    Parameters
    ----------
    frame, item, aspect, categories
        See `rating_counts`.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement, which sets how much two different ratings disagree.

    Returns
    -------
    float
        1 if all ratings agree, 0 if they agree as often as by chance; NaN if all are the same.

    Raises
    ------
    ValueError
        If the level is unknown or does not fit the categories; see also `rating_counts`.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12; Castro (2017), the package
    krippendorff; used by Kamoda et al. (2025), section 3.3 and Appendix B.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("aabbcc"), "factuality": [0, 0, 2, 3, 3, 3]})
    >>> [round(krippendorff_alpha(frame, "item_id", "factuality", range(4), level), 3)
    ...  for level in LEVELS]
    [0.545, 0.778, 0.923, 0.975]
    """
    counts = rating_counts(frame, item, aspect, categories)
    _check_level(level, counts.columns)
    return _package_alpha(counts, level)


def agreement_table(
    frame: pd.DataFrame,
    aspects: Sequence[str],
    item: str,
    cluster: str,
    categories: Sequence[float] | Mapping[str, Sequence[float]],
    n_boot: int,
    rng: np.random.Generator,
    level: str = "nominal",
) -> pd.DataFrame:
    """Agreement on several aspects, with 95 % intervals from resampled clusters of items.

    All aspects share the same replicates.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating of an item.
    aspects : sequence of str
        Columns of ratings; missing ratings are left out.
    item : str
        Column of items.
    cluster : str
        Column of clusters that hold whole items, for example prompts.
    categories : sequence of float or mapping of str to sequence of float
        The scale in increasing order, shared by all aspects or one for each.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator
        Source of randomness.
    level : {"nominal", "ordinal", "interval", "ratio"}, optional
        Level of measurement for alpha; AC1 is always nominal.

    Returns
    -------
    pandas.DataFrame
        One row per aspect: ``aspect``, ``n_items`` (with two or more ratings), ``n_ratings`` (of
        all items), ``prevalence`` (of the highest category, so of 1 on the scale 0 and 1),
        ``observed_agreement``, ``ac1``, ``ac1_low``, ``ac1_high``, ``alpha``, ``alpha_low``,
        ``alpha_high``. A replicate in which a statistic is undefined is left out of its interval.

    Raises
    ------
    ValueError
        If an item belongs to two clusters, there are fewer than two clusters, or an aspect cannot
        be used (see `krippendorff_alpha`).

    References
    ----------
    Zapf, Castell, Morawietz and Karch (2016), Measuring inter-rater reliability for nominal data:
    which coefficients and confidence intervals are appropriate?

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("aabbccdd"), "refusal": [0, 0, 1, 1, 0, 1, 0, 0]})
    >>> table = agreement_table(
    ...     frame, ["refusal"], "item_id", "item_id", [0, 1], 200, np.random.default_rng(0))
    >>> table[["aspect", "n_items", "observed_agreement", "ac1", "alpha"]].round(3)
        aspect  n_items  observed_agreement    ac1  alpha
    0  refusal        4                0.75  0.529  0.533
    """
    labels = _cluster_of_each_item(frame, item, cluster)
    weights = cluster_weights(frame[cluster].nunique(), n_boot, rng).astype(float)
    rows = []
    for aspect in aspects:
        counts = rating_counts(frame, item, aspect, _scale_of(aspect, categories))
        _check_level(level, counts.columns)
        rows.append({"aspect": aspect, **_statistics(counts, level, labels, weights)})
    return pd.DataFrame(rows)


def _statistics(
    counts: pd.DataFrame, level: str, labels: np.ndarray, weights: np.ndarray
) -> dict[str, float]:
    """One row of the agreement table, without its name."""
    once = _every_item_once(counts)
    ratings_per_item = counts.sum(axis=1)
    ac1_low, ac1_high = interval(_ac1(counts, labels, weights))
    alpha_low, alpha_high = interval(_alpha(counts, level, labels, weights))
    return {
        "n_items": (ratings_per_item >= 2).sum(),
        "n_ratings": ratings_per_item.sum(),
        "prevalence": _prevalence(counts, *once)[0, -1],
        "observed_agreement": _observed_agreement(counts, *once)[0],
        "ac1": _ac1(counts, *once)[0],
        "ac1_low": ac1_low,
        "ac1_high": ac1_high,
        "alpha": _package_alpha(counts, level),
        "alpha_low": alpha_low,
        "alpha_high": alpha_high,
    }


def _every_item_once(counts: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Labels and weights of the sample itself: one cluster of all items, drawn once."""
    return np.zeros(len(counts), dtype=int), np.ones((1, 1))


def _observed_agreement(
    counts: pd.DataFrame, labels: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Share of agreeing pairs within items of each replicate, shape (n_boot,)."""
    values = counts.to_numpy()
    size = values.sum(axis=1)
    agreeing = (values * (values - 1)).sum(axis=1) / np.maximum(size * (size - 1), 1)
    return bootstrap_ratio(cluster_sums(agreeing, labels), cluster_sums(size >= 2, labels), weights)


def _prevalence(counts: pd.DataFrame, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mean share of each category within items of each replicate, shape (n_boot, n_categories)."""
    values = counts.to_numpy()
    size = values.sum(axis=1, keepdims=True)
    shares = values / np.maximum(size, 1)
    return bootstrap_ratio(cluster_sums(shares, labels), cluster_sums(size >= 1, labels), weights)


def _ac1(counts: pd.DataFrame, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Gwet's AC1 of each replicate, shape (n_boot,)."""
    observed = _observed_agreement(counts, labels, weights)
    shares = _prevalence(counts, labels, weights)
    chance = (shares * (1 - shares)).sum(axis=1) / (counts.shape[1] - 1)
    return (observed - chance) / (1 - chance)


def _package_alpha(counts: pd.DataFrame, level: str) -> float:
    """Krippendorff's alpha of the sample, by the package of that name."""
    with np.errstate(invalid="ignore"):
        alpha = krippendorff.alpha(
            value_counts=counts.to_numpy(),
            value_domain=counts.columns.to_numpy(),
            level_of_measurement=level,
        )
    return float(alpha)


def _alpha(counts: pd.DataFrame, level: str, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Krippendorff's alpha of each replicate, shape (n_boot,)."""
    pairs = np.tensordot(weights, cluster_sums(_coincidences(counts.to_numpy()), labels), axes=1)
    margins = pairs.sum(axis=2)
    distances = _distances(level, counts.columns.to_numpy(dtype=float), margins)
    observed = (pairs * distances).sum(axis=(1, 2))
    expected = (margins[:, :, None] * margins[:, None, :] * distances).sum(axis=(1, 2))
    undefined = np.full_like(expected, np.nan)
    ratio = np.divide(observed, expected, out=undefined, where=expected > 0)
    return 1 - (margins.sum(axis=1) - 1) * ratio


def _coincidences(values: np.ndarray) -> np.ndarray:
    """Ordered pairs of categories within each item, such that every rating counts once."""
    pairs = values[:, :, None] * (values[:, None, :] - np.eye(values.shape[1]))
    partners = np.maximum(values.sum(axis=1) - 1, 1)
    return pairs / partners[:, None, None]


def _distances(level: str, categories: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Squared distances between categories, for each replicate where they depend on it."""
    if level == "nominal":
        return 1 - np.eye(len(categories))
    if level == "ratio":
        difference, total = (op.outer(categories, categories) for op in (np.subtract, np.add))
        return np.divide(difference, total, out=np.zeros_like(total), where=total > 0) ** 2
    midranks = margins.cumsum(axis=1) - margins / 2
    place = midranks if level == "ordinal" else categories
    return (place[..., :, None] - place[..., None, :]) ** 2


def _cluster_of_each_item(frame: pd.DataFrame, item: str, cluster: str) -> np.ndarray:
    """Number of the cluster of each item, items and clusters in sorted order."""
    check_clusters(frame, item)
    check_clusters(frame, cluster)
    members = pd.DataFrame({"item": frame[item], "cluster": frame[cluster]})
    members = members.drop_duplicates().sort_values("item")
    split = members["item"].duplicated()
    if split.any():
        raise ValueError(
            f"item {members.loc[split, 'item'].iloc[0]} belongs to several {cluster!r}: "
            "name clusters that hold whole items"
        )
    return pd.factorize(members["cluster"], sort=True)[0]


def _scale_of(
    aspect: str, categories: Sequence[float] | Mapping[str, Sequence[float]]
) -> Sequence[float]:
    """The categories of one aspect."""
    if not isinstance(categories, Mapping):
        return categories
    if aspect not in categories:
        known = ", ".join(categories)
        raise ValueError(f"aspect {aspect!r} has no categories; there are some for: {known}")
    return categories[aspect]


def _check_level(level: str, categories: pd.Index) -> None:
    """Stop unless the level of measurement is known and fits the categories."""
    if level not in LEVELS:
        raise ValueError(f"level {level!r} is unknown: choose one of {LEVELS}")
    if level == "ratio" and categories.min() < 0:
        raise ValueError(
            f"category {categories.min()} of {categories.name!r} is negative: "
            "level 'ratio' needs a scale from zero upwards, so choose another level"
        )


def _check_categories(categories: Sequence[float]) -> None:
    """Stop unless the categories are two or more in increasing order."""
    if len(categories) < 2 or not (np.diff(categories) > 0).all():
        raise ValueError(
            f"categories are {list(categories)}: give two or more values in increasing order"
        )


def _columns(ratings: pd.Series, categories: Sequence[float]) -> np.ndarray:
    """Position of each rating on the scale; stop at the first that is not on it."""
    columns = pd.Index(categories, dtype=float).get_indexer(ratings.to_numpy(dtype=float))
    if (columns < 0).any():
        first = np.argmax(columns < 0)
        raise ValueError(
            f"column {ratings.name!r} is {ratings.iloc[first]} in row {ratings.index[first]}, "
            f"which is not one of {list(categories)}: correct the rating or extend the scale"
        )
    return columns
