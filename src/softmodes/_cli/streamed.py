"""Files too large to be held in memory: read as streams, their columns used as they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from softmodes._cli.options import Columns, ReadingOptions, names_in
from softmodes._cli.outputs import STANDARD
from softmodes._cli.prepared import check_lacking, open_file

if TYPE_CHECKING:
    from softmodes._estimators.base import ModesEstimator
    from softmodes._sources import Source
    from softmodes._table.codebook import Missing

LARGE = 1 << 28  # bytes of a file
_NOT_BY_STREAM = ("id", "weight", "describe", "keep", "as_")


def is_large(file: str) -> bool:
    """Tell whether a file, or the files of a folder, are too large to be read whole."""
    if file == STANDARD or not os.path.exists(file):
        return False
    if not os.path.isdir(file):
        return os.path.getsize(file) >= LARGE
    return sum(entry.stat().st_size for entry in os.scandir(file) if entry.is_file()) >= LARGE


@dataclass(frozen=True, eq=False)
class Streamed:
    """The rows of a large file: what is clustered of it is read anew whenever it is asked for."""

    file: str
    columns: Columns
    reading: ReadingOptions

    sample_weight: None = None
    feature_weight: None = None

    def __post_init__(self) -> None:
        for option in _NOT_BY_STREAM:
            if getattr(self.columns, option):
                raise ValueError(
                    f"--{option.rstrip('_')} asks for a table in memory, and {self.file} is read "
                    f"as a stream: it has over {LARGE:,} bytes. Leave out --raw, or the option."
                )

    @cached_property
    def names(self) -> list[str]:
        """The columns that are used."""
        return used_columns(self._open().names, self.columns)

    @property
    def table(self) -> Source:
        """The rows, from the first on."""
        from softmodes._sources.some_columns import SomeColumns

        return SomeColumns(self._open(), self.names)

    @property
    def missing(self) -> Missing:
        """What the clustering does with cells that are missing."""
        from softmodes._table.codebook import checked_missing

        return checked_missing(self.columns.missing or "category")

    @property
    def told(self) -> str:
        """What is read, and what is done with the columns."""
        source = self._open()
        used = f"  {len(self.names):,} of {len(source.names):,} columns are used as they are"
        return "\n".join((*source.told, f"{used}; the file is read as a stream"))

    def _open(self) -> Source:
        return open_file(self.file, self.reading)


def columns_of_model(file: str, reading: ReadingOptions, model: ModesEstimator) -> Source:
    """Open a file from its first row on, with the columns of a model's fit."""
    from softmodes._sources.some_columns import SomeColumns

    source = open_file(file, reading)
    names = list(getattr(model, "feature_names_in_", source.names))
    check_lacking(names, source.names)
    return SomeColumns(source, names)


def used_columns(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the columns of a file that are to be used; an error names one that it has not."""
    from softmodes._prepare.options import column_number

    wanted = {option: names_in(getattr(columns, option), names) for option in ("only", "drop")}
    for option, some in wanted.items():
        for name in some or ():
            column_number(option, name, names)
    only, drop = wanted["only"], wanted["drop"] or []
    return [name for name in names if (only is None or name in only) and name not in drop]
