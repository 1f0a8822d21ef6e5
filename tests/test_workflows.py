"""Public checks do what the guides promise, as far as one machine can tell."""

import json
import re

import pytest
import yaml
from test_environment import PROJECT, PYTHONS

from helpers import paths

FOLDER = paths.ROOT / ".github"
FILES = sorted((FOLDER / "workflows").glob("*.yml"))
MAKEFILE = (paths.ROOT / "Makefile").read_text()


def workflow(file) -> dict:
    """A workflow; YAML takes its key `on` for a truth."""
    read = yaml.safe_load(file.read_text())
    return {"on" if key is True else key: value for key, value in read.items()}


def steps(file) -> list[dict]:
    """All steps of all jobs of a workflow."""
    return [step for job in workflow(file)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_workflow_has_limits_and_may_only_read(file):
    parsed = workflow(file)
    assert parsed["permissions"] == {"contents": "read"}
    assert parsed["concurrency"]["group"]
    assert all(job["timeout-minutes"] <= 90 for job in parsed["jobs"].values())
    granted = {
        name: job["permissions"]
        for name, job in parsed["jobs"].items()
        if "permissions" in job
    }
    assert granted == (
        {"site": {"pages": "write", "id-token": "write"}}
        if file.stem == "real-data"
        else {}
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_actions_are_pinned_by_commit_with_their_version_and_keep_no_key(file):
    used = re.findall(r"uses: (.*)", file.read_text())
    assert used
    assert [
        each
        for each in used
        if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", each)
    ] == []
    checkouts = [step for step in steps(file) if "checkout" in step.get("uses", "")]
    assert [step["with"] for step in checkouts] == [
        {"persist-credentials": False}
    ] * len(checkouts)


def test_one_version_of_an_action_is_used_everywhere():
    used = {
        each for file in FILES for each in re.findall(r"uses: (.*)", file.read_text())
    }
    assert len(used) == len({each.partition("@")[0] for each in used})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_steps_call_make_targets_that_there_are(file):
    named = re.findall(r"^(?:RESULTS|CHECKS) :=(.*)", MAKEFILE, re.MULTILINE)
    phony = " ".join([*named, "lock"]).split()
    commands = "\n".join(step.get("run", "") for step in steps(file))
    called = re.findall(r"^make (\w+)", commands, re.MULTILINE)
    assert set(called) <= set(phony)
    assert set(re.findall(r"(\w+)=", commands)) <= {"ARGS", "DATA"}


def test_tests_run_where_the_guide_promises():
    strategy = workflow(FOLDER / "workflows" / "tests.yml")["jobs"]["test"]["strategy"]
    matrix = strategy["matrix"]
    assert not strategy["fail-fast"]
    assert tuple(matrix["python"]) == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    kinds = {"ubuntu": "Linux", "macos": "Mac"}
    assert {kinds[system.split("-")[0]] for system in matrix["system"]} == {
        "Linux",
        "Mac",
    }
    assert any(system.endswith("-arm") for system in matrix["system"])


def test_a_notebook_runs_in_the_environment_of_conda():
    commands = [
        step.get("run", "") for step in steps(FOLDER / "workflows" / "tests.yml")
    ]
    name = yaml.safe_load((paths.ROOT / "environment.yml").read_text())["name"]
    made = [command for command in commands if "conda" in command]
    assert made[0] == "conda env create --file environment.yml"
    run, notebook, *_ = made[1].removeprefix(f"conda run --name {name} ").split()[0:2]
    assert run == "papermill"
    assert (paths.ROOT / notebook).is_file()


def test_newer_versions_of_locked_packages_are_proposed_and_tested():
    found = steps(FOLDER / "workflows" / "packages.yml")
    commands = [step["run"] for step in found if "run" in step]
    assert "make lock ARGS=--upgrade" in commands
    assert commands[-1] == "make test DATA=simulated"
    assert "schedule" in workflow(FOLDER / "workflows" / "packages.yml")["on"]


def test_real_data_are_compared_on_every_push_and_every_week_and_nothing_is_pushed():
    file = FOLDER / "workflows" / "real-data.yml"
    assert {"push", "schedule"} <= set(workflow(file)["on"])
    job = workflow(file)["jobs"]["compare"]
    assert job["env"]["PYTHON"] == f"python{PYTHONS[0]}"
    assert "make compare DATA=real" in [step.get("run") for step in job["steps"]]
    assert not any("continue-on-error" in step for step in job["steps"])
    commands = "\n".join(step.get("run", "") for file in FILES for step in steps(file))
    assert "git push" not in commands


def test_the_site_is_built_of_the_run_that_was_compared_with_real_data():
    uploads = [
        file.stem for file in FILES if "upload-pages-artifact" in file.read_text()
    ]
    assert uploads == ["real-data"]
    jobs = workflow(FOLDER / "workflows" / "real-data.yml")["jobs"]
    assert jobs["site"]["needs"] == "compare"


def test_the_form_of_a_dispute_asks_what_decides():
    form = yaml.safe_load((FOLDER / "ISSUE_TEMPLATE" / "dispute.yml").read_text())
    asked = {
        field["id"]: field for field in form["body"] if field["type"] != "markdown"
    }
    assert list(asked) == ["claim_id", "words", "reading", "what", "decide", "privacy"]
    needed = [
        name
        for name, field in asked.items()
        if field.get("validations", {}).get("required")
    ]
    assert needed == ["claim_id", "words", "reading", "what", "decide"]
    example = asked["claim_id"]["attributes"]["placeholder"]
    assert f"\n{example}," in (paths.ROOT / "figures" / "claims.csv").read_text()


def test_archives_are_told_what_the_project_says_of_itself():
    told = json.loads((paths.ROOT / ".zenodo.json").read_text())
    cited = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text())
    assert told["version"] == cited["version"] == PROJECT["version"]
    assert told["license"] == cited["license"] == PROJECT["license"]
    assert told["creators"] == cited["authors"] == PROJECT["authors"]
    assert (told["title"], told["keywords"]) == (cited["title"], cited["keywords"])
