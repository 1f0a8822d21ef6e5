"""The command `ratings`."""

import io
import subprocess
import sys
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from workbooks import workbook

from ratings import cli


@pytest.fixture
def ratings(tmp_path, monkeypatch):
    """Run the command in a folder of the user."""
    user = tmp_path / "a user's folder"
    user.mkdir()
    monkeypatch.chdir(user)

    def ratings(*arguments, code=0):
        result = CliRunner().invoke(cli.main, arguments)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result.output

    return ratings


def test_help_needs_nothing_that_takes_long_to_load():
    code = (
        "import sys, ratings.cli; "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert {"pandas", "numpy", "papermill", "doit"}.isdisjoint(done.stdout.split())


def test_a_command_that_somebody_stops_ends_in_one_line(ratings, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ratings.inspection.recipe_for", stop)
    output = ratings("report", "mine.csv", code=130)
    assert output == "starting\n\nstopped: nothing half-written is left\n"


def test_errors_of_the_code_itself_are_not_hidden(monkeypatch):
    @cli.main.command("broken")
    def broken():
        raise ValueError("a bug")

    try:
        result = CliRunner().invoke(cli.main, ["broken"])
    finally:
        cli.main.commands.pop("broken")
    assert isinstance(result.exception, ValueError)
    assert not isinstance(result.exception, click.ClickException)


def test_a_file_is_inspected_and_reported_from_any_folder(ratings):
    text = "item,rater,overall,tone\n" + "".join(
        f"i{n // 3},r{n % 3},{1 + n * 7 % 5},{n % 2}\n" for n in range(90)
    )
    Path("mine.csv").write_text(text)
    said = ratings("inspect", "mine.csv")
    assert "understood as 90 ratings of 30 items" in said
    assert "ratings report mine.csv --recipe mine.recipe.yaml" in said
    assert "mine.recipe.yaml exists" in ratings("inspect", "mine.csv", code=1)
    said = ratings("report", "mine.csv", "--recipe", "mine.recipe.yaml")
    assert "judging 1 aspects" in said
    ratings(
        "report",
        "mine.csv",
        "--outcome",
        "tone",
        "--aspects",
        "overall",
        "--out",
        "b.html",
    )
    assert {path.name for path in Path().iterdir()} == {
        "b.csv",
        "b.html",
        "b.json",
        "b.rows.csv",
        "mine.csv",
        "mine.recipe.yaml",
        "mine.report.csv",
        "mine.report.html",
        "mine.report.json",
        "mine.report.rows.csv",
    }
    assert "there is no such file" in ratings("report", "other.csv", code=1)


def marks(n=90):
    """Thirty items, each rated by three people."""
    return "item,rater,overall,tone\n" + "".join(
        f"i{k // 3},r{k % 3},{1 + k * 7 % 5},{1 + k * 3 % 4}\n" for k in range(n)
    )


def test_a_recipe_beside_the_file_is_used_and_told(ratings):
    Path("there").mkdir()
    Path("there/mine.csv").write_text(marks())
    recipe = "outcome: tone\naspects: [overall]\nitem: item\n"
    Path("there/mine.recipe.yaml").write_text(recipe)
    said = ratings("report", "there/mine.csv")
    assert "read as there/mine.recipe.yaml says (to do without: --no-recipe)" in said
    assert "tone" in Path("mine.report.csv").with_suffix(".json").read_text()
    assert "can be quoted yet" not in Path("mine.report.html").read_text()
    # one in the working folder, where inspect writes it, comes first
    Path("mine.recipe.yaml").write_text("outcome: nothing\naspects: [tone]\n")
    said = ratings("report", "there/mine.csv", code=1)
    assert "read as mine.recipe.yaml says" in said
    said = ratings("report", "there/mine.csv", "--no-recipe")
    assert "read as" not in said
    assert "Going on as this says" in said
    page = Path("mine.report.html").read_text()
    assert "Nothing on this page can be quoted yet." in page
    assert "no scale is known" in page


def test_inspect_goes_on_with_a_recipe_and_leaves_it_alone(ratings):
    Path("mine.csv").write_text(marks())
    known = "outcome: tone\n"
    Path("mine.recipe.yaml").write_text(known)
    assert "check it with --recipe" in ratings("inspect", "mine.csv", code=1)
    said = ratings("inspect", "mine.csv", "--recipe", "mine.recipe.yaml")
    assert "mine.recipe.yaml stays as it is. What could be added to it" in said
    assert "aspects: [overall]" in said
    assert "outcome: tone" not in said.partition("What could be added")[2]
    assert Path("mine.recipe.yaml").read_text() == known
    ratings(
        "inspect", "mine.csv", "--recipe", "mine.recipe.yaml", "--out", "whole.yaml"
    )
    whole = Path("whole.yaml").read_text()
    assert "outcome: tone" in whole
    assert "# scales:\n#   tone: [1, 4]\n#   overall: [1, 5]\n" in whole
    said = ratings("inspect", "mine.csv", "--recipe", "whole.yaml")
    assert "whole.yaml says all that is needed" in said
    Path("bad.yaml").write_text("outcme: tone\n")
    said = ratings("inspect", "mine.csv", "--recipe", "bad.yaml", code=1)
    assert "did you mean 'outcome'?" in said


def test_a_sheet_can_be_named_and_a_sheet_without_ratings_leaves_no_recipe(ratings):
    table = pd.read_csv(io.StringIO(marks()))
    rows = [list(table), *table.to_numpy().tolist()]
    workbook(Path(), [["Code book"], ["overall 1 to 5"]], {"wave 1": rows})
    said = ratings("inspect", "a.xlsx")
    assert "no recipe is written: no ratings are found on this sheet" in said
    assert "ratings inspect a.xlsx --sheet 'wave 1'" in said
    assert not Path("a.recipe.yaml").exists()
    said = ratings("inspect", "a.xlsx", "--sheet", "wave 1")
    assert "understood as 90 ratings of 30 items" in said
    assert "file: {sheet: wave 1}" in Path("a.recipe.yaml").read_text()
    said = ratings("inspect", "a.xlsx", "--sheet", "wave", code=1)
    assert "there is no sheet 'wave'; there are 'S', 'wave 1'" in said
    Path("mine.csv").write_text(marks())
    said = ratings("inspect", "mine.csv", "--sheet", "wave", code=2)
    assert "--sheet is for Excel files, which mine.csv is not" in said


def test_a_name_with_a_comma_stands_in_quotation_marks():
    assert cli._column_names('tone, "polite, and kind"') == ["tone", "polite, and kind"]
    assert cli._column_names(None) == []


def test_a_report_that_is_not_understood_is_told_once(ratings):
    rows = "".join(f"i{n},{n % 5},{n % 3}\n" for n in range(40))
    Path("mine.csv").write_text("item,overall,tone\n" + rows)
    said = ratings("report", "mine.csv", "--outcome", "Overal", code=1)
    assert "Going on as this says" not in said
    assert said.count("column 'Overal' is missing; did you mean 'overall'?") == 1
    assert "mine.csv is not understood, see the last lines under" in said


def test_a_recipe_that_cannot_be_followed_is_not_called_complete(ratings):
    Path("mine.csv").write_text(marks())
    Path("a.yaml").write_text("outcome: overall\naspects: [tones]\n")
    said = ratings("inspect", "mine.csv", "--recipe", "a.yaml")
    assert "column 'tones' is missing; did you mean 'tone'?" in said
    assert said.endswith("a.yaml cannot be followed yet: see above\n")
