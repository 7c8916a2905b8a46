import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import softmodes as package
from command import refused, softmodes
from softmodes._cli import streamed
from softmodes.datasets import make_ccm


@pytest.fixture
def large(tmp_path, monkeypatch):
    """Files that count as large, of the same rows."""
    X, _ = make_ccm(400, 12, 3, eps=0.1, random_state=0)
    table = pa.table({f"q{j}": np.where(c, "yes", "no") for j, c in enumerate(X.T)})
    table = table.append_column("person", [[f"p{i}" for i in range(400)]])
    csv.write_csv(table, tmp_path / "large.csv")
    parquet.write_table(table, tmp_path / "large.parquet")
    monkeypatch.setattr(streamed, "LARGE", 1)
    return tmp_path


@pytest.mark.parametrize("name", ["large.csv", "large.parquet"])
def test_a_stream_has_the_groups_of_the_table(large, name, monkeypatch):
    arguments = ["fit", large / name, "--raw", "--drop", "person"]
    by_stream = softmodes(*arguments, "--out", large / "stream.csv")
    assert "12 of 13 columns are used as they are; the file is read as a stream" in by_stream.stdout
    monkeypatch.setattr(streamed, "LARGE", 1 << 40)
    by_table = softmodes(*arguments, "--out", large / "table.csv")
    assert "as a stream" not in by_table.stdout
    told = [
        result.stdout.partition("\n\n")[2].partition("Written")[0]
        for result in (by_stream, by_table)
    ]
    assert told[0] == told[1] != ""
    groups = [
        csv.read_csv(large / file)["group"].to_pylist() for file in ("stream.csv", "table.csv")
    ]
    assert groups[0] == groups[1]


def test_new_rows_of_a_stream_get_their_groups(large):
    arguments = [
        "--raw",
        "-k",
        3,
        "--drop",
        "person",
        "--save",
        large / "m",
        "--out",
        large / "a.csv",
    ]
    page = large / "page.html"
    assert softmodes("fit", large / "large.csv", *arguments, "--report", page).exit_code == 0
    assert "3 groups among 400 rows" in page.read_text("utf-8")
    assert package.load(large / "m").preparation_ is None
    new = ["predict", large / "m", large / "large.parquet", "--out", large / "b.csv", "--json"]
    found = json.loads(softmodes(*new).stdout)
    assert (large / "a.csv").read_bytes() == (large / "b.csv").read_bytes()
    assert sum(group["rows"] for group in found["groups"]) == 400
    assert found["above_the_limit"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weight", "q1"], "--weight asks for a table in memory, and"),
        (["--as", "q1=text"], "--as asks for a table in memory, and"),
        (["--drop", "nobody"], "drop names column 'nobody', which the table does not have."),
        (["--only", "q1"], "One column is used, 'q1', and groups are answers that go together."),
    ],
)
def test_what_a_stream_cannot_do_is_refused(large, arguments, message):
    assert message in refused("fit", large / "large.csv", "--raw", *arguments)
