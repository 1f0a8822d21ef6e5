"""Readers of other sets, on made-up files of the same form, and on the real ones."""

import ast
import gzip
import io
import json
import tarfile

import pandas as pd
import pytest

from helpers.data import registry
from helpers.data.tables import PlainError
from helpers.studies import other_data


def write(folder, name, content):
    """Write a made-up file of a set, and give it as readers take it."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif isinstance(content, str):
        file.write_text(content, encoding="utf-8")
    elif name.endswith(".jsonl"):
        file.write_text("\n".join(json.dumps(each) for each in content))
    else:
        file.write_text(json.dumps(content))
    return {name: file}


def marks(ratings, *columns):
    """Marks as lists of rows."""
    return ratings.frame[list(columns)].to_numpy().tolist()


def judge_bench(texts, given):
    """A file as JUDGE-BENCH gives it."""
    instances = []
    for key, text in texts.items():
        annotations = {
            mark: {"individual_human_scores": scores}
            for mark, scores in given[key].items()
        }
        instances.append({"id": key, "instance": text, "annotations": annotations})
    return {"dataset": "made up", "instances": instances}


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
    assert set(ratings.frame["system"]) == {"GPT", "XLNet"}
    first = ratings.frame[ratings.frame["item_id"] == "1 / GPT"]
    assert sorted(first["engagement"]) == [1, 2, 3]
    assert set(first["words"]) == {100}
    assert ratings.frame["rater_id"].isna().all()


def test_turns_of_one_chat_are_a_cluster(tmp_path):
    aspects = ["Interesting", "Engaging", "Specific", "Relevant", "Correct"]
    aspects += ["Semantically appropriate", "Understandable", "Fluent", "Overall"]
    given = {aspect: [1, 0] for aspect in aspects}
    given["Correct"] = [1, "N/A (no)"]
    turns = []
    for context, system in (
        ("A: hi", "Meena"),
        ("A: hi\nB: ho", "Meena"),
        ("C", "Human"),
    ):
        turns.append(
            {"context": context, "response": "so", "system": system}
            | {"annotations": given}
        )
    chat = {"context": "A: hi\nB: ho\nA: so", "system": "Meena"}
    chat["annotations"] = {"Overall": [3, 4]}
    ratings = other_data.fed(write(tmp_path, "fed/fed_data.json", [*turns, chat]))
    assert set(ratings.frame["cluster"]) == {"chat 0"}
    assert ratings.frame["item_id"].nunique() == 2
    assert ratings.items()["Correct"].tolist() == [1, 1]


def test_newsroom_clusters_by_article(tmp_path):
    given = {"Informativeness": [1, 2], "Relevance": [3, 4]}
    given |= {"Fluency": [5, 5], "Coherence": [1, 1]}
    text = "### Generated Summary\n\n{}\n\n### Source Article\n\nthe same"
    texts = {"1": text.format("one"), "2": text.format("two")}
    content = judge_bench(texts, dict.fromkeys(texts, given))
    ratings = other_data.newsroom(write(tmp_path, "newsroom/newsroom.json", content))
    assert ratings.frame["cluster"].tolist() == ["the same"] * 4
    assert ratings.items()["Informativeness"].tolist() == [1.5, 1.5]


def test_recipes_by_people_are_left_out(tmp_path):
    aspects = ["grammar", "fluency", "verbosity", "structure", "success", "overall"]
    texts = {"pie_1_original": "mix it", "pie_2_no_context": "mix it all well"}
    given = {key: {mark: [2, 6] for mark in aspects} for key in texts}
    files = write(
        tmp_path, "recipes/meta_evaluation_recipes.json", judge_bench(texts, given)
    )
    (item,) = other_data.rewritten_recipes(files).items().to_dict("records")
    assert (item["prompt_id"], item["system"]) == ("pie", "no_context")
    assert (item["words"], item["overall"]) == (4, 4)


def test_two_groups_of_summeval(tmp_path):
    def annotation(mark):
        return dict.fromkeys(["coherence", "consistency", "fluency", "relevance"], mark)

    rows = []
    for system in ("M1", "Human-H"):
        row = {"SYS": system, "seg_id": "a", "hyp": "three words here"}
        row["expert_annotations"] = [annotation(5), annotation(4)]
        row["turker_annotations"] = [annotation(1), annotation(2), annotation(3)]
        rows.append(row)
    name = "summeval_expert_crowd/cnndm_THumB-1.0.jsonl"
    files = write(tmp_path, name, rows)
    assert other_data.summeval(files).frame["consistency"].tolist() == [1, 2, 3]
    experts = other_data.summeval_experts(files)
    assert experts.frame["consistency"].tolist() == [5, 4]
    assert experts.frame["words"].tolist() == [3, 3]
    assert set(experts.frame["system"]) == {"M1"}


def test_the_crowd_of_dialsummeval_is_joined_by_text(tmp_path):
    files = {}
    rows = []
    for number, text in enumerate(["Tom eats.", "Ann sleeps!"]):
        annotation = {"coherence": 1, "consistency": 2, "fluency": 3, "relevance": 4}
        rows.append(
            {"id": f"d{number}", "model_id": "D", "summary": text, "dialogue": "…"}
            | {"annotations": [annotation] * 3}
        )
    rows.append(rows[0] | {"model_id": "A"})
    files |= write(tmp_path, "dialsummeval/human_judgment.jsonl", rows)
    # in another order
    files |= write(
        tmp_path, "dialsummeval/AMT_D_summs.txt", "ann sleeps !\nTom eats.\n"
    )
    line = "\t".join(["5,1", "4,1", "3,1", "2,1"])
    other = "\t".join(["1,1", "1,1", "1,1", "1,1"])
    files |= write(tmp_path, "dialsummeval/AMT_D_ratings.txt", f"{line}\n{other}\n")
    files |= write(tmp_path, "dialsummeval/AMT_A_ratings.txt", line)
    crowd = other_data.dialsummeval_crowd(files)
    by_item = crowd.frame[crowd.frame["item_id"] == "d1 / D"]
    assert by_item["coherence"].tolist() == [5, 1]
    assert by_item["relevance"].tolist() == [2, 1]
    students = other_data.dialsummeval(files)
    assert set(students.frame["item_id"]) == {"d0 / D", "d1 / D"}
    assert set(crowd.frame["item_id"]) == set(students.frame["item_id"])


def test_squality_counts_words_and_leaves_people_out(tmp_path):
    def answer(text):
        review = {"worker_id": "w1", "overall-rating": 50}
        review |= {"correctness-rating": 90, "selection-rating": 10}
        return {"response": text, "reviews": [review], "overall": {}}

    question = {"bart": answer("a b c"), "bart-dpr": answer("a"), "human": answer("x")}
    story = {"passage-id": "1", "questions": {"0": question}}
    files = write(tmp_path, "squality/all-responses.jsonl", [story])
    items = other_data.squality(files).items()
    assert items["words"].tolist() == [3, 1]
    assert items["system"].tolist() == ["bart", "bart-dpr"]
    assert items["prompt_id"].tolist() == ["1 / 0"] * 2
    assert items[["overall", "correctness", "coverage"]].iloc[0].tolist() == [
        50,
        90,
        10,
    ]


def test_six_pairs_of_four_answers(tmp_path):
    row = {"question": "why?"}
    row |= {f"prediction {n}": "word " * n for n in range(1, 5)}
    row["preference"] = [1, 2, 0, 1, 1, 1]
    name = "finegrained_rlhf/dev_feedback.json"
    files = write(tmp_path, name, [row])
    pairs = other_data.finegrained_pairs(files)
    assert pairs["preferred"].tolist() == [1, 0, 0.5, 1, 1, 1]
    assert pairs["first_words"].tolist() == [1, 1, 1, 2, 2, 3]
    assert pairs["second_words"].tolist() == [2, 3, 4, 3, 4, 4]


def test_means_of_topical_chat_and_of_data_to_text(tmp_path):
    scores = {"overall": 3.0, "understandability": 1.0, "naturalness": 2.0}
    scores |= {"coherence": 2.0, "engagingness": 2.0, "groundedness": 0.0}
    rows = [
        {"source": "c", "system_id": system, "system_output": "a b", "scores": scores}
        for system in ("Original Ground Truth", "Argmax", "New Human Generated")
    ]
    files = write(tmp_path, "unieval/topical_chat_result.json", rows)
    assert other_data.topical_chat(files).items()["system"].tolist() == ["Argmax"]
    files = {}
    for part in ("sfres", "sfhot"):
        scores = {"informativeness": 6.0, "naturalness": 5.0, "overall": 4.0}
        row = {"source": "x()", "system_output": "a", "scores": scores}
        files |= write(tmp_path, f"unieval/{part}_result.json", [row])
    ratings = other_data.sf(files)
    assert ratings.frame["cluster"].tolist() == ["sfres x()", "sfhot x()"]


def test_openmeva(tmp_path):
    story = {"text": "one two", "score": {"human": 2.2}}
    row = {"doc_id": "7", "gen": {"fusion": story, "s2s": story}}
    items = other_data.openmeva(write(tmp_path, "openmeva_mans/openmeva.json", [row]))
    assert items.items()["item_id"].tolist() == ["7 / fusion", "7 / s2s"]
    assert items.items()["overall"].tolist() == [2.2, 2.2]


def test_simpeval_without_simplifications_by_people(tmp_path):
    columns = "original_id,system,generation,rating_1,rating_2,rating_3\n"
    text = columns + "0,T5,a b,10,20,60\n0,Human 1 Writing,a,1,1,1\n"
    files = write(tmp_path, "simpeval/simpeval_2022.csv", text)
    items = other_data.simpeval(files).items()
    assert items[["item_id", "overall"]].to_numpy().tolist() == [["0 / T5", 30]]


def test_tests_that_stories_pass(tmp_path):
    rows = []
    for story in ("0_GPT4", "0_NewYorker"):
        for expert in (4, 2, 9):
            for test in (1, 2):
                verdict = "Yes" if test <= expert / 4 else "No"
                rows.append(
                    {"story_idx": 0, "story_id": story, "expert_idx": expert}
                    | {"ttcw_idx": test, "category": "x", "binary_verdict": verdict}
                )
    files = write(tmp_path, "ttcw/ttcw_annotations.json", rows)
    story = {"story_id": "0_GPT4", "content": "it was night"}
    files |= write(tmp_path, "ttcw/ttcw_short_stories.json", [story])
    passed = other_data.ttcw(files)
    assert passed.frame["passed"].tolist() == [1, 0, 2]
    assert passed.frame["words"].tolist() == [3] * 3


def test_single_labels_of_qags_and_realsumm(tmp_path):
    responses = [
        {"worker_id": 5, "response": "yes"},
        {"worker_id": 6, "response": "no"},
    ]
    row = {
        "article": "…",
        "summary_sentences": [{"sentence": "a", "responses": responses}],
    }
    files = write(tmp_path, "qags/mturk_cnndm.jsonl", [row])
    files |= write(tmp_path, "qags/mturk_xsum.jsonl", [row])
    qags = other_data.qags(files)
    assert qags.frame["supported"].tolist() == [1, 0, 1, 0]
    assert qags.frame["rater_id"].nunique() == 4  # numbered anew in each file

    statements = {f"Input.statement_{n}": "BLANK" for n in range(1, 17)}
    statements["Input.statement_1"] = "It rained."
    row = {"Input.eventId": 3, **statements}
    row |= {f"Answer.S{n}Answer": "p" for n in range(1, 17)}
    table = pd.DataFrame([row, row | {"Answer.S1Answer": "n"}])
    text = table.to_csv(index=False).replace("\n", ",\n")  # rows end with a comma
    head, _, rest = text.partition(",\n")
    files = write(tmp_path, "realsumm/abs_bart_out.csv", f"{head}\n{rest}")
    assert other_data.realsumm(files).frame["present"].tolist() == [1, 0]


def test_pairs_of_experts_are_known_by_their_texts(tmp_path):
    row = {"q_id": "q", "answer1": "a", "answer2": "b", "annotator": "8"}
    row |= {"answer1_label": "HMM[64]", "BetterAnswer": "Answer A"}
    other = row | {"answer2": "c", "BetterAnswer": "Answer B"}
    people = row | {"answer1_label": "HHh[4][1]"}
    files = write(
        tmp_path, "lfqa_experts/History_8_Common20.json", [row, other, people]
    )
    second = [row | {"annotator": "9", "BetterAnswer": "Answer B"}]
    files |= write(tmp_path, "lfqa_experts/History_9_Common20.json", second)
    ratings = other_data.lfqa_experts(files)
    assert ratings.frame["item_id"].tolist() == ["pair 0", "pair 1", "pair 0"]
    assert ratings.frame["first"].tolist() == [1, 0, 0]
    pairs = other_data.lfqa_pairs(files).set_index(["part", "second_words"])
    assert pairs.loc["model and person", "preferred"].tolist() == [0.5, 0]
    assert set(pairs.loc["model and person", "first_system"]) == {"model"}
    assert set(pairs.loc["two people", "second_system"]) == {"person"}


def test_medical_labels_of_answers_by_machines(tmp_path):
    row = {"query": "why?"}
    for source in ("alexa", "dialogpt", "reddit"):
        row[f"{source}-response-expert"] = "Recommendations"
        row[f"{source}-response-cws"] = "['Treatment or diagnosis', 'No answer']"
    row["dialogpt-response-cws"] = "[]"
    name = "medical_safety/medicheck-crowd.csv"
    files = write(tmp_path, name, pd.DataFrame([row]).to_csv(index=False))
    ratings = other_data.medical_safety(files)
    assert marks(ratings, "label") == [[3], [0]]


def test_points_of_translations(tmp_path):
    columns = "system doc docSegId globalSegId rater source target category severity"
    rows = [
        ("A", "d", "1", "7", "r9", "s", 'a "t', "Accuracy/Mistranslation", "Major"),
        ("A", "d", "1", "7", "r9", "s", "t", "Fluency/Punctuation", "Minor"),
        ("A", "d", "1", "7", "r2", "s", "t", "No-error", "no-error"),
        ("A", "d", "1", "7", "r2", "s", "t", "Other", "HOTW-test"),
        ("refA", "d", "1", "7", "r2", "s", "t", "Accuracy", "Major"),
        ("B", "d", "1", "7", "r2", "s", "t", "Non-translation!", "Major"),
        ("B", "d", "1", "7", "r3", "s", "t", "Accuracy/Omission", "Minor"),
    ]
    text = "\n".join("\t".join(row) for row in [columns.split(), *rows]) + "\n"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("sxs.tsv")
        info.size = len(text.encode())
        archive.addfile(info, io.BytesIO(text.encode()))
    name = "wmt_mqm_ende/sxs.tsv.tar.gz"
    files = write(tmp_path, name, gzip.compress(buffer.getvalue()))
    ratings = other_data.wmt_mqm(files)
    found = marks(ratings, "item_id", "rater_id", "points")
    assert found == [
        ["7 / A", "rater-001", 5.1],
        ["7 / A", "rater-002", 0.0],
        ["7 / B", "rater-002", 25.0],
        ["7 / B", "rater-003", 1.0],
    ]


def test_pairs_of_chats(tmp_path):
    item = "82__gpt-4__alpaca__1"
    people = {"a": {item: "model_a"}, "b": {item: "tie"}}
    files = write(tmp_path, "alttest/mtbench_human_annotations.json", people)
    chat = [{"content": "hello there", "role": "user"}]
    chats = {
        "conversation_a": str(
            [*chat, {"content": "one two three", "role": "assistant"}]
        ),
        "conversation_b": str([*chat, {"content": "one", "role": "assistant"}]),
    }
    files |= write(tmp_path, "alttest/mtbench_prompts.json", {item: chats})
    (pair,) = other_data.mtbench_pairs(files).to_dict("records")
    assert (pair["first_words"], pair["second_words"]) == (3, 1)
    assert (pair["first_system"], pair["preferred"]) == ("gpt-4", 0.75)
    rows = [{"question_id": 1, "text": "a b"}, {"question_id": 2, "text": "a"}]
    files = write(tmp_path, "faireval/answer_gpt35.jsonl", rows)
    files |= write(tmp_path, "faireval/answer_vicuna-13b.jsonl", rows)
    files |= write(
        tmp_path, "faireval/review_gpt35_vicuna-13b_human.txt", "TIE\nVICUNA13B\n"
    )
    pairs = other_data.faireval_pairs(files)
    assert pairs["preferred"].tolist() == [0.5, 0]


def test_experts_of_dices(tmp_path):
    given = {"7": {"is it safe?": ["No"]}, "8": {"is it safe?": ["Yes"]}}
    content = judge_bench({"7": "x", "8": "y"}, given)
    files = write(tmp_path, "dices/dices_350_expert.json", content)
    assert other_data.dices_expert(files).frame["safety"].tolist() == [1, 3]


def test_pairs_of_pandalm_and_llmbar(tmp_path):
    row = {"instruction": "sum", "input": "1 1", "cmp_key": "opt-7b_llama-7b"}
    row |= {"response1": "two", "response2": "it is two"}
    row |= {"annotator1": 2, "annotator2": 2, "annotator3": 0}
    files = write(tmp_path, "pandalm/testset-v1.json", [row, row | {"response1": True}])
    (pair,) = other_data.pandalm_pairs(files).to_dict("records")
    assert (pair["first_words"], pair["second_words"]) == (1, 3)
    assert (pair["first_system"], pair["second_system"]) == ("opt-7b", "llama-7b")
    assert pair["preferred"] == pytest.approx(1 / 6)
    row = {"input": "why?", "output_1": "a b", "output_2": "a", "label": 2}
    files = write(tmp_path, "llmbar/Natural_dataset.json", [row])
    files |= write(tmp_path, "llmbar/MT-Bench_dataset.json", [row])
    pairs = other_data.llmbar_pairs(files)
    assert pairs["part"].tolist() == ["Natural", "MT-Bench"]
    assert pairs["preferred"].tolist() == [0, 0]
    assert set(pairs["first_system"]) == {""}


def test_writers_of_two_answers_at_length(monkeypatch):
    verdicts = pd.DataFrame(
        {
            "item_id": list("abc"),
            "label": ["HMM", "HMH", "HHM"],
            "first": [1.0, 0.0, 1.0],
            "first_words": 5,
            "second_words": 7,
        }
    )
    monkeypatch.setattr(other_data, "_lfqa_verdicts", lambda files: verdicts)
    pairs = other_data.lfqa_pairs({})
    assert pairs["first_system"].tolist() == ["model", "person", "person"]
    assert pairs["second_system"].tolist() == ["person", "model", "person"]
    assert pairs["part"].tolist() == ["model and person"] * 2 + ["two people"]


def test_without_the_files_a_set_says_what_is_missing(monkeypatch):
    with pytest.raises(PlainError, match="left out: this needs the files of the"):
        other_data.load("fed", "simulated")

    def unavailable(files, data_source):
        raise registry.DataUnavailableError("no network")

    monkeypatch.setattr(other_data.registry, "locate", unavailable)
    with pytest.raises(registry.DataUnavailableError, match="no network"):
        other_data.load("fed", "real")
    with pytest.raises(PlainError, match="has no file of the set 'nothing'"):
        other_data.load("nothing")


# --------------------------------------------------- against numbers in their own files


@pytest.fixture
def real():
    """Files of a set, where they are."""

    def located(name):
        try:
            return other_data.locate(name, "real")
        except registry.DataError:
            pytest.skip("the data are not here")

    return located


def test_means_that_hanna_prints(real):
    files = real("hanna")
    table = pd.read_csv(files["hanna/hanna_metric_scores_llm.csv"]).set_index("Model")
    items = other_data.hanna(files).items().set_index("item_id")
    printed = ast.literal_eval(table.loc["GPT", "Engagement"])
    found = [items.loc[f"{story} / GPT", "engagement"] for story in range(1, 97)]
    assert found == pytest.approx(printed)


def test_means_that_summeval_prints(real):
    files = real("summeval")
    rows = [
        json.loads(line)
        for line in files["summeval_expert_crowd/cnndm_THumB-1.0.jsonl"]
        .read_text()
        .splitlines()
    ]
    items = other_data.summeval_experts(files).items().set_index("item_id")
    for row in rows[:200]:
        item = f"{row['seg_id']} / {row['SYS']}"
        if item in items.index:
            assert items.loc[item, "coherence"] == pytest.approx(row["coherence"])


def test_means_that_squality_prints(real):
    files = real("squality")
    items = other_data.squality(files).items().set_index("item_id")
    for line in files["squality/all-responses.jsonl"].read_text().splitlines():
        story = json.loads(line)
        for number, question in story["questions"].items():
            item = f"{story['passage-id']} / {number} / bart"
            printed = question["bart"]["overall"]["overall-rating"]
            assert items.loc[item, "overall"] == pytest.approx(printed)


@pytest.mark.parametrize(
    ("name", "n_rows", "n_items"),
    [
        ("fed", 252 * 5, 252),
        ("dices", 43050, 350),
        ("newsroom", 1260, 420),
        ("asset", 1500, 100),
        ("ttcw", 108, 36),
        ("qags", 2142 + 717, 714 + 239),
        ("realsumm", 81581, None),
        ("openmeva", 1000, 1000),
        ("topical_chat", 240, 240),
        ("sf", 1181 + 875, 1181 + 875),
        ("mtbench", 246, 120),
    ],
)
def test_as_many_ratings_as_the_sets_have(real, name, n_rows, n_items):
    ratings = other_data.READERS[name](real(name))
    assert len(ratings.frame) == n_rows
    if n_items:
        assert ratings.frame["item_id"].nunique() == n_items


# Nobody gave the lowest mark of simpeval, all tests of ttcw, or all points of wmt_mqm.
@pytest.mark.parametrize(
    "name", sorted(set(other_data.READERS) - {"simpeval", "ttcw", "wmt_mqm"})
)
def test_somebody_gave_the_worst_and_the_best_mark(real, name):
    locate, _, _ = name.partition(" ")
    ratings = other_data.READERS[name](real(locate))
    for mark, ends in ratings.scales.items():
        given = ratings.frame[mark]
        assert (given.min(), given.max()) == (min(ends), max(ends)), mark
