"""What ratings of any study say: weights by several methods, agreement, a confounder.

Each function returns a table, most with one row per aspect, or one that says why there
is none. Weights are in points of the outcome, from the lowest to the highest mark of an
aspect.

The conclusions, one row per aspect, are made by `conclude(study, rng)`:

- ``alone``, ``alone low``, ``alone high``: slope on this aspect only; ``weight``,
  ``low`` and ``high``: the same with all other aspects held equal; ``p`` of the weight,
  ``p Holm`` corrected for the number of aspects judged. NaN where there is no number to
  give.
- ``pooled``, ``pooled low``, ``pooled high``: the weight over all ratings, if each
  rater is otherwise compared with himself or herself.
- ``informative clusters``: clusters of items with another mark than the usual one.
- ``scope``: ``"raters and items like these"`` if five raters or more vary in the
  aspect: then intervals allow for other raters and other items, each rater is compared
  with himself or herself, and t has the smaller effective number of clusters less one
  as degrees of freedom. Otherwise ``"these raters"``: intervals allow for other items
  only.
- ``verdict``, the first that applies of: ``"left out"`` (constant, mostly missing),
  ``"scale not settled"`` (values far outside, and no scale declared), ``"computed from
  others"`` (the outcome is a sum of aspects), ``"not told apart"`` (collinear aspects,
  or more aspects than the ratings can tell), ``"not known"`` (fewer than ten
  informative clusters), ``"depends on choices"`` (two ways to compute the weight
  disagree, or leaving out doubtful ratings turns it), ``"hardly any link"`` (alone and
  others held equal, the interval is within a tenth of the outcome's scale), ``"hardly
  anything of its own"`` (the same with others held equal; alone there may be more),
  ``"higher"`` and ``"lower"`` (p Holm < 0.05), else ``"not known"``.
- ``because``: why, in plain words, with the numbers.

`weights_by_method(study, rng)` gives the tables behind "depends on choices";
`rank_aspects(study, n_draws, rng)` the share of redrawn weights in which each aspect
weighs most. `Study` (in `ratings.intake`) knows what the ratings cannot tell;
`ratings.raters` what is odd about raters and rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from helpers.stats import bootstrap, ordinal
from helpers.stats.clustered import Slopes
from ratings import leave_out, raters
from ratings.intake import (
    FEW_MARKS,
    FEWEST_ROWS,
    MOST_ROWS,
    OTHERS,
    ROWS_PER_ASPECT,
    SETTLE,
    THESE,
    Study,
    cleaned,
    join_clusters,
    sample_items,
)

# clusters in which an aspect has another mark than the usual one
FEWEST_INFORMATIVE = 10
# Clusters in which two raters of an item both gave a mark other than the usual one, as
# many as intervals of alpha need. In simulated files with flags on 2 to 20 % of ratings
# they hold the truth in 60 to 86 % where most files have fewer than eight, and in 91 to
# 97 % where most have more.
FEWEST_AGREEING = 10
PARTS = ["estimate", "low", "high", "p_value"]
ENDS = ["estimate", "low", "high"]
ALONE = ["alone", "alone low", "alone high"]
HELD = ["weight", "low", "high"]
POOLED = ["pooled", "pooled low", "pooled high"]
SMALL = 0.1  # of the length of the outcome's scale: less is hardly any link
SIGNIFICANT = 0.05  # after Holm's correction
ROWS_PER_NUMBER = 10  # that an ordinal model needs for each number it estimates
MOST_ORDERED = 60  # aspects in an ordinal model
MOST_LABELS = 30  # of a covariate without numbers
FEWEST_SYSTEMS = 5  # from which others can be told
MOST_SYSTEMS = 60


def not_done(reason: str) -> pd.DataFrame:
    """Say in place of a table why there is none."""
    return pd.DataFrame({"not done": [reason]}, index=["because"])


def conclude(study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """Judge whether each aspect goes with the outcome, alone and others held equal.

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
    >>> marks = {"tone": 1.0 + rows % 3, "overall": 1.0 + (rows % 3 + rows % 5 // 3)}
    >>> table = pd.DataFrame({"item_id": rows, "prompt_id": rows, **marks})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> conclusions = conclude(study, np.random.default_rng(0))
    >>> conclusions[["weight", "p Holm", "scope", "verdict"]].round(2)
          weight  p Holm         scope verdict
    tone     2.0     0.0  these raters  higher
    """
    table = estimates(study)
    methods = {}
    if table["weight"].notna().any():
        methods = weights_by_method(study, rng)
    without = {}
    for kind, rest in _without_doubtful(study).items():
        without[kind] = estimates(rest)
    verdicts = {}
    for aspect in study.aspects:
        verdicts[aspect] = judge(study, aspect, table, methods, without)
    for aspect in study.left_out:
        verdicts[aspect] = _why_not_judged(study, aspect)
    columns = ["verdict", "because"]
    words = pd.DataFrame.from_dict(verdicts, "index", columns=columns)
    return table.reindex(words.index).join(words)


def estimates(study: Study) -> pd.DataFrame:
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
    >>> marks = {"tone": 1.0 + rows % 3, "overall": 1.0 + (rows % 3 + rows % 5 // 3)}
    >>> table = pd.DataFrame({"item_id": rows, "prompt_id": rows, **marks})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> estimates(study)[["weight", "low", "high"]].round(2)
          weight   low  high
    tone     2.0  1.68  2.32
    """
    alone = _fit(study, alone=True)
    held = _fit(study)
    if study.too_many:
        held[:] = np.nan
    table = pd.concat([alone[ENDS], held], axis="columns")
    table.columns = [*ALONE, *HELD, "p"]
    pooled = _fit(study, within=False)
    if study.too_many or not study.is_within:
        pooled[:] = np.nan
    table[POOLED] = pooled[ENDS]
    n_informative = study.informative("cluster")
    is_judged = _is_judged(study, n_informative) & table["p"].notna()
    table["p Holm"] = np.nan
    if is_judged.any():
        p_values = table.loc[is_judged, "p"]
        table.loc[is_judged, "p Holm"] = bootstrap.adjust(p_values)
    table["informative clusters"] = n_informative
    table["scope"] = np.where(study.for_others, OTHERS, THESE)
    return table


def _is_judged(study: Study, n_informative: np.ndarray) -> np.ndarray:
    """Tell which aspects the ratings can say something about."""
    not_judged = set(study.unsettled)
    for group in study.collinear:
        not_judged.update(group)
    is_sound = [aspect not in not_judged for aspect in study.aspects]
    return (n_informative >= FEWEST_INFORMATIVE) & np.array(is_sound)


def _fit(study: Study, alone: bool = False, within: bool | None = None) -> pd.DataFrame:
    """Slopes with intervals and p-values, a row per aspect.

    They allow for other raters and items if enough raters vary in the aspect, else for
    other items only.
    """
    if within is None:
        within = study.is_within
    name = ("fit", alone, within)
    if name not in study.kept:
        errors = _errors(study, study.slopes(alone, within))
        study.kept[name] = errors[PARTS].reindex(study.aspects)
    return study.kept[name].copy()


def _errors(study: Study, slopes: Slopes) -> pd.DataFrame:
    """Slopes with their standard errors and degrees of freedom, by one rule for all.

    Those of an aspect in which enough raters vary allow for other raters and items, the
    others for other items only.
    """
    names = slopes.value.index
    aspects = pd.Index(study.aspects)
    for_others = study.for_others[aspects.get_indexer(names)]
    if for_others.all():
        return slopes.table(study.members)
    *_, by_cluster = study.members[:2]  # by raters first, if they have names
    table = slopes.table([by_cluster])
    if for_others.any():
        by_both = slopes.table(study.members)
        table.loc[names[for_others]] = by_both.loc[names[for_others]]
    return table


def weights_by_method(
    study: Study, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Weights with all others held equal, by the method of the conclusions and others.

    Parameters
    ----------
    study : Study
        Ratings.
    rng : numpy.random.Generator
        Draws ratings for the model of ordered marks, where there are very many.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``estimate``, ``low`` and ``high`` by aspect: first as in the conclusions,
        ``"within raters"`` or ``"all ratings"``; then those of ``"all ratings"``,
        ``"items averaged"`` and ``"ordered marks"`` that the ratings allow.
    """
    tables = {}
    if study.is_within:
        tables["within raters"] = _fit(study, within=True)
    tables["all ratings"] = _fit(study, within=False)
    items = study.items_averaged()
    has_items = len(items.frame) >= ROWS_PER_ASPECT * len(study.aspects)
    if has_items and len(items.frame) < len(study.frame):
        tables["items averaged"] = _fit(items)
    ordered = ordered_marks(study, rng)
    if "estimate" in ordered:
        tables["ordered marks"] = ordered
    return tables


def _without_doubtful(study: Study) -> dict[str, Study]:
    """The study without each kind of doubtful ratings, if enough are left."""
    studies = {}
    for kind, is_doubtful in raters.doubtful(study).items():
        rest = study.frame[~is_doubtful]
        has_clusters = rest["cluster"].nunique() >= FEWEST_INFORMATIVE
        if has_clusters and np.ptp(rest[study.outcome]) > 0:
            studies[kind] = replace(study, frame=rest)
    return studies


def judge(
    study: Study,
    aspect: str,
    table: pd.DataFrame,
    methods: Mapping[str, pd.DataFrame],
    without: Mapping[str, pd.DataFrame],
) -> tuple[str, str]:
    """Verdict on one aspect, and why."""
    not_judged = _why_not_judged(study, aspect)
    if not_judged:
        return not_judged
    row = table.loc[aspect]
    # aspects that vary in too few clusters got no p-value: see `_is_judged`
    varies_too_rarely = np.isnan(row["p Holm"])
    if varies_too_rarely:
        number = row["informative clusters"]
        n_clusters = f"{number:.0f} cluster{'' if number == 1 else 's'}"
        marks = f"another mark than the usual one in {n_clusters}"
        return "not known", f"{marks}; at least {FEWEST_INFORMATIVE} are needed"
    small = _small(study)
    by_method = {name: weights.loc[aspect] for name, weights in methods.items()}
    of_rest = {kind: rest.loc[aspect] for kind, rest in without.items()}
    disagreement = (
        _contradiction(by_method, small)
        or _turned_by_others(row)
        or _turned_by_doubtful(row, of_rest)
    )
    if disagreement:
        return "depends on choices", disagreement
    unit = "points of"
    held = _points(row[HELD])
    alone = _points(row[ALONE])
    if study.is_yes_no:
        unit = "percentage points of"
        held = _points(100 * row[HELD], 1)
        alone = _points(100 * row[ALONE], 1)
    because = f"others held equal {held} {unit} {study.outcome}; alone {alone}"
    if _is_small(row["low"], row["high"], small):
        if _is_small(row["alone low"], row["alone high"], small):
            return "hardly any link", because
        return "hardly anything of its own", because
    side = _side(row)
    if side > 0:
        return "higher", because
    if side < 0:
        return "lower", because
    because = f"{because}: too wide to tell"
    if not small:
        unscaled = f"{study.outcome} has no declared scale, so nothing counts as small"
        because = f"{because}; {unscaled}"
    return "not known", because


def _why_not_judged(study: Study, aspect: str) -> tuple[str, str] | None:
    """Verdict on an aspect of which the ratings cannot tell anything."""
    for column in (study.outcome, aspect):
        if column in study.unsettled:
            return "scale not settled", f"{column}: {study.unsettled[column]}; {SETTLE}"
    if study.too_many:
        return "not told apart", study.too_many
    for group in study.collinear:
        if aspect in group:
            others = ", ".join(name for name in group if name != aspect)
            return "not told apart", f"moves together with {others}"
    if aspect in study.left_out:
        return "left out", study.left_out[aspect]
    if study.identity:
        because = f"{study.identity}: weights are arithmetic, not a finding"
        return "computed from others", because
    return None


def _small(study: Study) -> float:
    """Largest weight that counts as hardly any; 0 if the scale is not known."""
    ends = study.ends.loc[study.outcome]
    if ends["known"] == "not known":
        return 0.0
    return SMALL * (ends["high"] - ends["low"])


def _is_small(low: float, high: float, small: float) -> bool:
    """Tell whether a whole interval counts as hardly any."""
    return -small < low and high < small


def _statement(low: float, high: float, small: float) -> str:
    """What an interval says: small, up, down, or nothing."""
    if _is_small(low, high, small):
        return "small"
    if low > 0:
        return "up"
    if high < 0:
        return "down"
    return ""


def _contradiction(rows: Mapping[str, pd.Series], small: float) -> str:
    """Two methods that disagree, in words.

    Two methods disagree if they say different things (a side of zero, or hardly
    anything) and neither estimate lies in the interval of the other: the same ratings
    would hardly give both by chance.
    """
    statements = {}
    for name, row in rows.items():
        statement = _statement(row["low"], row["high"], small)
        if statement:
            statements[name] = statement
    for one, other in combinations(statements, 2):
        differ = statements[one] != statements[other]
        overlap = _holds(rows[one], rows[other]) or _holds(rows[other], rows[one])
        if differ and not overlap:
            first = _points(rows[one][ENDS])
            second = _points(rows[other][ENDS])
            return f"{first} {one}; {second} {other}"
    return ""


def _holds(row: pd.Series, other: pd.Series) -> bool:
    """Tell whether an interval holds the estimate of another."""
    return row["low"] <= other["estimate"] <= row["high"]


def _turned_by_others(row: pd.Series) -> str:
    """A weight that has the other sign with the others held equal, in words."""
    side = _side(row)
    alone_low = np.sign(row["alone low"])
    alone_high = np.sign(row["alone high"])
    if side and alone_low == alone_high == -side:
        return f"alone {_points(row[ALONE])}, others held equal {_points(row[HELD])}"
    return ""


def _turned_by_doubtful(row: pd.Series, without: Mapping[str, pd.Series]) -> str:
    """Doubtful ratings without which another thing would be concluded, in words.

    A weight that moves by less than half its standard error has not turned.
    """
    error = (row["high"] - row["low"]) / 4  # an interval is about four errors long
    for kind, rest in without.items():
        moved = abs(rest["weight"] - row["weight"])
        if _side(rest) != _side(row) and moved > error / 2:
            with_all = _points(row[HELD])
            return f"{with_all} of all ratings, {_points(rest[HELD])} without {kind}"
    return ""


def _side(row: pd.Series) -> int:
    """Sign of a weight that is told from zero, 0 if it is not."""
    if row["p Holm"] < SIGNIFICANT:
        return int(np.sign(row["weight"]))
    return 0


def _points(numbers: pd.Series, decimals: int = 2) -> str:
    """Write an estimate with its interval."""
    estimate, low, high = numbers
    text = f"{estimate:+.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"
    return text.replace("-", "−")


def rank_aspects(study: Study, n_draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Tell in how many redrawn sets of weights each aspect weighs most.

    Weights are redrawn together. Each has the t distribution of its interval in
    `conclude`, with the same standard error and degrees of freedom; how they go
    together is told by what leaving out each cluster changes.

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
    slopes = study.slopes()
    is_judged = _is_judged(study, study.informative("cluster"))
    judged = np.array(study.aspects)[is_judged]
    errors = _errors(study, slopes)
    errors = errors[errors.index.isin(judged) & errors["standard_error"].notna()]
    judged = errors.index
    if judged.empty:
        return not_done("no aspect can be judged")
    value = slopes.value[judged]
    normal = rng.multivariate_normal(
        mean=np.zeros(len(judged)),
        cov=_correlation(slopes.changes(study.clusters, judged)),
        size=n_draws,
        method="eigh",
    )
    # A t distribution is a normal one whose variance is drawn too: at the same place
    # for all slopes, each with its own degrees of freedom.
    df = errors["df"].to_numpy()
    place = rng.random((n_draws, 1))
    variance = stats.chi2.ppf(place, df) / df
    drawn = normal * errors["standard_error"].to_numpy() / np.sqrt(variance)
    heaviest = np.abs(value.to_numpy() + drawn).argmax(axis=1)
    n_first = np.bincount(heaviest, minlength=len(judged))
    table = pd.DataFrame({"weight": value, "weighs most, %": 100 * n_first / n_draws})
    return table.sort_values("weight", key=np.abs, ascending=False)


def _correlation(changes: Sequence[np.ndarray]) -> np.ndarray:
    """How errors of slopes go together, from what leaving out each cluster changes.

    With two kinds of clusters, changes by both at once are in both sums, and are taken
    off once; if that leaves nothing of a slope, the larger kind counts.
    """
    products = [change.T @ change for change in changes]
    matrix = products[0]
    if len(products) == 3:
        by_first, by_second, by_both = products
        two_way = by_first + by_second - by_both
        eigenvalues, vectors = np.linalg.eigh(two_way)
        two_way = (vectors * np.maximum(eigenvalues, 0)) @ vectors.T
        matrix = two_way
        if (np.diagonal(two_way) <= 0).any():
            matrix = max(by_first, by_second, key=np.trace)
    length = np.sqrt(np.diagonal(matrix))
    length = np.where(length > 0, length, 1)
    return matrix / np.outer(length, length)


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
    >>> marks = {"tone": [1.0, 2.0] * 30, "overall": [1.0, 2.0, 2.0] * 20}
    >>> table = pd.DataFrame({"item_id": range(60), "prompt_id": range(60), **marks})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> effects = ordered_marks(study, np.random.default_rng(0))
    >>> effects[["estimate", "low", "high"]].round(2)
          estimate   low  high
    tone       0.0 -0.25  0.25
    """
    table = study.sample(MOST_ROWS, rng).scaled()
    reason = _not_ordered(table, study)
    if reason:
        return not_done(reason)
    features = study.aspects
    while features:
        try:
            effects = ordinal.fit(table, features, study.outcome).effects(table)
        except ordinal.SeparationError as error:
            features = [feature for feature in features if feature != error.feature]
        except (np.linalg.LinAlgError, ValueError) as error:
            return not_done(f"the model has no solution: {error}")
        else:
            clusters = [
                column
                for column in ("rater_id", "cluster")
                if column in table and table[column].nunique() >= 2
            ]
            return effects.table(table[clusters]).reindex(study.aspects)
    return not_done("every aspect tells high from low ratings without exception")


def _not_ordered(table: pd.DataFrame, study: Study) -> str:
    """Say why a model of ordered marks is not possible; nothing if it is."""
    outcome = table[study.outcome]
    n_marks = outcome.nunique()
    needed = ROWS_PER_NUMBER * (n_marks + len(study.aspects))
    if n_marks > FEW_MARKS or (outcome % 1 != 0).any():
        return f"{study.outcome} is not one of up to {FEW_MARKS} whole marks"
    if len(table) < needed:
        return f"{len(table)} ratings are too few; at least {needed} are needed"
    if len(study.aspects) > MOST_ORDERED:
        return f"more than {MOST_ORDERED} aspects take too long"
    return ""


def agreement(
    table: pd.DataFrame,
    columns: Sequence[str],
    rng: np.random.Generator,
    scales: Mapping[str, tuple[float, float]] | None = None,
) -> pd.DataFrame:
    """How far different raters of the same item agree, column by column.

    Intervals come from leaving out clusters of items in turn, and raters too if five or
    more have names; see `ratings.leave_out`.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    columns : sequence of str
        Numeric columns.
    rng : numpy.random.Generator
        Joins clusters, where there are very many.
    scales : mapping of str to (float, float), optional
        Lowest and highest mark, where they are known. If it is given, even empty, marks
        far from all others on a scale that is not declared count as missing, as they do
        in `ratings.intake.prepare`.

    Returns
    -------
    pandas.DataFrame
        A row per column with enough clusters that agree: number of ``ratings`` and of
        ``items`` with two ratings or more; Krippendorff's alpha (``estimate``, ``low``,
        ``high``), ordinal for up to `FEW_MARKS` marks, otherwise interval; for the
        former ``same mark, %``,
        ``AC1``, ``AC1 low`` and ``AC1 high``; the ``scope`` of the intervals, as in
        `conclude`; and ``clusters that agree``, in which two raters of an item both
        gave a mark that is not the usual one. With fewer than `FEWEST_AGREEING` of them
        no interval holds, and the column is not there.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12; Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th edition, chapter 2.

    Examples
    --------
    >>> item = np.arange(60) // 2
    >>> table = pd.DataFrame({"item_id": item, "prompt_id": item})
    >>> table = table.assign(rater_id=["a", "b"] * 30, tone=[1.0, 1, 2, 2, 3, 2] * 10)
    >>> alphas = agreement(table, ["tone"], np.random.default_rng(0))
    >>> alphas[["items", "same mark, %", "estimate"]].round(2)
          items  same mark, %  estimate
    tone     30         66.67      0.74
    """
    has_names = "rater_id" in table
    table = table.rename(columns={"position": "rater_id"})
    if "rater_id" not in table:
        return not_done(
            "the recipe names no raters: two ratings of an item may be by one person"
        )
    if table["rater_id"].nunique() < 2:
        return not_done("all ratings are by one rater")
    table = _rated_twice(cleaned(table, columns, scales))
    table = sample_items(table, raters.MOST_ROWS)
    if table.empty:
        return not_done("no item was rated by two people")
    table = table.assign(cluster=join_clusters(_clusters_of_items(table), rng))
    if not has_names:  # a place in a list is no person
        table = table.drop(columns="rater_id")
    rows = {}
    for column in columns:
        row = _agreement(table, column)
        if row:
            rows[column] = row
    if not rows:
        return not_done(
            "too few items were rated by two people, too few got an unusual mark from "
            "both, or nobody ever differs"
        )
    return pd.DataFrame.from_dict(rows, orient="index")


def _rated_twice(table: pd.DataFrame) -> pd.DataFrame:
    """Take the ratings of items that have two or more."""
    return table[table.duplicated("item_id", keep=False)]


def _clusters_of_items(table: pd.DataFrame) -> pd.Series:
    """The clusters of the file; the items themselves if one is in several clusters."""
    places = table.drop_duplicates(["item_id", "prompt_id"])
    is_in_several = places["item_id"].duplicated().any()
    return table["item_id"] if is_in_several else table["prompt_id"]


def _agreement(table: pd.DataFrame, column: str) -> dict[str, object]:
    """One row of the table of agreement; nothing if there is too little to say."""
    known = _rated_twice(table[table[column].notna()])
    marks = np.unique(known[column])
    if len(marks) < 2 or known["cluster"].nunique() < 2:
        return {}
    row = {"ratings": len(known), "items": known["item_id"].nunique()}
    if len(marks) > FEW_MARKS:
        sums, statistic = leave_out.alpha_of_numbers(known, column)
        names = ["alpha"]
    else:
        sums, statistic = leave_out.alpha_of_marks(known, column, marks)
        names = ["alpha", "AC1", "same"]
    found = sums.table(statistic, names)
    n_agreeing = _clusters_that_agree(known, column)
    has_interval = not np.isnan(found.loc["alpha", "low"])
    if n_agreeing < FEWEST_AGREEING or not has_interval:
        return {}
    row["clusters that agree"] = n_agreeing
    row["scope"] = found["scope"].iloc[0]
    if len(names) > 1:
        row["same mark, %"] = 100 * found.loc["same", "estimate"]
        row["AC1"], row["AC1 low"], row["AC1 high"] = found.loc["AC1", ENDS]
    row["estimate"], row["low"], row["high"] = found.loc["alpha", ENDS]
    return row


def _clusters_that_agree(known: pd.DataFrame, column: str) -> int:
    """Count clusters with an item to which two raters gave no usual mark."""
    usual = known[column].mode().iloc[0]
    unusual = known[known[column] != usual]
    is_shared = unusual.duplicated("item_id", keep=False)
    return int(unusual["cluster"][is_shared].nunique())


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
    >>> table = pd.DataFrame({"item_id": range(40), "prompt_id": range(40)})
    >>> table = table.assign(covariate=words, tone=(words > 1) * 1.0)
    >>> table["overall"] = 1.0 + words
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> confounder(study)[["alone", "change"]].round(6)
          alone  change
    tone    2.0    -2.0
    """
    if "covariate" not in study.frame:
        return not_done("no covariate is named")
    study = replace(study, frame=study.frame.dropna(subset="covariate"))
    covariate = study.frame["covariate"]
    controls = _controls(covariate)
    if controls is None or len(covariate) < FEWEST_ROWS:
        return not_done(
            f"the covariate has {covariate.nunique():,} values in {len(covariate):,} "
            f"ratings; numbers, or 2 to {MOST_LABELS} labels, are needed"
        )
    n_clusters = study.frame["cluster"].nunique()
    n_numbers = len(study.aspects) + controls.shape[1] + 1
    if n_clusters <= n_numbers:
        return not_done(f"{n_clusters} clusters are too few for {n_numbers} numbers")
    controlled = _with_controls(study, controls)
    slopes = study.slopes()
    change = controlled.slopes().pick(slopes.value.index).minus(slopes)
    changes = change.table(study.clusters).reindex(study.aspects)
    table = pd.concat(
        [_fit(study)[ENDS], _fit(controlled)[ENDS].loc[study.aspects], changes[ENDS]],
        axis="columns",
    )
    table.columns = [*ALONE, *ENDS, "change", "change low", "change high"]
    table["p, Holm"] = bootstrap.adjust(changes["p_value"].fillna(1.0))
    return table


def systems(study: Study) -> pd.DataFrame:
    """Weights with the system held equal, and whether they would hold for others.

    Systems differ in many things at once. So an aspect may go with the outcome only
    because better systems have more of it; then it says nothing of answers of one
    system. And with few systems nobody knows what others would show, however many
    answers there are.

    Parameters
    ----------
    study : Study
        Ratings with ``system_id``.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: weight among answers of the same system (``estimate``,
        ``low``, ``high``, ``p, Holm``), the ``verdict`` it gives, and ``other
        systems``: ``"extends"`` if the weight of the conclusions is told from zero
        there, and with whole systems left out in turn, too; ``"not shown"`` if it is
        not, or with fewer than `FEWEST_SYSTEMS`. Or `not_done`.

    Examples
    --------
    >>> from ratings.intake import prepare
    >>> rng = np.random.default_rng(0)
    >>> system = np.arange(120) % 6
    >>> table = pd.DataFrame({"item_id": range(120), "prompt_id": np.arange(120) // 6})
    >>> table = table.assign(system_id=system, tone=rng.integers(0, 2, 120) * 1.0)
    >>> table["overall"] = 1 + system % 3 + table["tone"] + rng.integers(0, 2, 120)
    >>> study = prepare(table, "overall", ["tone"], rng)
    >>> systems(study)[["verdict", "other systems"]]
         verdict other systems
    tone  higher       extends
    """
    if "system_id" not in study.frame:
        return not_done("no system is named")
    study = replace(study, frame=study.frame.dropna(subset="system_id"))
    codes, names = pd.factorize(study.frame["system_id"])
    if len(names) < 2:
        return not_done("all ratings are of one system")
    if len(names) > MOST_SYSTEMS:
        return not_done(f"{len(names):,} systems are more than {MOST_SYSTEMS}")
    n_numbers = len(study.aspects) + len(names)
    n_clusters = study.frame["cluster"].nunique()
    if n_clusters <= n_numbers or study.too_many:
        return not_done(f"{n_clusters} clusters are too few for {n_numbers} numbers")
    controls = pd.get_dummies(codes, drop_first=True, dtype=float)
    controls.index = study.frame.index
    columns = [f"\0system {number}" for number in range(controls.shape[1])]
    controlled = _with_controls(study, controls.set_axis(columns, axis="columns"))
    table = _fit(controlled).loc[study.aspects]
    is_judged = (
        _is_judged(study, study.informative("cluster")) & table["p_value"].notna()
    )
    table["p, Holm"] = np.nan
    table.loc[is_judged, "p, Holm"] = bootstrap.adjust(table["p_value"][is_judged])
    small = _small(study)
    verdicts = []
    for row in table.itertuples():
        verdict = "not known"
        if _is_small(row.low, row.high, small):
            verdict = "hardly any link"
        elif row[-1] < SIGNIFICANT:
            verdict = "higher" if row.estimate > 0 else "lower"
        verdicts.append(verdict)
    table["verdict"] = verdicts
    table["other systems"] = _for_other_systems(study, codes, is_judged)
    return table[is_judged].drop(columns="p_value")


def _for_other_systems(
    study: Study, codes: np.ndarray, is_judged: np.ndarray
) -> np.ndarray:
    """Tell of each aspect whether its weight holds with systems left out in turn."""
    if codes.max() + 1 < FEWEST_SYSTEMS:
        return np.full(len(study.aspects), "not shown")
    clusters = study.frame[["cluster"]].assign(system=codes)
    by_system = study.slopes().table(clusters).reindex(study.aspects)
    p_values = by_system["p_value"].where(is_judged).dropna()
    holm = bootstrap.adjust(p_values) if len(p_values) else p_values
    is_told = pd.Series(holm, p_values.index).reindex(study.aspects) < SIGNIFICANT
    is_told &= estimates(study)["p Holm"] < SIGNIFICANT
    return np.where(is_told, "extends", "not shown")


def _with_controls(study: Study, controls: pd.DataFrame) -> Study:
    """The study with other columns, from 0 to 1, among its aspects."""
    ends = pd.DataFrame({"low": 0.0, "high": 1.0}, controls.columns)
    return replace(
        study,
        # to columns, not to rows, which may have the same name twice
        frame=study.frame.assign(**controls),
        aspects=[*study.aspects, *controls],
        ends=pd.concat([study.ends, ends]),
    )


def _controls(covariate: pd.Series) -> pd.DataFrame | None:
    """Turn a covariate into numbers to hold constant; None if that cannot be done.

    It must vary, and have not too many labels.
    """
    if covariate.nunique() < 2:
        return None
    if isinstance(covariate.dtype, pd.CategoricalDtype):
        if covariate.nunique() > MOST_LABELS:
            return None
        labels = covariate.cat.remove_unused_categories()
        controls = pd.get_dummies(labels, drop_first=True, dtype=float)
    else:
        standardised = (covariate - covariate.mean()) / covariate.std()
        controls = standardised.to_frame()
    # names that no column of a file has
    names = [f"\0covariate {number}" for number in range(controls.shape[1])]
    return controls.set_axis(names, axis="columns")
