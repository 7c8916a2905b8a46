"""Measurements as Markdown tables, and as files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


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


def write_results(folder: Path, name: str, found: Mapping[str, Any], report: str) -> None:
    """Write a measurement as JSON, and what it tells as a page of Markdown."""
    title = "" if report.startswith("# ") else f"# {name.replace('_', ' ').capitalize()}\n\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(title + report, encoding="utf-8")
