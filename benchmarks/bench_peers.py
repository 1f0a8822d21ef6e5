"""The same numbers by the package and by what people would use instead, in one table.

Run `python benchmarks/bench_peers.py`. Peers that are not installed are named and
skipped (`pip install pyfixest krippendorff`). Times are those of the processor, one run
each: the peers' runs are long enough.
"""

import argparse
import importlib.util
from collections.abc import Callable
from time import process_time

import numpy as np
import pandas as pd

from helpers import intervals, regression, reliability

ALPHA = 0.01
N_BOOT = 2000
N_SLOW = 50  # resamples of the slow side, which is scaled
FEATURES = [f"error_{number}" for number in range(10)]
BOTH = ["rater_id", "prompt_id"]


def simulate(n_rows: int, n_raters: int, n_prompts: int) -> pd.DataFrame:
    """Ten errors of 0 or 1, and a score that raters and prompts share a part of."""
    rng = np.random.default_rng(0)
    rater = rng.integers(n_raters, size=n_rows)
    prompt = np.arange(n_rows) % n_prompts
    errors = (rng.random((n_rows, 10)) < np.linspace(0.05, 0.3, 10)).astype(float)
    score = 4 - errors @ np.linspace(0, 1, 10) + rng.normal(size=n_rows)
    score += rng.normal(size=n_raters)[rater] + rng.normal(size=n_prompts)[prompt]
    frame = pd.DataFrame(errors, columns=FEATURES)
    return frame.assign(score=score, rater_id=rater, prompt_id=prompt)


def timed(compute: Callable, *arguments: object) -> tuple[float, object]:
    """Processor seconds of one run, and its result."""
    started = process_time()
    result = compute(*arguments)
    return process_time() - started, result


def ours(frame: pd.DataFrame) -> intervals.Estimates:
    """Two-way CRV3 of the package."""
    return regression.least_squares(frame, FEATURES, "score", BOTH)


def by_pyfixest(frame: pd.DataFrame) -> list[np.ndarray]:
    """Standard errors by raters, by prompts and by both, of one fit each."""
    pyfixest = importlib.import_module("pyfixest")
    formula = f"score ~ {' + '.join(FEATURES)}"
    none = pyfixest.ssc(k_adj=False, G_adj=False)
    errors = []
    for clusters in [*BOTH, "+".join(BOTH)]:
        fit = pyfixest.feols(formula, frame, vcov={"CRV3": clusters}, ssc=none)
        errors.append(fit.se().to_numpy())
    return errors


def difference_from_pyfixest(
    found: intervals.Estimates, frame: pd.DataFrame, errors: list[np.ndarray]
) -> float:
    """Largest relative difference of standard errors by raters and by prompts."""
    largest = 0.0
    for column, covariance, error in zip(
        BOTH, found.covariances[:2], errors[:2], strict=True
    ):
        n = frame[column].nunique()
        # pyfixest leaves out the jackknife's factor
        own = np.sqrt(np.diagonal(covariance) * n / (n - 1))
        largest = max(largest, np.abs(own / error - 1).max())
    return largest


def by_statsmodels(frame: pd.DataFrame) -> np.ndarray:
    """Two-way standard errors without leaving out clusters (CR1)."""
    api = importlib.import_module("statsmodels.api")
    sandwich = importlib.import_module("statsmodels.stats.sandwich_covariance")
    fit = api.OLS(frame["score"], api.add_constant(frame[FEATURES])).fit()
    groups = [frame[column].to_numpy() for column in BOTH]
    return np.sqrt(np.diagonal(sandwich.cov_cluster_2groups(fit, *groups)[0]))


def our_lasso(frame: pd.DataFrame) -> np.ndarray:
    """Lasso weights of resampled prompts."""
    draws = regression.lasso(
        frame, FEATURES, "score", ALPHA, ["prompt_id"], n_boot=N_BOOT
    )
    return draws.draws


def by_scikit_learn(frame: pd.DataFrame) -> np.ndarray:
    """The same, fitted to the rows of some resamples."""
    linear_model = importlib.import_module("sklearn.linear_model")
    weights = []
    for times in intervals.times_drawn(frame[["prompt_id"]], N_BOOT, 0)[:N_SLOW]:
        model = linear_model.Lasso(alpha=ALPHA, tol=1e-9)
        model.fit(frame[FEATURES], frame["score"], sample_weight=times)
        weights.append(model.coef_)
    return np.array(weights)


def labels(n_items: int) -> pd.DataFrame:
    """Five labels of each item, by raters who are drawn from 80."""
    rng = np.random.default_rng(1)
    item = np.repeat(np.arange(n_items), 5)
    chance = rng.beta(0.5, 1.5, n_items)
    raters = [rng.permutation(80)[:5] for _ in range(n_items)]
    frame = pd.DataFrame({"item_id": item, "rater_id": np.concatenate(raters)})
    frame["prompt_id"] = item // 5
    frame["label"] = (rng.random(len(item)) < chance[item]).astype(float)
    return frame


def our_alpha(frame: pd.DataFrame) -> float:
    """Alpha with raters, prompts and cells left out."""
    table = reliability.agreement_table(
        frame,
        ["label"],
        ["alpha"],
        item="item_id",
        rater="rater_id",
        clusters=BOTH,
        level="nominal",
    )
    return table["estimate"].item()


def by_krippendorff(frame: pd.DataFrame) -> float:
    """Alpha of all items, and of resampled items."""
    krippendorff = importlib.import_module("krippendorff")
    wide = frame.pivot_table("label", "rater_id", "item_id").to_numpy()
    rng = np.random.default_rng(0)
    for _ in range(N_SLOW):
        items = rng.integers(wide.shape[1], size=wide.shape[1])
        krippendorff.alpha(wide[:, items], level_of_measurement="nominal")
    return krippendorff.alpha(wide, level_of_measurement="nominal")


def compared(largest: int) -> list[dict]:
    """A row for each comparison."""
    rows = []
    for n_rows, n_raters, n_prompts in [(4440, 220, 180), (largest, 1000, 2000)]:
        frame = simulate(n_rows, n_raters, n_prompts)
        seconds, found = timed(ours, frame)
        if importlib.util.find_spec("pyfixest"):
            theirs, errors = timed(by_pyfixest, frame)
            rows.append(
                {
                    "what": f"CRV3 by raters, by prompts, by both; {n_rows:,} rows",
                    "peer": "pyfixest",
                    "peer s": theirs,
                    "ours s": seconds,
                    "largest difference": difference_from_pyfixest(
                        found, frame, errors
                    ),
                }
            )
        theirs, _ = timed(by_statsmodels, frame)
        rows.append(
            {
                "what": f"two-way standard errors (theirs CR1), {n_rows:,} rows",
                "peer": "statsmodels",
                "peer s": theirs,
                "ours s": seconds,
                "largest difference": np.nan,
            }
        )
    frame = simulate(900, 220, 180)
    theirs, expected = timed(by_scikit_learn, frame)
    seconds, draws = timed(our_lasso, frame)
    rows.append(
        {
            "what": f"Lasso, {N_BOOT:,} resamples of 180 prompts, 900 rows",
            "peer": "scikit-learn",
            "peer s": theirs * N_BOOT / N_SLOW,
            "ours s": seconds,
            "largest difference": np.abs(draws[:N_SLOW] - expected).max(),
        }
    )
    if importlib.util.find_spec("krippendorff"):
        frame = labels(900)
        theirs, expected = timed(by_krippendorff, frame)
        seconds, alpha = timed(our_alpha, frame)
        rows.append(
            {
                "what": f"alpha, interval, 4,500 labels; theirs {N_BOOT:,} resamples",
                "peer": "krippendorff",
                "peer s": theirs * N_BOOT / N_SLOW,
                "ours s": seconds,
                "largest difference": abs(alpha - expected),
            }
        )
    return rows


def is_installed(peer: str) -> bool:
    """Whether a peer can be asked; says so if not."""
    if importlib.util.find_spec(peer) is not None:
        return True
    print(f"{peer} is not installed: skipped")
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    # what is loaded and compiled once is no part of the times
    small = simulate(500, 20, 20)
    ours(small)
    by_statsmodels(small)
    by_scikit_learn(small)
    if is_installed("pyfixest"):
        by_pyfixest(small)
    is_installed("krippendorff")
    table = pd.DataFrame(compared(parser.parse_args().rows))
    table.insert(4, "ratio", table["peer s"] / table["ours s"])
    formats = {"peer s": "{:.2f}", "ours s": "{:.3f}", "ratio": "{:.1f}"}
    formats["largest difference"] = "{:.0e}"
    for column, text in formats.items():
        table[column] = table[column].map(text.format).replace("nan", "-")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
