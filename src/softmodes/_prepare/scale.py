"""Values on a scale: what can be cut into bands, and where each value lies on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._table.values import Kind, keys_of

ScaleName: TypeAlias = Literal["whole", "decimal", "date"]
Number: TypeAlias = int | float

# A number as people type it: no leading zero (which codes have), a point or a comma before
# decimals, or commas between thousands.
_SPELLED = re.compile(r"[+-]?(0|[1-9]\d*)([.,]\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_PLAIN = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?")
_LARGE = 2**62  # below, numbers and their differences are int64
_NANOSECONDS_A_DAY = 86_400_000_000_000
_DATES = {Kind.DATE: 1, Kind.DATETIME: _NANOSECONDS_A_DAY, Kind.INSTANT: _NANOSECONDS_A_DAY}


@dataclass(frozen=True, eq=False)
class Scale:
    """Where values lie on a scale: whole numbers, decimals, or days since 1970.

    `at` has a number for each value, in their order: int64, float64, or Python's ints where these
    need it.
    """

    name: ScaleName
    at: NDArray[Any]


def scale_of(values: NDArray[Any]) -> Scale | None:
    """Return where distinct values lie, None unless all are numbers, or all are dates.

    Texts count as numbers if each of them spells one: "3", "3.5", "3,5", "1,234" (a thousand, if
    all commas of the column stand before three digits), but not "007", which is a code.
    """
    if len(values) == 0:
        return None
    kind = values.dtype.kind
    if kind in "iuf":
        return _of_numbers(values)
    if kind not in "OMS":
        return None
    keys = keys_of(values)
    kinds = {kind for kind, _ in keys}
    if kinds == {Kind.NUMBER}:
        return _of_list([_native(number) for _, number in keys])
    if kinds == {Kind.STRING}:
        return _of_texts([text for _, text in keys])
    if kinds <= set(_DATES):
        days = [number // _DATES[Kind(kind)] for kind, number in keys]
        return Scale("date", np.array(days, np.int64))
    return None


def spelled_number(text: str) -> Number | None:
    """Return the number that a text spells with a decimal point, if it spells one."""
    text = text.strip()
    return _number(text) if _PLAIN.fullmatch(text) else None


def is_spelled_number(text: str) -> bool:
    """Tell whether a text is one number, with a decimal comma or with commas for thousands too."""
    text = text.strip()
    return bool(_SPELLED.fullmatch(text) or _THOUSANDS.fullmatch(text))


def _of_numbers(numbers: NDArray[Any]) -> Scale:
    """Return the scale of an array of ints or floats."""
    if numbers.dtype.kind != "f":
        return Scale("whole", _ints(numbers))
    whole = np.isfinite(numbers).all() and bool((numbers == np.floor(numbers)).all())
    return Scale("whole", _ints(numbers)) if whole else Scale("decimal", numbers.astype(float))


def _ints(numbers: NDArray[Any]) -> NDArray[Any]:
    if abs(numbers).max() < _LARGE:
        return numbers.astype(np.int64)
    return np.array(list(map(int, numbers.tolist())), dtype=object)


def _of_list(numbers: list[Number]) -> Scale:
    if all(isinstance(number, int) for number in numbers):
        return _of_numbers(np.array(numbers, dtype=object))
    return _of_numbers(np.array(list(map(float, numbers))))


def _native(number: Number | Decimal) -> Number:
    if not isinstance(number, Decimal):
        return number
    return int(number) if number.is_finite() and number == int(number) else float(number)


def _of_texts(texts: list[str]) -> Scale | None:
    texts = [text.strip() for text in texts]
    if not _SPELLED.fullmatch(texts[0]) and not _THOUSANDS.fullmatch(texts[0]):
        return None  # the usual case, told by the first
    with_comma = [text for text in texts if "," in text]
    if with_comma and all(map(_THOUSANDS.fullmatch, with_comma)):
        texts = [text.replace(",", "") for text in texts]
    if not all(map(_SPELLED.fullmatch, texts)):
        return None
    return _of_list([_number(text.replace(",", ".")) for text in texts])


def _number(text: str) -> Number:
    return float(text) if "." in text else int(text)
