"""How often the intervals of the headline results contain the truth.

Run `python -m benchmarks.coverage_headlines --studies 1000`; it needs the real ratings
and writes `benchmarks/coverage_headlines.csv`, a row for each saved result.

**Generator.** Studies are drawn anew from models that are fitted to the ratings.
Prompts are drawn with replacement, with their answers and with who rated them, and
count as new ones. A rating is its fitted value (least squares on what the
result is about) plus new normal effects of rater, prompt, answer and rating, with
variances by the method of moments; in Kamoda et al. each worker also has slopes of his
or her own. It is rounded to the scale. Labels of the 279 answers come from a threshold
model: the label is given if a sum of effects of prompt, answer, rater and vote exceeds
the threshold of the condition; the expert shares the effects of prompt and answer, as
far as the tetrachoric correlation with the workers says.

**Truth.** The mean of the estimates over all studies drawn, so that rounding and
refitted trees are part of the truth. Its own error is small beside the intervals. The
expert of the 279 answers is one person in all studies.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.tree import DecisionTreeRegressor

from helpers import compare, correlation, rates, weights
from helpers.studies import hosking, kamoda

SEED = 20261128
FILE = Path(__file__).parent / "coverage_headlines.csv"
ENDS = ["estimate", "low", "high"]
Study = Callable[[np.random.Generator], pd.DataFrame]


def pair_products(values: pd.Series, cluster: pd.Series) -> tuple[float, int]:
    """Sum of the products of all pairs of rows in a cluster, and their number."""
    groups = values.groupby(cluster.to_numpy())
    sums, squares, sizes = (
        groups.sum(),
        groups.agg(lambda v: (v**2).sum()),
        groups.size(),
    )
    return ((sums**2 - squares) / 2).sum(), (sizes * (sizes - 1) / 2).sum()


def covariances(values: pd.Series, rows: pd.DataFrame, prompt: str) -> dict[str, float]:
    """Mean products of pairs that share a rater, a prompt or an answer only."""
    cell = rows["rater_id"].astype(str) + rows[prompt].astype(str)
    of = {
        "rater": pair_products(values, rows["rater_id"]),
        "prompt": pair_products(values, rows[prompt]),
        "item": pair_products(values, rows["item_id"]),
        "cell": pair_products(values, cell),
    }

    def without(whole: str, part: str) -> float:
        pairs = of[whole][1] - of[part][1]
        return (of[whole][0] - of[part][0]) / pairs if pairs else 0.0

    products, pairs = of["item"]
    return {
        "rater": without("rater", "cell"),
        "prompt": without("prompt", "item"),
        "item": products / pairs if pairs else 0.0,
    }


def variances(values: pd.Series, rows: pd.DataFrame, prompt: str) -> dict[str, float]:
    """Variances of rater, prompt, answer and rating by the method of moments."""
    found = covariances(values, rows, prompt)
    found = {name: max(value, 0.0) for name, value in found.items()}
    found["item"] = max(found["item"] - found["prompt"], 0.0)
    found["rest"] = max(values.var() - sum(found.values()), 0.0)
    return found


def draw_effects(
    variance: dict[str, float],
    rows: pd.DataFrame,
    prompt: str,
    random: np.random.Generator,
) -> np.ndarray:
    """New normal effects of raters, prompts, answers and ratings, added up."""
    total = np.sqrt(variance["rest"]) * random.standard_normal(len(rows))
    columns = {"rater": "rater_id", "prompt": prompt, "item": "item_id"}
    for name, column in columns.items():
        code, levels = pd.factorize(rows[column])
        effects = np.sqrt(variance[name]) * random.standard_normal(len(levels))
        total += effects[code]
    return total


def slope_variance(rows: pd.DataFrame, x: list[str], y: str) -> np.ndarray:
    """Variances of slopes between raters beyond those of chance."""
    slopes, errors = [], []
    for _, part in rows.groupby("rater_id"):
        design = np.column_stack([np.ones(len(part)), part[x]])
        if len(part) < 30 or np.linalg.matrix_rank(design) < design.shape[1]:
            continue
        beta, rest, *_ = np.linalg.lstsq(design, part[y].to_numpy(), rcond=None)
        noise = rest[0] / (len(part) - design.shape[1])
        inverse = np.linalg.inv(design.T @ design)
        slopes.append(beta[1:])
        errors.append(noise * np.diag(inverse)[1:])
    return np.clip(np.var(slopes, axis=0, ddof=1) - np.mean(errors, axis=0), 0, None)


def new_prompts(
    rows: pd.DataFrame, prompt: str, random: np.random.Generator
) -> pd.DataFrame:
    """Rows of prompts that are drawn with replacement, each with ids of its own."""
    code, names = pd.factorize(rows[prompt])
    order = np.argsort(code, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(code))])
    drawn = random.integers(len(names), size=len(names))
    parts = [order[starts[each] : starts[each + 1]] for each in drawn]
    number = np.repeat(np.arange(len(drawn)), [len(part) for part in parts])
    chosen = rows.iloc[np.concatenate(parts)].reset_index(drop=True)
    chosen[prompt] = number
    chosen["item_id"] = [
        f"{each}|{item}" for each, item in zip(number, chosen["item_id"], strict=True)
    ]
    return chosen


def rated_anew(
    rows: pd.DataFrame,
    x: pd.DataFrame,
    y: pd.Series,
    prompt: str,
    scale: tuple[float, float],
    slopes: np.ndarray | None = None,
) -> Callable[[np.random.Generator], pd.DataFrame]:
    """Fit a model of single ratings; what is returned draws studies, rated `new`."""
    fitted = pd.Series(LinearRegression().fit(x, y).predict(x), y.index)
    variance = variances(y - fitted, rows, prompt)
    if slopes is not None:
        variance["rest"] -= (x**2 * slopes).sum(axis=1).mean()
        variance["rest"] = max(variance["rest"], 0.01)
    features = list(x.columns)
    whole = rows.drop(columns=features, errors="ignore").join(x).assign(fitted=fitted)

    def draw(random: np.random.Generator) -> pd.DataFrame:
        again = new_prompts(whole, prompt, random)
        values = again["fitted"].to_numpy(copy=True)
        values += draw_effects(variance, again, prompt, random)
        if slopes is not None:
            raters, levels = pd.factorize(again["rater_id"])
            of_rater = random.standard_normal((len(levels), len(slopes)))
            of_rater *= np.sqrt(slopes)
            values += (again[features].to_numpy() * of_rater[raters]).sum(axis=1)
        return again.assign(new=values.round().clip(*scale))

    return draw


def error_weights() -> tuple[str, Study]:
    """Notebook 11: least squares with labels of majorities."""
    study = hosking.load_experiment_1("real")
    errors = hosking.TEN_ERRORS
    single = study.ratings("score")[["item_id", "prompt_id", "rater_id", "score"]]
    labels = study.answers("majority")[["item_id", *errors]]
    rows = single.merge(labels, on="item_id")
    draw = rated_anew(rows, rows[errors], rows["score"], "prompt_id", (1, 5))
    clusters = ["rater_id", "prompt_id"]

    def redo(random: np.random.Generator) -> pd.DataFrame:
        again = draw(random).drop(columns="score").rename(columns={"new": "score"})
        present = [error for error in errors if again[error].std() > 0]
        fit = -weights(again, present, "score", means_of="item_id", clusters=clusters)
        return fit.set_axis(
            [f"least_squares.majority [{error}]" for error in fit.index]
        )

    return "hosking", redo


def aspect_weights() -> tuple[str, Study]:
    """Notebook 21: weights of the aspects, and their ratio within workers."""
    ratings = kamoda.load("real").ratings
    aspects = ["factuality", "amount", "formality"]
    rows = ratings[["rater_id", "question_id", "item_id"]].copy()
    rows["factuality"] = (3 - ratings["factuality"]) / 3
    rows[["amount", "formality"]] = ratings[["amount", "formality"]].abs()
    rows["lower"] = 3 - ratings["acceptability"]
    slopes = slope_variance(rows, aspects, "lower")
    draw = rated_anew(rows, rows[aspects], rows["lower"], "question_id", (0, 3), slopes)
    clusters = ["rater_id", "question_id"]
    options = {"clusters": clusters}

    def redo(random: np.random.Generator) -> pd.DataFrame:
        again = draw(random).drop(columns="lower").rename(columns={"new": "lower"})
        found = weights(again, aspects, "lower", intercept=False, **options)
        ratio = found.ratio("factuality", "amount")
        within = weights(again, aspects, "lower", within="rater_id", **options)
        in_steps = within.ratio("factuality", "amount")[ENDS] / 3
        names = [f"regression.weights [{aspect}]" for aspect in aspects]
        names += ["regression.ratio", "regression.ratio_within_workers"]
        table = pd.concat([found[ENDS], ratio[ENDS], in_steps])
        return table.set_axis(names)

    return "kamoda", redo


def tree_and_regression() -> tuple[str, Study]:
    """Notebook 22: correlation of the tree's guesses minus that of the regression's."""
    ratings = kamoda.load("real").ratings
    scales = ["factuality", "amount", "formality"]
    rows = ratings[["item_id", "question_id", "rater_id", *scales]]
    cells = pd.get_dummies(
        ratings[scales].astype(str).agg("/".join, axis=1), dtype=float
    )
    draw = rated_anew(rows, cells, ratings["acceptability"], "question_id", (0, 3))
    clusters = ["rater_id", "question_id"]
    line = LinearRegression(fit_intercept=False)

    def redo(random: np.random.Generator) -> pd.DataFrame:
        rows = draw(random)
        rows["lower"] = 3 - rows["new"]
        distance = (rows[scales] - [3, 0, 0]).abs() / [3, 1, 1]
        folds = {"groups": rows["question_id"], "cv": GroupKFold(10)}
        rows["regression"] = cross_val_predict(line, distance, rows["lower"], **folds)
        for depth in (3, 5):
            tree = DecisionTreeRegressor(max_depth=depth, random_state=0)
            guess = cross_val_predict(tree, rows[scales], rows["lower"], **folds)
            rows[f"tree of {depth}"] = guess
        models = ["regression", "tree of 3", "tree of 5"]
        options = {"clusters": clusters, "baseline": "regression"}
        found = correlation(rows, models, "lower", **options)[ENDS]
        names = [
            f"tree.minus_regression [single ratings, {name}]" for name in found.index
        ]
        return found.set_axis(names)

    return "kamoda", redo


def judges() -> tuple[str, Study]:
    """Notebook 24: correlations of GPT-4 and word count with people, and the lead."""
    study = kamoda.load("real")
    answers = study.answers().set_index("item_id")
    answers["GPT-4"] = study.judge("GPT-4")["acceptability"]
    answers["length"] = kamoda.load_texts("real").measures()["words"]
    columns = ["item_id", "question_id", "rater_id", "writer", "acceptability"]
    rows = study.ratings[columns].join(answers[["GPT-4", "length"]], on="item_id")
    bins = pd.get_dummies(pd.qcut(rows["length"], 10, duplicates="drop"), dtype=float)
    writer = (rows["writer"] == "ChatGPT").astype(float)
    x = bins.set_axis(bins.columns.astype(str), axis=1).iloc[:, 1:]
    x = x.assign(of_chatgpt=writer, judge=rows["GPT-4"], both=writer * rows["GPT-4"])
    draw = rated_anew(rows, x, rows["acceptability"], "question_id", (0, 3))
    clusters = ["rater_id", "question_id"]
    options = {"means_of": "item_id", "clusters": clusters}
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    pair = ["GPT-4", "word count"]

    def redo(random: np.random.Generator) -> pd.DataFrame:
        again = draw(random).rename(columns={"new": "rating"})
        items = again.groupby("item_id")
        answers = items[["length", "rating"]].mean().join(items["question_id"].first())
        folds = {"groups": answers["question_id"], "cv": GroupKFold(10)}
        guess = cross_val_predict(tree, answers[["length"]], answers["rating"], **folds)
        again["word count"] = again["item_id"].map(pd.Series(guess, answers.index))
        found = []
        writers = dict(list(again.groupby("writer")))
        sources = {
            "all answers": again,
            "by Reddit users": writers["Reddit user"],
            "by ChatGPT": writers["ChatGPT"],
        }
        for source, part in sources.items():
            alone = correlation(part, pair, "rating", **options)[ENDS]
            names = [f"unread.correlation [{judge}, {source}]" for judge in alone.index]
            found.append(alone.set_axis(names))
            lead = correlation(part, pair, "rating", baseline="word count", **options)
            found.append(lead[ENDS].set_axis([f"unread.lead [{source}]"]))
        return pd.concat(found)

    return "kamoda", redo


def tetrachoric(both: float, first: float, second: float) -> float:
    """Correlation of two normal variables behind two labels."""
    above = [norm.isf(first), norm.isf(second)]

    def surplus(r: float) -> float:
        cov = [[1, r], [r, 1]]
        return multivariate_normal.cdf([-above[0], -above[1]], cov=cov) - both

    low, high = surplus(-0.95), surplus(0.95)
    return 0.0 if low * high > 0 else brentq(surplus, -0.95, 0.95, xtol=1e-4)


def same_answers() -> tuple[str, Study]:
    """Notebooks 14 and 51: rates of expert, workers and majority, and the gap."""
    study = hosking.load_experiment_2("real")
    both = study.labelled_by_both()
    refusal = both[["refusal_expert", "refusal_majority"]].max(axis="columns")
    same = both[(refusal <= 0.5) & (both["error"] == "factual error")]
    same = same.set_index("item_id")
    columns = ["item_id", "prompt_id", "rater_id", "factual error"]
    votes = study.ratings("errors")[columns]
    votes = votes[votes["item_id"].isin(same.index)].reset_index(drop=True)
    tick = votes["factual error"].astype(float)
    rate = tick.mean()
    shared = covariances(tick - rate, votes, "prompt_id")
    r = {name: tetrachoric(rate**2 + c, rate, rate) for name, c in shared.items()}
    r = {name: max(value, 0.0) for name, value in r.items()}
    variance = {"rater": r["rater"], "prompt": r["prompt"]}
    variance["item"] = max(r["item"] - r["prompt"], 0.0)
    of_answer = variance["prompt"] + variance["item"]
    expert = same["expert"].astype(float)
    together = (tick * votes["item_id"].map(expert)).groupby(votes["item_id"]).mean()
    with_expert = tetrachoric(together.mean(), rate, expert.mean())
    largest = 1 / np.sqrt(of_answer)
    loading = np.clip(with_expert / of_answer, -largest, largest)
    condition = same["condition"]
    votes["condition"] = votes["item_id"].map(condition)
    votes["expert_above"] = norm.isf(expert.groupby(condition).mean())[
        pd.Categorical(votes["condition"], sorted(condition.unique())).codes
    ]
    votes["vote_above"] = norm.isf(tick.groupby(votes["condition"]).transform("mean"))
    rest = max(1 - of_answer - variance["rater"], 0.01)
    of_rest = {"rater": variance["rater"], "prompt": 0, "item": 0, "rest": rest}
    ends = {"by": "condition", "groups": ["cautious", "assertive"]}

    def redo(random: np.random.Generator) -> pd.DataFrame:
        again = new_prompts(votes, "prompt_id", random)
        items = again.drop_duplicates("item_id").assign(rest=0)
        of_answers = {**variance, "rater": 0, "rest": 0}
        answer = draw_effects(of_answers, items, "prompt_id", random)
        noise = np.sqrt(max(1 - loading**2 * of_answer, 0))
        seen = loading * answer + noise * random.standard_normal(len(items))
        at = pd.Index(items["item_id"]).get_indexer(again["item_id"])
        vote = answer[at] + draw_effects(of_rest, again, "prompt_id", random)
        ticked = pd.Series((vote > again["vote_above"]).astype(float).to_numpy())
        rows = items[["prompt_id", "condition"]].assign(
            expert=(seen > items["expert_above"]).astype(float),
            worker=ticked.groupby(at).mean().to_numpy(),
        )
        rows["majority"] = (rows["worker"] > 0.5) + 0.5 * (rows["worker"] == 0.5)
        rows["gap"] = 100 * (rows["expert"] - rows["majority"])
        rows = rows.reset_index(drop=True)
        names = ["expert", "worker", "majority"]
        found = rates(rows, names, clusters="prompt_id")[ENDS]
        gap = compare(rows, "gap", **ends, clusters="prompt_id")[ENDS]
        names = ["expert_rate", "worker_rate", "crowd_rate", "gap_wider"]
        return pd.concat([found, gap]).set_axis([f"same_answers.{n}" for n in names])

    return "hosking", redo


PARTS = (error_weights, aspect_weights, tree_and_regression, judges, same_answers)


def covered(name: str, study: Study, n: int) -> Iterator[dict[str, object]]:
    """Draw studies, and count the intervals that contain the mean estimate."""
    random = np.random.default_rng(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of studies with few labels
        drawn = [study(random)[ENDS].astype(float) for _ in range(n)]
    for result in drawn[0].index:
        rows = pd.DataFrame(
            [table.loc[result] for table in drawn if result in table.index]
        )
        given = rows.dropna()
        if given.empty:
            continue  # too rare for an interval in all studies, as in the real one
        truth = rows["estimate"].mean()
        share = given["low"].le(truth).mul(given["high"].ge(truth)).mean()
        yield {
            "result": f"{name}.{result}",
            "studies": n,
            "truth": truth,
            "refused_percent": 100 * (1 - len(given) / n),
            "coverage_percent": 100 * share,
            "simulation_error": 100 * np.sqrt(share * (1 - share) / len(given)),
            "sd_of_estimates": rows["estimate"].std(),
            "mean_width": (given["high"] - given["low"]).mean(),
        }


def main() -> None:
    """Write the table of all parts, or of those named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="functions of this file; all if none")
    parser.add_argument("--studies", type=int, default=1000)
    chosen = parser.parse_args()
    table = pd.read_csv(FILE) if chosen.parts and FILE.exists() else pd.DataFrame()
    for part in PARTS:
        if chosen.parts and part.__name__ not in chosen.parts:
            continue
        name, study = part()
        new = pd.DataFrame(covered(name, study, chosen.studies)).round(4)
        if not table.empty:
            table = table[~table["result"].isin(new["result"])]
        table = pd.concat([table, new], ignore_index=True)
        print(new.to_string(index=False), flush=True)
    table.to_csv(FILE, index=False)


if __name__ == "__main__":
    main()
