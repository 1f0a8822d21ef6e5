"""The intervals that notebooks 13 to 15 print, each from the function that prints it.

As `helpers.design.experiment_1_intervals`, for the second experiment of Hosking et al. (2024).
"""

import numpy as np
import pandas as pd

from helpers.design.experiment_1_intervals import SCORES, stack
from helpers.files.schemas import ERRORS_2
from helpers.stats import bootstrap, clustered, correlations, groups
from helpers.stats.groups import interval_table
from helpers.stats.lines import cell_sums
from helpers.stats.rates import arm_contrasts, crowd_expert_gap, drop_refusals, error_rates, slopes

TONE = ("assertive_low", "assertive_high")
TESTED_ERRORS = tuple(error for error in ERRORS_2 if error != "refusal")


def tones(answers: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Crowd and experts under different preambles (notebooks 13 and 14).

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per output of experiment 2, with experts' labels in columns that begin with
        ``expert_``, missing where there are none; see `with_experts`.
    rng, n_boot
        As for `helpers.design.experiment_1_intervals.weights`.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> outputs = hosking.load_experiment_2("simulated").outputs()
    >>> answers = with_experts(outputs, hosking.load_experts("simulated").labels)
    >>> len(tones(answers, np.random.default_rng(0), 9))
    80
    """
    errors = list(TESTED_ERRORS)
    ratings = ["assertiveness", "complexity", SCORES[0]]
    toned = answers[answers["arm"].isin(TONE)]
    crowd = drop_refusals(toned, "majority")
    expert = toned.dropna(subset=[f"expert_{error}" for error in ERRORS_2])
    expert = expert.drop(columns=list(ERRORS_2)).rename(columns=lambda c: c.removeprefix("expert_"))
    expert = drop_refusals(expert, "majority")
    rates = [error_rates(rows, errors, "arm", "prompt_id") for rows in (crowd, expert)]
    by_arm = [table.set_index(["arm", "error"]) for table in rates]
    gap = crowd_expert_gap(*rates).set_index(["arm", "error"])
    changes = arm_contrasts(crowd, expert, errors, TONE, n_boot, rng)
    apart = groups.mean_differences(answers, ratings, "arm", "baseline", "prompt_id", n_boot, rng)
    paired = groups.paired_differences(
        answers, ratings, "arm", "baseline", "prompt_id", n_boot, rng
    )
    by_tone = slopes(answers, ["factuality", "relevance"], "assertiveness")
    return stack(
        {
            "crowd's rate in an arm (Wilson)": by_arm[0],
            "experts' rate in an arm (Wilson)": by_arm[1],
            "crowd minus experts": gap,
            "change between arms": changes.set_index(["labels", "error"]),
            "difference of means": apart.set_index(["aspect", "arm"]),
            "difference within prompts": paired.set_index(["aspect", "arm"]),
            "slope of an error rate": by_tone.set_index("error"),
        }
    )


def with_experts(outputs: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Set the experts' labels of the main batch beside the crowd's.

    Parameters
    ----------
    outputs : pandas.DataFrame
        As from `helpers.studies.hosking.Experiment2.outputs`.
    labels : pandas.DataFrame
        As `helpers.studies.hosking.Experts.labels`.

    Returns
    -------
    pandas.DataFrame
        With a column ``expert_...`` for each error.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> outputs = hosking.load_experiment_2("simulated").outputs()
    >>> joined = with_experts(outputs, hosking.load_experts("simulated").labels)
    >>> int(joined["expert_factuality"].count())
    300
    """
    main = labels[labels["batch"] == "main"].set_index("item_id")[list(ERRORS_2)]
    return outputs.join(main.add_prefix("expert_"), on="item_id")


def lines(answers: pd.DataFrame, rng: np.random.Generator, n_boot: int) -> pd.DataFrame:
    """Correlations, and lines of five models through five arms (notebook 15).

    Parameters
    ----------
    answers, rng, n_boot
        As for `tones`; experts' labels are not needed.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> outputs = hosking.load_experiment_2("simulated").outputs()
    >>> len(lines(outputs, np.random.default_rng(0), 9))
    21
    """
    ratings = ["assertiveness", "complexity", *SCORES]
    draws = correlations.bootstrap_correlations(answers, ratings, "prompt_id", n_boot, rng)
    sums = cell_sums(answers, "assertiveness", SCORES[0], "system", "arm", "prompt_id")
    replicates = bootstrap.cluster_weights(len(sums.sums), n_boot, rng)
    found = {
        "slope of a line": (sums.lines().slope[0], sums.lines(replicates).slope),
        "range over arms": (sums.ranges()[0], sums.ranges(replicates)),
        "change from the baseline": (
            sums.changes("baseline")[0],
            sums.changes("baseline", replicates),
        ),
    }
    tables = {
        kind: interval_table(
            pd.Series(estimate, list(sums.groups)), pd.DataFrame(drawn, columns=list(sums.groups))
        )
        for kind, (estimate, drawn) in found.items()
    }
    matrix = correlations.correlation_table(answers, ratings, draws)
    return stack({"correlation of ratings": matrix, **tables})


def single_marks(ratings: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Changes of single marks between arms, by prompt alone and by rater too (notebook 14).

    Parameters
    ----------
    ratings : pandas.DataFrame
        Single marks of experiment 2.
    rng : numpy.random.Generator
        Not used.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.experiment_1_intervals.stack`.

    Examples
    --------
    >>> from helpers.studies.hosking_submissions import single_ratings
    >>> ratings = single_ratings(2, "errors", "simulated")
    >>> len(single_marks(ratings, np.random.default_rng(0)))
    18
    """
    tone = {"tone": TONE}
    raw = clustered.mark_contrasts(ratings, TESTED_ERRORS, tone)
    within = clustered.mark_contrasts(ratings, TESTED_ERRORS, tone, within="rater_id")
    both = ratings[["rater_id", "prompt_id"]]
    return stack(
        {
            "single marks, rater and prompt": raw.table(both),
            "single marks within raters": within.table(both),
            "single marks, prompt only": raw.table(both[["prompt_id"]]),
        }
    )
