"""Runs with other parameters than the text describes."""

import csv

import matplotlib.pyplot as plt
import pytest

from helpers import paths, show
from helpers.claims import ledger
from helpers.run import notebooks, parameters

TABLE = list(csv.DictReader(parameters.FILE.read_text().splitlines()))


def test_the_table_of_defaults_is_that_of_the_committed_notebooks():
    files = [notebooks.notebook_file(name) for name in notebooks.notebook_names()]
    assert notebooks.defaults_table(files) == parameters.FILE.read_bytes()


@pytest.mark.parametrize("name", sorted({row["notebook"] for row in TABLE}))
def test_a_notebook_warns_of_its_own_parameters_and_tells_figures_and_claims(name):
    source = notebooks.notebook_file(name).read_text()
    assert f'parameters.changed(\\"{name}\\", globals())' in source
    assert "show.use_style(other_parameters)" in source
    if "Ledger" in source:
        assert "other_parameters=other_parameters" in source


def test_the_defaults_are_no_change(capsys):
    assert (
        parameters.changed("11_error_weights", {"alpha": 0.01, "n_boot": 3, "seed": 1})
        == ""
    )
    assert parameters.changed("70_my_study", {"alpha": 0.5}) == ""
    assert capsys.readouterr().out == ""


def test_each_change_is_named(capsys):
    given = {"alpha": 0.05, "outcome": "quality_biased", "out_dir": "elsewhere"}
    words = parameters.changed("11_error_weights", given)
    expected = "alpha = 0.05 instead of 0.01, "
    expected += "outcome = 'quality_biased' instead of 'quality_unbiased'"
    assert words == expected
    assert words in capsys.readouterr().out


@pytest.fixture
def changed_style():
    show.use_style("alpha = 0.05 instead of 0.01")
    yield
    show.use_style()


def test_a_file_of_the_project_is_named_as_in_the_notebook():
    name = "data/answers/all_minilm_l6_v2_word_classes.csv"
    values = {"answers_file": str(paths.ROOT / name)}
    assert parameters.changed("42_error_hypotheses", values) == ""
    values = {"answers_file": str(paths.ROOT / "data" / "mine.csv")}
    words = f"answers_file = 'data/mine.csv' instead of '{name}'"
    assert parameters.changed("42_error_hypotheses", values) == words


def test_a_change_is_written_on_figures_and_in_their_alt_texts(changed_style, tmp_path):
    fig, ax = plt.subplots()
    ax.plot([1, 2])
    show.save(fig, "11_weights", tmp_path, "real", alt="A line.")
    written = [text.get_text() for text in fig.texts]
    assert written == ["other parameters: alpha = 0.05 instead of 0.01"]
    _, metadata = show._page_image(fig)
    assert metadata["alt"] == "Other parameters: alpha = 0.05 instead of 0.01. A line."
    plt.close(fig)


def test_no_claim_is_judged_with_a_change(tmp_path, capsys):
    entered = ledger.Ledger(
        "example",
        "real",
        str(tmp_path),
        other_parameters="alpha = 0.05 instead of 0.01",
    )
    entered.enter("hosking.counts", {"outputs_1": 900, "not a claim": 3})
    entered.enter_table("no table", None)
    entered.headline("no headline")
    assert len(entered.write()) == 0
    assert list(tmp_path.iterdir()) == []
    assert entered.show() is None
    assert capsys.readouterr().out.endswith("alpha = 0.05 instead of 0.01.\n")


def test_what_does_not_change_the_text_is_a_parameter_somewhere():
    named = set()
    for name in notebooks.notebook_names():
        named |= set(notebooks.parameters_of(paths.NOTEBOOKS / f"{name}.ipynb"))
    assert named >= parameters.WITHOUT_NOTICE
