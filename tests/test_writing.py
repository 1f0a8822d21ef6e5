"""Files that are replaced in one step."""

from helpers import paths


def test_files_are_replaced_in_one_step(tmp_path):
    file = tmp_path / "new" / "file.txt"
    paths.replace_files({file: b"one"})
    paths.replace_files({file: b"two"})
    assert file.read_bytes() == b"two"
    assert list(file.parent.iterdir()) == [file]
