"""A table in, columns of it by name, and a table of the same kind out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from softmodes._prepare.columns import Column, NaWords, columns_of
from softmodes._prepare.steps import Labels
from softmodes._sources import is_in_memory
from softmodes._table.frames import frame_of
from softmodes._table.one_kind import OneKind
from softmodes._table.read import (
    ByteMatrix,
    Table,
    frame_backend,
    read,
    require_rows,
)
from softmodes._table.values import object_array


@dataclass(frozen=True, eq=False)
class Output:
    """A column of the outcome: one of the table, or labels; with the rows where it is missing."""

    name: str
    source: Any  # the column's name in a frame, its number in a matrix
    column: Column | None = None
    labels: Labels | None = None
    na: NaWords = field(default_factory=NaWords)

    @property
    def is_missing(self) -> NDArray[np.bool_] | None:
        """Rows that hold a word for missing, None if there are none."""
        if self.column is None or not self.na.among(self.column.values).any():
            return None
        column = self.column.without(self.na)
        return np.asarray(column.codes == len(column.values))

    def places(self) -> NDArray[np.int64]:
        """Return the place of each row's label, -1 where it is missing."""
        assert self.labels is not None
        assert self.column is not None
        by_code = np.append(self.labels.places, -1)
        return by_code[self.column.codes.astype(np.intp, copy=False)]


class FrameTable:
    """A data frame whose columns have names."""

    def __init__(self, frame: nw.DataFrame[Any], names: Sequence[str]) -> None:
        self._frame = frame
        self.names = tuple(names)

    def columns(self, some: Sequence[int], n_threads: int) -> list[Column]:
        """Return some columns as values and codes."""
        names = [self.names[j] for j in some]
        if not names:
            return []
        part = read(self._frame.select(names).to_native())
        return columns_of(part, names, n_threads, NaWords())

    def put_together(self, outputs: Sequence[Output]) -> Any:
        """Return a frame of these columns."""
        frame = self._frame
        made = self._made([output for output in outputs if output.labels is not None])
        changed = [
            nw.when(~_bools(frame, output.is_missing))
            .then(nw.col(self.names[output.source]))
            .alias(output.name)
            for output in outputs
            if output.labels is None and output.is_missing is not None
        ]
        frame = frame.with_columns(*changed, *made)
        return frame.select([output.name for output in outputs]).to_native()

    def joined(self, columns: dict[str, Any]) -> Any:
        """Return the frame with further columns, a value for each row."""
        backend = self._frame.implementation
        made = (_series(name, values, backend) for name, values in columns.items())
        return self._frame.with_columns(*(self._aligned(series) for series in made)).to_native()

    def _aligned(self, series: nw.Series[Any]) -> nw.Series[Any]:
        """Return a series with the index of the frame, where there are such."""
        if self._frame.implementation.is_pandas_like():
            return nw.maybe_set_index(series, index=nw.maybe_get_index(self._frame))
        return series

    def _made(self, outputs: Sequence[Output]) -> list[nw.Series[Any]]:
        if not outputs:
            return []
        table = pa.table({output.name: _arrow(output) for output in outputs})
        made = nw.from_arrow(table, backend=self._frame.implementation)
        if not self._frame.implementation.is_pyarrow():  # which has no other type for categories
            made = made.with_columns(
                nw.col(output.name).cast(nw.Enum(output.labels.labels))
                for output in outputs
                if output.labels is not None and output.labels.ordered
            )
        return list(made.iter_columns())


def _series(name: str, values: Any, backend: Any) -> nw.Series[Any]:
    return nw.new_series(name, list(values) if values.dtype.hasobject else values, backend=backend)


class MatrixTable:
    """A table without names: a NumPy array, or rows in a list."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._matrix = _matrix(table)
        self.names = tuple(f"x{j}" for j in range(table.shape[1]))

    def columns(self, some: Sequence[int], n_threads: int) -> list[Column]:
        """Return some columns as values and codes."""
        if not some:
            return []
        part = read(self._matrix[:, list(some)])
        return columns_of(part, [self.names[j] for j in some], n_threads, NaWords())

    def joined(self, columns: dict[str, Any]) -> Any:
        """Return the table as a frame with further columns, a value for each row."""
        cells = dict(zip(self.names, self._matrix.T, strict=True))
        return frame_of(cells | columns, None)

    def put_together(self, outputs: Sequence[Output]) -> NDArray[Any]:
        """Return an array of these columns: of objects, if they are not as they were."""
        if all(output.labels is None and output.is_missing is None for output in outputs):
            return self._matrix[:, [output.source for output in outputs]]
        made = np.empty((len(self._matrix), len(outputs)), dtype=object)
        for j, output in enumerate(outputs):
            if output.labels is not None:
                labels = np.array([*output.labels.labels, None], dtype=object)
                made[:, j] = labels[output.places()]
            else:
                made[:, j] = self._matrix[:, output.source]
                if output.is_missing is not None:
                    made[output.is_missing, j] = None
        return made


def open_table(X: Any) -> FrameTable | MatrixTable:
    """Open a table that has rows."""
    if sp.issparse(X):
        raise TypeError(
            "Sparse data was passed, and a preparation takes none: its cells are numbers that need "
            "none. Pass it to the clustering as it is, or a dense table by X.toarray()."
        )
    require_in_memory(X)
    table = require_rows(read(X))  # which refuses what is no table, in its own words
    if table.names is None and frame_backend(X) is None:
        return MatrixTable(table)
    native = X if frame_backend(X) is not None or not _is_arrow(X) else pa.table(X)
    frame = nw.from_native(native)
    if table.names is not None:
        return FrameTable(frame, table.names)
    names = [f"x{j}" for j in range(table.shape[1])]  # such as 0, 1, ... in pandas
    return FrameTable(nw.from_native(frame.to_native().set_axis(names, axis=1)), names)


def require_in_memory(X: Any) -> None:
    """Refuse rows that would first have to be brought here, which may not have the room."""
    if not is_in_memory(X):
        raise TypeError(
            f"X is a {type(X).__name__}: a path, stream, lazy frame or frame on a cluster, which "
            "advice and preparations do not read into memory unasked. Pass its rows, or a sample "
            "of them, as a frame: X.head(100_000).collect() of polars, X.head(100_000) of Dask, "
            "pyarrow.parquet.read_table(path). The clustering takes X as it is."
        )


def _is_arrow(X: Any) -> bool:
    return isinstance(X, pa.RecordBatch) or hasattr(X, "__arrow_c_stream__")


def _matrix(table: Table) -> NDArray[Any]:
    cells = table.cells
    if isinstance(cells, ByteMatrix):
        return np.asarray(cells.values[cells.matrix])
    if isinstance(cells, OneKind):
        return np.asarray(cells.cells().reshape(table.shape[::-1]).T)
    assert not isinstance(cells, sp.csr_array)
    columns = [column for group in cells for column in group.columns()]
    if len({column.dtype for column in columns}) == 1:
        return np.column_stack(columns)
    return np.column_stack([object_array(column.tolist(), len(column)) for column in columns])


def _arrow(output: Output) -> Any:
    places = output.places()
    assert output.labels is not None
    labels = pa.array(output.labels.labels, pa.string())
    indices = pa.array(places, pa.int32(), mask=places < 0)
    ordered = output.labels.ordered
    coded = pa.DictionaryArray.from_arrays(indices, labels, ordered=ordered)
    return coded if ordered else coded.cast(pa.string())


def _bools(frame: nw.DataFrame[Any], bits: NDArray[np.bool_] | None) -> nw.Series[Any]:
    series = nw.new_series("bits", bits, nw.Boolean, backend=frame.implementation)
    if frame.implementation.is_pandas_like():
        return nw.maybe_set_index(series, index=nw.maybe_get_index(frame))
    return series
