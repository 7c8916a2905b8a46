import gzip

import pytest
from made_up_results import made_up

from softmodes._paper import EXPERIMENTS
from softmodes._paper.results import ResultsFile, read, read_folder


def lines_of(path):
    return [record["key"] for record in read(path)]


def a_record(key, **more):
    cell = next(iter(EXPERIMENTS["theorem"].cells("small")))
    return made_up(cell, 0.5, key=key, **more)


def test_every_torn_last_line_is_dropped_and_written_again(tmp_path):
    path = tmp_path / "small.jsonl"
    with ResultsFile(path) as results:
        for key in ("a", "b"):
            results.append({"key": key, "n": 1})
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole)):
        path.write_bytes(whole[:end])
        assert lines_of(path) == ["a"], "a reader takes a torn line for a whole one"
        with ResultsFile(path) as results:
            assert results.done == {"a"}
            results.append({"key": "b", "n": 1})
        assert path.read_bytes() == whole


def test_zeros_that_a_power_cut_leaves_are_dropped(tmp_path):
    path = tmp_path / "small.jsonl"
    path.write_bytes(b'{"key":"a"}\n\0\0\0\0\0\n')
    with ResultsFile(path) as results:
        results.append({"key": "b"})
    assert path.read_bytes() == b'{"key":"a"}\n{"key":"b"}\n'


def test_a_disk_that_fills_up_tears_no_line_but_the_last(tmp_path):
    resource = pytest.importorskip("resource", reason="limits the size of files")
    path = tmp_path / "small.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ResultsFile(path) as results:
        results.append(a_record("a"))
        first = path.read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(first) + 5, limits[1]))
        try:
            with pytest.raises(
                OSError, match=r"only 5 of \d+ bytes were written. Is the disk full"
            ):
                results.append(a_record("b"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == first + b'{"key'
    with ResultsFile(path) as results:
        assert results.done == {"a"}
        results.append(a_record("b"))
    assert path.read_bytes().startswith(first + b'{"key":"b"')
    assert lines_of(path) == ["a", "b"]


def test_a_foreign_line_is_named(tmp_path):
    path = tmp_path / "small.jsonl"
    path.write_text('{"key":"a"}\nhello\n{"key":"b"}\n')
    with pytest.raises(ValueError, match=r"small.jsonl, line 2 is not a record.*Delete that line"):
        lines_of(path)


def test_two_runs_cannot_write_the_same_file(tmp_path):
    path = tmp_path / "small.jsonl"
    with (
        ResultsFile(path),
        pytest.raises(ValueError, match=r"being written by another run. Wait for it, or pass"),
        ResultsFile(path),
    ):
        pass


def test_compressed_results_are_read_and_newer_plain_ones_win(tmp_path):
    with gzip.open(tmp_path / "full.jsonl.gz", "wt") as file:
        file.write('{"key":"a","n":1}\n{"key":"b","n":1}\n')
    (tmp_path / "full.jsonl").write_text('{"key":"b","n":2}\n')
    assert {r["key"]: r["n"] for r in read_folder(tmp_path, "full")} == {"a": 1, "b": 2}
