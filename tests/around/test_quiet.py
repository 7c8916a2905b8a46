"""Fits that are measured say nothing, and others do."""

import logging
import warnings

import numpy as np
import pytest

from softmodes import KModes
from softmodes._quiet import quiet


def nearly_alike():
    """Return rows of which one cluster holds nearly all: a fit that has something to say."""
    X = np.zeros((200, 10), dtype=int)
    X[0] = 1
    return X


def test_a_measured_fit_logs_nothing_and_the_next_one_does(caplog):
    with caplog.at_level(logging.WARNING, logger="softmodes"):
        with quiet():
            KModes(2, random_state=0).fit(nearly_alike())
        assert not caplog.records
        KModes(2, random_state=0).fit(nearly_alike())
        assert "One cluster holds" in caplog.text


def test_warnings_of_the_category_are_hidden_and_others_are_not():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with quiet(FutureWarning):
            warnings.warn("hidden", FutureWarning, stacklevel=1)
            warnings.warn("another", UserWarning, stacklevel=1)
    assert [str(one.message) for one in heard] == ["another"]


def test_after_a_failure_lines_are_logged_again(caplog):
    with pytest.raises(ZeroDivisionError), quiet():
        raise ZeroDivisionError
    with caplog.at_level(logging.WARNING, logger="softmodes"):
        logging.getLogger("softmodes").warning("heard")
    assert "heard" in caplog.text
