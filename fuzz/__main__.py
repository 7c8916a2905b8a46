"""The command: `python -m fuzz --cases 100000 --jobs 2`."""

from __future__ import annotations

import argparse
import re
import resource
import sys
import time

from fuzz import runner

_EXAMPLES = 6


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; return 1 if anything failed."""
    asked = _parse(arguments)
    kinds = [asked.only] if asked.only else list(runner.MODULES)
    if asked.case is not None:
        return _run_one(kinds, asked.seed, asked.case)
    failures = [failure for kind in kinds for failure in _run(kind, asked)]
    return 1 if failures else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Look for wrong answers.")
    parser.add_argument("--cases", type=int, default=1000, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other cases")
    parser.add_argument("--only", choices=list(runner.MODULES), help="a single kind of case")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--case", type=int, help="run this one case alone, in this process")
    return parser.parse_args(arguments)


def _run_one(kinds: list[str], seed: int, case: int) -> int:
    """Run one case in this very process, where a debugger can follow."""
    failed = False
    for kind in kinds:
        with runner.checker(runner.MODULES[kind]) as check:
            text = runner.problem(check, seed, kind, case)
        print(f"{kind} case {case}: {text or 'right'}")
        failed |= text is not None
    return 1 if failed else 0


def _run(kind: str, asked: argparse.Namespace) -> list[runner.Failure]:
    progress = _Progress()
    failures = runner.run(kind, asked.cases, asked.seed, asked.jobs, progress.show)
    progress.end()
    seconds = time.monotonic() - progress.start
    print(
        f"{kind}: {asked.cases:,} cases in {seconds:.0f} s ({progress.cpu_seconds():.0f} s of "
        f"CPU), {len(failures):,} failures"
    )
    for line in summary(failures):
        print(line)
    return failures


def summary(failures: list[runner.Failure]) -> list[str]:
    """Return a line for each sort of failure, the most frequent first, with some case numbers."""
    sorts: dict[str, list[runner.Failure]] = {}
    for failure in failures:
        sorts.setdefault(_sort(failure.text), []).append(failure)
    lines = []
    for alike in sorted(sorts.values(), key=len, reverse=True):
        numbers = ", ".join(str(failure.case) for failure in alike[:_EXAMPLES])
        more = ", ..." if len(alike) > _EXAMPLES else ""
        lines.append(f"  {len(alike)} x {alike[0].text[:400]}\n      cases {numbers}{more}")
    return lines


def _sort(text: str) -> str:
    """Return a text without what differs from case to case."""
    return re.sub(r"/\S+|0x\w+|'[^']*'|\"[^\"]*\"|\d+", "#", text)[:60]


class _Progress:
    """One line that is written over; where there is no terminal, a line every half minute."""

    def __init__(self) -> None:
        self.start = self._last = time.monotonic()
        self._live = sys.stderr.isatty()
        self._cpu = _cpu_seconds()

    def show(self, kind: str, done: int, cases: int, failures: int) -> None:
        """Tell how far it is."""
        now = time.monotonic()
        if now - self._last < (0.5 if self._live else 30):
            return
        self._last = now
        rate = done / max(1e-9, now - self.start)
        text = f"{kind}: {done:,} of {cases:,}, {rate:.0f} a second, {failures:,} failures"
        print(
            f"\r{text}   " if self._live else text, end="" if self._live else "\n", file=sys.stderr
        )
        sys.stderr.flush()

    def cpu_seconds(self) -> float:
        """Return what the processes of the cases have used, once they are over."""
        return _cpu_seconds() - self._cpu

    def end(self) -> None:
        """Leave the line."""
        if self._live:
            print(file=sys.stderr)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
