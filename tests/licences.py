"""Licences of the locked packages; `python tests/licences.py` renews the list.

A package that is locked for another Python or platform than this one keeps its line.
"""

import csv
import io
import re
import tomllib
from collections.abc import Iterable
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from helpers import paths

FILE = paths.ROOT / "LICENCES.csv"
LOCKS = sorted(paths.ROOT.glob("requirements*.lock"))
SETTINGS = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
CHECKS = SETTINGS["dependency-groups"] | {
    "tests": PROJECT["optional-dependencies"]["tests"]
}
FAMILIES = (
    CHECKS | PROJECT["optional-dependencies"] | {"run time": PROJECT["dependencies"]}
)
IN_WORDS = {"axe-playwright-python": "MIT AND MPL-2.0"}  # told by the files in it alone


def locked() -> list[str]:
    """Names in the locks, each once."""
    text = "\n".join(lock.read_text() for lock in LOCKS)
    return sorted(set(re.findall(r"^([a-z0-9._-]+)==", text, flags=re.MULTILINE)))


def listed() -> dict[str, dict[str, str]]:
    """Lines of the list by package."""
    with FILE.open(newline="") as file:
        return {line["package"]: line for line in csv.DictReader(file)}


def found() -> dict[str, dict[str, str]]:
    """What the installed packages say, by package."""
    needed = {}
    for family, requirements in FAMILIES.items():  # what runs comes last, and so wins
        needed |= dict.fromkeys(needs(requirements), family)
    installed = {canonicalize_name(each.name) for each in metadata.distributions()}
    return {
        name: {"package": name, "needed by": needed[name], "licence": licence(name)}
        for name in locked()
        if name in installed & set(needed)
    }


def needs(requirements: Iterable[str]) -> set[str]:
    """Installed packages that some requirements draw in."""
    seen, queue = set(), [(requirement, "") for requirement in requirements]
    while queue:
        text, extra = queue.pop()
        requirement = Requirement(text)
        asked = (canonicalize_name(requirement.name), *sorted(requirement.extras))
        marker = requirement.marker
        if asked in seen or (marker and not marker.evaluate({"extra": extra})):
            continue
        try:
            further = metadata.requires(asked[0]) or []
        except metadata.PackageNotFoundError:
            continue
        seen.add(asked)
        queue += [(each, extra) for each in further for extra in ("", *asked[1:])]
    return {name for name, *_ in seen}


def licence(name: str) -> str:
    """Licence of a package: its expression, its classifiers, or its own words."""
    stated = metadata.metadata(name)
    marks = [mark.split(" :: ")[1:] for mark in stated.get_all("Classifier", [])]
    choices = " OR ".join(mark[-1] for mark in marks if "OSI Approved" in mark[:-1])
    words = (stated.get("License") or "not stated").strip().splitlines()[0]
    return IN_WORDS.get(name) or stated.get("License-Expression") or choices or words


def only_gpl(licence: str) -> bool:
    """Whether a licence leaves no choice but a GPL; the Lesser GPL is another."""
    return all(
        re.search(r"\bA?GPL|GNU (Affero )?General", each)
        for each in licence.split(" OR ")
    )


def main() -> None:
    """Write the list."""
    lines = {**(listed() if FILE.exists() else {}), **found()}
    text = io.StringIO()
    writer = csv.DictWriter(
        text, ["package", "needed by", "licence"], lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(lines[name] for name in locked() if name in lines)
    paths.replace_files({FILE: text.getvalue().encode()})


if __name__ == "__main__":
    main()
