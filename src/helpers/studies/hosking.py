"""The released ratings of Hosking et al. (2024), and what is reported of them.

Hosking, Blunsom and Bartolo (2024), "Human Feedback is not Gold Standard", ICLR.

Experiment 1 (section 2) compares crowd ratings of quality with ten kinds of error.
Experiment 2 (section 3) varies the assertiveness and complexity of responses; experts
rated 300 of them again.

In the released files rows 2k and 2k+1 are two responses that one person rated side by
side. Some pairs are attention checks: a response and a distractor, which is another
response of the same system to a different prompt. Neither side of such a pair counts
towards the released averages, even where the response was rated in other pairs too;
`without_checks` leaves out both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from helpers import paths
from helpers.aggregation import aggregate
from helpers.data import published, registry, tables
from helpers.data.columns import check
from helpers.data.columns import hosking as columns
from helpers.data.columns.hosking import ERRORS_1, ERRORS_2, FACTORS
from helpers.data.raters import anonymise
from helpers.simulate import hosking as simulated

SYSTEM_NAMES = {
    "command_52B_v14_20230622": "Command 52B",
    "command_52Bpref_v14.7_20230817": "Command 52B",
    "command_6B_v14_20230622": "Command 6B",
    "command_6Bpref_v14.7_20230817": "Command 6B",
    "falcon40": "Falcon 40B",
    "llama13chat": "Llama 2 13B",
    "mpt30instruct": "MPT 30B",
    "refs": "References",
}
ARM_NAMES = {
    "normal": "baseline",
    "confidence_low": "assertive_low",
    "confidence_high": "assertive_high",
    "complexity_low": "complex_low",
    "complexity_high": "complex_high",
}
COLUMN_NAMES = {
    "assertive": "assertiveness",
    "inconsistent": "inconsistency",
    "length": "response_words",
    "overall": "quality_biased",
    "score": "quality_unbiased",
    "useful": "usefulness",
}
# The words of notebooks and tables, in place of those of the released files.
ERROR_NAMES = {
    "factuality": "factual error",
    "relevance": "irrelevance",
    "harmful": "harmful content",
}
TASK_NAMES = {
    "wikihow": "how-to",
    "amazon": "product text",
    "curation": "summary",
    "dialogsum": "dialogue summary",
    "factualnlg": "factuality check",
}
CONDITION_NAMES = {
    "baseline": "no instruction",
    "assertive_low": "cautious",
    "assertive_high": "assertive",
    "complex_low": "simple",
    "complex_high": "complex",
}
OTHER_NAMES = {
    "quality_unbiased": "score",
    "quality_biased": "score_beside_errors",
    "response_words": "words",
    "n_ratings": "raters",
}
TEN_ERRORS = [ERROR_NAMES.get(error, error) for error in ERRORS_1]  # experiment 1
SEVEN_ERRORS = [ERROR_NAMES.get(error, error) for error in ERRORS_2]  # experiment 2
SIX_ERRORS = [error for error in SEVEN_ERRORS if error != "refusal"]
CONDITIONS = list(CONDITION_NAMES.values())
LABELS_BY = {"majority": "mode", "share": "mean"}
FORMS = {"errors": "errors", "score": "unbiased", "style": "perception"}

DISTRACTOR = "distractor"  # in place of a model's name
DISTRACTOR_PREFIX = "distractor_"  # of the number of a prompt
DISTRACTOR_MARK = "|distractor"  # at the end of our name of an output
KEYS = ["dataset", "sample_ix", "model"]
DESIGN = ("prompt_id", "task", "system", "arm")
FIRST = ("item_id", "prompt_id", "task", "system")
SCORES = (
    "score",
    "score_beside_errors",
    *FACTORS,
    "assertiveness",
    "complexity",
    "words",
)

FILES_1 = {
    "hosking/batch_v1/granular_full.parquet": columns.HOSKING_1_ERRORS,
    "hosking/batch_v1/unbiased_full.parquet": columns.HOSKING_1_UNBIASED,
}
FILES_2 = {
    "hosking/batch_controlled/errors_full.parquet": columns.HOSKING_2_ERRORS,
    "hosking/batch_controlled/unbiased_full.parquet": columns.HOSKING_2_UNBIASED,
    "hosking/batch_controlled/groupings_full.parquet": columns.HOSKING_2_PERCEPTION,
}
EXPERT_FILES = {
    "hosking/expert/annotated_instances_confound_validation_0.jsonl": "pilot",
    "hosking/expert/annotated_instances_confound_validation_1.jsonl": "main",
    "hosking/expert/annotated_instances_confound_validation_2.jsonl": "main",
}
AVERAGES = {
    1: "hosking/batch_v1/combined_filtered.parquet",
    2: "hosking/batch_controlled/combined_filtered.parquet",
}


@dataclass(frozen=True)
class Experiment1:
    """Ratings of experiment 1.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    errors : pandas.DataFrame
        Error checks and ratings given beside them; columns of
        `columns.hosking.HOSKING_1_ERRORS`.
    unbiased : pandas.DataFrame
        Quality from forms without error checks, most of them by other raters; columns
        of `columns.hosking.HOSKING_1_UNBIASED`.
    seed : int, optional
        Seed of the simulation, if there is one.
    """

    source: str
    errors: pd.DataFrame
    unbiased: pd.DataFrame
    seed: int = 0

    def answers(self, labels: str = "majority") -> pd.DataFrame:
        """Give one row per answer, with the ratings of all its raters together.

        Parameters
        ----------
        labels : {"majority", "share"}, optional
            ``"majority"``: an error is 1 if most raters labelled it, 0 if most did not,
            and 0.5 in a tie. ``"share"``: the share of raters who labelled it.

        Returns
        -------
        pandas.DataFrame, shape (900, 24)
            ``item_id``, ``prompt_id``, ``task`` ("how-to", "product text" or
            "summary"), ``system``, ``raters`` (people who checked errors), the errors
            in `TEN_ERRORS`, and means over raters from 1 to 5: ``score`` (from a form
            without errors), ``score_beside_errors`` (from the form with errors),
            ``confidence``, ``style``, ``detail``, ``clarity``, ``creativity``,
            ``usefulness``; and the length, ``words``. Attention checks are left out.

        Raises
        ------
        tables.OptionError
            If `labels` is unknown.

        References
        ----------
        Hosking et al. (2024), section 2.1.

        Examples
        --------
        >>> answers = load_experiment_1("simulated").answers("share")
        >>> answers["factual error"].between(0, 1).all()
        np.True_
        """
        outputs = self.outputs(errors_by=_labels_by(labels))
        return _renamed(outputs, [*FIRST, "raters"], TEN_ERRORS, SCORES)

    def ratings(
        self, form: str, *, attention_checks: bool = False, other_tasks: bool = False
    ) -> pd.DataFrame:
        """Give single ratings, one row per answer and person.

        Parameters
        ----------
        form : {"errors", "score"}
            The form with ten errors, or the form that asked for a score alone.
        attention_checks : bool, optional
            Whether to include pairs in which one answer belongs to another prompt.
        other_tasks : bool, optional
            Whether to include two tasks that were rated and that the paper does not
            report.

        Returns
        -------
        pandas.DataFrame
            ``item_id``, ``prompt_id``, ``task``, ``system``, ``rater_id`` (the same in
            both forms), ``pair_id``, ``partner_id`` (the answer rated beside this one),
            ``is_distractor`` (belongs to another prompt), what was asked, under the
            names of `answers`, and ``seconds`` spent on both answers of the pair.

        Raises
        ------
        tables.OptionError
            If the form is unknown.
        registry.DataError, tables.BadTableError
            If a file cannot be had or is not as expected.

        Examples
        --------
        >>> scores = load_experiment_1("simulated").ratings("score")
        >>> len(scores), scores["item_id"].nunique()
        (4080, 900)
        """
        return _single_ratings(1, self, form, attention_checks, other_tasks)

    def outputs(self, errors_by: str = "mode") -> pd.DataFrame:
        """Summarise the ratings of each output; attention checks are left out.

        Parameters
        ----------
        errors_by : {"mode", "mean"}, optional
            How the raters' error checks (0 or 1) are combined. In a mode, values that
            tie are averaged. The default is that of section 2.1. Ratings from 1 to 5
            are averaged.

        Returns
        -------
        pandas.DataFrame, shape (n_outputs, 25)
            The design, ``n_ratings`` (raters who checked errors), the ten errors,
            quality from both forms, the six factors and ``response_words``.

        Raises
        ------
        ValueError
            If a way to combine ratings is unknown.

        Examples
        --------
        >>> load_experiment_1("simulated").outputs().columns[:6].tolist()
        ['item_id', 'prompt_id', 'task', 'system', 'arm', 'n_ratings']
        """
        combine_by = dict.fromkeys(ERRORS_1, errors_by)
        for column in ("quality_biased", *FACTORS, "response_words"):
            combine_by[column] = "mean"
        outputs = _combined(self.errors, combine_by, first=DESIGN)
        quality = _combined(self.unbiased, {"quality_unbiased": "mean"})
        outputs = outputs.join(quality["quality_unbiased"]).reset_index()
        outputs.attrs["source"] = self.source
        return outputs


@dataclass(frozen=True)
class Experiment2:
    """Ratings of experiment 2, each table from forms of one kind.

    Some people filled in forms of several kinds.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where the tables come from.
    errors : pandas.DataFrame
        Error checks and quality given beside them; columns of
        `columns.hosking.HOSKING_2_ERRORS`.
    unbiased : pandas.DataFrame
        Quality without error checks; columns of `columns.hosking.HOSKING_2_UNBIASED`.
    perception : pandas.DataFrame
        Perceived assertiveness and complexity; columns of
        `columns.hosking.HOSKING_2_PERCEPTION`.
    seed : int, optional
        Seed of the simulation, if there is one.
    """

    source: str
    errors: pd.DataFrame
    unbiased: pd.DataFrame
    perception: pd.DataFrame
    seed: int = 0

    def answers(self, labels: str = "majority") -> pd.DataFrame:
        """Give one row per answer, with the ratings of all its raters together.

        Parameters
        ----------
        labels : {"majority", "share"}, optional
            ``"majority"``: an error is 1 if most raters labelled it, 0 if most did not,
            and 0.5 in a tie. ``"share"``: the share of raters who labelled it.

        Returns
        -------
        pandas.DataFrame, shape (1500, 18)
            ``item_id``, ``prompt_id``, ``task`` ("how-to", "product text" or
            "summary"), ``system``, ``condition`` (one of `CONDITIONS`, by the system
            prompt), ``raters`` (people who checked errors), the errors in
            `SEVEN_ERRORS`, ``score`` (from a form without errors),
            ``score_beside_errors`` (from the form with errors; as in the released file,
            the most frequent one), ``assertiveness``, ``complexity`` (all from 1 to 5)
            and the length, ``words``. Attention checks are left out.

        Raises
        ------
        tables.OptionError
            If `labels` is unknown.

        References
        ----------
        Hosking et al. (2024), section 3.1.

        Examples
        --------
        >>> answers = load_experiment_2("simulated").answers()
        >>> answers["condition"].value_counts()["cautious"]
        np.int64(300)
        """
        outputs = self.outputs(errors_by=_labels_by(labels))
        first = [*FIRST, "condition", "raters"]
        return _renamed(outputs, first, SEVEN_ERRORS, SCORES)

    def ratings(self, form: str, *, attention_checks: bool = False) -> pd.DataFrame:
        """Give single ratings, one row per answer and person.

        Parameters
        ----------
        form : {"errors", "score", "style"}
            The form with seven errors, the form that asked for a score alone, or the
            form that asked for assertiveness and complexity.
        attention_checks : bool, optional
            Whether to include pairs in which one answer belongs to another prompt.

        Returns
        -------
        pandas.DataFrame
            ``item_id``, ``prompt_id``, ``task``, ``system``, ``condition``,
            ``rater_id`` (the same in all three forms), ``pair_id``, ``partner_id`` (the
            answer rated beside this one), ``is_distractor`` (belongs to another
            prompt), what was asked, under the names of `answers`, and ``seconds`` spent
            on both answers of the pair.

        Raises
        ------
        tables.OptionError
            If the form is unknown.
        registry.DataError, tables.BadTableError
            If a file cannot be had or is not as expected.

        Examples
        --------
        >>> style = load_experiment_2("simulated").ratings("style")
        >>> style["assertiveness"].between(1, 5).all()
        np.True_
        """
        return _single_ratings(2, self, form, attention_checks, other_tasks=False)

    def experts(self, *, pilot: bool = False) -> pd.DataFrame:
        """Give the expert's labels of 300 answers.

        Parameters
        ----------
        pilot : bool, optional
            Whether to give earlier labels of 16 of these answers instead.

        Returns
        -------
        pandas.DataFrame
            ``item_id``, ``prompt_id``, ``task``, ``system``, ``condition``,
            ``rater_id`` and the errors in `SEVEN_ERRORS`, 0 or 1.

        Raises
        ------
        registry.DataError, tables.BadTableError
            If a file cannot be had or is not as expected.

        Examples
        --------
        >>> study = load_experiment_2("simulated")
        >>> len(study.experts()), len(study.experts(pilot=True))
        (300, 16)
        """
        labels = load_experts(self.source, self.seed)
        batch = "pilot" if pilot else "main"
        of_batch = labels[labels["batch"] == batch]
        return _renamed(
            of_batch, [*FIRST, "condition", "rater_id"], SEVEN_ERRORS, others=()
        )

    def labelled_by_both(self) -> pd.DataFrame:
        """Set the expert's labels beside those of the workers, on the same answers.

        Returns
        -------
        pandas.DataFrame, shape (2100, 13)
            One row per answer and error: ``item_id``, ``prompt_id``, ``task``,
            ``system``, ``condition``, ``error`` (one of `SEVEN_ERRORS`), ``expert`` (0
            or 1), ``majority`` (of the workers: 0, 1, or 0.5 in a tie), ``share`` (of
            the workers), ``k`` workers of ``n`` who labelled the error, and whether the
            answer is a refusal, the same for all errors of an answer:
            ``refusal_expert`` (0 or 1) and ``refusal_majority``. The paper leaves out
            what either side calls a refusal: ``query("refusal_expert == 0 and
            refusal_majority < 1")``, 279 answers.

        Raises
        ------
        registry.DataError, tables.BadTableError
            If a file cannot be had or is not as expected.

        References
        ----------
        Hosking et al. (2024), section 3.2.

        Examples
        --------
        >>> both = load_experiment_2("simulated").labelled_by_both()
        >>> both.query("error == 'factual error'")["n"].min() > 0
        np.True_
        """
        experts = self.experts()
        majority = self.answers("majority").set_index("item_id")
        share = self.answers("share").set_index("item_id")
        table = experts.melt(
            [*FIRST, "condition"],
            SEVEN_ERRORS,
            var_name="error",
            value_name="expert",
        )
        key = ["item_id", "error"]
        by_answer = {"majority": majority, "share": share}
        for name, answers in by_answer.items():
            long = answers[SEVEN_ERRORS].rename_axis(columns="error").stack()
            table = table.join(long.rename(name), on=key, validate="one_to_one")
        table["n"] = majority["raters"].reindex(table["item_id"]).to_numpy()
        k = (table["share"] * table["n"]).round().astype(int)
        table.insert(table.columns.get_loc("n"), "k", k)
        refusal = experts.set_index("item_id")["refusal"]
        table["refusal_expert"] = refusal.reindex(table["item_id"]).to_numpy()
        of_answer = majority["refusal"].reindex(table["item_id"])
        table["refusal_majority"] = of_answer.to_numpy()
        return table

    def outputs(self, errors_by: str = "mode", biased_by: str = "mode") -> pd.DataFrame:
        """Summarise the ratings of each output; attention checks are left out.

        Parameters
        ----------
        errors_by, biased_by : {"mode", "mean"}, optional
            How the raters' error checks and the quality given beside them are combined;
            other ratings are averaged. In a mode, values that tie are averaged. The
            defaults reproduce the released averages; the paper describes means for all
            quality scores.

        Returns
        -------
        pandas.DataFrame, shape (n_outputs, 18)
            The design, ``n_ratings`` (raters who checked errors), the seven errors,
            quality from both forms, mean ``assertiveness`` and ``complexity``, and
            ``response_words``.

        Raises
        ------
        ValueError
            If a way to combine ratings is unknown.

        Examples
        --------
        >>> outputs = load_experiment_2("simulated").outputs()
        >>> outputs["assertiveness"].between(1, 5).all()
        np.True_
        """
        combine_by = dict.fromkeys(ERRORS_2, errors_by)
        combine_by["quality_biased"] = biased_by
        outputs = _combined(self.errors, combine_by, first=DESIGN)
        quality = _combined(self.unbiased, {"quality_unbiased": "mean"})
        tone_columns = ["assertiveness", "complexity", "response_words"]
        tone = _combined(self.perception, dict.fromkeys(tone_columns, "mean"))
        outputs = outputs.join(quality["quality_unbiased"]).join(tone[tone_columns])
        outputs = outputs.reset_index()
        outputs.attrs["source"] = self.source
        return outputs


def load_experiment_1(data_source: str = "real", seed: int = 0) -> Experiment1:
    """Load experiment 1: 900 outputs, 4,440 ratings by each of two groups.

    Who gave a rating is not in these tables: the method `ratings` gives the same
    ratings with people, ``rater_id``.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    Experiment1
        The ratings and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_experiment_1("simulated").source
    'simulated'
    """
    located = registry.locate(FILES_1, data_source)
    if located is None:
        return Experiment1("simulated", *_simulated(1, FILES_1, seed), seed)
    errors, unbiased = _read_tables(located, FILES_1)
    return Experiment1("real", errors, unbiased)


def load_experiment_2(data_source: str = "real", seed: int = 0) -> Experiment2:
    """Load experiment 2: 1,500 outputs, 7,200 ratings by each of three groups.

    Who gave a rating is not in these tables: the method `ratings` gives the same
    ratings with people, ``rater_id``.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    Experiment2
        The ratings and where they come from.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_experiment_2("simulated").source
    'simulated'
    """
    located = registry.locate(FILES_2, data_source)
    if located is None:
        return Experiment2("simulated", *_simulated(2, FILES_2, seed), seed)
    errors, unbiased, perception = _read_tables(located, FILES_2)
    return Experiment2("real", errors, unbiased, perception)


def _labels_by(labels: str) -> str:
    """Translate how labels are counted into how ratings are combined."""
    if labels not in LABELS_BY:
        raise tables.OptionError(
            f"labels {labels!r} is unknown: choose 'majority' or 'share'"
        )
    return LABELS_BY[labels]


def _renamed(
    table: pd.DataFrame,
    first: Sequence[str],
    errors: Sequence[str],
    others: Sequence[str],
) -> pd.DataFrame:
    """Give columns and values the names of notebooks; keep those that are named."""
    named = table.rename(columns=ERROR_NAMES | OTHER_NAMES)
    named = named.assign(
        task=table["task"].replace(TASK_NAMES),
        condition=table["arm"].replace(CONDITION_NAMES),
    )
    columns = [column for column in (*first, *errors, *others) if column in named]
    return named[columns].reset_index(drop=True)


def _single_ratings(
    experiment: int,
    study: Experiment1 | Experiment2,
    form: str,
    attention_checks: bool,
    other_tasks: bool,
) -> pd.DataFrame:
    """Load what people submitted on one form; a person has one label in all forms."""
    # here, since that module imports this one
    from helpers.studies import hosking_submissions

    forms = FORMS if experiment == 2 else {"errors": "errors", "score": "unbiased"}
    if form not in forms:
        raise tables.OptionError(
            f"form {form!r} is unknown: choose from {', '.join(forms)}"
        )
    submitted = hosking_submissions.submissions_of_same_raters(
        experiment, forms.values(), study.source, study.seed
    )
    rows = submitted[forms[form]]
    if not other_tasks:
        rows = rows[rows["reported"]]
    if not attention_checks:
        rows = without_checks(rows)
    condition = ["condition"] if experiment == 2 else []
    first = [*FIRST, *condition, "rater_id", "pair_id", "partner_id", "is_distractor"]
    errors = TEN_ERRORS if experiment == 1 else SEVEN_ERRORS
    return _renamed(rows, first, errors, [*SCORES, "seconds"])


def reported(topic: str) -> pd.Series:
    """Read what the paper and the authors' notebooks report on a topic.

    Parameters
    ----------
    topic : str
        Beginning of ids in `data/published/claims.csv` or
        `data/published/hosking_notebooks.csv`, without "hosking.", for example
        ``"authors.lasso.weight"`` or ``"agreement"``.

    Returns
    -------
    pandas.Series of float
        Indexed by the rest of the id, in the names of notebooks where it names an error
        or a condition. Missing beside simulated data. Statements without a number are
        left out.

    Raises
    ------
    tables.OptionError
        If nothing is reported under this name.

    Examples
    --------
    >>> reported("authors.lasso.weight")["refusal"]
    np.float64(0.95)
    """
    claims = published.published_claims()["printed"]
    authors = published.read_text(paths.PUBLISHED / "hosking_notebooks.csv")
    numbers = pd.concat([claims, authors.set_index("id")["printed"]])
    prefix = f"hosking.{topic}."
    of_topic = numbers[numbers.index.str.startswith(prefix) & (numbers != "")]
    if of_topic.empty:
        raise tables.OptionError(
            f"nothing is reported on {topic!r}: give the beginning of an id in "
            "data/published/claims.csv or hosking_notebooks.csv, without 'hosking.'"
        )
    of_topic.index = of_topic.index.str.removeprefix(prefix)
    names = ERROR_NAMES | CONDITION_NAMES
    return published.reported(of_topic).astype(float).rename(index=names)


def _simulated(
    experiment: int, files: Mapping[str, pa.DataFrameSchema], seed: int
) -> list[pd.DataFrame]:
    """Simulate one table per file; who rated is not among the columns."""
    return [
        simulated.ratings(experiment, form, seed)[list(schema.columns)]
        for form, schema in zip(FORMS.values(), files.values(), strict=False)
    ]


def _read_tables(
    located: Mapping[str, Path], files: Mapping[str, pa.DataFrameSchema]
) -> list[pd.DataFrame]:
    """Read one table per file."""
    return [read_pairs(located[file], schema) for file, schema in files.items()]


def read_pairs(path: Path, schema: pa.DataFrameSchema) -> pd.DataFrame:
    """Read a released table of crowd ratings; its rows 2k and 2k + 1 are a pair."""
    raw = tables.read_parquet(path)
    tables.require(raw, KEYS, path.name)
    raw = tables.as_text(raw, ["dataset", "model"], path.name)
    if len(raw) % 2:
        problem = f"{len(raw)} rows: rows form pairs, so their number must be even"
        raise tables.bad_table(path.name, [problem])
    row = np.arange(len(raw))
    pair = row // 2
    other_row = row ^ 1  # 0 and 1, 2 and 3, ... change places
    # A distractor is of the same system as the response that it stands beside.
    is_distractor = raw["model"] == DISTRACTOR
    model = raw["model"].where(~is_distractor, raw["model"].to_numpy()[other_row])
    table = raw.rename(columns=COLUMN_NAMES).assign(
        **design_of(raw, model),
        is_distractor=is_distractor,
        pair_id=pair,
    )
    distractor_id = table["item_id"] + DISTRACTOR_MARK
    table["item_id"] = table["item_id"].mask(is_distractor, distractor_id)
    return check(table, schema, path.name)


def load_experts(data_source: str = "real", seed: int = 0) -> pd.DataFrame:
    """Load the experts' error checks: the 300 of the paper, and a pilot on 16 of them.

    The released identifier is a name and a running number of the submission; raters are
    told apart by the name alone.

    Parameters
    ----------
    data_source : {"real", "simulated"}, optional
        As `registry.locate`.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.DataFrame
        Columns of `columns.hosking.HOSKING_EXPERTS`. The paper uses the 300 outputs of
        batch ``"main"``; batch ``"pilot"`` holds earlier labels of 16 of them.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_experts("simulated")["batch"].unique().tolist()
    ['pilot', 'main']
    """
    located = registry.locate(EXPERT_FILES, data_source)
    if located is None:
        return simulated.experts(seed)
    batches = [read_experts(path, EXPERT_FILES[file]) for file, path in located.items()]
    labels = pd.concat(batches, ignore_index=True)
    return labels.assign(rater_id=anonymise(labels["rater_id"]))


def read_experts(path: Path, batch: str) -> pd.DataFrame:
    """Read a file of experts' error checks, one JSON object per output."""
    raw = tables.read_jsonl(path)
    # What was asked stands in inner objects; only side a of the form was used.
    raw.columns = [name.rpartition(".")[2].removesuffix("_a") for name in raw.columns]
    tables.require(raw, [*KEYS, "preamble_type", "email"], path.name)
    raw = tables.as_text(raw, ["dataset", "model", "preamble_type", "email"], path.name)
    table = raw.replace({"No": 0, "Yes": 1}).rename(columns=COLUMN_NAMES)
    table = table.assign(
        **design_of(raw, raw["model"]),
        rater_id=raw["email"].str.replace(r"_\d+$", "", regex=True),
        batch=batch,
    )
    return check(table, columns.HOSKING_EXPERTS, path.name)


def design_of(raw: pd.DataFrame, model: pd.Series) -> dict[str, pd.Series | str]:
    """Name task, prompt, system and arm of each row; `check` refuses unknown names."""
    number = raw["sample_ix"].astype(str).str.removeprefix(DISTRACTOR_PREFIX)
    prompt_id = raw["dataset"] + "-" + number
    system = model.replace(SYSTEM_NAMES)
    arm = "baseline"
    if "preamble_type" in raw:
        arm = raw["preamble_type"].replace(ARM_NAMES)
    return {
        "item_id": item_name(prompt_id, system, arm),
        "prompt_id": prompt_id,
        "task": raw["dataset"],
        "system": system,
        "arm": arm,
    }


def item_name(
    prompt_id: str | pd.Series, system: str | pd.Series, arm: str | pd.Series
) -> str | pd.Series:
    """Name an output, or a column of outputs, by prompt, system and arm."""
    return prompt_id + "|" + system + "|" + arm


def without_checks(ratings: pd.DataFrame) -> pd.DataFrame:
    """Leave out attention checks: pairs in which one response is a distractor.

    Parameters
    ----------
    ratings : pandas.DataFrame
        Any table of the two experiments.

    Returns
    -------
    pandas.DataFrame
        The rows of all other pairs.

    Examples
    --------
    >>> ratings = pd.DataFrame(
    ...     {"pair_id": [0, 0, 1], "is_distractor": [False, True, False]}
    ... )
    >>> without_checks(ratings)["pair_id"].tolist()
    [1]
    """
    checks = ratings.loc[ratings["is_distractor"], "pair_id"]
    return ratings[~ratings["pair_id"].isin(checks)]


def _combined(
    ratings: pd.DataFrame, combine_by: Mapping[str, str], first: Sequence[str] = ()
) -> pd.DataFrame:
    """Combine the ratings of each output by "mode" or "mean"; leave out checks."""
    for column, method in combine_by.items():
        if method not in ("mode", "mean"):
            raise ValueError(
                f"{column} can be combined by 'mode' or 'mean', not {method!r}"
            )
    by_mean = [column for column in combine_by if combine_by[column] == "mean"]
    by_mode = [column for column in combine_by if combine_by[column] == "mode"]
    combined = aggregate(
        without_checks(ratings), "item_id", mean=by_mean, mode=by_mode, first=first
    )
    return combined.set_index("item_id")


def load_averages(
    experiment: int, data_source: str = "real", seed: int = 0
) -> pd.DataFrame:
    """Load the released averages of all outputs of an experiment.

    Parameters
    ----------
    experiment : {1, 2}
        The experiment.
    data_source : {"real", "simulated"}, optional
        As `registry.locate`. Simulated averages are our own of the simulated ratings.
    seed : int, optional
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.DataFrame of float
        Indexed by ``item_id``: errors, quality and other ratings, in our names.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> load_averages(2, "simulated").shape
    (1500, 12)
    """
    file = AVERAGES[experiment]
    located = registry.locate([file], data_source)
    if located is None:
        load = load_experiment_1 if experiment == 1 else load_experiment_2
        outputs = load("simulated", seed).outputs().drop(columns="n_ratings")
        return outputs.set_index("item_id").select_dtypes("number")
    path = located[file]
    raw = tables.read_parquet(path).reset_index()
    tables.require(raw, KEYS, path.name)
    item_id = design_of(raw, raw["model"])["item_id"].rename("item_id")
    averages = raw.drop(columns=[*KEYS, "preamble_type"], errors="ignore")
    averages = averages.rename(columns=COLUMN_NAMES | {"unbiased": "quality_unbiased"})
    return averages.set_index(item_id).sort_index().astype(float)


def distance(averages: pd.DataFrame, outputs: pd.DataFrame) -> pd.Series:
    """Largest distance of each released average from ours.

    Parameters
    ----------
    averages : pandas.DataFrame
        From `load_averages`.
    outputs : pandas.DataFrame
        One row per output, from the method ``outputs`` of an experiment.

    Returns
    -------
    pandas.Series of float
        Indexed by rating. An output that is missing on one side makes it missing.

    Examples
    --------
    >>> study = load_experiment_2("simulated")
    >>> distance(load_averages(2, "simulated"), study.outputs())["quality_biased"]
    np.float64(0.0)
    """
    ours = outputs.set_index("item_id")
    shared = [column for column in averages if column in ours]
    return (averages[shared] - ours[shared]).abs().max(skipna=False)
