"""What a source of rows must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

import pyarrow as pa

from softmodes._sources.types import PLAIN, Spelling


class Source(ABC):
    """Rows that come as a stream of Arrow batches, in a fixed order.

    `names` are the columns; `renamed` has the name in the file of those that had to get another,
    since it occurs again there. `told` says to people, in a line each, what is read, and how. Where
    cells are texts as they stand in a file (`is_text`), which type a column has is decided over
    all of its values, never by batch, and `spelling` says how numbers are written in them.
    """

    names: tuple[str, ...]
    told: tuple[str, ...] = ()
    is_text: ClassVar[bool] = False
    spelling: Spelling = PLAIN
    renamed: Mapping[str, str] = MappingProxyType({})

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return all rows, some at a time, with the columns of `names`; often only once.

        An error names the file and, where it can, line and column.
        """
