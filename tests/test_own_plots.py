import matplotlib.pyplot as plt
import pandas as pd
import pytest

from helpers.own import report
from helpers.own.inference import not_done

TABLE = pd.DataFrame({"estimate": [1.0, 0.5], "low": 0.0, "high": 2.0}, index=["tone", "a" * 60])


@pytest.fixture
def ax():
    fig, axis = plt.subplots()
    yield axis
    plt.close(fig)


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_methods_that_were_not_done_are_passed_over(ax):
    report.intervals(ax, {"least squares": TABLE, "ordered marks": not_done("no"), "Lasso": TABLE})
    assert ax.get_legend_handles_labels()[1] == ["least squares", "Lasso"]
    assert labels(ax) == ["tone", "a" * 27 + "…"]


def test_one_method_needs_no_legend(ax):
    report.intervals(ax, {"alpha": TABLE})
    assert ax.get_legend() is None


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: report.intervals(ax, {"alpha": not_done("one rater")}),
        lambda ax: report.before_and_after(ax, not_done("one rater")),
        lambda ax: report.choices_plot(ax, not_done("one rater")),
    ],
)
def test_an_empty_panel_says_why(ax, draw):
    draw(ax)
    assert [text.get_text() for text in ax.texts] == ["Not done: one rater"]


def test_weights_before_and_after_are_two_estimates_of_each_row(ax):
    held = TABLE.assign(**{"alone": 1.0, "alone low": 0.5, "alone high": 1.5})
    report.before_and_after(ax, held)
    assert ax.get_legend_handles_labels()[1] == ["aspects alone", "covariate held constant"]


def test_choices_have_a_mark_each_and_a_bar_for_leaving_out(ax):
    table = pd.DataFrame({"all ratings": [1.0], "Lasso": [0.9], "lowest": [0.8], "highest": [1.2]})
    report.choices_plot(ax, table.set_axis(["tone"]))
    shown = ax.get_legend_handles_labels()[1]
    assert shown == ["one other aspect left out", "all ratings", "Lasso"]


def test_the_question_of_a_rule_is_never_cut():
    rules = ["all rows", f"{'b' * 60} above 3.5", "tone at most 2"]
    short = report.short_rules(pd.DataFrame({"rule": rules}))["rule"]
    assert short.tolist() == ["all rows", f"{'b' * 17}… above 3.5", "tone at most 2"]


def test_dollar_signs_are_no_formulas(ax):
    ax.set_title(report.label("cost in $ per $"))
    ax.figure.canvas.draw()
    assert report.label("$") == r"\$"
