"""Addressed randomness: a random word is a hash of where it is used, never the next of a stream."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


class Use(IntEnum):
    """What a random word is used for; part of its address, so that no two uses share words."""

    TIE = 1
    DRAW = 2
    SEED = 3
    IMPUTE = 4
    SAMPLE = 5
    BATCH = 6
    EPOCH = 7
    SHUFFLE = 8
    AGAIN = 9
    PART = 10


def mix(word: int) -> int:
    """Scramble a 64-bit word (the finaliser of splitmix64)."""
    word ^= word >> 30
    word = word * 0xBF58476D1CE4E5B9 & _MASK
    word ^= word >> 27
    word = word * 0x94D049BB133111EB & _MASK
    return word ^ word >> 31


def fold(key: int, *parts: int) -> int:
    """Extend an address by further parts."""
    for part in parts:
        key = mix((key + _GOLDEN * (part + 1)) & _MASK)
    return key


def address(seed: int, run: int, use: Use, *parts: int) -> int:
    """Return the random word of a seed, a restart, a use and further parts."""
    return fold(mix(seed & _MASK), run, int(use), *parts)


def fold_array(key: int | Words, parts: NDArray[Any]) -> Words:
    """Extend one or many addresses by many parts at once."""
    with np.errstate(over="ignore"):
        word = np.asarray(key, np.uint64) + np.uint64(_GOLDEN) * (
            parts.astype(np.uint64) + np.uint64(1)
        )
        word ^= word >> np.uint64(30)
        word *= np.uint64(0xBF58476D1CE4E5B9)
        word ^= word >> np.uint64(27)
        word *= np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
    return word


def random_order(n: int, key: int) -> NDArray[np.intp]:
    """Return the numbers below n in the order of their random words at an address."""
    return np.argsort(fold_array(key, np.arange(n)), kind="stable")


def random_part(n: int, size: int, key: int) -> NDArray[np.intp]:
    """Return some of the numbers below n, in ascending order: those with the lowest words."""
    return np.sort(random_order(n, key)[:size])


def unit_interval(words: Words) -> NDArray[np.float64]:
    """Map words to uniform numbers in [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integers_below(words: Words, bound: int) -> NDArray[np.int64]:
    """Map words to uniform integers in [0, bound), bound at most 2^63: high halves of products."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b = words >> half, words & low
    c, d = np.uint64(bound >> 32), np.uint64(bound & 0xFFFFFFFF)
    middle = a * d + (b * d >> half)
    carry = (middle & low) + b * c
    high: Words = a * c + (middle >> half) + (carry >> half)
    return high.astype(np.int64)
