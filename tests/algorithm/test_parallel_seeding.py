"""D1 in rounds: its law, candidates against a slow reference, and what it must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

from softmodes._algorithm.randomness import fold_array, integers_below
from softmodes._algorithm.seeding import Seeding, d1_greedy, d1_parallel, parallel
from softmodes._algorithm.seeding.nearest import SeedsSoFar
from softmodes._rows.block import unpack
from support import open_store, table

SIZES = (2, 3, 5, 2, 9, 4)


def codes_of(store):
    return np.concatenate([unpack(b, np.arange(b.n_rows)) for b in store.blocks])


def distances(rows, centers, feature_weight):
    return ((rows[:, None] != centers) * np.asarray(feature_weight)).sum(axis=2)


def reference_candidates(codes, weight, seeding):
    """Return the candidates of all rounds, from the same random words, slowly."""
    first = np.searchsorted(
        np.cumsum(weight), seeding.draw_tickets(0, 1, int(weight.sum()))[0], side="right"
    )
    candidates = [tuple(codes[first])]
    for round_ in range(5):
        nearest = distances(codes, np.array(candidates), seeding.feature_weight).min(axis=1)
        shares = [int(w) * int(x) for w, x in zip(weight, nearest, strict=True)]
        key = seeding.word_key(-1, round_)
        for row, share in enumerate(shares):
            word = int(fold_array(key, np.array([row]))[0])
            if word * sum(shares) >> 64 < 2 * seeding.k * share:
                candidates.append(tuple(codes[row]))
        candidates = list(dict.fromkeys(candidates))
    return np.array(candidates)


def spied(monkeypatch):
    """Return where the seeding among the candidates will be found."""
    seen = []

    def spy(seeding):
        seen.append(seeding)
        return d1_greedy(seeding)

    monkeypatch.setattr(parallel, "d1_greedy", spy)
    return seen


@pytest.mark.parametrize("weighed", [False, True])
def test_candidates_are_those_of_a_slow_reference(weighed, monkeypatch):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 5, 600) if weighed else None
    store = open_store(table(600, SIZES, seed=3, groups=20), (250,), weight)
    features = np.array([3, 1, 2, 7, 1, 1] if weighed else [1] * 6, np.uint32)
    seeding = Seeding(store, 12, 4, 1, features)
    seen = spied(monkeypatch)
    seeds = d1_parallel(seeding)
    weight = np.ones(600, np.int64) if weight is None else weight
    codes, (among,) = codes_of(store), seen
    candidates = codes_of(among.store)
    assert_array_equal(candidates, reference_candidates(codes, weight, seeding))
    # Rows count for their nearest candidate; of several, for any one.
    apart = distances(codes, candidates, features)
    nearest = apart == apart.min(axis=1, keepdims=True)
    sure = nearest & (nearest.sum(axis=1, keepdims=True) == 1)
    (block,) = among.store.blocks
    assert (weight @ sure <= block.weight).all()
    assert (block.weight <= weight @ nearest).all()
    assert block.weight.sum() == weight.sum()
    assert {tuple(s) for s in seeds} <= {tuple(c) for c in candidates}
    assert len({tuple(s) for s in seeds}) == 12


def share_drawn(n_rounds=4000):
    """Return how often each row of a block is drawn, and its distance to the seed; 3 wanted."""
    X = np.array([[0] * 8] + [[1] * i + [0] * (8 - i) for i in (1, 2, 4, 8)])
    (block,) = open_store(X).blocks
    asked = SeedsSoFar(np.zeros((1, 8), np.int32))
    drawn = np.zeros(5)
    for key in range(n_rounds):
        found = parallel._drawn(block, 1, asked, fold_key(key), total=15, n_wanted=3)
        drawn += (block.packed[:, None] == found).all(axis=2).any(axis=1)
    return drawn, n_rounds


def fold_key(key):
    return int(fold_array(5, np.array([key]))[0])


def test_a_row_is_drawn_by_its_distance_and_for_certain_if_that_is_large():
    drawn, n = share_drawn()
    assert drawn[0] == 0
    assert drawn[4] == n, "3 * 8 / 15 is above 1"
    for count, share in zip(drawn[1:4], (1, 2, 4), strict=True):
        p = 3 * share / 15
        assert chisquare([count, n - count], [n * p, n * (1 - p)]).pvalue > 1e-6
    squared = 3 * 4 / 85
    assert chisquare([drawn[2], n - drawn[2]], [n * squared, n * (1 - squared)]).pvalue < 1e-6


def test_rows_are_drawn_in_integers_however_large_they_are():
    words = fold_array(3, np.arange(1000))
    total, wanted = 2**62 + 12345, 2_000_000
    shares = [total // d for d in (1, 3, 10**5, 10**6, 10**7, 10**9)]
    tickets = integers_below(words, total)
    for share in shares:
        expected = [(int(w) * total >> 64) < wanted * share for w in words]
        assert (tickets // wanted < share).tolist() == expected


def test_few_clusters_are_seeded_by_greedy_d1():
    store = open_store(table(300, SIZES, seed=1))
    for k in range(1, 7):
        assert_array_equal(d1_parallel(Seeding(store, k, 2, 0)), d1_greedy(Seeding(store, k, 2, 0)))
    assert (d1_parallel(Seeding(store, 7, 2, 0)) != d1_greedy(Seeding(store, 7, 2, 0))).any()


@pytest.mark.parametrize("k", [100, 199, 200])
def test_nearly_as_many_clusters_as_rows_have_seeds_of_their_own(k):
    rows = np.arange(200)
    store = open_store(np.column_stack([rows, rows // 2, rows // 10]), (77,))
    seeds = d1_parallel(Seeding(store, k, 0, 0))
    assert len(np.unique(seeds, axis=0)) >= 0.99 * k


def test_runs_and_seeds_draw_other_rows():
    store = open_store(table(2000, SIZES, seed=1, groups=100))
    found = {
        d1_parallel(Seeding(store, 20, seed, run)).tobytes() for seed in (0, 1) for run in (0, 1)
    }
    assert len(found) == 4


def test_seeds_are_near_to_rows_as_those_of_greedy_d1_are():
    """Of twenty seedings each; random rows are told from both."""
    from softmodes._algorithm.seeding import random_rows

    store = open_store(table(3000, (2, 3, 4) * 8, seed=2, groups=40))
    codes = codes_of(store)

    def mean_cost(method):
        found = [method(Seeding(store, 40, seed, 0)) for seed in range(20)]
        ones = np.ones(24)
        return np.mean([distances(codes, seeds, ones).min(axis=1).mean() for seeds in found])

    greedy, rounds, chance = map(mean_cost, (d1_greedy, d1_parallel, random_rows))
    assert rounds < 1.02 * greedy
    assert chance > 1.05 * greedy
