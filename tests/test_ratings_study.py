"""From ratings to a study: what stands out, what is left out, in memory and not."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from helpers.data.tables import BadTableError, OptionError
from ratings import findings, intake, study
from ratings.accounts import Account
from ratings.intake import prepare

NAN = float("nan")
NAMES = ["overall", "tone", "harm"]


def ratings(n=400, **columns):
    """Ratings without fault: 4 of each item by different raters, 2 items a cluster."""
    rng = np.random.default_rng(0)
    rows = np.arange(n)
    frame = pd.DataFrame(
        {
            "item_id": rows // 4,
            "prompt_id": rows // 8,
            "rater_id": [f"r{row % 10}" for row in rows],
            "overall": rng.integers(1, 6, n).astype(float),
            "tone": rng.integers(1, 6, n).astype(float),
            "harm": rng.integers(0, 2, n).astype(float),
        }
    )
    return frame.assign(**columns)


def changed(frame, column, rows, value):
    frame = frame.copy()
    frame.loc[rows, column] = value
    return frame


def found(table):
    return [list(row[:3]) for row in findings.findings(table, NAMES)]


def study_of(table, aspects=("tone", "harm"), **settings):
    return prepare(table, "overall", list(aspects), **settings)


UNNAMED = ratings().drop(columns="rater_id").drop_duplicates()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (ratings(), []),
        (ratings(harm=1.0), [["always the same", "harm", 400]]),
        (
            pd.concat([UNNAMED, UNNAMED.iloc[:2]]),
            [["same in all columns as a row before", "", 2]],
        ),
        (pd.concat([UNNAMED, UNNAMED.iloc[:2].assign(overall=3.5)]), []),
        (ratings(80), [["only 10 clusters", "", 80]]),
    ],
)
def test_what_stands_out_is_found_and_nothing_else(table, expected):
    assert found(table) == expected


def test_an_item_in_two_clusters_joins_them_and_numbers_that_begin_anew_do_not():
    table = changed(ratings(), "item_id", [8], 0)
    assert found(table) == [["an item in several clusters", "", 5]]
    assert study_of(table).frame["cluster"].nunique() == 49
    anew = ratings(item_id=lambda t: t["item_id"] % 2)
    assert found(anew) == [["items with the same names in several clusters", "", 400]]
    about = study_of(anew)
    assert about.frame["cluster"].nunique() == 50
    assert about.frame["item_id"].nunique() == 100


@pytest.mark.parametrize(
    ("unit", "key"), [("a rater", "rater_id"), ("an item", "item_id")]
)
def test_a_property_of_a_unit_is_no_mark_of_each_rating(unit, key):
    codes = pd.factorize(ratings()[key])[0]
    values = np.random.default_rng(1).permutation(codes.max() + 1) % 17
    table = ratings(length=values[codes] * 1.0)
    assert findings.constant_within(table, ["tone", "length"]) == {"length": unit}


@pytest.mark.parametrize(
    ("overall", "expected"),
    [
        (
            lambda t: t["tone"] + 2 * t["harm"],
            "overall is computed from tone, harm (exactly)",
        ),
        (lambda t: t["tone"] * 2, "overall is computed from tone (exactly)"),
        (
            lambda t: ((t["tone"] + t["depth"]) / 2).round(),
            "overall is computed from tone, depth (",
        ),
        (lambda t: t["tone"] + t["noise"], ""),
        (lambda t: (t["noise"] > 1.9) * 1.0, ""),
    ],
)
def test_an_outcome_that_is_computed_is_named(overall, expected):
    rng = np.random.default_rng(1)
    table = ratings(depth=rng.integers(1, 6, 400) * 1.0, noise=rng.normal(size=400))
    about = study_of(table.assign(overall=overall), ["tone", "harm", "depth"])
    assert about.identity.startswith(expected)
    assert bool(about.identity) == bool(expected)


def test_aspects_that_move_together_are_grouped():
    rng = np.random.default_rng(1)
    table = ratings(depth=rng.integers(1, 6, 400) * 1.0, noise=rng.normal(size=400))
    table["nearly"] = table["tone"] + 0.05 * rng.normal(size=400)
    table["total"] = table["harm"] + table["depth"]
    about = study_of(table, ["tone", "harm", "depth", "noise", "nearly", "total"])
    assert about.collinear == [["tone", "nearly"], ["harm", "depth", "total"]]
    assert about.left_out == {"total": "made up of other aspects"}


def test_more_aspects_than_the_ratings_can_tell_are_called_so():
    marks = np.random.default_rng(1).normal(size=(400, 60))
    table = pd.DataFrame(marks).add_prefix("a")
    about = study_of(ratings().join(table), list(table))
    assert about.too_many == (
        "more aspects than the ratings can tell: 60, with 400 ratings in 50 clusters"
    )
    assert (len(about.aspects), about.collinear, about.identity) == (60, [], "")


def test_aspects_that_cannot_be_analysed_are_left_out_with_a_reason():
    of_rater = ratings()["rater_id"].str[1].astype(float)
    table = ratings(flat=1.0, twice=lambda t: 2 * t["tone"] + t["harm"], empty=NAN)
    names = ["tone", "harm", "flat", "twice", "empty", "own"]
    about = study_of(table.assign(own=of_rater), names)
    assert about.aspects == ["tone", "harm"]
    assert about.left_out == {
        "empty": "mostly missing",
        "flat": "always the same",
        "twice": "made up of other aspects",
        "own": "it does not vary within raters and systems",
    }


def test_aspects_run_from_zero_to_one_on_declared_scales_or_the_marks_that_occur():
    about = study_of(ratings())
    assert set(about.values(about.frame)[:, 0]) == {0, 0.25, 0.5, 0.75, 1}
    assert about.values(about.frame)[:, -1].max() == 5
    about = study_of(ratings(), scales={"tone": (0, 10)})
    assert about.ends.loc["tone"].tolist() == [0, 10, True]
    assert about.values(about.frame)[:, 0].max() == 0.5


def test_complete_first_ratings_are_kept_and_each_lost_row_is_named():
    again = ratings().iloc[:5].assign(overall=9.0)
    table = pd.concat([ratings(), again], ignore_index=True)
    table = changed(table, "tone", [7], NAN).assign(system_id="x")
    table = changed(table, "system_id", [9], NAN)
    account = Account()
    account.start(table)
    about = study_of(table, account=account)
    assert [(step.step, step.change) for step in account.steps[1:]] == [
        ("rated again: the first rating counts", -5),
        ("no value for tone", -1),
        ("no value for system", -1),
    ]
    assert account.left == len(about.frame) == 398
    assert about.frame["overall"].max() == 5


def test_effects_of_raters_and_systems_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    table = ratings(system_id=rng.choice(list("abc"), 400, p=[0.6, 0.3, 0.1]))
    about = study_of(table)
    assert about.held == ("rater_id", "system_id")
    residuals = about.centred(about.held, about.values)(about.frame)
    for place, name in enumerate(["tone", "harm", "overall"]):
        fit = smf.ols(f"{name} ~ C(rater_id) + C(system_id)", table).fit()
        expected = fit.resid / (4 if name == "tone" else 1)
        assert np.allclose(residuals[:, place], expected)


@pytest.mark.parametrize(
    ("raters", "left_out", "scope"),
    [
        (np.arange(400) % 10, ["rater_id", "cluster"], study.OTHERS),
        (np.arange(400) // 8, ["cluster"], study.OTHERS),  # nested in clusters
        (np.arange(400) // 40, ["rater_id"], study.OTHERS),  # clusters nested in them
        (np.arange(400) % 4, ["cluster"], study.THESE),
    ],
)
def test_what_is_left_out_in_turn_follows_from_who_rated_what(raters, left_out, scope):
    about = study_of(ratings(rater_id=raters))
    assert (about.clusters, about.scope) == (left_out, scope)
    assert about.weights.variance().min() > 0


def test_raters_are_compared_with_themselves_if_they_rate_often():
    assert study_of(ratings()).held == ("rater_id",)
    assert study_of(ratings(rater_id=np.arange(400) // 2)).held == ()
    assert study_of(ratings().drop(columns="rater_id")).held == ()


def test_simulated_ratings_never_pass_for_real():
    for word, expected in (
        ("real", ["real", "real", "simulated"]),
        ("simulated", ["simulated"] * 3),
    ):
        table = pd.DataFrame({"source": [word] * 2})
        told = [intake.source(table, choice) for choice in intake.DATA_SOURCES]
        assert told == expected
    with pytest.raises(OptionError, match=r"data_source must be one of .*, not 'mine'"):
        intake.source(table, "mine")


def test_the_description_counts_everything():
    text = "400 ratings of 100 items in 50 clusters; 10 raters."
    assert intake.describe_file(ratings()) == text
    assert intake.describe_file(ratings(), names_items=False).endswith(
        "in 50 clusters; the recipe names no item: each row counts as one; 10 raters."
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ratings(8), "complete ratings: 8, clusters: 1; at least 10 and 5 are needed"),
        (ratings(overall=NAN), "complete ratings: 0, clusters: 0; at least"),
        (
            ratings(overall=4.0),
            "column 'overall' is 4 in all complete ratings: there is",
        ),
        (ratings(tone=1.0, harm=0.0), "no aspect varies in 400 ratings"),
        (
            ratings(tone=lambda t: t["rater_id"].str[1].astype(float), harm=0.0),
            "no aspect varies within raters and systems",
        ),
    ],
)
def test_too_little_to_analyse_is_refused(table, message):
    with pytest.raises(BadTableError, match=f"^{message}"):
        study_of(table)


@pytest.fixture
def parquet(tmp_path):
    """A folder of files that hold whole prompts, and the table in memory."""
    pytest.importorskip("dask.dataframe")
    rng = np.random.default_rng(0)
    table = ratings(system_id=rng.choice(list("abc"), 400, p=[0.5, 0.3, 0.2]))
    table = changed(table, "tone", [7], NAN)
    for number, part in enumerate(np.array_split(np.arange(400), [160, 320])):
        table.iloc[part].to_parquet(tmp_path / f"part{number}.parquet", index=False)
    return tmp_path, table


COLUMNS = {"cluster": "prompt_id", "rater_id": "rater_id", "system_id": "system_id"}


def test_a_folder_of_parquet_files_gives_the_numbers_of_the_table(parquet):
    folder, table = parquet
    large = intake.from_parquet(folder, COLUMNS, "overall", ["tone", "harm"])
    small = study_of(table)
    assert intake.usual_columns(folder) == COLUMNS
    assert large.n_read == 400
    assert large.counts.rows == small.counts.rows == 399
    assert large.clusters == small.clusters == ["rater_id", "cluster"]
    assert large.informative.equals(small.informative)
    pd.testing.assert_frame_equal(large.weights.table(), small.weights.table())


def test_a_prompt_in_two_files_and_a_missing_column_are_told(parquet):
    folder, table = parquet
    with pytest.raises(BadTableError, match=r"no column of this name: \['depth'\]"):
        intake.from_parquet(folder, COLUMNS, "overall", ["depth"])
    table.iloc[:4].to_parquet(folder / "part9.parquet", index=False)
    with pytest.raises(BadTableError, match="several files: sort all ratings by"):
        intake.from_parquet(folder, COLUMNS, "overall", ["tone"])
