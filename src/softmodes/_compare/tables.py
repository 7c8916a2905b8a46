"""Tables with known classes, and the forms in which methods take them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import baselines
from softmodes.metrics._labels import label_codes

Role: TypeAlias = Literal["tune", "report", "planted"]
_REPEATS = 3


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A table, anything that `fit` takes, with the class of every row and where both come from."""

    name: str
    X: Any
    y: Any
    role: Role = "report"
    source: str = ""
    licence: str = ""

    @property
    def n_classes(self) -> int:
        """The number of different classes."""
        return int(label_codes("y", self.y).max()) + 1


class Form(NamedTuple):
    """A table as some methods take it, and the seconds that it took to make."""

    rows: Any
    seconds: float


class ReadyTable:
    """A labelled table with its forms, each made once, and the number of clusters to look for."""

    def __init__(self, table: LabelledTable, n_clusters: int | None = None) -> None:
        self.table = table
        self.classes = label_codes("y", table.y)
        n_rows = len(self.form("integers").rows)
        if len(self.classes) != n_rows:
            raise ValueError(
                f"The table {table.name!r} has {n_rows} rows, but {len(self.classes)} classes were "
                "given. Give the class of every row."
            )
        self.n_classes = int(self.classes.max()) + 1
        check_classes(table.name, self.n_classes, n_rows)
        self.n_clusters = self.n_classes if n_clusters is None else n_clusters

    def form(self, kind: str) -> Form:
        """Return the table in a form: "table", "integers", "codes" or "one-hot"."""
        if kind not in self._forms:
            self._forms[kind] = _timed(kind, self.table.X)
        return self._forms[kind]

    @cached_property
    def _forms(self) -> dict[str, Form]:
        return {}

    @cached_property
    def fingerprint(self) -> str:
        """A few letters that tell this table from others of its name."""
        codes = self.form("integers").rows
        digest = hashlib.blake2b(repr((codes.shape, codes.dtype.str)).encode(), digest_size=5)
        digest.update(np.ascontiguousarray(codes).tobytes())
        digest.update(self.classes.astype(np.int64).tobytes())
        return digest.hexdigest()

    def describe(self) -> dict[str, Any]:
        """Return what results say of it."""
        codes = self.form("integers").rows
        return {
            "name": self.table.name,
            "role": self.table.role,
            "source": self.table.source,
            "licence": self.table.licence,
            "fingerprint": self.fingerprint,
            "rows": len(codes),
            "columns": codes.shape[1],
            "values": sum(len(np.unique(column)) for column in codes.T),
            "classes": self.n_classes,
            "k": self.n_clusters,
            "largest_class": float(np.bincount(self.classes).max() / len(codes)),
        }


def some_rows(rows: Any, index: NDArray[np.intp]) -> Any:
    """Return some rows of a table in any form."""
    if hasattr(rows, "iloc"):
        return rows.iloc[index]
    if hasattr(rows, "take") and not isinstance(rows, np.ndarray):
        return rows.take(index)
    return (rows if hasattr(rows, "shape") else np.array(rows, dtype=object))[index]


def _integers(X: Any) -> NDArray[Any]:
    codes = baselines.integer_codes(X)
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


def _as_it_came(X: Any) -> Any:
    return X


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "table": _as_it_came,
    "integers": _integers,
    "codes": baselines.integer_codes,
    "one-hot": baselines.one_hot_codes,
}


def _timed(kind: str, X: Any) -> Form:
    make = _MAKERS[kind]
    make([["a"], ["b"]])  # imports what it needs
    seconds = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        rows = make(X)
        seconds.append(time.perf_counter() - start)
        if seconds[0] > 1:
            break
    return Form(rows, min(seconds))


def check_classes(name: str, n_classes: int, n_rows: int) -> None:
    """Refuse classes by which partitions cannot be told apart: one, or nearly one for each row."""
    if n_rows == 1:
        raise ValueError(f"The table {name!r} has 1 row. Pass one with a line for each case.")
    if n_classes == 1:
        raise ValueError(
            f"The classes of {name!r} are all the same: partitions cannot be told apart by them. "
            "Name a column of at least 2 classes."
        )
    if 2 * n_classes > n_rows:
        raise ValueError(
            f"The {n_rows:,} rows of {name!r} have {n_classes:,} classes, fewer than 2 rows each. "
            "Name a column in which rows share a class; is it an identifier?"
        )
