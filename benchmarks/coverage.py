"""How often the intervals in notebooks cover, measured on redrawn studies.

Run `python -m benchmarks.coverage`. A notebook's own code cells run in this process, on
studies with new raters, prompts and answers, drawn from models that are fitted to the
released ratings (`benchmarks.redrawn`). Figures are closed and nothing is saved; cells
that save results are passed over. Collected is every table with estimate, low and high
that a cell binds, shows or writes with `with_intervals`. The target of an interval is
the estimate of the same row on a large study, with `COPIES` times as many raters,
prompts and answers, averaged over `LARGE` of them. Where there is none, it is the mean
of the row's estimates over all redraws, and the table says so.

Each redraw is a file in `build/coverage`, so that a stopped run goes on. Seeds were
fixed before the first run.
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
from functools import cache
from pathlib import Path
from unittest import mock

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd

from benchmarks import redrawn
from helpers import paths, show, wording
from helpers.claims import results
from helpers.run.parameters import notebook_file
from helpers.stats import jackknife

SEED = 20261201  # of the first redraw; each further one has the next number
SEED_LARGE = 20261101  # of the first large study
LARGE = 2  # large studies of each notebook
COPIES = 20  # times as many raters and prompts in a large study
FEW = {"n_boot": 20, "n_splits": 5}  # of a large study, of which only estimates count
NOTEBOOKS = {  # most important first, with numbers of draws that keep a redraw short
    "11_error_weights": {"n_boot": 1000},
    "14_assertiveness_confound": {"n_boot": 1000},
    "21_weighted_aspect_regression": {"n_boot": 1000, "n_splits": 20},
    "22_decision_tree": {"n_boot": 1000, "n_splits": 10},
    "15_quality_vs_assertiveness": {"n_boot": 1000},
    "51_crowd_vs_expert": {},
    "24_automatic_evaluators": {"n_boot": 1000},
    "10_annotation_quality": {"n_boot": 1000},
}
FIXED = {  # what is the same in all redraws, besides who rates which answer
    "14_assertiveness_confound": "one expert",
    "51_crowd_vs_expert": "one expert",
    "24_automatic_evaluators": "automatic judges",
}
BOTH = ("jackknife", "raters and prompts")
FOR_LABELS = ("jackknife", "raters and prompts, labels fixed")
PROMPTS = ("jackknife", "prompts")
RATERS = ("jackknife", "raters")
WILSON = ("Wilson", "prompts")
RESAMPLED = ("bootstrap", "prompts")
IF_OTHER = ("Wilson, second check after a label", "raters and prompts")
IF_NONE = ("Wilson, second check after none", "raters and prompts")
SAME = ("Wilson, same answer", "raters and prompts")
AHEAD = ("jackknife of differences of models", "raters and prompts")
OF_LABELS = ("jackknife of alpha of labels", "raters and prompts")
OF_SCORES = ("jackknife of alpha of scores", "raters and prompts")
# What intervals leave out, where it is not raters and prompts: a pattern of the code of
# a cell, one of a table and row, kind and clusters. The first that fits counts.
KINDS = (
    (r"lasso_bootstrap\(", "", RESAMPLED),
    (r"helpers\.tree\(", "", ("bootstrap", "raters and prompts")),
    (r"baseline=\"regression\"", r"^ahead\||with_intervals", AHEAD),
    (r"llama_against|against\.items", r"range of|with_intervals 2\|", RESAMPLED),
    (r"for_these_labels", r"for.these.labels|for_fixed|with_intervals 1\|", FOR_LABELS),
    (r"\"response\"\]", "", ("Wilson", "raters and texts")),
    (r"against_same_text|compared\.items", "", ("jackknife", "raters and texts")),
    (r"labelled_by_crowd\(|\brates\(", "", WILSON),
    (r"by_share", r"share of workers", BOTH),
    (r"by_share", "", PROMPTS),
    (r"\"every label\"", r"every label|with_intervals 2\||^table\|", BOTH),
    (r"only workers", r"only workers|with_intervals 2\|", RATERS),
    (r"only questions", r"only questions|with_intervals 3\|", PROMPTS),
    (r"only questions left out", r"with_intervals 3\|", PROMPTS),
    (r"each_label = ", r"each label|^each_label\||^marks\|", BOTH),
    (r"second_checks\(", r", marks$|with_intervals 1\|", IF_OTHER),
    (r"second_checks\(", r", marks none$|with_intervals 2\|", IF_NONE),
    (r"second_checks\(", "", SAME),
    (r"agreement\(five, errors\)", r"alpha|with_intervals 1\|", OF_LABELS),
    (r"agreement\(rows, ", r"with_intervals \d*[02468]\|", OF_LABELS),
    (r"agreement\(rated_often, ", "", OF_SCORES),
    (r"clusters=\"prompt_id\"|hosking_tone\.changes|selection_bounds", "", PROMPTS),
)
VALUES = ["estimate", "low", "high"]
KEY = ["notebook", "cell", "table", "row"]
COLUMNS = [*KEY[:1], "redraw", *KEY[1:], *VALUES]
LOWEST = 93.5
MOST_MISSING = 0.1  # share of redraws without a row, beyond which it is left out
# Estimates so correlated over redraws, with lengths so equal, are one, shown again.
SAME_CORRELATION, SAME_LENGTH = 0.99, 0.05
FOUND = paths.BUILD / "coverage"
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
        # a count or share in a name differs between redraws
        words = re.sub(r" \(of \d+\)|, [\d.]+ %$", "", words)
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


@cache
def sources(notebook: str) -> dict[str, str]:
    """Give the code of a notebook's cells."""
    cells = nbformat.read(notebook_file(notebook), as_version=4).cells
    return {cell.get("id", str(n)): cell.source for n, cell in enumerate(cells)}


def kind_of(notebook: str, cell: str, table: str, row: str) -> tuple[str, str]:
    """Tell the kind of an interval, and what is left out or resampled for it."""
    for of_source, of_row, kind in KINDS:
        is_here = re.search(of_source, sources(notebook)[cell])
        if is_here and re.search(of_row, f"{table}|{row}"):
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

    Both have a row for each row of a table: its redraws as columns, and whether its
    target is that of large studies; or a reason. Redraws without the row are missing
    values. The target has a variance of its own, which sets estimates farther from it;
    if it is the mean over redraws, they are part of it, which brings them closer. Both
    are known shares of the variance of an estimate, and the distance is corrected.
    """
    failed = found[(found["table"] == "failed") & (found["redraw"] >= 0)]
    failed = failed.groupby(["notebook", "cell"])["redraw"].agg(set)
    found = found[found["table"] != "failed"]
    is_large = found["redraw"] < 0
    of_large = found[is_large].groupby(KEY)["estimate"].agg(["mean", "count"])
    wide = found[~is_large].set_index([*KEY, "redraw"])[VALUES].unstack("redraw")
    redraws = wide["estimate"].columns
    order = found[~is_large].drop_duplicates(KEY).set_index(KEY).index
    reasons, kept, seen = {}, {}, defaultdict(list)
    for key, row in wide.loc[order].iterrows():
        numbers = np.array([row[value] for value in VALUES])
        ran = ~redraws.isin(failed.get(key[:2], set()))
        is_there = ~np.isnan(numbers).any(axis=0)
        estimate, low, high = numbers[:, is_there]
        n, kind = is_there.sum(), kind_of(*key)
        if (ran & ~is_there).sum() > MOST_MISSING * ran.sum():
            missing = (ran & ~is_there).sum()
            reasons[key] = f"missing in {missing} of {ran.sum()} redraws"
        elif np.ptp(estimate) < 1e-12:
            reasons[key] = "does not vary"
        elif any(are_one(numbers, other) for other in seen[kind]):
            reasons[key] = "shown before"
        else:
            seen[kind].append(numbers)
            has_large = key in of_large.index and of_large.loc[key, "count"] > 0
            if has_large:
                n_studies = COPIES * of_large.loc[key, "count"]
                distance = estimate - of_large.loc[key, "mean"]
                distance /= np.sqrt(1 + 1 / n_studies)
            else:
                distance = (estimate - estimate.mean()) * np.sqrt(n / (n - 1))
            target = estimate - distance
            holds = pd.Series(np.nan, redraws)
            holds[is_there] = ((low <= target) & (target <= high)).astype(float)
            kept[*key, has_large] = holds
    left_out = pd.Series(reasons, dtype=object).rename_axis(KEY).reset_index(name="why")
    for (notebook, cell), numbers in failed.items():
        why = f"cell failed in {len(numbers)} of {len(redraws)} redraws"
        left_out.loc[len(left_out)] = [notebook, cell, "", "", why]
    index = pd.MultiIndex.from_tuples(kept, names=[*KEY, "large"])
    return pd.DataFrame(list(kept.values())).set_axis(index), left_out


def pooled(covered: pd.DataFrame, of_mean: pd.DataFrame) -> pd.DataFrame:
    """Pool rows of one kind in one notebook, and those whose target is the mean.

    The simulation error is the binomial one of all intervals, or that of the redraws'
    shares if it is larger, since rows of one redraw depend on each other.
    """
    keys = covered.index.to_frame(index=False)
    kinds = [kind_of(*key) for key in keys[KEY].to_numpy()]
    target = np.where(keys["large"], "large study", "mean of redraws")
    whose = [keys["notebook"], *map(list, zip(*kinds, strict=True)), target]
    rows = []
    for key, part in covered.reset_index(drop=True).groupby(whose, sort=False):
        share = np.nanmean(part)
        binomial = np.sqrt(share * (1 - share) / part.count().sum())
        n_redraws = part.notna().any().sum()
        by_redraw = part.mean().std() / np.sqrt(n_redraws)
        error = max(binomial, by_redraw)
        fixed = FIXED.get(key[0], "")
        shares = [share, error, np.nanmean(of_mean.to_numpy()[part.index])]
        rows.append((*key, fixed, len(part), n_redraws, *(100 * np.array(shares))))
    names = [
        "notebook",
        "kind",
        "clusters",
        "target",
        "fixed",
        "rows",
        "redraws",
        "coverage %",
        "simulation error",
        "of mean of redraws %",
    ]
    return pd.DataFrame(rows, columns=names)


def as_markdown(table: pd.DataFrame) -> str:
    """Write the table for benchmarks/README.md; what fails is bold."""
    heading = ["notebook", "kind", "clusters", "rows", "redraws", "coverage, %"]
    heading += ["error", "of the mean, %"]
    lines = [f"| {' | '.join(heading)} |", "|---" * len(heading) + "|"]
    for row in table.round(1).to_dict("records"):
        coverage, error = row["coverage %"], row["simulation error"]
        share = f"**{coverage}**" if coverage + 1.96 * error < LOWEST else coverage
        kind = row["kind"] + " *" * (row["target"] != "large study")
        lines.append(
            f"| {row['notebook'][:2]} | {kind} | {row['clusters']} | {row['rows']} "
            f"| {row['redraws']} | {share} | {error} | {row['of mean of redraws %']} |"
        )
    return "\n".join(lines)


def read() -> pd.DataFrame:
    """Read what was drawn so far; words such as "none" are no missing values."""
    missing = {value: [""] for value in VALUES}
    tables = [
        pd.read_csv(file, keep_default_na=False, na_values=missing)
        for file in sorted(FOUND.glob("*.csv"))
    ]
    return pd.concat(tables) if tables else pd.DataFrame(columns=COLUMNS)


def draw(name: str, number: int) -> pd.DataFrame:
    """Run a notebook on a redrawn study; a negative number is that of a large one."""
    parameters = NOTEBOOKS[name] | {"data_source": "simulated"}
    seed, copies = SEED + number, 1
    if number < 0:
        seed, copies = SEED_LARGE - number, COPIES
        parameters |= {key: FEW[key] for key in FEW if key in parameters}
    with contextlib.ExitStack() as stack:
        stack.enter_context(redrawn.in_force(redrawn.Drawn(seed, copies)))
        if number < 0:
            without_intervals = mock.patch.object(jackknife, "_changes", no_changes)
            stack.enter_context(without_intervals)
        found = collect(notebook_file(name), parameters | {"seed": seed})
    return found.assign(notebook=name, redraw=number)[COLUMNS]


def no_changes(_: object, estimate: np.ndarray, __: np.ndarray) -> np.ndarray:
    """In place of a jackknife that takes hours on a large study: no real changes."""
    return np.full((2, len(estimate)), 1e-3)


def run(names: list[str], numbers: list[int], until: float) -> None:
    """Write a file for each redraw, all notebooks in turn, as far as time allows."""
    FOUND.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        for name in names:
            file = FOUND / f"{name}_{number}.csv"
            if file.exists():
                continue
            started = time.monotonic()
            if started > until:
                return
            found = draw(name, number)
            partial = file.with_suffix(".part")
            found.to_csv(partial, index=False)
            partial.rename(file)
            seconds = time.monotonic() - started
            print(f"{name} {number}: {len(found)} rows, {seconds:.1f} s", flush=True)


def main() -> None:
    """Draw, then write the table and list what is left out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notebooks", nargs="*", default=list(NOTEBOOKS))
    parser.add_argument("--redraws", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument(
        "--part", default="1/1", help="such as 1/2, one of two processes"
    )
    parser.add_argument("--out", type=Path, default=COVERAGE)
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    # large studies come after the first redraws, which show whether all cells run
    numbers = [*range(4), *range(-1, -LARGE - 1, -1), *range(4, given.redraws)]
    numbers = [number for number in numbers if number % parts == part - 1]
    run(given.notebooks, numbers, time.monotonic() + 60 * given.minutes)
    if part < parts:
        return
    tables, left_out, rows = [], [], []
    of_notebook = dict(list(read().groupby("notebook")))
    for name in NOTEBOOKS:
        found = of_notebook.get(name)
        if found is not None and found["redraw"].max() > 0:
            covered, without = covers(found)
            of_mean, _ = covers(found[found["redraw"] >= 0])
            tables.append(pooled(covered, of_mean))
            left_out.append(without)
            rows.append((100 * covered.mean(axis="columns")).rename("coverage"))
    table = pd.concat(tables).assign(date=time.strftime("%Y-%m-%d"))
    table.round(1).to_csv(given.out, index=False, lineterminator="\n")
    pd.concat(left_out).to_csv(paths.BUILD / "coverage_left_out.csv", index=False)
    pd.concat(rows).round(1).to_csv(paths.BUILD / "coverage_rows.csv")
    print(as_markdown(table))


if __name__ == "__main__":
    main()
