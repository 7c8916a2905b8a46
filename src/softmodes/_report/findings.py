"""What only the rows can tell of a model: found once, and kept with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes._choice.measure import TIED
from softmodes._choice.outcome import Sweep
from softmodes._choice.rule import Thresholds, Verdict
from softmodes._model.clustering import Clustering
from softmodes._rows.stores import Opened

Floats = NDArray[np.float64]

N_BINS = 20  # of the histogram of margins
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Tried:
    """What a sweep knows of one number of groups."""

    k: int
    explained: float
    shuffled: float
    same_again: float
    other_80: float
    smallest: float
    tied: float
    valley: float
    deciding_columns: float
    verdict: str
    why: str


@dataclass(frozen=True)
class Swept:
    """What a sweep has found."""

    tried: tuple[Tried, ...]
    pick: int | None
    pays: int  # the number with the best description: more do not pay
    solid: int | None
    more: bool
    verdict: str
    why: str
    sentence: str

    def of(self, k: int) -> Tried | None:
        """Return what is known of one number of groups, if it was tried."""
        return next((row for row in self.tried if row.k == k), None)


@dataclass(frozen=True)
class Again:
    """Whether the groups are found again in other parts of the rows."""

    whole: float
    by_group: tuple[float, ...]
    n_parts: int


@dataclass(frozen=True)
class Pair:
    """Rows of one group that another fits about as well."""

    group: int
    other: int
    rows: float


@dataclass(frozen=True)
class Margins:
    """How sure the groups of the rows are: weights of rows, by margin from 0 to 1."""

    bins: tuple[float, ...]
    undecided: tuple[float, ...]  # rows of each group that another fits about as well
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Described:
    """A column that was not used, by group: weights of rows by value, then by group."""

    column: str
    values: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class ColumnLine:
    """What was done with a column of the table, and why."""

    column: str
    kind: str
    action: str
    why: str
    option: str
    n_values: int
    missing: float


@dataclass(frozen=True)
class Origin:
    """Where the rows came from, and how they were read."""

    n_rows: int
    weighted: bool
    digest: str
    date: str
    source: str | None = None
    read_as: str | None = None
    command: str | None = None
    model_file: str | None = None


@dataclass(frozen=True)
class Findings:
    """All that only the rows can tell: a model that keeps it can be reported without them."""

    origin: Origin
    verdict: str
    swept: Swept | None
    again: Again | None
    margins: Margins
    described: tuple[Described, ...]
    columns: tuple[ColumnLine, ...]


def swept(sweep: Sweep) -> Swept:
    """Return what a sweep has found, as a plain value."""
    columns = sweep.columns()
    columns["why"] = [sweep.choice.reasons[k] for k in columns["k"]]
    names = [field.name for field in fields(Tried)]
    rows = zip(*(columns[name] for name in names), strict=True)
    return Swept(
        tuple(Tried(**dict(zip(names, row, strict=True))) for row in rows),
        sweep.pick,
        sweep.choice.pays,
        sweep.solid,
        sweep.more,
        sweep.verdict,
        sweep.why,
        sweep.sentence(),
    )


def verdict_of(k: int, found: Swept | None, again: Again | None, is_the_sweeps: bool) -> Verdict:
    """Return how far a model of k groups is to be trusted.

    As the sweep says, and not further than it is found again, unless the sweep tried it itself.
    """
    limits = Thresholds()
    if found is not None and k == 1:
        return Verdict(found.verdict)
    row = None if found is None else found.of(k)
    # Without a row nobody knows whether there is anything to be found.
    swept_verdict = Verdict.CARE if row is None else Verdict(row.verdict)
    if again is None or (row is not None and is_the_sweeps):
        return swept_verdict
    own = Verdict.SOLID
    if not again.whole >= limits.solid_found_again:
        own = Verdict.CARE if again.whole >= limits.found_again else Verdict.DO_NOT_USE
    order = (Verdict.SOLID, Verdict.CARE, Verdict.DO_NOT_USE)
    return max(swept_verdict, own, key=order.index)


def margins_of(found: Clustering, opened: Opened) -> Margins:
    """Return how sure the groups of some rows are, and between which groups rows are undecided."""
    k = len(found.centers)
    store, weight = opened.store, opened.rows
    weights = np.ones(store.n_rows) if weight.counts is None else weight.counts * weight.unit
    margin = np.asarray(found.margin(store))
    bins = np.minimum((margin * N_BINS).astype(np.intp), N_BINS - 1)
    heights = np.bincount(bins, weights, minlength=N_BINS)
    if k == 1:
        return Margins(tuple(heights.tolist()), (0.0,), ())
    first, second = np.asarray(found.predict(store)), found.second(store)
    undecided = margin < TIED
    by_group = np.bincount(first[undecided], weights[undecided], minlength=k)
    both = np.zeros((k, k))
    np.add.at(both, (first[undecided], second[undecided]), weights[undecided])
    both = np.triu(both + both.T)
    a, b = np.nonzero(both)
    pairs = sorted(
        (Pair(int(i), int(j), float(both[i, j])) for i, j in zip(a, b, strict=True)),
        key=lambda pair: (-pair.rows, pair.group, pair.other),
    )
    return Margins(tuple(heights.tolist()), tuple(by_group.tolist()), tuple(pairs))


def digest_of(opened: Opened) -> str:
    """Return a digest of what the cells of a table hold, in the order of its rows and columns."""
    digest = hashlib.sha256(json.dumps(opened.codebook.to_json()).encode())
    n_rows = opened.store.n_rows
    for first in range(0, n_rows, _CHUNK):
        rows = opened.store.rows(np.arange(first, min(first + _CHUNK, n_rows)))
        digest.update(rows.astype("<i4").tobytes())
    return digest.hexdigest()


def with_origin(findings: Findings, told: Mapping[str, str | None]) -> Findings:
    """Return the findings with what is told now of where the rows came from."""
    known: dict[str, Any] = {name: text for name, text in told.items() if text is not None}
    return replace(findings, origin=replace(findings.origin, **known))
