"""softmodes and its peers: one iteration each, on the same rows from the same centers.

A method gets a problem and a number of threads and returns what is to be timed. Everything that
is done once per fit (encoding, packing, one-hot, copies) happens before.
"""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.workloads import Problem
from softmodes import _kernels
from softmodes._algorithm.cost import expected_cost
from softmodes._algorithm.draw import Draw
from softmodes._algorithm.scores import Pricing
from softmodes._rows.centers import CodeCenters, Comparison, ScoreCenters
from softmodes._rows.stores import RowStore, open_store
from softmodes._rows.tally import MEMBERSHIP_BITS, Tally
from softmodes.rounding import uniform

Run = Callable[[], object]

_COMPARISON = Comparison(tie_key=1)


@dataclass(frozen=True)
class Method:
    """One way to do an iteration, or the assignment alone."""

    name: str
    prepare: Callable[[Problem, int], Run]
    what: str  # "iteration" or "assignment"
    timed: str  # in words
    binary_only: bool = False
    most_rows: Callable[[Problem], int] | None = None  # more are not run, but scaled up
    least_rows_per_cluster: int = 0
    blas_threads: bool = False  # does BLAS make the threads? (else the method itself)
    repeats: int | None = None  # at most

    def rows(self, problem: Problem) -> int:
        """Return how many rows it runs on: 0 if it does not suit the problem."""
        if self.binary_only and not problem.binary:
            return 0
        n = len(problem.table)
        n = n if self.most_rows is None else min(n, self.most_rows(problem))
        return 0 if n < self.least_rows_per_cluster * problem.k else n

    def around(self, n_threads: int) -> AbstractContextManager[object]:
        """Return the context that gives it its threads."""
        blas = n_threads if self.blas_threads else 1
        return threadpool_limits({"openmp": n_threads, "blas": blas})


# --------------------------------------------------------------------------------- softmodes


def open_rows(problem: Problem, n_threads: int) -> RowStore:
    """Encode and pack; every pass compares all rows with all centers, as in a first round."""
    store = open_store(problem.table, n_threads=n_threads).store
    store.remember = False
    return store


def iteration(problem: Problem, n_threads: int) -> Run:
    """Return a full iteration: nearest centers, counts, costs, next centers."""
    store, centers = _ready(problem, n_threads)
    draw = Draw(uniform, 0, n_threads=n_threads)
    last: list[Tally] = []  # kept until there is a newer one, as in a fit

    def run() -> None:
        tally = store.tally(centers, _COMPARISON)
        expected_cost(tally.counts, n_threads=n_threads)
        draw(tally.counts, centers, 0, 0)
        last[:] = [tally]

    return run


def rows_pass(problem: Problem, n_threads: int) -> Run:
    """Return the pass over the rows alone: nearest centers and counts."""
    store, centers = _ready(problem, n_threads)
    return lambda: store.tally(centers, _COMPARISON)


def assignment(problem: Problem, n_threads: int) -> Run:
    """Return the nearest centers alone."""
    store, centers = _ready(problem, n_threads)
    return lambda: store.labels(centers, _COMPARISON)


LATE = 5  # soft rounds before a late one


def score_pass(late: bool) -> Callable[[Problem, int], Run]:
    """Return a pass by scores: cheapest clusters and counts."""

    def prepare(problem: Problem, n_threads: int) -> Run:
        store, _, scores = _priced(problem, n_threads, late)
        return lambda: store.tally(scores, _COMPARISON)

    return prepare


def soft_round(late: bool) -> Callable[[Problem, int], Run]:
    """Return a round of the latent class model: shares of rows, counts, their prices."""

    def prepare(problem: Problem, n_threads: int) -> Run:
        store, pricing, scores = _priced(problem, n_threads, late)
        last: list[ScoreCenters] = []  # kept until there are newer ones, as in a fit

        def run() -> None:
            last[:] = [_next_scores(store, pricing, scores)]

        return run

    return prepare


def _priced(problem: Problem, n_threads: int, late: bool) -> tuple[RowStore, Pricing, ScoreCenters]:
    """Return the rows and the prices of their first partition, or those some soft rounds later."""
    store, centers = _ready(problem, n_threads)
    pricing = Pricing(
        "latent", store.column_counts(), store.total_weight, prior=1.0, n_threads=n_threads
    )
    tally = store.tally(centers, _COMPARISON)
    scores = pricing.scores(tally.counts, tally.cluster_sizes, 1)
    for _ in range(LATE if late else 0):
        scores = _next_scores(store, pricing, scores)
    return store, pricing, scores


def _next_scores(store: RowStore, pricing: Pricing, scores: ScoreCenters) -> ScoreCenters:
    tally = store.soft_tally(scores, _COMPARISON)
    return pricing.scores(tally.counts, tally.cluster_sizes, 1 << MEMBERSHIP_BITS)


def _ready(problem: Problem, n_threads: int) -> tuple[RowStore, CodeCenters]:
    store = open_rows(problem, n_threads)
    return store, CodeCenters(store.rows(problem.seeds))


# ------------------------------------------------------------------------------ scikit-learn


def sklearn_lloyd(problem: Problem, n_threads: int) -> Run:
    """Return one call of the lloyd kernel: labels, sums, new centers, shifts; no relocation."""
    from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense

    X = problem.one_hot
    centers = X[problem.seeds]
    weights = np.ones(len(X), X.dtype)
    new = np.zeros_like(centers), np.zeros(problem.k, X.dtype)
    labels, shift = np.full(len(X), -1, np.int32), np.zeros(problem.k, X.dtype)
    return lambda: lloyd_iter_chunked_dense(
        X, weights, centers, *new, labels, shift, n_threads=n_threads, update_centers=True
    )


def sklearn_minibatch(problem: Problem, n_threads: int) -> Run:
    """Return one pass over all rows in batches, by partial_fit."""
    from sklearn.cluster import MiniBatchKMeans

    X = problem.one_hot
    size = max(1024, problem.k)
    model = MiniBatchKMeans(
        problem.k, init=X[problem.seeds], n_init=1, compute_labels=False, reassignment_ratio=0.0
    )
    with threadpool_limits(n_threads, "openmp"):  # the first call settles the number of threads
        model.partial_fit(X[:size])

    def run() -> None:
        for start in range(0, len(X), size):
            model.partial_fit(X[start : start + size])

    return run


# ------------------------------------------------------------------------------------- faiss


@cache
def _faiss() -> Any:
    """Import faiss with the BLAS kernels that NumPy's newer BLAS has found to suit the CPU.

    The OpenBLAS in its wheel takes a CPU newer than itself for one of 2004.
    """
    known = ("Haswell", "Zen", "SkylakeX", "Cooperlake")
    found = [lib.get("architecture") for lib in threadpool_info() if lib["user_api"] == "blas"]
    fallback = {"avx512": "SkylakeX", "avx2": "Haswell"}.get(_kernels.instruction_set())
    core = next((name for name in found if name in known), fallback)
    if core:
        os.environ.setdefault("OPENBLAS_CORETYPE", core)
    import faiss

    return faiss


def faiss_kmeans(problem: Problem, n_threads: int) -> Run:
    """Return one iteration of faiss.Kmeans: assignment and new centers."""
    faiss = _faiss()
    X = problem.one_hot
    centers = X[problem.seeds]
    kmeans = faiss.Kmeans(
        X.shape[1],
        problem.k,
        niter=1,
        min_points_per_centroid=1,
        max_points_per_centroid=len(X),
        check_input_data_for_NaNs=False,
    )
    return lambda: kmeans.train(X, init_centroids=centers)


def faiss_binary(problem: Problem, n_threads: int) -> Run:
    """Return the search of the nearest center in an IndexBinaryFlat."""
    faiss = _faiss()
    rows = problem.bits
    index = faiss.IndexBinaryFlat(8 * rows.shape[1])
    index.add(rows[problem.seeds])
    return lambda: index.search(rows, 1)


# ----------------------------------------------------------------------------------- numkong


def numkong_hamming(problem: Problem, n_threads: int) -> Run:
    """Return Hamming distances to packed centers and their argmin, by chunks that stay in cache."""
    import numkong

    rows = problem.bits
    centers = numkong.hammings_pack(rows[problem.seeds], dtype="uint1")
    labels = np.empty(len(rows), np.int64)
    chunk = max(64, min(4096, (1 << 18) // problem.k))
    starts = range(0, len(rows), chunk)

    def nearest(start: int) -> None:
        found = np.asarray(numkong.hammings_packed(rows[start : start + chunk], centers))
        labels[start : start + chunk] = found.argmin(axis=1)

    def run() -> None:
        if n_threads == 1:
            for start in starts:
                nearest(start)
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(nearest, starts))

    return run


# -------------------------------------------------------------------------- kmodes and StepMix


def kmodes_iteration(problem: Problem, n_threads: int) -> Run:
    """Return the first iteration of kmodes and its cost; it changes the state, so run it once.

    As in kmodes, the centers have become the modes of the rows nearest to the seeds.
    """
    from kmodes.kmodes import _k_modes_iter, labels_cost
    from kmodes.util.dissim import matching_dissim

    X = problem.table.astype(np.uint16)
    centers = X[problem.seeds]
    labels = np.array([np.argmin((centers != row).sum(axis=1)) for row in X])
    members = labels == np.arange(problem.k)[:, None]
    counts: list[list[dict[int, int]]] = [
        [defaultdict(int, _frequencies(column)) for column in X[inside].T] for inside in members
    ]
    for center, columns in zip(centers, counts, strict=True):
        center[:] = [max(column, key=column.__getitem__) for column in columns]

    def run() -> None:
        random_state = np.random.RandomState(0)
        state = _k_modes_iter(X, centers, counts, members, matching_dissim, random_state, None)
        labels_cost(X, state[0], matching_dissim, state[2], None)

    return run


def _frequencies(column: NDArray[np.uint16]) -> dict[int, int]:
    values, counts = np.unique(column, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def stepmix_iteration(problem: Problem, n_threads: int) -> Run:
    """Return one E-step and one M-step of a latent class model."""
    from sklearn.exceptions import ConvergenceWarning
    from stepmix.stepmix import StepMix

    kind = "binary" if problem.binary else "categorical"
    X = problem.table.astype(np.float64 if problem.binary else np.int64)
    model = StepMix(
        problem.k, measurement=kind, n_steps=1, max_iter=1, random_state=0, progress_bar=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)

    def run() -> None:
        _, log_responsibilities = model._e_step(X)
        model._m_step(X, np.exp(log_responsibilities))

    return run


def _cells(n_cells: int, most: int) -> Callable[[Problem], int]:
    return lambda problem: min(most, n_cells // problem.table.shape[1])


OURS = (
    Method("softmodes", iteration, "iteration", "nearest centers, counts, costs, next centers"),
    Method("softmodes pass", rows_pass, "pass", "nearest centers and counts"),
    Method("softmodes assignment", assignment, "assignment", "nearest centers"),
    Method("score pass", score_pass(False), "pass", "cheapest clusters by scores, and counts"),
    Method("score pass, late", score_pass(True), "pass", f"the same {LATE} soft rounds later"),
    Method(
        "soft round",
        soft_round(False),
        "soft round",
        "rows shared among clusters, counts and the next prices, from those of a first partition",
    ),
    Method("soft round, late", soft_round(True), "soft round", f"the same {LATE} rounds later"),
)

PEERS = (
    Method(
        "scikit-learn KMeans",
        sklearn_lloyd,
        "iteration",
        "its lloyd kernel on one-hot float32 rows, no relocation of empty clusters",
    ),
    Method(
        "scikit-learn MiniBatchKMeans",
        sklearn_minibatch,
        "iteration",
        "one pass over all rows by partial_fit in batches of max(1024, k) one-hot float32 rows; "
        "no labels computed, no center reassigned",
    ),
    Method(
        "faiss Kmeans",
        faiss_kmeans,
        "iteration",
        "train with niter=1 from given centers on the same one-hot rows, no check for NaN",
        blas_threads=True,
    ),
    Method(
        "faiss IndexBinaryFlat",
        faiss_binary,
        "assignment",
        "search of one neighbour among the centers, rows as bits",
        binary_only=True,
    ),
    Method(
        "numkong",
        numkong_hamming,
        "assignment",
        "hammings_packed and NumPy's argmin by chunks of rows, rows as bits",
        binary_only=True,
    ),
    Method(
        "kmodes",
        kmodes_iteration,
        "iteration",
        "its first iteration and cost on the first rows (at most 5,000 and a million cells), run "
        "once, scaled linearly to all rows; one thread",
        most_rows=_cells(10**6, 5000),
        least_rows_per_cluster=10,
        repeats=1,
    ),
    Method(
        "StepMix",
        stepmix_iteration,
        "iteration",
        "one E-step and one M-step on the first rows (at most 20,000 and four million cells), "
        "run at most twice, scaled linearly to all rows",
        most_rows=_cells(4 * 10**6, 20_000),
        least_rows_per_cluster=1,
        blas_threads=True,
        repeats=2,
    ),
)

METHODS = {method.name: method for method in (*OURS, *PEERS)}
