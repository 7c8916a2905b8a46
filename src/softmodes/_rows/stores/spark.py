"""Rows in the partitions of a Spark DataFrame: classic or Connect, by `mapInArrow` alone.

Executors code their partitions and pack them; Spark keeps the blocks on their disks. The Python
processes that made them keep them, too: a pass sends nothing but its task and the names of blocks,
and only those that no process has kept come from the disks. What is lost is made again from the
source, and refused if that holds other rows by now.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from functools import partial, reduce
from itertools import chain
from operator import add, itemgetter
from typing import Any
from uuid import uuid4

from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql.types import StructType

from softmodes._rows import in_arrow
from softmodes._rows.parts import Outline, Place, RowsChangedError, code_part, merged
from softmodes._rows.stores import cluster, frames
from softmodes._rows.stores.cluster import Packing, T, Task
from softmodes._rows.stores.open import Opened
from softmodes._table.codebook import Codebook, Missing

_PARTS = "partition int, number int, told binary, part binary"
_BLOCKS = "place int, name string, block binary"
_ANSWERS = "places array<int>, answer binary"
_Places = dict[tuple[int, int], Place]  # by partition, and number of the part in it
_Answers = list[tuple[list[int], Any]]


class SparkStore(cluster.ClusterStore):
    """Blocks on the disks of executors and in their processes; passes leave nothing with them."""

    remember = False
    sparing = True

    def __init__(self, table: SparkPartitions, packing: Packing, places: _Places) -> None:
        self._table, self._packing, self._places = table, packing, places
        name = uuid4().hex
        pack = partial(in_arrow.pack_batches, packing=packing, places=places, store=name)
        self._run = partial(in_arrow.run_on_batches, store=name)
        # A task takes long to start: there are no more of them than run at a time.
        at_once = table.parts.coalesce(_tasks_at_once(table.parts.sparkSession))
        self._blocks = at_once.mapInArrow(pack, _BLOCKS).persist(StorageLevel.DISK_ONLY)
        # Persisted as well: so they lie where the blocks are, and their tasks run there.
        names = self._blocks.selectExpr("place", "name", "cast(null as binary) as block")
        self._names = names.persist(StorageLevel.MEMORY_AND_DISK)
        frames.unpersist_with(self, self._names, self._blocks)

    def settle(self, packing: Packing, part_rows: list[int], n_threads: int) -> None:
        """Take down what is known of all rows; then they are packed, and their codes let go."""
        super().settle(packing, part_rows, n_threads)
        self._table.parts.unpersist()

    def map(self, task: Task[T]) -> list[T]:
        """Run a task on every block."""
        answers = [zip(*answer, strict=True) for answer in self._ask(task, list)]
        return [answer for _, answer in sorted(chain(*answers), key=itemgetter(0))]

    def sum(self, task: Task[T]) -> T:
        """Run a task on every block; executors add up what theirs return."""
        found: T = reduce(add, (some for _, some in self._ask(task, partial(reduce, add))))
        return found

    def by_row(self, task: Task[NDArray[Any]], name: str = "found") -> Any:
        """Return the DataFrame with what a task returns for every row as a column, lazily."""
        return self._table.lazy_by_row(self._packing, task, name)

    def _ask(self, task: Task[T], fold: Callable[[Iterable[T]], Any]) -> _Answers:
        """Run a task on every block: by its name first, then on those that no process has kept."""
        run = partial(self._run, task=task, fold=fold)
        found = frames.collected(self._names.mapInArrow(run, _ANSWERS))
        if left := self._left(found):
            some = ", ".join(str(place.index) for place in left.values())
            blocks = self._blocks.where(f"place in ({some})")
            found += frames.collected(blocks.mapInArrow(run, _ANSWERS))
        for partition, _ in self._left(found):
            raise RowsChangedError.of("Partition", partition)
        return [(places, pickle.loads(answer)) for places, answer in found]

    def _left(self, found: list[Any]) -> _Places:
        done = {place for places, _ in found for place in places}
        return {key: place for key, place in self._places.items() if place.index not in done}


class SparkPartitions(cluster.Partitions):
    """The partitions of a DataFrame; new rows may have columns beside those of the codebook."""

    def __init__(self, frame: Any, weight: str | None, codebook: Codebook | None) -> None:
        self._frame, self._weight = frame, weight
        names = [name for name in frame.columns if name != weight]
        if codebook and codebook.names and set(codebook.names) <= set(names):
            names = list(codebook.names)
        self._names = names
        self.empty = frame.limit(0).toArrow().select(names)
        self.has_weights = weight is not None

    def code(self, missing: Missing) -> list[Outline]:
        """Code the partitions, each in parts of some rows, and tell of each part in order."""
        code = partial(in_arrow.code_batches, names=self._names, weight=self._weight)
        # Not by TaskContext, which where partitions are put together tells the number of the task.
        rows = frames.with_partition(self._frame, in_arrow.PARTITION)
        parts = rows.mapInArrow(partial(code, missing=missing), _PARTS)
        self.parts = parts.persist(StorageLevel.DISK_ONLY)
        frames.unpersist_with(self, self.parts)
        found = sorted(map(tuple, frames.collected(self.parts.drop("part"))))
        self._numbers = frames.check_numbers([row[:2] for row in found])
        told = [pickle.loads(what) for _, _, what in found]
        for error in (what for what in told if isinstance(what, Exception)):
            raise error
        self._codebooks = [codebook for _, codebook in told]
        return [outline for outline, _ in told]

    def codebook(self) -> Codebook:
        """Return the codebook of all coded partitions."""
        return merged(self._codebooks or [code_part(self.empty).codebook])

    def store(self, packing: Packing, places: list[Place]) -> SparkStore:
        """Pack the coded partitions, where they are."""
        return SparkStore(self, packing, {self._numbers[place.part]: place for place in places})

    def lazy_by_row(self, packing: Packing, task: Task[NDArray[Any]], name: str = "found") -> Any:
        """Return the DataFrame with what a task returns for every row as a column."""
        frames.check_free(self._frame, name)
        find = partial(in_arrow.with_column, names=self._names, packing=packing)
        find = partial(find, task=task, column=name)
        kind = frames.kind_of(task(packing.nothing, 1))
        return self._frame.mapInArrow(find, StructType([*self._frame.schema]).add(name, kind))


def open_table(table: Any, *, sample_weight: Any, codebook: Any, **asked: Any) -> Opened:
    """Open a DataFrame, as `open_store` does."""
    frames.check_frame(table, sample_weight)
    rows = SparkPartitions(table, sample_weight, codebook)
    return cluster.open_partitions(rows, codebook=codebook, **asked)


def _tasks_at_once(session: Any) -> int:
    """Return how many tasks run at a time, which a client cannot ask: by how Spark cuts a range."""
    rows = session.range(1 << 12).selectExpr("spark_partition_id()").collect()
    return len({number for (number,) in rows})
