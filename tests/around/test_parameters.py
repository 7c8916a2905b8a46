import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes._parameters import check_most, choice, generator, number, share, whole


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_every_type_become_ints(value):
    assert type(whole("k", value, 3)) is int


@pytest.mark.parametrize("value", [2, 3.0, True, np.True_, "3", None, [3]])
def test_what_is_no_whole_number_in_range_is_refused(value):
    with pytest.raises(ValueError, match=r"^k=.* is not an int >= 3\. Pass one\.$"):
        whole("k", value, 3)


@pytest.mark.parametrize("value", [0, 1, 0.25, np.float32(0.5), Fraction(1, 2)])
def test_real_numbers_of_every_type_become_floats(value):
    assert type(share("eps", value)) is float
    assert share("eps", value) == value


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, True, "0", None, 1j, [0.5]])
def test_what_is_no_number_in_range_is_refused(value):
    with pytest.raises(ValueError, match=r"^eps=.* is not a number from 0 to 1\. Pass one\.$"):
        share("eps", value)


def test_a_number_without_an_upper_limit_may_be_infinite_but_must_fit_a_float():
    assert number("t", math.inf, 1) == math.inf
    with pytest.raises(ValueError, match=r"^t=1000.* is not a number >= 1\. Pass t from 1 up\.$"):
        number("t", 10**400, 1, remedy="Pass t from 1 up.")


def test_a_number_above_that_of_another_parameter_is_refused():
    check_most("n_clusters", 4, "n_samples", 4)
    with pytest.raises(
        ValueError,
        match=r"^n_clusters=5 is more than n_samples=4\. Pass n_clusters of at most 4\.$",
    ):
        check_most("n_clusters", 5, "n_samples", 4)


def test_choices_are_told_apart_by_type_and_value():
    assert choice("as_frame", np.str_("auto"), (True, "auto")) == "auto"
    assert choice("as_frame", True, (True, "auto")) is True
    for value in (1, "True", None, ["auto"], np.array(["auto", "auto"])):
        with pytest.raises(ValueError, match=r"is not known\. Pass one of True, 'auto'\.$"):
            choice("as_frame", value, (True, "auto"))


def test_a_generator_is_taken_as_it_is_and_seeds_repeat_it():
    given = np.random.default_rng(1)
    assert generator(given) is given
    for seed in (7, np.int64(7)):
        assert_array_equal(generator(seed).random(5), np.random.default_rng(7).random(5))
    old = [generator(np.random.RandomState(3)).random(5) for _ in range(2)]
    assert_array_equal(*old)
    assert not np.array_equal(generator(None).random(5), generator(None).random(5))
