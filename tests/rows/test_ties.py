"""Rows tied between centers: settled by their values, wherever they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from softmodes import _kernels
from softmodes._rows.block import Block, layout_of, pack
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.tally import Pass, label_block, tally_block
from softmodes._table.codes import CodeRanges, Codes

KEY = 987654321
FIT = np.array([2] * 9 + [3, 4, 7, 8, 16, 16, 200, 256, 256, 300, 65536, 65537], np.int32)


def block_of(codes, n_codes):
    """Pack codes as if their features had so many."""
    columns = tuple(
        np.ascontiguousarray(column, np.uint8 if m <= 256 else np.int32)
        for column, m in zip(codes.T, n_codes, strict=True)
    )
    ranges = CodeRanges(n_codes, np.full(len(n_codes), -1, np.int32))
    return pack(Codes(len(codes), columns, ranges), layout_of(ranges))


def tied_table(rng, n, k):
    """Return codes of few distinct rows, and centers of which many are equal."""
    low = np.maximum(FIT - 2, 0)
    codes = rng.integers(low, FIT, (n, len(FIT))).astype(np.int32)
    codes[:, 4:] = codes[rng.integers(0, 9, n), 4:]
    centers = codes[rng.integers(0, n, k)]
    centers[1::2] = centers[: k // 2]
    return codes, centers


def labels_of(block: Block, centers, key=KEY, n_threads=1):
    asked = Pass(CodeCenters(centers), Comparison(key), np.ones(centers.shape[1], np.int32))
    return label_block(block, asked, n_threads)


def assert_ties(labels, block, centers):
    """Fail unless many rows are tied, so that the key matters."""
    assert (labels != labels_of(block, centers, None)).mean() > 0.2, "few ties: nothing tested"


def splits_equal_rows(codes, labels):
    _, group = np.unique(codes, axis=0, return_inverse=True)
    highest, lowest = np.zeros(group.max() + 1, int), np.full(group.max() + 1, 10**6)
    np.maximum.at(highest, group.ravel(), labels)
    np.minimum.at(lowest, group.ravel(), labels)
    return bool((highest != lowest).any())


@pytest.mark.parametrize("k", [3, 20, 150])
def test_equal_rows_share_a_cluster(isa, k):
    codes, centers = tied_table(np.random.default_rng(k), 2000, k)
    block = block_of(codes, FIT)
    labels = labels_of(block, centers)
    assert_ties(labels, block, centers)
    assert not splits_equal_rows(codes, labels)
    ignored = block.layout.ignored
    numbers = np.arange(2000, dtype=np.uint64)
    by_number, _ = reference.assign(codes, centers, ignored, None, KEY, numbers)
    assert splits_equal_rows(codes, by_number), "ties by row number would pass as well"


@pytest.mark.parametrize("k", [3, 20])
def test_the_rule_of_ties_matters_to_tied_rows_only(isa, k):
    codes, centers = tied_table(np.random.default_rng(k), 2000, k)
    block = block_of(codes, FIT)
    found = reference.distances(codes, centers, block.layout.ignored)
    tied = (found == found.min(axis=1)[:, None]).sum(axis=1) > 1
    labels = labels_of(block, centers)
    numbers = np.arange(2000, dtype=np.uint64)
    by_number, _ = reference.assign(codes, centers, block.layout.ignored, None, KEY, numbers)
    assert 0.2 < tied.mean() < 1
    assert_array_equal(labels[~tied], by_number[~tied])
    assert (labels[tied] != by_number[tied]).mean() > 0.2, "both rules are one: nothing tested"
    assert_array_equal(found[np.arange(2000), labels], found.min(axis=1))


@pytest.mark.parametrize("k", [3, 20])
def test_a_tie_depends_on_neither_cut_nor_position_nor_threads(isa, k):
    codes, centers = tied_table(np.random.default_rng(k), 3000, k)
    block = block_of(codes, FIT)
    labels = labels_of(block, centers)
    assert_ties(labels, block, centers)
    for n_threads in (2, 5):
        assert_array_equal(labels_of(block, centers, n_threads=n_threads), labels)
    assert_array_equal(labels_of(replace(block, first_row=10**12), centers), labels)
    parts = [block_of(codes[a:b], FIT) for a, b in pairwise([0, 1, 300, 301, 2999, 3000])]
    assert_array_equal(np.concatenate([labels_of(part, centers) for part in parts]), labels)
    order = np.random.default_rng(0).permutation(3000)
    assert_array_equal(labels_of(block_of(codes[order], FIT), centers), labels[order])


def test_a_fingerprint_tells_rows_by_their_numbers():
    codes, centers = tied_table(np.random.default_rng(0), 50, 3)
    block = block_of(codes, FIT)
    asked = Pass(CodeCenters(centers), Comparison(KEY), FIT)
    here, there = (tally_block(replace(block, first_row=i), asked) for i in (0, 1))
    assert here.fingerprint != there.fingerprint


def test_instruction_sets_settle_ties_alike():
    codes, centers = tied_table(np.random.default_rng(1), 3000, 30)
    best, found = _kernels.instruction_set(), []
    for name in _kernels.instruction_sets():
        _kernels.use_instruction_set(name)
        found.append(labels_of(block_of(codes, FIT), centers))
    _kernels.use_instruction_set(best)
    for other in found[1:]:
        assert_array_equal(other, found[0])


def test_rows_of_a_few_ones_have_hashes_of_their_own():
    """Also where ones are the highest bits of words, which cancel out in sums of 64 bits."""
    d = 200
    pairs = np.array([(i, j) for i in range(d) for j in range(i + 1)])
    codes = np.zeros((len(pairs), d), np.int32)
    codes[np.arange(len(pairs)), pairs[:, 0]] = codes[np.arange(len(pairs)), pairs[:, 1]] = 1
    layout = layout_of(CodeRanges(np.full(d, 2, np.int32), np.full(d, -1, np.int32)))
    assert layout.stride > 16
    assert len(np.unique(reference.row_hashes(codes, layout))) == len(pairs)
