"""The released answers and conversations of ChatBench, and what its paper prints.

Chang, Anderson and Hofman (2025), "ChatBench: From Static Benchmarks to Human-AI
Evaluation".

People answered questions of five datasets alone and together with one of two language
models; the models answered the same questions alone (sections 3 and 4).

The released files could not be had when this was written. Their form is taken from the
authors' published code and from the names in their file of answers; a file of another
form is refused with a message that says what is missing.
"""

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data import published, registry, tables
from helpers.data.columns import chatbench as columns
from helpers.data.columns import check
from helpers.data.columns.chatbench import AI_METHODS, ATTENTION_CHECK
from helpers.data.columns.chatbench import CHAT_CONDITIONS as CONDITION_NAMES
from helpers.data.columns.chatbench import CHAT_DATASETS as DATASETS
from helpers.data.columns.chatbench import CHAT_MODELS as MODELS
from helpers.data.raters import anonymise
from helpers.data.tables import as_numbers, is_text, require_plain
from helpers.simulate import chatbench as simulated
from helpers.simulate.chatbench import BATCHES, LETTERS, USER_ALONE
from helpers.stats import accuracy

ANSWERS_FILE = "chatbench/full_study/user_answers_filtered.csv"
AI_ALONE_FILE = "chatbench/ai_alone_answers.csv"
QUESTIONS_FILE = "chatbench/questions.csv"
CONVERSATIONS_FILE = "chatbench/full_study/conversations.json"

# Names in the authors' code, by names in the released files.
ALIASES = {
    "workerId": "worker_id",
    "questionID": "question_id",
    "ds": "dataset",
    "selectedAnswer": "selected_answer",
    "question_position": "position",
    "chatHistory": "chat_history",
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
KEYS = (
    "worker_id",
    "model",
    "condition",
    "question_id",
    "selected_answer",
    "chat_history",
)
# as in the released files, or as here
NAMES_OF_MODELS = {*VALUE_NAMES["model"], *VALUE_NAMES["model"].values()}
NAMES_OF_CONDITIONS = {*VALUE_NAMES["condition"], *VALUE_NAMES["condition"].values()}
OPTIONS = tuple(f"option_{letter}" for letter in LETTERS)
ROLES = {"You": "user", "Bot": "assistant", "user": "user", "assistant": "assistant"}
COLUMNS = (
    "rater_id",
    "model",
    "condition",
    "dataset",
    "question_id",
    "question",
    "messages",
)

CONDITIONS = {condition: f"User-AI {condition}" for condition in CONDITION_NAMES}
METHODS = (*AI_METHODS, USER_ALONE, *CONDITIONS.values())
SUBJECTS = {}
_n_questions = {}
for _subject, (_n_batches, _batch) in BATCHES.items():
    for _dataset, _n_in_batch in _batch.items():
        SUBJECTS[_dataset] = _subject
        _n_questions[_dataset] = _n_batches * _n_in_batch
N_QUESTIONS = pd.Series(_n_questions)

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
        answers = self.answers.assign(method=method)
        keys = ["model", "dataset", "question_id", "method"]
        by_users = accuracy.question_accuracy(answers, keys).reset_index()
        shown = [*keys, "n_answers", "accuracy"]
        return pd.concat([by_users[shown], self.ai_alone[shown]])

    def accuracies(self) -> pd.DataFrame:
        """Average the accuracies of questions, as the paper does for Tables A1 and A2.

        Returns
        -------
        pandas.DataFrame, shape (60, 5)
            Columns of `accuracy.dataset_accuracy`, indexed by ``model``, ``dataset``
            and ``method``.

        Examples
        --------
        >>> load("simulated").accuracies().shape
        (60, 5)
        """
        groups = self.questions().groupby(["model", "dataset", "method"])
        cells = groups[["n_answers", "accuracy"]].apply(accuracy.dataset_accuracy)
        return cells.reindex(_cell_order())

    def by_question(self) -> pd.DataFrame:
        """Set the accuracy of users with AI beside accuracies alone, by question.

        Returns
        -------
        pandas.DataFrame
            One row per condition, model and question with answers of users with AI:
            ``user_ai`` and its ``n_answers``, ``free_text`` and ``letters`` (few-shot)
            of the model alone, and ``alone``, of users alone.

        Examples
        --------
        >>> sorted(load("simulated").by_question()["condition"].unique())
        ['answer first', 'direct to AI']
        """
        keys = ["model", "dataset", "question_id"]
        wide = self.questions().pivot(index=keys, columns="method")
        names = {
            "AI free text": "free_text",
            "AI letter few shot": "letters",
            USER_ALONE: "alone",
        }
        alone = wide["accuracy"][list(names)].rename(columns=names)
        by_condition = {}
        for condition, method in CONDITIONS.items():
            by_condition[condition] = alone.assign(
                user_ai=wide["accuracy", method], n_answers=wide["n_answers", method]
            )
        table = pd.concat(by_condition, names=["condition"]).dropna().reset_index()
        # The gaps, now left out, had made floats of the numbers.
        return table.astype({"n_answers": int})

    def comparisons(self) -> pd.DataFrame:
        """Lay the accuracies out as Tables A1 and A2 do.

        Returns
        -------
        pandas.DataFrame, shape (80, 4)
            ``mean_alone``, ``se_alone``, ``mean_user_ai`` and ``se_user_ai``, indexed
            by ``model``, ``dataset``, ``alone`` and ``condition``.

        Examples
        --------
        >>> load("simulated").comparisons().shape
        (80, 4)
        """
        cells = self.accuracies()[["accuracy", "se"]]
        rows = comparisons()[COMPARISON_KEYS]
        methods = {"alone": rows["alone"], "user_ai": rows["condition"].map(CONDITIONS)}
        for side, method in methods.items():
            cell = pd.MultiIndex.from_arrays([rows["model"], rows["dataset"], method])
            rows[[f"mean_{side}", f"se_{side}"]] = cells.loc[cell].to_numpy()
        return rows.set_index(COMPARISON_KEYS)


def _cell_order() -> pd.MultiIndex:
    """Every model, dataset and method, in the order of the paper."""
    return pd.MultiIndex.from_product(
        [MODELS, DATASETS, METHODS], names=["model", "dataset", "method"]
    )


def load(data_source: str = "real", seed: int = 0) -> ChatBench:
    """Load the answers of the full study.

    `make reproduce` fetches the files where their server answers (see
    `data/unpinned.csv`).

    Parameters
    ----------
    data_source : {"real", "auto", "simulated"}, optional
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
    files = [ANSWERS_FILE, AI_ALONE_FILE]
    located = registry.locate_unpinned(files, data_source)
    if located is None:
        registry.note_simulated(
            files, "ChatBench's answers", "only its printed tables are real"
        )
        source = "simulated"
        rng = np.random.default_rng(seed)
        answers, ai_alone = simulated.chatbench(rng, _truth())
    else:
        source = "real"
        answers = read_answers(located[ANSWERS_FILE])
        ai_alone = read_ai_alone(located[AI_ALONE_FILE])
    return ChatBench(source, without_attention_checks(answers), ai_alone)


def _truth() -> simulated.ChatBenchTruth:
    """Take the printed accuracies for the truth of the simulation."""
    conditions = {method: condition for condition, method in CONDITIONS.items()}
    cells = accuracies().replace({"method": conditions})
    cells = cells.set_index(["model", "dataset", "method"])
    return simulated.ChatBenchTruth(
        means=cells["mean"].to_dict(), ses=cells["se"].to_dict()
    )


def read_answers(path: Path) -> pd.DataFrame:
    """Read the answers of users."""
    table = tables.read_csv(path).rename(columns=ALIASES)
    tables.require(table, ANSWER_COLUMNS, path.name)
    table = table.replace(VALUE_NAMES).rename(columns=COLUMN_NAMES)
    table = table.assign(rater_id=anonymise(table["rater_id"].astype(str)))
    return check(table, columns.CHATBENCH_ANSWERS, path.name)


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


def comparisons() -> pd.DataFrame:
    """Read the comparisons of accuracies that the paper prints (Tables A1 and A2).

    Returns
    -------
    pandas.DataFrame, shape (80, 10)
        ``model``, ``dataset``, ``alone`` (an AI-alone method, or users alone) and
        ``condition``; ``mean_alone`` and ``se_alone``, ``mean_user_ai`` and
        ``se_user_ai`` (from 0 to 1); ``z``, positive where AI or users alone do better,
        and ``p``, missing where the paper prints only that it is small.

    Examples
    --------
    >>> comparisons().loc[0, ["dataset", "alone", "condition"]].tolist()
    ['Elementary Math', 'AI letter zero shot', 'direct to AI']
    """
    by_model = {model: _numbers(table) for model, table in COMPARISON_TABLES.items()}
    wide = pd.concat(by_model, names=["model"]).unstack("measure", sort=False)
    return wide.rename_axis(columns=None).reset_index()


def attainable() -> pd.DataFrame:
    """Compute which z- and p-values the printed accuracies of Tables A1 and A2 allow.

    Returns
    -------
    pandas.DataFrame, shape (160, 3)
        ``printed`` (missing where the paper prints only that a p-value is small),
        ``low`` and ``high``, indexed by ``measure`` ("z" or "p"), ``model``,
        ``dataset``, ``alone`` and ``condition``. A p-value follows from the printed
        z-value, a z-value from the accuracies.

    Examples
    --------
    >>> attainable().loc["z"].iloc[0].round(2).to_dict()
    {'printed': -3.92, 'low': -5.25, 'high': -3.5}
    """
    rows = comparisons().set_index(COMPARISON_KEYS)
    low_z, high_z = accuracy.attainable_z(
        rows["mean_alone"], rows["se_alone"], rows["mean_user_ai"], rows["se_user_ai"]
    )
    low_p, high_p = accuracy.attainable_p(rows["z"])
    by_measure = {
        "z": pd.DataFrame({"printed": rows["z"], "low": low_z, "high": high_z}),
        "p": pd.DataFrame({"printed": rows["p"], "low": low_p, "high": high_p}),
    }
    return pd.concat(by_measure, names=["measure"])


def accuracies() -> pd.DataFrame:
    """Collect the accuracies of Tables A1 and A2, which are printed several times each.

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
    # Cells that are printed several times, but not alike, would stop `reindex`.
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


@dataclass(frozen=True)
class Conversations:
    """Questions, and conversations about them.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where they come from.
    questions : pandas.DataFrame
        ``question_id``, ``dataset``, ``question`` (with its lettered options) and
        ``answer``, the letter of the right option.
    conversations : pandas.DataFrame
        One row per conversation: ``rater_id``, ``model``, ``condition``, ``dataset``,
        ``question_id``, ``question``, ``messages`` (a list of dictionaries with
        ``role``, "user" or "assistant", and ``content``), ``answer``, the letter that
        the user selected, and ``correct``, 1 if it is the right one.
    """

    source: str
    questions: pd.DataFrame
    conversations: pd.DataFrame


def load_conversations(data_source: str = "real", seed: int = 0) -> Conversations:
    """Load the conversations of the full study.

    `make reproduce` fetches the files where their server answers (see
    `data/unpinned.csv`).

    Parameters
    ----------
    data_source : {"real", "auto", "simulated"}, optional
        As `registry.locate_unpinned`.
    seed : int, optional
        Seed of the simulation, if there is one. Simulated conversations lead to the
        answers of `chatbench.load` with the same seed.

    Returns
    -------
    Conversations
        The conversations and where they come from.

    Raises
    ------
    registry.DataUnavailableError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> loaded = load_conversations("simulated")
    >>> loaded.source, loaded.conversations["messages"].iloc[0][0]["role"]
    ('simulated', 'user')
    """
    files = [QUESTIONS_FILE, CONVERSATIONS_FILE]
    located = registry.locate_unpinned(files, data_source)
    if located is None:
        return _simulated_conversations(seed)
    questions = read_questions(located[QUESTIONS_FILE])
    conversations = read_conversations(located[CONVERSATIONS_FILE], questions)
    return Conversations("real", questions, conversations)


def _simulated_conversations(seed: int) -> Conversations:
    """Simulate conversations that lead to the simulated answers of the same seed."""
    answers = load("simulated", seed).answers
    rng = np.random.default_rng(seed)
    asked = answers[["question_id", "dataset"]].drop_duplicates()
    invented = simulated.chatbench_questions(rng, asked.sort_values("question_id"))
    with_ai = answers[answers["answer_type"] == "user-AI"]
    records = simulated.chatbench_conversations(rng, invented, with_ai)
    questions = _with_options(invented)
    conversations = _tabulated(records, questions, "simulation")
    conversations.attrs["source"] = "simulated"
    return Conversations("simulated", questions, conversations)


def read_questions(path: Path) -> pd.DataFrame:
    """Read the questions and write each with its options, as a user saw it."""
    table = tables.read_csv(path, dtype=str, keep_default_na=False)
    table = table.rename(columns=ALIASES)
    needed = ["question_id", "dataset", "question", *OPTIONS, "answer"]
    tables.require(table, needed, path.name)
    tables.require_known(table["answer"], LETTERS, "the letters A to D", path.name)
    is_repeated = table["question_id"].duplicated()
    if is_repeated.any():
        first = table.loc[is_repeated, "question_id"].iloc[0]
        problem = f"question {tables.cell(first)} stands there again"
        raise tables.bad_table(path.name, [problem])
    return _with_options(table.replace(VALUE_NAMES))


def read_conversations(path: Path, questions: pd.DataFrame) -> pd.DataFrame:
    """Read conversations."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, character {error.colno}"
        problem = f"{where}: not valid JSON ({error.msg})"
        raise tables.bad_table(path.name, [problem]) from None
    except (OSError, ValueError, RecursionError) as error:
        raise tables.unreadable(path, "JSON", error) from None
    # one list, or several under some keys
    groups = content.values() if isinstance(content, dict) else [content]
    records = []
    for group in groups:
        if not isinstance(group, list):
            raise tables.bad_table(path.name, ["a list of conversations is needed"])
        records += group
    return _tabulated(records, questions, path.name)


def _with_options(table: pd.DataFrame) -> pd.DataFrame:
    """Put question and lettered options into one text."""
    options = [f"{letter}. " + table[f"option_{letter}"] for letter in LETTERS]
    text = table["question"].str.cat(options, sep="\n")
    shown = table.assign(question=text)
    shown = shown[["question_id", "dataset", "question", "answer"]]
    return shown.reset_index(drop=True)


def _tabulated(records: list, questions: pd.DataFrame, name: str) -> pd.DataFrame:
    """Make a table of conversations, each checked and joined with its question."""
    asked = questions.set_index("question_id")
    known_questions = set(asked.index)
    problems = []
    for number, record in enumerate(records, start=1):
        problem = _problem(record, known_questions)
        if problem is not None:
            problems.append(f"conversation {number}: {problem}")
    if problems:
        raise tables.bad_table(name, problems)
    table = pd.DataFrame([_renamed(record) for record in records], columns=list(KEYS))
    table = table.rename(columns={"selected_answer": "answer"}).replace(VALUE_NAMES)
    table = table.join(asked[["dataset", "question"]], on="question_id")
    right_answer = table["question_id"].map(asked["answer"])
    table = table.assign(
        rater_id=anonymise(table["worker_id"].astype(str)),
        messages=table["chat_history"].map(_messages),
        correct=(table["answer"] == right_answer).astype(float),
    )
    return table[[*COLUMNS, "answer", "correct"]]


def _renamed(record: Mapping) -> dict:
    """Give keys the names of the released files."""
    return {ALIASES.get(key, key): value for key, value in record.items()}


def _messages(chat_history: list[Mapping]) -> list[dict[str, str]]:
    """Bring messages into the form that chat models take."""
    return [
        {"role": ROLES[message["role"]], "content": message["content"]}
        for message in chat_history
    ]


def _problem(record: object, known_questions: set[str]) -> str | None:
    """Say what is wrong with a conversation, if anything is."""
    if not isinstance(record, dict):
        return f"a JSON object is needed, found {type(record).__name__}"
    record = _renamed(record)
    missing = [repr(key) for key in KEYS if key not in record]
    if missing:
        return f"{', '.join(missing)} missing"
    if not isinstance(record["worker_id"], int) and not is_text(record["worker_id"]):
        return "worker_id is neither text nor a number"
    allowed = {
        "question_id": known_questions,
        "selected_answer": LETTERS,
        "model": NAMES_OF_MODELS,
        "condition": NAMES_OF_CONDITIONS,
    }
    for key, values in allowed.items():
        if not _is_one_of(record[key], values):
            return f"{key} {tables.cell(record[key])} is not one of the study"
    history = record["chat_history"]
    is_list = isinstance(history, list)
    if not is_list or not all(_is_message(each) for each in history):
        return "chat_history is no list of messages with a known role and a text"
    return None


def _is_message(message: object) -> bool:
    """Tell whether this is a message with a known role and a text."""
    if not isinstance(message, dict):
        return False
    return _is_one_of(message.get("role"), ROLES) and is_text(message.get("content"))


def _is_one_of(value: object, known: Container[str]) -> bool:
    """Tell whether something that a file holds is one of the texts that are known."""
    return isinstance(value, str) and value in known


def table_a(model: str, study: ChatBench | None = None) -> pd.DataFrame:
    """Recompute Table A1 (GPT-4o) or A2 (Llama-3.1-8b).

    Parameters
    ----------
    model : str
        One of `MODELS`.
    study : ChatBench, optional
        The answers. Without them only z- and p-values are compared, with what the
        printed accuracies allow.

    Returns
    -------
    pandas.DataFrame
        ``low`` and ``high`` of z- and p-values that are printed; ``estimate`` of
        accuracies and standard errors if there are answers; indexed by ``dataset``,
        ``alone``, ``condition`` and ``measure``.

    Examples
    --------
    >>> len(table_a("GPT-4o")), len(table_a("GPT-4o", load("simulated")))
    (56, 216)
    """
    allowed = attainable().xs(model, level="model").dropna(subset="printed")
    cells = [allowed[["low", "high"]]]
    if study is not None:
        means = study.comparisons().xs(model, level="model")
        means = means.rename_axis(columns="measure").stack().to_frame("estimate")
        cells.append(means)
    return pd.concat(cells)
