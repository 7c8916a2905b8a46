"""Texts as they may be shown."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Sequence
from typing import Any

# Controls of terminals (C0, C1), of lines and of reading direction; halves of characters.
_ACTIVE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What spreadsheets take for a formula, by how it begins; and what they take for a number.
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?%?")

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200


def harmless(text: str) -> str:
    """Return a text whose control characters, on which a terminal would act, are spelled out."""
    return _ACTIVE.sub(lambda found: repr(found[0])[1:-1], text)


def harmless_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that it would begins with '.

    Numbers stay as they are, negative ones too.

    Examples
    --------
    >>> harmless_cell("=1+1"), harmless_cell("-5"), harmless_cell("-x"), harmless_cell("plain")
    ("'=1+1", '-5', "'-x", 'plain')
    """
    runs = _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None
    return f"'{text}" if runs else text


def short_repr(value: Any) -> str:
    """Return the repr of any value, cut so that it fits into a message."""
    return _SHORT.repr(value)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a Markdown table; bars and line breaks in its cells are told as such.

    Examples
    --------
    >>> print(markdown_table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    head, *lines = (
        "| " + " | ".join(_in_cell(cell) for cell in line) + " |" for line in (header, *rows)
    )
    return "\n".join((head, "|" + "---|" * len(header), *lines))


def in_markdown(text: str) -> str:
    """Return a text as Markdown shows it, without tags of HTML or controls of terminals in it."""
    return harmless(text).replace("<", "&lt;")


def _in_cell(text: str) -> str:
    return in_markdown(text).replace("|", "\\|")
