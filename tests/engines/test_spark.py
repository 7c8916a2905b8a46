"""Rows on Spark: the same answer as in memory, whatever happens to the executors."""

from __future__ import annotations

import gc
import os
import pickle
import signal
from threading import Timer

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from spark_sessions import (
    assert_same_on_spark,
    column,
    few_passes,
    forget,
    in_partitions,
    of_tables,
    session,
    with_weight,
)

from engine_settings import Setting, assert_same_fit, settings
from softmodes import KModes, SoftModes, load
from softmodes._rows.parts import RowsChangedError
from softmodes._rows.stores import open_store

pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("ignore:No convergence within max_iter"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Spark leaves sockets to the collector
]

pytest.importorskip("pyspark", reason='pip install "softmodes[spark]"')
from softmodes._rows.stores import frames  # noqa: E402
from softmodes._rows.stores.cluster import _weighed  # noqa: E402
from softmodes._rows.stores.spark import SparkStore  # noqa: E402

PLAIN = Setting(2.0, "d1", "gini", None, False, "category", False, False)
SETTINGS = settings()


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    with session(tmp_path_factory.mktemp("spark")) as spark:
        yield spark


def n_rows_by_block(store):
    """Return what every block says, not a number that was noted; by a task executors can import."""
    return [int(counted[1]) for counted in store.map(_weighed)]


@pytest.fixture(scope="module")
def table():
    return with_weight(PLAIN)


@pytest.fixture(scope="module")
def X(spark, table):  # noqa: N802
    return in_partitions(spark, table, 5)


@pytest.fixture(scope="module")
def models(table, X):
    """Return a latent model of a DataFrame, and one of the table in memory."""
    latent = PLAIN._replace(refine="latent")
    return tuple(few_passes(latent, rows) for rows in (X, table))


def plain(k=2, **asked):
    return SoftModes(k, init="random", n_init=1, max_iter=2, refine=None, random_state=0, **asked)


# --- the same answer -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(0, len(SETTINGS), 3))
def test_the_answer_is_that_of_memory_in_one_partition(spark, number):
    assert_same_on_spark(spark, SETTINGS[number], 1)


@pytest.mark.parametrize("number", range(1, len(SETTINGS), 3))
def test_the_answer_is_that_of_memory_in_five_partitions(spark, number):
    assert_same_on_spark(spark, SETTINGS[number], 5)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("predict", "label"),
        ("transform", "distances"),
        ("predict_proba", "probabilities"),
        ("margin", "margin"),
        ("score_samples", "log_likelihood"),
    ],
)
def test_what_is_found_for_every_row_is_a_column(table, X, models, method, name):
    there, here = models
    found = getattr(there, method)(X)
    assert found.columns == [*X.columns, name]
    assert_array_equal(column(found, name), getattr(here, method)(table))
    assert found.drop(name).toArrow() == X.toArrow()


def test_scores_and_other_estimators_are_those_of_memory(table, X, models):
    there, here = models
    assert there.score(X) == here.score(table)
    one, other = (m.stability(rows, n_resamples=1) for m, rows in ((there, X), (here, table)))
    assert one.whole == other.whole
    one, other = (KModes(2, n_init=1, max_iter=2, random_state=1).fit(rows) for rows in (X, table))
    assert_same_fit(one, other)


def test_new_rows_may_have_other_columns_and_new_values(spark, table, models):
    there, here = models
    new = table.slice(0, 40).set_column(0, "c0", pa.array(["never seen"] * 40))
    with pytest.warns(UserWarning, match="never seen"):
        expected = here.predict(new)
    with_number = new.append_column("number", pa.array(range(40)))
    found = there.predict(in_partitions(spark, with_number, 2)).toArrow()
    assert found["number"].to_pylist() == list(range(40))
    assert_array_equal(found["label"], expected)
    with pytest.raises(ValueError, match="c4"):
        there.predict(in_partitions(spark, new.drop("c4"), 2))


def test_a_model_is_saved_and_pickled_without_its_labels(models, X, tmp_path):
    there, here = models
    there.save(tmp_path / "m.softmodes")
    for again in (load(tmp_path / "m.softmodes"), pickle.loads(pickle.dumps(there))):
        assert_same_fit(again, here)
        assert not hasattr(again, "labels_")
        assert_array_equal(column(again.predict(X)), here.labels_)


# --- where blocks are ----------------------------------------------------------------------------


def test_passes_move_no_rows_and_a_fit_leaves_nothing_persisted(spark, X, monkeypatch):
    gc.collect()
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    maps, collected = [], []
    with monkeypatch.context() as counting:
        ask, collect = SparkStore._ask, frames.collected
        counting.setattr(SparkStore, "_ask", lambda *a: maps.append(1) or ask(*a))
        counting.setattr(frames, "collected", lambda f: collected.append(1) or collect(f))
        plain(4).fit(X)
    assert len(maps) > 4
    assert len(collected) == len(maps) + 1, "blocks that were kept are brought again"
    gc.collect()
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_blocks_that_processes_have_forgotten_come_from_the_disks(spark, X):
    store = open_store(X).store
    assert sum(forget(spark) for _ in range(3)), "nothing was kept: nothing tested"
    assert n_rows_by_block(store) == [140] * 5


# --- faults --------------------------------------------------------------------------------------


def executors(spark):
    """Return the processes of the executors."""

    def parents(batches):
        for _ in batches:
            pass
        with open(f"/proc/{os.getppid()}/stat") as daemon:
            yield pa.record_batch({"pid": [int(daemon.read().split()[3])]})

    return {row[0] for row in spark.range(0, 8, 1, 8).mapInArrow(parents, "pid long").collect()}


@pytest.mark.parametrize("when", ["seeding", "a pass"])
def test_an_executor_may_be_killed(spark, table, X, monkeypatch, when):
    victims = sorted(executors(spark))
    assert victims
    maps, rounds, killed = [], [], []
    ask = SparkStore._ask

    def ask_and_kill(self, *asked):
        maps.append(1)
        due = len(maps) == 3 if when == "seeding" else len(rounds) == 2
        if due and not killed:
            killed.append(bool(rounds))
            Timer(0.05, os.kill, (victims[0], signal.SIGKILL)).start()
        return ask(self, *asked)

    monkeypatch.setattr(SparkStore, "_ask", ask_and_kill)
    there = few_passes(PLAIN, X, rounds.append)
    assert killed == [when == "a pass"], "killed at another time: something else tested"
    assert_same_fit(there, few_passes(PLAIN, table))
    assert victims[0] not in executors(spark)


def test_rows_that_change_are_noticed_when_they_are_read_again(spark, table, tmp_path):
    path = str(tmp_path / "rows.arrow")

    def write(rows):
        with pa.ipc.new_file(path, rows.schema) as file:
            file.write_table(rows)

    def read(batches):
        for _ in batches:
            pass
        with pa.OSFile(path) as file:
            yield from pa.ipc.open_file(file).read_all().to_batches()

    def lose_all(store):
        store._names.unpersist(blocking=True)
        store._blocks.unpersist(blocking=True)

    write(table)
    schema = spark.createDataFrame(table).schema
    store = open_store(spark.range(0, 2, 1, 2).mapInArrow(read, schema)).store
    lose_all(store)
    assert n_rows_by_block(store) == [700, 700]
    for other in (table.slice(1), table.take([*range(1, 700), 0])):
        write(other)
        lose_all(store)
        with pytest.raises(RowsChangedError, match="Partition 0 holds other rows, or in another"):
            n_rows_by_block(store)
    write(table)
    lose_all(store)
    assert n_rows_by_block(store) == [700, 700]


def test_partitions_may_be_empty_or_hold_a_row(spark, table):
    nothing = table.slice(0, 0)
    cut = [nothing, table.slice(0, 1), nothing, table.slice(1), nothing]
    there, here = plain().fit(of_tables(spark, cut)), plain().fit(table)
    assert_same_fit(there, here)
    assert_array_equal(column(there.labels_), here.labels_)
    one = plain(1).fit(of_tables(spark, [nothing, table.slice(0, 1)]))
    assert column(one.labels_).tolist() == [0]
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        plain().fit(of_tables(spark, [nothing, nothing]))


@pytest.mark.parametrize("compiled", ["true", "false"])
def test_rows_that_the_driver_sends_have_the_numbers_of_their_partitions(spark, table, compiled):
    spark.conf.set("spark.sql.codegen.wholeStage", compiled)
    try:
        X = spark.createDataFrame(table)
        assert len(n_rows_by_block(open_store(X).store)) == X.rdd.getNumPartitions() > 1
        there = plain().fit(X)
    finally:
        spark.conf.unset("spark.sql.codegen.wholeStage")
    here = plain().fit(table)
    assert_same_fit(there, here)
    assert_array_equal(column(there.labels_), here.labels_)


def test_two_parts_with_one_number_are_an_error_and_never_one_part():
    frames.check_numbers([(0, 0), (0, 1), (1, 0)])
    with pytest.raises(RuntimeError, match="Partition 1 was told of twice"):
        frames.check_numbers([(0, 0), (1, 0), (1, 0)])


def test_what_cannot_be_fitted_is_refused_in_words(spark, table, X, models):
    with pytest.raises(ValueError, match=r"Partition \d: .*missing"):
        plain(missing="error").fit(X)
    with pytest.raises(ValueError, match="sample_weight='w' is no column of X"):
        plain().fit(X, sample_weight="w")
    with pytest.raises(ValueError, match="Pass the name of one that holds the weights"):
        plain().fit(X, sample_weight=np.ones(700))
    with pytest.raises(ValueError, match="X has a column 'label' already"):
        models[0].predict(models[0].labels_)
    with pytest.raises(TypeError, match=r"X is a RDD of Spark\. Pass a DataFrame"):
        plain().fit(spark.sparkContext.parallelize([1, 2]))
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ValueError, match=r"MiniBatchSoftModes\.partial_fit"):
        plain().fit(stream)


def test_executors_without_the_package_are_told_of_in_one_line():
    class Frame:
        def collect(self):
            raise RuntimeError("ModuleNotFoundError: No module named 'softmodes'")

    with pytest.raises(ImportError, match=r"^Spark's executors cannot import softmodes\. [^\n]*$"):
        frames.collected(Frame())
