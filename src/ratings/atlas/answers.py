"""The same question asked of many sets: one estimate each, with its interval.

A function for each of the five questions takes ratings in the form of
`ratings.atlas.readers.Ratings` and gives rows with ``estimate``, ``standard_error``,
``low``, ``high`` and ``p_value`` (against the line of `statements.csv`). How each is
computed was fixed in `data/atlas/README.md` before.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import t

from helpers.stats import agreement, alt_test, clustered, rates
from ratings.atlas.readers import Ratings

ENDS = ["estimate", "standard_error", "low", "high", "p_value"]
RELIABLE = 0.8  # of a mean, for the number of ratings it takes
FEWEST_FOUND = 10  # findings, at another threshold


# ------------------------------------------------------------------------- 61 aspects


def aspect_weights(
    items: pd.DataFrame,
    outcome: str,
    scales: Mapping[str, tuple[float, float]],
    fact: str = "",
    form: str = "",
    levels: str = "",
) -> pd.DataFrame:
    """Weights of aspects in standard deviations of the outcome, others held equal.

    Parameters
    ----------
    items : pandas.DataFrame
        A row per text (or per text and person): outcome, aspects, ``cluster``.
    outcome : str
        Column to explain.
    scales : mapping of str to (float, float)
        Worst and best mark of each aspect.
    fact, form : str, optional
        The two aspects whose difference is wanted.
    levels : str, optional
        Column whose values have a level each, such as the half of a set.

    Returns
    -------
    pandas.DataFrame
        A row per aspect, and ``"fact less form"`` if both are named: ``estimate``,
        ``standard_error``, ``low``, ``high`` and ``p_value`` from the worst to the best
        mark; ``sd``, ``sd low`` and ``sd high`` per standard deviation of each aspect.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> marks = rng.integers(1, 6, (200, 2)).astype(float)
    >>> items = pd.DataFrame(marks, columns=["true", "fluent"])
    >>> items["cluster"] = np.arange(200)
    >>> items["overall"] = 2 * items["true"] + items["fluent"] + rng.normal(size=200)
    >>> scales = {"true": (1, 5), "fluent": (1, 5)}
    >>> weights = aspect_weights(items, "overall", scales, "true", "fluent")
    >>> weights["estimate"].round(1).to_dict()
    {'true': 2.4, 'fluent': 1.2, 'fact less form': 1.2}
    """
    aspects = list(scales)
    needed = [outcome, *aspects]
    rows = items.dropna(subset=needed).reset_index(drop=True)
    x = pd.DataFrame(
        {
            name: (rows[name] - worst) / (best - worst)
            for name, (worst, best) in scales.items()
        }
    )
    y = rows[outcome] / rows[outcome].std()
    if levels:
        x = x - x.groupby(rows[levels]).transform("mean")
        y = y - y.groupby(rows[levels]).transform("mean")
    x = x - x.mean()
    y = y - y.mean()
    spread = x.std()
    fitted = clustered.slopes(x.to_numpy(), y.to_numpy(), aspects)
    clusters = rows[["cluster"]]
    table = fitted.table(clusters)
    per_sd = _times(fitted, spread)
    ends = per_sd.table(clusters)[["estimate", "low", "high"]]
    if fact and form:
        table.loc["fact less form"] = _difference(fitted, fact, form, clusters)
        ends.loc["fact less form"] = _difference(per_sd, fact, form, clusters)[
            ["estimate", "low", "high"]
        ]
    table[["sd", "sd low", "sd high"]] = ends.to_numpy()
    return table


def _times(fitted: clustered.Slopes, factors: pd.Series) -> clustered.Slopes:
    """Slopes in other units, one factor each."""
    factor = factors.to_numpy()
    return clustered.Slopes(
        fitted.value * factor, fitted.influence * factor, fitted.leverage
    )


def _difference(
    fitted: clustered.Slopes, first: str, second: str, clusters: pd.DataFrame
) -> pd.Series:
    """First slope less the second, with the larger leverage of the two."""
    positions = fitted.value.index.get_indexer([first, second])
    leverage = fitted.leverage[:, positions].max(axis=1, keepdims=True)
    influence = fitted.influence[:, positions]
    value = fitted.value.iloc[positions[0]] - fitted.value.iloc[positions[1]]
    difference = clustered.Slopes(
        pd.Series({"difference": value}), influence[:, :1] - influence[:, 1:], leverage
    )
    return difference.table(clusters).loc["difference"]


def by_same_and_others(
    ratings: Ratings,
    outcome: str,
    scales: Mapping[str, tuple[float, float]],
    fact: str,
    form: str,
) -> dict[str, pd.DataFrame]:
    """Weights of aspects as the same person marks them, and as other people do.

    The outcome is that of one person. Only where one knows who is who.

    Parameters
    ----------
    ratings : Ratings
    outcome, scales, fact, form
        See `aspect_weights`.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``"same person"`` and ``"other people"``: see `aspect_weights`. Without persons,
        or with one an item, the dictionary is empty.
    """
    if not ratings.people_known:
        return {}
    aspects = list(scales)
    frame = ratings.frame.dropna(subset=[outcome, *aspects])
    by_item = frame.groupby("item_id")
    n = by_item[outcome].transform("size")
    frame = frame[n >= 2]
    if frame.empty:
        return {}
    by_item = frame.groupby("item_id")[aspects]
    n_others = by_item.transform("size").to_numpy() - 1
    others = (by_item.transform("sum") - frame[aspects]).div(n_others, axis="index")
    by_others = frame.assign(**others)
    tables = {}
    for name, rows in {"same person": frame, "other people": by_others}.items():
        tables[name] = aspect_weights(rows, outcome, scales, fact, form)
    return tables


# ----------------------------------------------------------------------- 62 agreement


def agreement_on(
    ratings: Ratings,
    marks: Sequence[str],
    level: str,
    line: float,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """How well people agree on each mark, and how many ratings make a reliable mean.

    Parameters
    ----------
    ratings : Ratings
    marks : sequence of str
        Columns of marks.
    level : {"nominal", "ordinal", "interval"}
        How marks are compared by alpha.
    line : float
        What alpha is tested against.
    n_boot : int
        Replicates of the clusters.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        A row per mark: alpha as ``estimate`` with ``standard_error``, ``low``, ``high``
        and ``p_value``; ``same`` (how often two people give the same mark, in %; NaN
        for marks by distance), ``ac1``, ``ac1_low``, ``ac1_high``; ``ratings`` an item
        on average, ``of_mean`` (reliability of their mean) and ``needed`` (ratings for
        a reliability of 0.8).

    Notes
    -----
    Reliability of the mean of k ratings is k alpha / (1 + (k - 1) alpha), if raters of
    an item are drawn at random (Spearman and Brown).

    Examples
    --------
    >>> from ratings.atlas.readers import in_one_form
    >>> items = np.repeat(np.arange(30), 2)
    >>> frame = pd.DataFrame({"item_id": items, "overall": 1.0 + items % 3})
    >>> frame.loc[::7, "overall"] = 2.0
    >>> ratings = in_one_form(frame, {"overall": (1, 3)}, people_known=False)
    >>> rng = np.random.default_rng(0)
    >>> table = agreement_on(ratings, ["overall"], "ordinal", 0.667, 200, rng)
    >>> table[["estimate", "same", "ratings", "needed"]].round(2).to_dict("records")
    [{'estimate': 0.83, 'same': 80.0, 'ratings': 2.0, 'needed': 1.0}]
    """
    rows = {}
    for mark in marks:
        given = ratings.frame.dropna(subset=[mark])
        categories = all_marks(given[mark], ratings.scales[mark], level)
        table = agreement.agreement_table(
            given, [mark], "item_id", "cluster", categories, n_boot, rng, level
        )
        row = table.iloc[0]
        # the bootstrap's interval read as a normal one
        error = (row["alpha_high"] - row["alpha_low"]) / (2 * 1.96)
        n_clusters = given["cluster"].nunique()
        per_item = given.groupby("item_id").size()
        k = per_item[per_item >= 2].mean()
        alpha = row["alpha"]
        is_label = level != "interval"
        rows[mark] = {
            "estimate": alpha,
            "standard_error": error,
            "low": row["alpha_low"],
            "high": row["alpha_high"],
            "p_value": 2 * t.sf(abs(alpha - line) / error, n_clusters - 1),
            "same": 100 * row["observed_agreement"] if is_label else np.nan,
            "ac1": row["ac1"] if is_label else np.nan,
            "ac1_low": row["ac1_low"] if is_label else np.nan,
            "ac1_high": row["ac1_high"] if is_label else np.nan,
            "ratings": k,
            "of_mean": reliability_of_mean(alpha, k),
            "needed": ratings_needed(alpha),
            "items": len(per_item[per_item >= 2]),
            "clusters": n_clusters,
        }
    return pd.DataFrame.from_dict(rows, "index")


def all_marks(given: pd.Series, scale: tuple[float, float], level: str) -> np.ndarray:
    """Marks of a scale, also those that do not occur; by distance, those that do.

    Examples
    --------
    >>> all_marks(pd.Series([1.0, 2.0]), (1, 4), "ordinal").tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    there = given.dropna().unique()
    if level != "interval":
        there = np.union1d(there, np.arange(min(scale), max(scale) + 1))
    return np.sort(there)


def reliability_of_mean(single: float, n_ratings: float) -> float:
    """Reliability of the mean of some ratings (Spearman and Brown).

    Examples
    --------
    >>> reliability_of_mean(0.5, 3)
    0.75
    """
    return n_ratings * single / (1 + (n_ratings - 1) * single)


def ratings_needed(single: float, wanted: float = RELIABLE) -> float:
    """Ratings of an item whose mean is as reliable as wanted.

    Examples
    --------
    >>> ratings_needed(0.5), ratings_needed(0.9), ratings_needed(0.0)
    (4.0, 1.0, inf)
    """
    if single <= 0:
        return np.inf
    needed = wanted / (1 - wanted) * (1 - single) / single
    return max(1.0, round(float(needed), 10))


# -------------------------------------------------------------------------- 63 length


def length_slope(items: pd.DataFrame, outcome: str) -> pd.Series:
    """Change of the mean rating when a text is twice as long, within prompts, systems.

    Parameters
    ----------
    items : pandas.DataFrame
        A row per text: ``words``, ``prompt_id``, ``system``, ``cluster``, the outcome.
    outcome : str
        Column of mean ratings.

    Returns
    -------
    pandas.Series
        ``estimate`` in standard deviations of the outcome over the texts,
        ``standard_error``, ``low``, ``high``, ``p_value``, and ``alone``: the same
        without levels of prompts and systems.

    Examples
    --------
    >>> words = np.array([50, 100, 200, 50, 100, 200, 100, 200, 50, 200, 50, 100])
    >>> items = pd.DataFrame({"words": words, "prompt_id": np.repeat(list("abcd"), 3)})
    >>> items = items.assign(system=list("xyz") * 4, cluster=items["prompt_id"])
    >>> items["overall"] = np.log2(words) + items["prompt_id"].eq("b")
    >>> slope = length_slope(items, "overall")["estimate"]
    >>> round(float(slope * items["overall"].std()), 3)  # in points
    1.0
    """
    rows = items.dropna(subset=[outcome, "words"])
    rows = rows[rows["words"] > 0]
    return slope_within(rows, np.log2(rows["words"].astype(float)), outcome)


def slope_within(items: pd.DataFrame, x: pd.Series, outcome: str) -> pd.Series:
    """Change of the mean rating with something, within prompts and systems.

    Parameters
    ----------
    items : pandas.DataFrame
        A row per text: ``prompt_id``, ``system``, ``cluster``, the outcome.
    x : pandas.Series
        Of the same texts.
    outcome : str
        Column of mean ratings.

    Returns
    -------
    pandas.Series
        As `length_slope`.
    """
    rows = items.reset_index(drop=True)
    y = rows[outcome].to_numpy() / rows[outcome].std()
    x = x.to_numpy(dtype=float)
    alone = np.polyfit(x, y, 1)[0]
    both = pd.DataFrame({"x": x, "rating": y})
    rest = _without_levels(both, [rows["prompt_id"], rows["system"]])
    row = _slope(rest["x"], rest["rating"], rows[["cluster"]])
    row["alone"] = alone
    row["texts"] = len(rows)
    row["clusters"] = rows["cluster"].nunique()
    return row


def _without_levels(table: pd.DataFrame, labels: Sequence[pd.Series]) -> pd.DataFrame:
    """Residuals of columns on levels of labels, by least squares."""
    dummies = [pd.get_dummies(label, dtype=float) for label in labels]
    design = np.column_stack([np.ones(len(table)), *dummies])
    values = table.to_numpy()
    levels, *_ = np.linalg.lstsq(design, values, rcond=None)
    return pd.DataFrame(values - design @ levels, columns=table.columns)


def _slope(x: pd.Series, y: pd.Series, clusters: pd.DataFrame) -> pd.Series:
    """One slope of centred columns with an interval by leaving out clusters."""
    fitted = clustered.slopes(x.to_numpy()[:, None], y.to_numpy(), ["slope"])
    return fitted.table(clusters).loc["slope"]


def pair_slope(pairs: pd.DataFrame) -> pd.Series:
    """Change of a preference, in percentage points, when a text is twice as long.

    Parameters
    ----------
    pairs : pandas.DataFrame
        As `readers.preference_pairs` gives them. Each pair of systems has a level.

    Returns
    -------
    pandas.Series
        ``estimate``, ``standard_error``, ``low``, ``high`` and ``p_value``.

    Examples
    --------
    >>> pairs = pd.DataFrame({"cluster": range(6), "first_words": [50, 100, 200] * 2,
    ...                       "second_words": 100, "first_system": "a",
    ...                       "second_system": "b",
    ...                       "preferred": [0.0, 0.5, 1.0, 0.5, 0.5, 0.5]})
    >>> float(pair_slope(pairs)["estimate"])
    25.0
    """
    length = np.log2(pairs["first_words"] / pairs["second_words"])
    systems = pairs["first_system"] + " " + pairs["second_system"]
    both = pd.DataFrame({"length": length, "preferred": 100 * pairs["preferred"]})
    rest = both - both.groupby(systems).transform("mean")
    row = _slope(rest["length"], rest["preferred"], pairs[["cluster"]])
    row["texts"] = len(pairs)
    row["clusters"] = pairs["cluster"].nunique()
    return row.round(10)


# --------------------------------------------------------------------------- 64 crowd


def found_by(
    marks: pd.DataFrame, is_found: pd.Series, share: float = 0.5
) -> pd.DataFrame:
    """Share of the people of each item who find something; whether most of them do.

    Parameters
    ----------
    marks : pandas.DataFrame
        ``item_id`` and ``cluster``, a row per mark.
    is_found : pandas.Series of bool
        Whether this mark says that something is found.
    share : float, optional
        More than this share is a finding.

    Returns
    -------
    pandas.DataFrame
        ``cluster``, ``share`` and ``found``, by item.
    """
    table = marks.assign(found=is_found.astype(float))
    by_item = table.groupby("item_id")
    result = by_item.agg(cluster=("cluster", "first"), share=("found", "mean"))
    return result.assign(found=result["share"] > share)


def detection(crowd: pd.Series, expert: pd.Series, cluster: pd.Series) -> pd.DataFrame:
    """How much a crowd finds of what experts find, and how often it finds without them.

    Parameters
    ----------
    crowd, expert : pandas.Series of bool
        Findings by item.
    cluster : pandas.Series
        Cluster of each item.

    Returns
    -------
    pandas.DataFrame
        Rows ``found`` and ``false alarms``: ``estimate``, ``low`` and ``high`` in
        percent (Wilson, at the effective number of items in clusters), ``items``,
        ``standard_error`` and ``p_value`` against one half.

    Examples
    --------
    >>> crowd = pd.Series([True, False, False, True] * 10)
    >>> expert = pd.Series([True, True, False, False] * 10)
    >>> table = detection(crowd, expert, pd.Series(range(40)))
    >>> table[["estimate", "items"]].to_dict("index")["found"]
    {'estimate': 50.0, 'items': 20}
    """
    pieces = {"found": expert, "false alarms": ~expert}
    rows = {}
    for name, kept in pieces.items():
        marked = crowd[kept].astype(float)
        rows[name] = rate(marked, cluster[kept]) | {"items": int(kept.sum())}
    return pd.DataFrame.from_dict(rows, "index")


def rate(marked: pd.Series, cluster: pd.Series) -> dict[str, float]:
    """Rate in percent with Wilson's interval at the effective number of items."""
    if len(marked) < 2 or cluster.nunique() < 2:
        return dict.fromkeys(ENDS, np.nan)
    outputs = pd.DataFrame(
        {"found": marked.to_numpy(), "cluster": cluster.to_numpy(), "all": "all"}
    )
    row = rates.error_rates(outputs, ["found"], "all", "cluster").iloc[0]
    estimate, low, high = row[["estimate", "low", "high"]]
    error = (high - low) / (2 * 1.96)
    p_value = 2 * t.sf(abs(estimate - 50) / error, cluster.nunique() - 1)
    return dict(zip(ENDS, [estimate, error, low, high, p_value], strict=True))


# -------------------------------------------------------------------------- 65 judges


def stand_in(
    people: pd.DataFrame, models: pd.DataFrame, epsilon: float, score: str
) -> pd.DataFrame:
    """Run the alternative annotator test of each model.

    Parameters
    ----------
    people, models : pandas.DataFrame
        As `readers.judged_labels` gives them.
    epsilon : float
        See `helpers.stats.alt_test.alt_test`.
    score : {"same label", "closeness"}

    Returns
    -------
    pandas.DataFrame
        A row per model: ``winning_rate``, ``judged`` (people), ``advantage`` with
        ``low`` and ``high``, ``items`` and ``clusters``.
    """
    rows = {}
    for name, labels in models.items():
        result = alt_test.alt_test(
            people, labels.dropna(), epsilon, score, cluster="text"
        )
        rows[name] = {
            "winning_rate": result.winning_rate,
            "judged": int(result.people["p_value"].notna().sum()),
            "advantage": result.advantage,
            "low": result.low,
            "high": result.high,
            "items": int(result.people["items"].max()),
            "clusters": int(result.people["clusters"].max()),
        }
    return pd.DataFrame.from_dict(rows, "index")


def correlation_with_others(
    marks: pd.DataFrame, models: pd.DataFrame, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Correlation with the mean of all other people: of one person, of each model.

    Parameters
    ----------
    marks : pandas.DataFrame
        A row per item, a column per place of a person; the index holds ``cluster``.
    models : pandas.DataFrame
        A column per model, rows as those of `marks`.
    n_boot : int
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` for ``"a person"`` and each model, and
        ``lead``, ``lead low``, ``lead high``: that of the model less that of a person.
    """
    places = list(marks)
    clusters, _ = pd.factorize(marks.index.get_level_values("cluster"))
    n_clusters = clusters.max() + 1
    draws = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), n_boot)
    weights = np.vstack([np.ones(n_clusters), draws])[:, clusters]
    values = {"a person": []} | {name: [] for name in models}
    for place in places:
        rest = marks.drop(columns=place).mean(axis="columns").to_numpy()
        values["a person"].append(_correlation(marks[place].to_numpy(), rest, weights))
        for name in models:
            own = models[name].to_numpy()
            values[name].append(_correlation(own, rest, weights))
    means = pd.DataFrame({name: np.mean(each, axis=0) for name, each in values.items()})
    lead = means.sub(means["a person"], axis="index")
    columns = {"estimate": means.iloc[0], "lead": lead.iloc[0]}
    for name, draw in {"": means.iloc[1:], "lead ": lead.iloc[1:]}.items():
        columns[f"{name}low"] = draw.quantile(0.025)
        columns[f"{name}high"] = draw.quantile(0.975)
    return pd.DataFrame(columns)


def _correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's correlation with each set of weights, of rows with both marks."""
    there = ~(np.isnan(x) | np.isnan(y))
    x = x[there]
    y = y[there]
    w = weights[:, there]
    total = w.sum(axis=1)
    mean_x = w @ x / total
    mean_y = w @ y / total
    covariance = w @ (x * y) / total - mean_x * mean_y
    variance_x = w @ x**2 / total - mean_x**2
    variance_y = w @ y**2 / total - mean_y**2
    return covariance / np.sqrt(variance_x * variance_y)


def order_changes(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How often judge models change their verdict when the two texts change places.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        As `readers.order_verdicts` gives them.

    Returns
    -------
    pandas.DataFrame
        By part and judge: ``pairs``; of 100 pairs with two verdicts ``changed``, with
        Wilson's interval ``low`` and ``high``; ``first``, in how many of the changed
        pairs the text shown first won both times.
    """
    from statsmodels.stats.proportion import proportion_confint

    given = verdicts.dropna(subset=["one", "other"]).astype({"one": str, "other": str})
    changed = given["one"] != given["other"]
    # shown first in the file's order is text 1, in the other order text 2
    first = changed & given["one"].eq("1") & given["other"].eq("2")
    table = given.assign(changed=changed, first=first)
    sums = table.groupby(["part", "judge"])[["changed", "first"]].sum()
    n = table.groupby(["part", "judge"]).size()
    low, high = proportion_confint(sums["changed"], n, method="wilson")
    return pd.DataFrame(
        {
            "pairs": n,
            "changed": 100 * sums["changed"] / n,
            "low": 100 * low,
            "high": 100 * high,
            "first": 100 * sums["first"] / sums["changed"],
        }
    )


def level_of(ratings: Ratings, mark: str) -> str:
    """Level of measurement of a mark: by distance if it has more than seven values."""
    n_values = ratings.frame[mark].nunique()
    worst, best = ratings.scales[mark]
    return "interval" if n_values > 7 or abs(best - worst) > 7 else "ordinal"
