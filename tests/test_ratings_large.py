"""Sums part by part give what one piece gives."""

import os
import sys

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
    numbers = [*inference.ALONE, *inference.HELD, *inference.POOLED, "p", "p Holm"]
    pd.testing.assert_frame_equal(found[numbers], expected[numbers], rtol=1e-7)


def test_batches_may_be_summed_side_by_side(folder):
    alone = large.sum_parts(folder, "overall", SCALES, "prompt_id", "rater_id")
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend):
            both = large.sum_parts(
                folder, "overall", SCALES, "prompt_id", "rater_id", 2
            )
        pd.testing.assert_frame_equal(alone.conclude(), both.conclude())


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip(
        "distributed", reason="the extra dask is not installed"
    )
    with distributed.Client(
        n_workers=1, threads_per_worker=2, dashboard_address=":0", host="127.0.0.1"
    ) as client:
        yield client


def test_batches_are_summed_by_the_workers_of_a_dask_scheduler(
    folder, dask_client, monkeypatch
):
    address = dask_client.scheduler.address
    columns = ("overall", SCALES, "prompt_id", "rater_id")
    alone = large.sum_parts(folder, *columns)
    with large.on_workers(address):
        found = large.sum_parts(folder, *columns)
    pd.testing.assert_frame_equal(alone.conclude(), found.conclude())
    sums = large._sums

    def tell_process(*given):
        return sums(*given)._replace(ends=(os.getpid(), os.getpid()))

    monkeypatch.setattr(large, "_sums", tell_process)
    with large.on_workers(address):
        found = large.sum_parts(folder, *columns)
    (worker,) = dask_client.run(os.getpid).values()
    assert found.ends == (worker, worker)
    found = large.sum_parts(folder, *columns)  # nothing of Dask is left behind
    assert found.ends == (os.getpid(), os.getpid())


def test_the_command_names_a_dask_scheduler(folder, dask_client, recipe, tmp_path):
    expected = run_command(folder, recipe, tmp_path / "alone.csv")
    found = run_command(
        folder, recipe, tmp_path / "dask.csv", dask_client.scheduler.address
    )
    pd.testing.assert_frame_equal(expected, found)


def run_command(folder, recipe, out, scheduler=""):
    arguments = ["large", str(folder), "--recipe", str(recipe), "--out", str(out)]
    result = CliRunner().invoke(cli.main, [*arguments, "--scheduler", scheduler])
    assert result.exit_code == 0, result.output
    return pd.read_csv(out)


def test_a_scheduler_that_does_not_answer_or_has_no_worker_is_named(monkeypatch):
    distributed = pytest.importorskip(
        "distributed", reason="the extra dask is not installed"
    )
    monkeypatch.setattr(large, "ANSWER", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://here"):
        with (
            pytest.raises(
                OptionError, match=f"no Dask scheduler answers at '{address}"
            ),
            large.on_workers(address),
        ):
            pass
    with (
        distributed.LocalCluster(
            n_workers=0, dashboard_address=":0", host="127.0.0.1"
        ) as cluster,
        pytest.raises(OptionError, match="has no worker: start one with `dask worker"),
        large.on_workers(cluster.scheduler_address),
    ):
        pass


def test_without_dask_a_scheduler_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with (
        pytest.raises(OptionError, match="install the extra dask"),
        large.on_workers("tcp://127.0.0.1:8786"),
    ):
        pass


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


@pytest.fixture
def recipe(tmp_path_factory):
    file = tmp_path_factory.mktemp("recipe") / "recipe.yaml"
    file.write_text(
        "outcome: overall\naspects: [tone, typos]\ncluster: prompt_id\n"
        "rater: rater_id\nscales: {tone: [1, 5], typos: [0, 1], overall: [-3, 10]}\n"
    )
    return file


def test_the_command_says_what_sums_do_not_tell(folder, recipe, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "w.csv"
    arguments = ["large", str(folder), "--recipe", str(recipe), "--out", str(out)]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.output
    assert "1,187 ratings used; 13 rows left" in result.output
    assert "agreement and reliability" in result.output
    assert "tone: higher" in result.output
    assert pd.read_csv(out)["verdict"].tolist() == ["higher", "hardly any link"]


def test_columns_of_another_kind_are_told_with_their_names(folder):
    table = ratings()
    columns = ("overall", SCALES, "prompt_id", "rater_id")
    table.assign(rater_id="Ann").to_parquet(folder / "5.parquet")
    with pytest.raises(BadTableError, match="'rater_id' should hold int64, as in"):
        large.sum_parts(folder, *columns)
    table.assign(tone="fair").to_parquet(folder / "5.parquet")
    with pytest.raises(BadTableError, match="'tone' should hold numbers only"):
        large.sum_parts(folder, *columns)
    table.drop(columns="tone").to_parquet(folder / "5.parquet")
    with pytest.raises(BadTableError, match=r"5\.parquet: there is no column 'tone'"):
        large.sum_parts(folder, *columns)
    (folder / "5.parquet").write_text("tone,typos")
    with pytest.raises(BadTableError, match=r"5\.parquet cannot be read as Parquet"):
        large.sum_parts(folder, *columns)
    (folder / "empty").mkdir()
    with pytest.raises(BadTableError, match=r"no file that ends with \.parquet or"):
        large.sum_parts(folder / "empty", *columns)


def test_labels_mean_the_same_in_files_that_store_them_otherwise(tmp_path, monkeypatch):
    table = ratings()
    table.to_parquet(tmp_path / "one.parquet")
    expected = large.sum_parts(tmp_path, "overall", SCALES, "prompt_id", "rater_id")
    (tmp_path / "one.parquet").unlink()
    table[:500].to_parquet(tmp_path / "a.parquet")
    # with an empty cell, numbers are stored with a decimal point
    other = table[500:].astype({"prompt_id": float, "rater_id": "category"})
    empty = other[:1].assign(prompt_id=np.nan)
    pd.concat([other, empty]).to_parquet(tmp_path / "b.parquet")
    for most in (2000, 50):
        monkeypatch.setattr(large, "MOST_CLUSTERS", most)
        found = large.sum_parts(tmp_path, "overall", SCALES, "prompt_id", "rater_id")
        if most == 2000:
            pd.testing.assert_frame_equal(expected.conclude(), found.conclude())
        assert found.n_left_out == expected.n_left_out + 1
        assert found.keys["cluster"].nunique() <= min(most, 100)


def verdicts(table, aspects, scales, folder):
    """In one piece and part by part, of four files."""
    rng = np.random.default_rng(0)
    study = prepare(table, "overall", aspects, rng, scales)
    one_piece = inference.conclude(study, rng)
    for number, part in enumerate(np.array_split(np.arange(len(table)), 4)):
        table.iloc[part].to_parquet(folder / f"{number}.parquet")
    in_order = {name: scales[name] for name in [*aspects, "overall"]}
    summed = large.sum_parts(folder, "overall", in_order, "prompt_id", "rater_id")
    return one_piece, summed.conclude()


def test_verdicts_and_reasons_are_those_in_one_piece(tmp_path):
    table = ratings(3000)
    rng = np.random.default_rng(1)
    table["polite"] = rng.integers(1, 6, len(table))  # has no link
    table["rare"] = 0.0
    table.loc[:8, "rare"] = 1.0  # in one cluster
    table["tone again"] = table["tone"] + 0.01 * rng.normal(size=len(table))
    table["slight"] = rng.integers(0, 2, len(table))
    table["overall"] += 0.8 * table["slight"]
    scales = SCALES | {"polite": (1, 5), "rare": (0, 1), "overall": (0, 7)}
    scales |= {"tone again": (1, 5), "slight": (0, 1)}
    first = ["tone", "typos", "words", "polite", "rare", "slight"]
    for name, aspects in {"few": first, "all": [*first, "tone again"]}.items():
        (tmp_path / name).mkdir()
        expected, found = verdicts(table, aspects, scales, tmp_path / name)
        pd.testing.assert_frame_equal(found, expected.loc[aspects], check_dtype=False)
    assert set(found["verdict"]) >= {"not told apart", "lower", "not known"}


def test_an_outcome_that_is_a_sum_and_too_many_aspects_are_told(tmp_path):
    table = ratings()
    table["overall"] = table["tone"] + 2 * table["typos"]
    (tmp_path / "sum").mkdir()
    scales = SCALES | {"overall": (1, 7)}
    expected, found = verdicts(table, list(SCALES), scales, tmp_path / "sum")
    assert set(found["verdict"]) == {"computed from others"}
    assert found["because"].tolist() == expected["because"].tolist()
    rng = np.random.default_rng(0)
    names = [f"aspect {number}" for number in range(60)]
    marks = pd.DataFrame(rng.integers(1, 6, (len(table), 60)), columns=names)
    table = pd.concat([table, marks], axis="columns")
    scales |= dict.fromkeys(names, (1, 5))
    (tmp_path / "many").mkdir()
    expected, found = verdicts(table, names, scales, tmp_path / "many")
    assert set(found["verdict"]) == {"not told apart"}
    assert found["because"].tolist() == expected["because"].tolist()
    assert found["weight"].isna().all()


def test_without_a_scale_of_the_outcome_nothing_counts_as_small(folder):
    summed = large.sum_parts(folder, "overall", SCALES, "prompt_id", "rater_id")
    row = summed.conclude().loc["words"]
    assert row["verdict"] == "not known"
    assert "nothing counts as small" in row["because"]
