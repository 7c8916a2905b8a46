"""The notes of the report: sentences that belong beside an experiment's tables."""

from __future__ import annotations

from softmodes._paper.summary import Found, Series


def notes_of(found: Found) -> list[str]:
    """Return where runs were capped, and what else the experiment has to say."""
    capped = [_cap_note(series) for series in found.series if series.capped]
    return capped + [note for make in found.experiment.notes for note in make(found)]


def _cap_note(series: Series) -> str:
    rounds = [record["rounds"] for record in series.records if record["capped"]]
    return (
        f"{series.data.title}: {series.algorithm.title} was capped at "
        f"{series.algorithm['cap']:g} seconds in {series.capped} of {len(series.records)} runs, "
        f"after {min(rounds)} to {max(rounds)} rounds."
    )
