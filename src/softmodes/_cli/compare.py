"""`softmodes compare`: every method here and every installed rival, on the rows of a file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softmodes._cli.options import File, Printing, ReadingOptions, Seed, command
from softmodes._cli.printing import print_json
from softmodes._cli.tables import read_labelled
from softmodes._text import harmless

if TYPE_CHECKING:
    from softmodes._compare.cells import Cell
    from softmodes._compare.runner import Comparison
    from softmodes._compare.summary import Summary
    from softmodes._compare.tables import LabelledTable

_NAME = "compare"  # of the files that are written
_LONGEST_RUN = 600.0  # seconds
_IDENTIFIES = 0.9  # values per row
_SECONDS_HELP = "Seconds that a method may take at a setting; at least one run is made."


@command(
    "softmodes compare survey.csv --class region --runs 2 --method SoftModes --method KModes",
)
def compare(
    file: File,
    class_column: Annotated[
        str, typer.Option("--class", help="The column of known classes, not clustered by.")
    ],
    n_clusters: Annotated[
        int | None, typer.Option("-k", "--n-clusters", help="Clusters; as many as classes if not.")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COL,...", help="Columns to leave out, such as an identifier."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each method at each setting.")] = 5,
    restarts: Annotated[int, typer.Option(min=1, help="Restarts, beside a single one.")] = 10,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "--methods", help="One that takes part; all if not given."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.0, help=_SECONDS_HELP)] = 5.0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for report, numbers and figure. What is there is not run again."),
    ] = None,
    seed: Seed = 0,
    plugin: Annotated[
        list[str] | None,
        typer.Option(help="A .py file or module whose registered methods take part."),
    ] = None,
    *,
    reading: ReadingOptions,
    printing: Printing,
) -> None:
    """Compare how well methods find known classes, how stable they are, and what they cost."""
    from softmodes._compare.contenders import how_to_install

    table = _labelled(file, class_column, drop, reading)
    comparison = _comparison(
        table, method or [], plugin or [], runs, restarts, seconds, n_clusters, seed
    )
    for line in (*how_to_install(comparison.contenders), *_identifiers(table.X)):
        typer.echo(harmless(line), err=True)
    summary = _summary(comparison, out)
    if printing.json:
        from softmodes._compare.report import as_json

        print_json(as_json(summary))
    else:
        _print(summary)
    if out is not None:
        _write(summary, out, to_stderr=printing.json)


def _labelled(
    file: str, class_column: str, drop: list[str] | None, reading: ReadingOptions
) -> LabelledTable:
    from softmodes._compare.tables import LabelledTable

    table, classes = read_labelled(file, class_column, drop, reading)
    path = Path(file)
    return LabelledTable(path.stem, table, classes.to_numpy(), source=path.name)


def _identifiers(table: Any) -> list[str]:
    """Return a line for each column that has another value in nearly every row."""
    n_values = [len(column.unique()) for column in table.columns]
    return [
        f"Column {name!r} has {n:,} values in {len(table):,} rows. Is it an identifier? "
        f"Leave it out with: --drop {shlex.quote(name)}"
        for name, n in zip(table.column_names, n_values, strict=True)
        if n > _IDENTIFIES * len(table)
    ]


def _comparison(
    table: LabelledTable,
    methods: list[str],
    plugins: list[str],
    runs: int,
    restarts: int,
    seconds: float,
    n_clusters: int | None,
    seed: int,
) -> Comparison:
    from functools import partial

    from softmodes._compare.cells import Limits, settings_up_to
    from softmodes._compare.contenders import chosen
    from softmodes._compare.runner import Comparison, only
    from softmodes._parameters import check_seed
    from softmodes.baselines._plugins import load_methods

    check_seed(seed, "seed")
    guests = load_methods(plugins)
    return Comparison(
        source=partial(only, table),
        tables=(table.name,),
        contenders=tuple(chosen(methods, guests)),
        settings=tuple(settings_up_to(restarts)),
        limits=Limits(
            runs=runs,
            slow_runs=1,
            slow_seconds=seconds,
            cell_seconds=seconds,
            longest=_LONGEST_RUN,
        ),
        n_clusters=n_clusters,
        seed=seed,
        plugins=tuple(plugins),
    )


def _summary(comparison: Comparison, out: Path | None) -> Summary:
    """Run what is not in the journal of the folder; without a folder, all of it."""
    import tempfile

    from softmodes._compare.runner import RECORDS, all_cells, found_in, run, to_run
    from softmodes._compare.summary import Summary
    from softmodes._journal import Journal

    with tempfile.TemporaryDirectory() as nowhere:
        cells = all_cells(comparison)
        with Journal((out or Path(nowhere)) / f"{_NAME}.jsonl", RECORDS) as journal:
            with _shown_progress(len(to_run(comparison, cells, journal))) as show:
                run(comparison, cells, journal, on_cell=show)
            found = found_in(journal)
            records = [found[cell.key] for cell in cells if cell.key in found]
            return Summary(records, comparison.contenders)


@contextmanager
def _shown_progress(n_cells: int) -> Iterator[Callable[[Cell], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=n_cells)

        def show(cell: Cell) -> None:
            told = harmless(f"{cell.contender.name}, {cell.setting.name}")
            bar.update(task, advance=1, description=told)

        yield show


def _print(summary: Summary) -> None:
    from rich.console import Console
    from rich.markup import escape

    from softmodes._compare.overview import overview

    header, rows, notes = overview(summary)
    console = Console()
    _print_table([header, *rows], console.width if console.is_terminal else None)
    for note in notes:
        console.print(escape(harmless(note)))


def _print_table(lines: list[list[str]], width: int | None) -> None:
    """Print cells in columns, the first line as header.

    Where the width of a terminal is not enough, cells are broken between words, but no word is:
    a line that the terminal breaks can be read, a cell that is cut off cannot.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    columns = [[harmless(cell) for cell in column] for column in zip(*lines, strict=True)]
    widths = [max(map(cell_len, column)) for column in columns]
    if width is not None and sum(widths) + 2 * len(widths) > width:
        words = [[word for cell in column for word in cell.split()] for column in columns]
        widths = [max(map(cell_len, some)) for some in words]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0) if width else (0, 2, 0, 0))
    for i, (column, wide) in enumerate(zip(columns, widths, strict=True)):
        table.add_column(escape(column[0]), justify="right" if i else "left", width=wide)
    for row in list(zip(*columns, strict=True))[1:]:
        table.add_row(*map(escape, row))
    Console(width=sum(widths) + 2 * len(widths)).print(table)


def _write(summary: Summary, out: Path, to_stderr: bool) -> None:
    from softmodes._compare.report import write_report

    (name,) = summary.tables
    for path in write_report(summary, out, _NAME, f"Methods compared on {name}"):
        typer.echo(harmless(str(path)), err=to_stderr)
