"""Checks of what a model file holds: the parts that are read are what `save` writes, or none."""

from __future__ import annotations

import math
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Layout
from softmodes._rows.counts import Counts

T = TypeVar("T")


def require(condition: bool, what: str) -> None:
    """Raise ValueError unless a part of the file is as it must be."""
    if not condition:
        raise ValueError(f"something is wrong with {what}")


def exact(document: dict[str, Any], name: str, kind: type[T]) -> T:
    """Return a field of exactly this type."""
    value = document[name]
    require(type(value) is kind, name)
    return value  # type: ignore[no-any-return]


def typed(
    arrays: dict[str, NDArray[Any]], name: str, dtype: type[np.generic], ndim: int
) -> NDArray[Any]:
    """Return an array of exactly this type and number of dimensions."""
    array = arrays[name]
    require(array.dtype == dtype and array.ndim == ndim, f"the array {name}")
    return np.ascontiguousarray(array)


def counts_of(
    document: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    layout: Layout,
    n_values: NDArray[np.int32],
) -> Counts:
    """Return counts that fit the layout; each of its arrays has the type that was written."""
    require(document["wide"] == list(layout.sparse_features), "the sparse features")
    parts = {"cells": typed(arrays, "cells", np.int64, 2)}
    for name in arrays:
        if name.startswith("wide_"):
            dtype = np.int32 if name.endswith("_codes") else np.int64
            parts[name] = typed(arrays, name, dtype, 1)
    return Counts.from_arrays(layout, n_values, parts)


def is_number(value: Any) -> TypeGuard[float]:
    """Tell whether a field is a finite number."""
    return type(value) in (int, float) and math.isfinite(value)
