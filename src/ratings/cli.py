"""The command `ratings`: propose roles of columns, and report what ratings say.

What a command needs is imported when it runs, so that `ratings --help` answers at once.
"""

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ratings.proposal import Proposal
    from ratings.roles import Roles
    from ratings.table import Table

SHOWN_ROWS = 10
WIDEST = 24  # letters of a cell
TEXTS = (
    ("item", "Column of what was rated, such as an answer."),
    ("prompt", "Column of what belongs together, such as a question."),
    ("rater", "Column of who rated."),
    ("system", "Column of what made the items, such as a model."),
    ("score", "Column of the score; in wide files a pattern such as score_{rater}."),
    ("a", "In pairs: column of the system shown first."),
    ("b", "In pairs: column of the system shown second."),
    ("winner", "In pairs: column of the choice."),
    ("name", "In files by name and value: column of names; --score is one of them."),
    ("value", "In files by name and value: column of values."),
    ("repeats", "Which rating of an item by one rater counts: first, last or mean."),
    ("sheet", "Sheet of an Excel file."),
    ("records", "List of objects in a JSON file."),
)
LISTS = (
    ("aspects", "Columns that may predict the score."),
    ("judge", "Labels of raters that are models; never pooled with people."),
    ("text", "Column of texts (or numbers of words); in pairs two."),
    ("ties", "In pairs: values of the choice that say neither."),
    ("says", "In pairs: words of the choice for a and for b."),
    ("missing", "Codes that stand for no rating, such as 9."),
    ("leave-out", "Raters to leave out."),
    ("accept", "Concerns about raters that do not stop conclusions."),
)
TABLES = (
    ("words", "Numbers for words, as yes=1,no=0."),
    ("scale", "Lowest and highest score that could be given, as overall=1:5."),
)


class PlainGroup(click.Group):
    """Commands whose errors are one message without a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nstopped: nothing half-written is left", err=True)
            ctx.exit(130)  # as shells tell of an interrupt
        except (ValueError, OSError) as error:
            from helpers.data.tables import PlainError, plainly

            if not isinstance(error, PlainError | OSError):
                raise
            raise click.ClickException(plainly(error)) from None


def role_options(command: Callable) -> Callable:
    """Add an option for every role to a command."""
    for name, words in reversed((*TEXTS, *LISTS, *TABLES)):
        is_text = (name, words) in TEXTS
        more = "" if is_text else " Several with commas."
        command = click.option(f"--{name}", help=f"{words}{more}")(command)
    command = click.option(
        "--roles", "toml", metavar="TOML", help="File of roles; FILE.toml if it exists."
    )(command)
    return click.option(
        "--yes", is_flag=True, help="Accept what is proposed, unseen; outputs say so."
    )(command)


@click.group(cls=PlainGroup)
def main() -> None:
    """Answer four questions about anybody's ratings.

    Do people agree? Which system is rated higher, or preferred? What predicts the
    score? Can a judge stand in for people?
    """


@main.command()
@click.argument("file")
@role_options
def check(file: str, toml: str | None, yes: bool, **options: str | None) -> None:
    """Propose what the columns of FILE are, and write FILE.toml once you confirm it."""
    from dataclasses import replace

    from ratings import roles as role_rules

    path = Path(toml) if toml else role_rules.toml_beside(_found(file))
    given = _given(path, options)
    given = replace(given, confirmed="")
    table = _table(file, given)
    proposal = _proposed(table, given, path, options)
    while True:
        click.echo(describe(table, proposal))
        if yes:
            answer = "yes"
        elif not sys.stdin.isatty():
            answer = "no"
        else:
            answer = click.prompt("Is this right? [yes, no, or ROLE=COLUMN]")
        if answer.lower() in ("y", "yes", "n", "no"):
            break
        proposal = _corrected(table, proposal.roles, answer)
    is_confirmed = answer.lower() in ("y", "yes")
    how = "unseen" if yes else "yes"
    roles = replace(proposal.roles, confirmed=how if is_confirmed else "")
    comments = [
        f"Roles of the columns of {table.name}. They count once a person has checked",
        'them and this file says: confirmed = "yes"',
    ]
    role_rules.write_toml(path, roles, comments)
    click.echo(f"{path} written")
    if is_confirmed:
        click.echo(f"Next: ratings report {file}")
    else:
        click.echo(
            'Nothing is confirmed. Correct the file and write confirmed = "yes" into '
            "it, run this in a terminal, or give roles as options (--rater COLUMN)."
        )


@main.command()
@click.argument("file")
@role_options
@click.option("--out", metavar="FOLDER", help="FILE.report here if not given.")
def report(
    file: str, toml: str | None, yes: bool, out: str | None, **options: str | None
) -> None:
    """Answer the four questions about FILE, and write a page and its tables."""
    from dataclasses import replace

    from helpers.data.tables import OptionError
    from ratings import report as pages
    from ratings import roles as role_rules

    path = Path(toml) if toml else role_rules.toml_beside(_found(file))
    roles = _given(path, options)
    has_toml = path.is_file()
    if has_toml and not roles.confirmed and not yes:
        # what nobody has confirmed counts for nothing
        roles = role_rules.combine(role_rules.Roles(), _parsed(options))
    table = _table(file, roles)
    if yes and not roles.confirmed:
        proposal = _proposed(table, roles, path, options)
        click.echo(describe(table, proposal))
        roles = replace(proposal.roles, confirmed="unseen")
    elif has_toml and not roles.given():
        raise OptionError(
            f"the roles in {path.name} are not confirmed: run `ratings check {file}` "
            'in a terminal, write confirmed = "yes" into that file, or give roles as '
            "options (--score COLUMN --rater COLUMN ...)"
        )
    elif not roles.given():
        raise OptionError(
            f"nobody has said what the columns are: run `ratings check {file}`, or "
            "give roles as options (--score COLUMN --rater COLUMN ...)"
        )
    ratings = role_rules.prepare(table, roles)
    del table  # which is larger than the ratings in it
    found = pages.answers(ratings)
    click.echo(pages.as_text(found))
    folder = Path(out or f"{Path(file).name}.report").absolute()
    page, *key = pages.write(found, folder)
    click.echo(f"\nPage: {page}\nTables: the CSV files beside it")
    for each in key:
        click.echo(f"Who is who, for you alone: {each}")


def _found(file: str) -> Path:
    """Find the file of ratings."""
    from helpers.data.tables import find

    return find(file)


def _given(path: Path, options: dict[str, str | None]) -> "Roles":
    """Read roles from a file, if there is one, and from options, which come first."""
    from ratings import roles as role_rules

    known = role_rules.read_toml(path) if path.is_file() else role_rules.Roles()
    return role_rules.combine(known, _parsed(options))


def _parsed(options: dict[str, str | None]) -> dict[str, object]:
    """Turn the text of options into values of roles."""
    from helpers.data.tables import OptionError

    values = {}
    lists = [name.replace("-", "_") for name, _ in LISTS]
    tables = [name for name, _ in TABLES]
    for name, text in options.items():
        if text is None:
            continue
        if name in lists:
            values[name] = split(text)
        elif name in tables:
            values[name] = {}
            for part in split(text):
                key, equals, value = part.rpartition("=")
                try:
                    numbers = [float(each) for each in value.split(":")]
                except ValueError:
                    numbers = []
                if not equals or len(numbers) != (1 if name == "words" else 2):
                    form = dict(TABLES)[name].partition(", ")[2]
                    raise OptionError(f"--{name} {text!r} cannot be read: write {form}")
                values[name][key] = numbers[0] if name == "words" else numbers
        else:
            values[name] = text
    return values


def split(text: str) -> list[str]:
    """Take apart names with commas between; quotation marks hold a name together."""
    (names,) = csv.reader([text], skipinitialspace=True)
    return [name.strip() for name in names if name.strip()]


def _table(file: str, roles: "Roles") -> "Table":
    """Read a file."""
    from ratings import table

    return table.read(file, sheet=roles.sheet, records=roles.records)


def _proposed(
    table: "Table", roles: "Roles", path: Path, options: dict[str, str | None]
) -> "Proposal":
    """Propose what is not given, and say where the rest stands."""
    from ratings import proposal as proposals

    proposal = proposals.propose(table, roles)
    for name in set(roles.given()) - set(_parsed(options)):
        proposal.reasons[name] = f"in {path.name}"
    return proposal


def _corrected(table: "Table", roles: "Roles", answer: str) -> "Proposal":
    """Carry out a correction that somebody types, such as rater=worker."""
    from dataclasses import replace

    from helpers.data.tables import OptionError
    from ratings import proposal as proposals
    from ratings import roles as role_rules

    name, equals, value = answer.partition("=")
    name = name.strip().replace("-", "_")
    known = [each.replace("-", "_") for each, _ in (*TEXTS, *LISTS, *TABLES)]
    try:
        if not equals or name not in known:
            raise OptionError(f"write one of {', '.join(known)}, then = and its value")
        if value.strip():
            values = _parsed({name: value.strip()})
            given = role_rules.combine(role_rules.released(roles, values), values)
        else:
            given = replace(roles, **{name: getattr(role_rules.Roles(), name)})
        prepared = proposals.Proposal(given)
        for each in given.given():
            prepared.reasons[each] = "as shown before"
        prepared.reasons[name] = "given by you"
        role_rules.prepare(table, given)
    except ValueError as error:
        click.echo(f"This cannot be: {error}", err=True)
        return proposals.Proposal(roles, dict.fromkeys(roles.given(), "as before"))
    return prepared


def describe(table: "Table", proposal: "Proposal") -> str:
    """Write what a file is taken for, why, and ten rows as they would be used."""
    from helpers.data.tables import PlainError
    from ratings import roles as role_rules

    frame = table.frame
    lines = [f"{table.name}: {len(frame):,} rows, {frame.shape[1]:,} columns", ""]
    for name, value in proposal.roles.given().items():
        reason = proposal.reasons.get(name, "")
        lines.append(f"  {name} = {role_rules.in_words(value)}")
        lines.append(f"      {reason}")
    lines += [f"  ! {remark}" for remark in proposal.remarks]
    used = str(proposal.roles.given().values())
    unused = [column for column in frame if f"{column!r}" not in used]
    if unused and not any("{" in each for each in [proposal.roles.score]):
        more = f" and {len(unused) - 12} more" if len(unused) > 12 else ""
        lines.append(f"  not used: {', '.join(unused[:12])}{more}")
    try:
        ratings = role_rules.prepare(table, proposal.roles)
    except PlainError as error:
        return "\n".join([*lines, "", f"It cannot be used like this: {error}", ""])
    shown = ratings.frame.head(SHOWN_ROWS).reset_index()
    shown = shown.astype(object).where(shown.notna(), "")
    shown = shown.map(lambda value: str(value)[:WIDEST])
    lines += ["", "The first rows as they would be used (raters numbered):"]
    lines += [shown.to_string(index=False, max_cols=12), ""]
    for reason, n_rows in ratings.left_out:
        lines.append(f"  left out: {n_rows:,} rows ({reason})")
    return "\n".join([*lines, ""])
