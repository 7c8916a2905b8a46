"""Passes by scores, hard, soft and row by row, against NumPy: to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_tables import Case, make_scores, make_table
from numpy.testing import assert_array_equal

import reference
from softmodes import _kernels
from softmodes._rows.block import Block

ISAS = _kernels.instruction_sets()
CLUSTERS = [1, 2, 3, 4, 5, 8, 17, 33, 49, 100, 129, 300]
MIXED = [2] * 9 + [3, 4, 5, 3, 16, 17, 2, 40, 256]
WIDE = [*MIXED, 257, 300]


def check(case: Case, tie_key: int | None = 3, n_threads: int = 1, block: Block | None = None):
    check_rows(case, block or case.table.block(), tie_key, n_threads)
    check_hard(case, block or case.table.block(), tie_key, n_threads)
    check_soft(case, block or case.table.block(), tie_key, n_threads)


def found_by_reference(case: Case, tie_key):
    totals = reference.score_totals(case.table.codes, case.scores)
    labels = reference.cheapest(totals, tie_key, case.row_words())
    return totals, labels


def check_rows(case: Case, block: Block, tie_key, n_threads):
    k, n = case.scores.k, len(case.table.codes)
    totals, shares = np.full((n, k), -1, np.int64), np.full((n, k), 7, np.uint32)
    logs = np.full(n, -1.0)
    _kernels.score_rows(
        block,
        case.centers().native(),
        tie_key,
        n_threads,
        totals=totals,
        memberships=shares,
        logs=logs,
    )
    expected, labels = found_by_reference(case, tie_key)
    assert_array_equal(totals, expected)
    resolution = case.scores.resolution
    assert_array_equal(shares, reference.memberships(expected, labels, resolution))
    assert_array_equal(np.ldexp(logs, 20), reference.logs(expected, resolution))


def check_hard(case: Case, block: Block, tie_key, n_threads):
    k, table = case.scores.k, case.table
    counts = np.zeros((k, block.layout.n_cells), np.int64)
    sizes, labels = np.zeros(k, np.int64), np.full(len(table.codes), -7, np.int32)
    out = _kernels.TallyOut(counts, sizes, labels)
    found = _kernels.tally(block, case.centers().native(), tie_key, out, n_threads)
    _, expected = found_by_reference(case, tie_key)
    assert_array_equal(labels, expected)
    assert found.cost == 0
    assert found.fingerprint == reference.fingerprint(labels, table.first_row)
    weight = np.ones(len(labels), np.int64) if table.weight is None else table.weight
    assert_array_equal(sizes, [weight[labels == c].sum() for c in range(k)])
    for j, some in dense_cells(block):
        wanted = reference.counts(table.codes, labels, k, j, table.n_codes[j], table.weight)
        assert_array_equal(counts[:, some], wanted)


def check_soft(case: Case, block: Block, tie_key, n_threads):
    k, table, resolution = case.scores.k, case.table, case.scores.resolution
    counts, sizes = np.full((k, block.layout.n_cells), 5, np.int64), np.full(k, 9, np.int64)
    least, log, wide = _kernels.soft_tally(
        block, case.centers().native(), tie_key, counts, sizes, n_threads
    )
    totals, labels = found_by_reference(case, tie_key)
    parts = reference.memberships(totals, labels, resolution)
    weight = np.ones(len(labels), np.int64) if table.weight is None else table.weight
    assert_array_equal(sizes - 9, weight @ parts)
    assert (sizes - 9).sum() == weight.sum() << 16
    reduced = totals - reference.floors(table.codes, case.scores)[:, None]
    assert (reduced >= 0).all()
    logs = reference.logs(reduced, resolution)
    expected = sum(w * x for w, x in zip(weight.tolist(), logs, strict=True))
    assert log - (least << (20 - resolution)) == expected
    for j, some in dense_cells(block):
        wanted = reference.soft_counts(table.codes, parts, j, table.n_codes[j], table.weight)
        assert_array_equal(counts[:, some] - 5, wanted)
    starts, codes, found = wide
    assert len(starts) == k * len(block.layout.sparse_features) + 1
    for f, j in enumerate(block.layout.sparse_features):
        wanted = reference.soft_counts(table.codes, parts, j, table.n_codes[j], table.weight)
        some = slice(starts[f * k], starts[f * k + k])
        cluster = np.repeat(np.arange(k), np.diff(starts[f * k : f * k + k + 1]))
        assert (np.diff(codes[some])[np.diff(cluster) == 0] > 0).all()
        dense = np.zeros_like(wanted)
        dense[cluster, codes[some]] = found[some]
        assert_array_equal(dense, wanted)


def dense_cells(block: Block):
    offsets = block.layout.offsets
    for j in np.flatnonzero(np.diff(offsets)).tolist():
        yield j, slice(offsets[j], offsets[j + 1])


@pytest.mark.parametrize("width", [*range(1, 19), 31, 33, 255, 256, 257, 258, 259, 600, 65537])
def test_every_field_width_equals_reference(isa, width):
    rng = np.random.default_rng(width)
    for d, k in ((1, 3), (7, 2), (19, 7), (2, 50)):
        if d * width < 70_000:
            check(make_scores(rng, make_table(rng, 70, [width] * d), k))


@pytest.mark.parametrize("k", CLUSTERS)
def test_every_number_of_clusters_equals_reference(isa, k):
    rng = np.random.default_rng(k)
    for widths in ([2] * 6, [2] * 70, WIDE):
        check(make_scores(rng, make_table(rng, 120, widths), k), n_threads=1 + k % 3)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 1000])
@pytest.mark.parametrize("k", [3, 6, 60])
def test_every_number_of_rows_equals_reference(isa, n, k):
    rng = np.random.default_rng(n)
    check(make_scores(rng, make_table(rng, n, MIXED, first_row=77), k), n_threads=3)


@pytest.mark.parametrize("n", [1, 9, 30])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 20, 70])
def test_few_long_rows_equal_reference(isa, n, k):
    # Lines of all values would be more than the cells that are summed instead.
    rng = np.random.default_rng(n + k)
    weight = rng.integers(0, 9, n) if k % 2 else None
    check(make_scores(rng, make_table(rng, n, WIDE * 100, ignore=True, weight=weight), k))
    tied = make_scores(rng, make_table(rng, n, MIXED * 100, weight=weight), k)
    tied.scores.base[:] = 0
    for prices in tied.scores.prices:
        prices[1::2] = prices[:1]
    check(tied)
    check(tied, tie_key=None)


@pytest.mark.parametrize("k", [1, 2, 4, 5, 16, 17, 32, 33])
@pytest.mark.parametrize("narrow", [[], [2] * 90, [16, 3, 200] * 20])
def test_many_columns_of_many_codes_equal_reference(isa, k, narrow):
    # Up to 32 clusters these columns are added one after the other, for thousands of rows.
    rng = np.random.default_rng(k)
    for widths, n in (
        ([300] * 40, 1),
        ([300] * 31, 150),
        ([70_000, *[257] * 20, *[900] * 20], 150),
    ):
        weight = rng.integers(0, 9, n) if k % 4 == 1 else None
        table = make_table(rng, n, [*narrow, *widths], ignore=True, weight=weight)
        check(make_scores(rng, table, k), n_threads=2)


@pytest.mark.parametrize("k", [3, 20])
def test_many_rows_of_many_columns_of_many_codes_equal_reference(isa, k):
    rng = np.random.default_rng(k)
    check(make_scores(rng, make_table(rng, 5000, [2, 2, *[900] * 33]), k), n_threads=2)


@pytest.mark.parametrize("resolution", [10, 9, 5, 1, 0, -1, -3, -9])
@pytest.mark.parametrize("k", [4, 20, 70])
def test_every_resolution_equals_reference(isa, resolution, k):
    rng = np.random.default_rng(resolution + 20)
    check(make_scores(rng, make_table(rng, 60, WIDE), k, resolution))


# Lines of these are kept by nibbles from some 50 clusters on: rows are compared by levels first.
NARROW = {
    "bits": [2] * 340,
    "three codes": [3] * 170,
    "bits and three codes": [2, 3] * 110,
    "nibbles": [2, 3, 4, 5, 8, 9, 16] * 14,
    "nibbles of one field": [16] * 90,
}


@pytest.mark.parametrize("k", [47, 48, 49, 50, 128, 129])
@pytest.mark.parametrize("kind", NARROW)
def test_levels_of_every_kind_of_narrow_column_equal_reference(isa, kind, k):
    rng = np.random.default_rng(k)
    # The fewer bits clusters differ by, the more of them are in reach: few, some, or too many.
    for n, most in ((1, 0), (65, 0), (260, 700), (33, 250), (130, 30)):
        table = make_table(rng, n, NARROW[kind], first_row=9, ignore=n == 65)
        check(make_scores(rng, table, k, most=most), n_threads=1 + n % 2)


@pytest.mark.parametrize("widths", [[2] * 200, [3, 2, 2] * 60, [2, 3, 5, 16] * 12])
def test_two_thousand_clusters_equal_reference(isa, widths):
    rng = np.random.default_rng(len(widths))
    for n, most in ((70, 0), (259, 1500)):
        check(make_scores(rng, make_table(rng, n, widths), 2000, most=most))


@pytest.mark.parametrize("kind", ["bits", "nibbles"])
@pytest.mark.parametrize(("resolution", "most"), [(10, 1 << 13), (10, 1 << 15), (4, 200), (-1, 4)])
def test_levels_of_dear_prices_equal_reference(isa, kind, resolution, most):
    rng = np.random.default_rng(most)
    for step in (1, most // 4):
        table = make_table(rng, 90, NARROW[kind], ignore=True)
        case = make_scores(rng, table, 60, resolution, most, step)
        # One cluster that is far from all rows, and one feature that decides alone.
        case.scores.base[3] = min(60 * most, 1 << 28)
        case.scores.prices[7][5:] += 30 * most
        check(case)


@pytest.mark.parametrize("kind", ["bits", "nibbles"])
def test_ties_and_weights_by_levels_equal_reference(isa, kind):
    rng = np.random.default_rng(3)
    for tie_key, weight in ((None, None), (5, None), (5, rng.integers(0, 1 << 40, 80))):
        table = make_table(rng, 80, NARROW[kind], weight=weight)
        case = make_scores(rng, table, 70, most=1024, step=512)
        some = np.arange(70) // 2  # each cluster has a twin
        prices = [of[some] for of in case.scores.prices]
        case = replace(
            case, scores=replace(case.scores, prices=prices, base=case.scores.base[some])
        )
        totals, _ = found_by_reference(case, tie_key)
        assert ((totals == totals.min(axis=1, keepdims=True)).sum(axis=1) > 1).all()
        check(case, tie_key)


def test_tiles_of_which_most_clusters_are_in_reach_equal_reference(isa):
    # Where a row holds zeros alone, all clusters cost the same: levels are given up on the way.
    rng = np.random.default_rng(6)
    table = make_table(rng, 900, [2] * 340)
    table.codes[300:580] = 0
    case = make_scores(rng, table, 80)
    case.scores.base[:] = 0
    for of in case.scores.prices:
        of[:, 0] = 7
    check(case, n_threads=2)


@pytest.mark.parametrize("k", [2, 5, 18, 60, 130])
@pytest.mark.parametrize("tie_key", [None, 0, 2**64 - 1])
def test_ties_are_settled_as_among_codes(isa, k, tie_key):
    rng = np.random.default_rng(k)
    case = make_scores(rng, make_table(rng, 300, [2, 3, 5], first_row=5), k, step=4096)
    totals, labels = found_by_reference(case, tie_key)
    tied = (totals == totals.min(axis=1, keepdims=True)).sum(axis=1)
    assert (tied > 1).mean() > 0.1, "hardly any tie: nothing tested"
    check(case, tie_key)
    if tie_key is None:
        assert_array_equal(labels, totals.argmin(axis=1))


@pytest.mark.parametrize("k", [2, 6, 60])
@pytest.mark.parametrize("most", [1 << 13, 1 << 16, 1 << 20, 1 << 24])
def test_dear_prices_overflow_nothing(isa, k, most):
    rng = np.random.default_rng(most)
    check(make_scores(rng, make_table(rng, 90, [*MIXED[:14], 300]), k, 10, most))


@pytest.mark.parametrize("most", [1200, 5000, 12_000])
def test_sums_of_16_bits_are_emptied_in_time(isa, most):
    # Lines of so many clusters and columns are kept in 16 bits, if a byte's prices fit.
    rng = np.random.default_rng(most)
    table = make_table(rng, 20, [2] * 320)
    case = make_scores(rng, table, 600)
    prices = [most * rng.integers(0, 2, (600, 2)) for _ in range(320)]
    check(replace(case, scores=replace(case.scores, prices=prices, resolution=0)))


@pytest.mark.parametrize("k", [2, 5, 40, 70])
def test_long_binary_rows_equal_reference(isa, k):
    rng = np.random.default_rng(k)
    check(make_scores(rng, make_table(rng, 40, [2] * 3000), k))


@pytest.mark.parametrize("k", [3, 7, 50, 120])
@pytest.mark.parametrize("widths", [MIXED, WIDE])
def test_weights_count(isa, k, widths):
    rng = np.random.default_rng(k)
    for top in (3, 1 << 40):
        table = make_table(rng, 130, widths, weight=rng.integers(0, top, 130))
        check(make_scores(rng, table, k), n_threads=3)


@pytest.mark.parametrize("k", [4, 9, 60])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_sum_over_blocks_and_threads_is_that_of_the_whole(isa, k, weighted):
    rng = np.random.default_rng(k)
    weight = rng.integers(1, 9, 3000) if weighted else None
    table = make_table(rng, 3000, WIDE, weight=weight)
    case = make_scores(rng, table, k)
    centers = case.centers().native()

    def soft(cuts, n_threads):
        block = table.block()
        counts = np.zeros((k, block.layout.n_cells), np.int64)
        sizes, sums = np.zeros(k, np.int64), [0, 0]
        for a, b in zip([0, *cuts], [*cuts, 3000], strict=True):
            least, log, _ = _kernels.soft_tally(
                block.part(a, b), centers, 3, counts, sizes, n_threads
            )
            sums[0] += least
            sums[1] += log
        return counts, sizes, sums

    whole = soft((), 1)
    for cuts, n_threads in (((), 3), ((1, 300, 1999), 1), ((2,), 3)):
        for a, b in zip(soft(cuts, n_threads), whole, strict=True):
            assert_array_equal(a, b)


def test_many_rows_equal_reference_on_every_instruction_set(isa):
    # More than the rows whose parts fit in counters of 32 bits.
    rng = np.random.default_rng(4)
    few = make_table(rng, 500, [2] * 5 + [3, 9])
    for k in (3, 50):
        case = make_scores(rng, few, k)
        many = Case(replace(few, codes=np.tile(few.codes, (300, 1))), case.scores)
        parts = reference.memberships(*found_by_reference(case, None), 10)
        block = many.table.block()
        counts, sizes = np.zeros((k, block.layout.n_cells), np.int64), np.zeros(k, np.int64)
        _kernels.soft_tally(block, many.centers().native(), None, counts, sizes, 2)
        assert_array_equal(sizes, 300 * parts.sum(axis=0))
        for j, some in dense_cells(block):
            wanted = 300 * reference.soft_counts(few.codes, parts, j, few.n_codes[j])
            assert_array_equal(counts[:, some], wanted)


@pytest.mark.parametrize("widths", [[3, 9, 2], [3, 300]])
@pytest.mark.parametrize("weighted", [False, True])
def test_more_rows_than_are_kept_at_once_are_the_sum_of_their_parts(weighted, widths):
    n = 70_000
    rng = np.random.default_rng(8)
    weight = rng.integers(1, 9, n) if weighted else None
    table = make_table(rng, n, widths, weight=weight)
    centers = make_scores(rng, table, 60).centers().native()

    def soft(cuts):
        block = table.block()
        counts, sizes = np.zeros((60, block.layout.n_cells), np.int64), np.zeros(60, np.int64)
        sparse = 0
        for a, b in zip([0, *cuts], [*cuts, n], strict=True):
            _, _, wide = _kernels.soft_tally(block.part(a, b), centers, 3, counts, sizes, 2)
            sparse += wide[2].sum()
        return counts, sizes, sparse

    for whole, parts in zip(soft(()), soft((30_000,)), strict=True):
        assert_array_equal(whole, parts)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("widths", [[17] * 200, [60] * 150, [16] * 2500, [2] * 10_000])
def test_few_clusters_and_many_columns_equal_reference(isa, widths, k):
    rng = np.random.default_rng(k)
    check(make_scores(rng, make_table(rng, 17, widths), k, most=400))


FEW_CLUSTERS = [1, 2, 3, 4]
NIBBLES = [2, 3, 4, 5, 3, 16, 7, 2, 2, 9, 1, 3, 3, 8, 2]


@pytest.mark.parametrize("k", FEW_CLUSTERS)
@pytest.mark.parametrize(
    "widths",
    [[2] * 37, [3] * 42, [4] * 21, [16] * 9, NIBBLES, [*NIBBLES, 17], [3] * 330, [2] * 2500],
)
def test_few_clusters_equal_reference_whatever_the_columns(isa, widths, k):
    rng = np.random.default_rng(k)
    for n in (64, 131):
        table = make_table(rng, n, widths, ignore=True)
        case = make_scores(rng, table, k)
        for j in np.flatnonzero(table.ignored > 0):  # these codes are no values
            case.scores.prices[j] = case.scores.prices[j][:, : table.ignored[j]]
        check_soft(case, table.block(), 3, 1)
        weighted = replace(table, weight=rng.integers(0, 9, n))
        check_soft(replace(case, table=weighted), weighted.block(), 3, 1)


@pytest.mark.parametrize("k", FEW_CLUSTERS)
def test_few_clusters_and_every_number_of_rows_equal_reference(isa, k):
    rng = np.random.default_rng(k)
    for n in [*range(1, 41), 63, 65, 1983, 1984, 1985, 4097]:
        case = make_scores(rng, make_table(rng, n, NIBBLES), k)
        check_soft(case, case.table.block(), 3, 1)


@pytest.mark.parametrize("k", FEW_CLUSTERS)
@pytest.mark.parametrize("resolution", [10, 3, 0, -1])
@pytest.mark.parametrize("most", [0, 300, 1 << 16])
def test_few_clusters_equal_reference_whatever_the_prices(isa, k, resolution, most):
    rng = np.random.default_rng(most + resolution + 1)
    case = make_scores(rng, make_table(rng, 100, NIBBLES), k, resolution, most)
    check_soft(case, case.table.block(), 3, 1)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("tie_key", [None, 0, 2**64 - 1])
def test_ties_among_few_clusters_equal_reference(isa, k, tie_key):
    rng = np.random.default_rng(k)
    table = make_table(rng, 300, NIBBLES[:6], first_row=5)
    case = make_scores(rng, table, k, most=2048, step=2048)
    totals, _ = found_by_reference(case, tie_key)
    tied = (totals == totals.min(axis=1, keepdims=True)).sum(axis=1)
    assert (tied > 1).mean() > 0.1, "hardly any tie: nothing tested"
    check_soft(case, case.table.block(), tie_key, 1)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("n", [1983, 4096])
def test_equal_rows_of_one_cluster_alone_overflow_no_sum(isa, k, n):
    rng = np.random.default_rng(k)
    table = make_table(rng, n, NIBBLES)
    table.codes[:] = table.n_codes - 1
    for alone in range(k):
        case = make_scores(rng, table, k)
        case.scores.base[:] = np.where(np.arange(k) == alone, 0, 1 << 20)
        parts = reference.memberships(*found_by_reference(case, 3), 10)
        assert (parts[:, alone] == 1 << 16).all()
        check_soft(case, table.block(), 3, 1)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("widths", [[3] * 640, [2] * 8000])
def test_few_clusters_and_several_tiles_of_long_rows_are_as_without_vectors(isa, k, widths):
    rng = np.random.default_rng(k)
    table = make_table(rng, 2500, widths)
    centers = make_scores(rng, table, k, most=90).centers().native()
    block, found = table.block(), []
    for name in (isa, "generic"):
        _kernels.use_instruction_set(name)
        counts, sizes = np.zeros((k, block.layout.n_cells), np.int64), np.zeros(k, np.int64)
        sums = _kernels.soft_tally(block, centers, 3, counts, sizes, 1)[:2]
        found.append((counts, sizes, sums))
    for a, b in zip(*found, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_all_clusters_share_are_the_sum_of_their_parts(weighted):
    n, k = 6000, 100
    rng = np.random.default_rng(9)
    weight = rng.integers(1, 9, n) if weighted else None
    table = make_table(rng, n, [2] * 60 + [5], weight=weight)
    centers = make_scores(rng, table, k, most=3).centers().native()
    block = table.block()
    whole, parts = (np.zeros((k, block.layout.n_cells), np.int64) for _ in range(2))
    sizes = np.zeros((2, k), np.int64)
    _kernels.soft_tally(block, centers, 3, whole, sizes[0], 1)
    for a in range(0, n, 1000):
        _kernels.soft_tally(block.part(a, a + 1000), centers, 3, parts, sizes[1], 1)
    assert (sizes[0] > 0).all()
    assert_array_equal(sizes[0], sizes[1])
    assert_array_equal(whole, parts)


# By number of clusters: columns of many codes whose sums a thread has of its own (up to 2^20), and
# others of which parts are kept.
SPARSE = {
    1: ([300, 270, 5000], [65_537] * 17),
    5: ([300, 270, 5000], [65_537] * 4),
    25: ([300, 257, 300], [45_000, 300]),
    60: ([300, 257, 300], [300, 20_000]),
    500: ([300, 300], [300, 300, 2000]),
}


def sums_are_few(widths, k):
    return k * sum(width for width in widths if width > 256) <= 1 << 20


@pytest.mark.parametrize("narrow", [[], [2, 3, 40]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", SPARSE)
def test_counts_of_columns_of_many_codes_equal_reference(isa, k, weighted, narrow):
    rng = np.random.default_rng(k)
    few, many = SPARSE[k]
    assert sums_are_few(few, k)
    assert not sums_are_few(many, k)
    for widths, n in ((few, 1), (few, 150), (many, 40)):
        weight = rng.integers(0, 1 << 40, n) if weighted else None
        table = make_table(rng, n, [*widths, *narrow], weight=weight)
        if n > 1:  # a code that is no value
            table.codes[1::7, 0] = table.n_codes[0] - 1
        for most in (0, 40):
            case = make_scores(rng, table, k, most=most)
            check_soft(case, table.block(), 3, 2)


def test_as_many_rows_as_codes_are_summed_by_code_and_equal_reference(isa):
    rng = np.random.default_rng(0)
    widths, k = [400, 300], 1700
    assert not sums_are_few(widths, k)
    for n in (650, 750):  # fewer rows than codes, and more
        table = make_table(rng, n, widths)
        for most in (0, 40):
            check_soft(make_scores(rng, table, k, most=most), table.block(), 3, 2)


@pytest.mark.parametrize("k", [5, 60])
def test_more_rows_than_sums_of_codes_hold_are_the_sum_of_their_parts(isa, k):
    # Sums of 32 bits, of 65,535 rows: all rows have the same code, and belong to one cluster alone.
    rng = np.random.default_rng(k)
    n = 140_000
    table = make_table(rng, n, [300])
    table.codes[:] = 7
    case = make_scores(rng, table, k)
    case.scores.base[:] = np.where(np.arange(k) == 2, 0, 1 << 20)
    block, sizes = table.block(), np.zeros(k, np.int64)
    counts = np.zeros((k, 0), np.int64)
    _, _, wide = _kernels.soft_tally(block, case.centers().native(), 3, counts, sizes, 1)
    assert sizes.tolist() == [n << 16 if c == 2 else 0 for c in range(k)]
    assert [part.tolist() for part in wide[1:]] == [[7], [n << 16]]


@pytest.mark.parametrize("k", [5, 12, 25, 40])
@pytest.mark.parametrize("resolution", [10, 3, 0, -1])
def test_rows_that_some_or_all_clusters_share_equal_reference(isa, k, resolution):
    rng = np.random.default_rng(k)
    for most in (1, int(2.0**resolution) + 1, int(20 * 2.0**resolution) + 1):
        case = make_scores(rng, make_table(rng, 150, [2, 3, 5, 17]), k, resolution, most)
        check_soft(case, case.table.block(), 3, 1)


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_random_tables_equal_reference(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    choices = st.sampled_from([*range(1, 18), 40, 256, 257, 258, 400])
    widths = data.draw(st.lists(choices, min_size=1, max_size=30))
    n = data.draw(st.integers(1, 300))
    weight = rng.integers(0, 5, n) if data.draw(st.booleans()) else None
    table = make_table(rng, n, widths, weight=weight, first_row=data.draw(st.integers(0, 2**40)))
    resolution = data.draw(st.integers(-6, 10))
    case = make_scores(
        rng,
        table,
        data.draw(st.integers(1, 70)),
        resolution,
        data.draw(st.sampled_from([0, 1, 300, 1 << 14])),
        data.draw(st.sampled_from([1, 1, 128])),
    )
    best = _kernels.instruction_set()
    _kernels.use_instruction_set(data.draw(st.sampled_from(ISAS)))
    try:
        check(case, data.draw(st.none() | st.integers(0, 2**64 - 1)), data.draw(st.integers(1, 3)))
    finally:
        _kernels.use_instruction_set(best)


def test_passes_for_codes_alone_refuse_scores():
    rng = np.random.default_rng(0)
    case = make_scores(rng, make_table(rng, 20, [2, 3]), 2)
    block, centers = case.table.block(), case.centers().native()
    with pytest.raises(ValueError, match="must be codes"):
        _kernels.distances(block, centers, 1, np.zeros((20, 2), np.uint32))
    codes = _kernels.Centers(np.zeros((2, 2), np.int32))
    with pytest.raises(ValueError, match="must be scores"):
        _kernels.score_rows(block, codes, None, 1, totals=np.zeros((20, 2), np.int64))


@pytest.mark.parametrize("k", [2, 9, 70])
def test_prices_whose_sums_do_not_fit_are_refused(k):
    rng = np.random.default_rng(0)
    table = make_table(rng, 20, [2] * 8)
    prices = [np.zeros((k, 2), np.int64) for _ in range(8)]
    for some in prices:
        some[0] = 1 << 28
    case = Case(table, reference.Scores(prices, np.zeros(k, np.int64), 10))
    with pytest.raises(ValueError, match="prices of a row must sum"):
        check_hard(case, table.block(), None, 1)
