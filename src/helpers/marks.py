"""What sets a run apart from the one that the text describes, and how outputs say so.

A notebook runs on real data with the parameters of the last refresh; then nothing here
shows. With simulated data, or with changed parameters, the terminal, a banner, every
table and every figure say so, whichever program runs the notebook.
"""

import sys
import textwrap
from dataclasses import dataclass, field
from html import escape

ORANGE = "#D55E00"
SIMULATED = "SIMULATED DATA"
HOOK = "helpers.marks:mark_figure"
BANNER = "judging-banner"  # key of the metadata of a banner's output


@dataclass
class Run:
    """The notebook of this process, as `helpers.run.check` has found it."""

    notebook: str
    changed: str = ""  # parameters that differ from the defaults, in words
    reasons: list[str] = field(default_factory=list)  # why data are simulated
    shows_reported: bool = False  # numbers of a paper, which are of the defaults

    @property
    def simulated(self) -> bool:
        """Whether any data of the run are simulated."""
        return bool(self.reasons)

    @property
    def is_default(self) -> bool:
        """Whether the run is the one that the text describes."""
        return not self.simulated and not self.changed

    @property
    def words(self) -> list[str]:
        """Sentences that say how the run differs from the one of the text."""
        sentences = []
        if self.simulated:
            why = "; ".join(self.reasons)
            sentences.append(f"{SIMULATED}, random numbers and not ratings: {why}.")
        if self.changed:
            sentences.append(f"Changed parameters: {self.changed}.")
        return sentences


class _Session:
    """Holds the run of this process."""

    run: Run | None = None


def current() -> Run | None:
    """Return the run of this process; None outside of a notebook of the project."""
    return _Session.run


def begin(run: Run | None) -> None:
    """Set the run of this process, and mark what it shows; None ends it."""
    _Session.run = run
    if run is not None and not run.is_default:
        _announce(run)


def simulate(reason: str) -> None:
    """Note that simulated data are loaded, and mark what is shown from now on."""
    run = current()
    if run is not None and not run.simulated:
        run.reasons.append(reason)
        _announce(run)


def short() -> str:
    """Say in a few words how the run differs from the one of the text; or nothing."""
    run = current()
    if run is None:
        return ""
    words = [SIMULATED] if run.simulated else []
    if run.changed:
        words.append(f"changed: {run.changed}")
        if run.shows_reported:
            words.append("the authors' numbers: default settings")
    return "; ".join(words)


def mark_figure(figure: object) -> None:
    """Write on a new figure how its run differs; matplotlib calls this as a hook."""
    run = current()
    if run is None:
        return
    if run.changed:
        words = f"changed parameters: {run.changed}"
        if run.shows_reported:
            words += "; the authors' numbers: default settings"
        note = figure.text(0.01, 1.01, textwrap.fill(words, width=90))
        note.set(ha="left", va="bottom", color=ORANGE, fontsize=9, weight="bold")
    if run.simulated:
        watermark(figure)


def watermark(figure: object) -> None:
    """Write across a figure that its data are simulated."""
    mark = figure.text(0.5, 0.5, SIMULATED, ha="center", va="center")
    size = min(44, 6 * figure.get_figwidth())
    mark.set(color=ORANGE, alpha=0.28, fontsize=size, rotation=25, weight="bold")
    mark.set(zorder=100)


def _announce(run: Run) -> None:
    """Say in the terminal and in a banner how a run differs; mark what follows."""
    import matplotlib as mpl

    if HOOK not in mpl.rcParams["figure.hooks"]:
        mpl.rcParams["figure.hooks"] = [*mpl.rcParams["figure.hooks"], HOOK]
    text = " ".join(run.words)
    # Not sys.stderr, which a kernel shows in the notebook only; on a line of its own,
    # below papermill's bar.
    print(f"\n{run.notebook}: {text}", file=sys.__stderr__, flush=True)
    shell = _shell()
    if shell is None:
        return
    from IPython.display import Markdown, display

    banner = f"> **{text}** What the text says is about real data and default settings."
    display(Markdown(banner), metadata={BANNER: True})
    _mark_tables(shell)


def _shell() -> object | None:
    """Return the shell of a notebook, if one is running."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _mark_tables(shell: object) -> None:
    """Let the shell write the marks of the run above every table."""
    import pandas as pd

    plain = shell.display_formatter.formatters["text/plain"]
    html = shell.display_formatter.formatters["text/html"]
    plain.for_type(pd.Series, _marked_text)
    plain.for_type(pd.DataFrame, _marked_text)
    html.for_type(pd.DataFrame, _marked_html)
    # a class with a __repr__ of its own is not printed as its parents are
    plain.for_type_by_name("helpers.verbs", "Result", _marked_text)
    plain.for_type_by_name("helpers.show", "CaptionedTable", _marked_text)
    html.for_type_by_name("helpers.show", "CaptionedTable", _marked_html)


def _marked_text(table: object, printer: object, cycle: bool) -> None:
    """Write a table as text below the marks of the run."""
    mark = short()
    printer.text(f"[{mark}]\n{table!r}" if mark else repr(table))


def _marked_html(table: object) -> str:
    """Write a table as HTML below the marks of the run."""
    mark = escape(short())
    style = f"color:{ORANGE};font-weight:bold"
    line = f'<p style="{style}">{mark}</p>' if mark else ""
    return line + table._repr_html_()
