"""Three questions to other public data sets of ratings.

Do a crowd's mean ratings separate texts with an expert's finding from others
(`discrimination`)? How far would single ratings agree in another data set (`pool`,
`coverage`)? Are longer texts preferred (`length_slope`, `pair_slope`)?
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import comb
from scipy.stats import t
from statsmodels.stats.meta_analysis import combine_effects

from helpers.data.tables import OptionError
from helpers.stats import clustered, leave_out
from helpers.stats.checks import check_numeric
from helpers.stats.moments import ratio

SCOPES = ("all texts", "within systems")

# ---------------------------------------------------- do crowds find what experts find?


class Comparison(NamedTuple):
    """A column of ratings, and the finding that it should predict.

    Parameters
    ----------
    mark : str
        Column of the crowd's ratings, or of `experts`.
    finding : str
        Column of findings.
    """

    mark: str
    finding: str


def sum_shares(counts: np.ndarray, n_drawn: int) -> np.ndarray:
    """Distribution of the sum of ratings drawn at random from those of a text.

    Parameters
    ----------
    counts : numpy.ndarray, shape (n_texts, n_steps)
        How many ratings of a text are on each step 0, 1, 2, ... of the scale.
    n_drawn : int
        Ratings drawn, without replacement.

    Returns
    -------
    numpy.ndarray, shape (n_texts, n_drawn * (n_steps - 1) + 1)
        Probability of each sum of steps. If a text has fewer ratings, all are taken,
        and the missing ones are drawn from them with replacement; if it has none, the
        probabilities are zero.

    Examples
    --------
    Two of the ratings 0, 0, 1:

    >>> sum_shares(np.array([[2, 1]]), 2).round(2)
    array([[0.33, 0.67, 0.  ]])
    """
    counts, text = np.unique(counts, axis=0, return_inverse=True)  # most are alike
    n = counts.sum(axis=1)
    shares = _drawn_without_replacement(counts, n_drawn)
    few = (n > 0) & (n < n_drawn)
    if few.any():
        shares[few] = _filled_up(counts[few], n_drawn)
    return shares[text]


def _filled_up(counts: np.ndarray, n_drawn: int) -> np.ndarray:
    """Sums of all ratings of texts with few, and of some of them once more."""
    n_texts, n_steps = counts.shape
    n = counts.sum(axis=1)
    of_steps = counts / n[:, None]
    shares = np.zeros((n_texts, n_drawn * (n_steps - 1) + 1))
    total = (counts @ np.arange(n_steps)).astype(int)
    shares[np.arange(n_texts), total] = 1.0
    for drawn in range(1, n_drawn):
        is_short = n + drawn <= n_drawn
        more = np.zeros_like(shares)
        for step in range(n_steps):
            width = shares.shape[1] - step
            more[:, step:] += of_steps[:, [step]] * shares[:, :width]
        shares = np.where(is_short[:, None], more, shares)
    return shares


def _drawn_without_replacement(counts: np.ndarray, n_drawn: int) -> np.ndarray:
    """Shares of sums of texts with at least as many ratings; else zero."""
    n_texts, n_steps = counts.shape
    n_sums = n_drawn * (n_steps - 1) + 1
    ways = np.zeros((n_texts, n_drawn + 1, n_sums))
    ways[:, 0, 0] = 1.0
    for step in range(n_steps):
        more = np.zeros_like(ways)
        for taken in range(n_drawn + 1):
            shift = taken * step
            if shift >= n_sums:
                break
            chosen = comb(counts[:, [step]], taken)[:, :, None]
            kept = ways[:, : n_drawn + 1 - taken, : n_sums - shift]
            more[:, taken:, shift:] += chosen * kept
        ways = more
    total = comb(counts.sum(axis=1), n_drawn)[:, None]
    return ratio(ways[:, n_drawn], np.where(total > 0, total, np.inf))


def discrimination(
    ratings: pd.DataFrame,
    scales: Mapping[str, tuple[float, float]],
    findings: pd.DataFrame,
    comparisons: Mapping[str, Comparison],
    *,
    n_drawn: int = 4,
    experts: pd.DataFrame | None = None,
) -> leave_out.LeftOut:
    """Area under the curve of mean ratings for findings, with clusters left out.

    The area is the chance that a text with a finding has a worse mean than a text
    without; a tie counts one half. The mean is that of `n_drawn` ratings drawn from
    those of a text; the area averages over all such draws, without random numbers.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per text and person: ``item_id``, ``cluster``, ``system``, ``rater_id``
        (missing where people are not known) and columns of ratings in steps of one.
    scales : mapping of str to (float, float)
        Worst and best rating of each column; the worst may be the higher one.
    findings : pandas.DataFrame
        By item, columns of 1 (finding), 0 (none) and NaN (left out).
    comparisons : mapping of str to Comparison
        What to compute, by name.
    n_drawn : int, optional
        Ratings of the crowd in a mean. Texts with fewer are left out.
    experts : pandas.DataFrame, optional
        By item, columns of single ratings on the scale of the crowd's first mark.

    Returns
    -------
    helpers.stats.leave_out.LeftOut
        Areas by name and scope, "all texts" and "within systems" (pairs of texts of one
        system). Clusters are left out, and raters, too, where they are known: a text
        that lacks one of its `n_drawn` ratings then gets one of its others once more,
        at random. (A mean moves by that as if it were computed from the others alone.)

    Raises
    ------
    ValueError
        If no pair of texts can be compared.

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a ROC curve.

    Examples
    --------
    >>> ratings = pd.DataFrame({
    ...     "item_id": list("aabbccdd"), "cluster": list("aabbccdd"), "system": "x",
    ...     "rater_id": np.nan, "right": [1, 1, 1, 2, 2, 3, 1, 3]})
    >>> findings = pd.DataFrame({"wrong": [1, 1, 0, 0]}, index=list("abcd"))
    >>> area = discrimination(ratings, {"right": (1, 3)}, findings,
    ...     {"crowd": Comparison("right", "wrong")}, n_drawn=2)
    >>> area.value["crowd", "all texts"]
    np.float64(1.0)
    """
    check_numeric(ratings, list(scales))
    n = ratings["item_id"].map(ratings["item_id"].value_counts())
    is_used = ratings["item_id"].isin(findings.index) & (n >= n_drawn)
    frame = ratings[is_used].reset_index(drop=True)
    frame["system"] = frame["system"].fillna("")
    systems, n_systems = _codes(frame["system"])
    n_steps = {}
    columns = [np.ones(len(frame))]
    places = {}
    for mark, (worst, best) in scales.items():
        places[mark] = len(columns)
        n_steps[mark] = int(abs(best - worst)) + 1
        columns += _indicators(abs(frame[mark] - best), n_steps[mark])
    first = next(iter(scales))
    items = frame["item_id"]
    for name in [] if experts is None else experts:
        places[name] = len(columns)
        n_steps[name] = n_steps[first]
        distance = abs(items.map(experts[name]) - scales[first][1])
        columns += _indicators(distance, n_steps[first])
    group = {}
    for finding in findings:
        group[finding] = len(columns)
        # of each system, texts with the finding and texts without
        code = 2 * systems + items.map(findings[finding])
        columns += _indicators(code, 2 * n_systems)
    n_sums = n_drawn * (max(n_steps.values()) - 1) + 1

    def terms(rows: np.ndarray) -> np.ndarray:
        n = rows[:, [0]]
        parts = []
        for mark, finding in comparisons.values():
            counts = rows[:, places[mark] : places[mark] + n_steps[mark]]
            if mark in scales:
                shares = sum_shares(np.rint(counts), n_drawn)
            else:  # one and the same rating in all rows of a text
                shares = ratio(counts, np.where(n > 0, n, np.inf))
            padded = np.zeros((len(rows), n_sums))
            padded[:, : shares.shape[1]] = shares
            at = group[finding]
            is_in = rows[:, at : at + 2 * n_systems]
            is_in = ratio(is_in, np.where(n > 0, n, np.inf))
            parts.append((is_in[:, :, None] * padded[:, None]).reshape(len(rows), -1))
        return np.hstack(parts)

    shape = (-1, len(comparisons), n_systems, 2, n_sums)

    def value(sums: np.ndarray) -> np.ndarray:
        shares = sums.reshape(shape)
        within = _area(shares)
        over_all = _area(shares.sum(axis=2, keepdims=True))
        return np.stack([over_all, within], axis=2).reshape(len(sums), -1)

    def information(total: np.ndarray, parts: np.ndarray) -> np.ndarray:
        # the rarer of texts with and without a finding decides
        n = parts.reshape(shape).sum(axis=(2, 4))
        rarer = total.reshape(shape).sum(axis=(0, 2, 4)).argmin(axis=1)
        told = np.take_along_axis(n, rarer[None, :, None], axis=2)[:, :, 0]
        return np.repeat(told, len(SCOPES), axis=1)

    names = pd.MultiIndex.from_product([comparisons, SCOPES], names=["mark", "scope"])
    statistic = leave_out.Statistic(names, terms, value, information)
    kinds = ["cluster"]
    if frame["rater_id"].notna().all():
        kinds.append("rater_id")
    rows = np.column_stack(columns)
    found = leave_out.leave_out(rows, frame[kinds], statistic, items=items)
    if found.value.isna().all():
        raise OptionError("no text with a finding can be compared with one without")
    return found


def _codes(labels: pd.Series) -> tuple[np.ndarray, int]:
    """Numbers of labels, and how many there are."""
    codes, names = pd.factorize(labels)
    return codes, len(names)


def _indicators(codes: pd.Series, n_codes: int) -> list[np.ndarray]:
    """Columns of zeros and ones; zeros only where there is no code."""
    return [(codes == code).to_numpy(dtype=float) for code in range(n_codes)]


def _area(shares: np.ndarray) -> np.ndarray:
    """Area from shares of sums without (0) and with (1) a finding, over systems."""
    without = shares[..., 0, :]
    found = shares[..., 1, :]
    # a higher sum is worse: of texts without the finding those below, and half the ties
    below = without.cumsum(axis=-1) - without / 2
    wins = (found * below).sum(axis=(-1, -2))
    pairs = (found.sum(axis=-1) * without.sum(axis=-1)).sum(axis=-1)
    return np.where(pairs > 0, wins / np.where(pairs > 0, pairs, 1.0), np.nan)


# ------------------------------------------------------ how much does one rating carry?


def interval_alpha(
    ratings: pd.DataFrame, mark: str, clusters: Sequence[str]
) -> pd.Series:
    """Krippendorff's alpha of interval ratings, for scales of many steps.

    The same as `helpers.agreement` with ``level="interval"``, from sums of ratings and
    of their squares: that takes no table of all pairs of steps.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per item and rater, with ``item_id``.
    mark : str
        Column of ratings.
    clusters : sequence of str
        One or two columns of clusters.

    Returns
    -------
    pandas.Series
        ``estimate``, ``standard_error``, 95 % interval, ``p_value`` and ``df``.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aabbcc"), "prompt_id": list("aabbcc"),
    ...                         "quality": [10, 12, 55, 50, 90, 99]})
    >>> float(interval_alpha(ratings, "quality", ["prompt_id"])["estimate"].round(2))
    0.99
    """
    frame = ratings[ratings[mark].notna()]
    value = frame[mark].to_numpy(dtype=float)
    rows = np.column_stack([np.ones(len(frame)), value, value**2])

    def terms(sums: np.ndarray) -> np.ndarray:
        n, total, squares = sums.T
        is_pairable = n > 1.5
        # squared differences of all ordered pairs, so that a rating counts once
        apart = 2 * (n * squares - total**2) / np.where(is_pairable, n - 1, 1.0)
        return np.column_stack([n, total, squares, apart]) * is_pairable[:, None]

    def alpha(sums: np.ndarray) -> np.ndarray:
        n, total, squares, observed = sums.T
        expected = 2 * (n * squares - total**2)
        return (1 - (n - 1) * ratio(observed, expected))[:, None]

    def information(total: np.ndarray, parts: np.ndarray) -> np.ndarray:
        return parts[:, [0]]

    statistic = leave_out.Statistic(pd.Index([mark]), terms, alpha, information)
    found = leave_out.leave_out(
        rows, frame[list(clusters)], statistic, items=frame["item_id"]
    )
    return found.table().iloc[0]


def pool(estimates: pd.DataFrame, *, fisher: bool) -> pd.DataFrame:
    """Random-effects mean over data sets, and a prediction interval for another one.

    Parameters
    ----------
    estimates : pandas.DataFrame
        A row per data set: ``estimate`` and ``standard_error``.
    fisher : bool
        Whether to compute on Fisher's scale, which keeps intervals between -1 and 1.

    Returns
    -------
    pandas.DataFrame
        Rows ``mean`` and ``next set`` with ``estimate``, ``low`` and ``high``, and
        ``spread`` (tau, on the scale of the computation) and ``n`` data sets.

    Raises
    ------
    ValueError
        If there are fewer than three data sets.

    References
    ----------
    Paule and Mandel (1982); Hartung and Knapp (2001), for the mean; Higgins, Thompson
    and Spiegelhalter (2009), for the prediction interval, t with k - 2 degrees of
    freedom.

    Examples
    --------
    >>> sets = pd.DataFrame({"estimate": [0.2, 0.4, 0.5, 0.1], "standard_error": 0.05})
    >>> pool(sets, fisher=True)[["estimate", "low", "high"]].round(2)
              estimate   low  high
    mean          0.31 -0.01  0.57
    next set      0.31 -0.56  0.85
    """
    value, error = _on_scale(estimates, fisher=fisher)
    n = len(value)
    if n < 3:
        raise OptionError(f"{n} data sets: a spread takes three or more")
    # "iterated" is Paule and Mandel's
    found = combine_effects(value, error**2, method_re="iterated", use_t=True)
    mean = found.mean_effect_re
    mean_error = found.sd_eff_w_re_hksj
    half = t.ppf(0.975, n - 1) * mean_error
    next_half = t.ppf(0.975, n - 2) * np.hypot(np.sqrt(found.tau2), mean_error)
    ends = np.array([[mean, mean - half, mean + half], [mean, mean, mean]])
    ends[1, 1:] += [-next_half, next_half]
    if fisher:
        ends = np.tanh(ends)
    table = pd.DataFrame(ends, ["mean", "next set"], ["estimate", "low", "high"])
    return table.assign(spread=np.sqrt(found.tau2), n=n)


def _on_scale(estimates: pd.DataFrame, *, fisher: bool) -> tuple[np.ndarray, ...]:
    """Estimates and their errors, on Fisher's scale if wanted."""
    value = estimates["estimate"].to_numpy(dtype=float)
    error = estimates["standard_error"].to_numpy(dtype=float)
    if fisher:
        error = error / (1 - value**2)
        value = np.arctanh(value)
    return value, error


def coverage(
    estimates: pd.DataFrame,
    *,
    fisher: bool,
    n_sim: int,
    rng: np.random.Generator,
    times: Sequence[float] = (0.5, 1.0, 2.0),
) -> pd.DataFrame:
    """How often the intervals of `pool` cover the truth in simulated collections.

    A simulated collection has the standard errors of these data sets, themselves
    estimated with their degrees of freedom; true values are normal around the estimated
    mean.

    Parameters
    ----------
    estimates : pandas.DataFrame
        A row per data set: ``estimate``, ``standard_error`` and ``df``.
    fisher : bool
        As for `pool`.
    n_sim : int
        Simulated collections for each spread.
    rng : numpy.random.Generator
    times : sequence of float, optional
        Spreads of the truth, as multiples of the estimated one.

    Returns
    -------
    pandas.DataFrame
        For each spread the coverage in % of ``mean`` and ``next set``, and
        ``simulation error``, the larger standard error of the two.

    Examples
    --------
    >>> sets = pd.DataFrame({"estimate": np.arange(9) / 10, "standard_error": 0.05})
    >>> rng = np.random.default_rng(0)
    >>> found = coverage(sets.assign(df=30), fisher=True, n_sim=2000, rng=rng)
    >>> found["next set"].between(93, 97).tolist()
    [True, True, True]
    """
    value, error = _on_scale(estimates, fisher=fisher)
    df = estimates["df"].to_numpy(dtype=float)
    n = len(value)
    pooled = pool(estimates, fisher=fisher)
    center = pooled["estimate"].iloc[0]
    center = np.arctanh(center) if fisher else center
    rows = {}
    for each in times:
        spread = each * pooled["spread"].iloc[0]
        truth = center + spread * rng.standard_normal((n_sim, n + 1))
        seen = truth[:, :n] + error * rng.standard_normal((n_sim, n))
        variance = error**2 * rng.chisquare(df, (n_sim, n)) / df
        tau2 = paule_mandel(seen, variance)
        weight = 1 / (variance + tau2[:, None])
        total = weight.sum(axis=1)
        mean = (weight * seen).sum(axis=1) / total
        scatter = (weight * (seen - mean[:, None]) ** 2).sum(axis=1) / (n - 1)
        mean_error = np.sqrt(scatter / total)
        half = t.ppf(0.975, n - 1) * mean_error
        next_half = t.ppf(0.975, n - 2) * np.hypot(np.sqrt(tau2), mean_error)
        shares = {
            "mean": (np.abs(mean - center) <= half).mean(),
            "next set": (np.abs(mean - truth[:, n]) <= next_half).mean(),
        }
        worst = max(np.sqrt(share * (1 - share) / n_sim) for share in shares.values())
        shares["simulation error"] = worst
        rows[f"{each:g} times estimate"] = shares
    return 100 * pd.DataFrame(rows).T.rename_axis("spread")


def paule_mandel(values: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Variance between data sets, for many collections of them at once.

    Parameters
    ----------
    values, variances : numpy.ndarray, shape (n_collections, n_sets)
        Estimates and their squared standard errors.

    Returns
    -------
    numpy.ndarray, shape (n_collections,)
        The variance for which Cochran's Q is the number of data sets less one, or zero.

    Examples
    --------
    >>> paule_mandel(np.array([[0.0, 1.0, 2.0]]), np.full((1, 3), 0.25)).round(3)
    array([0.75])
    """
    wanted = values.shape[1] - 1
    rounding = 1e-12 * variances.mean(axis=1)
    between = np.zeros(len(values))
    for _ in range(60):  # about ten are enough
        weight = 1 / (variances + between[:, None])
        mean = (weight * values).sum(axis=1) / weight.sum(axis=1)
        weighted = weight * (values - mean[:, None]) ** 2
        # Newton's method: Q falls ever more slowly, so that no step goes too far
        step = ratio(weighted.sum(axis=1) - wanted, (weight * weighted).sum(axis=1))
        last, between = between, np.fmax(between + step, 0.0)
        if (np.abs(between - last) <= rounding).all():
            break
    return between


# --------------------------------------------------------------------- does length win?


def length_slope(items: pd.DataFrame, outcome: str) -> pd.Series:
    """Difference of mean ratings of texts that are twice as long, within prompts.

    Parameters
    ----------
    items : pandas.DataFrame
        One row per text: ``prompt_id``, ``cluster``, ``system`` (missing where not
        known), ``words`` and the outcome.
    outcome : str
        Column of mean ratings.

    Returns
    -------
    pandas.Series
        ``estimate`` in standard deviations of the mean ratings of texts, its interval
        (CR3 by cluster), ``points``, the same in steps of the scale, and the numbers of
        ``texts``, ``clusters`` and ``systems`` (0 if not known). Each prompt has a
        level, and each system, if known.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> items = pd.DataFrame({"prompt_id": np.repeat(np.arange(40), 3),
    ...                       "system": ["a", "b", "c"] * 40,
    ...                       "words": rng.integers(20, 200, 120)})
    >>> items["overall"] = np.log2(items["words"]) + items["prompt_id"] % 5
    >>> items["cluster"] = items["prompt_id"]
    >>> found = length_slope(items, "overall")
    >>> float(round(found["points"], 2))
    1.0
    """
    used = items[items["words"].gt(0) & items[outcome].notna()]
    frame = pd.DataFrame({"log2 words": np.log2(used["words"].astype(float))})
    frame["rating"] = used[outcome] / used[outcome].std()
    n_systems = used["system"].nunique()
    if n_systems > 1:
        levels = pd.get_dummies(used["system"], dtype=float).iloc[:, 1:]
        frame = frame.join(levels.add_prefix("system "))
    # a level for each prompt: what is left are differences from its mean
    frame = frame - frame.groupby(used["prompt_id"]).transform("mean")
    features = frame.columns.drop("rating").tolist()
    frame["cluster"] = used["cluster"]
    fit = clustered.least_squares(frame, features, "rating", "cluster", intercept=False)
    slope = fit.loc["log2 words"]
    more = {
        "points": slope["estimate"] * used[outcome].std(),
        "texts": len(used),
        "clusters": used["cluster"].nunique(),
        "systems": n_systems,
    }
    return pd.concat([slope, pd.Series(more)])


def pair_slope(pairs: pd.DataFrame) -> pd.DataFrame:
    """Preference for a text that is twice as long as the other, and for the first one.

    Parameters
    ----------
    pairs : pandas.DataFrame
        As `helpers.studies.other_data.load_pairs` gives them.

    Returns
    -------
    pandas.DataFrame
        Rows ``twice as long`` and ``first`` in percentage points of preference (ties
        count half), with intervals (CR3 by prompt): a linear regression with a level
        for each pair of systems that differ. ``first`` is how far above 50 % the first
        of two texts of one length and system is preferred; NaN where each system has
        one side only. ``pairs``, ``prompts`` and ``levels`` are counts.

    Examples
    --------
    >>> pairs = pd.DataFrame({"first_words": [10, 20, 40, 30, 10, 25],
    ...                       "second_words": [20, 10, 20, 30, 40, 20],
    ...                       "preferred": [0, 1, 1, 0.5, 0, 1], "cluster": range(6),
    ...                       "first_system": "", "second_system": ""})
    >>> pair_slope(pairs)["estimate"].round(0).to_dict()
    {'twice as long': 39.0, 'first': 13.0}
    """
    used = pairs[(pairs["first_words"] > 0) & (pairs["second_words"] > 0)]
    frame = pd.DataFrame(
        {
            "twice as long": np.log2(used["first_words"] / used["second_words"]),
            "first": 1.0,
        }
    )
    one, other = used["first_system"], used["second_system"]
    sign = np.sign((one > other).astype(float) - (one < other).astype(float))
    names = np.where(one < other, one + " and " + other, other + " and " + one)
    levels = pd.get_dummies(pd.Series(names, used.index), dtype=float)
    levels = levels.mul(sign, axis="index")
    levels = levels.loc[:, levels.any()]
    frame = frame.join(levels)
    if np.linalg.matrix_rank(frame.to_numpy()) < frame.shape[1]:
        # each system has one side: the level of the pair takes up that of the side
        frame = frame.drop(columns="first")
    features = frame.columns.tolist()
    frame["preferred"] = 100 * (used["preferred"] - 0.5)
    frame["cluster"] = used["cluster"]
    fit = clustered.least_squares(
        frame, features, "preferred", "cluster", intercept=False
    )
    counts = {
        "pairs": len(used),
        "prompts": used["cluster"].nunique(),
        "levels": levels.shape[1],
    }
    return fit.reindex(["twice as long", "first"]).assign(**counts)
