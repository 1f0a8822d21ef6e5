"""Kinds of files that people bring come out right, or are refused with what to do.

Each kind is made up here. Where the project's collection of such files lies beside the
clone, the files in it are read, too, with the numbers that are known of them.
"""

import numpy as np
import pandas as pd
import pytest
import rating_files

from helpers import paths
from helpers.data.tables import PlainError
from ratings import proposal, report, roles, table

CASES = paths.ROOT.parent / "shared" / "cases"


def accept(path):
    """What a user gets who accepts every proposal unseen."""
    cells = table.read(path)
    found = proposal.propose(cells, roles.Roles())
    unseen = roles.combine(found.roles, {"confirmed": "unseen"})
    return report.answers(roles.prepare(cells, unseen))


def first_row(found, name):
    for answer in found.answers:
        if name in answer.tables:
            return answer.tables[name].iloc[0]
    raise KeyError(name)


def case(name):
    if not (CASES / name).exists():
        pytest.skip("the collection of cases is not here")
    return CASES / name


def check_difference(found, size):
    row = first_row(found, "differences")
    assert abs(row["estimate"]) == pytest.approx(size, abs=0.005)
    assert row["low"] < row["estimate"] < row["high"]


def write(frame, folder, **options):
    path = folder / "mine.csv"
    frame.to_csv(path, index=False, **options)
    return path


@pytest.fixture
def frame():
    return rating_files.two_systems()


def plain(frame):
    """Mean of elm minus that of oak, by pandas."""
    means = frame.groupby("model")["overall"].mean()
    return means["elm"] - means["oak"]


def test_decimal_commas_and_a_mark_of_bytes(frame, tmp_path):
    frame["overall"] += 0.5
    path = write(frame, tmp_path, sep=";", decimal=",", encoding="utf-8-sig")
    check_difference(accept(path), plain(frame))
    if (CASES / "01_decimal_comma_bom.csv").exists():
        found = accept(case("01_decimal_comma_bom.csv"))
        check_difference(found, 0.71)
        assert 4 * first_row(found, "weights")["estimate"] == pytest.approx(
            3.02, abs=0.005
        )


def test_dates_of_excel(frame, tmp_path):
    months = {1: "5-Jan", 2: "5-Feb", 3: "5-Mar", 4: "5-Apr", 5: "5-May"}
    frame["overall"] = frame["overall"].map(months)
    with pytest.raises(PlainError, match="Excel makes 5-Mar of 3/5"):
        accept(write(frame, tmp_path))


def test_a_system_called_na_and_missing_ratings(frame, tmp_path):
    expected = plain(frame)
    frame = frame.replace({"model": {"oak": "NA"}}).astype({"clarity": object})
    frame.loc[frame.index % 7 == 0, "clarity"] = "N/A"
    found = accept(write(frame, tmp_path))
    check_difference(found, expected)
    n_missing = int((frame["clarity"] == "N/A").sum())
    assert f"clarity is missing in {n_missing} ratings." in found.decisions


def test_two_of_four_raters_reversed(tmp_path):
    found = accept(write(rating_files.reversed_raters(), tmp_path))
    assert found.is_stopped
    assert all(answer.why_not for answer in found.answers[1:])


def test_rows_exported_twice(frame, tmp_path):
    twice = pd.concat([frame, frame.iloc[::2]])
    found = accept(write(twice, tmp_path))
    check_difference(found, plain(frame))
    assert "Left out: 160 rows (copies of another row)." in found.decisions


def test_one_rater(frame, tmp_path):
    frame = frame[frame["rater"] == "ann"]
    found = accept(write(frame, tmp_path))
    assert found.answers[0].why_not == "there is one rater"
    check_difference(found, plain(frame))


def test_all_the_same(frame, tmp_path):
    found = accept(write(frame.assign(overall=4, clarity=4), tmp_path))
    assert not found.is_stopped
    assert "overall: alpha not defined." in found.answers[0].sentences
    assert found.answers[1].sentences == [
        "Mean overall: elm 4.00 (no interval); oak 4.00 (no interval)."
    ]
    assert "nan" not in report.as_text(found)
    assert "nan" not in report.as_page(found).split("</style>")[1]


def test_means_of_raters(frame, tmp_path):
    keys = ["prompt_id", "item_id", "model"]
    means = frame.groupby(keys, as_index=False)[["clarity", "overall"]].mean()
    path = tmp_path / "mine.json"
    means.to_json(path, orient="records")
    found = accept(path)
    check_difference(found, plain(frame))
    assert found.ratings.roles.scale["overall"] == [1.0, 5.0]


def test_a_nested_log_with_words(tmp_path):
    rating_files.eval_log(tmp_path / "log.json")
    found = accept(tmp_path / "log.json")
    assert found.ratings.roles.score == "scores.graded.value"
    assert first_row(found, "means")["estimate"] == pytest.approx(2 / 3)


def test_a_loop_of_1200_columns(tmp_path):
    rng = np.random.default_rng(0)
    loop = {"ResponseId": [f"R_{n}" for n in range(12)]}
    for item in range(1, 601):
        loop[f"{item}_Q1"] = rng.integers(1, 6, 12)
        loop[f"{item}_Q2"] = rng.integers(1, 6, 12)
    found = accept(write(pd.DataFrame(loop), tmp_path))
    assert found.description == "7,200 ratings, 600 items, 12 raters."


def test_a_judge_among_people(tmp_path):
    found = accept(write(rating_files.with_judge(), tmp_path))
    assert found.ratings.roles.judge == ["gpt-4o"]
    assert found.answers[-1].question == report.JUDGE
    check_difference(found, plain(rating_files.two_systems()))


def test_pairs_with_ties(tmp_path):
    frame = rating_files.comparisons()
    found = accept(write(frame, tmp_path)).answers[1].tables["preferences"]
    for system in ("oak", "elm", "fir"):
        is_in = (frame["left"] == system) | (frame["right"] == system)
        won = (frame["winner"] == system) + 0.5 * (frame["winner"] == "tie")
        rate = 100 * won[is_in].mean()
        assert found.loc[system, "win_rate"] == pytest.approx(rate)
    with pytest.raises(PlainError, match="write a row for each comparison"):
        accept(write(rating_files.sides(frame), tmp_path))


def test_ratings_in_a_cell(frame, tmp_path):
    items = frame.groupby(["item_id", "model"])["overall"]
    listed = items.agg(lambda each: ",".join(map(str, each))).rename("ratings")
    rows = pd.concat([listed, items.mean().rename("mean_rating")], axis=1).reset_index()
    rows["translated"] = rows.index % 2
    found = accept(write(rows, tmp_path))
    assert found.ratings.roles.score == "mean_rating"
    check_difference(found, plain(frame))


def test_nine_for_dont_know(frame, tmp_path):
    frame.loc[frame.index % 15 == 0, "clarity"] = 9
    found = accept(write(frame, tmp_path))
    assert found.ratings.roles.missing == ["9"]
    own = frame[frame["clarity"] != 9].rename(columns={"rater": "rater_id"})
    import helpers

    verbs = helpers.weights(own, ["clarity"], "overall", within=["rater_id", "model"])
    assert first_row(found, "weights")["estimate"] == pytest.approx(
        verbs["estimate"].iloc[0]
    )


def test_epochs(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        [f"q{q}", model, epoch, int(rng.random() < 0.3 + 0.01 * q)]
        for q in range(40)
        for model in ("oak", "elm")
        for epoch in range(5)
    ]
    frame = pd.DataFrame(rows, columns=["question_id", "model", "epoch", "correct"])
    found = accept(write(frame, tmp_path))
    assert found.ratings.roles.score == "correct"
    assert not found.ratings.roles.aspects
    means = frame.groupby("model")["correct"].mean()
    check_difference(found, abs(means["elm"] - means["oak"]))
    assert "prompts equal" in " ".join(found.answers[1].sentences)


def test_aspects_with_misleading_names(frame, tmp_path):
    names = {"clarity": "story_coherence", "item_id": "id"}
    frame = frame[frame["rater"] == "ann"].rename(columns=names)
    frame["context_relevance"] = 1 + frame.index % 5
    found = accept(
        write(
            frame[["id", "model", "context_relevance", "story_coherence", "overall"]],
            tmp_path,
        )
    )
    given = found.ratings.roles
    assert (given.item, given.system, given.score) == ("id", "model", "overall")
    assert given.aspects == ["context_relevance", "story_coherence"]


def test_scores_by_name(tmp_path):
    rows = []
    for trace in range(60):
        for name, value in (("thumbs", trace % 2), ("tone", 1 + trace % 5)):
            rows.append([f"t{trace}", name, value, f"u{trace % 4}", "2026-01-01T10:00"])
    names = ["traceId", "name", "value", "authorUserId", "timestamp"]
    found = accept(write(pd.DataFrame(rows, columns=names), tmp_path))
    assert found.description == "60 ratings, 60 items, 4 raters."
    assert {found.ratings.roles.score, *found.ratings.roles.aspects} == {
        "thumbs",
        "tone",
    }


KNOWN = {
    "04_na_system.csv": 0.71,
    "07_duplicates.csv": 0.71,
    "08_one_rater.csv": 0.78,
    "13_mean_ratings.json": 0.71,
    "16_judge_and_people.csv": 0.71,
    "18_ratings_in_a_string.csv": 0.71,
    "19_nine_dont_know.csv": 0.71,
    "23_epochs.csv": 0.05,
}
REFUSED = {
    "02b_excel_dates_us.csv": "Excel makes",
    "17b_pairs_as_docs_say.csv": "write a row for each comparison",
    "29_far_cell.xlsx": "16,384 columns",
}
SCORES = {
    "14_eval_log.json": ("scores.graded.value", []),
    "24_rag_aspect_names.csv": (
        "overall",
        ["context_relevance", "answer_relevance", "topic_coverage", "story_coherence"],
    ),
    "26_langfuse_like_scores.csv": ("user-feedback", ["helpfulness", "tone"]),
    "22_each_item_one_rater.csv": ("overall", ["tone"]),
    "15_loop_and_merge_1200_columns.csv": ("Q2", ["Q1"]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_collection_has_the_known_differences(name):
    found = accept(case(name))
    assert not found.is_stopped
    check_difference(found, KNOWN[name])


@pytest.mark.parametrize("name", REFUSED)
def test_the_collection_has_files_that_are_refused(name):
    with pytest.raises(PlainError, match=REFUSED[name]):
        accept(case(name))


@pytest.mark.parametrize("name", SCORES)
def test_the_collection_has_the_right_scores(name):
    found = accept(case(name)).ratings.roles
    assert (found.score, found.aspects) == SCORES[name]


def test_the_collection_has_reversed_raters_and_pairs():
    found = accept(case("05_two_raters_reversed.csv"))
    assert found.is_stopped
    table = found.answers[0].tables["agreement"]
    assert table.loc[("clarity", "alpha"), "estimate"] == pytest.approx(
        -0.15, abs=0.005
    )
    pairs = accept(case("17_pairs_with_ties.csv")).answers[1].tables["preferences"]
    rates = pairs.loc[["oak", "elm", "fir"], "win_rate"]
    assert rates.tolist() == pytest.approx([50.6, 49.5, 49.9], abs=0.05)
    same = accept(case("09_all_same.csv"))
    assert "alpha not defined" in same.answers[0].sentences[0]
