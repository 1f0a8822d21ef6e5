import re
import subprocess
import sys

import nbformat
import papermill
import pytest

from helpers import claims, paths
from helpers.run import NewNotebookError, create, execute


def test_a_new_notebook_has_the_cells_that_all_have(tmp_path):
    file = create("60_my_study", tmp_path)
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    headings = re.findall(r"^## (.+)$", "\n".join(cell.source for cell in notebook.cells), re.M)
    assert notebook.cells[0].source.startswith("# 60_my_study")
    assert "**Question.**" in notebook.cells[0].source
    assert headings == [
        "Load", "Look", "The finding", "How sure is it?", "The figure", "What would change it",
        "Claims",
    ]  # fmt: skip
    assert [cell.metadata.get("tags") for cell in code].count(["parameters"]) == 1
    assert {"data_source", "seed", "out_dir"} <= set(papermill.inspect_notebook(file))
    assert code[-1].source == "claims.show()"
    assert not any(re.search(r"\b(NAME|NUMBER|def|class)\b", cell.source) for cell in code)
    assert not any(cell.outputs for cell in code)


def test_a_new_notebook_is_in_good_style(tmp_path):
    file = create("60_my_study", tmp_path)
    for check in (["check"], ["format", "--check"]):
        command = ["ruff", *check, "--no-cache", "--config", paths.ROOT / "pyproject.toml", file]
        run = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True)
        assert run.returncode == 0, run.stdout.decode()


def test_a_new_notebook_runs_at_once(tmp_path):
    file = create("60_my_study", tmp_path)
    executed = tmp_path / "executed.ipynb"
    execute(file, executed, {"out_dir": str(tmp_path / "run"), "n_boot": 50})
    notebook = nbformat.read(executed, as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs[0]["text"] == "source: simulated\n"
    assert not any(output.get("name") == "stderr" for output in outputs)
    assert (tmp_path / "run" / "figures" / "60_weights.png").is_file()
    assert claims.merge(tmp_path / "run" / "claims")["notebook"].eq("60_my_study").sum() == 0


@pytest.mark.parametrize(
    "name",
    ["", "my_study", "6_study", "600_study", "01_study", "60_My", "60-study", "60_", "60_a/b",
     "60_a.ipynb", "٦٠_study", "../60_study", "60_study\n"],
)  # fmt: skip
def test_a_name_of_another_form_is_refused(tmp_path, name):
    message = (
        rf"^a notebook cannot be called {re.escape(repr(name))}: give two digits, the first of "
        r"which is not 0, an underscore, then small letters, digits and underscores, as in "
        r"NAME=60_my_study$"
    )
    with pytest.raises(NewNotebookError, match=message):
        create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_is_taken_is_refused_and_nothing_is_overwritten(tmp_path):
    (tmp_path / "60_other.ipynb").write_text("mine")
    for name in ("60_other", "60_my_study"):
        with pytest.raises(
            NewNotebookError,
            match=r"^the number 60 is that of 60_other, whose figures begin with it: choose",
        ):
            create(name, tmp_path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]
