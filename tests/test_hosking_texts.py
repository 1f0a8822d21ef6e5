import pandas as pd
import pytest

from helpers.studies import hosking, hosking_submissions
from helpers.studies.hosking import Fingerprint, fingerprint

PREAMBLES = {"complex_low": "Be brief!", "complex_high": "Be thorough."}


@pytest.fixture
def printed(monkeypatch):
    """Let the paper print two preambles and an extract."""
    marks = {arm: fingerprint(text) for arm, text in PREAMBLES.items()}
    monkeypatch.setattr(hosking, "PREAMBLES", marks)
    extract = {("MPT 30B", "baseline"): fingerprint("Well, it is so")}
    monkeypatch.setattr(hosking, "EXTRACTS", extract)


def ratings(**columns):
    """Return three ratings of experiment 2 with texts."""
    frame = {
        "system": "MPT 30B",
        "arm": ["baseline", "complex_low", "complex_high"],
        "preamble": ["", *PREAMBLES.values()],
        "prompt": "Why?",
        "response": ["Well - it is so.\nAnd that is all.", "So.", "It is so."],
    }
    return pd.DataFrame(frame | columns)


@pytest.mark.parametrize("text", ["Yes, we can!", "yes WE can", "«Yes», we\n can…", "_yes we_can"])
def test_case_spaces_and_punctuation_do_not_count(text):
    assert fingerprint(text) == fingerprint("Yes we can")


def test_a_fingerprint_holds_letters_and_digits_only():
    assert fingerprint("1 + 1 = 2!").length == 3
    assert fingerprint("abc") == Fingerprint(3, "ba7816bf8f01cfea")


def test_a_single_letter_makes_a_difference():
    assert fingerprint("unfamiliar") != fingerprint("unfamilar")


@pytest.mark.usefixtures("printed")
def test_preambles_are_compared_letter_by_letter():
    assert hosking.compare_preambles(ratings())["same"].all()
    other = ratings(preamble=["", "Be brief", "Be thorogh."])
    table = hosking.compare_preambles(other)
    assert table["same"].to_dict() == {"complex_low": True, "complex_high": False}
    assert table.loc["complex_high"].tolist() == [9, 10, False]


def test_an_empty_preamble_is_in_no_prompt():
    shown = ratings(prompt=["Why?", "Be brief! Why?", "Why?"])
    assert hosking.preamble_in_prompt(shown).tolist() == [False, True, False]


@pytest.mark.usefixtures("printed")
def test_extracts_are_sought_among_outputs_of_their_system_and_arm():
    assert hosking.find_extracts(ratings()).to_dict() == {("MPT 30B", "baseline"): 1}
    elsewhere = ratings(arm=["complex_low", "baseline", "complex_high"])
    assert hosking.find_extracts(elsewhere).sum() == 0


def test_a_text_repeated_in_many_ratings_is_found_once(printed):
    twice = pd.concat([ratings(), ratings()])
    assert hosking.find_extracts(twice).sum() == 1


@pytest.mark.parametrize(
    ("task", "prompt", "follows"),
    [
        ("wikihow", "Can you tell me how to whistle?", True),
        ("wikihow", "Tell me how to whistle?", False),
        ("wikihow", "Can you tell me how to whistle", False),
        ("curation", "An article\nof two lines.\n\nGenerate a summary:\n", True),
        ("curation", "An article\nof two lines.\n\nGenerate a summary:", True),
        ("curation", "An article. Generate a summary:", False),
    ],
)
def test_templates_allow_any_title_or_article_and_nothing_else(task, prompt, follows):
    assert hosking.follows_template(pd.Series([prompt]), task).tolist() == [follows]


def test_first_lines_are_counted_if_shared_and_no_headings():
    prompts = ["Sell it.\r\nA lamp", "Sell it.\nA cup", "Name:\nA cup", "Name:\nA pen", "A pen.\n"]
    assert hosking.shared_first_lines(pd.Series(prompts)).to_dict() == {"Sell it.": 2}


@pytest.fixture(scope="module")
def submitted(real_data):
    return hosking_submissions.load_submissions(2, "errors", real_data, texts=True).ratings


def test_one_preamble_is_a_letter_short_of_the_printed_one(submitted):
    table = hosking.compare_preambles(submitted)
    missing = table["printed_letters"] - table["letters"]
    assert missing.to_dict() == {
        "assertive_low": 1,
        "assertive_high": 0,
        "complex_low": 0,
        "complex_high": 0,
    }
    assert table["same"].tolist() == missing.eq(0).tolist()


def test_raters_saw_no_preamble_and_one_of_six_extracts_is_released(submitted):
    assert not hosking.preamble_in_prompt(submitted).any()
    found = hosking.find_extracts(submitted)
    assert found[found > 0].to_dict() == {("Llama 2 13B", "baseline"): 1}
