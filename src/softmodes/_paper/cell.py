"""One cell: make its data, run its algorithm, measure the outcome."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from softmodes import SoftModes, baselines, datasets
from softmodes._algorithm.plan import RoundState
from softmodes._paper.capped_k_means import capped_k_means
from softmodes._paper.own_table import OWN_TABLES
from softmodes._paper.packed import algorithm_1, packed_blocks
from softmodes._paper.recipe import MAX_ITER, OUR_DEFAULT, Cell, Data, SeedingName
from softmodes._paper.same_again import same_again
from softmodes._provenance import machine, versions
from softmodes._quiet import quiet
from softmodes._rows.block import Block
from softmodes.metrics import agreement, matching_accuracy

_LOADERS = {
    "connect-4": datasets.load_connect4,
    "nursery": datasets.load_nursery,
    "mushroom": datasets.load_mushroom,
    "tic-tac-toe": datasets.load_tic_tac_toe,
    "zoo": datasets.load_zoo,
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with its classes, and the forms in which algorithms take it.

    `packed` are its rows where there is no table: too wide to be held in another form.
    """

    recipe: Data
    table: Any
    classes: NDArray[Any]
    packed: Block | None = None

    @cached_property
    def codes(self) -> NDArray[Any]:
        """Small integers; the engine gives them the same codes as the values, only faster."""
        if self.table.dtype == bool:
            return self.table  # type: ignore[no-any-return]
        codes = baselines.integer_codes(self.table)
        return codes.astype(np.uint8 if codes.max() < 256 else np.int32)

    @cached_property
    def floats(self) -> NDArray[np.float32]:
        """Bits as floats, for scikit-learn."""
        return self.table.astype(np.float32)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run has found; measures that an algorithm does not have are None."""

    labels: NDArray[Any]
    rounds: int | None = None
    cost: float | None = None
    expected_cost: float | None = None
    trace: list[float] | None = None
    capped: bool = False
    seeds_apart: bool | None = None


# One data set and one set of seeds at a time: cells come in that order, and both can be large.
@lru_cache(maxsize=1)
def dataset(recipe: Data) -> Dataset:
    """Make or load a data set."""
    if recipe.kind in _LOADERS:
        table, classes = _LOADERS[recipe.kind](return_X_y=True, as_frame=False)
        return Dataset(recipe, table, classes)
    if recipe.kind in OWN_TABLES:
        own = OWN_TABLES[recipe.kind]
        return Dataset(recipe, own.values, own.classes)
    p = dict(recipe.params)
    if recipe.kind == "packed-bbm":
        block, classes = packed_blocks(**p, seed=recipe.seed)
        return Dataset(recipe, None, classes, block)
    if recipe.kind == "bbm":
        matrix = [[p["p"], p["q"]], [p["q"], p["p"]]]
        table, classes = datasets.make_bbm(p["n"], p["d"], matrix, random_state=recipe.seed)
    else:
        shape = p["n"], p["d"], recipe.n_clusters
        table, classes = datasets.make_ccm(*shape, p["eps"], p["noise"], random_state=recipe.seed)
    return Dataset(recipe, table, classes)


@lru_cache(maxsize=1)
def seeds(recipe: Data, seeding: SeedingName, seed: int, n_jobs: int | None) -> tuple[Any, float]:
    """Return the first centers of a run, and the seconds that it took to draw them."""
    start = time.perf_counter()
    drawn = SoftModes(
        recipe.n_clusters,
        t=1.0,
        init=seeding,
        n_init=1,
        max_iter=1,
        select="last",
        refine=None,
        n_jobs=n_jobs,
        random_state=seed,
    ).fit(dataset(recipe).codes)
    return drawn.cluster_centers_, time.perf_counter() - start


def run_cell(cell: Cell, n_jobs: int | None = None) -> dict[str, Any]:
    """Run one cell and return its line of the results.

    Of the seconds, "wall" and "cpu" are those of the run, "seeding" is the part of "wall" that went
    into seeds shared with other cells, and "total" is all that the cell took, data included.
    """
    begun = time.perf_counter()
    data = dataset(cell.data)
    first, seeding_seconds = None, 0.0
    if cell.shared_seeds:
        first, seeding_seconds = seeds(cell.data, cell.seeding, cell.seed, n_jobs)
    wall, cpu = time.perf_counter(), time.process_time()
    # That a run of the paper's 30 rounds has not converged, or that one cluster holds nearly all
    # rows, is part of its result.
    with quiet(ConvergenceWarning):
        outcome = _run(cell, data, first, n_jobs, cell.seed)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        again = _same_again(cell, data, n_jobs) if cell.same_again else None
    metrics = _rounded(agreement(data.classes, outcome.labels))
    seconds = {
        "wall": wall + seeding_seconds,
        "cpu": cpu,
        "seeding": seeding_seconds,
        "total": time.perf_counter() - begun,
    }
    return {
        "key": cell.key,
        "experiment": cell.experiment,
        "size": cell.size,
        "data": {"kind": cell.data.kind, "k": cell.data.n_clusters, **dict(cell.data.params)},
        "algorithm": cell.algorithm.name,
        "params": {name: _finite(value) for name, value in cell.algorithm.params},
        "run": cell.run,
        "seed": cell.seed,
        "metrics": metrics,
        "cost": outcome.cost,
        "expected_cost": outcome.expected_cost,
        "rounds": outcome.rounds,
        "capped": outcome.capped,
        "trace": outcome.trace,
        **({} if outcome.seeds_apart is None else {"seeds_apart": outcome.seeds_apart}),
        **({} if again is None else {"same_again": round(again, 6)}),
        "seconds": _rounded(seconds),
        "versions": versions(),
        "machine": machine(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _run(cell: Cell, data: Dataset, first: Any, n_jobs: int | None, seed: int) -> Outcome:
    if data.packed is not None:
        return _packed_soft_modes(cell, data, n_jobs, seed)
    if cell.algorithm.name in ("softmodes", "k-modes"):
        return _soft_modes(cell, data, first, n_jobs, seed)
    if cell.algorithm == OUR_DEFAULT:
        return _our_default(cell, data, n_jobs, seed)
    if first is not None and cell.algorithm.name == "k-means":
        return _k_means(cell, data, first)
    labels = baselines.cluster(
        cell.algorithm.name,
        data.table,
        cell.data.n_clusters,
        seed,
        **dict(cell.algorithm.params),
    )
    return Outcome(labels)


def _same_again(cell: Cell, data: Dataset, n_jobs: int | None) -> float:
    def cluster(rows: NDArray[np.intp], seed: int) -> NDArray[Any]:
        part = Dataset(data.recipe, data.table[rows], data.classes[rows])
        return _run(cell, part, None, n_jobs, seed).labels

    return same_again(cluster, len(data.classes), cell.seed)


def _soft_modes(cell: Cell, data: Dataset, first: Any, n_jobs: int | None, seed: int) -> Outcome:
    trace: list[float] = []

    def watch(state: RoundState) -> None:
        trace.append(round(matching_accuracy(data.classes, state.labels()), 6))

    model = SoftModes(
        cell.data.n_clusters,
        t=dict(cell.algorithm.params).get("t", math.inf),
        init=cell.seeding if first is None else first,
        n_init=1,
        max_iter=MAX_ITER,
        select="last",
        refine=None,
        n_jobs=n_jobs,
        random_state=seed,
    ).fit(data.codes, on_round=watch if cell.trace else None)
    return Outcome(
        labels=model.labels_,
        rounds=model.n_iter_,
        cost=float(model.cost_),
        expected_cost=round(float(model.expected_cost_), 3),
        trace=trace if cell.trace else None,
    )


def _our_default(cell: Cell, data: Dataset, n_jobs: int | None, seed: int) -> Outcome:
    """Run the estimator as it comes; `t`, restarts and finish are its own."""
    model = SoftModes(cell.data.n_clusters, n_jobs=n_jobs, random_state=seed).fit(data.codes)
    return Outcome(
        labels=model.labels_,
        rounds=model.n_iter_,
        cost=float(model.cost_),
        expected_cost=round(float(model.expected_cost_), 3),
    )


def _packed_soft_modes(cell: Cell, data: Dataset, n_jobs: int | None, seed: int) -> Outcome:
    assert data.packed is not None
    found = algorithm_1(
        data.packed,
        cell.data.n_clusters,
        t=cell.algorithm.t,
        max_iter=MAX_ITER,
        seed=seed,
        n_jobs=n_jobs,
    )
    chosen = found.run.chosen
    return Outcome(
        labels=found.labels,
        rounds=len(found.run.history),
        cost=chosen.cost,
        expected_cost=round(chosen.expected_cost, 3),
        seeds_apart=len(set(data.classes[found.seeds])) == len(found.seeds),
    )


def _k_means(cell: Cell, data: Dataset, first: Any) -> Outcome:
    trace: list[float] = []

    def watch(labels: NDArray[Any]) -> None:
        trace.append(round(matching_accuracy(data.classes, labels), 6))

    found = capped_k_means(
        data.floats,
        np.asarray(first, dtype=np.float32),
        max_iter=MAX_ITER,
        cap=cell.algorithm["cap"],
        on_round=watch if cell.trace else None,
    )
    return Outcome(found.labels, found.rounds, trace=trace or None, capped=found.capped)


def _rounded(numbers: dict[str, float]) -> dict[str, float]:
    return {name: round(float(number), 6) for name, number in numbers.items()}


def _finite(value: Any) -> Any:
    return "inf" if value == math.inf else value
