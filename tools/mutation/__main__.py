"""The command: `python -m tools.mutation --mutants 500 --seed 0 --jobs 2`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.context import ForkServerContext
from pathlib import Path

from tools.mutation import child
from tools.mutation.mutants import FLOORS, ROOT, Mutant, draw
from tools.mutation.processes import ask, start_server
from tools.mutation.report import KILLED, SURVIVED, TIMEOUT, Outcome, killed_share, write
from tools.mutation.seen import Seen, look

_ENOUGH_FOUND = 0.85
_PATIENCE = 10.0  # a test may take so many times as long as it did, and as many seconds more
_TOO_LATE = (signal.SIGALRM, signal.SIGPROF)


def main(arguments: list[str] | None = None) -> int:
    """Draw mutants, let them meet the tests, write a report; return 1 if too few were found."""
    asked = _parse(arguments)
    clock = _Clock()
    folder = Path(asked.folder)
    context = start_server()
    clock.say("looking which tests run which lines")
    seen = look(context, folder / "seen", asked.jobs, clock.say)
    clock.say(f"{len(seen.seconds)} tests. Drawing {asked.mutants} mutants with seed {asked.seed}")
    mutants = draw(asked.mutants, asked.seed, asked.floors)
    clock.say("letting them meet the tests")

    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        for outcome in pool.map(partial(_meet, context, seen, asked.seconds), mutants):
            outcomes.append(outcome)
            if outcome.result != KILLED or len(outcomes) % 20 == 0:
                clock.say(f"{len(outcomes)}: {outcome.result} {outcome.place}", *outcome.diff)
    head = {"seed": asked.seed, "minutes": round(clock.seconds() / 60), "jobs": asked.jobs}
    path = write(folder, head, outcomes)
    share = killed_share(outcomes)
    clock.say(f"{share:.1%} of {len(outcomes)} mutants found. The survivors are in {path}")
    return 0 if share >= _ENOUGH_FOUND else 1


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=500, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other mutants")
    parser.add_argument("--floors", nargs="+", choices=FLOORS, default=FLOORS, help="where")
    parser.add_argument("--jobs", type=int, default=2, help="mutants met at a time")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests that a mutant meets")
    parser.add_argument("--folder", default=str(ROOT / "build" / "mutation"), help="for the report")
    return parser.parse_args(arguments)


def _meet(context: ForkServerContext, seen: Seen, seconds: float, mutant: Mutant) -> Outcome:
    start = time.monotonic()
    tests = seen.choose(mutant, seconds)
    result, test = SURVIVED, ""
    if tests:
        limits = {name: _PATIENCE + _PATIENCE * usual for name, usual in tests.items()}
        result, test = _result(
            *ask(context, child.meet, mutant.module, str(mutant.path), mutant.source, limits)
        )
    return Outcome(
        floor=mutant.floor,
        path=str(mutant.path.relative_to(ROOT)),
        line=mutant.line,
        diff=mutant.diff(),
        result=result,
        test=test,
        n_tests=len(tests),
        seconds=round(time.monotonic() - start, 1),
    )


def _result(reported: tuple[int, str] | None, exit_code: int) -> tuple[str, str]:
    """Tell what became of a mutant, and which test found it."""
    if reported is None:
        return (TIMEOUT if -exit_code in _TOO_LATE else KILLED), f"exit code {exit_code}"
    pytest_code, failed = reported
    return (SURVIVED, "") if pytest_code == 0 else (KILLED, failed or f"pytest: {pytest_code}")


class _Clock:
    """Says what is being done, and after how many seconds."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._start

    def say(self, *lines: str) -> None:
        """Print lines, the first with the time."""
        head, *rest = lines
        print("\n".join([f"[{self.seconds():4.0f} s] {head}", *rest]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
