"""Settings of Sphinx, and what it lacks: addresses of cells, claims, formulas."""

import os
import re
import sys
from html import escape
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "src")]

import pages_of
import search_index
import terms
from record import STUDIES, Record

from helpers import paths

repository_url = pages_of.repository_address()
project = html_title = "How people judge language models"
author = pages_of.authors()
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["extra"]

templates_path = [str(Path(__file__).parent / "theme")]
html_favicon = str(Path(__file__).parent / "static" / "favicon.svg")
html_theme = "sphinx_book_theme"
html_context = {"default_mode": "auto"}
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_domain_indices = False
html_use_index = False
html_show_sphinx = False
html_theme_options = {
    "navbar_start": [],
    "navbar_center": [],
    "navbar_end": [],
    "navbar_persistent": [],
    "show_toc_level": 2,
    "toc_title": "On this page",
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_prev_next": False,  # each notebook names its neighbours
    "extra_footer": pages_of.colophon(repository_url),
    "footer_content_items": ["extra-footer.html"],
}
if repository_url:
    html_theme_options["repository_url"] = repository_url
    html_theme_options["use_repository_button"] = True

autodoc_typehints = "none"
# as written: a value could be the environment of this machine
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = False
default_role = "code"
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_block"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
nb_code_prompt_show = "Show code"
nb_code_prompt_hide = "Hide code"
suppress_warnings = ["mystnb.unknown_mime_type"]

# Spaces inside an interval, before % and after < must not end a line.
INSIDE = re.compile(
    r"(?<=\d,) (?=[-−]?[\d.,]+\])|(?<=[\d\]]) (?=%)|(?<=&[lg]t;) (?=\d)"
)
CODE = (nodes.FixedTextElement, nodes.literal, nodes.math)
PREVIEW = "14_same_answers.png"  # what other sites show beside a link to this one
found: list[dict] = []
record = Record(paths.ROOT / os.environ.get("SITE_RUN", "build"))


def name_cells(app, doctree: nodes.document) -> None:
    """Give each code cell an address, and show the claims that it entered."""
    name = Path(app.env.docname).name
    if name not in record.notebooks:
        return
    entered = claims_by_cell(name)
    names = {cell.execution_count: cell.id for cell in record.notebooks[name].code()}
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and cell.get("exec_count"):
            key = names[cell["exec_count"]]
            cell["ids"].append(f"cell-{key}")
            if key in entered:
                cell.append(nodes.raw("", entered[key], format="html"))


def claims_by_cell(name: str) -> dict[str, str]:
    """Folded lists of claims, by the cell that entered them."""
    lists = {}
    entered = record.claims[record.claims["notebook"] == name]
    for key, rows in entered.groupby("cell"):
        items = []
        for claim_id, row in rows.iterrows():
            link = f"../claims.html#{claim_id}"
            verdict = row["verdict"]
            items.append(
                f'<li><a href="{link}">{escape(row["statement"])}</a> '
                f'<span class="verdict {verdict}">{verdict}</span></li>'
            )
        counts = rows["verdict"].value_counts()
        words = ", ".join(f"{verdict} {number}" for verdict, number in counts.items())
        lists[key] = (
            '<details class="entered">'
            f"<summary>Claims judged in this cell: {words}</summary>"
            f"<ul>{''.join(items)}</ul></details>"
        )
    return lists


def keep_together(app, doctree: nodes.document) -> None:
    """Keep on one line what is read as one number, but not in code."""
    for text in list(doctree.findall(nodes.Text)):
        is_code = isinstance(text.parent, CODE) and not isinstance(
            text.parent, nodes.raw
        )
        if not is_code:
            joined = INSIDE.sub("\N{NO-BREAK SPACE}", text)
            joined = joined.replace("−−", "−\N{WORD JOINER}−")
            text.parent.replace(text, nodes.Text(joined))


def skip_undescribed(app, what, name, obj, skip, options) -> bool | None:
    """Leave out what has no full description: it is not meant to be called."""
    description = getattr(obj, "__doc__", None) or ""
    has_one_line = "\n\n" not in description
    return True if has_one_line else None


def remember(app, doctree: nodes.document, page: str) -> None:
    """Keep what the search finds on a page."""
    found.extend(search_index.of_page(doctree, page))


def write_search(app, error: Exception | None) -> None:
    """Write what the search finds on all pages and in all claims."""
    if error is None:
        entries = [*found, *search_index.of_claims(record.claims, STUDIES)]
        search_index.write(entries, Path(app.outdir) / "_static" / "search_data.js")


def describe_page(app, page: str, template: str, context: dict, doctree) -> None:
    """Tell other sites what a page is about: its question, or its first sentences."""
    name = Path(page).name
    if name in record.notebooks:
        words = record.notebooks[name].paragraph("Question")
    else:
        first = doctree.next_node(nodes.paragraph) if doctree else None
        words = first.astext() if first else project
    context["description"] = pages_of.plain(words)[:300]
    context["preview"] = ""
    context["author"] = author
    if app.config.html_baseurl:
        context["preview"] = f"{app.config.html_baseurl}figures/{PREVIEW}"


def visit_math(self, node: nodes.math) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    self.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app) -> None:
    """Tell Sphinx what it lacks."""
    app.config.html_extra_path = [str(Path(app.srcdir) / "extra")]
    app.connect("doctree-read", name_cells)
    app.connect("doctree-read", keep_together)
    app.connect("doctree-resolved", terms.link_first_uses)
    app.connect("doctree-resolved", remember)
    app.connect("html-page-context", describe_page)
    app.connect("build-finished", write_search)
    app.connect("autodoc-skip-member", skip_undescribed)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))


html_math_renderer = "mathml"
