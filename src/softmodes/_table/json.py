"""The keys of a column's values as JSON, and back."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise, repeat
from typing import Any

import numpy as np

from softmodes._table.values import Key, Kind

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
