"""ChatBench: the tables that its paper reports, and its released answers.

Chang, Anderson and Hofman (2025), "ChatBench: From Static Benchmarks to Human-AI
Evaluation". People answered questions of five datasets alone and with one of two
language models; the models answered the same questions alone (sections 3 and 4).

The released files could not be had when this was written. Their form is taken from the
authors' published code and from the names in their file of answers; a file of another
form is refused with a message that says what is missing.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.data import published, registry, tables
from helpers.data.columns import chatbench as columns
from helpers.data.columns import check
from helpers.data.columns.chatbench import AI_METHODS, ATTENTION_CHECK
from helpers.data.columns.chatbench import CHAT_CONDITIONS as CONDITION_NAMES
from helpers.data.columns.chatbench import CHAT_DATASETS as DATASETS
from helpers.data.columns.chatbench import CHAT_MODELS as MODELS
from helpers.data.raters import anonymise
from helpers.data.tables import as_numbers, require_plain
from helpers.simulate import chatbench as simulated

ANSWERS_FILE = "chatbench/full_study/user_answers_filtered.csv"
AI_ALONE_FILE = "chatbench/ai_alone_answers.csv"

# Names in the authors' code, by names in the released files.
ALIASES = {
    "workerId": "worker_id",
    "questionID": "question_id",
    "ds": "dataset",
    "question_position": "position",
}
COLUMN_NAMES = {"worker_id": "rater_id", "acc": "correct"}
RELEASED_NAMES = {ours: released for released, ours in COLUMN_NAMES.items()}
VALUE_NAMES = {
    "model": {"gpt-4o": "GPT-4o", "llama-3.1-8b": "Llama-3.1-8b"},
    "dataset": {
        "elementary_mathematics": "Elementary Math",
        "high_school_mathematics": "High School Math",
        "college_mathematics": "College Math",
        "conceptual_physics": "Conceptual Physics",
        "moral_scenarios": "Moral Scenarios",
        "attention_check": ATTENTION_CHECK,
        "example": ATTENTION_CHECK,
    },
    "condition": {"direct-to-AI": "direct to AI", "answer-first": "answer first"},
    "answer_type": {"userAnswer": "user-alone", "userAIAnswer": "user-AI"},
}
ANSWER_COLUMNS = [
    RELEASED_NAMES.get(name, name) for name in columns.CHATBENCH_ANSWERS.columns
]
METHOD_PREFIXES = {
    "letter_only_zero_shot": "AI letter zero shot",
    "letter_only_few_shot": "AI letter few shot",
    "free_text": "AI free text",
}
USER_ALONE = "User alone"
CONDITIONS = {condition: f"User-AI {condition}" for condition in CONDITION_NAMES}
METHODS = (*AI_METHODS, USER_ALONE, *CONDITIONS.values())
N_QUESTIONS = pd.Series(dict(zip(DATASETS, (95, 95, 38, 84, 84), strict=True)))

COMPARISON_TABLES = {
    "GPT-4o": "chatbench_tablea1",
    "Llama-3.1-8b": "chatbench_tablea2",
}
COMPARISON_KEYS = ["model", "dataset", "alone", "condition"]


@dataclass(frozen=True)
class ChatBench:
    """Answers of users, alone and with AI, and the accuracy of the models alone.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    answers : pandas.DataFrame
        One row per answer; columns of `columns.chatbench.CHATBENCH_ANSWERS`. Attention
        checks, and users who failed them, are left out.
    ai_alone : pandas.DataFrame
        One row per model, method and question; columns of
        `columns.chatbench.CHATBENCH_AI_ALONE`.
    """

    source: str
    answers: pd.DataFrame
    ai_alone: pd.DataFrame

    def questions(self) -> pd.DataFrame:
        """Compute the accuracy on each question.

        Returns
        -------
        pandas.DataFrame
            ``model``, ``dataset``, ``question_id``, ``method`` (one of `METHODS`),
            ``n_answers`` and ``accuracy``. As in the paper, users alone are counted by
            the model that they were assigned to.

        Examples
        --------
        >>> questions = load("simulated").questions()
        >>> questions["question_id"].nunique(), set(questions["method"]) == set(METHODS)
        (396, True)
        """
        is_alone = self.answers["answer_type"] == "user-alone"
        method = self.answers["condition"].map(CONDITIONS).mask(is_alone, USER_ALONE)
        keys = ["model", "dataset", "question_id", "method"]
        groups = self.answers.assign(method=method).groupby(keys)["correct"]
        by_users = groups.agg(n_answers="size", accuracy="mean").reset_index()
        return pd.concat([by_users, self.ai_alone[[*by_users]]], ignore_index=True)

    def accuracies(self) -> pd.DataFrame:
        """Average the accuracies of questions, as the paper does for Tables A1 and A2.

        The variance of a mean over questions is the variance between their observed
        accuracies, divided by their number: it holds the chance in a few answers, too.

        Returns
        -------
        pandas.DataFrame, shape (60, 2)
            ``accuracy`` and ``se`` (from 0 to 1), indexed by ``model``, ``dataset`` and
            ``method``, in the order of `MODELS`, `DATASETS` and `METHODS`.

        Examples
        --------
        >>> load("simulated").accuracies().shape
        (60, 2)
        """
        groups = self.questions().groupby(["model", "dataset", "method"])["accuracy"]
        return groups.agg(accuracy="mean", se="sem").reindex(_cell_order())


def _cell_order() -> pd.MultiIndex:
    """Every model, dataset and method, in the order of the paper."""
    return pd.MultiIndex.from_product(
        [MODELS, DATASETS, METHODS], names=["model", "dataset", "method"]
    )


def load(data_source: str = "real", seed: int = 0) -> ChatBench:
    """Load the answers of the full study.

    The files are used where they are in the mirror or in the cache, and never
    downloaded: their hashes are not known (see `data/unpinned.csv`). Simulated files
    have the form of the released ones and are read in the same way.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
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
    located = registry.locate([ANSWERS_FILE, AI_ALONE_FILE], data_source)
    if located is not None:
        return _read(located[ANSWERS_FILE], located[AI_ALONE_FILE], "real")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_simulated(folder, seed)
        return _read(folder / ANSWERS_FILE, folder / AI_ALONE_FILE, "simulated")


def load_if_here(data_source: str, seed: int = 0) -> ChatBench | None:
    """Load the answers as `load` does; give None if no file of them is here.

    Parameters
    ----------
    data_source : {"real", "simulated"}
        With "simulated" there are always answers.
    seed : int, optional
        Seed of the simulation.

    Returns
    -------
    ChatBench or None

    Raises
    ------
    registry.DataUnavailableError, tables.BadTableError
        If one file is here and the other is not, or a file is not as expected.

    Examples
    --------
    >>> load_if_here("simulated").source
    'simulated'
    """
    here = registry.unpinned_here("chatbench")
    if data_source == "real" and not {ANSWERS_FILE, AI_ALONE_FILE} & set(here):
        return None
    return load(data_source, seed)


def write_simulated(folder: Path, seed: int = 0) -> None:
    """Write simulated files in the released form; reported accuracies are the truth.

    Parameters
    ----------
    folder : pathlib.Path
        Gets a folder ``chatbench``.
    seed : int, optional
        Of the random numbers.
    """
    released = {name: code for code, name in METHOD_PREFIXES.items()}
    released[USER_ALONE] = simulated.USER_ALONE
    codes = {name: code for code, name in VALUE_NAMES["condition"].items()}
    released |= {method: codes[name] for name, method in CONDITIONS.items()}
    named = {
        "method": released,
        "model": {name: code for code, name in VALUE_NAMES["model"].items()},
        "dataset": {name: code for code, name in VALUE_NAMES["dataset"].items()},
    }
    cells = accuracies().replace(named).set_index(["model", "dataset", "method"])
    simulated.write(folder, cells, seed)


def _read(answers: Path, ai_alone: Path, source: str) -> ChatBench:
    """Read both files, and drop attention checks."""
    users = without_attention_checks(read_answers(answers))
    return ChatBench(source, users, read_ai_alone(ai_alone))


def read_answers(
    path: Path,
    schema: Any = columns.CHATBENCH_ANSWERS,
    names: Mapping[str, Mapping[str, str]] = VALUE_NAMES,
) -> pd.DataFrame:
    """Read the answers of users; a pilot had one model more."""
    table = tables.read_csv(path).rename(columns=ALIASES)
    tables.require(table, ANSWER_COLUMNS, path.name)
    table = table.replace(names).rename(columns=COLUMN_NAMES)
    table = table.assign(rater_id=anonymise(table["rater_id"].astype(str)))
    return check(table, schema, path.name)


def read_ai_alone(path: Path) -> pd.DataFrame:
    """Read how often the models alone were right on each question."""
    table = tables.read_csv(path).rename(columns=ALIASES)
    keys = ["model", "dataset", "question_id"]
    numbers = []
    for prefix in METHOD_PREFIXES:
        numbers += [f"{prefix}_count", f"{prefix}_acc"]
    tables.require(table, [*keys, *numbers], path.name)
    require_plain(table, keys, path.name)
    table = as_numbers(table, numbers, path.name)
    by_method = []
    for prefix, method in METHOD_PREFIXES.items():
        of_method = table[keys].assign(
            method=method,
            n_answers=table[f"{prefix}_count"],
            accuracy=table[f"{prefix}_acc"],
        )
        by_method.append(of_method)
    long = pd.concat(by_method, ignore_index=True).replace(VALUE_NAMES)
    asked = long[long["n_answers"] > 0]
    return check(asked, columns.CHATBENCH_AI_ALONE, path.name)


def without_attention_checks(answers: pd.DataFrame) -> pd.DataFrame:
    """Drop attention checks, and users who answered theirs wrongly."""
    is_check = answers["dataset"] == ATTENTION_CHECK
    is_wrong = answers["correct"] == 0
    inattentive = answers.loc[is_check & is_wrong, "rater_id"]
    is_left = ~is_check & ~answers["rater_id"].isin(inattentive)
    return answers[is_left].reset_index(drop=True)


def comparisons(study: ChatBench | None = None) -> pd.DataFrame:
    """Lay accuracies out in pairs, as Tables A1 and A2 do.

    Parameters
    ----------
    study : ChatBench, optional
        The answers; without them, the pairs are as the paper reports them.

    Returns
    -------
    pandas.DataFrame, shape (80, 14)
        ``model``, ``dataset``, ``alone`` (an AI-alone method, or users alone) and
        ``condition``; ``mean_alone`` and ``se_alone``, ``mean_user_ai`` and
        ``se_user_ai`` (from 0 to 1); ``z``, positive where AI or users alone do better,
        and ``p``, missing where the paper reports only that it is small; ``estimate``,
        ``low`` and ``high``, users with AI minus what they are compared with (points,
        95 % interval), and ``p_value``, which follows from ``z``.

    Examples
    --------
    >>> comparisons().loc[0, ["dataset", "alone", "condition"]].tolist()
    ['Elementary Math', 'AI letter zero shot', 'direct to AI']
    """
    by_model = {model: _numbers(table) for model, table in COMPARISON_TABLES.items()}
    wide = pd.concat(by_model, names=["model"]).unstack("measure", sort=False)
    rows = wide.rename_axis(columns=None).reset_index()
    if study is not None:
        cells = study.accuracies()
        methods = {"alone": rows["alone"], "user_ai": rows["condition"].map(CONDITIONS)}
        for side, method in methods.items():
            cell = pd.MultiIndex.from_arrays([rows["model"], rows["dataset"], method])
            rows[[f"mean_{side}", f"se_{side}"]] = cells.loc[cell].to_numpy()
    difference = rows["mean_user_ai"] - rows["mean_alone"]
    error = np.hypot(rows["se_alone"], rows["se_user_ai"])
    if study is not None:
        rows["z"] = -difference / error
        rows["p"] = 2 * norm.sf(rows["z"].abs())
    margin = norm.ppf(0.975) * error
    return rows.assign(
        estimate=100 * difference,
        low=100 * (difference - margin),
        high=100 * (difference + margin),
        p_value=2 * norm.sf(rows["z"].abs()),
    )


def attainable() -> pd.DataFrame:
    """Compute which z- and p-values the reported accuracies allow.

    A number reported as 0.73 was somewhere from 0.725 to 0.735, so whatever follows
    from it is a range, too. A p-value follows from the reported z-value, a z-value from
    the accuracies.

    Returns
    -------
    pandas.DataFrame, shape (160, 3)
        ``printed`` (missing where the paper reports only that a p-value is small),
        ``low`` and ``high``, indexed by ``measure`` ("z" or "p"), ``model``,
        ``dataset``, ``alone`` and ``condition``.

    Examples
    --------
    >>> attainable().loc["z"].iloc[0].round(2).to_dict()
    {'printed': -3.92, 'low': -5.25, 'high': -3.5}
    """
    rows = comparisons().set_index(COMPARISON_KEYS)
    half = 0.005
    difference = rows["mean_alone"] - rows["mean_user_ai"]
    # accuracies end at 0 and 1
    most = (rows["mean_alone"] + half).clip(upper=1) - (rows["mean_user_ai"] - half)
    least = (rows["mean_alone"] - half) - (rows["mean_user_ai"] + half).clip(upper=1)
    corners = []
    for change, sign in product([least, difference, most], [-1, 1]):
        ses = rows[["se_alone", "se_user_ai"]] + sign * half
        corners.append(change / np.hypot(ses["se_alone"], ses["se_user_ai"]))
    corners = pd.concat(corners, axis=1)
    size = rows["z"].abs()
    by_measure = {
        "z": pd.DataFrame(
            {
                "printed": rows["z"],
                "low": corners.min(axis=1),
                "high": corners.max(axis=1),
            }
        ),
        "p": pd.DataFrame(
            {
                "printed": rows["p"],
                "low": 2 * norm.sf(size + half),
                "high": 2 * norm.sf((size - half).clip(lower=0)),
            }
        ),
    }
    return pd.concat(by_measure, names=["measure"])


def accuracies() -> pd.DataFrame:
    """Collect the accuracies of Tables A1 and A2, each of which stands there often.

    Returns
    -------
    pandas.DataFrame, shape (60, 5)
        ``model``, ``dataset``, ``method``, ``mean`` and ``se`` (from 0 to 1). Rows are
        in the order of `MODELS`, `DATASETS` and `METHODS`.

    Examples
    --------
    >>> accuracies()[["dataset", "method", "mean", "se"]].head(3)
               dataset               method  mean    se
    0  Elementary Math  AI letter zero shot  0.73  0.04
    1  Elementary Math   AI letter few shot  0.74  0.04
    2  Elementary Math         AI free text  0.99  0.01
    """
    rows = comparisons()
    keys = ["model", "dataset", "method"]
    alone = rows.rename(
        columns={"alone": "method", "mean_alone": "mean", "se_alone": "se"}
    )
    user_ai = rows.assign(method=rows["condition"].map(CONDITIONS)).rename(
        columns={"mean_user_ai": "mean", "se_user_ai": "se"}
    )
    printed = [part[[*keys, "mean", "se"]] for part in (alone, user_ai)]
    # Cells that are reported several times, but not alike, would stop `reindex`.
    cells = pd.concat(printed).drop_duplicates().set_index(keys)
    return cells.reindex(_cell_order()).reset_index()


def counts() -> pd.Series:
    """Read how many answers people gave (Table A3).

    Returns
    -------
    pandas.Series of int
        Number of answers, indexed by ``model``, ``dataset``, ``condition`` and
        ``answer_type``.

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
        ``correlation``, ``mae``, ``bleu`` and ``rouge``, indexed by ``model`` and
        ``method``. The last two are missing for methods without a conversation.

    Examples
    --------
    >>> simulators().loc[("GPT-4o", "ChatBench-Sim"), "correlation"]
    np.float64(0.63)
    """
    wide = _numbers("chatbench_table1").unstack("measure", sort=False)
    wide = wide.rename_axis(columns=None)
    return wide.sort_index(level="model", sort_remaining=False)


def _numbers(table: str) -> pd.Series:
    """Read a printed table as numbers, indexed by what names a cell."""
    return published.printed_table(table)["published"].astype(float)
