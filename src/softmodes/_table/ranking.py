"""Distinct values in: their canonical order, and the codes of the cells that point to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._table.values import (
    ColumnValues,
    Key,
    Kind,
    array_of,
    natural_integers,
    object_array,
    spellings,
)

_PIECE = 1 << 16  # cells whose indices stay in cache while they are looked up


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column as codes: the index of each cell's value, `len(values)` where it is missing."""

    values: ColumnValues
    codes: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Distinct values in order, and the place of each given one: `len(values)` if missing."""

    values: ColumnValues
    places: NDArray[np.int64]


def coded_nothing() -> CodedColumn:
    """Return the values and codes of no cells."""
    return CodedColumn(ColumnValues(array_of([]), has_missing=False), np.zeros(0, np.uint8))


class TooManyValuesError(Exception):
    """More distinct values than allowed."""

    def __init__(self, n_values: int, *, continuous: bool) -> None:
        super().__init__(n_values)
        self.n_values = n_values
        self.continuous = continuous


def check_limit(n_values: int, limit: int | None, *, continuous: bool = False) -> None:
    """Raise if there are more values than allowed."""
    if limit is not None and n_values > limit:
        raise TooManyValuesError(n_values, continuous=continuous)


def code_dtype(n_codes: int) -> type[np.integer[Any]]:
    """Return the narrowest type for codes 0 to n_codes - 1 that the kernels take."""
    if n_codes <= 1 << 8:
        return np.uint8
    return np.uint16 if n_codes <= 1 << 16 else np.int32


def rank_numbers(numbers: NDArray[Any], limit: int | None) -> Ranking:
    """Rank bools, integers or floats; NaN is missing."""
    continuous = numbers.dtype.kind == "f"
    if continuous:
        numbers = numbers + 0.0  # -0.0 becomes 0.0
    values, places = np.unique(numbers, return_inverse=True)
    has_missing = bool(continuous and len(values) and np.isnan(values[-1]))
    values = values[:-1] if has_missing else values  # so that NaN's place is that of the missing
    check_limit(len(values), limit, continuous=continuous)
    values = natural_integers(values) if len(values) else array_of([])
    return Ranking(ColumnValues(values, has_missing), places)


def rank_keys(keys: Sequence[Key | None], limit: int | None) -> Ranking:
    """Rank the keys of values; None is missing, and equal keys may be spelled differently."""
    distinct = set(keys)
    has_missing = None in distinct
    ordered: list[Any] = sorted(distinct - {None})
    check_limit(len(ordered), limit)
    if Kind.NUMBER in {kind for kind, _ in ordered}:
        values = ColumnValues.of(spellings(filter(None, keys)), has_missing)
    else:  # such keys have one spelling
        values = ColumnValues(array_of(ordered), has_missing)
    index: dict[Key | None, int] = {key: place for place, key in enumerate(ordered)}
    index[None] = len(ordered)
    return Ranking(values, np.fromiter(map(index.__getitem__, keys), np.int64, len(keys)))


def rank_texts(texts: Sequence[str], limit: int | None) -> Ranking:
    """Rank distinct texts; as `rank_keys`, without a key for each."""
    check_limit(len(texts), limit)
    ordered = sorted(texts)
    index = {text: place for place, text in enumerate(ordered)}
    values = ColumnValues(object_array(ordered, len(ordered)), has_missing=False)
    return Ranking(values, np.fromiter(map(index.__getitem__, texts), np.int64, len(texts)))


def recode(
    code: Callable[[Any, int | None], CodedColumn],
    categories: Any,
    chunks: list[NDArray[Any]],
    limit: int | None,
) -> CodedColumn:
    """Bring indices into `categories`, past its end if missing, to the canonical order.

    `code` codes a column of the kind of `categories`; it gets those that occur.
    """
    used = np.zeros(len(categories) + 1, dtype=bool)
    for chunk in chunks:
        used[chunk] = True
    kept = np.flatnonzero(used[:-1])
    small = code(categories.take(kept), limit) if len(kept) else coded_nothing()
    places = np.full(len(used), len(small.values))
    places[kept] = small.codes
    has_missing = small.values.has_missing or bool(used[-1])
    return look_up(Ranking(replace(small.values, has_missing=has_missing), places), chunks)


def look_up(ranking: Ranking, chunks: Sequence[NDArray[Any]]) -> CodedColumn:
    """Return the codes of cells that are given as indices into the ranked values."""
    n_codes = len(ranking.values) + ranking.values.has_missing
    table = ranking.places.astype(code_dtype(n_codes))
    codes = np.empty(sum(map(len, chunks)), dtype=table.dtype)
    start = 0
    for chunk in chunks:
        for piece in np.split(chunk, range(_PIECE, len(chunk), _PIECE)):
            out = codes[start : start + len(piece)]
            np.take(table, piece.astype(np.intp, copy=False), out=out, mode="clip")
            start += len(piece)
    return CodedColumn(ranking.values, codes)
