"""Which tests run which lines, measured once and kept until a file changes."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext
from pathlib import Path

from tools.mutation import child
from tools.mutation.mutants import FLOORS, LEFT_OUT, ROOT, SOURCE, Mutant
from tools.mutation.processes import ask

_ALL_ANSWERS = "tests/estimators/test_golden.py"  # as good as tests of the floor
_OTHER_FLOOR = 3.0  # a test of another floor must be so much faster to come first
_SHARED_BY_TESTS = ("conftest.py", "reference.py", "support.py")


@dataclass(frozen=True)
class Seen:
    """The seconds of CPU of tests that pass, and by file and line the tests that run it."""

    seconds: dict[str, float]
    tests: dict[Path, dict[int, set[str]]]

    def choose(self, mutant: Mutant, most_seconds: float) -> dict[str, float]:
        """Return the tests that a mutant meets, in order, and their seconds.

        They are those that run its statement; if none does, its function's or its file's. Fast
        ones and those of the same floor come first, and few seconds of them are enough.
        """
        chosen: dict[str, float] = {}
        total = 0.0
        for test in sorted(
            self._that_run(mutant), key=lambda test: (self._effort(mutant, test), test)
        ):
            total += self.seconds[test]
            if chosen and total > most_seconds:
                break
            chosen[test] = self.seconds[test]
        return chosen

    def _that_run(self, mutant: Mutant) -> set[str]:
        lines = self.tests.get(mutant.path, {})
        for first, last in mutant.spans:
            found = set().union(*(lines.get(line, ()) for line in range(first, last + 1)))
            if found:
                return found
        return set()

    def _effort(self, mutant: Mutant, test: str) -> float:
        near = test.startswith((f"tests/{mutant.floor.removeprefix('_')}/", _ALL_ANSWERS))
        return self.seconds[test] * (1.0 if near else _OTHER_FLOOR)


def look(context: ForkServerContext, folder: Path, jobs: int, say: Callable[[str], None]) -> Seen:
    """Measure every file of tests that was not measured before as it is now."""
    folder.mkdir(parents=True, exist_ok=True)
    state = _digest([*sorted(SOURCE.rglob("*.py")), *_shared_files()])
    floors = [
        str(SOURCE / floor / "*") if not floor.endswith(".py") else str(SOURCE / floor)
        for floor in FLOORS
    ]

    def look_at(file: Path) -> Path:
        name = str(file.relative_to(ROOT))
        kept = folder / f"{name.replace('/', '.')}.{_digest([file])}.{state}.json"
        if not kept.exists():
            reported, code = ask(context, child.measure, name, floors)
            if reported is None:
                raise RuntimeError(f"{name} ended with {code} on the unchanged package.")
            kept.write_text(json.dumps(reported), "utf-8")
            say(f"{name}: {len(reported[0])} tests in {sum(reported[0].values()):.0f} s")
        return kept

    with ThreadPoolExecutor(jobs) as pool:
        return _merged(pool.map(look_at, _test_files()))


def _merged(kept: Iterable[Path]) -> Seen:
    seen = Seen({}, defaultdict(lambda: defaultdict(set)))
    for path in kept:
        seconds, by_file = json.loads(path.read_text("utf-8"))
        useful = {test: s for test, s in seconds.items() if not _depends_on_the_clock(test)}
        seen.seconds.update(useful)
        for source, by_line in by_file.items():
            for line, tests in by_line.items():
                seen.tests[Path(source)][int(line)].update(t for t in tests if t in useful)
    return seen


def _depends_on_the_clock(test: str) -> bool:
    return any(part in test for part in LEFT_OUT["slow"])


def _test_files() -> list[Path]:
    """Return the files of tests that mutants meet, the longest first, as they take longest."""
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if not _is_left_out(path)]
    return sorted(files, key=lambda path: (-path.stat().st_size, path))


def _is_left_out(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / place) for place in LEFT_OUT["tests"])


def _shared_files() -> list[Path]:
    return [ROOT / "tests" / name for name in _SHARED_BY_TESTS]


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
