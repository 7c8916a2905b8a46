"""Fits that must be refused, by an error that names what is wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.containers import Table
from fuzz.runner import Wrong, require
from softmodes import SoftModes

LONGEST_TEXT = 3_000

_NAN = float("nan")
# A parameter, values that it must not have.
_PARAMETERS: dict[str, list[Any]] = {
    "n_clusters": [0, -1, 2.5, "3", None, True, 10**9],
    "t": [0.5, _NAN, "x", None, -1, 1e400 * -1],
    "rounding": ["x", 5, lambda counts: counts, lambda counts: ["x"]],
    "init": ["x", [[1]], 7, [["no such value"] * 3] * 2],
    "n_init": [0, 1.5, "x"],
    "max_iter": [0, -3, None],
    "patience": [0, "x"],
    "select": ["first", 1],
    "missing": ["drop", None],
    "feature_weight": [[1.0] * 999, [-1.0], "x", [_NAN], {"no such column": 1.0}],
    "n_jobs": [0, "x", 1.5, 2**31, 2**29],
    "random_state": [-1, 2**64, "x", 1.5],
    "verbose": [-1, "x"],
}
_WEIGHTS: list[Callable[[int], Any]] = [
    lambda n: [1.0] * (n + 1),
    lambda n: [-1.0] * n,
    lambda n: [_NAN] * n,
    lambda n: [0.0] * n,
    lambda n: ["x"] * n,
    lambda n: [[1.0]] * n,
]
# A table that is none, and a word that tells why.
_TABLES: list[tuple[Callable[[Table], Any], str]] = [
    (lambda table: [[1, 2], [1]], "row"),
    (lambda table: [1, 2, 3], "2D"),
    (lambda table: np.zeros(3), "2D"),
    (lambda table: np.zeros((2, 2, 2)), "dim"),
    (lambda table: np.zeros((0, 3)), "sample"),
    (lambda table: np.zeros((3, 0)), "feature"),
    (lambda table: np.zeros((3, 1), complex), "omplex"),
    (lambda table: [[1 + 2j]], "omplex"),
    (lambda table: [[[1]], [[2]]], "olumn"),
    (lambda table: [[{}], [1]], "olumn"),
    (lambda table: [[object()], [1]], "olumn"),
    (lambda table: {"a": [1]}, "2D"),
    (lambda table: "text", "does not exist"),  # a path
    (lambda table: 5, "2D"),
    (lambda table: None, "2D"),
    (lambda table: [np.array(1), np.array(2)], "2D"),
    (lambda table: [], "2D"),
]


def check_refusal(r: random.Random, table: Table) -> None:
    """Ask for something impossible."""
    kind = r.choice(("parameter", "parameter", "weight", "table", "columns", "missing"))
    _ATTEMPTS[kind](r, table)


def _parameter(r: random.Random, table: Table) -> None:
    name = r.choice(list(_PARAMETERS))
    value = r.choice(_PARAMETERS[name])
    if name == "n_jobs" and isinstance(value, int) and value > 0:
        _large_thread_count(value, table)
        return
    if name == "init" and value == [[1]] and len(table.columns) == 1:
        return
    params = {"n_clusters": 1, "n_init": 1, name: value}
    _refused(lambda: SoftModes(**params).fit(table.rows), f"{name}={value!r}", name)


def _large_thread_count(n_jobs: int, table: Table) -> None:
    """More threads than there are cores are refused or make no difference."""
    rows = np.zeros((table.n_rows, len(table.columns)), np.uint8)
    try:
        SoftModes(1, n_init=1, n_jobs=n_jobs).fit(rows)
    except ValueError as error:
        require("n_jobs" in str(error), f"n_jobs={n_jobs} is refused without its name: {error}")


def _weight(r: random.Random, table: Table) -> None:
    weight = r.choice(_WEIGHTS)(table.n_rows)
    model = SoftModes(1, n_init=1)
    _refused(lambda: model.fit(table.rows, sample_weight=weight), "weights", "sample_weight")


def _table(r: random.Random, table: Table) -> None:
    make, word = r.choice(_TABLES)
    rows = make(table)
    _refused(lambda: SoftModes(1, n_init=1).fit(rows), f"a table {rows!r:.60}", word)


def _columns(r: random.Random, table: Table) -> None:
    model = SoftModes(1, n_init=1).fit(table.rows)
    wrong = [[*row, 1] for row in table.rows]
    method = r.choice((model.predict, model.transform, model.score))
    _refused(lambda: method(wrong), "another number of columns", "features")


def _missing(r: random.Random, table: Table) -> None:
    rows = table.rows
    rows[r.randrange(len(rows))][r.randrange(len(rows[0]))] = r.choice((None, _NAN))
    model = SoftModes(1, missing="error", n_init=1)
    _refused(lambda: model.fit(rows), "missing cells", "issing")


_ATTEMPTS: dict[str, Callable[[random.Random, Table], None]] = {
    "parameter": _parameter,
    "weight": _weight,
    "table": _table,
    "columns": _columns,
    "missing": _missing,
}


def _refused(call: Callable[[], Any], what: str, word: str) -> None:
    """Fail unless a call raises ValueError or TypeError with a short text that holds the word."""
    try:
        call()
    except (ValueError, TypeError, FileNotFoundError) as error:
        text = str(error)
        require(word in text, f"{what} is refused without the word {word!r}: {text[:200]}")
        require(len(text) <= LONGEST_TEXT, f"{what} is refused by {len(text)} characters")
        return
    raise Wrong(f"{what} is not refused")
