"""Kamoda, Asai, Brassard and Sakaguchi (2025), "Quantifying the Influence of Evaluation Aspects".

Each of 300 questions has four answers, two by people and two by a language model. Three workers
rated every answer on three aspects and on overall acceptability, chose the best of the four and
said why (sections 3.1 to 3.3). Language models rated the same answers (section 5).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers import simulate
from helpers.files import registry, schemas
from helpers.files.ratings import aggregate
from helpers.files.schemas import ASPECTS, IDEALS, RANGES
from helpers.studies import kamoda_files as files

__all__ = ["ASPECTS", "IDEALS", "RANGES", "Kamoda", "KamodaTexts", "load", "load_texts"]


@dataclass(frozen=True)
class Kamoda:
    """Ratings of answers by people and by language models.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    ratings : pandas.DataFrame
        One row per (answer, worker); columns of `schemas.KAMODA_RATINGS`.
    evaluators : pandas.DataFrame
        One row per (answer, language model); columns of `schemas.KAMODA_EVALUATORS`. Their
        overall rating is called acceptability, like the workers'.
    """

    source: str
    ratings: pd.DataFrame
    evaluators: pd.DataFrame

    def answers(self) -> pd.DataFrame:
        """Average the workers' ratings of each answer.

        Returns
        -------
        pandas.DataFrame, shape (n_answers, 12)
            The design, ``n_ratings``, the means of the aspects and of acceptability in the
            units of their scales, and ``preferred``, the share of workers who chose the answer.

        Examples
        --------
        >>> load("simulated").answers()["preferred"].between(0, 1).all()
        np.True_
        """
        return aggregate(
            self.ratings,
            "item_id",
            mean=[*RANGES, "preferred"],
            first=["question_id", "prompt_id", "task", "system", "arm"],
        )


@dataclass(frozen=True)
class KamodaTexts:
    """What was asked, answered and said about the answers. Not to be printed or passed on.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    answers : pandas.DataFrame
        One row per answer; columns of `schemas.KAMODA_ANSWERS`. ``votes`` is its score on Reddit.
    justifications : pandas.DataFrame
        One row per (question, worker); columns of `schemas.KAMODA_JUSTIFICATIONS`: why the worker
        preferred an answer, whether none was found appropriate, and the minutes on the task.
        Workers have the same labels as in the ratings.
    """

    source: str
    answers: pd.DataFrame
    justifications: pd.DataFrame


def load(data_source: str = "auto", seed: int = 0) -> Kamoda:
    """Load all ratings: 1,200 answers, each by three workers and by up to three evaluators.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}, optional
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
    needed = (files.RATINGS_FILE, files.ASSIGNMENTS_FILE, files.ANSWERS_FILE)
    located = registry.locate((*needed, *files.EVALUATOR_FILES), data_source)
    if located is None:
        ratings, evaluators = simulate.kamoda(np.random.default_rng(seed))
        return Kamoda(
            "simulated",
            schemas.check(ratings, schemas.KAMODA_RATINGS, "simulation"),
            schemas.check(evaluators, schemas.KAMODA_EVALUATORS, "simulation"),
        )
    evaluators = [
        files.read_evaluator(located[file], name) for file, name in files.EVALUATOR_FILES.items()
    ]
    return Kamoda("real", files.read_ratings(located), pd.concat(evaluators, ignore_index=True))


def load_texts(data_source: str = "auto", seed: int = 0) -> KamodaTexts:
    """Load the texts: 300 questions, 1,200 answers and 900 justifications.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one. The same seed gives `load` the same questions,
        answers and workers.

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
    needed = (files.ASSIGNMENTS_FILE, files.ANSWERS_FILE, files.QUESTIONS_FILE)
    located = registry.locate(needed, data_source)
    if located is None:
        rng = np.random.default_rng(seed)
        ratings, _ = simulate.kamoda(rng)
        answers, justifications = simulate.kamoda_texts(rng, ratings)
        return KamodaTexts(
            "simulated",
            schemas.check(answers, schemas.KAMODA_ANSWERS, "simulation"),
            schemas.check(justifications, schemas.KAMODA_JUSTIFICATIONS, "simulation"),
        )
    return KamodaTexts(
        "real",
        files.read_answer_texts(located),
        files.read_justifications(located[files.ASSIGNMENTS_FILE]),
    )
