"""Every kernel, field width, tail length, thread count and instruction set against NumPy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_tables import Table, make_table
from numpy.testing import assert_array_equal

import reference
from softmodes import _core, _kernels
from softmodes._kernels import Centers, TallyOut
from softmodes._rows.block import Block, Layout

ISAS = _kernels.instruction_sets()
WIDTHS = [*range(1, 19), 255, 256, 257, 258, 65536, 65537]


def make_centers(rng: np.random.Generator, table: Table, k: int, strange: bool = False):
    centers = table.codes[rng.integers(0, len(table.codes), k)].copy()
    other = rng.random(centers.shape) < 0.3
    centers[other] = rng.integers(0, np.broadcast_to(table.n_codes, centers.shape))[other]
    if strange:  # codes that no cell can hold
        odd = rng.random(centers.shape) < 0.1
        centers[odd] = rng.choice([-1, 1 << 24, 1 << 30], odd.sum())
    return centers


def run_tally(block: Block, centers, feature_weight=None, tie_key=None, n_threads=1):
    k = len(centers)
    counts = np.zeros((k, block.layout.n_cells), np.int64)
    sizes = np.zeros(k, np.int64)
    labels = np.full(len(block.packed), -7, np.int32)
    out = TallyOut(counts, sizes, labels)
    found = _kernels.tally(block, Centers(centers, feature_weight), tie_key, out, n_threads)
    return labels, counts, sizes, found.cost, found.fingerprint


def expected_tally(table: Table, centers, feature_weight=None, tie_key=None):
    k = len(centers)
    hashes = reference.row_hashes(table.codes, table.layout)
    labels, nearest = reference.assign(
        table.codes, centers, table.ignored, feature_weight, tie_key, hashes
    )
    counts = [
        reference.counts(table.codes, labels, k, j, m, table.weight)
        for j, m in enumerate(table.n_codes)
        if m <= 256
    ]
    weight = np.ones(len(labels), np.int64) if table.weight is None else table.weight
    sizes = np.bincount(labels, weight, k).astype(np.int64)
    cells = np.concatenate([np.zeros((k, 0), np.int64), *counts], axis=1)
    cost = reference.cost(nearest, table.weight)
    return labels, cells, sizes, cost, reference.fingerprint(labels, table.first_row)


def assert_same_tally(got, expected):
    for name, a, b in zip(
        ["labels", "counts", "sizes", "cost", "fingerprint"], got, expected, strict=True
    ):
        assert_array_equal(a, b, err_msg=name)


def check(table: Table, centers, feature_weight=None, tie_key=None, n_threads=1):
    got = run_tally(table.block(), centers, feature_weight, tie_key, n_threads)
    assert_same_tally(got, expected_tally(table, centers, feature_weight, tie_key))


@pytest.mark.parametrize("ignore", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_field_width_equals_reference(isa, width, ignore):
    rng = np.random.default_rng(width)
    for d in (1, 2, 7, 33):
        table = make_table(rng, 70, [width] * d, ignore=ignore)
        for k in (3, 17):  # by look-up, by bit planes
            check(table, make_centers(rng, table, k), tie_key=3)
            check(table, make_centers(rng, table, k, strange=True))


@pytest.mark.parametrize("start", range(1, 601, 100))
def test_every_number_of_rows_equals_reference(isa, start):
    rng = np.random.default_rng(start)
    widths = [2] * 9 + [3, 4, 5, 3, 16, 17, 300]
    for n in range(start, start + 100):
        table = make_table(rng, n, widths, ignore=n % 2 == 0, first_row=n)
        check(table, make_centers(rng, table, 1 + n % 6), tie_key=n)
        check(table, make_centers(rng, table, 16 + n % 6), tie_key=n)


@pytest.mark.parametrize("kind", ["binary", "mixed"])
@pytest.mark.parametrize("start", range(1, 601, 200))
def test_every_number_of_features_equals_reference(isa, start, kind):
    rng = np.random.default_rng(start)
    choices = {"binary": [2], "mixed": [1, 2, 2, 2, 3, 4, 5, 8, 9, 16, 17, 256]}
    for d in range(start, start + 200):
        table = make_table(rng, 17, rng.choice(choices[kind], d))
        check(table, make_centers(rng, table, 1 + d % 5), tie_key=d)
        check(table, make_centers(rng, table, 16 + d % 5), tie_key=d)


@pytest.mark.parametrize(
    "k", [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 63, 128, 129, 255, 256, 257, 600]
)
@pytest.mark.parametrize("tie_key", [None, 0, 2**64 - 1])
def test_every_number_of_clusters_equals_reference(isa, k, tie_key):
    rng = np.random.default_rng(k)
    for widths in ([2] * 6, [2] * 300, [3] * 5 + [5] * 4 + [20] * 3):
        table = make_table(rng, 300, widths)
        check(table, make_centers(rng, table, k), tie_key=tie_key)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, 18])
@pytest.mark.parametrize("d", [511, 512, 1000, 2047, 2500, 5000])
def test_long_binary_rows_equal_reference(isa, k, d):
    rng = np.random.default_rng(d)
    table = make_table(rng, 270, [2] * d)
    check(table, make_centers(rng, table, k), tie_key=1)


@pytest.mark.parametrize("width", [2, 3, 4, 8, 16, 17, 300])
def test_rows_that_differ_everywhere_overflow_nothing(isa, width):
    for d in (33, 260, 600):
        n_codes, ignored = np.full(d, width, np.int32), np.full(d, -1, np.int32)
        table = Table(np.full((1100, d), width - 1, np.int32), n_codes, ignored)
        for k in (1, 5, 17):
            check(table, np.zeros((k, d), np.int32))
        check(table, np.zeros((2, d), np.int32), np.full(d, 65535, np.uint32))


def test_ties_are_common_and_settled_by_hash(isa):
    rng = np.random.default_rng(0)
    table = make_table(rng, 600, [2, 2, 3], first_row=10**12)
    centers = make_centers(rng, table, 260)
    by_hash = run_tally(table.block(), centers, tie_key=5)[0]
    lowest = run_tally(table.block(), centers)[0]
    assert (by_hash != lowest).mean() > 0.5, "hardly any ties: nothing tested"
    assert_array_equal(by_hash, expected_tally(table, centers, tie_key=5)[0])


@pytest.mark.parametrize("largest", [1, 3, 4, 15, 16, 255, 256, 65535])
def test_feature_weights_equal_reference(isa, largest):
    rng = np.random.default_rng(largest)
    for widths in ([2] * 70, [2, 3, 4, 5, 9, 17, 40, 256, 257, 70000] * 3, [16], [256] * 40):
        table = make_table(rng, 130, widths, ignore=True)
        weight = rng.integers(0, largest + 1, len(widths)).astype(np.uint32)
        weight[0] = largest
        check(table, make_centers(rng, table, 6, strange=True), weight, tie_key=1)


def test_row_weights_equal_reference(isa):
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 1 << 40, 500)
    table = make_table(rng, 500, [2] * 20 + [3, 5, 9, 17, 300], ignore=True, weight=weight)
    for k in (7, 20):
        check(table, make_centers(rng, table, k), tie_key=1, n_threads=2)


def test_weight_two_counts_as_the_row_twice(isa):
    rng = np.random.default_rng(2)
    table = make_table(rng, 200, [2, 3, 17, 300], weight=np.full(200, 2))
    twice = replace(table, codes=np.repeat(table.codes, 2, axis=0), weight=None)
    centers = make_centers(rng, table, 5)
    for a, b in zip(
        run_tally(table.block(), centers)[1:4], run_tally(twice.block(), centers)[1:4], strict=True
    ):
        assert_array_equal(a, b)


def big_table(n: int = 40_000) -> Table:
    rng = np.random.default_rng(4)
    return make_table(rng, n, [2] * 90 + [3] * 9 + [4, 5, 9, 16, 17, 200, 300], first_row=77)


@pytest.mark.parametrize("k", [2, 40])
def test_threads_change_nothing(isa, k):
    table = big_table()
    block = table.block()
    centers = make_centers(np.random.default_rng(1), table, k)
    one = run_tally(block, centers, tie_key=9)
    for n_threads in (2, 8):
        assert_same_tally(run_tally(block, centers, tie_key=9, n_threads=n_threads), one)


def test_a_huge_number_of_threads_changes_nothing():
    table = big_table(3000)
    centers = make_centers(np.random.default_rng(1), table, 40)
    expected = run_tally(table.block(), centers, tie_key=9)
    for n_threads in (-1, 0, 2**29, 2**31 - 1):
        assert_same_tally(run_tally(table.block(), centers, None, 9, n_threads), expected)


def test_instruction_sets_agree_on_many_rows():
    table = big_table()
    centers = make_centers(np.random.default_rng(2), table, 30)
    best = _kernels.instruction_set()
    found = []
    for name in ISAS:
        _kernels.use_instruction_set(name)
        found.append(run_tally(table.block(), centers, tie_key=4))
    _kernels.use_instruction_set(best)
    for other in found[1:]:
        assert_same_tally(other, found[0])
    assert_same_tally(found[0], expected_tally(table, centers, tie_key=4))


def test_any_cut_into_blocks_gives_the_same_tally(isa):
    table = big_table(3000)
    centers = make_centers(np.random.default_rng(3), table, 20)
    whole = run_tally(table.block(), centers, tie_key=6)
    cuts = [0, 1, 257, 1000, 2999, 3000]
    parts = [
        run_tally(
            replace(table, codes=table.codes[a:b], first_row=table.first_row + a).block(),
            centers,
            tie_key=6,
        )
        for a, b in pairwise(cuts)
    ]
    labels, counts, sizes, costs, fingerprints = zip(*parts, strict=True)
    added = (np.concatenate(labels), sum(counts), sum(sizes), sum(costs), sum(fingerprints) % 2**64)
    assert_same_tally(added, whole)


def test_counts_of_very_many_clusters_equal_reference(isa):
    rng = np.random.default_rng(5)
    table = make_table(rng, 3000, [2] * 1000)
    centers = make_centers(rng, table, 3000)
    labels, counts, sizes, _, _ = run_tally(table.block(), centers, n_threads=8)
    assert_array_equal(sizes, np.bincount(labels, minlength=3000))
    for j in (0, 63, 999):
        assert_array_equal(
            counts[:, 2 * j : 2 * j + 2], reference.counts(table.codes, labels, 3000, j, 2)
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_one_large_cluster_among_many_is_counted_by_all_threads(isa, weighted):
    rng = np.random.default_rng(7)
    weight = rng.integers(0, 1 << 40, 900) if weighted else None
    table = make_table(rng, 900, [4] * 1200 + [2, 30, 300], weight=weight)
    centers = make_centers(rng, table, 70)  # their counters exceed the cache
    table.codes[100:] = centers[3]
    table.codes[100:, :200] = rng.integers(0, 4, (800, 200))
    expected = expected_tally(table, centers, tie_key=2)
    assert expected[0].tolist().count(3) >= 800
    for n_threads in (1, 2, 7):
        got = run_tally(table.block(), centers, tie_key=2, n_threads=n_threads)
        assert_same_tally(got, expected)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_more_rows_than_are_counted_at_once_equal_reference(n_threads):
    rng = np.random.default_rng(8)
    n = 140_000  # of 256 bytes: over 2^25
    table = make_table(rng, n, [200] * 250, weight=rng.integers(0, 100, n))
    centers = make_centers(rng, table, 3)
    block = table.block()
    assert block.packed.nbytes > 1 << 25
    labels, counts, sizes, cost, fingerprint = run_tally(block, centers, None, 5, n_threads)
    few = rng.choice(n, 2000, replace=False)
    some = replace(table, codes=table.codes[few], weight=None)
    distances = reference.distances(some.codes, centers, some.ignored)
    assert_array_equal(distances[np.arange(2000), labels[few]], distances.min(axis=1))
    assert_array_equal(sizes, np.bincount(labels, table.weight, 3))
    for j in (0, 100, 249):
        expected = reference.counts(table.codes, labels, 3, j, 200, table.weight)
        assert_array_equal(counts[:, 200 * j : 200 * (j + 1)], expected)
    assert cost == sum(_costs(table, centers, labels))
    assert fingerprint == reference.fingerprint(labels)


def _costs(table: Table, centers, labels):
    """Yield what the rows cost, some at a time."""
    for first in range(0, len(labels), 20_000):
        part = slice(first, first + 20_000)
        differ = (table.codes[part] != centers[labels[part]]).sum(axis=1)
        yield int((differ * table.weight[part]).sum())


def test_outputs_are_optional_and_counts_are_added_to(isa):
    rng = np.random.default_rng(6)
    table = make_table(rng, 400, [2] * 10 + [5])
    block, centers = table.block(), make_centers(rng, table, 3)
    _, counts, sizes, cost, fingerprint = run_tally(block, centers)
    found = _kernels.tally(block, Centers(centers), None, TallyOut(), 1)
    assert (found.cost, found.fingerprint) == (cost, fingerprint)
    twice, sizes_twice = counts.copy(), sizes.copy()
    _kernels.tally(block, Centers(centers), None, TallyOut(twice, sizes_twice), 1)
    assert_array_equal(twice, 2 * counts)
    assert_array_equal(sizes_twice, 2 * sizes)


@pytest.mark.parametrize("k", [1, 5, 130])
def test_distances_equal_reference(isa, k):
    rng = np.random.default_rng(k)
    for widths in ([2] * 100, [2] * 300, [3, 5, 17, 300, 2, 9] * 4):
        table = make_table(rng, 333, widths, ignore=True)
        centers = make_centers(rng, table, k, strange=True)
        weight = rng.integers(0, 1000, len(widths)).astype(np.uint32)
        for feature_weight in (None, weight):
            out = np.zeros((333, k), np.uint32)
            _kernels.distances(table.block(), Centers(centers, feature_weight), 2, out)
            assert_array_equal(
                out, reference.distances(table.codes, centers, table.ignored, feature_weight)
            )


@pytest.mark.parametrize("n_features", [512, 600, 1000, 2300, 5000])
@pytest.mark.parametrize("k", [1, 3, 4, 7, 9, 16, 17])
def test_distances_along_long_binary_rows_equal_reference(isa, n_features, k):
    rng = np.random.default_rng(n_features + k)
    table = make_table(rng, 261, [2] * n_features)
    centers = make_centers(rng, table, k)
    out = np.zeros((261, k), np.uint32)
    _kernels.distances(table.block(), Centers(centers), 1, out)
    assert_array_equal(out, reference.distances(table.codes, centers, table.ignored))


LONG = [2] * 500 + [3, 5, 16, 17, 200, 300, 70_000] * 90  # few such rows are compared by cells


@pytest.mark.parametrize("k", [1, 3, 17, 130])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65])
def test_few_long_rows_equal_reference(isa, n, k):
    rng = np.random.default_rng(n + k)
    table = make_table(rng, n, LONG, ignore=True, weight=rng.integers(0, 9, n))
    weights = [None, rng.integers(0, 9, len(LONG)).astype(np.uint32)]
    for feature_weight, tie_key in product(weights, [None, 3]):
        centers = make_centers(rng, table, k, strange=n % 2 == 0)
        centers[1::2] = centers[:1]  # ties
        check(table, centers, feature_weight, tie_key)
        expected = reference.distances(table.codes, centers, table.ignored, feature_weight)
        found = np.zeros((n, k), np.uint32)
        _kernels.distances(table.block(), Centers(centers, feature_weight), 1, found)
        assert_array_equal(found, expected)


def test_distances_of_few_long_rows_beyond_31_bits_equal_reference(isa):
    rng = np.random.default_rng(0)
    table = make_table(rng, 20, [5] * 1200)
    heavy = np.full(1200, (2**32 - 1) // 1200, np.uint32)
    centers = make_centers(rng, table, 3, strange=True)
    centers[0] = -1  # as far as can be
    found = np.zeros((20, 3), np.uint32)
    _kernels.distances(table.block(), Centers(centers, heavy), 1, found)
    assert_array_equal(found, reference.distances(table.codes, centers, table.ignored, heavy))
    assert found.max() > 2**31


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@pytest.mark.parametrize("weighted", [False, True])
def test_candidate_totals_equal_reference(isa, dtype, weighted):
    rng = np.random.default_rng(7)
    weight = rng.integers(0, 9, 5000) if weighted else None
    table = make_table(rng, 5000, [2] * 50 + [3, 20, 300], ignore=True, weight=weight)
    candidates = make_centers(rng, table, 6)
    current = rng.integers(0, 53, 5000).astype(dtype)
    expected = reference.distances(table.codes, candidates, table.ignored).T
    lower = np.minimum(current, expected) * (1 if weight is None else weight)
    for n_threads in (1, 2):
        out = np.zeros((6, 5000), dtype)
        totals = _kernels.candidate_totals(
            table.block(), Centers(candidates), current, out, n_threads
        )
        assert_array_equal(out, expected)
        assert_array_equal(totals, lower.sum(axis=1))


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@pytest.mark.parametrize(("n", "k"), [(600, 1), (600, 2), (9000, 5), (600, 40), (300, 530)])
@pytest.mark.parametrize("near", [0.02, 0.5])
def test_nearer_rows_equal_reference(isa, dtype, n, k, near):
    rng = np.random.default_rng(k)
    for widths in ([2] * 50 + [3, 20, 300], [2] * 500):
        table = make_table(rng, n, widths, ignore=True)
        centers = make_centers(rng, table, k, strange=True)
        weights = rng.integers(0, 9, len(widths)).astype(np.uint32)
        for feature_weight in (None, weights) if k < 40 else (None,):
            distances = reference.distances(table.codes, centers, table.ignored, feature_weight)
            current = np.quantile(distances, near, axis=1).astype(dtype)
            current[::7] = np.iinfo(dtype).max
            weighted = Centers(centers, feature_weight)
            start, rows, found = _kernels.nearer(table.block(), weighted, current, 2)
            expected = current > distances.T
            assert_array_equal(np.diff(start), expected.sum(axis=1))
            assert_array_equal(rows, np.nonzero(expected)[1])
            assert_array_equal(found, distances.T[expected])
            assert found.dtype == dtype


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [300, 5000, 65536, 70000])
@pytest.mark.parametrize(("n_threads", "n"), [(1, 500), (2, 500), (2, 140_000)])
def test_sparse_counts_equal_reference(n_threads, n, width, weighted):
    rng = np.random.default_rng(width)
    weight = rng.integers(0, 99, n) if weighted else None
    table = make_table(rng, n, [2, width, 5, 270, 300, 5000], weight=weight)
    labels = rng.integers(0, 7, n).astype(np.int32)
    starts, codes, counts = _kernels.sparse_counts(table.block(), labels, 8, n_threads)
    for f, j in enumerate((1, 3, 4, 5)):
        dense = np.zeros((8, table.n_codes[j]), np.int64)
        for c in range(8):
            row = slice(starts[8 * f + c], starts[8 * f + c + 1])
            assert (np.diff(codes[row]) > 0).all()
            dense[c, codes[row]] = counts[row]
        wanted = reference.counts(table.codes, labels, 8, j, table.n_codes[j], weight)
        assert_array_equal(dense, wanted)


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_counts_of_ranges_of_rows_add_up(weighted):
    rng = np.random.default_rng(4)
    n = (1 << 19) + 1000  # more than are counted at once
    weight = rng.integers(0, 3, n) if weighted else None
    table = make_table(rng, n, [300, 5000], weight=weight)
    table.codes[: 1 << 19, 0] %= 299  # a code of the last range alone
    labels = rng.integers(0, 5, n).astype(np.int32)
    labels[labels == 3] = rng.choice([2, 4], (labels == 3).sum())
    labels[-1] = 3  # a cluster of the last range alone
    starts, codes, counts = _kernels.sparse_counts(table.block(), labels, 6, 2)
    for f, m in enumerate(table.n_codes):
        for c in range(6):
            row = slice(starts[6 * f + c], starts[6 * f + c + 1])
            wanted = reference.counts(table.codes, labels, 6, f, m, weight)[c]
            assert_array_equal(codes[row], np.flatnonzero(wanted))
            assert_array_equal(counts[row], wanted[codes[row]])


def test_presence_equals_reference(isa):
    rng = np.random.default_rng(8)
    for n, d, top in ((1, 1, 2), (700, 3, 256), (300, 130, 2), (5000, 65, 4), (9000, 64, 256)):
        matrix = rng.integers(0, top, (n, d)).astype(np.uint8)
        matrix[:, d // 2] = 255
        expected = np.zeros((d, 256), bool)
        expected[np.broadcast_to(np.arange(d), (n, d)), matrix] = True
        for n_threads in (1, 2):
            assert_array_equal(_kernels.presence(matrix, n_threads), expected)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_random_tables_equal_reference(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    widths = data.draw(st.lists(st.sampled_from(WIDTHS), min_size=1, max_size=40))
    n = data.draw(st.integers(1, 400))
    table = make_table(
        rng,
        n,
        widths,
        ignore=data.draw(st.booleans()),
        weight=rng.integers(0, 5, n) if data.draw(st.booleans()) else None,
        first_row=data.draw(st.integers(0, 2**40)),
    )
    centers = make_centers(rng, table, data.draw(st.integers(1, 12)), data.draw(st.booleans()))
    weight = rng.integers(0, 40, len(widths)).astype(np.uint32)
    best = _kernels.instruction_set()
    _kernels.use_instruction_set(data.draw(st.sampled_from(ISAS)))
    try:
        check(
            table,
            centers,
            feature_weight=weight if data.draw(st.booleans()) else None,
            tie_key=data.draw(st.none() | st.integers(0, 2**64 - 1)),
        )
    finally:
        _kernels.use_instruction_set(best)


@pytest.mark.parametrize("n_threads", [2**28, 2**29, 2**31 - 1])
def test_any_number_of_threads_is_safe_to_ask_for(n_threads):
    rng = np.random.default_rng(5)
    table = make_table(rng, 5000, [2, 3, 200, 300])
    columns = [np.ascontiguousarray(table.codes[:, j], np.int32) for j in range(4)]
    layout = table.block().layout
    packed = np.zeros_like(table.block().packed)
    _kernels.pack_columns(layout, columns, packed, n_threads)
    assert_array_equal(packed, table.block().packed)
    matrix = rng.integers(0, 2, (5000, 3), dtype=np.uint8)
    assert_array_equal(_kernels.presence(matrix, n_threads), _kernels.presence(matrix, 1))
    bits = make_table(rng, 10, [2, 2, 2]).block()
    remap = np.tile(np.arange(256, dtype=np.uint8) % 2, (3, 1))
    found, wanted = np.zeros((2, 5000, bits.layout.stride), np.uint8)
    _kernels.pack_matrix(bits.layout, matrix, remap, found, n_threads)
    _kernels.pack_matrix(bits.layout, matrix, remap, wanted, 1)
    assert_array_equal(found, wanted)
    centers = make_centers(rng, table, 5)
    expected = run_tally(table.block(), centers, n_threads=1)
    for a, b in zip(run_tally(table.block(), centers, n_threads=n_threads), expected, strict=True):
        assert_array_equal(a, b)


@pytest.fixture
def ctrl_c_raises():
    """Ctrl-C raises KeyboardInterrupt, in the background too, where SIGINT is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_ctrl_c_stops_a_pass_within_a_second():
    rng = np.random.default_rng(9)
    table = make_table(rng, 100, [2] * 1000)
    centers = make_centers(rng, table, 4000)
    block = table.block()
    block = replace(block, packed=np.tile(block.packed, (6000, 1)))  # seconds of work
    fired = []

    def interrupt():
        fired.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    for n_threads in (1, 2):
        threading.Timer(0.3, interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            run_tally(block, centers, n_threads=n_threads)
        assert time.perf_counter() - fired[-1] < 1.0


def test_unknown_instruction_set_is_refused_by_name():
    run = subprocess.run(
        [sys.executable, "-c", "import softmodes._kernels"],
        env={**os.environ, "SOFTMODES_ISA": "mmx"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode
    assert "SOFTMODES_ISA='mmx' is not an instruction set of this CPU" in run.stderr
    assert "Pass one of generic" in run.stderr


def test_environment_variable_forces_an_instruction_set():
    code = "from softmodes._kernels import instruction_set; print(instruction_set())"
    for name in ISAS:
        env = {**os.environ, "SOFTMODES_ISA": name}
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
        assert run.stdout.decode().strip() == name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"centers": np.zeros((2, 4), np.int32)}, "one column per feature"),
        ({"centers": np.zeros((0, 3), np.int32)}, "at least one row"),
        ({"feature_weight": np.ones(2, np.uint32)}, "feature_weight must have one entry"),
        ({"counts": np.zeros((2, 7), np.int64)}, "counts must be clusters x cells"),
        ({"cluster_sizes": np.zeros(3, np.int64)}, "cluster_sizes must have one entry per cluster"),
        ({"labels": np.zeros(9, np.int32)}, "labels must have one entry per row"),
        ({"feature_weight": np.full(3, 2**31, np.uint32)}, "less than 2\\*\\*32"),
    ],
)
def test_wrong_shapes_are_refused(change, message):
    block = make_table(np.random.default_rng(0), 10, [2, 2, 2]).block()
    arguments: dict[str, Any] = {"centers": np.zeros((2, 3), np.int32), "feature_weight": None}
    arguments |= change
    codes, feature_weight = arguments.pop("centers"), arguments.pop("feature_weight")
    with pytest.raises(ValueError, match=message):
        _kernels.tally(block, Centers(codes, feature_weight), None, TallyOut(**arguments), 1)


def test_wrong_types_are_refused_not_converted():
    block = make_table(np.random.default_rng(0), 10, [2, 2, 2]).block()
    with pytest.raises(TypeError):
        _core.unpack(block.native, np.zeros(1, np.int32), np.zeros((1, 3), np.int32))
    with pytest.raises(TypeError):
        Centers(np.zeros((2, 3), np.int64))


MEASURE = """
import sys
import numpy as np
from softmodes._kernels import Centers, TallyOut, pass_bytes, tally
from softmodes._rows.block import Block, Layout

def status(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

n, d, width, k, n_threads, weighted = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
layout = Layout([width] * d, [-1] * d)
packed = np.zeros((n, layout.stride), np.uint8)
packed[:, layout.byte] = rng.integers(0, 2, (n, d)) << layout.shift
block = Block(layout, packed, weight=rng.integers(1, 5, n) if weighted else None)
codes = rng.integers(0, width, (k, d)).astype(np.int32)
out = TallyOut(np.ones((k, layout.n_cells), np.int64), np.ones(k, np.int64))
tally(Block(layout, packed[:1]), Centers(codes[:1]), None, TallyOut(), 1)
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = status("VmRSS")
tally(block, Centers(codes), 1, out, n_threads)
print(status("VmHWM") - before, pass_bytes(layout, k, n_threads=n_threads))
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs Linux")
@pytest.mark.parametrize(
    ("n", "d", "width", "k", "n_threads", "weighted"),
    [
        (60_000, 1000, 2, 1200, 4, 0),  # by planes, counted by cluster
        (40_000, 100, 250, 3000, 4, 0),
        (20_000, 400, 250, 8000, 2, 0),  # by look-up tables, since planes are too many
        (300_000, 40, 200, 10, 4, 1),  # with weights
    ],
)
def test_a_pass_takes_no_more_memory_than_it_tells(n, d, width, k, n_threads, weighted):
    arguments = [str(a) for a in (n, d, width, k, n_threads, weighted)]
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, *arguments], capture_output=True, text=True, check=True
    )
    taken, told = map(int, run.stdout.split())
    stacks = 4 << 20  # of threads, and what malloc keeps for each
    assert 1 << 20 < taken < told + stacks
    assert told < 2 * taken + (40 << 20), "far more is told than taken"


def test_memory_told_grows_little_with_threads():
    layout = Layout([250] * 100, [-1] * 100)
    one, many = (_kernels.pass_bytes(layout, 5000, n_threads=n) for n in (1, 64))
    assert many - one < 64 * (8 << 20)
    assert many < 4 * 8 * 5000 * layout.n_cells / 5, "more than a small part of the counts"


def test_the_stub_is_that_of_the_core(tmp_path):
    pytest.importorskip("nanobind")
    stub = Path(_kernels.__file__).with_name("_core.pyi")
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "softmodes._core"]
    subprocess.run([*command, "-o", str(tmp_path / "made.pyi")], check=True)
    assert (tmp_path / "made.pyi").read_text() == stub.read_text(), "run scripts/dev.sh"
