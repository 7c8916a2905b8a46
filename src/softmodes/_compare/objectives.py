"""Who finds the lower objective, among contenders that lower the same one: no classes needed."""

from __future__ import annotations

from dataclasses import dataclass

from softmodes._compare.summary import Summary

# The expected cost of SoftModes(refine="gini") is the inertia of KMeans on one-hot codes; the cost
# of k-modes is that of the package kmodes. A latent class model with a prior has one of its own.
SAME_OBJECTIVE = (
    ("SoftModes gini", "KMeans"),
    ("KModes", "kmodes Huang"),
    ("KModes", "kmodes Cao"),
)
_EQUAL = 1e-6  # of the objective


@dataclass(frozen=True)
class Beside:
    """How often ours is lower, equal and higher over tables, and by how much on average."""

    ours: str
    theirs: str
    lower: int
    equal: int
    higher: int
    mean_difference: float  # ours minus theirs, as a share of the larger
    most_above: tuple[float, str]  # and on which table


def beside(summary: Summary, setting: str) -> list[Beside]:
    """Return who finds lower objectives at a setting, for each pair that was run."""
    found = []
    for ours, theirs in SAME_OBJECTIVE:
        gaps = dict(_gaps(summary, setting, ours, theirs))
        if gaps:
            worst = max(gaps, key=gaps.__getitem__)
            found.append(
                Beside(
                    ours=ours,
                    theirs=theirs,
                    lower=sum(gap < -_EQUAL for gap in gaps.values()),
                    equal=sum(abs(gap) <= _EQUAL for gap in gaps.values()),
                    higher=sum(gap > _EQUAL for gap in gaps.values()),
                    mean_difference=sum(gaps.values()) / len(gaps),
                    most_above=(gaps[worst], worst),
                )
            )
    return found


def _gaps(summary: Summary, setting: str, ours: str, theirs: str) -> list[tuple[str, float]]:
    gaps = []
    for table in summary.tables:
        a, b = (summary.cell(table, name, setting) for name in (ours, theirs))
        if a and b and a.with_objective and b.with_objective:
            larger = max(abs(a.objective()), abs(b.objective()))
            gaps.append((table, (a.objective() - b.objective()) / larger if larger else 0.0))
    return gaps
