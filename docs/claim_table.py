"""The table of claims: what stands in a row, and its drawing."""

from html import escape

import pandas as pd

from helpers.claims import verdicts

WIDTH, HEIGHT, MARGIN = 150, 22, 8


def shown(table: pd.DataFrame) -> pd.Series:
    """Verdicts as readers count them: what was not checked has a word of its own."""
    unchecked = verdicts.reasons(table) != ""
    return table["verdict"].mask(unchecked, verdicts.NOT_CHECKED)


def drawing(claim: dict) -> str:
    """Draw printed and computed number on one line, as SVG.

    The text is empty if there is nothing to compare.
    """
    low = _number(claim["low"])
    here = _number(claim["estimate"])
    high = _number(claim["high"])
    printed = _number(claim["published"])
    about_zero = claim["kind"] in ("direction", "significance", "no effect")
    zero = 0.0 if about_zero else None
    if low is None and (here is None or printed is None or here == printed):
        return ""
    points = [value for value in (low, here, high, printed, zero) if value is not None]
    leftmost = min(points)
    length = max(points) - leftmost
    if length == 0:
        length = 1
    scale = (WIDTH - 2 * MARGIN) / length

    def x(value: float) -> str:
        return f"{MARGIN + (value - leftmost) * scale:.1f}"

    middle = HEIGHT / 2
    shapes = []
    words = []
    if zero is not None:
        shapes.append(f'<path class="zero" d="M{x(zero)} 1V{HEIGHT - 1}"/>')
    if printed is not None:
        shapes.append(f'<path class="printed" d="M{x(printed)} 8l-4-7h8z"/>')
        words.append(f"printed {claim['published']}")
    if low is not None:
        shapes.append(f'<path class="range" d="M{x(low)} {middle}H{x(high)}"/>')
        words.append(f"here from {low:g} to {high:g}")
    if here is not None:
        shapes.append(f'<circle cx="{x(here)}" cy="{middle}" r="4"/>')
        words.append(f"estimate {here:g}")
    label = escape(", ".join(words))
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg role="img" aria-label="{label}" {size}>{"".join(shapes)}</svg>'


def _number(text: str) -> float | None:
    """A number, or nothing."""
    try:
        return float(str(text).replace("−", "-"))
    except ValueError:
        return None
