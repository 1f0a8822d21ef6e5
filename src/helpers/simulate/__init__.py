"""Simulated studies with a known truth and the tables of the real ones.

They serve two ends: to test estimators against the truth, and to run every notebook where the
real data cannot be had. Their prompts, questions and answers have "simulated" in their names.

Examples
--------
>>> import numpy as np
>>> ratings, evaluators = kamoda(np.random.default_rng(0), KamodaTruth(n_questions=80))
>>> len(ratings), ratings["item_id"].iloc[0]
(960, 'simulated-question-001|human_top')
"""

from helpers.simulate.hosking import (
    Hosking1Truth,
    Hosking2Truth,
    KamodaTruth,
    hosking_experiment_1,
    hosking_experiment_2,
    hosking_experts,
    hosking_submissions,
)
from helpers.simulate.kamoda import KamodaTextsTruth, kamoda, kamoda_texts

__all__ = [
    "Hosking1Truth",
    "Hosking2Truth",
    "KamodaTextsTruth",
    "KamodaTruth",
    "hosking_experiment_1",
    "hosking_experiment_2",
    "hosking_experts",
    "hosking_submissions",
    "kamoda",
    "kamoda_texts",
]
