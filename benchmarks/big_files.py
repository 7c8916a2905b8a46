"""Clustering of files that are larger than the memory that rows may take.

    python -m benchmarks.big_files --rows 50000000

writes Parquet files of 20 columns (2 to 30 categories, ten of them strings), clusters them with
`memory_limit="400MB"`, refined, and prints CPU seconds by stage and the peak resident memory of the
process; then a pass over the rows where they lie beside one over the same rows in memory. Each part
runs in a process of its own. The files are removed.
"""

from __future__ import annotations

import argparse
import glob
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.machine import describe_machine, in_words
from benchmarks.memory import peak_here
from benchmarks.tables import markdown, write_results
from benchmarks.timing import measure
from softmodes import SoftModes
from softmodes._parameters import byte_count
from softmodes._rows.block import Block
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.stores import MemoryStore, open_store

ROOT = Path(__file__).parents[1]
SIZES = (2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 27, 30)
FILE_ROWS = 1_000_000
K = 20
LIMIT = "400MB"
N_PASSES = 5

MOST_MEMORY = 1.5e9
MOST_BUILD_SECONDS = 35.0  # of CPU, for 50 million rows
MOST_PASS_RATIO = 1.4
FULL_SIZE = 50_000_000


def write_files(folder: Path, n_rows: int) -> None:
    """Write rows around 20 prototypes, 30 % of the cells changed, a million to a file."""
    prototypes = np.random.default_rng(0).integers(0, SIZES, (K, len(SIZES)))
    for number, first in enumerate(range(0, n_rows, FILE_ROWS)):
        rng = np.random.default_rng([1, number])
        n = min(FILE_ROWS, n_rows - first)
        groups = rng.integers(0, K, n)
        columns = {
            f"column_{j}": _column(rng, prototypes[groups, j], size, j)
            for j, size in enumerate(SIZES)
        }
        pq.write_table(pa.table(columns), folder / f"part-{number:04}.parquet")


def _column(rng: np.random.Generator, codes: Any, size: int, j: int) -> pa.Array:
    noise = rng.integers(0, size, len(codes))
    codes = np.where(rng.random(len(codes)) < 0.3, noise, codes).astype(np.int8)
    if j % 2:
        return pa.array(codes)
    words = pa.array([f"answer {i:02}" for i in range(size)])
    return pa.DictionaryArray.from_arrays(pa.array(codes), words).cast(pa.string())


# --- each in a process of its own ----------------------------------------------------------------


def build(folder: str) -> dict[str, Any]:
    """Read, code and pack all rows."""
    return _measured(lambda: open_store(folder, memory_limit=byte_count("limit", LIMIT)))


def fit(folder: str) -> dict[str, Any]:
    """Cluster all rows, refined, and tell the CPU seconds of each stage."""
    stages = ["reading, seeding"]
    ends: list[float] = []

    def note(state: Any) -> None:
        stages.append(state.stage)
        ends.append(time.process_time())

    model = SoftModes(K, n_init=1, random_state=0, memory_limit=LIMIT)
    start = time.process_time()
    found = _measured(lambda: model.fit(folder, on_round=note))
    seconds = dict.fromkeys(["reading, seeding", "modes", "gini", "latent", "labels"], 0.0)
    edges = [start, *ends, time.process_time()]
    # What comes before the end of the first round is reading, seeding and that round.
    names = ["reading, seeding", *stages[2:], "labels"]
    for name, (before, after) in zip(names, pairwise(edges), strict=True):
        seconds[name] += after - before
    kind = type(model.labels_).__name__
    rounds = {name: stages.count(name) for name in ("modes", "gini", "latent")}
    return found | {"stages": seconds, "rounds": rounds, "labels": kind, "cost": model.cost_}


def predict(folder: str) -> dict[str, Any]:
    """Label all rows by a model of the first file."""
    first = sorted(glob.glob(folder))[0]
    model = SoftModes(K, n_init=1, random_state=0, memory_limit=LIMIT).fit(first)
    return _measured(lambda: model.predict(folder))


def passes(folder: str, in_memory: bool) -> dict[str, Any]:
    """Return the CPU seconds of a pass, the median of some, each of which compares all anew."""
    limit = 10**12 if in_memory else byte_count("limit", LIMIT)
    store = open_store(folder, memory_limit=limit).store
    if in_memory:
        rows = np.concatenate([block.packed for block in store.map(_itself)])
        block = Block(store.layout, rows)
        store = MemoryStore([block], store.n_values, store.n_threads)
    store.remember = False
    centers = CodeCenters(store.rows(np.arange(K, dtype=np.int64) * 1009))
    times = [measure(lambda: store.tally(centers, Comparison(1))).cpu for _ in range(N_PASSES)]
    cost = store.tally(centers, Comparison(1)).cost
    return {"cpu": float(np.median(times)), "cost": cost, "blocks": len(store.map(_nothing))}


STEPS: dict[str, Callable[[str], dict[str, Any]]] = {
    "build": build,
    "pass in memory": partial(passes, in_memory=True),
    "pass": partial(passes, in_memory=False),
    "fit": fit,
    "predict": predict,
}


def _itself(block: Block, n_threads: int) -> Block:
    return block


def _nothing(block: Block, n_threads: int) -> None:
    return None


def _measured(task: Callable[[], object]) -> dict[str, Any]:
    timing = measure(task)
    return {"cpu": timing.cpu, "wall": timing.wall, "peak": peak_here()}


def run_apart(step: str, folder: str) -> dict[str, Any]:
    """Run a step in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.big_files", "--step", step, "--folder", folder]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(step, found, file=sys.stderr)
    return found


# --- what came out -------------------------------------------------------------------------------


def report(found: dict[str, Any]) -> str:
    """Return what was measured, beside the bars."""
    n_rows, steps = found["rows"], found["steps"]
    fitted, ratio = steps["fit"], steps["pass"]["cpu"] / steps["pass in memory"]["cpu"]
    assert steps["pass"]["cost"] == steps["pass in memory"]["cost"]
    build_bar = MOST_BUILD_SECONDS * n_rows / FULL_SIZE
    rows = [
        _line("reading, coding, packing", steps["build"]),
        _line("fit, all of it", fitted),
        _line("predict", steps["predict"]),
    ]
    stages = [
        [name, f"{seconds:.1f} s", str(fitted["rounds"].get(name, ""))]
        for name, seconds in fitted["stages"].items()
    ]
    bars = [
        ["peak memory of the fit", f"{fitted['peak'] / 1e9:.2f} GB", f"{MOST_MEMORY / 1e9} GB"],
        ["CPU of reading, coding, packing", f"{steps['build']['cpu']:.1f} s", f"{build_bar:.1f} s"],
        ["a pass, to one in memory", f"{ratio:.2f}", f"{MOST_PASS_RATIO}"],
    ]
    per_row = {name: 1e9 * steps[name]["cpu"] / n_rows for name in ("pass", "pass in memory")}
    return (
        f"{n_rows:,} rows x {len(SIZES)} columns in {-(-n_rows // FILE_ROWS)} Parquet files of "
        f"{found['bytes'] / 1e6:.0f} MB in all, {K} clusters, one start, memory_limit={LIMIT!r}. "
        f"{in_words(found['machine'])}\n\n"
        f"{markdown(['measured', 'found', 'bar'], bars)}\n\n"
        f"Each in a process of its own:\n\n"
        f"{markdown(['step', 'CPU', 'wall', 'peak memory'], rows)}\n\n"
        f"CPU of the fit by stage:\n\n"
        f"{markdown(['stage', 'CPU', 'rounds'], stages)}\n\n"
        f"A pass, the median of {N_PASSES}: {per_row['pass']:.1f} ns of CPU for a row from "
        f"{steps['pass']['blocks']} blocks, {per_row['pass in memory']:.1f} ns in memory. "
        f"`labels_` was of the class `{fitted['labels']}`.\n"
    )


def _line(name: str, step: dict[str, Any]) -> list[str]:
    return [name, f"{step['cpu']:.1f} s", f"{step['wall']:.1f} s", f"{step['peak'] / 1e6:.0f} MB"]


def main(arguments: list[str] | None = None) -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=FULL_SIZE)
    parser.add_argument("--folder", help="where to write the files; by default a temporary one")
    parser.add_argument("--step", choices=list(STEPS), help="only this, on files that are there")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    if options.step:
        print(json.dumps(STEPS[options.step](options.folder)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        write_files(Path(folder), options.rows)
        n_bytes = sum(path.stat().st_size for path in Path(folder).iterdir())
        pattern = f"{folder}/*.parquet"
        steps = {step: run_apart(step, pattern) for step in STEPS}
    found = {
        "rows": options.rows,
        "bytes": n_bytes,
        "steps": steps,
        "machine": describe_machine(("numpy", "pyarrow")),
    }
    text = report(found)
    write_results(options.out, "big_files", found, text)
    print(text)


if __name__ == "__main__":
    main()
