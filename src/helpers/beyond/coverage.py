"""Populations from which data sets are drawn as large as the tables they are made from.

A table is taken for all there is; a data set is a sample of its clusters, with replacement.

How often intervals hold the truth, measured on data sets drawn from a known population.

Data sets of the size of a table are drawn from it (see `helpers.beyond.coverage`), and each goes
through the very function that printed the interval. The numbers of the table are the truth.

The intervals that notebooks 10 to 12 print, each from the function that prints it.

Every method takes tables of the first experiment of Hosking et al. (2024) and gives ``estimate``,
``low`` and ``high`` by kind of interval and statistic, so that `helpers.beyond.coverage.measure`
can try it on other tables.

The intervals that notebooks 13 to 15 print, each from the function that prints it.

As `helpers.beyond.coverage`, for the second experiment of Hosking et al. (2024).

The intervals that notebooks 20 to 41 print, each from the function that prints it.

As `helpers.beyond.coverage`, for Kamoda et al. (2025), ChatBench and HumBEL.

The inventory of printed intervals: which function, on which table, drawn in which way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from helpers import text
from helpers.beyond import answerers
from helpers.beyond.answerers import accuracy_by_age, by_age
from helpers.beyond.word_tests import word_classes
from helpers.files.schemas import ASPECTS, ERRORS_1, ERRORS_2, IDEALS, RANGES
from helpers.files.tables import check_clusters
from helpers.stats import (
    accuracy,
    agreement,
    aspects,
    bootstrap,
    clustered,
    correlations,
    groups,
    lasso,
    lines,
    ordinal,
)
from helpers.stats.agreement import agreement_table, alpha_at_once, stack_aspects
from helpers.stats.bootstrap import adjust
from helpers.stats.groups import group_means, interval_table, median_table
from helpers.stats.lines import cell_sums
from helpers.stats.moments import cluster_moments
from helpers.stats.rates import arm_contrasts, crowd_expert_gap, drop_refusals, error_rates, slopes
from helpers.studies import chatbench, hosking, hosking_submissions, humbel, kamoda
from helpers.studies.hosking_submissions import hourly_pay, single_ratings


@dataclass(frozen=True, eq=False)
class Clusters:
    """A population of clusters, each of them a set of rows."""

    frame: pd.DataFrame
    cluster: str
    within: tuple[str, ...] = ()

    @cached_property
    def _groups(self) -> list[np.ndarray]:
        """Positions of the rows of each cluster."""
        check_clusters(self.frame, self.cluster)
        return list(self.frame.groupby(self.cluster, sort=True).indices.values())

    def sample(self, rng: np.random.Generator) -> pd.DataFrame:
        """Draw as many clusters as there are, with replacement.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        pandas.DataFrame
            Rows of the clusters drawn; a cluster drawn twice appears under two labels.
        """
        drawn = rng.integers(len(self._groups), size=len(self._groups))
        copies = [self._groups[number] for number in drawn]
        copy = np.repeat(np.arange(len(copies)), [len(rows) for rows in copies])
        sample = self.frame.take(np.concatenate(copies)).reset_index(drop=True)
        labels = {column: _relabel(sample[column], copy) for column in self.within}
        return sample.assign(**{self.cluster: copy}, **labels)


@dataclass(frozen=True, eq=False)
class TwoWays:
    """A population of raters and prompts; a row is what a rater said about an item of a prompt."""

    frame: pd.DataFrame
    rater: str
    prompt: str
    within: tuple[str, ...] = ()

    @cached_property
    def _codes(self) -> list[np.ndarray]:
        """Number of each row's rater, and of its prompt."""
        columns = (self.rater, self.prompt)
        for column in columns:
            check_clusters(self.frame, column)
        return [pd.factorize(self.frame[column], sort=True)[0] for column in columns]

    def sample(self, rng: np.random.Generator) -> pd.DataFrame:
        """Draw as many raters and as many prompts as there are, with replacement.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        pandas.DataFrame
            What the raters drawn said about the prompts drawn, each copy under its own label.
        """
        times = []
        for codes in self._codes:
            size = codes.max() + 1
            times.append(np.bincount(rng.integers(size, size=size), minlength=size)[codes])
        copies = times[0] * times[1]
        rows = np.repeat(np.arange(len(copies)), copies)
        order = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
        rater_copy, prompt_copy = order % times[0][rows], order // times[0][rows]
        sample = self.frame.take(rows).reset_index(drop=True)
        labels = {column: _relabel(sample[column], prompt_copy) for column in self.within}
        return sample.assign(
            **{
                self.rater: _relabel(sample[self.rater], rater_copy),
                self.prompt: _relabel(sample[self.prompt], prompt_copy),
            },
            **labels,
        )


@dataclass(frozen=True, eq=False)
class Measurements:
    """A population of one: numbers that are measured anew with normal errors."""

    frame: pd.DataFrame
    value: str
    error: str

    def sample(self, rng: np.random.Generator) -> pd.DataFrame:
        """Measure every number once more.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        pandas.DataFrame
        """
        measured = rng.normal(self.frame[self.value], self.frame[self.error])
        return self.frame.assign(**{self.value: measured})


Population = Clusters | TwoWays | Measurements


def _relabel(labels: pd.Series, copy: np.ndarray) -> np.ndarray:
    """Numbers that tell the copies of each label apart."""
    codes = pd.factorize(labels)[0]
    return codes * (copy.max(initial=0) + 1) + copy


NOMINAL = 0.95
ROUNDING = 1e-9  # an interval may miss the truth by so much, as a share of it

Method = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]


def measure(method: Method, population: Population, n_sets: int, seed: int) -> pd.DataFrame:
    """Draw data sets and see whether each interval holds the number of the population."""
    rng = np.random.default_rng(seed)
    truth = method(population.frame, rng)["estimate"].dropna()
    slack = ROUNDING * truth.abs() + ROUNDING
    covered = []
    for _ in range(n_sets):
        sample = population.sample(rng)
        try:
            found = method(sample, rng).reindex(truth.index)
        except ValueError:
            found = pd.DataFrame(np.nan, truth.index, ["low", "high"])
        holds = (found["low"] <= truth + slack) & (found["high"] >= truth - slack)
        covered.append(holds.astype(float).where(found["low"].notna()))
    table = pd.DataFrame(covered).reset_index(drop=True)
    names = truth.index.to_frame(index=False).assign(zero=truth.to_numpy() == 0)
    table.columns = pd.MultiIndex.from_frame(names)
    return table


def count(covered: pd.DataFrame) -> pd.DataFrame:
    """Count for each statistic how many intervals hold the truth."""
    by_set = covered.mean(axis="columns").dropna()
    share, variance = by_set.mean(), by_set.var(ddof=1) / len(by_set)
    effective = share * (1 - share) / variance if variance > 0 else len(by_set)
    return pd.DataFrame(
        {
            "covered": covered.eq(1).sum(),
            "missed": covered.eq(0).sum(),
            "undefined": covered.isna().sum(),
            "effective": effective,
        }
    )


def coverage_summary(counts: pd.DataFrame) -> pd.Series:
    """Average coverage of several statistics, and the lowest of them."""
    n_sets = counts["covered"] + counts["missed"]
    each = counts["covered"] / n_sets
    share, effective = each.mean(), counts["effective"].mean()
    low, high = proportion_confint(share * effective, effective, method="wilson")
    tests = binom.cdf(counts["covered"], n_sets, NOMINAL)
    return pd.Series(
        {
            "statistics": len(each),
            "estimate": float(share),
            "low": low,
            "high": high,
            "lowest": float(each.min()),
            "where": each.idxmin(),
            "too low": int((adjust(tests) < 0.05).sum()),
            "undefined": float((counts["undefined"] / (n_sets + counts["undefined"])).mean()),
        }
    )


ALPHA = 0.01  # penalty of the Lasso
LENGTHS = (30, 90, 180)  # words of responses called short, middle and long
SCORES = ("quality_unbiased", "quality_biased")


def stack(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Put tables of several kinds of interval below each other."""
    parts = {}
    for kind, table in tables.items():
        keys = [key if isinstance(key, tuple) else (key,) for key in table.index]
        labels = pd.Index([", ".join(map(str, key)) for key in keys])
        parts[kind] = table[["estimate", "low", "high"]].set_axis(labels, axis="index")
    return pd.concat(parts, names=["interval", "statistic"])


def weights(outputs: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """What errors cost, on one row per output of experiment 1 (notebook 11)."""
    errors = _varying(outputs, ERRORS_1)
    moments = cluster_moments(outputs, errors, SCORES[0], "prompt_id")
    found = lasso.lasso(outputs, errors, SCORES[0], ALPHA)
    draws = lasso.lasso_bootstrap(moments, ALPHA, n_boot, rng)
    pairs = [("refusal", "factuality"), ("refusal", "formatting"), ("factuality", "inconsistency")]
    gaps = pd.Series({f"{a} − {b}": found[a] - found[b] for a, b in pairs})
    gap_draws = pd.DataFrame({f"{a} − {b}": draws[a] - draws[b] for a, b in pairs})
    return stack(
        {
            "Lasso weight": interval_table(found, draws),
            "difference of Lasso weights": interval_table(gaps, gap_draws),
            "least squares by prompt": lasso.ols(outputs, errors, SCORES[0], "prompt_id"),
        }
    )


def scores_of_systems(outputs: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Rates, scores and correlations of experiment 1 (notebooks 11 and 12)."""
    errors = _varying(outputs, ERRORS_1)
    shown = outputs[outputs["system"].isin(["Command 52B", "References"])]
    rates = error_rates(shown, errors, "system", "prompt_id")
    means = group_means(outputs, SCORES, "system", "prompt_id", n_boot, rng)
    compared = correlations.compare_correlations(outputs, errors, SCORES, "prompt_id", n_boot, rng)
    wide = outputs.pivot(index="prompt_id", columns="system", values=list(SCORES))
    above = wide.drop(columns="References", level=1)
    above = above - wide.xs("References", axis=1, level=1)[list(SCORES)].reindex(
        columns=above.columns, level=0
    )
    above.columns = [", ".join(names) for names in above.columns]
    draws = bootstrap.bootstrap_means(above.reset_index(), list(above), "prompt_id", n_boot, rng)
    low, high = bootstrap.simultaneous_interval(above.mean(), draws)
    together = pd.DataFrame({"estimate": above.mean(), "low": low, "high": high})
    return stack(
        {
            "rate in a group (Wilson)": rates.set_index(["system", "error"]),
            "mean of a group": means,
            "correlation": compared.drop("difference"),
            "difference of correlations": compared.loc[["difference"]],
            "differences from references, at once": together,
        }
    )


def lengths(outputs: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Curves over the length of responses (notebook 12)."""
    curve = lines.fit_curve(outputs, "response_words", SCORES[0], "prompt_id")
    short, middle, long = LENGTHS
    band = curve.band(np.linspace(short, long, 20), n_boot, rng).set_index("x")
    steps = {"short to middle": (short, middle), "middle to long": (middle, long)}
    bins = lines.binned_means(outputs, "response_words", SCORES[0], "prompt_id", 10, n_boot, rng)
    past = outputs[outputs["response_words"] > middle]
    slopes = lines.adjusted_slope(
        past, "response_words", SCORES[0], ["repetition"], "prompt_id", n_boot, rng
    )
    return stack(
        {
            "curve, at once": band,
            "change along a curve": curve.changes(steps, n_boot, rng),
            "mean in a bin": bins.reset_index(drop=True),
            "adjusted slope": slopes,
        }
    )


def agreed(repeated: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Agreement of raters on errors (notebook 10)."""
    table = agreement.agreement_table(
        repeated, list(ERRORS_2), "item_id", "prompt_id", [0, 1], n_boot, rng
    ).set_index("aspect")
    columns = {"Gwet's AC1": "ac1", "Krippendorff's alpha": "alpha"}
    parts = {
        kind: table[[name, f"{name}_low", f"{name}_high"]].set_axis(
            ["estimate", "low", "high"], axis="columns"
        )
        for kind, name in columns.items()
    }
    return stack(parts)


def checks(ratings: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Distractors against the responses beside them (notebook 10)."""
    ranks = agreement.rank_shares(ratings.assign(all="all"), "quality_biased", "all")
    ranks = ranks[["lower", "lower_low", "lower_high"]]
    names = ["estimate", "low", "high"]
    changes = agreement.against_partner(ratings, list(ERRORS_1), n_boot, rng)
    return stack(
        {
            "share of checks (Wilson)": ranks.set_axis(names, axis="columns"),
            "distractor minus partner": changes,
        }
    )


def pay(sessions: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Median pay per hour in each group of raters (notebook 10)."""
    return stack({"median": median_table(sessions, "pay", "raters", "rater_id", n_boot, rng)})


def single_scores(ratings: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Cumulative logit model of single scores, clustered by rater and prompt (notebook 11)."""
    errors = _varying(ratings, ERRORS_1)
    model = ordinal.fit(ratings, errors, SCORES[0])
    table = model.effects(ratings).table(ratings[["rater_id", "prompt_id"]])
    return stack({"ordinal model, rater and prompt": table})


def _varying(table: pd.DataFrame, errors: Sequence[str]) -> list[str]:
    """Errors that some rows have and others do not."""
    return [error for error in errors if table[error].min() < table[error].max()]


TONE = ("assertive_low", "assertive_high")
TESTED_ERRORS = tuple(error for error in ERRORS_2 if error != "refusal")


def tones(answers: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Crowd and experts under different preambles (notebooks 13 and 14)."""
    errors = list(TESTED_ERRORS)
    ratings = ["assertiveness", "complexity", SCORES[0]]
    toned = answers[answers["arm"].isin(TONE)]
    crowd = drop_refusals(toned, "majority")
    expert = toned.dropna(subset=[f"expert_{error}" for error in ERRORS_2])
    expert = expert.drop(columns=list(ERRORS_2)).rename(columns=lambda c: c.removeprefix("expert_"))
    expert = drop_refusals(expert, "majority")
    rates = [error_rates(rows, errors, "arm", "prompt_id") for rows in (crowd, expert)]
    by_arm = [table.set_index(["arm", "error"]) for table in rates]
    gap = crowd_expert_gap(*rates).set_index(["arm", "error"])
    changes = arm_contrasts(crowd, expert, errors, TONE, n_boot, rng)
    apart = groups.mean_differences(answers, ratings, "arm", "baseline", "prompt_id", n_boot, rng)
    paired = groups.paired_differences(
        answers, ratings, "arm", "baseline", "prompt_id", n_boot, rng
    )
    by_tone = slopes(answers, ["factuality", "relevance"], "assertiveness")
    return stack(
        {
            "crowd's rate in an arm (Wilson)": by_arm[0],
            "experts' rate in an arm (Wilson)": by_arm[1],
            "crowd minus experts": gap,
            "change between arms": changes.set_index(["labels", "error"]),
            "difference of means": apart.set_index(["aspect", "arm"]),
            "difference within prompts": paired.set_index(["aspect", "arm"]),
            "slope of an error rate": by_tone.set_index("error"),
        }
    )


def with_experts(outputs: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Set the experts' labels of the main batch beside the crowd's."""
    main = labels[labels["batch"] == "main"].set_index("item_id")[list(ERRORS_2)]
    return outputs.join(main.add_prefix("expert_"), on="item_id")


def tone_lines(answers: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Correlations, and lines of five models through five arms (notebook 15)."""
    ratings = ["assertiveness", "complexity", *SCORES]
    draws = correlations.bootstrap_correlations(answers, ratings, "prompt_id", n_boot, rng)
    sums = cell_sums(answers, "assertiveness", SCORES[0], "system", "arm", "prompt_id")
    replicates = bootstrap.cluster_weights(len(sums.sums), n_boot, rng)
    found = {
        "slope of a line": (sums.lines().slope[0], sums.lines(replicates).slope),
        "range over arms": (sums.ranges()[0], sums.ranges(replicates)),
        "change from the baseline": (
            sums.changes("baseline")[0],
            sums.changes("baseline", replicates),
        ),
    }
    tables = {
        kind: interval_table(
            pd.Series(estimate, list(sums.groups)), pd.DataFrame(drawn, columns=list(sums.groups))
        )
        for kind, (estimate, drawn) in found.items()
    }
    matrix = correlations.correlation_table(answers, ratings, draws)
    return stack({"correlation of ratings": matrix, **tables})


def single_marks(ratings: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Changes of single marks between arms, by prompt alone and by rater too (notebook 14)."""
    tone = {"tone": TONE}
    raw = clustered.mark_contrasts(ratings, TESTED_ERRORS, tone)
    within = clustered.mark_contrasts(ratings, TESTED_ERRORS, tone, within="rater_id")
    both = ratings[["rater_id", "prompt_id"]]
    return stack(
        {
            "single marks, rater and prompt": raw.table(both),
            "single marks within raters": within.table(both),
            "single marks, prompt only": raw.table(both[["prompt_id"]]),
        }
    )


SCALES = {name: range(low, high + 1) for name, (low, high) in RANGES.items()}


def long_form(ratings: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Means, agreement and weights of aspects of long-form answers (notebooks 20 and 21)."""
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
    """Means with raters resampled (notebooks 20 and 23)."""
    columns = ["acceptability", *ASPECTS]
    return stack({"mean by rater": group_means(ratings, columns, None, "rater_id", n_boot, rng)})


def judges(scored: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Correlations of automatic scores with people's, and their difference (notebook 24)."""
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
    """Correlation of accuracies over questions (notebook 31)."""
    found = accuracy.noisy_correlation(
        table, "free_text", "user_ai", "n_answers", "question_id", n_boot, rng
    )
    return stack({"question-level correlation": found})


def dataset_accuracies(questions: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Accuracy on each dataset, with the standard error from its questions (notebook 31)."""
    cells = {name: accuracy.dataset_accuracy(rows) for name, rows in questions.groupby("dataset")}
    table = pd.DataFrame(cells).T
    margin = accuracy.NORMAL_95 * table["se"]
    mean = table["accuracy"]
    bounds = {"estimate": mean, "low": mean - margin, "high": mean + margin}
    return stack({"accuracy on a dataset": pd.DataFrame(bounds)})


def averages(cells: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Averages over accuracies with known standard errors (notebook 30)."""
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
    """Share of right answers in a small sample (notebook 41)."""
    share, width = answers["right"].mean(), answerers.hoeffding_width(len(answers))
    row = {"estimate": share, "low": share - width, "high": share + width}
    return stack({"share (Hoeffding)": pd.DataFrame(row, index=["right"])})


def ages(answers: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Share of right answers at each age, clustered by cue (notebook 41)."""
    table = accuracy_by_age(answers.drop(columns="cue"), answers["cue"], n_boot, rng)
    return stack({"share of right answers at an age": table.set_index("x")})


def lexicon_accuracy(mentions: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Precision and recall of keywords (notebook 23)."""
    counts = mentions["outcome"].value_counts().reindex(text.COUNTS, fill_value=0)
    found = text.precision_and_recall(counts.to_frame("all").T)
    return stack({"precision and recall (Wilson)": found.loc["all"].unstack()})


RATES = {"errors": 0.60, "unbiased": 0.30, "perception": 0.30}  # GBP for a submission
TRUTH_ZERO = ", truth zero"
AT_ONCE = "at once"  # ends the names of intervals that are meant to hold together
SMALL_SAMPLE = 108  # questions
MODEL_ANSWERS = "data/answers/all_minilm_l6_v2_word_classes.csv"

PRINTED_IN = {
    "Lasso weight": "00, 11",
    "difference of Lasso weights": "11",
    "least squares by prompt": "11",
    "ordinal model, rater and prompt": "11",
    "rate in a group (Wilson)": "11, 14, 31",
    "mean of a group": "11, 13, 14",
    "correlation": "12",
    "difference of correlations": "12",
    "differences from references, at once": "12",
    "curve, at once": "12",
    "change along a curve": "12",
    "mean in a bin": "12",
    "adjusted slope": "12",
    "crowd's rate in an arm (Wilson)": "14",
    "experts' rate in an arm (Wilson)": "14",
    "crowd minus experts": "14",
    "change between arms": "14",
    "difference of means": "13",
    "difference within prompts": "13",
    "slope of an error rate": "14",
    "single marks, rater and prompt": "14",
    "single marks within raters": "14",
    "single marks, prompt only": "14",
    "correlation of ratings": "13, 15",
    "slope of a line": "15",
    "range over arms": "15",
    "change from the baseline": "15",
    "Gwet's AC1": "10",
    "Krippendorff's alpha": "10",
    "share of checks (Wilson)": "10",
    "distractor minus partner": "10",
    "median": "10, 13",
    "mean by question": "20, 24",
    "share preferred": "20",
    "mean by rater": "20, 23",
    "Krippendorff's alpha, scales": "10, 20",
    "weight of an aspect": "00, 21, 22",
    "ratio of weights": "21",
    "weight between people": "21",
    "correlation of a judge": "24",
    "gain of a judge": "24",
    "precision and recall (Wilson)": "23",
    "mean accuracy": "30",
    "mean deviation of accuracies": "30",
    "accuracy on a dataset": "31",
    "question-level correlation": "31",
    "share (Hoeffding)": "41",
    "share of right answers at an age": "41",
}


def hosking_inventory(data_source: str, seed: int, n_boot: int) -> list[tuple[Method, Population]]:
    """Methods of notebooks 10 to 15, each with the population to draw from.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}
        As `registry.locate`.
    seed : int
        Seed of the simulation, if there is one.
    n_boot : int
        Bootstrap replicates of each interval.

    Returns
    -------
    list of (callable, population)
        Arguments for `helpers.beyond.coverage.measure`.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> len(hosking_inventory("simulated", 0, 9))
    10
    """
    first = hosking.load_experiment_1(data_source, seed)
    source, outputs = first.source, first.outputs()
    answers = with_experts(
        hosking.load_experiment_2(source, seed).outputs(), hosking.load_experts(source, seed).labels
    )
    by_prompt, by_answer = Clusters(outputs, "prompt_id"), Clusters(answers, "prompt_id")
    resampled = [
        (weights, by_prompt),
        (scores_of_systems, by_prompt),
        (lengths, by_prompt),
        (tones, by_answer),
        (tone_lines, by_answer),
        *_annotation_quality(source, seed),
    ]
    design = ["item_id", "prompt_id", "rater_id"]
    scores = single_ratings(1, "unbiased", source, seed)[[*design, "quality_unbiased"]]
    scores = scores.merge(outputs[["item_id", *ERRORS_1]], on="item_id")
    marks = single_ratings(2, "errors", source, seed)[[*design, "arm", *ERRORS_2]]
    return [
        *((partial(method, n_boot=n_boot), population) for method, population in resampled),
        (single_scores, TwoWays(scores, "rater_id", "prompt_id")),
        (single_marks, TwoWays(marks, "rater_id", "prompt_id")),
    ]


def _annotation_quality(source: str, seed: int) -> list[tuple[Callable, Population]]:
    """Methods of notebook 10 with their populations."""
    shown = hosking_submissions.load_submissions(1, "errors", source, seed).ratings
    distractors = shown["pair_id"].isin(shown.loc[shown["is_distractor"], "pair_id"])
    repeated = hosking_submissions.repeated(hosking.without_checks(shown))
    sessions = hosking_submissions.load_sessions(source, seed)
    sessions["raters"] = sessions["experiment"].astype(str) + " " + sessions["group"]
    sessions["pay"] = hourly_pay(sessions, RATES)
    return [
        (
            agreed,
            Clusters(repeated[["item_id", "prompt_id", *ERRORS_2]], "prompt_id", ("item_id",)),
        ),
        (checks, Clusters(shown[distractors], "prompt_id", ("pair_id",))),
        (pay, Clusters(sessions[["raters", "pay", "rater_id"]], "rater_id")),
    ]


def other_inventory(data_source: str, seed: int, n_boot: int) -> list[tuple[Method, Population]]:
    """Methods of notebooks 20 to 41, each with the population to draw from.

    Parameters
    ----------
    data_source, seed, n_boot
        As for `hosking_inventory`. Answers of ChatBench are always simulated, from printed
        accuracies, unless they are at hand.

    Returns
    -------
    list of (callable, population)
        Arguments for `helpers.beyond.coverage.measure`.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> len(other_inventory("simulated", 0, 9))
    9
    """
    study = kamoda.load(data_source, seed)
    simulated = "simulated" if data_source == "simulated" else "auto"
    chat = chatbench.load(simulated, seed)
    wide = chat.questions().pivot(
        index=["model", "dataset", "question_id"],
        columns="method",
        values=["accuracy", "n_answers"],
    )
    free, direct = "AI free text", chatbench.CONDITIONS["direct to AI"]
    table = pd.DataFrame(
        {
            "free_text": wide["accuracy", free],
            "user_ai": wide["accuracy", direct],
            "n_answers": wide["n_answers", direct],
        }
    )
    table = table.astype(float).dropna().reset_index()
    one_cell = table[table["model"] == table["model"].iloc[0]].assign(accuracy=table["user_ai"])
    age_table, small = _age_tests(data_source, seed)
    resampled = [
        (long_form, Clusters(study.ratings, "question_id", ("item_id",))),
        (by_rater, Clusters(study.ratings, "rater_id")),
        (judges, Clusters(_judged(study), "question_id")),
        (questions, Clusters(table, "question_id")),
        (ages, Clusters(age_table, "cue")),
    ]
    checked = text.read_hand_check().sum()
    mentions = pd.DataFrame({"outcome": np.repeat(checked.index, checked)}).reset_index()
    return [
        *((partial(method, n_boot=n_boot), population) for method, population in resampled),
        (dataset_accuracies, Clusters(one_cell, "question_id")),
        (averages, Measurements(chatbench.accuracies(), "mean", "se")),
        (small_sample, Clusters(small, "question")),
        (lexicon_accuracy, Clusters(mentions, "index")),
    ]


def _judged(study: kamoda.Kamoda) -> pd.DataFrame:
    """GPT-4's acceptability and weighted score of each answer, beside people's."""
    distance = aspects.ideal_distance(study.ratings, ASPECTS, IDEALS, RANGES)
    missing = IDEALS["acceptability"] - study.ratings["acceptability"]
    weights = aspects.weights(distance.assign(missing=missing), ASPECTS, "missing")
    gpt4 = study.evaluators[study.evaluators["evaluator"] == "gpt4"]
    people = study.answers()[["item_id", "question_id", "acceptability"]]
    scored = gpt4.assign(
        direct=gpt4["acceptability"],
        weighted=aspects.weighted_rating(gpt4, weights, IDEALS, RANGES, "acceptability"),
    )
    people = people.rename(columns={"acceptability": "human"})
    return people.merge(scored[["item_id", "direct", "weighted"]], on="item_id")


def _age_tests(data_source: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers to the word classes test by age, and as many single answers as a small sample has."""
    study = humbel.load(data_source, seed)
    questions = word_classes(study.associations, study.norms)
    chosen = answerers.of_model(study, questions, MODEL_ANSWERS, seed)
    right = (chosen == answerers.always_right(questions)).astype(float)
    columns = by_age(right, questions["age"], "at").assign(cue=questions["cue"])
    small = right.sample(SMALL_SAMPLE, random_state=seed).rename("right").reset_index()
    return columns, small


def measure_all(inventory: list[tuple[Method, Population]], n_sets: int, seed: int) -> pd.DataFrame:
    """Measure coverage of every method of an inventory.

    Parameters
    ----------
    inventory : list of (callable, population)
        As from `hosking_inventory`.
    n_sets : int
        Data sets drawn for each method; those of a shorter run are the first of a longer one.
    seed : int
        Of the random numbers.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.beyond.coverage.count`, indexed by ``interval`` (its kind) and
        ``statistic``. Intervals that are meant to hold together are one statistic. Statistics
        whose truth is exactly zero are a kind of their own, unless all are.

    Examples
    --------
    >>> inventory = hosking_inventory("simulated", 0, 19)[:1]
    >>> measure_all(inventory, 2, 0).index.unique("interval").tolist()[:2]
    ['Lasso weight', 'Lasso weight, truth zero']
    """
    counts = {}
    for method, population in inventory:
        covered = measure(method, population, n_sets, seed)
        for kind in covered.columns.unique("interval"):
            counts |= {name: count(part) for name, part in _parts(kind, covered[kind]).items()}
    return pd.concat(counts, names=["interval", "statistic"])


def _parts(kind: str, covered: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tell statistics whose truth is zero from the others."""
    if kind.endswith(AT_ONCE):
        return {kind: covered.min(axis="columns", skipna=False).to_frame("all")}
    zero = covered.columns.get_level_values("zero").to_numpy(dtype=bool)
    covered = covered.droplevel("zero", axis="columns")
    if zero.all() or not zero.any():
        return {kind: covered}
    return {kind: covered.loc[:, ~zero], f"{kind}{TRUTH_ZERO}": covered.loc[:, zero]}


def coverage_table(counts: pd.DataFrame) -> pd.DataFrame:
    """Summarise coverage by kind of interval.

    Parameters
    ----------
    counts : pandas.DataFrame
        Result of `measure_all`.

    Returns
    -------
    pandas.DataFrame
        A row per kind: ``printed in`` (notebooks), and the entries of
        `helpers.beyond.coverage.coverage_summary`.

    Examples
    --------
    >>> counts = pd.DataFrame({"covered": 19, "missed": 1, "undefined": 0, "effective": 20.0},
    ...                       index=pd.MultiIndex.from_tuples([("median", "1 errors")]))
    >>> coverage_table(counts)[["printed in", "estimate"]]
           printed in  estimate
    median     10, 13      0.95
    """
    kinds = counts.index.unique(0)
    table = pd.DataFrame(
        {kind: coverage_summary(counts.loc[kind]) for kind in kinds}
    ).T.infer_objects()
    table.insert(0, "printed in", kinds.str.removesuffix(TRUTH_ZERO).map(PRINTED_IN))
    return table
