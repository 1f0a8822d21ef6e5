"""All notebooks: what they import is there, and they run on simulated data."""

import ast
import importlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from notebook_code import run_code

from helpers import claims, marks, paths, show
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.studies import by_digit
from helpers.run.parameters import has_simulator
from helpers.studies import humbel
from helpers.studies.word_tests import word_classes

NOTEBOOKS = sorted(paths.NOTEBOOKS.rglob("*.ipynb"))
STUDY = by_digit()
# Notebooks about a study without a simulator say so, and have no simulated run.
SIMULATED = [
    file
    for file in NOTEBOOKS
    if file.stem[0] not in STUDY or has_simulator(STUDY[file.stem[0]])
]
# As few draws as take every branch: simulated data test that notebooks run, not what
# they find.
FEW = {
    "n_boot": 100,
    "n_draws": 10,
    "n_splits": 20,
    "n_trials": 50,
    "n_studies": 10,
    "n_sim": 10,
}
# Results are saved with six digits.
approx = partial(pytest.approx, rel=1e-5, abs=1e-6)
TEMPLATE = paths.DATA / "templates" / "new_notebook.ipynb"


def code_cells(notebook: Path) -> list[str]:
    """Code of each code cell."""
    cells = nbformat.read(notebook, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def imports(notebook: Path) -> set[tuple[str, str | None]]:
    """Modules that any line of a notebook imports, each with a name in it or None."""
    names = set()
    for cell in code_cells(notebook):
        for node in ast.walk(ast.parse(cell)):
            if isinstance(node, ast.Import):
                names |= {(alias.name, None) for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {(node.module, alias.name) for alias in node.names}
    return names


def is_there(module: str, name: str | None) -> bool:
    """Whether a module, or a name in it, can be imported."""
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError:
        return False
    if name is None or hasattr(imported, name):
        return True
    return is_there(f"{module}.{name}", None)


@pytest.mark.parametrize("notebook", [*NOTEBOOKS, TEMPLATE], ids=lambda file: file.stem)
def test_all_that_a_notebook_imports_is_there(notebook):
    needed = imports(notebook)
    assert {module for module, _ in needed} & {"helpers", "pandas"}
    assert [each for each in sorted(needed, key=str) if not is_there(*each)] == []


def test_a_missing_import_is_noticed_in_a_branch_too(tmp_path):
    branch = "    from helpers import paths, no_such_module\n    import nope"
    cell = nbformat.v4.new_code_cell(f"import json\nif False:\n{branch}")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbformat.write(notebook, tmp_path / "branch.ipynb")
    missing = {
        each for each in imports(tmp_path / "branch.ipynb") if not is_there(*each)
    }
    assert missing == {("helpers", "no_such_module"), ("nope", None)}


def test_the_authors_own_word_test_unlocks_its_claims(monkeypatch):
    saved = []
    monkeypatch.setattr(claims, "save", saved.append)
    study = humbel.load("simulated")
    questions = word_classes(study.associations, study.norms)
    own = questions.join(study.associations.set_index("row")["explanation"], on="row")
    monkeypatch.setattr(humbel, "authors_test", lambda data_source: own)
    given = {"data_source": "simulated", "n_trials": 50}
    run_code(paths.NOTEBOOKS / "appendix" / "41_word_tests_and_age.ipynb", given)
    (table,) = saved
    assert "humbel.word_classes.one_target" in set(table["name"])


@pytest.fixture(autouse=True)
def small_figures(monkeypatch):
    """Draw figures with few pixels and no layout: nobody looks at them here."""
    monkeypatch.setattr(show, "SAVE_DPI", 30)
    monkeypatch.setattr(
        show, "STYLE", [show.STYLE, {"figure.constrained_layout.use": False}]
    )


@pytest.mark.parametrize("notebook", SIMULATED, ids=lambda file: file.stem)
def test_every_notebook_runs_on_simulated_data_and_draws(
    notebook, tmp_path, monkeypatch
):
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    run_code(notebook, {"data_source": "simulated", **FEW})
    assert list(tmp_path.rglob(f"figures/{notebook.stem[:3]}*.png"))
    if not marks.current().is_default:
        assert not (tmp_path / "results").exists()


def without_data(*arguments: object) -> None:
    """Stand for `registry.locate` where no file may be looked for."""
    raise AssertionError(f"looks for files: {arguments}")


def committed(name: str) -> pd.Series:
    """Estimates of a committed result by part; the part of a single one is empty."""
    table = read_text(paths.RESULTS / "results.csv")
    rows = table[table["name"] == name].set_index("part")
    assert len(rows), name
    return rows["estimate"].astype(float)


@pytest.fixture(scope="module")
def overview() -> Iterator[Mapping[str, object]]:
    """Variables of notebook 00, which has looked for no file of a study."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("locate", "resolve", "fetch"):
            patch.setattr(registry, name, without_data)
        yield run_code(paths.NOTEBOOKS / "00_overview.ipynb", {})


def test_the_overview_computes_the_weights_of_notebooks_11_and_21(overview):
    lasso = overview["lasso"]
    for labelled_by in ("majority", "share"):
        expected = committed(f"hosking.lasso.{labelled_by}")[lasso.index]
        assert lasso[labelled_by].to_numpy() == approx(expected.to_numpy())
    expected = committed("kamoda.regression.weights")[overview["aspects"]]
    assert overview["regression"].coef_ == approx(expected.to_numpy())


def test_the_overview_grows_the_tree_of_notebook_22(overview):
    tree = overview["tree"]
    leaves = tree.tree_.value[tree.tree_.feature < 0].ravel()
    expected = committed("kamoda.tree.leaf_means")
    assert [leaves.max(), leaves.min()] == approx([*expected[["highest", "lowest"]]])
    expected = committed("kamoda.tree.explained")["three questions"]
    assert 100 * overview["explained"] == approx(expected)
    assert overview["asked"].columns[tree.tree_.feature[0]] == "at least\nmostly right"


def test_the_overview_computes_the_rates_of_notebook_14(overview):
    names = ["expert_rate", "worker_rate", "crowd_rate"]
    expected = [committed(f"hosking.same_answers.{name}").item() for name in names]
    assert overview["rates"].to_numpy() == approx(expected)
    expected = committed("hosking.same_answers.rates_by_condition")
    rates = overview["by_tone"][overview["labelled_by"]]
    for (tone, labelled_by), rate in rates.stack().items():
        assert rate == approx(expected[f"{labelled_by}, {tone}"])
    gap = rates["expert"] - rates["majority"]
    wider = committed("hosking.same_answers.gap_wider").item()
    assert gap["assertive"] - gap["cautious"] == approx(wider)
