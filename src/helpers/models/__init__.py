"""The papers' methods for models, run: judge, word tests, benchmark, simulated users.

`connect` gives a model to ask; see `helpers.models.ask`. The modules `judge`, `words`,
`benchmark`, `users` and `scores` hold one method each, and `prompts.toml` all prompts.
"""

from helpers.models.ask import Likelihood, Model, ModelError, connect, small_model

__all__ = ["Likelihood", "Model", "ModelError", "connect", "small_model"]
