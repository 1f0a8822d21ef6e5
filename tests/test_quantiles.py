import numpy as np
import pandas as pd
import pytest

from helpers.stats.groups import bootstrap_quantiles, median_table


def times(n=200, seed=0):
    """Draw log-normal times of people with five submissions each."""
    rng = np.random.default_rng(seed)
    seconds = np.exp(rng.normal(5, 1, n).repeat(5) + rng.normal(0, 0.5, 5 * n))
    return pd.DataFrame({"seconds": seconds, "rater_id": np.arange(n).repeat(5)})


def draws(frame, shares=(0.5,), n_boot=300, seed=0):
    rng = np.random.default_rng(seed)
    return bootstrap_quantiles(frame, "seconds", "rater_id", shares, n_boot, rng)


def test_draws_are_quantiles_of_the_resampled_rows():
    frame = times(8)
    rng, found = np.random.default_rng(3), draws(frame, [0.25, 0.5, 1.0], 20, seed=3)
    picks = rng.integers(8, size=(20, 8))
    rows = frame["seconds"].to_numpy().reshape(8, 5)
    for pick, quantiles in zip(picks, found, strict=True):
        expected = np.quantile(rows[pick], [0.25, 0.5, 1.0], method="inverted_cdf")
        np.testing.assert_allclose(quantiles, expected)


def test_the_whole_share_is_the_largest_value_drawn():
    frame = pd.DataFrame({"seconds": [1.0, 2.0], "rater_id": ["a", "b"]})
    assert set(draws(frame, [1.0]).ravel()) == {1.0, 2.0}


def test_row_order_and_labels_do_not_matter():
    frame = times(30)
    shuffled = frame.sample(frac=1, random_state=1)
    renamed = shuffled.assign(rater_id=shuffled["rater_id"].astype(str).str.zfill(3))
    np.testing.assert_array_equal(draws(frame), draws(renamed))


def test_intervals_cover_the_median():
    hits = 0
    for seed in range(100):
        frame = times(60, seed)
        low, high = np.quantile(draws(frame, n_boot=200, seed=seed), [0.025, 0.975])
        hits += low <= np.exp(5) <= high
    assert hits >= 88


def test_each_group_is_summed_up_by_itself():
    frame = times(20).assign(group=lambda rows: np.where(rows["rater_id"] < 12, "a", "b"))
    table = median_table(frame, "seconds", "group", "rater_id", 100, np.random.default_rng(0))
    assert table["n"].tolist() == [60, 40]
    assert table["clusters"].tolist() == [12, 8]
    medians = frame.groupby("group")["seconds"].median()
    np.testing.assert_allclose(table["estimate"], medians)
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()


@pytest.mark.parametrize("share", [0.0, 1.2])
def test_a_share_out_of_range_is_an_error(share):
    with pytest.raises(ValueError, match=r"shares must be above 0 and up to 1, got \["):
        draws(times(5), [share])


def test_a_gap_is_an_error():
    with pytest.raises(ValueError, match="column 'seconds' has 1 missing value"):
        draws(times(5).replace({"seconds": {times(5)["seconds"].iloc[0]: np.nan}}))


def test_a_single_person_is_an_error():
    with pytest.raises(ValueError, match="'rater_id' has 1 distinct value: clusters need"):
        draws(times(1))
