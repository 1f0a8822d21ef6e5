"""How people judge language models: data, statistics, figures and verdicts.

The functions for people who extend an analysis are here:

>>> import helpers
>>> [name for name in dir(helpers) if name in helpers.VERBS]
['agreement', 'aspect_weights', 'compare', 'correlation', 'differences', 'judge',
 'means', 'pairs', 'rates', 'tree', 'weights']
"""

from importlib import import_module

VERBS = (
    "weights",
    "aspect_weights",
    "rates",
    "compare",
    "correlation",
    "agreement",
    "tree",
    "means",
    "differences",
    "pairs",
    "judge",
)
__all__ = list(VERBS)


def __getattr__(name: str) -> object:
    """Load a verb when it is first asked for: notebooks import one verb or none."""
    if name not in VERBS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("helpers.verbs"), name)


def __dir__() -> list[str]:
    """Names for completion with Tab, the verbs among them."""
    return sorted({*globals(), *VERBS})
