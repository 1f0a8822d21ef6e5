"""Make the environment .venv complete, or say in one sentence why that cannot be done.

    python3 install.py           build .venv; nothing to do if it is complete
    python3 install.py doctor    the same, with every file read again, and a report

Each package brings a file RECORD: its files with their sizes and hashes. Once all packages have
been found as recorded, .venv/complete is written. It says for which folder, lock and Python this is
true. Without it, or if one of these differs, .venv is built anew; so it is if a file has gone or
changed since. Downloads are kept by pip and uv, so that this takes a minute or two.

Every Python since 3.6 can read this file, so that an old one gets a sentence, not a syntax error.
"""

import ast
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
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

AGAIN = "then run make again."
DISK = 2e9  # bytes that .venv takes, with the files on their way into it
PYTHONS = "python3.11 python3.12 python3.13 python3.14 python3"  # outputs come from 3.11
FIT = """import sys
version = sys.version.split()[0]
if sys.version_info < (3, 11): sys.exit("is " + version)
try: import ensurepip, ssl, venv, zlib
except ImportError as fault: sys.exit("lacks %s (Debian: python3-venv)" % fault.name)
print(version)"""
VERSION = """import sys
print("%d.%d" % sys.version_info[:2])
sys.exit(sys.prefix != sys.argv[1])"""

# A machine's own settings of pip stay in force, save those that install elsewhere or otherwise.
OTHERWISE = ["CONSTRAINT", "DRY_RUN", "NO_DEPS", "PREFIX", "REQUIREMENT", "ROOT", "TARGET"]
UNSET = {"PYTHONHOME", "PYTHONPATH", *(f"PIP_{name}" for name in OTHERWISE)}
SET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
FOR_UV = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
}

FAULTS = {
    r"No space left|Disk quota|File too large|os error (27|28|122)\b": "The disk is full: make 2 GB"
    " free for this folder, the caches in your home and temporary files",
    r"Permission denied|Read-only|not permitted|os error (1|13|30)\b": "A folder cannot be written:"
    " get the right to write there, or copy the project to a folder of your own",
    r"Connection|timed out|dns error|sending request|unreachable|SSLError": "The package index"
    " cannot be reached: check the network, or name another index (PIP_INDEX_URL=address)",
    r"DO NOT MATCH|Hash mismatch|not as recorded": "The package index sends other files than"
    " requirements.lock names: name another index (PIP_INDEX_URL=address)",
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
        self.project = self.root / "pyproject.toml"

    def ensure(self, thorough: bool = False) -> None:
        """Build the environment unless it is complete; if thorough, read every file."""
        if not self.fault(thorough) and self.has_project():
            return
        self.refuse_what_cannot_work()
        with alone(self.root):
            fault = self.fault(thorough)
            if fault:
                self.build(fault)
            elif not self.has_project():
                self.add_project()
                self.call_complete()

    def fault(self, thorough: bool = False) -> str:
        """Tell why .venv is not complete; empty if it is."""
        known = self.known()
        if not known:
            return "unfinished" if self.folder.exists() else "missing"
        if known["folder"] != str(self.folder):
            return "made for another folder"
        if known["lock"] != digest(self.lock):
            return "older than requirements.lock"
        if known["python"] != self.version():
            return "without its Python"
        changed = 0 if thorough else self.marker.stat().st_mtime
        damaged = self.damaged(known["packages"], changed)
        return f"damaged ({', '.join(damaged)})" if damaged else ""

    def refuse_what_cannot_work(self) -> None:
        """Stop where nothing could be installed anyway."""
        if self.folder.is_symlink() or (self.folder.exists() and not self.folder.is_dir()):
            raise Stop(f".venv is a file or a link, not a folder: move it away, {AGAIN}")
        if os.pathsep in str(self.root):
            raise Stop(f"Python allows no colon in the path of .venv: rename the folder, {AGAIN}")
        if not os.access(str(self.root), os.W_OK):
            raise Failed(f"Permission denied: {self.root}")

    def build(self, fault: str) -> None:
        """Build .venv from nothing, by uv or else by pip; if both fail, leave nothing."""
        python, version = find_python(self.folder / "bin")
        print(f".venv is {fault}: building it with Python {version}, for minutes", flush=True)
        said = []
        for install in (self.by_uv, self.by_pip):
            self.delete()
            self.refuse_full_disk()
            try:
                run([python, "-I", "-m", "venv", str(self.folder)])
                install()
                self.add_project()
                return self.call_complete(check=True)
            except Failed as failure:
                said.append(str(failure))
        self.delete()
        raise Failed("\n".join(said))

    def delete(self) -> None:
        """Delete .venv, first of all what calls it complete."""
        if self.folder.exists():
            with contextlib.suppress(FileNotFoundError):
                self.marker.unlink()
            shutil.rmtree(str(self.folder))

    def refuse_full_disk(self) -> None:
        """Stop if the environment would not fit."""
        free = shutil.disk_usage(str(self.root)).free
        if free < DISK:
            raise Stop(f"2 GB of disk are needed, {free / 1e9:.1f} are free: delete some, {AGAIN}")

    def by_uv(self) -> None:
        """Install the locked packages by uv, which is fast."""
        uv_itself = re.search(r"^uv==.*(\\\n.*)*", self.lock.read_text(), re.MULTILINE)
        if not uv_itself:
            raise Failed("requirements.lock names no uv")
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(uv_itself.group())
            file.flush()
            self.pip("install", "--require-hashes", "-r", file.name)
        uv = [str(self.folder / "bin" / "uv"), "pip", "install", "--python", self.python]
        options = ["--system-certs", "--compile-bytecode", "--index-strategy", "unsafe-best-match"]
        locked = ["--require-hashes", "-r", str(self.lock)]
        run([*uv, *options, *locked], self.settings_for_uv())

    def by_pip(self) -> None:
        """Install the locked packages by pip and past its cache: slow, but with few conditions."""
        self.pip("install", "--no-cache-dir", "--require-hashes", "-r", str(self.lock))

    def add_project(self) -> None:
        """Install the project itself, editable, with its command."""
        local = ["--no-deps", "--no-build-isolation", "--no-index"]
        self.pip("install", *local, "--editable", str(self.root))

    def has_project(self) -> bool:
        """Tell whether the project was installed as it is described now."""
        return self.known()["project"] == digest(self.project)

    def pip(self, *arguments: str) -> str:
        """Run the environment's pip."""
        return run([self.python, "-I", "-m", "pip", *arguments])

    def settings_for_uv(self) -> dict:
        """Tell uv where pip would look for packages."""
        values = {}
        for line in reversed(self.pip("config", "list").splitlines()):  # :env: comes first
            name, _, value = line.partition("=")
            values[name.split(".")[-1]] = ast.literal_eval(value).split()
        return {
            variable: between.join(values[name])
            for name, (variable, between) in FOR_UV.items()
            if name in values and variable not in os.environ
        }

    def known(self) -> dict:
        """Read for what the environment is complete; empty if it is not."""
        try:
            return json.loads(self.marker.read_text())
        except (OSError, ValueError):
            return {}

    def call_complete(self, check: bool = False) -> None:
        """Write the marker, if need be after reading all files."""
        packages = {file.parent.name: digest(file) for file in self.site().glob("*/RECORD")}
        damaged = self.damaged(packages) if check else []
        if damaged:
            raise Failed(f"not as recorded: {', '.join(damaged)}")
        known = {
            "folder": str(self.folder),
            "lock": digest(self.lock),
            "project": digest(self.project),
            "python": self.version(),
            "packages": packages,
        }
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

    def version(self) -> str:
        """Version of the environment's Python; empty if it does not run, or belongs elsewhere."""
        try:
            return run([self.python, "-I", "-c", VERSION, str(self.folder)])
        except Failed:
            return ""


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
    method, _, value = value.partition("=")
    found = hashlib.new(method, path.read_bytes()).digest()
    return base64.urlsafe_b64encode(found).decode().rstrip("=") == value


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
    names = os.environ.get("PYTHON", PYTHONS).split()
    unfit = [f"there is no {names[-1]}"]
    for python in filter(None, (shutil.which(name, path=path) for name in names)):
        try:
            return [python, run([python, "-I", "-c", FIT])]
        except Failed as failure:
            unfit.append(f"{python} {failure}".splitlines()[0])
    raise Stop(f"Python 3.11 or newer is needed, but {unfit[-1]}: install it, {AGAIN}")


def run(command: list, settings=()) -> str:
    """Run a program and return what it says; it asks nobody."""
    inherited = {name: value for name, value in os.environ.items() if name not in UNSET}
    try:
        done = subprocess.run(
            command,
            env={**inherited, **SET, **dict(settings)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            close_fds=False,  # so that it holds the lock, too
            encoding="utf-8",
            errors="replace",
        )
    except OSError as fault:
        raise Failed(str(fault)) from fault
    if done.returncode:
        raise Failed(done.stdout.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout.strip()


def explain(said: str) -> str:
    """Say what a fault means and what to do, and quote the line that tells it."""
    for pattern, sentence in FAULTS.items():
        for line in reversed(said.splitlines()):
            if re.search(pattern, line):
                return f"{sentence}, {AGAIN}\n    {line.strip()}"
    return said


def report(environment: Environment) -> str:
    """Say what is there."""
    packages = environment.known()["packages"]
    free = shutil.disk_usage(str(environment.root)).free / 1e9
    return (
        f".venv is complete: Python {environment.version()}, every file of {len(packages)} packages"
        f" is as recorded; {free:.0f} GB of disk are free."
    )


def main(arguments: list) -> int:
    """Make the environment complete; return the exit status."""
    environment, doctor = Environment(Path(__file__).parent), arguments == ["doctor"]
    try:
        environment.ensure(thorough=doctor)
        if doctor:
            print(report(environment))
        return 0
    except Stop as stop:
        print(stop, file=sys.stderr)
    except (Failed, OSError) as fault:
        print(explain(str(fault)), file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted: run make again.", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
