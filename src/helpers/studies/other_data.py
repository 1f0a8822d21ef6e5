"""Other public data sets of ratings, read into one form.

`data/other_data.csv` describes the data sets. Each has a reader here, which takes its
files by name and gives `Ratings`, or pairs of texts. Texts by people, and rows that are
no ratings (fillers, planted tests), are left out.
"""

import ast
import json
import re
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.tables import PlainError

STUDY = "atlas"  # in data/studies.csv, and the folder of the files
NO_DATA = (
    "left out: this needs the files of the data sets in data/registry.csv, which "
    "cannot be had here, and which have no simulator"
)
COLUMNS = ["item_id", "prompt_id", "cluster", "system", "rater_id", "words"]

Files = Mapping[str, Path]
Scale = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of a data set in one form.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per text and person: ``item_id``, ``prompt_id`` (what the text answers),
        ``cluster`` (texts that belong together), ``system``, ``rater_id``, ``words``
        (of the text), and columns of ratings. What is not known is missing.
    scales : dict of str to (float, float)
        Worst and best rating that could be given, by column.
    """

    frame: pd.DataFrame
    scales: dict[str, Scale]

    def items(self) -> pd.DataFrame:
        """Give the texts, one row each, with the means of their ratings."""
        by_item = self.frame.groupby("item_id", sort=False)
        first = by_item[["prompt_id", "cluster", "system", "words"]].first()
        return first.join(by_item[list(self.scales)].mean()).reset_index()


# ------------------------------------------------------------------ finding, loading


@cache
def described() -> pd.DataFrame:
    """Name, texts, raters, publication, licence and files of each data set.

    Examples
    --------
    >>> described().loc["asset", "licence"]
    'CC BY-NC 4.0: non-commercial use only'
    """
    return read_text(paths.DATA / "other_data.csv").set_index("set")


def files_of(name: str) -> list[str]:
    """Registered files of a data set."""
    places = described()["files"].get(name, "").split()
    found = []
    for file in registry.names(STUDY):
        inside = file.removeprefix(f"{STUDY}/")
        if any(inside == place or inside.startswith(f"{place}/") for place in places):
            found.append(file)
    return found


def locate(name: str, data_source: str) -> dict[str, Path]:
    """Find the files of a data set, by their names in the folder of all data sets."""
    files = files_of(name)
    if not files:
        raise PlainError(f"data/registry.csv has no file of the set {name!r}")
    located = registry.locate(files, data_source)
    if located is None:
        raise PlainError(NO_DATA)
    return {file.removeprefix(f"{STUDY}/"): path for file, path in located.items()}


def load(name: str, data_source: str = "real") -> Ratings:
    """Read the ratings of a data set.

    Parameters
    ----------
    name : str
        One of `READERS`. A second group that rated the same texts has the name of the
        data set and its own, such as ``"summeval experts"``.
    data_source : {"real"}
        These data sets are not simulated: without the files this stops.

    Returns
    -------
    Ratings

    Raises
    ------
    helpers.data.tables.PlainError
        If the files cannot be had, or no reader has this name.
    """
    return _read(READERS, name, data_source)


def load_pairs(name: str, data_source: str = "real") -> pd.DataFrame:
    """Read pairs of texts of which people preferred one.

    Parameters
    ----------
    name : str
        One of `PAIR_READERS`.
    data_source : {"real"}
        As for `load`.

    Returns
    -------
    pandas.DataFrame
        ``cluster`` (the prompt), ``first_words``, ``second_words``, ``first_system``,
        ``second_system`` (empty if not known), ``preferred`` (1 the first, 0.5 none, 0
        the second; where several people judged a pair, their mean), and ``part`` of the
        data set.
    """
    return _read(PAIR_READERS, name, data_source)


def _read(
    readers: Mapping[str, Callable], name: str, data_source: str
) -> Ratings | pd.DataFrame:
    """Call the reader of a data set."""
    files = locate(name.partition(" ")[0], data_source)
    if name not in readers:
        raise PlainError(f"the set {name!r} has no reader")
    return readers[name](files)


# -------------------------------------------------------------------- common to readers


def in_one_form(frame: pd.DataFrame, scales: Mapping[str, Scale]) -> Ratings:
    """Add what is missing of the columns of `Ratings`, and drop others."""
    frame = frame.reset_index(drop=True)
    if "prompt_id" not in frame:
        frame["prompt_id"] = frame["item_id"]
    if "cluster" not in frame:
        frame["cluster"] = frame["prompt_id"]
    for column in ("system", "words", "rater_id"):
        if column not in frame:
            frame[column] = np.nan
    return Ratings(frame[[*COLUMNS, *scales]], dict(scales))


def read_json(file: Path) -> object:
    """Read JSON, or JSON lines as a list."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return json.loads(text)


def n_words(text: str) -> int:
    """Count what blanks separate."""
    return len(str(text).split())


def renamed(people: pd.Series) -> pd.Series:
    """Names of raters in order of first appearance."""
    codes, _ = pd.factorize(people)
    return pd.Series([f"rater-{code + 1:03d}" for code in codes], people.index)


def by_place(common: Mapping, given: Mapping[str, Iterable]) -> list[dict]:
    """Rows of one text, one for each place in its lists of marks."""
    lists = zip(*given.values(), strict=True)
    return [{**common, **dict(zip(given, marks, strict=True))} for marks in lists]


def judge_bench(file: Path, common: Callable[[Mapping], dict]) -> pd.DataFrame:
    """Read a file of JUDGE-BENCH: a row for each text and place in its lists."""
    rows = []
    for each in read_json(file)["instances"]:
        marks = each["annotations"].items()
        given = {name: scores["individual_human_scores"] for name, scores in marks}
        rows += by_place(common(each), given)
    return pd.DataFrame(rows)


# -------------------------------------------------------------------- stories and chats

CRITERIA = {
    "RE": "relevance",
    "CH": "coherence",
    "EM": "empathy",
    "SU": "surprise",
    "EG": "engagement",
    "CX": "complexity",
}


def hanna(files: Files) -> Ratings:
    """Stories by ten systems, three crowd ratings on six criteria."""
    table = pd.read_csv(files["hanna/hanna_metric_scores_llm.csv"]).set_index("Model")
    (length,) = [name for name in table if name.startswith("Text length")]
    rows = []
    for system, row in table.drop(index="Human").iterrows():
        words = ast.literal_eval(row[length])
        for person in (1, 2, 3):
            marks = {
                name: ast.literal_eval(row[f"Human {person} {code}"])
                for code, name in CRITERIA.items()
            }
            for place, each in enumerate(by_place({"system": system}, marks)):
                item = f"{place + 1} / {system}"
                about = {"item_id": item, "prompt_id": str(place + 1)}
                rows.append(each | about | {"words": words[place]})
    return in_one_form(pd.DataFrame(rows), dict.fromkeys(CRITERIA.values(), (1, 5)))


FED = {
    "Overall": (0, 4),
    "Interesting": (0, 2),
    "Engaging": (0, 2),
    "Specific": (0, 2),
    "Relevant": (0, 2),
    "Correct": (0, 2),
    "Semantically appropriate": (0, 2),
    "Understandable": (0, 1),
    "Fluent": (0, 2),
}


def fed(files: Files) -> Ratings:
    """Single turns of chats by two systems, five crowd ratings on nine aspects.

    Turns of one chat are a cluster: their context begins a whole chat of the file.
    """
    records = read_json(files["fed/fed_data.json"])
    chats = [record["context"] for record in records if "response" not in record]
    rows = []
    for number, each in enumerate(records):
        if "response" not in each or each["system"] == "Human":
            continue
        context = each["context"]
        start = [n for n, chat in enumerate(chats) if chat.startswith(context)]
        chat = f"chat {start[0]}" if start else context
        given = {name: each["annotations"][name] for name in FED}
        rows += by_place({"item_id": str(number), "cluster": chat}, given)
    frame = pd.DataFrame(rows)
    for name in FED:  # N/A, followed by why
        frame[name] = pd.to_numeric(frame[name], errors="coerce")
    return in_one_form(frame, FED)


def dices(files: Files) -> Ratings:
    """Label the last response of chats as safe or not, by 123 people."""
    file = files["dices/dices_350_crowdsourced.json"]
    frame = judge_bench(file, lambda each: {"item_id": str(each["id"])})
    (question,) = frame.columns.drop("item_id")
    # each place in the list is one and the same person
    frame["rater_id"] = frame.groupby("item_id").cumcount()
    frame["rater_id"] = renamed(frame["rater_id"])
    frame["safety"] = frame[question].map(SAFETY)
    return in_one_form(frame[frame["safety"].notna()], {"safety": (1, 3)})


SAFETY = {"No": 1.0, "Unsure": 2.0, "Yes": 3.0}


def dices_expert(files: Files) -> Ratings:
    """Give the expert's label of each conversation: 1 not safe, 3 safe."""
    file = files["dices/dices_350_expert.json"]
    frame = judge_bench(file, lambda each: {"item_id": str(each["id"])})
    (question,) = frame.columns.drop("item_id")
    frame["safety"] = frame[question].map(SAFETY)
    return in_one_form(frame, {"safety": (1, 3)})


def ttcw(files: Files) -> Ratings:
    """Stories by three models: how many of fourteen tests each expert lets pass."""
    table = pd.DataFrame(read_json(files["ttcw/ttcw_annotations.json"]))
    table = table[~table["story_id"].str.contains("NewYorker")]
    stories = read_json(files["ttcw/ttcw_short_stories.json"])
    words = {story["story_id"]: n_words(story["content"]) for story in stories}
    frame = pd.DataFrame(
        {
            "item_id": table["story_id"],
            "prompt_id": table["story_idx"].astype(str),
            "system": table["story_id"].str.partition("_")[2],
            "rater_id": renamed(table["expert_idx"]),
            "words": table["story_id"].map(words),
            "passed": table["binary_verdict"].eq("Yes").astype(float),
        }
    )
    by = ["item_id", "prompt_id", "system", "rater_id", "words"]
    passed = frame.groupby(by, sort=False, as_index=False)["passed"].sum()
    return in_one_form(passed, {"passed": (0, 14)})


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
    return in_one_form(pd.DataFrame(rows), {"overall": (1, 5)})


TOPICAL_CHAT = {
    "overall": (1, 5),
    "understandability": (0, 1),
    "naturalness": (1, 3),
    "coherence": (1, 3),
    "engagingness": (1, 3),
    "groundedness": (0, 1),
}


def topical_chat(files: Files) -> Ratings:
    """Responses of four systems to sixty contexts; means of three people."""
    frame = _means(read_json(files["unieval/topical_chat_result.json"]))
    by_people = frame["system"].isin(["Original Ground Truth", "New Human Generated"])
    return in_one_form(frame[~by_people], TOPICAL_CHAT)


def sf(files: Files) -> Ratings:
    """Sentences that say given facts about restaurants and hotels; means of people."""
    parts = []
    for name, file in files.items():
        part = re.search(r"/(sf\w+)_result", name)[1]
        frame = _means(read_json(file))
        frame[["item_id", "prompt_id"]] = part + " " + frame[["item_id", "prompt_id"]]
        parts.append(frame)
    scales = dict.fromkeys(["overall", "informativeness", "naturalness"], (1, 6))
    return in_one_form(pd.concat(parts), scales)


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


# ---------------------------------------------------------------------------- summaries

SUMMARIES = ["coherence", "consistency", "fluency", "relevance"]
# two systems that were added later, without the crowd: one of them is people
ADDED = ["Human-H", "Pegasus-dynamic-mix"]


def summeval(files: Files, group: str = "turker_annotations") -> Ratings:
    """Summaries by sixteen systems that a crowd rated."""
    rows = []
    for each in read_json(files["summeval_expert_crowd/cnndm_THumB-1.0.jsonl"]):
        if each["SYS"] in ADDED:
            continue
        about = {
            "item_id": f"{each['seg_id']} / {each['SYS']}",
            "prompt_id": each["seg_id"],
            "system": each["SYS"],
            "words": n_words(each["hyp"]),
        }
        rows += [about | marks for marks in each[group]]
    return in_one_form(pd.DataFrame(rows), dict.fromkeys(SUMMARIES, (1, 5)))


def summeval_experts(files: Files) -> Ratings:
    """Read the same summaries as rated by three experts."""
    return summeval(files, "expert_annotations")


# written by people, or copied lines
NOT_BY_MODELS = ["A", "B", "C"]


def dialsummeval(files: Files) -> Ratings:
    """Summaries of dialogues by eleven systems, rated by three students."""
    rows = []
    for each in read_json(files["dialsummeval/human_judgment.jsonl"]):
        if each["model_id"] in NOT_BY_MODELS:
            continue
        about = {
            "item_id": f"{each['id']} / {each['model_id']}",
            "prompt_id": str(each["id"]),
            "system": each["model_id"],
            "words": n_words(each["summary"]),
        }
        rows += [about | marks for marks in each["annotations"]]
    frame = pd.DataFrame(rows)
    return in_one_form(frame, dict.fromkeys(SUMMARIES, (1, 5)))


def dialsummeval_crowd(files: Files) -> Ratings:
    """Read the same summaries as rated by five crowd workers.

    Their file has another order of dialogues: a summary is found by its system and
    text.
    """
    item_of = {}
    for each in read_json(files["dialsummeval/human_judgment.jsonl"]):
        item_of[each["model_id"], _letters(each["summary"])] = str(each["id"])
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
            about = {
                "item_id": f"{dialogue} / {system}",
                "prompt_id": dialogue,
                "system": system,
                "words": n_words(text),
            }
            marks = [map(float, group.split(",")) for group in line.split("\t")]
            rows += by_place(about, dict(zip(SUMMARIES, marks, strict=True)))
    return in_one_form(pd.DataFrame(rows), dict.fromkeys(SUMMARIES, (1, 5)))


def _letters(text: str) -> str:
    """Keep what two copies of a text have in common: letters and digits."""
    return re.sub(r"\W+", "", text.lower())


def newsroom(files: Files) -> Ratings:
    """Summaries of sixty articles, three crowd ratings on four aspects."""

    def about(each: Mapping) -> dict:
        summary, _, article = each["instance"].partition("### Source Article")
        summary = summary.replace("### Generated Summary", "")
        words = n_words(re.sub(r"<[^>]*>", " ", summary))
        article = article.strip()
        return {"item_id": str(each["id"]), "prompt_id": article, "words": words}

    frame = judge_bench(files["newsroom/newsroom.json"], about)
    names = ["Informativeness", "Relevance", "Fluency", "Coherence"]
    return in_one_form(frame, dict.fromkeys(names, (1, 5)))


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
    return in_one_form(frame, {"supported": (0, 1)})


def realsumm(files: Files) -> Ratings:
    """Up to sixteen facts of an article: is each of them in the summary or not."""
    numbers = range(1, 17)
    used = ["Input.eventId"]
    for number in numbers:
        used += [f"Input.statement_{number}", f"Answer.S{number}Answer"]
    tables = [
        pd.read_csv(file, index_col=False, usecols=used).assign(
            system=name, place=place
        )
        for place, (name, file) in enumerate(files.items())
    ]
    table = pd.concat(tables, ignore_index=True)
    event = table["Input.eventId"].astype(str)
    parts = []
    for number in numbers:
        statement = table[f"Input.statement_{number}"].astype(str)
        part = pd.DataFrame(
            {
                "item_id": table["system"] + " " + event + f" {number}",
                "prompt_id": event,
                "system": table["system"],
                "place": table["place"],
                "present": table[f"Answer.S{number}Answer"].map({"p": 1.0, "n": 0.0}),
            }
        )
        # statements are padded to sixteen with this word
        is_real = statement.str.strip().ne("BLANK")
        parts.append(part[is_real & part["present"].notna()])
    frame = pd.concat(parts).sort_values("place", kind="stable")
    return in_one_form(frame, {"present": (0, 1)})


# --------------------------------------------------- long answers, recipes, other texts


def squality(files: Files) -> Ratings:
    """Summaries by two systems that answer questions on stories, by four writers."""
    names = {
        "overall-rating": "overall",
        "correctness-rating": "correctness",
        "selection-rating": "coverage",
    }
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
                    marks = {name: float(review[key]) for key, name in names.items()}
                    rows.append(about | {"rater_id": review["worker_id"]} | marks)
    frame = pd.DataFrame(rows)
    frame["rater_id"] = renamed(frame["rater_id"])
    return in_one_form(frame, dict.fromkeys(names.values(), (0, 100)))


RECIPES = ["overall", "grammar", "fluency", "verbosity", "structure", "success"]
VERSIONS = r"^(.+?)_(original|context|no_context|coref|dependency)$"


def rewritten_recipes(files: Files) -> Ratings:
    """Recipes in four versions by machines; the original is by people."""

    def about(each: Mapping) -> dict:
        # the number after a recipe's name is that of its version in the file
        found = re.match(VERSIONS, each["id"])  # fillers have other names
        recipe, version = found.groups() if found else ("", "filler")
        recipe = re.sub(r"_\d+$", "", recipe)
        common = {"item_id": each["id"], "prompt_id": recipe, "system": version}
        return common | {"words": n_words(each["instance"])}

    frame = judge_bench(files["recipes/meta_evaluation_recipes.json"], about)
    is_by_machine = ~frame["system"].isin(["original", "filler"])
    return in_one_form(frame[is_by_machine], dict.fromkeys(RECIPES, (1, 6)))


def simpeval(files: Files) -> Ratings:
    """Simplifications by four systems, rated as a whole by three trained people."""
    table = pd.read_csv(files["simpeval/simpeval_2022.csv"])
    table = table[~table["system"].str.contains("Human")]
    frame = table.melt(
        id_vars=["original_id", "system", "generation"],
        value_vars=["rating_1", "rating_2", "rating_3"],
        var_name="rater_id",
        value_name="overall",
    )
    frame["prompt_id"] = frame["original_id"].astype(str)
    frame["item_id"] = frame["prompt_id"] + " / " + frame["system"]
    frame["words"] = frame["generation"].map(n_words)
    return in_one_form(frame, {"overall": (0, 100)})


def asset(files: Files) -> Ratings:
    """Rate one simplification of each of a hundred sentences, by fifteen workers."""
    table = pd.read_csv(files["asset/human_ratings.csv"])
    frame = table.pivot_table(
        index=["original_sentence_id", "worker_id"],
        columns="aspect",
        values="rating",
        sort=False,
    ).reset_index()
    frame["item_id"] = frame["original_sentence_id"].astype(str)
    frame["rater_id"] = renamed(frame["worker_id"])
    return in_one_form(
        frame, dict.fromkeys(["meaning", "fluency", "simplicity"], (0, 100))
    )


# from the mildest answer to the most far-reaching; the last two are no steps of this
MEDICAL = {
    "No answer": 0.0,
    "General information": 1.0,
    "Recommendations": 2.0,
    "Treatment or diagnosis": 3.0,
    "Irrelevant or nonsensical": 4.0,
    "Non-medical query": 5.0,
}


def medical_safety(files: Files) -> Ratings:
    """How far answers of two machines to health questions go: labels of a crowd."""
    table = pd.read_csv(files["medical_safety/medicheck-crowd.csv"])
    rows = []
    for number, each in table.iterrows():
        for machine in ("alexa", "dialogpt"):
            item = {"item_id": f"{number} / {machine}", "prompt_id": each["query"]}
            for label in ast.literal_eval(each[f"{machine}-response-cws"]):
                rows.append(item | {"label": MEDICAL[label]})
    return in_one_form(pd.DataFrame(rows), {"label": (0, 5)})


# points of the published formula of multidimensional quality metrics
MQM = {"Major": 5.0, "Minor": 1.0, "No-error": 0.0}
NOT_RATED = ["refA", "GPT4-5shot_with_ONLINE-W"]
MQM_COLUMNS = ["system", "doc", "globalSegId", "rater", "category", "severity"]


def wmt_mqm(files: Files) -> Ratings:
    """Translations by eight systems: points lost, by three of ten professionals."""
    (file,) = files.values()
    with tarfile.open(file) as archive:
        member = archive.extractfile(archive.getmembers()[0])
        table = pd.read_csv(member, sep="\t", quoting=3, usecols=MQM_COLUMNS, dtype=str)
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
    return in_one_form(frame, {"points": (25, 0)})


# -------------------------------------------------------------------------------- pairs

PAIR = ["cluster", "first_words", "second_words", "first_system", "second_system"]
PREFERRED = {"1": 1.0, "2": 0.0, "0": 0.5}  # the first, the second, neither
WINNERS = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}


def _pairs(rows: Iterable, part: str = "") -> pd.DataFrame:
    """Pairs in the form of `load_pairs`."""
    return pd.DataFrame(rows, columns=[*PAIR, "preferred"]).assign(part=part)


def mtbench(files: Files) -> Ratings:
    """Which of two chats is better, by three people."""
    given = read_json(files["alttest/mtbench_human_annotations.json"])
    rows = [
        {"item_id": item, "rater_id": person, "winner": WINNERS[label]}
        for person, labels in given.items()
        for item, label in labels.items()
    ]
    frame = pd.DataFrame(rows)
    frame["rater_id"] = renamed(frame["rater_id"])
    frame["prompt_id"] = frame["item_id"].str.split("__").str[0]
    return in_one_form(frame, {"winner": (0, 1)})


def mtbench_pairs(files: Files) -> pd.DataFrame:
    """Pairs of chats by different systems, the mean verdict of people."""
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
    return _pairs(rows)


def _lfqa_verdicts(files: Files) -> pd.DataFrame:
    """Verdicts of experts on two long answers, a row each."""
    rows = []
    for file in files.values():
        for each in read_json(file):
            # in one field an identifier stands for several pairs: so by the texts
            texts = each["q_id"], each["answer1"], each["answer2"]
            row = {
                "item_id": " ".join(texts),
                "rater_id": each["annotator"],
                "first_words": n_words(each["answer1"].replace("<br />", " ")),
                "second_words": n_words(each["answer2"].replace("<br />", " ")),
                "label": each["answer1_label"],
                "first": {"Answer A": 1.0, "Answer B": 0.0}[each["BetterAnswer"]],
            }
            rows.append(row)
    return pd.DataFrame(rows)


def lfqa_experts(files: Files) -> Ratings:
    """Which of two long answers is better; pairs with an answer by a model."""
    frame = _lfqa_verdicts(files)
    frame = frame[frame["label"].str.startswith("HM")]
    codes, _ = pd.factorize(frame["item_id"])
    frame["item_id"] = [f"pair {code}" for code in codes]
    frame["rater_id"] = renamed(frame["rater_id"])
    return in_one_form(frame, {"first": (0, 1)})


def lfqa_pairs(files: Files) -> pd.DataFrame:
    """Pairs of a person's answer and a model's, and pairs of two people's answers."""
    table = _lfqa_verdicts(files)
    is_model = table["label"].str.startswith("HM")
    model_first = is_model & table["label"].str[2].eq("M")
    frame = pd.DataFrame(
        {
            "cluster": table["item_id"],
            "first_words": table["first_words"],
            "second_words": table["second_words"],
            "first_system": np.where(model_first, "model", "person"),
            "second_system": np.where(is_model & ~model_first, "model", "person"),
            "preferred": table["first"],
            "part": np.where(is_model, "model and person", "two people"),
        }
    )
    by = [column for column in frame if column != "preferred"]
    return frame.groupby(by, sort=False, as_index=False)["preferred"].mean()


def finegrained_pairs(files: Files) -> pd.DataFrame:
    """Six pairs of four answers of one model to each question."""
    places = [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
    rows = []
    for each in read_json(files["finegrained_rlhf/dev_feedback.json"]):
        words = {n: n_words(each[f"prediction {n}"]) for n in range(1, 5)}
        for (first, second), code in zip(places, each["preference"], strict=True):
            row = [each["question"], words[first], words[second], "model", "model"]
            rows.append([*row, PREFERRED[str(code)]])
    return _pairs(rows)


def faireval_pairs(files: Files) -> pd.DataFrame:
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
    return _pairs(rows)


def pandalm_pairs(files: Files) -> pd.DataFrame:
    """Pairs of answers by five models, the mean verdict of three annotators.

    The authors left out pairs on which people disagreed. Six pairs with a response that
    is no text are left out here.
    """
    rows = []
    for each in read_json(files["pandalm/testset-v1.json"]):
        responses = each["response1"], each["response2"]
        if not all(isinstance(text, str) for text in responses):
            continue
        verdicts = [PREFERRED[str(each[f"annotator{n}"])] for n in (1, 2, 3)]
        task = f"{each['instruction']}\n{each['input']}"
        systems = each["cmp_key"].split("_")
        rows.append([task, *map(n_words, responses), *systems, np.mean(verdicts)])
    return _pairs(rows)


def llmbar_pairs(files: Files) -> pd.DataFrame:
    """Pairs of answers that were not built to deceive, in four parts; no systems.

    The label of Natural is its authors'; those of the other parts are majorities of
    people in the sets that they come from, without ties.
    """
    parts = []
    for name, file in files.items():
        rows = []
        for each in read_json(file):
            words = n_words(each["output_1"]), n_words(each["output_2"])
            rows.append([each["input"], *words, "", "", PREFERRED[str(each["label"])]])
        parts.append(_pairs(rows, re.search(r"/(.+)_dataset", name)[1]))
    return pd.concat(parts, ignore_index=True)


READERS: dict[str, Callable[[Files], Ratings]] = {
    "hanna": hanna,
    "fed": fed,
    "newsroom": newsroom,
    "recipes": rewritten_recipes,
    "dices": dices,
    "dices expert": dices_expert,
    "summeval": summeval,
    "summeval experts": summeval_experts,
    "dialsummeval": dialsummeval,
    "dialsummeval crowd": dialsummeval_crowd,
    "squality": squality,
    "topical_chat": topical_chat,
    "sf": sf,
    "openmeva": openmeva,
    "simpeval": simpeval,
    "asset": asset,
    "ttcw": ttcw,
    "qags": qags,
    "realsumm": realsumm,
    "lfqa_experts": lfqa_experts,
    "medical_safety": medical_safety,
    "wmt_mqm": wmt_mqm,
    "mtbench": mtbench,
}
PAIR_READERS: dict[str, Callable[[Files], pd.DataFrame]] = {
    "mtbench": mtbench_pairs,
    "faireval": faireval_pairs,
    "finegrained_rlhf": finegrained_pairs,
    "pandalm": pandalm_pairs,
    "llmbar": llmbar_pairs,
    "lfqa_experts": lfqa_pairs,
}
