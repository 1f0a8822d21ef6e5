"""The papers' own studies in the form of the other sets: beside them, never pooled.

Texts by people are left out here too, so that numbers can differ from those of the
notebooks on the papers.
"""

import pandas as pd

from helpers.stats import rates
from helpers.studies import hosking, kamoda
from ratings.atlas.readers import Ratings, in_one_form

HOSKING = "Hosking et al."
KAMODA = "Kamoda et al."
BEST = 1.0


def hosking_items(study: hosking.Experiment1) -> Ratings:
    """Responses of the first experiment: shares of people who mark no error, and score.

    The score is the mean of people who were not asked about errors.
    """
    outputs = study.outputs(errors_by="mean")
    outputs = outputs[outputs["system"] != "References"]
    marks = {error: BEST - outputs[error] for error in hosking.ERRORS_1}
    frame = outputs[["item_id", "prompt_id", "system"]].assign(
        cluster=outputs["prompt_id"],
        words=outputs["response_words"],
        score=outputs["quality_unbiased"],
        **marks,
    )
    scales = {"score": (1, 5)} | dict.fromkeys(hosking.ERRORS_1, (0, 1))
    return in_one_form(frame, scales, people_known=False)


def hosking_single(study: hosking.Experiment1) -> tuple[Ratings, Ratings]:
    """Single ratings of the first experiment: scores, and marks of factual errors."""
    score = _single_marks(study.unbiased, "quality_unbiased", (1, 5))
    errors = _single_marks(study.errors, "factuality", (1, 0))
    return score, errors


def _single_marks(table: pd.DataFrame, mark: str, scale: tuple) -> Ratings:
    """One mark of each person on each response by a model, without attention checks."""
    kept = table[~table["is_distractor"] & table["system"].ne("References")]
    frame = kept[["item_id", "prompt_id", "system", "rater_id", mark]].copy()
    frame[mark] = frame[mark].astype(float)
    return in_one_form(frame, {mark: scale}, people_known=True)


def hosking_findings(study: hosking.Experiment2, experts: pd.DataFrame) -> pd.DataFrame:
    """Factual errors in answers of the second experiment, by a crowd and one expert.

    Answers that the crowd calls refusals are left out, as in notebook 51.

    Returns
    -------
    pandas.DataFrame
        ``cluster``, ``crowd`` (a majority of the crowd marks it) and ``expert``.
    """
    answers = rates.drop_refusals(study.outputs(), "majority").set_index("item_id")
    labels = experts[experts["batch"] == "main"].set_index("item_id")["factuality"]
    both = labels.index.intersection(answers.index)
    return pd.DataFrame(
        {
            "cluster": answers.loc[both, "prompt_id"],
            "crowd": answers.loc[both, "factuality"] > 0.5,
            "expert": labels[both].astype(bool),
        }
    )


def kamoda_ratings(study: kamoda.Kamoda, texts: kamoda.KamodaTexts) -> Ratings:
    """Answers by ChatGPT: acceptability and three aspects, by three workers each.

    Amount of information and formality are best at zero: marks are their distances.
    """
    table = study.ratings
    table = table[table["system"].str.startswith("model")]
    frame = table[["item_id", "system", "rater_id", "acceptability", "factuality"]]
    frame = frame.assign(
        prompt_id=table["question_id"],
        amount_info=-table["amount_info"].abs(),
        formality=-table["formality"].abs(),
    )
    marks = ["acceptability", "factuality", "amount_info", "formality"]
    frame = frame.astype(dict.fromkeys(marks, float))
    text = texts.answers.set_index("item_id")["text"]
    frame["words"] = frame["item_id"].map(text.str.split().str.len())
    scales = {"acceptability": (0, 3), "factuality": (0, 3)}
    scales |= {"amount_info": (-1, 0), "formality": (-1, 0)}
    return in_one_form(frame, scales, people_known=True)


def kamoda_judged(study: kamoda.Kamoda) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Acceptability of ChatGPT's answers, by people and by GPT-4."""
    table = study.ratings[study.ratings["system"].str.startswith("model")]
    people = table[["item_id", "rater_id"]].assign(
        label=table["acceptability"].astype(float), text=table["question_id"]
    )
    gpt4 = study.evaluators[study.evaluators["evaluator"] == "gpt4"]
    models = gpt4.set_index("item_id")[["acceptability"]].astype(float)
    return people.reset_index(drop=True), models.set_axis(["GPT-4"], axis="columns")
