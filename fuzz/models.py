"""Damaged and forged model files: `load` refuses them by name, or gives a model that predicts."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import math
import random
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.runner import Check, require
from softmodes import KModes, MiniBatchSoftModes, SoftModes, load

LONGEST_TEXT = 2_000

Members = dict[str, bytes]


@dataclass(frozen=True, eq=False)
class _Model:
    """A saved model: its file, the parts of the file, and what it predicts."""

    data: bytes
    members: Members
    rows: list[list[Any]]
    labels: NDArray[np.int32]
    k: int


def prepare(folder: Path) -> Check:
    """Fit some small models; return the check of one damaged file."""
    path = folder / "model.softmodes"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [_saved(model, rows, path) for model, rows in _fits()]

    def check(r: random.Random) -> None:
        model = r.choice(models)
        harmless, data = r.choice(_ATTACKS)(r, model, models)
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _check_file(path, model, harmless)

    return check


def _fits() -> list[tuple[Any, list[list[Any]]]]:
    """Return models of every kind of content: types, missing cells, weights, many values."""
    plain = [["a", 1], ["b", 2], ["a", 1], ["c", 3]]
    odd: list[list[Any]] = [
        [True, None, 1.5],
        [2, b"x", -math.inf],
        ["z", b"y", 2.0],
        [None, b"x", 0.0],
    ]
    many = [[f"value {i % 270}", i % 3] for i in range(280)]
    wide = [[f"value {i % 270}", None if i % 11 == 0 else i % 3] for i in range(280)]
    return [
        (SoftModes(2, n_init=1, n_jobs=1, random_state=0, refine=None), plain),
        (KModes(2, init=plain[:2], n_init=1, n_jobs=1, random_state=0), plain),
        (SoftModes(2, missing="ignore", feature_weight=[1, 0.5, 2], n_init=1, n_jobs=1), odd),
        (SoftModes(1, t=math.inf, rounding="soft", n_init=1, n_jobs=1), odd),
        (SoftModes(3, n_init=1, max_iter=2, n_jobs=1, random_state=0, refine=None), many),
        (SoftModes(3, n_init=1, max_iter=2, n_jobs=1, random_state=0), many),
        (SoftModes(3, refine="gini", missing="ignore", n_init=1, n_jobs=1, random_state=0), wide),
        (MiniBatchSoftModes(3, missing="ignore", n_init=1, n_jobs=1, random_state=0), wide),
    ]


def _saved(model: Any, rows: list[list[Any]], path: Path) -> _Model:
    model.fit(rows).save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members["SHA256SUMS"]
    few = rows[:6]
    return _Model(path.read_bytes(), members, few, model.predict(few), model.n_clusters)


def _check_file(path: Path, model: _Model, harmless: bool) -> None:
    """Load a file: an error names it and is short, a model predicts."""
    try:
        loaded = load(path)
    except ValueError as error:
        text = str(error)
        require(not harmless, f"a whole file is refused: {text[:200]}")
        require(str(path) in text, f"{type(error).__name__} does not name the file: {text[:200]}")
        require(len(text) <= LONGEST_TEXT, f"{text[:100]} goes on for {len(text)} characters")
        return
    k = len(loaded.cluster_centers_)
    rows = model.rows
    if loaded.n_features_in_ != len(rows[0]):
        rows = [[cell] * loaded.n_features_in_ for cell, *_ in rows]
    labels = loaded.predict(rows)
    require(labels.min() >= 0 and labels.max() < k, "predict of a forged model is out of range")
    require(np.isfinite(loaded.transform(rows)).all(), "transform of a forged model")
    latent = loaded.history_[loaded.best_round_].stage == "latent"
    if latent and hasattr(loaded, "predict_proba"):
        sums = loaded.predict_proba(rows).sum(axis=1)
        require((sums == 1).all(), "predict_proba of a forged model")
        loaded.score_samples(rows)
    loaded.margin(rows)
    loaded.summary()
    if harmless:
        require((labels == model.labels).all(), "predict of a whole file differs")


# -------------------------------------------------------------------------- damage to the file


def _unharmed(r: random.Random, model: _Model, models: list[_Model]) -> tuple[bool, bytes]:
    return True, model.data


def _damaged(r: random.Random, model: _Model, models: list[_Model]) -> tuple[bool, bytes]:
    data = model.data
    for _ in range(r.choice((1, 1, 1, 2, 8))):
        data = r.choice(_DAMAGE)(r, data, r.choice(models).data)
    return data == model.data, data


def _place(r: random.Random, data: bytes) -> int:
    """Return a place in a file, more often near its ends, where the structure is."""
    if r.random() < 0.5:
        return r.randrange(len(data) + 1)
    near = min(len(data), r.randrange(1, 700))
    return near if r.random() < 0.2 else len(data) - near


def _cut(r: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: _place(r, data)]


def _headless(r: random.Random, data: bytes, other: bytes) -> bytes:
    return data[r.randrange(1, 40) :]


def _removed(r: random.Random, data: bytes, other: bytes) -> bytes:
    at = _place(r, data)
    return data[:at] + data[at + r.randrange(1, 60) :]


def _inserted(r: random.Random, data: bytes, other: bytes) -> bytes:
    at = _place(r, data)
    return data[:at] + r.randbytes(r.randrange(1, 20)) + data[at:]


def _overwritten(r: random.Random, data: bytes, other: bytes) -> bytes:
    at = _place(r, data)
    new = r.choice((b"\xff", b"\0", r.randbytes(1))) * r.choice((1, 1, 2, 4, 8))
    return data[:at] + new + data[at + len(new) :]


def _flipped(r: random.Random, data: bytes, other: bytes) -> bytes:
    if not data:
        return data
    flipped = bytearray(data)
    flipped[min(_place(r, data), len(data) - 1)] ^= 1 << r.randrange(8)
    return bytes(flipped)


def _spliced(r: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: _place(r, data)] + other[_place(r, other) :]


def _lengthened(r: random.Random, data: bytes, other: bytes) -> bytes:
    return data + r.choice((b"\0" * 30, other, r.randbytes(20)))


_DAMAGE: list[Callable[[random.Random, bytes, bytes], bytes]] = [
    _cut,
    _headless,
    _removed,
    _inserted,
    _overwritten,
    _flipped,
    _flipped,
    _spliced,
    _lengthened,
]

# ------------------------------------------------------------------- forged, with right checksums


def _archive(members: Members, **odd: Any) -> bytes:
    """Return a zip archive of members with their checksums."""
    sums = "".join(f"{hashlib.sha256(d).hexdigest()}  {name}\n" for name, d in members.items())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", odd.get("compression", zipfile.ZIP_STORED)) as archive:
        for name, data in [*members.items(), ("SHA256SUMS", sums.encode()), *odd.get("more", [])]:
            archive.writestr(zipfile.ZipInfo(name), data, odd.get("compression"))
        archive.comment = odd.get("comment", b"")
    return buffer.getvalue()


_DEEP = json.loads("[" * 200 + "]" * 200)
_NASTY: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3.0,
    0.5,
    -0.0,
    1e308,
    2**31,
    2**63,
    2**64,
    -(2**70),
    "",
    "inf",
    "nan",
    "x",
    "\ud800",
    "\0",
    "a" * 5_000,
    [],
    {},
    [[]],
    [None],
    {"soft": 1},
    {"soft": "x"},
    {"codebook": {}, "codes": []},
    {"": ""},
    _DEEP,
    "1e400",
]
_PARAMS: dict[str, list[Any]] = {
    "n_jobs": [2**29, 2**31, -(2**70), 0, "x", 1.5, [1], {}, True],
    "init": [{}, {"codebook": {}}, {"codes": [[0]]}, [["a", 1]] * 2, 5, "x", None],
    "rounding": [{}, {"soft": 0}, {"soft": "inf"}, {"soft": None}, {"soft": "x"}, 5, "x", []],
    "t": ["inf", "auto", "x", None, 0, -1, [], {}],
    "feature_weight": [[], [1], {"x": 1}, "x", 5, [None] * 2],
    "random_state": ["x", -1, 2**70, [], {}],
    "n_clusters": [0, -1, 2**40, "x", None],
    "missing": ["x", None, 5],
    "refine": ["x", None, "gini", "latent", 5, [], True],
    "n_init": ["auto", "x", 0, 2.5, None],
    "no such parameter": [1],
}


def _paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every part of a JSON document."""
    steps = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
    found = []
    for step, part in steps[:40]:
        found.append((*path, step))
        if isinstance(part, dict | list):
            found += _paths(part, (*path, step))
    return found


def _forged_document(r: random.Random, model: _Model, models: list[_Model]) -> tuple[bool, bytes]:
    document = json.loads(model.members["model.json"])
    for _ in range(r.choice((1, 1, 2))):
        *path, last = r.choice(_paths(document))
        node = document
        for step in path:
            node = node[step]
        action = r.random()
        if action < 0.15:
            del node[last]
        elif action < 0.25 and isinstance(node, list):
            node.insert(last, copy.deepcopy(node[last]))
        elif action < 0.3 and isinstance(node, dict):
            node["no such key"] = 1
        else:
            node[last] = copy.deepcopy(r.choice(_NASTY))  # a second change must not reach the list
    return False, _with_document(model, document)


def _forged_parameter(r: random.Random, model: _Model, models: list[_Model]) -> tuple[bool, bytes]:
    document = json.loads(model.members["model.json"])
    name = r.choice(list(_PARAMS))
    document["params"][name] = r.choice(_PARAMS[name])
    return False, _with_document(model, document)


def _with_document(model: _Model, document: Any) -> bytes:
    return _archive({**model.members, "model.json": json.dumps(document).encode()})


def _forged_text(r: random.Random, model: _Model, models: list[_Model]) -> tuple[bool, bytes]:
    """Damage the text of the document, which is no JSON then, or another one."""
    text = r.choice(_DAMAGE)(r, model.members["model.json"], b"[" * 3000)
    return False, _archive({**model.members, "model.json": text})


def _array_name(r: random.Random, model: _Model) -> str:
    return r.choice([name for name in model.members if name.endswith(".npy")])


def _forged_array(r: random.Random, model: _Model, models: list[_Model]) -> tuple[bool, bytes]:
    """Change values, type or shape of an array."""
    name = _array_name(r, model)
    array = np.load(io.BytesIO(model.members[name]), allow_pickle=False).copy()
    action = r.random()
    if action < 0.5 and array.size:
        info = np.iinfo(array.dtype)
        values = [0, 1, 5, 255, 256, 70_000, info.max, info.min, info.max // 2]
        value = r.choice([v for v in values if info.min <= v <= info.max])
        array.flat[r.randrange(array.size)] = value
    elif action < 0.65:
        array = array.astype(r.choice(("f8", "u1", "i2", ">i4", "?", "U3", "c16", "M8[D]")))
    elif action < 0.8:
        shape = r.choice(((-1,), (1, -1), (-1, 1), (-1, 1, 1)))
        array = array.reshape(shape)
    elif action < 0.9:
        array = np.concatenate([array, array[:1]])
    else:
        array = array[: len(array) // 2]
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return False, _archive({**model.members, name: buffer.getvalue()})


_HEADERS: list[Any] = [
    "{",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (",
    "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<i4', 'fortran_order': True, 'shape': (2,), }",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999,), }",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<i4', 'fortran_order': False, 'shape': 'x', }",
    "{'descr': 'x', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<i4', 'shape': (2,), }",
    "__import__('os')",
    "[" * 300,
    "'''",
    "\x00",
    "(2,",
    "{'descr': '<V0', 'fortran_order': False, 'shape': (10**9,), }",
]


def _forged_header(r: random.Random, model: _Model, models: list[_Model]) -> tuple[bool, bytes]:
    """Give an array another header, or damage the bytes of the one it has."""
    name = _array_name(r, model)
    data = model.members[name]
    if r.random() < 0.5:
        forged = r.choice(_DAMAGE)(r, data, r.choice(list(model.members.values())))
    else:
        header = r.choice(_HEADERS).encode("latin-1") + b"\n"
        start = data[:6] + bytes([r.choice((1, 1, 1, 2, 3, 9)), 0])
        forged = start + len(header).to_bytes(2, "little") + header + data[-16:]
    return False, _archive({**model.members, name: forged})


def _forged_members(r: random.Random, model: _Model, models: list[_Model]) -> tuple[bool, bytes]:
    """Leave out, add, swap or rename members, or pack them in another way."""
    members = dict(model.members)
    action = r.randrange(7)
    if action == 0:
        del members[r.choice(list(members))]
    elif action == 1:
        members[r.choice(("../x.npy", "/etc/x", "x.npy", "a" * 300, "\u00e9.npy", ""))] = b"x"
    elif action == 2:
        name = _array_name(r, model)
        members[name] = r.choice(models).members.get(name, b"")
    elif action == 3:
        return False, _archive(members, compression=zipfile.ZIP_DEFLATED)
    elif action == 4:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return False, _archive(members, more=[("model.json", b"{}")])
    elif action == 5:
        return True, _archive(members, comment=r.randbytes(30))
    else:
        data = bytearray(_archive(members))
        for at in _all(data, b"PK\x01\x02"):
            data[at + 8] ^= r.choice((1, 8, 32))  # encrypted, sized later, patched
            data[at + 10] = r.choice((0, 8, 12, 14, 99))  # way of compression
        return False, bytes(data)
    return False, _archive(members)


def _all(data: bytearray, mark: bytes) -> list[int]:
    places, at = [], data.find(mark)
    while at >= 0:
        places.append(at)
        at = data.find(mark, at + 1)
    return places


_ATTACKS: list[Callable[[random.Random, _Model, list[_Model]], tuple[bool, bytes]]] = [
    _unharmed,
    *[_damaged] * 8,
    *[_forged_document] * 5,
    *[_forged_parameter] * 2,
    _forged_text,
    *[_forged_array] * 3,
    *[_forged_header] * 2,
    *[_forged_members] * 2,
]
