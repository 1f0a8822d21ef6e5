"""What the tests of HumBEL are built from, and what its paper prints.

Sicilia, Gates and Alikhani (2024), "HumBEL", asks what age a model's answers fit. The
paper builds its tests from two public sources: pairs of words that people associated,
and the ages at which people know words (section 2.2.1, appendix A). The test that the
authors built is public; the answers of the language models and of the people who took
it are not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from python_calamine import CalamineError, CalamineWorkbook
from scipy.stats import norm

from helpers import paths
from helpers.data import published, registry, tables
from helpers.data.columns import check
from helpers.data.columns import humbel as columns
from helpers.data.columns.humbel import AGES
from helpers.simulate.humbel import humbel
from helpers.studies import word_tests

__all__ = [
    "AGES",
    "Humbel",
    "authors_effects",
    "authors_test",
    "exam_scores",
    "load",
    "noted_results",
    "printed_results",
    "rebuilt_results",
]

ASSOCIATIONS_FILE = "humbel/WAX.csv"
NORMS_FILE = "humbel/aoa_brysbaert_biemiller.xlsx"
NORM_COLUMNS = {"WORD": "word", "MEANING": "meaning", "AoAtestbased": "grade"}
YEARS_BEFORE_SCHOOL = 5
AUTHORS_TEST_FILE = "humbel/wclarge.csv"
AUTHORS_TEST_COLUMNS = {  # as their published script make_tests.py writes them
    "cue": "cue",
    "association": "association",
    "explanation": "explanation",
    "alt0": "alternative_1",
    "alt1": "alternative_2",
    "cue_aoa": "cue_age",
    "assoc_aoa": "association_age",
    "max_aoa_pair": "age",
}
AUTHORS_TEST_AGES = ["cue_aoa", "assoc_aoa", "max_aoa_pair"]
# points and z-value, noted in their published script plot_coeffs.py
AUTHORS_EFFECTS = {
    "modifier": ("H1 adjective or adverb", 3.49, 3.129),
    "different": ("H2 different parts of speech", 3.11, 2.849),
    "hard": ("H3 hard relation", 10.95, 2.845),
    "complex": ("H4 complex words", 2.28, 1.376),
    "explained": ("H5 explains its answer", 6.15, 6.226),
    "decade": ("H6 age 19 instead of 9", 4.4, 3.056),
}


@dataclass(frozen=True)
class Humbel:
    """What the tests are built from.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    associations : pandas.DataFrame
        One row per association that a person gave to a cue; columns of
        `columns.humbel.HUMBEL_ASSOCIATIONS`. Words are kept as written, with spaces at
        their ends.
    norms : pandas.DataFrame
        One row per meaning of a word; columns of `columns.humbel.HUMBEL_NORMS`. The
        age, in years, is the one at which about half of all people know the meaning.
    """

    source: str
    associations: pd.DataFrame
    norms: pd.DataFrame

    def vocabulary(self) -> set[str]:
        """List the words that are a cue or an association.

        Returns
        -------
        set of str
            Words as written.

        Examples
        --------
        >>> "wug0001" in load("simulated").vocabulary()
        True
        """
        return {*self.associations["cue"], *self.associations["association"]}


def exam_scores() -> pd.DataFrame:
    """Read the scores in a clinical exam that the paper prints (Table 3).

    Returns
    -------
    pandas.DataFrame
        Per cent of the highest score; one row per sub-test, one column per way of
        giving it: three kinds of prompt for InstructGPT, and ``Chat`` for ChatGPT.
        Missing if not given.

    Examples
    --------
    >>> float(exam_scores().loc["word classes", "Chat"])
    83.0
    """
    printed = published.read_text(paths.PUBLISHED / "humbel_table3.csv")
    cells = printed.set_index(["test", "administration"])["published"].astype(float)
    return cells.unstack("administration", sort=False)


def authors_effects() -> pd.DataFrame:
    """Give effects on InstructGPT's errors, from a script of the authors (Figure 4).

    Returns
    -------
    pandas.DataFrame
        Indexed by feature: the hypothesis as ``label``; ``estimate``, ``low`` and
        ``high`` in points, an interval of two-sided 95 %; ``z``.

    Examples
    --------
    >>> authors_effects().round(2).loc["hard", ["estimate", "low", "z"]].to_dict()
    {'estimate': 10.95, 'low': 3.41, 'z': 2.84}
    """
    effects = pd.DataFrame(AUTHORS_EFFECTS, index=["label", "estimate", "z"]).T
    effects = effects.astype({"estimate": float, "z": float})
    # z = estimate / standard error
    half_width = norm.ppf(0.975) * effects["estimate"] / effects["z"]
    return effects.assign(
        low=effects["estimate"] - half_width,
        high=effects["estimate"] + half_width,
    )


def noted_results() -> dict[str, object]:
    """Give what the authors' script notes about errors, in the form of `claims.rows`.

    Returns
    -------
    dict
        The effects in points by name, that of age for one year and for ten; and as
        ``significant`` the one-sided p-values of the effects that the paper calls
        significant, corrected for the four features of its appendix F or for its six
        hypotheses.

    Examples
    --------
    >>> float(noted_results()["different_pos"])
    3.11
    """
    effects = authors_effects()
    points = effects["estimate"]
    # the paper calls all but H4 significant
    called_significant = effects.drop(index="complex").set_index("label")
    one_sided = pd.Series(norm.sf(called_significant["z"]), called_significant.index)
    by_correction = {}
    for n_tests in (4, 6):
        corrected = (n_tests * one_sided).clip(upper=1)
        by_correction[f"one-sided, corrected for {n_tests}"] = corrected.to_frame("p")
    return {
        "adverb_or_adjective": points["modifier"],
        "different_pos": points["different"],
        "hard_relation": points["hard"],
        "complex_words": points["complex"],
        "explained": points["explained"],
        "age_per_year": points["decade"] / 10,
        "age_ten_years": points["decade"],
        "significant": by_correction,
    }


def hoeffding_width(n: ArrayLike) -> np.ndarray:
    """Half-width of Hoeffding's 95 % interval for a share, valid for any distribution.

    Parameters
    ----------
    n : array-like of int
        Independent observations.

    Returns
    -------
    numpy.ndarray or float
        Between 0 and 1 for all but the smallest `n`.

    References
    ----------
    Hoeffding (1963), theorem 1.

    Examples
    --------
    >>> round(float(hoeffding_width(40)), 3)
    0.215
    """
    return np.sqrt(np.log(2 / 0.05) / (2 * np.asarray(n)))


def expected_right(know: ArrayLike, disagree: float, n: float = 108) -> np.ndarray:
    """Share of right answers expected of people, by the recipe of appendix B.

    Parameters
    ----------
    know : array-like
        Share of people who know the words.
    disagree : float
        Share of questions on which two people disagree.
    n : float, optional
        Questions behind `disagree`: half of Hoeffding's interval is added to it,
        unless `n` is infinite.

    Returns
    -------
    numpy.ndarray or float
        Those who know the words and agree, and a sixth of the others, who guess.

    References
    ----------
    Sicilia et al. (2024), HumBEL, appendix B; Diamond and Evans (1973), The Correction
    for Guessing.

    Examples
    --------
    >>> round(float(expected_right(0.5, 0.15)), 3)
    0.466
    """
    by_knowledge = np.asarray(know) * (1 - disagree - hoeffding_width(n))
    return by_knowledge + (1 - by_knowledge) / 6


def printed_results() -> dict[str, object]:
    """Compute what follows from printed numbers, in the form of `claims.rows`.

    Returns
    -------
    dict
        By name, with study and a point left out: numbers with the range that rounding
        of the printed ones leaves open, and sentences that can be read off Table 3,
        each with its interpretations.

    Examples
    --------
    >>> {key: round(float(number), 1)
    ...  for key, number in printed_results()["expected.right"].items()}
    {'estimate': 48.3, 'low': 47.9, 'high': 48.8}
    """
    disagree = 15
    half = 100 * hoeffding_width(108)
    exam = exam_scores()
    instruct = exam[["SLP", "QA", "Comp"]]
    gain = exam["Chat"] - instruct.max(axis="columns")
    bound = 100 * hoeffding_width(40)
    follows = {
        # with three options, lucky guesses are half as many as wrong answers
        "norms.known_low": _attainable(lambda right: right - (100 - right) / 2, 67),
        "norms.known_high": _attainable(lambda right: right - (100 - right) / 2, 80),
        "expected.knows_and_agrees": _attainable(
            lambda percent: (100 - percent - half) / 2, disagree
        ),
        "expected.right": _attainable(lambda know: know + (100 - know) / 6, 38),
        "clinical.lower_bound": _attainable(lambda score: score - bound, 60),
        "prompts.settings": 11 * 7,  # in the authors' script sensi_tests.py
    }
    # a difference of two rounded scores is open by one point to either side
    gains = {
        "chat.gain_low": "word classes without ceiling",
        "chat.gain_high": "word classes",
        "chat.gain_pragmatics": "pragmatics",
    }
    for name, subtest in gains.items():
        follows[name] = _attainable(np.copy, gain[subtest], half_unit=1)

    full = exam.loc["pragmatics"]
    shortened = exam.loc["pragmatics without visual items"]
    of_chat = pd.Series({"full": full["Chat"], "shortened": shortened["Chat"]})
    without_rule = instruct.drop(index="word classes").idxmin()
    # The accuracy on the large test is drawn but not printed. Its interval by the 56 %
    # of Table 4, for 108 questions, beside those of the scores without stopping rule.
    distance = (instruct.loc["word classes without ceiling"] - 56).abs() + half
    read_off = {
        "half_of_pragmatics": {
            "full profile": full["QA"],
            "shortened profile": shortened["QA"],
            "ChatGPT": of_chat.to_frame("estimate"),
        },
        # is any sub-test lower than word classes, with the stopping rule or without it?
        "word_classes_worst": {
            "with the stopping rule": bool((instruct.idxmin() == "word classes").all()),
            "without": bool((without_rule == "word classes without ceiling").all()),
        },
        "without_visual_items": bool(((shortened - full).dropna() > 0).all()),
        "consistent": {
            "the prompt used at scale": bool(distance["Comp"] <= bound),
            "all prompts": bool(distance.max() <= bound),
        },
    }
    return follows | {f"clinical.{name}": fact for name, fact in read_off.items()}


def _attainable(
    compute: Callable[[np.ndarray], np.ndarray], printed: float, half_unit: float = 0.5
) -> dict[str, float]:
    """Evaluate at a printed number and at the ends of what rounds to it."""
    printed_range = np.array([printed - half_unit, printed, printed + half_unit])
    computed = compute(printed_range)
    return {"estimate": computed[1], "low": computed.min(), "high": computed.max()}


def ages_of_words(questions: pd.DataFrame) -> pd.Series:
    """Give the age of each different word that is asked for.

    Parameters
    ----------
    questions : pandas.DataFrame
        As `word_tests.word_classes` gives them.

    Returns
    -------
    pandas.Series of int
        Years.

    Examples
    --------
    >>> study = load("simulated")
    >>> questions = word_tests.word_classes(study.associations, study.norms)
    >>> ages_of_words(questions).isin(AGES).all()
    np.True_
    """
    columns = []
    for role in word_tests.TARGET:
        column = questions[[role, f"{role}_age"]]
        columns.append(column.set_axis(["word", "age"], axis="columns"))
    return pd.concat(columns).drop_duplicates()["age"].astype(int)


def rebuilt_results(study: Humbel, questions: pd.DataFrame) -> dict[str, object]:
    """Judge what the paper says of its large test, in the form of `claims.rows`.

    By the questions that the authors built where their file is here, else by ours. That
    no question has a second answer can be judged by theirs only, since ours are
    filtered for it.

    Parameters
    ----------
    study : Humbel
        What the questions were built from.
    questions : pandas.DataFrame
        Our version of them, as `word_tests.word_classes` gives them.

    Returns
    -------
    dict
        Numbers and truth values by name, with study and a point left out.

    Examples
    --------
    >>> study = load("simulated")
    >>> questions = word_tests.word_classes(study.associations, study.norms)
    >>> rebuilt_results(study, questions)["word_classes.explained"]
    True
    """
    own = authors_test(study.source)
    test = own
    if own is None:
        explanations = study.associations.set_index("row")["explanation"]
        test = questions.join(explanations, on="row")
    older_words = 100 * (ages_of_words(test) >= 17).mean()
    older_pairs = 100 * (test["age"] >= 17).mean()
    found = {
        "word_classes.about_10000": len(test),
        "word_classes.sample": len(test.sample(frac=0.01)),
        "word_classes.explained": bool(test["explanation"].str.strip().ne("").all()),
        "word_classes.older_pairs": bool(older_pairs > older_words),
        "norms.words_thousands": study.norms["word"].nunique() / 1000,
    }
    if own is not None:
        has_second = word_tests.second_pairs(own, own)
        found["word_classes.one_target"] = not has_second.any()
    return found


def load(data_source: str = "real", seed: int = 0) -> Humbel:
    """Load 19,228 associations and the ages of 43,991 meanings of words.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    Humbel
        The tables and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load("simulated").source
    'simulated'
    """
    located = registry.locate((ASSOCIATIONS_FILE, NORMS_FILE), data_source)
    if located is None:
        associations, norms = humbel(np.random.default_rng(seed))
        return Humbel("simulated", associations, norms)
    associations = read_associations(located[ASSOCIATIONS_FILE])
    norms = read_norms(located[NORMS_FILE])
    return Humbel("real", associations, norms)


def authors_test(data_source: str = "real") -> pd.DataFrame | None:
    """Read the large word classes test that the authors built, if its file is here.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        With "simulated" no file is looked for.

    Returns
    -------
    pandas.DataFrame or None
        One row per question, with names as in
        `helpers.studies.word_tests.word_classes`: the words by role, the three ages in
        years, and the ``explanation`` of the association.

    Raises
    ------
    tables.BadTableError
        If the file is not as the authors' script writes it.

    Examples
    --------
    >>> authors_test("simulated") is None
    True
    """
    try:
        located = registry.locate([AUTHORS_TEST_FILE], data_source)
    except registry.DataUnavailableError:
        return None  # other results do not need the file
    if located is None:
        return None
    path = located[AUTHORS_TEST_FILE]
    table = tables.read_csv(path, keep_default_na=False)
    tables.require(table, AUTHORS_TEST_COLUMNS, path.name)
    table = tables.as_numbers(table, AUTHORS_TEST_AGES, path.name)
    return table[list(AUTHORS_TEST_COLUMNS)].rename(columns=AUTHORS_TEST_COLUMNS)


def read_associations(path: Path) -> pd.DataFrame:
    """Read associations; the first column, which has no name, numbers the rows."""
    table = tables.read_csv(path, keep_default_na=False)
    table = table.rename(columns={"Unnamed: 0": "row"})
    return check(table, columns.HUMBEL_ASSOCIATIONS, path.name)


def read_norms(path: Path) -> pd.DataFrame:
    """Read the sheet of norms, where "null" is a word and 8 a meaning."""
    cells = _cells(path)
    sheet = pd.DataFrame(cells[1:], columns=cells[0])
    sheet = tables.as_numbers(sheet, ["AoAtestbased"], path.name)
    tables.require(sheet, NORM_COLUMNS, path.name)
    norms = sheet[list(NORM_COLUMNS)].rename(columns=NORM_COLUMNS)
    # The sheet has the school grade in which the meaning is known.
    norms = norms.assign(
        row=norms.index,
        word=norms["word"].map(_text),
        meaning=norms["meaning"].map(_text),
        age=norms["grade"] + YEARS_BEFORE_SCHOOL,
    )
    return check(norms, columns.HUMBEL_NORMS, path.name)


def _cells(path: Path) -> list[list]:
    """Read the first sheet of a workbook by row; pandas would take twice as long."""
    try:
        workbook = CalamineWorkbook.from_path(path)
        cells = workbook.get_sheet_by_index(0).to_python()
    except (CalamineError, *tables.UNREADABLE) as error:
        raise tables.unreadable(path, "a workbook", error) from None
    if not cells:
        raise tables.bad_table(path.name, ["the first sheet is empty"])
    return cells


def _text(cell: object) -> str:
    """Write a cell as text, whole numbers without a point."""
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def table4() -> pd.DataFrame:
    """Recompute the kappa of Table 4 from the disagreement printed beside it.

    Two people who use six options equally often agree by chance in one of six cases.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, and ``low`` and ``high``, which rounding of the disagreement
        allows, indexed by ``answers`` and ``measure``.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales.

    Examples
    --------
    >>> table4().round(2).to_dict("records")
    [{'estimate': 0.82, 'low': 0.81, 'high': 0.83}]
    """
    cell = ("annotators", "disagreement")
    printed = float(published.printed_table("humbel_table4").loc[cell, "published"])
    low, estimate, high = [
        1 - (printed + half_unit) / 100 / (5 / 6) for half_unit in (0.5, 0, -0.5)
    ]
    index = pd.MultiIndex.from_tuples(
        [("annotators", "kappa")], names=["answers", "measure"]
    )
    return pd.DataFrame({"estimate": estimate, "low": low, "high": high}, index)
