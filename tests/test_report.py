"""The page that sums up a run."""

from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from helpers.claims import COLUMNS, merge
from helpers.run import _banner, summary_lines, write_report

NASTY = '<script>alert("x")</script> & more'


class Page(HTMLParser):
    """Collect tags with their attributes, and the text of the page."""

    def __init__(self, file: Path):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag: str, attribute: str) -> list[str]:
        """Values of an attribute on all tags of a kind."""
        return [attrs[attribute] for name, attrs in self.tags if name == tag and attribute in attrs]


def claim(**values: str) -> dict[str, str]:
    """Row of a claims file."""
    return dict.fromkeys(COLUMNS, "") | {"study": "hosking", "verdict": "reproduced"} | values


@pytest.fixture
def run(tmp_path) -> Path:
    """Folder of a run with one notebook, two figures and three claims."""
    cells = [nbformat.v4.new_markdown_cell(f"# Weights {NASTY}\n\nText")]
    (tmp_path / "notebooks").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "notebooks/11_weights.ipynb")
    (tmp_path / "figures").mkdir()
    for name in ("11_path.png", "99_other.png"):
        (tmp_path / "figures" / name).write_bytes(b"")
    claims = [
        claim(claim_id="hosking.a", statement=NASTY, low="1", high="2", notebook="11_weights"),
        claim(claim_id="hosking.b", verdict="differs", note="because"),
        claim(claim_id="kamoda.c", study="kamoda", verdict="not run"),
    ]
    pd.DataFrame(claims).to_csv(tmp_path / "claims.csv", index=False)
    return tmp_path


def test_the_page_links_notebooks_and_figures_that_exist_by_relative_addresses(run):
    page = Page(write_report(run, ["11_weights"], {"hosking": "real"}))
    assert set(page.all("img", "src")) == {"figures/11_path.png", "figures/99_other.png"}
    assert set(page.all("a", "href")) == {
        "html/11_weights.html",
        "figures/11_path.png",
        "figures/99_other.png",
    }
    assert page.all("link", "href") == []
    assert page.all("script", "src") == []


def test_text_from_claims_and_notebooks_is_escaped(run):
    file = write_report(run, ["11_weights"], {"hosking": "real"})
    assert NASTY not in file.read_text()
    page = Page(file)
    assert page.text.count(NASTY) == 3
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 1


def test_each_claim_has_a_row_with_its_interval_and_coloured_verdict(run):
    page = Page(write_report(run, ["11_weights"], {"hosking": "real"}))
    for text in ("hosking.a", "hosking.b", "kamoda.c", "1 to 2", "because"):
        assert text in page.text
    assert "verdict differs" in page.all("span", "class")
    assert "verdict not-run" in page.all("span", "class")


def test_a_figure_names_the_notebook_with_its_number(run):
    text = Page(write_report(run, ["11_weights"], {"hosking": "real"})).text
    assert "11_path.png from Weights" in text
    assert "99_other.png from" not in text


def test_a_run_on_real_data_says_so(run):
    page = Page(write_report(run, ["11_weights"], {"hosking": "real", "kamoda": "real"}))
    assert "Real data: hosking, kamoda" in page.text
    assert "SIMULATED" not in page.text


def test_one_simulated_study_raises_the_banner(run):
    page = Page(write_report(run, ["11_weights"], {"hosking": "real", "kamoda": "simulated"}))
    assert "SIMULATED DATA: kamoda." in page.text
    assert "banner simulated" in page.all("p", "class")


def test_one_simulated_claim_raises_the_banner_whatever_the_sources_say(run):
    claims = [claim(claim_id="hosking.a", verdict="simulated")]
    pd.DataFrame(claims).to_csv(run / "claims.csv", index=False)
    page = Page(write_report(run, ["11_weights"], {"hosking": "real"}))
    assert "SIMULATED DATA: hosking." in page.text


def test_a_run_is_summed_up_in_one_line_per_study(run):
    sources = {"hosking": "real", "kamoda": "simulated", "humbel": "real"}
    assert summary_lines(run, sources) == [
        "hosking: real data, 1 reproduced, 1 differs",
        "kamoda: simulated data, 1 not run",
        "humbel: real data, no claims",
    ]


def test_a_notebook_without_heading_goes_by_its_name(run):
    nbformat.write(nbformat.v4.new_notebook(), run / "notebooks" / "12_bare.ipynb")
    assert "12_bare" in Page(write_report(run, ["12_bare"], {"hosking": "real"})).text


def test_the_page_shows_every_published_claim(run):
    (run / "claims").mkdir()
    merged = merge(run / "claims")
    merged.to_csv(run / "claims.csv", index=False)
    page = Page(write_report(run, ["11_weights"], {"hosking": "real"}))
    rows = [attrs for tag, attrs in page.tags if attrs.get("class") == "id"]
    assert len(rows) == len(merged)


def test_printed_tables_are_not_called_real_data():
    claims = pd.DataFrame({"verdict": ["reproduced"], "study": ["chatbench"]})
    banner = _banner(claims, {"kamoda": "real", "chatbench": "printed"})
    assert "Real data: kamoda. Printed tables only: chatbench" in banner
