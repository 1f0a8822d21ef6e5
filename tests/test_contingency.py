"""Chi-squared tests of categories against a yes-or-no outcome, alone and in clusters."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, ncx2

from helpers.stats import clustered


def table_of(counts):
    """One row per observation from counts of (no, yes) by label; every row its own cluster."""
    rows = [
        (label, outcome)
        for label, pair in counts.items()
        for outcome, count in enumerate(pair)
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["label", "error"])
    return frame.assign(cue=range(len(frame)))


def clustered_sample(rng, n_clusters, size, effect):
    """Labels that are constant within clusters, and errors whose rate varies between clusters."""
    label = np.repeat(rng.integers(3, size=n_clusters), size)
    rate = np.repeat(rng.beta(1.2, 1.8, size=n_clusters), size)
    error = rng.random(n_clusters * size) < np.clip(rate + effect * (label == 2), 0, 1)
    cue = np.repeat(np.arange(n_clusters), size)
    return pd.DataFrame({"label": label.astype(str), "error": error.astype(int), "cue": cue})


COUNTS = {"noun": (30, 10), "verb": (20, 20), "adverb": (5, 15)}


def test_the_statistic_is_that_of_pearson():
    test = clustered.associations(table_of(COUNTS), ["label"], "error", "cue").loc["label"]
    expected = chi2_contingency(list(COUNTS.values()))
    assert test["chi2"] == pytest.approx(expected.statistic)
    assert test["p_value"] == pytest.approx(expected.pvalue)
    assert test["smallest_expected"] == pytest.approx(expected.expected_freq.min())
    assert test[["n", "groups"]].tolist() == [100, 3]


def test_a_category_that_decides_the_outcome_has_a_strength_near_one():
    decided = table_of({"noun": (200, 1), "verb": (1, 200)})
    test = clustered.associations(decided, ["label"], "error", "cue").loc["label"]
    assert test["estimate"] == pytest.approx(0.99, abs=0.001)


def test_without_an_association_the_strength_is_zero():
    even = table_of({"noun": (20, 20), "verb": (30, 30)})
    test = clustered.associations(even, ["label"], "error", "cue").loc["label"]
    assert test[["chi2", "estimate", "low"]].tolist() == pytest.approx([0, 0, 0])
    assert test["p_value"] == 1


def test_the_ends_of_the_interval_make_the_statistic_just_too_extreme():
    test = clustered.associations(table_of(COUNTS), ["label"], "error", "cue").loc["label"]
    for end, probability in (("low", 0.975), ("high", 0.025)):
        noncentrality = test["n"] * test[end] ** 2 / test["design_effect"]
        statistic = test["chi2"] / test["design_effect"]
        assert ncx2.cdf(statistic, 2, noncentrality) == pytest.approx(probability)


def test_copies_of_rows_in_the_same_cluster_add_nothing_but_design_effect():
    frame = table_of(COUNTS)
    once = clustered.associations(frame, ["label"], "error", "cue").loc["label"]
    copies = pd.concat([frame] * 3, ignore_index=True)
    thrice = clustered.associations(copies, ["label"], "error", "cue").loc["label"]
    for column in ("chi2", "design_effect"):
        assert thrice[column] == pytest.approx(3 * once[column])
    for column in ("p_clustered", "estimate", "low", "high"):
        assert thrice[column] == pytest.approx(once[column])


def test_neither_the_order_of_rows_nor_names_matter():
    frame = clustered_sample(np.random.default_rng(0), 60, 5, 0.2)
    first = clustered.associations(frame, ["label"], "error", "cue")
    renamed = frame.sample(frac=1, random_state=0).replace({"label": {"0": "z", "1": "a"}})
    second = clustered.associations(renamed, ["label"], "error", "cue")
    pd.testing.assert_frame_equal(first, second)


def test_with_clusters_the_corrected_test_keeps_its_size_and_pearsons_does_not():
    rng = np.random.default_rng(20240917)
    samples = [clustered_sample(rng, 90, 8, 0.0) for _ in range(150)]
    tests = [clustered.associations(frame, ["label"], "error", "cue") for frame in samples]
    rejected = (pd.concat(tests)[["p_value", "p_clustered"]] < 0.05).mean()
    # A rate of 5 % stays below 11 % in 150 trials with probability 0.998.
    assert rejected["p_clustered"] < 0.11
    assert rejected["p_value"] > 0.12


def test_the_interval_covers_the_strength_of_the_population():
    rng = np.random.default_rng(20240917)
    population = clustered.associations(
        clustered_sample(rng, 20_000, 8, 0.15), ["label"], "error", "cue"
    ).loc["label"]
    samples = [clustered_sample(rng, 120, 8, 0.15) for _ in range(100)]
    tests = pd.concat(
        [clustered.associations(frame, ["label"], "error", "cue") for frame in samples]
    )
    strength = population["estimate"]
    covered = ((tests["low"] <= strength) & (strength <= tests["high"])).mean()
    # 95 % coverage gives at least 88 % in 100 trials with probability 0.998.
    assert covered >= 0.88
    assert (tests["estimate"] ** 2).mean() == pytest.approx(strength**2, abs=0.004)


def test_bonferroni_counts_the_tests_that_could_be_made():
    frame = table_of(COUNTS).assign(other=lambda rows: rows["cue"] % 2, constant="same")
    tests = clustered.associations(frame, ["label", "other", "constant"], "error", "cue")
    for plain, corrected in (
        ("p_value", "p_bonferroni"),
        ("p_clustered", "p_clustered_bonferroni"),
    ):
        expected = (2 * tests[plain]).clip(upper=1)
        pd.testing.assert_series_equal(tests[corrected], expected, check_names=False)
    assert tests.loc["constant", "groups"] == 1
    assert tests.loc["constant"].drop(["n", "groups", "sparse"]).isna().all()


def test_a_table_with_small_expected_counts_is_marked():
    frame = table_of(COUNTS)
    frame["rare"] = frame["label"].where(frame["cue"] > 3, "interjection")
    tests = clustered.associations(frame, ["label", "rare"], "error", "cue")
    assert tests["sparse"].tolist() == [False, True]


def test_rows_without_a_label_are_left_out_of_their_test_only():
    frame = table_of(COUNTS)
    half = frame["label"].where(frame["label"] != "adverb")
    tests = clustered.associations(frame.assign(half=half), ["label", "half"], "error", "cue")
    assert tests["n"].tolist() == [100, 80]
    expected = chi2_contingency([COUNTS["noun"], COUNTS["verb"]], correction=False)
    assert tests.loc["half", "chi2"] == pytest.approx(expected.statistic)


def test_rare_labels_are_merged_and_frequent_ones_kept():
    labels = pd.Series(["a"] * 3 + ["b"] * 2 + ["c"])
    assert clustered.merge_rare(labels, 2, "few").tolist() == [*"aaabb", "few"]
    assert clustered.merge_rare(labels, 4).unique().tolist() == ["other"]


@pytest.mark.parametrize("values", [[0, 0, 0, 0], [0, 2, 1, 0]])
def test_an_outcome_other_than_yes_or_no_is_refused(values):
    frame = pd.DataFrame({"label": list("aabb"), "error": values, "cue": range(4)})
    with pytest.raises(ValueError, match=r"column 'error' holds 0.*: a yes-or-no outcome needs 0"):
        clustered.associations(frame, ["label"], "error", "cue")


def test_a_single_cluster_is_refused():
    with pytest.raises(ValueError, match="column 'cue' has 1 distinct value"):
        clustered.associations(table_of(COUNTS).assign(cue=1), ["label"], "error", "cue")


def test_an_unknown_category_is_refused():
    message = "column 'part' is not in the table, which has: label, error, cue"
    with pytest.raises(ValueError, match=message):
        clustered.associations(table_of(COUNTS), ["part"], "error", "cue")
