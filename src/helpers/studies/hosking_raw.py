"""The submissions from which Hosking et al. (2024) made their released rating tables.

The released tables hold neither who gave a rating nor two of the five tasks of experiment 1; the
submissions do. A few submissions did not enter the released tables. `data/exclusions.csv` lists
them by file, line and reason: some answers are missing, both attention checks failed, or the same
pair was submitted twice. Which of two submissions counts follows no rule that the files show; the
list follows the authors' choice. Of their files, ``detailed_main_1`` is a copy in another order.

Simulated submissions are those of `helpers.simulate.hosking`.

References
----------
Hosking, Blunsom and Bartolo (2024), "Human Feedback is not Gold Standard", ICLR, sections 2.1 and
3.1, appendix A.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths, simulate
from helpers.files import registry
from helpers.files.ratings import anonymise
from helpers.files.schemas import TASKS
from helpers.studies.hosking_forms import FORMS
from helpers.studies.submissions import read_ratings, read_sessions

EXCLUSIONS_FILE = paths.DATA / "exclusions.csv"
NOT_REPORTED = "dataset not reported"
SIMULATED_FILE = "simulation"
DESIGN = ("item_id", "prompt_id", "task", "system", "arm")
PAIR = ("rater_id", "pair_id", "partner_id", "is_distractor")

BATCHES = {
    (1, "errors"): {
        "detailed_pilot_v6": "pilot",
        "detailed_main_1": "main_1",
        "detailed_main_2": "main_2",
        "detailed_main_3": "main_3",
    },
    (1, "unbiased"): {
        "unbiased_pilot_v6": "pilot",
        "unbiased_main_1_reconstructed": "main_1",
        "unbiased_main_2": "main_2",
        "unbiased_main_3": "main_3",
    },
    (2, "errors"): {f"confound_main_{number}_errors": f"main_{number}" for number in range(1, 5)},
    (2, "unbiased"): {
        f"confound_main_{number}_unbiased": f"main_{number}" for number in range(1, 5)
    },
    (2, "perception"): {
        "confound_main_1_groups": "main_1",
        "confound_main_2_grouping": "main_2",
        "confound_main_3_groups": "main_3",
        "confound_main_4_groups": "main_4",
    },
}


@dataclass(frozen=True)
class Submissions:
    """Submissions of one group of raters.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    ratings : pandas.DataFrame
        One row per (item, submission), in the order of the files: the design, ``pair_id`` (the
        submission), ``partner_id`` (the item rated beside this one), ``is_distractor``, the
        aspects, ``response_words``, ``seconds`` spent on the submission, ``batch``, answers to
        attention checks where there are any, and ``reported``, whether the row is in the
        released table.
    exclusions : pandas.DataFrame
        One row per submission that is not in the released table: ``file``, ``line`` (counted
        from 1) and ``reason``. Those of a dataset that the paper does not report are still in
        ``ratings``.
    """

    source: str
    ratings: pd.DataFrame
    exclusions: pd.DataFrame


def load_submissions(
    experiment: int, group: str, data_source: str = "auto", seed: int = 0, texts: bool = False
) -> Submissions:
    """Load what one group of raters submitted.

    Parameters
    ----------
    experiment : {1, 2}
        Experiment of section 2 or of section 3.
    group : {"errors", "unbiased", "perception"}
        Raters who checked errors, gave quality alone, or (experiment 2 only) gave assertiveness
        and complexity.
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one. The same seed gives the same outputs as in
        `helpers.studies.hosking`.
    texts : bool, optional
        Whether to add ``prompt``, ``response`` and, in experiment 2, ``preamble``.

    Returns
    -------
    Submissions
        Ratings and exclusions. Labels of real raters hold for this group only.

    Raises
    ------
    ValueError
        If there is no such group.
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_submissions(2, "perception", "simulated").ratings["task"].unique().tolist()
    ['amazon', 'wikihow', 'curation']
    """
    if (experiment, group) not in FORMS:
        known = ", ".join(map(str, FORMS))
        raise ValueError(f"no group {group!r} in experiment {experiment}; choose one of {known}")
    files = _files(experiment, group)
    located = registry.locate(files, data_source)
    if located is None:
        ratings = _simulate(experiment, group, seed, texts)
        return _sort_out("simulated", ratings, _exclusions(()))
    exclusions = _exclusions(files)
    batches = []
    for file, path in located.items():
        skip = set(exclusions.loc[exclusions["file"] == file, "line"])
        batch = read_ratings(path, FORMS[experiment, group], skip, texts)
        batches.append(batch.assign(file=file, batch=files[file]))
    ratings = pd.concat(batches, ignore_index=True)
    ratings["rater_id"] = anonymise(ratings["rater_id"])
    return _sort_out("real", ratings, exclusions)


def load_sessions(data_source: str = "auto", seed: int = 0) -> pd.DataFrame:
    """Load who took part in which group of both experiments, and for how long.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.DataFrame
        One row per submission: ``experiment``, ``group``, ``batch``, ``file``, ``line``,
        ``task``, ``rater_id``, ``seconds``, and ``reason`` why the submission is not in the
        released table (empty if it is). Labels of raters hold across groups and experiments.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_sessions("simulated").value_counts("reason").to_dict()
    {'': 15240, 'dataset not reported': 2960}
    """
    files = {file: place for place in FORMS for file in _files(*place)}
    located = registry.locate(files, data_source)
    if located is None:
        tables = [_simulated_sessions(*place, seed) for place in FORMS]
        sessions = pd.concat(tables, ignore_index=True)
    else:
        tables = [_real_sessions(*files[file], file, path) for file, path in located.items()]
        sessions = pd.concat(tables, ignore_index=True)
        sessions["rater_id"] = anonymise(sessions["rater_id"])
    sessions = sessions.merge(pd.read_csv(EXCLUSIONS_FILE), how="left", on=["file", "line"])
    default = sessions["task"].isin(TASKS).map({True: "", False: NOT_REPORTED})
    return sessions.assign(reason=sessions["reason"].fillna(default))


def _files(experiment: int, group: str) -> dict[str, str]:
    """Return the files of a group of raters and the batch in each."""
    return {
        f"hosking/raw/annotated_instances_{name}.jsonl": batch
        for name, batch in BATCHES[experiment, group].items()
    }


def _exclusions(files: Collection[str]) -> pd.DataFrame:
    """Return the listed exclusions from some files."""
    listed = pd.read_csv(EXCLUSIONS_FILE)
    return listed[listed["file"].isin(list(files))]


def _sort_out(source: str, ratings: pd.DataFrame, exclusions: pd.DataFrame) -> Submissions:
    """Number the submissions and tell those of reported datasets from the others."""
    reported = ratings["task"].isin(TASKS)
    unreported = ratings.loc[~reported, ["file", "line"]].drop_duplicates()
    exclusions = pd.concat([exclusions, unreported.assign(reason=NOT_REPORTED)])
    ratings = ratings.drop(columns=["file", "line"]).assign(
        pair_id=np.arange(len(ratings)) // 2, reported=reported
    )
    return Submissions(
        source,
        ratings[[*DESIGN, *PAIR, *ratings.columns.drop([*DESIGN, *PAIR])]],
        exclusions.sort_values(["file", "line"], ignore_index=True),
    )


def _simulate(experiment: int, group: str, seed: int, texts: bool = False) -> pd.DataFrame:
    """Simulate the ratings of one group as if read from one file."""
    rng = np.random.default_rng(seed)
    ratings = simulate.hosking_submissions(rng, experiment, group, texts)
    return ratings.assign(file=SIMULATED_FILE, line=ratings["pair_id"] + 1)


def _simulated_sessions(experiment: int, group: str, seed: int) -> pd.DataFrame:
    """Simulate the submissions of one group without their ratings."""
    first_sides = _simulate(experiment, group, seed).iloc[::2]
    sessions = first_sides[["line", "task", "rater_id", "seconds", "batch", "file"]]
    return sessions.assign(experiment=experiment, group=group)


def _real_sessions(experiment: int, group: str, file: str, path: Path) -> pd.DataFrame:
    """Read the submissions in one file without their ratings."""
    batch = _files(experiment, group)[file]
    place = {"batch": batch, "file": file, "experiment": experiment, "group": group}
    return read_sessions(path).assign(**place)
