"""Dataclasses as values that JSON can hold, and back, every type checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Return a value made of dataclasses, tuples, texts and numbers as JSON holds it; NaN is null.

    Examples
    --------
    >>> to_plain((1, float("nan"), "a"))
    [1, None, 'a']
    """
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def from_plain(kind: type[T], plain: Any) -> T:
    """Return the dataclass that `to_plain` took apart; ValueError for anything else."""
    restored: T = _restored(kind, plain)
    return restored


def _restored(kind: Any, plain: Any) -> Any:
    if is_dataclass(kind):
        return _dataclass(kind, plain)
    if get_origin(kind) in (Union, UnionType):
        others = [one for one in get_args(kind) if one is not NoneType]
        return None if plain is None else _restored(others[0], plain)
    if get_origin(kind) is tuple:
        _require(type(plain) is list, kind, plain)
        return tuple(_restored(get_args(kind)[0], one) for one in plain)
    if kind is float:
        if plain is None:
            return math.nan
        _require(type(plain) in (int, float) and math.isfinite(plain), kind, plain)
        return float(plain)
    _require(type(plain) is kind, kind, plain)
    return plain


def _dataclass(kind: Any, plain: Any) -> Any:
    hints = get_type_hints(kind)
    _require(isinstance(plain, Mapping) and set(plain) == set(hints), kind, plain)
    return kind(**{name: _restored(hint, plain[name]) for name, hint in hints.items()})


def _require(holds: bool, kind: Any, plain: Any) -> None:
    if not holds:
        raise ValueError(f"{type(plain).__name__} found where {getattr(kind, '__name__', kind)} is")
