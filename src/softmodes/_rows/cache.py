"""What passes leave with a block for later ones.

The rules: a block needs no cache for a right answer, so whatever is here may vanish at any time.
Every kind of content has its own type, and is found by it. A task *takes* what it will change, and
*keeps* it when it is whole again: an interrupt leaves nothing half done behind. At most one task
works on a block at a time. A cache never travels with its block.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


class Cache:
    """At most one value of each type.

    Examples
    --------
    >>> cache = Cache()
    >>> cache.keep("labels")
    >>> cache.take(str), cache.take(str)
    ('labels', None)
    """

    def __init__(self) -> None:
        self._values: dict[type[Any], Any] = {}

    def keep(self, value: object) -> None:
        """Keep a value, in the place of another one of its type."""
        self._values[type(value)] = value

    def take(self, kind: type[T]) -> T | None:
        """Remove and return the value of a type, if there is one."""
        value: T | None = self._values.pop(kind, None)
        return value

    def peek(self, kind: type[T]) -> T | None:
        """Return the value of a type, if there is one, to be read only."""
        return self._values.get(kind)

    def clear(self) -> None:
        """Drop everything."""
        self._values.clear()

    def __reduce__(self) -> tuple[type[Cache], tuple[()]]:
        return Cache, ()
