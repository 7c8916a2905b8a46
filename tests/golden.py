"""Fits whose answers are on record: `python tests/golden.py --write` records them anew.

Tables come from a fixed hash of row and column, so that they are the same everywhere and for ever.
Only public names of softmodes are used here. `--write-model` also writes the saved model of this
version anew; those of earlier ones stay, since they show that such models are read.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from softmodes import KModes, SoftModes, load
from softmodes.baselines import Rock, cluster, integer_codes, one_hot_codes
from softmodes.metrics import agreement, expected_cost, hamming_cost

ANSWERS = Path(__file__).with_name("golden.json")
MODELS = {v: Path(__file__).parent / "data" / f"model-v{v}.softmodes" for v in (1, 2)}
MIXED = (2, 2, 3, 4, 5, 7, 9, 12, 16)
NAMES = tuple("abcdefghi")

# ------------------------------------------------------------------------------------- tables


def words(n: int, d: int, seed: int) -> NDArray[np.uint64]:
    """Return 64 scrambled bits for each cell of an n x d table."""
    row = np.arange(n, dtype=np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15)
    column = np.arange(d, dtype=np.uint64)[None] * np.uint64(0xD1B54A32D192ED03)
    word = row + column + np.uint64(seed * 0x8CB92BA72F3D8DD7 + 1 & 2**64 - 1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    return word


def table(n: int, sizes: tuple[int, ...], seed: int = 0, groups: int = 4) -> NDArray[np.int64]:
    """Return integers: each row is near one of a few prototypes, three cells in ten are noise."""
    size = np.array(sizes, np.uint64)
    prototypes = words(groups, len(sizes), seed + 1) % size
    rows = prototypes[(words(n, 1, seed + 2)[:, 0] % np.uint64(groups)).astype(np.intp)]
    noise = words(n, len(sizes), seed + 3) % size
    noisy = words(n, len(sizes), seed + 4) % np.uint64(10) < 3
    return np.where(noisy, noise, rows).astype(np.int64)


def holes(n: int, d: int, seed: int = 9) -> NDArray[np.bool_]:
    """Return which cells are missing: about one in twelve."""
    return words(n, d, seed) % np.uint64(12) == 0


def texts(n: int = 150, seed: int = 0) -> NDArray[Any]:
    """Return a table of strings, some of them not ASCII."""
    letters = np.array([f"{chr(97 + v)}{'é' * (v % 3)}" for v in range(max(MIXED))], object)
    return letters[table(n, MIXED, seed)]


def with_missing(n: int = 150, seed: int = 0, last: Any = None) -> NDArray[Any]:
    """Return a table of strings with missing cells."""
    cells = texts(n, seed)
    cells[holes(n, len(MIXED))] = last
    return cells


def mixed_types(n: int = 120) -> list[list[Any]]:
    """Return rows of columns of one type each, and a last column of many types."""
    makers: list[Callable[[int], Any]] = [
        lambda v: v % 2 == 0,
        lambda v: v - 2,
        lambda v: v / 4,
        lambda v: Decimal(v) / 8,
        lambda v: f"text {v}",
        lambda v: bytes([v, 255 - v]),
        lambda v: dt.date(2020, 1, 1 + v),
        lambda v: dt.datetime(2020, 1, 1 + v, 12),
        lambda v: [None, True, 1, 1.0, 1.5, "1", b"1", dt.date(1, 1, 1), Decimal("1.5")][v % 9],
    ]
    return [
        [make(int(v)) for make, v in zip(makers, row, strict=True)] for row in table(n, MIXED, 7)
    ]


def pandas_frame(n: int = 140) -> pd.DataFrame:
    """Return a frame of many dtypes with missing cells."""
    cells, gone = table(n, MIXED, 11), holes(n, len(MIXED))
    numbers = [pd.Series(cells[:, j]).mask(gone[:, j]) for j in range(len(MIXED))]
    day = pd.to_timedelta(numbers[6], unit="D")
    return pd.DataFrame(
        {
            "a": numbers[0],
            "b": numbers[1].astype("Int8"),
            "c": numbers[2].astype("category"),
            "d": (numbers[3] > 1).astype("boolean"),
            "e": pd.Series(cells[:, 4]).map(lambda v: f"s{v}").mask(gone[:, 4]),
            "f": numbers[5].map(lambda v: f"t{v:.0f}", na_action="ignore").astype("string"),
            "g": pd.Timestamp("2021-03-04") + day,
            "h": pd.Timestamp("2021-03-04", tz="UTC") + pd.to_timedelta(numbers[7], unit="h"),
            "i": pd.to_timedelta(numbers[8], unit="s"),
        }
    )


def polars_frame(n: int = 140) -> pl.DataFrame:
    """Return a polars frame of many types with missing cells."""
    cells, gone = table(n, MIXED, 12), holes(n, len(MIXED))
    rows = [
        [None if hole else int(v) for v, hole in zip(column, lost, strict=True)]
        for column, lost in zip(cells.T, gone.T, strict=True)
    ]
    frame = pl.DataFrame(dict(zip(NAMES, rows, strict=True)))
    return frame.with_columns(
        pl.col("a").cast(pl.Boolean),
        pl.col("b").cast(pl.UInt8),
        pl.col("c").cast(pl.Float32),
        pl.col("d").cast(pl.String),
        pl.col("e").cast(pl.String).cast(pl.Categorical),
        pl.col("f").cast(pl.String).cast(pl.Enum([str(v) for v in range(20)])),
        pl.col("g").cast(pl.Int32).cast(pl.Date),
        pl.col("h").cast(pl.Int64).cast(pl.Datetime("us")),
        pl.col("i").cast(pl.Int64).cast(pl.Duration("ms")),
    )


def arrow_table(n: int = 140) -> pa.Table:
    """Return an Arrow table in three chunks, with dictionaries and nulls."""
    cells, gone = table(n, MIXED, 13), holes(n, len(MIXED))
    columns = [pa.array(cells[:, j], mask=gone[:, j]) for j in range(len(MIXED))]
    columns[2] = columns[2].cast(pa.string()).dictionary_encode()
    columns[3] = columns[3].cast(pa.large_string())
    columns[4] = columns[4].cast(pa.decimal128(24, 2))
    columns[5] = columns[5].cast(pa.int32()).cast(pa.date32())
    columns[6] = columns[6].cast(pa.timestamp("ms", tz="Europe/Paris"))
    columns[7] = columns[7].cast(pa.string()).cast(pa.binary())
    whole = pa.table(dict(zip(NAMES, columns, strict=True)))
    return pa.concat_tables([whole.slice(0, 1), whole.slice(1, 70), whole.slice(71)])


def floats(n: int = 130) -> NDArray[np.float64]:
    """Return floats with both zeros, infinity and missing cells."""
    odd = np.array([0.0, -0.0, 0.5, math.inf, -math.inf, 1e300, 2.0, 3.0, math.nan] + [7.25] * 7)
    return odd[table(n, MIXED, 14)]


def dates(n: int = 130) -> NDArray[Any]:
    """Return datetime64 with missing cells."""
    cells = np.datetime64("1999-12-28", "D") + table(n, MIXED, 15).astype("m8[D]")
    cells[holes(n, len(MIXED))] = np.datetime64("NaT")
    return cells


def many_values(n: int = 6000, seed: int = 20) -> NDArray[np.int64]:
    """Return columns of about 5000, 400, 40 and 3 values, the first two with structure."""
    groups = table(n, (5, 5, 40, 3), seed, groups=5)
    spread = words(n, 4, seed + 7) % np.array([1000, 80, 1, 1], np.uint64)
    return groups * np.array([1000, 80, 1, 1]) + spread.astype(np.int64)


def csr(n: int = 200, d: int = 60) -> sparse.csr_array:
    """Return a sparse matrix with one cell in six stored."""
    cells = table(n, (3,) * d, 30)
    return sparse.csr_array(np.where(words(n, d, 31) % np.uint64(6) == 0, cells, 0))


def small_steps(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Round with probability proportional to the square of the count."""
    squares = np.asarray(counts, np.float64) ** 2
    return squares / squares.sum(axis=1, keepdims=True)


# --------------------------------------------------------------------------------------- fits


@dataclass(frozen=True)
class Fit:
    """One fit, described by what it takes: an estimator's parameters and a table."""

    k: int
    rows: Callable[[], Any]
    params: dict[str, Any] = field(default_factory=dict)
    weight: Callable[[int], NDArray[Any]] | None = None
    estimator: type = SoftModes


def fit(k: int, rows: Callable[[], Any], **params: Any) -> Fit:
    """Return a fit by SoftModes, not refined; `weight` and `estimator` are no parameters of it."""
    own = {name: params.pop(name) for name in ("weight", "estimator") if name in params}
    if own.get("estimator", SoftModes) is SoftModes:
        t = {} if "rounding" in params else {"t": 3.0}
        params = {"refine": None, "n_init": 10, **t, **params}
    return Fit(k, rows, params, **own)


def refined(refine: str, k: int, rows: Callable[[], Any], **params: Any) -> Fit:
    """Return a fit that ends with a finish."""
    return fit(k, rows, refine=refine, **{"n_init": 3, **params})


def integers(n: int) -> NDArray[np.int64]:
    """Return weights from 0 to 4."""
    return (words(n, 1, 40)[:, 0] % np.uint64(5)).astype(np.int64)


def fractions(n: int) -> NDArray[np.float64]:
    """Return weights that no power of two makes whole."""
    return 0.1 + (words(n, 1, 41)[:, 0] % np.uint64(97)).astype(np.float64) / 97


def fine_eighths(n: int) -> NDArray[np.float64]:
    """Return weights that are whole eighths."""
    return (1 + integers(n)) / 8


STRINGS = texts
GIVEN = [list(row) for row in texts()[[3, 77, 140]]]
BY_NAME = {"a": 2.0, "c": 0.5, "i": 3.0}
EACH = [1.0, 0.25, 2.0, 0.0, 1.5, 1.0, 3.0, 0.125, 1.0]
ODD = [0.1 * (j + 1) for j in range(9)]


FITS: dict[str, Fit] = {
    "defaults": fit(3, STRINGS),
    "t 1": fit(3, STRINGS, t=1),
    "t 1, last": fit(3, STRINGS, t=1.0, select="last", max_iter=12, n_init=2),
    "t 2.5": fit(4, STRINGS, t=2.5),
    "t inf": fit(4, STRINGS, t=math.inf),
    "the paper's algorithm": fit(4, STRINGS, select="last", n_init=1, max_iter=30),
    "rounding uniform": fit(3, STRINGS, rounding="uniform", n_init=3),
    "rounding plurality": fit(3, STRINGS, rounding="plurality", n_init=3),
    "rounding callable": fit(4, STRINGS, rounding=small_steps, n_init=3),
    "rounding callable, fractions": fit(
        3, STRINGS, rounding=small_steps, n_init=2, weight=fractions
    ),
    "init d1": fit(5, STRINGS, init="d1", n_init=3),
    "init d1-parallel": fit(9, STRINGS, init="d1-parallel", n_init=3),
    "init d1-parallel, missing ignore, weights": fit(
        12, with_missing, init="d1-parallel", missing="ignore", feature_weight=EACH, weight=integers
    ),
    "init d1-parallel, 300 clusters": fit(
        300, lambda: table(1500, MIXED * 3, 28, groups=300), init="d1-parallel", n_init=1
    ),
    "init random": fit(5, STRINGS, init="random", n_init=3),
    "init huang": fit(5, STRINGS, init="huang", n_init=3),
    "init cao": fit(5, STRINGS, init="cao", n_init=2),
    "init given rows": fit(3, STRINGS, init=GIVEN, n_init=2),
    "init d1, weights": fit(5, STRINGS, init="d1", n_init=2, weight=fine_eighths),
    "init random, weights": fit(5, STRINGS, init="random", n_init=2, weight=integers),
    "init huang, weights": fit(5, STRINGS, init="huang", n_init=2, weight=fractions),
    "init cao, weights": fit(5, STRINGS, init="cao", n_init=1, weight=integers),
    "one restart": fit(6, STRINGS, n_init=1),
    "three rounds": fit(6, STRINGS, max_iter=3, n_init=4),
    "patience 2": fit(6, STRINGS, patience=2, t=1),
    "patience 40": fit(4, STRINGS, patience=40, t=1, n_init=2),
    "missing category": fit(4, with_missing, n_init=3),
    "missing ignore": fit(4, with_missing, missing="ignore", n_init=3),
    "missing ignore, t 1, d1": fit(4, with_missing, missing="ignore", init="d1", t=1, n_init=2),
    "missing error, none missing": fit(4, STRINGS, missing="error", n_init=2),
    "missing ignore, huang": fit(4, with_missing, missing="ignore", init="huang", n_init=2),
    "missing ignore, cao": fit(4, with_missing, missing="ignore", init="cao", n_init=1),
    "integer weights": fit(4, STRINGS, weight=integers, n_init=3),
    "eighths as weights": fit(4, STRINGS, weight=fine_eighths, n_init=3),
    "fractional weights": fit(4, STRINGS, weight=fractions, n_init=3),
    "feature weights": fit(4, STRINGS, feature_weight=EACH, n_init=3),
    "odd feature weights": fit(4, STRINGS, feature_weight=ODD, n_init=3, weight=fractions),
    "feature weights by name": fit(4, pandas_frame, feature_weight=BY_NAME, n_init=3),
    "feature weights, 5000 values": fit(
        5, many_values, feature_weight=[2.0, 0.5, 1.0, 3.0], n_init=1, max_iter=8
    ),
    "seed of 64 bits": fit(4, STRINGS, random_state=2**64 - 5, n_init=2),
    "two threads": fit(3, STRINGS, n_jobs=2),
    "two threads, 5000 values": fit(5, many_values, n_jobs=2, n_init=2, max_iter=8),
    "KModes": fit(4, STRINGS, estimator=KModes),
    "KModes, huang, missing": fit(
        4, with_missing, estimator=KModes, init="huang", missing="ignore", n_init=4
    ),
    "KModes, weights": fit(
        3, STRINGS, estimator=KModes, feature_weight=EACH, weight=fractions, n_init=3
    ),
    "KModes, given rows": fit(3, STRINGS, estimator=KModes, init=GIVEN, n_init=1),
    "pandas": fit(3, pandas_frame, n_init=3),
    "pandas, ignore": fit(3, pandas_frame, missing="ignore", n_init=3),
    "polars": fit(3, polars_frame, n_init=3),
    "Arrow": fit(3, arrow_table, n_init=3),
    "Arrow, ignore, two threads": fit(3, arrow_table, missing="ignore", n_jobs=2, n_init=3),
    "int8": fit(3, lambda: table(160, MIXED, 21).astype(np.int8), n_init=3),
    "uint8 by column": fit(
        3, lambda: np.asfortranarray(table(160, MIXED, 21).astype(np.uint8)), n_init=3
    ),
    "uint64": fit(3, lambda: table(160, MIXED, 21).astype(np.uint64) + 2**63, n_init=3),
    "booleans": fit(3, lambda: table(160, (2,) * 20, 22) == 1, n_init=3),
    "fixed-length strings": fit(3, lambda: texts().astype(str), n_init=3),
    "fixed-length bytes": fit(3, lambda: table(150, MIXED, 5).astype("S2"), n_init=3),
    "floats": fit(3, floats, n_init=3),
    "dates": fit(3, dates, n_init=3),
    "durations": fit(3, lambda: table(130, MIXED, 16).astype("m8[ms]"), n_init=3),
    "list of rows": fit(3, mixed_types, n_init=3),
    "sparse": fit(4, csr, n_init=3),
    "csc, d1": fit(4, lambda: csr().tocsc(), init="d1", n_init=2),
    "17 to 40 values": fit(6, lambda: table(400, (17, 18, 25, 40, 3, 2), 23), n_init=3),
    "257 to 900 values": fit(6, lambda: table(1500, (257, 300, 900, 5, 16), 24), n_init=2),
    "257 to 900 values, t 1": fit(6, lambda: table(1500, (257, 300, 900, 5, 16), 24), t=1),
    "5000 values": fit(5, many_values, n_init=2, max_iter=8),
    "5000 values, cao": fit(5, many_values, init="cao", n_init=1, max_iter=8),
    "one row": fit(1, lambda: texts(1)),
    "one column": fit(3, lambda: texts()[:, 7:8], n_init=3),
    "constant columns": fit(2, lambda: np.ones((40, 3), np.int64), n_init=2),
    "some constant columns": fit(3, lambda: table(90, (1, 4, 1, 5, 2), 25), n_init=2),
    "300 binary columns": fit(4, lambda: table(300, (2,) * 300, 26).astype(np.uint8), n_init=2),
    "one cluster": fit(1, STRINGS, n_init=2),
    "a cluster for each row": fit(60, lambda: texts(60), n_init=2),
    "240 clusters": fit(240, lambda: table(1200, (2,) * 60, 27, groups=240), n_init=1, t=1),
    "300 clusters, mixed": fit(300, lambda: table(1500, MIXED * 3, 28, groups=300), n_init=1),
    "300 clusters, weights": fit(
        300,
        lambda: table(1500, MIXED * 3, 28, groups=300),
        n_init=1,
        feature_weight=EACH * 3,
        weight=integers,
    ),
    "200 clusters, KModes": fit(
        200, lambda: table(1000, (2, 3) * 40, 29, groups=200), estimator=KModes, n_init=2
    ),
    "latent": refined("latent", 3, STRINGS),
    "latent, all defaults": Fit(4, STRINGS, {}),
    "latent, t auto": refined("latent", 4, STRINGS, t="auto", n_init=6),
    "latent, missing ignore": refined("latent", 4, with_missing, missing="ignore"),
    "latent, integer weights": refined("latent", 4, STRINGS, weight=integers),
    "latent, fractional weights": refined("latent", 4, STRINGS, weight=fractions),
    "latent, feature weights": refined("latent", 4, STRINGS, feature_weight=ODD),
    "latent, given rows": refined("latent", 3, STRINGS, init=GIVEN, n_init=1),
    "latent, pandas, two threads": refined("latent", 3, pandas_frame, n_jobs=2),
    "latent, sparse": refined("latent", 4, csr),
    "latent, 257 to 900 values": refined(
        "latent", 6, lambda: table(1500, (257, 300, 900, 5, 16), 24), n_init=2
    ),
    "latent, 5000 values": refined("latent", 5, many_values, n_init=1, max_iter=8),
    "latent, one row": refined("latent", 1, lambda: texts(1)),
    "latent, constant columns": refined("latent", 2, lambda: np.ones((40, 3), np.int64)),
    "latent, a cluster for each row": refined("latent", 60, lambda: texts(60)),
    "latent, 300 binary columns": refined(
        "latent", 4, lambda: table(300, (2,) * 300, 26).astype(np.uint8)
    ),
    "latent, 300 clusters": refined(
        "latent", 300, lambda: table(1500, MIXED * 3, 28, groups=300), n_init=1
    ),
    "gini": refined("gini", 3, STRINGS),
    "gini, missing ignore": refined("gini", 4, with_missing, missing="ignore"),
    "gini, weights": refined("gini", 4, STRINGS, weight=fractions, feature_weight=ODD),
    "gini, 257 to 900 values": refined(
        "gini", 6, lambda: table(1500, (257, 300, 900, 5, 16), 24), n_init=2
    ),
    "gini, 240 clusters": refined(
        "gini", 240, lambda: table(1200, (2,) * 60, 27, groups=240), n_init=1
    ),
    "gini, a cluster for each row": refined("gini", 60, lambda: texts(60)),
}


def run(name: str) -> Any:
    """Return the model of a fit, and its table."""
    asked = FITS[name]
    params = {"random_state": 7, "n_jobs": 1, **asked.params}
    rows = asked.rows()
    weight = asked.weight and asked.weight(n_rows(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return asked.estimator(asked.k, **params).fit(rows, sample_weight=weight), rows


# ------------------------------------------------------------------------------------ answers


def digest(array: Any) -> str:
    """Return a digest of the values of an array, and of what they are."""
    dense = array.toarray() if sparse.issparse(array) else np.asarray(array)
    kind = f"{dense.dtype.kind} {dense.shape} "
    return hashlib.sha256((kind + repr(dense.tolist())).encode()).hexdigest()[:20]


def describe(model: Any, rows: Any) -> dict[str, Any]:
    """Return everything that a fit found out, in a form to be compared."""
    return {
        "labels": digest(model.labels_),
        "sizes": [repr(size) for size in np.asarray(model.cluster_sizes_).tolist()],
        "centers": digest(model.cluster_centers_),
        "counts": [digest(counts) for counts in model.cluster_counts_][:12],
        "categories": [digest(values) for values in model.categories_][:12],
        "cost": repr(float(model.cost_)),
        "expected_cost": repr(float(model.expected_cost_)),
        "history": [describe_round(round_) for round_ in model.history_],
        "n_iter": model.n_iter_,
        "best_round": model.best_round_,
        "converged": model.converged_,
        **describe_use(model, rows),
    }


def describe_round(round_: Any) -> str:
    """Return all that is known of a round."""
    cost = None if round_.cost is None else float(round_.cost)
    costs = f"{cost!r} {float(round_.expected_cost)!r}"
    what = f"{costs} {round_.clusters} {'moved' * round_.moved}"
    if round_.stage == "modes":
        return what
    return f"{what} {round_.stage} {float(round_.objective)!r}"


def describe_use(model: Any, rows: Any) -> dict[str, Any]:
    """Return what a model says of rows."""
    found = {
        "predict": digest(model.predict(rows)),
        "transform": digest(model.transform(rows)),
        "score": repr(float(model.score(rows))),
    }
    if hasattr(model, "predict_proba"):
        found["predict_proba"] = digest(model.predict_proba(rows))
        found["score_samples"] = digest(model.score_samples(rows))
    return found


def describe_functions() -> dict[str, Any]:
    """Return the answers of the metrics and of the other methods."""
    cells = with_missing()
    planted = words(len(cells), 1, 2)[:, 0] % np.uint64(4)
    labels = cluster("k-modes", cells, 4, random_state=3)
    centers = cells[:4]
    scores = agreement(planted, labels)
    rock = Rock(4, theta=0.4, random_state=3).fit(cells)
    return {
        "k-modes": digest(labels),
        "softmodes": digest(cluster("softmodes", cells, 4, random_state=3, t=2.5)),
        "rock": digest(rock.labels_),
        "codes": digest(integer_codes(cells)),
        "one-hot codes": digest(one_hot_codes(cells)),
        "agreement": {name: f"{score:.9g}" for name, score in scores.items()},
        "hamming_cost": hamming_cost(cells, labels, centers),
        "hamming_cost, ignore": hamming_cost(cells, labels, centers, missing="ignore"),
        "expected_cost": repr(float(expected_cost(cells, labels))),
        "expected_cost, ignore": repr(float(expected_cost(cells, labels, missing="ignore"))),
    }


def saved_rows() -> pd.DataFrame:
    """Return the rows of the saved model: missing cells, a wide column, several types."""
    frame = pandas_frame(700)
    frame["a"] = [f"value {v}" for v in words(700, 1, 50)[:, 0] % np.uint64(330)]
    return frame


def write_model() -> None:
    """Write the saved model of this version anew: as that of version 1, and refined."""
    model = SoftModes(
        5, t=2.5, missing="ignore", feature_weight=BY_NAME, n_init=2, random_state=11, n_jobs=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(saved_rows(), sample_weight=fine_eighths(700)).save(MODELS[2])


def describe_saved_model(version: int) -> dict[str, Any]:
    """Return what a saved model knows and says."""
    return describe(load(MODELS[version]), saved_rows())


def n_rows(rows: Any) -> int:
    """Return the number of rows of any table."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def recorded() -> dict[str, Any]:
    """Return the answers on record."""
    answers: dict[str, Any] = json.loads(ANSWERS.read_text())
    return answers


def write() -> None:
    """Record the answers of this tree."""
    answers = {
        "fits": {name: describe(*run(name)) for name in FITS},
        "functions": describe_functions(),
        "saved models": {str(v): describe_saved_model(v) for v in MODELS},
    }
    ANSWERS.write_text(json.dumps(answers, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if "--write-model" in sys.argv:
        write_model()
    if "--write" in sys.argv:
        write()
