"""How often intervals contain the truth in simulated studies, ours beside the usual.

Run `python -m benchmarks.coverage_table`; it writes `benchmarks/coverage.csv`, a row
per design, statistic and interval.

**Designs.** About 300 answers to 100 prompts, about three raters each, drawn from 6 or
80 raters; a label in 2, 5 or 15 % of ratings. Balanced: three answers per prompt and
three raters per answer, who share the work evenly. Unbalanced: one to five answers per
prompt, two to four raters per answer, and raters whose shares of the work follow a
gamma distribution.

**Generator.** A rater gives the label if a sum of independent normal effects exceeds a
threshold: of the prompt (variance 0.3), the answer (1.2), the rater (0.2) and the
rating (1). The score falls with the effects of prompt and answer behind the label and
behind a second label, in 15 % of ratings, and has effects of prompt, answer, rater and
rating of its own. It does not depend on the labels that raters happened to give.

**Truth.** The rate is the design's; alpha follows from the bivariate normal
distribution of two raters of an answer; a weight is the mean over `LARGE` studies of
the same design with `LARGE_PROMPTS` prompts and 2,000 raters.

**Scales.** The same generator with four thresholds, for alpha of five categories of
which the commonest has 93, 85 or 70 %; the truth is the mean over large studies.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.stats import multivariate_normal, norm, t

from helpers import intervals, regression, reliability
from helpers.data.tables import OptionError

SEED = 20261128
LARGE = 4
LARGE_PROMPTS = 40_000
LARGE_RATERS = 2_000
N_BOOT = 1_000
FEWEST_FOR_RATIO = 50  # studies with a standard error, to compare it with a spread
N_CHECKED = 3  # studies of a design in which a shortcut is checked
VARIANCES = {"prompt_id": 0.3, "item_id": 1.2, "rater_id": 0.2}
TOTAL = 2.5 + 0.2  # variance of the sum, that of the rating is 1
SLOPES = (-0.5, -0.3)  # of the score in what is behind the two labels
SECOND = 0.15  # rate of the second label
FEWEST = 10  # prompts with the label, below which a weight is refused
CLUSTERS = ["rater_id", "prompt_id"]
SHARES_BELOW = {
    "93 %": [0.93, 0.96, 0.98, 0.99],
    "85 %": [0.85, 0.93, 0.97, 0.99],
    "70 %": [0.70, 0.85, 0.93, 0.98],
}
COVERAGE = Path(__file__).parent / "coverage.csv"


@dataclass(frozen=True)
class Design:
    """Who rates what, and how often the label is given."""

    n_raters: int
    rate: float
    is_balanced: bool
    n_prompts: int = 100


def designs() -> list[Design]:
    """List the twelve designs."""
    return [
        Design(n_raters, rate, is_balanced)
        for n_raters in (6, 80)
        for rate in (0.02, 0.05, 0.15)
        for is_balanced in (True, False)
    ]


def large(design: Design) -> Design:
    """Make the design of a study that tells the truth."""
    return Design(LARGE_RATERS, design.rate, design.is_balanced, LARGE_PROMPTS)


def layout(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """Draw who rates which answer to which prompt."""
    n_prompts = design.n_prompts
    if design.is_balanced:
        n_answers = np.full(n_prompts, 3)
        work = np.ones(design.n_raters)
    else:
        n_answers = rng.integers(1, 6, n_prompts)
        work = rng.gamma(1.0, size=design.n_raters) + 0.1
    prompt = np.repeat(np.arange(n_prompts), n_answers)
    n_items = len(prompt)
    n_ratings = np.full(n_items, 3)
    if not design.is_balanced:
        n_ratings = rng.integers(2, 5, n_items)
    item = np.repeat(np.arange(n_items), n_ratings)
    position = np.arange(len(item)) - np.repeat(
        n_ratings.cumsum() - n_ratings, n_ratings
    )
    rater = _raters(work, n_items, rng)[item, position]
    return pd.DataFrame({"prompt_id": prompt[item], "item_id": item, "rater_id": rater})


def _raters(work: np.ndarray, n_items: int, rng: np.random.Generator) -> np.ndarray:
    """Draw four different raters for each answer, in proportion to their work."""
    share = work / work.sum()
    if len(work) > 1_000:
        # so many that a few repeats are drawn again
        drawn = rng.choice(len(work), size=(n_items, 4), p=share)
        while True:
            ordered = np.sort(drawn, axis=1)
            repeats = (np.diff(ordered, axis=1) == 0).any(axis=1)
            if not repeats.any():
                return drawn
            drawn[repeats] = rng.choice(len(work), size=(repeats.sum(), 4), p=share)
    # the smallest of exponential times: sampling without replacement
    times = rng.exponential(size=(n_items, len(work))) / share
    return np.argsort(times, axis=1)[:, :4]


def effects(labels: pd.Series, variance: float, rng: np.random.Generator) -> np.ndarray:
    """Draw a normal effect of each cluster, and give it to its rows."""
    return rng.normal(scale=np.sqrt(variance), size=labels.max() + 1)[labels]


def behind(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """What makes an answer deserve a label, by prompt and answer."""
    of_prompt = effects(frame["prompt_id"], VARIANCES["prompt_id"], rng)
    return of_prompt + effects(frame["item_id"], VARIANCES["item_id"], rng)


def seen(
    frame: pd.DataFrame, trait: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """How strongly each rater sees it."""
    of_rater = effects(frame["rater_id"], VARIANCES["rater_id"], rng)
    return trait + of_rater + rng.normal(size=len(frame))


def study(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """Draw a study: two labels and a score for each rating."""
    frame = layout(design, rng)
    score = 0.0
    for name, rate, slope in zip(
        ("label", "second"), (design.rate, SECOND), SLOPES, strict=True
    ):
        trait = behind(frame, rng)
        threshold = norm.isf(rate) * np.sqrt(TOTAL)
        frame[name] = (seen(frame, trait, rng) > threshold).astype(float)
        score = score + slope * trait
    for column, variance in (("prompt_id", 0.1), ("item_id", 0.2), ("rater_id", 0.2)):
        score = score + effects(frame[column], variance, rng)
    return frame.assign(score=score + rng.normal(scale=0.7, size=len(frame)))


def with_majority(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace labels by those of most raters of an answer, ties by a half."""
    shares = frame.groupby("item_id")[["label", "second"]].transform("mean")
    majority = (1 + np.sign(shares - 0.5)) / 2
    return frame.assign(label=majority["label"], second=majority["second"])


def true_alpha(rate: float) -> float:
    """Alpha of two raters of an answer, from their bivariate normal distribution."""
    correlation = (VARIANCES["prompt_id"] + VARIANCES["item_id"]) / TOTAL
    covariance = [[1.0, correlation], [correlation, 1.0]]
    quantile = norm.ppf(rate)
    both = multivariate_normal([0.0, 0.0], covariance).cdf([quantile, quantile])
    return (both / rate - rate) / (1 - rate)


def true_weights(design: Design, seed: int) -> dict[str, float]:
    """Weights of the label in large studies, as majority and as share of raters."""
    rng = np.random.default_rng([seed, 1])
    studies = []
    for _ in range(LARGE):
        frame = study(large(design), rng)
        row = {}
        for name, rows in (("majority", with_majority(frame)), ("share", frame)):
            means = rows.groupby("item_id")[["label", "second", "score"]].mean()
            x = np.column_stack([np.ones(len(means)), means[["label", "second"]]])
            row[name] = np.linalg.lstsq(x, means["score"], rcond=None)[0][1]
        studies.append(row)
    return pd.DataFrame(studies).mean().to_dict()


# Statistics of one study ----------------------------------------------------------


def row(statistic: str, interval: str, numbers: Sequence[float], how: str) -> dict:
    """One interval of one study."""
    estimate, low, high, standard_error = numbers
    return {
        "statistic": statistic,
        "interval": interval,
        "estimate": estimate,
        "low": low,
        "high": high,
        "standard_error": standard_error,
        "how": how.split(":")[0],
    }


def of_alpha(
    frame: pd.DataFrame, column: str, level: str, statistic: str, rng
) -> list[dict]:
    """Alpha: ours, and percentiles of items that are drawn anew."""
    scale, codes = np.unique(frame[column], return_inverse=True)
    pairs = reliability.Pairs(column, list(scale), level, (slice(None),))
    marks = np.eye(len(scale))[codes]
    items = frame["item_id"].to_numpy()
    counts = added(marks, items)
    terms = pairs.terms(counts)
    estimate = pairs.values(terms.sum(axis=0)[None])[0, 0]
    ours = (estimate, *alpha_interval(frame, pairs, marks, counts, estimate))
    results = [row(statistic, "two-way jackknife", ours[:4], ours[4])]
    alphas = pairs.values(resamples(len(counts), rng) @ terms)[:, 0]
    low, high = np.nanquantile(alphas, [0.025, 0.975])
    numbers = (estimate, low, high, np.nanstd(alphas))
    return [*results, row(statistic, "bootstrap of items", numbers, "bootstrap")]


def alpha_interval(
    frame: pd.DataFrame,
    pairs: reliability.Pairs,
    marks: np.ndarray,
    counts: np.ndarray,
    estimate: float,
) -> tuple[float, float, float, str]:
    """The interval of `reliability.agreement_table`, twenty times faster.

    `check_alpha` compares them. With an interval come its standard error and its kind.
    """
    rule = reliability.interval_rule(counts, "alpha")
    if rule == "Wilson":
        return *reliability.wilson_interval(counts, "alpha"), np.nan, rule
    if rule != "jackknife":
        return np.nan, np.nan, np.nan, rule
    items = frame["item_id"].to_numpy()
    total = pairs.terms(counts)
    raters = frame["rater_id"].to_numpy()
    prompts = frame["prompt_id"].to_numpy()
    variances = []
    effective = []
    for labels in (prompts, raters, prompts * (raters.max() + 1) + raters):
        _, clusters = np.unique(labels, return_inverse=True)
        n = clusters.max() + 1
        parts, part_of_row = np.unique(items * n + clusters, return_inverse=True)
        item, cluster = np.divmod(parts, n)
        lost = total[item] - pairs.terms(counts[item] - added(marks, part_of_row))
        lost = added(lost, cluster)
        changes = pairs.values(total.sum(axis=0) - lost)[:, 0] - estimate
        variances.append((n - 1) / n * (changes**2).sum())
        effective.append(intervals.effective_number(pairs.information(lost))[0])
    k = reliability.raters_per_item(counts)
    variance = reliability.two_way_variance(*variances, k)
    margin = t.ppf(0.975, max(min(effective[:2]) - 1, 1.0)) * np.sqrt(variance)
    high = min(estimate + margin, 1.0)
    return estimate - margin, high, np.sqrt(variance), rule


def added(rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Add up rows by code."""
    return np.column_stack([np.bincount(codes, column) for column in rows.T])


def check_alpha(frame: pd.DataFrame, column: str, level: str, ours: dict) -> None:
    """Stop unless an interval is that of `reliability.agreement_table`."""
    table = reliability.agreement_table(frame, [column], clusters=CLUSTERS, level=level)
    ends = ["estimate", "low", "high", "standard_error"]
    expected = table.iloc[0][ends].astype(float)
    np.testing.assert_allclose([ours[end] for end in ends], expected, rtol=1e-9)


def resamples(n: int, rng: np.random.Generator) -> np.ndarray:
    """How often each of n items is drawn, shape (N_BOOT, n)."""
    drawn = rng.integers(n, size=(N_BOOT, n)) + n * np.arange(N_BOOT)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=N_BOOT * n)
    return counts.reshape(N_BOOT, n).astype(float)


def of_rate(frame: pd.DataFrame) -> list[dict]:
    """The rate: Wilson's interval with the design effect, and without."""
    n = len(frame)
    mean = intervals.group_means(frame, ["label"], CLUSTERS)
    rate = mean.value.iloc[0]
    variance = mean.variance()[0]
    effective = intervals.effective_rows(rate, variance, mean.degrees[0], n)
    low, high = intervals.wilson(rate, effective)
    if rate == 0:
        high = intervals.clopper_pearson_ends(frame["prompt_id"].nunique())
    numbers = (rate, low, high, np.sqrt(variance))
    ours = row("rate", "Wilson, design effect", numbers, "Wilson")
    low, high = intervals.wilson(rate, n)
    numbers = (rate, low, high, np.sqrt(rate * (1 - rate) / n))
    return [ours, row("rate", "Wilson", numbers, "Wilson")]


def of_weight(frame: pd.DataFrame, statistic: str) -> list[dict]:
    """A least-squares weight: ours, and statsmodels' clustered by prompt."""
    features = ["label", "second"]
    has_label = frame.loc[frame["label"] > 0, "prompt_id"].nunique()
    means = frame.groupby("item_id")[[*features, "score", "prompt_id"]].mean()
    unknown = (np.nan, np.nan, np.nan, np.nan)
    name = "jackknife by prompt, IJ by rater"
    peer_name = "statsmodels, by prompt"
    if np.linalg.matrix_rank(sm.add_constant(means[features])) < 3:
        ours = row(statistic, name, unknown, "none")
        return [ours, row(statistic, peer_name, unknown, "none")]
    fit = sm.OLS(means["score"], sm.add_constant(means[features])).fit(
        cov_type="cluster", cov_kwds={"groups": means["prompt_id"].astype(int)}
    )
    low, high = fit.conf_int().loc["label"]
    numbers = (fit.params["label"], low, high, fit.bse["label"])
    peer = row(statistic, peer_name, numbers, "sandwich")
    if has_label < FEWEST:
        return [row(statistic, name, unknown, "none"), peer]
    try:
        estimates = regression.least_squares_of_means(
            frame, features, "score", "item_id", CLUSTERS
        )
    except OptionError:
        return [row(statistic, name, unknown, "none"), peer]
    ours = estimates.table().loc["label"]
    numbers = ours[["estimate", "low", "high", "standard_error"]]
    return [row(statistic, name, numbers, "jackknife"), peer]


# Tables ---------------------------------------------------------------------------


def simulate(design: Design, number: int, n_studies: int) -> pd.DataFrame:
    """Draw studies of a design and compute all intervals."""
    weights = true_weights(design, SEED + number)
    truth = {
        "alpha": true_alpha(design.rate),
        "rate": design.rate,
        "weight of majority label": weights["majority"],
        "weight of share of raters": weights["share"],
    }
    rng = np.random.default_rng([SEED + number, 0])
    results = []
    for drawn in range(n_studies):
        frame = study(design, rng)
        counts = frame.groupby("item_id")["label"].sum()
        rows = [*of_rate(frame)]
        rows += of_weight(with_majority(frame), "weight of majority label")
        rows += of_weight(frame, "weight of share of raters")
        if frame["label"].any():
            alphas = of_alpha(frame, "label", "nominal", "alpha", rng)
            rows += alphas
            if drawn < N_CHECKED:
                check_alpha(frame, "label", "nominal", alphas[0])
        for each in rows:
            each["agreeing"] = (counts >= 2).sum()
        results += rows
    table = pd.DataFrame(results)
    return table.assign(truth=table["statistic"].map(truth))


def scale_study(
    design: Design, shares_below: Sequence[float], rng: np.random.Generator
) -> pd.DataFrame:
    """Draw a study with a rating in five categories."""
    frame = layout(design, rng)
    thresholds = norm.ppf(shares_below) * np.sqrt(TOTAL)
    grade = np.searchsorted(thresholds, seen(frame, behind(frame, rng), rng))
    return frame.assign(grade=grade.astype(float))


def simulate_scale(design: Design, name: str, n_studies: int) -> pd.DataFrame:
    """Draw studies with five categories and compute the intervals of alpha."""
    shares_below = SHARES_BELOW[name]
    number = 100 + list(SHARES_BELOW).index(name)
    rng = np.random.default_rng([SEED + number, 1])
    large_alphas = {level: [] for level in reliability.LEVELS}
    for _ in range(LARGE):
        frame = scale_study(large(design), shares_below, rng)
        counts = reliability.value_counts(frame, "grade")
        for level, alphas in large_alphas.items():
            alphas.append(reliability.krippendorff_alpha(counts, level))
    truth = {f"alpha, {level}": np.mean(each) for level, each in large_alphas.items()}
    rng = np.random.default_rng([SEED + number, design.n_raters, design.is_balanced])
    results = []
    for drawn in range(n_studies):
        frame = scale_study(design, shares_below, rng)
        counts = reliability.value_counts(frame, "grade").to_numpy()
        others = np.delete(counts, counts.sum(axis=0).argmax(), axis=1)
        n_agreeing = (others >= 2).any(axis=1).sum()
        for level in reliability.LEVELS:
            rows = of_alpha(frame, "grade", level, f"alpha, {level}", rng)
            if drawn < N_CHECKED:
                check_alpha(frame, "grade", level, rows[0])
            for each in rows:
                each["agreeing"] = n_agreeing
            results += rows
    table = pd.DataFrame(results)
    return table.assign(truth=table["statistic"].map(truth))


def summary(table: pd.DataFrame, n_studies: int) -> pd.DataFrame:
    """Coverage, refusals and errors of each interval.

    The ratio of standard errors is over the studies that have one by the jackknife, and
    their estimates. Where this is a selection of studies, it compares with the spread
    within the selection.
    """
    rows = {}
    for key, each in table.groupby(["statistic", "interval"], sort=False):
        is_known = each["low"].notna() & each["high"].notna()
        covers = (each["low"] <= each["truth"]) & (each["truth"] <= each["high"])
        coverage = covers[is_known].mean()
        refused = n_studies - is_known.sum()
        many = each["agreeing"] >= FEWEST
        has_error = each["standard_error"].notna()
        spread = each.loc[has_error, "estimate"].std()
        ratio = np.nan
        if has_error.sum() >= FEWEST_FOR_RATIO:
            ratio = each["standard_error"].mean() / spread
        rows[key] = {
            "truth": each["truth"].iloc[0],
            "studies": n_studies,
            "mean_estimate": each["estimate"].mean(),
            "refused_percent": 100 * refused / n_studies,
            "ten_agree_percent": 100 * many.sum() / n_studies,
            "refused_if_ten_agree_percent": 100 * (~is_known)[many].mean(),
            "wilson_percent": 100 * (each["how"] == "Wilson").sum() / n_studies,
            "coverage_percent": 100 * coverage,
            "simulation_error": 100
            * np.sqrt(coverage * (1 - coverage) / max(is_known.sum(), 1)),
            "truth_below_percent": 100 * (each["truth"] < each["low"])[is_known].mean(),
            "se_ratio": ratio,
        }
    result = pd.DataFrame.from_dict(rows, "index")
    return result.rename_axis(["statistic", "interval"]).reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--scale-studies", type=int, default=400)
    options = parser.parse_args()
    tables = []
    start = time.monotonic()
    for number, design in enumerate(designs()):
        table = simulate(design, number, options.studies)
        result = summary(table, options.studies)
        tables.append(described(result, design, f"{100 * design.rate:.0f} %"))
        print(f"{time.monotonic() - start:.0f} s: {design}", flush=True)
        save(tables)
    for name in SHARES_BELOW:
        for n_raters in (6, 80):
            for is_balanced in (True, False):
                design = Design(n_raters, np.nan, is_balanced)
                table = simulate_scale(design, name, options.scale_studies)
                result = summary(table, options.scale_studies)
                tables.append(described(result, design, f"{name} commonest"))
                print(f"{time.monotonic() - start:.0f} s: {name} {design}", flush=True)
                save(tables)


def described(result: pd.DataFrame, design: Design, labels: str) -> pd.DataFrame:
    """Add the design's columns."""
    first = {
        "raters": design.n_raters,
        "labels": labels,
        "balanced": design.is_balanced,
    }
    return pd.DataFrame(first, index=result.index).join(result)


def save(tables: list[pd.DataFrame]) -> None:
    """Write all designs that are finished."""
    pd.concat(tables).round(4).to_csv(COVERAGE, index=False)


if __name__ == "__main__":
    main()
