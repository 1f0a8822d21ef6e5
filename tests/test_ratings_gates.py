"""The gates of own ratings: what their table holds, and that they know the truth."""

import csv

import numpy as np
import pandas as pd
import pytest

from benchmarks import gate_table, gates_agreement
from ratings import report


def test_a_share_is_judged_by_its_bounds_and_finished_designs_stay(tmp_path):
    path = tmp_path / "gates.csv"
    shares = [(200, "false", 6.5, None, 6.5), (200, "told", 3.0, None, None)]
    assert gate_table.append(path, "a", "one, two", 7, shares)
    assert not gate_table.append(
        path, "a", "three", 7, [(9, "holds", 93.4, 93.5, None)]
    )
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["holds"] for row in rows] == ["yes", "", "no"]
    assert rows[0]["percent"] == "6.50"
    assert gate_table.stands_there(path, "a", "one, two")
    assert not gate_table.stands_there(path, "b", "one, two")


def test_the_truth_of_agreement_is_that_of_very_many_items():
    # variances: clusters .25, items .81, noise .81, raters as their leniency is
    lenient = np.zeros((3, 3))
    table = gates_agreement.draw(4000, lenient, True, np.random.default_rng(0))
    found = gates_agreement.intervals(table)["estimate"]
    assert found["slider"] == pytest.approx(1.06 / 1.87, abs=0.02)
    lenient = np.array([-1.0, 0, 1])[:, None] * np.ones(3)
    table = gates_agreement.draw(4000, lenient, True, np.random.default_rng(0))
    found = gates_agreement.intervals(table)["estimate"]
    # the variance of three raters who rate all is 1 within items, 2/3 over all
    assert found["slider"] == pytest.approx(1 - 1.81 / (1.87 + 2 / 3), abs=0.02)


def test_the_gate_looks_at_the_alphas_that_the_page_gives():
    raters = gates_agreement.RATERS["9 raters"]
    gates_agreement.truth.cache_clear()
    looked = gates_agreement.look(raters, 5, (1, 2, 3))
    assert looked[:3] == [0, 0, 0]  # five clusters are fewer than ten that agree
    assert set(looked[3:]) <= {0.0, 1.0}


def test_every_committed_row_names_its_files_and_bound():
    table = pd.read_csv(gate_table.GATES)
    assert table.columns.tolist() == list(gate_table.COLUMNS)
    assert not table.duplicated(["gate", "design", "what"]).any()
    at_least = table["percent"] >= table["at least"].fillna(0)
    at_most = table["percent"] <= table["at most"].fillna(100)
    is_judged = table["holds"].notna()
    assert ((at_least & at_most) == (table["holds"] == "yes"))[is_judged].all()


def test_the_page_tells_what_the_gates_found():
    table = pd.read_csv(gate_table.GATES).set_index(["design", "what"])["percent"]
    false = "typos called higher or lower"
    nameless = report.WORDS["not run"]["raters"]
    assert f"{table['no names', false]:.0f} in 100 called" in nameless
    assert f"truth in {table['no names', 'interval of typos holds']:.0f}" in nameless
    systems = report.WORDS["not run"]["systems"]
    design = "10 systems that differ"
    assert f"outcome in {table[design, false]:.0f} of 100" in systems
    for what in (
        f"{false}, system held equal",
        "typos said to extend to other systems",
    ):
        assert f"{table[design, what]:.0f}" == "5"
    assert "in 5 each" in systems
    found = pd.read_csv(gate_table.GATES)
    found = found[(found["gate"] == gates_agreement.GATE) & found["holds"].notna()]
    is_many = (found["files"] >= 100) & ~found["design"].str.contains(", 5 clusters")
    shares = found["percent"][is_many].round()
    told = f"in {shares.min():.0f} to {shares.max():.0f} of 100"
    assert told in report.WORDS["methods"]["agreement"]
