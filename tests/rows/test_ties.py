"""Rows tied between centers: settled by their values, wherever and however they are packed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from softmodes import _kernels
from softmodes._rows import remember
from softmodes._rows.block import Block, layout_of, pack
from softmodes._rows.cache import Cache
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.remember import tally_rows
from softmodes._rows.stores import open_store
from softmodes._rows.tally import Pass, label_block, tally_block
from softmodes._table.codes import CodeRanges, Codes
from support import open_store as cut_store
from support import table

KEY = 987654321
SIZES = (2, 3, 2, 4, 8, 2, 16, 3)
# Codes by feature, and with some more: fields that stay, grow and move to another section.
FIT = np.array([2] * 9 + [3, 4, 7, 8, 16, 16, 200, 256, 256, 300, 65536, 65537], np.int32)
MORE = FIT + np.array([1, 0, 1] * 7, np.int32)


def block_of(codes, n_codes, fit=None):
    """Pack codes as if their features had so many, and were fitted with `fit`."""
    columns = tuple(
        np.ascontiguousarray(column, np.uint8 if m <= 256 else np.int32)
        for column, m in zip(codes.T, n_codes, strict=True)
    )
    nothing = np.full(len(n_codes), -1, np.int32)
    ranges = CodeRanges(n_codes, nothing)
    fitted = None if fit is None else layout_of(CodeRanges(fit, nothing))
    return pack(Codes(len(codes), columns, ranges), layout_of(ranges), fit_layout=fitted)


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
        found += [labels_of(block_of(codes, *how), centers) for how in ((FIT,), (MORE, FIT))]
    _kernels.use_instruction_set(best)
    for other in found[1:]:
        assert_array_equal(other, found[0])


@pytest.mark.parametrize("k", [3, 20, 150])
def test_another_layout_settles_ties_as_that_of_the_fit(isa, k):
    codes, centers = tied_table(np.random.default_rng(k), 1500, k)
    here, there = block_of(codes, FIT), block_of(codes, MORE, FIT)
    assert (here.layout.byte != there.layout.byte).any(), "one layout: nothing tested"
    labels = labels_of(here, centers)
    assert_ties(labels, here, centers)
    assert_array_equal(labels_of(there, centers), labels)
    hashes = reference.row_hashes(codes, here.layout)
    expected = reference.assign(codes, centers, here.layout.ignored, None, KEY, hashes)[0]
    assert_array_equal(labels, expected)
    astray = labels_of(replace(there, fit_layout=None), centers)
    assert (astray != labels).any(), "the layout of the fit is of no consequence: nothing tested"


def test_random_layouts_settle_ties_as_that_of_the_fit(isa):
    rng = np.random.default_rng(5)
    for _ in range(60):
        d = int(rng.integers(1, 40))
        fit = rng.choice([1, 2, 2, 2, 3, 4, 5, 8, 9, 16, 17, 256, 257, 65536, 65537], d)
        more = (fit + rng.integers(0, 3, d)).astype(np.int32)
        codes = rng.integers(0, fit, (150, d)).astype(np.int32)
        centers = np.repeat(codes[:3], 2, axis=0)
        here = block_of(codes, fit.astype(np.int32))
        there = block_of(codes, more, fit.astype(np.int32))
        assert_array_equal(labels_of(there, centers), labels_of(here, centers))


def test_updates_settle_ties_as_the_layout_of_the_fit_does(isa, monkeypatch):
    monkeypatch.setattr(remember, "LONG_COMPARISON", 0)
    monkeypatch.setattr(remember, "MOST_CHANGED", 1.0)
    rng = np.random.default_rng(2)
    codes, centers = tied_table(rng, 1500, 20)
    there = block_of(codes, MORE, FIT)
    for _ in range(6):
        asked = Pass(CodeCenters(centers.copy()), Comparison(KEY), FIT)
        found = tally_rows(there, 1, asked)
        anew = tally_block(replace(there, cache=Cache()), asked)
        assert (found.cost, found.fingerprint) == (anew.cost, anew.fingerprint)
        expected = labels_of(block_of(codes, FIT), centers)
        assert_array_equal(remember.label_rows(there, 1, asked), expected)
        some = rng.integers(0, 20, 3)
        centers[some] = codes[rng.integers(0, 1500, 3)]


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_rows_of_a_fit_are_labelled_alike_beside_rows_with_unseen_values(isa, missing):
    X = table(600, (*SIZES, 256, 300), seed=4).astype(object)
    X[np.random.default_rng(0).random(X.shape) < 0.05] = None
    fitted = open_store(X, missing=missing)
    first = np.random.default_rng(1).integers(0, 600, 7)
    codes = np.minimum(fitted.store.rows(first), fitted.codebook.n_values - 1)
    centers, comparison = CodeCenters(codes), Comparison(KEY)
    labels = fitted.store.labels(centers, comparison)
    lowest = fitted.store.labels(centers, Comparison())
    assert (labels != lowest).any(), "no ties: nothing tested"
    strange = X[:40].copy()
    strange[np.random.default_rng(2).random(strange.shape) < 0.2] = "never"
    for a, b in [(0, 600), (0, 1), (17, 200), (599, 600)]:
        seen = open_store(X[a:b], codebook=fitted.codebook).store
        assert_array_equal(seen.labels(centers, comparison), labels[a:b])
        both = open_store(np.vstack([strange, X[a:b]]), codebook=fitted.codebook).store
        assert both.blocks[0].fit_layout is not None, "no value is unseen: nothing tested"
        assert_array_equal(both.labels(centers, comparison)[40:], labels[a:b])


def test_rows_with_unseen_values_are_settled_alike_in_any_batch():
    X = table(300, SIZES, seed=5).astype(object)
    codebook = open_store(X).codebook
    X[:, 1] = np.where(np.arange(300) % 3, X[:, 1], "never")
    centers = CodeCenters(np.zeros((4, len(SIZES)), np.int32))
    whole = open_store(X, codebook=codebook).store.labels(centers, Comparison(KEY))
    assert len(set(whole.tolist())) == 4
    for a, b in [(0, 50), (49, 120), (120, 300)]:
        part = open_store(X[a:b], codebook=codebook).store
        assert_array_equal(part.labels(centers, Comparison(KEY)), whole[a:b])


def test_rows_of_a_few_ones_have_hashes_of_their_own():
    """Also where ones are the highest bits of words, which cancel out in sums of 64 bits."""
    d = 200
    pairs = np.array([(i, j) for i in range(d) for j in range(i + 1)])
    codes = np.zeros((len(pairs), d), np.int32)
    codes[np.arange(len(pairs)), pairs[:, 0]] = codes[np.arange(len(pairs)), pairs[:, 1]] = 1
    layout = layout_of(CodeRanges(np.full(d, 2, np.int32), np.full(d, -1, np.int32)))
    assert layout.stride > 16
    assert len(np.unique(reference.row_hashes(codes, layout))) == len(pairs)


def test_the_layout_of_the_fit_has_the_same_features():
    store = cut_store(table(10, SIZES))
    other = layout_of(CodeRanges(np.full(3, 2, np.int32), np.full(3, -1, np.int32)))
    with pytest.raises(ValueError, match="fit_layout must have the features of layout"):
        _ = replace(store.blocks[0], fit_layout=other).native
