"""Fits of random tables against the naive reference, across containers, threads and kernels."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fuzz import naive
from fuzz.containers import VALUES, Column, Table, random_container, random_table
from fuzz.refusals import check_refusal
from fuzz.runner import Check, require
from softmodes import KModes, SoftModes, _kernels

_INITS = ("d1-greedy", "d1-parallel", "d1", "random", "huang", "cao")


def prepare(folder: Path) -> Check:
    """Return the check of one case."""
    return check


def check(r: random.Random) -> None:
    """Fit one random table, or one that must be refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = random_table(r)
        if r.random() < 0.12:
            check_refusal(r, table)
            return
        case = _Case.drawn(r, table)
        container, X = random_container(r, table)
        model = case.fit(r, X)
        centers = case.center_codes(model)
        case.check_fit(model, centers, container)
        case.check_use(r, model, centers, table, X)
        if r.random() < 0.35:
            case.check_twin(r, model, centers, container)
        if r.random() < 0.03:
            has_values = any(case.coded.values)
            require(len(model.profile()) > 0 or not has_values, f"profile of {container} is empty")
            require(model.summary(), f"summary of {container} is empty")


@dataclass(frozen=True, eq=False)
class _Case:
    """A table in the reference's codes, and the parameters of a fit."""

    table: Table
    coded: naive.Coded
    estimator: type
    params: dict[str, Any]
    given: NDArray[np.int64] | None  # first centers in codes, if they are given
    sample_weight: NDArray[Any] | None

    @classmethod
    def drawn(cls, r: random.Random, table: Table) -> _Case:
        """Draw the parameters."""
        missing = r.choice(("category", "ignore", "category" if table.has_missing else "error"))
        coded = naive.encode(table.columns, missing)
        n, d = coded.codes.shape
        k = r.choice((1, n, r.randint(1, n), min(n, r.randint(1, 5)))) if n < 100 else 3
        params = {
            "n_clusters": k,
            "missing": missing,
            "random_state": r.randrange(2**64),
            "max_iter": r.choice((1, 3, 8)),
            "n_init": r.choice((1, 1, 2)),
            "init": r.choice(_INITS),
        }
        estimator = r.choice((SoftModes, SoftModes, KModes))
        if estimator is SoftModes:
            params["t"] = r.choice((1.0, math.inf, 3.0, 2.5))
            params["select"] = r.choice(("best", "last"))
            params["patience"] = r.choice((1, 4))
            params["refine"] = r.choice((None, None, "gini", "latent"))
        if r.random() < 0.3:
            weights = [r.randrange(9) / 8 for _ in range(d - 1)]
            params["feature_weight"] = r.sample([*weights, 1.0], d)
        given = None
        if r.random() < 0.4:
            given = np.array([[r.randrange(s) for s in coded.sizes] for _ in range(k)], np.int64)
            given = given if _can_be_given(coded, given) else None
        if given is not None:
            params |= {"init": _values_of(table, coded, given), "n_init": 1}
            if estimator is SoftModes:
                params |= {"t": r.choice((1.0, math.inf)), "select": "last"}
        return cls(table, coded, estimator, params, given, _weights(r, n, given is not None))

    # ---------------------------------------------------------------------------- the answers

    def fit(self, r: random.Random, X: Any) -> Any:
        """Fit on one or two threads, with any instruction set of this CPU."""
        _kernels.use_instruction_set(r.choice(_kernels.instruction_sets()))
        model = self.estimator(n_jobs=r.choice((1, 1, 1, 2)), **self.params)
        return model.fit(X, sample_weight=self.sample_weight)

    @property
    def refine(self) -> str | None:
        """How the fit ends."""
        return self.params.get("refine") if self.estimator is SoftModes else None

    @property
    def weight(self) -> NDArray[Any]:
        """Weights of the rows."""
        ones = np.ones(self.table.n_rows, np.int64)
        return ones if self.sample_weight is None else self.sample_weight

    @property
    def feature_weight(self) -> NDArray[np.float64]:
        """Weights of the features."""
        given = self.params.get("feature_weight")
        return np.ones(len(self.table.columns)) if given is None else np.array(given)

    def check_fit(self, model: Any, centers: NDArray[np.int64], container: str) -> None:
        """Compare everything that a fit publishes with the reference."""
        coded, k = self.coded, self.params["n_clusters"]
        for j, values in enumerate(coded.values):
            self._check_categories(j, model.categories_[j], values)
        found = naive.distances(coded, centers, self.feature_weight)
        rows = np.arange(len(found))
        labels = model.labels_
        require(labels.min() >= 0 and labels.max() < k, "labels_ out of range")
        if self.refine is None:
            require((found[rows, labels] == found.min(axis=1)).all(), f"labels_ of {container}")
        cost = found[rows, labels] @ self.weight
        require(_close(model.cost_, cost), f"cost_={model.cost_} is not {cost}")
        expected = naive.expected_cost(coded, labels, k, self.weight, self.feature_weight)
        require(
            _close(model.expected_cost_, expected),
            f"expected_cost_={model.expected_cost_} is not {expected}",
        )
        sizes = np.bincount(labels, self.weight, k)
        require(_all_close(model.cluster_sizes_, sizes), "cluster_sizes_ are wrong")
        for j, table in enumerate(self.counts(labels)):
            same = _all_close(_dense(model.cluster_counts_[j]), table)
            require(same, f"cluster_counts_[{j}] of kind {self.table.kinds[j]}")
        if self.refine is not None:
            self._check_finish(model, centers)
        else:
            self._check_history(model)
        if self.given is None:
            require((np.diff(sizes) <= 1e-9).all(), "clusters are not numbered by size")
        elif self.refine is None:
            self._check_run(model, centers)

    def _check_finish(self, model: Any, centers: NDArray[np.int64]) -> None:
        """Check what holds for refined fits: modes, and an objective that never rises."""
        k, labels = self.params["n_clusters"], model.labels_
        for j, table in enumerate(self.counts(labels)):
            seen = np.flatnonzero(table.sum(axis=1))
            modes = table[seen, centers[seen, j]] == table[seen].max(axis=1)
            require(modes.all(), f"cluster_centers_[:, {j}] are no modes")
        history = model.history_
        require(history[model.best_round_].stage == self.refine, "stage of best_round_")
        own = np.array([h.objective for h in history if h.stage == self.refine])
        require(_close(model.objective_, own.min()), "objective_ is not the lowest")
        if self.refine == "latent":
            rounding = 2.0**-18 * self.weight.sum()  # of logarithms
            for some in _one_after_the_other(history, "latent"):
                rises = np.diff(some) > 1e-5 * np.abs(some[1:]) + rounding
                require(not rises.any(), f"the latent objective rises: {some.tolist()}")
            return
        require((np.diff(own[:-1]) < 0).all(), f"gini rounds do not lower the cost: {own.tolist()}")
        if model.converged_:
            again = naive.nearest_shares(self.coded, labels, k, self.weight, self.feature_weight)
            cost = naive.expected_cost(self.coded, again, k, self.weight, self.feature_weight)
            lower = model.expected_cost_ - cost
            require(lower <= 1e-6 * model.expected_cost_ + 1e-9, f"a round of gini gains {lower}")

    def counts(self, labels: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the counts of each feature."""
        k, d = self.params["n_clusters"], len(self.table.columns)
        return [naive.counts(self.coded, labels, k, j, self.weight) for j in range(d)]

    def center_codes(self, model: Any) -> NDArray[np.int64]:
        """Return a model's centers in the reference's codes."""
        centers = model.cluster_centers_
        return np.array([[self.coded.code(j, v) for j, v in enumerate(row)] for row in centers])

    def _check_categories(self, j: int, found: NDArray[Any], values: list[naive.Key]) -> None:
        keys = [naive.key(value) for value in found]
        expected = [*values, *[None] * (self.coded.sizes[j] - len(values))]
        require(keys == expected, f"categories_[{j}] of kind {self.table.kinds[j]}")

    def _check_history(self, model: Any) -> None:
        history = model.history_
        require(model.n_iter_ == len(history) <= self.params["max_iter"], "n_iter_ is wrong")
        costs = [round_.expected_cost for round_ in history]
        best = costs.index(min(costs))
        last = self.params.get("select", "last") == "last"
        require(model.best_round_ == (len(history) - 1 if last else best), "best_round_ is wrong")
        require(history[model.best_round_].cost == model.cost_, "cost_ is not that of the round")

    def _check_run(self, model: Any, centers: NDArray[np.int64]) -> None:
        """Compare a whole run from given centers, draws and ties included."""
        assert self.given is not None
        t = self.params.get("t", math.inf)
        seed, rounds = self.params["random_state"], self.params["max_iter"]
        ran = naive.run(self.coded, self.given, t, seed, self.weight, self.feature_weight, rounds)
        require((model.labels_ == ran.labels).all(), "labels_ of a run from given centers")
        require((centers == ran.centers).all(), "cluster_centers_ of a run from given centers")
        require(model.converged_ == ran.converged, "converged_ is wrong")
        found = [(h.cost, h.expected_cost, h.clusters, h.moved) for h in model.history_]
        same = len(found) == len(ran.history) and _all_close(np.array(found), np.array(ran.history))
        require(same, "history_ of a run from given centers")

    # ------------------------------------------------------------------------------ other rows

    def check_use(
        self, r: random.Random, model: Any, centers: NDArray[np.int64], table: Table, X: Any
    ) -> None:
        """Compare predict, transform and score, of the table itself and of one with new values."""
        if r.random() < 0.4 and table.n_rows < 100:
            pairs = zip(table.kinds, table.columns, strict=True)
            table = Table(table.kinds, [_changed(r, *pair) for pair in pairs])
            X = random_container(r, table)[1]
        missing = self.params["missing"]
        if missing == "error" and table.has_missing:
            return
        rows = naive.encode_more(table.columns, self.coded, missing)
        labels, found = model.predict(X), model.transform(X)
        if self.refine is None:
            expected = naive.distances(rows, centers, self.feature_weight)
            require((found == expected).all(), "transform is wrong")
        nearest = found.min(axis=1)
        require((found[np.arange(len(found)), labels] == nearest).all(), "predict is wrong")
        if table is self.table:
            require((labels == model.labels_).all(), "predict differs from labels_")
        self._check_certainty(r, model, X, found, labels)
        if r.random() < 0.2 and table.n_rows < 100:
            fitted = self.counts(model.labels_)
            expected = naive.score(fitted, centers, rows, labels, self.feature_weight)
            got = model.score(X)
            require(_close(got, expected), f"score is {got}, not {expected}")

    def _check_certainty(
        self, r: random.Random, model: Any, X: Any, found: NDArray[Any], labels: NDArray[Any]
    ) -> None:
        """Compare margin, predict_proba and score_samples with what transform tells."""
        require(hasattr(model, "predict_proba") == (self.refine == "latent"), "predict_proba")
        if r.random() < 0.5:
            margin = model.margin(X)
            require(((margin >= 0) & (margin <= 1)).all(), "margin is no share")
        if self.refine != "latent" or r.random() < 0.5:
            return
        shares = model.predict_proba(X)
        require((shares.sum(axis=1) == 1).all(), "predict_proba does not sum to 1")
        rows = np.arange(len(shares))
        require((shares[rows, labels] == shares.max(axis=1)).all(), "predict_proba differs")
        powers = np.exp2(-(found - found.min(axis=1, keepdims=True)))
        exact = powers / powers.sum(axis=1, keepdims=True)
        require((np.abs(shares - exact) < len(powers[0]) * 2.0**-15).all(), "predict_proba")
        logs = (np.log2(powers.sum(axis=1)) - found.min(axis=1)) * math.log(2)
        left_out = len(powers[0]) * 2.0**-20  # clusters that are 20 bits behind
        close = np.abs(model.score_samples(X) - logs) <= 1e-5 + left_out + 1e-9 * np.abs(logs)
        require(close.all(), "score_samples")

    def check_twin(
        self, r: random.Random, model: Any, centers: NDArray[np.int64], container: str
    ) -> None:
        """Compare with the same fit of the same cells in another container."""
        other, X = random_container(r, self.table)
        twin = self.fit(r, X)
        pair = f"{container} and {other}"
        require((twin.labels_ == model.labels_).all(), f"labels_ of {pair} differ")
        require(twin.history_ == model.history_, f"history_ of {pair} differs")
        same = (self.center_codes(twin) == centers).all()
        require(same, f"cluster_centers_ of {pair} differ")


def _can_be_given(coded: naive.Coded, given: NDArray[np.int64]) -> bool:
    """Whether every column has a value to give: one that is all missing and ignored has none."""
    return bool((given != coded.ignored).all())


def _values_of(table: Table, coded: naive.Coded, given: NDArray[np.int64]) -> list[list[Any]]:
    """Return codes as values, each as it occurs in some cell."""
    cells: list[dict[int, Any]] = [
        dict(zip(coded.codes[:, j].tolist(), column, strict=True))
        for j, column in enumerate(table.columns)
    ]
    return [[cells[j][code] for j, code in enumerate(row)] for row in given.tolist()]


def _weights(r: random.Random, n: int, whole: bool) -> NDArray[Any] | None:
    if r.random() < 0.6:
        return None
    draws: list[Callable[[], float]] = [lambda: r.randrange(4)]
    if not whole:
        draws += [lambda: r.randrange(1, 9) / 8, r.random]
    draw = r.choice(draws)
    weights = np.array([draw() for _ in range(n)])
    return weights if weights.any() else None


def _changed(r: random.Random, kind: str, column: Column) -> Column:
    """Return other cells: mostly those of the column, at times a new value or none."""
    cells = r.choices(column, k=len(column))
    if r.random() < 0.3:
        cells[r.randrange(len(cells))] = VALUES[kind](r)
    if r.random() < 0.15:
        cells[r.randrange(len(cells))] = None
    return cells


def _one_after_the_other(history: list[Any], stage: str) -> Iterator[NDArray[np.float64]]:
    """Yield the objectives of rounds of a stage, of each time that they follow one another."""
    for name, rounds in groupby(history, key=lambda round_: round_.stage):
        if name == stage:
            yield np.array([round_.objective for round_ in rounds])


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def _all_close(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return bool((np.abs(a - b) <= 1e-9 * (1 + np.abs(b))).all())


def _dense(counts: Any) -> NDArray[Any]:
    return counts.toarray() if sparse.issparse(counts) else counts
