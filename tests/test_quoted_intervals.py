"""Coverage of quoted intervals: the table, and models from which studies are drawn."""

import re

import numpy as np
import pandas as pd
import pytest

from benchmarks import quoted_hosking, quoted_intervals, quoted_kamoda
from helpers import paths
from helpers.data.columns.kamoda import RANGES
from helpers.data.published import read_text
from helpers.studies import kamoda
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
        if family.study != "Kamoda et al.":
            now = family.now(study, [0])
            before = family.before(study, [0])
            assert list(now.index) == list(before.index) == list(family.rows)
            np.testing.assert_allclose(
                now["estimate"].astype(float), before["estimate"].astype(float)
            )
