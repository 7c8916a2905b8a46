"""What commands print."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmodes._estimators.base import ModesEstimator


def plain_groups(model: ModesEstimator) -> list[dict[str, Any]]:
    """Return the groups of a model as values that JSON can hold."""
    return [
        {
            "group": group.number,
            "name": group.name,
            "rows": group.size,
            "share": group.share,
            "marks": [
                {
                    "column": mark.feature,
                    "value": None if mark.value is None else str(mark.value),
                    "share": mark.share,
                    "overall": mark.overall,
                }
                for mark in group.marks
            ],
        }
        for group in model.summary().groups
    ]


def print_json(found: Any) -> None:
    """Print values as JSON; a number that is none, which JSON does not know, as null."""
    print(json.dumps(_known(found), indent=1, allow_nan=False))


def _known(found: Any) -> Any:
    if isinstance(found, dict):
        return {str(key): _known(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_known(value) for value in found]
    if hasattr(found, "item"):  # NumPy's numbers
        found = found.item()
    return None if isinstance(found, float) and not math.isfinite(found) else found
