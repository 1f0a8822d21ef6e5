"""Sentences to quote, and the page that holds them."""

import json
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from example_study import ASPECTS, example_ratings

from helpers import paths
from helpers.data.tables import BadTableError, OptionError
from ratings import inference, intake, recipes, report
from ratings.inference import not_done

TABLE = pd.DataFrame(
    {"estimate": [1.0, 0.5], "low": 0.0, "high": 2.0}, index=["tone", "a" * 60]
)
NO = not_done("one rater")
EXAMPLE = paths.DATA / "example" / "ratings.csv"
RECIPE = {
    "item": ["item_id"],
    "rater": ["rater_id"],
    "cluster": ["prompt_id"],
    "outcome": "overall",
    "aspects": ASPECTS,
}
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def ax():
    fig, axis = plt.subplots()
    yield axis
    plt.close(fig)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page of the example, its results, and what was said meanwhile."""
    page, said = tmp_path_factory.mktemp("report") / "mine.html", []
    report.write_page(EXAMPLE, RECIPE, page, said.append)
    return (
        page.read_text(),
        json.loads(page.with_suffix(".json").read_text()),
        said,
        page,
    )


def conclusions(**verdicts):
    numbers = {"alone": 0.6, "alone low": 0.5, "alone high": 0.7, "p Holm": 0.01}
    rows = {
        name: numbers
        | dict(zip(("weight", "low", "high"), (w, w - 0.1, w + 0.1), strict=True))
        | {"verdict": verdict, "because": "too few", "scope": "these raters"}
        for name, (verdict, w) in verdicts.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def study(names, identity=""):
    frame = pd.DataFrame({name: [0.0, 1.0, 2.0] for name in names})
    ends = pd.DataFrame(
        {"low": 0.0, "high": 2.0, "known": "declared"}, index=[*names, "overall"]
    )
    return intake.Study(frame, "overall", list(names), ends, {}, identity=identity)


def said(found, ranking=NO, agreement=NO, identity=""):
    reliability = pd.DataFrame()
    about = study(found.index, identity)
    return report.sentences(about, found, ranking, agreement, reliability)[
        "sentence"
    ].tolist()


def test_methods_that_were_not_done_are_passed_over_and_long_names_cut(ax):
    report.intervals(ax, {"least squares": TABLE, "ordered marks": NO, "Lasso": TABLE})
    assert ax.get_legend_handles_labels()[1] == ["least squares", "Lasso"]
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "tone",
        "a" * 27 + "…",
    ]


def test_an_empty_panel_says_why(ax):
    report.intervals(ax, report.held_and_alone(NO))
    assert [text.get_text() for text in ax.texts] == ["Not done: one rater"]


def test_dollar_signs_are_no_formulas(ax):
    ax.set_title(report.label("cost in $ per $"))
    ax.figure.canvas.draw()
    assert report.label("$") == r"\$"


def test_of_many_aspects_the_heaviest_that_were_judged_are_drawn():
    found = conclusions(
        **{f"a{number}": ("higher", number / 100) for number in range(40)}
    )
    found.loc["a39", "p Holm"] = np.nan
    drawn = report.held_and_alone(found)["others held equal"]
    assert drawn.index.tolist() == [f"a{number}" for number in range(38, 13, -1)]


def test_each_verdict_has_its_sentence_with_interval_and_scope():
    found = conclusions(
        up=("higher", 1.0),
        down=("lower", -0.9),
        small=("hardly any link", 0.05),
        own=("hardly anything of its own", 0.01),
        choice=("depends on choices", 0.4),
        rare=("not known", 0.0),
    )
    found.loc["down", ["alone", "alone low", "alone high"]] = [-0.31, -0.60, -0.01]
    assert said(found) == [
        "From the lowest to the highest mark for “up” (0 to 2), “overall” is "
        "1.00 [0.90, 1.10] points higher with the other aspects held equal "
        "(0.60 [0.50, 0.70] higher alone), for these raters.",
        "From the lowest to the highest mark for “down” (0 to 2), “overall” is "
        "0.90 [0.80, 1.00] points lower with the other aspects held equal "
        "(0.31 [0.01, 0.60] lower alone), for these raters.",
        "“small” hardly goes with “overall”: 0.05 [−0.05, 0.15] points with the other "
        "aspects held equal (0.60 [0.50, 0.70] alone), for these raters.",
        "“own” adds hardly anything to the other aspects: 0.01 [−0.09, 0.11] points of "
        "“overall” with these held equal, 0.60 [0.50, 0.70] alone, for these raters.",
        "What “choice” weighs in “overall” depends on how it is computed (too few), "
        "for these raters.",
        "Not known: “rare” (too few).",
    ]


def test_five_hundred_aspects_take_ten_sentences():
    found = conclusions(**{f"a{number}": ("higher", 1.0) for number in range(500)})
    few = said(found)
    assert len(few) <= report.MOST_SENTENCES
    assert few[-1] == "Higher: “a3”, “a4”, “a5” and 494 more."


def test_an_outcome_computed_from_aspects_gives_no_finding():
    found = conclusions(a=("computed from others", 1.0))
    (only,) = said(found, identity="overall is a + b")
    assert (
        only
        == "overall is a + b: the weights of its parts are arithmetic, not a finding."
    )


def test_weighs_most_stands_only_with_its_share():
    ranking = pd.DataFrame({"weighs most, %": [99.9, 0.1]}, index=["a", "b"])
    found = conclusions(a=("higher", 1.0), b=("not known", 0.0))
    expected = (
        "“a” weighs most of the 2 aspects that can be judged in > 99 % of redrawn "
        "weights."
    )
    assert expected in said(found, ranking)
    unsure = (
        "Which of the 2 aspects that can be judged weighs most is not sure: “a” in "
        "60 % of"
    )
    ranking["weighs most, %"] = [60.0, 40.0]
    assert any(text.startswith(unsure) for text in said(found, ranking))
    assert expected not in said(conclusions(b=("not known", 0.0)), ranking)


def test_agreement_is_told_of_the_outcome_and_of_the_least():
    found = pd.DataFrame(
        {"estimate": [0.5, 0.1, np.nan], "low": 0.0, "high": 1.0, "same mark, %": 40.0},
        index=["overall", "tone", "flat"],
    )
    first, second = (text for text, _ in report.about_agreement(found, "overall"))
    assert first.startswith(
        "On “overall”, raters of the same item agree with a Krippendorff's al"
    )
    assert first.endswith("item, 40 % of pairs of raters give the same mark.")
    assert second == "They agree least on “tone”: alpha 0.10 [0.00, 1.00]."
    assert report.about_agreement(NO) == []


@pytest.mark.parametrize(
    ("verdicts", "title"),
    [
        ({"a": ("not known", 0)}, "No aspect can be shown to go with overall"),
        (
            {"a": ("not known", 0), "b": ("not known", 0)},
            "No aspect can be shown to go with overall, others held equal",
        ),
        ({"a": ("higher", 1)}, "a goes with overall"),
        (
            {"a": ("computed from others", 1), "b": ("computed from others", 1)},
            "The weights are arithmetic: overall is computed from these columns",
        ),
        (
            {"a": ("higher", 1), "b": ("lower", 1)},
            "With the others held equal, a and b go with o",
        ),
        (
            {
                "a": ("higher", 1),
                "b": ("hardly any link", 0),
                "c": ("hardly anything of its own", 0),
                "d": ("depends on choices", 0),
                "e": ("not known", 0),
                "f": ("left out", 0),
                "g": ("not told apart", 0),
            },
            "With the others held equal, a goes with overall; 2 others add hardly "
            "anything, 1 depends on choices, 1 is not known, 2 cannot be judged",
        ),
    ],
)
def test_the_title_of_the_weights_says_what_they_show(verdicts, title):
    assert report.weights_title(conclusions(**verdicts), "overall").startswith(title)


def test_what_cannot_be_computed_is_not_described_as_a_number():
    table = pd.DataFrame(
        {"estimate": [0.5, np.nan], "low": [0.4, np.nan], "high": [0.6, np.nan]}
    )
    said = report.alt_text(
        "Two lines\nof a title", {"alpha": table.set_axis(["tone", "flat"])}
    )
    expected = (
        "Two lines of a title. Dots with intervals; alpha: tone 0.50 [0.40, 0.60]."
    )
    assert said == expected


def test_the_page_needs_nothing_else_and_keeps_its_order(written):
    page, _, said, path = written
    headings = ["To quote", "Checks that could not run, and why", "Figures", "Tables"]
    places = [page.index(f"<h2>{heading}</h2>") for heading in headings]
    assert places == sorted(places)
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert page.count('<img src="data:image/png;base64,') == page.count(' alt="') == 2
    assert "<strong>simulated</strong>" in page
    assert said[0] == "reading ratings.csv"
    assert {each.name for each in path.parent.iterdir()} == {
        "mine.html",
        "mine.csv",
        "mine.json",
        "mine.rows.csv",
    }


def test_the_results_beside_the_page_are_those_of_the_conclusions(written):
    _, found, _, path = written
    table = recipes.read(EXAMPLE, RECIPE)
    prepared = intake.prepare(table, "overall", ASPECTS, np.random.default_rng(0))
    expected = inference.conclude(prepared, np.random.default_rng(0))
    results = pd.read_csv(path.with_suffix(".csv"), index_col="aspect")
    np.testing.assert_allclose(results["weight"], expected["weight"], rtol=1e-5)
    assert results["verdict"].tolist() == expected["verdict"].tolist()
    assert 5 < len(found["sentences"]) <= report.MOST_SENTENCES
    assert all(row["it does not say"] for row in found["sentences"])


def test_errors_in_marks_are_told_once_where_a_weight_is_quoted(written):
    page, results, _, _ = written
    line = report.WORDS["label error"]
    assert page.count(line) == 1
    assert page.index("<h2>To quote") < page.index(line) < page.index("<h2>Checks")
    assert results["errors in marks"] == line


def test_hostile_names_and_formulas_stay_text(tmp_path):
    table = example_ratings(np.random.default_rng(2), n_prompts=15).drop(
        columns="source"
    )
    names = {"tone": HOSTILE, "typos": "=1+1", "overall": "\x1b$x_1$"}
    table.rename(columns=names).to_csv(tmp_path / "<b>.csv", index=False)
    recipe = RECIPE | {
        "outcome": names["overall"],
        "aspects": [HOSTILE, "=1+1", "factuality"],
    }
    page = report.write_page(
        tmp_path / "<b>.csv", recipe, tmp_path / "p.html", lambda _: None
    )
    assert "<script" not in page.read_text()
    assert "<b>" not in page.read_text()
    assert "'=1+1" in page.with_suffix(".csv").read_text()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"aspects": []},
            "the recipe names no outcome, or no aspects that may explain it",
        ),
        (
            {"outcome": ""},
            "the recipe names no outcome, or no aspects that may explain it",
        ),
    ],
)
def test_without_an_outcome_there_is_agreement_only(tmp_path, changes, why):
    page = report.write_page(
        EXAMPLE, RECIPE | changes, tmp_path / "p.html", lambda _: None
    )
    found = json.loads(page.with_suffix(".json").read_text())
    assert found["not run"]["What goes with an overall rating"] == why
    assert "Krippendorff" in found["sentences"][0]["sentence"]


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
    assert found["not run"]["Raters one by one"].startswith(
        "the recipe names no raters"
    )
    assert report.AGREEMENT in found["tables"]
    assert report.PEOPLE not in found["tables"]
    assert found["sentences"][0]["sentence"].endswith("for these raters.")


def test_a_bad_file_or_name_leaves_nothing_behind(tmp_path):
    (tmp_path / "bad.csv").write_text("overall,tone\n1,x\n")
    recipe = {"outcome": "overall", "aspects": ["tone"]}
    with pytest.raises(
        BadTableError, match=r"column 'tone', not a number .*: row 2 'x'"
    ):
        report.write_page(
            tmp_path / "bad.csv", recipe, tmp_path / "p.html", lambda _: None
        )
    with pytest.raises(OptionError, match=r"give a name that ends in \.html"):
        report.write_page(
            tmp_path / "bad.csv", recipe, tmp_path / "p.pdf", lambda _: None
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


def test_a_weight_alone_has_the_words_of_the_one_beside_it():
    assert report._beside("lower", -0.31, -0.6, -0.01) == "0.31 [0.01, 0.60] lower"
    assert report._beside("lower", -0.1, -0.3, 0.1) == "0.10 [−0.10, 0.30] lower"
    assert report._beside("lower", 0.1, -0.1, 0.3) == "0.10 [−0.10, 0.30] higher"
    assert report._beside("hardly any link", -0.1, -0.3, 0.1) == "−0.10 [−0.30, 0.10]"


def test_what_cannot_be_judged_is_not_shown_with_a_covariate():
    recipe = RECIPE | {"covariate": "response_words"}
    found = report.analyse(recipes.read(EXAMPLE, recipe), recipe, lambda _: None)
    assert found.conclusions.loc["refusal", "verdict"] == "not known"
    shown = found.tables[report.COVARIATE].index.tolist()
    assert shown == [aspect for aspect in ASPECTS if aspect != "refusal"]
    nothing = pd.DataFrame({"p Holm": [np.nan]}, ["tone"])
    assert (
        report.only_judged(TABLE, nothing)["not done"].item()
        == "no aspect can be judged"
    )
    assert report.only_judged(NO, nothing) is NO


def test_a_reliability_for_more_ratings_than_there_are_is_called_a_projection(written):
    _, found, _, _ = written
    numbers = [row["ratings"] for row in found["tables"][report.RELIABLE]]
    assert numbers == ["1", "2", "3", "5 (projected)", "10 (projected)"]
    frame = pd.DataFrame({"item_id": [1, 1, 2], "cluster": 0, "tone": 1.0})
    about = replace(study(["tone"]), frame=frame)
    ends = {"estimate": 0.6, "low": 0.5, "high": 0.7}
    ((text, _),) = report._about_means(pd.DataFrame(ends, [3]), about)
    assert "of such a mean, projected from items with at most 2 ratings." in text
    assert text.endswith(
        "although it changes no order of items that the same people rated."
    )
    frame = frame.assign(item_id=range(3))
    ((text, _),) = report._about_means(
        pd.DataFrame(ends, [3]), replace(about, frame=frame)
    )
    assert "from items with at most 1 rating." in text


def test_of_many_aspects_the_table_shows_the_heaviest():
    found = conclusions(
        **{f"a{number}": ("higher", number / 100) for number in range(40)}
    )
    (_, table), *_ = report._all_tables(report.Analysis("", found, found))
    assert table.index[:2].tolist() == ["a39", "a38"]


def test_the_weight_of_a_counted_error_is_that_of_one():
    kind = np.random.default_rng(0).integers(0, 4, 300) * 1.0
    table = pd.DataFrame({"Style": kind, "cost": 2 * kind})
    recipe = {"count": "kind", "aspects": ["Style"]}
    assert report._per_error(table, recipe) == {"Style": (0.0, 1.0)}
    assert report._per_error(table, {"aspects": ["Style"]}) == {}
    table = table.assign(item_id=range(300), prompt_id=range(300))
    table["cost"] += np.random.default_rng(1).normal(size=300)
    rng = np.random.default_rng(0)
    limits = report._per_error(table, recipe)
    study = intake.prepare(table, "cost", ["Style"], rng, limits)
    found = inference.conclude(study, rng)
    assert found.loc["Style", "weight"] == pytest.approx(2, abs=0.2)
    said = report.sentences(study, found, NO, NO, pd.DataFrame())["sentence"]
    assert said[0].startswith("For each error counted as “Style”, “cost” is")


def test_sentences_say_what_is_left_with_the_system_held_equal(written):
    table = pd.DataFrame(
        {"estimate": 0.5, "low": 0.4, "high": 0.6, "other systems": "not shown"},
        ["tone"],
    )
    text = report._with_systems_equal("tone", table)
    assert text.startswith("; 0.50 [0.40, 0.60] among answers of the same system, and")
    assert report._with_systems_equal("typos", table) == ""
    assert "each rater compared with himself or herself (over all ratings" in written[0]


def test_with_systems_the_page_says_of_whom_it_speaks(tmp_path, written):
    table = example_ratings(np.random.default_rng(2), n_prompts=15)
    table["system"] = pd.factorize(table["item_id"])[0] % 3
    table.to_csv(tmp_path / "a.csv", index=False)
    recipe = RECIPE | {"system": ["system"]}
    page = report.write_page(tmp_path / "a.csv", recipe, tmp_path / "p.html", print)
    not_run = json.loads(page.with_suffix(".json").read_text())["not run"]
    assert "these 3 systems only" in not_run["Other systems"]
    assert "Other systems" not in written[1]["not run"]


def test_what_would_tell_more_comes_from_the_power(written):
    page, results, _, _ = written
    assert "What would tell more" in page
    planned = results["tables"][report.NEEDED]
    n_times = {row["index"]: row["times the items"] for row in planned}
    unknown = [
        row["index"]
        for row in results["tables"][report.ON_ASPECTS]
        if row["verdict"] == "not known"
    ]
    for name in unknown:
        assert any(f"“{name}”" in line for line in results["what to do"])
    assert set(unknown) <= set(n_times)


def test_neither_items_nor_raters_may_do():
    found = conclusions(tone=("not known", 0.1)).assign(because="too wide")
    columns = ["times the items", "times the raters"]
    needed = pd.DataFrame([[np.inf, np.nan]], ["tone"], columns)
    (line,) = report.what_to_do(None, found, needed, 0.4)
    assert line.startswith("To find 0.4 points for “tone”, neither a thousand times")


def test_as_many_as_now_is_said_where_no_more_are_needed():
    assert report._number_needed(1.0, 40, "item") == "as many items as here (40)"
    expected = "about 50 raters instead of 40"
    assert report._number_needed(1.23, 40, "rater") == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"accept": "1", "reject": "0"}, "accept (1) or reject (0)"),
        ({"x": "1", "": "0"}, "x (1) or not x (0)"),
        ({"-": "2"}, "yes (1) or no (0)"),
        ("number", "yes (1) or no (0)"),
    ],
)
def test_yes_and_no_are_called_as_in_the_file(words, said):
    ends = pd.DataFrame([[0, 1, "declared"]], ["ok"], ["low", "high", "known"])
    frame = pd.DataFrame({"ok": [0.0, 1.0]})
    about = replace(study(["tone"]), frame=frame, outcome="ok", ends=ends)
    assert report._scale_in_words(about, words) == f"“ok” is {said}."


@pytest.mark.parametrize(("high", "word"), [(4, "people"), (5, "steps")])
def test_what_a_rank_does_not_say_depends_on_the_scales(high, word):
    ends = pd.DataFrame({"low": [1, 1], "high": [4, high]}, ["a", "b"])
    ranking = pd.DataFrame({"weighs most, %": [99.9, 0.1]}, index=["a", "b"])
    found = conclusions(a=("higher", 1.0), b=("higher", 0.1))
    about = replace(study(["a", "b"]), ends=ends)
    ((_, not_said),) = report._about_ranking(found, ranking, about)
    assert word in not_said


def test_one_rating_and_one_aspect_are_told_of_as_one():
    row = ["missing", "overall", 1, "left out", ["all"]]
    names = ["what", "where", "rows", "consequence", "affects"]
    (line,) = report.warnings(pd.DataFrame([row], columns=names), "overall")
    assert line == "missing (overall, 1 rating): left out"
    for aspects, not_said in (("a", "that it does"), ("ab", "that these do")):
        found = conclusions(**dict.fromkeys(aspects, ("not known", 0.0)))
        assert report._on_several("not known", found)[1].startswith(not_said)


def test_a_methods_paragraph_names_versions_and_date(written):
    _, results, _, _ = written
    text = results["methods"]
    for part in ("Holm's correction", "numpy", "Python", "CR3, two ways", "jackknife"):
        assert part in text
    assert text.rstrip(".")[-10:].count("-") == 2  # the date


def test_full_agreement_is_no_number_to_quote(tmp_path):
    marks = np.random.default_rng(0).integers(1, 6, (60, 2)).repeat(2, axis=0)
    table = pd.DataFrame(marks, columns=["tone", "depth"])
    table["depth"] += np.arange(120) % 2
    table["item"] = np.arange(120) // 2
    table["who"] = np.arange(120) % 2
    path = tmp_path / "a.csv"
    table.to_csv(path, index=False)
    recipe = {"item": "item", "rater": "who", "aspects": ["tone", "depth"]}
    page = report.write_page(path, recipe, tmp_path / "b.html", lambda _: None)
    results = json.loads(page.with_suffix(".json").read_text())
    assert "no two raters" in results["not run"]["Agreement on “tone”"]
    assert [row["index"] for row in results["tables"][report.AGREEMENT]] == ["depth"]


@pytest.fixture(scope="module")
def yes_no(tmp_path_factory):
    """The page of answers that are accepted or not, by six people who differ."""
    rng = np.random.default_rng(3)
    n = 240
    tone = rng.integers(1, 6, n)
    who = np.arange(n) % 6
    chance = np.clip(0.1 + 0.15 * (tone - 1) + 0.1 * (who % 2), 0, 1)
    table = pd.DataFrame(
        {
            "item": np.arange(n) // 6,
            "who": who,
            "tone": tone,
            "typo": rng.random(n) < 0.3,
            "accept": rng.random(n) < chance,
        }
    )
    folder = tmp_path_factory.mktemp("yes_no")
    table.to_csv(folder / "a.csv", index=False)
    recipe = {
        "item": "item",
        "rater": "who",
        "outcome": "accept",
        "aspects": ["tone", "typo"],
        "scales": {"tone": ["1", "5"]},
    }
    page = report.write_page(
        folder / "a.csv", recipe, folder / "b.html", lambda _: None
    )
    results = json.loads(page.with_suffix(".json").read_text())
    return page.read_text(), results, table


def test_weights_on_yes_or_no_are_percentage_points(yes_no):
    page, results, table = yes_no
    x = table[["tone", "typo", "accept"]].astype(float)
    x -= x.groupby(table["who"]).transform("mean")
    slope, _ = np.linalg.lstsq(x[["tone", "typo"]], x["accept"], rcond=None)[0]
    said = [row["sentence"] for row in results["sentences"]]
    assert f"“accept” is {400 * slope:.1f} [" in said[0]
    assert "] percentage points higher" in said[0]
    assert "“accept” is yes (1) or no (0)." in page
    assert "in percentage points from the lowest" in results["methods"]
    assert "To find 10 percentage points for “typo”" in "".join(results["what to do"])
    assert "the tables and the files beside this page have shares" in page
    row = next(row for row in results["tables"][report.ON_ASPECTS] if row["alone"])
    assert row["weight"] == pytest.approx(4 * slope)
    assert "] percentage points of accept; alone" in row["because"]
    assert f"{400 * slope:+.1f} [" in row["because"]
    assert f"others held equal: tone {400 * slope:.2f} [" in page  # the figure


def test_a_page_tells_what_made_it_and_no_bare_inf(yes_no, monkeypatch):
    page, *_ = yes_no
    assert "Made by <code>ratings report</code> of judging-language-models 0." in page
    assert report._cell_on_page(np.inf) == "more than 1,000"
    assert report._cell_on_page(np.nan) == ""
    metadata = {"Project-URL": ["Other, x", "Repository, https://example.org/a, b"]}

    class Metadata:
        get_all = metadata.get

    monkeypatch.setattr(report.importlib.metadata, "metadata", lambda _: Metadata)
    assert report._address() == "https://example.org/a, b"
    metadata.clear()
    assert report._address() == ""


def test_what_nobody_checked_stands_on_the_page(tmp_path):
    page = report.write_page(
        EXAMPLE,
        RECIPE,
        tmp_path / "a.html",
        lambda _: None,
        assumed=["x is taken as <b>y</b>"],
    )
    text = page.read_text()
    assert "nobody has checked it" in text
    assert "<li>x is taken as &lt;b&gt;y&lt;/b&gt;</li>" in text


def test_a_page_repeats_what_the_recipe_leaves_open(tmp_path):
    table = example_ratings(np.random.default_rng(2), n_prompts=15)
    table.to_csv(tmp_path / "a.csv", index=False)
    recipe = {key: value for key, value in RECIPE.items() if key != "item"}
    page = report.write_page(
        tmp_path / "a.csv", recipe, tmp_path / "p.html", lambda _: None
    )
    found = json.loads(page.with_suffix(".json").read_text())
    assert "the recipe names no item: each row counts as one" in found["ratings"]
    why = found["not run"][report.AGREEMENT]
    assert why.startswith("the recipe names no item, so that each row counts as one")
    assert "If several rows rate one thing, name its column" in page.read_text()


def test_columns_of_the_tables_are_explained_if_they_are_shown(written):
    page, *_ = written
    for column in ("informative clusters", "clusters that agree", "detects", "AC1"):
        assert f"<li><strong>{column}</strong>: " in page
    assert "<strong>other systems</strong>" not in page  # no such table
