"""Each form of docs/own.md becomes one table by the lines that stand there."""

import json
import re

import pandas as pd
import pytest

from helpers import paths
from ratings import roles, table

PAGE = (paths.ROOT / "docs/own.md").read_text(encoding="utf-8")
FORMS = dict(
    re.findall(r"\n\*\*([^*\n]+)\*\*[^\n]+\n\n```python\n(.*?)```", PAGE, re.DOTALL)
)

GIVEN = roles.Roles(item="item", rater="rater", score="score")


@pytest.fixture
def converted(tmp_path, monkeypatch):
    """Run the lines of one form in a folder with its export."""
    monkeypatch.chdir(tmp_path)

    def convert(form, name, content):
        (tmp_path / name).write_text(content)
        exec(compile(FORMS[form], form, "exec"), {})
        return table.read("ratings.csv")

    return convert


def test_the_page_has_eight_forms():
    assert len(FORMS) == 8


def test_label_studio(converted):
    tasks = []
    for task in range(3):
        annotations = []
        for rater in (7, 8):
            result = [
                {"from_name": name, "value": {"rating": 1 + (task + rater) % 5}}
                for name in ("overall", "clarity")
            ]
            annotations.append({"completed_by": rater, "result": result})
        tasks.append({"id": task, "data": {"text": "…"}, "annotations": annotations})
    found = converted("Label Studio", "label_studio.json", json.dumps(tasks))
    given = roles.Roles(
        item="item", rater="rater", score="overall", aspects=["clarity"]
    )
    frame = roles.prepare(found, given).frame
    assert frame["overall"].tolist() == [3, 4, 4, 5, 5, 1]
    assert frame["item_id"].tolist() == ["0", "0", "1", "1", "2", "2"]
    chosen = [{"from_name": "winner", "value": {"choices": ["tie"]}}]
    tasks = [{"id": 1, "annotations": [{"completed_by": 7, "result": chosen}]}]
    found = converted("Label Studio", "label_studio.json", json.dumps(tasks))
    assert found.frame["winner"].tolist() == ["tie"]


def test_objects_by_rater(converted):
    content = {"ann": {"i1": 3, "i2": 4}, "ben": {"i2": 5}}
    found = converted("An object for each rater", "by_rater.json", json.dumps(content))
    frame = roles.prepare(found, GIVEN).frame
    rated = frame.set_index(["item_id", "rater_id"])["score"].to_dict()
    assert rated == {("i1", "rater 1"): 3, ("i2", "rater 1"): 4, ("i2", "rater 2"): 5}


def test_lists_of_ratings(converted):
    item = {"id": "d1", "annotations": [{"score": 4}, {"score": 2}]}
    form = "A list of ratings in each object"
    frame = roles.prepare(converted(form, "items.jsonl", json.dumps(item)), GIVEN).frame
    assert frame["score"].tolist() == [4, 2]
    assert frame["rater_id"].tolist() == ["rater 1", "rater 2"]


def test_pairs_in_other_columns(converted):
    lines = ["options,winner_a,winner_b,winner_tie", '"elm,oak",0,1,0']
    lines += ['"oak,fir",0,0,1', '"elm,fir",1,0,0']
    form = "Pairs without columns of a, b and winner"
    found = converted(form, "pairs.csv", "\n".join(lines)).frame
    assert found["a"].tolist() == ["elm", "oak", "elm"]
    assert found["winner"].tolist() == ["b", "tie", "a"]


def test_a_wide_survey(converted):
    lines = [
        "ResponseId,StartDate,1_overall,1_clarity,2_overall,2_clarity",
        "Response ID,Start,How good?,How clear?,How good?,How clear?",
        "{},{},{},{},{},{}",
        "R_1,2026-01-01,5,4,3,2",
        "R_2,2026-01-01,1,2,,4",
    ]
    found = converted("A wide survey export", "survey.csv", "\n".join(lines))
    given = roles.Roles(
        item="item", rater="ResponseId", score="overall", aspects=["clarity"]
    )
    ratings = roles.prepare(found, given)
    assert ratings.frame["overall"].tolist() == [5, 3, 1]
    assert ratings.left_out == [("overall: no rating", 1)]


def test_an_mturk_batch(converted):
    batch = pd.DataFrame(
        {
            "HITId": ["h1", "h1", "h2"],
            "WorkerId": ["w1", "w2", "w1"],
            "AssignmentStatus": ["Approved", "Rejected", "Submitted"],
            "Input.model": ["elm", "elm", "oak"],
            "Answer.overall": [5, 1, 3],
            "Answer.clarity": [4, 1, 2],
        }
    )
    found = converted("An MTurk batch", "batch.csv", batch.to_csv(index=False))
    given = roles.Roles(
        item="item",
        rater="rater",
        system="system",
        score="overall",
        aspects=["clarity"],
    )
    assert roles.prepare(found, given).frame["overall"].tolist() == [5, 3]


def test_scores_by_name_and_value_by_pandas_and_by_option(converted, tmp_path):
    lines = ["traceId,name,value,source,authorUserId"]
    for trace in range(3):
        lines.append(f"t{trace},helpfulness,{trace + 1},ANNOTATION,u{trace % 2}")
        lines.append(f"t{trace},tone,{5 - trace},ANNOTATION,u{trace % 2}")
    lines.append("t0,tone,0.3,EVAL,")
    form = "Scores by name and value"
    found = converted(form, "scores.csv", "\n".join(lines))
    given = roles.Roles(
        item="traceId", rater="authorUserId", score="helpfulness", aspects=["tone"]
    )
    by_pandas = roles.prepare(found, given).frame
    assert by_pandas["helpfulness"].tolist() == [1, 2, 3]
    (tmp_path / "people.csv").write_text("\n".join(lines[:-1]))
    given = roles.combine(given, {"name": "name", "value": "value"})
    by_option = roles.prepare(table.read("people.csv"), given).frame
    columns = ["item_id", "helpfulness", "tone"]
    assert (
        by_option[columns].to_numpy().tolist() == by_pandas[columns].to_numpy().tolist()
    )


def test_an_inspect_log(converted):
    samples = [
        {"id": f"q{n}", "epoch": e, "scores": {"match": {"value": "CI"[(n + e) % 2]}}}
        for n in range(3)
        for e in (1, 2)
    ]
    log = {"eval": {"model": "openai/x"}, "samples": samples}
    found = converted("An Inspect log", "log.json", json.dumps(log))
    given = roles.Roles(prompt="prompt", system="system", score="match")
    frame = roles.prepare(found, given).frame
    assert frame["match"].tolist() == [0, 1, 1, 0, 0, 1]
    assert set(frame["system"]) == {"openai/x"}
