"""Runs every notebook with other values of each parameter, and lists what it then says.

Each row of sweep.csv is a run. It fails if the run fails, does not begin with the line
that names the parameter, leaves a claim or a headline, or draws a figure without that
line. What code printed and the words of each figure go to build/sweep/report.md, to be
read beside the tables of the run: no program can tell whether a title is true.
"""

import csv
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat

from helpers import paths
from helpers.run import notebooks, results

FOLDER = paths.BUILD / "sweep"
RUNS = Path(__file__).with_name("sweep.csv")
# Enough for titles and tables to agree; estimates of these runs are read nowhere.
FEW_DRAWS = {
    "n_boot": 200,
    "n_draws": 100,
    "n_sim": 40,
    "n_splits": 100,
    "n_studies": 20,
    "n_trials": 200,
}


def read_runs(only: str = "") -> list[dict[str, str]]:
    """List runs: notebook, parameter, value; of notebooks that begin with `only`."""
    with RUNS.open(encoding="utf-8", newline="") as lines:
        return [
            row for row in csv.DictReader(lines) if row["notebook"].startswith(only)
        ]


def write_other_files() -> None:
    """Write files for parameters that name one: answers that are often wrong."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    answers = {
        "all_minilm_l6_v2_word_classes.csv": "half_right.csv",
        "all_minilm_l6_v2_definitions.csv": "half_right_definitions.csv",
    }
    for name, other in answers.items():
        fingerprint, header, *rows = (
            (paths.DATA / "answers" / name).read_text().splitlines()
        )
        changed = [
            row if number % 2 else f"{number},0" for number, row in enumerate(rows)
        ]
        (FOLDER / other).write_text("\n".join([fingerprint, header, *changed]) + "\n")


def run(row: dict[str, str], data: str) -> tuple[str, list[str]]:
    """Run a notebook with one other value; give its report, and what is wrong."""
    name = row["notebook"]
    file = notebooks.notebook_file(name)
    title = f"{name}: {row['parameter']} = {row['value']}"
    folder = (
        FOLDER / f"{name[:2]}-{row['parameter']}-{row['value'].replace('/', '-')[:30]}"
    )
    shutil.rmtree(folder, ignore_errors=True)
    target = results.executed(name, folder)
    few = {
        key: value
        for key, value in FEW_DRAWS.items()
        if key in notebooks.parameters_of(file)
    }
    given = notebooks.parameter_values(file, {row["parameter"]: row["value"]})
    own = {"data_source": data, "out_dir": str(folder)}
    try:
        notebooks.execute(file, target, few | given | own)
    except Exception as error:
        # A model that is not installed is no fault of the notebook, which says so.
        faults = [] if "ModelUnavailableError" in str(error) else [f"{title}: {error}"]
        return f"## {title}\n\n{error}\n", faults
    words = what_is_said(target)
    faults = [
        f"{title}: {fault}" for fault in faults_of(words, folder, row["parameter"])
    ]
    return "\n".join([f"## {title}\n", *words, ""]), faults


def what_is_said(notebook: Path) -> list[str]:
    """Lines that code printed, and the words of each figure, in order."""
    said = []
    for cell in nbformat.read(notebook, as_version=4).cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                said += [
                    f"- printed: {line}" for line in output.text.splitlines() if line
                ]
            elif "image/png" in output.get("data", {}):
                alt = output.metadata.get("image/png", {}).get("alt", "no words")
                said.append(f"- figure: {' '.join(alt.split())}")
    return said


def faults_of(words: list[str], folder: Path, parameter: str) -> list[str]:
    """Say what a run with another parameter should not have done."""
    faults = []
    if not words or f"OTHER PARAMETERS: {parameter} = " not in words[0]:
        faults.append("does not begin with what differs")
    for line in words:
        if line.startswith("- figure") and "Other parameters: " not in line:
            faults.append(f"a figure does not say what differs ({line[:60]})")
    for kind in ("claims", "headlines"):
        if list(folder.glob(f"{kind}/*.csv")):
            faults.append(f"{kind} were written")
    return faults


def main(only: str = "", data: str = "auto") -> int:
    """Run all, or those of one notebook; print faults, and where the report is."""
    write_other_files()
    notebooks.set_environment(FOLDER)
    rows = read_runs(only)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda row: run(row, data), rows))
    report = FOLDER / "report.md"
    report.write_text("\n".join(section for section, _ in found), encoding="utf-8")
    faults = [fault for _, each in found for fault in each]
    print(*faults, sep="\n")
    print(
        f"{len(rows)} runs, {len(faults)} faults; read {report.relative_to(paths.ROOT)}"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
