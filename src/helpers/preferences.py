"""Preferences in pairs: Bradley–Terry strengths with ties as half a win for both.

Two systems can be compared if each is connected to the other by a chain of wins, in
which a tie counts for both, and if that holds without any one rater or prompt as well.
Systems that are so connected form a component; a system alone, such as one that always
won, has a win rate only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from helpers import intervals, regression
from helpers.data.tables import OptionError
from helpers.intervals import Estimates

FIRST = "shown first"
SECOND = "shown second"
WON = "first won"
LONGER = "longer"
FEWEST_IN_EITHER_ORDER = 10  # clusters
MOST_NAMED = 12


def comparisons(
    frame: pd.DataFrame,
    a: str,
    b: str,
    winner: str,
    clusters: Sequence[str],
    *,
    ties: Sequence = ("tie",),
    says: tuple | None = None,
    length: tuple[str, str] | None = None,
) -> pd.DataFrame:
    """Set out comparisons as who was shown first, second, and whether the first won.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per comparison.
    a, b : str
        Columns of the system shown first and of that shown second.
    winner : str
        Column of the name of the system that won, or one of `ties`.
    clusters : sequence of str
        Columns to keep.
    ties : sequence, optional
        Values of `winner` that mean a tie.
    says : tuple of two values, optional
        What `winner` says if the first won and if the second won, in place of names.
    length : tuple of two str, optional
        Columns of the lengths of the first and of the second text.

    Returns
    -------
    pandas.DataFrame
        The clusters, ``shown first``, ``shown second``, ``first won`` (1, 0, or 0.5 for
        a tie) and, with lengths, ``longer``: the first minus the second. Rows with a
        missing value are left out.

    Raises
    ------
    OptionError
        If a winner is neither system nor a tie, or a system is compared with itself.

    Examples
    --------
    >>> frame = pd.DataFrame({"left": ["elm", "oak"], "right": ["oak", "elm"],
    ...                       "best": ["tie", "elm"], "prompt_id": [1, 2]})
    >>> comparisons(frame, "left", "right", "best", ["prompt_id"])
       prompt_id shown first shown second  first won
    0          1         elm          oak        0.5
    1          2         oak          elm        0.0
    """
    intervals.check_columns(frame, [a, b, winner, *clusters])
    if length is not None:
        intervals.check_numeric(frame, list(length))
    needed = list(dict.fromkeys([a, b, winner, *clusters, *(length or ())]))
    rows = frame[needed].dropna()
    if rows.empty:
        raise OptionError(
            f"no row has a value in each of {', '.join(needed)}: check the columns"
        )
    first = rows[a].astype(object)
    second = rows[b].astype(object)
    result = rows[winner].astype(object)
    is_itself = first == second
    if is_itself.any():
        raise OptionError(
            f"{is_itself.sum()} rows compare a system with itself, first row "
            f"{is_itself.idxmax()} with {first[is_itself].iloc[0]!r}: leave them out"
        )
    of_first, of_second = (first, second) if says is None else says
    first_won = result == of_first
    second_won = result == of_second
    is_tie = result.isin(list(ties))
    _check_winners(result, first_won, second_won, is_tie, (a, b), says, ties)
    table = rows[list(clusters)].copy()
    table[FIRST] = first
    table[SECOND] = second
    table[WON] = first_won + 0.5 * is_tie
    if length is not None:
        table[LONGER] = rows[length[0]].astype(float) - rows[length[1]].astype(float)
    return table


def _check_winners(
    result: pd.Series,
    first_won: pd.Series,
    second_won: pd.Series,
    is_tie: pd.Series,
    systems: tuple[str, str],
    says: tuple | None,
    ties: Sequence,
) -> None:
    """Refuse winners that are neither system nor a tie, or more than one of these."""
    n_meanings = first_won.astype(int) + second_won + is_tie
    wrong = n_meanings != 1
    if not wrong.any():
        return
    row = wrong.idxmax()
    value = result[wrong].iloc[0]
    expected = f"the name in column {systems[0]!r} or {systems[1]!r}"
    if says is not None:
        expected = f"{says[0]!r} or {says[1]!r}"
    known = ", ".join(repr(label) for label in ties)
    tied = f", or for a tie one of {known}" if known else ""
    raise OptionError(
        f"column {result.name!r} has {wrong.sum()} values that are not clear, first "
        f"{value!r} in row {row}: each should be {expected}{tied}; give the "
        "words with says=(first, second) and ties=[...], or --says and --ties"
    )


# Who can be compared -------------------------------------------------------------


def components(rows: pd.DataFrame, clusters: Sequence[str]) -> pd.Series:
    """Number the components of systems that can be compared, the largest first.

    Parameters
    ----------
    rows : pandas.DataFrame
        As from `comparisons`.
    clusters : sequence of str
        Columns of which each single cluster is left out.

    Returns
    -------
    pandas.Series of Int64
        By system in sorted order: its component, or missing if it is alone.

    Examples
    --------
    >>> rows = pd.DataFrame({"shown first": ["elm", "oak", "elm"] * 2,
    ...                      "shown second": ["oak", "elm", "fir"] * 2,
    ...                      "first won": 1, "prompt_id": [1, 1, 1, 2, 2, 2]})
    >>> components(rows, ["prompt_id"]).tolist()
    [1, <NA>, 1]
    """
    wins = rows[rows[WON] > 0]
    losses = rows[rows[WON] < 1]
    keys = list(clusters)
    edges = pd.DataFrame(
        {
            "better": pd.concat([wins[FIRST], losses[SECOND]]),
            "worse": pd.concat([wins[SECOND], losses[FIRST]]),
        }
    )
    labels = pd.concat([wins[keys], losses[keys]])
    edges = pd.concat([edges, labels.set_axis(range(len(keys)), axis=1)], axis=1)
    systems = sorted(set(rows[FIRST]) | set(rows[SECOND]))
    parts = _robust_parts(edges, systems)
    parts = sorted((part for part in parts if len(part) > 1), key=len, reverse=True)
    number = pd.Series(pd.NA, index=pd.Index(systems, name="system"), dtype="Int64")
    for position, part in enumerate(parts):
        number[part] = position + 1
    return number


def _robust_parts(edges: pd.DataFrame, systems: list) -> list[list]:
    """Split systems until each part is strongly connected without any one cluster."""
    if len(systems) < 2:
        return [systems]
    is_inside = edges["better"].isin(systems) & edges["worse"].isin(systems)
    edges = edges[is_inside]
    distinct = edges[["better", "worse"]].drop_duplicates()
    labels = [_strong_components(distinct, systems)]
    for column in edges.columns[2:]:
        of_edges = edges.groupby(["better", "worse"])[column].agg(["nunique", "first"])
        # without other clusters no edge is lost
        lost = of_edges[of_edges["nunique"] == 1]
        for cluster in lost["first"].unique():
            is_left = (of_edges["nunique"] > 1) | (of_edges["first"] != cluster)
            left = of_edges[is_left].index.to_frame(index=False)
            labels.append(_strong_components(left, systems))
    together = pd.Series(systems).groupby(labels).agg(list)
    if len(together) == 1:
        return [systems]
    return [part for each in together for part in _robust_parts(edges, each)]


def _strong_components(edges: pd.DataFrame, systems: list) -> np.ndarray:
    """Number the strongly connected components of a graph."""
    index = pd.Index(systems)
    better = index.get_indexer(edges["better"])
    worse = index.get_indexer(edges["worse"])
    shape = (len(systems), len(systems))
    graph = coo_array((np.ones(len(edges)), (better, worse)), shape)
    return connected_components(graph.tocsr(), connection="strong")[1]


# Strengths -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Strengths:
    """Bradley–Terry strengths.

    Parameters
    ----------
    systems : Estimates or None
        Log-odds against a system of average strength in the component; None if nobody
        can be compared.
    covariates : Estimates or None
        Log-odds of the first shown, and of a text that is longer by one standard
        deviation, between equal systems.
    component : pandas.Series of Int64
        By system, see `components`.
    length_unit : float
        Standard deviation of the differences in length; NaN without lengths.
    notes : list of str
        What could not be estimated, and why.
    """

    systems: Estimates | None
    covariates: Estimates | None
    component: pd.Series
    length_unit: float
    notes: list[str]


def bradley_terry(rows: pd.DataFrame, clusters: Sequence[str]) -> Strengths:
    """Fit Bradley–Terry strengths with ties as half a win for both.

    Who is shown first is held equal where pairs are shown in both orders, and the
    difference in length where it is given.

    Parameters
    ----------
    rows : pandas.DataFrame
        As from `comparisons`. No row is left out as a repetition.
    clusters : sequence of str
        One or two columns, which are left out for the variances, see
        `helpers.regression.logistic`. A comparison that is shown in both orders belongs
        to one prompt, and so to one cluster.

    Returns
    -------
    Strengths

    Raises
    ------
    OptionError
        If the clusters cannot be used, or side or length predict every winner.

    References
    ----------
    Bradley and Terry (1952); Ford (1957), for strong connection.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = pd.DataFrame({"shown first": "elm", "shown second": "oak",
    ...                      "first won": [1, 1, 0, 0.5] * 5,
    ...                      "prompt_id": np.arange(20) // 2})
    >>> bradley_terry(rows, ["prompt_id"]).systems.value.round(3)
    elm    0.255
    oak   -0.255
    dtype: float64
    """
    clusters = list(clusters)
    intervals.check_clusters(rows, clusters)
    component = components(rows, clusters)
    of_first = rows[FIRST].map(component)
    is_used = (of_first == rows[SECOND].map(component)).fillna(False).astype(bool)
    used = rows[is_used]
    notes = _notes_on_components(component)
    if used.empty:
        return Strengths(None, None, component, np.nan, notes)
    side_note = _order_problem(used, clusters)
    decided = used.loc[used[WON] != 0.5, WON]
    if side_note is None and len(decided) == len(used) and len(decided.unique()) == 1:
        how = "won" if decided.iloc[0] == 1 else "lost"
        raise OptionError(
            f"the system shown first {how} all {len(used)} comparisons, whichever it "
            "was: nothing is known about the systems; check that the winners are right"
        )
    features = used[clusters].copy()
    features[WON] = used[WON]
    members = []
    for number in sorted(component.dropna().unique()):
        systems = component.index[(component == number).fillna(False)].tolist()
        members.append(systems)
        # the last one has strength 0 for now
        for system in systems[:-1]:
            won = (used[FIRST] == system).astype(float)
            features[_strength(system)] = won - (used[SECOND] == system)
    covariates = []
    length_unit = np.nan
    if side_note is None:
        covariates.append(FIRST)
        features[FIRST] = 1.0
    else:
        notes.append(side_note)
    if LONGER in used:
        length_unit = float(used[LONGER].std())
        if length_unit > 0:
            covariates.append(LONGER)
            features[LONGER] = used[LONGER] / length_unit
        else:
            notes.append("length is not held equal, since all differences are the same")
    names = [name for name in features if name not in (*clusters, WON)]
    fitted = regression.logistic(features, names, WON, clusters)
    of_systems = fitted.contrast(_centred(members, names))
    of_covariates = None
    if covariates:
        identity = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
        of_covariates = fitted.contrast(identity.loc[covariates])
    return Strengths(of_systems, of_covariates, component, length_unit, notes)


def _strength(system: object) -> str:
    """Name the feature of a system."""
    return f"strength of {system}"


def _centred(members: list[list], names: list[str]) -> pd.DataFrame:
    """Contrasts that subtract the mean strength of each component."""
    systems = [system for each in members for system in each]
    weights = pd.DataFrame(0.0, index=systems, columns=names)
    for each in members:
        for system in each[:-1]:
            weights.loc[each, _strength(system)] -= 1 / len(each)
            weights.loc[system, _strength(system)] += 1.0
    return weights


def _order_problem(rows: pd.DataFrame, clusters: list[str]) -> str | None:
    """Say why who is shown first cannot be held equal; None if it can."""
    is_ordered = rows[FIRST].astype(str) < rows[SECOND].astype(str)
    low = rows[FIRST].where(is_ordered, rows[SECOND])
    high = rows[SECOND].where(is_ordered, rows[FIRST])
    share = is_ordered.groupby([low, high]).transform("mean")
    is_rarer = is_ordered.where(share <= 0.5, ~is_ordered)
    if not is_rarer.any():
        return (
            "each pair is shown in one order only, so that a preference for the first "
            "shown cannot be told from one for the system"
        )
    n_clusters = rows.loc[is_rarer, clusters].nunique().max()
    if n_clusters < FEWEST_IN_EITHER_ORDER:
        return (
            f"who is shown first is not held equal: {n_clusters} clusters have a pair "
            f"in its rarer order, fewer than {FEWEST_IN_EITHER_ORDER}"
        )
    return None


def _notes_on_components(component: pd.Series) -> list[str]:
    """Name the components, if there are several, and who is alone."""
    notes = []
    numbers = sorted(component.dropna().unique())
    if len(numbers) > 1:
        parts = []
        for number in numbers:
            systems = component.index[(component == number).fillna(False)]
            parts.append(_named(systems))
        notes.append(
            "nothing is estimated between groups of systems that no chain of wins "
            "connects both ways without some one rater or prompt: " + "; ".join(parts)
        )
    alone = component.index[component.isna()]
    if len(alone):
        notes.append(
            f"a win rate only, since wins and losses do not connect them to others "
            f"without some one rater or prompt: {_named(alone)}"
        )
    return notes


def _named(systems: pd.Index) -> str:
    """List names, of many the first."""
    names = [str(system) for system in systems[:MOST_NAMED]]
    rest = len(systems) - len(names)
    return ", ".join(names) + (f" and {rest} others" if rest else "")


def as_results(rows: pd.DataFrame) -> pd.DataFrame:
    """Two rows for each comparison: each system, and whether it won."""
    other = [FIRST, SECOND, WON, LONGER]
    keys = rows[[column for column in rows if column not in other]]
    of_first = keys.assign(system=rows[FIRST], won=rows[WON])
    of_second = keys.assign(system=rows[SECOND], won=1 - rows[WON])
    return pd.concat([of_first, of_second], ignore_index=True)
