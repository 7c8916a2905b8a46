"""How often the number of groups is found, by the rule and by each criterion alone.

    python -m benchmarks.choosing_k                     tables to report, seeds from 2000
    python -m benchmarks.choosing_k --set calibrate     tables to calibrate on, seeds from 0
    python -m benchmarks.choosing_k --seeds 2           a quick look
    python -m benchmarks.choosing_k --fits fresh        five fresh starts for each k instead
    python -m benchmarks.choosing_k --labelled report tune --tune FOLDER
                                                        tables with known classes as well

Every table has one line in the journal (`--journal`), and is not measured again while it is there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.choosing_k.families import Planted, planted_tables
from benchmarks.choosing_k.measure import Record, measure_labelled, measure_planted
from benchmarks.choosing_k.rates import report, summary
from benchmarks.machine import describe_machine
from benchmarks.quality.tables import source_of
from benchmarks.tables import write_results
from softmodes._choice.chain import Levels, chain, fresh
from softmodes._compare.tables import LabelledTable

FIRST_SEEDS = {"calibrate": 0, "report": 2000}
FITS = {"chain": (chain, 3), "fresh": (fresh, 5)}


def measure_all(options: argparse.Namespace) -> Iterator[Record]:
    """Yield the record of every table, old or new."""
    journal = Path(options.journal)
    journal.parent.mkdir(parents=True, exist_ok=True)
    lines = journal.read_text("utf-8").splitlines() if journal.exists() else []
    known = {record["name"]: record for record in map(json.loads, lines)}
    levels, n_init = FITS[options.fits]
    first = FIRST_SEEDS[options.set] if options.seed is None else options.seed
    seeds = range(first, first + options.seeds)
    measures = {
        name: partial(_planted, make, levels, n_init)
        for name, make in planted_tables(seeds, options.set == "report")
    }
    for role in options.labelled:
        tables = source_of(role, options.tune)()
        measures |= {f"{role}: {name}": partial(_labelled, load) for name, load in tables.items()}
    for name, measure in measures.items():
        if name not in known:
            known[name] = measure() | {"name": name}
            with journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(known[name]) + "\n")
        yield known[name]


def _planted(make: Callable[[], Planted], levels: Levels, n_init: int) -> Record:
    return measure_planted(make(), levels, n_init)


def _labelled(load: Callable[[], LabelledTable]) -> Record:
    return measure_labelled(load())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=FIRST_SEEDS, default="report")
    parser.add_argument("--seeds", type=int, default=16, help="number of seeds")
    parser.add_argument("--seed", type=int, help="the first one")
    parser.add_argument("--fits", choices=FITS, default="chain")
    parser.add_argument(
        "--labelled", nargs="+", choices=("report", "tune"), default=[],
        help="tables with known classes as well: those of benchmarks.quality",
    )  # fmt: skip
    parser.add_argument("--tune", type=Path, metavar="FOLDER", help="of tables to tune on")
    parser.add_argument("--journal", default="build/choosing_k.jsonl")
    parser.add_argument("--out", default="docs/benchmarks", help="folder of the results")
    parser.add_argument("--name", default="choosing_k", help="of the files with the results")
    options = parser.parse_args(arguments)
    records = list(measure_all(options))
    machine = describe_machine(["numpy", "scipy", "scikit-learn"])
    found = {"machine": machine, "set": options.set, "fits": options.fits, **summary(records)}
    text = report(found)
    write_results(Path(options.out), options.name, found, text)
    print(text)


if __name__ == "__main__":
    main()
