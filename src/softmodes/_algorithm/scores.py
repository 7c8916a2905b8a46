"""Counts -> scores: what each value costs in each cluster, in fixed point.

Prices are rounded here, once, so that sums of them are exact wherever they are made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import _kernels
from softmodes._algorithm.wide_scores import (
    KeptPrices,
    RealPrices,
    WidePricing,
    fixed,
)
from softmodes._rows.centers import (
    LINE_LIMIT,
    MOST_DENSE_VALUES,
    MOST_SHARED_RESOLUTION,
    TOTAL_LIMIT,
    Raised,
    ScoreCenters,
    ValueTotals,
    features_at_once,
    price_offsets,
)
from softmodes._rows.counts import Counts
from softmodes._rows.tally import MEMBERSHIP_BITS, SoftTally

Rule: TypeAlias = Literal["gini", "latent"]
Floats: TypeAlias = NDArray[np.float64]

# Bits behind the point of a price, at most. A finish by "gini" takes what fits: its rounds lower
# the exact cost until hardly anything is left to gain. With 10 bits one table in a hundred would
# stop early, by up to a millionth of its cost.
FINEST_RESOLUTION = 16
_PRICE_LIMIT = 1 << 32


@dataclass(frozen=True)
class NearlySure:
    """Counts of rows that are nearly sure of their clusters, and else belong to all of them.

    Dense counts stand for themselves times `factor` and the totals of the table, both without their
    last `less` bits. They are made when prices are: in a table with few rows for each value they
    take as much memory as the counts.
    """

    factor: int
    less: int


_AS_COUNTED = NearlySure(0, 0)


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
        nearly_sure: NearlySure = _AS_COUNTED,
    ) -> ScoreCenters:
        """Return the prices that follow from counts; a row of weight 1 counts `scale` in them.

        An empty cluster keeps the prices that it had `before`. Without these it takes the shares of
        the table, as a column does that was observed nowhere in a cluster.
        """
        kept = KeptPrices.of(before, sizes)
        source = _kernels.PriceSource(
            counts.native_dense(),
            self.rule == "latent",
            self.totals.dense[0],
            self.prior * scale,
            self.feature_weight,
            nearly_sure.factor,
            nearly_sure.less,
        )
        wide = self._wide.real(counts, self.prior * scale, kept)
        base = self._base(sizes, kept)
        offsets = self._slots.offsets
        as_were = None if kept is None else kept.prices
        prices = np.empty((counts.n_clusters, int(offsets[-1])), np.uint32)
        raised = np.empty(prices.shape, np.int16) if self.rule == "latent" else None
        guess = self.most_resolution if before is None else before.resolution
        spans = _kernels.fixed_prices_and_spans(
            source, guess, offsets, prices, raised, as_were, self.n_threads
        )
        resolution = self._resolution(spans, wide, base, kept)
        if resolution != guess:
            _kernels.fixed_prices(source, resolution, offsets, prices, raised, self.n_threads)
        shared = self._wide.fixed_shared(resolution)
        wide_prices, wide_raised = wide.fixed(resolution, shared, self.n_threads)
        for j, some in self._slots.dense_prices.items():
            prices[:, some] = wide_prices[j].dense()
            if raised is not None:
                raised[:, some] = wide_raised.dense(j)
        if self._slots.dense_prices:
            many = counts.n_values[wide_prices.features] > MOST_DENSE_VALUES
            wide_prices = wide_prices.some(many)
        if kept is not None:
            prices[kept.clusters], kept_raised = fixed(kept.prices, resolution)
            if raised is not None:
                raised[kept.clusters] = kept_raised
        fixed_base, base_raised = fixed(base, resolution)
        return ScoreCenters(
            prices,
            fixed_base,
            offsets,
            counts.n_values,
            wide_prices,
            resolution,
            None if raised is None else Raised(raised, base_raised, wide_raised),
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
        floor = scores.floor(self._value_totals, self.total_weight, self.n_threads)
        return tally.log_likelihood(floor, scores.resolution)

    def _raised(self, scores: ScoreCenters, tally: SoftTally) -> float:
        """Return what rounding has raised the prices of all cells by, in units of prices."""
        raised, counts = scores.raised, tally.counts
        assert raised is not None
        # The last bits of large counts are left out: a sum stays below 2^63.
        n_cells = (self.total_weight << MEMBERSHIP_BITS) * (len(self.totals.n_values) + 1)
        less = max(0, n_cells.bit_length() + Raised.BITS - 63)
        sum_ = int((tally.cluster_sizes >> less) @ raised.base.astype(np.int64))
        sum_ += _kernels.sum_of_raised_dense(
            counts.native_dense(), less, self._slots.offsets, raised.prices, self.n_threads
        )
        if counts.sparse:
            sum_ += raised.wide.sum_over(counts.wide_values, less, self.n_threads)
        return math.ldexp(float(sum_), less - MEMBERSHIP_BITS - Raised.BITS)

    def _prior_price(self, scores: ScoreCenters) -> float:
        """Return what a row of the prior costs in all clusters, in units of prices."""
        raised = scores.raised
        assert raised is not None
        shares, wide_shares = self._shares
        more = np.zeros(0)
        if scores.sparse:
            exact = raised.wide.exact_sums(self.n_threads)
            own = self._slots.sparse_prices
            more = exact if own is None else exact[own]
            more *= wide_shares
        return _kernels.sum_by_shares(scores.prices, raised.prices, shares, more, self.n_threads)

    @cached_property
    def _slots(self) -> _Slots:
        return _Slots.of(self.totals)

    @cached_property
    def _value_totals(self) -> ValueTotals:
        return ValueTotals.of(self.totals)

    @cached_property
    def _wide(self) -> WidePricing:
        return WidePricing(
            self.rule == "latent", self.totals, self.feature_weight, n_threads=self.n_threads
        )

    @cached_property
    def _shares(self) -> tuple[Floats, Floats]:
        """Shares of all values in the table: in the order of prices, and of sparse prices."""
        own = self._slots.sparse_prices
        wide = self._wide.shares if self.totals.sparse else np.empty(0)
        return (
            _kernels.value_shares(self._value_totals.dense, self._slots.offsets, self.n_threads),
            wide if own is None else wide[own],
        )

    def _base(self, sizes: NDArray[np.int64], kept: KeptPrices | None) -> Floats:
        """Return what a row costs in a cluster before its cells: the rarer the cluster, the more.

        A cluster that was always empty counts as one unit.
        """
        if self.rule == "gini":
            return np.zeros(len(sizes))
        base = _kernels.latent_bases(sizes)
        if kept is not None:
            base[kept.clusters] = kept.base
        return base

    def _resolution(
        self, spans: Floats, wide: RealPrices, base: Floats, kept: KeptPrices | None
    ) -> int:
        """Return the most bits behind the point with which sums of prices stay in their limits.

        Only what a value costs above the least over the clusters is summed.
        """
        wide_spans, largest = wide.spans.tolist(), wide.dearest.tolist()
        if kept is not None:
            # What is kept of features whose counts are sparse, but not their prices.
            dense = self._slots.dense_prices.values()
            wide_spans += [float(kept.prices[:, some].max()) for some in dense]
        line = max([float((spans * self._slots.at_once).max(initial=0.0)), *wide_spans])
        bases = base.tolist()
        apart = [max(bases) - min(bases)]
        total = _kernels.exact_sum(np.concatenate([spans, wide_spans, apart]))
        dearest = max([total, max(bases), *largest])
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


@dataclass(frozen=True, eq=False)
class _Slots:
    """Where the prices of features lie."""

    offsets: NDArray[np.int64]
    at_once: Floats  # by feature: how many lie together
    dense_prices: dict[int, slice]  # of features whose counts are sparse
    # Which values of features with sparse counts have sparse prices; None: all of them.
    sparse_prices: NDArray[np.bool_] | None

    @classmethod
    def of(cls, totals: Counts) -> _Slots:
        offsets = price_offsets(totals.n_values)
        dense_prices = {
            j: slice(int(offsets[j]), int(offsets[j + 1]))
            for j in totals.layout.sparse_features
            if offsets[j] < offsets[j + 1]
        }
        wide = totals.wide_values.n_values
        return cls(
            offsets=offsets,
            at_once=features_at_once(totals.n_values),
            dense_prices=dense_prices,
            sparse_prices=np.repeat(wide > MOST_DENSE_VALUES, wide) if dense_prices else None,
        )
