"""Power and cost of study designs: how many outputs, raters of each, and experts it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.design.power import detection, size_needed, study_gaps, study_losses
from helpers.design.study_design import Outputs
from helpers.stats.moments import cluster_moments


@dataclass(frozen=True)
class Pay:
    """What labels cost.

    Parameters
    ----------
    error_check, scoring : float
        Payment to one person for checking one output for errors, and to another for scoring it.
    expert_hourly : float
        Payment to an expert for an hour.
    expert_minutes : float
        Minutes that an expert takes to check one output.

    Examples
    --------
    >>> Pay(0.30, 0.15, 30.0, 5.0).per_output(raters=4, expert_share=0.2)
    2.3
    """

    error_check: float
    scoring: float
    expert_hourly: float
    expert_minutes: float

    def per_output(self, raters: int, expert_share: float = 0.0, scored: bool = True) -> float:
        """Cost of an output.

        Parameters
        ----------
        raters : int
            People who check it for errors, and as many others who score it.
        expert_share : float, optional
            Share of outputs that an expert checks as well.
        scored : bool, optional
            Whether outputs are scored at all.

        Returns
        -------
        float
            In the currency of the payments.
        """
        crowd = raters * (self.error_check + scored * self.scoring)
        return crowd + expert_share * self.expert_hourly * self.expert_minutes / 60


def with_expert_labels(outputs: Outputs, raters: int, share: float, seed: int) -> pd.DataFrame:
    """Put experts' labels in place of the crowd's in a random share of the prompts.

    Parameters
    ----------
    outputs : Outputs
        Result of `helpers.design.study_design.draw`.
    raters : int
        Raters of an output in each group.
    share : float
        Share of prompts whose outputs an expert checks.
    seed : int
        Of the choice of prompts.

    Returns
    -------
    pandas.DataFrame
        As `Outputs.table`.

    Examples
    --------
    >>> from helpers.design.study_design import draw, example_model
    >>> outputs = draw(example_model(), 10, 2, np.random.default_rng(0))
    >>> with_expert_labels(outputs, 2, 1.0, 0)["refusal"].isin([0, 1]).all()
    np.True_
    """
    table = outputs.table(raters)
    by_expert = np.random.default_rng(seed).random(len(outputs.expert)) < share
    errors = outputs.model.errors
    expert = outputs.expert.reshape(-1, len(errors))
    chosen = by_expert[table["prompt_id"]][:, None]
    table[errors] = np.where(chosen, expert, table[errors])
    return table


def loss_power(
    tables: Mapping, found: pd.Series, n_prompts: Sequence[int], n_sim: int, seed: int
) -> pd.DataFrame:
    """Power to detect what each error costs, for several ways to label the same outputs.

    A loss is detected if the 95 % interval of least squares, clustered by prompt, lies on the
    side of zero where the loss is.

    Parameters
    ----------
    tables : mapping
        For each way to label, a table like `Outputs.table` of the same large population.
    found : pandas.Series
        Points lost by each error; only the signs count.
    n_prompts : sequence of int
        Prompts in a study.
    n_sim : int
        Simulated studies.
    seed : int
        Of the random numbers; all ways to label get the same prompts.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` as from `helpers.design.power.detection`, indexed by
        ``labels`` (the keys of `tables`), ``prompts`` and ``feature``.

    Examples
    --------
    >>> from helpers.design.study_design import draw, example_model
    >>> outputs = draw(example_model(), 500, 2, np.random.default_rng(0))
    >>> tables = {raters: outputs.table(raters) for raters in (1, 2)}
    >>> loss_power(tables, pd.Series({"refusal": 1.0}), [20], 100, 0)["estimate"].min() > 0.5
    np.True_
    """
    errors = list(found.index)
    signs = -np.sign(found)
    powers = {}
    for name, table in tables.items():
        moments = cluster_moments(table, errors, "score", "prompt_id")
        studies = study_losses(moments, n_prompts, n_sim, np.random.default_rng(seed))
        powers[name] = detection(studies, signs, "feature")
    return pd.concat(powers, names=["labels"])


def gap_power(
    outputs: Outputs,
    raters: Sequence[int],
    designs: Sequence[tuple[int, int]],
    n_sim: int,
    seed: int,
) -> pd.DataFrame:
    """Power to detect that the crowd finds an error more or less often than experts.

    A gap is detected if the 95 % interval of the difference of rates, clustered by prompt, lies
    on the side of zero where the difference is. The crowd's rate is that of its majority labels,
    and so depends on how many raters there are.

    Parameters
    ----------
    outputs : Outputs
        A large population, see `helpers.design.study_design.draw`.
    raters : sequence of int
        People who check an output.
    designs : sequence of (int, int)
        Prompts that the crowd checks, and how many of them an expert checks too.
    n_sim : int
        Simulated studies.
    seed : int
        Of the random numbers; all designs get the same prompts.

    Returns
    -------
    pandas.DataFrame
        ``gap`` (percentage points), and ``estimate``, ``low`` and ``high`` as from
        `helpers.design.power.detection`, indexed by ``raters``, ``prompts``, ``expert_prompts`` and
        ``error``.

    Examples
    --------
    >>> from helpers.design.study_design import draw, example_model
    >>> outputs = draw(example_model(), 500, 1, np.random.default_rng(0))
    >>> gap_power(outputs, [1], [(40, 10)], 50, 0).round(2)["gap"].tolist()
    [-1.36]
    """
    errors = outputs.model.errors
    size = outputs.expert.shape[1]
    expert = outputs.expert.sum(axis=1)
    powers = {}
    for number in raters:
        crowd = outputs.labels(number).sum(axis=1)
        gap = pd.Series(100 * (crowd - expert).mean(axis=0) / size, errors)
        studies = study_gaps(crowd, expert, size, designs, n_sim, np.random.default_rng(seed))
        studies = studies.rename(index=dict(enumerate(errors)), level="error")
        power = detection(studies, np.sign(gap), "error")
        power.insert(0, "gap", power.index.get_level_values("error").map(gap))
        powers[number] = power
    return pd.concat(powers, names=["raters"])


def outputs_needed(power: pd.DataFrame, by: Sequence[str], outputs: int) -> pd.DataFrame:
    """Find the smallest number of outputs with a power of 80 %.

    Parameters
    ----------
    power : pandas.DataFrame
        ``estimate``, ``low`` and ``high`` with ``prompts`` in the index.
    by : sequence of str
        Other levels of the index: each combination gets a row.
    outputs : int
        Outputs of each prompt.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` as from `helpers.design.power.size_needed`, in outputs.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["refusal"], [20, 80]], names=["error", "prompts"])
    >>> power = pd.DataFrame({"estimate": [0.5, 0.9], "low": [0.4, 0.8], "high": [0.6, 0.95]},
    ...                      index)
    >>> outputs_needed(power, ["error"], 5).round(0)  # doctest: +NORMALIZE_WHITESPACE
             estimate    low   high
    error
    refusal     274.0  202.0  400.0
    """
    rows = {}
    for key, part in power.groupby(list(by), sort=False):
        sizes = outputs * part.index.get_level_values("prompts")
        rows[key] = size_needed(sizes, part)
    return pd.DataFrame(rows).T.rename_axis(index=list(by))


def size_text(needed: pd.DataFrame, largest: int) -> pd.Series:
    """Write numbers of outputs with two digits and the interval of the simulation.

    Parameters
    ----------
    needed : pandas.DataFrame
        Result of `outputs_needed`.
    largest : int
        Largest number of outputs that was tried.

    Returns
    -------
    pandas.Series of str

    Examples
    --------
    >>> needed = pd.DataFrame({"estimate": [274.0, np.inf], "low": [202.0, 5200.0],
    ...                        "high": [400.0, np.inf]}, index=["refusal", "scope"])
    >>> size_text(needed, 6000).tolist()
    ['270 [200, 400]', '> 6,000']
    """
    rounded = needed.map(lambda number: f"{float(f'{number:.2g}'):,.0f}")
    rounded = rounded.where(np.isfinite(needed), f"> {largest:,}")
    text = rounded["estimate"] + " [" + rounded["low"] + ", " + rounded["high"] + "]"
    return text.where(np.isfinite(needed["estimate"]), rounded["estimate"])
