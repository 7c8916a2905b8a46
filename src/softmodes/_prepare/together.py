"""What columns have to do with one another: those that tell the same, those missing together."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._prepare.columns import Column

_FEWEST_ROWS = 5  # outside the commonest value: below, equal columns may be chance
_ROWS_TO_SEE = 20  # the same for columns that are nearly equal
_SAME = 0.95  # of what a column tells beyond its commonest value, the other knows
_PAIRS, _LIKELY = 1024, 0.5
_MOST_ROWS, _MOST_COMPARED = 20_000, 2_000
_MOST_CELLS = 1 << 20
_MASK_ROWS = 4_096
_LEAST_MISSING = 0.05
_TOGETHER = 0.7  # some of those asked do not answer
_AT_ONCE = 512


@dataclass(frozen=True)
class Twin:
    """A column that tells what an earlier one does: all of it, or that share of it."""

    column: int
    of: int
    share: float


def equal_columns(columns: Sequence[Column]) -> dict[int, int]:
    """Return columns that part the rows as an earlier one does, under whatever values.

    Missing counts as a value. Columns of nearly one value only are left aside.
    """
    by_sizes: dict[bytes, list[int]] = defaultdict(list)
    for j, column in enumerate(columns):
        sizes = _sizes(column)
        if sizes.sum() - sizes.max(initial=0) >= _FEWEST_ROWS:
            by_sizes[np.sort(sizes[sizes > 0]).tobytes()].append(j)
    found: dict[int, int] = {}
    for candidates in by_sizes.values():
        first: dict[bytes, int] = {}
        for j in candidates if len(candidates) > 1 else ():
            of = first.setdefault(_partition(columns[j]), j)
            if of != j:
                found[j] = of
    return found


def similar_columns(columns: Sequence[Column]) -> list[Twin]:
    """Return columns that tell nearly what an earlier one does.

    Each of the two knows 95 % or more of what the other tells beyond its commonest value (Goodman
    and Kruskal's lambda, on at most 20,000 rows). Pairs worth that look are found by which of 1,024
    random pairs of rows are alike in a column.
    """
    some = [j for j, column in enumerate(columns) if _tells(column)]
    if len(some) < 2:
        return []
    rng = np.random.default_rng(0)  # the same rows for the same table
    n_rows = columns[0].n_rows
    pairs = rng.integers(n_rows, size=(2, _PAIRS))
    alike = np.stack([np.equal(*columns[j].codes[pairs]) for j in some])
    sample = rng.choice(n_rows, _MOST_ROWS, replace=False) if n_rows > _MOST_ROWS else slice(None)
    found: dict[int, Twin] = {}
    for a, b in _likely(alike):
        earlier, later = some[a], some[b]
        share = _shared(columns[earlier], columns[later], sample)
        if share >= _SAME and (later not in found or earlier < found[later].of):
            found[later] = Twin(later, earlier, share)
    return [found[later] for later in sorted(found)]


@dataclass(frozen=True)
class Skip:
    """Columns that are missing together, and in what share of the rows all of them are."""

    columns: tuple[int, ...]
    share: float


def skip_patterns(columns: Sequence[Column]) -> list[Skip]:
    """Return blocks of two columns or more that are missing in the same rows, or nearly.

    The missing cells of each correlate by 0.7 or more with those of the block's first column,
    on at most 4,096 rows.
    """
    some = [j for j, c in enumerate(columns) if _LEAST_MISSING * c.n_rows < c.n_missing < c.n_rows]
    if len(some) < 2:
        return []
    n_rows = columns[0].n_rows
    rows = np.random.default_rng(0).permutation(n_rows)[:_MASK_ROWS]
    masks = np.stack([columns[j].codes[rows] == len(columns[j].values) for j in some])
    n_set, bits = masks.sum(axis=1), _as_words(masks)
    leaders, blocks = list[int](), list[list[int]]()
    for i, j in enumerate(some):
        match = _correlations(bits[i], n_set[i], bits[leaders], n_set[leaders], len(rows))
        if match.max(initial=0) >= _TOGETHER:
            blocks[int(match.argmax())].append(j)
        else:
            leaders.append(i)
            blocks.append([j])
    return [_skip(columns, block) for block in blocks if len(block) > 1]


def _skip(columns: Sequence[Column], block: list[int]) -> Skip:
    masks = (columns[j].codes == len(columns[j].values) for j in block)
    return Skip(tuple(block), float(np.logical_and.reduce(list(masks)).mean()))


def _as_words(masks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    packed = np.packbits(masks, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


def _correlations(
    mask: NDArray[np.uint64], n_set: Any, others: NDArray[np.uint64], n_others: Any, n_rows: int
) -> NDArray[np.float64]:
    """Return the correlation of a mask with others; 0 with those of one value."""
    both = np.bitwise_count(others & mask).sum(axis=1, dtype=np.int64)
    spread = np.sqrt(n_set * (n_rows - n_set) * (n_others * (n_rows - n_others)).astype(np.float64))
    return np.asarray((n_rows * both - n_set * n_others) / np.where(spread > 0, spread, np.inf))


def _sizes(column: Column) -> NDArray[np.int64]:
    return np.append(column.counts, column.n_missing)


def _tells(column: Column) -> bool:
    sizes = _sizes(column)
    return bool(sizes.sum() - sizes.max() >= _ROWS_TO_SEE)


def _partition(column: Column) -> bytes:
    """Return a digest of which rows have equal cells, whatever these are."""
    codes = column.codes.astype(np.intp, copy=False)
    first = np.empty(len(column.values) + 1, np.int32)
    rows = np.arange(len(codes) - 1, -1, -1, dtype=np.int32)
    first[codes[::-1]] = rows  # of several, the last that is written stays: the first row
    return hashlib.blake2b(first[codes].tobytes(), digest_size=16).digest()


def _standardised(bits: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return rows of bits whose products are correlations; rows of one value become zeros."""
    centered = bits - bits.mean(axis=1, keepdims=True, dtype=np.float32)
    norm = np.sqrt((centered * centered).sum(axis=1, keepdims=True))
    return np.asarray(centered / np.where(norm > 0, norm, np.float32(1)), np.float32)


def _likely(alike: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield pairs of columns in which mostly the same rows are alike; at most some, the best."""
    unit = _standardised(alike)
    found: list[tuple[NDArray[Any], ...]] = []
    for start in range(0, len(unit), _AT_ONCE):
        products = np.triu(unit[start : start + _AT_ONCE] @ unit.T, k=start + 1)
        a, b = np.nonzero(products > _LIKELY)
        found.append((a + start, b, products[a, b]))
    a, b, product = (np.concatenate(parts) for parts in zip(*found, strict=True))
    for i in np.argsort(-product, kind="stable")[:_MOST_COMPARED].tolist():
        yield int(a[i]), int(b[i])


def _shared(a: Column, b: Column, rows: Any) -> float:
    """Return what each of two columns knows of the other, the lesser of both ways."""
    n_a, n_b = len(a.values) + 1, len(b.values) + 1
    if n_a * n_b > _MOST_CELLS:
        return 0.0
    cells = a.codes[rows].astype(np.intp) * n_b + b.codes[rows]
    joint = np.bincount(cells, minlength=n_a * n_b).reshape(n_a, n_b)
    total = joint.sum()
    best = []
    for axis in (0, 1):
        mode = joint.sum(axis=axis).max()
        best.append((joint.max(axis=1 - axis).sum() - mode) / max(1, total - mode))
    return float(min(best))
