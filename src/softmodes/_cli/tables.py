"""Files of rows, read as tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmodes._sources import Source
    from softmodes._sources.reading import Reading


def read_table(
    path: Path, drop: list[str], name: str = "file", reading: Reading | None = None
) -> Any:
    """Return the columns of files as an Arrow table, but those to drop.

    A name that several columns of a file have drops them all. `name` is what errors call the path.
    """
    return _all_but(drop, _opened(path, name, reading), path)


def read_labelled(
    path: Path,
    class_column: str,
    drop: list[str],
    name: str = "file",
    reading: Reading | None = None,
) -> tuple[Any, Any]:
    """Return the columns of a file without that of the classes, and the classes; both from Arrow.

    Refuses a column that gives no class to some of the rows.
    """
    source = _opened(path, name, reading)
    if class_column not in source.names:
        raise ValueError(
            f"class={class_column!r} is not a column of {path}. "
            f"Pass one of {', '.join(map(repr, source.names))}."
        )
    if class_column in source.renamed.values():
        raise ValueError(
            f"class={class_column!r} is the name of several columns of {path}. Give each its own."
        )
    table = _all_but([column for column in drop if column != class_column], source, path)
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


def _opened(path: Path, name: str, reading: Reading | None) -> Source:
    from softmodes._sources.paths import open_path  # Arrow, which help does not need

    return open_path(path, reading, name=name)


def _all_but(drop: list[str], source: Source, path: Path) -> Any:
    from softmodes._sources.whole import read_whole

    unknown = [column for column in drop if column not in source.names]
    if unknown:
        raise ValueError(
            f"drop={unknown[0]!r} is not a column of {path}. "
            f"Pass some of {', '.join(map(repr, source.names))}."
        )
    given = [source.renamed.get(name, name) for name in source.names]
    kept = [j for j, name in enumerate(given) if name not in drop]
    return read_whole(source).select(kept)
