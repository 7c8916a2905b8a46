"""Counts -> scores: what each value costs in each cluster, in fixed point.

Prices are rounded here, once, so that sums of them are exact wherever they are made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from softmodes import _kernels
from softmodes._rows.centers import (
    LINE_LIMIT,
    MOST_SHARED_RESOLUTION,
    TOTAL_LIMIT,
    Raised,
    ScoreCenters,
    SparsePrices,
    SparseRaised,
    ValueTotals,
    before_rounding,
    features_at_once,
    price_offsets,
)
from softmodes._rows.counts import Counts, row_sums
from softmodes._rows.tally import MEMBERSHIP_BITS, SoftTally

Rule: TypeAlias = Literal["gini", "latent"]
Floats: TypeAlias = NDArray[np.float64]

# Bits behind the point of a price, at most. A finish by "gini" takes what fits: its rounds lower
# the exact cost until hardly anything is left to gain. With 10 bits one table in a hundred would
# stop early, by up to a millionth of its cost.
FINEST_RESOLUTION = 16
_PRICE_LIMIT = 1 << 32


@dataclass(frozen=True, eq=False)
class Pricing:
    """How prices are made of counts.

    Attributes
    ----------
    rule
        "gini": the squared distance to the shares of the cluster, as in k-means on one-hot rows.
        "latent": minus the binary logarithm of the shares, with a prior.
    totals
        Counts of all rows as one cluster.
    total_weight
        That of all rows.
    prior
        Weight of the rows that are added to each cluster, spread as the whole table is.
    feature_weight
        What the prices of each feature are multiplied by.
    most_resolution
        Bits behind the point of a price, at most.
    """

    rule: Rule
    totals: Counts
    total_weight: int
    prior: float
    feature_weight: Floats | None = None
    most_resolution: int = MOST_SHARED_RESOLUTION
    n_threads: int = 1

    def scores(
        self,
        counts: Counts,
        sizes: NDArray[np.int64],
        scale: float,
        before: ScoreCenters | None = None,
    ) -> ScoreCenters:
        """Return the prices that follow from counts; a row of weight 1 counts `scale` in them.

        An empty cluster keeps the prices that it had `before`. Without these it takes the shares of
        the table, as a column does that was observed nowhere in a cluster.
        """
        kept = _Kept.of(before, sizes)
        source = _kernels.PriceSource(
            counts.native_dense(),
            self.rule == "latent",
            self.totals.dense[0],
            self.prior * scale,
            self.feature_weight,
        )
        wide = {j: self._wide(counts, j, scale, kept) for j in counts.layout.sparse_features}
        base = self._base(sizes, kept)
        resolution = self._resolution(self._spans(source, kept), wide, base, kept)
        offsets = self._slots.offsets
        prices = np.empty((counts.n_clusters, int(offsets[-1])), np.uint32)
        raised = np.empty(prices.shape, np.int16) if self.rule == "latent" else None
        _kernels.fixed_prices(source, resolution, offsets, prices, raised, self.n_threads)
        fixed, sparse_raised = {}, {}
        for j, real in wide.items():
            fixed[j], sparse_raised[j] = real.fixed(resolution)
            if offsets[j] < offsets[j + 1]:
                some = slice(offsets[j], offsets[j + 1])
                prices[:, some] = fixed[j].dense()
                if raised is not None:
                    raised[:, some] = sparse_raised[j].dense(fixed[j])
                del fixed[j], sparse_raised[j]
        if kept is not None:
            prices[kept.clusters] = _fixed(kept.prices, resolution)[0]
            if raised is not None:
                raised[kept.clusters] = _fixed(kept.prices, resolution)[1]
        fixed_base, base_raised = _fixed(base, resolution)
        return ScoreCenters(
            prices,
            fixed_base,
            offsets,
            counts.n_values,
            fixed,
            resolution,
            None if raised is None else Raised(raised, base_raised, sparse_raised),
        )

    def log_posterior(self, scores: ScoreCenters, tally: SoftTally) -> float:
        """Return the log-likelihood of the rows and that of the prior, in bits.

        That is what expectation and maximisation raise, and not the likelihood alone. Shares that
        are rounded do not sum to one: what rounding has raised the prices by is given back, or the
        objective would waver by more than it changes near its end.
        """
        given_back = self._raised(scores, tally) - self.prior * self._prior_price(scores)
        return self._by_prices(scores, tally) + math.ldexp(given_back, -scores.resolution)

    def log_likelihood(self, scores: ScoreCenters, tally: SoftTally) -> float:
        """Return the log-likelihood of the rows alone, in bits."""
        given_back = self._raised(scores, tally)
        return self._by_prices(scores, tally) + math.ldexp(given_back, -scores.resolution)

    def _by_prices(self, scores: ScoreCenters, tally: SoftTally) -> float:
        """Return the log-likelihood of the rows by prices as they were rounded."""
        floor = scores.floor(self._value_totals, self.total_weight)
        return tally.log_likelihood(floor, scores.resolution)

    def _raised(self, scores: ScoreCenters, tally: SoftTally) -> float:
        """Return what rounding has raised the prices of all cells by, in units of prices."""
        raised, counts = scores.raised, tally.counts
        assert raised is not None
        # The last bits of large counts are left out: a sum stays below 2^63.
        n_cells = (self.total_weight << MEMBERSHIP_BITS) * (len(self.totals.n_values) + 1)
        less = max(0, n_cells.bit_length() + Raised.BITS - 63)
        sum_ = int((tally.cluster_sizes >> less) @ raised.base.astype(np.int64))
        sum_ += _sum_of_products(
            self._slots.in_cells(counts.dense) >> less, self._slots.in_columns(raised.prices)
        )
        for j in counts.sparse:
            values = counts.sparse_values(j)
            if less:
                shifted = values.data >> less, values.indices, values.indptr
                values = csr_array(shifted, shape=values.shape)
            if j in raised.sparse:
                sum_ += raised.sparse[j].sum_over(scores.sparse[j], values)
            else:
                some = slice(scores.offsets[j], scores.offsets[j + 1])
                sum_ += _sum_of_products(values.toarray(), raised.prices[:, some])
        return math.ldexp(float(sum_), less - MEMBERSHIP_BITS - Raised.BITS)

    def _prior_price(self, scores: ScoreCenters) -> float:
        """Return what a row of the prior costs in all clusters, in units of prices."""
        assert scores.raised is not None
        shares, wide_shares = self._shares
        terms = (shares * scores.raised.exact_sums(scores)).tolist()
        for j, prices in scores.sparse.items():
            exact = scores.raised.sparse[j].exact_sums(prices)
            terms += (wide_shares[j] * exact).tolist()
        return math.fsum(terms)

    @cached_property
    def _slots(self) -> _Slots:
        return _Slots.of(self.totals)

    @cached_property
    def _value_totals(self) -> ValueTotals:
        return ValueTotals.of(self.totals)

    @cached_property
    def _shares(self) -> tuple[Floats, dict[int, Floats]]:
        """Shares of all values in the table: in the order of prices, and of sparse prices."""
        totals, offsets = self._value_totals, self._slots.offsets
        some = np.diff(offsets) > 0
        sums = np.add.reduceat(totals.dense, offsets[:-1][some]) if some.any() else np.zeros(0)
        observed = np.repeat(np.maximum(sums, 1), np.diff(offsets)[some])
        return totals.dense / observed, {
            j: counts / max(int(counts.sum()), 1) for j, counts in totals.sparse.items()
        }

    @cached_property
    def _wide_shares(self) -> dict[int, Floats]:
        """Shares of the values of features whose counts are sparse."""
        counts = {j: self.totals.feature(j)[0] for j in self.totals.sparse}
        return {j: some / max(int(some.sum()), 1) for j, some in counts.items()}

    def _base(self, sizes: NDArray[np.int64], kept: _Kept | None) -> Floats:
        """Return what a row costs in a cluster before its cells: the rarer the cluster, the more.

        A cluster that was always empty counts as one unit.
        """
        if self.rule == "gini":
            return np.zeros(len(sizes))
        total = float(sum(sizes.tolist()))
        shares = np.maximum(sizes, 1).astype(np.float64) / total
        base = np.maximum(0.0, -_kernels.portable_log2(shares))
        if kept is not None:
            base[kept.clusters] = kept.base
        return base

    def _spans(self, source: _kernels.PriceSource, kept: _Kept | None) -> Floats:
        """Return how much dearer a value of each dense feature may be than in another cluster."""
        slots = self._slots
        least, dearest = np.zeros(self.totals.layout.n_cells), np.zeros(self.totals.layout.n_cells)
        _kernels.price_ranges(source, least, dearest, self.n_threads)
        least, dearest = least[slots.cells], dearest[slots.cells]
        if kept is not None:
            least = np.minimum(least, kept.prices[:, slots.columns].min(axis=0))
            dearest = np.maximum(dearest, kept.prices[:, slots.columns].max(axis=0))
        if not len(slots.starts):
            return np.zeros(0)
        spans: Floats = np.maximum.reduceat(dearest - least, slots.starts)
        return spans

    def _resolution(
        self, spans: Floats, wide: dict[int, _WidePrices], base: Floats, kept: _Kept | None
    ) -> int:
        """Return the most bits behind the point with which sums of prices stay in their limits.

        Only what a value costs above the least over the clusters is summed.
        """
        wide_spans = [real.span for real in wide.values()]
        largest = [real.dearest for real in wide.values()]
        if kept is not None:
            # What is kept of features whose counts are sparse, but not their prices.
            wide_spans += [float(kept.prices[:, some].max()) for some in self._slots.dense_prices]
        line = max([float((spans * self._slots.at_once).max(initial=0.0)), *wide_spans])
        total = math.fsum([*spans.tolist(), *wide_spans, float(np.ptp(base))])
        dearest = max([total, float(base.max()), *largest])
        n_terms = 3 * len(self.totals.n_values) + 2
        resolution = self.most_resolution
        # Each rounded price may be one unit dearer than the real one.
        while (
            math.ldexp(line, resolution) + 4 >= LINE_LIMIT
            or math.ldexp(total, resolution) + n_terms >= TOTAL_LIMIT
            or math.ldexp(dearest, resolution) + 3 >= _PRICE_LIMIT
        ):
            resolution -= 1
        return resolution

    def _wide(self, counts: Counts, j: int, scale: float, kept: _Kept | None) -> _WidePrices:
        """Return the prices of a feature with sparse counts: values are rare in most clusters."""
        found = counts.sparse_values(j)
        by_value = found.tocsc()
        by_value.sort_indices()
        observed = row_sums(found).astype(np.float64)
        shares = self._wide_shares[j]
        value = np.repeat(np.arange(len(shares)), np.diff(by_value.indptr))
        cells = _Cells(value, by_value.indices.astype(np.int64), np.zeros(0))
        if self.rule == "gini":
            prices = self._wide_gini(counts, j, by_value.data, observed, shares, cells)
        else:
            prior = self.prior * scale
            prices = self._wide_latent(by_value.data, observed, shares, cells, prior)
        weight = 1.0 if self.feature_weight is None else float(self.feature_weight[j])
        return prices.times(weight).keeping(kept, j)

    def _wide_gini(
        self,
        counts: Counts,
        j: int,
        data: NDArray[Any],
        observed: Floats,
        shares: Floats,
        at: _Cells,
    ) -> _WidePrices:
        default = 1.0 + _kernels.squared_shares(counts.native_feature(j))
        cells = at.filled(2.0 * data / observed[at.cluster])
        unobserved = np.flatnonzero(observed == 0)
        if len(unobserved) and shares.any():
            default[unobserved] = 1.0 + math.fsum((shares * shares).tolist())
            seen = np.flatnonzero(shares)
            cells = cells.joined(
                _Cells(
                    np.tile(seen, len(unobserved)),
                    np.repeat(unobserved, len(seen)),
                    np.tile(2.0 * shares[seen], len(unobserved)),
                )
            )
        return _WidePrices(default, np.zeros(len(shares)), cells)

    def _wide_latent(
        self, data: NDArray[Any], observed: Floats, shares: Floats, at: _Cells, prior: float
    ) -> _WidePrices:
        weightless = np.flatnonzero(shares == 0)
        shares = np.where(shares > 0, shares, 1.0)
        default = _kernels.portable_log2((observed + prior) / prior)
        cells = at.filled(_kernels.portable_log2(data / (prior * shares[at.value]) + 1.0))
        if len(weightless):  # they cost the same in every cluster, as unseen ones do: nothing
            k = len(default)
            cells = cells.where(~np.isin(cells.value, weightless)).joined(
                _Cells(
                    np.repeat(weightless, k),
                    np.tile(np.arange(k), len(weightless)),
                    np.tile(default, len(weightless)),
                )
            )
        return _WidePrices(default, -_kernels.portable_log2(shares), cells)


@dataclass(frozen=True, eq=False)
class _Slots:
    """Where values lie in dense counts and among prices: one entry for each value with both."""

    offsets: NDArray[np.int64]  # of prices, by feature
    cells: NDArray[np.intp]
    columns: NDArray[np.int64]
    starts: NDArray[np.intp]  # of each feature among the two above
    at_once: Floats  # by feature: how many lie together
    dense_prices: tuple[slice, ...]  # of features whose counts are sparse

    def in_cells(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return the columns of dense counts that belong to values."""
        return counts if len(self.cells) == counts.shape[1] else counts[:, self.cells]

    def in_columns(self, prices: NDArray[Any]) -> NDArray[Any]:
        """Return the prices of the same values."""
        return prices if len(self.columns) == prices.shape[1] else prices[:, self.columns]

    @classmethod
    def of(cls, totals: Counts) -> _Slots:
        offsets, layout = price_offsets(totals.n_values), totals.layout
        feature, code = totals.dense_slots
        cells = np.flatnonzero(code < totals.n_values[feature])
        dense, starts = np.unique(feature[cells], return_index=True)
        return cls(
            offsets=offsets,
            cells=cells,
            columns=offsets[feature[cells]] + code[cells],
            starts=starts,
            at_once=features_at_once(totals.n_values[dense]),
            dense_prices=tuple(
                slice(int(offsets[j]), int(offsets[j + 1]))
                for j in layout.sparse_features
                if offsets[j] < offsets[j + 1]
            ),
        )


@dataclass(frozen=True, eq=False)
class _Kept:
    """Empty clusters, and their prices of the round before."""

    clusters: NDArray[np.intp]
    scores: ScoreCenters

    @classmethod
    def of(cls, before: ScoreCenters | None, sizes: NDArray[np.int64]) -> _Kept | None:
        empty = np.flatnonzero(sizes == 0)
        return None if before is None or not len(empty) else cls(empty, before)

    @cached_property
    def prices(self) -> Floats:
        """Prices before they were rounded."""
        raised = None if self.scores.raised is None else self.scores.raised.prices[self.clusters]
        return self.exact(self.scores.prices[self.clusters], raised)

    @property
    def base(self) -> Floats:
        """Bases before they were rounded."""
        raised = None if self.scores.raised is None else self.scores.raised.base[self.clusters]
        return self.exact(self.scores.base[self.clusters], raised)

    def sparse(self, j: int) -> tuple[Floats, _Cells]:
        """Return defaults and bonuses of a feature before they were rounded."""
        old, raised = self.scores.sparse[j], self.scores.raised
        some = np.isin(old.clusters, self.clusters)
        default = self.exact(
            old.default[self.clusters], raised and raised.sparse[j].default[self.clusters]
        )
        bonus = self.exact(old.bonus[some], raised and raised.sparse[j].bonus[some])
        return default, _Cells(old.values[some], old.clusters[some], bonus)

    def exact(self, prices: NDArray[np.uint32], raised: Any) -> Floats:
        """Return what prices were before they were rounded, as far as it is known."""
        return np.ldexp(before_rounding(prices, raised), -self.scores.resolution)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Numbers at some values and clusters."""

    value: NDArray[np.intp]
    cluster: NDArray[Any]
    number: Floats

    def filled(self, number: Floats) -> _Cells:
        return _Cells(self.value, self.cluster, number)

    def joined(self, more: _Cells) -> _Cells:
        return _Cells(
            np.concatenate([self.value, more.value]),
            np.concatenate([self.cluster, more.cluster]),
            np.concatenate([self.number, more.number]),
        )

    def where(self, some: NDArray[np.bool_]) -> _Cells:
        return _Cells(self.value[some], self.cluster[some], self.number[some])

    def sorted(self, k: int) -> _Cells:
        place = self.value * np.int64(k) + self.cluster
        if (place[1:] > place[:-1]).all():
            return self
        order = np.argsort(place, kind="stable")  # takes little time where two lists were joined
        return _Cells(self.value[order], self.cluster[order], self.number[order])


@dataclass(frozen=True, eq=False)
class _WidePrices:
    """Prices of a feature with sparse counts before they are rounded; see `SparsePrices`."""

    default: Floats
    shared: Floats
    bonus: _Cells

    @property
    def span(self) -> float:
        """How much dearer a cell may be in one cluster than in another, as the core bounds it."""
        return float(2.0 * np.ptp(self.default) + self.bonus.number.max(initial=0.0))

    @property
    def dearest(self) -> float:
        """What no value costs more than."""
        return float(self.default.max() + self.shared.max(initial=0.0))

    def times(self, weight: float) -> _WidePrices:
        bonus = self.bonus.filled(weight * self.bonus.number)
        return _WidePrices(weight * self.default, weight * self.shared, bonus)

    def keeping(self, kept: _Kept | None, j: int) -> _WidePrices:
        """Return the prices with those of empty clusters as they were."""
        if kept is None or j not in kept.scores.sparse:
            return self
        default, (old_default, old_bonus) = self.default.copy(), kept.sparse(j)
        default[kept.clusters] = old_default
        bonus = self.bonus.where(~np.isin(self.bonus.cluster, kept.clusters))
        return _WidePrices(default, self.shared, bonus.joined(old_bonus))

    def fixed(self, resolution: int) -> tuple[SparsePrices, SparseRaised]:
        """Return the prices in fixed point, and what rounding has raised them by."""
        cells = self.bonus.sorted(len(self.default))
        default, default_raised = _fixed(self.default, resolution)
        shared, shared_raised = _fixed(self.shared, resolution)
        bonus, bonus_raised = _fixed(cells.number, resolution)
        # Three roundings might make a price negative that is nearly nothing.
        most = default[cells.cluster].astype(np.int64) + shared[cells.value]
        n_values = len(shared)
        indptr = np.searchsorted(cells.value, np.arange(n_values + 1)).astype(np.int64)
        return (
            SparsePrices(
                default=default,
                shared=shared,
                indptr=indptr,
                clusters=cells.cluster.astype(np.int32),
                bonus=np.minimum(bonus, most).astype(np.uint32),
            ),
            SparseRaised(default_raised, shared_raised, bonus_raised),
        )


def _fixed(prices: Floats, resolution: int) -> tuple[NDArray[np.uint32], NDArray[np.int16]]:
    """Return prices in fixed point, and what rounding has raised them by."""
    scaled = np.ldexp(prices, resolution)
    whole = np.floor(scaled + 0.5)
    raised = np.floor(np.ldexp(whole - scaled, Raised.BITS) + 0.5)
    return whole.astype(np.uint32), raised.astype(np.int16)


def _sum_of_products(counts: NDArray[np.int64], numbers: NDArray[np.int16]) -> int:
    return int(np.einsum("ij,ij->", counts, numbers, dtype=np.int64))
