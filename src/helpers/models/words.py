"""HumBEL's tests of words, taken by a model: which two go together, which one is meant.

A model answers in one of two ways. By *likelihood*, each possible answer is put behind
the prompt, and the likeliest counts. By *reply*, the model writes, and the first of the
shown words that it writes count (the paper's rule, footnote 8).
"""

import re
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency
from statsmodels.stats.contingency_tables import cochrans_q

from helpers.data import tables
from helpers.data.tables import OptionError
from helpers.models import answers, prompts
from helpers.models.ask import Model

SHOWN = ["word_1", "word_2", "word_3", "word_4"]
PAIRS = tuple(combinations(range(4), 2))
WORDINGS = ("slp", "qa", "comp")  # HumBEL, Table 1
WAYS = ("likelihood", "reply")
LONGEST_REPLY = 40  # tokens


def answer(
    questions: pd.DataFrame,
    model: Model,
    wordings: tuple[str, ...] = WORDINGS,
    way: str = "likelihood",
    file: str | Path | None = None,
) -> pd.DataFrame:
    """Let a model answer questions of the two tests of words.

    Parameters
    ----------
    questions : pandas.DataFrame
        ``question``, a number; four words, ``word_1`` to ``word_4``; and for the test
        of definitions ``meaning``. As from `helpers.studies.word_tests`.
    model : Model
        Who answers.
    wordings : tuple of str, optional
        Some of `WORDINGS`.
    way : {"likelihood", "reply"}, optional
        See the module.
    file : str or pathlib.Path, optional
        As for `answers.collect`.

    Returns
    -------
    pandas.DataFrame
        One row per question and wording: ``question``, ``wording``, ``way``, ``chosen``
        and ``model``. ``chosen`` is the place of the pair in `PAIRS`, or of the word in
        `SHOWN`, from 0; missing if a reply does not name enough of the words.

    Raises
    ------
    helpers.data.tables.PlainError
        If a column is missing, a wording or way unknown, or the model gives no answer.

    References
    ----------
    Sicilia et al. (2024), HumBEL, Table 1, section 2.2.1 and Appendix A.

    Examples
    --------
    >>> from helpers.models.ask import connect
    >>> asked = pd.DataFrame([[0, "cat", "tax", "dog", "oar"]],
    ...                      columns=["question", *SHOWN])
    >>> answer(asked, connect(), ("comp",))  # doctest: +SKIP
       question wording         way  chosen  model
    0         0    comp  likelihood       1  my-model
    """
    test = "definitions" if "meaning" in questions else "word_classes"
    texts = [*SHOWN, "meaning"] if test == "definitions" else SHOWN
    tables.require(questions, ["question"], "the table of questions")
    tables.as_text(questions, texts, "the table of questions")
    unknown = [name for name in wordings if name not in WORDINGS]
    if unknown or way not in WAYS:
        raise OptionError(
            f"wordings {unknown} and way {way!r}: choose from {WORDINGS} and {WAYS}."
        )
    answered = answers.collect(
        partial(_likeliest if way == "likelihood" else _reply, model, test),
        questions.merge(pd.DataFrame({"wording": wordings}), how="cross"),
        ["question", "wording"],
        {"test": test, "way": way, "model": model.name},
        file,
        model.n_at_once,
    )
    answered["chosen"] = answered["chosen"].astype("Int64")
    return answered[["question", "wording", "way", "chosen", "model"]]


def options(test: str, job: dict) -> list[tuple[str, ...]]:
    """List the pairs of words, or the words, that can be chosen."""
    words = [job[column] for column in SHOWN]
    if test == "definitions":
        return [(word,) for word in words]
    return [(words[first], words[second]) for first, second in PAIRS]


def prompt_of(test: str, job: dict) -> str:
    """Write the prompt of a question in one wording."""
    words = dict(zip("abcd", (job[column] for column in SHOWN), strict=True))
    wording = prompts.read(test)[job["wording"]]["prompt"]
    return wording.format(**words, meaning=job.get("meaning"))


def _likeliest(model: Model, test: str, job: dict) -> dict:
    """Choose the likeliest ending of the prompt."""
    prompt = prompt_of(test, job)
    ending = prompts.read(test)[job["wording"]]["ending"]
    scores = []
    for option in options(test, job):
        words = dict(zip(("first", "second"), option, strict=False))
        likelihood = model.log_likelihood(prompt, ending.format(**words))
        scores.append(likelihood.log_likelihood)
    return {"chosen": int(np.argmax(scores))}


def _reply(model: Model, test: str, job: dict) -> dict:
    """Read the choice in what the model writes."""
    messages = [{"role": "user", "content": prompt_of(test, job)}]
    reply = model.chat(messages, max_tokens=LONGEST_REPLY)
    return {"chosen": read_choice(reply, options(test, job))}


def read_choice(reply: str, choices: list[tuple[str, ...]]) -> int | None:
    """Find the option whose words a reply names first.

    Parameters
    ----------
    reply : str
        What the model wrote.
    choices : list of tuple of str
        The options, each of one word or of two.

    Returns
    -------
    int or None
        Place of the option; None if the reply names too few of the words.

    Examples
    --------
    >>> choices = [("cat", "tax"), ("cat", "dog"), ("tax", "dog")]
    >>> read_choice("The dog and the CAT, not the tax.", choices)
    1
    """
    words = {word.lower() for choice in choices for word in choice}
    longest_first = sorted(words, key=len, reverse=True)
    pattern = "|".join(re.escape(word) for word in longest_first)
    named = re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", reply.lower())
    n_needed = len(choices[0])
    first = set(list(dict.fromkeys(named))[:n_needed])
    for place, choice in enumerate(choices):
        if first == {word.lower() for word in choice}:
            return place
    return None


def sensitivity(answered: pd.DataFrame, correct: pd.Series) -> pd.Series:
    """Measure how much the share of right answers depends on the wording.

    Parameters
    ----------
    answered : pandas.DataFrame
        As from `answer`, with two or more wordings of the same questions.
    correct : pandas.Series
        The right option by question.

    Returns
    -------
    pandas.Series
        ``n_questions``; the ``lowest`` and ``highest`` share of right answers and their
        standard ``deviation``, in percentage points; ``p_chi_square``, of the paper's
        test, which takes the answers for independent although the questions are the
        same; and ``p_cochran``, of Cochran's Q test, which does not. A missing answer
        counts as wrong; a test of answers that are all the same gives NaN.

    References
    ----------
    Sicilia et al. (2024), HumBEL, Appendix C.

    Examples
    --------
    >>> answered = pd.DataFrame({"question": [0, 1, 2, 3] * 2, "chosen": [0] * 8,
    ...                          "wording": ["qa"] * 4 + ["comp"] * 4})
    >>> sensitivity(answered, pd.Series([0, 0, 0, 1]))["deviation"]
    np.float64(0.0)
    """
    right = answered["chosen"] == answered["question"].map(correct)
    right = right.fillna(False).astype(int)
    wide = answered.assign(right=right).pivot(
        index="question", columns="wording", values="right"
    )
    share = 100 * wide.mean()
    counts = np.array([wide.sum(), (1 - wide).sum()])
    has_both = counts.sum(axis=1).all()
    differs = wide.nunique(axis="columns").max() > 1
    return pd.Series(
        {
            "n_questions": len(wide),
            "lowest": share.min(),
            "highest": share.max(),
            "deviation": share.std(ddof=1),
            "p_chi_square": chi2_contingency(counts).pvalue if has_both else np.nan,
            "p_cochran": cochrans_q(wide).pvalue if differs else np.nan,
        }
    )
