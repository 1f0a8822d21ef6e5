"""Raters and rows of any study: faults that were put in are found, and no others."""

import numpy as np
import pandas as pd
import pytest

from ratings import raters
from ratings.intake import prepare

COLUMNS = ["overall", "tone", "harm"]


def rng(seed=1):
    return np.random.default_rng(seed)


def agreeing(n_raters=4, n_items=80, seed=1):
    """Raters who all rate all items, and mostly agree."""
    random = rng(seed)
    item, rater = np.divmod(np.arange(n_items * n_raters), n_raters)
    quality, tone = random.integers(1, 6, (2, n_items))[:, item]
    marks = [
        np.clip(each + random.choice([-1, 0, 0, 1], len(item)), 1, 5)
        for each in (quality, tone)
    ]
    harm = (random.random(len(item)) < 0.3) * 1.0
    table = {
        "item_id": item,
        "prompt_id": item // 2,
        "rater_id": np.array(list("abcdefgh"))[rater],
    }
    return pd.DataFrame(table).assign(
        overall=marks[0] * 1.0, tone=marks[1] * 1.0, harm=harm
    )


def changed(table, who, **columns):
    rows = table["rater_id"] == who
    return table.assign(
        **{name: table[name].mask(rows, new) for name, new in columns.items()}
    )


def found(table, **settings):
    rows = raters.check_raters(table, "overall", ["tone", "harm"], **settings)
    return rows[["what", "where", "rows"]].to_numpy().tolist()


def study_of(table):
    return prepare(table, "overall", ["tone", "harm"], rng(0))


def test_nothing_is_found_where_nothing_is_wrong():
    assert found(agreeing()) == [["nothing", "", 0]]
    assert raters.doubtful(study_of(agreeing())) == {}


def test_a_reversed_rater_is_named_and_the_others_are_not():
    table = agreeing(3)
    table = changed(table, "b", overall=6 - table["overall"])
    assert found(table) == [["rates opposite to the others", "overall: b", 80]]
    marked = raters.doubtful(study_of(table))
    assert list(marked) == ["raters who rate opposite to the others"]
    assert marked.popitem()[1].sum() == 80


def test_of_two_raters_who_contradict_each_other_neither_is_called_reversed():
    table = agreeing(2)
    assert found(changed(table, "b", overall=6 - table["overall"])) == [
        ["nothing", "", 0]
    ]


def test_copied_ratings_are_those_of_the_later_rater():
    table = agreeing()
    first = table[table["rater_id"] == "a"].set_index("item_id")
    table = changed(
        table, "c", **{name: table["item_id"].map(first[name]) for name in COLUMNS}
    )
    (what, where, n_rows), *others = found(table)
    assert what == "the same in all columns as another rating of the item"
    assert where.startswith("a and c: 75 of 75 items; ")
    assert (n_rows, others) == (75, [])  # in 5 items all marks are usual ones
    marked = raters.doubtful(study_of(table))["copied ratings"]
    assert marked.sum() == 75
    assert (table["rater_id"][marked] == "c").all()


def test_one_column_does_not_tell_copies_from_agreement():
    table = agreeing()
    first = table[table["rater_id"] == "a"].set_index("item_id")["overall"]
    table = changed(table, "c", overall=table["item_id"].map(first))
    rows = raters.check_raters(table, "overall", [])
    assert not rows["what"].str.startswith("the same in all columns").any()


def test_raters_who_agree_fully_where_little_can_differ_copied_nothing():
    table = agreeing().assign(
        overall=lambda t: (t["item_id"] % 20 == 0) * 1.0, tone=0.0, harm=0.0
    )
    assert not any("the same in all columns" in what for what, _, _ in found(table))


def test_a_rater_who_never_varies_and_one_who_is_hasty_are_found():
    table = changed(agreeing(), "d", overall=3.0)
    assert ["always the same overall", "d", 80] in found(table)
    seconds = np.where(table["rater_id"] == "b", 5.0, 40.0) + rng().random(len(table))
    timed = agreeing().assign(covariate=seconds)
    assert found(timed, covariate="lead_time, seconds") == [
        ["under a third of the usual lead_time, seconds", "b", 80]
    ]
    assert found(timed, covariate="words") == [["nothing", "", 0]]


def test_a_harsh_rater_of_yes_or_no_is_told_in_percentage_points():
    table = agreeing()
    accepts = (table["overall"] > table["overall"].median()).astype(float)
    table = changed(table.assign(overall=accepts), "a", overall=0.0)
    # half of what the others accept is refused
    lines = [what for what, *_ in found(table) if what.startswith("harsher")]
    assert len(lines) == 1
    assert lines[0].endswith(" percentage points")


def test_a_harsh_rater_is_found_and_measured():
    table = agreeing()
    table = changed(table, "a", overall=table["overall"] - 2)
    scales = {"overall": (-1, 5)}
    harsh = [["harsher than the middle rater, by 2.0 points", "a", 80]]
    assert found(table, scales=scales) == harsh
    study = prepare(table, "overall", ["tone", "harm"], rng(0), scales)
    lenient = raters.by_rater(study)
    expected = table.pivot(index="item_id", columns="rater_id", values="overall")
    others = expected[["b", "c", "d"]].mean(axis="columns")
    assert lenient.loc["a", "leniency"] == pytest.approx(
        (expected["a"] - others).mean()
    )
    assert lenient.loc["a", "leniency low"] < -2 < lenient.loc["a", "leniency high"]
    assert lenient.loc["a", "agreement"] == pytest.approx(expected["a"].corr(others))
    assert lenient["ratings"].tolist() == [80] * 4


def test_who_rated_how_much_of_what_is_said():
    table = agreeing()
    kept = (table["rater_id"] == "a") | (table["item_id"] < 6)
    assert ["most items rated once", "", 74] in found(table[kept])
    names = table["rater_id"].mask(
        table["rater_id"] != "a", "x" + (table["item_id"] % 9).astype(str)
    )
    table = table.assign(rater_id=names, covariate=pd.Categorical(names))
    rows = found(table.drop_duplicates(["item_id", "rater_id"]))
    assert ["saw one label of the covariate only", "10 of 10 raters", 160] in rows
    assert ["far more ratings than others", "1 of 10 raters", 80] in rows


def test_without_raters_nothing_is_said_about_them():
    table = agreeing().drop(columns="rater_id")
    assert found(table) == [["same in all columns as a row before", "", 51]]
    assert raters.doubtful(study_of(table)) == {}
    assert raters.by_rater(study_of(table)).empty


def test_faultless_files_give_few_alarms():
    alarms = sum(
        found(agreeing(seed=seed)) != [["nothing", "", 0]] for seed in range(100, 115)
    )
    assert alarms <= 1


def test_reliability_is_that_of_the_analysis_of_variance():
    table = agreeing()
    reliable = raters.reliability(study_of(table))
    matrix = table.pivot(
        index="item_id", columns="rater_id", values="overall"
    ).to_numpy()
    between = 4 * matrix.mean(axis=1).var(ddof=1)
    within = matrix.var(axis=1, ddof=1).mean()
    single = (between - within) / (between + 3 * within)
    assert reliable.loc[1, "estimate"] == pytest.approx(single)
    assert reliable.loc[5, "estimate"] == pytest.approx(5 * single / (1 + 4 * single))
    assert (reliable["low"] < reliable["estimate"]).all()
    assert (reliable["estimate"] < reliable["high"]).all()
    assert raters.reliability(study_of(table.drop_duplicates("item_id"))).empty


def test_how_many_more_are_needed_follows_from_the_parts_of_the_error():
    study = study_of(agreeing(6))
    planned = raters.sample_size(study, 0.05)
    detects = planned.loc["harm", "detects"]
    assert raters.sample_size(study, detects).loc[
        "harm", "times the items"
    ] == pytest.approx(1)
    assert (planned.loc["harm", ["times the items", "times the raters"]] > 1).all()
    unnamed = study_of(agreeing().drop(columns="rater_id"))
    found = raters.sample_size(unnamed, 0.05).loc["harm"]
    assert found["times the items"] == pytest.approx(
        (found["detects"] / 0.05) ** 2, rel=0.1
    )
    assert np.isnan(found["times the raters"])
