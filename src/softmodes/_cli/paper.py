"""`softmodes paper`: lists, runs and reports the experiments.

They are imported when one of these commands runs: other commands do not wait for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from softmodes._cli.errors import plain_errors
from softmodes._text import harmless

if TYPE_CHECKING:
    from softmodes._paper import Size

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
    jobs: Annotated[int, typer.Option(help="Processes; a single one already uses all cores.")] = 1,
    plugin: Annotated[
        list[str] | None,
        typer.Option(help="A .py file or module whose registered methods join the experiments."),
    ] = None,
) -> None:
    """Run experiments into a results file. Stop it at any time: run again to resume."""
    from softmodes._cli.progress import shown_progress
    from softmodes._paper import chosen
    from softmodes._paper.results import ResultsFile
    from softmodes._paper.runner import pending, run
    from softmodes.baselines._plugins import load_methods

    with plain_errors():
        wanted, checked = chosen(experiments), _size(size)
        methods = load_methods(plugin or [])
        with ResultsFile(out / f"{checked}.jsonl") as results:
            cells = pending(wanted, checked, results.done, methods)
            with shown_progress(cells) as show:
                run(cells, results, jobs=jobs, plugins=plugin or [], on_cell=show)
            path = harmless(str(results.path))
            print(f"{len(cells):,} cells run, {len(results.done):,} in {path}")


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
