"""The `softmodes` command: parses and prints, computes nothing."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

try:
    import typer
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table
except ImportError as error:
    raise SystemExit(
        f'The softmodes command needs {error.name}. Install it with: pip install "softmodes[cli]"'
    ) from None

from softmodes._files import checked_target, write_whole
from softmodes._paper import EXPERIMENTS, SIZES, Cell, Size, chosen
from softmodes._paper.results import Record, ResultsFile, read_folder
from softmodes._paper.runner import load_methods, pending, run
from softmodes._parameters import check_seed
from softmodes._text import harmless

# A cell may be as large as a block: small blocks are read side by side, the largest holds any cell.
_BLOCK, _LARGEST_BLOCK = 1 << 20, (1 << 31) - 1

app = typer.Typer(
    help="Cluster categorical data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
paper = typer.Typer(help="Reproduce the paper's tables and figures.", no_args_is_help=True)
app.add_typer(paper, name="paper")


def main() -> None:
    """Run the command line."""
    app(prog_name="softmodes")


@app.callback()
def _softmodes() -> None:
    """Cluster categorical data."""


@app.command()
def fit(
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file, a row for each case.")],
    n_clusters: Annotated[int, typer.Option("-k", "--n-clusters", help="Number of clusters.")],
    t: Annotated[float, typer.Option(help="Sharpness of the rounding, from 1 up to inf.")] = 3.0,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out, such as an identifier.")
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Empty cells: category, ignore or error.")
    ] = "category",
    n_init: Annotated[int, typer.Option(help="Restarts, of which the best is kept.")] = 10,
    seed: Annotated[int, typer.Option(help="Same seed, same answer.")] = 0,
    out: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="A .csv file to write the cluster of every row to."),
    ] = None,
) -> None:
    """Cluster the rows of a file; print the size of each cluster and what marks it."""
    with _plain_errors(TypeError):
        check_seed(seed, "seed")
        if out is not None:
            _check_out(out, file)
        table = _read_table(file, drop or [])
        from softmodes._estimators import SoftModes

        model = SoftModes(n_clusters, t=t, missing=missing, n_init=n_init, random_state=seed)
        print(model.fit(table).summary())
        if out is not None:
            _write_labels(model.labels_, out)
            print(harmless(f"The cluster of every row is in {out}"))


@paper.command("list")
def list_experiments() -> None:
    """List the experiments: what each shows, and how many cells it has."""
    table = Table("id", "what it shows", box=None)
    for size in SIZES:
        table.add_column(f"cells, {size}", justify="right")
    for experiment in EXPERIMENTS.values():
        counts = [f"{len(list(experiment.cells(cast(Size, size)))):,}" for size in SIZES]
        table.add_row(experiment.id, experiment.title, *counts)
    Console().print(table)


@paper.command("run")
def run_experiments(
    experiments: Annotated[
        list[str], typer.Argument(help="Ids from `softmodes paper list`, or all.")
    ],
    size: Annotated[str, typer.Option(help="small (a minute) or full (the paper's).")] = "full",
    out: Annotated[
        Path, typer.Option(help="Folder of the results. What is there is not run again.")
    ] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Processes; a single one already uses all cores.")] = 1,
    plugin: Annotated[
        list[str] | None,
        typer.Option(help="A .py file or module whose registered methods join the experiments."),
    ] = None,
) -> None:
    """Run experiments into a results file. Stop it at any time: run again to resume."""
    with _plain_errors():
        wanted, checked = chosen(experiments), _size(size)
        methods = load_methods(plugin or [])
        with ResultsFile(out / f"{checked}.jsonl") as results:
            cells = pending(wanted, checked, results.done, methods)
            with _progress(cells) as show:
                run(cells, results, jobs=jobs, plugins=plugin or [], on_cell=show)
            path = harmless(str(results.path))
            print(f"{len(cells):,} cells run, {len(results.done):,} in {path}")


@paper.command("report")
def report_experiments(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    size: Annotated[str, typer.Option(help="small or full.")] = "full",
    out: Annotated[Path, typer.Option(help="Folder to write the report to.")] = Path("report"),
) -> None:
    """Write the report: figures, tables, published beside found, each claim judged."""
    with _plain_errors():
        records = read_folder(results, _size(size))
        if not records:
            raise ValueError(
                f"{results} holds no results of size {size}. "
                f"Run first: softmodes paper run all --size {size} --out {results}"
            )
        from softmodes._paper.report import write_report

        for path in write_report(records, out, _size(size)):
            print(harmless(str(path)))


def _check_out(out: str, file: Path) -> None:
    """Refuse a place where labels cannot be written, or would take the place of the table."""
    checked_target(out, name="out")
    if os.path.exists(out) and file.exists() and os.path.samefile(out, file):
        raise ValueError(f"out={out!r} is the table itself. Pass another file for the labels.")


def _read_table(path: Path, drop: list[str]) -> Any:
    """Return the columns of a file as an Arrow table; an empty cell of a CSV file is missing."""
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix not in readers:
        raise ValueError(f"{path} has an unknown ending. Pass a .csv or .parquet file.")
    table = readers[path.suffix](path)
    unknown = [name for name in drop if name not in table.column_names]
    if unknown:
        raise ValueError(
            f"drop={unknown[0]!r} is not a column of {path}. "
            f"Pass some of {', '.join(map(repr, table.column_names))}."
        )
    return table.select([j for j, name in enumerate(table.column_names) if name not in drop])


def _read_parquet(path: Path) -> Any:
    from pyarrow import ArrowException, parquet

    try:
        return parquet.read_table(path)
    except ArrowException as error:
        raise ValueError(
            f"{path} cannot be read as Parquet: {error}. Pass a whole .parquet file."
        ) from error


def _read_csv(path: Path) -> Any:
    from pyarrow import ArrowInvalid

    try:
        return _read_csv_blocks(path, _BLOCK)
    except ArrowInvalid:
        _check_row_lengths(path)
    try:
        return _read_csv_blocks(path, max(_BLOCK, min(path.stat().st_size, _LARGEST_BLOCK)))
    except ArrowInvalid as error:
        raise ValueError(
            f"{path} cannot be read as CSV: {error}. Pass a file of a line of column names and a "
            "line for each case, with every quote closed and "
            f"every cell under {_LARGEST_BLOCK:,} bytes, the largest block_size."
        ) from error


def _read_csv_blocks(path: Path, block_size: int) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        path,
        read_options=arrow_csv.ReadOptions(block_size=block_size),
        # Without it, a line break in quotes ends the row where two blocks meet.
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(strings_can_be_null=True, null_values=[""]),
    )


def _check_row_lengths(path: Path) -> None:
    """Refuse a CSV file whose rows differ in length, naming the line: Arrow knows only the row."""
    with open(path, newline="", encoding="utf-8", errors="replace") as lines:
        rows = csv.reader(lines)
        names, line = next(rows, []), rows.line_num + 1
        try:
            for row in rows:
                if row and len(row) != len(names):
                    raise ValueError(
                        f"{path}, line {line}: the number of cells is {len(row)}, that of column "
                        f"names is {len(names)}. Make them equal; put a cell that holds a comma "
                        "or a line break in double quotes."
                    )
                line = rows.line_num + 1
        except csv.Error:
            return  # a cell too large for this reader, which need not be a fault


def _write_labels(labels: Any, path: str) -> None:
    lines = ["cluster", *map(str, labels.tolist()), ""]
    write_whole(path, "\n".join(lines).encode(), name="out")


def _size(size: str) -> Size:
    if size not in SIZES:
        raise ValueError(f"size={size!r} is not known. Pass one of {', '.join(SIZES)}.")
    return cast(Size, size)


@contextmanager
def _plain_errors(*more: type[Exception]) -> Iterator[None]:
    """Print what a user can mend as one line, without a traceback."""
    mistakes: tuple[type[Exception], ...] = (ValueError, ImportError, OSError, MemoryError, *more)
    try:
        yield
    except mistakes as error:
        text = str(error) or "Memory is not enough. Pass a smaller table, or fewer clusters."
        typer.secho(harmless(f"Error: {text}"), err=True, fg="red")
        raise typer.Exit(1) from None


@contextmanager
def _progress(cells: list[Cell]) -> Iterator[Callable[[Cell, Record], None]]:
    """Show a bar whose time left counts large cells for more than small ones."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}/{task.fields[cells]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    # The speed is that of the last minutes: what a cell takes differs from kind to kind.
    with Progress(*columns, speed_estimate_period=300, console=Console(stderr=True)) as bar:
        work = sum(cell.work for cell in cells)
        task = bar.add_task("", total=work, done=0, cells=len(cells))
        done = 0

        def show(cell: Cell, record: Record) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=cell.work, description=cell.experiment, done=done)

        yield show
