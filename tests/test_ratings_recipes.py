"""Recipes: every shape by hand, and what a recipe cannot be."""

import json

import numpy as np
import pandas as pd
import pytest

from helpers.data.tables import BadTableError, OptionError
from ratings import recipes
from ratings.accounts import Account

NAN = float("nan")


@pytest.fixture
def read(tmp_path):
    """Read a table or objects by a recipe: items, raters where there are, marks."""

    def read(content, **recipe):
        path = tmp_path / ("a.csv" if isinstance(content, str) else "a.json")
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        found = recipes.read(path, recipe)
        values = [
            each for each in [recipe.get("outcome"), *recipe.get("aspects", [])] if each
        ]
        people = [name for name in ("rater_id", "position") if name in found]
        return found[["item_id", *people, *values]].astype(object).to_numpy().tolist()

    return read


def test_long_rows_become_one_row_per_item_and_rater(read):
    text = (
        "id,who,what,score\n"
        "a,x,tone,1\na,y,tone,2\na,x,overall,3\na,x,tone,9\nb,x,overall,4\n"
    )
    long = {"aspect": "what", "score": "score"}
    found = read(
        text, item="id", rater="who", long=long, outcome="overall", aspects=["tone"]
    )
    np.testing.assert_equal(
        found,
        [
            ["a", "rater-001", 3, 1],
            ["a", "rater-002", NAN, 2],
            ["a", "rater-001", NAN, 9],
            ["b", "rater-001", 4, NAN],
        ],
    )


def test_raters_and_aspects_in_the_names_of_columns(read):
    text = "id,r1_overall,r2_overall,r1_tone,r2_tone\na,1,2,3,4\nb,,5,,6\n"
    names = r"r(?P<rater>\d)_(?P<aspect>\w+)"
    found = read(
        text, item="id", rater="rater", names=names, outcome="overall", aspects=["tone"]
    )
    assert found == [
        ["a", "rater-001", 1, 3],
        ["a", "rater-002", 2, 4],
        ["b", "rater-002", 5, 6],
    ]


def test_lists_in_cells_give_a_row_for_each_place(read):
    text = 'id,overall,tone\na,"[1, 2]","[3, nan]"\nb,"[4]","[5]"\nc,[],[]\n'
    lists = {"overall": "copy", "tone": "copy"}
    found = read(
        text,
        item="id",
        position="copy",
        lists=lists,
        outcome="overall",
        aspects=["tone"],
    )
    np.testing.assert_equal(
        found,
        [
            ["a", "rater-001", 1, 3],
            ["a", "rater-002", 2, NAN],
            ["b", "rater-003", 4, 5],
        ],
    )


def test_a_cell_without_brackets_is_a_list_of_one_and_an_empty_one_of_none(read):
    text = 'id,overall\na,"[1, 2]"\nb,3\nc,\n'
    found = read(
        text, item="id", position="copy", lists={"overall": "copy"}, outcome="overall"
    )
    assert found == [
        ["a", "rater-001", 1],
        ["a", "rater-002", 2],
        ["b", "rater-003", 3],
    ]


def test_places_in_lists_are_numbered_from_one():
    table = pd.DataFrame({"marks": [[5, 3], [4]]})
    assert recipes.to_long(table, {"lists": {"marks": "copy"}})["copy"].tolist() == [
        1,
        2,
        1,
    ]


def test_columns_made_of_rows_stand_in_the_order_of_the_file():
    rows = {
        "id": ["a", "a", "b"],
        "what": ["tone", "facts", "facts"],
        "mark": [1, 2, 3],
    }
    recipe = {"item": "id", "long": {"aspect": "what", "score": "mark"}}
    assert list(recipes.to_wide(pd.DataFrame(rows), recipe)) == ["id", "tone", "facts"]


def test_objects_in_lists_in_objects(read):
    records = [
        {
            "id": 1,
            "n": {
                "reviews": [
                    {"by": "x", "m": {"tone": 1}},
                    {"by": "y", "m": {"tone": 2}},
                ]
            },
        },
        {"id": 2, "n": {"reviews": [{"by": "x", "m": {"tone": 3}}]}},
    ]
    found = read(
        records,
        lists={"n.reviews": ""},
        item="id",
        rater="n.reviews.by",
        call={"n.reviews.m.tone": "tone"},
        aspects=["tone"],
    )
    assert found == [
        ["1", "rater-001", 1],
        ["1", "rater-002", 2],
        ["2", "rater-001", 3],
    ]


def test_errors_are_counted_and_their_costs_added(read):
    text = (
        "id,kind,how bad\na,spelling,minor\na,spelling,major\n"
        "a,fact,major\nb,none,\nc,fact,trap\n"
    )
    marks = {"how bad": {"minor": "1", "major": "5"}, "kind": {"none": ""}}
    found = read(
        text,
        item="id",
        count="kind",
        sum="how bad",
        marks=marks,
        without={"how bad": "trap"},
        outcome="how bad",
        aspects=["spelling", "fact"],
    )
    np.testing.assert_equal(found, [["a", 11, 2, 1], ["b", NAN, 0, 0]])


def test_words_codes_and_decimal_commas(read):
    text = 'overall;tone;mood\n4 - Good;80 %;"1,5"\n4/5;-99;2\n3;N/A (why);agree\n'
    marks = {"overall": "number", "tone": "number", "mood": {"Agree": "5"}}
    found = read(
        text,
        marks=marks,
        missing=["-99", "N/A *"],
        decimal=",",
        outcome="overall",
        aspects=["tone", "mood"],
    )
    np.testing.assert_equal(found, [[2, 4, 80, 1.5], [3, 4, NAN, 2], [4, 3, NAN, 5]])


def test_rows_can_be_skipped_kept_and_left_out(read):
    text = "id,kind,tone\nwhat,is,this\n1,a,1\n2,b,2\n3,,3\n"
    assert read(text, skip=["2"], aspects=["tone"], only={"kind": ["a", ""]}) == [
        [3, 1],
        [5, 3],
    ]
    assert read(text, skip="2", aspects=["tone"], without={"kind": ""}) == [
        [3, 1],
        [4, 2],
    ]


def test_roles_may_be_made_of_several_columns(tmp_path):
    (tmp_path / "a.csv").write_text("doc,system,text,tone\nd,s,one two,1\nd,t,one,2\n")
    recipe = {
        "item": ["doc", "system"],
        "cluster": "doc",
        "words": "text",
        "aspects": ["tone"],
    }
    found = recipes.read(tmp_path / "a.csv", recipe)
    assert found["item_id"].tolist() == ["d / s", "d / t"]
    assert found["prompt_id"].tolist() == ["d", "d"]
    assert found["covariate"].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("itm: a", "a.yaml: there is no key 'itm' (did you mean 'item'?)"),
        ("zzz: a", "a.yaml: there is no key 'zzz'; known are questions"),
        ("- a", "a.yaml: a recipe has one 'key: value' on each line"),
        ("item: {a: b}", "a.yaml: item must be a list of names, such as"),
        ("scales: {tone: [5, 1]}", "a.yaml: scales give the lowest and highest mark"),
        ("scales: {tone: low}", "a.yaml: scales give the lowest and highest mark"),
        ("names: '('", "a.yaml: names is no regular expression"),
        ("names: r1", "a.yaml: names must say what is what"),
        ("a: [", "not YAML: line 2: "),
        ("[" * 9000, "not YAML: "),
        (
            "a: &a [x, x]\nb: [*a, *a]",
            "not YAML: line 2: aliases (*name) cannot be used",
        ),
        ("x" * 2**21, "a recipe is short: this is another file"),
    ],
)
def test_what_is_no_recipe_is_said_in_one_message(tmp_path, text, message):
    (tmp_path / "a.yaml").write_text(text + "\n")
    with pytest.raises((OptionError, BadTableError)) as caught:
        recipes.from_yaml(tmp_path / "a.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize("aspects", [["a", "b"], ' [ "a","b" ] '.strip(), "[a, b]"])
def test_lists_and_pairs_come_as_such_or_as_their_text(aspects):
    given = {"aspects": aspects, "scales": '{"a": [1, 5]}', "item": "", "rater": None}
    found = recipes.parse(given)
    assert found == {"aspects": ["a", "b"], "scales": {"a": ["1", "5"]}}
    assert recipes.scales(found) == {"a": (1, 5)}
    with pytest.raises(
        OptionError, match=r'must be a list of names, such as \["factuality"'
    ):
        recipes.parse({"aspects": [1]})


@pytest.mark.parametrize(
    "given",
    [
        [1, 5],
        {"a": 5},
        {"a": [5, 5]},
        {"a": [1, 2, 3]},
        {"a": "15"},
        "1-5",
        '{"a": ["5", "1"]}',
    ],
)
def test_a_scale_needs_two_ends_in_order(given):
    message = "scales give the lowest and highest mark|scales must be pairs"
    with pytest.raises(OptionError, match=message):
        recipes.parse({"scales": given})


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({}, "the recipe names no outcome and no aspects"),
        ({"aspects": ["tome"]}, "column 'tome' is missing; did you mean 'tone'?"),
        (
            {"aspects": ["tone"], "names": "(?P<aspect>x)"},
            "no column is called like '(?P<aspe",
        ),
        (
            {"aspects": ["tone"], "lists": {"x": "p"}},
            "recipe, lists: column 'x' is missing",
        ),
        (
            {"aspects": ["tone"], "only": {"x": "p"}},
            "recipe, only: column 'x' is missing",
        ),
        (
            {"aspects": ["tone"], "lists": {"tone": "p", "id": "p"}},
            "not of the same length in",
        ),
        (
            {"aspects": ["id"], "lists": {"id": "p"}},
            "this is not a list: '[1; 2]'; correct the",
        ),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused(read, recipe, message):
    with pytest.raises((OptionError, BadTableError)) as caught:
        read(
            'id,tone\n"[1; 2]","[1, 2]"\n'
            if message.startswith("this")
            else 'id,tone\n1,"[1, 2]"\n',
            **recipe,
        )
    assert message in str(caught.value)


def test_a_recipe_is_written_as_it_is_read(tmp_path):
    recipe = {
        "file": {"encoding": "cp1252"},
        "outcome": "No",
        "aspects": ["1", "a: b", "#c", "é\n"],
        "marks": {"No": {"yes": "1", "~": "0"}},
        "scales": {"1": ["0", "1e3"]},
    }
    recipes.write_yaml(recipe, tmp_path / "a.yaml", "my.csv")
    assert recipes.from_yaml(tmp_path / "a.yaml") == recipe


def test_a_million_rows_need_no_loop_over_cells(tmp_path):
    rows = np.arange(100_000)
    table = pd.DataFrame({"id": rows // 3, "who": rows % 7, "tone": rows % 5})
    table.to_parquet(tmp_path / "a.parquet")
    recipe = {"item": "id", "rater": "who", "aspects": ["tone"]}
    found = recipes.read(tmp_path / "a.parquet", recipe)
    assert found["tone"].sum() == table["tone"].sum()


def test_a_pattern_that_takes_for_ever_is_refused(read, monkeypatch):
    monkeypatch.setattr(recipes, "LONGEST_MATCH", 0.05)
    slow = r"(?P<aspect>(a|aa)+)_(?P<rater>\d)"
    with pytest.raises(
        OptionError, match=r"takes longer than 0.05 s on the column 'aaaa"
    ):
        read("id," + "a" * 60 + "\n1,2\n", item="id", names=slow, outcome="overall")


def test_a_recipe_breaks_no_text_over_lines(tmp_path):
    pattern = "(?P<aspect>.+?)[ _.-](?i:(?:" + "|".join(["rater one"] * 20) + "))"
    recipe = {
        "names": pattern,
        "outcome": "How good is the answer? " * 20,
        "marks": {"a flag": {"x": "1", "": "0"}, "odd\nname": {"'": "1"}},
        "missing": ["a word: " * 30, "#" + " b" * 60, "\x07 bell" * 30],
        "scales": {"How far: " * 30: ["1", "5"], "How long: " * 150: ["1", "5"]},
    }
    path = tmp_path / "a.yaml"
    recipes.write_yaml(recipe, path, "my.csv")
    text = path.read_text()
    assert f"names: {pattern}\n" in text
    assert "a flag: {x: 1, '': 0}" in text
    assert recipes.from_yaml(path) == recipe


def test_all_unknown_keys_are_named_at_once():
    with pytest.raises(OptionError) as caught:
        recipes.parse({"outcom": "a", "aspekts": "b"})
    assert str(caught.value) == (
        "recipe: there is no key 'outcom' (did you mean 'outcome'?), 'aspekts' "
        "(did you mean 'aspects'?)"
    )
    with pytest.raises(OptionError, match=r"'k7', 4 more; known are questions, about"):
        recipes.parse({f"k{n}": "a" for n in range(12)})


def test_an_empty_recipe_is_called_empty(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("# nothing\n")
    with pytest.raises(OptionError, match=r"^a.yaml is empty: `ratings inspect`"):
        recipes.from_yaml(path)


def test_the_option_that_is_ticked_is_the_rating(read):
    text = "id,q_1,q_2,q_3\na,x,,\nb,0,No,1\nc,,,\n"
    radio = {"tone": {"q_1": "1", "q_2": "2", "q_3": "5"}}
    found = read(text, item="id", radio=radio, aspects=["tone"])
    np.testing.assert_equal(found, [["a", 1], ["b", 5], ["c", NAN]])
    with pytest.raises(OptionError, match="several options of 'tone' are ticked in ro"):
        read(text.replace("0,No", "1,No"), item="id", radio=radio, aspects=["tone"])
    with pytest.raises(OptionError, match="column 'q_9' is missing"):
        read(text, radio={"tone": {"q_9": "1"}}, aspects=["tone"])
    with pytest.raises(OptionError, match="radio gives the rating of each option"):
        read(text, radio={"tone": "q_1"}, aspects=["tone"])


def test_labels_may_differ_in_case_and_spaces(read):
    text = "id,who,tone\na,Anna B,1\nb,anna  b,2\nc,Ben,3\n"
    recipe = {"item": "id", "rater": "who", "aspects": ["tone"]}
    raters = [row[1] for row in read(text, **recipe, fold=["who"])]
    assert raters == ["rater-001", "rater-001", "rater-002"]
    assert len({row[1] for row in read(text, **recipe)}) == 3


def test_values_outside_their_scale_can_be_dropped_and_are_counted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("tone,clear\n1,1\n7,2\n0,3\n5,9\n")
    recipe = {"aspects": ["tone", "clear"], "scales": {"tone": ["1", "5"]}}
    with pytest.raises(BadTableError, match=r"outside 1 to 5 .*: row 3 '7', row 4 '0'"):
        recipes.read(path, recipe)
    account = Account()
    found = recipes.read(path, recipe | {"outside": "drop"}, account)
    np.testing.assert_equal(found["tone"].tolist(), [1, NAN, NAN, 5])
    assert found["clear"].tolist() == [1, 2, 3, 9]
    (step,) = account.steps[1:]
    assert step == ("tone: 2 values outside 1 to 5 dropped", 0, 4, "row 3, row 4")
    with pytest.raises(OptionError, match="outside can only be drop"):
        recipes.parse({"outside": "keep"})


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"ask": "?", "answer": "perhaps", "options": {"yes": {}}}, "is none of: yes"),
        ({"ask": "?", "answer": "5 to 1", "scale": ["a"]}, "no lowest and highest"),
        ({"ask": "?", "answer": "good", "order": ["a"]}, "does not list all words"),
        (
            {"ask": "?", "answer": "a, b", "order": ["a"], "words": ["c"]},
            "does not list all words",
        ),
        ({"answer": "yes"}, "each of questions has the keys ask and answer"),
        ({"ask": "?", "because": "x"}, "each of questions has the keys ask and answer"),
        ({"ask": "?", "options": {"yes": "no"}}, "each of questions has the keys ask"),
        ("why?", "each of questions has the keys ask and answer"),
    ],
)
def test_what_is_no_question_or_no_answer_is_said(question, message):
    with pytest.raises(OptionError, match=message):
        recipes.parse({"questions": [question]})


def test_answers_set_keys_once_and_give_way_to_later_edits():
    questions = [
        {"ask": "a", "answer": "YES", "options": {"yes": {"missing": ["9"]}, "no": {}}},
        {"ask": "b", "answer": "", "scale": ["tone"]},
        {"ask": "c", "answer": "b, a", "order": ["mood"], "words": ["a", "b"]},
        {"ask": "d", "answer": "not used", "order": ["land"]},
        {"ask": "e", "answer": "x", "options": {"x": {"names": "", "outcome": "mood"}}},
    ]
    given = {
        "questions": questions,
        "missing": ["k.A."],
        "names": "(?P<aspect>.+)",
        "outcome": "tone",
        "aspects": ["mood", "land"],
        "marks": {"mood": {"a": "7"}, "land": {"x": "1"}},
    }
    found = recipes.parse(given)
    assert found["missing"] == ["k.A.", "9"]
    assert found["marks"] == {"mood": {"b": "0", "a": "1"}}
    assert (found["outcome"], found.get("aspects")) == ("mood", None)
    assert "names" not in found
    assert recipes.open_questions(found) == ["b"]
    later = found | {"missing": ["99"]}
    assert recipes.parse(later) == later
