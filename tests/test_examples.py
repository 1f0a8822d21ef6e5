"""The committed example files are what their generators draw."""

import pytest
from example_study import ASPECTS, RATES, as_text, example_files

from helpers import paths

FILES = example_files()


@pytest.mark.parametrize("name", FILES)
def test_the_committed_examples_are_what_the_generators_draw(name):
    file = paths.DATA / "example" / name
    assert file.read_text(encoding="utf-8") == as_text(FILES[name])
    assert set(FILES[name]["source"]) == {"simulated"}
    is_person = FILES[name]["rater_id"].str.startswith("simulated-rater-")
    assert set(FILES[name].loc[~is_person, "rater_id"]) <= {"simulated-judge"}


def test_the_example_of_ratings_has_what_a_check_should_find():
    table = FILES["ratings.csv"]
    assert table[ASPECTS].isna().sum().sum() == 9
    assert (
        table.duplicated().sum() == table.duplicated(["item_id", "rater_id"]).sum() == 1
    )
    assert (table.iloc[:-1].groupby("item_id").size() == 3).all()
    assert set(table[[*RATES]].stack().dropna()) == {0, 1}
