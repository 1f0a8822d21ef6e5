import nbformat
import numpy as np
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from benchmarks import coverage

SETUP = """
import numpy as np
import pandas as pd
from helpers import show
from helpers.claims import results
from helpers.wording import with_intervals

def table_of(means, length):
    values = {"estimate": means, "low": means - length, "high": means + length}
    return pd.DataFrame(values, index=["first", "second"][: len(means)])
"""
DRAWN = """
means = np.random.default_rng(seed).normal(size=2)
narrow = table_of(means, 1.2816)  # holds 80 % of a standard normal
by_name = {"wide": table_of(10 * means, 30.0)}
unrelated = pd.DataFrame({"estimate": means})
"""
SHOWN = """
rare = table_of(np.array([np.nan if seed % 2 else means[0]]), 1.0)
show.captioned(narrow, "the same, rounded", decimals=2)
"""
WRITTEN = """
def in_words():
    return with_intervals(table_of(np.array([3.0]), 1.0))
in_words()
"""


@pytest.fixture
def notebook(tmp_path):
    sources = [SETUP, "seed: int = 0", DRAWN, SHOWN, WRITTEN]
    sources += ["raise ValueError('too rare')", "results.save(not_there)"]
    cells = [new_markdown_cell("# Title")]
    for number, source in enumerate(sources):
        cells.append(new_code_cell(source, id=f"99-{number:02}"))
    cells[2].metadata["tags"] = ["parameters"]
    file = tmp_path / "99_fake.ipynb"
    nbformat.write(new_notebook(cells=cells), file)
    return file


@pytest.fixture(autouse=True)
def found_here(notebook, tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "FOUND", tmp_path / "coverage")
    monkeypatch.setattr(coverage, "NOTEBOOKS", {"99_fake": {}})
    monkeypatch.setattr(coverage, "notebook_file", lambda _: notebook)
    coverage.sources.cache_clear()
    yield
    coverage.sources.cache_clear()


def redrawn(notebook, redraws):
    parts = []
    for number in redraws:
        part = coverage.collect(notebook, {"seed": number})
        parts.append(part.assign(notebook=notebook.stem, redraw=number))
    return pd.concat(parts, ignore_index=True)


def test_tables_that_are_bound_shown_or_written_are_collected(notebook):
    found = coverage.collect(notebook, {"seed": 5})
    places = found.groupby(["cell", "table"], sort=False).size().to_dict()
    assert places == {
        ("99-02", "narrow"): 2,
        ("99-02", "by_name[wide]"): 2,
        ("99-03", "rare"): 1,
        ("99-03", "shown"): 2,
        ("99-04", "with_intervals 1"): 1,
        ("99-05", "failed"): 1,
    }
    means = np.random.default_rng(5).normal(size=2)
    of_narrow = found[found["table"] == "narrow"]
    np.testing.assert_allclose(of_narrow["estimate"], means)
    np.testing.assert_allclose(of_narrow["high"], means + 1.2816)


def test_a_known_coverage_is_found_and_other_rows_are_left_out(notebook):
    covered, left_out = coverage.covers(redrawn(notebook, range(120)))
    by_table = covered.groupby("table").agg("mean").mean(axis="columns")
    assert by_table["narrow"] == pytest.approx(0.80, abs=0.06)
    assert by_table["by_name[wide]"] > 0.98
    assert not covered.index.get_level_values("large").any()
    assert dict(zip(left_out["table"], left_out["why"], strict=True)) == {
        "rare": "missing in 60 of 120 redraws",
        "shown": "shown before",
        "with_intervals 1": "does not vary",
        "": "cell failed in 120 of 120 redraws",
    }


def test_a_large_study_gives_the_target(notebook):
    found = redrawn(notebook, range(60))
    large = found[found["redraw"] == 0].assign(redraw=-1, low=np.nan, high=np.nan)
    large["estimate"] = np.where(large["row"] == "first", 0.0, 9.0)
    large = large[large["table"] == "narrow"]
    covered, _ = coverage.covers(pd.concat([found, large], ignore_index=True))
    of_row = covered.mean(axis="columns").xs("narrow", level="table").droplevel("cell")
    first, second = of_row.droplevel("notebook")[["first", "second"]]
    assert first == pytest.approx(0.80, abs=0.1)
    assert second == 0
    by_table = covered.reset_index().groupby("table")["large"].all()
    assert by_table.to_dict() == {"narrow": True, "by_name[wide]": False}


def test_a_row_that_is_rarely_missing_keeps_its_other_redraws(notebook):
    found = redrawn(notebook, range(20))
    of_one = (found["redraw"] == 7) & (found["table"] == "narrow")
    is_first = found["row"] == "first"
    covered, _ = coverage.covers(found[~(of_one & is_first)])
    counts = covered.xs("narrow", level="table").notna().sum(axis="columns")
    assert counts.tolist() == [19, 20]


def test_pooling_by_kind_and_simulation_error(monkeypatch):
    prompts = ("jackknife", "prompts")
    monkeypatch.setattr(coverage, "KINDS", [("narrow = ", r"^a\|", prompts)])
    keys = [("99_fake", "99-02", "a", "x", True), ("99_fake", "99-02", "a", "y", True)]
    keys.append(("99_fake", "99-03", "b", "x", False))
    index = pd.MultiIndex.from_tuples(keys, names=[*coverage.KEY, "large"])
    both_miss_together = np.repeat([[True] * 9 + [False]], 2, axis=0)
    covered = pd.DataFrame(np.vstack([both_miss_together, [[True] * 10]]), index)
    covered = covered.astype(float)
    of_mean = 0 * covered
    first, second = coverage.pooled(covered, of_mean).to_dict("records")
    assert (first["kind"], first["clusters"]) == prompts
    assert (first["rows"], first["redraws"], first["coverage %"]) == (2, 10, 90)
    # ten independent redraws, not twenty intervals
    assert first["simulation error"] == pytest.approx(100 * np.sqrt(0.9 * 0.1 / 9))
    assert (second["kind"], second["clusters"]) == coverage.BOTH
    assert (second["coverage %"], second["simulation error"]) == (100, 0)
    assert first["of mean of redraws %"] == 0
    assert (first["target"], second["target"]) == ("large study", "mean of redraws")


def test_rows_of_one_name_are_numbered():
    values = {"estimate": [1, 2], "low": [0, 1], "high": [2, ""]}
    rows = coverage.rows_of("1", "t", pd.DataFrame(values, index=["a", "a"]))
    assert [row[2] for row in rows] == ["a", "a (2)"]
    assert np.isnan(rows[1][-1])


def test_a_count_in_the_name_of_a_row_does_not_tell_redraws_apart():
    values = {"estimate": [1.0], "low": [0.0], "high": [2.0]}
    (row,) = coverage.rows_of("1", "t", pd.DataFrame(values, index=["a (of 12)"]))
    assert row[2] == "a"


def test_a_stopped_run_continues(notebook, monkeypatch):
    def draw(name, number):
        found = coverage.collect(notebook, {"seed": number})
        return found.assign(notebook=name, redraw=number)[coverage.COLUMNS]

    monkeypatch.setattr(coverage, "draw", draw)
    coverage.run(["99_fake"], [0], until=np.inf)
    monkeypatch.setattr(coverage, "draw", lambda name, number: draw(name, number + 1))
    coverage.run(["99_fake"], [0, 1], until=np.inf)
    coverage.run(["99_fake"], [0, 1, 2], until=0)
    assert sorted(coverage.read()["redraw"].unique()) == [0, 2]


def test_redraws_in_which_a_cell_failed_are_passed_over(notebook):
    found = redrawn(notebook, range(4))
    of_last = found["redraw"] == 3
    found = found[~(of_last & (found["cell"] == "99-02"))]
    failed = pd.DataFrame([["99-02", "failed", "stopped"]], columns=coverage.KEY[1:])
    failed = failed.assign(notebook=notebook.stem, redraw=3)
    covered, left_out = coverage.covers(pd.concat([found, failed], ignore_index=True))
    rows = covered.xs("narrow", level="table").notna()
    assert rows.to_numpy().tolist() == [[True, True, True, False]] * 2
    assert "cell failed in 1 of 4 redraws" in set(left_out["why"])


def test_the_committed_table_is_the_one_that_is_described():
    table = pd.read_csv(coverage.COVERAGE, keep_default_na=False)
    text = (coverage.paths.ROOT / "benchmarks" / "README.md").read_text()
    assert coverage.as_markdown(table) in text
