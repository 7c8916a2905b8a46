"""What a model keeps for its report, so that it can be written again without the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softmodes._choice.rule import Verdict
from softmodes._report.findings import N_BINS, Findings
from softmodes._report.plain import from_plain, to_plain

KEY = "report"  # in the metadata of a model


def kept(findings: Findings) -> dict[str, Any]:
    """Return findings as metadata of a model: values that JSON can hold."""
    return {KEY: to_plain(findings)}


def findings_in(metadata: Mapping[str, Any], n_groups: int) -> Findings:
    """Return the findings that a model keeps; ValueError if there are none, or not of this model.

    A file may come from anywhere: what does not fit together is refused.
    """
    if KEY not in metadata:
        raise ValueError(
            "X=None: the model keeps nothing of its rows to report. Pass X, the rows of the fit, "
            "or a model that was saved with metadata=report.metadata."
        )
    try:
        findings = from_plain(Findings, metadata[KEY])
        _check(findings, n_groups)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"What the model keeps for its report cannot be read: {error}. Pass X, the rows of the "
            "fit."
        ) from error
    return findings


def _check(findings: Findings, n_groups: int) -> None:
    margins, again = findings.margins, findings.again
    groups = range(n_groups)
    _require(findings.verdict in set(Verdict), "the verdict")
    _require(len(margins.undecided) == n_groups and len(margins.bins) == N_BINS, "the margins")
    _require(all(p.group in groups and p.other in groups for p in margins.pairs), "the pairs")
    _require(again is None or len(again.by_group) == n_groups, "how groups are found again")
    for column in findings.described:
        whole = len(column.values) == len(column.counts)
        _require(whole and all(len(row) == n_groups for row in column.counts), "a description")
    if findings.swept is not None:
        _require(findings.swept.verdict in set(Verdict), "the verdict of the sweep")
        _require(all(row.verdict in set(Verdict) for row in findings.swept.tried), "the sweep")
    _require(findings.origin.n_rows > 0, "the number of rows")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"something is wrong with {what}")
