"""A round on a cluster engine beside one in memory, and what an engine takes for no work at all.

    python -m benchmarks.engines --engines dask,spark
    python -m benchmarks.engines --engines dask --rows 200000 --passes 2000

An engine's cluster is two processes of this machine with a thread each; memory has two threads. The
rows are made by the tasks. Times are the wall clock's, medians of passes in turn, each with other
centers. What an engine adds is a round there, less a round in memory and less an empty map: a task
that asks every block for a number which it knows. `--passes` tells how the memory of the client
grows over many rounds on few rows.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import describe_machine, in_words
from benchmarks.tables import markdown, size, write_results
from benchmarks.timing import duration
from softmodes._algorithm.seeding.tickets import total_weight
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.stores import RowStore, open_store

BARS = {"dask": 0.1, "spark": 0.5}  # seconds that a round may take longer than in memory
LIMITS = {
    "dask": "An empty map takes some 2 ms for each block here, where client, scheduler and workers "
    "share the cores: messages between four processes, of which the scheduler's part, a quarter of "
    "a millisecond, does not divide. What is added is pickling of tallies, two levels of sums, and "
    "waiting for the slower worker.",
}
WORKERS = 2


def rows_of(part: int, n_rows: int, n_columns: int) -> NDArray[np.uint8]:
    """Make some rows: columns of 2 to 30 values, each row near to one of 20 of them."""
    n_values = np.linspace(2, 30, n_columns).astype(int)
    groups = np.random.default_rng(0).integers(0, n_values, (20, n_columns))
    rng = np.random.default_rng([1, part])
    liked = groups[rng.integers(0, 20, n_rows)]
    noise = rng.integers(0, n_values, (n_rows, n_columns))
    return np.where(rng.random((n_rows, n_columns)) < 0.7, liked, noise).astype(np.uint8)


@contextmanager
def dask_table(n_parts: int, part_rows: int, n_columns: int) -> Iterator[Any]:
    """Start a cluster, and yield rows that its tasks make."""
    import dask
    import dask.array as da
    from distributed import Client, SubprocessCluster

    shape = part_rows, n_columns
    lazy = [dask.delayed(rows_of)(part, *shape) for part in range(n_parts)]
    chunks = [da.from_delayed(one, shape, np.uint8) for one in lazy]
    with (
        SubprocessCluster(
            n_workers=WORKERS,
            worker_kwargs={"nthreads": 1},
            scheduler_kwargs={"dashboard_address": ":0"},
        ) as cluster,
        Client(cluster),
    ):
        yield da.concatenate(chunks)


@contextmanager
def spark_table(n_parts: int, part_rows: int, n_columns: int) -> Iterator[Any]:
    """Start a cluster, and yield rows that its tasks make."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Executors have another working folder; they import these modules from where they are here.
    os.environ["PYTHONPATH"] = os.pathsep.join(str(Path(path).resolve()) for path in sys.path)
    builder = SparkSession.builder.master(f"local-cluster[{WORKERS},1,1024]")
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    columns = ", ".join(f"x{j} int" for j in range(n_columns))
    make = partial(_arrow_rows, part_rows=part_rows, n_columns=n_columns)
    try:
        yield spark.range(0, n_parts, 1, n_parts).mapInArrow(make, columns)
    finally:
        spark.stop()


def _arrow_rows(batches: Any, part_rows: int, n_columns: int) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        for part in batch["id"].to_pylist():
            rows = rows_of(part, part_rows, n_columns).astype(np.int32)
            yield pa.record_batch({f"x{j}": rows[:, j] for j in range(n_columns)})


Table = Callable[[int, int, int], AbstractContextManager[Any]]
ENGINES: dict[str, Table] = {"dask": dask_table, "spark": spark_table}


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def passes(store: RowStore, k: int) -> Callable[[int], object]:
    """Return a pass over all rows, with other centers for each number."""
    codes = store.rows(np.arange(0, store.n_rows, max(1, store.n_rows // (16 * k))))
    rng = np.random.default_rng(0)
    drawn = [CodeCenters(rng.permutation(codes)[:k].copy()) for _ in range(8)]
    return lambda number: store.tally(drawn[number % 8], Comparison(number))


def run(engine: str, n_parts: int, part_rows: int, n_columns: int, k: int, repeats: int) -> Any:
    """Return median seconds of rounds and empty maps, and of building the blocks."""
    whole = np.concatenate([rows_of(part, part_rows, n_columns) for part in range(n_parts)])
    here = open_store(whole, n_threads=WORKERS).store
    del whole
    with ENGINES[engine](n_parts, part_rows, n_columns) as table:
        start = time.perf_counter()
        there = open_store(table).store
        build = time.perf_counter() - start
        in_memory, on_engine = passes(here, k), passes(there, k)
        same = in_memory(0).fingerprint == on_engine(0).fingerprint  # type: ignore[attr-defined]
        assert same, "the engine gives another answer"
        times: dict[str, list[float]] = {"memory": [], "engine": [], "empty": []}
        for number in range(1, repeats + 1):
            times["memory"].append(seconds(partial(in_memory, number)))
            times["engine"].append(seconds(partial(on_engine, number)))
            times["empty"].append(seconds(lambda: there.sum(total_weight)))
    return {name: statistics.median(some) for name, some in times.items()} | {"build": build}


def growth(engine: str, n_passes: int) -> list[tuple[int, int]]:
    """Return the bytes of this process after ever more passes over a small table."""
    found = []
    with ENGINES[engine](4, 1000, 10) as table:
        one_pass = passes(open_store(table).store, 5)
        for number in range(n_passes + 1):
            one_pass(number)
            if number % max(1, n_passes // 8) == 0:
                found.append((number, resident_bytes()))
    return found


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[1]) * 4096


def report(found: dict[str, Any]) -> str:
    """Return what engines add to a round, and how memory grows."""
    rows = []
    for engine, of_engine in found["engines"].items():
        added = of_engine["engine"] - of_engine["memory"] - of_engine["empty"]
        bar = BARS[engine]
        verdict = "held" if added <= bar else "missed"
        shown = [duration(of_engine[name]) for name in ("memory", "engine", "empty")]
        rows.append([engine, *shown, f"{1e3 * added:.0f} ms", f"{duration(bar)}, {verdict}"])
    header = ["engine", "round in memory", "round there", "empty map", "added", "bar"]
    text = (
        f"{found['rows']:,} rows x {found['columns']} columns in {found['partitions']} partitions, "
        f"k = {found['k']}; medians of {found['repeats']}. {in_words(found['machine'])}\n\n"
        f"{markdown(header, rows)}\n"
    )
    for engine in found["engines"]:
        text += f"\n{engine}: {LIMITS[engine]}\n" if engine in LIMITS else ""
    for engine, by_number in found["growth"].items():
        shown = [[f"{number:,}", size(n_bytes)] for number, n_bytes in by_number]
        text += f"\nMemory of the client on {engine}, after so many passes over 4000 rows:\n\n"
        text += markdown(["passes", "resident"], shown) + "\n"
    return text


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engines", default="dask", help="names, with commas between")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--partitions", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--passes", type=int, default=0, help="also see how memory grows")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    asked = parser.parse_args(arguments)
    names = asked.engines.split(",")
    shape = asked.partitions, asked.rows // asked.partitions, asked.columns
    found: dict[str, Any] = {
        "rows": shape[0] * shape[1],
        "columns": asked.columns,
        "partitions": asked.partitions,
        "k": asked.clusters,
        "repeats": asked.repeats,
        "engines": {name: run(name, *shape, asked.clusters, asked.repeats) for name in names},
        "growth": {name: growth(name, asked.passes) for name in names if asked.passes},
    }
    found["machine"] = describe_machine(("numpy", "dask", "distributed", "pyspark"))
    text = report(found)
    write_results(asked.out, "engines", found, text)
    print(text)


if __name__ == "__main__":
    main()
