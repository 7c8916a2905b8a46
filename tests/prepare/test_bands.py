from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from softmodes import Bands, SoftModes
from softmodes._prepare.cuts import Cuts, cut
from softmodes._prepare.scale import Scale, scale_of

LABELS = "the outcome is text, and its checks are made for numbers"


def slow_bands(numbers, n_bands):
    """Sizes of the bands, by looking at every way to end each."""
    distinct = sorted(set(numbers))
    left, sizes = list(numbers), []
    for bands in range(n_bands, 0, -1):
        if bands == 1 or len(distinct) == 1:
            return [*sizes, len(left)] if left else sizes
        due = Fraction(len(left), bands)
        ends = distinct[:-1]
        end = min(ends, key=lambda e: (abs(sum(x <= e for x in left) - due), e))
        sizes.append(sum(x <= end for x in left))
        left = [x for x in left if x > end]
        distinct = sorted(set(left))
    return sizes


numbers = st.one_of(
    st.lists(st.integers(-30, 30), min_size=1, max_size=60),
    st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=20),
    st.lists(st.floats(allow_nan=False, width=32), min_size=1, max_size=40),
)


@settings(max_examples=200, deadline=None)
@given(numbers, st.integers(2, 7))
@example([math.inf, -math.inf], 2)
def test_bands_are_those_of_the_slow_search(cells, n_bands):
    values, counts = np.unique(np.array(cells, dtype=object), return_counts=True)
    natural = values if max(map(abs, cells)) >= 2**62 else np.array(values.tolist())
    scale = scale_of(natural)
    cuts = cut(scale, counts, n_bands)
    bands = cuts.bands(scale.at)
    assert np.bincount(bands, counts).tolist() == slow_bands(cells, n_bands)
    assert (np.diff(bands) >= 0).all()
    assert len(set(cuts.labels)) == len(cuts.labels) == len(cuts.at) + 1
    assert Cuts.from_json(cuts.to_json()) == cuts


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (range(18, 63), ("26 or less", "27-35", "36-44", "45-53", "54 or more")),
        (range(-10, 10), ("-7 or less", "-6 to -3", "-2 to 1", "2 to 5", "6 or more")),
        ([0] * 60 + list(range(1, 41)), ("0", "1-10", "11-20", "21-30", "31 or more")),
        ([0.0, 0.5, 1.25, 1.5, 7], ("0", "0.5-1", "1-1.5", "1.5-7", "7")),
        ([3, 3, 3], ("3",)),
        ([2**63 + 1, 2**63 + 5], ("9223372036854775809", "9223372036854775813")),
        ([-math.inf, 1.5, math.inf], ("-inf", "1-3", "inf")),
        (["3,5", "12,25", "7"], ("3.5", "7-10", "12.25")),
        (["1,234", "900", "12,000"], ("900", "1000-9999", "12000")),
    ],
)
def test_labels_can_be_read(cells, labels):
    X = np.array([list(cells)], dtype=object).T
    assert Bands().fit(X).labels_ == [labels]


def test_dates_are_banded_by_day():
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(30)]
    bands = Bands(3).fit(pl.DataFrame({"day": days}))
    assert bands.labels_ == [
        ("2024-01-10 or earlier", "2024-01-11 to 2024-01-20", "2024-01-21 or later")
    ]
    times = pd.DataFrame({"day": pd.to_datetime(days) + pd.Timedelta(hours=23)})
    assert Bands(3).fit(times).labels_ == bands.labels_


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_stays_missing_and_far_numbers_fall_into_the_outer_bands(make):
    bands = Bands(3).fit(make({"age": [18, 25, 31, 32, 40, 44, 45, 60, 70, None]}))
    out = bands.transform(make({"age": [-5, 31, 32, None, 44, 45, 10**9]}))
    assert type(out) is type(make({"age": [1]}))
    cells = out["age"].to_list() if hasattr(out["age"], "to_list") else out["age"].to_pylist()
    cells = [None if cell != cell else cell for cell in cells]
    expected = ["31 or less", "31 or less", "32-44", None, "32-44", "45 or more", "45 or more"]
    assert cells == expected
    assert SoftModes(2, random_state=0, n_init=1).fit(out).labels_.shape == (7,)


def test_bands_are_ordered_categories():
    X = pd.DataFrame({"x": range(100)}, index=range(500, 600))
    out = Bands(4).fit_transform(X)
    assert out["x"].cat.ordered
    assert out.index.equals(X.index)
    assert out["x"].cat.categories.tolist() == list(Bands(4).fit(X).labels_[0])
    assert out["x"].is_monotonic_increasing
    polars = Bands(4).fit_transform(pl.from_pandas(X))
    assert polars["x"].dtype == pl.Enum(Bands(4).fit(X).labels_[0])
    assert Bands(4).fit_transform(pa.table({"x": range(100)})).schema.field("x").type.ordered


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1", "two"], "Column 'x' holds 'two'"),
        (["007", "008"], "Column 'x' holds '007'"),
        ([1, dt.date(2024, 1, 1)], "both numbers and dates"),
    ],
)
def test_what_is_no_number_is_named(cells, said):
    with pytest.raises(ValueError, match=said):
        Bands().fit(pd.DataFrame({"x": pd.Series(cells, dtype=object)}))
    with pytest.raises(ValueError, match="n_bands=1 is not"):
        Bands(1).fit([[1]])
    fitted = Bands().fit(pd.DataFrame({"x": [1, 2, 3]}))
    with pytest.raises(ValueError, match="held numbers at fit, and now holds dates"):
        fitted.transform(pd.DataFrame({"x": pd.to_datetime(["2024-01-01"])}))


def test_a_column_without_values_has_no_bands():
    out = Bands().fit_transform(np.array([[math.nan, 1.0], [math.nan, 2.0]]))
    assert_array_equal(out, [[None, "1"], [None, "2"]])


def test_intervals_of_pandas_are_accepted_by_fit():
    numbers = np.random.default_rng(0).normal(size=300)
    cells = pd.cut(numbers, 4)
    plain = pd.Series(cells.astype(str), dtype=object)
    X, same = pd.DataFrame({"x": cells}), pd.DataFrame({"x": plain})
    X.loc[0, "x"], same.loc[0, "x"] = np.nan, None
    model = SoftModes(2, random_state=0, n_init=1).fit(X)
    assert_array_equal(model.labels_, SoftModes(2, random_state=0, n_init=1).fit(same).labels_)
    assert model.categories_[0].tolist() == [*sorted(set(plain[1:])), None]
    intervals = pd.DataFrame({"x": pd.arrays.IntervalArray(X["x"].astype(object))})
    assert_array_equal(model.predict(intervals), model.labels_)


@parametrize_with_checks(
    [Bands(n_bands=3, n_jobs=1)],
    expected_failed_checks=lambda bands: {
        "check_transformer_general": LABELS,
        "check_transformer_data_not_an_array": LABELS,
        "check_methods_sample_order_invariance": LABELS,
        "check_methods_subset_invariance": LABELS,
        "check_estimators_pickle": LABELS,
        "check_pipeline_consistency": LABELS,
        "check_fit_idempotent": LABELS,
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_clones_are_equal_and_scales_are_checked():
    assert clone(Bands(7)).n_bands == 7
    assert isinstance(scale_of(np.array([1, 2])), Scale)
    for broken in ({"cuts": [2, 1]}, {"cuts": [1.5]}, {"cuts": ["1"]}, {"scale": "x"}):
        data = Cuts("whole", (1, 2)).to_json() | broken
        with pytest.raises(ValueError, match=r"are not|is not"):
            Cuts.from_json(data)
