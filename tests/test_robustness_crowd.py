"""Crowds and experts: items by hand, known truths, other packages, coverage."""

import numpy as np
import pandas as pd
import pytest

from helpers.data.tables import PlainError
from helpers.robustness import crowd

LABELLED, ALL = 60, 300
RATINGS = pd.DataFrame(
    {
        "item_id": list("aaaabbb"),
        "rater_id": list("pqrspqr"),
        "score": [1, 1, 4, 4, 0, 2, 3],
    }
)


def combine(table: pd.DataFrame, rule: str) -> pd.Series:
    return crowd.combine(table, ["score"], rule)["score"]


def fit(table: pd.DataFrame) -> pd.DataFrame:
    return crowd.fit_dawid_skene(
        *(table[name] for name in ("item_id", "rater_id", "label"))
    )


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("mean", [2.5, 5 / 3]),
        ("mode, ties halved", [2.5, 5 / 3]),
        ("mode, ties low", [1, 0]),
        ("mode, ties high", [4, 3]),
    ],
)
def test_ties_are_broken_by_the_rule(rule, expected):
    combined = combine(RATINGS, rule)
    assert combined.index.tolist() == ["a", "b"]
    assert combined.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("rule", crowd.RULES)
def test_where_nobody_disagrees_all_rules_agree(rule):
    table = RATINGS.assign(score=RATINGS["item_id"].map({"a": 0, "b": 1}))
    assert combine(table, rule).tolist() == pytest.approx([0, 1], abs=1e-6)
    assert combine(RATINGS.assign(score=3), rule).tolist() == [3, 3]


def simulate(seed: int, n_items: int, confusion: list, prevalence: list[float]):
    """Every rater labels every item; rows of a confusion matrix are true labels."""
    rng, confusion = np.random.default_rng(seed), np.array(confusion)
    truth = rng.choice(len(prevalence), n_items, p=prevalence)
    items, raters = (grid.ravel() for grid in np.indices((n_items, len(confusion))))
    limits = confusion[raters, truth[items]].cumsum(axis=1)
    labels = (rng.random((len(items), 1)) > limits).sum(axis=1)
    return pd.DataFrame({"item_id": items, "rater_id": raters, "label": labels}), truth


CAREFUL, LENIENT = [[0.95, 0.05], [0.1, 0.9]], [[0.99, 0.01], [0.4, 0.6]]
THREE = [[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]]


@pytest.mark.parametrize(
    ("confusion", "prevalence"),
    [
        ([CAREFUL, LENIENT, CAREFUL, [[0.7, 0.3], [0.3, 0.7]], LENIENT], [0.8, 0.2]),
        ([CAREFUL, CAREFUL, CAREFUL, [[0.05, 0.95], [0.95, 0.05]]], [0.6, 0.4]),
        ([THREE] * 4, [0.5, 0.3, 0.2]),
    ],
)
def test_confusion_matrices_and_prevalence_are_recovered(confusion, prevalence):
    table, truth = simulate(3, 4000, confusion, prevalence)
    posterior = fit(table)
    weights = posterior.to_numpy()[table["item_id"]]
    given = [
        pd.DataFrame(weights * (table[["label"]] == k).to_numpy()) for k in posterior
    ]
    counts = np.stack([each.groupby(table["rater_id"]).sum() for each in given], axis=2)
    found = counts / counts.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(found, confusion, atol=0.06)
    np.testing.assert_allclose(posterior.mean(), prevalence, atol=0.03)
    majority = crowd.combine(table, ["label"], "mode, ties low")["label"]
    right = (posterior.idxmax(axis="columns") == truth).mean()
    assert right >= (majority == truth).mean()


def test_the_solution_is_a_fixed_point_of_the_equations_of_the_paper():
    table, _ = simulate(6, 60, [[[0.8, 0.2], [0.3, 0.7]]] * 5, [0.5, 0.5])
    posterior = fit(table).to_numpy()
    by_hand = np.log(posterior.mean(axis=0))[None].repeat(60, axis=0)
    for _, rows in table.groupby("rater_id"):
        weights = posterior[rows["item_id"]]
        counts = np.array(
            [weights[rows["label"] == given].sum(axis=0) for given in (0, 1)]
        )
        rates = counts / counts.sum(axis=0)
        by_hand[rows["item_id"]] += np.log(rates[rows["label"]])
    shares = np.exp(by_hand) / np.exp(by_hand).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, posterior, atol=1e-3)
    combined = crowd.combine(table, ["label"], "Dawid–Skene")["label"]
    np.testing.assert_allclose(combined, posterior[:, 1])


def test_raters_with_two_labels_overfit_unless_pooled():
    rng = np.random.default_rng(9)
    items = np.repeat(np.arange(600), 4)
    truth = rng.random(600) < 0.1
    labels = rng.random(2400) < np.where(truth[items], 0.6, 0.05)
    table = pd.DataFrame({"item_id": items, "rater_id": rng.permutation(2400) // 2})
    table["score"] = labels.astype(int)
    alone, pooled = (combine(table, rule).mean() for rule in crowd.RULES[-2:])
    assert abs(pooled - truth.mean()) < 0.03
    assert abs(alone - truth.mean()) > 0.05


def test_too_few_steps_are_told(monkeypatch):
    monkeypatch.setattr(crowd, "MAX_STEPS", 2)
    table, _ = simulate(11, 200, [[[0.7, 0.3], [0.4, 0.6]]] * 3, [0.5, 0.5])
    with pytest.raises(
        RuntimeError, match="still rises after 2 steps: pool raters with few label"
    ):
        fit(table)


def test_two_steps_are_enough_where_nobody_disagrees(monkeypatch):
    table = RATINGS.assign(label=RATINGS["item_id"].map({"a": 0, "b": 1}))
    monkeypatch.setattr(crowd, "MAX_STEPS", 2)
    assert fit(table).round(6).to_numpy().tolist() == [[1, 0], [0, 1]]
    monkeypatch.setattr(crowd, "MAX_STEPS", 1)
    with pytest.raises(RuntimeError, match="still rises after 1 steps"):
        fit(table)


@pytest.fixture(scope="module")
def marks() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Marks and expert labels with known probabilities."""
    rng = np.random.default_rng(0)
    present = rng.random(8000) < 0.2
    seen = rng.random((8000, 5)) < np.where(present, 0.7, 0.05)[:, None]
    marks = pd.DataFrame(
        {"item_id": np.repeat(np.arange(8000), 5), "refusal": seen.ravel() * 1.0}
    )
    checked = rng.random(8000) < np.where(present, 0.9, 0.02)
    return marks, pd.DataFrame({"item_id": np.arange(8000), "refusal": checked * 1.0})


def test_probabilities_of_latent_classes_are_found_again(marks):
    found = crowd.fit_classes(marks[0], ["refusal"], marks[1].iloc[:4000])
    known = pytest.approx([0.2, 0.7, 0.05, 0.9, 0.02], abs=0.02)
    assert found.loc["refusal", list(crowd.COLUMNS)].tolist() == known
    alone = crowd.fit_classes(marks[0], ["refusal"]).loc["refusal"]
    assert alone[list(crowd.COLUMNS[:3])].tolist() == pytest.approx(
        [0.2, 0.7, 0.05], abs=0.02
    )
    assert alone[list(crowd.COLUMNS[3:])].isna().all()


def test_an_error_nobody_marks_gives_no_probability_of_zero():
    nothing = pd.DataFrame({"item_id": np.repeat(range(600), 5), "harmful": 0.0})
    found = crowd.fit_classes(nothing, ["harmful"])[list(crowd.COLUMNS[:3])]
    assert ((found > 0) & (found < 1)).all(axis=None)


def test_marks_that_do_not_tell_probabilities_are_refused_with_the_error(
    marks, monkeypatch
):
    nothing = pd.DataFrame({"item_id": np.repeat(range(50), 3), "harmful": 0.0})
    message = (
        "^the probabilities of error 'harmful' still change after 5000 steps: "
        "leave it out or"
    )
    with pytest.raises(PlainError, match=message):
        crowd.fit_classes(nothing, ["harmful"])
    monkeypatch.setattr(crowd, "CLASS_STEPS", 5)
    with pytest.raises(PlainError, match="'refusal' still change after 5 steps"):
        crowd.fit_classes(marks[0], ["refusal"])


def make_pairs(seed=0, imagined=0.1, rate=0.3):
    """One output per prompt; experts label the first prompts."""
    rng = np.random.default_rng(seed)
    truth = rng.binomial(1, rate, ALL).astype(float)
    crowd = rng.binomial(1, np.where(truth == 1, 0.6, imagined)).astype(float)
    expert = np.where(np.arange(ALL) < LABELLED, truth, np.nan)
    return pd.DataFrame(
        {
            "error": "factuality",
            "prompt_id": np.arange(ALL),
            "crowd": crowd,
            "expert": expert,
        }
    )


def rates(pairs, by=("error",)):
    return crowd.rate_table(pairs, by, "prompt_id")


@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_those_of_the_formula(seed):
    pairs = make_pairs(seed)
    labelled, others = pairs[:LABELLED], pairs[LABELLED:]["crowd"]
    covariance = labelled[["expert", "crowd"]].cov(ddof=0).iloc[0, 1]
    factor = covariance / (1 + LABELLED / len(others)) / pairs["crowd"].var()
    parts = [labelled["expert"] - factor * labelled["crowd"], factor * others]
    found = rates(pairs)["estimate"].droplevel("error")
    assert found["prediction-powered"] == pytest.approx(
        100 * sum(part.mean() for part in parts)
    )
    assert found["experts"] == pytest.approx(100 * labelled["expert"].mean())


def test_a_crowd_that_always_says_the_same_leaves_the_experts_mean():
    pairs = make_pairs().assign(crowd=0.5)
    table = rates(pairs)
    np.testing.assert_allclose(table.loc["prediction-powered"], table.loc["experts"])
    assert crowd.gains(pairs, ["error"], "prompt_id")["correlation"].isna().all()


def test_a_perfect_crowd_is_worth_nearly_as_much_as_expert_labels_everywhere():
    truth = np.tile([1.0, 0.0, 0.0], ALL // 3)
    pairs = make_pairs().assign(crowd=truth)
    pairs["expert"] = np.where(np.arange(ALL) < LABELLED, truth, np.nan)
    table = rates(pairs)
    by_crowd, powered = (
        table.loc[(who, "factuality")] for who in ("crowd", "prediction-powered")
    )
    gain = crowd.gains(pairs, ["error"], "prompt_id").loc["factuality"]
    assert gain["correlation"] == pytest.approx(1)
    assert powered["estimate"] == pytest.approx(by_crowd["estimate"])
    widths = [row["high"] - row["low"] for row in (powered, by_crowd)]
    assert widths[0] == pytest.approx(widths[1], rel=0.02)
    assert gain["worth"] == pytest.approx(ALL - LABELLED, rel=0.05)


def test_copies_of_outputs_within_prompts_do_not_narrow_an_interval():
    once = make_pairs()
    tables = [rates(pairs) for pairs in (once, pd.concat([once, once]))]
    once, twice = (table["high"] - table["low"] for table in tables)
    assert twice["prediction-powered"].item() / once[
        "prediction-powered"
    ].item() == pytest.approx(1, rel=0.03)


def test_groups_are_told_apart_whatever_the_order_of_rows_and_names_of_prompts():
    low = make_pairs(1, rate=0.1)
    pairs = pd.concat([make_pairs(0).assign(arm="high"), low.assign(arm="low")])
    table = rates(pairs, ["error", "arm"])
    np.testing.assert_allclose(table.xs("low", level="arm"), rates(low))
    pairs["prompt_id"] = "prompt " + pairs["prompt_id"].astype(str).str.zfill(3)
    shuffled = pairs.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(rates(shuffled, ["error", "arm"]), table)


def test_no_error_found_still_leaves_an_interval():
    high = rates(make_pairs(rate=0.0)).droplevel("error")["high"]
    by_hand = 100 * 3.8415 / (LABELLED + 3.8415)
    assert high["prediction-powered"] == pytest.approx(by_hand, rel=1e-3)


def test_crowd_bias_finds_what_the_crowd_misses():
    pairs = pd.concat(
        [make_pairs(seed, imagined=0.0) for seed in range(10)], ignore_index=True
    )
    pairs["prompt_id"] = np.arange(len(pairs))
    rng = np.random.default_rng(0)
    row = crowd.crowd_bias(pairs, ["error"], "prompt_id", 999, rng).loc["factuality"]
    assert row["low"] < -0.4 * 30 < row["high"] < 0
    assert row["p_value"] == pytest.approx(0.002)


@pytest.mark.parametrize("lacking", ["with", "without"])
def test_group_that_lacks_a_kind_of_output(lacking):
    pairs = make_pairs()
    pairs = pairs[pairs["expert"].isna()] if lacking == "with" else pairs.dropna()
    with pytest.raises(
        ValueError, match=f"'factuality' has no output {lacking} an expert label"
    ):
        rates(pairs)


def test_simulated_labels_have_the_rates_they_should():
    design = crowd.LabellingDesign(rate=0.2, outputs_per_prompt=5, raters=1)
    labels, truth = crowd.simulate_labels(np.random.default_rng(0), design, 200)
    assert truth.mean() == pytest.approx(0.2, abs=0.005)
    assert labels[truth == 1].mean() == pytest.approx(design.sensitivity, abs=0.01)
    assert labels[truth == 0].mean() == pytest.approx(design.false_positive, abs=0.005)
    within = np.corrcoef(truth[:, :, 0].ravel(), truth[:, :, 1].ravel())[0, 1]
    assert 0.03 < within < 0.2


def coverage(**design):
    rng = np.random.default_rng(0)
    return crowd.coverage(crowd.LabellingDesign(**design), 400, 100, rng)


def test_package_interval_covers_frequent_errors_of_independent_outputs():
    covered = coverage(rate=0.4, prompts=1500, labelled_prompts=300, prompt_share=0.0)
    # standard errors of 400
    assert covered["independent"] == pytest.approx(95, abs=4 * 1.1)


def test_clusters_and_rare_errors_break_the_package_interval_but_not_wilsons():
    clustered = {"rate": 0.2, "outputs_per_prompt": 5, "prompt_share": 0.5}
    for design in (clustered, {"rate": 0.02}):
        covered = coverage(**design)
        assert covered["independent"] < 88
        assert covered["Wilson"] > 91
