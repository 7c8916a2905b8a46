"""How good a clustering is: agreement with known classes, and cost on its table."""

from softmodes.metrics._agreement import agreement, ari, matching_accuracy, matching_f1, nmi
from softmodes.metrics._costs import expected_cost, hamming_cost

__all__ = [
    "agreement",
    "ari",
    "expected_cost",
    "hamming_cost",
    "matching_accuracy",
    "matching_f1",
    "nmi",
]
