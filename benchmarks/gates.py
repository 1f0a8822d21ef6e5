"""Do the conclusions about own ratings hold? Files with a known truth, drawn again and again.

Run `python benchmarks/gates.py` (`--files 200` for a quick look, `--only halo` for some). Three
kinds of files: *nulls*, in which some aspects have no link, whatever else is wrong with the file;
*truths*, in which the weight of each aspect is known; and *power*, in which one aspect has a weight
of four times the spread that its estimate has over files. Every gate has random numbers of its own.

- False findings: files in which a null aspect is called "higher" or "lower", at most 6.5 %.
- Intervals: those that hold the truth, at least 93.5 % for each aspect; beside it their mean length
  over 3.92 times the spread of the estimates: 1 is as long as a known error would make them.
- Power: files in which the verdict is right, at least 80 %. "Not known" and "depends on choices"
  are misses. Beside it what an exact t-test with as many raters less one would find.

The truth is meant at the scope that a verdict claims: for "raters and items like these" every file
has new raters; for "these raters" the truth is that of the raters in the file. Where raters have no
names and differ in leniency and in how readily they mark, there is a link in their ratings: such
files are among the truths, not the nulls.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats

from helpers.own.inference import conclude, numbers
from helpers.own.intake import prepare

SEED = 20261122
FALSE, HOLDS, LONG, POWER = 6.5, 93.5, 97.0, 80.0
TRUE_ERRORS = 4
FOUND = {"higher", "lower"}
ASPECTS = ["tone", "depth", "typos"]
SCALES = {"tone": (1, 5), "depth": (1, 5), "typos": (0, 1), "rare": (0, 1), "overall": (1, 5)}
Draw = Callable[[np.random.Generator], tuple[pd.DataFrame, dict[str, float]]]


@dataclass(frozen=True)
class Design:
    """How files of one gate are drawn; spreads are in points of an outcome from 1 to 5."""

    raters: int = 9  # 0: the file names none
    per_item: int = 3
    prompts: int = 40
    items: int = 3  # of each prompt
    leniency: float = 0.7  # spread of raters in the outcome
    rates: float = 0.7  # spread of raters in how readily they mark, in probits
    slopes: float = 0.5  # spread of raters in the weight of each aspect
    busy: float = 0.6  # how much the busiest rater is preferred to the last one
    halo: float = 0.0  # impression of a single rating that goes into tone, depth and outcome
    marks: int = 0  # how often the aspect `rare` is marked; 0: there is no such aspect
    weights: dict = field(default_factory=dict)  # from the lowest to the highest mark
    rounded: bool = True


def draw(design: Design, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, float]]:
    """One file, and the weights for raters like these."""
    n_raters, n_items = design.raters or 30, design.prompts * design.items
    keys = rng.random((n_items, n_raters)) + np.linspace(0, design.busy, n_raters)
    rater = np.argsort(keys, axis=1)[:, : design.per_item].ravel()
    item = np.repeat(np.arange(n_items), design.per_item)
    prompt, n = item // design.items, len(item)
    halo = design.halo * rng.normal(size=n)
    ready = design.rates * rng.normal(size=(n_raters, 3))[rater]
    latent = 0.7 * rng.normal(size=(n_items, 3))[item] + ready + rng.normal(size=(n, 3))
    latent[:, :2] += halo[:, None]
    values = {
        "tone": np.clip(np.round(3 + latent[:, 0]), 1, 5),
        "depth": np.clip(np.round(3 + latent[:, 1]), 1, 5),
        "typos": (latent[:, 2] > 1.2).astype(float),
    }
    if design.marks:
        values["rare"] = np.isin(np.arange(n), rng.choice(n, design.marks, replace=False)) * 1.0
    table = pd.DataFrame(values)
    shares = (table - [SCALES[name][0] for name in table]) / [
        np.ptp(SCALES[name]) for name in table
    ]
    truth = {name: design.weights.get(name, 0.0) for name in table}
    own = design.slopes * rng.normal(size=(n_raters, len(truth)))[rater] + list(truth.values())
    overall = (
        (3.0 if design.rounded else 0.0)
        + (own * shares.to_numpy()).sum(axis=1)
        + design.leniency * rng.normal(size=n_raters)[rater]
        + 0.4 * rng.normal(size=n_items)[item]
        + 0.3 * rng.normal(size=design.prompts)[prompt]
        + halo
        + 0.6 * rng.normal(size=n)
    )
    table["overall"] = np.clip(np.round(overall), 1, 5) if design.rounded else overall
    table = table.assign(item_id=item, prompt_id=prompt)
    return (table.assign(rater_id=rater) if design.raters else table), truth


def nulls(**changes: object) -> Draw:
    """Files in which all weights are zero but those given."""
    design = Design(**changes)

    def file(rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, float]]:
        table, truth = draw(design, rng)
        return table, {name: 0.0 for name, weight in truth.items() if weight == 0}

    return file


def truths(**changes: object) -> Draw:
    """Files in which the outcome is not rounded, so that weights are known exactly."""
    design = Design(rounded=False, **changes)
    return lambda rng: draw(design, rng)


def these_raters(rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, float]]:
    """Three raters who all rate everything: the truth is their mean slope on a 0/1 aspect."""
    n_items, own = 120, 1 + rng.normal(size=3)
    item, rater = np.divmod(np.arange(3 * n_items), 3)
    typos = (rng.random(3 * n_items) < 0.4).astype(float)
    overall = rng.normal(size=3)[rater] + own[rater] * typos + 0.6 * rng.normal(size=3 * n_items)
    overall += 0.4 * rng.normal(size=n_items)[item]
    table = {"item_id": item, "prompt_id": item // 3, "rater_id": rater, "typos": typos}
    return pd.DataFrame(table).assign(overall=overall), {"typos": own.mean()}


def unnamed_raters(rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, float]]:
    """Nine lenient or strict raters without names: the truth is the slope of all their ratings."""
    n_items, lenient, share = 120, 0.7 * rng.normal(size=9), rng.uniform(0.1, 0.7, 9)
    item = np.repeat(np.arange(n_items), 3)
    rater = np.argsort(rng.random((n_items, 9)), axis=1)[:, :3].ravel()
    typos = (rng.random(len(item)) < share[rater]).astype(float)
    overall = (
        lenient[rater] + 0.6 * rng.normal(size=len(item)) + 0.4 * rng.normal(size=n_items)[item]
    )
    slope = np.cov(lenient, share, bias=True)[0, 1] / (share.mean() * (1 - share.mean()))
    table = {"item_id": item, "prompt_id": item // 3, "typos": typos, "overall": overall}
    return pd.DataFrame(table), {"typos": float(slope)}


def typing_error(column: str, **changes: object) -> Draw:
    """One 55 on a scale to 5."""
    file = nulls(**changes)

    def with_error(rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, float]]:
        table, truth = file(rng)
        table.loc[rng.integers(len(table)), column] = 55.0
        return table, truth

    return with_error


def computed(rounded: bool) -> Draw:
    """An outcome that is the mean of tone and depth, perhaps rounded; typos have no part in it."""

    def file(rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, float]]:
        table, _ = draw(Design(), rng)
        mean = (table["tone"] + table["depth"]) / 2
        return table.assign(overall=mean.round() if rounded else mean), {"typos": 0.0}

    return file


def by_prompt(rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, float]]:
    """An aspect that all answers to a prompt share, in 30 prompts that differ much."""
    table, _ = draw(Design(prompts=30, **UNNAMED), rng)
    shared, level = rng.integers(0, 2, 30) * 1.0, rng.normal(size=30)
    overall = np.clip(np.round(table["overall"] + level[table["prompt_id"]]), 1, 5)
    return table.assign(typos=shared[table["prompt_id"]], overall=overall), {"typos": 0.0}


LINK = {"tone": 1.5}
UNNAMED = {"raters": 0, "rates": 0.0, "slopes": 0.0}
NULLS = {
    **{
        f"marked {k} times, no names": nulls(marks=k, weights=LINK, **UNNAMED)
        for k in (1, 2, 3, 5, 8, 10, 12, 16, 20, 40)
    },
    **{f"marked {k} times, 9 raters": nulls(marks=k, weights=LINK) for k in (3, 10, 12, 20, 40)},
    **{
        f"{n} raters, {what}": nulls(raters=n, **changes)
        for n in (5, 9, 30)
        for what, changes in {
            "leniency": {"rates": 0.0, "slopes": 0.0},
            "leniency and rates": {"slopes": 0.0},
            "slopes": {"leniency": 0.0, "rates": 0.0, "slopes": 1.5},
            "leniency, rates and slopes": {},
        }.items()
    },
    "3 raters, leniency and rates": nulls(raters=3, slopes=0.0),
    "a typing error in an aspect": typing_error("tone"),
    "a typing error in the outcome": typing_error("overall"),
    "the outcome is a mean": computed(rounded=False),
    "the outcome is a rounded mean": computed(rounded=True),
    "halo in two aspects, not in the third": lambda rng: _only(nulls(halo=0.8)(rng), "typos"),
    "halo of raters: leniency in everything": nulls(leniency=1.5, rates=1.5),
    "an aspect that prompts share": by_prompt,
}
MIXED = {"tone": 1.5, "depth": 0.5}
TRUTHS = {
    **{f"{n} raters": truths(raters=n, weights=MIXED) for n in (5, 9, 30)},
    **{f"{n} raters, same slopes": truths(raters=n, weights=MIXED, slopes=0.0) for n in (5, 9, 30)},
    **{
        f"{n} raters, slopes differ much": truths(raters=n, weights=MIXED, slopes=1.5)
        for n in (5, 9, 30)
    },
    "12 raters, one gives a third": truths(raters=12, busy=3.0, weights=MIXED),
    "marked 12 times, no names": truths(marks=12, weights={"rare": -1.0}, **UNNAMED),
    "marked 30 times, 9 raters": truths(marks=30, weights={"rare": -1.0}),
    "these 3 raters, slopes differ": these_raters,
    "these 9 raters without names": unnamed_raters,
}
POWERS = {
    **{f"{n} raters": {"raters": n} for n in (10, 15, 30)},
    "10 raters, slopes differ much": {"raters": 10, "slopes": 1.5},
    "30 raters, marked 30 times": {"raters": 30, "marks": 30},
    "no names": UNNAMED,
    "no names, marked 20 times": {**UNNAMED, "marks": 20},
}


def _only(drawn: tuple, name: str) -> tuple[pd.DataFrame, dict[str, float]]:
    """A file of which one aspect alone is looked at."""
    table, truth = drawn
    return table, {name: truth[name]}


def study_of(table: pd.DataFrame, is_settled: bool = True, only: list | None = None):
    """Prepare a drawn file, with declared scales where nothing is wrong with them."""
    aspects = only or [name for name in (*ASPECTS, "rare") if name in table]
    named = {name: SCALES[name] for name in aspects}
    return prepare(
        table, "overall", aspects, np.random.default_rng(0), named if is_settled else None
    )


def false_finding(file: Draw, key: tuple[int, ...]) -> tuple[bool, bool]:
    """Whether a null aspect is called higher or lower, and whether any gets another answer."""
    table, truth = file(np.random.default_rng(key))
    study = study_of(
        table, is_settled=table.drop(columns=["item_id", "prompt_id"]).max().max() < 50
    )
    found = numbers(study)
    is_near = (found.reindex(list(truth))["p Holm"] < 0.05).any()
    verdicts = conclude(study, np.random.default_rng(0)) if is_near else None
    wrong = is_near and verdicts.loc[list(truth), "verdict"].isin(FOUND).any()
    return bool(wrong), bool(found.reindex(list(truth))["p Holm"].isna().all())


def interval_found(file: Draw, key: tuple[int, ...]) -> list[tuple[float, bool, float]]:
    """Error of each weight, whether its interval holds the truth, and how long it is."""
    table, truth = file(np.random.default_rng(key))
    found = numbers(study_of(table)).loc[list(truth)]
    true = pd.Series(truth)
    holds = (found["low"] <= true) & (true <= found["high"])
    return list(zip(found["weight"] - true, holds, found["high"] - found["low"], strict=True))


def power_found(design: Design, name: str, only: list, key: tuple[int, ...], weight: float) -> str:
    """Verdict on an aspect of this weight; with a weight of 0 its estimate, as text."""
    table, _ = draw(design, np.random.default_rng(key))
    low, high = SCALES[name]
    table["overall"] += weight * (table[name] - low) / (high - low)
    study = study_of(table, only=only)
    if weight == 0:
        return str(numbers(study).loc[name, "weight"])
    return conclude(study, np.random.default_rng(0)).loc[name, "verdict"]


def _mark(is_good: bool) -> str:
    return "" if is_good else "  << FAILS"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--only", default="", help="gates with this in their name")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    run = Parallel(n_jobs=given.jobs)
    keys = lambda kind, place: ((SEED, kind, place, file) for file in range(given.files))  # noqa: E731
    print(f"{given.files} files each, seed {SEED}")
    print(f"\nFalse findings, % of files (at most {FALSE}); in brackets: no verdict possible")
    for place, (name, file) in enumerate(NULLS.items()):
        if given.only in name:
            wrong, silent = 100 * np.mean(
                run(delayed(false_finding)(file, key) for key in keys(0, place)), 0
            )
            print(f"  {name:44} {wrong:5.1f}  ({silent:.0f}){_mark(wrong <= FALSE)}", flush=True)
    print(f"\nIntervals that hold the truth, % (at least {HOLDS}), and relative length")
    for place, (name, file) in enumerate(TRUTHS.items()):
        if given.only in name:
            error, holds, length = np.moveaxis(
                np.array(run(delayed(interval_found)(file, key) for key in keys(1, place)), float),
                2,
                0,
            )
            share, long = 100 * holds.mean(axis=0), length.mean(axis=0) / (3.92 * error.std(axis=0))
            each = "  ".join(f"{a:.1f} (x{b:.2f})" for a, b in zip(share, long, strict=True))
            print(f"  {name:44} {each}{_mark(share.min() >= HOLDS)}", flush=True)
    print(f"\nFound, % of files with {TRUE_ERRORS} true errors (at least {POWER}); exact t-test")
    for place, (name, changes) in enumerate(POWERS.items()):
        for only in (["rare"], [*ASPECTS, "rare"]) if "marks" in changes else (["tone"], ASPECTS):
            label = f"{name}, {len(only)} aspect{'s' * (len(only) > 1)}"
            if given.only in label:
                design = Design(rounded=False, weights={}, **changes)
                name_of = "rare" if "marks" in changes else "tone"
                half = [
                    (SEED, 2, place, -1 - file + 10**6) for file in range(max(given.files // 4, 50))
                ]
                spread = np.std(
                    [
                        float(each)
                        for each in run(
                            delayed(power_found)(design, name_of, only, key, 0.0) for key in half
                        )
                    ]
                )
                words = run(
                    delayed(power_found)(design, name_of, only, key, TRUE_ERRORS * spread)
                    for key in keys(2, place)
                )
                found = 100 * np.mean([word == "higher" for word in words])
                freedom = (design.raters or design.prompts) - 1
                edge = stats.t.ppf(1 - 0.025 / len(only), freedom)
                exact = 100 * stats.nct.sf(edge, freedom, TRUE_ERRORS)
                rest = pd.Series(words)[np.array(words) != "higher"].value_counts().to_dict()
                print(
                    f"  {label:44} {found:5.1f}  exact {exact:.0f}  {rest}{_mark(found >= POWER)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
