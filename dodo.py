"""Tasks of the project: `doit list` names them, `doit` re-derives all results.

`doit data=real` or `doit data=simulated` chooses the data; otherwise real data are used
where they can be had. A notebook runs again only if something that it reads, or wrote,
has changed. A fault costs only what needs it: tasks of data and notebooks note it and
let the others go on; `reproduce` names what is missing and fails.
"""

from helpers.run import say_stopped

say_stopped("stopped: what was finished is kept; run again to go on")

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from doit import get_var
from doit.exceptions import InvalidDodoFile, TaskFailed

from helpers.data.registry import DATA_SOURCES
from helpers.data.studies import titles
from helpers.data.tables import PlainError, plainly, to_csv_bytes
from helpers.paths import BUILD, DATA, NOTEBOOKS, ROOT, replace_files
from helpers.run import notebooks, results
from helpers.run.results import (
    LEFT_OUT,
    executed,
    missing,
    note_missing,
    renewed,
    written_by,
)

NAMES = notebooks.notebook_names()
OVERVIEWS = [name for name in NAMES if name.startswith("00")]
FINDINGS = [name for name in NAMES if name not in OVERVIEWS]
STUDIES_READ = {name: notebooks.studies_of(name) for name in NAMES}
STUDIES = [
    study
    for study in titles()
    if any(study in studies for studies in STUDIES_READ.values())
]
CHOICE = get_var("data", "auto")

JOINED = ("claims", "headlines", "provenance", "atlas")
JOINED_FILES = [BUILD / f"{name}.csv" for name in JOINED]
ONE_AT_A_TIME = threading.Lock()
CODE = [
    ROOT / "requirements.lock",
    *(ROOT / "src").rglob("*.py"),
    *DATA.glob("*/*.mplstyle"),
    *DATA.glob("*.csv"),
    *DATA.glob("*/*.csv"),
]


def refuse_simulated(kinds: Mapping[str, str]) -> None:
    """Stop unless the data of all studies are real, or printed in their papers."""
    simulated = [
        study for study, kind in kinds.items() if kind not in ("real", "printed")
    ]
    if simulated:
        raise PlainError(
            f"committed results must come from real data, but {', '.join(simulated)} "
            "would be simulated: leave out data=simulated, or make the data available"
        )


if CHOICE not in DATA_SOURCES:
    raise InvalidDodoFile(f"data must be {', '.join(DATA_SOURCES)}, not {CHOICE!r}")
try:
    LOCK = results.hold(BUILD)
    notebooks.set_environment(BUILD)
    if "refresh" in sys.argv:  # rather now than after all notebooks have run
        refuse_simulated(
            {study: results.resolve(study, CHOICE)[0] for study in STUDIES}
        )
except PlainError as error:
    raise InvalidDodoFile(str(error)) from None
sys.stdout.reconfigure(line_buffering=True)

DOIT_CONFIG = {
    "backend": "json",
    "continue": True,
    "default_tasks": ["reproduce"],
    "dep_file": str(BUILD / ".doit.json"),
    "num_process": max(1, min(os.cpu_count(), len(NAMES))),
    # Threads share one record of ports in use; kernels of separate processes race for
    # them.
    "par_type": "thread",
    "verbosity": 2,
}


def task_data():
    """Find out which studies have real data and which are simulated."""
    for study in STUDIES:
        find = partial(find_data, study)
        yield task(find, name=study, targets=[stamp(study)])


def task_execute():
    """Execute each notebook."""
    for name in NAMES:
        yield notebook_task(name)


def task_claims():
    """Join claims, headlines and files read of all notebooks; judge the claims."""

    def read_and_written():
        files = list(JOINED_FILES)
        for name in JOINED:
            files += sorted(BUILD.glob(f"{name}/*.csv"))
        files += sorted(BUILD.glob("results/6*.csv"))
        return files

    return task(
        write_claims,
        file_dep=CODE,
        task_dep=[f"execute:{name}" for name in FINDINGS],
        targets=JOINED_FILES,
        uptodate=[as_left(read_and_written)],
    )


def task_site():
    """Build the site in build/site from what there is."""
    docs = [file for file in (ROOT / "docs").rglob("*") if file.is_file()]

    def read_and_written():
        tables = [BUILD / "missing.json", *JOINED_FILES]
        notebooks_run = [executed(name, BUILD) for name in NAMES]
        pages = sorted((BUILD / "site").rglob("*.html"))
        return [*tables, *notebooks_run, *pages]

    return task(
        lambda: run_script("docs/make_site.py", "build", "build/site"),
        file_dep=[*CODE, *docs, ROOT / "README.md"],
        task_dep=["claims", "execute"],
        targets=[BUILD / "site" / "index.html"],
        uptodate=[as_left(read_and_written)],
    )


def task_reproduce():
    """Re-derive all results and sum them up."""

    def sum_up():
        print(*summary_lines(), "build/site/index.html", sep="\n")
        refuse_missing()

    return task(sum_up, task_dep=["site"])


def task_lint():
    """Check style and formatting."""
    return task(lambda: run_tools(["ruff", "check"], ["ruff", "format", "--check"]))


def task_pytest():
    """Run the tests and the examples in docstrings."""
    return task(lambda: run_tools(["pytest", "-q", "-rs"]))


def task_nbval():
    """Compare the outputs in committed notebooks with new ones, on real data."""

    def compare():
        without = []
        for study in STUDIES:
            kind, why = results.resolve(study, CHOICE)
            if kind not in ("real", "printed"):
                without.append(f"{study} ({why})")
        if without:
            print(f"nbval: skipped, no real data of {', '.join(without)}")
            return None
        return run_tools(["pytest", "-q", "--nbval", "notebooks"])

    return task(compare)


def task_test():
    """Run all checks: lint, pytest (with all notebooks on simulated data) and nbval."""
    return {"actions": None, "task_dep": ["lint", "pytest", "nbval"]}


def task_lab():
    """Open JupyterLab."""
    command = [sys.executable, "-m", "jupyterlab", str(NOTEBOOKS)]
    return task(lambda: os.execv(sys.executable, command))


def task_refresh():
    """Renew the committed outputs, figures and claims from real data."""

    def publish():
        refuse_simulated(sources())
        written = results.publish(NAMES, BUILD, ROOT)
        print(f"{len(written)} files renewed in notebooks/ and figures/")

    return task(publish, task_dep=["reproduce"])


def task_answers():
    """Let the model under test answer again the questions of HumBEL (extra: models)."""

    def answer():
        from helpers.studies import answerers

        for file in answerers.answer_all():
            print(f"written: {file.relative_to(ROOT)}")

    return task(answer)


def task_coverage():
    """Measure how often printed intervals hold the truth, into data/coverage.csv."""

    def measure():
        refuse_simulated(sources())
        return run_script("-m", "benchmarks.coverage")

    return task(measure, task_dep=["data"])


def task_quoted():
    """Measure quoted intervals with new raters, into data/quoted_intervals.csv."""

    def measure():
        refuse_simulated(sources())
        return run_script("-m", "benchmarks.quoted_intervals")

    return task(measure, task_dep=["data"])


def task_label_errors():
    """Measure what models of label error find where the truth is known."""

    def measure():
        refuse_simulated(sources())
        return run_script("-m", "benchmarks.label_errors")

    return task(measure, task_dep=["data"])


def task_audit():
    """Measure how much each rule of verdicts notices and how often it errs."""

    def audit():
        refuse_missing()
        return run_script("benchmarks/audit.py")

    return task(audit, task_dep=["claims"])


def task_gates():
    """Measure how often conclusions about ratings of known truth err."""

    def gates():
        modules = ("gates", "gates_designs", "gates_agreement", "alarms")
        return all(run_script("-m", f"benchmarks.{name}") for name in modules)

    return task(gates)


def task_sweep():
    """Run every notebook with other values of each parameter; list what it says."""
    return task(lambda: run_script("benchmarks/sweep.py"))


def task_bench():
    """Print speed ratios, each measured in one run."""

    def measure():
        files = sorted((ROOT / "benchmarks").glob("bench_*.py"))
        succeeded = [run_script(str(file)) for file in files]
        return all(succeeded)

    return task(measure)


def find_data(study: str) -> None:
    """Note which kind of data a study has, or why it has none."""
    try:
        with ONE_AT_A_TIME:
            kind, reason = results.resolve(study, CHOICE)
        data = "" if kind == LEFT_OUT else " data"
        print(f"{study}: {kind}{data} ({reason})")
    except (PlainError, OSError) as error:
        kind = f"missing: {plainly(error)}"
        print(f"{study}: data {kind}")
    replace_files({stamp(study): kind.encode()})


def notebook_task(name: str) -> dict:
    """Make the task that executes one notebook."""
    stamps = {study: stamp(study) for study in STUDIES_READ[name]}
    file_dep = [NOTEBOOKS / f"{name}.ipynb", *stamps.values(), *CODE]
    if name in OVERVIEWS:
        file_dep += [BUILD / "claims.csv", BUILD / "headlines.csv"]

    def work():
        kinds = {study: file.read_text() for study, file in stamps.items()}
        source = results.joint_source(kinds, CHOICE)
        execute_unchanged(name, source, file_dep)

    return task(
        lambda: attempt(name, work),
        name=name,
        file_dep=file_dep,
        targets=[executed(name, BUILD)],
        uptodate=[as_left(lambda: written_by(name, BUILD))],
    )


def execute_unchanged(name: str, source: str, files: list[Path]) -> None:
    """Execute a notebook; stop if files that it reads change meanwhile."""
    parameters = {"data_source": source, "out_dir": "build"}
    if name in OVERVIEWS:
        parameters["claims_file"] = "build/claims.csv"
        parameters["headlines_file"] = "build/headlines.csv"
    before = [file.stat().st_mtime_ns for file in files]
    notebook = NOTEBOOKS / f"{name}.ipynb"
    seconds = notebooks.execute(notebook, executed(name, BUILD), parameters)
    after = [file.stat().st_mtime_ns for file in files]
    if before != after:
        raise PlainError(
            f"{name}, or what it reads, was changed while it ran: run again"
        )
    print(f"{name}: finished in {seconds:.1f} s")


def attempt(name: str, work: Callable[[], None]) -> None:
    """Renew what a notebook has in `build`; if it fails, note why, and go on."""
    reason = ""
    try:
        with renewed(name, BUILD):
            work()
    except Exception as error:
        reason = plainly(error)
        print(f"{name} has no results: {reason}")
    where_and_error = reason.split("\n    ")[:2]  # the rest stands in the copy
    note_missing(BUILD, name, ": ".join(where_and_error))


def write_claims() -> None:
    """Join what all notebooks that have results have left."""
    from helpers.claims import collection, elsewhere

    for name in JOINED:
        for file in BUILD.glob(f"{name}/*.csv"):
            if file.stem not in NAMES:  # of a notebook that has gone
                file.unlink()
    (BUILD / "claims").mkdir(exist_ok=True)
    joined = {
        "claims": collection.merge(BUILD / "claims"),
        "headlines": collection.headlines(BUILD / "headlines").reset_index(),
        "provenance": collection.provenance(BUILD / "provenance"),
        "atlas": elsewhere.joined(BUILD),
    }
    for name, table in joined.items():
        replace_files({BUILD / f"{name}.csv": to_csv_bytes(table, index=False)})


def stamp(study: str) -> Path:
    """File that holds the kind of data that a study has, or why it has none."""
    return BUILD / "data" / study


def sources() -> dict[str, str]:
    """Read which studies are real, printed, simulated or missing."""
    return {study: stamp(study).read_text().partition(":")[0] for study in STUDIES}


def summary_lines() -> list[str]:
    """Sum up a run in one line of text per study."""
    from helpers.claims import collection
    from helpers.data import published

    counts = collection.verdict_counts(published.read_text(BUILD / "claims.csv"))
    lines = []
    for study, source in sources().items():
        verdicts = []
        if study in counts.index:
            for verdict, number in counts.loc[study].items():
                if number:
                    verdicts.append(f"{number} {verdict}")
        listed = ", ".join(verdicts) if verdicts else "no claims"
        data = "" if source == LEFT_OUT else " data"
        lines.append(f"{study}: {source}{data}, {listed}")
    return lines


def refuse_missing() -> None:
    """Stop if any notebook has failed; name those that were left out."""
    failed = []
    for name, reason in missing(BUILD).items():
        if reason.startswith(LEFT_OUT):
            print(f"{name}: {reason}")
        else:
            failed.append(f"  {name}: {reason}")
    if failed:
        raise PlainError("\n".join(["these notebooks have no results:", *failed]))


def task(function: Callable, **settings) -> dict:
    """Make a doit task of one function; errors that explain themselves are one line."""

    def action():
        try:
            return function()
        except (PlainError, OSError) as error:
            return TaskFailed(plainly(error))

    return {"actions": [action], "io": {"capture": False}, **settings}


def as_left(files: Callable[[], list[Path]]) -> Callable:
    """Make a condition for `uptodate`: the files are as the task left them.

    doit itself only asks whether targets are there. They may be of a run that was
    killed before doit noted it, or of somebody who ran a notebook by hand.
    """

    def digest() -> dict[str, str]:
        content = hashlib.sha256()
        for file in files():
            if file.is_file():
                content.update(file.read_bytes())
        return {"digest": content.hexdigest()}

    def unchanged(task, values) -> bool:
        task.value_savers.append(digest)  # which doit calls once the task is done
        return values.get("digest") == digest()["digest"]

    return unchanged


def run_script(*command: str) -> bool:
    """Run a Python script of the project, and tell whether it ended well."""
    return subprocess.run([sys.executable, *command], cwd=ROOT).returncode == 0


def run_tools(*commands: list[str]) -> bool | TaskFailed:
    """Run Python tools one after the other, and print their output in one piece."""
    output = ""
    failed = False
    for command in commands:
        tool = [sys.executable, "-m", *command]
        run = subprocess.run(tool, capture_output=True, text=True, cwd=ROOT)
        output += run.stdout + run.stderr
        failed = failed or run.returncode != 0
    print(output.strip())
    if failed:
        return TaskFailed("see its output above")
    return True
