"""`softmodes paper`: lists, runs and reports the experiments.

They are imported when one of these commands runs: other commands do not wait for them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from softmodes._cli.errors import plain_errors
from softmodes._text import harmless

if TYPE_CHECKING:
    from softmodes._paper import Experiment, Size
    from softmodes._paper.own_table import OwnTable

app = typer.Typer(help="Reproduce the paper's tables and figures.", no_args_is_help=True)


@app.command("list")
def list_experiments() -> None:
    """List the experiments: what each shows, and how many cells it has."""
    from rich.console import Console
    from rich.table import Table

    from softmodes._paper import EXPERIMENTS, SIZES

    table = Table("id", "what it shows", box=None)
    for size in SIZES:
        table.add_column(f"cells, {size}", justify="right")
    for experiment in EXPERIMENTS.values():
        counts = [f"{len(list(experiment.cells(cast('Size', size)))):,}" for size in SIZES]
        table.add_row(experiment.id, experiment.title, *counts)
    Console().print(table)


@app.command("run")
def run_experiments(
    experiments: Annotated[
        list[str], typer.Argument(help="Ids from `softmodes paper list`, or all.")
    ],
    size: Annotated[str, typer.Option(help="small (a minute) or full (the paper's).")] = "full",
    out: Annotated[
        Path, typer.Option(help="Folder of the results. What is there is not run again.")
    ] = Path("results"),
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Processes for small runs, by default one a core. Large ones use all cores anyway."
        ),
    ] = None,
    plugin: Annotated[
        list[str] | None,
        typer.Option(help="A .py file or module whose registered methods join the experiments."),
    ] = None,
    table: Annotated[
        list[Path] | None,
        typer.Option(help="A .csv or .parquet file that joins the tables of table-real."),
    ] = None,
    class_column: Annotated[
        list[str] | None,
        typer.Option("--class", help="Its column of classes; one for each --table, in order."),
    ] = None,
) -> None:
    """Run experiments into a results file. Stop it at any time: run again to resume."""
    from softmodes._cli.paper_progress import shown_progress
    from softmodes._paper import chosen
    from softmodes._paper.results import ResultsFile
    from softmodes._paper.runner import pending, run
    from softmodes.baselines._plugins import load_methods

    with plain_errors():
        wanted, checked = chosen(experiments), _size(size)
        methods = load_methods(plugin or [])
        tables = _tables(wanted, table or [], class_column or [])
        with ResultsFile(out / f"{checked}.jsonl") as results:
            cells = pending(wanted, checked, results.done, methods, tables)
            with shown_progress(cells) as show:
                run(
                    cells,
                    results,
                    jobs=os.cpu_count() or 1 if jobs is None else jobs,
                    plugins=plugin or [],
                    tables=tables,
                    on_cell=show,
                )
            path = harmless(str(results.path))
            print(f"{len(cells):,} cells run, {len(results.done):,} in {path}")


def _tables(
    wanted: list[Experiment], paths: list[Path], class_columns: list[str]
) -> list[OwnTable]:
    """Read the user's tables; refuse any that would join nothing."""
    from softmodes._cli.tables import read_labelled
    from softmodes._paper.own_table import own_table

    if len(paths) != len(class_columns):
        raise ValueError(
            f"--table is given {len(paths)} times, --class {len(class_columns)} times. "
            "Pass one --class for each --table."
        )
    if paths and not any(experiment.own_case for experiment in wanted):
        raise ValueError(
            f"table={str(paths[0])!r} joins table-real, which is not among the experiments. "
            "Pass table-real or all."
        )
    return [
        own_table(path.name, *read_labelled(str(path), column, name="table"))
        for path, column in zip(paths, class_columns, strict=True)
    ]


@app.command("report")
def report_experiments(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    size: Annotated[str, typer.Option(help="small or full.")] = "full",
    out: Annotated[Path, typer.Option(help="Folder to write the report to.")] = Path("report"),
) -> None:
    """Write the report: figures, tables, published beside found, each claim judged."""
    from softmodes._paper.results import read_folder

    with plain_errors():
        records = read_folder(results, _size(size))
        if not records:
            raise ValueError(
                f"{results} holds no results of size {size}. "
                f"Run first: softmodes paper run all --size {size} --out {results}"
            )
        from softmodes._paper.report import write_report

        for path in write_report(records, out, _size(size)):
            print(harmless(str(path)))


def _size(size: str) -> Size:
    from softmodes._paper import SIZES
    from softmodes._parameters import choice

    return cast("Size", choice("size", size, SIZES))
