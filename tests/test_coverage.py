import inspect

import nbformat
import numpy as np
import pandas as pd
import pytest

from benchmarks import coverage
from benchmarks.coverage import Call, Population, count, intervals_of, measure
from helpers.robustness.coverage import CONSERVATIVE, coverage_table
from helpers.stats import (
    accuracy,
    agreement,
    bootstrap,
    clustered,
    correlations,
    groups,
    lasso,
    ordinal,
    rates,
)
from helpers.stats import lines as curves
from helpers.stats import moments as sums

RATINGS = pd.DataFrame(
    {
        "rater_id": list("aabbcc"),
        "prompt_id": [1, 2, 1, 2, 1, 2],
        "item_id": ["x", "y", "x", "y", "x", "y"],
        "score": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)


def itself(value):
    return value


def first_half(value):
    return value[value["prompt_id"] < 50] if isinstance(value, pd.DataFrame) else value


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    prompt = np.repeat(np.arange(100), 5)
    error = rng.integers(2, size=500)
    score = rng.normal(size=500) + rng.normal(size=100)[prompt] - error
    return pd.DataFrame({"prompt_id": prompt, "error": error, "score": score})


def mean(frame, cluster, n_boot, rng):
    return groups.group_means(frame, ["score"], None, cluster, n_boot, rng)


def too_narrow(frame, cluster, n_boot, rng):
    table = mean(frame, cluster, n_boot, rng)
    half = table[["low", "high"]].sub(table["estimate"], axis="index") / 2
    return table.assign(**half.add(table["estimate"], axis="index"))


def called(function, frame, kind="mean"):
    rng = np.random.default_rng(0)
    return Call(
        kind,
        function,
        {"frame": frame, "cluster": "prompt_id", "n_boot": 9, "rng": rng},
    )


def test_calls_are_kept_with_what_they_were_given_and_not_those_inside_them(answers):
    before = groups.group_means
    rng = np.random.default_rng(0)
    with coverage.recording() as calls:
        groups.mean_differences(
            answers, ["score"], "error", 0, cluster="prompt_id", n_boot=9, rng=rng
        )
    assert groups.group_means is before
    assert [call.kind for call in calls] == ["difference of means"]
    assert calls[0].arguments["outputs"] is answers
    assert calls[0].arguments["baseline"] == 0
    with pytest.raises(ZeroDivisionError), coverage.recording():
        1 / 0  # noqa: B018
    assert groups.group_means is before


def test_steps_are_taken_again_with_the_tables_drawn(answers):
    with coverage.recording() as calls:
        moments = sums.cluster_moments(answers, ["error"], "score", "prompt_id")
        lasso.lasso_bootstrap(moments, 0.01, 5, np.random.default_rng(0))
    call = calls[-1]
    assert [call.kind for call in calls] == ["", "Lasso weight"]
    assert call.clusters() == ["prompt_id"]
    found = intervals_of(call, itself, 50, np.random.default_rng(1))
    weight = lasso.lasso(answers, ["error"], "score", 0.01)["error"]
    assert found.loc["error", "estimate"] == pytest.approx(weight)
    assert found.loc["error", "low"] < weight < found.loc["error", "high"]
    half = intervals_of(call, first_half, 5, np.random.default_rng(1))
    part = lasso.lasso(first_half(answers), ["error"], "score", 0.01)["error"]
    assert half.loc["error", "estimate"] == pytest.approx(part)


def test_parts_of_a_result_are_steps_too(answers):
    both = answers.assign(
        other=answers["score"] + answers["error"], human=answers["score"]
    )
    with coverage.recording() as calls:
        moments = {
            "all": sums.cluster_moments(both, ["error", "other"], "human", "prompt_id")
        }
        found, draws = correlations.compare_evaluators(moments, 5, 0)
        correlations.evaluator_differences(found, draws, {"gain": ("other", "error")})
    assert [call.kind for call in calls if call.kind] == [
        "correlation of a judge",
        "gain of a judge",
    ]
    table = intervals_of(calls[-1], itself, 50, np.random.default_rng(0))
    r = both[["error", "other"]].corrwith(both["human"])
    assert table["estimate"].item() == pytest.approx(r["other"] - r["error"])


def test_each_pair_of_columns_counts_once_and_no_column_with_itself(answers):
    with coverage.recording() as calls:
        correlations.bootstrap_correlations(
            answers.assign(other=answers["error"] - answers["score"]),
            ["error", "other", "score"],
            "prompt_id",
            5,
            np.random.default_rng(0),
        )
    table = intervals_of(calls[-1], itself, 50, np.random.default_rng(0))
    assert len(table) == 3
    r = answers["error"].corr(answers["score"])
    assert table["estimate"].iloc[1] == pytest.approx(r)


def test_a_good_interval_covers_as_often_as_it_says_and_a_narrow_one_is_found_out(
    answers,
):
    counts = {
        ("mean", "11", name): count(
            measure(called(function, answers), 80, 99, 0)["mean"]
        ).iloc[0]
        for name, function in (("good", mean), ("narrow", too_narrow))
    }
    table = pd.DataFrame(counts).T.rename_axis(["interval", "notebook", "statistic"])
    good, narrow = (coverage_table(table.iloc[[place]]).loc["mean"] for place in (0, 1))
    assert good["estimate"] == pytest.approx(0.95, abs=0.06)
    assert good["too low"] == 0
    assert narrow["estimate"] == pytest.approx(0.67, abs=0.14)
    assert narrow["high"] < 0.9
    assert narrow["too low"] == 1


def test_a_shorter_run_is_the_beginning_of_a_longer_one(answers):
    short, long = (measure(called(mean, answers), n_sets, 19, 7) for n_sets in (3, 6))
    pd.testing.assert_frame_equal(short, long.iloc[:3])


def test_a_refused_data_set_counts_as_undefined(answers):
    def picky(frame, cluster, n_boot, rng):
        if frame["score"].mean() > answers["score"].mean() + 1e-9:
            raise ValueError("too high")
        return mean(frame, cluster, n_boot, rng)

    counts = count(measure(called(picky, answers), 20, 19, 0))
    assert 0 < counts["undefined"].item() < 20
    assert counts[["covered", "missed", "undefined"]].sum(axis=1).item() == 20


def test_a_truth_of_zero_and_intervals_that_hold_at_once_are_told_apart(answers):
    zero = pd.DataFrame({"prompt_id": range(10), "score": 0.0})
    covered = measure(called(mean, zero), 2, 19, 0)
    assert covered.columns.tolist() == [("mean, truth zero", "score")]
    assert covered.columns.unique(0).str.endswith(CONSERVATIVE).tolist() == [True]
    with coverage.recording() as calls:
        curve = curves.fit_curve(
            answers.assign(x=range(500)), "x", "score", "prompt_id"
        )
        curve.band(np.linspace(50, 450, 5), 9, np.random.default_rng(0))
    band = measure(calls[-1], 2, 19, 0)
    assert band.columns.tolist() == [("curve, at once", "all")]


def test_clusters_stay_whole_keep_their_number_and_share_no_items():
    call = called(mean, RATINGS[RATINGS["rater_id"] != "a"])
    call.arguments["cluster"] = "rater_id"
    population = Population(call)
    drawn = []
    for seed in range(200):
        sample = population.draw(np.random.default_rng(seed))(call.arguments["frame"])
        pairs = sample.groupby("rater_id")["score"].agg(tuple)
        assert set(pairs) <= {(3.0, 4.0), (5.0, 6.0)}
        assert len(pairs) == 2
        drawn += pairs.to_list()
    assert drawn.count((3.0, 4.0)) == pytest.approx(200, abs=45)
    prompts = Population(called(mean, RATINGS))
    sample = prompts.draw(np.random.default_rng(3))(RATINGS)
    assert sample.groupby("item_id")["prompt_id"].nunique().max() == 1


def test_raters_and_prompts_are_drawn_together():
    arguments = {"frame": RATINGS, "clusters": RATINGS[["rater_id", "prompt_id"]]}
    population = Population(Call("", mean, arguments))
    for seed in range(5):
        draw = population.draw(np.random.default_rng(seed))
        sample, labels = draw(RATINGS), draw(arguments["clusters"])
        assert sample[["rater_id", "prompt_id"]].nunique().tolist() == [3, 2]
        assert not sample.duplicated(["rater_id", "prompt_id"]).any()
        assert sample.groupby("item_id")["prompt_id"].nunique().max() == 1
        pd.testing.assert_frame_equal(sample[["rater_id", "prompt_id"]], labels)
    sparse = RATINGS[[True, False, False, True, True, True]]
    population = Population(
        Call("", mean, {"clusters": sparse[["rater_id", "prompt_id"]]})
    )
    rng = np.random.default_rng(0)
    sizes = [len(population.draw(rng)(sparse)) for _ in range(500)]
    assert np.mean(sizes) == pytest.approx(4, rel=0.1)


def test_clusters_may_stand_beside_a_table():
    columns, beside = RATINGS[["score"]], RATINGS["rater_id"].rename("who")
    population = Population(Call("", mean, {"columns": columns, "clusters": beside}))
    draw = population.draw(np.random.default_rng(1))
    assert len(draw(columns)) == len(draw(beside)) == 6
    assert draw(columns).groupby(draw(beside))["score"].agg(np.ptp).eq(1).all()
    assert draw(5) == 5


def test_statistics_that_err_together_count_as_one():
    one = pd.Series([1.0, 0.0] * 50)
    alone, twins = (
        count(pd.DataFrame(dict.fromkeys(names, one))) for names in ("a", "ab")
    )
    assert twins["effective"].iloc[0] == pytest.approx(alone["effective"].iloc[0])


def test_low_statistics_are_counted_after_holm_and_the_lowest_is_named():
    index = pd.MultiIndex.from_product(
        [["mean"], ["11"], [f"1: {name}" for name in "abcd"]],
        names=["interval", "notebook", "statistic"],
    )
    counts = pd.DataFrame(
        {
            "covered": [95, 90, 70, 60],
            "missed": [5, 10, 30, 40],
            "undefined": 0,
            "effective": 300.0,
        },
        index,
    )
    row = coverage_table(counts).loc["mean"]
    assert row[["printed in", "too low", "lowest", "where"]].tolist() == [
        "11",
        2,
        0.6,
        "d",
    ]


def test_the_calls_of_a_notebook_are_kept_and_measured(tmp_path):
    cells = [
        "import pandas as pd\nfrom helpers.stats.groups import group_means",
        "size: int = 3  # rows",
        "import numpy as np\n"
        "table = pd.DataFrame({'prompt_id': range(size), 'score': range(size)})\n"
        "group_means(table, ['score'], None, 'prompt_id', 9, np.random.default_rng(0))",
    ]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
    )
    notebook.cells[1].metadata["tags"] = ["parameters"]
    nbformat.write(notebook, tmp_path / "11_test.ipynb")
    (call,) = coverage.printed_by(tmp_path / "11_test.ipynb", {"size": 20})
    assert (call.where, call.kind, len(call.arguments["frame"])) == (
        "11",
        "mean of a group",
        20,
    )
    counts = coverage.measure_all([call], 3, 9, 0)
    assert counts.index.tolist() == [("mean of a group", "11", "1: score")]
    assert counts[["covered", "missed"]].sum(axis=None) == 3


def test_every_function_that_resamples_has_a_kind_or_a_reason_why_not():
    known = {path.rpartition(".")[2] for path in (*coverage.KINDS, *coverage.STEPS)}
    no_interval = {
        "bootstrap_ratio",
        "in_batches",
        "draws",
        "bootstrap_quantiles",
        "lasso_table",
    }
    of_51 = {"detection_rates", "cluster_draws"}  # notebook 51 measures these itself
    for module in (accuracy, agreement, bootstrap, clustered, correlations, groups, lasso, curves,
                   ordinal, rates):  # fmt: skip
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                resamples = "n_boot" in inspect.signature(function).parameters
                assert not resamples or name in known | no_interval | of_51, name
