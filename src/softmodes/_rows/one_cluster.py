"""All rows as one cluster: one pass tells what any pass with a single center would find."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.centers import (
    Centers,
    CodeCenters,
    Comparison,
    ScoreCenters,
    ValueTotals,
    exact_dot,
)
from softmodes._rows.counts import Counts
from softmodes._rows.tally import LOG_BITS, MEMBERSHIP_BITS, SoftTally, Tally


def tally_of_one(whole: Tally, center: Centers, comparison: Comparison) -> Tally:
    """Return the tally of all rows with one center, by that with another one."""
    cost = 0
    if isinstance(center, CodeCenters):
        cost = _mismatches(whole, center.codes[0], comparison.feature_weight)
    return Tally(whole.counts, whole.cluster_sizes, cost, whole.fingerprint)


def soft_tally_of_one(whole: Tally, scores: ScoreCenters) -> SoftTally:
    """Return what a soft pass with one cluster finds, by the tally of all rows."""
    counts = whole.counts
    wide = counts.wide.with_counts(counts.wide.counts << MEMBERSHIP_BITS)
    above = _above_floor(whole, scores) << (LOG_BITS - scores.resolution)
    return SoftTally(
        Counts(counts.layout, counts.n_values, counts.dense << MEMBERSHIP_BITS, wide),
        whole.cluster_sizes << MEMBERSHIP_BITS,
        -above,
    )


def _above_floor(whole: Tally, scores: ScoreCenters) -> int:
    """Return what all rows cost above their floors: by as much as bonuses are not the largest."""
    prices = scores.wide
    if not len(prices):
        return 0
    counts = np.repeat(ValueTotals.of(whole.counts).wide, np.diff(prices.cells.indptr))
    most = int(whole.cluster_sizes[0]) * int(prices.most_bonus.sum())
    return most - exact_dot(counts, prices.bonus)


def _mismatches(
    whole: Tally, center: NDArray[np.int32], feature_weight: NDArray[np.uint32] | None
) -> int:
    """Return the mismatches of all rows with a center; ignored cells differ from nothing."""
    ignored = whole.counts.layout.ignored
    alike = np.where(center == ignored, 0, _rows_with(whole.counts, center))
    differ = whole.cluster_sizes[0] - alike - _rows_with(whole.counts, ignored)
    return int(differ.sum() if feature_weight is None else feature_weight.astype(np.int64) @ differ)


def _rows_with(counts: Counts, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many rows have a code, one for each feature; it may be one that no cell has."""
    layout, wide = counts.layout, counts.wide
    found = np.zeros(layout.n_features, np.int64)
    known = (codes >= 0) & (codes < layout.n_codes)
    dense = np.flatnonzero(known & (np.diff(layout.offsets) > 0))
    found[dense] = counts.dense[0, layout.offsets[dense] + codes[dense]]
    for f in np.flatnonzero(known[wide.features]).tolist():
        some, j = slice(wide.starts[f], wide.starts[f + 1]), wide.features[f]
        at = np.searchsorted(wide.codes[some], codes[j])
        if at < len(wide.codes[some]) and wide.codes[some][at] == codes[j]:
            found[j] = wide.counts[some][at]
    return found
