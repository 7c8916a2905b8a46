"""Tasks done by a function, one after the other, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def finished(
    tasks: Sequence[Task],
    work: Callable[[Task, int | None], Result],
    jobs: int,
    *,
    threads: int | None = None,
    prepare: Callable[..., object] | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[tuple[Task, Result]]:
    """Yield each task with what `work(task, threads)` returns, as soon as it is done.

    One job is this process, where numerical libraries are left alone. Several are processes of
    their own, ready after `prepare(*given)`, with `threads` threads each, or their share of the
    cores. Functions and tasks must then be picklable.
    """
    if jobs < 1:
        raise ValueError(f"jobs={jobs} is not a number of processes. Pass 1 or more.")
    if jobs == 1 or not tasks:
        return ((task, work(task, threads)) for task in tasks)
    limit = threads or max(1, (os.cpu_count() or 1) // jobs)
    return _elsewhere(tasks, work, jobs, limit, prepare, given)


def _elsewhere(
    tasks: Sequence[Task],
    work: Callable[[Task, int | None], Result],
    jobs: int,
    threads: int,
    prepare: Callable[..., object] | None,
    given: tuple[Any, ...],
) -> Iterator[tuple[Task, Result]]:
    pool = ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(list(sys.path), prepare, given),
    )
    try:
        with _limited_threads(threads):
            running: dict[Future[Result], Task] = {
                pool.submit(work, task, threads): task for task in tasks
            }
        for done in as_completed(running):
            yield running[done], done.result()
    finally:
        pool.shutdown(cancel_futures=True)


class _limited_threads:  # noqa: N801  (a context manager, used like a function)
    """Set the limits of numerical libraries for processes that start within."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __enter__(self) -> None:
        self.before = {name: os.environ.get(name) for name in _THREAD_LIMITS}
        os.environ.update(dict.fromkeys(_THREAD_LIMITS, str(self.threads)))

    def __exit__(self, *error: object) -> None:
        for name, value in self.before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start_worker(
    path: list[str], prepare: Callable[..., object] | None, given: tuple[Any, ...]
) -> None:
    sys.path[:] = path
    threading.Thread(target=_die_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*given)


def _die_with_parent() -> None:
    """End this process when the one that writes the results is gone, however it died."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
