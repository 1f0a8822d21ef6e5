"""How often the intervals in notebooks cover, measured on redrawn studies.

Run `python -m benchmarks.coverage`. A notebook's own code cells run in this process, on
studies that the simulators of `helpers.simulate` draw with new raters and new prompts.
Figures are closed and nothing is saved; cells that save results are passed over.
Collected is every table with estimate, low and high that a cell binds, shows or writes
with `with_intervals`. The target of an interval is the mean of its row's estimates over
all redraws, that is the estimator's own expectation: bias against the truth of the
generator is not part of it.

What a redraw gives is appended to `build/coverage.csv`, so that a stopped run goes on.
Seeds were fixed before the first run.
"""

import argparse
import ast
import contextlib
import io
import re
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd

from helpers import paths, show, wording
from helpers.claims import results
from helpers.run.parameters import notebook_file

SEED = 20261201  # of the first redraw; each further one has the next number
NOTEBOOKS = {  # most important first, with numbers of draws that keep a redraw short
    "11_error_weights": {"n_boot": 1000},
    "14_assertiveness_confound": {"n_boot": 200},
    "21_weighted_aspect_regression": {"n_boot": 200, "n_splits": 20},
    "22_decision_tree": {"n_boot": 200, "n_splits": 10},
    "15_quality_vs_assertiveness": {"n_boot": 200},
    "51_crowd_vs_expert": {},
    "24_automatic_evaluators": {"n_boot": 200},
    "10_annotation_quality": {"n_boot": 200},
}
BOTH = ("jackknife", "raters and prompts")
ALPHA = ("jackknife of alpha", "raters and prompts")
REPEATED = ("jackknife of P(label | label)", "raters and prompts")
PROMPTS = ("jackknife", "prompts")
RATERS = ("jackknife", "raters")
FIXED = ("jackknife", "raters and prompts, labels fixed")
# What intervals of a cell leave out, where it is not raters and prompts: a pattern of
# the cell, one of its table and row, kind and clusters. The first that fits counts.
KINDS = (
    ("11-35", "", ("bootstrap", "prompts")),
    ("11-3[79]", r"for these labels|for_fixed|for_these_labels", FIXED),
    ("11-39", r"with_intervals 1\|", FIXED),
    ("11-41", "", PROMPTS),
    ("14-1[26]", "", ("Wilson", "prompts")),
    ("14-22", "share of workers", BOTH),
    ("14-29", r"every label|with_intervals 2|^table\|", BOTH),
    ("14-", "", PROMPTS),
    ("21-27", "only workers|with_intervals 2", RATERS),
    ("21-27", "only questions|with_intervals 3", PROMPTS),
    ("21-33", r"with_intervals 3\|", PROMPTS),
    ("22-18", "", ("bootstrap", "raters and prompts")),
    ("15-2[39]", "range of|with_intervals 2", ("bootstrap", "prompts")),
    ("51-1[24]", "", ("Wilson", "prompts")),
    ("51-16", r"each answer|^difference\|", PROMPTS),
    ("10-12", r", marks$|with_intervals 1\|", REPEATED),
    ("10-12", ", alpha$", ALPHA),
    ("10-17", r"alpha|with_intervals 1\|", ALPHA),
    ("10-19", "", ALPHA),
    ("10-34", r"with_intervals \d*[02468]\|", ALPHA),
    ("10-23", "", ("jackknife", "raters and texts")),
    ("10-26", "", ("Wilson", "raters and texts")),
    ("10-30", "", ("bootstrap", "raters")),
)
VALUES = ["estimate", "low", "high"]
KEY = ["notebook", "cell", "table", "row"]
COLUMNS = [*KEY[:1], "redraw", *KEY[1:], *VALUES]
LOWEST = 93.5
# Estimates so correlated over redraws, with lengths so equal, are one, shown again.
SAME_CORRELATION, SAME_LENGTH = 0.99, 0.05
FOUND = paths.BUILD / "coverage.csv"
COVERAGE = paths.DATA / "coverage.csv"


def tables_in(name: str, value: object, depth: int = 2) -> Iterator[tuple[str, object]]:
    """Find tables with intervals in what a cell binds or shows."""
    if isinstance(value, show.CaptionedTable):
        value = value.frame
    if isinstance(value, pd.DataFrame) and set(VALUES) <= set(value.columns):
        yield name, value
    elif isinstance(value, dict) and depth:
        for key, part in value.items():
            yield from tables_in(f"{name}[{key}]", part, depth - 1)


def rows_of(cell: str, name: str, table: pd.DataFrame) -> list[tuple]:
    """List a table's intervals; rows of one name are numbered."""
    numbers = table[VALUES].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    rows, times = [], Counter()
    for label, values in zip(table.index, numbers, strict=True):
        words = ", ".join(map(str, label if isinstance(label, tuple) else (label,)))
        times[words] += 1
        row = f"{words} ({times[words]})" if times[words] > 1 else words
        rows.append((cell, name, row, *values))
    return rows


def run_cell(source: str, variables: dict) -> object:
    """Run a cell and give the value of its last line, if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), variables)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), variables)


def collect(notebook: Path, parameters: dict) -> pd.DataFrame:
    """Run a notebook's cells with these parameters and collect its intervals."""
    variables = {"__name__": "notebook"}
    found, written = [], []
    write = wording.with_intervals

    def with_intervals(table: pd.DataFrame, decimals: int = 2) -> pd.Series:
        written.append(table)
        return write(table, decimals)

    with (
        mpl.rc_context({"backend": "Agg"}),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        mock.patch.object(wording, "with_intervals", with_intervals),
        mock.patch.object(show, "save"),
        mock.patch.object(results, "save"),
    ):
        warnings.simplefilter("ignore")
        for number, cell in enumerate(nbformat.read(notebook, as_version=4).cells):
            if cell.cell_type != "code" or "results.save(" in cell.source:
                continue
            before = dict(variables)
            written.clear()
            name = cell.get("id", str(number))
            try:
                shown = run_cell(cell.source, variables)
            except Exception as error:  # told with the rows that are left out
                found.append((name, "failed", repr(error)[:80], *[np.nan] * 3))
                continue
            finally:
                plt.close("all")
            if "parameters" in cell.metadata.get("tags", []):
                variables |= parameters
            values = {
                key: value
                for key, value in variables.items()
                if before.get(key) is not value and not key.startswith("_")
            }
            for place, table in enumerate(written):
                values[f"with_intervals {place + 1}"] = table
            values["shown"] = shown
            for key, value in values.items():
                for table_name, table in tables_in(key, value):
                    found += rows_of(name, table_name, table)
    return pd.DataFrame(found, columns=[*KEY[1:], *VALUES])


def kind_of(cell: str, table: str, row: str) -> tuple[str, str]:
    """Tell the kind of an interval, and what is left out or resampled for it."""
    for of_cell, of_row, kind in KINDS:
        if re.match(of_cell, cell) and re.search(of_row, f"{table}|{row}"):
            return kind
    return BOTH


def are_one(first: np.ndarray, second: np.ndarray) -> bool:
    """Tell whether two rows are one, in other units, rounded or with the other sign."""
    both_there = ~np.isnan(first + second).any(axis=0)
    first, second = first[:, both_there], second[:, both_there]
    lengths = []
    for estimate, low, high in (first, second):
        lengths.append(np.median(high - low) / estimate.std())
    correlation = abs(np.corrcoef(first[0], second[0])[0, 1])
    is_as_long = abs(lengths[0] - lengths[1]) <= SAME_LENGTH * lengths[1]
    return correlation > SAME_CORRELATION and is_as_long


def covers(found: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tell which intervals of which redraws cover, and which rows are left out.

    Both have a row for each row of a table: its redraws as columns, or a reason.
    Redraws in which a cell failed are missing values. An estimate is part of the mean
    that is its target, which brings them closer by the square root of 1 - 1 / redraws;
    the distance is corrected for that.
    """
    failed = found[found["table"] == "failed"]
    failed = failed.groupby(["notebook", "cell"])["redraw"].agg(set)
    found = found[found["table"] != "failed"]
    wide = found.set_index([*KEY, "redraw"])[VALUES].unstack("redraw")
    redraws = wide["estimate"].columns
    order = found.drop_duplicates(KEY).set_index(KEY).index
    reasons, kept, seen = {}, {}, defaultdict(list)
    for key, row in wide.loc[order].iterrows():
        ran = ~redraws.isin(failed.get(key[:2], set()))
        n = ran.sum()
        numbers = np.array([row[value] for value in VALUES])
        estimate, low, high = numbers[:, ran]
        is_missing = np.isnan(numbers[:, ran]).any(axis=0)
        kind = kind_of(*key[1:])
        if is_missing.any():
            reasons[key] = f"missing in {is_missing.sum()} of {n} redraws"
        elif np.ptp(estimate) < 1e-12:
            reasons[key] = "does not vary"
        elif any(are_one(numbers, other) for other in seen[kind]):
            reasons[key] = "shown before"
        else:
            seen[kind].append(numbers)
            distance = (estimate - estimate.mean()) * np.sqrt(n / (n - 1))
            target = estimate - distance
            holds = pd.Series(np.nan, redraws)
            holds[ran] = ((low <= target) & (target <= high)).astype(float)
            kept[key] = holds
    left_out = pd.Series(reasons, dtype=object).rename_axis(KEY).reset_index(name="why")
    for (notebook, cell), numbers in failed.items():
        why = f"cell failed in {len(numbers)} of {len(redraws)} redraws"
        left_out.loc[len(left_out)] = [notebook, cell, "", "", why]
    index = pd.MultiIndex.from_tuples(kept, names=KEY)
    return pd.DataFrame(list(kept.values())).set_axis(index), left_out


def pooled(covered: pd.DataFrame) -> pd.DataFrame:
    """Pool rows of one kind in one notebook.

    The simulation error is the binomial one of all intervals, or that of the redraws'
    shares if it is larger, since rows of one redraw depend on each other.
    """
    keys = covered.index.to_frame(index=False)
    kinds = [kind_of(*key) for key in keys[KEY[1:]].to_numpy()]
    whose = [keys["notebook"], *map(list, zip(*kinds, strict=True))]
    rows = []
    for key, part in covered.reset_index(drop=True).groupby(whose, sort=False):
        share = np.nanmean(part)
        binomial = np.sqrt(share * (1 - share) / part.count().sum())
        n_redraws = part.notna().any().sum()
        by_redraw = part.mean().std() / np.sqrt(n_redraws)
        error = max(binomial, by_redraw)
        rows.append((*key, len(part), n_redraws, 100 * share, 100 * error))
    names = [
        "notebook",
        "kind",
        "clusters",
        "rows",
        "redraws",
        "coverage %",
        "simulation error",
    ]
    return pd.DataFrame(rows, columns=names)


def read() -> pd.DataFrame:
    """Read what was drawn so far; words such as "none" are no missing values."""
    if not FOUND.exists():
        return pd.DataFrame(columns=COLUMNS)
    missing = {value: [""] for value in VALUES}
    return pd.read_csv(FOUND, keep_default_na=False, na_values=missing)


def draw(names: list[str], redraws: int, until: float) -> None:
    """Append redraws of notebooks to the file, as far as time allows."""
    done = set(read()[["notebook", "redraw"]].itertuples(index=False, name=None))
    FOUND.parent.mkdir(exist_ok=True)
    for name in names:
        for number in range(redraws):
            if (name, number) in done:
                continue
            started = time.monotonic()
            if started > until:
                return
            given = {"data_source": "simulated", "seed": SEED + number}
            found = collect(notebook_file(name), NOTEBOOKS[name] | given)
            found = found.assign(notebook=name, redraw=number)[COLUMNS]
            found.to_csv(FOUND, mode="a", header=not FOUND.exists(), index=False)
            seconds = time.monotonic() - started
            print(f"{name} {number}: {len(found)} rows, {seconds:.1f} s", flush=True)


def main() -> None:
    """Draw, then write the table and list what is left out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notebooks", nargs="*", default=list(NOTEBOOKS))
    parser.add_argument("--redraws", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--out", type=Path, default=COVERAGE)
    given = parser.parse_args()
    draw(given.notebooks, given.redraws, time.monotonic() + 60 * given.minutes)
    tables, left_out, rows = [], [], []
    for _, found in read().groupby("notebook", sort=False):
        if found["redraw"].max() > 0:
            covered, without = covers(found)
            tables.append(pooled(covered))
            left_out.append(without)
            rows.append((100 * covered.mean(axis="columns")).rename("coverage"))
    table = pd.concat(tables).assign(date=time.strftime("%Y-%m-%d"))
    table.round(1).to_csv(given.out, index=False, lineterminator="\n")
    pd.concat(left_out).to_csv(FOUND.with_name("coverage_left_out.csv"), index=False)
    pd.concat(rows).round(1).to_csv(FOUND.with_name("coverage_rows.csv"))
    fails = table["coverage %"] + 1.96 * table["simulation error"] < LOWEST
    print(table.round(1).assign(fails=fails).to_string())


if __name__ == "__main__":
    main()
