"""The audit of the rules: what moves turn, and how often nothing is confirmed."""

import importlib.util

import pandas as pd
import pytest

from helpers import paths
from helpers.claims.ledger import Ledger

SPEC = importlib.util.spec_from_file_location(
    "audit", paths.ROOT / "benchmarks" / "audit.py"
)
audit = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(audit)


def test_a_move_turns_what_is_judged_by_digits_or_threshold_and_counts_only_what_held(
    tmp_path,
):
    claims = Ledger("11_demo", source="real", out_dir=str(tmp_path))
    claims.enter(
        "hosking",
        {
            "counts.outputs_1": 900,
            "counts.tasks": 4,  # does not hold
            "lasso.zero_weights_below_1": 0.9,  # noticed from 10 % on, on one side
            "agreement.ac1_refusal": 0.944,  # noticed from 10 % on
        },
    )
    claims.write()
    table = audit.moved_numbers(tmp_path / "claims").set_index(["audit", "kind"])
    small, large = (table.loc[f"printed number moved by {move} %"] for move in (5, 30))
    assert small["tried"].to_dict() == {"fact": 4, "number": 2}
    assert small["share"].to_dict() == {"fact": 0.5, "number": 1}
    assert large["share"].to_dict() == {"fact": 0.75, "number": 1}


def test_about_one_study_in_twenty_confirms_a_difference_that_is_not_there():
    table = audit.false_findings(80, seed=1)
    assert table["tried"].unique().tolist() == [80]
    assert table.groupby("kind")["share"].max().to_dict() == pytest.approx(
        {"direction": 0.05, "ranking of two": 0.05, "first of five": 0}, abs=0.07
    )
    few = [audit.false_findings(3, seed=1) for _ in range(2)]
    pd.testing.assert_frame_equal(*few)
