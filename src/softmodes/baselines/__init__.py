"""Other clustering methods, behind one interface.

Examples
--------
>>> from softmodes.baselines import cluster, names
>>> cluster("birch (one-hot)", [["a", "x"], ["a", "x"], ["b", "y"], ["a", "y"]], 2)
array([0, 0, 1, 0])
>>> len(names())
14
"""

from softmodes.baselines import _methods  # noqa: F401 - fills the registry
from softmodes.baselines._registry import (
    Baseline,
    Outcome,
    baseline,
    cluster,
    integer_codes,
    names,
    one_hot_codes,
    register,
    unregister,
)
from softmodes.baselines._rock.rock import Rock

__all__ = [
    "Baseline",
    "Outcome",
    "Rock",
    "baseline",
    "cluster",
    "integer_codes",
    "names",
    "one_hot_codes",
    "register",
    "unregister",
]
