"""What the small model answered: recorded as numbers and letters in data/answers.

``python -m helpers.studies.recorded`` (`make answers`) renews all recordings on real
data. A run that was stopped continues where it was. `read` gives a recording. The model
is tiny: its answers show that the methods run, and are no evidence about larger models.
"""

import datetime
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.data import tables
from helpers.models import ask, benchmark, judge, prompts, users, words
from helpers.simulate import humbel as simulate
from helpers.studies import answerers, humbel, kamoda, word_tests

FOLDER = paths.DATA / "answers"
JOURNALS = paths.BUILD / "answers"
PREFIX = "smollm2_135m_"
QUESTIONS = "data/example/questions.csv"
EXAMPLES = "data/example/question_examples.csv"
ALONE, AFTER_OWN, AFTER_OTHER, OF_QUESTION = (
    "alone",
    "after its question",
    "after another question",
    "the question itself",
)
N_CONDITIONED = 300  # answers whose perplexity is computed after a question, too
N_SMALL = 108  # questions of a test that are asked in all wordings, as in the paper
N_LARGE = 1000  # questions that are asked in one wording
LARGE_WORDING = "comp"
SEED = 0
# What is wrong with a recording whose heading names other questions or answers.
WHAT_DIFFERS = {
    "questions": "answers other questions",
    "answers": "is a recording of other answers",
}
SHORT_TALK = {"max_turns": 3, "max_tokens": 120}


def read(name: str) -> pd.DataFrame:
    """Read a recording.

    Parameters
    ----------
    name : {"perplexity", "word_classes", "definitions", "benchmark", "conversations"}
        Which one; data/answers/README.md describes their columns.

    Returns
    -------
    pandas.DataFrame
        The recording, with the column ``model``.

    Raises
    ------
    helpers.data.tables.PlainError
        If there is no such recording.

    Examples
    --------
    >>> read("benchmark")["model"].unique().tolist()
    ['SmolLM2-135M-Instruct (Q4_1)']
    """
    path = file_of(name)
    if not path.is_file():
        raise tables.OptionError(f"There is no recording {path}: run `make answers`.")
    recorded = tables.read_csv(path, comment="#")
    return recorded.assign(model=heading(path)["model"])


def _read_of(name: str, what: str, expected: str) -> pd.DataFrame:
    """Read a recording, if what its heading names is what was expected."""
    kept, path = read(name), file_of(name)
    if heading(path).get(what) != expected:
        differs = WHAT_DIFFERS[what]
        raise tables.OptionError(
            f"{path.name} {differs} than these: run `make answers`."
        )
    return kept


def read_words(
    name: str, questions: pd.DataFrame, data_source: str = "real", seed: int = 0
) -> pd.DataFrame:
    """Read the recorded answers to a test of words, or simulate such answers.

    Parameters
    ----------
    name : {"word_classes", "definitions"}
        Which test.
    questions : pandas.DataFrame
        All its questions, as `word_tests` builds them.
    data_source : {"real", "simulated"}, optional
        Where the questions come from.
    seed : int, optional
        Seed of simulated answers.

    Returns
    -------
    pandas.DataFrame
        One row per question, wording and way: ``sample`` (small or large),
        ``question``, ``wording``, ``way``, and ``chosen``, missing if a reply names too
        few of the words.

    Raises
    ------
    helpers.data.tables.PlainError
        If there is no recording, or one of other questions.

    Examples
    --------
    >>> study = humbel.load("simulated")
    >>> questions = word_tests.definitions(study.norms)
    >>> read_words("definitions", questions, "simulated").groupby("sample").size()
    sample
    large    1000
    small     648
    dtype: int64
    """
    if data_source == "real":
        kept = _read_of(name, "questions", answerers.fingerprint(questions))
        return kept.drop(columns="model")
    small, large = samples(questions)
    asked = small.merge(pd.DataFrame({"wording": words.WORDINGS}), how="cross")
    asked = asked.merge(pd.DataFrame({"way": words.WAYS}), how="cross")
    one_wording = large.assign(wording=LARGE_WORDING, way=words.WAYS[0])
    both = pd.concat([asked.assign(sample="small"), one_wording.assign(sample="large")])
    rng = np.random.default_rng(seed)
    chosen = simulate.answers(rng, both, answerers.n_options(questions))
    simulated = both.assign(chosen=chosen.to_numpy())
    return simulated[["sample", "question", "wording", "way", "chosen"]]


def file_of(name: str) -> Path:
    """File of a recording."""
    return FOLDER / f"{PREFIX}{name}.csv"


def heading(path: Path) -> dict[str, str]:
    """Read the lines above a recording: model, hashes, date."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    return dict(line.split(": ", 1) for line in head)


def write(name: str, table: pd.DataFrame, **about: str) -> None:
    """Write a recording below lines that say what it is."""
    head = {
        "model": ask.SMALL_MODEL,
        "sha256 of the model": ask.small_model_hash(),
        "sha256 of prompts.toml": prompts.digest(),
        "recorded": datetime.date.today().isoformat(),
        **about,
    }
    lines = "".join(f"# {name}: {value}\n" for name, value in head.items())
    content = lines.encode() + tables.to_csv_bytes(table, index=False)
    paths.replace_files({file_of(name): content})


def journal(name: str) -> Path:
    """File in which answers are kept until a recording is complete."""
    return JOURNALS / f"{name}.jsonl"


def conditioned(answers: pd.DataFrame) -> pd.DataFrame:
    """Choose one answer to each question, and another question for it.

    The four systems take turns over the questions; the other question is the next one
    in a random order.

    Parameters
    ----------
    answers : pandas.DataFrame
        As in `kamoda.KamodaTexts.answers`.

    Returns
    -------
    pandas.DataFrame
        The chosen rows, with ``other_id`` and ``other``, the other question.

    Examples
    --------
    >>> chosen = conditioned(kamoda.load_texts("simulated").answers)
    >>> len(chosen), (chosen["other"] == chosen["question"]).any()
    (300, np.False_)
    """
    ordered = answers.sort_values(["question_id", "system"])
    number = ordered.groupby("question_id").cumcount()
    turn = ordered.groupby("question_id").ngroup() % ordered["system"].nunique()
    chosen = ordered[number == turn].reset_index(drop=True)
    order = np.random.default_rng(SEED).permutation(len(chosen))
    other = np.empty(len(chosen), dtype=int)
    other[order] = np.roll(order, -1)
    return chosen.assign(
        other_id=chosen["question_id"].to_numpy()[other],
        other=chosen["question"].to_numpy()[other],
    )


def record_perplexity(model: ask.Model) -> None:
    """Record the likelihood of Kamoda et al.'s answers, alone and after a question."""
    answers = kamoda.load_texts("real").answers
    some = conditioned(answers)
    asked = some[["question_id", "question"]].rename(columns={"question": "text"})
    asked["item_id"] = asked["question_id"]
    parts = {
        ALONE: (answers, None, "question_id"),
        AFTER_OWN: (some, "question", "question_id"),
        AFTER_OTHER: (some, "other", "other_id"),
        OF_QUESTION: (asked, None, "question_id"),
    }
    number = numbers(answers["item_id"])
    of_question = numbers(answers["question_id"])
    recorded = []
    for context, (table, before, before_id) in parts.items():
        file = journal(f"perplexity {context}")
        likely = judge.perplexity(table, model, question=before, file=file)
        likely.insert(0, "context", context)
        likely.insert(1, "answer", likely.pop("item_id").map(number).astype("Int64"))
        likely.insert(2, "question", table[before_id].map(of_question).to_numpy())
        recorded.append(likely.drop(columns=["perplexity", "model"]))
    table = pd.concat(recorded).round({"log_likelihood": 3})
    write("perplexity", table, answers=fingerprint(answers))


def numbers(names: pd.Series) -> dict[str, int]:
    """Number names from 0 in alphabetical order, so that no identifier is recorded."""
    return {name: number for number, name in enumerate(sorted(names.unique()))}


def fingerprint(answers: pd.DataFrame) -> str:
    """Name a set of answers by its identifiers and texts."""
    shown = answers.sort_values("item_id")[["item_id", "question", "text"]]
    return answerers.digest(shown)


def perplexity(answers: pd.DataFrame, data_source: str = "real") -> pd.DataFrame:
    """Perplexity of Kamoda et al.'s answers, as the small model was recorded.

    Parameters
    ----------
    answers : pandas.DataFrame
        As in `kamoda.KamodaTexts.answers`.
    data_source : {"real", "simulated"}, optional
        Where the answers come from. For simulated ones, which no model has seen, random
        numbers take the place of a recording.

    Returns
    -------
    pandas.DataFrame
        By ``item_id``, per token: ``alone``; ``QA``, of the answer and its question
        before it; ``RQA``, of the answer and another question before it. The last two
        are NaN but for 300 answers, one to each question.

    Raises
    ------
    helpers.data.tables.PlainError
        If there is no recording, or it is of other answers.

    Examples
    --------
    >>> answers = kamoda.load_texts("simulated").answers
    >>> perplexity(answers, "simulated").columns.tolist()
    ['alone', 'QA', 'RQA']
    """
    if data_source == "simulated":
        drawn = np.random.default_rng(SEED).lognormal(3, 0.3, (len(answers), 3))
        drawn = pd.DataFrame(drawn, answers["item_id"], ["alone", "QA", "RQA"])
        others = ~drawn.index.isin(conditioned(answers)["item_id"])
        drawn.loc[others, ["QA", "RQA"]] = np.nan
        return drawn
    kept = _read_of("perplexity", "answers", fingerprint(answers))
    item_id = {number: name for name, number in numbers(answers["item_id"]).items()}
    contexts = dict(list(kept.groupby("context")))
    counted = ["log_likelihood", "n_tokens"]
    asked = contexts[OF_QUESTION].set_index("question")[counted]
    columns = {}
    for name, context in {"alone": ALONE, "QA": AFTER_OWN, "RQA": AFTER_OTHER}.items():
        part = contexts[context]
        sums = part[counted].set_axis(part["answer"].map(item_id))
        if context != ALONE:
            sums = sums + asked.loc[part["question"]].to_numpy()
        columns[name] = np.exp(-sums["log_likelihood"] / sums["n_tokens"])
    return pd.DataFrame(columns).reindex(answers["item_id"])


def samples(questions: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw a small sample at random, and a large one with the ages of all questions.

    Parameters
    ----------
    questions : pandas.DataFrame
        As from `word_tests.word_classes` or `word_tests.definitions`.

    Returns
    -------
    small, large : pandas.DataFrame
        108 questions; and 1,000 at equal steps through all, sorted by age.

    Examples
    --------
    >>> study = humbel.load("simulated")
    >>> small, large = samples(word_tests.definitions(study.norms))
    >>> len(small), len(large)
    (108, 1000)
    """
    seed = word_tests.SEEDS[0]
    small = questions.sample(n=N_SMALL, random_state=seed)
    shuffled = questions.sample(frac=1, random_state=seed)
    by_age = shuffled.sort_values("age", kind="stable")
    steps = np.linspace(0, len(by_age) - 1, N_LARGE).round().astype(int)
    return small, by_age.iloc[steps]


def record_word_classes(model: ask.Model) -> None:
    """Record the answers to HumBEL's large test of word classes."""
    study = humbel.load("real")
    questions = word_tests.word_classes(study.associations, study.norms)
    _record_words("word_classes", questions, model)


def record_definitions(model: ask.Model) -> None:
    """Record the answers to HumBEL's test of definitions."""
    study = humbel.load("real")
    questions = word_tests.definitions(study.norms, study.vocabulary())
    _record_words("definitions", questions, model)


def _record_words(test: str, questions: pd.DataFrame, model: ask.Model) -> None:
    """Let a model answer the samples of a test, in all wordings or in one."""
    small, large = samples(questions)
    recorded = []
    for way in words.WAYS:
        file = journal(f"{test} small {way}")
        recorded.append(words.answer(small, model, words.WORDINGS, way, file))
    file = journal(f"{test} large")
    recorded.append(words.answer(large, model, (LARGE_WORDING,), file=file))
    recorded = [
        part.assign(sample=sample)
        for part, sample in zip(recorded, ("small", "small", "large"), strict=True)
    ]
    table = pd.concat(recorded)[["sample", "question", "wording", "way", "chosen"]]
    write(test, table, questions=answerers.fingerprint(questions))


def record_benchmark(model: ask.Model) -> None:
    """Record the answers to our own multiple-choice questions by each method."""
    questions = benchmark.read_questions(QUESTIONS)
    examples = benchmark.read_questions(EXAMPLES)
    recorded = []
    for method in benchmark.METHODS:
        answered = benchmark.ask(
            questions, model, method, examples, file=journal(f"benchmark {method}")
        )
        recorded.append(
            answered[["question_id", "repeat", "method", "letter", "correct"]]
        )
    write("benchmark", pd.concat(recorded))


def record_conversations(model: ask.Model) -> None:
    """Record three conversations; the model plays the user and the AI system."""
    questions = benchmark.read_questions(QUESTIONS)
    recorded = []
    for simulator, n_questions in {"two_step": 2, "iqa_eval": 1}.items():
        talks = users.simulate(
            questions[:n_questions],
            model,
            model,
            simulator,
            n_conversations=1,
            file=journal(f"conversations {simulator}"),
            **SHORT_TALK,
        )
        # texts of the model, about our own questions
        talks["messages"] = talks["messages"].map(json.dumps)
        recorded.append(talks.drop(columns=["user", "model", *SHORT_TALK]))
    limits = ", ".join(f"{name} {value}" for name, value in SHORT_TALK.items())
    write("conversations", pd.concat(recorded), limits=limits)


RECORDERS: dict[str, Callable[[ask.Model], None]] = {
    "benchmark": record_benchmark,
    "conversations": record_conversations,
    "perplexity": record_perplexity,
    "definitions": record_definitions,
    "word_classes": record_word_classes,
}


def main(names: list[str]) -> None:
    """Record some of the answers, or all; then forget the journals."""
    unknown = set(names) - set(RECORDERS)
    if unknown:
        raise tables.OptionError(f"{unknown}: choose from {list(RECORDERS)}.")
    model = ask.small_model()
    for name in names or RECORDERS:
        RECORDERS[name](model)
        for file in JOURNALS.glob(f"{name} *.jsonl"):
            file.unlink()
        print(f"written: {os.path.relpath(file_of(name))} ({model.name})")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except tables.PlainError as error:
        raise SystemExit(str(error)) from None
