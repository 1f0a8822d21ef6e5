"""How outputs say that data are simulated or parameters changed."""

import json
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import papermill
import pytest

from helpers import marks, paths
from helpers.run import papermill_io

CODE = """
import matplotlib.pyplot as plt
import pandas as pd
from helpers import run
values = globals()
run.check("11_error_weights", values, alpha=(0, 10))
---
pd.DataFrame({"weight": [0.95]})
---
pd.Series([0.95])
---
from helpers import show
show.captioned(pd.DataFrame({"weight": [0.95]}), "Points")
---
from helpers.verbs import Result
Result({"estimate": [0.95]})
---
fig, ax = plt.subplots()
show.save(fig, "11_test", title="Refusal is first", otherwise="Weights", alt="None.")
"""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory) -> Path:
    """A notebook with each kind of output."""
    parameters = 'data_source: str = "simulated"\nalpha: float = 0.01'
    cells = [
        nbformat.v4.new_markdown_cell("# Title"),
        nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}),
        *map(nbformat.v4.new_code_cell, CODE.split("---\n")),
    ]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
    file = tmp_path_factory.mktemp("marked") / "11_test.ipynb"
    nbformat.write(made, file)
    return file


@pytest.fixture(scope="module")
def marked(notebook):
    """Terminal and executed copy of a run under plain papermill."""
    (notebook.parent / "build").mkdir()
    target = notebook.parent / "build" / "11_test.ipynb"
    command = [sys.executable, "-m", "papermill", notebook.name, "build/11_test.ipynb"]
    done = subprocess.run(
        [*command, "-p", "alpha", "0.05"],
        cwd=notebook.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr, nbformat.read(target, as_version=4)


def test_the_terminal_says_so(marked):
    terminal, _ = marked
    assert "11_error_weights: SIMULATED DATA, random numbers and not rat" in terminal
    assert "Changed parameters: alpha = 0.05 instead of 0.01." in terminal


def test_a_banner_stands_above_the_title_once(marked):
    _, executed = marked
    first, second = executed.cells[:2]
    assert "SIMULATED DATA" in first.source
    assert "alpha = 0.05" in first.source
    assert second.source == "# Title"


def test_every_table_carries_the_marks(marked):
    _, executed = marked
    shown = [cell.outputs[-1].data for cell in executed.cells[-5:-1]]
    for data in shown:
        assert data["text/plain"].startswith("[SIMULATED DATA; changed: alpha = 0.05")
    for data in (shown[0], *shown[2:]):
        assert "SIMULATED DATA; changed: alpha = 0.05" in data["text/html"]


def test_every_figure_carries_the_marks_and_the_neutral_title(marked):
    _, executed = marked
    picture, caption = executed.cells[-1].outputs
    alt = picture.metadata["image/png"]["alt"]
    assert alt.startswith("SIMULATED DATA")
    assert "Weights." in alt
    assert "Refusal is first" not in alt
    assert "SIMULATED DATA" in caption.data["text/markdown"]


def test_new_figures_are_marked_from_the_start():
    marks.begin(marks.Run("11_error_weights", "alpha = 1", ["asked for"]))
    texts = [text.get_text() for text in plt.figure().texts]
    assert texts == ["changed parameters: alpha = 1", "SIMULATED DATA"]
    marks.begin(marks.Run("11_error_weights"))
    assert plt.figure().texts == []


def test_data_that_are_simulated_later_mark_the_run(capfd):
    marks.begin(marks.Run("11_error_weights"))
    assert marks.short() == ""
    marks.simulate("asked for")
    marks.simulate("once more")
    assert marks.short() == "SIMULATED DATA"
    assert capfd.readouterr().err.count("SIMULATED DATA") == 1
    marks.begin(None)
    marks.simulate("outside of a notebook")
    assert marks.current() is None


def test_a_notebook_without_a_banner_is_written_as_it_is(tmp_path):
    text = json.dumps({"cells": [{"metadata": {}, "outputs": []}]})
    file = tmp_path / "new" / "a.ipynb"
    papermill_io.BuildHandler.write(text, str(file))
    assert papermill_io.BuildHandler.read(str(file)) == text
    assert papermill_io.BuildHandler.listdir(str(file.parent)) == [str(file)]


def test_papermill_writes_to_build_with_our_handler():
    handler = papermill.iorw.papermill_io.get_handler("build/notebooks/11.ipynb")
    assert handler is papermill_io.BuildHandler
    assert paths.BUILD.name != "build"  # what tests write goes elsewhere
