"""Readers of other data sets, on made-up files of their form, and on the real ones."""

import ast
import json

import pandas as pd
import pytest

from helpers.data import registry
from helpers.data.tables import PlainError
from helpers.studies import other_data


def write(folder, name, content):
    """Write a made-up file of a data set, and give it as readers take it."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        file.write_text(content, encoding="utf-8")
    elif name.endswith(".jsonl"):
        file.write_text("\n".join(json.dumps(row) for row in content))
    else:
        file.write_text(json.dumps(content))
    return {name: file}


def test_hanna_has_lists_of_stories_in_its_cells(tmp_path):
    rows = []
    for system in ("Human", "GPT", "XLNet"):
        row = {"Model": system, "Text length ¤§": "[100, 200]"}
        for person in (1, 2, 3):
            for code in other_data.CRITERIA:
                row[f"Human {person} {code}"] = f"[{person}, 5]"
        rows.append(row)
    name = "hanna/hanna_metric_scores_llm.csv"
    files = write(tmp_path, name, pd.DataFrame(rows).to_csv(index=False))
    ratings = other_data.hanna(files)
    assert set(ratings["system"]) == {"GPT", "XLNet"}
    first = ratings[ratings["item_id"] == "1 / GPT"]
    assert sorted(first["engagement"]) == [1, 2, 3]
    assert set(first["words"]) == {100}
    assert set(first["cluster"]) == {"1"}


def test_squality_counts_words_and_leaves_people_out(tmp_path):
    def answer(text):
        review = {"worker_id": "w1", "overall-rating": 50}
        review |= {"correctness-rating": 90, "selection-rating": 10}
        return {"response": text, "reviews": [review]}

    question = {"bart": answer("a b c"), "bart-dpr": answer("a"), "human": answer("x")}
    story = {"passage-id": "1", "questions": {"0": question}}
    files = write(tmp_path, "squality/all-responses.jsonl", [story])
    ratings = other_data.squality(files)
    assert ratings["words"].tolist() == [3, 1]
    assert ratings["system"].tolist() == ["bart", "bart-dpr"]
    assert ratings["prompt_id"].tolist() == ["1 / 0"] * 2
    assert ratings["cluster"].tolist() == ["1"] * 2
    assert ratings["rater_id"].tolist() == ["rater-001"] * 2
    marks = ratings[["overall", "correctness", "coverage"]]
    assert marks.iloc[0].tolist() == [50, 90, 10]


def test_simpeval_without_simplifications_by_people(tmp_path):
    columns = "original_id,system,generation,rating_1,rating_2,rating_3\n"
    text = columns + "0,T5,a b,10,20,60\n0,Human 1 Writing,a,1,1,1\n"
    files = write(tmp_path, "simpeval/simpeval_2022.csv", text)
    ratings = other_data.simpeval(files)
    assert set(ratings["item_id"]) == {"0 / T5"}
    assert ratings["overall"].tolist() == [10, 20, 60]
    assert set(ratings["words"]) == {2}


def test_two_groups_of_summeval(tmp_path):
    def annotation(mark):
        return dict.fromkeys(other_data.SUMMARIES, mark)

    rows = []
    for system in ("M1", "Human-H"):
        row = {"SYS": system, "seg_id": "a", "hyp": "three words here"}
        row["expert_annotations"] = [annotation(5), annotation(4)]
        row["turker_annotations"] = [annotation(1), annotation(2), annotation(3)]
        rows.append(row)
    name = "summeval_expert_crowd/cnndm_THumB-1.0.jsonl"
    files = write(tmp_path, name, rows)
    assert other_data.summeval_crowd(files)["consistency"].tolist() == [1, 2, 3]
    experts = other_data.summeval_experts(files)
    assert experts["consistency"].tolist() == [5, 4]
    assert experts["words"].tolist() == [3, 3]
    assert set(experts["system"]) == {"M1"}


def test_the_crowd_of_dialsummeval_is_joined_by_text(tmp_path):
    rows = []
    for number, text in enumerate(["Tom eats.", "Ann sleeps!"]):
        annotation = {"coherence": 1, "consistency": 2, "fluency": 3, "relevance": 4}
        row = {"id": f"d{number}", "model_id": "D", "summary": text}
        rows.append(row | {"annotations": [annotation] * 3})
    rows.append(rows[0] | {"model_id": "A"})
    files = write(tmp_path, "dialsummeval/human_judgment.jsonl", rows)
    # in another order
    texts = "ann sleeps !\nTom eats.\n"
    files |= write(tmp_path, "dialsummeval/AMT_D_summs.txt", texts)
    line = "\t".join(["5,1", "4,1", "3,1", "2,1"])
    other = "\t".join(["1,1", "1,1", "1,1", "1,1"])
    files |= write(tmp_path, "dialsummeval/AMT_D_ratings.txt", f"{line}\n{other}\n")
    crowd = other_data.dialsummeval_crowd(files)
    by_item = crowd[crowd["item_id"] == "d1 / D"]
    assert by_item["coherence"].tolist() == [5, 1]
    assert by_item["relevance"].tolist() == [2, 1]
    students = other_data.dialsummeval_students(files)
    assert set(students["item_id"]) == {"d0 / D", "d1 / D"}
    assert set(crowd["item_id"]) == set(students["item_id"])


def test_labels_of_dices(tmp_path):
    def file(name, *labels):
        instances = []
        for key, given in zip("78", labels, strict=True):
            question = {"is it safe?": {"individual_human_scores": given}}
            instances.append({"id": key, "annotations": question})
        return write(tmp_path, f"dices/{name}.json", {"instances": instances})

    expert = other_data.dices_expert(file("dices_350_expert", ["No"], ["Yes"]))
    assert expert["safety"].tolist() == [1, 3]
    crowd = file("dices_350_crowdsourced", ["No", "Unsure"], [None, "Yes"])
    crowd = other_data.dices_crowd(crowd)
    assert crowd["safety"].tolist() == [1, 2, 3]
    assert crowd["item_id"].tolist() == ["7", "7", "8"]
    # a place in the list is a person
    assert crowd["rater_id"].tolist() == ["rater-001", "rater-002", "rater-002"]


def test_pairs_of_chats(tmp_path):
    item = "82__gpt-4__alpaca__1"
    people = {"anna": {item: "model_a"}, "bert": {item: "tie"}}
    files = write(tmp_path, "alttest/mtbench_human_annotations.json", people)

    def chat(answer):
        turns = [{"content": "hello there", "role": "user"}]
        return str([*turns, {"content": answer, "role": "assistant"}])

    chats = {"conversation_a": chat("one two three"), "conversation_b": chat("one")}
    files |= write(tmp_path, "alttest/mtbench_prompts.json", {item: chats})
    pairs = other_data.mtbench(files)
    assert pairs["first_words"].tolist() == [3, 3]
    assert pairs["second_words"].tolist() == [1, 1]
    assert pairs["preferred"].tolist() == [1, 0.5]
    assert pairs["rater_id"].tolist() == ["rater-001", "rater-002"]
    assert set(pairs["systems"]) == {"gpt-4 and alpaca"}


def test_six_pairs_of_four_answers(tmp_path):
    row = {f"prediction {n}": "word " * n for n in range(1, 5)}
    row["preference"] = [1, 2, 0, 1, 1, 1]
    files = write(tmp_path, "finegrained_rlhf/dev_feedback.json", [row])
    pairs = other_data.finegrained_rlhf(files)
    assert pairs["preferred"].tolist() == [1, 0, 0.5, 1, 1, 1]
    assert pairs["first_words"].tolist() == [1, 1, 1, 2, 2, 3]
    assert pairs["second_words"].tolist() == [2, 3, 4, 3, 4, 4]


def test_without_the_files_a_data_set_says_what_is_missing(monkeypatch):
    with pytest.raises(PlainError, match="left out: this needs the files of the"):
        other_data.load("hanna", "simulated")

    def unavailable(files, data_source):
        raise registry.DataUnavailableError("no network")

    monkeypatch.setattr(other_data.registry, "locate", unavailable)
    with pytest.raises(registry.DataUnavailableError, match="no network"):
        other_data.load("hanna")
    with pytest.raises(PlainError, match="'nothing' is unknown: choose from hanna, "):
        other_data.load("nothing")


# Against numbers in their own files ----------------------------------------------


@pytest.fixture
def real():
    """Files of a data set, where they are."""

    def located(name):
        try:
            return other_data.locate(name, "real")
        except registry.DataError:
            pytest.skip("the data are not here")

    return located


def test_means_that_hanna_gives(real):
    files = real("hanna")
    table = pd.read_csv(files["hanna/hanna_metric_scores_llm.csv"]).set_index("Model")
    means = other_data.hanna(files).groupby("item_id")["engagement"].mean()
    given = ast.literal_eval(table.loc["GPT", "Engagement"])
    found = [means[f"{story} / GPT"] for story in range(1, 97)]
    assert found == pytest.approx(given)


def test_means_that_summeval_gives(real):
    files = real("summeval")
    means = other_data.summeval_experts(files).groupby("item_id")["coherence"].mean()
    (file,) = files.values()
    given = {}
    for row in other_data.read_json(file):
        if row["SYS"] not in other_data.ADDED:
            given[f"{row['seg_id']} / {row['SYS']}"] = row["coherence"]
    assert means.to_dict() == pytest.approx(given)


def test_means_that_squality_gives(real):
    files = real("squality")
    means = other_data.squality(files).groupby("item_id")["overall"].mean()
    (file,) = files.values()
    for story in other_data.read_json(file):
        for number, question in story["questions"].items():
            item = f"{story['passage-id']} / {number} / bart"
            given = question["bart"]["overall"]["overall-rating"]
            assert means[item] == pytest.approx(given)


# Nobody gave less than 20 in simpeval, though the scale begins at 0.
@pytest.mark.parametrize(
    ("name", "n_rows", "n_items", "rating", "ends"),
    [
        ("hanna", 960 * 3, 960, "engagement", (1, 5)),
        ("squality", 600, 200, "overall", (0, 100)),
        ("simpeval", 720, 240, "overall", (20, 100)),
        ("summeval crowd", 8000, 1600, "relevance", (1, 5)),
        ("summeval experts", 4800, 1600, "relevance", (1, 5)),
        ("dialsummeval crowd", 5500, 1100, "relevance", (1, 5)),
        ("dialsummeval students", 3300, 1100, "relevance", (1, 5)),
        ("dices crowd", 43050, 350, "safety", (1, 3)),
        ("dices expert", 350, 350, "safety", (1, 3)),
        ("mtbench", 246, 120, "preferred", (0, 1)),
        ("finegrained_rlhf", 3000, 3000, "preferred", (0, 1)),
    ],
)
def test_as_many_ratings_as_the_data_sets_have(
    real, name, n_rows, n_items, rating, ends
):
    ratings = other_data.READERS[name](real(name))
    assert len(ratings) == n_rows
    assert ratings["item_id"].nunique() == n_items
    assert (ratings[rating].min(), ratings[rating].max()) == ends


def test_every_data_set_is_described_and_registered():
    names = {name.partition(" ")[0] for name in other_data.READERS}
    assert set(other_data.described().index) == names
    folders = {file.split("/")[1] for file in registry.names(other_data.STUDY)}
    assert folders == set(other_data.described()["folder"]) | {"lfqa_experts"}
