"""The whole pipeline, in a small copy of the project with notebooks of its own."""

import fcntl
import json
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
from ratings.cli import main

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
CLAIMS = """from helpers.claims.ledger import Ledger
claims = Ledger("11_good", data_source, out_dir)
claims.enter("hosking.counts", {"outputs_1": 900})
claims.show()"""
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
    process = start_doit(root, *arguments)
    output, errors = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def start_doit(root: Path, *arguments: str) -> subprocess.Popen:
    """Start doit in a project."""
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "doit", *arguments]
    return subprocess.Popen(command, cwd=root, env=environment, text=True, **pipes)


def test_every_make_target_is_a_task_or_command_and_every_task_is_described():
    dodo = (paths.ROOT / "dodo.py").read_text()
    tasks = dict(
        re.findall(r'^def task_(\w+)\(\):\n    """(.*)"""$', dodo, re.MULTILINE)
    )
    targets = re.search(
        r"^\.PHONY: (.*)$", (paths.ROOT / "Makefile").read_text(), re.MULTILINE
    )
    by_make = {"help", "clean", "notebook"}
    assert set(targets[1].split()) <= {*tasks, *main.commands, *by_make}
    assert len(tasks) == dodo.count("\ndef task_")
    assert all(description.endswith(".") for description in tasks.values())


def test_a_failure_is_named_and_costs_nothing_but_what_needs_it(project):
    (project / "build" / "claims").mkdir(parents=True)
    (project / "build" / "claims" / "12_bad.csv").write_text("of an earlier run")
    run = doit(project, "reproduce", "data=simulated")
    assert run.returncode == 1
    assert "hosking: simulated data (asked for)" in run.stdout
    assert re.search(r"11_good: finished in \d+\.\d s", run.stdout)
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
    assert (project / "build" / "site" / "index.html").read_text() == "simulated"


def test_what_changed_or_was_overwritten_runs_again(project):
    doit(project, "reproduce", "data=simulated")
    write_notebook(project / "notebooks" / "12_bad.ipynb", "print('mended')")
    claims = project / "build" / "claims" / "11_good.csv"
    right = claims.read_bytes()
    wrong = right.replace(b",900,", b",901,")
    assert wrong != right
    claims.write_bytes(wrong)
    run = doit(project, "reproduce", "data=simulated")
    assert run.returncode == 0
    assert "-- execute:10_other" in run.stdout
    assert re.search(
        r"12_bad: finished.*-- execute:00_all", run.stdout, flags=re.DOTALL
    )
    assert claims.read_bytes() == right
    assert re.search(r"hosking: simulated data, \d+ not checked", run.stdout)
    executed = (project / "build" / "notebooks" / "12_bad.ipynb").read_text()
    assert 'data_source = \\"simulated\\"' in executed
    assert json.loads((project / "build" / "missing.json").read_text()) == {}


def test_a_damaged_file_of_a_study_or_of_the_state_costs_little_and_a_second_run_waits(
    project, monkeypatch
):
    registry = project / "data" / "registry.csv"
    rows = [
        row
        for row in registry.read_text().splitlines()
        if not row.startswith("hosking/")
    ]
    registry.write_text("\n".join(rows))
    damaged = project / "mirror" / "kamoda" / "answers.jsonl"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("damaged")
    monkeypatch.setenv("DATA_MIRROR", str(project / "mirror"))
    write_notebook(project / "notebooks" / "20_late.ipynb", "1")
    (project / "build").mkdir()
    (project / "build" / ".doit.json").write_text('{"execute:10_ot')
    refused = doit(project, "execute:10_other")
    assert refused.returncode == 3
    assert "you can just remove the corrupted file" in refused.stdout + refused.stderr
    (project / "build" / ".doit.json").unlink()
    with (project / "build" / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run = start_doit(project, "execute:10_other", "execute:20_late")
        assert run.stdout.readline().endswith("build: waiting until it ends\n")
    output, errors = run.communicate()
    assert "hosking: printed data" in output
    assert "kamoda: data missing: " in output
    assert "10_other: finished" in output
    assert "20_late has no results: data of kamoda are missing: " in output
    noted = json.loads((project / "build" / "missing.json").read_text())
    assert list(noted) == ["20_late"]
    assert (
        "answers.jsonl is not the registered kamoda/answers.jsonl" in noted["20_late"]
    )
    assert "Traceback" not in output + errors


def test_an_interrupted_run_ends_with_one_line_and_keeps_what_was_done(project):
    begun = project / "begun"
    code = (
        f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)"
    )
    write_notebook(project / "notebooks" / "11_good.ipynb", code)
    tasks = ("execute:10_other", "execute:11_good")
    run = start_doit(project, "-n1", *tasks, "data=simulated")
    while not begun.exists() and run.poll() is None:
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    errors = run.communicate()[1]
    assert errors.strip() == "stopped: what was finished is kept; run again to go on"
    assert run.returncode == -signal.SIGINT
    done = json.loads((project / "build" / ".doit.json").read_text())
    assert done["execute:10_other"]["deps:"]
    assert "execute:11_good" not in done


def test_what_a_killed_run_has_left_is_not_taken_for_that_of_an_earlier_one(project):
    arguments = ("execute:10_other", "data=simulated")
    executed = project / "build" / "notebooks" / "10_other.ipynb"
    notebook = project / "notebooks" / "10_other.ipynb"
    state = project / "build" / ".doit.json"
    write_notebook(notebook, "'first'")
    doit(project, *arguments)
    files = {file: file.read_bytes() for file in (notebook, state)}
    write_notebook(notebook, "'second'")
    doit(project, *arguments)
    # as if killed before doit wrote its state, and undone
    for file, content in files.items():
        file.write_bytes(content)
    assert "second" in executed.read_text()
    doit(project, *arguments)
    assert "first" in executed.read_text()


def test_a_folder_of_results_that_cannot_be_written_to_is_named(project):
    (project / "build").write_text("a file")
    run = doit(project, "reproduce")
    assert run.returncode == 3
    assert re.fullmatch(
        r"ERROR: results cannot be written to .*build \(File exists\).*\n", run.stderr
    )


def test_an_unknown_kind_of_data_is_refused(project):
    run = doit(project, "reproduce", "data=fake")
    assert run.stderr == "ERROR: data must be auto, real, simulated, not 'fake'\n"


def test_a_refresh_from_simulated_data_is_refused_before_anything_runs(project):
    run = doit(project, "refresh", "data=simulated")
    assert run.returncode == 3
    assert run.stderr.startswith(
        "ERROR: committed results must come from real data, but hosking"
    )
    assert "finished" not in run.stdout
    assert not (project / "figures").exists()
