"""A table of the user's, with its classes, among those of the paper."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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


def own_table(file: str, table: pa.Table, class_column: str) -> OwnTable:
    """Part a table into rows and classes; refuse classes by which nothing can be judged."""
    names = table.column_names
    if class_column not in names:
        raise ValueError(
            f"class={class_column!r} is not a column of {file}. "
            f"Pass one of {', '.join(map(repr, names))}."
        )
    classes = table.column(class_column).to_pylist()
    _check_classes(class_column, classes)
    rest = [name for name in names if name != class_column]
    if not rest:
        raise ValueError(
            f"{file} has no column beside class={class_column!r}. Pass a table with features."
        )
    values = np.empty((len(classes), len(rest)), dtype=object)
    for j, name in enumerate(rest):
        values[:, j] = table.column(name).to_pylist()
    shown = re.sub(r"[^\w.,+=() -]", "_", file)
    return OwnTable(shown, values, np.array(list(map(str, classes)), dtype=object))


def _check_classes(column: str, classes: list[Any]) -> None:
    empty = [i for i, value in enumerate(classes) if value is None]
    if empty:
        raise ValueError(
            f"class={column!r} has {len(empty)} empty cells, the first in row {empty[0] + 1}. "
            "Fill them, or leave these rows out."
        )
    n_classes, n_rows = len(set(classes)), len(classes)
    if n_classes < 2:
        raise ValueError(
            f"class={column!r} has {n_classes} values in {n_rows} rows. Pass a column with at "
            "least 2."
        )
    if n_classes > n_rows // 2:
        raise ValueError(
            f"class={column!r} has {n_classes} values in {n_rows} rows; at most {n_rows // 2} can "
            "be judged. Is it an identifier? Pass another column."
        )
