"""What a command is doing, told on standard error once that has taken two seconds."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any, Self

from softmodes._text import harmless

PATIENCE = 2.0  # seconds


class Waiting:
    """Says what is being done to whoever waits for it.

    On a terminal a line that changes and goes away, elsewhere a line for each thing that is done.
    Nothing within two seconds, and nothing where the user wants it quiet.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet, self._what = quiet, ""
        self._lock = threading.Lock()
        self._shown: Any = None  # a line that changes
        self._telling = False
        self._timer = threading.Timer(PATIENCE, self._begin)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if not self._quiet:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._telling, self._quiet = False, True
            if self._shown is not None:
                self._shown.stop()

    def say(self, what: str) -> None:
        """Say what is being done from now on."""
        with self._lock:
            self._what = harmless(what)
            if self._telling:
                self._tell()

    def _begin(self) -> None:
        with self._lock:
            if not self._quiet:
                self._telling = True
                self._tell()

    def _tell(self) -> None:
        if not self._what:
            return
        if not sys.stderr.isatty():
            print(f"{self._what} ...", file=sys.stderr, flush=True)
            return
        from rich.console import Console
        from rich.markup import escape
        from rich.status import Status

        if self._shown is None:
            self._shown = Status(escape(self._what), console=Console(stderr=True))
            self._shown.start()
        else:
            self._shown.update(escape(self._what))
