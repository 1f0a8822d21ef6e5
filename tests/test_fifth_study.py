"""A fifth study, added as CONTRIBUTING says, in a small copy of the project.

It goes through to its verdicts and the report; without its data it is left out.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from helpers import paths
from helpers.data.published import read_text

RATINGS = b"answer,rating\na,4\nb,2\nc,3\n"
CLAIMS = """\
hanna.ratings.count,hanna,§2,Three answers were rated.,3,count,value,,,,hanna,,
hanna.ratings.mean,hanna,§5,The mean is above four.,,,fact,> 4,abstract,main,hanna,,
"""
MODULE = '''"""Ratings of Hanna and others (2026)."""

import pandas as pd

from helpers.data import registry, tables


def load() -> pd.DataFrame:
    """One row for each rated answer."""
    files = registry.locate(["hanna/ratings.csv"], "real")
    ratings = tables.read_csv(files["hanna/ratings.csv"])
    tables.require(ratings, ["answer", "rating"], "ratings.csv")
    return ratings
'''
OPENING = """\
# Do people like the answers?

No, the mean rating is 3."""
PARAMETERS = """\
data_source: str = "auto"  # real, or auto"""
ANALYSIS = """\
from helpers import claims, run
from helpers.studies import hanna

run.check("70_hanna", globals())
ratings = hanna.load()["rating"]
found = {"count": len(ratings), "mean": ratings.mean()}
claims.save(claims.rows("hanna.ratings", found))"""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Copy of what a study needs, with five files added or changed by hand."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(paths.DATA, root / "data", ignore=shutil.ignore_patterns("raw"))
    shutil.copytree(paths.ROOT / "src", root / "src")
    for file in paths.ROOT.glob("*.*"):
        if file.is_file():
            shutil.copy(file, root)
    (root / "src" / "helpers" / "studies" / "hanna.py").write_text(MODULE)
    append(root / "data" / "registry.csv", registry_row())
    append(root / "data" / "studies.csv", "hanna,Hanna,Hanna and others (2026),7,\n")
    append(root / "data" / "published" / "claims.csv", CLAIMS)
    (root / "notebooks").mkdir()
    write_notebook(root / "notebooks" / "70_hanna.ipynb")
    (root / "mirror" / "hanna").mkdir(parents=True)
    (root / "mirror" / "hanna" / "ratings.csv").write_bytes(RATINGS)
    return root


def append(file: Path, text: str) -> None:
    """Add lines to a file."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(text)


def registry_row() -> str:
    """Row of the file of ratings, whose server nobody reaches."""
    sha256 = hashlib.sha256(RATINGS).hexdigest()
    blob = hashlib.sha1(b"blob %d\0" % len(RATINGS) + RATINGS).hexdigest()
    address = "https://nowhere.invalid/ratings.csv"
    return f"hanna/ratings.csv,{address},{sha256},{blob},{len(RATINGS)},ours,\n"


def write_notebook(file: Path) -> None:
    """Write the notebook of the study."""
    cells = [
        nbformat.v4.new_markdown_cell(OPENING),
        nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(ANALYSIS),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, file)


def python(root: Path, code: str) -> subprocess.CompletedProcess:
    """Run code with the modules and data of the copy."""
    folders = [str(root / "src"), str(paths.ROOT / "tests")]
    environment = os.environ | {
        "BUILD_FOLDER": str(root / "build"),
        "DATA_MIRROR": str(root / "mirror"),
        "PYTHONPATH": os.pathsep.join(folders),
    }
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
    )


RUN = """
from pathlib import Path
from notebook_code import run_code
run_code(Path("notebooks/70_hanna.ipynb"), {"data_source": SOURCE})
"""
JUDGE = """
from helpers import claims, paths
claims.judge_all(claims.read(paths.BUILD)).to_csv("claims.csv", index=False)
"""


def test_its_claims_are_judged_by_what_its_notebook_saved(project):
    done = python(project, RUN.replace("SOURCE", "'auto'") + JUDGE)
    assert done.returncode == 0, done.stderr
    claims = read_text(project / "claims.csv").set_index("id")
    own = claims[claims["study"] == "hanna"]
    verdicts = {"hanna.ratings.count": "reproduces", "hanna.ratings.mean": "not true"}
    assert own["verdict"].to_dict() == verdicts
    assert set(own["notebook"]) == {"70_hanna"}


def test_without_its_data_the_study_says_so(project):
    done = python(project, RUN.replace("SOURCE", "'simulated'"))
    assert done.returncode == 1
    assert "NoDataError: hanna has no simulator" in done.stderr
