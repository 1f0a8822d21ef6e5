"""Dawid-Skene: published and recovered numbers, agreement with crowd-kit, messages."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import crowd

COLUMNS = ("item_id", "rater_id", "label")


def simulate(
    rng: np.random.Generator, n_items: int, confusion: np.ndarray, prevalence: list[float]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Every rater labels every item; rows of a confusion matrix are true labels."""
    n_raters, n_labels, _ = confusion.shape
    truth = rng.choice(n_labels, n_items, p=prevalence)
    items, raters = (grid.ravel() for grid in np.indices((n_items, n_raters)))
    limits = confusion[raters, truth[items]].cumsum(axis=1)
    labels = (rng.random((len(items), 1)) > limits).sum(axis=1)
    return pd.DataFrame({"item_id": items, "rater_id": raters, "label": labels}), truth


def test_confusion_matrices_and_prevalence_are_recovered():
    rng = np.random.default_rng(3)
    careful, lenient = [[0.95, 0.05], [0.1, 0.9]], [[0.99, 0.01], [0.4, 0.6]]
    confusion = np.array([careful, lenient, careful, [[0.7, 0.3], [0.3, 0.7]], lenient])
    table, truth = simulate(rng, 20_000, confusion, [0.8, 0.2])
    model = crowd.fit_dawid_skene(table, *COLUMNS)
    found = model.confusion.to_numpy().reshape(confusion.shape)
    np.testing.assert_allclose(found, confusion, atol=0.03)
    np.testing.assert_allclose(model.prevalence, [0.8, 0.2], atol=0.02)
    assert (model.posterior.idxmax(axis="columns") == truth).mean() > 0.96


def test_three_labels_are_recovered():
    confusion = np.array([[[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]]] * 4)
    table, _ = simulate(np.random.default_rng(4), 3000, confusion, [0.5, 0.3, 0.2])
    model = crowd.fit_dawid_skene(table, *COLUMNS)
    np.testing.assert_allclose(
        model.confusion.to_numpy().reshape(confusion.shape), confusion, atol=0.05
    )
    np.testing.assert_allclose(model.prevalence, [0.5, 0.3, 0.2], atol=0.03)


def test_a_rater_who_turns_labels_around_is_believed_the_other_way():
    good, contrary = [[0.9, 0.1], [0.1, 0.9]], [[0.05, 0.95], [0.95, 0.05]]
    table, truth = simulate(
        np.random.default_rng(5), 2000, np.array([good, good, good, contrary]), [0.6, 0.4]
    )
    model = crowd.fit_dawid_skene(table, *COLUMNS)
    majority = table.groupby("item_id")["label"].mean().round()
    right = (model.posterior.idxmax(axis="columns") == truth).mean()
    assert right > (majority == truth).mean() + 0.03
    np.testing.assert_allclose(model.confusion.loc[3], contrary, atol=0.05)


def test_the_solution_is_a_fixed_point_of_the_equations_of_the_paper():
    table, _ = simulate(
        np.random.default_rng(6), 60, np.array([[[0.8, 0.2], [0.3, 0.7]]] * 5), [0.5, 0.5]
    )
    model = crowd.fit_dawid_skene(table, *COLUMNS)
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


def test_unanimous_raters_are_believed():
    table = pd.DataFrame(
        {"item_id": [1, 1, 2, 2], "rater_id": [1, 2, 1, 2], "label": ["yes", "yes", "no", "no"]}
    )
    model = crowd.fit_dawid_skene(table, *COLUMNS)
    np.testing.assert_allclose(model.posterior, [[0, 1], [1, 0]], atol=1e-6)
    assert model.prevalence.to_dict() == pytest.approx({"no": 0.5, "yes": 0.5})


def test_expected_label_is_the_mean_of_the_posterior():
    confusion = np.array([[[0.7, 0.3], [0.2, 0.8]]] * 3)
    table, _ = simulate(np.random.default_rng(7), 200, confusion, [0.5, 0.5])
    model = crowd.fit_dawid_skene(table, *COLUMNS)
    pd.testing.assert_series_equal(
        model.expected(), model.posterior[1], check_names=False, check_exact=False
    )


def test_order_of_rows_and_names_do_not_matter():
    confusion = np.array([[[0.9, 0.1], [0.2, 0.8]]] * 4)
    table, _ = simulate(np.random.default_rng(8), 300, confusion, [0.7, 0.3])
    shuffled = table.sample(frac=1, random_state=1).replace({"label": {0: "a", 1: "b"}})
    first, second = (crowd.fit_dawid_skene(each, *COLUMNS) for each in (table, shuffled))
    np.testing.assert_allclose(first.posterior, second.posterior, atol=1e-8)


def test_raters_with_two_labels_overfit_unless_pooled():
    rng = np.random.default_rng(9)
    items = np.repeat(np.arange(600), 4)
    truth = rng.random(600) < 0.1
    labels = rng.random(2400) < np.where(truth[items], 0.6, 0.05)
    table = pd.DataFrame({"item_id": items, "rater_id": rng.permutation(2400) // 2})
    table["label"] = labels.astype(int)
    alone = crowd.fit_dawid_skene(table, *COLUMNS).prevalence[1]
    pooled = crowd.pool_occasional(table["rater_id"].astype(str), 10)
    together = crowd.fit_dawid_skene(table.assign(rater_id=pooled), *COLUMNS).prevalence[1]
    assert set(pooled) == {crowd.OCCASIONAL}
    assert abs(together - truth.mean()) < 0.03
    assert abs(alone - truth.mean()) > 0.05


@pytest.mark.filterwarnings("ignore")  # crowd-kit uses what pandas will remove
def test_crowd_kit_gives_the_same_posterior():
    aggregation = pytest.importorskip(
        "crowdkit.aggregation", reason="crowd-kit is not installed (extra: crowd)"
    )
    confusion = np.array([[[0.9, 0.1], [0.3, 0.7]]] * 5)
    table, _ = simulate(np.random.default_rng(10), 300, confusion, [0.7, 0.3])
    model = crowd.fit_dawid_skene(table, *COLUMNS)
    names = dict(zip(COLUMNS, ("task", "worker", "label"), strict=True))
    steps = {"n_iter": model.n_steps, "tol": -np.inf}  # its own rule stops before the maximum
    other = aggregation.DawidSkene(**steps).fit(table.rename(columns=names)).probas_
    np.testing.assert_allclose(other.loc[model.posterior.index, [0, 1]], model.posterior, atol=1e-6)


@pytest.mark.parametrize("column", COLUMNS)
def test_missing_values_and_columns_are_named(column):
    table = pd.DataFrame({"item_id": [1.0, 1], "rater_id": [1.0, 2], "label": [0.0, 1]})
    with pytest.raises(ValueError, match=rf"column '{column}' is empty in row 1: drop the row"):
        crowd.fit_dawid_skene(table.assign(**{column: [1.0, np.nan]}), *COLUMNS)
    with pytest.raises(ValueError, match=rf"no column '{column}'; the table has"):
        crowd.fit_dawid_skene(table.drop(columns=column), *COLUMNS)


def test_one_label_is_no_disagreement():
    table = pd.DataFrame({"item_id": [1, 1], "rater_id": [1, 2], "label": [0, 0]})
    with pytest.raises(
        ValueError, match=r"column 'label' is .*0.* in all 2 rows: nobody disagrees"
    ):
        crowd.fit_dawid_skene(table, *COLUMNS)


def test_too_few_steps_are_told(monkeypatch):
    monkeypatch.setattr(crowd, "MAX_STEPS", 2)
    confusion = np.array([[[0.7, 0.3], [0.4, 0.6]]] * 3)
    table, _ = simulate(np.random.default_rng(11), 200, confusion, [0.5, 0.5])
    with pytest.raises(
        RuntimeError, match="still rises after 2 steps: pool raters with few labels"
    ):
        crowd.fit_dawid_skene(table, *COLUMNS)
