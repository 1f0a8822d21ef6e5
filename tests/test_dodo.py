"""The whole pipeline, in a small copy of the project with notebooks of its own."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from helpers import paths

PARAMETERS = """data_source: str = "auto"  # where data come from
out_dir: str = "build"  # where results go
claims_file: str = "figures/claims.csv"  # claims of all notebooks
n_boot: int = 1000  # draws
alpha: float = 1.0  # anything"""
SITE = """import sys, helpers.paths
page = helpers.paths.ROOT / sys.argv[2] / "index.html"
page.parent.mkdir(exist_ok=True)
page.write_text((helpers.paths.BUILD / "claims.csv").read_text())"""
RESULTS = """import pandas as pd
from helpers import run
from helpers.claims import results
files = {"claims_file": "README.md"}
run.check("11_good", globals() | files)
results.save(pd.DataFrame({"name": ["hosking.counts.outputs_1"], "estimate": [900]}))"""
THREADS = """import sys, dodo
from concurrent.futures import ThreadPoolExecutor
sys.setswitchinterval(1e-6)  # seconds
def work(letter):
    for _ in range(1000):
        dodo.say(letter * 20)
with ThreadPoolExecutor(2) as threads:
    list(threads.map(work, "ab"))"""
OVERVIEW = """from helpers import paths
print(len((paths.ROOT / claims_file).read_text().splitlines()))"""


@pytest.fixture
def project(tmp_path) -> Path:
    """Copy of the project with the notebooks 00_all, 10_other, 11_good and 12_bad."""
    root = tmp_path / "project"
    root.mkdir()
    shutil.copytree(paths.ROOT / "src", root / "src")
    shutil.copytree(paths.DATA, root / "data", ignore=shutil.ignore_patterns("raw"))
    for file in ("dodo.py", "pyproject.toml", "requirements.lock"):
        shutil.copy(paths.ROOT / file, root)
    (root / "README.md").touch()
    (root / "docs").mkdir()
    (root / "docs" / "make_site.py").write_text(SITE)
    (root / "notebooks").mkdir()
    write_notebook(root / "notebooks" / "00_all.ipynb", OVERVIEW)
    write_notebook(root / "notebooks" / "10_other.ipynb", "1")
    write_notebook(root / "notebooks" / "11_good.ipynb", RESULTS)
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
    process = start_doit(root, *arguments)
    output, errors = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def start_doit(root: Path, *arguments: str) -> subprocess.Popen:
    """Start doit in a project."""
    data, arguments = arguments[-1], arguments[:-1]
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "DATA": data}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "doit", *arguments]
    return subprocess.Popen(command, cwd=root, env=environment, text=True, **pipes)


def test_every_make_target_is_a_task_and_every_task_is_described():
    dodo = (paths.ROOT / "dodo.py").read_text()
    tasks = dict(
        re.findall(r'^def task_(\w+)\(\):\n    """(.*)"""$', dodo, re.MULTILINE)
    )
    makefile = (paths.ROOT / "Makefile").read_text()
    targets = re.findall(r"^(?:RESULTS|CHECKS) := (.*)$", makefile, re.MULTILINE)
    assert len(targets) == 2
    assert set(" ".join(targets).split()) <= set(tasks)
    assert len(tasks) == dodo.count("\ndef task_")
    assert all(description.endswith(".") for description in tasks.values())


def test_a_failure_is_named_and_costs_nothing_but_its_own_results(project):
    (project / "build" / "results").mkdir(parents=True)
    (project / "build" / "results" / "12_bad.csv").write_text("of an earlier run")
    run = doit(project, "reproduce", "simulated")
    assert run.returncode == 1
    assert re.search(
        r"11_good: started\n(.|\n)*11_good: finished in \d+\.\d s", run.stdout
    )
    assert (
        "12_bad has no results: "
        "12_bad stopped in cell In [3] of build/notebooks/12_bad.unfinished.ipynb\n"
        "    ZeroDivisionError: division by zero\n"
    ) in run.stdout
    assert re.search(
        r"12_bad has no results.*00_all: finished", run.stdout, flags=re.DOTALL
    )
    assert "these notebooks have no results:\n  12_bad: 12_bad stopped" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr
    assert not list((project / "build").glob("*/12_bad.csv"))
    assert (project / "build" / "notebooks" / "12_bad.unfinished.ipynb").is_file()
    assert (project / "build" / "site" / "index.html").is_file()


def test_what_changed_or_was_overwritten_runs_again(project):
    doit(project, "reproduce", "simulated")
    write_notebook(project / "notebooks" / "12_bad.ipynb", "print('mended')")
    table = project / "build" / "results" / "11_good.csv"
    right = table.read_bytes()
    wrong = right.replace(b",900", b",901")
    assert wrong != right
    table.write_bytes(wrong)
    run = doit(project, "reproduce", "simulated")
    assert run.returncode == 0
    assert "-- execute:10_other" in run.stdout
    assert "12_bad: finished" in run.stdout
    assert table.read_bytes() == right
    executed = (project / "build" / "notebooks" / "12_bad.ipynb").read_text()
    assert 'data_source = \\"simulated\\"' in executed
    again = doit(project, "reproduce", "simulated")
    assert "-- site" in again.stdout
    assert "finished" not in again.stdout


def test_a_run_that_is_killed_keeps_every_notebook_that_was_finished(project):
    begun = project / "begun"
    code = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(99)"
    write_notebook(project / "notebooks" / "11_good.ipynb", code)
    run = start_doit(project, "-n1", "execute:10_other", "execute:11_good", "simulated")
    while not begun.exists() and run.poll() is None:
        time.sleep(0.1)
    run.kill()
    run.communicate()
    write_notebook(project / "notebooks" / "11_good.ipynb", "1")
    run = doit(project, "execute:10_other", "execute:11_good", "simulated")
    assert "-- execute:10_other" in run.stdout
    assert "11_good: finished" in run.stdout


def test_an_interrupted_run_ends_with_one_line(project):
    begun = project / "begun"
    code = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(99)"
    write_notebook(project / "notebooks" / "11_good.ipynb", code)
    run = start_doit(project, "-n1", "execute:11_good", "simulated")
    while not begun.exists() and run.poll() is None:
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    errors = run.communicate()[1]
    assert errors.strip() == "stopped: what was finished is kept; run again to go on"
    assert run.returncode == -signal.SIGINT


def test_a_notebook_whose_code_changes_while_it_runs_has_no_results(project):
    lock = project / "requirements.lock"
    code = f"import pathlib\npathlib.Path({str(lock)!r}).write_text('other')"
    write_notebook(project / "notebooks" / "11_good.ipynb", code)
    run = doit(project, "execute:11_good", "simulated")
    assert "11_good has no results: it, or what it uses, was changed" in run.stdout
    assert not (project / "build" / "notebooks" / "11_good.ipynb").exists()


def test_lines_of_tasks_that_run_side_by_side_stay_whole(project):
    environment = os.environ | {"PYTHONPATH": f"{project / 'src'}{os.pathsep}{project}"}
    command = [sys.executable, "-c", THREADS]
    run = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True
    )
    assert sorted(run.stdout.splitlines()) == ["a" * 20] * 1000 + ["b" * 20] * 1000


def test_a_new_notebook_is_started(project, monkeypatch):
    monkeypatch.setenv("NAME", "70_my_study")
    run = doit(project, "new", "auto")
    assert "70_my_study.ipynb: open it with `make lab`" in run.stdout
    assert (project / "notebooks" / "70_my_study.ipynb").is_file()
    again = doit(project, "new", "auto")
    assert again.returncode == 1
    assert "the number 70 is that of 70_my_study" in again.stdout + again.stderr


def test_a_folder_of_results_that_cannot_be_written_to_is_named(project):
    (project / "build").write_text("a file")
    run = doit(project, "reproduce", "auto")
    assert run.returncode == 3
    assert re.fullmatch(
        r"ERROR: nothing can be written to build: File exists.*\n", run.stderr
    )


def test_too_little_room_for_results_is_said_before_anything_runs(project):
    limited = 'ulimit -f 1000 && exec "$0" -m doit reproduce'
    environment = os.environ | {"PYTHONPATH": str(project / "src")}
    run = subprocess.run(
        ["bash", "-c", limited, sys.executable],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 3
    assert run.stderr == "ERROR: nothing can be written to build: File too large\n"


def test_an_unknown_kind_of_data_is_refused(project):
    run = doit(project, "reproduce", "fake")
    assert run.stderr == "ERROR: DATA must be auto, real, simulated, not 'fake'\n"


@pytest.mark.parametrize("task", ["refresh", "compare"])
def test_committed_results_need_real_data(project, task):
    run = doit(project, task, "simulated")
    assert run.returncode == 3
    words = "ERROR: committed results come from real data, not DATA=simulated\n"
    assert run.stderr == words
    assert not (project / "build").exists()
