"""How close simulated users come to people: accuracies by question, and first messages.

Chang et al. (2025), ChatBench, section 5.2 and Table 1.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import sacrebleu

from helpers.data.tables import OptionError

MIN_ANSWERS = 5  # of people to a question, as in the paper


def question_accuracy(answered: pd.DataFrame) -> pd.DataFrame:
    """Compute the share of right answers to each question.

    Parameters
    ----------
    answered : pandas.DataFrame
        ``question_id`` and ``correct``; rows in which it is missing do not count.

    Returns
    -------
    pandas.DataFrame
        ``n_answers`` and ``accuracy`` by ``question_id``.

    Examples
    --------
    >>> answered = pd.DataFrame({"question_id": ["a", "a"], "correct": [True, False]})
    >>> question_accuracy(answered)
                 n_answers  accuracy
    question_id
    a                    2       0.5
    """
    known = answered.dropna(subset="correct").astype({"correct": float})
    by_question = known.groupby("question_id")["correct"]
    return by_question.agg(n_answers="size", accuracy="mean")


def compare_with_people(
    simulated: pd.DataFrame, people: pd.DataFrame, min_answers: int = MIN_ANSWERS
) -> pd.Series:
    """Compare accuracies by question with those of people who used the AI system.

    Parameters
    ----------
    simulated, people : pandas.DataFrame
        ``question_id`` and ``correct``, one row per conversation or answer.
    min_answers : int, optional
        Answers of people that a question needs to count.

    Returns
    -------
    pandas.Series
        ``n_questions``, Pearson's ``correlation`` over questions (NaN if one of the two
        has the same accuracy on all) and ``mean_absolute_error``, from 0 to 1.

    Raises
    ------
    helpers.data.tables.OptionError
        If there are fewer than two questions to compare.

    Examples
    --------
    >>> people = pd.DataFrame({"question_id": list("aabb"), "correct": [1, 1, 0, 1]})
    >>> compare_with_people(people, people, min_answers=2).round(6).tolist()
    [2.0, 1.0, 0.0]
    """
    of_people = question_accuracy(people)
    of_people = of_people[of_people["n_answers"] >= min_answers]
    of_simulated = question_accuracy(simulated)["accuracy"].rename("simulated")
    both = of_people.join(of_simulated, how="inner")
    if len(both) < 2:
        raise OptionError(
            f"{len(both)} questions have {min_answers} answers of people and a "
            "simulated one: a comparison needs two."
        )
    first, second = both["accuracy"], both["simulated"]
    varies = np.ptp(first) > 0 and np.ptp(second) > 0
    return pd.Series(
        {
            "n_questions": len(both),
            "correlation": first.corr(second) if varies else np.nan,
            "mean_absolute_error": (first - second).abs().mean(),
        }
    )


def overlap(simulated: Sequence[str], people: Sequence[str]) -> pd.Series:
    """Compare first messages about one question, each simulated with each of people.

    Parameters
    ----------
    simulated, people : sequence of str
        First messages.

    Returns
    -------
    pandas.Series
        ``bleu``, of all pairs as one corpus (Papineni et al. 2002; tokens of
        mteval-v13a, no smoothing), and ``rouge_1``, the mean F1 of the pairs (Lin
        2004), both from 0 to 1.

    Raises
    ------
    helpers.data.tables.OptionError
        If there is no message on one side.

    References
    ----------
    Chang et al. (2025), ChatBench, section 5.2; Post (2018), sacreBLEU.

    Examples
    --------
    >>> overlap(["what is two plus two"], ["what is two plus two"]).round(6).tolist()
    [1.0, 1.0]
    """
    pairs = list(product(simulated, people))
    if not pairs:
        raise OptionError("There is no first message to compare, or none of people.")
    hypotheses, references = map(list, zip(*pairs, strict=True))
    bleu = sacrebleu.corpus_bleu(
        hypotheses, [references], smooth_method="none", tokenize="13a"
    )
    rouge = [_rouge_1(ours, theirs) for ours, theirs in pairs]
    return pd.Series({"bleu": bleu.score / 100, "rouge_1": np.mean(rouge)})


def _rouge_1(first: str, second: str) -> float:
    """F1 of shared words; 0 if one text has none (unlike `helpers.text.overlap`)."""
    words, others = (re.findall("[a-z0-9]+", each.lower()) for each in (first, second))
    shared = (Counter(words) & Counter(others)).total()
    return 2 * shared / max(len(words) + len(others), 1)


def first_messages(talks: pd.DataFrame) -> pd.DataFrame:
    """Take the first message of each conversation that has one.

    Parameters
    ----------
    talks : pandas.DataFrame
        ``question_id`` and ``messages``, lists of ``role`` and ``content``.

    Returns
    -------
    pandas.DataFrame
        ``question_id`` and ``text``.

    Examples
    --------
    >>> messages = [{"role": "user", "content": "hello"}]
    >>> first_messages(pd.DataFrame({"question_id": ["a"], "messages": [messages]}))
      question_id   text
    0           a  hello
    """
    has_one = talks["messages"].map(len) > 0
    texts = talks.loc[has_one, "messages"].map(lambda messages: messages[0]["content"])
    return talks.loc[has_one, ["question_id"]].assign(text=texts)


def mean_overlap(simulated: pd.DataFrame, people: pd.DataFrame) -> pd.Series:
    """Average BLEU and ROUGE of first messages over the questions that both have.

    Parameters
    ----------
    simulated, people : pandas.DataFrame
        Conversations, as for `first_messages`.

    Returns
    -------
    pandas.Series
        ``n_questions``, and the means of ``bleu`` and ``rouge_1``, see `overlap`.

    Raises
    ------
    helpers.data.tables.OptionError
        If no question has first messages on both sides.

    Examples
    --------
    >>> messages = [{"role": "user", "content": "what is two plus two"}]
    >>> talks = pd.DataFrame({"question_id": ["a"], "messages": [messages]})
    >>> mean_overlap(talks, talks).round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    ours = first_messages(simulated).groupby("question_id")["text"].agg(list)
    theirs = first_messages(people).groupby("question_id")["text"].agg(list)
    shared = ours.index.intersection(theirs.index)
    if not len(shared):
        raise OptionError("No question has first messages on both sides.")
    by_question = pd.DataFrame([overlap(ours[key], theirs[key]) for key in shared])
    n_questions = pd.Series({"n_questions": len(shared)})
    return pd.concat([n_questions, by_question.mean()])
