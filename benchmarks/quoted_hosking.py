"""A model of experiment 1 of Hosking et al. with raters, from which studies are drawn.

`helpers.robustness.study_model` is fitted to the single ratings: which errors a
response has, with what chance a rater marks them, and what they take from scores by
others. Two effects of raters are added. How readily a rater marks has a part that is
the same for all errors and one for each error, as large as the covariances of marks by
one rater on two prompts ask for. How leniently a rater scores is the covariance of two
scores by one rater on two prompts. Who rates which response is as in the study;
prompts, responses and raters are new. All responses are of one kind, and scores are not
rounded.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.robustness import study_model
from helpers.stats.moments import cluster_sums

OUTPUTS = 5  # of each prompt; the last one stands for the reference


@dataclass(frozen=True, eq=False)
class Allocation:
    """Who rates what: numbers of outputs and raters, one row a rating.

    Parameters
    ----------
    item, rater : numpy.ndarray of int, shape (n_ratings,)
        Outputs are numbered prompt by prompt, `OUTPUTS` to each.
    """

    item: np.ndarray
    rater: np.ndarray

    def copies(self, number: int, n_items: int) -> "Allocation":
        """Several studies side by side, with other outputs and raters each."""
        copy = np.repeat(np.arange(number), len(self.item))
        n_raters = self.rater.max() + 1
        return Allocation(
            item=np.tile(self.item, number) + copy * n_items,
            rater=np.tile(self.rater, number) + copy * n_raters,
        )


@dataclass(frozen=True, eq=False)
class Model:
    """Numbers from which studies are drawn.

    Parameters
    ----------
    study : helpers.robustness.study_model.StudyModel
    prompt_shares : numpy.ndarray, shape (n_errors,)
        Share of the variance of the liability to each error that outputs of a prompt
        have in common, in place of the one share of `study`.
    readiness : float
        Share of a mark's liability that a rater has in common for all errors.
    readiness_for_error : float
        Share that a rater has for each error.
    leniency_sd : float
        Standard deviation between raters' mean scores.
    """

    study: study_model.StudyModel
    prompt_shares: np.ndarray
    readiness: float
    readiness_for_error: float
    leniency_sd: float


@dataclass(frozen=True, eq=False)
class Study:
    """A drawn study.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per rating: errors, 0 or 1, ``item_id``, ``prompt_id``, ``rater_id``.
    scores : pandas.DataFrame
        One row per rating by others: ``score`` and the same identifiers.
    outputs : pandas.DataFrame
        One row per output: majority labels, a tie counts one half, and the mean
        ``score``; ``item_id``, ``prompt_id``.
    """

    marks: pd.DataFrame
    scores: pd.DataFrame
    outputs: pd.DataFrame


def covariances_of_raters(marks: pd.DataFrame, columns: list[str]) -> np.ndarray:
    """Covariances of two ratings by one rater on two prompts."""
    values = marks[columns].to_numpy(dtype=float)
    centred = values - values.mean(axis=0)
    rows = np.column_stack([np.ones(len(values)), centred])
    by_rater = cluster_sums(rows, marks["rater_id"])
    sitting = marks.groupby(["prompt_id", "rater_id"]).ngroup()
    by_sitting = cluster_sums(rows, sitting)
    products = by_rater.T @ by_rater - by_sitting.T @ by_sitting
    return products[1:, 1:] / products[0, 0]


def fit(
    marks: pd.DataFrame, scores: pd.DataFrame, errors: list[str], score: str
) -> Model:
    """Fit the model to single marks and single scores."""
    study = study_model.fit_model(marks, scores, errors, score)
    target = covariances_of_raters(marks, errors)
    prevalence = study.classes["prevalence"].to_numpy()
    there = study.classes["sensitivity"].to_numpy()
    not_there = study.classes["false_alarms"].to_numpy()

    def covariance(share: float, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        # outputs of two prompts have errors independently of each other
        total = 0.0
        for chance_1, limit_1 in ((prevalence, there), (1 - prevalence, not_there)):
            for chance_2, limit_2 in ((prevalence, there), (1 - prevalence, not_there)):
                both = chance_1[first] * chance_2[second]
                excess = study_model.excess_probability(
                    limit_1[first], limit_2[second], share
                )
                total = total + both * excess
        return total

    same = np.arange(len(errors))
    of_one = study_model._root(
        lambda share: covariance(share, same, same).sum() - np.trace(target), low=0.0
    )
    first, second = np.triu_indices(len(errors), 1)
    common = study_model._root(
        lambda share: (
            covariance(share, first, second).sum() - target[first, second].sum()
        ),
        low=0.0,
    )
    common = min(float(common), float(of_one), study.halo)
    leniency = covariances_of_raters(scores, [score])[0, 0]
    leniency = min(max(leniency, 0.0), study.rater_sd**2)
    two_outputs = study_model._covariances(marks, errors)["prompt"]
    observed = np.diagonal(two_outputs) / (there - not_there) ** 2
    prompt_shares = study_model._root(
        lambda share: (
            study_model.excess_probability(prevalence, prevalence, share) - observed
        ),
        low=np.zeros(len(errors)),
    )
    return Model(
        study=study,
        prompt_shares=prompt_shares,
        readiness=common,
        readiness_for_error=float(of_one) - common,
        leniency_sd=float(np.sqrt(leniency)),
    )


def _draw_errors(model: Model, n_prompts: int, rng: np.random.Generator) -> np.ndarray:
    """Draw which errors outputs have, of shape (n_prompts * OUTPUTS, n_errors)."""
    study = model.study
    mixing = np.linalg.cholesky(study.correlations).T
    of_prompt = rng.standard_normal((n_prompts, 1, len(study.errors))) @ mixing
    of_output = rng.standard_normal((n_prompts, OUTPUTS, len(study.errors))) @ mixing
    share = model.prompt_shares
    liability = np.sqrt(share) * of_prompt + np.sqrt(1 - share) * of_output
    present = liability < norm.ppf(study.classes["prevalence"].to_numpy())
    return present.reshape(-1, len(study.errors))


def draw(
    model: Model,
    n_prompts: int,
    who_marks: Allocation,
    who_scores: Allocation,
    rng: np.random.Generator,
) -> Study:
    """Draw a study with new prompts, responses and raters."""
    study = model.study
    errors = study.errors
    present = _draw_errors(model, n_prompts, rng)

    n_marks = len(who_marks.item)
    n_raters = who_marks.rater.max() + 1
    readiness = rng.standard_normal((n_raters, 1))
    for_error = rng.standard_normal((n_raters, len(errors)))
    halo = study.halo - model.readiness
    rest = 1 - study.halo - model.readiness_for_error
    slip = np.sqrt(model.readiness) * readiness[who_marks.rater]
    slip = slip + np.sqrt(model.readiness_for_error) * for_error[who_marks.rater]
    slip = slip + np.sqrt(halo) * rng.standard_normal((n_marks, 1))
    slip = slip + np.sqrt(rest) * rng.standard_normal((n_marks, len(errors)))
    if_there = norm.ppf(study.classes["sensitivity"].to_numpy())
    if_not = norm.ppf(study.classes["false_alarms"].to_numpy())
    marks = slip < np.where(present[who_marks.item], if_there, if_not)

    lost = present @ study.losses[errors].to_numpy()
    quality = study.base - lost + study.output_sd * rng.standard_normal(len(present))
    of_prompt = study.prompt_sd * rng.standard_normal(n_prompts)
    quality = quality + np.repeat(of_prompt, OUTPUTS)
    leniency = model.leniency_sd * rng.standard_normal(who_scores.rater.max() + 1)
    noise_sd = np.sqrt(study.rater_sd**2 - model.leniency_sd**2)
    noise = noise_sd * rng.standard_normal(len(who_scores.item))
    score = quality[who_scores.item] + leniency[who_scores.rater] + noise
    return _tables(errors, marks, who_marks, score, who_scores, len(present))


def _tables(
    errors: list[str],
    marks: np.ndarray,
    who_marks: Allocation,
    score: np.ndarray,
    who_scores: Allocation,
    n_items: int,
) -> Study:
    """Set out single ratings and outputs."""
    single = pd.DataFrame(marks.astype(float), columns=errors).assign(
        item_id=who_marks.item,
        prompt_id=who_marks.item // OUTPUTS,
        rater_id=who_marks.rater,
    )
    scores = pd.DataFrame(
        {
            "score": score,
            "item_id": who_scores.item,
            "prompt_id": who_scores.item // OUTPUTS,
            "rater_id": who_scores.rater,
        }
    )
    # outputs that nobody rates, if any, have no labels and no score
    rated, n_raters = np.unique(who_marks.item, return_counts=True)
    share = np.full((n_items, len(errors)), np.nan)
    share[rated] = cluster_sums(marks.astype(float), who_marks.item) / n_raters[:, None]
    labels = np.where(share == 0.5, 0.5, np.round(share))
    outputs = pd.DataFrame(labels, columns=errors)
    scored, n_scores = np.unique(who_scores.item, return_counts=True)
    sums = cluster_sums(score[:, None], who_scores.item)[:, 0]
    outputs["score"] = pd.Series(sums / n_scores, index=scored)
    outputs["item_id"] = np.arange(n_items)
    outputs["prompt_id"] = outputs["item_id"] // OUTPUTS
    return Study(single, scores, outputs)


def allocation(ratings: pd.DataFrame) -> Allocation:
    """Who rates what in the study: outputs numbered prompt by prompt."""
    prompt, _ = pd.factorize(ratings["prompt_id"], sort=True)
    keys = pd.DataFrame({"prompt": prompt, "item": ratings["item_id"].to_numpy()})
    in_prompt = keys.groupby("prompt")["item"].rank(method="dense").astype(int) - 1
    rater, _ = pd.factorize(ratings["rater_id"])
    return Allocation(prompt * OUTPUTS + in_prompt.to_numpy(), rater)
