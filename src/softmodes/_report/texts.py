"""Names, values and numbers as a page may show them."""

from __future__ import annotations

import math
import re
from html import escape

from softmodes._model.marks import percent as whole_percent
from softmodes._text import harmless

LONGEST, LONGEST_OF_MANY = 60, 40  # characters of a name or value; where there are many groups
_MOST_BYTES = 3  # for each of them, as HTML spells them
_FORMULA = re.compile(r"[=+\-@]")
_NUMBER = re.compile(r"[+\-]?[\d.,]+(e[+\-]?\d+)? ?%?", re.IGNORECASE)


def shown(text: str, longest: int = LONGEST) -> str:
    r"""Return a text in one line, cut, without controls; not one that a spreadsheet would run.

    Examples
    --------
    >>> shown("=cmd()"), shown("-5"), shown("a" * 99, 5), shown("a\x1b[31m"), shown("&" * 99, 10)
    ('“=cmd()”', '-5', 'aaaa…', 'a\\x1b[31m', '&&&&&…')
    """
    cut = harmless(" ".join(text[: 2 * longest].split()))
    if len(cut) > longest or len(text) > 2 * longest:
        cut = cut[: longest - 1] + "…"
    while len(escape(cut).encode()) > _MOST_BYTES * longest:
        cut = cut[: -max(2, len(cut) // 8)] + "…"
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
