"""The fitted clustering: a frozen value, and its file format without pickle.

A saved model is a zip archive of uncompressed members: `model.json`, arrays as `*.npy`, and
`SHA256SUMS`, which covers all others. Reading checks all of it before anything is used:
nothing in the file is executed, and no member may be larger than the file says.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from softmodes.encode import Codebook
from softmodes.files import write_whole
from softmodes.loop import Round
from softmodes.pack import Layout
from softmodes.tally import Tally

T = TypeVar("T")

FORMAT = "softmodes model"
VERSION = 1
_JSON, _SUMS = "model.json", "SHA256SUMS"


@dataclass(frozen=True, eq=False)
class Clustering:
    """A partition of rows, the centers that produced it, and how it was found."""

    codebook: Codebook
    layout: Layout
    centers: NDArray[np.int32]
    tally: Tally
    labels: NDArray[np.int32]
    history: tuple[Round, ...]
    best_round: int
    converged: bool
    feature_weight: NDArray[np.uint32] | None
    row_unit: float
    feature_unit: float
    backend: str | None  # kind of frame that the rows came in

    @property
    def chosen(self) -> Round:
        """The round whose partition this is."""
        return self.history[self.best_round]


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
        "wide": sorted(found.tally.wide),
    }
    members = {_JSON: json.dumps(document, indent=1, allow_nan=False).encode()}
    members |= {f"{name}.npy": _npy(array) for name, array in _arrays(found).items()}
    members[_SUMS] = _sums(members)
    write_whole(path, partial(_write_archive, members=members))


def load_model(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any], Clustering]:
    """Read a model; raise ValueError for anything that is not exactly what `save_model` wrote."""
    path = Path(path)
    members = _read_members(path)
    try:
        document = json.loads(members[_JSON])
        _check_version(path, document)
        arrays = {
            name.removesuffix(".npy"): _read_npy(data)
            for name, data in members.items()
            if name != _JSON
        }
        found = _clustering(document, arrays)
        _require(set(arrays) == set(_arrays(found)), "the list of members")
        estimator, params = _exact(document, "estimator", str), _exact(document, "params", dict)
        _require(params.get("n_clusters") == len(found.centers), "n_clusters")
        return estimator, params, found
    except (
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise _refusal(path, f"its contents are not those of a model ({error!r})") from error
    except (json.JSONDecodeError, UnicodeDecodeError, EOFError) as error:
        raise _refusal(path, f"a member cannot be read ({error})") from error
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise _refusal(path, f"a member cannot be read ({error})") from error


def _arrays(found: Clustering) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "labels": found.labels,
        "centers": found.centers,
        "cells": found.tally.cells,
        "sizes": found.tally.sizes,
        "n_codes": found.layout.n_codes,
        "ignored": found.layout.ignored,
    }
    if found.feature_weight is not None:
        arrays["feature_weight"] = found.feature_weight
    for j in found.tally.wide:
        parts = found.tally.wide_parts(j)
        names = (f"wide_{j}_{part}" for part in _WIDE_PARTS)
        arrays.update(zip(names, parts, strict=True))
    return arrays


_WIDE_PARTS = ("indptr", "codes", "counts")


def _clustering(document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Clustering:
    codebook = Codebook.from_json(document["codebook"])
    layout = Layout(_typed(arrays, "n_codes", np.int32, 1), _typed(arrays, "ignored", np.int32, 1))
    centers = _typed(arrays, "centers", np.int32, 2)
    k, d = centers.shape
    sizes = _typed(arrays, "sizes", np.int64, 1)
    cells = _typed(arrays, "cells", np.int64, 2)
    labels = _typed(arrays, "labels", np.int32, 1)
    weight = arrays.get("feature_weight")
    wide = {int(j): _wide(arrays, int(j), k, layout) for j in document["wide"]}
    _require(k >= 1 and d == layout.n_features == codebook.n_features, "the number of features")
    _require(bool((codebook.sizes <= layout.n_codes).all()), "the number of categories")
    _require(weight is None or weight.shape == (d,), "the feature weights")
    _require(cells.shape == (k, layout.n_cells) and sizes.shape == (k,), "the shape of the counts")
    _require(tuple(sorted(wide)) == tuple(layout.wide), "the wide features")
    _require(_counts_add_up(cells, wide, sizes, layout), "the counts")
    _require(bool((centers >= 0).all() and (centers < codebook.sizes).all()), "the centers")
    _require(len(labels) > 0 and labels.min() >= 0 and labels.max() < k, "the labels")
    history = tuple(Round(**round_) for round_ in document["history"])
    best_round = _exact(document, "best_round", int)
    _require(0 <= best_round < len(history), "best_round")
    _require(document["backend"] is None or isinstance(document["backend"], str), "backend")
    return Clustering(
        codebook=codebook,
        layout=layout,
        centers=centers,
        tally=Tally(cells, wide, sizes, document["cost_units"], document["fingerprint"]),
        labels=labels,
        history=history,
        best_round=best_round,
        converged=_exact(document, "converged", bool),
        feature_weight=None if weight is None else _typed(arrays, "feature_weight", np.uint32, 1),
        row_unit=_unit(document, "row_unit"),
        feature_unit=_unit(document, "feature_unit"),
        backend=document["backend"],
    )


def _counts_add_up(
    cells: NDArray[np.int64],
    wide: dict[int, csr_array[Any, Any]],
    sizes: NDArray[np.int64],
    layout: Layout,
) -> bool:
    """Whether no count is negative, and those of each feature sum up to the clusters' sizes."""
    if (cells < 0).any() or (sizes < 0).any() or any((w.data < 0).any() for w in wide.values()):
        return False
    narrow = np.flatnonzero(np.diff(layout.offsets))
    sums = [np.add.reduceat(cells, layout.offsets[narrow], axis=1)] if len(narrow) else []
    sums += [w.sum(axis=1)[:, None] for w in wide.values()]
    return all(bool((part == sizes[:, None]).all()) for part in sums)


def _exact(document: dict[str, Any], name: str, kind: type[T]) -> T:
    value = document[name]
    _require(type(value) is kind, name)
    return value  # type: ignore[no-any-return]


def _unit(document: dict[str, Any], name: str) -> float:
    unit = _exact(document, name, float)
    _require(0.0 < unit < math.inf, name)
    return unit


def _read_npy(data: bytes) -> NDArray[Any]:
    """Read an array; refuse one whose header promises other than the bytes that are there."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    _require(version == (1, 0), "the version of an array")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    promised = math.prod(shape) * dtype.itemsize
    fits = not dtype.hasobject and not fortran and promised == len(data) - stream.tell()
    _require(fits, "the size of an array")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape).copy()


def _wide(
    arrays: dict[str, NDArray[Any]], feature: int, k: int, layout: Layout
) -> csr_array[Any, Any]:
    indptr = _typed(arrays, f"wide_{feature}_indptr", np.int64, 1)
    codes = _typed(arrays, f"wide_{feature}_codes", np.int32, 1)
    counts = _typed(arrays, f"wide_{feature}_counts", np.int64, 1)
    table = csr_array((counts, codes, indptr), shape=(k, int(layout.n_codes[feature])))
    table.check_format(full_check=True)
    return table


def _typed(
    arrays: dict[str, NDArray[Any]], name: str, dtype: type[np.generic], ndim: int
) -> NDArray[Any]:
    array = arrays[name]
    _require(array.dtype == dtype and array.ndim == ndim, f"the array {name}")
    return np.ascontiguousarray(array)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise TypeError(f"{what} does not fit the rest")


def _check_version(path: Path, document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _refusal(path, "it is not a softmodes model")
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise _refusal(
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


def _read_members(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(path, archive)
            members = {info.filename: archive.read(info) for info in archive.infolist()}
    # zipfile raises the last two for compression and encryption that it does not know.
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise _refusal(path, f"it is not a whole model file ({error})") from error
    sums = members.pop(_SUMS, None)
    if sums is None or _JSON not in members:
        raise _refusal(path, "it is not a softmodes model")
    if sums != _sums(members):
        raise _refusal(path, "its checksums do not match: it was damaged or changed")
    return members


def _check_sizes(path: Path, archive: zipfile.ZipFile) -> None:
    """Members are stored uncompressed, so none can grow beyond the file itself."""
    infos = archive.infolist()
    if len({info.filename for info in infos}) < len(infos):
        raise _refusal(path, "it holds a member twice")
    oversized = sum(info.file_size for info in infos) > path.stat().st_size
    if oversized or any(info.compress_type != zipfile.ZIP_STORED for info in infos):
        raise _refusal(path, "its members claim more bytes than the file has")


def _refusal(path: Path, reason: str) -> ValueError:
    return ValueError(f"{path} cannot be loaded: {reason}. Pass a file written by save().")
