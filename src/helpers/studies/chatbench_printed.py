"""What follows from the numbers that ChatBench prints, without its single answers.

The paper prints accuracies with their standard errors (Tables A1 and A2), numbers of
answers (Table A3) and scores of simulated users (Table 1). Results that need no more
than these are computed here, except for those that the notebooks compute themselves.

References
----------
Chang, Anderson and Hofman (2025), ChatBench: From Static Benchmarks to Human-AI
Evaluation.
"""

import numpy as np
import pandas as pd

from helpers.data.published import published_claims
from helpers.stats import accuracy, bootstrap
from helpers.studies import chatbench
from helpers.studies.chatbench import AI_METHODS, CONDITIONS, DATASETS, USER_ALONE

ZERO_SHOT, FEW_SHOT, FREE_TEXT = AI_METHODS
WITH_AI = tuple(CONDITIONS.values())
GPT4O, LLAMA = chatbench.MODELS
# Names of the six ways to answer for tables and figures.
WORDS = {
    ZERO_SHOT: "model alone, letter, no example",
    FEW_SHOT: "model alone, letter, five examples",
    FREE_TEXT: "model alone, free text",
    USER_ALONE: "users alone",
    **{method: f"users with the model, {name}" for name, method in CONDITIONS.items()},
}
MATHEMATICS = DATASETS[:3]
# GPT-4o's accuracy on a public leaderboard, in high school and college mathematics
LEADERBOARD = dict(zip(MATHEMATICS[1:], (0.48, 0.51), strict=True))
N_DRAWS = 10000
SEED = 20240917


def all_tests() -> pd.DataFrame:
    """Repeat the 80 tests of Tables A1 and A2 from their printed z-values.

    Returns
    -------
    pandas.DataFrame
        Rows and columns of `chatbench.comparisons`, and ``estimate``, ``low`` and
        ``high`` (users with AI minus what they are compared with, points, 95 %
        interval), ``p_value``, and ``p_family``, corrected by Holm over all 80.

    Examples
    --------
    >>> table = all_tests()
    >>> len(table), int((table["p_family"] < 0.05).sum())
    (80, 34)
    """
    rows = chatbench.comparisons()
    difference = 100 * (rows["mean_user_ai"] - rows["mean_alone"])
    error = 100 * np.hypot(rows["se_user_ai"], rows["se_alone"])
    rows = rows.join(accuracy.normal_intervals(difference, error))
    rows["p_value"] = accuracy.two_sided_p(rows["z"])
    rows["p_family"] = bootstrap.adjust(rows["p_value"])
    return rows


def statements() -> dict[str, object]:
    """Compute results about sections 3 and 4 that only need the printed numbers.

    Returns
    -------
    dict
        For `claims.rows("chatbench", ...)`.

    Examples
    --------
    >>> int(statements()["counts.questions"])
    396
    """
    return {
        **_largest_small_p(),
        **counts(),
        **_sentences(all_tests()),
        **_gaps(),
        "accuracy.gpt4o_math_between": _between(),
    }


def _largest_small_p() -> dict[str, float]:
    """Largest p-value that is possible where the tables print only that it is small."""
    ranges = chatbench.comparisons()
    is_small = ranges["p"].isna()
    _, high = accuracy.attainable_p(ranges.loc[is_small, "z"])
    largest = pd.Series(high).groupby(ranges.loc[is_small, "model"].to_numpy()).max()
    return {
        "tests.a1_below_001": largest[GPT4O],
        "tests.a2_below_001": largest[LLAMA],
    }


def counts() -> dict[str, float]:
    """Compute counts that follow from other printed numbers.

    Returns
    -------
    dict of float
        By name of the result, without the study.

    Examples
    --------
    >>> counts()["counts.conversations"], counts()["counts.user_alone_answers"]
    (6912, 5986)
    """
    sizes = chatbench.N_QUESTIONS
    printed = published_claims()["printed"]
    kinds = ("conversations", "user_alone_answers", "confidence_answers")
    n_answers = sum(int(printed[f"chatbench.counts.{kind}"]) for kind in kinds)
    n_answers += int(printed["chatbench.counts.ai_alone_answers"])
    in_table = chatbench.counts().groupby(level="answer_type").sum()
    names = {name.lower().replace(" ", "_"): name for name in DATASETS}
    return {
        **{f"counts.{short}": sizes[name] for short, name in names.items()},
        "counts.questions": sizes.sum(),
        # batches of five, five and two questions, and of twelve
        "counts.math_batches": 95 / 5,
        "counts.math_batches_appendix": 95 / 5,
        "counts.other_batches": 84 / 12,
        "counts.questions_per_user": 3 + 9 + 1,
        "counts.participants": 650 + 100 + 60,
        "pilots.combinations": 3 * 3 * 3,
        "design.maximum_bonus": 0.10 * 13,
        # 60 % get one of 19 batches of mathematics, 20 % each one of 7 of another
        # subject; each batch comes with two models and two conditions
        "design.same_assignment": 100 * (0.6**2 / (19 * 4) + 2 * 0.2**2 / (7 * 4)),
        "counts.answers": n_answers,
        "counts.answers_thousands": n_answers / 1000,
        # Table A3, which seems to count other groups than the text
        "counts.conversations": int(in_table["user-AI"]),
        "counts.user_alone_answers": int(in_table["user-alone"]),
    }


def _sentences(rows: pd.DataFrame) -> dict[str, object]:
    """Sentences about significance, each with its tests."""
    gpt4o = rows["model"] == GPT4O
    maths = rows["dataset"].isin(MATHEMATICS)
    moral = rows["dataset"] == "Moral Scenarios"
    college = rows["dataset"] == "College Math"
    physics = rows["dataset"] == "Conceptual Physics"
    few_shot = rows["alone"] == FEW_SHOT
    free_text = rows["alone"] == FREE_TEXT
    # the pairs of dataset and model that the paper names as exceptions
    exception = (gpt4o & (moral | college)) | (~gpt4o & physics)
    tested = rows.set_index(["model", "dataset", "condition"])
    tested = tested.rename(columns={"p_value": "p"})

    def parts(mask: pd.Series) -> pd.DataFrame:
        return tested[mask.to_numpy()]

    # Both conditions are tested: one significant difference may be enough, or not.
    pair = ["model", "dataset"]
    exceptions = parts(few_shot & exception)
    others = parts(few_shot & ~exception)
    sure = rows[free_text & (rows["p_family"] < 0.05)]
    one_at_a_time, combinations = _by_subject_model_way_condition(rows)
    found = {
        "few_shot_exceptions": {
            "in both conditions": exceptions,
            "in one condition": exceptions.groupby(level=pair)[["p"]].max(),
        },
        "few_shot_significant": {
            "in each condition": others,
            "in either condition": others.groupby(level=pair)[["p"]].min(),
        },
        "free_text_gpt4o": parts(free_text & gpt4o & ~moral),
        "free_text_gpt4o_moral": parts(free_text & gpt4o & moral),
        "free_text_llama_moral": parts(free_text & ~gpt4o & moral),
        "gpt4o_math_above_user": parts((rows["alone"] == USER_ALONE) & gpt4o & maths),
        "gpt4o_math_below_ai": parts(free_text & gpt4o & maths),
        "llama_math_no_drop": parts(free_text & ~gpt4o & maths),
        "orderings_vary": np.sign(sure["z"]).nunique() == 2,
        "subjects": {
            "one in each subject": one_at_a_time.loc["subject"],
            "every combination": combinations,
        },
        "everywhere": {
            "within each taken one at a time": one_at_a_time,
            "every combination": combinations,
        },
    }
    return {f"accuracy.{name}": value for name, value in found.items()}


def _by_subject_model_way_condition(
    rows: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Smallest p-value for each of these taken one at a time, and in combination."""
    of_ai = rows[rows["alone"] != USER_ALONE].rename(columns={"p_value": "p"})
    of_ai = of_ai.assign(subject=of_ai["dataset"].map(chatbench.SUBJECTS))
    sides = ["subject", "model", "alone", "condition"]
    one_at_a_time = {side: of_ai.groupby(side)[["p"]].min() for side in sides}
    return pd.concat(one_at_a_time), of_ai.groupby(sides)[["p"]].min()


def _gaps() -> dict[str, object]:
    """Sentences that need the difference of two accuracies."""
    cells = chatbench.accuracies().set_index(["model", "dataset", "method"])
    easy, hard, hardest = MATHEMATICS
    alone = cells.xs(USER_ALONE, level="method").swaplevel()
    struggle = {
        name: _gap(alone.loc[easy], alone.loc[name]) for name in (hard, hardest)
    }
    in_free_text = cells.xs(FREE_TEXT, level="method")
    below = _gap(in_free_text.loc[LLAMA], in_free_text.loc[GPT4O])
    below = below.loc[list(MATHEMATICS)]
    # variance of a mean of three independent differences
    variances = in_free_text["se"].unstack("dataset")[list(MATHEMATICS)] ** 2
    error = 100 * np.sqrt(variances.to_numpy().sum()) / 3
    together = accuracy.normal_intervals([below["estimate"].mean()], error).loc[0]
    together["p"] = accuracy.two_sided_p(together["estimate"] / error)
    leaderboard = pd.DataFrame({"mean": LEADERBOARD, "se": 0.0})
    in_letters = cells.xs(FEW_SHOT, level="method").loc[GPT4O]
    match = _gap(in_letters.loc[list(LEADERBOARD)], leaderboard)
    return {
        "accuracy.users_struggle": pd.concat(struggle),
        "accuracy.llama_math_below_gpt4o": {
            "each dataset": below,
            "mathematics together": together,
        },
        # The sentence is no test: its intervals are judged.
        "ai_alone.helm": match[["estimate", "low", "high"]],
    }


def _gap(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Difference of two columns of accuracies, points, with interval and p-value."""
    error = np.hypot(first["se"], second["se"])
    table = 100 * accuracy.normal_intervals(first["mean"] - second["mean"], error)
    return table.assign(p=accuracy.two_sided_p(table["estimate"] / error / 100))


def _between() -> pd.DataFrame:
    """How often GPT-4o's users lie between users alone and free text, in mathematics.

    Accuracies are drawn from normal distributions with their printed standard errors.
    """
    cells = chatbench.accuracies().set_index(["model", "dataset", "method"])
    means = cells["mean"].unstack()
    ses = cells["se"].unstack()
    rng = np.random.default_rng(SEED)
    shares = {}
    for name in MATHEMATICS:
        key = (GPT4O, name)
        drawn = rng.normal(means.loc[key], ses.loc[key], (N_DRAWS, means.shape[1]))
        drawn = pd.DataFrame(drawn, columns=means.columns)
        for users in WITH_AI:
            above = drawn[users] > drawn[USER_ALONE]
            below = drawn[users] < drawn[FREE_TEXT]
            shares[name, WORDS[users]] = (above & below).mean()
    return pd.Series(shares).to_frame("share")
