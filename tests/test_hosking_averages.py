import pandas as pd
import pytest

from helpers.files import registry
from helpers.files.schemas import ERRORS_1
from helpers.files.tables import BadTableError
from helpers.studies import hosking


def test_simulated_averages_are_our_own():
    outputs = hosking.load_experiment_2("simulated", seed=4).outputs()
    averages = hosking.load_averages(2, "simulated", seed=4)
    assert hosking.distance(averages, outputs).max() == 0
    assert averages.index.tolist() == outputs["item_id"].tolist()


def test_the_largest_difference_counts():
    outputs = pd.DataFrame({"item_id": ["a", "b"], "refusal": [0.0, 1.0], "n_ratings": 4})
    averages = pd.DataFrame({"refusal": [0.25, 0.5]}, index=["a", "b"])
    assert hosking.distance(averages, outputs).to_dict() == {"refusal": 0.5}


@pytest.mark.parametrize("dropped", [0, 1])
def test_an_output_on_one_side_only_leaves_no_distance(dropped):
    outputs = pd.DataFrame({"item_id": ["a", "b"], "refusal": [0.0, 1.0]})
    averages = outputs.set_index("item_id")
    tables = [averages.iloc[:1], outputs] if dropped == 0 else [averages, outputs.iloc[:1]]
    assert hosking.distance(*tables).isna().all()


def test_a_table_without_its_keys_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "averages.parquet"
    pd.DataFrame({"dataset": ["amazon"], "model": ["refs"]}).to_parquet(path)
    monkeypatch.setattr(registry, "locate", lambda files, _: dict.fromkeys(files, path))
    with pytest.raises(BadTableError, match="column 'sample_ix' is missing"):
        hosking.load_averages(1)


def test_modes_of_errors_and_means_of_scores_give_the_averages_of_experiment_1(real_data):
    averages = hosking.load_averages(1, real_data)
    study = hosking.load_experiment_1(real_data)
    assert hosking.distance(averages, study.outputs()).max() < 1e-12
    by_mean = hosking.distance(averages, study.outputs(errors_by="mean"))
    assert (by_mean[list(ERRORS_1)] > 0.2).all()


def test_the_score_beside_error_checks_of_experiment_2_is_a_mode(real_data):
    averages = hosking.load_averages(2, real_data)
    study = hosking.load_experiment_2(real_data)
    assert hosking.distance(averages, study.outputs()).max() < 1e-12
    by_mean = hosking.distance(averages, study.outputs(biased_by="mean"))
    assert by_mean["quality_biased"] > 1
