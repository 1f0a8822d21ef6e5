"""Reference numbers of pyfixest's CRV3, which tests/test_regression.py compares.

    python tests/oracles/tables.py
    python tests/oracles/peers.py > tests/oracles/pyfixest.csv    # needs pyfixest

pyfixest brings numba and other packages, so that it is not among those of the tests.
"""

from pathlib import Path

import pandas as pd

FOLDER = Path("build/oracles")
# clusters of each table, features, and whether there is an intercept
TABLES = {
    "drawn": (["rater_id", "prompt_id"], ["label", "tone"], ""),
    "aspects": (
        ["rater_id", "question_id"],
        ["factuality", "amount_info", "formality"],
        " - 1",
    ),
}


def reference(name: str) -> pd.DataFrame:
    """Coefficients and standard errors by each kind of cluster and by both."""
    import pyfixest  # not among the packages of the tests

    kinds, features, end = TABLES[name]
    rows = pd.read_csv(FOLDER / f"{name}.csv")
    formula = f"lower ~ {' + '.join(features)}{end}"
    tables = []
    for clusters in [*kinds, "+".join(kinds)]:
        # without corrections for small samples, which are a matter of convention
        none = pyfixest.ssc(k_adj=False, G_adj=False)
        fit = pyfixest.feols(formula, rows, vcov={"CRV3": clusters}, ssc=none)
        values = {"estimate": fit.coef(), "standard_error": fit.se()}
        tables.append(pd.DataFrame(values).assign(table=name, clusters=clusters))
    return pd.concat(tables)


if __name__ == "__main__":
    table = pd.concat([reference(name) for name in TABLES])
    table.index.name = "coefficient"
    print(table.to_csv(), end="")
