"""Averages over raters that Hosking et al. (2024) released beside the ratings."""

import pandas as pd

from helpers.files import registry, tables
from helpers.studies import hosking
from helpers.studies.hosking_files import ARM_NAMES, COLUMN_NAMES, SYSTEM_NAMES

FILES = {
    1: "hosking/batch_v1/combined_filtered.parquet",
    2: "hosking/batch_controlled/combined_filtered.parquet",
}
NAMES = COLUMN_NAMES | {"overall": "quality_biased", "unbiased": "quality_unbiased"}
KEYS = ["dataset", "sample_ix", "model"]


def load_averages(experiment: int, data_source: str = "auto", seed: int = 0) -> pd.DataFrame:
    """Load the released averages of all outputs of an experiment.

    Parameters
    ----------
    experiment : {1, 2}
        The experiment.
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate`. Simulated averages are our own of the simulated ratings.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.DataFrame of float
        Indexed by ``item_id``: errors, quality and other ratings, in our names.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_averages(2, "simulated").shape
    (1500, 12)
    """
    located = registry.locate([FILES[experiment]], data_source)
    if located is None:
        load = {1: hosking.load_experiment_1, 2: hosking.load_experiment_2}[experiment]
        outputs = load("simulated", seed).outputs().drop(columns="n_ratings")
        return outputs.set_index("item_id").select_dtypes("number")
    path = located[FILES[experiment]]
    raw = pd.read_parquet(path).reset_index()
    arms = ["preamble_type"] if experiment == 2 else []
    tables.require(raw, [*KEYS, *arms], path.name)
    arm = raw["preamble_type"].replace(ARM_NAMES) if arms else "baseline"
    prompt = raw["dataset"] + "-" + raw["sample_ix"].astype(str)
    item = prompt + "|" + raw["model"].replace(SYSTEM_NAMES) + "|" + arm
    averages = raw.drop(columns=[*KEYS, *arms]).rename(columns=NAMES)
    return averages.set_index(item.rename("item_id")).sort_index().astype(float)


def distance(averages: pd.DataFrame, outputs: pd.DataFrame) -> pd.Series:
    """Largest distance of each released average from ours.

    Parameters
    ----------
    averages : pandas.DataFrame
        From `load_averages`.
    outputs : pandas.DataFrame
        One row per output, from the method ``outputs`` of an experiment.

    Returns
    -------
    pandas.Series of float
        Indexed by rating. An output that is missing on one side makes it missing.

    Examples
    --------
    >>> study = hosking.load_experiment_2("simulated")
    >>> distance(load_averages(2, "simulated"), study.outputs())["quality_biased"]
    np.float64(0.0)
    """
    ours = outputs.set_index("item_id")
    columns = [column for column in averages if column in ours]
    return (averages[columns] - ours[columns]).abs().max(skipna=False)
