"""What was found, written down: a page of Markdown, JSON and a figure."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

from softmodes._compare.bar import judge
from softmodes._compare.page import left_out, markdown
from softmodes._compare.plots import draw
from softmodes._compare.summary import MEASURES, Row, Summary
from softmodes._files import write_whole


def write_report(
    summary: Summary, folder: str | Path, name: str, title: str = "Quality"
) -> list[Path]:
    """Write `<name>.md`, `.json` and, if there is something to draw, `.svg` into a folder.

    Of several tables there is also `<name>-tables.svg`. Each is written whole or not at all.
    Figures need matplotlib, and are left out without it.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    drawn = draw(summary, target, name) if _has_matplotlib() else []
    page, numbers = target / f"{name}.md", target / f"{name}.json"
    write_whole(page, markdown(summary, title, [path.name for path in drawn]).encode())
    write_whole(numbers, (json.dumps(as_json(summary), indent=1, allow_nan=False) + "\n").encode())
    return [page, numbers, *drawn]


def _has_matplotlib() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


# --------------------------------------------------------------------------------------- JSON


def as_json(summary: Summary) -> dict[str, Any]:
    """Return all numbers of the report; those that there are not are None."""
    found = {
        "tables": list(summary.tables.values()),
        "contenders": list(summary.contenders.values()),
        "not_run": left_out(summary),
        "settings": {
            setting: {
                "contenders": [_row_as_json(row) for row in summary.rows(setting)],
                "cells": _cells_as_json(summary, setting),
                "test": test._asdict() if (test := summary.test(setting)) else None,
            }
            for setting in summary.settings
        },
        "bar": [vars(line) for line in judge(summary)] if len(summary.tables) > 1 else [],
    }
    return dict(_without_nan(found))


def _row_as_json(row: Row) -> dict[str, Any]:
    return dataclasses.asdict(row) | {"difference": row.difference._asdict()}


def _cells_as_json(summary: Summary, setting: str) -> list[dict[str, Any]]:
    return [
        {
            "table": table,
            "contender": name,
            **{measure: cell.mean(measure) for measure in (*MEASURES, "clusters")},
            "ari_std": cell.spread("ari"),
            "objective": cell.objective(),
            "same_again": summary.same_again(table, name, setting),
            "wall": cell.seconds("wall"),
            "cpu": cell.seconds("cpu"),
            "runs": cell.n_runs,
            "failed": len(cell.errors),
            "overrun": summary.is_overrun(table, name, setting),
        }
        for table in summary.tables
        for name in summary.contenders
        if (cell := summary.cell(table, name, setting))
    ]


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
