"""Columns of the tables of HumBEL, and the ages that its norms tell apart."""

from helpers.data.columns.kinds import COUNT, TEXT, one_of, table

AGES = (7, 9, 11, 13, 15, 17, 18, 19)

HUMBEL_ASSOCIATIONS = table(
    {
        "row": COUNT,
        "cue": TEXT,
        "association": TEXT,
        "explanation": TEXT,
        "relation": TEXT,
    },
    ["row"],
)
HUMBEL_NORMS = table(
    {"row": COUNT, "word": TEXT, "meaning": TEXT, "age": one_of(AGES, int)}, ["row"]
)
