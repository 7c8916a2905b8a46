"""Where seeding matters: what fits come to from each kind of seeds, and the maps that they take.

    python -m benchmarks.seeding_quality
    python -m benchmarks.seeding_quality --folder FOLDER      with further tables, classes in them
    python -m benchmarks.seeding_quality zoo --runs 3         a quick look

Settled before the first run:

- Every seeding is compared with random rows (the control) and with greedy D1 (the default), run by
  run: run i of all has the seed i. A cell is a table, a number of clusters and a setting.
- What counts is the expected cost without a finish, the objective of the finish with one: lower is
  better, in percent of the control's. ARI beside it, where the table has classes.
- One seeding is better than another in a cell if the 90 % bootstrap interval of the paired
  difference of costs excludes 0 and the mean difference is a half percent of the cost or more.
  Seeding matters in a cell if any is better or worse than random.
- Where passes are dear, the advised seeding is the one that takes the fewest maps of those that
  lose to greedy D1 in no more cells than they win from it.

Every run has one line in the journal (`--journal`), and is not made again while it is there. Writes
`seeding_quality.json` and `seeding_quality.md`.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from benchmarks.machine import describe_machine, in_words
from benchmarks.quality import tuning
from benchmarks.tables import markdown, write_results
from benchmarks.workloads import overlapping_census
from softmodes import SoftModes, datasets
from softmodes._algorithm.seeding import METHODS, Seeding
from softmodes._compare.statistics import Interval, paired_interval
from softmodes._rows.stores import MemoryStore, open_store

CONTROL, DEFAULT = "random", "d1-greedy"
NEAR = 0.005  # of the cost
SETTINGS: dict[str, dict[str, Any]] = {
    "t = 3": {"t": 3.0, "refine": None, "n_init": 1},
    "t = inf": {"t": math.inf, "refine": None, "n_init": 1},
    "latent, one start": {"n_init": 1},
    "default": {},
}
UNREFINED = ("t = 3", "t = inf")

Made = tuple[Any, NDArray[Any] | None]  # a table, and the classes of its first rows


@dataclass(frozen=True)
class Table:
    """A table, the numbers of clusters to look for, and the settings in which that is done."""

    name: str
    ks: tuple[int, ...]
    make: Callable[[], Made]
    settings: tuple[str, ...] = tuple(SETTINGS)


def sizes(n: int, k: int, power: float) -> NDArray[np.int64]:
    """Return sizes of k clusters, proportional to 1 / i ** power, that sum to n."""
    edges = np.cumsum(1 / np.arange(1, k + 1) ** power)
    return np.diff(np.round(n * edges / edges[-1]).astype(np.int64), prepend=0)


def codewords(n: int, d: int, k: int, eps: float, power: float = 0.0, noise: float = 0.0) -> Made:
    """Return corrupted codewords of clusters of unequal sizes, then rows of nothing but noise."""
    rng = np.random.default_rng(0)
    n_noise = round(n * noise)
    y = np.repeat(np.arange(k), sizes(n - n_noise, k, power))
    rows = rng.random((k, d))[y] < 0.5
    rows ^= rng.random(rows.shape) < eps
    return np.concatenate([rows, rng.random((n_noise, d)) < 0.5]).view(np.uint8), y


def answers(n: int, k: int, power: float) -> Made:
    """Return rows around k prototypes of unequal sizes, 2 to 12 values, one cell in four noise."""
    rng = np.random.default_rng(0)
    sigma = np.tile([2, 3, 4, 5, 7, 12], 4)
    y = np.repeat(np.arange(k), sizes(n, k, power))
    rows = rng.integers(0, sigma, (k, len(sigma)))[y]
    noise = rng.integers(0, sigma, rows.shape)
    return np.where(rng.random(rows.shape) < 0.25, noise, rows).astype(np.uint8), y


def census() -> Made:
    return overlapping_census(10_000, groups=50), None


def bundled(load: Callable[..., Any]) -> Made:
    """Return a table that is shipped; of a large one 10,000 rows, evenly spread."""
    bunch = load(as_frame=False)
    step = max(1, len(bunch.target) // 10_000)
    return bunch.data[::step][:10_000], bunch.target[::step][:10_000]


def from_file(path: Path) -> Made:
    table = tuning.load(path)
    return table.X, np.asarray(table.y)


PLANTED = (
    Table("codewords, eps .2", (50,), partial(codewords, 10_000, 64, 50, 0.2)),
    Table("codewords, eps .05", (50,), partial(codewords, 10_000, 64, 50, 0.05)),
    Table("unequal codewords, eps .1", (50,), partial(codewords, 10_000, 64, 50, 0.1, 1.0)),
    Table("unequal, a tenth noise", (50,), partial(codewords, 10_000, 64, 50, 0.1, 1.0, 0.1)),
    Table("unequal answers", (30,), partial(answers, 10_000, 30, 1.2)),
    Table("census-like", (20, 50), census),
    Table("1000 codewords", (1000,), partial(codewords, 50_000, 128, 1000, 0.2), UNREFINED),
    Table(
        "1000 unequal codewords",
        (1000,),
        partial(codewords, 50_000, 128, 1000, 0.1, 0.7),
        UNREFINED,
    ),
)
SHIPPED = (
    Table("zoo", (7,), partial(bundled, datasets.load_zoo)),
    Table("mushroom", (2, 20), partial(bundled, datasets.load_mushroom)),
    Table("nursery", (5, 50), partial(bundled, datasets.load_nursery)),
    Table("tic-tac-toe", (2, 20), partial(bundled, datasets.load_tic_tac_toe)),
    Table("connect-4", (3, 50), partial(bundled, datasets.load_connect4)),
)


def tables(folder: Path | None) -> list[Table]:
    """Return all tables; those of a folder look for as many clusters as classes, and for 20."""
    found = [*PLANTED, *SHIPPED]
    known = {table.name for table in found}
    for path in tuning.files(folder) if folder else []:
        name = path.name.split(".")[0]
        if name not in known:
            X, y = from_file(path)
            assert y is not None
            ks = {len(np.unique(y)), min(20, len(X) // 4)}
            found.append(Table(name, tuple(sorted(ks)), partial(from_file, path)))
    return found


# --- runs ----------------------------------------------------------------------------------------


def run(made: Made, k: int, init: str, setting: str, seed: int) -> dict[str, Any]:
    """Fit once; return what it came to, and the maps and CPU seconds that it took."""
    X, y = made
    store = open_store(X).store
    with _counted(store.n_rows) as maps:
        METHODS[init](Seeding(store, k, seed, 0))
    of_seeding = maps[0]
    start = time.process_time()
    with _counted(store.n_rows) as maps, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SoftModes(k, init=init, random_state=seed, n_jobs=1, **SETTINGS[setting]).fit(X)
    labels = model.labels_
    return {
        "cost": float(model.objective_),
        "expected_cost": float(model.expected_cost_),
        "ari": None if y is None else float(adjusted_rand_score(y, labels[: len(y)])),
        "seeding_maps": of_seeding,
        "maps": maps[0],
        "rounds": int(model.n_iter_),
        "cpu": time.process_time() - start,
    }


class _counted:  # noqa: N801  (a context manager, used like a function)
    """Count the maps over stores of so many rows; candidates in a store of their own are fewer."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def __enter__(self) -> list[int]:
        n_maps, plain, n_rows = [0], MemoryStore.map, self.n_rows

        def counted(store: MemoryStore, task: Any) -> Any:
            n_maps[0] += store.n_rows == n_rows
            return plain(store, task)

        self._patch = mock.patch.object(MemoryStore, "map", counted)
        self._patch.start()
        return n_maps

    def __exit__(self, *error: object) -> None:
        self._patch.stop()


Record = dict[str, Any]


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """Yield the record of every run, old or new."""
    journal = Path(options.journal)
    journal.parent.mkdir(parents=True, exist_ok=True)
    lines = journal.read_text("utf-8").splitlines() if journal.exists() else []
    known = {_key(record): record for record in map(json.loads, lines)}
    for table in tables(options.folder):
        if options.names and table.name not in options.names:
            continue
        made: Made | None = None
        for seed, k, setting, init in product(
            range(options.runs), table.ks, table.settings, METHODS
        ):
            cell = {"table": table.name, "k": k, "setting": setting, "init": init, "seed": seed}
            if _key(cell) not in known:
                made = made or table.make()
                known[_key(cell)] = cell | run(made, k, init, setting, seed)
                with journal.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(known[_key(cell)]) + "\n")
            yield known[_key(cell)]


def _key(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("table", "k", "setting", "init", "seed"))


# --- what they tell ------------------------------------------------------------------------------


def better(difference: Interval) -> bool:
    """Tell whether costs are lower, by more than chance and by enough to matter."""
    return difference.high < 0 and difference.mean <= -NEAR


def worse(difference: Interval) -> bool:
    return difference.low > 0 and difference.mean >= NEAR


def compare(records: list[Record], reference: str) -> list[dict[str, Any]]:
    """Return for every cell and seeding the paired differences to a reference."""
    cells: dict[tuple[Any, ...], dict[str, list[Record]]] = {}
    for record in records:
        cell = cells.setdefault((record["table"], record["k"], record["setting"]), {})
        cell.setdefault(record["init"], []).append(record)
    found = []
    for (table, k, setting), runs in cells.items():
        base = _values(runs[reference], "cost")
        for init, made in runs.items():
            cost = paired_interval((_values(made, "cost") - base) / np.abs(base).mean())
            ari = None
            if made[0]["ari"] is not None:
                ari = paired_interval(_values(made, "ari") - _values(runs[reference], "ari"))
            found.append(
                {
                    "table": table,
                    "k": k,
                    "setting": setting,
                    "init": init,
                    "cost": cost,
                    "ari": ari,
                    "seeding_maps": float(_values(made, "seeding_maps").mean()),
                    "maps": float(_values(made, "maps").mean()),
                }
            )
    return found


def _values(records: list[Record], name: str) -> NDArray[np.float64]:
    return np.array([r[name] for r in sorted(records, key=lambda r: r["seed"])], np.float64)


def outcome(found: list[dict[str, Any]], init: str, settings: tuple[str, ...]) -> str:
    """Return in how many cells a seeding is better, level and worse."""
    mine = [f["cost"] for f in found if f["init"] == init and f["setting"] in settings]
    n_better, n_worse = sum(map(better, mine)), sum(map(worse, mine))
    return f"{n_better} / {len(mine) - n_better - n_worse} / {n_worse}"


def report(found: dict[str, Any]) -> str:
    """Return the page."""
    against = {name: found["against"][name] for name in (CONTROL, DEFAULT)}
    everything = against[CONTROL]
    n_cells = len({(f["table"], f["k"], f["setting"]) for f in everything})
    matters = {
        (f["table"], f["k"], f["setting"])
        for f in everything
        if better(f["cost"]) or worse(f["cost"])
    }
    text = [
        "# Where seeding matters",
        "",
        f"Generated by `python -m benchmarks.seeding_quality`: {found['runs']} runs of each "
        f"seeding in {n_cells} cells (a table, a number of clusters and a setting), with the same "
        "seeds for all. The cost is the expected cost, with a finish its objective. Told are the "
        "cells in which a seeding has a lower cost / is level / has a higher one: by more than "
        f"chance (90 % interval of paired differences) and by {NEAR:.1%} or more.",
        "",
        f"Some seeding is better or worse than random rows in {len(matters)} of {n_cells} cells.",
    ]
    inits = [init for init in METHODS if any(f["init"] == init for f in everything)]
    for name, differences in against.items():
        rows = [
            [init, *(outcome(differences, init, (setting,)) for setting in SETTINGS),
             outcome(differences, init, tuple(SETTINGS))]
            for init in inits if init != name
        ]  # fmt: skip
        text += ["", f"## Against {name}", "", markdown(["seeding", *SETTINGS, "all"], rows)]
    text += ["", "## Maps of a seeding", "", _maps(everything, inits)]
    for setting in SETTINGS:
        some = [f for f in everything if f["setting"] == setting]
        if some:
            text += [
                "",
                f"## {setting}: cost against random rows, and ARI",
                "",
                _cells(some, inits),
            ]
    return "\n".join([*text, "", in_words(found["machine"]), ""])


def _maps(found: list[dict[str, Any]], inits: list[str]) -> str:
    ks = sorted({f["k"] for f in found})
    rows = []
    for init in inits:
        by_k = {
            k: [f["seeding_maps"] for f in found if (f["init"], f["k"]) == (init, k)] for k in ks
        }
        rows.append([init, *(f"{np.mean(maps):.0f}" for maps in by_k.values())])
    return markdown(["seeding", *(f"k = {k}" for k in ks)], rows)


def _cells(found: list[dict[str, Any]], inits: list[str]) -> str:
    rows = []
    for table, k in dict.fromkeys((f["table"], f["k"]) for f in found):
        cells = {f["init"]: f for f in found if (f["table"], f["k"]) == (table, k)}
        rows.append([table, f"{k}", *(_in_words(cells[init]) for init in inits if init != CONTROL)])
    return markdown(["table", "k", *(init for init in inits if init != CONTROL)], rows)


def _in_words(cell: dict[str, Any]) -> str:
    cost, ari = cell["cost"], cell["ari"]
    text = f"{100 * cost.mean:+.2f} % ({100 * cost.low:+.2f} to {100 * cost.high:+.2f})"
    text = f"**{text}**" if better(cost) else f"*{text}*" if worse(cost) else text
    return text if ari is None else f"{text}, ARI {ari.mean:+.3f}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="tables (default: all)")
    parser.add_argument("--folder", type=Path, help="further tables, .csv or .csv.gz")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--journal", default="build/seeding_quality.jsonl")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    records = list(measure(options))
    found = {
        "machine": describe_machine(["numpy", "scikit-learn"]),
        "runs": options.runs,
        "against": {name: compare(records, name) for name in (CONTROL, DEFAULT)},
    }
    text = report(found)
    write_results(options.out, "seeding_quality", found, text)
    print(text)


if __name__ == "__main__":
    main()
