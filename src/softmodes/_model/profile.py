"""What marks a cluster: its values' shares against those of the whole table."""

from __future__ import annotations

import datetime as dt
from functools import partial
from textwrap import wrap
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softmodes._rows.counts import Counts
from softmodes._table.codebook import Codebook
from softmodes._table.frames import in_library
from softmodes._table.values import BadColumnError, Kind, array_of, converter, python_values
from softmodes._text import harmless

_TIMES = (np.datetime64, np.timedelta64, dt.date, dt.timedelta)
_NO_BREAK = "\0"  # stands for a space inside a mark, where a line must not be broken
_LONGEST_SHOWN = 200  # characters of a name or value in a summary


def profile_columns(codebook: Codebook, counts: Counts) -> dict[str, NDArray[Any] | list[Any]]:
    """Return the columns of a tidy profile, the most telling values of each cluster first.

    Rows are the values that occur in a cluster. `share` is the value's share among the cluster's
    observed cells of that feature, `lift` that share over the share in the whole table. Sorted by
    cluster, then by share * log(lift): how much the value adds to the cluster's divergence from
    the whole table.
    """
    parts = [_feature(counts, j) for j in range(codebook.n_features)]
    cluster, feature, code, share, lift = (np.concatenate(p) for p in zip(*parts, strict=True))
    order = np.lexsort((code, feature, -share * np.log(lift), cluster))
    names = codebook.names or [f"x{j}" for j in range(codebook.n_features)]
    values = [codebook.values(j) for j in range(codebook.n_features)]
    return {
        "cluster": cluster[order],
        "feature": [names[j] for j in feature[order]],
        "value": [values[j][v] for j, v in zip(feature[order], code[order], strict=True)],
        "share": share[order],
        "lift": lift[order],
    }


def summary_text(
    columns: dict[str, Any], sizes: NDArray[Any], n_marks: int, total_width: int = 100
) -> str:
    """Return one line per cluster: its size, and the values that mark it most."""
    lines = []
    for i, size in enumerate(sizes):
        rows = np.flatnonzero((columns["cluster"] == i) & (columns["lift"] > 1.0))[:n_marks]
        marks = [_mark(columns, row) for row in rows] or ["nothing sets it apart"]
        head = f"cluster {i}: {size:g} row{'' if size == 1 else 's'} ({size / sizes.sum():.0%}): "
        unbroken = ", ".join(mark.replace(" ", _NO_BREAK) for mark in marks)
        lines += wrap(head + unbroken, total_width, subsequent_indent=" " * 11)
    return "\n".join(lines).replace(_NO_BREAK, " ")


def _mark(columns: dict[str, Any], row: int) -> str:
    feature, value = columns["feature"][row], columns["value"][row]
    shown = "missing" if value is None else _shown(value)
    return f"{_shown(feature)}={shown} ({columns['share'][row]:.0%}, {columns['lift'][row]:.1f}x)"


def _shown(value: Any) -> str:
    """Return a value as a reader can take it in: harmless, and not longer than a few lines."""
    text = str(value)
    cut = "..." if len(text) > _LONGEST_SHOWN else ""
    return harmless(text[:_LONGEST_SHOWN]) + cut


def as_frame(columns: dict[str, Any], backend: str | None) -> Any:
    """Return the columns as a frame: of the backend, else pandas, else pyarrow if none is there."""
    return in_library(backend, partial(_native_frame, columns))


def _native_frame(columns: dict[str, Any], backend: Any) -> Any:
    if "value" not in columns:
        return nw.from_dict(columns, backend=backend).to_native()
    values = columns["value"]
    if backend == "pandas":  # whose columns hold values of any type
        return _frame_with(columns, values, backend)
    text = [_text(value) for value in values]
    unsigned = _unsigned(values)
    typed = _times(values) if unsigned is None else unsigned
    one_type = len({type(value) for value in values if value is not None}) <= 1
    native = typed if typed is not None else values if one_type else text
    try:
        return _frame_with(columns, native, backend)
    except ImportError:
        raise
    except Exception:  # each library has its own error for values beyond its types
        return _frame_with(columns, text, backend)


def _frame_with(columns: dict[str, Any], values: Any, backend: Any) -> Any:
    return nw.from_dict(columns | {"value": values}, backend=backend).to_native()


def _times(values: list[Any]) -> NDArray[Any] | None:
    """Return dates, times or durations as an array of one unit; None for all other values."""
    known = [value for value in values if value is not None]
    if not all(isinstance(value, _TIMES) for value in known):
        return None
    keys = [key for value in known if (key := converter(type(value))(value)) is not None]
    kinds = {kind for kind, _ in keys}
    if kinds not in ({Kind.DATE}, {Kind.DATETIME}, {Kind.DURATION}):
        return None
    try:
        array = array_of(keys)
    except BadColumnError:
        return None
    column = np.full(len(values), "NaT", array.dtype)
    column[[value is not None for value in values]] = array
    return column


def _unsigned(values: list[Any]) -> Any | None:
    """Return integers beyond int64, which libraries do not guess, as an Arrow array; else None."""
    known = [value for value in values if value is not None]
    if not known or not all(_is_integer(value) for value in known):
        return None
    if max(known) <= np.iinfo(np.int64).max:
        return None
    try:
        return pa.array([None if v is None else int(v) for v in values], pa.uint64())
    except (OverflowError, pa.ArrowInvalid):
        return None


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _text(value: Any) -> str | None:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        value = python_values(np.array([value]))[0]
    return None if value is None else str(value)


def _feature(counts: Counts, j: int) -> tuple[NDArray[Any], ...]:
    cluster, code, count = counts.nonzero(j)
    overall = np.bincount(code, count, minlength=1)
    share = count / np.bincount(cluster, count, minlength=1)[cluster]
    lift = share / (overall[code] / max(1.0, overall.sum()))
    return cluster, np.full(len(cluster), j), code, share, lift
