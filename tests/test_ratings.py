import numpy as np
import pandas as pd
import pytest

from helpers.files.ratings import aggregate, anonymise, read, to_tidy, to_wide
from helpers.files.tables import BadTableError, OptionError

NAN = float("nan")


def table(n_ratings=400, n_items=60, seed=0):
    rng = np.random.default_rng(seed)
    item = rng.integers(n_items, size=n_ratings)
    return pd.DataFrame(
        {
            "item_id": [f"item-{number}" for number in item],
            "system": [f"system-{number % 3}" for number in item],
            "rater_id": [f"rater-{number}" for number in range(n_ratings)],
            "quality": rng.integers(1, 6, size=n_ratings).astype(float),
            "refusal": rng.integers(0, 2, size=n_ratings).astype(float),
        }
    )


def summarise(frame):
    frame = frame.assign(quality_mode=frame["quality"])
    return aggregate(
        frame, "item_id", mean=["quality"], mode=["quality_mode", "refusal"], first=["system"]
    )


def mode_of(values):
    frame = pd.DataFrame({"item": "a", "score": values})
    return aggregate(frame, "item", mode=["score"])["score"].item()


@pytest.mark.parametrize(
    ("values", "mode"),
    [
        ([0, 0, 1], 0),
        ([0, 1, 1, 1], 1),
        ([0, 0, 1, 1], 0.5),
        ([0], 0),
        ([4, 5, 4, 1], 4),
        ([3, 5, 5, 3], 4),
        ([1, 2, 4, 5], 3),
        ([1, 1, 2, 2, 5, 5], 8 / 3),
        ([2.5, 2.5, -1], 2.5),
        ([NAN, 1, NAN, NAN], 1),
        ([5, NAN, 4, NAN], 4.5),
    ],
)
def test_values_that_tie_for_most_frequent_are_averaged(values, mode):
    assert mode_of(values) == pytest.approx(mode, abs=1e-15)


def test_missing_values_are_ignored_and_a_group_without_any_value_stays_missing():
    frame = pd.DataFrame({"item": list("aabb"), "x": [1, NAN, NAN, NAN], "y": [3, 5, NAN, NAN]})
    result = aggregate(frame, "item", mean=["x", "y"])
    expected = pd.DataFrame({"item": ["a", "b"], "n_ratings": [2, 2], "x": [1, NAN], "y": [4, NAN]})
    pd.testing.assert_frame_equal(result, expected)
    modes = aggregate(frame, "item", mode=["x", "y"])
    pd.testing.assert_frame_equal(modes, expected)


def test_a_column_without_any_value_has_missing_summaries():
    frame = pd.DataFrame({"item": ["b", "a"], "x": [NAN, NAN]})
    assert aggregate(frame, "item", mean=["x"])["x"].isna().all()
    assert aggregate(frame, "item", mode=["x"])["x"].isna().all()


def test_a_table_without_rows_has_no_groups():
    empty = table().head(0)
    assert summarise(empty).columns.tolist() == summarise(table()).columns.tolist()
    assert len(summarise(empty)) == 0


def test_it_agrees_with_a_loop_over_groups():
    frame = table()
    result = summarise(frame).set_index("item_id")
    for item, group in frame.groupby("item_id"):
        row = result.loc[item]
        assert row["n_ratings"] == len(group)
        assert row["system"] == group["system"].iloc[0]
        assert row["quality"] == pytest.approx(group["quality"].mean())
        assert row["quality_mode"] == pytest.approx(group["quality"].mode().mean())
        assert row["refusal"] == group["refusal"].mode().mean()


def test_several_columns_can_tell_groups_apart():
    frame = pd.DataFrame({"task": list("baab"), "arm": list("xyyz"), "x": [1.0, 2.0, 4.0, 8.0]})
    result = aggregate(frame, ["task", "arm"], mean=["x"])
    expected = [["a", "y", 2, 3.0], ["b", "x", 1, 1.0], ["b", "z", 1, 8.0]]
    assert result.to_numpy().tolist() == expected


def test_the_order_of_rows_and_their_index_do_not_matter():
    frame = table()
    shuffled = frame.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(summarise(shuffled), summarise(frame))


def test_doubling_every_rating_changes_only_the_counts():
    frame = table()
    doubled = summarise(pd.concat([frame, frame]))
    expected = summarise(frame)
    expected["n_ratings"] *= 2
    pd.testing.assert_frame_equal(doubled, expected)


def test_the_names_of_items_do_not_matter():
    frame = table()
    renamed = summarise(frame.assign(item_id="z" + frame["item_id"]))
    expected = summarise(frame)
    expected["item_id"] = "z" + expected["item_id"]
    pd.testing.assert_frame_equal(renamed, expected)


def test_the_given_table_is_left_as_it_was():
    frame = table()
    copy = frame.copy()
    summarise(frame)
    pd.testing.assert_frame_equal(frame, copy)


@pytest.mark.parametrize("columns", [{"by": "item"}, {"by": "item_id", "first": ["item"]}])
def test_an_unknown_column_is_named_with_the_known_ones(columns):
    message = "no column 'item'; the table has item_id, system, rater_id, quality, refusal"
    with pytest.raises(ValueError, match=f"^{message}$"):
        aggregate(table(), **columns)


def test_two_summaries_of_one_column_are_refused():
    message = "column 'quality' is named twice; choose one summary for it"
    with pytest.raises(ValueError, match=f"^{message}$"):
        aggregate(table(), "item_id", mean=["quality"], mode=["quality"])


def test_a_column_of_words_cannot_be_averaged():
    with pytest.raises(
        ValueError, match=r"^column 'system' is of type str: convert it to numbers$"
    ):
        aggregate(table(), "item_id", mean=["system"])


def test_a_row_that_belongs_to_no_group_is_named():
    frame = table()
    frame.loc[6, "item_id"] = None
    with pytest.raises(ValueError, match=r"^row 7 lacks a value of item_id: fill it in$"):
        summarise(frame)


def test_tidy_form_has_one_row_per_rating_and_aspect():
    wide = pd.DataFrame({"item_id": ["a", "b"], "clarity": [4.0, NAN], "detail": [1.0, 2.0]})
    expected = pd.DataFrame(
        {
            "item_id": ["a", "b", "a", "b"],
            "aspect": ["clarity", "clarity", "detail", "detail"],
            "value": [4.0, NAN, 1.0, 2.0],
        }
    )
    pd.testing.assert_frame_equal(to_tidy(wide, ["clarity", "detail"]), expected)


def test_tidy_and_back_is_the_same_table():
    frame = table()
    tidy = to_tidy(frame, ["quality", "refusal"])
    assert len(tidy) == 2 * len(frame)
    pd.testing.assert_frame_equal(to_wide(tidy), frame)


def test_the_order_of_tidy_rows_changes_only_the_order_of_wide_rows():
    tidy = to_tidy(table(), ["quality", "refusal"])
    shuffled = to_wide(tidy.sample(frac=1, random_state=1))[list(table())]
    pd.testing.assert_frame_equal(
        shuffled.sort_values("rater_id", ignore_index=True),
        table().sort_values("rater_id", ignore_index=True),
    )


def test_an_aspect_that_a_rater_left_out_is_missing_in_wide_form():
    tidy = pd.DataFrame(
        {"item_id": ["a", "a", "b"], "aspect": ["x", "y", "y"], "value": [1.0, 2.0, 3.0]}
    )
    expected = pd.DataFrame({"item_id": ["a", "b"], "x": [1.0, NAN], "y": [2.0, 3.0]})
    pd.testing.assert_frame_equal(to_wide(tidy), expected)


def test_rows_are_kept_apart_although_a_covariate_is_missing():
    wide = pd.DataFrame({"item_id": ["a", "b"], "age": [NAN, 30.0], "x": [1.0, 2.0]})
    pd.testing.assert_frame_equal(to_wide(to_tidy(wide, ["x"])), wide)


def test_two_values_for_the_same_aspect_of_a_rating_are_refused():
    tidy = pd.DataFrame({"item_id": ["a", "a"], "aspect": ["x", "x"], "value": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"^row 2: a second value for 'x'; keep one of the two$"):
        to_wide(tidy)


def test_a_table_without_aspects_is_not_tidy():
    with pytest.raises(ValueError, match=r"^no column 'aspect'; the table has item_id, value$"):
        to_wide(pd.DataFrame({"item_id": ["a"], "value": [1.0]}))


def test_an_unknown_aspect_is_named():
    with pytest.raises(ValueError, match=r"^no column 'clarity'; the table has "):
        to_tidy(table(), ["clarity"])


def test_raters_are_numbered_by_first_appearance_whatever_they_are_called():
    assert anonymise(["x@mail", "a@mail", "x@mail", "b@mail"]) == anonymise(["1", "2", "1", "3"])
    assert anonymise(["x", "a", "x", "b"]) == ["rater-001", "rater-002", "rater-001", "rater-003"]


def test_labels_do_not_depend_on_the_salt(monkeypatch):
    names = [f"person {number % 7}" for number in range(50)]
    before = anonymise(names)
    monkeypatch.setattr("helpers.files.ratings._SALT", "another salt")
    assert anonymise(names) == before


EXAMPLE = "data/example/ratings.csv"


def written(tmp_path, text, name="mine.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path, *arguments, **settings):
    with pytest.raises(BadTableError) as caught:
        read(path, *arguments, **settings)
    return str(caught.value).splitlines()


def test_columns_play_their_roles_under_common_names(tmp_path):
    text = (
        "who,what,group,overall,tone,words\nzoe,a1,p1,4,1,80\nadam,a2,p1,5,0,90\nzoe,a2,p1,3,0,90\n"
    )
    roles = {"item": "what", "rater": "who", "cluster": "group", "covariate": "words"}
    table = read(written(tmp_path, text), "overall", ["tone"], **roles)
    assert table.columns.tolist() == [
        "item_id", "prompt_id", "rater_id", "source", "covariate", "overall", "tone",
    ]  # fmt: skip
    assert table["item_id"].tolist() == ["a1", "a2", "a2"]
    assert table["rater_id"].tolist() == ["rater-001", "rater-002", "rater-001"]
    assert table["prompt_id"].tolist() == ["p1"] * 3
    assert table["covariate"].tolist() == [80, 90, 90]
    assert set(table["source"]) == {"real"}
    assert table.index.tolist() == [2, 3, 4]


def test_usual_names_are_found_unless_told_otherwise(tmp_path):
    text = "item_id,rater_id,overall,response_words\na,r,4,1\nb,r,5,2\n"
    path = written(tmp_path, text)
    assert {"rater_id", "covariate"} <= set(
        read(path, "overall", ["response_words"], covariate="item_id")
    )
    found = read(path, "overall", ["response_words"])
    assert "covariate" not in found
    assert found["prompt_id"].tolist() == ["a", "b"]
    bare = read(path, "overall", ["response_words"], rater="", item=None)
    assert "rater_id" not in bare
    assert bare["item_id"].tolist() == bare["prompt_id"].tolist() == [2, 3]


def test_the_example_is_simulated_and_complete():
    table = read(EXAMPLE, "overall", ["factuality", "tone"])
    assert len(table) == 601
    assert set(table["source"]) == {"simulated"}
    assert table["item_id"].nunique() == 200
    assert table["prompt_id"].nunique() == 50
    assert table["rater_id"].str.match(r"rater-\d{3}$").all()


def test_all_problems_of_a_file_are_listed_at_once(tmp_path):
    text = 'item_id,overall,tone,mood\na,4,"4,5",1\n,5,x,7\nb,6,NA,1\nb,\nc,5,y,2\n'
    path = written(tmp_path, text)
    settings = {"scales": {"overall": (1, 5), "mood": (1, 5)}, "rater": "who"}
    assert refusal(path, "overall", ["tone", "mood"], **settings) == [
        "mine.csv: 7 problems. Correct the file and load it again.",
        "  column 'who' is missing; there are 'item_id', 'overall', 'tone', 'mood'",
        "  row 5 has 2 of 4 cells",
        "  column 'item_id', empty: row 3",
        "  column 'overall', outside 1 to 5: row 4 '6'",
        "  column 'tone', comma instead of a decimal point: row 2 '4,5'",
        "  column 'tone', not a number: row 3 'x', row 6 'y'",
        "  column 'mood', outside 1 to 5: row 3 '7'",
    ]


def test_a_file_without_any_of_the_columns_is_refused(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    assert refusal(path, "overall", ["tone"]) == [
        "mine.csv: 2 problems. Correct the file and load it again.",
        "  column 'overall' is missing; there are 'a', 'b'",
        "  column 'tone' is missing; there are 'a', 'b'",
    ]


def test_a_covariate_may_be_labels_but_not_half_of_each(tmp_path):
    path = written(tmp_path, "overall,tone,model,mixed\n1,2,GPT-4,7\n2,1,Llama,x\n3,1,,8\n")
    assert read(path, "overall", ["tone"], covariate="model")["covariate"].tolist()[:2] == [
        "GPT-4",
        "Llama",
    ]
    message = refusal(path, "overall", ["tone"], covariate="mixed")
    assert message[1] == "  column 'mixed', not a number: row 3 'x'"


@pytest.mark.parametrize(
    ("outcome", "aspects", "scales", "message"),
    [
        ("overall", ["tone", "tone"], {}, "column 'tone' is named twice: name each column once"),
        ("tone", ["tone"], {}, "column 'tone' is named twice: name each column once"),
        ("source", ["tone"], {}, "column 'source' cannot be outcome or aspect under this name"),
        ("overall", ["prompt_id"], {}, "column 'prompt_id' cannot be outcome or aspect under"),
        (7, ["tone"], {}, "7 is no name of a column: give it as text, in papermill with -r"),
        ("overall", ["tone"], {"x": (1, 5)}, "there is a scale of 'x', which is no outcome or"),
    ],
)
def test_a_request_that_contradicts_itself_is_refused(outcome, aspects, scales, message):
    with pytest.raises(OptionError, match=f"^{message}"):
        read(EXAMPLE, outcome, aspects, scales=scales)
