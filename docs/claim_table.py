"""The table of claims: one row a claim, with all that leads to its verdict folded inside."""

from html import escape

import pandas as pd

from helpers.claims import verdicts

WIDTH, HEIGHT, MARGIN = 150, 22, 8


def shown(table: pd.DataFrame) -> pd.Series:
    """Verdicts as readers count them: what was not checked apart from what stays open."""
    return table["verdict"].mask(verdicts.reasons(table) != "", verdicts.NOT_CHECKED)


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
