"""Settings of Sphinx: `make site` builds README.md, the guides and the notebooks.

They stay in their places, so that links lead to the same pages as on GitHub. A notebook
that was run last (`build/notebooks`) takes the place of the committed one.
"""

import os
import re
import shutil
import tomllib
from html import escape
from pathlib import Path
from textwrap import shorten

import nbformat
from docutils import nodes
from latex2mathml.converter import convert

from helpers import paths
from helpers.data.studies import read_studies
from helpers.run.notebooks import executed, notebook_files

PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
ADDRESSES = {
    name: "" if "OWNER" in address else address
    for name, address in PROJECT["urls"].items()
}
STATIC = Path(__file__).parent / "static"
CARD = "_images/11_error_weights.png"  # picture of the first finding
LONGEST_DESCRIPTION = 200  # characters of a page's first paragraph

project = html_title = "Judging language models"
author = ", ".join(person["name"] for person in PROJECT["authors"])
copyright = author
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "data/**README.md",
    "docs/*.md",
    "notebooks/**",
]
exclude_patterns = [".*", "build", "data/raw", "**/.ipynb_checkpoints"]

html_theme = "furo"
html_theme_options = {}
if ADDRESSES["Repository"]:
    html_theme_options["source_repository"] = ADDRESSES["Repository"]
    html_theme_options["source_branch"] = "main"
html_baseurl = ADDRESSES["Documentation"]  # without one, pages have no card
html_favicon = str(STATIC / "favicon.svg")
html_static_path = [str(STATIC)]
html_css_files = ["site.css"]
# deferred: after the search that it changes
html_js_files = [("search.js", {"defer": "defer"})]
html_copy_source = False
html_use_index = html_domain_indices = False
html_show_sourcelink = False
html_math_renderer = "mathml"

autodoc_typehints = "none"
# as written: a value could be the environment of this machine
autodoc_preserve_defaults = True
default_role = "code"
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_block"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
nb_code_prompt_show = "Show code"
nb_code_prompt_hide = "Hide code"
# Of a repository's files, only pages are pages: links to others download them.
suppress_warnings = [
    "myst.xref_missing",
    "toc.not_included",
]

# What a cell of code begins with or calls, and what its bar says when it is folded.
FOLDED = {
    r"\A(import|from) ": "Imports",
    r"\Arun\.check\(": "Check of the parameters",
    r"\bclaims\.save\(": "Saving the results",
    r"\bshow\.save\(": "Code of the figure",
}
MENU = """
```{{toctree}}
:hidden:
:caption: {caption}

{pages}
```
"""


def take_run(app, docname, content) -> None:
    """Show the last run of a notebook, with its number, downloads and folded cells."""
    name = docname.rpartition("/")[2]
    committed = notebook_files().get(name)
    if committed is None:
        return
    file = executed(name) if executed(name).is_file() else committed
    notebook = nbformat.reads(file.read_text(encoding="utf-8"), 4)
    titled = next(each for each in notebook.cells if each.source.startswith("# "))
    titled.source = (
        f"# {name[:2]} {titled.source[2:]}\n\n{downloads(name, file, committed.parent)}"
    )
    for cell in notebook.cells:
        if cell.cell_type == "code":
            fold(cell)
            describe(cell)
        else:
            cell.source = show_run(cell.source, committed.parent)
    content[0] = nbformat.writes(notebook)


def downloads(name: str, file: Path, folder: Path) -> str:
    """Links to a notebook and to the numbers it has saved."""
    numbers = paths.BUILD / "results" / f"{name}.csv"
    if not numbers.is_file():
        numbers = paths.RESULTS / "results.csv"
    links = {"notebook": file, "results as CSV": numbers}
    written = [
        f"[{words}](path:{os.path.relpath(target, folder)})"
        for words, target in links.items()
    ]
    return f"Download: {', '.join(written)}"


def fold(cell: nbformat.NotebookNode) -> None:
    """Fold a cell that is no part of the lesson; what it shows stays in view."""
    tags = cell.metadata.setdefault("tags", [])
    words = ["Parameters"] if "parameters" in tags else []
    words += [bar for code, bar in FOLDED.items() if re.search(code, cell.source)]
    if words:
        tags.append("hide-input" if cell.outputs else "hide-cell")
        prompts = {"code_prompt_show": words[0], "code_prompt_hide": words[0]}
        cell.metadata["mystnb"] = prompts


def describe(cell: nbformat.NotebookNode) -> None:
    """Pass on the alternative text and the width of a cell's figure."""
    for output in cell.outputs:
        picture = output.get("metadata", {}).get("image/png")
        if picture:
            image = {"alt": picture["alt"], "width": f"{picture['width']}px"}
            cell.metadata.setdefault("mystnb", {})["image"] = image


def show_run(text: str, folder: Path) -> str:
    """Let a text show the pictures of the last run, where it drew them."""
    drawn = paths.BUILD / "figures"
    for name in re.findall(r"\(\S*/figures/(\w+\.png)\)", text):
        if (drawn / name).is_file():
            run = os.path.relpath(drawn / name, folder)
            text = re.sub(rf"\(\S*/figures/{name}\)", f"({run})", text)
    return text


def add_menu(app, docname, content) -> None:
    """List the pages below README, where GitHub shows no menu."""
    if docname != root_doc:
        return
    first = ["Findings <self>", "docs/play", "notebooks/00_overview"]
    menu = {"Results": [*first, "docs/replication_report"]}
    notebooks = sorted(notebook_files().items())
    titles = {study["digit"]: study["title"] for study in read_studies()}
    titles["5"] = "Beyond the papers"
    for digit, title in sorted(titles.items()):
        files = [
            file.relative_to(paths.ROOT).with_suffix("").as_posix()
            for name, file in notebooks
            if name[0] == digit
        ]
        if files:
            menu[title] = files
    guides = ["run", "change", "own", "extend", "reference", "terms"]
    menu["Use it"] = [f"docs/{name}" for name in guides]
    for caption, pages in menu.items():
        content[0] += MENU.format(caption=caption, pages="\n".join(pages))


def leave_out_code(app, doctree) -> None:
    """Let the search find what pages say, not code and what it shows."""
    for node in doctree.findall(nodes.literal_block):
        node["classes"].append("no-search")
    for node in doctree.findall(nodes.container):
        if "cell_output" in node["classes"]:
            node["classes"].append("no-search")


def add_description(app, pagename, templatename, context, doctree) -> None:
    """Describe a page to search engines and, if it has an address, on a card."""
    first = doctree and doctree.next_node(nodes.paragraph, descend=True)
    if not first:
        return
    words = re.sub(r"<!--.*?-->", "", first.astext())
    words = escape(shorten(words, LONGEST_DESCRIPTION, placeholder=" …"))
    tags = [f'<meta name="description" content="{words}">']
    if html_baseurl:
        card = {
            "title": re.sub(r"<.*?>", "", context["title"]),
            "description": words,
            "url": context["pageurl"],
            "image": html_baseurl.rstrip("/") + "/" + CARD,
            "type": "article",
        }
        for name, value in card.items():
            tags.append(f'<meta property="og:{name}" content="{value}">')
        tags.append('<meta name="twitter:card" content="summary_large_image">')
    context["metatags"] += "\n".join(tags)


def let_keyboard_scroll(app, pagename, templatename, context, doctree) -> None:
    """Let the keyboard reach what scrolls in a page, and give captions a level."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
    scrolls = r'<(pre|div class="(?:table-wrapper|math-wrapper|output text_html)[^"]*")'
    context["body"] = re.sub(scrolls, r'<\1 tabindex="0"', context.get("body", ""))


def visit_math(self, node: nodes.math) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    self.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def copy_start_page(app, exception) -> None:
    """Let README be the page that a browser opens first."""
    if exception is None and app.builder.format == "html":
        shutil.copy(app.outdir / "README.html", app.outdir / "index.html")


def setup(app) -> None:
    """Tell Sphinx what it lacks."""
    app.connect("source-read", take_run)
    app.connect("source-read", add_menu)
    app.connect("doctree-read", leave_out_code)
    app.connect("html-page-context", add_description)
    # after the theme has made the menu
    app.connect("html-page-context", let_keyboard_scroll, priority=900)
    app.connect("build-finished", copy_start_page)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
