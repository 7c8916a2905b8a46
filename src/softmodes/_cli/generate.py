"""`softmodes generate`: tables with planted groups, to try things on."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from softmodes._cli.options import Force, Printing, Seed, command
from softmodes._cli.printing import print_json

app = typer.Typer(
    help="Write a table to try things on: with planted groups, or a real survey.",
    no_args_is_help=True,
)

Rows = Annotated[int, typer.Option("--rows", "-n", help="Rows.")]
Features = Annotated[int, typer.Option("--columns", "-d", help="Columns.")]
Groups = Annotated[int, typer.Option("-k", help="Planted groups.")]
Out = Annotated[
    str,
    typer.Option(
        "--out", help="A .csv, .tsv or .parquet file; - is standard output.", show_default=False
    ),
]
Planted = Annotated[
    str | None,
    typer.Option(
        "--planted", metavar="NAME", help="Add the planted group, as a column of this name."
    ),
]


@app.command()
@command("softmodes generate bbm --rows 500 -k 3 --out blocks.csv")
def bbm(
    out: Out,
    rows: Rows = 1000,
    columns: Features = 40,
    k: Groups = 4,
    inside: Annotated[
        float, typer.Option("--inside", help="Probability of a 1 in a group's own columns.")
    ] = 0.6,
    outside: Annotated[
        float, typer.Option("--outside", help="Probability of a 1 in all other columns.")
    ] = 0.2,
    planted: Planted = None,
    seed: Seed = 0,
    force: Force = False,
    *,
    printing: Printing,
) -> None:
    """Draw a Boolean block model: each group has columns in which it says yes more often."""
    import numpy as np

    from softmodes.datasets import make_bbm

    P = np.full((k, k), outside)
    np.fill_diagonal(P, inside)
    X, y = make_bbm(rows, columns, P, random_state=seed)
    _write(_numbered(X), y, planted, out, force, printing)


@app.command()
@command("softmodes generate ccm --eps 0.3 --planted group --out words.csv")
def ccm(
    out: Out,
    rows: Rows = 1000,
    columns: Features = 40,
    k: Groups = 4,
    eps: Annotated[float, typer.Option("--eps", help="Probability that a cell is flipped.")] = 0.2,
    planted: Planted = None,
    seed: Seed = 0,
    force: Force = False,
    *,
    printing: Printing,
) -> None:
    """Draw corrupted codewords: each group is a random row of bits, of which some are flipped."""
    from softmodes.datasets import make_ccm

    X, y = make_ccm(rows, columns, k, eps=eps, random_state=seed)
    _write(_numbered(X), y, planted, out, force, printing)


@app.command()
@command("softmodes generate survey --rows 500 --out made.csv")
def survey(
    out: Out,
    rows: Rows = 5800,
    k: Groups = 4,
    clarity: Annotated[
        float,
        typer.Option("--clarity", help="Probability that a telling cell holds its group's answer."),
    ] = 0.5,
    planted: Planted = None,
    seed: Seed = 0,
    force: Force = False,
    *,
    printing: Printing,
) -> None:
    """Draw a survey of 119 columns with ids, weights, gaps, skipped blocks and several answers."""
    from softmodes.datasets import make_survey

    X, y = make_survey(rows, k, clarity=clarity, backend="pyarrow", random_state=seed)
    _write(X, y, planted, out, force, printing)


@app.command()
@command("softmodes generate anes96 --out election.csv")
def anes96(out: Out, force: Force = False, *, printing: Printing) -> None:
    """Write a real survey that comes with the package: 944 voters of 1996, 9 answers, their vote.

    A part of the American National Election Study, in the public domain.
    """
    import pyarrow as pa

    from softmodes.datasets import load_anes96

    survey: Any = load_anes96(as_frame=False)
    columns = dict(zip(survey.feature_names, survey.data.T.tolist(), strict=True))
    table = pa.table(columns | {"vote": survey.target.tolist()})
    _write(table, None, None, out, force, printing)


def _numbered(X: Any) -> Any:
    """Return an array as a table of numbers with names."""
    import numpy as np
    import pyarrow as pa

    return pa.table({f"x{j}": column for j, column in enumerate(np.asarray(X, np.int8).T)})


def _write(
    table: Any, y: Any, planted: str | None, out: str, force: bool, printing: Printing
) -> None:
    from softmodes._cli.outputs import Outputs

    if planted is not None:
        table = table.append_column(planted, [y])
    outputs = Outputs(force=force, out=out)
    outputs.write_table("out", table)
    if printing.json:
        print_json(
            {"rows": table.num_rows, "columns": table.num_columns, "written": outputs.written}
        )
    elif not printing.quiet:
        print(f"{table.num_rows:,} rows, {table.num_columns:,} columns.", file=outputs.text_to)
        outputs.tell_written()
