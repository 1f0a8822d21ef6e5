"""Commands behind `make`: run all notebooks or one, compare, publish, start one."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import yaml

from helpers import paths
from helpers.data import registry, studies
from helpers.data.published import read_text
from helpers.data.tables import OptionError, PlainError, to_csv_bytes
from helpers.run import notebooks, publish
from helpers.run.notebooks import say
from helpers.run.parameters import SOURCES


@click.group(help=__doc__)
def main() -> None:
    """Run from the project's folder, whoever calls."""
    os.chdir(paths.ROOT)
    notebooks.set_environment()


@main.command("all")
@click.option("--data", type=click.Choice(SOURCES), default="auto")
def run_all(data: str) -> None:
    """Run all notebooks, and judge the claims by their results."""
    _finish(_run_all(data))


@main.command()
def refresh() -> None:
    """Run all notebooks on real data, and commit what they give to the folders."""
    from helpers.studies import summaries  # takes a second

    unpinned = [
        file for name in studies.titles() for file in registry.unpinned_here(name)
    ]
    if unpinned:
        raise PlainError(
            "results of files without a known hash are never committed: move "
            f"{', '.join(unpinned)} away first"
        )
    names = sorted(notebooks.notebook_files())
    defaults = publish.write_parameters(names)
    os.environ["DEFAULT_PARAMETERS"] = str(defaults)
    written = summaries.write_summaries()
    outcomes = notebooks.run_all(names, "real")
    _judge("real")
    _finish(outcomes)
    left_out = [outcome.name for outcome in outcomes if not outcome.finished]
    if left_out:
        raise PlainError(f"not committed, as there are no data for {left_out}")
    written += publish.publish(names)
    say(f"{len(written)} files renewed in data/, notebooks/, figures/, results/, docs/")


@main.command()
def compare() -> None:
    """Run all notebooks on real data; stop if results, tables or pictures differ."""
    outcomes = _run_all("real")
    _finish(outcomes)
    names = [outcome.name for outcome in outcomes if outcome.finished]
    _refuse([*publish.changed_tables(), *publish.changed_pictures(names)])
    say("all committed results and pictures are as computed anew")


@main.command("check-nbval")
def check_nbval() -> None:
    """Compare what the notebooks under nbval have saved and drawn with what is here."""
    names = list(notebooks.notebook_files())
    _refuse([*publish.changed_results(names), *publish.changed_pictures(names)])
    say("saved results and pictures are those that are committed")


@main.command("real-data")
def real_data() -> None:
    """Exit with 0 if all real data are here or can be downloaded, else say why not."""
    for study in studies.titles():
        try:
            registry.resolve([study], "real")
        except PlainError as error:
            say(f"no real data of {study}: {error}")
            sys.exit(1)


@main.command()
@click.argument("name")
@click.option("-p", "parameters", nargs=2, multiple=True, metavar="PARAMETER VALUE")
def one(name: str, parameters: Sequence[tuple[str, str]]) -> None:
    """Run one notebook, and write its page beside it."""
    from nbconvert import HTMLExporter

    given = {}
    for key, text in parameters:
        try:
            given[key] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise OptionError(f"{key}: {text!r} cannot be read as a value") from None
    outcome = notebooks.run(name, given)
    if not outcome.finished:
        sys.exit(1)
    file = notebooks.executed(name)
    # of the templates of nbconvert, this one keeps alternative texts
    html, _ = HTMLExporter(template_name="classic").from_filename(str(file))
    page = file.with_suffix(".html")
    paths.replace_files({page: html.encode()})
    say(os.path.relpath(page))


@main.command()
@click.argument("name", default="")
def new(name: str) -> None:
    """Start the notebook of a new study, such as 70_my_study."""
    file = notebooks.create(name)
    say(f"{os.path.relpath(file)}: open it with `make lab`; when it is done,")
    say("`make refresh` runs it and lists it in notebooks/README.md")


def _run_all(data: str) -> list[notebooks.Outcome]:
    """Run all notebooks, and judge the claims by their results."""
    outcomes = notebooks.run_all(sorted(notebooks.notebook_files()), data)
    _judge(data)
    return outcomes


def _judge(data: str) -> None:
    """Join the results of all notebooks, and judge the claims by them."""
    from helpers.claims import tables  # takes half a second

    names = notebooks.notebook_files()
    for file in (paths.BUILD / "results").glob("*.csv"):
        if file.stem not in names:  # of a notebook that has gone
            file.unlink()
    made = tables(paths.BUILD, is_real=data != "simulated")
    for name, table in made.items():
        paths.replace_files({_table(name): to_csv_bytes(table, index=False)})


def _table(name: str) -> Path:
    """File of a joined table of a run."""
    return paths.BUILD / f"{name}.csv"


def _finish(outcomes: Sequence[notebooks.Outcome]) -> None:
    """Sum up a run; stop if a notebook failed, and name those that did."""
    claims = read_text(_table("claims"))
    for study, verdicts in claims.groupby("study", sort=False)["verdict"]:
        counts = verdicts.value_counts().items()
        words = [f"{number} {verdict}" for verdict, number in counts]
        say(f"{study}: {', '.join(words)}")
    for outcome in outcomes:
        if outcome.left_out:
            say(f"{outcome.name}: left out. {outcome.error}")
    failed = [o for o in outcomes if not o.finished and not o.left_out]
    if failed:
        lines = [f"  {outcome.name}: {outcome.error}" for outcome in failed]
        raise PlainError("\n".join(["these notebooks have no results:", *lines]))


def _refuse(found: Sequence[str]) -> None:
    """Stop if anything differs."""
    if found:
        raise PlainError("\n".join(["these differ from what is committed:", *found]))


if __name__ == "__main__":
    try:
        main(standalone_mode=False)
    except (PlainError, OSError, click.ClickException) as error:
        sys.exit(f"{error}")
    except (KeyboardInterrupt, click.Abort):
        sys.exit("\nstopped")
