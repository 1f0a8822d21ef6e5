"""Least squares with intervals for other raters and prompts, and a fast Lasso.

Each rater, each prompt and each cell of both is left out (CR3; with two kinds of
clusters CRV3, see `helpers.intervals`). With A = X'X and the residuals e, coefficients
change by -(A - X_g'X_g)⁻¹ X_g'e_g without cluster g, so that sums of products by
cluster are all that is needed. A cluster of one row with leverage h has a closed form,
-A⁻¹x e / (1 - h).

`least_squares` can hold raters fixed (``within``): then slopes compare ratings by the
same rater. With two columns, such as raters and prompts, both are held fixed.
`least_squares_of_means` is for items whose features or outcomes are means over raters.
`logistic` is for outcomes from 0 to 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import expit

from helpers.data.tables import OptionError
from helpers.intervals import (
    Deletions,
    Estimates,
    check_clusters,
    check_one_per_item,
    cluster_sums,
    computed,
    effective_number,
    percentile_interval,
    ratio,
    times_drawn,
)

COLLINEAR = 1e-9  # a feature that adds less variance than this share adds nothing
CONSTANT = (
    1e-13  # a standard deviation below this share of the mean is a rounding error
)
NO_VARIATION = 1e-20  # of a rater, as a share of that of all rows
ROWS_AT_ONCE = 2**13  # few enough that products stay in the processor's cache
NEARLY_ONE = 1 - 1e-6  # leverage of a row that carries a coefficient alone
MAX_SWEEPS = 10_000
MAX_NEWTON_STEPS = 100
LARGEST_LOGIT_STEP = 4.0  # a longer Newton step could overshoot
LARGEST_LOGIT = 30.0  # a probability that is 0 or 1 but for 1e-13
LOGIT_TOLERANCE = 1e-10
TOLERANCE = 1e-12  # of a Lasso weight, as a share of the largest covariance


def least_squares(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    clusters: Sequence[str],
    *,
    intercept: bool = True,
    within: str | Sequence[str] | None = None,
) -> Estimates:
    """Least squares, with each cluster left out (CR3, two-way CRV3).

    Parameters
    ----------
    frame : pandas.DataFrame or dask.dataframe.DataFrame
        One row per rating; every row is used.
    features : sequence of str
        Numeric columns that explain.
    outcome : str
        Numeric column to explain.
    clusters : sequence of str
        One or two columns.
    intercept : bool, optional
        Whether a constant is fitted, too.
    within : str or sequence of str, optional
        Column of raters, or of others who are held fixed: each has a constant of its
        own. Raters for whom no feature varies tell nothing, and are not counted. Two
        columns, such as raters and prompts, are both held fixed; then the constants
        stay as they are when a cluster is left out (exact in a complete design).

    Returns
    -------
    Estimates
        ``intercept``, if there is one, and the features, in units of the outcome per
        unit of the feature. Degrees of freedom with one kind of cluster are
        Satterthwaite's for independent errors; with two kinds, or within raters, the
        fewest effective clusters of a kind less one, each cluster counting by what it
        tells about the coefficient. The variance is NaN where the rows that remain
        without a cluster do not determine a coefficient.

    Raises
    ------
    OptionError
        If a feature is constant or a combination of those before it, the outcome is
        constant, the clusters cannot be used (see `helpers.intervals.check_clusters`),
        or, within raters, the rows without a cluster do not determine a coefficient.

    References
    ----------
    Bell and McCaffrey (2002), Bias Reduction in Standard Errors for Linear Regression
    with Multi-Stage Samples; Pustejovsky and Tipton (2018), Small-Sample Methods for
    Cluster-Robust Variance Estimation; MacKinnon, Nielsen and Webb (2023), Fast and
    Reliable Jackknife and Bootstrap Methods for Cluster-Robust Inference.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1] * 3,
    ...                       "lower": [0, 1, 3, 4, 1, 1, 3, 3, 0, 0, 4, 3],
    ...                       "prompt_id": list("aaaabbbbcccc")})
    >>> least_squares(frame, ["refusal"], "lower", ["prompt_id"]).table().round(2)
               estimate  standard_error   low  high  p_value   df
    intercept      0.50            0.29 -0.74  1.74     0.23  2.0
    refusal        2.83            0.44  0.94  4.73     0.02  2.0
    """
    features = list(features)
    clusters = list(clusters)
    if hasattr(frame, "compute"):
        if within is not None:
            raise OptionError(
                "rater effects need the table in memory: use within= with "
                "frame.compute(), or leave it out"
            )
        return _least_squares_large(frame, features, outcome, clusters, intercept)
    if within is not None and not isinstance(within, str):
        held = list(within)
        if len(held) == 2:
            return _within_two(frame, features, outcome, clusters, held)
        if len(held) > 2:
            raise OptionError(f"{len(held)} columns within: give one or two")
        within = held[0] if held else None
    rows = _rows(frame, [*features, outcome], intercept and within is None)
    values = rows[:, -len(features) - 1 :]
    labels = frame[clusters]
    if within is not None:
        raters, _ = pd.factorize(frame[within])
        _subtract_means(rows, raters, features, within)
        varies = _varies_by_rater(rows[:, :-1], raters)
        rows = values = rows[varies]
        raters = raters[varies]
        labels = labels[varies]
        intercept = False
    check_clusters(labels, clusters)
    scale = _Scale.of(values, features, outcome, intercept)
    scale.apply(rows)
    fit = _Fit.of(rows.T @ rows, scale.names)
    # residuals take the place of the outcome
    rows[:, -1] -= rows[:, :-1] @ fit.coefficients

    is_satterthwaite = len(clusters) == 1 and within is None
    deletions = []
    for number, codes in enumerate(_codes(labels)):
        used = (rows, codes)
        if within is not None:
            used = _with_means_moved(rows, raters, codes)
        found = _leave_out(*used, fit, scale.back, is_satterthwaite=is_satterthwaite)
        deletions.append(found)
        if within is not None and np.isnan(found.squares).any():
            _refuse_singular(*used, fit, features, labels[clusters[min(number, 1)]])
    return _estimates(fit, scale, deletions, is_satterthwaite)


def _rows(frame: pd.DataFrame, names: Sequence[str], intercept: bool) -> np.ndarray:
    """Copy columns to one matrix, with room for the intercept's in front."""
    first = int(intercept)
    rows = np.ones((len(frame), len(names) + first))
    for position, name in enumerate(names):
        rows[:, first + position] = frame[name].to_numpy(dtype=float, na_value=np.nan)
    return rows


@dataclass(frozen=True, eq=False)
class _Scale:
    """Centred columns of length one, in which nothing is lost to large offsets."""

    names: list[str]
    centre: np.ndarray  # of features and outcome
    length: np.ndarray  # of features
    intercept: bool
    n_rows: int

    @classmethod
    def of(
        cls, values: np.ndarray, features: list[str], outcome: str, intercept: bool
    ) -> "_Scale":
        """Take centre and length from all rows."""
        n_rows = len(values)
        centre = values.mean(axis=0)
        squares = np.zeros(len(centre))
        for start in range(0, n_rows, ROWS_AT_ONCE):
            block = values[start : start + ROWS_AT_ONCE] - centre * intercept
            squares += (block**2).sum(axis=0)
        return cls.from_squares(centre, squares, n_rows, features, outcome, intercept)

    @classmethod
    def from_squares(
        cls,
        centre: np.ndarray,
        squares: np.ndarray,
        n_rows: int,
        features: list[str],
        outcome: str,
        intercept: bool,
    ) -> "_Scale":
        """Refuse columns that do not vary."""
        if not features:
            raise OptionError("no features are named: give at least one column")
        is_constant = squares <= (CONSTANT * centre) ** 2 * n_rows
        for name, constant in zip(features, is_constant[:-1], strict=True):
            if constant:
                raise OptionError(
                    f"feature {name!r} has the same value in all {n_rows} rows: leave "
                    "it out"
                )
        if is_constant[-1]:
            raise OptionError(
                f"outcome {outcome!r} has the same value in all {n_rows} rows: there "
                "is nothing to explain"
            )
        names = ["intercept", *features] if intercept else features
        length = np.sqrt(squares[:-1])
        return cls(names, centre * intercept, length, intercept, n_rows)

    def apply(self, rows: np.ndarray) -> None:
        """Centre and shrink the columns of the intercept, features and outcome."""
        first = int(self.intercept)
        rows[:, :first] = 1 / np.sqrt(self.n_rows)
        rows[:, first:] -= self.centre
        rows[:, first:-1] /= self.length

    @property
    def back(self) -> np.ndarray:
        """Matrix that takes coefficients of these rows to those of the columns."""
        back = np.diag(1 / self.length)
        if not self.intercept:
            return back
        n_features = len(self.length)
        full = np.zeros((n_features + 1, n_features + 1))
        full[0, 0] = 1 / np.sqrt(self.n_rows)
        full[0, 1:] = -self.centre[:-1] / self.length
        full[1:, 1:] = back
        return full


@dataclass(frozen=True, eq=False)
class _Fit:
    """Coefficients of columns of length one, from products of all rows."""

    gram: np.ndarray
    inverse: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def of(cls, products: np.ndarray, names: list[str]) -> "_Fit":
        """Solve, unless a feature is a combination of those before it."""
        gram = products[:-1, :-1]
        for position, name in enumerate(names):
            before = gram[:position, :position]
            shared = gram[:position, position]
            left = gram[position, position] - shared @ np.linalg.solve(before, shared)
            if left < COLLINEAR:
                raise OptionError(
                    f"feature {name!r} is a combination of "
                    f"{', '.join(names[:position])}: leave it out"
                )
        inverse = np.linalg.inv(gram)
        return cls(gram, inverse, inverse @ products[:-1, -1])


def _estimates(
    fit: _Fit, scale: _Scale, deletions: list[Deletions], is_satterthwaite: bool
) -> Estimates:
    """Name the coefficients and join what leaving out clusters does to them."""
    value = pd.Series(scale.back @ fit.coefficients, index=scale.names)
    if scale.intercept:
        value["intercept"] += scale.centre[-1]
    fewest = np.minimum.reduce([each.effective for each in deletions[:2]])
    degrees = fewest if is_satterthwaite else np.maximum(fewest - 1, 1.0)
    return Estimates(value, tuple(each.covariance() for each in deletions), degrees)


def _codes(labels: pd.DataFrame) -> list[np.ndarray]:
    """Number the clusters of each kind, of two kinds also the cells."""
    kinds = [pd.factorize(labels[column])[0].astype(np.int32) for column in labels]
    if len(kinds) == 2:
        kinds.append(_pairs(*kinds))
    return kinds


def _pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A number for each pair of two codes; not every number occurs."""
    return first.astype(np.int64) * (int(second.max()) + 1) + second


# Leaving out clusters ------------------------------------------------------------


def _leave_out(
    rows: np.ndarray,
    codes: np.ndarray,
    fit: _Fit,
    back: np.ndarray,
    *,
    is_satterthwaite: bool = False,
) -> Deletions:
    """Leave out each cluster of rows, which hold features and residuals."""
    order = np.argsort(codes)
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    is_single = sizes == 1
    kind = _Kind(fit, back)
    if not is_satterthwaite and is_single.mean() > 0.5:
        kind.add_rows(rows, order[starts[is_single]])
        in_larger = ~np.repeat(is_single, sizes)
        order = order[in_larger]
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for grams in _grams(rows, order, starts):
        kind.add_grams(grams)
    return kind.deletions(is_satterthwaite=is_satterthwaite)


def _grams(rows: np.ndarray, order: np.ndarray, starts: np.ndarray) -> Iterator:
    """Products of the columns, summed by cluster, for some clusters at a time."""
    n_columns = rows.shape[1]
    left, right = np.triu_indices(n_columns)
    ends = np.append(starts[1:], len(order))
    first = 0
    while first < len(starts):
        last = np.searchsorted(starts, starts[first] + ROWS_AT_ONCE)
        block = slice(starts[first], ends[last - 1])
        columns = rows[order[block]].T.copy()
        products = columns[left] * columns[right]
        within_block = starts[first:last] - starts[first]
        summed = np.add.reduceat(products, within_block, axis=1)
        grams = np.empty((last - first, n_columns, n_columns))
        grams[:, left, right] = summed.T
        grams[:, right, left] = summed.T
        yield grams
        first = last


class _Kind:
    """Adds up what leaving out the clusters of one kind does."""

    def __init__(self, fit: _Fit, back: np.ndarray):
        n_coefficients = len(back)
        self.fit = fit
        self.back = back
        self.n_clusters = 0
        self.squares = np.zeros((n_coefficients, n_coefficients))
        self.information = np.zeros(n_coefficients)
        self.squared_information = np.zeros(n_coefficients)
        self.satterthwaite = _Satterthwaite(n_coefficients)

    def add_rows(self, rows: np.ndarray, positions: np.ndarray) -> None:
        """Leave out single rows, by their leverage."""
        for start in range(0, len(positions), ROWS_AT_ONCE):
            block = rows[positions[start : start + ROWS_AT_ONCE]]
            weights = block[:, :-1] @ self.fit.inverse
            leverage = (weights * block[:, :-1]).sum(axis=1)
            is_safe = leverage < NEARLY_ONE
            changes = weights * (block[:, -1] / (1 - leverage))[:, None]
            changes = changes[is_safe] @ self.back.T
            self.squares += changes.T @ changes
            self.n_clusters += len(changes)
            self._add_information((weights[is_safe] @ self.back.T) ** 2)
            alone = block[~is_safe]
            if len(alone):
                self.add_grams(alone[:, :, None] * alone[:, None, :])

    def add_grams(self, grams: np.ndarray) -> None:
        """Leave out clusters, by their products of features and residuals."""
        removed = grams[:, :-1, :-1]
        inverses, is_known = _inverses(self.fit.gram - removed)
        changes = (inverses @ grams[:, :-1, [-1]])[:, :, 0] @ self.back.T
        needs = self.back != 0
        is_lost = (~is_known).astype(float) @ needs.T > 0
        changes[is_lost] = np.nan
        self.squares += changes.T @ changes
        self.n_clusters += len(grams)
        weights = self.fit.inverse @ self.back.T
        of_clusters = np.einsum(
            "ij,gik,kj->gj", weights, removed, weights, optimize=True
        )
        self._add_information(of_clusters)
        self.satterthwaite.add(removed, inverses @ self.back.T, self.fit.inverse)

    def _add_information(self, information: np.ndarray) -> None:
        """Add what each cluster tells about each coefficient."""
        self.information += information.sum(axis=0)
        self.squared_information += (information**2).sum(axis=0)

    def deletions(self, *, is_satterthwaite: bool) -> Deletions:
        """Join the parts."""
        effective = ratio(self.information**2, self.squared_information)
        if is_satterthwaite:
            effective = self.satterthwaite.degrees(self.fit.inverse)
        return Deletions(self.n_clusters, self.squares, effective)


def _inverses(grams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Invert matrices; say which coefficients of each are determined."""
    is_known = np.ones(grams.shape[:2], dtype=bool)
    try:
        roots = np.linalg.cholesky(grams)
        smallest = np.diagonal(roots, axis1=1, axis2=2).min()
        if smallest**2 > np.sqrt(COLLINEAR):
            return np.linalg.inv(grams), is_known
    except np.linalg.LinAlgError:
        pass
    inverses = np.linalg.pinv(grams, rcond=COLLINEAR, hermitian=True)
    off = np.abs(inverses @ grams - np.eye(grams.shape[1])).max(axis=2)
    return inverses, off < np.sqrt(COLLINEAR)


class _Satterthwaite:
    """Degrees of freedom of leave-one-out variances for independent, equal errors.

    The change of a coefficient without cluster g is a weighted sum of errors. With D_g
    the cluster's products, u_g = (A - D_g)⁻¹b and s_g = D_g u_g, the covariances of
    these changes are u_g's_g on the diagonal, less s_g'A⁻¹s_h. Their trace and their
    sum of squares need sums over clusters only, no matrix of all pairs of them.
    """

    def __init__(self, n_coefficients: int):
        self.trace = np.zeros(n_coefficients)
        self.squares = np.zeros(n_coefficients)
        self.products = np.zeros((n_coefficients, n_coefficients, n_coefficients))

    def add(self, removed: np.ndarray, u: np.ndarray, inverse: np.ndarray) -> None:
        """Add clusters."""
        s = removed @ u
        own = (u * s).sum(axis=1)
        shared = (s * (inverse @ s)).sum(axis=1)
        self.trace += (own - shared).sum(axis=0)
        self.squares += (own**2 - 2 * own * shared).sum(axis=0)
        self.products += np.einsum("gij,gkj->jik", s, s, optimize=True)

    def degrees(self, inverse: np.ndarray) -> np.ndarray:
        """Squared trace over the sum of squares."""
        both = inverse @ self.products
        squares = self.squares + np.trace(both @ both, axis1=1, axis2=2)
        return self.trace**2 / squares


# Within raters -------------------------------------------------------------------


def _subtract_means(
    values: np.ndarray, raters: np.ndarray, features: list[str], within: str
) -> None:
    """Subtract each rater's means; refuse a feature that varies within none."""
    values -= values.mean(axis=0)
    squares = _squares(values)
    n = np.bincount(raters)
    for position, column in enumerate(values.T):
        means = np.bincount(raters, column) / n
        values[:, position] -= means[raters]
    left = _squares(values)
    for name, is_constant in zip(
        features, left <= NO_VARIATION * squares, strict=False
    ):
        if is_constant:
            raise OptionError(
                f"feature {name!r} does not vary within any {within!r}: leave it out, "
                "or leave out `within`"
            )


def _squares(values: np.ndarray) -> np.ndarray:
    """Sum of squares of each column."""
    return np.einsum("ij,ij->j", values, values)


def _varies_by_rater(x: np.ndarray, raters: np.ndarray) -> np.ndarray:
    """Mark the rows of raters for whom any feature varies."""
    of_raters = np.bincount(raters, x**2 @ (1 / _squares(x)))
    return of_raters[raters] > NO_VARIATION


def _with_means_moved(
    rows: np.ndarray, raters: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose products are what a rater's sums of squares lose without a cluster.

    Without m of a rater's n rows the mean moves as well. With t the sum of these rows
    (less the rater's mean), the rater's products lose those of the rows and tt'/(n - m)
    more: one more row, t / √(n - m). For a single row both are the row times
    √(n / (n - 1)).
    """
    n_of_rater = np.bincount(raters)
    parts, _ = pd.factorize(_pairs(raters, codes))
    m = np.bincount(parts)
    first = np.unique(parts, return_index=True)[1]
    n = n_of_rater[raters[first]]
    is_single = (m == 1) & (n > 1)
    factor = np.ones(len(m))
    factor[is_single] = np.sqrt(n[is_single] / (n[is_single] - 1))
    own = rows * factor[parts][:, None]
    more = (m > 1) & (n > m)
    if not more.any():
        return own, codes
    summed = [np.bincount(parts, column)[more] for column in rows.T]
    extra = np.column_stack(summed) / np.sqrt(n - m)[more, None]
    extra_codes = codes[first[more]]
    return np.concatenate([own, extra]), np.concatenate([codes, extra_codes])


def _refuse_singular(
    rows: np.ndarray, codes: np.ndarray, fit: _Fit, names: list[str], where: pd.Series
) -> None:
    """Name the cluster and the feature of a deletion that leaves nothing to fit."""
    for number in np.unique(codes):
        removed = rows[codes == number, :-1]
        _, is_known = _inverses((fit.gram - removed.T @ removed)[None])
        if not is_known.all():
            break
    feature = names[int(np.argmin(is_known[0]))]
    label = where.tolist()[int(np.argmax(codes == number))]
    raise OptionError(
        f"without {where.name!r} {label!r} the weight of {feature!r} within raters is "
        "not known: the feature varies too rarely. Leave it out, or compare between "
        "raters, too (without `within`)"
    )


def _within_two(
    frame: pd.DataFrame,
    features: list[str],
    outcome: str,
    clusters: list[str],
    held: list[str],
) -> Estimates:
    """Least squares with a constant for each label of two columns."""
    check_clusters(frame, clusters)
    rows = _rows(frame, [*features, outcome], False)
    codes = [pd.factorize(frame[column])[0] for column in held]
    squares = _squares(rows - rows.mean(axis=0))
    _subtract_effects(rows, *codes)
    is_constant = _squares(rows) <= NO_VARIATION * squares
    for name, constant in zip(features, is_constant[:-1], strict=True):
        if constant:
            raise OptionError(
                f"feature {name!r} does not vary once {held[0]!r} and {held[1]!r} are "
                "held equal: leave it out, or hold one of the two only"
            )
    scale = _Scale.of(rows, features, outcome, False)
    scale.apply(rows)
    fit = _Fit.of(rows.T @ rows, features)
    rows[:, -1] -= rows[:, :-1] @ fit.coefficients
    deletions = []
    for number, of_clusters in enumerate(_codes(frame[clusters])):
        found = _leave_out(rows, of_clusters, fit, scale.back)
        deletions.append(found)
        if np.isnan(found.squares).any():
            where = frame[clusters[min(number, 1)]]
            _refuse_singular(rows, of_clusters, fit, features, where)
    return _estimates(fit, scale, deletions, False)


def _subtract_effects(rows: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """Subtract what constants for each label of two columns explain."""
    large, small = first, second
    if first.max() < second.max():
        large, small = second, first
    n_large = np.bincount(large)
    n_small = np.bincount(small)
    ones = np.ones(len(rows))
    counts = csr_array((ones, (large, small)), (len(n_large), len(n_small)))
    shares = csr_array((1 / n_large[large], (large, small)), counts.shape)
    # normal equations of the smaller column's constants within the larger one
    normal = np.diag(n_small.astype(float)) - (counts.T @ shares).toarray()
    rows -= rows.mean(axis=0)
    means = _summed(rows, large) / n_large[:, None]
    rows -= means[large]
    effects = np.linalg.pinv(normal, hermitian=True) @ _summed(rows, small)
    rows -= effects[small] - (shares @ effects)[large]


# Outcomes from 0 to 1 ------------------------------------------------------------


def logistic(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    clusters: Sequence[str],
) -> Estimates:
    """Logistic regression without an intercept, with each cluster left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per comparison or rating; every row is used.
    features : sequence of str
        Numeric columns that explain; for an intercept add a column of ones.
    outcome : str
        Column from 0 to 1. Values between, such as one half for a tie, count as that
        share of a success (quasi-likelihood).
    clusters : sequence of str
        One or two columns.

    Returns
    -------
    Estimates
        Log-odds per unit of each feature. Without a cluster they move by one Newton
        step, so that a cluster of one row counts in closed form as well.

    Raises
    ------
    OptionError
        If a feature is a combination of others, a combination of features predicts the
        outcome without error, or the clusters cannot be used.

    References
    ----------
    Papke and Wooldridge (1996), Econometric Methods for Fractional Response Variables;
    MacKinnon, Nielsen and Webb (2025), Cluster-Robust Jackknife and Bootstrap Inference
    for Logistic Regression Models (the linearised CV3).

    Examples
    --------
    >>> frame = pd.DataFrame({"one": 1.0, "won": [1, 1, 0, 1, 0.5, 1] * 2})
    >>> frame["prompt_id"] = np.arange(12) // 3
    >>> logistic(frame, ["one"], "won", ["prompt_id"]).table().round(2)
         estimate  standard_error   low  high  p_value   df
    one       1.1            0.26  0.28  1.92     0.02  3.0
    """
    features = list(features)
    check_clusters(frame, clusters)
    rows = _rows(frame, [*features, outcome], False)
    scale = _Scale.of(rows, features, outcome, False)
    scale.apply(rows)
    x = rows[:, :-1]
    _Fit.of(rows.T @ rows, features)  # refuses combinations
    coefficients = _solve_logistic(x, rows[:, -1], outcome)
    expected = expit(x @ coefficients)
    root = np.sqrt(expected * (1 - expected))
    rows[:, -1] = (rows[:, -1] - expected) / root
    rows[:, :-1] *= root[:, None]
    gram = rows[:, :-1].T @ rows[:, :-1]
    fit = _Fit(gram, np.linalg.inv(gram), coefficients)
    deletions = [
        _leave_out(rows, codes, fit, scale.back) for codes in _codes(frame[clusters])
    ]
    return _estimates(fit, scale, deletions, False)


def _solve_logistic(x: np.ndarray, y: np.ndarray, outcome: str) -> np.ndarray:
    """Newton's method; stop where the likelihood has no maximum."""
    coefficients = np.zeros(x.shape[1])
    for _ in range(MAX_NEWTON_STEPS):
        expected = expit(x @ coefficients)
        weights = expected * (1 - expected)
        try:
            step = np.linalg.solve(x.T @ (x * weights[:, None]), x.T @ (y - expected))
        except np.linalg.LinAlgError:
            break
        change = np.abs(x @ step).max()
        coefficients += step * min(1.0, LARGEST_LOGIT_STEP / max(change, 1e-300))
        if np.abs(x @ coefficients).max() > LARGEST_LOGIT:
            break
        if change < LOGIT_TOLERANCE:
            return coefficients
    raise OptionError(
        f"a combination of the features predicts {outcome!r} without error, so that no "
        "finite weights fit best: leave a feature out, or collect more data"
    )


# Large tables --------------------------------------------------------------------


def _least_squares_large(
    frame: object,
    features: list[str],
    outcome: str,
    clusters: list[str],
    intercept: bool,
) -> Estimates:
    """Least squares of a Dask DataFrame, from products summed by cell."""
    columns = [*features, outcome]
    centre = computed(frame[columns].mean()).to_numpy() * intercept
    centred = [frame[name] - at for name, at in zip(columns, centre, strict=True)]
    if intercept:
        centred.insert(0, 0 * centred[0] + 1.0)
    left, right = np.triu_indices(len(centred))
    terms = frame[clusters]
    for i, j in zip(left, right, strict=True):
        terms = terms.assign(**{f"{i} {j}": centred[i] * centred[j]})
    labels = [f"{i} {j}" for i, j in zip(left, right, strict=True)]
    sums = cluster_sums(terms, labels, clusters)

    def grams(summed: np.ndarray) -> np.ndarray:
        full = np.empty((len(summed), len(centred), len(centred)))
        full[:, left, right] = summed
        full[:, right, left] = summed
        return full

    total = grams(sums.total[None])[0]
    squares = np.diagonal(total)[int(intercept) :]
    n_rows = computed(frame[outcome].count())
    scale = _Scale.from_squares(centre, squares, n_rows, features, outcome, intercept)
    length = np.ones(len(centred))
    length[:-1] = np.sqrt(np.diagonal(total))[:-1]
    unit = np.outer(length, length)
    fit = _Fit.of(total / unit, scale.names)
    to_residual = np.eye(len(centred))
    to_residual[:-1, -1] = -fit.coefficients
    is_satterthwaite = len(clusters) == 1
    deletions = []
    for removed in sums.removed:
        kind = _Kind(fit, scale.back)
        for start in range(0, len(removed), ROWS_AT_ONCE):
            block = grams(removed[start : start + ROWS_AT_ONCE]) / unit
            kind.add_grams(to_residual.T @ block @ to_residual)
        deletions.append(kind.deletions(is_satterthwaite=is_satterthwaite))
    return _estimates(fit, scale, deletions, is_satterthwaite)


# Means over raters ---------------------------------------------------------------


def least_squares_of_means(
    ratings: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    item: str,
    clusters: Sequence[str],
    *,
    rater: str = "rater_id",
) -> Estimates:
    """Least squares on means over the ratings of each item.

    The variance by prompts is that of leaving each out (CR3). To leave one of a few
    raters out would move an item's mean by too much; here the items' weights stay, and
    a rater counts by the derivative of the coefficients with respect to the rater's
    weight (the infinitesimal jackknife, IJ): V(prompts) + max(0, IJ(raters) -
    IJ(cells)).

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per rating; NaN in the features or the outcome that it does not give,
        for example if some people label errors and others give scores. A feature that
        is known for each item, such as a label that stays as it is, stands in all of
        the item's rows.
    features : sequence of str
        Columns whose item means explain.
    outcome : str
        Column whose item mean is explained.
    item : str
        Column of items. An item without a mean of each column is left out.
    clusters : sequence of str
        Columns of raters and of prompts, or one of them.
    rater : str, optional
        Which of them is that of raters.

    Returns
    -------
    Estimates
        As from `least_squares`; degrees of freedom are the fewest effective clusters
        less one, at least one.

    Raises
    ------
    OptionError
        As `least_squares`.

    References
    ----------
    Jaeckel (1972), The Infinitesimal Jackknife; Efron and Tibshirani (1993), chapter
    22.

    Examples
    --------
    >>> ratings = pd.DataFrame({"answer": list("aabbccdd"),
    ...                         "prompt_id": list("ppqqrrss"),
    ...                         "rater_id": list("wxyzwxyz"),
    ...                         "refusal": [0, 0, 1, 1, 0, 0, 1, 1],
    ...                         "score": [4, 5, 2, 1, 5, 4, 2, 3]})
    >>> found = least_squares_of_means(
    ...     ratings, ["refusal"], "score", "answer", ["rater_id", "prompt_id"])
    >>> found.value.round(2)
    intercept    4.5
    refusal     -2.5
    dtype: float64
    """
    features = list(features)
    columns = [*features, outcome]
    clusters = list(clusters)
    prompts = [column for column in clusters if column != rater]
    check_one_per_item(ratings, item, prompts)
    means = ratings.groupby(item)[columns].mean().dropna()
    ratings = ratings[ratings[item].isin(means.index)]
    check_clusters(ratings, clusters)
    rows = _rows(means, columns, True)
    scale = _Scale.of(rows[:, 1:], features, outcome, True)
    scale.apply(rows)
    fit = _Fit.of(rows.T @ rows, scale.names)
    rows[:, -1] -= rows[:, :-1] @ fit.coefficients

    codes = means.index.get_indexer(ratings[item])
    influence = _influence_of_ratings(ratings, columns, codes, scale, fit, rows)
    leverage = (rows[:, :-1] @ fit.inverse @ scale.back.T) ** 2
    shares = leverage[codes] / np.bincount(codes)[codes, None]
    deletions = []
    kinds = [*clusters, "cell"][: 2 * len(clusters) - 1]
    for kind, of_ratings in zip(kinds, _codes(ratings[clusters]), strict=True):
        effective = effective_number(_summed(shares, of_ratings))
        if kind in prompts:
            first = np.unique(codes, return_index=True)[1]
            of_items = of_ratings[first]
            found = _leave_out(rows, of_items, fit, scale.back)
        else:
            changes = _summed(influence, of_ratings)
            n = len(changes)
            # a sum of squares, which `covariance` is not to shrink
            found = Deletions(n, changes.T @ changes * n / (n - 1), effective)
        deletions.append(Deletions(found.n_clusters, found.squares, effective))
    return _estimates(fit, scale, deletions, False)


def _influence_of_ratings(
    ratings: pd.DataFrame,
    columns: list[str],
    items: np.ndarray,
    scale: _Scale,
    fit: _Fit,
    rows: np.ndarray,
) -> np.ndarray:
    """Derivatives of the coefficients with respect to the weight of each rating."""
    values = ratings[columns].to_numpy(dtype=float)
    is_known = ~np.isnan(values)
    n = np.column_stack([np.bincount(items, known) for known in is_known.T])
    first = int(scale.intercept)
    own = np.zeros((len(values), rows.shape[1]))
    own[:, first:] = np.where(is_known, values - scale.centre, 0.0)
    own[:, first:-1] /= scale.length
    means = rows.copy()
    means[:, -1] += rows[:, :-1] @ fit.coefficients
    moved = np.where(is_known, (own - means[items])[:, first:] / n[items], 0.0)
    moved_x = np.zeros_like(own[:, :-1])
    moved_x[:, first:] = moved[:, :-1]
    moved_residual = moved[:, -1] - moved_x @ fit.coefficients
    of_items = rows[items]
    score = moved_x * of_items[:, [-1]] + of_items[:, :-1] * moved_residual[:, None]
    return score @ fit.inverse @ scale.back.T


def _summed(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sums of rows by code."""
    return np.column_stack([np.bincount(codes, column) for column in values.T])


# Lasso ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Draws:
    """Estimates with bootstrap draws.

    Parameters
    ----------
    value : pandas.Series
        The estimates by name.
    draws : numpy.ndarray, shape (n_boot, n_estimates)
    """

    value: pd.Series
    draws: np.ndarray

    def table(self) -> pd.DataFrame:
        """Set out ``estimate``, ``low``, ``high`` and ``selected``, the share not 0."""
        low, high = percentile_interval(self.draws)
        values = {"estimate": self.value, "low": low, "high": high}
        return pd.DataFrame(values).assign(selected=(self.draws != 0).mean(axis=0))

    def difference(self, first: object, second: object) -> "Draws":
        """Subtract one estimate from another."""
        places = [self.value.index.get_loc(name) for name in (first, second)]
        name = f"{first} - {second}"
        value = pd.Series({name: self.value[first] - self.value[second]})
        draws = self.draws[:, places]
        return Draws(value, draws[:, [0]] - draws[:, [1]])


def lasso(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    alpha: float,
    clusters: Sequence[str],
    *,
    n_boot: int = 2000,
    seed: int = 0,
) -> Draws:
    """Lasso weights with an intercept, and those of resampled clusters.

    Minimises ‖y - Xw - b‖² / (2n) + alpha ‖w‖₁, the objective of scikit-learn, from
    products summed by cell of the clusters.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Numeric columns that explain.
    outcome : str
        Numeric column to explain.
    alpha : float
        Penalty, positive.
    clusters : sequence of str
        One or two columns; see `helpers.intervals.times_drawn`.
    n_boot, seed : int, optional
        Number of resamples, and the seed of their random numbers.

    Returns
    -------
    Draws
        A feature that does not vary has weight 0.

    Raises
    ------
    OptionError
        If a column is constant or a cluster cannot be used.

    References
    ----------
    Tibshirani (1996); Friedman, Hastie and Tibshirani (2010), section 2.2; Chatterjee
    and Lahiri (2011), Bootstrapping Lasso Estimators: around a weight whose truth is
    zero the draws are not those of its estimate, so read ``selected``, too.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 8, "lower": [0.0, 3] * 8})
    >>> frame["prompt_id"] = np.arange(16) // 4
    >>> lasso(frame, ["refusal"], "lower", 0.05, ["prompt_id"], n_boot=10).table()
             estimate  low  high  selected
    refusal       2.8  2.8   2.8       1.0
    """
    features = list(features)
    clusters = list(clusters)
    check_clusters(frame, clusters)
    rows = _rows(frame, [*features, outcome], True)
    scale = _Scale.of(rows[:, 1:], features, outcome, True)
    scale.apply(rows)
    cells = _codes(frame[clusters])[-1]
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    grams = np.concatenate(list(_grams(rows, order, starts)))
    drawn = times_drawn(frame[clusters].iloc[order[starts]], n_boot, seed)
    with_all = np.vstack([np.ones(len(starts)), drawn])
    products = (with_all @ grams.reshape(len(starts), -1)).reshape(-1, *grams.shape[1:])
    n = products[:, :1, :1] * scale.n_rows
    means = products[:, 0] * np.sqrt(scale.n_rows) / n[:, 0]
    covariance = products / n - means[:, :, None] * means[:, None, :]
    # the first column is the intercept's
    gram = covariance[:, 1:-1, 1:-1] * np.outer(scale.length, scale.length)
    cross = covariance[:, 1:-1, -1] * scale.length
    weights = solve_lasso(gram, cross, alpha)
    return Draws(pd.Series(weights[0], index=features), weights[1:])


def solve_lasso(gram: np.ndarray, cross: np.ndarray, alpha: float) -> np.ndarray:
    """Minimise wᵀGw / 2 - cᵀw + alpha ‖w‖₁ for each Gram matrix G and vector c.

    Coordinate descent on covariances (Friedman, Hastie and Tibshirani 2010), for
    matrices of shape (n_problems, n_features, n_features) at once.
    """
    if not alpha > 0:
        raise OptionError(
            f"alpha must be positive, got {alpha}: without a penalty use least squares"
        )
    # problems on the last axis, so that each step runs along them in memory
    gram = gram.transpose(1, 2, 0).copy()
    left = cross.T.copy()  # covariance of each feature with the residual
    weights = np.zeros_like(left)
    variances = np.einsum("iib->ib", gram)
    varies = variances > COLLINEAR * variances.max(axis=1, keepdims=True)
    divisors = np.where(varies, variances, 1.0)
    tolerance = TOLERANCE * np.abs(left).max(axis=0)
    for _ in range(MAX_SWEEPS):
        largest = np.zeros_like(tolerance)
        for feature, shared in enumerate(gram):
            partial = left[feature] + variances[feature] * weights[feature]
            # move by alpha towards zero, and stop there
            shrunk = partial - np.clip(partial, -alpha, alpha)
            updated = np.where(varies[feature], shrunk / divisors[feature], 0.0)
            change = updated - weights[feature]
            left -= shared * change
            weights[feature] = updated
            np.maximum(largest, np.abs(change) * variances[feature], out=largest)
        if (largest <= tolerance).all():
            return weights.T
    raise OptionError(
        f"the Lasso is not solved after {MAX_SWEEPS} sweeps: raise alpha, or leave out "
        "one of the features that are nearly the same"
    )
