"""An Arrow column in: its distinct values, and a code for every cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._table.ranking import (
    CodedColumn,
    Ranking,
    code_dtype,
    look_up,
    rank_keys,
    rank_numbers,
    rank_texts,
    recode,
)
from softmodes._table.values import (
    NANOSECONDS,
    BadColumnError,
    Key,
    Kind,
    unsupported,
)

_MOST_STRINGS = 1 << 16  # beyond, Arrow counts on for the error message


def code_arrow(column: Any, limit: int | None) -> CodedColumn:
    """Find the values of an array or chunked array, and the code of each cell."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _code_dictionary(column, limit)
    if not _is_flat(kind):
        raise unsupported(str(kind))
    return code_by_hash(_widened(column), limit)


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


def code_by_hash(column: Any, limit: int | None) -> CodedColumn:
    """Find the values of a flat column by hashing its cells."""
    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    coded = _hash_strings(column, limit) if _is_string(column.type) else None
    return _hash_by_arrow(column, limit) if coded is None else coded


def _hash_strings(column: Any, limit: int | None) -> CodedColumn | None:
    """Hash strings natively, two to three times faster than Arrow; None past `_MOST_STRINGS`."""
    codes = np.empty(len(column), np.int32)
    distinct = number_strings(column, codes)
    if distinct is None:
        return None
    ranking = _rank_arrow(distinct, limit)
    values = replace(ranking.values, has_missing=column.null_count > 0)
    table = np.append(ranking.places, len(values))
    table = table.astype(code_dtype(len(values) + values.has_missing))
    out = np.empty(len(codes), table.dtype)
    _kernels.look_up(codes, table, out)
    return CodedColumn(values, out)


def number_strings(column: Any, numbers: NDArray[np.int32]) -> Any | None:
    """Give each string of a chunked array a number as they appear, -1 where one is missing.

    Returns the distinct ones, in this order; None if there are more than `_MOST_STRINGS`.
    """
    dictionary = _kernels.StringDictionary()
    start = 0
    for chunk in column.chunks:
        part = numbers[start : start + len(chunk)]
        if not dictionary.encode(*_string_buffers(chunk), _MOST_STRINGS, part):
            return None
        start += len(chunk)
    return _taken(column, np.asarray(dictionary.first_cells()))


def _taken(column: Any, cells: NDArray[np.int64]) -> Any:
    """Return some cells of a column, ascending, as one array; Arrow would join all chunks first."""
    if column.num_chunks < 2:
        return column.take(pa.array(cells)).combine_chunks()
    ends = np.cumsum([len(chunk) for chunk in column.chunks])
    parts = np.split(cells, np.searchsorted(cells, ends[:-1]))
    pairs = zip(column.chunks, parts, ends, strict=True)
    found = [chunk.take(pa.array(some - (end - len(chunk)))) for chunk, some, end in pairs]
    return pa.concat_arrays(found)


def _string_buffers(chunk: Any) -> tuple[Any, Any, Any, int]:
    """Return offsets, bytes, validity bits (or None) and the first of these bits."""
    validity, offsets, data = chunk.buffers()
    kind = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    edges = np.frombuffer(offsets, kind)[chunk.offset : chunk.offset + len(chunk) + 1]
    cells = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    bits = np.frombuffer(validity, np.uint8) if chunk.null_count else None
    return edges, cells, bits, chunk.offset


def _hash_by_arrow(column: Any, limit: int | None) -> CodedColumn:
    chunks = pc.dictionary_encode(column, null_encoding="encode").chunks
    ranking = _rank_arrow(chunks[-1].dictionary, limit)
    return look_up(ranking, [chunk.indices.to_numpy() for chunk in chunks])


def _code_dictionary(column: Any, limit: int | None) -> CodedColumn:
    if not _is_flat(column.type.value_type):
        raise unsupported(str(column.type.value_type))
    chunks = [column] if isinstance(column, pa.Array) else column.chunks
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
    return recode(code_arrow, dictionaries[0], indices, limit)


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


def _rank_arrow(distinct: Any, limit: int | None) -> Ranking:
    types = pa.types
    valid = distinct.drop_null()
    if (
        types.is_boolean(valid.type)
        or types.is_integer(valid.type)
        or types.is_floating(valid.type)
    ):
        ranking = rank_numbers(valid.to_numpy(zero_copy_only=False), limit)
    elif _is_string(valid.type):
        ranking = rank_texts(valid.to_pylist(), limit)
    else:
        ranking = rank_keys(_arrow_keys(valid), limit)
    if len(valid) == len(distinct):
        return ranking
    places = np.full(len(distinct), len(ranking.values))
    places[distinct.is_valid().to_numpy(zero_copy_only=False)] = ranking.places
    return Ranking(replace(ranking.values, has_missing=True), places)


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
