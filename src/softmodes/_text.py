"""Texts as they may be shown."""

from __future__ import annotations

import re

# Controls of terminals (C0, C1), of lines and of reading direction; halves of characters.
_ACTIVE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def harmless(text: str) -> str:
    """Return a text whose control characters, on which a terminal would act, are spelled out."""
    return _ACTIVE.sub(lambda found: repr(found[0])[1:-1], text)
