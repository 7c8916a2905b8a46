"""Columns that were coded as texts: the values that the texts stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softmodes._rows.parts import CodedPart
from softmodes._sources.types import Spelling, typed, typed_as
from softmodes._table.codebook import Codebook
from softmodes._table.column import code_column
from softmodes._table.values import ColumnValues


@dataclass(frozen=True, eq=False)
class TypedTexts:
    """The texts of all parts, their values, and the code of each text's value."""

    texts: Codebook
    codebook: Codebook
    tables: Sequence[NDArray[np.int64]]

    def codes_of(self, part: Codebook) -> list[NDArray[np.int64]]:
        """Return, for each column, the code of each code by a part's codebook of texts."""
        as_texts = self.texts.codes_of(part)
        return [table[codes] for table, codes in zip(self.tables, as_texts, strict=True)]


def typed_texts(texts: Codebook, spelling: Spelling) -> TypedTexts:
    """Decide which type each column has, over all of its texts."""
    pairs = [_coded(typed(_array(column), spelling), column) for column in texts.columns]
    columns, tables = zip(*pairs, strict=True)
    return TypedTexts(texts, replace(texts, columns=columns), tables)


def with_values_of(codebook: Codebook, part: CodedPart, spelling: Spelling) -> CodedPart:
    """Return a part that was coded as texts by the values that they are to a codebook."""
    known = zip(codebook.columns, part.codebook.columns, strict=True)
    pairs = [_coded(typed_as(_array(texts), values, spelling), texts) for values, texts in known]
    columns, tables = zip(*pairs, strict=True)
    own = replace(part.codebook, columns=columns)
    return CodedPart(own, part.codes.translate(tables, own.fit_ranges), part.weight)


def _array(texts: ColumnValues) -> pa.Array:
    return pa.array(texts.array.tolist(), pa.string())


def _coded(values: Any, texts: ColumnValues) -> tuple[ColumnValues, NDArray[np.int64]]:
    """Return the values of some texts, and the code of each text; the last one is missing."""
    found = code_column(values)
    has_missing = found.values.has_missing or texts.has_missing
    table = np.append(found.codes.astype(np.int64), len(found.values))
    return replace(found.values, has_missing=has_missing), table
