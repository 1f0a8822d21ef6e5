"""Each branch of the six rules, on results made up for it."""

import pandas as pd
import pytest

from helpers.claims import results, rules
from helpers.data.published import ClaimError


def judged(form, result, limit="", printed="", needs="files"):
    claim = {"form": form, "limit": limit, "printed": printed, "needs": needs}
    return rules.judge(claim, results.rows("a", {"b": result}))


def interval(low, estimate, high):
    return {"estimate": estimate, "low": low, "high": high}


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("3.2", 3.24, "reproduces"),
        ("3.20", 3.24, "does not reproduce"),
        ("3.20", 3.21, "differs in the last digit"),
        ("3.2", 3.05, "differs in the last digit"),  # 3.05 rounds to 3.1 or 3.0
        ("0.3", 0.2, "does not reproduce"),  # one unit, but more than 5 %
        ("-0.50", -0.5049, "reproduces"),
        ("0.5", 0.4456, "reporting error"),  # 0.45, then 0.5
        ("200", 100, "does not reproduce"),
    ],
)
def test_a_printed_value_is_compared_at_its_digits(printed, ours, verdict):
    assert judged("value", ours, printed=printed).verdict == verdict


def test_a_cause_makes_a_reporting_error_only_if_it_gives_the_printed_digits():
    with_cause = {"": 100, "number of another heading": 200}
    judgement = judged("value", with_cause, printed="200")
    assert judgement.verdict == "reporting error"
    assert "number of another heading" in judgement.why
    wrong_cause = {"": 100, "number of another heading": 190}
    assert judged("value", wrong_cause, printed="200").verdict == "does not reproduce"
    assert judged("value", with_cause, printed="100").verdict == "reproduces"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (2.6, 2.9, "reproduces up to the split"),
        (2.53, 2.9, "reproduces up to the split"),  # 2.53 rounds to 2.5
        (2.6, 2.7, "reproduces up to the split"),
        (2.9, 3.0, "does not reproduce"),
    ],
)
def test_a_value_on_a_random_split_lies_among_redrawn_ones(low, high, verdict):
    printed = "2.5" if low == 2.53 else "2.65"
    splits = interval(low, (low + high) / 2, high)
    assert judged("split", splits, printed=printed).verdict == verdict


@pytest.mark.parametrize(
    ("result", "limit", "printed", "verdict"),
    [
        (True, "", "", "true"),
        (False, "", "", "not true"),
        (12, "> 9", "", "true"),
        (9, "> 9", "", "not true"),
        (9, ">= 9", "", "true"),
        (93.0, "between 92 99", "", "true"),
        (99.1, "between 92 99", "", "not true"),
        (900, "", "900", "true"),
        (901, "", "900", "not true"),
    ],
)
def test_a_fact_is_true_or_not(result, limit, printed, verdict):
    assert judged("fact", result, limit, printed).verdict == verdict


@pytest.mark.parametrize(
    ("ends", "limit", "verdict"),
    [
        (interval(0.1, 0.2, 0.3), "> 0", "supported"),
        (interval(0.1, 0.2, 0.3), "< 0", "contradicted"),
        (interval(-0.1, 0.2, 0.3), "> 0", "inconclusive"),
        (interval(0.1, 0.2, 0.3), "> 0.3", "contradicted"),
        (interval(2.1, 2.5, 2.9), "between 2 3", "supported"),
        (interval(1.9, 2.5, 2.9), "between 2 3", "inconclusive"),
        (interval(3.1, 3.5, 3.9), "between 2 3", "contradicted"),
    ],
)
def test_a_statement_goes_by_its_interval(ends, limit, verdict):
    assert judged("statement", ends, limit).verdict == verdict


def test_an_inconclusive_statement_tells_the_side_of_its_estimate():
    on = judged("statement", interval(-1, 2, 3), "> 0")
    other = judged("statement", interval(-1, 2, 3), "< 0")
    assert (on.verdict, other.verdict) == ("inconclusive", "inconclusive")
    assert "the estimate on the claimed one" in on.why
    assert "the estimate on the other one" in other.why


@pytest.mark.parametrize(
    ("share", "by_pair", "verdict"),
    [
        (0.98, {}, "supported"),
        (0.97, {}, "inconclusive"),
        (0.0, {}, "inconclusive"),
        (0.0, {"x over y": 0.02}, "contradicted"),
        (0.1, {"x over y": 0.03}, "inconclusive"),
        (0.98, {"x over y": 0.99}, "supported"),
    ],
)
def test_a_rank_goes_by_resamples(share, by_pair, verdict):
    shares = {"": share, **by_pair}
    table = pd.Series(shares, name="share").rename_axis("part").reset_index()
    claim = {"form": "rank", "limit": "", "printed": "", "needs": "files"}
    rows = results.check(table.assign(name="a.b"))
    assert rules.judge(claim, rows).verdict == verdict


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [
        ("within 0.5 (§2: “below 0.5 is small”)", "supported"),
        ("within 0.3 (§2: “up to 0.3 is small”)", "supported"),
        ("within 0.2 (§2: “below 0.2 is small”)", "inconclusive"),
        ("", "inconclusive"),
    ],
)
def test_an_absence_needs_a_margin_of_the_paper(limit, verdict):
    assert judged("absence", interval(0.1, 0.2, 0.3), limit).verdict == verdict
    assert judged("absence", interval(-0.3, -0.2, -0.1), limit).verdict == verdict


@pytest.mark.parametrize(
    ("p", "estimate", "limit", "verdict"),
    [
        (0.01, 1, "p < 0.05", "same outcome"),
        (0.06, 1, "p < 0.05", "another outcome"),
        (0.06, 1, "p >= 0.05", "same outcome"),
        (0.04, 1, "p < 0.01", "another outcome"),
        (0.01, 1, "p < 0.05 and > 0", "same outcome"),
        (0.01, -1, "p < 0.05 and > 0", "another outcome"),
    ],
)
def test_a_test_is_repeated(p, estimate, limit, verdict):
    assert judged("test", {"p": p, "estimate": estimate}, limit).verdict == verdict


def test_a_test_that_is_not_significant_shows_no_absence():
    assert "absence not shown" in judged("test", {"p": 0.3}, "p >= 0.05").why


@pytest.mark.parametrize(
    ("lows", "limit", "verdict"),
    [
        ([1, 1, 1], "> 0", "supported"),
        ([1, 1, -9], "> 0", "contradicted"),
        ([1, 1, -1], "> 0", "inconclusive"),
        ([1, 1, -9], "most > 0", "supported"),
        ([1, 1, -9, -9], "most > 0", "contradicted"),
        ([1, 1, -1], "most > 0", "inconclusive"),
    ],
)
def test_parts_are_all_or_most(lows, limit, verdict):
    lows = pd.Series(lows)
    table = pd.DataFrame({"low": lows, "estimate": lows + 1, "high": lows + 2})
    assert judged("statement", table, limit).verdict == verdict


def test_interpretations_that_differ_are_inconclusive():
    both = {"all": interval(1, 2, 3), "some": interval(2, 3, 4)}
    assert judged("statement", both, "> 0").verdict == "supported"
    both["some"] = interval(-3, -2, -1)
    judgement = judged("statement", both, "> 0")
    assert judgement.verdict == "inconclusive"
    assert "all: supported" in judgement.why
    assert "some: contradicted" in judgement.why


@pytest.mark.parametrize("reason", rules.UNCHECKED)
def test_what_lacks_data_is_not_checked(reason):
    needs = f"{reason}: the answers"
    assert judged("fact", True, needs=needs).verdict == "not checked"


def test_a_share_is_not_rounded_up_to_the_bar():
    assert "in 97.5 % of" in judged("rank", {"share": 0.975}).why
    assert "in 97.4 % of" in judged("rank", {"share": 0.97499}).why
    assert "in 99.9 % of" in judged("rank", {"share": 0.9999}).why


def test_what_nobody_computed_is_not_checked():
    claim = {"form": "fact", "limit": "", "printed": "", "needs": "files"}
    nothing = results.rows("a", {"b": 1}).iloc[:0]
    assert rules.judge(claim, nothing).verdict == "not checked"


@pytest.mark.parametrize(
    ("ends", "printed", "verdict"),
    [
        (interval(2.9, 3.0, 3.1), "3.0", "internally consistent"),
        (interval(2.9, 3.0, 3.1), "3.3", "not internally consistent"),
        (interval(2.0, 3.0, 4.0), "3.0", "not checked"),  # 3.6 and 2.4 would pass
        (interval(2.3, 3.0, 3.1), "3.0", "not checked"),  # 2.4 would pass
        (interval(2.9, 3.0, 3.7), "3.0", "not checked"),  # 3.6 would pass
        (3.0, "3.0", "internally consistent"),
        (3.2, "3.0", "not internally consistent"),
    ],
)
def test_numbers_from_print_are_internal_consistency(ends, printed, verdict):
    assert judged("value", ends, printed=printed, needs="print").verdict == verdict


def test_words_from_print_are_internal_consistency():
    def from_print(ends):
        return judged("statement", ends, "> 0", needs="print").verdict

    assert from_print(interval(1, 2, 3)) == "internally consistent"
    assert from_print(interval(-3, -2, -1)) == "not internally consistent"
    assert from_print(interval(-1, 1, 2)) == "inconclusive"


@pytest.mark.parametrize(
    ("form", "limit", "printed", "message"),
    [
        ("number", "", "3", "form is one of"),
        ("statement", "", "", "cannot have the limit"),
        ("statement", "> zero", "", "cannot have the limit"),
        ("absence", "within 3", "", "cannot have the limit"),  # no place
        ("test", "> 0", "", "cannot have the limit"),
        ("value", "", "about 3", "needs a printed number"),
    ],
)
def test_a_claim_that_cannot_be_read_is_refused(form, limit, printed, message):
    with pytest.raises(ClaimError, match=message):
        judged(form, 3, limit, printed)


@pytest.mark.parametrize(
    ("form", "result", "limit", "missing"),
    [
        ("statement", 3, "> 0", "low"),
        ("rank", 0.5, "", "share"),
        ("test", {"estimate": 3}, "p < 0.05", "p"),
        ("fact", {"p": 0.5}, "> 3", "estimate"),
        ("value", {"cause": 3}, "", "without interpretation"),
    ],
)
def test_a_result_that_lacks_what_its_form_needs_is_refused(
    form, result, limit, missing
):
    with pytest.raises(ClaimError, match=missing):
        judged(form, result, limit, printed="3")


@pytest.mark.parametrize(
    ("p_values", "verdict"),
    [
        ([0.01, 0.04, 0.001], "another outcome"),
        ([0.01, 0.2, 0.001], "inconclusive"),
        ([0.06, 0.2, 0.9], "absence not shown"),
        ([0.05], "absence not shown"),
    ],
)
def test_a_claim_of_no_effect_is_judged_by_the_tests_under_all_filters(
    p_values, verdict
):
    claim = {"form": "no effect", "limit": "", "printed": "", "needs": "files"}
    filters = [f"filter {number}" for number in range(len(p_values))]
    rows = results.rows("a", {"flat": pd.DataFrame({"p": p_values}, index=filters)})
    judgement = rules.judge(claim, rows)
    assert judgement.verdict == verdict
    assert "the paper reports none" in judgement.why


def test_a_claim_of_no_effect_needs_tests():
    claim = {"form": "no effect", "limit": "", "printed": "", "needs": "files"}
    rows = results.rows("a", {"flat": {"estimate": 1, "low": 0, "high": 2}})
    with pytest.raises(ClaimError, match="needs the column p"):
        rules.judge(claim, rows)
