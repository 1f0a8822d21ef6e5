"""Tasks of the project: `doit list` names them, `doit` re-derives all results.

`DATA=real doit` or `DATA=simulated doit` chooses the data; otherwise real data are used
where they can be had. A notebook runs again only if something that it uses has changed,
or what it wrote has. A notebook that fails costs nothing but its own results:
`reproduce` names it and fails at the end.
"""

from helpers.run import say_stopped

say_stopped("stopped: what was finished is kept; run again to go on")

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from doit.exceptions import InvalidDodoFile, TaskFailed

from helpers.data import published, registry, studies
from helpers.data.registry import DATA_SOURCES
from helpers.data.tables import PlainError, plainly, to_csv_bytes
from helpers.paths import BUILD, DATA, NOTEBOOKS, ROOT, replace_files
from helpers.run import notebooks, parameters, results
from helpers.run.results import LEFT_OUT, executed

NAMES = notebooks.notebook_names()
OVERVIEWS = [name for name in NAMES if name.startswith("00")]
FINDINGS = [name for name in NAMES if name not in OVERVIEWS]
CHOICE = os.environ.get("DATA", "auto")

PARALLEL = ["--numprocesses", "auto", "--dist"]  # a process of pytest for each core
COMMITTED = ROOT / "figures" / "results.csv"
FREE_BYTES = 50_000_000  # about what a run of all notebooks writes
JOINED_FILES = [BUILD / f"{name}.csv" for name in results.JOINED]

if CHOICE not in DATA_SOURCES:
    raise InvalidDodoFile(f"DATA must be {', '.join(DATA_SOURCES)}, not {CHOICE!r}")
if CHOICE != "real" and {"refresh", "compare"} & set(sys.argv):
    raise InvalidDodoFile(f"committed results come from real data, not DATA={CHOICE}")
try:
    BUILD.mkdir(exist_ok=True)
    with TemporaryFile(dir=BUILD) as probe:
        probe.write(bytes(FREE_BYTES))
except OSError as error:
    words = f"nothing can be written to build: {plainly(error)}"
    raise InvalidDodoFile(words) from None
notebooks.set_environment(BUILD)
sys.stdout.reconfigure(line_buffering=True)

DOIT_CONFIG = {
    "backend": "sqlite3",
    "continue": True,
    "default_tasks": ["reproduce"],
    "dep_file": str(BUILD / ".doit.db"),
    "num_process": max(1, min(os.cpu_count(), len(NAMES))),
    # Threads share one record of ports in use; kernels of separate processes race for
    # them.
    "par_type": "thread",
    "verbosity": 2,
}


def task_unpinned():
    """Fetch public files whose hashes are not known; say which cannot be had."""

    def fetch():
        if CHOICE == "simulated":
            return
        for study in studies.titles():
            try:
                reasons = registry.fetch_unpinned(study)
            except registry.DataError as error:
                reasons = {study: plainly(error)}
            for file, reason in reasons.items():
                if reason:
                    say(f"{file} is not here: {reason}")

    return task(fetch)


def task_execute():
    """Execute each notebook."""
    for name in NAMES:
        uptodate = [lambda name=name: results.is_finished(name, BUILD, CHOICE)]
        first = ["unpinned"]
        if name in OVERVIEWS:
            uptodate.append(as_left(lambda: JOINED_FILES))
            first = ["claims"]
        action = partial(run_notebook, name)
        yield task(action, name=name, uptodate=uptodate, task_dep=first)


def task_claims():
    """Join the results of all notebooks; judge the claims."""
    return task(write_claims, task_dep=[f"execute:{name}" for name in FINDINGS])


def task_site():
    """Build the site in build/site from what there is."""

    def used_and_written():
        files = [*JOINED_FILES, ROOT / "README.md"]
        files += [executed(name, BUILD) for name in NAMES]
        for folder in (ROOT / "docs", ROOT / "src", DATA / "published", BUILD / "site"):
            files += sorted(folder.rglob("*.*"))
        return [file for file in files if file.suffix != ".pyc"]

    return task(
        lambda: run_script("docs/make_site.py", "build", "build/site"),
        task_dep=["claims", "execute"],
        uptodate=[as_left(used_and_written)],
    )


def task_reproduce():
    """Re-derive all results and sum them up."""

    def sum_up():
        say("\n".join([*summary_lines(), "build/site/index.html"]))
        refuse_missing()

    return task(sum_up, task_dep=["site"])


def task_compare():
    """Compare committed results and outputs with new ones, on real data."""

    def compare_tables():
        found = []
        for name in sorted(set(results.JOINED) - {"versions"}):
            committed = published.read_text(ROOT / "figures" / f"{name}.csv")
            new = published.read_text(BUILD / f"{name}.csv")
            for line in results.differences(committed, new):
                found.append(f"figures/{name}.csv: {line}")
        if found:
            raise PlainError("\n".join(["results differ:", *found]))
        say("all committed results are as computed anew")

    return task(compare_tables, task_dep=["reproduce", "nbval"])


def task_lint():
    """Check style and formatting."""
    return task(lambda: run_tools(["ruff", "check"], ["ruff", "format", "--check"]))


def task_pytest():
    """Run the tests and the examples in docstrings."""
    return task(lambda: run_tools(["pytest", "-q", "-rs", *PARALLEL, "load"]))


def task_nbval():
    """Compare outputs in committed notebooks, and saved results, with new ones."""

    def compare():
        reason = no_real_data()
        if reason:
            say(f"nbval: skipped ({reason})")
            return None
        run = run_tools(["pytest", "-q", "--nbval", "notebooks", *PARALLEL, "loadfile"])
        found = results.changed(BUILD, published.read_text(COMMITTED))
        if found:
            raise PlainError("\n".join(["saved results differ:", *found]))
        return run

    return task(compare)


def task_test():
    """Run all checks: lint, pytest (with all notebooks on simulated data) and nbval."""
    return {"actions": None, "task_dep": ["lint", "pytest", "nbval"]}


def task_lab():
    """Open JupyterLab."""
    command = [sys.executable, "-m", "jupyterlab", str(NOTEBOOKS)]
    return task(lambda: os.execv(sys.executable, command))


def task_new():
    """Start the notebook NAME of a new study, such as 70_my_study."""

    def create():
        file = notebooks.create(os.environ.get("NAME", ""), NOTEBOOKS)
        say(f"{file}: open it with `make lab`; when it is done,")
        say("`make refresh` runs it and lists it in the READMEs")

    return task(create)


def task_refresh():
    """Renew the committed outputs, figures and claims from real data."""

    def publish():
        refuse_simulated()
        written = results.publish(NAMES, BUILD, ROOT)
        say(f"{len(written)} files renewed in notebooks/ and figures/")

    return task(publish, task_dep=["reproduce"])


def task_gates():
    """Measure how often conclusions about ratings of known truth err."""

    def gates():
        return run_script("-m", "benchmarks.gates")

    return task(gates)


def task_bench():
    """Print speed ratios, each measured in one run."""

    def measure():
        files = sorted((ROOT / "benchmarks").glob("bench_*.py"))
        succeeded = [run_script(str(file)) for file in files]
        return all(succeeded)

    return task(measure)


def say(text: str) -> None:
    """Print text and its line end at once; `print` lets other tasks come between."""
    sys.stdout.write(f"{text}\n")


def run_notebook(name: str) -> None:
    """Execute a notebook; if it fails, note why, and let the others go on."""
    results.clear(name, BUILD)
    try:
        lacking = results.without_data(name, CHOICE)
        if lacking:
            raise PlainError(f"{LEFT_OUT}: {lacking}")
        say(f"{name}: started")
        file = parameters.notebook_file(name)
        given = {"data_source": CHOICE, "out_dir": "build"}
        if name in OVERVIEWS:
            given["claims_file"] = "build/claims.csv"
        used = results.fingerprint(file)
        seconds = notebooks.execute(file, executed(name, BUILD), given)
        if results.fingerprint(file) != used:
            raise PlainError("it, or what it uses, was changed while it ran: run again")
    except Exception as error:
        reason = plainly(error)
        results.clear(name, BUILD)
        results.note_failed(name, BUILD, reason)
        say(f"{name} has no results: {reason}")
    else:
        results.note_finished(name, BUILD, CHOICE)
        say(f"{name}: finished in {seconds:.1f} s")


def write_claims() -> None:
    """Join the results that all notebooks have left, and judge the claims by them."""
    from helpers.claims import joined  # takes half a second

    for folder in ("results", "provenance"):
        for file in BUILD.glob(f"{folder}/*.csv"):
            if file.stem not in NAMES:  # of a notebook that has gone
                file.unlink()
    tables = joined.tables(BUILD, is_real=CHOICE != "simulated")
    for name, table in (tables | {"versions": results.versions()}).items():
        replace_files({BUILD / f"{name}.csv": to_csv_bytes(table, index=False)})


def summary_lines() -> list[str]:
    """Sum up a run in one line of text per study."""
    claims = published.read_text(BUILD / "claims.csv")
    lines = []
    for study, verdicts in claims.groupby("study", sort=False)["verdict"]:
        counts = verdicts.value_counts().items()
        listed = [f"{number} {verdict}" for verdict, number in counts]
        lines.append(f"{study}: {', '.join(listed)}")
    return lines


def refuse_missing() -> None:
    """Stop if any notebook has failed; name those that were left out."""
    failed = []
    for name, reason in results.missing(BUILD).items():
        if reason.startswith(LEFT_OUT):
            say(f"{name}: {reason}")
        else:
            failed.append(f"  {name}: {reason}")
    if failed:
        raise PlainError("\n".join(["these notebooks have no results:", *failed]))


def refuse_simulated() -> None:
    """Stop unless all notebooks have run on real data."""
    lacking = [*results.missing(BUILD)]
    lacking += [name for name in NAMES if results.is_simulated(name, BUILD)]
    if lacking:
        raise PlainError(
            "committed results must come from real data, which were missing for "
            f"{', '.join(lacking)}"
        )


def no_real_data() -> str:
    """Say why committed outputs cannot be compared; nothing if real data are here."""
    if CHOICE == "simulated":
        return "simulated data were asked for"
    for study in studies.titles():
        try:
            files = registry.names(study)
            if files:  # ChatBench has its printed tables only
                registry.locate(files, "real")
        except registry.DataUnavailableError as error:
            if CHOICE == "real":
                raise
            return f"no real data of {study}: {error}"
    return ""


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
    say(output.strip())
    if failed:
        return TaskFailed("see its output above")
    return True
