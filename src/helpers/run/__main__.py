"""Run one notebook and make its page: `python -m helpers.run NAME -p alpha 0.05`."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

import yaml
from nbconvert import HTMLExporter

from helpers.data.tables import OptionError, PlainError, plainly
from helpers.paths import BUILD, output_dir, replace_files
from helpers.run import notebooks, say_stopped
from helpers.run.parameters import notebook_file

FOLDER = "build/one-off"


def main(arguments: Sequence[str]) -> Path:
    """Run a notebook as the command line says; return the file of its page."""
    parser = ArgumentParser("make notebook", description=__doc__)
    parser.add_argument("name", help="of the notebook, such as 11_error_weights")
    parser.add_argument(
        "-p", nargs=2, action="append", default=[], metavar=("PARAMETER", "VALUE")
    )
    given = parser.parse_args(arguments)
    file = notebook_file(given.name)
    values = {"out_dir": FOLDER}
    for name, text in given.p:
        values[name] = _value(name, text)
    notebooks.set_environment(BUILD)
    executed = output_dir(FOLDER) / file.name
    print(f"{given.name}: started", flush=True)
    seconds = notebooks.execute(file, executed, values)
    page = executed.with_suffix(".html")
    # of the templates of nbconvert, this one keeps alt texts
    html, _ = HTMLExporter(template_name="classic").from_filename(str(executed))
    replace_files({page: html.encode()})
    print(f"{given.name}: finished in {seconds:.1f} s\n{page}")
    return page


def _value(name: str, text: str) -> object:
    """Read the value of a parameter, as in 0.05, mean or [1, 3]."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise OptionError(f"{name}: {text!r} cannot be read as a value") from None


if __name__ == "__main__":
    say_stopped("stopped")
    try:
        main(sys.argv[1:])
    except (PlainError, OSError) as error:
        sys.exit(plainly(error))
