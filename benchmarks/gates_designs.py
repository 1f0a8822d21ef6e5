"""Conclusions about own ratings on designs that are not tidy.

Run `python -m benchmarks.gates_designs` (`--files 200` for a quick look). In each file
tone goes with the outcome (1.5 points of four) and typos do not. Told are, in % of
files: how often typos are called higher or lower (at most 6.5), how often the intervals
of tone and typos hold the truth (at least 93.5), and where there are systems how often
typos are called higher or lower with the system held equal, and said to extend to other
systems. Where systems differ, typos do go with the outcome among these systems, so that
"false" and the interval of typos there tell what is wrong only of other systems.
Outcomes with two or three marks are cut off a number, so that no weight of
tone is true of them: there only typos are told. Every design is told, those that fail
too. Seeds were fixed before the first run.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks import gate_table
from ratings.inference import SIGNIFICANT, estimates, systems
from ratings.intake import prepare

SEED = 20261124
FALSE = 6.5
HOLDS = 93.5
WEIGHT = 1.5
SCALES = {"tone": (1, 5), "typos": (0, 1)}


@dataclass(frozen=True)
class Design:
    """What a file is like."""

    prompts: int = 40
    items: int = 3  # of each prompt
    raters: int = 9  # none: no names
    per_item: int = 3
    systems: int = 0
    system: float = (
        0.0  # spread of systems in the outcome, and in how often typos occur
    )
    big: float = 0.0  # share of the items that one prompt has
    each: int = 0  # ratings by each of many raters
    drift: float = 0.0  # points by which raters grow milder, while typos grow rarer
    missing: float = 0.0  # share that half of the raters leave out where typos are
    marks: int = 0  # of the outcome; 0: not rounded
    leniency: float = 0.7
    ready: float = 0.7  # spread of how readily raters mark typos
    slopes: float = 0.3  # spread of the weights of raters


def draw(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """One file."""
    n_items = design.prompts * design.items
    prompt = np.repeat(np.arange(design.prompts), design.items)
    if design.big:
        n_big = int(design.big * n_items)
        prompt = np.concatenate([np.zeros(n_big, dtype=int), prompt[n_big:]])
    item = np.repeat(np.arange(n_items), design.per_item)
    n = len(item)
    if design.each:
        n_raters = n // design.each
        rater = rng.permutation(n) % n_raters
    else:
        n_raters = design.raters or 30
        order = np.argsort(rng.random((n_items, n_raters)), axis=1)
        rater = order[:, : design.per_item].ravel()
    lenient = design.leniency * rng.normal(size=n_raters)
    ready = design.ready * rng.normal(size=n_raters)
    if not design.raters and not design.each:  # no names: nothing that raters share
        lenient = np.zeros(n_raters)
        ready = np.zeros(n_raters)
    own = design.slopes * rng.normal(size=(n_raters, 2))
    system = item % max(design.systems, 1)
    shift = design.system * rng.normal(size=(max(design.systems, 1), 2))
    time = np.arange(n) / n
    tone = 3 + 0.7 * rng.normal(size=n_items)[item] + rng.normal(size=n)
    tone = np.clip(np.round(tone), 1, 5)
    likely = 0.7 * rng.normal(size=n_items)[item] + ready[rater] + rng.normal(size=n)
    likely += shift[system, 0] - design.drift * time
    typos = (likely > 0.8) * 1.0
    overall = (WEIGHT + own[rater, 0]) * (tone - 1) / 4 + own[rater, 1] * typos
    overall += lenient[rater] + shift[system, 1] + design.drift * time
    overall += 0.4 * rng.normal(size=n_items)[item] + 0.6 * rng.normal(size=n)
    overall += 0.3 * rng.normal(size=design.prompts)[prompt[item]]
    if design.marks:
        places = np.quantile(overall, np.arange(1, design.marks) / design.marks)
        overall = np.searchsorted(places, overall) * 1.0
    table = {"item_id": item, "prompt_id": prompt[item], "tone": tone, "typos": typos}
    table = pd.DataFrame(table | {"overall": overall})
    if design.raters or design.each:
        table["rater_id"] = rater
    if design.systems:
        table["system_id"] = system
    if design.missing:
        leaves_out = (rater % 2 == 0) & (rng.random(n) < design.missing)
        table = table[~(leaves_out & (typos == 1))]
    return table


DESIGNS = {
    "usual": Design(),
    "no names": Design(raters=0),
    "10 systems that differ": Design(prompts=30, items=10, systems=10, system=0.7),
    "6 systems that differ": Design(prompts=40, items=6, systems=6, system=0.7),
    "20 systems that differ": Design(prompts=30, items=20, systems=20, system=0.7),
    "10 systems that differ, no names": Design(
        prompts=30, items=10, systems=10, system=0.7, raters=0
    ),
    "10 systems that do not": Design(prompts=30, items=10, systems=10),
    "a prompt with 40 % of the items": Design(big=0.4),
    "a prompt with 40 % of the items, no names": Design(big=0.4, raters=0),
    "120 raters, three ratings each": Design(each=3),
    "400 raters, three ratings each": Design(each=3, prompts=100, items=4),
    "drift": Design(drift=1.0),
    "missing by rater": Design(missing=0.5),
    "two marks": Design(marks=2),
    "two marks, no names": Design(marks=2, raters=0),
    "three marks": Design(marks=3),
    "5 raters": Design(raters=5),
    "12 prompts, 9 raters": Design(prompts=12, items=8),
    # without names nothing allows for raters who differ: here they do not
    "no names, all weigh alike": Design(raters=0, slopes=0.0),
}


def look(design: Design, key: tuple[int, ...]) -> list[float]:
    """What is concluded from one file."""
    table = draw(design, np.random.default_rng(key))
    rng = np.random.default_rng(0)
    scales = SCALES | ({} if design.marks else {"overall": (-4, 8)})
    study = prepare(table, "overall", ["tone", "typos"], rng, scales)
    found = estimates(study)
    is_wrong = found.loc["typos", "p Holm"] < SIGNIFICANT
    holds = []
    for name, truth in (("tone", WEIGHT), ("typos", 0.0)):
        row = found.loc[name]
        holds.append(row["low"] <= truth <= row["high"])
    if design.marks:
        holds = [np.nan, np.nan]
    equal = np.nan
    extends = np.nan
    if design.systems:
        by_system = systems(study).reindex(["typos"])
        # not the verdict: on this long scale many weights are hardly any link
        equal = (by_system["p, Holm"] < SIGNIFICANT).item()
        extends = by_system["other systems"].item() == "extends"
    return [is_wrong, *holds, equal, extends]


GATE = "conclusions"
WHATS = (  # what a share is of, its least, its most
    ("typos called higher or lower", None, FALSE),
    ("interval of tone holds", HOLDS, None),
    ("interval of typos holds", HOLDS, None),
    ("typos called higher or lower, system held equal", None, FALSE),
    ("typos said to extend to other systems", None, FALSE),
)


def main() -> None:
    """Print the table, and append to the file."""
    given = gate_table.options(__doc__.splitlines()[0], files=2000, jobs=2)
    run = Parallel(n_jobs=given.jobs)
    print(f"{given.files} files each, seed {SEED}; %")
    columns = ("false", "tone", "typos", "equal", "extends")
    print(f"{'':44}" + "".join(f"{name:>9}" for name in columns))
    for place, (name, design) in enumerate(DESIGNS.items()):
        if given.only not in name or gate_table.stands_there(given.out, GATE, name):
            continue
        keys = [(SEED, place, number) for number in range(given.files)]
        files = np.array(run(delayed(look)(design, key) for key in keys), dtype=float)
        shares = 100 * files.mean(axis=0)
        rows = []
        for (what, least, most), share in zip(WHATS, shares, strict=True):
            if not np.isnan(share):
                rows.append((given.files, what, share, least, most))
        all_hold = gate_table.append(given.out, GATE, name, SEED, rows)
        numbers = "".join(f"{share:9.1f}" for share in shares)
        print(f"{name:44}{numbers}{'' if all_hold else ' FAILS'}", flush=True)


if __name__ == "__main__":
    main()
