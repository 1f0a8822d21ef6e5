"""What raters' labels tell about true errors: combined, and beside experts' labels.

Labels of several raters become one label of an item by rules that people choose among.
One rule is the model of Dawid and Skene (1979): each item has one true label, which
nobody sees, and each rater a confusion matrix, how often they give each label to items
of each true label; given the true labels, raters err independently. Latent classes say
the same of all raters together.

Tables of error rates by crowd, by experts, and by both together (prediction-powered)
have one row per output and kind of error with ``crowd`` in [0, 1] and ``expert``, NaN
where no expert labelled the output; see `helpers.stats.rates.pair_labels`. Rates are
percentages. Simulated studies tell how often the intervals hold the true rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit, logit
from scipy.stats import norm

from helpers.data.tables import PlainError
from helpers.stats.bootstrap import bootstrap_p_value, interval
from helpers.stats.rates import (
    ESTIMATORS,
    cluster_draws,
    independent_intervals,
    label_terms,
    rate_estimates,
    wilson_intervals,
)

MODES = {
    "mode, ties halved": "middle",
    "mode, ties low": "lowest",
    "mode, ties high": "highest",
}
RULES = ("mean", *MODES, "Dawid–Skene", "Dawid–Skene, pooled")
# of a rater who has a confusion matrix of their own when others are pooled
LEAST_LABELS = 10
OCCASIONAL = "occasional raters"
MAX_STEPS = 10_000
TOLERANCE = 1e-9  # of the log-likelihood, relative
# count in place of zero: what a rater never did is improbable, not impossible
NEVER = 1e-10
COLUMNS = (
    "prevalence",
    "sensitivity",
    "false_alarms",
    "expert_sensitivity",
    "expert_false_alarms",
)
CLASS_STEPS = 5000
CLASS_TOLERANCE = 1e-6  # largest change of a probability in the last step


def combine(ratings: pd.DataFrame, columns: Sequence[str], rule: str) -> pd.DataFrame:
    """Combine the ratings of each ``item_id`` by one of `RULES`."""
    items = ratings["item_id"]
    if rule == "mean":
        return ratings.groupby(items)[list(columns)].mean()
    if rule in MODES:
        return pd.DataFrame({c: _mode(ratings[c], items, MODES[rule]) for c in columns})
    raters = ratings["rater_id"].astype(str)
    if rule == "Dawid–Skene, pooled":
        raters = raters.where(
            raters.map(raters.value_counts()) >= LEAST_LABELS, OCCASIONAL
        )
    expected = {}
    for column in columns:
        probabilities = fit_dawid_skene(items, raters, ratings[column])
        expected[column] = probabilities @ probabilities.columns.to_numpy(float)
    return pd.DataFrame(expected)


def _mode(values: pd.Series, items: pd.Series, ties: str) -> pd.Series:
    """Most frequent value of each item."""
    counts = pd.get_dummies(values.astype(float), dtype=int).groupby(items).sum()
    winners = counts.eq(counts.max(axis="columns"), axis="index")
    if ties == "middle":
        return winners @ winners.columns.to_numpy() / winners.sum(axis="columns")
    if ties == "highest":
        winners = winners.iloc[:, ::-1]
    return winners.idxmax(axis="columns")  # the first of those that tie


def fit_dawid_skene(
    items: pd.Series, raters: pd.Series, given: pd.Series
) -> pd.DataFrame:
    """Probabilities of each item's true labels, by maximum likelihood."""
    votes = pd.get_dummies(given, dtype=float).groupby(items).mean()
    n_items, n_labels = votes.shape
    codes, different = pd.factorize(raters, sort=True)
    rows = codes * n_labels + votes.columns.get_indexer(given)
    marks = sparse.csr_array(
        (np.ones(len(rows)), (rows, votes.index.get_indexer(items))),
        shape=(len(different) * n_labels, n_items),
    )
    return pd.DataFrame(_maximise(marks, votes.to_numpy()), votes.index, votes.columns)


def _maximise(marks: sparse.csr_array, posterior: np.ndarray) -> np.ndarray:
    """Alternate between raters and items until the likelihood rises no more."""
    by_item = marks.T.tocsr()
    n_labels = posterior.shape[1]
    before = -np.inf
    for _ in range(MAX_STEPS):
        prevalence = np.maximum(posterior.mean(axis=0), NEVER)
        counts = np.maximum(marks @ posterior, NEVER).reshape(-1, n_labels, n_labels)
        confusion = counts / counts.sum(axis=1, keepdims=True)
        joint = np.log(prevalence) + by_item @ np.log(confusion).reshape(-1, n_labels)
        total = reduce(np.logaddexp, joint.T)[:, None]
        posterior = np.exp(joint - total)
        likelihood = total.sum()
        if likelihood - before <= TOLERANCE * abs(likelihood):
            return posterior
        before = likelihood
    raise RuntimeError(
        f"the likelihood still rises after {MAX_STEPS} steps: "
        "pool raters with few labels"
    )


def fit_classes(
    marks: pd.DataFrame, errors: Sequence[str], experts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Estimate how common errors are, and how often marked rightly and wrongly."""
    errors = list(errors)
    marked = marks.groupby("item_id")[errors].sum()
    size = marks.groupby("item_id").size()
    by_expert = pd.DataFrame(np.nan, marked.index, errors)
    if experts is not None:
        once = experts.drop_duplicates("item_id").set_index("item_id")
        by_expert = once[errors].reindex(marked.index)
    rows = {}
    for error in errors:
        rows[error] = _probabilities(marked[error], size, by_expert[error])
    table = pd.DataFrame(rows, index=list(COLUMNS)).T
    if experts is None:
        table[list(COLUMNS[3:])] = np.nan
    return table


def _probabilities(
    marked: pd.Series, size: pd.Series, by_expert: pd.Series
) -> np.ndarray:
    """Probabilities for one error, in the order of `COLUMNS`, by the EM algorithm.

    One is added to each count of marks and two to its total, so that no probability is
    zero or one.
    """
    patterns = pd.DataFrame({"marked": marked, "size": size, "expert": by_expert})
    patterns = patterns.value_counts(dropna=False).sort_index().reset_index()
    # Marks and their absence, by the crowd and by an expert: none of an expert's where
    # there is no expert.
    yes = patterns[["marked", "expert"]].fillna(0.0).to_numpy(dtype=float)
    crowd_no = patterns["size"] - patterns["marked"]
    expert_no = 1.0 - patterns["expert"]
    no = np.nan_to_num(np.column_stack([crowd_no, expert_no]))
    count = patterns["count"].to_numpy(dtype=float)

    rate = (marked.sum() + 1) / (size.sum() + 2)
    prevalence = 0.1
    right = np.array([0.6, 0.8])  # marked where the error is: by crowd, by experts
    wrong = np.array([0.5 * rate, 0.1])  # marked where it is not
    for _ in range(CLASS_STEPS):
        evidence = yes @ np.log(right / wrong) + no @ np.log((1 - right) / (1 - wrong))
        there = count * expit(logit(prevalence) + evidence)
        not_there = count - there
        before = np.array([prevalence, *right, *wrong])
        right = (there @ yes + 1) / (there @ (yes + no) + 2)
        wrong = (not_there @ yes + 1) / (not_there @ (yes + no) + 2)
        prevalence = (there.sum() + 1) / (count.sum() + 2)
        after = np.array([prevalence, *right, *wrong])
        if np.abs(after - before).max() < CLASS_TOLERANCE:
            return np.array([prevalence, right[0], wrong[0], right[1], wrong[1]])
    raise PlainError(
        f"the probabilities of error {marked.name!r} still change after "
        f"{CLASS_STEPS} steps: leave it out or have more people mark each output"
    )


def rate_table(pairs: pd.DataFrame, by: Sequence[str], cluster: str) -> pd.DataFrame:
    """Error rates by crowd alone, experts alone and both, with Wilson's 95 % interval.

    Parameters
    ----------
    pairs : pandas.DataFrame
        One row per output and error.
    by : sequence of str
        Columns of groups, for example ``["error", "arm"]``.
    cluster : str
        Column of clusters, for example ``"prompt_id"``.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high``, indexed by ``estimator`` ("crowd",
        "experts", "prediction-powered") and `by`. Intervals are Wilson's at the
        effective number of labels.

    Raises
    ------
    ValueError
        If a group lacks outputs with or without an expert label.

    References
    ----------
    Angelopoulos et al. (2023), Prediction-powered inference, Science 382; Angelopoulos,
    Duchi and Zrnic (2023), PPI++.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.binomial(1, 0.3, 400)
    >>> pairs = pd.DataFrame({"error": "factuality", "prompt_id": np.arange(400),
    ...                       "crowd": truth * rng.binomial(1, 0.5, 400),
    ...                       "expert": np.where(np.arange(400) < 100, truth, np.nan)})
    >>> rate_table(pairs, ["error"], "prompt_id").round(1)
                                   estimate   low  high
    estimator          error
    crowd              factuality      17.0  13.6  21.0
    experts            factuality      37.0  28.2  46.8
    prediction-powered factuality      34.3  27.2  42.3
    """
    groups, sums = _prepare(pairs, by, cluster)
    names = groups.size().index
    rates = rate_estimates(sums.sum(axis=0))
    bounds = wilson_intervals(sums)
    tables = {}
    for estimator, rate, ends in zip(ESTIMATORS, rates, bounds, strict=True):
        columns = {"estimate": rate, "low": ends[0], "high": ends[1]}
        tables[estimator] = pd.DataFrame(columns, names)
    return 100 * pd.concat(tables, names=["estimator"])


def crowd_bias(
    pairs: pd.DataFrame,
    by: Sequence[str],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Crowd's rate minus the prediction-powered rate, in percentage points.

    Parameters
    ----------
    pairs, by, cluster, n_boot, rng
        As in `rate_table`.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``estimate``, ``low``, ``high`` (percentiles over resampled
        clusters) and a two-sided bootstrap ``p_value``.

    Raises
    ------
    ValueError
        As for `rate_table`.

    References
    ----------
    Angelopoulos et al. (2023), Prediction-powered inference, Science 382.

    Examples
    --------
    >>> pairs = pd.DataFrame({
    ...     "error": "factuality",
    ...     "prompt_id": np.arange(40),
    ...     "crowd": 0.0,
    ...     "expert": np.tile([0.0, 1.0, np.nan, np.nan], 10),
    ... })
    >>> rng = np.random.default_rng(0)
    >>> crowd_bias(pairs, ["error"], "prompt_id", 99, rng)["estimate"]
    error
    factuality   -50.0
    Name: estimate, dtype: float64
    """
    groups, sums = _prepare(pairs, by, cluster)
    crowd, _, powered = rate_estimates(sums.sum(axis=0))
    crowd_draws, _, powered_draws = rate_estimates(cluster_draws(sums, n_boot, rng))
    bias_draws = crowd_draws - powered_draws
    low, high = interval(bias_draws)
    bias = pd.DataFrame(
        {"estimate": crowd - powered, "low": low, "high": high},
        index=groups.size().index,
    )
    return (100 * bias).assign(p_value=bootstrap_p_value(bias_draws))


def gains(pairs: pd.DataFrame, by: Sequence[str], cluster: str) -> pd.DataFrame:
    """How much the crowd's labels add to the experts', by the intervals of PPI++.

    Parameters
    ----------
    pairs, by, cluster
        As in `rate_table`.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``correlation`` of the two labels, ``narrower`` (percent by
        which the interval is narrower than from experts alone) and ``worth`` (further
        expert labels that would narrow it as much). NaN where either side's labels do
        not vary.

    Raises
    ------
    ValueError
        As for `rate_table`.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++, section 6.

    Examples
    --------
    >>> truth = np.tile([1.0, 0.0, 0.0, 0.0], 100)
    >>> pairs = pd.DataFrame({
    ...     "error": "factuality",
    ...     "prompt_id": np.arange(400),
    ...     "crowd": truth,
    ...     "expert": np.where(np.arange(400) < 100, truth, np.nan),
    ... })
    >>> table = gains(pairs, ["error"], "prompt_id")
    >>> table.loc["factuality", ["narrower", "worth"]].round()
    narrower     50.0
    worth       300.0
    Name: factuality, dtype: float64
    """
    groups, _ = _prepare(pairs, by, cluster)
    rows = {}
    for name, members in groups:
        crowd = members["crowd"].to_numpy(float)
        expert = members["expert"].to_numpy(float)
        seen = ~np.isnan(expert)
        ends = independent_intervals(crowd[seen], crowd[~seen], expert[seen])
        _, experts_width, powered_width = np.ptp(ends, axis=1)
        correlation = members["crowd"].corr(members["expert"])
        ratio = powered_width / experts_width
        if not np.isfinite(correlation):  # labels that do not vary
            ratio = np.nan
        # A width falls with the square root of the number of labels.
        worth = seen.sum() / ratio**2 - seen.sum()
        rows[name] = {
            "correlation": correlation,
            "narrower": 100 * (1 - ratio),
            "worth": worth,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _prepare(pairs: pd.DataFrame, by: Sequence[str], cluster: str) -> tuple:
    """Groups, and sums of label terms by cluster and group."""
    groups = pairs.groupby(list(by) if len(by) > 1 else by[0], sort=False)
    terms = label_terms(pairs["crowd"].to_numpy(float), pairs["expert"].to_numpy(float))
    codes, clusters = pd.factorize(pairs[cluster], sort=True)
    sums = np.zeros((len(clusters), groups.ngroups, terms.shape[-1]))
    np.add.at(sums, (codes, groups.ngroup().to_numpy()), terms)
    for column, lacking in ((0, "with"), (5, "without")):
        empty = sums[:, :, column].sum(axis=0) == 0
        if empty.any():
            name = groups.size().index[np.argmax(empty)]
            raise ValueError(
                f"group {name!r} has no output {lacking} an expert label: drop it"
            )
    return groups, sums


@dataclass(frozen=True)
class LabellingDesign:
    """A study in which the crowd labels all prompts, and experts a random part.

    Parameters
    ----------
    rate : float
        True share of outputs with the error.
    sensitivity, false_positive : float
        Probabilities that a crowd worker marks an error that is there, and one that is
        not.
    prompts, labelled_prompts, outputs_per_prompt, raters : int
        Sizes: prompts, those that experts label, outputs to each, crowd workers to an
        output.
    prompt_share : float
        Share of the variance of the liability to an error that outputs to a prompt have
        in common.

    Examples
    --------
    >>> LabellingDesign(rate=0.2).labelled_prompts
    60
    """

    rate: float
    sensitivity: float = 0.28
    false_positive: float = 0.08
    prompts: int = 300
    labelled_prompts: int = 60
    outputs_per_prompt: int = 1
    raters: int = 4
    prompt_share: float = 0.2


def simulate_labels(
    rng: np.random.Generator, design: LabellingDesign, n_studies: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw true errors and what the crowd's majority makes of them; ties count half."""
    shape = (n_studies, design.prompts, design.outputs_per_prompt)
    shared = np.sqrt(design.prompt_share) * rng.normal(size=(*shape[:2], 1))
    own = np.sqrt(1 - design.prompt_share) * rng.normal(size=shape)
    truth = (shared + own < norm.ppf(design.rate)).astype(float)
    chances = np.where(truth == 1, design.sensitivity, design.false_positive)
    share = rng.binomial(design.raters, chances) / design.raters
    return (np.sign(share - 0.5) + 1) / 2, truth


def coverage(
    design: LabellingDesign, n_studies: int, n_boot: int, rng: np.random.Generator
) -> pd.Series:
    """How often 95 % intervals by crowd and experts hold the true rate, in percent.

    All studies share the bootstrap replicates, which saves time and leaves each one
    valid.

    Parameters
    ----------
    design : LabellingDesign
        The study.
    n_studies : int
        How many studies to simulate.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.Series
        By kind of interval: "independent" is the normal one of PPI++, "resampled" from
        resampled clusters with λ chosen anew in each replicate, "Wilson" at the
        effective number of labels.

    References
    ----------
    Angelopoulos et al. (2023), Prediction-powered inference, Science 382; Angelopoulos,
    Duchi and Zrnic (2023), PPI++.

    Examples
    --------
    >>> coverage(LabellingDesign(rate=0.3), 200, 200, np.random.default_rng(0))
    independent    91.0
    resampled      93.0
    Wilson         95.0
    dtype: float64
    """
    crowd, truth = simulate_labels(rng, design, n_studies)
    n_labelled, rate = design.labelled_prompts, design.rate
    labelled = np.arange(design.prompts)[:, None] < n_labelled
    sums = (
        label_terms(crowd, np.where(labelled, truth, np.nan)).sum(axis=2).swapaxes(0, 1)
    )
    parts = (crowd[:, :n_labelled], crowd[:, n_labelled:], truth[:, :n_labelled])
    independent = independent_intervals(
        *(part.reshape(n_studies, -1).T for part in parts)
    )
    kinds = {
        "independent": independent[-1],
        "resampled": interval(rate_estimates(cluster_draws(sums, n_boot, rng))[-1]),
        "Wilson": wilson_intervals(sums)[-1],
    }
    held = {
        kind: ((low <= rate) & (rate <= high)).mean()
        for kind, (low, high) in kinds.items()
    }
    return 100 * pd.Series(held)
