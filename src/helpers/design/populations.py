"""Populations from which data sets are drawn as large as the tables they are made from.

A table is taken for all there is; a data set is a sample of its clusters, with replacement.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from helpers.files.tables import check_clusters


@dataclass(frozen=True, eq=False)
class Clusters:
    """A population of clusters, each of them a set of rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows.
    cluster : str
        Column of clusters.
    within : tuple of str, optional
        Other columns of labels that copies of a cluster must not share, such as items.

    Examples
    --------
    >>> outputs = pd.DataFrame({"prompt_id": ["a", "a", "b"], "score": [4.0, 5.0, 1.0]})
    >>> sample = Clusters(outputs, "prompt_id").sample(np.random.default_rng(0))
    >>> sample["prompt_id"].nunique()
    2
    """

    frame: pd.DataFrame
    cluster: str
    within: tuple[str, ...] = ()

    @cached_property
    def _groups(self) -> list[np.ndarray]:
        """Positions of the rows of each cluster."""
        check_clusters(self.frame, self.cluster)
        return list(self.frame.groupby(self.cluster, sort=True).indices.values())

    def sample(self, rng: np.random.Generator) -> pd.DataFrame:
        """Draw as many clusters as there are, with replacement.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        pandas.DataFrame
            Rows of the clusters drawn; a cluster drawn twice appears under two labels.
        """
        drawn = rng.integers(len(self._groups), size=len(self._groups))
        copies = [self._groups[number] for number in drawn]
        copy = np.repeat(np.arange(len(copies)), [len(rows) for rows in copies])
        sample = self.frame.take(np.concatenate(copies)).reset_index(drop=True)
        labels = {column: _relabel(sample[column], copy) for column in self.within}
        return sample.assign(**{self.cluster: copy}, **labels)


@dataclass(frozen=True, eq=False)
class TwoWays:
    """A population of raters and prompts; a row is what a rater said about an item of a prompt.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows.
    rater, prompt : str
        Columns of the two kinds of cluster.
    within : tuple of str, optional
        Columns of labels within prompts, such as items.

    References
    ----------
    Owen (2007), The Pigeonhole Bootstrap.

    Examples
    --------
    >>> marks = pd.DataFrame({"rater_id": [1, 1, 2, 2], "prompt_id": [1, 2, 1, 2]})
    >>> sample = TwoWays(marks, "rater_id", "prompt_id").sample(np.random.default_rng(1))
    >>> len(sample), sample.drop_duplicates().shape
    (4, (4, 2))
    """

    frame: pd.DataFrame
    rater: str
    prompt: str
    within: tuple[str, ...] = ()

    @cached_property
    def _codes(self) -> list[np.ndarray]:
        """Number of each row's rater, and of its prompt."""
        columns = (self.rater, self.prompt)
        for column in columns:
            check_clusters(self.frame, column)
        return [pd.factorize(self.frame[column], sort=True)[0] for column in columns]

    def sample(self, rng: np.random.Generator) -> pd.DataFrame:
        """Draw as many raters and as many prompts as there are, with replacement.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        pandas.DataFrame
            What the raters drawn said about the prompts drawn, each copy under its own label.
        """
        times = []
        for codes in self._codes:
            size = codes.max() + 1
            times.append(np.bincount(rng.integers(size, size=size), minlength=size)[codes])
        copies = times[0] * times[1]
        rows = np.repeat(np.arange(len(copies)), copies)
        order = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
        rater_copy, prompt_copy = order % times[0][rows], order // times[0][rows]
        sample = self.frame.take(rows).reset_index(drop=True)
        labels = {column: _relabel(sample[column], prompt_copy) for column in self.within}
        return sample.assign(
            **{
                self.rater: _relabel(sample[self.rater], rater_copy),
                self.prompt: _relabel(sample[self.prompt], prompt_copy),
            },
            **labels,
        )


@dataclass(frozen=True, eq=False)
class Measurements:
    """A population of one: numbers that are measured anew with normal errors.

    Parameters
    ----------
    frame : pandas.DataFrame
        The true numbers and their standard errors.
    value, error : str
        Columns of the numbers and of the standard errors.

    Examples
    --------
    >>> accuracies = pd.DataFrame({"mean": [0.7, 0.8], "se": [0.0, 0.0]})
    >>> Measurements(accuracies, "mean", "se").sample(np.random.default_rng(0))["mean"].tolist()
    [0.7, 0.8]
    """

    frame: pd.DataFrame
    value: str
    error: str

    def sample(self, rng: np.random.Generator) -> pd.DataFrame:
        """Measure every number once more.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        pandas.DataFrame
        """
        measured = rng.normal(self.frame[self.value], self.frame[self.error])
        return self.frame.assign(**{self.value: measured})


Population = Clusters | TwoWays | Measurements


def _relabel(labels: pd.Series, copy: np.ndarray) -> np.ndarray:
    """Numbers that tell the copies of each label apart."""
    codes = pd.factorize(labels)[0]
    return codes * (copy.max(initial=0) + 1) + copy
