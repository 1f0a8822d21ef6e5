"""Committed counts and sums are those of the released ratings."""

import numpy as np
import pandas as pd
import pytest

from helpers.studies import hosking, kamoda, summaries

FILES = {
    "kamoda_ratings": summaries.kamoda_ratings,
    "hosking_products": summaries.hosking_products,
    "hosking_279_answers": summaries.hosking_279_answers,
}
CONTENTS = {
    "kamoda_ratings": [*kamoda.LEVELS, "acceptability", "ratings"],
    "hosking_products": [
        *("labelled by", "product of", "answers"),
        *(*hosking.TEN_ERRORS, "score"),
    ],
    "hosking_279_answers": ["condition", "expert", "workers", "ticks", "answers"],
}


@pytest.mark.parametrize("name", FILES)
def test_committed_summaries_are_those_of_the_released_ratings(real_data, name):
    committed = pd.read_csv(summaries.FOLDER / f"{name}.csv")
    expected = FILES[name](real_data)
    pd.testing.assert_frame_equal(committed, expected, check_names=False)


def test_summaries_hold_counts_and_sums_alone():
    assert {file.name for file in summaries.FOLDER.iterdir()} == {
        f"{name}.csv" for name in FILES
    }
    for name, columns in CONTENTS.items():
        committed = pd.read_csv(summaries.FOLDER / f"{name}.csv")
        assert list(committed) == columns
    answers = pd.read_csv(summaries.FOLDER / "hosking_279_answers.csv")["answers"]
    ratings = pd.read_csv(summaries.FOLDER / "kamoda_ratings.csv")["ratings"]
    assert (answers.sum(), len(ratings), ratings.sum()) == (279, 117, 3600)


def test_counts_by_hand(monkeypatch):
    ratings = pd.DataFrame(
        {
            "factuality": [3, 3, 0],
            "amount": [0, 0, -1],
            "formality": [0, 0, -1],
            "acceptability": [3, 3, 1],
        }
    )
    study = kamoda.Kamoda("real", ratings, pd.DataFrame())
    monkeypatch.setattr(kamoda, "load", lambda data_source: study)
    counts = summaries.kamoda_ratings()
    assert counts.to_numpy().tolist() == [[0, -1, -1, 1, 1], [3, 0, 0, 3, 2]]


def test_products_of_simulated_labels_are_those_of_a_loop():
    table = summaries.hosking_products("simulated")
    table = table.set_index(["labelled by", "product of"])
    answers = hosking.load_experiment_1("simulated").answers("share")
    for first in ("refusal", "score"):
        products = [
            a * b for a, b in zip(answers[first], answers["score"], strict=True)
        ]
        assert table.loc[("share", first), "score"] == pytest.approx(np.sum(products))
        assert table.loc[("share", "answers"), first] == pytest.approx(
            answers[first].sum()
        )
    assert table.loc[("majority", "answers"), "answers"] == len(answers)


def test_files_are_written_as_they_are_read(monkeypatch, tmp_path):
    monkeypatch.setattr(summaries, "FOLDER", tmp_path)
    for name in FILES:
        table = FILES[name]("simulated")
        monkeypatch.setattr(summaries, name, lambda table=table: table)
    written = summaries.write_summaries()
    assert sorted(file.stem for file in written) == sorted(FILES)
    for file in written:
        back = pd.read_csv(file)
        expected = getattr(summaries, file.stem)()
        pd.testing.assert_frame_equal(back, expected, check_names=False)
