"""Other sets of ratings: what was fixed, known answers, and a made-up set added."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from benchmarks import atlas_agreement
from helpers import paths
from helpers.claims import elsewhere
from helpers.data.published import read_text
from helpers.stats import meta_analysis
from helpers.wording import with_interval
from ratings.atlas import answers, ask, papers, readers, sets, summary

RECIPE = """\
about: a made-up set of answers by three systems
item: [prompt, system]
rater: person
cluster: prompt
words: answer
outcome: overall
aspects: ["right", "fluent"]
without: {system: [people]}
scales: {overall: [1, 5], "right": [1, 5], fluent: [1, 5]}
"""


# ----------------------------------------------------------------- what was fixed


def test_every_row_of_questions_is_whole():
    table = sets.questions()
    assert set(table["question"]) == set(sets.QUESTIONS)
    assert set(table["speaks"]) <= set(sets.SPEAKS)
    assert not table.duplicated(["question", "set"]).any()
    refused = table["speaks"] == "no"
    assert (table.loc[refused, "why"] != "").all()
    admitted = table[~refused]
    assert (admitted[["files", "outcome", "cluster", "group"]] != "").all(axis=None)
    judged = admitted[admitted["speaks"] == "yes"]
    assert not judged.duplicated(["question", "group"]).any()


def test_every_admitted_set_has_files_a_reader_and_a_description():
    for question in sets.QUESTIONS:
        names = sets.admitted(question, sets.SPEAKS[:-1]).index
        assert set(names) <= set(sets.described().index)
        for name in names:
            assert sets.files_of(name), name
            special = name in ("faireval", "lgbteen", "llmbar")
            assert special or name in readers.READERS, name


def test_headlines_of_the_papers_belong_to_a_question_or_say_why_not():
    known = read_text(paths.PUBLISHED / "headlines.csv")
    of_papers = known.loc[~known["notebook"].str.startswith("6"), "headline"]
    table = read_text(sets.FOLDER / "headlines.csv")
    assert set(table["headline"]) == set(of_papers)
    assert (table["question"].isin(sets.QUESTIONS) != table["why"].ne("")).all()
    assert list(sets.statements().index) == list(sets.QUESTIONS)


# ------------------------------------------------------------------ known answers


def made_up(rng, n=400, fact=2.0, form=1.0):
    """Texts whose overall rating is made of two aspects."""
    right = rng.integers(1, 6, n).astype(float)
    fluent = rng.integers(1, 6, n).astype(float)
    noise = rng.normal(size=n)
    overall = fact * (right - 1) / 4 + form * (fluent - 1) / 4 + noise
    return pd.DataFrame(
        {"right": right, "fluent": fluent, "overall": overall, "cluster": range(n)}
    )


def test_weights_are_those_that_made_the_ratings():
    items = made_up(np.random.default_rng(0), n=20_000)
    scales = {"right": (1, 5), "fluent": (1, 5)}
    table = answers.aspect_weights(items, "overall", scales, "right", "fluent")
    points = table["estimate"] * items["overall"].std()
    assert points["right"] == pytest.approx(2, abs=0.1)
    assert points[ask.BOTH] == pytest.approx(1, abs=0.1)
    in_sd = 2 * items["right"].std() / 4 / items["overall"].std()
    assert table.loc["right", "sd"] == pytest.approx(in_sd, rel=0.05)


def test_the_interval_of_fact_less_form_holds_the_truth():
    rng = np.random.default_rng(1)
    scales = {"right": (1, 5), "fluent": (1, 5)}
    held = 0
    for _ in range(300):
        items = made_up(rng, n=100, fact=1.0, form=1.0)
        table = answers.aspect_weights(items, "overall", scales, "right", "fluent")
        row = table.loc[ask.BOTH]
        held += row["low"] < 0 < row["high"]
    assert 0.925 < held / 300 < 0.985


def test_scales_may_point_down_and_parts_have_levels():
    items = made_up(np.random.default_rng(2))
    turned = items.assign(right=6 - items["right"])
    one = answers.aspect_weights(items, "overall", {"right": (1, 5)})
    other = answers.aspect_weights(turned, "overall", {"right": (5, 1)})
    assert one["estimate"].tolist() == pytest.approx(other["estimate"].tolist())
    part = np.arange(len(items)) % 2
    raised = items.assign(overall=items["overall"] + 50 * part, part=part)
    level = answers.aspect_weights(raised, "overall", {"right": (1, 5)}, levels="part")
    points = level["estimate"].iloc[0] * raised["overall"].std()
    assert points == pytest.approx(
        one["estimate"].iloc[0] * items["overall"].std(), abs=0.1
    )


def test_what_others_mark_has_no_halo():
    rng = np.random.default_rng(3)
    n = 300
    rows = []
    for item in range(n):
        quality = rng.normal()
        for person in range(3):
            mood = rng.normal()  # of this person on this text
            rows.append([item, f"p{person}", quality + mood, quality + mood])
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "right", "overall"])
    frame["fluent"] = rng.normal(size=len(frame))
    scales = {"overall": (-1, 1), "right": (0, 1), "fluent": (0, 1)}
    ratings = readers.in_one_form(frame, scales, people_known=True)
    aspects = {"right": (0, 1), "fluent": (0, 1)}
    tables = answers.by_same_and_others(ratings, "overall", aspects, "right", "fluent")
    sd = frame["overall"].std()
    same = tables["same person"].loc["right", "estimate"] * sd
    others = tables["other people"].loc["right", "estimate"] * sd
    assert same == pytest.approx(1)
    # the mean of two others has the variance 1 + 1/2, of which 1 is shared
    assert others == pytest.approx(1 / 1.5, abs=0.1)
    unknown = readers.in_one_form(frame, scales, people_known=False)
    assert (
        answers.by_same_and_others(unknown, "overall", aspects, "right", "fluent") == {}
    )


def test_length_counts_within_prompts_and_systems_only():
    rng = np.random.default_rng(4)
    rows = []
    for prompt in range(60):
        for system in range(4):
            words = 50 * 2 ** (prompt % 3 + system + rng.normal())
            within = np.log2(words)
            # prompts and systems with longer texts are rated lower
            rating = within - 5 * (prompt % 3) - 3 * system + rng.normal(scale=0.1)
            rows.append([f"p{prompt}", f"s{system}", words, rating])
    items = pd.DataFrame(rows, columns=["prompt_id", "system", "words", "overall"])
    items["cluster"] = items["prompt_id"]
    row = answers.length_slope(items, "overall")
    assert row["estimate"] * items["overall"].std() == pytest.approx(1, abs=0.03)
    assert row["alone"] < 0


def test_detection_by_hand():
    crowd = pd.Series([True, True, False, False, True])
    expert = pd.Series([True, True, True, False, False])
    table = answers.detection(crowd, expert, pd.Series(range(5)))
    assert table["estimate"].tolist() == pytest.approx([200 / 3, 50])
    assert table["items"].tolist() == [3, 2]
    none = answers.detection(crowd, pd.Series([False] * 5), pd.Series(range(5)))
    assert np.isnan(none.loc["found", "estimate"])


def test_a_set_that_says_the_opposite_at_another_threshold_depends_on_it():
    def row(low, high, items):
        return {"estimate": (low + high) / 2, "low": low, "high": high, "items": items}

    rows = {
        ("a", "4 or less", "found"): row(70, 90, 50),
        ("a", "4 or less", "false alarms"): row(60, 80, 50),
        ("a", "1", "found"): row(0, 20, 30),
        ("a", "1", "false alarms"): row(0, 20, 30),
        ("b", "4 or less", "found"): row(70, 90, 50),
        ("b", "4 or less", "false alarms"): row(0, 10, 50),
        ("b", "1", "found"): row(0, 20, 5),  # too few
        ("b", "1", "false alarms"): row(0, 20, 30),
    }
    table = pd.DataFrame(rows).T.rename_axis(["set", "threshold", "what"])
    judged = ask.judged_at(table, 50.0)
    assert judged["depends"].tolist() == ["on the threshold: 1", ""]
    side = summary.sides(judged, 50.0, "below")
    assert side.tolist() == [summary.NEITHER, summary.OTHER_SIDE]


def test_orders_that_decide():
    rows = [["x", "j", 1, "1", "1"], ["x", "j", 2, "1", "2"], ["x", "j", 3, "2", "1"]]
    rows.append(["x", "j", 4, None, "1"])
    table = pd.DataFrame(rows, columns=["part", "judge", "pair", "one", "other"])
    row = answers.order_changes(table).loc[("x", "j")]
    assert (row["pairs"], row["first"]) == (3, 50)
    assert row["changed"] == pytest.approx(200 / 3)


# ------------------------------------------------------------------- the four words


def results(estimates, error=0.1):
    """Sets with these estimates."""
    table = pd.DataFrame({"estimate": np.asarray(estimates, dtype=float)})
    z = np.abs(table["estimate"]) / error
    return table.assign(
        standard_error=error,
        low=table["estimate"] - 2 * error,
        high=table["estimate"] + 2 * error,
        p_value=2 * norm.sf(z),
    )


@pytest.mark.parametrize(
    ("estimates", "there", "word"),
    [
        ([0.5, 0.6, 0.4, 0.5, 0.1], summary.ON_SIDE, summary.HOLDS),
        ([0.5, 0.6, 0.4, 0.5], summary.ON_SIDE, summary.NOT_KNOWN),  # too few sets
        ([0.5, 0.6, 0.4, 0.5, -0.5], summary.ON_SIDE, summary.DEPENDS),
        # on the other side, but not after the correction over the sets
        ([0.5, 0.6, 0.4, 0.1, -0.21], summary.ON_SIDE, summary.NOT_KNOWN),
        ([-0.5, -0.4, -0.6, 0.1], summary.ON_SIDE, summary.ONLY_THERE),
        ([-0.5, -0.4, -0.6, 0.1], summary.NEITHER, summary.NOT_KNOWN),
        ([0.1, 0.1, -0.5, 0.1], summary.ON_SIDE, summary.NOT_KNOWN),
    ],
)
def test_the_word_follows_the_rules(estimates, there, word):
    table = results(estimates)
    side = summary.sides(table, 0.0, "above")
    own = pd.Series([there])
    assert summary.word(table, side, "above", 0.0, there=own) == word
    if len(estimates) == 4 or word == summary.DEPENDS:
        assert summary.word_of_sides(side, own) == word


def test_intervals_near_the_line_are_hardly_any():
    table = results([0.01, -0.01, 0.02, 0.0], error=0.02)
    side = summary.sides(table, 0.0, "above")
    own = pd.Series([summary.ON_SIDE])
    given = {"claimed": "above", "line": 0.0, "there": own}
    assert summary.word(table, side, small=0.1, **given) == summary.ONLY_THERE
    assert summary.word(table, side, small=0.0, **given) == summary.NOT_KNOWN


def test_without_any_difference_no_word_claims_one():
    rng = np.random.default_rng(5)
    said = []
    for _ in range(400):
        table = results(rng.normal(scale=0.1, size=8))
        side = summary.sides(table, 0.0, "above")
        said.append(summary.word(table, side, "above", 0.0))
    counts = pd.Series(said).value_counts(normalize=True)
    assert counts.get(summary.HOLDS, 0) == 0
    assert counts.get(summary.DEPENDS, 0) < 0.01


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_a_known_spread_is_found_again_with_the_errors_of_a_question(spread):
    rng = np.random.default_rng(6)
    error = np.array([0.05, 0.06, 0.07, 0.09, 0.1, 0.14, 0.26])
    found = []
    for _ in range(300):
        true = rng.normal(0.3, spread, len(error))
        y = true + rng.normal(size=len(error)) * error
        found.append(meta_analysis.random_effects(y, error).spread ** 2)
    # truncated at zero, so that without a spread a little is found
    assert np.mean(found) == pytest.approx(spread**2, abs=0.004)


def test_what_sets_say_stands_beside_headlines(tmp_path):
    table = results([0.5, -0.5]).set_axis(["fed", "sf"])
    side = summary.sides(table, 0.0, "above")
    own = results([0.4]).set_axis([papers.KAMODA])
    rows = summary.results(
        "aspects", table, side, summary.DEPENDS, own, summary.sides(own, 0.0, "above")
    )
    summary.save_results(rows, "61_aspects_elsewhere", str(tmp_path))
    read = elsewhere.joined(tmp_path)
    assert read["label"].tolist()[0] == papers.KAMODA
    said = elsewhere.sentences(read)
    assert "1 says so, 1 says the opposite" in said["aspect_weights"]
    assert said["tone_gap"].startswith(elsewhere.NO_SET)
    assert "crowd_misses" not in said  # nothing is known of it in this run
    (line,) = elsewhere.grid(read)
    assert line["n"] == {"sets": 2, "on": 1, "other": 1, "neither": 0}
    assert elsewhere.columns(read)[0] == papers.KAMODA
    assert line["cells"]["FED"]["text"] == "FED, turns of chats: 0.50 [0.30, 0.70]"


# ------------------------------------------------------------- a new set by a recipe


@pytest.fixture
def added(tmp_path, monkeypatch):
    """A made-up set, added as CONTRIBUTING says: a file, a recipe, rows."""
    rng = np.random.default_rng(7)
    rows = []
    for prompt in range(40):
        for system in ("a", "b", "c", "people"):
            n_words = int(rng.integers(20, 200))
            true = rng.integers(1, 6)
            for person in range(3):
                noise = rng.integers(-1, 2, 2)
                right, fluent = np.clip(true + noise, 1, 5)
                rows.append(
                    {
                        "prompt": f"p{prompt}",
                        "system": system,
                        "person": f"w{person}",
                        "answer": "word " * n_words,
                        "right": int(right),
                        "fluent": int(fluent),
                        "overall": int(np.clip(round(0.8 * right + 0.6), 1, 5)),
                    }
                )
    file = tmp_path / "new.json"
    file.write_text(json.dumps(rows))
    (tmp_path / "newset.yaml").write_text(RECIPE)
    row = dict.fromkeys(sets.questions().columns, "")
    row |= {"set": "newset", "speaks": "yes", "outcome": "overall", "level": "ordinal"}
    row |= {"fact": "right", "form": "fluent", "group": "newset"}
    questions = [row | {"question": name} for name in sets.QUESTIONS[:3]]
    table = pd.DataFrame(questions)
    monkeypatch.setattr(sets, "questions", lambda: table)
    monkeypatch.setattr(sets, "RECIPES", tmp_path)
    monkeypatch.setattr(sets, "locate", lambda name, source: {"newset/new.json": file})


def test_a_new_set_needs_a_recipe_and_rows(added):
    ratings = sets.load("newset")
    assert set(ratings.frame["system"]) == {"a", "b", "c"}
    assert ratings.people_known
    assert ratings.items()["words"].notna().all()
    weights = ask.aspects()
    assert list(weights) == ["newset"]
    difference = ask.facts_and_form(weights)
    assert summary.sides(difference, 0.0, "above").tolist() == [summary.ON_SIDE]
    outcomes, marks = ask.agreement("auto", 50, np.random.default_rng(0))
    assert outcomes.loc["newset", "estimate"] > 0.4
    assert set(marks.index.get_level_values("mark")) == {"overall", "right", "fluent"}
    slopes = ask.length()
    assert slopes.loc["newset", "low"] < 0 < slopes.loc["newset", "high"]


def test_a_set_whose_outcome_is_called_otherwise_is_refused(added, monkeypatch):
    table = sets.questions().assign(outcome="score")
    monkeypatch.setattr(sets, "questions", lambda: table)
    with pytest.raises(ValueError, match="calls the outcome 'score', the ratings have"):
        ask.length()


# ----------------------------------------------- how often intervals hold the truth


def test_simulated_studies_have_the_numbers_and_the_alpha_of_a_design():
    design = (30, 4, 3, 0.5, 101, "interval")
    table = atlas_agreement.draw(design, 0.25, 30, np.random.default_rng(0))
    assert len(table) == 30 * 4 * 3
    assert table.groupby("cluster")["item_id"].nunique().eq(4).all()
    assert table["mark"].between(1, 101).all()
    alpha = atlas_agreement.truth(design, 0.25, np.random.default_rng(1))
    assert alpha == pytest.approx(0.5, abs=0.03)


def test_coverage_and_the_factor_by_hand():
    numbers = pd.DataFrame({"estimate": np.arange(5.0)})
    numbers["low"] = numbers["estimate"] - 1.0
    numbers["high"] = numbers["estimate"] + 2.0
    found = atlas_agreement.coverage(numbers, 2.0)
    # truth in -1 to 2 (0), 0 to 3 and 1 to 4, 2 to 5; not in 3 to 6
    assert found["holds"] == 80.0
    ratios = [2 / 2, 1 / 2, 0.0, 1 / 1, 2 / 1]
    assert found["factor"] == np.round(np.quantile(ratios, 0.95), 2)


def test_intervals_of_few_clusters_are_measured_as_written_down():
    row = atlas_agreement.held("ttcw", 0.25, 4)
    assert row["holds"] in (0, 25, 50, 75, 100)
    table = pd.read_csv(sets.FOLDER / "coverage.csv")
    measured = list(zip(table["set"], table["between clusters"], strict=True))
    designs = atlas_agreement.DESIGNS
    expected = [(name, share) for name in designs for share in atlas_agreement.BETWEEN]
    assert measured == expected
    assert (table["studies"] == atlas_agreement.N_SETS).all()
    answer, _ = notebook("agreement")
    for lowest in table.groupby("set")["holds"].min():
        assert re.search(rf"\b{lowest:.0f}\b", answer)


# ---------------------------------------------------- numbers in the notebooks' Answers

NOTEBOOKS = {
    "aspects": "61_aspects_elsewhere",
    "agreement": "62_agreement_elsewhere",
    "length": "63_length_elsewhere",
    "crowd": "64_crowds_elsewhere",
    "judges": "65_judges_elsewhere",
}
# an estimate with its interval, such as 0.51 standard deviations [0.40, 0.62]
INTERVAL = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)\]")


def notebook(question):
    """A committed notebook: its Answer, and all numbers that its cells print."""
    file = paths.ROOT / "notebooks" / f"{NOTEBOOKS[question]}.ipynb"
    cells = json.loads(file.read_text())["cells"]
    opening = "".join(cells[0]["source"])
    answer = opening.partition("**Answer.**")[2].partition("**Paper.**")[0]
    printed = json.dumps([cell.get("outputs", []) for cell in cells])
    return answer, np.array(re.findall(r"-?\d+\.\d+|-?\d+", printed), dtype=float)


def committed(question):
    """Rows of figures/atlas.csv on a question, by set; papers and sets."""
    table = elsewhere.read()
    table = table[table["question"] == question].set_index("set")
    ends = ["estimate", "low", "high"]
    return table.assign(**table[ends].astype(float))


def stands(number, known):
    """Whether one of the known numbers, rounded alike, is the number as written."""
    digits = len(number.partition(".")[2])
    return (np.abs(known - float(number)) <= 0.5000001 * 10**-digits).any()


@pytest.mark.parametrize("question", sets.QUESTIONS)
def test_the_intervals_of_an_answer_are_those_of_the_results(question):
    answer, printed = notebook(question)
    rows = committed(question)
    for low, high in INTERVAL.findall(answer):
        of_a_set = [
            stands(low, np.array([row.low])) and stands(high, np.array([row.high]))
            for row in rows.itertuples()
        ]
        # the mean over sets, another group of people, false alarms: printed below
        below = stands(low, printed) and stands(high, printed)
        assert any(of_a_set) or below, f"[{low}, {high}]"


@pytest.mark.parametrize(
    ("question", "named", "decimals"),
    [
        ("aspects", ["fed", "sf", "topical_chat", papers.KAMODA], 1),
        ("agreement", ["realsumm", "hanna", "ttcw"], 2),
        ("agreement", ["Hosking et al., factual errors"], 2),
        ("length", ["dialsummeval", "hanna", "openmeva", "simpeval"], 2),
        ("length", [papers.HOSKING, papers.KAMODA], 2),
        ("crowd", ["dices_350", "medical_safety", papers.HOSKING], 0),
    ],
)
def test_sets_that_an_answer_names_have_their_numbers_there(question, named, decimals):
    answer, _ = notebook(question)
    rows = committed(question)
    for name in named:
        row = rows.loc[name]
        # "89 % [83, 92]", "0.51 standard deviations [0.40, 0.62]"
        whole = with_interval(row["estimate"], row["low"], row["high"], decimals)
        number, _, ends = whole.partition(" ")
        ends = re.escape(ends)
        assert re.search(rf"(?<![\d.]){number}( [a-z% ]+)? {ends}", answer), whole


@pytest.mark.parametrize("question", sets.QUESTIONS)
def test_the_counts_and_the_word_of_an_answer_are_those_of_the_results(question):
    answer, _ = notebook(question)
    rows = committed(question)
    side = rows.loc[rows["kind"] == "set", "side"]
    n = {name: int((side == name).sum()) for name in elsewhere.SIDES}
    on, other, neither = [n[name] for name in elsewhere.SIDES]
    n_sets = len(side)
    said = {
        "aspects": [
            f"in {on} of {n_sets} other sets of ratings and less in {other}; "
            f"in {neither} it cannot",
        ],
        "agreement": [
            f"in {on} of {n_sets} other sets, and above it in {other}, which",
            f"in {neither} it cannot",
        ],
        "length": [
            f"in {on} of {n_sets} other sets and a lower one in {other}; "
            f"in {neither} it cannot",
        ],
        "crowd": [
            f"in {other} of {n_sets} other sets and less than half in {on}; "
            f"in {neither} that",
        ],
        "judges": [
            f"in {other} of {n_sets} other sets, each may in {on}, "
            f"and some may in {neither}",
            f"In {other} of {n_sets} other sets none",
        ],
    }
    for part in [*said[question], f"*{rows['word'].iloc[0]}*"]:
        assert part in answer, part


def test_what_the_page_says_the_words_hang_on_is_what_was_computed():
    page = (paths.ROOT / "docs" / "pages" / "elsewhere.md").read_text()
    rows = committed("agreement")
    rows = rows[rows["kind"] == "set"]
    assert (rows["high"] < 0.8).all()
    assert f"all {len(rows)} sets would lie below" in page
    assert (rows["side"] == elsewhere.SIDES[1]).sum() == 1
    said = dict.fromkeys(("agreement", "crowd", "judges"), "")
    for question in said:
        file = paths.ROOT / "notebooks" / f"{NOTEBOOKS[question]}.ipynb"
        said[question] = file.read_text()
    assert (
        "with a limit of 0.8 the same rules would give: holds widely"
        in (said["agreement"])
    )
    (strict,) = re.findall(r"at 3 or less of 5 the crowd marks (\d+ \[[\d, ]+\])", page)
    assert said["crowd"].count(strict.replace(" [", " % [")) == 1  # the Answer
    assert said["crowd"].count(f"{strict}") >= 1  # its table
    assert "in all 89 comparisons" in said["judges"]
    assert "in all 89 comparisons" in page


@pytest.mark.parametrize("question", sets.QUESTIONS)
def test_the_overview_says_the_words_of_the_results(question):
    file = paths.ROOT / "notebooks" / "00_overview.ipynb"
    opening = "".join(json.loads(file.read_text())["cells"][0]["source"])
    rows = committed(question)
    number = NOTEBOOKS[question][:2]
    told = re.search(rf"\*([\w ]+)\*([^)]*)\[{number}\]", opening)
    assert told[1] == rows["word"].iloc[0]
    side = rows.loc[rows["kind"] == "set", "side"]
    for on, n in re.findall(r"(\d+) of (\d+) sets", told[2]):
        assert (int(on), int(n)) == ((side == elsewhere.SIDES[0]).sum(), len(side))
