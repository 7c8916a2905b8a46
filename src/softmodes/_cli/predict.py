"""`softmodes predict`: the groups of new rows, values that the model has never seen, and drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from softmodes._cli.errors import DRIFTED
from softmodes._cli.grouped import beside, groups_of, ids_of
from softmodes._cli.options import (
    File,
    Force,
    Model,
    Printing,
    ReadingOptions,
    command,
    names_in,
)
from softmodes._cli.outputs import Outputs
from softmodes._cli.prepared import FileRows, read_as_before
from softmodes._cli.printing import print_json
from softmodes._cli.streamed import columns_of_model, is_large
from softmodes._cli.waiting import Waiting
from softmodes._text import harmless

if TYPE_CHECKING:
    from softmodes._estimators.base import ModesEstimator

NewRows: TypeAlias = "tuple[Sequence[str], list[dict[str, Any]], list[int]]"

_MOST_TOLD = 5  # columns of one sort


@command(
    "softmodes predict survey.softmodes new.csv --out new-groups.csv",
    "softmodes predict survey.softmodes new.csv --limit 0.1 --json",
)
def predict(
    model: Model,
    file: File,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The group of every row: a .csv, .tsv or .parquet file; - is standard output.",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="All columns of the file in --out, not only ids.")
    ] = False,
    id: Annotated[
        list[str] | None,
        typer.Option(
            "--id", metavar="COL,...", help="Carried to --out; by default those of the fit."
        ),
    ] = None,
    limit: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Drift: which share of the rows may have another value in a column than the fit "
            "would lead one to expect, beyond twice what chance does. Above it the command ends "
            "with code 3.",
        ),
    ] = 0.2,
    force: Force = False,
    *,
    reading: ReadingOptions,
    printing: Printing,
) -> None:
    """Find the groups of new rows; tell unseen values, and columns that have changed.

    The rows are prepared as those of the fit were. Columns are taken by name: more of them, or
    another order, do not matter.
    """
    from softmodes._estimators import load

    outputs = Outputs(force=force, inputs=[model, file], out=out)
    outputs.check_table("out")
    with Waiting(printing.quiet) as waiting:
        fitted = load(model)
        waiting.say(f"Reading {file}")
        if fitted.preparation_ is None and is_large(file):
            new = _stream(fitted, file, reading, outputs, full or bool(id))
        else:
            new = _table(fitted, file, reading, outputs, full, id)
    told, drift, counts = new
    too_far = [row for row in drift if row["changed"] - 2 * row["chance"] > limit]
    if printing.json:
        print_json(_plain(fitted, counts, drift, too_far, told, outputs))
    else:
        _tell(fitted, counts, drift, too_far, told, outputs, printing)
    if too_far:
        raise typer.Exit(DRIFTED)


def _table(
    fitted: ModesEstimator,
    file: str,
    reading: ReadingOptions,
    outputs: Outputs,
    full: bool,
    id: list[str] | None,
) -> NewRows:
    """Find the groups of a file that is read whole, and write them."""
    rows, table = read_as_before(file, reading, fitted)
    groups = groups_of(fitted, table)
    if "out" in outputs:
        outputs.write_table("out", beside(rows.table, _ids(fitted, rows, id), full, groups))
    return rows.told, _rows_of(fitted.drift(table)), _counts(fitted, groups["group"])


def _stream(
    fitted: ModesEstimator, file: str, reading: ReadingOptions, outputs: Outputs, more: bool
) -> NewRows:
    """Find the groups of a large file, some rows at a time, and write their numbers."""
    if more:
        raise ValueError(
            f"--full and --id ask for a table in memory, and {file} is read as a stream. Leave "
            "them out: rows stay in their order."
        )
    from softmodes._model.label_file import checked_label_file, write_labels

    drift = _rows_of(fitted.drift(columns_of_model(file, reading, fitted)))
    source = columns_of_model(file, reading, fitted)
    labels = fitted._clustering.predict(fitted._open(source, tell_unseen=False).store)
    if "out" in outputs:
        path = outputs.path("out")
        write_labels(checked_label_file(path, file), labels, "group")
        outputs.written.append(path)
    return source.told, drift, _counts(fitted, labels)


def _counts(fitted: ModesEstimator, labels: Any) -> list[int]:
    import numpy as np

    counts: list[int] = np.bincount(labels, minlength=len(fitted.names_)).tolist()
    return counts


def _rows_of(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame of Arrow or pandas."""
    found: list[dict[str, Any]] = (
        frame.to_pylist() if hasattr(frame, "to_pylist") else frame.to_dict("records")
    )
    return found


def _ids(fitted: ModesEstimator, rows: FileRows, given: list[str] | None) -> list[str]:
    names = rows.table.column_names
    asked = names_in(given, names)
    if asked is not None:
        for name in asked:
            if name not in names:
                raise ValueError(f"id={name!r} is not a column of the file. Pass one that is.")
        return asked
    preparation = fitted.preparation_
    return [] if preparation is None else ids_of(preparation, names)


# --- what is printed -----------------------------------------------------------------------------


def _plain(
    fitted: ModesEstimator,
    counts: list[int],
    drift: list[dict[str, Any]],
    too_far: list[dict[str, Any]],
    told: Sequence[str],
    outputs: Outputs,
) -> dict[str, Any]:
    """Return the outcome as values that JSON can hold."""
    groups = [
        {"group": i, "name": name, "rows": count}
        for i, (name, count) in enumerate(zip(fitted.names_, counts, strict=True))
    ]
    return {
        "rows": sum(counts),
        "read": list(told),
        "groups": groups,
        "drift": drift,
        "above_the_limit": [row["feature"] for row in too_far],
        "written": outputs.written,
    }


def _tell(
    fitted: ModesEstimator,
    counts: list[int],
    drift: list[dict[str, Any]],
    too_far: list[dict[str, Any]],
    told: Sequence[str],
    outputs: Outputs,
    printing: Printing,
) -> None:
    from softmodes._model.marks import percent

    total = max(1, sum(counts))
    before = fitted.cluster_sizes_ / fitted.cluster_sizes_.sum()
    lines = [] if printing.quiet else list(told)
    for i, (name, count) in enumerate(zip(fitted.names_, counts, strict=True)):
        share = f"{percent(count / total)}; {percent(before[i])} at fit"
        lines.append(f"group {i}, {name}: {count:,} rows ({share})")
    lines += _told_unseen([row for row in drift if row["unseen"] > 0 or row["note"]])
    lines += _told_drift(too_far)
    for line in lines:
        print(harmless(line), file=outputs.text_to)
    outputs.tell_written()


def _told_unseen(columns: list[dict[str, Any]]) -> list[str]:
    from softmodes._model.marks import percent

    lines = [
        f"unseen at fit: {row['feature']}: {row['unseen_values']} "
        f"({percent(row['unseen'])} of rows)" + (f"; {row['note']}" if row["note"] else "")
        for row in sorted(columns, key=lambda row: -row["unseen"])[:_MOST_TOLD]
    ]
    if len(columns) > _MOST_TOLD:
        lines.append(f"unseen at fit: values of {len(columns) - _MOST_TOLD:,} more columns")
    return lines


def _told_drift(columns: list[dict[str, Any]]) -> list[str]:
    from softmodes._model.marks import percent

    lines = [
        f"drift: {row['feature']}: {percent(row['changed'])} of the rows would need another value "
        f"to be as at fit ({percent(row['chance'])} by chance)"
        for row in columns[:_MOST_TOLD]
    ]
    if len(columns) > _MOST_TOLD:
        lines.append(f"drift: {len(columns) - _MOST_TOLD:,} more columns have changed")
    return lines
