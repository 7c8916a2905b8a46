"""Files of SPSS and Stata, written by another library."""

import datetime as dt
import sys

import pandas as pd
import pytest

from softmodes._sources.paths import open_path
from softmodes._sources.whole import read_whole

pyreadstat = pytest.importorskip("pyreadstat")

FRAME = pd.DataFrame(
    {
        "q1": [1.0, 2.0, 9.0, None, 3.0],
        "age": [20.0, 33.0, 41.0, None, 20.0],
        "weight": [0.5, 1.5, 1.0, 1.0, 1.0],
        "city": ["Köln", "", "01234", "1234", "NA"],
        "day": [dt.date(2020, 1, 1)] * 5,
        "sex": ["m", "f", "f", "m", "m"],
    }
)
LABELS = {"q1": {1: "yes", 2: "no", 9: "refused"}, "sex": {"m": "man", "f": "woman"}}


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        FRAME, path, variable_value_labels=LABELS, missing_ranges={"q1": [9]}, note="made up"
    )
    return path


def test_values_with_labels_are_their_labels(survey):
    source = open_path(survey)
    assert read_whole(source).to_pydict() == {
        "q1": ["yes", "no", None, None, "3"],
        "age": [20, 33, 41, None, 20],
        "weight": [0.5, 1.5, 1.0, 1.0, 1.0],
        "city": ["Köln", None, "01234", "1234", None],
        "day": [dt.date(2020, 1, 1)] * 5,
        "sex": ["man", "woman", "woman", "man", "man"],
    }
    assert source.told == (
        "5 rows, 6 columns. SPSS, value labels for 2 columns. "
        '"NA" and empty cells read as missing (5 cells).',
    )


def test_rows_come_in_batches_that_make_the_same_table(survey, monkeypatch):
    whole = read_whole(open_path(survey))
    monkeypatch.setattr("softmodes._sources.spss._ROWS_AT_ONCE", 2)
    source = open_path(survey)
    assert [batch.num_rows for batch in source.batches()] == [2, 2, 1]
    assert read_whole(source).to_pydict() == whole.to_pydict()


def test_values_that_share_a_label_are_told_apart(tmp_path):
    path = tmp_path / "t.sav"
    frame = pd.DataFrame({"q": [1.0, 2.0, 3.0, 4.0]})
    labels = {"q": {1: "other", 2: "other", 3: "none", 4: " "}}
    pyreadstat.write_sav(frame, path, variable_value_labels=labels)
    assert read_whole(open_path(path))["q"].to_pylist() == ["other (1)", "other (2)", "none", "4"]


def test_files_of_stata_are_read(tmp_path):
    path = tmp_path / "t.dta"
    labels = {"q": {1: "yes", 2: "no"}}
    pyreadstat.write_dta(
        pd.DataFrame({"q": [1, 2], "x": ["a", "b"]}), path, variable_value_labels=labels
    )
    source = open_path(path)
    assert read_whole(source).to_pydict() == {"q": ["yes", "no"], "x": ["a", "b"]}
    assert source.told == ("2 rows, 2 columns. Stata, value labels for 1 column.",)


def test_a_column_without_any_value_and_a_table_without_rows_are_read(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(pd.DataFrame({"a": [None, None], "b": [1.0, 2.0]}, dtype=float), path)
    assert read_whole(open_path(path)).to_pydict() == {"a": [None, None], "b": [1, 2]}
    pyreadstat.write_sav(pd.DataFrame({"a": pd.Series([], dtype=float)}), path)
    assert read_whole(open_path(path)).shape == (0, 1)


def test_a_broken_file_is_named(survey):
    survey.write_bytes(survey.read_bytes()[:300])
    with pytest.raises(ValueError, match=r"survey\.sav cannot be read: .*save it anew"):
        read_whole(open_path(survey))


def test_a_missing_reader_is_one_line_with_the_extra(survey, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(ImportError, match=r'need pyreadstat\. .* pip install "softmodes\[spss\]"'):
        open_path(survey)
