import numpy as np
import pandas as pd
import pytest

from helpers.studies import hosking, hosking_submissions
from helpers.studies.hosking_submissions import pairings, repeated, repeats


def shown(*couples):
    """List two rows for each couple of outputs, which are named by system and number."""
    rows = [
        {"item_id": item, "partner_id": partner, "system": item[0], "pair_id": number}
        for number, couple in enumerate(couples)
        for item, partner in (couple, couple[::-1])
    ]
    return pd.DataFrame(rows)


COUPLES = [("x1", "y1"), ("y1", "x1"), ("x1", "z1"), ("x1", "x2"), ("y1", "x1")]


def test_a_pair_is_the_same_whichever_output_is_on_which_side():
    assert repeated(shown(*COUPLES))["pair_id"].tolist() == [0, 0, 1, 1, 4, 4]
    assert repeats(shown(*COUPLES)).to_dict() == {1: 2, 3: 1}


def test_pairs_shown_once_are_not_repeated():
    assert repeated(shown(("x1", "y1"), ("x1", "z1"))).empty


def test_partners_are_counted_once_and_the_own_system_is_no_other():
    table = pairings(shown(*COUPLES))
    assert table.loc["x1"].to_dict() == {"ratings": 5, "partners": 3, "other_systems": 2}
    assert table.loc["x2"].to_dict() == {"ratings": 1, "partners": 1, "other_systems": 0}


def test_row_order_does_not_matter():
    table = shown(*COUPLES)
    shuffled = table.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(pairings(shuffled), pairings(table))
    assert repeats(shuffled).to_dict() == repeats(table).to_dict()
    np.testing.assert_array_equal(repeated(shuffled).sort_index(), repeated(table))


@pytest.fixture(scope="module")
def reported(real_data):
    ratings = hosking_submissions.load_submissions(1, "errors", real_data).ratings
    return hosking.without_checks(ratings[ratings["reported"]])


def test_outputs_of_experiment_1_were_rated_beside_each_other_system(reported):
    table = pairings(reported)
    assert table["ratings"].value_counts().to_dict() == {4: 780, 8: 120}
    assert (table[["partners", "other_systems"]] == 4).all(axis=None)


def test_sixty_reported_pairs_were_judged_five_times(reported):
    assert repeats(reported).to_dict() == {1: 1740, 5: 60}
