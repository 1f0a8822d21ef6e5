"""How people judge language models: data, statistics, figures and verdicts."""

import sys
from importlib import import_module

# Building the URI grammar of this module takes two seconds, and no notebook holds a URI
# to check.
sys.modules.setdefault("rfc3987_syntax", None)

VERBS = (
    "weights",
    "aspect_weights",
    "rates",
    "compare",
    "correlation",
    "agreement",
    "tree",
)
__all__ = list(VERBS)


def __getattr__(name: str) -> object:
    """Load a verb when it is first asked for: pytest loads this module as a plugin."""
    if name not in VERBS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("helpers.verbs"), name)


def __dir__() -> list[str]:
    """Let Tab find the verbs before one is loaded."""
    return sorted({*globals(), *VERBS})
