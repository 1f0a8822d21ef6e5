"""Counts and sums of the released ratings, from which notebook 00 computes its results.

They are committed in `data/summaries`, and hold no identifiers and no single ratings.
`make refresh` writes them anew.
"""

from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.data.tables import to_csv_bytes
from helpers.studies import hosking, kamoda

FOLDER = paths.DATA / "summaries"


def write_summaries() -> list[Path]:
    """Write the summaries of the released ratings; give their files."""
    summaries = {
        "kamoda_ratings": kamoda_ratings(),
        "hosking_products": hosking_products(),
        "hosking_279_answers": hosking_279_answers(),
    }
    contents = {}
    for name, table in summaries.items():
        contents[FOLDER / f"{name}.csv"] = to_csv_bytes(table, index=False)
    paths.replace_files(contents)
    return list(contents)


def kamoda_ratings(data_source: str = "real") -> pd.DataFrame:
    """Count the ratings by the level of each aspect and of acceptability."""
    ratings = kamoda.load(data_source).ratings
    levels = [*kamoda.LEVELS, "acceptability"]
    counts = ratings[levels].astype(int).value_counts().sort_index()
    return counts.rename("ratings").reset_index()


def hosking_products(data_source: str = "real") -> pd.DataFrame:
    """Sum the products of any two of: one, ten labels, score; over 900 answers.

    The products with one, in the row ``answers``, are sums, and the first of them is
    the number of answers.
    """
    study = hosking.load_experiment_1(data_source)
    products = {}
    for labels_by in ("majority", "share"):
        answers = study.answers(labels_by)
        columns = answers[[*hosking.TEN_ERRORS, "score"]]
        columns.insert(0, "answers", 1.0)
        products[labels_by] = columns.T @ columns
    table = pd.concat(products, names=["labelled by", "product of"])
    return table.round(10).reset_index()


def hosking_279_answers(data_source: str = "real") -> pd.DataFrame:
    """Count answers by condition and by who labels a factual error; refusals are out.

    The columns are the expert's label, the number of workers, and how many of them
    label a factual error.
    """
    both = hosking.load_experiment_2(data_source).labelled_by_both()
    is_answered = (both["refusal_expert"] == 0) & (both["refusal_majority"] < 1)
    answered = both[is_answered & (both["error"] == "factual error")]
    answered = answered.rename(columns={"n": "workers", "k": "ticks"})
    keys = ["condition", "expert", "workers", "ticks"]
    counts = answered.astype({"expert": int, "workers": int})[keys].value_counts()
    return counts.sort_index().rename("answers").reset_index()
