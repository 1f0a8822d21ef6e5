"""What Hosking et al. say about the tone of answers and about errors, recomputed.

Section 3, Figures 3 to 5 and 10 to 13: the numbers that the paper's statements on its
second experiment are compared with. Notebook 14 explains the main ones.

Means, rates, slopes, correlations and differences of these have intervals that leave
out one prompt at a time; most labels are majorities, so that raters cannot be left out,
and the intervals hold for these labels. Only orders of conditions, which are not
smooth, are counted over bootstrap resamples of the prompts.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from helpers import text
from helpers.data.columns.hosking import ERRORS_1, ERRORS_2
from helpers.stats import clustered, groups, leave_out, rates
from helpers.studies.hosking import Experiment2
from helpers.studies.hosking_submissions import load_submissions

INTERVAL = ["estimate", "low", "high"]
ERRORS = [error for error in ERRORS_2 if error != "refusal"]
LEFT_OUT = "refusals left out"
KEPT = "refusals kept"
CAUTIOUS, BASELINE, ASSERTIVE = "assertive_low", "baseline", "assertive_high"
SIMPLE, COMPLEX = "complex_low", "complex_high"
CONTRASTS = {
    "assertiveness": (CAUTIOUS, ASSERTIVE),
    "complexity": (SIMPLE, COMPLEX),
    "assertive": (BASELINE, ASSERTIVE),
    "cautious": (BASELINE, CAUTIOUS),
}
# The errors of the paper's finding.
ERROR_NAMES = {"factuality": "factual error", "inconsistency": "inconsistency"}
STRESSED = list(ERROR_NAMES)
CONDITION_NAMES = {
    CAUTIOUS: "cautious",
    BASELINE: "no instruction",
    ASSERTIVE: "assertive",
    SIMPLE: "simple",
    COMPLEX: "complex",
}
# A sentence ends with a full stop, an exclamation or a question mark, or its line.
END_OF_SENTENCE = r"(?<=[.!?])\s+|\n+"


def statements(
    study: Experiment2, experts: pd.DataFrame, n_boot: int, seed: int
) -> dict[str, object]:
    """Compute what the paper's statements on experiment 2 are compared with.

    Parameters
    ----------
    study : Experiment2
        The crowd's ratings.
    experts : pandas.DataFrame
        Labels, as `helpers.studies.hosking.load_experts` returns them.
    n_boot, seed : int
        Resamples of prompts for orders, and the seed of their random numbers.

    Returns
    -------
    dict
        By name of the result, without ``"hosking."``, in the form that
        `helpers.claims.results.rows` takes. Rates are percentages, ratings points from
        1 to 5; a gap is the crowd's rate minus the expert's, as in the paper. Refusals
        are left out by majority: ties stay.

    References
    ----------
    Hosking et al. (2024), section 3, Figures 3 to 5 and 10 to 13.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> study = hosking.load_experiment_2("simulated")
    >>> experts = hosking.load_experts("simulated")
    >>> statements(study, experts, n_boot=20, seed=0)["counts.arms"]
    5
    """
    outputs = study.outputs()
    labels = experts[experts["batch"] == "main"]
    rules = {
        LEFT_OUT: tuple(
            rates.drop_refusals(rows, "majority") for rows in (outputs, labels)
        ),
        KEPT: (outputs, labels),
    }

    def rng() -> np.random.Generator:
        """The same random numbers, so that the same prompts are drawn each time."""
        return np.random.default_rng(seed)

    return {
        **_of_design(study, outputs, labels),
        **_of_perception(rules, n_boot, rng),
        **_of_texts(outputs, study.source, n_boot, seed),
        **_of_gaps(rules),
        **_of_refusals_kept(rules),
        **_of_gap_orders(rules, n_boot, rng),
        **_of_crowd(rules),
        **_of_rated_tone(rules),
    }


def _of_design(
    study: Experiment2, outputs: pd.DataFrame, labels: pd.DataFrame
) -> dict[str, object]:
    """Counts and facts of the design."""
    systems = set(outputs["system"])
    dropped = set(ERRORS_1) - set(ERRORS_2)
    return {
        "counts.error_types_2": len(ERRORS_2),
        "counts.outputs_2": len(outputs),
        "counts.annotations_2": len(study.errors),
        "counts.arms": outputs["arm"].nunique(),
        "counts.expert_outputs": labels["item_id"].nunique(),
        "design.dropped_errors": dropped == {"scope", "fluency", "harmful"},
        "design.systems_2": "Llama 2 13B" in systems and "References" not in systems,
    }


def _of_perception(
    rules: dict[str, tuple], n_boot: int, rng: Callable[[], np.random.Generator]
) -> dict[str, object]:
    """Rated assertiveness, complexity and quality by condition."""
    quality = "quality_unbiased"
    aspects = ["assertiveness", "complexity", quality]
    against_baseline = _differences(
        {arm: (BASELINE, arm) for arm in CONDITION_NAMES if arm != BASELINE}
    )
    changes = {}
    orders = {
        "assertiveness_order": {},
        "complexity_order": {},
        "cautious_quality_worst": {},
    }
    for rule, (answers, _) in rules.items():
        table = groups.group_contrasts(
            answers, aspects, "arm", against_baseline, ["prompt_id"]
        )
        changes[rule] = table[INTERVAL].swaplevel()
        _, draws = groups.group_mean_draws(
            answers, aspects, "arm", "prompt_id", n_boot, rng()
        )
        is_worst = draws[quality].idxmin(axis="columns") == CAUTIOUS
        shares = {
            "assertiveness_order": _share_rising(
                draws["assertiveness"], [CAUTIOUS, BASELINE, ASSERTIVE]
            ),
            "complexity_order": _share_rising(
                draws["complexity"], [SIMPLE, BASELINE, COMPLEX]
            ),
            "cautious_quality_worst": is_worst.mean(),
        }
        for name, share in shares.items():
            orders[name][rule] = {"share": share}
    outputs, _ = rules[KEPT]
    pair = outputs[["assertiveness", "complexity"]].to_numpy(dtype=float)
    correlation = leave_out.correlations(pd.Index(["correlated"]))
    correlated = leave_out.fisher_table(
        leave_out.leave_out(pair, outputs[["prompt_id"]], correlation)
    ).iloc[0]
    against, over_outputs = "arm against baseline", "rated tone over outputs"
    found = {
        "correlated": correlated[INTERVAL],
        "simple_less_assertive": {
            against: changes[KEPT].loc[("assertiveness", SIMPLE)],
            over_outputs: _turned(_slope(outputs, "complexity", "assertiveness")),
        },
        "cautious_less_complex": {
            against: changes[KEPT].loc[("complexity", CAUTIOUS)],
            over_outputs: _turned(_slope(outputs, "assertiveness", "complexity")),
        },
        "assertive_quality_up": {
            "arm, refusals left out": changes[LEFT_OUT].loc[(quality, ASSERTIVE)],
            "arm, refusals kept": changes[KEPT].loc[(quality, ASSERTIVE)],
            "rated assertiveness": _slope(outputs, "assertiveness", quality),
        },
        "complex_quality_up": {
            rule: table.loc[(quality, COMPLEX)] for rule, table in changes.items()
        },
    }
    return {f"perception.{name}": result for name, result in (found | orders).items()}


def _slope(outputs: pd.DataFrame, on: str, of: str) -> pd.Series:
    """Points of a rating for one more point of another, over answers."""
    fit = clustered.least_squares(outputs, [on], of, "prompt_id")
    return fit.loc[on, INTERVAL]


def _turned(row: pd.Series) -> pd.Series:
    """The change with a point less."""
    ends = {"estimate": -row["estimate"], "low": -row["high"], "high": -row["low"]}
    return pd.Series(ends)


def _differences(pairs: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Weights of groups for differences, from what is subtracted and from what."""
    groups_used = list(
        dict.fromkeys(group for pair in pairs.values() for group in pair)
    )
    weights = pd.DataFrame(0, index=list(pairs), columns=groups_used)
    for name, (subtracted, compared) in pairs.items():
        weights.loc[name, [subtracted, compared]] = [-1, 1]
    return weights


def _share_rising(draws: pd.DataFrame, arms: list[str]) -> float:
    """Share of resamples in which numbers rise from each condition to the next."""
    rises = draws[arms].diff(axis="columns").iloc[:, 1:]
    return (rises > 0).all(axis="columns").mean()


def _of_texts(
    outputs: pd.DataFrame, source: str, n_boot: int, seed: int
) -> dict[str, object]:
    """Reading grade and, by a lexicon, sentiment by condition.

    Grades are compared by rank: a few answers without full stops would move the means.
    """
    _, texts = load_submissions(2, "perception", source, seed, texts=True)
    texts = texts[["item_id", "response"]].drop_duplicates("item_id")
    answers = outputs.merge(texts)
    answers = answers[answers["response"].str.contains(r"\w")].set_index("item_id")
    sentences = answers["response"].str.split(END_OF_SENTENCE, regex=True).explode()
    sentences = sentences[sentences.str.contains(r"\w")]
    by_sentence = text.sentiment(sentences, "vader")
    answers["sentiment"] = by_sentence.groupby(level="item_id").mean()
    answers["grade"] = text.readability(answers["response"]).rank(pct=True)
    moods = groups.group_contrasts(
        answers,
        ["sentiment"],
        by="arm",
        weights=_differences({"assertiveness": CONTRASTS["assertiveness"]}),
        clusters=["prompt_id"],
    )
    _, draws = groups.group_mean_draws(
        answers,
        ["grade"],
        by="arm",
        cluster="prompt_id",
        n_boot=n_boot,
        rng=np.random.default_rng(seed),
    )
    share = _share_rising(draws["grade"], [SIMPLE, BASELINE, COMPLEX])
    return {
        "perception.reading_grade_order": {"share": share},
        "perception.sentiment": moods.iloc[0][INTERVAL],
    }


def changes(
    by_crowd: pd.DataFrame, by_expert: pd.DataFrame, errors: list[str]
) -> pd.DataFrame:
    """Change of error rates, and of the gap of crowd and expert, between conditions.

    As the paper computes it: the crowd's rates over all its answers, those of the
    expert over the expert's. Prompts are left out one at a time.

    Parameters
    ----------
    by_crowd, by_expert : pandas.DataFrame
        One row per output with ``arm``, ``prompt_id`` and labels from 0 to 1.
    errors : list of str
        Columns of labels.

    Returns
    -------
    pandas.DataFrame
        Indexed by contrast (of `CONTRASTS`), by whom (``"crowd"``, ``"expert"``, and
        ``"gap"``, crowd minus expert) and error: ``estimate``, ``low``, ``high`` in
        percentage points, and ``p``.

    References
    ----------
    Hosking et al. (2024), section 3.2 and Table 3.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> outputs = hosking.load_experiment_2("simulated").outputs()
    >>> found = changes(outputs, outputs, ["refusal"])
    >>> found.loc[("assertiveness", "gap", "refusal"), "estimate"].round(1)
    np.float64(0.0)
    """
    rows = _stacked({"crowd": by_crowd, "expert": by_expert})
    weights = {}
    for contrast, (before, after) in CONTRASTS.items():
        by_whom = {}
        for whom in ("crowd", "expert"):
            by_whom[whom] = {f"{whom} {after}": 1, f"{whom} {before}": -1}
        minus_expert = {group: -weight for group, weight in by_whom["expert"].items()}
        by_whom["gap"] = by_whom["crowd"] | minus_expert
        for whom, weight in by_whom.items():
            weights[contrast, whom] = weight
    weights = pd.DataFrame(weights).T.fillna(0)
    found = groups.group_contrasts(rows, errors, "group", weights, ["prompt_id"])
    keys = [(*contrast, error) for contrast, error in found.index]
    found.index = pd.MultiIndex.from_tuples(keys, names=["contrast", "labels", "error"])
    return _in_percentage_points(found.sort_index())


def _stacked(labels: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Rows of several tables with a group: the table's name and the condition."""
    parts = []
    for name, rows in labels.items():
        parts.append(rows.assign(labels=name, group=name + " " + rows["arm"]))
    return pd.concat(parts, ignore_index=True)


def _in_percentage_points(found: pd.DataFrame) -> pd.DataFrame:
    """Shares as percentages; p-values stay."""
    points = 100 * found[INTERVAL]
    return points.assign(p=found["p_value"])


def _of_gaps(rules: dict[str, tuple]) -> dict[str, object]:
    """Crowd minus expert, and how it changes with the condition."""
    contrasts = {}
    pooled = {}
    for rule, (by_crowd, by_expert) in rules.items():
        contrasts[rule] = changes(by_crowd, by_expert, ERRORS)
        both = groups.group_contrasts(
            _stacked({"crowd": by_crowd, "expert": by_expert}),
            STRESSED,
            by="labels",
            weights=_differences({"gap": ("expert", "crowd")}),
            clusters=["prompt_id"],
        )
        pooled[rule] = _in_percentage_points(both).loc["gap", INTERVAL]

    def change(contrast: str, by: str, error: str, tested: bool = True) -> dict:
        """A change with refusals left out, and kept."""
        columns = [*INTERVAL, "p"] if tested else INTERVAL
        where = (contrast, by, error)
        return {rule: table.loc[where, columns] for rule, table in contrasts.items()}

    found = {}
    for error in STRESSED:
        found[f"{error}_underestimated"] = {
            rule: table.loc[error] for rule, table in pooled.items()
        }
        found[f"{error}_gap_significant"] = change("assertiveness", "gap", error)
        found[f"{error}_gap_wider"] = change("assertive", "gap", error, tested=False)
        found[f"{error}_gap_narrower"] = change("cautious", "gap", error, tested=False)
    found["expert_factuality_cautious_lower"] = change(
        "cautious", "expert", "factuality", tested=False
    )
    for name, contrast in {
        "assertive": "assertiveness",
        "complex": "complexity",
    }.items():
        labelled = change(contrast, "crowd", "repetition")
        compared = change(contrast, "gap", "repetition")
        found[f"repetition_{name}"] = {
            "marks": labelled[LEFT_OUT],
            "against experts": compared[LEFT_OUT],
            "marks, refusals kept": labelled[KEPT],
            "against experts, refusals kept": compared[KEPT],
        }
    return {f"confounds.{name}": result for name, result in found.items()}


def _of_refusals_kept(rules: dict[str, tuple]) -> dict[str, object]:
    """How far keeping refusals moves each gap, in percentage points."""
    labels = {}
    for rule, (by_crowd, by_expert) in rules.items():
        labels[f"{rule}, crowd"] = by_crowd
        labels[f"{rule}, expert"] = by_expert
    weights = {}
    for arm, name in CONDITION_NAMES.items():
        weights[name] = {
            f"{KEPT}, crowd {arm}": 1,
            f"{KEPT}, expert {arm}": -1,
            f"{LEFT_OUT}, crowd {arm}": -1,
            f"{LEFT_OUT}, expert {arm}": 1,
        }
    weights = pd.DataFrame(weights).T.fillna(0)
    found = groups.group_contrasts(
        _stacked(labels), STRESSED, "group", weights, ["prompt_id"]
    )
    moves = _in_percentage_points(found)[INTERVAL].rename(index=ERROR_NAMES, level=1)
    return {"refusal.same_conclusions": moves.swaplevel()}


def _of_gap_orders(
    rules: dict[str, tuple], n_boot: int, rng: Callable[[], np.random.Generator]
) -> dict[str, object]:
    """Orders of conditions by the share of factual errors, and by the gap."""
    stacked = []
    for rule, (by_crowd, by_expert) in rules.items():
        stacked.append(by_crowd.assign(rule=rule, labels="crowd"))
        stacked.append(by_expert.assign(rule=rule, labels="expert"))
    _, draws = groups.group_mean_draws(
        pd.concat(stacked),
        ["factuality"],
        by=["rule", "labels", "arm"],
        cluster="prompt_id",
        n_boot=n_boot,
        rng=rng(),
    )
    orders = {"factuality_gap_order": {}, "expert_factuality_order": {}}
    for rule in rules:
        of_rule = draws["factuality"][rule]
        missed = of_rule["expert"] - of_rule["crowd"]
        shares = {
            "factuality_gap_order": _share_rising(
                missed, [CAUTIOUS, BASELINE, ASSERTIVE]
            ),
            "expert_factuality_order": _share_rising(
                of_rule["expert"], [COMPLEX, BASELINE, SIMPLE]
            ),
        }
        for name, share in shares.items():
            orders[name][rule] = {"share": share}
    return {f"confounds.{name}": result for name, result in orders.items()}


def _of_crowd(rules: dict[str, tuple]) -> dict[str, object]:
    """The crowd's own labels by condition, and the length of answers."""
    contrasts = {}
    longer = {}
    for rule, (answers, labels) in rules.items():
        table = changes(answers, labels, list(ERRORS_2))
        contrasts[rule] = table.xs("crowd", level=1)
        longer[rule] = _longer_by_prompt(answers, CAUTIOUS)
    outputs, _ = rules[KEPT]
    refused = _shares(outputs, "refusal", [BASELINE, CAUTIOUS])
    rises = contrasts[KEPT].loc["cautious"]
    found = {
        "refusal.baseline": refused.loc[BASELINE],
        "refusal.assertive_low": refused.loc[CAUTIOUS],
        "refusal.increase_significant": rises.loc["refusal"],
        "refusal.formatting_up": rises.loc["formatting"],
        "refusal.relevance_up": rises.loc["relevance"],
        "confounds.cautious_shorter": longer,
    }

    def both_rules(contrast: str, error: str) -> dict[str, pd.Series]:
        """A change with refusals left out, and kept."""
        where = (contrast, error)
        return {rule: table.loc[where] for rule, table in contrasts.items()}

    for error in STRESSED:
        name = f"confounds.{error}_assertiveness_significant"
        found[name] = both_rules("assertiveness", error)
    for error in ("factuality", "contradiction", "relevance", "formatting"):
        name = f"confounds.{error}_complexity_flat"
        found[name] = both_rules("complexity", error)
    for error in ("contradiction", "relevance", "formatting"):
        name = f"confounds.{error}_assertiveness_flat"
        found[name] = both_rules("assertiveness", error)
    # the paper says itself that refusals change these two
    for error in ("relevance", "formatting"):
        name = f"confounds.{error}_assertiveness_flat"
        found[name] = found[name][LEFT_OUT]
    higher = both_rules("cautious", "factuality")
    found["confounds.crowd_factuality_cautious_higher"] = {
        rule: row[INTERVAL] for rule, row in higher.items()
    }
    return found


def _longer_by_prompt(answers: pd.DataFrame, arm: str) -> pd.Series:
    """Words that a condition's answers have more than the baseline's, by prompt."""
    words = answers.pivot_table("response_words", index="prompt_id", columns="arm")
    longer = (words[arm] - words[BASELINE]).dropna()
    rows = np.column_stack([longer, np.zeros(len(longer))])
    mean = leave_out.group_means(pd.Index(["words"]), n_columns=1, n_groups=1)
    left_out = leave_out.leave_out(rows, longer.index.to_frame(), mean)
    return left_out.table().loc["words", INTERVAL]


def _shares(outputs: pd.DataFrame, error: str, arms: list[str]) -> pd.DataFrame:
    """Rate of an error in each condition, in %."""
    itself = pd.DataFrame(np.eye(len(arms)), index=arms, columns=arms)
    means = groups.group_contrasts(outputs, [error], "arm", itself, ["prompt_id"])
    rows = outputs.groupby("arm")["prompt_id"].agg(n="size", most="nunique")
    table = means.droplevel("column").join(rows)
    return rates.wilson(table)[INTERVAL]


def _rate_slopes(outputs: pd.DataFrame, errors: list[str], rating: str) -> pd.DataFrame:
    """Change of each error's rate for one more point of a rating, percentage points.

    NaN for an error that no output, or every output, has.
    """
    found = {}
    for error in errors:
        if outputs[error].min() < outputs[error].max():
            fit = clustered.least_squares(outputs, [rating], error, "prompt_id")
            found[error] = fit.loc[rating, [*INTERVAL, "p_value"]]
    table = pd.DataFrame(found).T.reindex(errors).astype(float)
    table[INTERVAL] *= 100
    return table.rename(columns={"p_value": "p"})


def _of_rated_tone(rules: dict[str, tuple]) -> dict[str, object]:
    """How the crowd's error rates change per point of rated tone."""
    outputs, _ = rules[KEPT]
    answered, _ = rules[LEFT_OUT]
    anything, but_refusal = "any of seven", "any but refusal"
    outputs = outputs.assign(**{anything: outputs[list(ERRORS_2)].max(axis="columns")})
    answered = answered.assign(**{but_refusal: answered[ERRORS].max(axis="columns")})
    kinds = [*ERRORS_2, anything]

    def slopes(answers: pd.DataFrame, rating: str) -> pd.DataFrame:
        """Slopes of errors that occur in enough prompts to be estimated."""
        table = _rate_slopes(answers, kinds, rating)
        prompts = clustered.informative_clusters(answers, kinds, "prompt_id")
        return clustered.where_known(table, prompts).dropna(subset="estimate")

    by_assertiveness = slopes(outputs, "assertiveness")
    without = slopes(outputs[outputs["arm"] == BASELINE], "assertiveness")
    by_complexity = slopes(outputs, "complexity")

    def but_refusals(answers: pd.DataFrame) -> pd.Series:
        """Slope of any error but a refusal, where nobody refused."""
        return _rate_slopes(answers, [but_refusal], "assertiveness").loc[but_refusal]

    steeper = pd.DataFrame({kind: _steeper(outputs, kind) for kind in kinds}).T

    def any_and_each(table: pd.DataFrame) -> dict[str, object]:
        """The two interpretations of "errors"."""
        is_single = table.index != anything
        return {"any error": table.loc[anything], "each error": table[is_single]}

    found = {
        "errors_fall_with_assertiveness": {
            **any_and_each(by_assertiveness),
            "any error, refusals left out": but_refusals(answered),
        },
        "holds_without_preamble": {
            **any_and_each(without),
            "any error, refusals left out": but_refusals(
                answered[answered["arm"] == BASELINE]
            ),
        },
        "errors_fall_with_complexity": any_and_each(by_complexity),
        "complexity_weaker": any_and_each(steeper),
    }
    return {f"perceived.{name}": result for name, result in found.items()}


def _steeper(outputs: pd.DataFrame, kind: str) -> pd.Series:
    """Slope of an error's rate for assertiveness minus that for complexity."""
    by_assertiveness = outputs.assign(x=outputs["assertiveness"], tone=1.0)
    by_complexity = outputs.assign(x=outputs["complexity"], tone=0.0)
    both = pd.concat([by_assertiveness, by_complexity])
    both["steeper"] = both["x"] * both["tone"]
    fit = clustered.least_squares(both, ["x", "tone", "steeper"], kind, "prompt_id")
    return 100 * fit.loc["steeper", INTERVAL]
