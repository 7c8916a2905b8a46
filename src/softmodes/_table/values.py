"""One column's values: their canonical order, the array that shows them, how two parts' merge.

A value's *key* is a pair (kind, number or text). Two cells hold the same value when their keys are
equal, and values are ordered as their keys are, whatever container they came in. Equal numbers may
be *spelled* as int, float or Decimal; the array that shows the values follows from the set of all
spellings alone, so that it does not matter which were met first or in which part of a table.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum
from functools import cached_property
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray


class Kind(IntEnum):
    """The type classes, in canonical order."""

    BOOL = 0
    NUMBER = 1
    STRING = 2
    BYTES = 3
    DATE = 4  # days since 1970
    DATETIME = 5  # without time zone; like all that follow, in nanoseconds
    INSTANT = 6  # with time zone: a point in time, shown in UTC
    TIME = 7
    DURATION = 8


Key: TypeAlias = tuple[int, Any]
Spelled: TypeAlias = tuple[Key, tuple[int, ...]]  # a key, and what tells it from equal ones
Converter: TypeAlias = Callable[[Any], Key | None]

NANOSECONDS = {
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
_EPOCH = dt.datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


class BadColumnError(Exception):
    """What is wrong with a column, to be completed with its name by whoever knows it."""

    def __init__(self, error: type[Exception], text: str) -> None:
        super().__init__(text)
        self.error = error


def unsupported(type_name: str) -> BadColumnError:
    """Tell that values of this type cannot be categories."""
    return BadColumnError(
        TypeError,
        f"holds a value of type {type_name}: the argument must be a table of bool, string, bytes, "
        "number, date or time values, or missing ones. Turn the column into strings, or drop it.",
    )


def complex_values() -> BadColumnError:
    """Tell that complex numbers are refused."""
    return BadColumnError(
        ValueError, "is complex. Complex data not supported: pass real and imaginary parts."
    )


# --- Python value -> key -------------------------------------------------------------------------


def converter(kind: type) -> Converter:
    """Return the function from a value of this Python type to its key, None if missing."""
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
        return lambda value: None
    if kind.__name__ == "Interval" and kind.__module__.split(".")[0] == "pandas":
        return lambda value: (Kind.STRING, str(value))  # as a column of them is read
    for types, convert in _CONVERTERS:
        if issubclass(kind, types):
            return convert
    is_complex = issubclass(kind, (complex, np.complexfloating))
    raise complex_values() if is_complex else unsupported(kind.__name__)


def _number(value: Any) -> Key | None:
    return None if value != value else (Kind.NUMBER, float(value) + 0.0)  # -0.0 + 0.0 is 0.0


def _decimal(value: Decimal) -> Key | None:
    return None if value.is_nan() else (Kind.NUMBER, value)


def _datetime(value: dt.datetime) -> Key:
    # pandas' Timestamp is a datetime with a few nanoseconds more.
    plain = dt.datetime.combine(value.date(), value.timetz())
    aware = plain.utcoffset() is not None
    since = plain - _EPOCH_UTC if aware else plain.replace(tzinfo=None) - _EPOCH
    nanoseconds = since // _MICROSECOND * 1000 + getattr(value, "nanosecond", 0)
    return (Kind.INSTANT if aware else Kind.DATETIME, nanoseconds)


def _date(value: dt.date) -> Key:
    return (Kind.DATE, (value - _EPOCH.date()).days)


def _time(value: dt.time) -> Key:
    if value.tzinfo is not None:
        raise unsupported("time with a time zone")
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return (Kind.TIME, seconds * 1_000_000_000 + value.microsecond * 1000)


def _duration(value: dt.timedelta) -> Key:
    plain = dt.timedelta(value.days, value.seconds, value.microseconds)
    return (Kind.DURATION, plain // _MICROSECOND * 1000 + getattr(value, "nanoseconds", 0))


def _numpy_time(value: np.datetime64 | np.timedelta64) -> Key | None:
    return None if np.isnat(value) else keys_of(np.array([value]))[0]


_CONVERTERS: tuple[tuple[tuple[type, ...], Converter], ...] = (
    ((bool, np.bool_), lambda value: (Kind.BOOL, bool(value))),
    ((np.datetime64, np.timedelta64), _numpy_time),  # before numpy's timedelta passes for a number
    ((int, np.integer), lambda value: (Kind.NUMBER, int(value))),
    ((float, np.floating), _number),
    ((str,), lambda value: (Kind.STRING, str.__str__(value))),  # the text, of an enum member too
    ((bytes,), lambda value: (Kind.BYTES, bytes(value))),
    ((Decimal,), _decimal),
    ((dt.datetime,), _datetime),  # before date, its parent
    ((dt.date,), _date),
    ((dt.time,), _time),
    ((dt.timedelta,), _duration),
)


# --- array -> keys -------------------------------------------------------------------------------


def keys_of(values: NDArray[Any]) -> list[Key]:
    """Return the keys of an array without missing values."""
    kind = values.dtype.kind
    if kind == "b":
        return list(zip(repeat(Kind.BOOL), values.tolist(), strict=False))
    if kind in "iuf":
        return list(zip(repeat(Kind.NUMBER), values.tolist(), strict=False))
    if kind in "Mm":
        return _time_keys(values)
    cells = values.tolist()
    converters = {kind: converter(kind) for kind in set(map(type, cells))}
    return [key for cell in cells if (key := converters[type(cell)](cell)) is not None]


def in_fixed_unit(values: NDArray[Any]) -> NDArray[Any]:
    """Return datetime64 or timedelta64 values in a unit with a fixed length."""
    unit, _ = np.datetime_data(values.dtype)
    kind = values.dtype.kind
    if unit in ("Y", "M", "W", "D") and kind == "M":
        return values.astype("M8[D]")
    if unit in ("W", "D") and kind == "m":
        return values.astype("m8[s]")
    if unit not in NANOSECONDS:
        raise unsupported(str(values.dtype))
    return values.astype(f"{kind}8[{'s' if unit in ('h', 'm') else unit}]")


def _time_keys(values: NDArray[Any]) -> list[Key]:
    values = in_fixed_unit(values)
    unit, _ = np.datetime_data(values.dtype)
    counts = values.view(np.int64).tolist()
    if unit == "D":
        return list(zip(repeat(Kind.DATE), counts, strict=False))
    kind = Kind.DATETIME if values.dtype.kind == "M" else Kind.DURATION
    return [(kind, count * NANOSECONDS[unit]) for count in counts]


# --- keys -> array -------------------------------------------------------------------------------


def array_of(keys: Sequence[Key], some_floats: bool = False) -> NDArray[Any]:
    """Return the array that shows these keys: of one natural dtype, else of Python objects.

    `some_floats` tells that numbers among them, or equal to one of them, are floats.
    """
    kinds = {kind for kind, _ in keys}
    if len(kinds) == 1:
        kind, values = kinds.pop(), [key for _, key in keys]
        build = _ARRAYS.get(kind)
        natural = _number_array(values, some_floats) if kind == Kind.NUMBER else None
        natural = build(values) if build else natural
        if natural is not None:
            return natural
    return object_array([_value(kind, key) for kind, key in keys], len(keys))


def object_array(values: Iterable[Any], n: int) -> NDArray[Any]:
    """Return a one-dimensional array of these very objects."""
    return np.fromiter(values, dtype=object, count=n)


def python_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the array with Python objects for values."""
    return object_array((_value(kind, key) for kind, key in keys_of(values)), len(values))


def natural_integers(values: NDArray[Any]) -> NDArray[Any]:
    """Return integers as int64, as uint64 if they need it; other values as they are."""
    if values.dtype.kind not in "iu" or (len(values) and values.max() > np.iinfo(np.int64).max):
        return values
    return values.astype(np.int64)


def _number_array(numbers: list[Any], some_floats: bool) -> NDArray[Any] | None:
    """Return numbers as integers or as floats, None if neither holds all of them exactly."""
    types = set(map(type, numbers))
    if Decimal in types:
        return None
    if (some_floats or float in types) and all(map(_is_float, numbers)):
        return np.array(numbers, dtype=np.float64)
    if float in types:
        return None
    low, high = min(numbers), max(numbers)
    for dtype in (np.int64, np.uint64):
        if low >= np.iinfo(dtype).min and high <= np.iinfo(dtype).max:
            return np.array(numbers, dtype=dtype)
    return None


def _is_float(number: float) -> bool:
    """Tell whether a float holds this number exactly."""
    try:
        return float(number) == number
    except OverflowError:
        return False


def _time_array(code: str) -> Callable[[list[int]], NDArray[Any]]:
    def build(keys: list[int]) -> NDArray[Any]:
        unit, size = ("ns", 1) if any(key % 1000 for key in keys) else ("us", 1000)
        try:
            return np.array([key // size for key in keys], dtype=np.int64).view(f"{code}8[{unit}]")
        except OverflowError:
            raise BadColumnError(
                ValueError, f"holds times out of the range of {code}8[{unit}]. Round or drop them."
            ) from None

    return build


_ARRAYS: dict[int, Callable[[list[Any]], NDArray[Any]]] = {
    Kind.BOOL: lambda keys: np.array(keys, dtype=bool),
    Kind.DATE: lambda keys: np.array(keys, dtype=np.int64).view("M8[D]"),
    Kind.DATETIME: _time_array("M"),
    Kind.DURATION: _time_array("m"),
}


def _value(kind: int, key: Any) -> Any:
    """Return the Python value of a key; NumPy's scalar where Python has none."""
    if kind < Kind.DATE:
        return key
    try:
        return _python_time(kind, key)
    except OverflowError:
        build = _ARRAYS.get(kind)
    if build is None:
        raise BadColumnError(
            ValueError,
            "holds times with a zone, or times of day, finer than a microsecond or outside the "
            "years 1 to 9999. Round them to microseconds.",
        )
    return build([key])[0]


def _python_time(kind: int, key: int) -> Any:
    if kind == Kind.DATE:
        return _EPOCH.date() + dt.timedelta(days=key)
    if key % 1000:
        raise OverflowError("Python's times end at microseconds")
    since = dt.timedelta(microseconds=key // 1000)
    if kind == Kind.DURATION:
        return since
    if kind == Kind.INSTANT:
        return _EPOCH_UTC + since
    return _EPOCH + since if kind == Kind.DATETIME else (_EPOCH + since).time()


# --- the values of a column ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The distinct values of one column, and whether some of its cells are missing.

    Attributes
    ----------
    array
        The values in canonical order, without missing: an array of bool, int64, uint64, float64,
        datetime64 or timedelta64, else of Python objects.
    has_missing
        Whether cells are missing.
    also
        Spellings of these values that were met and that the array does not show.

    Examples
    --------
    >>> whole = ColumnValues(np.array([1, 2]), has_missing=False)
    >>> halves = ColumnValues(np.array([0.5, 1.0]), has_missing=True)
    >>> whole.merge(halves).array
    array([0.5, 1. , 2. ])
    """

    array: NDArray[Any]
    has_missing: bool
    also: frozenset[Spelled] = frozenset()

    @classmethod
    def of(cls, spelled: Iterable[Spelled], has_missing: bool) -> ColumnValues:
        """Return the values of these spellings; of equal ones an int is shown before a float."""
        ordered = sorted(spelled)
        shown = list(dict.fromkeys(key for key, _ in ordered))  # the first of equal ones stays
        numbers = [one for one in ordered if one[0][0] == Kind.NUMBER]
        array = array_of(shown, some_floats=any(type(key[1]) is float for key, _ in numbers))
        if not numbers or array.dtype.kind in "iu":
            numbers = []
        also = frozenset(numbers).difference(spellings(keys_of(array)) if numbers else ())
        return cls(array, has_missing, also)

    def merge(self, other: ColumnValues) -> ColumnValues:
        """Return the values of two parts of a column: those of the parts coded together."""
        found = self._with_values_of(other)
        has_missing = self.has_missing or other.has_missing
        return found if has_missing == found.has_missing else replace(found, has_missing=True)

    def _with_values_of(self, other: ColumnValues) -> ColumnValues:
        array = self._merged_plain(other)
        if array is self.array or (array is None and other.spelled <= self.spelled):
            return self
        if array is not None:
            return ColumnValues(array, self.has_missing)
        return ColumnValues.of(self.spelled | other.spelled, self.has_missing)

    def codes_in(self, whole: ColumnValues) -> NDArray[np.int64]:
        """Return the code that another column has for each of these values, -1 for none."""
        texts, known = self.texts, whole.texts
        if texts is not None and known is not None:
            return np.fromiter((known.get(text, -1) for text in texts), np.int64, len(texts))
        if self._are_integers and whole._are_integers and len(whole):
            places = np.minimum(np.searchsorted(whole.array, self.array), len(whole) - 1)
            return np.where(whole.array[places] == self.array, places, -1)
        keys = keys_of(self.array)
        return np.fromiter((whole.code_of.get(key, -1) for key in keys), np.int64, len(keys))

    def _merged_plain(self, other: ColumnValues) -> NDArray[Any] | None:
        """Return the values of both where these are texts, or integers; None for all else.

        Such values have one spelling, and need no keys: of wide columns that come in many parts
        these would take most of the time.
        """
        mine, theirs = self.texts, other.texts
        if mine is not None and theirs is not None:
            new = theirs.keys() - mine.keys()
            return object_array(sorted([*mine, *new]), len(mine) + len(new)) if new else self.array
        if self._are_integers and other._are_integers:
            both = np.union1d(self.array, other.array)
            return both if len(both) > len(self.array) else self.array
        return None

    @property
    def _are_integers(self) -> bool:
        return self.array.dtype == np.int64 and not self.also

    @cached_property
    def texts(self) -> dict[str, int] | None:
        """The codes of the values where all are texts; None where one is not, or none is there."""
        if not self.array.dtype.hasobject or not len(self.array):
            return None
        values = self.array.tolist()
        are_texts = set(map(type, values)) == {str}
        return {text: code for code, text in enumerate(values)} if are_texts else None

    def some(self, held: NDArray[np.bool_], has_missing: bool) -> ColumnValues:
        """Return the values that are marked, as if the others had never been met."""
        if held.all() and has_missing == self.has_missing:
            return self
        keys = {key for key, code in self.code_of.items() if held[code]}
        return ColumnValues.of((one for one in self.spelled if one[0] in keys), has_missing)

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def spelled(self) -> frozenset[Spelled]:
        """All spellings of the values."""
        return self.also | spellings(keys_of(self.array))

    @cached_property
    def code_of(self) -> dict[Key, int]:
        """The code of each key."""
        return {key: code for code, key in enumerate(keys_of(self.array))}

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("array", "has_missing", "also")}


def spellings(keys: Iterable[Key]) -> frozenset[Spelled]:
    """Return keys with what tells equal ones apart, such that the one to show sorts first."""
    return frozenset((key, _spelling(key[1])) for key in keys)


def _spelling(value: Any) -> tuple[int, ...]:
    if isinstance(value, float):
        return (1,)
    if not isinstance(value, Decimal):
        return (0,)
    sign, _, exponent = value.as_tuple()  # the exponent of infinity is a letter
    return (2, -exponent if isinstance(exponent, int) else 0, sign)
