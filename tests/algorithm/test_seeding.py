from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

from softmodes._algorithm.loop import best_run
from softmodes._algorithm.plan import Plan
from softmodes._algorithm.randomness import fold_array, integers_below
from softmodes._algorithm.seeding import (
    METHODS,
    Seeding,
    cao,
    d1,
    d1_greedy,
    huang,
    nearest,
    random_rows,
)
from softmodes._algorithm.seeding.frequency import _DenseAndFar
from softmodes._algorithm.seeding.nearest import SeedDistances, _NearerRows
from softmodes._algorithm.seeding.tickets import Shares, locate_weight
from softmodes._rows.block import layout_of, pack, unpack
from softmodes._rows.stores import MemoryStore
from softmodes._rows.tally import nearest_distances
from softmodes._table.codebook import learn
from softmodes.rounding import soft
from support import open_store, table


def codes_of(store):
    return np.concatenate([unpack(b, np.arange(b.n_rows)) for b in store.blocks])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("rows", "k"),
    [
        ([["a"]], 1),
        ([["a", "b"]] * 6, 4),
        ([["a"], ["b"], ["a"]], 3),
        (table(30, (2, 3, 4)).tolist(), 30),
        (table(40, (2, 2)).tolist(), 17),
    ],
    ids=["one row", "all rows equal", "fewer distinct rows than k", "k = n", "few distinct rows"],
)
def test_seeding_never_fails_and_returns_rows_of_the_table(method, rows, k):
    store = open_store(np.array(rows))
    seeds = METHODS[method](Seeding(store, k, 3, 0))
    assert seeds.shape == (k, store.layout.n_features)
    known = {tuple(row) for row in codes_of(store)}
    assert all(tuple(seed) in known for seed in seeds)


@pytest.mark.parametrize("method", METHODS)
def test_seeds_do_not_depend_on_the_cut_or_on_kept_caches(method, monkeypatch):
    X = table(400, (2, 3, 5, 2), seed=1)
    weight = np.random.default_rng(0).integers(0, 4, 400)
    k = 9 if method in ("cao", "huang") else 40
    expected = METHODS[method](Seeding(open_store(X, weight=weight), k, 5, 2))
    for cuts in [(1,), (100, 101, 399), (256,)]:
        store = open_store(X, cuts, weight)
        assert_array_equal(METHODS[method](Seeding(store, k, 5, 2)), expected)
    forgetful = open_store(X, (123,), weight)
    plain_map = forgetful.map
    rng = np.random.default_rng(7)

    def map_and_forget(task):
        found = plain_map(task)
        for block in forgetful.blocks:
            if rng.random() < 0.5:
                block.cache.clear()
        return found

    monkeypatch.setattr(forgetful, "map", map_and_forget)
    assert_array_equal(METHODS[method](Seeding(forgetful, k, 5, 2)), expected)


@pytest.mark.parametrize("method", METHODS)
def test_a_sparing_store_finds_the_same_seeds_and_keeps_little(method, monkeypatch):
    X = table(3000, (2, 3, 5, 2, 9, 300), seed=1, groups=40)
    weight = np.random.default_rng(0).integers(0, 4, 3000)
    k = 30
    for weights, feature_weight in [(None, None), (weight, np.array([3, 1, 7, 0, 2, 5], "u4"))]:
        expected = METHODS[method](Seeding(open_store(X, (), weights), k, 5, 2, feature_weight))
        sparing = open_store(X, (700, 1500), weights)
        sparing.sparing = True
        plain_map, kept = sparing.map, []

        def map_and_look(task, sparing=sparing, plain_map=plain_map, kept=kept):
            found = plain_map(task)
            kept.extend(kept_arrays(block) for block in sparing.blocks)
            return found

        monkeypatch.setattr(sparing, "map", map_and_look)
        found = METHODS[method](Seeding(sparing, k, 5, 2, feature_weight))
        assert_array_equal(found, expected)
        assert any(kept) == (method not in ("random", "huang")), "nothing kept: nothing tested"
        most = 3 if method == "cao" else 1  # bytes of a row; cao keeps densities too
        assert all(sum(array.itemsize for array in arrays) <= most for arrays in kept)
        assert not any(map(kept_arrays, sparing.blocks)), "kept beyond the end"


def test_a_sparing_store_is_not_compared_with_candidates_of_later_steps(monkeypatch):
    """They would be compared anew in every step."""
    store = open_store(table(400, (2, 3, 5, 2, 9), seed=1, groups=40))
    store.sparing = True
    compared = []
    totals = nearest._kernels.candidate_totals

    def counted(block, candidates, current, distances, n_threads):
        compared.append(len(distances))
        return totals(block, candidates, current, distances, n_threads)

    monkeypatch.setattr(nearest._kernels, "candidate_totals", counted)
    monkeypatch.delattr(nearest._kernels, "nearer")
    d1_greedy(Seeding(store, 40, 5, 2))
    assert compared == [5] * 39


def kept_arrays(block):
    """Everything of the size of its rows that a block has kept for seeding."""
    kept = [block.cache.peek(kind) for kind in (SeedDistances, _DenseAndFar)]
    values = [value for cache in kept if cache for value in vars(cache).values()]
    assert not any(isinstance(value, (Shares, _NearerRows)) for value in values)
    return [v for v in values if isinstance(v, np.ndarray) and v.shape == (block.n_rows,)]


@pytest.mark.parametrize("method", METHODS)
def test_seeds_of_rows_with_holes_and_weighed_features_do_not_depend_on_the_cut(method):
    cells = table(500, (2, 3, 5, 4), seed=8).astype(object)
    cells[np.random.default_rng(1).random(cells.shape) < 0.2] = None
    codebook, codes = learn(cells, "ignore")
    whole = pack(codes, layout_of(codes.ranges))
    weight = np.array([5, 1, 2, 7], np.uint32)
    found = []
    for edges in [(0, 500), (0, 1, 200, 500), (0, 499, 500)]:
        blocks = [whole.part(a, b) for a, b in pairwise(edges)]
        store = MemoryStore(blocks, codebook.n_values)
        found.append(METHODS[method](Seeding(store, 25, 3, 1, weight)))
    holes = (found[0] >= codebook.n_values).any()
    assert holes or method == "cao", "no seed has a missing cell: nothing tested"
    assert_array_equal(found[1], found[0])
    assert_array_equal(found[2], found[0])


def other_seeds(known):
    asked = replace(known.asked, seeds=known.asked.seeds + 1)
    return SeedDistances(asked, np.zeros_like(known.current))


def other_weights(known):
    asked = replace(known.asked, feature_weight=np.ones(5, np.uint32))
    return SeedDistances(asked, np.zeros_like(known.current))


def other_candidates(known):
    if known.nearer is None or known.nearer.candidates.compare_all:
        return known
    codes = known.nearer.candidates.codes
    others = replace(known.nearer.candidates, codes=codes + 1)
    stale = _NearerRows(others, np.zeros(len(codes) + 1, int), np.empty(0, int), np.empty(0, "u2"))
    return replace(known, nearer=stale, chosen=known.chosen)


@pytest.mark.parametrize("left_behind", [other_seeds, other_weights, other_candidates])
def test_what_another_seeding_left_behind_is_not_taken_for_ones_own(left_behind):
    X = table(300, (2, 3, 5, 2, 4), seed=1)
    expected = d1_greedy(Seeding(open_store(X, (200,)), 40, 0, 0))
    store = open_store(X, (200,))
    plain_map, n_swapped = store.map, 0

    def map_and_swap(task):
        nonlocal n_swapped
        found = plain_map(task)
        known = store.blocks[1].cache.peek(SeedDistances)
        if known:
            left = left_behind(known)
            n_swapped += left is not known
            store.blocks[1].cache.keep(left)
        return found

    store.map = map_and_swap
    assert_array_equal(d1_greedy(Seeding(store, 40, 0, 0)), expected)
    assert n_swapped > 10


def second_seed_counts(n_seeds=4000):
    """Second D1 seeds over many seeds of the generator, given that row 0 was the first."""
    X = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]])
    store = open_store(X)
    counts = np.zeros(4, int)
    for seed in range(n_seeds):
        first, second = d1(Seeding(store, 2, seed, 0)).sum(axis=1)
        if first == 0:
            counts[[0, 1, 2, 2, 3][second]] += 1
    assert counts.sum() > n_seeds / 8
    return counts


def test_d1_draws_rows_with_probability_proportional_to_distance():
    counts = second_seed_counts()
    assert counts[0] == 0
    assert chisquare(counts[1:], counts.sum() * np.array([1, 2, 4]) / 7).pvalue > 1e-6
    squared = counts.sum() * np.array([1, 4, 16]) / 21
    assert chisquare(counts[1:], squared).pvalue < 1e-6, "a D2 law would not be noticed"


def steps_ahead(step, k):
    return min(step // 4, 64, k - step) if step >= 16 else 1


def reference_greedy(codes, seeding, n_candidates):
    """Greedy D1, obvious and slow, from the same random words.

    Tickets are drawn for some steps ahead; one that no longer lies in its row's share is void.
    """
    n = len(codes)
    seeds = [codes[seeding.draw_tickets(0, 1, n)[0]]]
    nearest = (codes != seeds[0]).sum(axis=1)
    tickets = []
    n_void = 0
    for step in range(1, seeding.k):
        valid = [(row, rest) for row, rest in tickets if rest < nearest[row]]
        n_void += len(tickets) - len(valid)
        if len(valid) < n_candidates:
            n_drawn = n_candidates * steps_ahead(step, seeding.k)
            drawn = seeding.draw_tickets(step, n_drawn, int(nearest.sum()))
            ends = np.cumsum(nearest)
            rows = np.searchsorted(ends, drawn, side="right")
            valid = list(zip(rows, drawn - (ends - nearest)[rows], strict=True))
        candidates = codes[[row for row, _ in valid[:n_candidates]]]
        tickets = valid[n_candidates:]
        lowered = [np.minimum(nearest, (codes != c).sum(axis=1)) for c in candidates]
        best = int(np.argmin([low.sum() for low in lowered]))
        nearest = lowered[best]
        seeds.append(candidates[best])
    return np.array(seeds), n_void


@pytest.mark.parametrize("n_candidates", [1, 4])
@pytest.mark.parametrize("k", [8, 60])
def test_d1_equals_a_slow_reference(n_candidates, k):
    X = table(6000, (2, 3, 4, 2, 17, 300), seed=3, groups=9)
    store = open_store(X, (5000,))
    seeding = Seeding(store, k, 11, 1)
    expected, n_void = reference_greedy(codes_of(store), seeding, n_candidates)
    assert_array_equal(d1(seeding, n_candidates), expected)
    assert n_void > 0 or k == 8, "no ticket was void: the case is not tested"


def test_tickets_drawn_ahead_follow_the_law_of_those_drawn_now():
    """All rows differ in the first column; half of them, in the second one too, count twice."""
    first = np.arange(200)
    second = np.where(first % 2 == 1, first, 0)
    store = open_store(np.column_stack([first, second]))
    n_far, expected = 0, 0.0
    for seed in range(400):
        seeds = d1(Seeding(store, 24, seed, 0))
        left = np.setdiff1d(first, seeds[:23, 0])
        shares = 1 + left % 2
        expected += shares[left % 2 == 1].sum() / shares.sum()
        n_far += seeds[23, 0] % 2
    assert abs(n_far - expected) < 5 * np.sqrt(expected)


def test_greedy_takes_two_plus_log_k_candidates():
    store = open_store(table(500, (3, 3, 3, 3), seed=4))
    seeding = Seeding(store, 20, 0, 0)
    assert_array_equal(d1_greedy(seeding), d1(seeding, 2 + math.floor(math.log(20))))


@pytest.mark.parametrize("k", [10, 150, 299, 300])
def test_random_seeds_are_distinct_rows(k):
    X = np.arange(300)[:, None]
    seeds = random_rows(Seeding(open_store(X), k, 1, 0))
    assert len(set(seeds[:, 0])) == k


def test_random_seeds_are_uniform():
    store = open_store(np.arange(10)[:, None])
    drawn = np.concatenate([random_rows(Seeding(store, 3, seed, 0)) for seed in range(3000)])
    assert chisquare(np.bincount(drawn[:, 0])).pvalue > 1e-6


def test_a_row_of_weight_two_is_seeded_as_often_as_two_rows():
    weighted = open_store(np.array([[0], [1], [2]]), weight=np.array([2, 1, 0]))
    repeated = open_store(np.array([[0], [0], [1]]))
    for method in (random_rows, d1):
        a, b = (
            np.bincount([method(Seeding(s, 2, seed, 0))[:, 0].sum() for seed in range(2000)])
            for s in (weighted, repeated)
        )
        assert len(a) == len(b)
        if len(a) > 1 and a.min() > 0:
            assert chisquare(a, b * a.sum() / b.sum()).pvalue > 1e-6


@pytest.mark.parametrize("whole", [True, False])
def test_a_row_is_drawn_twice_only_if_its_weight_counts_rows(whole):
    store = open_store(np.arange(6)[:, None], weight=np.full(6, 10))
    if not whole:
        store = MemoryStore(store.blocks, store.n_values, weights_repeat=False)
    drawn = [random_rows(Seeding(store, 3, seed, 0))[:, 0] for seed in range(50)]
    assert any(len(set(rows.tolist())) < 3 for rows in drawn) is whole


def test_cao_equals_a_slow_reference():
    store = open_store(table(300, (2, 3, 4, 6), seed=6), (111,))
    codes = codes_of(store)
    counts = [np.bincount(column) for column in codes.T]
    density = sum(c[column] for c, column in zip(counts, codes.T, strict=True))
    seeds = [codes[np.argmax(density)]]
    for _ in range(4):
        distance = np.min([(codes != s).sum(axis=1) for s in seeds], axis=0)
        seeds.append(codes[np.argmax(density * distance)])
    assert_array_equal(cao(Seeding(store, 5, 0, 0)), seeds)


def test_cao_compares_the_rows_with_each_seed_once(monkeypatch):
    compared = []

    def counted(block, centers, *rest):
        compared.append((block.index, len(centers)))
        return nearest_distances(block, centers, *rest)

    monkeypatch.setattr("softmodes._algorithm.seeding.frequency.nearest_distances", counted)
    cao(Seeding(open_store(table(300, (2, 3, 4, 6), seed=6), (111,)), 5, 0, 0))
    assert compared == [(0, 1), (1, 1)] * 4


def test_huang_takes_different_rows():
    store = open_store(np.arange(50)[:, None] // np.array([1, 2, 3]))
    seeds = huang(Seeding(store, 20, 0, 0))
    assert len({tuple(seed) for seed in seeds}) == 20


def test_tickets_are_the_high_half_of_the_product():
    words = fold_array(3, np.arange(1000))
    for bound in (1, 7, 2**31 + 5, 2**62 + 12345):
        expected = [int(w) * bound >> 64 for w in words]
        assert integers_below(words, bound).tolist() == expected


def test_tickets_of_a_step_are_those_of_its_words():
    seeding = Seeding(open_store(np.zeros((3, 1))), 2, 17, 4)
    words = fold_array(seeding.word_key(5), np.arange(300))
    for bound in (1, 10, 2**40 + 3, 2**63):
        expected = integers_below(words, bound)
        assert_array_equal(seeding.draw_tickets(5, 300, bound), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
@pytest.mark.parametrize("n", [1, 511, 512, 513, 2000])
def test_every_ticket_is_found_in_the_share_of_its_row(dtype, n):
    by_row = np.random.default_rng(n).integers(0, 4, n).astype(dtype)
    by_row[-1] = 1  # there is a ticket
    owners = np.repeat(np.arange(n), by_row)
    rows, rests = Shares(by_row).search(np.arange(len(owners)))
    assert_array_equal(rows, owners)
    assert_array_equal(rests, np.arange(len(owners)) - np.searchsorted(owners, owners))


def test_a_ticket_at_an_edge_belongs_to_the_next_row():
    shares = Shares(np.array([3, 0, 2, 4] + [1] * 600))
    rows, rests = shares.search(np.array([0, 2, 3, 4, 5, 8, 9, 516, 517]))
    assert rows.tolist() == [0, 0, 2, 2, 3, 3, 4, 511, 512]
    assert rests.tolist() == [0, 2, 0, 1, 0, 3, 0, 0, 0]


def test_a_ticket_at_the_edge_of_a_block_belongs_to_the_next_block():
    weight = np.array([2, 1, 3, 4])
    store = open_store(np.arange(4)[:, None], (1, 3), weight)
    owners = np.repeat(np.arange(4), weight)
    located = locate_weight(store, np.arange(10))
    assert_array_equal(located.numbers, owners)
    assert_array_equal(located.codes[:, 0], owners)
    assert_array_equal(located.rows.weight, weight[owners])


def counted_maps(store):
    """Let a store count its maps."""
    plain_map, maps = store.map, []

    def counted(task):
        maps.append(task)
        return plain_map(task)

    store.map = counted
    return maps


MAPS = {
    "random": lambda k: 2,
    "d1": lambda k: 2 * k + 2,
    "d1-greedy": lambda k: 2 * k + 2,
    "d1-parallel": lambda k: 20,
    "huang": lambda k: k + 1,
    "cao": lambda k: k + 1,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 2, 6, 7, 20, 120, 399])
def test_a_seeding_takes_few_maps(method, k):
    for groups, weight in [(3, None), (50, np.random.default_rng(0).integers(0, 9, 400))]:
        store = open_store(table(400, (2, 3, 5, 9, 4, 3), seed=k, groups=groups), (150,), weight)
        maps = counted_maps(store)
        METHODS[method](Seeding(store, k, 1, 0))
        assert len(maps) <= MAPS[method](k)


def test_a_step_of_greedy_d1_takes_one_map_where_candidates_were_drawn_ahead():
    """Up to 16 seeds two, then one and the draws, which are ever fewer."""
    store = open_store(table(3000, (2, 3) * 20, groups=200))
    maps = counted_maps(store)
    d1_greedy(Seeding(store, 200, 1, 0))
    assert len(maps) <= 3 + 2 * 15 + 184 + 20


@pytest.mark.parametrize("refine", [None, "gini", "latent"])
@pytest.mark.parametrize("init", METHODS)
def test_a_fit_takes_the_maps_of_its_seeding_and_one_for_each_round(init, refine):
    k = 12
    store, alone = (
        open_store(table(400, (2, 3, 5, 9, 4), seed=3, groups=9), (150,)) for _ in range(2)
    )
    seeding_maps = counted_maps(alone)
    METHODS[init](Seeding(alone, k, 7, 0))
    n_seeding = len(seeding_maps)
    maps = counted_maps(store)
    plan = Plan(
        k, soft(3.0), init, n_init=1, max_iter=100, patience=10, select="best",
        yardstick="expected_cost", seed=7, refine=refine,
    )  # fmt: skip
    run = best_run(store, plan)
    # A finish counts the columns, if seeding has not; of a latent one, the last partition takes a
    # pass.
    others = int(refine is not None and init not in {"huang", "cao"}) + int(refine == "latent")
    assert len(maps) == n_seeding + len(run.history) + others


@pytest.mark.parametrize("method", METHODS)
def test_tasks_carry_seeds_and_candidates_but_no_store(method, monkeypatch):
    n, k, d = 20_000, 24, 6
    store = open_store(table(n, (2, 3, 4, 5, 2, 7), groups=20))
    plain_map, sizes = store.map, []

    def measured_map(task):
        sizes.append(len(pickle.dumps(task)))
        return plain_map(task)

    monkeypatch.setattr(store, "map", measured_map)
    METHODS[method](Seeding(store, k, 3, 0))
    # Candidates drawn for several steps, or by the rounds of parallel D1 with some to spare.
    ahead = 15 * k if method == "d1-parallel" else max(1, k // 4) * (2 + int(math.log(k)))
    held = 4 * d * (k + ahead) + 16 * max(2 * k + 8, ahead)  # codes; numbers and tickets of rows
    assert sizes
    assert max(sizes) <= held + 2048 < store.blocks[0].packed.nbytes


def test_an_interrupted_seeding_leaves_nothing_that_another_trips_over():
    X = table(300, (2, 3, 5, 2), seed=1)
    expected = cao(Seeding(open_store(X), 5, 0, 0))
    store = open_store(X)
    plain_map = store.map

    def interrupted(task):
        found = plain_map(task)
        if store.blocks[0].cache.peek(SeedDistances):
            raise KeyboardInterrupt
        return found

    store.map = interrupted
    with pytest.raises(KeyboardInterrupt):
        d1(Seeding(store, 5, 0, 0))
    store.map = plain_map
    assert_array_equal(cao(Seeding(store, 5, 0, 0)), expected)


def test_empty_blocks_are_no_blocks():
    X = table(60, (2, 3, 5), seed=2)
    for method in METHODS.values():
        expected = method(Seeding(open_store(X), 7, 1, 0))
        cut = open_store(X, (0, 20, 20, 60))
        assert [block.index for block in cut.blocks] == [0, 1]
        assert_array_equal(method(Seeding(cut, 7, 1, 0)), expected)


def test_huang_takes_no_row_twice_however_the_rows_are_cut():
    X = np.arange(60)[:, None] // np.array([1, 2, 3])
    expected = huang(Seeding(open_store(X), 50, 0, 0))
    assert len({tuple(seed) for seed in expected}) == 50
    for cuts in [(1,), (20, 40), (59,)]:
        assert_array_equal(huang(Seeding(open_store(X, cuts), 50, 0, 0)), expected)


def test_d1_goes_on_from_the_distances_to_the_seeds_so_far(monkeypatch):
    anew = []

    store = open_store(table(400, (2, 3, 5, 2), seed=1), (100,))

    def counted(block, *rest):
        if block in store.blocks:  # and not of candidates that were drawn ahead
            anew.append(block.index)
        return nearest_distances(block, *rest)

    monkeypatch.setattr(nearest, "nearest_distances", counted)
    d1_greedy(Seeding(store, 40, 5, 2))
    assert anew == [0, 1], "of all rows to all seeds, once for the first seed"


@pytest.mark.parametrize("seed", range(5))
def test_random_seeds_are_the_first_distinct_tickets_up_to_half_of_the_rows(seed):
    store = open_store(np.arange(20)[:, None])
    half, more = Seeding(store, 10, seed, 0), Seeding(store, 11, seed, 0)
    tickets = half.draw_tickets(0, 1000, 20).tolist()
    assert random_rows(half)[:, 0].tolist() == list(dict.fromkeys(tickets))[:10]
    words = fold_array(more.word_key(0), np.arange(20)).tolist()
    assert random_rows(more)[:, 0].tolist() == sorted(range(20), key=words.__getitem__)[:11]
