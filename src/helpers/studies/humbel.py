"""What the tests of HumBEL are built from.

Sicilia, Gates and Alikhani (2024), "HumBEL", asks what age a model's answers fit. The
paper builds its tests from two public sources: pairs of words that people associated,
and the ages at which people know words (section 2.2.1, appendix A). The test that the
authors built is public; the answers of the language models and of the people who took
it are not.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from python_calamine import CalamineError, CalamineWorkbook

from helpers.data import published, registry, tables
from helpers.data.columns import check
from helpers.data.columns import humbel as columns
from helpers.data.columns.humbel import AGES as AGES
from helpers.simulate import humbel as simulate

ASSOCIATIONS_FILE = "humbel/WAX.csv"
NORMS_FILE = "humbel/aoa_brysbaert_biemiller.xlsx"
NORM_COLUMNS = {"WORD": "word", "MEANING": "meaning", "AoAtestbased": "grade"}
YEARS_BEFORE_SCHOOL = 5
AUTHORS_TEST_FILE = "humbel/wclarge.csv"
AUTHORS_TEST_COLUMNS = {  # as their published script make_tests.py writes them
    "cue": "cue",
    "association": "association",
    "explanation": "explanation",
    "alt0": "alternative_1",
    "alt1": "alternative_2",
    "cue_aoa": "cue_age",
    "assoc_aoa": "association_age",
    "max_aoa_pair": "age",
}
AUTHORS_TEST_AGES = ["cue_aoa", "assoc_aoa", "max_aoa_pair"]


@dataclass(frozen=True)
class Humbel:
    """What the tests are built from.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    associations : pandas.DataFrame
        One row per association that a person gave to a cue; columns of
        `columns.humbel.HUMBEL_ASSOCIATIONS`. Words are kept as written, with spaces at
        their ends.
    norms : pandas.DataFrame
        One row per meaning of a word; columns of `columns.humbel.HUMBEL_NORMS`. The
        age, in years, is the one at which about half of all people know the meaning.
    """

    source: str
    associations: pd.DataFrame
    norms: pd.DataFrame

    def vocabulary(self) -> set[str]:
        """List the words that are a cue or an association.

        Returns
        -------
        set of str
            Words as written.

        Examples
        --------
        >>> "wug0001" in load("simulated").vocabulary()
        True
        """
        return {*self.associations["cue"], *self.associations["association"]}


def load(data_source: str = "real", seed: int = 0) -> Humbel:
    """Load 19,228 associations and the ages of 43,991 meanings of words.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    Humbel
        The tables and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load("simulated").source
    'simulated'
    """
    located = registry.locate((ASSOCIATIONS_FILE, NORMS_FILE), data_source)
    if located is None:
        rng = np.random.default_rng(seed)
        return Humbel("simulated", simulate.associations(rng), simulate.norms(rng))
    associations = read_associations(located[ASSOCIATIONS_FILE])
    norms = read_norms(located[NORMS_FILE])
    return Humbel("real", associations, norms)


def authors_test(data_source: str = "real") -> pd.DataFrame | None:
    """Read the large word classes test that the authors built, if its file is here.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        With "simulated" no file is looked for.

    Returns
    -------
    pandas.DataFrame or None
        One row per question, with names as in
        `helpers.studies.word_tests.word_classes`: the words by role, the three ages in
        years, and the ``explanation`` of the association.

    Raises
    ------
    tables.BadTableError
        If the file is not as the authors' script writes it.

    Examples
    --------
    >>> authors_test("simulated") is None
    True
    """
    try:
        located = registry.locate([AUTHORS_TEST_FILE], data_source)
    except registry.DataUnavailableError:
        return None  # other results do not need the file
    if located is None:
        return None
    path = located[AUTHORS_TEST_FILE]
    table = tables.read_csv(path, keep_default_na=False)
    tables.require(table, AUTHORS_TEST_COLUMNS, path.name)
    table = tables.as_numbers(table, AUTHORS_TEST_AGES, path.name)
    return table[list(AUTHORS_TEST_COLUMNS)].rename(columns=AUTHORS_TEST_COLUMNS)


def read_associations(path: Path) -> pd.DataFrame:
    """Read associations; the first column, which has no name, numbers the rows."""
    table = tables.read_csv(path, keep_default_na=False)
    table = table.rename(columns={"Unnamed: 0": "row"})
    return check(table, columns.HUMBEL_ASSOCIATIONS, path.name)


def read_norms(path: Path) -> pd.DataFrame:
    """Read the sheet of norms, where "null" is a word and 8 a meaning."""
    cells = _cells(path)
    sheet = pd.DataFrame(cells[1:], columns=cells[0])
    sheet = tables.as_numbers(sheet, ["AoAtestbased"], path.name)
    tables.require(sheet, NORM_COLUMNS, path.name)
    norms = sheet[list(NORM_COLUMNS)].rename(columns=NORM_COLUMNS)
    # The sheet has the school grade in which the meaning is known.
    norms = norms.assign(
        row=norms.index,
        word=norms["word"].map(_text),
        meaning=norms["meaning"].map(_text),
        age=norms["grade"] + YEARS_BEFORE_SCHOOL,
    )
    return check(norms, columns.HUMBEL_NORMS, path.name)


def _cells(path: Path) -> list[list]:
    """Read the first sheet of a workbook by row; pandas would take twice as long."""
    try:
        workbook = CalamineWorkbook.from_path(path)
        cells = workbook.get_sheet_by_index(0).to_python()
    except (CalamineError, *tables.UNREADABLE) as error:
        raise tables.unreadable(path, "a workbook", error) from None
    if not cells:
        raise tables.bad_table(path.name, ["the first sheet is empty"])
    return cells


def _text(cell: object) -> str:
    """Write a cell as text, whole numbers without a point."""
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def table4() -> pd.DataFrame:
    """Recompute the kappa of Table 4 from the disagreement printed beside it.

    Two people who use six options equally often agree by chance in one of six cases.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, and ``low`` and ``high``, which rounding of the disagreement
        allows, indexed by ``answers`` and ``measure``.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales.

    Examples
    --------
    >>> table4().round(2).to_dict("records")
    [{'estimate': 0.82, 'low': 0.81, 'high': 0.83}]
    """
    cell = ("annotators", "disagreement")
    printed = float(published.printed_table("humbel_table4").loc[cell, "published"])
    low, estimate, high = [
        1 - (printed + half_unit) / 100 / (5 / 6) for half_unit in (0.5, 0, -0.5)
    ]
    index = pd.MultiIndex.from_tuples(
        [("annotators", "kappa")], names=["answers", "measure"]
    )
    return pd.DataFrame({"estimate": estimate, "low": low, "high": high}, index)
