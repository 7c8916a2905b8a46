"""The results file: JSON lines, only ever appended to, one whole line per cell or several runs.

Runs of milliseconds come by the thousand: those of one algorithm on one data set then share a line,
folded. It keeps what is asked of every single run, and means of the rest; who reads the file gets
one record per run, whichever way it was written.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from softmodes._paper.recipe import key_of_run

Record: TypeAlias = dict[str, Any]

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


class ResultsFile:
    """A results file open for appending, by one process at a time.

    Each line is written by one call and forced to disk before the next cell starts. What a killed
    run may leave behind, an incomplete last line, is cut off when the file is opened again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.jsonl"
    >>> with ResultsFile(path) as results:
    ...     results.append({"key": "a"})
    ...     results.done
    {'a'}
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(self._file, self.path)
            whole = _whole_length(self.path.read_bytes())
            if whole < os.fstat(self._file).st_size:
                os.ftruncate(self._file, whole)
            _sync_folder(self.path.parent)
            self.done = {record["key"] for record in read(self.path)}
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def append(self, *records: Record) -> None:
        """Write one line, whole, of a cell or of several runs; wait until it is on disk."""
        record = folded(records) if len(records) > 1 else records[0]
        line = (json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n").encode()
        written = os.write(self._file, line)
        if written != len(line):
            raise OSError(
                f"{self.path}: only {written} of {len(line)} bytes were written. Is the disk full? "
                "Make room and run again: the incomplete line is dropped then."
            )
        os.fsync(self._file)
        self.done.update(record["key"] for record in records)


def read(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Yield the records of a results file, plain or ending in .gz, without an incomplete last line.

    A file that does not exist has no records.
    """
    path = Path(path)
    if not path.exists():
        return
    content = _unpacked(path) if path.suffix == ".gz" else path.read_bytes()
    for number, line in enumerate(content[: _whole_length(content)].splitlines(), start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if _has_shape(record, _FOLDED_SHAPE) and _is_even(record):
            yield from unfolded(record)
        elif _has_shape(record, _SHAPE):
            yield record
        else:
            raise ValueError(
                f"{path}, line {number} is not a record of a cell: {line[:60]!r}. Every line is "
                "written whole, so something else has changed the file. Delete that line; its "
                "cell is then run again."
            )


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


def read_folder(folder: str | os.PathLike[str], size: str) -> list[Record]:
    """Return the records of a size in a folder, from `<size>.jsonl` and `<size>.jsonl.gz`."""
    paths = [Path(folder) / f"{size}.jsonl{ending}" for ending in ("", ".gz")]
    records = {record["key"]: record for path in reversed(paths) for record in read(path)}
    return list(records.values())


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} is damaged: {error}. Put a whole copy in its place, or delete it; its cells "
            "are then run again."
        ) from error


def _has_shape(value: Any, shape: Any) -> bool:
    """Whether a value is of a type, or a dict that has certain entries of certain shapes."""
    if not isinstance(shape, dict):
        return isinstance(value, shape)
    return isinstance(value, dict) and all(
        name in value and _has_shape(value[name], part) for name, part in shape.items()
    )


def _whole_length(content: bytes) -> int:
    """Return the length of the content up to the last line that is complete.

    After a power cut a file may end in a line of zeros, which is no line of ours either.
    """
    end = content.rfind(b"\n") + 1
    last = content[content.rfind(b"\n", 0, max(0, end - 1)) + 1 : end]
    return end - len(last) if b"\0" in last else end


def _lock(file: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"{path} is being written by another run. Wait for it, or pass another --out."
        ) from None


def _sync_folder(folder: Path) -> None:
    """Force a new file's name to disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        os.fsync(handle)
        os.close(handle)
