"""Tasks of the project: `doit list` names them, `doit` re-derives all results.

`doit data=real` or `doit data=simulated` chooses the data; otherwise real data are used where they
can be had. A notebook runs again only if something that it reads, or wrote, has changed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from doit import get_var

from helpers import claims
from helpers.paths import BUILD, DATA, NOTEBOOKS, ROOT, replace_files
from helpers.run import kernels
from helpers.run import notebooks as run
from helpers.run.notebooks import as_left, run_tools, task

NAMES = run.notebook_names()
OVERVIEWS = [name for name in NAMES if name.startswith("00")]
FINDINGS = [name for name in NAMES if name not in OVERVIEWS]
STUDIES = run.studies_of("00", NAMES)
CHOICE = get_var("data", "auto")
MIRROR = ROOT.parent / "shared" / "data"

JOINED = ("claims", "headlines", "provenance")
MAIN, ONE_OFF = "build", "build/one-off"
CODE = [
    ROOT / "requirements.lock",
    *(ROOT / "src" / "helpers").rglob("*.py"),
    *DATA.glob("*.csv"),
    *DATA.glob("*/*.csv"),
]

os.environ |= {
    "IPYTHONDIR": str(BUILD / ".ipython"),
    "JUPYTER_PREFER_ENV_PATH": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONNOUSERSITE": "1",
}
os.environ.pop("MPLBACKEND", None)
if MIRROR.is_dir():
    os.environ.setdefault("DATA_MIRROR", str(MIRROR))
BUILD.mkdir(exist_ok=True)
sys.stdout.reconfigure(line_buffering=True)

DOIT_CONFIG = {
    "backend": "json",
    "continue": True,
    "default_tasks": ["reproduce"],
    "dep_file": str(BUILD / ".doit.json"),
    "num_process": max(1, min(os.cpu_count(), len(NAMES))),
    # Threads share one record of ports in use; kernels of separate processes race for them.
    "par_type": "thread",
    "verbosity": 2,
}


def task_data():
    """Find out which studies have real data and which are simulated."""

    def resolve():
        for study in STUDIES:
            source, reason = run.resolve(study, CHOICE)
            print(f"{study}: {source} data ({reason})")
            replace_files({stamp(study): source.encode()})
        if "refresh" in sys.argv:  # rather now than after all notebooks have run
            run.refuse_simulated(sources())

    return task(resolve, targets=[stamp(study) for study in STUDIES])


def task_execute():
    """Execute each notebook."""
    for name in NAMES:
        yield notebook_task(name, run.studies_of(name, NAMES))


def task_claims():
    """Join the claims, headlines and files read of all notebooks, in build/; judge the claims."""
    return task(
        write_claims,
        file_dep=[*CODE, *(executed(name, MAIN) for name in FINDINGS)],
        targets=[BUILD / f"{name}.csv" for name in JOINED],
    )


def task_site():
    """Build the site in build/site."""
    docs = [file for file in (ROOT / "docs").rglob("*") if file.is_file()]
    tables = [BUILD / "claims.csv", BUILD / "headlines.csv"]
    pages = [executed(name, MAIN) for name in NAMES]
    command = [sys.executable, "docs/make_site.py", "build", "build/site"]
    return task(
        lambda: subprocess.run(command, cwd=ROOT).returncode == 0,
        file_dep=[*CODE, *docs, *tables, *pages, ROOT / "README.md"],
        targets=[BUILD / "site" / "index.html"],
    )


def task_reproduce():
    """Re-derive all results and sum them up."""

    def sum_up():
        print(*run.summary_lines(BUILD, sources()), "build/site/index.html", sep="\n")

    return task(sum_up, task_dep=["site"], clean=[empty_build])


def task_notebook():
    """Run one notebook: name=11_error_weights args="-p alpha 0.05" (into build/one-off)."""

    def start():
        name = get_var("name", "")
        if name not in NAMES:
            raise run.ParameterError(f"name must be one of {', '.join(NAMES)}, not {name!r}")
        source = source_of(run.studies_of(name, NAMES))
        given = run.parse_parameters(get_var("args", ""))
        execute(name, ONE_OFF, {"data_source": source, "out_dir": ONE_OFF} | given)
        print(executed(name, ONE_OFF).relative_to(ROOT))

    return task(start, task_dep=["data"])


def task_new():
    """Start the notebook of a new study: name=60_my_study."""

    def start():
        notebook = run.create(get_var("name", ""))
        print(f"{notebook.relative_to(ROOT)}: open it with `make lab`, then list it in README.md")
        print("and notebooks/README.md; `make test` reminds you of that")

    return task(start)


def task_lint():
    """Check style and formatting."""
    return task(lambda: run_tools(["ruff", "check"], ["ruff", "format", "--check"]))


def task_pytest():
    """Run the tests and the examples in docstrings."""

    def check():
        kernels.start()
        return run_tools(["pytest", "-q", "-rs"])

    return task(check)


def task_nbval():
    """Compare the outputs in committed notebooks with new ones, on real data."""

    def compare():
        found = {study: run.resolve(study, CHOICE) for study in STUDIES}
        missing = [
            f"{study} ({why})" for study, (source, why) in found.items() if source == "simulated"
        ]
        if missing:
            print(f"nbval: skipped, no real data of {', '.join(missing)}")
            return None
        kernels.start()
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
        run.refuse_simulated(sources())
        written = run.publish(NAMES, BUILD, ROOT)
        print(f"{len(written)} files renewed in notebooks/ and figures/")

    return task(publish, task_dep=["reproduce"])


def task_answers():
    """Let the model under test answer the HumBEL questions again (needs the extra `models`)."""

    def answer():
        from helpers.beyond import answerers  # takes a second to load, which no other task needs

        for file in answerers.answer_all():
            print(f"written: {file.relative_to(ROOT)}")

    return task(answer)


def task_coverage():
    """Measure how often printed intervals hold the truth, into data/coverage.csv."""

    def measure():
        from helpers.beyond import coverage  # takes seconds to load, which no other task needs

        names = [name for name in NAMES if name[0] in "1234" and name not in coverage.SIMULATED]
        run.refuse_simulated(sources())
        table = coverage.of_notebooks(names, os.cpu_count())
        replace_files({DATA / "coverage.csv": table.to_csv(lineterminator="\n").encode()})
        print(f"written: data/coverage.csv, {len(table):,} statistics")

    return task(measure, task_dep=["data"])


def task_audit():
    """Measure how much each rule of verdicts notices and how often it errs."""

    command = [sys.executable, str(ROOT / "benchmarks" / "audit.py")]
    return task(lambda: subprocess.run(command).returncode == 0, task_dep=["claims"])


def task_bench():
    """Print speed ratios, each measured in one run."""

    def measure():
        files = sorted((ROOT / "benchmarks").glob("bench_*.py"))
        codes = [subprocess.run([sys.executable, file]).returncode for file in files]
        return not any(codes)

    return task(measure)


def notebook_task(name: str, studies: list[str]) -> dict:
    """Make the task that executes one notebook."""
    tables = ("claims", "headlines") if name in OVERVIEWS else ()
    joined = {f"{table}_file": f"{MAIN}/{table}.csv" for table in tables}
    read = [NOTEBOOKS / f"{name}.ipynb", *(ROOT / file for file in joined.values())]

    def start():
        kernels.start()
        execute(name, MAIN, {"data_source": source_of(studies), "out_dir": MAIN, **joined})

    return task(
        start,
        name=name,
        file_dep=[*read, *CODE, *map(stamp, studies)],
        targets=[executed(name, MAIN)],
        uptodate=[as_left(lambda: [executed(name, MAIN), *results(name, MAIN)])],
    )


def execute(name: str, out_dir: str, parameters: dict) -> None:
    """Execute a notebook into a folder, in place of its former results; say how long it took."""
    for file in results(name, out_dir):
        file.unlink()
    notebook = NOTEBOOKS / f"{name}.ipynb"
    seconds = run.execute(notebook, executed(name, out_dir), parameters)
    print(f"{name}: finished in {seconds:.1f} s")


def executed(name: str, folder: str) -> Path:
    """Executed copy of a notebook."""
    return ROOT / folder / "notebooks" / f"{name}.ipynb"


def results(name: str, out_dir: str) -> list[Path]:
    """Files that a notebook has written; names of figures begin with its number."""
    tables = [f"{folder}/{name}.csv" for folder in (*JOINED, "results")]
    patterns = [*tables, f"figures/{name[:3]}*.png"]
    return [file for pattern in patterns for file in sorted((ROOT / out_dir).glob(pattern))]


def write_claims() -> None:
    """Join what all notebooks that there are have left."""
    for file in (file for name in JOINED for file in BUILD.glob(f"{name}/*.csv")):
        if file.stem not in NAMES:
            file.unlink()
    joined = {
        "claims": claims.merge(BUILD / "claims"),
        "headlines": claims.headlines(BUILD / "headlines").reset_index(),
        "provenance": claims.provenance(BUILD / "provenance"),
    }
    texts = {name: table.to_csv(index=False, lineterminator="\n") for name, table in joined.items()}
    replace_files({BUILD / f"{name}.csv": text.encode() for name, text in texts.items()})


def stamp(study: str) -> Path:
    """File that holds the kind of data that a study has."""
    return BUILD / "data" / study


def sources() -> dict[str, str]:
    """Read which studies are real, printed or simulated."""
    return {study: stamp(study).read_text() for study in STUDIES}


def source_of(studies: list[str]) -> str:
    """Tell real data from simulated; several studies are real only if all are."""
    kinds = {stamp(study).read_text() for study in studies}
    return "simulated" if "simulated" in kinds else "real"


def empty_build() -> None:
    """Delete all that was generated; doit still writes its own file into the folder."""
    shutil.rmtree(BUILD)
    BUILD.mkdir()
