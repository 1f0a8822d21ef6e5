import numpy as np
import pandas as pd
import pytest

from helpers.beyond.coverage import Clusters, Measurements, TwoWays


@pytest.fixture
def ratings():
    return pd.DataFrame(
        {
            "rater_id": list("aabbcc"),
            "prompt_id": [1, 2, 1, 2, 1, 2],
            "item_id": ["x", "y", "x", "y", "x", "y"],
            "score": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        }
    )


def test_clusters_stay_whole_and_keep_their_number(ratings):
    population = Clusters(ratings, "rater_id", ("item_id",))
    sample = population.sample(np.random.default_rng(0))
    pairs = sample.groupby("rater_id")["score"].agg(tuple)
    assert len(pairs) == 3
    assert set(pairs) <= {(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)}


def test_copies_of_a_cluster_share_no_items(ratings):
    population = Clusters(ratings[ratings["rater_id"] != "a"], "rater_id", ("item_id",))
    for seed in range(5):
        sample = population.sample(np.random.default_rng(seed))
        assert sample.groupby("item_id")["rater_id"].nunique().max() == 1


def test_all_clusters_are_drawn_equally_often(ratings):
    rng = np.random.default_rng(0)
    population = Clusters(ratings, "rater_id")
    draws = pd.concat([population.sample(rng)["score"] for _ in range(600)])
    totals = draws.value_counts().sort_index()
    assert totals.to_numpy() == pytest.approx(600, rel=0.15)


def test_two_ways_draw_raters_and_prompts(ratings):
    population = TwoWays(ratings, "rater_id", "prompt_id", ("item_id",))
    for seed in range(5):
        sample = population.sample(np.random.default_rng(seed))
        assert len(sample) == 6
        assert sample[["rater_id", "prompt_id"]].nunique().tolist() == [3, 2]
        assert not sample.duplicated(["rater_id", "prompt_id"]).any()
        assert sample.groupby("item_id")["prompt_id"].nunique().max() == 1


def test_two_ways_keep_what_was_not_rated_out(ratings):
    sparse = ratings[[True, False, False, True, True, True]]
    rng = np.random.default_rng(0)
    sizes = [len(TwoWays(sparse, "rater_id", "prompt_id").sample(rng)) for _ in range(500)]
    assert np.mean(sizes) == pytest.approx(4, rel=0.1)


def test_measurements_vary_by_their_errors():
    cells = pd.DataFrame({"mean": np.full(5000, 0.7), "se": 0.02})
    measured = Measurements(cells, "mean", "se").sample(np.random.default_rng(0))["mean"]
    assert measured.mean() == pytest.approx(0.7, abs=0.001)
    assert measured.std() == pytest.approx(0.02, rel=0.05)


def test_a_single_cluster_is_no_population():
    with pytest.raises(ValueError, match="has 1 distinct value: clusters need at least 2"):
        Clusters(pd.DataFrame({"prompt_id": [1, 1]}), "prompt_id").sample(np.random.default_rng(0))
