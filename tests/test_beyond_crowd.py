"""Labels of several raters: hand-computed items, recovered truths, comparisons, messages."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from helpers.beyond import crowd
from helpers.stats.rates import detection_rates

NAMES = ("item_id", "rater_id", "label")
RATINGS = pd.DataFrame(
    {"item_id": list("aaaabbb"), "rater_id": list("pqrspqr"), "score": [1, 1, 4, 4, 0, 2, 3]}
)


def combine(table: pd.DataFrame, rule: str) -> pd.Series:
    return crowd.combine(table, ["score"], rule, "item_id", "rater_id")["score"]


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


def test_unknown_rules_and_missing_labels_are_refused():
    with pytest.raises(ValueError, match="rule 'median' is unknown: choose one of mean, mode"):
        combine(RATINGS, "median")
    for column in ("item_id", "rater_id", "score"):
        with pytest.raises(ValueError, match=f"column '{column}' has 1 missing value, first in"):
            combine(RATINGS.assign(**{column: RATINGS[column].drop(2)}), "Dawid–Skene")


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
    model = crowd.fit_dawid_skene(table, *NAMES)
    found = model.confusion.to_numpy().reshape(np.shape(confusion))
    np.testing.assert_allclose(found, confusion, atol=0.06)
    np.testing.assert_allclose(model.prevalence, prevalence, atol=0.03)
    majority = crowd.combine(table, ["label"], "mode, ties low", *NAMES[:2])["label"]
    right = (model.posterior.idxmax(axis="columns") == truth).mean()
    assert right >= (majority == truth).mean()


def test_the_first_step_takes_shares_of_votes_for_true_labels(monkeypatch):
    monkeypatch.setattr(crowd, "TOLERANCE", np.inf)  # stop at once
    table = RATINGS.assign(label=[0, 0, 1, 1, 0, 0, 1])
    model = crowd.fit_dawid_skene(table, *NAMES)
    assert model.n_steps == 1
    assert model.prevalence.tolist() == pytest.approx([7 / 12, 5 / 12])
    assert model.posterior.loc["b", 0] == pytest.approx(7 / 12)


def test_the_solution_is_a_fixed_point_of_the_equations_of_the_paper():
    table, _ = simulate(6, 60, [[[0.8, 0.2], [0.3, 0.7]]] * 5, [0.5, 0.5])
    model = crowd.fit_dawid_skene(table, *NAMES)
    posterior = model.posterior.to_numpy()
    by_hand = np.log(posterior.mean(axis=0))[None].repeat(60, axis=0)
    for rater, rows in table.groupby("rater_id"):
        weights = posterior[rows["item_id"]]
        counts = np.array([weights[rows["label"] == given].sum(axis=0) for given in (0, 1)])
        rates = counts / counts.sum(axis=0)
        by_hand[rows["item_id"]] += np.log(rates[rows["label"]])
        np.testing.assert_allclose(model.confusion.loc[rater], rates.T, atol=1e-3)
    shares = np.exp(by_hand) / np.exp(by_hand).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, posterior, atol=1e-3)
    np.testing.assert_allclose(model.expected(), posterior[:, 1])


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


@pytest.mark.filterwarnings("ignore")  # crowd-kit uses what pandas will remove
def test_crowd_kit_gives_the_same_posterior():
    aggregation = pytest.importorskip(
        "crowdkit.aggregation", reason="crowd-kit is not installed (extra: crowd)"
    )
    table, _ = simulate(10, 300, [[[0.9, 0.1], [0.3, 0.7]]] * 5, [0.7, 0.3])
    model = crowd.fit_dawid_skene(table, *NAMES)
    names = dict(zip(NAMES, ("task", "worker", "label"), strict=True))
    steps = {"n_iter": model.n_steps, "tol": -np.inf}  # its own rule stops before the maximum
    other = aggregation.DawidSkene(**steps).fit(table.rename(columns=names)).probas_
    np.testing.assert_allclose(other.loc[model.posterior.index, [0, 1]], model.posterior, atol=1e-6)


def test_too_few_steps_are_told(monkeypatch):
    monkeypatch.setattr(crowd, "MAX_STEPS", 2)
    table, _ = simulate(11, 200, [[[0.7, 0.3], [0.4, 0.6]]] * 3, [0.5, 0.5])
    with pytest.raises(RuntimeError, match="still rises after 2 steps: pool raters with few label"):
        crowd.fit_dawid_skene(table, *NAMES)


@pytest.fixture(scope="module")
def marks() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Marks and expert labels with known probabilities."""
    rng = np.random.default_rng(0)
    present = rng.random(8000) < 0.2
    seen = rng.random((8000, 5)) < np.where(present, 0.7, 0.05)[:, None]
    marks = pd.DataFrame({"item_id": np.repeat(np.arange(8000), 5), "refusal": seen.ravel() * 1.0})
    checked = rng.random(8000) < np.where(present, 0.9, 0.02)
    return marks, pd.DataFrame({"item_id": np.arange(8000), "refusal": checked * 1.0})


def test_probabilities_of_latent_classes_are_found_again(marks):
    found = crowd.fit_classes(marks[0], ["refusal"], marks[1].iloc[:4000])
    known = pytest.approx([0.2, 0.7, 0.05, 0.9, 0.02], abs=0.02)
    assert found.loc["refusal", list(crowd.COLUMNS)].tolist() == known
    alone = crowd.fit_classes(marks[0], ["refusal"]).loc["refusal"]
    assert alone[list(crowd.COLUMNS[:3])].tolist() == pytest.approx([0.2, 0.7, 0.05], abs=0.02)
    assert alone[list(crowd.COLUMNS[3:])].isna().all()


def test_an_error_nobody_marks_gives_no_probability_of_zero(monkeypatch):
    monkeypatch.setattr(crowd, "CLASS_STEPS", 200)
    nothing = pd.DataFrame({"item_id": np.repeat(range(50), 3), "harmful": 0.0})
    found = crowd.fit_classes(nothing, ["harmful"])[list(crowd.COLUMNS[:3])]
    assert ((found > 0) & (found < 1)).all(axis=None)


def test_latent_classes_need_single_marks_of_the_same_outputs(marks):
    with pytest.raises(ValueError, match=r"'refusal' is 0\.5 in row 1: give single marks, 0 or 1"):
        crowd.fit_classes(marks[0].assign(refusal=[0, 0.5, *[1] * 39_998]), ["refusal"])
    with pytest.raises(ValueError, match="experts checked output 9000, which nobody marked"):
        crowd.fit_classes(marks[0], ["refusal"], marks[1].assign(item_id=9000 + np.arange(8000)))


def compare(low: list[int], high: list[int], n_permutations=999) -> pd.DataFrame:
    """Change between arms with so many outputs marked rightly, missed, imagined and clean."""
    labels = pd.DataFrame({"crowd": [1.0, 0, 1, 0] * 2, "expert": [1.0, 1, 0, 0] * 2})
    labels = labels.assign(arm=np.repeat(["low", "high"], 4), error="factuality")
    pairs = labels.loc[np.repeat(np.arange(8), [*low, *high])].reset_index(drop=True)
    pairs["prompt_id"], rng = pairs.index, np.random.default_rng(0)
    rates = detection_rates(pairs, ["error", "arm"], "prompt_id", 10, rng)
    contrasts = {"tone": ("low", "high")}
    table = crowd.compare_detection(pairs, rates, contrasts, n_permutations, rng)
    return table.loc["tone"].droplevel("error")


def test_a_clear_change_of_sensitivity_is_found_with_its_sign():
    table = compare([18, 2, 2, 28], [2, 18, 2, 28])
    assert table["estimate"].tolist() == pytest.approx([-80, 0])
    assert table.loc["sensitivity", "high"] < 0
    assert table.loc["sensitivity", "p_value"] == pytest.approx(0.001)
    assert table.loc["sensitivity", ["n_from", "n_to"]].tolist() == [20, 20]


def test_p_values_of_balanced_groups_are_those_of_fishers_exact_test():
    found = compare([12, 8, 2, 28], [6, 14, 2, 28], 10_000).loc["sensitivity", "p_value"]
    exact = fisher_exact([[12, 8], [6, 14]]).pvalue
    assert found == pytest.approx(exact, abs=3 * np.sqrt(exact / 10_000))


def test_groups_that_cannot_be_compared():
    row = compare([0, 0, 2, 28], [3, 7, 2, 28]).loc["sensitivity"]
    assert row[["estimate", "p_value"]].isna().all()
    with pytest.raises(ValueError, match=r"no output of arm 'high': there are \['low'\]"):
        compare([3, 7, 2, 28], [0, 0, 0, 0])
    share = pd.DataFrame({"expert": [0.5]})
    with pytest.raises(ValueError, match="an expert label is a share"):
        crowd.compare_detection(share, share, {}, 1, np.random.default_rng(0))
