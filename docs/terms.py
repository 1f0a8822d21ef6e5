"""Links the first use of a term on each page to its explanation."""

import re

from docutils import nodes

GLOSSARY = "glossary"
# Everyday words, and those that stand on every page.
NOT_LINKED = {
    "after correction",
    "aspect",
    "biased",
    "confirmed",
    "consistent",
    "contradicted",
    "crowd",
    "detects",
    "direction",
    "evidence",
    "family",
    "inexact",
    "leaning",
    "margin",
    "open",
    "reading",
    "refusal",
    "slip",
    "unbiased score",
}
CLOSED = (nodes.reference, nodes.literal, nodes.title, nodes.raw, nodes.math)


def explained(glossary: nodes.document) -> dict[str, tuple[str, str]]:
    """Address and explanation of each term that is linked."""
    terms = {}
    for item in glossary.findall(nodes.definition_list_item):
        definition = item.next_node(nodes.definition)
        words = " ".join(definition.astext().split())
        for term in item.findall(nodes.term):
            for name in _as_typed(term.astext()).split(", "):
                if name not in NOT_LINKED:
                    terms[name.lower()] = (term["ids"][0], words)
    return terms


def link_first_uses(app, doctree: nodes.document, page: str) -> None:
    """Link each term of the glossary where a page first uses it in a sentence."""
    if page == GLOSSARY or page.startswith("reference"):
        return
    terms = explained(app.env.get_doctree(GLOSSARY))
    address = app.builder.get_relative_uri(page, GLOSSARY)
    # only in sentences: a heading or a table's label is no place for a link
    for paragraph in doctree.findall(nodes.paragraph):
        for text in list(paragraph.findall(nodes.Text)):
            if not _is_closed(text):
                _link(text, terms, address)


def _is_closed(text: nodes.Text) -> bool:
    """Tell whether a text is part of a link, of code or of a heading."""
    node = text.parent
    while node is not None:
        if isinstance(node, CLOSED):
            return True
        node = node.parent
    return False


def _link(text: nodes.Text, terms: dict[str, tuple[str, str]], address: str) -> None:
    """Link the terms of one text that stand in `terms`, and remove them there."""
    parts = []
    rest = str(text)
    while terms:
        found = _pattern(terms).search(rest)
        if not found:
            break
        anchor, explanation = terms.pop(_as_typed(found[1]).lower())
        link = nodes.reference(
            "", found[0], refuri=f"{address}#{anchor}", classes=["term"]
        )
        link["reftitle"] = explanation
        parts += [nodes.Text(rest[: found.start()]), link]
        rest = rest[found.end() :]
    if parts:
        parts.append(nodes.Text(rest))
        text.parent.replace(text, parts)


def _pattern(terms: dict[str, tuple[str, str]]) -> re.Pattern:
    """What finds any of the terms, as a whole word or its plural."""
    longest_first = sorted(terms, key=len, reverse=True)
    names = [re.escape(name) for name in longest_first]
    either = "|".join(names).replace("\\ ", r"\s").replace("'", "['’]")
    return re.compile(rf"(?<![\w-])({either})(s?)(?![\w-])", re.IGNORECASE)


def _as_typed(text: str) -> str:
    """Text with the spaces and apostrophes of a keyboard."""
    return " ".join(text.split()).replace("’", "'")
