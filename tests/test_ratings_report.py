"""The page: it says one thing of each effect, with numbers that plain numpy finds."""

import html
import json
import re
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from example_study import ASPECTS, example_ratings
from scipy import stats

from helpers import paths
from helpers.data.tables import BadTableError, OptionError
from ratings import plan, report
from ratings.inference import SystemComparison
from ratings.report import AGREEMENT, PLAN, SYSTEMS
from ratings.verdicts import PERCENT, POINTS, Estimate, Verdict

EXAMPLE = paths.DATA / "example" / "ratings.csv"
RECIPE = {
    "item": ["item_id"],
    "rater": ["rater_id"],
    "cluster": ["prompt_id"],
    "outcome": "overall",
    "aspects": ASPECTS,
}
QUESTION = report.ASPECTS
MEANS = "Mean of each system"
ROLES = {"item": "item", "rater": "rater", "cluster": "prompt", "outcome": "overall"}
SCALES = {"tone": ["1", "5"], "depth": ["1", "5"], "overall": ["1", "5"]}


def draw(seed, *, n_raters=9, n_systems=0, flags=False, yes_no=False, weight=1.2):
    """A file of 30 prompts with 4 items, each rated by three people."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(120), 3)
    rater = np.argsort(rng.random((120, n_raters)), axis=1)[:, :3].ravel()
    n = len(item)
    table = pd.DataFrame({"item": item, "prompt": item // 4, "rater": rater})
    for name in ("tone", "depth"):
        latent = rng.normal(size=120)[item] + rng.normal(size=n)
        table[name] = np.clip(np.round(3 + latent), 1, 5)
    table["typos"] = (rng.random(n) < 0.3) * 1.0
    if flags:
        table["rare"] = (rng.random(n) < 0.01) * 1.0
    y = 1.5 + weight * (table["tone"] - 1) / 2 - 0.6 * table["typos"]
    y += 0.5 * rng.normal(size=n_raters)[rater] + 0.7 * rng.normal(size=n)
    if n_systems:
        table["system"] = np.array(list("ABCDEFGH"))[item % n_systems]
        y += np.linspace(0, 1, n_systems)[item % n_systems]
    table["overall"] = np.clip(np.round(y), 1, 5)
    if yes_no:
        table["overall"] = (y > 2.5) * 1.0
    return table


def copied(seed):
    """Everybody copied the first one in half of the items."""
    table = draw(seed)
    table = pd.concat([table, draw(seed + 100).assign(item=lambda t: t["item"] + 120)])
    table = table.reset_index(drop=True)
    names = ["tone", "depth", "typos", "overall"]
    first = table.groupby("item")[names].transform("first")
    is_copied = table["item"] % 2 == 0
    table.loc[is_copied, names] = first[is_copied]
    return table.assign(prompt=table["item"] // 4)


SHAPES = {
    "usual": (draw, {}),
    "matters": (draw, {"matters": "0.5"}),
    "five raters": (lambda seed: draw(seed, n_raters=5), {}),
    "three raters": (lambda seed: draw(seed, n_raters=3), {}),
    "no raters": (lambda seed: draw(seed).drop(columns="rater"), {}),
    "rare": (lambda seed: draw(seed, flags=True), {}),
    "yes and no": (lambda seed: draw(seed, yes_no=True), {"scales": {}}),
    "nothing": (lambda seed: draw(seed, weight=0.0), {}),
    "systems": (lambda seed: draw(seed, n_systems=5), {}),
    "two systems": (lambda seed: draw(seed, n_systems=2), {"matters": "0.2"}),
    "copied": (copied, {}),
}


def written(folder, table, **changes):
    """Write a file and its page; give the text of the page and the results."""
    table.to_csv(folder / "a.csv", index=False)
    columns = [name for name in ("tone", "depth", "typos", "rare") if name in table]
    recipe = {key: name for key, name in ROLES.items() if name in table}
    if "system" in table:
        recipe["system"] = "system"
    recipe |= {"aspects": columns, "scales": SCALES} | changes
    page = report.write_page(
        folder / "a.csv", recipe, folder / "p.html", lambda _: None
    )
    results = json.loads(page.with_suffix(".json").read_text())
    return plain(page.read_text()), results


def plain(page):
    """The text of a page, with cells and lines apart."""
    page = re.sub(r"base64,[^\"]+", "", page)
    return html.unescape(re.sub(r"<[^>]+>", "\n", page))


def residuals(columns, labels):
    """Columns less least-squares effects of all labels."""
    dummies = [pd.get_dummies(each).to_numpy(dtype=float) for each in labels]
    x = np.column_stack([np.ones(len(columns)), *dummies])
    return columns - x @ np.linalg.lstsq(x, columns, rcond=None)[0]


def slow_slopes(x, y, groups, level=0.05):
    """Slopes with intervals by a loop that leaves out each group, and their SD."""

    def slope(keep):
        return np.linalg.lstsq(x[keep], y[keep], rcond=None)[0]

    value = slope(np.ones(len(y), dtype=bool))
    codes = [pd.factorize(each)[0] for each in groups]
    if len(codes) == 2:
        codes.append(codes[0] * 10_000 + codes[1])
    variances = []
    numbers = []
    for code in codes:
        names = np.unique(code)
        changes = np.array([slope(code != name) - value for name in names])
        n = len(names)
        variances.append((changes**2).sum(axis=0) * (n - 1) / n)
        rest = x @ np.linalg.inv(x.T @ x)  # proportional to what each slope rests on
        shares = np.array([(rest[code == name] ** 2).sum(axis=0) for name in names])
        numbers.append(shares.sum(axis=0) ** 2 / (shares**2).sum(axis=0))
    variance = variances[0]
    if len(variances) == 3:
        first, second, both = variances
        variance = np.maximum(first + second - both, np.maximum(first, second))
    df = np.maximum(np.minimum.reduce(numbers[:2]) - 1, 1)
    margin = stats.t.ppf(1 - level / 2, df) * np.sqrt(variance)
    return np.column_stack([value, value - margin, value + margin])


def left_out(table):
    """The clusters that are left out in turn."""
    if "rater" in table and table["rater"].nunique() >= 5:
        return [table["rater"], table["prompt"]]
    return [table["prompt"]]


def check_aspects(text, results, table):
    """Sentences, title, table and JSON agree, and numpy finds the numbers."""
    verdicts = {each["name"]: each for each in results["verdicts"][QUESTION]}
    section = results["sections"][QUESTION]
    said = [row["sentence"] for row in section["sentences"]]
    rows = {
        row["index"]: row for row in section["tables"]["What was found on each aspect"]
    }
    judged = {n: v for n, v in verdicts.items() if v["direction"] != "not judged"}
    clear = {n: v for n, v in judged.items() if v["direction"] != "unclear"}
    times = 100 if any(v["unit"] == "percentage points" for v in judged.values()) else 1
    names = [n for n in table if n in verdicts]
    x = table[names].to_numpy(dtype=float) / [
        4 if n in ("tone", "depth") else 1 for n in names
    ]
    labels = [table[n] for n in ("rater", "system") if n in table]
    used = residuals(np.column_stack([x, times * table["overall"]]), labels)
    slow = slow_slopes(used[:, :-1], used[:, -1], left_out(table))
    n_means = 1 + sum(each.nunique() - 1 for each in labels)
    sd = np.sqrt((used[:, -1] ** 2).sum() / (len(table) - n_means))
    for name, verdict in verdicts.items():
        own = [line for line in said if f"“{name}”" in line]
        assert own, name
        assert rows[name]["verdict"] == verdict["direction"]
        if name not in judged:
            assert any("is not judged" in line or "Not judged" in line for line in own)
            assert not any(" is higher" in line or "unclear" in line for line in own)
            continue
        size = [verdict[end] for end in ("estimate", "low", "high")]
        assert size == pytest.approx(list(slow[names.index(name)]), rel=1e-6)
        assert verdict["SD"] == pytest.approx(sd)
        unit = PERCENT if times == 100 else POINTS
        shown = unit.text(Estimate(*size))
        assert rows[name][f"weight ({verdict['unit']})"] == shown
        assert shown in text
        if name in clear:
            sign = 1 if verdict["direction"] == "higher" else -1
            ends = sorted([sign * size[1], sign * size[2]])
            assert ends[0] > 0
            number = unit.text(Estimate(sign * size[0], *ends))
            lead = [line for line in own if number in line]
            assert len(lead) == 1
            word = re.search(r"points (higher|lower)", lead[0])[1]
            assert word == verdict["direction"]
            assert not any("unclear" in line or "judged:" in line for line in own)
        else:
            assert any("unclear" in line for line in own)
            assert not any(re.search(r"points (higher|lower)", line) for line in own)
    title = section["title"]
    if len(clear) in (1, 2):
        assert all(name in title for name in clear)
    if len(clear) > 2:
        assert title.startswith(f"{len(clear)} of {len(judged)} aspects go with")
    if not clear:
        assert title == "What goes with overall is unclear"
    assert not any(
        name in title for name in set(verdicts) - set(clear) if len(clear) < 3
    )
    heavy = [line for line in said if "weighs" in line]
    for line in heavy:
        biggest = max(judged, key=lambda name: abs(judged[name]["estimate"]))
        assert line.startswith(f"“{biggest}” weighs more than")
        n_others = len(judged) - 1
        words = f"each of the other {n_others} aspects judged"
        assert words in line


def check_systems(text, results, table):
    """The best system, and who is separated from it, by plain numpy."""
    section = results["sections"][SYSTEMS]
    pairs = {(v["name"], v["against"]): v for v in results["verdicts"][SYSTEMS]}
    names = sorted(table["system"].unique())
    indicators = pd.get_dummies(table["system"])[names].to_numpy(dtype=float)
    rows = np.column_stack([indicators[:, 1:], table["overall"]])
    used = residuals(rows, [table["rater"]])
    level = 0.05 / len(pairs)
    near = set()
    means = table.groupby("system")["overall"].mean()
    for row in section["tables"]["Mean of each system"]:
        assert row["mean"] == f"{means[row['index']]:.2f}"
    best = section["tables"]["Mean of each system"][0]["index"]
    for (one, other), verdict in pairs.items():
        # the other system is the one that all are compared with
        free = [n for n in names if n != other]
        x = pd.get_dummies(table["system"])[free].to_numpy(dtype=float)
        x = residuals(x, [table["rater"]])
        slow = slow_slopes(x, used[:, -1], left_out(table), level)[free.index(one)]
        assert verdict["estimate"] == pytest.approx(slow[0])
        width = verdict["high"] - verdict["low"]
        # degrees of freedom are those of the worst-known difference involved
        assert width == pytest.approx(slow[2] - slow[1], rel=0.05)
        is_clear = verdict["low"] > 0 or verdict["high"] < 0
        assert verdict["direction"] == (
            ("higher" if verdict["estimate"] > 0 else "lower")
            if is_clear
            else "unclear"
        )
        if best in (one, other) and not is_clear:
            near.add(one if other == best else other)
    (row,) = section["sentences"]
    sentence = row["sentence"]
    assert sentence.startswith(f"“{best}” ")
    assert f"of {len(names)} systems" in sentence
    if near:
        assert "cannot be separated from" in sentence
        assert "on “overall”" in sentence
        listed = sentence.split("cannot be separated from")[1].split(" (")[0]
        assert len(near) > 3 or all(f"“{name}”" in listed for name in near)
        assert f"{best} " in section["title"] or section["title"].endswith(f" {best}")
        assert "is rated highest" not in section["title"]
    else:
        assert f"“{best}” is rated highest" in sentence
        assert section["title"] == f"{best} is rated highest"
    second = section["tables"]["Mean of each system"][1]["index"]
    verdict = pairs[best, second]
    number = POINTS.text(
        Estimate(*[verdict[end] for end in ("estimate", "low", "high")])
    )
    assert number in sentence
    assert number in text


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_page_says_one_thing_of_each_effect(tmp_path, shape, seed):
    draw_file, changes = SHAPES[shape]
    table = draw_file(seed)
    text, results = written(tmp_path, table, **changes)
    for phrase in ("no link", "hardly", "does not go with"):
        assert phrase not in text.replace("its size is hardly known", "")
    if shape == "copied":
        keep = ~((table["item"] % 2 == 0) & table["item"].duplicated())
        (count,) = re.findall(r", ([\d,]+) ratings\): left out; results with", text)
        # an item whose marks are all usual ones tells no copies
        assert (~keep).sum() * 0.9 < int(count) <= (~keep).sum()
        return
    check_aspects(text, results, table)
    assert ("SYSTEM" in shape.upper()) == (SYSTEMS in results["sections"])
    if "system" in table:
        check_systems(text, results, table)


def test_doubted_ratings_are_left_out_and_both_numbers_stand_there(tmp_path):
    table = copied(0)
    text, results = written(tmp_path, table)
    section = results["sections"][AGREEMENT]
    row = section["tables"]["Agreement on each column"][0]
    assert row["index"] == "overall"
    number = float(row["alpha"].split(" ")[0].replace("−", "-"))
    doubted = float(row["alpha with copied ratings"].split(" ")[0].replace("−", "-"))
    assert doubted > number + 0.1
    sentence = section["sentences"][0]["sentence"]
    assert f"alpha of {row['alpha']} (with copied ratings: " in sentence
    verdicts = results["verdicts"][QUESTION]
    (tone,) = [each for each in verdicts if each["name"] == "tone"]
    with_copies = tone["with copied ratings"]
    used = table[["tone", "depth", "typos", "overall"]] / [4, 4, 1, 1]
    used = residuals(used.to_numpy(), [table["rater"]])
    expected = np.linalg.lstsq(used[:, :-1], used[:, -1], rcond=None)[0][0]
    assert with_copies["estimate"] == pytest.approx(expected)
    assert tone["estimate"] != pytest.approx(expected)
    size = POINTS.text(Estimate(**with_copies))
    assert f"(with copied ratings: {size})" in text


def test_nothing_is_quotable_while_a_question_is_open(tmp_path):
    asked = [
        {"ask": "Is 9 a mark for tone?", "answer": ""},
        {"ask": "b", "answer": "no"},
    ]
    recipe = {"questions": asked}
    assert report.recipes.open_questions(recipe) == ["Is 9 a mark for tone?"]
    text, results = written(tmp_path, draw(0, n_systems=3), **recipe)
    assert "Nothing on this page can be quoted yet." in text
    assert "Is 9 a mark for tone?" in text
    for section in results["sections"].values():
        assert (section["sentences"], section["title"]) == ([], "")
    assert results["sections"][QUESTION]["tables"]
    page = (tmp_path / "p.html").read_text()
    assert "<img" not in page
    assert 'class="quote"' not in page


def verdict(low, high, **changes):
    size = Estimate((low + high) / 2, low, high)
    p = 0.01 if low > 0 or high < 0 else 0.5
    known = Verdict("tone", "5 against 1", "overall", POINTS, size, p, 1.0, "others")
    return replace(known, **changes)


@pytest.mark.parametrize(
    ("ends", "matters", "direction", "importance"),
    [
        ((0.9, 1.2), None, "higher", "large"),
        ((-1.2, -0.3), None, "lower", "its size is hardly known"),
        ((0.3, 0.7), None, "higher", "small to medium"),
        ((0.05, 0.15), None, "higher", "very small"),
        ((-0.1, 0.6), None, "unclear", "at most medium"),
        ((-0.1, 0.1), None, "unclear", "at most very small"),
        ((-0.1, 0.9), None, "unclear", "of unclear size"),
        ((0.6, 0.9), 0.5, "higher", "at least the 0.50 points that matter"),
        ((0.1, 0.4), 0.5, "higher", "less than the 0.50 points that matter"),
        ((-0.4, 0.4), 0.5, "unclear", "less than the 0.50 points that matter"),
        (
            (-0.1, 0.7),
            0.5,
            "unclear",
            "perhaps more, perhaps less than the 0.50 points that matter",
        ),
    ],
)
def test_sizes_are_named_by_what_matters_or_by_the_sd(
    ends, matters, direction, importance
):
    found = verdict(*ends, matters=matters)
    assert (found.direction, found.importance) == (direction, importance)
    assert importance in found.sentence()


def test_an_interval_beside_zero_that_is_not_significant_says_why():
    found = verdict(0.01, 0.99, p=0.09, n_judged=4)
    assert found.direction == "unclear"
    assert "(not significant after correction for 4 aspects)" in found.sentence()


def test_each_error_is_compared_as_one_error():
    found = verdict(0.9, 1.1, against="each error")
    assert found.sentence().startswith("For each error counted as “tone”, “overall” is")
    assert report.row_label(found) == "tone (each)"
    marked = replace(found, against="marked against not marked")
    assert marked.sentence().startswith("Where “tone” is marked, “overall” is 1.00 [")
    assert report.row_label(marked) == "tone (marked)"
    assert report.row_label(verdict(1, 2)) == "tone (5 vs 1)"


def test_another_specification_has_the_direction_of_its_own_interval():
    others = {
        "a": Estimate(1, 0.5, 1.5),
        "b": Estimate(-1, -1.5, -0.5),
        "c": Estimate(0, -1, 1),
    }
    for found in (verdict(0.5, 1.5), verdict(-1, 1)):
        found = replace(found, specifications=others)
        told = [each["direction"] for each in found.record()["specifications"].values()]
        assert told == ["higher", "lower", "unclear"]
        row = report.aspects_table([found]).loc["tone"]
        assert row["a"] == "1.00 [0.50, 1.50], higher"
        assert row["b"] == "−1.00 [−1.50, −0.50], lower"


def test_the_weight_of_a_counted_error_is_that_of_one(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for item in range(300):
        kinds = ["Style"] * rng.integers(0, 4) + ["Typo"] * rng.integers(0, 3)
        for kind in kinds or ["none"]:
            cost = {"Style": 2, "Typo": 1, "none": 0}[kind] + rng.normal() / 5
            rows.append({"item": item, "kind": kind, "cost": cost})
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    recipe = {"item": "item", "count": "kind", "sum": "cost", "outcome": "cost"}
    recipe |= {"aspects": ["Style", "Typo"], "marks": {"kind": {"none": ""}}}
    page = report.write_page(
        tmp_path / "a.csv", recipe, tmp_path / "p.html", lambda _: None
    )
    text = plain(page.read_text())
    assert "the outcome adds up what the counted errors cost" in text
    found = json.loads(page.with_suffix(".json").read_text())["verdicts"][QUESTION]
    assert {each["against"] for each in found} == {"each error"}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The page of the example, its results, and what was said meanwhile."""
    page, said = tmp_path_factory.mktemp("report") / "mine.html", []
    report.write_page(EXAMPLE, RECIPE, page, said.append)
    results = json.loads(page.with_suffix(".json").read_text())
    return page.read_text(), results, said, page


def test_the_page_needs_nothing_else(example):
    page, _, said, path = example
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert page.count('<img src="data:image/png;base64,') == page.count(' alt="') == 1
    assert "<strong>simulated</strong>" in page
    assert said[0] == "reading ratings.csv"
    names = {"mine.html", "mine.csv", "mine.json", "mine.rows.csv"}
    assert {each.name for each in path.parent.iterdir()} == names


def test_tables_scroll_by_keyboard_and_have_names(example):
    page, *_ = example
    regions = re.findall(r'<div class="wide"([^>]*)>', page)
    assert len(regions) == page.count("<table>") > 3
    for region in regions:
        assert 'role="region" tabindex="0" aria-label="' in region
    assert "prefers-color-scheme: dark" in page


def test_the_results_beside_the_page_are_those_of_the_verdicts(example):
    _, results, _, path = example
    table = pd.read_csv(path.with_suffix(".csv")).set_index("name")
    for verdict in results["verdicts"][QUESTION]:
        row = table.loc[verdict["name"]]
        assert row["direction"] == verdict["direction"]
        if verdict["estimate"] is not None:
            assert row["low"] == pytest.approx(verdict["low"], rel=1e-5)
    assert PLAN in results["sections"]


def test_a_methods_paragraph_names_versions_and_date(example):
    _, results, _, _ = example
    text = results["methods"]
    for part in ("Holm's correction", "numpy", "Python", "jackknife", "Cohen 1988"):
        assert part in text
    assert text.rstrip(".")[-10:].count("-") == 2  # the date


def test_each_row_is_accounted_for(example):
    _, results, _, path = example
    rows = pd.read_csv(path.with_suffix(".rows.csv"))
    assert (rows["change"].cumsum() == rows["left"]).all()
    assert "Rows read: 601; ratings used: 591." in results["ratings"]


def test_text_of_a_file_is_never_html(tmp_path):
    hostile = "<script>alert(1)</script>"
    table = draw(0).rename(columns={"tone": hostile})
    recipe = ROLES | {"aspects": [hostile, "depth"]}
    table.to_csv(tmp_path / "a.csv", index=False)
    page = report.write_page(
        tmp_path / "a.csv", recipe, tmp_path / "p.html", lambda _: None
    )
    assert "<script" not in page.read_text()
    assert "&lt;script&gt;alert(1)" in page.read_text()


def test_without_an_outcome_there_is_agreement_only(tmp_path):
    recipe = {key: value for key, value in RECIPE.items() if key != "outcome"}
    page = report.write_page(EXAMPLE, recipe, tmp_path / "p.html", lambda _: None)
    found = json.loads(page.with_suffix(".json").read_text())
    assert list(found["sections"]) == [AGREEMENT]
    assert "Krippendorff" in found["sections"][AGREEMENT]["sentences"][0]["sentence"]


def test_raters_who_are_not_known_are_told_apart_but_not_compared(tmp_path):
    table = example_ratings(np.random.default_rng(2), n_prompts=15)
    table["copy"] = table.groupby("item_id").cumcount()
    table.to_csv(tmp_path / "a.csv", index=False)
    recipe = {**RECIPE, "position": ["copy"]}
    del recipe["rater"]
    page = report.write_page(
        tmp_path / "a.csv", recipe, tmp_path / "p.html", lambda _: None
    )
    found = json.loads(page.with_suffix(".json").read_text())
    assert any("names no raters" in line for line in found["before you quote"])
    tables = found["sections"][AGREEMENT]["tables"]
    assert list(tables) == ["Agreement on each column"]
    lead = found["sections"][QUESTION]["sentences"][0]["sentence"]
    assert "for these raters" in lead


def test_a_bad_file_or_name_leaves_nothing_behind(tmp_path):
    (tmp_path / "bad.csv").write_text("overall,tone\n1,x\n")
    recipe = {"outcome": "overall", "aspects": ["tone"]}
    for out, error, message in (
        ("p.html", BadTableError, r"column 'tone', not a number .*: row 2 'x'"),
        ("p.pdf", OptionError, r"give a name that ends in \.html"),
    ):
        with pytest.raises(error, match=message):
            report.write_page(
                tmp_path / "bad.csv", recipe, tmp_path / out, lambda _: None
            )
    with pytest.raises(OptionError, match="`matters` is the smallest difference"):
        report.write_page(
            EXAMPLE, RECIPE | {"matters": "much"}, tmp_path / "p.html", lambda _: None
        )
    assert [each.name for each in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize("name", ["mine.csv", "mine.json"])
def test_results_never_replace_the_ratings_themselves(tmp_path, name):
    content = "overall,tone\n1,2\n"
    (tmp_path / name).write_text(content)
    recipe = {"outcome": "overall", "aspects": ["tone"]}
    with pytest.raises(
        OptionError, match=rf"would replace {name} itself: name another page"
    ):
        report.write_page(
            tmp_path / name, recipe, tmp_path / "mine.html", lambda _: None
        )
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [
        (name, content)
    ]


def test_the_page_names_where_the_project_lives_if_the_package_says(monkeypatch):
    metadata = {"Project-URL": ["Other, x", "Repository, https://example.org/a, b"]}

    class Metadata:
        get_all = metadata.get

    monkeypatch.setattr(report.importlib.metadata, "metadata", lambda _: Metadata)
    assert report._address() == "https://example.org/a, b"
    metadata.clear()
    assert report._address() == ""


def test_a_folder_of_parquet_files_has_the_page_of_its_table(tmp_path):
    pytest.importorskip("dask.dataframe")
    table = draw(0, n_systems=4)
    folder = tmp_path / "parts"
    folder.mkdir()
    table[table["prompt"] < 13].to_parquet(folder / "0.parquet")
    table[table["prompt"] >= 13].to_parquet(folder / "1.parquet")
    _, small = written(tmp_path, table)
    recipe = {**ROLES, "system": "system", "aspects": ["tone", "depth", "typos"]}
    page = report.write_page(
        folder, recipe | {"scales": SCALES}, tmp_path / "l.html", lambda _: None
    )
    large = json.loads(page.with_suffix(".json").read_text())
    for question in (SYSTEMS, QUESTION):
        assert len(large["verdicts"][question]) == len(small["verdicts"][question])
        for one, other in zip(
            large["verdicts"][question], small["verdicts"][question], strict=True
        ):
            assert one["name"] == other["name"]
            assert one["direction"] == other["direction"]
            for end in ("estimate", "low", "high", "p", "SD"):
                assert one[end] == pytest.approx(other[end], rel=1e-6)
    assert "Not computed: of a folder" in large["before you quote"][0]
    with pytest.raises(OptionError, match="the recipe cannot use covariate"):
        report.write_page(
            folder, recipe | {"covariate": "x"}, tmp_path / "l.html", lambda _: None
        )


def test_where_lower_is_better_the_lowest_mean_is_best(tmp_path):
    table = draw(0, n_systems=3)
    _, usual = written(tmp_path, table)
    text, turned = written(tmp_path, table, better="lower")
    order = [
        [row["index"] for row in each["sections"][SYSTEMS]["tables"][MEANS]]
        for each in (usual, turned)
    ]
    assert order[1] == order[0][::-1]
    section = turned["sections"][SYSTEMS]
    (row,) = section["sentences"]
    best, second = order[1][:2]
    verdict = turned["verdicts"][SYSTEMS][0]
    assert (verdict["name"], verdict["against"]) == (best, second)
    ends = [-verdict[end] for end in ("estimate", "high", "low")]
    number = POINTS.text(Estimate(*ends))
    assert row["sentence"].startswith(f"“{best}” ")
    assert "lowest" in row["sentence"]
    assert "on “overall” (lower is better)" in row["sentence"]
    assert "Severity: points above the others on the same items" in text
    assert f"{number} points below “{second}”" in row["sentence"]
    for word in ("highest", "higher", "above"):
        assert word not in row["sentence"] + section["title"]
    assert "(lower is better)" in section["title"] or "No system" in section["title"]
    with pytest.raises(OptionError, match="`better` says which outcome is better"):
        written(tmp_path, table, better="less")


def compared(sizes, raw=(), **changes):
    """Systems a, b and so on, whose differences have so wide intervals."""
    names = list("abcd")[: len(sizes)]
    means = pd.DataFrame({"adjusted": [value for value, _ in sizes]}, index=names)
    means["mean"] = list(raw) or means["adjusted"]
    means["ratings"] = 10
    pairs = {}
    for one, other in combinations(names, 2):
        size = means["adjusted"][one] - means["adjusted"][other]
        margin = dict(zip(names, sizes, strict=True))[other][1]
        found = verdict(size - margin, size + margin, name=one, against=other)
        pairs[one, other] = found
    return SystemComparison(means, pairs, True, None, **changes)


def test_each_number_stands_beside_the_comparison_it_belongs_to():
    found = compared([(3.0, 0), (2.9, 0.3), (2.0, 0.4)])
    assert report.systems_sentences(found)[0][0] == (
        "“a” has the highest mean of 3 systems on “overall” but cannot be separated "
        "from “b” (0.10 [−0.20, 0.40] points above “b”; 0.10 [−0.20, 0.40] SD, at most "
        "small); it is rated 1.00 [0.60, 1.40] points higher than “c”, allowing for "
        "other others."
    )
    found = compared([(3.0, 0), (2.9, 0.3), (2.0, 0.4), (1.0, 0.4)])
    assert (
        "it is rated higher than “c” and “d” (the smallest of these differences is "
        "1.00 [0.60, 1.40] points), allowing"
    ) in report.systems_sentences(found)[0][0]


def test_no_system_is_called_best_of_a_sum_of_which_nobody_says_what_is_better():
    found = compared([(3.0, 0), (2.0, 0.4)], better="")
    ((text, not_said),) = report.systems_sentences(found)
    assert text.startswith("“a” is rated highest of 2 systems")
    assert "that higher is better" in not_said
    recipe = {"count": "kind", "sum": "cost", "outcome": "cost"}
    assert report._better(recipe) == ""
    assert report._better(recipe | {"better": "lower"}) == "lower"
    assert report._better({"outcome": "overall"}) == "higher"
    assert report._better(report.recipes.from_yaml("mqm")) == "lower"


def test_means_with_raters_held_equal_are_so_called_where_raw_ones_differ():
    sizes = [(3.0, 0), (2.0, 0.4)]
    words = "with raters held equal (raw means are in the table)"
    assert words not in report.systems_sentences(compared(sizes))[0][0]
    found = compared(sizes, raw=[2.0, 2.5])
    assert f"on “overall” {words}: 1.00" in report.systems_sentences(found)[0][0]


def alphas(*rows):
    """Agreement on columns a, b and so on, of alphas and shares of same marks."""
    made = []
    for low, high, same in rows:
        row = {"estimate": (low + high) / 2, "low": low, "high": high}
        made.append(row | {"same mark, %": same, "scope": "others"})
    return pd.DataFrame(made, index=list("abc")[: len(rows)])


def test_low_agreement_is_called_usual_only_where_most_marks_are_the_same():
    def said(*rows):
        return report.agreement_sentences(alphas(*rows), pd.DataFrame(), "", "a")[1]

    text, not_said = said((0.6, 0.8, 80), (0.2, 0.4, 90))
    assert text == "They agree least on “b”: alpha 0.30 [0.20, 0.40]."
    assert not_said.startswith("that they often differ")
    text, not_said = said((0.6, 0.8, 80), (0.2, 0.4, 18))
    assert text.endswith("; two raters give the same mark in 18 % of cases.")
    assert "often" not in not_said
    text, _ = said((0.6, 0.8, 80), (0.2, 0.4, 90), (0.3, 0.5, 90))
    assert text == "Lowest alpha: “b” 0.30 [0.20, 0.40], not clearly lower than “c”."


def test_an_aspect_without_agreement_says_so():
    found = verdict(0.5, 1.5)
    raters = pd.Series(dtype=int)
    counts = SimpleNamespace(raters=raters)
    study = SimpleNamespace(held=(), outcome="overall", counts=counts)
    words = "; raters do not clearly agree on “tone” beyond chance, so this says how "
    words += "one person's marks go together."
    with mock.patch.object(report.inference, "heaviest", return_value=("", [], {})):
        ((text, not_said),) = report.aspects_sentences(study, [found], ["tone"])
        assert text.endswith(words)
        assert not_said.endswith(": the marks were given together")
        counts.raters = pd.Series([5, 5])
        ((text, not_said),) = report.aspects_sentences(study, [found])
        assert words not in text
        assert not_said.endswith(": the same people gave both marks")
        study.held = ("rater_id",)
        ((text, _),) = report.aspects_sentences(study, [found], ["tone"])
        assert words not in text


def test_the_page_names_the_outcome_and_tells_leniency_in_its_unit(tmp_path):
    text, results = written(tmp_path, draw(0, yes_no=True), scales={})
    assert "What goes with “overall”?" in text
    caption = "Leniency: percentage points above the others on the same items"
    rows = results["sections"][AGREEMENT]["tables"][caption]
    assert any(
        abs(float(each["percentage points"].split()[0].replace("−", "-"))) > 1
        for each in rows
    )


def test_an_end_beside_zero_is_not_written_as_zero():
    assert POINTS.text(Estimate(0.2, 0.004, 0.396)) == "0.200 [0.004, 0.396]"
    assert PERCENT.text(Estimate(-3, -6, -0.04)) == "−3.00 [−6.00, −0.04]"
    assert POINTS.text(Estimate(0.2, 0, 0.4)) == "0.20 [0.00, 0.40]"
    assert plan._nearest(POINTS, 0.5, 0.3) == ""
    near = plan._nearest(POINTS, 0.5, 0.4996)
    assert near == ", if only just: 0.4996 against 0.5000"
