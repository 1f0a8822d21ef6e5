"""How often the conclusions about own ratings err, in files with a known truth.

Run `python -m benchmarks.gates` (`--files 50` for a quick look, `--minutes 40` to stop
after a time). In each file tone goes with the outcome (1.5 points from its lowest to
its highest mark), depth does a little (0.5) and typos do not. Told are, in % of files:

- *false*: typos are called higher or lower (a sound rule errs in 5);
- *covered*: the 95 % intervals of tone, depth and typos that hold the truth;
- *power*: depth is called higher;
- where there are systems, two of which are equally good: *pairs*, all simultaneous
  intervals hold the truth, *equal*, these two are told apart, and *not held*, the
  interval of typos without systems held equal leaves out zero;
- *copies*: the check for copied rows speaks, and its false alarms elsewhere.

Each file is judged as `ratings report` does it: without rows that are doubted. Seeds
were fixed before the first run. The table is appended to data/gates.csv.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ratings import intake, raters
from ratings.accounts import Account
from ratings.inference import NOT_HELD, compare_systems, judge_aspects

GATES = Path(__file__).parents[1] / "data" / "gates.csv"
SEED = 20261125
WEIGHTS = {"tone": 1.5, "depth": 0.5, "typos": 0.0}
SCALES = {"tone": (1, 5), "depth": (1, 5), "typos": (0, 1)}


@dataclass(frozen=True)
class Design:
    """What a file is like; standard deviations in points of the outcome."""

    prompts: int = 40
    items: int = 3  # of each prompt
    raters: int = 9
    per_item: int = 3
    leniency: float = 0.7
    slopes: float = 0.3  # of raters in the weight of each aspect
    rare: float = 0.8  # of a standard normal: typos are marked beyond
    systems: int = 1
    system: float = 0.0  # of systems in the outcome, and in how often typos occur
    copied: float = 0.0  # share of items whose ratings copy the first one


DESIGNS = {
    "usual": Design(),
    "five raters": Design(raters=5),
    "random slopes": Design(slopes=1.0),
    "rare aspect": Design(rare=2.6),
    "ten systems that differ": Design(prompts=30, items=10, systems=10, system=0.7),
    "copied rows": Design(prompts=100, items=4, copied=0.5),
}


def draw(design: Design, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """One file, and by how much each system is better."""
    n_items = design.prompts * design.items
    item = np.repeat(np.arange(n_items), design.per_item)
    order = np.argsort(rng.random((n_items, design.raters)), axis=1)
    rater = order[:, : design.per_item].ravel()
    n = len(item)
    system = item % design.systems
    shift = design.system * rng.normal(size=(design.systems, 2))
    shift[:2, 0] = shift[0, 0]  # two are equally good, and differ in typos
    marks = {}
    for name in ("tone", "depth"):
        latent = 0.7 * rng.normal(size=n_items)[item] + rng.normal(size=n)
        marks[name] = np.clip(np.round(3 + latent), 1, 5)
    ready = 0.7 * rng.normal(size=design.raters)
    latent = 0.7 * rng.normal(size=n_items)[item] + ready[rater] + rng.normal(size=n)
    marks["typos"] = (latent + shift[system, 1] > design.rare) * 1.0
    own = design.slopes * rng.normal(size=(design.raters, len(WEIGHTS)))
    outcome = design.leniency * rng.normal(size=design.raters)[rater]
    for place, (name, weight) in enumerate(WEIGHTS.items()):
        low, high = SCALES[name]
        share = (marks[name] - low) / (high - low)
        outcome += (weight + own[rater, place]) * share
    outcome += 0.4 * rng.normal(size=n_items)[item] + 0.6 * rng.normal(size=n)
    outcome += 0.3 * rng.normal(size=design.prompts)[item // design.items]
    marks["overall"] = np.round(outcome + shift[system, 0])
    table = pd.DataFrame({"item_id": item, "prompt_id": item // design.items, **marks})
    table["rater_id"] = rater
    if design.systems > 1:
        table["system_id"] = system
    if design.copied:
        is_copied = (rng.random(n_items) < design.copied)[item]
        first = item * design.per_item
        names = list(marks)
        table.loc[is_copied, names] = table.loc[first[is_copied], names].to_numpy()
    return table, shift[:, 0]


def look(design: Design, rng: np.random.Generator) -> dict[str, float]:
    """What is concluded from one file: true or false, NaN where nothing is judged."""
    table, better = draw(design, rng)
    table = intake.once(table, Account())
    is_doubted, found = raters.doubtful(table, "overall", list(WEIGHTS))
    kept = table[~is_doubted]
    study = intake.prepare(kept, "overall", list(WEIGHTS), SCALES)
    row = {"copies": any(each.what == raters.COPIED for each in found)}
    for verdict in judge_aspects(study):
        if verdict.direction == "not judged":
            continue
        truth = WEIGHTS[verdict.name]
        covered = verdict.size.low <= truth <= verdict.size.high
        row[f"{verdict.name} covered"] = covered
        if verdict.name == "typos":
            row["false"] = verdict.is_clear
            if NOT_HELD in verdict.specifications:
                row["not held"] = verdict.specifications[NOT_HELD].side != 0
        if verdict.name == "depth":
            row["power"] = verdict.direction == "higher"
    if design.systems > 1:
        compared = compare_systems(intake.prepare(kept, "overall", []))
        holds = []
        for (one, other), verdict in compared.pairs.items():
            truth = better[one] - better[other]
            holds.append(verdict.size.low <= truth <= verdict.size.high)
            if {one, other} == {0, 1}:
                row["equal"] = verdict.is_clear
        row["pairs"] = all(holds)
    return row


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--out", type=Path, default=GATES)
    given = parser.parse_args()
    end = time.monotonic() + 60 * given.minutes
    rows = {name: [] for name in DESIGNS}
    for number in range(given.files):
        if time.monotonic() > end:
            break
        for place, (name, design) in enumerate(DESIGNS.items()):
            rng = np.random.default_rng((SEED, place, number))
            rows[name].append(look(design, rng))
    shares = {}
    for name, found in rows.items():
        files = pd.DataFrame(found).astype(float)
        for what in files:
            known = files[what].dropna()
            shares[name, what] = {"files": len(known), "percent": 100 * known.mean()}
    table = pd.DataFrame.from_dict(shares, "index").rename_axis(["design", "what"])
    table["files"] = table["files"].astype(int)
    table.to_csv(given.out, float_format="%.1f", lineterminator="\n")
    print(table["percent"].unstack().round(1).to_string())
    print(f"{number + 1} files each at most, seed {SEED}")


if __name__ == "__main__":
    main()
