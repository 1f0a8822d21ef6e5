"""Committed results come from complete runs on real data, without traces of the machine."""

from pathlib import Path

import nbformat
import pytest

from helpers.run import PipelineError, publish, start, strip

KERNELSPEC = {"name": "python3", "display_name": "Python 3"}


@pytest.fixture
def project(tmp_path) -> Path:
    """Project with an old figure and a complete run in `build`."""
    for folder in ("notebooks", "figures", "build/figures", "build/claims"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "figures" / "10_old.png").write_bytes(b"old")
    (tmp_path / "build" / "figures" / "10_new.png").write_bytes(b"new")
    (tmp_path / "build" / "claims.csv").write_text("claim_id,source\na,real\nb,\n")
    executed = tmp_path / "build" / "refresh" / "notebooks"
    executed.mkdir(parents=True)
    nbformat.write(executed_notebook(), executed / "10_tiny.ipynb")
    return tmp_path


def executed_notebook() -> nbformat.NotebookNode:
    """Notebook as papermill leaves it."""
    output = nbformat.v4.new_output("execute_result", {"text/plain": "1"}, execution_count=3)
    tags = [["parameters"], ["injected-parameters"], []]
    cells = [
        nbformat.v4.new_code_cell(code, execution_count=count, metadata={"tags": tags[count - 1]})
        for count, code in enumerate(["a: int = 0", "a = 1", "a"], 1)
    ]
    cells[2].outputs = [output]
    for cell in cells:
        cell.metadata |= {"papermill": {"duration": 1}, "execution": {"iopub.status.busy": "now"}}
    metadata = {
        "kernelspec": KERNELSPEC,
        "language_info": {"name": "python", "version": "3.11.7"},
        "papermill": {"input_path": "somewhere"},
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def test_stripping_removes_times_paths_and_versions():
    stripped = strip(executed_notebook())
    assert stripped.metadata == {
        "kernelspec": KERNELSPEC,
        "language_info": {"name": "python"},
    }
    assert [cell.metadata for cell in stripped.cells] == [{"tags": ["parameters"]}, {}]


def test_stripping_keeps_outputs_and_counts_on_as_if_nothing_had_been_injected():
    stripped = strip(executed_notebook())
    assert [cell.source for cell in stripped.cells] == ["a: int = 0", "a"]
    assert [cell.execution_count for cell in stripped.cells] == [1, 2]
    (output,) = stripped.cells[1].outputs
    assert (output.execution_count, output.data["text/plain"]) == (2, "1")


def test_publishing_replaces_notebooks_figures_and_claims(project):
    written = publish(["10_tiny"], project / "build", project)
    assert sorted(file.name for file in written) == ["10_new.png", "10_tiny.ipynb", "claims.csv"]
    assert sorted(file.name for file in (project / "figures").iterdir()) == [
        "10_new.png",
        "claims.csv",
    ]
    text = (project / "notebooks" / "10_tiny.ipynb").read_text()
    assert "papermill" not in text
    assert text.endswith("}\n")


def test_publishing_twice_changes_nothing(project):
    def contents() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in publish(*run)}

    run = (["10_tiny"], project / "build", project)
    assert contents() == contents()


def test_nothing_is_published_if_a_claim_was_simulated(project):
    (project / "build" / "claims.csv").write_text("claim_id,source\na,real\nb,simulated\n")
    with pytest.raises(PipelineError, match="claims from simulated data: nothing written"):
        publish(["10_tiny"], project / "build", project)
    assert [file.name for file in (project / "figures").iterdir()] == ["10_old.png"]


def test_nothing_is_published_if_a_notebook_is_missing(project):
    with pytest.raises(FileNotFoundError, match="11_missing"):
        publish(["10_tiny", "11_missing"], project / "build", project)
    assert [file.name for file in (project / "figures").iterdir()] == ["10_old.png"]


def test_simulated_data_are_refused_before_anything_is_cleared(project):
    sources = {"hosking": "real", "kamoda": "simulated"}
    with pytest.raises(PipelineError, match="must come from real data, but kamoda would be sim"):
        start(sources, project / "build")
    assert (project / "build" / "figures" / "10_new.png").exists()


def test_a_refresh_starts_without_figures_and_claims_of_earlier_runs(project):
    start({"hosking": "real"}, project / "build")
    assert [file.name for file in (project / "build").iterdir()] == ["claims.csv"]
