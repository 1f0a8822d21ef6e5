"""The command `ratings`."""

import io
import logging
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import nbformat
import pandas as pd
import papermill
import pytest
from click.testing import CliRunner
from workbooks import workbook

from helpers import paths
from helpers.data import registry
from helpers.run import notebooks as run
from ratings import cli

KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}
PARAMETERS = """data_source: str = "auto"  # where data come from
out_dir: str = "build"  # where results go
n_boot: int = 1000  # draws"""
CODE = """from pathlib import Path
(Path(out_dir) / "results").mkdir(exist_ok=True)
file = Path(out_dir) / "results" / "11_tiny.csv"
file.write_text(f"{data_source},{1000 // n_boot}")"""


@pytest.fixture
def ratings(tmp_path, monkeypatch):
    """Run the command in a project with one notebook, from a folder of the user."""
    project, user = tmp_path / "project", tmp_path / "a user's folder"
    (project / "notebooks").mkdir(parents=True)
    user.mkdir()
    monkeypatch.setattr(paths, "NOTEBOOKS", project / "notebooks")
    monkeypatch.setattr(paths, "BUILD", project / "build")
    monkeypatch.chdir(user)
    monkeypatch.setattr(run.os, "environ", dict(run.os.environ))
    cells = [
        nbformat.v4.new_markdown_cell("# What is tiny?\n\n**Question.** …"),
        nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(CODE),
    ]
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": KERNELSPEC}
    )
    nbformat.write(notebook, project / "notebooks" / "11_tiny.ipynb")

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


def test_notebooks_and_parameters_are_listed(ratings):
    assert ratings("list") == "11_tiny: What is tiny?\n"
    assert "n_boot = 1000: draws\n    a whole number from 1 to 100000\n" in ratings(
        "list", "11_tiny"
    )
    assert ratings("list", "12", code=1).startswith(
        "Error: there is no notebook '12': `ratings l"
    )


def test_a_notebook_runs_with_other_parameters_into_a_folder_and_again(
    ratings, tmp_path
):
    for n_boot, found in (("10", "100"), ("20", "50")):
        output = ratings(
            "run",
            "11_tiny",
            "-p",
            "n_boot",
            n_boot,
            "--data",
            "simulated",
            "--out",
            "my out",
        )
        assert "11_tiny: finished in " in output
        out = tmp_path / "a user's folder" / "my out"
        assert str(out / "notebooks" / "11_tiny.ipynb") in output
        assert (out / "results" / "11_tiny.csv").read_text() == f"simulated,{found}"
        assert {file.name for file in out.iterdir()} == {
            ".ipython",
            ".lock",
            "notebooks",
            "results",
        }
    (out / "results" / "other.csv").write_text("mine")
    output = ratings(
        "run", "11_tiny", "--data", "simulated", "-p", "n_boot", "0", code=1
    )
    assert output.startswith(
        "Error: n_boot must be a whole number from 1 to 100000, not '0'"
    )


def test_a_notebook_that_fails_leaves_no_results(ratings, monkeypatch, tmp_path):
    written = paths.BUILD / "one-off" / "results" / "11_tiny.csv"

    def fail(notebook, target, parameters, **options):
        written.parent.mkdir(parents=True)
        written.write_text("half")
        raise papermill.PapermillExecutionError(2, 3, "", "ValueError", "no", [])

    monkeypatch.setattr(papermill, "execute_notebook", fail)
    output = ratings("run", "11_tiny", "--data", "simulated", code=1)
    assert output.startswith("Error: 11_tiny stopped in cell In [3] of ")
    assert not written.exists()


def test_a_run_that_somebody_stops_ends_in_one_line_and_leaves_nothing_half_written(
    ratings, monkeypatch
):
    written = paths.BUILD / "one-off" / "results" / "11_tiny.csv"

    def stop(notebook, target, parameters, **options):
        written.parent.mkdir(parents=True)
        written.write_text("half")
        target.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(papermill, "execute_notebook", stop)
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", False)
    output = ratings("run", "11_tiny", "--data", "simulated", code=130)
    assert output == "\nstopped: nothing half-written is left\n"
    assert not written.exists()
    assert list((paths.BUILD / "one-off" / "notebooks").iterdir()) == []


def test_an_interrupt_between_imports_takes_one_line_too():
    code = "import ratings.cli, os, signal; os.kill(os.getpid(), signal.SIGINT)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "\nstopped: nothing half-written is left\n"
    assert done.returncode == -signal.SIGINT  # which a shell shows as 130


def test_folders_that_are_not_for_results_are_refused(ratings, monkeypatch, tmp_path):
    monkeypatch.setattr(papermill, "execute_notebook", pytest.fail)
    (tmp_path / "file").write_text("")
    (tmp_path / "holidays").mkdir()
    (tmp_path / "holidays" / "11_beach.png").write_text("")
    for out, reason in [
        ("file", "cannot be written to "),
        ("holidays", "holds other files: give"),
    ]:
        arguments = ("--data", "simulated", "--out", str(tmp_path / out))
        assert reason in ratings("run", "11_tiny", *arguments, code=1)


def test_a_usage_that_click_refuses_says_so(ratings):
    assert "'maybe' is not one of 'auto'" in ratings(
        "run", "11_tiny", "--data", "maybe", code=2
    )
    assert "requires 2 arguments" in ratings("run", "11_tiny", "-p", "n_boot", code=2)


def test_a_new_notebook_is_started(ratings):
    assert "70_my_study.ipynb: open it with `make lab`" in ratings("new", "70_my_study")
    assert (paths.NOTEBOOKS / "70_my_study.ipynb").is_file()
    assert "a notebook cannot be called '6'" in ratings("new", "6", code=1)


def test_doctor_names_what_is_wrong_and_mends_what_can_be_mended(ratings, monkeypatch):
    files = pd.DataFrame(
        {"file": ["kamoda/a"], "where": ["cache"], "state": ["wrong"]}, dtype=object
    )
    status = {"kamoda": files}
    monkeypatch.setattr(
        registry, "status", lambda study: status.get(study, files[:0]), raising=False
    )
    monkeypatch.setattr(cli, "kernel_faults", lambda: iter(["no kernel starts"]))
    paths.BUILD.mkdir()
    (paths.BUILD / ".doit.json").write_text("{cut")
    (paths.BUILD / "missing.json").write_text('{"11_tiny": "it stopped"}')
    output = ratings("doctor", code=1)
    assert re.search(
        r"mended: .*\.doit\.json was damaged; all notebooks run again", output
    )
    assert "kamoda: 1 wrong" in output
    assert "wrong: kamoda/a in the cache is not the registered file" in output
    assert "wrong: no kernel starts" in output
    assert "wrong: 11_tiny has no results (it stopped)" in output
    assert not (paths.BUILD / ".doit.json").exists()


def test_doctor_goes_on_if_the_folder_of_results_is_a_file(ratings, monkeypatch):
    monkeypatch.setattr(
        registry, "status", lambda study: pd.DataFrame({"state": []}), raising=False
    )
    monkeypatch.setattr(cli, "kernel_faults", lambda: iter([]))
    paths.BUILD.write_text("")
    assert "build is no folder that results can be written to" in ratings(
        "doctor", code=1
    )


def test_doctor_says_what_mends_an_installation_whose_kernels_do_not_start(monkeypatch):
    monkeypatch.setattr(run.os, "environ", dict(run.os.environ))

    def fail(**options):
        raise RuntimeError("died")

    monkeypatch.setattr("jupyter_client.manager.start_new_kernel", fail)
    assert list(cli.kernel_faults()) == [
        "no kernel starts (died): delete .venv and run make"
    ]


def test_doctor_is_content_when_nothing_is_wrong(ratings, monkeypatch):
    none = pd.DataFrame(columns=["file", "where", "state"])
    monkeypatch.setattr(registry, "status", lambda study: none, raising=False)
    output = ratings("doctor")
    assert "kernel: starts" in output
    assert "wrong" not in output


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
    assert "nobody has checked it" not in Path("mine.report.html").read_text()
    # one in the working folder, where inspect writes it, comes first
    Path("mine.recipe.yaml").write_text("outcome: nothing\naspects: [tone]\n")
    said = ratings("report", "there/mine.csv", code=1)
    assert "read as mine.recipe.yaml says" in said
    said = ratings("report", "there/mine.csv", "--no-recipe")
    assert "read as" not in said
    assert "Going on as this says" in said
    page = Path("mine.report.html").read_text()
    assert "nobody has checked it" in page
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


def test_a_claim_tells_how_it_came_to_its_verdict():
    ran = CliRunner().invoke(cli.main, ["why", "hosking.counts.tasks"])
    assert ran.exit_code == 0
    assert "hosking.counts.tasks" in ran.output
    assert "fact" in ran.output
    ran = CliRunner().invoke(cli.main, ["why", "hosking.counts.task"])
    assert (ran.exit_code, "did you mean" in ran.output) == (1, True)


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
