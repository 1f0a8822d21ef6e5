"""Models fitted to the released ratings, to draw studies with new raters and prompts.

Behind every rating stands a latent normal value of variance one: the sum of effects of
its prompt, its answer, its rater, what was rated side by side, and a rest. A drawn
rating is the quantile, at this value, of the real ratings of answers of the same kind
(system with task or condition). Effects of all columns go together, also between groups
of raters who rated the same answers. Their covariances are those with which drawn
studies have, on average, the covariances of the real one: of two people on one answer,
of two answers to a prompt, of one person on two prompts, of two answers rated side by
side, and of two columns of one rating (method of simulated moments).

New in each study are prompts, answers and raters. Who rates which answer, the systems
and conditions, what is missing, one expert and the automatic judges stay as they were.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.stats import norm

from helpers.stats.moments import cluster_sums

LEVELS = ["prompt", "item", "rater", "pair"]
SHARED = ["prompt", "item", "rater"]  # by ratings of several groups
NONE = -1  # code of a row that has no prompt, answer, rater or pair
STEPS = 25  # of simulated moments
COPIES = 5  # of the study in each step
DAMPING = 0.5  # share of each gap that a step closes
LEAST = 0.05  # share of a variance that is left to the rest, at least
FEWEST = 10  # ratings of a kind that is told apart
SEED = 20261125  # of the fit


@dataclass(frozen=True, eq=False)
class Group:
    """Ratings by one group of people, an expert or a program.

    Parameters
    ----------
    codes : pandas.DataFrame of int, shape (n_ratings, 5)
        ``prompt``, ``item``, ``rater`` and ``pair`` (rated side by side), -1 for none,
        and ``cell``, the kind of answer.
    ratings : pandas.DataFrame, shape (n_ratings, n_columns)
        The real ratings.
    last_given_others : bool
        Whether the kind of answer, for the last column, is what the same rating says in
        the other columns.
    slopes : numpy.ndarray or None
        Covariance between raters of the slopes of the last column's latent value on
        `features` of the other columns.
    features : callable or None
    """

    codes: pd.DataFrame
    ratings: pd.DataFrame
    last_given_others: bool = False
    slopes: np.ndarray | None = None
    features: Callable | None = None


@dataclass(frozen=True, eq=False)
class Model:
    """Groups, and covariances of the effects of all their columns.

    `draw` gives the ratings of each group in a new study.
    """

    groups: dict[str, Group]
    covariances: dict[str, np.ndarray]
    quantiles: dict[str, list] = field(repr=False)

    def places(self) -> dict[str, slice]:
        """Position of each group's columns among all columns."""
        places, start = {}, 0
        for name, group in self.groups.items():
            places[name] = slice(start, start + group.ratings.shape[1])
            start = places[name].stop
        return places

    def alone(self) -> np.ndarray:
        """Tell which columns have one rating of each answer."""
        alone = []
        for group in self.groups.values():
            is_alone = group.codes["item"].is_unique
            alone += [is_alone] * group.ratings.shape[1]
        return np.array(alone)

    def draw(self, rng: np.random.Generator, copies: int = 1) -> dict[str, np.ndarray]:
        """Draw a study, or several beside each other as one large study."""
        effects = {}
        for level in SHARED:
            size = copies * n_codes(self.groups, level)
            effects[level] = _normal(rng, size, self.covariances[level])
        values = {}
        for name, own in self.places().items():
            codes = copied(self.groups, name, copies)
            latent = np.zeros((len(codes), own.stop - own.start))
            variance = np.zeros(latent.shape[1])
            for level in SHARED:
                code = codes[level].to_numpy()
                is_there = (code != NONE)[:, None]
                latent += np.where(is_there, effects[level][code][:, own], 0.0)
                if is_there.any():
                    variance += np.diag(self.covariances[level])[own]
            of_pair = self.covariances["pair"][own, own]
            latent += _of_pairs(rng, codes["pair"].to_numpy(), of_pair)
            single = self.covariances["single"][own, own]
            latent += _normal(rng, len(codes), single)
            variance += _absolute(of_pair).diagonal() + single.diagonal()
            latent /= np.sqrt(variance)
            values[name] = self._rated(name, codes, latent, rng)
        return values

    def _rated(
        self,
        name: str,
        codes: pd.DataFrame,
        latent: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Turn latent values into ratings."""
        group = self.groups[name]
        rated = np.empty_like(latent)
        for place, quantiles in enumerate(self.quantiles[name]):
            value = latent[:, place]
            is_last = place == latent.shape[1] - 1
            if is_last and group.slopes is not None:
                x = group.features(rated[:, :place])
                x = x - group.features(group.ratings.to_numpy()[:, :place]).mean(axis=0)
                rater = codes["rater"].to_numpy()
                slopes = _normal(rng, rater.max() + 1, group.slopes)
                added = (x * slopes[rater]).sum(axis=1)
                value = (value + added) / np.sqrt(1 + added.var())
            cell = cells(group, codes, rated, place)
            rated[:, place] = quantiles.at(cell, norm.cdf(value))
        return rated


@dataclass(frozen=True, eq=False)
class Quantiles:
    """The real ratings of a column, sorted within each kind of answer."""

    ratings: np.ndarray
    start: np.ndarray
    size: np.ndarray

    def at(self, cell: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Ratings below which a share of the real ones of these kinds lies."""
        rank = np.minimum(np.floor(share * self.size[cell]), self.size[cell] - 1)
        return self.ratings[self.start[cell] + rank.astype(int)]

    def means(self) -> np.ndarray:
        """Mean rating of each kind."""
        kind = np.repeat(np.arange(len(self.size)), self.size)
        return np.bincount(kind, self.ratings) / np.maximum(self.size, 1)

    def slope(self) -> float:
        """Points by which a rating rises with its latent value, on average."""
        rank = np.arange(len(self.ratings)) - np.repeat(self.start, self.size)
        score = norm.ppf((rank + 0.5) / np.repeat(self.size, self.size))
        return float((self.ratings * score).mean())


def quantiles_of(values: np.ndarray, cell: np.ndarray) -> Quantiles:
    """Sort ratings within kinds."""
    order = np.lexsort((values, cell))
    size = np.bincount(cell)
    return Quantiles(values[order], np.concatenate([[0], size.cumsum()[:-1]]), size)


def cells(
    group: Group, codes: pd.DataFrame, rated: np.ndarray, place: int
) -> np.ndarray:
    """Number the kind of each rating in a column.

    If it is what the same rating says in the other columns, kinds with few real ratings
    are joined with those that differ in the column before the last alone.
    """
    if not group.last_given_others or place < rated.shape[1] - 1:
        return codes["cell"].to_numpy()
    others = rated[:, :place]
    real = group.ratings.iloc[:, :-1]
    counts = real.value_counts()
    wide = real.iloc[:, :-1].drop_duplicates().sort_values(list(real)[:-1])
    often = counts.index[counts >= FEWEST]
    names = [*often, *wide.itertuples(index=False, name=None)]
    number = {name: place for place, name in enumerate(names)}
    rows = map(tuple, others.tolist())
    return np.array([number.get(row, number.get(row[:-1])) for row in rows])


def n_codes(groups: dict[str, Group], level: str) -> int:
    """How many prompts, answers, raters or pairs there are in all groups."""
    return 1 + max(group.codes[level].max() for group in groups.values())


def copied(groups: dict[str, Group], name: str, copies: int) -> pd.DataFrame:
    """Repeat a group's codes with others' prompts, answers, raters and pairs."""
    codes = groups[name].codes
    copy = np.repeat(np.arange(copies), len(codes))
    repeated = pd.concat([codes] * copies, ignore_index=True)
    for level in LEVELS:
        shifted = repeated[level] + copy * n_codes(groups, level)
        repeated[level] = shifted.where(repeated[level] != NONE, NONE)
    return repeated


def _root(covariance: np.ndarray) -> np.ndarray:
    """Square root of a covariance; what is below zero by chance becomes zero."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _absolute(covariance: np.ndarray) -> np.ndarray:
    """The matrix with the signs of negative eigenvalues turned."""
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.abs(values)) @ vectors.T


def _normal(rng: np.random.Generator, size: int, covariance: np.ndarray) -> np.ndarray:
    """Draw normal effects."""
    root = _root(covariance)
    return rng.standard_normal((size, len(root))) @ root.T


def _of_pairs(
    rng: np.random.Generator, pair: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """Draw effects of what is rated side by side.

    Negative parts are contrasts, which raise one answer and lower the others.
    """
    if (pair == NONE).all():
        return np.zeros((len(pair), len(covariance)))
    pair, _ = pd.factorize(pair)
    size = np.bincount(pair)
    together = _normal(rng, len(size), covariance)[pair]
    contrast = _normal(rng, len(pair), -covariance) * np.sqrt(size[pair])[:, None]
    mean = cluster_sums(contrast, pair) / size[:, None]
    return together + contrast - mean[pair]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which ratings share a prompt, an answer, a rater or a pair, and how many do."""

    codes: dict[str, pd.DataFrame]
    members: dict[tuple[str, ...], csr_array]
    counts: dict[str, np.ndarray]

    def sums(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Products of columns, summed over ordered pairs of ratings, by what is shared.

        Pairs by one rater on one prompt are part of "pair" and of "row" alone.
        """

        def products(*levels: str) -> np.ndarray:
            sums = self.members[levels] @ rows
            return sums.T @ sums

        item, by_rater = products("item"), products("prompt", "rater")
        again = products("item", "rater")
        paired = rows[self.members["pair",].sum(axis=0) > 0]
        return {
            "row": rows.T @ rows,
            "item": item - again,
            "prompt": products("prompt") - item - by_rater + again,
            "rater": products("rater") - by_rater,
            "pair": products("pair") - paired.T @ paired,
        }


def pairs_of(model: Model, copies: int) -> Pairs:
    """Find what ratings share in a study, or in several beside each other."""
    codes = {name: copied(model.groups, name, copies) for name in model.groups}
    together = pd.concat(codes.values(), ignore_index=True)
    no_rater = together["rater"] == NONE  # each such rating is by somebody of its own
    together.loc[no_rater, "rater"] = -2 - np.arange(no_rater.sum())
    members = {}
    for levels in (
        *((level,) for level in LEVELS),
        ("item", "rater"),
        ("prompt", "rater"),
    ):
        known = (together[list(levels)] != NONE).all(axis="columns").to_numpy()
        label = together.loc[known].groupby(list(levels)).ngroup()
        rows = np.flatnonzero(known)
        ones = np.ones(len(rows))
        shape = (label.max() + 1, len(together))
        members[levels] = csr_array((ones, (label.to_numpy(), rows)), shape=shape)
    pairs = Pairs(codes, members, {})
    present = {
        name: np.ones((len(codes[name]), group.ratings.shape[1]))
        for name, group in model.groups.items()
    }
    counts = pairs.sums(_side_by_side(model, present))
    return replace(
        pairs, counts={name: count.round() for name, count in counts.items()}
    )


def _side_by_side(model: Model, values: dict[str, np.ndarray]) -> np.ndarray:
    """Put all ratings below each other, each group in columns of its own."""
    places = model.places()
    n_columns = sum(group.ratings.shape[1] for group in model.groups.values())
    blocks = []
    for name, of_group in values.items():
        block = np.zeros((len(of_group), n_columns))
        block[:, places[name]] = of_group
        blocks.append(block)
    return np.concatenate(blocks)


def moments(
    model: Model, values: dict[str, np.ndarray], pairs: Pairs
) -> dict[str, np.ndarray]:
    """Covariances of ratings, on the latent scale, by what two of them share.

    What two ratings share besides is taken off: the covariances are those of the
    effects of prompt, item, rater and pair, and of the rest of one rating.
    """
    scaled = {
        name: _on_latent_scale(
            group, model.quantiles[name], pairs.codes[name], values[name]
        )
        for name, group in model.groups.items()
    }
    sums = pairs.sums(_side_by_side(model, scaled))
    found = {}
    for name, count in pairs.counts.items():
        found[name] = np.where(count > 0, sums[name] / np.maximum(count, 1), 0.0)
    one_group = pairs.counts["row"] > 0
    pair = found["pair"] - found["prompt"] - found["rater"]
    pair = np.where(pairs.counts["pair"] > 0, pair, 0.0)
    # where an answer has one rating, effects of both are taken for the answer's
    alone = model.alone()
    of_item = np.where(
        one_group & np.outer(alone, alone),
        found["row"] - found["rater"] - pair,
        found["item"],
    )
    single = found["row"] - of_item - found["rater"] - pair
    return {
        "prompt": found["prompt"],
        "item": of_item - found["prompt"],
        "rater": found["rater"],
        "pair": pair,
        "single": np.where(one_group, single, 0.0),
    }


def _on_latent_scale(
    group: Group, quantiles: Sequence[Quantiles], codes: pd.DataFrame, rated: np.ndarray
) -> np.ndarray:
    """Distances from the mean of a kind, in units of the latent value."""
    distances = np.empty_like(rated, dtype=float)
    for place, quantile in enumerate(quantiles):
        cell = cells(group, codes, rated, place)
        distances[:, place] = rated[:, place] - quantile.means()[cell]
        distances[:, place] /= quantile.slope()
    return distances


def model_of(groups: dict[str, Group], covariances: dict[str, np.ndarray]) -> Model:
    """Make a model with given covariances."""
    quantiles = {}
    for name, group in groups.items():
        values = group.ratings.to_numpy(dtype=float)
        quantiles[name] = [
            quantiles_of(values[:, place], cells(group, group.codes, values, place))
            for place in range(values.shape[1])
        ]
    return Model(groups, covariances, quantiles)


def fit(groups: dict[str, Group]) -> Model:
    """Fit the model to real ratings by simulated moments."""
    model = model_of(groups, {})
    real = {name: group.ratings.to_numpy(dtype=float) for name, group in groups.items()}
    target = moments(model, real, pairs_of(model, 1))
    pairs = pairs_of(model, COPIES)
    # covariances of rare labels rise faster than those of their latent values
    variance = np.maximum(sum(np.diag(target[level]) for level in target), 1.0)
    step = DAMPING / np.sqrt(np.outer(variance, variance))
    wanted, alone = target, model.alone()
    for _ in range(STEPS):
        model = replace(model, covariances=_possible(wanted, alone))
        # the same random numbers in each step, so that steps can be compared
        drawn = model.draw(np.random.default_rng(SEED), COPIES)
        found = moments(model, drawn, pairs)
        wanted = {
            level: covariance + step * (target[level] - found[level])
            for level, covariance in model.covariances.items()
        }
    return replace(model, covariances=_possible(wanted, alone))


def _possible(
    covariances: dict[str, np.ndarray], alone: np.ndarray
) -> dict[str, np.ndarray]:
    """The nearest covariances that there can be, of variance one together."""
    covariances = dict(covariances)
    most = 1 - LEAST - np.diag(_nearest(covariances["prompt"]))
    most = np.maximum(most - np.diag(_nearest(covariances["rater"])), LEAST)
    covariances["item"] = _with_variances(covariances["item"], most, alone)
    possible = {"pair": covariances["pair"]}
    for level in SHARED:
        possible[level] = _nearest(covariances[level])
    taken = sum(np.diag(possible[level]) for level in SHARED)
    taken = taken + np.diag(_absolute(possible["pair"]))
    # effects that take more than there is are made smaller together
    shrink = np.sqrt(np.minimum(1, (1 - LEAST) / np.maximum(taken, LEAST)))
    for level in LEVELS:
        possible[level] = possible[level] * np.outer(shrink, shrink)
    rest = 1 - taken * shrink**2
    everywhere = np.ones(len(rest), dtype=bool)
    single = _with_variances(covariances["single"], rest, everywhere)
    return possible | {"single": single}


def _nearest(covariance: np.ndarray) -> np.ndarray:
    """The covariance with negative eigenvalues set to zero."""
    root = _root(covariance)
    return root @ root.T


def _with_variances(
    covariance: np.ndarray, variances: np.ndarray, where: np.ndarray
) -> np.ndarray:
    """The nearest covariance with given variances of some columns."""
    diagonal = np.where(where, variances, np.diag(covariance))
    nearest = covariance.copy()
    np.fill_diagonal(nearest, diagonal)
    nearest = _nearest(nearest)
    scale = np.ones(len(nearest))
    scale[where] = np.sqrt(variances[where] / np.diag(nearest)[where])
    return nearest * np.outer(scale, scale)
