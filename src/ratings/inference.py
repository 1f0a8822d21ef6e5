"""What ratings of any study say: weights by several methods, agreement, a confounder.

Each function returns a table, most with one row per aspect, or one that says why there
is none. Weights are in points of the outcome, from the lowest to the highest mark of an
aspect.

The conclusions, one row per aspect, are made by `conclude(study, rng)`:

- ``alone``, ``alone low``, ``alone high``: slope on this aspect only; ``weight``,
``low`` and
  ``high``: the same with all other aspects held equal; ``p`` of the weight, ``p Holm``
  corrected for the number of aspects judged. NaN where there is no number to give.
- ``informative clusters``: clusters of items with another mark than the usual one.
- ``scope``: ``"raters and items like these"`` if five raters or more vary in the
aspect: then
  intervals allow for other raters and other items, each rater is compared with himself
  or herself, and t has the smaller effective number of clusters less one as degrees of
  freedom. Otherwise ``"these raters"``: intervals allow for other items only.
- ``verdict``, the first that applies of: ``"left out"`` (constant, mostly missing),
``"scale not
  settled"`` (values far outside, and no scale declared), ``"computed from others"``
  (the outcome is a sum of aspects), ``"not told apart"`` (collinear aspects, or more
  aspects than the ratings can tell), ``"not known"`` (fewer than ten informative
  clusters), ``"depends on choices"`` (two ways to compute the weight disagree, or
  leaving out doubtful ratings turns it), ``"hardly any link"`` (alone and others held
  equal, the interval is within a tenth of the outcome's scale), ``"hardly anything of
  its own"`` (the same with others held equal; alone there may be more), ``"higher"``
  and ``"lower"`` (p Holm < 0.05), else ``"not known"``.
- ``because``: why, in plain words, with the numbers.

`ways(study, rng)` gives the tables behind "depends on choices"; `rank_aspects(study,
n_draws, rng)` the share of redrawn weights in which each aspect weighs most. `Study`
(in `ratings.intake`) knows what the ratings cannot tell; `ratings.raters` what is odd
about raters and rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pandas as pd

from helpers.stats import bootstrap, ordinal
from helpers.stats.agreement import agreement_table
from helpers.stats.clustered import covariance
from helpers.stats.moments import cluster_sums
from ratings import raters
from ratings.intake import (
    FEW_MARKS,
    FEWEST_ROWS,
    MOST_ROWS,
    ROWS_PER_ASPECT,
    SETTLE,
    Study,
    join_clusters,
    some_items,
)

# clusters in which an aspect has another mark than the usual one
FEWEST_INFORMATIVE = 10
OTHERS, THESE = "raters and items like these", "these raters"
PARTS = ["estimate", "low", "high", "p_value"]
SMALL = 0.1  # of the length of the outcome's scale: less is hardly any link
SIGNIFICANT = 0.05  # after Holm's correction
COEFFICIENTS = {
    **{"AC1": "ac1", "AC1 low": "ac1_low", "AC1 high": "ac1_high"},
    **{"estimate": "alpha", "low": "alpha_low", "high": "alpha_high"},
}
ROWS_PER_NUMBER = 10  # that an ordinal model needs for each number it estimates
MOST_ORDERED = 60  # aspects in an ordinal model
MOST_LABELS = 30  # of a covariate without numbers


def not_done(reason: str) -> pd.DataFrame:
    """Say in place of a table why there is none."""
    return pd.DataFrame({"not done": [reason]}, index=["because"])


def conclude(study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """Judge whether each aspect goes with the outcome, alone and with the others held equal.

    Parameters
    ----------
    study : Study
        Ratings.
    rng : numpy.random.Generator
        Draws ratings for the model of ordered marks, where there are very many.

    Returns
    -------
    pandas.DataFrame
        A row per aspect, those left out last, with the columns described at the top of
        this module.

    References
    ----------
    MacKinnon, Nielsen and Webb (2023), Cluster-robust inference: A guide to empirical
    practice.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> rows = np.arange(60)
    >>> table = pd.DataFrame({"item_id": rows, "prompt_id": rows, "tone": 1.0 + rows % 3,
    ...                       "overall": 1.0 + (rows % 3 + rows % 5 // 3)})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> conclude(study, np.random.default_rng(0))[["weight", "p Holm", "scope", "verdict"]].round(2)
          weight  p Holm         scope verdict
    tone     2.0     0.0  these raters  higher
    """
    found = numbers(study)
    methods = ways(study, rng) if found["weight"].notna().any() else {}
    without = {name: numbers(part) for name, part in _without_doubtful(study).items()}
    words = {
        aspect: _judge(study, aspect, found, methods, without)
        for aspect in study.aspects
    }
    words |= {aspect: _cannot(study, aspect) for aspect in study.left_out}
    verdicts = pd.DataFrame.from_dict(words, "index", columns=["verdict", "because"])
    return found.reindex(verdicts.index).join(verdicts)


def numbers(study: Study) -> pd.DataFrame:
    """Compute all columns of the conclusions but the words.

    Parameters
    ----------
    study : Study
        Ratings.

    Returns
    -------
    pandas.DataFrame
        A row per analysed aspect, with the columns described at the top of this module
        up to ``scope``.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> rows = np.arange(60)
    >>> table = pd.DataFrame({"item_id": rows, "prompt_id": rows, "tone": 1.0 + rows % 3,
    ...                       "overall": 1.0 + (rows % 3 + rows % 5 // 3)})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> numbers(study)[["weight", "low", "high"]].round(2)
          weight   low  high
    tone     2.0  1.68  2.32
    """
    n_clusters = study.informative("cluster")
    alone, joint = _fit(study, alone=True), _fit(study)
    if study.too_many:
        joint[:] = np.nan
    table = pd.concat([alone[PARTS[:3]], joint], axis="columns")
    table.columns = ["alone", "alone low", "alone high", "weight", "low", "high", "p"]
    judged = _is_judged(study, n_clusters) & table["p"].notna()
    table["p Holm"] = np.nan
    if judged.any():
        table.loc[judged, "p Holm"] = bootstrap.adjust(table.loc[judged, "p"])
    scope = np.where(study.for_others, OTHERS, THESE)
    return table.assign(**{"informative clusters": n_clusters, "scope": scope})


def _is_judged(study: Study, n_clusters: np.ndarray) -> np.ndarray:
    """Tell which aspects the ratings can say something about."""
    apart = {*study.unsettled, *chain.from_iterable(study.groups)}
    is_apart = np.array([aspect in apart for aspect in study.aspects])
    return (n_clusters >= FEWEST_INFORMATIVE) & ~is_apart


def _fit(study: Study, alone: bool = False, within: bool | None = None) -> pd.DataFrame:
    """Slopes, ends of their intervals and p-values, for raters and items or for items only."""
    found, table = (
        study.slopes(alone, within),
        pd.DataFrame(np.nan, study.aspects, PARTS),
    )
    is_wide = study.for_others[table.index.get_indexer(found.value.index)]
    for chosen, shared in ((~is_wide, ["cluster"]), (is_wide, ["rater", "cluster"])):
        if chosen.any():
            numbers = found.table(study.frame[shared])
            table.loc[numbers.index[chosen]] = numbers.loc[chosen, PARTS]
    return table


def ways(study: Study, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Weights with all others held equal, by the method of the conclusions and by others.

    Parameters
    ----------
    study : Study
        Ratings.
    rng : numpy.random.Generator
        Draws ratings for the model of ordered marks, where there are very many.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``estimate``, ``low`` and ``high`` by aspect: first the way of the conclusions,
        ``"within raters"`` or ``"all ratings"``; then those of ``"all ratings"``,
        ``"items averaged"`` and ``"ordered marks"`` that the ratings allow.
    """
    kinds = {"within raters": True} if study.is_within else {}
    kinds |= {"all ratings": False}
    tables = {name: _fit(study, within=each) for name, each in kinds.items()}
    items = study.items_averaged()
    if ROWS_PER_ASPECT * len(study.aspects) <= len(items.frame) < len(study.frame):
        tables["items averaged"] = _fit(items)
    ordered = ordered_marks(study, rng)
    return tables if "estimate" not in ordered else tables | {"ordered marks": ordered}


def _without_doubtful(study: Study) -> dict[str, Study]:
    """The study without each kind of doubtful ratings."""
    parts = {name: study.frame[~rows] for name, rows in raters.doubtful(study).items()}
    return {
        name: replace(study, frame=frame)
        for name, frame in parts.items()
        if frame["cluster"].nunique() >= FEWEST_INFORMATIVE
        and np.ptp(frame[study.outcome]) > 0
    }


def _judge(
    study: Study,
    aspect: str,
    found: pd.DataFrame,
    methods: Mapping[str, pd.DataFrame],
    without: Mapping[str, pd.DataFrame],
) -> tuple[str, str]:
    """Verdict on one aspect, and why."""
    if reason := _cannot(study, aspect):
        return reason
    row = found.loc[aspect]
    if np.isnan(row["p Holm"]):
        count = f"another mark than the usual one in {row['informative clusters']:.0f} clusters"
        return "not known", f"{count}; at least {FEWEST_INFORMATIVE} are needed"
    small = _small(study)
    disagree = _contradiction(
        {name: table.loc[aspect] for name, table in methods.items()}, small
    )
    disagree = disagree or _turned(
        row, {name: each.loc[aspect] for name, each in without.items()}
    )
    if disagree:
        return "depends on choices", disagree
    alone, joint = (
        row[["alone", "alone low", "alone high"]],
        row[["weight", "low", "high"]],
    )
    numbers = f"others held equal {_points(*joint)} points of {study.outcome}"
    numbers += f"; alone {_points(*alone)}"
    if _kind(*joint.iloc[1:], small) == "small":
        is_small = _kind(*alone.iloc[1:], small) == "small"
        return "hardly any link" if is_small else "hardly anything of its own", numbers
    if _side(row):
        return {1: "higher", -1: "lower"}[_side(row)], numbers
    unscaled = f"; {study.outcome} has no declared scale, so nothing counts as small"
    return "not known", f"{numbers}: too wide to tell{'' if small else unscaled}"


def _cannot(study: Study, aspect: str) -> tuple[str, str] | None:
    """Verdict on an aspect of which the ratings cannot tell anything."""
    for column in (study.outcome, aspect):
        if column in study.unsettled:
            return "scale not settled", f"{column}: {study.unsettled[column]}; {SETTLE}"
    if study.too_many:
        return "not told apart", study.too_many
    for group in study.groups:
        if aspect in group:
            others = ", ".join(name for name in group if name != aspect)
            return "not told apart", f"moves together with {others}"
    if aspect in study.left_out:
        return "left out", study.left_out[aspect]
    if study.identity:
        return (
            "computed from others",
            f"{study.identity}: weights are arithmetic, not a finding",
        )
    return None


def _small(study: Study) -> float:
    """Largest weight that counts as hardly any; 0 if the outcome's scale is not known."""
    ends = study.ends.loc[study.outcome]
    return 0.0 if ends["told"] == "not known" else SMALL * (ends["high"] - ends["low"])


def _kind(low: float, high: float, small: float) -> str:
    """What an interval says: small, up, down, or nothing."""
    if -small < low and high < small:
        return "small"
    return "up" if low > 0 else "down" if high < 0 else ""


def _contradiction(rows: Mapping[str, pd.Series], small: float) -> str:
    """Two ways that disagree, in words.

    Two ways disagree if they say different things (a side of zero, or hardly anything)
    and neither estimate lies in the interval of the other: the same ratings would
    hardly give both by chance.
    """
    said = {
        name: row for name, row in rows.items() if _kind(row["low"], row["high"], small)
    }
    for one, other in combinations(said, 2):
        pair = said[one], said[other]
        kinds = {_kind(row["low"], row["high"], small) for row in pair}
        if len(kinds) == 2 and not (_holds(*pair) or _holds(*pair[::-1])):
            return "; ".join(
                f"{_points(*said[name][PARTS[:3]])} {name}" for name in (one, other)
            )
    return ""


def _holds(row: pd.Series, other: pd.Series) -> bool:
    """Tell whether an interval holds the estimate of another."""
    return row["low"] <= other["estimate"] <= row["high"]


def _turned(row: pd.Series, without: Mapping[str, pd.Series]) -> str:
    """Doubtful ratings without which another thing would be concluded, in words.

    A weight that moves by less than half its standard error has not turned.
    """
    if _side(row) and np.sign(row["alone low"]) == np.sign(row["alone high"]) == -_side(
        row
    ):
        return f"alone {_points(*row[:3])}, others held equal {_points(*row[3:6])}"
    error = (row["high"] - row["low"]) / 4
    for name, other in without.items():
        if (
            _side(other) != _side(row)
            and abs(other["weight"] - row["weight"]) > error / 2
        ):
            return f"{_points(*row[3:6])} of all ratings, {_points(*other[3:6])} without {name}"
    return ""


def _side(row: pd.Series) -> int:
    """Sign of a weight that is told from zero, 0 if it is not."""
    return int(np.sign(row["weight"])) if row["p Holm"] < SIGNIFICANT else 0


def _points(estimate: float, low: float, high: float) -> str:
    """Write an estimate with its interval."""
    return f"{estimate:+.2f} [{low:.2f}, {high:.2f}]".replace("-", "−")


def rank_aspects(study: Study, n_draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Tell in how many of many redrawn sets of weights each aspect weighs most.

    Weights are redrawn together, from a t distribution with the covariance that the
    intervals have, so that other raters and other items are allowed for.

    Parameters
    ----------
    study : Study
        Ratings.
    n_draws : int
        Number of sets.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        A row per aspect, heaviest first: ``weight``, and ``weighs most, %``. Or
        `not_done`.

    References
    ----------
    Goldstein and Spiegelhalter (1996), League Tables and Their Limitations.
    """
    if study.too_many or study.identity or study.outcome in study.unsettled:
        return not_done("the ratings do not tell the weights of single aspects")
    found, clusters = study.slopes(), study.frame[study.shared]
    judged = np.array(study.aspects)[_is_judged(study, study.informative("cluster"))]
    judged = found.value.index.intersection(judged, sort=False)
    if not len(judged):
        return not_done("no aspect can be judged")
    found = found.pick(judged)
    freedom = clusters.nunique().min() - 1
    spread = rng.chisquare(freedom, n_draws) / freedom
    errors = rng.multivariate_normal(
        np.zeros(len(judged)),
        covariance(found.influence, clusters),
        n_draws,
        method="eigh",
    )
    draws = np.abs(found.value.to_numpy() + errors / np.sqrt(spread)[:, None])
    first = np.bincount(draws.argmax(axis=1), minlength=len(judged))
    table = pd.DataFrame(
        {"weight": found.value, "weighs most, %": 100 * first / n_draws}
    )
    return table.sort_values("weight", key=np.abs, ascending=False)


def ordered_marks(study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """Effects by a model that takes the outcome for ordered marks, not for numbers.

    Aspects that tell high from low ratings without exception have no finite effect and
    are left out of the model.

    Parameters
    ----------
    study : Study
        Ratings.
    rng : numpy.random.Generator
        Draws `MOST_ROWS` ratings where there are more.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: effect on the expected outcome in points, see
        `helpers.stats.ordinal.CumulativeLogit.effects`, with intervals clustered by
        cluster and, if there are raters, by rater; empty for an aspect without a finite
        effect. Or `not_done`.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> table = pd.DataFrame({"item_id": range(60), "prompt_id": range(60), "tone": [1.0, 2.0] * 30,
    ...                       "overall": [1.0, 2.0, 2.0] * 20})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> ordered_marks(study, np.random.default_rng(0)).round(2)[["estimate", "low", "high"]]
          estimate   low  high
    tone       0.0 -0.25  0.25
    """
    table, outcome = study.sample(MOST_ROWS, rng).scaled(), study.outcome
    levels = table[outcome].nunique()
    needed = ROWS_PER_NUMBER * (levels + len(study.aspects))
    if levels > FEW_MARKS or (table[outcome] % 1 != 0).any():
        return not_done(f"{outcome} is not one of up to {FEW_MARKS} whole marks")
    if len(table) < needed:
        return not_done(
            f"{len(table)} ratings are too few; at least {needed} are needed"
        )
    if len(study.aspects) > MOST_ORDERED:
        return not_done(f"more than {MOST_ORDERED} aspects take too long")
    features = study.aspects
    while features:
        try:
            effects = ordinal.fit(table, features, outcome).effects(table)
        except ordinal.SeparationError as error:
            features = [feature for feature in features if feature != error.feature]
        except (np.linalg.LinAlgError, ValueError) as error:
            return not_done(f"the model has no solution: {error}")
        else:
            ways = [way for way in ("rater_id", "cluster") if way in table]
            ways = [way for way in ways if table[way].nunique() >= 2]
            return effects.table(table[ways]).reindex(study.aspects)
    return not_done("every aspect tells high from low ratings without exception")


def agreement(
    table: pd.DataFrame, columns: Sequence[str], n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """How far different raters of the same item agree, column by column.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    columns : sequence of str
        Numeric columns.
    n_boot : int
        Number of bootstrap replicates of clusters.
    rng : numpy.random.Generator
        Resamples clusters.

    Returns
    -------
    pandas.DataFrame
        A row per column that varies: number of ``items`` with two ratings or more;
        Krippendorff's alpha (``estimate``, ``low``, ``high``), ordinal for up to
        `FEW_MARKS` marks, otherwise interval; and for the former ``same mark, %``,
        ``AC1``, ``AC1 low`` and ``AC1 high``.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12; Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th edition, chapter 2.

    Examples
    --------
    >>> table = pd.DataFrame({"item_id": [1, 1, 2, 2, 3, 3], "prompt_id": [1, 1, 2, 2, 3, 3],
    ...                       "rater_id": ["a", "b"] * 3, "tone": [1.0, 1, 2, 2, 3, 2]})
    >>> found = agreement(table, ["tone"], 99, np.random.default_rng(0))
    >>> found[["items", "same mark, %", "estimate"]].round(2)
          items  same mark, %  estimate
    tone      3         66.67      0.78
    """
    if "rater_id" not in table:
        return not_done(
            "the file names no raters: two ratings of an item may be by one person"
        )
    if table["rater_id"].nunique() < 2:
        return not_done("all ratings are by one rater")
    table = table[~table.duplicated(["item_id", "rater_id"])]
    table = some_items(table[table.duplicated("item_id", keep=False)], raters.MOST_ROWS)
    if table.empty:
        return not_done("no item was rated by two people")
    spread = (
        table.drop_duplicates(["item_id", "prompt_id"])["item_id"].duplicated().any()
    )
    table = table.assign(
        cluster=join_clusters(table["item_id" if spread else "prompt_id"], rng)
    )
    rows = {
        each: row for each in columns if (row := _agreement(table, each, n_boot, rng))
    }
    if not rows:
        return not_done("too few items were rated by two people")
    return pd.DataFrame.from_dict(rows, orient="index")


def _agreement(
    table: pd.DataFrame, column: str, n_boot: int, rng: np.random.Generator
) -> dict[str, float]:
    """One row of the table of agreement; nothing if there is too little to say."""
    known = table[table[column].notna()]
    known = known[known.duplicated("item_id", keep=False)]
    marks = np.unique(known[column])
    if len(marks) < 2 or known["cluster"].nunique() < 2:
        return {}
    row = {"items": known["item_id"].nunique()}
    if len(marks) > FEW_MARKS:
        return row | _interval_alpha(known, column, n_boot, rng)
    found = agreement_table(
        known, [column], "item_id", "cluster", list(marks), n_boot, rng, level="ordinal"
    ).iloc[0]
    row["same mark, %"] = 100 * found["observed_agreement"]
    return row | {new: found[old] for new, old in COEFFICIENTS.items()}


def _interval_alpha(
    table: pd.DataFrame, column: str, n_boot: int, rng: np.random.Generator
) -> dict[str, float]:
    """Krippendorff's alpha for numbers, from sums: no list of all marks is needed."""
    values = table[column] - table[column].mean()
    variance = values.groupby(table["item_id"], observed=True).transform("var")
    parts = np.column_stack([np.ones(len(values)), values, values**2, variance])
    sums = cluster_sums(parts, table["cluster"])
    weights = bootstrap.cluster_weights(len(sums), n_boot, rng)
    n, total, squares, within = (np.vstack([np.ones(len(sums)), weights]) @ sums).T
    alphas = 1 - (within / n) / ((squares - total**2 / n) / (n - 1))
    low, high = bootstrap.interval(alphas[1:])
    return {"estimate": alphas[0], "low": low, "high": high}


def confounder(study: Study) -> pd.DataFrame:
    """Weights with a covariate held constant, beside those without.

    Numbers are held constant by a straight line, labels by comparing ratings with the
    same label.

    Parameters
    ----------
    study : Study
        Ratings, perhaps with a column ``covariate`` of numbers or labels; ratings
        without it are left out.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: weight ``alone``, ``alone low``, ``alone high``; with the
        covariate held constant ``estimate``, ``low`` and ``high``; ``change`` from the
        first to the second, ``change low``, ``change high`` and ``p, Holm`` of the
        change. Intervals allow for others as those of `conclude` do. Or `not_done`.

    References
    ----------
    MacKinnon (2008), Introduction to Statistical Mediation Analysis, chapter 3.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> words = np.arange(40) % 4
    >>> table = pd.DataFrame({"item_id": range(40), "prompt_id": range(40), "covariate": words,
    ...                       "tone": (words > 1).astype(float), "overall": 1.0 + words})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> confounder(study)[["alone", "change"]].round(6)
          alone  change
    tone    2.0    -2.0
    """
    if "covariate" not in study.frame:
        return not_done("no covariate is named")
    study = replace(study, frame=study.frame.dropna(subset="covariate"))
    held = _held(study.frame["covariate"])
    if held is None or len(study.frame) < FEWEST_ROWS:
        n_values = study.frame["covariate"].nunique()
        return not_done(
            f"the covariate has {n_values:,} values in {len(study.frame):,} ratings; numbers, or 2 "
            f"to {MOST_LABELS} labels, are needed"
        )
    n_clusters, size = (
        study.frame["cluster"].nunique(),
        len(study.aspects) + held.shape[1] + 1,
    )
    if n_clusters <= size:
        return not_done(f"{n_clusters} clusters are too few for {size} numbers")
    more = replace(
        study,
        frame=study.frame.assign(**held),
        aspects=[*study.aspects, *held],
        ends=pd.concat(
            [study.ends, pd.DataFrame({"low": 0.0, "high": 1.0}, held.columns)]
        ),
    )
    names = study.slopes().value.index
    change = more.slopes().pick(names).minus(study.slopes().pick(names))
    tables = [_fit(study), _fit(more)]
    tables.append(change.table(study.frame[study.shared]))
    columns = [
        *("alone", "alone low", "alone high", "estimate", "low", "high"),
        *("change", "change low", "change high"),
    ]
    found = pd.concat(
        [table[PARTS[:3]].reindex(study.aspects) for table in tables], axis="columns"
    )
    p_value = tables[2]["p_value"].reindex(study.aspects).fillna(1.0)
    return found.set_axis(columns, axis="columns").assign(
        **{"p, Holm": bootstrap.adjust(p_value)}
    )


def _held(covariate: pd.Series) -> pd.DataFrame | None:
    """Turn a covariate into numbers to hold constant, if it varies and has not too many labels."""
    if covariate.nunique() < 2:
        return None
    if isinstance(covariate.dtype, pd.CategoricalDtype):
        if covariate.nunique() > MOST_LABELS:
            return None
        labels = covariate.cat.remove_unused_categories()
        held = pd.get_dummies(labels, drop_first=True, dtype=float)
    else:
        held = ((covariate - covariate.mean()) / covariate.std()).to_frame()
    return held.set_axis(
        [f"covariate {number}" for number in range(held.shape[1])], axis="columns"
    )
