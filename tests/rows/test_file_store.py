"""Rows in files and streams: the same answer as in memory, whatever memory there is."""

from __future__ import annotations

import itertools
import math
import os
import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from softmodes._algorithm.loop import best_run
from softmodes._algorithm.plan import Plan
from softmodes._algorithm.seeding import METHODS
from softmodes._model.clustering import Clustering
from softmodes._rows import scratch
from softmodes._rows.block import layout_of, pack, unpack
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.remember import LastPass
from softmodes._rows.scratch import Room, Scratch, Shelf
from softmodes._rows.stores import file, open_store, streamed
from softmodes._rows.stores.file import FileStore, RowWriter
from softmodes._table.codebook import learn
from softmodes.rounding import soft

N = 300
MUCH = 10**9


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let blocks have some hundred rows, and parts some seventy."""
    monkeypatch.setattr(file, "_LEAST_BLOCK_BYTES", 1000)
    monkeypatch.setattr(file, "_BLOCK_BYTES", 1000)
    monkeypatch.setattr(streamed, "_ROWS_AT_ONCE", 71)


def made_table(missing: bool) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 3, N)
    frame = pd.DataFrame(
        {
            "text": np.array(list("abc"))[groups],
            "flag": (groups == 1) ^ (rng.random(N) < 0.2),
            "number": np.where(rng.random(N) < 0.3, rng.integers(0, 6, N), groups),
            "wide": np.arange(N) % 280 * 7,  # over 256 values
            "noise": rng.choice(list("xyz"), N),
        }
    )
    frame["text"] = np.where(rng.random(N) < 0.4, rng.choice(list("abcde"), N), frame["text"])
    if missing:
        frame.loc[rng.random(N) < 0.1, "text"] = None
        frame["late"] = np.where(np.arange(N) < N - 3, "p", None)  # missing in the last part only
    return frame


def stream(frame: pd.DataFrame) -> pa.RecordBatchReader:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=37))


def forgetful(store: FileStore) -> FileStore:
    """Let a store lose half of its caches before every task."""
    rng, each = np.random.default_rng(0), store._each

    def forgetting(task):
        for block in store.blocks:
            if rng.random() < 0.5:
                block.cache.clear()
        return each(task)

    store._each = forgetting
    return store


def outcome(opened, plan: Plan):
    plan = replace(
        plan,
        feature_weight=opened.features.counts,
        row_unit=opened.rows.unit,
        feature_unit=opened.features.unit,
    )
    found = Clustering.of(best_run(opened.store, plan), plan, opened.codebook, None)
    return found.labelled(opened.store)


def assert_same(one: Clustering, other: Clustering) -> None:
    assert one.history == other.history
    assert_array_equal(one.labels, other.labels)
    assert_array_equal(one.centers.codes, other.centers.codes)
    assert_array_equal(one.tally.cluster_sizes, other.tally.cluster_sizes)
    assert one.tally.fingerprint == other.tally.fingerprint
    for mine, theirs in zip(
        one.tally.counts.of_features(), other.tally.counts.of_features(), strict=True
    ):
        assert_array_equal(mine.toarray() if hasattr(mine, "toarray") else mine,
                           theirs.toarray() if hasattr(theirs, "toarray") else theirs)  # fmt: skip


@pytest.mark.parametrize("missing", ["category", "ignore", "error"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("feature_weight", [None, {"text": 2.5, "wide": 0.25}])
def test_same_answer_wherever_the_rows_live(missing, weighted, feature_weight):
    frame = made_table(missing != "error")
    how = {
        "missing": missing,
        "sample_weight": np.random.default_rng(1).random(N) if weighted else None,
        "feature_weight": feature_weight,
    }
    here = open_store(frame, **how)
    assert int(here.codebook.n_values.max()) > 256, "no column is counted sparsely"
    in_file = open_store(stream(frame), memory_limit=0, **how)
    assert in_file.store.sparing
    assert len(in_file.store.blocks) >= 3
    forgetting = open_store(stream(frame), memory_limit=MUCH, **how)
    assert not forgetting.store.sparing
    forgetful(forgetting.store)
    base = Plan(3, soft(2.0), "random", 1, 5, 3, "best", "expected_cost", seed=3, latent_rounds=8)
    for t, init, refine in itertools.product(
        (1.0, 2.0, math.inf), METHODS, (None, "gini", "latent")
    ):
        plan = replace(base, rounding=soft(t), init=init, refine=refine, n_init=1 + (t == 2.0))
        expected = outcome(here, plan)
        assert_same(outcome(in_file, plan), expected)
        assert_same(outcome(forgetting, plan), expected)


@pytest.mark.parametrize("limit", [0, 1500, 2500, 100_000])
def test_rows_and_codebook_are_those_of_the_table_for_any_limit(limit):
    frame = made_table(missing=True)
    weight = np.arange(N) / 7
    here = open_store(frame, missing="ignore", sample_weight=weight)
    there = open_store(stream(frame), missing="ignore", sample_weight=weight, memory_limit=limit)
    assert there.codebook == here.codebook
    rows = np.arange(N)
    assert_array_equal(there.store.rows(rows), here.store.rows(rows))
    assert_array_equal(there.rows.counts, here.rows.counts)
    assert (there.store.n_rows, there.store.n_weighed) == (N, N - 1)
    assert there.store.total_weight == here.store.total_weight
    first_rows = there.store.map(lambda block, _: (block.index, block.first_row, block.n_rows))
    assert [index for index, _, _ in first_rows] == list(range(len(first_rows)))
    assert [first for _, first, _ in first_rows] == [
        sum(n for _, _, n in first_rows[:i]) for i in range(len(first_rows))
    ]


def test_some_blocks_are_in_memory_and_some_in_the_file():
    codebook, codes = learn(np.random.default_rng(0).integers(0, 9, (600, 8)))
    layout = layout_of(codes.ranges)
    whole = pack(codes, layout)
    room = Room(1200)
    writer = RowWriter(layout, 600, room)
    for start in range(0, 600, 45):
        writer.add(whole.packed[start : start + 45])
    store = FileStore(writer, codebook.n_values)
    maps = [block.packed.base is not None and not block.packed.flags.writeable
            for block in store.blocks]  # fmt: skip
    assert any(maps)
    assert not all(maps)
    assert room.used <= 1200
    found = np.concatenate(store.map(lambda block, _: unpack(block, np.arange(block.n_rows))))
    assert_array_equal(found, codes.rows(slice(None)))


def test_what_is_found_by_row_lies_in_a_file_if_memory_is_short():
    frame = made_table(missing=False)
    here = open_store(frame).store
    centers = CodeCenters(here.rows(np.arange(5)))
    for limit, in_file in ((0, True), (MUCH, False)):
        store = open_store(stream(frame), memory_limit=limit).store
        labels = store.labels(centers, Comparison(3))
        assert isinstance(labels, np.memmap) == in_file
        assert_array_equal(labels, here.labels(centers, Comparison(3)))
        distances = store.distances(centers, None)
        assert isinstance(distances, np.memmap) == in_file
        assert_array_equal(distances, here.distances(centers, None))
    assert not labels.flags.writeable or not in_file


def test_numbers_of_clusters_are_applied_where_the_rows_are():
    store = open_store(stream(made_table(missing=False)), memory_limit=MUCH).store
    centers, numbers = CodeCenters(store.rows(np.arange(4))), np.array([3, 1, 0, 2], np.int32)
    plain = store.labels(centers, Comparison(3))
    assert_array_equal(store.labels(centers, Comparison(3), numbers=numbers), numbers[plain])
    for _ in range(2):  # now from what is remembered
        store.tally(centers, Comparison(3))
    assert all(block.cache.peek(LastPass).assignment for block in store.blocks)
    assert_array_equal(store.labels(centers, Comparison(3), numbers=numbers), numbers[plain])


def test_sums_over_blocks_are_those_of_the_whole():
    frame = made_table(missing=True)
    here, there = open_store(frame).store, open_store(stream(frame), memory_limit=0).store
    task = partial(_cells_of, column=1)
    assert there.sum(task) == here.sum(task) == sum(there.map(task))


def _cells_of(block, n_threads, column):
    return int(unpack(block, np.arange(block.n_rows))[:, column].sum())


def test_every_task_of_a_fit_is_small_and_carries_no_store(monkeypatch):
    frame, sizes = made_table(missing=True), {}
    opened = open_store(stream(frame), memory_limit=0, sample_weight=np.ones(N))
    each = opened.store._each

    def weighing(task):
        name = getattr(task, "func", task).__name__
        sizes[name] = max(sizes.get(name, 0), len(pickle.dumps(task)))
        return each(task)

    opened.store._each = weighing
    base = Plan(20, soft(2.0), "random", 1, 4, 3, "best", "expected_cost", seed=3)
    for init, refine in itertools.product(METHODS, (None, "gini", "latent")):
        found = outcome(opened, replace(base, init=init, refine=refine))
        found.distances(opened.store)
        found.margin(opened.store)
    found.probabilities(opened.store)
    found.log_likelihoods(opened.store)
    assert len(sizes) >= 10, sizes
    assert max(sizes.values()) < 1_000_000, sizes
    assert sizes["label_rows"] < 100_000


# --- room and scratch ----------------------------------------------------------------------------


def test_a_shelf_gives_back_what_was_put_up_in_order_and_its_memory():
    room = Room(100)
    shelf = Shelf(room)
    things = [bytes([i]) * (10 * i) for i in range(12)]
    for thing in things:
        shelf.put(thing)
    assert 0 < room.used <= 100
    assert list(shelf.look()) == things
    assert list(shelf.take()) == things
    assert room.used == 0
    assert list(shelf.take()) == []


def test_a_scratch_file_has_no_name(monkeypatch, tmp_path):
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    kept = Scratch()
    start = kept.write(b"rows")
    second = kept.write(b"more")
    assert os.listdir(tmp_path) == []
    assert (kept.read(start, 4), kept.read(second, 4)) == (b"rows", b"more")
    assert kept.mapped()[second : second + 4] == b"more"


def test_half_of_the_memory_is_room_by_default(monkeypatch):
    monkeypatch.setattr(scratch, "available_memory", lambda: 1000)
    assert scratch.default_room() == 500
    monkeypatch.setattr(scratch, "available_memory", lambda: None)
    assert scratch.default_room() == 1 << 31
