"""Rows on Spark: the same answer as in memory, whatever happens to the executors."""

from __future__ import annotations

import gc
import os
import signal
import time

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from engine_settings import Setting, assert_same_fit, settings
from softmodes import KModes, SoftModes, load
from softmodes._rows.parts import RowsChangedError
from softmodes._rows.stores import open_store
from spark_sessions import CLUSTER, column, in_partitions, of_tables, session, with_weight

pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("ignore:No convergence within max_iter"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Spark leaves sockets to the collector
]

PLAIN = Setting(2.0, "d1", "gini", None, False, "category", False, False)
SETTINGS = settings()


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    pytest.importorskip("pyspark", reason='pip install "softmodes[spark]"')
    with session(tmp_path_factory.mktemp("spark")) as spark:
        yield spark


def small(setting, **asked):
    """Return a model that takes few passes."""
    return SoftModes(**{**setting.params, "n_init": 1, "max_iter": 3, **asked})


def enough(state):
    return state.round >= 8


def fit_here(table, model, **asked):
    """Fit a table in memory, of which one column may be weights."""
    weight = table["weight"].to_numpy() if "weight" in table.column_names else None
    rows = table if weight is None else table.drop("weight")
    return model.fit(rows, sample_weight=weight, **asked)


def fit_there(frame, model, **asked):
    weight = "weight" if "weight" in frame.columns else None
    return model.fit(frame, sample_weight=weight, **asked)


def forget(spark):
    """Let the processes of executors forget the blocks that they have kept."""

    def clear(batches):
        from softmodes._rows import kept

        n = 0
        for _ in batches:
            n += len(kept._blocks)
            kept._blocks.clear()
        yield pa.record_batch({"n": [n]})

    return sum(row[0] for row in spark.range(0, 2, 1, 2).mapInArrow(clear, "n long").collect())


# --- the same answer -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(0, len(SETTINGS), 3))
@pytest.mark.parametrize("n_partitions", [1, 5])
def test_the_answer_is_that_of_memory_however_rows_are_cut(spark, number, n_partitions):
    number += n_partitions == 5
    if number >= len(SETTINGS):
        pytest.skip("no such setting")
    setting = SETTINGS[number]
    table = with_weight(setting)
    here = fit_here(table, small(setting), on_round=enough)
    forgotten = []

    def on_round(state):
        if setting.forgetful and state.round == 1:
            forgotten.append(forget(spark))
        return enough(state)

    X = in_partitions(spark, table, n_partitions)
    there = fit_there(X, small(setting), on_round=on_round)
    assert_same_fit(there, here)
    assert_array_equal(column(there.labels_), here.labels_)
    assert any(forgotten) == setting.forgetful, "no block was kept: nothing tested"
