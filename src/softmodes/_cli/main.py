"""The `softmodes` command: parses and prints, computes nothing.

What a command needs is imported when it runs, so that help is there at once.
"""

from __future__ import annotations

from typing import Annotated

try:
    import rich  # noqa: F401
    import typer
except ImportError as error:
    raise SystemExit(
        f'The softmodes command needs {error.name}. Install it with: pip install "softmodes[cli]"'
    ) from None

from softmodes._cli import generate, paper
from softmodes._cli.compare import compare
from softmodes._cli.fit import fit
from softmodes._cli.info import info
from softmodes._cli.look import look
from softmodes._cli.name import name
from softmodes._cli.predict import predict
from softmodes._cli.report import report
from softmodes._cli.sweep import sweep

app = typer.Typer(
    help="Find groups in tables of answers: surveys, records, logs.",
    epilog="Begin with: softmodes fit FILE",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for _command in (look, sweep, fit, predict, report, name, compare):
    app.command()(_command)
app.add_typer(generate.app, name="generate")
app.command()(info)
app.add_typer(paper.app, name="paper")


def _show_version(asked: bool) -> None:
    if asked:
        from softmodes import __version__

        print(f"softmodes {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    pass  # what all commands share, they take themselves


def main() -> None:
    """Run the command line."""
    app(prog_name="softmodes")
