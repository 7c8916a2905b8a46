"""Sessions of Spark for tests, and tables on them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.testing import assert_array_equal

import softmodes
from engine_settings import Setting, assert_same_fit
from softmodes import SoftModes

CLUSTER = "local-cluster[2,1,1024]"  # two executors with a core and 1 GB each
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
}


def prepare_executors(folder: Path, setenv: Callable[[str, str], object]) -> None:
    """Let executors run this Python, import this package, and work in a folder."""
    setenv("PYSPARK_PYTHON", sys.executable)
    # They have another working folder, from which a path to the source may lead nowhere.
    setenv("PYTHONPATH", str(Path(softmodes.__file__).parents[1]))
    setenv("SPARK_WORKER_DIR", str(folder / "work"))


@contextmanager
def session(folder: Path, remote: bool = False, **conf: str) -> Iterator[Any]:
    """Start Spark: two executors, or a server of Connect with two threads."""
    from pyspark.sql import SparkSession

    prepare_executors(folder, os.environ.__setitem__)
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if remote else builder.master(CLUSTER)
    # What is no setting of a session, a client of Connect may not change.
    for key, value in (conf if remote else QUIET | conf).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def with_weight(setting: Setting) -> pa.Table:
    """Return the table of a setting, its weights in a column."""
    table = pa.Table.from_pandas(setting.table(), preserve_index=False)
    weight = setting.weight()
    return table if weight is None else table.append_column("weight", pa.array(weight))


def in_partitions(spark: Any, table: pa.Table, n: int) -> Any:
    """Return a DataFrame with the rows of a table, in their order, in partitions of equal size."""
    size = -(-len(table) // n)
    return of_tables(spark, [table[i * size : (i + 1) * size] for i in range(n)])


def of_tables(spark: Any, tables: list[pa.Table]) -> Any:
    """Return a DataFrame with these partitions, whatever they hold."""
    schema = spark.createDataFrame(tables[0]).schema

    def read(batches: Any) -> Any:
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield from tables[number].to_batches()

    return spark.range(0, len(tables), 1, len(tables)).mapInArrow(read, schema)


def column(frame: Any, name: str = "label") -> np.ndarray:
    """Return a column, in the order of the rows."""
    return np.array(frame.toArrow()[name].to_pylist())


def few_passes(setting: Setting, rows: Any, on_round: Any = None) -> SoftModes:
    """Fit rows, of which a column may be weights, and stop when every stage had some rounds."""
    last = {None: 2, "gini": 4, "latent": 9}[setting.refine]

    def stop(state: Any) -> bool:
        if on_round is not None:
            on_round(state)
        return bool(state.round >= last)

    model = SoftModes(**{**setting.params, "n_clusters": 3, "n_init": 1, "max_iter": 2})
    if setting.init == "given":
        model.set_params(init=model.init[:3])
    weight: Any = None
    if setting.weights is not None:
        weight = "weight"
    if isinstance(rows, pa.Table) and weight is not None:
        rows, weight = rows.drop("weight"), rows["weight"].to_numpy()
    return model.fit(rows, sample_weight=weight, on_round=stop)


def forget(spark: Any) -> int:
    """Let processes of executors forget the blocks that they have kept; tell how many."""

    def clear(batches: Any) -> Any:
        from softmodes._rows import kept

        for _ in batches:
            pass
        n = len(kept._blocks)
        kept._blocks.clear()
        yield pa.record_batch({"n": [n]})

    return sum(row[0] for row in spark.range(0, 2, 1, 2).mapInArrow(clear, "n long").collect())


def assert_same_on_spark(spark: Any, setting: Setting, n_partitions: int) -> None:
    """Compare a fit with that of memory; a forgetful one forgets blocks after the first round."""
    table = with_weight(setting)
    forgotten = []

    def on_round(state: Any) -> None:
        if setting.forgetful and state.round == 0:
            forgotten.append(forget(spark))

    there = few_passes(setting, in_partitions(spark, table, n_partitions), on_round)
    here = few_passes(setting, table)
    assert_same_fit(there, here)
    assert_array_equal(column(there.labels_), here.labels_)
    assert any(forgotten) == setting.forgetful, "no block was kept: nothing tested"
