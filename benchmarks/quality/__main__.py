"""How good and how stable partitions are, beside every rival's, over many tables.

    python -m benchmarks.quality --role tune --tune FOLDER --jobs 2
    python -m benchmarks.quality --out docs/benchmarks/quality
    python -m benchmarks.quality --contenders SoftModes 'SoftModes(t=2)' KMeans --runs 5
    python -m benchmarks.quality --report --out docs/benchmarks/quality

Results go line by line into `<role>.jsonl` of the folder: stop it at any time, run it again to go
on. Then `<role>.md`, `<role>.json` and `<role>.svg` are written there.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.quality import tables
from softmodes._compare.cells import EQUAL_TIME, Cell, Limits, Setting
from softmodes._compare.contenders import CONTENDERS, chosen, how_to_install
from softmodes._compare.report import write_report
from softmodes._compare.runner import RECORDS, Comparison, all_cells, run, to_run
from softmodes._compare.summary import Summary
from softmodes._journal import Journal, read_folder
from softmodes._parameters import choice
from softmodes.baselines._plugins import load_methods

ROLES = ("report", "planted", "tune")


def setting_of(text: str) -> Setting:
    """Return a setting by the number of its restarts, or "equal"."""
    if text == "equal":
        return EQUAL_TIME
    if not text.isdecimal() or text == "0":
        raise argparse.ArgumentTypeError(f"{text!r} is no setting. Pass 1, 10, ... or equal.")
    return Setting(int(text))


def at_least(least: float, kind: type[float] = int) -> Callable[[str], float]:
    """Return what reads a number of at least `least`."""

    def read(text: str) -> float:
        try:
            found = kind(text)
        except ValueError:
            found = math.nan
        if not found >= least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number >= {least:g}. Pass one.")
        return found

    return read


def comparison_of(options: argparse.Namespace) -> Comparison:
    """Return what the options ask for."""
    source = tables.source_of(options.role, options.tune)
    known = list(source())
    return Comparison(
        source=source,
        tables=tuple(choice("tables", name, known) for name in options.tables or known),
        contenders=tuple(options.chosen),
        settings=tuple(options.settings),
        limits=Limits(
            runs=options.runs,
            slow_runs=min(options.slow_runs, options.runs),
            slow_seconds=options.slow_seconds,
            cell_seconds=60 * options.minutes_per_cell,
            clock=options.clock,
        ),
        n_clusters=options.k,
        seed=options.seed,
        threads=options.threads,
        plugins=tuple(options.plugin),
    )


def run_all(options: argparse.Namespace) -> None:
    """Run what is not in the journal yet."""
    comparison = comparison_of(options)
    for line in how_to_install(comparison.contenders):
        print(line, file=sys.stderr)
    cells = all_cells(comparison)
    with Journal(options.out / f"{options.role}.jsonl", RECORDS) as journal:
        fresh = {cell.key for cell in cells if cell.contender.name in options.fresh}
        journal.done -= fresh
        n_todo = len(to_run(comparison, cells, journal))
        start, done = time.perf_counter(), []

        def told(cell: Cell) -> None:
            done.append(cell)
            minutes = (time.perf_counter() - start) / 60
            print(
                f"{len(done)}/{n_todo} {minutes:.1f} min  {cell.key}", file=sys.stderr, flush=True
            )

        run(comparison, cells, journal, jobs=options.jobs, on_cell=told)


def report(options: argparse.Namespace) -> None:
    """Write what the journal tells."""
    records = read_folder(options.out, options.role, RECORDS)
    if not records:
        raise ValueError(f"{options.out} holds no results of {options.role} tables. Run first.")
    summary = Summary(records, options.chosen)
    for path in write_report(summary, options.out, options.role, f"Quality: {options.role} tables"):
        print(path)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--role", choices=ROLES, default="report", help="which tables")
    parser.add_argument("--tune", type=Path, metavar="FOLDER", help="of tables to tune on")
    parser.add_argument("--tables", nargs="+", default=[], metavar="NAME", help="some of them")
    parser.add_argument(
        "--contenders", nargs="+", default=[], metavar="NAME",
        help=f"some of {', '.join(CONTENDERS)}; parameters in brackets: 'SoftModes(t=2)'",
    )  # fmt: skip
    parser.add_argument(
        "--settings", nargs="+", type=setting_of, default=[Setting(1), Setting(10), EQUAL_TIME],
        metavar="N", help="numbers of restarts, and equal for equal time (default: 1 10 equal)",
    )  # fmt: skip
    parser.add_argument("--runs", type=at_least(1), default=20, help="of a cell")
    parser.add_argument("--slow-runs", type=at_least(1), default=5, help="of a cell with slow runs")
    parser.add_argument(
        "--slow-seconds", type=at_least(0, float), default=10.0, help="of a slow run"
    )
    parser.add_argument("--minutes-per-cell", type=at_least(0, float), default=10.0)
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall",
        help="of equal time; cpu where others use the machine",
    )  # fmt: skip
    parser.add_argument("-k", type=at_least(1), help="clusters (default: the number of classes)")
    parser.add_argument("--seed", type=at_least(0), default=0)
    parser.add_argument("--threads", type=at_least(1), default=1, help="of every contender")
    parser.add_argument("--jobs", type=at_least(1), default=1, help="processes")
    parser.add_argument(
        "--fresh", nargs="+", default=[], metavar="NAME", help="contenders to run anew; later wins"
    )
    parser.add_argument("--plugin", action="append", default=[], help="a .py file or module")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/quality"))
    parser.add_argument("--report", action="store_true", help="write the report only")
    options = parser.parse_args(arguments)
    try:
        options.chosen = chosen(options.contenders, load_methods(options.plugin))
        if not options.report:
            run_all(options)
        report(options)
    except ValueError as error:
        raise SystemExit(f"Error: {error}") from error


if __name__ == "__main__":
    main()
