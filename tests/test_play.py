"""The page of pictures to play with, its tables, and its redraws."""

import importlib.util
import json
import re

import pandas as pd
import pytest

from helpers import paths
from helpers.data.tables import to_csv_bytes

DOCS = paths.ROOT / "docs"
STATIC = DOCS / "static"
TEXT = (DOCS / "play.md").read_text(encoding="utf-8")
RULES = {
    "one worker": lambda share: 1.0 * (share > 0),
    "a quarter": lambda share: 1.0 * (share >= 0.25),
    "half": lambda share: 1.0 * (share >= 0.5),
    "most": lambda share: (share > 0.5) + 0.5 * (share == 0.5),
}


@pytest.fixture(scope="module")
def draw_play():
    """The script that writes the tables."""
    file = DOCS / "draw_play.py"
    specification = importlib.util.spec_from_file_location("draw_play", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def counts() -> pd.DataFrame:
    """The 279 answers, one in a row."""
    table = pd.read_csv(STATIC / "play_answers.csv")
    table["share"] = table["ticks"] / table["workers"]
    return table.loc[table.index.repeat(table["answers"])]


@pytest.fixture(scope="module")
def ratings() -> pd.DataFrame:
    """The 36 combinations of ratings."""
    return pd.read_csv(STATIC / "play_ratings.csv")


@pytest.fixture(scope="module")
def drawn() -> dict:
    """What the page knows of the redraws."""
    text = (STATIC / "play_redraws.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("const REDRAWS = ").rstrip(";\n"))


@pytest.fixture(scope="module")
def results() -> pd.Series:
    """Estimates of the notebooks, by name and part."""
    table = pd.read_csv(paths.ROOT / "results" / "results.csv").fillna({"part": ""})
    return table.set_index(["name", "part"])["estimate"]


def test_tables_follow_from_summaries_and_redraws(draw_play, drawn):
    tables = {
        "play_answers": draw_play.answers(),
        "play_ratings": draw_play.ratings(),
        "play_redraws": draw_play.summary_of_redraws(drawn),
    }
    for name, table in tables.items():
        committed = (STATIC / f"{name}.csv").read_bytes()
        assert committed == to_csv_bytes(table, index=False)


def test_redraws_are_those_of_the_released_ratings(draw_play, drawn, real_data):
    again = draw_play.redraws(real_data)
    assert again["errors"] == drawn["errors"]
    for committed, expected in zip(drawn["fits"], again["fits"], strict=True):
        for key in ("labels", "penalty"):
            assert committed[key] == expected[key]
        for key in ("weights", "redraws"):  # other machines round the last digit anew
            differ = pd.DataFrame(committed[key]) - pd.DataFrame(expected[key])
            assert differ.abs().to_numpy().max() <= 1


def test_rates_are_those_of_the_notebooks(counts, results):
    rates = {
        "expert_rate": (counts["expert"] == "error").mean(),
        "worker_rate": counts["share"].mean(),
        "crowd_rate": RULES["most"](counts["share"]).mean(),
    }
    for name, rate in rates.items():
        expected = results[f"hosking.same_answers.{name}", ""]
        assert 100 * rate == pytest.approx(expected, abs=0.001)
        assert f"{100 * rate:.1f} %" in TEXT
    by_expert = 100 * counts.groupby("expert")["share"].mean()
    single = results["hosking.crowd_misses.single", ""]
    unfound = results["hosking.crowd_misses.unfound", ""]
    assert by_expert.tolist() == pytest.approx([single, unfound], abs=0.001)


def test_means_and_predictions_are_those_of_the_notebooks(ratings, results):
    points = ratings["mean"] * ratings["ratings"]
    cells = ratings.assign(points=points).groupby(["factuality", "amount"])
    cells = cells[["points", "ratings"]].sum()
    for cell, sums in cells.iterrows():
        mean = sums["points"] / sums["ratings"]
        expected = results["kamoda.regression.cell_means", ", ".join(cell)]
        assert mean == pytest.approx(expected, abs=0.0006)
        assert f"{mean:.2f}" == f"{expected:.2f}"  # the script shows these
    assert ratings["ratings"].sum() == 3600
    ends = results["kamoda.tree.leaf_means"]
    assert ratings["tree"].max() == pytest.approx(ends["highest"], abs=0.001)
    assert ratings["tree"].min() == pytest.approx(ends["lowest"], abs=0.001)
    predicted = ratings.set_index(["factuality", "amount", "formality"])["weighted sum"]
    ideal = ("entirely right", "says enough", "right tone")
    off = {
        "factuality": ("entirely wrong", "says enough", "right tone"),
        "amount": ("entirely right", "says too little", "right tone"),
        "formality": ("entirely right", "says enough", "too formal"),
    }
    for aspect, combination in off.items():
        weight = predicted[ideal] - predicted[combination]
        expected = results["kamoda.regression.weights", aspect]
        assert weight == pytest.approx(expected, abs=0.002)


def test_lasso_weights_are_those_of_the_notebook(draw_play, drawn, results):
    for fit in drawn["fits"]:
        if fit["penalty"] == 0.01:
            expected = results[f"hosking.lasso.{fit['labels']}"][drawn["errors"]]
            weights = [weight / 10_000 for weight in fit["weights"]]
            assert weights == pytest.approx(expected.tolist(), abs=0.0001)
            shown = [f"{weight:.2f}" for weight in weights]
            assert shown == [f"{weight:.2f}" for weight in expected]
    first = draw_play.first_places(drawn, "majority", 0.01)
    table = pd.read_csv(paths.ROOT / "results" / "results.csv").set_index("name")
    share = table.loc["hosking.lasso.refusal_strongest", "share"]
    off_by_chance = 3 * (share * (1 - share) / 200) ** 0.5
    assert first["refusal"] / 200 == pytest.approx(share, abs=off_by_chance)
    assert f"in {200 - first['refusal']} of 200 redraws another error" in TEXT
    by_share = draw_play.first_places(drawn, "share", 0.01)
    assert (
        f"refusals come first in {first['refusal']} and formatting in "
        f"{first['formatting']}; by share of raters, irrelevance in "
        f"{by_share['irrelevance']} and refusals in {by_share['refusal']}" in TEXT
    )


def test_pictures_are_drawn(draw_play, drawn):
    dots = draw_play.draw_answers(draw_play.answers())
    ringed, others = dots.axes[0].collections
    assert (len(ringed.get_offsets()), len(others.get_offsets())) == (58, 221)
    heat_map = draw_play.draw_ratings(draw_play.ratings())
    assert heat_map.axes[0].texts[0].get_text() == "1.63"
    bars = draw_play.draw_redraws(drawn)
    assert max(bar.get_width() for bar in bars.axes[0].patches) == 123


def test_the_page_is_small_plain_and_asks_no_other_host():
    for file in [*STATIC.glob("play*.js"), *STATIC.glob("play*.c*")]:
        content = file.read_text(encoding="utf-8")
        assert len(content.encode()) < 60_000
        assert "http" not in content
    prose = re.sub(
        r"```.*?```|<noscript>.*?</noscript>|<.*?>|\]\(.*?\)", " ", TEXT, flags=re.S
    )
    words = re.findall(r"[A-Za-z’']+", prose)
    assert 100 < len(words) <= 250
