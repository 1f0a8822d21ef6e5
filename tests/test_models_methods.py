"""The papers' methods against a model that replies as a test tells it."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from fake_endpoint import chat, last_text, serving

from helpers import paths
from helpers.data.tables import BadTableError, OptionError
from helpers.models import Likelihood, Model, benchmark, judge, scores, users, words
from helpers.studies import kamoda, word_tests

QUESTION = {
    "question_id": "q1",
    "question": "How many bado?",
    **{"option_A": "one", "option_B": "two", "option_C": "three", "option_D": "four"},
    "answer": "B",
}
QUESTIONS = pd.DataFrame([QUESTION, QUESTION | {"question_id": "q2", "answer": "C"}])
WORDS = pd.DataFrame(
    [[0, "cat", "tax", "dog", "oar"], [1, "ice", "ice cream", "law", "tip"]],
    columns=["question", *words.SHOWN],
)


class Scripted(Model):
    """A model whose replies and likelihoods are functions of what it is asked."""

    def __init__(self, reply=None, likelihood=None):
        super().__init__("scripted", "http://localhost:1", n_at_once=1)
        object.__setattr__(self, "reply", reply)
        object.__setattr__(self, "likelihood", likelihood)
        object.__setattr__(self, "asked", [])

    def chat(self, messages, temperature=0.0, max_tokens=500, seed=0):
        """Note what is asked, and reply."""
        self.asked.append((list(messages), temperature, seed))
        return self.reply(messages)

    def log_likelihood(self, prompt, text):
        """Note what is asked, and give a likelihood."""
        self.asked.append((prompt, text))
        return Likelihood(2, self.likelihood(prompt, text))


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("2", 2),
        (" **3**\n", 3),
        ("1/3", 1),
        ("2.5 points", 2.5),
        ("Rating: 2 (0 is bad)", 2),
        ("From 0 to 3, my score is 1.", 1),
        ("I would say 2.", 2),
        ("either 1 or 2", np.nan),
        ("good", np.nan),
        ("", np.nan),
        ("4", np.nan),
        ("-1", np.nan),
    ],
)
def test_ratings_are_read_where_they_are_clear(reply, rating):
    np.testing.assert_equal(judge.read_rating(reply, 0, 3), rating)


@pytest.mark.parametrize("reply", ["-1", "Rating: -1", "\u22121", "**-1**", "score -1"])
def test_negative_ratings_keep_their_sign(reply):
    assert judge.read_rating(reply, -1, 1) == -1


def test_a_judge_rates_each_answer_on_each_scale():
    table = pd.DataFrame(
        {"id": [7, 3], "q": ["why?", "how?"], "a": ["{so}", "thus"], "else": 0}
    )
    replies = {"acceptable": "2", "true": "3", "amount": "no", "grammar": "-1"}

    def reply(body):
        text = last_text(body)
        assert text.endswith("Rating:")
        (rating,) = (replies[word] for word in replies if word in text.splitlines()[0])
        return chat(rating)

    with serving(reply) as server:
        model = Model("one", server.url)
        rated = judge.rate(table, model, item="id", question="q", answer="a")
    asked = "".join(last_text(body) for body in server.asked)
    assert asked.count("Question: why?\nAnswer: {so}") == 4
    assert rated["id"].tolist() == [7, 3]
    assert rated["model"].tolist() == ["one"] * 2
    assert (
        rated[["acceptability", "factuality", "formality"]].to_numpy().tolist()
        == [[2, 3, -1]] * 2
    )
    assert rated["amount_info"].isna().all()
    with pytest.raises(BadTableError, match="'text' is missing"):
        judge.rate(table, model, item="id", question="q")
    with pytest.raises(BadTableError, match="column 'a', row 2: text is needed, found"):
        judge.rate(table.replace("thus", None), model, "id", "q", "a")


def test_weights_are_those_of_people_by_least_squares():
    study = kamoda.load("simulated")
    gpt4 = study.evaluators.query("evaluator == 'gpt4'").set_index("item_id")
    weighed = judge.weigh(gpt4, study.ratings)

    def distances(table):
        wrong = (3 - table["factuality"]) / 3
        return np.column_stack([wrong, table[["amount_info", "formality"]].abs()])

    lost = 3 - study.ratings["acceptability"]
    weights, *_ = np.linalg.lstsq(distances(study.ratings), lost, rcond=None)
    np.testing.assert_allclose(weighed["weighted"], 3 - distances(gpt4) @ weights)
    equal = 3 - distances(gpt4).sum(axis=1) * weights.mean()
    np.testing.assert_allclose(weighed["equal"], equal)


def test_perplexity_is_that_of_the_answer_after_its_question():
    table = pd.DataFrame({"item_id": ["a"], "question": ["why?"], "text": ["so"]})
    model = Scripted(likelihood=lambda prompt, text: -2.0 * len(prompt or "x"))
    alone = judge.perplexity(table, model)
    after = judge.perplexity(table, model, question="question")
    assert model.asked == [("", "so"), ("why?\n\n", "so")]
    assert alone["perplexity"].iloc[0] == pytest.approx(np.exp(1))
    assert after["perplexity"].iloc[0] == pytest.approx(np.exp(6))


def test_words_and_pairs_are_numbered_as_in_the_studies():
    assert words.SHOWN == word_tests.SHOWN
    assert words.PAIRS == word_tests.PAIRS


@pytest.mark.parametrize("wording", words.WORDINGS)
def test_the_likeliest_pair_is_chosen_in_every_wording(wording):
    wanted = '"cat" and "dog"'
    model = Scripted(likelihood=lambda prompt, text: float(wanted in text))
    chosen = words.answer(WORDS[:1], model, (wording,))
    assert chosen["chosen"].tolist() == [1]
    assert chosen[["wording", "way", "model"]].to_numpy().tolist() == [
        [wording, "likelihood", "scripted"]
    ]
    prompts = {prompt for prompt, _ in model.asked}
    assert len(model.asked) == 6
    assert len(prompts) == 1
    assert all(
        f'"{word}"' in prompts.copy().pop() for word in WORDS.loc[0, words.SHOWN]
    )


def test_the_likeliest_word_of_a_meaning_is_chosen():
    asked = WORDS.assign(meaning="a {brace}")
    model = Scripted(likelihood=lambda prompt, text: float('"oar"' in text))
    chosen = words.answer(asked[:1], model, ("comp",))
    assert chosen["chosen"].tolist() == [3]
    assert model.asked[0] == (
        'Among the words "cat", "tax", "dog", and "oar", the word that most means '
        '"a {brace}" is',
        ' "cat"',
    )


def test_replies_are_read_by_the_first_words_that_they_name():
    replies = iter(["DOG goes with tax, not cat", "ice cream and ice"])
    model = Scripted(reply=lambda messages: next(replies))
    chosen = words.answer(WORDS, model, ("qa",), way="reply")
    assert chosen["chosen"].tolist() == [3, 0]
    pairs = words.options("word_classes", WORDS.loc[0].to_dict())
    assert words.read_choice("the cat's category", pairs) is None
    assert words.read_choice("", pairs) is None
    replies = iter(["none of them", "ice"])
    missing = words.answer(WORDS, model, ("qa",), way="reply")
    assert missing["chosen"].isna().all()


def test_unknown_wordings_and_ways_are_refused():
    with pytest.raises(OptionError, match=r"\['odd'\].*choose from"):
        words.answer(WORDS, Scripted(), ("odd",))
    with pytest.raises(OptionError, match="way 'loud'"):
        words.answer(WORDS, Scripted(), way="loud")


def test_sensitivity_to_wordings_is_that_of_the_formulas():
    right = {"slp": [1, 1, 1, 0, 0, 0, 1, 1], "qa": [1, 0, 1, 0, 0, 0, 0, 1]}
    answered = pd.DataFrame(
        [
            {"question": question, "wording": wording, "chosen": value}
            for wording, values in right.items()
            for question, value in enumerate(values)
        ]
    ).astype({"chosen": "Int64"})
    answered.loc[3, "chosen"] = pd.NA
    found = words.sensitivity(answered, pd.Series(1, index=range(8)))
    assert found["n_questions"] == 8
    assert (found["lowest"], found["highest"]) == (37.5, 62.5)
    assert found["deviation"] == pytest.approx(np.std([37.5, 62.5], ddof=1))
    # chi-square of the table (5, 3; 3, 5) with Yates' correction: 0.25
    assert found["p_chi_square"] == pytest.approx(0.6170751)
    # Cochran's Q of two wordings is McNemar's (2 - 0)^2 / 2
    assert found["p_cochran"] == pytest.approx(0.1572992)
    same = words.sensitivity(answered.assign(chosen=1), pd.Series(1, index=range(8)))
    assert same[["p_chi_square", "p_cochran"]].isna().all()


def test_our_questions_are_whole():
    questions = benchmark.read_questions("data/example/questions.csv")
    examples = benchmark.read_questions("data/example/question_examples.csv")
    assert questions["answer"].value_counts().tolist() == [10] * 4
    assert not set(questions["question"]) & set(examples["question"])
    options = pd.concat([questions, examples])[list(benchmark.OPTIONS)]
    assert (options.nunique(axis=1) == 4).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "E"}, "row 1: 'E' is not in the letters A to D"),
        ({"question_id": "q2"}, "'q2' is there twice"),
        ({"option_C": None}, "column 'option_C' is missing"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(tmp_path, change, message):
    file = tmp_path / "questions.csv"
    table = QUESTIONS.copy()
    ((column, value),) = change.items()
    if value is None:
        table = table.drop(columns=column)
    else:
        table.loc[0, column] = value
    table.to_csv(file, index=False)
    with pytest.raises(BadTableError, match=message):
        benchmark.read_questions(file)


def test_letters_count_if_they_begin_the_reply():
    replies = iter(["B) two", "the answer is C"])
    model = Scripted(reply=lambda messages: next(replies))
    answered = benchmark.ask(QUESTIONS, model)
    assert answered["letter"].tolist()[0] == "B"
    assert pd.isna(answered["letter"].iloc[1])
    assert answered["correct"].tolist() == [True, False]
    messages, temperature, _ = model.asked[0]
    assert messages[0]["content"] == "You are a helpful AI assistant."
    assert messages[1]["content"].endswith(
        "Question: How many bado?\nA. one\nB. two\nC. three\nD. four\nAnswer:"
    )
    assert temperature == 0.7


def test_few_shot_shows_examples_that_are_not_asked():
    model = Scripted(reply=lambda messages: "C")
    example = QUESTIONS[:1].assign(question="How many gamo?")
    method = "letter few-shot"
    answered = benchmark.ask(QUESTIONS, model, method, example, "bados", repeats=2)
    assert answered["correct"].tolist() == [False, False, True, True]
    assert [seed for _, _, seed in model.asked] == [0, 1, 0, 1]
    request = model.asked[0][0][1]["content"]
    assert "multiple-choice questions about bados" in request
    assert "D. four\nAnswer: B\n\nQuestion: How many bado?" in request
    with pytest.raises(OptionError, match="also a question"):
        benchmark.ask(QUESTIONS, model, method, QUESTIONS)
    with pytest.raises(OptionError, match="needs `examples`"):
        benchmark.ask(QUESTIONS, model, method)
    with pytest.raises(OptionError, match="method 'loud' is unknown"):
        benchmark.ask(QUESTIONS, model, "loud")


def test_free_text_is_read_by_a_second_model():
    model = Scripted(reply=lambda messages: "I think it is two.")
    found = {"attempted_answer": True, "answer_val": "two", "answer_letter": "B"}
    replies = iter([f"Sure: {json.dumps(found)}", "it is B"])
    extractor = Scripted(reply=lambda messages: next(replies))
    answered = benchmark.ask(QUESTIONS, model, "free text", extractor=extractor)
    asked = [messages[-1]["content"] for messages, _, _ in model.asked]
    assert asked == [benchmark.as_text(QUESTION)] * 2
    assert "I think it is two." in extractor.asked[0][0][-1]["content"]
    assert extractor.asked[0][1] == 0
    assert answered["letter"].iloc[0] == "B"
    assert answered["correct"].iloc[0]
    assert pd.isna(answered["correct"].iloc[1])  # nobody knows what the model answered


@pytest.mark.parametrize(
    ("reply", "letter", "readable"),
    [
        ('{"attempted_answer": true, "answer_val": "5"}', None, True),
        ('{"attempted_answer": true, "answer_letter": "E"}', None, True),
        ('[{"answer_letter": "D"}]', "D", True),
        ("[1]", None, False),
        ("{not: json}", None, False),
    ],
)
def test_extracted_answers_that_are_no_option_are_none(reply, letter, readable):
    assert benchmark.read_extracted(reply) == (letter, readable)


def talk(user_texts, **options):
    """Hold a conversation with a user that says these texts."""
    texts = iter(user_texts)
    user = Scripted(reply=lambda messages: next(texts))
    ai = Scripted(reply=lambda messages: f"reply {len(messages)}")
    return (*users.converse(QUESTION, user, ai, **options), user, ai)


def test_two_step_asks_before_it_answers_and_its_texts_are_cleaned():
    texts = ["Answer: A", '"YOU: is it two?"', "Answer: B, as you say"]
    conversation, letter, user, ai = talk(texts, seed=5)
    assert [message["content"] for message in conversation] == [
        *("Answer: A", "reply 2"),  # the first text is a prompt, whatever it says
        *("is it two?", "reply 4"),
    ]
    assert letter == "B"
    system = {"role": "system", "content": "You are a helpful AI assistant."}
    assert ai.asked == [
        ([system, conversation[0]], 0.7, 6),
        ([system, *conversation[:3]], 0.7, 8),
    ]
    assert [(temperature, seed) for _, temperature, seed in user.asked] == [
        *((1.0, 5), (1.0, 7), (1.0, 9))
    ]
    request = user.asked[2][0][1]["content"]
    assert "YOU: is it two?\n\nSYSTEM: reply 4" in request
    assert 'Answer: A, B, C, or D"' in request


@pytest.mark.parametrize("simulator", users.SIMULATORS)
def test_after_the_last_turn_the_user_must_answer(simulator):
    conversation, letter, user, ai = talk(
        ["one?", "two?", "I do not know"], simulator=simulator, max_turns=2
    )
    assert (len(conversation), letter, len(ai.asked)) == (4, None, 2)
    asked = [messages[-1]["content"] for messages, _, _ in user.asked]
    forced = {"two_step": "on the basis of this", "iqa_eval": "right answer now"}
    assert [forced[simulator] in text for text in asked] == [False, False, True]


def test_iqa_eval_may_answer_at_once_and_anywhere_in_its_text():
    conversation, letter, user, _ = talk(
        ["I know. So, the answer is: D."], simulator="iqa_eval"
    )
    assert (conversation, letter) == ([], "D")
    ((messages, _, _),) = user.asked
    assert [message["role"] for message in messages] == ["system"]
    conversation, letter, user, _ = talk(
        ["is it two?", "So, the answer is: two"], simulator="iqa_eval"
    )
    assert (len(conversation), letter) == (2, None)  # no option ends it, too
    assert "YOU: is it two?\n\nASSISTANT: reply 2" in user.asked[1][0][0]["content"]


def test_many_conversations_differ_in_their_random_numbers():
    user = Scripted(reply=lambda messages: "Answer: B")
    ai = Scripted(reply=lambda messages: "hm")
    talks = users.simulate(QUESTIONS, user, ai, n_conversations=2)
    assert talks["correct"].tolist() == [True, True, False, False]
    assert talks[
        ["simulator", "user", "model"]
    ].drop_duplicates().to_numpy().tolist() == [["two_step", "scripted", "scripted"]]
    seeds = [seed for _, _, seed in user.asked]
    assert seeds == [0, 2, 22, 24, 0, 2, 22, 24]
    with pytest.raises(OptionError, match="simulator 'loud'"):
        users.simulate(QUESTIONS, user, ai, simulator="loud")


def test_accuracies_are_compared_over_questions_with_enough_people():
    simulated = pd.DataFrame({"question_id": list("aabbc"), "correct": [1, 1, 0, 1, 0]})
    people = pd.DataFrame(
        {"question_id": list("aaabbbcdd"), "correct": [1, 1, 1, 1, 0, 0, 1, 0, 0]}
    )
    found = scores.compare_with_people(simulated, people, min_answers=2)
    assert found["n_questions"] == 2  # c has one answer of people, d no simulated one
    assert found["correlation"] == pytest.approx(1)
    assert found["mean_absolute_error"] == pytest.approx((0 + 1 / 6) / 2)
    flat = scores.compare_with_people(simulated.assign(correct=1), people, 2)
    assert np.isnan(flat["correlation"])
    with pytest.raises(OptionError, match="0 questions have 5 answers of people"):
        scores.compare_with_people(simulated, people)


def test_first_messages_are_compared_in_all_pairs():
    ours = ["the cat sat on the mat today", "a dog"]
    theirs = ["the cat sat on the mat", "birds"]
    found = scores.overlap(ours, theirs)
    # shared words of a pair, times 2, by all words of the pair
    assert found["rouge_1"] == pytest.approx(np.mean([12 / 13, 0, 0, 0]))
    # shared 1- to 4-grams of the four pairs, by those of the four simulated messages
    precisions = [6 / 18, 5 / 14, 4 / 10, 3 / 8]
    assert found["bleu"] == pytest.approx(np.prod(precisions) ** 0.25)
    assert scores.overlap(["???"], ["???"])["rouge_1"] == 0
    with pytest.raises(OptionError, match="no first message"):
        scores.overlap([], theirs)


def test_overlap_is_averaged_over_questions_that_both_sides_have():
    said = [{"role": "user", "content": "what is two plus two"}]
    other = [{"role": "user", "content": "none of those words here"}]
    ours = pd.DataFrame({"question_id": list("abc"), "messages": [said, said, []]})
    theirs = pd.DataFrame({"question_id": list("abd"), "messages": [said, other, said]})
    found = scores.mean_overlap(ours, theirs)
    assert found["n_questions"] == 2
    assert found["bleu"] == pytest.approx(0.5)
    with pytest.raises(OptionError, match="No question has first messages"):
        scores.mean_overlap(ours[:1], theirs[1:])


def test_the_script_for_people_who_extend_runs_as_it_stands(monkeypatch, capsys):
    page = (paths.ROOT / "docs" / "extend.md").read_text()
    (script,) = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    model = Scripted(lambda messages: "B", lambda prompt, text: -float(len(text)))
    monkeypatch.chdir(paths.ROOT)
    monkeypatch.setattr("helpers.models.connect", lambda: model)
    names = {}
    exec(script, names)
    assert names["talks"]["question_id"].tolist() == ["q01", "q02", "q03"]
    assert capsys.readouterr().out.count("scripted") > 20
