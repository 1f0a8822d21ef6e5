"""Crowds and experts: items by hand, known truths."""

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
