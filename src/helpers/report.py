"""One page that shows what a run found: data used, verdicts, figures, claims, notebooks."""

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from string import Template

import nbformat
import pandas as pd

from helpers import paths
from helpers.claims import verdict_counts
from helpers.paths import replace_files

TEMPLATE = paths.DATA / "templates" / "index.html"
CLAIM_HEADINGS = ("Claim", "Published", "Computed", "Interval", "Verdict", "Note", "Notebook")


def write(out_dir: Path, names: Iterable[str], sources: Mapping[str, str]) -> Path:
    """Write `index.html`, which links the pages and figures beside it.

    Parameters
    ----------
    out_dir : pathlib.Path
        Folder of a run, with `claims.csv` and the folders `notebooks`, `html` and `figures`.
    names : iterable of str
        The notebooks that were executed.
    sources : mapping of str to str
        "real", "printed" or "simulated" by study.

    Returns
    -------
    pathlib.Path
        The page.
    """
    claims = _read_claims(out_dir)
    titles = {name: _title(out_dir / "notebooks" / f"{name}.ipynb") for name in names}
    page = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        banner=_banner(claims, sources),
        summary=_summary(claims, sources),
        notebooks="".join(f"<li>{_link(name, title)}</li>" for name, title in titles.items()),
        figures="".join(_figures(out_dir, titles)),
        claims=_claims(claims),
    )
    replace_files({out_dir / "index.html": page.encode()})
    return out_dir / "index.html"


def summary_lines(out_dir: Path, sources: Mapping[str, str]) -> list[str]:
    """Sum up a run in one line of text per study.

    Parameters
    ----------
    out_dir : pathlib.Path
        Folder of a run, with `claims.csv`.
    sources : mapping of str to str
        "real", "printed" or "simulated" by study.

    Returns
    -------
    list of str
        For example "kamoda: real data, 12 reproduced, 1 differs".
    """
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
