"""Reads the prompts of `prompts.toml`."""

import hashlib
import tomllib
from pathlib import Path

FILE = Path(__file__).with_name("prompts.toml")


def read(group: str) -> dict:
    """Read the prompts of one method, such as "judge"."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))[group]


def digest() -> str:
    """SHA-256 of all prompts, to tell answers to other prompts apart."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()
