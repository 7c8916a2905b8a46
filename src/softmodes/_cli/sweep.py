"""`softmodes sweep`: how many groups a file has, and whether to trust them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from softmodes._cli.options import (
    Columns,
    File,
    Printing,
    ReadingOptions,
    Seed,
    command,
    number_or_text,
    range_in,
)
from softmodes._cli.prepared import Prepared, prepared, read_rows
from softmodes._cli.printing import print_json
from softmodes._cli.streamed import Streamed, is_large
from softmodes._cli.waiting import Waiting

if TYPE_CHECKING:
    from softmodes._choice import Sweep


@command("softmodes sweep survey.csv", "softmodes sweep survey.csv -k 2:12 --drop region,age")
def sweep(
    file: File,
    k: Annotated[str, typer.Option("-k", metavar="FROM:TO", help="Numbers of groups.")] = "2:8",
    t: Annotated[
        str,
        typer.Option(
            "-t", "--t", help="Sharpness of the rounding, from 1 to inf; several with commas."
        ),
    ] = "auto",
    seed: Seed = 0,
    *,
    columns: Columns,
    reading: ReadingOptions,
    printing: Printing,
) -> None:
    """Tell how many groups there are, and whether to trust them.

    A line for each number of groups: what they explain beside what is explained in a shuffled
    table, whether they are found again from another seed and in other rows, and the pick.
    """
    tried = range_in(k)
    sharpness = [number_or_text(one.strip()) for one in t.split(",")]
    with Waiting(printing.quiet) as waiting:
        waiting.say(f"Reading {file}")
        rows = rows_to_cluster(file, columns, reading)
        waiting.say(f"Trying {tried[0]} to {tried[1]} groups")
        found = [(one, swept(rows, tried, one, seed)) for one in sharpness]
    if printing.json:
        print_json([{"t": one, **as_plain(sweep)} for one, sweep in found])
        return
    if not printing.quiet:
        print(rows.told, end="\n\n")
    for one, sweep in found:
        if len(found) > 1:
            print(f"t = {one}")
        print(sweep)


def rows_to_cluster(file: str, columns: Columns, reading: ReadingOptions) -> Prepared | Streamed:
    """Read and prepare a file; a large one of which no advice is followed is read as a stream."""
    if columns.raw and is_large(file):
        return Streamed(file, columns, reading)
    return prepared(read_rows(file, reading), columns, reading)


def swept(rows: Prepared | Streamed, k: tuple[int, int], t: float | str, seed: int) -> Sweep:
    """Try numbers of groups."""
    from softmodes._choice import sweep

    return sweep(
        rows.table,
        k,
        t=t,  # type: ignore[arg-type]
        missing=rows.missing,
        sample_weight=rows.sample_weight,
        feature_weight=rows.feature_weight,
        random_state=seed,
    )


def as_plain(found: Sweep) -> dict[str, Any]:
    """Return what a sweep has found as values that JSON can hold."""
    columns = found.columns()
    return {
        "pick": found.pick,
        "verdict": found.verdict,
        "why": found.why,
        "solid": found.solid,
        "more": found.more,
        "rows": found.n_rows,
        "rows_seen": found.n_rows_seen,
        "tried": [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ],
    }
