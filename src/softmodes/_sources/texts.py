"""Sources whose cells are texts: missing ones are found and counted, the others told apart."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from softmodes._sources.dialect import Columns
from softmodes._sources.reading import Reading
from softmodes._sources.source import Source
from softmodes._sources.types import is_missing
from softmodes._text import harmless

_SHOWN_WORDS = 4
_SHOWN_LENGTH = 30


class TextSource(Source):
    """A source of texts, each batch with dictionaries of its own distinct values.

    `told` has the number of rows and of missing cells once all rows were read.
    """

    is_text: ClassVar[bool] = True

    def __init__(self, columns: Columns, reading: Reading) -> None:
        self.names, self.renamed = columns.names, columns.renamed
        self.spelling = reading.spelling
        self.made_up = columns.told
        self._n_rows: int | None = None
        self._n_missing: Counter[str] = Counter()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows; texts that mean missing are null."""
        n_rows, self._n_missing = 0, Counter()
        for columns in self.columns_of_text():
            batch = pa.record_batch([self._coded(column) for column in columns], list(self.names))
            n_rows += batch.num_rows
            yield batch
        self._n_rows = n_rows

    @abstractmethod
    def columns_of_text(self) -> Iterator[list[pa.Array]]:
        """Return the rows, some at a time, as columns of dictionaries of strings."""

    @property
    @abstractmethod
    def how(self) -> str:
        """How the file is read, in a few words."""

    @property
    def told(self) -> tuple[str, ...]:  # type: ignore[override]
        """What is read, and how."""
        return tuple(harmless(line) for line in (self._headline(), *self.made_up))

    def _headline(self) -> str:
        rows = "" if self._n_rows is None else f"{counted(self._n_rows, 'row')}, "
        return f"{rows}{counted(len(self.names), 'column')}. {self.how}.{self._told_missing()}"

    def _told_missing(self) -> str:
        words = sorted(word for word, n_cells in self._n_missing.items() if word and n_cells)
        shown = [f'"{word[:_SHOWN_LENGTH]}"' for word in words[:_SHOWN_WORDS]]
        if len(words) > _SHOWN_WORDS:
            shown.append(f"{len(words) - _SHOWN_WORDS} other words")
        if self._n_missing[""]:
            shown.append("empty cells" if shown else "Empty cells")
        if not shown:
            return ""
        listed = " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)
        return f" {listed} read as missing ({counted(self._n_missing.total(), 'cell')})."

    def _coded(self, column: pa.Array) -> pa.Array:
        """Return a column without missing texts in its dictionary."""
        indices, distinct = column.indices, column.dictionary
        self._n_missing[""] += column.null_count
        missing = is_missing(distinct, self.spelling)
        if not missing.true_count:
            return column
        n_cells = np.bincount(indices.drop_null().to_numpy(), minlength=len(distinct))
        words = pc.utf8_trim_whitespace(distinct).to_pylist()
        for place in np.flatnonzero(missing.to_numpy(zero_copy_only=False)).tolist():
            self._n_missing[words[place]] += int(n_cells[place])
        is_text = pc.invert(missing)
        places = pc.subtract(pc.cumulative_sum(is_text.cast(pa.int32())), 1)
        new_indices = pc.take(pc.if_else(is_text, places, None), indices)
        return pa.DictionaryArray.from_arrays(
            new_indices.cast(pa.int32()), distinct.filter(is_text)
        )


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or plural.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
