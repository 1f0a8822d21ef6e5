import subprocess
import sys

from helpers import paths


def test_folders_lie_in_the_project_which_holds_package_and_registry():
    assert (paths.ROOT / "src" / "helpers" / "paths.py").is_file()
    assert (paths.DATA / "registry.csv").is_file()
    assert (paths.PUBLISHED / "claims.csv").is_file()
    assert (paths.NOTEBOOKS / "00_overview.ipynb").is_file()


def test_importing_creates_nothing(tmp_path):
    (tmp_path / "paths.py").write_text(
        (paths.ROOT / "src/helpers/paths.py").read_text()
    )
    subprocess.run([sys.executable, "-B", "-S", "paths.py"], cwd=tmp_path, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["paths.py"]


def test_files_are_replaced_in_one_step(tmp_path):
    file = tmp_path / "new" / "a" / "file.txt"
    paths.replace_files({file: b"one"})
    paths.replace_files({file: b"two"})
    assert file.read_bytes() == b"two"
    assert list(file.parent.iterdir()) == [file]
