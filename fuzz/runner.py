"""Cases in child processes: one that crashes, hangs or eats memory is told by its number."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import random
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeAlias

MODULES = {"tables": "fuzz.tables", "models": "fuzz.models", "csv": "fuzz.csv_files"}
MOST_SECONDS = 60.0  # without an answer; also to begin
MOST_MEMORY = 4 << 30
MOST_GROWTH = 256 << 20  # of the memory in use, by one case
_NOT_BEGUN = -1
_STATUS = Path("/proc/self/status")

Check: TypeAlias = Callable[[random.Random], None]
Show: TypeAlias = Callable[[str, int, int, int], None]


class Wrong(AssertionError):  # noqa: N818 (it reads as what it says: an answer is wrong)
    """An answer differs from the reference."""


@dataclass(frozen=True)
class Failure:
    """What one case found."""

    kind: str
    case: int
    text: str


def require(condition: Any, text: str) -> None:
    """Fail the case unless the condition holds."""
    if not condition:
        raise Wrong(text)


def randomness(seed: int, kind: str, case: int) -> random.Random:
    """Return the random numbers of a case."""
    return random.Random(f"{seed} {kind} {case}")


@contextmanager
def checker(module: str) -> Iterator[Check]:
    """Import what a kind of case needs; give it a folder of its own."""
    prepare = importlib.import_module(module).prepare
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield prepare(Path(folder))


def problem(check: Check, seed: int, kind: str, case: int) -> str | None:
    """Run one case; return what is wrong."""
    before = _most_memory()
    try:
        check(randomness(seed, kind, case))
    except Wrong as wrong:
        return str(wrong)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.name}"
        return f"{type(error).__name__} in {place}: {str(error)[:300]}"
    grown = _most_memory() - before
    return f"took {grown >> 20} MB" if grown > MOST_GROWTH else None


def _most_memory() -> int:
    """Return the peak of this process in bytes; what getrusage tells counts its parent's too."""
    if _STATUS.exists():
        lines = _STATUS.read_bytes().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# ----------------------------------------------------------------------------------- children


def _work(module: str, kind: str, seed: int, cases: range, now: Any, failures: Connection) -> None:
    """Run cases in a child; `now` tells which one, for the case that it is the last."""
    os.environ.update({"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"})
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops its children
    with checker(module) as check:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        for case in cases:
            now.value = case
            text = problem(check, seed, kind, case)
            if text is not None:
                failures.send(Failure(kind, case, text))
    now.value = cases.stop


class _Child:
    """A process for some of the cases, started anew behind a case that it did not survive."""

    def __init__(self, kind: str, seed: int, cases: range) -> None:
        self.kind, self.seed, self.cases = kind, seed, cases
        self._context = multiprocessing.get_context("spawn")
        self._start(cases)

    def _start(self, cases: range) -> None:
        self._now = self._context.Value("q", _NOT_BEGUN, lock=False)
        self.failures, theirs = self._context.Pipe(duplex=False)
        self._left = cases
        args = (MODULES[self.kind], self.kind, self.seed, cases, self._now, theirs)
        self._process = self._context.Process(target=_work, args=args, daemon=True)
        self._process.start()
        theirs.close()
        self._seen, self._since = _NOT_BEGUN, time.monotonic()

    @property
    def done(self) -> int:
        """Number of cases behind it."""
        at = self._left.start if self._now.value == _NOT_BEGUN else self._now.value
        return len(range(self.cases.start, at, self.cases.step))

    def received(self) -> list[Failure]:
        """Return what has arrived."""
        found = []
        try:
            while self.failures.poll():
                found.append(self.failures.recv())
        except EOFError:
            pass
        return found

    def watch(self) -> tuple[bool, list[Failure]]:
        """Return whether cases are left, and new failures; go on behind a crash or a hang."""
        over = not self._process.is_alive()
        found = self.received()
        if not over and self._hangs():
            self._process.kill()
            self._process.join()
            return self._go_on(found, f"no answer within {MOST_SECONDS:g} s")
        if not over:
            return True, found
        self._process.join()
        if self._process.exitcode == 0:
            return False, found
        return self._go_on(found, f"the process ended with {_ending(self._process.exitcode)}")

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()

    def _hangs(self) -> bool:
        if self._now.value != self._seen:
            self._seen, self._since = self._now.value, time.monotonic()
        return time.monotonic() - self._since > MOST_SECONDS

    def _go_on(self, found: list[Failure], text: str) -> tuple[bool, list[Failure]]:
        case = self._now.value
        if case == _NOT_BEGUN:
            raise RuntimeError(f"The cases of {self.kind} cannot begin: {text}.")
        found.append(Failure(self.kind, case, text))
        rest = range(case + self.cases.step, self._left.stop, self.cases.step)
        if rest:
            self._start(rest)
        return bool(rest), found


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {-code} ({signal.Signals(-code).name})"
    return f"exit code {code}"


def run(kind: str, cases: int, seed: int = 0, jobs: int = 1, show: Show | None = None) -> list[Any]:
    """Run cases 0, 1, ... of a kind in `jobs` processes; return the failures, by case."""
    children = [_Child(kind, seed, range(i, cases, jobs)) for i in range(min(jobs, cases))]
    busy, found = list(children), []
    try:
        while busy:
            wait([child.failures for child in busy], timeout=0.5)
            for child in list(busy):
                more, failures = child.watch()
                found += failures
                if not more:
                    busy.remove(child)
            if show is not None:
                show(kind, sum(child.done for child in children), cases, len(found))
    finally:
        for child in children:
            child.stop()
    return sorted(found, key=lambda failure: failure.case)
