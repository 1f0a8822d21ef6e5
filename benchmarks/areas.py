"""How often the interval of an area under the curve covers the truth.

Two designs: labels of four workers who rate several answers each, with worker and
prompt left out in turn; and five unknown raters of each of eight summaries of an
article, with articles left out. The truth is the mean estimate over all studies.

    python benchmarks/areas.py --studies 2000
"""

import argparse

import numpy as np
import pandas as pd

from helpers.studies.other_data_results import Comparison, discrimination

COLUMNS = ["item_id", "cluster", "system", "rater_id", "mark"]


def labels_of_known_workers(rng):
    """Labels of 284 answers to 110 prompts by four of 120 workers; 20 % findings."""
    prompts = rng.normal(0, 0.5, 110)
    leniency = rng.normal(0, 0.8, 120)
    skill = rng.normal(0.35, 0.4, 120)
    rows, found = [], {}
    for answer in range(284):
        prompt = rng.integers(110)
        found[answer] = float(rng.random() < 0.2)
        seen = prompts[prompt] - 1.2 + rng.normal(0, 0.3)
        for worker in rng.choice(120, 4, replace=False):
            latent = seen + leniency[worker] + skill[worker] * found[answer]
            label = float(latent + rng.normal() > 0)
            rows.append([answer, prompt, "one", worker, label])
    return rows, found, (1, 0)


def ratings_of_unknown_people(rng):
    """Five ratings of eight summaries of each of 100 articles."""
    rows, found = [], {}
    for article in range(100):
        level, risk = rng.normal(3.5, 0.7), rng.normal()
        for system in range(8):
            text = 8 * article + system
            found[text] = float(risk + rng.normal() > 1.5)
            quality = level + rng.normal(0, 0.5) - 0.3 * found[text]
            for _ in range(5):
                mark = float(np.clip(round(quality + rng.normal()), 1, 5))
                rows.append([text, article, str(system), np.nan, mark])
    return rows, found, (1, 5)


def main():
    """Print coverage, and the length of standard errors against the true one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=400)
    n_studies = parser.parse_args().studies
    for design in (labels_of_known_workers, ratings_of_unknown_people):
        rng = np.random.default_rng(1)
        tables = []
        for _ in range(n_studies):
            rows, found, scale = design(rng)
            frame = pd.DataFrame(rows, columns=COLUMNS)
            findings = pd.DataFrame({"finding": found})
            wanted = {"crowd": Comparison("mark", "finding")}
            area = discrimination(frame, {"mark": scale}, findings, wanted)
            tables.append(area.table().loc[("crowd", "all texts")])
        table = pd.DataFrame(tables)
        truth = table["estimate"].mean()
        covered = table["low"].le(truth) & table["high"].ge(truth)
        length = table["standard_error"].mean() / table["estimate"].std()
        print(f"{design.__name__}: covers {100 * covered.mean():.1f} %, ", end="")
        print(f"standard error {length:.2f} of the true one")


if __name__ == "__main__":
    main()
