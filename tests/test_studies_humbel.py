"""What the tests of HumBEL are built from: the released files."""

from pathlib import Path

import pandas as pd
import pytest

from helpers.data import registry, tables
from helpers.studies import humbel
from helpers.studies.word_tests import SHOWN, second_pairs, word_classes

SHEET = [
    ["WORD", "MEANING", "AoAtestbased", "CDI"],
    ["null", "zero", 8.0, ""],
    ["nan", 8.0, 14.0, ""],
]


@pytest.fixture(scope="module")
def study():
    try:
        return humbel.load("real")
    except registry.DataUnavailableError as error:
        pytest.skip(f"no real data: {error}")


def test_the_real_tables_have_the_sizes_of_their_files(study):
    assert study.source == "real"
    assert len(study.associations) == 19228
    assert study.associations["cue"].nunique() == 1100
    assert len(study.norms) == 43991
    assert study.norms["word"].nunique() == 31847


def test_words_are_read_as_written(study):
    assert study.norms["word"].eq("null").sum() == 3
    assert {"False", "8"} <= set(study.norms["meaning"])
    association = study.associations["association"]
    assert (association != association.str.strip()).sum() == 334
    assert (study.associations.drop(columns="row") != "").all(axis=None)


def test_ages_are_grades_plus_five_years(study):
    assert sorted(study.norms["age"].unique()) == list(humbel.AGES)
    assert study.norms["age"].value_counts()[17] == 9406


def test_the_labelled_file_holds_the_labelled_associations(study):
    labelled = humbel.read_associations(registry.fetch("humbel/wax_human_labelled.csv"))
    columns = ["cue", "association", "explanation", "relation"]
    known = study.associations.loc[study.associations["relation"] != "UNK", columns]
    assert set(labelled[columns].itertuples(index=False)) == set(
        known.itertuples(index=False)
    )


def test_the_vocabulary_holds_every_cue_and_association():
    study = humbel.load("simulated")
    words = study.vocabulary()
    assert study.associations[["cue", "association"]].isin(words).all(axis=None)
    assert len(words) == len(
        pd.unique(study.associations[["cue", "association"]].to_numpy().ravel())
    )


def read_sheet(monkeypatch, cells):
    """Read norms from a workbook with these cells."""
    monkeypatch.setattr(humbel, "_cells", lambda path: cells)
    return humbel.read_norms(Path("norms.xlsx"))


def test_null_and_nan_stay_words_and_numbers_become_text(monkeypatch):
    norms = read_sheet(monkeypatch, SHEET)
    assert norms["word"].tolist() == ["null", "nan"]
    assert norms["meaning"].tolist() == ["zero", "8"]
    assert norms["age"].tolist() == [13, 19]


def test_a_sheet_without_grades_is_refused(monkeypatch):
    message = r"norms.xlsx: 1 problem.*\n.*'AoAtestbased' is missing"
    with pytest.raises(tables.BadTableError, match=message):
        read_sheet(monkeypatch, [row[:2] for row in SHEET])


def test_a_grade_outside_the_norms_is_named_with_its_row(monkeypatch):
    message = (
        "column 'age', row 2: 35 is not allowed; "
        "allowed: 7, 9, 11, 13, 15, 17, 18 or 19"
    )
    with pytest.raises(tables.BadTableError, match=message):
        read_sheet(monkeypatch, [*SHEET[:2], ["late", "not early", 30.0, ""]])


def test_associations_without_a_column_are_refused(tmp_path):
    file = tmp_path / "WAX.csv"
    file.write_text(",cue,association,explanation\n0,a,b,c\n")
    with pytest.raises(
        tables.BadTableError, match=r"WAX.csv: 1 problem.*\n.*'relation' is m"
    ):
        humbel.read_associations(file)


def test_a_seed_gives_the_same_simulation_and_another_seed_another():
    first, again, other = (humbel.load("simulated", seed).norms for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


@pytest.fixture
def authors_file(tmp_path, monkeypatch):
    """Path of the authors' test in an empty mirror."""
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path / "cache"))
    (tmp_path / "humbel").mkdir()
    return tmp_path / humbel.AUTHORS_TEST_FILE


def authors_table():
    """Simulated questions in the form that the authors' script writes."""
    study = humbel.load("simulated", seed=4)
    questions = word_classes(study.associations, study.norms)
    said = study.associations.set_index("row")[["explanation", "relation"]]
    names = {ours: theirs for theirs, ours in humbel.AUTHORS_TEST_COLUMNS.items()}
    shown = {ours: f"test{number}" for number, ours in enumerate(SHOWN)}
    return questions.join(said, on="row").rename(columns={**names, **shown})


def test_the_authors_test_is_read_in_the_form_their_script_writes(authors_file):
    for data_source in ("real", "simulated"):
        assert humbel.authors_test(data_source) is None
    written = authors_table()
    written.loc[0, "cue"] = "null"
    written.to_csv(authors_file)
    assert humbel.authors_test("simulated") is None
    read = humbel.authors_test("real")
    assert read["cue"].tolist() == written["cue"].tolist()
    assert (read["age"] == read[["cue_age", "association_age"]].max(axis=1)).all()
    assert not second_pairs(read, read).any()
    assert set(read) == set(humbel.AUTHORS_TEST_COLUMNS.values())


def test_another_table_is_not_taken_for_the_authors_test(authors_file):
    authors_table().drop(columns="max_aoa_pair").to_csv(authors_file)
    with pytest.raises(tables.BadTableError, match="'max_aoa_pair' is missing"):
        humbel.authors_test("real")
    authors_table().assign(cue_aoa="young").to_csv(authors_file)
    with pytest.raises(
        tables.BadTableError, match=r"'cue_aoa', row 1: a number is needed"
    ):
        humbel.authors_test("real")
