"""What commands print."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softmodes._estimators.base import ModesEstimator


def told_groups(model: ModesEstimator) -> str:
    """Return a line or two for each group: its name, its size, and what marks it."""
    return str(model.summary())


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
