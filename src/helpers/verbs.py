"""Functions for people who analyse ratings.

Each takes a DataFrame, one row per rating or per output, and names of columns. Each
returns a `Result`, a DataFrame with ``estimate``, ``low`` and ``high``, which prints
with a caption that says what was left out for the interval, and which
`helpers.show.interval_plot` draws. Import them from `helpers`.

Intervals allow for other raters and other prompts, in the columns of `clusters`. By
default these are ``rater_id`` and ``prompt_id``, as far as the table has them. Rows
with a missing value in a column that is used are left out, and the caption says so.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import expit

from helpers import aspects as aspect_stats
from helpers import intervals, judges, preferences, regression, reliability
from helpers.data.tables import OptionError

CLUSTERS = ("rater_id", "prompt_id")
RATERS = "rater_id"
IN_OLD_NOTEBOOKS = {"ac1": "AC1", "same": "percent"}  # until 10 and 20 are rewritten
KINDS = {"rater_id": "raters", "prompt_id": "prompts"}
FEWEST_INFORMATIVE = 10  # clusters in which a feature must differ from its usual value
N_FOLDS = 10
ENDS = ["estimate", "low", "high"]
SHOWN = [*ENDS, "selected", "p_holm", "p_adjusted"]
SHOWN_DECIMALS = 2
P_VALUES = ("p_value", "p_holm", "p_adjusted")


class Result(pd.DataFrame):
    """Estimates with 95 % intervals; prints rounded, with a caption.

    It prints ``estimate``, ``low``, ``high`` and, where there are several tests, the
    p-value corrected for their number; ``pd.DataFrame(result)`` has every column. A
    selection of rows or columns and ``result.round(3)`` stay a Result.

    ``attrs["clusters"]`` says what was left out or resampled for the intervals,
    ``attrs["caption"]`` also what the numbers are.
    """

    _metadata = ["estimates"]  # noqa: RUF012 - pandas copies it to selections
    estimates = None

    @property
    def _constructor(self) -> type:
        """Make selections of the same class."""
        return Result

    def difference(self, first: object, second: object) -> "Result":
        """Subtract one estimate from another of the same fit.

        Parameters
        ----------
        first, second : object
            Names of two rows.

        Returns
        -------
        Result
            One row, ``first - second``, with its own interval: two intervals that
            overlap do not show that there is no difference.

        Raises
        ------
        OptionError
            If a name is unknown, or the estimates are not from one fit.

        Examples
        --------
        >>> ratings = pd.read_csv("data/example/ratings.csv")
        >>> found = weights(ratings, ["factuality", "completeness"], "overall")
        >>> found.difference("factuality", "completeness")["estimate"].round(2)
        factuality - completeness    0.12
        Name: estimate, dtype: float64
        """
        self._check_pair(first, second)
        table = self.estimates.difference(first, second).table()
        return self._like(table, f"Difference of {self._what()}")

    def ratio(self, first: object, second: object) -> "Result":
        """Divide one estimate by another of the same fit.

        Parameters
        ----------
        first, second : object
            Names of two rows.

        Returns
        -------
        Result
            One row, ``first / second``, with Fieller's interval, which is not
            symmetric. There is none if the interval of `second` contains 0.

        Raises
        ------
        OptionError
            If a name is unknown, or the estimates are not from one fit.

        References
        ----------
        Fieller (1954), Some Problems in Interval Estimation.

        Examples
        --------
        >>> ratings = pd.read_csv("data/example/ratings.csv")
        >>> found = weights(ratings, ["factuality", "completeness"], "overall")
        >>> pd.DataFrame(found.ratio("factuality", "completeness")).round(2)
                                   estimate   low  high     df
        factuality / completeness      1.39  1.03  1.97  11.57
        """
        self._check_pair(first, second)
        if isinstance(self.estimates, regression.Draws):
            raise OptionError(
                "a ratio of Lasso weights has no interval, since a weight can be 0: "
                "use least squares (without alpha)"
            )
        table = self.estimates.ratio(first, second)
        caption = f"Ratio of {self._what()}"
        if table["low"].isna().all():
            caption += f"; no interval, since {second!r} may be 0"
        return self._like(table, caption)

    def _check_pair(self, first: object, second: object) -> None:
        """Refuse names that are no rows, and tables that come from several fits."""
        if self.estimates is None:
            raise OptionError(
                "the rows of this table are not from one fit: differences and ratios "
                "are for the results of weights and aspect_weights"
            )
        for name in (first, second):
            if name not in self.index:
                rows = ", ".join(str(label) for label in self.index)
                raise OptionError(f"row {name!r} is unknown: choose from {rows}")

    def _what(self) -> str:
        """What the numbers are, from the caption."""
        what = self.attrs["caption"].split(" (95 % intervals")[0]
        return what[0].lower() + what[1:]

    def _like(self, table: pd.DataFrame, what: str) -> "Result":
        """Make another result about the same clusters."""
        result = Result(table)
        result.attrs = dict(self.attrs)
        rest = self.attrs["caption"].partition(" (95 % intervals")
        result.attrs["caption"] = what + rest[1] + rest[2]
        return result

    def __neg__(self) -> "Result":
        """Turn the sign: of estimates, and of intervals, whose ends change places."""
        turned = self.copy()
        if "estimate" in self:
            turned["estimate"] = -self["estimate"]
        if "low" in self and "high" in self:
            turned["low"] = -self["high"]
            turned["high"] = -self["low"]
        if isinstance(self.estimates, regression.Draws):
            turned.estimates = regression.Draws(
                -self.estimates.value, -self.estimates.draws
            )
        elif self.estimates is not None:
            names = self.estimates.value.index
            minus = pd.DataFrame(-np.eye(len(names)), names, names)
            turned.estimates = self.estimates.contrast(minus)
        return turned

    def round(self, decimals: int = 0, *args: object, **options: object) -> "Result":
        """Round as pandas does, but for p-values, and print as many digits."""
        rounded = super().round(decimals, *args, **options)
        if isinstance(decimals, int):
            for column in self.columns.intersection(P_VALUES):
                rounded[column] = self[column]
            rounded.attrs["decimals"] = decimals
        return rounded

    def _shown(self) -> pd.DataFrame:
        """Choose the columns that readers need, rounded."""
        decimals = self.attrs.get("decimals", SHOWN_DECIMALS)
        table = pd.DataFrame(self)
        if set(ENDS) < set(table):
            table = table[[column for column in SHOWN if column in table]]
        shown = table.round(decimals)
        for column in P_VALUES:
            if column in shown:
                shown[column] = table[column].map(_p_value)
        return shown

    def __repr__(self) -> str:
        """Write the rounded table under its caption."""
        caption = self.attrs.get("caption")
        if caption is None:  # joined from several results
            return repr(self._shown())
        return f"{caption}\n{self._shown().to_string()}"

    def _repr_html_(self) -> str:
        """Write the rounded table under its caption for a notebook."""
        # here, as it loads matplotlib
        from helpers import show

        caption = self.attrs.get("caption")
        if caption is None:
            return self._shown()._repr_html_()
        decimals = self.attrs.get("decimals", SHOWN_DECIMALS)
        return show.captioned(self._shown(), caption, decimals)._repr_html_()


def _p_value(value: float) -> str:
    """Write a p-value with three digits."""
    if np.isnan(value):
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def weights(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    *,
    alpha: float | None = None,
    intercept: bool = True,
    within: str | Sequence[str] | None = None,
    means_of: str | None = None,
    holm: bool = False,
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
    intercept : bool, optional
        Whether least squares fit a constant.
    within : str or sequence of str, optional
        Column of raters who each have a constant of their own, so that weights compare
        ratings by the same rater (rater effects). Raters for whom no feature varies are
        not counted. Two columns, for example of raters and of systems, have effects
        both.
    means_of : str, optional
        Column of items: the means of each item's ratings are fitted, and intervals
        allow for other raters in them. Missing values are then allowed.
    holm : bool, optional
        Whether to add ``p_holm``, the p-value of a least-squares weight corrected by
        Holm for the number of weights.
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
        ``result.difference(a, b)`` and ``result.ratio(a, b)`` compare two weights,
        ``-result`` turns the sign.

    Raises
    ------
    OptionError
        If a column or a combination of options cannot be used; the message says what to
        do.

    References
    ----------
    Tibshirani (1996); MacKinnon, Nielsen and Webb (2023), Fast and Reliable Jackknife
    and Bootstrap Methods for Cluster-Robust Inference; Owen (2007), The Pigeonhole
    Bootstrap.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> names = ["factuality", "completeness"]
    >>> weights(ratings, names, "overall", within="rater_id").round(1)
    Least-squares weights in overall within raters (95 % intervals: raters and \
prompts; 4 of 601 rows with missing values left out)
                  estimate  low  high
    factuality         0.4  0.3   0.5
    completeness       0.3  0.2   0.4
    """
    names = _names(features)
    if not names:
        raise OptionError("no features are named: give at least one column")
    columns = _cluster_columns(frame, clusters)
    given = {"alpha": alpha, "within": within, "means_of": means_of}
    used = [name for name, value in given.items() if value is not None]
    if len(used) > 1 or (used and not intercept):
        other = used[1] if len(used) > 1 else "intercept=False"
        raise OptionError(f"{used[0]} and {other} do not go together: choose one")
    if means_of is not None:
        result = _weights_of_means(frame, names, outcome, means_of, columns)
        return _with_holm(result) if holm else result
    held = _names(within or [])
    keys = list(dict.fromkeys([*columns, *held]))
    rows, note = _complete(frame, [*names, outcome], keys)
    if alpha is not None:
        if holm:
            raise OptionError("Lasso weights have no p-values: leave holm out")
        fitted = regression.lasso(
            rows, names, outcome, alpha, columns, n_boot=n_boot, seed=seed
        )
        caption = f"Lasso weights in {outcome}, alpha = {alpha}"
        return _fitted(fitted, names, rows, caption, columns, note)
    fitted = regression.least_squares(
        rows, names, outcome, columns, intercept=intercept, within=within
    )
    caption = f"Least-squares weights in {outcome}"
    if not intercept:
        caption += " without an intercept"
    if held:
        caption += f" within {_kinds(held)}"
    result = _fitted(fitted, names, rows, caption, columns, note, held)
    return _with_holm(result) if holm else result


def _weights_of_means(
    frame: pd.DataFrame, names: list[str], outcome: str, item: str, columns: list[str]
) -> Result:
    """Least squares on means over raters."""
    rows, note = _complete(frame, [], [*columns, item], [*names, outcome])
    rater = _rater_column(rows, item, columns)
    fitted = regression.least_squares_of_means(
        rows, names, outcome, item, columns, rater=rater
    )
    means = rows.groupby(item)[[*names, outcome]].mean().dropna().reset_index()
    prompts = [column for column in columns if column != rater]
    of_items = rows.drop_duplicates(item).set_index(item)
    means = means.join(of_items[prompts], on=item)
    caption = f"Least-squares weights in the mean {outcome} of each {item}"
    most = prompts[0] if prompts else item
    return _fitted(fitted, names, means, caption, columns, note, most=most)


def _fitted(
    fitted: regression.Draws | intervals.Estimates,
    names: list[str],
    rows: pd.DataFrame,
    caption: str,
    columns: list[str],
    note: str,
    held: Sequence[str] = (),
    most: str | None = None,
) -> Result:
    """Set out weights, without those of features that differ in too few clusters."""
    table = fitted.table().loc[names]
    estimates = fitted
    if isinstance(fitted, intervals.Estimates):
        most = most or max(columns, key=lambda column: rows[column].nunique())
        varies_in = _informative_clusters(rows, names, most, held)
        is_known = varies_in >= FEWEST_INFORMATIVE
        table = table.where(is_known, axis="index").assign(clusters=varies_in)
        for name in varies_in.index[~is_known]:
            note += (
                f"; no weight of {name!r}, which differs from its usual value in "
                f"{varies_in[name]} clusters of {most!r} only, "
                f"{FEWEST_INFORMATIVE} are needed"
            )
        note += _no_interval(table, "it is not known without one of the clusters")
    result = _result(table.assign(n=len(rows)), caption, columns, note)
    result.estimates = estimates
    return result


def _with_holm(result: Result) -> Result:
    """Correct the p-values of all estimated weights for their number."""
    is_tested = result["p_value"].notna()
    result["p_holm"] = np.nan
    result.loc[is_tested, "p_holm"] = intervals.holm(result.loc[is_tested, "p_value"])
    return result


def _informative_clusters(
    rows: pd.DataFrame, features: list[str], cluster: str, held: Sequence[str]
) -> pd.Series:
    """Count the clusters in which each feature takes another than its usual value."""
    usual = rows[features].mode().iloc[0]
    differs = rows[features].ne(usual)
    for column in held:
        varies = rows.groupby(column)[features].transform("nunique") > 1
        differs &= varies
    return differs.groupby(rows[cluster]).any().sum()


def _no_interval(table: pd.DataFrame, reason: str) -> str:
    """Say for which rows there is an estimate without an interval."""
    is_bare = table["estimate"].notna() & table["low"].isna()
    names = ", ".join(repr(name) for name in table.index[is_bare])
    return f"; no interval for {names}: {reason}" if names else ""


def aspect_weights(
    frame: pd.DataFrame,
    aspects: Sequence[str],
    overall: str,
    *,
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]] | None = None,
    per_step: bool = False,
    within: str | None = None,
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
    per_step : bool, optional
        Whether weights are points per step of an aspect's scale instead of those at its
        far end.
    within : str, optional
        Column of raters who each have a constant of their own, see `weights`.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per aspect: points of the overall rating, other aspects held fixed.
        `Result.difference` and `Result.ratio` compare two of them.

    Raises
    ------
    OptionError
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
    keys = list(dict.fromkeys([*columns, *_names(within or [])]))
    rows, note = _complete(frame, [*names, overall], keys)
    if ranges is None:
        ranges = {name: (rows[name].min(), rows[name].max()) for name in names}
    lacking = [name for name in names if name not in ranges]
    if lacking:
        raise OptionError(
            f"ranges lacks {lacking[0]!r}: give its lowest and highest rating"
        )
    distances = aspect_stats.ideal_distance(rows, names, ideals, ranges)
    if per_step:
        distances = (rows[names] - pd.Series(ideals)[names]).abs()
    explained = distances.assign(_lost=(rows[overall] - ideals[overall]).abs())
    explained[keys] = rows[keys]
    fitted = regression.least_squares(
        explained, names, "_lost", columns, intercept=False, within=within
    )
    where = "per step of each aspect" if per_step else "at the far end of each aspect"
    caption = f"Points of {overall} lost {where}"
    if within is not None:
        caption += f", within {KINDS.get(within, within)}"
    table = fitted.table().loc[names].assign(n=len(rows))
    note += _no_interval(table, "it is not known without one of the clusters")
    result = _result(table, caption, columns, note)
    result.estimates = fitted
    return result


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
    OptionError
        If a column cannot be used or holds values outside 0 to 1.

    References
    ----------
    Wilson (1927); Korn and Graubard (1998); Clopper and Pearson (1934).

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> rates(ratings, ["refusal", "typos"]).round(1)
    Rates in % (95 % intervals: raters and prompts; missing values left out column by \
column)
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
    if by is not None:
        _check_one_type(rows, by)
    table = intervals.group_means(rows, names, cluster_columns, by).table()
    if by is not None:
        table = table.swaplevel().sort_index(level=0, sort_remaining=False)
    groups = rows.groupby(by, observed=True) if by else None
    counts = []
    for key in table.index:
        group, column = key if by else (None, key)
        members = groups.get_group(group) if by else rows
        used = members.loc[members[column].notna(), cluster_columns]
        counts.append({"n": len(used), "most": used.nunique().max()})
    table = _as_rates(table.join(pd.DataFrame(counts, index=table.index)))
    return _result(table, "Rates in %", cluster_columns, note)


def _as_rates(means: pd.DataFrame) -> pd.DataFrame:
    """Turn shares with their variances into percentages with Wilson's interval."""
    rate = means["estimate"].to_numpy()
    variance = means["standard_error"].to_numpy() ** 2
    n = means["n"].to_numpy(dtype=float)
    df = means["df"].fillna(1).to_numpy()
    effective = intervals.effective_rows(rate, variance, df, n)
    low, high = intervals.wilson(rate, effective)
    # at 0 and 100 % the exact interval of as many rows as clusters
    furthest = intervals.clopper_pearson_ends(means["most"])
    low = np.where(rate == 0, 0.0, np.where(rate == 1, 1 - furthest, low))
    high = np.where(rate == 1, 1.0, np.where(rate == 0, furthest, high))
    percent = {
        "estimate": 100 * rate,
        "low": 100 * low,
        "high": 100 * high,
        "standard_error": 100 * means["standard_error"],
    }
    return means.assign(**percent).drop(columns=["p_value", "most"])


def compare(
    frame: pd.DataFrame,
    columns: str | Sequence[str],
    by: str,
    *,
    groups: Sequence | None = None,
    baseline: object = None,
    percent: bool = False,
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
    groups : sequence, optional
        The groups to compare; by default all.
    baseline : object, optional
        The group to subtract; by default the first of `groups`, or the first in sorted
        order.
    percent : bool, optional
        Whether to give shares as percentages, and differences in percentage points.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per column and other group, or per column if there is one other group, in
        units of the column: the difference of means, and ``p_holm``, its p-value
        corrected by Holm for all rows.

    Raises
    ------
    OptionError
        If a column cannot be used or the baseline is no group.

    References
    ----------
    MacKinnon, Nielsen and Webb (2024), Jackknife Inference with Two-Way Clustering;
    Holm (1979).

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> ratings["long"] = ratings["response_words"] > 100
    >>> compare(ratings, "overall", by="long")  # doctest: +NORMALIZE_WHITESPACE
    Mean where long is True, minus where it is False
    (95 % intervals: raters and prompts)
             estimate   low  high p_holm
    overall      0.44  0.23  0.64 < 0.001
    """
    names = _names(columns)
    cluster_columns = _cluster_columns(frame, clusters)
    rows, note = _complete(frame, [], [*cluster_columns, by], names)
    _check_one_type(rows, by)
    known = sorted(rows[by].unique())
    if groups is not None:
        for group in groups:
            _check_group(group, known, by, "group")
        rows = rows[rows[by].isin(list(groups))]
        known = list(groups)
    if len(known) < 2:
        raise OptionError(f"column {by!r} has one group: nothing to compare")
    if baseline is None:
        baseline = known[0]
    _check_group(baseline, known, by, "baseline")
    fitted = intervals.group_means(rows, names, cluster_columns, by, baseline)
    table = fitted.table()
    if percent:
        table[[*ENDS, "standard_error"]] *= 100
    n = rows[names].notna().sum()
    table = table.assign(n=n.reindex(table.index.get_level_values(0)).to_numpy())
    is_tested = table["p_value"].notna()
    table.loc[is_tested, "p_holm"] = intervals.holm(table.loc[is_tested, "p_value"])
    others = [group for group in known if group != baseline]
    caption = f"Mean of each group of {by} minus that of {baseline}"
    if len(others) == 1:
        table = table.droplevel(by).rename_axis(None)
        group, rest = (_as_words(each) for each in (others[0], baseline))
        caption = f"Mean where {by} is {group}, minus where it is {rest}"
    if percent:
        caption += ", in percentage points"
    is_constant = rows[names].nunique() < 2
    for name in is_constant.index[is_constant]:
        note += f"; no interval for {name!r}: its values are all the same"
    rest = table[~table.index.get_level_values(0).isin(is_constant.index[is_constant])]
    note += _no_interval(rest, "a group has one cluster, or its values do not vary")
    return _result(table, caption, cluster_columns, note)


def _check_group(group: object, known: list, by: str, role: str) -> None:
    """Refuse a group that the column does not have."""
    if group not in known:
        raise OptionError(
            f"{role} {group!r} is not in column {by!r}: choose one of "
            f"{', '.join(str(label) for label in known[:12])}"
        )


def _as_words(group: object) -> str:
    """Name of a group; whole numbers without a point."""
    return f"{group:g}" if isinstance(group, float) else str(group)


def means(
    frame: pd.DataFrame,
    columns: str | Sequence[str],
    by: str,
    *,
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """Mean of each group.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per output.
    columns : str or sequence of str
        Numeric columns to average; missing values are left out column by column.
    by : str
        Column of groups, for example systems.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per group, or per column and group, in units of the column, with ``n``
        ratings. Groups are compared by `differences` or `compare`; these intervals say
        little about that, since groups share raters and prompts.

    Raises
    ------
    OptionError
        If a column cannot be used.

    References
    ----------
    MacKinnon, Nielsen and Webb (2024), Jackknife Inference with Two-Way Clustering.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> ratings["long"] = ratings["response_words"] > 100
    >>> means(ratings, "overall", by="long")
    Mean overall by long (95 % intervals: raters and prompts)
           estimate   low  high
    long
    False      3.51  3.30  3.72
    True       3.95  3.78  4.11
    """
    names = _names(columns)
    cluster_columns = _cluster_columns(frame, clusters)
    rows, note = _complete(frame, [], [*cluster_columns, by], names)
    _check_one_type(rows, by)
    table = intervals.group_means(rows, names, cluster_columns, by).table()
    n = rows.groupby(by, observed=True)[names].count().T.stack()
    table = table.drop(columns="p_value").assign(n=n.reindex(table.index).to_numpy())
    note += _no_interval(table, "a group has one cluster, or its values do not vary")
    if isinstance(columns, str):
        table = table.droplevel("column")
    caption = f"Mean {', '.join(names)} by {by}"
    return _result(table, caption, cluster_columns, note)


def differences(
    frame: pd.DataFrame,
    outcome: str,
    by: str,
    *,
    hold: str | Sequence[str] | None = None,
    given: Sequence[str] = (),
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """Compare each group with each other, raters and prompts held equal.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    outcome : str
        Numeric column, for example a score.
    by : str
        Column of groups, for example systems.
    hold : str or sequence of str, optional
        At most two columns whose labels each have a constant of their own, so that
        groups are compared in ratings by the same rater and of the same prompt; by
        default ``rater_id`` and ``prompt_id``, as far as the table has them. An empty
        list holds nothing equal.
    given : sequence of str, optional
        Numeric columns that are held equal, too, for example the length of a text.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.

    Returns
    -------
    Result
        A row per pair of groups: ``estimate``, the first minus the second, by least
        squares. Intervals contain all true differences at once in 95 % of studies, and
        ``p_adjusted`` is corrected for all pairs (max-t).

    Raises
    ------
    OptionError
        If a column cannot be used, or no rater (or prompt) has two groups.

    References
    ----------
    Hothorn, Bretz and Westfall (2008), Simultaneous Inference in General Parametric
    Models; MacKinnon, Nielsen and Webb (2024).

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> ratings["long"] = np.where(ratings["response_words"] > 100, "long", "short")
    >>> differences(ratings, "overall", "long")
    Difference in overall between groups of long, raters, prompts held equal; \
simultaneous for all pairs (95 % intervals: raters and prompts)
                  estimate   low  high p_adjusted
    first second
    long  short       0.45  0.21  0.69      0.002
    """
    cluster_columns = _cluster_columns(frame, clusters)
    if hold is None:
        held = [column for column in CLUSTERS if column in frame]
    else:
        held = _names(hold)
    covariates = _names(given)
    keys = list(dict.fromkeys([*cluster_columns, *held, by]))
    rows, note = _complete(frame, [outcome, *covariates], keys)
    _check_one_type(rows, by)
    groups = sorted(rows[by].unique())
    if len(groups) < 2:
        raise OptionError(f"column {by!r} has one group: nothing to compare")
    for column in held:
        _check_connected(rows, by, column)
    design = rows[list(dict.fromkeys([*cluster_columns, *held]))].copy()
    design["_outcome"] = rows[outcome]
    names = []
    # the last group has the value 0
    for group in groups[:-1]:
        names.append(f"{by} {group}")
        design[names[-1]] = (rows[by] == group).astype(float)
    for column in covariates:
        design[f"given {column}"] = rows[column]
    features = [*names, *(f"given {column}" for column in covariates)]
    fitted = regression.least_squares(
        design, features, "_outcome", cluster_columns, within=held or None
    )
    weights = pd.DataFrame(0.0, index=groups, columns=fitted.value.index)
    weights.loc[groups[:-1], names] = np.eye(len(names))
    weights = weights - weights.mean()
    table = intervals.all_differences(fitted.contrast(weights))
    caption = f"Difference in {outcome} between groups of {by}"
    if held or covariates:
        kept = [str(KINDS.get(column, column)) for column in [*held, *covariates]]
        caption += f", {', '.join(kept)} held equal"
    caption += "; simultaneous for all pairs"
    return _result(table.assign(n=len(rows)), caption, cluster_columns, note)


def _check_connected(rows: pd.DataFrame, by: str, column: str) -> None:
    """Refuse to hold a column equal within whose labels groups do not vary."""
    n_groups = rows.groupby(column, observed=True)[by].nunique()
    if n_groups.max() < 2:
        raise OptionError(
            f"each {column!r} has one group of {by!r} only, so that {column!r} cannot "
            f"be held equal: leave it out of hold, and say that groups may differ by "
            f"{column!r} as well"
        )


def pairs(
    frame: pd.DataFrame,
    a: str,
    b: str,
    winner: str,
    *,
    ties: str | Sequence = "tie",
    says: tuple | None = None,
    length: tuple[str, str] | None = None,
    every_pair: bool = False,
    clusters: str | Sequence[str] | None = None,
) -> Result:
    """Which system is preferred, from comparisons of two (Bradley–Terry).

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per comparison. Two comparisons of the same systems by the same person
        both count.
    a, b : str
        Columns with the name of the system shown first and of the one shown second.
    winner : str
        Column with the name of the preferred system, or a word for a tie.
    ties : str or sequence, optional
        Words in `winner` for a tie, which counts as half a win for both.
    says : tuple of two values, optional
        Words in `winner` for the first and for the second system, in place of names, as
        in ``says=("model_a", "model_b")``.
    length : tuple of two str, optional
        Columns with the lengths of the first and second text, whose difference is held
        equal.
    every_pair : bool, optional
        Whether to compare each system with each other.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`. Name the prompts: a comparison that is
        shown in both orders then counts as one cluster.

    Returns
    -------
    Result
        In %. A row per system: ``estimate`` is how often it would be preferred to a
        system of average strength, ties as half; ``win_rate`` with its own interval is
        how often it was preferred to those it met, in ``n`` comparisons, and
        ``strength`` the log-odds. Rows ``shown first`` and ``longer`` say how often
        the first, or a text that is longer by one standard deviation of the
        differences, would be preferred between equal systems. ``component`` numbers
        groups of systems that a chain of wins connects both ways, without any one rater
        or prompt as well (a tie connects both ways); nothing is estimated across them,
        and a system alone has a win rate only.

        With `every_pair` a row per two systems: how often the first would be preferred
        to the second, with intervals that contain all true values of a component at
        once in 95 % of studies, and ``p_adjusted`` (max-t).

    Raises
    ------
    OptionError
        If a column cannot be used, a winner is neither system nor a tie, or who is
        shown first or longer always wins.

    References
    ----------
    Bradley and Terry (1952); Papke and Wooldridge (1996) for half wins; MacKinnon,
    Nielsen and Webb (2025) for the jackknife of a logistic regression.

    Examples
    --------
    >>> frame = pd.DataFrame({"left": ["elm", "elm", "oak"] * 10,
    ...                       "right": ["oak", "fir", "fir"] * 10,
    ...                       "best": ["elm", "tie", "fir", "oak", "elm", "oak"] * 5,
    ...                       "prompt_id": np.arange(30) // 3 })
    >>> pairs(frame, "left", "right", "best")["win_rate"].round(1).to_dict()
    {'elm': 62.5, 'oak': 50.0, 'fir': 37.5}
    """
    cluster_columns = _cluster_columns(frame, clusters)
    rows = preferences.comparisons(
        frame,
        a,
        b,
        winner,
        cluster_columns,
        ties=_names(ties),
        says=says,
        length=length,
    )
    note = ""
    n_missing = len(frame) - len(rows)
    if n_missing:
        note = f"; {n_missing} of {len(frame)} rows with missing values left out"
    found = preferences.bradley_terry(rows, cluster_columns)
    note += "".join(f"; {sentence}" for sentence in found.notes)
    if every_pair:
        table = _every_pair(rows, found)
        caption = "Preference for the first of two systems in %, ties as half"
        caption += "; simultaneous for all pairs"
    else:
        table = _of_systems(rows, found, cluster_columns)
        caption = "Preference over a system of average strength in %, ties as half"
    is_bare = table["estimate"].notna() & table["low"].isna()
    if is_bare.any():
        note += "; no interval where all comparisons end alike"
    if not np.isnan(found.length_unit):
        note += f"; longer: by {found.length_unit:.3g}"
    result = _result(table, caption, cluster_columns, note)
    result.attrs["notes"] = found.notes
    return result


def _of_systems(
    rows: pd.DataFrame, found: preferences.Strengths, clusters: list[str]
) -> pd.DataFrame:
    """Strengths on the scale of preferences, and win rates."""
    results = preferences.as_results(rows)
    fitted = intervals.group_means(results, ["won"], clusters, "system").table()
    fitted = fitted.droplevel("column")
    n = results.groupby("system").size()
    most = results.groupby("system")[clusters].nunique().max(axis=1)
    # ties as half vary less than wins and losses would: as many rows as that tells
    has_error = fitted["standard_error"] > 0
    fitted = fitted.assign(n=n.where(~has_error, np.inf), most=most)
    won = _as_rates(fitted)[ENDS].assign(n=n)
    won.columns = ["win_rate", "win_low", "win_high", "n"]
    order = won["win_rate"].sort_values(ascending=False, kind="stable").index
    won = won.loc[order].join(found.component.rename("component"))
    parts = []
    for estimates in (found.systems, found.covariates):
        if estimates is not None:
            parts.append(estimates.table())
    if not parts:
        return won.assign(estimate=np.nan, low=np.nan, high=np.nan)
    table = pd.concat(parts)
    names = [*order, *table.index.difference(order, sort=False)]
    table = _as_preferences(table).rename(columns={"log_odds": "strength"})
    return table.reindex(names).join(won).astype({"n": "Int64"}).rename_axis("system")


def _as_preferences(table: pd.DataFrame) -> pd.DataFrame:
    """Turn log-odds into percentages of preference."""
    shares = 100 * expit(table[ENDS])
    return table.assign(**shares, log_odds=table["estimate"])


def _every_pair(rows: pd.DataFrame, found: preferences.Strengths) -> pd.DataFrame:
    """Compare each two systems of a component."""
    tables = []
    if found.systems is not None:
        for number in sorted(found.component.dropna().unique()):
            is_member = (found.component == number).fillna(False)
            members = found.component.index[is_member]
            names = found.systems.value.index
            weights = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
            strengths = found.systems.contrast(weights.loc[members])
            tables.append(intervals.all_differences(strengths))
    if not tables:
        raise OptionError(f"no two systems can be compared: {'; '.join(found.notes)}")
    table = _as_preferences(pd.concat(tables))
    first = rows[preferences.FIRST]
    second = rows[preferences.SECOND]
    met = rows.groupby([first, second]).size()
    reversed_pairs = table.index.swaplevel()
    n = met.reindex(table.index, fill_value=0).to_numpy()
    n = n + met.reindex(reversed_pairs, fill_value=0).to_numpy()
    return table.rename(columns={"log_odds": "difference"}).assign(n=n)


def judge(
    frame: pd.DataFrame,
    score: str,
    judge: object,
    *,
    item: str = "item_id",
    rater: str = "rater_id",
    prompt: str = "prompt_id",
    epsilon: float = 0.1,
    level: str = "interval",
    system: str | None = None,
    length: str | None = None,
) -> Result:
    """Can a judge, such as a language model, stand in for people.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating, by people and by the judge.
    score : str
        Column of ratings.
    judge : object
        The judge's label in the column `rater`. Its ratings are never pooled with those
        of people.
    item, rater, prompt : str, optional
        Columns of items, of raters, and of the clusters in which items lie; `prompt`
        can be `item`.
    epsilon : float, optional
        How much more often than the judge a person may be as close to the other people:
        the allowance for what a person costs (0.1 for crowd workers, 0.2 for experts in
        the paper). Choose it before you look.
    level : {"interval", "nominal"}, optional
        Whether ratings are close if their difference is small, or alike or not.
    system, length : str, optional
        Columns of the system that wrote an item, and of its length.

    Returns
    -------
    Result
        By ``measure`` and ``who``. ``winning rate``: the share of people whom the judge
        can replace (each left out in turn, tested by prompt, Benjamini–Yekutieli), and
        ``advantage probability``: how often the judge is at least as close to the other
        people as the person left out; both beside the best judge that gives one
        constant and one that knows only the length of a text. ``correlation with the
        other people`` (or, nominal, ``agreement with another person``): of each person
        and of the judge with the same others, after subtraction of each person's mean;
        and ``judge - people``: how much higher the judge rates, by system (``p_holm``:
        the difference from the mean of the systems) and by thirds of length.

        ``attrs["conclusion"]`` is ``"stands in"`` if the judge can replace half of the
        people or more, ``"not shown"`` if not, and ``"no conclusion"`` where the
        constant or the length passes as well. ``attrs["notes"]`` says why, and
        ``attrs["people"]`` has the test of each person.

    Raises
    ------
    OptionError
        If a column cannot be used, the judge is not in it, or fewer than three people
        have 30 items each that the judge and somebody else rated.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test for
    LLM-as-a-Judge: How to Statistically Justify Replacing Human Annotators with LLMs.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = np.repeat(rng.normal(size=60), 4)
    >>> noise = np.tile([0.6, 0.6, 0.6, 0.2], 60) * rng.normal(size=240)
    >>> ratings = pd.DataFrame({"item_id": np.repeat(np.arange(60), 4),
    ...                         "rater_id": ["ann", "ben", "cem", "gpt"] * 60,
    ...                         "score": 3 + quality + noise})
    >>> found = judge(ratings, "score", "gpt", prompt="item_id")
    >>> found.attrs["conclusion"]
    'stands in'
    """
    found = judges.beside_people(
        frame,
        score,
        judge,
        item=item,
        rater=rater,
        prompt=prompt,
        epsilon=epsilon,
        level=level,
        system=system,
        length=length,
    )
    caption = f"{judge} beside people, {score}, epsilon = {epsilon}: {found.conclusion}"
    note = "".join(f"; {sentence}" for sentence in found.notes)
    result = _result(found.measures, caption, [rater, prompt], note)
    result.attrs["conclusion"] = found.conclusion
    result.attrs["notes"] = found.notes
    result.attrs["people"] = found.people.reset_index().to_dict("records")
    return result


def correlation(
    frame: pd.DataFrame,
    columns: str | Sequence[str],
    outcome: str,
    *,
    ranks: bool = False,
    by: str | None = None,
    others_of: str | None = None,
    means_of: str | None = None,
    baseline: str | None = None,
    clusters: str | Sequence[str] | None = None,
    n_boot: int = 2000,
    seed: int = 0,
) -> Result:
    """Correlation of columns with an outcome.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per output.
    columns : str or sequence of str
        Numeric columns; rows without a value are left out column by column.
    outcome : str
        Numeric column to correlate them with.
    ranks : bool, optional
        Whether to correlate ranks (Spearman) instead of values (Pearson).
    by : str, optional
        Column of groups, within each of which columns are correlated.
    others_of : str, optional
        Column of items: a rater's columns are then correlated with the mean outcome of
        the item's other raters, which a rater's own opinion does not enter.
    means_of : str, optional
        Column of items: means of the columns and of the outcome over each item's
        ratings are correlated, and intervals allow for other raters in these means.
    baseline : str, optional
        One of the columns, whose correlation is subtracted from the others'.
    clusters : str or sequence of str, optional
        One or two columns; see `helpers.verbs`.
    n_boot, seed : int, optional
        Resamples of clusters for ranks, and the seed of their random numbers.

    Returns
    -------
    Result
        A row per column, or per group and column. Intervals of Pearson's correlations
        leave out each cluster, on Fisher's scale; those of ranks, which are no smooth
        function, resample clusters.

    Raises
    ------
    OptionError
        If a column or a combination of options cannot be used, a rater rates an item
        twice (with `others_of`), or no item has two raters.

    References
    ----------
    Fisher (1915); Spearman (1904); Efron and Tibshirani (1993), chapters 11 and 13.

    Examples
    --------
    >>> ratings = pd.read_csv("data/example/ratings.csv")
    >>> found = correlation(ratings, ["factuality", "completeness"], "overall")
    >>> found["estimate"].round(2).to_dict()
    {'factuality': 0.53, 'completeness': 0.42}
    """
    names = _names(columns)
    cluster_columns = _cluster_columns(frame, clusters)
    given = {"ranks": ranks or None, "others_of": others_of, "means_of": means_of}
    used = [name for name, value in given.items() if value is not None]
    if len(used) > 1:
        raise OptionError(f"{used[0]} and {used[1]} do not go together: choose one")
    if baseline is not None and baseline not in names:
        known = ", ".join(names)
        raise OptionError(f"baseline {baseline!r} is unknown: choose one of {known}")
    items = others_of or means_of
    keys = [*cluster_columns, *_names(items or []), *_names(by or [])]
    rows, note = _complete(frame, [outcome], keys, names)
    if others_of is not None:
        if not rows[others_of].duplicated().any():
            raise OptionError(f"no {others_of!r} has two rows: name the items")
        if RATERS in rows:
            intervals.check_rated_once(rows, RATERS, others_of)
    parts = {None: rows}
    if by is not None:
        _check_one_type(rows, by)
        parts = dict(list(rows.groupby(by, observed=True)))
    tables = {}
    for group, part in parts.items():
        if ranks:
            draws = intervals.rank_correlations(
                part, names, outcome, cluster_columns, n_boot, seed
            )
            table = _of_draws(draws, names, baseline)
        else:
            table = _pearson(
                part, names, outcome, items, means_of, baseline, cluster_columns
            )
        n = part[table.index].notna().sum()
        tables[group] = table.assign(n=n)
    table = tables[None] if by is None else pd.concat(tables, names=[by, "column"])
    whose = outcome if others_of is None else f"{outcome} by other raters"
    if means_of is not None:
        whose = f"the mean {outcome} of each {means_of}"
    caption = f"Correlation with {whose}{_minus(baseline)}"
    if ranks:
        caption = f"Rank c{caption[1:]}"
    note += _no_interval(table, "a column does not vary, or one cluster has all of it")
    return _result(table, caption, cluster_columns, note)


def _pearson(
    rows: pd.DataFrame,
    names: list[str],
    outcome: str,
    items: str | None,
    means_of: str | None,
    baseline: str | None,
    clusters: list[str],
) -> pd.DataFrame:
    """Correlations with intervals, or their differences from that of a column."""
    fisher = baseline is None
    if items is None:
        fitted = intervals.correlations(rows, names, outcome, clusters, fisher=fisher)
    elif means_of is None:
        fitted = intervals.others_correlations(
            rows, names, outcome, items, clusters, fisher=fisher
        )
    else:
        rater = _rater_column(rows, items, clusters)
        fitted = intervals.correlations_of_means(
            rows, names, outcome, items, clusters, rater=rater, fisher=fisher
        )
    if fisher:
        return intervals.fisher_table(fitted)
    weights = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
    weights[baseline] -= 1.0
    return fitted.contrast(weights.drop(index=baseline)).table()


def _of_draws(
    draws: pd.DataFrame, names: list[str], baseline: str | None
) -> pd.DataFrame:
    """Percentile intervals of draws, the first of which is the estimate."""
    if baseline is not None:
        others = [name for name in names if name != baseline]
        draws = draws[others].sub(draws[baseline], axis=0)
    low, high = intervals.percentile_interval(draws.iloc[1:])
    values = {"estimate": draws.iloc[0], "low": low, "high": high}
    return pd.DataFrame(values, index=draws.columns)


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
    intervals.check_columns(frame, [*cluster_columns, item])
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
    by_wilson = []
    for label, rule in table["interval"].items():
        name = label if isinstance(label, str) else ", ".join(label)
        if rule.startswith("none"):
            note += f"; {name}: {rule}"
        if rule == "Wilson":
            by_wilson.append(name)
    if by_wilson:
        note += f"; few ratings agree or differ, so Wilson's: {'; '.join(by_wilson)}"
    kinds = [f"alpha, {level}" if name == "alpha" else name for name in coefficients]
    caption = f"Agreement of raters ({'; '.join(kinds)}){_minus(baseline)}"
    return _result(table, caption, cluster_columns, note)


def _rater_column(rows: pd.DataFrame, item: str, clusters: Sequence[str]) -> str | None:
    """Find the column of raters: an item has several."""
    if RATERS in rows and rows[RATERS].notna().any():
        return RATERS
    for column in clusters:
        if rows.groupby(item, observed=True)[column].nunique().max() > 1:
            return column
    return None


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
    OptionError
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
    if not names:
        raise OptionError("no features are named: give at least one column")
    columns = _cluster_columns(frame, clusters)
    rows, note = _complete(frame, [*names, outcome], columns)
    if rows[outcome].nunique() < 2:
        raise OptionError(
            f"outcome {outcome!r} has the same value in all {len(rows)} rows: there is "
            "nothing to explain"
        )
    x = rows[names].to_numpy(dtype=float)
    y = rows[outcome].to_numpy(dtype=float)
    model = DecisionTreeRegressor(max_depth=max_depth, random_state=seed)
    drawn = []
    for times in intervals.times_drawn(rows[columns], n_boot, seed):
        model.fit(x, y, sample_weight=times)
        drawn.append(model.feature_importances_)
    low, high = intervals.percentile_interval(drawn)
    model.fit(x, y)
    nodes = aspect_stats.tree_table(model, names)
    values = {"estimate": model.feature_importances_, "low": low, "high": high}
    importances = pd.DataFrame(values, index=names)
    held_out = rows[columns].assign(outcome=y)
    held_out["r, held out"] = _predictions(model, x, y, rows[columns[-1]], seed)
    performance = correlation(held_out, "r, held out", "outcome", clusters=columns)
    table = pd.concat([importances, pd.DataFrame(performance)[ENDS]])
    caption = f"Importance in a tree of depth {max_depth} for {outcome}"
    result = _result(table.assign(n=len(rows)), caption, columns, note)
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
    else:
        found = _names(clusters)
    intervals.check_columns(frame, found)
    for column in found:
        _check_one_type(frame, column)
    raters, prompts = CLUSTERS
    # with one prompt for all there is nothing else to leave out
    if found == [raters] and prompts in frame:
        labels = frame[[raters, prompts]].dropna()
        if (labels[prompts] != labels[prompts].iloc[0]).any():
            intervals.check_repeats(labels, raters, prompts)
    return found


def _check_one_type(frame: pd.DataFrame, column: str) -> None:
    """Refuse labels of which some are numbers and some are text."""
    if not pd.api.types.infer_dtype(frame[column], skipna=True).startswith("mixed"):
        return
    types = sorted({type(label).__name__ for label in frame[column].dropna()})
    if len(types) > 1:
        raise OptionError(
            f"column {column!r} mixes {' and '.join(types)}: make all its labels text, "
            f"as in frame[{column!r}].astype(str)"
        )


def _complete(
    frame: pd.DataFrame,
    columns: Sequence[str],
    keys: Sequence[str],
    by_column: Sequence[str] = (),
) -> tuple[pd.DataFrame, str]:
    """Leave out rows with a missing value, and say how many.

    Of the columns `by_column` missing values stay, and the caption says what is done.
    """
    intervals.check_numeric(frame, [*columns, *by_column])
    intervals.check_columns(frame, keys)
    needed = list(dict.fromkeys([*columns, *keys]))
    is_missing = frame[needed].isna().any(axis=1)
    n_missing = is_missing.sum()
    rows = frame
    note = ""
    if n_missing:
        rows = frame[~is_missing]
        note = f"; {n_missing} of {len(frame)} rows with missing values left out"
    if rows[list(by_column)].isna().any(axis=None):
        note += "; missing values left out column by column"
    return rows, note


def _result(
    table: pd.DataFrame, caption: str, clusters: Sequence[str], note: str
) -> Result:
    """Put the columns in order and say which clusters the intervals know."""
    rest = [column for column in table if column not in ENDS]
    result = Result(table[[*ENDS, *rest]])
    known = _kinds(clusters) if len(clusters) > 1 else f"{_kinds(clusters)} only"
    result.attrs["clusters"] = known
    result.attrs["caption"] = f"{caption} (95 % intervals: {known}{note})"
    return result


def _kinds(columns: Sequence[str]) -> str:
    """Name raters and prompts, and other columns as they are called."""
    return " and ".join(str(KINDS.get(column, column)) for column in columns)
