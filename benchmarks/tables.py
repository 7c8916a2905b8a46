"""Markdown tables from measurements."""

from __future__ import annotations

from collections.abc import Sequence


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ratio(x: float) -> str:
    """Return a factor to read: two digits, or whole numbers."""
    return f"{x:.1f}x" if x < 99.95 else f"{x:,.0f}x"


def size(n_bytes: float) -> str:
    """Return a number of bytes to read."""
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
