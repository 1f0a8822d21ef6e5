"""Readers of public sets of ratings, from their published files to one form.

Each reader takes the files of a set by name and gives `Ratings`. Texts by people, and
rows that are no ratings (fillers, planted tests), are left out here. Where a recipe in
`data/recipes/` can read the file, it does.
"""

import ast
import json
import re
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from ratings import recipes

Files = Mapping[str, Path]
PARTS = ["prompt_id", "system"]  # of an item, the last two names of a recipe's item


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of a set in one form.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per text and person: ``item_id``, ``prompt_id`` (what the text answers),
        ``cluster``, ``system``, ``rater_id``, ``words`` (of the text), and the marks.
        What is not known is missing. Where nobody knows who rated, ``rater_id`` tells
        the ratings of an item apart and no more.
    scales : dict of str to (float, float)
        Worst and best mark that could be given.
    people_known : bool
        Whether ``rater_id`` is one person throughout.
    """

    frame: pd.DataFrame
    scales: dict[str, tuple[float, float]]
    people_known: bool

    def items(self) -> pd.DataFrame:
        """Give the texts, one row each, with the mean of their marks."""
        marks = list(self.scales)
        by_item = self.frame.groupby("item_id", sort=False)
        first = by_item[["prompt_id", "cluster", "system", "words"]].first()
        return first.join(by_item[marks].mean()).reset_index()


def in_one_form(
    frame: pd.DataFrame, scales: Mapping[str, tuple], people_known: bool
) -> Ratings:
    """Add what is missing of the columns of `Ratings`."""
    frame = frame.reset_index(drop=True)
    if "prompt_id" not in frame:
        frame["prompt_id"] = frame["item_id"]
    if "cluster" not in frame:
        frame["cluster"] = frame["prompt_id"]
    for column in ("system", "words", "rater_id"):
        if column not in frame:
            frame[column] = np.nan
    return Ratings(frame, dict(scales), people_known)


def read_recipe(file: Path, recipe: Mapping) -> Ratings:
    """Read a file as a recipe says; the last part of an item of several is its system.

    Parameters
    ----------
    file : pathlib.Path
    recipe : mapping
        As `ratings.recipes.from_yaml` gives it. It has to give the scales.

    Returns
    -------
    Ratings
    """
    table = recipes.read(file, recipe)
    frame = table.rename(columns={"prompt_id": "cluster", "covariate": "words"})
    labels = frame.columns.intersection(["item_id", "cluster", "rater_id", "position"])
    frame = frame.astype(dict.fromkeys(labels, str))  # categories cannot be joined
    if len(recipe.get("item", [])) > 1:
        parts = frame["item_id"].str.rpartition(" / ")
        frame["prompt_id"] = parts[0]
        frame["system"] = parts[2]
    people_known = "rater_id" in frame
    frame = frame.rename(columns={"position": "rater_id"})
    return in_one_form(frame, recipes.scales(recipe), people_known)


def _recipe(name: str, **changes: object) -> dict:
    """Recipe of the project, with some keys changed."""
    return recipes.from_yaml(paths.DATA / "recipes" / f"{name}.yaml") | changes


def read_json(file: Path) -> object:
    """Read JSON, or JSON lines as a list."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return json.loads(text)


def n_words(text: str) -> int:
    """Count what blanks separate."""
    return len(str(text).split())


# ------------------------------------------------------------ lists of marks by place


def hanna(files: Files) -> Ratings:
    """Stories by ten systems, three crowd ratings on six criteria."""
    file = files["hanna/hanna_metric_scores_llm.csv"]
    read = read_recipe(file, _recipe("hanna", without={"Model": ["Human"]}))
    table = pd.read_csv(file).set_index("Model")
    (length,) = [name for name in table if name.startswith("Text length")]
    lengths = table[length].map(ast.literal_eval)
    place = read.frame["prompt_id"].astype(int) - 1
    systems = read.frame["system"]
    read.frame["words"] = [
        lengths[system][number] for system, number in zip(systems, place, strict=True)
    ]
    return read


def fed(files: Files) -> Ratings:
    """Single turns of chats by two systems, five crowd ratings on nine aspects.

    Turns of one chat are a cluster: their context begins a whole chat of the file.
    """
    file = files["fed/fed_data.json"]
    without = {"response": "", "system": ["Human"]}
    read = read_recipe(file, _recipe("fed", without=without))
    chats = [
        record["context"] for record in read_json(file) if "response" not in record
    ]
    contexts = read.frame["cluster"].unique()
    chat_of = {}
    for context in contexts:
        start = [n for n, chat in enumerate(chats) if chat.startswith(context)]
        chat_of[context] = f"chat {start[0]}" if start else context
    read.frame["cluster"] = read.frame["cluster"].map(chat_of)
    read.frame["prompt_id"] = read.frame["item_id"]
    read.frame["system"] = np.nan
    return read


def newsroom(files: Files) -> Ratings:
    """Summaries of sixty articles, three crowd ratings on four aspects."""
    file = files["newsroom/newsroom.json"]
    read = read_recipe(file, _recipe("newsroom"))
    article = {
        str(each["id"]): each["instance"].partition("### Source Article")[2].strip()
        for each in read_json(file)["instances"]
    }
    read.frame["cluster"] = read.frame["item_id"].map(article)
    read.frame["prompt_id"] = read.frame["cluster"]
    return read


def rewritten_recipes(files: Files) -> Ratings:
    """Recipes in four versions by machines; the original is by people."""
    file = files["recipes/meta_evaluation_recipes.json"]
    read = read_recipe(file, _recipe("judge_bench_recipes"))
    words = {
        each["id"]: n_words(each["instance"]) for each in read_json(file)["instances"]
    }
    frame = read.frame.assign(words=read.frame["item_id"].map(words))
    versions = r"^(.+?)_(original|context|no_context|coref|dependency)$"
    parts = frame["item_id"].str.extract(versions)
    # the number after a recipe's name is that of its version in the file
    frame["prompt_id"] = parts[0].str.replace(r"_\d+$", "", regex=True)
    frame["cluster"] = frame["prompt_id"]
    frame["system"] = parts[1]
    is_by_machine = frame["system"] != "original"
    return in_one_form(frame[is_by_machine], read.scales, people_known=False)


def dices(files: Files) -> Ratings:
    """Label the last response of chats as safe or not, by 123 people."""
    return read_recipe(files["dices/dices_350_crowdsourced.json"], _recipe("dices"))


def roscoe(files: Files) -> Ratings:
    """Chains of reasoning in four parts, each rated by one expert."""
    parts = []
    for name, file in files.items():
        part = re.search(r"roscoe-(\w+)-overall", name)[1]
        frame = read_recipe(file, _recipe("roscoe")).frame
        item = part + " " + frame["item_id"].astype(str)
        parts.append(frame.assign(item_id=item, part=part))
    frame = pd.concat(parts)
    for error in ("Missing Steps", "Contradiction"):
        frame[error] = 1 - frame[error]  # 1 is best
    frame["prompt_id"] = frame["item_id"]
    frame["cluster"] = frame["item_id"]
    scales = {"Overall Quality": (1, 5), "Coherency": (1, 5)}
    scales |= {"Missing Steps": (0, 1), "Contradiction": (0, 1)}
    return in_one_form(frame, scales, people_known=False)


# ----------------------------------------------------------- summaries by two groups


def summeval(files: Files, group: str = "turker_annotations") -> Ratings:
    """Summaries by sixteen systems that a crowd rated."""
    file = files["summeval_expert_crowd/cnndm_THumB-1.0.jsonl"]
    recipe = _recipe("summeval")
    call = {}
    for name, short in recipe["call"].items():
        call[name.replace("expert_annotations", group)] = short
    recipe |= {"lists": {group: "copy"}, "call": call}
    # two systems were added later, without the crowd: one of them is people
    recipe["without"] = {"SYS": ["Human-H", "Pegasus-dynamic-mix"]}
    return read_recipe(file, recipe)


def summeval_experts(files: Files) -> Ratings:
    """Read the same summaries as rated by three experts."""
    return summeval(files, "expert_annotations")


# written by people, or copied lines
NOT_BY_MODELS = ["A", "B", "C"]
DIALSUMMEVAL = ["coherence", "consistency", "fluency", "relevance"]


def dialsummeval(files: Files) -> Ratings:
    """Summaries of dialogues by eleven systems, rated by three students."""
    recipe = _recipe("dialsummeval", without={"model_id": NOT_BY_MODELS})
    return read_recipe(files["dialsummeval/human_judgment.jsonl"], recipe)


def dialsummeval_crowd(files: Files) -> Ratings:
    """Read the same summaries as rated by five crowd workers.

    Their file has another order of dialogues: a summary is found by its system and
    text.
    """
    item_of = {}
    for each in read_json(files["dialsummeval/human_judgment.jsonl"]):
        key = each["model_id"], _letters(each["summary"])
        item_of[key] = each["id"]
    rows = []
    for name in sorted(files):
        found = re.search(r"AMT_(\w)_ratings", name)
        if not found or found[1] in NOT_BY_MODELS:
            continue
        system = found[1]
        summaries = files[f"dialsummeval/AMT_{system}_summs.txt"]
        texts = summaries.read_text(encoding="utf-8").splitlines()
        lines = files[name].read_text(encoding="utf-8").splitlines()
        for text, line in zip(texts, lines, strict=True):
            dialogue = item_of[system, _letters(text)]
            groups = [group.split(",") for group in line.split("\t")]
            for place, marks in enumerate(zip(*groups, strict=True)):
                rows.append([dialogue, system, place, n_words(text), *marks])
    columns = ["prompt_id", "system", "place", "words", *DIALSUMMEVAL]
    frame = pd.DataFrame(rows, columns=columns)
    frame[DIALSUMMEVAL] = frame[DIALSUMMEVAL].astype(float)
    frame["item_id"] = frame["prompt_id"] + " / " + frame["system"]
    frame["rater_id"] = frame["item_id"] + "#" + frame["place"].astype(str)
    return in_one_form(frame, dict.fromkeys(DIALSUMMEVAL, (1, 5)), people_known=False)


def _letters(text: str) -> str:
    """Keep what two copies of a text have in common: letters and digits."""
    return re.sub(r"\W+", "", text.lower())


# --------------------------------------------------------------- long-form answers


def squality(files: Files) -> Ratings:
    """Summaries by two systems that answer questions on stories, by four writers."""
    file = files["squality/all-responses.jsonl"]
    read = read_recipe(file, _recipe("squality", without={"system": ["human"]}))
    words = {}
    for story in read_json(file):
        for number, question in story["questions"].items():
            for system, answer in question.items():
                item = f"{story['passage-id']} / {number} / {system}"
                words[item] = n_words(answer["response"])
    read.frame["words"] = read.frame["item_id"].map(words)
    return read


FACT_ERRORS = ["Wrong-Grounding", "Unverifiable"]
FORM_ERRORS = ["Redundant", "Incoherent"]
# 1: the first of two answers is preferred, 2: the second, 0: neither
PREFERENCE = {1: 1.0, 2: 0.0, 0: 0.5}


def finegrained_rlhf(files: Files) -> Ratings:
    """Error marks on the first of four answers, and how often it was preferred.

    Marks are 1 where there is no such error, 0 where there is.
    """
    rows = []
    for each in read_json(files["finegrained_rlhf/dev_feedback.json"]):
        kinds = {error["error type"] for error in each["feedback"]["errors"]}
        preferred = [PREFERENCE[code] for code in each["preference"][:3]]
        row = {
            "item_id": each["question"],
            "words": n_words(each["prediction 1"]),
            "preference": np.mean(preferred),
            "no error of fact": not kinds.intersection(FACT_ERRORS),
            "no error of form": not kinds.intersection(FORM_ERRORS),
            "nothing irrelevant": "Irrelevant" not in kinds,
            "nothing missing": not each["feedback"]["missing-info"],
        }
        rows.append(row)
    frame = pd.DataFrame(rows)
    marks = list(frame.columns[2:])
    frame[marks] = frame[marks].astype(float)
    return in_one_form(frame, dict.fromkeys(marks, (0, 1)), people_known=False)


def topical_chat(files: Files) -> Ratings:
    """Responses of four systems to sixty contexts; means of three people."""
    scales = {
        "overall": (1, 5),
        "understandability": (0, 1),
        "naturalness": (1, 3),
        "coherence": (1, 3),
        "engagingness": (1, 3),
        "groundedness": (0, 1),
    }
    frame = _means(read_json(files["unieval/topical_chat_result.json"]))
    by_people = frame["system"].isin(["Original Ground Truth", "New Human Generated"])
    return in_one_form(frame[~by_people], scales, people_known=False)


def sf(files: Files) -> Ratings:
    """Sentences that say given facts about restaurants and hotels; means of people."""
    parts = []
    for name, file in files.items():
        part = re.search(r"/(sf\w+)_result", name)[1]
        frame = _means(read_json(file)).assign(part=part)
        frame["item_id"] = part + " " + frame["item_id"]
        frame["prompt_id"] = part + " " + frame["prompt_id"]
        parts.append(frame)
    scales = dict.fromkeys(["overall", "informativeness", "naturalness"], (1, 6))
    return in_one_form(pd.concat(parts), scales, people_known=False)


def _means(records: Iterable[Mapping]) -> pd.DataFrame:
    """One row for each text with the means of its marks."""
    rows = []
    for number, each in enumerate(records):
        row = {
            "item_id": str(number),
            "prompt_id": each["source"],
            "system": each.get("system_id", np.nan),
            "words": n_words(each["system_output"]),
        }
        rows.append(row | each["scores"])
    return pd.DataFrame(rows)


def openmeva(files: Files) -> Ratings:
    """Stories by five systems to two hundred first lines; means of five people."""
    rows = []
    for each in read_json(files["openmeva_mans/openmeva.json"]):
        for system, story in each["gen"].items():
            row = {
                "item_id": f"{each['doc_id']} / {system}",
                "prompt_id": each["doc_id"],
                "system": system,
                "words": n_words(story["text"]),
                "overall": story["score"]["human"],
            }
            rows.append(row)
    return in_one_form(pd.DataFrame(rows), {"overall": (1, 5)}, people_known=False)


# ------------------------------------------------------------------ simplifications


def simpeval(files: Files) -> Ratings:
    """Simplifications by four systems, rated as a whole by three trained people."""
    table = pd.read_csv(files["simpeval/simpeval_2022.csv"])
    table = table[~table["system"].str.contains("Human")]
    raters = ["rating_1", "rating_2", "rating_3"]
    frame = table.melt(
        id_vars=["original_id", "system", "generation"],
        value_vars=raters,
        var_name="rater_id",
        value_name="overall",
    )
    frame["prompt_id"] = frame["original_id"].astype(str)
    frame["item_id"] = frame["prompt_id"] + " / " + frame["system"]
    frame["words"] = frame["generation"].map(n_words)
    return in_one_form(frame, {"overall": (0, 100)}, people_known=True)


SIMPLE = ["adequacy", "fluency", "simplicity"]


def simpeval_aspects(files: Files) -> Ratings:
    """Aspects of the same simplifications, by crowd workers, from 0 to 100."""
    return _aspects_of(files["simpeval/simpDA_2022.csv"], (0, 100), (0, 100))


def simpeval_likert(files: Files) -> Ratings:
    """Aspects of the same simplifications, by crowd workers, on five steps each."""
    return _aspects_of(files["simpeval/simplikert_2022.csv"], (1, 5), (-2, 2))


def _aspects_of(file: Path, scale: tuple, of_simplicity: tuple) -> Ratings:
    """Read adequacy, fluency and simplicity by workers."""
    table = pd.read_csv(file)
    table = table[~table["Input.system"].str.contains("Human")]
    frame = table.rename(columns={f"Answer.{name}": name for name in SIMPLE})
    frame["prompt_id"] = frame["Input.id"].astype(str)
    frame["system"] = frame["Input.system"]
    frame["item_id"] = frame["prompt_id"] + " / " + frame["system"]
    frame["rater_id"] = renamed(frame["WorkerId"])
    scales = {"adequacy": scale, "fluency": scale, "simplicity": of_simplicity}
    return in_one_form(frame, scales, people_known=True)


def asset(files: Files) -> Ratings:
    """Rate one simplification of each of a hundred sentences, by fifteen workers."""
    return read_recipe(files["asset/human_ratings.csv"], _recipe("asset"))


def renamed(people: pd.Series) -> pd.Series:
    """Names of raters in order of first appearance."""
    codes, _ = pd.factorize(people)
    return pd.Series([f"rater-{code + 1:03d}" for code in codes], people.index)


# -------------------------------------------------------------------- single labels


def ttcw(files: Files) -> Ratings:
    """Stories by three models: how many of fourteen tests each expert lets pass."""
    frame = ttcw_verdicts(files).frame
    by = ["item_id", "prompt_id", "cluster", "system", "rater_id", "words"]
    passed = frame.groupby(by, sort=False, as_index=False)["passed"].sum()
    return in_one_form(passed, {"passed": (0, 14)}, people_known=True)


def ttcw_verdicts(files: Files) -> Ratings:
    """Yes or no to each of fourteen tests, by expert."""
    table = pd.DataFrame(read_json(files["ttcw/ttcw_annotations.json"]))
    table = table[~table["story_id"].str.contains("NewYorker")]
    stories = read_json(files["ttcw/ttcw_short_stories.json"])
    words = {story["story_id"]: n_words(story["content"]) for story in stories}
    frame = pd.DataFrame(
        {
            "item_id": table["story_id"],
            "test": table["ttcw_idx"].astype(str),
            "prompt_id": table["story_idx"].astype(str),
            "system": table["story_id"].str.partition("_")[2],
            "rater_id": renamed(table["expert_idx"]),
            "words": table["story_id"].map(words),
            "passed": table["binary_verdict"].eq("Yes").astype(float),
        }
    )
    return in_one_form(frame, {"passed": (0, 1)}, people_known=True)


def qags(files: Files) -> Ratings:
    """Sentences of summaries: does the article support them? Three workers each."""
    rows = []
    for name, file in files.items():
        for number, each in enumerate(read_json(file)):
            summary = f"{name} {number}"
            for place, sentence in enumerate(each["summary_sentences"]):
                for answer in sentence["responses"]:
                    person = f"{name} {answer['worker_id']}"
                    supported = float(answer["response"] == "yes")
                    rows.append([f"{summary} {place}", summary, person, supported])
    columns = ["item_id", "prompt_id", "rater_id", "supported"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["rater_id"] = renamed(frame["rater_id"])
    return in_one_form(frame, {"supported": (0, 1)}, people_known=True)


def realsumm(files: Files) -> Ratings:
    """Up to sixteen facts of an article: is each of them in the summary or not."""
    parts = []
    for name, file in files.items():
        table = pd.read_csv(file, index_col=False)
        for number in range(1, 17):
            statement = table[f"Input.statement_{number}"].astype(str)
            answer = table[f"Answer.S{number}Answer"]
            item = name + " " + table["Input.eventId"].astype(str) + f" {number}"
            part = pd.DataFrame(
                {
                    "item_id": item,
                    "prompt_id": table["Input.eventId"].astype(str),
                    "system": name,
                    "present": answer.map({"p": 1.0, "n": 0.0}),
                }
            )
            # statements are padded to sixteen with this word
            is_real = statement.str.strip().ne("BLANK")
            parts.append(part[is_real & part["present"].notna()])
    frame = pd.concat(parts)
    return in_one_form(frame, {"present": (0, 1)}, people_known=False)


def lfqa_experts(files: Files) -> Ratings:
    """Which of two long answers is better; pairs with an answer by a model."""
    rows = []
    for name, file in files.items():
        field = re.search(r"/([A-Za-z]+)_\d+_", name)[1]
        for each in read_json(file):
            if not each["answer1_label"].startswith("HM"):
                continue
            texts = each["q_id"], each["answer1"], each["answer2"]
            better = {"Answer A": 1.0, "Answer B": 0.0}[each["BetterAnswer"]]
            rows.append([field, " ".join(texts), each["annotator"], better])
    frame = pd.DataFrame(rows, columns=["field", "item_id", "rater_id", "first"])
    codes, _ = pd.factorize(frame["item_id"])
    frame["item_id"] = [f"pair {code}" for code in codes]
    frame["rater_id"] = renamed(frame["rater_id"])
    return in_one_form(frame, {"first": (0, 1)}, people_known=True)


# from the mildest answer to the most far-reaching one; X is no step of this scale
MEDICAL = {
    "No answer": 0,
    "General information": 1,
    "Recommendations": 2,
    "Treatment or diagnosis": 3,
    "Irrelevant or nonsensical": 4,
    "Non-medical query": 5,
}
MACHINES = ("alexa", "dialogpt")


def medical_safety(files: Files) -> Ratings:
    """How far answers to health questions go: labels of a crowd and of one expert."""
    table = pd.read_csv(files["medical_safety/medicheck-crowd.csv"])
    rows = []
    for number, each in table.iterrows():
        for machine in MACHINES:
            labels = ast.literal_eval(each[f"{machine}-response-cws"])
            expert = MEDICAL[each[f"{machine}-response-expert"]]
            for place, label in enumerate(labels):
                item = f"{number} / {machine}"
                rows.append(
                    [item, each["query"], f"{item}#{place}", MEDICAL[label], expert]
                )
    columns = ["item_id", "prompt_id", "rater_id", "label", "expert"]
    frame = pd.DataFrame(rows, columns=columns)
    frame[["label", "expert"]] = frame[["label", "expert"]].astype(float)
    return in_one_form(frame, {"label": (0, 5), "expert": (0, 5)}, people_known=False)


def dices_expert(files: Files) -> pd.Series:
    """Give the expert's label of each conversation: 1 not safe, 3 safe."""
    instances = read_json(files["dices/dices_350_expert.json"])["instances"]
    code = {"No": 1.0, "Unsure": 2.0, "Yes": 3.0}
    labels = {}
    for each in instances:
        (marks,) = each["annotations"].values()
        (label,) = marks["individual_human_scores"]
        labels[str(each["id"])] = code[label]
    return pd.Series(labels)


# points of the published formula of multidimensional quality metrics
MQM = {"Major": 5.0, "Minor": 1.0, "No-error": 0.0}
NOT_RATED = ["refA", "GPT4-5shot_with_ONLINE-W"]


def wmt_mqm(files: Files) -> Ratings:
    """Translations by eight systems: points lost, by three of ten professionals."""
    (file,) = files.values()
    columns = [
        "system",
        "doc",
        "docSegId",
        "globalSegId",
        "rater",
        "source",
        "target",
        "category",
        "severity",
    ]
    with tarfile.open(file) as archive:
        member = archive.extractfile(archive.getmembers()[0])
        table = pd.read_csv(member, sep="\t", quoting=3, usecols=columns, dtype=str)
    table = table[~table["system"].isin(NOT_RATED)]
    table = table[table["severity"] != "HOTW-test"]  # planted to test attention
    points = table["severity"].str.capitalize().map(MQM).fillna(0.0)
    is_major = table["severity"].str.lower() == "major"
    is_minor = table["severity"].str.lower() == "minor"
    points = points.mask(is_minor & table["category"].eq("Fluency/Punctuation"), 0.1)
    points = points.mask(is_major & table["category"].str.startswith("Non-tr"), 25.0)
    frame = pd.DataFrame(
        {
            "item_id": table["globalSegId"] + " / " + table["system"],
            "prompt_id": table["globalSegId"],
            "cluster": table["doc"],
            "system": table["system"],
            "rater_id": renamed(table["rater"]),
            "points": points,
        }
    )
    by = ["item_id", "prompt_id", "cluster", "system", "rater_id"]
    frame = frame.groupby(by, sort=False, as_index=False)["points"].sum()
    return in_one_form(frame, {"points": (25, 0)}, people_known=True)


# ------------------------------------------------------------ pairs and judge models

WINNERS = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}


def mtbench(files: Files) -> Ratings:
    """Which of two chats is better, by three people."""
    given = read_json(files["alttest/mtbench_human_annotations.json"])
    frame = _labels(given)
    frame["label"] = frame["label"].map(WINNERS)
    frame["prompt_id"] = frame["item_id"].str.split("__").str[0]
    return in_one_form(
        frame.rename(columns={"label": "winner"}), {"winner": (0, 1)}, people_known=True
    )


def _labels(given: Mapping[str, Mapping]) -> pd.DataFrame:
    """Labels by person and item as rows; people get other names."""
    rows = [
        (item, person, label)
        for person, labels in given.items()
        for item, label in labels.items()
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "label"])
    frame["rater_id"] = renamed(frame["rater_id"])
    return frame


def preference_pairs(name: str, files: Files) -> pd.DataFrame:
    """Pairs of texts by models: lengths, systems and which one was preferred.

    Parameters
    ----------
    name : {"finegrained_rlhf", "faireval", "mtbench"}
    files : mapping
        As `ratings.atlas.sets.locate` gives them.

    Returns
    -------
    pandas.DataFrame
        ``cluster``, ``first_words``, ``second_words``, ``first_system``,
        ``second_system`` and ``preferred`` (1 the first, 0.5 none, 0 the second).
    """
    if name == "finegrained_rlhf":
        rows = _finegrained_pairs(files)
    elif name == "faireval":
        rows = _faireval_pairs(files)
    else:
        rows = _mtbench_pairs(files)
    columns = ["cluster", "first_words", "second_words"]
    columns += ["first_system", "second_system", "preferred"]
    return pd.DataFrame(rows, columns=columns)


def _finegrained_pairs(files: Files) -> list[list]:
    """Six pairs of four answers of one model to each question."""
    places = [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
    rows = []
    for each in read_json(files["finegrained_rlhf/dev_feedback.json"]):
        words = {n: n_words(each[f"prediction {n}"]) for n in range(1, 5)}
        for (first, second), code in zip(places, each["preference"], strict=True):
            row = [each["question"], words[first], words[second], "", ""]
            rows.append([*row, PREFERENCE[code]])
    return rows


def _faireval_pairs(files: Files) -> list[list]:
    """Eighty questions, the same two systems, the majority of people."""
    first = read_json(files["faireval/answer_gpt35.jsonl"])
    second = read_json(files["faireval/answer_vicuna-13b.jsonl"])
    verdicts = files["faireval/review_gpt35_vicuna-13b_human.txt"].read_text().split()
    code = {"CHATGPT": 1.0, "TIE": 0.5, "VICUNA13B": 0.0}
    rows = []
    for one, other, verdict in zip(first, second, verdicts, strict=True):
        lengths = [n_words(one["text"]), n_words(other["text"])]
        row = [str(one["question_id"]), *lengths, "ChatGPT", "Vicuna"]
        rows.append([*row, code[verdict]])
    return rows


def _mtbench_pairs(files: Files) -> list[list]:
    """Pairs of chats, the mean verdict of people."""
    means = mtbench(files).items().set_index("item_id")["winner"]
    prompts = read_json(files["alttest/mtbench_prompts.json"])
    rows = []
    for item, preferred in means.items():
        question, first, second, _ = item.split("__")
        lengths = []
        for side in "ab":
            chat = ast.literal_eval(prompts[item][f"conversation_{side}"])
            said = [turn["content"] for turn in chat if turn["role"] == "assistant"]
            lengths.append(n_words(" ".join(said)))
        rows.append([question, *lengths, first, second, preferred])
    return rows


def judged_labels(name: str, files: Files) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Labels by people and by judge models on the same items.

    Parameters
    ----------
    name : {"summeval", "mtbench", "lgbteen", "ttcw"}
    files : mapping
        As `ratings.atlas.sets.locate` gives them.

    Returns
    -------
    people : pandas.DataFrame
        ``item_id``, ``rater_id``, ``label`` and ``text``, the cluster.
    models : pandas.DataFrame
        A column of labels for each model, by item.
    """
    if name == "ttcw":
        return _ttcw_labels(files)
    people = _labels(read_json(files[f"alttest/{name}_human_annotations.json"]))
    models = pd.DataFrame(read_json(files[f"alttest/{name}_llm_annotations.json"]))
    if name == "summeval":  # the last part of an item is its aspect
        people["text"] = people["item_id"].str.rpartition("__")[0]
        people["label"] = people["label"].astype(float)
        models = models.apply(pd.to_numeric, errors="coerce")
    else:
        people["text"] = people["item_id"].str.partition("__")[0]
    if name == "lgbteen":
        people = people[~people["item_id"].str.contains("highest_comment_body")]
    return people.reset_index(drop=True), models


def _ttcw_labels(files: Files) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Verdicts of experts and of seven models on fourteen tests of each story."""
    verdicts = ttcw_verdicts(files).frame
    people = pd.DataFrame(
        {
            "item_id": "story_" + verdicts["item_id"] + "_test" + verdicts["test"],
            "rater_id": verdicts["rater_id"],
            "label": verdicts["passed"],
            "text": verdicts["item_id"],
        }
    )
    models = {}
    for name, file in files.items():
        found = re.search(r"annotations_([\w.-]+)\.jsonl", name)
        if not found:
            continue
        first_word = {
            each["id"]: re.match(r"\W*(\w*)", each["response"])[1].lower()
            for each in read_json(file)
        }
        models[found[1]] = pd.Series(first_word).map({"yes": 1.0, "no": 0.0})
    return people, pd.DataFrame(models)


HANNA_JUDGES = ["Beluga-13B", "OrcaPlatypus", "Mistral-7B", "Llama-13B", "ChatGPT"]
CRITERIA = {
    "RE": "relevance",
    "CH": "coherence",
    "EM": "empathy",
    "SU": "surprise",
    "EG": "engagement",
    "CX": "complexity",
}


def hanna_judges(files: Files) -> pd.DataFrame:
    """Marks of five models by the first prompt, a row per story and criterion."""
    table = pd.read_csv(files["hanna/hanna_metric_scores_llm.csv"]).set_index("Model")
    columns = {}
    for judge in HANNA_JUDGES:
        marks = {}
        for code, criterion in CRITERIA.items():
            for system, cell in table[f"{judge} {code} 1"].items():
                for place, mark in enumerate(ast.literal_eval(cell), start=1):
                    marks[f"{place} / {system}", criterion] = mark
        columns[judge] = pd.Series(marks)
    frame = pd.DataFrame(columns)
    frame.index.names = ["item_id", "criterion"]
    return frame


def order_verdicts(files: Files) -> pd.DataFrame:
    """Judge models that saw the same pairs in both orders.

    Returns
    -------
    pandas.DataFrame
        ``part``, ``judge``, ``pair``, ``one`` and ``other``: the better text, 1 or 2 in
        the numbering of the file, in the order of the file and in the other one.
    """
    rows = []
    for name, file in files.items():
        part, judge = re.search(r"/([^/_]+)_([^_]+)_Vanilla", name).groups()
        for number, each in enumerate(read_json(file)):
            (result,) = each["results"][:1]
            one = result["swap = False"]["winner"]
            other = result["swap = True"]["winner"]
            rows.append([part, judge, f"{part} {number}", one, other])
    return pd.DataFrame(rows, columns=["part", "judge", "pair", "one", "other"])


READERS: dict[str, Callable[[Files], Ratings]] = {
    "hanna": hanna,
    "fed": fed,
    "newsroom": newsroom,
    "recipes": rewritten_recipes,
    "dices_350": dices,
    "roscoe": roscoe,
    "summeval": summeval,
    "summeval_experts": summeval_experts,
    "dialsummeval": dialsummeval,
    "dialsummeval_crowd": dialsummeval_crowd,
    "squality": squality,
    "finegrained_rlhf": finegrained_rlhf,
    "topical_chat": topical_chat,
    "sf": sf,
    "openmeva": openmeva,
    "simpeval": simpeval,
    "simpeval_aspects": simpeval_aspects,
    "simpeval_likert": simpeval_likert,
    "asset": asset,
    "ttcw": ttcw,
    "qags": qags,
    "realsumm": realsumm,
    "lfqa_experts": lfqa_experts,
    "medical_safety": medical_safety,
    "wmt_mqm": wmt_mqm,
    "mtbench": mtbench,
}
# folders of readers that are no set of their own in data/atlas/sets.csv
FILES = {
    "summeval_experts": "summeval_expert_crowd",
    "dialsummeval_crowd": "dialsummeval",
    "simpeval_aspects": "simpeval",
    "simpeval_likert": "simpeval",
}
