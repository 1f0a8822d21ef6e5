"""How often printed intervals hold the truth, summed up from counts."""

import pandas as pd
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from helpers.stats.bootstrap import adjust

NOMINAL = 0.95
AT_ONCE = "at once"  # ends the names of intervals that are meant to hold together
TRUTH_ZERO = ", truth zero"
# ends of names: these hold the truth nearly always
CONSERVATIVE = (TRUTH_ZERO, "(Hoeffding)")


def coverage_table(counts: pd.DataFrame) -> pd.DataFrame:
    """Summarise coverage by kind of interval.

    Parameters
    ----------
    counts : pandas.DataFrame
        Result of `measure_all`.

    Returns
    -------
    pandas.DataFrame
        A row per kind: the notebooks it is ``printed in``, the number of
        ``statistics``, their mean coverage (``estimate``, with ``low`` and ``high`` for
        the chance of simulation), the ``lowest`` and ``where`` it is, how many are
        ``too low`` (below 95 % by binomial tests, Holm's correction within the kind),
        and the share ``undefined``.
    """
    kinds = counts.groupby("interval", sort=False)
    return pd.DataFrame(
        {kind: _summary(rows) for kind, rows in kinds}
    ).T.infer_objects()


def _summary(counts: pd.DataFrame) -> pd.Series:
    """Average coverage of several statistics, and the lowest of them."""
    n_sets = counts["covered"] + counts["missed"]
    counts, n_sets = counts[n_sets > 0], n_sets[n_sets > 0]
    each = counts["covered"] / n_sets
    share, effective = each.mean(), counts["effective"].mean()
    low, high = proportion_confint(share * effective, effective, method="wilson")
    tests = binom.cdf(counts["covered"], n_sets, NOMINAL)
    where = each.index.get_level_values("statistic")[each.argmin()]
    return pd.Series(
        {
            "printed in": ", ".join(sorted(counts.index.unique("notebook"))),
            "statistics": len(each),
            "estimate": float(share),
            "low": low,
            "high": high,
            "lowest": float(each.min()),
            "where": where.partition(": ")[2],
            "too low": int((adjust(tests) < 0.05).sum()),
            "undefined": float(
                (counts["undefined"] / (n_sets + counts["undefined"])).mean()
            ),
        }
    )
