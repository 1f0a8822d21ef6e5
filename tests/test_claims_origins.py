"""Which cell of a notebook computes what is entered for a claim."""

import nbformat
import pytest

from helpers import paths
from helpers.claims.origins import computing_cell
from helpers.data.published import read_text


def notebook(*sources):
    """Cells a, b, c, … of these sources; those that enter or begin so are claims."""
    cells = []
    for name, source in zip("abcdefgh", sources, strict=False):
        is_claims = ".enter" in source or source.startswith("# claims")
        tags = ["claims"] if is_claims else []
        if source.startswith("# parameters"):
            tags = ["parameters"]
        cells.append(
            {
                "id": name,
                "cell_type": "code",
                "source": source,
                "metadata": {"tags": tags},
            }
        )
    return cells


def origin(*sources, claim="demo.rate.low", entering=None):
    """Where the claim that the last cell, or another one, enters is computed."""
    cells = notebook(*sources)
    return computing_cell(cells, entering or cells[-1]["id"], claim)


LOAD = "table = read()"
FIT = "rates = fit(table)"
SHOW = "shown = rates.round()\nshow(shown)"


@pytest.mark.parametrize(
    "enter",
    [
        "claims.enter('demo.rate', {'low': rates})",
        "claims.enter('demo', {'rate.low': rates.loc['low']})",
        "claims.enter('', {'demo.rate.low': {'estimate': rates.min()}})",
        "claims.enter('demo.rate', {'high': shown, 'low': (rates > 1, 'words')})",
        "results = {'low': rates}\nclaims.enter('demo.rate', results)",
        "results = {}\nresults['low'] = rates\nclaims.enter('demo.rate', results)",
        "for end in ends:\n    claims.enter('demo.rate', {f'{end}': rates})",
        "for name, r in rates.items():\n    claims.enter('demo.rate', {name: r})",
        "least = min(rates)\nclaims.enter('demo.rate', {'low': least})",
        "claims.enter('demo.rate', {'low': [table for table in rates]})",
    ],
)
def test_the_last_cell_that_assigned_what_is_entered_computes_it(enter):
    assert origin(LOAD, FIT, SHOW, enter) == "b"


def test_a_claims_cell_before_is_passed_through():
    made = "# claims\nresults = {'low': rates}"
    entered = "claims.enter('demo.rate', results)"
    assert origin(LOAD, FIT, made, entered) == "b"


def test_a_name_that_a_claims_cell_only_changes_was_made_before():
    changed = "# claims\nrates['other'] = shown\nrates = rates.round()"
    entered = "claims.enter('demo.rate', {'low': rates})"
    assert origin(LOAD, SHOW, FIT, changed, entered) == "c"


def test_a_name_assigned_twice_counts_where_it_was_assigned_last():
    again = "rates = rates * 100"
    entered = "claims.enter('demo.rate', {'low': rates})"
    assert origin(LOAD, FIT, again, SHOW, entered) == "c"
    assert origin(LOAD, FIT, entered, again, entering="c") == "b"


def test_a_table_that_is_filled_in_several_cells_counts_where_the_claim_is_added():
    first = "numbers = {'rate.low': fit(table)}"
    second = "numbers['rate.high'] = fit(table)"
    entered = "claims.enter('demo', numbers)"
    assert origin(LOAD, first, second, entered) == "b"
    assert origin(LOAD, first, second, entered, claim="demo.rate.high") == "c"


def test_of_several_calls_those_count_that_can_enter_the_claim():
    entered = (
        "claims.enter_table('demo_table1', rates)\n"
        "claims.enter('other', {'low': shown})\n"
        "claims.enter('demo.rate', {'low': table})"
    )
    assert origin(LOAD, FIT, SHOW, entered) == "a"
    assert origin(LOAD, FIT, SHOW, entered, claim="demo.table1.x.y") == "b"
    assert origin(LOAD, FIT, SHOW, entered, claim="other.low") == "c"


def test_names_of_functions_and_parameters_compute_nothing():
    entered = "claims.enter('demo.rate', {'low': fit(level)})"
    assert origin("# parameters\nlevel: float = 0.05", "fit = make()", entered) == ""
    assert origin(LOAD, "claims.enter('demo.rate', {'low': 11 * 7})") == ""


def test_committed_claims_are_computed_before_they_are_entered():
    committed = read_text(paths.ROOT / "figures" / "claims.csv")
    entered = committed[committed["cell"] != ""]
    n_found = 0
    for name, rows in entered.groupby("notebook"):
        cells = nbformat.read(
            paths.NOTEBOOKS / paths.notebook_place(name), as_version=4
        ).cells
        ids = [cell["id"] for cell in cells]
        # one claim of each cell, since reading all of them takes long
        for claim_id, cell in rows.drop_duplicates("cell")[["claim_id", "cell"]].values:
            computed_in = computing_cell(cells, cell, claim_id)
            if computed_in:
                n_found += 1
                assert ids.index(computed_in) < ids.index(cell), claim_id
                tags = cells[ids.index(computed_in)]["metadata"].get("tags", [])
                assert "claims" not in tags, claim_id
    assert n_found > 30
