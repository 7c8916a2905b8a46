"""Clustering of categorical data: SoftModes and k-modes, fast, exact and reproducible.

Names are imported when first used, since scikit-learn alone takes a second to import.

Examples
--------
>>> from softmodes import SoftModes
>>> from softmodes.datasets import load_zoo
>>> X, y = load_zoo(return_X_y=True)
>>> SoftModes(n_clusters=7, random_state=0).fit(X).labels_.shape
(101,)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmodes._choice.outcome import Sweep
    from softmodes._choice.sweeping import sweep
    from softmodes._estimators import (
        BadModelFile,
        KModes,
        MiniBatchSoftModes,
        SoftModes,
        Stability,
        Summary,
        load,
    )
    from softmodes._prepare import Advice, Bands, Prepare, advise
    from softmodes._report import Report, report

__all__ = [
    "Advice",
    "BadModelFile",
    "Bands",
    "KModes",
    "MiniBatchSoftModes",
    "Prepare",
    "Report",
    "SoftModes",
    "Stability",
    "Summary",
    "Sweep",
    "advise",
    "load",
    "report",
    "sweep",
]
__version__ = "0.1.0"

_HOMES = {
    "Advice": "_prepare",
    "Bands": "_prepare",
    "Prepare": "_prepare",
    "Report": "_report",
    "Sweep": "_choice",
    "advise": "_prepare",
    "report": "_report",
    "sweep": "_choice",
}  # of all others: _estimators


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'softmodes' has no attribute {name!r}")
    return getattr(import_module(f"softmodes.{_HOMES.get(name, '_estimators')}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
