"""A first look at files of every shape, among them the exports of annotation tools.

The examples have the form that the tools document: Label Studio (guide, "task format"),
Argilla (`Record.to_dict`), Potato ("export formats"), Prodigy (the choice interface),
Qualtrics ("understanding your dataset"), Prolific (parameters of a study's address) and
the error tables of Google's MQM viewer.
"""

import json

import pandas as pd
import pytest

from ratings import recipes
from ratings.accounts import Account
from ratings.inspection import doubts, inspect, recipe_for


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
    assert "scales" not in seen.recipe  # nobody said "strongly disagree"
    assert seen.seen_ends == {"overall": ["0", "3"], "tone": ["2", "5"]}
    assert told(seen, "no scale is known")


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
        ("s1", "d", "1", "r1", "Untranslated text", "Neutral"),
        ("s2", "d", "1", "r1", "No-error", "No-error"),
        ("s2", "d", "2", "r2", "Style", "HOTW-test"),
        ("s1", "d", "2", "r2", "Style", "Minor"),
    ]
    lines = ["\t".join([*row, 'a "source']) for row in rows]
    text = "system\tdoc\tseg_id\trater\tcategory\tseverity\tsource\n" + "\n".join(lines)
    seen, found = look(text, "mqm.tsv")
    assert told(seen, "data/recipes/mqm.yaml")
    assert seen.recipe["aspects"] == ["Fluency/Grammar", "Style", "Untranslated text"]
    assert not seen.seen_ends  # numbers of errors have no scale
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
    seen, _ = look(",word\n" + "".join(f"{n % 7},text {n}\n" for n in range(30)))
    assert told(seen, "no column looks like an overall rating")
    assert "outcome" not in seen.recipe


def waves(n):
    """Marks from 1 to 5 that rise and fall."""
    return [1 + k * 7 % 5 for k in range(n)]


def columns(**cells):
    """Write columns as CSV."""
    return pd.DataFrame(cells).to_csv(index=False)


@pytest.mark.parametrize(
    ("names", "pattern", "role", "n_raters"),
    [
        (["Overall_A", "Overall_B", "Overall_C"], "_(?P<rater>A|B|C)", "rater", 3),
        (["tone (R1)", "tone (R2)"], r" \((?P<rater>R1|R2)\)", "position", 2),
        (["tone.rater_B", "tone.rater_C"], r"\.(?P<rater>rater_B|rater_C)", "rater", 2),
        (["R1_tone", "R2_tone"], "(?P<rater>R1|R2)_", "position", 2),
        (
            ["Coder A: tone", "Coder B: tone"],
            "(?P<rater>Coder A|Coder B): ",
            "rater",
            2,
        ),
        (["overall_JM", "tone_JM", "overall_KW", "tone_KW"], "JM|KW", "rater", 2),
        (["coder_A", "coder_B", "coder_C"], "(?P<rater>[A-Z])", "position", 3),
        (["tone_Anna", "Gesamt_Anna", "tone_Jo", "Gesamt_Jo"], "Anna|Jo", "rater", 2),
        (["fun_al", "overall_al", "fun_bob", "overall_bob"], "al|bob", "rater", 2),
    ],
)
def test_raters_as_columns_without_numbers_are_told_and_proposed(
    look, names, pattern, role, n_raters
):
    cells = {name: waves(30)[k:] + waves(k) for k, name in enumerate(names)}
    seen, found = look(columns(item=[f"i{k}" for k in range(30)], **cells))
    assert pattern in seen.recipe["names"]
    assert seen.recipe[role] == ["rater"]
    assert len(found) == 30 * n_raters
    if role == "rater":
        assert told(seen, "not sure: ")


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (["q1", "q2", "q3"], ""),
        (["score_flu", "score_coh", "score_rel"], ""),
        (["gpt_tone", "gpt_overall", "bard_tone", "bard_overall"], "not sure: "),
        (["GPT_tone", "GPT_overall", "BART_tone", "BART_overall"], "not sure: "),
        (["MT_overall", "MT_tone", "REF_overall", "REF_tone"], "not sure: "),
        (["tone_pre", "overall_pre", "tone_post", "overall_post"], "not sure: "),
        (["tone_gpt", "overall_gpt", "tone_DeepL", "overall_DeepL"], "not sure: "),
        (["tone_M2", "overall_M2", "tone_L3", "overall_L3"], "not sure: "),
        (["fun_al", "tone_al", "fun_bob", "tone_bob"], "not sure: "),
        (["tone_1", "tone_2"], "not sure: tone: a column each for 1, 2; each column"),
    ],
)
def test_columns_that_may_be_something_else_are_left_as_they_are(look, names, line):
    cells = {name: waves(30)[k:] + waves(k) for k, name in enumerate(names)}
    seen, _ = look(columns(item=[f"i{k}" for k in range(30)], **cells))
    assert "names" not in seen.recipe
    assert {*seen.recipe["aspects"], seen.recipe.get("outcome")} >= set(names)
    assert told(seen, line) or not line


def test_two_answers_that_are_compared_are_no_raters(look):
    marks = {"score_a": waves(30), "score_b": waves(30)[::-1]}
    texts = {"response_a": "one two", "response_b": "three"}
    seen, _ = look(columns(item=[f"i{k}" for k in range(30)], **marks, **texts))
    assert "names" not in seen.recipe
    assert any("a column each for a, b, as have" in line for line in seen.to_check)
    seen, _ = look(columns(item=range(30, 60), **marks, preferred=["a", "b"] * 15))
    assert any("a column each for a, b, as have" in line for line in seen.to_check)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2, 3] * 10, [10, 90, 40] * 10),
        ([1, 2, 3] * 10, ["low", "high", "low"] * 10),
        ([1, 2, 3] * 10, [None] * 30),
    ],
)
def test_columns_with_other_marks_are_not_one_mark_by_several(look, first, second):
    seen, _ = look(columns(item=range(40, 70), overall_A=first, overall_B=second))
    assert "names" not in seen.recipe


def test_a_rater_who_never_varies_is_one_of_several(look):
    marks = {"overall_A": [1, 2, 4] * 10, "overall_B": [3] * 30}
    seen, _ = look(columns(item=[f"i{k}" for k in range(30)], **marks))
    assert seen.recipe["rater"] == ["rater"]


def test_columns_that_are_named_stay_as_they_are_with_a_warning(look):
    marks = {f"Overall_{letter}": waves(30) for letter in "ABC"}
    seen, found = look(
        columns(**marks), outcome="Overall_A", aspects=["Overall_B", "Overall_C"]
    )
    assert "names" not in seen.recipe
    assert told(seen, "Overall_A, Overall_B, Overall_C: these look like one mark by")
    assert "Overall_B" in found


def test_a_sign_or_nothing_is_a_flag(look):
    flags = {
        "false": ["x", "", "", "X", "x"] * 6,
        "rude": ["1", "", "", "", "1"] * 6,
        "always": ["x"] * 30,
        "once": ["x", *[""] * 29],
        "comment": ["fine", ""] * 15,
        "denied": ["no", ""] * 15,
    }
    seen, found = look(columns(overall=waves(30), **flags))
    assert seen.recipe["aspects"][:2] == ["false", "rude"]
    assert seen.recipe["marks"] == {
        "false": {"x": "1", "": "0"},
        "rude": {"1": "1", "": "0"},
    }
    assert told(seen, "not sure: one sign or nothing in false, rude")
    assert found["false"].tolist() == [1, 0, 0, 1, 1] * 6
    assert found["rude"].tolist() == [1, 0, 0, 0, 1] * 6


def test_a_title_above_the_names_is_skipped_and_told(look):
    table = columns(item=range(30), overall=waves(30), tone=waves(30))
    for title, rows in [
        ("Pilot; wave 2\n", ["1"]),
        ("Pilot, wave 2\nDate,2026\n\n", ["1", "2"]),
        (",,\nPilot,,\n,,\n", ["2"]),
    ]:
        seen, found = look(title + table)
        assert seen.recipe["skip"] == rows
        assert told(seen, "above the names of columns stand other words")
        assert found["overall"].tolist() == waves(30)
        assert found.index[0] == title.count("\n") + 2


def test_the_delimiter_is_that_of_the_table_not_of_the_title(look):
    marks = [f"{mark},5" for mark in waves(30)]
    table = pd.DataFrame({"item": range(30), "overall": marks, "tone": marks})
    seen, found = look("Pilot, wave 2\n" + table.to_csv(index=False, sep=";"))
    assert seen.recipe["file"] == {"delimiter": ";"}
    assert seen.recipe["skip"] == ["1"]
    assert found["overall"].tolist() == [mark + 0.5 for mark in waves(30)]


def test_a_second_header_below_a_title_is_skipped_too(look):
    table = columns(overall=["How good?", *waves(9)], tone=["Polite?", *waves(9)])
    seen, found = look("A title of the table\n" + table)
    assert seen.recipe["skip"] == ["1", "3"]
    assert len(found) == 9


def test_named_columns_keep_what_is_proposed_for_their_words(look):
    text = columns(
        overall=waves(30),
        tone=["poor", "fair", "good"] * 10,
        clear=["never", "always", "often"] * 10,
        other=["low", "medium", "high"] * 10,
    )
    seen, found = look(text, outcome="overall", aspects=["tone", "clear"])
    assert set(seen.recipe["marks"]) == {"tone", "clear"}
    assert found["tone"].tolist() == [1, 2, 3] * 10
    assert recipes.scales(seen.recipe) == {"clear": (1, 5)}
    seen, found = look(text, aspects=["tone"])
    assert seen.recipe["outcome"] == "overall"
    assert set(seen.recipe["marks"]) == {"tone"}


def test_what_a_recipe_says_of_marks_stays(look):
    text = columns(overall=waves(30), tone=["bad", "good", "fair"] * 10)
    marks = {"tone": {"bad": "0", "fair": "4", "good": "10"}}
    scales = {"tone": ["0", "10"]}
    seen, found = look(text, marks=marks, scales=scales)
    assert (seen.recipe["marks"], seen.recipe["scales"]) == (marks, scales)
    assert set(found["tone"]) == {0, 4, 10}


def test_scales_are_taken_from_names_if_the_marks_fit(look):
    cells = {
        "quality (0-100)": [20, 40, 90] * 10,
        "tone 1-5": [2, 3, 4] * 10,
        "clear [1 to 3]": [1, 2, 4] * 10,
        "polite": [2, 3, 4] * 10,
        "since 2019-04": [2, 3, 4] * 10,
        "flag": [0, 1, 1] * 10,
    }
    seen, _ = look(columns(**cells))
    assert recipes.scales(seen.recipe) == {
        "quality (0-100)": (0, 100),
        "tone 1-5": (1, 5),
    }
    assert told(seen, "scales are taken from the names of columns: quality (0-100) 0")
    assert told(seen, "clear [1 to 3]: its name says 1 to 3, its marks go 1 to 4")
    assert seen.seen_ends == {
        "clear [1 to 3]": ["1", "4"],
        "polite": ["2", "4"],
        "since 2019-04": ["2", "4"],
    }
    assert told(seen, "no scale is known")


def test_lists_of_annotators_are_raters(look):
    rows = [
        {
            "id": n,
            "annotators": [f"a{n % 5}", f"a{(n + 1) % 5}"],
            "scores": [n % 5, (n + 1) % 4],
            "votes": [1, 0, 1],
        }
        for n in range(20)
    ]
    seen, found = look(rows, "a.json")
    assert seen.recipe["lists"] == {"annotators": "position", "scores": "position"}
    assert seen.recipe["rater"] == ["annotators"]
    assert told(seen, "annotators is taken for the person")
    assert told(seen, "there are other lists, not used: votes")
    assert (found["rater_id"].nunique(), len(found)) == (5, 40)


def test_objects_in_lists_may_name_their_raters(look):
    rows = [
        {
            "uid": f"u{n}",
            "annotations": [
                {"annotator": {"id": f"a{(n + k) % 4}"}, "labels": {"tone": n % 3 + k}}
                for k in range(2)
            ],
        }
        for n in range(12)
    ]
    seen, found = look(rows, "a.json")
    assert seen.recipe["rater"] == ["annotations.annotator.id"]
    assert seen.recipe["item"] == ["uid"]
    assert (found["rater_id"].nunique(), len(found)) == (4, 24)


def test_questions_as_names_are_marks_whatever_words_they_hold(look):
    question = "How good is the answer, as an expert sees it?"
    seen, found = look(
        columns(
            **{
                "Timestamp": [f"2026/11/0{n % 9 + 1} 10:00" for n in range(30)],
                "Email Address": [f"{'abc'[n % 3]}@uni.example" for n in range(30)],
                "Which answer did you read on the card?": [n // 2 for n in range(30)],
                question: waves(30),
                "It is correct.": ["agree", "disagree", "Strongly agree"] * 10,
            }
        )
    )
    assert seen.recipe["rater"] == ["Email Address"]
    assert seen.recipe["item"] == ["Which answer did you read on the card?"]
    assert seen.recipe["aspects"] == [question, "It is correct."]
    assert len(found) == 30


def test_numbers_of_rows_and_what_never_varies_are_passed_over(look):
    seen, _ = look(
        columns(**{"Lfd": range(1, 31), "overall": waves(30), "heat": [0.7] * 30})
    )
    assert told(seen, "not used: Lfd, heat")
    assert "aspects" not in seen.recipe


def test_a_quality_of_a_summary_is_a_mark_and_a_summary_is_none(look):
    seen, _ = look(
        columns(overall=waves(30), summary_quality=waves(30), summary_b=waves(30))
    )
    assert seen.recipe["aspects"] == ["summary_quality"]


def test_where_nothing_is_understood_the_columns_are_named(look):
    seen, _ = look("who,what\n" + "anna,something or other\n" * 5)
    assert told(seen, "the columns are 'who', 'what'. Name those with marks")


def test_objects_by_name_of_their_rater_are_turned(look):
    marks = iter(waves(80))
    rows = []
    for n in range(20):
        people = ["anna", "ben", "cleo"][n % 2 : n % 2 + 2]
        ratings = {
            name: {"tone": next(marks), "overall": next(marks)} for name in people
        }
        rows.append({"id": f"r{n}", "ratings": ratings})
    seen, found = look(rows, "a.json")
    names = r"ratings\.(?P<rater>anna|ben|cleo)\.(?P<aspect>overall|tone)"
    assert seen.recipe["names"] == names
    assert told(seen, "not sure: overall, tone: a column each for anna, ben, cleo")
    assert (found["rater_id"].nunique(), len(found)) == (3, 40)
    rows = [{"id": row["id"], "given": row["ratings"]} for row in rows]
    seen, _ = look(rows, "a.json")
    assert "names" not in seen.recipe
    assert any("given\\.(?P<rater>anna|ben|cleo)" in line for line in seen.to_check)


def test_rows_that_a_recipe_skips_are_skipped_and_no_others(look):
    text = "A title\n" + columns(overall=waves(9), tone=waves(9))
    seen, found = look(text, skip=["1", "3"])
    assert seen.recipe["skip"] == ["1", "3"]
    assert len(found) == 8


def test_columns_named_by_hand_leave_behind_the_scales_of_others(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(
        "outcome: overall\naspects: [tone, clear]\n"
        "scales: {overall: [1, 5], clear: [1, 3]}\n"
    )
    seen = recipe_for("a.csv", file, aspects=["tone"])
    assert seen.recipe["scales"] == {"overall": ["1", "5"]}
    seen = recipe_for("a.csv", file, outcome="words", aspects=["tone"])
    assert "scales" not in seen.recipe
    file.write_text("outcome: overall\naspects: [tone]\n")
    assert recipe_for("a.csv", file, outcome="tone", aspects=["overall"]).recipe == {
        "outcome": "tone",
        "aspects": ["overall"],
    }


WITH_WORDS = "item;overall_A;overall_B;tone_A;tone_B\n" + "".join(
    f"{n};{n % 7},5;{n % 5},0;{n % 4 if n % 6 else 'xx'};{n % 3}\n" for n in range(60)
)


@pytest.mark.parametrize("code", ["k.A.", "keine Angabe", ".", "—", "N.A."])
def test_codes_for_no_mark_are_known(look, code):
    seen, found = look(WITH_WORDS.replace("xx", code))
    assert seen.recipe["decimal"] == ","
    assert seen.recipe["names"] == "(?P<aspect>overall|tone)_(?P<rater>A|B)"
    assert told(seen, f"taken as missing: {code}") or code == "N.A."
    assert found["tone"].isna().sum() == 10
    assert not told(seen, "words without a known order")


def test_codes_that_a_recipe_names_are_no_words(look):
    seen, found = look(WITH_WORDS, missing=["xx"])
    assert seen.recipe["missing"] == ["xx"]
    assert seen.recipe["decimal"] == ","
    assert (found["overall"].max(), found["tone"].isna().sum()) == (6.5, 10)
    assert not told(seen, "words without a known order")
    assert not told(seen, "marks are numbers")


def test_other_codes_are_added_to_those_of_a_recipe(look):
    text = WITH_WORDS.replace("\n1;1,5;", "\n1;?;")
    seen, _ = look(text, missing=["xx"])
    assert seen.recipe["missing"] == ["xx", "?"]


def test_words_among_numbers_are_told_with_what_to_do(tmp_path):
    rows = [f"{n},{n % 7},{n % 5}" for n in range(120)]
    rows[5] = "5,seven,0"
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(["item,overall,tone", *rows]))
    seen = inspect(path)
    assert seen.recipe["outcome"] == "overall"
    line = "overall: 119 of 120 marks are numbers; row 7 'seven' is not: correct the"
    assert told(seen, f"{line} file, or write 'missing: [seven]' in the recipe")
    seen = inspect(path, {"missing": ["seven"]})
    assert not told(seen, "overall: ")
    assert len(seen.sample) == 10
    marks = {"overall": {"seven": "7"}}
    assert not told(inspect(path, {"marks": marks}), "overall: ")


def test_several_words_among_numbers_are_told_together(look):
    rows = [f"{n},{n % 7},{n % 5}" for n in range(60)]
    rows[5] = rows[6] = "5,skipped it,0"
    seen, _ = look("\n".join(["item,overall,tone", *rows]))
    assert told(seen, "58 of 60 marks are numbers; row 7 'skipped it' and 1 more are")
    assert told(seen, "not yet understood: mine.csv: 1 problem")


def test_numbers_that_never_recur_with_a_word_are_names(look):
    rows = [f"{n + 100},{n % 7},{n % 5}" for n in range(30)]
    rows[5] = "105b,1,0"
    seen, _ = look("\n".join(["piece,overall,tone", *rows]))
    assert seen.recipe["aspects"] == ["tone"]


def test_a_chatbot_is_a_system(look):
    bots = ["GPT-4o", "Med-PaLM 2", "Llama"]
    rows = [
        f"{q},{bots[b]},{r},{(q + b) % 5},{(q * 3 + r) % 5}"
        for q in range(10)
        for b in range(3)
        for r in range(3)
    ]
    seen, _ = look("\n".join(["Question no.,Chatbot,Reviewer,Overall,Tone", *rows]))
    assert seen.recipe["system"] == ["Chatbot"]
    assert seen.recipe["item"] == ["Question no.", "Chatbot"]
    assert not told(seen, "words without")


@pytest.mark.parametrize(
    ("names", "others", "recipe", "doubt"),
    [
        (["overall_A", "overall_B", "overall_C"], {}, {}, "(?P<rater>A|B|C)"),
        (["tone_rater1", "tone_rater2"], {}, {}, "(?P<aspect>.+?)[ _.-](?i:(?:rater"),
        (["tone", "overall"], {}, {}, ""),
        (["score_a", "score_b"], {"response_a": "x", "response_b": "y"}, {}, ""),
        (["overall_A", "overall_B"], {"who": ["x", "y"] * 15}, {"rater": "who"}, ""),
    ],
)
def test_columns_taken_as_named_are_doubted(tmp_path, names, others, recipe, doubt):
    path = tmp_path / "mine.csv"
    cells = {name: waves(30)[k:] + waves(k) for k, name in enumerate(names)}
    path.write_text(columns(item=[f"i{k}" for k in range(30)], **cells, **others))
    first, *rest = names
    recipe = {"outcome": first, "aspects": rest, "item": "item", **recipe}
    lines = doubts(path, recipes.read(path, recipe), recipe)
    assert bool(lines) == bool(doubt)
    for line in lines:
        assert line.startswith("the recipe names no raters, and takes")
        assert doubt in line


def prodigy(n, accept, who, answer="accept"):
    """Write an answer as Prodigy does."""
    return {
        "text": f"Summary {n} of an article.",
        "meta": {"model": f"model-{n % 2}"},
        "_input_hash": 1_000_000_007 + n,
        "_task_hash": -2_000_000_011 * n,
        "options": [{"id": "WRONG"}, {"id": "WORDY"}],
        "accept": accept,
        "answer": answer,
        "_timestamp": 1_770_593_458 + n,
        "_annotator_id": who,
    }


LABELS = [["WRONG"], ["WRONG", "WORDY"], [], ["WORDY"], []]


def test_prodigy_by_its_recipe(look):
    answers = ["accept", "reject", "accept", "ignore"]
    rows = [
        prodigy(n, LABELS[(n + r) % 5], f"set-{r}", answers[(n * 3 + r) % 4])
        for n in range(20)
        for r in range(3)
    ]
    seen, found = look("\n".join(map(json.dumps, rows)), "mine.jsonl")
    assert told(seen, "read as an export of Prodigy's choice interface")
    assert seen.recipe["aspects"] == ["WORDY", "WRONG"]
    assert seen.recipe["system"] == ["meta.model"]
    kept = [row for row in rows if row["answer"] != "ignore"]
    assert len(found) == len(kept) < len(rows)
    assert found["rater_id"].nunique() == 3
    assert found["item_id"].nunique() == 20
    assert found["WRONG"].tolist() == ["WRONG" in row["accept"] for row in kept]
    assert found["answer"].tolist() == [row["answer"] == "accept" for row in kept]


def test_lists_of_labels_are_no_ratings_and_hashes_no_marks(look):
    rows = []
    for n in range(20):
        for r in range(3):
            row = prodigy(n, LABELS[(n + r) % 5], f"set-{r}")
            rows.append({**row, "score": (n + r) % 5})
            del rows[-1]["answer"], rows[-1]["options"]
    text = "\n".join(map(json.dumps, rows))
    seen, _ = look(text, "mine.jsonl")
    assert "lists" not in seen.recipe
    assert seen.recipe["rater"] == ["_annotator_id"]
    values = {seen.recipe.get("outcome"), *seen.recipe.get("aspects", [])}
    assert "score" in values
    assert not values & {"_input_hash", "_task_hash"}
    assert told(seen, "accept: cells are lists of labels, not of marks; to count how")
    seen, _ = look(text, "mine.jsonl", count="accept")
    assert told(seen, "accept: cells are lists, which are counted as they are written")
    seen, _ = look(text, "mine.jsonl", count="accept", lists={"accept": "place"})
    assert seen.recipe["aspects"] == ["WORDY", "WRONG"]
    assert not told(seen, "accept: cells")
