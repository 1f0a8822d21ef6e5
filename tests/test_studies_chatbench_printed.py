"""What follows from printed numbers of ChatBench."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from helpers import claims
from helpers.data.published import published_claims
from helpers.studies import chatbench_printed


def test_tests_are_those_of_the_printed_accuracies_and_corrected_by_holm():
    table = chatbench_printed.all_tests()
    first = table.iloc[0]
    # 73 % with a standard error of 4 against 92 % with one of 2
    assert first["estimate"] == pytest.approx(19)
    assert first["high"] - 19 == pytest.approx(1.959964 * np.sqrt(20))
    corrected = multipletests(table["p_value"], method="holm")[1]
    np.testing.assert_allclose(table["p_family"], corrected)


def test_results_are_those_that_claims_wait_for():
    saved = claims.rows("chatbench", chatbench_printed.statements())
    claimed = published_claims().query("study == 'chatbench'")
    assert set(saved["name"]) <= set(claimed.index)
    assert not saved["name"].str.startswith("chatbench.simulator").any()


def test_counts_add_up():
    counts = chatbench_printed.counts()
    datasets = [f"counts.{name}" for name in ("elementary_math", "high_school_math")]
    assert [counts[name] for name in datasets] == [95, 95]
    assert counts["counts.answers"] == 7336 + 7148 + 10828 + 118717
    assert counts["design.same_assignment"] == pytest.approx(0.759, abs=0.001)
