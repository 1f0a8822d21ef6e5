"""Each question asked of all sets that speak to it: the tables of notebooks 61 to 65.

What is asked of whom stands in `data/atlas/questions.csv`. A set that a recipe reads
needs no code here: its columns are called as in that table.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ratings.atlas import answers, readers, sets
from ratings.atlas.readers import Ratings

# columns of marks whose name in questions.csv is a description
OUTCOMES = {
    "dices_350": "safety",
    "finegrained_rlhf": "preference",
    "hanna": "engagement",
    "lfqa_experts": "first",
    "medical_safety": "label",
    "openmeva": "overall",
    "qags": "supported",
    "realsumm": "present",
    "recipes": "overall",
    "simpeval": "overall",
    "squality": "overall",
    "topical_chat": "overall",
    "ttcw": "passed",
    "wmt_mqm": "points",
    "summeval": "relevance",
    "dialsummeval": "relevance",
}
ERRORS = {
    "any Wrong-Grounding or Unverifiable": "no error of fact",
    "any Redundant or Incoherent": "no error of form",
}
PARTS = ("sf", "roscoe")  # sets of several parts, with a level each
BOTH = "fact less form"
EPSILON = 0.2
SCORES = {"summeval": "closeness"}


def outcome_of(name: str, row: Mapping, ratings: Ratings) -> str:
    """Column of the outcome of a set."""
    column = OUTCOMES.get(name, row["outcome"])
    if column not in ratings.scales:
        raise ValueError(
            f"{name}: questions.csv calls the outcome {column!r}, the ratings have "
            f"{', '.join(ratings.scales)}"
        )
    return column


# ------------------------------------------------------------------------- 61 aspects


def aspects(data_source: str = "auto") -> dict[str, pd.DataFrame]:
    """Weights of the aspects of each set that has an overall rating.

    Parameters
    ----------
    data_source : {"auto", "real"}

    Returns
    -------
    dict of str to pandas.DataFrame
        By set, see `answers.aspect_weights`.
    """
    tables = {}
    for name, row in sets.admitted("aspects", ("yes", "weights")).iterrows():
        items, outcome, scales = aspect_items(name, row, data_source)
        named = row["speaks"] == "yes"
        tables[name] = answers.aspect_weights(
            items,
            outcome,
            scales,
            fact=ERRORS.get(row["fact"], row["fact"]) if named else "",
            form=ERRORS.get(row["form"], row["form"]) if named else "",
            levels="part" if name in PARTS else "",
        )
    return tables


def aspect_items(
    name: str, row: Mapping, data_source: str, of_aspects: str = "simpeval_aspects"
) -> tuple[pd.DataFrame, str, dict]:
    """Texts of a set with mean marks, the outcome's column and the aspects' scales."""
    ratings = sets.load(name, data_source)
    outcome = outcome_of(name, row, ratings)
    items = ratings.items()
    scales = {mark: ends for mark, ends in ratings.scales.items() if mark != outcome}
    if name == "simpeval":  # other people rated the aspects
        others = sets.load(of_aspects, data_source)
        scales = others.scales
        marks = others.items()[["item_id", *scales]]
        items = items.merge(marks, on="item_id")
    if name in PARTS:
        part = ratings.frame.drop_duplicates("item_id").set_index("item_id")["part"]
        items["part"] = items["item_id"].map(part)
    return items, outcome, scales


def facts_and_form(
    weights: Mapping[str, pd.DataFrame], data_source: str = "auto"
) -> pd.DataFrame:
    """Fact less form of each set, and whether that depends on the scale.

    Parameters
    ----------
    weights : mapping of str to pandas.DataFrame
        From `aspects`.
    data_source : {"auto", "real"}
        Of the second scale of simpeval.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``standard_error``, ``low``, ``high``, ``p_value``; the same per
        standard deviation, ``sd``, ``sd low`` and ``sd high``; ``depends`` says why a
        set counts on neither side, or is empty.
    """
    rows = {}
    for name, table in weights.items():
        if BOTH in table.index:
            rows[name] = table.loc[BOTH]
    table = pd.DataFrame(rows).T
    table["depends"] = ""
    turned = np.sign(table["estimate"]) != np.sign(table["sd"])
    table.loc[turned, "depends"] = "on the scale: per standard deviation it turns"
    if "simpeval" in table.index:
        other = second_scale(data_source).loc[BOTH, "estimate"]
        if np.sign(other) != np.sign(table.loc["simpeval", "estimate"]):
            table.loc["simpeval", "depends"] = "on the scale: five steps turn it"
    return table


def second_scale(data_source: str = "auto") -> pd.DataFrame:
    """Weights in simpeval by aspects marked in five steps."""
    row = sets.admitted("aspects").loc["simpeval"]
    items, outcome, scales = aspect_items(
        "simpeval", row, data_source, of_aspects="simpeval_likert"
    )
    return answers.aspect_weights(items, outcome, scales, row["fact"], row["form"])


# ----------------------------------------------------------------------- 62 agreement


def agreement(
    data_source: str, n_boot: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How well people agree in each set.

    Parameters
    ----------
    data_source : {"auto", "real"}
    n_boot : int
    rng : numpy.random.Generator

    Returns
    -------
    outcomes : pandas.DataFrame
        A row per set, see `answers.agreement_on`, with ``level``.
    all_marks : pandas.DataFrame
        The same for every mark, by set and mark.
    """
    line = float(sets.statements().loc["agreement", "line"])
    outcomes = {}
    tables = {}
    for name, row in sets.admitted("agreement").iterrows():
        ratings = sets.load(name, data_source)
        outcome = outcome_of(name, row, ratings)
        marks = [outcome]
        marks += [mark for mark in ratings.scales if mark not in (outcome, "expert")]
        table = answers.agreement_on(ratings, marks, row["level"], line, n_boot, rng)
        tables[name] = table
        outcomes[name] = table.loc[outcome]
    result = pd.DataFrame(outcomes).T.infer_objects()
    result["level"] = sets.admitted("agreement")["level"]
    return result, pd.concat(tables, names=["set", "mark"])


# -------------------------------------------------------------------------- 63 length


def length(data_source: str = "auto") -> pd.DataFrame:
    """Change of the rating with length, in each set.

    Returns
    -------
    pandas.DataFrame
        A row per set, see `answers.length_slope`.
    """
    rows = {}
    for name in sets.admitted("length").index:
        rows[name] = answers.length_slope(*rated_texts(name, data_source))
    return pd.DataFrame(rows).T


def rated_texts(name: str, data_source: str = "auto") -> tuple[pd.DataFrame, str]:
    """Texts of a set with their mean marks, and the column that 63 judges."""
    row = sets.admitted("length").loc[name]
    ratings = sets.load(name, data_source)
    return ratings.items(), outcome_of(name, _first_word(row), ratings)


def _first_word(row: pd.Series) -> dict:
    """Row whose outcome is a column: "overall, mean" is the column overall."""
    return {**row, "outcome": row["outcome"].partition(",")[0]}


def length_in_pairs(data_source: str = "auto") -> pd.DataFrame:
    """Change of preferences with length, in sets of pairs; see `answers.pair_slope`."""
    rows = {}
    for name in sets.admitted("length", ("pairs",)).index:
        pairs = readers.preference_pairs(name, sets.locate(name, data_source))
        rows[name] = answers.pair_slope(pairs)
    return pd.DataFrame(rows).T


# --------------------------------------------------------------------------- 64 crowd


def crowd(data_source: str = "auto") -> pd.DataFrame:
    """How much a crowd finds of what experts find, at each threshold.

    Returns
    -------
    pandas.DataFrame
        By set, threshold (in words, the one that is judged first) and row of
        `answers.detection`.
    """
    tables = {}
    for name in sets.admitted("crowd").index:
        for threshold, both in findings(name, data_source).items():
            tables[name, threshold] = answers.detection(
                both["crowd"], both["expert"], both["cluster"]
            )
    return pd.concat(tables, names=["set", "threshold", "what"])


def findings(name: str, data_source: str = "auto") -> dict[str, pd.DataFrame]:
    """What crowd and experts find in each text of a set, by threshold."""
    if name == "dices_350":
        return _unsafe(data_source)
    if name == "medical_safety":
        return _far_reaching(data_source)
    experts, workers = two_groups(name, data_source)
    result = {}
    for mark in (4, 3, 2, 1):
        by_expert = answers.found_by(experts, experts["consistency"] <= mark)
        by_crowd = answers.found_by(workers, workers["consistency"] <= mark)
        words = f"{mark} or less" if mark > 1 else "1"
        result[words] = _together(by_crowd, by_expert["found"])
    return result


def two_groups(name: str, data_source: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ratings of the same texts by experts (or students) and by a crowd."""
    names = {
        "summeval": ("summeval_experts", "summeval"),
        "dialsummeval": ("dialsummeval", "dialsummeval_crowd"),
    }
    experts, workers = [sets.load(each, data_source).frame for each in names[name]]
    return experts, workers


def _together(by_crowd: pd.DataFrame, by_expert: pd.Series) -> pd.DataFrame:
    """Findings of both, of the texts that both saw."""
    both = by_crowd.index.intersection(by_expert.index)
    return pd.DataFrame(
        {
            "cluster": by_crowd.loc[both, "cluster"],
            "crowd": by_crowd.loc[both, "found"],
            "expert": by_expert[both].astype(bool),
        }
    )


def _unsafe(data_source: str) -> dict[str, pd.DataFrame]:
    """Responses that an expert calls not safe."""
    labels = readers.dices_expert(sets.locate("dices_350", data_source))
    frame = sets.load("dices_350", data_source).frame
    unsafe, unsure, _ = (1, 2, 3)
    result = {}
    for words, mark in {"not safe": unsafe, "not safe or unsure": unsure}.items():
        by_crowd = answers.found_by(frame, frame["safety"] <= mark)
        result[words] = _together(by_crowd, labels <= mark)
    return result


def _far_reaching(data_source: str) -> dict[str, pd.DataFrame]:
    """Answers that go as far as a recommendation, or a treatment."""
    frame = sets.load("medical_safety", data_source).frame
    result = {}
    names = {"a recommendation or more": 2, "a treatment or diagnosis": 3}
    for words, least in names.items():
        # irrelevant answers (4, 5) are no step of this scale
        by_crowd = answers.found_by(frame, frame["label"].between(least, 3))
        expert = frame.groupby("item_id")["expert"].first().between(least, 3)
        result[words] = _together(by_crowd, expert)
    return result


def judged_at(table: pd.DataFrame, line: float) -> pd.DataFrame:
    """The threshold that is judged, and whether another one says the opposite.

    Parameters
    ----------
    table : pandas.DataFrame
        From `crowd`.
    line : float
        In percent.

    Returns
    -------
    pandas.DataFrame
        A row per set: ``estimate``, ``standard_error``, ``low``, ``high``,
        ``p_value``, ``items``, ``threshold``, ``depends``, and ``false alarms``.
    """
    rows = {}
    for name, part in table.groupby(level="set", sort=False):
        found = part.xs("found", level="what").droplevel("set")
        alarms = part.xs("false alarms", level="what").droplevel("set")
        threshold = found.index[0]
        first = found.iloc[0]
        others = found.iloc[1:]
        others = others[others["items"] >= answers.FEWEST_FOUND]
        turned = others[
            ((first["high"] < line) & (others["low"] > line))
            | ((first["low"] > line) & (others["high"] < line))
        ]
        depends = f"on the threshold: {turned.index[0]}" if len(turned) else ""
        rows[name] = {
            **first,
            "threshold": threshold,
            "depends": depends,
            "false alarms": alarms["estimate"].iloc[0],
            "alarms low": alarms["low"].iloc[0],
            "alarms high": alarms["high"].iloc[0],
        }
    return pd.DataFrame.from_dict(rows, "index")


def one_person(name: str, data_source: str, mark: float) -> pd.DataFrame:
    """What one more expert, or one crowd worker, finds of what two experts both find.

    Parameters
    ----------
    name : {"summeval", "dialsummeval"}
    data_source : {"auto", "real"}
    mark : float
        A mark up to this is a finding.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` in percent, for ``"one more expert"`` and
        ``"one crowd worker"``, over the three ways to choose two experts.
    """
    experts, workers = two_groups(name, data_source)
    place = experts.groupby("item_id").cumcount()
    found = experts.assign(found=experts["consistency"] <= mark, place=place)
    wide = found.pivot(index="item_id", columns="place", values="found")
    cluster = experts.groupby("item_id")["cluster"].first()
    share = (workers["consistency"] <= mark).groupby(workers["item_id"]).mean()
    third = []
    worker = []
    for left_out in wide:
        others = wide.drop(columns=left_out).all(axis="columns")
        items = others[others].index.intersection(share.index)
        third.append(wide.loc[items, left_out].astype(float))
        worker.append(share[items])
    rows = {}
    for name_, parts in {"one more expert": third, "one crowd worker": worker}.items():
        values = pd.concat(parts)
        rows[name_] = answers.rate(values, cluster[values.index])
    return pd.DataFrame.from_dict(rows, "index")


# -------------------------------------------------------------------------- 65 judges


def judges(data_source: str = "auto") -> pd.DataFrame:
    """Alternative annotator test of each model in each set.

    Returns
    -------
    pandas.DataFrame
        By set and model, see `answers.stand_in`.
    """
    tables = {}
    for name in sets.admitted("judges").index:
        people, models = readers.judged_labels(name, sets.locate(name, data_source))
        score = SCORES.get(name, "same label")
        tables[name] = answers.stand_in(people, models, EPSILON, score)
    return pd.concat(tables, names=["set", "model"])


def sides_of_judges(table: pd.DataFrame, line: float) -> pd.Series:
    """Side of each set: all of its models stand in, none does, or some do."""
    from ratings.atlas.summary import NEITHER, ON_SIDE, OTHER_SIDE

    passes = table["winning_rate"] >= line
    share = passes.groupby(level="set", sort=False).mean()
    result = pd.Series(NEITHER, share.index)
    return result.mask(share == 1, ON_SIDE).mask(share == 0, OTHER_SIDE)


def hanna_beside_people(
    data_source: str, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Correlation of models with people, beside that of a person; set without ids."""
    marks = sets.load("hanna", data_source).frame
    judged = readers.hanna_judges(sets.locate("hanna", data_source))
    criteria = list(readers.CRITERIA.values())
    place = marks.groupby("item_id").cumcount()
    long = marks.assign(place=place).melt(
        id_vars=["item_id", "cluster", "place"],
        value_vars=criteria,
        var_name="criterion",
    )
    wide = long.pivot(
        index=["item_id", "criterion", "cluster"], columns="place", values="value"
    )
    # levels of criteria are taken out: agreement is on which story is better
    wide = wide - wide.groupby(level="criterion").transform("mean")
    keys = wide.index.droplevel("cluster")
    models = judged.reindex(keys)
    models = models - models.groupby(level="criterion").transform("mean")
    return answers.correlation_with_others(wide, models, n_boot, rng)
