"""`softmodes predict`: the groups of new rows, values that the model has never seen, and drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

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
from softmodes._cli.waiting import Waiting
from softmodes._text import harmless

if TYPE_CHECKING:
    from softmodes._estimators.base import ModesEstimator

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
        rows, table = read_as_before(file, reading, fitted)
        waiting.say("Finding the groups")
        drift = _rows_of(fitted.drift(table))
        groups = groups_of(fitted, table)
    if "out" in outputs:
        outputs.write_table("out", beside(rows.table, _ids(fitted, rows, id), full, groups))
    too_far = [row for row in drift if row["changed"] - 2 * row["chance"] > limit]
    counts = [int((groups["group"] == i).sum()) for i in range(len(fitted.names_))]
    if printing.json:
        print_json(_plain(fitted, counts, drift, too_far, rows, outputs))
    else:
        _tell(fitted, counts, drift, too_far, rows, outputs, printing)
    if too_far:
        raise typer.Exit(DRIFTED)


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
    rows: FileRows,
    outputs: Outputs,
) -> dict[str, Any]:
    """Return the outcome as values that JSON can hold."""
    groups = [
        {"group": i, "name": name, "rows": count}
        for i, (name, count) in enumerate(zip(fitted.names_, counts, strict=True))
    ]
    return {
        "rows": sum(counts),
        "read": list(rows.told),
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
    rows: FileRows,
    outputs: Outputs,
    printing: Printing,
) -> None:
    from softmodes._model.marks import percent

    total = max(1, sum(counts))
    before = fitted.cluster_sizes_ / fitted.cluster_sizes_.sum()
    lines = [] if printing.quiet else list(rows.told)
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
