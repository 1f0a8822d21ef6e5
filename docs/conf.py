"""Settings of Sphinx."""

import os
import re
import subprocess
from pathlib import Path

import yaml
from docutils import nodes
from latex2mathml.converter import convert

ROOT = Path(__file__).parents[1]
STATIC = Path(__file__).parent / "static"
citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))

project = html_title = "How people judge language models"
author = ", ".join(person["name"] for person in citation["authors"])
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# README.md is the start page, index.md.
exclude_patterns = ["README.md", "src/*/README.md", "data/templates", "tests", "build"]

html_theme = "furo"
html_favicon = str(STATIC / "favicon.svg")
html_static_path = [str(STATIC)]
html_search_scorer = str(STATIC / "scorer.js")
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
# What `make_site` says of simulated or missing data stands above every page.
html_theme_options = {"announcement": os.environ.get("SITE_NOTICE", "")}

autodoc_typehints = "none"
# as written: a value could be the environment of this machine
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = False
default_role = "code"
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_block"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
# Of a repository's files, only pages are pages: links to others download them.
suppress_warnings = [
    "mystnb.unknown_mime_type",
    "myst.xref_missing",
    "toc.not_included",
]


def commit_date() -> str:
    """Date of the commit that the site is built from; empty outside of a clone."""
    log = ["git", "log", "-1", "--format=%cs"]
    run = subprocess.run(log, capture_output=True, text=True, cwd=ROOT)
    return run.stdout.strip()


html_last_updated_fmt = commit_date() or None
copyright = f"{commit_date()[:4]} {author}".strip()


def is_described(docstring: str | None) -> bool:
    """Tell whether a docstring says more than one line: its object is to be called."""
    return "\n\n" in (docstring or "")


def skip_undescribed(app, what, name, obj, skip, options) -> bool | None:
    """Leave out what has no full description: it is not meant to be called."""
    return None if is_described(getattr(obj, "__doc__", None)) else True


def visit_math(self, node: nodes.math) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    self.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def add_report_script(app, pagename, templatename, context, doctree) -> None:
    """Let the tables of the replication report be filtered and sorted."""
    if pagename == "docs/replication_report":
        app.add_js_file("report.js")


def mend_for_screen_readers(app, pagename, templatename, context, doctree) -> None:
    """Give headings of the menu their level; let the keyboard scroll what is wide."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
    body = context.get("body", "")
    scrolls = r'<(pre|table|div class="(?:math|table)-wrapper[^"]*")'
    context["body"] = re.sub(scrolls, r'<\1 tabindex="0"', body)


def setup(app) -> None:
    """Tell Sphinx what it lacks."""
    app.connect("html-page-context", add_report_script)
    # after the theme has made the menu
    app.connect("html-page-context", mend_for_screen_readers, priority=900)
    app.connect("autodoc-skip-member", skip_undescribed)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))


html_math_renderer = "mathml"
