"""Tables of ratings: formats, cells, roles of columns, messages, summaries."""

import datetime
import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.data.tables import BadTableError, OptionError
from helpers.stats.aggregation import aggregate
from ratings import recipes
from ratings.parsing import USUAL_NAMES

NAN = float("nan")
EXAMPLE = "data/example/ratings.csv"
COMMON_NAMES = ["item_id", "prompt_id", "rater_id", "source", "covariate"]

NO_NUMBER = (
    "not a number (correct the cell, or list it in `missing` if there is no mark)"
)
COMMA = "comma instead of a decimal point (write 'decimal: \",\"' in the recipe)"


def read(path, outcome, aspects, **settings):
    roles = dict.fromkeys(USUAL_NAMES, "auto")
    return recipes.read(
        path, {"outcome": outcome, "aspects": aspects, **roles, **settings}
    )


def written(tmp_path, content, name="mine.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet(tmp_path, **columns):
    pa.parquet.write_table(pa.table(columns), tmp_path / "mine.parquet")
    return tmp_path / "mine.parquet"


def problems(path, **settings):
    with pytest.raises(BadTableError) as caught:
        read(path, "overall", ["tone"], **settings)
    first, *others = str(caught.value).splitlines()
    if all(" is missing; " in line for line in others):
        asked = "does not have all columns that the recipe or the command names:"
        assert first == f"{path.name} {asked}"
    else:
        count = f"{len(others)} problem{'s' if len(others) > 1 else ''}"
        assert first == f"{path.name}: {count}. Correct the file and load it again."
    return [line.removeprefix("  ") for line in others]


def tone_of(tmp_path, *cells, **settings):
    lines = [json.dumps({"overall": 3, "tone": cell}) for cell in cells]
    return read(
        written(tmp_path, "\n".join(lines), "a.jsonl"), "overall", ["tone"], **settings
    )


@pytest.mark.parametrize("ending", ["csv", "CSV", "tsv", "parquet", "jsonl", "ndjson"])
def test_every_format_gives_the_same_ratings(tmp_path, ending):
    table = pd.DataFrame(
        {"item_id": [" a, b", "ü"], "tone": [3, 5], "overall": ["1.5 ", "yes"]}
    )
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        table.astype({"item_id": "category"}).set_index("item_id").to_parquet(path)
    elif "json" in ending:
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    found = read(path, "overall", ["tone"])
    assert found["item_id"].tolist() == ["a, b", "ü"]
    assert found[["overall", "tone"]].to_numpy().tolist() == [[1.5, 3], [1, 5]]
    index = {"parquet": ("row", 1), "jsonl": ("line", 1), "ndjson": ("line", 1)}
    assert (found.index.name, found.index[0]) == index.get(ending, ("row", 2))


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_files_of_any_spreadsheet_can_be_read(tmp_path, start, delimiter, end):
    rows = [['"item_id"', " tone ", "overall"], [f'"a{delimiter}b"', "3", "4"]]
    text = start + end.join(delimiter.join(row) for row in rows) + end
    found = read(written(tmp_path, text), "overall", ["tone"])
    assert found[["item_id", "tone", "overall"]].to_numpy().tolist() == [
        [f"a{delimiter}b", 3, 4]
    ]


def test_rows_of_a_csv_file_are_counted_as_in_a_spreadsheet(tmp_path):
    text = '"overall",tone,"two\nlines"\n1,2,"a\nb"\n\n,,\n , ,\n3,4,c\n'
    found = read(written(tmp_path, text), "overall", ["tone"])
    assert found["tone"].to_dict() == {2: 2, 6: 4}
    ragged = text + "5\n5,6\n5,6,7,8\n \n,,,,\n"
    assert problems(written(tmp_path, ragged)) == [
        "row 7 has 1 of 3 cells",
        "row 8 has 2 of 3 cells",
        "row 9 has 4 of 3 cells",
    ]


def test_objects_are_counted_by_line_and_rows_of_parquet_from_one(tmp_path):
    text = '{"tone": 1}\n\n{"overall": 3}\n{}\n{"tone": 2, "overall": 4}\n'
    found = read(written(tmp_path, text, "a.jsonl"), "overall", ["tone"])
    np.testing.assert_equal(found["tone"].to_dict(), {1: 1, 3: NAN, 5: 2})
    path = parquet(tmp_path, tone=[1.5, None, 2], overall=[1, None, 2])
    assert read(path, "overall", ["tone"])["tone"].to_dict() == {1: 1.5, 3: 2.0}
    assert problems(
        written(tmp_path, text + '7\n{"tone": [1]}\n{"tone": {}}', "a.jsonl")
    ) == [
        "line 6: a JSON object is needed, found int",
        "column 'tone' holds a list or an object in line 7, line 8",
    ]


def test_parquet_columns_that_hold_no_ratings_are_named(tmp_path):
    path = parquet(tmp_path, tone=[[1], [2]], overall=[datetime.date(2024, 1, 2), None])
    expected = [
        "column 'tone' holds a list or an object in row 1, row 2",
        f"column 'overall', {NO_NUMBER}: row 1 datetime.date(2024, 1, 2)",
    ]
    assert problems(path) == expected
    assert len(problems(path, item="tone")) > len(expected)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("overall,tones", "column 'tone' is missing; did you mean 'tones'?"),
        ("overall,x", "column 'tone' is missing; there are 'overall', 'x'"),
        ("overall,tone,tone", "column 'tone' stands there 2 times; rename all but one"),
    ],
)
def test_columns_that_cannot_be_read_are_named(tmp_path, header, problem):
    row = ",".join(["1"] * len(header.split(",")))
    assert problems(written(tmp_path, f"{header}\n{row}\n")) == [problem]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "a.csv",
            b"",
            "all rows are empty; the names of the columns must stand in the first",
        ),
        ("a.csv", b"overall,tone\n,\n \n", "there are no rows"),
        (
            "a.csv",
            b"overall,tone\n\xe9,1\n",
            "line 2 is not UTF-8; save the file as 'CSV UTF-8'",
        ),
        (
            "a.csv",
            b"overall,tone\n1,2\r3\n",
            "the file cannot be read as a table of cells (new-",
        ),
        ("a.jsonl", b"\n", "the file is empty"),
        ("a.jsonl", b"\xff\n", "line 1: not UTF-8"),
        ("a.jsonl", b'{"a": 1, "a": 2}\n', "line 1: a key stands there twice"),
        (
            "a.jsonl",
            b'{"a": ' + b"9" * 5000 + b"}",
            "line 1: Exceeds the limit (4300 digits) for",
        ),
        (
            "a.parquet",
            b"PAR1",
            "the file cannot be read as a Parquet file (Parquet file size is",
        ),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    tmp_path, name, content, problem
):
    (found,) = problems(written(tmp_path, content, name))
    assert found.startswith(problem)


def test_a_file_is_looked_for_in_the_working_folder_before_the_project(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert read(EXAMPLE, "overall", ["tone"])["source"].tolist() == ["simulated"] * 601
    (tmp_path / "data" / "example").mkdir(parents=True)
    written(tmp_path, "overall,tone\n1,2\n", EXAMPLE)
    assert len(read(EXAMPLE, "overall", ["tone"])) == 1


@pytest.mark.parametrize("name", ["no.csv", "a\0b.csv", "x" * 5000, "..", ""])
def test_a_name_without_a_file_is_refused(name):
    with pytest.raises(BadTableError, match=r"there is no such file\. A relative name"):
        read(name, "overall", ["tone"])


def test_what_counts_as_a_number_or_as_nothing(tmp_path):
    numbers = {
        "4": 4,
        " 4 ": 4,
        "4.50": 4.5,
        ".5": 0.5,
        "-1e3": -1000,
        "+2.": 2,
        "-1e12": -1e12,
        "yes": 1,
        "True": 1,
        "No": 0,
        "FALSE": 0,
    }
    found = tone_of(tmp_path, *numbers, False, 7, 2.5)
    assert found["tone"].tolist() == [*numbers.values(), 0, 7, 2.5]
    nothing = ["N/A", "n.a.", "na", "nan", "NULL", "None", "", "  ", None, NAN]
    assert tone_of(tmp_path, *nothing)["tone"].isna().all()


@pytest.mark.parametrize(
    ("value", "mistake"),
    [
        ("good", f"{NO_NUMBER}: line 1 'good'"),
        ("1_000", f"{NO_NUMBER}: line 1 '1_000'"),
        ("x" * 10**6, f"{NO_NUMBER}: line 1 '{'x' * 40}…'"),
        ("4,5", f"{COMMA}: line 1 '4,5'"),
        (float("inf"), "infinite or too large: line 1 inf"),
        ("1.1e12", "infinite or too large: line 1 '1.1e12'"),
        (10**400, f"infinite or too large: line 1 1{'0' * 79}…"),
        (
            "6",
            "outside 1 to 5.5 (correct `scales`, list codes in `missing`, or write "
            "'outside: drop'): "
            "line 1 '6'",
        ),
    ],
)
def test_what_counts_as_a_mistake(tmp_path, value, mistake):
    with pytest.raises(BadTableError) as caught:
        tone_of(tmp_path, value, "1", "5.5", scales={"tone": (1, 5.5)})
    assert str(caught.value).splitlines()[1:] == [f"  column 'tone', {mistake}"]


def test_many_mistakes_take_one_line_for_each_kind(tmp_path):
    text = "overall,tone\n" + "1,bad\n" * 4 + '1,"4,5"\n' + "1,bad\n" * 1200
    assert problems(written(tmp_path, text)) == [
        f"column 'tone', {NO_NUMBER}: row 2 'bad', row 3 'bad', row 4 'bad', "
        "row 5 'bad', row 7 'bad' and 1,199 more",
        f"column 'tone', {COMMA}: row 6 '4,5'",
    ]


def test_labels_are_text_without_spaces_around_it(tmp_path):
    cells = ["NA", " a", "a ", 7, 7.0, 2.5, True, 0.1 + 0.2]
    lines = [json.dumps({"overall": 1, "tone": 1, "item_id": cell}) for cell in cells]
    found = read(written(tmp_path, "\n".join(lines), "a.jsonl"), "overall", ["tone"])[
        "item_id"
    ]
    assert found.tolist() == ["NA", "a", "a", "7", "7", "2.5", "True", "0.3"]
    bad = [json.dumps({"tone": 1, "item_id": cell}) for cell in (None, " ")]
    assert problems(written(tmp_path, "\n".join([*lines, *bad]), "a.jsonl")) == [
        "column 'item_id', empty: line 9, line 10",
    ]


def test_columns_play_their_roles_under_common_names(tmp_path):
    text = (
        "who,what,group,overall,tone,words\n"
        "zoe,a1,p,4,1,80\nadam,a2,p,5,0,90\nzoe,a2,p,3,0,90\n"
    )
    roles = {"item": "what", "rater": "who", "cluster": "group", "covariate": "words"}
    found = read(written(tmp_path, text), "overall", ["tone"], **roles)
    assert list(found) == [*COMMON_NAMES, "overall", "tone"]
    assert found.to_numpy().tolist() == [
        ["a1", "p", "rater-001", "real", 80, 4, 1],
        ["a2", "p", "rater-002", "real", 90, 5, 0],
        ["a2", "p", "rater-001", "real", 90, 3, 0],
    ]


def test_usual_names_are_found_unless_told_otherwise(tmp_path):
    path = written(
        tmp_path, "item_id,rater_id,overall,response_words\na,r,4,1\nb,r,5,2\n"
    )
    found = read(path, "overall", ["response_words"], covariate="item_id")
    assert {"rater_id", "covariate"} <= set(found)
    found = read(path, "overall", ["response_words"])
    assert "covariate" not in found
    assert found["prompt_id"].tolist() == ["a", "b"]
    bare = read(path, "overall", ["response_words"], rater="", item=None)
    assert list(bare) == ["item_id", "prompt_id", "source", "overall", "response_words"]
    assert bare["item_id"].tolist() == bare["prompt_id"].tolist() == [2, 3]


def test_all_problems_of_a_file_are_listed_at_once(tmp_path):
    text = 'item_id,overall,tone,model\na,4,"4,5",7\n,5,x,y\nb,6,NA,8\nb,\nc,5,y,9\n'
    settings = {"scales": {"overall": (1, 5)}, "rater": "who", "covariate": "model"}
    assert problems(written(tmp_path, text), **settings) == [
        "column 'who' is missing; there are 'item_id', 'overall', 'tone', 'model'",
        "row 5 has 2 of 4 cells",
        "column 'item_id', empty: row 3",
        f"column 'model', {NO_NUMBER}: row 3 'y'",
        "column 'overall', outside 1 to 5 (correct `scales`, list codes in `missing`, "
        "or write 'outside: drop'): row 4 '6'",
        f"column 'tone', {COMMA}: row 2 '4,5'",
        f"column 'tone', {NO_NUMBER}: row 3 'x', row 6 'y'",
    ]


def test_a_covariate_may_be_labels(tmp_path):
    path = written(tmp_path, "overall,tone,model\n1,2,GPT-4\n2,1,Llama\n3,1,\n")
    found = read(path, "overall", ["tone"], covariate="model")["covariate"]
    assert found.astype(object).fillna("").tolist() == ["GPT-4", "Llama", ""]


@pytest.mark.parametrize(
    ("outcome", "aspects", "scales", "message"),
    [
        (
            "overall",
            ["tone", "tone"],
            {},
            "column 'tone' is named twice: name each column once",
        ),
        (
            "overall",
            ["prompt_id"],
            {},
            "column 'prompt_id' cannot be outcome or aspect under",
        ),
        (
            7,
            ["tone"],
            {},
            "recipe: outcome must be text (in papermill, -r gives a number as text)",
        ),
        (
            "overall",
            ["tone"],
            {"x": (1, 5)},
            "there is a scale of 'x', which is no outcome or",
        ),
    ],
)
def test_a_request_that_contradicts_itself_is_refused(
    outcome, aspects, scales, message
):
    with pytest.raises(OptionError, match=f"^{re.escape(message)}"):
        read(EXAMPLE, outcome, aspects, scales=scales)


@pytest.fixture(scope="module")
def marks():
    rng = np.random.default_rng(0)
    item = rng.integers(60, size=400)
    return pd.DataFrame(
        {
            "item_id": pd.Categorical(item, categories=range(-1, 61)),
            "system": [f"system-{number % 3}" for number in item],
            "quality": rng.integers(1, 6, size=400).astype(float),
            "refusal": rng.choice([0, 1, NAN], size=400),
        }
    )


def test_summaries_are_those_of_a_loop_over_groups_in_any_order_of_rows(marks):
    frame = marks.assign(marks=marks["quality"])
    shuffled = frame.sample(frac=1, random_state=1)
    result = aggregate(
        shuffled, "item_id", ["quality"], ["marks", "refusal"], ["system"]
    )
    assert list(result) == [
        "item_id",
        "system",
        "n_ratings",
        "quality",
        "marks",
        "refusal",
    ]
    groups = list(marks.groupby("item_id"))
    assert len(result) == len(groups)
    for row, (item, group) in zip(result.itertuples(), groups, strict=True):
        assert (row.item_id, row.n_ratings) == (item, len(group))
        assert row.system == group["system"].iloc[0]
        assert row.quality == pytest.approx(group["quality"].mean())
        assert row.marks == pytest.approx(group["quality"].mode().mean())
        np.testing.assert_equal(row.refusal, group["refusal"].mode().mean())


@pytest.mark.parametrize(
    ("values", "mode"),
    [
        ([0, 0, 1, 1], 0.5),
        ([4, 5, 4, 1], 4),
        ([1, 1, 2, 2, 5, 5], 8 / 3),
        ([2.5, 2.5, -1], 2.5),
        ([NAN, 1, NAN, NAN], 1),
        ([5, NAN, 4, NAN], 4.5),
        ([NAN, NAN], NAN),
    ],
)
def test_values_that_tie_for_most_frequent_are_averaged(values, mode):
    result = aggregate(
        pd.DataFrame({"item": "a", "score": values}), "item", mode=["score"]
    )
    assert result["score"].item() == pytest.approx(mode, abs=1e-15, nan_ok=True)


def test_several_columns_can_tell_groups_apart():
    frame = pd.DataFrame(
        {"task": list("baab"), "arm": list("xyyz"), "x": [1.0, 2.0, NAN, 8.0]}
    )
    frame.index = [7, 7, 8, 8]
    result = aggregate(frame, ["task", "arm"], mean=["x"])
    assert result.to_numpy().tolist() == [
        ["a", "y", 2, 2.0],
        ["b", "x", 1, 1.0],
        ["b", "z", 1, 8],
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"by": "item"},
            "column 'item' is not in the table, which has: item_id, system, qual",
        ),
        (
            {"by": "item_id", "mean": ["quality"], "mode": ["quality"]},
            "'quality' is named twice",
        ),
        ({"by": "item_id", "mean": ["system"]}, "column 'system' is of type str"),
        ({"by": "gap"}, "column 'gap' has 399 missing values, first in row 0"),
    ],
)
def test_what_cannot_be_summed_up_is_named(marks, settings, message):
    gap = pd.Series([1.0], index=[7])
    with pytest.raises(ValueError, match=message):
        aggregate(marks.assign(gap=gap), **settings)


def test_columns_that_the_recipe_names_wrongly_are_no_fault_of_the_file(tmp_path):
    path = written(tmp_path, "x,y\n1,2\n")
    aspects = [f"aspect {n}" for n in range(60)]
    with pytest.raises(BadTableError) as caught:
        read(path, "overall", aspects)
    first, second, third, *_, last = str(caught.value).splitlines()
    asked = "does not have all columns that the recipe or the command names:"
    assert first == f"mine.csv {asked}"
    assert second == "  column 'overall' is missing; there are 'x', 'y'"
    assert third == "  column 'aspect 0' is missing"
    assert last == "  ... and 11 more"


def test_problems_stand_in_the_order_of_the_file(tmp_path):
    path = written(tmp_path, "item,a_1,a_2\n" + "i,x,1\n" + "j,2,y\n" + "k,z,3\n")
    recipe = {"names": "(?P<aspect>a)_(?P<rater>.)", "rater": "rater", "item": "item"}
    with pytest.raises(BadTableError, match=r"row 2 'x', row 3 'y', row 4 'z'"):
        recipes.read(path, {**recipe, "aspects": ["a"]})
