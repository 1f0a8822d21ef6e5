"""The sweep over parameters tries each of them and notices runs that do not say so."""

import csv
import importlib.util

import pandas as pd

from helpers import paths
from helpers.run import notebooks, parameters

SPEC = importlib.util.spec_from_file_location(
    "sweep", paths.ROOT / "benchmarks" / "sweep.py"
)
sweep = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(sweep)


def test_each_parameter_is_tried_at_other_values():
    runs = pd.DataFrame(sweep.read_runs())
    tried = runs.groupby(["notebook", "parameter"])["value"].nunique()
    with parameters.FILE.open(newline="") as lines:
        known = [(row["notebook"], row["parameter"]) for row in csv.DictReader(lines)]
    assert set(tried.index) == set(known)


def test_the_values_are_allowed_and_are_not_the_default():
    sweep.write_other_files()
    for row in sweep.read_runs():
        file = notebooks.notebook_file(row["notebook"])
        value = notebooks.parameter_values(file, {row["parameter"]: row["value"]})
        assert (
            value[row["parameter"]] != notebooks.defaults_of(file)[row["parameter"]]
        ), row


def test_runs_that_do_not_say_so_are_noticed(tmp_path):
    words = [
        "- printed: OTHER PARAMETERS: alpha = 1",
        "- figure: Other parameters: alpha. A bar.",
    ]
    assert sweep.faults_of(words, tmp_path, "alpha") == []
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "11.csv").write_text("")
    faults = sweep.faults_of(["- figure: A bar."], tmp_path, "alpha")
    assert len(faults) == 3
    assert "claims were written" in faults


def test_a_run_lists_what_was_printed_and_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "FOLDER", tmp_path)
    monkeypatch.delenv("MPLBACKEND")  # with the one of tests no figure is shown
    row = {"notebook": "30_ai_alone_vs_user_ai", "parameter": "alpha", "value": "0.01"}
    section, faults = sweep.run(row, "simulated")
    assert faults == []
    assert "OTHER PARAMETERS: alpha = 0.01 instead of 0.05" in section
    assert "- figure: Other parameters: alpha" in section
