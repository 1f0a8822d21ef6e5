"""Studies drawn from models that are fitted to the released ratings, for `coverage`.

While a `Drawn` study is `in_force`, the loaders of Hosking et al. and of Kamoda et al.
give a drawn study, or several beside each other as one large study.
"""

import contextlib
import warnings
from collections.abc import Iterator
from functools import cache, partial
from unittest import mock

import numpy as np
import pandas as pd
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.tools.sm_exceptions import ConvergenceWarning

from benchmarks import fitted
from benchmarks.fitted import NONE, Group, Model
from helpers import paths, text
from helpers.data.columns.hosking import ERRORS_2
from helpers.data.columns.kamoda import ASPECTS, EVALUATORS, RANGES
from helpers.simulate.hosking import SCHEMAS
from helpers.studies import hosking, hosking_submissions, kamoda
from helpers.studies.kamoda_models import distances

PLACES = {
    experiment: [
        place for place in hosking_submissions.GROUPS if place[0] == experiment
    ]
    for experiment in (1, 2)
}
NAMES = ["item_id", "partner_id", "prompt_id", "question_id", "response", "prompt"]
ROUGE = ["rouge_1", "rouge_l"]
SOURCE = "real"  # of the ratings that models are fitted to
FITTED = paths.BUILD / "fitted"  # covariances of models that were fitted before


def fit(name: str, groups: dict) -> Model:
    """Fit a model, or take the covariances of an earlier fit."""
    file = FITTED / f"{name}.npz"
    if file.exists():
        with np.load(file) as covariances:
            return fitted.model_of(groups, dict(covariances))
    model = fitted.fit(groups)
    FITTED.mkdir(parents=True, exist_ok=True)
    np.savez(file, **model.covariances)
    return model


@cache
def hosking_tables() -> dict:
    """Load the real submissions, sessions, lengths and labels of the expert."""
    places = hosking_submissions.GROUPS
    _, ratings, sessions = hosking_submissions._load(places, SOURCE, 0, texts=True)
    people = pd.concat({place: table["rater_id"] for place, table in sessions.items()})
    number = pd.Series(np.arange(people.nunique()), people.unique())
    for tables in (ratings, sessions):
        for place, table in tables.items():
            code = number.loc[table["rater_id"]].to_numpy()
            tables[place] = table.reset_index(drop=True).assign(rater_id=code)
    lengths = {
        (1, "errors"): hosking.load_experiment_1(SOURCE).errors,
        (2, "perception"): hosking.load_experiment_2(SOURCE).perception,
    }
    for place, table in lengths.items():
        words = table.groupby("item_id")["response_words"].first()
        ratings[place]["response_words"] = ratings[place]["item_id"].map(words)
    return {
        "ratings": ratings,
        "sessions": sessions,
        "expert": hosking.load_experts(SOURCE),
    }


def rated_columns(place: tuple[int, str]) -> list[str]:
    """Columns of ratings of a group of people."""
    return list(hosking_submissions.FORMS[place].aspects)


@cache
def hosking_model(experiment: int) -> Model:
    """Fit the model of an experiment: its groups of people, times, and the expert."""
    tables = hosking_tables()
    rated = {place: tables["ratings"][place] for place in PLACES[experiment]}
    of_answers = ["system", "task" if experiment == 1 else "arm"]
    kinds = dict.fromkeys(rated, of_answers)
    columns = {place: rated_columns(place) for place in rated}
    if experiment == 2:
        expert = tables["expert"].query("batch == 'main'")
        rated["expert"] = expert.assign(rater_id=NONE, is_distractor=False)
        kinds["expert"], columns["expert"] = ["arm"], list(ERRORS_2)
    names = pd.concat([table[["item_id", "prompt_id"]] for table in rated.values()])
    items = pd.Index(names["item_id"].unique())
    prompts = pd.Index(names["prompt_id"].unique())
    groups, n_pairs = {}, 0
    for place, table in rated.items():
        kind = table[kinds[place]].agg(" ".join, axis="columns")
        kind = kind.mask(table["is_distractor"], "distractor")
        codes = pd.DataFrame(
            {
                "prompt": prompts.get_indexer(table["prompt_id"]),
                "item": items.get_indexer(table["item_id"]),
                "rater": table["rater_id"].to_numpy(),
                "pair": NONE,
                "cell": pd.factorize(kind)[0],
            }
        )
        if place != "expert":
            codes["pair"] = n_pairs + table["pair_id"].to_numpy()
            n_pairs = codes["pair"].max() + 1
        groups[place] = Group(codes, table[columns[place]].astype(float))
    # a submission has one time, which depends on the person alone
    n_items, n_prompts = len(items), len(prompts)
    for place in PLACES[experiment]:
        sessions = tables["sessions"][place]
        own = np.arange(len(sessions))
        codes = pd.DataFrame({"prompt": n_prompts + own, "item": n_items + own})
        codes = codes.assign(rater=sessions["rater_id"], pair=NONE, cell=0)
        groups["time", place] = Group(
            codes, np.log(sessions[["seconds"]].clip(lower=1))
        )
        n_items, n_prompts = n_items + len(own), n_prompts + len(own)
    return fit(f"hosking_{experiment}", groups)


@cache
def kamoda_tables() -> dict[str, pd.DataFrame]:
    """Load the real ratings, those of judges, and lengths and overlap of answers."""
    study, texts = kamoda.load(SOURCE), kamoda.load_texts(SOURCE)
    answers = texts.answers.set_index("item_id", drop=False)
    overlap = text.reference_overlap(answers, "human_top")
    length = np.log(answers["text"].str.split().str.len())
    answers = answers.assign(length=length, **overlap)
    tables = {"workers": study.ratings}
    for evaluator in EVALUATORS:
        tables[evaluator] = study.evaluators.query("evaluator == @evaluator")
    tables["length"] = answers.reset_index(drop=True)
    tables["rouge"] = answers.dropna(subset=ROUGE).reset_index(drop=True)
    tables["texts"] = texts
    return tables


@cache
def kamoda_model() -> Model:
    """Fit the model of workers, automatic judges and metrics."""
    tables = kamoda_tables()
    answers = tables["length"].set_index("item_id")
    items, questions = answers.index, pd.Index(answers["question_id"].unique())
    systems = pd.Index(answers["system"].unique())
    raters = pd.Index(tables["workers"]["rater_id"].unique())
    columns = {name: list(RANGES) for name in ("workers", *EVALUATORS)}
    columns |= {"length": ["length"], "rouge": ROUGE}
    groups = {}
    for name, of_group in columns.items():
        table = tables[name].reset_index(drop=True)
        of_items = answers.loc[table["item_id"]]
        codes = pd.DataFrame(
            {
                "prompt": questions.get_indexer(of_items["question_id"]),
                "item": items.get_indexer(table["item_id"]),
                "rater": NONE,
                "pair": NONE,
                "cell": systems.get_indexer(of_items["system"]),
            }
        )
        groups[name] = Group(codes, table[of_group].astype(float))
    workers = tables["workers"]
    codes = groups["workers"].codes
    codes["rater"] = raters.get_indexer(workers["rater_id"])
    codes["pair"] = codes.groupby(["rater", "prompt"]).ngroup()
    # acceptability depends on what the worker rated, with weights of the worker's own
    groups["workers"] = Group(
        codes, groups["workers"].ratings, True, slopes_of_workers(workers), distances_of
    )
    return fit("kamoda", groups)


def distances_of(rated: np.ndarray) -> np.ndarray:
    """Distances of the three aspects from their ideals."""
    table = pd.DataFrame(rated, columns=list(ASPECTS)).assign(acceptability=0.0)
    return distances(table)[list(ASPECTS)].to_numpy()


def slopes_of_workers(workers: pd.DataFrame) -> np.ndarray:
    """Covariance of workers' weights, in units of the variance that weights leave."""
    table = distances(workers).assign(intercept=1.0)
    x = table[["intercept", *ASPECTS]]
    mixed = MixedLM(
        table["missing"], x, groups=workers["rater_id"], exog_re=x[list(ASPECTS)]
    )
    with warnings.catch_warnings():
        # weights of one worker go together so closely that the fit is at its boundary
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = mixed.fit(method="lbfgs")
    left_over = table["missing"] - x @ found.fe_params
    return np.asarray(found.cov_re) / left_over.var()


MODELS = {
    "hosking 1": partial(hosking_model, 1),
    "hosking 2": partial(hosking_model, 2),
    "kamoda": kamoda_model,
}


class Drawn:
    """Drawn studies of both papers; several `copies` are one large study."""

    def __init__(self, seed: int, copies: int = 1):
        self.seed, self.copies = seed, copies
        self.drawn: dict = {}

    def values(self, study: str) -> dict[str, np.ndarray]:
        """Draw the ratings of a study once."""
        if study not in self.drawn:
            rng = np.random.default_rng([self.seed, list(MODELS).index(study)])
            self.drawn[study] = MODELS[study]().draw(rng, self.copies)
        return self.drawn[study]

    def repeated(self, table: pd.DataFrame) -> pd.DataFrame:
        """Repeat a table for each copy, with names of its own."""
        copy = np.repeat(np.arange(self.copies), len(table))
        repeated = pd.concat([table] * self.copies, ignore_index=True)
        prefix = pd.Series(copy).astype(str) + "~"
        for column in repeated.columns.intersection(NAMES):
            repeated[column] = prefix + repeated[column]
        if "rater_id" in repeated:
            repeated["rater_id"] = prefix + repeated["rater_id"].astype(str)
        if "pair_id" in repeated:
            repeated["pair_id"] += copy * (table["pair_id"].max() + 1)
        return repeated

    def submissions(self, place: tuple[int, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Ratings and sessions of a group of people of Hosking et al."""
        tables = hosking_tables()
        values = self.values(f"hosking {place[0]}")
        ratings = self.repeated(tables["ratings"][place])
        ratings[rated_columns(place)] = values[place]
        sessions = self.repeated(tables["sessions"][place])
        sessions["seconds"] = np.exp(values["time", place][:, 0])
        return ratings, sessions

    def load(
        self, places: list, data_source: str, seed: int, texts: bool
    ) -> tuple[str, dict, dict]:
        """In place of `hosking_submissions._load`."""
        drawn = {place: self.submissions(place) for place in places}
        ratings = {place: tables[0] for place, tables in drawn.items()}
        sessions = {place: tables[1] for place, tables in drawn.items()}
        return "simulated", ratings, sessions

    def released(self, place: tuple[int, str]) -> pd.DataFrame:
        """Ratings of a group without people, as released."""
        ratings, _ = self.submissions(place)
        return ratings.loc[ratings["reported"], list(SCHEMAS[place].columns)]

    def experiment_1(self, *_: object) -> hosking.Experiment1:
        """In place of `hosking.load_experiment_1`."""
        return hosking.Experiment1("simulated", *map(self.released, PLACES[1]))

    def experiment_2(self, *_: object) -> hosking.Experiment2:
        """In place of `hosking.load_experiment_2`."""
        return hosking.Experiment2("simulated", *map(self.released, PLACES[2]))

    def experts(self, *_: object) -> pd.DataFrame:
        """In place of `hosking.load_experts`; a pilot repeats the later labels."""
        real = hosking_tables()["expert"]
        main = self.repeated(real.query("batch == 'main'"))
        main[list(ERRORS_2)] = self.values("hosking 2")["expert"]
        pilot = self.repeated(real.query("batch == 'pilot'"))
        labels = main.set_index("item_id").loc[pilot["item_id"], list(ERRORS_2)]
        pilot[list(ERRORS_2)] = labels.to_numpy()
        return pd.concat([pilot, main], ignore_index=True)

    def kamoda_ratings(self, *_: object) -> kamoda.Kamoda:
        """In place of `kamoda.load`."""
        tables, values = kamoda_tables(), self.values("kamoda")
        drawn = {}
        for name in ("workers", *EVALUATORS):
            drawn[name] = self.repeated(tables[name])
            drawn[name][list(RANGES)] = values[name]
        ratings = drawn.pop("workers")
        best = ratings.groupby(["rater_id", "question_id"])["acceptability"].idxmax()
        ratings["preferred"] = ratings.index.isin(best).astype(float)
        return kamoda.Kamoda("simulated", ratings, pd.concat(drawn, ignore_index=True))

    def kamoda_texts(self, *_: object) -> kamoda.KamodaTexts:
        """In place of `kamoda.load_texts`: answers of the drawn lengths."""
        real = kamoda_tables()["texts"]
        answers = self.repeated(real.answers)
        words = np.exp(self.values("kamoda")["length"][:, 0]).round().astype(int)
        answers["text"] = ["word " * n for n in words]
        return kamoda.KamodaTexts(
            "simulated", answers, self.repeated(real.justifications)
        )

    def overlap(self, texts: pd.DataFrame, *_: object) -> pd.DataFrame:
        """In place of `text.reference_overlap`."""
        referred = self.repeated(kamoda_tables()["rouge"][["item_id"]])
        values = self.values("kamoda")["rouge"]
        drawn = pd.DataFrame(values, referred["item_id"], ROUGE)
        return drawn.reindex(texts.index)


@contextlib.contextmanager
def in_force(study: Drawn) -> Iterator[None]:
    """Let loaders give a drawn study."""
    for model in MODELS.values():
        model()  # what is fitted must be the real ratings
    with (
        mock.patch.object(hosking_submissions, "_load", study.load),
        mock.patch.object(hosking, "load_experiment_1", study.experiment_1),
        mock.patch.object(hosking, "load_experiment_2", study.experiment_2),
        mock.patch.object(hosking, "load_experts", study.experts),
        mock.patch.object(kamoda, "load", study.kamoda_ratings),
        mock.patch.object(kamoda, "load_texts", study.kamoda_texts),
        mock.patch.object(text, "reference_overlap", study.overlap),
    ):
        yield
