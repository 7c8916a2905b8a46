"""Parquet and Arrow files that are not as they should be: the error names file and column."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softmodes._sources import open_source
from softmodes._sources.arrow_file import kind_of
from softmodes._sources.regroup import regrouped

N = 500


def table(**changes) -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {"city": rng.choice(["Bern", "Ulm"], N), "n": rng.integers(0, 5, N)}
    return pa.table(columns | changes)


def two_files(folder: Path, second: pa.Table) -> str:
    pq.write_table(table(), folder / "a.parquet")
    pq.write_table(second, folder / "b.parquet")
    return str(folder)


def read(source) -> pa.Table:
    tables = [pa.Table.from_batches([batch]) for batch in open_source(source).batches()]
    return pa.concat_tables(tables, promote_options="permissive")


def test_rows_come_in_the_order_of_the_names_of_the_files(tmp_path):
    for i in (10, 2, 1):
        pq.write_table(pa.table({"x": [i]}), tmp_path / f"p{i}.parquet")
    assert read(str(tmp_path))["x"].to_pylist() == [1, 10, 2]


def test_texts_of_parquet_files_come_with_their_dictionaries(tmp_path):
    pq.write_table(table(), tmp_path / "a.parquet")
    (batch,) = open_source(tmp_path / "a.parquet").batches()
    assert pa.types.is_dictionary(batch["city"].type)
    assert batch["city"].cast(pa.string()).to_pylist() == table()["city"].to_pylist()


def test_a_column_that_one_file_lacks_is_named(tmp_path):
    folder = two_files(tmp_path, table().drop_columns("n"))
    with pytest.raises(ValueError, match=r"b\.parquet lacks the column 'n'"):
        open_source(folder)


def test_a_column_that_only_one_file_has_is_named(tmp_path):
    folder = two_files(tmp_path, table(more=np.zeros(N)))
    with pytest.raises(ValueError, match=r"b\.parquet has the column 'more'"):
        open_source(folder)


def test_columns_in_another_order_are_found_by_their_names(tmp_path):
    folder = two_files(tmp_path, table().select(["n", "city"]))
    found = read(folder)
    assert found.column_names == ["city", "n"]
    assert found["n"].to_pylist() == table()["n"].to_pylist() * 2


def test_a_column_of_another_kind_in_one_file_is_named(tmp_path):
    folder = two_files(tmp_path, table(n=np.full(N, "x")))
    message = r"b\.parquet holds text in the column 'n', and .*a\.parquet holds numbers"
    with pytest.raises(ValueError, match=message):
        open_source(folder)


def test_types_of_one_kind_and_files_without_values_go_together(tmp_path):
    folder = two_files(tmp_path, table(n=np.arange(N, dtype=np.int8) % 5))
    pq.write_table(table(n=pa.nulls(N), city=pa.nulls(N)), tmp_path / "0.parquet")
    pq.write_table(table(n=np.full(N, 2.5)), tmp_path / "c.parquet")
    found = read(folder)
    assert len(found) == 4 * N
    assert found["n"].null_count == N


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("kept", [0, 3, 200, -20])
def test_a_truncated_file_is_named(tmp_path, kind, kept):
    path = tmp_path / f"a.{kind}"
    write(path, table())
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=rf"a\.{kind} cannot be read as"):
        open_source(path)


def write(path: Path, rows: pa.Table) -> None:
    if path.suffix == ".parquet":
        pq.write_table(rows, path)
        return
    with pa.ipc.new_file(path, rows.schema) as writer:
        writer.write_table(rows)


def test_a_damaged_page_is_named_with_its_column(tmp_path):
    path = tmp_path / "a.parquet"
    numbers = np.random.default_rng(0).integers(0, 2**60, N)
    pq.write_table(table(n=numbers), path, use_dictionary=False, compression="snappy")
    start = pq.ParquetFile(path).metadata.row_group(0).column(1).data_page_offset
    data = bytearray(path.read_bytes())
    data[start + 20 : start + 400] = b"\xff" * 380
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.parquet, column 'n', cannot be read as Parquet"):
        read(path)


def test_a_foreign_file_with_the_ending_of_a_table_is_named(tmp_path):
    (tmp_path / "a.parquet").write_text("these are notes")
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read as Parquet"):
        open_source(str(tmp_path))


def test_a_file_that_vanishes_is_named(tmp_path):
    folder = two_files(tmp_path, table())
    source = open_source(folder)
    os.remove(tmp_path / "b.parquet")
    with pytest.raises(FileNotFoundError, match=r"b\.parquet is gone"):
        list(source.batches())


@pytest.mark.parametrize(
    "other",
    [table()[:100], table(n=["few"] * N), table().drop_columns("n")],
    ids=["rows", "kind", "column"],
)
def test_a_file_that_is_replaced_is_named(tmp_path, other):
    folder = two_files(tmp_path, table())
    source = open_source(folder)
    pq.write_table(other, tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet was changed after it was opened"):
        list(source.batches())


def test_a_file_that_grows_while_it_is_read_is_named(tmp_path):
    folder = two_files(tmp_path, table())
    batches = open_source(folder).batches()
    next(batches), next(batches)
    with open(tmp_path / "b.parquet", "ab") as file:
        file.write(b"more")
    with pytest.raises(ValueError, match=r"b\.parquet was changed after it was opened"):
        next(batches)


def test_names_that_occur_twice_are_refused(tmp_path):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pa.ipc.new_file(tmp_path / "a.arrow", twice.schema) as writer:
        writer.write_table(twice)
    with pytest.raises(ValueError, match=r"a\.arrow: column names occur more than once: \['x'\]"):
        open_source(tmp_path / "a.arrow")
    with pytest.raises(ValueError, match="column names occur more than once"):
        open_source(twice.to_reader())


def test_tables_in_memory_are_no_sources():
    frame = table()
    assert all(
        open_source(one) is None
        for one in (frame, frame.to_pandas(), [["a"], ["b"]], np.zeros((2, 2)), ["a", "b"])
    )


def test_kinds_of_types():
    expected = {
        pa.int8(): "numbers",
        pa.decimal128(5, 2): "numbers",
        pa.bool_(): "truth values",
        pa.dictionary(pa.int8(), pa.large_string()): "text",
        pa.timestamp("s"): "times",
        pa.timestamp("s", "UTC"): "times with a zone",
        pa.date64(): "dates",
        pa.null(): "nothing",
        pa.list_(pa.int8()): "list<item: int8>",
    }
    assert {type_: kind_of(type_) for type_ in expected} == expected


@pytest.mark.parametrize("sizes", [(), (0, 0), (1,), (10,), (3, 3, 3), (25, 1, 0, 9)])
def test_regrouped_batches_hold_the_same_rows(sizes):
    rows = iter(range(100))
    batches = [pa.record_batch({"x": pa.array([next(rows) for _ in range(n)], pa.int64())})
               for n in sizes]  # fmt: skip
    tables = list(regrouped(batches, 10))
    assert [value for one in tables for value in one["x"].to_pylist()] == list(range(sum(sizes)))
    assert all(len(one) == 10 for one in tables[:-1])
    assert all(0 < len(one) <= 10 for one in tables)
