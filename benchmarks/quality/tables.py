"""Labelled tables: to tune on, to report on, and planted ones.

Which tables are reported on, and what is done to them, follows from a rule:
docs/decisions/0018-tables-of-quality.md. The list is docs/quality-tables.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.quality import planted, published, tuning
from benchmarks.quality.packages import default_folder
from softmodes._compare.tables import LabelledTable

__all__ = ["LabelledTable", "planted_tables", "report_tables", "source_of", "tuning_tables"]

Load = Callable[[], LabelledTable]


def report_tables(folder: Path | None = None) -> dict[str, Load]:
    """Return by name what loads each report table out of the packages fetched into `folder`."""
    place = folder or default_folder()
    return {table.name: partial(published.load, table, place) for table in published.TABLES}


def planted_tables() -> dict[str, Load]:
    """Return by name what draws each planted table; the same one every time."""
    return {name: partial(planted.load, name) for name in planted.TABLES}


def tuning_tables(folder: Path) -> dict[str, Load]:
    """Return by name what loads each table of a folder and those inside."""
    return {path.name.split(".")[0]: partial(tuning.load, path) for path in tuning.files(folder)}


def source_of(role: str, folder: Path | None) -> Callable[[], dict[str, Load]]:
    """Return the function that returns the tables of a role."""
    if role != "tune":
        return report_tables if role == "report" else planted_tables
    if folder is None:
        raise ValueError("Tables to tune on are in a folder of yours. Pass --tune FOLDER.")
    if not tuning_tables(folder):
        raise ValueError(
            f"--tune {folder} is no folder that holds tables. Pass one with .csv, .csv.gz or .npz "
            "files."
        )
    return partial(tuning_tables, folder)
