"""Eight functions for people who extend an analysis.

Each takes a DataFrame, one row per rating or per output, and names of columns. Each
returns a `Result`, a DataFrame with ``estimate``, ``low`` and ``high``, which prints
with a caption that says what was left out for the interval, and which
`helpers.show.interval_plot` draws. Import them from `helpers`.

Intervals allow for other raters and other prompts, in the columns of `clusters`. By
default these are ``rater_id`` and ``prompt_id``, as far as the table has them. Rows
with a missing value in a column that is used are left out, and the caption says so.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from helpers import reliability
from helpers.data.tables import OptionError
from helpers.stats import aspects as aspect_stats
from helpers.stats import bootstrap, checks, clustered, lasso, leave_out
from helpers.stats.rates import wilson

CLUSTERS = ("rater_id", "prompt_id")
RATERS = "rater_id"
IN_OLD_NOTEBOOKS = {"ac1": "AC1", "same": "percent"}  # until 10 and 20 are rewritten
KINDS = {"rater_id": "raters", "prompt_id": "prompts"}
N_FOLDS = 10
SHOWN_DECIMALS = 3


class Result(pd.DataFrame):
    """Estimates with 95 % intervals; prints rounded, with a caption.

    ``attrs["clusters"]`` says what was left out or resampled for the intervals,
    ``attrs["caption"]`` also what the numbers are.
    """

    def __repr__(self) -> str:
        """Write the rounded table under its caption."""
        table = pd.DataFrame(self).round(SHOWN_DECIMALS)
        return f"{self.attrs['caption']}\n{table.to_string()}"

    def _repr_html_(self) -> str:
        """Write the rounded table under its caption for a notebook."""
        # here, as it loads matplotlib
        from helpers import show

        table = show.captioned(pd.DataFrame(self), self.attrs["caption"])
        return table._repr_html_()


def weights(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    *,
    alpha: float | None = None,
    clusters: str | Sequence[str] | None = None,
    n_boot: int = 2000,
    seed: int = 0,
) -> Result:
    """Weights of features in an outcome, by least squares or by a Lasso.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per output.
    features : sequence of str
        Numeric columns that explain.
    outcome : str
        Numeric column to explain.
    alpha : float, optional
        Penalty of a Lasso (scikit-learn's objective); by default least squares.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.
    n_boot, seed : int, optional
        Resamples of clusters for the Lasso, and the seed of their random numbers.

    Returns
    -------
    Result
        A row per feature, in units of the outcome per unit of the feature. Least
        squares: intervals leave out each cluster (CR3); ``clusters`` counts the
        clusters (of the kind with more of them) in which a feature differs from its
        usual value, and with fewer than ten the weight is not estimated (too rare).
        Lasso: percentile intervals of resampled clusters, and ``selected``, the share
        of resamples in which the weight is not zero; two columns of clusters are
        resampled at once, which makes intervals wider rather than narrower.

    Raises
    ------
    ValueError
        If a column cannot be used; the message names it.

    References
    ----------
    Tibshirani (1996); MacKinnon, Nielsen and Webb (2023), Fast and Reliable Jackknife
    and Bootstrap Methods for Cluster-Robust Inference; Owen (2007), The Pigeonhole
    Bootstrap.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> found = weights(ratings, ["factuality", "completeness"], "overall", alpha=0.01)
    >>> found["estimate"].round(2).to_dict()
    {'factuality': 0.4, 'completeness': 0.29}
    """
    names = _names(features)
    columns = _cluster_columns(frame, clusters)
    rows, note = _complete(frame, [*names, outcome], columns)
    if alpha is None:
        table = clustered.least_squares(rows, names, outcome, columns).loc[names]
        most = max(columns, key=lambda column: rows[column].nunique())
        varies_in = clustered.informative_clusters(rows, names, most)
        table = clustered.where_known(table, varies_in).assign(clusters=varies_in)
        caption = f"Least-squares weights in {outcome}"
        return _result(table.assign(n=len(rows)), caption, columns, note)
    table = _lasso_table(rows, names, outcome, alpha, columns, n_boot, seed)
    caption = f"Lasso weights in {outcome}, alpha = {alpha}"
    return _result(table.assign(n=len(rows)), caption, columns, note)


def _lasso_table(
    rows: pd.DataFrame,
    features: list[str],
    outcome: str,
    alpha: float,
    columns: list[str],
    n_boot: int,
    seed: int,
) -> pd.DataFrame:
    """Lasso weights with percentile intervals of resampled clusters."""
    cells = rows.groupby(columns, sort=False).ngroup().astype(str)
    cells = rows.assign(_cell=cells)
    moments = lasso.cluster_moments(cells, features, outcome, "_cell")
    # cells stand in sorted order of their labels
    of_cells = cells.drop_duplicates("_cell").sort_values("_cell")
    times_drawn = _times_drawn(of_cells[columns], n_boot, seed)
    gram, cross, _ = moments.total(times_drawn).covariances()
    drawn = lasso.solve_lasso(gram, cross, alpha)
    estimate = lasso.lasso(rows, features, outcome, alpha)
    low, high = bootstrap.interval(drawn)
    values = {"estimate": estimate, "low": low, "high": high}
    selected = (drawn != 0).mean(axis=0)
    return pd.DataFrame(values, index=features).assign(selected=selected)


def _times_drawn(clusters: pd.DataFrame, n_boot: int, seed: int) -> np.ndarray:
    """How often each row is drawn if clusters of each column are resampled."""
    rng = np.random.default_rng(seed)
    times = np.ones((n_boot, len(clusters)))
    for column in clusters:
        codes, labels = pd.factorize(clusters[column], sort=True)
        times *= bootstrap.cluster_weights(len(labels), n_boot, rng)[:, codes]
    return times


def aspect_weights(
    frame: pd.DataFrame,
    aspects: Sequence[str],
    overall: str,
    *,
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]] | None = None,
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """Weighted aspect regression: points lost at the far end of each aspect.

    The overall rating's distance from its ideal is explained, without an intercept, by
    the distances of the aspects from theirs; 0 is ideal, 1 as far as the scale allows.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    aspects : sequence of str
        Columns of ratings of aspects.
    overall : str
        Column of overall ratings.
    ideals : mapping of str to float
        The ideal rating of each aspect and of the overall rating.
    ranges : mapping of str to (float, float), optional
        Lowest and highest rating of each aspect; by default those that occur.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per aspect: points of the overall rating, other aspects held fixed.

    Raises
    ------
    ValueError
        If a column cannot be used or an ideal is missing; the message names it.

    References
    ----------
    Kamoda et al. (2025), section 4.1, equations 1 to 3.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> names = ["factuality", "completeness"]
    >>> ideals = {"factuality": 5, "completeness": 5, "overall": 5}
    >>> found = aspect_weights(ratings, names, "overall", ideals=ideals)
    >>> found["estimate"].round(1).to_dict()
    {'factuality': 1.8, 'completeness': 1.3}
    """
    names = _names(aspects)
    columns = _cluster_columns(frame, clusters)
    for name in [*names, overall]:
        if name not in ideals:
            raise OptionError(
                f"ideals lacks {name!r}: give its ideal rating, as in "
                f"ideals={{{name!r}: 5}}"
            )
    rows, note = _complete(frame, [*names, overall], columns)
    if ranges is None:
        ranges = {name: (rows[name].min(), rows[name].max()) for name in names}
    lacking = [name for name in names if name not in ranges]
    if lacking:
        raise OptionError(
            f"ranges lacks {lacking[0]!r}: give its lowest and highest rating"
        )
    distances = aspect_stats.ideal_distance(rows, names, ideals, ranges)
    explained = distances.assign(_lost=(rows[overall] - ideals[overall]).abs())
    explained[columns] = rows[columns]
    table = clustered.least_squares(explained, names, "_lost", columns, intercept=False)
    caption = f"Points of {overall} lost at the far end of each aspect"
    return _result(table.assign(n=len(rows)), caption, columns, note)


def rates(
    frame: pd.DataFrame,
    columns: str | Sequence[str],
    by: str | None = None,
    *,
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """Percentage of rows with each error, in groups if wanted.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per output.
    columns : str or sequence of str
        Columns of labels from 0 to 1.
    by : str, optional
        Column of groups.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        In %, with Wilson's interval for the effective number of rows: those of
        independent rows that would have the variance found by leaving out clusters. At
        0 and 100 %, where this variance tells nothing, the interval is the exact one of
        as many independent rows as there are clusters, of raters or of prompts,
        whichever are more. A row per column, or per group and column.

    Raises
    ------
    ValueError
        If a column cannot be used or holds values outside 0 to 1.

    References
    ----------
    Wilson (1927); Korn and Graubard (1998); Clopper and Pearson (1934).

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> rates(ratings, ["refusal", "typos"])[["estimate", "low", "high"]].round(1)
             estimate  low  high
    refusal       2.2  0.9   5.1
    typos         7.5  4.6  12.0
    """
    names = _names(columns)
    cluster_columns = _cluster_columns(frame, clusters)
    rows, note = _complete(frame, [], [*cluster_columns, *_names(by or [])], names)
    outside = ~rows[names].isna() & ~((rows[names] >= 0) & (rows[names] <= 1))
    if outside.any(axis=None):
        column = outside.any().idxmax()
        raise OptionError(
            f"column {column!r} has values outside 0 to 1: a rate needs yes (1) or no "
            "(0); for ratings on a scale use compare"
        )
    table = _group_means(rows, names, by, cluster_columns)
    groups = rows.groupby(by, observed=True) if by else None
    n_clusters = {}
    for key in table.index:
        group, column = key if by else (None, key)
        members = groups.get_group(group) if by else rows
        used = members.loc[members[column].notna(), cluster_columns]
        n_clusters[key] = (len(used), used.nunique().max())
    counts = pd.DataFrame.from_dict(n_clusters, "index", columns=["n", "most"])
    counts.index = table.index
    table = wilson(table.join(counts)).drop(columns="most")
    return _result(table, "Rates in %", cluster_columns, note)


def compare(
    frame: pd.DataFrame,
    columns: str | Sequence[str],
    by: str,
    *,
    baseline: object = None,
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """Compare group means: each group minus a baseline.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per output.
    columns : str or sequence of str
        Numeric columns to average; missing values are left out column by column.
    by : str
        Column of groups, for example systems or conditions.
    baseline : object, optional
        The group to subtract; by default the first in sorted order.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per column and other group, in units of the column: the difference of
        means, and ``p_holm``, its p-value corrected by Holm for all rows.

    Raises
    ------
    ValueError
        If a column cannot be used or the baseline is no group.

    References
    ----------
    MacKinnon, Nielsen and Webb (2024), Jackknife Inference with Two-Way Clustering;
    Holm (1979).

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> ratings["long"] = ratings["response_words"] > 100
    >>> compare(ratings, "overall", by="long")[["estimate", "n"]].round(2)
                  estimate    n
    column  long
    overall True      0.44  601
    """
    names = _names(columns)
    cluster_columns = _cluster_columns(frame, clusters)
    rows, note = _complete(frame, [], [*cluster_columns, by], names)
    groups = sorted(rows[by].unique())
    if len(groups) < 2:
        raise OptionError(f"column {by!r} has one group: nothing to compare")
    if baseline is None:
        baseline = groups[0]
    if baseline not in groups:
        raise OptionError(
            f"baseline {baseline!r} is not in column {by!r}: choose one of "
            f"{', '.join(str(group) for group in groups[:12])}"
        )
    table = _group_means(rows, names, by, cluster_columns, baseline)
    n = rows[names].notna().sum()
    table = table.assign(n=n.reindex(table.index.get_level_values(0)).to_numpy())
    known = table["p_value"].notna()
    table.loc[known, "p_holm"] = bootstrap.adjust(table.loc[known, "p_value"])
    caption = f"Mean of each group of {by} minus that of {baseline}"
    return _result(table, caption, cluster_columns, note)


def _group_means(
    rows: pd.DataFrame,
    columns: list[str],
    by: str | None,
    clusters: list[str],
    baseline: object = None,
) -> pd.DataFrame:
    """Means of columns by group, or differences from a baseline, left one out."""
    if by is None:
        codes, groups = np.zeros(len(rows)), [None]
        index = pd.Index(columns)
    else:
        codes, groups = pd.factorize(rows[by], sort=True)
        index = pd.MultiIndex.from_product([columns, groups], names=["column", by])
    contrasts = None
    if baseline is not None:
        one = np.eye(len(groups)) - np.eye(len(groups))[list(groups).index(baseline)]
        is_other = np.asarray(groups) != baseline
        contrasts = np.kron(np.eye(len(columns)), one[is_other])
        index = index[np.tile(is_other, len(columns))]
    means = leave_out.group_means(index, len(columns), len(groups), contrasts)
    values = rows[columns].to_numpy(dtype=float, na_value=np.nan)
    data = np.column_stack([values, codes])
    table = leave_out.leave_out(data, rows[clusters], means).table()
    if by is not None and baseline is None:
        table = table.swaplevel().sort_index(level=0, sort_remaining=False)
    return table


def correlation(
    frame: pd.DataFrame,
    columns: str | Sequence[str],
    outcome: str,
    *,
    method: str = "pearson",
    others_of: str | None = None,
    baseline: str | None = None,
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """Pearson's correlation of columns with an outcome.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per output.
    columns : str or sequence of str
        Numeric columns; rows without a value are left out column by column.
    outcome : str
        Numeric column to correlate them with.
    method : {"pearson"}, optional
        Others are refused, with the reason.
    others_of : str, optional
        Column of items: a rater's columns are then correlated with the mean outcome of
        the item's other raters, which a rater's own opinion does not enter.
    baseline : str, optional
        One of the columns, whose correlation is subtracted from the others'.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per column; intervals are computed on Fisher's scale.

    Raises
    ------
    ValueError
        If a column cannot be used, or no item has two raters.

    References
    ----------
    Fisher (1915); Efron and Tibshirani (1993), chapter 11.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> found = correlation(ratings, ["factuality", "completeness"], "overall")
    >>> found["estimate"].round(2).to_dict()
    {'factuality': 0.53, 'completeness': 0.42}
    """
    if method != "pearson":
        leave_out.require_smooth(method)
        raise OptionError(f"method {method!r} is unknown: use 'pearson'")
    names = _names(columns)
    cluster_columns = _cluster_columns(frame, clusters)
    keys = cluster_columns if others_of is None else [*cluster_columns, others_of]
    rows, note = _complete(frame, [outcome], keys, names)
    values = rows[[*names, outcome]].to_numpy(dtype=float, na_value=np.nan)
    # far from zero sums of squares lose digits
    values = values - np.nanmean(values, axis=0)
    is_single = baseline is None
    index = pd.Index(names)
    items = None
    if others_of is None:
        statistic = leave_out.correlations(index, fisher=is_single)
    else:
        if not rows[others_of].duplicated().any():
            raise OptionError(f"no {others_of!r} has two rows: name the items")
        statistic = leave_out.others_correlations(index, fisher=is_single)
        values = leave_out.power_sums(values)
        items = rows[others_of]
    left_out = leave_out.leave_out(
        values, rows[cluster_columns], statistic, items=items
    )
    if is_single:
        table = leave_out.fisher_table(left_out)
    else:
        table = left_out.contrast(_less_baseline(index, baseline)).table()
    table = table.assign(n=rows[table.index].notna().sum())
    whose = outcome if others_of is None else f"{outcome} by other raters"
    caption = f"Correlation with {whose}{_minus(baseline)}"
    return _result(table, caption, cluster_columns, note)


def agreement(
    frame: pd.DataFrame,
    columns: str | Sequence[str],
    *,
    item: str = "item_id",
    coefficient: str | Sequence[str] = "alpha",
    level: str = "nominal",
    categories: Sequence | None = None,
    pooled: str | None = None,
    baseline: str | None = None,
    rater: str | None = None,
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """How far raters of the same items agree.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per item and rater.
    columns : str or sequence of str
        Columns of ratings; missing ratings are left out column by column.
    item : str, optional
        Column of items.
    coefficient : {"alpha", "AC1", "percent", "specific"} or sequence of them, optional
        Krippendorff's alpha, Gwet's AC1, how often two raters of an item give the same
        rating, or how often another rater gives the category that one gave.
    level : {"nominal", "ordinal", "interval"}, optional
        Level of measurement for alpha.
    categories : sequence, optional
        All values of the scale in increasing order; by default those that occur.
    pooled : str, optional
        Name of one more row, over all columns: each column of an item is a unit.
    baseline : str, optional
        One of the columns, whose agreement is subtracted from the others'.
    rater : str, optional
        Column of raters; by default ``rater_id``, or else that column of `clusters` in
        which an item has several values.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per column, or with several coefficients per column and coefficient, from
        0 or below to 1, with numbers of ratings, ``n``, of ``items`` that have two or
        more, and of ``raters``. ``interval`` says how it was found; where a label is
        too rare, Wilson's interval takes the place of the jackknife's, or there is none
        and the caption says why.

    Raises
    ------
    OptionError
        If a column cannot be used, a rater rates an item twice, no item has two
        ratings, or a rating is not among `categories`.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12; Gwet (2008);
    MacKinnon, Nielsen and Webb (2024), Jackknife Inference with Two-Way Clustering.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> ratings = ratings.drop_duplicates(["rater_id", "item_id"])
    >>> found = agreement(ratings, ["typos", "refusal"], coefficient=["alpha", "AC1"])
    >>> pd.DataFrame(found)[["estimate", "low", "high", "interval"]].round(2)
                         estimate   low  high   interval
    column  coefficient
    typos   alpha            0.59  0.39  0.79  jackknife
            AC1              0.93  0.89  0.98  jackknife
    refusal alpha            0.45  0.15  0.78     Wilson
            AC1              0.98  0.94  0.99     Wilson
    """
    names = _names(columns)
    coefficients = [IN_OLD_NOTEBOOKS.get(name, name) for name in _names(coefficient)]
    cluster_columns = _cluster_columns(frame, clusters)
    for column in [*cluster_columns, item]:
        checks.check_known(frame, column)
    rows = frame.dropna(subset=[*cluster_columns, item])
    rater = rater or _rater_column(rows, item, cluster_columns)
    table = reliability.agreement_table(
        rows,
        names,
        coefficients,
        item=item,
        rater=rater,
        clusters=cluster_columns,
        level=level,
        categories=categories,
        pooled=pooled,
        baseline=baseline,
    )
    if isinstance(coefficient, str) and coefficient != "specific":
        table = table.droplevel("coefficient")
    note = ""
    if len(rows) < len(frame):
        note = f"; {len(frame) - len(rows)} of {len(frame)} rows without a cluster"
        note += " or item left out"
    if rater is None:
        note += "; raters not known, taken to rate an item once each"
    for label, rule in table["interval"].items():
        if rule.startswith("none"):
            name = label if isinstance(label, str) else ", ".join(label)
            note += f"; {name}: {rule}"
    kinds = [f"alpha, {level}" if name == "alpha" else name for name in coefficients]
    caption = f"Agreement of raters ({'; '.join(kinds)}){_minus(baseline)}"
    return _result(table, caption, cluster_columns, note)


def _rater_column(rows: pd.DataFrame, item: str, clusters: Sequence[str]) -> str | None:
    """Find the column of raters: an item has several."""
    if RATERS in rows:
        return RATERS
    for column in clusters:
        if rows.groupby(item, observed=True)[column].nunique().max() > 1:
            return column
    return None


def _less_baseline(names: pd.Index, baseline: object) -> pd.DataFrame:
    """Weights that subtract one estimate from each of the others."""
    if baseline not in names:
        known = ", ".join(str(name) for name in names)
        raise OptionError(f"baseline {baseline!r} is unknown: choose one of {known}")
    weights = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
    weights[baseline] -= 1.0
    return weights.drop(index=baseline)


def _minus(baseline: object) -> str:
    """Say in a caption what was subtracted."""
    return "" if baseline is None else f", minus that of {baseline}"


def tree(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    *,
    max_depth: int = 3,
    clusters: str | Sequence[str] | None = None,
    n_boot: int = 200,
    seed: int = 0,
) -> Result:
    """Fit a decision tree: importances, held-out correlation, and nodes to draw.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Numeric columns that explain.
    outcome : str
        Numeric column to explain.
    max_depth : int, optional
        Largest number of questions from root to leaf.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`. The last one is kept together in the
        folds of the cross-validation.
    n_boot, seed : int, optional
        Resamples of clusters, and the seed of all random numbers.

    Returns
    -------
    Result
        A row per feature: its importance, the share of the variance explained by the
        tree, with the interval of trees fitted to resampled clusters. The row ``r, held
        out`` is the correlation of outcomes with predictions by trees that were fitted
        without their fold, with an interval for these trees.
        ``attrs["nodes"]`` has the nodes: ``show.draw_tree(ax, pd.DataFrame(
        result.attrs["nodes"]), limits)`` draws them.

    Raises
    ------
    ValueError
        If a column cannot be used.

    References
    ----------
    Breiman et al. (1984), Classification and Regression Trees; Kamoda et al. (2025),
    Appendix B.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> names = ["factuality", "completeness"]
    >>> found = tree(ratings, names, "overall", max_depth=1, n_boot=20)
    >>> found["estimate"].round(2).to_dict()
    {'factuality': 1.0, 'completeness': 0.0, 'r, held out': 0.44}
    """
    # here, as it takes a second to load
    from sklearn.tree import DecisionTreeRegressor

    names = _names(features)
    columns = _cluster_columns(frame, clusters)
    rows, note = _complete(frame, [*names, outcome], columns)
    checks.check_regression(rows, names, outcome)
    x = rows[names].to_numpy(dtype=float)
    y = rows[outcome].to_numpy(dtype=float)
    model = DecisionTreeRegressor(max_depth=max_depth, random_state=seed)
    drawn = []
    for times in _times_drawn(rows[columns], n_boot, seed):
        model.fit(x, y, sample_weight=times)
        drawn.append(model.feature_importances_)
    low, high = bootstrap.interval(drawn)
    model.fit(x, y)
    nodes = aspect_stats.tree_table(model, names)
    values = {"estimate": model.feature_importances_, "low": low, "high": high}
    importances = pd.DataFrame(values, index=names)
    held_out = rows[columns].assign(outcome=y)
    held_out["r, held out"] = _predictions(model, x, y, rows[columns[-1]], seed)
    ends = ["estimate", "low", "high"]
    performance = correlation(held_out, "r, held out", "outcome", clusters=columns)[
        ends
    ]
    table = pd.concat([importances, performance]).assign(n=len(rows))
    caption = f"Importance in a tree of depth {max_depth} for {outcome}"
    result = _result(table, caption, columns, note)
    result.attrs["nodes"] = nodes.to_dict("records")
    return result


def _predictions(
    model: object, x: np.ndarray, y: np.ndarray, groups: pd.Series, seed: int
) -> np.ndarray:
    """Predictions for each fold of groups by a model fitted to the others."""
    from sklearn.model_selection import GroupKFold, cross_val_predict

    n_folds = min(N_FOLDS, groups.nunique())
    folds = GroupKFold(n_folds, shuffle=True, random_state=seed)
    return cross_val_predict(model, x, y, groups=groups, cv=folds)


def specifications(
    frame: pd.DataFrame,
    feature: str,
    outcomes: str | Sequence[str],
    *,
    controls: Sequence[str] = (),
    subsets: Mapping[str, pd.Series | Callable] | None = None,
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """Specification curve: one coefficient under every combination of choices.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per output.
    feature : str
        Numeric column whose least-squares coefficient is computed.
    outcomes : str or sequence of str
        Numeric columns to explain, one at a time.
    controls : sequence of str, optional
        Numeric columns that may be held fixed: every subset of them is tried.
    subsets : mapping of str to boolean Series or callable, optional
        Rows to use, by name, as in ``frame[...]`` or ``frame.loc[callable]``; all rows
        are always tried.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per specification, indexed by ``outcome``, ``controls`` and ``rows``,
        sorted by ``estimate``.

    Raises
    ------
    ValueError
        If a column cannot be used.

    References
    ----------
    Simonsohn, Simmons and Nelson (2020), Specification Curve Analysis.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> curve = specifications(
    ...     ratings, "completeness", "overall", controls=["factuality"],
    ...     subsets={"no refusals": ratings["refusal"] == 0})
    >>> curve["estimate"].round(2).tolist()
    [0.28, 0.3, 0.32, 0.33]
    """
    columns = _cluster_columns(frame, clusters)
    parts = {"all": slice(None), **(subsets or {})}
    tables = {}
    for outcome in _names(outcomes):
        for held in _all_subsets(controls):
            for name, rows in parts.items():
                part, _ = _complete(frame.loc[rows], [feature, *held, outcome], columns)
                fitted = clustered.least_squares(
                    part, [feature, *held], outcome, columns
                )
                key = (outcome, " + ".join(held) or "none", name)
                tables[key] = fitted.loc[feature].to_dict() | {"n": len(part)}
    table = pd.DataFrame.from_dict(tables, "index")
    table.index = pd.MultiIndex.from_tuples(
        table.index, names=["outcome", "controls", "rows"]
    )
    caption = f"Coefficient of {feature} in every specification"
    return _result(table.sort_values("estimate"), caption, columns, "")


def _all_subsets(names: Sequence[str]) -> list[tuple[str, ...]]:
    """List every choice of names, from none to all."""
    names = list(names)
    sizes = range(len(names) + 1)
    return [chosen for size in sizes for chosen in combinations(names, size)]


def _names(columns: str | Sequence[str]) -> list[str]:
    """Make a list of one name or several."""
    return [columns] if isinstance(columns, str) else list(columns)


def _cluster_columns(
    frame: pd.DataFrame, clusters: str | Sequence[str] | None
) -> list[str]:
    """Choose the columns of clusters, by default those of raters and prompts."""
    if clusters is None:
        found = [column for column in CLUSTERS if column in frame]
        if not found:
            raise OptionError(
                "the table has no column rater_id or prompt_id: name the columns of "
                "raters and prompts, as in clusters=['worker', 'question']"
            )
        return found
    found = _names(clusters)
    for column in found:
        checks.check_known(frame, column)
    raters, prompts = CLUSTERS
    if found == [raters] and prompts in frame:
        # with one prompt for all there is nothing else to leave out
        n_prompts = frame[prompts].nunique()
        if n_prompts >= 2:
            leave_out.check_repeats(frame, raters, prompts)
    return found


def _complete(
    frame: pd.DataFrame,
    columns: Sequence[str],
    keys: Sequence[str],
    by_column: Sequence[str] = (),
) -> tuple[pd.DataFrame, str]:
    """Leave out rows with a missing value, and say how many.

    Of the columns `by_column` missing values stay, and the caption says what is done.
    """
    checks.check_numeric(frame, [*columns, *by_column], missing="allow")
    for key in keys:
        checks.check_known(frame, key)
    rows = frame.dropna(subset=list(dict.fromkeys([*columns, *keys])))
    n_missing = len(frame) - len(rows)
    note = ""
    if n_missing:
        note = f"; {n_missing} of {len(frame)} rows with missing values left out"
    if rows[list(by_column)].isna().any(axis=None):
        note += "; missing values left out column by column"
    return rows, note


def _result(
    table: pd.DataFrame, caption: str, clusters: Sequence[str], note: str
) -> Result:
    """Put the columns in order and say which clusters the intervals know."""
    first = ["estimate", "low", "high"]
    rest = [column for column in table if column not in first]
    result = Result(table[[*first, *rest]])
    kinds = [KINDS.get(column, column) for column in clusters]
    known = " and ".join(kinds) if len(kinds) > 1 else f"{kinds[0]} only"
    result.attrs["clusters"] = known
    result.attrs["caption"] = f"{caption} (95 % intervals: {known}{note})"
    return result
