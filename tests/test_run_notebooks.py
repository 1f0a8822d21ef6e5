"""Running notebooks, the page that sums up a run, committed results, new notebooks."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest
from nbclient.exceptions import DeadKernelError

from helpers import claims, paths
from helpers.files import registry
from helpers.files.tables import PlainError
from helpers.run import notebooks as run
from helpers.run.parameters import ParameterError

KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}
NASTY = '<script>alert("x")</script> & more'


@pytest.fixture
def tiny(tmp_path) -> Path:
    """Notebook with two parameters that prints in parts."""
    parameters = 'out_dir: str = "build"  # folder\nalpha: float = 1.0  # anything'
    parts = "import time\nprint(alpha, flush=True)\ntime.sleep(0.5)\nprint(out_dir, flush=True)"
    cells = [
        nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(parts),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
    nbformat.write(notebook, tmp_path / "10_tiny.ipynb")
    return tmp_path / "10_tiny.ipynb"


def fail_with(monkeypatch, *errors: Exception) -> list:
    """Make papermill raise these errors in turn, then succeed; give the list of its calls."""
    calls, waiting = [], list(errors)

    def execute_notebook(notebook, target, parameters, **options):
        calls.append(parameters)
        target.write_text("executed")
        if waiting:
            raise waiting.pop(0)

    monkeypatch.setattr(papermill, "execute_notebook", execute_notebook)
    return calls


def test_real_data_are_used_where_they_can_be_had(monkeypatch):
    public = {"a.csv": "", "b.csv": "HTTP status 500"}
    monkeypatch.setattr(registry, "locate", lambda files, source: dict.fromkeys(files, source))
    monkeypatch.setattr(registry, "fetch_unpinned", lambda study: public if "h" in study else {})
    files = [file for file in registry.names() if file.startswith("hosking/")]
    missing = "1 more public, not fetched (HTTP status 500)"
    right = f"{len(files) + 1} files, checksums right"
    assert run.resolve("hosking", "auto") == ("real", f"{right}; {missing}")
    assert run.resolve("hosking", "simulated") == ("simulated", "asked for")
    some = f"1 files, checksums right; {missing}"
    assert run.resolve("chatbench", "auto") == ("printed", some)
    public["a.csv"] = "HTTP status 404"
    none = "no files but its tables; 2 more public, not fetched (HTTP status 404)"
    assert run.resolve("chatbench", "auto") == ("printed", none)
    public |= dict.fromkeys(public, "")
    assert run.resolve("chatbench", "auto") == ("real", "2 files, checksums right")


def test_unavailable_data_are_simulated_unless_real_data_are_asked_for(monkeypatch):
    def locate(files, data_source):
        raise registry.DataUnavailableError("no network. Connect.")

    monkeypatch.setattr(registry, "locate", locate)
    assert run.resolve("kamoda", "auto") == ("simulated", "no network")
    with pytest.raises(registry.DataUnavailableError, match="no network"):
        run.resolve("kamoda", "real")
    with pytest.raises(ParameterError, match="auto, real or simulated, not 'fake'"):
        run.resolve("kamoda", "fake")


def test_unknown_parameters_are_refused_with_the_names_of_those_that_exist(tiny):
    target = tiny.with_name("out.ipynb")
    with pytest.raises(ParameterError, match="10_tiny has no parameter alfa: its parameters "):
        run.execute(tiny, target, {"alpha": 1, "alfa": 1})
    assert not target.exists()


def test_an_executed_notebook_holds_parameters_and_outputs(tiny, capfd):
    target = tiny.parent / "new" / "out.ipynb"
    run.execute(tiny, target, {"out_dir": "run", "alpha": 2.5})
    outputs = nbformat.read(target, as_version=4).cells[-1].outputs
    assert [output.text for output in outputs] == ["2.5\nrun\n"]
    assert [file.name for file in target.parent.iterdir()] == ["out.ipynb"]
    assert capfd.readouterr().err == ""


def test_a_failed_notebook_names_cell_and_error_and_leaves_no_finished_copy(tiny, monkeypatch):
    message = "\n".join(map(str, range(61)))
    fail_with(monkeypatch, papermill.PapermillExecutionError(2, 3, "", "ValueError", message, []))
    with pytest.raises(run.NotebookError) as failure:
        run.execute(tiny, tiny.with_name("out.ipynb"), {})
    first, second, *others = str(failure.value).splitlines()
    assert re.fullmatch(r"10_tiny stopped in cell In \[3\] of .*out\.unfinished\.ipynb", first)
    assert second == "    ValueError: 0"
    assert others[-2:] == ["    59", "    …"]
    assert not tiny.with_name("out.ipynb").exists()


def test_a_kernel_that_dies_before_the_first_cell_is_started_once_more(tiny, monkeypatch):
    calls = fail_with(monkeypatch, RuntimeError("died"))
    run.execute(tiny, tiny.with_name("out.ipynb"), {"alpha": 2})
    assert calls == [{"alpha": 2}, {"alpha": 2}]
    fail_with(monkeypatch, RuntimeError("died"), RuntimeError("again"))
    with pytest.raises(run.NotebookError, match="its kernel, which did not start\n    again"):
        run.execute(tiny, tiny.with_name("new.ipynb"), {})


def test_a_kernel_that_dies_in_a_cell_is_given_up(tiny, monkeypatch):
    calls = fail_with(monkeypatch, DeadKernelError("died"))
    message = r"10_tiny stopped in a cell; .*out.unfinished.ipynb shows.*\n    the kernel died"
    with pytest.raises(run.NotebookError, match=message):
        run.execute(tiny, tiny.with_name("out.ipynb"), {})
    assert len(calls) == 1


def executed_notebook() -> nbformat.NotebookNode:
    """Notebook as papermill leaves it."""
    output = nbformat.v4.new_output("execute_result", {"text/plain": "1"}, execution_count=3)
    tags = [["parameters"], ["injected-parameters"], []]
    cells = [
        nbformat.v4.new_code_cell(code, execution_count=count, metadata={"tags": tags[count - 1]})
        for count, code in enumerate(["a: int = 0", "a = 1", "a"], 1)
    ]
    cells[2].outputs = [output, nbformat.v4.new_output("stream", text="x")]
    for cell in cells:
        cell.metadata |= {"papermill": {"duration": 1}, "execution": {"iopub.status.busy": "now"}}
    metadata = {
        "kernelspec": KERNELSPEC,
        "language_info": {"name": "python", "version": "3.11.7"},
        "papermill": {"input_path": "somewhere"},
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def test_stripping_removes_traces_of_the_run_and_counts_on_as_if_nothing_was_injected():
    stripped = run.strip(executed_notebook())
    assert stripped.metadata == {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    assert [cell.metadata for cell in stripped.cells] == [{"tags": ["parameters"]}, {}]
    assert [cell.source for cell in stripped.cells] == ["a: int = 0", "a"]
    assert [cell.execution_count for cell in stripped.cells] == [1, 2]
    result, stream = stripped.cells[1].outputs
    assert (result.execution_count, result.data["text/plain"]) == (2, "1")
    assert stream == {"output_type": "stream", "name": "stdout", "text": "x"}


@pytest.fixture
def project(tmp_path) -> Path:
    """Project with an old figure, and a complete run in `build` beside a figure of an older one."""
    for folder in ("figures", "build/figures", "build/notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "figures" / "10_old.png").write_bytes(b"old")
    (tmp_path / "build" / "figures" / "10_new.png").write_bytes(b"new")
    (tmp_path / "build" / "figures" / "12_gone.png").write_bytes(b"gone")
    (tmp_path / "build" / "claims.csv").write_text("claim_id,source\na,real\nb,\n")
    (tmp_path / "build" / "headlines.csv").write_text("headline,sentence\nx,Something.\n")
    (tmp_path / "build" / "provenance.csv").write_text("file,sha256,notebook\n")
    nbformat.write(executed_notebook(), tmp_path / "build" / "notebooks" / "10_tiny.ipynb")
    return tmp_path


def test_publishing_replaces_notebooks_figures_and_claims_and_twice_changes_nothing(project):
    written = run.publish(["10_tiny"], project / "build", project)
    contents = [file.read_bytes() for file in written]
    names = [str(file.relative_to(project)) for file in written]
    tables = [f"figures/{name}.csv" for name in ("claims", "headlines", "provenance")]
    assert names == [*tables, "notebooks/10_tiny.ipynb", "figures/10_new.png"]
    assert len(list((project / "figures").iterdir())) == 4
    assert b"papermill" not in contents[3]
    assert contents[3].endswith(b"}\n")
    again = run.publish(["10_tiny"], project / "build", project)
    assert [file.read_bytes() for file in again] == contents


def test_nothing_is_published_if_a_claim_was_simulated_or_a_notebook_is_missing(project):
    with pytest.raises(FileNotFoundError, match="11_missing"):
        run.publish(["10_tiny", "11_missing"], project / "build", project)
    (project / "build" / "claims.csv").write_text("claim_id,source\na,real\nb,simulated\n")
    with pytest.raises(PlainError, match="claims from simulated data: nothing written"):
        run.publish(["10_tiny"], project / "build", project)
    assert [file.name for file in (project / "figures").iterdir()] == ["10_old.png"]
    assert not (project / "notebooks").exists()


@pytest.fixture
def finished(tmp_path) -> Path:
    """Folder of a run with three claims."""
    rows = [
        {"study": "hosking", "verdict": "confirmed", "claim_id": "hosking.a"},
        {"study": "hosking", "verdict": "slip", "claim_id": "hosking.b"},
        {"study": "kamoda", "verdict": "open", "claim_id": "kamoda.c"},
    ]
    pd.DataFrame(rows, columns=claims.COLUMNS).to_csv(tmp_path / "claims.csv", index=False)
    return tmp_path


def test_a_run_is_summed_up_in_one_line_per_study(finished):
    assert run.summary_lines(finished, {"hosking": "simulated", "x": "real"}) == [
        "hosking: simulated data, 1 confirmed, 1 slip",
        "x: real data, no claims",
    ]


def test_a_new_notebook_has_the_cells_that_all_have_in_good_style_and_runs_at_once(tmp_path):
    file = run.create("60_my_study", tmp_path)
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert notebook.cells[0].source.startswith("# 60_my_study")
    assert not any(re.search(r"\b(NAME|NUMBER|def|class)\b", cell.source) for cell in code)
    for check in (["check"], ["format", "--check"]):
        command = ["ruff", *check, "--no-cache", "--config", paths.ROOT / "pyproject.toml", file]
        done = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True)
        assert done.returncode == 0, done.stdout.decode()
    executed = tmp_path / "executed.ipynb"
    run.execute(file, executed, {"out_dir": str(tmp_path / "run"), "n_boot": 50})
    cells = nbformat.read(executed, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert outputs[0]["text"] == "source: simulated\n"
    assert not any(output.get("name") == "stderr" for output in outputs)
    assert (tmp_path / "run" / "figures" / "60_weights.png").is_file()


@pytest.mark.parametrize("name", ["", "6_study", "01_study", "60_My", "60_a/b", "60_s\n"])
def test_a_name_of_another_form_is_refused(tmp_path, name):
    message = rf"^a notebook cannot be called {re.escape(repr(name))}: give two digits, the first"
    with pytest.raises(ParameterError, match=message):
        run.create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_is_taken_is_refused_and_nothing_is_overwritten(tmp_path):
    (tmp_path / "60_other.ipynb").write_text("mine")
    with pytest.raises(ParameterError, match="the number 60 is that of 60_other, whose fig"):
        run.create("60_my_study", tmp_path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]
