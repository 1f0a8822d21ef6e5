"""The command `ratings`: list notebooks, run one with other parameters, start one, find faults.

What a command needs is imported when it runs, so that `ratings --help` answers at once.
"""

from helpers.run import say_stopped

STOPPED = "stopped: nothing half-written is left"
say_stopped(STOPPED)  # before the other imports, which take a moment

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
    for parameter in notebooks.parameters_of(notebooks.notebook_file(name)).values():
        click.echo("{name} = {default}: {help}".format(**parameter))
        click.echo(f"    {notebooks.what_fits(parameter)}")


@main.command("run")
@click.argument("name")
@click.option(
    "-p", "given", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter."
)
@click.option(
    "--data", type=click.Choice(["auto", "real", "simulated"]), default="auto"
)
@click.option(
    "--out", metavar="FOLDER", help="Where results go; build/one-off if not given."
)
def run_one(
    name: str, given: tuple[tuple[str, str], ...], data: str, out: str | None
) -> None:
    """Run the notebook NAME, maybe with other parameters: -p aggregation mean."""
    from helpers.data.tables import PlainError
    from helpers.run import notebooks, results

    file = notebooks.notebook_file(name)
    values = notebooks.parameter_values(file, dict(given))
    folder = Path.cwd() / out if out else paths.BUILD / "one-off"
    if (
        folder.is_dir()
        and any(folder.iterdir())
        and not (folder / results.LOCK).exists()
    ):
        raise PlainError(
            f"{folder} holds other files: give a folder that is new or empty"
        )
    lock = results.hold(folder)
    notebooks.set_environment(folder)
    kinds = {
        study: results.resolve(study, data)[0] for study in notebooks.studies_of(name)
    }
    own = {"data_source": results.joint_source(kinds, data), "out_dir": str(folder)}
    target = results.executed(name, folder)
    with lock, results.renewed(name, folder):
        seconds = notebooks.execute(file, target, own | values)
    click.echo(
        f"{name}: finished in {seconds:.1f} s with {own['data_source']} data\n{target}"
    )


@main.command()
@click.argument("name")
def new(name: str) -> None:
    """Start the notebook NAME of a new study, such as 60_my_study."""
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

    folder, file = paths.BUILD, paths.BUILD / ".doit.json"
    if folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK)):
        yield f"{folder} is no folder that results can be written to: move it away"
    elif file.is_file() and results.read_object(file) is None:
        file.unlink()
        click.echo(f"mended: {file} was damaged; all notebooks run again next time")
    free = shutil.disk_usage(folder.parent).free / 1e9
    click.echo(f"disk: {free:.1f} GB free")
    if free < LEAST_DISK:
        yield f"less than {LEAST_DISK} GB free for {folder}: free some"
    for name, reason in results.missing(folder).items():
        if reason.startswith(results.LEFT_OUT):
            continue
        yield f"{name} has no results ({reason}): run `make reproduce` again"


def data_faults() -> Iterator[str]:
    """Say which data of each study are on this machine; name the files that are wrong."""
    from helpers.data import registry, studies

    for study in studies.titles():
        try:
            files = registry.status(study)
        except registry.DataError as error:
            yield str(error)
            return
        counts = ", ".join(
            f"{n} {state}" for state, n in files["state"].value_counts().items()
        )
        click.echo(f"{study}: {counts or 'no files but its printed tables'}")
        for _, (file, where, state) in files.iterrows():
            if state == "wrong":
                yield f"{file} in the {where} is not the registered file: delete it and run again"


def kernel_faults() -> Iterator[str]:
    """Start a kernel as notebooks do; say why if that fails."""
    from jupyter_client.manager import start_new_kernel

    from helpers.run.notebooks import KERNEL_OPTIONS, set_environment

    with tempfile.TemporaryDirectory() as folder:
        set_environment(Path(folder))
        try:
            quiet = KERNEL_OPTIONS["extra_arguments"]
            manager, client = start_new_kernel(
                kernel_name="python3", extra_arguments=quiet
            )
        except Exception as error:
            yield f"no kernel starts ({error}): delete .venv and run make"
            return
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    click.echo("kernel: starts")


@main.command("inspect")
@click.argument("file")
@click.option(
    "--out", metavar="YAML", help="The recipe; FILE.recipe.yaml here if not given."
)
def propose_recipe(file: str, out: str | None) -> None:
    """Say what the file of ratings FILE seems to hold, and write a recipe for reading it."""
    from ratings import inspection, recipes

    seen = inspection.inspect(file)
    path = Path(out or f"{seen.name.partition('.')[0]}.recipe.yaml").absolute()
    if path.exists():
        raise FileExistsError(
            f"{path.name} exists: name another with --out, or delete it"
        )
    click.echo(seen)
    recipes.write_yaml(seen.recipe, path, seen.name)
    click.echo(f"\n{path.name} written: edit it, then")
    click.echo(f"    ratings report {file} --recipe {path.name}")


@main.command()
@click.argument("file")
@click.option(
    "--recipe", "given", metavar="YAML", help="From `ratings inspect`, maybe edited."
)
@click.option("--outcome", help="The column to explain.")
@click.option("--aspects", help="The columns that may explain it, with commas between.")
@click.option(
    "--out", metavar="HTML", help="The page; FILE.report.html here if not given."
)
def report(
    file: str,
    given: str | None,
    outcome: str | None,
    aspects: str | None,
    out: str | None,
) -> None:
    """Write a page on what the ratings in FILE say, and the results as CSV and JSON."""
    click.echo("starting")
    from ratings import inspection
    from ratings import report as pages

    seen = inspection.recipe_for(
        file, given, outcome, aspects.split(",") if aspects else ()
    )
    if seen.seen:
        click.echo(seen)
    page = Path(out or f"{Path(file).name.partition('.')[0]}.report.html").absolute()
    click.echo(pages.write_page(file, seen.recipe, page, click.echo))
