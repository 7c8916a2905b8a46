"""The one door: any table -> a store of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from softmodes._rows.block import layout_of, pack
from softmodes._rows.centers import largest_distance
from softmodes._rows.memory import check_rows
from softmodes._rows.stores.base import RowStore
from softmodes._rows.stores.memory import MemoryStore
from softmodes._rows.weights import Units, check_costs, feature_units, row_units
from softmodes._table.codebook import Codebook, Missing, learn
from softmodes._table.unseen import Unseen


@dataclass(frozen=True, eq=False)
class Opened:
    """A table's rows in a store, how its values became codes, and its weights in units."""

    store: RowStore
    codebook: Codebook
    unseen: Unseen
    rows: Units
    features: Units


def open_store(
    table: Any,
    *,
    codebook: Codebook | None = None,
    missing: Missing = "category",
    sample_weight: Any = None,
    feature_weight: Any = None,
    n_threads: int = 1,
    expecting: str = "Codebook",
) -> Opened:
    """Code and pack the rows of a table: by its own values, or by those of a codebook.

    Parameters
    ----------
    table
        Any table that `learn` takes.
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
    """
    unseen = Unseen()
    if codebook is None:
        codebook, codes = learn(table, missing, n_threads)
    else:
        codes, unseen = codebook.encode(table, n_threads, expecting=expecting)
    features = feature_weight
    if not isinstance(features, Units):
        features = feature_units(feature_weight, codebook.names, codebook.n_features)
    largest = largest_distance(codebook.n_features, features.counts)
    rows = row_units(sample_weight, codes.n_rows, largest)
    check_costs(rows, features, largest, codes.n_rows)
    layout = layout_of(codes.ranges)
    check_rows(layout, codes.n_rows)
    fitted = None if codes.ranges is codebook.fit_ranges else layout_of(codebook.fit_ranges)
    block = pack(codes, layout, n_threads, weight=rows.counts, fit_layout=fitted)
    store = MemoryStore([block], codebook.n_values, n_threads, rows.repeats)
    return Opened(store, codebook, unseen, rows, features)
