"""Rows or clusters on a map: correspondence analysis of who has which value.

Of rows that is multiple correspondence analysis (MCA). It knows nothing of the clusters, so that a
map does not show them further apart than the rows are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from softmodes._rows.counts import Counts

Floats = NDArray[np.float64]

_SMALL = 16  # rows up to which all eigenvalues are computed
_RAREST = 0.01  # share of the rows that a value must have: rarer ones would make the axes


def places_of_rows(
    codes: NDArray[np.int32], n_values: NDArray[np.int32], ignored: NDArray[np.int32]
) -> Floats:
    """Return the places of rows, given their codes, by the values that are not rare."""
    n, d = codes.shape
    starts = np.cumsum(n_values) - n_values
    row, feature = np.repeat(np.arange(n), d), np.tile(np.arange(d), n)
    code = codes.ravel()
    held = (code < n_values[feature]) & (code != ignored[feature])
    value = (starts[feature] + code)[held]
    times = np.bincount(value, minlength=int(n_values.sum()))
    common = (times >= max(2.0, _RAREST * n)) & (times < n)
    known = common[value]
    ones = np.ones(np.count_nonzero(known))
    shape = (n, len(times))
    return _places(coo_array((ones, (row[held][known], value[known])), shape=shape).tocsr())


def places_of_clusters(counts: Counts) -> Floats:
    """Return the places of clusters, by how often each value occurs in each."""
    parts = [csr_array(counts.values(j)) for j in range(counts.layout.n_features)]
    width = np.concatenate([[0], np.cumsum([part.shape[1] for part in parts])])
    found = [part.tocoo() for part in parts]
    cluster = np.concatenate([part.coords[0] for part in found])
    value = np.concatenate(
        [part.coords[1] + start for part, start in zip(found, width, strict=False)]
    )
    count = np.concatenate([part.data for part in found]).astype(np.float64)
    shape = (counts.n_clusters, int(width[-1]))
    return _places(coo_array((count, (cluster, value)), shape=shape).tocsr())


def _places(table: csr_array[Any, Any]) -> Floats:
    """Return the first two principal coordinates of the rows of a table of counts."""
    n = table.shape[0]
    total = table.sum()
    if not total:
        return np.zeros((n, 2))
    of_row, of_column = table.sum(axis=1) / total, table.sum(axis=0) / total
    in_row, in_column = (_inverse_root(mass) for mass in (of_row, of_column))
    scaled = diags_array(in_row) @ (table / total) @ diags_array(in_column)
    inertia, axes = _principal_axes(csr_array(scaled), np.sqrt(of_row))
    places = np.zeros((n, 2))
    places[:, : axes.shape[1]] = in_row[:, None] * axes * np.sqrt(np.maximum(inertia, 0.0))
    # An axis may as well point the other way: its longer end is at the right, or above.
    ends = places[np.abs(places).argmax(axis=0), [0, 1]]
    return places * np.where(ends < 0, -1.0, 1.0)


def _principal_axes(scaled: csr_array[Any, Any], root: Floats) -> tuple[Floats, Floats]:
    """Return the two largest eigenvalues, and their vectors, of scaled scaled' - root root'."""
    n = len(root)
    if n >= _SMALL:

        def times(vector: Floats) -> Floats:
            vector = vector.ravel()
            found: Floats = scaled @ (scaled.T @ vector) - root * (root @ vector)
            return found

        start = np.cos(np.arange(n))  # any vector, the same every time
        try:
            operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
            values, vectors = eigsh(operator, k=2, v0=start)
        except ArpackNoConvergence:
            pass
        else:
            order = np.argsort(-values)
            return values[order], vectors[:, order]
    values, vectors = np.linalg.eigh((scaled @ scaled.T).toarray() - np.outer(root, root))
    return values[::-1][:2], vectors[:, ::-1][:, :2]


def _inverse_root(mass: Floats) -> Floats:
    return np.where(mass > 0, 1 / np.sqrt(np.where(mass > 0, mass, 1.0)), 0.0)
