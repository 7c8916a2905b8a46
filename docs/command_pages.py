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

- Text goes to standard output; progress (after two seconds) and errors go to standard error. `-` is
  standard input or output; where a file goes to standard output, text goes to standard error.
  `--json` prints the outcome for programs, `--quiet` the outcome alone.
- Exit codes: 0 fine, 1 something that you can mend, 2 a wrong option, 3 drift above the limit
  ([errors](errors.md)).
- Files are written whole or not at all, never over an input, over another file only with `--force`.
  Links are followed, modes kept, devices and pipes written to as they are.
- Values from data are shown without what a terminal would act on. In `.csv` and `.tsv` files a text
  that a spreadsheet would run (it begins with =, +, -, @, a tab or a line break) gets a `'` in
  front; numbers such as -5 stay numbers. `.parquet` files hold values as they are.
- Same seed (`--seed 0` by default), same answer. `softmodes.Prepare`, `sweep`, `SoftModes` and
  `report` do the same in Python.
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
