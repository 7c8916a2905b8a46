"""Random boolean tables with planted clusters: the block model and corrupted codewords."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmodes._parameters import RandomState, check_most, generator, is_whole, share, whole

Bits: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = NDArray[np.int64]
Sizes: TypeAlias = int | Sequence[int] | NDArray[np.integer[Any]]

# Small enough for a block and its random bytes to stay in the second-level cache.
BLOCK_CELLS = 1 << 18


@overload
def make_bbm(
    n_samples: Sizes,
    n_features: Sizes,
    P: ArrayLike,
    *,
    shuffle: bool = ...,
    random_state: RandomState = ...,
    return_centers: Literal[False] = ...,
) -> tuple[Bits, Labels]: ...
@overload
def make_bbm(
    n_samples: Sizes,
    n_features: Sizes,
    P: ArrayLike,
    *,
    shuffle: bool = ...,
    random_state: RandomState = ...,
    return_centers: Literal[True],
) -> tuple[Bits, Labels, NDArray[np.float64]]: ...
def make_bbm(
    n_samples: Sizes,
    n_features: Sizes,
    P: ArrayLike,
    *,
    shuffle: bool = True,
    random_state: RandomState = None,
    return_centers: bool = False,
) -> tuple[Bits, Labels] | tuple[Bits, Labels, NDArray[np.float64]]:
    """Draw a table from the Boolean Block Model.

    A row of cluster ``i`` has a 1 in a feature of group ``j`` with probability ``P[i, j]``,
    independently of all other cells.

    Parameters
    ----------
    n_samples : int or sequence of int
        Number of rows, or the size of each cluster. A number that the clusters do not divide
        makes the first clusters one row larger.
    n_features : int or sequence of int
        Number of features, or the size of each feature group; divided like the rows. Features
        stay in the order of their groups.
    P : array-like of shape (n_clusters, n_groups)
        Probabilities of a 1. The model of the paper has a square matrix; any shape works.
    shuffle : bool, default=True
        Whether rows come in random order; otherwise they come cluster by cluster.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int gives the same table on every call.
    return_centers : bool, default=False
        Whether to return the planted probabilities too.

    Returns
    -------
    X : ndarray of bool, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        The planted cluster of every row.
    centers : ndarray of float64, shape (n_clusters, n_features)
        ``P`` with each column repeated for every feature of its group, so that ``centers[y]``
        is the mean of ``X``. Only with ``return_centers=True``.

    Examples
    --------
    >>> from softmodes.datasets import make_bbm
    >>> X, y = make_bbm(100, [30, 10], [[0.6, 0.1], [0.1, 0.6]], random_state=0)
    >>> X.shape, X.dtype
    ((100, 40), dtype('bool'))
    >>> bool(X[y == 0, :30].mean() > X[y == 1, :30].mean())
    True
    """
    model = BlockModel(n_samples, n_features, P, shuffle, random_state)
    X = np.empty(model.shape, dtype=np.bool_)
    for rows, bits in model.parts():
        X[rows] = bits
    return (X, model.y, model.centers) if return_centers else (X, model.y)


class BlockModel:
    """A table of the Boolean Block Model, drawn some rows at a time; `make_bbm` has its words.

    The planted clusters `y` are known before the first row, and the parts, in order, are the rows
    of `make_bbm` with the same parameters: so a table that memory cannot hold as it is can be
    packed while it is drawn. It is drawn once.
    """

    def __init__(
        self,
        n_samples: Sizes,
        n_features: Sizes,
        P: ArrayLike,
        shuffle: bool = True,
        random_state: RandomState = None,
    ) -> None:
        self._P = _checked_matrix(P)
        self._rng = generator(random_state)
        row_sizes = _sizes("n_samples", n_samples, len(self._P))
        self.y = _planted(row_sizes, shuffle, self._rng)
        self._group_sizes = _sizes("n_features", n_features, self._P.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self.y), sum(self._group_sizes)

    @property
    def centers(self) -> NDArray[np.float64]:
        """Probabilities of a 1 by cluster and feature."""
        return np.repeat(self._P, self._group_sizes, axis=1)

    def parts(self) -> Iterator[tuple[slice, Bits]]:
        """Draw the rows, in order; memory is for a few thousand cells, or for one row."""
        threshold, rest = _split(self._P)
        threshold_by_feature = np.repeat(threshold, self._group_sizes, axis=1)
        ends = np.cumsum(self._group_sizes)
        for rows in _blocks(self.shape):
            labels = self.y[rows]
            bits = np.empty((len(labels), self.shape[1]), dtype=np.bool_)
            below = np.take(threshold_by_feature, labels, axis=0)
            i, j = _compare_bytes(bits, below, self._rng)
            group = np.searchsorted(ends, j, side="right")
            bits[i, j] = self._rng.random(len(i)) < rest[labels[i], group]
            yield rows, bits


@overload
def make_ccm(
    n_samples: int,
    n_features: int,
    n_clusters: int,
    eps: float = ...,
    noise: float = ...,
    *,
    shuffle: bool = ...,
    random_state: RandomState = ...,
    return_centers: Literal[False] = ...,
) -> tuple[Bits, Labels]: ...
@overload
def make_ccm(
    n_samples: int,
    n_features: int,
    n_clusters: int,
    eps: float = ...,
    noise: float = ...,
    *,
    shuffle: bool = ...,
    random_state: RandomState = ...,
    return_centers: Literal[True],
) -> tuple[Bits, Labels, Bits]: ...
def make_ccm(
    n_samples: int,
    n_features: int,
    n_clusters: int,
    eps: float = 0.2,
    noise: float = 0.0,
    *,
    shuffle: bool = True,
    random_state: RandomState = None,
    return_centers: bool = False,
) -> tuple[Bits, Labels] | tuple[Bits, Labels, Bits]:
    """Draw a table from the Corrupted Codewords Model.

    Every cluster has a uniform random center; a row is its cluster's center with each bit
    flipped with probability `eps`. A share `noise` of the rows, rounded to whole rows, has
    uniform random bits and a uniform random label instead.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the table.
    n_clusters : int
        Number of centers. If it does not divide the rows that are not noise, the first clusters
        are one row larger.
    eps : float, default=0.2
        Probability of a flip, from 0 to 1.
    noise : float, default=0.0
        Share of noise rows, from 0 to 1.
    shuffle : bool, default=True
        Whether rows come in random order; otherwise they come cluster by cluster, noise last.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int gives the same table on every call.
    return_centers : bool, default=False
        Whether to return the planted centers too.

    Returns
    -------
    X : ndarray of bool, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        The planted cluster of every row.
    centers : ndarray of bool, shape (n_clusters, n_features)
        Only with ``return_centers=True``.

    See Also
    --------
    ccm_best_accuracy : What a perfect clustering of such a table can reach.

    Examples
    --------
    >>> from softmodes.datasets import make_ccm
    >>> X, y, centers = make_ccm(60, 500, 3, eps=0.1, random_state=0, return_centers=True)
    >>> X.shape, centers.shape
    ((60, 500), (3, 500))
    >>> float((X != centers[y]).mean().round(2))
    0.1
    """
    n_samples, n_features = whole("n_samples", n_samples, 1), whole("n_features", n_features, 1)
    n_clusters = whole("n_clusters", n_clusters, 1)
    check_most("n_clusters", n_clusters, "n_samples", n_samples)
    eps, noise = share("eps", eps), share("noise", noise)
    rng = generator(random_state)
    centers = rng.integers(0, 2, size=(n_clusters, n_features), dtype=np.bool_)
    n_noise = round(noise * n_samples)
    y = _planted([*_even(n_samples - n_noise, n_clusters), n_noise], shuffle, rng)
    is_noise = y == n_clusters
    y[is_noise] = rng.integers(n_clusters, size=n_noise)
    threshold, rest = _split(np.float64(eps))

    X = np.empty((n_samples, n_features), dtype=np.bool_)
    for rows in _blocks(X.shape):
        block = X[rows]
        i, j = _compare_bytes(block, threshold, rng)
        block[i, j] = rng.random(len(i)) < rest
        block ^= np.take(centers, y[rows], axis=0)
        shape = (int(is_noise[rows].sum()), n_features)
        block[is_noise[rows]] = rng.integers(0, 2, size=shape, dtype=np.bool_)
    return (X, y, centers) if return_centers else (X, y)


def ccm_best_accuracy(n_clusters: int, noise: float) -> float:
    """Return the best expected accuracy on a corrupted-codewords table with noise.

    The rows that are not noise can all be right; of the noise, one label in `n_clusters` is.

    Parameters
    ----------
    n_clusters : int
        Number of planted clusters.
    noise : float
        Share of noise rows, from 0 to 1.

    Returns
    -------
    float

    Examples
    --------
    >>> from softmodes.datasets import ccm_best_accuracy
    >>> ccm_best_accuracy(50, noise=0.5)
    0.51
    """
    n_clusters, noise = whole("n_clusters", n_clusters, 1), share("noise", noise)
    return noise / n_clusters + 1 - noise


def _split(p: Any) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Split probabilities into whole 256ths and the rest, which decides a byte equal to them."""
    scaled = np.asarray(p, dtype=np.float64) * 256
    floor = np.minimum(np.floor(scaled), 255)
    return floor.astype(np.uint8), scaled - floor


def _compare_bytes(
    out: Bits, threshold: NDArray[np.uint8], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Write into `out` which random bytes are below `threshold`; return the cells that tie."""
    noise = _random_bytes(out.shape, rng)
    np.less(noise, threshold, out=out)
    # The flat search is several times faster than one for rows and columns.
    i, j = np.divmod(np.flatnonzero(noise == threshold), out.shape[1])
    return i, j


def _random_bytes(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.uint8]:
    # Whole 64-bit words are several times faster than asking for bytes.
    n_bytes = int(np.prod(shape))
    words = rng.integers(0, 2**64, size=-(-n_bytes // 8), dtype=np.uint64)
    return words.view(np.uint8)[:n_bytes].reshape(shape)


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    n_rows, n_features = shape
    step = max(1, BLOCK_CELLS // n_features)
    return (slice(start, start + step) for start in range(0, n_rows, step))


def _planted(sizes: Sequence[int], shuffle: bool, rng: np.random.Generator) -> Labels:
    labels = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    if shuffle:
        rng.shuffle(labels)
    return labels


def _even(total: int, parts: int) -> list[int]:
    size, larger = divmod(total, parts)
    return [size + 1] * larger + [size] * (parts - larger)


def _sizes(name: str, given: Sizes, parts: int) -> list[int]:
    if isinstance(given, Integral) or np.ndim(given) == 0:
        return _even(whole(name, given, 1), parts)
    sizes = list(given)  # type: ignore[arg-type]
    if len(sizes) != parts:
        raise ValueError(
            f"{name} has {len(sizes)} sizes, but P asks for {parts}. "
            f"Pass {parts} sizes, or one total to divide."
        )
    if not all(is_whole(size) and size >= 0 for size in sizes) or sum(sizes) < 1:
        raise ValueError(
            f"{name}={sizes!r} must be integers of at least 0 with a sum of at least 1. "
            "Pass one size for each part."
        )
    return [int(size) for size in sizes]


def _checked_matrix(P: ArrayLike) -> NDArray[np.float64]:
    matrix = np.asarray(P, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(
            f"P has shape {matrix.shape}. "
            "Pass a matrix with one row per cluster and one column per feature group."
        )
    wrong = ~((matrix >= 0) & (matrix <= 1))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise ValueError(
            f"P[{i}, {j}]={matrix[i, j]} is not a probability. Pass numbers from 0 to 1."
        )
    return matrix
