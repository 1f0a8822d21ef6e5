"""Runs with other parameters than those that a notebook's text describes say so.

`data/defaults.csv` holds the defaults of the committed notebooks; `make refresh` writes
it.
"""

import csv
import json
import os
from collections.abc import Mapping

from helpers import paths

FILE = paths.DATA / "defaults.csv"
# Other values of these change which data are used, how many draws stand behind a
# number, or where results go, and nothing that the text says.
WITHOUT_NOTICE = {
    "claims_file",
    "data_source",
    "headlines_file",
    "n_boot",
    "n_draws",
    "n_sim",
    "n_splits",
    "n_studies",
    "n_trials",
    "out_dir",
    "seed",
}
# the overview has no parameters of its own; 53 is made to be changed
ANY_VALUES = ("00", "53")


def changed(notebook: str, values: Mapping[str, object]) -> str:
    """Compare the parameters of a run with those that the notebook's text describes.

    If one differs, a warning is printed. Pass what is returned to
    `helpers.show.use_style`, which writes it on every figure, and to
    `helpers.claims.ledger.Ledger`, which then judges no claim.

    Parameters
    ----------
    notebook : str
        Name of the notebook, such as "11_error_weights".
    values : mapping of str to object
        Values by name, those of all parameters among them; in a notebook `globals()`.

    Returns
    -------
    str
        What differs, in words; empty if nothing does, or if the notebook is not a
        committed one.

    Examples
    --------
    >>> values = {"refusal_filter": "any", "bin_width": 0.5}
    >>> words = changed("14_assertiveness_confound", values)
    OTHER PARAMETERS: refusal_filter = 'any' instead of 'majority'.
    The text describes the default, and no claim is judged.
    >>> words
    "refusal_filter = 'any' instead of 'majority'"
    """
    differences = []
    for name, default in _defaults(notebook).items():
        value = values.get(name, default)
        if isinstance(value, str):
            # a file of the project is named as in the notebook
            value = value.removeprefix(f"{paths.ROOT}{os.sep}")
        if value != default:
            differences.append(f"{name} = {value!r} instead of {default!r}")
    words = ", ".join(differences)
    if words:
        print(f"OTHER PARAMETERS: {words}.")
        print("The text describes the default, and no claim is judged.")
    return words


def _defaults(notebook: str) -> dict[str, object]:
    """Defaults of the parameters of a committed notebook; of another none."""
    defaults = {}
    with FILE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["notebook"] == notebook:
                defaults[row["parameter"]] = json.loads(row["default"])
    return defaults
