"""Clustering of categorical rows, slow and obvious: what every answer is compared with.

It shares no code with softmodes. Values are plain Python objects, codes are ranks of sorted values,
random words are hashes of where they are used.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Key: TypeAlias = tuple[int, Any]
Column: TypeAlias = list[Any]

_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
_MASK = 2**64 - 1
_UNSEEN = -2


# ------------------------------------------------------------------------------ values to codes


def key(value: Any) -> Key | None:
    """Return type class and value of a cell, by which values are told apart; None if missing."""
    if isinstance(value, np.generic):
        value = _python_value(value)
    if value is None or value != value:
        return None
    for number, kind in enumerate((bool, (int, float, Decimal), str, bytes)):
        if isinstance(value, kind):
            return number, value
    return _time_key(value)


def _python_value(value: Any) -> Any:
    """Return a NumPy scalar as Python's."""
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        days = np.datetime_data(value.dtype)[0] in ("Y", "M", "W", "D")
        return value.astype("M8[D]" if days else "M8[us]").item()
    if isinstance(value, np.timedelta64):
        return None if np.isnat(value) else value.astype("m8[us]").item()
    return value.item()


def _time_key(value: Any) -> Key:
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            return 5, (value - _EPOCH) // _MICROSECOND
        return 6, (value.astimezone(dt.UTC).replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    if isinstance(value, dt.date):
        return 4, value.toordinal()
    if isinstance(value, dt.time):
        return 7, (dt.datetime.combine(_EPOCH, value) - _EPOCH) // _MICROSECOND
    if isinstance(value, dt.timedelta):
        return 8, value // _MICROSECOND
    raise TypeError(f"{type(value).__name__} is no value of the reference")


@dataclass(frozen=True, eq=False)
class Coded:
    """A table in codes: ranks of values; missing cells have the code behind the last value's."""

    codes: NDArray[np.int64]
    values: list[list[Key]]
    ranks: list[dict[Key | None, int]]  # the code of each value, and of None
    ignored: NDArray[np.int64]  # the code that counts for nothing, or -1
    sizes: list[int]  # values that a center may take

    def code(self, feature: int, value: Any) -> int:
        """Return the code of a center's value."""
        return self.ranks[feature][key(value)]


def encode(columns: list[Column], missing: str) -> Coded:
    """Find the values of a table and the code of each cell."""
    keys = [_keys(column) for column in columns]
    values = [sorted({k for k in column if k is not None}) for column in keys]
    holes = [None in column for column in keys]
    ignore = missing == "ignore"
    ranks: list[dict[Key | None, int]] = [
        {None: len(known), **{value: code for code, value in enumerate(known)}} for known in values
    ]
    return Coded(
        codes=_codes(keys, ranks),
        values=values,
        ranks=ranks,
        ignored=np.array(
            [len(v) if hole and ignore else -1 for v, hole in zip(values, holes, strict=True)]
        ),
        sizes=[
            max(1, len(v) + (hole and not ignore)) for v, hole in zip(values, holes, strict=True)
        ],
    )


def encode_more(columns: list[Column], known: Coded, missing: str) -> Coded:
    """Return other rows in the codes of a table; a value that it did not have equals none."""
    keys = [_keys(column) for column in columns]
    codes = _codes(keys, known.ranks)
    ignored = known.ignored.copy()
    for j, values in enumerate(known.values):
        gone = codes[:, j] == len(values)
        if missing == "ignore":
            ignored[j] = len(values) if gone.any() else -1
        elif known.sizes[j] == len(values):
            codes[gone, j] = _UNSEEN
    return replace(known, codes=codes, ignored=ignored)


def _keys(column: Column) -> list[Key | None]:
    """Return the keys of cells, of which many are one and the same object."""
    known = {id(value): key(value) for value in {id(value): value for value in column}.values()}
    return [known[id(value)] for value in column]


def _codes(keys: list[list[Key | None]], ranks: list[dict[Key | None, int]]) -> NDArray[np.int64]:
    columns = [
        [rank.get(k, _UNSEEN) for k in column] for column, rank in zip(keys, ranks, strict=True)
    ]
    return np.array(columns, np.int64).T


# ----------------------------------------------------------------------------------- one pass


def distances(rows: Coded, centers: NDArray[Any], feature_weight: NDArray[Any]) -> NDArray[Any]:
    """Return the weighted Hamming distance of every row and center."""
    differs = rows.codes[:, None] != centers[None]
    differs &= (rows.codes != rows.ignored)[:, None]
    return differs @ feature_weight


def nearest(
    found: NDArray[Any], tie_key: int | None, rows: Coded | None = None
) -> NDArray[np.int64]:
    """Return the nearest center of every row; ties by hash, without a key to the lowest."""
    labels = found.argmin(axis=1)
    if tie_key is None:
        return labels
    assert rows is not None
    places = bit_places(rows)
    tied = found == found.min(axis=1)[:, None]
    for row in np.flatnonzero(tied.sum(axis=1) > 1):
        contenders = np.flatnonzero(tied[row]).tolist()
        word = fold(tie_key, row_hash(rows.codes[row].tolist(), places))
        labels[row] = min(contenders, key=lambda c: fold(word, c))
    return labels


def row_hash(codes: list[int], places: list[int]) -> int:
    """Return the hash of a row's values: a sum of its words of 32 bits, each times a factor."""
    packed = sum(code << place for code, place in zip(codes, places, strict=True))
    total, word = 0, 0
    while packed >> 32 * word:
        total += (packed >> 32 * word & 2**32 - 1) * (fold(0x726F7720776F7264, word) | 1)
        word += 1
    return total & _MASK


def bit_places(rows: Coded) -> list[int]:
    """Return the lowest bit of each feature in a packed row."""
    n_codes = [max(pair) for pair in zip(rows.sizes, (rows.ignored + 1).tolist(), strict=True)]
    kinds: dict[str, list[int]] = {}
    for j, n in enumerate(n_codes):
        kinds.setdefault(_kind(n, rows.ignored[j] >= 0), []).append(j)
    three, four, eight = (kinds.get(kind, []) for kind in ("3", "4", "8"))
    binary, masked = kinds.get("2", []), kinds.get("2, one of them ignored", [])
    if len(three) % 2 and len(four) % 2:
        four.insert(0, three.pop())
    beside = min(len(masked), len(eight))
    nibbles: list[dict[int, int]] = []  # which feature begins at which bit
    spare: list[tuple[dict[int, int], int]] = []
    for features, bits in ((three, 2), (masked[beside:], 1), (four, 2), (eight, 3)):
        _add_nibbles(nibbles, spare, features, bits)
    for j in masked[:beside]:
        _take_spare(spare, j)
    _add_nibbles(nibbles, spare, kinds.get("16", []), 4)
    while binary and spare:
        _take_spare(spare, binary.pop(0))
    places = {j: i for i, j in enumerate(binary)}
    end = 8 * math.ceil(len(binary) / 8)
    for i, nibble in enumerate(nibbles):
        places |= {j: end + 4 * i + bit for bit, j in nibble.items()}
    end += 8 * math.ceil(len(nibbles) / 2)
    for size in (1, 2, 3):
        for j in kinds.get(f"bytes: {size}", []):
            places[j], end = end, end + 8 * size
    return [places[j] for j in range(len(n_codes))]


def _kind(n_codes: int, has_ignored: bool) -> str:
    """Return how a feature is packed."""
    if n_codes <= 2:
        return "2, one of them ignored" if has_ignored else "2"
    for most in (3, 4, 8, 16):
        if n_codes <= most:
            return str(most)
    return f"bytes: {next(size for size in (1, 2, 3) if n_codes <= 256**size)}"


def _add_nibbles(
    nibbles: list[dict[int, int]],
    spare: list[tuple[dict[int, int], int]],
    features: list[int],
    bits: int,
) -> None:
    """Place features of so many bits side by side in new nibbles; what is left of them is spare."""
    per_nibble = 4 // bits
    for start in range(0, len(features), per_nibble):
        some = features[start : start + per_nibble]
        nibble = {bits * i: j for i, j in enumerate(some)}
        nibbles.append(nibble)
        spare += [(nibble, bit) for bit in range(bits * len(some), 4)]


def _take_spare(spare: list[tuple[dict[int, int], int]], feature: int) -> None:
    nibble, bit = spare.pop(0)
    nibble[bit] = feature


def counts(rows: Coded, labels: NDArray[Any], k: int, j: int, weight: NDArray[Any]) -> NDArray[Any]:
    """Return the weight of each value of a feature in each cluster; ignored cells count nothing."""
    table = np.zeros((k, rows.sizes[j]), weight.dtype)
    seen = rows.codes[:, j] != rows.ignored[j]
    np.add.at(table, (labels[seen], rows.codes[seen, j]), weight[seen])
    return table


def expected_cost(
    rows: Coded, labels: NDArray[Any], k: int, weight: NDArray[Any], feature_weight: NDArray[Any]
) -> float:
    """Return the expected mismatches with centers drawn from the clusters' shares."""
    total = 0.0
    for j in range(len(rows.sizes)):
        table = counts(rows, labels, k, j, weight).astype(float)
        sums = table.sum(axis=1)
        squares = (table**2).sum(axis=1) / np.where(sums > 0, sums, 1)
        total += feature_weight[j] * (sums - squares).sum()
    return float(total)


def nearest_shares(
    rows: Coded, labels: NDArray[Any], k: int, weight: NDArray[Any], feature_weight: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the cluster to whose shares every row is nearest: a round of k-means, one-hot.

    A row that is as near to its own stays.
    """
    found = np.zeros((len(labels), k))
    for j in range(len(rows.sizes)):
        table = counts(rows, labels, k, j, weight).astype(float)
        sums = table.sum(axis=1, keepdims=True)
        shares = table / np.where(sums > 0, sums, 1)
        seen = rows.codes[:, j] != rows.ignored[j]
        prices = 1 - 2 * shares + (shares**2).sum(axis=1, keepdims=True)
        found[seen] += feature_weight[j] * prices[:, rows.codes[seen, j]].T
    found[:, np.bincount(labels, weight, k) == 0] = np.inf
    gain = found[np.arange(len(labels)), labels] - found.min(axis=1)
    return np.where(gain > 1e-9, found.argmin(axis=1), labels)


def score(
    fitted: list[NDArray[Any]],
    centers: NDArray[Any],
    rows: Coded,
    labels: NDArray[Any],
    feature_weight: NDArray[Any],
) -> float:
    """Return minus the mean expected mismatch of rows with centers drawn from fitted counts."""
    total = 0.0
    for j, table in enumerate(fitted):
        sums = table.sum(axis=1)
        for label, code in zip(labels, rows.codes[:, j], strict=True):
            if code == rows.ignored[j]:
                continue
            known = 0 <= code < table.shape[1]
            if sums[label] > 0:
                share = table[label, code] / sums[label] if known else 0.0
            else:
                share = float(code == centers[label, j])
            total += feature_weight[j] * (1 - share)
    return -total / len(labels)


# ------------------------------------------------------------------------------------ the loop


def mix(word: int) -> int:
    """Scramble a 64-bit word."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
    return word ^ word >> 31


def fold(word: int, *parts: int) -> int:
    """Hash further parts into a word."""
    for part in parts:
        word = mix(word + 0x9E3779B97F4A7C15 * (part + 1) & _MASK)
    return word


def tie_key(seed: int, run: int) -> int:
    """Return the word that settles the ties of a run."""
    return fold(mix(seed), run, 1)


def _draw(table: NDArray[Any], t: float, word: int) -> int:
    """Draw a value from whole counts: by share for t = 1, a most frequent one for t = inf."""
    if math.isinf(t):
        most = np.flatnonzero(table == table.max()).tolist()
        return int(min(most, key=lambda value: fold(word, value)))
    ticket = word * int(table.sum()) >> 64
    return int(np.searchsorted(np.cumsum(table), ticket, side="right"))


@dataclass(frozen=True, eq=False)
class Run:
    """The last round of a run, and what each round cost."""

    labels: NDArray[np.int64]
    centers: NDArray[np.int64]
    history: list[tuple[float, float, int, bool]]
    converged: bool


def run(
    rows: Coded,
    centers: NDArray[np.int64],
    t: float,
    seed: int,
    weight: NDArray[Any],
    feature_weight: NDArray[Any],
    max_iter: int,
) -> Run:
    """Assign and round until no row moves, from given centers; t is 1 or inf."""
    k = len(centers)
    history: list[tuple[float, float, int, bool]] = []
    before: NDArray[Any] | None = None
    while True:
        found = distances(rows, centers, feature_weight)
        labels = nearest(found, tie_key(seed, 0), rows)
        settled = before is not None and bool((labels == before).all())
        cost = float(found.min(axis=1) @ weight)
        expected = expected_cost(rows, labels, k, weight, feature_weight)
        in_use = int(np.count_nonzero(np.bincount(labels, weight, k)))
        history.append((cost, expected, in_use, not settled))
        if settled or len(history) == max_iter:
            return Run(labels, centers, history, settled)
        before, centers = labels, centers.copy()
        word = fold(mix(seed), 0, 2, *([] if math.isinf(t) else [len(history)]))
        for j in range(len(rows.sizes)):
            table = counts(rows, labels, k, j, weight)
            for c in np.flatnonzero(table.any(axis=1)):
                centers[c, j] = _draw(table[c], t, fold(word, int(c), j))
