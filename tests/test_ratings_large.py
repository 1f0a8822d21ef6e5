"""Sums part by part give what one piece gives."""

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from helpers.data.tables import BadTableError, OptionError
from ratings import cli, inference, large
from ratings.intake import prepare

SCALES = {"tone": (1, 5), "typos": (0, 1), "words": (0, 100)}


def ratings(n=1200, n_raters=8, seed=0):
    rng = np.random.default_rng(seed)
    item = np.arange(n) // 3
    rater = (np.arange(n) + item) % n_raters
    table = pd.DataFrame({"item_id": item, "prompt_id": item // 4, "rater_id": rater})
    table["tone"] = rng.integers(1, 6, n)
    table["typos"] = (rng.random(n) < 0.2) * 1.0
    table["words"] = rng.integers(0, 101, n)
    table["overall"] = table["tone"] - table["typos"] + 0.3 * rater + rng.normal(size=n)
    table.loc[::97, "typos"] = np.nan
    return table


@pytest.fixture
def folder(tmp_path):
    table = ratings()
    for number, part in enumerate(np.array_split(np.arange(len(table)), 5)):
        table.iloc[part].to_parquet(tmp_path / f"{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("rater", ["rater_id", ""])
@pytest.mark.parametrize("n_raters", [8, 3, 500])
def test_weights_and_intervals_are_those_in_one_piece(tmp_path, rater, n_raters):
    table = ratings(n_raters=n_raters)
    table[:500].to_parquet(tmp_path / "a.parquet")
    table[500:].to_parquet(tmp_path / "b.parquet")
    summed = large.sum_parts(tmp_path, "overall", SCALES, "prompt_id", rater)
    if not rater:
        table = table.drop(columns="rater_id")
    rng = np.random.default_rng(0)
    study = prepare(table, "overall", list(SCALES), rng, SCALES)
    expected = inference.estimates(study)
    found = summed.estimates()
    assert summed.n_ratings == len(study.frame)
    assert summed.n_left_out == len(table) - len(study.frame)
    assert found["scope"].tolist() == expected["scope"].tolist()
    few = ["tone", "typos"]
    informative = "informative clusters"
    assert (
        found.loc[few, informative].tolist() == expected.loc[few, informative].tolist()
    )
    numbers = [*inference.ALONE, *inference.HELD, "p", "p Holm"]
    pd.testing.assert_frame_equal(found[numbers], expected[numbers], rtol=1e-7)


def test_batches_may_be_summed_side_by_side(folder, monkeypatch):
    alone = large.sum_parts(folder, "overall", SCALES, "prompt_id", "rater_id")
    with joblib.parallel_config("threading"):
        both = large.sum_parts(folder, "overall", SCALES, "prompt_id", "rater_id", 2)
    pd.testing.assert_frame_equal(alone.estimates(), both.estimates())


def test_very_many_clusters_are_joined(folder, monkeypatch):
    monkeypatch.setattr(large, "MOST_CLUSTERS", 50)
    summed = large.sum_parts(folder, "overall", SCALES, "prompt_id", "rater_id")
    assert 40 < summed.keys["cluster"].nunique() <= 50
    assert summed.estimates().loc["tone", "low"] > 3.5


def test_what_sums_cannot_do_is_refused(folder, monkeypatch):
    with pytest.raises(OptionError, match="no column 'rude'"):
        large.sum_parts(folder, "rude", SCALES, "prompt_id")
    with pytest.raises(OptionError, match="cannot follow the keys marks"):
        large.from_recipe(folder, {"marks": {}})
    with pytest.raises(OptionError, match="a scale of each aspect"):
        large.from_recipe(folder, {"outcome": "overall", "aspects": ["tone"]})
    monkeypatch.setattr(large, "MOST_RATERS", 3)
    with pytest.raises(OptionError, match="more than 3 raters"):
        large.sum_parts(folder, "overall", SCALES, "prompt_id", "rater_id")
    table = ratings().assign(typos=np.nan)
    table.to_parquet(folder / "0.parquet")
    with pytest.raises(BadTableError, match="no row is complete"):
        large.sum_parts(folder / "0.parquet", "overall", SCALES, "prompt_id")


def test_the_command_says_what_sums_do_not_tell(folder, tmp_path):
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        "outcome: overall\naspects: [tone, typos]\ncluster: prompt_id\n"
        "rater: rater_id\nscales: {tone: [1, 5], typos: [0, 1]}\n"
    )
    parts = tmp_path / "parts"
    parts.mkdir()
    for file in folder.glob("*.parquet"):
        file.rename(parts / file.name)
    out = tmp_path / "w.csv"
    arguments = ["large", str(parts), "--recipe", str(recipe), "--out", str(out)]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.output
    assert "1,187 ratings used; 13 rows left" in result.output
    assert "agreement and reliability" in result.output
    assert pd.read_csv(out)["aspect"].tolist() == ["tone", "typos"]
