"""The table of claims: one row a claim, with all that leads to its verdict folded inside."""

import re
from html import escape

import pandas as pd
from record import STUDIES, Record

from helpers import claims, paths
from helpers.claims import read_text

WIDTH, HEIGHT, MARGIN = 150, 22, 8


def rows(record: Record) -> list[dict]:
    """Rows of the table, for its template."""
    causes = read_text(paths.PUBLISHED / "causes.csv").set_index("cause")["explanation"]
    published = claims.published_claims()
    rules = rules_by_kind()
    shown = []
    for claim in record.claims.to_dict("records"):
        extra = published.loc[claim["claim_id"]]
        shown.append(
            claim
            | {
                "cell": record.cell_of(claim),
                "paper": STUDIES[claim["study"]],
                "why": causes.get(claim["cause"], ""),
                "rule": rules.get(claim["kind"], {}),
                "drawing": drawing(claim),
                "words": words(claim),
                **{name: extra[name] for name in ("readings", "family", "needs", "margin")},
            }
        )
    return shown


def words(claim: dict) -> str:
    """Verdict in words."""
    corrected = ", not after correction" * (claim["after_correction"] == "no")
    return claim["verdict"] + corrected


def rules_by_kind() -> dict[str, dict[str, str]]:
    """Rule of each kind of claim: what each verdict asks for, from data/published/README.md."""
    text = (paths.PUBLISHED / "README.md").read_text()
    table = text[text.index("| kind | confirmed") :].split("\n\n")[0]
    head, _, *lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
    rules = {}
    for kind, *cells in lines:
        name = re.findall(r"`([^`]+)`", kind)
        label = "number from print" if "print" in name else name[0]
        rules[label] = dict(zip(head[1:], cells, strict=True))
    return rules


def drawing(claim: dict) -> str:
    """Printed and computed number on one line, as SVG; empty if there is nothing to compare."""
    low, here, high = (_number(claim[name]) for name in ("low", "estimate", "high"))
    printed = _number(claim["published"])
    zero = 0.0 if claim["kind"] in ("direction", "significance", "no effect") else None
    if low is None and (here is None or printed is None or here == printed):
        return ""
    points = [value for value in (low, here, high, printed, zero) if value is not None]
    scale = (WIDTH - 2 * MARGIN) / (max(points) - min(points) or 1)
    middle, shapes, told = HEIGHT / 2, [], []

    def x(value: float) -> str:
        return f"{MARGIN + (value - min(points)) * scale:.1f}"

    if zero is not None:
        shapes.append(f'<path class="zero" d="M{x(zero)} 1V{HEIGHT - 1}"/>')
    if printed is not None:
        shapes.append(f'<path class="printed" d="M{x(printed)} 8l-4-7h8z"/>')
        told.append(f"printed {claim['published']}")
    if low is not None:
        shapes.append(f'<path class="range" d="M{x(low)} {middle}H{x(high)}"/>')
        told.append(f"here from {low:g} to {high:g}")
    if here is not None:
        shapes.append(f'<circle cx="{x(here)}" cy="{middle}" r="4"/>')
        told.append(f"estimate {here:g}")
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg role="img" aria-label="{escape(", ".join(told))}" {size}>{"".join(shapes)}</svg>'


def _number(text: str) -> float | None:
    """A number, or nothing."""
    try:
        return float(str(text).replace("−", "-"))
    except ValueError:
        return None


def counts(table: pd.DataFrame, by: str = "study") -> pd.DataFrame:
    """Verdicts by study; what could not be checked apart from what stays open."""
    verdict = table["verdict"].where(table["evidence"] != "none", "not checkable here")
    order = ["confirmed", "consistent", "slip", "leaning", "open", "contradicted"]
    counted = pd.crosstab(table[by], verdict)
    return counted.reindex(columns=[*order, "not checkable here"], fill_value=0)


def failing(table: pd.DataFrame) -> list[dict]:
    """Causes of contradictions and slips, contradictions first, then those of most claims."""
    explained = read_text(paths.PUBLISHED / "causes.csv").set_index("cause")["explanation"]
    bad = table[table["verdict"].isin(["contradicted", "slip"])]
    found = []
    for (cause, verdict), claimed in bad[bad["cause"] != ""].groupby(["cause", "verdict"]):
        first = claimed.iloc[0]
        found.append(
            {
                "cause": cause,
                "verdict": verdict,
                "number": len(claimed),
                "paper": STUDIES[first["study"]],
                "study": first["study"],
                "explanation": explained[cause],
            }
        )
    return sorted(found, key=lambda row: (row["verdict"], -row["number"]))
