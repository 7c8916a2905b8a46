"""How good a clustering is: agreement with known classes, cost on its table, and structure."""

from softmodes.metrics._agreement import agreement, ari, matching_accuracy, matching_f1, nmi
from softmodes.metrics._costs import expected_cost, hamming_cost
from softmodes.metrics._structure import (
    deciding_columns,
    icl,
    line_share,
    silhouette,
    silhouette_samples,
    valley,
)

__all__ = [
    "agreement",
    "ari",
    "deciding_columns",
    "expected_cost",
    "hamming_cost",
    "icl",
    "line_share",
    "matching_accuracy",
    "matching_f1",
    "nmi",
    "silhouette",
    "silhouette_samples",
    "valley",
]
