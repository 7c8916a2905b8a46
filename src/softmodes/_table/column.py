"""One column in: its distinct values in canonical order, and an integer code for every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._table.values import (
    NANOSECONDS,
    BadColumnError,
    Key,
    Kind,
    array_of,
    complex_values,
    converter,
    plain_time,
    unsupported,
)

_MOST_STRINGS = 1 << 16  # beyond, Arrow counts on for the error message
_PIECE = 1 << 16  # cells whose indices stay in cache while they are looked up


@dataclass(frozen=True, eq=False)
class Factor:
    """A column as codes: the index of each cell's value, `len(values)` where it is missing."""

    values: NDArray[Any]
    codes: NDArray[Any]
    has_missing: bool


@dataclass(frozen=True, eq=False)
class Categorical:
    """A column that comes as codes (-1 where missing) into an array of categories."""

    codes: NDArray[Any]
    categories: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Distinct values in order, and the place of each given one: `len(values)` if missing."""

    values: NDArray[Any]
    places: NDArray[np.int64]
    has_missing: bool


class TooManyValuesError(Exception):
    """More distinct values than allowed."""

    def __init__(self, n_values: int, *, continuous: bool) -> None:
        super().__init__(n_values)
        self.n_values = n_values
        self.continuous = continuous


def code_dtype(n_codes: int) -> type[np.integer[Any]]:
    """Return the narrowest type for codes 0 to n_codes - 1 that the kernels take."""
    if n_codes <= 1 << 8:
        return np.uint8
    return np.uint16 if n_codes <= 1 << 16 else np.int32


def factorize(column: Any, limit: int | None = None) -> Factor:
    """Find the values of a column (NumPy, Arrow or `Categorical`) and the code of each cell.

    Codes may be a view of the column. More than `limit` values raise `TooManyValuesError`.
    """
    if isinstance(column, Categorical):
        missing = len(column.categories)
        codes = np.where(column.codes < 0, np.int32(missing), column.codes)
        return _recode(column.categories, [codes], limit)
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return _factorize_arrow(column, limit)
    return _factorize_numpy(np.ascontiguousarray(column), limit)


# --- NumPy ---------------------------------------------------------------------------------------


def _factorize_numpy(column: NDArray[Any], limit: int | None) -> Factor:
    kind = column.dtype.kind
    if kind == "b":
        return _factorize_bools(column)
    if kind in "iu":
        return _factorize_integers(column, limit)
    if kind == "f":
        return _hash(pa.array(column.astype(np.float64, copy=False)), limit)
    if kind in "SU" and column.dtype.itemsize:
        return _factorize_text(column, limit)
    if kind in "Mm":
        return _hash(pa.array(plain_time(column)), limit)
    if kind in "OTSU":
        return _factorize_objects(column.astype(object, copy=False), limit)
    raise complex_values() if kind == "c" else unsupported(str(column.dtype))


def _factorize_bools(column: NDArray[np.bool_]) -> Factor:
    present = [False] * (not column.all()) + [True] * bool(column.any())
    codes = column.view(np.uint8) if len(present) == 2 else np.zeros(len(column), np.uint8)
    if codes.max(initial=0) > 1:
        codes = np.minimum(codes, 1)  # True may be any byte but zero
    return Factor(array_of([(Kind.BOOL, value) for value in present]), codes, has_missing=False)


def _factorize_integers(column: NDArray[Any], limit: int | None) -> Factor:
    """Look small ranges up in a table; hash the others."""
    if len(column) == 0:
        return Factor(array_of([]), np.zeros(0, np.uint8), has_missing=False)
    low, high = column.min(), column.max()
    span = int(high) - int(low) + 1
    if span > max(256, min(1 << 20, 4 * len(column))):
        return _hash(pa.array(column), limit)
    # Modulo 2**64 the difference is right whatever the sign of the type.
    index = np.subtract(column, low, dtype=np.int64, casting="unsafe")
    seen = np.zeros(span, dtype=bool)
    seen[index] = True
    offsets = np.flatnonzero(seen)
    check_limit(len(offsets), limit)
    table = (np.cumsum(seen) - 1).astype(code_dtype(len(offsets)))
    values = natural_integers(offsets.astype(column.dtype) + low)
    return Factor(values, np.take(table, index, mode="clip"), has_missing=False)


def natural_integers(values: NDArray[Any]) -> NDArray[Any]:
    """Return integers as int64, as uint64 if they need it; other values as they are."""
    if values.dtype.kind not in "iu" or (len(values) and values.max() > np.iinfo(np.int64).max):
        return values
    return values.astype(np.int64)


def _factorize_text(column: NDArray[Any], limit: int | None) -> Factor:
    """Hash NumPy's fixed-width cells as they lie, and decode the distinct ones only."""
    column = column.astype(column.dtype.newbyteorder("="), copy=False)
    cells = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(column.dtype.itemsize), len(column), [None, pa.py_buffer(column.view(np.uint8))]
    )
    encoded = cells.dictionary_encode()
    distinct = np.frombuffer(b"".join(encoded.dictionary.to_pylist()), dtype=column.dtype)
    return _recode(distinct.astype(object), [encoded.indices.to_numpy()], limit)


def _factorize_objects(column: NDArray[Any], limit: int | None) -> Factor:
    """Leave objects to Arrow if it keeps their values apart, else hash them with their types."""
    cells = column.tolist()
    kinds = set(map(type, cells))
    arrow = _infer(column, kinds)
    if arrow is not None:
        return _factorize_arrow(arrow, limit)
    converters = {kind: converter(kind) for kind in kinds}
    if _any_of(kinds, Decimal):
        cells = list(map(_quiet, cells))
    marks = _marks(cells, kinds)
    # Of equal numbers of several types the int is shown, whichever came first.
    distinct = sorted(
        set(zip(marks, cells, strict=True)),
        key=lambda pair: _type_of(pair[0]).__name__,
        reverse=True,
    )
    keys = [converters[_type_of(mark)](value) for mark, value in distinct]
    ranking = _rank_keys(keys, limit)
    index = dict(zip(distinct, ranking.places.tolist(), strict=True))
    dtype = code_dtype(len(ranking.values) + ranking.has_missing)
    codes = map(index.__getitem__, zip(marks, cells, strict=True))
    return Factor(ranking.values, np.fromiter(codes, dtype, len(cells)), ranking.has_missing)


def _marks(cells: list[Any], kinds: set[type]) -> list[Any]:
    """Return what tells each cell from equal ones of other kinds: its type, or its dtype."""
    if _any_of(kinds, np.datetime64, np.timedelta64):
        # To NumPy a day equals its midnight.
        return [getattr(cell, "dtype", type(cell)) for cell in cells]
    return list(map(type, cells))


def _type_of(mark: Any) -> type:
    return mark.type if isinstance(mark, np.dtype) else mark


def _any_of(kinds: set[type], *parents: type) -> bool:
    return any(issubclass(kind, parents) for kind in kinds)


def _quiet(cell: Any) -> Any:
    """Return NaN for a signaling one, which can be neither hashed nor compared."""
    return type(cell)("NaN") if isinstance(cell, Decimal) and cell.is_snan() else cell


def _infer(column: NDArray[Any], kinds: set[type]) -> Any | None:
    """Return the column in the Arrow type of all its values, if Arrow merges no different ones."""
    if _any_of(kinds, np.datetime64, np.timedelta64):
        return None  # with other types beside these, Arrow may read memory that is not its own
    try:
        arrow = pa.array(column, from_pandas=True)
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        return None
    types = pa.types
    if types.is_string(arrow.type) or types.is_large_string(arrow.type):
        return arrow
    if types.is_boolean(arrow.type) or types.is_null(arrow.type):
        return arrow
    if types.is_int64(arrow.type) or types.is_float64(arrow.type):
        # Among numbers Arrow takes some bools for 0 and 1.
        return None if {bool, np.bool_} & kinds else arrow
    return None


# --- Arrow ---------------------------------------------------------------------------------------


def _factorize_arrow(column: Any, limit: int | None) -> Factor:
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return _recode_arrow(column, limit)
    if not _is_flat(kind):
        raise unsupported(str(kind))
    if types.is_integer(kind) and column.null_count == 0:
        return _factorize_integers(column.to_numpy(), limit)
    return _hash(_widened(column), limit)


def _widened(column: Any) -> Any:
    wider = _wider(column.type)
    return column if wider is None else column.cast(wider)


def _wider(kind: Any) -> Any | None:
    """Return the type in which Arrow hashes values of this one, None for the same."""
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    return _WIDER.get(str(kind))


# Arrow loses the nulls of views in a dictionary; floats are compared as float64.
_WIDER = {
    "halffloat": pa.float64(),
    "float": pa.float64(),
    "string_view": pa.large_string(),
    "binary_view": pa.large_binary(),
}


def _is_flat(kind: Any) -> bool:
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType) or types.is_interval(kind):
        return False
    return types.is_primitive(kind) or any(
        test(kind) for test in (types.is_null, types.is_decimal, _is_string, _is_binary)
    )


def _is_string(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _is_binary(kind: Any) -> bool:
    names = ("binary", "large_binary", "binary_view", "fixed_size_binary")
    return str(kind).split("[")[0] in names


def _hash(column: Any, limit: int | None) -> Factor:
    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    factor = _hash_strings(column, limit) if _is_string(column.type) else None
    return _hash_by_arrow(column, limit) if factor is None else factor


def _hash_strings(column: Any, limit: int | None) -> Factor | None:
    """Hash strings natively, two to three times faster than Arrow; None past `_MOST_STRINGS`."""
    dictionary = _kernels.StringDictionary()
    codes = np.empty(len(column), np.int32)
    start = 0
    for chunk in column.chunks:
        part = codes[start : start + len(chunk)]
        if not dictionary.encode(*_string_buffers(chunk), _MOST_STRINGS, part):
            return None
        start += len(chunk)
    first = dictionary.first_cells()
    distinct = column.take(pa.array(first)).combine_chunks()
    ranking = _rank_arrow(distinct, limit)
    has_missing = column.null_count > 0
    table = np.append(ranking.places, len(ranking.values))
    table = table.astype(code_dtype(len(ranking.values) + has_missing))
    out = np.empty(len(codes), table.dtype)
    _kernels.look_up(codes, table, out)
    return Factor(ranking.values, out, has_missing)


def _string_buffers(chunk: Any) -> tuple[Any, Any, Any, int]:
    """Return offsets, bytes, validity bits (or None) and the first of these bits."""
    validity, offsets, data = chunk.buffers()
    kind = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    edges = np.frombuffer(offsets, kind)[chunk.offset : chunk.offset + len(chunk) + 1]
    cells = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    bits = np.frombuffer(validity, np.uint8) if chunk.null_count else None
    return edges, cells, bits, chunk.offset


def _hash_by_arrow(column: Any, limit: int | None) -> Factor:
    chunks = pc.dictionary_encode(column, null_encoding="encode").chunks
    if not chunks:
        return Factor(array_of([]), np.zeros(0, np.uint8), has_missing=False)
    ranking = _rank_arrow(chunks[-1].dictionary, limit)
    return _look_up(ranking, [chunk.indices.to_numpy() for chunk in chunks])


def _recode_arrow(column: Any, limit: int | None) -> Factor:
    if not _is_flat(column.type.value_type):
        raise unsupported(str(column.type.value_type))
    chunks = [column] if isinstance(column, pa.Array) else column.chunks
    if not chunks:
        return Factor(array_of([]), np.zeros(0, np.uint8), has_missing=False)
    for chunk in chunks:
        _check_indices(chunk)
    dictionaries = [_widened(chunk.dictionary) for chunk in chunks]
    starts = np.zeros(len(chunks), np.int64)
    if not all(other.equals(dictionaries[0]) for other in dictionaries[1:]):
        # Values may then occur twice, which does no harm; Arrow unifies no dictionaries with nulls.
        starts[1:] = np.cumsum(list(map(len, dictionaries[:-1])))
        dictionaries = [pa.concat_arrays(dictionaries)]
    missing = len(dictionaries[0])
    indices = [_indices(c, int(start), missing) for c, start in zip(chunks, starts, strict=True)]
    return _recode(dictionaries[0], indices, limit)


def _check_indices(chunk: Any) -> None:
    """Refuse indices that Arrow would look up outside the dictionary."""
    n_values = len(chunk.dictionary)
    for index in pc.min_max(chunk.indices).as_py().values():
        if index is not None and not 0 <= index < n_values:
            raise BadColumnError(
                ValueError,
                f"holds index {index} into a dictionary of {n_values} values. Pass indices from 0 "
                f"to {n_values - 1}, and null where a cell is missing.",
            )


def _indices(chunk: Any, start: int, missing: int) -> NDArray[Any]:
    indices = chunk.indices
    if start or indices.null_count:
        indices = pc.add(indices.cast(pa.int64()), start).fill_null(missing)
    return np.asarray(indices.to_numpy())


def _recode(categories: Any, chunks: list[NDArray[Any]], limit: int | None) -> Factor:
    """Bring codes into `categories` (past its end if missing) to the canonical order."""
    used = np.zeros(len(categories) + 1, dtype=bool)
    for chunk in chunks:
        used[chunk] = True
    kept = np.flatnonzero(used[:-1])
    small = factorize(categories.take(kept), limit)
    places = np.full(len(used), len(small.values))
    places[kept] = small.codes
    has_missing = small.has_missing or bool(used[-1])
    return _look_up(Ranking(small.values, places, has_missing), chunks)


def _look_up(ranking: Ranking, chunks: Sequence[NDArray[Any]]) -> Factor:
    table = ranking.places.astype(code_dtype(len(ranking.values) + ranking.has_missing))
    codes = np.empty(sum(map(len, chunks)), dtype=table.dtype)
    start = 0
    for chunk in chunks:
        for piece in np.split(chunk, range(_PIECE, len(chunk), _PIECE)):
            out = codes[start : start + len(piece)]
            np.take(table, piece.astype(np.intp, copy=False), out=out, mode="clip")
            start += len(piece)
    return Factor(ranking.values, codes, ranking.has_missing)


# --- ranking of distinct values ------------------------------------------------------------------


def _rank_arrow(distinct: Any, limit: int | None) -> Ranking:
    types = pa.types
    valid = distinct.drop_null()
    if (
        types.is_boolean(valid.type)
        or types.is_integer(valid.type)
        or types.is_floating(valid.type)
    ):
        ranking = _rank_numbers(valid.to_numpy(zero_copy_only=False), limit)
    else:
        ranking = _rank_keys(_arrow_keys(valid), limit)
    if len(valid) == len(distinct):
        return ranking
    places = np.full(len(distinct), len(ranking.values))
    places[distinct.is_valid().to_numpy(zero_copy_only=False)] = ranking.places
    return Ranking(ranking.values, places, has_missing=True)


def _rank_numbers(numbers: NDArray[Any], limit: int | None) -> Ranking:
    continuous = numbers.dtype.kind == "f"
    if continuous:
        numbers = numbers + 0.0  # -0.0 becomes 0.0
    values, places = np.unique(numbers, return_inverse=True)
    has_missing = bool(continuous and len(values) and np.isnan(values[-1]))
    values = values[:-1] if has_missing else values  # so that NaN's place is that of the missing
    check_limit(len(values), limit, continuous=continuous)
    values = natural_integers(values) if len(values) else array_of([])
    return Ranking(values, places, has_missing)


def _rank_keys(keys: Sequence[Key | None], limit: int | None) -> Ranking:
    distinct = dict.fromkeys(keys)
    has_missing = None in distinct
    distinct.pop(None, None)
    check_limit(len(distinct), limit)
    ordered: list[Any] = sorted(distinct)
    index: dict[Key | None, int] = {key: place for place, key in enumerate(ordered)}
    index[None] = len(ordered)
    places = np.fromiter(map(index.__getitem__, keys), np.int64, len(keys))
    return Ranking(array_of(ordered), places, has_missing)


def _arrow_keys(distinct: Any) -> list[Key]:
    kind, types = distinct.type, pa.types
    if types.is_timestamp(kind):
        return _time_keys(distinct, Kind.DATETIME if kind.tz is None else Kind.INSTANT)
    if types.is_time(kind):
        return _time_keys(distinct, Kind.TIME)
    if types.is_duration(kind):
        return _time_keys(distinct, Kind.DURATION)
    if types.is_date(kind):
        days = distinct.cast(pa.date32()).cast(pa.int32()).to_pylist()
        return [(Kind.DATE, day) for day in days]
    known = Kind.NUMBER if types.is_decimal(kind) else Kind.STRING
    known = Kind.BYTES if _is_binary(kind) else known
    return [(known, value) for value in distinct.to_pylist()]


def _time_keys(distinct: Any, kind: Kind) -> list[Key]:
    size = NANOSECONDS[distinct.type.unit]
    integer = pa.int32() if distinct.type.bit_width == 32 else pa.int64()
    return [(kind, count * size) for count in distinct.cast(integer).to_pylist()]


def check_limit(n_values: int, limit: int | None, *, continuous: bool = False) -> None:
    """Raise if there are more values than allowed."""
    if limit is not None and n_values > limit:
        raise TooManyValuesError(n_values, continuous=continuous)
