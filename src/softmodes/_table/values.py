"""One column's values: their canonical order, the array that shows them, their JSON form.

A value's *key* is a pair (kind, number or text). Two cells hold the same value when their keys are
equal, and values are ordered as their keys are, whatever container they came in.
"""

from __future__ import annotations

import base64
import datetime as dt
import reprlib
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from enum import IntEnum
from itertools import pairwise, repeat
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
Converter: TypeAlias = Callable[[Any], Key | None]

NANOSECONDS = {
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
_DAY = 86_400_000_000_000
_EPOCH = dt.datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200


def short_repr(value: Any) -> str:
    """Return the repr of any value, cut so that it fits into a message."""
    return _SHORT.repr(value)


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
    """Tell that complex numbers have no order."""
    return BadColumnError(
        ValueError, "is complex. Complex data not supported: pass real and imaginary parts."
    )


# --- Python value -> key -------------------------------------------------------------------------


def converter(kind: type) -> Converter:
    """Return the function from a value of this Python type to its key, None if missing."""
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
        return lambda value: None
    for types, convert in _CONVERTERS:
        if issubclass(kind, types):
            return convert
    raise unsupported(kind.__name__)


def _number(value: Any) -> Key | None:
    return None if value != value else (Kind.NUMBER, float(value) + 0.0)  # -0.0 + 0.0 is 0.0


def _decimal(value: Decimal) -> Key | None:
    return None if value.is_nan() else (Kind.NUMBER, value)


def _complex(value: Any) -> Key | None:
    raise complex_values()


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
    ((complex, np.complexfloating), _complex),
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
    return [key for value in values.tolist() if (key := converter(type(value))(value)) is not None]


def plain_time(values: NDArray[Any]) -> NDArray[Any]:
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
    values = plain_time(values)
    unit, _ = np.datetime_data(values.dtype)
    counts = values.view(np.int64).tolist()
    if unit == "D":
        return list(zip(repeat(Kind.DATE), counts, strict=False))
    kind = Kind.DATETIME if values.dtype.kind == "M" else Kind.DURATION
    return [(kind, count * NANOSECONDS[unit]) for count in counts]


# --- keys -> array -------------------------------------------------------------------------------


def array_of(keys: Sequence[Key]) -> NDArray[Any]:
    """Return the array that shows these keys: of one natural dtype, else of Python objects."""
    kinds = {kind for kind, _ in keys}
    if len(kinds) == 1:
        build = _ARRAYS.get(kinds.pop())
        natural = build([key for _, key in keys]) if build else None
        if natural is not None:
            return natural
    return object_array([_value(kind, key) for kind, key in keys], len(keys))


def object_array(values: Iterable[Any], n: int) -> NDArray[Any]:
    """Return a one-dimensional array of these very objects."""
    return np.fromiter(values, dtype=object, count=n)


def python_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the array with Python objects for values."""
    return object_array((_value(kind, key) for kind, key in keys_of(values)), len(values))


def _number_array(keys: list[Any]) -> NDArray[Any] | None:
    types = set(map(type, keys))
    if types == {float}:
        return np.array(keys, dtype=np.float64)
    if types != {int}:
        return None
    low, high = min(keys), max(keys)
    for dtype in (np.int64, np.uint64):
        if low >= np.iinfo(dtype).min and high <= np.iinfo(dtype).max:
            return np.array(keys, dtype=dtype)
    return None


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


_ARRAYS: dict[int, Callable[[list[Any]], NDArray[Any] | None]] = {
    Kind.BOOL: lambda keys: np.array(keys, dtype=bool),
    Kind.NUMBER: _number_array,
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
    natural = build([key])
    assert natural is not None
    return natural[0]


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


# --- keys <-> JSON -------------------------------------------------------------------------------

_TAGS = {
    bool: "bool",
    int: "int",
    float: "float",
    Decimal: "decimal",
    str: "str",
    bytes: "bytes",
}


def keys_to_json(keys: Sequence[Key]) -> dict[str, Any]:
    """Return the keys as JSON: one type with its values, or "mixed" with a type for each."""
    pairs = [(_tag(kind, key), _payload(key)) for kind, key in keys]
    tags = {tag for tag, _ in pairs}
    if len(tags) == 1:
        return {"type": tags.pop(), "values": [payload for _, payload in pairs]}
    return {"type": "mixed", "values": [list(pair) for pair in pairs]}


def keys_from_json(data: dict[str, Any]) -> list[Key]:
    """Return the keys that `keys_to_json` wrote, checked to be in canonical order."""
    one, values = data["type"], data["values"]
    pairs = values if one == "mixed" else zip(repeat(one), values, strict=False)
    keys = [_key(tag, payload) for tag, payload in pairs]
    if any(a >= b for a, b in pairwise(keys)):
        raise ValueError("values are not in canonical order")
    return keys


def _tag(kind: int, key: Any) -> str:
    return _TAGS[type(key)] if kind < Kind.DATE else Kind(kind).name.lower()


def _payload(key: Any) -> Any:
    if isinstance(key, bytes):
        return base64.b64encode(key).decode()
    # JSON knows neither Decimal nor infinity.
    return str(key) if isinstance(key, Decimal) or key in (np.inf, -np.inf) else key


def _key(tag: str, payload: Any) -> Key:
    kind, read, types = _READERS.get(tag) or (Kind[tag.upper()], int, (int,))
    if type(payload) not in types:
        raise ValueError(f"{payload!r} is not of type {tag}")
    key = read(payload)
    if key != key:
        raise ValueError("a value is not a number")
    return (kind, key)


_READERS: dict[str, tuple[Kind, Callable[[Any], Any], tuple[type, ...]]] = {
    "bool": (Kind.BOOL, bool, (bool,)),
    "int": (Kind.NUMBER, int, (int,)),
    "float": (Kind.NUMBER, float, (float, int, str)),
    "decimal": (Kind.NUMBER, Decimal, (str,)),
    "str": (Kind.STRING, str, (str,)),
    "bytes": (Kind.BYTES, lambda text: base64.b64decode(text, validate=True), (str,)),
}
