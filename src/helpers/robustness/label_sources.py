"""Labels of the same errors from several sources, and what an error costs by each.

Notebook 16 sets the sources side by side; a curve of notebook 50 adds whether a system
is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.robustness.label_errors import label_costs
from helpers.robustness.specifications import curve
from helpers.stats import rates
from helpers.studies import hosking
from helpers.studies.hosking_submissions import same_raters

SCORE = "quality_unbiased"
OTHERS_SCORE = "score by others"
TIES = {
    "half": "1: majority, tie ½",
    "no error": "1: majority, tie 0",
    "error": "1: majority, tie 1",
}


@dataclass(frozen=True, eq=False)
class LabelSource:
    """Labels beside scores.

    Parameters
    ----------
    rows : pandas.DataFrame
        A row per response, or per response and rater, with ``system``.
    errors : sequence of str
        Columns of labels.
    score : str
        Column of scores.
    clusters : sequence of str
        What rows share, see `helpers.robustness.label_errors.label_costs`.
    """

    rows: pd.DataFrame
    errors: Sequence[str]
    score: str
    clusters: Sequence[str]


def label_sources(data_source: str, seed: int) -> dict[str, LabelSource]:
    """Load the labels of Hosking et al. from nine sources.

    Six are made of the marks of the first experiment: the majority with three rules for
    ties, the share of raters, and single marks beside the mean score by other people or
    the score by the same person. Three are of the second: the crowd's majority, the
    same on the answers that the expert labelled, and the expert's.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}
        As `helpers.data.registry.locate`.
    seed : int
        Of the simulation, if there is one.

    Returns
    -------
    dict of str to LabelSource
        By name, which begins with the number of the experiment.

    Examples
    --------
    >>> sources = label_sources("simulated", 0)
    >>> len(sources), len(sources["2: expert"].rows)
    (9, 300)
    """
    first = hosking.load_experiment_1(data_source, seed)
    second = hosking.load_experiment_2(first.source, seed)
    errors = list(hosking.ERRORS_1)
    outputs = first.outputs()

    sources = {}
    for ties, name in TIES.items():
        settled = {error: rates.settle_ties(outputs[error], ties) for error in errors}
        labelled = outputs.assign(**settled)
        sources[name] = LabelSource(labelled, errors, SCORE, ["prompt_id"])
    shares = first.outputs(errors_by="mean")
    sources["1: share of raters"] = LabelSource(shares, errors, SCORE, ["prompt_id"])

    marks = _marks_with_scores(first.source, seed)
    both = ["prompt_id", "rater_id"]
    by_others = LabelSource(marks, errors, OTHERS_SCORE, both)
    by_same = LabelSource(marks, errors, "quality_biased", both)
    sources["1: one mark, others' score"] = by_others
    sources["1: one mark, own score"] = by_same

    errors = list(hosking.ERRORS_2)
    answers = second.outputs()
    sources["2: crowd"] = LabelSource(answers, errors, SCORE, ["prompt_id"])
    experts = hosking.load_experts(first.source, seed)
    experts = experts[experts["batch"] == "main"]
    labels = experts.set_index("item_id")[errors].astype(float)
    seen = answers[answers["item_id"].isin(labels.index)].reset_index(drop=True)
    sources["2: crowd, expert's answers"] = LabelSource(
        seen, errors, SCORE, ["prompt_id"]
    )
    by_expert = seen.copy()
    by_expert[errors] = labels.loc[seen["item_id"]].to_numpy()
    sources["2: expert"] = LabelSource(by_expert, errors, SCORE, ["prompt_id"])
    return sources


def _marks_with_scores(data_source: str, seed: int) -> pd.DataFrame:
    """Single marks of the first experiment, and what others score the response."""
    groups = same_raters(1, ["errors", "unbiased"], data_source, seed)
    marks = groups["errors"]
    scores = groups["unbiased"]
    of_item = scores.groupby("item_id")[SCORE].agg(["sum", "size"])
    own = scores.groupby(["item_id", "rater_id"])[SCORE].agg(["sum", "size"])
    # A few people scored a response that they marked on another form.
    of_mark = pd.MultiIndex.from_frame(marks[["item_id", "rater_id"]])
    own_of_mark = own.reindex(of_mark).fillna(0).to_numpy()
    of_others = of_item.loc[marks["item_id"]].to_numpy() - own_of_mark
    return marks.assign(**{OTHERS_SCORE: of_others[:, 0] / of_others[:, 1]})


def source_costs(
    sources: Mapping[str, LabelSource], errors: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """Compute what errors cost by each source, with all systems and without each.

    Parameters
    ----------
    sources : mapping of str to LabelSource
        See `label_sources`.
    errors : sequence of str
        Errors whose cost is asked for; the others are held equal.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each error a curve (see `helpers.robustness.specifications.curve`) with the
        choices ``labels`` and ``answers``. Costs that are not known, because the label
        varies in too few prompts, are not on it.

    Examples
    --------
    >>> rows = pd.DataFrame({"refusal": [0, 1] * 12, "score": [5, 3, 4, 3] * 6,
    ...                      "prompt_id": range(24), "system": list("aabb") * 6})
    >>> source = LabelSource(rows, ["refusal"], "score", ["prompt_id"])
    >>> costs = source_costs({"crowd": source}, ["refusal"])["refusal"]
    >>> costs[["labels", "answers", "estimate"]]
      labels answers  estimate
    0  crowd     all       1.5
    """
    found = {error: [] for error in errors}
    for name, source in sources.items():
        system = source.rows["system"]
        parts = {"all": source.rows}
        for left_out in sorted(system.unique()):
            rest = source.rows[system != left_out]
            parts[f"without {left_out}"] = rest.reset_index(drop=True)
        for answers, rows in parts.items():
            costs = label_costs(rows, source.errors, source.score, source.clusters)
            for error in errors:
                choices = {"labels": name, "answers": answers}
                found[error].append(choices | costs.loc[error].to_dict())
    return {error: _as_curve(rows) for error, rows in found.items()}


def _as_curve(rows: Sequence[Mapping]) -> pd.DataFrame:
    """Set out the costs that are known as a curve; a loss is expected."""
    table = pd.DataFrame(rows)
    known = table[np.isfinite(table["standard_error"])].reset_index(drop=True)
    return curve(
        known[["labels", "answers"]],
        known["estimate"],
        known["standard_error"],
        1,
        known["df"],
    )
