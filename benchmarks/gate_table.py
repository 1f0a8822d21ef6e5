"""The table that the gates of own ratings write, `data/gates.csv`.

A row is one share of one design. Rows are appended, so that what is finished stays
where a run is stopped, and a design that stands there is not measured again: delete
its rows, or the file, to do so.
"""

import argparse
import csv
from pathlib import Path

GATES = Path(__file__).parents[1] / "data" / "gates.csv"
COLUMNS = (
    "gate",
    "design",
    "seed",
    "files",
    "what",
    "percent",
    "at least",
    "at most",
    "holds",
)


def options(description: str, files: int, jobs: int) -> argparse.Namespace:
    """Read what the command line of a gate may say."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--files", type=int, default=files)
    parser.add_argument("--only", default="", help="designs with this in their name")
    parser.add_argument("--jobs", type=int, default=jobs)
    parser.add_argument("--out", type=Path, default=GATES)
    return parser.parse_args()


def stands_there(path: Path, gate: str, design: str) -> bool:
    """Whether the table has rows of a design."""
    if not path.exists():
        return False
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return any((row["gate"], row["design"]) == (gate, design) for row in rows)


def append(path: Path, gate: str, design: str, seed: int, shares: list[tuple]) -> bool:
    """Append shares (files, what, percent, least, most), and say whether all hold.

    A bound of None is no bound: such a share is told and not judged.
    """
    rows = []
    all_hold = True
    for files, what, percent, least, most in shares:
        is_judged = least is not None or most is not None
        is_enough = least is None or percent >= least
        is_little = most is None or percent <= most
        holds = is_enough and is_little
        all_hold &= holds
        word = ("yes" if holds else "no") if is_judged else ""
        row = [gate, design, seed, files, what, f"{percent:.2f}", least, most, word]
        rows.append(row)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerows(rows)
    return all_hold
