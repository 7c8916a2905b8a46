"""Sessions of Spark for tests, and tables on them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import softmodes
from engine_settings import Setting

CLUSTER = "local-cluster[2,1,1024]"  # two executors with a core and 1 GB each
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
}


@contextmanager
def session(folder: Path, remote: bool = False, **conf: str) -> Iterator[Any]:
    """Start Spark: two executors, or a server of Connect with two threads."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Executors have another working folder, from which a path to the source may lead nowhere.
    os.environ["PYTHONPATH"] = str(Path(softmodes.__file__).parents[1])
    os.environ["SPARK_WORKER_DIR"] = str(folder / "work")
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if remote else builder.master(CLUSTER)
    for key, value in (QUIET | conf).items():
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
        from pyspark import TaskContext

        for _ in batches:
            pass
        yield from tables[TaskContext.get().partitionId()].to_batches()

    return spark.range(0, len(tables), 1, len(tables)).mapInArrow(read, schema)


def column(frame: Any, name: str = "label") -> np.ndarray:
    """Return a column, in the order of the rows."""
    return np.array(frame.toArrow()[name].to_pylist())
