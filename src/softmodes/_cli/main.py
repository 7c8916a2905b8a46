"""The `softmodes` command: parses and prints, computes nothing.

What a command needs is imported when it runs, so that help is there at once.
"""

from __future__ import annotations

try:
    import rich  # noqa: F401
    import typer
except ImportError as error:
    raise SystemExit(
        f'The softmodes command needs {error.name}. Install it with: pip install "softmodes[cli]"'
    ) from None

from softmodes._cli import paper
from softmodes._cli.compare import compare
from softmodes._cli.fit import fit

app = typer.Typer(
    help="Cluster categorical data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(fit)
app.command()(compare)
app.add_typer(paper.app, name="paper")


def main() -> None:
    """Run the command line."""
    app(prog_name="softmodes")
