"""Rows coded, packed and passed over by functions of Arrow batches, without an engine."""

from __future__ import annotations

import pickle
import sys
from functools import partial, reduce
from operator import add

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from softmodes import SoftModes
from softmodes._rows import in_arrow, kept
from softmodes._rows.centers import CodeCenters, Comparison
from softmodes._rows.parts import merged, merged_weights, places_of
from softmodes._rows.remember import label_rows, tally_rows
from softmodes._rows.stores import open_store
from softmodes._rows.stores.cluster import Packing
from softmodes._rows.tally import Pass


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(in_arrow, "_ROWS_OF_A_PART", 70)
    monkeypatch.setattr(in_arrow, "_ROWS_AT_ONCE", 30)


@pytest.fixture
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {f"c{j}": pa.array(rng.choice(list("abcdefg")[: 2 + j], 300)) for j in range(4)}
    return pa.table(columns | {"weight": pa.array(rng.integers(0, 5, 300) / 4)})


NAMES = ["c0", "c1", "c2", "c3"]


def partitions(table):
    """Return the batches of two partitions, cut as Spark would: some rows at a time."""
    return [table.slice(0, 110).to_batches(13), table.slice(110).to_batches(40)]


def code(batches, number, missing="category", weight="weight"):
    told = pa.array([number]).take
    numbered = (b.append_column(in_arrow.PARTITION, told([0] * len(b))) for b in batches)
    coded = in_arrow.code_batches(numbered, NAMES, weight, missing)
    return pa.Table.from_batches(coded, in_arrow.PARTS)


def packed(table, store="a store"):
    """Return the blocks of a table, and what they were packed by."""
    parts = pa.concat_tables(code(batches, i) for i, batches in enumerate(partitions(table)))
    told = [pickle.loads(one) for one in parts["told"].to_pylist()]
    outlines = [outline for outline, _ in told]
    unit = merged_weights([outline.weight_facts for outline in outlines], len(NAMES))
    packing = Packing(merged(codebook for _, codebook in told), unit)
    keys = zip(parts["partition"].to_pylist(), parts["number"].to_pylist(), strict=True)
    places = dict(zip(keys, places_of(outlines), strict=True))
    batches = in_arrow.pack_batches(iter(parts.to_batches()), packing, places, store)
    return pa.Table.from_batches(batches, in_arrow.BLOCKS), packing, places


def ask(blocks, task, fold, store="a store"):
    answers = in_arrow.run_on_batches(iter(blocks.to_batches()), task, fold, store)
    return [
        (row["places"], pickle.loads(row["answer"]))
        for batch in answers
        for row in batch.to_pylist()
    ]


def test_blocks_of_partitions_tally_as_the_table_does(table):
    blocks, packing, _ = packed(table)
    assert blocks["place"].to_pylist() == list(range(5))
    weight = table["weight"].to_numpy()
    store = open_store(table.select(NAMES), sample_weight=weight).store
    centers = CodeCenters(store.rows(np.arange(3)))
    task = partial(tally_rows, asked=Pass(centers, Comparison(1), packing.codebook.n_values))
    [(places, found)] = ask(blocks, task, partial(reduce, add))
    here = store.tally(centers, Comparison(1))
    assert places == list(range(5))
    assert (found.cost, found.fingerprint) == (here.cost, here.fingerprint)
    assert_array_equal(found.counts.dense, here.counts.dense)


def n_rows(block, n_threads):
    return block.n_rows


def test_blocks_are_found_by_name_or_brought(table):
    blocks, _, _ = packed(table)
    names_only = blocks.set_column(2, "block", pa.nulls(5, pa.binary()))
    everything = [([0, 1, 2, 3, 4], [70, 40, 70, 70, 50])]
    assert ask(names_only, n_rows, list) == everything
    kept._blocks.clear()
    assert ask(names_only, n_rows, list) == []
    half = pa.concat_tables([blocks.slice(0, 2), names_only.slice(2)])
    assert ask(half, n_rows, list) == [([0, 1], [70, 40])]
    assert ask(names_only, n_rows, list) == [([0, 1], [70, 40])]
    assert ask(blocks, n_rows, list) == everything


def test_parts_with_other_rows_than_their_place_are_left_out(table):
    _, packing, places = packed(table)
    other = table.take([1, 0, *range(2, 300)])
    parts = code(partitions(other)[0], 0)
    blocks = list(in_arrow.pack_batches(iter(parts.to_batches()), packing, places, "again"))
    assert [batch["place"][0].as_py() for batch in blocks] == [1]


def test_an_error_about_values_comes_instead_of_a_part(table):
    holed = table.set_column(1, "c1", pa.nulls(300, pa.string()))
    [row] = code(partitions(holed)[1], 1, missing="error").to_pylist()
    with pytest.raises(ValueError, match=r"Partition 1: .*missing"):
        raise pickle.loads(row["told"])
    assert row["part"] is None


@pytest.mark.parametrize("method", ["predict", "transform"])
def test_a_column_has_what_the_model_says_of_each_row(table, method):
    rows = table.select(NAMES)
    model = SoftModes(3, n_init=1, random_state=0).fit(rows)
    found = model._clustering
    asked = Pass(found._in_loop, found.comparison, found.codebook.n_values)
    task = partial(label_rows, asked=asked, numbers=found._cluster_of)
    if method == "transform":
        from softmodes._rows.tally import all_distances

        task = partial(
            all_distances, centers=found._compared, feature_weight=None, keep=found._in_weights
        )
    batches = in_arrow.with_column(
        iter(table.to_batches(41)),
        NAMES,
        Packing(found.codebook, is_new=True),
        task,
        "new",
    )
    there = pa.Table.from_batches(batches)
    assert there.drop("new").equals(table)
    assert_array_equal(np.array(there["new"].to_pylist()), getattr(model, method)(rows))


def test_a_frame_of_spark_without_spark_is_told_of_in_one_line(monkeypatch):
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})()
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delitem(sys.modules, "softmodes._rows.stores.spark", raising=False)
    monkeypatch.delitem(sys.modules, "softmodes._rows.stores.frames", raising=False)
    with pytest.raises(ImportError, match=r'^Rows on Spark need [^\n]*"softmodes\[spark\]"$'):
        SoftModes(2).fit(frame)
