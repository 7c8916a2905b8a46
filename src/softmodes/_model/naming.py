"""Names of clusters: given ones, and for the others what marks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from softmodes._parameters import is_whole
from softmodes._text import harmless, short_repr

GivenNames: TypeAlias = tuple[str | None, ...]

LONGEST_NAME = 100


def renamed(before: GivenNames | None, default: Sequence[str], names: Any) -> GivenNames | None:
    """Return the given names after `names` (a mapping, a list of all, None for none) were given."""
    if names is None:
        return None
    k = len(default)
    given = list(before or [None] * k)
    for number, name in _numbered(names, k):
        given[number] = name if name is None else checked_name(name, number)
    taken: dict[str, int] = {}
    for number, name in enumerate(given):
        other = taken.setdefault(name, number) if name is not None else number
        if other != number:
            raise ValueError(
                f"names={short_repr(names)} calls cluster {number} as cluster {other}: {name!r}. "
                "Pass names that tell them apart."
            )
    return tuple(given) if any(given) else None


def _numbered(names: Any, k: int) -> list[tuple[int, Any]]:
    if isinstance(names, Mapping):
        for number in names:
            if not is_whole(number) or not 0 <= number < k:
                raise ValueError(
                    f"names={short_repr(names)} has a name for {number!r}, which is no cluster. "
                    f"Pass numbers from 0 to {k - 1}."
                )
        return [(int(number), name) for number, name in names.items()]
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != k:
        raise ValueError(
            f"names={short_repr(names)} is not a name for each of {k} clusters. Pass a dict of "
            "numbers and names, a list of all names, or None to go back to what marks them."
        )
    return list(enumerate(names))


def checked_name(name: Any, number: int) -> str:
    """Return a name that may be shown anywhere."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
        raise ValueError(
            f"names[{number}]={short_repr(name)} is not a name. Pass a text of 1 to "
            f"{LONGEST_NAME} characters."
        )
    if harmless(name) != name:
        raise ValueError(
            f"names[{number}]={short_repr(name)} holds control characters. Pass a text of one line."
        )
    return name.strip()


def all_names(given: GivenNames | None, default: Sequence[str]) -> tuple[str, ...]:
    """Return the given names, and the default ones of the others; no two are equal."""
    given = given or (None,) * len(default)
    taken = {name for name in given if name is not None}
    names = []
    for own, marks in zip(given, default, strict=True):
        name = own or marks
        while own is None and name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return tuple(names)
