"""Names, values and numbers as a page may show them."""

from __future__ import annotations

import math
import re
from typing import Any

from softmodes._model.marks import percent as whole_percent
from softmodes._text import harmless

_LONGEST_NAME, _LONGEST_VALUE, _LONGEST_SENTENCE = 60, 60, 160
_FORMULA = re.compile(r"[=+\-@]")
_NUMBER = re.compile(r"[+\-]?[\d.,]+(e[+\-]?\d+)? ?%?", re.IGNORECASE)


def name_text(name: Any) -> str:
    """Return the name of a column or a group as a page may show it."""
    return _shown(str(name), _LONGEST_NAME)


def value_text(value: Any) -> str:
    """Return a value as a page may show it; None is a missing cell."""
    return "missing" if value is None else _shown(str(value), _LONGEST_VALUE)


def long_text(text: str) -> str:
    """Return a sentence that may hold names and values as a page may show it."""
    return _shown(text, _LONGEST_SENTENCE)


def _shown(text: str, longest: int) -> str:
    r"""Return a text in one line, cut, without controls; not one that a spreadsheet would run.

    Examples
    --------
    >>> _shown("=cmd()", 60), _shown("-5", 60), _shown("a" * 99, 5), _shown("a\x1b[31m", 60)
    ('“=cmd()”', '-5', 'aaaa…', 'a\\x1b[31m')
    """
    cut = harmless(" ".join(text[: 2 * longest].split()))
    if len(cut) > longest or len(text) > 2 * longest:
        cut = cut[: longest - 1] + "…"
    if not cut:
        return "(empty)"
    runs = _FORMULA.match(cut) and not _NUMBER.fullmatch(cut)
    return f"“{cut}”" if runs else cut


def percent(share: float, digits: int = 0) -> str:
    """Return a share in per cent; one that is not 0 or 1 does not look as if it were.

    Examples
    --------
    >>> percent(0.486), percent(0.001), percent(0.999), percent(1.0), percent(0.0486, 1)
    ('49 %', '<1 %', '>99 %', '100 %', '4.9 %')
    """
    return f"{100 * share:.{digits}f} %" if digits else whole_percent(share)


def count(rows: float) -> str:
    """Return a number of rows, or their weight, in whole ones."""
    return f"{rows:,.0f}"


def agreement(ari: float) -> str:
    """Return an agreement from 0 to 1, as in "0.98"; a dash where nobody has looked."""
    return "-" if math.isnan(ari) else f"{ari:.2f}"
