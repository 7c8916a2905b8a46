"""Rows with the group of each, as a table to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmodes._estimators.base import ModesEstimator
    from softmodes._prepare import Prepare

_OWN = "softmodes_"  # what our columns begin with, where a file has columns of their names
_DIGITS = 4  # of a margin


def grouped(
    model: ModesEstimator, prepared: Any, table: Any, ids: Sequence[str], full: bool
) -> Any:
    """Return ids (or all columns) of a table, and group, name, margin and second of each row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with_groups = model.to_frame(prepared, prefix=_OWN)
    new = [name for name in with_groups.column_names if name not in prepared.column_names]
    carried = table if full else table.select(list(ids))
    if not carried.num_columns:
        carried = pa.table({"row": pa.array(range(1, table.num_rows + 1), pa.int64())})
    plain = [name.removeprefix(_OWN) for name in new]
    names = new if set(plain) & set(carried.column_names) else plain
    for name, column in zip(names, new, strict=True):
        cells = with_groups[column]
        rounded = pc.round(cells, _DIGITS) if pa.types.is_floating(cells.type) else cells
        carried = carried.append_column(name, rounded)
    return carried


def ids_of(preparation: Prepare, names: Sequence[str]) -> list[str]:
    """Return the columns that tell rows apart: those that were named, else those that were found.

    Of these, those that a table has.
    """
    given = [preparation.id] if isinstance(preparation.id, str) else list(preparation.id or ())
    found = [line.column for line in preparation.advice_.lines if line.verdict.kind == "id"]
    return [str(name) for name in given or found if name in names]
