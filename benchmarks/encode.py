"""Encoding of a large table against reading it from CSV with pyarrow.

Run with ``python -m benchmarks.encode``. All run in one process, in turn, and the best of several
rounds counts. A ratio below 1 means faster than reading the CSV file with as many threads.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from benchmarks.timing import alternate
from softmodes._rows.stores import open_store
from softmodes._table.codebook import learn


def strings(n_rows: int, n_columns: int, length: int) -> pd.DataFrame:
    """Columns of 5 to 20 distinct strings of about the given length."""
    rng = np.random.default_rng(0)
    columns = {}
    for j in range(n_columns):
        size = 5 + j % 16
        words = np.array([f"{i:0{length}d}v" for i in range(size)], dtype=object)
        columns[f"column_{j}"] = words[rng.integers(0, size, n_rows)]
    return pd.DataFrame(columns).astype("str")


def compare(frame: pd.DataFrame, path: Path, n_threads: int, rounds: int) -> None:
    """Print the times of reading, encoding and packing."""
    pa.set_cpu_count(n_threads)
    options = csv.ReadOptions(use_threads=n_threads > 1)
    objects, categories = frame.astype(object), frame.astype("category")
    tasks = {
        "pyarrow reads CSV": lambda: csv.read_csv(path, read_options=options),
        "encode str": lambda: learn(frame, n_threads=n_threads),
        "encode + pack str": lambda: open_store(frame, n_threads=n_threads),
        "encode object": lambda: learn(objects, n_threads=n_threads),
        "encode + pack object": lambda: open_store(objects, n_threads=n_threads),
        "encode category": lambda: learn(categories, n_threads=n_threads),
    }
    times = alternate(tasks, rounds, enough=300.0)
    reading = times["pyarrow reads CSV"]
    print(f"\n{n_threads} threads      wall s   CPU s   wall ratio")
    for name, t in times.items():
        print(f"{name:22} {t.wall:6.3f}  {t.cpu:6.3f}  {t.wall / reading.wall:6.2f}")


def bits(n_rows: int, n_columns: int, n_threads: int, rounds: int) -> None:
    """Print the time to encode a bool matrix, which is not copied."""
    packed = np.random.default_rng(0).integers(0, 256, (n_rows, -(-n_columns // 8)), np.uint8)
    matrix = np.unpackbits(packed, axis=1, count=n_columns).view(bool)
    name = f"encode {n_rows} x {n_columns} bool"
    timing = alternate({name: lambda: learn(matrix, n_threads=n_threads)}, rounds)[name]
    print(f"\n{n_threads} threads: {name} {timing}")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--length", type=int, nargs="+", default=[7, 1], help="of the strings")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for length in given.length:
        frame = strings(given.rows, given.columns, length)
        print(f"\n{given.rows} rows x {given.columns} columns of strings of {length} + 1 letters")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            csv.write_csv(pa.Table.from_pandas(frame, preserve_index=False), path)
            for n_threads in given.threads:
                compare(frame, path, n_threads, given.rounds)
    for n_threads in given.threads:
        bits(given.rows // 2, 1000, n_threads, given.rounds)


if __name__ == "__main__":
    main()
