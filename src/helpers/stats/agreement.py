"""How far raters agree beyond chance, and what they make of attention checks.

Raters are interchangeable: a row of a table is one rating of one item, items may have
any number of ratings, and missing ratings are left out. In an attention check a
response is shown beside a *distractor*, which the same system wrote to a different
prompt; these tables have a row per response and submission with ``pair_id`` (the
submission), ``item_id``, ``prompt_id``, ``system`` and ``is_distractor``.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.stats.aggregation import to_tidy
from helpers.stats.bootstrap import (
    bootstrap_means,
    bootstrap_ratio,
    cluster_weights,
    interval,
    summary,
    with_everything_first,
)
from helpers.stats.checks import check_clusters, check_numeric
from helpers.stats.moments import cluster_sums
from helpers.stats.rates import error_rates

MEASUREMENT_LEVELS = ("nominal", "ordinal", "interval")


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
    marks = ratings[:, None] == np.asarray(categories, dtype=float)
    counts = cluster_sums(marks, frame[item]).astype(int)
    if counts.sum(axis=1).max() < 2:
        raise ValueError(
            f"no item has two ratings of {aspect!r}: rate some items repeatedly"
        )
    items = pd.factorize(frame[item], sort=True)[1]
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
    counts = rating_counts(frame, item, aspect, categories)
    all_items = np.zeros(len(counts), dtype=int)
    return float(_agreement_draws(counts, all_items, np.ones((1, 1)))[2][0])


def krippendorff_alpha(
    frame: pd.DataFrame, item: str, aspect: str, categories: Sequence[float], level: str
) -> float:
    """Krippendorff's alpha: one minus observed over expected disagreement."""
    counts = rating_counts(frame, item, aspect, categories)
    all_items = np.zeros(len(counts), dtype=int)
    return float(_alpha_draws(counts, level, all_items, np.ones((1, 1)))[0])


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
    level : {"nominal", "ordinal", "interval"}, optional
        Level of measurement for alpha; AC1 is always nominal.

    Returns
    -------
    pandas.DataFrame
        One row per aspect: ``aspect``, ``n_items`` (with two or more ratings),
        ``prevalence`` (of the highest category, so of 1 on the scale 0 and 1),
        ``observed_agreement``, ``ac1``, ``ac1_low``, ``ac1_high``, ``alpha``,
        ``alpha_low``, ``alpha_high``, and ``ac1_lowest`` and ``ac1_highest``, in what
        share of the replicates its AC1 is the lowest, the highest of all aspects. A
        replicate in which a statistic is undefined is left out of its interval.

    Raises
    ------
    ValueError
        If an item belongs to two clusters, there are fewer than two clusters, an aspect
        cannot be used (see `rating_counts`), or the level is unknown.

    References
    ----------
    Zapf, Castell, Morawietz and Karch (2016), Measuring inter-rater reliability for
    nominal data: which coefficients and confidence intervals are appropriate?

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("aabbccdd"), "refusal": [0, 0, 1, 1, 0, 1, 0, 0]})
    >>> table = agreement_table(
    ...     frame, ["refusal"], "item_id", "item_id", [0, 1], 200, np.random.default_rng(0))
    >>> table[["aspect", "n_items", "observed_agreement", "ac1", "alpha"]].round(3)
        aspect  n_items  observed_agreement    ac1  alpha
    0  refusal        4                0.75  0.529  0.533
    """
    labels = cluster_of_each_item(frame, item, cluster)
    weights = cluster_weights(labels.max() + 1, n_boot, rng)
    everything_first = with_everything_first(weights.astype(float))
    scales = (
        categories
        if isinstance(categories, Mapping)
        else dict.fromkeys(aspects, categories)
    )
    rows, ac1_draws = [], {}
    for aspect in aspects:
        counts = rating_counts(frame, item, aspect, scales[aspect])
        observed, shares, ac1 = _agreement_draws(counts, labels, everything_first)
        row = {
            "aspect": aspect,
            "n_items": (counts.sum(axis=1) >= 2).sum(),
            "prevalence": shares[0, -1],
            "observed_agreement": observed[0],
        }
        alpha = _alpha_draws(counts, level, labels, everything_first)
        for name, draws in (("ac1", ac1), ("alpha", alpha)):
            low, high = interval(draws[1:])
            row |= {name: draws[0], f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
        ac1_draws[aspect] = ac1[1:]
    order = pd.DataFrame(ac1_draws)
    ends = {"ac1_lowest": order.min(axis=1), "ac1_highest": order.max(axis=1)}
    shares = {
        name: order.eq(end, axis=0).mean().to_numpy() for name, end in ends.items()
    }
    return pd.DataFrame(rows).assign(**shares)


def coefficient(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Pick one coefficient of `agreement_table` and its interval, for figures and claims.

    Parameters
    ----------
    table : pandas.DataFrame
        From `agreement_table`.
    name : {"ac1", "alpha"}
        The coefficient.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high``, with the index of `table`.

    Examples
    --------
    >>> table = pd.DataFrame({"alpha": [0.5], "alpha_low": [0.3], "alpha_high": [0.7]})
    >>> coefficient(table, "alpha")
       estimate  low  high
    0       0.5  0.3   0.7
    """
    columns = [name, f"{name}_low", f"{name}_high"]
    return table[columns].set_axis(["estimate", "low", "high"], axis="columns")


def cluster_of_each_item(frame: pd.DataFrame, item: str, cluster: str) -> np.ndarray:
    """Number of the cluster that holds each item, items and clusters in sorted order."""
    check_clusters(frame, item)
    check_clusters(frame, cluster)
    homes = pd.DataFrame({"item": frame[item], "cluster": frame[cluster]})
    homes = homes.drop_duplicates().sort_values("item")
    split = homes.loc[homes["item"].duplicated(), "item"]
    if len(split):
        raise ValueError(
            f"{item} {split.iloc[0]} belongs to several {cluster!r}: "
            "name clusters that hold whole items"
        )
    return pd.factorize(homes["cluster"], sort=True)[0]


def _agreement_draws(
    counts: pd.DataFrame, labels: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Share of agreeing pairs, mean share of each category and AC1 of each replicate."""
    values = counts.to_numpy()
    size = values.sum(axis=1, keepdims=True)
    agreeing = (values * (values - 1)).sum(axis=1, keepdims=True) / np.maximum(
        size * (size - 1), 1
    )
    observed, shares = (
        bootstrap_ratio(
            cluster_sums(part, labels), cluster_sums(size >= least, labels), weights
        )
        for part, least in ((agreeing, 2), (values / np.maximum(size, 1), 1))
    )
    chance = (shares * (1 - shares)).sum(axis=1) / (counts.shape[1] - 1)
    return observed[:, 0], shares, (observed[:, 0] - chance) / (1 - chance)


def _alpha_draws(
    counts: pd.DataFrame, level: str, labels: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Krippendorff's alpha of each replicate."""
    pairs = np.tensordot(
        weights, cluster_sums(_coincidences(counts.to_numpy()), labels), axes=1
    )
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
    if level not in MEASUREMENT_LEVELS:
        raise ValueError(
            f"level {level!r} is unknown: choose one of {MEASUREMENT_LEVELS}"
        )
    if level == "nominal":
        return 1 - np.eye(len(categories))
    midranks = margins.cumsum(axis=1) - margins / 2
    place = midranks if level == "ordinal" else categories
    return (place[..., :, None] - place[..., None, :]) ** 2


def stack_aspects(
    frame: pd.DataFrame, item: str, aspects: Sequence[str]
) -> pd.DataFrame:
    """Make every aspect of every item a unit of its own.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per (item, rater).
    item : str
        Column of items, of text.
    aspects : sequence of str
        Columns of ratings.

    Returns
    -------
    pandas.DataFrame
        The tidy form, one row per (item, rater, aspect), with a column ``unit``.

    Raises
    ------
    ValueError
        If an aspect is missing or named twice.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a"], "factuality": [3], "formality": [0]})
    >>> stack_aspects(frame, "item_id", ["factuality", "formality"])["unit"].tolist()
    ['a|factuality', 'a|formality']
    """
    tidy = to_tidy(frame, aspects)
    return tidy.assign(unit=tidy[item] + "|" + tidy["aspect"])


def deal_out(stacked: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Deal the ratings of each aspect out to its rows at random.

    Parameters
    ----------
    stacked : pandas.DataFrame
        As from `stack_aspects`.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Every aspect has the same ratings as before, but they no longer depend on the
        item.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("abc"), "formality": [-1, 0, 1]})
    >>> stacked = stack_aspects(frame, "item_id", ["formality"])
    >>> sorted(deal_out(stacked, np.random.default_rng(0))["value"])
    [-1, 0, 1]
    """
    dealt = stacked["value"].to_numpy(copy=True)
    for rows in stacked.groupby("aspect").indices.values():
        dealt[rows] = rng.permutation(dealt[rows])
    return stacked.assign(value=dealt)


def alpha_at_once(
    stacked: pd.DataFrame,
    cluster: str,
    level: str,
    n_boot: int,
    rng: np.random.Generator,
) -> dict[str, float]:
    """One alpha over all aspects, beside what the scales of the aspects alone would give.

    One alpha over all aspects also counts as agreement that raters keep to the scale of
    each.

    Parameters
    ----------
    stacked : pandas.DataFrame
        As from `stack_aspects`.
    cluster : str
        Column of clusters that hold whole items, for example questions.
    level : {"nominal", "ordinal", "interval"}
        Level of measurement.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to float
        ``estimate``, ``low`` and ``high`` of the 95 % interval, and ``dealt_out``, the
        alpha of ratings that were dealt out at random within each aspect.

    Raises
    ------
    ValueError
        See `agreement_table`.

    References
    ----------
    Kamoda et al. (2025), section 3.3 and Appendix B.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("aabbccdd"), "factuality": [3, 3, 2, 2] * 2,
    ...                       "formality": [0, 0, -1, -1] * 2})
    >>> stacked = stack_aspects(frame, "item_id", ["factuality", "formality"])
    >>> found = alpha_at_once(stacked, "item_id", "interval", 10, np.random.default_rng(0))
    >>> {name: round(float(alpha), 2) for name, alpha in found.items()}
    {'estimate': 1.0, 'low': 1.0, 'high': 1.0, 'dealt_out': 0.91}
    """
    scale = np.unique(stacked["value"].dropna())
    table = agreement_table(
        stacked, ["value"], "unit", cluster, scale, n_boot, rng, level
    ).iloc[0]
    dealt = deal_out(stacked, rng)
    return {
        "estimate": table["alpha"],
        "low": table["alpha_low"],
        "high": table["alpha_high"],
        "dealt_out": krippendorff_alpha(dealt, "unit", "value", scale, level),
    }


def group_alphas(frame: pd.DataFrame, group: str, unit: str, value: str) -> pd.Series:
    """Krippendorff's alpha of each group of ratings, at the interval level of measurement.

    Alpha of a group compares how far ratings of one unit lie apart with how far all
    ratings of the group do. With the aspects of an answer as units, it tells whether
    raters tell the aspects apart alike. A mean over groups differs from one alpha of
    all ratings, which also counts the differences between groups.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    group : str
        Column of groups, for example answers.
    unit : str
        Column of units within a group, for example aspects. Units with one rating do
        not count.
    value : str
        Column of ratings; missing ratings are left out.

    Returns
    -------
    pandas.Series
        Alpha by group, groups sorted; NaN where all ratings of a group are the same or
        no unit of it has two ratings.

    Raises
    ------
    ValueError
        If a column cannot be used, or there are fewer than two groups or units.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a"] * 4 + ["b"] * 4, "aspect": ["x", "x", "y", "y"] * 2,
    ...                       "value": [0, 0, 3, 3, 0, 1, 2, 3]})
    >>> group_alphas(frame, "item_id", "aspect", "value").to_dict()
    {'a': 1.0, 'b': 0.7}
    """
    check_numeric(frame, [value], missing="allow")
    for column in (group, unit):
        check_clusters(frame, column)
    rated = frame.dropna(subset=value)
    pairable = rated[rated.groupby([group, unit])[value].transform("size") >= 2]
    shifted = pairable[value] - pairable.groupby(group)[value].transform("first")
    squares = pairable.assign(**{value: shifted, "square": shifted**2})
    cells = squares.groupby([group, unit])[[value, "square"]]
    sums = cells.sum().assign(n=cells.size())
    sums["apart"] = _squared_distances(sums, value) / (sums["n"] - 1)
    totals = sums.groupby(group).sum()
    expected = _squared_distances(totals, value) / (totals["n"] - 1)
    alphas = 1 - totals["apart"] / expected  # where nothing varies, 0 / 0
    return (
        alphas.reindex(np.sort(frame[group].unique()))
        .rename("alpha")
        .rename_axis(group)
    )


def _squared_distances(sums: pd.DataFrame, value: str) -> pd.Series:
    """Squared distances summed over pairs of ratings, from counts and sums."""
    return sums["n"] * sums["square"] - sums[value] ** 2


def rank_shares(ratings: pd.DataFrame, score: str, by: str) -> pd.DataFrame:
    """How often the distractor of a check got the lower score, and how often no higher one.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per response and submission.
    score : str
        Column of scores.
    by : str
        Column of groups of checks, for example ``"task"``.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``checks``, then shares in percent with 95 % intervals:
        ``lower``, ``lower_low``, ``lower_high``, ``not_higher``, ``not_higher_low``,
        ``not_higher_high``. The intervals are Wilson's for independent checks.

    References
    ----------
    Wilson (1927); Hosking et al. (2024), section 2.1.

    Examples
    --------
    >>> ratings = pd.DataFrame({"pair_id": [0, 0, 1, 1], "is_distractor": [True, False] * 2,
    ...                         "quality": [1, 5, 2, 2], "task": "amazon"})
    >>> rank_shares(ratings, "quality", "task")[["checks", "lower", "not_higher"]]
            checks  lower  not_higher
    task
    amazon       2   50.0       100.0
    """
    distractor, partner = _sides(ratings)
    ranks = distractor[[by]].assign(
        lower=distractor[score] < partner[score],
        not_higher=distractor[score] <= partner[score],
    )
    names = ["lower", "not_higher"]
    rates = error_rates(ranks.reset_index(), names, by, "pair_id").set_index(by)
    table = pd.DataFrame({"checks": ranks.groupby(by, sort=False).size()})
    for name in names:
        share = rates[rates["error"] == name]
        table[name] = share["estimate"]
        table[[f"{name}_low", f"{name}_high"]] = share[["low", "high"]]
    return table


def against_partner(
    ratings: pd.DataFrame, aspects: Sequence[str], n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Rate distractors against the response beside them, given by the same person.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per response and submission.
    aspects : sequence of str
        Columns of ratings.
    n_boot : int
        Number of bootstrap replicates of prompts.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Indexed by aspect: ``estimate`` (mean rating of the distractor less that of the
        other response), ``low``, ``high`` (95 %), a two-sided bootstrap ``p_value`` and
        ``n`` distractors.

    References
    ----------
    Hosking et al. (2024), section 2.2, Figure 2.

    Examples
    --------
    >>> ratings = pd.DataFrame({"pair_id": [0, 0, 1, 1], "is_distractor": [True, False] * 2,
    ...                         "prompt_id": list("aabb"), "relevance": [1.0, 0.0, 1.0, 0.0]})
    >>> table = against_partner(ratings, ["relevance"], 99, np.random.default_rng(0))
    >>> table[["n", "estimate"]]
               n  estimate
    relevance  2       1.0
    """
    distractor, partner = _sides(ratings)
    return _paired(distractor, partner, aspects, distractor["prompt_id"], n_boot, rng)


def against_system(
    ratings: pd.DataFrame, aspects: Sequence[str], n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Rate distractors against all that the same systems wrote to prompts of their own.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per response and submission.
    aspects, n_boot, rng
        As in `against_partner`.

    Returns
    -------
    pandas.DataFrame
        As from `against_partner`; the other responses are those outside of checks, each
        system counting as much as among the distractors.

    Examples
    --------
    >>> ratings = pd.DataFrame({
    ...     "pair_id": [0, 0, 1, 1], "is_distractor": [True] + 3 * [False], "system": list("ssst"),
    ...     "prompt_id": list("aabb"), "relevance": [1.0, 0.5, 0.0, 1.0]})
    >>> table = against_system(ratings, ["relevance"], 99, np.random.default_rng(0))
    >>> table[["n", "estimate"]]
               n  estimate
    relevance  1       1.0
    """
    distractor, _ = _sides(ratings)
    outputs = ratings[
        ~_in_check(ratings) & ratings["system"].isin(distractor["system"])
    ]
    mix = distractor["system"].value_counts() / outputs["system"].value_counts()
    columns, weights = list(aspects), outputs["system"].map(mix)
    frame = pd.concat([distractor[columns].add_prefix("distractor "), outputs[columns]])
    frame["prompt_id"] = pd.concat([distractor["prompt_id"], outputs["prompt_id"]])
    frame["weight"] = np.concatenate([np.ones(len(distractor)), weights])
    draws = bootstrap_means(
        frame, list(frame)[:-2], "prompt_id", n_boot, rng, weight="weight"
    )
    other = pd.Series(np.average(outputs[columns], axis=0, weights=weights), columns)
    return _table(
        distractor[columns], other, draws[:, : len(columns)] - draws[:, len(columns) :]
    )


def against_same_text(
    ratings: pd.DataFrame, aspects: Sequence[str], n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Rate distractors against the very same text where it answers its own prompt.

    Whatever depends on the text alone should not change. Distractors that were not
    rated under their own prompt, or whose text several outputs share, are left out.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per response and submission, with the column ``response``.
    aspects, n_boot, rng
        As in `against_partner`.

    Returns
    -------
    pandas.DataFrame
        As from `against_partner`; ``other`` is the mean over raters of the text under
        its own prompt. The prompts that the texts were written to are resampled.

    Raises
    ------
    ValueError
        If no distractor was rated under its own prompt.

    Examples
    --------
    >>> ratings = pd.DataFrame({
    ...     "pair_id": [0, 0, 1, 1, 2, 2], "is_distractor": [True, False] * 2 + [False] * 2,
    ...     "prompt_id": list("aabbcd"), "item_id": list("uvwxyz"), "response": list("yvzxyz"),
    ...     "factuality": [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]})
    >>> table = against_same_text(ratings, ["factuality"], 99, np.random.default_rng(0))
    >>> table[["n", "estimate"]]
                n  estimate
    factuality  2       0.5
    """
    outputs = ratings[~_in_check(ratings)].groupby("response")
    own = outputs[list(aspects)].mean().assign(prompt_id=outputs["prompt_id"].first())
    own = own[outputs["item_id"].nunique().eq(1)]
    distractor = ratings[ratings["is_distractor"] & ratings["response"].isin(own.index)]
    if distractor.empty:
        raise ValueError(
            "no distractor was rated under its own prompt: compare with the partner"
        )
    own = own.loc[distractor["response"]].set_index(distractor.index)
    return _paired(distractor, own, aspects, own["prompt_id"], n_boot, rng)


def _in_check(ratings: pd.DataFrame) -> pd.Series:
    """Tell which rows belong to a pair with a distractor."""
    return ratings["pair_id"].isin(ratings.loc[ratings["is_distractor"], "pair_id"])


def _sides(ratings: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split checks into distractors and the responses beside them, in the same order."""
    checks = ratings[_in_check(ratings)].sort_values("pair_id", kind="stable")
    distractor = checks[checks["is_distractor"]].set_index("pair_id")
    partner = checks[~checks["is_distractor"]].set_index("pair_id")
    return distractor, partner


def _paired(
    distractor: pd.DataFrame,
    other: pd.DataFrame,
    aspects: Sequence[str],
    prompts: pd.Series,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Compare row by row, resampling prompts."""
    columns = list(aspects)
    difference = (distractor[columns] - other[columns]).assign(prompt_id=prompts)
    draws = bootstrap_means(difference, columns, "prompt_id", n_boot, rng)
    return _table(distractor[columns], other[columns].mean(), draws)


def _table(
    distractor: pd.DataFrame, other: pd.Series, change: np.ndarray
) -> pd.DataFrame:
    """Difference of means with its interval, and the number of distractors."""
    return summary(distractor.mean() - other, change).assign(n=len(distractor))
