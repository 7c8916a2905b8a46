"""What is done to every table from a file, by docs/decisions/0018-tables-of-quality.md."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.quality.formats import Cells, Raw

MOST_ROWS, LEAST_OF_CLASS, MOST_NUMBERS, BANDS = 5000, 5, 10, 5


@dataclass(frozen=True, eq=False)
class Prepared:
    """Columns and classes of the rows that are kept, and what was done, to read."""

    X: pd.DataFrame
    y: NDArray[Any]
    done: list[str]


def prepared(
    raw: Raw,
    target: str,
    drop: Iterable[str] = (),
    most_rows: int = MOST_ROWS,
    least: int = LEAST_OF_CLASS,
) -> Prepared:
    """Sample rows, drop what says nothing, and cut numbers into bands."""
    gone = {target, *raw.ignored, *drop}
    unknown = sorted(gone - set(raw.columns))
    if unknown:
        raise ValueError(f"The table has no columns {unknown}. Is it another version?")
    y = raw.columns[target]
    rows, done = kept(y, most_rows, least)
    columns = {n: [c[i] for i in rows] for n, c in raw.columns.items() if n not in gone}
    told = {n: cells for n, cells in columns.items() if len(set(cells) - {None}) > 1}
    numeric = [n for n, cells in told.items() if is_numeric(cells)]
    table = {n: banded(cells) if n in numeric else cells for n, cells in told.items()}
    done += _say(len(columns) - len(told), "constant columns dropped")
    done += _say(len(numeric), "columns in bands")
    X = pd.DataFrame(table, dtype=object)
    return Prepared(X, np.array([y[i] for i in rows], dtype=str), done)


def kept(y: Cells, most_rows: int, least: int) -> tuple[list[int], list[str]]:
    """Return the rows with a class, a sample of them if they are many, without rare classes."""
    rows = np.flatnonzero([label is not None for label in y])
    done = _say(len(y) - len(rows), "rows without a class dropped")
    if len(rows) > most_rows:
        done += [f"{most_rows:,} of {len(rows):,} rows"]
        chosen = np.random.default_rng(0).choice(len(rows), most_rows, replace=False)
        rows = rows[np.sort(chosen)]
    size = Counter(y[i] for i in rows)
    frequent = [int(i) for i in rows if size[y[i]] >= least]
    return frequent, done + _say(len(rows) - len(frequent), "rows of rare classes dropped")


def is_numeric(cells: Cells) -> bool:
    """Return whether all values are numbers, and many."""
    values = {cell for cell in cells if cell is not None}
    return len(values) > MOST_NUMBERS and all(_is_number(value) for value in values)


def banded(cells: Cells) -> Cells:
    """Return the band of each number: 1 to 5, of equal counts as far as equal numbers let them."""
    numbers = np.sort([float(cell) for cell in cells if cell is not None])
    # Edges are numbers of the column, so that nothing is rounded.
    edges = [numbers[-(-len(numbers) * i // BANDS) - 1] for i in range(1, BANDS)]
    return [c if c is None else str(1 + int(np.searchsorted(edges, float(c)))) for c in cells]


def fingerprint(X: pd.DataFrame, y: NDArray[Any]) -> str:
    """Return the sha256 of names, cells and classes."""
    digest = hashlib.sha256("\x1f".join(map(str, X.columns)).encode())
    for *cells, label in zip(*(X[name] for name in X.columns), y, strict=True):
        line = ["\x00" if cell is None else cell for cell in [*cells, str(label)]]
        digest.update(("\x1e" + "\x1f".join(line)).encode())
    return digest.hexdigest()


def _say(number: int, what: str) -> list[str]:
    return [f"{what}: {number}"] if number else []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
