from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.own import inference, report
from helpers.own.intake import Study

ASPECTS = ["up", "down", "small", "none", "unknown"]


def study_of(aspects=ASPECTS, left_out=()):
    frame = pd.DataFrame(
        {aspect: [0.0, 1.0] * 30 for aspect in aspects}
        | {"overall": [1.0, 5.0] * 30, "prompt_id": range(60)}
    )
    frame.loc[frame.index[5:], "up"] = 0.0
    ends = pd.DataFrame({"low": 1.0, "high": 5.0}, index=["overall"])
    return Study(frame, "overall", list(aspects), ends, dict(left_out))


def weights():
    return pd.DataFrame(
        {
            "estimate": [1.0, -1.0, 0.2, 0.1, 0.1],
            "low": [0.5, -1.5, 0.1, -0.2, -0.5],
            "high": [1.5, -0.5, 0.3, 0.399, 0.7],
            "p, Holm": [0.01, 0.01, 0.01, 0.5, 0.5],
        },
        index=ASPECTS,
    )


def test_verdicts_follow_interval_and_corrected_p_value():
    assert report.verdicts(study_of(), weights()).tolist() == [
        "higher", "lower", "higher", "hardly any link", "not known",
    ]  # fmt: skip


def test_without_least_squares_nothing_is_known():
    table = inference.not_done("too few clusters")
    assert set(report.verdicts(study_of(), table)) == {"not known"}


def test_conclusions_are_in_plain_words():
    study = replace(study_of(), left_out={"flat": "always the same"})
    table = report.results(study, ["flat", *ASPECTS], {"least squares": weights()})
    assert table["conclusion"].tolist() == [
        "left out: always the same",
        "higher marks go with higher overall; rare: fewer than 20 ratings tell what it does",
        "higher marks go with lower overall",
        "higher marks go with higher overall, but hardly: at most 0.30 points either way",
        "hardly any link: at most 0.40 points either way",
        "not known: anything from -0.50 to +0.70 points fits",
    ]
    assert table["other ratings"].fillna(-1).tolist() == [-1, 2, 30, 30, 30, 30]
    assert table.index.name == "aspect"


def test_methods_stand_side_by_side_and_those_not_done_are_passed_over():
    tables = {
        "least squares": weights(),
        "Lasso": weights()[["estimate", "low", "high"]],
        "agreement": inference.not_done("one rater"),
    }
    table = report.results(study_of(), ASPECTS, tables)
    assert table.columns.tolist() == [
        "conclusion", "other ratings", "least squares", "least squares: low",
        "least squares: high", "least squares: p, Holm", "Lasso", "Lasso: low", "Lasso: high",
    ]  # fmt: skip
    shown = report.shown(table)
    assert shown.columns.tolist() == ["conclusion", "other ratings", "least squares", "Lasso"]


def test_with_too_few_clusters_the_conclusion_says_so():
    tables = {"least squares": inference.not_done("5 clusters are too few for 6 numbers")}
    table = report.results(study_of(), ASPECTS, tables)
    assert set(table["conclusion"]) == {"not known: too few clusters for so many aspects"}


def test_the_summary_counts_verdicts():
    assert report.results_summary(study_of(), weights()) == (
        "Aspects that go with overall beyond chance: 3 of 5; with hardly any link: 1; not known: 1."
    )


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (
            report.largest_weight(weights(), "overall"),
            "up weighs most: +1.00 points of overall",
        ),
        (report.largest_weight(0 * weights(), "overall"), "No aspect has a weight"),
        (report.largest_weight(inference.not_done("x"), "overall"), "Weights in overall"),
        (report.least_agreement(weights()), "People agree least on down: alpha −1.00"),
        (report.least_agreement(inference.not_done("x")), "Agreement between raters"),
        (report.most_sensitive(inference.not_done("x")), "Weights under other choices"),
        (report.largest_change(inference.not_done("x")), "A covariate held constant"),
    ],
)
def test_titles_state_the_result_or_what_was_tried(title, expected):
    assert title == expected


def test_results_are_written_in_one_step(tmp_path):
    table = pd.DataFrame({"weight": [1 / 3]}, index=pd.Index(["tone"], name="aspect"))
    report.save_results(table, "53_your_ratings", str(tmp_path))
    folder = tmp_path / "results"
    assert [file.name for file in folder.iterdir()] == ["53_your_ratings.csv"]
    assert (folder / "53_your_ratings.csv").read_text() == "aspect,weight\ntone,0.333333\n"
    assert np.isfinite(table["weight"]).all()
