"""No row is lost unsaid: names of columns, odd files, and an account of all rows."""

import json

import numpy as np
import pandas as pd
import pytest

from helpers import paths
from helpers.data.tables import BadTableError, OptionError
from ratings import accounts, inspection, intake, recipes, report
from ratings.accounts import Account
from ratings.parsing import RESERVED

ATLAS = paths.ROOT.parent / "shared" / "data" / "atlas"
SHIPPED = {
    "alttest_summeval": "alttest/summeval_human_annotations.json",
    "asset": "asset/human_ratings.csv",
    "dialsummeval": "dialsummeval/human_judgment.jsonl",
    "dices": "dices/dices_350_crowdsourced.json",
    "fed": "fed/fed_data.json",
    "finegrained_rlhf": "finegrained_rlhf/dev_feedback.json",
    "hanna": "hanna/hanna_metric_scores_llm.csv",
    "judge_bench_recipes": "recipes/meta_evaluation_recipes.json",
    "medical_safety": "medical_safety/medicheck-crowd.csv",
    "mqm": "wmt_mqm_ende/mqm_ted_ende.tsv",
    "newsroom": "newsroom/newsroom.json",
    "roscoe": "roscoe/roscoe-drop-overall.json",
    "simpeval_da": "simpeval/simpDA_2022.csv",
    "simpeval_likert": "simpeval/simplikert_2022.csv",
    "squality": "squality/all-responses.jsonl",
    "summeval": "summeval_expert_crowd/cnndm_THumB-1.0.jsonl",
    "ttcw": "ttcw/ttcw_annotations.json",
}
# other exports of tools are tried in test_ratings_inspection.py

MARKS = np.random.default_rng(20261122).integers(1, 6, (240, 3))


@pytest.fixture
def page(tmp_path):
    """Write a file, look at it, write its page; give recipe, results and page."""

    def page(content, name="mine.csv"):
        path = tmp_path / name
        path.write_text(content)
        seen = inspection.inspect(path)
        out = tmp_path / "page.html"
        report.write_page(path, seen.recipe, out, lambda _: None)
        results = json.loads(out.with_suffix(".json").read_text())
        return seen, results, out.read_text()

    return page


def lines(header, rows):
    return "\n".join([header, *rows]) + "\n"


def test_a_column_called_source_divides_no_rating(tmp_path):
    # The text of the source marks each error in another place.
    rows = [
        "a,r1,Style,minor,one <v>two</v>",
        "a,r1,Style,minor,<v>one</v> two",
        "b,r1,none,none,three",
    ]
    path = tmp_path / "errors.csv"
    path.write_text(lines("id,rater,kind,cost,source", rows))
    recipe = {"item": "id", "rater": "rater", "count": "kind", "sum": "cost"}
    recipe |= {"outcome": "cost", "aspects": ["Style"]}
    recipe |= {"marks": {"kind": {"none": ""}, "cost": {"minor": "1", "none": "0"}}}
    ratings = recipes.read(path, recipe)
    assert ratings[["Style", "cost"]].to_numpy().tolist() == [[2, 2], [0, 0]]
    assert ratings["source"].unique().tolist() == ["real"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["simulated", "simulated"], "simulated"),
        (["simulated", "real"], "simulated"),
        (["simulated", "a web page"], "real"),
        (["", "Reuters"], "real"),
    ],
)
def test_source_is_our_word_only_where_it_says_nothing_else(tmp_path, words, expected):
    path = tmp_path / "a.csv"
    path.write_text(lines("tone,source", [f"{n},{w}" for n, w in enumerate(words)]))
    ratings = recipes.read(path, {"aspects": ["tone"]})
    assert ratings["source"].tolist() == [expected] * 2


@pytest.mark.parametrize("name", RESERVED)
def test_a_mark_with_a_name_of_ours_is_called_otherwise(tmp_path, name):
    path = tmp_path / "a.csv"
    path.write_text(lines(f"text,overall,{name}", [f"t{n},{n},1" for n in range(5)]))
    with pytest.raises(OptionError, match=f"call: {{{name}: my {name}}}"):
        recipes.read(path, {"aspects": [name]})
    recipe = {"aspects": ["mine"], "call": {name: "mine"}}
    assert recipes.read(path, recipe)["mine"].tolist() == [1] * 5


def test_inspect_proposes_another_name_for_marks_with_a_name_of_ours(page):
    rows = [f"t{n},{a},{b},{c}" for n, (a, b, c) in enumerate(MARKS)]
    seen, results, _ = page(lines("text,overall,covariate,cluster", rows))
    assert seen.recipe["call"] == {
        "covariate": "covariate (rating)",
        "cluster": "cluster (rating)",
    }
    judged = [each["name"] for each in results["verdicts"][report.ASPECTS]]
    assert sorted(judged) == ["cluster (rating)", "covariate (rating)"]


def test_columns_give_way_to_those_that_are_made(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("rater,score,r1_tone,r2_tone\nanna,7,1,2\nbob,8,3,4\n")
    recipe = {"names": r"r(?P<rater>\d)_(?P<aspect>tone)", "aspects": ["tone"]}
    recipe |= {"rater": "rater (column)", "item": ["rater", "score (column)"]}
    ratings = recipes.read(path, recipe)
    assert ratings["item_id"].tolist() == ["1 / 7", "1 / 8", "2 / 7", "2 / 8"]
    assert ratings["rater_id"].nunique() == 2
    assert sorted(ratings["tone"]) == [1, 2, 3, 4]


def test_a_column_that_is_mark_and_item_at_once_keeps_its_marks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("tone\nbad\ngood\n")
    recipe = {"item": "tone", "aspects": ["tone"]}
    recipe["marks"] = {"tone": {"bad": "1", "good": "2"}}
    ratings = recipes.read(path, recipe)
    assert ratings["tone"].tolist() == [1, 2]
    assert ratings["item_id"].tolist() == ["bad", "good"]


def test_a_name_is_not_given_twice(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x.tone,tone\n1,2\n")
    recipe = {"call": {"x.tone": "tone"}, "aspects": ["tone"]}
    with pytest.raises(OptionError, match="call: there is a column 'tone' already"):
        recipes.read(path, recipe)


def test_a_questionnaire_in_two_parts_has_a_page(page):
    rows = []
    for n, (overall, tone, clear) in enumerate(MARKS):
        parts = f"{tone}," if n % 2 else f",{clear}"
        rows.append(f"i{n // 4},r{n % 7},{overall},{parts}")
    _, results, _ = page(lines("item,rater,overall,tone,clear", rows))
    assert results["sections"]


@pytest.mark.parametrize("key", ["tone", "to\ud800ne"])
def test_half_a_character_stops_nothing(page, key):
    records = []
    for n, (overall, tone, _) in enumerate(MARKS):
        rater = ("r\ud800", "r\ud801")[n % 2]
        record = {"id": f"i{n // 2}", "rater": rater, "text": "a\ud83d"}
        records.append(json.dumps({**record, "overall": int(overall), key: int(tone)}))
    seen, _, _ = page("\n".join(records), "mine.jsonl")
    assert seen.sample["rater_id"].nunique() == 2
    assert seen.recipe["aspects"] == [key.replace("\ud800", "\\ud800")]


def test_inspect_runs_the_recipe_that_it_writes(page):
    rows = [f"i{n},{a},{b},{b},{c}" for n, (a, b, c) in enumerate(MARKS)]
    seen, _, _ = page(lines("item,overall,tone,tone,clear", rows))
    assert seen.recipe["aspects"] == ["clear"]
    assert "Several columns have one name and are not read: 'tone'." in seen.notes
    assert len(seen.sample) == 10


def test_inspect_keeps_the_names_that_a_recipe_gives(tmp_path):
    experts = [{"coherence": 1, "consistency": 2, "fluency": 3, "relevance": 4}] * 3
    marks = dict.fromkeys(experts[0], 2.5)
    texts = {"SYS": "M1", "hyp": "a text"}
    records = []
    for n in range(12):
        record = {"seg_id": f"s{n}", "expert_annotations": experts, **marks, **texts}
        records.append(json.dumps(record))
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(records))
    seen = inspection.inspect(path)
    assert seen.recipe["call"]["coherence"] == "mean coherence"
    assert recipes.read(path, seen.recipe)["relevance"].tolist() == [4] * 36


def test_only_the_columns_that_a_recipe_needs_are_read():
    names = ["Model", "Human 1 RE", "Human 2 RE", "BLEU", "ROUGE", "source", "tone"]
    recipe = {"names": r"Human (?P<copy>\d) (?P<aspect>[A-Z]{2})"}
    recipe |= {"item": ["story", "Model"], "lists": {"score": "story"}}
    recipe |= {"call": {"RE": "relevance"}, "outcome": "relevance"}
    found = recipes.columns_to_load(recipe, names)
    assert found == ["Model", "Human 1 RE", "Human 2 RE", "source"]


def test_columns_that_are_not_needed_may_have_one_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("r1_tone,r2_tone,x,x,source,source\n1,2,3,4,5,6\n")
    recipe = {"names": r"r(?P<rater>\d)_(?P<aspect>tone)", "aspects": ["tone"]}
    ratings = recipes.read(path, recipe | {"rater": "rater"})
    assert isinstance(ratings, pd.DataFrame)
    assert ratings["tone"].tolist() == [1, 2]


def test_each_row_that_is_left_out_is_named(page):
    rows = [f"i{n // 3},r{n % 3},{a},{b}" for n, (a, b, _) in enumerate(MARKS)]
    rows[4] = "i1,r1,,3"
    rows[5] = "i1,r2,4,"
    rows[7] = rows[6]
    rows[9] = ",,,"
    rows[10] = "i3,r1,k.A.,3"
    _, results, shown = page(lines("item,rater,overall,tone", rows))
    steps = results["rows"]
    # k.A. is taken for "no rating" by the recipe: the first row is the header
    assert [(row["step"], row["change"], row["left"]) for row in steps] == [
        ("rows read, without empty ones", 239, 239),
        ("rated again: the first rating counts", -1, 238),
        ("no value for overall", -2, 236),
        ("no value for tone", -1, 235),
    ]
    assert [row["where"] for row in steps] == [
        "empty: row 11",
        "row 9",
        "row 6, row 12",
        "row 7",
    ]
    assert "Rows read: 239; ratings used: 235" in shown


@pytest.mark.parametrize("name", SHIPPED)
def test_rows_add_up_with_each_recipe_that_is_shipped(name):
    file = ATLAS / SHIPPED[name]
    if not file.is_file():
        pytest.skip("the public data are not here")
    recipe = recipes.from_yaml(name)
    if "count" in recipe and "aspects" not in recipe:
        recipe = inspection.inspect(file, recipe).recipe
    account = Account()
    table = recipes.read(file, recipe, account)
    steps = account.table()
    assert account.left == len(table)
    assert (steps["change"].cumsum() == steps["left"]).all()
    if "outcome" not in recipe or "aspects" not in recipe:
        return
    study = intake.prepare(
        table,
        recipe["outcome"],
        recipe["aspects"],
        recipes.scales(recipe),
        account,
    )
    assert account.left == len(study.frame)
    lost = account.table()[len(steps) :]
    assert lost["where"].str.len().gt(0).all()
    if name == "mqm":  # as many as there are segments of a system by a rater
        assert len(table) == 7406


def test_every_recipe_that_is_shipped_is_tried():
    tools = {"argilla", "label_studio", "potato", "prodigy", "prolific", "qualtrics"}
    shipped = {file.stem for file in recipes.SHIPPED.glob("*.yaml")}
    assert shipped == {*SHIPPED, *tools}


def test_words_without_marks_and_marks_off_their_scale_say_what_to_do(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("tone,clear\nfab,1\nmeh,-1\n")
    recipe = {"aspects": ["tone", "clear"], "scales": {"clear": ["0", "5"]}}
    with pytest.raises(BadTableError) as caught:
        recipes.read(path, recipe)
    message = str(caught.value)
    assert "'tone', not a number (say what words mean in `marks`): row 2" in message
    assert "list codes in `missing`, or write 'outside: drop'): row 3 '-1'" in message


def test_a_line_for_excel_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("sep=,\ntext,tone\na,1\nb,2\n")
    recipe = {"aspects": ["tone"]}
    with pytest.raises(BadTableError, match=r"row 1 says 'sep=', .*: delete this row"):
        recipes.read(path, recipe)


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ({"lists": {"people": "copy"}, "outcome": "people.overall"}, ["model"]),
        ({"lists": {"people": "copy"}, "outcome": "overall"}, ["overall", "model"]),
        ({"lists": {"model": "story"}, "item": ["story"], "outcome": "tone"}, []),
        (
            {"names": r"r(?P<rater>\d)", "rater": ["rater"], "outcome": "score"},
            ["model"],
        ),
        ({"names": r"q(?P<item>\d)", "rater": ["who"], "outcome": "score"}, []),
        ({"outcome": "overall"}, []),
    ],
)
def test_values_beside_a_list_of_ratings_are_no_marks_of_each(recipe, expected):
    recipe = recipes.parse({**recipe, "aspects": ["model"]})
    assert recipes.repeated_values(recipe) == expected


def test_people_do_not_agree_on_one_value_of_a_model(tmp_path):
    records = []
    for n in range(0, 240, 3):
        people = [{"overall": int(a), "tone": int(b)} for a, b, _ in MARKS[n : n + 3]]
        model = int(MARKS[n, 2])
        records.append({"id": f"i{n}", "people": people, "model_score": model})
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(records))
    called = {"people.overall": "overall", "people.tone": "tone"}
    recipe = {"item": "id", "lists": {"people": "copy"}, "position": "copy"}
    recipe |= {"call": called, "outcome": "overall", "aspects": ["tone", "model_score"]}
    page = report.write_page(path, recipe, tmp_path / "page.html", lambda _: None)
    results = json.loads(page.with_suffix(".json").read_text())
    shown = page.read_text()
    tables = results["sections"][report.AGREEMENT]["tables"]
    rows = {row["index"]: row for row in tables["Agreement on each column"]}
    assert list(rows) == ["overall", "tone"]
    assert rows["overall"]["ratings"] == "240"
    assert "1.00 [1.00, 1.00]" not in shown


def test_empty_lines_are_named_and_the_header_may_stand_below_some(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n\nitem;tone\na;1\n\nb;2\n;\nc;3\n\n")
    account = Account()
    ratings = recipes.read(path, {"item": "item", "aspects": ["tone"]}, account)
    assert ratings.index.tolist() == [4, 6, 8]
    assert account.steps[0] == (accounts.READ, 3, 3, "empty: row 5, row 7")


@pytest.mark.parametrize(("words", "top"), [("Yes. No.", 1), ("yes No. NO", 1)])
def test_answers_may_end_with_a_full_stop(page, words, top):
    answers = words.split()
    rows = [f"t{n},{answers[a % 2]},{b}" for n, (a, b, _) in enumerate(MARKS)]
    seen, results, _ = page(lines("text,polite,overall", rows))
    assert seen.recipe["aspects"] == ["polite"]
    assert "Unreadable" not in results["ratings"]


def test_words_with_a_full_stop_mean_what_they_mean_without(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(lines("tone", ["Good.", "bad", "Good", "Yes.", "No."]))
    recipe = {"aspects": ["tone"], "marks": {"tone": {"good": 3, "bad": 2}}}
    assert recipes.read(path, recipe)["tone"].tolist() == [3, 2, 3, 1, 0]


def test_kinds_of_error_that_are_no_aspects_are_named(tmp_path):
    path = tmp_path / "a.csv"
    rows = ["a,Style,1", "a,Typo,1", "b,Typo,1", "b,Tone,1"]
    path.write_text(lines("item,kind,cost", rows))
    recipe = {"item": "item", "count": "kind", "sum": "cost", "outcome": "cost"}
    account = Account()
    recipes.read(path, recipe | {"aspects": ["Tone"]}, account)
    told = [step for step in account.steps if not step.change]
    text = "kinds of error that are no aspects: 'Typo' (2), 'Style' (1)"
    assert told == [(text, 0, 4, "")]


def test_exports_with_the_same_columns_are_told_apart_by_their_scales(tmp_path):
    path = tmp_path / "a.csv"
    header = "WorkerId,Input.id,Input.system,Answer.adequacy,Answer.fluency"
    rows = [f"{n % 3},{n // 3},s,{a},{b},{c - 3}" for n, (a, b, c) in enumerate(MARKS)]
    path.write_text(lines(f"{header},Answer.simplicity", rows))
    assert inspection.inspect(path).recipe["scales"]["simplicity"] == ["-2", "2"]
    path.write_text(path.read_text().replace("-", "8"))
    assert inspection.inspect(path).recipe["scales"]["simplicity"] == ["0", "100"]
