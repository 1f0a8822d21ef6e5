"""The intervals that notebooks 10 to 12 print, each from the function that prints it.

Every method takes tables of the first experiment of Hosking et al. (2024) and gives ``estimate``,
``low`` and ``high`` by kind of interval and statistic, so that `helpers.design.coverage.measure`
can try it on other tables.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.files.schemas import ERRORS_1, ERRORS_2
from helpers.stats import agreement, bootstrap, correlations, lasso, lines, ordinal
from helpers.stats.groups import group_means, interval_table, median_table
from helpers.stats.moments import cluster_moments
from helpers.stats.rates import error_rates

ALPHA = 0.01  # penalty of the Lasso
LENGTHS = (30, 90, 180)  # words of responses called short, middle and long
SCORES = ("quality_unbiased", "quality_biased")


def stack(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Put tables of several kinds of interval below each other.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        For each kind a table with ``estimate``, ``low`` and ``high``.

    Returns
    -------
    pandas.DataFrame
        Those three columns, indexed by ``interval`` (the kind) and ``statistic`` (the labels of
        the row).

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": 1.0, "low": 0.0, "high": 2.0, "n": 9}, index=["a"])
    >>> stack({"mean": table}).index.tolist()
    [('mean', 'a')]
    """
    parts = {}
    for kind, table in tables.items():
        keys = [key if isinstance(key, tuple) else (key,) for key in table.index]
        labels = pd.Index([", ".join(map(str, key)) for key in keys])
        parts[kind] = table[["estimate", "low", "high"]].set_axis(labels, axis="index")
    return pd.concat(parts, names=["interval", "statistic"])


def weights(outputs: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """What errors cost, on one row per output of experiment 1 (notebook 11).

    Parameters
    ----------
    outputs : pandas.DataFrame
        As from `helpers.studies.hosking.Experiment1.outputs`.
    rng : numpy.random.Generator
        Source of randomness.
    n_boot : int
        Bootstrap replicates.

    Returns
    -------
    pandas.DataFrame
        As from `stack`.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> outputs = hosking.load_experiment_1("simulated").outputs()
    >>> weights(outputs, np.random.default_rng(0), 9).index.unique("interval").tolist()
    ['Lasso weight', 'difference of Lasso weights', 'least squares by prompt']
    """
    errors = _varying(outputs, ERRORS_1)
    moments = cluster_moments(outputs, errors, SCORES[0], "prompt_id")
    found = lasso.lasso(outputs, errors, SCORES[0], ALPHA)
    draws = lasso.lasso_bootstrap(moments, ALPHA, n_boot, rng)
    pairs = [("refusal", "factuality"), ("refusal", "formatting"), ("factuality", "inconsistency")]
    gaps = pd.Series({f"{a} − {b}": found[a] - found[b] for a, b in pairs})
    gap_draws = pd.DataFrame({f"{a} − {b}": draws[a] - draws[b] for a, b in pairs})
    return stack(
        {
            "Lasso weight": interval_table(found, draws),
            "difference of Lasso weights": interval_table(gaps, gap_draws),
            "least squares by prompt": lasso.ols(outputs, errors, SCORES[0], "prompt_id"),
        }
    )


def scores_of_systems(outputs: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Rates, scores and correlations of experiment 1 (notebooks 11 and 12).

    Parameters
    ----------
    outputs, rng, n_boot
        As for `weights`.

    Returns
    -------
    pandas.DataFrame
        As from `stack`.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> outputs = hosking.load_experiment_1("simulated").outputs()
    >>> len(scores_of_systems(outputs, np.random.default_rng(0), 9))
    71
    """
    errors = _varying(outputs, ERRORS_1)
    shown = outputs[outputs["system"].isin(["Command 52B", "References"])]
    rates = error_rates(shown, errors, "system", "prompt_id")
    means = group_means(outputs, SCORES, "system", "prompt_id", n_boot, rng)
    compared = correlations.compare_correlations(outputs, errors, SCORES, "prompt_id", n_boot, rng)
    wide = outputs.pivot(index="prompt_id", columns="system", values=list(SCORES))
    above = wide.drop(columns="References", level=1)
    above = above - wide.xs("References", axis=1, level=1)[list(SCORES)].reindex(
        columns=above.columns, level=0
    )
    above.columns = [", ".join(names) for names in above.columns]
    draws = bootstrap.bootstrap_means(above.reset_index(), list(above), "prompt_id", n_boot, rng)
    low, high = bootstrap.simultaneous_interval(above.mean(), draws)
    together = pd.DataFrame({"estimate": above.mean(), "low": low, "high": high})
    return stack(
        {
            "rate in a group (Wilson)": rates.set_index(["system", "error"]),
            "mean of a group": means,
            "correlation": compared.drop("difference"),
            "difference of correlations": compared.loc[["difference"]],
            "differences from references, at once": together,
        }
    )


def lengths(outputs: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Curves over the length of responses (notebook 12).

    Parameters
    ----------
    outputs, rng, n_boot
        As for `weights`.

    Returns
    -------
    pandas.DataFrame
        As from `stack`.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> outputs = hosking.load_experiment_1("simulated").outputs()
    >>> lengths(outputs, np.random.default_rng(0), 9).index.unique("interval").tolist()
    ['curve, at once', 'change along a curve', 'mean in a bin', 'adjusted slope']
    """
    curve = lines.fit_curve(outputs, "response_words", SCORES[0], "prompt_id")
    short, middle, long = LENGTHS
    band = curve.band(np.linspace(short, long, 20), n_boot, rng).set_index("x")
    steps = {"short to middle": (short, middle), "middle to long": (middle, long)}
    bins = lines.binned_means(outputs, "response_words", SCORES[0], "prompt_id", 10, n_boot, rng)
    past = outputs[outputs["response_words"] > middle]
    slopes = lines.adjusted_slope(
        past, "response_words", SCORES[0], ["repetition"], "prompt_id", n_boot, rng
    )
    return stack(
        {
            "curve, at once": band,
            "change along a curve": curve.changes(steps, n_boot, rng),
            "mean in a bin": bins.reset_index(drop=True),
            "adjusted slope": slopes,
        }
    )


def agreed(repeated: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Agreement of raters on errors (notebook 10).

    Parameters
    ----------
    repeated : pandas.DataFrame
        Ratings of pairs that several people judged, see `helpers.studies.hosking_submissions.repeated`.
    rng, n_boot
        As for `weights`.

    Returns
    -------
    pandas.DataFrame
        As from `stack`.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> ratings = hosking.load_experiment_1("simulated").errors
    >>> len(agreed(ratings, np.random.default_rng(0), 9))
    14
    """
    table = agreement.agreement_table(
        repeated, list(ERRORS_2), "item_id", "prompt_id", [0, 1], n_boot, rng
    ).set_index("aspect")
    columns = {"Gwet's AC1": "ac1", "Krippendorff's alpha": "alpha"}
    parts = {
        kind: table[[name, f"{name}_low", f"{name}_high"]].set_axis(
            ["estimate", "low", "high"], axis="columns"
        )
        for kind, name in columns.items()
    }
    return stack(parts)


def checks(ratings: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Distractors against the responses beside them (notebook 10).

    Parameters
    ----------
    ratings : pandas.DataFrame
        Submissions that hold a distractor.
    rng, n_boot
        As for `weights`.

    Returns
    -------
    pandas.DataFrame
        As from `stack`.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> ratings = hosking.load_experiment_1("simulated").errors
    >>> len(checks(ratings, np.random.default_rng(0), 9))
    11
    """
    ranks = agreement.rank_shares(ratings.assign(all="all"), "quality_biased", "all")
    ranks = ranks[["lower", "lower_low", "lower_high"]]
    names = ["estimate", "low", "high"]
    changes = agreement.against_partner(ratings, list(ERRORS_1), n_boot, rng)
    return stack(
        {
            "share of checks (Wilson)": ranks.set_axis(names, axis="columns"),
            "distractor minus partner": changes,
        }
    )


def pay(sessions: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Median pay per hour in each group of raters (notebook 10).

    Parameters
    ----------
    sessions : pandas.DataFrame
        One row per submission: ``pay``, ``raters`` (the group) and ``rater_id``.
    rng, n_boot
        As for `weights`.

    Returns
    -------
    pandas.DataFrame
        As from `stack`.

    Examples
    --------
    >>> sessions = pd.DataFrame({"pay": [9.0, 10.0, 13.0, 14.0], "raters": list("aabb"),
    ...                          "rater_id": [1, 2, 1, 2]})
    >>> pay(sessions, np.random.default_rng(0), 9)["estimate"].tolist()
    [9.5, 13.5]
    """
    return stack({"median": median_table(sessions, "pay", "raters", "rater_id", n_boot, rng)})


def single_scores(ratings: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Cumulative logit model of single scores, clustered by rater and prompt (notebook 11).

    Parameters
    ----------
    ratings : pandas.DataFrame
        Single scores with the labels of the output.
    rng : numpy.random.Generator
        Not used.

    Returns
    -------
    pandas.DataFrame
        As from `stack`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ratings = pd.DataFrame(rng.integers(0, 2, (200, 10)), columns=list(ERRORS_1))
    >>> ratings = ratings.assign(quality_unbiased=rng.integers(1, 6, 200),
    ...                          rater_id=np.arange(200) % 20, prompt_id=np.arange(200) // 10)
    >>> len(single_scores(ratings, rng))
    10
    """
    errors = _varying(ratings, ERRORS_1)
    model = ordinal.fit(ratings, errors, SCORES[0])
    table = model.effects(ratings).table(ratings[["rater_id", "prompt_id"]])
    return stack({"ordinal model, rater and prompt": table})


def _varying(table: pd.DataFrame, errors: Sequence[str]) -> list[str]:
    """Errors that some rows have and others do not."""
    return [error for error in errors if table[error].min() < table[error].max()]
