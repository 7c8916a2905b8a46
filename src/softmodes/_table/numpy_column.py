"""A NumPy column in: its distinct values, and a code for every cell."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softmodes._table.arrow_column import code_arrow, code_by_hash
from softmodes._table.ranking import (
    CodedColumn,
    check_limit,
    code_dtype,
    rank_keys,
    recode,
)
from softmodes._table.values import (
    ColumnValues,
    Kind,
    array_of,
    complex_values,
    converter,
    in_fixed_unit,
    natural_integers,
    unsupported,
)


def code_numpy(column: NDArray[Any], limit: int | None) -> CodedColumn:
    """Find the values of a contiguous column, and the code of each cell."""
    kind = column.dtype.kind
    if kind == "b":
        return _code_bools(column)
    if kind in "iu":
        return _code_integers(column, limit)
    if kind == "f":
        return code_by_hash(pa.array(column.astype(np.float64, copy=False)), limit)
    if kind in "SU" and column.dtype.itemsize:
        return _code_text(column, limit)
    if kind in "Mm":
        return code_by_hash(pa.array(in_fixed_unit(column)), limit)
    if kind in "OTSU":
        return _code_objects(column.astype(object, copy=False), limit)
    raise complex_values() if kind == "c" else unsupported(str(column.dtype))


def _code_bools(column: NDArray[np.bool_]) -> CodedColumn:
    present = [False] * (not column.all()) + [True] * bool(column.any())
    codes = column.view(np.uint8) if len(present) == 2 else np.zeros(len(column), np.uint8)
    if codes.max(initial=0) > 1:
        codes = np.minimum(codes, 1)  # True may be any byte but zero
    values = array_of([(Kind.BOOL, value) for value in present])
    return CodedColumn(ColumnValues(values, has_missing=False), codes)


def _code_integers(column: NDArray[Any], limit: int | None) -> CodedColumn:
    """Look small ranges up in a table; hash the others."""
    low, high = column.min(), column.max()
    span = int(high) - int(low) + 1
    if span > max(256, min(1 << 20, 4 * len(column))):
        return code_by_hash(pa.array(column), limit)
    # Modulo 2**64 the difference is right whatever the sign of the type.
    index = np.subtract(column, low, dtype=np.int64, casting="unsafe")
    seen = np.zeros(span, dtype=bool)
    seen[index] = True
    offsets = np.flatnonzero(seen)
    check_limit(len(offsets), limit)
    table = (np.cumsum(seen) - 1).astype(code_dtype(len(offsets)))
    values = natural_integers(offsets.astype(column.dtype) + low)
    codes = np.take(table, index, mode="clip")
    return CodedColumn(ColumnValues(values, has_missing=False), codes)


def _code_text(column: NDArray[Any], limit: int | None) -> CodedColumn:
    """Hash NumPy's fixed-width cells as they lie, and decode the distinct ones only."""
    column = column.astype(column.dtype.newbyteorder("="), copy=False)
    cells = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(column.dtype.itemsize), len(column), [None, pa.py_buffer(column.view(np.uint8))]
    )
    encoded = cells.dictionary_encode()
    distinct = np.frombuffer(b"".join(encoded.dictionary.to_pylist()), dtype=column.dtype)
    return recode(_code_objects, distinct.astype(object), [encoded.indices.to_numpy()], limit)


def _code_objects(column: NDArray[Any], limit: int | None) -> CodedColumn:
    """Leave objects to Arrow if it keeps their values apart, else hash them with their types."""
    cells = column.tolist()
    kinds = set(map(type, cells))
    inferred = _inferred(column, kinds)
    if inferred is not None:
        return code_arrow(inferred, limit)
    converters = {kind: converter(kind) for kind in kinds}
    marked = _marked(cells, kinds)
    distinct = list(set(marked))
    ranking = rank_keys([converters[kind](value) for kind, _, value in distinct], limit)
    index = dict(zip(distinct, ranking.places.tolist(), strict=True))
    dtype = code_dtype(len(ranking.values) + ranking.values.has_missing)
    codes = np.fromiter(map(index.__getitem__, marked), dtype, len(cells))
    return CodedColumn(ranking.values, codes)


def _marked(cells: list[Any], kinds: set[type]) -> list[tuple[type, Any, Any]]:
    """Return each cell behind what tells it from equal ones: its type, and a detail."""
    if not _any_of(kinds, Decimal, dt.datetime, np.datetime64, np.timedelta64):
        return list(zip(map(type, cells), repeat(None), cells, strict=False))
    cells = [_quiet(cell) for cell in cells]
    return [(type(cell), _detail(cell), cell) for cell in cells]


def _detail(cell: Any) -> Any:
    if isinstance(cell, dt.datetime):
        return cell.fold  # to Python both hours are equal that a clock set back shows as one
    if isinstance(cell, np.datetime64 | np.timedelta64):
        unit = np.datetime_data(cell.dtype)
        if unit[0] == "generic" and not np.isnat(cell):
            raise unsupported("timedelta64 without a unit")
        return unit  # to NumPy a day equals its midnight
    return cell.as_tuple() if isinstance(cell, Decimal) else None


def _any_of(kinds: set[type], *parents: type) -> bool:
    return any(issubclass(kind, parents) for kind in kinds)


def _quiet(cell: Any) -> Any:
    """Return NaN for a signaling one, which can be neither hashed nor compared."""
    return type(cell)("NaN") if isinstance(cell, Decimal) and cell.is_snan() else cell


def _inferred(column: NDArray[Any], kinds: set[type]) -> Any | None:
    """Return the column in the Arrow type of all its values, if Arrow merges no different ones."""
    if _any_of(kinds, np.datetime64, np.timedelta64):
        return None  # with other types beside these, Arrow may read memory that is not its own
    if _any_of(kinds, np.float16, np.longdouble):
        return None  # beside integers, Arrow would cut off what stands behind their point
    try:
        arrow = pa.array(column, from_pandas=True)
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        return None
    kind, types = arrow.type, pa.types
    if types.is_string(kind) or types.is_large_string(kind):
        return arrow
    if types.is_boolean(kind) or types.is_null(kind):
        return arrow
    if types.is_int64(kind):
        return None if _any_of(kinds, *_BOOLS) else arrow  # some bools become 0 and 1
    if types.is_float64(kind):
        # Ints among floats are floats to Arrow.
        return None if _any_of(kinds, *_BOOLS, int, np.integer) else arrow
    return None


_BOOLS = (bool, np.bool_)
