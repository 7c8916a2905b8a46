"""Any table in: its names, its size, and its cells as columns, as bytes or sparse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from softmodes._table.column import Categorical
from softmodes._table.one_kind import OneKind, is_wide, of_matrix, of_strings, pandas_strings
from softmodes._table.values import object_array
from softmodes._text import short_repr

T = TypeVar("T")

# Libraries whose frames narwhals can make of columns, as a profile needs.
FRAME_BACKENDS = ("pandas", "modin", "cudf", "polars", "pyarrow")

_ROWS_AT_ONCE = 1 << 14
_MOST_LISTED = 5  # names of columns in a message


@dataclass(frozen=True, eq=False)
class MatrixColumns:
    """Columns of a NumPy matrix that share cache lines, the first one being column `start`."""

    start: int
    matrix: NDArray[Any]

    def columns(self) -> Iterable[NDArray[Any]]:
        """Return the columns, each contiguous."""
        return np.ascontiguousarray(self.matrix.T)


@dataclass(frozen=True, eq=False)
class OneColumn(Generic[T]):
    """Column `start` as a container keeps it, converted only when its turn comes."""

    start: int
    source: T
    convert: Callable[[T], Any]

    def columns(self) -> Iterable[Any]:
        """Return the column, in a list."""
        return [self.convert(self.source)]


Columns: TypeAlias = MatrixColumns | OneColumn[Any]


@dataclass(frozen=True, eq=False)
class ByteMatrix:
    """A row-major matrix of one-byte cells, and the value that each byte stands for."""

    matrix: NDArray[np.uint8]
    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it came, read no further than its shape and names."""

    shape: tuple[int, int]
    names: tuple[str, ...] | None
    cells: ByteMatrix | OneKind | Sequence[Columns] | sp.csr_array


def column_label(names: tuple[str, ...] | None, column: int) -> str:
    """Name a column in messages."""
    return f"Column {column}" + (f" ({names[column]!r})" if names else "")


def read(table: Any) -> Table:
    """Open a table of any supported container; it has columns, but maybe no rows."""
    return _require_some(_opened(table), axis=1, what="feature")


def _opened(table: Any) -> Table:
    if sp.issparse(table):  # first, since some are mappings
        return _read_sparse(table)
    if isinstance(table, Mapping | str | bytes):
        raise ValueError(
            f"Expected a 2D table, got a {type(table).__name__}. Pass a data frame, a NumPy array, "
            "an Arrow table, a sparse matrix or a list of rows."
        )
    if isinstance(table, list | tuple):
        return _read_rows(table)
    if isinstance(table, np.ndarray):
        return _read_numpy(table)
    return _read_frame_or_array(table)


def _read_frame_or_array(table: Any) -> Table:
    """Read what narwhals takes for a frame, or what turns into an array."""
    if nw.dependencies.is_pandas_dataframe(table):
        return _read_pandas(table, _names(_column_names(table)))
    if hasattr(table, "column_names") or (hasattr(table, "iloc") and hasattr(table, "columns")):
        _check_unique(_column_names(table))  # narwhals would refuse in its own words
    try:
        frame = nw.from_native(table, allow_series=True)
    except TypeError:
        return _read_protocol(table)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"{type(table).__module__}.{type(table).__name__} is a lazy frame that is not "
            "streamed here, and it is not collected unasked. Pass what its own collect() or "
            "compute() returns."
        )
    if isinstance(frame, nw.Series):
        raise one_dimensional(table)
    return _read_frame(frame)


def _read_protocol(table: Any) -> Table:
    """Read what only speaks the Arrow or the NumPy protocol."""
    if isinstance(table, pa.Array | pa.ChunkedArray):
        raise one_dimensional(table)
    if hasattr(table, "__arrow_c_stream__") or isinstance(table, pa.RecordBatch):
        return _read_frame_or_array(pa.table(table))
    if hasattr(table, "__array__"):
        return _read_numpy(np.asarray(table))
    raise TypeError(
        f"Expected a 2D table, got {type(table).__name__}. Pass a data frame, a NumPy array, an "
        "Arrow table, a sparse matrix or a list of rows."
    )


def one_dimensional(table: Any) -> ValueError:
    """Tell, in scikit-learn's words, that a table has two dimensions."""
    got = "scalar" if isinstance(table, np.ndarray) and table.ndim == 0 else "1D"
    return ValueError(
        f"Expected 2D array, got {got} array instead:\narray={short_repr(table)}.\n"
        "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
        "array.reshape(1, -1) if it contains a single sample; of a data frame select columns by a "
        "list, as in frame[['name']]."
    )


def require_rows(table: Table) -> Table:
    """Return a table that has rows; raise, in scikit-learn's words, for one that has none."""
    return _require_some(table, axis=0, what="sample")


def _require_some(table: Table, axis: int, what: str) -> Table:
    if table.shape[axis] == 0:
        raise ValueError(
            f"Found array with 0 {what}(s) (shape={table.shape}) while a minimum of 1 is required."
        )
    return table


# --- NumPy, rows, sparse -------------------------------------------------------------------------


def _read_numpy(matrix: NDArray[Any], names: tuple[str, ...] | None = None) -> Table:
    if matrix.ndim < 2:
        raise one_dimensional(matrix)
    if matrix.ndim > 2:
        raise ValueError(f"Found array with dim {matrix.ndim}, while dim <= 2 is required.")
    if isinstance(matrix, np.ma.MaskedArray):
        mask, matrix = np.ma.getmaskarray(matrix), matrix.data.astype(object)
        matrix[mask] = None
    matrix = np.asarray(matrix)
    cells = _as_bytes(matrix) or of_matrix(matrix) or _matrix_columns(matrix)
    return Table(matrix.shape, names, cells)


def _as_bytes(matrix: NDArray[Any]) -> ByteMatrix | None:
    """Return integers that span at most 256 values as bytes, in place if they are bytes."""
    if matrix.size == 0 or matrix.dtype.kind not in "biu":
        return None
    if matrix.flags.f_contiguous and matrix.shape[0] > 1:
        return None
    if matrix.dtype.itemsize == 1:
        cells = np.ascontiguousarray(matrix).view(np.uint8)
        return ByteMatrix(cells, _values_of_bytes(matrix.dtype))
    low = matrix.min()
    if int(matrix.max()) - int(low) > 255:
        return None
    shifted = np.empty(matrix.shape, dtype=np.uint8)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        np.subtract(matrix[rows], low, out=shifted[rows], casting="unsafe")
    return ByteMatrix(shifted, np.arange(256).astype(matrix.dtype) + low)


def _values_of_bytes(dtype: np.dtype[Any]) -> NDArray[Any]:
    values = np.arange(256, dtype=np.uint8)
    return values > 0 if dtype.kind == "b" else values.view(dtype)


def _matrix_columns(matrix: NDArray[Any]) -> list[MatrixColumns]:
    """Cut a matrix into groups of columns that share cache lines."""
    width = 1 if matrix.flags.f_contiguous else max(1, 128 // max(matrix.dtype.itemsize, 1))
    starts = range(0, matrix.shape[1], width)
    return [MatrixColumns(start, matrix[:, start : start + width]) for start in starts]


def _single_columns(sources: Iterable[T], convert: Callable[[T], Any]) -> list[OneColumn[T]]:
    return [OneColumn(number, source, convert) for number, source in enumerate(sources)]


def _read_rows(rows: Sequence[Any]) -> Table:
    if not rows or not all(map(_is_row, rows)):
        raise one_dimensional(rows)
    lengths = list(map(len, rows))
    if len(set(lengths)) > 1:
        odd = next(row for row, length in enumerate(lengths) if length != lengths[0])
        raise ValueError(
            f"Rows differ in length: row 0 has {lengths[0]} cells, row {odd} has {lengths[odd]}. "
            "Pass rows of one length, with None for missing cells."
        )
    if _share_dtype(rows):
        return _read_numpy(np.array(rows))
    columns = _single_columns(zip(*rows, strict=True), _column_of_cells)
    return Table((len(rows), lengths[0]), None, columns)


def _column_of_cells(cells: tuple[Any, ...]) -> NDArray[Any]:
    return object_array(cells, len(cells))


def _is_row(row: Any) -> bool:
    return isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim > 0)


def _share_dtype(rows: Sequence[Any]) -> bool:
    """Tell whether rows are arrays that NumPy stacks without turning values into others."""
    return set(map(type, rows)) == {np.ndarray} and len({row.dtype for row in rows}) == 1


def _read_sparse(matrix: Any) -> Table:
    if matrix.ndim != 2:
        raise one_dimensional(matrix)
    csr = sp.csr_array(_checked_indices(matrix))
    if not csr.has_canonical_format:
        csr = csr.copy()  # the arrays may be the caller's
        csr.sum_duplicates()
    return Table(csr.shape, None, csr)


def _checked_indices(matrix: Any) -> Any:
    """Return a sparse matrix without indices that scipy would follow beyond its arrays."""
    try:
        if matrix.format == "coo":
            return sp.coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
        # A copy of the shell, not of the arrays: the check cuts off room to grow.
        checked = copy(matrix) if hasattr(matrix, "check_format") else sp.csr_array(matrix)
        checked.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"The indices of the sparse table do not fit its shape {matrix.shape}: {error}. Build "
            "it again from its rows, columns and values."
        ) from error
    return checked


# --- frames --------------------------------------------------------------------------------------


def _read_frame(frame: nw.DataFrame[Any]) -> Table:
    native = frame.to_native()
    names = _names(_column_names(native))
    if frame.implementation.is_pandas_like():
        return _read_pandas(native, names)
    if isinstance(native, pa.Table):
        cells = of_strings(native.shape, native.schema.types, lambda: native.columns)
        if cells is not None:
            return Table(native.shape, names, cells)
    return Table(frame.shape, names, _single_columns(frame.iter_columns(), _series_column))


def _read_pandas(native: Any, names: tuple[str, ...] | None) -> Table:
    """Read a frame of pandas, or of a library that looks like it."""
    if is_wide(native.shape) and _dtype_names(native) == {"StringDtype"}:
        cells = of_strings(native.shape, (), lambda: pandas_strings(native))
        if cells is not None:
            return Table(native.shape, names, cells)
    if _wraps_matrix(native):
        return _read_numpy(native.to_numpy(), names)
    columns = (column for _, column in native.items())
    return Table(native.shape, names, _single_columns(columns, _pandas_column))


def _column_names(native: Any) -> list[Any]:
    # An Arrow table's `columns` are the columns themselves.
    names = native.column_names if hasattr(native, "column_names") else native.columns
    return names.tolist() if hasattr(names, "tolist") else list(names)


def _names(columns: list[Any]) -> tuple[str, ...] | None:
    """Return the column names, None if none is a string, as scikit-learn does."""
    _check_unique(columns)
    kinds = set(map(type, columns))
    strings = [issubclass(kind, str) for kind in kinds]
    if any(strings) and not all(strings):
        types = sorted({kind.__name__ for kind in kinds})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {types} as feature name / column name types. Convert them all to strings, "
            "for example with X.columns = X.columns.astype(str)."
        )
    return tuple(columns) if any(strings) else None


def _check_unique(columns: list[Any]) -> None:
    if len(set(columns)) == len(columns):
        return
    double = [name for name, count in Counter(columns).items() if count > 1]
    if double:
        raise ValueError(f"Column names occur more than once: {double}. Rename or drop columns.")


def _wraps_matrix(native: Any) -> bool:
    """Tell whether a pandas frame is a row-major NumPy matrix inside."""
    dtypes = set(native.dtypes)
    if 0 in native.shape or len(dtypes) != 1 or not isinstance(dtypes.pop(), np.dtype):
        return False
    first = native.iloc[:, 0].to_numpy()
    return bool(len(first) > 1 and first.strides[0] > first.itemsize)


def _pandas_column(series: Any) -> Any:
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    if _kind_of(series.dtype) == "IntervalDtype":
        series = series.astype("category")
    if series.dtype == "category":
        return Categorical(series.cat.codes.to_numpy(), _shown_categories(series.cat.categories))
    try:
        column = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        return np.asarray(series)
    return np.asarray(series) if isinstance(column.type, pa.BaseExtensionType) else column


def _shown_categories(categories: Any) -> NDArray[Any]:
    """Return categories as an array; intervals, which no other library knows, as their text."""
    if _kind_of(categories.dtype) == "IntervalDtype":
        categories = categories.astype(str)
    return np.asarray(categories.to_numpy())


def _dtype_names(native: Any) -> set[str]:
    return {kind.__name__ for kind in set(map(type, native.dtypes.to_numpy()))}


def _kind_of(dtype: Any) -> str:
    return type(dtype).__name__


def _series_column(series: nw.Series[Any]) -> Any:
    native = series.to_native()
    if isinstance(native, pa.ChunkedArray):
        return native
    if series.dtype != nw.Object:  # whose Arrow form is a list of pointers
        try:
            return pa.chunked_array(series.to_arrow())
        except (pa.ArrowException, TypeError, ValueError):
            pass
    return object_array(series.to_list(), len(series))


def frame_backend(table: Any) -> str | None:
    """Return the name by which narwhals makes frames of this library; None if it is not a frame."""
    if isinstance(table, np.ndarray):
        return None
    if nw.dependencies.is_pandas_dataframe(table):  # narwhals would look at all names
        return "pandas"
    try:
        name = nw.from_native(table).implementation.value
    except (TypeError, ValueError):
        return None
    return name if name in FRAME_BACKENDS else None


# --- the columns of fit --------------------------------------------------------------------------


def check_columns(
    table: Table, names: tuple[str, ...] | None, n_columns: int, expecting: str
) -> None:
    """Raise unless a table has these columns; a table without names needs only their number."""
    if names is not None and table.names is not None and names != table.names:
        raise ValueError(_different_names(names, table.names))
    if table.shape[1] != n_columns:
        raise ValueError(
            f"X has {table.shape[1]} features, but {expecting} is expecting {n_columns} features "
            "as input. Pass the columns of fit."
        )


def _different_names(expected: tuple[str, ...], got: tuple[str, ...]) -> str:
    unexpected = [name for name in got if name not in expected]
    lacking = [name for name in expected if name not in got]
    message = "The feature names should match those that were passed during fit.\n"
    for title, names in (
        ("Feature names unseen at fit time", unexpected),
        ("Feature names seen at fit time, yet now missing", lacking),
    ):
        if names:
            message += f"{title}:\n" + "".join(f"- {name:.60}\n" for name in names[:_MOST_LISTED])
            message += (
                f"- ... and {len(names) - _MOST_LISTED} more\n" if len(names) > _MOST_LISTED else ""
            )
    if not unexpected and not lacking:
        message += "Feature names must be in the same order as they were in fit.\n"
    if lacking:
        return f"{message}Pass the columns of fit, in their order."
    return f"{message}Pass the columns of fit, in their order: X[model.feature_names_in_]."
