"""A first look at files of many shapes: what is proposed, and what is asked.

The exports of tools have the form that these document: Label Studio (guide, "task
format"), Argilla (`Record.to_dict`), Potato ("export formats"), Prodigy (the choice
interface), Qualtrics ("understanding your dataset"), Prolific (parameters of a study's
address) and the error tables of Google's MQM viewer.
"""

import json
import re

import numpy as np
import pandas as pd
import pytest

from helpers.data.tables import BadTableError
from ratings import recipes
from ratings.accounts import Account
from ratings.inspection import inspect, recipe_for
from ratings.questions import open_questions

N = 60
ITEMS = [f"i{k // 3}" for k in range(N)]
PEOPLE = [f"r{k % 3}" for k in range(N)]


def waves(n=N, low=1, high=5):
    """Ratings that rise and fall."""
    return [low + k * 7 % (high - low + 1) for k in range(n)]


def tidy(**cells):
    """A row for each rating of twenty items by three people."""
    usual = {"item": ITEMS, "rater": PEOPLE, "overall": waves(), "tone": waves()[::-1]}
    return pd.DataFrame(usual | cells)


@pytest.fixture
def look(tmp_path):
    """Write a file, look at it, and read it as proposed."""

    def look(content, name="mine.csv", **known):
        path = tmp_path / name
        if isinstance(content, pd.DataFrame) and name.endswith(".parquet"):
            content.to_parquet(path)
        elif isinstance(content, pd.DataFrame):
            content.to_csv(path, index=False)
        else:
            path.write_text(
                content if isinstance(content, str) else json.dumps(content)
            )
        seen = inspect(path, known)
        if seen.problem:
            return seen, None
        account = Account()
        found = recipes.read(path, seen.recipe, account)
        assert account.table()["change"].sum() == account.left == len(found)
        return seen, found

    return look


def asked(seen, start):
    """Give the one open question that begins so."""
    (found,) = [
        each
        for each in seen.recipe.get("questions", [])
        if each["ask"].startswith(start)
    ]
    return found


def noted(seen, words):
    return any(words in note for note in seen.notes)


def answered(seen, **answers):
    """Answer all questions: those that hold a word as told, the others as proposed."""
    filled = []
    for each in seen.recipe["questions"]:
        told = [answers[word] for word in answers if word in each["ask"]]
        filled.append({**each, "answer": told[0] if told else each["proposed"]})
    return recipes.parse({**seen.recipe, "questions": filled})


def parts(seen):
    return dict(zip(seen.parts["column"], seen.parts["taken for"], strict=True))


# Shapes from which a page would say something wrong if nobody were asked: what the file
# holds, how the question begins, and what the proposed answer sets.
ONE_ON_100 = [
    20 * mark if p == "r1" else mark for mark, p in zip(waves(), PEOPLE, strict=True)
]
ONE_ON_1 = [
    (mark - 1) / 4 if p == "r1" else mark
    for mark, p in zip(waves(), PEOPLE, strict=True)
]
TICKED = np.eye(5, dtype=int)[[mark - 1 for mark in waves()]].T
SHAPES = {
    "9 for don't know": (
        tidy(tone=[9, *waves(N - 1)]),
        "tone: 9 stands beside ratings from 1 to 5.",
        {"missing": ["9"]},
    ),
    "99 in one column, a rating in another": (
        tidy(tone=[99, *waves(N - 1)], effort=waves(high=100)),
        "tone: 99 stands beside ratings from 1 to 5.",
        {"marks": {"tone": {"99": ""}}},
    ),
    "-1 for don't know": (
        tidy(tone=[-1, *waves(N - 1)]),
        "tone: -1 stands beside ratings from 1 to 5.",
        {"missing": ["-1"]},
    ),
    "0 where the other scale begins at 1": (
        tidy(tone=[0, *waves(N - 1)]),
        "tone: 0 stands beside ratings from 1 to 5.",
        {"missing": ["0"]},
    ),
    "one rater from 1 to 100": (
        tidy(overall=ONE_ON_100),
        "overall: ratings by r1 go from 20 to 100, by all others from 1 to 5.",
        {"without": {"rater": ["r1"]}},
    ),
    "one rater from 0 to 1": (
        tidy(overall=ONE_ON_1),
        "overall: ratings by r1 go from 0.25 to 1, by all others from 1 to 5.",
        {"without": {"rater": ["r1"]}},
    ),
    "options of a radio button, numbered": (
        tidy(**{f"tone_{k + 1}": TICKED[k] for k in range(5)}).drop(columns="tone"),
        "In each row one of tone_1, tone_2, tone_3, tone_4, tone_5 is ticked.",
        {"radio": {"tone": {f"tone_{k}": str(k) for k in range(1, 6)}}},
    ),
    "options of a radio button, true and false": (
        tidy(**{f"Answer.tone.{k + 1}": TICKED[k] == 1 for k in range(5)}),
        "In each row one of Answer.tone.1, Answer.tone.2,",
        {"radio": {"Answer.tone": {f"Answer.tone.{k}": str(k) for k in range(1, 6)}}},
    ),
    "options of a radio button, by word or nothing": (
        tidy(
            **{
                word: [word if tick else "" for tick in TICKED[k]]
                for k, word in enumerate(["awful", "bad", "fair", "good", "superb"])
            }
        ),
        "In each row one of awful, bad, fair, good, superb is ticked.",
        {
            "radio": {
                "choice": {
                    "awful": "1",
                    "bad": "2",
                    "fair": "3",
                    "good": "4",
                    "superb": "5",
                }
            }
        },
    ),
    "the month of a time stamp": (
        tidy(month=[1 + k % 12 for k in range(N)], hour=[k % 24 for k in range(N)]),
        "month, hour: ignored as times or parts of dates.",
        {},
    ),
    "seconds since 1970": (
        tidy(begun=[1_770_593_458 + 61 * (k * k % 97) for k in range(N)]),
        "begun: ignored as times or parts of dates.",
        {},
    ),
    "scores of metrics": (
        tidy(bleu=waves(), ROUGE_L=waves(), logit=waves()),
        "bleu, ROUGE_L, logit: ignored as computed by a program",
        {},
    ),
    "probabilities": (
        tidy(correct=[(k * 37 % 101) / 101 for k in range(N)]),
        "correct: ignored as computed by a program",
        {},
    ),
    "names that differ in case": (
        tidy(model=["GPT-4", "gpt-4", "Llama"] * 20),
        "model: 'GPT-4' and 'gpt-4'. Are these the same?",
        {"fold": ["model"]},
    ),
    "two columns that could be the overall rating": (
        tidy(quality=waves(high=4)),
        "Which column is the overall rating",
        {"outcome": "overall"},
    ),
    "no overall rating": (
        tidy(clear=waves(high=4)).drop(columns="overall"),
        "Which column is the overall rating",
        {},
    ),
    "an undeclared scale": (
        tidy(),
        "overall, tone: which ratings could be given? The file has 1 to 5.",
        {"scales": {"overall": ["1", "5"], "tone": ["1", "5"]}},
    ),
    "a scale in the name of a column": (
        tidy(**{"clear (0-10)": waves()}),
        "clear (0-10): which ratings could be given? The file has 1 to 5.",
        {"scales": {"clear (0-10)": ["0", "10"]}},
    ),
    "items with several rows, and no raters": (
        tidy().drop(columns="rater"),
        "20 of 20 items have several rows, and no column says who rated.",
        {},
    ),
    "raters, and no item": (
        tidy().drop(columns="item"),
        "No column says what was rated",
        {},
    ),
    "words": (
        tidy(tone=["good", "bad", "neutral"] * 20),
        "tone: if the words bad, good, neutral are ratings",
        {"marks": {"tone": {"bad": "1", "neutral": "2", "good": "3"}}},
    ),
    "words without a known order": (
        tidy(country=["CH", "DE", "AT"] * 20),
        "country: if the words AT, CH, DE are ratings",
        {},
    ),
    "a sign or nothing": (
        tidy(rude=["x", "", ""] * 20),
        "rude: cells hold one sign or nothing.",
        {"marks": {"rude": {"x": "1", "": "0"}}},
    ),
    "words among numbers": (
        tidy(tone=["skipped", *waves(N - 1)]),
        "tone holds numbers, and in 1 cells 'skipped' (first in row 2).",
        {"missing": ["skipped"]},
    ),
    "a second header": (
        pd.concat([pd.DataFrame([dict.fromkeys(tidy(), "How?")]), tidy()]),
        "overall holds numbers, and in 1 cells 'How?' (first in row 2).",
        {"missing": ["How?"]},
    ),
    "columns that differ in case": (
        tidy(Tone=waves()),
        "Several columns are called 'tone' but for case and spaces.",
        {},
    ),
    "columns with letters": (
        pd.DataFrame({"item": range(N), "tone_A": waves(), "tone_B": waves()}),
        "There is a column of tone for each of A, B.",
        {"names": "(?P<aspect>tone)[ _.-](?P<rater>A|B)", "rater": ["rater"]},
    ),
    "columns with numbers": (
        pd.DataFrame({"item": range(N), "rater1": waves(), "rater2": waves()}),
        "There is a column for each of rater1, rater2.",
        {"position": ["rater"], "outcome": "score"},
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_may_mislead_is_asked(look, tmp_path, shape):
    table, start, expected = SHAPES[shape]
    seen, _ = look(table)
    question = asked(seen, start)
    assert question["ask"] in open_questions(seen.recipe)
    if "proposed" not in question:  # somebody has to say
        options = list(question["options"])
        assert options in (["yes"], ["none", "tone", "clear"])
        question["proposed"] = options[0]
    recipe = answered(seen)
    assert not open_questions(recipe)
    found = recipes.read(tmp_path / "mine.csv", recipe)
    assert len(found)
    for key, value in expected.items():
        if isinstance(value, dict):
            assert value.items() <= recipe[key].items()
        else:
            assert recipe[key] == value
    # nothing is asked twice
    assert inspect(tmp_path / "mine.csv", recipe).recipe == recipe


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (
            "prompt,response_a,response_b,winner\n" + "p,x,y,a\nq,x,y,tie\n" * 9,
            "mine.csv",
            "'winner': each row compares two answers, .* write one row for each answer",
        ),
        (
            [{"id": k, "reviews": [{"by": "x", "tone": 1}]} for k in range(9)],
            "a.json",
            "ratings seem to stand in lists or objects: write the file with one row",
        ),
        (
            {who: {f"t{k}__tone": k % 5 for k in range(9)} for who in ("a", "b")},
            "a.json",
            "ratings seem to stand in lists or objects: write the file with one row",
        ),
        (
            "Pilot\nitem,overall,tone\na,1,2\nb,2,3\n",
            "mine.csv",
            r"most rows have 3 cells, but row 1, .* write 'skip: \[1\]' in a recipe",
        ),
        ("who,what\nanna,some\nben,thing\n", "mine.csv", "names no outcome"),
    ],
)
def test_other_shapes_get_one_sentence_on_what_to_do(look, content, name, message):
    try:
        problem = look(content, name)[0].problem
    except BadTableError as error:
        problem = str(error)
    assert re.search(message, problem)


def test_a_plain_file(look):
    seen, found = look(
        tidy(
            prompt=[f"p{k // 12}" for k in range(N)], words=waves(high=90), note="fine"
        )
    )
    assert parts(seen) == {
        "item": "item",
        "rater": "rater",
        "prompt": "cluster",
        "words": "covariate",
        "overall": "outcome",
        "tone": "aspect",
        "note": "ignored",
    }
    assert len(found) == N
    assert len(seen.sample) == 10
    assert "60 rows, 7 columns; understood as 60 ratings of 20 items" in str(seen)
    assert re.search("overall  outcome    numbers from 1 to 5\n", str(seen))
    assert "Open questions:\n1. overall, tone: which ratings could be given?" in str(
        seen
    )


def test_one_row_for_each_aspect(look):
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


def test_another_answer_takes_the_columns_as_they_are(look, tmp_path):
    marks = {"overall_A": waves(), "overall_B": waves(high=4), "tone_A": waves()}
    seen, _ = look(pd.DataFrame({"item": range(N), **marks, "tone_B": waves(high=3)}))
    (first, *_) = seen.recipe["questions"]
    assert first["proposed"] == "people"
    for answer, n_rows, role in (
        ("people", 2 * N, "rater_id"),
        ("unnamed people", 2 * N, "position"),
        ("systems", 2 * N, "system_id"),
        ("different questions", N, "overall_A"),
    ):
        recipe = recipes.parse(
            {**seen.recipe, "questions": [{**first, "answer": answer}]}
        )
        again = inspect(tmp_path / "mine.csv", recipe)
        found = recipes.read(tmp_path / "mine.csv", again.recipe)
        assert (len(found), role in found) == (n_rows, True)
        assert first["ask"] not in open_questions(again.recipe)
    # a report by this recipe proposes what the answer left open
    recipes.write_yaml(recipe, tmp_path / "a.yaml", "mine.csv")
    seen = recipe_for(tmp_path / "mine.csv", tmp_path / "a.yaml")
    assert seen.recipe["aspects"] == ["overall_B", "tone_A", "tone_B"]


@pytest.mark.parametrize(
    ("cells", "ratings", "note"),
    [
        (["4 - Good", "5 - Great", ""], [4, 5, None], "with which a cell begins"),
        (["4/5", "3/5", "1/5"], [4, 3, 1], "with which a cell begins"),
        (["80 %", "7.5 %", "0 %"], [80, 7.5, 0], "with which a cell begins"),
        (["1,5", "2", "3"], [1.5, 2, 3], "a number is taken as a decimal point"),
        (["1", "k.A.", "?"], [1, None, None], "Taken as no rating: k.A., ?."),
        (["1", "2", "N/A (why)"], [1, 2, None], "Taken as no rating: N/A *."),
    ],
)
def test_what_is_certain_is_noted(look, cells, ratings, note):
    seen, found = look(tidy(tone=cells * 20))
    assert noted(seen, note)
    tone = found["tone"].astype(object).where(found["tone"].notna(), None)
    assert tone.tolist() == ratings * 20


@pytest.mark.parametrize(
    "cells",
    [
        ["11/05/2026", "12/05/2026"],
        ["2026-11-05T10:00", "2026-12-05T11:00"],
        ["9:30", "8:15"],
    ],
)
def test_dates_are_no_ratings(look, cells):
    seen, _ = look(tidy(when=cells * 30))
    assert parts(seen)["when"] == "ignored"
    assert seen.recipe["aspects"] == ["tone"]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Lfd", list(range(N))),
        ("text_id", waves()),
        ("heat", [0.7] * N),
        ("comment", ["fine", "", "ok"] * 20),
        ("summary_b", waves()),
    ],
)
def test_numbers_and_words_that_nobody_rated_are_ignored(look, name, cells):
    seen, _ = look(tidy(**{name: cells}))
    assert "tone" in seen.recipe["aspects"]
    assert name not in seen.recipe["aspects"]


def test_codes_within_a_scale_are_ratings(look):
    seen, _ = look(tidy(tone=waves(low=0, high=100), clear=waves(high=10)))
    asks = " ".join(open_questions(seen.recipe))
    assert "stands beside" not in asks


@pytest.mark.parametrize("names", [["q1", "q2"], ["score_flu", "score_coh"]])
def test_names_of_different_questions_are_not_asked_about(look, names):
    seen, _ = look(tidy(**dict.fromkeys(names, waves())))
    assert "names" not in seen.recipe
    assert set(names) <= set(seen.recipe["aspects"])


def test_sentences_as_names_say_less(look):
    question = "How good is the answer, as an expert sees it?"
    table = pd.DataFrame(
        {
            "Timestamp": [f"2026/11/0{n % 9 + 1} 10:00" for n in range(30)],
            "Email Address": [f"{'abc'[n % 3]}@uni.example" for n in range(30)],
            "Which answer did you read on the card?": [n // 2 for n in range(30)],
            question: waves(30),
            "It is correct.": ["agree", "disagree", "Strongly agree"] * 10,
        }
    )
    seen, found = look(table)
    assert seen.recipe["rater"] == ["Email Address"]
    assert seen.recipe["item"] == ["Which answer did you read on the card?"]
    assert seen.recipe["aspects"] == [question, "It is correct."]
    assert len(found) == 30


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


def test_what_is_known_stays_and_is_not_asked_again(look):
    marks = {"tone": {"bad": "0", "fair": "4", "good": "10"}}
    scales = {"tone": ["0", "10"]}
    table = tidy(tone=["bad", "good", "fair"] * 20, other=waves())
    seen, found = look(
        table, outcome="tone", aspects=["overall"], marks=marks, scales=scales
    )
    assert (seen.recipe["outcome"], seen.recipe["aspects"]) == ("tone", ["overall"])
    assert (seen.recipe["marks"], seen.recipe["scales"]) == (marks, scales)
    assert set(found["tone"]) == {0, 4, 10}
    assert seen.recipe["rater"] == ["rater"]
    (only,) = open_questions(seen.recipe)
    assert only.startswith("overall: which ratings could be given?")
    seen, _ = look(tidy(other=waves()), aspects=["tone"])
    assert (seen.recipe["outcome"], seen.recipe["aspects"]) == ("overall", ["tone"])


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
    assert noted(seen, "recipe label_studio.")
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
    assert noted(seen, "recipe argilla.")
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
    assert noted(seen, "recipe potato.")
    assert (
        asked(seen, "handling.Urgency: if the words")["proposed"] == "low, medium, high"
    )
    assert found["handling.Urgency"].tolist() == [1, 3, 1, 2]


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
    assert noted(seen, "recipe qualtrics.")
    assert len(found) == 6
    assert set(found["item_id"]) == {"1", "2"}
    assert set(found["Q1"]) == {4, 5}


def test_prolific(look):
    text = "PROLIFIC_PID,STUDY_ID,SESSION_ID,response_id,overall,clear\n" + "".join(
        f"pid{n % 3},study,s{n % 3},resp{n // 3},{n % 5},{n % 2}\n" for n in range(12)
    )
    seen, found = look(text)
    assert noted(seen, "recipe prolific.")
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
    assert noted(seen, "recipe mqm.")
    assert seen.recipe["aspects"] == ["Fluency/Grammar", "Style", "Untranslated text"]
    assert "questions" not in seen.recipe  # numbers of errors have no scale
    assert found["severity"].tolist() == [6, 0, 1]
    assert found["Style"].tolist() == [1, 0, 1]


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
    assert noted(seen, "Read as an export of Prodigy's choice interface")
    assert seen.recipe["aspects"] == ["WORDY", "WRONG"]
    assert seen.recipe["system"] == ["meta.model"]
    kept = [row for row in rows if row["answer"] != "ignore"]
    assert len(found) == len(kept) < len(rows)
    assert found["rater_id"].nunique() == 3
    assert found["item_id"].nunique() == 20
    assert found["WRONG"].tolist() == ["WRONG" in row["accept"] for row in kept]
    assert found["answer"].tolist() == [row["answer"] == "accept" for row in kept]


def test_people_with_numbers_are_proposed_as_raters_before_their_order_is_asked(look):
    people = [f"person {k % 3 + 1}" for k in range(N)]
    table = tidy(who=people, country=["CH", "DE", "AT", "CH"] * 15)
    seen, _ = look(table.drop(columns="rater"))
    first, second, *_ = seen.recipe["questions"]
    assert "no column says who rated" in first["ask"]
    assert first["proposed"] == "who"
    assert second["ask"].startswith("who: if the words person 1,")
    rest = [{**first, "answer": "who"}, *seen.recipe["questions"][1:]]
    recipe = recipes.parse({**seen.recipe, "questions": rest})
    assert recipe["rater"] == ["who"]
    left = " ".join(open_questions(recipe))
    assert "who:" not in left
    assert "country: if the words" in left


def test_the_first_column_of_a_wide_file_is_proposed_as_item(look):
    names = [f"{aspect}_{who}" for who in ("Ann", "Ben") for aspect in ("tone", "wit")]
    marks = {name: waves(low=1 + k % 2) for k, name in enumerate(names)}
    table = pd.DataFrame({"essay": [f"e{k}" for k in range(N)], **marks})
    seen, _ = look(table)
    ask = asked(seen, "There is a column of")
    recipe = recipes.parse({**seen.recipe, "questions": [{**ask, "answer": "people"}]})
    seen, _ = look(table, **recipe)
    assert asked(seen, "No column says what was rated")["proposed"] == "essay"


def test_an_overall_rating_is_proposed_by_its_name_or_has_to_be_named(look):
    table = tidy(polite=["yes", "no"] * 30).drop(columns="overall")
    seen, _ = look(table.assign(acceptable=["yes", "no", "no"] * 20))
    assert seen.recipe["outcome"] == "acceptable"
    seen, _ = look(table.assign(score=waves()))
    assert asked(seen, "Which column is the overall rating")["proposed"] == "score"
    seen, _ = look(table)
    assert "proposed" not in asked(seen, "Which column is the overall rating")


def test_what_a_column_holds_is_told_without_codes_and_cut_with_a_sign(look):
    seen, _ = look(
        tidy(tone=[9, *waves(N - 1)], note="a comment of many words"), missing=["9"]
    )
    holds = dict(zip(seen.parts["column"], seen.parts["holds"], strict=True))
    assert holds["tone"] == "numbers from 1 to 5; 1 without a rating"
    seen, _ = look(tidy(note="a comment that goes on and on"))
    holds = dict(zip(seen.parts["column"], seen.parts["holds"], strict=True))
    assert holds["note"] == "1 different, such as a comment that goes on…"
