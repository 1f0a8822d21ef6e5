"""Coefficients of agreement: by hand, other packages, brute force, and refusals."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from helpers import reliability, verbs
from helpers.data.tables import OptionError

LEVELS = reliability.LEVELS
CLUSTERS = ["rater_id", "prompt_id"]
ENDS = ["low", "high"]

# Gwet's AC1 by the independent package irrCAC 0.4.4, from CAC(table, categories=[0.0,
# 1.0, ...], digits=8).gwet() on the tables of `patterned_ratings`
IRRCAC_AC1 = {(40, 4, 3): 0.68096420, (50, 2, 4): 0.54818040}


def long(ratings_of_items):
    """One row per rating, from lists of ratings by item."""
    rows = [
        (item, place, value)
        for item, values in ratings_of_items.items()
        for place, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["item_id", "rater_id", "grade"])


def patterned_ratings(n_items, n_raters, n_categories):
    """Ratings that mostly agree, a fifth of them missing, without random numbers."""
    item, rater = np.divmod(np.arange(n_items * n_raters), n_raters)
    slip = np.where((7 * item + 5 * rater) % 6 == 0, rater + 1, 0)
    is_missing = (item + 2 * rater) % 5 == 0
    grade = np.where(is_missing, np.nan, (item**2 + slip) % n_categories)
    return pd.DataFrame({"item_id": item, "rater_id": rater, "grade": grade})


def random_ratings(seed=4, n_items=60, n_categories=4):
    """Items of 15 prompts, each rated by one to five of seven raters."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(n_items):
        usual = rng.integers(n_categories)
        for rater in rng.choice(7, rng.integers(1, 6), replace=False):
            grade = np.clip(usual + rng.integers(-1, 2), 0, n_categories - 1)
            rows.append((item, item % 15, rater, float(grade)))
    columns = ["item_id", "prompt_id", "rater_id", "grade"]
    return pd.DataFrame(rows, columns=columns)


def labels(n_agreeing, n_single, n_none, n_raters=3):
    """Items on which all raters, one rater or no rater gives a label."""
    patterns = [[1] * n_raters] * n_agreeing
    patterns += [[1] + [0] * (n_raters - 1)] * n_single
    patterns += [[0] * n_raters] * n_none
    frame = long(dict(enumerate(patterns)))
    # six raters who share the work, in ten prompts
    frame["rater_id"] = (frame["item_id"] + frame["rater_id"]) % 6
    frame["prompt_id"] = frame["item_id"] % 10
    return frame


def agreement(frame, coefficient="alpha", **options):
    """The row of the one column."""
    table = reliability.agreement_table(frame, ["grade"], [coefficient], **options)
    return table.iloc[0]


def alpha_of(frame, level="nominal"):
    return reliability.krippendorff_alpha(
        reliability.value_counts(frame, "grade"), level
    )


def ac1_of(frame, categories=None):
    counts = reliability.value_counts(frame, "grade", categories=categories)
    return reliability.gwet_ac1(counts)


def all_of(frame, level="nominal", categories=None):
    """Alpha, AC1, percent and specific agreement of a table, one after the other."""
    counts = reliability.value_counts(frame, "grade", categories=categories)
    return np.array(
        [
            reliability.krippendorff_alpha(counts, level),
            reliability.gwet_ac1(counts),
            reliability.percent_agreement(counts),
            *reliability.specific_agreement(counts),
        ]
    )


# Coefficients -----------------------------------------------------------------------


def test_ac1_of_a_tiny_table_is_the_one_by_hand():
    frame = long({"a": [1, 1, 1], "b": [1, 0], "c": [0, 0, 0, 1], "d": [0]})
    # agreeing pairs: 3 of 3, 0 of 1, 3 of 6; d has no pair: (1 + 0 + 1 / 2) / 3
    # shares of 1: 1, 1/2, 1/4 and, for d, 0: 7/16
    # chance 2 · 9/16 · 7/16 = 63/128, so (64 - 63) / (128 - 63)
    assert ac1_of(frame) == pytest.approx(1 / 65)
    counts = reliability.value_counts(frame, "grade")
    assert reliability.percent_agreement(counts) == pytest.approx(1 / 2)


def test_alpha_of_a_tiny_table_is_the_one_by_hand():
    frame = long({"a": [1, 1], "b": [1, 2], "c": [2, 4], "d": [4, 4], "e": [2]})
    # pairable values: 1 three times, 2 twice, 4 three times; the pairs (1, 2) and (2,
    # 4) disagree; alpha = 1 - 7 · (sum over both orders of pairs) / (sum over both
    # orders of margins)
    nominal = 1 - 7 * 2 / (3 * 2 + 2 * 3 + 3 * 3)
    interval = 1 - 7 * (1 + 4) / (6 * 1 + 6 * 4 + 9 * 9)
    # mid-ranks 1.5, 4 and 6.5
    ordinal = 1 - 7 * (2.5**2 + 2.5**2) / (12 * 2.5**2 + 9 * 5**2)
    assert alpha_of(frame, "nominal") == pytest.approx(nominal)
    assert alpha_of(frame, "interval") == pytest.approx(interval)
    assert alpha_of(frame, "ordinal") == pytest.approx(ordinal)


def test_specific_agreement_of_a_tiny_table_is_the_one_by_hand():
    frame = long({"a": [1, 1, 0], "b": [1, 0], "c": [0, 0], "d": [1]})
    counts = reliability.value_counts(frame, "grade")
    # of the three 1 in pairs, those of a each have one of two others who agree; of the
    # four 0, those of c have their only other, and that of a none of two
    expected = {0: 2 / 4, 1: (1 / 2 + 1 / 2) / 3}
    assert reliability.specific_agreement(counts).to_dict() == pytest.approx(expected)


def test_the_textbook_example_of_four_raters_has_its_published_coefficients():
    # alpha as in Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; AC1
    # as given by Gwet's package irrCAC for the same ratings, its data set raw_4raters
    by_rater = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
    frame = long(dict(enumerate(zip(*by_rater, strict=True))))
    published = dict(zip(LEVELS, [0.743, 0.815, 0.849], strict=True))
    found = {level: round(alpha_of(frame, level), 3) for level in LEVELS}
    assert found == published
    assert ac1_of(frame) == pytest.approx(0.77544, abs=5e-6)


@pytest.mark.parametrize("shape", IRRCAC_AC1)
def test_ac1_is_that_of_an_independent_package(shape):
    ac1 = ac1_of(patterned_ratings(*shape), list(range(shape[-1])))
    assert ac1 == pytest.approx(IRRCAC_AC1[shape], abs=5e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_alpha_is_that_of_the_package_krippendorff(level, seed):
    frame = random_ratings(seed)
    matrix = frame.pivot_table("grade", "rater_id", "item_id")
    expected = krippendorff.alpha(
        reliability_data=matrix.to_numpy(), level_of_measurement=level
    )
    assert alpha_of(frame, level) == pytest.approx(expected, rel=1e-12)


def test_alpha_of_values_far_from_zero_loses_no_digits():
    frame = random_ratings()
    far = frame.assign(grade=frame["grade"] + 1e9)
    assert alpha_of(far, "interval") == pytest.approx(alpha_of(frame, "interval"))


@pytest.mark.parametrize("unequal", [False, True])
def test_alpha_of_a_label_follows_from_specific_agreement_and_rate(unequal):
    frame = labels(12, 20, 60)
    if unequal:
        frame = frame[frame.index % 7 != 3]
    counts = reliability.value_counts(frame, "grade")
    paired = counts[counts.sum(axis=1) >= 2]
    n = paired.to_numpy().sum()
    p = paired[1].sum() / n
    s = reliability.specific_agreement(counts)[1]
    # with Krippendorff's correction for small samples
    expected = 1 - (n - 1) / n * (1 - (s - p) / (1 - p))
    assert alpha_of(frame) == pytest.approx(expected)


def test_coefficients_do_not_depend_on_the_order_of_rows_or_on_names():
    frame = random_ratings()
    shuffled = frame.sample(frac=1, random_state=1)
    shuffled["item_id"] = "item " + shuffled["item_id"].astype(str)
    np.testing.assert_allclose(all_of(frame), all_of(shuffled))


def test_text_is_nominal():
    frame = random_ratings()
    words = {0.0: "bad", 1.0: "fair", 2.0: "good", 3.0: "best"}
    text = frame.assign(grade=frame["grade"].map(words))
    assert alpha_of(text) == pytest.approx(alpha_of(frame))
    names = list(reliability.agreement_table(text, ["grade"], ["specific"]).index)
    assert names[0] == ("grade", "specific bad")
    with pytest.raises(OptionError, match="level 'ordinal' needs numbers, and column"):
        alpha_of(text, "ordinal")


def test_booleans_are_zero_and_one():
    frame = labels(12, 20, 60)
    yes = frame.assign(grade=frame["grade"] == 1)
    pd.testing.assert_series_equal(
        agreement(yes)[ENDS], agreement(frame)[ENDS], check_names=False
    )


# Intervals --------------------------------------------------------------------------


def brute_force(frame, level, kind):
    """Squared changes of all coefficients when each cluster is left out, summed."""
    categories = sorted(frame["grade"].unique())
    estimate = all_of(frame, level, categories)
    squares = 0.0
    groups = frame.groupby(kind)
    for _, rows in groups:
        rest = frame.drop(rows.index)
        squares = squares + (all_of(rest, level, categories) - estimate) ** 2
    return squares * (len(groups) - 1) / len(groups)


@pytest.mark.parametrize("level", LEVELS)
def test_the_variance_is_that_of_leaving_out_each_cluster_by_brute_force(level):
    frame = random_ratings()
    found = reliability.agreement_table(
        frame, ["grade"], reliability.COEFFICIENTS, level=level
    )
    raters = brute_force(frame, level, ["rater_id"])
    prompts = brute_force(frame, level, ["prompt_id"])
    cells = brute_force(frame, level, CLUSTERS)
    sizes = frame.groupby("item_id").size()
    k = sizes[sizes >= 2].mean()
    variance = prompts + np.maximum(0, raters - cells) * (k - 1) / k
    assert (found["interval"] == "jackknife").all()
    np.testing.assert_allclose(found["standard_error"] ** 2, variance, rtol=1e-9)
    np.testing.assert_allclose(
        found["estimate"], all_of(frame, level), rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("column", CLUSTERS)
def test_one_kind_of_cluster_has_its_own_variance(column):
    frame = random_ratings()
    found = agreement(frame, clusters=[column])
    variance = brute_force(frame, "nominal", [column])[0]
    assert found["standard_error"] ** 2 == pytest.approx(variance)


def test_columns_of_clusters_are_alike_in_either_order():
    frame = random_ratings()
    one = agreement(frame, clusters=CLUSTERS)
    other = agreement(frame, clusters=CLUSTERS[::-1])
    assert one["standard_error"] == pytest.approx(other["standard_error"])


def test_missing_ratings_are_left_out_column_by_column():
    frame = random_ratings()
    frame["other"] = frame["grade"].mask(frame.index % 5 == 0)
    both = reliability.agreement_table(frame, ["grade", "other"])
    alone = reliability.agreement_table(frame.dropna(), ["other"])
    known = ["estimate", "n", "items", "raters"]
    assert both.loc[("other", "alpha"), known].tolist() == pytest.approx(
        alone.iloc[0][known].tolist()
    )
    assert both.loc[("grade", "alpha"), "n"] == len(frame)


def test_sizes_count_ratings_items_with_a_pair_and_raters():
    frame = random_ratings()
    found = agreement(frame)
    sizes = frame.groupby("item_id").size()
    assert found["n"] == len(frame)
    assert found["items"] == (sizes >= 2).sum()
    assert found["items"] < len(sizes)
    assert found["raters"] == frame["rater_id"].nunique()
    unknown = agreement(frame, rater=None, clusters=["prompt_id"])
    assert pd.isna(unknown["raters"])


def test_few_agreeing_items_have_wilsons_interval_transformed():
    frame = labels(9, 6, 85)
    found = agreement(frame)
    assert found["interval"] == "Wilson"
    assert np.isnan(found["standard_error"])
    # 33 labels, of which those of the nine items agree with both others
    s = 27 / 33
    # half of 33 is more than the 15 items with a label, so that these count
    low, high = proportion_confint(s * 15, 15, method="wilson")
    p = 33 / 300
    expected = [1 - 299 / 300 * (1 - end) / (1 - p) for end in (low, high)]
    assert found[ENDS].tolist() == pytest.approx(expected)
    assert found["low"] < found["estimate"] < found["high"]


def test_two_ratings_of_a_pair_count_half():
    # six items with two labels, four with one: 16 labels, and ten items with one
    frame = labels(6, 4, 90, n_raters=2)
    table = reliability.agreement_table(frame, ["grade"], ["specific"])
    found = table.loc[("grade", "specific 1")]
    low, high = proportion_confint(12 / 16 * 8, 8, method="wilson")
    assert found[ENDS].tolist() == pytest.approx([low, high])


def test_ten_agreeing_items_have_the_jackknife():
    found = agreement(labels(10, 12, 80))
    assert found["interval"] == "jackknife"
    assert found["standard_error"] > 0


def test_a_common_label_is_as_rare_as_its_absence():
    frame = labels(4, 8, 90)
    turned = frame.assign(grade=1 - frame["grade"])
    assert agreement(frame)[ENDS].tolist() == pytest.approx(
        agreement(turned)[ENDS].tolist()
    )


def test_a_label_with_fewer_than_ten_ratings_has_no_interval_and_says_why():
    found = agreement(labels(2, 3, 95))
    assert found[ENDS].isna().all()
    assert found["interval"] == "none: 9 ratings of the rarer label, fewer than 10"
    assert np.isfinite(found["estimate"])


def test_five_categories_need_ten_items_that_agree_on_a_rarer_one():
    frame = labels(9, 8, 90)
    frame["grade"] += (frame["item_id"] % 2) * frame["grade"]
    assert frame["grade"].nunique() == 3
    found = agreement(frame, level="ordinal")
    assert found[ENDS].isna().all()
    assert found["interval"] == (
        "none: 9 items on which two raters agree on a category other than the "
        "commonest, fewer than 10"
    )
    more = labels(10, 8, 90)
    more["grade"] += (more["item_id"] % 2) * more["grade"]
    assert agreement(more, level="ordinal")["interval"] == "jackknife"


def test_percent_agreement_without_a_difference_is_not_certain():
    frame = labels(20, 0, 80)
    percent = agreement(frame, "percent")
    assert percent["estimate"] == 1
    assert percent["interval"] == "Wilson"
    low, _ = proportion_confint(100, 100, method="wilson")
    assert percent[ENDS].tolist() == pytest.approx([low, 1.0])
    ac1 = agreement(frame, "AC1")
    chance = 2 * 0.2 * 0.8
    assert ac1["low"] == pytest.approx((low - chance) / (1 - chance))
    alpha = agreement(frame)
    assert alpha["estimate"] == 1
    assert alpha["interval"] == "Wilson"
    assert 0.7 < alpha["low"] < alpha["high"] == 1


def test_no_difference_among_several_categories_is_refused():
    frame = labels(30, 0, 60)
    frame["grade"] += (frame["item_id"] % 2) * frame["grade"]
    found = agreement(frame)
    assert found["estimate"] == 1
    assert found["interval"] == reliability.NEVER_MOVES
    assert found[ENDS].isna().all()


def test_equal_ratings_have_no_alpha_but_percent_agreement():
    frame = labels(0, 0, 50)
    alpha = agreement(frame)
    assert alpha[["estimate", *ENDS]].isna().all()
    assert alpha["interval"].startswith("none: all ratings are equal")
    ac1 = agreement(frame, "AC1")
    assert ac1["interval"].startswith("none: AC1 needs two categories")
    for level in LEVELS:
        on_scale = agreement(frame, categories=[0, 0.1, 0.3], level=level)
        assert np.isnan(on_scale["estimate"])
    named = agreement(frame, "AC1", categories=[0, 1])
    assert named["estimate"] == 1
    assert named["low"] < 1
    percent = agreement(frame, "percent")
    assert percent["estimate"] == percent["high"] == 1
    assert percent["low"] == pytest.approx(50 / (50 + 1.959964**2))


def test_a_rater_who_is_in_every_pair_cannot_be_left_out():
    # an expert rates each item beside one of five workers
    frame = labels(12, 20, 60, n_raters=2)
    is_first = ~frame["item_id"].duplicated()
    frame["rater_id"] = frame["rater_id"].where(~is_first, 99)
    found = agreement(frame)
    assert found["interval"] == reliability.CLUSTER_NEEDED
    assert found[ENDS].isna().all()
    alone = agreement(frame, clusters=["prompt_id"])
    assert alone["interval"] == "jackknife"


def test_intervals_end_at_one():
    found = agreement(labels(20, 1, 79))
    assert found["interval"] == "jackknife"
    assert found["high"] == 1.0


# Several columns --------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_columns():
    frame = random_ratings()
    other = random_ratings(seed=5)
    return frame.assign(other=frame["grade"].where(frame.index % 3 > 0, 1.0)), other


def test_a_difference_is_that_of_the_coefficients_with_an_interval(two_columns):
    frame, _ = two_columns
    columns = ["grade", "other"]
    each = reliability.agreement_table(frame, columns)
    change = reliability.agreement_table(frame, columns, baseline="grade")
    assert list(change.index) == [("other", "alpha")]
    gain = each["estimate"].diff().iloc[-1]
    row = change.iloc[0]
    assert row["estimate"] == pytest.approx(gain)
    assert row["low"] < gain < row["high"]
    nothing = reliability.agreement_table(
        frame.assign(same=frame["grade"]), ["grade", "same"], baseline="grade"
    ).iloc[0]
    assert nothing["estimate"] == 0
    assert nothing[ENDS].isna().all()
    assert nothing["interval"] == reliability.NEVER_MOVES


def test_a_difference_from_a_rare_label_has_no_interval():
    frame = labels(12, 20, 60)
    frame["rare"] = frame["grade"] * (frame["item_id"] < 4)
    change = reliability.agreement_table(frame, ["grade", "rare"], baseline="grade")
    row = change.iloc[0]
    assert row[ENDS].isna().all()
    assert row["interval"] == "none: alpha of rare has no interval by the jackknife"


def test_pooled_alpha_takes_each_column_of_an_item_as_a_unit(two_columns):
    frame, _ = two_columns
    columns = ["grade", "other"]
    pooled = reliability.agreement_table(
        frame, columns, level="interval", pooled="all"
    ).loc[("all", "alpha")]
    stacked = frame.melt(["item_id", "rater_id", "prompt_id"], columns)
    stacked["unit"] = stacked["item_id"].astype(str) + stacked["variable"]
    alone = reliability.agreement_table(
        stacked, ["value"], item="unit", level="interval"
    ).iloc[0]
    known = ["estimate", "standard_error", "n", "items"]
    assert pooled[known].tolist() == pytest.approx(alone[known].tolist())


# What is refused --------------------------------------------------------------------


def twice(frame):
    """Repeat the first three rows."""
    return pd.concat([frame, frame.head(3)], ignore_index=True)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (twice, {}, "3 rows repeat a rater of the same item, first 'rater_id'"),
        (
            lambda frame: frame[frame["rater_id"] < 2],
            {},
            "column 'rater_id' has 2 clusters, and an interval needs at least 3",
        ),
        (
            lambda frame: frame.assign(prompt_id=frame["item_id"] % 2),
            {},
            "column 'prompt_id' has 2 clusters, and an interval needs at least 3",
        ),
        (
            lambda frame: frame,
            {"categories": [0, 1, 2]},
            "ratings in column 'grade' are not among categories",
        ),
        (
            lambda frame: frame,
            {"categories": [0, 1, 1, 2, 3]},
            "categories of 'grade' repeat a value",
        ),
        (
            lambda frame: pd.concat([frame, frame[["grade"]]], axis=1),
            {},
            "2 columns are called 'grade'",
        ),
        (
            lambda frame: frame.assign(
                grade=frame["grade"].astype(object).mask(frame.index == 1, "good")
            ),
            {},
            "column 'grade' mixes numbers and text, first .* and 'good'",
        ),
        (
            lambda frame: frame.assign(grade=frame["grade"].replace(2.0, np.inf)),
            {},
            "column 'grade' has .* infinite ratings",
        ),
        (
            lambda frame: frame.drop_duplicates("item_id"),
            {},
            "no 'item_id' has two ratings of 'grade'",
        ),
        (
            lambda frame: frame.assign(grade=np.nan),
            {},
            "no 'item_id' has two ratings of 'grade'",
        ),
        (
            lambda frame: frame.assign(item_id=frame["item_id"].where(frame.index > 2)),
            {},
            "column 'item_id' has 3 missing values",
        ),
        (
            lambda frame: frame.assign(who=frame["rater_id"].where(frame.index > 2)),
            {"rater": "who", "clusters": ["prompt_id"]},
            "column 'who' has 3 missing values",
        ),
        (
            lambda frame: frame.assign(item_id=frame["item_id"] // 15),
            {"rater": None},
            "has rows with different 'rater_id': if 'rater_id' are the raters",
        ),
        (
            lambda frame: frame.assign(prompt_id=frame.index % 15),
            {},
            "has rows with different 'prompt_id'",
        ),
        (lambda frame: frame, {"item": "text"}, "column 'text' is not in the table"),
        (lambda frame: frame, {"level": "ratio"}, "level 'ratio' is unknown"),
        (
            lambda frame: frame,
            {"baseline": "other"},
            "baseline 'other' is unknown: choose one of grade",
        ),
        (
            lambda frame: frame.assign(grade=np.arange(len(frame)) / 7),
            {"level": "interval"},
            "different values: round them to at most 200",
        ),
    ],
)
def test_bad_input_is_one_sentence_that_says_where(change, options, message):
    frame = change(random_ratings(n_items=100))
    with pytest.raises(OptionError, match=message):
        reliability.agreement_table(frame, ["grade"], **options)


def test_names_of_columns_and_coefficients_are_checked():
    frame = random_ratings()
    with pytest.raises(OptionError, match="coefficient 'kappa' is unknown"):
        reliability.agreement_table(frame, ["grade"], ["kappa"])
    with pytest.raises(OptionError, match="column 'grade' is named twice"):
        reliability.agreement_table(frame, ["grade", "grade"])
    with pytest.raises(OptionError, match="no columns are named"):
        reliability.agreement_table(frame, [])


def test_two_raters_can_be_described_by_prompts():
    frame = random_ratings()
    two = frame[frame["rater_id"] < 2]
    found = agreement(two, "percent", clusters=["prompt_id"])
    assert found["raters"] == 2
    assert found["low"] < found["estimate"] < found["high"]


# The verb ---------------------------------------------------------------------------


def test_the_verb_gives_several_coefficients_in_one_call():
    frame = labels(12, 20, 60)
    found = verbs.agreement(frame, "grade", coefficient=["alpha", "AC1", "percent"])
    table = reliability.agreement_table(frame, ["grade"], ["alpha", "AC1", "percent"])
    assert list(found.index) == list(table.index)
    np.testing.assert_allclose(found[ENDS], table[ENDS])
    assert found["n"].tolist() == [276] * 3


def test_one_coefficient_of_the_verb_is_indexed_by_column():
    found = verbs.agreement(labels(12, 20, 60), ["grade"], coefficient="AC1")
    assert list(found.index) == ["grade"]


def test_the_verb_says_why_there_is_no_interval():
    found = verbs.agreement(labels(2, 3, 95), "grade")
    assert "9 ratings of the rarer label, fewer than 10" in found.attrs["caption"]
    few = verbs.agreement(labels(6, 9, 85), "grade").attrs["caption"]
    assert "few ratings agree or differ, so Wilson's: grade)" in few


def test_the_verb_finds_the_column_of_raters():
    frame = labels(12, 20, 60).rename(
        columns={"rater_id": "worker", "prompt_id": "question"}
    )
    clusters = ["question", "worker"]
    found = verbs.agreement(frame, "grade", clusters=clusters)
    assert found["raters"].item() == 6
    with pytest.raises(OptionError, match="3 rows repeat a rater of the same item"):
        verbs.agreement(twice(frame), "grade", clusters=clusters)
    unknown = frame.drop(columns="worker").assign(rater_id=np.nan)
    found = verbs.agreement(unknown, "grade", clusters="question")
    assert "raters not known" in found.attrs["caption"]


def test_the_verb_counts_rows_without_a_cluster():
    frame = labels(12, 20, 60)
    gaps = frame.assign(prompt_id=frame["prompt_id"].where(frame.index > 5))
    found = verbs.agreement(gaps, "grade")
    assert "6 of 276 rows without a cluster or item left out" in found.attrs["caption"]
    assert found["n"].item() == 270
