"""The released ratings and texts of Kamoda et al. (2025).

Kamoda, Asai, Brassard and Sakaguchi (2025), "Quantifying the Influence of Evaluation
Aspects".

Each of 300 questions has four answers, two by people and two by a language model. Three
workers rated every answer on three aspects and on overall acceptability, chose the best
of the four and said why (sections 3.1 to 3.3). Language models rated the same answers
(section 5).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import text
from helpers.aggregation import aggregate
from helpers.data import registry, tables
from helpers.data.columns import check
from helpers.data.columns import kamoda as columns
from helpers.data.columns.kamoda import ASPECTS, RANGES
from helpers.data.published import published_claims
from helpers.data.published import reported as shown_of_paper
from helpers.data.raters import anonymise
from helpers.data.tables import as_numbers, as_text
from helpers.simulate import kamoda as simulated

__all__ = [
    "ASPECTS",
    "IDEALS",
    "KINDS",
    "LEVELS",
    "RANGES",
    "WRITERS",
    "Kamoda",
    "KamodaTexts",
    "load",
    "load_expert_verdicts",
    "load_texts",
    "reported",
]

RATINGS_FILE = "kamoda/mturk_ratings.jsonl"
ASSIGNMENTS_FILE = "kamoda/assignments.jsonl"
ANSWERS_FILE = "kamoda/answers.jsonl"
QUESTIONS_FILE = "kamoda/questions.jsonl"
EVALUATOR_FILES = {
    "kamoda/gpt4_ratings.jsonl": "gpt4",
    "kamoda/llama_ratings.jsonl": "llama2",
    "kamoda/gpt4_ratings_3epoch_mean.jsonl": "gpt4_mean3",
}

# Experts of Xu et al. (2023), "A Critical Evaluation of Evaluations for Long-form
# Question Answering"; the number is that of the expert.
EXPERTS = [
    *("Biology_8", "Biology_9", "Biology_12", "Chemistry_8", "Economics_18"),
    *("Economics_20", "History_19", "History_21", "History_22", "Law_16"),
    *("Physics_11", "Physics_14", "TechCS_15"),
]
EXPERT_FILES = [f"atlas/lfqa_experts/{name}_Common20.json" for name in EXPERTS]

SYSTEM_NAMES = {
    "dataset_answer_top1": "human_top",
    "dataset_answer_random": "human_random",
    "generated_answer_formal": "model_formal",
    "generated_answer_casual": "model_casual",
}
# What readers see: words for kinds of answers, for their writers, and for the levels
# of each scale, from the ideal downwards.
KINDS = {
    "model_formal": "ChatGPT, formal",
    "model_casual": "ChatGPT, casual",
    "human_top": "Reddit, most votes",
    "human_random": "Reddit, random",
}
WRITERS = ("ChatGPT", "Reddit user")
LEVELS = {
    "factuality": {
        3: "entirely right",
        2: "mostly right",
        1: "mostly wrong",
        0: "entirely wrong",
    },
    "amount": {-1: "says too little", 0: "says enough", 1: "says too much"},
    "formality": {-1: "too casual", 0: "right tone", 1: "too formal"},
}
IDEALS = columns.IDEALS | {"amount": columns.IDEALS["amount_info"]}
JUDGES = {"GPT-4": "gpt4", "Llama 2": "llama2", "GPT-4, mean of 3": "gpt4_mean3"}

RATING_COLUMNS = {
    "answer_id": "item_id",
    "amountInfo": "amount_info",
    "overall": "acceptability",
    "preference": "preferred",
}
REASON_COLUMNS = {
    "Answer.reason_of_preference": "text",
    "Answer.no_appropriate.on": "none_appropriate",
}
ANSWER_COLUMNS = {"answer_id": "item_id", "answer": "text", "answer_score": "votes"}


@dataclass(frozen=True)
class Kamoda:
    """Ratings of answers by people and by language models.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    ratings : pandas.DataFrame
        One row per (answer, worker); columns of `columns.kamoda.KAMODA_RATINGS`, and
        for readers ``kind`` of answer (`KINDS`), ``writer`` (`WRITERS`) and ``amount``,
        the amount of information.
    evaluators : pandas.DataFrame
        One row per (answer, language model); columns of
        `columns.kamoda.KAMODA_EVALUATORS`. Their overall rating is called
        acceptability, like the workers'.
    """

    source: str
    ratings: pd.DataFrame
    evaluators: pd.DataFrame

    def answers(self) -> pd.DataFrame:
        """Average the workers' ratings of each answer.

        Returns
        -------
        pandas.DataFrame, shape (n_answers, 15)
            The design with ``kind`` and ``writer``, ``n_ratings``, the means of the
            aspects and of acceptability in the units of their scales, and
            ``preferred``, the share of workers who chose the answer.

        Examples
        --------
        >>> load("simulated").answers()["preferred"].between(0, 1).all()
        np.True_
        """
        answers = aggregate(
            self.ratings,
            "item_id",
            mean=[*RANGES, "amount", "preferred"],
            first=[
                *("question_id", "prompt_id", "task", "system", "arm"),
                *("kind", "writer"),
            ],
        )
        answers.attrs["source"] = self.source
        return answers

    def judge(self, name: str) -> pd.DataFrame:
        """Ratings by a language model, of the answers that it rated.

        Parameters
        ----------
        name : {"GPT-4", "Llama 2", "GPT-4, mean of 3"}
            The judge. GPT-4 rated all answers, a tuned Llama 2 those of a test set; of
            some answers the mean of three runs of GPT-4 was released, too.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``item_id``: the three aspects (with ``amount``) and
            ``acceptability``, the direct overall rating, each on the workers' scale.

        Raises
        ------
        OptionError
            If there is no such judge.

        References
        ----------
        Kamoda et al. (2025), section 5.

        Examples
        --------
        >>> load("simulated").judge("GPT-4").shape
        (1200, 4)
        """
        if name not in JUDGES:
            known = ", ".join(repr(judge) for judge in JUDGES)
            raise tables.OptionError(f"judge {name!r} is unknown: choose from {known}")
        is_own = self.evaluators["evaluator"] == JUDGES[name]
        rated = self.evaluators[is_own].set_index("item_id")
        rated = rated.rename(columns={"amount_info": "amount"})
        judged = rated[[*LEVELS, "acceptability"]]
        judged.attrs["source"] = self.source
        return judged


@dataclass(frozen=True)
class KamodaTexts:
    """Questions, answers and reasons of the workers; not to be printed or passed on.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    answers : pandas.DataFrame
        One row per answer; columns of `columns.kamoda.KAMODA_ANSWERS`.
        ``votes`` is its score on Reddit.
    justifications : pandas.DataFrame
        One row per (question, worker); columns of
        `columns.kamoda.KAMODA_JUSTIFICATIONS`: why the worker preferred an answer,
        whether none was found appropriate, and the minutes on the task. Workers have
        the same labels as in the ratings.
    """

    source: str
    answers: pd.DataFrame
    justifications: pd.DataFrame

    def measures(self) -> pd.DataFrame:
        """Measure the answers without people: their length, and ROUGE.

        Returns
        -------
        pandas.DataFrame, shape (n_answers, 3)
            Indexed by ``item_id``: ``words``, and ``rouge_1`` and ``rouge_l``, from 0
            to 1, with the human answer with most votes as the reference; NaN for the
            references themselves.

        References
        ----------
        Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries; Kamoda et
        al. (2025), section 5.1.

        Examples
        --------
        >>> measures = load_texts("simulated").measures()
        >>> measures.isna().sum().to_dict()
        {'words': 0, 'rouge_1': 300, 'rouge_l': 300}
        """
        answers = self.answers.set_index("item_id")
        words = answers["text"].str.split().str.len().to_frame("words")
        overlap = text.reference_overlap(answers, "human_top")
        measures = words.join(overlap)
        measures.attrs["source"] = self.source
        return measures


def load(data_source: str = "real", seed: int = 0) -> Kamoda:
    """Load all ratings of 1,200 answers, by three workers each and by evaluators.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    Kamoda
        The ratings and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load("simulated").source
    'simulated'
    """
    needed = (RATINGS_FILE, ASSIGNMENTS_FILE, ANSWERS_FILE, *EVALUATOR_FILES)
    located = registry.locate(needed, data_source)
    if located is None:
        ratings = _with_words(simulated.ratings(seed))
        return Kamoda("simulated", ratings, simulated.judges(seed))
    by_evaluator = [
        read_evaluator(located[file], name) for file, name in EVALUATOR_FILES.items()
    ]
    evaluators = pd.concat(by_evaluator, ignore_index=True)
    return Kamoda("real", _with_words(read_ratings(located)), evaluators)


def _with_words(ratings: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that readers see."""
    is_model = ratings["system"].str.startswith("model")
    return ratings.assign(
        kind=ratings["system"].map(KINDS),
        writer=np.where(is_model, *WRITERS),
        amount=ratings["amount_info"],
    )


def load_texts(data_source: str = "real", seed: int = 0) -> KamodaTexts:
    """Load the texts: 300 questions, 1,200 answers and 900 justifications.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one. The same seed gives `load` the same
        questions, answers and workers.

    Returns
    -------
    KamodaTexts
        The texts and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> len(load_texts("simulated").justifications)
    900
    """
    needed = (ASSIGNMENTS_FILE, ANSWERS_FILE, QUESTIONS_FILE)
    located = registry.locate(needed, data_source)
    if located is None:
        answers = simulated.answers(seed)[list(columns.KAMODA_ANSWERS.columns)]
        return KamodaTexts("simulated", answers, simulated.justifications(seed))
    answers = read_answer_texts(located)
    justifications = read_justifications(located[ASSIGNMENTS_FILE])
    return KamodaTexts("real", answers, justifications)


def load_expert_verdicts(source: str, seed: int = 0) -> pd.DataFrame:
    """Load what experts of Xu et al. (2023) prefer, a human answer or a model's.

    Kamoda et al. compare their own share with one of that study, which also asked about
    answers to questions from "Explain Like I'm Five".

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the rest of the study comes from: its `source`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.DataFrame
        A row for each verdict on a pair of one human and one model answer: ``domain``
        of the expert, ``rater_id``, ``item_id`` (the pair, without its texts) and
        ``model_preferred``, 0 or 1. Pairs of two human answers are left out.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    References
    ----------
    Xu et al. (2023), A Critical Evaluation of Evaluations for Long-form Question
    Answering, ACL.

    Examples
    --------
    >>> verdicts = load_expert_verdicts("simulated")
    >>> list(verdicts)
    ['domain', 'rater_id', 'item_id', 'model_preferred']
    """
    located = registry.locate(EXPERT_FILES, source)
    if located is None:
        return simulated.expert_verdicts(seed)
    read = {path.name: read_expert(path) for path in located.values()}
    verdicts = pd.concat(read, names=["file"]).reset_index("file")
    verdicts["domain"] = verdicts["file"].str.partition("_")[0]
    verdicts["rater_id"] = anonymise(verdicts["annotator"])
    # question ids repeat for other pairs of answers
    pair = verdicts.groupby(["domain", "q_id", "answer1", "answer2"], sort=False)
    verdicts["item_id"] = "pair-" + pair.ngroup().add(1).astype(str)
    # labels such as "HMh[4][1]": human against model, and what the first answer is
    against_model = verdicts["answer1_label"].str.startswith("HM")
    verdicts = verdicts[against_model].reset_index(drop=True)
    model_first = verdicts["answer1_label"].str[2] == "M"
    first_chosen = verdicts["BetterAnswer"] == "Answer A"
    verdicts["model_preferred"] = (first_chosen == model_first).astype(float)
    return check(verdicts, columns.EXPERT_VERDICTS, "lfqa_experts")


def read_expert(path: Path) -> pd.DataFrame:
    """Read the verdicts of one expert: a list of objects."""
    with tables.readable(path, "JSON"):
        records = json.loads(path.read_text(encoding="utf-8"))
        verdicts = pd.DataFrame(records)
    texts = ["q_id", "answer1", "answer2", "answer1_label", "BetterAnswer"]
    tables.require(verdicts, [*texts, "annotator"], path.name)
    verdicts = as_text(verdicts, texts, path.name)
    unknown = ~verdicts["BetterAnswer"].isin(["Answer A", "Answer B"])
    if unknown.any():
        row = unknown.idxmax()
        value = tables.cell(verdicts.loc[row, "BetterAnswer"])
        problem = f"column 'BetterAnswer', row {row + 1}: {value} is not allowed; "
        problem += "allowed: 'Answer A' or 'Answer B'"
        raise tables.bad_table(path.name, [problem])
    return verdicts


def read_ratings(located: Mapping[str, Path]) -> pd.DataFrame:
    """Read the workers' ratings; worker and kind of answer stand in other files."""
    path = located[RATINGS_FILE]
    keys = ["assignment_id", "answer_id", "question_id"]
    ratings = tables.read_jsonl(path)
    tables.require(ratings, keys, path.name)
    ratings = as_text(ratings, keys, path.name)
    assignments = _read_assignments(located[ASSIGNMENTS_FILE])
    answers = _read_answers(located[ANSWERS_FILE])
    system = _look_up(ratings["answer_id"], answers["system"], ANSWERS_FILE, path)
    rater_id = _look_up(
        ratings["assignment_id"], assignments["rater_id"], ASSIGNMENTS_FILE, path
    )
    table = ratings.rename(columns=RATING_COLUMNS).assign(
        prompt_id=ratings["question_id"],
        task="eli5",
        system=system,
        arm="baseline",
        rater_id=rater_id,
    )
    return check(table, columns.KAMODA_RATINGS, path.name)


def read_evaluator(path: Path, name: str) -> pd.DataFrame:
    """Read the ratings by one language model."""
    ratings = tables.read_jsonl(path)
    table = ratings.rename(columns=RATING_COLUMNS).assign(evaluator=name)
    return check(table, columns.KAMODA_EVALUATORS, path.name)


def read_answer_texts(located: Mapping[str, Path]) -> pd.DataFrame:
    """Read the answers with their questions."""
    path = located[ANSWERS_FILE]
    questions = _read_keyed(located[QUESTIONS_FILE], "question_id", ["question"])
    answers = _read_answers(path).reset_index()
    tables.require(answers, ["question_id", *ANSWER_COLUMNS], path.name)
    answers = as_text(answers, ["question_id"], path.name)
    asked = _look_up(
        answers["question_id"], questions["question"], QUESTIONS_FILE, path
    )
    table = answers.rename(columns=ANSWER_COLUMNS).assign(question=asked)
    return check(table, columns.KAMODA_ANSWERS, path.name)


def read_justifications(path: Path) -> pd.DataFrame:
    """Read why workers preferred an answer, and how long a task took them."""
    table = _read_assignments(path)
    tables.require(
        table, ["question_id", *REASON_COLUMNS, "WorkTimeInSeconds"], path.name
    )
    table = as_numbers(table, ["WorkTimeInSeconds"], path.name)
    minutes = table["WorkTimeInSeconds"] / 60
    table = table.rename(columns=REASON_COLUMNS).assign(minutes=minutes)
    return check(table, columns.KAMODA_JUSTIFICATIONS, path.name)


def _read_assignments(path: Path) -> pd.DataFrame:
    """Read assignments by their identifier; workers are numbered as they come here."""
    table = _read_keyed(path, "assignment_id", ["WorkerId"])
    rater_id = anonymise(table["WorkerId"])
    return table.drop(columns="WorkerId").assign(rater_id=rater_id)


def _read_answers(path: Path) -> pd.DataFrame:
    """Read answers by their identifier, with the kind of answer in our words."""
    table = _read_keyed(path, "answer_id", ["answer_label"])
    return table.assign(system=table["answer_label"].replace(SYSTEM_NAMES))


def _read_keyed(path: Path, key: str, text_columns: Sequence[str]) -> pd.DataFrame:
    """Read a file whose rows are named by a key; it must have some columns of text."""
    table = tables.read_jsonl(path)
    tables.require(table, [key, *text_columns], path.name)
    return as_text(table, [key, *text_columns], path.name).set_index(key)


def _look_up(keys: pd.Series, column: pd.Series, file: str, used_in: Path) -> pd.Series:
    """Find the values of keys of the file `used_in` in a column of `file`."""
    is_repeated = column.index.duplicated()
    if is_repeated.any():
        problems = [
            f"{column.index.name} {tables.cell(key)} stands there again"
            for key in column.index[is_repeated].unique()
        ]
        raise tables.bad_table(Path(file).name, problems)
    tables.require_known(keys, column.index, Path(file).name, used_in.name)
    return keys.map(column)


def figure1(study: Kamoda, texts: KamodaTexts) -> pd.DataFrame:
    """Recompute the mean ratings of the four example answers in Figure 1.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    texts : KamodaTexts
        The answers, among which the question is found by its words.

    Returns
    -------
    pandas.DataFrame
        ``estimate`` in points, indexed by ``system`` and ``aspect``; without rows if no
        question has these words, as in simulated texts.

    Examples
    --------
    >>> figure1(load("simulated"), load_texts("simulated")).shape
    (0, 1)
    """
    is_example = texts.answers["question"].str.contains("our own voice")
    questions = texts.answers.loc[is_example, "question_id"].unique()
    rows = study.ratings[study.ratings["question_id"].isin(questions)]
    means = rows.groupby("system")[list(RANGES)].mean().rename_axis(columns="aspect")
    return means.stack().to_frame("estimate")


def reported(names: Sequence[str]) -> pd.Series:
    """Look up numbers that the paper reports, to be shown beside ours.

    Parameters
    ----------
    names : sequence of str
        Claims of data/published/claims.csv, without ``"kamoda."``.

    Returns
    -------
    pandas.Series
        The numbers by name, NaN where the paper gives none, and beside simulated data.

    Raises
    ------
    OptionError
        If there is no such claim.

    Examples
    --------
    >>> reported(["regression.weight_factuality", "tree.rho"]).tolist()
    [2.048, 0.83]
    """
    published = published_claims()["printed"]
    claims = [f"kamoda.{name}" for name in names]
    for claim in claims:
        if claim not in published.index:
            raise tables.OptionError(f"the published claims have no {claim!r}")
    numbers = shown_of_paper(published[claims])
    numbers = numbers.replace("", "nan").astype(float)
    return numbers.set_axis(list(names)).rename("reported")
