"""What the user wants done with columns, against the advice or beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeAlias

from softmodes._parameters import is_whole
from softmodes._prepare.columns import NaWords
from softmodes._table.codebook import checked_missing
from softmodes._text import short_repr

ColumnRefs: TypeAlias = "str | int | Sequence[str | int] | None"
TREATMENTS = "category, text, bands:5, multi:;, top:49"
_BANDS, _TOP = re.compile(r"bands(:([2-9]|[1-9]\d+))?"), re.compile(r"top:([1-9]\d*)")


@dataclass(frozen=True)
class Options:
    """The wishes, by the number of a column.

    `roles` says why a column is no feature ("id", "weight", "describe", "drop"); `treatments` what
    to do with one: "category", "text", "bands:N", "multi:SEPARATOR" or "top:N".
    """

    keep: frozenset[int] = frozenset()
    only: frozenset[int] | None = None
    roles: Mapping[int, str] = field(default_factory=dict)
    treatments: Mapping[int, str] = field(default_factory=dict)
    na: NaWords = field(default_factory=NaWords)
    missing: str = "category"

    @classmethod
    def of(cls, names: Sequence[str], given: Mapping[str, Any]) -> Options:
        """Check wishes that were given under their parameters' names."""
        columns = {
            parameter: _numbers_of(parameter, given.get(parameter), names)
            for parameter in ("keep", "only", "drop", "id", "weight", "describe")
        }
        if len(columns["weight"] or ()) > 1:
            raise ValueError(f"weight={given['weight']!r} is not one column. Pass one.")
        roles: dict[int, str] = {}
        for role in ("drop", "describe", "weight", "id"):
            roles |= dict.fromkeys(columns[role] or (), role)
        treatments = _treatments(given.get("as_"), names)
        keep, only = columns["keep"] or (), columns["only"]
        asked = {"keep": keep, "only": only or (), "as_": treatments}
        for parameter, some in asked.items():
            for j in some:
                if j in roles:
                    raise ValueError(
                        f"{parameter} and {roles[j]} both name column {names[j]!r}. "
                        "Name it in one of them."
                    )
        return cls(
            frozenset(keep),
            None if only is None else frozenset(only),
            roles,
            treatments,
            na_words(given.get("na")),
            checked_missing(given.get("missing", "category")),
        )


def na_words(na: Any) -> NaWords:
    """Return the words for missing cells: one, or several."""
    if na is None:
        return NaWords()
    words = tuple(na) if isinstance(na, Iterable) and not isinstance(na, str | bytes) else (na,)
    for word in words:
        if not isinstance(word, str | int | float) or word != word:
            raise ValueError(f"na={na!r} holds {word!r}, no text or number. Pass some of these.")
    return NaWords(words)


def as_text(treatment: str) -> bool:
    """Tell whether a treatment leaves a column out."""
    return treatment == "text"


def n_bands_of(treatment: str) -> int | None:
    """Return into how many bands a treatment cuts, None if it does not."""
    found = _BANDS.fullmatch(treatment)
    return int(found[2] or 5) if found else None


def n_top_of(treatment: str) -> int | None:
    """Return how many values a treatment leaves as they are, None for another treatment."""
    found = _TOP.fullmatch(treatment)
    return int(found[1]) if found else None


def separator_in(treatment: str) -> str | None:
    """Return by what a treatment splits cells, None if it does not."""
    return treatment.removeprefix("multi:") if treatment.startswith("multi:") else None


def column_number(parameter: str, given: Any, names: Sequence[str]) -> int:
    """Return the number of the column that a name means, or an error with those that are like it.

    A number means the column at that place.
    """
    if isinstance(given, str) and given in names:
        return names.index(given)
    if is_whole(given) and 0 <= given < len(names):
        return int(given)
    like = get_close_matches(given, names, 3) if isinstance(given, str) else []
    listed = ", ".join(map(repr, like or names[:5])) + (", ..." if len(names) > 5 else "")
    raise ValueError(
        f"{parameter} names column {given!r}, which the table does not have. "
        f"Pass names such as {listed}."
    )


def _numbers_of(parameter: str, given: Any, names: Sequence[str]) -> list[int] | None:
    if given is None:
        return None
    some = [given] if isinstance(given, str) or is_whole(given) else given
    if not isinstance(some, Iterable):
        raise ValueError(
            f"{parameter}={short_repr(given)} names no columns. Pass a name or a list of names."
        )
    return [column_number(parameter, one, names) for one in some]


def _treatments(given: Any, names: Sequence[str]) -> dict[int, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(
            f"as_={short_repr(given)} is not a mapping. Pass one such as {{'age': 'bands:5'}}."
        )
    found = {}
    for name, treatment in given.items():
        number = column_number("as_", name, names)
        if not _is_treatment(treatment):
            raise ValueError(
                f"as_[{name!r}]={short_repr(treatment)} is not known. Pass one of {TREATMENTS} "
                "(with another number or separator)."
            )
        found[number] = treatment
    return found


def _is_treatment(treatment: Any) -> bool:
    return isinstance(treatment, str) and (
        treatment in ("category", "text")
        or n_bands_of(treatment) is not None
        or n_top_of(treatment) is not None
        or bool(separator_in(treatment))
    )
