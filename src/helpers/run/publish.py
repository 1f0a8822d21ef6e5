"""Compare a run on real data with what is committed, and commit it instead."""

import json
from collections.abc import Sequence
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
from PIL import Image

from helpers import paths
from helpers.data.published import read_text
from helpers.data.tables import to_csv_bytes
from helpers.run import notebooks

# Tables of a run, which are committed in results/.
TABLES = ("results", "claims", "tables", "authors_numbers")
# What tells the rows of these tables apart.
KEYS = ("id", "name", "interpretation", "part", "notebook")
SAME_NUMBER = 1e-4  # relative difference of numbers that outputs show alike
# Pictures are alike if at most so many of their pixels differ by more than a shade:
# another version of a font moves the edges of letters.
SHADE = 64  # of 255
DIFFERENT_PIXELS = 0.02


def differences(committed: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """Say where a new table of results differs from the committed one.

    Numbers differ if they do in the fourth digit: outputs show no more.

    Parameters
    ----------
    committed, new : pandas.DataFrame
        Texts, as files hold them; rows in any order.

    Returns
    -------
    list of str
        A line for each difference.

    Examples
    --------
    >>> old = pd.DataFrame({"name": ["a", "b"], "estimate": ["1.00001", "2"]})
    >>> new = pd.DataFrame({"name": ["b", "a"], "estimate": ["2.1", "1"]})
    >>> differences(old, new)
    ['b: estimate is 2.1, not 2']
    """
    keys = [column for column in committed if column in KEYS]
    before = _by_key(committed, keys)
    after = _by_key(new, keys)
    found = [f"{key}: is gone" for key in before.keys() - after.keys()]
    found += [f"{key}: is new" for key in after.keys() - before.keys()]
    for key in before.keys() & after.keys():
        for column in sorted(before[key].keys() | after[key].keys()):
            old_value = before[key].get(column, "")
            new_value = after[key].get(column, "")
            if not _same(old_value, new_value):
                found.append(f"{key}: {column} is {new_value}, not {old_value}")
    return sorted(found)


def _by_key(table: pd.DataFrame, keys: list[str]) -> dict[str, dict[str, str]]:
    """Rows of a table by their key; the n-th of several alike has its number."""
    number = table.groupby(keys).cumcount().astype(str)
    texts = table[keys].assign(number=number.mask(number == "0", ""))
    names = texts.agg(" ".join, axis=1).str.split().str.join(" ")
    return dict(zip(names, table.to_dict("records"), strict=True))


def _same(before: str, after: str) -> bool:
    """Tell whether two cells are the same text or about the same number."""
    if before == after:
        return True
    try:
        first, second = float(before), float(after)
    except ValueError:
        return False
    return bool(np.isclose(first, second, rtol=SAME_NUMBER, atol=SAME_NUMBER**2))


def changed_results(names: Sequence[str]) -> list[str]:
    """Say where results that notebooks have saved differ from the committed ones."""
    from helpers import claims  # takes half a second

    committed = read_text(paths.RESULTS / "results.csv")
    new = claims.as_text(claims.read(paths.BUILD)).astype(str)
    return differences(
        committed[committed["notebook"].isin(names)], new[new["notebook"].isin(names)]
    )


def changed_tables() -> list[str]:
    """Say where the joined tables of a run differ from the committed ones."""
    found = []
    for name in TABLES:
        committed = read_text(paths.RESULTS / f"{name}.csv")
        new = read_text(paths.BUILD / f"{name}.csv")
        for line in differences(committed, new):
            found.append(f"results/{name}.csv: {line}")
    return found


def changed_pictures(names: Sequence[str]) -> list[str]:
    """Say which committed pictures differ from new ones, or are missing or too many."""
    found = []
    numbers = tuple(f"{name[:2]}_" for name in names)
    new_folder = paths.BUILD / "figures"
    old = {f.name for f in paths.FIGURES.glob("*.png") if f.name.startswith(numbers)}
    new = {f.name for f in new_folder.glob("*.png") if f.name.startswith(numbers)}
    found += [f"figures/{name}: no notebook draws it" for name in sorted(old - new)]
    found += [f"figures/{name}: is new" for name in sorted(new - old)]
    for name in sorted(old & new):
        difference = pixels_that_differ(paths.FIGURES / name, new_folder / name)
        if difference > DIFFERENT_PIXELS:
            found.append(
                f"figures/{name}: {100 * difference:.1f} % of its pixels differ"
            )
    return found


def pixels_that_differ(first: Path, second: Path) -> float:
    """Share of the pixels that differ by more than a shade; 1 if the sizes differ."""
    pictures = []
    for file in (first, second):
        with Image.open(file) as picture:
            pictures.append(np.asarray(picture.convert("L"), dtype=int))
    old, new = pictures
    if any(abs(a - b) > 0.02 * a for a, b in zip(old.shape, new.shape, strict=True)):
        return 1.0
    height, width = np.minimum(old.shape, new.shape)
    shades = np.abs(old[:height, :width] - new[:height, :width])
    return float((shades > SHADE).mean())


def publish(names: Sequence[str]) -> list[Path]:
    """Copy what a complete run on real data made into the committed folders."""
    from helpers import report  # takes half a second

    contents = {}
    for table in (*TABLES, "parameters"):
        file = f"{table}.csv"
        contents[paths.RESULTS / file] = (paths.BUILD / file).read_bytes()
    tables = [read_text(paths.BUILD / f"{name}.csv") for name in TABLES[1:]]
    written = report.write(*tables, links())
    contents[paths.ROOT / "docs" / "replication_report.md"] = written.encode()
    paths.replace_files(contents)
    return [*contents, *_publish_notebooks(names)]


def _publish_notebooks(names: Sequence[str]) -> list[Path]:
    """Copy executed notebooks and their figures into the committed folders."""
    contents = {}
    titles = {}
    numbers = tuple(f"{name[:2]}_" for name in names)
    for name in names:
        notebook = strip(nbformat.read(notebooks.executed(name), as_version=4))
        titles[name] = notebooks.heading(notebook)
        text = nbformat.writes(notebook) + "\n"
        contents[notebooks.notebook_file(name)] = text.encode()
        for figure in sorted((paths.BUILD / "figures").glob(f"{name[:3]}*.png")):
            contents[paths.FIGURES / figure.name] = figure.read_bytes()
    index = paths.NOTEBOOKS / "README.md"
    text = index.read_text(encoding="utf-8")
    contents[index] = with_all_listed(text, titles).encode()
    paths.replace_files(contents)
    for figure in paths.FIGURES.glob("*.png"):
        if figure.name.startswith(numbers) and figure not in contents:
            figure.unlink()
    return list(contents)


def links() -> dict[str, str]:
    """Addresses of the notebooks, as the report links them."""
    return {
        name: f"../{file.relative_to(paths.ROOT).as_posix()}"
        for name, file in notebooks.notebook_files().items()
    }


def with_all_listed(readme: str, titles: dict[str, str]) -> str:
    """Add to the table of notebooks those that it does not list, by number."""
    lines = readme.splitlines(keepends=True)
    for name, words in titles.items():
        file = notebooks.notebook_file(name).relative_to(paths.NOTEBOOKS)
        link = f"[{name}]({file.as_posix()})"
        if link in readme:
            continue
        row = f"| {link} | {words} |\n"
        row_before = 0
        for number, line in enumerate(lines):
            if line.startswith("| [") and line < row:
                row_before = number
        lines.insert(row_before + 1, row)
    return "".join(lines)


def write_parameters(names: Sequence[str]) -> Path:
    """Write the parameters that the notebooks set into `build/parameters.csv`."""
    rows = []
    for name in names:
        for parameter, value in notebooks.parameters_of(name).items():
            rows.append((name, parameter, json.dumps(value)))
    table = pd.DataFrame(rows, columns=["notebook", "parameter", "default"])
    file = paths.BUILD / "parameters.csv"
    paths.replace_files({file: to_csv_bytes(table, index=False)})
    return file


def strip(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove what differs from run to run and machine to machine; keep outputs."""
    notebook.metadata.get("language_info", {}).pop("version", None)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    for each in (notebook, *notebook.cells):
        for trace in ("papermill", "execution"):
            each.metadata.pop(trace, None)
        if each.metadata.get("tags") == []:
            del each.metadata["tags"]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook
