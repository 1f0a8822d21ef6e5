"""Raters and rows of any study: who rates otherwise than the rest, and what follows from it.

`check_raters` lists what stands out, each finding with its consequence. Ratings that
are `doubtful` are kept, but the conclusions of `ratings.inference` are drawn without
them as well. Every rule that tells something from chance is set so that a file without
fault gives an alarm of its kind in one case of a hundred: the level is divided by the
number of raters, pairs and columns looked at.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from scipy.sparse import csr_array

from helpers.stats import bootstrap
from helpers.stats.moments import cluster_sums
from ratings.intake import Study, findings, some_items

ENOUGH = 10  # ratings by one person, or shared by two, from which something can be told
ALARM = 0.01  # chance of any false alarm of one kind
BUSY = 3  # times the even share of a rater
COPIED = 0.9  # of the items that two raters share, the same in all columns
HARSH = 0.25  # of the outcome's scale, between a rater and the middle one
HASTY = 1 / 3  # of the usual time
TIMES = ("seconds", "duration", "lead_time")  # in the name of a covariate
TAKEN_OUT = (
    "taken out where raters are compared with themselves; means of items are off"
)
ONE_LABEL = 0.8  # of raters, who saw one system only
MOST_REVERSED = 10
# for telling who rates opposite or copies; of more, whole items are taken
MOST_ROWS = 100_000
NEARLY, NEARLY_NOTHING = 0.999999, 1e-9
MEANS = (1, 2, 3, 5, 10)  # ratings of an item in one mean
MOST_TIMES = 1000  # as many ratings: more is out of reach


def check_raters(
    table: pd.DataFrame,
    outcome: str,
    aspects: Sequence[str],
    scales: Mapping[str, tuple[float, float]] | None = None,
    covariate: str = "",
) -> pd.DataFrame:
    """List all that a reader should know about columns, rows and raters, with its consequence.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    outcome : str
        Column to explain.
    aspects : sequence of str
        Columns that may explain it.
    scales : mapping of str to (float, float), optional
        Lowest and highest mark, where they are known.
    covariate : str, optional
        What the covariate is called in the file; if that is a time, hasty raters are
        looked for.

    Returns
    -------
    pandas.DataFrame
        A row per finding: ``what``, ``where``, how many ``rows``, its ``consequence``
        for the conclusions, and what it ``affects``: a list of columns, or ``["all"]``.
        One row says so if nothing was found.

    Examples
    --------
    >>> rng, rows = np.random.default_rng(0), np.arange(120)
    >>> marks = rng.integers(2, 5, 40)[rows // 3] + rng.integers(-1, 2, 120)
    >>> table = pd.DataFrame({"item_id": rows // 3, "prompt_id": rows // 3, "rater_id": rows % 3,
    ...                       "tone": rng.integers(1, 6, 120), "overall": marks})
    >>> table.loc[table["rater_id"] == 2, "overall"] = 6 - table["overall"]
    >>> check_raters(table, "overall", ["tone"])[["what", "where", "rows"]]
                                 what       where  rows
    0  rates opposite to the others  overall: 2    40
    """
    rows = [*findings(table, [outcome, *aspects], scales or {})]
    if "rater_id" in table:
        rows += _about_raters(table, outcome, aspects, covariate)
    rows = rows or [("nothing", "", 0, "all ratings are used as they are", [])]
    return pd.DataFrame(
        rows, columns=["what", "where", "rows", "consequence", "affects"]
    )


def _about_raters(
    table: pd.DataFrame, outcome: str, aspects: Sequence[str], covariate: str
) -> Iterator[tuple]:
    """Findings about raters."""
    table = table[~table.duplicated(["item_id", "rater_id"])].reset_index(drop=True)
    rater, columns = table["rater_id"].to_numpy(), [outcome, *aspects]
    tried = "conclusions are drawn without these ratings too"
    for who, column in _reversed(table, columns):
        where, rows = f"{column}: {who}", int((rater == who).sum())
        yield "rates opposite to the others", where, rows, tried, ["all"]
    copied = _copied(table, columns)
    if copied.any():
        where = f"{len(np.unique(rater[copied]))} raters"
        yield (
            "the same in all columns as another rater",
            where,
            int(copied.sum()),
            tried,
            ["all"],
        )
    kept = "kept: did they read what they rated?"
    for what, who, consequence in (
        (f"always the same {outcome}", _flat(table, outcome), tried),
        (f"under a third of the usual {covariate}", _hasty(table, covariate), kept),
    ):
        if len(who):
            n_rows = int(table["rater_id"].isin(who).sum())
            yield what, _raters(who), n_rows, consequence, ["all"]
    yield from _harsh(table, outcome)
    yield from _design(table)


def _raters(who: Sequence) -> str:
    """Name some raters."""
    return ", ".join(map(str, who[:3])) + " …" * (len(who) > 3)


def _of_others(
    table: pd.DataFrame, columns: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Marks, and the mean of the marks that others gave the same item; NaN where there are none."""
    own, item = (
        table[list(columns)].to_numpy(dtype=float),
        pd.factorize(table["item_id"])[0],
    )
    known = ~np.isnan(own)
    marks = np.where(known, own, 0)
    total, count = (cluster_sums(each, item)[item] for each in (marks, known * 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return own, np.where(known & (count > 1), (total - marks) / (count - 1), np.nan)


def _agreement(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Correlation of each rater with the rest by column, and its distance from zero in errors."""
    own, rest = _of_others(table, columns)
    codes, who = pd.factorize(table["rater_id"])
    shared = ~np.isnan(rest)
    own, rest = (np.where(shared, each, 0) for each in (own, rest))
    own, rest = (
        each - shared * each.sum() / max(shared.sum(), 1) for each in (own, rest)
    )
    parts = np.stack([shared, own, rest, own**2, rest**2, own * rest], axis=1)
    n, x, y, xx, yy, xy = cluster_sums(parts, codes).transpose(1, 0, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (xx - x**2 / n) * (yy - y**2 / n)
        r = np.where(spread > 1e-9, (xy - x * y / n) / np.sqrt(spread), np.nan)
    z = np.arctanh(np.clip(r, -NEARLY, NEARLY)) * np.sqrt(np.maximum(n - 3, 0))
    index = pd.MultiIndex.from_product([who, columns], names=["rater", "column"])
    found = pd.DataFrame({"n": n.ravel(), "r": r.ravel(), "z": z.ravel()}, index=index)
    return found[(found["n"] >= ENOUGH) & found["r"].notna()]


def _reversed(table: pd.DataFrame, columns: Sequence[str]) -> list[tuple]:
    """Raters, with the column, who rate opposite to the others, one after the other.

    Of two raters nobody can say which.
    """
    table, found = some_items(table, MOST_ROWS), []
    while table["rater_id"].nunique() > 2 and len(found) < MOST_REVERSED:
        rest = _agreement(table, columns)
        if rest.empty or rest["z"].min() > -stats.norm.isf(ALARM / len(rest)):
            break
        found.append(rest["z"].idxmin())
        table = table[table["rater_id"] != found[-1][0]]
    return found


def _flat(table: pd.DataFrame, outcome: str) -> list:
    """Raters who gave one mark only, so often that chance would hardly do it."""
    by_rater = table.groupby("rater_id", observed=True)[outcome].agg(
        ["count", "nunique"]
    )
    usual = table[outcome].value_counts(normalize=True).iloc[0]
    chance = usual ** by_rater["count"]
    is_flat = (by_rater["nunique"] == 1) & (by_rater["count"] >= ENOUGH)
    return list(by_rater.index[is_flat & (chance < ALARM / len(by_rater))])


def _hasty(table: pd.DataFrame, covariate: str) -> list:
    """Raters whose middle time is far below the usual, if the covariate is a time."""
    is_time = any(word in covariate.lower() for word in TIMES)
    if not is_time or not pd.api.types.is_numeric_dtype(table.get("covariate")):
        return []
    by_rater = table.groupby("rater_id", observed=True)["covariate"].agg(
        ["count", "median"]
    )
    is_fast = by_rater["median"] < HASTY * by_rater["median"].median()
    return list(by_rater.index[is_fast & (by_rater["count"] >= ENOUGH)])


def _copied(table: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Tell which ratings are the same in all columns as those of another rater, far too often.

    Of two raters the ratings of the one who comes later in the table are marked. One
    column alone does not tell copies from agreement.
    """
    marked = np.zeros(len(table), dtype=bool)
    if len(columns) < 2:
        return marked
    known = table[list(columns)].notna().all(axis="columns").to_numpy()
    for one, two in _too_alike(some_items(table[known], MOST_ROWS), columns):
        pair = np.flatnonzero(known & table["rater_id"].isin([one, two]).to_numpy())
        rows = table.iloc[pair]
        again = rows.duplicated(["item_id", *columns], keep=False) & (
            rows["rater_id"] == two
        )
        marked[pair[again.to_numpy()]] = True
    return marked


def _too_alike(rows: pd.DataFrame, columns: Sequence[str]) -> list[tuple]:
    """Pairs of raters who gave the same marks in all columns more often than chance would do."""
    rater, who = pd.factorize(rows["rater_id"])
    same = rows.groupby(["item_id", *columns], observed=True).ngroup().to_numpy()
    shared, equal = (
        _together(rater, pd.factorize(rows["item_id"])[0]),
        _together(rater, same),
    )
    first, second = shared.nonzero()
    n = np.asarray(shared[first, second]).ravel()
    pairs = (first < second) & (n >= ENOUGH)
    first, second, n = first[pairs], second[pairs], n[pairs]
    if not len(n):
        return []
    k = np.asarray(equal[first, second]).ravel()
    others = n.sum() - n
    usual = np.divide(k.sum() - k, others, out=np.full(len(n), 0.5), where=others > 0)
    chance = stats.binom.sf(k - 1, n, np.maximum(usual, _by_chance(rows, columns)))
    alike = (k >= COPIED * n) & (chance < ALARM / len(n))
    return list(zip(who[first[alike]], who[second[alike]], strict=True))


def _together(rater: np.ndarray, what: np.ndarray) -> csr_array:
    """How many things two raters have in common."""
    shape = (rater.max(initial=0) + 1, what.max(initial=0) + 1)
    member = csr_array((np.ones(len(rater)), (rater, what)), shape=shape)
    return (member @ member.T).tocsr()


def _by_chance(rows: pd.DataFrame, columns: Sequence[str]) -> float:
    """Share of pairs of ratings that are the same in all columns, whatever the item."""
    patterns = rows.groupby(list(columns), observed=True).size()
    return float(((patterns / len(rows)) ** 2).sum())


def _harsh(table: pd.DataFrame, outcome: str) -> Iterator[tuple]:
    """Raters far from the middle one on the same items."""
    found = leniency(table, outcome)
    reach = HARSH * np.ptp(table[outcome].dropna())
    found = found[found["ratings"] >= ENOUGH]
    sure = np.abs(found["z"]) > stats.norm.isf(ALARM / 2 / max(len(found), 1))
    far = found[sure & (np.abs(found["from the middle"]) > reach)]
    for word, side in (("harsher", -1), ("more lenient", 1)):
        those = far[np.sign(far["from the middle"]) == side]
        if len(those):
            most = those["from the middle"].abs().max()
            at_most = "up to " if len(those) > 1 else ""
            what = f"{word} than the middle rater, by {at_most}{most:.1f} points"
            yield (
                what,
                _raters(those.index),
                int(those["ratings"].sum()),
                TAKEN_OUT,
                [outcome],
            )


def leniency(table: pd.DataFrame, outcome: str) -> pd.DataFrame:
    """How far each rater is from the others on the same items, in points of the outcome.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings with ``item_id``, ``prompt_id`` and ``rater_id``.
    outcome : str
        Column of marks.

    Returns
    -------
    pandas.DataFrame
        A row per rater who shares items with others: shared ``ratings``, ``leniency``
        with 95 % interval ``leniency low`` and ``leniency high`` by clusters of items,
        ``z``, its distance from zero in standard errors, and ``from the middle``, from
        the middle rater.
    """
    own, rest = (each[:, 0] for each in _of_others(table, [outcome]))
    shared = ~np.isnan(rest)
    gap, who = (own - rest)[shared], table["rater_id"].to_numpy()[shared]
    parts = pd.DataFrame({"n": 1.0, "gap": gap, "who": who})
    sums = parts.groupby(
        ["who", table["prompt_id"].to_numpy()[shared]], observed=True
    ).sum()
    size, total = (getattr(sums.groupby(level=0), each)() for each in ("size", "sum"))
    mean = total["gap"] / total["n"]
    around = (sums["gap"] - sums["n"] * mean.reindex(sums.index, level=0)) ** 2
    squares = around.groupby(level=0).sum() * size / (size - 1).where(size > 1)
    error = np.sqrt(squares).where(lambda root: root > NEARLY_NOTHING) / total["n"]
    margin = stats.t.ppf(0.975, size - 1) * error
    # From the items' means, with a rater's own mark: one outlier moves those of others
    # less.
    off = mean * (1 - 1 / _raters_per_item(table))
    columns = {
        **{"ratings": total["n"], "leniency": mean, "z": mean / error},
        **{"leniency low": mean - margin, "leniency high": mean + margin},
        "from the middle": off - off.median(),
    }
    return pd.DataFrame(columns)


def _raters_per_item(table: pd.DataFrame) -> float:
    """Ratings of an item, on average over ratings that share one."""
    counts = np.bincount(pd.factorize(table["item_id"])[0])
    counts = counts[counts > 1]
    return float((counts**2).sum() / counts.sum()) if len(counts) else 1.0


def _design(table: pd.DataFrame) -> Iterator[tuple]:
    """Who rated how much of what."""
    counts = table["rater_id"].value_counts()
    counts = counts[counts > 0]
    busy = counts[counts > BUSY * len(table) / len(counts)]
    if len(busy):
        where = f"{len(busy)} of {len(counts)} raters"
        consequence = (
            f"results are mostly theirs; the busiest gave {busy.max():,} ratings"
        )
        yield (
            "far more ratings than others",
            where,
            int(busy.sum()),
            consequence,
            ["all"],
        )
    per_item = table["item_id"].value_counts()
    once = per_item == 1
    if 0.5 < once.mean() < 1 and len(counts) > 1:
        consequence = (
            f"agreement and leniency can come only from {int((~once).sum()):,} others"
        )
        yield "most items rated once", "", int(once.sum()), consequence, ["all"]
    if "covariate" in table and isinstance(
        table["covariate"].dtype, pd.CategoricalDtype
    ):
        seen = table.groupby("rater_id", observed=True)["covariate"].nunique()
        if (
            len(table["covariate"].dropna().unique()) > 1
            and (seen == 1).mean() >= ONE_LABEL
        ):
            what = "saw one label of the covariate only"
            consequence = (
                "differences between the labels may be differences between raters"
            )
            where = f"{int((seen == 1).sum())} of {len(seen)} raters"
            yield what, where, len(table), consequence, ["covariate"]


def doubtful(study: Study) -> dict[str, np.ndarray]:
    """Tell which ratings are doubtful, and why.

    Parameters
    ----------
    study : Study
        Ratings.

    Returns
    -------
    dict of str to numpy.ndarray of bool, shape (n_rows,)
        Rows of raters who rate opposite to the others, rows copied from another rater,
        and rows of raters who always give the same outcome; kinds that do not occur are
        not there.
    """
    if "rater_id" not in study.frame:
        return {}
    frame, columns = study.frame, [study.outcome, *study.aspects]
    turned = {who for who, _ in _reversed(frame, columns)}
    rows = {
        "raters who rate opposite to the others": frame["rater_id"]
        .isin(turned)
        .to_numpy(),
        "copied ratings": _copied(frame, columns),
        "flat raters": frame["rater_id"].isin(_flat(frame, study.outcome)).to_numpy(),
    }
    return {name: marked for name, marked in rows.items() if marked.any()}


def table(study: Study) -> pd.DataFrame:
    """Tell of each rater how lenient he or she is, and how far the others agree.

    Parameters
    ----------
    study : Study
        Ratings with raters.

    Returns
    -------
    pandas.DataFrame
        A row per rater: ``ratings``; ``leniency`` with ``leniency low`` and ``leniency
        high``, mean distance from the others' mean on the same items, in points;
        ``agreement`` with ``low`` and ``high``, correlation with that mean. Empty
        without raters.
    """
    if "rater_id" not in study.frame or study.frame["rater_id"].nunique() < 2:
        return pd.DataFrame()
    lenient = leniency(study.frame, study.outcome)[
        ["leniency", "leniency low", "leniency high"]
    ]
    rest = _agreement(study.frame, [study.outcome]).droplevel("column")
    reach = stats.norm.ppf(0.975) / np.sqrt((rest["n"] - 3).clip(lower=0))
    middle = np.arctanh(rest["r"].clip(-NEARLY, NEARLY))
    found = pd.DataFrame({"ratings": study.frame["rater_id"].value_counts()})
    found = found[found["ratings"] > 0].join(lenient)
    ends = {"low": np.tanh(middle - reach), "high": np.tanh(middle + reach)}
    return found.join(
        rest[["r"]].rename(columns={"r": "agreement"}).assign(**ends)
    ).sort_index()


def reliability(study: Study, n_boot: int, rng: np.random.Generator) -> pd.DataFrame:
    """How reliable the mean of several ratings of an item is.

    Parameters
    ----------
    study : Study
        Ratings.
    n_boot : int
        Number of bootstrap replicates of clusters.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        A row per number, indexed by ``ratings``: share of the variance of means of so
        many ratings that lies between items (``estimate``, ``low``, ``high``). Empty if
        no item has two.

    References
    ----------
    Shrout and Fleiss (1979), Intraclass Correlations, case 1; Spearman (1910) and Brown
    (1910).
    """
    items = study.frame.groupby(["cluster", "item_id"], observed=True)[study.outcome]
    sums = items.agg(["size", "sum", "var"]).reset_index()
    n, total = sums["size"].to_numpy(dtype=float), sums["sum"].to_numpy()
    if (n > 1).sum() < ENOUGH:
        return pd.DataFrame()
    total = total - study.frame[study.outcome].mean() * n
    within = np.nan_to_num(sums["var"].to_numpy()) * (n - 1)
    parts = cluster_sums(
        np.column_stack([np.ones(len(n)), n, total, total**2 / n, n**2, within]),
        sums["cluster"],
    )
    weights = bootstrap.with_everything_first(
        bootstrap.cluster_weights(len(parts), n_boot, rng)
    )
    n_items, rows, whole, between, squares, error = (weights @ parts).T
    noise = error / (rows - n_items)
    mean_square = (between - whole**2 / rows) / (n_items - 1)
    item = np.maximum(mean_square - noise, 0) * (n_items - 1) / (rows - squares / rows)
    shares = item[:, None] / (item[:, None] + noise[:, None] / np.array(MEANS))
    return bootstrap.summary(shares[0], shares[1:], pd.Index(MEANS, name="ratings"))


def needed(study: Study, weight: float) -> pd.DataFrame:
    """How many times the ratings or raters it takes to find a weight of this size in four of five.

    What items, raters and single ratings contribute to the error of each weight is told
    from this file; more of one leave the others as they are, and give t more degrees of
    freedom. "Found" is a p-value below 0.05, not corrected for the number of aspects.
    In simulated studies (30, 8 and 6 raters, and none named) ``detects`` was within 4 %
    of the truth. The weight that twice or four times as many detect was within 12 % (17
    % once); as a number of times that is within 15 % at twice, but up to twice too many
    where the error comes near to what the other clusters leave.

    Parameters
    ----------
    study : Study
        Ratings.
    weight : float
        Points of the outcome from the lowest to the highest mark of an aspect.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: ``detects``, the smallest weight that this file finds in 80 %;
        ``times the items`` rated by the same raters, and ``times the raters`` on the
        same items, each with as many ratings as now; infinite where a thousand times as
        many do not suffice.

    References
    ----------
    Cohen (1988), Statistical Power Analysis, chapter 1; Cameron, Gelbach and Miller
    (2011), Robust Inference With Multiway Clustering.
    """
    found, ways = study.slopes(), study.shared
    variances, sizes = found.variances(study.frame[ways])
    if alone := len(ways) == 1:
        variances, sizes = (0 * variances[0], *variances * 2), (np.inf, *sizes)
    people, items = (np.maximum(each - variances[2], 0) for each in variances[:2])
    more = np.geomspace(1, MOST_TIMES, 150)[:, None]
    by_items = _detects(
        people + (variances[2] + items) / more, sizes[0], sizes[1] * more
    )
    by_raters = _detects(
        items + (variances[2] + people) / more, sizes[0] * more, sizes[1]
    )
    columns = {
        "detects": by_items[0],
        "times the items": _first(by_items <= weight, more),
        "times the raters": np.nan if alone else _first(by_raters <= weight, more),
    }
    return pd.DataFrame(columns, index=found.value.index).reindex(study.aspects)


def _detects(
    variance: np.ndarray, n_raters: ArrayLike, n_items: ArrayLike
) -> np.ndarray:
    """The weight that t finds in 80 %, by the smaller effective number of clusters."""
    freedom = np.maximum(np.minimum(n_raters, n_items) - 1, 1)
    return np.sqrt(variance) * (stats.t.ppf(0.975, freedom) + stats.t.ppf(0.8, freedom))


def _first(enough: np.ndarray, more: np.ndarray) -> np.ndarray:
    """The first number of times that is enough, infinite if none is."""
    return np.where(enough.any(axis=0), more[enough.argmax(axis=0), 0], np.inf)
