"""The results file of the experiments: a journal of a line per cell or for several runs.

Runs of milliseconds come by the thousand: those of one algorithm on one data set then share a line,
folded. It keeps what is asked of every single run, and means of the rest; who reads the file gets
one record per run, whichever way it was written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from softmodes import _journal
from softmodes._journal import Journal, Record, has_shape
from softmodes._paper.recipe import key_of_run

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


_OF_ONE_RUN = {"run", "seed", "cost", "expected_cost", "rounds", "capped", "trace"}
_AT_TIMES = {"same_again", "seeds_apart"}
# What a folded line has instead of a run and its measures: lists by run, and means over the runs.
_OF_EACH_RUN = ("accuracy", "ari", "expected_cost", "rounds")
_FOLDED_SHAPE: dict[str, Any] = {
    **{name: _SHAPE[name] for name in ("key", "experiment", "size", "algorithm")},
    **{name: _SHAPE[name] for name in ("machine", "date", "params", "versions", "data")},
    "runs": list,
    "each": dict.fromkeys(_OF_EACH_RUN, list),
    "metrics": {name: kind for name, kind in _SHAPE["metrics"].items() if name not in _OF_EACH_RUN},
    "seconds": _SHAPE["seconds"],
}


class ResultsFile(Journal):
    """A results file open for appending, by one process at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, _records_of)

    def append(self, *records: Record) -> None:
        """Write one line, whole, of a cell or of several runs; wait until it is on disk."""
        line = folded(records) if len(records) > 1 else records[0]
        self.write(line, [record["key"] for record in records])


def read(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Yield the records of a results file; see `_journal.read`."""
    return _journal.read(path, _records_of)


def read_folder(folder: str | os.PathLike[str], size: str) -> list[Record]:
    """Return the records of a size in a folder, from `<size>.jsonl` and `<size>.jsonl.gz`."""
    return _journal.read_folder(folder, size, _records_of)


def _records_of(line: Any) -> Iterable[Record] | None:
    if has_shape(line, _FOLDED_SHAPE) and _is_even(line):
        return unfolded(line)
    return [line] if has_shape(line, _SHAPE) else None


def folded(records: Sequence[Record]) -> Record:
    """Return the records of several runs, of one algorithm on one data set, as one line."""
    first = records[0]
    line = {name: value for name, value in first.items() if name not in _OF_ONE_RUN | _AT_TIMES}
    again = [record["same_again"] for record in records if "same_again" in record]
    apart = [record["seeds_apart"] for record in records if "seeds_apart" in record]
    return line | {
        "key": first["key"].rpartition("/")[0],
        "runs": [record["run"] for record in records],
        "each": {
            "accuracy": [record["metrics"]["accuracy"] for record in records],
            "ari": [round(record["metrics"]["ari"], 4) for record in records],
            "expected_cost": [_short(record["expected_cost"]) for record in records],
            "rounds": [record["rounds"] for record in records],
            **({"seeds_apart": list(map(int, apart))} if apart else {}),
        },
        "metrics": _means([record["metrics"] for record in records]),
        "seconds": _means([record["seconds"] for record in records]),
        "date": records[-1]["date"],
        **({"same_again": again[0]} if again else {}),
    }


def unfolded(line: Record) -> Iterator[Record]:
    """Yield a record for each run of a folded line; measures that were not kept are its means."""
    common = {name: value for name, value in line.items() if name not in ("runs", "each")}
    again = {"same_again": common.pop("same_again")} if "same_again" in common else {}
    for i, run in enumerate(line["runs"]):
        each = {name: values[i] for name, values in line["each"].items()}
        of_clustering = {name: each.pop(name) for name in ("accuracy", "ari")}
        yield (
            common
            | each
            | (again if i == 0 else {})
            | {
                "key": key_of_run(line["key"], run),
                "run": run,
                "metrics": line["metrics"] | of_clustering,
                "capped": False,
                "trace": None,
            }
        )


def _means(dicts: Sequence[dict[str, float]]) -> dict[str, float]:
    names = [name for name in dicts[0] if name not in _OF_EACH_RUN]
    return {name: round(sum(d[name] for d in dicts) / len(dicts), 6) for name in names}


def _short(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 1)


def _is_even(line: Record) -> bool:
    """Whether a folded line has a value for each run."""
    return all(
        isinstance(values, list) and len(values) == len(line["runs"])
        for values in line["each"].values()
    )
