"""What the paper of Hosking et al. says about its Lasso and its systems, recomputed.

Section 2.2, Figures 1 and 9, and Appendix E: the numbers that the paper's statements
are compared with. Notebook 11 explains the method.
"""

import numpy as np
import pandas as pd

from helpers.data.columns.hosking import ERRORS_1
from helpers.stats import bootstrap, lasso
from helpers.stats.groups import interval_table
from helpers.stats.leave_out import group_means, leave_out
from helpers.stats.moments import cluster_moments
from helpers.studies.hosking import Experiment1

LOWER = "lower"  # minus the score, so that weights of errors are positive
REFERENCES = "References"
# What "quality" may mean where the paper does not say which score it speaks of.
SCORES = {
    "quality_unbiased": "separate score",
    "quality_biased": "score beside the error check",
}
SOLVER_DECIMALS = 8  # what differs beyond is a rounding error of the solver


def statements(
    study: Experiment1, alpha: float, n_boot: int, seed: int
) -> dict[str, object]:
    """Compute what the paper's statements on experiment 1 are compared with.

    Parameters
    ----------
    study : Experiment1
        The ratings.
    alpha : float
        Penalty of the Lasso; 0.01 in the paper.
    n_boot, seed : int
        Resamples of prompts, and the seed of their random numbers.

    Returns
    -------
    dict
        By name of the result, without ``"hosking."``, in the form that
        `helpers.claims.results.rows` takes. Weights are points of the score; shares
        are those of resamples.

    References
    ----------
    Hosking et al. (2024), sections 2.1 and 2.2, Figures 1 and 9, Appendix E.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> study = hosking.load_experiment_1("simulated")
    >>> statements(study, alpha=0.01, n_boot=20, seed=0)["counts.systems_1"]
    5
    """
    answers = study.outputs()
    counts = {
        "counts.error_types_1": len(ERRORS_1),
        "counts.systems_1": answers["system"].nunique(),
        "counts.tasks": answers["task"].nunique(),
        "counts.outputs_1": len(answers),
        "counts.annotations_1": len(study.errors),
    }
    table = answers.assign(**{LOWER: -answers["quality_unbiased"]})
    # a label that never varies explains nothing
    errors = [error for error in ERRORS_1 if table[error].std() > 0]
    return {
        **counts,
        **_of_weights(table, errors, alpha, n_boot, seed),
        **_without_each(table, errors, alpha, n_boot, seed),
        **_of_rates(answers),
        **_of_systems(answers, n_boot, seed),
    }


def _of_weights(
    table: pd.DataFrame, errors: list[str], alpha: float, n_boot: int, seed: int
) -> dict[str, object]:
    """Selection, order and size of the Lasso weights."""
    weights = lasso.lasso(table, errors, LOWER, alpha)
    moments = cluster_moments(table, errors, LOWER, cluster="prompt_id")
    draws = lasso.lasso_bootstrap(moments, alpha, n_boot, np.random.default_rng(seed))
    selected = weights != 0
    drawn = draws != 0
    # distance from half the weight of a refusal
    distance = (weights - weights["refusal"] / 2).rename("estimate")
    from_half = interval_table(distance, draws.sub(draws["refusal"] / 2, axis="index"))
    frequency = _drawn_frequencies(moments, n_boot, seed)
    rarest_selected = frequency.where(drawn).min(axis="columns")
    most_frequent_other = frequency.mask(drawn).max(axis="columns")
    percent = 100 * table[errors].mean()
    has_rarest = percent[~selected].max() < percent[selected].min()
    return {
        "lasso.n_contributing": selected.sum(),
        "lasso.almost_all_contribute": selected.sum(),
        "lasso.refusal_strongest": {"share": share_first(draws)["refusal"]},
        "lasso.factuality_contributes": {"share": drawn["factuality"].mean()},
        "lasso.inconsistency_contributes": {"share": drawn["inconsistency"].mean()},
        "lasso.factuality_weaker": from_half.loc["factuality"],
        "lasso.inconsistency_weaker": from_half.loc["inconsistency"],
        "lasso.zero_weights_are_rarest": {
            "share": (most_frequent_other < rarest_selected).mean(),
            "holds": has_rarest,
        },
        "lasso.zero_weights_below_1": percent[~selected].to_frame("estimate"),
    }


def share_first(draws: pd.DataFrame) -> pd.Series:
    """Share of resamples in which each weight is the only largest one.

    Parameters
    ----------
    draws : pandas.DataFrame, shape (n_boot, n_features)
        Weights in resamples, as from `helpers.stats.lasso.lasso_bootstrap`.

    Returns
    -------
    pandas.Series
        By feature. A resample without a positive weight, or with a tie, has no first.

    Examples
    --------
    >>> draws = pd.DataFrame({"refusal": [0.9, 0.8, 0, 0.5], "scope": [0, 0.3, 0, 0.5]})
    >>> share_first(draws).to_dict()
    {'refusal': 0.5, 'scope': 0.0}
    """
    largest = draws.max(axis="columns")
    is_largest = draws.eq(largest, axis="index")
    has_first = (is_largest.sum(axis="columns") == 1) & (largest > 0)
    return is_largest[has_first].sum() / len(draws)


def _drawn_frequencies(moments, n_boot: int, seed: int) -> pd.DataFrame:
    """Sum of each label in the resamples that the same seed gives a Lasso."""
    rng = np.random.default_rng(seed)
    times_drawn = bootstrap.cluster_weights(len(moments.n), n_boot, rng)
    sums = moments.total(times_drawn).products[:, 0, 1:-1]
    return pd.DataFrame(sums, columns=list(moments.features))


def _without_each(
    table: pd.DataFrame, errors: list[str], alpha: float, n_boot: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Changes of the weights and of the selection without each label (Figure 9)."""

    def fitted(labels: list[str]) -> tuple[pd.Series, pd.DataFrame]:
        weights = lasso.lasso(table, labels, LOWER, alpha)
        moments = cluster_moments(table, labels, LOWER, cluster="prompt_id")
        # the same seed draws the same prompts each time
        rng = np.random.default_rng(seed)
        return weights, lasso.lasso_bootstrap(moments, alpha, n_boot, rng)

    weights, draws = fitted(errors)
    changes = []
    same = {}
    for gone in errors:
        others = [error for error in errors if error != gone]
        weights_without, draws_without = fitted(others)
        change = (weights_without - weights[others]).rename("estimate")
        moves = interval_table(change, draws_without - draws[others])
        changes.append(moves.rename(lambda error, gone=gone: f"{error} without {gone}"))
        unchanged = draws_without.ne(0).eq(draws[others].ne(0)).all(axis="columns")
        same[f"without {gone}"] = {
            "share": unchanged.mean(),
            "holds": weights_without.ne(0).eq(weights[others].ne(0)).all(),
        }
    return {
        "lasso.leave_one_out_minor": pd.concat(changes).round(SOLVER_DECIMALS),
        "lasso.leave_one_out_selection": pd.DataFrame(same).T.astype(float),
    }


def _of_rates(answers: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Percent of outputs with rare errors, of all outputs and of the models'."""
    of_models = answers[answers["system"] != REFERENCES]
    rates = {}
    for error in ("fluency", "scope", "harmful"):
        rates[f"rates.{error}_below_1"] = {
            "all outputs": 100 * answers[error].mean(),
            "the four models": 100 * of_models[error].mean(),
        }
    return rates


def _of_systems(answers: pd.DataFrame, n_boot: int, seed: int) -> dict[str, dict]:
    """Whether references have the lowest mean, and how far models are above them."""
    rng = np.random.default_rng(seed)
    n_prompts = answers["prompt_id"].nunique()
    times_drawn = bootstrap.cluster_weights(n_prompts, n_boot, rng)
    is_reference = (answers["system"] == REFERENCES).astype(float)
    lowest = {}
    preferred = {}
    for column, interpretation in SCORES.items():
        by_prompt = answers.pivot(index="prompt_id", columns="system", values=column)
        sums = pd.DataFrame(times_drawn @ by_prompt, columns=by_prompt.columns)
        others = sums.drop(columns=REFERENCES)
        share = (others.min(axis="columns") > sums[REFERENCES]).mean()
        means = answers.groupby("system")[column].mean()
        lowest[interpretation] = {
            "share": share,
            "holds": means.idxmin() == REFERENCES,
        }
        difference = group_means(
            pd.Index(["models"]), n_columns=1, n_groups=2, contrasts=np.array([[1, -1]])
        )
        rows = np.column_stack([answers[column], is_reference])
        left_out = leave_out(rows, answers[["prompt_id"]], difference)
        preferred[interpretation] = left_out.table().loc["models"]
    return {
        "systems.references_lowest": lowest,
        "systems.generated_preferred": preferred,
    }
