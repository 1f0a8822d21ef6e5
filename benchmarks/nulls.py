"""How often `pairs`, `weights`, `judge`, `differences` and `concerns` conclude wrongly.

    python benchmarks/nulls.py --files 1000

Each design draws files in which the truth is known, and counts false conclusions, true
values that intervals miss, and files that are refused. Files are drawn anew for every
design from its own seed.
"""

import warnings
from collections.abc import Callable, Iterator

import click
import numpy as np
import pandas as pd
from scipy.special import expit

from helpers import differences, judge, pairs, weights
from helpers.data.tables import PlainError
from helpers.raters import REVERSED, concerns

# a file in which one group has no variation is counted, not warned about
warnings.filterwarnings("ignore", category=RuntimeWarning)
BOTH = ["rater_id", "prompt_id"]
ASPECTS = ["clarity", "depth", "tone"]


def draw_pairs(
    rng: np.random.Generator, strength: np.ndarray, ties: float, side: float = 0.0
) -> pd.DataFrame:
    """Comparisons of systems by 12 workers over 60 prompts, with habits of both."""
    n_rows = 600
    n_systems = len(strength)
    worker = rng.integers(12, size=n_rows)
    prompt = rng.integers(60, size=n_rows)
    first = rng.integers(n_systems, size=n_rows)
    second = (first + rng.integers(1, n_systems, size=n_rows)) % n_systems
    # workers and prompts favour some systems over others
    by_worker = rng.normal(0, 0.3, (12, n_systems))
    by_prompt = rng.normal(0, 0.5, (60, n_systems))
    appeal = strength + by_worker[worker] + by_prompt[prompt]
    rows = np.arange(n_rows)
    log_odds = appeal[rows, first] - appeal[rows, second] + side
    first_wins = rng.random(n_rows) < expit(log_odds)
    names = np.array([f"system {number:02d}" for number in range(n_systems)])
    winner = np.where(first_wins, names[first], names[second])
    winner = np.where(rng.random(n_rows) < ties, "tie", winner)
    return pd.DataFrame(
        {
            "rater_id": worker,
            "prompt_id": prompt,
            "left": names[first],
            "right": names[second],
            "winner": winner,
        }
    )


def draw_ratings(
    rng: np.random.Generator,
    *,
    n_raters: int,
    n_prompts: int,
    systems: np.ndarray,
    noise: float = 0.8,
    slopes: float = 0.0,
    per_item: int | None = None,
) -> pd.DataFrame:
    """Scores from 1 to 5 by raters of unlike severity, and aspects without effect.

    `slopes` is the standard deviation of raters' own (mean zero) weights of aspects and
    preferences for systems; `per_item` the number of raters of an item.
    """
    n_systems = len(systems)
    item = np.arange(n_prompts * n_systems)
    rater = np.tile(np.arange(n_raters), (len(item), 1))
    if per_item is not None:
        rater = rng.permuted(rater, axis=1)[:, :per_item]
    item = np.repeat(item, rater.shape[1])
    rater = rater.ravel()
    prompt = item // n_systems
    system = item % n_systems
    frame = pd.DataFrame({"rater_id": rater, "item_id": item, "prompt_id": prompt})
    frame["model"] = [f"system {number}" for number in system]
    severity = rng.normal(0, 0.5, n_raters)[rater]
    taste = rng.normal(0, slopes, (n_raters, n_systems))[rater, system]
    of_prompt = rng.normal(0, 0.5, n_prompts)[prompt]
    of_item = rng.normal(0, 0.6, item.max() + 1)[item]
    score = 3 + systems[system] + severity + taste + of_prompt + of_item
    for aspect in ASPECTS:
        of_item = rng.normal(0, 0.7, item.max() + 1)[item]
        frame[aspect] = of_item + rng.normal(0, 0.7, len(frame))
        score = score + rng.normal(0, slopes, n_raters)[rater] * frame[aspect]
    frame["quality"] = score
    score = score + rng.normal(0, noise, len(frame))
    frame["overall"] = np.clip(np.round(score), 1, 5)
    frame["exact"] = score
    return frame


def equal_systems(rng: np.random.Generator) -> dict[str, float]:
    """Three equal systems in pairs, 40 % ties: a difference is false."""
    frame = draw_pairs(rng, np.zeros(3), 0.4)
    found = pairs(frame, "left", "right", "winner", every_pair=True)
    return {
        "false conclusion": (found["p_adjusted"] < 0.05).any(),
        "simultaneous coverage": ((found["low"] <= 50) & (found["high"] >= 50)).all(),
    }


def equal_systems_with_side(rng: np.random.Generator) -> dict[str, float]:
    """The same, where the answer shown first is preferred (log-odds 0.5)."""
    frame = draw_pairs(rng, np.zeros(3), 0.4, side=0.5)
    found = pairs(frame, "left", "right", "winner", every_pair=True)
    return {"false conclusion": (found["p_adjusted"] < 0.05).any()}


def ten_systems_in_pairs(rng: np.random.Generator) -> dict[str, float]:
    """Ten systems of which two by two are equal: all 45 preferences at once."""
    strength = np.repeat([-0.8, -0.4, 0.0, 0.4, 0.8], 2)
    frame = draw_pairs(rng, strength, 0.0)
    found = pd.DataFrame(pairs(frame, "left", "right", "winner", every_pair=True))
    first = found.index.get_level_values(0).str[-2:].astype(int)
    second = found.index.get_level_values(1).str[-2:].astype(int)
    truth = np.sign(strength[first] - strength[second])
    is_shown = found["p_adjusted"] < 0.05
    wrong = is_shown & (np.sign(found["difference"]) != truth)
    return {"false conclusion": wrong.any(), "pairs shown": is_shown[truth != 0].mean()}


def random_slopes(rng: np.random.Generator) -> dict[str, float]:
    """Five raters, each with weights of aspects of their own, zero on average."""
    frame = draw_ratings(rng, n_raters=5, n_prompts=40, systems=np.zeros(2), slopes=0.3)
    return _null_weights(frame, "overall")


def rare_aspect(rng: np.random.Generator) -> dict[str, float]:
    """Eight raters; an aspect without effect that 4 % of ratings have."""
    frame = draw_ratings(rng, n_raters=8, n_prompts=60, systems=np.zeros(2), per_item=3)
    frame["clarity"] = (rng.random(len(frame)) < 0.04).astype(float)
    return _null_weights(frame, "overall")


def _null_weights(frame: pd.DataFrame, outcome: str) -> dict[str, float]:
    """Weights of aspects that have none."""
    within = ["rater_id", "model"]
    found = weights(frame, ASPECTS, outcome, within=within, holm=True)
    known = found["low"].notna()
    covers = (found["low"] <= 0) & (found["high"] >= 0)
    return {
        "false conclusion": (found["p_holm"] < 0.05).any(),
        "coverage": covers[known].mean(),
        "weights refused": 1 - known.mean(),
    }


def ten_systems(rng: np.random.Generator) -> dict[str, float]:
    """Ten systems that differ, six raters: 45 differences at once, and null aspects."""
    systems = np.linspace(-0.6, 0.6, 10)
    frame = draw_ratings(
        rng, n_raters=6, n_prompts=25, systems=systems, slopes=0.15, per_item=3
    )
    found = pd.DataFrame(differences(frame, "exact", "model"))
    first = found.index.get_level_values(0).str[-1].astype(int)
    second = found.index.get_level_values(1).str[-1].astype(int)
    truth = systems[first] - systems[second]
    covers = (found["low"] <= truth) & (found["high"] >= truth)
    is_shown = found["p_adjusted"] < 0.05
    wrong = is_shown & (np.sign(found["estimate"]) != np.sign(truth))
    aspects = _null_weights(frame, "exact")
    return {
        "false conclusion": wrong.any(),
        "simultaneous coverage": covers.all(),
        "pairs shown": is_shown.mean(),
        "false aspect": aspects["false conclusion"],
        "coverage of aspects": aspects["coverage"],
    }


def noisy_judge(rng: np.random.Generator, noise: float = 0.8) -> dict[str, float]:
    """A judge that draws from the scores of people, without reading."""
    frame = draw_ratings(
        rng, n_raters=5, n_prompts=40, systems=np.zeros(2), noise=noise
    )
    items = frame.drop_duplicates("item_id").assign(rater_id="judge")
    items["overall"] = rng.choice(frame["overall"], len(items))
    both = pd.concat([frame.astype({"rater_id": str}), items], ignore_index=True)
    found = judge(both, "overall", "judge")
    return _conclusions(found.attrs["conclusion"])


def noisy_judge_of_noisy_people(rng: np.random.Generator) -> dict[str, float]:
    """The same among people who hardly agree (noise of 2 points)."""
    return noisy_judge(rng, noise=2.0)


def middling_judge(rng: np.random.Generator) -> dict[str, float]:
    """A judge near the middle of the scale, whatever it reads, among noisy people."""
    frame = draw_ratings(rng, n_raters=5, n_prompts=40, systems=np.zeros(2), noise=2.0)
    items = frame.drop_duplicates("item_id").assign(rater_id="judge")
    items["overall"] = 3.0 + rng.integers(0, 2, len(items))
    both = pd.concat([frame.astype({"rater_id": str}), items], ignore_index=True)
    return _conclusions(judge(both, "overall", "judge").attrs["conclusion"])


def judge_of_a_rare_label(rng: np.random.Generator) -> dict[str, float]:
    """A label in about 15 % of ratings; the judge says yes to 3 % at random."""
    frame = draw_ratings(rng, n_raters=5, n_prompts=40, systems=np.zeros(2))
    frame["label"] = np.where(frame["exact"] > 4.2, "yes", "no")
    items = frame.drop_duplicates("item_id").assign(rater_id="judge")
    items["label"] = np.where(rng.random(len(items)) < 0.03, "yes", "no")
    both = pd.concat([frame.astype({"rater_id": str}), items], ignore_index=True)
    found = judge(both, "label", "judge", level="nominal")
    return _conclusions(found.attrs["conclusion"])


def good_judge(rng: np.random.Generator) -> dict[str, float]:
    """A judge that knows each item's quality: not a null, it shows the power."""
    frame = draw_ratings(rng, n_raters=5, n_prompts=60, systems=np.zeros(2))
    quality = frame.groupby("item_id")["quality"].mean()
    items = frame.drop_duplicates("item_id").assign(rater_id="judge")
    items["overall"] = items["item_id"].map(quality).round().clip(1, 5)
    both = pd.concat([frame.astype({"rater_id": str}), items], ignore_index=True)
    conclusion = judge(both, "overall", "judge").attrs["conclusion"]
    return {"stands in": conclusion == "stands in"}


def _conclusions(conclusion: str) -> dict[str, float]:
    """Count the conclusions about a judge that does not read."""
    return {
        "false conclusion": conclusion == "stands in",
        "no conclusion": conclusion == "no conclusion",
    }


def honest_raters(rng: np.random.Generator) -> dict[str, float]:
    """Five raters of unlike severity, none reversed: a concern is false."""
    frame = draw_ratings(rng, n_raters=5, n_prompts=40, systems=np.zeros(2))
    return _false_concerns(frame)


def raters_who_do_not_agree(rng: np.random.Generator) -> dict[str, float]:
    """Five raters whose scores are noise: none is reversed, none agrees."""
    frame = draw_ratings(rng, n_raters=5, n_prompts=40, systems=np.zeros(2))
    frame["overall"] = rng.integers(1, 6, len(frame))
    return _false_concerns(frame)


def crowd(rng: np.random.Generator) -> dict[str, float]:
    """Forty raters, three an item, none reversed."""
    frame = draw_ratings(
        rng, n_raters=40, n_prompts=100, systems=np.zeros(3), per_item=3
    )
    return _false_concerns(frame)


def _false_concerns(frame: pd.DataFrame) -> dict[str, float]:
    """Count files with a concern, by kind."""
    found = concerns(frame, "overall", prompt="prompt_id")
    result = {"false conclusion": len(found) > 0}
    for kind in ("agreement below chance", REVERSED, "other scale", "shifted"):
        result[kind] = (found["concern"] == kind).any()
    return result


def half_reversed(rng: np.random.Generator) -> dict[str, float]:
    """Two of four raters use the scale upside down: refused in how many."""
    return _refused(rng, 4, [0, 1])


def one_reversed(rng: np.random.Generator) -> dict[str, float]:
    """One of five raters uses the scale upside down."""
    return _refused(rng, 5, [0])


def half_of_a_crowd_reversed(rng: np.random.Generator) -> dict[str, float]:
    """Six of twelve raters, three an item."""
    return _refused(rng, 12, [0, 1, 2, 3, 4, 5], per_item=3)


def _refused(
    rng: np.random.Generator,
    n_raters: int,
    reversed_raters: list[int],
    per_item: int | None = None,
) -> dict[str, float]:
    """Turn the scale of some raters, and count what is noticed."""
    frame = draw_ratings(
        rng,
        n_raters=n_raters,
        n_prompts=40,
        systems=np.array([0.0, 0.5]),
        per_item=per_item,
    )
    is_turned = frame["rater_id"].isin(reversed_raters)
    frame.loc[is_turned, "overall"] = 6 - frame["overall"]
    found = concerns(frame, "overall", prompt="prompt_id")
    of_raters = found[found["concern"] == REVERSED]
    named = set(of_raters["rater"])
    is_half = 2 * len(reversed_raters) == n_raters
    return {
        "refused": len(found) > 0,
        "all named": named >= set(reversed_raters),
        "others named": 0.0 if is_half else bool(named - set(reversed_raters)),
    }


def other_scale(rng: np.random.Generator) -> dict[str, float]:
    """One of five raters uses 0 to 4 for 1 to 5."""
    frame = draw_ratings(rng, n_raters=5, n_prompts=40, systems=np.zeros(2))
    is_other = frame["rater_id"] == 0
    frame.loc[is_other, "overall"] -= 1
    found = concerns(frame, "overall", prompt="prompt_id")
    named = set(found["rater"])
    return {"refused": len(found) > 0, "named": 0 in named, "others": len(named) > 1}


DESIGNS = (
    equal_systems,
    equal_systems_with_side,
    ten_systems_in_pairs,
    random_slopes,
    rare_aspect,
    ten_systems,
    noisy_judge,
    noisy_judge_of_noisy_people,
    middling_judge,
    judge_of_a_rare_label,
    good_judge,
    honest_raters,
    raters_who_do_not_agree,
    crowd,
    half_reversed,
    one_reversed,
    half_of_a_crowd_reversed,
    other_scale,
)


def results(
    design: Callable[[np.random.Generator], dict[str, float]], n_files: int
) -> Iterator[dict[str, float]]:
    """Results of each file; a refusal is a result."""
    for seed in range(n_files):
        try:
            yield {**design(np.random.default_rng(seed)), "stopped by an error": False}
        except PlainError:
            yield {"stopped by an error": True}


@click.command(help=__doc__)
@click.option("--files", default=1000, show_default=True, help="Files of each design.")
@click.option("--only", multiple=True, help="Names of designs; by default all.")
def main(files: int, only: tuple[str, ...]) -> None:
    """Print a line for each design."""
    for design in DESIGNS:
        if only and design.__name__ not in only:
            continue
        table = pd.DataFrame(list(results(design, files)))
        shares = (100 * table.astype(float).mean()).round(1)
        line = ", ".join(f"{name} {share} %" for name, share in shares.items())
        click.echo(f"{design.__name__} ({len(table)} files): {line}")


if __name__ == "__main__":
    main()
