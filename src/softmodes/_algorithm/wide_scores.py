"""Counts -> prices of the features with sparse counts, of all at once.

Their values are rare in most clusters; see `WidePrices` for what prices are made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._rows.centers import ScoreCenters
from softmodes._rows.counts import Counts
from softmodes._rows.wide_counts import (
    ByValue,
    ValueCells,
    WideValues,
    no_values,
    starts_of,
)
from softmodes._rows.wide_prices import (
    WidePrices,
    WideRaised,
    before_rounding,
    most_between,
)

Floats: TypeAlias = NDArray[np.float64]
# Prices in fixed point, and what rounding has raised them by.
Fixed: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.int16]]


@dataclass(frozen=True, eq=False)
class WidePricing:
    """How prices of features with sparse counts are made; see `Pricing`."""

    latent: bool
    totals: Counts
    feature_weight: Floats | None
    n_threads: int

    def real(self, tally: Counts, prior: float, kept: KeptPrices | None) -> RealPrices:
        """Return the prices that follow from counts, before they are rounded."""
        if not tally.sparse:
            return _no_prices(tally.n_clusters)
        values = tally.wide_values
        counts, by_value = values.counts, values.by_value(self.n_threads)
        shape = len(counts), counts.n_clusters
        default, observed = np.empty(shape), np.empty(shape, np.int64)
        bonus = np.empty(len(by_value.numbers))
        _kernels.wide_prices(
            values.native,
            by_value.cells.native,
            by_value.numbers,
            self.latent,
            self._positive_shares if self.latent else np.empty(0),
            prior,
            self._weight,
            default,
            bonus,
            observed,
            self.n_threads,
        )
        real = RealPrices(values, default, self._shared, ByValue(by_value.cells, bonus))
        real = real.without(self._weightless) if self.latent else self._shown(real, observed, kept)
        return real if kept is None else kept.restored(real)

    @cached_property
    def _values(self) -> WideValues:
        return self.totals.wide_values

    @cached_property
    def shares(self) -> Floats:
        """Shares of all values in the table."""
        return _kernels.value_shares(self._values.sums, self._values.starts, self.n_threads)

    @cached_property
    def _positive_shares(self) -> Floats:
        return np.where(self.shares > 0, self.shares, 1.0)

    @cached_property
    def _weightless(self) -> NDArray[np.bool_]:
        weightless: NDArray[np.bool_] = self.shares == 0
        return weightless

    @cached_property
    def _weight(self) -> Floats:
        features = self._values.counts.features
        if self.feature_weight is None:
            return np.ones(len(features))
        return np.ascontiguousarray(self.feature_weight[features], np.float64)

    @cached_property
    def _shared(self) -> Floats:
        """What values cost in all clusters: the rarer in the table, the more."""
        if not self.latent:
            return np.zeros(int(self._values.starts[-1]))
        bits = _kernels.portable_log2(self._positive_shares, self.n_threads)
        np.negative(bits, out=bits)
        if self.feature_weight is not None:
            bits *= np.repeat(self._weight, self._values.n_values)
        return bits

    def fixed_shared(self, resolution: int) -> Fixed:
        """Return what values cost in all clusters in fixed point; many rounds have it in common."""
        if resolution not in self._fixed_shared:
            self._fixed_shared[resolution] = fixed(self._shared, resolution)
        return self._fixed_shared[resolution]

    @cached_property
    def _fixed_shared(self) -> dict[int, Fixed]:
        return {}

    def _shown(
        self, real: RealPrices, observed: NDArray[np.int64], kept: KeptPrices | None
    ) -> RealPrices:
        """Return prices in which clusters without an observed value have the shares of the table.

        Those of empty clusters that keep their prices need none.
        """
        unobserved = observed == 0
        if kept is not None:
            unobserved[:, kept.clusters] &= ~kept.has(self._values.counts.features)[:, None]
        default, parts = real.default.copy(), []
        for f in np.flatnonzero(unobserved.any(axis=1)).tolist():
            first, end = self._values.starts[f : f + 2].tolist()
            shares, clusters = self.shares[first:end], np.flatnonzero(unobserved[f])
            seen = np.flatnonzero(shares)
            if not len(seen):
                continue
            squares = _kernels.exact_sum(shares * shares)
            default[f, clusters] = self._weight[f] * (1.0 + squares)
            more = np.tile(self._weight[f] * (2.0 * shares[seen]), len(clusters))
            value = np.tile(first + seen, len(clusters))
            parts.append((value, np.repeat(clusters, len(seen)), more))
        if not parts:
            return real
        value, cluster, number = map(np.concatenate, zip(*parts, strict=True))
        all_ = np.ones(len(real.bonus.numbers), bool)
        return replace(real, default=default).with_bonuses(all_, value, cluster, number)


@dataclass(frozen=True, eq=False)
class RealPrices:
    """Prices of features with sparse counts before they are rounded; see `WidePrices`."""

    values: WideValues  # of which they are made
    default: Floats
    shared: Floats
    bonus: ByValue

    @cached_property
    def spans(self) -> Floats:
        """How much dearer a cell may be in one cluster than in another, as the core bounds it."""
        edges = self.bonus.cells.indptr[self.values.starts]
        most: Floats = most_between(self.bonus.numbers, edges)
        spread: Floats = np.ptp(self.default, axis=1)
        return 2.0 * spread + most

    @cached_property
    def dearest(self) -> Floats:
        """What no value of each feature costs more than."""
        dearest: Floats = self.default.max(axis=1) + most_between(self.shared, self.values.starts)
        return dearest

    def without(self, weightless: NDArray[np.bool_]) -> RealPrices:
        """Return prices in which some values cost the same in every cluster: nothing.

        Those that have no weight in the table, as unseen ones do.
        """
        if not weightless.any():
            return self
        values, k = np.flatnonzero(weightless), self.default.shape[1]
        feature = np.searchsorted(self.values.starts, values, side="right") - 1
        return self.with_bonuses(
            ~weightless[self.bonus.cells.values],
            np.repeat(values, k),
            np.tile(np.arange(k), len(values)),
            self.default[feature].ravel(),
        )

    def with_bonuses(
        self, kept: NDArray[np.bool_], value: NDArray[Any], cluster: NDArray[Any], number: Floats
    ) -> RealPrices:
        """Return prices with some of the bonuses, and others beside them."""
        cells, k = self.bonus.cells, self.default.shape[1]
        values = np.concatenate([cells.values[kept], value])
        clusters = np.concatenate([cells.clusters[kept], cluster]).astype(np.int32)
        numbers = np.concatenate([self.bonus.numbers[kept], number])
        # Takes little time where two lists were joined.
        order = np.argsort(values * np.int64(k) + clusters, kind="stable")
        indptr = starts_of(np.bincount(values, minlength=len(self.shared)))
        return replace(self, bonus=ByValue(ValueCells(indptr, clusters[order], k), numbers[order]))

    def fixed(
        self, resolution: int, fixed_shared: Fixed, n_threads: int
    ) -> tuple[WidePrices, WideRaised]:
        """Return the prices in fixed point, and what rounding has raised them by."""
        if not len(self.default):
            return self._nothing_fixed
        return self._fixed(resolution, fixed_shared, n_threads)

    @cached_property
    def _nothing_fixed(self) -> tuple[WidePrices, WideRaised]:
        """The prices of no feature, at any resolution."""
        return self._fixed(0, fixed(self.shared, 0), 1)

    def _fixed(
        self, resolution: int, fixed_shared: Fixed, n_threads: int
    ) -> tuple[WidePrices, WideRaised]:
        default, default_raised = fixed(self.default, resolution)
        shared, shared_raised = fixed_shared
        cells, numbers = self.bonus.cells, self.bonus.numbers
        bonus = np.empty(len(numbers), np.uint32)
        bonus_raised = np.empty(len(bonus), np.int16)
        _kernels.fixed_bonuses(
            self.values.native,
            cells.native,
            numbers,
            default,
            shared,
            resolution,
            bonus,
            bonus_raised,
            n_threads,
        )
        prices = WidePrices(
            self.values.counts.features,
            self.values.starts,
            default,
            shared,
            cells,
            bonus,
        )
        return prices, WideRaised(prices, default_raised, shared_raised, bonus_raised)


@cache
def _no_prices(n_clusters: int) -> RealPrices:
    """Return the prices of no feature, which is what most tables have: made once."""
    none = np.empty(0)
    cells = ValueCells(np.zeros(1, np.int64), np.empty(0, np.int32), n_clusters)
    bonus = ByValue(cells, none)
    return RealPrices(no_values(n_clusters), np.empty((0, n_clusters)), none, bonus)


@dataclass(frozen=True, eq=False)
class KeptPrices:
    """Empty clusters, and their prices of the round before."""

    clusters: NDArray[np.intp]
    scores: ScoreCenters

    @classmethod
    def of(cls, before: ScoreCenters | None, sizes: NDArray[np.int64]) -> KeptPrices | None:
        """Return what empty clusters keep, if there are any."""
        if before is None or sizes.all():
            return None
        return cls(np.flatnonzero(sizes == 0), before)

    @cached_property
    def prices(self) -> Floats:
        """Prices before they were rounded."""
        raised = None if self.scores.raised is None else self.scores.raised.prices[self.clusters]
        return self._exact(self.scores.prices[self.clusters], raised)

    @property
    def base(self) -> Floats:
        """Bases before they were rounded."""
        raised = None if self.scores.raised is None else self.scores.raised.base[self.clusters]
        return self._exact(self.scores.base[self.clusters], raised)

    def has(self, features: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which features had sparse prices."""
        return np.isin(features, self._wide.features)

    def restored(self, real: RealPrices) -> RealPrices:
        """Return sparse prices with those of empty clusters as they were."""
        old, raised = self._wide, self.scores.raised
        at = np.searchsorted(real.values.counts.features, old.features)
        if not len(at):
            return real
        default = real.default.copy()
        default[np.ix_(at, self.clusters)] = self._exact(
            old.default[:, self.clusters], raised and raised.wide.default[:, self.clusters]
        )
        is_kept = np.zeros(len(self.scores), bool)
        is_kept[self.clusters] = True
        has = np.repeat(self.has(real.values.counts.features), real.values.n_values)
        some = is_kept[old.cells.clusters]
        value = old.cells.values[some]
        # The same values among those of all features with sparse counts.
        value += np.repeat(real.values.starts[at] - old.starts[:-1], np.diff(old.starts))[value]
        bonus = self._exact(old.bonus[some], raised and raised.wide.bonus[some])
        cells = real.bonus.cells
        goes = is_kept[cells.clusters] & has[cells.values]
        restored = replace(real, default=default)
        return restored.with_bonuses(~goes, value, old.cells.clusters[some], bonus)

    @cached_property
    def _wide(self) -> WidePrices:
        """Sparse prices: where rounding is known, also of features whose prices are dense."""
        return self.scores.wide if self.scores.raised is None else self.scores.raised.wide.prices

    def _exact(self, prices: NDArray[np.uint32], raised: Any) -> Floats:
        """Return what prices were before they were rounded, as far as it is known."""
        return np.ldexp(before_rounding(prices, raised), -self.scores.resolution)


def fixed(prices: Floats, resolution: int) -> Fixed:
    """Return prices in fixed point, and what rounding has raised them by."""
    whole, raised = np.empty(prices.shape, np.uint32), np.empty(prices.shape, np.int16)
    _kernels.fixed_numbers(prices.ravel(), resolution, whole.reshape(-1), raised.reshape(-1))
    return whole, raised
