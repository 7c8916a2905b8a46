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

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmodes._estimators import BadModelFile, KModes, SoftModes, load

__all__ = ["BadModelFile", "KModes", "SoftModes", "load"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'softmodes' has no attribute {name!r}")
    from softmodes import _estimators

    return getattr(_estimators, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
