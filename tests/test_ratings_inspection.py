"""A first look at files of every shape, among them the exports of annotation tools.

The examples have the form that the tools document: Label Studio (guide, "task format"),
Argilla (`Record.to_dict`), Potato ("export formats"), Qualtrics ("understanding your
dataset"), Prolific (parameters of a study's address) and the error tables of Google's
MQM viewer.
"""

import json

import pandas as pd
import pytest

from ratings import recipes
from ratings.accounts import Account
from ratings.inspection import inspect


@pytest.fixture
def look(tmp_path):
    """Write a file, look at it, and read it as proposed."""

    def look(content, name="mine.csv", **known):
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(
                content if isinstance(content, str) else json.dumps(content)
            )
        seen = inspect(path, known)
        if seen.sample.empty:
            return seen, None
        account = Account()
        found = recipes.read(path, seen.recipe, account)
        assert_adds_up(account, seen, len(found))
        return seen, found

    return look


def assert_adds_up(account, seen, n_ratings):
    """Check that an account leads from the rows of the file to the ratings."""
    table = account.table()
    n_read = int(seen.contents[0].split(" rows")[0].replace(",", ""))
    assert table["left"].iloc[0] == n_read
    assert table["change"].sum() == account.left == n_ratings
    assert (table["change"].cumsum() == table["left"]).all()


def told(seen, start):
    return any(start in line for line in seen.to_check)


def test_wide(look):
    rows = [
        f"p{n // 4},p{n // 4}-{n % 4},r{n % 3},{n * 7 % 90},{n % 5},{n % 2},ok"
        for n in range(24)
    ]
    seen, found = look(
        "prompt,item,annotator,words,overall,polite,note\n" + "\n".join(rows)
    )
    assert seen.recipe == {
        "rater": ["annotator"],
        "cluster": ["prompt"],
        "item": ["item"],
        "covariate": "words",
        "outcome": "overall",
        "aspects": ["polite"],
    }
    assert told(seen, "words is held constant in one step")
    assert told(seen, "words without a known order, not used: note: 'ok'")
    assert "understood as 24 ratings of 24 items" in str(seen)
    assert len(found) == 24
    assert len(seen.sample) == 10


def test_long(look):
    text = "doc,system,worker_id,criterion,score\n" + "".join(
        f"d{d},s{s},w{w},{c},{(d + s + w) % 5}\n"
        for d in range(3)
        for s in range(2)
        for w in range(2)
        for c in ("fluency", "overall")
    )
    seen, found = look(text)
    assert seen.recipe["long"] == {"aspect": "criterion", "score": "score"}
    assert seen.recipe["item"] == ["doc", "system"]
    assert (seen.recipe["outcome"], seen.recipe["aspects"]) == ("overall", ["fluency"])
    assert len(found) == 12


def test_raters_as_columns_are_not_taken_for_people(look):
    seen, found = look(
        "id,rater_1,rater_2,rater_1_zscore\na,1,2,.3\nb,3,4,.1\nc,5,1,.2\n"
    )
    assert told(seen, "if each column is one person, write 'rater: [rater]'")
    assert found["score"].tolist() == [1, 3, 5, 2, 4, 1]
    assert "position" in found


def test_words_get_an_order_that_is_told(look):
    words = ["Strongly agree", "agree", "Neutral", "N/A", "disagree"] * 2
    seen, found = look(
        "overall,tone\n" + "".join(f"{n % 4},{w}\n" for n, w in enumerate(words))
    )
    assert told(
        seen,
        "'strongly disagree' is taken as lowest, 'strongly agree' as highest: tone",
    )
    assert found["tone"].dropna().tolist() == [5, 4, 3, 2] * 2
    assert recipes.scales(seen.recipe) == {"tone": (1, 5)}


@pytest.mark.parametrize(
    ("cells", "marks", "line"),
    [
        (
            ["4 - Good", "5 - Great"],
            [4, 5],
            "the number counts with which a cell begins: tone",
        ),
        (["4/5", "3/5"], [4, 3], "the number counts with which a cell begins: tone"),
        (
            ["80 %", "7.5 %"],
            [80, 7.5],
            "the number counts with which a cell begins: tone",
        ),
        (["1,5", "2"], [1.5, 2], "a comma in a number is taken as a decimal point"),
        (["1", "5", "3", "-99"], [1, 5, 3, None], "taken as missing: -99"),
        (["1", "5", "?"], [1, 5, None], "taken as missing: ?"),
    ],
)
def test_marks_that_are_not_plain_numbers(look, cells, marks, line):
    seen, found = look("overall;tone\n" + "".join(f"1;{cell}\n" for cell in cells))
    assert told(seen, line)
    assert (
        found["tone"].astype(object).where(found["tone"].notna(), None).tolist()
        == marks
    )


def test_codes_within_a_scale_stay(look):
    seen, _ = look(
        "overall,slider\n" + "".join(f"1,{value}\n" for value in range(0, 100, 3))
    )
    assert "missing" not in seen.recipe


def test_windows_text_is_told(look):
    seen, found = look("item,overall\ncaf\xe9,1\nth\xe9,2\n".encode("cp1252"))
    assert told(seen, "the text is not UTF-8 and was read as cp1252")
    assert found["item_id"].tolist() == ["café", "thé"]


def test_one_object_per_rater(look):
    marks = {
        f"t{n}__{aspect}": n % 5 for n in range(9) for aspect in ("tone", "overall")
    }
    seen, found = look({"anna": marks, "bob": marks}, "a.json")
    assert seen.recipe["names"] == "(?P<rater>[^.]+)\\.(?P<item>.+)__(?P<aspect>[^_.]+)"
    assert (found["rater_id"].nunique(), found["item_id"].nunique(), len(found)) == (
        2,
        9,
        18,
    )


def test_lists_of_marks_in_a_benchmark(look):
    rows = [
        {
            "id": n,
            "annotations": {
                a: {"mean": 2, "individual_human_scores": [1, n, "N/A (no)"]}
                for a in ("grammar", "overall")
            },
        }
        for n in range(1, 5)
    ]
    seen, found = look({"metrics": [{"m": 1}], "instances": rows}, "a.json")
    assert (seen.recipe["outcome"], seen.recipe["aspects"]) == ("overall", ["grammar"])
    assert found["overall"].dropna().tolist() == [1, 1, 1, 2, 1, 3, 1, 4]
    assert told(seen, "taken as the rating of a person who is not known")


def test_label_studio(look):
    def annotation(who, rating, tone, cancelled=False):
        results = [("overall", "rating", rating), ("tone", "choices", [tone])]
        return {
            "id": 1,
            "completed_by": who,
            "was_cancelled": cancelled,
            "lead_time": 4.2,
            "result": [
                {
                    "from_name": name,
                    "to_name": "text",
                    "type": kind,
                    "value": {kind: value},
                }
                for name, kind, value in results
            ],
        }

    tasks = [
        {
            "id": n,
            "data": {"text": f"Text {n}"},
            "predictions": [],
            "annotations": [
                annotation(7, n % 5 + 1, "Good"),
                annotation(8, 2, "Bad", n == 3),
            ],
        }
        for n in range(6)
    ]
    seen, found = look(tasks, "export.json")
    assert told(seen, "data/recipes/label_studio.yaml")
    assert len(found) == 11
    assert (found["rater_id"].nunique(), found["item_id"].nunique()) == (2, 6)
    assert found["overall"].tolist()[:4] == [1, 2, 2, 2]


def test_argilla(look):
    records = [
        {
            "id": f"r{n}",
            "fields": {"text": "x"},
            "metadata": {},
            "suggestions": {},
            "vectors": {},
            "responses": {
                "overall": [
                    {"value": n % 5, "user_id": "u1"},
                    {"value": 1, "user_id": "u2"},
                ],
                "tone": [{"value": 2, "user_id": "u1"}, {"value": n, "user_id": "u2"}],
            },
        }
        for n in range(4)
    ]
    seen, found = look(records, "records.json")
    assert told(seen, "data/recipes/argilla.yaml")
    assert (seen.recipe["outcome"], seen.recipe["aspects"]) == ("overall", ["tone"])
    assert (found["rater_id"].nunique(), len(found)) == (2, 8)


def test_potato(look):
    table = pd.DataFrame(
        {
            "instance_id": ["a", "a", "b", "b"],
            "user_id": ["x", "y", "x", "y"],
            "overall": [1.0, 2.0, 3.0, None],
            "handling.Urgency": ["Low", "High", "Low", "Medium"],
        }
    )
    seen, found = look(table, "annotations.parquet")
    assert told(seen, "data/recipes/potato.yaml")
    assert told(seen, "'low' is taken as lowest, 'high' as highest: Urgency")
    assert found["Urgency"].tolist() == [1, 3, 1, 2]


def test_the_state_that_potato_keeps(tmp_path):
    state = {
        "user_id": "anna",
        "instance_id_to_label_to_value": {
            "i1": {"tone": {"labels": {"4": True}}, "overall": {"5": "true"}},
            "i2": {"tone": {"labels": {"1": True}}},
        },
    }
    path = tmp_path / "user_state.json"
    path.write_text(json.dumps(state))
    names = (
        r"instance_id_to_label_to_value\.(?P<item>[^.]+)\.(?P<aspect>[^.]+)\.(?:labels\.)?"
        "(?P<score>.+)"
    )
    recipe = {
        "names": names,
        "item": "item",
        "rater": "user_id",
        "aspects": ["tone", "overall"],
    }
    found = recipes.read(path, recipe)
    assert found[["item_id", "tone"]].to_numpy().tolist() == [["i1", 4], ["i2", 1]]


def test_qualtrics(look):
    header = "StartDate,Status,Finished,ResponseId,1_Q1,1_Q2,2_Q1,2_Q2\n"
    second = (
        "Start Date,Response Type,Finished,Response ID,"
        '"How good,\noverall?",Polite?,a,b\n'
    )
    third = (
        ",".join(f'"{{""ImportId"":""{name}""}}"' for name in header.strip().split(","))
        + "\n"
    )
    rows = "".join(
        f"2024-01-01,{'Survey Preview' if n == 3 else 'IP Address'},True,R_{n},"
        f"Good,{n % 2},Very good,{(n + 1) % 2}\n"
        for n in range(4)
    )
    seen, found = look(header + second + third + rows)
    assert told(seen, "data/recipes/qualtrics.yaml")
    assert len(found) == 6
    assert set(found["item_id"]) == {"1", "2"}
    assert set(found["Q1"]) == {4, 5}


def test_prolific(look):
    text = "PROLIFIC_PID,STUDY_ID,SESSION_ID,response_id,overall,clear\n" + "".join(
        f"pid{n % 3},study,s{n % 3},resp{n // 3},{n % 5},{n % 2}\n" for n in range(12)
    )
    seen, found = look(text)
    assert told(seen, "data/recipes/prolific.yaml")
    assert seen.recipe["rater"] == ["PROLIFIC_PID"]
    assert (found["item_id"].nunique(), found["rater_id"].nunique()) == (4, 3)


def test_mqm(look):
    rows = [
        ("s1", "d", "1", "r1", "Fluency/Grammar", "Minor"),
        ("s1", "d", "1", "r1", "Style", "Major"),
        ("s2", "d", "1", "r1", "No-error", "No-error"),
        ("s2", "d", "2", "r2", "Style", "HOTW-test"),
        ("s1", "d", "2", "r2", "Style", "Minor"),
    ]
    lines = ["\t".join([*row, 'a "source']) for row in rows]
    text = "system\tdoc\tseg_id\trater\tcategory\tseverity\tsource\n" + "\n".join(lines)
    seen, found = look(text, "mqm.tsv")
    assert told(seen, "data/recipes/mqm.yaml")
    assert seen.recipe["aspects"] == ["Fluency/Grammar", "Style"]
    assert found["severity"].tolist() == [6, 0, 1]
    assert found["Style"].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("a,b\nx,y\nz,w\n", "mine.csv", "the recipe names no outcome and no aspects"),
        ([{"a": [1, 2]}, {"a": "[1"}] * 9, "a.json", "this is not a list: '[1'"),
    ],
)
def test_what_is_not_understood_is_said(look, content, name, message):
    seen, _ = look(content, name)
    assert told(seen, f"not yet understood: {message}")


def test_what_is_known_is_not_asked_again(look):
    text = "item,overall,tone,other\n" + "".join(
        f"{n},{n % 5},{n % 3},1\n" for n in range(9)
    )
    seen, _ = look(text, outcome="tone", aspects=["overall"])
    assert (seen.recipe["outcome"], seen.recipe["aspects"]) == ("tone", ["overall"])


def test_a_column_without_a_name_is_not_proposed_as_outcome(look):
    seen, _ = look(",word\n" + "".join(f"{n},text {n}\n" for n in range(30)))
    assert told(seen, "no column looks like an overall rating")
    assert "outcome" not in seen.recipe
