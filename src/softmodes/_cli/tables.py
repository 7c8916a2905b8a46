"""Files of rows whose classes are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from softmodes._cli.options import ReadingOptions
from softmodes._cli.prepared import read_rows

_AS_IT_LOOKS = ReadingOptions()


def read_labelled(
    path: str,
    class_column: str,
    drop: Sequence[str] | None = None,
    reading: ReadingOptions = _AS_IT_LOOKS,
    name: str = "file",
) -> tuple[Any, Any]:
    """Return the columns of a file without that of the classes, and the classes; both from Arrow.

    Refuses a column that gives no class to some of the rows.
    """
    rows = read_rows(path, reading, name=name)
    names = rows.table.column_names
    if class_column not in names:
        raise ValueError(
            f"class={class_column!r} is not a column of {path}. "
            f"Pass one of {', '.join(map(repr, names))}."
        )
    if class_column in rows.renamed.values():
        raise ValueError(
            f"class={class_column!r} is the name of several columns of {path}. Give each its own."
        )
    left_out = set(rows.named(drop) or ()) - {class_column}
    for column in left_out.difference(names):
        raise ValueError(
            f"drop={column!r} is not a column of {path}. "
            f"Pass some of {', '.join(map(repr, names))}."
        )
    table = rows.table.drop_columns(sorted(left_out))
    classes = table.column(class_column)
    if not len(classes):
        raise ValueError(f"{path} has no rows. Pass a file with a line for each case.")
    if classes.null_count:
        first = classes.is_null().to_pylist().index(True) + 1
        raise ValueError(
            f"class={class_column!r} has no class for {classes.null_count:,} of {len(classes):,} "
            f"rows, the first of them row {first:,}. Fill them in, or leave these rows out."
        )
    if table.num_columns == 1:
        raise ValueError(f"{path} has no column but class={class_column!r}. Pass one with more.")
    return table.drop_columns(class_column), classes
