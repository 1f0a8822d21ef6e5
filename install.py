"""Make the environment .venv complete, or say in one sentence why that cannot be done.

    python3 install.py           build .venv; nothing to do if it is complete
    python3 install.py doctor    the same, with every file read again, and a report

Each package brings a file RECORD: its files with their sizes and hashes. Once all packages have
been found as recorded, .venv/complete is written. It says for which folder, lock and Python this is
true. Without it, or if one of these differs, .venv is built anew; so it is if a file has gone or
changed since. Downloads are kept by pip and uv, so that this takes a minute or two.

Every Python since 3.6 can read this file, so that an old one gets a sentence, not a syntax error.
"""

import base64
import contextlib
import csv
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

AGAIN = "then run make again."
DISK = 2  # GB that .venv takes, with the files on their way into it
PYTHONS = ["python3.11", "python3.12", "python3.13", "python3.14", "python3"]
FIT = """import sys
version = sys.version.split()[0]
if sys.version_info < (3, 11): sys.exit("is " + version)
try: import ensurepip, ssl, venv, zlib
except ImportError as fault: sys.exit("lacks %s (Debian: python3-venv)" % fault.name)
print(version)"""
SITE = "import sysconfig; print(ascii(sysconfig.get_path('purelib')))"

# A machine's own settings of pip stay in force, save those that install elsewhere or otherwise.
OTHERWISE = ["CONSTRAINT", "DRY_RUN", "NO_DEPS", "PREFIX", "REQUIREMENT", "ROOT", "TARGET"]
UNSET = {"PYTHONHOME", "PYTHONPATH", *(f"PIP_{name}" for name in OTHERWISE)}
SET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
FOR_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
}

FAULTS = {
    r"No space left|Disk quota|File too large|os error (27|28|122)\b": "The disk is full: make 2 GB"
    " free for this folder, the caches in your home and temporary files",
    r"Permission denied|Read-only|not permitted|os error (1|13|30)\b": "A folder cannot be written:"
    " get the right to write there, or copy the project to a folder of your own",
    r"Connection|timed out|dns error|sending request|unreachable|SSLError|No matching": "The index"
    " cannot be reached or lacks a package: check the network, or set PIP_INDEX_URL to another",
    r"DO NOT MATCH|Hash mismatch|not as recorded": "The index sends other files than"
    " requirements.lock names: set PIP_INDEX_URL to another",
    r".": "The environment could not be built: mend what is said below",
}


class Stop(Exception):
    """Says in one sentence what is wrong and what to do."""


class Failed(Exception):
    """Holds what a program said when it failed."""


class Environment:
    """The folder .venv of a project."""

    def __init__(self, root: Path):
        self.root = root.resolve()
        self.folder = self.root / ".venv"
        self.python = str(self.folder / "bin" / "python")
        self.marker = self.folder / "complete"
        self.lock = self.root / "requirements.lock"

    def ensure(self, thorough: bool = False) -> None:
        """Build the environment unless it is complete; if thorough, read every file."""
        if self.fault(thorough):
            with alone(self.root):
                fault = self.fault(thorough)  # another make may have mended it meanwhile
                if fault:
                    self.build(fault)

    def fault(self, thorough: bool) -> str:
        """Tell why .venv is not complete; empty if it is."""
        known = self.known()
        if not known:
            return "unfinished" if self.folder.exists() else "missing"
        if known["made_for"] != self.made_for():
            return "made for another folder or another requirements.lock"
        if not self.runs():
            return "without its Python"
        damaged = self.damaged(known["packages"], 0 if thorough else self.marker.stat().st_mtime)
        return f"damaged ({', '.join(damaged)})" if damaged else ""

    def build(self, fault: str) -> None:
        """Build .venv from nothing, by uv or else by pip; if both fail, leave nothing."""
        if self.folder.is_symlink() or self.folder.is_file():
            raise Stop(f".venv is a file or a link, not a folder: move it away, {AGAIN}")
        if os.pathsep in str(self.root) or not str(self.root).isprintable():
            raise Stop(f"The path of this folder has a colon or odd bytes: rename it, {AGAIN}")
        python, version = find_python(self.folder / "bin")
        print(f".venv is {fault}: building it with Python {version} (a minute or two)", flush=True)
        for install in (self.by_uv, self.by_pip):
            run(["rm", "-rf", str(self.folder)])
            free = shutil.disk_usage(str(self.root)).free / 1e9
            if free < DISK:
                raise Stop(f"Only {free:.1f} GB of disk are free: free {DISK} GB, {AGAIN}")
            try:
                run([python, "-I", "-m", "venv", "--without-pip", str(self.folder)])
                run([self.python, "-I", "-m", "ensurepip", "--default-pip"])
                install()
                self.add_project()
                return self.call_complete()
            except (Failed, OSError) as failure:
                said = str(failure)
                if "NewConnectionError" in said:  # pip's word: it would not get further now
                    break
        run(["rm", "-rf", str(self.folder)])
        raise Failed(said)

    def by_uv(self) -> None:
        """Install the locked packages by uv, which is fast."""
        uv_itself = re.search(r"^uv==(.*\\\n)*.*", self.lock.read_text(), re.MULTILINE)
        if not uv_itself:
            raise Failed("requirements.lock names no uv")
        first = self.folder / "uv.txt"
        first.write_text(uv_itself.group())
        self.pip("install", "--require-hashes", "-r", str(first))
        uv = [str(self.folder / "bin" / "uv"), "pip", "install", "--python", self.python]
        options = ["--system-certs", "--compile-bytecode", "--index-strategy", "unsafe-best-match"]
        run([*uv, *options, "--require-hashes", "-r", str(self.lock)], self.settings_for_uv())

    def by_pip(self) -> None:
        """Install the locked packages by pip and past its cache: slow, but with few conditions."""
        print("uv failed; pip tries, and takes longer (if that recurs: uv cache clean)", flush=True)
        self.pip("install", "--no-cache-dir", "--require-hashes", "-r", str(self.lock))

    def add_project(self) -> None:
        """Install the project itself, editable, with its command."""
        local = ["--no-deps", "--no-build-isolation", "--no-index"]
        self.pip("install", *local, "--editable", str(self.root))

    def pip(self, *arguments: str) -> str:
        """Run the environment's pip."""
        return run([self.python, "-I", "-m", "pip", *arguments])

    def settings_for_uv(self) -> dict:
        """Tell uv where pip would look for packages."""
        said = self.pip("config", "list")
        found = reversed(re.findall(r"\.([a-z-]+)='(.*)'$", said, re.MULTILINE))  # :env: comes last
        return {FOR_UV[k]: v.replace("\\n", " ").strip() for k, v in found if k in FOR_UV}

    def known(self) -> dict:
        """Read for what the environment is complete; empty if it is not."""
        try:
            return json.loads(self.marker.read_text())
        except (OSError, ValueError):
            return {}

    def made_for(self) -> list:
        """What an environment depends on: its path, and what says which packages it has."""
        return [str(self.folder), digest(self.lock), digest(self.root / "pyproject.toml")]

    def call_complete(self) -> None:
        """Compare all packages with their RECORD; if they agree, write the marker."""
        packages = {file.parent.name: digest(file) for file in self.site().glob("*/RECORD")}
        damaged = self.damaged(packages)
        if damaged:
            raise Failed(f"not as recorded: {', '.join(damaged)}")
        known = {"made_for": self.made_for(), "packages": packages}
        unfinished = self.folder / "complete.unfinished"
        unfinished.write_text(json.dumps(known, indent=1))
        unfinished.replace(self.marker)

    def damaged(self, packages: dict, changed: float = 0) -> list:
        """List packages with another RECORD than given, or with files not as recorded."""
        paths = [self.site() / name for name in packages]
        with ThreadPoolExecutor(4) as threads:
            whole = threads.map(lambda path: is_whole(path, packages[path.name], changed), paths)
            return [path.stem for path, good in zip(paths, whole) if not good]  # noqa: B905

    def site(self) -> Path:
        """Folder of the installed packages."""
        return next(self.folder.glob("lib/python3.*/site-packages"), self.folder)

    def runs(self) -> bool:
        """Tell whether the environment's Python runs, from there and with these packages."""
        try:
            return run([self.python, "-I", "-c", SITE]) == ascii(str(self.site()))
        except (Failed, OSError):
            return False


def digest(file: Path) -> str:
    """Hash of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def is_whole(package: Path, record: str, changed: float) -> bool:
    """Tell whether a package has the RECORD of that hash, and all files in it as recorded."""
    try:
        rows = recorded(package)
        return digest(package / "RECORD") == record and all(
            as_recorded(row, changed) for row in rows
        )
    except (OSError, ValueError, csv.Error):
        return False


def recorded(package: Path) -> list:
    """Read path, hash and size of a package's files; what has no hash may come and go."""
    with (package / "RECORD").open(newline="", encoding="utf-8") as file:
        return [(package.parent / row[0], *row[1:]) for row in csv.reader(file) if row[1]]


def as_recorded(row: tuple, changed: float) -> bool:
    """Compare a file's size and, if it changed after a time, its hash."""
    path, value, size = row
    status = path.stat()
    if status.st_size != int(size) or status.st_mtime <= changed:
        return status.st_size == int(size)
    method, expected = value.split("=", 1)
    found = hashlib.new(method, path.read_bytes()).digest()
    return base64.urlsafe_b64encode(found).decode().rstrip("=") == expected


@contextlib.contextmanager
def alone(root: Path):
    """Lock the folder for us and for programs started meanwhile, even if they outlive us."""
    folder = os.open(str(root), os.O_RDONLY)
    os.set_inheritable(folder, True)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another make is building .venv: waiting for it", flush=True)
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        print("This file system has no locks: do not start another make now", flush=True)
    try:
        yield
    finally:
        os.close(folder)


def find_python(not_in: Path) -> list:
    """Path and version of the first Python that can build an environment."""
    path = os.pathsep.join(each for each in os.get_exec_path() if Path(each) != not_in)
    names = [os.environ["PYTHON"]] if os.environ.get("PYTHON") else PYTHONS
    unfit = [f"there is no {names[-1]}"]
    for python in filter(None, (shutil.which(name, path=path) for name in names)):
        try:
            return [python, run([python, "-I", "-c", FIT])]
        except (Failed, OSError) as failure:
            unfit.append(f"{python} {failure}".splitlines()[0])
    unfit.sort(key=lambda why: (" lacks " in why, " is " in why))
    raise Stop(f"Python 3.11 or newer is needed, but {unfit[-1]}: install it, {AGAIN}")


def run(command: list, settings=()) -> str:
    """Run a program and return what it says; it asks nobody, and holds our lock."""
    env = {name: value for name, value in os.environ.items() if name not in UNSET}
    env.update(SET, **dict(settings))
    streams = {"stdin": DEVNULL, "stdout": PIPE, "stderr": STDOUT}
    done = subprocess.run(command, env=env, close_fds=False, **streams)
    said = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode:
        raise Failed(said or f"{command[0]} ended with {done.returncode}")
    return said


def explain(said: str) -> str:
    """Say what a fault means and what to do, and quote the line that tells it."""
    for pattern, sentence in FAULTS.items():
        for line in reversed(said.splitlines()):
            if re.search(pattern, line):
                return f"{sentence}, {AGAIN}\n    {line.strip()}"
    return said


def main(arguments: list):
    """Make the environment complete; return what keeps it from that, or the exit status."""
    environment, doctor = Environment(Path(__file__).parent), arguments == ["doctor"]
    try:
        environment.ensure(thorough=doctor)
        if doctor:
            packages = len(environment.known()["packages"])
            print(f".venv is complete: every file of {packages} packages is as recorded")
    except Stop as stop:
        return str(stop)
    except (Failed, OSError) as fault:
        return explain(str(fault))
    except KeyboardInterrupt:
        print("Interrupted: run make again.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
