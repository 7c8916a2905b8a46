"""`softmodes look`: what is in the columns of a file, and what will be done with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from softmodes._cli.options import Columns, File, Printing, ReadingOptions, command
from softmodes._cli.prepared import FileRows, advice_for, read_rows
from softmodes._cli.printing import print_json
from softmodes._cli.waiting import Waiting

if TYPE_CHECKING:
    from softmodes._prepare import Advice


@command(
    "softmodes look survey.csv",
    "softmodes look survey.csv --id RespId --weight weight --as age=bands:4",
)
def look(
    file: File,
    columns: Columns,
    reading: ReadingOptions,
    printing: Printing,
) -> None:
    """Tell what is in the columns, and what will be done with them.

    Ids, free text and columns of one value are left out; numbers become bands; cells with several
    answers become yes/no columns. Behind each line stands the option that has it done otherwise.
    """
    with Waiting(printing.quiet) as waiting:
        waiting.say(f"Reading {file}")
        rows = read_rows(file, reading)
        waiting.say("Looking at the columns")
        advice = advice_for(rows, columns, reading)
    if printing.json:
        print_json(as_plain(advice, rows))
    else:
        print(rows.told_with(advice))


def as_plain(advice: Advice, rows: FileRows) -> dict[str, Any]:
    """Return the advice as values that JSON can hold."""
    lines = [
        {
            "column": line.column,
            "kind": line.verdict.kind,
            "action": line.action,
            "why": "; ".join(reason.why for reason in line.reasons),
            "option": line.reasons[0].option,
            "values": line.n_values,
            "missing": line.missing,
        }
        for line in advice.lines
    ]
    return {
        "rows": advice.n_rows,
        "read": list(rows.told),
        "used": list(advice.used),
        "missing": advice.missing,
        "columns": lines,
    }
