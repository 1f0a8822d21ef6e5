"""Tables of the papers: recomputed, and beside the reported cells."""

import pytest

from helpers import marks
from helpers.data.tables import OptionError
from helpers.studies import hosking, reported


@pytest.fixture(scope="module")
def first(real_data):
    return hosking.load_experiment_1(real_data)


@pytest.fixture(scope="module")
def second(real_data):
    return hosking.load_experiment_2(real_data)


def test_table_2_agrees_but_for_the_scores_under_swapped_headings(first):
    both = reported.table("hosking_table2", first)
    assert len(both) == 60
    differs = both[both["ours"] != both["reported"]]
    measures = differs.index.get_level_values("measure")
    assert set(measures) == {"score", "score_beside_errors"}
    wide = both.unstack("measure")
    ours, theirs = wide["ours"], wide["reported"]
    assert ours["score"].tolist() == theirs["score_beside_errors"].tolist()
    assert ours["score_beside_errors"].tolist() == theirs["score"].tolist()


def test_every_cell_of_tables_3_and_4_agrees_to_the_last_digit(second):
    for name, n_cells in (("hosking_table3", 90), ("hosking_table4", 45)):
        both = reported.table(name, second)
        assert len(both) == n_cells
        distance = (both["ours"] - both["reported"]).abs()
        # a difference of rounded rates may be a digit off
        assert distance.max() < 0.11, name
        assert (distance > 1e-9).mean() < 0.1, name


def test_cells_have_the_names_of_notebooks(second):
    both = reported.table("hosking_table3", second)
    assert both.index.names == ["condition", "error", "labelled by"]
    assert set(both.index.get_level_values("condition")) == set(hosking.CONDITIONS)
    assert set(both.index.get_level_values("error")) == set(hosking.SIX_ERRORS)
    assert ("cautious", "factual error", "majority") in both.index


def test_differences_of_table_3_are_workers_less_expert():
    study = hosking.load_experiment_2("simulated", 3)
    table = reported.cells("hosking_table3", study)["estimate"].unstack("annotators")
    assert table["crowd"].ne(table["expert"]).any()
    assert (table["crowd"] - table["expert"]).tolist() == pytest.approx(
        table["difference"].tolist()
    )


def test_nothing_is_reported_beside_simulated_data(monkeypatch):
    run = marks.Run("14_assertiveness_confound", reasons=["no data"])
    monkeypatch.setattr(marks, "current", lambda: run)
    both = reported.table("hosking_table4", hosking.load_experiment_2("simulated"))
    assert both["reported"].isna().all()
    assert both["ours"].notna().all()


def test_an_unknown_table_and_the_other_experiment_are_refused():
    study = hosking.load_experiment_2("simulated")
    with pytest.raises(OptionError, match="choose from hosking_table2, hosking_table3"):
        reported.table("hosking_table5", study)
    with pytest.raises(OptionError, match=r"needs hosking\.load_experiment_1"):
        reported.table("hosking_table2", study)
