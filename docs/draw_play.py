"""Tables and pictures of the page Play: `python docs/draw_play.py`.

The tables follow from the counts in data/summaries, and the page's script reads them.
Only the redraws need the released ratings; of them the page has weights, no ratings.
Whoever reads the page without a script sees the pictures.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from PIL import Image
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from helpers import paths, show, weights
from helpers.data.tables import to_csv_bytes
from helpers.studies import hosking
from helpers.studies.kamoda import LEVELS

STATIC = Path(__file__).parent / "static"
SUMMARIES = paths.DATA / "summaries"
ASPECTS = list(LEVELS)
QUESTIONS = {  # as in notebooks/22_decision_tree.ipynb
    "at least mostly right": ("factuality", [2, 3]),
    "entirely right": ("factuality", [3]),
    "entirely wrong": ("factuality", [0]),
    "says too little": ("amount", [-1]),
    "says too much": ("amount", [1]),
    "too casual": ("formality", [-1]),
    "too formal": ("formality", [1]),
}
PENALTIES = [0.005, 0.01, 0.02]  # half of the paper's, the paper's, and twice that
N_REDRAWS = 200
SEED = 20240917  # as in notebooks/11_error_weights.ipynb


def answers() -> pd.DataFrame:
    """Count the 279 answers by expert's label, number of workers, and ticks."""
    counts = pd.read_csv(SUMMARIES / "hosking_279_answers.csv")
    keys = ["expert", "workers", "ticks"]
    counts = counts.groupby(keys)["answers"].sum().reset_index()
    return counts.replace({"expert": {0: "no error", 1: "error"}})


def ratings() -> pd.DataFrame:
    """Give mean acceptability and two predictions for each combination of ratings."""
    counts = pd.read_csv(SUMMARIES / "kamoda_ratings.csv")
    rows = counts.loc[counts.index.repeat(counts["ratings"])].reset_index(drop=True)
    distance = (rows[ASPECTS] - [3, 0, 0]).abs() / [3, 1, 1]
    lower = 3 - rows["acceptability"]
    regression = LinearRegression(fit_intercept=False).fit(distance, lower)
    rows["weighted sum"] = 3 - regression.predict(distance)

    asked = pd.DataFrame(
        {name: rows[aspect].isin(yes) for name, (aspect, yes) in QUESTIONS.items()}
    )
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    rows["tree"] = tree.fit(asked, rows["acceptability"]).predict(asked)
    rows["questions of the tree"] = replies(tree, asked)

    by_combination = rows.groupby(ASPECTS)
    table = by_combination.agg(
        ratings=("acceptability", "size"),
        mean=("acceptability", "mean"),
        tree=("tree", "first"),
    )
    table["weighted sum"] = by_combination["weighted sum"].first()
    table["questions of the tree"] = by_combination["questions of the tree"].first()
    return table.round(3).reset_index().replace(LEVELS)


def replies(tree: DecisionTreeRegressor, asked: pd.DataFrame) -> list[str]:
    """Say which questions the tree asks of each row, with the replies."""
    paths_of_rows = tree.decision_path(asked)
    said = []
    for row in range(len(asked)):
        nodes = paths_of_rows.indices[slice(*paths_of_rows.indptr[row : row + 2])]
        questions = [asked.columns[tree.tree_.feature[node]] for node in nodes[:-1]]
        yes_or_no = asked.loc[row, questions].map({True: "yes", False: "no"})
        said.append(", ".join(f"{name}: {reply}" for name, reply in yes_or_no.items()))
    return said


def redraws(data_source: str = "real") -> dict:
    """Fit the Lasso to resamples of prompts; give weights in 1/10,000 of a point."""
    study = hosking.load_experiment_1(data_source)
    majority = weights(study.answers(), hosking.TEN_ERRORS, "score", alpha=PENALTIES[1])
    errors = majority["estimate"].sort_values(kind="stable").index.tolist()
    fits = []
    for labels_by in ("majority", "share"):
        rows = study.answers(labels_by)
        for penalty in PENALTIES:
            options = {"clusters": "prompt_id", "n_boot": N_REDRAWS, "seed": SEED}
            fit = weights(rows, errors, "score", alpha=penalty, **options)
            fits.append(
                {
                    "labels": labels_by,
                    "penalty": penalty,
                    "weights": in_small_units(-fit["estimate"]),
                    "redraws": in_small_units(-fit.estimates.draws),
                }
            )
    return {"errors": errors, "fits": fits}


def in_small_units(values: np.ndarray | pd.Series) -> list:
    """Round to 1/10,000, as whole numbers."""
    return np.rint(10_000 * np.asarray(values)).astype(int).tolist()


def first_places(drawn: dict, labels: str, penalty: float) -> pd.Series:
    """Count in how many redraws each error has the largest weight."""
    for fit in drawn["fits"]:
        if (fit["labels"], fit["penalty"]) == (labels, penalty):
            rows = pd.DataFrame(fit["redraws"], columns=drawn["errors"])
    first = rows.idxmax(axis="columns").value_counts()
    return first.reindex(drawn["errors"], fill_value=0)


def summary_of_redraws(drawn: dict) -> pd.DataFrame:
    """Give weights, and how often each error comes first, in words."""
    table = pd.DataFrame(index=pd.Index(drawn["errors"], name="error"))
    for fit in drawn["fits"]:
        first = first_places(drawn, fit["labels"], fit["penalty"])
        said = [
            f"{weight / 10_000:.2f}, first {times}×"
            for weight, times in zip(fit["weights"], first, strict=True)
        ]
        table[f"{fit['labels']}, penalty {fit['penalty']}"] = said
    return table.reset_index()


def draw_answers(counts: pd.DataFrame) -> plt.Figure:
    """Draw a dot for each answer, and who labels how many errors."""
    rows = counts.loc[counts.index.repeat(counts["answers"])]
    share = rows["ticks"] / rows["workers"]
    rows = rows.assign(share=share, majority=(share > 0.5) + 0.5 * (share == 0.5))
    rates = {
        "expert": (rows["expert"] == "error").mean(),
        "single worker": rows["share"].mean(),
        "majority": rows["majority"].mean(),
    }
    fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), width_ratios=[2, 1])
    across = 24
    start = 0
    for label in ("error", "no error"):
        group = rows[rows["expert"] == label].sort_values("share", ascending=False)
        place = pd.Series(range(len(group)))
        ring = show.ORANGE if label == "error" else show.GREY
        left.scatter(
            place % across,
            -start - place // across,
            c=group["share"],
            cmap="Blues",
            vmin=0,
            vmax=0.5,
            edgecolors=ring,
            linewidths=1.8 if label == "error" else 0.5,
            s=75,
        )
        words = {
            "error": "The expert sees an error",
            "no error": "The expert sees none",
        }
        left.text(
            -0.5, -start + 0.9, f"{words[label]}: {len(group)} answers", color=ring
        )
        start += len(group) // across + 3
    left.set_axis_off()
    left.set_ylim(-start + 1.5, 1.8)
    sns.barplot(x=[100 * rate for rate in rates.values()], y=list(rates), ax=right)
    right.bar_label(right.containers[0], fmt=" %.1f %%")
    right.set(xlim=(0, 28), xlabel="factual errors, % of answers")
    return fig


def draw_ratings(table: pd.DataFrame) -> plt.Figure:
    """Draw the mean acceptability by factuality and amount of information."""
    table = table.assign(points=table["mean"] * table["ratings"])
    sums = table.groupby(["factuality", "amount"])[["points", "ratings"]].sum()
    cells = (sums["points"] / sums["ratings"]).unstack()
    cells = cells.loc[list(LEVELS["factuality"].values()), LEVELS["amount"].values()]
    fig, ax = plt.subplots(figsize=(6, 3))
    options = {"annot": True, "fmt": ".2f", "cmap": "Blues", "cbar": False}
    sns.heatmap(cells, vmin=0, vmax=3, ax=ax, **options)
    ax.set(xlabel="", ylabel="")
    return fig


def draw_redraws(drawn: dict) -> plt.Figure:
    """Draw how often each error comes first, by the paper's penalty."""
    counts = {
        "labelled by majority": first_places(drawn, "majority", PENALTIES[1]),
        "labelled by share": first_places(drawn, "share", PENALTIES[1]),
    }
    counts = pd.DataFrame(counts)
    counts = counts[counts.max(axis="columns") > 0]
    ax = counts.plot.barh(figsize=(7, 3.4), width=0.8)
    ax.invert_yaxis()
    ax.set(xlabel=f"comes first, of {N_REDRAWS} redraws", ylabel="")
    return ax.figure


def save(fig: plt.Figure, name: str) -> None:
    """Save a picture with few colours, which makes its file small."""
    file = STATIC / f"{name}.png"
    fig.savefig(file, dpi=100)
    plt.close(fig)
    Image.open(file).convert("RGB").quantize(48).save(file, optimize=True)


def main() -> None:
    """Write the tables, the redraws and the pictures."""
    show.use_style()
    counts, table, drawn = answers(), ratings(), redraws()
    tables = {
        "play_answers": counts,
        "play_ratings": table,
        "play_redraws": summary_of_redraws(drawn),
    }
    for name, values in tables.items():
        (STATIC / f"{name}.csv").write_bytes(to_csv_bytes(values, index=False))
    text = json.dumps(drawn, separators=(",", ":"))
    (STATIC / "play_redraws.js").write_text(f"const REDRAWS = {text};\n")
    save(draw_answers(counts), "play_answers")
    save(draw_ratings(table), "play_ratings")
    save(draw_redraws(drawn), "play_redraws")


if __name__ == "__main__":
    main()
