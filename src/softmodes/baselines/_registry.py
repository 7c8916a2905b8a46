"""One interface for clustering methods: a name, an encoding, and a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes._parameters import choice
from softmodes._table.codebook import learn

Encoding: TypeAlias = Literal["table", "codes", "one-hot"]
Method: TypeAlias = Callable[..., Any]
"""A function of rows, `n_clusters`, `random_state` and more; returns labels or an `Outcome`."""
_Function = TypeVar("_Function", bound=Method)

_ENCODERS: dict[str, Callable[[Any], Any]] = {}
_BASELINES: dict[str, Baseline] = {}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method has found, if it also tells how good that is by its own measure.

    Attributes
    ----------
    labels
        An integer for every row.
    objective
        What the method makes as low as it can (a cost, minus a log-likelihood), so that the best
        of several runs can be told without knowing classes; None if it has no such measure.
    """

    labels: Any
    objective: float | None = None


@dataclass(frozen=True)
class Baseline:
    """A clustering method that `cluster` knows.

    Attributes
    ----------
    name
        What `cluster` calls it.
    encoding
        What its function gets: the "table" as it came; the integer "codes" of its cells as
        floats; or their "one-hot" codes, a column of 0 and 1 for each value of each column.
    run
        The function, of the rows, `n_clusters`, `random_state` and parameters of its own.
    """

    name: str
    encoding: Encoding
    run: Method

    def outcome(
        self, rows: Any, n_clusters: int, random_state: Any = None, **params: Any
    ) -> Outcome:
        """Run the method on rows in its encoding, and check what it returns."""
        found = self.run(rows, n_clusters, random_state, **params)
        found = found if isinstance(found, Outcome) else Outcome(found)
        labels, n_rows = np.asarray(found.labels), _n_rows(rows)
        if labels.shape != (n_rows,) or labels.dtype.kind not in "iu":
            raise ValueError(
                f"The method {self.name!r} returned labels of shape {labels.shape} and type "
                f"{labels.dtype}. Let it return one integer for each of the {n_rows} rows."
            )
        objective = None if found.objective is None else float(found.objective)
        return Outcome(labels.astype(np.intp, copy=False), objective)


def register(name: str, encoding: Encoding = "table") -> Callable[[_Function], _Function]:
    """Add a function as a clustering method; use it as a decorator.

    Parameters
    ----------
    name : str
        A name that no other method has.
    encoding : {"table", "codes", "one-hot"}, default="table"
        What the function gets as rows; see `Baseline`.

    Returns
    -------
    callable
        The decorator; it returns the function as it is. The function is called with the rows,
        `n_clusters` and `random_state`, and returns an integer for every row, or an `Outcome`.

    Examples
    --------
    >>> from softmodes.baselines import cluster, register, unregister
    >>> @register("by first column", encoding="codes")
    ... def by_first_column(X, n_clusters, random_state):
    ...     return X[:, 0].astype(int) % n_clusters
    >>> cluster("by first column", [["a"], ["b"], ["c"]], 2, random_state=0)
    array([0, 1, 0])
    >>> unregister("by first column")
    """
    choice("encoding", encoding, tuple(_ENCODERS))
    if name in _BASELINES:
        raise ValueError(
            f"name={name!r} is taken. Pass another name, or call unregister({name!r}) first."
        )

    def add(function: _Function) -> _Function:
        _BASELINES[name] = Baseline(name, encoding, function)
        return function

    return add


def unregister(name: str) -> None:
    """Remove a method that was registered.

    Parameters
    ----------
    name : str
        Its name.

    Examples
    --------
    >>> from softmodes.baselines import names, register, unregister
    >>> _ = register("all in one")(lambda X, n_clusters, random_state: [0] * len(X))
    >>> unregister("all in one")
    >>> "all in one" in names()
    False
    """
    del _BASELINES[baseline(name).name]


def names() -> list[str]:
    """Return the names of all methods, in the order in which they were registered.

    Examples
    --------
    >>> from softmodes.baselines import names
    >>> names()[:3]
    ['k-modes', 'softmodes', 'softmodes (refined)']
    """
    return list(_BASELINES)


def baseline(name: str) -> Baseline:
    """Return a method by its name.

    Parameters
    ----------
    name : str
        One of `names()`, in upper or lower case, with or without dashes, blanks and brackets.

    Returns
    -------
    Baseline

    Examples
    --------
    >>> from softmodes.baselines import baseline
    >>> baseline("BIRCH one hot").encoding
    'one-hot'
    """
    if name not in _BASELINES:
        alike = [known for known in _BASELINES if _letters(known) == _letters(str(name))]
        name = alike[0] if alike else name
    return _BASELINES[choice("name", name, names())]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def cluster(
    name: str, X: Any, n_clusters: int, random_state: Any = None, **params: Any
) -> NDArray[np.intp]:
    """Cluster the rows of a table by a named method.

    Parameters
    ----------
    name : str
        One of `names()`, in upper or lower case, with or without dashes, blanks and brackets.
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
    n_clusters : int
        Number of clusters to ask for.
    random_state : int, RandomState or None, default=None
        Seed; the same one gives the same labels.
    **params
        Parameters of the method's own, in place of its defaults.

    Returns
    -------
    int array of shape (n_samples,)
        Cluster of every row.

    Examples
    --------
    >>> from softmodes.baselines import cluster
    >>> labels = cluster("k-means", [["a", "x"], ["a", "x"], ["b", "y"]], 2, random_state=0)
    >>> labels[0] == labels[1], labels[0] == labels[2]
    (np.True_, np.False_)
    """
    method = baseline(name)
    rows = _ENCODERS[method.encoding](X)
    labels: NDArray[np.intp] = method.outcome(rows, n_clusters, random_state, **params).labels
    return labels


def integer_codes(X: Any) -> NDArray[np.float64]:
    """Return the code of each cell: the rank of its value in its column, from 0.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.

    Returns
    -------
    float array of shape (n_samples, n_features)

    Examples
    --------
    >>> from softmodes.baselines import integer_codes
    >>> integer_codes([["b", 10], ["a", 30], ["b", 20]])
    array([[1., 0.],
           [0., 2.],
           [1., 1.]])
    """
    _, codes = learn(X)
    return codes.rows(slice(None)).astype(np.float64)


def one_hot_codes(X: Any) -> NDArray[np.float64]:
    """Return a column of 0 and 1 for each value of each column.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.

    Returns
    -------
    float array of shape (n_samples, number of values of all columns)

    Examples
    --------
    >>> from softmodes.baselines import one_hot_codes
    >>> one_hot_codes([["b", 10], ["a", 10]])
    array([[0., 1., 1.],
           [1., 0., 1.]])
    """
    _, codes = learn(X)
    n_codes = codes.ranges.n_codes
    starts = np.cumsum(n_codes) - n_codes
    hot = np.zeros((codes.n_rows, int(n_codes.sum())))
    for start, cells in zip(starts, codes.columns(), strict=True):
        hot[np.arange(codes.n_rows), start + cells.astype(np.intp)] = 1
    return hot


def _as_it_came(X: Any) -> Any:
    return X


def _n_rows(rows: Any) -> int:
    shape = getattr(rows, "shape", None)
    return int(shape[0]) if shape else len(rows)


_ENCODERS |= {"table": _as_it_came, "codes": integer_codes, "one-hot": one_hot_codes}
