"""Tables of the papers, recomputed cell by cell: ours beside what is reported.

Names of tables are those of files in data/published.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from helpers.data import published
from helpers.data.columns.hosking import ERRORS_1, ERRORS_2
from helpers.data.tables import OptionError
from helpers.studies import hosking, kamoda
from helpers.studies.hosking import Experiment1, Experiment2

# The score of a form without errors, and the one given beside errors.
SCORES = ("quality_unbiased", "quality_biased")
SWAPPED = "score of the other column"
LEVELS = {"arm": "condition", "annotators": "labelled by"}
LABELLED_BY = {"crowd": "majority", "expert": "expert", "difference": "difference"}
NAMES = (
    hosking.ERROR_NAMES | hosking.CONDITION_NAMES | hosking.OTHER_NAMES | LABELLED_BY
)


def recomputed() -> Iterator[tuple[str, pd.DataFrame]]:
    """Recompute, from real data, the cells of each table for which they suffice.

    Yields
    ------
    (str, pandas.DataFrame)
        Name of the file in data/published, and cells as `cells` gives them.

    Raises
    ------
    registry.DataUnavailableError
        If the data of a study are missing.
    """
    first = hosking.load_experiment_1("real")
    second = hosking.load_experiment_2("real")
    yield "hosking_table2", cells("hosking_table2", first)
    yield "hosking_table3", cells("hosking_table3", second)
    yield "hosking_table4", cells("hosking_table4", second)
    yield (
        "kamoda_figure1",
        kamoda.figure1(kamoda.load("real"), kamoda.load_texts("real")),
    )


def table(name: str, study: Experiment1 | Experiment2) -> pd.DataFrame:
    """Set a table of a paper, recomputed, beside the reported one.

    Parameters
    ----------
    name : {"hosking_table2", "hosking_table3", "hosking_table4"}
        Table 2 (error rates and mean scores by system, first experiment), Table 3
        (error rates by condition, of workers and expert, without what each of them
        calls a refusal) or Table 4 (as Table 2, second experiment).
    study : hosking.Experiment1 or hosking.Experiment2
        The experiment of the table.

    Returns
    -------
    pandas.DataFrame
        One row per cell, indexed by what identifies it (``system`` and ``measure``, or
        ``condition``, ``error`` and ``labelled by``): ``ours``, rounded as in the
        paper, and ``reported``, missing beside simulated data. Rates and their
        differences are in percent and percentage points, scores from 1 to 5.

    Raises
    ------
    OptionError
        If the table is unknown, or belongs to the other experiment.

    References
    ----------
    Hosking et al. (2024), section 3.2 and appendices E and F.

    Examples
    --------
    >>> both = table("hosking_table4", hosking.load_experiment_2("simulated"))
    >>> both.loc[("Falcon 40B", "score")].index.tolist()
    ['ours', 'reported']
    """
    ours = cells(name, study).query("interpretation == ''")["estimate"]
    in_paper = published.printed_table(name)
    ours = ours.reorder_levels(in_paper.index.names).reindex(in_paper.index)
    decimals = in_paper["decimals"].astype(int)
    rounded = [
        round(value, digits) for value, digits in zip(ours, decimals, strict=True)
    ]
    numbers = published.reported(in_paper)["published"].astype(float)
    both = pd.DataFrame({"ours": rounded, "reported": numbers}, in_paper.index)
    return both.rename(index=NAMES).rename_axis(index=LEVELS)


def cells(name: str, study: Experiment1 | Experiment2) -> pd.DataFrame:
    """Recompute the cells of a table, under the names of the file in data/published.

    Parameters
    ----------
    name : {"hosking_table2", "hosking_table3", "hosking_table4"}
        The table.
    study : hosking.Experiment1 or hosking.Experiment2
        The experiment of the table.

    Returns
    -------
    pandas.DataFrame
        ``estimate`` (rates in percent, scores from 1 to 5) and ``interpretation``: of
        each score in Table 2 there is a second row with the one that the paper reports
        under this heading.

    Raises
    ------
    OptionError
        If the table is unknown, or belongs to the other experiment.

    Examples
    --------
    >>> table2 = cells("hosking_table2", hosking.load_experiment_1("simulated"))
    >>> table2.loc[("Falcon 40B", "quality_biased"), "interpretation"].tolist()
    ['', 'score of the other column']
    """
    experiments = {
        "hosking_table2": Experiment1,
        "hosking_table3": Experiment2,
        "hosking_table4": Experiment2,
    }
    if name not in experiments:
        known = ", ".join(experiments)
        raise OptionError(f"table {name!r} is unknown: choose from {known}")
    if not isinstance(study, experiments[name]):
        number = 1 if experiments[name] is Experiment1 else 2
        raise OptionError(f"{name} needs hosking.load_experiment_{number}")
    if name == "hosking_table2":
        return _table2(study)
    if name == "hosking_table3":
        ours = _table3(study)
    else:
        ours = _by_system(study.outputs(), ERRORS_2)
    return ours.to_frame("estimate").assign(interpretation="")


def _table2(study: Experiment1) -> pd.DataFrame:
    """Cells of Table 2; scores also under each other's heading."""
    ours = _by_system(study.outputs(), ERRORS_1)
    scores = ours[ours.index.isin(SCORES, level="measure")]
    other = dict(zip(SCORES, SCORES[::-1], strict=True))
    as_stated = ours.to_frame("estimate").assign(interpretation="")
    swapped = scores.rename(index=other).to_frame("estimate")
    return pd.concat([as_stated, swapped.assign(interpretation=SWAPPED)])


def _table3(study: Experiment2) -> pd.Series:
    """Cells of Table 3; each side leaves out what it calls a refusal."""
    errors = [error for error in ERRORS_2 if error != "refusal"]
    labels = hosking.load_experts(study.source, study.seed)
    sides = {"crowd": study.outputs(), "expert": labels[labels["batch"] == "main"]}
    rates = {}
    for side, answers in sides.items():
        answered = answers[answers["refusal"] <= 0.5]
        rates[side] = 100 * answered.groupby("arm")[errors].mean()
    rates["difference"] = rates["crowd"] - rates["expert"]
    together = pd.concat(rates, names=["annotators"])
    return together.rename_axis(columns="error").stack()


def _by_system(outputs: pd.DataFrame, errors: Sequence[str]) -> pd.Series:
    """Mean of errors, in percent, and of both scores, by system and measure."""
    means = outputs.groupby("system")[[*errors, *SCORES]].mean()
    means[list(errors)] *= 100
    return means.rename_axis(columns="measure").stack()
