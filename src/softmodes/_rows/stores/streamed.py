"""Rows that come as a stream, in one pass: coded part by part, put aside, packed by all values."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softmodes._rows.block import layout_of, pack
from softmodes._rows.parts import CodedPart, code_part
from softmodes._rows.scratch import Room, Scratch, Shelf
from softmodes._rows.stores.file import FileStore, RowWriter
from softmodes._rows.texts import TypedTexts, typed_texts, with_values_of
from softmodes._rows.weights import Units
from softmodes._sources import Source
from softmodes._sources.regroup import regrouped
from softmodes._table.codebook import Codebook, Missing, missing_cells
from softmodes._table.read import Table, check_columns, require_rows
from softmodes._table.unseen import Unseen, UnseenCells

_ROWS_AT_ONCE = 1 << 16


class _Recoding(Protocol):
    """What tells the codes of all rows from those of a part."""

    def codes_of(self, part: Codebook) -> list[NDArray[np.int64]]: ...


class StreamedRows:
    """The rows of a source, coded and put aside: read once, and ready to be packed.

    Without a codebook, all values of the rows make one.
    """

    def __init__(
        self,
        source: Source,
        codebook: Codebook | None,
        missing: Missing,
        room: Room,
        n_threads: int,
        expecting: str,
    ) -> None:
        if codebook is not None:
            missing = codebook.missing
            shape = 0, len(source.names)
            check_columns(
                Table(shape, source.names, ()), codebook.names, codebook.n_features, expecting
            )
        self.n_rows = 0
        self.room, self.n_threads = room, n_threads
        self._shelf = Shelf(room)
        self._covered = True
        self._some_missing = False
        values = self._read(source, codebook, "ignore" if missing == "ignore" else "category")
        require_rows(Table((self.n_rows, len(source.names)), source.names, ()))
        self._recoding: _Recoding = codebook or values
        if codebook is None and source.is_text:
            self._recoding = typed_texts(values, source.spelling)
            codebook = self._recoding.codebook
        self.codebook = replace(codebook or values, missing=missing)
        if missing == "error" and (self._some_missing or any(self.codebook.has_missing)):
            self._refuse_missing()

    def _read(self, source: Source, codebook: Codebook | None, missing: Missing) -> Codebook:
        """Code and put aside all rows; return the codebook of all, or the one that is given."""
        values = codebook
        for table in regrouped(source.batches(), _ROWS_AT_ONCE):
            part = code_part(table, missing, self.n_threads)
            if codebook is None:
                values = part.codebook if values is None else values.merge(part.codebook)
            else:
                part = with_values_of(codebook, part, source.spelling) if source.is_text else part
                self._covered = self._covered and codebook.covers(part.codebook)
            self._some_missing = self._some_missing or any(part.codebook.has_missing)
            self.n_rows += part.n_rows
            self._shelf.put(pickle.dumps(part))
        return values or code_part(_no_rows(source.names), missing).codebook

    def store(self, rows: Units) -> tuple[FileStore, Unseen]:
        """Pack the rows, with their weights; the parts are given up."""
        codebook, unseen = self.codebook, UnseenCells(self.codebook)
        ranges = codebook.fit_ranges if self._covered else codebook.unseen_ranges
        layout = layout_of(ranges)
        writer = RowWriter(layout, self.n_rows, self.room)
        for data in self._shelf.take():
            part = _unpickled(data)
            tables = self._recoding.codes_of(part.codebook)
            unseen.count(part.codebook, part.codes, tables)
            writer.add(pack(part.codes.translate(tables, ranges), layout, self.n_threads).packed)
        fit_layout = None if self._covered else layout_of(codebook.fit_ranges)
        store = FileStore(
            writer, codebook.n_values, self.n_threads, rows.counts, rows.repeats, fit_layout
        )
        return store, unseen.found()

    def _refuse_missing(self) -> None:
        """Name the first column with missing cells, how many there are, and where the first is."""
        n_cells = np.zeros(self.codebook.n_features, np.int64)
        first = np.zeros_like(n_cells)
        start = 0
        for part in map(_unpickled, self._shelf.look()):
            for j, is_missing in enumerate(self._missing_codes(part.codebook)):
                rows = np.flatnonzero(is_missing[part.codes.column(j)])
                if len(rows) and not n_cells[j]:
                    first[j] = start + rows[0]
                n_cells[j] += len(rows)
            start += part.n_rows
        for j in np.flatnonzero(n_cells)[:1].tolist():
            raise missing_cells(self.codebook.names, j, int(n_cells[j]), int(first[j]))

    def _missing_codes(self, part: Codebook) -> Iterator[NDArray[np.bool_]]:
        """Yield for each column which codes of a part stand for missing cells."""
        if not isinstance(self._recoding, TypedTexts):
            yield from (np.arange(len(values) + 1) == len(values) for values in part.columns)
            return
        tables = zip(self._recoding.codes_of(part), self.codebook.columns, strict=True)
        yield from (table == len(values) for table, values in tables)


def kept_weights(rows: Units, room: Room) -> Units:
    """Return the weights of all rows where there is room for them: in memory, or in a file."""
    if rows.counts is None or room.take(rows.counts.nbytes):
        return rows
    scratch = Scratch()
    scratch.write(rows.counts)
    return replace(rows, counts=scratch.array(rows.counts.dtype, rows.counts.shape))


def _unpickled(data: bytes) -> CodedPart:
    part: CodedPart = pickle.loads(data)
    return part


def _no_rows(names: Sequence[str]) -> pa.Table:
    return pa.table({name: pa.nulls(0) for name in names})
