"""The reference of the command line, from its own help."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

os.environ |= {"COLUMNS": "96", "TERM": "dumb", "NO_COLOR": "1"}

import typer
from typer.testing import CliRunner

from softmodes._cli.main import app

_HEAD = """# Command line

Every command tells what it takes with `--help`; this page shows what they say.
"""


def write(path: Path) -> None:
    """Write the help of every command as one page."""
    sections = [f"## {' '.join(words)}\n\n```text\n{text}\n```\n" for words, text in _helps()]
    path.write_text("\n".join([_HEAD, *sections]), "utf-8")


def _helps() -> Iterator[tuple[list[str], str]]:
    for words in _commands(typer.main.get_command(app), []):
        shown = CliRunner().invoke(app, [*words, "--help"], prog_name="softmodes").output
        lines = (line.rstrip() for line in shown.strip().splitlines())
        yield ["softmodes", *words], "\n".join(lines)


def _commands(command: object, words: list[str]) -> Iterator[list[str]]:
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, [*words, name])
