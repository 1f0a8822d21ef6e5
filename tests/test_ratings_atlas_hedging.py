"""Hedging words: counted by hand, with a known slope, and joined to the right texts."""

import numpy as np
import pandas as pd
import pytest

from helpers.data import registry
from helpers.data.published import read_text
from ratings.atlas import ask, hedging, sets

WORDS = read_text(sets.FOLDER / "hedges.csv")["hedge"]


def test_the_list_of_hedging_words_is_whole():
    assert WORDS.is_unique
    assert set(hedging.SMALL_LETTERS_ONLY) <= set(WORDS)
    for word in WORDS:
        assert hedging.per_hundred_words(pd.Series([f"so {word} so"])).iloc[0] > 0


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("It may rain, and it might not.", 2),
        ("In May the Might of the sea", 0),
        ("PERHAPS it seems so", 2),
        ("mayor, perhapsing, unlikely", 1),  # whole words; likely is inside unlikely
        ("I am not sure; it appears to be so", 2),
        ("It is Canberra.", 0),
    ],
)
def test_hedging_words_by_hand(text, n):
    share = hedging.per_hundred_words(pd.Series([text])).iloc[0]
    assert share == pytest.approx(100 * n / len(text.split()))


def rated(n_prompts, n_hedged, slope, rng):
    """Texts of 50 words by four systems, some of which hedge."""
    rows = []
    texts = {}
    for prompt in range(n_prompts):
        for system in range(4):
            n = int(rng.integers(0, 4)) if prompt < n_hedged else 0
            item = f"{prompt} {system}"
            texts[item] = "perhaps " * n + "so " * (50 - n)
            level = rng.normal() if system == 0 else 0.0
            overall = slope * 2 * n + prompt % 3 + system + 0.1 * level
            rows.append([item, prompt, system, prompt, overall])
    columns = ["item_id", "prompt_id", "system", "cluster", "overall"]
    return pd.DataFrame(rows, columns=columns), pd.Series(texts)


def test_a_known_slope_within_prompts_and_systems():
    items, texts = rated(40, 40, -0.5, np.random.default_rng(0))
    row = hedging.slope(items, texts, "overall")
    points = row["estimate"] * items["overall"].std()
    assert points == pytest.approx(-0.5, abs=0.02)
    assert row["low"] < row["estimate"] < row["high"] < 0
    n_hedges = texts.str.count("perhaps").to_numpy().reshape(40, 4)
    assert row["varies in"] == (np.ptp(n_hedges, axis=1) > 0).sum()


def test_hedging_that_differs_in_few_clusters_is_not_known():
    items, texts = rated(40, 8, -0.5, np.random.default_rng(1))
    row = hedging.slope(items, texts, "overall")
    assert row["varies in"] == 8
    assert np.isnan(row["estimate"])
    assert np.isnan(row["p_value"])


def test_an_item_without_a_text_is_an_error():
    items, texts = rated(12, 12, 0.0, np.random.default_rng(2))
    with pytest.raises(ValueError, match="no text of 0 0"):
        hedging.slope(items, texts.drop("0 0"), "overall")


@pytest.mark.parametrize("name", hedging.SETS)
def test_texts_are_those_whose_words_were_counted(name):
    try:
        files = sets.locate(name, "real")
    except registry.DataError:
        pytest.skip("the data are not here")
    items, _ = ask.rated_texts(name, "real")
    texts = hedging.texts_of(name, files)
    n_words = items["item_id"].map(texts).str.split().str.len()
    assert n_words.tolist() == items["words"].tolist()
