"""What runs leave: kinds of data, what is done, what is missing, committed results."""

import platform
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from helpers import paths
from helpers.claims import judged
from helpers.data import published, registry
from helpers.run import notebooks, results

README = """\
Counts.

| notebook | question |
|---|---|
| [00_all](00_all.ipynb) | What holds? |
| [11_other](11_other.ipynb) | What else? |

The end.
"""
KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


@pytest.fixture
def unreachable(monkeypatch):
    """Let no data be here and no server answer."""

    def locate(files, data_source):
        raise registry.DataUnavailableError("no network")

    monkeypatch.setattr(registry, "locate", locate)


@pytest.mark.usefixtures("unreachable")
def test_a_study_without_a_simulator_is_left_out_where_real_data_are_not(monkeypatch):
    monkeypatch.setattr(notebooks, "studies_of", lambda name: ["hosking", "fifth"])
    monkeypatch.setattr(registry, "names", lambda study: [f"{study}/ratings.csv"])
    assert results.without_data("70_a", "simulated") == "fifth has no simulator"
    assert results.without_data("70_a", "auto") == "no network"
    with pytest.raises(registry.DataUnavailableError, match="no network"):
        results.without_data("70_a", "real")


@pytest.mark.usefixtures("unreachable")
def test_what_has_a_simulator_or_no_files_lacks_nothing(monkeypatch):
    monkeypatch.setattr(notebooks, "studies_of", lambda name: ["hosking"])
    assert results.without_data("11_a", "auto") == ""
    monkeypatch.setattr(notebooks, "studies_of", lambda name: ["printed"])
    assert results.without_data("30_a", "auto") == ""


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Folder of a run in which the notebook 11_a has finished, on any data."""
    monkeypatch.setattr(results, "notebook_files", lambda: {"11_a": ""})
    monkeypatch.setattr(results, "notebook_file", str)
    monkeypatch.setattr(results, "fingerprint", lambda file: "used")
    for name in ("notebooks/11_a.ipynb", "figures/11_b.png", "figures/12_c.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("written")
    results.note_finished("11_a", tmp_path, "auto")
    return tmp_path


def test_a_finished_notebook_is_finished_until_something_changes(finished, monkeypatch):
    assert results.is_finished("11_a", finished, "auto")
    assert not results.is_finished("11_a", finished, "real")
    (finished / "figures" / "12_c.png").write_text("of another notebook")
    assert results.is_finished("11_a", finished, "auto")
    (finished / "figures" / "11_b.png").write_text("by hand")
    assert not results.is_finished("11_a", finished, "auto")
    (finished / "figures" / "11_b.png").write_text("written")
    monkeypatch.setattr(results, "fingerprint", lambda file: "changed")
    assert not results.is_finished("11_a", finished, "auto")


def test_a_notebook_runs_again_where_real_data_may_take_the_place_of_simulated(
    finished,
):
    (finished / "simulated" / "results").mkdir(parents=True)
    (finished / "simulated" / "results" / "11_a.csv").touch()
    for choice, stays in (("auto", False), ("simulated", True)):
        results.note_finished("11_a", finished, choice)
        assert results.is_finished("11_a", finished, choice) == stays


def test_clearing_deletes_what_one_notebook_has_left(finished):
    results.note_failed("11_a", finished, "11_a stopped\n    in a cell\n    of many")
    assert results.missing(finished) == {"11_a": "11_a stopped: in a cell"}
    results.clear("11_a", finished)
    assert results.missing(finished) == {}
    assert [file.name for file in finished.rglob("*.*")] == ["12_c.png"]


def test_versions_are_those_of_this_python_and_its_packages():
    table = results.versions().set_index("name")["version"]
    assert table["python"] == platform.python_version()
    assert table["pandas"] == pd.__version__
    assert {"jupyterlab", "statsmodels"} <= set(table.index)


def test_tables_differ_by_rows_and_cells_but_not_in_digits_that_nobody_sees():
    columns = ["name", "part", "estimate", "verdict"]
    old = [["a", "", "1.00001", "x"], ["b", "", "2", "x"], ["c", "1", "", "x"]]
    new = [["b", "", "2.1", "x"], ["a", "", "1", "y"], ["c", "2", "", "x"]]
    found = results.differences(
        pd.DataFrame(old, columns=columns), pd.DataFrame(new, columns=columns)
    )
    assert found == [
        "a: verdict is y, not x",
        "b: estimate is 2.1, not 2",
        "c 1: is gone",
        "c 2: is new",
    ]


def test_saved_results_that_are_not_the_committed_ones_are_named(tmp_path):
    committed = published.read_text(paths.ROOT / "figures" / "results.csv")
    folder = tmp_path / "results"
    folder.mkdir()
    for notebook, rows in committed.groupby("notebook"):
        rows.drop(columns="notebook").to_csv(folder / f"{notebook}.csv", index=False)
    assert results.changed(tmp_path, committed) == []
    file = folder / "22_decision_tree.csv"
    file.write_text(file.read_text().replace("kamoda.tree.rho", "kamoda.tree.other"))
    found = results.changed(tmp_path, committed)
    assert found == [
        "kamoda.tree.other 22_decision_tree: is new",
        "kamoda.tree.rho 22_decision_tree: is gone",
    ]
    (folder / "tables.csv").unlink()  # no notebook saves it
    assert results.changed(tmp_path, committed) == found


def executed_notebook() -> nbformat.NotebookNode:
    """Notebook as papermill leaves it."""
    output = nbformat.v4.new_output(
        "execute_result", {"text/plain": "1"}, execution_count=3
    )
    tags = [["parameters"], ["injected-parameters"], []]
    cells = [
        nbformat.v4.new_code_cell(
            code, execution_count=count, metadata={"tags": tags[count - 1]}
        )
        for count, code in enumerate(["a: int = 0", "a = 1", "a"], 1)
    ]
    cells[2].outputs = [output, nbformat.v4.new_output("stream", text="x")]
    for cell in cells:
        cell.metadata |= {
            "papermill": {"duration": 1},
            "execution": {"iopub.status.busy": "now"},
        }
    metadata = {
        "kernelspec": KERNELSPEC,
        "language_info": {"name": "python", "version": "3.11.7"},
        "papermill": {"input_path": "somewhere"},
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def test_stripping_removes_traces_of_the_run_and_counts_on_as_if_nothing_was_injected():
    stripped = results.strip(executed_notebook())
    assert stripped.metadata == {
        "kernelspec": KERNELSPEC,
        "language_info": {"name": "python"},
    }
    assert [cell.metadata for cell in stripped.cells] == [{"tags": ["parameters"]}, {}]
    assert [cell.source for cell in stripped.cells] == ["a: int = 0", "a"]
    assert [cell.execution_count for cell in stripped.cells] == [1, 2]
    result, stream = stripped.cells[1].outputs
    assert (result.execution_count, result.data["text/plain"]) == (2, "1")
    assert stream == {"output_type": "stream", "name": "stdout", "text": "x"}


CLAIM = "hosking.counts.outputs_1,hosking,§2,Outputs,900,,fact,,,900,true,why,,10_tiny"
TABLES = {
    "results": "name,estimate\nhosking.counts.outputs_1,900",
    "claims": f"{','.join(judged.COLUMNS)}\n{CLAIM}",
    "authors_numbers": "id,printed,ours,reproduces,cause\nhosking.authors.a,1,1,True,",
    "versions": "name,version",
}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """Project with an old figure and a complete run, beside a figure of another run."""
    for folder in ("figures", "build/figures", "build/notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "figures" / "10_old.png").write_bytes(b"old")
    (tmp_path / "build" / "figures" / "10_new.png").write_bytes(b"new")
    (tmp_path / "build" / "figures" / "12_gone.png").write_bytes(b"gone")
    for name, text in TABLES.items():
        (tmp_path / "build" / f"{name}.csv").write_text(f"{text}\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "README.md").write_text(README)
    (tmp_path / "notebooks" / "10_tiny.ipynb").write_text("{}")
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path / "notebooks")
    nbformat.write(
        executed_notebook(), tmp_path / "build" / "notebooks" / "10_tiny.ipynb"
    )
    return tmp_path


def test_publishing_replaces_notebooks_figures_and_claims_and_twice_changes_nothing(
    project,
):
    written = results.publish(["10_tiny"], project / "build", project)
    contents = [file.read_bytes() for file in written]
    names = [str(file.relative_to(project)) for file in written]
    tables = [f"figures/{name}.csv" for name in results.JOINED]
    others = ["notebooks/10_tiny.ipynb", "figures/10_new.png"]
    guides = ["notebooks/README.md", "docs/replication_report.md"]
    assert names == [*tables, *others, *guides]
    assert len(list((project / "figures").iterdir())) == 5
    assert b"papermill" not in contents[4]
    assert contents[4].endswith(b"}\n")
    again = results.publish(["10_tiny"], project / "build", project)
    assert [file.read_bytes() for file in again] == contents


def test_publishing_lists_new_notebooks_and_writes_the_report(project):
    results.publish(["10_tiny"], project / "build", project)
    row = "| [10_tiny](10_tiny.ipynb) | a: int = 0 |\n"
    readme = (project / "notebooks" / "README.md").read_text()
    assert readme == README.replace("| [11_", f"{row}| [11_")
    report = (project / "docs" / "replication_report.md").read_text()
    assert "Of 1 numbers in the notebooks" in report


def test_nothing_is_published_if_a_notebook_is_missing(project):
    with pytest.raises(FileNotFoundError, match="11_missing"):
        results.publish(["10_tiny", "11_missing"], project / "build", project)
    assert [file.name for file in (project / "figures").iterdir()] == ["10_old.png"]
    assert (project / "notebooks" / "10_tiny.ipynb").read_text() == "{}"
