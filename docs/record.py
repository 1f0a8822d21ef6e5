"""What a run found, and the last run on real data: all that the site tells."""

import base64
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import nbformat
import pandas as pd

from helpers import paths
from helpers.claims import collection, verdicts
from helpers.data.published import read_text
from helpers.data.studies import place, titles
from helpers.run import notebooks as run
from helpers.run import results

STUDIES = titles()
COMMITTED = paths.ROOT / "figures"
# Before the next sentence; "e.g. this" or "0.5 points" end none.
SENTENCE_END = re.compile(r"(?<=[\w\])%*][.?!]) (?=[A-Z])")


@dataclass(frozen=True)
class Notebook:
    """An executed notebook, without traces of its run, its cells numbered from 1."""

    name: str
    content: nbformat.NotebookNode
    ran: bool  # in this run; else it is the committed one

    @cached_property
    def title(self) -> str:
        """First heading."""
        return re.search(r"^# (.+)", self.content.cells[0].source, re.MULTILINE)[1]

    @property
    def label(self) -> str:
        """Its name in words."""
        words = re.sub(r"\bai\b", "AI", self.name[3:].replace("_", " "))
        return f"{self.name[:2]} {words[0].upper()}{words[1:]}"

    def paragraph(self, start: str) -> str:
        """Paragraph of the first cell that begins with a bold word."""
        paragraph = re.search(
            rf"\*\*{start}\.?\*\*\s*(.+)", self.content.cells[0].source
        )
        return paragraph[1] if paragraph else ""

    @property
    def first_sentence(self) -> str:
        """First sentence of its answer."""
        return SENTENCE_END.split(self.paragraph("Answer"), maxsplit=1)[0]

    def code(self) -> list[nbformat.NotebookNode]:
        """Code cells."""
        return [cell for cell in self.content.cells if cell.cell_type == "code"]

    @property
    def printed(self) -> str:
        """All that its cells print."""
        return "".join(
            output.get("text", "") for cell in self.code() for output in cell.outputs
        )

    @property
    def simulates(self) -> bool:
        """Tell whether it says of a source that it is simulated."""
        return bool(re.search(r"^source.*: simulated", self.printed, re.MULTILINE))

    @property
    def whose_answers(self) -> str:
        """Whose answers it is about, if it prints that after the questions' source."""
        line = re.search(r"^source of questions: \w+; (.+)", self.printed, re.MULTILINE)
        return line[1] if line else ""

    @cached_property
    def images(self) -> dict[str, str]:
        """Alt text of each picture, by the picture as text."""
        alts = {}
        for cell in self.code():
            for output in cell.outputs:
                picture = picture_of(output)
                if picture:
                    alts[picture] = alt_of(output)
        return alts


def picture_of(output: nbformat.NotebookNode) -> str:
    """Picture of an output as text; empty if it has none."""
    return "".join(output.get("data", {}).get("image/png", "").split())


def alt_of(output: nbformat.NotebookNode) -> str:
    """Alt text that a notebook keeps beside a picture, on one line."""
    return " ".join(output.metadata.get("image/png", {}).get("alt", "").split())


@cache
def read_notebook(file: Path, ran: bool) -> Notebook:
    """Read an executed notebook."""
    content = nbformat.v4.reads_json(file.read_text(encoding="utf-8"))
    return Notebook(file.stem, results.strip(content), ran)


@dataclass(frozen=True)
class Record:
    """A run in `folder`, which is the project itself for what is committed."""

    folder: Path

    @property
    def committed(self) -> bool:
        """True if there is no run but the committed one."""
        return self.folder == paths.ROOT

    @cached_property
    def notebooks(self) -> dict[str, Notebook]:
        """Each notebook as this run executed it, else the committed one."""
        books = {}
        for name in run.notebook_names():
            file = self.folder / "notebooks" / f"{name}.ipynb"
            ran = self.committed or file.is_file()
            if self.committed or not ran:
                file = paths.NOTEBOOKS / paths.notebook_place(name)
            books[name] = read_notebook(file, ran)
        return books

    @cached_property
    def missing(self) -> dict[str, str]:
        """Why notebooks did not run."""
        reasons = {}
        for name, book in self.notebooks.items():
            if not book.ran:
                reasons[name] = "it did not run"
        if not self.committed:
            reasons |= results.missing(self.folder)
        return reasons

    @cached_property
    def sources(self) -> dict[str, str]:
        """Least real kind of data of each study.

        That is real, printed, simulated, or missing if none of its notebooks ran.
        """
        kinds = dict.fromkeys(STUDIES, "printed")
        if self.committed:
            return kinds | collection.sources(self.last_claims).to_dict()
        run_claims = read_text(self.folder / "claims.csv")
        kinds |= collection.sources(run_claims).to_dict()
        for study in STUDIES:
            own = [name for name in self.notebooks if self.studies(name) == [study]]
            if own and self.missing.keys() >= set(own):
                kinds[study] = "missing"
        return kinds

    def studies(self, name: str) -> list[str]:
        """Studies that a notebook tells of; the overview tells of all."""
        return list(STUDIES) if name.startswith("00") else run.studies_of(name)

    def simulated(self, name: str) -> list[str]:
        """Studies of a notebook whose data this run made up."""
        return [
            study
            for study in self.studies(name)
            if self.sources.get(study) == "simulated"
        ]

    @cached_property
    def last_claims(self) -> pd.DataFrame:
        """Claims of the last run on real data, with the way to their verdicts."""
        return collection.chains(COMMITTED)

    @cached_property
    def claims(self) -> pd.DataFrame:
        """Claims in order.

        What this run simulated or lost is as the last real run found it; `this_run`
        says then what this run found, and is empty otherwise.
        """
        last = self.last_claims
        if self.committed:
            return _in_order(last.assign(this_run=""))
        new = collection.chains(self.folder)
        simulated = [
            study for study, source in self.sources.items() if source == "simulated"
        ]
        lost = last["notebook"].isin(self.missing)
        old = last[last["study"].isin(simulated) | lost]
        this_run = "on simulated data: " + new["verdict"] + " " + new["computed"]
        this_run = this_run.reindex(old.index).mask(lost[old.index])
        old = old.assign(this_run=this_run.fillna("not computed"))
        as_computed = new[~new.index.isin(old.index)].assign(this_run="")
        return _in_order(pd.concat([as_computed, old]))

    @cached_property
    def headlines(self) -> pd.DataFrame:
        """Headline findings; those of simulated studies as last found."""
        last = read_text(COMMITTED / "headlines.csv").set_index("headline")
        if self.committed:
            return last
        new = read_text(self.folder / "headlines.csv").set_index("headline")
        real = (new["source"] == "real") & (new["sentence"] != "")
        return pd.concat([new[real], last.drop(index=new.index[real], errors="ignore")])

    @cached_property
    def stems(self) -> dict[str, str]:
        """Names of the figures of this run, by the picture as text."""
        files = (self.folder / "figures").glob("*.png")
        return {
            base64.b64encode(file.read_bytes()).decode(): file.stem for file in files
        }

    def figure(self, name: str) -> tuple[Path, str]:
        """File of a figure on real data, and its alt text."""
        (notebook,) = [
            book for key, book in self.notebooks.items() if key[:2] == name[:2]
        ]
        sums_up_a_part = notebook.name.startswith("00") and self.missing
        simulated = self.simulated(notebook.name)
        if self.committed or not notebook.ran or simulated or sums_up_a_part:
            notebook = read_notebook(
                paths.NOTEBOOKS / paths.notebook_place(notebook.name), ran=False
            )
            file = COMMITTED / f"{name}.png"
        else:
            file = self.folder / "figures" / f"{name}.png"
        shown = base64.b64encode(file.read_bytes()).decode()
        return file, notebook.images.get(shown, notebook.title)


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Sort claims: what does not hold by what it touches, worst first; then the others.

    Sentences come before cells of tables; last is what was not checked. Adds `touches`.
    """
    touches = collection.touched(table)
    order = [*collection.TOUCHES, ""]
    keys = pd.DataFrame(
        {
            "not checked": verdicts.reasons(table) != "",
            "touches": touches.map(order.index),
            "verdict": table["verdict"].map(verdicts.rank),
            "cell": table.index.str.contains(collection.CELL_OF_TABLE),
            "study": table["study"].map(place),
            "cause": table["cause"],
        }
    )
    ordered = keys.sort_values(list(keys), kind="stable").index
    return table.assign(touches=touches).loc[ordered]
