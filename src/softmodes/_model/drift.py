"""How new rows differ from those of the fit, column by column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._model.clustering import Clustering
from softmodes._model.marks import shown_value
from softmodes._model.profile import feature_names
from softmodes._rows.counts import Counts
from softmodes._rows.stores import Opened

Floats = NDArray[np.float64]


def drift_columns(found: Clustering, opened: Opened) -> dict[str, Any]:
    """Return the columns of a frame with a row for each feature, what changed most first.

    `changed` is the share of the rows that would need another value for the feature's shares to be
    those of the fit, `chance` what it would be on average if the new rows were rows of the fit,
    drawn at random; missing cells count as a value.
    """
    before, now = found.tally.counts.as_one_cluster(), opened.store.column_counts()
    n_rows = opened.store.n_weighed
    shares = [(_shares(before, j), _shares(now, j)) for j in range(found.codebook.n_features)]
    changed = np.array([_distance(*pair) for pair in shares])
    chance = np.array([_by_chance(at_fit, n_rows) for at_fit, _ in shares])
    unseen = {column.index: column for column in opened.unseen.columns}
    unseen_code = found.codebook.unseen_ranges.n_codes - 1
    unseen_share = np.zeros(len(shares))
    for j in unseen:
        unseen_share[j] = shares[j][1][unseen_code[j]]
    order = np.lexsort((np.arange(len(changed)), -changed))
    names = feature_names(found.codebook)
    return {
        "feature": [names[j] for j in order],
        "changed": changed[order],
        "chance": chance[order],
        "unseen": unseen_share[order],
        "unseen_values": [_examples(unseen.get(j)) for j in order.tolist()],
        "note": [_note(unseen.get(j)) for j in order.tolist()],
    }


def _shares(counts: Counts, j: int) -> Floats:
    """Return the share of every code of a feature in all rows."""
    of_codes = counts.codes(j).astype(np.float64)
    return of_codes / max(1.0, float(of_codes.sum()))


def _distance(before: Floats, now: Floats) -> float:
    """Return half of the sum of all differences."""
    length = max(len(before), len(now))
    padded = (np.pad(shares, (0, length - len(shares))) for shares in (before, now))
    return float(np.abs(np.subtract(*padded)).sum() / 2)


def _by_chance(shares: Floats, n_rows: int) -> float:
    """Return what the distance of n rows, drawn with these shares, is on average.

    A share's mean distance from its expectation is that of a normal deviate, but it is never more
    than twice the expectation.
    """
    normal = np.sqrt(2 / math.pi * shares * (1 - shares) / max(1, n_rows))
    return float(np.minimum(normal, 2 * shares * (1 - shares)).sum() / 2)


def _examples(column: Any) -> str:
    if column is None:
        return ""
    shown = ", ".join(shown_value(value) for value, _ in column.examples)
    return shown + (", ..." if column.n_values > len(column.examples) else "")


def _note(column: Any) -> str:
    return "" if column is None or column.types is None else f"column types differ: {column.types}"
