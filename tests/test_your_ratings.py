"""The notebook for ratings of one's own, cell by cell in this process, on files of many kinds."""

import json

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from example_study import ERRORS, MARKS, ExampleTruth, example_ratings

from helpers import paths
from helpers.files.tables import BadTableError

NOTEBOOK = paths.NOTEBOOKS / "53_your_ratings.ipynb"
ASPECTS = ["factuality", "tone", "repetition"]


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    """Figures are not shown, and the style is put back."""
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    with mpl.rc_context():
        yield


@pytest.fixture
def table():
    return example_ratings(np.random.default_rng(2), ExampleTruth(n_prompts=40)).drop(
        columns="source"
    )


def run(tmp_path, file, **parameters):
    """Run all cells with other parameters; return their variables."""
    given = {"ratings": str(file), "aspects": json.dumps(ASPECTS), "n_boot": 50}
    variables = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code":
            exec(cell.source, variables)
        if "parameters" in cell.metadata.get("tags", []):
            variables |= given | {"out_dir": str(tmp_path / "run")} | parameters
    return variables


def write(tmp_path, table, name="mine.csv"):
    file = tmp_path / name
    table.to_csv(file, index=False)
    return file


def written(tmp_path):
    folder = tmp_path / "run"
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


ALL_FILES = [
    "figures/53_agreement.png",
    "figures/53_choices.png",
    "figures/53_confounder.png",
    "figures/53_tree.png",
    "figures/53_weights.png",
    "results/53_your_ratings.csv",
]


def why(result):
    return result["not done"].item()


def test_a_file_of_ones_own_is_analysed_and_carries_no_watermark(tmp_path, table):
    found = run(tmp_path, write(tmp_path, table))
    assert found["source"] == "real"
    assert written(tmp_path) == ALL_FILES
    results = pd.read_csv(tmp_path / "run" / "results" / "53_your_ratings.csv", index_col="aspect")
    assert results.index.tolist() == ASPECTS
    assert results.loc["factuality", "conclusion"] == "higher marks go with higher overall"
    assert run(tmp_path, write(tmp_path, table), data_source="simulated")["source"] == "simulated"


def test_parts_that_the_file_does_not_allow_say_why(tmp_path, table):
    bare = table.drop(columns=["rater_id", "item_id", "prompt_id", "response_words"])
    found = run(tmp_path, write(tmp_path, bare))
    assert why(found["agreement"]).startswith("the file names no raters")
    assert why(found["held"]) == "no covariate is named"
    assert written(tmp_path) == ALL_FILES


def test_one_rater_two_aspects_and_fifty_rows_are_enough(tmp_path, table):
    one = table.drop_duplicates("item_id").iloc[:50].assign(rater_id="me")
    found = run(tmp_path, write(tmp_path, one), aspects=["factuality", "tone"], cluster="item_id")
    assert why(found["agreement"]) == "all ratings are by one rater"
    assert found["least_squares"]["estimate"].notna().all()
    assert found["nodes"]["depth"].max() == 2


def test_forty_aspects_in_few_clusters_end_in_words_not_in_an_error(tmp_path, table):
    rng = np.random.default_rng(0)
    names = [f"aspect_{number}" for number in range(40)]
    wide = pd.DataFrame(rng.integers(0, 2, (60, 40)), columns=names).assign(
        overall=rng.integers(1, 6, 60), prompt_id=np.arange(60) % 6
    )
    found = run(tmp_path, write(tmp_path, wide), aspects=names)
    assert "clusters are too few for" in why(found["least_squares"])
    assert written(tmp_path) == ALL_FILES


def test_an_outcome_from_0_to_100_is_no_scale_of_marks(tmp_path, table):
    percent = table.assign(overall=np.random.default_rng(0).uniform(0, 100, len(table)))
    found = run(tmp_path, write(tmp_path, percent), scales={"overall": [0, 100]})
    assert why(found["ordered"]) == "overall is not one of up to 11 whole marks"
    assert found["agreement"].loc["overall", "estimate"] < 0.2


def test_a_bad_file_leads_to_one_error_and_no_file(tmp_path, table):
    bad = table.assign(tone=table["tone"].astype(object))
    bad.loc[[3, 9], "tone"] = ["4,5", "good"]
    with pytest.raises(BadTableError) as caught:
        run(tmp_path, write(tmp_path, bad))
    assert str(caught.value).splitlines() == [
        "mine.csv: 2 problems. Correct the file and load it again.",
        "  column 'tone', comma instead of a decimal point: row 5 '4,5'",
        "  column 'tone', not a number: row 11 'good'",
    ]
    assert not (tmp_path / "run").exists()


def test_in_the_example_all_is_found_that_was_built_in_and_nothing_else(tmp_path):
    weights = ExampleTruth().weights
    found = run(tmp_path, "data/example/ratings.csv", aspects=[*MARKS, *ERRORS])
    conclusions = found["everything"]["conclusion"]
    assert found["source"] == "simulated"
    for aspect, weight in weights.items():
        words = "higher marks go with" if weight else "hardly any link"
        assert conclusions[aspect].startswith(words)
