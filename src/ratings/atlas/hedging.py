"""Hedging words in texts: an exploratory question, for want of marks of confidence.

What is counted, in which sets, and what is said of it was fixed in
`data/atlas/README.md`, "Exploratory", before any word was counted.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pandas as pd

from helpers.data.published import read_text
from ratings.atlas import answers, ask, readers, sets
from ratings.atlas.readers import Files

SMALL_LETTERS_ONLY = ("may", "might")  # May is a month, Might is strength
FEWEST = 10  # clusters in which hedging differs, and texts with any
# sets of the question "length" whose files have the texts
SETS = (
    "squality",
    "recipes",
    "summeval",
    "dialsummeval",
    "simpeval",
    "ttcw",
    "openmeva",
    "topical_chat",
)


@cache
def _pattern() -> re.Pattern:
    """Any of the words and phrases, the longest first."""
    words = read_text(sets.FOLDER / "hedges.csv")["hedge"]
    parts = []
    for word in sorted(words, key=len, reverse=True):
        escaped = re.escape(word)
        is_small = word in SMALL_LETTERS_ONLY
        parts.append(escaped if is_small else f"(?i:{escaped})")
    return re.compile(rf"\b(?:{'|'.join(parts)})\b")


def per_hundred_words(texts: pd.Series) -> pd.Series:
    """Count hedging words in 100 words.

    Parameters
    ----------
    texts : pandas.Series of str

    Returns
    -------
    pandas.Series of float
        With the index of `texts`; NaN for a text without words.

    Examples
    --------
    >>> texts = pd.Series(["It may rain in May.", "Perhaps not certain at all", ""])
    >>> per_hundred_words(texts).tolist()
    [20.0, 40.0, nan]
    """
    n_hedges = texts.map(lambda text: len(_pattern().findall(text)))
    n_words = texts.map(readers.n_words).astype(float)
    return 100 * n_hedges / n_words.where(n_words > 0)


def texts_of(name: str, files: Files) -> pd.Series:
    """Give the texts of a set, by the items of its reader."""
    pairs = READERS[name](files)
    return pd.Series(dict(pairs), dtype=object).astype(str)


def _squality(files: Files) -> list[tuple[str, str]]:
    """Items and texts of SQuALITY."""
    found = []
    for story in readers.read_json(files["squality/all-responses.jsonl"]):
        for number, question in story["questions"].items():
            for system, answer in question.items():
                item = f"{story['passage-id']} / {number} / {system}"
                found.append((item, answer["response"]))
    return found


def _recipes(files: Files) -> list[tuple[str, str]]:
    """Items and texts of the rewritten recipes."""
    records = readers.read_json(files["recipes/meta_evaluation_recipes.json"])
    return [(each["id"], each["instance"]) for each in records["instances"]]


def _summeval(files: Files) -> list[tuple[str, str]]:
    """Items and texts of SummEval."""
    records = readers.read_json(files["summeval_expert_crowd/cnndm_THumB-1.0.jsonl"])
    return [(f"{each['seg_id']} / {each['SYS']}", each["hyp"]) for each in records]


def _dialsummeval(files: Files) -> list[tuple[str, str]]:
    """Items and texts of DialSummEval."""
    records = readers.read_json(files["dialsummeval/human_judgment.jsonl"])
    return [(f"{each['id']} / {each['model_id']}", each["summary"]) for each in records]


def _simpeval(files: Files) -> list[tuple[str, str]]:
    """Items and texts of SimpEval."""
    table = pd.read_csv(files["simpeval/simpeval_2022.csv"])
    items = table["original_id"].astype(str) + " / " + table["system"]
    return list(zip(items, table["generation"], strict=True))


def _ttcw(files: Files) -> list[tuple[str, str]]:
    """Items and texts of TTCW."""
    stories = readers.read_json(files["ttcw/ttcw_short_stories.json"])
    return [(story["story_id"], story["content"]) for story in stories]


def _openmeva(files: Files) -> list[tuple[str, str]]:
    """Items and texts of OpenMEVA."""
    found = []
    for each in readers.read_json(files["openmeva_mans/openmeva.json"]):
        for system, story in each["gen"].items():
            found.append((f"{each['doc_id']} / {system}", story["text"]))
    return found


def _topical_chat(files: Files) -> list[tuple[str, str]]:
    """Items and texts of Topical-Chat."""
    records = readers.read_json(files["unieval/topical_chat_result.json"])
    return [(str(n), each["system_output"]) for n, each in enumerate(records)]


READERS: Mapping[str, Callable[[Files], list[tuple[str, str]]]] = {
    "squality": _squality,
    "recipes": _recipes,
    "summeval": _summeval,
    "dialsummeval": _dialsummeval,
    "simpeval": _simpeval,
    "ttcw": _ttcw,
    "openmeva": _openmeva,
    "topical_chat": _topical_chat,
}


def slope(items: pd.DataFrame, texts: pd.Series, outcome: str) -> pd.Series:
    """Change of the mean rating for one more hedging word in 100 words.

    Within prompts and systems, as `answers.length_slope`.

    Parameters
    ----------
    items : pandas.DataFrame
        A row per text: ``item_id``, ``prompt_id``, ``system``, ``cluster``, outcome.
    texts : pandas.Series of str
        By item.
    outcome : str
        Column of mean ratings.

    Returns
    -------
    pandas.Series
        As `answers.slope_within`, and ``hedging``, the share of texts with any hedging
        word in percent; with ``varies in``, the clusters in which it differs within a
        prompt. Estimates are missing if that is under ten, or if fewer than ten texts
        have any.

    Raises
    ------
    ValueError
        If an item has no text.

    Examples
    --------
    >>> texts = pd.Series(["it may be so", "it is so or so", "it is", "it is not"] * 10)
    >>> items = pd.DataFrame({"item_id": range(40), "prompt_id": np.arange(40) // 2})
    >>> items = items.assign(system="a", cluster=items["prompt_id"], overall=1.0)
    >>> items.loc[::4, "overall"] = 0.0
    >>> row = slope(items, texts, "overall")
    >>> row[["hedging", "varies in"]].tolist()
    [25.0, 10.0]
    >>> round(float(row["estimate"] * items["overall"].std()), 2)
    -0.04
    """
    share = per_hundred_words(texts)
    missing = ~items["item_id"].isin(share.index)
    if missing.any():
        raise ValueError(f"no text of {items.loc[missing, 'item_id'].iloc[0]}")
    rows = items.assign(hedges=items["item_id"].map(share))
    rows = rows.dropna(subset=[outcome, "hedges"])
    by_prompt = rows.groupby(["cluster", "prompt_id"])["hedges"]
    differs = by_prompt.nunique().gt(1).groupby(level="cluster").any()
    row = answers.slope_within(rows, rows["hedges"], outcome)
    n_with_any = (rows["hedges"] > 0).sum()
    if min(differs.sum(), n_with_any) < FEWEST:
        row[answers.ENDS] = np.nan
    row["hedging"] = 100 * n_with_any / len(rows)
    row["varies in"] = int(differs.sum())
    return row


def slopes(data_source: str = "auto") -> pd.DataFrame:
    """Change of the rating with hedging words, in each set; see `slope`."""
    rows = {}
    for name in SETS:
        items, outcome = ask.rated_texts(name, data_source)
        texts = texts_of(name, sets.locate(name, data_source))
        rows[name] = slope(items, texts, outcome)
    return pd.DataFrame(rows).T
