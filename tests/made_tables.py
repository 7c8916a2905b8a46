"""Random tables in codes, and prices for their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import reference
from softmodes._rows.block import Block, Layout, layout_of, pack
from softmodes._rows.centers import ScoreCenters, SparsePrices, price_offsets
from softmodes._table.codes import CodeRanges, Codes


@dataclass
class Table:
    """Codes with a nearly complete set of the ways to look at them."""

    codes: np.ndarray
    n_codes: np.ndarray
    ignored: np.ndarray
    weight: np.ndarray | None = None
    first_row: int = 0

    @property
    def layout(self) -> Layout:
        return layout_of(CodeRanges(self.n_codes, self.ignored))

    def block(self) -> Block:
        columns = tuple(
            np.ascontiguousarray(self.codes[:, j], np.uint8 if m <= 256 else np.int32)
            for j, m in enumerate(self.n_codes)
        )
        codes = Codes(len(self.codes), columns, CodeRanges(self.n_codes, self.ignored))
        return pack(codes, layout_of(codes.ranges), first_row=self.first_row, weight=self.weight)


def make_table(
    rng: np.random.Generator, n: int, n_codes: Any, *, ignore: bool = False, **more: Any
) -> Table:
    n_codes = np.array(n_codes, np.int32)
    few = np.minimum(n_codes, rng.choice([2, 5, 70000], len(n_codes)))  # wide columns also repeat
    codes = rng.integers(n_codes - few, n_codes, (n, len(n_codes))).astype(np.int32)
    ignored = np.full(len(n_codes), -1, np.int32)
    if ignore:
        some = rng.random(len(n_codes)) < 0.6
        ignored[some] = n_codes[some] - 1
    return Table(codes, n_codes, ignored, **more)


@dataclass
class Case:
    """A table, and prices for the values of its features."""

    table: Table
    scores: reference.Scores

    @property
    def n_values(self):
        return np.array([prices.shape[1] for prices in self.scores.prices], np.int32)

    def centers(self) -> ScoreCenters:
        offsets = price_offsets(self.n_values)
        dense = [prices for j, prices in enumerate(self.scores.prices) if j not in self.scores.wide]
        return ScoreCenters(
            prices=np.hstack([np.zeros((self.scores.k, 0)), *dense]).astype(np.uint32),
            base=self.scores.base.astype(np.uint32),
            offsets=offsets,
            n_values=self.n_values,
            sparse={j: as_sparse(wide) for j, wide in self.scores.wide.items()},
            resolution=self.scores.resolution,
        )

    def row_words(self):
        return reference.row_hashes(self.table.codes, self.table.layout)


def as_sparse(wide: reference.WidePrices) -> SparsePrices:
    value, cluster = np.nonzero(wide.bonus.T)
    return SparsePrices(
        default=wide.usual.astype(np.uint32),
        shared=wide.shared.astype(np.uint32),
        indptr=np.searchsorted(value, np.arange(len(wide.shared) + 1)).astype(np.int64),
        clusters=cluster.astype(np.int32),
        bonus=wide.bonus.T[value, cluster].astype(np.uint32),
    )


def make_scores(
    rng: np.random.Generator,
    table: Table,
    k: int,
    resolution: int = 10,
    most: int = 0,
    step: int = 1,
) -> Case:
    """Prices up to `most`, in steps; the last codes of some features are no values."""
    most = most or max(2, int(4 * 2.0**resolution))
    n_values = np.maximum(1, table.n_codes - rng.integers(0, 3, len(table.n_codes)))
    prices: list[Any] = []
    wide = {}
    for j, n in enumerate(n_values.tolist()):
        if n > 256:
            usual = rng.integers(0, most // step + 1, k) * step
            shared = rng.integers(0, most // step + 1, n) * step
            bonus = np.where(rng.random((k, n)) < 0.2, rng.integers(0, 2 * most, (k, n)), 0)
            bonus = np.minimum(bonus // step * step, usual[:, None] + shared)
            wide[j] = reference.WidePrices(usual, shared, bonus)
            prices.append(wide[j].prices)
        else:
            prices.append(rng.integers(0, most // step + 1, (k, n)) * step)
    base = rng.integers(0, most // step + 1, k) * step
    return Case(table, reference.Scores(prices, base, resolution, wide))
