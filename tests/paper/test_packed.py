import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes import SoftModes
from softmodes._paper.cell import dataset, run_cell
from softmodes._paper.packed import algorithm_1, packed_blocks
from softmodes._paper.prediction import (
    features_needed,
    ones_after_rounding,
    separation,
    share_on_wrong_side,
    simple_features_needed,
)
from softmodes._paper.recipe import Cell, soft_modes, wide_blocks
from softmodes._rows.block import layout_of, pack, unpack
from softmodes._table.codebook import learn
from softmodes.datasets import make_bbm
from softmodes.metrics import matching_accuracy

P, Q = 0.3, 0.1


@pytest.mark.parametrize(("n", "d"), [(40, 64), (41, 333), (3, 300_001)])
def test_packed_blocks_are_the_bits_of_make_bbm(n, d):
    block, y = packed_blocks(n, d, P, Q, seed=7)
    X, expected = make_bbm(n, d, [[P, Q], [Q, P]], random_state=7)
    assert_array_equal(y, expected)
    assert_array_equal(unpack(block, np.arange(n)), X)


def test_a_packed_block_is_that_of_the_same_bits_packed_as_any_table():
    block, _ = packed_blocks(200, 333, P, Q, seed=1)
    X, _ = make_bbm(200, 333, [[P, Q], [Q, P]], random_state=1)
    assert (X.min(axis=0) < X.max(axis=0)).all(), "a constant column has another layout"
    _, codes = learn(X)
    expected = pack(codes, layout_of(codes.ranges))
    assert_array_equal(block.packed, expected.packed)
    assert block.packed.nbytes == 200 * block.layout.stride < 200 * 333 / 4


def test_packed_blocks_have_the_law_of_the_model():
    n, d = 400, 4_000
    block, y = packed_blocks(n, d, P, Q, seed=2)
    X = unpack(block, np.arange(n)).astype(bool)
    own = np.arange(d) >= d // 2
    for cluster in (0, 1):
        for half in (False, True):
            p = P if (cluster == 1) == half else Q
            found = X[y == cluster][:, own == half].mean()
            assert abs(found - p) < 5 * math.sqrt(p * (1 - p) / (n * d / 4))
    assert (y == 1).sum() == n / 2


@pytest.mark.parametrize("t", [1.0, 3.0, math.inf])
def test_algorithm_1_on_packed_rows_is_that_of_the_estimator(t):
    block, _ = packed_blocks(120, 500, P, Q, seed=3)
    X, _ = make_bbm(120, 500, [[P, Q], [Q, P]], random_state=3)
    found = algorithm_1(block, 2, t=t, max_iter=30, seed=5)
    model = SoftModes(
        2,
        t=t,
        init=X[found.seeds],
        refine=None,
        n_init=1,
        max_iter=30,
        select="last",
        random_state=5,
    ).fit(X)
    assert_array_equal(found.labels, model.labels_)
    assert len(found.run.history) == model.n_iter_
    assert found.run.chosen.cost == model.cost_


def test_a_cell_says_whether_its_seeds_were_in_two_blocks():
    data = wide_blocks(400, 2**12, P, Q)
    records = [run_cell(Cell("x", "small", data, soft_modes(3.0), run)) for run in range(12)]
    apart = [r["metrics"]["accuracy"] for r in records if r["seeds_apart"]]
    assert 0 < len(apart) < 12
    assert min(apart) > 0.99
    block, y = dataset(data).packed, dataset(data).classes
    found = algorithm_1(block, 2, t=3.0, max_iter=30, seed=records[0]["seed"])
    assert matching_accuracy(y, found.labels) == pytest.approx(records[0]["metrics"]["accuracy"])
    assert records[0]["seeds_apart"] == (y[found.seeds[0]] != y[found.seeds[1]])


# ------------------------------------------------------------------------------ prediction


@pytest.mark.parametrize(("t", "needed"), [(3.0, 5_500), (5.0, 28_000), (10.0, 1_900_000)])
def test_the_prediction_has_the_size_of_its_simple_form(t, needed):
    assert simple_features_needed(P, Q, t) == pytest.approx(needed, rel=0.02)
    assert features_needed(P, Q, t) == pytest.approx(needed, rel=0.06)
    assert separation(P, Q, t, features_needed(P, Q, t)) == pytest.approx(4)


@pytest.mark.parametrize(("p", "q", "t", "d"), [(0.3, 0.1, 3.0, 900), (0.4, 0.3, 1.0, 9_000)])
def test_as_many_rows_are_on_the_wrong_side_as_predicted(p, q, t, d):
    """Centers are drawn of right clusters, many times; then rows choose between them."""
    rng = np.random.default_rng(0)
    p_t, q_t = ones_after_rounding(p, t), ones_after_rounding(q, t)
    half = d // 2
    wrong = []
    for _ in range(400):
        centers = rng.random((2, d)) < np.repeat([[p_t, q_t], [q_t, p_t]], half, axis=1)
        rows = rng.random((50, d)) < np.repeat([p, q], half)
        own, other = ((rows != center).sum(axis=1) for center in centers)
        wrong.append(((own > other) + 0.5 * (own == other)).mean())
    predicted = share_on_wrong_side(p, q, t, d)
    error = np.std(wrong) / math.sqrt(len(wrong))
    assert abs(np.mean(wrong) - predicted) < 5 * error + 0.01
    assert predicted > 0.02, "nothing is on the wrong side: nothing tested"


@pytest.mark.parametrize(("p", "q", "t", "d"), [(0.3, 0.1, 5.0, 2**12), (0.2, 0.02, 3.0, 2**12)])
def test_below_the_prediction_the_center_with_fewer_ones_absorbs_all_rows(p, q, t, d):
    block, y = packed_blocks(400, d, p, q, seed=0)
    runs = [algorithm_1(block, 2, t=t, max_iter=30, seed=seed) for seed in range(20)]
    apart = [found for found in runs if y[found.seeds[0]] != y[found.seeds[1]]]
    assert len(apart) > 5
    assert d < features_needed(p, q, t, 2.0)
    for found in apart:
        sizes = np.bincount(found.labels, minlength=2)
        ones = found.run.drawn.codes.sum(axis=1)
        assert sizes.max() > 0.95 * 400
        assert ones[sizes.argmax()] < ones[sizes.argmin()]
