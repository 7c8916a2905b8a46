"""Rows on a Dask cluster: the same answer as in memory, whatever happens to the workers."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from engine_settings import Setting, assert_same_fit, settings
from softmodes import KModes, MiniBatchSoftModes, SoftModes, load
from softmodes._rows.parts import RowsChangedError

pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("ignore:No convergence within max_iter"),
]

ROOT = str(Path(__file__).parents[2])
PLAIN = Setting(2.0, "d1-greedy", "latent", None, False, "category", False, False)


def in_partitions(table, n):
    size = -(-len(table) // n)
    return of_frames([table[i * size : (i + 1) * size] for i in range(n)])


def of_frames(frames):
    """Return a dask.dataframe with these partitions, whatever they hold."""
    import dask.dataframe as dd

    return dd.from_map(lambda i: frames[i], range(len(frames)), meta=frames[0][:0])


def fits(X, setting, **asked):
    return SoftModes(**setting.params).fit(X, sample_weight=setting.weight(), **asked)


# --- the same answer -----------------------------------------------------------------------------


def drop_caches(client, chance):
    """Drop what passes have left with some of the blocks, wherever they are."""

    def drop(dask_worker):
        from softmodes._rows.block import Block

        blocks = [value for value in dask_worker.data.values() if isinstance(value, Block)]
        dropped = [block for block in blocks if random.random() < chance]
        for block in dropped:
            block.cache.clear()
        return len(dropped)

    return sum(client.run(drop).values())


@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_the_answer_is_that_of_memory_however_rows_are_cut(client, setting):
    import dask.array as da

    table, weight = setting.table(), setting.weight()
    here = fits(table, setting)
    dropped = []
    for n in (1, 3, 17):
        X = in_partitions(table, n)
        rows = da.from_array(weight, chunks=-(-len(table) // n)) if setting.weights else None
        forget = lambda state: dropped.append(drop_caches(client, 0.5))  # noqa: E731
        asked = {"on_round": forget} if setting.forgetful else {}
        there = SoftModes(**setting.params).fit(X, sample_weight=rows, **asked)
        assert_same_fit(there, here)
        assert there.labels_.numblocks == (n,)
        assert_array_equal(there.labels_.compute(), here.labels_)
        assert_array_equal(there.predict(X).compute(), here.labels_)
    assert any(dropped) == setting.forgetful, "no cache was there to be dropped: nothing tested"


def test_the_settings_hold_every_two_values():
    found = settings()
    assert 20 <= len(found) <= 30
    pairs = {(s.init, s.weights) for s in found}
    assert len(pairs) == 7 * 3
    assert {(s.t, s.missing) for s in found} == {
        (t, missing) for t in (1.0, 2.0, np.inf) for missing in ("category", "ignore", "error")
    }


def test_an_array_gives_the_answer_of_memory_and_arrays_with_its_chunks(client):
    import dask.array as da

    X = np.random.default_rng(0).integers(0, 5, (300, 6))
    here = SoftModes(3, n_init=1, random_state=0).fit(X)
    cut = da.from_array(X, chunks=((100, 0, 150, 50), (4, 2)))
    there = SoftModes(3, n_init=1, random_state=0).fit(cut)
    assert_same_fit(there, here)
    assert there.labels_.chunks == ((100, 0, 150, 50),)
    assert_array_equal(there.labels_.compute(), here.labels_)
    for method in ("predict", "transform", "predict_proba", "score_samples", "margin"):
        lazy, at_once = getattr(there, method)(cut), getattr(here, method)(X)
        assert (lazy.dtype, lazy.shape, lazy.ndim) == (at_once.dtype, at_once.shape, at_once.ndim)
        assert lazy.chunks[0] == (100, 0, 150, 50)
        assert_array_equal(lazy.compute(), at_once)
    assert there.score(cut) == here.score(X)


def test_stability_is_that_of_memory_also_with_weights_of_zero(client):
    import dask.array as da

    table = PLAIN.table()
    X, weight = in_partitions(table, 4), np.random.default_rng(0).integers(0, 3, len(table))
    model = SoftModes(3, n_init=1, refine="gini", random_state=0).fit(X)
    given = {"n_resamples": 2, "max_rows": 300}
    cut = da.from_array(weight.astype(float), chunks=175)
    for rows, weights in ((None, None), (cut, weight)):
        there = model.stability(X, sample_weight=rows, **given)
        here = model.stability(table, sample_weight=weights, **given)
        assert there.whole == here.whole
        assert_array_equal(there.jaccards, here.jaccards)
    assert model.stability(X, n_resamples=1).sizes.sum() == len(table)


def test_what_needs_something_of_every_row_here_refuses_a_cluster(client, tmp_path):
    X = in_partitions(PLAIN.table(), 2)
    model = SoftModes(3, n_init=1, random_state=0).fit(X)
    for ask in (
        model.to_frame,
        model.drift,
        lambda X: model.predict_to(X, tmp_path / "labels.csv"),
    ):
        with pytest.raises(
            TypeError, match=r"X is on a cluster\. Pass some of its rows as a frame"
        ):
            ask(X)


def test_a_model_is_saved_without_the_labels_that_workers_hold(client, tmp_path):
    X = in_partitions(PLAIN.table(), 2)
    model = SoftModes(3, n_init=1, random_state=0).fit(X)
    model.save(tmp_path / "model.softmodes")
    again = load(tmp_path / "model.softmodes")
    assert not hasattr(again, "labels_")
    assert_array_equal(again.predict(X).compute(), model.labels_.compute())


def test_other_estimators_give_the_answer_of_memory(client):
    table = PLAIN.table()
    for estimator in (
        KModes(4, n_init=2, random_state=1),
        MiniBatchSoftModes(4, batch_size=150, random_state=1),
    ):
        here = estimator.fit(table)
        labels, history = here.labels_, here.history_
        there = estimator.fit(in_partitions(table, 3))
        assert there.history_ == history
        assert_array_equal(there.labels_.compute(), labels)
        assert_array_equal(estimator.fit_predict(in_partitions(table, 4)).compute(), labels)


def test_without_a_client_the_rows_are_worked_on_here():
    code = textwrap.dedent("""
        import dask, dask.dataframe as dd, numpy as np, pandas as pd
        from softmodes import SoftModes
        rng = np.random.default_rng(0)
        table = pd.DataFrame({c: rng.choice(list("abc"), 200) for c in "xyz"})
        here = SoftModes(3, random_state=0).fit(table)
        for scheduler in ("threads", "synchronous"):
            with dask.config.set(scheduler=scheduler):
                there = SoftModes(3, random_state=0).fit(dd.from_pandas(table, npartitions=4))
                assert there.history_ == here.history_
                assert (there.labels_.compute() == here.labels_).all()
                assert there.labels_.numblocks == (4,)
    """)
    subprocess.run([sys.executable, "-c", code], check=True)


# --- lazy ----------------------------------------------------------------------------------------


def test_predict_reads_no_row_before_it_is_computed(client, tmp_path):
    import dask.dataframe as dd

    table = PLAIN.table()
    model = fits(table, PLAIN)
    path = str(tmp_path / "rows.pickle")
    X = dd.from_map(lambda i: pd.read_pickle(path), range(2), meta=table[:0])
    labels = model.predict(X)
    table.to_pickle(path)
    assert_array_equal(labels.compute(), np.tile(model.labels_, 2))


def test_new_values_are_as_in_memory_and_other_columns_refused(client):
    table = PLAIN.table()
    model = fits(table, PLAIN)
    other = table.assign(c0="never seen")
    with pytest.warns(UserWarning, match="never seen"):
        expected = model.predict(other)
    assert_array_equal(model.predict(in_partitions(other, 3)).compute(), expected)
    with pytest.raises(ValueError, match="c4"):
        model.predict(in_partitions(table.drop(columns="c4"), 3))


# --- partitions of all kinds ---------------------------------------------------------------------


def test_partitions_may_be_empty_or_hold_what_no_other_does(client):
    table = PLAIN.table()[["c0", "c1", "c3"]].assign(c3=1.0)
    table.loc[table.index[-3:], "c0"] = "only in the last partition"
    table.loc[table.index[10:20], "c3"] = np.nan
    nothing = table[:0]
    cuts = {
        "empty ones": [nothing, table[:5], nothing, table[5:690], table[690:], nothing],
        "a row each": [table[:1], table[1:2], table[2:]],
        "all in one": [nothing, nothing, table, nothing],
    }
    for missing in ("category", "ignore"):
        here = SoftModes(3, missing=missing, n_init=1, refine="gini", random_state=0).fit(table)
        for name, frames in cuts.items():
            there = SoftModes(3, missing=missing, n_init=1, refine="gini", random_state=0).fit(
                of_frames(frames)
            )
            assert_same_fit(there, here)
            assert there.labels_.chunks == (tuple(map(len, frames)),), name
            assert_array_equal(there.labels_.compute(), here.labels_)
    one = SoftModes(1, random_state=0).fit(of_frames([nothing, table[:1]]))
    assert one.labels_.compute().tolist() == [0]
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        SoftModes(2).fit(of_frames([nothing, nothing]))


def test_errors_name_the_partition(client):
    table = PLAIN.table()
    frames = [table[:100], table[100:300], table[300:]]
    with pytest.raises(ValueError, match=r"Partition \d: .*missing"):
        SoftModes(2, missing="error").fit(of_frames(frames))
    weight = pd.Series(np.where(np.arange(700) == 101, -1.0, 1.0))
    weights = of_frames([weight[:100], weight[100:300], weight[300:]])
    with pytest.raises(ValueError, match=r"Partition 1: sample_weight\[1\] is -1"):
        SoftModes(2).fit(of_frames(frames), sample_weight=weights)


# --- weights -------------------------------------------------------------------------------------


def test_weights_are_an_array_a_series_or_a_column(client):
    import dask.array as da

    setting = PLAIN._replace(weights="fractions", refine="gini")
    table, weight = setting.table(), setting.weight()
    here = fits(table, setting)
    X = in_partitions(table.assign(w=weight), 4)
    rows = X.drop(columns="w")
    for given, weights in ((rows, X["w"]), (rows, da.from_array(weight, chunks=175)), (X, "w")):
        there = SoftModes(**setting.params).fit(given, sample_weight=weights)
        assert_same_fit(there, here)
        assert_array_equal(there.labels_.compute(), here.labels_)
    assert there.score(rows, sample_weight=X["w"]) == here.score(table, sample_weight=weight)


def test_weights_that_do_not_fit_are_refused(client):
    import dask.array as da

    X = in_partitions(PLAIN.table(), 4)
    with pytest.raises(ValueError, match="sample_weight has 2 partitions, but X has 4"):
        SoftModes(2).fit(X, sample_weight=da.ones(700, chunks=350))
    with pytest.raises(ValueError, match=r"Partition \d: sample_weight has shape \(10,\)"):
        SoftModes(2).fit(X, sample_weight=da.ones(40, chunks=10))
    with pytest.raises(ValueError, match="sample_weight='w' is no column of X"):
        SoftModes(2).fit(X, sample_weight="w")
    with pytest.raises(TypeError, match=r"sample_weight is a ndarray.*name of a column"):
        SoftModes(2).fit(X, sample_weight=np.ones(700))


# --- what is no table ----------------------------------------------------------------------------


def test_a_bag_is_refused_with_advice():
    import dask.bag as db

    bag = db.from_sequence([{"a": 1}], npartitions=1)
    with pytest.raises(TypeError, match=r"X is a Bag, but.*pass bag\.to_dataframe\(\)"):
        SoftModes(2).fit(bag)


def test_where_a_part_of_dask_is_missing_one_line_says_what_to_install(monkeypatch):
    import dask.dataframe as dd

    X = dd.from_pandas(PLAIN.table(), npartitions=1)
    monkeypatch.delitem(sys.modules, "softmodes._rows.stores.dask", raising=False)
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(ImportError) as raised:
        SoftModes(2).fit(X)
    assert str(raised.value) == (
        'Rows on Dask need dask.array. Install it with: pip install "softmodes[dask]"'
    )


# --- faults --------------------------------------------------------------------------------------


def kill_one(client):
    """Kill the worker that holds most blocks, by SIGKILL."""
    held = {worker: len(keys) for worker, keys in client.has_what().items()}
    pids = client.run(os.getpid)
    os.kill(pids[max(pids, key=lambda worker: held.get(worker, 0))], signal.SIGKILL)


class KillInAMap:
    """Kills a worker when the tasks of a map have just been sent."""

    def __init__(self, client, monkeypatch, which):
        from softmodes._rows.stores.dask import DaskStore

        self.client, self.which, self.n_maps, self.killed_in = client, which, 0, None
        sent = DaskStore._run

        def run(store, task):
            futures = sent(store, task)
            self.n_maps += 1
            if self.n_maps == self.which:
                self.killed_in = task.func.__name__
                kill_one(self.client)
            return futures

        monkeypatch.setattr(DaskStore, "_run", run)


def test_a_worker_killed_in_a_pass_changes_nothing(mortal, monkeypatch):
    table = PLAIN.table()
    here = fits(table, PLAIN)
    killer = KillInAMap(mortal, monkeypatch, None)

    def at_round_2(state):
        if (state.run, state.round) == (0, 2):
            killer.which = killer.n_maps + 1

    there = fits(in_partitions(table, 6), PLAIN, on_round=at_round_2)
    assert killer.killed_in == "tally_rows"
    assert_same_fit(there, here)
    assert_array_equal(there.labels_.compute(), here.labels_)


def test_a_worker_killed_in_seeding_changes_nothing(mortal, monkeypatch):
    table = PLAIN.table()
    here = fits(table, PLAIN)
    killer = KillInAMap(mortal, monkeypatch, which=9)
    there = fits(in_partitions(table, 6), PLAIN)
    assert killer.killed_in in ("gains", "_find", "total_distance")
    assert_same_fit(there, here)
    kill_one(mortal)  # labels are made again, too
    assert_array_equal(there.labels_.compute(), here.labels_)


@pytest.mark.parametrize("change", ["order", "rows"])
def test_a_partition_that_comes_back_changed_is_an_error(mortal, tmp_path, change):
    import dask.dataframe as dd

    table = PLAIN.table()
    folder = str(tmp_path)
    for i in range(4):
        table[i * 175 : (i + 1) * 175].to_pickle(f"{folder}/{i}")
    X = dd.from_map(lambda i: pd.read_pickle(f"{folder}/{i}"), range(4), meta=table[:0])

    def change_and_kill(state):
        if state.round == 1:
            for i in range(4):
                part = table[i * 175 : (i + 1) * 175]
                other = part[::-1] if change == "order" else part.assign(c0="other")
                other.to_pickle(f"{folder}/{i}")
            kill_one(mortal)

    with pytest.raises(RowsChangedError, match=r"Partition \d holds other rows, or in another ord"):
        fits(X, PLAIN, on_round=change_and_kill)


# --- memory --------------------------------------------------------------------------------------


def test_the_client_holds_nothing_that_grows_with_rows(client):
    import dask.array as da

    def peak(n):
        chunks = da.random.default_rng(0).integers(0, 5, (n, 6), chunks=(n // 4, 6))
        tracemalloc.start()
        SoftModes(3, init="random", n_init=1, max_iter=3, refine=None, random_state=0).fit(chunks)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(20_000)
    assert peak(1_000_000) < peak(20_000) + 500_000, "labels alone would be 4 MB"


def test_passes_leave_nothing_behind(client):
    from softmodes._rows.centers import CodeCenters, Comparison
    from softmodes._rows.stores import open_store

    store = open_store(in_partitions(PLAIN.table(), 3)).store
    scheduler = client.cluster.scheduler

    def after(n):
        for seed in range(n):
            store.tally(CodeCenters(store.rows(np.arange(seed, seed + 5))), Comparison(seed))
        settled(scheduler)
        return len(scheduler.tasks), len(client.futures), len(scheduler.task_groups)

    first = after(20)
    assert after(150) == first


def settled(scheduler):
    """Wait until the scheduler has forgotten what was let go."""
    gc.collect()
    last = -1
    while len(scheduler.tasks) != last:
        last = len(scheduler.tasks)
        time.sleep(0.2)


def test_a_round_is_timed_beside_one_in_memory_and_an_empty_map(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import engines

    small = ["--rows", "3000", "--columns", "4", "--partitions", "3", "--clusters", "3"]
    engines.main([*small, "--repeats", "2", "--passes", "8", "--out", str(tmp_path)])
    found = json.loads((tmp_path / "engines.json").read_text("utf-8"))
    assert set(found["engines"]["dask"]) == {"memory", "engine", "empty", "build"}
    assert [number for number, _ in found["growth"]["dask"]] == list(range(9))
    assert "| dask |" in capsys.readouterr().out
