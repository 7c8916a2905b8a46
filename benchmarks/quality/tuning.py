"""Tables of a folder, to tune on.

`*.npz`: codes `X`, the number of values of each column `s`, classes `y`. `*.csv` and `*.csv.gz`:
the class is the column named "class", in whatever case, else the last; a column of texts of which
over nine in ten differ is an identifier and dropped. Then as for any table from a file
(prepare.py), but with all classes and up to 10,000 rows. A table is named by its file, up to the
first dot.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.formats import Cells, delimited
from benchmarks.quality.prepare import is_numeric, prepared
from softmodes._compare.tables import LabelledTable

MOST_ROWS = 10_000


def files(folder: Path) -> list[Path]:
    """Return the tables of a folder and those inside, by name."""
    found = [p for ending in ("*.npz", "*.csv", "*.csv.gz") for p in Path(folder).rglob(ending)]
    return sorted(found, key=lambda path: path.name)


def load(path: Path) -> LabelledTable:
    """Read a table to tune on."""
    X, y = _codes(path) if path.suffix == ".npz" else _cells(path)
    name = path.name.split(".")[0]
    return LabelledTable(name, X, y, "tune", path.name, "not recorded: read, not shipped")


def _codes(path: Path) -> tuple[Any, Any]:
    with np.load(path) as file:
        return file["X"], file["y"]


def _cells(path: Path) -> tuple[Any, Any]:
    content = path.read_bytes()
    raw = delimited((gzip.decompress(content) if path.suffix == ".gz" else content).decode())
    names = list(raw.columns)
    target = next((name for name in names if name.lower() == "class"), names[-1])
    drop = [n for n, cells in raw.columns.items() if n != target and _identifies(cells)]
    table = prepared(raw, target, drop, most_rows=MOST_ROWS, least=1)
    return table.X, table.y


def _identifies(cells: Cells) -> bool:
    return len(set(cells)) > 0.9 * len(cells) and not is_numeric(cells)
