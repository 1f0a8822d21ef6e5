"""Run notebooks: which data each one gets, with which parameters, and what a failure looks like.

`dodo.py` says when a notebook has to run; this module runs it.

Renew the committed results: notebook outputs, figures and claims, from real data only.

One page that shows what a run found: data used, verdicts, figures, claims, notebooks.

Start the notebook of a new study from a template that runs at once.

The template is a notebook beside this module, with `NAME` and `NUMBER` where those of the new
notebook belong.

How the tasks in `dodo.py` report, fail and know that nothing has changed.
"""

import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from string import Template

import nbformat
import pandas as pd
import papermill
from doit.exceptions import TaskFailed, UnmetDependency
from doit.reporter import ConsoleReporter
from nbclient.exceptions import DeadKernelError
from nbconvert import HTMLExporter

from helpers import paths
from helpers.claims import ClaimError, verdict_counts
from helpers.files import registry
from helpers.files.registry import DataError
from helpers.files.tables import PlainError
from helpers.paths import ROOT, replace_files

STUDIES = {"1": "hosking", "2": "kamoda", "3": "chatbench", "4": "humbel"}
WORDS = {"True": True, "False": False, "None": None}
SHOWN_LINES = 60
KERNEL_OPTIONS = {
    "kernel_name": "python3",
    "extra_arguments": ["--log-level=ERROR"],
    # What a cell prints may arrive in parts; it is kept as one, so that two runs give equal files.
    "coalesce_streams": True,
    # Asking an idle kernel to stop sometimes takes it three seconds; nothing is left for it to do.
    "shutdown_kernel": "immediate",
    "progress_bar": False,
}


class PipelineError(RuntimeError):
    """A task cannot be done; the message says why and what to do."""


class ParameterError(PipelineError):
    """A choice or a notebook parameter is not one of those that exist."""


class NotebookError(PipelineError):
    """A notebook stopped before its last cell."""


def notebook_names() -> list[str]:
    """List the notebooks of the project."""
    return sorted(file.stem for file in paths.NOTEBOOKS.glob("[0-9]*.ipynb"))


def studies_of(name: str, names: Iterable[str]) -> list[str]:
    """List the studies whose data a notebook reads, told from its number."""
    if name[0] in STUDIES:
        return [STUDIES[name[0]]]
    numbers = {other[0] for other in names}
    return [study for number, study in STUDIES.items() if number in numbers]


def resolve(study: str, choice: str) -> tuple[str, str]:
    """Decide whether a study's data are real or simulated, fetching them if they are real."""
    if choice not in registry.DATA_SOURCES:
        raise ParameterError(f"data must be auto, real or simulated, not {choice!r}")
    if choice == "simulated":
        return "simulated", "asked for"
    files = _files(study)
    if not files:
        return "real", "printed tables only"
    try:
        located = registry.locate(files, "real")
    except registry.DataUnavailableError as error:
        if choice == "real":
            raise
        return "simulated", str(error).partition(". ")[0]
    return "real", f"{len(located)} files, checksums right"


def data_kind(study: str, source: str) -> str:
    """Name the data of a study for readers: numbers printed in a paper are not raw data."""
    return "printed" if source == "real" and not _files(study) else source


def _files(study: str) -> list[str]:
    """Registered files of a study."""
    return [file for file in registry.names() if file.startswith(f"{study}/")]


def parse_parameters(text: str) -> dict[str, object]:
    """Read notebook parameters from a command line."""
    words = shlex.split(text)
    flags, names, values = words[::3], words[1::3], words[2::3]
    if len(words) % 3 or set(flags) - {"-p"}:
        raise ParameterError(f"write parameters as -p NAME VALUE, not {text!r}")
    return {name: _parse(value) for name, value in zip(names, values, strict=True)}


def _parse(text: str) -> object:
    """Read one value of a JSON type."""
    if text in WORDS:
        return WORDS[text]
    for parse in (int, float, json.loads):
        try:
            return parse(text)
        except ValueError:
            continue
    return text


def check_parameters(notebook: Path, parameters: Mapping[str, object]) -> None:
    """Make sure that a notebook has the parameters that it is to be given."""
    known = papermill.inspect_notebook(notebook)
    unknown = [name for name in parameters if name not in known]
    if unknown:
        has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
        raise ParameterError(f"{notebook.stem} has no parameter {', '.join(unknown)}: {has}")


def execute(notebook: Path, target: Path, parameters: Mapping[str, object]) -> float:
    """Execute a notebook. The executed copy gets its name when it is complete."""
    check_parameters(notebook, parameters)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished.ipynb")
    started = time.perf_counter()
    try:
        _start_and_run(notebook, unfinished, dict(parameters))
    except papermill.PapermillExecutionError as error:
        where = f"cell In [{error.exec_count}] of {os.path.relpath(unfinished)}"
        raise NotebookError(_failure(notebook, where, f"{error.ename}: {error.evalue}")) from error
    except DeadKernelError as error:
        where = f"a cell; {os.path.relpath(unfinished)} shows which ones ran"
        raise NotebookError(_failure(notebook, where, "the kernel died")) from error
    except RuntimeError as error:
        where = "its kernel, which did not start"
        raise NotebookError(_failure(notebook, where, str(error))) from error
    unfinished.replace(target)
    return time.perf_counter() - started


def _start_and_run(notebook: Path, target: Path, parameters: dict) -> None:
    """Run a notebook, a second time if its kernel died before the first cell."""
    try:
        papermill.execute_notebook(notebook, target, parameters, **KERNEL_OPTIONS)
    except DeadKernelError:
        raise
    except RuntimeError:
        papermill.execute_notebook(notebook, target, parameters, **KERNEL_OPTIONS)


def _failure(notebook: Path, where: str, message: str) -> str:
    """Describe a failure in a short block."""
    lines = message.strip().splitlines()
    shown = lines[:SHOWN_LINES] + ["…"] * (len(lines) > SHOWN_LINES)
    return f"{notebook.stem} stopped in {where}\n{textwrap.indent(chr(10).join(shown), '    ')}"


def to_html(executed: Path, target: Path) -> None:
    """Turn an executed notebook into a page that looks like JupyterLab."""
    page, _ = HTMLExporter(template_name="lab").from_filename(str(executed))
    replace_files({target: page.encode()})


TRACES = ("papermill", "execution")


def start(sources: Mapping[str, str], build: Path) -> None:
    """Refuse simulated data, then clear away the figures and claims of earlier runs."""
    simulated = [study for study, source in sources.items() if source != "real"]
    if simulated:
        raise PipelineError(
            f"committed results must come from real data, but {', '.join(simulated)} would be "
            "simulated: leave out data=simulated, or make the data available"
        )
    for folder in ("figures", "claims", "refresh"):
        shutil.rmtree(build / folder, ignore_errors=True)


def publish(names: list[str], build: Path, root: Path) -> list[Path]:
    """Move the results of a complete run into the committed folders."""
    claims = pd.read_csv(build / "claims.csv", dtype=str, keep_default_na=False)
    if not claims["source"].isin(["", "real"]).all():
        raise PipelineError("build/claims.csv holds claims from simulated data: nothing written")
    figures = sorted((build / "figures").glob("*.png"))
    contents = {root / "figures" / "claims.csv": (build / "claims.csv").read_bytes()}
    contents |= {root / "figures" / figure.name: figure.read_bytes() for figure in figures}
    for name in names:
        executed = nbformat.read(build / "refresh" / "notebooks" / f"{name}.ipynb", as_version=4)
        text = nbformat.writes(strip(executed)) + "\n"
        contents[root / "notebooks" / f"{name}.ipynb"] = text.encode()
    replace_files(contents)
    for figure in set((root / "figures").glob("*.png")) - set(contents):
        figure.unlink()
    return list(contents)


def strip(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove what differs from run to run and machine to machine; keep outputs."""
    notebook.metadata.get("language_info", {}).pop("version", None)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    for metadata in [notebook.metadata, *(cell.metadata for cell in notebook.cells)]:
        for trace in TRACES:
            metadata.pop(trace, None)
        if not metadata.get("tags", True):
            del metadata["tags"]
    _count(cell for cell in notebook.cells if cell.cell_type == "code")
    return notebook


def _count(cells: Iterable[nbformat.NotebookNode]) -> None:
    """Number code cells, and those outputs that carry a number, from 1."""
    for number, cell in enumerate(cells, 1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number


PAGE = paths.DATA / "templates" / "index.html"
CLAIM_HEADINGS = ("Claim", "Published", "Computed", "Interval", "Verdict", "Note", "Notebook")


def write_report(out_dir: Path, names: Iterable[str], sources: Mapping[str, str]) -> Path:
    """Write `index.html`, which links the pages and figures beside it."""
    claims = _read_claims(out_dir)
    titles = {name: _title(out_dir / "notebooks" / f"{name}.ipynb") for name in names}
    page = Template(PAGE.read_text(encoding="utf-8")).substitute(
        banner=_banner(claims, sources),
        summary=_summary(claims, sources),
        notebooks="".join(f"<li>{_link(name, title)}</li>" for name, title in titles.items()),
        figures="".join(_figures(out_dir, titles)),
        claims=_claims(claims),
    )
    replace_files({out_dir / "index.html": page.encode()})
    return out_dir / "index.html"


def summary_lines(out_dir: Path, sources: Mapping[str, str]) -> list[str]:
    """Sum up a run in one line of text per study."""
    counts = verdict_counts(_read_claims(out_dir))
    return [
        ", ".join([f"{study}: {source} data", *_counted(counts, study)])
        for study, source in sources.items()
    ]


def _counted(counts: pd.DataFrame, study: str) -> list[str]:
    """Verdicts that occur in a study, each with its number."""
    if study not in counts.index:
        return ["no claims"]
    return [f"{number} {verdict}" for verdict, number in counts.loc[study].items() if number]


def _read_claims(out_dir: Path) -> pd.DataFrame:
    """Read all claims as text."""
    return pd.read_csv(out_dir / "claims.csv", dtype=str, keep_default_na=False)


def _title(notebook: Path) -> str:
    """First heading of a notebook, or its name."""
    for cell in nbformat.read(notebook, as_version=4).cells:
        for line in cell.source.splitlines():
            if cell.cell_type == "markdown" and line.startswith("# "):
                return line.removeprefix("# ")
    return notebook.stem


def _banner(claims: pd.DataFrame, sources: Mapping[str, str]) -> str:
    """Say which data were used; simulated data cannot be overlooked."""
    simulated = {study for study, source in sources.items() if source == "simulated"}
    simulated |= set(claims.loc[claims["verdict"] == "simulated", "study"])
    if simulated:
        studies = escape(", ".join(sorted(simulated)))
        warning = f"SIMULATED DATA: {studies}. These numbers say nothing about people."
        return f'<p class="banner simulated">{warning}</p>'
    real = escape(", ".join(study for study, source in sources.items() if source == "real"))
    printed = escape(", ".join(study for study, source in sources.items() if source == "printed"))
    remark = f". Printed tables only: {printed}" if printed else ""
    return f'<p class="banner real">Real data: {real}{remark}</p>'


def _summary(claims: pd.DataFrame, sources: Mapping[str, str]) -> str:
    """Table of the number of verdicts by study."""
    counts = verdict_counts(claims)
    rows = [
        _row([escape(study), escape(sources.get(study, "no notebook")), *counts.loc[study]])
        for study in counts.index
    ]
    return _table("summary", ["Study", "Data", *map(_badge, counts.columns)], rows)


def _figures(out_dir: Path, titles: Mapping[str, str]) -> Iterable[str]:
    """Figures, each with a link to the notebook whose number its name begins with."""
    for file in sorted((out_dir / "figures").glob("*.png")):
        name = escape(file.name)
        origin = [_link(*item) for item in titles.items() if item[0][:3] == file.name[:3]]
        image = (
            f'<a href="figures/{name}"><img src="figures/{name}" alt="{name}" loading="lazy"></a>'
        )
        caption = f"{name} from {origin[0]}" if origin else name
        yield f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _claims(claims: pd.DataFrame) -> str:
    """Table of all claims."""
    return _table("claims", CLAIM_HEADINGS, [_claim(row) for row in claims.to_dict("records")])


def _claim(claim: Mapping[str, str]) -> str:
    """Row of one claim."""
    text = {column: escape(value) for column, value in claim.items()}
    interval = f"{text['low']} to {text['high']}" if text["low"] else ""
    notebook = _link(claim["notebook"], claim["notebook"]) if claim["notebook"] else ""
    what = f'{text["statement"]} ({text["where"]})<div class="id">{text["claim_id"]}</div>'
    return (
        f"<tr><td>{what}</td>"
        f'<td class="number">{text["published"]}</td>'
        f'<td class="number">{text["computed"]}</td>'
        f'<td class="number">{interval}</td>'
        f"<td>{_badge(claim['verdict'])}</td>"
        f'<td class="note">{text["note"]}</td>'
        f"<td>{notebook}</td></tr>"
    )


def _badge(verdict: str) -> str:
    """Coloured verdict."""
    return f'<span class="verdict {escape(verdict.replace(" ", "-"))}">{escape(verdict)}</span>'


def _link(name: str, text: str) -> str:
    """Link to the page of a notebook."""
    return f'<a href="html/{escape(name)}.html">{escape(text)}</a>'


def _table(identifier: str, headings: Iterable[str], rows: Iterable[str]) -> str:
    """Table of rows of HTML."""
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "".join(rows)
    return f'<table id="{identifier}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _row(cells: Iterable[object]) -> str:
    """Table row of cells of HTML."""
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


NEW_NOTEBOOK = paths.DATA / "templates" / "new_notebook.ipynb"

_NAME = re.compile(r"[1-9][0-9]_[a-z][a-z0-9_]*", re.ASCII)


class NewNotebookError(PipelineError):
    """A new notebook cannot have this name; the message says which it can have."""


def create(name: str, folder: Path = paths.NOTEBOOKS) -> Path:
    """Write a new notebook with all the cells that a notebook of this project has."""
    _check_name(name, folder)
    notebook = nbformat.read(NEW_NOTEBOOK, as_version=4)
    for position, cell in enumerate(notebook.cells, start=1):
        cell["source"] = cell["source"].replace("NAME", name).replace("NUMBER", name[:2])
        cell["id"] = f"{name[:2]}-{position:02}"
    target = folder / f"{name}.ipynb"
    replace_files({target: f"{nbformat.writes(notebook)}\n".encode()})
    return target


def _check_name(name: str, folder: Path) -> None:
    """Stop unless a notebook of this name can be added."""
    if not _NAME.fullmatch(name):
        raise NewNotebookError(
            f"a notebook cannot be called {name!r}: give two digits, the first of which is not 0, "
            "an underscore, then small letters, digits and underscores, as in NAME=60_my_study"
        )
    taken = sorted(file.stem for file in folder.glob(f"{name[:2]}_*.ipynb"))
    if taken:
        raise NewNotebookError(
            f"the number {name[:2]} is that of {taken[0]}, whose figures begin with it: choose "
            "another number"
        )


say = functools.partial(print, flush=True)


class Reporter(ConsoleReporter):
    """Tasks say themselves what they do; this adds failures and what was left out."""

    def __init__(self, outstream, options):
        super().__init__(outstream, options)
        self.left_out = []

    def execute_task(self, task):
        """Say nothing."""

    def skip_uptodate(self, task):
        """Name notebooks that were not run again."""
        if task.name.startswith("execute:"):
            self.write(f"{task.name.removeprefix('execute:')}: unchanged\n")

    def add_failure(self, task, fail):
        """Report a failure at once; keep the tasks that needed the failed one for the end."""
        if isinstance(fail, UnmetDependency):
            self.left_out.append(task.name)
        else:
            self.failures.append(task.name)
            self.write(f"\nFAILED {task.name}\n{fail.get_msg().strip()}\n\n")

    def complete_run(self):
        """List what failed."""
        for message in self.runtime_errors:
            self.write(f"{message}\n")
        if self.failures:
            self.write(f"Failed: {', '.join(self.failures)}\n")
        if self.left_out:
            self.write(f"Not done because of that: {', '.join(self.left_out)}\n")


def task(function: Callable, **settings) -> dict:
    """Make a doit task of one function; errors that explain themselves need no traceback."""

    def told():
        try:
            return function()
        except (PlainError, ClaimError, DataError, PipelineError) as error:
            return TaskFailed(str(error))

    return {"actions": [told], "io": {"capture": False}, **settings}


def as_left(files: Callable[[], list[Path]]) -> Callable:
    """Make a condition for `uptodate`: the files are as the task left them."""

    def digest() -> dict[str, str]:
        content = b"".join(file.read_bytes() for file in files() if file.is_file())
        return {"digest": hashlib.sha256(content).hexdigest()}

    def unchanged(task, values) -> bool:
        task.value_savers.append(digest)
        return values.get("digest") == digest()["digest"]

    return unchanged


def run_tools(title: str, *commands: list[str]) -> bool | TaskFailed:
    """Run Python tools one after the other, and print what they say in one piece."""
    say(f"{title}: running")
    started = time.perf_counter()
    runs = [
        subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=ROOT)
        for command in commands
    ]
    passed = not any(run.returncode for run in runs)
    output = "".join(run.stdout + run.stderr for run in runs).strip()
    verdict = "passed" if passed else "failed"
    say(f"{title}: {verdict} in {time.perf_counter() - started:.1f} s\n{output}")
    return passed or TaskFailed("see its output above")
