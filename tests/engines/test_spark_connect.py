"""Rows on Spark, by way of Spark Connect: the same answer as in memory."""

from __future__ import annotations

import pyarrow as pa
import pytest
from spark_sessions import assert_same_on_spark, session

from engine_settings import assert_same_fit, settings
from softmodes import SoftModes

pytest.importorskip("pyspark.sql.connect", reason='pip install "softmodes[spark]"')
pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("ignore:No convergence within max_iter"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

SETTINGS = settings()


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    with session(tmp_path_factory.mktemp("connect"), remote=True) as spark:
        yield spark


@pytest.mark.parametrize("number", range(2, len(SETTINGS), 3))
def test_the_answer_is_that_of_memory(spark, number):
    assert_same_on_spark(spark, SETTINGS[number], 5)


def test_rows_that_the_client_sends_are_all_counted(spark):
    table = pa.table({"a": list("xyz") * 40, "b": list("uv") * 60})
    there, here = (
        SoftModes(2, init="random", n_init=1, refine=None, random_state=0).fit(rows)
        for rows in (spark.createDataFrame(table), table)
    )
    assert_same_fit(there, here)


def test_the_session_is_one_of_connect(spark):
    assert type(spark).__module__ == "pyspark.sql.connect.session"
