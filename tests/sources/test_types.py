"""Types of texts, beside those that Arrow infers from a whole file, and by plain Python."""

import datetime as dt
import io
import random
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from softmodes._sources.types import MISSING_WORDS, Spelling, typed, typed_as
from softmodes._table.codebook import learn
from softmodes._table.values import ColumnValues


def values(*texts, **spelling):
    return typed(pa.array(texts, pa.string()), Spelling(**spelling)).to_pylist()


def inferred_by_arrow(texts):
    lines = "".join(f'"{text}"\n' for text in texts)
    return pyarrow.csv.read_csv(
        io.BytesIO(f"x\n{lines}".encode()),
        convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True, null_values=[""]),
    ).column(0)


@pytest.mark.parametrize(
    "texts",
    [
        ("1", "-2", "0"),
        (" 1", "2 "),
        ("9223372036854775807", "-9223372036854775808"),
        ("1", "2.5", ".5", "3.", "1e5", "-inf"),
        ("true", "False", "TRUE"),
        ("TRUE", "tRue"),
        ("2020-02-29", "1999-12-31"),
        ("2019-02-29", "2020-01-01"),
        ("2020-01-01", "2020-01-02 10:00", "2020-01-02T10:00:07", "2020-01-02 11"),
        ("2020-01-01T10:00:00Z", "2020-01-01 10:00:00+0200", "2020-01-01 10:00+02:00"),
        ("2020-01-01T10:00:00", "2020-01-01T10:00:00Z"),
        ("10:30", "23:59:59"),
        ("24:00",),
        ("9:30", "10:30"),
        ("1700-01-01 00:00", "3000-01-01 00:00"),
        ("x", "1", ""),
        ("", ""),
        ("1_000", "2"),
    ],
    ids=" ".join,
)
def test_types_are_those_that_arrow_infers_from_a_whole_file(texts):
    expected = inferred_by_arrow(texts)
    found = typed(pa.array(texts))
    assert found.type == expected.type
    assert found.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize(
    "texts",
    [
        ("01234", "1234"),
        ("00", "0"),
        ("00.5", "1.5"),
        ("-01", "1"),
        ("0x1F", "31"),
        ("0", "true"),
        ("9223372036854775808", "9223372036854775807"),
        ("1234567890123456.5", "1"),
        ("1e400", "1"),
        ("1", "A12"),
        ("1.5", "1,5"),
        ("1,234", "12,345"),
        ("1.234,5", "1"),
        ("1,234.5", "1"),
        ("2020-02-30", "2020-02-28"),
        ("None", "1"),
        ("-", "1"),
    ],
    ids=" ".join,
)
def test_texts_that_a_type_would_merge_or_bend_stay_texts(texts):
    assert values(*texts) == list(texts)


def test_decimal_commas_are_numbers_unless_all_may_part_thousands():
    assert values("1,5", "2", "-0,25") == [1.5, 2.0, -0.25]
    assert values("1,234", "2,5") == [1.234, 2.5]
    assert values("0,123", "0,456") == [0.123, 0.456]
    assert values("1,234", "5", decimal=",") == [1.234, 5.0]
    assert values("1,5", "2", decimal=".") == ["1,5", "2"]
    assert values("1.5", "2", decimal=",") == ["1.5", "2"]


def test_scales_with_signs_are_whole_numbers():
    assert values("-1", "0", "+1") == [-1, 0, 1]


def test_a_zone_needs_no_second_and_fractions_no_nanoseconds():
    assert values("1500-01-01 00:00:00.5") == [dt.datetime(1500, 1, 1, 0, 0, 0, 500_000)]
    assert values("2020-01-01 10:00:00.123456789")[0].nanosecond == 789


def test_missing_words_are_null_whatever_the_type_and_decide_nothing():
    assert values("1", *MISSING_WORDS, " NA ") == [1, *[None] * (len(MISSING_WORDS) + 1)]
    assert values("x", "NA") == ["x", None]
    assert values("NA", "n/a") == [None, None]
    assert values("NA", "-9", "1", missing=("-9",)) == ["NA", None, "1"]


def test_one_value_of_another_type_in_any_place_makes_the_column_text():
    texts = [str(i) for i in range(100)]
    for place in (0, 50, 99):
        mixed = [*texts[:place], "A12", *texts[place:]]
        assert values(*mixed) == mixed


WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)")
POINT = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?((0|[1-9]\d*)(,\d*)?|,\d+)([eE][+-]?\d+)?")


def slowly_typed(texts):
    """Return numbers or texts by plain Python."""
    words = [text.strip() for text in texts]
    here = [word for word in words if word not in MISSING_WORDS]
    some_comma = [word for word in here if "," in word]
    if not here:
        return [None] * len(texts)
    if all(WHOLE.fullmatch(word) for word in here):
        read = int
    elif all(POINT.fullmatch(word) for word in here):
        read = float
    elif all(COMMA.fullmatch(word) for word in here) and not all(
        re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", word) for word in some_comma
    ):
        read = lambda word: float(word.replace(",", "."))  # noqa: E731
    else:
        return [None if word in MISSING_WORDS else t for word, t in zip(words, texts, strict=True)]
    return [None if word in MISSING_WORDS else read(word) for word in words]


@pytest.mark.parametrize("seed", range(300))
def test_random_texts_are_typed_as_plain_python_types_them(seed):
    r = random.Random(seed)
    signs = r.choice(("01", "0123.", "0123,", "12+-", "1 e.", "01,.", "1a"))
    pool = ["".join(r.choices(signs, k=r.randrange(5))) for _ in range(r.randrange(1, 8))]
    texts = [*pool, *r.choices(MISSING_WORDS, k=r.randrange(3))]
    found = values(*texts)
    expected = slowly_typed(texts)
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


def column(cells):
    return learn([[cell] for cell in cells])[0].columns[0]


@pytest.mark.parametrize(
    ("fitted", "texts", "expected"),
    [
        ([1, 2], ["1", "3"], [1, 3]),
        ([1, 2], ["1.0", "3"], [1.0, 3.0]),
        ([1, 2], ["1", "x", "NA", "02"], [1, "x", None, "02"]),
        ([1.5], ["1,5", "2"], [1.5, 2.0]),
        ([1, "a"], ["1", "a", "2020-01-01"], [1, "a", "2020-01-01"]),
        (["1", "a"], ["1", "2"], ["1", "2"]),
        ([True, False], ["true", "False", "1"], [True, False, "1"]),
        ([dt.date(2020, 1, 1)], ["2020-01-01", "2020-02-30"], [dt.date(2020, 1, 1), "2020-02-30"]),
        ([dt.datetime(2020, 1, 1, 1)], ["2020-01-01"], [dt.datetime(2020, 1, 1)]),
        ([dt.time(10, 30)], ["10:30"], [dt.time(10, 30)]),
        ([None], ["1", "2"], [1, 2]),
        ([1], ["NA"], [None]),
    ],
)
def test_new_texts_take_the_kinds_of_a_fitted_column(fitted, texts, expected):
    found = typed_as(pa.array(texts), column(fitted))
    found = found.tolist() if isinstance(found, np.ndarray) else found.to_pylist()
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


def test_texts_that_made_a_column_are_its_values_again():
    for texts in (["1", "2.50"], ["007", "7"], ["2020-01-01 10:00"], ["1,5", "x"], ["true"]):
        fitted = typed(pa.array(texts))
        again = typed_as(pa.array(texts), column(fitted.to_pylist()))
        assert again.equals(fitted) or again.cast(fitted.type).equals(fitted)


def test_a_column_without_values_or_texts_is_no_error():
    assert typed(pa.array([], pa.string())).to_pylist() == []
    assert typed_as(pa.array([], pa.string()), ColumnValues(np.array([1]), False)).to_pylist() == []
