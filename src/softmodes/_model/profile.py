"""What marks a cluster: its values' shares against those of the whole table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import rel_entr

from softmodes._rows.counts import Counts
from softmodes._rows.weights import in_weights
from softmodes._table.codebook import Codebook
from softmodes._table.frames import in_library
from softmodes._table.values import BadColumnError, Kind, array_of, converter, python_values

Ints: TypeAlias = NDArray[np.signedinteger[Any]]
Floats: TypeAlias = NDArray[np.float64]

_TIMES = (np.datetime64, np.timedelta64, dt.date, dt.timedelta)
_SIDES = {1: "more", -1: "less", 0: "same"}


@dataclass(frozen=True, eq=False)
class Profile:
    """Values of all clusters, a row each, by numbers: the most telling of each cluster first.

    A row for every value that occurs in a cluster, and for those that do not although at least one
    row with them would be expected there. `share` is the value's share among the cluster's observed
    cells of that feature, `overall` that in the whole table, `residual` how many standard errors
    lie between what is counted and what would be without clusters. Each cluster has first what it
    has more of (`side` 1), then what it has less of (-1), by how much the value tells: the
    divergence, in nats, of having it or not in the cluster from the whole table.
    """

    codebook: Codebook
    cluster: Ints
    feature: Ints
    code: Ints
    count: NDArray[Any]
    share: Floats
    overall: Floats
    residual: Floats
    telling: Floats
    side: Ints

    @classmethod
    def of(cls, codebook: Codebook, counts: Counts, unit: float = 1.0) -> Profile:
        """Return the profile of counted rows."""
        parts = [_feature(counts, j, unit) for j in range(codebook.n_features)]
        cluster, feature, code, count, observed, total, overall_count = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        share, overall = count / observed, overall_count / total
        side = np.where(np.isclose(share, overall, 1e-12, 0.0), 0, np.sign(share - overall))
        telling = _divergence(share, overall)
        # What is shown first must not hang on the last digit.
        order = np.lexsort((code, feature, -telling.round(12), side == 0, -side, cluster))
        expected = observed * overall
        spread = np.sqrt(expected * (1 - observed / total) * (1 - overall))
        residual = np.where(side == 0, 0.0, (count - expected) / np.where(spread > 0, spread, 1.0))
        return cls(
            codebook=codebook,
            cluster=cluster[order],
            feature=feature[order],
            code=code[order],
            count=count[order],
            share=share[order],
            overall=overall[order],
            residual=residual[order],
            telling=telling[order],
            side=side.astype(np.int64)[order],
        )

    def columns(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the columns of a tidy frame, given the names of the clusters."""
        features = feature_names(self.codebook)
        values = [self.codebook.values(j) for j in range(self.codebook.n_features)]
        cells = zip(self.feature.tolist(), self.code.tolist(), strict=True)
        return {
            "cluster": self.cluster,
            "name": [names[i] for i in self.cluster.tolist()],
            "feature": [features[j] for j in self.feature.tolist()],
            "value": [values[j][v] for j, v in cells],
            "share": self.share,
            "overall": self.overall,
            "lift": self.share / self.overall,
            "count": self.count,
            "residual": self.residual,
            "side": [_SIDES[side] for side in self.side.tolist()],
        }


def feature_names(codebook: Codebook) -> Sequence[str]:
    """Return what to call the columns: their names, or x0, x1, ..."""
    return codebook.names or [f"x{j}" for j in range(codebook.n_features)]


def _divergence(share: Floats, overall: Floats) -> Floats:
    """Return what a value that is there or not tells of the cluster, in nats."""
    return rel_entr(share, overall) + rel_entr(1 - share, 1 - overall)


def _feature(counts: Counts, j: int, unit: float) -> tuple[NDArray[Any], ...]:
    """Return cluster, feature, code, count, cells of the cluster, of all, and of the value."""
    cluster, code, count = counts.nonzero(j)
    in_cluster = np.bincount(cluster, count, minlength=counts.n_clusters)
    of_value = np.bincount(code, count, minlength=1)
    if len(code):
        absent = _absent(cluster, code, in_cluster, of_value, unit)
        cluster, code = (np.append(a, b) for a, b in zip((cluster, code), absent, strict=True))
        count = np.append(count, np.zeros(len(absent[0]), count.dtype))
    whole = np.full(len(cluster), float(in_cluster.sum()) * unit)
    feature = np.full(len(cluster), j)
    sizes, overall = in_cluster[cluster] * unit, of_value[code] * unit
    return cluster, feature, code, in_weights(count, unit), sizes, whole, overall


def _absent(
    cluster: Ints, code: Ints, in_cluster: NDArray[Any], of_value: NDArray[Any], unit: float
) -> tuple[Ints, Ints]:
    """Return clusters and codes that do not occur together, though a row would be expected."""
    least = in_cluster.sum() / unit  # of the product of their sums
    common = np.flatnonzero(of_value * in_cluster.max() >= least)
    expected = in_cluster[:, None] * of_value[common] >= least
    place = np.full(len(of_value), -1)
    place[common] = np.arange(len(common))
    known = place[code] >= 0
    expected[cluster[known], place[code[known]]] = False
    clusters, places = np.nonzero(expected)
    return clusters, common[places]


def as_frame(columns: dict[str, Any], backend: str | None) -> Any:
    """Return the columns as a frame: of the backend, else pandas, else pyarrow if none is there."""
    return in_library(backend, partial(_native_frame, columns))


def _native_frame(columns: dict[str, Any], backend: Any) -> Any:
    if "value" not in columns:
        return nw.from_dict(columns, backend=backend).to_native()
    values = columns["value"]
    if backend == "pandas":  # whose columns hold values of any type
        return _frame_with(columns, values, backend)
    text = [_text(value) for value in values]
    unsigned = _unsigned(values)
    typed = _times(values) if unsigned is None else unsigned
    one_type = len({type(value) for value in values if value is not None}) <= 1
    native = typed if typed is not None else values if one_type else text
    try:
        return _frame_with(columns, native, backend)
    except ImportError:
        raise
    except Exception:  # each library has its own error for values beyond its types
        return _frame_with(columns, text, backend)


def _frame_with(columns: dict[str, Any], values: Any, backend: Any) -> Any:
    return nw.from_dict(columns | {"value": values}, backend=backend).to_native()


def _times(values: list[Any]) -> NDArray[Any] | None:
    """Return dates, times or durations as an array of one unit; None for all other values."""
    known = [value for value in values if value is not None]
    if not all(isinstance(value, _TIMES) for value in known):
        return None
    keys = [key for value in known if (key := converter(type(value))(value)) is not None]
    kinds = {kind for kind, _ in keys}
    if kinds not in ({Kind.DATE}, {Kind.DATETIME}, {Kind.DURATION}):
        return None
    try:
        array = array_of(keys)
    except BadColumnError:
        return None
    column = np.full(len(values), "NaT", array.dtype)
    column[[value is not None for value in values]] = array
    return column


def _unsigned(values: list[Any]) -> Any | None:
    """Return integers beyond int64, which libraries do not guess, as an Arrow array; else None."""
    known = [value for value in values if value is not None]
    if not known or not all(_is_integer(value) for value in known):
        return None
    if max(known) <= np.iinfo(np.int64).max:
        return None
    try:
        return pa.array([None if v is None else int(v) for v in values], pa.uint64())
    except (OverflowError, pa.ArrowInvalid):
        return None


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _text(value: Any) -> str | None:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        value = python_values(np.array([value]))[0]
    return None if value is None else str(value)
