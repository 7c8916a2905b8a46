"""Silence for fits whose outcome is measured: what they would say shows in the results."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_LOGGER = logging.getLogger("softmodes")


@contextmanager
def quiet(category: type[Warning] = Warning) -> Iterator[None]:
    """Hide warnings of a category, and what this package logs about fits."""
    _LOGGER.addFilter(_nothing)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category)
            yield
    finally:
        _LOGGER.removeFilter(_nothing)


def _nothing(record: logging.LogRecord) -> bool:
    return False
