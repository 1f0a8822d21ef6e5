"""Run the code of a notebook in this process."""

import warnings
from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat


def run_code(notebook: Path, parameters: Mapping[str, object]) -> Mapping[str, object]:
    """Run a notebook's code in this process; show nothing, give its variables.

    Of the parameters those are set that the notebook has.
    """
    variables = {"__name__": notebook.stem}
    with plt.rc_context({"backend": "Agg"}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in nbformat.read(notebook, as_version=4).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, notebook.stem, "exec"), variables)
                plt.close("all")
            if "parameters" in cell.metadata.get("tags", []):
                for name, value in parameters.items():
                    if name in variables:
                        variables[name] = value
    return variables
