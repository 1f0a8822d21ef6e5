"""Single ratings: the ratings of the released tables, with raters told apart."""

import pytest

from helpers.studies import hosking
from helpers.studies.hosking_submissions import single_ratings

LOAD = {1: hosking.load_experiment_1, 2: hosking.load_experiment_2}


def assert_same_ratings(singles, released, aspect):
    """Compare how often each output was given each mark."""
    counts = [table.value_counts(["item_id", aspect]).sort_index() for table in (singles, released)]
    assert counts[0].equals(counts[1])


@pytest.mark.parametrize(
    ("experiment", "group", "aspect", "n_raters"),
    [
        (1, "unbiased", "quality_unbiased", 524),
        (1, "errors", "factuality", 421),
        (2, "errors", "factuality", 666),
    ],
)
def test_single_ratings_are_those_released_and_say_who_gave_them(
    real_data, experiment, group, aspect, n_raters
):
    singles = single_ratings(experiment, group, real_data)
    released = hosking.without_checks(getattr(LOAD[experiment](real_data), group))
    assert_same_ratings(singles, released, aspect)
    assert singles["rater_id"].nunique() == n_raters


@pytest.mark.parametrize(
    ("experiment", "group", "aspect"),
    [(1, "unbiased", "quality_unbiased"), (1, "errors", "refusal"), (2, "errors", "refusal")],
)
def test_simulated_single_ratings_are_those_of_the_simulated_tables(experiment, group, aspect):
    singles = single_ratings(experiment, group, "simulated", seed=3)
    released = hosking.without_checks(getattr(LOAD[experiment]("simulated", seed=3), group))
    assert_same_ratings(singles, released, aspect)
    assert singles["rater_id"].nunique() < singles["pair_id"].nunique()


def test_a_group_that_the_experiment_lacks_is_named():
    with pytest.raises(ValueError, match="no group 'perception' in experiment 1; choose one of"):
        single_ratings(1, "perception", "simulated")
