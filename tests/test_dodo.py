"""The whole pipeline, in a small copy of the project with notebooks of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from helpers import paths

PARAMETERS = """data_source: str = "auto"  # where data come from
out_dir: str = "build"  # where results go
claims_file: str = "figures/claims.csv"  # claims of all notebooks
headlines_file: str = "figures/headlines.csv"  # headlines of all notebooks
n_boot: int = 1000  # draws
alpha: float = 1.0  # anything"""
SITE = """import sys, helpers.paths
page = helpers.paths.ROOT / sys.argv[2] / "index.html"
page.parent.mkdir(exist_ok=True)
page.write_text((helpers.paths.BUILD / "data" / "hosking").read_text())"""
CLAIMS = """from helpers.claims import Ledger
claims = Ledger("11_good", data_source, out_dir)
claims.enter("hosking.counts", {"outputs_1": 900})
claims.show()"""
OVERVIEW = """from helpers import paths
print(len((paths.ROOT / claims_file).read_text().splitlines()))"""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Copy of the project with the notebooks 00_all, 10_other, 11_good and 12_bad."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(paths.ROOT / "src", root / "src")
    shutil.copytree(paths.DATA, root / "data", ignore=shutil.ignore_patterns("raw"))
    for file in ("dodo.py", "requirements.lock"):
        shutil.copy(paths.ROOT / file, root)
    (root / "README.md").touch()
    (root / "docs").mkdir()
    (root / "docs" / "make_site.py").write_text(SITE)
    (root / "notebooks").mkdir()
    write_notebook(root / "notebooks" / "00_all.ipynb", OVERVIEW)
    write_notebook(root / "notebooks" / "10_other.ipynb", "1")
    write_notebook(root / "notebooks" / "11_good.ipynb", CLAIMS)
    write_notebook(root / "notebooks" / "12_bad.ipynb", "1 / 0")
    return root


def write_notebook(file: Path, code: str) -> None:
    """Write a notebook with one code cell after its parameters."""
    cells = [
        nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(code),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, file)


def doit(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run doit in a project."""
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-m", "doit", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)


def test_every_make_target_is_a_task_or_command_and_every_task_is_described():
    dodo = (paths.ROOT / "dodo.py").read_text()
    tasks = dict(re.findall(r'^def task_(\w+)\(\):\n    """(.*)"""$', dodo, re.MULTILINE))
    targets = re.search(r"^\.PHONY: (.*)$", (paths.ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(targets[1].split()) - {"help", "clean"} <= set(tasks)
    assert len(tasks) == dodo.count("\ndef task_")
    assert all(description.endswith(".") for description in tasks.values())


def test_a_failure_is_named_and_stops_nothing_but_what_needs_it(project):
    run = doit(project, "reproduce", "notebook", "name=13", "data=simulated")
    assert run.returncode != 0
    assert "hosking: simulated data (asked for)" in run.stdout
    assert re.search(r"11_good: finished in \d+\.\d s", run.stdout)
    assert (
        "TaskFailed - taskid:execute:12_bad\n"
        "12_bad stopped in cell In [3] of build/notebooks/12_bad.unfinished.ipynb\n"
        "    ZeroDivisionError: division by zero\n"
    ) in run.stdout
    assert "name must be one of 00_all, 10_other, 11_good, 12_bad, not '13'" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr
    assert not (project / "build" / "site").exists()


def test_what_changed_or_was_overwritten_runs_again_and_single_notebooks_beside_it(project):
    write_notebook(project / "notebooks" / "12_bad.ipynb", "print('mended')")
    claims = project / "build" / "claims" / "11_good.csv"
    right = claims.read_bytes()
    claims.write_bytes(right.replace(b",900,", b",901,"))
    assert claims.read_bytes() != right
    given = "name=12_bad", "args=-p alpha 7", "data=simulated"
    run = doit(project, "notebook", "reproduce", *given)
    assert run.returncode == 0
    assert "-- execute:10_other" in run.stdout
    assert re.search(r"12_bad: finished.*00_all: finished", run.stdout, flags=re.DOTALL)
    assert claims.read_bytes() == right
    assert re.search(r"hosking: simulated data, \d+ open", run.stdout)
    assert run.stdout.endswith("build/site/index.html\n")
    assert (project / "build" / "site" / "index.html").read_text() == "simulated"
    main, one_off = (
        (project / "build" / folder / "notebooks" / "12_bad.ipynb").read_text()
        for folder in ("", "one-off")
    )
    assert ["alpha = 7" in text for text in (main, one_off)] == [False, True]
    assert 'data_source = \\"simulated\\"' in main


def test_a_refresh_from_simulated_data_is_refused_before_anything_runs(project):
    (project / "build" / ".doit.json").unlink()
    run = doit(project, "refresh", "data=simulated")
    assert run.returncode != 0
    assert "must come from real data, but hosking would be simulated" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr
    assert "finished" not in run.stdout
    assert not (project / "figures").exists()
