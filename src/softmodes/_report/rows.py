"""From a table to the findings: every pass over the rows that a report needs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from softmodes._choice.outcome import Sweep
from softmodes._choice.sweeping import sweep as sweep_of
from softmodes._estimators.base import ModesEstimator
from softmodes._model.parts import part_size
from softmodes._model.profile import feature_names
from softmodes._parameters import thread_count
from softmodes._prepare import Advice, Prepare, advise
from softmodes._prepare.options import ColumnRefs
from softmodes._report.findings import (
    Again,
    ColumnLine,
    Described,
    Findings,
    Origin,
    digest_of,
    margins_of,
    swept,
    verdict_of,
)
from softmodes._rows.stores import Opened, open_store

MOST_SWEPT = 20  # groups of a model up to which a report makes its own sweep
_LEAST_SWEPT = 8


def find(
    model: ModesEstimator,
    X: Any,
    *,
    sweep: Sweep | bool | None,
    prepare: Prepare | None,
    describe: ColumnRefs,
    sample_weight: Any,
    told: Mapping[str, str | None],
) -> Findings:
    """Return all that only the rows can tell of a model that was fitted on them.

    `told` is what a user says of where they come from.
    """
    if describe is None and prepare is not None:
        describe = prepare.describe
    if sample_weight is None and prepare is not None:
        sample_weight = prepare.sample_weight(X)
    table = X if prepare is None else prepare.transform(X)
    opened = model._open(table, sample_weight, needed_by="report")
    _check_rows(model, opened)
    k = len(model._clustering.centers)
    made = _sweep(model, table, sample_weight, k) if sweep in (None, True) else sweep
    tried = swept(made) if isinstance(made, Sweep) else None
    again = _again(model, table, sample_weight, opened.store.n_rows, k)
    return Findings(
        origin=Origin(
            n_rows=opened.store.n_rows,
            weighted=sample_weight is not None,
            digest=digest_of(opened),
            date=datetime.now(UTC).date().isoformat(),
            **told,
        ),
        verdict=str(verdict_of(k, tried, again, _is_of(model, made, k))),
        swept=tried,
        again=again,
        margins=margins_of(model._clustering, opened),
        described=_described(model, X, opened, describe, prepare, sample_weight),
        columns=_columns(X, prepare, opened),
    )


def _check_rows(model: ModesEstimator, opened: Opened) -> None:
    labels = getattr(model, "labels_", None)
    if labels is not None and len(labels) != opened.store.n_rows:
        raise ValueError(
            f"X has {opened.store.n_rows} rows, and the model was fitted on {len(labels)}. "
            "Pass the rows of the fit."
        )


def _sweep(model: ModesEstimator, table: Any, sample_weight: Any, k: int) -> Sweep | None:
    """Sweep the table with the parameters of the model; None for more groups than that is for."""
    if k > MOST_SWEPT:
        return None
    params = model.get_params(deep=False)
    seed = params["random_state"]
    return sweep_of(
        table,
        (2, max(_LEAST_SWEPT, k)),
        t=params.get("t", "auto") if params.get("rounding", "soft") == "soft" else "auto",
        missing=params["missing"],
        sample_weight=sample_weight,
        feature_weight=params["feature_weight"],
        n_jobs=params["n_jobs"],
        random_state=0 if seed is None else seed,
    )


def _is_of(model: ModesEstimator, sweep: Any, k: int) -> bool:
    """Tell whether the sweep has found the groups of the model itself."""
    own = sweep.fits.fitted.get(k) if isinstance(sweep, Sweep) else None
    if own is None or own is model:
        return own is model and own is not None
    labels = getattr(model, "labels_", None)
    return labels is not None and np.array_equal(own.labels_, labels)


def _again(
    model: ModesEstimator, table: Any, sample_weight: Any, n_rows: int, k: int
) -> Again | None:
    if k == 1 or k > part_size(n_rows):
        return None
    found = model.stability(table, sample_weight)
    return Again(found.whole, tuple(found.by_cluster.tolist()), len(found.agreements))


def _described(
    model: ModesEstimator,
    X: Any,
    opened: Opened,
    describe: ColumnRefs,
    prepare: Prepare | None,
    sample_weight: Any,
) -> tuple[Described, ...]:
    """Count the values of columns by group; numbers in bands, rare values as other."""
    if describe is None or describe == []:
        return ()
    shown = Prepare(only=describe, keep=describe, na=None if prepare is None else prepare.na)
    other = open_store(
        shown.fit_transform(X),
        sample_weight=sample_weight,
        n_threads=thread_count(model.n_jobs),
    )
    labels, k = model._clustering.predict(opened.store), len(model._clustering.centers)
    counts, _ = other.store.count(labels, k)
    codebook, unit = other.codebook, other.rows.unit
    found = []
    for j, name in enumerate(shown.get_feature_names_out()):
        by_value = (counts.feature(j) * unit).T
        values = ["missing" if value is None else str(value) for value in codebook.values(j)]
        found.append(
            Described(str(name), tuple(values), tuple(map(tuple, by_value.astype(float).tolist())))
        )
    return tuple(found)


def _columns(X: Any, prepare: Prepare | None, opened: Opened) -> tuple[ColumnLine, ...]:
    """Return what was done with each column; without a preparation all are used as they are."""
    if prepare is None and opened.elsewhere:
        return _columns_of(opened)
    advice: Advice = advise(X) if prepare is None else prepare.advice_
    return tuple(
        ColumnLine(
            column=line.column,
            kind=line.verdict.kind,
            action="use" if prepare is None else line.verdict.action,
            why="; ".join(reason.why for reason in line.reasons),
            option=line.reasons[0].option,
            n_values=line.n_values,
            missing=float(line.missing),
        )
        for line in advice.lines
    )


def _columns_of(opened: Opened) -> tuple[ColumnLine, ...]:
    """Return the columns of rows that advice does not look at: those of files and streams."""
    codebook, counts = opened.codebook, opened.store.column_counts()
    lines = []
    for j, name in enumerate(feature_names(codebook)):
        _, code, count = counts.nonzero(j)
        n_values = int(codebook.lengths[j])
        held = int(count[code < n_values].sum())
        lines.append(
            ColumnLine(
                column=name,
                kind="category",
                action="use",
                why=f"{n_values:,} value{'' if n_values == 1 else 's'}",
                option="",
                n_values=n_values,
                missing=1.0 - held / max(1, opened.store.total_weight),
            )
        )
    return tuple(lines)
