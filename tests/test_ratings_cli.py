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

from ratings import cli, recipes


@pytest.fixture
def ratings(tmp_path, monkeypatch):
    """Run the command in a folder of the user."""
    user = tmp_path / "a user's folder"
    user.mkdir()
    monkeypatch.chdir(user)

    def ratings(*arguments, code=0, answers=None):
        # somebody sits at a terminal if there are answers
        monkeypatch.setattr(cli, "_is_terminal", lambda: answers is not None)
        given = "".join(f"{answer}\n" for answer in answers or [])
        result = CliRunner().invoke(cli.main, arguments, input=given)
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
    Path("mine.csv").write_text(marks())
    said = ratings("inspect", "mine.csv")
    assert "understood as 90 ratings of 30 items" in said
    assert "Answer the 2 questions on top of it, or run this in a terminal:" in said
    assert "    ratings inspect mine.csv --recipe mine.recipe.yaml\n" in said
    assert "ratings report mine.csv --recipe mine.recipe.yaml" in said
    assert "mine.recipe.yaml exists: go on with it by" in ratings(
        "inspect", "mine.csv", code=1
    )
    said = ratings("report", "mine.csv", "--recipe", "mine.recipe.yaml")
    assert "judging 1 aspect\n" in said
    assert "Answer by: ratings inspect mine.csv --recipe mine.recipe.yaml\n" in said
    assert "2 questions are open: until answered, no result can be quoted" in said
    own = ("--outcome", "tone", "--aspects", "overall", "--out", "b.html")
    ratings("report", "mine.csv", *own)
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


def test_in_a_terminal_questions_are_asked_until_none_is_open(ratings):
    Path("mine.csv").write_text(marks().replace("i0,r0,1,1", "i0,r0,9,1"))
    # wrong answers are asked again; nothing means what is proposed
    answers = ["perhaps", "", "1", "1 to 7", ""]
    said = ratings("inspect", "mine.csv", answers=answers)
    assert "the answer 'perhaps' to " in said
    assert "gives no lowest and highest rating" in said
    assert "Answer the" not in said
    recipe = recipes.from_yaml("mine.recipe.yaml")
    assert recipes.open_questions(recipe) == []
    assert recipe["missing"] == ["9"]
    assert recipe["scales"] == {"overall": ["1", "7"], "tone": ["1", "4"]}
    assert "open: until answered" not in ratings("report", "mine.csv")
    # nothing more is asked
    before = Path("mine.recipe.yaml").read_text()
    own = ("inspect", "mine.csv", "--recipe", "mine.recipe.yaml")
    assert "mine.recipe.yaml stays as it is" in ratings(*own, answers=[])
    assert Path("mine.recipe.yaml").read_text() == before


def test_an_answer_that_changes_the_columns_changes_the_questions(ratings):
    rows = "".join(f"i{k},{k % 4},{1 + k * 7 % 5},{k % 3}\n" for k in range(60))
    Path("mine.csv").write_text("item,overall_A,overall_B,tone_A\n" + rows)
    answers = ["different questions", "overall_B", "0 to 3", "1 to 5", "0 to 2"]
    said = ratings("inspect", "mine.csv", answers=answers)
    assert "What are these?" in said
    recipe = recipes.from_yaml("mine.recipe.yaml")
    assert (recipe["outcome"], recipe["aspects"]) == (
        "overall_B",
        ["tone_A", "overall_A"],
    )
    assert recipe["scales"]["overall_A"] == ["0", "3"]
    assert "names" not in recipe


def test_answers_written_into_a_recipe_are_carried_out(ratings):
    Path("mine.csv").write_text(marks().replace("i0,r0,1,1", "i0,r0,9,1"))
    ratings("inspect", "mine.csv")
    text = Path("mine.recipe.yaml").read_text()
    assert "\n# Please answer the questions: " in text
    lines = iter(["no", "1 to 9", "unknown"])
    filled = [
        f"  answer: {next(lines)}" if line.strip() == "answer:" else line
        for line in text.splitlines()
    ]
    Path("mine.recipe.yaml").write_text("\n".join(filled))
    assert "until answered" not in ratings("report", "mine.csv")
    recipe = recipes.from_yaml("mine.recipe.yaml")
    assert "missing" not in recipe
    assert recipe["scales"] == {"overall": ["1", "9"]}
    Path("mine.recipe.yaml").write_text(text.replace("  answer:", "  answer: maybe", 1))
    said = ratings("report", "mine.csv", code=1)
    assert "is none of: yes, no" in said


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
    assert "until answered" not in said
    # one in the working folder, where inspect writes it, comes first
    Path("mine.recipe.yaml").write_text("outcome: nothing\naspects: [tone]\n")
    said = ratings("report", "there/mine.csv", code=1)
    assert "read as mine.recipe.yaml says" in said
    said = ratings("report", "there/mine.csv", "--no-recipe")
    assert "read as" not in said
    assert "2 questions are open" in said
    page = Path("mine.report.html").read_text()
    assert "Nothing on this page can be quoted yet." in page
    assert "which ratings could be given?" in page


def test_inspect_goes_on_with_a_recipe(ratings):
    Path("mine.csv").write_text(marks())
    Path("mine.recipe.yaml").write_text("outcome: tone\n")
    assert "go on with it by --recipe" in ratings("inspect", "mine.csv", code=1)
    own = ("inspect", "mine.csv", "--recipe", "mine.recipe.yaml")
    ratings(*own, "--out", "whole.yaml")
    assert Path("mine.recipe.yaml").read_text() == "outcome: tone\n"
    assert "mine.recipe.yaml written" in ratings(*own)
    whole = recipes.from_yaml("mine.recipe.yaml")
    assert whole == recipes.from_yaml("whole.yaml")
    assert (whole["outcome"], whole["aspects"]) == ("tone", ["overall"])
    assert "mine.recipe.yaml stays as it is" in ratings(*own)
    Path("bad.yaml").write_text("outcme: tone\n")
    said = ratings("inspect", "mine.csv", "--recipe", "bad.yaml", code=1)
    assert "did you mean 'outcome'?" in said


def test_a_sheet_can_be_named_and_a_sheet_without_ratings_leaves_no_recipe(ratings):
    table = pd.read_csv(io.StringIO(marks()))
    rows = [list(table), *table.to_numpy().tolist()]
    workbook(Path(), [["Code book"], ["overall 1 to 5"]], {"wave 1": rows})
    said = ratings("inspect", "a.xlsx", code=1)
    assert "Other sheets are not read (--sheet NAME reads one): 'wave 1'." in said
    assert "no ratings are found in a.xlsx: see above" in said
    assert not Path("a.recipe.yaml").exists()
    said = ratings("inspect", "a.xlsx", "--sheet", "wave 1")
    assert "understood as 90 ratings of 30 items" in said
    assert "file: {sheet: wave 1}" in Path("a.recipe.yaml").read_text()
    said = ratings("inspect", "a.xlsx", "--sheet", "wave", "--out", "b.yaml", code=1)
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
    assert said.count("column 'Overal' is missing; did you mean 'overall'?") == 1
    assert "mine.csv cannot be read: correct the file" in said


def test_a_recipe_that_cannot_be_followed_says_why(ratings):
    Path("mine.csv").write_text(marks())
    Path("a.yaml").write_text("outcome: overall\naspects: [tones]\n")
    said = ratings("inspect", "mine.csv", "--recipe", "a.yaml")
    assert "The file cannot be read yet: " in said
    assert "column 'tones' is missing; did you mean 'tone'?" in said


def people(n=90):
    """Thirty items of three systems, each rated by three of nine people with names."""
    names = ["Ann", "Ben", "Chi", "Dov", "Eve", "Fay", "ann", "Hal", "Ida"]
    rows = "".join(
        f"i{k // 3},s{k // 3 % 3},name-{names[(k * 4 + k // 9) % 9]},"
        f"{(20 if k * 4 + k // 9 == 1 else 1) + k * 7 % 5},{1 + k * 3 % 4}\n"
        for k in range(n)
    )
    return "answer,model,who,overall,tone\n" + rows


def test_names_of_raters_never_stand_in_results(ratings):
    Path("mine.csv").write_text(people())
    ratings("inspect", "mine.csv")
    written = Path("mine.recipe.yaml").read_text()
    assert "name-Ann, name-" in written  # in the recipe, where they help to answer
    left_out = "without: {who: [name-Ben]}\nrater: who\nitem: answer\nsystem: model\n"
    left_out += "outcome: overall\naspects: tone\n"
    Path("own.yaml").write_text(left_out)
    Path("known.yaml").write_text(left_out.partition("\n")[2].replace("aspects", "#"))
    ratings("inspect", "mine.csv", "--recipe", "known.yaml", "--out", "asked.yaml")
    assert "name-ann" in Path("asked.yaml").read_text()
    for recipe in ("mine.recipe.yaml", "own.yaml", "asked.yaml"):
        ratings("report", "mine.csv", "--recipe", recipe)
        for path in Path().glob("mine.report.*"):
            assert "name-" not in path.read_text(), (recipe, path.name)
    page = Path("mine.report.html").read_text()
    assert "who: are labels the same that differ only in case or spaces?" in page


def test_without_an_overall_rating_the_report_says_what_it_leaves_out(ratings):
    Path("mine.csv").write_text(marks().replace("overall", "clear"))
    Path("a.yaml").write_text("aspects: [clear, tone]\nitem: item\nrater: rater\n")
    said = ratings("report", "mine.csv", "--recipe", "a.yaml")
    assert "no overall rating is named, so systems are not compared" in said


def test_without_a_recipe_the_one_of_a_known_tool_is_named(ratings):
    header = "PROLIFIC_PID,STUDY_ID,SESSION_ID,response_id,overall,clear\n"
    rows = [f"pid{n % 3},st,s{n % 3},resp{n // 3},{n % 5},{n % 2}\n" for n in range(60)]
    Path("mine.csv").write_text(header + "".join(rows))
    said = ratings("report", "mine.csv", "--no-recipe")
    assert ": recipe prolific." in said
    assert "read without a recipe of yours, as shown above" in said
