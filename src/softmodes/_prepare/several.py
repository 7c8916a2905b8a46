"""Cells with several answers: by what they are separated, and the parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from softmodes._prepare.scale import is_spelled_number

SEPARATORS = (";", "|", ",")
_SEPARATED = 0.2  # share of the cells that have a separator
_REPEATS = 2  # distinct cells that a part is in, on average


def separator_of(texts: Sequence[str], counts: NDArray[np.int64]) -> str | None:
    """Return what separates several answers in a column of distinct texts; None if nothing does.

    A separator is in more than 20 % of the cells, and what it separates repeats: each part is in
    two different cells or more on average, and there are fewer parts than different cells ("Yes,
    often" and "Yes, seldom" have more). A comma inside a number is none.
    """
    for separator in SEPARATORS:
        separated = np.fromiter((separator in text for text in texts), np.bool_, len(texts))
        if not _are_many(separated, counts):
            continue
        if separator == ",":
            numbers = [is_spelled_number(text) for text in texts]
            separated &= ~np.array(numbers, np.bool_)
        if _are_many(separated, counts) and _repeat(texts, separator):
            return separator
    return None


def parts_of(text: str, separator: str) -> list[str]:
    """Return the different answers in a cell, without spaces around them."""
    parts = (part.strip() for part in text.split(separator))
    return [part for part in dict.fromkeys(parts) if part]


def _are_many(separated: NDArray[np.bool_], counts: NDArray[np.int64]) -> bool:
    return bool(counts[separated].sum() > _SEPARATED * counts.sum())


def _repeat(texts: Sequence[str], separator: str) -> bool:
    n_parts, parts = 0, set[str]()
    for text in texts:
        found = parts_of(text, separator)
        n_parts += len(found)
        parts.update(found)
    return n_parts >= _REPEATS * len(parts) and len(parts) < len(texts)
