"""The wheel works outside the clone, with what it asks for and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from helpers import paths


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Folder of a fresh environment with the wheel and only what it asks for."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*build, folder], cwd=paths.ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    uv = Path(sys.executable).with_name("uv")
    venv = folder / "venv"
    subprocess.run([uv, "venv", "--python", sys.executable, venv], check=True)
    install = [uv, "pip", "install", "--python", venv / "bin" / "python"]
    locked = ["--constraint", paths.ROOT / "requirements.lock"]
    subprocess.run([*install, *locked, "--system-certs", wheel], check=True)
    return venv / "bin"


def run_installed(folder: Path, home: Path, *arguments: str) -> str:
    """Run the command of the wheel with nothing of this project's settings."""
    run = subprocess.run(
        [folder / "ratings", *arguments],
        cwd=home,
        env={"PATH": str(folder), "HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_wheel_answers_outside_the_clone_without_the_extras(installed, tmp_path):
    rows = [f"i{n // 3},r{n % 3},{1 + n * 7 % 5},{n % 2}" for n in range(90)]
    (tmp_path / "mine.csv").write_text("\n".join(["item,rater,overall,tone", *rows]))
    said = run_installed(installed, tmp_path, "check", "mine.csv", "--yes")
    assert "score = overall" in said
    said = run_installed(installed, tmp_path, "report", "mine.csv")
    assert "90 ratings, 30 items, 3 raters" in said
    page = (tmp_path / "mine.csv.report/report.html").read_text()
    assert "overall" in page
    assert 'src="http' not in page
    packages = {file.name for file in installed.parent.glob("lib/*/site-packages/*")}
    assert not {"pyarrow", "python_calamine", "sklearn", "statsmodels"} & packages
