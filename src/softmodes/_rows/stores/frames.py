"""Lazy frames of a cluster: which ones are taken, and how they are used and let go."""

from __future__ import annotations

import weakref
from collections import Counter
from contextlib import suppress
from typing import Any

from numpy.typing import NDArray
from pyspark.sql import types

from softmodes._text import short_repr

_KINDS = {"int32": types.IntegerType(), "int64": types.LongType(), "float64": types.DoubleType()}


def check_frame(frame: Any, sample_weight: Any) -> None:
    """Refuse what is no frame of rows that are all there, and weights that are no column of it."""
    if not hasattr(frame, "mapInArrow"):
        raise TypeError(
            f"X is a {type(frame).__name__} of Spark. Pass a DataFrame of Spark SQL, such as "
            "frame.to_spark() of one in the manner of pandas, or rdd.toDF()."
        )
    if frame.isStreaming:
        raise ValueError(
            "X is a stream of Spark, which has no end. Pass its batches, one after the other, to "
            "MiniBatchSoftModes.partial_fit: stream.writeStream.foreachBatch."
        )
    named = isinstance(sample_weight, str) and sample_weight in frame.columns
    if sample_weight is not None and not named:
        raise ValueError(
            f"sample_weight={short_repr(sample_weight)} is no column of X, whose columns are "
            f"{frame.columns}. Pass the name of one that holds the weights."
        )


def check_free(frame: Any, name: str) -> None:
    """Refuse a frame that has a column of the name that is to be added."""
    if name in frame.columns:
        raise ValueError(
            f"X has a column {name!r} already, where the outcome would go. Rename or drop it."
        )


def with_partition(frame: Any, name: str) -> Any:
    """Return the frame with the number of every row's partition as a column."""
    # As a generator: a plain column Spark would work out before it cuts rows that the driver holds,
    # and all of them would have the number 0.
    return frame.selectExpr("*", f"explode(array(spark_partition_id())) as {name}")


def check_numbers(numbers: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the numbers of partitions and of parts in them; refuse parts that share theirs."""
    for key, n in Counter(numbers).items():
        if n > 1:
            raise RuntimeError(
                f"Partition {key[0]} was told of twice: Spark gave two partitions one number. "
                "Write X to Parquet, and pass what reads it."
            )
    return numbers


def kind_of(found: NDArray[Any]) -> Any:
    """Return the type of a column with a number for each row, or an array of numbers."""
    kind = _KINDS[found.dtype.name]
    return kind if found.ndim == 1 else types.ArrayType(kind)


def collected(frame: Any) -> list[Any]:
    """Return the rows of a frame; say in one line if executors cannot import this package."""
    try:
        rows: list[Any] = frame.collect()
    except Exception as error:
        if "No module named 'softmodes" not in str(error):
            raise
        raise ImportError(
            "Spark's executors cannot import softmodes. Install it for the Python that they run "
            "(PYSPARK_PYTHON), in the same version as here."
        ) from None
    return rows


def unpersist_with(owner: object, *frames: Any) -> None:
    """Let persisted frames go together with the object that needs them."""
    weakref.finalize(owner, _unpersist, frames).atexit = False


def _unpersist(frames: tuple[Any, ...]) -> None:
    for frame in frames:
        with suppress(Exception):  # the session may have ended
            frame.unpersist()
