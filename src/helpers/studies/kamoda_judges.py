"""How closely automatic scores of Kamoda et al. follow people's ratings.

Sections 5.2 to 5.4, limitations and Table 1. Notebook 24 explains the measures.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from helpers.data.columns.kamoda import ASPECTS, IDEALS, RANGES
from helpers.stats import aspects, jackknife
from helpers.stats.aggregation import item_means
from helpers.stats.correlations import score_correlations
from helpers.stats.groups import group_mean_draws, interval_table
from helpers.stats.jackknife import Jackknife
from helpers.stats.moments import ratio
from helpers.studies.kamoda import Kamoda
from helpers.studies.kamoda_models import WORKER_AND_QUESTION, distances
from helpers.text import reference_overlap

JUDGES = {"GPT-4": "gpt4", "GPT-4, three runs": "gpt4_mean3", "Llama 2": "llama2"}
TWO_JUDGES = ["GPT-4", "Llama 2"]
SCORES = aspects.JUDGE_SCORES  # direct, weighted, equal
ROUGE = ["ROUGE-1", "ROUGE-L"]
METRICS = [*ROUGE, "length"]
MEASURES = ["r", "error saved", "order"]
OTHER_ASPECTS = ["amount_info", "formality"]
INTERVAL = ["estimate", "low", "high"]
SAME_VALUE = 9  # decimals: scores that differ by less are ties
# who rated the aspects, and the scores by learned and by equal weights
SOURCES = {
    "the model": ("weighted", "equal"),
    "the same people": ("people, weighted", "people, equal"),
    "people, agreed part": ("agreed, weighted", "agreed, equal"),
}


def judged(study: Kamoda, unit: str = "rating") -> dict[str, pd.DataFrame]:
    """Collect the ratings of each judge, with its three scores.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    unit : {"rating", "answer"}, optional
        What the weights of aspects are fitted to: single ratings, or means of answers.

    Returns
    -------
    dict of str to pandas.DataFrame
        One row per answer that the judge rated: ``direct``, ``weighted`` and ``equal``
        (see `aspects.judge_scores`), its ratings, and people's means, which end in
        ``_human``. Two more tables hold GPT-4's first run on the answers that it rated
        three times and on those that Llama 2 rated.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> tables = judged(kamoda.load("simulated"))
    >>> len(tables["GPT-4, as Llama 2"]) == len(tables["Llama 2"])
    True
    """
    answers = study.answers()
    rated = {"rating": study.ratings, "answer": answers}[unit]
    table = distances(rated)
    names = list(ASPECTS)
    line = LinearRegression(fit_intercept=False).fit(table[names], table["missing"])
    learned = pd.Series(line.coef_, names)
    beside_people = study.evaluators.merge(
        answers, on="item_id", suffixes=("", "_human")
    )
    scored = aspects.judge_scores(
        beside_people, learned, IDEALS, RANGES, "acceptability"
    )
    tables = {
        name: scored[scored["evaluator"] == code] for name, code in JUDGES.items()
    }
    gpt4 = tables["GPT-4"]
    for name, other in (
        ("GPT-4, first run, same", "GPT-4, three runs"),
        ("GPT-4, as Llama 2", "Llama 2"),
    ):
        tables[name] = gpt4[gpt4["item_id"].isin(tables[other]["item_id"])]
    return tables


def scores_of_answers(
    study: Kamoda, texts: pd.DataFrame, unit: str = "rating", use_stemmer: bool = False
) -> pd.DataFrame:
    """Put people's mean rating and all automatic scores of each answer in one row.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    texts : pandas.DataFrame
        The answers, as in `KamodaTexts.answers`.
    unit : {"rating", "answer"}, optional
        As for `judged`.
    use_stemmer : bool, optional
        Whether ROUGE compares stems of words.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``item_id``, sorted: ``question_id``, ``system``, ``people`` (their
        mean acceptability), the metrics (`METRICS` and ``log length``; references have
        no ROUGE), and the scores of both judges, such as ``GPT-4, direct``.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> study, texts = kamoda.load("simulated"), kamoda.load_texts("simulated")
    >>> scores_of_answers(study, texts.answers).shape
    (1200, 13)
    """
    answers = study.answers().set_index("item_id").sort_index()
    wide = answers[["question_id", "system"]].assign(people=answers["acceptability"])
    texts = texts.set_index("item_id")
    wide[ROUGE] = reference_overlap(texts, "human_top", use_stemmer)
    wide["length"] = texts["text"].str.split().str.len()
    wide["log length"] = np.log(wide["length"])
    tables = judged(study, unit)
    for judge in TWO_JUDGES:
        of_judge = tables[judge].set_index("item_id")[SCORES]
        wide = wide.join(of_judge.add_prefix(f"{judge}, "))
    return wide


def follow(
    ratings: pd.DataFrame,
    scores: pd.DataFrame,
    constant: str = "constant",
    told_apart_by: str | None = None,
) -> Jackknife:
    """Measure how scores follow people: correlation, error saved, order of answers.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per answer and worker: ``item_id``, ``question_id``, ``rater_id`` and
        ``acceptability``.
    scores : pandas.DataFrame
        Indexed by ``item_id``, a column per score, in points of acceptability, without
        missing values; a judge's score, or predictions from other questions.
    constant : str, optional
        The column of a judge that gives every answer the same score. What it predicts
        may differ a little between questions, as it is learnt on others.
    told_apart_by : str, optional
        A column: for the order, only pairs that this score does not tie are counted.

    Returns
    -------
    Jackknife
        Named by measure and score, see `MEASURES`. ``r``: Pearson's correlation with
        people's mean; NaN for the constant, which has none. ``error saved``: 1 less the
        sum of squared errors over that of the constant. ``order``: Somers' D with the
        ratings of single workers, over pairs of answers to one question that the worker
        rated differently: the share that the score orders alike, less the share that it
        orders the other way; 0 for the constant. Workers and questions are left out of
        people's ratings; the scores stay as they are.

    Raises
    ------
    ValueError
        If a score is missing.

    References
    ----------
    Somers (1962), A New Asymmetric Measure of Association for Ordinal Variables.

    Examples
    --------
    >>> ratings = pd.DataFrame(
    ...     {"item_id": list("abcd") * 2, "question_id": list("qqss") * 2,
    ...      "rater_id": list("uuuuvvvv"), "acceptability": [0.0, 2, 1, 3] * 2})
    >>> scores = pd.DataFrame(
    ...     {"constant": 1.5, "judge": [0.0, 1, 1, 3]}, index=list("abcd"))
    >>> follow(ratings, scores).value.unstack(0)[MEASURES].round(2)
                 r  error saved  order
    constant   NaN          0.0    0.0
    judge     0.92          0.8    1.0
    """
    if scores.isna().any(axis=None):
        raise ValueError(
            "scores have missing values: choose answers that have them all"
        )
    rows = ratings[ratings["item_id"].isin(scores.index)].reset_index(drop=True)
    items, means_of = item_means(rows, "item_id", ["acceptability"])
    scores = scores.loc[items]
    values = scores.to_numpy(dtype=float)
    place = list(scores).index(constant)
    first, second = _pairs_of_one_worker(rows)
    rating = rows["acceptability"].to_numpy()
    given = np.sign(rating[first] - rating[second])
    of_rows = scores.loc[rows["item_id"]].to_numpy()
    scored = np.sign((of_rows[first] - of_rows[second]).round(SAME_VALUE))
    if told_apart_by is not None:
        given = given * np.abs(scored[:, list(scores).index(told_apart_by)])
    alike = given[:, None] * scored

    def compute(weights: np.ndarray) -> np.ndarray:
        present, (people,) = means_of(weights)
        r = score_correlations(scores, people, present)
        r[:, place] = np.nan
        squares = (
            present @ values**2
            - 2 * (present * people) @ values
            + (present * people**2).sum(axis=1, keepdims=True)
        )
        saved = 1 - ratio(squares, squares[:, [place]])
        of_pairs = weights[:, first]  # both rows are of one worker and question
        order = ratio(of_pairs @ alike, (of_pairs @ np.abs(given))[:, None])
        return np.hstack([r, saved, order])

    names = pd.MultiIndex.from_product([MEASURES, list(scores)])
    return jackknife.left_out(compute, rows[WORKER_AND_QUESTION], names)


def _pairs_of_one_worker(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Positions of all pairs of answers to one question that one worker rated."""
    keys = rows[WORKER_AND_QUESTION].assign(row=np.arange(len(rows)))
    pairs = keys.merge(keys, on=WORKER_AND_QUESTION, suffixes=("", "_other"))
    pairs = pairs[pairs["row"] < pairs["row_other"]]
    return pairs["row"].to_numpy(), pairs["row_other"].to_numpy()


def correlations(
    study: Kamoda, tables: Mapping[str, pd.DataFrame], unit: str = "rating"
) -> Jackknife:
    """Correlate the scores of judges with people, the weights fitted anew each time.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    tables : mapping of str to pandas.DataFrame
        Ratings by each judge, as from `judged`.
    unit : {"rating", "answer"}, optional
        As for `judged`.

    Returns
    -------
    Jackknife
        Named by judge and score: `aspects.JUDGE_SCORES` and `aspects.BY_PEOPLE`. Each
        worker and each question is left out, of the weights, too.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> study = kamoda.load("simulated")
    >>> tables = judged(study)
    >>> found = correlations(study, {"Llama 2": tables["Llama 2"]})
    >>> len(found.value)
    7
    """
    ideals = {name: IDEALS[name] for name in RANGES}
    of_judges = [
        aspects.judge_correlations(
            study.ratings, rows, ideals, RANGES, "acceptability", unit == "answer"
        )
        for rows in tables.values()
    ]

    def all_correlations(weights: np.ndarray) -> np.ndarray:
        return np.hstack([compute(weights) for compute in of_judges])

    kinds = [*SCORES, *aspects.BY_PEOPLE]
    names = pd.MultiIndex.from_product([list(tables), kinds])
    return jackknife.left_out(
        all_correlations, study.ratings[WORKER_AND_QUESTION], names
    )


def gain_by_source(found: Jackknife, judge: str) -> Jackknife:
    """Learned less equal weights, by who rated the aspects.

    Parameters
    ----------
    found : Jackknife
        As from `correlations`.
    judge : str
        The judge on whose answers they are compared.

    Returns
    -------
    Jackknife
        Named by the keys of `SOURCES`.
    """
    learned = found.pick([(judge, more) for more, _ in SOURCES.values()])
    equal = found.pick([(judge, less) for _, less in SOURCES.values()])
    gain = learned.minus(equal)
    return Jackknife(gain.value.set_axis(list(SOURCES)), gain.changes, gain.df)


def correlate(study: Kamoda, scores: pd.DataFrame) -> Jackknife:
    """Correlate any scores with people's mean acceptability.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    scores : pandas.DataFrame
        Indexed by ``item_id``, a column per score; each is correlated on the answers
        that have it.

    Returns
    -------
    Jackknife
        Pearson's r of each score; each worker and each question is left out.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> study = kamoda.load("simulated")
    >>> answers = study.answers().set_index("item_id")
    >>> correlate(study, answers[["acceptability"]]).value.round(3).to_dict()
    {'acceptability': 1.0}
    """
    items, means_of = item_means(study.ratings, "item_id", ["acceptability"])
    is_scored = items.isin(scores.index)
    scores = scores.loc[items[is_scored]]

    def compute(weights: np.ndarray) -> np.ndarray:
        present, (people,) = means_of(weights)
        return score_correlations(scores, people[:, is_scored], present[:, is_scored])

    return jackknife.left_out(compute, study.ratings[WORKER_AND_QUESTION], list(scores))


def errors(study: Kamoda, rows: pd.DataFrame) -> Jackknife:
    """How a judge's ratings differ from the means of people.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    rows : pandas.DataFrame
        The ratings and scores of a judge, as from `judged`.

    Returns
    -------
    Jackknife
        For each aspect ``error`` (the judge's rating less people's, on average),
        ``absolute error`` and ``r``; of the weighted score, in points of acceptability,
        ``("excess", "too high by")``, the mean of human and of ChatGPT's answers, and
        ``("excess", "more for ChatGPT by")``. Each worker and question is left out.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> study = kamoda.load("simulated")
    >>> len(errors(study, judged(study)["Llama 2"]).value)
    11
    """
    rated = [*ASPECTS, "acceptability"]
    items, means_of = item_means(study.ratings, "item_id", rated)
    of_judge = rows.set_index("item_id").reindex(items)
    has_rating = of_judge["weighted"].notna().to_numpy()
    of_judge = of_judge[has_rating]
    by_model = of_judge["system"].str.startswith("model").to_numpy()

    def compute(weights: np.ndarray) -> np.ndarray:
        present, means = means_of(weights)
        counted = present[:, has_rating]
        found = []
        for place, name in enumerate(ASPECTS):
            people = means[place][:, has_rating]
            error = of_judge[name].to_numpy() - people
            found.append(_mean(error, counted))
            found.append(_mean(np.abs(error), counted))
            found.append(score_correlations(of_judge[[name]], people, counted)[:, 0])
        excess = of_judge["weighted"].to_numpy() - means[-1][:, has_rating]
        for_model = _mean(excess, counted * by_model)
        for_human = _mean(excess, counted * ~by_model)
        found += [(for_model + for_human) / 2, for_model - for_human]
        return np.column_stack(found)

    of_aspects = pd.MultiIndex.from_product(
        [list(ASPECTS), ["error", "absolute error", "r"]]
    )
    too_high = [("excess", "too high by"), ("excess", "more for ChatGPT by")]
    names = of_aspects.append(pd.MultiIndex.from_tuples(too_high))
    return jackknife.left_out(compute, study.ratings[WORKER_AND_QUESTION], names)


def _mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted mean of each row."""
    return (weights * values).sum(axis=1) / weights.sum(axis=1)


def _less_than_others(found: Jackknife, measure: str) -> pd.DataFrame:
    """Factuality less each other aspect, in one measure of `errors`."""
    factuality = found.pick([("factuality", measure)] * len(OTHER_ASPECTS))
    others = found.pick([(name, measure) for name in OTHER_ASPECTS])
    table = factuality.minus(others).table()[INTERVAL]
    return table.set_axis(
        [name.replace("_info", " of information") for name in OTHER_ASPECTS]
    )


def statements(
    study: Kamoda,
    wide: pd.DataFrame,
    found: Jackknife,
    of_errors: Mapping[str, Jackknife],
    n_boot: int,
    seed: int,
) -> dict[str, dict[str, object]]:
    """Compute what the paper's statements on automatic scores are compared with.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    wide : pandas.DataFrame
        As from `scores_of_answers`.
    found : Jackknife
        As from `correlations`, of all tables of `judged`.
    of_errors : mapping of str to Jackknife
        As from `errors`, of both judges.
    n_boot, seed : int
        Draws and resamples, for ranks, and the seed of their random numbers.

    Returns
    -------
    dict of dict
        By the beginning of the name, such as ``"kamoda.metrics"``, and its end, in the
        form that `helpers.claims.results.rows` takes.

    References
    ----------
    Kamoda et al. (2025), sections 5.2 to 5.4, limitations and Table 1.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> study, texts = kamoda.load("simulated"), kamoda.load_texts("simulated")
    >>> tables = judged(study)
    >>> wide = scores_of_answers(study, texts.answers)
    >>> of_errors = {name: errors(study, tables[name]) for name in TWO_JUDGES}
    >>> found = correlations(study, tables)
    >>> names = statements(study, wide, found, of_errors, 20, seed=0)
    >>> sorted(names)[:3]
    ['kamoda.aspect_errors', 'kamoda.equal_weights', 'kamoda.evaluators']
    """
    evaluators = _counts(study) | _of_judges(found, n_boot, seed)
    evaluators["wllm_highest"] = {
        "all measures": _share_highest(found, n_boot, seed),
        "previous metrics": _share_above_metrics(study, wide, n_boot, seed),
    }
    evaluators["factuality_weaker"] = {
        "correlation": pd.concat(
            {judge: _less_than_others(each, "r") for judge, each in of_errors.items()}
        ),
        "mean error": pd.concat(
            {
                judge: _smaller_error(each, n_boot, seed)
                for judge, each in of_errors.items()
            }
        ),
    }
    for name, label in (
        ("overestimate", "too high by"),
        ("overestimate_models", "more for ChatGPT by"),
    ):
        by_judge = {
            judge: each.table().loc[("excess", label), INTERVAL]
            for judge, each in of_errors.items()
        }
        evaluators[name] = pd.DataFrame(by_judge).T
    return {
        "kamoda.evaluators": evaluators,
        "kamoda.equal_weights": _equal_weights(found),
        "kamoda.weighted_evaluator": _weighted_evaluator(study, found),
        "kamoda.metrics": _metrics(study, wide, n_boot, seed),
        "kamoda.aspect_errors": _aspect_errors(of_errors, n_boot, seed),
    }


def _difference(
    found: Jackknife, more: tuple[str, str], less: tuple[str, str]
) -> pd.DataFrame:
    """One correlation less another, with its interval, named by the second judge."""
    table = found.pick([more]).minus(found.pick([less])).table()[INTERVAL]
    return table.set_axis([less[0]])


def _counts(study: Kamoda) -> dict[str, object]:
    """Numbers of answers and questions, and whether GPT-4's runs differ."""
    tables = judged(study)
    thrice = tables["GPT-4, three runs"].merge(
        tables["GPT-4"], on="item_id", suffixes=("", "_once")
    )
    change = (thrice["acceptability"] - thrice["acceptability_once"]).abs()
    keys = ["item_id", "question_id"]
    everything = study.ratings[keys].nunique()
    tested = tables["Llama 2"][keys].nunique()
    return {
        "mean3_share": 100 * len(thrice) / everything["item_id"],
        "llama2_answers": tested["item_id"],
        "llama2_questions": tested["question_id"],
        "gpt4_varies": bool(change.max() > 1e-6),
        "llama2_training_answers": (everything - tested)["item_id"],
        "llama2_training_questions": (everything - tested)["question_id"],
    }


def _of_judges(found: Jackknife, n_boot: int, seed: int) -> dict[str, object]:
    """Correlations of each judge, and differences between scores and judges."""
    table = found.table()[INTERVAL]
    saved = {"gpt4_mean3_wllm": table.loc[("GPT-4, three runs", "weighted")]}
    for judge, code in JUDGES.items():
        saved[f"{code}_llm"] = table.loc[(judge, "direct")]
        gain = _difference(found, (judge, "weighted"), (judge, "direct"))
        saved[f"{code}_wllm_above_llm"] = gain.iloc[0]
    tuned = ("Llama 2", "weighted")
    on_all = found.pick([tuned]).minus(found.pick([("GPT-4", "weighted")])).table()
    saved["llama2_above_gpt4"] = {
        "the same questions": _difference(
            found, tuned, ("GPT-4, as Llama 2", "weighted")
        ),
        "GPT-4 on all": on_all[INTERVAL],
    }
    return saved


def _share_highest(found: Jackknife, n_boot: int, seed: int) -> pd.DataFrame:
    """Share of draws in which the weighted score is the highest of its judge."""
    draws = found.draws(n_boot, np.random.default_rng(seed))
    shares = {}
    for judge in TWO_JUDGES:
        of_judge = draws[judge][SCORES]
        shares[judge] = (of_judge["weighted"] == of_judge.max(axis="columns")).mean()
    return pd.Series(shares).to_frame("share")


def _share_above_metrics(
    study: Kamoda, wide: pd.DataFrame, n_boot: int, seed: int
) -> pd.DataFrame:
    """Share of draws in which the weighted score is ahead of all three metrics."""
    shares = {}
    for judge in TWO_JUDGES:
        scores = wide[[*METRICS, f"{judge}, weighted"]].dropna()
        r = correlate(study, scores).draws(n_boot, np.random.default_rng(seed))
        best_metric = r[METRICS].max(axis="columns")
        shares[judge] = (r[f"{judge}, weighted"] > best_metric).mean()
    return pd.Series(shares).to_frame("share")


def _equal_weights(found: Jackknife) -> dict[str, object]:
    """Equal less learned weights in hundredths, and whether errors explain it."""
    saved = {}
    why = {}
    by_people = ["the same people", "people, agreed part"]
    for judge in TWO_JUDGES:
        equal = _difference(found, (judge, "equal"), (judge, "weighted")).iloc[0]
        rounded = found.value[judge].round(2)
        saved[JUDGES[judge]] = {
            "": 100 * equal,
            "difference of the rounded correlations": round(
                100 * (rounded["equal"] - rounded["weighted"])
            ),
        }
        gain = gain_by_source(found, judge)
        less = gain.pick(["the model"] * 2).minus(gain.pick(by_people))
        why[judge] = less.table()[INTERVAL].set_axis(by_people)
    saved["errors_explain"] = pd.concat(why)
    return saved


def _weighted_evaluator(study: Kamoda, found: Jackknife) -> dict[str, object]:
    """What the page of findings says about weighting."""
    gains = gain_by_source(found, "GPT-4").table()[INTERVAL]
    n_answers = study.evaluators.groupby("evaluator")["item_id"].nunique()
    saved = {
        "answers": n_answers["gpt4"],
        "weighted": found.value[("GPT-4", "weighted")],
        "direct": found.value[("GPT-4", "direct")],
        "people": gains.loc["the same people"],
        "agreed": gains.loc["people, agreed part"],
        "llama_answers": n_answers["llama2"],
    }
    for judge, gain, equal in (
        ("GPT-4", "gain", "equal"),
        ("Llama 2", "llama_gain", "llama_equal"),
    ):
        weighted = (judge, "weighted")
        saved[gain] = _difference(found, weighted, (judge, "direct")).iloc[0]
        saved[equal] = _difference(found, (judge, "equal"), weighted).iloc[0]
    return saved


def _metrics(
    study: Kamoda, wide: pd.DataFrame, n_boot: int, seed: int
) -> dict[str, object]:
    """Correlation of ROUGE, its spread, and its distance between kinds of answers."""
    referred = wide.dropna(subset=ROUGE)
    r = correlate(study, referred[METRICS])
    of_rouge = r.table().loc[ROUGE, INTERVAL]
    longer = r.pick(["length"] * 2).minus(r.pick(ROUGE)).table()[INTERVAL]
    levels = referred["people"].round(2)
    around = referred[ROUGE] - referred.groupby(levels)[ROUGE].transform("mean")
    spread = 100 * around.std() / referred[ROUGE].std()
    return {
        "rouge_1_below_02": of_rouge.loc["ROUGE-1"] - 0.2,
        "rouge_l_below_02": of_rouge.loc["ROUGE-L"] - 0.2,
        "rouge_below_length": longer.set_axis(ROUGE),
        "rouge_spread": spread.to_frame("estimate"),
        "rouge_gap_small": _largest_distance(referred, n_boot, seed).loc[ROUGE],
    }


def _largest_distance(referred: pd.DataFrame, n_boot: int, seed: int) -> pd.DataFrame:
    """Highest less lowest mean of a kind of answer, in deviations within a kind.

    Intervals are those of resampled questions.
    """
    measured = [*ROUGE, "people"]
    within = referred.groupby("system")[measured].var().mean() ** 0.5
    scaled = (referred[measured] / within).join(referred[["question_id", "system"]])
    means, draws = group_mean_draws(
        scaled.reset_index(drop=True),
        measured,
        "system",
        "question_id",
        n_boot,
        np.random.default_rng(seed),
    )
    by_measure = means.groupby(level="measure")
    drawn = draws.T.groupby(level="measure")
    distance = by_measure.max() - by_measure.min()
    return interval_table(distance, (drawn.max() - drawn.min()).T)


def _aspect_errors(
    of_errors: Mapping[str, Jackknife], n_boot: int, seed: int
) -> dict[str, object]:
    """Mean error in each aspect, and how often factuality has the largest."""
    saved = {}
    for judge, found in of_errors.items():
        code = JUDGES[judge]
        table = found.table()[INTERVAL]
        sizes = found.draws(n_boot, np.random.default_rng(seed)).abs()
        is_largest = {}
        for measure in ("error", "absolute error"):
            of_aspects = sizes[[(name, measure) for name in ASPECTS]]
            largest = of_aspects.idxmax(axis="columns") == ("factuality", measure)
            is_largest[f"mean {measure}"] = {"share": largest.mean()}
        for name in ASPECTS:
            saved[f"{code}_{name}"] = table.loc[(name, "error")]
        saved[f"{code}_factuality_largest"] = is_largest
    return saved


def _smaller_error(found: Jackknife, n_boot: int, seed: int) -> pd.DataFrame:
    """Size of the mean error of other aspects less that of factuality."""
    sizes = found.value.abs()
    drawn = found.draws(n_boot, np.random.default_rng(seed)).abs()
    rows = {}
    for name in OTHER_ASPECTS:
        behind = drawn[name, "error"] - drawn["factuality", "error"]
        low, high = np.quantile(behind, [0.025, 0.975])
        estimate = sizes[name, "error"] - sizes["factuality", "error"]
        label = name.replace("_info", " of information")
        rows[label] = {"estimate": estimate, "low": low, "high": high}
    return pd.DataFrame(rows).T
