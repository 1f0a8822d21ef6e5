"""Which system is best, and what goes with the overall rating: one verdict each.

Both questions are least squares, with rows that share a rater or a cluster of items
allowed for by leaving out each of them in turn (`helpers.stats.leave_out`). Raters are
compared with themselves where they gave five ratings each on average. `judge_aspects`
gives the weight of each aspect, others and, if the file has systems, systems held
equal; `compare_systems` the differences of all pairs of systems, raters taken out.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from helpers.data.tables import BadTableError
from helpers.stats import bootstrap, leave_out
from helpers.stats.clustered import FEWEST_INFORMATIVE
from helpers.stats.leave_out import LeftOut, Parts, Statistic
from helpers.stats.moments import ratio
from ratings.study import ROWS_PER_SYSTEM, Study
from ratings.verdicts import (
    PERCENT,
    POINTS,
    SIGNIFICANT,
    Estimate,
    Unit,
    Verdict,
)

MOST_SYSTEMS = 40  # that are compared with each other
MOST_LABELS = 30  # of a covariate without numbers
NOT_HELD = "systems not held equal"
NOT_WITHIN = "raters not held equal"
ALONE = "each aspect alone"
COVARIATE = "covariate held equal"
ENDS = ["estimate", "low", "high"]


def unit_of(study: Study) -> Unit:
    """Tell in what effects are told: points, or percentage points of yes and no."""
    return PERCENT if study.is_yes_no else POINTS


def within_sd(study: Study) -> float:
    """Standard deviation of the outcome within raters and systems.

    Parameters
    ----------
    study : Study
        Ratings.

    Returns
    -------
    float
        In points of the outcome, with raters and systems held equal as `Study.held`
        says.
    """
    rows = study.centred(study.held, lambda part: _outcome(study, part))
    squares = sum(study.over_parts(lambda part: (rows(part) ** 2).sum()))
    sizes = {
        "rater_id": len(study.counts.raters),
        "system_id": len(study.counts.systems),
    }
    n_means = sum(sizes[name] - 1 for name in study.held) + 1
    return float(np.sqrt(squares / (study.counts.rows - n_means)))


def _outcome(study: Study, part: pd.DataFrame) -> np.ndarray:
    """The outcome of some ratings, as one column."""
    return part[[study.outcome]].to_numpy(dtype=float, copy=True)


def weights(study: Study, held: tuple[str, ...] | None = None) -> LeftOut:
    """Least-squares weights of all aspects at once.

    Parameters
    ----------
    study : Study
        Ratings.
    held : tuple of str, optional
        What is held equal: ``"rater_id"``, ``"system_id"``, both or nothing; by default
        as `Study.held` says.

    Returns
    -------
    LeftOut
        In points of the outcome from the lowest to the highest mark of an aspect.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> rows = np.arange(60)
    >>> marks = {"tone": 1.0 + rows % 3, "overall": 1.0 + (rows % 3 + rows % 5 // 3)}
    >>> table = pd.DataFrame({"item_id": rows, "prompt_id": rows, **marks})
    >>> found = weights(prepare(table, "overall", ["tone"])).table()
    >>> found[["estimate", "low", "high"]].round(2)
          estimate   low  high
    tone       2.0  1.68  2.32
    """
    return study.weights if held is None else study.weights_with(held)


def _alone(names: pd.Index) -> Statistic:
    """Slopes on one column at a time."""
    n_columns = len(names) + 1

    def value(sums: np.ndarray) -> np.ndarray:
        moments = sums.reshape(-1, n_columns, n_columns)
        variation = np.diagonal(moments, axis1=1, axis2=2)[:, :-1]
        return ratio(moments[:, :-1, -1], variation)

    def information(total: np.ndarray, parts: np.ndarray) -> np.ndarray:
        moments = parts.reshape(-1, n_columns, n_columns)
        return np.diagonal(moments, axis1=1, axis2=2)[:, :-1]

    return Statistic(names, leave_out.products, value, information)


def specifications(study: Study) -> dict[str, pd.DataFrame]:
    """Compute the weights in other ways than `weights` does.

    Parameters
    ----------
    study : Study
        Ratings.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``estimate``, ``low`` and ``high`` by aspect (95 %, not corrected): without
        holding systems equal, without comparing raters with themselves, each aspect
        alone, and with a covariate held equal, as far as the file allows.
    """
    found = {}
    if "system_id" in study.held:
        rest = tuple(name for name in study.held if name != "system_id")
        found[NOT_HELD] = weights(study, rest)
    if "rater_id" in study.held:
        rest = tuple(name for name in study.held if name != "rater_id")
        found[NOT_WITHIN] = weights(study, rest)
    if len(study.aspects) > 1:
        rows = study.centred(study.held, study.values)
        found[ALONE] = study.leave_out(rows, _alone(pd.Index(study.aspects)))
    if "covariate" in study.frame:
        controlled = _with_covariate(study)
        if controlled is not None:
            found[COVARIATE] = controlled
    tables = {}
    for name, left_out in found.items():
        tables[name] = left_out.table().loc[study.aspects, ENDS]
    return tables


def _with_covariate(study: Study) -> LeftOut | None:
    """Weights with a covariate held equal; None if that cannot be done.

    Numbers are held equal by a straight line, labels by comparing ratings with the same
    label.
    """
    known = replace(study, frame=study.frame.dropna(subset="covariate"))
    covariate = known.frame["covariate"]
    if covariate.nunique() < 2:
        return None
    if pd.api.types.is_numeric_dtype(covariate):
        controls = ((covariate - covariate.mean()) / covariate.std()).to_frame()
    else:
        if covariate.nunique() > MOST_LABELS:
            return None
        controls = pd.get_dummies(covariate.astype(str), drop_first=True, dtype=float)
    columns = controls.to_numpy()
    n_numbers = len(known.aspects) + columns.shape[1] + 1
    if known.counts.clusters <= n_numbers:
        return None

    def values(part: pd.DataFrame) -> np.ndarray:
        """Aspects, the covariate and the outcome."""
        own = known.values(part)
        return np.column_stack([own[:, :-1], columns, own[:, -1]])

    names = [*known.aspects, *(f"\0{number}" for number in range(columns.shape[1]))]
    rows = known.centred(known.held, values)
    return known.leave_out(rows, leave_out.slopes(pd.Index(names)))


def judge_aspects(
    study: Study,
    *,
    matters: float | None = None,
    per_error: Collection[str] = (),
    doubted: Study | None = None,
    doubt: str = "",
) -> list[Verdict]:
    """Judge of each aspect whether the outcome is higher or lower with more of it.

    Parameters
    ----------
    study : Study
        Ratings, without those that are doubted.
    matters : float, optional
        Smallest difference that matters, in points (percentage points of yes and no).
    per_error : collection of str, optional
        Aspects that count errors: their weight is that of one error.
    doubted : Study, optional
        The same with the doubted ratings.
    doubt : str, optional
        Which ratings are doubted.

    Returns
    -------
    list of Verdict
        The largest first, then those that are not judged. Directions are corrected for
        the number of aspects that are judged by Holm's method; intervals are not.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> rows = np.arange(60)
    >>> marks = {"tone": 1.0 + rows % 3, "overall": 1.0 + (rows % 3 + rows % 5 // 3)}
    >>> table = pd.DataFrame({"item_id": rows, "prompt_id": rows, **marks})
    >>> (found,) = judge_aspects(prepare(table, "overall", ["tone"]))
    >>> found.direction, found.importance, round(found.size.estimate, 2)
    ('higher', 'large', 2.0)
    """
    table = weights(study).table()
    others = specifications(study)
    if doubted is not None:
        with_doubted = weights(doubted).table()
    reasons = _reasons(study)
    is_judged = [
        not reasons.get(name) and not np.isnan(table.loc[name, "p_value"])
        for name in study.aspects
    ]
    judged = table.index[is_judged]
    p_values = pd.Series(bootstrap.adjust(table.loc[judged, "p_value"]), judged)
    unit = unit_of(study)
    sd = unit.times * within_sd(study)
    verdicts = []
    for name in [*study.aspects, *study.left_out]:
        size = Estimate(np.nan, np.nan, np.nan)
        sizes = {}
        doubtful = None
        if name in judged:
            size = _estimate(table, name, unit)
            sizes = {key: _estimate(each, name, unit) for key, each in others.items()}
            if doubted is not None and name in with_doubted.index:
                doubtful = _estimate(with_doubted, name, unit)
        reason = reasons.get(name, "" if name in judged else "it has no interval")
        verdict = Verdict(
            name=name,
            against=_compared(study, name, per_error),
            outcome=study.outcome,
            unit=unit,
            size=size,
            p=p_values.get(name, np.nan),
            sd=sd,
            scope=study.scope,
            held=_held_in_words(study),
            reason=reason,
            matters=matters,
            n_judged=len(judged),
            specifications=sizes,
            with_doubted=doubtful,
            doubt=doubt,
        )
        verdicts.append(verdict)
    return sorted(verdicts, key=_place)


def _place(verdict: Verdict) -> tuple[bool, bool, float]:
    """Where a verdict stands: clear ones first, then the largest."""
    is_judged = verdict.direction != "not judged"
    size = abs(verdict.size.estimate) if is_judged else 0.0
    return (not is_judged, not verdict.is_clear, -size)


def _estimate(table: pd.DataFrame, name: str, unit: Unit) -> Estimate:
    """Take an estimate with its interval from a table, in the unit."""
    return Estimate(*(unit.times * float(table.loc[name, end]) for end in ENDS))


def _compared(study: Study, name: str, per_error: Collection[str]) -> str:
    """Say what is compared: one error and none, marked and not, or two ends."""
    if name in per_error:
        return "each error"
    if name not in study.ends.index:
        return ""
    low, high = study.ends.loc[name, ["low", "high"]]
    if (low, high) == (0, 1) and set(study.counts.marks.get(name, {0: 0}).index) <= {
        0,
        1,
    }:
        return "marked against not marked"
    return f"{high:g} against {low:g}"


def _held_in_words(study: Study) -> str:
    """Say what is held equal."""
    words = {"rater_id": "raters", "system_id": "systems"}
    held = [words[name] for name in study.held]
    if len(study.aspects) > 1:
        held.append("the other aspects")
    if not held:
        return ""
    text = " and ".join([", ".join(held[:-1]), held[-1]] if len(held) > 1 else held)
    return f" with {text} held equal"


def _reasons(study: Study) -> dict[str, str]:
    """Why the ratings cannot tell the weights of aspects."""
    reasons = dict(study.left_out)
    for name, number in study.informative.items():
        if number < FEWEST_INFORMATIVE:
            clusters = "1 cluster" if number == 1 else f"{number} clusters"
            reasons[name] = (
                f"a mark other than the usual one occurs in {clusters}; at least "
                f"{FEWEST_INFORMATIVE} are needed"
            )
    if study.identity:
        because = f"{study.identity}, so that its weight is arithmetic, not a finding"
        reasons |= dict.fromkeys(study.aspects, because)
    for group in study.collinear:
        for name in group:
            others = ", ".join(other for other in group if other != name)
            reasons[name] = f"it moves together with {others}"
    if study.too_many:
        reasons |= dict.fromkeys(study.aspects, study.too_many)
    return reasons


def heaviest(
    study: Study, verdicts: list[Verdict]
) -> tuple[str, list[str], dict[str, Estimate]]:
    """Tell which aspect weighs most, and from which others it cannot be told.

    The largest weight is compared with the size of each other by intervals that hold
    for all pairs of aspects at once (Bonferroni), whatever the sign of the other.

    Parameters
    ----------
    study : Study
        Ratings.
    verdicts : list of Verdict
        From `judge_aspects`.

    Returns
    -------
    str
        The aspect; empty if none has a direction, or only one is judged.
    list of str
        Aspects whose weight may be as large.
    dict of str to Estimate
        How much more it weighs than the nearest other, in the unit of the verdicts, by
        the name of that; empty if no aspect is named.
    """
    judged = [each for each in verdicts if each.direction != "not judged"]
    if len(judged) < 2:
        return "", [], {}
    first = max(judged, key=lambda each: abs(each.size.estimate))
    if not first.is_clear:
        return "", [], {}
    sign = 1.0 if first.direction == "higher" else -1.0
    rest = [each.name for each in judged if each is not first]
    rows = {}
    for name in rest:
        for other in (1.0, -1.0):
            rows[name, other] = {first.name: sign, name: other}
    contrasts = pd.DataFrame.from_dict(rows, "index").reindex(columns=study.aspects)
    n_pairs = len(judged) * (len(judged) - 1)
    table = simultaneous(weights(study).contrast(contrasts.fillna(0.0)), n_pairs)
    is_below = table["low"] > 0
    equal = [
        name for name in rest if not is_below.loc[[(name, 1.0), (name, -1.0)]].all()
    ]
    closest = table["low"].idxmin()
    return first.name, equal, {closest[0]: _estimate(table, closest, first.unit)}


def simultaneous(left_out: LeftOut, n: int) -> pd.DataFrame:
    """Set out estimates with intervals that hold for n of them at once (Bonferroni).

    Parameters
    ----------
    left_out : LeftOut
        Estimates.
    n : int
        How many are judged together.

    Returns
    -------
    pandas.DataFrame
        As `LeftOut.table`; ``p_value`` is corrected, too.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> rows = np.arange(60)
    >>> marks = {"tone": 1.0 + rows % 3, "overall": 1.0 + (rows % 3 + rows % 5 // 3)}
    >>> table = pd.DataFrame({"item_id": rows, "prompt_id": rows, **marks})
    >>> found = weights(prepare(table, "overall", ["tone"]))
    >>> simultaneous(found, 10)[["low", "high"]].round(2)
           low  high
    tone  1.53  2.47
    """
    table = left_out.table()
    margin = stats.t.ppf(1 - SIGNIFICANT / 2 / n, table["df"]) * table["standard_error"]
    return table.assign(
        low=table["estimate"] - margin,
        high=table["estimate"] + margin,
        p_value=np.minimum(n * table["p_value"], 1.0),
    )


@dataclass(frozen=True, eq=False)
class SystemComparison:
    """How systems compare. Made by `compare_systems`.

    Parameters
    ----------
    means : pandas.DataFrame
        By system, the best first (the highest if that is not known): ``ratings``,
        ``mean``, and ``adjusted``, the mean with raters held equal (the same as the
        mean if that cannot be done).
    pairs : dict of (str, str) to Verdict
        Of each two systems how much higher the first one is rated. Intervals hold for
        all pairs at once.
    is_adjusted : bool
        Whether raters are taken out.
    left_out : LeftOut
        The differences of all pairs.
    better : {"higher", "lower", ""}
        Which outcome is better; empty if that is not known.
    """

    means: pd.DataFrame
    pairs: dict[tuple[str, str], Verdict]
    is_adjusted: bool
    left_out: LeftOut
    better: str = "higher"

    def not_separated(self, name: str) -> list[str]:
        """Systems that cannot be told from one, the best first."""
        near = []
        for pair, verdict in self.pairs.items():
            if name in pair and not verdict.is_clear:
                near.append(pair[0] if pair[1] == name else pair[1])
        return [other for other in self.means.index if other in near]


def compare_systems(
    study: Study,
    *,
    matters: float | None = None,
    doubted: Study | None = None,
    doubt: str = "",
    better: str = "higher",
) -> SystemComparison:
    """Compare the mean outcome of all pairs of systems.

    Parameters
    ----------
    study : Study
        Ratings with systems, and no aspects.
    matters, doubted, doubt
        As for `judge_aspects`.
    better : {"higher", "lower", ""}, optional
        Which outcome is better; empty if that is not known.

    Returns
    -------
    SystemComparison

    Raises
    ------
    tables.BadTableError
        If there are not two systems, or too many for the ratings or for `MOST_SYSTEMS`.

    References
    ----------
    Hsu (1996), Multiple Comparisons, chapter 5, for simultaneous intervals.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> row = np.arange(120)
    >>> table = pd.DataFrame({"item_id": row, "prompt_id": row // 2})
    >>> table["rater_id"] = row % 7
    >>> table["system_id"] = np.where(row % 2 == 0, "old", "new")
    >>> table["overall"] = 3.0 + (row % 2) + (row % 3)
    >>> found = compare_systems(prepare(table, "overall", []))
    >>> found.means.round(2)
         ratings  mean  adjusted
    new       60   5.0       5.0
    old       60   4.0       4.0
    >>> found.pairs["new", "old"].direction
    'higher'
    """
    counts = study.counts.systems
    if len(counts) < 2:
        raise BadTableError("all ratings are of one system")
    if not study.has_systems:
        raise BadTableError(
            f"{len(counts):,} systems in {study.counts.rows:,} ratings: at least "
            f"{ROWS_PER_SYSTEM} ratings of each are needed on average"
        )
    if len(counts) > MOST_SYSTEMS:
        raise BadTableError(
            f"{len(counts):,} systems are more than the {MOST_SYSTEMS} that can be "
            "compared with each other: leave some out (`only` in the recipe)"
        )
    names = list(counts.sort_values(ascending=False, kind="stable").index)
    is_adjusted = study.is_within and _is_connected(study)
    left_out = _differences(study, names, is_adjusted)
    means = _means(study, left_out, names, is_rising=better == "lower")
    pairs = list(combinations(means.index, 2))
    differences = _of_pairs(left_out, pairs)
    table = simultaneous(differences, len(pairs)).reindex(pairs)
    if doubted is not None and set(doubted.counts.systems.index) != set(names):
        doubted = None  # a system that has doubted ratings only
    if doubted is not None:
        others = _of_pairs(_differences(doubted, names, is_adjusted), pairs)
        other = simultaneous(others, len(pairs)).reindex(pairs)
    unit = unit_of(study)
    sd = unit.times * within_sd(study)
    verdicts = {}
    for pair in pairs:
        p_value = table.loc[pair, "p_value"]
        verdicts[pair] = Verdict(
            name=pair[0],
            against=pair[1],
            outcome=study.outcome,
            unit=unit,
            size=_estimate(table, pair, unit),
            p=p_value,
            sd=sd,
            scope=study.scope,
            reason="it rests on one rater or cluster" if np.isnan(p_value) else "",
            matters=matters,
            n_judged=len(pairs),
            with_doubted=None if doubted is None else _estimate(other, pair, unit),
            doubt=doubt,
        )
    return SystemComparison(means, verdicts, is_adjusted, differences, better)


def _is_connected(study: Study) -> bool:
    """Whether raters link all systems: some saw two of them, and so on."""
    links = study.over_parts(
        lambda part: part[["rater_id", "system_id"]].drop_duplicates()
    )
    pairs = pd.concat(links)
    rater, raters = pd.factorize(pairs["rater_id"])
    system, systems = pd.factorize(pairs["system_id"])
    n_nodes = len(raters) + len(systems)
    graph = coo_array(
        (np.ones(len(pairs)), (rater, len(raters) + system)), (n_nodes, n_nodes)
    )
    return connected_components(graph, directed=False)[0] == 1


def _differences(study: Study, names: list, is_adjusted: bool) -> LeftOut:
    """Differences of the other systems from the first.

    Without raters taken out the mean of the first is there as well, called "".
    """
    values = _indicators(study, names)
    if is_adjusted:
        rows = study.centred(("rater_id",), lambda part: values(part)[:, 1:])
        return study.leave_out(rows, leave_out.slopes(pd.Index(names[1:])))
    return study.leave_out(values, leave_out.slopes(pd.Index(["", *names[1:]])))


def _indicators(study: Study, names: list) -> Callable[[pd.DataFrame], np.ndarray]:
    """Make the function to columns of 1, of each system but the first, and outcome."""
    place = pd.Index(names)

    def values(part: pd.DataFrame) -> np.ndarray:
        system = place.get_indexer(part["system_id"])
        is_system = system[:, None] == np.arange(1, len(names))
        ones = np.ones(len(part))
        return np.column_stack([ones, is_system, _outcome(study, part)]).astype(float)

    return values


def _of_pairs(left_out: LeftOut, pairs: list[tuple]) -> LeftOut:
    """Differences of pairs of systems, from those from one system.

    Pairs with a system that rests on one rater or cluster are not there.
    """
    is_told = ~np.isnan(left_out.variance())
    parts = []
    for each in left_out.parts:
        squares = each.squares[np.ix_(is_told, is_told)]
        informations = [each.information[is_told], each.squared_information[is_told]]
        parts.append(Parts(each.n_clusters, squares, *informations))
    names = left_out.value.index
    untold = set(names[~is_told])
    told = [pair for pair in pairs if untold.isdisjoint(pair)]
    rows = np.zeros((len(told), len(names)))
    for row, (one, other) in zip(rows, told, strict=True):
        row[names == one] += 1
        row[names == other] -= 1
    contrasts = pd.DataFrame(rows[:, is_told], pd.MultiIndex.from_tuples(told))
    return LeftOut(left_out.value[is_told], tuple(parts)).contrast(contrasts)


def _means(
    study: Study, left_out: LeftOut, names: list, *, is_rising: bool
) -> pd.DataFrame:
    """Mean of each system, and the mean with raters held equal, the best first."""
    sums = study.over_parts(
        lambda part: part.groupby("system_id", observed=True)[study.outcome].sum()
    )
    counts = study.counts.systems
    mean = pd.concat(sums).groupby(level=0, observed=True).sum() / counts
    differences = left_out.value.reindex(names).fillna(0.0)
    overall = np.average(mean[names], weights=counts[names])
    adjusted = overall + differences
    adjusted -= np.average(differences, weights=counts[names])
    means = pd.DataFrame({"ratings": counts, "mean": mean, "adjusted": adjusted})
    order = means["adjusted"].sort_values(ascending=is_rising, kind="stable").index
    return means.loc[order]
