"""What notebooks depend on, told from a small project."""

import nbformat
import pytest

from helpers import paths
from helpers.run import dependencies as found

MODULES = {
    "helpers/__init__.py": "def __getattr__(name):\n    from helpers import verbs",
    "helpers/paths.py": "DATA = 1",
    "helpers/verbs.py": "from .stats import means",
    "helpers/stats/__init__.py": "from helpers.stats.means import mean",
    "helpers/stats/means.py": "import numpy\nfrom . import sums",
    "helpers/stats/sums.py": "",
    "helpers/text.py": "import helpers.paths\nlexicon = helpers.paths / 'lexicon.csv'",
    "helpers/recipes.py": "DATA = 1\nDATA / 'recipes' / f'{DATA}.yaml'",
    "helpers/studies/__init__.py": "",
    "helpers/studies/hosking.py": "from helpers import text",
    "helpers/studies/kamoda.py": "FILES = 'kamoda/answers.jsonl'",
}
DATA = {
    "README.md": "lexicon.csv",
    "lexicon.csv": "word\n",
    "registry.csv": "file,url\nhosking/a.csv,1\nkamoda/answers.jsonl,2\n",
    "unpinned.csv": "file,url\nhosking/b.csv,3\n",
    "parameters.csv": "alpha",
    "published/hosking_table2.csv": "1",
    "published/claims.csv": "1",
    "raw/lexicon.csv": "downloaded",
    "recipes/a.yaml": "1",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write a project; give a function that writes its notebook."""
    for folder, files in (("src", MODULES), ("data", DATA)):
        for name, content in files.items():
            file = tmp_path / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    (tmp_path / "requirements.lock").write_text("numpy==2")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(paths, "DATA", tmp_path / "data")
    monkeypatch.setattr(found, "SOURCE", tmp_path / "src")

    def write(*cells):
        forget()
        code = [nbformat.v4.new_code_cell(cell) for cell in cells]
        notebook = nbformat.v4.new_notebook(cells=code)
        nbformat.write(notebook, tmp_path / "11_tiny.ipynb")
        return tmp_path / "11_tiny.ipynb"

    return write


def forget():
    """Let code and data be read anew, which a run does once."""
    for function in vars(found).values():
        getattr(function, "cache_clear", lambda: None)()


def names(notebook):
    """Modules and data that a notebook uses, by their last name."""
    return {file.name for file in found.files_of(notebook)} - {"__init__.py"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import numpy", set()),
        ("from helpers import paths", {"paths.py"}),
        ("from helpers.stats import mean", {"means.py", "sums.py"}),
        ("import helpers.stats.sums", {"means.py", "sums.py"}),
        ("if True:\n    from helpers import paths", {"paths.py"}),
        ("from helpers import weights", {"verbs.py", "means.py", "sums.py"}),
        ("from helpers import text", {"text.py", "paths.py", "lexicon.csv"}),
        ("from helpers import recipes", {"recipes.py", "a.yaml"}),
        ("'hosking_table2'", {"hosking_table2.csv"}),
        ("'claims'", set()),
        ("'parameters.csv'", set()),
        ("'elsewhere/claims.csv'", {"claims.csv"}),
    ],
)
def test_imports_and_named_files_are_found(project, code, expected):
    assert names(project("%matplotlib inline\n!ls", code)) == expected


def test_rows_of_registered_files_are_those_of_the_studies(project):
    hosking = ["hosking/a.csv,1", "hosking/b.csv,3"]
    assert found.rows_of(project("from helpers.studies import hosking")) == hosking
    kamoda = ["kamoda/answers.jsonl,2"]
    assert found.rows_of(project("from helpers.studies import kamoda")) == kamoda


@pytest.mark.parametrize(
    ("file", "content", "concerns"),
    [
        ("src/helpers/text.py", "", True),
        ("src/helpers/paths.py", "", True),
        ("src/helpers/stats/sums.py", "1", False),
        ("data/lexicon.csv", "other", True),
        ("data/recipes/a.yaml", "other", False),
        ("data/registry.csv", "file,url\nhosking/a.csv,9\n", True),
        ("data/registry.csv", DATA["registry.csv"] + "humbel/c.csv,4\n", False),
        ("requirements.lock", "numpy==3", True),
    ],
)
def test_a_change_concerns_the_notebooks_that_use_it(project, file, content, concerns):
    notebook = project("from helpers.studies import hosking")
    before = found.fingerprint(notebook)
    (paths.ROOT / file).write_text(content)
    forget()
    assert (found.fingerprint(notebook) != before) == concerns


def test_a_change_of_a_cell_concerns_its_notebook_and_one_of_outputs_does_not(project):
    file = project("print(1)")
    before = found.fingerprint(file)
    notebook = nbformat.read(file, as_version=4)
    notebook.cells[0].outputs = [nbformat.v4.new_output("stream", text="1")]
    nbformat.write(notebook, file)
    assert found.fingerprint(file) == before
    notebook.cells[0].source = "print(2)"
    nbformat.write(notebook, file)
    assert found.fingerprint(file) != before
