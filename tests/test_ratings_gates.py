"""The gates of own ratings: what their table holds, and that they know the truth."""

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

from benchmarks import gates


def test_the_truth_of_a_gate_is_what_very_many_ratings_show():
    design = gates.Design(prompts=4000, systems=3, system=0.7, slopes=0.0)
    table, better = gates.draw(design, np.random.default_rng(0))
    terms = "overall ~ tone + depth + typos + C(rater_id) + C(system_id)"
    found = smf.ols(terms, table).fit().params
    for name, weight in gates.WEIGHTS.items():
        low, high = gates.SCALES[name]
        assert abs(found[name] * (high - low) - weight) < 0.05
    assert abs(found["C(system_id)[T.1]"]) < 0.05
    assert abs(found["C(system_id)[T.2]"] - (better[2] - better[0])) < 0.05


def test_the_committed_table_has_every_gate():
    table = pd.read_csv(gates.GATES)
    assert table.columns.tolist() == ["design", "what", "files", "percent"]
    assert set(table["design"]) == set(gates.DESIGNS)
    assert not table.duplicated(["design", "what"]).any()
    assert table["percent"].between(0, 100).all()
