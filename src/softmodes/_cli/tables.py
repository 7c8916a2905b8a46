"""Files of rows whose classes are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from softmodes._cli.options import ReadingOptions, names_in
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
    table = read_rows(path, reading, name=name).table
    left_out = [
        column for column in names_in(drop, table.column_names) or () if column != class_column
    ]
    for column in left_out:
        if column not in table.column_names:
            raise ValueError(
                f"drop={column!r} is not a column of {path}. "
                f"Pass some of {', '.join(map(repr, table.column_names))}."
            )
    table = table.drop_columns(left_out)
    names = table.column_names
    if class_column not in names:
        raise ValueError(
            f"class={class_column!r} is not a column of {path}. "
            f"Pass one of {', '.join(map(repr, names))}."
        )
    classes = table.column(class_column)
    if not len(classes):
        raise ValueError(f"{path} has no rows. Pass a file with a line for each case.")
    if classes.null_count:
        first = classes.is_null().to_pylist().index(True) + 1
        raise ValueError(
            f"class={class_column!r} has no class for {classes.null_count:,} of {len(classes):,} "
            f"rows, the first of them row {first:,}. Fill them in, or leave these rows out."
        )
    features = [j for j, column in enumerate(names) if column != class_column]
    if not features:
        raise ValueError(f"{path} has no column but class={class_column!r}. Pass one with more.")
    return table.select(features), classes
