"""The row kernels once more, slow and obvious, in NumPy: what the native ones are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from functools import cache

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


# ------------------------------------------------------------------------------------- scores


@dataclass(frozen=True)
class WidePrices:
    """Prices of a feature with many values: usual[cluster] + shared[value] - bonus of both."""

    usual: NDArray[np.int64]
    shared: NDArray[np.int64]
    bonus: NDArray[np.int64]

    @property
    def prices(self) -> NDArray[np.int64]:
        """Prices by cluster and value."""
        return self.usual[:, None] + self.shared - self.bonus


@dataclass(frozen=True)
class Scores:
    """Prices by cluster and value, for each feature, in units of 2**-resolution."""

    prices: Sequence[NDArray[np.int64]]
    base: NDArray[np.int64]
    resolution: int
    wide: dict[int, WidePrices] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.base)


def score_totals(codes: Codes, scores: Scores) -> NDArray[np.int64]:
    """Return what every row costs in every cluster; a cell that is no value costs nothing."""
    totals = np.tile(scores.base.astype(np.int64), (len(codes), 1))
    for j, prices in enumerate(scores.prices):
        is_value = codes[:, j] < prices.shape[1]
        totals[is_value] += prices[:, codes[is_value, j]].T.astype(np.int64)
    return totals


def cheapest(
    totals: NDArray[np.int64], tie_key: int | None, row_words: NDArray[np.uint64]
) -> NDArray[np.int32]:
    """Return the cluster of every row: of those that cost least, that of the smallest rank."""
    tied = totals == totals.min(axis=1, keepdims=True)
    if tie_key is None:
        return tied.argmax(axis=1).astype(np.int32)
    row_key = fold(np.full(len(totals), tie_key, np.uint64), row_words)
    rank = fold(row_key[:, None], np.arange(totals.shape[1], dtype=np.uint64)[None])
    labels = np.zeros(len(totals), np.int32)
    for i in range(len(totals)):
        contenders = np.flatnonzero(tied[i])
        labels[i] = contenders[rank[i, contenders].argmin()]
    return labels


def powers(totals: NDArray[np.int64], resolution: int) -> NDArray[np.int64]:
    """Return 2**(31 - x), rounded down after a table, of what clusters cost above the least.

    From 20 bits on that is nothing: no row has so small a part.
    """
    above = totals - totals.min(axis=1, keepdims=True)
    if resolution > 0:
        whole, part = above >> resolution, above & ((1 << resolution) - 1)
        table = power_table(resolution)
    else:
        whole, part, table = above << -resolution, np.zeros_like(above), np.array([1 << 31])
    return np.where(whole < 20, table[part] >> np.minimum(whole, 31), 0)


@cache
def power_table(resolution: int) -> NDArray[np.int64]:
    """Return 2**31 * 2**-(i / 2**resolution), rounded."""
    steps = 1 << resolution
    with localcontext(prec=60):
        return np.array([_rounded(Decimal(2) ** (31 - Decimal(i) / steps)) for i in range(steps)])


@cache
def log_table() -> NDArray[np.int64]:
    """Return 2**30 * log2(1 + i / 1024), rounded."""
    with localcontext(prec=60):
        scale = (1 << 30) / Decimal(2).ln()
        return np.array([_rounded(scale * (1 + Decimal(i) / 1024).ln()) for i in range(1025)])


def _rounded(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_HALF_EVEN))


def binary_log(x: int) -> int:
    """Return 2**20 * log2(x / 2**31), by a table of 1024 steps and straight lines between them."""
    exponent = x.bit_length() - 1
    mantissa = x << (63 - exponent)
    step, part = mantissa >> 53 & 1023, mantissa >> 37 & 65535
    low, high = (int(log_table()[i]) for i in (step, step + 1))
    return ((exponent - 31) << 20) + (((low << 16) + (high - low) * part) >> 26)


def memberships(
    totals: NDArray[np.int64], labels: NDArray[np.int32], resolution: int
) -> NDArray[np.int64]:
    """Return the parts of every row in the clusters: 2**16 in all; `labels` get what is left."""
    parts = powers(totals, resolution)
    shares = (parts << 16) // parts.sum(axis=1, keepdims=True)
    rows = np.arange(len(totals))
    shares[rows, labels] = 0
    shares[rows, labels] = (1 << 16) - shares.sum(axis=1)
    return shares


def logs(totals: NDArray[np.int64], resolution: int) -> list[int]:
    """Return log2 of the sum of 2**-total of every row, in units of 2**-20."""
    sums = powers(totals, resolution).sum(axis=1)
    least = totals.min(axis=1)
    return [
        binary_log(total) - (low << (20 - resolution))
        for total, low in zip(sums.tolist(), least.tolist(), strict=True)
    ]


def floors(codes: Codes, scores: Scores) -> NDArray[np.int64]:
    """Return what is taken off the totals of every row before they are summed."""
    wide = scores.wide.values()
    usual = scores.base + sum(w.usual for w in wide)
    most_bonus = sum(int(w.bonus.max(initial=0)) for w in wide)
    found = np.full(len(codes), int(usual.min()) - most_bonus, np.int64)
    for j, prices in enumerate(scores.prices):
        is_value = codes[:, j] < prices.shape[1]
        if j in scores.wide:
            found[~is_value] -= int(scores.wide[j].usual.max())
            found[is_value] += scores.wide[j].shared[codes[is_value, j]]
        else:
            found[is_value] += prices.min(axis=0)[codes[is_value, j]]
    return found


def soft_counts(
    codes: Codes,
    parts: NDArray[np.int64],
    feature: int,
    n_codes: int,
    weight: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return the (k, n_codes) weights of the codes of one feature, rows counted by their parts."""
    shares = parts if weight is None else parts * weight[:, None]
    found = np.zeros((parts.shape[1], n_codes), np.int64)
    for code in np.unique(codes[:, feature]):
        found[:, code] = shares[codes[:, feature] == code].sum(axis=0)
    return found
