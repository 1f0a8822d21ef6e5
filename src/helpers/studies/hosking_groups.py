"""Score against rated assertiveness, by model and by system prompt (Hosking et al.).

Section 4 and Figure 6: groups of answers by five models under five conditions. Notebook
15 explains the method.

Every answer has the mean of its ratings, and every group the mean of its answers. All
numbers here are functions of sums over the answers of each group, so that leaving out a
rater or a prompt needs no refitting (`helpers.stats.leave_out`). Orders of models are
not smooth: they are counted over bootstrap resamples of the prompts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.stats import bootstrap, leave_out
from helpers.stats.checks import check_complete, check_known, check_numeric
from helpers.stats.groups import interval_table
from helpers.stats.moments import ROUNDING, cluster_sums, ratio
from helpers.stats.rates import drop_refusals
from helpers.studies.hosking import QUALITY, Experiment2
from helpers.studies.hosking_submissions import same_raters

TONE = "assertiveness"
INTERVAL = ["estimate", "low", "high"]
LLAMA, COMMAND = "Llama 2 13B", "Command 52B"
BASELINE = "baseline"
# Conditions whose groups lie far from the others in Figure 6.
FAR = ("assertive_low", "complex_low")
LEVELS = ("items", "means")
CLUSTERS = ["rater_id", "prompt_id"]
TOGETHER = "the others together"
SCORE_NAMES = {
    "quality_unbiased": "the separate score",
    "quality_biased": "the score beside error checks",
}
LEVEL_NAMES = {"items": "answers", "means": "means by condition"}
SUMS = 6  # of an answer: 1, x, y, x², xy and y²
ASKED = {"quality_unbiased": "unbiased", "quality_biased": "errors"}


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over answers for each model and condition, in several sets of answers.

    Parameters
    ----------
    sums : numpy.ndarray, shape (n_sets, n_models, n_conditions, 6)
        Of 1, x, y, x², xy and y², where x and y are mean ratings of an answer.
    conditions : tuple of str
        Names of the conditions.
    """

    sums: np.ndarray
    conditions: tuple[str, ...]

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean x and mean y of each group, of shape (n_sets, n_models, n_conditions).

        NaN where a group has no answers.
        """
        n, x, y = np.moveaxis(self.sums[..., :3], -1, 0)
        return ratio(x, n), ratio(y, n)

    def slopes(self) -> np.ndarray:
        """Slopes of y on x: over means of groups, over answers, and within groups."""
        x, y = self.means()
        over_means = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)
        n, x, y, xx, xy, _ = np.moveaxis(self.sums, -1, 0)
        products = (xy - ratio(x * y, n)).sum(axis=(1, 2))
        squares = (xx - ratio(x * x, n)).sum(axis=(1, 2))
        squares = np.where(squares > ROUNDING * xx.sum(axis=(1, 2)), squares, np.nan)
        return np.column_stack(
            [
                _slope(over_means.sum(axis=(1, 2))),
                _slope(self.sums.sum(axis=(1, 2))),
                products / squares,
            ]
        )

    def correlation(self) -> np.ndarray:
        """Correlation of x and y over answers, on Fisher's scale."""
        n, x, y, xx, xy, yy = np.moveaxis(self.sums.sum(axis=(1, 2)), -1, 0)
        scale = np.sqrt((n * xx - x * x) * (n * yy - y * y))
        return np.arctanh((n * xy - x * y) / scale)[:, None]

    def x_at(self, y: float, level: str, parallel: bool) -> np.ndarray:
        """Height at `y` of each model's line of x on y, of shape (n_sets, n_models).

        The line goes through the model's answers (``"items"``) or through its means in
        each condition (``"means"``). Parallel lines have one slope, that within models.
        """
        cells = self.sums
        if level == "means":
            x, y_mean = self.means()
            one = np.ones_like(x)
            squares = [x * x, x * y_mean, y_mean * y_mean]
            cells = np.stack([one, x, y_mean, *squares], axis=-1)
        n, x, y_sum, _, xy, yy = np.moveaxis(cells.sum(axis=2), -1, 0)
        products = xy - ratio(x * y_sum, n)
        squares = yy - ratio(y_sum * y_sum, n)
        if parallel:
            products = products.sum(axis=1, keepdims=True)
            squares = squares.sum(axis=1, keepdims=True)
        return ratio(x, n) + ratio(products, squares) * (y - ratio(y_sum, n))

    def ranges(self) -> np.ndarray:
        """Highest mean of x less the lowest one of each model, over conditions."""
        x, _ = self.means()
        return x.max(axis=2) - x.min(axis=2)

    def changes(self) -> np.ndarray:
        """Mean of y with an instruction (the average of all) less that without one."""
        _, y = self.means()
        none = self.conditions.index(BASELINE)
        return np.delete(y, none, axis=2).mean(axis=2) - y[:, :, none]


def _slope(sums: np.ndarray) -> np.ndarray:
    """Slope of y on x from sums, NaN if x does not vary."""
    n, x, y, xx, xy, _ = np.moveaxis(sums, -1, 0)
    squares = xx - ratio(x * x, n)
    # What remains of a constant x is a rounding error.
    squares = np.where(squares > ROUNDING * xx, squares, 0.0)
    return ratio(xy - ratio(x * y, n), squares)


def load_ratings(
    source: str, seed: int, outcome: str = "quality_unbiased"
) -> pd.DataFrame:
    """Load the single ratings of assertiveness, of complexity and of the score.

    Parameters
    ----------
    source : {"real", "simulated"}
        That of the study.
    seed : int
        Seed of the simulation, if there is one.
    outcome : {"quality_unbiased", "quality_biased"}, optional
        The score given by itself, or beside error checks.

    Returns
    -------
    pandas.DataFrame
        One row per answer and rater: ``item_id``, ``prompt_id``, ``system``, ``arm``,
        ``rater_id`` (one label for a person in several groups), and ``assertiveness``,
        ``complexity`` and ``score``, NaN where this rater was not asked for it.

    Examples
    --------
    >>> ratings = load_ratings("simulated", seed=0)
    >>> ratings[["assertiveness", "score"]].notna().sum().tolist()
    [6600, 6600]
    """
    asked = ["perception", ASKED[outcome]]
    tables = same_raters(2, asked, source, seed)
    both = pd.concat([tables[group] for group in asked], ignore_index=True)
    both = both.rename(columns={outcome: "score"})
    keys = ["item_id", "prompt_id", "system", "arm", "rater_id"]
    return both[[*keys, TONE, "complexity", "score"]]


def left_out(
    ratings: pd.DataFrame,
    compute: Callable[[Cells], np.ndarray],
    names: pd.Index,
    *,
    x: str = TONE,
    y: str = "score",
    by_model: bool = False,
) -> leave_out.LeftOut:
    """Compute numbers of groups of answers, and how they move without each cluster.

    Parameters
    ----------
    ratings : pandas.DataFrame
        As from `load_ratings`.
    compute : callable
        From `Cells` to an array of shape (n_sets, n_names).
    names : pandas.Index
        Of the numbers.
    x, y : str, optional
        Columns of ratings.
    by_model : bool, optional
        Whether each number needs the answers of one model only, in their order; else
        every rating tells about every number.

    Returns
    -------
    helpers.stats.leave_out.LeftOut
        Without each rater and without each prompt.

    Raises
    ------
    ValueError
        If a column cannot be used or a group has no answers.

    References
    ----------
    MacKinnon, Nielsen and Webb (2024), Jackknife Inference with Two-Way Clustering.

    Examples
    --------
    >>> ratings = load_ratings("simulated", seed=0)
    >>> over = pd.Index(["means", "answers", "within groups"])
    >>> slopes = left_out(ratings, Cells.slopes, over).table()
    >>> (slopes["low"] < slopes["estimate"]).all()
    np.True_
    """
    check_numeric(ratings, [x, y], missing="allow")
    check_complete(ratings, ["item_id", "system", "arm", *CLUSTERS])
    cell, models, conditions = _cells_of(ratings)
    n_cells = len(models) * len(conditions)
    shape = (-1, len(models), len(conditions), SUMS + 1)

    def terms(rows: np.ndarray) -> np.ndarray:
        x_sum, n_x, y_sum, n_y, cell_sum, n_rows = rows.T
        is_rated = (n_x > 0) & (n_y > 0)
        x_mean = x_sum / np.maximum(n_x, 1)
        y_mean = y_sum / np.maximum(n_y, 1)
        of_item = np.where(is_rated[:, None], _powers(x_mean, y_mean), 0.0)
        of_item = np.column_stack([of_item, n_rows])
        number = np.round(cell_sum / np.maximum(n_rows, 1)).astype(int)
        return _one_hot(of_item, number, n_cells)

    def value(sums: np.ndarray) -> np.ndarray:
        cells = sums.reshape(shape)[..., :SUMS]
        return compute(Cells(cells, conditions))

    def information(total: np.ndarray, parts: np.ndarray) -> np.ndarray:
        n_ratings = parts.reshape(shape)[..., SUMS].sum(axis=2)
        if by_model:
            return n_ratings
        return np.repeat(n_ratings.sum(axis=1, keepdims=True), len(names), axis=1)

    counted = ratings[[x, y]].notna()
    values = ratings[[x, y]].fillna(0.0)
    rows = np.column_stack(
        [values[x], counted[x], values[y], counted[y], cell, np.ones(len(ratings))]
    )
    statistic = leave_out.Statistic(names, terms, value, information)
    return leave_out.leave_out(
        rows, ratings[CLUSTERS], statistic, items=ratings["item_id"]
    )


def _cells_of(
    frame: pd.DataFrame,
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Number of the group of each row, and names of models and conditions, sorted."""
    for column in ("system", "arm"):
        check_known(frame, column)
    model_of_row, models = pd.factorize(frame["system"], sort=True)
    condition_of_row, conditions = pd.factorize(frame["arm"], sort=True)
    cell = model_of_row * len(conditions) + condition_of_row
    sizes = np.bincount(cell, minlength=len(models) * len(conditions))
    if (sizes == 0).any():
        model, condition = divmod(int(np.argmin(sizes)), len(conditions))
        raise ValueError(
            f"no rows with {models[model]!r} and {conditions[condition]!r}: leave one "
            "out"
        )
    return cell, tuple(models), tuple(conditions)


def _powers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of each answer what is added up: 1, x, y, x², xy, y²."""
    return np.column_stack([np.ones(len(x)), x, y, x * x, x * y, y * y])


def _one_hot(values: np.ndarray, cell: np.ndarray, n_cells: int) -> np.ndarray:
    """Put the values of each row in the columns of its cell, zeros elsewhere."""
    placed = np.zeros((len(values), n_cells, values.shape[1]))
    placed[np.arange(len(values)), cell] = values
    return placed.reshape(len(values), -1)


def answers_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """Average the ratings of each answer.

    Parameters
    ----------
    ratings : pandas.DataFrame
        As from `load_ratings`.

    Returns
    -------
    pandas.DataFrame
        One row per answer: ``item_id``, ``prompt_id``, ``system``, ``arm``,
        ``assertiveness``, ``complexity`` and ``score``.

    Examples
    --------
    >>> len(answers_of(load_ratings("simulated", seed=0)))
    1500
    """
    keys = ["item_id", "prompt_id", "system", "arm"]
    return ratings.groupby(keys)[[TONE, "complexity", "score"]].mean().reset_index()


def _resampled(answers: pd.DataFrame, n_boot: int, seed: int) -> tuple[Cells, Cells]:
    """Sums of all answers, and of those to resampled prompts."""
    cell, models, conditions = _cells_of(answers)
    n_cells = len(models) * len(conditions)
    powers = _powers(answers[TONE].to_numpy(), answers["score"].to_numpy())
    by_prompt = cluster_sums(_one_hot(powers, cell, n_cells), answers["prompt_id"])
    rng = np.random.default_rng(seed)
    times_drawn = bootstrap.cluster_weights(len(by_prompt), n_boot, rng)
    shape = (-1, len(models), len(conditions), SUMS)
    drawn = Cells((times_drawn @ by_prompt).reshape(shape), conditions)
    whole = Cells(by_prompt.sum(axis=0).reshape(shape), conditions)
    return whole, drawn


def slopes(ratings: pd.DataFrame) -> pd.DataFrame:
    """Points of the score for one more point of rated assertiveness, four ways.

    Parameters
    ----------
    ratings : pandas.DataFrame
        As from `load_ratings`.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.stats.leave_out.LeftOut.table`: ``groups`` (over their means),
        ``groups_kept`` (without those of `FAR`), ``answers`` and ``within`` (over
        answers within groups).

    Examples
    --------
    >>> slopes(load_ratings("simulated", seed=0)).index.tolist()
    ['groups', 'groups_kept', 'answers', 'within']
    """
    names = pd.Index(["groups", "answers", "within"])
    table = left_out(ratings, Cells.slopes, names).table()
    near = ratings[~ratings["arm"].isin(FAR)]
    kept = left_out(near, Cells.slopes, names).table().loc["groups"]
    table.loc["groups_kept"] = kept
    return table.loc[["groups", "groups_kept", "answers", "within"]]


def at_score(
    ratings: pd.DataFrame,
    score: float | None = None,
    *,
    level: str = "items",
    parallel: bool = False,
    n_boot: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """How assertive each model sounds at the same score.

    Parameters
    ----------
    ratings : pandas.DataFrame
        As from `load_ratings`.
    score : float, optional
        Where each model's line of assertiveness on the score is read; by default at the
        mean score of all answers.
    level : {"items", "means"}, optional
        Whether a line is fitted to a model's answers or to its means in each condition.
    parallel : bool, optional
        Whether all lines have one slope.
    n_boot, seed : int, optional
        Resamples of prompts for ``least`` and ``most``, and their seed.

    Returns
    -------
    pandas.DataFrame
        A row per model, in increasing order: ``estimate``, and ``low`` and ``high``
        from leaving out each rater and each prompt; ``least`` and ``most``, the share
        of resamples in which the model sounds the least and the most assertive.

    Raises
    ------
    ValueError
        If the level is unknown.

    References
    ----------
    Hosking et al. (2024), Figure 6; Huitema (2011), The Analysis of Covariance and
    Alternatives (one slope within groups).

    Examples
    --------
    >>> ratings = load_ratings("simulated", seed=0)
    >>> at_score(ratings, n_boot=50)["most"].sum()
    np.float64(1.0)
    """
    heights = _heights(ratings, score, level, parallel)
    found = left_out(ratings, heights, _models(ratings), by_model=not parallel)
    return _with_shares(found, ratings, heights, n_boot, seed)


def _models(ratings: pd.DataFrame) -> pd.Index:
    """Names of the models in sorted order, as in `Cells`."""
    return pd.Index(sorted(ratings["system"].unique()))


def _heights(
    ratings: pd.DataFrame, score: float | None, level: str, parallel: bool
) -> Callable[[Cells], np.ndarray]:
    """Make the function that reads each model's line at a score."""
    if level not in LEVELS:
        raise ValueError(f"level {level!r} is unknown: choose one of {LEVELS}")
    if score is None:
        score = answers_of(ratings)["score"].mean()

    def heights(cells: Cells) -> np.ndarray:
        return cells.x_at(score, level=level, parallel=parallel)

    return heights


def _with_shares(
    found: leave_out.LeftOut,
    ratings: pd.DataFrame,
    heights: Callable[[Cells], np.ndarray],
    n_boot: int,
    seed: int,
) -> pd.DataFrame:
    """Estimates by model, and in how many resamples each is lowest and highest."""
    table = found.table()[INTERVAL]
    _, drawn = _resampled(answers_of(ratings), n_boot, seed)
    draws = pd.DataFrame(heights(drawn), columns=table.index)
    for name, extreme in {
        "least": draws.idxmin(axis=1),
        "most": draws.idxmax(axis=1),
    }.items():
        shares = extreme.value_counts(normalize=True)
        table[name] = shares.reindex(table.index, fill_value=0.0)
    return table.sort_values("estimate")


def _minus_others(models: Sequence[str], model: str) -> pd.DataFrame:
    """Weights of models: one less the mean of the others, and less each of them."""
    others = [other for other in models if other != model]
    weights = pd.DataFrame(0.0, [TOGETHER, *others], list(models))
    weights[model] = 1.0
    weights.loc[TOGETHER, others] = -1 / len(others)
    for other in others:
        weights.loc[other, other] = -1.0
    return weights


def llama_against(
    ratings: pd.DataFrame, level: str, n_boot: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Compare Llama 2 13B with the other models, as the paper does in section 4.

    Parameters
    ----------
    ratings : pandas.DataFrame
        As from `load_ratings`.
    level : {"items", "means"}
        As for `at_score`.
    n_boot, seed : int
        Resamples of prompts, and their seed.

    Returns
    -------
    dict of str to pandas.DataFrame
        Llama 2 13B minus the mean of the other models, and minus each of them:
        ``estimate``, ``low`` and ``high``. By measure: assertiveness at the mean score;
        range of the mean assertiveness over conditions; change of the mean score with
        an instruction. Intervals of ranges, which are not smooth, are percentiles of
        resampled prompts; the others leave out each rater and each prompt.

    Examples
    --------
    >>> ratings = load_ratings("simulated", seed=0)
    >>> tables = llama_against(ratings, "items", n_boot=50, seed=0)
    >>> tables["change of the score"].index[0]
    'the others together'
    """
    models = _models(ratings)
    weights = _minus_others(models, LLAMA)
    heights = _heights(ratings, None, level, parallel=False)
    tone = left_out(ratings, heights, models, by_model=True)
    change = left_out(ratings, Cells.changes, models, by_model=True)
    whole, drawn = _resampled(answers_of(ratings), n_boot, seed)
    ranges = pd.Series(weights.to_numpy() @ whole.ranges()[0], weights.index)
    draws = pd.DataFrame(drawn.ranges() @ weights.T.to_numpy(), columns=weights.index)
    return {
        "assertiveness at the mean score": tone.contrast(weights).table()[INTERVAL],
        "range of assertiveness": interval_table(ranges, draws),
        "change of the score": change.contrast(weights).table()[INTERVAL],
    }


def positions(ratings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """How far each model's mean lies from the mean of all models.

    Parameters
    ----------
    ratings : pandas.DataFrame
        As from `load_ratings`.

    Returns
    -------
    dict of str to pandas.DataFrame
        For ``score`` and ``assertiveness``: a row per model with ``estimate``, ``low``
        and ``high``, from leaving out each rater and each prompt.

    Examples
    --------
    >>> positions(load_ratings("simulated", seed=0))["score"].shape
    (5, 3)
    """
    models = _models(ratings)
    n_models = len(models)
    minus_mean = pd.DataFrame(np.eye(n_models) - 1 / n_models, models, models)
    found = {}
    for number, rating in enumerate([TONE, "score"]):

        def of_models(cells: Cells, number: int = number) -> np.ndarray:
            return cells.means()[number].mean(axis=2)

        means = left_out(ratings, of_models, models, by_model=True)
        found[rating] = means.contrast(minus_mean).table()[INTERVAL]
    return found


def correlations(ratings: pd.DataFrame) -> pd.DataFrame:
    """Correlations over answers of assertiveness, complexity and the score.

    Parameters
    ----------
    ratings : pandas.DataFrame
        As from `load_ratings`.

    Returns
    -------
    pandas.DataFrame
        A row per pair: ``estimate``, ``low`` and ``high``, from leaving out each rater
        and each prompt, on Fisher's scale.

    Examples
    --------
    >>> correlations(load_ratings("simulated", seed=0)).shape
    (3, 3)
    """
    pairs = [(TONE, "score"), ("complexity", "score"), (TONE, "complexity")]
    tables = []
    for x, y in pairs:
        names = pd.Index([f"{x} and {y}"])
        found = left_out(ratings, Cells.correlation, names, x=x, y=y)
        tables.append(leave_out.fisher_table(found)[INTERVAL])
    return pd.concat(tables)


def specifications(
    study: Experiment2, outcome: str, level: str, n_boot: int, seed: int
) -> pd.DataFrame:
    """Which model sounds most assertive at a score, under other choices.

    Parameters
    ----------
    study : Experiment2
        The crowd's ratings.
    outcome : {"quality_unbiased", "quality_biased"}
        The score.
    level : {"items", "means"}
        As for `at_score`.
    n_boot, seed : int
        Resamples of prompts, and their seed; the seed of a simulation, too.

    Returns
    -------
    pandas.DataFrame
        A row per choice: ``score``, where the lines are read; ``estimate``, ``low`` and
        ``high`` of the assertiveness of Llama 2 13B minus the mean of the others there;
        ``most``, the share of resamples in which it sounds the most assertive;
        ``humble``, that in which Command 52B sounds the least assertive; ``least``, the
        model that does most often. Answers without an instruction have one mean for
        each model, so that their lines always go through answers.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> study = hosking.load_experiment_2("simulated")
    >>> len(specifications(study, "quality_unbiased", "items", n_boot=20, seed=0))
    8
    """
    other_score = QUALITY[1 - QUALITY.index(outcome)]
    other_level = LEVELS[1 - LEVELS.index(level)]
    ratings = load_ratings(study.source, seed, outcome)
    by_other = load_ratings(study.source, seed, other_score)
    low, high = answers_of(ratings)["score"].quantile([0.25, 0.75])
    answered = drop_refusals(study.outputs(), rule="majority")["item_id"]
    choices = {
        "as above": (ratings, {}),
        "at the lower quartile of the score": (ratings, {"score": low}),
        "at the upper quartile of the score": (ratings, {"score": high}),
        SCORE_NAMES[other_score]: (by_other, {}),
        f"lines through {LEVEL_NAMES[other_level]}": (ratings, {"level": other_level}),
        "one slope for all models": (ratings, {"parallel": True}),
        "refusals left out": (ratings[ratings["item_id"].isin(answered)], {}),
        "no instruction": (ratings[ratings["arm"] == BASELINE], {"level": "items"}),
    }
    rows = {}
    for name, (used, other) in choices.items():
        choice = {"score": None, "level": level, "parallel": False} | other
        if choice["score"] is None:
            choice["score"] = answers_of(used)["score"].mean()
        heights = _heights(used, **choice)
        models = _models(used)
        found = left_out(used, heights, models, by_model=not choice["parallel"])
        ahead = found.contrast(_minus_others(models, LLAMA)).table()
        shares = _with_shares(found, used, heights, n_boot, seed)
        rows[name] = {
            "score": choice["score"],
            **ahead.loc[TOGETHER, INTERVAL],
            "most": shares.loc[LLAMA, "most"],
            "humble": shares.loc[COMMAND, "least"],
            "least": shares["least"].idxmax(),
        }
    return pd.DataFrame.from_dict(rows, "index")


def statements(
    ratings: pd.DataFrame,
    choices: pd.DataFrame,
    level: str,
    n_boot: int,
    seed: int,
) -> dict[str, object]:
    """Compute what the paper's statements on Figure 6 are compared with.

    Parameters
    ----------
    ratings : pandas.DataFrame
        From `load_ratings`.
    choices : pandas.DataFrame
        From `specifications`.
    level, n_boot, seed
        As for `specifications`.

    Returns
    -------
    dict
        By name of the result, without ``"hosking."``, in the form that
        `helpers.claims.results.rows` takes.

    References
    ----------
    Hosking et al. (2024), section 4 and Figure 6.

    Examples
    --------
    >>> from helpers.studies import hosking
    >>> study = hosking.load_experiment_2("simulated")
    >>> choices = specifications(study, "quality_unbiased", "items", n_boot=20, seed=0)
    >>> ratings = load_ratings("simulated", 0, "quality_unbiased")
    >>> found = statements(ratings, choices, "items", n_boot=20, seed=0)
    >>> found["quality.command_52b_humble"]["share"] <= 1
    np.True_
    """
    related = correlations(ratings)
    steep = slopes(ratings)
    against = llama_against(ratings, level, n_boot, seed)
    placed = positions(ratings)
    at_mean = at_score(ratings, level=level, n_boot=n_boot, seed=seed)
    of_llama = 100 * choices["most"].drop(["as above", "no instruction"])

    def each_way(measure: str) -> dict[str, object]:
        """Against the mean of the others, and against each of them."""
        table = against[measure]
        return {TOGETHER: table.loc[TOGETHER], "each other": table.drop(TOGETHER)}

    def side(model: str, rating: str, sign: int) -> pd.Series:
        """How far a model lies above (or below) the mean of all."""
        row = sign * placed[rating].loc[model]
        return row if sign > 0 else row.set_axis(["estimate", "high", "low"])

    in_corner = {
        "command_52b_top_left": {
            "score above average": side(COMMAND, "score", 1),
            "assertiveness below average": side(COMMAND, TONE, -1),
        },
        "llama_bottom_right": {
            "score below average": side(LLAMA, "score", -1),
            "assertiveness above average": side(LLAMA, TONE, 1),
        },
    }
    rise = steep.loc["groups"].rename({"p_value": "p"})
    found = {
        "assertiveness_r": related.loc[f"{TONE} and score"],
        "complexity_r": {
            "": related.loc["complexity and score"],
            "correlation of assertiveness and complexity": related.loc[
                f"{TONE} and complexity", "estimate"
            ],
        },
        "llama_more_assertive": each_way("assertiveness at the mean score"),
        "llama_style_range": each_way("range of assertiveness"),
        "llama_less_stable": each_way("change of the score"),
        "command_52b_humble": {"share": at_mean.loc[COMMAND, "least"]},
        "groups_rise_with_assertiveness": rise,
        **{name: pd.DataFrame(parts).T for name, parts in in_corner.items()},
    }
    headline = {
        "slope": steep.loc["groups", INTERVAL],
        "single": steep.loc["answers", INTERVAL],
        "kept": steep.loc["groups_kept", INTERVAL],
        "first": {"share": at_mean.loc[LLAMA, "most"]},
        "least": np.floor(10 * of_llama.min()) / 10,
        "plain": 100 * choices.loc["no instruction", "most"],
    }
    return {
        **{f"quality.{name}": result for name, result in found.items()},
        **{f"assertive_quality.{name}": result for name, result in headline.items()},
    }
