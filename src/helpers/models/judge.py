"""A model as judge: Kamoda et al.'s direct rating and their three aspects, weighted.

Also perplexity, which the paper compares with them: of an answer alone, after its
question, or after another one.
"""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from helpers.aspects import ideal_distance
from helpers.data import tables
from helpers.data.columns.kamoda import ASPECTS, IDEALS, RANGES
from helpers.models import answers, prompts
from helpers.models.ask import Model

OVERALL = "acceptability"
SCALES = (OVERALL, *ASPECTS)
BETWEEN = "\n\n"  # a question and its answer
LONGEST_REPLY = 20  # tokens of a rating
_NUMBER = r"[-+\u2212]?\d+(?:\.\d+)?"
_FIRST = re.compile(rf"\W*?({_NUMBER})")
_NAMED = re.compile(rf"(?:rating|score)\W*?(?:is|of)?\W*?({_NUMBER})", re.IGNORECASE)
_ANY = re.compile(_NUMBER)


def read_rating(reply: str, low: float, high: float) -> float:
    """Read a rating in a judge's reply.

    Parameters
    ----------
    reply : str
        What the judge wrote.
    low, high : float
        Ends of the scale.

    Returns
    -------
    float
        The number that begins the reply, else the one after "rating" or "score", else
        the only one there is. NaN if there is none, or if it is not on the scale.

    Examples
    --------
    >>> read_rating("2", 0, 3), read_rating("Of 0 to 3, my rating is: **1**.", 0, 3)
    (2.0, 1.0)
    >>> read_rating("Between 1 and 2", 0, 3), read_rating("7", 0, 3)
    (nan, nan)
    """
    found = _FIRST.match(reply) or _NAMED.search(reply)
    numbers = {found[1]} if found else set(_ANY.findall(reply))
    if len(numbers) != 1:
        return np.nan
    rating = float(numbers.pop().replace("\u2212", "-"))
    return rating if low <= rating <= high else np.nan


def rate(
    table: pd.DataFrame,
    model: Model,
    item: str = "item_id",
    question: str = "question",
    answer: str = "text",
    scales: tuple[str, ...] = SCALES,
    file: str | Path | None = None,
) -> pd.DataFrame:
    """Let a model rate answers, each on each scale with a prompt of its own.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per answer.
    model : Model
        The judge.
    item, question, answer : str, optional
        Columns: what names the answer, the question's text, the answer's text.
    scales : tuple of str, optional
        Some of `SCALES`: acceptability and factuality from 0 to 3, amount of
        information and formality from -1 to 1.
    file : str or pathlib.Path, optional
        As for `answers.collect`.

    Returns
    -------
    pandas.DataFrame
        One row per answer: `item`, a rating on each scale (NaN where the reply holds
        none), and ``model``.

    Raises
    ------
    helpers.data.tables.PlainError
        If a column or a text is missing, or the model gives no answer.

    References
    ----------
    Kamoda et al. (2025), section 5.2 and Tables 7 to 10. The prompts are in
    ``prompts.toml``.

    Examples
    --------
    >>> from helpers.models.ask import connect
    >>> table = pd.DataFrame({"item_id": [1], "question": ["Why is the sky blue?"],
    ...                       "text": ["Air scatters blue light most."]})
    >>> rate(table, connect())  # doctest: +SKIP
       item_id  acceptability  factuality  amount_info  formality  model
    0        1            2.0         3.0          0.0        0.0  my-model
    """
    tables.require(table, [item], "the table of answers")
    tables.as_text(table, [question, answer], "the table of answers")
    asked = table[[item]].assign(question=table[question], answer=table[answer])
    jobs = asked.merge(pd.DataFrame({"scale": scales}), how="cross")
    ratings = answers.collect(
        partial(_rate, model),
        jobs,
        [item, "scale"],
        {"model": model.name, "method": "judge"},
        file,
        model.n_at_once,
    )
    wide = ratings.pivot(index=item, columns="scale", values="rating")
    wide = wide.loc[table[item], list(scales)].astype(float)
    return wide.rename_axis(columns=None).reset_index().assign(model=model.name)


def _rate(model: Model, job: dict) -> dict:
    """Ask for one rating."""
    wording = prompts.read("judge")
    scale = job["scale"]
    request = wording["request"].format(
        **wording[scale],
        example_question=wording["example_question"],
        example_answer=wording["example_answer"],
        question=job["question"],
        answer=job["answer"],
    )
    messages = [{"role": "user", "content": request}]
    reply = model.chat(messages, max_tokens=LONGEST_REPLY)
    rating = read_rating(reply, *RANGES[scale])
    return {"rating": None if np.isnan(rating) else rating}


def weigh(rated: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Score answers by a judge's aspects, weighted as people weigh them.

    Parameters
    ----------
    rated : pandas.DataFrame
        Ratings of a judge, as from `rate`.
    people : pandas.DataFrame
        People's ratings on the same scales, one row per rating.

    Returns
    -------
    pandas.DataFrame
        `rated` with the columns ``direct``, ``weighted`` and ``equal``, in points of
        acceptability. The weights are those of a least-squares line without intercept
        from people's distances from the ideals to their missing points.

    References
    ----------
    Kamoda et al. (2025), sections 4.1 and 5.2.

    Examples
    --------
    >>> people = pd.DataFrame({"factuality": [3, 0, 3], "amount_info": [0, 0, 1],
    ...                        "formality": [0, 1, 0], "acceptability": [3, 1, 2]})
    >>> weigh(people, people)["weighted"].round(2).tolist()
    [3.0, 1.0, 2.0]
    """
    distances = ideal_distance(people, list(ASPECTS), IDEALS, RANGES)
    missing = IDEALS[OVERALL] - people[OVERALL]
    line = LinearRegression(fit_intercept=False).fit(distances, missing)
    weights = pd.Series(line.coef_, list(ASPECTS))
    of_judge = ideal_distance(rated, list(ASPECTS), IDEALS, RANGES)
    return rated.assign(
        direct=rated[OVERALL],
        weighted=IDEALS[OVERALL] - of_judge @ weights,
        equal=IDEALS[OVERALL] - of_judge.sum(axis=1) * weights.mean(),
    )


def perplexity(
    table: pd.DataFrame,
    model: Model,
    item: str = "item_id",
    question: str | None = None,
    answer: str = "text",
    file: str | Path | None = None,
) -> pd.DataFrame:
    """Compute how likely answers are for a model.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per answer.
    model : Model
        Whose likelihood.
    item, answer : str, optional
        Columns: what names the answer, and its text.
    question : str, optional
        Column of a text that stands before the answer: its question, or another one.
        Without it, the answer stands alone.
    file : str or pathlib.Path, optional
        As for `answers.collect`.

    Returns
    -------
    pandas.DataFrame
        One row per answer: `item`, ``n_tokens``, ``log_likelihood`` (a sum of natural
        logarithms), ``perplexity`` and ``model``. Tokens of a question do not count.

    Raises
    ------
    helpers.data.tables.PlainError
        If a column or a text is missing, or the model gives no likelihood.

    References
    ----------
    Kamoda et al. (2025), section 5.1.

    Examples
    --------
    >>> from helpers.models.ask import connect
    >>> table = pd.DataFrame({"item_id": [1], "text": ["Air scatters blue light."]})
    >>> perplexity(table, connect())  # doctest: +SKIP
       item_id  n_tokens  log_likelihood  perplexity  model
    0        1         6           -20.9        32.5  my-model
    """
    before = [question] if question else []
    tables.require(table, [item], "the table of answers")
    tables.as_text(table, [answer, *before], "the table of answers")
    prompt = table[question] + BETWEEN if question else ""
    likely = answers.collect(
        partial(_likelihood, model),
        table[[item]].assign(prompt=prompt, text=table[answer]),
        [item],
        {"model": model.name, "before the answer": question or "nothing"},
        file,
        model.n_at_once,
    )
    mean = likely["log_likelihood"] / likely["n_tokens"]
    likely["perplexity"] = np.exp(-mean)
    return likely[[item, "n_tokens", "log_likelihood", "perplexity", "model"]]


def _likelihood(model: Model, job: dict) -> dict:
    """Compute the likelihood of one answer."""
    return model.log_likelihood(job["prompt"], job["text"])._asdict()
