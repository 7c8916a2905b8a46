"""Columns that are parts of one: how they are called, and what each of them weighs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

_PLAIN = str.maketrans("[]", "()")


def part_name(column: str, part: str) -> str:
    """Return the name of a column that is a part of another, as in "media[radio]".

    Examples
    --------
    >>> part_name("media", "radio [local]")
    'media[radio (local)]'
    """
    return f"{column}[{part.translate(_PLAIN)}]"


def shared_weights(names: Sequence[str]) -> list[float]:
    """Return weights with which the parts of a column weigh as much as one, by their names.

    Examples
    --------
    >>> shared_weights(["age", "media[radio]", "media[tv]"])
    [1.0, 0.5, 0.5]
    """
    whole = [_whole(name) for name in names]
    sizes = Counter(whole)
    return [1.0 if column is None else 1.0 / sizes[column] for column in whole]


def _whole(name: str) -> str | None:
    """Return the column that a name says it is a part of."""
    start = name.rfind("[")
    return name[:start] if start > 0 and name.endswith("]") else None
