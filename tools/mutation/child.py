"""What runs in a forked process: some tests, on the package as it is or with one file changed.

The server that is forked has imported what tests need (`warm`), but nothing of softmodes. A change
is put under the module's name by an import hook, so that nothing on disk is touched.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing.connection import Connection
from types import CodeType
from typing import Any

_MOST_MEMORY = 12 << 30
_ARGUMENTS = (
    *("-q", "--tb=native", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # some of its plugins are warm already
)
_SECONDS_TO_COLLECT = 30.0
_MOST_WAITING = 30.0  # a process may wait so many times as long as it may work
_WARM = (
    *("coverage", "hypothesis", "hypothesis.extra.numpy", "matplotlib", "narwhals", "numpy"),
    *("pandas", "polars", "pyarrow", "pyarrow.compute", "pytest", "rich", "scipy.sparse"),
    *("scipy.stats", "sklearn.cluster", "sklearn.utils.estimator_checks", "typer"),
)


def warm() -> None:
    """Import what tests need, once for all children."""
    for name in _WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def meet(report: Connection, module: str, path: str, source: str, limits: dict[str, float]) -> None:
    """Run tests, in the order and within the seconds given, on the package with a file changed."""
    sys.meta_path.insert(0, _ChangedModule(module, path, source))
    chosen = _ChosenTests(limits)
    code = _run_pytest(["-x", *_files(limits)], chosen)
    report.send((int(code), chosen.failed))


def measure(report: Connection, file: str, floors: Sequence[str]) -> None:
    """Run the tests of a file; send their seconds of CPU, and the lines of floors that they run."""
    import coverage

    measured = coverage.Coverage(data_file=None, include=list(floors), config_file=False)
    measured.set_option("run:disable_warnings", ["no-data-collected"])
    timed = _TimedTests(measured)
    measured.start()
    _run_pytest([file], timed)
    measured.stop()
    data = measured.get_data()
    lines = {
        path: {
            line: [t for t in tests if t] for line, tests in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    report.send((timed.seconds, lines))


def _run_pytest(asked: Sequence[str], plugin: object) -> int:
    import hypothesis
    import pytest

    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    sys.dont_write_bytecode = True
    hypothesis.settings.register_profile(
        "mutation",
        max_examples=25,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),  # one failure is enough
    )
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # pytest's own report
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*_ARGUMENTS, f"--basetemp={folder}/tests", *asked]
        _end_after(_SECONDS_TO_COLLECT)
        return pytest.main(arguments, plugins=[plugin])


def _end_after(seconds: float) -> None:
    """End this process after so many seconds of CPU, or of waiting in vain; 0 takes it back."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, _MOST_WAITING * seconds)


def _files(tests: Sequence[str] | dict[str, float]) -> list[str]:
    return sorted({test.split("::")[0] for test in tests})


class _ChosenTests:
    """A plugin for pytest: these tests in this order, each ended by a signal when late."""

    def __init__(self, limits: dict[str, float]) -> None:
        self._limits = limits
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        found = {item.nodeid: item for item in items}
        items[:] = [found[test] for test in self._limits if test in found]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        _end_after(self._limits[nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed = report.nodeid


class _TimedTests:
    """A plugin for pytest: the seconds of CPU of each test, and which lines are its own."""

    def __init__(self, measured: Any) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = {}

    def pytest_collection_finish(self) -> None:
        _end_after(0.0)

    def pytest_runtest_protocol(self, item: Any) -> None:
        self._start = time.process_time()
        self._measured.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = time.process_time() - self._start

    def pytest_runtest_logfinish(self) -> None:
        self._measured.switch_context("")


class _ChangedModule(SourceFileLoader):
    """Finds and loads one module, from a source other than its file's."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how to load the module; None for all others."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        """Compile the changed source."""
        return compile(self._source, self.path, "exec", dont_inherit=True)
