"""What cluster engines share: partitions -> one codebook and unit, a place for each -> a store."""

from __future__ import annotations

import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from softmodes._rows.block import Block, Layout, layout_of
from softmodes._rows.centers import largest_distance
from softmodes._rows.parts import (
    CodedPart,
    Outline,
    Place,
    code_part,
    merged_weights,
    packed_new,
    packed_part,
    places_of,
)
from softmodes._rows.stores.base import RowStore
from softmodes._rows.stores.open import Opened
from softmodes._rows.weights import RowUnit, Units, check_costs, feature_units
from softmodes._table.codebook import Codebook, Missing
from softmodes._table.read import check_columns, read, require_rows
from softmodes._table.unseen import Unseen

T = TypeVar("T")
Task: TypeAlias = Callable[[Block, int], T]


@dataclass(frozen=True, eq=False)
class Packing:
    """How all partitions are packed; `is_new` if the codebook is that of other rows."""

    codebook: Codebook
    unit: RowUnit | None = None
    is_new: bool = False

    @property
    def layout(self) -> Layout:
        """Where each feature lies."""
        codebook = self.codebook
        return layout_of(codebook.unseen_ranges if self.is_new else codebook.fit_ranges)

    @property
    def nothing(self) -> Block:
        """A block of no rows."""
        return Block(self.layout, np.zeros((0, self.layout.stride), np.uint8))

    def block(self, part: CodedPart, first_row: int = 0, index: int = 0) -> Block:
        """Pack a partition; if values of it are unseen, the warning comes where that is done."""
        if not self.is_new:
            return packed_part(part, self.codebook, first_row, index, self.unit)
        block, unseen = packed_new(part, self.codebook, first_row, index, self.unit)
        if unseen:
            warnings.warn(str(unseen), UserWarning, stacklevel=2)
        return block

    def block_at(self, part: CodedPart, place: Place) -> Block:
        """Pack a partition that has been told of, unless it has changed since then."""
        part.check_place(place, "Partition")
        return self.block(part, place.first_row, place.index)


class ClusterStore(RowStore):
    """Blocks on a cluster, one for each partition that has rows."""

    part_rows: list[int]  # the rows of each partition
    nothing: Block

    def settle(self, packing: Packing, part_rows: list[int], n_threads: int) -> None:
        """Take down what is known of all rows."""
        self.part_rows = part_rows
        self.nothing = packing.nothing
        self.layout = self.nothing.layout
        self.n_values = packing.codebook.n_values
        self.n_rows = sum(part_rows)
        self.n_weighed, self.total_weight = self.sum(_weighed).tolist()
        self.weights_repeat = packing.unit is None or packing.unit.repeats
        self.n_threads = n_threads


class Alone:
    """In the place of a client where there is none: whatever is asked for is done here, at once."""

    def __init__(self, compute: Callable[..., Sequence[Any]]) -> None:
        self._compute = compute

    def compute(self, lazy: Sequence[Any]) -> list[Any]:
        """Compute what is lazy."""
        return list(self._compute(*lazy))

    def map(self, function: Callable[..., T], *given: Sequence[Any], pure: bool) -> list[T]:
        """Call a function for one of each after the other."""
        return list(map(function, *given))

    def submit(self, function: Callable[..., T], *given: Any, pure: bool) -> T:
        """Call a function."""
        return function(*given)

    def gather(self, found: T) -> T:
        """Return what has been found."""
        return found


class Partitions(ABC):
    """A table on a cluster, in partitions of a fixed order, maybe with weights.

    Row i of the table is row i in the order of partitions, and of rows within these.
    """

    empty: Any  # a table of its columns, without rows
    has_weights: bool

    @abstractmethod
    def code(self, missing: Missing) -> list[Outline]:
        """Code each partition by its own values, where it is, and tell of each in order."""

    @abstractmethod
    def codebook(self) -> Codebook:
        """Return the codebook of all coded partitions, merged where they are."""

    @abstractmethod
    def store(self, packing: Packing, places: list[Place]) -> ClusterStore:
        """Pack the coded partitions that have rows, where they are."""

    @abstractmethod
    def lazy_by_row(self, packing: Packing, task: Task[NDArray[Any]], name: str = "found") -> Any:
        """Return what a task returns for every row, computed when it is asked for."""


class NewRows(RowStore):
    """Rows that are coded by the codebook of a fit when something of them is asked for.

    What is asked of every row comes lazily; for anything else the rows are packed, and kept.
    """

    def __init__(self, table: Partitions, codebook: Codebook, n_threads: int) -> None:
        self._table = table
        self._packing = Packing(codebook, is_new=True)
        self.layout = self._packing.layout
        self.n_values = codebook.n_values
        self.weights_repeat = True
        self.n_threads = n_threads

    def map(self, task: Task[T]) -> list[T]:
        """Run a task on every block."""
        return self._kept.map(task)

    def sum(self, task: Task[T]) -> T:
        """Run a task on every block, and add what it returns."""
        return self._kept.sum(task)

    def by_row(self, task: Task[NDArray[Any]], name: str = "found") -> Any:
        """Return what a task returns for every row, lazily."""
        return self._table.lazy_by_row(self._packing, task, name)

    @cached_property
    def _kept(self) -> ClusterStore:
        outlines = self._table.code(self._packing.codebook.missing)
        return _store(self._table, outlines, self._packing, self.n_threads)

    def __getattr__(self, name: str) -> Any:
        if name in ("n_rows", "n_weighed", "total_weight"):
            return getattr(self._kept, name)
        raise AttributeError(name)


def open_partitions(
    table: Partitions,
    *,
    codebook: Codebook | None,
    missing: Missing,
    feature_weight: Any,
    n_threads: int,
    expecting: str,
) -> Opened:
    """Do as `open_store` for a table on a cluster."""
    is_new = codebook is not None
    if codebook is not None:
        check_columns(read(table.empty), codebook.names, codebook.n_features, expecting)
        missing = codebook.missing
        if not table.has_weights:
            new = NewRows(table, codebook, n_threads)
            return Opened(
                new,
                codebook,
                Unseen(),
                Units(None, 1.0),
                feature_weight,
                elsewhere=True,
                on_cluster=True,
            )
    outlines = table.code(missing)
    codebook = codebook or table.codebook()
    features = feature_weight
    if not isinstance(features, Units):
        features = feature_units(feature_weight, codebook.names, codebook.n_features)
    largest = largest_distance(codebook.n_features, features.counts)
    unit = merged_weights([outline.weight_facts for outline in outlines], largest)
    store = _store(table, outlines, Packing(codebook, unit, is_new), n_threads)
    rows = Units(None, 1.0) if unit is None else Units(None, unit.size, unit.repeats)
    total = Units(np.array([store.total_weight]), rows.unit)
    check_costs(total, features, largest, store.n_rows)
    return Opened(store, codebook, Unseen(), rows, features, elsewhere=True, on_cluster=True)


def _store(
    table: Partitions, outlines: list[Outline], packing: Packing, n_threads: int
) -> ClusterStore:
    columns, part_rows = read(table.empty), [outline.n_rows for outline in outlines]
    require_rows(replace(columns, shape=(sum(part_rows), columns.shape[1])))
    store = table.store(packing, places_of(outlines))
    store.settle(packing, part_rows, n_threads)
    return store


def code_partition(index: int, table: Any, weight: Any, missing: Missing) -> CodedPart:
    """Code a partition; a weight that is a text is the name of a column. Errors tell which one."""
    try:
        if isinstance(weight, str):
            table, weight = without_weights(table, weight), table[weight]
        return code_part(table, missing, weight=weight)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Partition {index}: {error}") from error


def of_new_rows(packing: Packing, task: Task[T], index: int, table: Any) -> T:
    """Run a task on the rows of a partition that is coded and packed for that."""
    return task(packing.block(code_partition(index, table, None, packing.codebook.missing)), 1)


def call_sent(sent: bytes, *given: Any) -> Any:
    """Call a function that came as bytes: an engine that sees their number sends many only once."""
    return pickle.loads(sent)(*given)


def without_weights(frame: Any, name: str) -> Any:
    """Return the columns of a frame but the one that holds weights."""
    if name not in getattr(frame, "columns", ()):
        listed = list(getattr(frame, "columns", ()))
        raise ValueError(
            f"sample_weight={name!r} is no column of X, whose columns are {listed}. Pass one of "
            "them, or a weight for every row."
        )
    return frame.drop(columns=[name])


def check_partitions(n_weights: int, n_parts: int) -> None:
    """Refuse weights that are not cut as the rows are."""
    if n_weights != n_parts:
        raise ValueError(
            f"sample_weight has {n_weights} partitions, but X has {n_parts}. Pass weights with the "
            "partitions of X, or the name of a column of X."
        )


def _weighed(block: Block, n_threads: int) -> NDArray[np.int64]:
    return np.array([block.n_weighed, block.total_weight], np.int64)
