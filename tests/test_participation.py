import pandas as pd
import pytest

from helpers.studies.hosking_submissions import groups_per_person, hourly_pay, shared_people

SESSIONS = pd.DataFrame(
    {
        "group": ["errors", "errors", "errors", "quality", "quality", "tone"],
        "rater_id": ["a", "a", "b", "a", "c", "c"],
        "seconds": [60, 120, 36, 30, 45, 90],
    }
)


def test_shared_people_are_counted_once_and_the_diagonal_is_the_size_of_a_group():
    expected = [[2, 1, 0], [1, 2, 1], [0, 1, 1]]
    names = ["errors", "quality", "tone"]
    table = shared_people(SESSIONS, "group", "rater_id")
    pd.testing.assert_frame_equal(table, pd.DataFrame(expected, index=names, columns=names))


def test_submitting_everything_twice_changes_no_overlap():
    doubled = pd.concat([SESSIONS, SESSIONS])
    pd.testing.assert_frame_equal(
        shared_people(doubled, "group", "rater_id"), shared_people(SESSIONS, "group", "rater_id")
    )


def test_groups_of_a_person_are_counted_not_submissions():
    assert groups_per_person(SESSIONS, "group", "rater_id").to_dict() == {"a": 2, "b": 1, "c": 2}


def test_pay_per_hour_is_the_rate_of_the_group_over_the_time():
    pay = hourly_pay(SESSIONS, {"errors": 0.6, "quality": 0.3, "tone": 0.3})
    assert pay.tolist() == pytest.approx([36, 18, 60, 36, 24, 12])


def test_a_group_without_a_rate_is_an_error():
    with pytest.raises(ValueError, match="group 'tone' has no rate; there are some for: errors, q"):
        hourly_pay(SESSIONS, {"errors": 0.6, "quality": 0.3})


def test_a_submission_without_time_is_an_error():
    timeless = SESSIONS.assign(seconds=[60, 0, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="row 2: 0 seconds; drop the row"):
        hourly_pay(timeless, dict.fromkeys(["errors", "quality", "tone"], 0.3))
