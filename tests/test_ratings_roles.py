"""Roles count as given; what cannot be used is refused, or left out and counted."""

import pandas as pd
import pytest
import rating_files

from helpers.data.tables import BadTableError, OptionError
from ratings import proposal, roles, table
from ratings.roles import Roles

RATED = Roles(
    item="item_id", prompt="prompt_id", rater="rater", system="model", score="overall"
)


def as_table(frame, name="a.csv"):
    texts = frame.astype(str).astype(object).where(frame.notna(), None)
    texts.index = pd.RangeIndex(2, len(frame) + 2, name="row")
    return table.Table(name, texts)


def prepared(frame, **given):
    return roles.prepare(as_table(frame), roles.combine(RATED, given))


def refusal(frame, error=BadTableError, **given):
    with pytest.raises(error) as caught:
        prepared(frame, **given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def frame():
    return rating_files.two_systems(6)


def test_ratings_have_the_columns_of_the_verbs_and_raters_have_numbers(frame):
    found = prepared(frame, aspects=["clarity"])
    columns = ["item_id", "prompt_id", "rater_id", "system", "overall", "clarity"]
    assert found.frame.columns.tolist() == columns
    assert found.frame["overall"].tolist() == frame["overall"].tolist()
    assert found.people["rater"].tolist() == [f"rater {n}" for n in (1, 2, 3, 4)]
    assert found.people["label"].tolist() == list(rating_files.RATERS)
    assert found.left_out == []
    assert not set(found.frame["rater_id"]) & set(rating_files.RATERS)


def test_rows_are_left_out_for_a_reason_that_is_counted(frame):
    frame = frame.astype(object)
    frame.loc[0, "overall"] = "N/A"
    frame.loc[1, "overall"] = "9"
    frame.loc[2, "rater"] = None
    frame.loc[3, "model"] = None
    frame.loc[4, "overall"] = None
    found = prepared(frame, missing=["9"], leave_out=["dan"])
    assert found.left_out == [
        ("rater: empty", 1),
        ("system: empty", 1),
        ("overall: no rating", 3),
        ("raters left out by the owner", 11),
    ]
    assert len(found.frame) + 16 == len(frame)
    assert "dan" not in found.people["label"].tolist()


def test_a_system_called_na_stays_one(frame):
    found = prepared(frame.replace({"model": {"oak": "NA"}}))
    assert set(found.frame["system"]) == {"NA", "elm"}


def test_words_and_decimal_commas_become_numbers(frame):
    frame = frame.astype(object)
    frame["overall"] = frame["overall"].map(lambda value: f"{value},5")
    assert prepared(frame).frame["overall"].iloc[0] == round(
        float(frame["overall"].iloc[0].replace(",", ".")), 1
    )
    frame["overall"] = ["good", "bad"] * (len(frame) // 2)
    found = prepared(frame, words={"Good": 1.0, "bad": 0.0})
    assert found.frame["overall"].tolist() == [1.0, 0.0] * (len(frame) // 2)
    frame["overall"] = ["yes", "No"] * (len(frame) // 2)
    assert prepared(frame).frame["overall"].tolist()[:2] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("5-Mar", "'5-Mar' in column 'overall' (row 3) is a date: Excel"),
        ("Mar-05", "is a date"),
        ("2024-03-05T00:00:00", "is a date"),
        ("good", "give numbers for words (--words 'good=…')"),
        ("1,234", "may be a decimal or thousands"),
        ("1e400", "is no number"),
        ("٣", "is no number"),
    ],
)
def test_a_cell_that_is_no_rating_is_refused_with_its_place(frame, value, says):
    frame = frame.astype(object)
    frame.loc[1, "overall"] = value
    assert says in refusal(frame)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"score": "overal"}, "did you mean 'overall'?"),
        ({"aspects": ["overall"]}, "is both score and aspects"),
        ({"winner": "overall", "a": "x", "b": "y"}, "give either --score or --winner"),
        ({"name": "x"}, "--name and --value belong together"),
        ({"repeats": "all"}, "choose one of first, last, mean"),
        ({"text": ["a", "b"]}, "--text takes 1 columns here"),
        ({"says": ["left"]}, "--says takes two words"),
        ({"scale": {"overall": [5.0, 1.0]}}, "needs a low and a high end"),
        ({"leave_out": ["eve"]}, "rater 'eve' is not in column 'rater'"),
        ({"judge": ["gpt"]}, "rater 'gpt' is not in column 'rater'"),
        ({"score": "x_{rater}"}, "rater is a column and in the names of columns"),
        ({"score": "x_{who}"}, "{who} is unknown"),
        ({"score": "{item}_{rater}"}, "wide columns vary in one thing"),
    ],
)
def test_roles_that_cannot_be_are_refused(frame, given, says):
    assert says in refusal(frame, (BadTableError, OptionError), **given)


def test_roles_that_say_too_little_are_refused(frame):
    for given, says in [
        (Roles(rater="rater"), "no column of scores is named"),
        (Roles(winner="overall"), "give --a"),
        (Roles(score="overall", judge=["x"]), "give --rater"),
        (Roles(score="overall", leave_out=["x"]), "--rater"),
        (Roles(score="rater_id"), "cannot be called 'rater_id'"),
    ]:
        renamed = frame.assign(rater_id=1)
        with pytest.raises(OptionError, match=says):
            roles.prepare(as_table(renamed), given)


def test_items_and_prompts_are_named_where_no_column_does(frame):
    found = roles.prepare(as_table(frame), Roles(score="overall"))
    assert found.frame["item_id"].nunique() == len(frame)
    assert found.frame["prompt_id"].equals(found.frame["item_id"])
    given = Roles(score="overall", prompt="prompt_id", system="model", rater="rater")
    found = roles.prepare(as_table(frame), given)
    assert found.frame["item_id"].nunique() == frame["item_id"].nunique()
    assert len(found.notes) == 1


def test_an_item_of_two_systems_is_refused(frame):
    message = refusal(frame.assign(item_id=frame["prompt_id"]))
    assert "item 'q00' has several values of the column of systems" in message


def test_copies_of_rows_are_left_out_and_counted(frame):
    copied = pd.concat([frame, frame.head(10)], ignore_index=True)
    found = prepared(copied)
    assert found.left_out == [("copies of another row", 10)]
    assert len(found.frame) == len(frame)
    # without raters equal rows may be ratings of two people
    found = roles.prepare(as_table(copied), Roles(score="overall", item="item_id"))
    assert len(found.frame) == len(copied)


def test_other_repeats_are_for_the_owner(frame):
    again = frame.head(3).assign(overall=6 - frame["overall"].head(3))
    again.loc[0, "overall"] = frame.loc[0, "overall"] % 5 + 1
    repeated = pd.concat([frame, again], ignore_index=True)
    message = refusal(repeated)
    assert "3 rows rate an item again" in message
    assert "--repeats" in message
    first = prepared(repeated, repeats="first").frame["overall"]
    assert first.tolist() == frame["overall"].tolist()
    last = prepared(repeated, repeats="last").frame["overall"]
    assert last.loc[len(frame) + 2] == again.loc[0, "overall"]
    mean = prepared(repeated, repeats="mean").frame["overall"]
    expected = (frame.loc[0, "overall"] + again.loc[0, "overall"]) / 2
    assert mean.loc[2] == expected
    assert prepared(repeated, repeats="mean").left_out[0][1] == 3


def test_sides_of_comparisons_are_not_taken_for_ratings():
    frame = rating_files.sides(rating_files.comparisons(20))
    given = {"rater": "worker", "item": "item", "prompt": "prompt"}
    given |= {"system": "system", "score": "outcome"}
    with pytest.raises(BadTableError, match="write a row for each comparison"):
        roles.prepare(as_table(frame), Roles(**given))


def test_wide_columns_become_rows(frame):
    wide = frame.pivot(index=["item_id", "model"], columns="rater", values="overall")
    wide = wide.add_prefix("overall_").reset_index()
    given = Roles(item="item_id", system="model", score="overall_{rater}")
    found = roles.prepare(as_table(wide), given)
    expected = frame.sort_values(["item_id", "rater"])["overall"]
    assert found.frame["overall"].tolist() == expected.tolist()
    assert found.people["label"].tolist() == list(rating_files.RATERS)
    loop = pd.DataFrame({"who": ["x", "y"], "1_Q1": [1, 2], "2_Q1": [3, 4]})
    found = roles.prepare(as_table(loop), Roles(rater="who", score="{item}_Q1"))
    assert found.frame["Q1"].tolist() == [1, 3, 2, 4]
    assert found.frame["item_id"].tolist() == ["1", "2", "1", "2"]
    found = roles.prepare(as_table(loop), Roles(score="{item}_Q1"))
    assert found.people["label"].tolist() == ["row 2", "row 3"]
    with pytest.raises(BadTableError, match="no column is called like"):
        roles.prepare(as_table(loop), Roles(score="{item}_Q7"))


def test_scores_by_name_and_value_become_columns(frame):
    long = frame.melt(["item_id", "rater"], ["overall", "clarity"])
    given = Roles(item="item_id", rater="rater", name="variable", value="value")
    given = roles.combine(given, {"score": "overall", "aspects": ["clarity"]})
    found = roles.prepare(as_table(long), given).frame
    assert found["overall"].tolist() == frame["overall"].tolist()
    assert found["clarity"].tolist() == frame["clarity"].tolist()
    wrong = roles.combine(given, {"score": "tone"})
    with pytest.raises(BadTableError, match="'tone' is not in column 'variable'"):
        roles.prepare(as_table(long), wrong)
    twice = pd.concat([long, long.head(1)])
    with pytest.raises(BadTableError, match="again for the same item_id and rater"):
        roles.prepare(as_table(twice), given)
    nameless = Roles(score="overall", name="variable", value="value")
    with pytest.raises(OptionError, match="--item"):
        roles.prepare(as_table(long), nameless)


def test_texts_become_numbers_of_words(frame):
    frame = frame.assign(answer="two words", words=7)
    assert set(prepared(frame, text=["answer"]).frame["length"]) == {2.0}
    assert set(prepared(frame, text=["words"]).frame["length"]) == {7.0}


def test_roles_survive_their_file(tmp_path):
    given = Roles(
        item='a "quoted" näme',
        score="x",
        aspects=["b", "c d"],
        missing=["9", "n.s."],
        words={"yes, it is": 1.0},
        scale={"x": [1.0, 5.0]},
        confirmed="yes",
    )
    path = tmp_path / "a.csv.toml"
    roles.write_toml(path, given, ["Roles."])
    assert roles.read_toml(path) == given
    assert roles.toml_beside("x/a.csv").name == "a.csv.toml"
    path.write_text('score = "x"\nmissing = [9, -1]\naspects = "b"\n')
    found = roles.read_toml(path)
    assert (found.missing, found.aspects) == (["9", "-1"], ["b"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("score = ", "is not valid TOML"),
        ("scores = 1", "'scores' is unknown"),
        ("score = 1", "score must be a text"),
        ("aspects = 1", "aspects must be a list"),
        ("scale = [1, 5]", "scale must be a table"),
    ],
)
def test_a_file_of_roles_that_cannot_be_read_is_refused(tmp_path, content, says):
    path = tmp_path / "a.csv.toml"
    path.write_text(content)
    with pytest.raises(OptionError, match=says):
        roles.read_toml(path)


def proposed(frame, **given):
    return proposal.propose(as_table(frame), Roles(**given))


def test_roles_are_proposed_from_content_with_a_reason(frame):
    found = proposed(frame)
    assert found.roles.given() == {
        "item": "item_id",
        "prompt": "prompt_id",
        "rater": "rater",
        "system": "model",
        "score": "overall",
        "aspects": ["clarity"],
        "scale": found.roles.scale,
    }
    assert set(found.reasons) == set(found.roles.given())
    assert "usually rated by 4 of rater" in found.reasons["item"]
    assert "usually 2 items within one" in found.reasons["prompt"]


def test_names_do_not_override_content(frame):
    names = {"clarity": "answer_relevancy", "overall": "maintains_context"}
    found = proposed(frame.rename(columns=names)).roles
    assert found.item == "item_id"
    assert {found.score, *found.aspects} == set(names.values())
    found = proposed(frame.rename(columns={"rater": "WorkerId"})).roles
    assert (found.rater, found.item) == ("WorkerId", "item_id")
    tokens = frame.assign(total_tokens=range(1000, 1000 + len(frame)))
    assert proposed(tokens).roles.score == "overall"


def test_what_the_owner_gives_stays(frame):
    found = proposed(frame, score="clarity", rater="model")
    assert (found.roles.score, found.roles.rater) == ("clarity", "model")
    assert found.reasons["score"] == "given by you"


def test_codes_judges_and_few_repeats_are_proposed(frame):
    frame = pd.concat([frame, frame.head(1).assign(overall=1, clarity=1)])
    frame.iloc[0, frame.columns.get_loc("overall")] = 9
    frame.iloc[-1, frame.columns.get_loc("overall")] = 2
    frame["rater"] = frame["rater"].replace("dan", "llama-3")
    found = proposed(frame).roles
    assert found.missing == ["9"]
    assert found.judge == ["llama-3"]
    assert found.repeats == "first"


def test_pairs_are_proposed(frame):
    found = proposed(rating_files.comparisons(20)).roles
    expected = {"a": "left", "b": "right", "winner": "winner", "ties": ["tie"]}
    assert expected.items() <= found.given().items()
    assert (found.prompt, found.rater) == ("prompt", "worker")
    said = rating_files.comparisons(20)
    is_tie = said["winner"] == "tie"
    is_left = said["winner"] == said["left"]
    said["winner"] = is_left.map({True: "model_a", False: "model_b"}).mask(
        is_tie, "tie"
    )
    assert proposed(said).roles.says == ["model_a", "model_b"]


def test_dates_that_were_ratings_stop_a_proposal(frame):
    frame["overall"] = frame["overall"].map({1: "5-Jan", 2: "5-Feb"}).fillna("5-Mar")
    with pytest.raises(BadTableError, match="Excel makes 5-Mar of 3/5"):
        proposed(frame)


def test_a_file_without_ratings_is_refused():
    with pytest.raises(BadTableError, match="no column looks like ratings"):
        proposed(pd.DataFrame({"text": ["some words", "other words"]}))


def test_wide_and_named_scores_are_proposed(frame):
    loop = pd.DataFrame({"ResponseId": ["R1", "R2", "R3", "R4", "R5"]})
    for item in range(1, 30):
        loop[f"{item}_Q1"] = [1, 2, 3, 4, 1 + item % 5]
        loop[f"{item}_Q2"] = [2, 2, 3, 5, 5]
    found = proposed(loop).roles
    assert (found.score, found.aspects) == ("{item}_Q2", ["{item}_Q1"])
    assert found.rater == "ResponseId"
    long = frame.melt(["item_id", "rater"], ["overall", "clarity"], var_name="name")
    found = proposed(long).roles
    assert (found.name, found.value, found.score) == ("name", "value", "overall")
    assert found.aspects == ["clarity"]


def test_counters_and_lists_are_no_ratings():
    rows = [[f"q{q}", m, e, q * e % 2] for q in range(9) for m in "xy" for e in (0, 1)]
    counted = pd.DataFrame(rows, columns=["question", "model", "epoch", "correct"])
    found = proposed(counted)
    assert found.roles.score == "correct"
    assert not found.roles.aspects
    assert any("epoch" in remark for remark in found.remarks)
    rows = {"item": [f"i{n}" for n in range(9)], "ratings": ["4,3,3"] * 9}
    listed = pd.DataFrame({**rows, "mean": [3.25, 3.5, 3.0] * 3, "flag": [0, 1, 0] * 3})
    found = proposed(listed)
    assert any("several numbers in a cell" in remark for remark in found.remarks)
    assert "ratings" not in (found.roles.score, *found.roles.aspects)


def test_numbers_of_raters_and_systems_are_no_ratings(frame):
    frame["rater"] = frame["rater"].map({"ann": 1, "ben": 2, "cat": 3, "dan": 4})
    frame["model"] = frame["model"].map({"oak": 0, "elm": 1})
    found = proposed(frame).roles
    assert (found.rater, found.system) == ("rater", "model")
    assert (found.score, found.aspects) == ("overall", ["clarity"])
    # a rating whose name says more than what it numbers stays one
    renamed = frame.rename(columns={"clarity": "user satisfaction"})
    assert proposed(renamed).roles.aspects == ["user satisfaction"]


def test_pairs_are_seen_by_their_sides():
    frame = rating_files.comparisons(20).rename(
        columns={"left": "model_a", "right": "model_b"}
    )
    frame["model_b"] = frame["model_b"].replace("fir", "ash")
    is_a = frame["winner"] == frame["model_a"]
    is_tie = frame["winner"] == "tie"
    said = is_a.map({True: "a_better", False: "b_better"}).mask(is_tie, "tie")
    found = proposed(frame.assign(winner=said)).roles
    assert (found.a, found.b, found.winner) == ("model_a", "model_b", "winner")
    assert found.says == ["a_better", "b_better"]
    coded = frame.drop(columns="winner").assign(
        won_a=is_a.astype(int), won_b=(~is_a & ~is_tie).astype(int)
    )
    with pytest.raises(BadTableError, match="no column says in words which was chosen"):
        proposed(coded)


def test_two_systems_in_a_cell_stop_a_proposal():
    frame = rating_files.comparisons(20)
    cells = frame["left"] + ", " + frame["right"]
    frame = frame.drop(columns=["left", "right"]).assign(options=cells, genre=1)
    with pytest.raises(BadTableError, match="'options' names two systems in each cell"):
        proposed(frame)


def test_several_choices_are_remarked_on():
    frame = rating_files.comparisons(20)
    frame = frame.assign(winner=frame["winner"], style=frame["winner"])
    found = proposed(frame)
    assert found.roles.winner == "winner"
    assert "style could be the winner, too: say which" in found.remarks


def test_lists_of_objects_are_named(frame):
    nested = frame.assign(notes='[{"from_name": "overall"}]')
    assert any(
        "notes holds lists of objects" in each for each in proposed(nested).remarks
    )
    with pytest.raises(BadTableError, match="lists of objects stand in notes"):
        proposed(nested[["item_id", "notes"]])
