"""What stands behind the weights of any study: agreement, a possible confounder, a tree.

Each function returns a table, or one that says why there is none.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from helpers.checkup import FEW_MARKS
from helpers.own_study import FEWEST_ROWS, MOST_ROWS, Study, join_clusters
from helpers.own_weights import not_done, slopes
from helpers.stats import aspects, bootstrap
from helpers.stats.agreement import agreement_table
from helpers.stats.moments import cluster_sums

MOST_LABELS = 30  # of a covariate without numbers
ROWS_FOR_DEPTH = 200  # with fewer, a tree asks two questions in a row instead of three
N_SPLITS = 20
TEST_SHARE = 0.2


def agreement(
    table: pd.DataFrame, columns: Sequence[str], n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """How far different raters of the same item agree, column by column.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `helpers.files.ratings.read` returns them.
    columns : sequence of str
        Numeric columns.
    n_boot : int
        Number of bootstrap replicates of clusters.
    rng : numpy.random.Generator
        Resamples clusters; draws items where there are more than `MOST_ROWS` ratings.

    Returns
    -------
    pandas.DataFrame
        A row per column that varies: number of ``items`` with two ratings or more; Krippendorff's
        alpha (``estimate``, ``low``, ``high``), ordinal for up to `FEW_MARKS` marks, otherwise
        interval; and for the former ``same mark, %``, ``AC1``, ``AC1 low`` and ``AC1 high``.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12; Gwet (2014), Handbook of
    Inter-Rater Reliability, 4th edition, chapter 2.

    Examples
    --------
    >>> table = pd.DataFrame({"item_id": [1, 1, 2, 2, 3, 3], "prompt_id": [1, 1, 2, 2, 3, 3],
    ...                       "rater_id": ["a", "b"] * 3, "tone": [1.0, 1, 2, 2, 3, 2]})
    >>> found = agreement(table, ["tone"], 99, np.random.default_rng(0))
    >>> found[["items", "same mark, %", "estimate"]].round(2)
          items  same mark, %  estimate
    tone      3         66.67      0.78
    """
    if "rater_id" not in table:
        return not_done("the file names no raters: two ratings of an item may be by one person")
    if table["rater_id"].nunique() < 2:
        return not_done("all ratings are by one rater")
    table = table[~table.duplicated(["item_id", "rater_id"])]
    table = _some_items(table[table.duplicated("item_id", keep=False)], rng)
    if table.empty:
        return not_done("no item was rated by two people")
    spread = table.drop_duplicates(["item_id", "prompt_id"])["item_id"].duplicated().any()
    table = table.assign(cluster=join_clusters(table["item_id" if spread else "prompt_id"], rng))
    rows = {column: _agreement(table, column, n_boot, rng) for column in columns}
    rows = {column: row for column, row in rows.items() if row}
    if not rows:
        return not_done("too few items were rated by two people")
    return pd.DataFrame.from_dict(rows, orient="index")


def confounder(study: Study, n_boot: int, rng: np.random.Generator) -> pd.DataFrame:
    """Weights with a covariate held constant, beside those without.

    Numbers are held constant by a straight line, labels by comparing ratings with the same label.

    Parameters
    ----------
    study : Study
        Ratings, perhaps with a column ``covariate`` of numbers or labels; ratings without it are
        left out.
    n_boot : int
        Number of bootstrap replicates of clusters.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: weight ``alone``, ``alone low``, ``alone high``; with the covariate held
        constant ``estimate``, ``low`` and ``high``; ``change`` from the first to the second,
        ``change low``, ``change high`` and ``p, Holm`` of the change.

    References
    ----------
    MacKinnon (2008), Introduction to Statistical Mediation Analysis, chapter 3.

    Examples
    --------
    >>> from helpers.own_study import prepare
    >>> words = np.arange(40) % 4
    >>> table = pd.DataFrame({"item_id": range(40), "prompt_id": range(40), "covariate": words,
    ...                       "tone": (words > 1).astype(float), "overall": 1.0 + words})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> confounder(study, 99, np.random.default_rng(0))[["alone", "change"]].round(6)
          alone  change
    tone    2.0    -2.0
    """
    if "covariate" not in study.frame:
        return not_done("no covariate is named")
    study = replace(study, frame=study.frame.dropna(subset="covariate"))
    held = _held(study.frame["covariate"])
    if held is None or len(study.frame) < FEWEST_ROWS:
        n_values = study.frame["covariate"].nunique()
        return not_done(
            f"the covariate has {n_values:,} values in {len(study.frame):,} ratings; numbers, or 2 "
            f"to {MOST_LABELS} labels, are needed"
        )
    moments = study.moments(held)
    n_clusters, size = len(moments.products), len(moments.features) + 1
    if n_clusters <= size:
        return not_done(f"{n_clusters} clusters are too few for {size} numbers")
    weights = bootstrap.cluster_weights(len(moments.products), n_boot, rng)
    n_aspects = len(study.aspects)
    results = []
    for total in (moments.total(), moments.total(weights)):
        gram, cross, _ = total.covariances()
        alone = slopes(gram[:, :n_aspects, :n_aspects], cross[:, :n_aspects])
        results.append((alone, slopes(gram, cross)[:, :n_aspects]))
    (alone, adjusted), (alone_draws, adjusted_draws) = results
    return _confounder_table(study.aspects, alone[0], adjusted[0], alone_draws, adjusted_draws)


def tree(study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """A small regression tree on the marks as they are.

    Parameters
    ----------
    study : Study
        Ratings.
    rng : numpy.random.Generator
        Draws `MOST_ROWS` ratings where there are more.

    Returns
    -------
    pandas.DataFrame
        Nodes as `helpers.stats.aspects.tree_table` lists them.

    Examples
    --------
    >>> from helpers.own_study import prepare
    >>> table = pd.DataFrame({"item_id": range(20), "prompt_id": range(20), "tone": [1.0, 2.0] * 10,
    ...                       "overall": [1.0, 4.0] * 10})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> tree(study, np.random.default_rng(0))[["rule", "n", "mean"]]
                    rule   n  mean
    0           all rows  20   2.5
    1   tone at most 1.5  10   1.0
    2     tone above 1.5  10   4.0
    """
    frame = study.sample(MOST_ROWS, rng).frame
    fitted = DecisionTreeRegressor(
        max_depth=_depth(frame), min_samples_leaf=FEWEST_ROWS // 2, random_state=0
    )
    fitted.fit(frame[study.aspects].to_numpy(), frame[study.outcome])
    return aspects.tree_table(fitted, study.aspects)


def prediction(study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """How well tree and weighted sum predict ratings in clusters they have not seen.

    Parameters
    ----------
    study : Study
        Ratings.
    rng : numpy.random.Generator
        Divides clusters; draws `MOST_ROWS` ratings where there are more.

    Returns
    -------
    pandas.DataFrame
        Rows ``tree`` and ``weighted sum``: median correlation of prediction and outcome over
        random divisions (``estimate``), and the range of nine in ten (``low``, ``high``).

    Examples
    --------
    >>> from helpers.own_study import prepare
    >>> table = pd.DataFrame({"item_id": range(20), "prompt_id": range(20), "tone": [1.0, 2.0] * 10,
    ...                       "overall": [1.0, 4.0] * 10})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> prediction(study, np.random.default_rng(0))["estimate"].round(6).tolist()
    [1.0, 1.0]
    """
    study = study.sample(MOST_ROWS, rng)
    codes = pd.factorize(study.frame["cluster"], sort=True)[0]
    n_clusters = codes.max() + 1
    order = rng.permuted(np.tile(np.arange(n_clusters), (N_SPLITS, 1)), axis=1)
    held_out = order < max(1, round(TEST_SHARE * n_clusters))
    by_tree = aspects.tree_splits(
        study.frame, study.aspects, study.outcome, held_out[:, codes], _depth(study.frame)
    )["rho"]
    moments = study.moments()
    gram, cross, _ = moments.total(~held_out).covariances()
    by_sum = moments.total(held_out).correlation(slopes(gram, cross))
    rho = pd.DataFrame({"tree": by_tree, "weighted sum": by_sum})
    low, high = bootstrap.interval(rho, level=0.9)
    return pd.DataFrame({"estimate": rho.median(), "low": low, "high": high})


def _depth(frame: pd.DataFrame) -> int:
    """Choose how many questions in a row a tree may ask."""
    return 3 if len(frame) >= ROWS_FOR_DEPTH else 2


def _some_items(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Draw whole items where there are more ratings than needed."""
    if len(table) <= MOST_ROWS:
        return table
    codes, items = pd.factorize(table["item_id"])
    n_items = int(MOST_ROWS * len(items) / len(table))
    drawn = np.zeros(len(items), dtype=bool)
    drawn[rng.choice(len(items), n_items, replace=False)] = True
    return table[drawn[codes]]


def _agreement(
    table: pd.DataFrame, column: str, n_boot: int, rng: np.random.Generator
) -> dict[str, float]:
    """One row of the table of agreement; nothing if there is too little to say."""
    known = table[table[column].notna()]
    known = known[known.duplicated("item_id", keep=False)]
    marks = np.unique(known[column])
    if len(marks) < 2 or known["cluster"].nunique() < 2:
        return {}
    row = {"items": known["item_id"].nunique()}
    if len(marks) > FEW_MARKS:
        return row | _interval_alpha(known, column, n_boot, rng)
    found = agreement_table(
        known, [column], "item_id", "cluster", list(marks), n_boot, rng, level="ordinal"
    ).iloc[0]
    return row | {
        "same mark, %": 100 * found["observed_agreement"],
        "AC1": found["ac1"],
        "AC1 low": found["ac1_low"],
        "AC1 high": found["ac1_high"],
        "estimate": found["alpha"],
        "low": found["alpha_low"],
        "high": found["alpha_high"],
    }


def _interval_alpha(
    table: pd.DataFrame, column: str, n_boot: int, rng: np.random.Generator
) -> dict[str, float]:
    """Krippendorff's alpha for numbers, from sums: no list of all marks is needed."""
    values = table[column] - table[column].mean()
    items = values.groupby(table["item_id"], observed=True)
    variance = items.transform("var")
    parts = np.column_stack([np.ones(len(values)), values, values**2, variance])
    sums = cluster_sums(parts, table["cluster"])
    once = np.ones((1, len(sums)))
    replicates = bootstrap.cluster_weights(len(sums), n_boot, rng)
    alphas = [_alpha(weights @ sums) for weights in (once, replicates)]
    low, high = bootstrap.interval(alphas[1])
    return {"estimate": alphas[0][0], "low": low, "high": high}


def _alpha(sums: np.ndarray) -> np.ndarray:
    """One minus the variance within items over the variance of all ratings."""
    n, total, squares, within = sums.T
    return 1 - (within / n) / ((squares - total**2 / n) / (n - 1))


def _held(covariate: pd.Series) -> pd.DataFrame | None:
    """Turn a covariate into numbers to hold constant, if it varies and has not too many labels."""
    if covariate.nunique() < 2:
        return None
    if isinstance(covariate.dtype, pd.CategoricalDtype):
        if covariate.nunique() > MOST_LABELS:
            return None
        labels = covariate.cat.remove_unused_categories()
        held = pd.get_dummies(labels, drop_first=True, dtype=float)
    else:
        held = ((covariate - covariate.mean()) / covariate.std()).to_frame()
    return held.set_axis([f"covariate {number}" for number in range(held.shape[1])], axis="columns")


def _confounder_table(
    aspects: list[str],
    alone: np.ndarray,
    adjusted: np.ndarray,
    alone_draws: np.ndarray,
    adjusted_draws: np.ndarray,
) -> pd.DataFrame:
    """Put both weights and the change between them side by side."""
    changes = adjusted_draws - alone_draws
    alone_low, alone_high = bootstrap.interval(alone_draws)
    low, high = bootstrap.interval(adjusted_draws)
    change_low, change_high = bootstrap.interval(changes)
    return pd.DataFrame(
        {
            "alone": alone,
            "alone low": alone_low,
            "alone high": alone_high,
            "estimate": adjusted,
            "low": low,
            "high": high,
            "change": adjusted - alone,
            "change low": change_low,
            "change high": change_high,
            "p, Holm": bootstrap.adjust(bootstrap.bootstrap_p_value(changes)),
        },
        index=aspects,
    )
