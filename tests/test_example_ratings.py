import numpy as np
import pandas as pd
from example_study import (
    ERRORS,
    MARKS,
    ExampleTruth,
    example_csv,
    example_ratings,
)

from helpers import paths

FILE = paths.DATA / "example" / "ratings.csv"


def test_the_committed_example_is_what_the_simulator_draws():
    assert FILE.read_text(encoding="utf-8") == example_csv()


def test_every_row_says_that_it_is_simulated():
    table = pd.read_csv(FILE)
    assert set(table["source"]) == {"simulated"}
    assert table["rater_id"].str.startswith("simulated-rater-").all()


def test_items_have_different_raters_and_prompts_have_all_systems():
    table = example_ratings(np.random.default_rng(0), ExampleTruth(n_gaps=0)).iloc[:-1]
    assert not table.duplicated(["item_id", "rater_id"]).any()
    assert (table.groupby("item_id").size() == 3).all()
    assert (table.groupby("prompt_id")["item_id"].nunique() == 4).all()


def test_there_are_faults_to_find():
    table = example_ratings(np.random.default_rng(0))
    assert table[[*MARKS, *ERRORS]].isna().sum().sum() == ExampleTruth().n_gaps
    assert table.duplicated().sum() == 1


def test_marks_and_errors_are_on_their_scales():
    table = example_ratings(np.random.default_rng(0))
    assert set(table[["overall", *MARKS]].stack().dropna()) == {1, 2, 3, 4, 5}
    assert set(table[[*ERRORS]].stack().dropna()) == {0, 1}
