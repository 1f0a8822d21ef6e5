"""Other public data sets of ratings, read into one form.

`data/other_data.csv` describes the data sets; each has a reader here. A data set is
listed if its texts are by machines, if single ratings of whole texts were released
without regard to who agreed with whom, and if either experts and at least four crowd
workers answered the same question about the same texts, or known systems wrote two or
more texts of known length to each of at least twenty prompts. Texts by people, copied
lines and rows that are no ratings are left out.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.raters import anonymise
from helpers.data.tables import PlainError

STUDY = "atlas"  # in data/studies.csv, and the folder of the files
NO_DATA = (
    "left out: this needs the files of the data sets in data/registry.csv, which "
    "cannot be had here, and which have no simulator"
)

Files = Mapping[str, Path]


# Finding and loading -------------------------------------------------------------


@cache
def described() -> pd.DataFrame:
    """Name, texts, raters, publication, licence and folder of each data set.

    Examples
    --------
    >>> described().loc["hanna", "licence"]
    'MIT'
    """
    return read_text(paths.DATA / "other_data.csv").set_index("set")


def load(name: str, data_source: str = "real") -> pd.DataFrame:
    """Read the ratings of a data set.

    Parameters
    ----------
    name : str
        One of `READERS`: a data set, followed by a group of people if several groups
        rated the same texts, such as ``"summeval experts"``.
    data_source : {"real"}
        These data sets are not simulated: without the files this stops.

    Returns
    -------
    pandas.DataFrame
        One row per text and person: ``item_id``, ``prompt_id`` (what the text answers),
        ``cluster`` (texts that belong together: the prompt, except where several
        prompts are about one story), ``system``, ``words`` (of the text), ``rater_id``
        (if known), and columns of ratings, for which higher is better.

        Where people chose between two texts, one row per pair and person: ``item_id``,
        ``prompt_id``, ``systems`` (both), ``rater_id`` (if known), ``first_words``,
        ``second_words`` and ``preferred`` (1 the first, 0.5 none, 0 the second).

    Raises
    ------
    helpers.data.tables.PlainError
        If the files cannot be had, or no reader has this name.
    """
    if name not in READERS:
        raise PlainError(
            f"data set {name!r} is unknown: choose from {', '.join(READERS)}"
        )
    return READERS[name](locate(name, data_source))


def locate(name: str, data_source: str) -> dict[str, Path]:
    """Find the files of a data set, by their names in the folder of all data sets."""
    folder = described().loc[name.partition(" ")[0], "folder"]
    files = [
        file for file in registry.names(STUDY) if file.startswith(f"{STUDY}/{folder}/")
    ]
    located = registry.locate(files, data_source)
    if located is None:
        raise PlainError(NO_DATA)
    return {file.removeprefix(f"{STUDY}/"): path for file, path in located.items()}


# Common to readers ---------------------------------------------------------------


def read_json(file: Path) -> object:
    """Read JSON, or JSON lines as a list."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return json.loads(text)


def n_words(text: str) -> int:
    """Count what blanks separate."""
    return len(str(text).split())


def by_place(common: Mapping, given: Mapping[str, Iterable]) -> list[dict]:
    """Rows of one text, one for each place in its lists of ratings."""
    lists = zip(*given.values(), strict=True)
    return [common | dict(zip(given, ratings, strict=True)) for ratings in lists]


# Stories and answers -------------------------------------------------------------

CRITERIA = {
    "RE": "relevance",
    "CH": "coherence",
    "EM": "empathy",
    "SU": "surprise",
    "EG": "engagement",
    "CX": "complexity",
}


def hanna(files: Files) -> pd.DataFrame:
    """Stories by ten systems, three crowd ratings from 1 to 5 on six criteria."""
    table = pd.read_csv(files["hanna/hanna_metric_scores_llm.csv"]).set_index("Model")
    (length,) = [name for name in table if name.startswith("Text length")]
    rows = []
    for system, row in table.drop(index="Human").iterrows():
        words = ast.literal_eval(row[length])
        for person in (1, 2, 3):  # not one and the same person in all rows
            ratings = {
                name: ast.literal_eval(row[f"Human {person} {code}"])
                for code, name in CRITERIA.items()
            }
            for place, rating in enumerate(by_place({"system": system}, ratings)):
                prompt = str(place + 1)
                about = {"item_id": f"{prompt} / {system}", "prompt_id": prompt}
                about |= {"cluster": prompt, "words": words[place]}
                rows.append(about | rating)
    return pd.DataFrame(rows)


SQUALITY = {
    "overall-rating": "overall",
    "correctness-rating": "correctness",
    "selection-rating": "coverage",
}


def squality(files: Files) -> pd.DataFrame:
    """Summaries by two systems that answer questions on stories.

    Three of four writers rated each from 0 to 100.
    """
    rows = []
    for story in read_json(files["squality/all-responses.jsonl"]):
        for number, question in story["questions"].items():
            prompt = f"{story['passage-id']} / {number}"
            for system, answer in question.items():
                if system == "human":
                    continue
                about = {
                    "item_id": f"{prompt} / {system}",
                    "prompt_id": prompt,
                    "cluster": str(story["passage-id"]),
                    "system": system,
                    "words": n_words(answer["response"]),
                }
                for review in answer["reviews"]:
                    ratings = {
                        name: float(review[key]) for key, name in SQUALITY.items()
                    }
                    rows.append(about | {"rater_id": review["worker_id"]} | ratings)
    frame = pd.DataFrame(rows)
    return frame.assign(rater_id=anonymise(frame["rater_id"]))


def simpeval(files: Files) -> pd.DataFrame:
    """Simplifications by four systems; three trained people rate from 0 to 100."""
    table = pd.read_csv(files["simpeval/simpeval_2022.csv"])
    table = table[~table["system"].str.contains("Human")]
    frame = table.melt(
        id_vars=["original_id", "system", "generation"],
        value_vars=["rating_1", "rating_2", "rating_3"],
        var_name="rater_id",
        value_name="overall",
    )
    prompt = frame["original_id"].astype(str)
    frame = frame.assign(prompt_id=prompt, cluster=prompt)
    frame["item_id"] = prompt + " / " + frame["system"]
    frame["words"] = frame["generation"].map(n_words)
    return frame.drop(columns=["original_id", "generation"])


# Summaries -----------------------------------------------------------------------

SUMMARIES = ["coherence", "consistency", "fluency", "relevance"]
# two systems that were added later, without the crowd: one of them is people
ADDED = ["Human-H", "Pegasus-dynamic-mix"]


def summeval_crowd(files: Files, group: str = "turker_annotations") -> pd.DataFrame:
    """Summaries of news by sixteen systems; five crowd workers rate from 1 to 5."""
    rows = []
    for text in read_json(files["summeval_expert_crowd/cnndm_THumB-1.0.jsonl"]):
        if text["SYS"] in ADDED:
            continue
        about = {
            "item_id": f"{text['seg_id']} / {text['SYS']}",
            "prompt_id": text["seg_id"],
            "cluster": text["seg_id"],
            "system": text["SYS"],
            "words": n_words(text["hyp"]),
        }
        rows += [about | ratings for ratings in text[group]]
    return pd.DataFrame(rows)


def summeval_experts(files: Files) -> pd.DataFrame:
    """Read the same summaries as rated by three experts."""
    return summeval_crowd(files, "expert_annotations")


# written by people, or copied lines
NOT_BY_MODELS = ["A", "B", "C"]


def dialsummeval_students(files: Files) -> pd.DataFrame:
    """Summaries of dialogues by eleven systems; three students rate from 1 to 5."""
    rows = []
    for text in read_json(files["dialsummeval/human_judgment.jsonl"]):
        if text["model_id"] in NOT_BY_MODELS:
            continue
        about = _dialogue_summary(str(text["id"]), text["model_id"], text["summary"])
        rows += [about | ratings for ratings in text["annotations"]]
    return pd.DataFrame(rows)


def dialsummeval_crowd(files: Files) -> pd.DataFrame:
    """Read the same summaries as rated by five crowd workers.

    Their files have another order of dialogues: a summary is found by its system and
    text.
    """
    dialogue_of = {}
    for text in read_json(files["dialsummeval/human_judgment.jsonl"]):
        dialogue_of[text["model_id"], _letters(text["summary"])] = str(text["id"])
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
            dialogue = dialogue_of[system, _letters(text)]
            about = _dialogue_summary(dialogue, system, text)
            groups = [map(float, group.split(",")) for group in line.split("\t")]
            rows += by_place(about, dict(zip(SUMMARIES, groups, strict=True)))
    return pd.DataFrame(rows)


def _dialogue_summary(dialogue: str, system: str, text: str) -> dict:
    """What is known about a summary of a dialogue."""
    return {
        "item_id": f"{dialogue} / {system}",
        "prompt_id": dialogue,
        "cluster": dialogue,
        "system": system,
        "words": n_words(text),
    }


def _letters(text: str) -> str:
    """Keep what two copies of a text have in common: letters and digits."""
    return re.sub(r"\W+", "", text.lower())


# Safety of chats -----------------------------------------------------------------

SAFETY = {"No": 1.0, "Unsure": 2.0, "Yes": 3.0}


def dices_crowd(files: Files) -> pd.DataFrame:
    """Label the last response of chats as unsafe (1) to safe (3), by 123 people."""
    return _dices(files["dices/dices_350_crowdsourced.json"])


def dices_expert(files: Files) -> pd.DataFrame:
    """Read an expert's label of the same chats: 1 not safe, 3 safe."""
    return _dices(files["dices/dices_350_expert.json"])


def _dices(file: Path) -> pd.DataFrame:
    """Read labels of chats; each place in a list is one and the same person."""
    rows = []
    for chat in read_json(file)["instances"]:
        (question,) = chat["annotations"].values()
        for place, label in enumerate(question["individual_human_scores"]):
            if label in SAFETY:
                item = str(chat["id"])
                rows.append([item, item, item, str(place), SAFETY[label]])
    columns = ["item_id", "prompt_id", "cluster", "rater_id", "safety"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(rater_id=anonymise(frame["rater_id"]))


# Pairs of texts ------------------------------------------------------------------

WINNERS = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}
PREFERRED = {1: 1.0, 2: 0.0, 0: 0.5}  # the first, the second, neither


def mtbench(files: Files) -> pd.DataFrame:
    """Which of two chats by different systems is better, by three people."""
    prompts = read_json(files["alttest/mtbench_prompts.json"])
    about = {}
    for item, chats in prompts.items():
        question, first, second, _ = item.split("__")
        about[item] = {
            "item_id": item,
            "prompt_id": question,
            "systems": f"{first} and {second}",
            "first_words": _words_of_chat(chats["conversation_a"]),
            "second_words": _words_of_chat(chats["conversation_b"]),
        }
    rows = []
    given = read_json(files["alttest/mtbench_human_annotations.json"])
    for person, labels in given.items():
        for item, label in labels.items():
            verdict = {"rater_id": person, "preferred": WINNERS[label]}
            rows.append(about[item] | verdict)
    frame = pd.DataFrame(rows)
    return frame.assign(rater_id=anonymise(frame["rater_id"]))


def _words_of_chat(chat: str) -> int:
    """Count the words of the assistant's turns."""
    turns = ast.literal_eval(chat)
    said = [turn["content"] for turn in turns if turn["role"] == "assistant"]
    return n_words(" ".join(said))


def finegrained_rlhf(files: Files) -> pd.DataFrame:
    """Six pairs of four answers of one model to each question, one person each."""
    pairs = [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
    rows = []
    for number, text in enumerate(
        read_json(files["finegrained_rlhf/dev_feedback.json"])
    ):
        words = {n: n_words(text[f"prediction {n}"]) for n in range(1, 5)}
        for (first, second), code in zip(pairs, text["preference"], strict=True):
            row = {
                "item_id": f"{number} / {first} {second}",
                "prompt_id": str(number),
                "systems": "one model",
                "rater_id": np.nan,
                "first_words": words[first],
                "second_words": words[second],
                "preferred": PREFERRED[code],
            }
            rows.append(row)
    return pd.DataFrame(rows)


READERS: dict[str, Callable[[Files], pd.DataFrame]] = {
    "hanna": hanna,
    "squality": squality,
    "simpeval": simpeval,
    "summeval crowd": summeval_crowd,
    "summeval experts": summeval_experts,
    "dialsummeval crowd": dialsummeval_crowd,
    "dialsummeval students": dialsummeval_students,
    "dices crowd": dices_crowd,
    "dices expert": dices_expert,
    "mtbench": mtbench,
    "finegrained_rlhf": finegrained_rlhf,
}
