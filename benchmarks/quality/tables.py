"""The tables: those that are reported, those to tune on, and planted ones, each by its name."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from softmodes import datasets
from softmodes._compare.tables import LabelledTable

Tables = dict[str, Callable[[], LabelledTable]]

MOST_ROWS = 10_000
UCI = "UCI Machine Learning Repository, as bundled in softmodes.datasets"
BUNDLED = {
    "zoo": datasets.load_zoo,
    "mushroom": datasets.load_mushroom,
    "nursery": datasets.load_nursery,
    "tic-tac-toe": datasets.load_tic_tac_toe,
    "connect-4": datasets.load_connect4,
}


def report_tables() -> Tables:
    return {name: partial(_bundled, name) for name in BUNDLED}


def planted_tables() -> Tables:
    return {
        f"codewords eps {eps}, k {k}": partial(_codewords, eps, k)
        for eps in (0.2, 0.3)
        for k in (3, 10)
    }


def tuning_tables(folder: Path) -> Tables:
    """Return the tables of a folder: its .csv and .csv.gz files, and tune/*.npz in it."""
    csv_files = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.csv*"))}
    arrays = {path.stem: path for path in sorted((folder / "tune").glob("*.npz"))}
    return {name: partial(_csv_file, name, path) for name, path in csv_files.items()} | {
        name: partial(_array_file, name, path) for name, path in arrays.items()
    }


def _bundled(name: str) -> LabelledTable:
    X, y = BUNDLED[name](return_X_y=True, as_frame=False)
    return LabelledTable(name, X, y, "report", UCI, "CC BY 4.0")


def _codewords(eps: float, k: int) -> LabelledTable:
    X, y = datasets.make_ccm(2_000, 100, k, eps, random_state=0)
    return LabelledTable(f"codewords eps {eps}, k {k}", X, y, "planted", "make_ccm", "by rule")


def _csv_file(name: str, path: Path) -> LabelledTable:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="") as lines:
        header, *rows = csv.reader(lines)
    cells = np.array(rows, dtype=object)
    if len(cells) > MOST_ROWS:
        cells = cells[np.random.default_rng(0).permutation(len(cells))[:MOST_ROWS]]
    target = header.index("class") if "class" in header else len(header) - 1
    features = [j for j in range(len(header)) if j != target and not _is_identifier(cells[:, j])]
    return LabelledTable(name, cells[:, features], cells[:, target], "tune")


def _is_identifier(column: np.ndarray) -> bool:
    return len(set(column)) > 0.9 * len(column)


def _array_file(name: str, path: Path) -> LabelledTable:
    with np.load(path, allow_pickle=False) as stored:
        return LabelledTable(name, stored["X"], stored["y"], "tune")
