"""How the raters of Hosking et al. agree, and whether the study ran as described.

Sections 2.1, 2.2 and 3.1, appendices A and C: the numbers that the paper's statements
are compared with. Notebook 10 explains the main ones.

Two people who check the same response are compared in pairs that were judged five
times. Intervals leave out each rater and each prompt, those of rates are Wilson's with
this variance; those of attention checks leave out each rater and each text; those of
medians resample people.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from helpers.data.columns.hosking import ERRORS_1, ERRORS_2
from helpers.stats import agreement, jackknife, rates
from helpers.stats.groups import median_table
from helpers.studies import hosking
from helpers.studies.hosking import without_checks
from helpers.studies.hosking_submissions import pairings, repeated, repeats

INTERVAL = ["estimate", "low", "high"]
GROUP_NAMES = {
    "1: errors": "experiment 1, error checks",
    "1: quality": "experiment 1, scores only",
    "2: errors": "experiment 2, error checks",
    "2: quality": "experiment 2, scores only",
    "2: tone": "experiment 2, style",
}
SCORES = {
    "1: errors": "quality_biased",
    "1: quality": "quality_unbiased",
    "2: errors": "quality_biased",
    "2: quality": "quality_unbiased",
}
# GBP for a pair of responses, as the paper says.
PAID = {"errors": 0.60, "unbiased": 0.30, "perception": 0.30}
STATEMENTS = {
    "errors_binary": "errors are labelled yes or no",
    "quality_scale": "quality is scored from 1 to 5",
    "perception_scale": "style is rated from 1 to 5",
    "quality_other_raters": "experiment 1: each person is in one group",
    "three_groups": "experiment 2: each person is in one group",
    "two_at_a_time": "two responses are shown at a time",
    "partner_systems_1": "each response stands beside all other systems",
    "aggregation_quality_1": "experiment 1: released scores are means",
    "aggregation_errors_1": "experiment 1: released labels are modes",
    "aggregation_2": "experiment 2: scores are means, labels are modes",
    "same_prompts": "both experiments have prompts of the same kinds",
    "wikihow_template": "the printed template of prompts, wikihow",
    "curation_template": "the printed template of prompts, curation",
    "preamble_texts": "the printed system prompts",
    "preambles_hidden": "raters do not see the system prompts",
}


def two_people(ratings: pd.DataFrame, errors: list[str]) -> jackknife.Jackknife:
    """How two people who check the same response agree on each error.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per response and rater: ``item_id``, ``rater_id``, ``prompt_id`` and the
        errors, 0 or 1.
    errors : list of str
        Columns of labels.

    Returns
    -------
    helpers.stats.jackknife.Jackknife
        Named by error and statistic (`helpers.stats.agreement.TWO_PEOPLE`), without
        each rater and each prompt.

    Examples
    --------
    >>> from helpers.studies.hosking_submissions import load_submissions
    >>> _, ratings = load_submissions(1, "errors", "simulated")
    >>> found = two_people(repeated(without_checks(ratings)), ["factuality"])
    >>> found.table().index.get_level_values(1).tolist()
    ['marks', 'marks none', 'same', 'ac1', 'alpha']
    """
    of_errors = [agreement.two_people(ratings, "item_id", error) for error in errors]

    def all_errors(weights: np.ndarray) -> np.ndarray:
        return np.hstack([compute(weights) for compute in of_errors])

    names = pd.MultiIndex.from_product([errors, agreement.TWO_PEOPLE])
    return jackknife.left_out(all_errors, ratings[["rater_id", "prompt_id"]], names)


def second_checks(ratings: pd.DataFrame, errors: list[str]) -> pd.DataFrame:
    """How often a second check labels an error, by what the first one says.

    Parameters
    ----------
    ratings, errors
        See `two_people`; each response was checked at least twice.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` in %, by error and ``"marks"`` (the second
        labels it if the first does), ``"marks none"`` (if the first does not) and
        ``"same"`` (both say the same). Wilson's intervals, with the variance of
        `two_people`.

    References
    ----------
    See `helpers.stats.rates.wilson`.

    Examples
    --------
    >>> from helpers.studies.hosking_submissions import load_submissions
    >>> _, ratings = load_submissions(1, "errors", "simulated")
    >>> found = second_checks(repeated(without_checks(ratings)), ["factuality"])
    >>> found.loc["factuality"].index.tolist()
    ['marks', 'marks none', 'same']
    """
    n_marks = ratings[errors].sum()
    n = {"marks": n_marks, "marks none": len(ratings) - n_marks, "same": len(ratings)}
    n = pd.DataFrame(n).stack()
    shares = two_people(ratings, errors).table().loc[n.index]
    shares[["estimate", "standard_error"]] /= 100
    most = ratings[["rater_id", "prompt_id"]].nunique().max()
    return rates.wilson(shares.assign(n=n, most=most))[INTERVAL]


def pay(sessions: pd.DataFrame, n_boot: int, seed: int) -> pd.DataFrame:
    """Median pay per hour, from the recorded times and the stated payments.

    Parameters
    ----------
    sessions : pandas.DataFrame
        As from `helpers.studies.hosking_submissions.load_groups`.
    n_boot, seed : int
        Resamples of people, and their seed.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` in GBP, by unit (``"judged pair"``,
        ``"person"``, of whom each counts with the median of the pairs) and group of
        raters; ``"all groups"`` has all together.

    Examples
    --------
    >>> from helpers.studies.hosking_submissions import load_groups
    >>> _, _, sessions = load_groups("simulated")
    >>> pay(sessions, n_boot=20, seed=0).loc["person"].index[-1]
    'all groups'
    """
    per_hour = sessions["group"].map(PAID) * 3600 / sessions["seconds"]
    pairs = sessions.assign(pay=per_hour)
    pairs = pd.concat([pairs, pairs.assign(raters="all groups")])
    people = pairs.groupby(["raters", "rater_id"], sort=False)["pay"].median()
    medians = {}
    for unit, rows in {"judged pair": pairs, "person": people.reset_index()}.items():
        rng = np.random.default_rng(seed)
        medians[unit] = median_table(rows, "pay", "raters", "rater_id", n_boot, rng)
    return pd.concat(medians)


def procedure(
    source: str, seed: int, ratings: Mapping[str, pd.DataFrame], sessions: pd.DataFrame
) -> pd.DataFrame:
    """Compare what the paper says of its procedure with the released files.

    Parameters
    ----------
    source, seed
        Those of the ratings.
    ratings, sessions
        As from `helpers.studies.hosking_submissions.load_groups`.

    Returns
    -------
    pandas.DataFrame
        By name of the statement, as in `STATEMENTS`: ``true`` (in all cases), and
        ``found``, in how many.

    Examples
    --------
    >>> from helpers.studies.hosking_submissions import load_groups
    >>> source, ratings, sessions = load_groups("simulated")
    >>> procedure(source, 0, ratings, sessions).loc["errors_binary", "true"]
    np.True_
    """
    found = {
        **_of_ratings(ratings),
        **_of_people(ratings, sessions),
        **_of_averages(source, seed),
        **_of_prompts(ratings),
    }
    return pd.DataFrame.from_dict(found, "index", columns=["true", "found"])


def _in_all(cases: pd.Series | pd.DataFrame, what: str) -> tuple[bool, str]:
    """Whether all cases are so, and how many are."""
    return bool(cases.all()), f"{cases.sum():,} of {len(cases):,} {what}"


def _of_ratings(ratings: Mapping[str, pd.DataFrame]) -> dict[str, tuple[bool, str]]:
    """Scales of labels, scores and ratings of style."""
    labels = pd.concat(
        [
            ratings["1: errors"][list(ERRORS_1)].stack(),
            ratings["2: errors"][list(ERRORS_2)].stack(),
        ]
    )
    scores = pd.concat([ratings[group][score] for group, score in SCORES.items()])
    style = ratings["2: tone"][["assertiveness", "complexity"]].stack()
    return {
        "errors_binary": _in_all(labels.isin([0, 1]), "labels are yes or no"),
        "quality_scale": _in_all(
            scores.isin(range(1, 6)), "scores are whole numbers from 1 to 5"
        ),
        "perception_scale": _in_all(
            style.isin(range(1, 6)), "ratings are whole numbers from 1 to 5"
        ),
    }


def _of_people(
    ratings: Mapping[str, pd.DataFrame], sessions: pd.DataFrame
) -> dict[str, tuple[bool, str]]:
    """Who was in which group, and which responses were shown together."""
    n_groups = sessions.groupby(["experiment", "rater_id"])["raters"].nunique()
    plain = without_checks(ratings["1: errors"])
    sides = plain.groupby("pair_id")[["prompt_id", "system"]].nunique()
    one_prompt_two_systems = (sides["prompt_id"] == 1) & (sides["system"] == 2)
    shown = pairings(plain.query("reported"))
    beside_all = (shown["partners"] == 4) & (shown["other_systems"] == 4)
    one_group = "people were in one group only"
    return {
        "quality_other_raters": _in_all(n_groups[1] == 1, one_group),
        "three_groups": _in_all(n_groups[2] == 1, one_group),
        "two_at_a_time": _in_all(
            one_prompt_two_systems, "submissions: one prompt, two systems"
        ),
        "partner_systems_1": _in_all(
            beside_all, "responses were shown beside four other systems"
        ),
    }


def _of_averages(source: str, seed: int) -> dict[str, tuple[bool, str]]:
    """How the released averages were made."""
    ours = {
        1: hosking.load_experiment_1(source, seed).outputs(),
        2: hosking.load_experiment_2(source, seed).outputs(biased_by="mean"),
    }
    equal = {}
    for number, averages in ours.items():
        released = hosking.load_averages(number, source, seed)
        distance = hosking.distance(released, averages).dropna()
        # averages are equal if only the last binary digits differ
        equal[number] = distance < 1e-9
    tasks_1 = set(ours[1]["task"])
    tasks_2 = set(ours[2]["task"])
    return {
        "aggregation_quality_1": _in_all(
            equal[1].filter(like="quality"), "scores are means"
        ),
        "aggregation_errors_1": _in_all(equal[1][list(ERRORS_1)], "labels are modes"),
        "aggregation_2": _in_all(equal[2], "columns: scores are means, labels modes"),
        "same_prompts": (tasks_1 == tasks_2, ", ".join(sorted(tasks_2))),
    }


def _of_prompts(ratings: Mapping[str, pd.DataFrame]) -> dict[str, tuple[bool, str]]:
    """Templates of prompts, and the system prompts."""
    prompts = _prompts(ratings)
    follow = {}
    for task, template in hosking.TEMPLATES.items():
        follow[task] = prompts[task].str.strip().str.fullmatch(template)
    with_style = [ratings["2: errors"], ratings["2: quality"], ratings["2: tone"]]
    as_printed = hosking.compare_preambles(with_style[0])
    is_shown = pd.concat([hosking.preamble_in_prompt(rows) for rows in with_style])
    follows = "prompts follow the template"
    return {
        "wikihow_template": _in_all(follow["wikihow"], follows),
        "curation_template": _in_all(follow["curation"], follows),
        "preamble_texts": _in_all(as_printed, "are as printed, letter by letter"),
        "preambles_hidden": _in_all(~is_shown, "prompts shown do not hold them"),
    }


def _prompts(ratings: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Different prompts by task."""
    prompts = pd.concat([ratings["1: errors"], ratings["2: errors"]])
    return prompts.drop_duplicates(["task", "prompt"]).set_index("task")["prompt"]


def most_submissions(sessions: pd.DataFrame) -> dict[str, int]:
    """Most submissions by one person.

    Parameters
    ----------
    sessions : pandas.DataFrame
        As from `helpers.studies.hosking_submissions.load_groups`.

    Returns
    -------
    dict
        ``"in one group"`` and ``"in all groups"``.

    Examples
    --------
    >>> sessions = pd.DataFrame({"raters": list("aab"), "rater_id": ["ann"] * 3})
    >>> most_submissions(sessions)
    {'in one group': 2, 'in all groups': 3}
    """
    return {
        "in one group": int(sessions.value_counts(["raters", "rater_id"]).max()),
        "in all groups": int(sessions["rater_id"].value_counts().max()),
    }


def statements(
    ratings: Mapping[str, pd.DataFrame],
    sessions: pd.DataFrame,
    paid: pd.DataFrame,
    steps: pd.DataFrame,
    n_boot: int,
    seed: int,
) -> dict[str, object]:
    """Compute what the paper's statements on its raters are compared with.

    Parameters
    ----------
    ratings, sessions
        As for `procedure`.
    paid : pandas.DataFrame
        From `pay`.
    steps : pandas.DataFrame
        From `procedure`.
    n_boot : int
        Draws for ranks.
    seed : int
        Of the draws.

    Returns
    -------
    dict
        By name of the result, without ``"hosking."``, in the form that
        `helpers.claims.results.rows` takes. Rates and changes are percentages.

    References
    ----------
    Hosking et al. (2024), sections 2.1, 2.2 and 3.1, appendices A and C.

    Examples
    --------
    >>> from helpers.studies.hosking_submissions import load_groups
    >>> source, ratings, sessions = load_groups("simulated")
    >>> paid = pay(sessions, 20, seed=0)
    >>> steps = procedure(source, 0, ratings, sessions)
    >>> found = statements(ratings, sessions, paid, steps, n_boot=20, seed=0)
    >>> found["counts.duplicates_per_pair"]
    np.int64(5)
    """
    medians = paid.loc["judged pair", INTERVAL]
    is_true = steps["true"].to_dict()
    return {
        **_of_agreement(ratings, n_boot, seed),
        **_of_distractors(ratings["1: errors"]),
        "pay.median_hourly": medians.drop("all groups"),
        **{f"design.{name}": value for name, value in is_true.items()},
        "design.limit_200": most_submissions(sessions),
        "design.amazon_templates": len(
            hosking.shared_first_lines(_prompts(ratings)["amazon"])
        ),
        **_of_counts(without_checks(ratings["1: errors"])),
    }


def _of_agreement(
    ratings: Mapping[str, pd.DataFrame], n_boot: int, seed: int
) -> dict[str, object]:
    """Agreement on errors, above all on factual ones."""
    five = repeated(without_checks(ratings["1: errors"]))
    found = two_people(five, list(ERRORS_1))
    of_errors = found.table()
    ac1 = of_errors.xs("ac1", level=1)
    # which error has the lowest and the highest AC1, with other raters and prompts
    draws = found.draws(n_boot, np.random.default_rng(seed))
    draws = draws.xs("ac1", axis="columns", level=1)
    of_factuality = of_errors.loc["factuality", INTERVAL]
    second = second_checks(five, ["factuality"]).loc["factuality"]
    by_task = {}
    for task, rows in five.groupby("task"):
        by_task[task] = two_people(rows, ["factuality"]).value["factuality"]
    by_task = pd.DataFrame(by_task).T
    later = repeated(without_checks(ratings["2: errors"]))
    later = two_people(later, ["factuality"]).table().loc["factuality", INTERVAL]
    # two people who label at random, as often as was labelled, differ so often
    share = five["factuality"].mean()
    differ = 200 * share * (1 - share)
    return {
        "agreement.ac1_factuality": ac1.loc["factuality", INTERVAL],
        "agreement.ac1_refusal": ac1.loc["refusal", INTERVAL],
        "agreement.ac1_factuality_lowest": {
            "share": (draws.idxmin(axis="columns") == "factuality").mean(),
            "holds": ac1["estimate"].idxmin() == "factuality",
        },
        "agreement.ac1_refusal_highest": {
            "share": (draws.idxmax(axis="columns") == "refusal").mean(),
            "holds": ac1["estimate"].idxmax() == "refusal",
        },
        "rater_agreement.answers": five["item_id"].nunique(),
        "rater_agreement.then": second.loc["marks"],
        "rater_agreement.otherwise": second.loc["marks none"],
        "rater_agreement.same": second.loc["same"],
        "rater_agreement.alpha": of_factuality.loc["alpha"],
        "rater_agreement.ac1": of_factuality.loc["ac1"],
        "rater_agreement.alpha_chance": 100 - differ,
        "rater_agreement.ac1_chance": differ,
        "rater_agreement.lowest": by_task["alpha"].min(),
        "rater_agreement.highest": by_task["alpha"].max(),
        "rater_agreement.ac1_lowest": by_task["ac1"].min(),
        "rater_agreement.ac1_highest": by_task["ac1"].max(),
        "rater_agreement.later": later.loc["alpha"],
        "rater_agreement.ac1_later": later.loc["ac1"],
    }


def attention(ratings: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Whether raters gave a distractor the lower score of its pair.

    Parameters
    ----------
    ratings : mapping of str to pandas.DataFrame
        As from `helpers.studies.hosking_submissions.load_groups`.

    Returns
    -------
    pandas.DataFrame
        One row per attention check: ``raters`` (the group), ``rater_id``, ``response``
        (the distractor's text), and, 0 or 1, ``lower`` and ``not higher``.

    Examples
    --------
    >>> from helpers.studies.hosking_submissions import load_groups
    >>> _, ratings, _ = load_groups("simulated")
    >>> attention(ratings)["raters"].unique().tolist()
    ['1: errors', '1: quality', '2: errors', '2: quality']
    """
    tables = []
    for group, score in SCORES.items():
        distractor, partner = agreement.split_checks(ratings[group])
        found = distractor[["rater_id", "response"]].assign(raters=group)
        found["lower"] = (distractor[score] < partner[score]).astype(float)
        found["not higher"] = (distractor[score] <= partner[score]).astype(float)
        tables.append(found.reset_index(drop=True))
    return pd.concat(tables, ignore_index=True)


def _of_distractors(checked: pd.DataFrame) -> dict[str, object]:
    """Labels of distractors in the three tasks that the paper reports."""
    reported = checked[checked["reported"]]
    change = agreement.against_partner(reported, list(ERRORS_1))[INTERVAL]

    def each_way(error: str) -> dict[str, pd.Series]:
        """Unchanged, and not raised, which does not mind a fall."""
        row = change.loc[error]
        return {"unchanged": row, "not raised": row.clip(lower=0)}

    return {
        "distractors.relevance_penalised": change.loc["relevance"],
        "distractors.inconsistency_penalised": change.loc["inconsistency"],
        "distractors.factuality_penalised": change.loc["factuality"],
        "distractors.contradiction_penalised": change.loc["contradiction"],
        "distractors.repetition_unchanged": each_way("repetition"),
        "distractors.refusal_unchanged": each_way("refusal"),
        "distractors.formatting_unchanged": change.loc["formatting"],
    }


def _of_counts(plain: pd.DataFrame) -> dict[str, object]:
    """Pairs that were judged repeatedly, and ratings of each response."""
    times = repeats(plain)
    shown = pairings(plain.query("reported"))
    return {
        "counts.duplicated_pairs": {
            "": times[times.index > 1].sum(),
            "number of responses in repeated pairs": repeated(plain)[
                "item_id"
            ].nunique(),
        },
        "counts.duplicates_per_pair": times.index.max(),
        "counts.annotations_per_output_1": shown["ratings"].mean(),
    }
