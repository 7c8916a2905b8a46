"""Where a stream stands, as parts of a model file: whoever loads it can go on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.mini_batch import COST_BITS, Learned
from softmodes._algorithm.stream import Stream
from softmodes._model.checks import counts_of, exact, require, typed
from softmodes._rows.block import Layout
from softmodes._rows.centers import CodeCenters, largest_distance
from softmodes._table.codebook import Codebook

_PREFIX = "stream_"
_MOST_EXPONENT = 1000  # of the unit of the counts, a power of two


def stream_document(stream: Stream | None) -> dict[str, int | None] | None:
    """Return the numbers of a stream as JSON holds them."""
    if stream is None:
        return None
    learned = stream.learned
    return {
        "seed": stream.seed,
        "n_steps": learned.n_steps if learned else 0,
        "exponent": learned.exponent if learned else 0,
        "run": learned.run if learned else 0,
    }


def stream_arrays(stream: Stream | None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a stream, by the names of their members."""
    if stream is None:
        return {}
    arrays: dict[str, NDArray[Any]] = {"waiting": stream.waiting}
    if stream.weight is not None:
        arrays["weight"] = stream.weight
    if stream.learned is not None:
        arrays |= {
            "centers": stream.learned.centers.codes,
            "sizes": stream.learned.cluster_sizes,
            "idle": stream.learned.idle,
            **stream.learned.counts.to_arrays(),
        }
    return {_PREFIX + name: array for name, array in arrays.items()}


def read_stream(
    document: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    layout: Layout,
    codebook: Codebook,
    feature_weight: NDArray[np.uint32] | None,
) -> Stream | None:
    """Return the stream of a model file, None if it has none; all is checked."""
    if document.get("stream") is None:  # as in files from before there were streams
        return None
    numbers = exact(document, "stream", dict)
    mine = {
        name.removeprefix(_PREFIX): array
        for name, array in arrays.items()
        if name.startswith(_PREFIX)
    }
    seed, n_steps = (exact(numbers, name, int) for name in ("seed", "n_steps"))
    require(0 <= seed < 2**64 and 0 <= n_steps < 2**62, "the stream")
    waiting = typed(mine, "waiting", np.int32, 2)
    require(waiting.shape[1] == codebook.n_features, "the rows that wait")
    require(bool((waiting >= 0).all() and (waiting < layout.n_codes).all()), "the rows that wait")
    require(n_steps > 0 or len(waiting) > 0, "the rows that wait")
    weight = typed(mine, "weight", np.float64, 1) if "weight" in mine else None
    if weight is not None:
        whole = len(weight) == len(waiting) and bool(np.isfinite(weight).all())
        require(whole and bool((weight > 0).all()), "the weights of the rows that wait")
    learned = None
    if n_steps:
        learned = _learned(document, mine, layout, codebook, feature_weight)
    return Stream(codebook, seed, learned, waiting, weight)


def _learned(
    document: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    layout: Layout,
    codebook: Codebook,
    feature_weight: NDArray[np.uint32] | None,
) -> Learned:
    numbers = document["stream"]
    counts = counts_of(document, arrays, layout, codebook.n_values)
    k = counts.n_clusters
    centers = typed(arrays, "centers", np.int32, 2)
    require(centers.shape == (k, codebook.n_features), "the centers of the stream")
    require(bool((centers >= 0).all() and (centers < layout.n_codes).all()), "the centers")
    sizes, idle = (typed(arrays, name, np.int64, 1) for name in ("sizes", "idle"))
    whole = sizes.shape == (k,) and bool((sizes >= 0).all())
    require(whole and counts.add_up_to(sizes), "the counts of the stream")
    total = sum(sizes.tolist())
    largest = largest_distance(codebook.n_features, feature_weight)
    require(0 < total * largest < 1 << COST_BITS, "the counts of the stream")
    require(idle.shape == (k,) and bool((idle >= 0).all()), "the idle clusters of the stream")
    exponent, run = (exact(numbers, name, int) for name in ("exponent", "run"))
    require(abs(exponent) <= _MOST_EXPONENT and 0 <= run < 2**31, "the stream")
    return Learned(
        centers=CodeCenters(centers),
        counts=counts,
        cluster_sizes=sizes,
        exponent=exponent,
        idle=idle,
        n_steps=exact(numbers, "n_steps", int),
        run=run,
    )
