"""Makes `.venv` for some extras of the project, or makes it anew if it is damaged.

`make` runs this file by its path: `python3 src/helpers/run/environment.py notebooks`.
It needs nothing but the standard library of any Python 3, even one that is too old for
the project. With --this-python, an environment of another Python is made anew, too.
"""

import ast
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STATE = VENV / "complete.json"
LOCK = ROOT / "requirements.lock"
PROJECT = ROOT / "pyproject.toml"
DAMAGED = "files are missing or damaged of "
VERSION = "import sys; print(sys.version.split()[0])"
# How uv is told what pip knows of package indexes.
SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
}
NO_PACKAGES = (
    "packages could not be installed: is there a connection to the package index? What "
    "pip and uv say of it is in .venv/install.log"
)


def main(extras: list, this_python: bool) -> None:
    """Make sure that `.venv` is whole and has these extras."""
    with PROJECT.open() as project:
        fcntl.flock(project, fcntl.LOCK_EX)  # another make may be making it
        state = read_state()
        missing = sorted(set(extras) - set(state.get("extras", [])))
        fault = fault_of(state, this_python)
        if not fault and not missing:
            return
        refuse_what_cannot_work()
        if fault:
            print(f"making .venv: {fault}", flush=True)
            shutil.rmtree(VENV, ignore_errors=True)
            run(base_python(), "-I", "-m", "venv", VENV)
        else:
            print(f"adding to .venv: {', '.join(missing)}", flush=True)
            STATE.unlink()
        install(sorted({*extras, *state.get("extras", [])}), anew=DAMAGED in fault)


def read_state() -> dict:
    """Read what `.venv` was made of; nothing if it is not complete."""
    try:
        return json.loads(STATE.read_text())
    except (OSError, ValueError):
        return {}


def fault_of(state: dict, this_python: bool) -> str:
    """Say why `.venv` has to be made anew; nothing if it is as it was made."""
    if not state:
        return "it is not complete" if VENV.exists() else "there is none yet"
    if state["made for"] != made_for():
        return "the folder, requirements.lock or pyproject.toml has changed"
    try:
        version = output_of(PYTHON, "-I", "-c", VERSION)
    except (OSError, subprocess.CalledProcessError):
        return "its Python does not start"
    if version != state["python"]:
        return f"its Python was {state['python']}, and is now {version}"
    asked = sys.version.split()[0]
    if this_python and version != asked:
        return f"its Python is {version}, and {asked} was asked for"
    damaged = damaged_packages(state["packages"])
    return DAMAGED + ", ".join(damaged) if damaged else ""


def made_for() -> list:
    """Folder and files that an environment depends on."""
    contents = [file.read_bytes() for file in (LOCK, PROJECT)]
    return [str(ROOT), *(hashlib.sha256(content).hexdigest() for content in contents)]


def damaged_packages(installed: list) -> list:
    """List those of the installed packages that lack a file, or part of one."""
    folder = site_packages()
    damaged = []
    for package in installed:
        try:
            lines = (folder / package / "RECORD").read_text().splitlines()
            whole = all(is_whole(folder, line) for line in lines)
        except OSError:
            whole = False
        if not whole:
            damaged.append(package.partition("-")[0])
    return damaged


def is_whole(folder: Path, line: str) -> bool:
    """Tell whether a file, recorded as `name,hash,size`, is there in that size."""
    name, _, size = line.rsplit(",", 2)
    # there are thirty thousand files, for which pathlib takes twice as long
    found = os.stat(f"{folder}/" + name.strip('"')).st_size  # noqa: PTH116
    return size in ("", str(found))


def site_packages() -> Path:
    """Folder of the installed packages."""
    return next((VENV / "lib").glob("python3*")) / "site-packages"


def refuse_what_cannot_work() -> None:
    """Stop in one sentence if the Python is too old, or HOME cannot be written to."""
    if sys.version_info < OLDEST:
        stop(
            f"Python 3.11 or newer is needed, and {sys.executable} is "
            f"{sys.version.split()[0]}: install one, and name it, as in  "
            "make PYTHON=python3.12"
        )
    cache = Path("~/.cache")
    try:
        cache = cache.expanduser()
        cache.mkdir(parents=True, exist_ok=True)
        writable = os.access(cache, os.W_OK)
    except (OSError, RuntimeError):  # RuntimeError: there is no HOME at all
        writable = False
    if not writable:
        stop(
            f"{cache} cannot be written to: set HOME to a folder that can, as in  "
            "HOME=$PWD/build/home make"
        )


def base_python() -> str:
    """The Python that makes environments, also if `.venv` itself is active."""
    return getattr(sys, "_base_executable", sys.executable)


def install(extras: list, anew: bool) -> None:
    """Install uv, then the extras, as the lock pins them, then the project itself.

    Installed files are links to uv's cache, so that damage may be there, too: `anew`
    does without it.
    """
    uv = VENV / "bin" / "uv"
    pinned_uv = VENV / "uv.txt"
    pinned_uv.write_text(lines_of("uv"))
    pip = [PYTHON, "-I", "-m", "pip", "--disable-pip-version-check"]
    print("installing packages of requirements.lock", flush=True)
    download(*pip, "install", "--retries=1", "--require-hashes", "-r", pinned_uv)
    settings = settings_for_uv(output_of(*pip, "config", "list"))
    command = [uv, "pip", "install", "--python", PYTHON, "--no-progress"]
    wanted = ["--group", "install"]
    for extra in extras:
        wanted += ["--extra", extra]
    download(
        *command,
        "--system-certs",
        "--index-strategy=unsafe-best-match",
        "--require-hashes",
        "--constraint",
        LOCK,
        "--requirement",
        PROJECT,
        *wanted,
        *(["--no-cache"] if anew else []),
        settings=settings,
    )
    project = ["--offline", "--no-deps", "--no-build-isolation", "--editable", ROOT]
    run(*command, "--quiet", *project)
    packages = sorted(folder.name for folder in site_packages().glob("*.dist-info"))
    state = {
        "made for": made_for(),
        "python": output_of(PYTHON, "-I", "-c", VERSION),
        "extras": extras,
        "packages": packages,
    }
    STATE.write_text(json.dumps(state))


def lines_of(package: str) -> str:
    """Lines of the lock that pin one package."""
    _, found, rest = LOCK.read_text().partition(f"\n{package}==")
    lines = (found.strip() + rest).splitlines()
    end = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
    return "\n".join(lines[: end + 1]) + "\n"


def settings_for_uv(listed: str) -> dict:
    """Tell uv the indexes that `pip config list` names; variables outrank files."""
    settings = {}
    for line in sorted(listed.splitlines(), reverse=True):
        key, _, value = line.partition("=")
        variable = SETTINGS.get(key.rpartition(".")[2])
        if variable:
            settings[variable] = " ".join(ast.literal_eval(value).split())
    return settings


def download(*command: object, settings: object = ()) -> None:
    """Run a command that installs packages; stop in one sentence if it fails."""
    environment = {**os.environ, **dict(settings)}
    with (VENV / "install.log").open("a") as log:
        done = subprocess.run(command, env=environment, stdout=log, stderr=log)
    if done.returncode:
        stop(NO_PACKAGES)


def run(*command: object) -> None:
    """Run a command; stop if it fails, which it has explained."""
    if subprocess.run(command).returncode:
        stop(".venv could not be made: see above")


def output_of(*command: object) -> str:
    """Output of a command, without the end of the line."""
    return subprocess.check_output(command, universal_newlines=True).strip()


def stop(words: str) -> None:
    """End with one line."""
    sys.exit(f"make: {words}")


if __name__ == "__main__":
    main(
        [word for word in sys.argv[1:] if not word.startswith("-")],
        this_python="--this-python" in sys.argv,
    )
