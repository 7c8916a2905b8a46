"""Race two builds of softmodes, round by round: the same answers, and at what speed.

    python -m benchmarks.versus --old ../other/src
    python -m benchmarks.versus --old ../other/src --new src W1 W3 --rounds 15 --scale 0.2

Each build runs the same fits in a process of its own and stops after every round, until the other
has made the same one. So both meet the same disturbances. What counts is CPU time, of all threads;
the ratio is the median over the pairs of rounds, with a bootstrap interval of 95 %. Only the public
interface is used, so that the two may be built quite differently. At t = 1 nearly all centers
change in a round, and all rows are compared with all of them. A round in which the costs differ
ends the race.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import markdown
from benchmarks.workloads import WORKLOADS, Workload

_RESAMPLES = 4000


@dataclass(frozen=True)
class Race:
    """CPU seconds of the same rounds in both builds."""

    old: NDArray[np.float64]
    new: NDArray[np.float64]

    @property
    def ratio(self) -> float:
        """Median time of the new build over that of the old one."""
        return float(np.median(self.new / self.old))

    @property
    def interval(self) -> tuple[float, float]:
        """The middle 95 % of the ratio over resampled pairs of rounds."""
        rng = np.random.default_rng(0)
        pairs = rng.integers(0, len(self.old), (_RESAMPLES, len(self.old)))
        low, high = np.quantile(np.median((self.new / self.old)[pairs], axis=1), [0.025, 0.975])
        return float(low), float(high)


class Runner:
    """One build in a process of its own, which makes a round whenever it is asked to."""

    def __init__(self, source: Path, table: Path, k: int, options: argparse.Namespace) -> None:
        self.source = source
        environment = os.environ | {
            "PYTHONPATH": str(source),
            "PYTHONSAFEPATH": "1",  # that of the script would be first
        }
        arguments = [str(table), str(k), str(options.t), str(options.threads)]
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("rounds.py")), *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def round(self) -> tuple[float, str]:
        """Let it make one round; return its CPU seconds and its costs."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The build in {self.source} stopped. Its error is printed above.")
        seconds, costs = line.split(maxsplit=1)
        return float(seconds), costs.strip()

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


def race(old: Runner, new: Runner, rounds: int) -> Race:
    """Let both make the same rounds in turn; the first of them warms up and does not count."""
    seconds = np.empty((rounds + 1, 2))
    for i in range(rounds + 1):
        order = (old, new) if i % 2 else (new, old)
        found = {id(runner): runner.round() for runner in order}
        if found[id(old)][1] != found[id(new)][1]:
            raise SystemExit(
                f"Round {i} differs: cost and expected cost are {found[id(old)][1]} in "
                f"{old.source} and {found[id(new)][1]} in {new.source}."
            )
        seconds[i] = found[id(old)][0], found[id(new)][0]
    return Race(*seconds[1:].T)


def measure(workload: Workload, options: argparse.Namespace, folder: Path) -> Race:
    """Race the two builds on one workload."""
    table = folder / "table.npy"
    np.save(table, workload.make(options.scale))
    runners = [Runner(path, table, workload.k, options) for path in (options.old, options.new)]
    try:
        return race(*runners, options.rounds)
    finally:
        for runner in runners:
            runner.stop()


def parse(arguments: list[str] | None) -> argparse.Namespace:
    here = Path(__file__).parents[1] / "src"
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="workloads (default: all)")
    parser.add_argument("--old", type=Path, required=True, help="folder that holds softmodes/")
    parser.add_argument("--new", type=Path, default=here, help="the same of the other build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--scale", type=float, default=0.2, help="share of the rows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--t", type=float, default=1.0)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> dict[str, Race]:
    options = parse(arguments)
    races = {}
    for workload in WORKLOADS:
        if options.names and workload.name not in options.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            races[workload.name] = measure(workload, options, Path(folder))
        _, rows = table_of({workload.name: races[workload.name]})
        print("  ".join(rows[0]), file=sys.stderr, flush=True)
    print(markdown(*table_of(races)))
    return races


def table_of(races: dict[str, Race]) -> tuple[list[str], list[list[str]]]:
    head = ["", "old, ms CPU", "new, ms CPU", "new / old", "95 %"]
    rows = []
    for name, found in races.items():
        old, new = 1e3 * np.median(found.old), 1e3 * np.median(found.new)
        low, high = found.interval
        rows.append(
            [name, f"{old:.2f}", f"{new:.2f}", f"{found.ratio:.3f}", f"{low:.3f} to {high:.3f}"]
        )
    return head, rows


if __name__ == "__main__":
    main()
