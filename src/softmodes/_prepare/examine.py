"""From a table to advice about its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softmodes._parameters import thread_count
from softmodes._prepare.advice import Advice, Line
from softmodes._prepare.columns import Column, columns_of, default_names
from softmodes._prepare.frames import require_in_memory
from softmodes._prepare.options import ColumnRefs, Options
from softmodes._prepare.rules import (
    Reason,
    Verdict,
    about_missing,
    judge,
    option_for,
    percent,
)
from softmodes._prepare.steps import Band, Lump, learn_step
from softmodes._prepare.together import equal_columns, similar_columns, skip_patterns
from softmodes._table.read import frame_backend, read


def advise(
    X: Any,
    *,
    keep: ColumnRefs = None,
    drop: ColumnRefs = None,
    only: ColumnRefs = None,
    as_: Mapping[str, str] | None = None,
    na: Any = None,
    id: ColumnRefs = None,
    weight: str | int | None = None,
    describe: ColumnRefs = None,
    missing: str = "category",
    n_jobs: int | None = None,
) -> Advice:
    """Tell what the columns of a table hold, and what to do with them before clustering.

    Nothing is changed: `Prepare`, which takes the same parameters, does what the advice says.

    Parameters
    ----------
    X : table
        pandas, polars or pyarrow frame, NumPy array, list of rows or scipy.sparse matrix.
    keep : str or list of str, optional
        Columns to use against the advice.
    drop, only : str or list of str, optional
        Columns to leave out; the only ones to use.
    as_ : dict, optional
        What to do with a column: "category" (use it as it is), "text" (leave it out), "bands:5"
        (numbers or dates in 5 bands of about equal size), "multi:;" (several answers, separated by
        ";"), "top:49" (the 49 commonest values, and "other").
    na : list, optional
        Words and numbers that stand for a missing cell, such as "NA" or -99.
    id, weight, describe : str or list of str, optional
        Columns that are carried along, that weigh the rows, or that are shown by group: none of
        them is clustered.
    missing : {"category", "ignore", "error"}, default="category"
        What the clustering will do with missing cells: where they are ignored, a column of one
        value and missing cells tells nothing.
    n_jobs : int, optional
        Number of threads; None and -1 take all cores.

    Returns
    -------
    Advice
        To print, or as a frame by `to_frame`.

    See Also
    --------
    Prepare : Does it.

    Notes
    -----
    A column without names is called x0, x1, ...; it may also be meant by its number.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from softmodes import advise
    >>> ages = [20 + 37 * i % 50 for i in range(200)]
    >>> table = pa.table({"age": ages, "color": ["red", "blue"] * 100, "consent": ["yes"] * 200})
    >>> print(advise(table))
    200 rows, 3 columns.
      2 of 3 columns are used
      left out   consent   one value in all rows                 --keep consent
      banded     age       50 numbers -> 5 bands of equal size   --as age=category
    >>> print(advise(table, drop="age").used)
    ('color',)
    """
    given = {"keep": keep, "drop": drop, "only": only, "as_": as_, "na": na, "id": id}
    given |= {"weight": weight, "describe": describe, "missing": missing}
    return examine(X, given, thread_count(n_jobs)).advice


@dataclass(frozen=True, eq=False)
class Examined:
    """A table's columns and the advice about them."""

    columns: list[Column]
    advice: Advice
    options: Options
    names: tuple[str, ...] | None


def examine(X: Any, given: Mapping[str, Any], n_threads: int = 1) -> Examined:
    """Read a table and judge its columns, each for itself and then together."""
    require_in_memory(X)
    table = read(X)
    names = default_names(table)
    options = Options.of(names, given)
    columns = columns_of(table, names, n_threads, options.na)
    verdicts = [judge(column, j, options) for j, column in enumerate(columns)]
    verdicts = _without_twins(columns, verdicts, options)
    verdicts = _with_skips(columns, verdicts, options)
    advice = Advice(
        tuple(map(_line, columns, verdicts)),
        table.shape[0],
        options.na.words,
        sum(column.n_na for column in columns),
        frame_backend(X),
    )
    return Examined(columns, advice, options, table.names)


def _line(column: Column, verdict: Verdict) -> Line:
    missing = column.n_missing / max(1, column.n_rows)
    return Line(column.name, verdict, len(column.values), missing)


def _used(verdicts: Sequence[Verdict]) -> list[int]:
    return [j for j, verdict in enumerate(verdicts) if verdict.action != "leave out"]


def _without_twins(
    columns: Sequence[Column], verdicts: list[Verdict], options: Options
) -> list[Verdict]:
    """Leave out columns that tell what an earlier one does; remark on those that nearly do."""
    verdicts = list(verdicts)
    used = _used(verdicts)
    wished = options.keep | set(options.treatments) | (options.only or frozenset())
    as_used = {j: _as_used(columns[j], verdicts[j]) for j in used}
    for later, of in equal_columns([as_used[j] for j in used]).items():
        column, other = columns[used[later]].name, columns[used[of]].name
        if used[later] not in wished:
            reason = Reason(
                "duplicate",
                f"tells the same as {other}",
                "{n} columns tell the same as another",
                option_for("keep", column),
            )
            verdicts[used[later]] = Verdict("duplicate", "leave out", "text", reason)
    used = _used(verdicts)
    for twin in similar_columns([as_used[j] for j in used]):
        column, other = columns[used[twin.column]].name, columns[used[twin.of]].name
        reason = Reason(
            "near duplicate",
            f"tells nearly the same as {other} ({percent(twin.share)} of it)",
            "{n} columns tell nearly the same as another",
            option_for("drop", column),
        )
        _remark(verdicts, [used[twin.column]], reason)
    return verdicts


def _as_used(column: Column, verdict: Verdict) -> Column:
    """Return a column as the clustering will see it: of numbers that all differ, the bands."""
    if verdict.action != "lump" and (verdict.action != "band" or column.scale is None):
        return column
    step = learn_step(column, verdict.treatment)
    if not isinstance(step, Band | Lump):
        return column
    (made,) = step.labels(column)
    counts = np.bincount(made.places, column.counts, len(made.labels)).astype(np.int64)
    codes = np.append(made.places, len(made.labels))[column.codes.astype(np.intp, copy=False)]
    labels = np.array(made.labels, dtype=object)
    return Column(column.name, labels, counts, codes, column.n_missing)


def _with_skips(
    columns: Sequence[Column], verdicts: list[Verdict], options: Options
) -> list[Verdict]:
    """Remark on blocks of columns that are missing together."""
    verdicts = list(verdicts)
    used = _used(verdicts)
    for number, skip in enumerate(skip_patterns([columns[j] for j in used])):
        block = [used[j] for j in skip.columns]
        for j in block:  # one remark on what is missing is enough
            checks = tuple(c for c in verdicts[j].checks if c.sort != "mostly missing")
            verdicts[j] = replace(verdicts[j], checks=checks)
        share, others = percent(skip.share), len(block) - 1
        reason = about_missing(
            f"skip {number}",
            f"missing together with {others} other{'s'[: others > 1]} in {share} of rows",
            f"{{n}} columns are missing together in {share} of rows: not asked of all",
            options,
        )
        _remark(verdicts, block, reason)
    return verdicts


def _remark(verdicts: list[Verdict], some: Iterable[int], reason: Reason) -> None:
    for j in some:
        verdicts[j] = replace(verdicts[j], checks=(*verdicts[j].checks, reason))
