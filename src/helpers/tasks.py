"""How the tasks in `dodo.py` report, fail and know that nothing has changed."""

import functools
import hashlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from doit.exceptions import TaskFailed, UnmetDependency
from doit.reporter import ConsoleReporter

from helpers.answer_files import AnswersError
from helpers.claims import ClaimError
from helpers.files.registry import DataError
from helpers.paths import ROOT
from helpers.pipeline import PipelineError

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
    """Make a doit task of one function; errors that explain themselves need no traceback.

    Parameters
    ----------
    function : callable
        Called without arguments; a task without `uptodate` or `file_dep` calls it in every run.
    **settings
        Other entries of the task, as doit takes them.

    Returns
    -------
    dict
        The task.
    """

    def told():
        try:
            return function()
        except (AnswersError, ClaimError, DataError, PipelineError) as error:
            return TaskFailed(str(error))

    return {"actions": [told], "io": {"capture": False}, **settings}


def as_left(files: Callable[[], list[Path]]) -> Callable:
    """Make a condition for `uptodate`: the files are as the task left them.

    A notebook that is run by hand writes the same files as the task.

    Parameters
    ----------
    files : callable
        Gives the files that there are.

    Returns
    -------
    callable
        The condition.
    """

    def digest() -> dict[str, str]:
        content = b"".join(file.read_bytes() for file in files() if file.is_file())
        return {"digest": hashlib.sha256(content).hexdigest()}

    def unchanged(task, values) -> bool:
        task.value_savers.append(digest)
        return values.get("digest") == digest()["digest"]

    return unchanged


def check(title: str, *commands: list[str]) -> bool | TaskFailed:
    """Run Python tools one after the other, and print what they say in one piece.

    Parameters
    ----------
    title : str
        What to call the check.
    *commands : list of str
        Module and arguments of each tool.

    Returns
    -------
    bool or doit.exceptions.TaskFailed
        Whether all tools ended well.
    """
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
