"""The one door: any table -> a store of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from softmodes._rows.block import layout_of, pack
from softmodes._rows.centers import largest_distance
from softmodes._rows.memory import check_rows
from softmodes._rows.scratch import Room, default_room
from softmodes._rows.stores.base import RowStore
from softmodes._rows.stores.memory import MemoryStore
from softmodes._rows.stores.streamed import StreamedRows, kept_weights
from softmodes._rows.weights import Units, check_costs, feature_units, row_units
from softmodes._sources import open_source
from softmodes._table.codebook import Codebook, Missing, learn
from softmodes._table.unseen import Unseen

# Cluster engines by the package that their tables come from; each is imported when it is needed.
_ENGINES = {
    "dask": ("Dask", "dask"),
    "pyspark": ("Spark", "spark"),
}


@dataclass(frozen=True, eq=False)
class Opened:
    """A table's rows in a store, how its values became codes, and its weights in units."""

    store: RowStore
    codebook: Codebook
    unseen: Unseen
    rows: Units
    features: Units
    elsewhere: bool = False  # the rows are not those of a table in memory
    on_cluster: bool = False  # nor is what is found for every row


def open_store(
    table: Any,
    *,
    codebook: Codebook | None = None,
    missing: Missing = "category",
    sample_weight: Any = None,
    feature_weight: Any = None,
    n_threads: int = 1,
    expecting: str = "Codebook",
    memory_limit: int | None = None,
) -> Opened:
    """Code and pack the rows of a table: by its own values, or by those of a codebook.

    Parameters
    ----------
    table
        Any table that `learn` takes, or a source of rows: a path, a stream, a lazy frame.
    codebook
        Which value has which code; None to find that out, with `missing` for the missing cells.
    missing
        What missing cells are, without a codebook.
    sample_weight
        A weight for every row, or None.
    feature_weight
        A weight for every feature: a sequence, a mapping of names, `Units`, or None.
    n_threads
        Number of threads, here and in the store's passes.
    expecting
        Who expects the codebook's columns, for the error if there are others.
    memory_limit
        Bytes of memory that packed rows of a source may take; None for half of what can be had.
    """
    engine = _engine_of(table)
    if engine is not None:
        return engine(
            table,
            codebook=codebook,
            missing=missing,
            sample_weight=sample_weight,
            feature_weight=feature_weight,
            n_threads=n_threads,
            expecting=expecting,
        )
    source = open_source(table)
    if source is not None:
        room = Room(default_room() if memory_limit is None else memory_limit)
        streamed = StreamedRows(source, codebook, missing, room, n_threads, expecting)
        return _opened(streamed, sample_weight, feature_weight)
    unseen = Unseen()
    if codebook is None:
        codebook, codes = learn(table, missing, n_threads)
    else:
        codes, unseen = codebook.encode(table, n_threads, expecting=expecting)
    rows, features = _units(codebook, codes.n_rows, sample_weight, feature_weight)
    layout = layout_of(codes.ranges)
    check_rows(layout, codes.n_rows)
    fitted = None if codes.ranges is codebook.fit_ranges else layout_of(codebook.fit_ranges)
    block = pack(codes, layout, n_threads, weight=rows.counts, fit_layout=fitted)
    store = MemoryStore([block], codebook.n_values, n_threads, rows.repeats)
    return Opened(store, codebook, unseen, rows, features)


def _engine_of(table: Any) -> Callable[..., Opened] | None:
    """Return what opens a table that is on a cluster; None if it is not."""
    packages = (base.__module__.partition(".")[0] for base in type(table).__mro__)
    package = next((name for name in packages if name in _ENGINES), None)
    if package is None:
        return None
    title, extra = _ENGINES[package]
    try:
        found: Callable[..., Opened] = import_module(f"softmodes._rows.stores.{extra}").open_table
    except ImportError as error:
        raise ImportError(
            f'Rows on {title} need {error.name}. Install it with: pip install "softmodes[{extra}]"'
        ) from error
    return found


def _opened(streamed: StreamedRows, sample_weight: Any, feature_weight: Any) -> Opened:
    codebook = streamed.codebook
    rows, features = _units(codebook, streamed.n_rows, sample_weight, feature_weight)
    rows = kept_weights(rows, streamed.room)
    store, unseen = streamed.store(rows)
    return Opened(store, codebook, unseen, rows, features, elsewhere=True)


def _units(
    codebook: Codebook, n_rows: int, sample_weight: Any, feature_weight: Any
) -> tuple[Units, Units]:
    """Return the weights of rows and features in units."""
    features = feature_weight
    if not isinstance(features, Units):
        features = feature_units(feature_weight, codebook.names, codebook.n_features)
    largest = largest_distance(codebook.n_features, features.counts)
    rows = row_units(sample_weight, n_rows, largest)
    check_costs(rows, features, largest, n_rows)
    return rows, features
