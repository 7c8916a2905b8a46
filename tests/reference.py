"""The row kernels once more, slow and obvious, in NumPy: what the native ones are compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softmodes._kernels import Layout

Codes = NDArray[np.int32]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FINGERPRINT_KEY = np.uint64(0x736F66746D6F6465)
_WORD_KEY = np.uint64(0x726F7720776F7264)


def mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def fold(h: NDArray[np.uint64], x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash `x` into `h`."""
    return mix(h + _GOLDEN * (x + np.uint64(1)))


def row_hashes(codes: Codes, layout: Layout) -> NDArray[np.uint64]:
    """Return the hash of every row's values: of its words of 4 bytes in the layout of the fit."""
    packed = np.zeros((len(codes), layout.stride + 3), np.uint8)
    for j, (first, shift) in enumerate(zip(layout.byte, layout.shift, strict=True)):
        for byte in range(3):
            packed[:, first + byte] |= (codes[:, j] << shift >> (8 * byte) & 255).astype(np.uint8)
    words = np.ascontiguousarray(packed[:, : layout.stride]).view("<u4").astype(np.uint64)
    numbers = np.arange(words.shape[1], dtype=np.uint64)
    factors = fold(np.full(len(numbers), _WORD_KEY), numbers) | np.uint64(1)
    return (words * factors).sum(axis=1, dtype=np.uint64)


def distances(
    codes: Codes,
    centers: Codes,
    ignored: Codes,
    feature_weight: NDArray[np.uint32] | None = None,
) -> NDArray[np.int64]:
    """Return the (n, k) sums of the weights of the features in which row and center differ."""
    weight = np.ones(codes.shape[1], np.int64) if feature_weight is None else feature_weight
    found = np.zeros((len(codes), len(centers)), np.int64)
    for i, center in enumerate(centers):
        differs = (codes != center) & (codes != ignored)
        found[:, i] = differs.astype(np.int64) @ weight.astype(np.int64)
    return found


def assign(
    codes: Codes,
    centers: Codes,
    ignored: Codes,
    feature_weight: NDArray[np.uint32] | None = None,
    tie_key: int | None = None,
    hashes: NDArray[np.uint64] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the nearest center of every row, and the distance to it.

    Ties are settled by the key and the hashes of the rows; without a key they go to the lowest.
    """
    found = distances(codes, centers, ignored, feature_weight)
    nearest = found.min(axis=1)
    tied = found == nearest[:, None]
    if tie_key is None:
        return tied.argmax(axis=1).astype(np.int32), nearest
    assert hashes is not None
    row_key = fold(np.full(len(codes), tie_key, np.uint64), hashes)
    rank = fold(row_key[:, None], np.arange(len(centers), dtype=np.uint64)[None])
    labels = np.zeros(len(codes), np.int32)
    for i in range(len(codes)):
        contenders = np.flatnonzero(tied[i])
        labels[i] = contenders[rank[i, contenders].argmin()]
    return labels, nearest


def counts(
    codes: Codes,
    labels: NDArray[np.int32],
    k: int,
    feature: int,
    n_codes: int,
    weight: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return the (k, n_codes) total weights of the codes of one feature in each cluster."""
    found = np.zeros((k, n_codes), np.int64)
    np.add.at(found, (labels, codes[:, feature]), 1 if weight is None else weight)
    return found


def cost(nearest: NDArray[np.int64], weight: NDArray[np.int64] | None = None) -> int:
    """Return the total weight * distance to the nearest center."""
    return int(nearest.sum() if weight is None else (nearest * weight).sum())


def fingerprint(labels: NDArray[np.int32], first_row: int = 0) -> int:
    """Return the sum over the rows of hash(row, label), modulo 2**64."""
    rows = np.arange(len(labels), dtype=np.uint64) + np.uint64(first_row)
    row_factor = mix(_GOLDEN * (rows + np.uint64(1)))
    key = np.full(len(labels), _FINGERPRINT_KEY)
    label_factor = fold(key, labels.astype(np.uint64)) | np.uint64(1)
    return int((row_factor * label_factor).sum(dtype=np.uint64))


def draw(counts: NDArray[np.int64], t: float, key: int, cluster: int, feature: int) -> int:
    """Draw a center's value from its counts, by the random word of (key, cluster, feature)."""
    word = np.array([key], np.uint64)
    for part in (cluster, feature):
        word = fold(word, np.array([part], np.uint64))
    if np.isinf(t):
        values = np.flatnonzero(counts == counts.max())
        return int(values[fold(word, values.astype(np.uint64)).argmin()])
    if t == 1.0:
        ticket = int(word[0]) * int(counts.sum()) >> 64
        return int(np.searchsorted(np.cumsum(counts), ticket, side="right"))
    edges = np.cumsum((counts / counts.max()) ** t)
    uniform = (int(word[0]) >> 11) * 2.0**-53
    return int(np.searchsorted(edges, uniform * edges[-1], side="right"))
