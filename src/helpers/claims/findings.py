"""What README and docs/findings.md say of claims and findings, written from results.

Both have parts between two comments, such as `<!-- short findings -->` and
`<!-- end -->`. `make refresh` writes them anew, and so does the site.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from helpers import paths
from helpers.claims import collection, verdicts
from helpers.data import studies
from helpers.data.published import ClaimError

PART = re.compile(r"<!-- ([\w ]+) -->\n.*?\n<!-- end -->", re.DOTALL)
BEYOND = "<!-- findings beyond -->"


def short_counts(judged: pd.DataFrame) -> str:
    """Say in a few sentences how many claims could be checked and how many hold.

    Parameters
    ----------
    judged : pandas.DataFrame
        As for `helpers.claims.verdicts.tally`.

    Returns
    -------
    str
        What stands on the first screen of README and site.

    Examples
    --------
    >>> judged = pd.DataFrame(
    ...     {
    ...         "kind": ["number", "direction"],
    ...         "published": ["3.2", "holds"],
    ...         "evidence": ["raw", "raw"],
    ...         "note": ["", ""],
    ...         "verdict": ["confirmed", "open"],
    ...         "after_correction": ["", ""],
    ...     }
    ... )
    >>> short_counts(judged).partition(": ")[0]
    'Of 2 claims 2 could be checked, and 1 of these hold'
    """
    counts = verdicts.tally(judged)
    total = counts.loc["all"]
    numbers = counts.loc[verdicts.NUMBERS_AND_COUNTS]
    sentences = counts.loc[verdicts.SENTENCES]
    text = (
        f"Of {total['claims']:,} claims {total['checked']:,} could be checked, and "
        f"{total['hold']:,} of these hold: {numbers['hold']:,} of "
        f"{numbers['checked']:,} numbers and counts, and {sentences['hold']:,} of "
        f"{sentences['checked']:,} sentences."
    )
    limits = []
    if total["consistent"]:
        limits.append(
            f"{total['consistent']:,} are only not refuted, because a paper's own "
            "rounded numbers, or random splits of its data drawn anew, are all there "
            "is to check them by"
        )
    if total["uncorrected"]:
        limits.append(
            f"{total['uncorrected']:,} hold only without a correction for many tests"
        )
    if limits:
        text += f" Of the {total['hold']:,} that hold, {'; '.join(limits)}."
    return text


def _in_italics(word: str) -> str:
    """A word that says how sure a finding is, as text."""
    return f"*{word[0].upper()}{word[1:]}.*"


@dataclass
class Findings:
    """Writes the parts of one text.

    Parameters
    ----------
    claims : pandas.DataFrame
        What `helpers.claims.collection.merge` returned.
    headlines : pandas.DataFrame
        Columns `headline`, `notebook`, `short`, `sentence` and `alternatives`.
    picture : callable
        Gives the Markdown of a picture, from its name.
    up : str, optional
        From the text to the project root, such as "../".
    badge : callable, optional
        Marks a word that says how sure a finding is.
    """

    claims: pd.DataFrame
    headlines: pd.DataFrame
    picture: Callable[[str], str]
    up: str = ""
    badge: Callable[[str], str] = field(default=_in_italics)

    def renew(self, text: str) -> str:
        """Write all marked parts of a text anew."""

        def anew(part: re.Match) -> str:
            mark = part[1]
            return f"<!-- {mark} -->\n\n{self.write(mark)}\n\n<!-- end -->"

        return PART.sub(anew, self._with_all_studies(text))

    def _with_all_studies(self, text: str) -> str:
        """Give each study a section in a text that has one for what is beyond them."""
        if BEYOND not in text:
            return text
        heading = text.rindex("## ", 0, text.index(BEYOND))
        before, after = text[:heading], text[heading:]
        for study in studies.read_studies():
            mark = f"<!-- findings {study['name']} -->"
            if mark not in before and study["name"] != studies.OTHER_DATA:
                before += f"## {study['citation']}\n\n{mark}\n\n<!-- end -->\n\n"
        return before + after

    def write(self, mark: str) -> str:
        """Write what a mark asks for, such as "counts" or "findings hosking"."""
        first, _, name = mark.partition(" ")
        if first == "findings":
            return self._list_of(name)
        if first == "picture":
            return self.picture(name)
        if mark == "counts":
            return verdicts.counted(self.claims)
        if mark == "short counts":
            return short_counts(self.claims)
        if mark == "short findings":
            return self._short_list()
        if mark == "problems":
            return self._problems()
        raise ClaimError(f"Nobody knows how to write what is marked: {mark}")

    def _rows(self) -> pd.DataFrame:
        """Headlines with the word that says how sure each is, surest first."""
        sure = collection.how_sure(self.claims)
        known = self.headlines.set_index("headline")
        known = known.reindex(sure.index).dropna(subset="notebook")
        return known.assign(sure=sure)

    def short(self) -> list[dict[str, str]]:
        """The findings that have a short form, surest first.

        Returns
        -------
        list of dict
            Each with `headline`, `notebook`, `sure`, `lead` (the first sentence)
            and `rest`.
        """
        found = []
        for row in self._rows().reset_index().itertuples():
            if row.short:
                lead, mark, rest = re.split(r"(?<=\w)([.?]) ", row.short, maxsplit=1)
                finding = {
                    "headline": row.headline,
                    "notebook": row.notebook,
                    "sure": row.sure,
                    "lead": lead + mark,
                    "rest": rest,
                }
                found.append(finding)
        return found

    def _short_list(self) -> str:
        """The findings that have a short form, as a list."""
        lines = []
        for row in self.short():
            lead = f"**{row['lead']}** {self.badge(row['sure'])}"
            parts = [lead, row["rest"], self._link(row["notebook"])]
            lines.append("- " + " ".join(part for part in parts if part))
        return "\n".join(lines)

    def _list_of(self, name: str) -> str:
        """The findings of a study in full, or those that go beyond all studies."""
        by_digit = studies.by_digit()
        lines = []
        for row in self._rows().reset_index().itertuples():
            is_here = by_digit.get(row.notebook[0], "beyond") == name
            if is_here and row.sentence:  # empty where its notebook has no results
                link = self._link(row.notebook)
                lines.append(f"- {self.badge(row.sure)} {row.sentence} {link}")
                if row.alternatives:
                    lines.append(f"  - {row.alternatives}")
        return "\n".join(lines) or "No headline finding is about it."

    def _problems(self) -> str:
        """What does not hold and touches a conclusion, worst verdict first."""
        problems = collection.problems(self.claims)
        titles = studies.titles()
        lines = []
        for row in problems[problems["touches"] == "conclusion"].itertuples():
            where = f"{titles[row.study]}, {row.where}"
            lines.append(f"- {where}: **{row.verdict}**. {row.explanation}")
        return "\n".join(lines) or "Nothing."

    def _link(self, notebook: str) -> str:
        """Link to a notebook by its number."""
        file = paths.notebook_place(notebook)
        return f"([{notebook[:2]}]({self.up}notebooks/{file}))"
