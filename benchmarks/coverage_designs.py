"""Tables of the studies, and how data sets like them are drawn.

A design has two functions: `load` gives the tables that stand for all there is, so that
their own numbers are the truth, and `draw` gives tables of about the same size, drawn
from them. To measure coverage under another process (new prompts and raters from a
fitted model, say) give a design another `draw`, or add a design: statistics see only
tables with the same names and columns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.tree import DecisionTreeRegressor

from helpers import text
from helpers.stats import aspects, rates
from helpers.studies import (
    answerers,
    chatbench,
    hosking,
    hosking_submissions,
    humbel,
    kamoda,
    word_tests,
)

Tables = Mapping[str, pd.DataFrame]
SEED = 20240917  # of the notebooks
# Labels of things that belong to one prompt, question or person: copies get new ones.
NESTED = ("item_id", "pair_id", "partner_id")
N_LONGEST = 50  # justifications that notebook 23 reads, by length
MODEL_ANSWERS = "data/answers/all_minilm_l6_v2_{}.csv"


@dataclass(frozen=True)
class Design:
    """Tables of a study, and how others like them are drawn.

    Parameters
    ----------
    load : callable
        Gives the tables, by name, from a data source ("auto", "real", "simulated").
    draw : callable
        Gives drawn tables of the same names and columns, from the tables and a
        ``numpy.random.Generator``.
    """

    load: Callable[[str], Tables]
    draw: Callable[[Tables, np.random.Generator], Tables]


def draw_clusters(
    tables: Tables,
    rng: np.random.Generator,
    cluster: str,
    shared: bool = True,
) -> dict[str, pd.DataFrame]:
    """Draw as many clusters as there are, with replacement, each with all its rows.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        Tables with the column `cluster`.
    rng : numpy.random.Generator
    cluster : str
        Column of clusters, for example ``"prompt_id"``.
    shared : bool, optional
        Whether a label means the same cluster in all tables. If not (raters of
        different groups), clusters are drawn for each table by itself.

    Returns
    -------
    dict of str to pandas.DataFrame
        A cluster that was drawn again is another one: its label, and those in `NESTED`
        that stand in no other cluster, end in the number of the copy.

    Examples
    --------
    >>> ratings = pd.DataFrame({"prompt_id": ["p", "q"], "item_id": ["x", "y"]})
    >>> drawn = draw_clusters({"a": ratings}, np.random.default_rng(1), "prompt_id")
    >>> drawn["a"]["item_id"].tolist()
    ['x', 'y']
    """
    if not shared:
        alone = {}
        for name, table in tables.items():
            alone |= draw_clusters({name: table}, rng, cluster)
        return alone
    columns = [table[cluster] for table in tables.values()]
    labels = pd.unique(pd.concat(columns, ignore_index=True))
    drawn = rng.integers(len(labels), size=len(labels))
    times = pd.Series(np.bincount(drawn, minlength=len(labels)), labels)
    return {name: _repeat(table, cluster, times) for name, table in tables.items()}


def _repeat(table: pd.DataFrame, cluster: str, times: pd.Series) -> pd.DataFrame:
    """Repeat rows as often as their cluster was drawn, under labels of their own."""
    n_copies = table[cluster].map(times).to_numpy()
    rows = np.repeat(np.arange(len(table)), n_copies)
    first_place = np.searchsorted(rows, rows)  # of the row among its copies
    copy = np.arange(len(rows)) - first_place
    suffix = np.where(copy > 0, np.char.add("~", copy.astype(str)), "")
    sample = table.take(rows).reset_index(drop=True)
    for column in [cluster, *_nested(table, cluster)]:
        sample[column] = sample[column].astype(str) + suffix
    return sample


def _nested(table: pd.DataFrame, cluster: str) -> list[str]:
    """Columns of labels each of which stands in one cluster only."""
    nested = []
    for column in NESTED:
        if column in table and column != cluster:
            n_clusters = table.groupby(column, observed=True)[cluster].nunique()
            if n_clusters.max() == 1:
                nested.append(column)
    return nested


def draw_two_ways(
    tables: Tables, rng: np.random.Generator, first: str, second: str
) -> dict[str, pd.DataFrame]:
    """Draw clusters of two kinds that cross: a row for each pair of what was drawn."""
    drawn = draw_clusters(tables, rng, first)
    return draw_clusters(drawn, rng, second, shared=False)


def load_groups(source: str) -> Tables:
    """Ratings of the five groups of Hosking et al., attention checks included."""
    _, ratings, _ = hosking_submissions.load_groups(source, SEED)
    return ratings


def load_pay(source: str) -> Tables:
    """Pay per hour of each submission of Hosking et al., by group and over all."""
    _, _, sessions = hosking_submissions.load_groups(source, SEED)
    pounds = {"errors": 0.60, "unbiased": 0.30, "perception": 0.30}
    pay = sessions["group"].map(pounds) * 3600 / sessions["seconds"]
    sessions = sessions.assign(pay=pay)
    everybody = sessions.assign(raters="all groups")
    return {"sessions": pd.concat([sessions, everybody], ignore_index=True)}


def load_hosking_1(source: str) -> Tables:
    """Ratings of experiment 1 of Hosking et al."""
    study = hosking.load_experiment_1(source, SEED)
    return {"errors": study.errors, "unbiased": study.unbiased}


def load_single_1(source: str) -> Tables:
    """Single scores of experiment 1, by labels from other forms and by own marks."""
    study = hosking.load_experiment_1(source, SEED)
    labels = study.outputs()[["item_id", *hosking.ERRORS_1]]
    scores = hosking_submissions.single_ratings(1, "unbiased", study.source, SEED)
    own = hosking_submissions.single_ratings(1, "errors", study.source, SEED)
    return {"labels from other forms": scores.merge(labels), "own marks": own}


def load_hosking_2(source: str) -> Tables:
    """Ratings of experiment 2 of Hosking et al., expert labels, measures of texts."""
    study = hosking.load_experiment_2(source, SEED)
    experts = hosking.load_experts(study.source, SEED)
    return {
        "errors": study.errors,
        "unbiased": study.unbiased,
        "perception": study.perception,
        "experts": experts[experts["batch"] == "main"],
        "texts": _text_measures(study.source),
    }


def _text_measures(source: str) -> pd.DataFrame:
    """Sentiment and reading grade of the answers that have words, as in notebook 13."""
    _, ratings = hosking_submissions.load_submissions(
        2, "perception", source, SEED, texts=True
    )
    plain = hosking.without_checks(ratings).drop_duplicates("item_id")
    plain = plain[plain["response"].str.contains(r"\w")].set_index("item_id")
    sentences = plain["response"].str.split(r"(?<=[.!?])\s+|\n+", regex=True).explode()
    sentences = sentences[sentences.str.contains(r"\w")]
    measures = plain[["prompt_id"]].assign(
        sentiment=text.sentiment(sentences, "vader").groupby(level=0).mean(),
        grade=text.readability(plain["response"]),
    )
    return measures.reset_index()


def load_single_2(source: str) -> Tables:
    """Single error checks of experiment 2, of answers that are no refusals."""
    study = hosking.load_experiment_2(source, SEED)
    answered = rates.drop_refusals(study.outputs(), "majority")
    single = hosking_submissions.single_ratings(2, "errors", study.source, SEED)
    return {"checks": single[single["item_id"].isin(answered["item_id"])]}


def load_kamoda(source: str) -> Tables:
    """Ratings of Kamoda et al., with what notebooks 22 and 24 compute of each answer.

    Weights and trees are taken as given: scores that rest on them are columns.
    """
    study = kamoda.load(source, SEED)
    answers = study.answers()
    distances = aspects.ideal_distance(
        study.ratings, list(kamoda.RANGES), kamoda.IDEALS, kamoda.RANGES
    )
    features = list(kamoda.ASPECTS)
    best = kamoda.IDEALS["acceptability"]
    weights = best * aspects.weights(distances, features, "acceptability")

    def scored(table: pd.DataFrame) -> pd.DataFrame:
        return aspects.judge_scores(
            table,
            weights=weights,
            ideals=kamoda.IDEALS,
            ranges=kamoda.RANGES,
            overall="acceptability",
        )

    both = study.evaluators.merge(answers, on="item_id", suffixes=("", "_human"))
    judged = scored(both)
    return {
        "ratings": study.ratings,
        "scored ratings": scored(study.ratings),
        "scored answers": scored(answers),
        "judged": judged,
        "measures": _measures(source, answers, judged),
        "predicted": _predicted(study.ratings),
    }


def _measures(source: str, answers: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Automatic measures of each answer beside people's acceptability, notebook 24."""
    texts = kamoda.load_texts(source, SEED).answers.set_index("item_id")
    overlap = text.reference_overlap(texts, "human_top", False)
    measures = overlap.set_axis(["ROUGE-1", "ROUGE-L"], axis="columns")
    measures["length"] = texts["text"].str.split().str.len()
    measures["log length"] = np.log(measures["length"])
    columns = ["question_id", "system", "acceptability"]
    wide = answers.set_index("item_id")[columns].join(measures)
    for judge, code in {"GPT-4": "gpt4", "Llama 2": "llama2"}.items():
        rows = judged[judged["evaluator"] == code].set_index("item_id")
        scores = rows[["direct", "weighted", "equal"]]
        wide = wide.join(scores.add_prefix(f"{judge}, "))
    return wide.reset_index()


def _predicted(ratings: pd.DataFrame) -> pd.DataFrame:
    """Acceptability of new questions by trees and weighted sums, as in notebook 22."""
    features = list(kamoda.ASPECTS)
    marks = ratings[features]
    distances = aspects.ideal_distance(ratings, features, kamoda.IDEALS, kamoda.RANGES)
    sides = distances[["factuality"]].copy()
    for name in features[1:]:
        sides[f"{name}, too low"] = -ratings[name].clip(upper=0)
        sides[f"{name}, too high"] = ratings[name].clip(lower=0)
    overall = ratings["acceptability"]
    best = kamoda.IDEALS["acceptability"]
    linear = LinearRegression(fit_intercept=False)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    deeper = DecisionTreeRegressor(max_depth=5, random_state=0)

    def of_new_questions(model: object, x: pd.DataFrame, y: pd.Series) -> np.ndarray:
        groups = ratings["question_id"].to_numpy()
        return cross_val_predict(
            model, x.to_numpy(), y, groups=groups, cv=GroupKFold(10)
        )

    missing = best - overall
    predicted = ratings[["question_id", "acceptability"]].assign(
        tree=of_new_questions(tree, marks, overall),
        weighted=best - of_new_questions(linear, distances, missing),
        deeper=of_new_questions(deeper, marks, overall),
    )
    predicted["two sides"] = best - of_new_questions(linear, sides, missing)
    return pd.concat([predicted, sides.assign(missing=missing)], axis="columns")


def load_workers(source: str) -> Tables:
    """Ratings and justifications of Kamoda et al., whose writers are drawn anew."""
    study = kamoda.load(source, SEED)
    return {"ratings": study.ratings, "justifications": _justifications(source)}


def load_longest(source: str) -> Tables:
    """The longest justifications of Kamoda et al."""
    justifications = _justifications(source)
    by_length = (
        justifications["text"].str.len().sort_values(ascending=False, kind="stable")
    )
    return {"justifications": justifications.loc[by_length.index[:N_LONGEST]]}


def _justifications(source: str) -> pd.DataFrame:
    """Justifications with the aspects that each mentions, 0 or 100."""
    reasons = kamoda.load_texts(source, SEED).justifications
    return reasons.join(100.0 * text.mentions(reasons["text"]))


def load_questions(source: str) -> Tables:
    """Accuracies by question of ChatBench."""
    return {"points": chatbench.load(source, SEED).by_question()}


def load_users(source: str) -> Tables:
    """Answers of the users of ChatBench."""
    return {"answers": chatbench.load(source, SEED).answers}


def load_word_classes(source: str) -> Tables:
    """Questions of HumBEL's word classes, their features, and a model's errors."""
    study = humbel.load(source, SEED)
    questions = word_tests.word_classes(
        study.associations, study.norms, word_tests.Options(meanings="latest")
    )
    explained = study.associations.set_index("row")[["explanation", "relation"]]
    pairs = questions.join(explained, on="row")
    file = MODEL_ANSWERS.format("word_classes")
    chosen = answerers.of_model(study, pairs, file, SEED)
    right = chosen == answerers.always_right(pairs)
    tags = word_tests.explained_tags(pairs)
    features = word_tests.pair_features(tags)
    relations = word_tests.relation_features(pairs["relation"])
    table = (
        pairs.join(features)
        .join(relations)
        .assign(
            error=(~right).to_numpy().astype(int),
            right=right.astype(float),
            decade=(pairs["age"] - 9) / 10,
            tagged=tags.notna().all(axis="columns"),
        )
    )
    every_word = pd.DataFrame({role: word_tests.tag(pairs[role]) for role in tags})
    by_tagger = word_tests.pair_features(every_word).add_suffix(", every word tagged")
    return {"questions": table.join(by_tagger)}


def load_definitions(source: str) -> Tables:
    """Questions of HumBEL's definitions, and whether a model's answers are right."""
    study = humbel.load(source, SEED)
    questions = word_tests.definitions(study.norms, study.vocabulary())
    file = MODEL_ANSWERS.format("definitions")
    chosen = answerers.of_model(study, questions, file, SEED)
    right = (chosen == answerers.always_right(questions)).astype(float)
    return {"questions": questions.assign(right=right)}


BY_PROMPT = partial(draw_clusters, cluster="prompt_id")
BY_QUESTION = partial(draw_clusters, cluster="question_id")
BY_PERSON = partial(draw_clusters, cluster="rater_id")
BY_PERSON_OF_GROUP = partial(draw_clusters, cluster="rater_id", shared=False)
BY_CUE = partial(draw_clusters, cluster="cue")
BY_WORD = partial(draw_clusters, cluster="word")
BY_PROMPT_AND_RATER = partial(draw_two_ways, first="prompt_id", second="rater_id")
BY_BOTH_WORDS = partial(draw_two_ways, first="cue", second="association")

DESIGNS = {
    "Hosking, five groups": Design(load_groups, BY_PROMPT),
    "Hosking, pay": Design(load_pay, BY_PERSON),
    "Hosking 1": Design(load_hosking_1, BY_PROMPT),
    "Hosking 1, single": Design(load_single_1, BY_PROMPT_AND_RATER),
    "Hosking 2": Design(load_hosking_2, BY_PROMPT),
    "Hosking 2, single": Design(load_single_2, BY_PROMPT_AND_RATER),
    "Kamoda": Design(load_kamoda, BY_QUESTION),
    "Kamoda, workers": Design(load_workers, BY_PERSON_OF_GROUP),
    "Kamoda, longest": Design(load_longest, BY_PERSON),
    "ChatBench, questions": Design(load_questions, BY_QUESTION),
    "ChatBench, users": Design(load_users, BY_PERSON),
    "HumBEL": Design(load_word_classes, BY_CUE),
    "HumBEL, both words": Design(load_word_classes, BY_BOTH_WORDS),
    "HumBEL, definitions": Design(load_definitions, BY_WORD),
}
