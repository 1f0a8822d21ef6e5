"""What the search of the site finds: sections of pages, and claims, as text."""

import json
import re
from html import unescape
from pathlib import Path

import pandas as pd
from docutils import nodes

# Pages on results come before those on code and history; each claim is found by itself.
WEIGHTS = {
    "CHANGELOG": 0.2,
    "CONTRIBUTING": 0.3,
    "benchmarks": 0.3,
    "claims": 0.0,
    "reference": 0.3,
}
CLAIM_WEIGHT = 0.5
OPENING_WEIGHT = 2.0  # of a page's question and answer
TAG = re.compile(r"<(script|style|svg).*?</\1>|<[^>]+>", re.DOTALL)


def of_page(doctree: nodes.document, page: str) -> list[dict]:
    """Sections of a page, each with its heading, address and text."""
    titles = [section.next_node(nodes.title) for section in sections_of(doctree)]
    if not titles:
        return []
    weight = WEIGHTS.get(page.partition("/")[0], 1.0)
    if weight == 0:
        return []
    entries = []
    for section, title in zip(sections_of(doctree), titles, strict=True):
        entries.append(
            {
                "page": titles[0].astext(),
                "heading": title.astext(),
                "url": f"{page}.html#{section['ids'][0]}",
                "text": own_text(section),
                "weight": weight,
            }
        )
        if title.astext() == "Claims":
            entries[-1]["weight"] *= CLAIM_WEIGHT
    entries[0]["weight"] *= OPENING_WEIGHT
    return entries


def sections_of(doctree: nodes.document) -> list[nodes.section]:
    """All sections of a page, in order."""
    return list(doctree.findall(nodes.section))


def own_text(section: nodes.section) -> str:
    """Text of a section without its title, its code and the sections in it."""
    words = []

    def collect(node: nodes.Node) -> None:
        if isinstance(node, nodes.raw):
            words.append(unescape(TAG.sub(" ", node.astext())))
        elif isinstance(node, nodes.Text):
            words.append(node.astext())
        else:
            for child in node.children:
                if not is_left_out(child):
                    collect(child)
            words.append(" ")

    for child in section.children:
        opens_a_part = isinstance(child, nodes.section | nodes.title)
        if not opens_a_part and not is_left_out(child):
            collect(child)
    return " ".join("".join(words).split())


def is_left_out(node: nodes.Node) -> bool:
    """Tell whether a node is code, a remark or what stands on top of each page."""
    is_code = isinstance(node, nodes.container) and "cell_input" in node["classes"]
    is_furniture = isinstance(node, nodes.raw) and 'class="about' in node.astext()
    return is_code or is_furniture or isinstance(node, nodes.comment)


def of_claims(claims: pd.DataFrame, studies: dict[str, str]) -> list[dict]:
    """Claims, each with what is printed, what comes out and the verdict."""
    entries = []
    for claim_id, claim in claims.iterrows():
        printed = "" if claim["published"] == "holds" else claim["published"]
        parts = {
            "printed": printed,
            "here": claim["computed"],
            "verdict": claim["verdict"],
        }
        words = [f"{name}: {value}" for name, value in parts.items() if value]
        entries.append(
            {
                "page": f"Claim, {studies[claim['study']]}, {claim['where']}",
                "heading": claim["statement"],
                "url": f"claims.html#{claim_id}",
                "text": "; ".join(words),
                "weight": CLAIM_WEIGHT,
            }
        )
    return entries


def write(entries: list[dict], file: Path) -> None:
    """Write what is searched as a script, which a page can load from a folder."""
    content = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    file.write_text(f"const SECTIONS = {content};\n", encoding="utf-8")
