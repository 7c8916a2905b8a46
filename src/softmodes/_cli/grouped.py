"""Rows with the group of each, as a table to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmodes._estimators.base import ModesEstimator
    from softmodes._prepare import Prepare

_OWN = "softmodes_"  # what our columns begin with, where a file has columns of their names
_DIGITS = 4  # of a margin


def groups_of(model: ModesEstimator, prepared: Any) -> dict[str, Any]:
    """Return group, name, margin and second-best group of every row."""
    from softmodes._model.rows import group_columns

    return group_columns(model._clustering, model._open(prepared, tell_unseen=False).store)


def beside(table: Any, ids: Sequence[str], full: bool, groups: dict[str, Any]) -> Any:
    """Return ids (or all columns) of a table, and what is known of the groups of its rows."""
    import pyarrow as pa

    carried = table if full else table.select(list(ids))
    if not carried.num_columns:
        carried = pa.table({"row": pa.array(range(1, table.num_rows + 1), pa.int64())})
    prefix = _OWN if set(groups) & set(carried.column_names) else ""
    for name, cells in groups.items():
        rounded = cells.round(_DIGITS) if name == "margin" else cells
        carried = carried.append_column(prefix + name, pa.array(rounded))
    return carried


def ids_of(preparation: Prepare, names: Sequence[str]) -> list[str]:
    """Return the columns that tell rows apart: those that were named, else those that were found.

    Of these, those that a table has.
    """
    given = [preparation.id] if isinstance(preparation.id, str | int) else preparation.id
    found = [line.column for line in preparation.advice_.lines if line.verdict.kind == "id"]
    return [str(name) for name in list(given or found) if name in names]
