"""The four questions about ratings, answered by the verbs of `helpers`.

`answers` calls the verbs and keeps their tables; `write` makes one page and CSV files
of them, and `as_text` what the terminal prints. Estimates and intervals are those of
the verbs. As long as raters contradict each other, only the first question is
answered, until the owner of the file decides.
"""

import base64
import shutil
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import helpers
from helpers import paths, raters, wording
from helpers.data.tables import OptionError, to_csv_bytes
from helpers.verbs import FEWEST_INFORMATIVE
from ratings.roles import Ratings, in_words

FEWEST_CLUSTERS = 3
FEWEST_RATERS = 5  # below it intervals for other raters are wide
MOST_SENTENCES = 10  # about pairs of systems; more stand in the table only
MOST_MEANS = 20  # in one sentence
MOST_RATERS_IN_PAIRS = 60
MOST_ROWS = 40  # of a table on the page; all are in the CSV file
FIGURE_WIDTH = 3.9  # inches: at 390 pixels letters are as large as the text
LABEL_WIDTH = 18  # letters
EPSILON = 0.1
ENDS = ["estimate", "low", "high"]
ALONE = "For these raters alone, whatever others would say"
SHOWN = {
    "estimate": "estimate",
    "low": "low",
    "high": "high",
    "p_adjusted": "p (adjusted)",
    "p_holm": "p (Holm)",
    "win_rate": "win rate, %",
    "component": "component",
    "n": "n",
    "items": "items",
}
COVARIATES = {"shown first": "first-shown"}
PEOPLE = "Do people agree?"
HIGH = "How high is the score?"
HIGHER = "Which system is rated higher?"
PREFERRED = "Which system is preferred?"
PREDICTS = "What predicts the score?"
JUDGE = "Can the judge stand in for people?"
# Why a question is not asked of a file.
LACKING = {
    PREDICTS: "no other ratings are named (--aspects)",
    JUDGE: "no rater is named as a judge (--judge)",
}
NO_SCORE = "the file has comparisons of two, and no score of each"


@dataclass
class Answer:
    """A question with what can be said, or why nothing can."""

    question: str
    sentences: list[str] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    drawn: list[str] = field(default_factory=list)  # names of tables to draw
    why_not: str = ""

    def add(self, name: str, table: pd.DataFrame, *, draw: bool = False) -> None:
        """Keep a table of a verb under the name of its file."""
        self.tables[name] = table
        if draw:
            self.drawn.append(name)


@dataclass
class Report:
    """All answers about a file, and what they do not say."""

    ratings: Ratings
    description: str
    decisions: list[str]
    answers: list[Answer]
    not_said: list[str]
    is_stopped: bool


def answers(ratings: Ratings) -> Report:
    """Answer the four questions, as far as the file allows.

    Parameters
    ----------
    ratings : ratings.roles.Ratings
        From `ratings.roles.prepare`.

    Returns
    -------
    Report
        Each answer has the tables of the verbs with all their digits.

    Examples
    --------
    >>> from ratings.roles import Roles, prepare
    >>> from ratings.table import read
    >>> roles = Roles(score="overall", rater="rater_id", item="item_id",
    ...               prompt="prompt_id", repeats="first", confirmed="yes")
    >>> found = answers(prepare(read("data/example/ratings.csv"), roles))
    >>> found.answers[0].tables["agreement"]["estimate"].round(2).tolist()
    [0.37, 0.4]
    """
    people = _people(ratings)
    agree = _agree(ratings, people)
    found = [agree]
    concerns = agree.tables.get("concerns")
    is_stopped = concerns is not None and not _are_accepted(concerns, ratings)
    questions = _questions(ratings)
    for question, answer_it in questions:
        if is_stopped:
            why = "raters contradict each other, see question 1"
            found.append(Answer(question, why_not=why))
        else:
            found.append(_tried(question, answer_it, ratings, people))
    asked = {question for question, _ in questions}
    for question, lacking in LACKING.items():
        if question not in asked:
            are_pairs = ratings.roles.are_pairs
            found.append(Answer(question, why_not=NO_SCORE if are_pairs else lacking))
    return Report(
        ratings,
        _describe(ratings, people),
        _decisions(ratings),
        found,
        _not_said(ratings, people, found),
        is_stopped,
    )


def _people(ratings: Ratings) -> pd.DataFrame:
    """Rows that people gave: judges are never pooled with them."""
    if not ratings.roles.judge:
        return ratings.frame
    return ratings.frame[~ratings.frame["rater_id"].isin(ratings.roles.judge)]


def _questions(ratings: Ratings) -> list[tuple[str, Callable]]:
    """The questions that a file's roles allow, after the first."""
    if ratings.roles.are_pairs:
        return [(PREFERRED, _preferred)]
    found = [(HIGHER, _higher) if ratings.roles.system else (HIGH, _level)]
    if ratings.roles.aspects:
        found.append((PREDICTS, _predicts))
    if ratings.roles.judge:
        found.append((JUDGE, _stands_in))
    return found


def _tried(
    question: str, answer_it: Callable, ratings: Ratings, people: pd.DataFrame
) -> Answer:
    """Answer a question, or say why the verbs refuse."""
    answer = Answer(question)
    try:
        answer_it(answer, ratings, people)
    except OptionError as error:
        answer.why_not = str(error)
    return answer


def clusters(frame: pd.DataFrame) -> list[str]:
    """Raters and prompts, as far as there are three of them or more."""
    known = [name for name in ("rater_id", "prompt_id") if name in frame]
    usable = [name for name in known if frame[name].nunique() >= FEWEST_CLUSTERS]
    if len(usable) == 2:
        # what lies within larger clusters adds nothing to them
        if frame.groupby("prompt_id")["rater_id"].nunique().max() == 1:
            usable = ["rater_id"]
        elif frame.groupby("rater_id")["prompt_id"].nunique().max() == 1:
            usable = ["prompt_id"]
    if not usable:
        raise OptionError(
            "there are fewer than three raters and fewer than three prompts: no "
            "interval can be given"
        )
    return usable


def held_equal(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Of raters and prompts those within which all systems can be compared, or not."""
    known = [name for name in ("rater_id", "prompt_id") if name in frame]
    known = [name for name in known if _varies(frame[name])]
    held = [name for name in known if _connects(frame, name)]
    return held, [name for name in known if name not in held]


def _connects(frame: pd.DataFrame, column: str) -> bool:
    """Tell whether systems are linked by what has rows of several of them."""
    group = pd.factorize(frame[column])[0]
    n_groups = group.max() + 1
    system = n_groups + pd.factorize(frame["system"])[0]
    n_nodes = system.max() + 1
    links = coo_array((np.ones(len(frame)), (group, system)), (n_nodes, n_nodes))
    n_parts, _ = connected_components(links, directed=False)
    return n_parts == 1


def _agree(ratings: Ratings, people: pd.DataFrame) -> Answer:
    """Say how far people agree, and whether any of them rates against the others."""
    answer = Answer(PEOPLE)
    roles = ratings.roles
    if not roles.rater:
        answer.why_not = "the file does not say who rated"
        return answer
    if roles.are_pairs:
        return _agree_on_pairs(ratings, people, answer)
    n_raters = people.groupby("item_id")["rater_id"].nunique()
    if people["rater_id"].nunique() < 2:
        answer.why_not = "there is one rater"
        return answer
    if n_raters.max() < 2:
        answer.why_not = "each item was rated by one person"
        return answer
    rated = [roles.score, *roles.aspects]
    concerns = _concerns(ratings, people, rated)
    below_chance = set()
    if len(concerns):
        is_below = concerns["concern"] == "agreement below chance"
        below_chance = set(concerns.loc[is_below, "column"])
    try:
        table = _agreement(people, rated, clusters(people))
        answer.add("agreement", table)
        for name in rated:
            if name in below_chance:  # said below
                continue
            row = table.loc[(name, "alpha")]
            answer.sentences.append(f"{name}: alpha {_interval(row)}.")
        _agree_alone(answer, people, rated)
    except OptionError as error:
        answer.why_not = str(error)
    others = people.groupby("item_id")[roles.score]
    rest = others.transform("count") - 1
    means = (others.transform("sum") - people[roles.score]) / rest.where(rest > 0)
    beside = people.assign(others=means).dropna(subset="others")
    answer.add("raters", _each_rater(beside, roles.score))
    n_people = people["rater_id"].nunique()
    if n_people <= MOST_RATERS_IN_PAIRS:
        answer.add("pairs of raters", _pairs_of_raters(people, roles.score))
    else:
        answer.sentences.append(
            f"Each two of {n_people:,} raters are not compared; more than "
            f"{MOST_RATERS_IN_PAIRS} are too many."
        )
    if len(concerns):
        answer.add("concerns", concerns)
        # a sentence may speak of several raters, each with a row
        answer.sentences += [f"{each}." for each in concerns["sentence"].unique()]
        kinds = sorted(set(concerns["concern"]) - set(roles.accept))
        if kinds:
            answer.sentences.append(
                "Nothing further is concluded until you decide: correct the file, "
                "leave raters out (--leave-out LABEL), or go on all the same "
                f"(--accept '{','.join(kinds)}')."
            )
    return answer


def _agreement(
    people: pd.DataFrame, rated: Sequence[str], clusters: Sequence[str]
) -> pd.DataFrame:
    """Alpha and percent agreement of each rating."""
    return helpers.agreement(
        people,
        rated,
        coefficient=["alpha", "percent"],
        level="interval",
        rater="rater_id",
        clusters=clusters,
    )


def _agree_alone(answer: Answer, people: pd.DataFrame, rated: Sequence[str]) -> None:
    """Agreement of few raters on other prompts, as if there were no other raters."""
    if not _are_few(people):
        return
    alone = _agreement(people, rated, ["prompt_id"])
    name = f"agreement of these {people['rater_id'].nunique()} raters"
    answer.add(name, alone)
    found = [f"{each} {_interval(alone.loc[(each, 'alpha')])}" for each in rated]
    answer.sentences.append(f"{ALONE}: alpha of {'; '.join(found)}.")


def _are_few(people: pd.DataFrame) -> bool:
    """Tell whether intervals for other raters rest on few of them."""
    if "rater_id" not in people or people["prompt_id"].nunique() < FEWEST_CLUSTERS:
        return False
    return FEWEST_CLUSTERS <= people[
        "rater_id"
    ].nunique() < FEWEST_RATERS and "rater_id" in clusters(people)


def _agree_on_pairs(ratings: Ratings, people: pd.DataFrame, answer: Answer) -> Answer:
    """How often two people choose the same in the same comparison."""
    rows = people.copy()
    sides = np.sort(rows[["a", "b"]].to_numpy(dtype=str), axis=1)
    if not ratings.roles.prompt:
        answer.why_not = "the prompts are not known (--prompt)"
        return answer
    prompt = rows["prompt_id"]
    rows["item_id"] = prompt + " / " + pd.Series(sides[:, 0], rows.index)
    rows["item_id"] += " / " + pd.Series(sides[:, 1], rows.index)
    rows = rows.dropna(subset=["winner", "item_id"])
    says = ratings.roles.says
    if says:
        is_a = rows["winner"].eq(says[0])
        is_b = rows["winner"].eq(says[1])
        rows["winner"] = rows["winner"].mask(is_a, rows["a"]).mask(is_b, rows["b"])
    rows = rows.drop_duplicates(["item_id", "rater_id"])
    if not rows["item_id"].duplicated().any():
        answer.why_not = "no two people are known to have judged the same comparison"
        return answer
    try:
        table = helpers.agreement(
            rows,
            "winner",
            coefficient=["alpha", "percent"],
            rater="rater_id",
            clusters=clusters(rows),
        )
    except OptionError as error:
        answer.why_not = str(error)
        return answer
    answer.add("agreement", table)
    row = table.loc[("winner", "alpha")]
    answer.sentences.append(f"winner: alpha (nominal) {_interval(row)}.")
    return answer


def _each_rater(beside: pd.DataFrame, score: str) -> pd.DataFrame:
    """Each rater against the mean of the others on the same items."""
    values = beside[["rater_id", score, "others"]].set_index("rater_id")
    of_raters = values.groupby(level=0)
    centred = values - of_raters.transform("mean")
    products = centred.assign(both=centred[score] * centred["others"])
    products[[score, "others"]] **= 2
    sums = products.groupby(level=0).sum()
    varies = (of_raters.max() > of_raters.min()).all(axis="columns")
    scale = np.sqrt(sums[score] * sums["others"])
    means = of_raters.mean()
    columns = {
        "n": of_raters.size(),
        "mean": means[score],
        "minus the others": means[score] - means["others"],
        "correlation with the others": (sums["both"] / scale).where(varies),
    }
    return pd.DataFrame(columns).rename_axis("rater")


def _pairs_of_raters(people: pd.DataFrame, score: str) -> pd.DataFrame:
    """Each two raters on the items that both have rated."""
    wide = people.pivot_table(index="item_id", columns="rater_id", values=score)
    rows = []
    names = list(wide)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            both = wide[[first, second]].dropna()
            if len(both) < 2:
                continue
            row = {"first": first, "second": second, "n": len(both)}
            row["first minus second"] = (both[first] - both[second]).mean()
            row["correlation"] = _correlation(both[first], both[second])
            rows.append(row)
    columns = ["first", "second", "n", "first minus second", "correlation"]
    return pd.DataFrame(rows, columns=columns).set_index(["first", "second"])


def _correlation(first: pd.Series, second: pd.Series) -> float:
    """Pearson's correlation; none if one of them does not vary."""
    if first.nunique() < 2 or second.nunique() < 2:
        return np.nan
    return first.corr(second)


def _concerns(
    ratings: Ratings, people: pd.DataFrame, rated: Sequence[str]
) -> pd.DataFrame:
    """What stops conclusions, of the score and of every aspect."""
    tables = []
    for name in rated:
        rows = people.dropna(subset=name)
        scale = ratings.roles.scale.get(name)
        found = raters.concerns(
            rows,
            name,
            prompt="prompt_id",
            scale=tuple(scale) if scale else None,
        )
        if len(found):
            found.insert(0, "column", name)
            found["sentence"] = name + ": " + found["sentence"]
            tables.append(found)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _are_accepted(concerns: pd.DataFrame, ratings: Ratings) -> bool:
    """Tell whether the owner goes on in spite of every kind of concern."""
    return set(concerns["concern"]) <= set(ratings.roles.accept)


def _level(answer: Answer, ratings: Ratings, people: pd.DataFrame) -> None:
    """Mean of the score where no systems are known."""
    score = ratings.roles.score
    rows = people.assign(ratings="all")
    mean = helpers.means(rows, score, "ratings", clusters=clusters(people))
    answer.add("means", mean)
    answer.sentences.append(f"Mean {score}: {_interval(mean.iloc[0])}.")


def _higher(answer: Answer, ratings: Ratings, people: pd.DataFrame) -> None:
    """Means of the systems, and their differences with raters and prompts equal."""
    score = ratings.roles.score
    if people["system"].nunique() < 2:
        raise OptionError("there is one system: nothing to compare")
    means = helpers.means(people, score, "system", clusters=clusters(people))
    from_highest = means.sort_values("estimate", ascending=False)
    answer.add("means", from_highest, draw=True)
    listed = [f"{name} {_interval(row)}" for name, row in from_highest.iterrows()]
    more = f"; and {len(listed) - MOST_MEANS} more" if len(listed) > MOST_MEANS else ""
    answer.sentences.append(f"Mean {score}: {'; '.join(listed[:MOST_MEANS])}{more}.")
    if not _varies(people[score]):
        raise OptionError(f"every {score} is {people[score].iloc[0]:g}")
    held, not_held = held_equal(people)
    found = helpers.differences(
        people, score, "system", hold=held, clusters=clusters(people)
    )
    answer.add("differences", found, draw=len(found) <= MOST_SENTENCES)
    answer.sentences += _sentences_on_pairs(found, "is rated higher than", "")
    if _are_few(people):
        alone = helpers.differences(
            people, score, "system", hold=held, clusters=["prompt_id"]
        )
        n_raters = people["rater_id"].nunique()
        answer.add(f"differences for these {n_raters} raters", alone)
        answer.sentences.append(f"{ALONE}:")
        answer.sentences += _sentences_on_pairs(alone, "is rated higher than", "")
    equal = " and ".join(_plural(name) for name in held) or "nothing else"
    answer.sentences.append(f"Differences hold {equal} equal; intervals are joint.")
    if not ratings.roles.prompt:
        not_held = [name for name in not_held if name != "prompt_id"]
    for name in not_held:
        answer.sentences.append(
            f"{_plural(name).capitalize()} cannot be held equal: no {_singular(name)} "
            "links all systems, so a difference may be theirs."
        )
    if "length" in people and _varies(people["length"]):
        same = helpers.differences(
            people,
            score,
            "system",
            hold=held,
            given=["length"],
            clusters=clusters(people),
        )
        answer.add("differences at equal length", same)
        answer.sentences.append("With the number of words held equal, too:")
        answer.sentences += _sentences_on_pairs(same, "is rated higher than", "")


def _sentences_on_pairs(table: pd.DataFrame, verb: str, unit: str) -> list[str]:
    """Say of each two systems which comes first, or that this is not known."""
    sentences = []
    known = []
    for (first, second), row in table.iterrows():
        is_known = row["low"] > 0 or row["high"] < 0
        if row["estimate"] < 0:
            first, second = second, first
            row = -row[ENDS].rename({"low": "high", "high": "low"})
        size = f"{_interval(row)}{unit}"
        if is_known:
            sentences.append(f"{first} {verb} {second}, by {size}.")
            known.append(sentences[-1])
        else:
            sentences.append(f"{first} and {second} are not clearly different: {size}.")
    if len(sentences) <= MOST_SENTENCES:
        return sentences
    summary = f"Of {len(table)} pairs {len(known)} differ; all are in the table."
    return [summary, *known] if len(known) <= MOST_SENTENCES else [summary]


def _preferred(answer: Answer, ratings: Ratings, people: pd.DataFrame) -> None:
    """Win rates and Bradley-Terry strengths."""
    roles = ratings.roles
    options = {
        "ties": tuple(roles.ties),
        "says": tuple(roles.says) or None,
        "length": ("length_a", "length_b") if roles.text else None,
        "clusters": clusters(people),
    }
    table = helpers.pairs(people, "a", "b", "winner", **options)
    answer.add("preferences", table, draw=True)
    systems = table[table["win_rate"].notna()]
    for name, row in systems.iterrows():
        answer.sentences.append(
            f"{name} wins {row['win_rate']:.1f} % of {row['n']:,.0f} comparisons "
            f"(ties count half) [{row['win_low']:.1f}, {row['win_high']:.1f}]."
        )
    notes = table.attrs.get("notes", [])
    answer.sentences += [f"{note[0].upper()}{note[1:]}." for note in notes]
    for name, row in table[table["win_rate"].isna()].iterrows():
        if pd.notna(row["estimate"]):
            answer.sentences.append(
                f"Of two equal systems the {COVARIATES.get(name, name)} one is "
                f"preferred in {_interval(row, 1)} %."
            )
    every = helpers.pairs(people, "a", "b", "winner", every_pair=True, **options)
    answer.add("pairs of systems", every, draw=len(every) <= MOST_SENTENCES)
    shifted = pd.DataFrame(every)[ENDS] - 50
    n_known = int(((shifted["low"] > 0) | (shifted["high"] < 0)).sum())
    if len(every) > MOST_SENTENCES:
        answer.sentences.append(
            f"Of {len(every)} pairs {n_known} differ; all are in the table."
        )
        return
    for (first, second), row in every.iterrows():
        if row["low"] > 50:
            answer.sentences.append(
                f"{first} is preferred to {second} in {_interval(row, 1)} %."
            )
        elif row["high"] < 50:
            ends = {"estimate": "estimate", "low": "high", "high": "low"}
            other = (100 - row[ENDS]).rename(ends)
            answer.sentences.append(
                f"{second} is preferred to {first} in {_interval(other, 1)} %."
            )
        else:
            answer.sentences.append(
                f"{first} and {second} are not clearly different: {first} in "
                f"{_interval(row, 1)} %."
            )


def _predicts(answer: Answer, ratings: Ratings, people: pd.DataFrame) -> None:
    """Weights of the aspects, within raters and systems."""
    roles = ratings.roles
    if not _varies(people[roles.score]):
        raise OptionError(f"every {roles.score} is {people[roles.score].iloc[0]:g}")
    known = [name for name in ("rater_id", "system") if name in people]
    within = [name for name in known if _varies(people[name])]
    columns = clusters(people)
    if columns == ["rater_id"] and people["rater_id"].nunique() < FEWEST_INFORMATIVE:
        columns = ["prompt_id"]
        n_raters = people["rater_id"].nunique()
        answer.sentences.append(f"Intervals are about these {n_raters} raters only.")
    table = helpers.weights(
        people,
        roles.aspects,
        roles.score,
        within=within or None,
        holm=True,
        clusters=columns,
    )
    answer.add("weights", table, draw=True)
    for name, row in table.iterrows():
        if pd.isna(row["estimate"]):
            answer.sentences.append(
                f"{name}: no weight, since it differs from its usual value in too few "
                f"{_plural(columns[-1])} (see the table)."
            )
            continue
        size = f"{_interval(row)} points of {roles.score}"
        shown = "" if row["p_holm"] < 0.05 else "; not shown to be above or below 0"
        p_value = "< 0.001" if row["p_holm"] < 0.001 else f"= {row['p_holm']:.3f}"
        answer.sentences.append(
            f"One more point of {name}: {size}, p {p_value} (Holm){shown}."
        )
    if _are_few(people):
        alone = helpers.weights(
            people, roles.aspects, roles.score, within=within, clusters=["prompt_id"]
        )
        n_raters = people["rater_id"].nunique()
        answer.add(f"weights for these {n_raters} raters", alone)
        found = [f"{name} {_interval(row)}" for name, row in alone.iterrows()]
        answer.sentences.append(f"{ALONE}: {'; '.join(found)}.")
    if within:
        equal = " and ".join(_plural(name) for name in within)
        answer.sentences.append(f"Other aspects, {equal} are held equal.")


def _stands_in(answer: Answer, ratings: Ratings, people: pd.DataFrame) -> None:
    """The judge beside people, a constant, and a judge of length."""
    roles = ratings.roles
    values = set(ratings.frame[roles.score].dropna())
    length = None
    if "length" in ratings.frame and ratings.frame["length"].notna().all():
        length = "length"
    for judge in roles.judge:
        others = [each for each in roles.judge if each != judge]
        rows = ratings.frame[~ratings.frame["rater_id"].isin(others)]
        table = helpers.judge(
            rows,
            roles.score,
            judge,
            level="nominal" if values <= {0, 1} else "interval",
            epsilon=EPSILON,
            system="system" if roles.system else None,
            length=length,
        )
        answer.add(f"judge {judge}", table)
        said = [f"{judge}: {table.attrs['conclusion']}."]
        said += [f"{note}." for note in table.attrs.get("notes", [])]
        for (measure, who), row in table.iterrows():
            if who in (judge, "people", "all", "judge - people"):
                whose = measure if who == "all" else f"{measure}, {who}"
                if who == "judge - people":
                    whose = f"{measure}, {judge} - people"
                said.append(f"{whose}: {_interval(row)}.")
        # what several judges are compared with is the same
        answer.sentences += [each for each in said if each not in answer.sentences]


def _varies(column: pd.Series) -> bool:
    """Tell whether a column has more than one value."""
    return len(column.dropna().unique()) > 1


def _plural(name: str) -> str:
    """Name what a column of clusters holds."""
    return {"rater_id": "raters", "prompt_id": "prompts", "system": "systems"}[name]


def _singular(name: str) -> str:
    """Name one of what a column holds."""
    return _plural(name).removesuffix("s")


def _interval(row: pd.Series, decimals: int = 2) -> str:
    """Write an estimate with its interval, or say that there is none."""
    if pd.isna(row["estimate"]):
        return "not defined"
    if pd.isna(row["low"]):
        return f"{row['estimate']:.{decimals}f} (no interval)"
    return wording.with_interval(*row[ENDS], decimals=decimals)


def _describe(ratings: Ratings, people: pd.DataFrame) -> str:
    """Count what is there."""
    frame = ratings.frame
    what = "comparisons" if ratings.roles.are_pairs else "ratings"
    parts = [f"{len(people):,} {what}"]
    if not ratings.roles.are_pairs:
        parts.append(f"{frame['item_id'].nunique():,} items")
    if ratings.roles.prompt:
        parts.append(f"{frame['prompt_id'].nunique():,} prompts")
    if ratings.roles.rater:
        n_raters = people["rater_id"].nunique()
        parts.append(f"{n_raters:,} rater{'s' if n_raters > 1 else ''}")
    if ratings.roles.system:
        parts.append(f"{frame['system'].nunique():,} systems")
    if ratings.roles.are_pairs:
        parts.append(f"{len(set(frame['a']) | set(frame['b'])):,} systems")
    text = ", ".join(parts)
    judges = ratings.roles.judge
    if judges:
        n_judged = int(frame["rater_id"].isin(judges).sum())
        who = f"the judge {judges[0]}" if len(judges) == 1 else f"{len(judges)} judges"
        text += f"; beside them {n_judged:,} by {who}"
    return f"{text}."


def _decisions(ratings: Ratings) -> list[str]:
    """What was decided, and by whom, which every output repeats."""
    lines = []
    if ratings.is_simulated:
        lines.append("SIMULATED DATA: nothing here is a finding about people.")
    roles = ratings.roles
    if roles.confirmed == "unseen":
        lines.append("Roles were accepted unseen (--yes); nobody has checked them.")
    # labels of people stand in no output
    private = ("confirmed", "leave_out")
    shown = [
        f"{name} = {in_words(value)}"
        for name, value in roles.given().items()
        if name not in private
    ]
    lines.append(f"Roles: {'; '.join(shown)}.")
    lines += [f"{note[0].upper()}{note[1:]}." for note in ratings.notes]
    for reason, n_rows in ratings.left_out:
        noun = "row" if n_rows == 1 else "rows"
        lines.append(f"Left out: {n_rows:,} {noun} ({reason}).")
    for aspect in roles.aspects:
        n_missing = int(ratings.frame[aspect].isna().sum())
        if n_missing:
            noun = "rating" if n_missing == 1 else "ratings"
            lines.append(f"{aspect} is missing in {n_missing:,} {noun}.")
    if roles.accept:
        lines.append(f"Accepted by the owner: {', '.join(roles.accept)}.")
    return lines


def _not_said(
    ratings: Ratings, people: pd.DataFrame, found: Sequence[Answer]
) -> list[str]:
    """What must not be read into the answers."""
    roles = ratings.roles
    lines = ["A difference that is not shown is not shown to be absent."]
    if not roles.rater:
        lines.append("Whether other raters would say the same: raters are not known.")
    elif people["rater_id"].nunique() < FEWEST_CLUSTERS:
        n_raters = people["rater_id"].nunique()
        who = f"these {n_raters} raters" if n_raters > 1 else "this rater"
        lines.append(f"Whether others than {who} would say the same.")
    else:
        lines.append("What raters and prompts of another kind would give.")
    questions = {each.question for each in found if not each.why_not}
    if PREDICTS in questions:
        lines.append(
            "What changing an aspect would do: the same person gave both ratings, and "
            "one impression may be behind both."
        )
    if {HIGHER, PREFERRED} & questions and not roles.text:
        lines.append("Whether length is the reason: the file has no texts (--text).")
    if JUDGE in questions:
        lines.append(
            f"Whether the judge is right: people are the measure, with ε = {EPSILON}."
        )
    lines.append("Who is right where people disagree.")
    return lines


def as_text(report: Report) -> str:
    """What the terminal prints: every answer with its numbers."""
    lines = [f"{report.ratings.name}: {report.description}"]
    lines += [f"  {line}" for line in report.decisions]
    for number, answer in enumerate(report.answers, start=1):
        lines += ["", f"{number}. {answer.question}"]
        if answer.why_not:
            lines.append(f"   Not answered: {answer.why_not.rstrip('.')}.")
        lines += [f"   {sentence}" for sentence in answer.sentences]
    lines += ["", "What this does not say"]
    lines += [f"   - {line}" for line in report.not_said]
    lines += ["", "In brackets: 95 % intervals."]
    return "\n".join(lines)


def write(report: Report, folder: Path) -> list[Path]:
    """Write the page and its tables into a new folder, and the key to raters beside it.

    A folder that an earlier report made is replaced as a whole; any other is refused.

    Returns
    -------
    list of Path
        The page, and the file for the owner if there are raters.

    Raises
    ------
    OptionError
        If the folder holds something else.
    """
    page = folder / "report.html"
    if folder.exists() and not page.is_file():
        raise OptionError(f"{folder.name} is there and holds no report: choose --out")
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for answer in report.answers:
            for name, table in answer.tables.items():
                shown = pd.DataFrame(table).reset_index()
                file = part / f"{_file_name(name)}.csv"
                file.write_bytes(to_csv_bytes(shown, index=False))
        (part / page.name).write_text(as_page(report), encoding="utf-8")
        part.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    written = [page]
    if len(report.ratings.people):
        key = folder.with_name(f"{folder.name}-who-is-who.csv")
        content = to_csv_bytes(report.ratings.people, index=False)
        paths.replace_files({key: content})
        written.append(key)
    return written


def _file_name(name: str) -> str:
    """Make a name that every system can store."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def as_page(report: Report) -> str:
    """Build the page, which needs no other file and no network."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ratings"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.j2")
    answers_shown = []
    for answer in report.answers:
        pictures = [
            _picture(name, answer.tables[name], report) for name in answer.drawn
        ]
        tables = []
        for name, table in answer.tables.items():
            tables.append(_page_table(name, table))
        answers_shown.append({"answer": answer, "pictures": pictures, "tables": tables})
    return template.render(report=report, answers=answers_shown)


def _page_table(name: str, table: pd.DataFrame) -> dict[str, object]:
    """Round a table for the page; the file has all digits and rows."""
    frame = pd.DataFrame(table)
    if set(ENDS) <= set(frame):
        frame = frame[[column for column in SHOWN if column in frame]]
        frame = frame.rename(columns=SHOWN)
    labels = frame.index.to_frame(index=False).astype(str).to_numpy().tolist()
    rows = []
    for label, (_, row) in zip(labels, frame.iterrows(), strict=True):
        rows.append((label, [_shown_number(value) for value in row]))
    return {
        "name": name,
        "caption": table.attrs.get("caption", name),
        "columns": [*[str(each or "") for each in frame.index.names], *frame.columns],
        "rows": rows[:MOST_ROWS],
        "n_more": max(0, len(rows) - MOST_ROWS),
    }


def _shown_number(value: object) -> str:
    """Write a cell of the page."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if value == round(value) else f"{value:.2f}"
    return str(value)


def _picture(name: str, table: pd.DataFrame, report: Report) -> dict[str, str]:
    """Draw estimates with intervals, as wide as a phone."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from helpers import show

    rows = pd.DataFrame(table).dropna(subset=["estimate"])
    labels = [_label(key) for key in rows.index]
    n_lines = sum(label.count("\n") + 1 for label in labels)
    with mpl.rc_context():
        show.use_style()
        fig, ax = plt.subplots(figsize=(FIGURE_WIDTH, 0.9 + 0.27 * max(n_lines, 2)))
        show.interval_plot(ax, rows.set_axis(labels))
        is_percent = name in ("preferences", "pairs of systems")
        if is_percent:
            ax.axvline(50, color=show.INK, linewidth=1.0, zorder=1)
        elif name != "means":
            show.zero_line(ax)
        ax.set_xlabel(_unit(name, report.ratings.roles.score))
        source = "simulated" if report.ratings.is_simulated else "real"
        png = show.as_png(fig, source)
        plt.close(fig)
    alt = "; ".join(
        f"{' and '.join(map(str, key)) if isinstance(key, tuple) else key} "
        f"{_interval(row)}"
        for key, row in rows.iterrows()
    )
    return {"png": base64.b64encode(png).decode(), "alt": alt, "title": name}


def _label(key: object) -> str:
    """Write the label of a row in lines of a phone's width."""
    text = " – ".join(map(str, key)) if isinstance(key, tuple) else str(key)
    lines = textwrap.wrap(text, LABEL_WIDTH)[:3]
    return "\n".join(lines)


def _unit(name: str, score: str) -> str:
    """Say in what the horizontal axis is counted."""
    words = {
        "means": f"mean {score}",
        "differences": f"points of {score}, first – second",
        "weights": f"points of {score} per point",
        "preferences": "% preferred to an average system",
        "pairs of systems": "% in which the first is preferred",
    }
    return textwrap.fill(words[name], 34)
