"""What cluster engines share, on an engine that is a list."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.parts import RowsChangedError, merged, places_of
from softmodes._rows.stores import open_store
from softmodes._rows.stores.cluster import (
    ClusterStore,
    Packing,
    Partitions,
    code_partition,
    of_new_rows,
    open_partitions,
)
from softmodes._rows.weights import Units
from support import table

X = table(300, (2, 3, 5, 17, 300), seed=4)
CUTS = [(), (0,), (1, 1, 200), (100, 250, 300)]


class ListStore(ClusterStore):
    def __init__(self, blocks):
        self.blocks = blocks

    def map(self, task):
        return [task(block, 1) for block in self.blocks]


class Listed(Partitions):
    def __init__(self, parts, weights=None):
        self.parts, self.empty = parts, parts[0][:0]
        self.has_weights = weights is not None
        self.weights = weights or [None] * len(parts)

    def code(self, missing):
        numbered = enumerate(zip(self.parts, self.weights, strict=True))
        self.coded = [code_partition(i, *given, missing) for i, given in numbered]
        return [part.outline for part in self.coded]

    def codebook(self):
        return merged([part.codebook for part in self.coded])

    def store(self, packing, places):
        return ListStore([packing.block_at(self.coded[place.part], place) for place in places])

    def lazy_by_row(self, packing, task, name="found"):
        return lambda: [of_new_rows(packing, task, i, part) for i, part in enumerate(self.parts)]


def opened(parts, weights=None, codebook=None, feature_weight=None):
    return open_partitions(
        Listed(parts, weights),
        codebook=codebook,
        missing="category",
        feature_weight=feature_weight,
        n_threads=1,
        expecting="SoftModes",
    )


@pytest.mark.parametrize("cuts", CUTS)
def test_partitions_make_the_store_of_the_table(cuts):
    weight = np.random.default_rng(0).random(300)
    here = open_store(X, sample_weight=weight)
    there = opened(np.split(X, cuts), np.split(weight, cuts))
    assert there.rows.unit == here.rows.unit
    for fact in ("n_rows", "n_weighed", "total_weight", "weights_repeat"):
        assert getattr(there.store, fact) == getattr(here.store, fact), fact
    centers = CodeCenters(here.store.rows(np.arange(6)))
    one, other = (o.store.tally(centers, Comparison(1)) for o in (there, here))
    assert (one.fingerprint, one.cost) == (other.fingerprint, other.cost)
    assert_array_equal(one.counts.dense, other.counts.dense)
    assert [b.index for b in there.store.blocks] == list(range(len(there.store.blocks)))
    assert all(b.n_rows for b in there.store.blocks)


def test_new_rows_are_packed_when_they_are_asked_for():
    codebook = open_store(X[:200]).codebook
    new = opened([X[200:], X[:0], X[:50]], codebook=codebook, feature_weight=Units(None, 1.0))
    assert new.on_cluster
    centers = CodeCenters(open_store(X[:200]).store.rows(np.arange(6)))
    later = new.store.labels(centers, Comparison(1))
    with pytest.warns(UserWarning, match="nseen"):
        found = later()
    wanted = open_store(np.concatenate([X[200:], X[:50]]), codebook=codebook).store
    assert_array_equal(np.concatenate(found), wanted.labels(centers, Comparison(1)))
    with pytest.warns(UserWarning, match="nseen"):
        assert new.store.n_rows == 150
    assert new.store.tally(centers, Comparison(1)).cost == wanted.tally(centers, Comparison(1)).cost


def test_a_partition_that_changes_before_it_is_packed_is_refused():
    rows = Listed([X[:100], X[100:]])
    outlines = rows.code("category")
    assert [outline.n_rows for outline in outlines] == [100, 200]
    packing = Packing(rows.codebook())
    rows.coded[1] = code_partition(1, X[100:][::-1], None, "category")
    with pytest.raises(RowsChangedError, match="Partition 1 holds other rows, or in another order"):
        rows.store(packing, places_of(outlines))
