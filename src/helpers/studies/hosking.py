"""Hosking, Blunsom and Bartolo (2024), "Human Feedback is not Gold Standard", ICLR.

Experiment 1 (section 2) compares crowd ratings of quality with ten kinds of error. Experiment 2
(section 3) varies the assertiveness and complexity of responses; experts rated 300 of them again.

In the released files rows 2k and 2k+1 are two responses that one person rated side by side. Some
pairs are attention checks: a response and a distractor, which is another response of the same
system to a different prompt. Neither side of such a pair counts towards the released averages,
even where the response was rated in other pairs too; `without_checks` leaves out both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pandera.pandas as pa

from helpers import simulate
from helpers.files import registry, schemas
from helpers.files.ratings import aggregate, anonymise
from helpers.files.schemas import ERRORS_1, ERRORS_2, FACTORS
from helpers.studies.hosking_files import read_experts, read_pairs

FILES_1 = {
    "hosking/batch_v1/granular_full.parquet": schemas.HOSKING_1_ERRORS,
    "hosking/batch_v1/unbiased_full.parquet": schemas.HOSKING_1_UNBIASED,
}
FILES_2 = {
    "hosking/batch_controlled/errors_full.parquet": schemas.HOSKING_2_ERRORS,
    "hosking/batch_controlled/unbiased_full.parquet": schemas.HOSKING_2_UNBIASED,
    "hosking/batch_controlled/groupings_full.parquet": schemas.HOSKING_2_PERCEPTION,
}
EXPERT_FILES = {
    f"hosking/expert/annotated_instances_confound_validation_{number}.jsonl": batch
    for number, batch in enumerate(("pilot", "main", "main"))
}

DESIGN = ("prompt_id", "task", "system", "arm")


@dataclass(frozen=True)
class Experiment1:
    """Ratings of experiment 1.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    errors : pandas.DataFrame
        Error checks and ratings given beside them; columns of `schemas.HOSKING_1_ERRORS`.
    unbiased : pandas.DataFrame
        Quality by other raters, who checked no errors; columns of `schemas.HOSKING_1_UNBIASED`.
    """

    source: str
    errors: pd.DataFrame
    unbiased: pd.DataFrame

    def outputs(self, errors_by: str = "mode", quality_by: str = "mean") -> pd.DataFrame:
        """Summarise the ratings of each output; attention checks are left out.

        Parameters
        ----------
        errors_by, quality_by : {"mode", "mean"}, optional
            How the raters' error checks (0 or 1), and their ratings from 1 to 5, are combined.
            In a mode, values that tie are averaged. The defaults are those of section 2.1.

        Returns
        -------
        pandas.DataFrame, shape (n_outputs, 25)
            The design, ``n_ratings`` (raters who checked errors), the ten errors, quality by
            both groups, the six factors and ``response_words``.

        Raises
        ------
        ValueError
            If a way to combine ratings is unknown.

        Examples
        --------
        >>> load_experiment_1("simulated").outputs().columns[:6].tolist()
        ['item_id', 'prompt_id', 'task', 'system', 'arm', 'n_ratings']
        """
        errors = dict.fromkeys(ERRORS_1, errors_by)
        quality = dict.fromkeys(("quality_biased", *FACTORS), quality_by)
        return _join(
            _summarise(self.errors, errors | quality | {"response_words": "mean"}),
            _summarise(self.unbiased, {"quality_unbiased": quality_by}),
        )


@dataclass(frozen=True)
class Experiment2:
    """Ratings of experiment 2, each table by a different group of people.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    errors : pandas.DataFrame
        Error checks and quality given beside them; columns of `schemas.HOSKING_2_ERRORS`.
    unbiased : pandas.DataFrame
        Quality without error checks; columns of `schemas.HOSKING_2_UNBIASED`.
    perception : pandas.DataFrame
        Perceived assertiveness and complexity; columns of `schemas.HOSKING_2_PERCEPTION`.
    """

    source: str
    errors: pd.DataFrame
    unbiased: pd.DataFrame
    perception: pd.DataFrame

    def outputs(
        self, errors_by: str = "mode", biased_by: str = "mode", unbiased_by: str = "mean"
    ) -> pd.DataFrame:
        """Summarise the ratings of each output; attention checks are left out.

        Parameters
        ----------
        errors_by, biased_by, unbiased_by : {"mode", "mean"}, optional
            How the raters' error checks, the quality given beside them, and the quality given
            without them are combined. In a mode, values that tie are averaged. The defaults
            reproduce the released averages; the paper describes means for all quality scores.

        Returns
        -------
        pandas.DataFrame, shape (n_outputs, 18)
            The design, ``n_ratings`` (raters who checked errors), the seven errors, quality by
            both groups, mean ``assertiveness`` and ``complexity``, and ``response_words``.

        Raises
        ------
        ValueError
            If a way to combine ratings is unknown.

        Examples
        --------
        >>> outputs = load_experiment_2("simulated").outputs()
        >>> outputs["assertiveness"].between(1, 5).all()
        np.True_
        """
        errors = dict.fromkeys(ERRORS_2, errors_by)
        perception = dict.fromkeys(("assertiveness", "complexity", "response_words"), "mean")
        return _join(
            _summarise(self.errors, errors | {"quality_biased": biased_by}),
            _summarise(self.unbiased, {"quality_unbiased": unbiased_by}),
            _summarise(self.perception, perception),
        )


@dataclass(frozen=True)
class Experts:
    """Error checks by the authors on part of experiment 2.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the table comes from.
    labels : pandas.DataFrame
        Columns of `schemas.HOSKING_EXPERTS`. The paper uses the 300 outputs of batch ``"main"``;
        batch ``"pilot"`` holds earlier labels of 16 of them.
    """

    source: str
    labels: pd.DataFrame


def load_experiment_1(data_source: str = "auto", seed: int = 0) -> Experiment1:
    """Load experiment 1: 900 outputs, 4,440 ratings by each of two groups.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    Experiment1
        The ratings and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_experiment_1("simulated").source
    'simulated'
    """
    return Experiment1(*_load(FILES_1, data_source, seed, simulate.hosking_experiment_1))


def load_experiment_2(data_source: str = "auto", seed: int = 0) -> Experiment2:
    """Load experiment 2: 1,500 outputs, 7,200 ratings by each of three groups.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    Experiment2
        The ratings and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_experiment_2("simulated").source
    'simulated'
    """
    return Experiment2(*_load(FILES_2, data_source, seed, simulate.hosking_experiment_2))


def load_experts(data_source: str = "auto", seed: int = 0) -> Experts:
    """Load the experts' error checks: the 300 of the paper and a pilot on 16 of its outputs.

    The released identifier is a name and a running number of the submission; raters are told
    apart by the name alone.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    Experts
        The labels and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_experts("simulated").labels["batch"].unique().tolist()
    ['pilot', 'main']
    """
    located = registry.locate(EXPERT_FILES, data_source)
    if located is None:
        labels = simulate.hosking_experts(np.random.default_rng(seed))
        return Experts("simulated", schemas.check(labels, schemas.HOSKING_EXPERTS, "simulation"))
    batches = [read_experts(path, EXPERT_FILES[file]) for file, path in located.items()]
    labels = pd.concat(batches, ignore_index=True)
    return Experts("real", labels.assign(rater_id=anonymise(labels["rater_id"])))


def without_checks(ratings: pd.DataFrame) -> pd.DataFrame:
    """Leave out attention checks: pairs in which one response is a distractor.

    Parameters
    ----------
    ratings : pandas.DataFrame
        Any table of the two experiments.

    Returns
    -------
    pandas.DataFrame
        The rows of all other pairs.

    Examples
    --------
    >>> ratings = pd.DataFrame({"pair_id": [0, 0, 1], "is_distractor": [False, True, False]})
    >>> without_checks(ratings)["pair_id"].tolist()
    [1]
    """
    checks = ratings.loc[ratings["is_distractor"], "pair_id"]
    return ratings[~ratings["pair_id"].isin(checks)]


def _load(
    files: Mapping[str, pa.DataFrameSchema],
    data_source: str,
    seed: int,
    simulator: Callable[[np.random.Generator], tuple[pd.DataFrame, ...]],
) -> tuple[str | pd.DataFrame, ...]:
    """Return the source and one checked table per file."""
    located = registry.locate(files, data_source)
    if located is None:
        tables = simulator(np.random.default_rng(seed))
        checked = zip(tables, files.values(), strict=True)
        return "simulated", *(schemas.check(*pair, "simulation") for pair in checked)
    return "real", *(read_pairs(path, files[file]) for file, path in located.items())


def _summarise(ratings: pd.DataFrame, how: Mapping[str, str]) -> pd.DataFrame:
    """Combine the raters of each output, column by column."""
    for column, way in how.items():
        if way not in ("mode", "mean"):
            raise ValueError(f"{column} can be combined by 'mode' or 'mean', not {way!r}")
    return aggregate(
        without_checks(ratings),
        "item_id",
        mean=[column for column, way in how.items() if way == "mean"],
        mode=[column for column, way in how.items() if way == "mode"],
        first=DESIGN,
    )


def _join(summary: pd.DataFrame, *others: pd.DataFrame) -> pd.DataFrame:
    """Set the summaries of several groups of raters side by side; counts are those of the first."""
    for other in others:
        ratings = other.drop(columns=[*DESIGN, "n_ratings"])
        summary = summary.merge(ratings, on="item_id", how="left", validate="one_to_one")
    return summary
