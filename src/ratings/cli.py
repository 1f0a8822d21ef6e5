"""The command `ratings`: read ratings, write a report on them, explain a verdict.

What a command needs is imported when it runs, so that `ratings --help` answers at once.
"""

import csv
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ratings import inspection

STOPPED = "stopped: nothing half-written is left"


class PlainGroup(click.Group):
    """Commands whose errors are one message without a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(f"\n{STOPPED}", err=True)
            ctx.exit(130)  # as shells tell of an interrupt
        except (ValueError, OSError) as error:
            from helpers.data.tables import PlainError, plainly

            if not isinstance(error, PlainError | OSError):
                raise
            raise click.ClickException(plainly(error)) from None


@click.group(cls=PlainGroup)
def main() -> None:
    """Analyse anybody's ratings."""


@main.command("inspect")
@click.argument("file")
@click.option("--recipe", "recipe_file", metavar="YAML", help="One to go on with.")
@click.option("--sheet", help="Of an Excel file; the first if not given.")
@click.option(
    "--out",
    metavar="YAML",
    help="The recipe to write, if not that of --recipe or FILE.recipe.yaml here.",
)
def propose_recipe(
    file: str, recipe_file: str | None, sheet: str | None, out: str | None
) -> None:
    """Show what the file of ratings FILE is taken for, and write a recipe for it.

    What is not certain is asked in a terminal; elsewhere the questions stand in the
    recipe. Nothing can be quoted until they are answered.
    """
    from ratings import inspection, recipes

    known = recipes.from_yaml(recipe_file) if recipe_file else {}
    if sheet:
        if ".xlsx" not in file.lower():
            raise click.UsageError(f"--sheet is for Excel files, which {file} is not")
        known["file"] = {**known.get("file", {}), "sheet": sheet}
    path = _beside_user(out or recipe_file, Path(file).name, ".recipe.yaml")
    written = out or recipe_file or path.name
    if path.exists() and (out or not recipe_file):
        raise FileExistsError(
            f"{path.name} exists: go on with it by --recipe {path.name}, name another "
            "with --out, or delete it"
        )
    seen = inspection.inspect(file, known)
    click.echo(seen)
    if _is_terminal():
        seen = _ask(file, seen)
    if not {"outcome", "aspects"} & set(seen.recipe):
        raise click.ClickException(f"no ratings are found in {seen.name}: see above")
    if seen.recipe == known:
        click.echo(f"\n{path.name} stays as it is")
    else:
        recipes.write_yaml(seen.recipe, path, seen.name)
        click.echo(f"\n{path.name} written")
    n_open = len(recipes.open_questions(seen.recipe))
    if n_open:
        questions = "1 question" if n_open == 1 else f"{n_open} questions"
        click.echo(f"Answer the {questions} on top of it, or run this in a terminal:")
        click.echo(f"    {_command('inspect', file, written)}\nThen:")
    click.echo(f"    {_command('report', file, written)}")


def _command(name: str, file: str, recipe_file: str | None) -> str:
    """Write a command as it can be copied into a shell."""
    command = ["ratings", name, file]
    if recipe_file:
        command += ["--recipe", recipe_file]
    return shlex.join(command)


def _is_terminal() -> bool:
    """Tell whether somebody can answer."""
    return sys.stdin.isatty()


def _ask(file: str, seen: "inspection.Inspection") -> "inspection.Inspection":
    """Ask the open questions, and look at the file again as the answers say."""
    from ratings import inspection, questions, recipes

    recipe = seen.recipe
    while recipes.open_questions(recipe):
        while asked := next(questions.unanswered(recipe), None):
            answered = {**asked, "answer": _prompt(asked)}
            others = [each for each in recipe["questions"] if each != asked]
            before = [recipe.get(key) for key in inspection.SHAPE]
            recipe = recipes.parse({**recipe, "questions": [*others, answered]})
            if before != [recipe.get(key) for key in inspection.SHAPE]:
                break  # other columns, other questions
        seen = inspection.inspect(file, recipe)
        recipe = seen.recipe
        click.echo(f"\n{seen}")
    return seen


def _prompt(asked: dict) -> str:
    """Ask one question until it has an answer."""
    from helpers.data.tables import OptionError
    from ratings import questions

    def checked(answer: str) -> str:
        try:
            questions.effect({**asked, "answer": answer})
        except OptionError as error:
            raise click.UsageError(str(error)) from None
        return answer.strip()

    options = "".join(f"\n  - {option}" for option in asked.get("options", {}))
    proposed = asked.get("proposed")
    return click.prompt(
        f"\n{asked['ask']}{options}\n", default=proposed, value_proc=checked
    )


@main.command()
@click.argument("file")
@click.option(
    "--recipe",
    "recipe_file",
    metavar="YAML",
    help="From `ratings inspect`, maybe edited; FILE.recipe.yaml, if it is here or "
    "beside FILE, needs not be named.",
)
@click.option(
    "--no-recipe",
    is_flag=True,
    help="Use none of yours; exports of known tools are read as `inspect` does.",
)
@click.option("--outcome", help="The column to explain.")
@click.option("--aspects", help="The columns that may explain it, with commas between.")
@click.option(
    "--out", metavar="HTML", help="The page; FILE.report.html here if not given."
)
@click.option("--cite", is_flag=True, help="Print a methods paragraph for a paper.")
def report(
    file: str,
    recipe_file: str | None,
    no_recipe: bool,
    outcome: str | None,
    aspects: str | None,
    out: str | None,
    cite: bool,
) -> None:
    """Write a page on what the ratings in FILE say, and the results as CSV and JSON."""
    click.echo("starting")
    from ratings import recipes
    from ratings import report as pages

    if not recipe_file and not no_recipe:
        recipe_file = _recipe_nearby(file)
    names = _column_names(aspects)
    if Path(file).is_dir():  # of Parquet files: there is nothing to guess
        recipe = recipes.from_yaml(recipe_file) if recipe_file else {}
        given = {"outcome": outcome, "aspects": names}
        recipe |= {key: value for key, value in given.items() if value}
    else:
        recipe = _recipe_for(file, recipe_file, outcome, names)
    asked = recipes.open_questions(recipe)
    if asked:
        questions = (
            "1 question is" if len(asked) == 1 else f"{len(asked)} questions are"
        )
        click.echo(f"\n{questions} open: until answered, no result can be quoted.")
        click.echo(f"Answer by: {_command('inspect', file, recipe_file)}\n")
    if "outcome" not in recipe:
        click.echo(
            "no overall rating is named, so systems are not compared and weights not "
            "computed"
        )
    page = _beside_user(out, Path(file).name, ".report.html")
    click.echo(pages.write_page(file, recipe, page, click.echo))
    if cite:
        results = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
        click.echo(f"\n{results['methods']}")


def _recipe_for(
    file: str, recipe_file: str | None, outcome: str | None, names: list[str]
) -> dict:
    """Take the recipe of a file, or propose one and show it."""
    from ratings import inspection

    seen = inspection.recipe_for(file, recipe_file or "", outcome, names)
    if seen.size:
        click.echo(seen)
        click.echo("\nread without a recipe of yours, as shown above")
    if seen.problem:
        raise click.ClickException(
            f"{seen.name} cannot be read: correct the file, the names of columns or "
            f"the recipe, or run\n    ratings inspect {file}"
        )
    return seen.recipe


def _recipe_nearby(file: str) -> str | None:
    """Find the recipe that `ratings inspect` writes for a file, and say so."""
    name = f"{_stem(Path(file).name)}.recipe.yaml"
    for folder in (Path(), Path(file).parent):
        path = folder / name
        if path.is_file():
            click.echo(f"read as {path} says (to do without: --no-recipe)")
            return str(path)
    return None


def _column_names(text: str | None) -> list[str]:
    """Take apart names with commas between; quotation marks hold a name together."""
    if not text:
        return []
    (names,) = csv.reader([text], skipinitialspace=True)
    return [name.strip() for name in names]


def _beside_user(out: str | None, name: str, ending: str) -> Path:
    """Place a new file in the working folder, by default under the name of another."""
    return Path(out or f"{_stem(name)}{ending}").absolute()


def _stem(name: str) -> str:
    """Take off the end of the name of a file."""
    return name.partition(".")[0]
