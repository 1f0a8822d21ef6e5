"""Alarms of the checks of own ratings where there is no fault.

Run `python -m benchmarks.alarms` (`--files 200` for a quick look). Files of many
designs in which every rater judges by himself or herself: reliable and unreliable
raters, halo, items that are clear or contested, rare marks, ceilings, two columns or
ten, an outcome computed from the aspects. Told are, in % of files, alarms of copied
rows (at most 1), and of all rules that tell something from chance. Below are files with
copied rows, and how often they are found.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks import gate_table
from ratings.copies import copied_rows
from ratings.raters import check_raters

SEED = 20261123
AT_MOST = 1.0
BY_CHANCE = (
    "rates opposite to the others",
    "always the same overall",
    "the same in all columns as another rating",
)


@dataclass(frozen=True)
class Raters:
    """How honest files are made: each rater draws marks around what an item is."""

    items: int = 200
    per_item: int = 3
    raters: int = 9  # none: no names
    columns: int = 4
    marks: int = 5
    item: float = 1.0  # spread of items, shared by raters
    noise: float = 1.0  # of a single mark
    halo: float = 0.5  # of a rater for an item, in all columns
    leniency: float = 0.4
    top: float = 0.0  # how far marks are pushed to the highest one
    clear: float = 0.0  # share of items on which hardly anybody errs
    slip: float = 0.05  # share of marks that are off in clear items
    flags: float = 0.0  # share of marked cells, if marks are flags
    computed: bool = False  # the outcome is the rounded mean of the aspects
    systems: int = 0
    copied: float = 0.0  # share of items, or of a pair's items, with copied rows
    copies: str = "items"


def draw(design: Raters, rng: np.random.Generator) -> pd.DataFrame:
    """One file."""
    n = design.items * design.per_item
    item = np.repeat(np.arange(design.items), design.per_item)
    n_raters = design.raters or 30
    order = np.argsort(rng.random((design.items, n_raters)), axis=1)
    rater = order[:, : design.per_item].ravel()
    latent = design.item * rng.normal(size=(design.items, design.columns))[item]
    latent += design.item * rng.normal(size=design.items)[item][:, None]
    latent += design.halo * rng.normal(size=n)[:, None]
    latent += design.leniency * rng.normal(size=n_raters)[rater][:, None]
    noise = design.noise * rng.normal(size=latent.shape)
    if design.clear:
        # in clear items people differ by slips only
        is_clear = rng.random(design.items) < design.clear
        truth = design.item * rng.normal(size=(design.items, design.columns))[item]
        slips = rng.random(latent.shape) < design.slip
        latent = np.where(is_clear[item][:, None], truth, latent)
        noise = np.where(is_clear[item][:, None], 1.5 * slips * noise, noise)
    latent = latent + noise + design.top
    if design.flags:
        marks = (latent > np.quantile(latent, 1 - design.flags)) * 1.0
    else:
        middle = (1 + design.marks) / 2
        marks = np.clip(np.round(middle + latent), 1, design.marks)
    if design.copied:
        marks = copy_some(marks, item, rater, design, rng)
    if design.computed:
        marks[:, -1] = np.round(marks[:, :-1].mean(axis=1))
    names = [f"aspect {number}" for number in range(1, design.columns)]
    table = pd.DataFrame(marks, columns=[*names, "overall"])
    table.insert(0, "item_id", item)
    table.insert(1, "prompt_id", item // 2)
    if design.raters:
        table.insert(2, "rater_id", rater)
    if design.systems:
        table["system_id"] = item % design.systems
    return table


def copy_some(
    marks: np.ndarray,
    item: np.ndarray,
    rater: np.ndarray,
    design: Raters,
    rng: np.random.Generator,
) -> np.ndarray:
    """Copy rows: in some items, in items of one system, or by one rater of another."""
    marks = marks.copy()
    first_of_item = np.flatnonzero(np.r_[True, item[1:] != item[:-1]])[item]
    is_chosen = rng.random(design.items)[item] < design.copied
    if design.copies == "system":
        is_chosen &= item % design.systems == 0
    if design.copies != "raters":
        marks[is_chosen] = marks[first_of_item[is_chosen]]
        return marks
    for number in np.unique(item[is_chosen]):
        rows = np.flatnonzero(item == number)
        source = rows[rater[rows] == 0]
        target = rows[rater[rows] == 1]
        if len(source) and len(target):
            marks[target] = marks[source]
    return marks


HONEST = {
    "usual": Raters(),
    "no names": Raters(raters=0),
    "2 raters of each item": Raters(per_item=2),
    "5 of each item, systems": Raters(per_item=5, systems=10),
    "3 raters rate all": Raters(raters=3),
    "60 raters, few ratings each": Raters(raters=60),
    "raters agree well": Raters(noise=0.35, halo=0.2, item=1.2),
    "raters agree very well": Raters(noise=0.2, halo=0.1, leniency=0.1, item=1.5),
    "strong halo": Raters(halo=2.0),
    "strong halo, agree well": Raters(halo=1.0, noise=0.3),
    "lenient and harsh raters": Raters(leniency=1.5),
    "ceiling": Raters(top=2.0),
    "half of items clear": Raters(clear=0.5),
    "half of items clear, 2 % slips": Raters(clear=0.5, slip=0.02),
    "half of items clear, no names": Raters(clear=0.5, raters=0, per_item=5),
    "three marks": Raters(marks=3),
    "flags": Raters(flags=0.3),
    "rare flags, ten": Raters(flags=0.05, columns=10),
    "reliable flags": Raters(flags=0.3, noise=0.2, halo=0.1, leniency=0.1),
    "reliable flags, half clear": Raters(flags=0.3, noise=0.3, clear=0.5, slip=0.02),
    "two columns": Raters(columns=2),
    "two columns, agree well": Raters(columns=2, noise=0.35, halo=0.2),
    "ten columns": Raters(columns=10, items=150),
    "outcome computed": Raters(computed=True),
    "600 items": Raters(items=600),
    "600 items, half clear, 2 % slips": Raters(items=600, clear=0.5, slip=0.02),
}
COPIED = {
    "half of the items, 5 of each, no names": Raters(
        raters=0, per_item=5, copied=0.5, items=400
    ),
    "half of the items, 3 of each": Raters(copied=0.5, items=400),
    "a fifth of the items, 3 of each": Raters(copied=0.2, items=400),
    "all items of one system of ten": Raters(
        copied=1.0, copies="system", systems=10, items=400
    ),
    "a rater copies all": Raters(raters=3, copied=1.0, copies="raters"),
    "a rater copies half": Raters(raters=3, copied=0.5, copies="raters"),
    "a rater copies all, 9 raters": Raters(copied=1.0, copies="raters", items=600),
}


def alarms(design: Raters, key: tuple[int, ...]) -> tuple[bool, bool]:
    """Whether copied rows are told, and whether any rule gives an alarm."""
    table = draw(design, np.random.default_rng(key))
    columns = ["overall", *(name for name in table if name.startswith("aspect"))]
    found, _ = copied_rows(table, columns)
    checked = check_raters(table, "overall", columns[1:])
    told = checked["what"].str.startswith(BY_CHANCE)
    return len(found) > 0, bool(told.any())


def print_table(given: argparse.Namespace, designs: dict, kind: int) -> None:
    """Print the shares of files with alarms, and append them to the file."""
    gate = ("alarms without a fault", "copied rows found")[kind]
    run = Parallel(n_jobs=given.jobs)
    for place, (name, design) in enumerate(designs.items()):
        if given.only not in name or gate_table.stands_there(given.out, gate, name):
            continue
        keys = [(SEED, kind, place, number) for number in range(given.files)]
        found = run(delayed(alarms)(design, key) for key in keys)
        copied, any_rule = 100 * np.mean(found, axis=0)
        rows = [
            (given.files, "copied rows told", copied, None, None if kind else AT_MOST),
            (given.files, "any rule tells", any_rule, None, None),
        ]
        all_hold = gate_table.append(given.out, gate, name, SEED, rows)
        fails = "" if all_hold else " FAILS"
        print(f"  {name:40} {copied:6.2f} {any_rule:6.2f}{fails}", flush=True)


def main() -> None:
    """Print the tables."""
    given = gate_table.options(__doc__.splitlines()[0], files=2000, jobs=2)
    for kind, (title, designs) in enumerate(
        {"No fault": HONEST, "Copied rows": COPIED}.items()
    ):
        print(f"{title}: % of {given.files} files told copied, told by any rule")
        print_table(given, designs, kind)


if __name__ == "__main__":
    main()
