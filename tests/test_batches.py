"""Batches of replicates: the same draws in every place, and streams that do not overlap."""

import os
from functools import partial

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, parallel_config
from threadpoolctl import threadpool_info

from helpers.stats import bootstrap
from helpers.stats.bootstrap import bootstrap_means, cluster_weights
from helpers.stats.lasso import lasso_bootstrap
from helpers.stats.moments import cluster_moments

N_BOOT = 2 * bootstrap.BATCH + 7


@pytest.fixture(scope="module")
def frame():
    """Enough clusters for sums that round differently on one thread and on two."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(2_000, 12)), columns=[*"abcdefghijk", "y"])
    return table.assign(y=table["y"] + table["a"], prompt_id=np.arange(2_000) // 5)


@pytest.fixture(scope="module")
def moments(frame):
    return cluster_moments(frame, list("abcdefghijk"), "y", "prompt_id")


@pytest.fixture
def lasso_draws(moments):
    """Draws of a Lasso, made wherever joblib is told to work."""
    return partial(bootstrap.in_batches, lasso_bootstrap, moments, 0.05, n_boot=N_BOOT)


@pytest.fixture(scope="module")
def dask_workers():
    """Two Dask workers in processes of their own."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        yield client


def uniform(n_boot, rng):
    return rng.random(n_boot)


@pytest.mark.parametrize(
    "place",
    [
        {"backend": "threading", "n_jobs": 2},
        {"backend": "loky", "n_jobs": 1},
        {"backend": "loky", "n_jobs": 2},
    ],
    ids=["two threads", "one process", "two processes"],
)
def test_draws_are_the_same_in_every_place(lasso_draws, place):
    expected = lasso_draws(rng=np.random.default_rng(0))
    with parallel_config(**place):
        np.testing.assert_array_equal(lasso_draws(rng=np.random.default_rng(0)), expected)


def test_draws_of_dask_workers_are_the_same(lasso_draws, dask_workers):
    expected = lasso_draws(rng=np.random.default_rng(0))
    with parallel_config("dask"):
        np.testing.assert_array_equal(lasso_draws(rng=np.random.default_rng(0)), expected)


def test_dask_workers_do_the_work(dask_workers):
    def process(n_boot, rng):
        return np.full(n_boot, os.getpid())

    with parallel_config("dask"):
        used = bootstrap.in_batches(process, n_boot=N_BOOT, rng=np.random.default_rng(0))
    assert set(used) <= set(dask_workers.run(os.getpid).values())


def test_the_order_in_which_batches_are_drawn_does_not_matter(monkeypatch):
    expected = bootstrap.in_batches(uniform, n_boot=N_BOOT, rng=np.random.default_rng(0))
    backwards = lambda: lambda jobs: Parallel()(list(jobs)[::-1])[::-1]  # noqa: E731
    monkeypatch.setattr(bootstrap, "Parallel", backwards)
    draws = bootstrap.in_batches(uniform, n_boot=N_BOOT, rng=np.random.default_rng(0))
    assert draws.tolist() == expected.tolist()


def test_a_longer_run_begins_with_the_draws_of_a_shorter_one():
    short = bootstrap.in_batches(uniform, n_boot=2 * bootstrap.BATCH, rng=np.random.default_rng(0))
    long = bootstrap.in_batches(uniform, n_boot=N_BOOT, rng=np.random.default_rng(0))
    assert long.shape == (N_BOOT,)
    assert long[: len(short)].tolist() == short.tolist()


def test_no_two_replicates_share_random_numbers():
    rng = np.random.default_rng(0)
    runs = [bootstrap.in_batches(uniform, n_boot=N_BOOT, rng=rng) for _ in range(2)]
    assert len(np.unique(runs)) == 2 * N_BOOT


def test_draws_have_the_moments_of_the_multinomial():
    rng = np.random.default_rng(0)
    draws = bootstrap.in_batches(cluster_weights, 5, n_boot=20_000, rng=rng)
    np.testing.assert_allclose(draws.mean(axis=0), 1, atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), np.eye(5) - 1 / 5, atol=0.04)


def test_any_bootstrap_of_the_package_runs_in_batches(frame):
    rng = np.random.default_rng(0)
    draws = bootstrap.in_batches(
        bootstrap_means, frame, ["a", "y"], "prompt_id", n_boot=60, rng=rng
    )
    assert draws.shape == (60, 2)
    np.testing.assert_allclose(draws.mean(axis=0), frame[["a", "y"]].mean(), atol=0.03)


def test_a_batch_runs_on_one_thread_and_leaves_the_others_alone():
    def threads(n_boot, rng):
        return np.full(n_boot, max(library["num_threads"] for library in threadpool_info()))

    before = threadpool_info()
    draws = bootstrap.in_batches(threads, n_boot=3, rng=np.random.default_rng(0))
    assert draws.tolist() == [1, 1, 1]
    assert threadpool_info() == before


def test_no_replicates_are_refused():
    with pytest.raises(ValueError, match="n_boot must be at least 1, got 0"):
        bootstrap.in_batches(uniform, n_boot=0, rng=np.random.default_rng(0))


def test_a_batch_of_another_length_is_refused():
    message = r"a batch of 3 replicates returned an array of shape \(4,\): let it return one row"
    with pytest.raises(ValueError, match=message):
        bootstrap.in_batches(lambda n_boot, rng: np.ones(4), n_boot=3, rng=np.random.default_rng(0))
