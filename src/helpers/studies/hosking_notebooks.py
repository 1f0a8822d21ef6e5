"""The numbers that the authors' released notebooks print, recomputed from raw data.

Hosking, Blunsom and Bartolo released two notebooks with stored outputs.
`data/published/hosking_notebooks.csv` lists each distinct number of these outputs once,
with the filter and the rule of the authors' code; `recomputed` adds ours.

Two rules recur. *Labels of a response*: the most frequent label, 0.5 in a tie.
*Repeated pairs*: the same two responses rated by several people; agreement is computed
over these, for a response beside the same other response. For experiment 1 the authors
include two tasks that the paper does not report, so that agreement needs the
submissions; so do the shares of attention checks passed.

References
----------
Hosking, Blunsom and Bartolo (2024), "Human Feedback is not Gold Standard", ICLR; the
notebooks AnalysisPart1 and AnalysisPart2 of github.com/cohere-ai/human-feedback-paper.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.linear_model import Lasso
from sklearn.metrics import precision_score, recall_score

from helpers import paths
from helpers.data import published
from helpers.data.columns import hosking as columns
from helpers.reliability import gwet_ac1, krippendorff_alpha, value_counts
from helpers.studies import hosking
from helpers.studies.hosking_submissions import load_submissions

FILE = paths.PUBLISHED / "hosking_notebooks.csv"
ERRORS_1 = list(columns.ERRORS_1)
ERRORS_2 = list(columns.ERRORS_2)
ASPECTS = ["detail", "clarity", "creativity", "usefulness"]
PRESENTATION = ["confidence", "style"]
SCORES_1 = ["quality_biased", *PRESENTATION, *ASPECTS]
PERCEIVED = ["complexity", "assertiveness"]
LASSO_ALPHA = 0.01
LAST_BATCH = 1000  # submissions of the last of four batches of experiment 1
RELATIVE_TOLERANCE = 1e-9  # of numbers printed with more than ten digits
MOST_ROUNDED_DIGITS = 10

LOADING = "loading on a principal component of four factors"  # quantity
ROUNDING_TWICE = "rounded to two digits, then to one"  # end of a rule
ROUNDED_TWICE = "rounding twice"
SIGN = "scikit-learn chose the signs of principal components by another rule"
UNEXPLAINED = "not found"


def printed_numbers() -> pd.DataFrame:
    """Read the distinct numbers that the authors' notebooks print.

    Returns
    -------
    pandas.DataFrame of str
        Indexed by ``id``: ``notebook``, ``cell``, ``quantity``, ``rating``, ``task``,
        ``system``, ``condition``, ``part``, ``filter``, ``rule``, ``decimals`` and
        ``printed``.

    Examples
    --------
    >>> printed_numbers().loc["hosking.authors.lasso.weight.refusal", "printed"]
    '0.95'
    """
    return published.read_text(FILE).set_index("id")


def recomputed(data_source: str = "real", seed: int = 0) -> pd.DataFrame:
    """Recompute every number of the authors' notebooks and compare it with the print.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`. Simulated tables show that the computation runs; their
        numbers are others.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.DataFrame
        Columns of `printed_numbers`, ``ours`` (not rounded), ``reproduces`` (whether
        ours rounds to the print; within 1e-9 of it, relative, where more than ten
        decimals are printed) and ``cause`` (of a difference, else empty).

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> numbers = recomputed("simulated")
    >>> numbers.loc["hosking.authors.counts_1.responses", "ours"]
    np.float64(900.0)
    """
    compute = (
        first_experiment,
        first_submissions,
        second_experiment,
        second_submissions,
        expert_comparison,
    )
    ours = []
    for by_topic in compute:
        for topic, numbers in by_topic(data_source, seed).items():
            ours.append(_named(topic, numbers))
    return compare(printed_numbers(), pd.concat(ours))


def compare(printed: pd.DataFrame, ours: pd.Series) -> pd.DataFrame:
    """Join printed numbers with ours and say which reproduce.

    Parameters
    ----------
    printed : pandas.DataFrame of str
        Indexed by ``id``, with ``quantity``, ``rule``, ``decimals`` and ``printed``.
    ours : pandas.Series of float
        Indexed by the same ids.

    Returns
    -------
    pandas.DataFrame
        As from `recomputed`.

    Raises
    ------
    ValueError
        If one side has an id that the other lacks.

    Examples
    --------
    >>> printed = printed_numbers().filter(like="lasso.weight.re", axis="index")
    >>> printed["printed"].tolist()
    ['0.60', '0.95', '0.53']
    >>> ours = pd.Series([0.602, 0.949, 0.54], printed.index)
    >>> compare(printed, ours)["reproduces"].tolist()
    [True, True, False]
    """
    missing = printed.index.symmetric_difference(ours.index)
    if len(missing):
        raise ValueError(f"only printed or only computed: {', '.join(missing)}")
    table = printed.assign(ours=ours.reindex(printed.index).astype(float))
    decimals = table["decimals"].astype(int)
    target = table["printed"].astype(float)
    half_a_unit = 0.5 * 10.0**-decimals
    is_long = decimals > MOST_ROUNDED_DIGITS
    tolerance = half_a_unit.mask(is_long, RELATIVE_TOLERANCE * target.abs())
    floating_point = 1e-12
    table["reproduces"] = (table["ours"] - target).abs() <= tolerance + floating_point
    is_same_size = (table["ours"].abs() - target.abs()).abs() <= tolerance
    has_other_sign = table["quantity"].eq(LOADING) & is_same_size
    printed_of_two_digits = table["ours"].round(2).map("{:.1f}".format)
    is_rounded_twice = table["rule"].str.endswith(ROUNDING_TWICE) & (
        printed_of_two_digits == table["printed"]
    )
    table["cause"] = np.select(
        [table["reproduces"], has_other_sign, is_rounded_twice],
        ["", SIGN, ROUNDED_TWICE],
        UNEXPLAINED,
    )
    return table


def _named(topic: str, numbers: pd.Series) -> pd.Series:
    """Turn the index of some numbers into ids, such as hosking.authors.lasso.r2."""
    rows = numbers.index.to_frame().astype(str)
    ids = [
        ".".join(["hosking.authors", topic, *(_slug(word) for word in words if word)])
        for words in rows.itertuples(index=False)
    ]
    return numbers.set_axis(ids).astype(float)


def _slug(word: str) -> str:
    """Write a name as part of an id: command_52b for Command 52B."""
    return re.sub(r"\W+", "_", word.lower())


def first_experiment(data_source: str, seed: int = 0) -> dict[str, pd.Series]:
    """Compute what rests on the released tables of experiment 1, by topic of the id."""
    study = hosking.load_experiment_1(data_source, seed)
    outputs = study.outputs()
    ratings = hosking.without_checks(study.errors)
    labels = outputs[ERRORS_1]
    quality = outputs["quality_unbiased"]
    measures = [*ERRORS_1, "quality_biased", "quality_unbiased"]
    correlated = ["quality_biased", *ASPECTS, *ERRORS_1]
    everything = [*SCORES_1, *ERRORS_1, "response_words", "quality_unbiased"]
    return {
        "means_1": outputs[everything].mean(),
        "means_1_by_system": outputs.groupby("system")[measures].mean().stack(),
        "error_rates_1": outputs.groupby("task")[ERRORS_1].mean().stack(),
        "single_labels_1": ratings.groupby("task")[ERRORS_1].mean().stack(),
        "correlations_1": outputs[correlated].corrwith(quality),
        "distractors_1": distractor_means(
            study.errors, [*ERRORS_1, "quality_biased", *ASPECTS]
        ),
        "lasso": lasso_fit(labels, quality),
        "lasso_without": lasso_without_each(labels, quality),
        "pca": principal_components(outputs[ASPECTS]),
        "counts_1": pd.Series(
            {"responses": len(outputs), "quality_unbiased": len(study.unbiased)}
        ),
    }


def first_submissions(data_source: str, seed: int = 0) -> dict[str, pd.Series]:
    """Compute what rests on all submissions of experiment 1, by topic of the id."""
    _, errors = load_submissions(1, "errors", data_source, seed)
    _, unbiased = load_submissions(1, "unbiased", data_source, seed)
    labels = repeated_pairings(errors)
    quality = repeated_pairings(unbiased)
    aspects = [*SCORES_1, *ERRORS_1]
    ac1 = {"all": ac1_of_each(labels, aspects)}
    for task in columns.TASKS:
        ac1[task] = ac1_of_each(labels[labels["task"] == task], aspects)
    spread = within_response_sd(labels, [*ASPECTS, "quality_biased", *ERRORS_1])
    spread_of_quality = within_response_sd(quality, ["quality_unbiased"])
    alphas = alpha_of_each(labels, [*ASPECTS, "quality_biased", *ERRORS_1])
    alpha_of_quality = alpha_of_each(quality, ["quality_unbiased"])
    n_submissions = errors["pair_id"].nunique()
    last_batch = errors[errors["pair_id"] >= n_submissions - LAST_BATCH]
    shown = last_batch["system"].mask(last_batch["is_distractor"], "distractor")
    return {
        "attention_checks_1": pd.Series(
            {
                "quality_unbiased": checks_passed(unbiased, "quality_unbiased"),
                "quality_biased": checks_passed(errors, "quality_biased"),
            }
        ),
        "sd_1": pd.concat([spread_of_quality, spread]),
        "alpha_1": pd.concat([alpha_of_quality, alphas]),
        "ac1_1": pd.concat(ac1),
        "last_batch_1": last_batch.groupby(shown)["quality_biased"].mean(),
        "counts_1": pd.Series({"error_forms": n_submissions}),
    }


def second_experiment(data_source: str, seed: int = 0) -> dict[str, pd.Series]:
    """Compute what rests on the released tables of experiment 2, by topic of the id."""
    study = hosking.load_experiment_2(data_source, seed)
    outputs = study.outputs()
    by_form = ["quality_biased", *ERRORS_2]
    others = ["quality_unbiased", *PERCEIVED, "response_words"]
    by_system = outputs.groupby("system")[["assertiveness", "quality_unbiased"]]
    pairs = by_system.corr().stack()
    of_pair = pairs.xs(("assertiveness", "quality_unbiased"), level=(1, 2))
    systems = ["Llama 2 13B", "Command 52B"]
    return {
        "means_2": outputs.groupby("arm")[by_form + others].mean().stack(),
        "means_2_by_task": outputs.groupby("task")[by_form].mean().stack(),
        "correlations_2": upper_triangle(outputs[by_form + others].corr()),
        "single_ratings_2": upper_triangle(study.perception[PERCEIVED].corr()),
        "assertiveness_2": of_pair[systems],
    }


def second_submissions(data_source: str, seed: int = 0) -> dict[str, pd.Series]:
    """Compute what rests on all submissions of experiment 2, by topic of the id."""
    asked = {
        "errors": ["quality_biased", *ERRORS_2],
        "unbiased": ["quality_unbiased"],
        "perception": PERCEIVED,
    }
    spread = []
    ac1 = []
    checks = {}
    counts = {}
    for group, aspects in asked.items():
        _, ratings = load_submissions(2, group, data_source, seed)
        counts[group] = ratings["pair_id"].nunique()
        pairings = repeated_pairings(ratings)
        spread.append(within_response_sd(pairings, aspects))
        ac1.append(ac1_of_each(pairings, aspects))
        if group != "perception":
            checks[aspects[0]] = checks_passed(ratings, aspects[0])
    counts["quality_unbiased"] = counts.pop("unbiased")
    return {
        "attention_checks_2": pd.Series(checks),
        "sd_2": pd.concat(spread),
        "ac1_2": pd.concat(ac1),
        "counts_2": pd.Series(counts),
    }


def expert_comparison(data_source: str, seed: int = 0) -> dict[str, pd.Series]:
    """Compare the labels of the crowd with those of the expert, by topic of the id."""
    outputs = hosking.load_experiment_2(data_source, seed).outputs()
    experts = hosking.load_experts(data_source, seed)
    expert = experts[experts["batch"] == "main"]
    crowd_label = outputs.set_index("item_id")["factuality"].rename("crowd")
    both = expert.join(crowd_label, on="item_id")
    verdict = both["factuality"].map({0: "no_error", 1: "error"})
    by_verdict = both.groupby(["arm", verdict])["crowd"]
    # A tie, 0.5, rounds to the even number, 0.
    crowd = both["crowd"].round()
    return {
        "expert_rates": expert.groupby("system")[ERRORS_2].mean().stack(),
        "crowd_by_expert": 100 * by_verdict.mean(),
        "expert_labels": by_verdict.size(),
        "crowd_vs_expert": pd.Series(
            {
                "precision": precision_score(both["factuality"], crowd),
                "recall": recall_score(both["factuality"], crowd),
            }
        ),
        "error_rates_2": rates_without_refusals(outputs, expert),
    }


def rates_without_refusals(outputs: pd.DataFrame, expert: pd.DataFrame) -> pd.Series:
    """Give error rates in % by condition, refusals left out by each side's own label.

    Responses that half of the crowd label as refusals are left out, too. The two sides'
    rates rest on different responses: the crowd's on all of a condition, the expert's
    on 60.
    """
    errors = [error for error in ERRORS_2 if error != "refusal"]
    answered = outputs[outputs["refusal"] < 0.5]
    crowd = 100 * answered.groupby("arm")[errors].mean()
    answered_by_expert = expert[expert["refusal"] != 1]
    by_expert = 100 * answered_by_expert.groupby("arm")[errors].mean()
    rates = {"crowd": crowd, "expert": by_expert, "difference": crowd - by_expert}
    by_side = {side: table.stack() for side, table in rates.items()}
    return pd.DataFrame(by_side).stack()


def lasso_fit(labels: pd.DataFrame, quality: pd.Series) -> pd.Series:
    """Fit the Lasso of Figure 1: intercept, R2 on the same data and weights.

    An error has label -1, as in the authors' code, so that a positive weight means that
    responses with the error score lower.
    """
    model = Lasso(alpha=LASSO_ALPHA).fit(-labels, quality)
    numbers = {
        ("intercept",): model.intercept_,
        ("r2",): model.score(-labels, quality),
    }
    for error, weight in zip(labels, model.coef_, strict=True):
        numbers["weight", error] = weight
    return _by_words(numbers)


def lasso_without_each(labels: pd.DataFrame, quality: pd.Series) -> pd.Series:
    """Fit the Lasso of Figure 9 without each label: weights by omitted and kept one."""
    weights = {}
    for omitted in labels:
        kept = -labels.drop(columns=omitted)
        model = Lasso(alpha=LASSO_ALPHA).fit(kept, quality)
        weights[omitted] = pd.Series(model.coef_, kept.columns)
    return pd.concat(weights)


def principal_components(factors: pd.DataFrame) -> pd.Series:
    """Find principal components of mean ratings: shares of variance and -loadings."""
    model = PCA(n_components=factors.shape[1]).fit(factors)
    numbers = {}
    for component, loadings in enumerate(model.components_):
        number = component + 1
        numbers["variance", number] = model.explained_variance_ratio_[component]
        for factor, loading in zip(factors, loadings, strict=True):
            numbers["loading", number, factor] = -loading
    return _by_words(numbers)


def distractor_means(ratings: pd.DataFrame, measures: Sequence[str]) -> pd.Series:
    """Average distractors and the responses beside them in the attention checks."""
    in_check = ratings[~ratings.index.isin(hosking.without_checks(ratings).index)]
    of_items = in_check.groupby(["is_distractor", "item_id"])[list(measures)].mean()
    means = of_items.groupby("is_distractor").mean().T
    table = pd.DataFrame({"distractor": means[True], "response": means[False]})
    table["difference"] = table["distractor"] - table["response"]
    return table.stack()


def checks_passed(ratings: pd.DataFrame, score: str) -> float:
    """Share of checks in which the distractor scores no higher; a tie passes."""
    is_distractor = ratings["is_distractor"]
    distractor = ratings[is_distractor].set_index("pair_id")[score]
    response = ratings[~is_distractor].set_index("pair_id")[score]
    return float((distractor <= response.loc[distractor.index]).mean())


def repeated_pairings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep responses rated more than once beside the same one, in ``pairing``."""
    pairing = ratings["item_id"] + " beside " + ratings["partner_id"]
    is_repeated = pairing.duplicated(keep=False)
    return ratings.assign(pairing=pairing)[is_repeated]


def within_response_sd(ratings: pd.DataFrame, measures: Sequence[str]) -> pd.Series:
    """Average over repeated pairings the standard deviation (divisor n) of ratings."""
    return ratings.groupby("pairing")[list(measures)].std(ddof=0).mean()


def ac1_of_each(ratings: pd.DataFrame, measures: Sequence[str]) -> pd.Series:
    """Gwet's AC1, unweighted; its categories are the values that occur."""
    values = {}
    for measure in measures:
        counts = value_counts(ratings, measure, item="pairing")
        values[measure] = gwet_ac1(counts)
    return pd.Series(values)


def alpha_of_each(ratings: pd.DataFrame, measures: Sequence[str]) -> pd.Series:
    """Krippendorff's alpha: nominal for errors, ordinal for scores.

    For scores only responses with three ratings or more count, as in the authors' code.
    """
    n_ratings = ratings.groupby("pairing")["pair_id"].transform("size")
    alphas = {}
    for measure in measures:
        if measure in ERRORS_1:
            used, level = ratings, "nominal"
        else:
            used, level = ratings[n_ratings > 2], "ordinal"
        counts = value_counts(used, measure, item="pairing")
        alphas[measure] = krippendorff_alpha(counts, level)
    return pd.Series(alphas)


def upper_triangle(matrix: pd.DataFrame) -> pd.Series:
    """Take each pair of a correlation matrix once, in the order of its columns."""
    is_above = np.triu(np.ones(matrix.shape, dtype=bool), k=1)
    return matrix.where(is_above).stack().dropna()


def _by_words(numbers: Mapping[tuple, float]) -> pd.Series:
    """Index numbers by one to three words, filled up with empty ones."""
    words = [(*key, "", "")[:3] for key in numbers]
    return pd.Series(list(numbers.values()), pd.MultiIndex.from_tuples(words))
