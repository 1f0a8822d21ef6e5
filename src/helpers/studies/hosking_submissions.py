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

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from helpers import paths
from helpers.data import registry, tables
from helpers.data.columns import check, kinds
from helpers.data.columns.hosking import (
    ARMS,
    ERRORS_1,
    ERRORS_2,
    FACTORS,
    SYSTEMS_1,
    SYSTEMS_2,
    TASKS,
)
from helpers.data.raters import anonymise
from helpers.simulate import hosking as simulated
from helpers.studies.hosking import (
    COLUMN_NAMES,
    DISTRACTOR,
    DISTRACTOR_MARK,
    design_of,
    without_checks,
)

Place = tuple[int, str]  # experiment and form

ASPECTS = {
    (1, "errors"): ("quality_biased", *FACTORS, *ERRORS_1),
    (1, "unbiased"): ("quality_unbiased",),
    (2, "errors"): ("quality_biased", *ERRORS_2),
    (2, "unbiased"): ("quality_unbiased",),
    (2, "perception"): ("assertiveness", "complexity"),
}
FILES = {
    (1, "errors"): (
        "detailed_pilot_v6",
        "detailed_main_1",
        "detailed_main_2",
        "detailed_main_3",
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
EXCLUSIONS_FILE = paths.DATA / "exclusions.csv"
OTHER_TASKS = ("dialogsum", "factualnlg")  # rated, and not reported
LABELS = {column: label for label, column in COLUMN_NAMES.items()}
TIME_SPENT = r"(\d+)d (\d+)h (\d+)m (\d+)s"


def load_submissions(
    experiment: int,
    group: str,
    data_source: str = "real",
    seed: int = 0,
    texts: bool = False,
) -> tuple[str, pd.DataFrame]:
    """Load what people submitted on one form.

    Parameters
    ----------
    experiment : {1, 2}
        Experiment of section 2 or of section 3.
    group : {"errors", "unbiased", "perception"}
        The form that asked for errors, for quality alone, or (experiment 2 only) for
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
        ``reported``, whether the paper reports its dataset. Labels of real raters are
        valid for this form only.

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
    source, ratings = _load([place], data_source, seed, texts)
    return source, _anonymised(ratings[place], source)


def single_ratings(
    experiment: int, group: str, data_source: str = "real", seed: int = 0
) -> pd.DataFrame:
    """Load the single ratings behind the released averages, without attention checks.

    Parameters
    ----------
    experiment, group, data_source, seed
        As `load_submissions`.

    Returns
    -------
    pandas.DataFrame
        One row per output and rater, columns as from `load_submissions`.

    Raises
    ------
    KeyError
        If there is no such form.
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> ratings = single_ratings(1, "unbiased", "simulated")
    >>> len(ratings), ratings["item_id"].nunique()
    (4080, 900)
    """
    _, ratings = load_submissions(experiment, group, data_source, seed)
    return _behind_averages(ratings)


def submissions_of_same_raters(
    experiment: int, groups: Collection[str], data_source: str, seed: int
) -> dict[str, pd.DataFrame]:
    """Load all ratings of several forms, in which a person has one label."""
    places = [(experiment, group) for group in groups]
    source, ratings = _load(places, data_source, seed, texts=False)
    together = pd.concat({place[1]: rows for place, rows in ratings.items()})
    together = _anonymised(together, source)
    return {
        place[1]: rows.assign(rater_id=together.loc[place[1], "rater_id"].to_numpy())
        for place, rows in ratings.items()
    }


def _load(
    places: Collection[Place], data_source: str, seed: int, texts: bool
) -> tuple[str, dict[Place, pd.DataFrame]]:
    """Load the ratings of some forms, with the names of real raters.

    A person has one name on all forms. `_anonymised` replaces names before anybody sees
    them.
    """
    files = [file for place in places for file in _files(place)]
    located = registry.locate(files, data_source)
    ratings = {}
    for place in places:
        if located is None:
            rows = simulated.ratings(*place, seed, texts)
        else:
            exclusions = pd.read_csv(EXCLUSIONS_FILE).groupby("file")["line"]
            excluded = exclusions.agg(list).to_dict()
            of_files = [
                read_submissions(located[file], place, excluded.get(file, ()), texts)
                for file in _files(place)
            ]
            rows = pd.concat(of_files, ignore_index=True)
        pair = np.arange(len(rows)) // 2
        rows = rows.assign(pair_id=pair, reported=rows["task"].isin(TASKS))
        columns = list(_schema(place, texts).columns)
        ratings[place] = rows[[*columns, "reported"]]
    return "simulated" if located is None else "real", ratings


def _files(place: Place) -> list[str]:
    """Name the files of a form."""
    return [f"hosking/raw/annotated_instances_{name}.jsonl" for name in FILES[place]]


def _schema(place: Place, texts: bool) -> pa.DataFrameSchema:
    """Describe the ratings of a form: one row for each response of a submission."""
    experiment, _ = place
    columns = kinds.design(
        (*TASKS, *OTHER_TASKS) if experiment == 1 else TASKS,
        SYSTEMS_1 if experiment == 1 else SYSTEMS_2,
        ARMS,
    )
    columns |= dict.fromkeys(["rater_id", "pair_id", "partner_id"], kinds.TEXT)
    columns |= {"pair_id": kinds.COUNT, "is_distractor": kinds.TRUE_OR_FALSE}
    for aspect in ASPECTS[place]:
        is_error = aspect in ERRORS_1
        columns[aspect] = kinds.NO_OR_YES if is_error else kinds.ONE_TO_FIVE
    if texts:
        columns |= dict.fromkeys(_texts(place), kinds.TEXT)
    columns["seconds"] = kinds.COUNT
    return kinds.table(columns, ["pair_id", "item_id"])


def _texts(place: Place) -> list[str]:
    """Name the columns of texts."""
    experiment, _ = place
    return ["prompt", "response"] + (["preamble"] if experiment == 2 else [])


def read_submissions(
    path: Path, place: Place, excluded: Collection[int] = (), texts: bool = False
) -> pd.DataFrame:
    """Read a file of submissions but for some lines: two rows each, sides a and b."""
    raw = tables.read_jsonl(path)
    raw.columns = [name.rpartition(".")[2] for name in raw.columns]
    experiment, _ = place
    words = ["dataset", "model_a", "model_b", "email", "time_string"]
    if experiment == 2:
        words += ["preamble_type_a", "preamble_type_b"]
    if texts:
        words += ["Prompt", "Response A", "Response B"]
    if texts and experiment == 2:
        words += ["preamble_a", "preamble_b"]
    asked = [LABELS.get(aspect, aspect) for aspect in ASPECTS[place]]
    answers = [f"{label}_{side}" for label in asked for side in "ab"]
    tables.require(raw, ["sample_ix", *words, *answers], path.name)
    raw = raw.drop(index=[line - 1 for line in excluded])
    raw = tables.as_text(raw, words, path.name)
    both = [_one_side(raw, *sides, place, texts) for sides in ("ab", "ba")]
    rows = pd.concat(both).sort_values("pair_id", kind="stable", ignore_index=True)
    partner = rows.index ^ 1  # 0 and 1, 2 and 3, ... change places
    rows["partner_id"] = rows["item_id"].to_numpy()[partner]
    return check(rows, _schema(place, texts), path.name)


def _one_side(
    raw: pd.DataFrame, side: str, other: str, place: Place, texts: bool
) -> pd.DataFrame:
    """Give what was submitted about the response on one side."""
    # A distractor is of the same system as the response that it stands beside.
    is_distractor = raw[f"model_{side}"] == DISTRACTOR
    model = raw[f"model_{side}"].where(~is_distractor, raw[f"model_{other}"])
    named = raw.rename(columns={f"preamble_type_{side}": "preamble_type"})
    rows = pd.DataFrame(design_of(named, model))
    distractor_id = rows["item_id"] + DISTRACTOR_MARK
    rows["item_id"] = rows["item_id"].mask(is_distractor, distractor_id)
    # The field holds a name for the rater and, behind "_", for the submission.
    rows["rater_id"] = raw["email"].str.partition("_")[0]
    rows["pair_id"] = raw.index
    rows["is_distractor"] = is_distractor
    for aspect in ASPECTS[place]:
        answers = raw[f"{LABELS.get(aspect, aspect)}_{side}"]
        rows[aspect] = answers.replace({"No": "0", "Yes": "1"})
    clock = raw["time_string"].str.extract(TIME_SPENT).astype(float)
    rows["seconds"] = clock @ [86400, 3600, 60, 1]
    if texts:
        columns = ["Prompt", f"Response {side.upper()}", f"preamble_{side}"]
        for name, column in zip(_texts(place), columns, strict=False):
            rows[name] = raw[column]
    return rows


def _anonymised(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Put labels in the place of raters' names, if they are of real people."""
    if source == "simulated":
        return table
    return table.assign(rater_id=anonymise(table["rater_id"]))


def _behind_averages(ratings: pd.DataFrame) -> pd.DataFrame:
    """Select the ratings that enter released averages: reported tasks, no checks."""
    return without_checks(ratings[ratings["reported"]]).reset_index(drop=True)
