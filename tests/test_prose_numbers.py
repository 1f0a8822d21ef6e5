"""Numbers in the prose of rewritten notebooks are those of their committed outputs."""

import re
from itertools import chain
from pathlib import Path

import nbformat
import pytest
from marked_numbers import COMMENT, NO_RESULTS

from helpers import paths

# Notebooks that draw a figure of their own.
NOTEBOOKS = [
    file
    for file in sorted(paths.NOTEBOOKS.rglob("[0-9]*.ipynb"))
    if "show.save(" in file.read_text(encoding="utf-8")
]
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")


def numbers_in_prose(text: str) -> list[str]:
    """Numbers that the prose of a Markdown cell gives as results."""
    for pattern in [*NO_RESULTS, COMMENT]:
        text = pattern.sub(" ", text)
    return NUMBER.findall(text)


def texts_of_outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """What the outputs of a notebook say, and its cell of parameters."""
    texts = []
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            texts.append(cell.source)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            texts.append(output.get("text", ""))
            texts.append(data.get("text/plain", ""))
            texts.append(data.get("text/markdown", ""))
            texts.append(output.get("metadata", {}).get("image/png", {}).get("alt", ""))
    return texts


def is_printed(number: str, printed: set[float]) -> bool:
    """Whether a printed number, or 100 times a share, has these digits."""
    value = float(number.replace(",", ""))
    decimals = len(number.partition(".")[2])
    # half of a unit, with room for binary fractions and for rounding half to even
    tolerance = 0.5 * 10.0**-decimals + 1e-9
    scaled = chain(printed, (100 * each for each in printed))
    return any(abs(each - value) <= tolerance for each in scaled)


def missing_numbers(notebook: nbformat.NotebookNode) -> list[str]:
    """Numbers in prose that no output of the notebook gives."""
    found = NUMBER.findall(" ".join(texts_of_outputs(notebook)))
    printed = {float(number.replace(",", "")) for number in found}
    missing = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            numbers = numbers_in_prose(cell.source)
            missing += [each for each in numbers if not is_printed(each, printed)]
    return missing


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_outputs_of_a_notebook_give_each_number_in_its_prose(file: Path):
    assert missing_numbers(nbformat.read(file, as_version=4)) == []


def notebook_of(prose: str, output: str) -> nbformat.NotebookNode:
    """A notebook with one paragraph and one printed output."""
    printed = nbformat.v4.new_output("stream", text=output)
    cells = [
        nbformat.v4.new_markdown_cell(prose),
        nbformat.v4.new_code_cell("print()", outputs=[printed]),
    ]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.mark.parametrize(
    ("prose", "output", "missing"),
    [
        ("about 1.5 points, 1.50 in 900 answers", "refusal 1.4968, n 900", []),
        ("about 1.6 points", "refusal 1.4968", ["1.6"]),
        ("61 % of 10,000 resamples", "share 0.6122 of 10000", []),
        ("62 % of resamples", "share 0.6122", ["62"]),
        ("−0.21 points", "-0.2081", []),
        ("In section 2.2, Figure 1 (2024), notebook 16 and cells 27 to 29", "", []),
        ("`alpha = 0.05` and $x_1 = 3$, [all](a_7.ipynb), [50](50_b.ipynb)", "", []),
        ("1. first\n2. second, with 7", "", ["7"]),
        ("95 % intervals, and 95 % of answers", "", ["95"]),
    ],
)
def test_numbers_are_found_and_compared_at_their_digits(prose, output, missing):
    assert missing_numbers(notebook_of(prose, output)) == missing


def test_captions_alt_texts_tables_and_parameters_count_as_outputs():
    caption = {"text/markdown": "Of 900 answers.", "text/plain": "<Markdown>"}
    picture = {"image/png": "", "text/plain": "refusal 14"}
    show = nbformat.v4.new_output
    outputs = [
        show("display_data", caption),
        show("display_data", picture, metadata={"image/png": {"alt": "rings: 0.95"}}),
    ]
    tagged = nbformat.v4.new_code_cell("alpha: float = 0.01")
    tagged.metadata["tags"] = ["parameters"]
    notebook = notebook_of("900, 14, 0.95, 0.01 and 8", "")
    notebook.cells += [tagged, nbformat.v4.new_code_cell("", outputs=outputs)]
    assert missing_numbers(notebook) == ["8"]
