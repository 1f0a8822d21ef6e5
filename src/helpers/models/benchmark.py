"""Ask a model multiple-choice questions as ChatBench does: by letter, or in free text.

The letter is asked for without examples or after some (*zero-shot*, *few-shot*). In
free text the model gets question and options alone, and a second call extracts its
answer.
"""

import json
from functools import partial
from pathlib import Path

import pandas as pd

from helpers.data import tables
from helpers.models import answers, prompts
from helpers.models.ask import Model

LETTERS = ("A", "B", "C", "D")
OPTIONS = tuple(f"option_{letter}" for letter in LETTERS)
METHODS = ("letter zero-shot", "letter few-shot", "free text")
TEMPERATURE = 0.7  # of the study, for all models that are tested
LONGEST_LETTER = 10  # tokens
LONGEST_REPLY = 1000


def read_questions(file: str | Path) -> pd.DataFrame:
    """Read multiple-choice questions from a CSV file.

    Parameters
    ----------
    file : str or pathlib.Path
        Columns ``question_id``, ``question``, ``option_A`` to ``option_D`` and
        ``answer``, a letter; others are left as they are.

    Returns
    -------
    pandas.DataFrame
        One row per question, all of text.

    Raises
    ------
    helpers.data.tables.BadTableError
        If there is no such file, a column is missing, a question is there twice, or an
        answer is none of the letters.

    Examples
    --------
    >>> questions = read_questions("data/example/questions.csv")
    >>> len(questions), questions["answer"].isin(LETTERS).all()
    (40, np.True_)
    """
    path = tables.find(file)
    questions = tables.read_csv(path, dtype=str, keep_default_na=False)
    tables.require(
        questions, ["question_id", "question", *OPTIONS, "answer"], path.name
    )
    tables.require_known(questions["answer"], LETTERS, "the letters A to D", path.name)
    repeated = questions["question_id"][questions["question_id"].duplicated()]
    if len(repeated):
        problem = (
            f"column 'question_id': {tables.cell(repeated.iloc[0])} is there twice"
        )
        raise tables.bad_table(path.name, [problem])
    return questions


def as_text(question: dict) -> str:
    """Write a question with its options below it.

    Examples
    --------
    >>> print(as_text({"question": "1 + 1?", "option_A": "1", "option_B": "2",
    ...                "option_C": "3", "option_D": "4"}))
    1 + 1?
    A. 1
    B. 2
    C. 3
    D. 4
    """
    lines = [f"{letter}. {question[f'option_{letter}']}" for letter in LETTERS]
    return "\n".join([question["question"], *lines])


def ask(
    questions: pd.DataFrame,
    model: Model,
    method: str = METHODS[0],
    examples: pd.DataFrame | None = None,
    about: str = "",
    repeats: int = 1,
    extractor: Model | None = None,
    temperature: float = TEMPERATURE,
    max_tokens: int = LONGEST_REPLY,
    file: str | Path | None = None,
) -> pd.DataFrame:
    """Let a model answer multiple-choice questions.

    Parameters
    ----------
    questions : pandas.DataFrame
        As from `read_questions`.
    model : Model
        Who answers.
    method : {"letter zero-shot", "letter few-shot", "free text"}, optional
        See the module.
    examples : pandas.DataFrame, optional
        Other questions, with answers, for few-shot; the paper takes five.
    about : str, optional
        What the examples are about.
    repeats : int, optional
        Answers to each question; the paper takes 50.
    extractor : Model, optional
        Who extracts the answer from free text; the paper takes GPT-4o. By default the
        model that answered.
    temperature : float, optional
        Of the model that answers; the extractor has 0.
    max_tokens : int, optional
        Where a reply in free text is cut.
    file : str or pathlib.Path, optional
        As for `answers.collect`.

    Returns
    -------
    pandas.DataFrame
        One row per question and repeat: ``question_id``, ``repeat`` from 0, ``method``,
        ``letter`` (missing if the reply has none), ``correct``, ``model`` and
        ``extractor``. A reply without a letter is not correct. ``correct`` is missing
        if the extractor's reply cannot be read, which says nothing about the model.

    Raises
    ------
    helpers.data.tables.PlainError
        If the method is unknown, few-shot has no examples or one that is asked, or the
        model does not answer.

    References
    ----------
    Chang et al. (2025), ChatBench, section 4.1, Appendix B.1 and Listings 1 to 4.

    Examples
    --------
    >>> from helpers.models.ask import connect
    >>> questions = read_questions("data/example/questions.csv")
    >>> ask(questions[:1], connect())  # doctest: +SKIP
      question_id  repeat            method letter correct     model extractor
    0          q1       0  letter zero-shot      B    True  my-model
    """
    if method not in METHODS:
        raise tables.OptionError(
            f"method {method!r} is unknown: choose from {METHODS}."
        )
    shown = _shown(examples, questions, about) if method == METHODS[1] else ""
    if method == METHODS[2]:
        extractor = extractor or model
        do = partial(_free_text, model, extractor, temperature, max_tokens)
    else:
        do = partial(_letter, model, shown, temperature)
    settings = {
        "method": method,
        "model": model.name,
        "extractor": extractor.name if method == METHODS[2] else "",
        "temperature": temperature,
        "max_tokens": max_tokens,
        "examples": shown,
    }
    repeated = questions.merge(pd.DataFrame({"repeat": range(repeats)}), how="cross")
    keys = ["question_id", "repeat"]
    answered = answers.collect(do, repeated, keys, settings, file, model.n_at_once)
    right = answered["question_id"].map(questions.set_index("question_id")["answer"])
    answered["correct"] = (answered["letter"] == right).astype("boolean")
    answered.loc[~answered["readable"], "correct"] = pd.NA
    columns = [*keys, "method", "letter", "correct", "model", "extractor"]
    return answered[columns]


def _shown(examples: pd.DataFrame | None, questions: pd.DataFrame, about: str) -> str:
    """Write the examples of few-shot; none may be one of the questions."""
    if examples is None or not len(examples):
        raise tables.OptionError("letter few-shot needs `examples`: some questions.")
    if set(examples["question"]) & set(questions["question"]):
        raise tables.OptionError("An example is also a question: the model sees it.")
    wording = prompts.read("benchmark")
    texts = [
        wording["example"].format(question=as_text(example), answer=example["answer"])
        for example in examples.to_dict("records")
    ]
    head = wording["examples"].format(about=f" about {about}" if about else "")
    return head + "".join(texts)


def _letter(model: Model, shown: str, temperature: float, job: dict) -> dict:
    """Ask for a letter."""
    wording = prompts.read("benchmark")
    request = wording["letter"].format(examples=shown, question=as_text(job))
    reply = model.chat(
        _messages(request), temperature, LONGEST_LETTER, seed=job["repeat"]
    )
    return {"letter": reply[:1] if reply[:1] in LETTERS else None, "readable": True}


def _free_text(
    model: Model, extractor: Model, temperature: float, max_tokens: int, job: dict
) -> dict:
    """Ask a question with its options and nothing else, then extract the answer."""
    question = as_text(job)
    reply = model.chat(_messages(question), temperature, max_tokens, seed=job["repeat"])
    letters = ", ".join(LETTERS[:-1]) + f" or {LETTERS[-1]}"
    request = prompts.read("benchmark")["extract"].format(
        question=question, reply=reply, letters=letters
    )
    letter, readable = read_extracted(extractor.chat(_messages(request)))
    return {"letter": letter, "readable": readable}


def _messages(request: str) -> list[dict]:
    """Put the study's system prompt before a request."""
    system = prompts.read("benchmark")["system"]
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": request},
    ]


def read_extracted(reply: str) -> tuple[str | None, bool]:
    """Read what the extractor wrote.

    Parameters
    ----------
    reply : str
        A JSON object, with or without text around it.

    Returns
    -------
    letter : str or None
        The answer; None if there was none, or none of the options.
    readable : bool
        Whether there was such an object.

    Examples
    --------
    >>> read_extracted('Yes: {"attempted_answer": true, "answer_letter": "B"}')
    ('B', True)
    >>> read_extracted('{"attempted_answer": false}'), read_extracted("B")
    ((None, True), (None, False))
    """
    start, end = reply.find("{"), reply.rfind("}")
    try:
        extracted = json.loads(reply[start : end + 1])
        letter = extracted.get("answer_letter")
    except (ValueError, AttributeError, RecursionError):
        return None, False
    return (letter if letter in LETTERS else None), True
