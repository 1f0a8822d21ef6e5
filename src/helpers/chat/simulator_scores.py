"""How close simulated users come to real ones: in the answers they end with, and in their words.

Chang et al. (2025), section 5.2, name four measures: over questions, the correlation and the mean
absolute error (MAE) of accuracies; over first messages, BLEU and ROUGE. The text does not say
which variants. Those here follow the authors' published code (`generate_conversations.py` in
serinachang5/interactive-eval), which scores each simulated message against each real one on the
same question.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sacrebleu.metrics import BLEU
from scipy import stats

from helpers.stats.bootstrap import bootstrap_correlation, bootstrap_means, interval
from helpers.text import overlap


def accuracy_scores(
    frame: pd.DataFrame,
    simulated: str,
    real: str,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Compare the accuracies of simulated users with those of people, question by question.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per question.
    simulated, real : str
        Columns of accuracies, from 0 to 1.
    cluster : str
        Column of clusters to resample: the question.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        Rows ``correlation`` (Pearson's) and ``mae``; columns ``estimate`` and the 95 % percentile
        interval ``low`` and ``high``.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.files.tables.check_regression`).

    References
    ----------
    Chang et al. (2025), section 5.2.

    Examples
    --------
    >>> frame = pd.DataFrame({"question_id": range(4), "simulated": [0.5, 0.7, 0.9, 1.0],
    ...                       "people": [0.4, 0.6, 0.8, 0.9]})
    >>> scores = accuracy_scores(frame, "simulated", "people", "question_id", 99,
    ...                          np.random.default_rng(0))
    >>> scores["estimate"].round(2).to_dict()
    {'correlation': 1.0, 'mae': 0.1}
    """
    draws = bootstrap_correlation(frame, simulated, real, cluster, n_boot, rng)
    errors = frame[[cluster]].assign(error=(frame[simulated] - frame[real]).abs())
    mean_draws = bootstrap_means(errors, ["error"], cluster, n_boot, rng)[:, 0]
    low, high = interval(np.column_stack([draws, mean_draws]))
    estimate = [frame[simulated].corr(frame[real]), errors["error"].mean()]
    rows = pd.Index(["correlation", "mae"])
    return pd.DataFrame({"estimate": estimate, "low": low, "high": high}, index=rows)


def first_messages(conversations: pd.DataFrame) -> pd.DataFrame:
    """Take the first message of the user from each conversation.

    Parameters
    ----------
    conversations : pandas.DataFrame
        One row per conversation: ``question_id`` and ``messages`` (dictionaries with ``role`` and
        ``content``).

    Returns
    -------
    pandas.DataFrame
        ``question_id`` and ``message``. Left out are conversations that the user does not open,
        as in the authors' code, and messages without a word, which cannot be compared.

    Examples
    --------
    >>> talk = [{"role": "user", "content": "bado keli"}]
    >>> first_messages(pd.DataFrame({"question_id": ["q1"], "messages": [talk]}))
      question_id    message
    0          q1  bado keli
    """
    opening = [messages[0] if messages else {} for messages in conversations["messages"]]
    texts = [each["content"] if each.get("role") == "user" else "" for each in opening]
    table = conversations[["question_id"]].assign(message=texts).reset_index(drop=True)
    return table[table["message"].str.contains(r"\w")]


def wording_scores(simulated: pd.DataFrame, real: pd.DataFrame) -> pd.DataFrame:
    """Compare every simulated first message with every real one on the same question.

    BLEU is that of a corpus: counts of n-grams are added up over the pairs of a question, without
    smoothing and in the standard "13a" tokens, so that it is zero if no four words in a row are
    shared. ROUGE-1 and ROUGE-L are F1 values without stemming, averaged over pairs.

    Parameters
    ----------
    simulated, real : pandas.DataFrame
        ``question_id`` and ``message``.

    Returns
    -------
    pandas.DataFrame
        One row per question of both, sorted: ``question_id``, ``n_pairs``, ``bleu``, ``rouge_1``
        and ``rouge_l``, all from 0 to 1.

    Raises
    ------
    ValueError
        If no question is in both, or a message has no word.

    Notes
    -----
    The authors' code calls ``evaluate.load("bleu")`` and ``evaluate.load("rouge")`` and keeps
    ROUGE-1. BLEU there has the same tokens, n-grams and brevity penalty as here. ROUGE-1 there is
    the median of bootstrapped means over pairs, a random number close to the mean taken here.
    Whether the version that is published is the one behind Table 1 is not known.

    References
    ----------
    Papineni et al. (2002), BLEU; Post (2018), A Call for Clarity in Reporting BLEU Scores; Lin
    (2004), ROUGE; Chang et al. (2025), section 5.2.

    Examples
    --------
    >>> real = pd.DataFrame({"question_id": ["q1"], "message": ["bado keli muna pori seva"]})
    >>> half = pd.DataFrame({"question_id": ["q1"], "message": ["bado keli muna pori"]})
    >>> wording_scores(half, real).round(2)
      question_id  n_pairs  bleu  rouge_1  rouge_l
    0          q1        1  0.78     0.89     0.89
    """
    pairs = simulated.merge(real, on="question_id", suffixes=("_simulated", "_real"))
    if pairs.empty:
        raise ValueError("no question has both simulated and real messages: check question_id")
    pairs = pairs.join(overlap(pairs["message_simulated"], pairs["message_real"]))
    questions = pairs.groupby("question_id")
    metric = BLEU(tokenize="13a", smooth_method="none")
    bleu = {
        question: metric.corpus_score(
            rows["message_simulated"].tolist(), [rows["message_real"].tolist()]
        ).score
        / 100
        for question, rows in questions
    }
    scores = questions.agg(
        n_pairs=("rouge_1", "size"), rouge_1=("rouge_1", "mean"), rouge_l=("rouge_l", "mean")
    )
    scores.insert(1, "bleu", pd.Series(bleu))
    return scores.reset_index()


def fisher_interval(
    correlation: ArrayLike, n: int, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Interval of a correlation of which only its value and the number of rows are known.

    Parameters
    ----------
    correlation : array-like
        Pearson's correlations.
    n : int
        Number of rows, at least 4, that are independent and about normally distributed.
    level : float, optional
        Coverage.

    Returns
    -------
    low, high : numpy.ndarray or float
        Ends of the interval.

    Raises
    ------
    ValueError
        If there are too few rows.

    References
    ----------
    Fisher (1921), On the Probable Error of a Coefficient of Correlation.

    Examples
    --------
    >>> low, high = fisher_interval(0.5, 103)
    >>> round(float(low), 2), round(float(high), 2)
    (0.34, 0.63)
    """
    if n < 4:
        raise ValueError(f"an interval of a correlation needs at least 4 rows, got {n}")
    half = stats.norm.ppf((1 + level) / 2) / np.sqrt(n - 3)
    z = np.arctanh(np.asarray(correlation, dtype=float))
    return np.tanh(z - half), np.tanh(z + half)
