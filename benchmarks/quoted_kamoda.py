"""A model of the study of Kamoda et al., fitted to it, from which studies are drawn.

An answer stands somewhere on each aspect, and on what else makes it acceptable. A
worker marks the aspects of four answers to a question: the answer's standing, plus
effects of the worker, of this sitting, and chance, rounded to the scale. The points
missing in acceptability are a constant plus the distances from the ideals times
weights, and both the constant and the weights differ between workers. Language models
rate where an answer stands with errors of their own. Which worker rates which question
is as in the study, so that numbers of ratings stay unequal; workers, questions and
answers are new.

Effects are normal, the same for all kinds of answers. Constant and weights of workers
come from a mixed model (REML) of the single ratings. All other numbers are those with
which a drawn study gives, on average, the means, weights and covariances of two ratings
of the real one (simulated moments): of one answer by one worker and by two, of two
answers to a question by two workers and by one, and of one worker on two questions.
Preferences have a model of their own: whether a worker chooses an answer by ChatGPT
depends on the worker, on the question and on chance.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import multivariate_normal, norm

from helpers.data.columns.kamoda import ANSWER_SYSTEMS, ASPECTS, IDEALS, RANGES
from helpers.stats.moments import cluster_sums
from helpers.studies.kamoda import Kamoda

N_ASPECTS = len(ASPECTS)
JUDGES = ("gpt4", "llama2")
JUDGED = [*ASPECTS, "acceptability"]
# what an answer stands on: aspects, what else makes it acceptable, ratings by judges
STANDS = [*ASPECTS, "rest", *[f"{judge} {name}" for judge in JUDGES for name in JUDGED]]
RATED = STANDS[: N_ASPECTS + 1]
PARTS = ("question", "answer", "worker", "sitting", "single")
STEPS = 30  # of simulated moments
COPIES = 10  # of the study in each step
DAMPING = 0.7  # share of each gap that a step closes
SEED = 20240917


@dataclass(frozen=True, eq=False)
class Design:
    """Who rates what, as in the study.

    Parameters
    ----------
    question : numpy.ndarray of int, shape (n_sittings,)
        The question of each sitting of a worker, in which four answers are rated.
    worker : numpy.ndarray of int, shape (n_sittings,)
        The worker.
    by_llama2 : numpy.ndarray of bool, shape (n_questions,)
        Which questions Llama 2 rated.
    """

    question: np.ndarray
    worker: np.ndarray
    by_llama2: np.ndarray

    def copies(self, number: int) -> "Design":
        """Several studies side by side, with other questions and workers each."""
        copy = np.repeat(np.arange(number), len(self.question))
        n_workers = self.worker.max() + 1
        return Design(
            question=np.tile(self.question, number) + copy * len(self.by_llama2),
            worker=np.tile(self.worker, number) + copy * n_workers,
            by_llama2=np.tile(self.by_llama2, number),
        )


@dataclass(frozen=True, eq=False)
class Model:
    """Numbers from which studies are drawn.

    Parameters
    ----------
    means : numpy.ndarray, shape (4, 12)
        Where answers of each kind stand on average; zero for the rest.
    parts : dict of str to numpy.ndarray
        Covariances of the effects of each part, `PARTS`.
    weights : numpy.ndarray, shape (4,)
        Constant and mean weights.
    between_workers : numpy.ndarray, shape (4, 4)
        Covariance of constant and weights between workers.
    chosen : dict of str to float
        Share of sittings with a model's answer preferred, and the shares of the
        variance of the liability to it that a question and a worker take.
    """

    means: np.ndarray
    parts: dict[str, np.ndarray]
    weights: np.ndarray
    between_workers: np.ndarray
    chosen: dict[str, float]


@dataclass(frozen=True, eq=False)
class Study:
    """A real or drawn study as arrays.

    Parameters
    ----------
    design : Design
    ratings : numpy.ndarray, shape (n_sittings, 4, 4)
        By sitting and kind of answer: the three aspects and acceptability.
    judged : numpy.ndarray, shape (n_questions, 4, 8)
        The same by GPT-4 and by Llama 2.
    chose_model : numpy.ndarray of bool, shape (n_sittings,)
        Whether a model's answer was preferred.
    """

    design: Design
    ratings: np.ndarray
    judged: np.ndarray
    chose_model: np.ndarray

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Set out ratings of people and of judges as the notebooks take them."""
        design = self.design
        n_sittings = len(design.question)
        systems = np.array(ANSWER_SYSTEMS)
        ratings = pd.DataFrame(self.ratings.reshape(-1, len(JUDGED)), columns=JUDGED)
        ratings["question_id"] = np.repeat(design.question, len(systems))
        ratings["rater_id"] = np.repeat(design.worker, len(systems))
        kind = np.tile(np.arange(len(systems)), n_sittings)
        ratings["system"] = systems[kind]
        ratings["item_id"] = ratings["question_id"] * len(systems) + kind
        tables = []
        for place, judge in enumerate(JUDGES):
            columns = slice(place * len(JUDGED), (place + 1) * len(JUDGED))
            values = self.judged[:, :, columns].reshape(-1, len(JUDGED))
            table = pd.DataFrame(values, columns=JUDGED)
            table["item_id"] = np.arange(len(table))
            table["evaluator"] = judge
            if judge == "llama2":
                table = table[np.repeat(design.by_llama2, len(systems))]
            tables.append(table)
        return ratings, pd.concat(tables, ignore_index=True)


def distances(aspects: np.ndarray) -> np.ndarray:
    """Distances from the ideals as shares of the largest possible."""
    ideal = np.array([IDEALS[name] for name in ASPECTS], dtype=float)
    low, high = np.array([RANGES[name] for name in ASPECTS], dtype=float).T
    return np.abs(aspects - ideal) / np.maximum(ideal - low, high - ideal)


def on_scales(values: np.ndarray, names: list[str]) -> np.ndarray:
    """Round to whole marks and keep within the scales."""
    low, high = np.array([RANGES[name] for name in names], dtype=float).T
    return np.clip(np.round(values), low, high)


def from_tables(study: Kamoda) -> Study:
    """Turn the tables of the study into arrays."""
    order = {name: place for place, name in enumerate(ANSWER_SYSTEMS)}
    ratings = study.ratings.assign(kind=study.ratings["system"].map(order))
    ratings = ratings.sort_values(["question_id", "rater_id", "kind"])
    question, questions = pd.factorize(ratings["question_id"], sort=True)
    worker, _ = pd.factorize(ratings["rater_id"], sort=True)
    n_kinds = len(ANSWER_SYSTEMS)
    values = ratings[JUDGED].to_numpy(dtype=float).reshape(-1, n_kinds, len(JUDGED))
    preferred = ratings["preferred"].to_numpy().reshape(-1, n_kinds)
    place = ratings.drop_duplicates("item_id").set_index("item_id")
    judged = np.full((len(questions), n_kinds, len(JUDGES) * len(JUDGED)), np.nan)
    for number, judge in enumerate(JUDGES):
        table = study.evaluators[study.evaluators["evaluator"] == judge]
        rows = questions.get_indexer(table["item_id"].map(place["question_id"]))
        kinds = table["item_id"].map(place["kind"]).to_numpy()
        columns = slice(number * len(JUDGED), (number + 1) * len(JUDGED))
        judged[rows, kinds, columns] = table[JUDGED].to_numpy(dtype=float)
    design = Design(
        question=question[::n_kinds],
        worker=worker[::n_kinds],
        by_llama2=~np.isnan(judged[:, 0, -1]),
    )
    of_model = np.array([name.startswith("model") for name in ANSWER_SYSTEMS])
    chose_model = preferred[:, of_model].any(axis=1)
    return Study(design, values, judged, chose_model)


def draw(model: Model, design: Design, rng: np.random.Generator) -> Study:
    """Draw a study with new questions, answers and workers."""
    n_questions = len(design.by_llama2)
    n_workers = design.worker.max() + 1
    n_sittings = len(design.question)
    n_kinds = len(ANSWER_SYSTEMS)
    root = {name: _root(covariance) for name, covariance in model.parts.items()}

    def effects(part: str, *shape: int) -> np.ndarray:
        return rng.standard_normal((*shape, len(root[part]))) @ root[part].T

    stands = model.means + effects("question", n_questions)[:, None]
    stands = stands + effects("answer", n_questions, n_kinds)
    seen = stands[design.question][:, :, : len(RATED)]
    seen = seen + effects("worker", n_workers)[design.worker][:, None]
    seen = seen + effects("sitting", n_sittings)[:, None]
    seen = seen + effects("single", n_sittings, n_kinds)
    aspects = on_scales(seen[:, :, :N_ASPECTS], list(ASPECTS))
    of_worker = rng.standard_normal((n_workers, len(model.weights)))
    of_worker = model.weights + of_worker @ _root(model.between_workers).T
    of_worker = of_worker[design.worker]
    missing = (distances(aspects) * of_worker[:, None, 1:]).sum(axis=2)
    missing = missing + of_worker[:, :1] + seen[:, :, N_ASPECTS]
    overall = IDEALS["acceptability"] - missing[:, :, None]
    overall = on_scales(overall, ["acceptability"])
    judged = on_scales(stands[:, :, len(RATED) :], JUDGED * len(JUDGES))
    judged[~design.by_llama2, :, len(JUDGED) :] = np.nan

    share = model.chosen
    rest = 1 - share["question"] - share["worker"]
    liability = (
        np.sqrt(share["question"]) * rng.standard_normal(n_questions)[design.question]
    )
    liability = (
        liability
        + np.sqrt(share["worker"]) * rng.standard_normal(n_workers)[design.worker]
    )
    liability = liability + np.sqrt(rest) * rng.standard_normal(n_sittings)
    chose_model = liability < norm.ppf(share["mean"])
    ratings = np.concatenate([aspects, overall], axis=2)
    return Study(design, ratings, judged, chose_model)


def _root(covariance: np.ndarray) -> np.ndarray:
    """Square root of a covariance; what is below zero by chance becomes zero."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def moments(study: Study) -> dict[str, np.ndarray]:
    """Observed means, weights with a constant, and covariances of effects."""
    design = study.design
    n_kinds = len(ANSWER_SYSTEMS)
    aspects = study.ratings[:, :, :N_ASPECTS]
    missing = IDEALS["acceptability"] - study.ratings[:, :, N_ASPECTS]
    x = distances(aspects).reshape(-1, N_ASPECTS)
    x = np.column_stack([np.ones(len(x)), x])
    weights, *_ = np.linalg.lstsq(x, missing.ravel(), rcond=None)
    rest = missing - (x @ weights).reshape(missing.shape)
    rated = np.concatenate([aspects, rest[:, :, None]], axis=2)
    mean_rated = rated.mean(axis=0)
    mean_judged = np.nanmean(study.judged, axis=0)
    rated = rated - mean_rated
    judged = study.judged - mean_judged

    sitting = rated.sum(axis=1)
    answer = np.stack(
        [cluster_sums(rated[:, kind], design.question) for kind in range(n_kinds)], 1
    )
    question = answer.sum(axis=1)
    worker = cluster_sums(sitting, design.worker)

    def products(sums: np.ndarray) -> np.ndarray:
        flat = sums.reshape(-1, sums.shape[-1])
        return flat.T @ flat

    ones = np.ones((*rated.shape[:2], 1))
    n_of_worker = np.bincount(design.worker) * n_kinds
    n_of_question = np.bincount(design.question)
    same = products(rated)
    same_sitting = products(sitting)
    same_answer = products(answer)
    same_question = products(question)
    same_worker = products(worker)
    n_same = ones.sum()
    n_sitting = len(sitting) * n_kinds**2
    n_answer = n_kinds * (n_of_question**2).sum()
    n_question = ((n_kinds * n_of_question) ** 2).sum()
    n_worker = (n_of_worker**2).sum()
    one = same / n_same
    two_people = (same_answer - same) / (n_answer - n_same)
    one_sitting = (same_sitting - same) / (n_sitting - n_same)
    two_answers = same_question - same_answer - same_sitting + same
    two_answers = two_answers / (n_question - n_answer - n_sitting + n_same)
    two_questions = (same_worker - same_sitting) / (n_worker - n_sitting)

    of_answer = answer / n_of_question[:, None, None]
    both = np.concatenate([of_answer, judged], axis=2)
    full_answer = np.zeros((both.shape[2], both.shape[2]))
    full_question = np.zeros_like(full_answer)
    for first in range(len(full_answer)):
        for second in range(len(full_answer)):
            a = both[:, :, first]
            b = both[:, :, second]
            known = ~np.isnan(a[:, 0] + b[:, 0])
            a = a[known]
            b = b[known]
            within = (a * b).mean()
            across = (a.sum(axis=1) * b.sum(axis=1)).mean() - n_kinds * within
            across = across / (n_kinds * (n_kinds - 1))
            full_question[first, second] = across
            full_answer[first, second] = within - across
    n_rated = len(RATED)
    full_question[:n_rated, :n_rated] = two_answers
    full_answer[:n_rated, :n_rated] = two_people - two_answers
    between = two_questions
    in_sitting = one_sitting - two_answers - two_questions
    means = np.concatenate([mean_rated, mean_judged], axis=1)
    means[:, N_ASPECTS] = 0.0
    return {
        "means": means,
        "weights": weights,
        "question": full_question,
        "answer": full_answer,
        "worker": between,
        "sitting": in_sitting,
        "single": one - two_people - in_sitting - between,
    }


def between_workers(study: Study) -> np.ndarray:
    """Covariance of constant and weights between workers, by REML."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    x = distances(study.ratings[:, :, :N_ASPECTS]).reshape(-1, N_ASPECTS)
    x = np.column_stack([np.ones(len(x)), x])
    missing = IDEALS["acceptability"] - study.ratings[:, :, N_ASPECTS].ravel()
    worker = np.repeat(study.design.worker, len(ANSWER_SYSTEMS))
    with warnings.catch_warnings():
        # the constant hardly differs between workers: a variance at its boundary
        warnings.simplefilter("ignore")
        fit = MixedLM(missing, x, groups=worker, exog_re=x).fit(method="lbfgs")
    return np.asarray(fit.cov_re)


def fit_chosen(study: Study) -> dict[str, float]:
    """Shares of the liability to prefer a model's answer, from pairs of sittings."""
    chosen = study.chose_model.astype(float)
    mean = chosen.mean()
    limit = norm.ppf(mean)
    shares = {"mean": mean}
    for name in ("question", "worker"):
        labels = getattr(study.design, name)
        sums = cluster_sums((chosen - mean)[:, None], labels)[:, 0]
        sizes = np.bincount(labels)
        n_pairs = (sizes**2).sum() - len(chosen)
        pair = ((sums**2).sum() - ((chosen - mean) ** 2).sum()) / n_pairs
        grid = np.linspace(0.0, 0.9, 181)
        excess = []
        for share in grid:
            covariance = [[1.0, share], [share, 1.0]]
            both = multivariate_normal.cdf([limit, limit], cov=covariance)
            excess.append(both - mean**2)
        shares[name] = float(np.interp(pair, excess, grid))
    return shares


def fit(study: Study, verbose: bool = False) -> Model:
    """Fit the model to the study by simulated moments."""
    target = moments(study)
    wanted = between_workers(study)
    model = Model(
        means=target["means"],
        parts={name: target[name] for name in PARTS},
        weights=target["weights"],
        between_workers=wanted,
        chosen=fit_chosen(study),
    )
    large = study.design.copies(COPIES)
    for step in range(STEPS):
        # the same random numbers in each step, so that steps can be compared
        drawn = draw(model, large, np.random.default_rng(SEED))
        gaps = {name: target[name] - found for name, found in moments(drawn).items()}
        gap_workers = np.zeros_like(wanted)
        if step % 5 == 4:
            gap_workers = wanted - between_workers(drawn)
        # the covariance of the rest between workers is that of constants and weights
        gaps["worker"][-1] = 0.0
        gaps["worker"][:, -1] = 0.0
        if verbose:
            largest = {name: round(np.abs(gap).max(), 3) for name, gap in gaps.items()}
            print(step, largest, np.abs(gap_workers).max().round(3))
        parts = {}
        for name in PARTS:
            moved = model.parts[name] + DAMPING * gaps[name]
            root = _root(moved)
            parts[name] = root @ root.T
        parts["worker"][-1] = 0.0
        parts["worker"][:, -1] = 0.0
        moved = model.between_workers + DAMPING * gap_workers
        root = _root(moved)
        model = replace(
            model,
            means=model.means + DAMPING * gaps["means"],
            parts=parts,
            weights=model.weights + DAMPING * gaps["weights"],
            between_workers=root @ root.T,
        )
    return model
