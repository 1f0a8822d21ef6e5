"""Whether a judge, such as a language model, can stand in for people.

The alternative annotator test leaves out each person in turn, and asks whether the
judge is as close to the other people as that person is. With noisy people anything
passes that stays near the middle, so two judges that do not read take the same test:
one that always gives the same rating, and one that knows only the length of the text.
Where one of these passes, the test does not tell a judge that reads from one that does
not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from helpers import intervals
from helpers.data.tables import OptionError

LEVELS = ("nominal", "interval")
FEWEST_PEOPLE = 3
FEWEST_ITEMS = 30
MAJORITY = 0.5  # of people, as in the paper
ERROR_RATE = 0.05  # false discoveries among the tests of people
MOST_CONSTANTS = 20
N_LENGTHS = 5  # groups of texts of like length
N_FOLDS = 5
BY_LENGTH = ["short", "middling", "long"]
PEOPLE = "people"
JUDGE = "judge"  # column of the judge's rating of the item
NEARLY_EQUAL = 1e-9  # of two distances, as a share


@dataclass(frozen=True, eq=False)
class AnnotatorTest:
    """The alternative annotator test of one judge.

    Parameters
    ----------
    people : pandas.DataFrame
        By person: ``n`` items, how often the judge is at least as close to the others
        as the person (``judge_wins``) and the person as the judge (``person_wins``),
        their ``difference``, person less judge, its ``standard_error`` and ``df``, the
        one-sided ``p_value`` of a difference of epsilon or more, ``p_adjusted`` by
        Benjamini and Yekutieli, and whether it is rejected (``passed``).
    advantage : pandas.DataFrame
        One row: the mean of ``judge_wins`` with its interval.
    """

    people: pd.DataFrame
    advantage: pd.DataFrame

    @property
    def winning_rate(self) -> float:
        """Share of people whom the judge can replace."""
        return float(self.people["passed"].mean())

    @property
    def passed(self) -> bool:
        """Whether the judge can replace at least half of the people."""
        return self.winning_rate >= MAJORITY


def annotator_test(
    rows: pd.DataFrame,
    score: str,
    judge: str,
    *,
    item: str,
    rater: str,
    prompt: str,
    epsilon: float,
    level: str = "interval",
) -> AnnotatorTest:
    """Take each person's place in turn (Calderon, Reichart and Dror 2025).

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per person and item, without missing values.
    score : str
        Column of the person's rating.
    judge : str
        Column of the judge's rating of the item, the same in all of its rows.
    item, rater, prompt : str
        Columns of items, of people, and of clusters of items.
    epsilon : float
        How much more often than the judge a person may be as close to the others: what
        a person costs more than a judge.
    level : {"interval", "nominal"}, optional
        Whether closeness to the others is the root mean squared difference, or the
        share of them who give the same rating.

    Returns
    -------
    AnnotatorTest
        Differences are tested by prompt: items of one prompt are no independent trials.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test for
    LLM-as-a-Judge; Benjamini and Yekutieli (2001).

    Examples
    --------
    >>> rows = pd.DataFrame({"item_id": np.repeat(np.arange(30), 3), "judge": 2,
    ...                      "score": [1, 2, 3] * 30, "rater_id": list("abc") * 30})
    >>> test = annotator_test(rows, "score", "judge", item="item_id", rater="rater_id",
    ...                       prompt="item_id", epsilon=0.1)
    >>> test.people["judge_wins"].to_dict()
    {'a': 1.0, 'b': 1.0, 'c': 1.0}
    """
    own, of_judge = _closeness(rows, score, judge, item, level)
    has_others = ~np.isnan(own)
    near = NEARLY_EQUAL * (1 + np.abs(own))
    wins = rows.loc[has_others, [rater, prompt]].copy()
    wins["_judge"] = (of_judge >= own - near)[has_others].astype(float)
    wins["_person"] = (own >= of_judge - near)[has_others].astype(float)
    wins["_less"] = wins["_person"] - wins["_judge"]
    of_people = wins.groupby(rater, observed=True)
    people = of_people[["_judge", "_person", "_less"]].mean()
    people.columns = ["judge_wins", "person_wins", "difference"]
    people.insert(0, "n", of_people.size())
    tests = [_by_prompt(part["_less"], part[prompt]) for _, part in of_people]
    people[["standard_error", "df"]] = np.array(tests)
    surplus = people["difference"] - epsilon
    has_error = people["standard_error"] > 0
    p_values = t.cdf(
        surplus[has_error] / people.loc[has_error, "standard_error"],
        people.loc[has_error, "df"],
    )
    # if all trials end alike, there is no doubt left
    people["p_value"] = np.where(
        (people["standard_error"] == 0) & (surplus < 0), 0.0, 1.0
    )
    people.loc[has_error, "p_value"] = p_values
    people["p_adjusted"] = benjamini_yekutieli(people["p_value"])
    people["passed"] = people["p_adjusted"] <= ERROR_RATE
    advantage = _mean_of_people(wins, rater, prompt)
    return AnnotatorTest(people, advantage)


def _closeness(
    rows: pd.DataFrame, score: str, judge: str, item: str, level: str
) -> tuple[np.ndarray, np.ndarray]:
    """How close each person, and the judge, is to the other people; NaN if alone."""
    items = rows[item]
    n_others = items.groupby(items).transform("size").to_numpy() - 1.0
    n_others[n_others == 0] = np.nan
    if level == "nominal":
        alike = rows.groupby([item, score], observed=True)[score].transform("size")
        of_person = (alike.to_numpy() - 1) / n_others
        is_judge = rows[score] == rows[judge]
        with_judge = is_judge.groupby(items).transform("sum") - is_judge
        return of_person, with_judge.to_numpy() / n_others
    values = rows[score].to_numpy(dtype=float)
    centre = values.mean()
    values = values - centre
    of_judge = rows[judge].to_numpy(dtype=float) - centre
    powers = pd.DataFrame({"value": values, "square": values**2}, index=rows.index)
    sums = powers.groupby(items).transform("sum").to_numpy()
    mean = (sums[:, 0] - values) / n_others
    square = (sums[:, 1] - values**2) / n_others
    spread = np.maximum(square - mean**2, 0.0)
    of_person = np.sqrt((values - mean) ** 2 + spread)
    return -of_person, -np.sqrt((of_judge - mean) ** 2 + spread)


def _by_prompt(values: pd.Series, prompts: pd.Series) -> tuple[float, float]:
    """Standard error of a mean without each prompt, and its degrees of freedom."""
    if prompts.nunique() < intervals.FEWEST_CLUSTERS:
        return np.nan, np.nan
    frame = pd.DataFrame({"value": values, "prompt": prompts})
    table = intervals.group_means(frame, ["value"], ["prompt"]).table()
    # no error where all prompts are alike
    standard_error, df = table[["standard_error", "df"]].fillna(0.0).iloc[0]
    return standard_error, df


def _mean_of_people(wins: pd.DataFrame, rater: str, prompt: str) -> pd.DataFrame:
    """The mean over people of how often the judge wins, with an interval by prompt."""
    n_of_person = wins.groupby(rater, observed=True)["_judge"].transform("size")
    weight = len(wins) / n_of_person / wins[rater].nunique()
    terms = wins[[prompt]].assign(n=weight, won=weight * (wins["_judge"] - MAJORITY))
    sums = intervals.cluster_sums(terms, ["won", "n"], [prompt])
    mean = intervals.jackknife(
        sums,
        lambda each: MAJORITY + intervals.ratio(each[:, [0]], each[:, [1]]),
        ["advantage probability"],
        lambda each: each[:, [1]],
    )
    table = mean.table()
    table[["low", "high"]] = table[["low", "high"]].clip(0, 1)
    return table


def benjamini_yekutieli(p_values: pd.Series) -> np.ndarray:
    """Adjust p-values for the false discovery rate under any dependence."""
    p_values = np.asarray(p_values, dtype=float)
    n = len(p_values)
    order = p_values.argsort()[::-1]
    harmonic = (1 / np.arange(1, n + 1)).sum()
    # from the largest p-value down, none is larger than the one before
    scaled = p_values[order] * n * harmonic / np.arange(n, 0, -1)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum.accumulate(scaled)
    return np.minimum(adjusted, 1.0)


# Judges that do not read ---------------------------------------------------------


def constants(rows: pd.DataFrame, score: str, level: str) -> list:
    """Ratings that a constant judge could give: each of the scale, and the mean."""
    values = rows[score]
    scale = values.value_counts().index[:MOST_CONSTANTS].tolist()
    if level == "interval":
        scale.append(float(values.mean()))
    return scale


def best_constant(
    rows: pd.DataFrame, score: str, level: str, **columns: object
) -> tuple[object, AnnotatorTest]:
    """The constant judge that does best, and its test."""
    best = None
    for value in constants(rows, score, level):
        test = annotator_test(
            rows.assign(_constant=value), score, "_constant", level=level, **columns
        )
        merit = (test.winning_rate, test.people["judge_wins"].mean())
        if best is None or merit > best[0]:
            best = (merit, value, test)
    return best[1], best[2]


def length_judge(
    rows: pd.DataFrame, score: str, length: str, prompt: str, level: str
) -> pd.Series:
    """Rate a text as people rated texts of like length, of other prompts.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per person and item.
    score, length, prompt : str
        Columns.
    level : {"interval", "nominal"}
        Whether to give the mean of their ratings, or the commonest.

    Returns
    -------
    pandas.Series
        By row. Texts of a fifth of prompts are rated without any rating of theirs.

    Examples
    --------
    >>> rows = pd.DataFrame({"words": [5, 90] * 20, "score": [1, 4] * 20,
    ...                      "prompt_id": np.repeat(np.arange(20), 2)})
    >>> length_judge(rows, "score", "words", "prompt_id", "interval").head(2).tolist()
    [1.0, 4.0]
    """
    ranks = rows[length].rank(pct=True)
    group = np.ceil(ranks * N_LENGTHS).astype(int)
    fold = pd.Series(pd.factorize(rows[prompt])[0] % N_FOLDS, index=rows.index)
    rated = pd.Series(index=rows.index, dtype=rows[score].dtype)
    if level == "interval":
        rated = rated.astype(float)
    for number in range(N_FOLDS):
        is_held_out = fold == number
        others = rows.loc[~is_held_out, score].groupby(group[~is_held_out])
        if level == "interval":
            usual = others.mean()
            otherwise = rows.loc[~is_held_out, score].mean()
        else:
            usual = others.agg(lambda values: values.mode().iloc[0])
            otherwise = rows.loc[~is_held_out, score].mode().iloc[0]
        rated[is_held_out] = group[is_held_out].map(usual).fillna(otherwise)
    return rated


# The whole comparison ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Comparison:
    """A judge beside people.

    Parameters
    ----------
    measures : pandas.DataFrame
        Indexed by ``measure`` and ``who``: ``estimate``, ``low``, ``high``,
        ``p_adjusted`` of differences between groups, and ``n`` ratings by people.
    people : pandas.DataFrame
        The test by person, see `AnnotatorTest`.
    conclusion : {"stands in", "not shown", "no conclusion"}
    notes : list of str
        Why.
    """

    measures: pd.DataFrame
    people: pd.DataFrame
    conclusion: str
    notes: list[str]


def beside_people(
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
) -> Comparison:
    """Set a judge beside people; see `helpers.verbs.judge` for the parameters."""
    if level not in LEVELS:
        raise OptionError(f"level {level!r} is unknown: choose one of {LEVELS}")
    if not 0 <= epsilon < 1:
        raise OptionError(f"epsilon must be at least 0 and below 1, got {epsilon}")
    rows = people_with_judge(frame, score, judge, item, rater, prompt, system, length)
    if level == "interval":
        intervals.check_numeric(rows, [score, JUDGE])
    _check_people(rows, item, rater)
    columns = {"item": item, "rater": rater, "prompt": prompt, "epsilon": epsilon}
    tests = {str(judge): annotator_test(rows, score, JUDGE, level=level, **columns)}
    value, test = best_constant(rows, score, level, **columns)
    shown = f"{value:.3g}" if isinstance(value, float) else str(value)
    tests[f"always {shown}"] = test
    if length is not None:
        by_length = length_judge(rows, score, length, prompt, level)
        tests["length only"] = annotator_test(
            rows.assign(_length=by_length), score, "_length", level=level, **columns
        )
    groups = _groups(rows, system, length)
    columns = {"item": item, "rater": rater, "prompt": prompt, "level": level}
    parts = [_test_rows(tests, len(rows))]
    parts.append(_agreement_rows(rows, score, judge, **columns))
    for group in groups:
        for label, part in rows.groupby(group, observed=True):
            if part[[rater, prompt]].nunique().min() >= intervals.FEWEST_CLUSTERS:
                of_part = _agreement_rows(part, score, judge, **columns)
                who = [f"{label}, {name}" for _, name in of_part.index]
                measure = f"{of_part.index[0][0]}, by {group.name}"
                parts.append(of_part.set_axis(_labelled(measure, who)))
    if level == "interval":
        parts.append(_level_rows(rows, score, rater, prompt, groups))
    measures = pd.concat(parts)
    conclusion, notes = _conclude(tests, str(judge), epsilon)
    return Comparison(measures, tests[str(judge)].people, conclusion, notes)


def people_with_judge(
    frame: pd.DataFrame,
    score: str,
    judge: object,
    item: str,
    rater: str,
    prompt: str,
    system: str | None,
    length: str | None,
) -> pd.DataFrame:
    """Rows of people, with the judge's rating of the same item in a column.

    Items without the judge, or with one person only, are left out.
    """
    others = [column for column in (system, length) if column is not None]
    needed = list(dict.fromkeys([item, rater, prompt, score, *others]))
    intervals.check_columns(frame, needed)
    rows = frame[needed].dropna()
    is_judge = rows[rater] == judge
    if not is_judge.any():
        labels = ", ".join(str(label) for label in rows[rater].unique()[:12])
        raise OptionError(
            f"no rating by judge {judge!r} in column {rater!r}, which has: {labels}"
        )
    intervals.check_rated_once(rows, rater, item)
    of_judge = rows[is_judge].set_index(item)[score]
    people = rows[~is_judge].copy()
    people[JUDGE] = people[item].map(of_judge)
    people = people[people[JUDGE].notna()]
    n_people = people.groupby(item)[rater].transform("size")
    return people[n_people > 1].reset_index(drop=True)


def _check_people(rows: pd.DataFrame, item: str, rater: str) -> None:
    """Refuse fewer than three people with thirty items each."""
    n_items = rows.groupby(rater, observed=True)[item].nunique()
    is_enough = n_items >= FEWEST_ITEMS
    if is_enough.sum() >= FEWEST_PEOPLE and is_enough.all():
        return
    counted = ", ".join(f"{name} {n}" for name, n in n_items[:12].items())
    fewer = n_items.index[~is_enough].tolist()
    advice = "collect more ratings"
    if is_enough.sum() >= FEWEST_PEOPLE:
        names = ", ".join(str(name) for name in fewer[:12])
        advice = f"leave out the people who have fewer ({names}), and say so"
    raise OptionError(
        f"a judge is compared with at least {FEWEST_PEOPLE} people, each with "
        f"{FEWEST_ITEMS} items that the judge and another person rated, too; here: "
        f"{counted or 'nobody'}: {advice}"
    )


def _groups(
    rows: pd.DataFrame, system: str | None, length: str | None
) -> list[pd.Series]:
    """Systems, and thirds of length, if there are two or more."""
    groups = []
    if system is not None and len(rows[system].unique()) > 1:
        groups.append(rows[system])
    if length is not None and len(rows[length].unique()) > 1:
        third = np.ceil(rows[length].rank(pct=True) * len(BY_LENGTH)).astype(int)
        codes = third.clip(1, len(BY_LENGTH)) - 1
        thirds = pd.Categorical.from_codes(codes, BY_LENGTH, ordered=True)
        groups.append(pd.Series(thirds, rows.index, name=length))
    return groups


def _test_rows(tests: dict[str, AnnotatorTest], n: int) -> pd.DataFrame:
    """Winning rates, and advantage probabilities with their intervals."""
    rates = pd.DataFrame(
        {"estimate": [test.winning_rate for test in tests.values()]},
        index=_labelled("winning rate", list(tests)),
    )
    advantages = pd.concat([test.advantage for test in tests.values()])
    advantages.index = _labelled("advantage probability", list(tests))
    return pd.concat([rates, advantages[["estimate", "low", "high"]]]).assign(n=n)


def _labelled(measure: str, who: Sequence) -> pd.MultiIndex:
    """Index of one measure."""
    return pd.MultiIndex.from_product([[measure], who], names=["measure", "who"])


def _agreement_rows(
    rows: pd.DataFrame,
    score: str,
    judge: object,
    *,
    item: str,
    rater: str,
    prompt: str,
    level: str,
) -> pd.DataFrame:
    """People and judge beside the same other people, and their difference."""
    who = [PEOPLE, str(judge)]
    if level == "nominal":
        own, of_judge = _closeness(rows, score, JUDGE, item, level)
        measure = "agreement with another person"
        values = rows[[rater, prompt]].assign(_own=own, _judge=of_judge)
        fitted = intervals.group_means(values, ["_own", "_judge"], [rater, prompt])
        single = fitted.table()
        single[["low", "high"]] = single[["low", "high"]].clip(0, 1)
        change = fitted
    else:
        measure = "correlation with the other people"
        values = rows[list(dict.fromkeys([rater, prompt, item]))].copy()
        # severity is a question of its own
        for name, column in (("_own", score), ("_judge", JUDGE)):
            means = rows.groupby(rater, observed=True)[column].transform("mean")
            values[name] = rows[column] - means
        values["_score"] = values["_own"]
        names = ["_own", "_judge"]
        keys = [rater, prompt]
        fitted = intervals.others_correlations(values, names, "_score", item, keys)
        single = intervals.fisher_table(fitted)
        change = intervals.others_correlations(
            values, names, "_score", item, keys, fisher=False
        )
    difference = change.difference("_judge", "_own").table()
    table = pd.concat([single, difference])[["estimate", "low", "high"]]
    table.index = _labelled(measure, [*who, f"{judge} - {PEOPLE}"])
    return table.assign(n=len(rows))


def _level_rows(
    rows: pd.DataFrame, score: str, rater: str, prompt: str, groups: list[pd.Series]
) -> pd.DataFrame:
    """How much higher the judge rates than people, by system and length."""
    values = rows[[rater, prompt]].assign(_higher=rows[JUDGE] - rows[score])
    fitted = intervals.group_means(values, ["_higher"], [rater, prompt])
    table = fitted.table()[["estimate", "low", "high"]]
    table.index = _labelled("judge - people", ["all"])
    parts = [table.assign(n=len(rows))]
    for group in groups:
        by = values.assign(_group=group)
        fitted = intervals.group_means(by, ["_higher"], [rater, prompt], "_group")
        names = fitted.value.index
        table = fitted.table()[["estimate", "low", "high"]]
        # how far a group is from the mean of all groups
        weights = np.eye(len(names)) - 1 / len(names)
        off = fitted.contrast(pd.DataFrame(weights, names, names)).table()
        table["p_holm"] = _holm_of_known(off["p_value"])
        sizes = by.groupby("_group", observed=True).size()
        # thirds in their order, not in that of the alphabet
        table = table.droplevel(0).loc[list(sizes.index)].assign(n=sizes.to_numpy())
        table.index = _labelled(f"judge - people, by {group.name}", list(sizes.index))
        parts.append(table)
    return pd.concat(parts)


def _holm_of_known(p_values: pd.Series) -> pd.Series:
    """Holm's correction of the p-values that exist."""
    known = p_values.dropna()
    return pd.Series(intervals.holm(known), index=known.index).reindex(p_values.index)


def _conclude(
    tests: dict[str, AnnotatorTest], judge: str, epsilon: float
) -> tuple[str, list[str]]:
    """Say what the tests show, and why."""
    notes = []
    for name, test in tests.items():
        n_passed = int(test.people["passed"].sum())
        n_people = len(test.people)
        notes.append(
            f"{name}: can replace {n_passed} of {n_people} people (epsilon = {epsilon})"
        )
    not_reading = [name for name in tests if name != judge and tests[name].passed]
    if not_reading:
        names = " and ".join(repr(name) for name in not_reading)
        verb = "passes" if len(not_reading) == 1 else "pass"
        notes.append(
            f"no conclusion: {names}, which does not read, {verb} as well, so that "
            "these people disagree too much for the test to tell"
        )
        return "no conclusion", notes
    if tests[judge].passed:
        return "stands in", notes
    return "not shown", notes
