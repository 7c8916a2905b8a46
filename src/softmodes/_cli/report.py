"""`softmodes report`: the report of a saved model again."""

from __future__ import annotations

from typing import Annotated

import typer

from softmodes._cli.options import Force, Model, Printing, command
from softmodes._cli.outputs import Outputs
from softmodes._cli.printing import print_json


@command(
    "softmodes report survey.softmodes --out survey.html",
    "softmodes report survey.softmodes --out survey.html --rows people --columns questions --force",
)
def report(
    model: Model,
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="The page: one .html file; - is standard output.",
            show_default=False,
        ),
    ],
    title: Annotated[str | None, typer.Option(help="What the page is called.")] = None,
    rows: Annotated[str, typer.Option(help='What rows are called, such as "people".')] = "rows",
    columns: Annotated[
        str, typer.Option(help='What columns are called, such as "questions".')
    ] = "columns",
    small_cells: Annotated[
        bool,
        typer.Option(
            "--small-cells", help="Show shares of under 5 rows, which may tell who somebody is."
        ),
    ] = False,
    force: Force = False,
    *,
    printing: Printing,
) -> None:
    """Write the report of a saved model again: after naming its groups, say.

    The rows are not needed: fit --save keeps with the model what the report tells of them.
    """
    from softmodes._estimators import load
    from softmodes._report import report as report_of

    outputs = Outputs(force=force, inputs=[model], out=out)
    page = report_of(
        load(model),
        title=title,
        rows=rows,
        columns=columns,
        small_cells=small_cells,
        model_file=model,
    )
    outputs.write("out", page.to_html().encode())
    if printing.json:
        print_json({"headline": page.headline, "verdict": page.verdict, "why": page.sentence})
    elif not printing.quiet:
        print(page, file=outputs.text_to)
        outputs.tell_written()
