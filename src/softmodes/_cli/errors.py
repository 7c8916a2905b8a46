"""What a user can mend, said in one line; and how a command ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from softmodes._text import harmless

MENDABLE, DRIFTED = 1, 3  # exit codes; 0 is fine, 2 a wrong option


@contextmanager
def plain_errors(*more: type[Exception], debug: bool = False) -> Iterator[None]:
    """Print what a user can mend as one line, without a traceback."""
    mistakes: tuple[type[Exception], ...] = (ValueError, ImportError, OSError, MemoryError, *more)
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads any more: the command ends as others do, without a word
    except mistakes as error:
        if debug:
            raise
        text = str(error) or "Memory is not enough. Pass a smaller table, or fewer clusters."
        typer.secho(harmless(f"Error: {text}"), err=True, fg="red")
        raise typer.Exit(MENDABLE) from None
