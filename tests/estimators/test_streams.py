"""Estimators on files, streams and lazy frames: as on the table in memory."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from softmodes import KModes, MiniBatchSoftModes, SoftModes, load
from softmodes._estimators import mini_batch
from softmodes._rows.stores import file, streamed
from softmodes.metrics import expected_cost, hamming_cost

N = 900


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(file, "_LEAST_BLOCK_BYTES", 2000)
    monkeypatch.setattr(file, "_BLOCK_BYTES", 2000)
    monkeypatch.setattr(streamed, "_ROWS_AT_ONCE", 190)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 4, N)
    columns = {
        f"question {j}": pa.array(
            np.array(list("abcdefgh"))[np.where(rng.random(N) < 0.3, rng.integers(0, 5, N), groups)]
        )
        for j in range(5)
    }
    columns["age"] = pa.array(rng.integers(18, 60, N) // 10 * 10)
    columns["answer"] = pa.array(rng.choice(["yes", "no", None], N), from_pandas=True)
    columns["size"] = pa.array(rng.choice([0.5, 1.0, 2.5], N))
    return pa.table(columns)


def model(**params) -> SoftModes:
    return SoftModes(4, n_init=2, random_state=3, **params)


def split(table: pa.Table, folder: Path, n: int = 3) -> Path:
    edges = np.linspace(0, len(table), n + 1).astype(int)
    for i in range(n):
        pq.write_table(table[edges[i] : edges[i + 1]], folder / f"part-{i}.parquet")
    return folder


def written(table: pa.Table, folder: Path) -> dict[str, object]:
    """The same rows in every kind of source."""
    split(table, folder)
    pa.csv.write_csv(table, folder.parent / "whole.csv")
    (folder.parent / "whole.csv.gz").write_bytes(
        gzip.compress((folder.parent / "whole.csv").read_bytes())
    )
    with pa.ipc.new_file(folder.parent / "whole.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    parts = sorted(folder.iterdir())
    return {
        "folder": str(folder),
        "pattern": f"{folder}/*.parquet",
        "list": parts,
        "list of texts": list(map(str, parts)),
        "path": folder.parent / "whole.arrow",
        "csv": str(folder.parent / "whole.csv"),
        "csv.gz": folder.parent / "whole.csv.gz",
        "data set": pyarrow.dataset.dataset(folder),
        "reader": table.to_reader(50),
        "stream": OnlyStream(table),
        "polars": pl.scan_parquet(f"{folder}/*.parquet"),
        "duckdb": duckdb.sql(f"select * from '{folder}/*.parquet'"),
    }


class OnlyStream:
    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


SOURCES = ("folder", "pattern", "list", "list of texts", "path", "csv", "csv.gz", "data set",
           "reader", "stream", "polars", "duckdb")  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("limit", [None, 0])
def test_every_source_gives_the_answer_of_the_table(table, tmp_path, kind, limit):
    (tmp_path / "folder").mkdir()
    source = written(table, tmp_path / "folder")[kind]
    weight = np.random.default_rng(0).random(N)
    here = model().fit(table, sample_weight=weight)
    there = model(memory_limit=limit).fit(source, sample_weight=weight)
    assert_array_equal(there.labels_, here.labels_)
    assert isinstance(there.labels_, np.memmap) == (limit == 0)
    assert there.history_ == here.history_
    assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    assert [list(one) for one in there.categories_] == [list(one) for one in here.categories_]
    assert list(there.feature_names_in_) == table.column_names


@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize("kind", ["folder", "csv"])
def test_all_that_is_asked_of_a_source_is_what_the_table_answers(table, tmp_path, kind, limit):
    (tmp_path / "folder").mkdir()
    source = written(table, tmp_path / "folder")[kind]
    here = model(memory_limit=limit).fit(table)
    for ask in ("predict", "transform", "predict_proba", "margin", "score_samples"):
        found, expected = getattr(here, ask)(source), getattr(here, ask)(table)
        assert found.dtype == expected.dtype
        assert_array_equal(found, expected)
    assert_array_equal(model(memory_limit=limit).fit_predict(source), here.labels_)
    assert here.score(source) == here.score(table)
    again = here.stability(source, n_resamples=2)
    assert again.whole == here.stability(table, n_resamples=2).whole
    for estimator in (KModes(3, n_init=2, random_state=0), MiniBatchSoftModes(3, random_state=0)):
        found = estimator.fit(source).labels_
        assert_array_equal(found, estimator.fit(table).labels_)


def test_labels_of_a_stream_are_written_to_a_file(table, tmp_path):
    (tmp_path / "folder").mkdir()
    folder = str(split(table, tmp_path / "folder"))
    fitted = model(memory_limit=0).fit(folder)
    for name in ("labels.parquet", "labels.csv"):
        fitted.predict_to(folder, tmp_path / name, column="group")
        read = pq.read_table if name.endswith("parquet") else pa.csv.read_csv
        found = read(tmp_path / name)
        assert found.column_names == ["group"]
        assert_array_equal(found["group"], fitted.labels_)
    with pytest.raises(ValueError, match=r"another ending than \.parquet and \.csv"):
        fitted.predict_to(folder, tmp_path / "labels.xlsx")
    with pytest.raises(FileNotFoundError, match="folder that does not exist"):
        fitted.predict_to(folder, tmp_path / "nowhere" / "labels.csv")


@pytest.mark.parametrize("given", ["file", "folder", "pattern", "list", "data set"])
def test_labels_are_never_written_over_a_file_that_is_read(given, table, tmp_path):
    split(table, tmp_path)
    target = sorted(tmp_path.glob("*.parquet"))[0]
    X = {
        "file": str(target),
        "folder": tmp_path,
        "pattern": str(tmp_path / "*.parquet"),
        "list": [tmp_path / "." / path for path in sorted(os.listdir(tmp_path))],
        "data set": pa.dataset.dataset(tmp_path),
    }[given]
    content = target.read_bytes()
    fitted = model().fit(table)
    with pytest.raises(ValueError, match="is a file that X is read from"):
        fitted.predict_to(X, target)
    assert target.read_bytes() == content


@pytest.mark.parametrize("refine", [None, "gini", "latent"])
def test_a_model_of_columns_with_many_values_is_pickled(refine):
    rng = np.random.default_rng(0)
    table = pa.table({"wide": rng.integers(0, 400, 2000), "narrow": rng.integers(0, 3, 2000)})
    fitted = model(refine=refine).fit(table)
    again = pickle.loads(pickle.dumps(fitted))
    for ask in ("predict", "transform", "margin"):
        assert_array_equal(getattr(again, ask)(table), getattr(fitted, ask)(table))
    assert again.score(table) == fitted.score(table)


def test_a_scanner_of_arrow_is_a_stream(table, tmp_path):
    scanner = pa.dataset.dataset(split(table, tmp_path)).scanner(batch_size=100)
    assert_array_equal(model().fit(scanner).labels_, model().fit(table).labels_)


@pytest.mark.parametrize("ask", [expected_cost, lambda X, y: hamming_cost(X, y, [["a", "b"]])])
def test_what_needs_rows_in_memory_collects_no_lazy_frame(ask):
    with pytest.raises(TypeError, match="is not collected unasked"):
        ask(pl.LazyFrame({"x": ["a"], "y": ["b"]}), [0])


def test_a_model_of_a_big_file_is_saved_without_its_labels(table, tmp_path):
    (tmp_path / "folder").mkdir()
    folder = str(split(table, tmp_path / "folder"))
    big, small = model(memory_limit=0).fit(folder), model(memory_limit="1GB").fit(folder)
    for fitted, has_labels in ((big, False), (small, True)):
        fitted.save(tmp_path / "m.softmodes")
        loaded = load(tmp_path / "m.softmodes")
        assert hasattr(loaded, "labels_") == has_labels
        assert loaded.memory_limit == fitted.memory_limit
        assert_array_equal(loaded.predict(folder), fitted.labels_)
        travelled = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(travelled.labels_, fitted.labels_)


def test_unseen_values_are_told_of_all_parts_as_of_the_table(table, tmp_path):
    (tmp_path / "folder").mkdir()
    fitted = model().fit(table)
    other = table.to_pandas()
    other.loc[[5, 700], "question 1"] = "never"
    other.loc[450:, "question 2"] = [f"new {i % 9}" for i in range(450, N)]
    other.loc[880, "age"] = 200
    other.loc[3, "question 3"] = None
    other = pa.Table.from_pandas(other, preserve_index=False)
    with pytest.warns(UserWarning, match="unseen") as here:
        expected = fitted.predict(other)
    for source in (str(split(other, tmp_path / "folder")), _as_csv(other, tmp_path)):
        with pytest.warns(UserWarning, match="unseen") as there:
            found = fitted.predict(source)
        assert_array_equal(found, expected)
        assert [str(one.message) for one in there] == [str(one.message) for one in here]


def test_a_column_of_another_type_is_told_as_of_the_table(table, tmp_path):
    (tmp_path / "folder").mkdir()
    fitted = model().fit(table)
    as_text = table.set_column(5, "age", pa.array([f"{i % 5} years" for i in range(N)]))
    some = [None if i % 2 else f"{i}" for i in range(N)]
    for other in (as_text, as_text.set_column(0, "question 0", pa.array(range(N)))):
        other = other.set_column(1, "question 1", pa.array(some))
        with pytest.warns(UserWarning, match="Column types differ") as here:
            expected = fitted.predict(other)
        with pytest.warns(UserWarning, match="Column types differ") as there:
            found = fitted.predict(str(split(other, tmp_path / "folder")))
        assert str(there[0].message) == str(here[0].message)
        assert_array_equal(found, expected)


def test_odd_texts_among_numbers_of_a_csv_file_are_told_as_of_the_table(table, tmp_path):
    fitted = model().fit(table)
    other = table.to_pandas()
    other["age"] = other["age"].astype(object)
    other.loc[[3, 800], "age"] = "old"
    other.to_csv(tmp_path / "odd.csv", index=False)
    with pytest.warns(UserWarning, match="'old' in 2 cells") as here:
        expected = fitted.predict(other)
    with pytest.warns(UserWarning, match="'old' in 2 cells") as there:
        found = fitted.predict(tmp_path / "odd.csv")
    assert str(there[0].message) == str(here[0].message)
    assert_array_equal(found, expected)


def test_rows_of_a_stream_come_back_as_their_groups_alone(table, tmp_path):
    pq.write_table(table, tmp_path / "x.parquet")
    fitted = model().fit(table)
    expected = fitted.to_frame(table).to_pandas()
    found = fitted.to_frame(tmp_path / "x.parquet").to_pandas()
    assert found.columns.tolist() == ["group", "name", "margin", "second"]
    pd.testing.assert_frame_equal(found, expected[found.columns], check_dtype=False)


def _as_csv(table: pa.Table, folder: Path) -> str:
    pa.csv.write_csv(table, folder / "other.csv")
    return str(folder / "other.csv")


def test_a_type_that_changes_late_in_a_csv_file_is_that_of_all_values(tmp_path):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 5, N).astype(str)
    frame = pd.DataFrame({"code": numbers, "zip": rng.choice(["01", "7"], N), "x": numbers})
    frame.loc[N - 1, "code"] = "A12"
    frame.to_csv(tmp_path / "late.csv", index=False)
    here = model().fit(frame.assign(x=frame["x"].astype(int)))
    there = model(memory_limit=0).fit(tmp_path / "late.csv")
    assert [list(one) for one in there.categories_] == [list(one) for one in here.categories_]
    assert there.categories_[0][-1] == "A12"
    assert_array_equal(there.labels_, here.labels_)
    assert_array_equal(here.predict(tmp_path / "late.csv"), here.labels_)


@pytest.mark.parametrize("first", [0, 700])
@pytest.mark.parametrize("kind", ["folder", "csv", "polars"])
def test_missing_cells_are_refused_with_the_words_for_a_table(table, tmp_path, kind, first):
    (tmp_path / "folder").mkdir()
    answers = table["answer"].fill_null("none")[:first].to_pylist()
    answers += table["answer"][first:].to_pylist()
    table = table.set_column(6, "answer", pa.array(answers))
    source = written(table, tmp_path / "folder")[kind]
    with pytest.raises(ValueError, match=r"Column 6 \('answer'\) has") as here:
        model(missing="error").fit(table)
    with pytest.raises(ValueError, match=r"Column 6 \('answer'\) has") as there:
        model(missing="error").fit(source)
    assert str(there.value) == str(here.value)
    whole = table.set_column(6, "answer", table["answer"].fill_null("none"))
    fitted = model(missing="error").fit(whole)
    with pytest.raises(ValueError, match=r"Column 6 \('answer'\) has") as at_predict:
        fitted.predict(source)
    assert str(at_predict.value) == str(here.value)


def test_files_without_rows_and_one_row_work(table, tmp_path):
    (tmp_path / "folder").mkdir()
    folder = split(table, tmp_path / "folder")
    pq.write_table(table[:0], folder / "part-0a.parquet")
    pq.write_table(table[:0], folder / "part-z.parquet")
    assert_array_equal(model().fit(str(folder)).labels_, model().fit(table).labels_)
    pq.write_table(table[:1], tmp_path / "one.parquet")
    assert SoftModes(1).fit(str(tmp_path / "one.parquet")).labels_.tolist() == [0]
    pq.write_table(table[:0], tmp_path / "none.parquet")
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model().fit(str(tmp_path / "none.parquet"))


def test_other_columns_than_those_of_fit_are_refused(table, tmp_path):
    fitted = model().fit(table)
    pq.write_table(table.drop_columns("age"), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"now missing:\n- age"):
        fitted.predict(tmp_path / "x.parquet")


def test_weights_for_another_number_of_rows_are_refused(table, tmp_path):
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"sample_weight has shape \(5,\), but there are 900 rows"):
        model().fit(tmp_path / "x.parquet", sample_weight=np.ones(5))


def test_a_stream_is_read_once(table):
    reader = table.to_reader()
    model().fit(reader)
    with pytest.raises(ValueError, match="can be read once"):
        model().fit(reader)


def test_an_order_that_is_left_to_chance_is_refused(table, tmp_path):
    pq.write_table(table, tmp_path / "x.parquet")
    connection = duckdb.connect()
    relation = connection.sql(f"select * from '{tmp_path}/x.parquet'")
    assert_array_equal(model().fit(relation).labels_, model().fit(table).labels_)
    connection.execute("set preserve_insertion_order = false")
    relation = connection.sql(f"select * from '{tmp_path}/x.parquet'")
    with pytest.raises(ValueError, match="preserve_insertion_order is false"):
        model().fit(relation)


def test_lazy_frames_that_cannot_be_streamed_are_not_collected(table):
    dask = pytest.importorskip("dask.dataframe")
    with pytest.raises(TypeError, match="not collected unasked"):
        MiniBatchSoftModes(2).partial_fit(dask.from_pandas(table.to_pandas(), npartitions=2))


@pytest.mark.parametrize("limit", ["lots", -1, 1.5, True])
def test_a_memory_limit_that_is_none_is_refused(table, limit):
    with pytest.raises(ValueError, match="is not a number of bytes"):
        model(memory_limit=limit).fit(table)


@pytest.mark.parametrize("kind", ["folder", "reader", "polars", "duckdb"])
def test_partial_fit_goes_through_a_stream_as_through_its_parts(table, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(mini_batch, "_ROWS_AT_ONCE", 77)
    (tmp_path / "folder").mkdir()
    source = written(table, tmp_path / "folder")[kind]
    weight = np.random.default_rng(0).random(N)
    params = {"batch_size": 64, "random_state": 1}
    here = MiniBatchSoftModes(3, **params).partial_fit(table, sample_weight=weight)
    there = MiniBatchSoftModes(3, **params).partial_fit(source, sample_weight=weight)
    assert there.n_steps_ == here.n_steps_ > 10
    assert there.cost_ == here.cost_
    assert_array_equal(there.predict(table), here.predict(table))
    assert_array_equal(there.cluster_sizes_, here.cluster_sizes_)


def test_partial_fit_refuses_streams_that_it_cannot_learn_from(table, tmp_path):
    pa.csv.write_csv(table, tmp_path / "x.csv")
    begun = MiniBatchSoftModes(3)
    with pytest.raises(ValueError, match="which types the columns of a file of texts have"):
        begun.partial_fit(tmp_path / "x.csv")
    with pytest.raises(ValueError, match=r"sample_weight has shape \(901,\)"):
        begun.partial_fit(table.to_reader(), sample_weight=np.ones(N + 1))
    pq.write_table(table[:0], tmp_path / "none.parquet")
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        begun.partial_fit(tmp_path / "none.parquet")
    assert not hasattr(begun, "n_steps_")
