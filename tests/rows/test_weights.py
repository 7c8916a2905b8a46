from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from softmodes._rows.weights import check_costs, feature_units, row_units

weights = st.lists(st.floats(0, 1e6), min_size=1, max_size=20).filter(any)
near = st.lists(st.one_of(st.just(0.0), st.floats(20, 1e6)), min_size=1, max_size=20).filter(any)


def test_whole_weights_are_kept_as_they_are():
    units = row_units([3, 0, 7], 3, 10)
    assert_array_equal(units.counts, [3, 0, 7])
    assert units.unit == 1.0
    assert units.repeats


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e12, 1e15, 1e18])
def test_fractions_stand_for_no_repeated_rows_however_large(scale):
    weight = scale * np.random.default_rng(0).random(20)
    assert not row_units(weight, 20, 10).repeats
    assert row_units(np.arange(20.0) * 2**30, 20, 10).repeats


def test_halves_become_whole_at_the_smallest_power_of_two():
    units = row_units([0.5, 2.25, 4], 3, 10)
    assert_array_equal(units.counts, [2, 9, 16])
    assert units.unit == 0.25


@given(weights)
def test_row_weights_are_rounded_by_less_than_half_a_unit_and_never_overflow(given_weights):
    units = row_units(given_weights, len(given_weights), 1000)
    assert int(units.counts.sum()) * 1000 < 2**63
    error = np.abs(units.counts * units.unit - given_weights)
    assert (error <= units.unit / 2).all()
    assert units.unit <= max(1.0, sum(given_weights)) * 2**-40 or (error == 0).all()


@given(near)
def test_feature_weights_fit_16_bits_and_keep_15(given_weights):
    units = feature_units(given_weights, None, len(given_weights))
    assert units.counts.max() <= 65535
    assert_allclose(units.counts * units.unit, given_weights, atol=max(given_weights) / 2**15)


@pytest.mark.parametrize("scale", [1e-300, 1e-310, 1e300])
def test_extreme_weights_keep_their_proportions(scale):
    units = row_units(np.array([1.0, 2.0]) * scale, 2, 10)
    assert units.counts[1] == pytest.approx(2 * units.counts[0])


def test_weights_without_a_finite_sum_are_refused():
    with pytest.raises(ValueError, match="sum of sample_weight may overflow"):
        row_units([1e308] * 3, 3, 1)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1.0, 1e150])
def test_weights_whose_products_are_numbers_pass(scale):
    rows, features = row_units([scale, 2 * scale], 2, 3), feature_units([1, 2], None, 2)
    check_costs(rows, features, 3, 2)


def test_weights_whose_products_are_no_numbers_are_refused_with_their_units():
    features = feature_units([0.3, 0.1], None, 2)
    tiny, huge = row_units([5e-324], 1, 9), row_units([1e307], 1, 9)
    with pytest.raises(ValueError, match=r"underflows.* 4.94066e-324 \* .*Multiply"):
        check_costs(tiny, features, 9, 1)
    with pytest.raises(ValueError, match=r"overflows.*Divide"):
        check_costs(huge, feature_units([300.0], None, 1), 300, 1)
