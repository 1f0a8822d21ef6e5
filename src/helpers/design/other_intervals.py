"""The intervals that notebooks 20 to 41 print, each from the function that prints it.

As `helpers.design.experiment_1_intervals`, for Kamoda et al. (2025), ChatBench and HumBEL.
"""

import numpy as np
import pandas as pd

from helpers import guessing, text
from helpers.alignment import accuracy_by_age
from helpers.design.experiment_1_intervals import stack
from helpers.files.schemas import ASPECTS, IDEALS, RANGES
from helpers.stats import accuracy, aspects, correlations
from helpers.stats.agreement import agreement_table, alpha_at_once, stack_aspects
from helpers.stats.groups import group_means, interval_table
from helpers.stats.moments import cluster_moments

SCALES = {name: range(low, high + 1) for name, (low, high) in RANGES.items()}


def long_form(ratings: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Means, agreement and weights of aspects of long-form answers (notebooks 20 and 21).

    Parameters
    ----------
    ratings : pandas.DataFrame
        As `helpers.studies.kamoda.Kamoda.ratings`.
    rng : numpy.random.Generator
        Source of randomness.
    n_boot : int
        Bootstrap replicates.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> found = long_form(kamoda.load("simulated").ratings, np.random.default_rng(0), 9)
    >>> len(found)
    33
    """
    names = ["acceptability", *ASPECTS]
    distance = aspects.ideal_distance(ratings, ASPECTS, IDEALS, RANGES)
    table = ratings[["question_id", "system", "item_id"]].join(distance)
    table["missing"] = IDEALS["acceptability"] - ratings["acceptability"]
    alphas = agreement_table(
        ratings, names, "item_id", "question_id", SCALES, n_boot, rng, "interval"
    ).set_index("aspect")[["alpha", "alpha_low", "alpha_high"]]
    stacked = stack_aspects(ratings.astype({"item_id": str}), "item_id", names)
    at_once = alpha_at_once(stacked, "question_id", "interval", n_boot, rng)
    alphas = alphas.set_axis(["estimate", "low", "high"], axis="columns")
    alphas.loc["all at once"] = {name: at_once[name] for name in alphas}
    moments = cluster_moments(table, ASPECTS, "missing", "question_id")
    pairs = aspects.rater_pairs(table, ASPECTS, "missing", "item_id", "question_id")
    found = aspects.weights(table, ASPECTS, "missing")
    draws = aspects.bootstrap_weights(moments, n_boot, rng)
    total = pairs.total()
    agreed = pd.Series(np.linalg.solve(total.xx[0], total.xy[0]), list(ASPECTS))
    agreed_draws = aspects.bootstrap_weights(pairs, n_boot, rng)
    above = ["factuality", "formality"]
    ratio = found[above] / found["amount_info"]
    ratio_draws = draws[above].div(draws["amount_info"], axis="index")
    shares = ratings.assign(share=100 * ratings["preferred"])
    return stack(
        {
            "mean by question": group_means(
                table, [*ASPECTS, "missing"], "system", "question_id", n_boot, rng
            ),
            "share preferred": group_means(shares, ["share"], "system", "question_id", n_boot, rng),
            "Krippendorff's alpha, scales": alphas,
            "weight of an aspect": interval_table(found, draws),
            "ratio of weights": interval_table(ratio, ratio_draws),
            "weight between people": interval_table(agreed, agreed_draws),
        }
    )


def by_rater(ratings: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Means with raters resampled (notebooks 20 and 23).

    Parameters
    ----------
    ratings, rng, n_boot
        As for `long_form`.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> len(by_rater(kamoda.load("simulated").ratings, np.random.default_rng(0), 9))
    4
    """
    columns = ["acceptability", *ASPECTS]
    return stack({"mean by rater": group_means(ratings, columns, None, "rater_id", n_boot, rng)})


def judges(scored: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Correlations of automatic scores with people's, and their difference (notebook 24).

    Parameters
    ----------
    scored : pandas.DataFrame
        One row per answer: ``question_id``, ``human``, and scores ``direct`` and ``weighted``.
    rng, n_boot
        As for `long_form`.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scored = pd.DataFrame(rng.normal(size=(40, 3)), columns=["human", "direct", "weighted"])
    >>> len(judges(scored.assign(question_id=np.arange(40) // 4), rng, 9))
    3
    """
    moments = cluster_moments(scored, ["direct", "weighted"], "human", "question_id")
    found, draws = correlations.compare_evaluators(
        {"all": moments}, n_boot, int(rng.integers(2**32))
    )
    gains = correlations.evaluator_differences(found, draws, {"gain": ("weighted", "direct")})
    return stack(
        {
            "correlation of a judge": interval_table(found, draws),
            "gain of a judge": interval_table(*gains),
        }
    )


def questions(table: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Correlation of accuracies over questions (notebook 31).

    Parameters
    ----------
    table : pandas.DataFrame
        One row per model and question: ``question_id``, ``free_text``, ``user_ai`` (accuracies)
        and ``n_answers`` behind the latter.
    rng, n_boot
        As for `long_form`.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"question_id": range(60), "free_text": rng.random(60),
    ...                       "user_ai": rng.integers(0, 5, 60) / 4, "n_answers": 4})
    >>> len(questions(table, rng, 9))
    3
    """
    found = accuracy.noisy_correlation(
        table, "free_text", "user_ai", "n_answers", "question_id", n_boot, rng
    )
    return stack({"question-level correlation": found})


def dataset_accuracies(questions: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Accuracy on each dataset, with the standard error from its questions (notebook 31).

    Parameters
    ----------
    questions : pandas.DataFrame
        One row per question and cell: ``dataset``, ``accuracy``, ``n_answers``.
    rng : numpy.random.Generator
        Not used.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> table = pd.DataFrame({"dataset": "maths", "accuracy": [0.0, 0.5, 1.0], "n_answers": 2})
    >>> dataset_accuracies(table, np.random.default_rng(0)).round(2).to_numpy().tolist()
    [[0.5, -0.07, 1.07]]
    """
    cells = {name: accuracy.dataset_accuracy(rows) for name, rows in questions.groupby("dataset")}
    table = pd.DataFrame(cells).T
    margin = accuracy.NORMAL_95 * table["se"]
    mean = table["accuracy"]
    bounds = {"estimate": mean, "low": mean - margin, "high": mean + margin}
    return stack({"accuracy on a dataset": pd.DataFrame(bounds)})


def averages(cells: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Averages over accuracies with known standard errors (notebook 30).

    Parameters
    ----------
    cells : pandas.DataFrame
        As `helpers.studies.chatbench.accuracies`.
    rng : numpy.random.Generator
        Not used.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> from helpers.studies import chatbench
    >>> found = averages(chatbench.accuracies(), np.random.default_rng(0))
    >>> found.loc["mean accuracy"].round(2).to_numpy().tolist()
    [[0.73, 0.71, 0.75]]
    """
    ai, users = (
        cells[cells["method"] == name] for name in ("AI free text", "User-AI direct to AI")
    )
    mean, se = accuracy.weighted_mean(ai["mean"], ai["se"])
    margin = accuracy.NORMAL_95 * se
    row = {"estimate": mean, "low": mean - margin, "high": mean + margin}
    deviation = accuracy.mean_deviation(
        ai["mean"], ai["se"], users[["mean"]].to_numpy(), users[["se"]].to_numpy()
    )
    names = ["AI free text"]
    return stack(
        {
            "mean accuracy": pd.DataFrame(row, index=names),
            "mean deviation of accuracies": pd.DataFrame([deviation], index=names),
        }
    )


def small_sample(answers: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Share of right answers in a small sample (notebook 41).

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per question: ``right``, 0 or 1.
    rng : numpy.random.Generator
        Not used.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> answers = pd.DataFrame({"right": [0.0, 1.0] * 54})
    >>> small_sample(answers, np.random.default_rng(0)).round(2).to_numpy().tolist()
    [[0.5, 0.37, 0.63]]
    """
    share, width = answers["right"].mean(), guessing.hoeffding_width(len(answers))
    row = {"estimate": share, "low": share - width, "high": share + width}
    return stack({"share (Hoeffding)": pd.DataFrame(row, index=["right"])})


def ages(answers: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Share of right answers at each age, clustered by cue (notebook 41).

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per question: ``cue``, and a column for each age, missing where it has no say.
    rng, n_boot
        As for `long_form`.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> answers = pd.DataFrame({"cue": ["a", "b"], 7: [1.0, 0.0]})
    >>> ages(answers, np.random.default_rng(0), 99)["estimate"].tolist()
    [50.0]
    """
    table = accuracy_by_age(answers.drop(columns="cue"), answers["cue"], n_boot, rng)
    return stack({"share of right answers at an age": table.set_index("x")})


def lexicon_accuracy(mentions: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Precision and recall of keywords (notebook 23).

    Parameters
    ----------
    mentions : pandas.DataFrame
        One row per text and aspect: ``outcome``, such as ``"true_positive"``.
    rng : numpy.random.Generator
        Not used.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> mentions = pd.DataFrame({"outcome": ["true_positive"] * 8 + ["false_positive"] * 2})
    >>> lexicon_accuracy(mentions, np.random.default_rng(0))["estimate"].tolist()
    [80.0, 100.0]
    """
    counts = mentions["outcome"].value_counts().reindex(text.COUNTS, fill_value=0)
    found = text.precision_and_recall(counts.to_frame("all").T)
    return stack({"precision and recall (Wilson)": found.loc["all"].unstack()})
