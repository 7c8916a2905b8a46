"""How to make a report again, and how to cite what made it."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from softmodes._estimators.base import ModesEstimator
from softmodes._prepare import Prepare

CITATION = (
    "The softmodes developers, softmodes: clustering of categorical data, version {version}; and "
    "S. T. Gavva, Karthik C. S., S. Punna, Clustering Categorical Data: Soft Rounding k-modes, "
    "arXiv:2210.09640, 2022."
)


def citation() -> str:
    """Return how to cite the package."""
    from softmodes import __version__

    return CITATION.format(version=__version__)


def python_code(model: ModesEstimator, prepare: Prepare | None, source: str | None) -> str:
    """Return Python that fits the model again and writes its report."""
    made = _in_one_line(model)
    table = "X" if prepare is None else "table"
    lines = ["import softmodes", ""]
    lines.append(f"{table} = ...  # the rows" + (f" of {source}" if source else ""))
    if prepare is not None:
        lines += [
            f"prepare = softmodes.{_in_one_line(prepare)}.fit(table)",
            "X = prepare.transform(table)",
        ]
    weights = ""
    if prepare is not None and prepare.weight is not None:
        weights = ", sample_weight=prepare.sample_weight(table)"
    lines.append(f"model = softmodes.{made}.fit(X{weights})")
    more = "" if prepare is None else ", prepare=prepare"
    lines.append(f'softmodes.report(model, {table}{more}).save("report.html")')
    return "\n".join(lines)


def _in_one_line(estimator: ModesEstimator | Prepare) -> str:
    return " ".join(BaseEstimator.__repr__(estimator, N_CHAR_MAX=10_000).split())
