"""Work on rows as functions from Arrow batches to Arrow batches: all that some engines can run.

They run where the rows are, in processes that are used again, and keep blocks there.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
from numpy.typing import NDArray

from softmodes._rows.block import Block
from softmodes._rows.kept import flat, keep, kept
from softmodes._rows.parts import CodedPart, Place, code_part
from softmodes._rows.stores.cluster import Packing, Task, code_partition
from softmodes._sources.regroup import regrouped
from softmodes._table.codebook import Missing

Batches: TypeAlias = Iterator[pa.RecordBatch]

PARTITION = "softmodes_partition"  # the name of the column that tells its number

_ROWS_OF_A_PART = 1 << 20  # which take far less than 2 GB, the most that a cell holds
_ROWS_AT_ONCE = 1 << 16

PARTS = pa.schema(
    {"partition": pa.int32(), "number": pa.int32(), "told": pa.binary(), "part": pa.binary()}
)
BLOCKS = pa.schema({"place": pa.int32(), "name": pa.string(), "block": pa.binary()})
ANSWERS = pa.schema({"places": pa.list_(pa.int32()), "answer": pa.binary()})


def code_batches(
    batches: Batches, names: Sequence[str], weight: str | None, missing: Missing
) -> Batches:
    """Code the rows of a partition, whose number is a column, by their own values.

    Returns parts, and what is to be told of each where all come together; or else an error.
    """
    for number, table in enumerate(regrouped(batches, _ROWS_OF_A_PART)):
        here = table[PARTITION][0].as_py()
        try:
            weights = None if weight is None else table[weight].to_numpy()
            part = code_partition(here, table.select(names), weights, missing)
        except (TypeError, ValueError) as error:
            yield _row(PARTS, here, number, pickle.dumps(error), None)
            return
        told = pickle.dumps((part.outline, part.codebook))
        yield _row(PARTS, here, number, told, pickle.dumps(part))


def pack_batches(
    batches: Batches, packing: Packing, places: Mapping[tuple[int, int], Place], store: str
) -> Batches:
    """Pack parts, and keep the blocks; a part that is not the one of its place is left out."""
    for partition, number, _, data in _rows(batches):
        place = places.get((partition.as_py(), number.as_py()))
        part: CodedPart | None = pickle.loads(data.as_buffer()) if data.is_valid else None
        if place and part and part.digest == place.digest:
            block = flat(packing.block_at(part, place))
            name = f"{place.index}-{place.digest}"
            keep(store, name, block)
            yield _row(BLOCKS, place.index, name, block)


def run_on_batches(
    batches: Batches, task: Task[Any], fold: Callable[[Iterable[Any]], Any], store: str
) -> Batches:
    """Run a task on blocks, and fold what it returns; those not found by name are left out."""
    places: list[int] = []

    def blocks() -> Iterator[Block]:
        for place, name, data in _rows(batches):
            block = kept(store, name.as_py())
            if block is None and data.is_valid:
                block = keep(store, name.as_py(), data.as_buffer())
            if block is not None:
                places.append(place.as_py())
                yield block

    answers = [task(block, 1) for block in blocks()]
    if places:
        yield _row(ANSWERS, places, pickle.dumps(fold(answers)))


def with_column(
    batches: Batches,
    names: Sequence[str],
    packing: Packing,
    task: Task[NDArray[Any]],
    column: str,
) -> Batches:
    """Return all rows with what a task returns for each."""
    for table in regrouped(batches, _ROWS_AT_ONCE):
        part = code_part(table.select(names), packing.codebook.missing)
        found = task(packing.block(part), 1)
        yield from table.append_column(column, _as_column(found)).combine_chunks().to_batches()


def _as_column(found: NDArray[Any]) -> pa.Array:
    if found.ndim == 1:
        return pa.array(found)
    each = pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), found.shape[1])
    return each.cast(pa.list_(each.type.value_type))


def _rows(batches: Batches) -> Iterator[tuple[pa.Scalar, ...]]:
    for batch in batches:
        yield from zip(*batch.columns, strict=True)


def _row(schema: pa.Schema, *cells: Any) -> pa.RecordBatch:
    columns = [pa.array([cell], field.type) for cell, field in zip(cells, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
