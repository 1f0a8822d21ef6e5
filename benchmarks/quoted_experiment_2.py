"""A model of experiment 2 of Hosking et al. with raters and one expert, for drawing.

Five models answer prompts without a preamble and after four of them. One group of
people checks the answers for errors (here factual errors and refusals), one only scores
them, one rates how assertive they sound, and one expert checks a fifth of them. The
model is a probit model of marks, and a normal one, rounded to the scale, of points. Its
liabilities have a mean by preamble and model, and effects of the prompt, the answer,
the rater, the submission (two answers side by side) and chance. Points are given in
contrast: the effect of a submission raises one answer and lowers the other, as the
negative covariance asks for. Effects of prompts and answers go together between the
groups and the expert; that is how a crowd's mark can follow the expert's.

Prompts, answers and raters are new in each drawn study. Who rates which answer, which
answers the expert sees, the five models, the preambles and the expert are those of the
study: the expert's limits, and how far the expert's labels go with those of raters, are
fixed, so that nothing is said of other experts.

Means by preamble and model: of marks, the sum of both effects on the probit scale; of
points, the observed ones. Covariances of the effects are those with which a drawn study
gives, on average, the covariances of the real one between two ratings (simulated
moments): of one answer by two people, of two answers to a prompt by two people and in
one submission, of one person on two prompts, and of two marks in one rating. Where
these cannot be covariances, by chance, the nearest that can be are taken.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.stats.moments import cluster_sums
from helpers.studies import hosking, hosking_submissions

ERRORS = ["factuality", "refusal"]
# what is rated, by whom: two marks, a score, a rating of tone, two marks by the expert
GROUPS = {"errors": [0, 1], "unbiased": [2], "perception": [3], "expert": [4, 5]}
NAMES = {
    "errors": ERRORS,
    "unbiased": ["quality_unbiased"],
    "perception": ["assertiveness"],
    "expert": ERRORS,
}
MARKS = [0, 1, 4, 5]
POINTS = [2, 3]
EXPERT = [4, 5]
N = 6
OF_RATERS = ("rater", "submission", "single")
STEPS = 60  # of simulated moments
COPIES = 6  # of the study in each step
DAMPING = 0.3  # share of each gap that a step closes
LEAST = 0.02  # share of a mark's liability that is left to chance, at least
SEED = 20240917


@dataclass(frozen=True, eq=False)
class Design:
    """Who rates what, as in the study.

    Parameters
    ----------
    prompt : numpy.ndarray of int, shape (n_items,)
        The prompt of each answer.
    cell : numpy.ndarray of int, shape (n_items,)
        Its model and preamble, 0 to 24: five times the model, and the preamble.
    item, rater, submission : dict of str to numpy.ndarray of int
        For each group the answer, the rater and the submission of each rating; the
        expert is one.
    often : numpy.ndarray of bool
        Which error checks are those of pairs that five people checked.
    """

    prompt: np.ndarray
    cell: np.ndarray
    item: dict[str, np.ndarray]
    rater: dict[str, np.ndarray]
    submission: dict[str, np.ndarray]
    often: np.ndarray

    def copies(self, number: int) -> "Design":
        """Several studies side by side; the expert is the same in all."""
        n_prompts = self.prompt.max() + 1
        n_items = len(self.prompt)

        def repeat(labels: np.ndarray, size: int) -> np.ndarray:
            copy = np.repeat(np.arange(number), len(labels))
            return np.tile(labels, number) + copy * size

        rater = {}
        submission = {}
        for group, labels in self.submission.items():
            submission[group] = repeat(labels, labels.max() + 1)
        for group, labels in self.rater.items():
            of_copy = 0 if group == "expert" else labels.max() + 1
            rater[group] = repeat(labels, of_copy)
        return Design(
            prompt=repeat(self.prompt, n_prompts),
            cell=np.tile(self.cell, number),
            item={group: repeat(item, n_items) for group, item in self.item.items()},
            rater=rater,
            submission=submission,
            often=np.tile(self.often, number),
        )


@dataclass(frozen=True, eq=False)
class Model:
    """Numbers from which studies are drawn.

    Parameters
    ----------
    means : numpy.ndarray, shape (25, 6)
        Mean liability by model and preamble; a mark is given below zero.
    prompt, item : numpy.ndarray, shape (6, 6)
        Covariances of effects of prompts and of answers.
    of_raters : dict of str to numpy.ndarray, shape (6, 6)
        Covariances of effects of raters, of submissions and of chance; zero between
        groups, and for the expert. A negative variance of submissions is a contrast.
    arms, systems : list of str
        Names of preambles and models.
    """

    means: np.ndarray
    prompt: np.ndarray
    item: np.ndarray
    of_raters: dict[str, np.ndarray]
    arms: list[str]
    systems: list[str]


@dataclass(frozen=True, eq=False)
class Study:
    """A real or drawn study.

    Parameters
    ----------
    design : Design
    rated : dict of str to numpy.ndarray
        For each group a row per rating: marks, 0 or 1, or points.
    arms, systems : list of str
    """

    design: Design
    rated: dict[str, np.ndarray]
    arms: list[str]
    systems: list[str]

    def answers(self) -> pd.DataFrame:
        """Number the answers, with their design."""
        cell = self.design.cell
        columns = {
            "item_id": np.arange(len(cell)),
            "prompt_id": self.design.prompt,
            "arm": np.array(self.arms)[cell % len(self.arms)],
            "system": np.array(self.systems)[cell // len(self.arms)],
        }
        return pd.DataFrame(columns)

    def outputs(self, errors_by: str = "mode") -> pd.DataFrame:
        """Labels and means of each answer, as `hosking.Experiment2.outputs`."""
        table = self.answers()
        for group in ("errors", "unbiased", "perception"):
            item = self.design.item[group]
            sums = cluster_sums(self.rated[group], item)
            means = sums / np.bincount(item)[:, None]
            if group == "errors" and errors_by == "mode":
                means = np.where(means == 0.5, 0.5, np.round(means))
            table[NAMES[group]] = means
        return table

    def labels(self) -> pd.DataFrame:
        """Labels by the expert."""
        table = self.answers().iloc[self.design.item["expert"]].reset_index(drop=True)
        table[ERRORS] = self.rated["expert"]
        return table

    def marks(self) -> pd.DataFrame:
        """Single error checks, one row per answer and rater."""
        table = pd.DataFrame(self.rated["errors"], columns=ERRORS)
        item = self.design.item["errors"]
        table["item_id"] = item
        table["prompt_id"] = self.design.prompt[item]
        table["rater_id"] = self.design.rater["errors"]
        return table

    def often(self) -> pd.DataFrame:
        """Those of answers in pairs that five people checked."""
        return self.marks()[self.design.often].reset_index(drop=True)


def load(data_source: str = "real", seed: int = 0) -> Study:
    """Read the study into arrays."""
    outputs = hosking.load_experiment_2(data_source, seed).outputs()
    experts = hosking.load_experts(data_source, seed)
    arms = sorted(outputs["arm"].unique())
    systems = sorted(outputs["system"].unique())
    place = pd.Series(np.arange(len(outputs)), outputs["item_id"])
    arm = pd.Categorical(outputs["arm"], arms).codes.astype(int)
    system = pd.Categorical(outputs["system"], systems).codes.astype(int)
    tables = {}
    for group in ("errors", "unbiased", "perception"):
        tables[group] = hosking_submissions.single_ratings(2, group, data_source, seed)
    tables["expert"] = experts[experts["batch"] == "main"]
    item = {name: place[each["item_id"]].to_numpy() for name, each in tables.items()}
    rater = {name: pd.factorize(each["rater_id"])[0] for name, each in tables.items()}
    submission = {"expert": np.arange(len(tables["expert"]))}
    values = {}
    for name, each in tables.items():
        if name != "expert":
            submission[name] = pd.factorize(each["pair_id"])[0]
        values[name] = each[NAMES[name]].to_numpy(dtype=float)
    often = hosking_submissions.repeated(tables["errors"])
    design = Design(
        prompt=pd.factorize(outputs["prompt_id"])[0],
        cell=system * len(arms) + arm,
        item=item,
        rater=rater,
        submission=submission,
        often=tables["errors"].index.isin(often.index),
    )
    return Study(design, values, arms, systems)


def draw(model: Model, design: Design, rng: np.random.Generator) -> Study:
    """Draw a study with new prompts, answers and raters, and the same expert."""
    n_prompts = design.prompt.max() + 1

    def effects(covariance: np.ndarray, places: list[int], size: int) -> np.ndarray:
        root = _root(covariance[np.ix_(places, places)])
        return rng.standard_normal((size, len(places))) @ root.T

    everything = list(range(N))
    stands = model.means[design.cell]
    stands = stands + effects(model.prompt, everything, n_prompts)[design.prompt]
    stands = stands + effects(model.item, everything, len(design.prompt))
    values = {}
    for group, places in GROUPS.items():
        item = design.item[group]
        seen = stands[item][:, places]
        if group != "expert":
            rater = design.rater[group]
            part = model.of_raters
            seen = seen + effects(part["rater"], places, rater.max() + 1)[rater]
            submission = design.submission[group]
            together = part["submission"]
            sign = np.ones((len(item), 1))
            if together[places[0], places[0]] < 0:
                together = -together
                sign[_second(submission)] = -1
            together = effects(together, places, submission.max() + 1)
            seen = seen + sign * together[submission]
            seen = seen + effects(part["single"], places, len(item))
        if places[0] in MARKS:
            values[group] = (seen < 0).astype(float)
        else:
            values[group] = np.clip(np.round(seen), 1, 5)
    return Study(design, values, model.arms, model.systems)


def _second(submission: np.ndarray) -> np.ndarray:
    """Which rows are the second ones of their submissions."""
    return pd.Series(submission).duplicated().to_numpy()


def _root(covariance: np.ndarray) -> np.ndarray:
    """Square root of a covariance; what is below zero by chance becomes zero."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _positive(covariance: np.ndarray) -> np.ndarray:
    """The covariance with negative eigenvalues set to zero."""
    root = _root(covariance)
    return root @ root.T


def cell_means(study: Study) -> np.ndarray:
    """Mean of everything that is rated, by model and preamble."""
    design = study.design
    means = np.zeros((design.cell.max() + 1, N))
    for group, places in GROUPS.items():
        cell = design.cell[design.item[group]]
        sums = cluster_sums(study.rated[group], cell)
        means[:, places] = sums / np.bincount(cell)[:, None]
    return means


def moments(study: Study) -> dict[str, np.ndarray]:
    """Observed covariances, by what two ratings share, less what they share besides."""
    design = study.design
    means = cell_means(study)
    n_items = len(design.prompt)
    by_item = np.zeros((n_items, N))
    counts = np.zeros((n_items, N))
    one = np.zeros((N, N))
    parts = {name: np.zeros((N, N)) for name in OF_RATERS}
    same_item = np.zeros((N, N))
    same_prompt = np.zeros((N, N))
    for group, places in GROUPS.items():
        item = design.item[group]
        rows = study.rated[group] - means[design.cell[item]][:, places]
        sums = np.zeros((n_items, len(places)))
        np.add.at(sums, item, rows)
        by_item[:, places] = sums
        counts[:, places] = np.bincount(item, minlength=n_items)[:, None]

    def by_prompt(values: np.ndarray) -> np.ndarray:
        return cluster_sums(values, design.prompt)

    # ratings of different groups, and all by the expert, are by different people
    item_products = by_item.T @ by_item
    item_pairs = counts.T @ counts
    prompt_products = by_prompt(by_item).T @ by_prompt(by_item)
    prompt_pairs = by_prompt(counts).T @ by_prompt(counts)
    same_item[:] = item_products / item_pairs
    same_prompt[:] = (prompt_products - item_products) / (prompt_pairs - item_pairs)

    for group, places in GROUPS.items():
        if group == "expert":
            continue
        item = design.item[group]
        rater = design.rater[group]
        prompt = design.prompt[item]
        rows = study.rated[group] - means[design.cell[item]][:, places]
        rows = np.column_stack([np.ones(len(rows)), rows])

        def products(labels: np.ndarray, rows: np.ndarray = rows) -> np.ndarray:
            sums = cluster_sums(rows, labels)
            return sums.T @ sums

        rating = rows.T @ rows
        item_rater = products(item * (rater.max() + 1) + rater)
        prompt_rater = products(prompt * (rater.max() + 1) + rater)
        of_item = products(item)
        covariance = {
            "one": rating,
            "two people": of_item - item_rater,
            "submission": products(design.submission[group]) - rating,
            "two answers": products(prompt) - of_item - prompt_rater + item_rater,
            "rater": products(rater) - prompt_rater,
        }
        for name, product in covariance.items():
            covariance[name] = product[1:, 1:] / product[0, 0]
        block = np.ix_(places, places)
        one[block] = covariance["one"]
        same_item[block] = covariance["two people"]
        same_prompt[block] = covariance["two answers"]
        parts["rater"][block] = covariance["rater"]
        sitting = covariance["submission"] - covariance["two answers"]
        parts["submission"][block] = sitting - covariance["rater"]
        parts["single"][block] = covariance["one"] - covariance["two people"]
        parts["single"][block] -= covariance["rater"] + parts["submission"][block]
    return {"prompt": same_prompt, "item": same_item - same_prompt, **parts}


def limits(study: Study) -> np.ndarray:
    """Mean liabilities of marks: sums of effects of preamble and model."""
    design = study.design
    n_arms = len(study.arms)
    means = cell_means(study)
    for group, places in GROUPS.items():
        if places[0] not in MARKS:
            continue
        cell = design.cell[design.item[group]]
        marks = study.rated[group]
        scale = {}
        # half a mark more and half a mark less, so that no rate is zero
        for name, labels in {"system": cell // n_arms, "arm": cell % n_arms}.items():
            marked = cluster_sums(marks, labels)
            n_rated = np.bincount(labels)[:, None]
            scale[name] = norm.ppf((marked + 0.5) / (n_rated + 1))
        overall = norm.ppf(marks.mean(axis=0))
        both = scale["system"][:, None] + scale["arm"][None] - overall
        means[:, places] = -both.reshape(-1, len(places))
    return means


def fit(study: Study, verbose: bool = False) -> Model:
    """Fit the model to the study by simulated moments."""
    target = moments(study)
    wanted = cell_means(study)
    means = limits(study)
    # a mark's covariance rises with that of its liability by the densities at limits
    # (a liability below zero is a mark)
    density = np.ones(N)
    density[MARKS] = -norm.pdf(means[:, MARKS]).mean(axis=0)
    scale = np.outer(density, density)
    parts = {name: each / scale for name, each in target.items()}
    model = _settled(means, parts, study)
    large = study.design.copies(COPIES)
    for step in range(STEPS):
        # the same random numbers in each step, so that steps can be compared
        drawn = draw(model, large, np.random.default_rng(SEED))
        found = moments(drawn)
        gaps = {name: (target[name] - found[name]) / scale for name in target}
        if verbose and step % 10 == 9:
            shown = {name: np.abs(gap * scale).max() for name, gap in gaps.items()}
            print(step, {name: round(gap, 4) for name, gap in shown.items()})
        parts = {"prompt": model.prompt, "item": model.item, **model.of_raters}
        parts = {name: each + DAMPING * gaps[name] for name, each in parts.items()}
        means = model.means.copy()
        missing = (wanted - cell_means(drawn))[:, POINTS]
        means[:, POINTS] += DAMPING * missing
        model = _settled(means, parts, study)
    return model


def _settled(means: np.ndarray, parts: dict[str, np.ndarray], study: Study) -> Model:
    """A possible model, in which liabilities of marks have the variance one."""
    of_raters = {name: parts[name].copy() for name in OF_RATERS}
    for name, each in of_raters.items():
        contrast = np.diag(np.where(np.isin(np.arange(N), POINTS), np.diag(each), 0))
        of_raters[name] = _positive(_by_group(each))
        if name == "submission":
            # points have one variance each, which may be negative
            of_raters[name][POINTS] = contrast[POINTS]
    prompt = _positive(parts["prompt"])
    item = parts["item"].copy()
    item[EXPERT, EXPERT] = 1 - prompt[EXPERT, EXPERT]
    item = _positive(item)
    # the expert says a thing once: what is left of the liability belongs to the answer
    length = np.ones(N)
    length[EXPERT] = np.sqrt(
        (1 - np.diagonal(prompt)[EXPERT]) / np.diagonal(item)[EXPERT]
    )
    item = item * np.outer(length, length)
    crowd = GROUPS["errors"]
    taken = np.diagonal(prompt + item + of_raters["rater"] + of_raters["submission"])[
        crowd
    ]
    left = np.maximum(1 - taken, LEAST)
    single = of_raters["single"]
    length = np.ones(N)
    length[crowd] = np.sqrt(left / np.maximum(np.diagonal(single)[crowd], LEAST))
    of_raters["single"] = single * np.outer(length, length)
    return Model(means, prompt, item, of_raters, study.arms, study.systems)


def _by_group(covariance: np.ndarray) -> np.ndarray:
    """Zero between groups of people, and for the expert."""
    kept = np.zeros_like(covariance)
    for group, places in GROUPS.items():
        if group != "expert":
            block = np.ix_(places, places)
            kept[block] = covariance[block]
    return kept
