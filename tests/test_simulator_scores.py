"""Scores of simulated users: known answers, and agreement with the formulas behind them."""

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import user_simulator
from helpers.beyond.user_simulator import KINDS, score_spread, simulator_accuracies

WORDS = "bado keli muna pori seva tuzo nali"


def messages(*texts: str, question: str = "q1") -> pd.DataFrame:
    """First messages about one question."""
    return pd.DataFrame({"question_id": question, "message": texts})


def runs(words: list[str], n: int) -> list[tuple[str, ...]]:
    """All n words in a row."""
    return [tuple(words[place : place + n]) for place in range(len(words) - n + 1)]


def bleu(candidates: list[str], references: list[str]) -> float:
    """BLEU of a corpus by its formula: up to four words in a row, one reference each."""
    pairs = [(a.split(), b.split()) for a, b in zip(candidates, references, strict=True)]
    precisions = []
    for n in range(1, 5):
        grams = [[Counter(runs(words, n)) for words in pair] for pair in pairs]
        shared = sum((candidate & reference).total() for candidate, reference in grams)
        precisions.append(shared / max(1, sum(candidate.total() for candidate, _ in grams)))
    lengths = [sum(len(pair[side]) for pair in pairs) for side in (0, 1)]
    brevity = min(1.0, math.exp(1 - lengths[1] / lengths[0]))
    return brevity * math.prod(precisions) ** 0.25


def test_the_same_words_score_1_and_other_words_0():
    same = user_simulator.wording_scores(messages(WORDS), messages(WORDS))
    assert same[["bleu", "rouge_1", "rouge_l"]].to_numpy() == pytest.approx(1)
    other = user_simulator.wording_scores(messages("vavo liri"), messages(WORDS))
    assert other[["bleu", "rouge_1", "rouge_l"]].to_numpy() == pytest.approx(0)


def test_bleu_is_that_of_the_formula_over_all_pairs():
    simulated = ["bado keli muna pori seva", "keli muna pori seva tuzo nali", "nali"]
    real = [WORDS, "bado keli muna pori"]
    scores = user_simulator.wording_scores(messages(*simulated), messages(*real))
    pairs = zip(*itertools.product(simulated, real), strict=True)
    assert scores["n_pairs"].item() == 6
    assert scores["bleu"].item() == pytest.approx(bleu(*map(list, pairs)))


def test_bleu_is_zero_without_four_words_in_a_row_in_common():
    scores = user_simulator.wording_scores(messages("bado keli muna"), messages(WORDS))
    assert scores["bleu"].item() == 0
    assert scores["rouge_1"].item() == pytest.approx(0.6)


def test_rouge_is_averaged_over_pairs_and_rouge_l_minds_the_order():
    scores = user_simulator.wording_scores(messages("keli bado", "bado"), messages("bado keli"))
    assert scores["rouge_1"].item() == pytest.approx((1 + 2 / 3) / 2)
    assert scores["rouge_l"].item() == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_only_messages_about_the_same_question_are_compared():
    real = pd.concat([messages(WORDS), messages("vavo liri bado keli", question="q2")])
    simulated = pd.concat([messages("vavo liri bado keli", question="q2"), messages(WORDS)])
    scores = user_simulator.wording_scores(simulated, real)
    assert scores["question_id"].tolist() == ["q1", "q2"]
    assert scores["bleu"].to_numpy() == pytest.approx(1)


def test_questions_in_common_are_needed():
    with pytest.raises(ValueError, match="no question has both simulated and real messages"):
        user_simulator.wording_scores(messages(WORDS), messages(WORDS, question="q2"))


def test_messages_are_taken_from_users_who_open_the_conversation():
    talks = [
        [{"role": "user", "content": "bado"}, {"role": "assistant", "content": "keli"}],
        [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "muna"}],
        [{"role": "user", "content": "?!"}],
        [],
    ]
    table = pd.DataFrame({"question_id": ["q1", "q2", "q3", "q4"], "messages": talks})
    assert user_simulator.first_messages(table).to_dict("records") == [
        {"question_id": "q1", "message": "bado"}
    ]


def questions(n: int) -> pd.DataFrame:
    """Questions whose chances vary like those of the study."""
    return pd.DataFrame(
        {"question_id": range(n), "mean": 0.7, "variance": 0.06, "n_answers": np.arange(n) % 9 + 5}
    )


def test_scores_of_accuracies_are_correlation_and_mean_absolute_error():
    frame = pd.DataFrame(
        {"q": range(4), "simulated": [0.2, 0.4, 0.9, 1.0], "real": [0.1, 0.6, 0.7, 1.0]}
    )
    scores = user_simulator.accuracy_scores(
        frame, "simulated", "real", "q", 500, np.random.default_rng(0)
    )
    expected = np.corrcoef(frame["simulated"], frame["real"])[0, 1]
    assert scores["estimate"].to_numpy() == pytest.approx([expected, 0.125])
    assert (scores["low"] <= scores["estimate"]).all()
    assert (scores["estimate"] <= scores["high"]).all()


def test_intervals_contain_the_value_in_a_large_sample_as_often_as_they_say():
    large = simulator_accuracies(np.random.default_rng(0), questions(200_000))
    truth = large["people"].corr(large["too able"])
    inside = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        frame = simulator_accuracies(rng, questions(150))
        scores = user_simulator.accuracy_scores(
            frame, "too able", "people", "question_id", 200, rng
        )
        low, high = scores.loc["correlation", ["low", "high"]]
        inside.append(low <= truth <= high)
    assert 0.88 <= np.mean(inside) <= 1


def test_pretended_simulators_differ_from_people_as_they_are_said_to():
    found = simulator_accuracies(np.random.default_rng(1), questions(4000))
    chances = found[["people, chance", *(f"{kind}, chance" for kind in KINDS)]]
    people, same, able, unrelated = chances.to_numpy().T
    assert same == pytest.approx(people)
    assert 1 - able == pytest.approx(0.4 * (1 - people))
    assert np.corrcoef(people, unrelated)[0, 1] == pytest.approx(0, abs=0.05)
    assert people.mean() == pytest.approx(0.7, abs=0.02)
    assert people.var() == pytest.approx(0.06, abs=0.005)
    assert set(10 * found["too able"]) <= set(range(11))


def test_draws_of_scores_lie_around_those_of_a_large_sample():
    rng = np.random.default_rng(2)
    large = simulator_accuracies(rng, questions(200_000))
    spread = score_spread(rng, questions(135), n_draws=2000)
    for kind in KINDS:
        expected = [large[kind].corr(large["people"]), (large[kind] - large["people"]).abs().mean()]
        found = spread.xs(kind, level="simulator")
        assert found["mean"].to_numpy() == pytest.approx(expected, abs=0.015)
        assert (found["low"] < found["mean"]).all()
        assert (found["mean"] < found["high"]).all()


def test_fishers_interval_is_1_96_standard_errors_of_z_to_either_side():
    low, high = user_simulator.fisher_interval([0.0, 0.6], 28)
    z = 0.5 * math.log(1.6 / 0.4)
    assert low == pytest.approx([math.tanh(-0.392), math.tanh(z - 0.392)], abs=1e-4)
    assert high == pytest.approx([math.tanh(0.392), math.tanh(z + 0.392)], abs=1e-4)


def test_fishers_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 2000, 30))
    y = 0.6 * x + 0.8 * noise
    found = [np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)]
    low, high = user_simulator.fisher_interval(found, 30)
    assert np.mean((low < 0.6) & (high > 0.6)) == pytest.approx(0.95, abs=0.015)


def test_fishers_interval_needs_four_rows():
    with pytest.raises(ValueError, match="at least 4 rows, got 3"):
        user_simulator.fisher_interval(0.5, 3)
