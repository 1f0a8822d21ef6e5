"""Chang, Anderson and Hofman (2025), "ChatBench: From Static Benchmarks to Human-AI Evaluation".

People answered questions of five datasets alone and together with one of two language models; the
models answered the same questions alone (sections 3 and 4). `load` gives the answers, the other
functions what the paper prints.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers import claims, paths
from helpers.files import registry, schemas
from helpers.files.schemas import AI_METHODS
from helpers.files.schemas import CHAT_CONDITIONS as CONDITION_NAMES
from helpers.files.schemas import CHAT_DATASETS as DATASETS
from helpers.files.schemas import CHAT_MODELS as MODELS
from helpers.simulate.chatbench import BATCHES, USER_ALONE, ChatBenchTruth, chatbench
from helpers.stats import accuracy
from helpers.studies import chatbench_files

__all__ = [
    "AI_METHODS",
    "CONDITIONS",
    "DATASETS",
    "METHODS",
    "MODELS",
    "N_QUESTIONS",
    "SUBJECTS",
    "USER_ALONE",
    "ChatBench",
    "accuracies",
    "comparisons",
    "counts",
    "load",
    "simulators",
]

CONDITIONS = {condition: f"User-AI {condition}" for condition in CONDITION_NAMES}
METHODS = (*AI_METHODS, USER_ALONE, *CONDITIONS.values())
SUBJECTS = {dataset: subject for subject, (_, sizes) in BATCHES.items() for dataset in sizes}
N_QUESTIONS = pd.Series(
    {dataset: n * size for n, sizes in BATCHES.values() for dataset, size in sizes.items()}
)

_COMPARISON_TABLES = dict(zip(MODELS, ("chatbench_tablea1", "chatbench_tablea2"), strict=True))


@dataclass(frozen=True)
class ChatBench:
    """Answers of users, alone and with AI, and the accuracy of the models alone.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    answers : pandas.DataFrame
        One row per answer; columns of `schemas.CHATBENCH_ANSWERS`. Attention checks, and users
        who failed them, are left out.
    ai_alone : pandas.DataFrame
        One row per model, method and question; columns of `schemas.CHATBENCH_AI_ALONE`.
    """

    source: str
    answers: pd.DataFrame
    ai_alone: pd.DataFrame

    def questions(self) -> pd.DataFrame:
        """Compute the accuracy on each question.

        Returns
        -------
        pandas.DataFrame
            ``model``, ``dataset``, ``question_id``, ``method`` (one of `METHODS`), ``n_answers``
            and ``accuracy``. As in the paper, users alone are counted by the model that they were
            assigned to.

        Examples
        --------
        >>> questions = load("simulated").questions()
        >>> questions["question_id"].nunique(), set(questions["method"]) == set(METHODS)
        (396, True)
        """
        alone = self.answers["answer_type"] == "user-alone"
        method = self.answers["condition"].map(CONDITIONS).mask(alone, USER_ALONE)
        keys = ["model", "dataset", "question_id", "method"]
        of_users = accuracy.question_accuracy(self.answers.assign(method=method), keys)
        columns = [*keys, "n_answers", "accuracy"]
        return pd.concat([of_users.reset_index()[columns], self.ai_alone[columns]])

    def accuracies(self) -> pd.DataFrame:
        """Average the accuracies of questions, as the paper does for Tables A1 and A2.

        Returns
        -------
        pandas.DataFrame, shape (60, 5)
            Columns of `accuracy.dataset_accuracy`, indexed by ``model``, ``dataset`` and
            ``method``.

        Examples
        --------
        >>> load("simulated").accuracies().shape
        (60, 5)
        """
        groups = self.questions().groupby(["model", "dataset", "method"])
        cells = groups[["n_answers", "accuracy"]].apply(accuracy.dataset_accuracy)
        order = pd.MultiIndex.from_product([MODELS, DATASETS, METHODS], names=cells.index.names)
        return cells.reindex(order)


def load(data_source: str = "auto", seed: int = 0) -> ChatBench:
    """Load the answers of the full study.

    The files are not downloaded: put them into the mirror or the cache (see `data/unpinned.csv`).

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate_unpinned`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    ChatBench
        The answers and where they come from.

    Raises
    ------
    registry.DataUnavailableError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load("simulated").source
    'simulated'
    """
    files = chatbench_files.ANSWERS_FILE, chatbench_files.AI_ALONE_FILE
    located = registry.locate_unpinned(files, data_source)
    if located is None:
        answers, ai_alone = chatbench(np.random.default_rng(seed), _truth())
        answers = schemas.check(answers, schemas.CHATBENCH_ANSWERS, "simulation")
        ai_alone = schemas.check(ai_alone, schemas.CHATBENCH_AI_ALONE, "simulation")
    else:
        answers = chatbench_files.read_answers(located[files[0]])
        ai_alone = chatbench_files.read_ai_alone(located[files[1]])
    source = "simulated" if located is None else "real"
    return ChatBench(source, chatbench_files.without_attention_checks(answers), ai_alone)


def _truth() -> ChatBenchTruth:
    """Simulate from the printed accuracies."""
    conditions = {name: condition for condition, name in CONDITIONS.items()}
    cells = accuracies().replace({"method": conditions}).set_index(["model", "dataset", "method"])
    return ChatBenchTruth(means=cells["mean"].to_dict(), ses=cells["se"].to_dict())


def comparisons() -> pd.DataFrame:
    """Read the comparisons of accuracies that the paper prints (Tables A1 and A2).

    Returns
    -------
    pandas.DataFrame, shape (80, 10)
        ``model``, ``dataset``, ``alone`` (an AI-alone method, or users alone) and ``condition``;
        ``mean_alone`` and ``se_alone``, ``mean_user_ai`` and ``se_user_ai`` (from 0 to 1); ``z``,
        positive where AI or users alone do better, and ``p``, missing where the paper prints only
        that it is small.

    Examples
    --------
    >>> comparisons().loc[0, ["dataset", "alone", "condition"]].tolist()
    ['Elementary Math', 'AI letter zero shot', 'direct to AI']
    """
    tables = {model: _numbers(table) for model, table in _COMPARISON_TABLES.items()}
    wide = pd.concat(tables, names=["model"]).unstack("measure", sort=False)
    return wide.rename_axis(columns=None).reset_index()


def accuracies() -> pd.DataFrame:
    """Collect the accuracies of Tables A1 and A2, each of which is printed several times.

    Returns
    -------
    pandas.DataFrame, shape (60, 5)
        ``model``, ``dataset``, ``method``, ``mean`` and ``se`` (from 0 to 1). Rows are in the order
        of `MODELS`, `DATASETS` and `METHODS`.

    Examples
    --------
    >>> accuracies()[["dataset", "method", "mean", "se"]].head(3)
               dataset               method  mean    se
    0  Elementary Math  AI letter zero shot  0.73  0.04
    1  Elementary Math   AI letter few shot  0.74  0.04
    2  Elementary Math         AI free text  0.99  0.01
    """
    rows = comparisons()
    columns = ["model", "dataset", "method", "mean", "se"]
    alone = rows[["model", "dataset", "alone", "mean_alone", "se_alone"]]
    user_ai = rows[["model", "dataset", "condition", "mean_user_ai", "se_user_ai"]]
    user_ai = user_ai.assign(condition=user_ai["condition"].map(CONDITIONS))
    parts = [part.set_axis(columns, axis="columns") for part in (alone, user_ai)]
    cells = pd.concat(parts).drop_duplicates().set_index(columns[:3])
    order = pd.MultiIndex.from_product([MODELS, DATASETS, METHODS], names=columns[:3])
    return cells.reindex(order).reset_index()


def counts() -> pd.Series:
    """Read how many answers people gave (Table A3).

    Returns
    -------
    pandas.Series of int
        Number of answers, indexed by ``model``, ``dataset``, ``condition`` and ``answer_type``.

    Examples
    --------
    >>> int(counts().xs("user-AI", level="answer_type").sum())
    6912
    """
    return _numbers("chatbench_tablea3").astype(int)


def simulators() -> pd.DataFrame:
    """Read how well AI-alone methods and simulated users predict real users (Table 1).

    Returns
    -------
    pandas.DataFrame, shape (10, 4)
        ``correlation``, ``mae``, ``bleu`` and ``rouge``, indexed by ``model`` and ``method``. The
        last two are missing for methods without a conversation.

    Examples
    --------
    >>> simulators().loc[("GPT-4o", "ChatBench-Sim"), "correlation"]
    np.float64(0.63)
    """
    wide = _numbers("chatbench_table1").unstack("measure", sort=False).rename_axis(columns=None)
    return wide.sort_index(level="model", sort_remaining=False)


def _numbers(table: str) -> pd.Series:
    """Read a printed table as numbers, indexed by what names a cell."""
    printed = claims.read_text(paths.PUBLISHED / f"{table}.csv")
    return printed.set_index(claims.table_keys(table))["published"].astype(float)
