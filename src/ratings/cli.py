"""The command `ratings`: list, run and start notebooks, read ratings, find faults.

What a command needs is imported when it runs, so that `ratings --help` answers at once.
"""

from helpers.run import say_stopped

STOPPED = "stopped: nothing half-written is left"
say_stopped(STOPPED)  # before the other imports, which take a moment

import csv
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from helpers import paths

LEAST_DISK = 0.5  # GB: more than a run of all notebooks and its downloads take


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
    """Re-analyses of how people judge language models."""


@main.command("list")
@click.argument("name", required=False)
def list_notebooks(name: str | None) -> None:
    """List the notebooks, or the parameters of one."""
    from helpers.run import notebooks

    if name is None:
        for each in notebooks.notebook_names():
            click.echo(f"{each}: {notebooks.title(each)}")
        return
    file = notebooks.notebook_file(name)
    for parameter in notebooks.parameters_of(file).values():
        click.echo("{name} = {default}: {help}".format_map(parameter))
        click.echo(f"    {notebooks.what_fits(parameter)}")


@main.command("run")
@click.argument("name")
@click.option(
    "-p",
    "parameters",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="A parameter.",
)
@click.option(
    "--data", type=click.Choice(["auto", "real", "simulated"]), default="auto"
)
@click.option(
    "--out", metavar="FOLDER", help="Where results go; build/one-off if not given."
)
def run_one(
    name: str, parameters: tuple[tuple[str, str], ...], data: str, out: str | None
) -> None:
    """Run the notebook NAME, maybe with other parameters: -p aggregation mean."""
    from helpers.run import notebooks, results

    file = notebooks.notebook_file(name)
    values = notebooks.parameter_values(file, dict(parameters))
    folder = paths.BUILD / "one-off"
    if out:
        folder = Path.cwd() / out
    _require_own_folder(folder)
    lock = results.hold(folder)
    notebooks.set_environment(folder)
    kinds = {}
    for study in notebooks.studies_of(name):
        kinds[study], *_ = results.resolve(study, data)
    source = results.joint_source(kinds, data)
    values = {"data_source": source, "out_dir": str(folder)} | values
    target = results.executed(name, folder)
    with lock, results.renewed(name, folder):
        seconds = notebooks.execute(file, target, values)
    click.echo(f"{name}: finished in {seconds:.1f} s with {source} data\n{target}")


def _require_own_folder(folder: Path) -> None:
    """Stop if a folder holds files that are not results of a run."""
    from helpers.data.tables import PlainError
    from helpers.run import results

    holds_files = folder.is_dir() and any(folder.iterdir())
    if holds_files and not (folder / results.LOCK).exists():
        raise PlainError(
            f"{folder} holds other files: give a folder that is new or empty"
        )


@main.command()
@click.argument("name")
def new(name: str) -> None:
    """Start the notebook NAME of a new study, such as 70_my_study."""
    from helpers.run import notebooks

    file = notebooks.create(name, paths.NOTEBOOKS)
    click.echo(f"{file}: open it with `make lab`; when it is done,")
    click.echo("`make refresh` runs it and lists it in the READMEs")


@main.command("why")
@click.argument("claim")
def explain_claim(claim: str) -> None:
    """Say how CLAIM came to its verdict: place, rule, cell, data."""
    from helpers.claims import collection

    click.echo(collection.why(claim))


@main.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Say what is there and what is wrong; mend what can be mended."""
    faults = [*state_faults(), *data_faults(), *kernel_faults()]
    for fault in faults:
        click.echo(f"wrong: {fault}")
    ctx.exit(bool(faults))


def state_faults() -> Iterator[str]:
    """Mend the state of runs; name what is wrong with the folder of results."""
    from helpers.run import results

    folder = paths.BUILD
    state = folder / ".doit.json"
    is_writable = folder.is_dir() and os.access(folder, os.W_OK)
    if folder.exists() and not is_writable:
        yield f"{folder} is no folder that results can be written to: move it away"
    elif state.is_file() and results.read_object(state) is None:
        state.unlink()
        click.echo(f"mended: {state} was damaged; all notebooks run again next time")
    free = shutil.disk_usage(folder.parent).free / 1e9
    click.echo(f"disk: {free:.1f} GB free")
    if free < LEAST_DISK:
        yield f"less than {LEAST_DISK} GB free for {folder}: free some"
    for name, reason in results.missing(folder).items():
        if reason.startswith(results.LEFT_OUT):
            continue
        yield f"{name} has no results ({reason}): run `make reproduce` again"


def data_faults() -> Iterator[str]:
    """Say which data of each study are on this machine; name files that are wrong."""
    from helpers.data import registry, studies

    for study in studies.titles():
        try:
            files = registry.status(study)
        except registry.DataError as error:
            yield str(error)
            return
        counts = files["state"].value_counts()
        states = ", ".join(f"{n} {state}" for state, n in counts.items())
        click.echo(f"{study}: {states or 'no files but its printed tables'}")
        wrong = files[files["state"] == "wrong"]
        for _, row in wrong.iterrows():
            fault = f"{row['file']} in the {row['where']} is not the registered file"
            yield f"{fault}: delete it and run again"


def kernel_faults() -> Iterator[str]:
    """Start a kernel as notebooks do; say why if that fails."""
    from jupyter_client.manager import start_new_kernel

    from helpers.run.notebooks import KERNEL_OPTIONS, set_environment

    with tempfile.TemporaryDirectory() as folder:
        set_environment(Path(folder))
        try:
            manager, client = start_new_kernel(
                kernel_name="python3",
                extra_arguments=KERNEL_OPTIONS["extra_arguments"],
            )
        except Exception as error:
            yield f"no kernel starts ({error}): delete .venv and run make"
            return
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    click.echo("kernel: starts")


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


@main.command("large")
@click.argument("folder")
@click.option("--recipe", "recipe_file", metavar="YAML", required=True)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Batches at the same time; one if not given, or all that Dask has room for.",
)
@click.option(
    "--scheduler",
    default="",
    metavar="ADDRESS",
    help="A Dask scheduler whose workers sum, such as tcp://127.0.0.1:8786.",
)
@click.option("--out", metavar="CSV", help="FOLDER.weights.csv here if not given.")
def large(
    folder: str, recipe_file: str, jobs: int | None, scheduler: str, out: str | None
) -> None:
    """Weights from Parquet files that do not fit in memory, summed part by part."""
    from helpers import paths
    from helpers.data.tables import PlainError, to_csv_bytes
    from ratings import large as sums
    from ratings import recipes

    recipe = recipes.from_yaml(recipe_file)
    if not Path(folder).exists():
        raise PlainError(f"{folder}: there is no such file or folder")
    with sums.on_workers(scheduler):
        summed = sums.from_recipe(folder, recipe, jobs)
    found = summed.conclude()
    for aspect, verdict in found["verdict"].items():
        click.echo(f"{aspect}: {verdict}")
    target = _beside_user(out, Path(folder).name, ".weights.csv")
    table = to_csv_bytes(found.rename_axis("aspect"), float_format="%.6g")
    paths.replace_files({target: table})
    click.echo(f"{summed.n_ratings:,} ratings used; {summed.n_left_out:,} rows left")
    click.echo("out, for want of a mark or a label. Not told by sums:")
    for each in sums.NOT_DONE:
        click.echo(f"  - {each}")
    click.echo(target)


def _beside_user(out: str | None, name: str, ending: str) -> Path:
    """Place a new file in the working folder, by default under the name of another."""
    return Path(out or f"{_stem(name)}{ending}").absolute()


def _stem(name: str) -> str:
    """Take off the end of the name of a file."""
    return name.partition(".")[0]
