"""Random columns of Python values, and the containers that a table of them may come in."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

Column = list[Any]


@dataclass(frozen=True)
class Table:
    """Columns of Python values, each with the kind of its values; None is missing."""

    kinds: list[str]
    columns: list[Column]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    @property
    def rows(self) -> list[list[Any]]:
        """The cells by row."""
        return [list(row) for row in zip(*self.columns, strict=True)]

    @property
    def has_missing(self) -> bool:
        """Whether any cell is missing."""
        return any(None in column for column in self.columns)

    @property
    def names(self) -> list[str]:
        """A name for each column."""
        return [f"c{j}" for j in range(len(self.columns))]


# ------------------------------------------------------------------------------------- values

_LETTERS = "ab1 ,\"'\n\tÄß漢😀"
_ZONES = (dt.UTC, dt.timezone(dt.timedelta(hours=5, minutes=30)))


def _number(r: random.Random) -> int:
    return r.choice((r.randrange(-3, 4), r.randrange(-(2**63), 2**63), r.randrange(0, 300)))


def _float(r: random.Random) -> float:
    return r.choice(
        (r.randrange(-6, 7) / 4, float(r.randrange(-3, 4)), -0.0, float("inf"), r.random() * 1e300)
    )


def _text(r: random.Random) -> str:
    if r.random() < 0.1:
        return r.choice(("", "nan", "None", "1", "1.0", "True", "a" * 300, "é", "e\u0301"))
    return "".join(r.choice(_LETTERS) for _ in range(r.randrange(1, 4)))


def _datetime(r: random.Random) -> dt.datetime:
    whole = dt.datetime(2000 + r.randrange(60), 1 + r.randrange(12), 1 + r.randrange(28))
    return whole + dt.timedelta(microseconds=r.choice((0, r.randrange(86_400_000_000))))


_SCALARS: list[Callable[[int], Any]] = [
    np.int64,
    np.uint8,
    lambda v: np.float32(v / 2),
    lambda v: np.bool_(v % 2),
    lambda v: np.str_(v),
    lambda v: np.datetime64(v, "Y"),
    lambda v: np.datetime64(v, "us"),
    lambda v: np.timedelta64(v, "s"),
]


def _scalar(r: random.Random) -> Any:
    """Return a NumPy scalar of any type."""
    return r.choice(_SCALARS)(r.randrange(9))


VALUES: dict[str, Callable[[random.Random], Any]] = {
    "bool": lambda r: r.random() < 0.5,
    "small": lambda r: r.randrange(-3, 10),
    "int": _number,
    "unsigned": lambda r: r.choice((r.randrange(5), r.randrange(2**64))),
    "float": _float,
    "str": _text,
    "bytes": lambda r: bytes(r.randrange(1, 256) for _ in range(r.randrange(1, 4))),
    "date": lambda r: _datetime(r).date(),
    "datetime": _datetime,
    "instant": lambda r: _datetime(r).replace(tzinfo=r.choice(_ZONES)),
    "time": lambda r: _datetime(r).time(),
    "duration": lambda r: dt.timedelta(microseconds=r.randrange(-(10**9), 10**9)),
    "decimal": lambda r: Decimal(r.randrange(-40, 40)) / 8,
    "scalar": _scalar,
    "any": lambda r: VALUES[r.choice((*_PLAIN, "scalar"))](r),
}
_PLAIN = [kind for kind in VALUES if kind not in ("scalar", "any")]
_COMMON = ("str", "small", "bool", "str", "small", "int", "float")


def column(r: random.Random, kind: str, n: int, n_values: int, missing: float) -> Column:
    """Return n cells drawn from a pool of values, the first of them more often."""
    pool = [VALUES[kind](r) for _ in range(n_values)]
    skew = r.choice((1, 1, 2, 4))
    cells = [pool[int(len(pool) * r.random() ** skew)] for _ in range(n)]
    if missing:
        cells = [None if r.random() < missing else cell for cell in cells]
    return cells


_SHARES = (0, 0, 0.1, 0.1, 0.5, 1.0)  # of missing cells in a column


def random_table(r: random.Random) -> Table:
    """Return a table: mostly small, at times long, wide, or of many values."""
    n, d, most = _shape(r)
    one_kind = r.choice((*_PLAIN, *_COMMON)) if r.random() < 0.5 or d > 12 else None
    kinds = [one_kind or r.choice((*_COMMON, *VALUES)) for _ in range(d)]
    missing = r.random() < 0.4 and d < 50
    columns = [
        column(r, kind, n, r.randint(1, most), r.choice(_SHARES) if missing else 0)
        for kind in kinds
    ]
    return Table(kinds, columns)


def _shape(r: random.Random) -> tuple[int, int, int]:
    """Return rows, columns, and the most values of a column."""
    dice = r.random()
    if dice < 0.0002:
        return 5000, 2, 4500
    if dice < 0.004:
        return 700, r.randint(1, 3), 400
    if dice < 0.02:
        return r.randint(30, 90), r.randint(40, 140), 2
    if dice < 0.07:
        return r.randint(90, 200), r.randint(1, 5), 20
    return r.randint(1, 40), r.randint(1, 7), r.choice((2, 3, 5, 9))


# --------------------------------------------------------------------------------- containers

# The NumPy type that holds a kind exactly, and one for cells of it that may be missing.
_NUMPY = {
    "bool": "?",
    "small": "i1",
    "int": "i8",
    "unsigned": "u8",
    "float": "f8",
    "str": "U",
    "bytes": "S",
    "date": "M8[D]",
    "datetime": "M8[us]",
    "duration": "m8[us]",
}
_MAY_MISS = {"float", "date", "datetime", "duration"}
_ARROW: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "small": pa.int8(),
    "int": pa.int64(),
    "unsigned": pa.uint64(),
    "float": pa.float64(),
    "str": pa.string(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "instant": pa.timestamp("us", tz="UTC"),
    "time": pa.time64("us"),
    "duration": pa.duration("us"),
    "decimal": pa.decimal128(12, 3),
}


def _objects(table: Table, r: random.Random) -> Any:
    cells = np.empty((table.n_rows, len(table.columns)), object)
    for j, values in enumerate(table.columns):
        cells[:, j] = np.fromiter(values, object, table.n_rows)
    return np.asfortranarray(cells) if r.random() < 0.3 else cells


def _numpy(table: Table, r: random.Random) -> Any:
    """Return one NumPy array, of the narrowest type at times, in either order of memory."""
    kind = table.kinds[0]
    cells = np.array(table.rows, dtype=_NUMPY[kind])
    if kind == "small":
        cells = cells.astype(r.choice(("i1", "i2", "i4", "i8", "f4", "f8")))
    if r.random() < 0.1:
        cells = np.repeat(cells, 2, axis=0)[::2]
    return np.asfortranarray(cells) if r.random() < 0.3 else cells


def _arrow_columns(table: Table, r: random.Random) -> list[Any]:
    columns = []
    for kind, values in zip(table.kinds, table.columns, strict=True):
        array = pa.array(values, _ARROW[kind])
        if kind in ("str", "int", "small") and r.random() < 0.3:
            array = array.dictionary_encode()
        if r.random() < 0.3:
            cut = r.randrange(len(array) + 1)
            array = pa.chunked_array([array[:cut], array[cut:]])
        columns.append(array)
    return columns


def _arrow(table: Table, r: random.Random) -> Any:
    return pa.table(dict(zip(table.names, _arrow_columns(table, r), strict=True)))


def _polars(table: Table, r: random.Random) -> Any:
    import polars as pl

    return pl.from_arrow(_arrow(table, r))


def _pandas(table: Table, r: random.Random) -> Any:
    import pandas as pd

    def series(kind: str, values: Column) -> Any:
        if kind in _NUMPY and kind not in ("str", "bytes", "date") and None not in values:
            return pd.Series(np.array(values, _NUMPY[kind]))
        whole = pd.Series(np.fromiter(values, object, len(values)), dtype=object)
        if kind in ("str", "small") and r.random() < 0.3:
            return whole.astype("category")
        return whole

    columns = [series(*pair) for pair in zip(table.kinds, table.columns, strict=True)]
    return pd.DataFrame(dict(zip(table.names, columns, strict=True)))


def _sparse(table: Table, r: random.Random) -> Any:
    make = r.choice((sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix))
    return make(_numpy(table, r))


def containers(table: Table) -> dict[str, Callable[[Table, random.Random], Any]]:
    """Return the containers that can hold a table without changing its values."""
    kinds = set(table.kinds)
    found: dict[str, Callable[[Table, random.Random], Any]] = {
        "list": lambda table, r: table.rows,
        "tuples": lambda table, r: tuple(tuple(row) for row in table.rows),
        "objects": _objects,
    }
    if len(kinds) == 1 and kinds <= _NUMPY.keys():
        (kind,) = kinds
        if not table.has_missing or kind in _MAY_MISS:
            found["NumPy"] = _numpy
            if kind in ("bool", "small", "int", "float") and not table.has_missing:
                found["sparse"] = _sparse
    if kinds <= _ARROW.keys():
        found["Arrow"] = _arrow
        found["polars"] = _polars
    found["pandas"] = _pandas
    return found


# pandas and polars take longest, and are drawn less often.
WEIGHTS = {"pandas": 2, "polars": 3}


def random_container(r: random.Random, table: Table) -> tuple[str, Any]:
    """Return a table in one of the containers that can hold it, and the container's name."""
    possible = containers(table)
    weights = [WEIGHTS.get(name, 8) for name in possible]
    name = r.choices(list(possible), weights)[0]
    return name, possible[name](table, r)
