"""Figures and words for ratings of any study."""

from dataclasses import replace

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from helpers.own import report
from helpers.own.inference import not_done
from helpers.own.intake import Study

ASPECTS = ["up", "down", "small", "none", "unknown"]
TABLE = pd.DataFrame({"estimate": [1.0, 0.5], "low": 0.0, "high": 2.0}, index=["tone", "a" * 60])
WEIGHTS = pd.DataFrame(
    {
        "estimate": [1.0, -1.0, 0.2, 0.1, 0.1],
        "low": [0.5, -1.5, 0.1, -0.2, -0.5],
        "high": [1.5, -0.5, 0.3, 0.399, 0.7],
        "p, Holm": [0.01, 0.01, 0.01, 0.5, 0.5],
    },
    index=ASPECTS,
)
NO = not_done("one rater")


@pytest.fixture
def ax():
    fig, axis = plt.subplots()
    yield axis
    plt.close(fig)


@pytest.fixture
def study():
    frame = pd.DataFrame({aspect: [0.0, 1.0] * 30 for aspect in ASPECTS})
    frame = frame.assign(overall=[1.0, 5.0] * 30, prompt_id=range(60))
    frame.loc[5:, "up"] = 0.0
    return Study(
        frame, "overall", ASPECTS, pd.DataFrame({"low": 1.0, "high": 5.0}, ["overall"]), {}
    )


def test_methods_that_were_not_done_are_passed_over_and_long_names_cut(ax):
    report.intervals(ax, {"least squares": TABLE, "ordered marks": NO, "Lasso": TABLE})
    assert ax.get_legend_handles_labels()[1] == ["least squares", "Lasso"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["tone", "a" * 27 + "…"]


def test_one_method_needs_no_legend(ax):
    report.intervals(ax, {"alpha": TABLE})
    assert ax.get_legend() is None


@pytest.mark.parametrize("draw", [report.before_and_after, report.choices_plot])
def test_an_empty_panel_says_why(ax, draw):
    draw(ax, NO)
    assert [text.get_text() for text in ax.texts] == ["Not done: one rater"]


def test_weights_before_and_after_are_two_estimates_of_each_row(ax):
    report.before_and_after(ax, TABLE.assign(**{"alone": 1.0, "alone low": 0.5, "alone high": 1.5}))
    assert ax.get_legend_handles_labels()[1] == ["aspects alone", "covariate held constant"]


def test_choices_have_a_mark_each_and_a_bar_for_leaving_out(ax):
    table = pd.DataFrame({"all ratings": [1.0], "Lasso": [0.9], "lowest": [0.8], "highest": [1.2]})
    report.choices_plot(ax, table.set_axis(["tone"]))
    shown = ax.get_legend_handles_labels()[1]
    assert shown == ["one other aspect left out", "all ratings", "Lasso"]
    assert [line.get_xdata().tolist() for line in ax.lines[:2]] == [[1.0], [0.9]]


def test_the_question_of_a_rule_is_never_cut():
    rules = ["all rows", f"{'b' * 60} above 3.5", "tone at most 2"]
    short = report.short_rules(pd.DataFrame({"rule": rules}))["rule"]
    assert short.tolist() == ["all rows", f"{'b' * 17}… above 3.5", "tone at most 2"]


def test_dollar_signs_are_no_formulas(ax):
    ax.set_title(report.label("cost in $ per $"))
    ax.figure.canvas.draw()
    assert report.label("$") == r"\$"


def test_conclusions_are_in_plain_words(study):
    study = replace(study, left_out={"flat": "always the same"})
    table = report.results(study, ["flat", *ASPECTS], {"least squares": WEIGHTS})
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


def test_methods_stand_side_by_side_and_those_not_done_are_passed_over(study):
    lasso = WEIGHTS[["estimate", "low", "high"]]
    tables = {"least squares": WEIGHTS, "Lasso": lasso, "agreement": NO}
    table = report.results(study, ASPECTS, tables)
    assert table.columns.tolist() == [
        "conclusion", "other ratings", "least squares", "least squares: low",
        "least squares: high", "least squares: p, Holm", "Lasso", "Lasso: low", "Lasso: high",
    ]  # fmt: skip
    shown = report.shown(table)
    assert shown.columns.tolist() == ["conclusion", "other ratings", "least squares", "Lasso"]


def test_with_too_few_clusters_the_conclusion_says_so(study):
    table = report.results(study, ASPECTS[1:], {"least squares": NO})
    assert set(table["conclusion"]) == {"not known: too few clusters for so many aspects"}
    assert report.results_summary(study, NO).endswith("hardly any link: 0; not known: 5.")


def test_the_summary_counts_verdicts(study):
    assert report.results_summary(study, WEIGHTS) == (
        "Aspects that go with overall beyond chance: 3 of 5; with hardly any link: 1; not known: 1."
    )


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (report.largest_weight(-WEIGHTS, "overall"), "up weighs most: −1.00 points of overall"),
        (report.largest_weight(0 * WEIGHTS, "overall"), "No aspect has a weight"),
        (report.largest_weight(NO, "overall"), "Weights in overall"),
        (report.least_agreement(WEIGHTS), "People agree least on down: alpha −1.00"),
        (report.least_agreement(NO), "Agreement between raters"),
        (report.most_sensitive(NO), "Weights under other choices"),
        (report.largest_change(NO), "A covariate held constant"),
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
