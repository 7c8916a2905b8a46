import gzip
import json
from pathlib import Path

import pytest
from made_up_results import made_up

from softmodes._paper import EXPERIMENTS
from softmodes._paper.results import ResultsFile, folded, read, read_folder


def lines_of(path):
    return [record["key"] for record in read(path)]


def a_record(key, **more):
    cell = next(iter(EXPERIMENTS["theorem"].cells("small")))
    return made_up(cell, 0.5, key=key, **more)


def a_line(key, **more):
    return json.dumps(a_record(key, **more)) + "\n"


def test_every_torn_last_line_is_dropped_and_written_again(tmp_path):
    path = tmp_path / "small.jsonl"
    with ResultsFile(path) as results:
        for key in ("a", "b"):
            results.append(a_record(key))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole)):
        path.write_bytes(whole[:end])
        assert lines_of(path) == ["a"], "a reader takes a torn line for a whole one"
        with ResultsFile(path) as results:
            assert results.done == {"a"}
            results.append(a_record("b"))
        assert path.read_bytes() == whole


def test_zeros_that_a_power_cut_leaves_are_dropped(tmp_path):
    path = tmp_path / "small.jsonl"
    path.write_text(a_line("a") + "\0\0\0\0\0\n")
    with ResultsFile(path) as results:
        results.append(a_record("b"))
    assert b"\0" not in path.read_bytes()
    assert lines_of(path) == ["a", "b"]


def test_a_foreign_line_is_named(tmp_path):
    path = tmp_path / "small.jsonl"
    path.write_text(a_line("a") + "hello\n" + a_line("b"))
    with pytest.raises(ValueError, match=r"small.jsonl, line 2 is not a record.*Delete that line"):
        lines_of(path)


@pytest.mark.parametrize(
    "line",
    [
        '{"key":["a"]}\n',
        '{"key":"a"}\n',
        "[" * 100_000 + "]" * 100_000 + "\n",
        a_line("a", experiment=None),
        a_line("a", metrics={}),
        a_line("a", seconds={"wall": "1"}),
        a_line("a", data=["ccm", 2]),
        a_line("a", run="1"),
    ],
    ids=["key", "fields", "depth", "experiment", "metrics", "seconds", "data", "run"],
)
def test_a_run_and_a_report_refuse_what_is_not_a_record(tmp_path, line):
    path = tmp_path / "small.jsonl"
    path.write_text(a_line("whole") + line)
    refusal = r"small.jsonl, line 2 is not a record of a cell.*Delete that line"
    with pytest.raises(ValueError, match=refusal), ResultsFile(path):
        pass
    with pytest.raises(ValueError, match=refusal):
        read_folder(tmp_path, "small")
    assert path.read_text() == a_line("whole") + line


PACKED = gzip.compress(a_line("a").encode())


@pytest.mark.parametrize(
    "content",
    [b"hello", PACKED[:-9], PACKED[:10] + b"\xff" * 20, PACKED[:-8] + bytes(8)],
    ids=["plain", "truncated", "deflate", "checksum"],
)
def test_damaged_compressed_results_are_named(tmp_path, content):
    (tmp_path / "full.jsonl.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"full.jsonl.gz is damaged: .*Put a whole copy in its"):
        read_folder(tmp_path, "full")


def test_published_results_are_records():
    published = Path(__file__).parents[2] / "docs" / "paper"
    assert len(read_folder(published, "full")) > 1000


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
        file.write(a_line("a", run=1) + a_line("b", run=1))
    (tmp_path / "full.jsonl").write_text(a_line("b", run=2))
    assert {r["key"]: r["run"] for r in read_folder(tmp_path, "full")} == {"a": 1, "b": 2}


def several_runs(n=7):
    cells = [c for c in EXPERIMENTS["table-real"].cells("full") if c.data.kind == "zoo"]
    cells = [c for c in cells if c.series_key == cells[0].series_key][:n]
    return [
        made_up(c, 0.5 + c.run / 100, expected_cost=10.0 + c.run, rounds=3 + c.run) for c in cells
    ]


def test_several_runs_share_a_line_and_are_read_as_single_ones(tmp_path):
    path = tmp_path / "full.jsonl"
    records = several_runs()
    records[0]["same_again"] = 0.9
    with ResultsFile(path) as results:
        results.append(*records)
        assert results.done == {r["key"] for r in records}
    assert path.read_bytes().count(b"\n") == 1
    found = list(read(path))
    for kept, record in zip(found, records, strict=True):
        for name in ("key", "run", "data", "algorithm", "params", "metrics", "expected_cost"):
            assert kept[name] == record[name], name
        assert (kept["rounds"], kept["capped"]) == (record["rounds"], False)
    assert [r.get("same_again") for r in found] == [0.9] + [None] * 6
    with ResultsFile(path) as results:
        assert results.done == {r["key"] for r in records}


def test_a_folded_line_takes_a_few_bytes_a_run(tmp_path):
    path = tmp_path / "full.jsonl"
    with ResultsFile(path) as results:
        results.append(*several_runs(100))
    assert len(gzip.compress(path.read_bytes())) < 12 * 100


@pytest.mark.parametrize("damage", ["short", "missing"])
def test_a_folded_line_that_is_not_whole_is_named(tmp_path, damage):
    path = tmp_path / "full.jsonl"
    line = folded(several_runs())
    if damage == "short":
        line["each"]["ari"].pop()
    else:
        del line["each"]["accuracy"]
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(ValueError, match=r"line 1 is not a record of a cell"):
        list(read(path))
