"""The results file of the experiments: a journal, and what its records hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from softmodes import _journal
from softmodes._journal import Journal, Record

# What every record holds that the report is made of.
_SHAPE: dict[str, Any] = {
    **dict.fromkeys(("key", "experiment", "size", "algorithm", "machine", "date"), str),
    **dict.fromkeys(("params", "versions"), dict),
    "data": {"kind": str, "k": int},
    "run": int,
    "capped": bool,
    "rounds": (int, type(None)),
    "expected_cost": (int, float, type(None)),
    "trace": (list, type(None)),
    "metrics": dict.fromkeys(
        ("accuracy", "f1", "nmi", "largest_share", "clusters_in_use", "all_in_one_accuracy"),
        (int, float),
    ),
    "seconds": {"wall": (int, float), "total": (int, float)},
}


class ResultsFile(Journal):
    """A results file open for appending, by one process at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, _SHAPE)


def read(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Yield the records of a results file; see `_journal.read`."""
    return _journal.read(path, _SHAPE)


def read_folder(folder: str | os.PathLike[str], size: str) -> list[Record]:
    """Return the records of a size in a folder, from `<size>.jsonl` and `<size>.jsonl.gz`."""
    return _journal.read_folder(folder, size, _SHAPE)
