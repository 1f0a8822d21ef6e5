"""Check parameters, run notebooks, publish what a run on real data gives."""

from helpers.run.parameters import check

__all__ = ["check"]
