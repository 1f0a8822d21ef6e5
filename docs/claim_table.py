"""The table of claims: one row a claim, with all that leads to its verdict folded inside."""

from html import escape

import pandas as pd

WIDTH, HEIGHT, MARGIN = 150, 22, 8


def shown(table: pd.DataFrame) -> pd.Series:
    """Verdicts as readers count them: what nobody could check apart from what stays open."""
    return table["verdict"].where(table["evidence"] != "none", "not checkable here")


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
    order = ["confirmed", "consistent", "slip", "leaning", "open", "contradicted"]
    counted = pd.crosstab(table[by], shown(table))
    return counted.reindex(columns=[*order, "not checkable here"], fill_value=0)


def failing(table: pd.DataFrame) -> pd.DataFrame:
    """Causes of contradictions and slips, contradictions first, then those of most claims."""
    bad = table[table["verdict"].isin(["contradicted", "slip"]) & (table["cause"] != "")]
    numbers = bad["kind"].isin(["number", "split"])
    bad = bad.assign(what=numbers.map({True: "number", False: "statement"}))
    causes = bad.groupby(["cause", "verdict", "what"], as_index=False).agg(
        number=("study", "size"), study=("study", "first"), explanation=("explanation", "first")
    )
    return causes.sort_values(
        ["verdict", "what", "number"], ascending=[True, False, False], kind="stable"
    )
