"""Children that run tests, forked from a server that has imported what they need."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from typing import Any


def start_server() -> ForkServerContext:
    """Return the context whose processes are forked from a warm server."""
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tools.mutation.server"])
    return context


def ask(context: ForkServerContext, task: Callable[..., None], *arguments: Any) -> tuple[Any, int]:
    """Return what a task reported (None if it ended before), and its exit code."""
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=task, args=(sender, *arguments))
    process.start()
    sender.close()
    try:
        reported = receiver.recv()
    except EOFError:
        reported = None
    process.join()
    assert process.exitcode is not None
    return reported, process.exitcode
