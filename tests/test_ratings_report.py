"""The four questions: the verbs' numbers, stops, the page, and what errors say."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import rating_files
from click.testing import CliRunner

import helpers
from helpers import paths, raters
from ratings import cli, report, roles, table
from ratings.roles import Roles

RATED = Roles(
    item="item_id",
    prompt="prompt_id",
    rater="rater",
    system="model",
    score="overall",
    aspects=["clarity"],
    confirmed="yes",
)
OPTIONS = ["--item", "item_id", "--prompt", "prompt_id", "--rater", "rater"]
OPTIONS += ["--system", "model", "--score", "overall", "--aspects", "clarity"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, fails=False):
    """Run the command; give what it printed."""
    found = CliRunner().invoke(cli.main, list(arguments))
    error = found.exception
    assert error is None or isinstance(error, SystemExit), found.output
    assert (found.exit_code != 0) == fails, found.output
    return found.output


def answered(frame, given=RATED, name="mine.csv"):
    frame.to_csv(name, index=False)
    return report.answers(roles.prepare(table.read(name), given))


def tables(found):
    return {
        name: one for answer in found.answers for name, one in answer.tables.items()
    }


def same(ours, verbs):
    columns = ["estimate", "low", "high"]
    ours = pd.DataFrame(ours)[columns].sort_index()
    verbs = pd.DataFrame(verbs)[columns].sort_index()
    assert ours.index.tolist() == verbs.index.tolist()
    np.testing.assert_allclose(ours, verbs, rtol=1e-12, atol=0)


def as_verbs_take_it(frame):
    return frame.rename(columns={"rater": "rater_id", "model": "system"})


def test_the_command_and_the_verbs_give_the_same_numbers(folder):
    frame = rating_files.two_systems()
    found = tables(answered(frame))
    own = as_verbs_take_it(frame)
    own["rater_id"] = own["rater_id"].map(
        {label: f"rater {n}" for n, label in enumerate(rating_files.RATERS, 1)}
    )
    both = ["overall", "clarity"]
    agreement = helpers.agreement(
        own, both, coefficient=["alpha", "percent"], level="interval"
    )
    same(found["agreement"], agreement)
    same(found["means"], helpers.means(own, "overall", "system"))
    same(found["differences"], helpers.differences(own, "overall", "system"))
    within = ["rater_id", "system"]
    same(found["weights"], helpers.weights(own, ["clarity"], "overall", within=within))


def test_the_files_and_the_terminal_give_the_same_numbers_too(folder):
    frame = rating_files.two_systems()
    frame.to_csv("mine.csv", index=False)
    said = run("report", "mine.csv", *OPTIONS)
    written = pd.read_csv("mine.csv.report/differences.csv")
    own = as_verbs_take_it(frame)
    found = pd.DataFrame(helpers.differences(own, "overall", "system"))
    np.testing.assert_allclose(
        written[["estimate", "low", "high"]].abs().to_numpy().ravel(),
        found[["estimate", "low", "high"]].abs().to_numpy().ravel(),
    )
    size = abs(found["estimate"].iloc[0])
    assert f"elm is rated higher than oak, by {size:.2f} [" in said
    # each rater against the mean of the others, one by one
    gaps = []
    for name, part in own.groupby("rater_id"):
        rest = own[own["rater_id"] != name].groupby("item_id")["overall"].mean()
        gaps.append((part["overall"] - part["item_id"].map(rest)).mean())
    raters = pd.read_csv("mine.csv.report/raters.csv")
    np.testing.assert_allclose(sorted(raters["minus the others"]), sorted(gaps))
    # four raters say little about others, and more about themselves
    alone = pd.read_csv("mine.csv.report/differences_for_these_4_raters.csv")
    only = helpers.differences(own, "overall", "system", clusters=["prompt_id"])
    assert alone["low"].to_list() == pytest.approx(only["low"].to_list())
    assert report.ALONE in said


def test_each_question_is_answered_or_the_reason_is_said():
    frame = rating_files.comparisons()
    given = Roles(a="left", b="right", winner="winner", prompt="prompt", rater="worker")
    given = roles.combine(given, {"ties": ["tie"], "confirmed": "yes"})
    said = report.as_text(answered(frame, given))
    why = "Not answered: the file has comparisons of two, and no score of each."
    assert said.count(why) == 2
    given = Roles(score="overall", rater="rater", item="item_id", confirmed="yes")
    said = report.as_text(answered(rating_files.two_systems(), given))
    assert "Not answered: no other ratings are named (--aspects)." in said
    assert "Not answered: no rater is named as a judge (--judge)." in said


def test_pairs_give_the_numbers_of_the_verb(folder):
    frame = rating_files.comparisons()
    given = Roles(a="left", b="right", winner="winner", prompt="prompt", rater="worker")
    given = roles.combine(given, {"ties": ["tie"], "confirmed": "yes"})
    found = tables(answered(frame, given))
    own = frame.rename(columns={"prompt": "prompt_id", "worker": "rater_id"})
    same(found["preferences"], helpers.pairs(own, "left", "right", "winner"))
    every = helpers.pairs(own, "left", "right", "winner", every_pair=True)
    same(found["pairs of systems"], every)
    frame["n_left"] = np.arange(len(frame)) % 7 + 1
    frame["n_right"] = np.arange(len(frame)) % 5 + 1
    given = roles.combine(given, {"text": ["n_left", "n_right"]})
    found = answered(frame, given)
    assert "longer" in tables(found)["preferences"].index
    # without prompts each comparison is one of its own
    given = roles.combine(Roles(), {**given.given(), "ties": ["tie"]})
    given = replace(given, prompt="", rater="", text=[])
    alone = tables(answered(frame, given))["preferences"]
    own = frame.assign(prompt_id=frame.index)
    same(alone, helpers.pairs(own, "left", "right", "winner", clusters=["prompt_id"]))


def test_a_judge_is_never_pooled_and_has_the_numbers_of_the_verb(folder):
    frame = rating_files.with_judge()
    alone = tables(answered(frame[frame["rater"] != "gpt-4o"]))
    found = answered(frame, roles.combine(RATED, {"judge": ["gpt-4o"]}))
    beside = tables(found)
    for name in ("agreement", "means", "differences", "weights"):
        same(alone[name], beside[name])
    own = as_verbs_take_it(frame)
    same(
        beside["judge gpt-4o"].droplevel("measure"),
        helpers.judge(own, "overall", "gpt-4o", system="system").droplevel("measure"),
    )
    assert "beside them 80 by the judge gpt-4o" in found.description
    assert found.answers[-1].question == report.JUDGE


def test_length_is_held_equal_where_it_is_known(folder):
    frame = rating_files.two_systems()
    frame["words"] = 10 + frame.index % 13
    found = tables(answered(frame, roles.combine(RATED, {"text": ["words"]})))
    own = as_verbs_take_it(frame).rename(columns={"words": "length"})
    equal = helpers.differences(own, "overall", "system", given=["length"])
    same(found["differences at equal length"], equal)


@pytest.mark.parametrize("change", ["reversed", "other scale", "shifted"])
def test_raters_who_contradict_each_other_stop_every_further_conclusion(folder, change):
    frame = rating_files.two_systems()
    is_ann = frame["rater"] == "ann"
    given = roles.combine(RATED, {"scale": {"overall": [1.0, 5.0]}})
    if change == "reversed":
        frame = rating_files.reversed_raters()
    elif change == "other scale":
        frame.loc[is_ann, "overall"] *= 20
    else:
        frame.loc[is_ann, "overall"] = (frame.loc[is_ann, "overall"] - 2).clip(1)
        frame.loc[~is_ann, "overall"] = (frame.loc[~is_ann, "overall"] + 1).clip(1, 5)
    found = answered(frame, given)
    assert found.is_stopped
    *further, of_judge = found.answers[1:]
    for answer in further:
        assert "contradict" in answer.why_not
        assert not answer.tables
    assert of_judge.why_not == "no rater is named as a judge (--judge)"
    own = as_verbs_take_it(frame)
    rated = ["overall", "clarity"]
    scales = {"overall": (1, 5)}
    kinds = set()
    for name in rated:
        one = raters.concerns(own, name, prompt="prompt_id", scale=scales.get(name))
        kinds |= set(one["concern"])
    assert change in kinds
    assert set(tables(found)["concerns"]["concern"]) == kinds
    # the owner decides, and every output says so
    accepted = answered(frame, roles.combine(given, {"accept": sorted(kinds)}))
    assert not accepted.is_stopped
    assert not accepted.answers[1].why_not
    assert any("Accepted by the owner" in line for line in accepted.decisions)
    kept = roles.combine(given, {"leave_out": ["ann"] if change != "reversed" else []})
    if change != "reversed":
        assert not answered(frame, kept).is_stopped


@pytest.mark.parametrize(
    ("change", "question", "says"),
    [
        ({"rater": "ann"}, report.PEOPLE, "there is one rater"),
        ({"overall": 4, "clarity": 4}, report.HIGHER, "every overall is 4"),
        ({"overall": 4, "clarity": 4}, report.PREDICTS, "every overall is 4"),
        ({"model": "oak"}, report.HIGHER, "there is one system"),
    ],
)
def test_what_a_file_cannot_answer_is_said(folder, change, question, says):
    frame = rating_files.two_systems().assign(**change)
    if "rater" in change:
        frame = frame.drop_duplicates("item_id")
    found = {each.question: each for each in answered(frame).answers}
    assert says in found[question].why_not


def test_each_item_by_one_rater_leaves_agreement_open(folder):
    frame = rating_files.two_systems()
    number = frame["prompt_id"].str[1:].astype(int)
    own = frame["rater"].map({label: n for n, label in enumerate(rating_files.RATERS)})
    found = answered(frame[number % 4 == own])
    assert found.answers[0].why_not == "each item was rated by one person"
    assert not found.answers[1].why_not
    without = answered(frame, roles.combine(RATED, {}).__class__(score="overall"))
    assert without.answers[0].why_not == "the file does not say who rated"
    assert without.answers[1].question == report.HIGH
    assert any("raters are not known" in line for line in without.not_said)


def test_systems_that_raters_do_not_link_are_compared_without_holding_raters(folder):
    frame = rating_files.two_systems()
    own = {"oak": ["ann", "ben"], "elm": ["cat", "dan"]}
    links = [
        rater in own[model]
        for rater, model in zip(frame["rater"], frame["model"], strict=True)
    ]
    found = answered(frame[links])
    assert any("Raters cannot be held equal" in s for s in found.answers[1].sentences)


def test_the_page_names_no_people_and_is_readable_on_a_phone(folder):
    frame = rating_files.two_systems()
    frame["rater"] = frame["rater"] + "@example.org"
    frame.to_csv("mine.csv", index=False)
    said = run("report", "mine.csv", *OPTIONS, "--leave-out", "dan@example.org")
    for file in (folder / "mine.csv.report").iterdir():
        assert "example.org" not in file.read_text()
    assert "example.org" not in said
    key = pd.read_csv("mine.csv.report-who-is-who.csv")
    assert key["label"].tolist() == [
        f"{each}@example.org" for each in ("ann", "ben", "cat")
    ]
    page = (folder / "mine.csv.report" / "report.html").read_text()
    assert page.count("<h2>What this does not say</h2>") == 1
    assert 'name="viewport"' in page
    assert "http" not in re.sub("http-equiv", "", page)
    assert page.count("<img ") == page.count('alt="')
    assert "Left out: 80 rows (raters left out by the owner)" in said
    assert "SIMULATED" not in page


def test_pictures_are_as_wide_as_a_phone(folder, monkeypatch):
    found = answered(rating_files.two_systems())
    sizes = []
    real = helpers.verbs  # loads matplotlib's style before it is watched
    assert real
    from helpers import show

    monkeypatch.setattr(
        show, "as_png", lambda fig, source: sizes.append(fig.get_figwidth()) or b""
    )
    report.as_page(found)
    assert len(sizes) == 3
    assert set(sizes) == {report.FIGURE_WIDTH}


def test_simulated_ratings_are_marked_everywhere(folder):
    frame = rating_files.two_systems().assign(source="simulated")
    frame.to_csv("mine.csv", index=False)
    assert "SIMULATED DATA" in run("report", "mine.csv", *OPTIONS)
    assert "SIMULATED DATA" in (folder / "mine.csv.report/report.html").read_text()


def test_no_role_counts_until_it_is_confirmed(folder):
    rating_files.two_systems().to_csv("mine.csv", index=False)
    said = run("report", "mine.csv", fails=True)
    assert "nobody has said what the columns are" in said
    said = run("check", "mine.csv")
    assert "Nothing is confirmed" in said
    assert "usually rated by 4 of rater" in said
    said = run("report", "mine.csv", fails=True)
    assert "are not confirmed" in said
    assert not (folder / "mine.csv.report").exists()
    # options count, and nothing of what is not confirmed
    said = run("report", "mine.csv", "--score", "clarity", "--item", "item_id")
    assert "Roles: item = item_id; score = clarity.\n" in said
    assert "in mine.csv.toml" in run("report", "mine.csv", "--yes")
    path = folder / "mine.csv.toml"
    path.write_text(path.read_text() + "\n")
    text = path.read_text().replace("score = ", 'confirmed = "yes"\nscore = ')
    path.write_text(text)
    said = run("report", "mine.csv")
    assert "1. Do people agree?" in said
    assert "unseen" not in said
    page = (folder / "mine.csv.report/report.html").read_text()
    assert "unseen" not in page


def test_roles_accepted_unseen_are_called_so_on_every_output(folder):
    rating_files.two_systems().to_csv("mine.csv", index=False)
    run("check", "mine.csv", "--yes")
    assert 'confirmed = "unseen"' in (folder / "mine.csv.toml").read_text()
    assert "accepted unseen" in run("report", "mine.csv")
    assert "unseen" in (folder / "mine.csv.report/report.html").read_text()
    (folder / "mine.csv.toml").unlink()
    assert "accepted unseen" in run("report", "mine.csv", "--yes")


def test_check_asks_and_takes_corrections(folder, monkeypatch):
    rating_files.two_systems().to_csv("mine.csv", index=False)
    answers = iter(["score=clarity", "rater=nobody", "nonsense", "aspects=", "yes"])
    monkeypatch.setattr(
        cli.sys, "stdin", type("Terminal", (), {"isatty": lambda self: True})()
    )
    monkeypatch.setattr(cli.click, "prompt", lambda *_: next(answers))
    outputs = []
    monkeypatch.setattr(cli.click, "echo", lambda text, **_: outputs.append(str(text)))
    cli.check.callback("mine.csv", None, False)
    found = roles.read_toml(folder / "mine.csv.toml")
    assert (found.score, found.aspects, found.confirmed) == ("clarity", [], "yes")
    said = "\n".join(outputs)
    assert said.count("This cannot be:") == 2
    assert "'nobody'" in said


def test_options_come_before_the_file_of_roles(folder):
    rating_files.two_systems().to_csv("mine.csv", index=False)
    run("check", "mine.csv", "--yes")
    said = run("report", "mine.csv", "--score", "clarity", "--aspects", "overall")
    assert "Mean clarity" in said
    (folder / "roles.toml").write_text('score = "overall"\nconfirmed = "yes"\n')
    said = run("report", "mine.csv", "--roles", "roles.toml")
    assert "How high is the score?" in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--words", "yes"], "--words 'yes' cannot be read: write as yes=1,no=0"),
        (["--scale", "overall=1"], "write as overall=1:5"),
        (["--score", "nothing"], "column 'nothing' is missing"),
        (["--roles", "no.toml"], "nobody has said"),
        (
            ["--score", "overall", "--accept", "revers"],
            "--accept 'revers' is unknown: choose among",
        ),
        (["--no-such"], "No such option"),
    ],
)
def test_mistakes_on_the_command_line_are_one_message(folder, options, says):
    rating_files.two_systems(3).to_csv("mine.csv", index=False)
    said = run("report", "mine.csv", *options, fails=True)
    assert says in said
    assert "Traceback" not in said
    assert "there is no such file" in run("report", "other.csv", fails=True)


def test_nothing_half_written_is_left(folder, monkeypatch):
    rating_files.two_systems().to_csv("mine.csv", index=False)
    run("report", "mine.csv", *OPTIONS)
    before = (folder / "mine.csv.report/report.html").read_text()

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "as_page", fail)
    said = run("report", "mine.csv", *OPTIONS, fails=True)
    assert "nothing half-written is left" in said
    assert (folder / "mine.csv.report/report.html").read_text() == before
    names = {file.name for file in folder.iterdir()}
    key = "mine.csv.report-who-is-who.csv"
    assert names == {"mine.csv", "mine.csv.report", key}


def test_a_folder_with_something_else_is_not_replaced(folder):
    rating_files.two_systems().to_csv("mine.csv", index=False)
    (folder / "mine").mkdir()
    (folder / "mine/thesis.txt").write_text("x")
    said = run("report", "mine.csv", *OPTIONS, "--out", "mine", fails=True)
    assert "holds no report" in said
    run("report", "mine.csv", *OPTIONS, "--out", "page")
    run("report", "mine.csv", *OPTIONS, "--out", "page")
    assert (folder / "page/report.html").is_file()


def test_the_example_is_answered(folder):
    said = run("report", str(paths.DATA / "example/ratings.csv"), "--yes", "--out", "r")
    assert "SIMULATED DATA" in said
    assert "copies of another row" in said
