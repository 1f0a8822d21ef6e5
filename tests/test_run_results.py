"""What runs leave: kinds of data, what is done, what is missing, committed results."""

import json
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from helpers import paths
from helpers.claims import collection
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.tables import PlainError
from helpers.run import results

README = """\
Counts.

| notebook | question |
|---|---|
| [00_all](notebooks/00_all.ipynb) | What holds? |
| [11_other](notebooks/11_other.ipynb) | What else? |

The end.
"""
KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


def test_real_data_are_used_where_they_can_be_had(monkeypatch):
    public = {"a.csv": "", "b.csv": "HTTP status 500"}
    monkeypatch.setattr(
        registry, "locate", lambda files, source: dict.fromkeys(files, source)
    )
    monkeypatch.setattr(
        registry, "fetch_unpinned", lambda study: public if "h" in study else {}
    )
    files = registry.names("hosking")
    missing = "1 more public, not fetched (HTTP status 500)"
    right = f"{len(files) + 1} files, checksums right"
    assert results.resolve("hosking", "auto") == ("real", f"{right}; {missing}")
    assert results.resolve("hosking", "simulated") == ("simulated", "asked for")
    some = f"1 files, checksums right; {missing}"
    assert results.resolve("chatbench", "auto") == ("printed", some)
    public["a.csv"] = "HTTP status 404"
    none = "no files but its tables; 2 more public, not fetched (HTTP status 404)"
    assert results.resolve("chatbench", "auto") == ("printed", none)
    public |= dict.fromkeys(public, "")
    assert results.resolve("chatbench", "auto") == ("real", "2 files, checksums right")


def test_unavailable_data_are_simulated_unless_real_data_are_asked_for(monkeypatch):
    def locate(files, data_source):
        raise registry.DataUnavailableError("no network. Connect.")

    monkeypatch.setattr(registry, "locate", locate)
    assert results.resolve("kamoda", "auto") == ("simulated", "no network")
    with pytest.raises(registry.DataUnavailableError, match="no network"):
        results.resolve("kamoda", "real")


def test_a_study_without_a_simulator_is_left_out_where_real_data_are_not(monkeypatch):
    def locate(files, data_source):
        raise registry.DataUnavailableError("no network. Connect.")

    monkeypatch.setattr(registry, "locate", locate)
    monkeypatch.setattr(registry, "names", lambda study: [f"{study}/ratings.csv"])
    asked = ("left out", "asked for; it has no simulator")
    assert results.resolve("fifth", "simulated") == asked
    unreached = ("left out", "no network; it has no simulator")
    assert results.resolve("fifth", "auto") == unreached
    with pytest.raises(registry.DataUnavailableError, match="no network"):
        results.resolve("fifth", "real")
    monkeypatch.setattr(registry, "names", lambda study: [])
    assert results.resolve("fifth", "simulated")[0] == "printed"
    with pytest.raises(PlainError, match=r"^left out: it needs the real data of fifth"):
        results.joint_source({"hosking": "real", "fifth": "left out"}, "auto")


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


def write_claims(file: Path, verdicts: list[str]) -> None:
    """Write numbers that raw data have judged."""
    columns = {"kind": "number", "published": "3", "evidence": "raw", "source": "real"}
    columns |= {"after_correction": "", "note": "", "verdict": verdicts}
    pd.DataFrame(columns).to_csv(file, index=False)


@pytest.fixture
def project(tmp_path) -> Path:
    """Project with an old figure and a complete run, beside a figure of another run."""
    for folder in ("figures", "build/figures", "build/notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "figures" / "10_old.png").write_bytes(b"old")
    (tmp_path / "build" / "figures" / "10_new.png").write_bytes(b"new")
    (tmp_path / "build" / "figures" / "12_gone.png").write_bytes(b"gone")
    write_claims(tmp_path / "build" / "claims.csv", ["confirmed", "slip"])
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "findings.md").write_text("# Findings\n")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "README.md").write_text("No table.\n")
    (tmp_path / "build" / "headlines.csv").write_text(
        "headline,sentence\nx,Something.\n"
    )
    (tmp_path / "build" / "provenance.csv").write_text("file,sha256,notebook\n")
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
    tables = [f"figures/{name}.csv" for name in ("claims", "headlines", "provenance")]
    others = ["notebooks/10_tiny.ipynb", "figures/10_new.png"]
    guides = ["README.md", "notebooks/README.md", "docs/findings.md"]
    assert names == [*tables, *others, *guides]
    assert len(list((project / "figures").iterdir())) == 4
    assert b"papermill" not in contents[3]
    assert contents[3].endswith(b"}\n")
    again = results.publish(["10_tiny"], project / "build", project)
    assert [file.read_bytes() for file in again] == contents


def test_publishing_lists_new_notebooks_and_renews_sentences_about_all_claims(project):
    committed = project / "figures" / "claims.csv"
    write_claims(committed, ["confirmed"])
    before, *_ = collection.stated_counts(read_text(committed))
    readme = project / "README.md"
    readme.write_text(README.replace("Counts.", f"Counts: {before}"))
    results.publish(["10_tiny"], project / "build", project)
    after, *_ = collection.stated_counts(read_text(committed))
    expected = README.replace("Counts.", f"Counts: {after}")
    row = "| [10_tiny](notebooks/10_tiny.ipynb) | a: int = 0 |\n"
    assert "Of 2 claims, 2 could be checked: 1 are confirmed" in after
    assert readme.read_text() == expected.replace("| [11_", f"{row}| [11_")


def test_nothing_is_published_if_a_claim_was_simulated_or_a_notebook_is_missing(
    project,
):
    with pytest.raises(FileNotFoundError, match="11_missing"):
        results.publish(["10_tiny", "11_missing"], project / "build", project)
    (project / "build" / "claims.csv").write_text(
        "claim_id,source\na,real\nb,simulated\n"
    )
    with pytest.raises(PlainError, match="claims from simulated data: nothing written"):
        results.publish(["10_tiny"], project / "build", project)
    assert [file.name for file in (project / "figures").iterdir()] == ["10_old.png"]
    assert [file.name for file in (project / "notebooks").iterdir()] == ["README.md"]


@pytest.mark.parametrize(
    "content", [b"", b'{"a": {"de', b"\xff\x00", b"[]", b"[" * 9999]
)
def test_a_damaged_file_of_state_is_told_from_a_right_one(tmp_path, content):
    (tmp_path / "state.json").write_bytes(content)
    assert results.read_object(tmp_path / "state.json") is None
    (tmp_path / "state.json").write_text("{}")
    assert results.read_object(tmp_path / "state.json") == {}


def test_what_is_missing_is_noted_until_it_is_there_or_its_notebook_has_gone(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    for name in ("10_a", "11_b"):
        (tmp_path / f"{name}.ipynb").touch()
        results.note_missing(tmp_path, name, f"why {name}")
    assert results.missing(tmp_path) == {"10_a": "why 10_a", "11_b": "why 11_b"}
    results.note_missing(tmp_path, "10_a", "")
    assert json.loads((tmp_path / "missing.json").read_text()) == {"11_b": "why 11_b"}
    (tmp_path / "11_b.ipynb").unlink()
    assert results.missing(tmp_path) == {}
