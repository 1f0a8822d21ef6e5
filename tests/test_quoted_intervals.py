"""Coverage of quoted intervals: the table, and models from which studies are drawn."""

import re

import numpy as np
import pandas as pd
import pytest

from benchmarks import (
    quoted_experiment_2,
    quoted_hosking,
    quoted_humbel,
    quoted_intervals,
    quoted_kamoda,
    quoted_tones,
    quoted_two_way,
)
from helpers import paths
from helpers.data.columns.kamoda import RANGES
from helpers.data.published import read_text
from helpers.stats.leave_out import two_way_variance
from helpers.studies import hosking, kamoda
from helpers.studies.hosking_submissions import single_ratings

FIELD = re.compile(r"\{(\w+)(?::\d)?\}")


def quoted() -> pd.DataFrame:
    return read_text(paths.DATA / "quoted_intervals.csv")


def interval_fields(template: str, filled: str) -> list[str]:
    """Fields of a headline that were filled with an interval."""
    parts = FIELD.split(template)
    pattern = "".join(
        "(.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
    )
    found = re.fullmatch(pattern, filled)
    assert found, f"make refresh: the headline has changed since: {filled[:60]}"
    pairs = zip(FIELD.findall(template), found.groups(), strict=True)
    return [field for field, text in pairs if re.search(r"\[.*\]", text)]


def test_every_interval_of_a_headline_has_a_row():
    table = quoted()
    rows = set(zip(table["headline"], table["field"], strict=True))
    templates = read_text(paths.PUBLISHED / "headlines.csv").set_index("headline")
    filled = read_text(paths.ROOT / "figures" / "headlines.csv").set_index("headline")
    for headline, row in templates.iterrows():
        for column in ("short", "sentence", "alternatives"):
            # several notebooks may have a line each
            template = row[column].replace("\n", " ")
            for field in interval_fields(template, filled.loc[headline, column]):
                assert (headline, field) in rows


def test_a_row_was_measured_often_enough_or_says_why_not():
    table = quoted()
    measured = table["verdict"].isin(["holds", "fails"])
    assert table.loc[~measured, "verdict"].eq("not measured").all()
    assert table.loc[~measured, "reason"].str.startswith("not measured: ").all()
    rows = table[measured]
    assert rows["n_sets"].astype(int).ge(1000).all()
    high = rows["high"].astype(float)
    fails = high < quoted_intervals.LOWEST
    assert (rows["verdict"] == "fails").tolist() == fails.tolist()
    assert rows[["model", "drawn", "method", "clusters"]].ne("").all(axis=None)


def test_the_table_lists_what_the_benchmark_measures():
    table = quoted()
    measured = table[table["verdict"].isin(["holds", "fails"])]
    listed = []
    for family in quoted_intervals.FAMILIES:
        for row in family.rows.values():
            listed.append((row["notebook"], row["quantity"]))
    found = zip(measured["notebook"], measured["quantity"], strict=True)
    assert sorted(found) == sorted(listed)


@pytest.fixture(scope="module")
def rough_kamoda():
    """A model with the observed numbers, not fitted further, and the design."""
    study = quoted_kamoda.from_tables(kamoda.load("simulated", 0))
    observed = quoted_kamoda.moments(study)
    model = quoted_kamoda.Model(
        means=observed["means"],
        parts={name: observed[name] for name in quoted_kamoda.PARTS},
        weights=observed["weights"],
        between_workers=0.05 * np.eye(4),
        chosen={"mean": 0.8, "question": 0.2, "worker": 0.1},
    )
    return model, study


def test_studies_of_kamoda_keep_who_rates_what_and_the_scales(rough_kamoda):
    model, study = rough_kamoda
    drawn = quoted_kamoda.draw(model, study.design, np.random.default_rng(0))
    ratings, evaluators = drawn.frames()
    assert len(ratings) == study.ratings.shape[0] * 4
    assert ratings.groupby("item_id").size().eq(3).all()
    for name, (low, high) in RANGES.items():
        assert set(ratings[name]) <= set(range(low, high + 1))
    assert evaluators["evaluator"].value_counts().tolist() == [1200, 432]
    again, _ = study.frames()
    by_worker = again.groupby("rater_id").size()
    assert ratings.groupby("rater_id").size().equals(by_worker)


def test_frames_of_a_study_hold_its_ratings(rough_kamoda):
    _, study = rough_kamoda
    ratings, _ = study.frames()
    real = kamoda.load("simulated", 0).ratings
    for name in RANGES:
        assert ratings[name].mean() == pytest.approx(real[name].mean())
    by_system = real.groupby("system")["factuality"].mean()
    found = ratings.groupby("system")["factuality"].mean()
    pd.testing.assert_series_equal(found, by_system, check_names=False)


def test_a_large_drawn_study_has_the_means_that_were_asked_for(rough_kamoda):
    model, study = rough_kamoda
    parts = {name: 0.01 * np.eye(len(each)) for name, each in model.parts.items()}
    parts["single"] = 0.01 * np.eye(4)
    plain = quoted_kamoda.Model(
        means=np.full_like(model.means, 0.0),
        parts=parts,
        weights=np.array([0.0, 2.0, 0.7, 0.3]),
        between_workers=np.zeros((4, 4)),
        chosen=model.chosen,
    )
    large = study.design.copies(20)
    drawn = quoted_kamoda.draw(plain, large, np.random.default_rng(1))
    # factuality 0 is as far from its ideal as can be: two points are missing
    assert drawn.ratings[:, :, 3].mean() == pytest.approx(1.0, abs=0.02)
    assert drawn.chose_model.mean() == pytest.approx(0.8, abs=0.02)


def test_quantities_of_kamoda_are_computed_now_and_as_before(rough_kamoda, monkeypatch):
    monkeypatch.setattr(quoted_intervals, "N_BOOT", 19)
    model, study = rough_kamoda
    drawn = quoted_kamoda.draw(model, study.design, np.random.default_rng(2))
    for family in quoted_intervals.FAMILIES:
        if family.study == "Kamoda et al.":
            now = family.now(drawn, [0])
            before = family.before(drawn, [0])
            assert list(now.index) == list(before.index) == list(family.rows)
            np.testing.assert_allclose(
                now["estimate"], before["estimate"].astype(float)
            )
            truth = quoted_intervals.estimates(family, drawn)
            np.testing.assert_allclose(truth, now["estimate"])


def test_studies_of_hosking_keep_who_rates_what(monkeypatch):
    monkeypatch.setattr(quoted_intervals, "N_BOOT", 19)
    marks = single_ratings(1, "errors", "simulated", 0)
    scores = single_ratings(1, "unbiased", "simulated", 0)
    errors = quoted_intervals.ERRORS
    model = quoted_hosking.fit(marks, scores, errors, "quality_unbiased")
    assert 0 <= model.readiness <= model.study.halo
    assert 0 <= model.leniency_sd <= model.study.rater_sd
    who_marks = quoted_hosking.allocation(marks)
    who_scores = quoted_hosking.allocation(scores)
    n_prompts = marks["prompt_id"].nunique()
    rng = np.random.default_rng(0)
    drawn = quoted_hosking.draw(model, n_prompts, who_marks, who_scores, rng)
    assert len(drawn.marks) == len(marks)
    by_rater = sorted(marks.groupby("rater_id").size())
    assert sorted(drawn.marks.groupby("rater_id").size()) == by_rater
    assert drawn.outputs["item_id"].is_unique
    study = quoted_intervals.Hosking(drawn, drawn.marks)
    for family in quoted_intervals.FAMILIES:
        if family.study == "Hosking et al., experiment 1":
            now = family.now(study, [0])
            before = family.before(study, [0])
            assert list(now.index) == list(before.index) == list(family.rows)
            np.testing.assert_allclose(
                now["estimate"].astype(float), before["estimate"].astype(float)
            )


@pytest.fixture(scope="module")
def later():
    return quoted_experiment_2.load("simulated", 0)


def plain_model(**parts):
    """A model in which nobody and nothing differs, but for the parts given."""
    nothing = np.zeros((6, 6))
    chance = np.diag([1.0, 1.0, 0.2, 0.2, 0.0, 0.0])
    means = np.tile([1.0, 1.5, 3.0, 3.0, 1.0, 1.5], (25, 1))
    of_raters = {"rater": nothing, "submission": nothing, "single": chance}
    of_raters |= {name: each for name, each in parts.items() if name in of_raters}
    return quoted_experiment_2.Model(
        means=means,
        prompt=parts.get("prompt", nothing),
        item=parts.get("item", nothing),
        of_raters=of_raters,
        arms=list("abcde"),
        systems=list("vwxyz"),
    )


def test_arrays_of_experiment_2_hold_what_the_study_reports(later):
    outputs = hosking.load_experiment_2("simulated", 0).outputs()
    found = later.outputs()
    names = ["factuality", "refusal", "quality_unbiased", "assertiveness"]
    np.testing.assert_allclose(found[names], outputs[names])
    assert found["arm"].tolist() == outputs["arm"].tolist()
    assert found["system"].tolist() == outputs["system"].tolist()
    assert later.often().groupby("item_id").size().eq(5).all()


def test_drawn_studies_of_experiment_2_keep_who_rates_what(later):
    rng = np.random.default_rng(0)
    drawn = quoted_experiment_2.draw(plain_model(), later.design, rng)
    assert len(drawn.marks()) == len(later.marks())
    by_rater = later.marks().groupby("rater_id").size()
    assert drawn.marks().groupby("rater_id").size().equals(by_rater)
    assert drawn.outputs()["assertiveness"].between(1, 5).all()
    assert set(drawn.labels()["factuality"]) <= {0.0, 1.0}
    expert = later.labels()["item_id"].tolist()
    assert drawn.labels()["item_id"].tolist() == expert


def test_covariances_of_a_drawn_experiment_2_are_those_asked_for(later):
    # small enough for points that hardly ever reach the ends of the scale
    rater = np.diag([0.0, 0.0, 0.1, 0.2, 0.0, 0.0])
    submission = np.diag([0.0, 0.0, -0.2, 0.1, 0.0, 0.0])
    item = np.diag([0.0, 0.0, 0.2, 0.2, 0.0, 0.0])
    item[2, 3] = item[3, 2] = 0.15
    model = plain_model(rater=rater, submission=submission, item=item)
    large = later.design.copies(30)
    drawn = quoted_experiment_2.draw(model, large, np.random.default_rng(1))
    found = quoted_experiment_2.moments(drawn)
    for name, asked in [("rater", rater), ("submission", submission), ("item", item)]:
        points = np.ix_([2, 3], [2, 3])
        np.testing.assert_allclose(found[name][points], asked[points], atol=0.04)
        np.testing.assert_allclose(found[name][:2, :2], 0, atol=0.01)
    share = drawn.marks()["factuality"].mean()
    assert share == pytest.approx(0.159, abs=0.01)  # of a normal variable below -1


def test_a_fitted_experiment_2_gives_the_rates_of_the_study(later):
    model = quoted_experiment_2.fit(later)
    for covariance in (model.prompt, model.item):
        assert np.linalg.eigvalsh(covariance).min() > -1e-9
    crowd = model.prompt + model.item + sum(model.of_raters.values())
    np.testing.assert_allclose(np.diagonal(crowd)[:2], 1.0, atol=0.05)
    total = np.diagonal(model.prompt + model.item)
    np.testing.assert_allclose(total[quoted_experiment_2.EXPERT], 1.0)
    large = later.design.copies(10)
    drawn = quoted_experiment_2.draw(model, large, np.random.default_rng(2))
    for group in ("errors", "expert"):
        found = drawn.rated[group].mean(axis=0)
        np.testing.assert_allclose(found, later.rated[group].mean(axis=0), atol=0.03)


def test_quantities_of_experiment_2_are_computed_as_their_truth(later, monkeypatch):
    monkeypatch.setattr(quoted_tones, "N_BOOT", 19)
    for family in quoted_intervals.FAMILIES:
        if family.study == quoted_intervals.LATER:
            now = family.now(later, [0])
            truth = quoted_intervals.estimates(family, later)
            assert list(now.index) == list(truth.index)
            assert sorted(now.index) == sorted(family.rows)
            np.testing.assert_allclose(now["estimate"].astype(float), truth)
            if family.before is not None:
                before = family.before(later, [0])["estimate"]
                np.testing.assert_allclose(before.astype(float), truth)


def test_drawn_questions_are_whole_cues_that_count_once_each():
    table = quoted_humbel.questions("simulated")
    drawn = quoted_humbel.draw(table, np.random.default_rng(0))
    assert drawn["cue"].nunique() == table["cue"].nunique()
    sizes = set(table.groupby("cue").size())
    assert set(drawn.groupby("cue").size()) <= sizes
    for family in quoted_intervals.FAMILIES:
        if family.study == "HumBEL":
            now = family.now(table, [0])
            truth = quoted_intervals.estimates(family, table)
            assert list(now.index) == list(truth.index) == list(family.rows)
            np.testing.assert_allclose(now["estimate"], truth)


def test_the_rule_for_two_ways_is_the_one_that_was_chosen():
    table = pd.read_csv(paths.ROOT / "benchmarks" / "quoted_two_way.csv")
    chosen = quoted_two_way.choose(table).index[0]
    assert chosen == "never less than either"
    parts = [np.array([4.0, 4.0]), np.array([3.0, 1.0]), np.array([2.0, 5.0])]
    by_rule = quoted_two_way.variances_by_rule(*parts)
    np.testing.assert_array_equal(two_way_variance(*parts), by_rule[chosen])
    np.testing.assert_array_equal(by_rule["larger if not positive"], [5.0, 4.0])
