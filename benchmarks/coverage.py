"""How often the intervals that notebooks print hold the truth, measured on data drawn anew.

A notebook runs while `recording` keeps each call that gives an interval: the function,
its tables and all other arguments, with the calls that led to it. `measure` takes these
tables for all there is, so that their own numbers are the truth, draws data sets of the
same size from them, whole clusters at a time, and makes the very same calls again.
"""

import functools
import importlib
import inspect
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from helpers import paths
from helpers.data.tables import to_csv_bytes
from helpers.robustness.coverage import AT_ONCE, TRUTH_ZERO
from helpers.run.code import run_code
from helpers.run.notebooks import notebook_names
from helpers.stats.groups import interval_table

ROUNDING = 1e-9  # an interval may miss the truth by so much, as a share of it
KINDS = {
    "stats.bootstrap.bootstrap_means": "mean",
    "stats.groups.group_means": "mean of a group",
    "stats.groups.group_mean_draws": "mean of a group",
    "stats.groups.median_table": "median",
    "stats.groups.mean_differences": "difference of means",
    "stats.groups.paired_differences": "difference within prompts",
    "stats.lasso.lasso_bootstrap": "Lasso weight",
    "stats.lasso.ols": "least squares by cluster",
    "stats.lasso.weight_meanings": "least squares by cluster",
    "stats.clustered.Estimates.table": "model of single ratings",
    "stats.rates.error_rates": "rate in a group (Wilson)",
    "stats.rates.crowd_expert_gap": "crowd minus experts",
    "stats.rates.arm_contrasts": "change between arms",
    "stats.rates.rate_slopes": "slope of an error rate",
    "stats.aspects.bootstrap_weights": "weight of an aspect",
    "stats.lines.Curve.band": f"curve, {AT_ONCE}",
    "stats.lines.Curve.changes": "change along a curve",
    "stats.lines.adjusted_slope": "adjusted slope",
    "stats.lines.binned_means": "mean in a bin",
    "stats.lines.CellSums.lines": "slope of a line",
    "stats.lines.CellSums.ranges": "range over arms",
    "stats.correlations.bootstrap_correlations": "correlation of ratings",
    "stats.correlations.measure_correlations": "correlation of ratings",
    "stats.correlations.compare_correlations": "correlation and difference",
    "stats.correlations.compare_evaluators": "correlation of a judge",
    "stats.correlations.evaluator_differences": "gain of a judge",
    "stats.agreement.agreement_table": "agreement",
    "stats.agreement.pooled_alpha": "alpha of several scales",
    "stats.agreement.rank_shares": "share of checks (Wilson)",
    "stats.agreement.against_partner": "distractor minus partner",
    "stats.agreement.against_system": "distractor minus partner",
    "stats.agreement.against_same_text": "distractor minus partner",
    "stats.accuracy.noisy_correlation": "question-level correlation",
    "studies.answerers.accuracy_by_age": "share of right answers at an age",
}
STEPS = (
    "stats.bootstrap.cluster_weights",
    "stats.moments.cluster_moments",
    "stats.aspects.rater_pairs",
    "stats.lines.fit_curve",
    "stats.lines.cell_sums",
    "stats.ordinal.fit",
    "stats.ordinal.CumulativeLogit.effects",
    "stats.ordinal.CumulativeLogit.log_odds",
    "stats.ordinal.cut_by_cut",
    "stats.ordinal.from_first_to_last_cut",
    "stats.clustered.fit_linear_probability",
    "stats.clustered.mark_contrasts",
    "stats.clustered.Estimates.minus",
    "stats.clustered.Estimates.pick",
    "stats.clustered.Estimates.times",
)
PROMPTS = "prompt_id"  # clusters of functions that take no other
SIMULATED = ("32_user_simulator",)  # its users are simulated even beside real data
LONG_RUN = {"n_sets": 100, "n_boot": 300, "seed": 20240917}


@dataclass(frozen=True, eq=False)
class Call:
    """A call that gives an interval if it has a kind, and else is a step towards one."""

    kind: str
    function: Callable
    arguments: Mapping[str, object]
    where: str = ""

    def tables(self) -> list[pd.DataFrame]:
        """All tables that this call and those before it were given."""
        found = []
        for value in _flat(self.arguments):
            found += value.tables() if isinstance(value, Call) else []
            found += [value] if isinstance(value, pd.DataFrame | pd.Series) else []
        return found

    def clusters(self) -> list[str]:
        """Columns whose values share rows: one, or two for raters and prompts at once."""
        named = [
            self.arguments[name]
            for name in ("cluster", "pair")
            if name in self.arguments
        ]
        if isinstance(self.arguments.get("clusters"), pd.DataFrame):
            return list(self.arguments["clusters"])
        if isinstance(self.arguments.get("clusters"), pd.Series):
            return ["cluster"]
        before = [
            call.clusters() for call in _flat(self.arguments) if isinstance(call, Call)
        ]
        return named or next(filter(None, before), [PROMPTS])

    def again(
        self, sample: Callable, n_boot: int, rng: object, done: dict | None = None
    ) -> object:
        """Make this call, and those before it, with other tables and random numbers."""
        done = {} if done is None else done
        if self not in done:

            def given(name: str, value: object) -> object:
                if isinstance(value, Call):
                    return value.again(sample, n_boot, rng, done)
                if isinstance(value, np.random.Generator):
                    return rng
                if isinstance(value, dict):
                    return {key: given("", each) for key, each in value.items()}
                if name == "seed":
                    return int(rng.integers(2**32))
                return n_boot if name == "n_boot" else sample(value)

            arguments = {
                name: given(name, value) for name, value in self.arguments.items()
            }
            done[self] = self.function(**arguments)
        return done[self]


def _flat(arguments: Mapping[str, object]) -> Iterator[object]:
    """Values of arguments, and of mappings among them."""
    for value in arguments.values():
        yield from _flat(value) if isinstance(value, dict) else [value]


@contextmanager
def recording() -> Iterator[list[Call]]:
    """Keep the calls of functions that give intervals, while the `with` block runs.

    Yields
    ------
    list of Call
        Filled as the calls are made; those inside other ones are left out. A function
        must be called by its module (``groups.group_means``), or imported inside the
        block.

    Examples
    --------
    >>> from helpers.stats import lasso
    >>> frame = pd.DataFrame({"error": [0, 1, 0, 1], "score": [5.0, 1.0, 4.0, 1.0]})
    >>> with recording() as calls:
    ...     table = lasso.ols(frame.assign(prompt_id=[1, 1, 2, 2]), ["error"], "score", "prompt_id")
    >>> [call.kind for call in calls]
    ['least squares by cluster']
    """
    calls, made, inside = [], {}, []

    def traced(value: object) -> object:
        if isinstance(value, dict):
            return {key: traced(each) for key, each in value.items()}
        return made[id(value)][1] if id(value) in made else value

    def kept(function: Callable, kind: str) -> Callable:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def recorded(*args: object, **settings: object) -> object:
            if inside:
                return function(*args, **settings)
            inside.append(function)
            try:
                result = function(*args, **settings)
            finally:
                inside.pop()
            bound = signature.bind(*args, **settings)
            bound.apply_defaults()
            known = "" if bound.arguments.get("weights", bound) is None else kind
            call = Call(
                known,
                function,
                {name: traced(v) for name, v in bound.arguments.items()},
            )
            made[id(result)] = result, call
            for place, part in enumerate(result if isinstance(result, tuple) else ()):
                step = Call("", _part, {"whole": call, "place": place})
                made[id(part)] = part, step
            calls.append(call)
            return result

        return recorded

    replaced = []
    for path, kind in [*KINDS.items(), *((path, "") for path in STEPS)]:
        owner, name = _owner(path)
        replaced.append((owner, name, getattr(owner, name)))
        setattr(owner, name, kept(getattr(owner, name), kind))
    try:
        yield calls
    finally:
        for owner, name, function in replaced:
            setattr(owner, name, function)


def _part(whole: tuple, place: int) -> object:
    """One of several results of a call."""
    return whole[place]


def _owner(path: str) -> tuple[object, str]:
    """Module or class that holds a function, and the function's name in it."""
    room, module, *names = path.split(".")
    owner = importlib.import_module(f"helpers.{room}.{module}")
    return functools.reduce(getattr, names[:-1], owner), names[-1]


def printed_by(notebook: Path, parameters: Mapping[str, object]) -> list[Call]:
    """Run a notebook's code in this process and keep the calls that give intervals."""
    with recording() as calls:
        run_code(notebook, parameters)
    return [replace(call, where=notebook.stem[:2]) for call in calls if call.kind]


class EachOnce:
    """Stands in for random numbers: a resample that takes every cluster once."""

    def integers(self, n: int, size: tuple[int, int]) -> np.ndarray:
        """Give all numbers below n in each row."""
        return np.tile(np.arange(n), (size[0], 1))


def intervals_of(
    call: Call, sample: Callable, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Make a call and give ``estimate``, ``low`` and ``high`` by statistic."""
    result = call.again(sample, n_boot, rng)
    if isinstance(result, tuple):
        return _named(interval_table(*result))
    if isinstance(result, Mapping):
        result = pd.DataFrame([result])
    if isinstance(result, pd.DataFrame):
        stems = [name[:-4] for name in result if str(name).endswith("_low")]
        stems += [""] if "low" in result else []
        if stems:
            return _bounds(result, stems)
    found, draws = (
        _pairs(np.asarray(getattr(each, "slope", each), dtype=float))
        for each in (call.again(sample, 1, EachOnce()), result)
    )
    names = (
        result.columns
        if isinstance(result, pd.DataFrame)
        else call.arguments.get("columns")
    )
    found, draws = (
        pd.Series(found.reshape(len(found), -1)[0]),
        draws.reshape(len(draws), -1),
    )
    found.index = (
        names if names is not None and len(names) == len(found) else found.index
    )
    return _named(interval_table(found, pd.DataFrame(draws, columns=found.index)))


def _pairs(draws: np.ndarray) -> np.ndarray:
    """Of matrices of correlations, each pair of columns once; anything else as it is."""
    return draws[:, *np.triu_indices(draws.shape[1], 1)] if draws.ndim == 3 else draws


def _bounds(table: pd.DataFrame, stems: list[str]) -> pd.DataFrame:
    """Take estimates and limits from a table, each statistic named by the table's words."""
    words = table.select_dtypes(exclude="number")
    if not pd.api.types.is_numeric_dtype(table.index):
        words = pd.concat([table.index.to_frame(), words], axis="columns")
    if "x" in table and len(words.columns):
        words = words.assign(x=table["x"].round(6))  # a bin may be empty in a draw
    labels = [", ".join(map(str, row)) for row in words.to_numpy()]
    if not len(words.columns):
        labels = [str(row) for row in range(len(table))]
    parts = []
    for stem in stems:
        columns = [
            stem or "estimate",
            f"{stem}_low".lstrip("_"),
            f"{stem}_high".lstrip("_"),
        ]
        part = table[columns].set_axis(["estimate", "low", "high"], axis="columns")
        parts.append(part.set_axis([f"{stem} {label}".strip() for label in labels]))
    return _named(pd.concat(parts))


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Tell statistics with equal names apart by numbers."""
    words = table.index.map(
        lambda key: ", ".join(map(str, key)) if isinstance(key, tuple) else key
    )
    names = pd.Series(words.astype(str))
    again = names.groupby(names).cumcount()
    return table.set_axis(
        names.where(again == 0, names + " " + again.astype(str)).to_list()
    )


class Population:
    """The tables of a call, from which others of the same size are drawn, cluster by cluster."""

    def __init__(self, call: Call) -> None:
        self.clusters = call.clusters()
        # labels that stand beside a table, if any
        self.beside = call.arguments.get("clusters")
        tables = [
            table for table in map(self._labelled, call.tables()) if table is not None
        ]
        self.labels = [
            pd.unique(pd.concat(t[c] for t in tables)) for c in self.clusters
        ]
        self._inside = {}

    def draw(self, rng: np.random.Generator) -> Callable[[object], object]:
        """Draw clusters with replacement; give the function that draws a table accordingly."""
        times = {
            column: pd.Series(
                np.bincount(
                    rng.integers(len(each), size=len(each)), minlength=len(each)
                ),
                each,
            )
            for column, each in zip(self.clusters, self.labels, strict=True)
        }
        return functools.partial(self._sample, times)

    def _labelled(self, table: object) -> pd.DataFrame | None:
        """The table with its clusters as columns, or None if it does not have them."""
        index = getattr(table, "index", None)
        if isinstance(self.beside, pd.Series) and self.beside.index.equals(index):
            return pd.DataFrame(table).assign(**{self.clusters[0]: self.beside})
        if isinstance(table, pd.DataFrame) and set(self.clusters) <= set(table):
            return table
        return None

    def _sample(self, times: Mapping[str, pd.Series], table: object) -> object:
        """Repeat the rows of a table as often as their clusters were drawn, under new labels."""
        full = self._labelled(table)
        if full is None:
            return table
        each = [full[column].map(drawn).to_numpy() for column, drawn in times.items()]
        rows = np.repeat(np.arange(len(full)), np.prod(each, axis=0))
        copy = np.arange(len(rows)) - np.searchsorted(rows, rows)
        *other, last = self.clusters
        copies = {last: copy % each[-1][rows]} | dict.fromkeys(
            other, copy // each[-1][rows]
        )
        if id(table) not in self._inside:
            self._inside[id(table)] = table, _nested(full, last, self.clusters)
        copies |= dict.fromkeys(self._inside[id(table)][1], copies[last])
        sample = full.take(rows).reset_index(drop=True)
        for column, number in copies.items():
            codes = pd.factorize(sample[column])[0]
            sample[column] = codes * (number.max(initial=0) + 1) + number
        if isinstance(table, pd.Series):
            return sample[last]
        return sample[list(table)]


def _nested(table: pd.DataFrame, cluster: str, clusters: list[str]) -> list[str]:
    """Columns of labels, such as items, each of which belongs to one cluster."""
    names = [name for name in table if str(name).endswith("_id") or name == "unit"]
    return [
        name
        for name in names
        if name not in clusters
        and table.groupby(name, observed=True)[cluster].nunique().max() == 1
    ]


def measure(call: Call, n_sets: int, n_boot: int, seed: int) -> pd.DataFrame:
    """Make a call on data sets drawn anew and see whether its intervals hold the truth.

    Parameters
    ----------
    call : Call
        From `recording`.
    n_sets : int
        Data sets; those of a shorter run are the first of a longer one.
    n_boot : int
        Bootstrap replicates of each interval.
    seed : int
        Of the random numbers.

    Returns
    -------
    pandas.DataFrame, shape (n_sets, n_statistics)
        1 where the interval holds the number of the whole table, 0 where it does not,
        missing where there is no interval. Intervals that are meant to hold together
        are one column. The columns name the kind of interval, with ", truth zero" where
        zero is the truth, and the statistic.
    """
    rng = np.random.default_rng(seed)
    population = Population(call)
    truth = intervals_of(call, lambda table: table, n_boot, rng)["estimate"].dropna()
    slack = ROUNDING * truth.abs() + ROUNDING
    covered = []
    for _ in range(n_sets):
        try:
            found = intervals_of(call, population.draw(rng), n_boot, rng).reindex(
                truth.index
            )
        except (ValueError, np.linalg.LinAlgError):
            found = pd.DataFrame(np.nan, truth.index, ["low", "high"])
        holds = (found["low"] <= truth + slack) & (found["high"] >= truth - slack)
        covered.append(holds.astype(float).where(found["low"].notna()))
    table = pd.DataFrame(covered).reset_index(drop=True)
    if call.kind.endswith(AT_ONCE):
        table = table.min(axis="columns", skipna=False).to_frame("all")
        truth = pd.Series(1.0, table.columns)
    kinds = np.where(truth == 0, call.kind + TRUTH_ZERO, call.kind)
    return table.set_axis(
        pd.MultiIndex.from_arrays([kinds, truth.index]), axis="columns"
    )


def count(covered: pd.DataFrame) -> pd.DataFrame:
    """Count for each statistic how many intervals hold the truth."""
    by_set = covered.mean(axis="columns").dropna()
    share, variance = by_set.mean(), by_set.var(ddof=1) / len(by_set)
    effective = share * (1 - share) / variance if variance > 0 else len(by_set)
    return pd.DataFrame(
        {
            "covered": covered.eq(1).sum(),
            "missed": covered.eq(0).sum(),
            "undefined": covered.isna().sum(),
            "effective": effective,
        }
    )


def measure_all(
    calls: list[Call], n_sets: int, n_boot: int, seed: int, n_jobs: int = 1
) -> pd.DataFrame:
    """Measure the coverage of many calls.

    Parameters
    ----------
    calls : list of Call
        From `recording`; those that are mere steps are passed over.
    n_sets, n_boot, seed : int
        As for `measure`.
    n_jobs : int, optional
        Processes.

    Returns
    -------
    pandas.DataFrame
        Numbers of intervals that ``covered`` and ``missed`` the truth or were
        ``undefined``, and the ``effective`` number of independent ones, by ``interval``
        (its kind), ``notebook`` and ``statistic``.
    """
    calls = [call for call in calls if call.kind]
    task = joblib.delayed(measure)
    results = joblib.Parallel(n_jobs)(
        task(call, n_sets, n_boot, seed) for call in calls
    )
    counts = {}
    for number, (call, covered) in enumerate(zip(calls, results, strict=True), 1):
        for kind in covered.columns.unique(0):
            part = count(covered[kind]).rename(
                index=lambda name, n=number: f"{n}: {name}"
            )
            counts[kind, call.where, number] = part
    table = pd.concat(counts, names=["interval", "notebook", "call", "statistic"])
    return table.droplevel("call")


def notebooks_tried() -> list[str]:
    """Notebooks of the papers whose data people gave."""
    names = notebook_names()
    return [name for name in names if name[0] in "1234" and name not in SIMULATED]


def of_notebooks(names: list[str], n_jobs: int) -> pd.DataFrame:
    """Run notebooks, with few draws, and measure the coverage of all intervals they print."""
    calls = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            given = {"data_source": "auto", "n_boot": 50, "out_dir": folder}
            calls += printed_by(paths.NOTEBOOKS / f"{name}.ipynb", given)
    return measure_all(calls, n_jobs=n_jobs, **LONG_RUN)


def main() -> None:
    """Measure the coverage of all notebooks of the papers, into data/coverage.csv."""
    table = of_notebooks(notebooks_tried(), os.cpu_count())
    paths.replace_files({paths.DATA / "coverage.csv": to_csv_bytes(table)})
    print(f"written: data/coverage.csv, {len(table):,} statistics")


if __name__ == "__main__":
    main()
