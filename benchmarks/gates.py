"""Do the conclusions about own ratings hold? Many files with a known truth.

Run `python benchmarks/gates.py` (`--files 200` for a quick look, `--only halo` for
some). Three kinds of files: *nulls*, in which some aspects have no link, whatever else
is wrong with the file; *truths*, in which the weight of each aspect is known; and
*power*, in which one aspect has a weight of four times the spread that its estimate has
over files. Every gate has random numbers of its own.

- False findings: files in which a null aspect is called "higher" or "lower", at most
6.5 %.
- Intervals: those that hold the truth, at least 93.5 % for each aspect; beside it their
mean length
  over 3.92 times the spread of the estimates: 1 is as long as a known error would make
  them.
- Power: files in which the verdict is right, at least 80 %. "Not known" and "depends on
choices"
  are misses. Beside it what an exact t-test with as many raters less one would find.

The truth is meant at the scope that a verdict claims: for "raters and items like these"
every file has new raters; for "these raters" (also in a file of more raters, for an
aspect that fewer than five of them mark) it is that of the raters in the file. Where
raters have no names and differ in leniency and in how readily they mark, there is a
link in their ratings: such files are among the truths, not the nulls.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats

from helpers.stats.bootstrap import adjust
from helpers.stats.clustered import slopes
from ratings.inference import (
    FEWEST_INFORMATIVE,
    SIGNIFICANT,
    THESE,
    conclude,
    estimates,
)
from ratings.intake import FEWEST_RATERS, Study, prepare

SEED = 20261122
FALSE, HOLDS, LONG, POWER = 6.5, 93.5, 97.0, 80.0
TRUE_ERRORS = 4
FOUND = {"higher", "lower"}
ASPECTS = ["tone", "depth", "typos"]
SCALES = {
    "tone": (1, 5),
    "depth": (1, 5),
    "typos": (0, 1),
    "rare": (0, 1),
    "overall": (1, 5),
}
OFF = 50  # no mark but a typing error is so large
WHOLE = 100  # files of each gate of power that go to the verdict
WIDTH = {name: high - low for name, (low, high) in SCALES.items()}
File = dict[str, np.ndarray]  # columns
Draw = Callable[[np.random.Generator], tuple[File, dict[str, float]]]


@dataclass(frozen=True)
class Design:
    """How files of a gate are drawn; standard deviations in points from 1 to 5."""

    raters: int = 9  # 0: the file names none
    per_item: int = 3
    prompts: int = 40
    items: int = 3  # of each prompt
    leniency: float = 0.7  # spread of raters in the outcome
    rates: float = 0.7  # spread of raters in how readily they mark, in probits
    slopes: float = 0.5  # spread of raters in the weight of each aspect
    busy: float = 0.6  # how much the busiest rater is preferred to the last one
    # impression of a single rating that goes into tone, depth and outcome
    halo: float = 0.0
    marks: int = 0  # how often the aspect `rare` is marked; 0: there is no such aspect
    weights: dict = field(default_factory=dict)  # from the lowest to the highest mark
    rounded: bool = True


@dataclass(frozen=True)
class Null:
    """How to draw files, and whether nothing is wrong with their scales and sums."""

    draw: Draw
    is_clean: bool = True


@dataclass(frozen=True)
class Power:
    """A design, the aspect that has a weight, and all aspects that are looked at."""

    design: Design
    aspect: str
    aspects: list


def draw(design: Design, rng: np.random.Generator) -> tuple[File, dict[str, float]]:
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
        values["rare"] = (
            np.isin(np.arange(n), rng.choice(n, design.marks, replace=False)) * 1.0
        )
    shares = np.transpose(
        [(values[name] - SCALES[name][0]) / WIDTH[name] for name in values]
    )
    truth = {name: design.weights.get(name, 0.0) for name in values}
    own = design.slopes * rng.normal(size=(n_raters, len(truth)))[rater] + list(
        truth.values()
    )
    values["known"] = (own * shares).sum(axis=1)
    overall = (
        (3.0 if design.rounded else 0.0)
        + values["known"]
        + design.leniency * rng.normal(size=n_raters)[rater]
        + 0.4 * rng.normal(size=n_items)[item]
        + 0.3 * rng.normal(size=design.prompts)[prompt]
        + halo
        + 0.6 * rng.normal(size=n)
    )
    values["overall"] = np.clip(np.round(overall), 1, 5) if design.rounded else overall
    values |= {"item_id": item, "prompt_id": prompt}
    return (values | {"rater_id": rater} if design.raters else values), truth


def nulls(**changes: object) -> Null:
    """Files in which all weights are zero but those given."""
    design = Design(**changes)
    return Null(lambda rng: draw(design, rng))


def truths(**changes: object) -> Draw:
    """Files in which the outcome is not rounded, so that weights are known exactly."""
    design = Design(rounded=False, **changes)
    return lambda rng: draw(design, rng)


def these_raters(rng: np.random.Generator) -> tuple[File, dict[str, float]]:
    """Three raters who all rate everything: the truth is their mean slope."""
    n_items, own = 120, 1 + rng.normal(size=3)
    item, rater = np.divmod(np.arange(3 * n_items), 3)
    typos = (rng.random(3 * n_items) < 0.4).astype(float)
    overall = (
        rng.normal(size=3)[rater]
        + own[rater] * typos
        + 0.6 * rng.normal(size=3 * n_items)
    )
    overall += 0.4 * rng.normal(size=n_items)[item]
    table = {"item_id": item, "prompt_id": item // 3, "rater_id": rater, "typos": typos}
    return table | {"overall": overall}, {"typos": own.mean()}


def unnamed_raters(rng: np.random.Generator) -> tuple[File, dict[str, float]]:
    """Nine lenient or strict raters without names: the truth is the slope of all."""
    n_items, lenient, share = 120, 0.7 * rng.normal(size=9), rng.uniform(0.1, 0.7, 9)
    item = np.repeat(np.arange(n_items), 3)
    rater = np.argsort(rng.random((n_items, 9)), axis=1)[:, :3].ravel()
    typos = (rng.random(len(item)) < share[rater]).astype(float)
    overall = (
        lenient[rater]
        + 0.6 * rng.normal(size=len(item))
        + 0.4 * rng.normal(size=n_items)[item]
    )
    slope = np.cov(lenient, share, bias=True)[0, 1] / (
        share.mean() * (1 - share.mean())
    )
    table = {
        "item_id": item,
        "prompt_id": item // 3,
        "typos": typos,
        "overall": overall,
    }
    return table, {"typos": float(slope)}


def typing_error(column: str) -> Null:
    """One 55 on a scale to 5."""
    design = Design()

    def with_error(rng: np.random.Generator) -> tuple[File, dict[str, float]]:
        table, truth = draw(design, rng)
        table[column][rng.integers(len(table["item_id"]))] = 55.0
        return table, truth

    return Null(with_error, is_clean=False)


def computed(rounded: bool) -> Null:
    """An outcome that is the mean of tone and depth, perhaps rounded, not of typos."""

    def file(rng: np.random.Generator) -> tuple[File, dict[str, float]]:
        table, _ = draw(Design(), rng)
        mean = (table["tone"] + table["depth"]) / 2
        return table | {"overall": mean.round() if rounded else mean}, {"typos": 0.0}

    return Null(file, is_clean=False)


def by_prompt(rng: np.random.Generator) -> tuple[File, dict[str, float]]:
    """An aspect that all answers to a prompt share, in 30 prompts that differ much."""
    table, _ = draw(Design(prompts=30, **UNNAMED), rng)
    shared, level = rng.integers(0, 2, 30) * 1.0, rng.normal(size=30)
    overall = np.clip(np.round(table["overall"] + level[table["prompt_id"]]), 1, 5)
    return table | {"typos": shared[table["prompt_id"]], "overall": overall}, {
        "typos": 0.0
    }


LINK = {"tone": 1.5}
UNNAMED = {"raters": 0, "rates": 0.0, "slopes": 0.0}
NULLS = {
    **{
        f"marked {k} times, no names": nulls(marks=k, weights=LINK, **UNNAMED)
        for k in (1, 2, 3, 5, 8, 10, 12, 16, 20, 40)
    },
    **{
        f"marked {k} times, 9 raters": nulls(marks=k, weights=LINK)
        for k in (3, 10, 12, 20, 40)
    },
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
    "halo in two aspects, not in the third": Null(
        lambda rng: (draw(Design(halo=0.8), rng)[0], {"typos": 0.0})
    ),
    "halo of raters: leniency in everything": nulls(leniency=1.5, rates=1.5),
    "an aspect that prompts share": Null(by_prompt),
}
MIXED = {"tone": 1.5, "depth": 0.5}
TRUTHS = {
    **{f"{n} raters": truths(raters=n, weights=MIXED) for n in (5, 9, 30)},
    **{
        f"{n} raters, same slopes": truths(raters=n, weights=MIXED, slopes=0.0)
        for n in (5, 9, 30)
    },
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
    f"{name}, {len(aspects)} aspect{'s' * (len(aspects) > 1)}": Power(
        Design(rounded=False, **changes), aspects[-1], aspects
    )
    for name, changes in {
        "10 raters": {"raters": 10},
        "10 raters, slopes differ much": {"raters": 10, "slopes": 1.5},
        "15 raters": {"raters": 15},
        "30 raters": {"raters": 30},
        "30 raters, marked 30 times": {"raters": 30, "marks": 30},
        "no names": UNNAMED,
        "no names, marked 20 times": {**UNNAMED, "marks": 20},
    }.items()
    for aspects in (
        (["rare"], ["tone", "depth", "rare"])
        if "marks" in changes
        else (["tone"], ["typos", "depth", "tone"])
    )
}


def study_of(table: File, only: list | None = None) -> Study:
    """Prepare a drawn file, with declared scales where no mark is off them."""
    aspects = only or [name for name in (*ASPECTS, "rare") if name in table]
    is_settled = all(table[name].max() < OFF for name in (*aspects, "overall"))
    scales = {name: SCALES[name] for name in aspects}
    rng = np.random.default_rng(0)
    return prepare(
        pd.DataFrame(table), "overall", aspects, rng, scales if is_settled else None
    )


def quickly(table: File, only: list | None = None) -> pd.DataFrame:
    """Weights, intervals and corrected p-values, as `estimates` gives them.

    Beside them, for aspects of which these raters only can be judged, the weight of
    ``these``: what least squares would find in this file if nothing but the aspects
    moved the outcome.

    It goes to the same sums without looking the file over, which takes most of the
    time; `both` compares the two.
    """
    aspects = only or [name for name in (*ASPECTS, "rare") if name in table]
    low, high = np.transpose([SCALES[name] for name in aspects])
    x = (np.transpose([table[name] for name in aspects]) - low) / (high - low)
    values = np.column_stack(
        [x, table["overall"], table.get("known", np.zeros(len(x)))]
    )
    rater = table.get("rater_id", np.zeros(len(x), dtype=int))
    count = np.maximum(np.bincount(rater), 1)
    means = (
        np.transpose([np.bincount(rater, column) for column in values.T])
        / count[:, None]
    )
    values -= means[rater]
    prompt = table["prompt_id"]
    found = slopes(values[:, :-2], values[:, -2], aspects)
    weight = found.value.to_numpy()
    these = slopes(values[:, :-2], values[:, -1], aspects).value.to_numpy()
    other = (x != (x.mean(axis=0) > 0.5) * 1.0).T
    is_wide = np.array([len(np.unique(rater[each])) >= FEWEST_RATERS for each in other])
    by_prompt = pd.DataFrame({"prompt": prompt})
    by_both = pd.DataFrame({"rater": rater, "prompt": prompt})
    error, df = found.errors_and_df(by_both if is_wide.all() else by_prompt)
    if is_wide.any() and not is_wide.all():
        wide_error, wide_df = found.errors_and_df(by_both)
        error = np.where(is_wide, wide_error, error)
        df = np.where(is_wide, wide_df, df)
    reach = stats.t.ppf(0.975, df) * error
    p_value = 2 * stats.t.sf(np.abs(weight) / error, df)
    told = [len(np.unique(prompt[each])) for each in other]
    judged = np.array(told) >= FEWEST_INFORMATIVE
    holm = np.full(len(aspects), np.nan)
    holm[judged] = adjust(p_value[judged])
    names = ("weight", "low", "high", "p Holm", "these")
    parts = (
        weight,
        weight - reach,
        weight + reach,
        holm,
        np.where(is_wide, np.nan, these),
    )
    return pd.DataFrame(dict(zip(names, parts, strict=True)), index=aspects)


def both(table: File, key: tuple[int, ...], only: list | None = None) -> pd.DataFrame:
    """The quick numbers; one file in fifty is also reported, and must give the same."""
    found = quickly(table, only)
    if key[-1] % 50 == 0:
        names = ["weight", "low", "high", "p Holm"]
        slowly = estimates(study_of(table, only))[names]
        pd.testing.assert_frame_equal(found[names], slowly, rtol=1e-6)
    return found


def false_finding(gate: Null, key: tuple[int, ...]) -> bool:
    """Whether a null aspect is called higher or lower."""
    table, truth = gate.draw(np.random.default_rng(key))
    names = [name for name, weight in truth.items() if weight == 0]
    if (
        gate.is_clean
        and not (both(table, key).loc[names, "p Holm"] < SIGNIFICANT).any()
    ):
        return False
    verdicts = conclude(study_of(table), np.random.default_rng(0)).loc[names]
    wrong = verdicts["verdict"].isin(FOUND)
    if gate.is_clean and (verdicts["scope"] == THESE).any():
        these = quickly(table).loc[names, "these"]
        wrong &= ~((verdicts["low"] <= these) & (these <= verdicts["high"]))
    return bool(wrong.any())


def interval_found(draw_file: Draw, key: tuple[int, ...]) -> np.ndarray:
    """Error of each weight, whether its interval holds the truth, and its length."""
    table, truth = draw_file(np.random.default_rng(key))
    found = both(table, key, list(truth))
    true = np.array(list(truth.values()))
    if "known" in table:
        true = found["these"].fillna(pd.Series(truth)).to_numpy()
    holds = (found["low"] <= true) & (true <= found["high"])
    return np.array([found["weight"] - true, holds, found["high"] - found["low"]])


def power_found(
    gate: Power, key: tuple[int, ...], weight: float
) -> tuple[float, bool, str]:
    """Weight found, whether it is told from zero, and for some files the verdict."""
    table, _ = draw(gate.design, np.random.default_rng(key))
    low, high = SCALES[gate.aspect]
    table["overall"] += weight * (table[gate.aspect] - low) / (high - low)
    found = both(table, key, gate.aspects).loc[gate.aspect]
    word = ""
    if weight and key[-1] < WHOLE:
        study = study_of(table, gate.aspects)
        word = conclude(study, np.random.default_rng(0)).loc[gate.aspect, "verdict"]
    return (
        found["weight"],
        bool(found["p Holm"] < SIGNIFICANT and found["weight"] > 0),
        word,
    )


def nulls_table(run: Callable, places: list[int], n_files: int) -> None:
    """Print the share of files with a false finding."""
    print(f"\nFalse findings, % of files (at most {FALSE})")
    for place in places:
        name, gate = list(NULLS.items())[place]
        keys = [
            (SEED, 0, place, number)
            for number in range(n_files if gate.is_clean else n_files // 10)
        ]
        wrong = 100 * np.mean(run(delayed(false_finding)(gate, key) for key in keys))
        print(
            f"  {name:44} {wrong:5.1f}{_fails(wrong > FALSE)}  of {len(keys)}",
            flush=True,
        )


def truths_table(run: Callable, places: list[int], n_files: int) -> None:
    """Print how often intervals hold the truth, and how long they are."""
    print(f"\nIntervals that hold the truth, % (at least {HOLDS}; x: relative length)")
    for place in places:
        name, draw_file = list(TRUTHS.items())[place]
        keys = ((SEED, 1, place, number) for number in range(n_files))
        files = np.array(run(delayed(interval_found)(draw_file, key) for key in keys))
        error, holds, length = np.moveaxis(files, 1, 0)
        share, long = (
            100 * holds.mean(axis=0),
            length.mean(axis=0) / (3.92 * error.std(axis=0)),
        )
        each = "  ".join(
            f"{a:.1f} (x{b:.2f})" for a, b in zip(share, long, strict=True)
        )
        print(f"  {name:44} {each}{_fails(share.min() < HOLDS)}", flush=True)


def powers_table(run: Callable, places: list[int], n_files: int) -> None:
    """Print how often a weight of four true errors is found."""
    print(
        f"\nFound, % of files with {TRUE_ERRORS} true errors (at least {POWER}); "
        "exact t-test;"
    )
    print(f"verdicts that were not 'higher' in the first {WHOLE} files")
    for place in places:
        name, gate = list(POWERS.items())[place]
        ahead = ((SEED, 3, place, number) for number in range(n_files))
        null = run(delayed(power_found)(gate, key, 0.0) for key in ahead)
        weight = TRUE_ERRORS * np.std([found for found, _, _ in null])
        keys = ((SEED, 2, place, number) for number in range(n_files))
        results = run(delayed(power_found)(gate, key, weight) for key in keys)
        told = 100 * np.mean([is_told for _, is_told, _ in results])
        words = pd.Series([word for _, _, word in results if word])
        turned = [is_told and word != "higher" for _, is_told, word in results if word]
        found = told * (1 - np.sum(turned) / max(sum(t for _, t, w in results if w), 1))
        freedom = (gate.design.raters or gate.design.prompts) - 1
        exact = 100 * stats.nct.sf(
            stats.t.ppf(1 - 0.025 / len(gate.aspects), freedom), freedom, TRUE_ERRORS
        )
        misses = words[words != "higher"].value_counts().to_dict()
        line = f"{found:5.1f}{_fails(found < POWER)}"
        line = f"{line}  exact {exact:.0f}  weight {weight:.2f}"
        print(f"  {name:44} {line}  {misses}", flush=True)


def _fails(it_does: bool) -> str:
    """Mark what does not hold."""
    return " FAILS" if it_does else ""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--only", default="", help="gates with this in their name")
    parser.add_argument("--kinds", nargs="*", default=["nulls", "truths", "powers"])
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    print(f"{given.files} files each, seed {SEED}")
    kinds = {
        "nulls": (nulls_table, NULLS),
        "truths": (truths_table, TRUTHS),
        "powers": (powers_table, POWERS),
    }
    for kind in given.kinds:
        table, gates = kinds[kind]
        chosen = [place for place, name in enumerate(gates) if given.only in name]
        if chosen:
            table(Parallel(n_jobs=given.jobs), chosen, given.files)


if __name__ == "__main__":
    main()
