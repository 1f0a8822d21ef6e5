"""What is committed: pictures and tables, and what a new run is compared with."""

import base64
import json

import nbformat
import numpy as np
import pytest
from PIL import Image

from helpers import paths
from helpers.run import notebooks, publish

FILES = notebooks.notebook_files()


def pictures_of(name: str) -> list[bytes]:
    """Pictures in the outputs of a committed notebook."""
    cells = nbformat.read(FILES[name], as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    found = [output.get("data", {}).get("image/png") for output in outputs]
    return [base64.b64decode(each) for each in found if each]


@pytest.mark.parametrize("name", FILES)
def test_committed_pictures_are_those_in_the_notebook(name):
    embedded = pictures_of(name)
    for file in sorted(paths.FIGURES.glob(f"{name[:3]}*.png")):
        assert embedded.count(file.read_bytes()) == 1, file.name


def test_every_committed_picture_belongs_to_a_notebook():
    numbers = tuple(f"{name[:2]}_" for name in FILES)
    strangers = [
        file.name
        for file in paths.FIGURES.iterdir()
        if not file.name.startswith(numbers) or file.suffix != ".png"
    ]
    assert strangers == []


# 53 shows ratings of an example, which are simulated.
REAL = [name for name in FILES if name != "53_your_ratings"]


@pytest.mark.parametrize("name", REAL)
def test_committed_outputs_are_those_of_a_default_run_on_real_data(name):
    text = FILES[name].read_text(encoding="utf-8")
    if name != "53_your_ratings":  # about an example, which is simulated
        assert "SIMULATED DATA" not in json.dumps(
            [cell.get("outputs") for cell in json.loads(text)["cells"]]
        )
    assert "Changed parameters" not in text


def test_defaults_of_the_last_refresh_are_those_of_the_notebooks():
    committed = (paths.RESULTS / "parameters.csv").read_bytes()
    assert publish.write_parameters(sorted(FILES)).read_bytes() == committed


def test_a_picture_that_was_painted_over_differs_and_shifted_letters_do_not(tmp_path):
    rng = np.random.default_rng(1)
    pixels = np.full((100, 200), 255, dtype=np.uint8)
    pixels[40:60, 50:150] = 0
    Image.fromarray(pixels).save(tmp_path / "old.png")
    edges = pixels.copy()
    edges[rng.integers(0, 100, 150), rng.integers(0, 200, 150)] ^= 255
    Image.fromarray(edges).save(tmp_path / "edges.png")
    painted = pixels.copy()
    painted[40:60, 50:100] = 255
    Image.fromarray(painted).save(tmp_path / "painted.png")
    Image.fromarray(pixels[:80]).save(tmp_path / "cut.png")
    old = tmp_path / "old.png"
    tolerance = publish.DIFFERENT_PIXELS
    assert publish.pixels_that_differ(old, tmp_path / "edges.png") < tolerance
    assert publish.pixels_that_differ(old, tmp_path / "painted.png") > tolerance
    assert publish.pixels_that_differ(old, tmp_path / "cut.png") == 1


def test_pictures_that_are_gone_or_new_or_different_are_named(tmp_path, monkeypatch):
    for folder in ("old", "build/figures"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(paths, "FIGURES", tmp_path / "old")
    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    white, black = Image.new("L", (9, 9), 255), Image.new("L", (9, 9), 0)
    white.save(tmp_path / "old" / "11_a.png")
    white.save(tmp_path / "old" / "11_gone.png")
    black.save(tmp_path / "build" / "figures" / "11_a.png")
    black.save(tmp_path / "build" / "figures" / "11_new.png")
    black.save(tmp_path / "build" / "figures" / "12_of_another.png")
    assert publish.changed_pictures(["11_notebook"]) == [
        "figures/11_gone.png: no notebook draws it",
        "figures/11_new.png: is new",
        "figures/11_a.png: 100.0 % of its pixels differ",
    ]


def test_what_differs_from_run_to_run_is_not_committed():
    code = nbformat.v4.new_code_cell("1", execution_count=7)
    code.metadata |= {"papermill": {}, "tags": []}
    code.outputs = [nbformat.v4.new_output("execute_result", execution_count=7)]
    injected = nbformat.v4.new_code_cell("alpha = 1")
    injected.metadata["tags"] = ["injected-parameters"]
    notebook = nbformat.v4.new_notebook(cells=[injected, code])
    notebook.metadata["language_info"] = {"name": "python", "version": "3.11.7"}
    (cell,) = publish.strip(notebook).cells
    assert cell.metadata == {}
    assert cell.execution_count == cell.outputs[0].execution_count == 1
    assert notebook.metadata["language_info"] == {"name": "python"}


def test_new_notebooks_are_listed_by_number(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    (tmp_path / "appendix").mkdir()
    (tmp_path / "appendix" / "12_b.ipynb").touch()
    listed = "| a | b |\n| [11_a](11_a.ipynb) | A |\n| [21_c](21_c.ipynb) | C |\n"
    new = publish.with_all_listed(listed, {"12_b": "B"})
    assert new.splitlines()[2] == "| [12_b](appendix/12_b.ipynb) | B |"
