"""An audit of the rules of verdicts: what they would notice, and how often they err.

Every printed number that holds is moved, and the rule asked again; studies without any
difference are drawn, and every confirmed difference counted. `python
benchmarks/audit.py` reads what a run of all notebooks entered in build/claims and
writes data/audit.csv.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.claims.collection import read_entered
from helpers.claims.verdicts import HOLDING, assess, judge
from helpers.data.published import published_claims
from helpers.data.tables import to_csv_bytes
from helpers.stats import bootstrap

MOVES = (0.05, 0.10, 0.20, 0.30)
N_STUDIES, N_PROMPTS, N_DRAWS = 2000, 60, 1000
COLUMNS = ["audit", "kind", "evidence", "tried", "share", "inexact"]


def of_rules(claims_dir: str | Path, seed: int = 20261122) -> pd.DataFrame:
    """Join both audits: what was done, kind of claim, evidence, number tried, share.

    The share is that of verdicts that turn; `inexact` that of those that turn no
    further.
    """
    return pd.concat([moved_numbers(claims_dir), false_findings(N_STUDIES, seed)])[
        COLUMNS
    ]


def moved_numbers(claims_dir: str | Path) -> pd.DataFrame:
    """Share of verdicts that turn when printed numbers are moved by 5 to 30 %."""
    published, entered = published_claims(), read_entered(claims_dir)
    numeric = published["published"].str.fullmatch(r"-?[\d.]*[1-9][\d.]*")
    threshold = (published["kind"] == "fact") & (published["direction"] != "")
    judged = assess(entered, published).join(published["kind"])
    movable = (numeric | threshold).reindex(judged.index)
    judged = judged[judged["verdict"].isin(HOLDING) & movable]
    entered = entered[entered["claim_id"].isin(judged.index)]
    tables = []
    for move in MOVES:
        sides = [
            assess(entered, _moved(published, 1 + side * move)) for side in (1, -1)
        ]
        turned = _mean_share([~side["verdict"].isin(HOLDING) for side in sides])
        inexact = _mean_share([side["verdict"] == "inexact" for side in sides])
        shares = pd.DataFrame({"share": turned, "inexact": inexact})
        by = shares.groupby([judged["kind"], judged["evidence"]])
        table = by.mean().assign(tried=2 * by.size()).reset_index()
        tables.append(table.assign(audit=f"printed number moved by {100 * move:.0f} %"))
    return pd.concat(tables)


def _mean_share(sides: list[pd.Series]) -> pd.Series:
    """Share of moves, up and down, of which something is true, by claim."""
    return sum(side.astype(float) for side in sides) / len(sides)


def _moved(published: pd.DataFrame, factor: float) -> pd.DataFrame:
    """Multiply all printed numbers and thresholds."""

    def moved(text: str) -> str:
        return re.sub(
            r"[\d.]*\d", lambda number: f"{float(number[0]) * factor:.9f}", text
        )

    numeric = published["published"].str.fullmatch(r"-?[\d.]+")
    limits = published["direction"].where(published["kind"] == "fact")
    return published.assign(
        published=published["published"].mask(
            numeric, published["published"].map(moved)
        ),
        direction=limits.map(moved, na_action="ignore").fillna(published["direction"]),
    )


def false_findings(n_studies: int, seed: int) -> pd.DataFrame:
    """Share of studies without any difference in which a rule confirms one, either way.

    A study has five systems that answer the same prompts equally well; prompts differ
    in how easy they are. Prompts are resampled, as the notebooks do.
    """
    rng = np.random.default_rng(seed)
    studies = {"scores": _equal_scores, "marks of a rare error": _equal_marks}
    rows = []
    for name, draw in studies.items():
        found = pd.DataFrame(_confirmed(draw, rng) for _ in range(n_studies)).mean()
        for kind, share in found.items():
            rows.append(
                {"audit": f"no difference, {name}", "kind": kind, "share": share}
            )
    return pd.DataFrame(rows).assign(evidence="simulated", tried=n_studies)


def _equal_scores(rng: np.random.Generator) -> np.ndarray:
    """Mean scores from 1 to 5 of three raters."""
    easy = rng.normal(3.5, 0.7, (N_PROMPTS, 1, 1))
    return np.clip(np.rint(easy + rng.normal(0, 1, (N_PROMPTS, 5, 3))), 1, 5).mean(
        axis=2
    )


def _equal_marks(rng: np.random.Generator) -> np.ndarray:
    """Whether a response has an error, in about one of ten."""
    return (rng.random((N_PROMPTS, 5)) < rng.beta(1, 9, (N_PROMPTS, 1))).astype(float)


def _confirmed(draw: Callable, rng: np.random.Generator) -> dict[str, bool]:
    """Draw a study without differences; say which rules confirm one."""
    values = pd.DataFrame(draw(rng), columns=list("abcde"))
    values["first minus second"] = values["a"] - values["b"]
    values["prompt_id"] = np.arange(N_PROMPTS)
    draws = bootstrap.bootstrap_means(
        values, list(values)[:6], "prompt_id", N_DRAWS, rng
    )
    low, high = np.percentile(draws[:, 5], [2.5, 97.5])
    row = {"estimate": values["first minus second"].mean(), "low": low, "high": high}
    sides = [judge({"kind": "direction", "direction": side}, row) for side in "+-"]
    ahead = [
        np.mean(draws[:, one] > draws[:, other]) for one, other in ((0, 1), (1, 0))
    ]
    two = [judge({"kind": "ranking"}, {"share": share}) for share in ahead]
    first = np.bincount(draws[:, :5].argmax(axis=1), minlength=5) / N_DRAWS
    five = [judge({"kind": "ranking"}, {"share": share}) for share in first]
    return {
        "direction": "confirmed" in sides,
        "ranking of two": "confirmed" in two,
        "first of five": "confirmed" in five,
    }


if __name__ == "__main__":
    table = of_rules(paths.BUILD / "claims")
    paths.replace_files({paths.DATA / "audit.csv": to_csv_bytes(table, index=False)})
    print(table.to_csv(index=False))
