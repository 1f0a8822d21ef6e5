"""The forms of Hosking et al. (2024): what each group of raters was asked, and allowed answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from helpers.files.schemas import ERRORS_1, ERRORS_2, FACTORS
from helpers.studies.hosking_files import COLUMN_NAMES

LABELS = {column: label for label, column in COLUMN_NAMES.items()}
NO_YES = {"No": 0.0, "Yes": 1.0}
ONE_TO_FIVE = {str(score): float(score) for score in range(1, 6)}
ATTENTION = {"positive_val": "attention_high", "negative_val": "attention_low"}
UNUSED_LABELS = {"email", "src", "instance_id", "factors_a", "factors_b", "feedback"}


@dataclass(frozen=True)
class Form:
    """What a group of raters was asked.

    Parameters
    ----------
    aspects : tuple of str
        Columns to be filled with the answers about each response: 0 for no and 1 for yes if the
        aspect is an error, 1 to 5 otherwise.
    attention : bool, optional
        Whether there are two more questions, to which 5 and 1 are the right answers.
    arms : bool, optional
        Whether the responses come from different arms.

    Examples
    --------
    >>> Form(("factuality",)).scales
    {'factuality': {'No': 0.0, 'Yes': 1.0}}
    """

    aspects: tuple[str, ...]
    attention: bool = False
    arms: bool = False

    @cached_property
    def scales(self) -> dict[str, Mapping[str, float]]:
        """Aspects and the answers that each allows."""
        return {aspect: NO_YES if aspect in ERRORS_1 else ONE_TO_FIVE for aspect in self.aspects}

    @cached_property
    def labels(self) -> set[str]:
        """Labels that a submission may have."""
        asked = {f"{LABELS.get(aspect, aspect)}_{side}" for aspect in self.aspects for side in "ab"}
        return asked | UNUSED_LABELS | (ATTENTION.keys() if self.attention else set())


FORMS = {
    (1, "errors"): Form(("quality_biased", *FACTORS, *ERRORS_1), attention=True),
    (1, "unbiased"): Form(("quality_unbiased",)),
    (2, "errors"): Form(("quality_biased", *ERRORS_2), attention=True, arms=True),
    (2, "unbiased"): Form(("quality_unbiased",), arms=True),
    (2, "perception"): Form(("assertiveness", "complexity"), arms=True),
}
