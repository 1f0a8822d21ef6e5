"""What the paper's statements on its Lasso and systems are compared with."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso

from helpers.claims import results
from helpers.stats import bootstrap
from helpers.studies import hosking, hosking_lasso

N_BOOT = 200
SEED = 3


@pytest.fixture(scope="module")
def study():
    return hosking.load_experiment_1("simulated", SEED)


@pytest.fixture(scope="module")
def found(study):
    return hosking_lasso.statements(study, alpha=0.01, n_boot=N_BOOT, seed=SEED)


def fitted(table: pd.DataFrame, errors: list[str]) -> pd.Series:
    """Lasso weights by scikit-learn."""
    lasso = Lasso(alpha=0.01, tol=1e-12, max_iter=100_000)
    return pd.Series(-lasso.fit(table[errors], table["score"]).coef_, errors)


def test_weights_and_their_changes_are_those_of_scikit_learn(study, found):
    answers = study.outputs()
    table = answers.assign(score=answers["quality_unbiased"])
    errors = [error for error in hosking.ERRORS_1 if table[error].std() > 0]
    weights = fitted(table, errors)
    assert found["lasso.n_contributing"] == (weights != 0).sum()
    weaker = found["lasso.factuality_weaker"]
    assert weaker["estimate"] == pytest.approx(
        weights["factuality"] - weights["refusal"] / 2, abs=1e-6
    )
    rates = found["lasso.zero_weights_below_1"]["estimate"]
    assert list(rates.index) == list(weights.index[weights == 0])
    moves = found["lasso.leave_one_out_minor"]["estimate"]
    assert len(moves) == len(errors) * (len(errors) - 1)
    selection = found["lasso.leave_one_out_selection"]["holds"]
    for gone in errors:
        others = [error for error in errors if error != gone]
        same = fitted(table, others).ne(0).eq(weights[others].ne(0)).all()
        assert selection[f"without {gone}"] == same
    without = fitted(table, [error for error in errors if error != "relevance"])
    assert moves["inconsistency without relevance"] == pytest.approx(
        without["inconsistency"] - weights["inconsistency"], abs=1e-6
    )


def test_shares_are_counted_in_resamples_of_prompts(study, found):
    answers = study.outputs()
    table = answers.assign(score=answers["quality_unbiased"])
    errors = [error for error in hosking.ERRORS_1 if table[error].std() > 0]
    prompts = sorted(table["prompt_id"].unique())
    rng = np.random.default_rng(SEED)
    times_drawn = bootstrap.cluster_weights(len(prompts), N_BOOT, rng)
    selected = 0
    rarest = 0
    unchanged = 0
    others = [error for error in errors if error != "relevance"]
    for times in times_drawn:
        repeats = table["prompt_id"].map(dict(zip(prompts, times, strict=True)))
        drawn = table.loc[table.index.repeat(repeats.astype(int))]
        weights = fitted(drawn, errors)
        selected += weights["inconsistency"] != 0
        without = fitted(drawn, others)
        unchanged += without.ne(0).eq(weights[others].ne(0)).all()
        frequency = drawn[errors].mean()
        zero = weights == 0
        rarest += frequency[zero].max() < frequency[~zero].min()
    share = found["lasso.inconsistency_contributes"]["share"]
    assert share == pytest.approx(selected / N_BOOT, abs=0.011)
    share = found["lasso.leave_one_out_selection"].loc["without relevance", "share"]
    assert share == pytest.approx(unchanged / N_BOOT, abs=0.011)
    share = found["lasso.zero_weights_are_rarest"]["share"]
    assert share == pytest.approx(rarest / N_BOOT, abs=0.011)


def test_systems_and_rates_by_either_meaning(study, found):
    answers = study.outputs()
    is_model = answers["system"] != "References"
    ahead = found["systems.generated_preferred"]["separate score"]
    means = answers["quality_unbiased"].groupby(is_model).mean()
    assert ahead["estimate"] == pytest.approx(means[True] - means[False])
    prompts = sorted(answers["prompt_id"].unique())
    rng = np.random.default_rng(SEED)
    n_last = 0
    for times in bootstrap.cluster_weights(len(prompts), N_BOOT, rng):
        weights = answers["prompt_id"].map(dict(zip(prompts, times, strict=True)))
        sums = (weights * answers["quality_biased"]).groupby(answers["system"]).sum()
        n_last += sums.idxmin() == "References"
    lowest = found["systems.references_lowest"]["score beside the error check"]
    assert lowest["share"] == pytest.approx(n_last / N_BOOT)
    rates = found["rates.fluency_below_1"]
    models = answers.loc[is_model, "fluency"]
    assert rates["the four models"] == pytest.approx(100 * models.mean())


def test_statements_can_be_saved(found):
    tidy = results.check(results.rows("hosking", found))
    assert {"hosking.counts.outputs_1", "hosking.lasso.refusal_strongest"} <= set(
        tidy["name"]
    )
