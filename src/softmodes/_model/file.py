"""The fitted clustering as a file, without pickle.

A saved model is a zip archive of uncompressed members: `model.json`, arrays as `*.npy`, and
`SHA256SUMS`, which covers all others. Reading checks all of it before anything is used:
nothing in the file is executed, and no member may be larger than the file says.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, BinaryIO, get_args

import numpy as np
from numpy.typing import NDArray

from softmodes._algorithm.cost import modes_cost
from softmodes._algorithm.plan import MOST_SPARE, Round, StageName
from softmodes._algorithm.scores import FINEST_RESOLUTION
from softmodes._files import checked_source, write_whole
from softmodes._model.checks import counts_of, exact, is_number, require, typed
from softmodes._model.clustering import Clustering
from softmodes._model.naming import GivenNames, renamed
from softmodes._model.profile import feature_names
from softmodes._model.stream_file import read_stream, stream_arrays, stream_document
from softmodes._prepare import Prepare
from softmodes._rows.block import Layout
from softmodes._rows.centers import (
    MOST_SHARED_RESOLUTION,
    CodeCenters,
    ScoreCenters,
    largest_distance,
)
from softmodes._rows.counts import Counts
from softmodes._rows.tally import MEMBERSHIP_BITS, SoftTally, Tally
from softmodes._rows.weights import in_weights, most_feature_weight
from softmodes._table.codebook import Codebook
from softmodes._table.read import FRAME_BACKENDS
from softmodes._text import short_repr

FORMAT = "softmodes model"
VERSION = 2
_JSON, _SUMS = "model.json", "SHA256SUMS"
_LONGEST_REASON = 300
_COARSEST = -64  # resolution of prices
_MOST_LOG_BITS = 128


def save_model(
    path: str | os.PathLike[str], estimator: str, params: dict[str, Any], found: Clustering
) -> None:
    """Write a model whole or not at all."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": estimator,
        "params": params,
        "codebook": found.codebook.to_json(),
        "history": [asdict(round_) for round_ in found.history],
        "best_round": found.best_round,
        "converged": found.converged,
        "cost_units": found.tally.cost,
        "fingerprint": found.tally.fingerprint,
        "row_unit": found.row_unit,
        "feature_unit": found.feature_unit,
        "backend": found.backend,
        "wide": list(found.tally.counts.layout.sparse_features),
        "tie_key": found.tie_key,
        "resolution": None if found.scores is None else found.scores.resolution,
        "log_sum": None if found.soft_in_loop is None else found.soft_in_loop.log_sum,
        "names": None if found.given_names is None else list(found.given_names),
        "metadata": found.metadata,
        "preparation": found.preparation,
        "stream": stream_document(found.stream),
    }
    members = {_JSON: json.dumps(document, indent=1, allow_nan=False).encode()}
    members |= {f"{name}.npy": _npy(array) for name, array in _arrays(found).items()}
    members[_SUMS] = _sums(members)
    write_whole(path, partial(_write_archive, members=members))


class BadModelFile(ValueError):  # noqa: N818  (the file is what is bad)
    """A file that is not exactly what `save` writes: foreign, damaged, changed, or newer.

    Its text names the file and the reason.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import softmodes
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> _ = path.write_text("no model")
    >>> try:
    ...     softmodes.load(path)
    ... except softmodes.BadModelFile as error:
    ...     print("No model:", error)
    No model: ...notes.txt cannot be loaded: it is not a whole model file ...
    """


def load_model(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any], Clustering]:
    """Read a model; raise BadModelFile for all that is not exactly what `save_model` wrote."""
    path = checked_source(path)
    with open(path, "rb") as file, refusing(path):
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # zipfile might never find its end
            raise refusal(path, "it is not a regular file")
        members = _read_members(path, file)
        document = json.loads(members.pop(_JSON))
        _check_version(path, document)
        arrays = {name.removesuffix(".npy"): _read_npy(data) for name, data in members.items()}
        estimator, params = exact(document, "estimator", str), exact(document, "params", dict)
        if document["version"] == 1:
            document, arrays = _as_version_2(document, arrays)
            params = {"refine": None, **params} if estimator == "SoftModes" else params
        found = _clustering(document, arrays)
        require(set(arrays) == set(_arrays(found)), "the list of members")
        return estimator, params, found


@contextmanager
def refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever the contents of a file make Python raise into BadModelFile."""
    try:
        yield
    except (BadModelFile, MemoryError):
        raise
    except Exception as error:
        # A damaged directory makes zipfile seek to where no file has bytes. Any other OSError is
        # the disk's.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        reason = f"its contents are not those of a model ({type(error).__name__}: {error})"
        raise refusal(path, reason) from error


def refusal(path: str | os.PathLike[str], reason: str) -> BadModelFile:
    """Return the error that a file cannot be loaded, for a reason; a file's long texts are cut."""
    if len(reason) > _LONGEST_REASON:
        reason = f"{reason[: _LONGEST_REASON // 2]} ... {reason[-_LONGEST_REASON // 2 :]}"
    return BadModelFile(f"{path} cannot be loaded: {reason}. Pass a file written by save().")


def _arrays(found: Clustering) -> dict[str, NDArray[Any]]:
    counts = found.tally.counts
    arrays: dict[str, NDArray[Any]] = {
        "centers": found.centers.codes,
        "sizes": found.tally.cluster_sizes,
        "n_codes": counts.layout.n_codes,
        "ignored": counts.layout.ignored,
        "loop_numbers": found.loop_numbers,
    }
    if found.labels_in_memory is not None:
        arrays["labels"] = found.labels_in_memory
    if found.feature_weight is not None:
        arrays["feature_weight"] = found.feature_weight
    if found.scores is not None:
        arrays |= found.scores.to_arrays()
    if (soft := found.soft) is not None:
        parts = {"sizes": soft.cluster_sizes, **soft.counts.to_arrays()}
        arrays |= {f"soft_{name}": array for name, array in parts.items()}
    return arrays | counts.to_arrays() | stream_arrays(found.stream)


def _as_version_2(
    document: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a model of version 1 as version 2 would hold it: without scores and a key for ties."""
    nothing = {"tie_key": None, "resolution": None, "log_sum": None}
    room: dict[str, Any] = {"names": None, "metadata": {}, "preparation": None}
    k = len(typed(arrays, "centers", np.int32, 2))
    return document | nothing | room, arrays | {"loop_numbers": np.arange(k, dtype=np.int32)}


def _clustering(document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Clustering:
    codebook = Codebook.from_json(document["codebook"])
    layout = _layout(codebook, arrays)
    centers = typed(arrays, "centers", np.int32, 2)
    k, d = centers.shape
    require(k >= 1 and d == codebook.n_features, "the number of features")
    require(bool((centers >= 0).all() and (centers < codebook.n_values).all()), "the centers")
    weight = _feature_weight(arrays, d)
    row_unit, feature_unit = _unit(document, "row_unit"), _unit(document, "feature_unit")
    require(weight is not None or feature_unit == 1.0, "feature_unit")
    require(0.0 < row_unit * feature_unit < math.inf, "the product of the units")
    counts = counts_of(document, arrays, layout, codebook.n_values)
    require(counts.n_clusters == k, "the shape of the counts")
    tally = _tally(document, arrays, counts, largest_distance(d, weight))
    history = _history(document, k)
    best_round = exact(document, "best_round", int)
    require(0 <= best_round < len(history), "best_round")
    converged = exact(document, "converged", bool)
    scores = _scores(document, arrays, codebook.n_values, k)
    soft = _soft(document, arrays, tally)
    loop_numbers = _loop_numbers(arrays, k)
    chosen = history[best_round]
    require((chosen.stage == "modes") == (scores is None), "the stage of the best round")
    require((chosen.stage == "latent") == (soft is not None), "the stage of the best round")
    if scores is not None:
        require(tally.cost == modes_cost(counts, weight), "cost_units")
    if soft is None:
        require(chosen.cost == in_weights(tally.cost, row_unit * feature_unit), "cost_units")
        require(chosen.clusters == np.count_nonzero(tally.cluster_sizes), "the clusters in use")
    if history[-1].stage == "modes":
        require(converged is not history[-1].moved, "converged")
    require(document["backend"] in (None, *FRAME_BACKENDS), "backend")
    return Clustering(
        codebook=codebook,
        centers=CodeCenters(centers),
        scores=scores,
        tally=tally,
        soft_in_loop=soft and soft.reorder(np.argsort(loop_numbers)),
        labels=_labels(arrays, tally.cluster_sizes) if "labels" in arrays else None,
        history=history,
        best_round=best_round,
        converged=converged,
        tie_key=_tie_key(document),
        loop_numbers=loop_numbers,
        feature_weight=weight,
        row_unit=row_unit,
        feature_unit=feature_unit,
        backend=document["backend"],
        stream=read_stream(document, arrays, tally.counts.layout, codebook, weight),
        given_names=_names(document, k),
        metadata=exact(document, "metadata", dict),
        preparation=_preparation(document, codebook),
    )


def _scores(
    document: dict[str, Any], arrays: dict[str, NDArray[Any]], n_values: NDArray[np.int32], k: int
) -> ScoreCenters | None:
    if document["resolution"] is None:
        return None
    resolution = exact(document, "resolution", int)
    finest = FINEST_RESOLUTION if document["log_sum"] is None else MOST_SHARED_RESOLUTION
    require(_COARSEST <= resolution <= finest, "resolution")
    scores = ScoreCenters.from_arrays(n_values, resolution, arrays)
    require(len(scores) == k, "the number of prices")
    return scores


def _soft(
    document: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    counted: Tally,
) -> SoftTally | None:
    if document["log_sum"] is None:
        return None
    mine = {
        name.removeprefix("soft_"): array
        for name, array in arrays.items()
        if name.startswith("soft_")
    }
    counts = counts_of(document, mine, counted.counts.layout, counted.counts.n_values)
    sizes = typed(mine, "sizes", np.int64, 1)
    whole = sizes.shape == counted.cluster_sizes.shape and bool((sizes >= 0).all())
    require(whole and counts.add_up_to(sizes), "the soft counts")
    total = sum(counted.cluster_sizes.tolist())
    require(sum(sizes.tolist()) == total << MEMBERSHIP_BITS, "the soft counts")
    log_sum = exact(document, "log_sum", int)
    require(abs(log_sum) < 1 << _MOST_LOG_BITS, "log_sum")
    return SoftTally(counts, sizes, log_sum)


def _tie_key(document: dict[str, Any]) -> int | None:
    if document["tie_key"] is None:
        return None
    key = exact(document, "tie_key", int)
    require(0 <= key < 2**64, "tie_key")
    return key


def _loop_numbers(arrays: dict[str, NDArray[Any]], k: int) -> NDArray[np.int32]:
    numbers = typed(arrays, "loop_numbers", np.int32, 1)
    require(np.array_equal(np.sort(numbers), np.arange(k)), "the numbers of the clusters")
    return numbers


def _preparation(document: dict[str, Any], codebook: Codebook) -> dict[str, Any] | None:
    """Return what made the rows of a table, which has the columns of the codebook."""
    if document["preparation"] is None:
        return None
    preparation = exact(document, "preparation", dict)
    check_preparation(Prepare.from_dict(preparation), codebook)
    return preparation


def check_preparation(prepare: Prepare, codebook: Codebook) -> None:
    """Refuse a preparation that makes other columns than those of a model."""
    made = prepare.get_feature_names_out().tolist()
    if made != list(feature_names(codebook)):
        raise ValueError(
            f"preparation makes the columns {short_repr(made)}, and those of the model are "
            f"{short_repr(list(feature_names(codebook)))}. Pass the one that made its rows."
        )


def _names(document: dict[str, Any], k: int) -> GivenNames | None:
    """Return the names that were given to clusters, null for those without."""
    if document["names"] is None:
        return None
    names = exact(document, "names", list)
    require(len(names) == k, "names")
    return renamed(None, [""] * k, names)


def _layout(codebook: Codebook, arrays: dict[str, NDArray[Any]]) -> Layout:
    """Return the layout of the rows of the fit, which follows from the values of the columns."""
    n_codes, ignored = (typed(arrays, name, np.int32, 1) for name in ("n_codes", "ignored"))
    require(not (any(codebook.has_missing) and codebook.missing == "error"), "has_missing")
    expected = codebook.fit_ranges
    require(np.array_equal(n_codes, expected.n_codes), "the number of categories")
    require(np.array_equal(ignored, expected.ignored), "the ignored codes")
    return Layout(n_codes, ignored)


def _feature_weight(arrays: dict[str, NDArray[Any]], d: int) -> NDArray[np.uint32] | None:
    if "feature_weight" not in arrays:
        return None
    weight = typed(arrays, "feature_weight", np.uint32, 1)
    require(weight.shape == (d,), "the feature weights")
    require(0 < int(weight.max()) <= most_feature_weight(d), "the feature weights")
    return weight


def _tally(
    document: dict[str, Any], arrays: dict[str, NDArray[Any]], counts: Counts, largest: int
) -> Tally:
    sizes = typed(arrays, "sizes", np.int64, 1)
    whole = sizes.shape == (counts.n_clusters,) and bool((sizes >= 0).all())
    require(whole and counts.add_up_to(sizes), "the counts")
    cost, fingerprint = (exact(document, name, int) for name in ("cost_units", "fingerprint"))
    largest_cost = sum(sizes.tolist()) * largest
    require(largest_cost < 2**63, "the sizes of the clusters")
    require(0 <= cost <= largest_cost, "cost_units")
    require(0 <= fingerprint < 2**64, "fingerprint")
    return Tally(counts, sizes, cost, fingerprint)


def _labels(arrays: dict[str, NDArray[Any]], sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    labels = typed(arrays, "labels", np.int32, 1)
    k = len(sizes)
    require(len(labels) > 0 and labels.min() >= 0 and labels.max() < k, "the labels")
    without_rows = np.bincount(labels, minlength=k) == 0
    require(not sizes[without_rows].any(), "the labels")
    return labels


def _history(document: dict[str, Any], k: int) -> tuple[Round, ...]:
    history = tuple(Round(**round_) for round_ in exact(document, "history", list))
    for round_ in history:
        require(round_.stage in get_args(StageName), "a stage of the history")
        soft, refined = round_.stage == "latent", round_.stage != "modes"
        require(is_number(round_.expected_cost), "a cost of the history")
        hard_cost = is_number(round_.cost) and round_.cost >= 0
        require(round_.cost is None if soft else hard_cost, "a cost of the history")
        objective = round_.objective
        require(is_number(objective) if refined else objective is None, "the history")
        # Starts have clusters to spare, and the clusters of two runs are crossed.
        spare = k + MOST_SPARE
        most = {"modes": spare, "gini": max(spare, 2 * k), "latent": k}[round_.stage]
        require(type(round_.clusters) is int and 1 <= round_.clusters <= most, "the history")
        require(type(round_.moved) is bool, "the history")
    return history


def _unit(document: dict[str, Any], name: str) -> float:
    """Return a unit of weights: a power of two."""
    unit = exact(document, name, float)
    require(math.frexp(unit)[0] == 0.5, name)
    return unit


def _read_npy(data: bytes) -> NDArray[Any]:
    """Read an array; refuse one whose header promises other than the bytes that are there."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    require(version == (1, 0), "the version of an array")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    promised = math.prod(shape) * dtype.itemsize
    fits = not dtype.hasobject and not fortran and promised == len(data) - stream.tell()
    require(fits, "the size of an array")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape).copy()


def _check_version(path: str, document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise refusal(path, "it is not a softmodes model")
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise refusal(
            path,
            f"it has format version {version!r}, and this softmodes reads up to {VERSION}. "
            "Update softmodes",
        )


# ------------------------------------------------------------------------------ the archive


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _sums(members: dict[str, bytes]) -> bytes:
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items()]
    return "".join(lines).encode()


def _write_archive(file: BinaryIO, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)


def _read_members(path: str, file: BinaryIO) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(file) as archive:
            _check_sizes(path, archive, os.fstat(file.fileno()).st_size)
            members = {info.filename: archive.read(info) for info in archive.infolist()}
    # zipfile raises the last two for compression and encryption that it does not know.
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise refusal(path, f"it is not a whole model file ({error})") from error
    sums = members.pop(_SUMS, None)
    if sums is None or _JSON not in members:
        raise refusal(path, "it is not a softmodes model")
    if sums != _sums(members):
        raise refusal(path, "its checksums do not match: it was damaged or changed")
    return members


def _check_sizes(path: str, archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Members are stored uncompressed, so none can grow beyond the file itself."""
    infos = archive.infolist()
    if len({info.filename for info in infos}) < len(infos):
        raise refusal(path, "it holds a member twice")
    oversized = sum(info.file_size for info in infos) > n_bytes
    if oversized or any(info.compress_type != zipfile.ZIP_STORED for info in infos):
        raise refusal(path, "its members claim more bytes than the file has")
