"""What the paper of Kamoda et al. says about its data, and an earlier study's shares.

Sections 3.1 to 3.3 and Appendix B. Notebook 20 has the preferences themselves.
"""

import numpy as np
import pandas as pd

from helpers.data.columns.kamoda import RANGES
from helpers.stats import leave_out
from helpers.studies.kamoda import Kamoda, KamodaTexts, load_references

# Addresses, the placeholder that ELI5 puts in their place, and a refusal's beginning.
ADDRESS = r"https?://|www\.|_URL_\d|\.(?:com|org|net)\b"
REFUSAL = r"\s*as an ai\b"


def released(study: Kamoda, texts: KamodaTexts, seed: int = 0) -> dict[str, object]:
    """Compute what the paper's sentences on its data are compared with.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    texts : KamodaTexts
        Questions, answers and justifications.
    seed : int, optional
        Seed of the simulated list of web pages, if there is one.

    Returns
    -------
    dict
        By name of the result, without ``"kamoda."``, in the form that
        `helpers.claims.results.rows` takes: counts, and whether sentences are true.

    References
    ----------
    Kamoda et al. (2025), sections 3.1 to 3.3 and Appendix B.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> found = released(kamoda.load("simulated"), kamoda.load_texts("simulated"))
    >>> found["counts.answers"], found["design.scales"]
    (1200, True)
    """
    ratings = study.ratings
    tasks = texts.justifications
    n_questions = ratings["question_id"].nunique()
    written = texts.answers["system"].str.startswith("human")
    human = texts.answers[written]
    by_model = texts.answers.loc[~written, "text"]
    votes = human.pivot(index="question_id", columns="system", values="votes")
    n_chosen = int(ratings["preferred"].sum())
    n_reasons = tasks["text"].str.strip().ne("").sum()
    scales = {name: set(range(low, high + 1)) for name, (low, high) in RANGES.items()}
    has_link = human["text"].str.contains(ADDRESS, case=False)
    refuses = by_model.str.match(REFUSAL, case=False)
    pages = load_references(study.source, seed)
    return {
        "counts.questions": n_questions,
        "counts.answers": len(texts.answers),
        "counts.answers_per_question": len(texts.answers) / n_questions,
        "counts.human_answers_per_question": len(human) / n_questions,
        "counts.annotations_per_question": len(tasks) / n_questions,
        "design.four_rating_formats": n_chosen == len(tasks) == n_reasons,
        "design.scales": all(set(ratings[name]) == scales[name] for name in scales),
        "design.no_links": not has_link.any(),
        "design.no_refusals": not refuses.any(),
        "design.top_is_top": not (votes["human_top"] < votes["human_random"]).any(),
        "design.many_workers": ratings["rater_id"].nunique(),
        "design.references_shown": len(pages) / n_questions,
    }


def mean_over_domains(verdicts: pd.DataFrame) -> pd.Series:
    """Average the domains' shares of experts' verdicts for a model's answer, in %.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        As from `helpers.studies.kamoda.load_expert_verdicts`.

    Returns
    -------
    pandas.Series
        ``estimate``, in which each domain counts the same, and ``low`` and ``high``
        (95 %) by leaving out each pair of answers: for these experts.

    References
    ----------
    Xu et al. (2023), A Critical Evaluation of Evaluations for Long-form Question
    Answering.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> verdicts = kamoda.load_expert_verdicts("simulated")
    >>> mean_over_domains(verdicts).index.tolist()
    ['estimate', 'low', 'high']
    """
    codes, domains = pd.factorize(verdicts["domain"], sort=True)
    rows = np.column_stack([100 * verdicts["model_preferred"], codes])
    evenly = np.full((1, len(domains)), 1 / len(domains))
    mean = leave_out.group_means(pd.Index(["mean"]), 1, len(domains), evenly)
    table = leave_out.leave_out(rows, verdicts[["item_id"]], mean).table()
    return table.loc["mean", ["estimate", "low", "high"]]
