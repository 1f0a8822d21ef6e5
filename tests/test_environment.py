"""The ways to install the project agree with each other."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from helpers import paths

PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DIRECT = PROJECT["dependencies"] + EXTRAS["dask"] + EXTRAS["dev"]
BUILD = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
BY_PIP = {"ppi-python"}
LOCK = (paths.ROOT / "requirements.lock").read_text()
PINS = re.findall(r"^([a-z0-9._-]+)==([^ ;]+)", LOCK, flags=re.MULTILINE)


def test_environment_yml_has_the_direct_dependencies_of_pyproject():
    environment = yaml.safe_load((paths.ROOT / "environment.yml").read_text())
    python, pip, *packages, after = environment["dependencies"]
    direct = [
        requirement for requirement in map(Requirement, DIRECT) if requirement.name not in BY_PIP
    ]
    assert packages == [f"{each.name.lower()}{each.specifier}" for each in direct]
    assert (python, pip) == (f"python{PROJECT['requires-python']}", "pip")
    assert after == {"pip": ["--editable ."]}


@pytest.mark.parametrize("dependency", [*DIRECT, *EXTRAS["install"], *BUILD])
def test_the_lock_satisfies_pyproject(dependency):
    requirement = Requirement(dependency)
    versions = [Version(version) for name, version in PINS if name == requirement.name.lower()]
    assert versions
    assert all(version in requirement.specifier for version in versions)


def test_the_lock_names_no_index_and_pins_every_package_with_hashes():
    lines = [line.strip() for line in LOCK.splitlines() if not line.lstrip().startswith("#")]
    pin, digest = r"[a-z0-9._-]+==[^ ]+( ; .*)? \\", r"--hash=sha256:[0-9a-f]{64}( \\)?"
    assert "://" not in LOCK
    assert [line for line in lines if not re.fullmatch(f"{pin}|{digest}", line)] == []
    assert len(PINS) == sum("==" in line and not line.startswith("--") for line in lines)


def test_citation_and_licence_agree_with_pyproject():
    citation = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert PROJECT["authors"][0]["name"] in (paths.ROOT / "LICENSE").read_text()
