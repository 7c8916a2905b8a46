"""How a user says that files are to be read."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from softmodes._sources.types import MISSING_WORDS, Spelling
from softmodes._text import short_repr

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}
_SPELLED = {name: sign for sign, name in DELIMITERS.items()} | {r"\t": "\t"}


@dataclass(frozen=True)
class Reading:
    r"""What is known of files before they are read; None is found out.

    Parameters
    ----------
    delimiter : str or None, default=None
        What parts the cells of a line: a sign, or "comma", "semicolon", "tab", "pipe" or "space".
    encoding : str or None, default=None
        The encoding of texts, such as "latin-1".
    header : bool or None, default=None
        Whether the first line holds the names of the columns.
    na : sequence of str, default=()
        Texts of missing cells, beside those that are always missing (`MISSING_WORDS`).
    decimal : {".", ","} or None, default=None
        What parts a number from its fraction.
    sheet : str, int or None, default=None
        Which sheet of a workbook, by name, or by number from 1.

    Examples
    --------
    >>> Reading(delimiter="tab").delimiter
    '\t'
    """

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    na: Sequence[str] = ()
    decimal: str | None = None
    sheet: str | int | None = None

    def __post_init__(self) -> None:
        words = (self.na,) if isinstance(self.na, str) else tuple(self.na)
        object.__setattr__(self, "na", words)
        object.__setattr__(self, "delimiter", _checked_delimiter(self.delimiter))
        _check_encoding(self.encoding)
        if self.decimal not in (None, ".", ","):
            raise ValueError(
                f'decimal={short_repr(self.decimal)} is neither "." nor ",". Pass one.'
            )

    @cached_property
    def spelling(self) -> Spelling:
        """How cells spell missing values and numbers."""
        return Spelling((*MISSING_WORDS, *self.na), self.decimal)


def _checked_delimiter(given: str | None) -> str | None:
    if given is None:
        return None
    sign = _SPELLED.get(given, given)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n':
        raise ValueError(
            f"delimiter={short_repr(given)} is not one ASCII sign other than a quote or a line "
            f"break. Pass one, or one of {', '.join(DELIMITERS.values())}."
        )
    return sign


def _check_encoding(given: str | None) -> None:
    try:
        codecs.lookup(given or "utf-8")
        "".encode(given or "utf-8")  # refuses codecs that make no texts, such as base64
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding={short_repr(given)} is unknown. "
            'Pass one that Python knows, such as "utf-8", "latin-1", "cp1252" or "utf-16".'
        ) from None
