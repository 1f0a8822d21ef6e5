"""The command `ratings`: read ratings, write a report on them, explain a verdict.

What a command needs is imported when it runs, so that `ratings --help` answers at once.
"""

import csv
import json
from pathlib import Path

import click

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
@click.option("--recipe", "recipe_file", metavar="YAML", help="One to check and go on.")
@click.option("--sheet", help="Of an Excel file; the first if not given.")
@click.option(
    "--out", metavar="YAML", help="The recipe; FILE.recipe.yaml here if not given."
)
def propose_recipe(
    file: str, recipe_file: str | None, sheet: str | None, out: str | None
) -> None:
    """Say what the file of ratings FILE seems to hold, and write a recipe for it.

    With --recipe, what that says is kept and only the rest is proposed.
    """
    from ratings import inspection, recipes

    known = recipes.from_yaml(recipe_file) if recipe_file else {}
    if sheet:
        if ".xlsx" not in file.lower():
            raise click.UsageError(f"--sheet is for Excel files, which {file} is not")
        known["file"] = {**known.get("file", {}), "sheet": sheet}
    seen = inspection.inspect(file, known)
    path = _beside_user(out, seen.name, ".recipe.yaml")
    if recipe_file and not out:
        click.echo(seen)
        if seen.sample.empty:
            click.echo(f"\n{recipe_file} cannot be followed yet: see above")
            return
        _say_what_is_new(seen.recipe, known, file, recipe_file)
        return
    if path.exists():
        raise FileExistsError(
            f"{path.name} exists: check it with --recipe {path.name}, name another "
            "with --out, or delete it"
        )
    click.echo(seen)
    if seen.sample.empty and seen.other_sheets and "outcome" not in seen.recipe:
        sheets = ", ".join(map(repr, seen.other_sheets))
        click.echo("\nno recipe is written: no ratings are found on this sheet.")
        click.echo(f"Others are {sheets}, as in")
        click.echo(f"    ratings inspect {file} --sheet {seen.other_sheets[0]!r}")
        return
    recipes.write_yaml(seen.recipe, path, seen.name, seen.seen_ends)
    click.echo(f"\n{path.name} written: edit it, then")
    click.echo(f"    ratings report {file} --recipe {path.name}")


def _say_what_is_new(recipe: dict, known: dict, file: str, recipe_file: str) -> None:
    """Print what a recipe lacks; the file of the recipe stays as it is."""
    from ratings import recipes

    new = {key: value for key, value in recipe.items() if known.get(key) != value}
    if new:
        click.echo(f"\n{recipe_file} stays as it is. What could be added to it")
        click.echo("(or written to another file, with --out):\n")
        click.echo(recipes.as_yaml(new))
    else:
        click.echo(f"\n{recipe_file} says all that is needed")
    click.echo(f"    ratings report {file} --recipe {recipe_file}")


@main.command()
@click.argument("file")
@click.option(
    "--recipe",
    "recipe_file",
    metavar="YAML",
    help="From `ratings inspect`, maybe edited; FILE.recipe.yaml, if it is here or "
    "beside FILE, needs not be named.",
)
@click.option("--no-recipe", is_flag=True, help="Use none, also if there is one.")
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
    from ratings import inspection
    from ratings import report as pages

    if not recipe_file and not no_recipe:
        recipe_file = _recipe_nearby(file)
    names = _column_names(aspects)
    seen = inspection.recipe_for(file, recipe_file or "", outcome, names)
    if seen.contents:
        click.echo(seen)
        if seen.sample.empty:
            raise click.ClickException(
                f"{Path(file).name} is not understood, see the last lines under "
                f"“Please check”: correct --outcome, --aspects or the recipe, or run\n"
                f"    ratings inspect {file}"
            )
        if seen.to_check:
            click.echo("\nGoing on as this says. If it is wrong, write a recipe:")
            click.echo(f"    ratings inspect {file}\n")
    page = _beside_user(out, Path(file).name, ".report.html")
    click.echo(
        pages.write_page(file, seen.recipe, page, click.echo, assumed=seen.to_check)
    )
    if cite:
        results = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
        click.echo(f"\n{results['methods']}")


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
