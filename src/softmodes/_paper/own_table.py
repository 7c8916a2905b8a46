"""A table of the user's, with its classes, among those of the paper."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softmodes._compare.tables import check_classes
from softmodes._paper.recipe import Data

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class OwnTable:
    """Rows of values, the class of each, and the name to print."""

    name: str
    values: NDArray[Any]
    classes: NDArray[Any]

    @property
    def kind(self) -> str:
        """The name, and a digest of all cells: results of a table that was changed do not mix."""
        digest = hashlib.blake2b(digest_size=4)
        for column in (*self.values.T, self.classes):
            digest.update(repr(column.tolist()).encode())
        return f"{self.name} #{digest.hexdigest()}"

    @property
    def data(self) -> Data:
        """The recipe; as many clusters as there are classes."""
        return Data(self.kind, len(set(self.classes.tolist())))


# By kind: the tables that this process was told of.
OWN_TABLES: dict[str, OwnTable] = {}


def add_table(table: OwnTable) -> None:
    """Let this process know a table."""
    OWN_TABLES[table.kind] = table


def own_table(file: str, features: pa.Table, classes: pa.ChunkedArray) -> OwnTable:
    """Return the columns of a file and the classes of its rows as a table to run on."""
    known = list(map(str, classes.to_pylist()))
    check_classes(file, len(set(known)), len(known))
    values = np.empty((len(known), features.num_columns), dtype=object)
    for j, column in enumerate(features.columns):
        values[:, j] = column.to_pylist()
    shown = re.sub(r"[^\w.,+=() -]", "_", file)
    return OwnTable(shown, values, np.array(known, dtype=object))
