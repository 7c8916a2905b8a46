"""Columns out: a frame of the library that a table came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import narwhals as nw

T = TypeVar("T")


def in_library(backend: str | None, make: Callable[[Any], T]) -> T:
    """Make something in a library: the given one, else pandas, else pyarrow if none is there."""
    for name in (backend, "pandas", "pyarrow"):
        try:
            if name is not None:
                return make(name)
        except ImportError:
            continue
    raise AssertionError("pyarrow is a dependency")


def frame_of(columns: dict[str, Any], backend: str | None) -> Any:
    """Return columns of one type each as a frame of a library, or of one that is there."""
    return in_library(backend, lambda name: nw.from_dict(columns, backend=name).to_native())
