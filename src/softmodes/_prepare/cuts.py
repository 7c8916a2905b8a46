"""Cuts of a scale into bands of about equal size, at readable numbers, and the bands' labels."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._prepare.scale import Number, Scale, ScaleName

_EXACT = 1 << 53  # up to here floats hold every whole number
_FINEST = -400  # no decimal of a float stands further behind the point


@dataclass(frozen=True)
class Cuts:
    """A scale in bands: a number lies in the band of the largest cut that is not above it.

    `lowest` and `highest` are the single values of the outer bands, None where these have several.
    """

    scale: ScaleName
    at: tuple[Number, ...]
    lowest: Number | None = None
    highest: Number | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The bands' labels, as in "31 or less", "32-44", "45 or more"."""
        if not self.at:
            return ("all",) if self.lowest is None else (self._shown(self.lowest),)
        first = self._first() if self.lowest is None else self._shown(self.lowest)
        shown = self._shown(self.at[-1] if self.highest is None else self.highest)
        more = "later" if self.scale == "date" else "more"
        last = f"{shown} or {more}" if self.highest is None else shown
        return (first, *(self._between(*pair) for pair in pairwise(self.at)), last)

    def bands(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        """Return the band of each number, however large or small it is."""
        exact = numbers.dtype.kind in "if" and all(abs(cut) <= _EXACT for cut in self.at)
        if exact and (numbers.dtype.kind == "f" or self.scale != "decimal"):
            return np.searchsorted(np.array(self.at, numbers.dtype), numbers, side="right")
        found = [bisect_right(self.at, number) for number in numbers.tolist()]
        return np.array(found, dtype=np.int64)

    def _first(self) -> str:
        if self.scale == "decimal":
            return f"less than {self._shown(self.at[0])}"
        word = "earlier" if self.scale == "date" else "less"
        return f"{self._shown(self.at[0] - 1)} or {word}"

    def _between(self, low: Number, high: Number) -> str:
        # The last whole number of a band is told, and the next band's first decimal.
        high = high if self.scale == "decimal" else high - 1
        if low == high:
            return self._shown(low)
        to = " to " if self.scale == "date" or self.at[0] < 0 else "-"
        return f"{self._shown(low)}{to}{self._shown(high)}"

    def _shown(self, number: Number) -> str:
        if self.scale == "date":
            return str(np.datetime64(int(number), "D"))
        if isinstance(number, int) or not math.isfinite(number):
            return str(number)
        plain = format(Decimal(repr(number)), "f")
        plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
        return plain if len(plain) <= 12 else f"{number!r}"

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` takes."""
        outer = {"lowest": _plain(self.lowest), "highest": _plain(self.highest)}
        return {"scale": self.scale, "cuts": list(self.at), **outer}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Cuts:
        """Return the cuts that `to_json` wrote; ValueError for cuts that are none."""
        at = tuple(data["cuts"])
        scale, outer = data["scale"], [_from_plain(data[end]) for end in ("lowest", "highest")]
        if scale not in ("whole", "decimal", "date"):
            raise ValueError(f"scale={scale!r} is not known")
        if not all(map(_is_number, at)) or any(a >= b for a, b in pairwise(at)):
            raise ValueError("cuts are not rising numbers")
        if not all(end is None or _is_number(end) for end in outer):
            raise ValueError("an outer value is no number")
        if scale != "decimal" and not all(isinstance(n, int) for n in at):
            raise ValueError(f"cuts of scale {scale!r} are not whole")
        return cls(scale, at, *outer)


def cut(scale: Scale, counts: NDArray[np.int64], n_bands: int) -> Cuts:
    """Return cuts into at most `n_bands` bands whose sizes are as equal as ties allow.

    Each band ends where it comes nearest to its due share of the rows that are left for it and
    those above; a cut is made at the roundest number between two neighbouring values.
    """
    known, place = np.unique(scale.at, return_inverse=True)
    sizes = np.zeros(len(known), np.int64)
    np.add.at(sizes, place, counts)
    ends = _ends(np.cumsum(sizes), n_bands)
    values = [_plain_number(known[i]) for end in ends for i in (end, end + 1)]
    return Cuts(
        scale.name,
        tuple(_between(scale.name, *pair) for pair in zip(values[::2], values[1::2], strict=True)),
        lowest=_plain_number(known[0]) if not ends or ends[0] == 0 else None,
        highest=_plain_number(known[-1]) if ends and ends[-1] == len(known) - 2 else None,
    )


def _ends(below: NDArray[np.int64], n_bands: int) -> list[int]:
    """Return the last value of each band but the highest, from the rows up to each value."""
    ends: list[int] = []
    done, start, n_rows = 0, 0, int(below[-1])
    for left in range(n_bands, 1, -1):
        if start >= len(below) - 1:
            break
        missed = np.abs(left * (below[start:-1] - done) - (n_rows - done))
        ends.append(start + int(missed.argmin()))
        done, start = int(below[ends[-1]]), ends[-1] + 1
    return ends


def _plain_number(value: Any) -> Number:
    number: Number = value.item() if isinstance(value, np.generic) else value
    return number


def _between(scale: ScaleName, low: Number, high: Number) -> Number:
    """Return the roundest number above `low` and not above `high`."""
    if scale == "date":
        return high
    if scale == "whole":
        return _round_whole(int(low), int(high))
    return _round_decimal(float(low), float(high))


def _round_whole(low: int, high: int) -> int:
    # A number with the fewest digits behind its leading zeros: 0 is the roundest of all.
    if low < 0 <= high:
        return 0
    power: int = 10 ** len(str(max(abs(low), abs(high))))
    while (found := high // power * power) <= low:
        power //= 10
    return found


def _round_decimal(low: float, high: float) -> Number:
    if math.isinf(low) and math.isinf(high):
        return 0
    if math.isinf(high):
        high = low + max(1.0, abs(low))
    if math.isinf(low):
        low = high - max(1.0, abs(high))
    if low < 0 <= high:
        return 0
    low_digits, high_digits = Decimal(repr(low)), Decimal(repr(high))
    exponent = max(low_digits.adjusted(), high_digits.adjusted()) + 1
    while exponent > _FINEST:
        step = Decimal(1).scaleb(exponent)
        found = (high_digits / step).to_integral_value("ROUND_FLOOR") * step
        if low < float(found) <= high:
            return float(found)
        exponent -= 1
    return high


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and not math.isnan(value))


def _plain(number: Number | None) -> Number | str | None:
    return str(number) if isinstance(number, float) and math.isinf(number) else number


def _from_plain(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf") else value
