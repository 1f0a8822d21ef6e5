"""The notebook for ratings of one's own, in this process, on files of many kinds."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from example_study import ASPECTS, RATES, SEED, WEIGHTS, example_ratings

from helpers import paths, show
from helpers.data.tables import BadTableError, OptionError

NOTEBOOK = nbformat.read(paths.NOTEBOOKS / "53_your_ratings.ipynb", as_version=4)
EXAMPLE = paths.DATA / "example" / "ratings.csv"
THREE = ["factuality", "tone", "repetition"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Function that runs all cells on a table or a file and returns their variables.

    Figures are drawn, but neither laid out nor written: that takes most of the time.
    """
    saved = []
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))

    def save(fig, name, **words):
        saved.append((name, words["simulated"]))

    monkeypatch.setattr(show, "save", save)

    def run_on(ratings, **parameters):
        if isinstance(ratings, pd.DataFrame):
            ratings.to_csv(tmp_path / "mine.csv", index=False)
            ratings = tmp_path / "mine.csv"
        given = {"ratings": str(ratings), "aspects": THREE}
        variables = {}
        with mpl.rc_context():
            for cell in NOTEBOOK.cells:
                if cell.cell_type == "code":
                    exec(cell.source, variables)
                if "parameters" in cell.metadata.get("tags", []):
                    variables |= given | parameters
        is_simulated = variables["source"] == "simulated"
        assert saved[0] == ("53_ratings", is_simulated)
        assert {name for name, _ in saved[1:]} <= {"53_systems", "53_weights"}
        assert {simulated for _, simulated in saved} == {is_simulated}
        return variables

    return run_on


@pytest.fixture
def table():
    return example_ratings(np.random.default_rng(2), n_prompts=40).drop(
        columns="source"
    )


def directions(found):
    return {each.name: each.direction for each in found["verdicts"]}


def test_the_committed_example_is_what_the_simulator_draws():
    table = example_ratings(np.random.default_rng(SEED))
    written = table.to_csv(index=False, lineterminator="\n", float_format="%.0f")
    assert EXAMPLE.read_text(encoding="utf-8") == written
    assert table["rater_id"].str.startswith("simulated-rater-").all()
    assert set(table["source"]) == {"simulated"}
    assert table[ASPECTS].isna().sum().sum() == 9
    assert (
        table.duplicated().sum() == table.duplicated(["item_id", "rater_id"]).sum() == 1
    )
    assert (table.iloc[:-1].groupby("item_id").size() == 3).all()
    assert set(table[[*RATES]].stack().dropna()) == {0, 1}


def test_in_the_example_all_is_found_that_was_built_in_and_nothing_else(run):
    found = run(EXAMPLE, aspects=ASPECTS)
    assert found["source"] == "simulated"
    unclear = {"refusal": "not judged", "typos": "unclear", "tone": "unclear"}
    for aspect, direction in directions(found).items():
        built_in = "higher" if WEIGHTS[aspect] > 0 else "lower"
        assert direction == unclear.get(aspect, built_in)
    assert len(found["compared"].means) == 4
    assert not any(each.is_clear for each in found["compared"].pairs.values())
    # the answer tells this one as numbers
    (size,) = [each.size for each in found["verdicts"] if each.name == "factuality"]
    told = (
        f"{size.estimate:.2f} points higher (95 % CI {size.low:.2f} to {size.high:.2f})"
    )
    assert told in NOTEBOOK.cells[0].source
    # the last section tells the weights that were built in
    told = " ".join(cell.source for cell in NOTEBOOK.cells[-3:])
    for aspect, weight in WEIGHTS[WEIGHTS != 0].items():
        assert f"`{weight}` for {aspect}" in told
    for each in found["verdicts"]:
        if each.direction != "not judged":
            assert each.size.low < WEIGHTS[each.name] < each.size.high


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"aspects": []}, "aspects must be a list: names of columns"),
        ({"outcome": ""}, "outcome must be a name"),
    ],
)
def test_without_outcome_or_aspects_one_message_says_so(
    run, table, parameters, message
):
    with pytest.raises(OptionError, match=message):
        run(table, **parameters)


def test_a_file_of_ones_own_is_analysed_as_real_and_its_results_are_kept(
    tmp_path, run, table
):
    assert run(table)["source"] == "real"
    file = tmp_path / "run" / "tables" / "53_your_ratings.csv"
    assert [each for each in (tmp_path / "run").rglob("*") if each.is_file()] == [file]
    results = pd.read_csv(file, index_col="name")
    assert sorted(results.index) == sorted(THREE)
    assert results.loc["factuality", "direction"] == "higher"


def test_parts_that_the_file_does_not_allow_say_why(run, table):
    bare = table.drop(columns=["rater_id", "item_id", "prompt_id", "response_words"])
    found = run(
        bare.assign(overall=np.random.default_rng(0).uniform(0, 100, len(bare)))
    )
    assert found["reasons"][""].startswith("the recipe names no raters")
    assert found["compared"] is None
    assert list(found["verdicts"][0].specifications) == ["each aspect alone"]


def test_one_rater_two_aspects_and_fifty_rows_are_enough(run, table):
    one = table.drop_duplicates("item_id").iloc[:50].assign(rater_id="me")
    found = run(one, aspects=["factuality", "tone"], cluster="item_id")
    assert found["reasons"][""] == "all ratings are by one rater"
    assert "not judged" not in directions(found).values()


def test_more_aspects_than_clusters_end_in_words_not_in_an_error(run):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.integers(0, 2, (60, 20))).add_prefix("aspect_")
    names = list(wide)
    wide = wide.assign(overall=rng.integers(1, 6, 60), prompt_id=np.arange(60) % 6)
    found = run(wide, aspects=names)
    assert set(directions(found).values()) == {"not judged"}
    assert found["verdicts"][0].reason.startswith("more aspects than the ratings")


def test_a_recipe_says_how_a_file_is_read(tmp_path, run, table):
    recipe = tmp_path / "mine.yaml"
    recipe.write_text(
        "item: item_id\nrater: rater_id\ncluster: prompt_id\noutcome: overall\n"
        "aspects: [factuality, tone]\nscales: {overall: [1, 5]}\n"
    )
    found = run(table, recipe=str(recipe))
    assert found["study"].aspects == ["factuality", "tone"]
    assert found["study"].ends.loc["overall", "declared"]


def test_a_recipe_that_counts_errors_need_not_name_them(tmp_path, run):
    rng = np.random.default_rng(0)
    lines = ["doc,seg_id,system,rater,category,severity"]
    for segment in range(200):
        kinds = rng.choice(["Accuracy", "Fluency", "Style"], rng.integers(1, 4))
        for kind in kinds:
            severity = "Major" if rng.random() < 0.4 else "Minor"
            document = f"d{segment // 4}"
            rater = f"r{segment % 6}"
            lines.append(f"{document},{segment},s,{rater},{kind},{severity}")
    (tmp_path / "mqm.csv").write_text("\n".join(lines))
    found = run(tmp_path / "mqm.csv", recipe="src/ratings/shipped/mqm.yaml")
    assert found["study"].aspects == ["Accuracy", "Fluency", "Style"]
    (tmp_path / "none.yaml").write_text(
        "aspects: [Style]\nitem: seg_id\ncount: category\n"
    )
    with pytest.raises(OptionError, match="name an outcome, and aspects"):
        run(tmp_path / "mqm.csv", recipe=str(tmp_path / "none.yaml"))


def test_a_bad_file_leads_to_one_error_and_no_file(tmp_path, run, table):
    bad = table.assign(tone=table["tone"].astype(object))
    bad.loc[[3, 9], "tone"] = ["4,5", "good"]
    with pytest.raises(BadTableError) as caught:
        run(bad)
    assert str(caught.value).splitlines() == [
        "mine.csv: 2 problems. Correct the file and load it again.",
        "  column 'tone', comma instead of a decimal point "
        "(write 'decimal: \",\"' in the recipe): row 5 '4,5'",
        "  column 'tone', not a number (correct the cell, or list it in "
        "`missing` if there is no mark): row 11 'good'",
    ]
    assert not (tmp_path / "run").exists()
