"""The submissions behind the ratings of Hosking et al. (2024): who rated which pair.

A file of the annotation tool holds one submission, a JSON object, a line. In a
submission one person answers the same questions about two responses, side a and side b,
to one prompt. One side may be a distractor: a response of the same system to another
prompt.

The released tables hold neither who gave a rating nor two of the five tasks of
experiment 1; the submissions do. A few submissions did not enter the released tables.
`data/exclusions.csv` lists them by file, line and reason: some answers are missing,
both attention checks failed, or the same pair was submitted twice. Which of two
submissions counts follows no rule that the files show; the list follows the authors'
choice. Of their files, ``detailed_main_1`` is a copy in another order.

References
----------
Hosking, Blunsom and Bartolo (2024), "Human Feedback is not Gold Standard", ICLR,
sections 2.1 and 3.1, appendix A.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.data import registry
from helpers.data.columns.hosking import ERRORS_1, ERRORS_2, FACTORS, TASKS
from helpers.data.raters import anonymise
from helpers.data.tables import bad_table, cell, json_objects
from helpers.simulate.hosking import hosking_submissions
from helpers.studies.hosking import (
    ARM_NAMES,
    COLUMN_NAMES,
    DESIGN,
    DISTRACTOR,
    DISTRACTOR_MARK,
    DISTRACTOR_PREFIX,
    SYSTEM_NAMES,
    item_name,
    without_checks,
)

LABELS = {column: label for label, column in COLUMN_NAMES.items()}
NO_YES = {"No": 0.0, "Yes": 1.0}
ONE_TO_FIVE = {str(score): float(score) for score in range(1, 6)}
ATTENTION = {"positive_val", "negative_val"}
UNUSED_LABELS = {"email", "src", "instance_id", "factors_a", "factors_b", "feedback"}
OTHER_SIDE = {"a": "b", "b": "a"}
PROMPT_SETS = {task: task for task in (*TASKS, "dialogsum", "factualnlg")}
TIME_SPENT = re.compile(r"Time spent: (\d+)d (\d+)h (\d+)m (\d+)s ?")

EXCLUSIONS_FILE = paths.DATA / "exclusions.csv"
Place = tuple[int, str]  # experiment and task of a group of raters

FIRST_COLUMNS = [
    "item_id",
    *DESIGN,
    "rater_id",
    "pair_id",
    "partner_id",
    "is_distractor",
]
FILES = {
    (1, "errors"): (
        "detailed_pilot_v6",
        *(f"detailed_main_{number}" for number in range(1, 4)),
    ),
    (1, "unbiased"): (
        "unbiased_pilot_v6",
        "unbiased_main_1_reconstructed",
        "unbiased_main_2",
        "unbiased_main_3",
    ),
    (2, "errors"): [f"confound_main_{number}_errors" for number in range(1, 5)],
    (2, "unbiased"): [f"confound_main_{number}_unbiased" for number in range(1, 5)],
    (2, "perception"): (
        "confound_main_1_groups",
        "confound_main_2_grouping",
        "confound_main_3_groups",
        "confound_main_4_groups",
    ),
}


@dataclass(frozen=True)
class Form:
    """What a group of raters was asked.

    Parameters
    ----------
    aspects : tuple of str
        Columns to be filled with the answers about each response: 0 for no and 1 for
        yes if the aspect is an error, 1 to 5 otherwise.
    attention : bool, optional
        Whether there are two more questions, to which 5 and 1 are the right answers.
    arms : bool, optional
        Whether the responses come from different arms.

    Examples
    --------
    >>> Form(("factuality",)).scales
    {'factuality': {'No': 0.0, 'Yes': 1.0}}
    """

    aspects: tuple[str, ...]
    attention: bool = False
    arms: bool = False

    @cached_property
    def scales(self) -> dict[str, Mapping[str, float]]:
        """Aspects and the answers that each allows."""
        return {
            aspect: NO_YES if aspect in ERRORS_1 else ONE_TO_FIVE
            for aspect in self.aspects
        }

    @cached_property
    def questions(self) -> dict[str, dict[str, str]]:
        """Label of the question about each aspect, for either side."""
        questions = {"a": {}, "b": {}}
        for aspect in self.aspects:
            label = LABELS.get(aspect, aspect)
            questions["a"][aspect] = f"{label}_a"
            questions["b"][aspect] = f"{label}_b"
        return questions

    @cached_property
    def labels(self) -> set[str]:
        """Labels that a submission may have."""
        labels = set(UNUSED_LABELS)
        for questions in self.questions.values():
            labels.update(questions.values())
        if self.attention:
            labels.update(ATTENTION)
        return labels


FORMS = {
    (1, "errors"): Form(("quality_biased", *FACTORS, *ERRORS_1), attention=True),
    (1, "unbiased"): Form(("quality_unbiased",)),
    (2, "errors"): Form(("quality_biased", *ERRORS_2), attention=True, arms=True),
    (2, "unbiased"): Form(("quality_unbiased",), arms=True),
    (2, "perception"): Form(("assertiveness", "complexity"), arms=True),
}


GROUPS = {
    (1, "errors"): "1: errors",
    (1, "unbiased"): "1: quality",
    (2, "errors"): "2: errors",
    (2, "unbiased"): "2: quality",
    (2, "perception"): "2: tone",
}


def load_submissions(
    experiment: int,
    group: str,
    data_source: str = "real",
    seed: int = 0,
    texts: bool = False,
) -> tuple[str, pd.DataFrame]:
    """Load what one group of raters submitted.

    Parameters
    ----------
    experiment : {1, 2}
        Experiment of section 2 or of section 3.
    group : {"errors", "unbiased", "perception"}
        Raters who checked errors, gave quality alone, or (experiment 2 only) gave
        assertiveness and complexity.
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one. The same seed gives the same outputs as
        in `helpers.studies.hosking`.
    texts : bool, optional
        Whether to add ``prompt``, ``response`` and, in experiment 2, ``preamble``.

    Returns
    -------
    source : {"real", "simulated"}
        Where the table comes from.
    ratings : pandas.DataFrame
        One row per (item, submission), in the order of the files: the design,
        ``pair_id`` (the submission), ``partner_id`` (the item rated beside this one),
        ``is_distractor``, the aspects, ``seconds`` spent on the submission, and
        ``reported``, whether the paper reports its dataset. Labels of real raters hold
        for this group only.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> _, ratings = load_submissions(2, "perception", "simulated")
    >>> sorted(ratings["task"].unique())
    ['amazon', 'curation', 'wikihow']
    """
    place = (experiment, group)
    source, ratings, _ = _load([place], data_source, seed, texts)
    return source, _anonymised(ratings[place], source)


def load_groups(
    data_source: str = "real", seed: int = 0, reported_only: bool = False
) -> tuple[str, dict[str, pd.DataFrame], pd.DataFrame]:
    """Load what all five groups of raters submitted, with texts, and their sessions.

    Parameters
    ----------
    data_source, seed
        As `load_submissions`.
    reported_only : bool, optional
        Whether to leave out the datasets of experiment 1 that the paper does not
        report.

    Returns
    -------
    source : {"real", "simulated"}
        Where the tables come from.
    ratings : dict of str to pandas.DataFrame
        Columns as from `load_submissions`, by experiment and task of the group.
    sessions : pandas.DataFrame
        One row per submission, of those left out among the ratings as well:
        ``experiment``, ``group``, ``raters`` (both in one name), ``rater_id`` and
        ``seconds``. These labels of raters hold across groups and experiments.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> source, ratings, sessions = load_groups("simulated")
    >>> list(ratings), len(sessions)
    (['1: errors', '1: quality', '2: errors', '2: quality', '2: tone'], 15240)
    """
    source, all_ratings, all_sessions = _load(GROUPS, data_source, seed, texts=True)
    ratings = {}
    sessions = []
    for place, name in GROUPS.items():
        # before rows are left out: labels do not depend on what is reported
        of_group = _anonymised(all_ratings[place], source)
        if reported_only:
            of_group = of_group[of_group["reported"]]
        ratings[name] = of_group
        experiment, group = place
        sessions.append(
            all_sessions[place][["rater_id", "seconds"]].assign(
                experiment=experiment, group=group, raters=name
            )
        )
    together = pd.concat(sessions, ignore_index=True)
    return source, ratings, _anonymised(together, source)


def _load(
    places: Collection[Place], data_source: str, seed: int, texts: bool
) -> tuple[str, dict[Place, pd.DataFrame], dict[Place, pd.DataFrame]]:
    """Load ratings and sessions of some groups, with the names of real raters.

    A person has one name in all groups. `_anonymised` replaces names before anybody
    sees them.
    """
    files = []
    for place in places:
        files += _files(place)
    located = registry.locate(files, data_source)
    ratings = {}
    sessions = {}
    for place in places:
        if located is None:
            rng = np.random.default_rng(seed)
            experiment, group = place
            submitted = hosking_submissions(rng, experiment, group, texts)
            of_pairs = submitted.iloc[::2]
        else:
            submitted, of_pairs = _read_group(place, located, texts)
        ratings[place] = _completed(submitted)
        sessions[place] = of_pairs
    source = "simulated" if located is None else "real"
    return source, ratings, sessions


def _files(place: Place) -> list[str]:
    """Return the files of a group of raters."""
    names = FILES[place]
    return [f"hosking/raw/annotated_instances_{name}.jsonl" for name in names]


def _read_group(
    place: Place, located: Mapping[str, Path], texts: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the ratings and sessions of a group, the excluded ones only as sessions."""
    exclusions = pd.read_csv(EXCLUSIONS_FILE)
    ratings = []
    sessions = []
    for file in _files(place):
        excluded_lines = set(exclusions.loc[exclusions["file"] == file, "line"])
        rows, of_pairs = read_submissions(
            located[file], FORMS[place], excluded_lines, texts
        )
        ratings.append(rows)
        sessions.append(of_pairs)
    return (
        pd.concat(ratings, ignore_index=True),
        pd.concat(sessions, ignore_index=True),
    )


def _completed(ratings: pd.DataFrame) -> pd.DataFrame:
    """Number the pairs of a group, mark reported datasets, put the design first."""
    ratings = ratings.assign(
        pair_id=np.arange(len(ratings)) // 2, reported=ratings["task"].isin(TASKS)
    )
    other_columns = ratings.columns.drop(FIRST_COLUMNS)
    return ratings[[*FIRST_COLUMNS, *other_columns]]


def _anonymised(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Put labels in the place of raters' names, if they are of real people."""
    if source == "simulated":
        return table
    return table.assign(rater_id=anonymise(table["rater_id"]))


def _behind_averages(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep the ratings that enter released averages: reported ones, no checks."""
    return without_checks(ratings[ratings["reported"]])


def single_ratings(
    experiment: int, group: str, data_source: str = "real", seed: int = 0
) -> pd.DataFrame:
    """Load the single ratings behind the released averages, without attention checks.

    Parameters
    ----------
    experiment : {1, 2}
        Experiment of section 2 or of section 3.
    group : {"errors", "unbiased", "perception"}
        As `load_submissions`.
    data_source : {"real", "simulated"}, optional
        As `registry.locate`. Give the source of the averages that the ratings are set
        beside.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.DataFrame
        One row per output and rater, columns as from `load_submissions`. Labels of real
        raters hold for this group only.

    Raises
    ------
    KeyError
        If there is no such group.
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> ratings = single_ratings(1, "unbiased", "simulated")
    >>> len(ratings), ratings["item_id"].nunique()
    (4080, 900)
    """
    _, ratings = load_submissions(experiment, group, data_source, seed)
    return _behind_averages(ratings).reset_index(drop=True)


def same_raters(
    experiment: int, groups: Collection[str], data_source: str = "real", seed: int = 0
) -> dict[str, pd.DataFrame]:
    """Load the single ratings of several groups, in which a person has one label.

    Parameters
    ----------
    experiment : {1, 2}
        Experiment of section 2 or of section 3.
    groups : collection of str
        Groups as in `load_submissions`.
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each group the rows of `single_ratings`, in the same order, with other
        labels of raters: whoever is in two groups has one label.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> groups = same_raters(1, ["errors", "unbiased"], "simulated")
    >>> len(groups["unbiased"])
    4080
    """
    submitted = submissions_of_same_raters(experiment, groups, data_source, seed)
    return {
        group: _behind_averages(rows).reset_index(drop=True)
        for group, rows in submitted.items()
    }


def submissions_of_same_raters(
    experiment: int, groups: Collection[str], data_source: str, seed: int
) -> dict[str, pd.DataFrame]:
    """Load all ratings of several groups, in which a person has one label."""
    places = [(experiment, group) for group in groups]
    source, ratings, _ = _load(places, data_source, seed, texts=False)
    of_groups = {group: ratings[experiment, group] for group in groups}
    raters = pd.concat({group: rows[["rater_id"]] for group, rows in of_groups.items()})
    labels = _anonymised(raters, source)["rater_id"]
    return {
        group: rows.assign(rater_id=labels.loc[group].to_numpy())
        for group, rows in of_groups.items()
    }


def read_submissions(
    path: Path, form: Form, skip: Collection[int] = (), texts: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read a file of submissions: ratings but those of some lines, and all sessions."""
    ratings = []
    sessions = []
    problems = []
    first_lines = {}
    for line, record, problem in json_objects(path):
        if record is None:
            problems.append(problem)
            continue
        try:
            session = _session(record)
            sessions.append(session)
            if line not in skip:
                _require_new(record, line, first_lines)
                ratings += _two_ratings(record, session, form, texts)
        except KeyError as error:
            problems.append(f"line {line}: key {error} is missing")
        except ValueError as error:
            problems.append(f"line {line}: {error}")
    if problems:
        raise bad_table(path.name, problems)
    return pd.DataFrame(ratings), pd.DataFrame(sessions)


def _require_new(record: dict, line: int, first_lines: dict[str, int]) -> None:
    """Stop if a line before this one is a submission of the same pair."""
    pair = _text(record, "id")
    first = first_lines.setdefault(pair, line)
    if first != line:
        raise ValueError(
            f"line {first} is a submission of the same pair, 'id' {cell(pair)}; "
            "name one of the two lines in data/exclusions.csv"
        )


def _two_ratings(record: dict, session: dict, form: Form, texts: bool) -> list[dict]:
    """Return the rows of side a and side b."""
    labels = _object(record, "label_annotations")
    unknown = labels.keys() - form.labels
    if unknown:
        raise ValueError(f"question {cell(min(unknown))} is unknown")
    items = {
        side: _item(record["input_meta"], session["task"], side, form)
        for side in OTHER_SIDE
    }
    rows = []
    for side, other_side in OTHER_SIDE.items():
        row = items[side] | {"partner_id": items[other_side]["item_id"]}
        row |= _answers(labels, side, form)
        if texts:
            row |= _texts(record, side, form)
        rows.append(row | session)
    return rows


def _session(record: dict) -> dict:
    """Return what is known of a submission apart from its two responses."""
    spent = _text(_object(record, "behavioral_data"), "time_string")
    match = TIME_SPENT.fullmatch(spent)
    if not match:
        raise ValueError(
            f"'time_string' is {cell(spent)}; expected 'Time spent: 0d 0h 1m 30s'"
        )
    days, hours, minutes, seconds = (int(number) for number in match.groups())
    task = _choice(_object(record, "input_meta"), "dataset", PROMPT_SETS)
    # The field holds a name for the rater and, behind "_", for the submission.
    identifier = _text(_object(record, "label_annotations"), "email")
    rater_id, _, _ = identifier.partition("_")
    return {
        "task": task,
        "rater_id": rater_id,
        "seconds": ((days * 24 + hours) * 60 + minutes) * 60 + seconds,
    }


def _item(meta: dict, task: str, side: str, form: Form) -> dict:
    """Name the response on one side; a distractor has the system of the other side."""
    is_distractor = meta[f"model_{side}"] == DISTRACTOR
    side_of_system = OTHER_SIDE[side] if is_distractor else side
    number = str(meta["sample_ix"]).removeprefix(DISTRACTOR_PREFIX)
    prompt_id = f"{task}-{number}"
    system = _choice(meta, f"model_{side_of_system}", SYSTEM_NAMES)
    arm = "baseline"
    if form.arms:
        arm = _choice(meta, f"preamble_type_{side}", ARM_NAMES)
    item_id = item_name(prompt_id, system, arm)
    if is_distractor:
        item_id += DISTRACTOR_MARK
    return {
        "item_id": item_id,
        "prompt_id": prompt_id,
        "system": system,
        "arm": arm,
        "is_distractor": is_distractor,
    }


def _answers(labels: dict, side: str, form: Form) -> dict[str, float]:
    """Return the answers about the response on one side."""
    asked = form.questions[side]
    return {
        aspect: _choice(labels, asked[aspect], scale)
        for aspect, scale in form.scales.items()
    }


def _texts(record: dict, side: str, form: Form) -> dict[str, str]:
    """Return the prompt, the response on one side and, if it has one, its preamble."""
    shown = _object(record, "input_text")
    texts = {
        "prompt": _text(shown, "Prompt"),
        "response": _text(shown, f"Response {side.upper()}"),
    }
    if form.arms:
        texts["preamble"] = _text(record["input_meta"], f"preamble_{side}")
    return texts


def _choice(fields: dict, key: str, allowed: Mapping[str, str | float]) -> str | float:
    """Translate the value of a field, which must be one of those allowed."""
    value = fields[key]
    # A list or an object cannot be looked up in a mapping.
    if not isinstance(value, str) or value not in allowed:
        listing = ", ".join(allowed)
        raise ValueError(f"{key!r} is {cell(value)}; allowed: {listing}")
    return allowed[value]


def _text(fields: dict, key: str) -> str:
    """Return the value of a field, which must be text."""
    value = fields[key]
    if not isinstance(value, str):
        raise ValueError(f"{key!r} is {cell(value)}; text is needed")
    return value


def _object(fields: dict, key: str) -> dict:
    """Return the value of a field, which must be a JSON object."""
    value = fields[key]
    if not isinstance(value, dict):
        raise ValueError(f"{key} must be a JSON object, found {type(value).__name__}")
    return value


def repeated(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep the ratings of pairs that were judged more than once.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per output and submission.

    Returns
    -------
    pandas.DataFrame
        Some of the rows, in their order.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("abbaac"), "partner_id": list("baabca"),
    ...                         "pair_id": [0, 0, 1, 1, 2, 2]})
    >>> repeated(ratings)["pair_id"].tolist()
    [0, 0, 1, 1]
    """
    return ratings[_times_judged(ratings) > 1]


def repeats(ratings: pd.DataFrame) -> pd.Series:
    """Count the pairs that were judged once, twice and so on.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per output and submission.

    Returns
    -------
    pandas.Series of int
        Number of different pairs, indexed by how often each was judged.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("abbaac"), "partner_id": list("baabca"),
    ...                         "pair_id": [0, 0, 1, 1, 2, 2]})
    >>> repeats(ratings).to_dict()
    {1: 1, 2: 1}
    """
    times = _times_judged(ratings)
    n_rows = times.groupby(times).size()
    # Each time that a pair is judged gives two rows, one for each response.
    n_pairs = n_rows // (2 * n_rows.index)
    return n_pairs.rename_axis("times judged").rename("pairs")


def pairings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Count the ratings of each output, and the outputs and systems shown beside it.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per output and submission.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``item_id``: ``ratings``, ``partners`` (different outputs),
        ``other_systems`` (different systems among them, its own left out).

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("abac"), "partner_id": list("baca"),
    ...                         "system": list("xyxx"), "pair_id": [0, 0, 1, 1]})
    >>> pairings(ratings).loc["a"].to_dict()
    {'ratings': 2, 'partners': 2, 'other_systems': 1}
    """
    system_of_item = ratings.drop_duplicates("item_id").set_index("item_id")["system"]
    partner_system = ratings["partner_id"].map(system_of_item)
    # missing, and so not counted, where both are of one system
    other_system = partner_system.where(partner_system != ratings["system"])
    shown = ratings[["item_id", "partner_id"]].assign(other_system=other_system)
    by_item = shown.groupby("item_id")
    return pd.DataFrame(
        {
            "ratings": by_item.size(),
            "partners": by_item["partner_id"].nunique(),
            "other_systems": by_item["other_system"].nunique(),
        }
    )


def _times_judged(ratings: pd.DataFrame) -> pd.Series:
    """How often the pair in each row was judged, whatever stood on which side."""
    pair = ratings[["item_id", "partner_id"]]
    # in alphabetical order, so that both sides of a pair have the same key
    key = [pair.min(axis="columns"), pair.max(axis="columns")]
    return ratings.groupby(key)["pair_id"].transform("nunique")
