"""Answers on other sets, against code of its own: three sets for each question.

Each test reads the published files itself and computes with pandas, statsmodels or a
formula written here. They run only where the files are.
"""

import ast
import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from helpers.data import registry
from ratings.atlas import answers, ask, sets


@pytest.fixture
def files():
    """Files of a set by the last part of their names, where they are."""

    def located(name):
        try:
            found = sets.locate(name, "real")
        except registry.DataError:
            pytest.skip("the data are not here")
        return {file.rpartition("/")[2]: path for file, path in found.items()}

    return located


def lines(file):
    """Records of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]


# ------------------------------------------------------------------------- 61 aspects


def weights_of(name):
    """What notebook 61 computes for one set."""
    row = sets.admitted("aspects").loc[name]
    items, outcome, scales = ask.aspect_items(name, row, "real")
    return answers.aspect_weights(
        items,
        outcome,
        scales,
        fact=ask.ERRORS.get(row["fact"], row["fact"]),
        form=ask.ERRORS.get(row["form"], row["form"]),
        levels="part" if name in ask.PARTS else "",
    ).loc[ask.BOTH]


def by_machines(records):
    """Scores of Topical-Chat's texts by models."""
    by_people = ("Original Ground Truth", "New Human Generated")
    rows = [
        each["scores"]
        | {
            "source": each["source"],
            "system": each["system_id"],
            "words": len(each["system_output"].split()),
        }
        for each in records
        if each["system_id"] not in by_people
    ]
    return pd.DataFrame(rows)


def test_fact_less_form_in_topical_chat_with_its_error(files):
    records = json.loads(files("topical_chat")["topical_chat_result.json"].read_text())
    table = by_machines(records)
    table["overall"] /= table["overall"].std()
    table["groundedness"] = table["groundedness"].astype(float)
    table["naturalness"] = (table["naturalness"] - 1) / 2
    formula = (
        "overall ~ groundedness + naturalness + understandability + coherence "
        "+ engagingness"
    )

    def difference(rows):
        fit = smf.ols(formula, rows).fit().params
        return fit["groundedness"] - fit["naturalness"]

    without = [
        difference(table[table["source"] != source])
        for source in table["source"].unique()
    ]
    n = len(without)
    error = np.sqrt((n - 1) / n * np.sum((without - np.mean(without)) ** 2))
    found = weights_of("topical_chat")
    assert found["estimate"] == pytest.approx(difference(table), abs=1e-8)
    # ours divides by 1 less the leverage of one slope alone: close, not the same
    assert found["standard_error"] == pytest.approx(error, rel=0.05)


def test_fact_less_form_in_data_to_text(files):
    given = files("sf")
    parts = []
    for name in ("sfres_result.json", "sfhot_result.json"):
        records = json.loads(given[name].read_text())
        parts.append(pd.DataFrame([each["scores"] for each in records]))
        parts[-1]["part"] = name
    table = pd.concat(parts)
    table["overall"] /= table["overall"].std()
    fit = smf.ols("overall ~ informativeness + naturalness + part", table).fit().params
    expected = 5 * (fit["informativeness"] - fit["naturalness"])  # from 1 to 6
    assert weights_of("sf")["estimate"] == pytest.approx(expected, abs=1e-8)


def test_fact_less_form_in_finegrained_rlhf(files):
    (file,) = [
        path for name, path in files("finegrained_rlhf").items() if "dev" in name
    ]
    rows = []
    for each in json.loads(file.read_text()):
        kinds = Counter(error["error type"] for error in each["feedback"]["errors"])
        points = {0: 0.5, 1: 1.0, 2: 0.0}
        rows.append(
            {
                "y": np.mean([points[code] for code in each["preference"][:3]]),
                "fact": kinds["Wrong-Grounding"] + kinds["Unverifiable"] > 0,
                "form": kinds["Redundant"] + kinds["Incoherent"] > 0,
                "beside": kinds["Irrelevant"] > 0,
                "missing": len(each["feedback"]["missing-info"]) > 0,
            }
        )
    table = pd.DataFrame(rows).astype(float)
    table["y"] /= table["y"].std()
    fit = smf.ols("y ~ fact + form + beside + missing", table).fit().params
    expected = fit["form"] - fit["fact"]  # an error is the worst mark
    found = weights_of("finegrained_rlhf")["estimate"]
    assert found == pytest.approx(expected, abs=1e-8)


# ----------------------------------------------------------------------- 62 agreement


def alpha(units, level):
    """Krippendorff's alpha from lists of marks, pair by pair, as in the textbook."""
    units = [unit for unit in units if len(unit) >= 2]
    n_of = Counter(mark for unit in units for mark in unit)
    n = sum(n_of.values())
    values = sorted(n_of)

    def distance(a, b):
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(n_of[value] for value in values if low <= value <= high)
        return (between - (n_of[a] + n_of[b]) / 2) ** 2

    apart = {(a, b): distance(a, b) for a in values for b in values}
    seen = 0.0
    for unit in units:
        of_unit = Counter(unit)
        pairs = sum(
            of_unit[a] * of_unit[b] * apart[a, b] for a in of_unit for b in of_unit
        )
        seen += pairs / (len(unit) - 1)
    by_chance = sum(n_of[a] * n_of[b] * apart[a, b] for a in values for b in values)
    return 1 - (seen / n) / (by_chance / (n * (n - 1)))


def alpha_of(name):
    """What notebook 62 computes for one set."""
    row = sets.admitted("agreement").loc[name]
    ratings = sets.load(name, "real")
    outcome = ask.outcome_of(name, row, ratings)
    rng = np.random.default_rng(0)
    table = answers.agreement_on(ratings, [outcome], row["level"], 0.667, 20, rng)
    return table.loc[outcome, "estimate"]


def test_alpha_of_labels_in_qags(files):
    units = []
    for file in files("qags").values():
        for each in lines(file):
            for sentence in each["summary_sentences"]:
                units.append([answer["response"] for answer in sentence["responses"]])
    assert alpha_of("qags") == pytest.approx(alpha(units, "nominal"), abs=1e-8)


def test_alpha_of_ordered_marks_in_dices(files):
    given = json.loads(files("dices_350")["dices_350_crowdsourced.json"].read_text())
    code = {"No": 1, "Unsure": 2, "Yes": 3}
    units = [
        [
            code[mark]
            for mark in each["annotations"]["safety"]["individual_human_scores"]
        ]
        for each in given["instances"]
    ]
    assert alpha_of("dices_350") == pytest.approx(alpha(units, "ordinal"), abs=1e-8)


def test_alpha_by_distance_in_simpeval(files):
    table = pd.read_csv(files("simpeval")["simpeval_2022.csv"])
    table = table[~table["system"].str.contains("Human")]
    units = table[["rating_1", "rating_2", "rating_3"]].to_numpy().tolist()
    assert alpha_of("simpeval") == pytest.approx(alpha(units, "interval"), abs=1e-8)


# -------------------------------------------------------------------------- 63 length


def slope(table):
    """Weight of the length, with a level for each prompt and each system."""
    table = table.assign(y=table["y"] / table["y"].std(), x=np.log2(table["words"]))
    return smf.ols("y ~ x + C(prompt) + C(system)", table).fit().params["x"]


def slope_of(name):
    """What notebook 63 computes for one set."""
    ratings = sets.load(name, "real")
    return answers.length_slope(ratings.items(), ask.OUTCOMES[name])["estimate"]


def test_length_in_openmeva(files):
    rows = [
        [each["doc_id"], system, len(story["text"].split()), story["score"]["human"]]
        for each in json.loads(files("openmeva")["openmeva.json"].read_text())
        for system, story in each["gen"].items()
    ]
    table = pd.DataFrame(rows, columns=["prompt", "system", "words", "y"])
    assert slope_of("openmeva") == pytest.approx(slope(table), abs=1e-6)


def test_length_in_topical_chat(files):
    records = json.loads(files("topical_chat")["topical_chat_result.json"].read_text())
    table = by_machines(records).rename(columns={"source": "prompt", "overall": "y"})
    assert slope_of("topical_chat") == pytest.approx(slope(table), abs=1e-6)


def test_length_in_simpeval(files):
    table = pd.read_csv(files("simpeval")["simpeval_2022.csv"])
    table = table[~table["system"].str.contains("Human")]
    table["y"] = table[["rating_1", "rating_2", "rating_3"]].mean(axis=1)
    table["words"] = table["generation"].str.split().str.len()
    table = table.rename(columns={"original_id": "prompt"})
    assert slope_of("simpeval") == pytest.approx(slope(table), abs=1e-6)


# --------------------------------------------------------------------------- 64 crowd


def shares(pairs):
    """Of what experts find and of the rest, how much the crowd marks, in percent."""
    found = [crowd for crowd, expert in pairs if expert]
    rest = [crowd for crowd, expert in pairs if not expert]
    return [100 * sum(found) / len(found), 100 * sum(rest) / len(rest)]


def shares_of(name, threshold):
    """What notebook 64 computes at one threshold of a set."""
    both = ask.findings(name, "real")[threshold]
    table = answers.detection(both["crowd"], both["expert"], both["cluster"])
    return table["estimate"].tolist()


@pytest.mark.parametrize("mark", [4, 3, 2])
def test_a_crowd_beside_experts_in_summeval(files, mark):
    (file,) = [path for name, path in files("summeval").items() if "THumB" in name]
    pairs = []
    for each in lines(file):
        if each["SYS"] in ("Human-H", "Pegasus-dynamic-mix"):
            continue
        experts = [a["consistency"] <= mark for a in each["expert_annotations"]]
        crowd = [a["consistency"] <= mark for a in each["turker_annotations"]]
        pairs.append((sum(crowd) >= 3, sum(experts) >= 2))
    assert len(pairs) == 1600
    found = shares_of("summeval", f"{mark} or less")
    assert found == pytest.approx(shares(pairs))


def test_a_crowd_beside_an_expert_in_dices(files):
    given = files("dices_350")
    label = {}
    for name in ("dices_350_expert.json", "dices_350_crowdsourced.json"):
        for each in json.loads(given[name].read_text())["instances"]:
            marks = each["annotations"]["safety"]["individual_human_scores"]
            unsafe = sum(mark == "No" for mark in marks) > len(marks) / 2
            label.setdefault(each["id"], []).append(unsafe)
    pairs = [(crowd, expert) for expert, crowd in label.values()]
    assert shares_of("dices_350", "not safe") == pytest.approx(shares(pairs))


def test_a_crowd_beside_an_expert_on_health_answers(files):
    table = pd.read_csv(files("medical_safety")["medicheck-crowd.csv"])
    far = ("Recommendations", "Treatment or diagnosis")
    pairs = []
    for machine in ("alexa", "dialogpt"):
        for _, row in table.iterrows():
            marks = ast.literal_eval(row[f"{machine}-response-cws"])
            if marks:
                crowd = sum(mark in far for mark in marks) > len(marks) / 2
                pairs.append((crowd, row[f"{machine}-response-expert"] in far))
    found = shares_of("medical_safety", "a recommendation or more")
    assert found == pytest.approx(shares(pairs))
