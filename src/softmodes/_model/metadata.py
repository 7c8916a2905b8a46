"""What is kept with a model besides what was found: when and by what it was made, and notes."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

from softmodes._provenance import versions
from softmodes._text import short_repr

_OWN = ("softmodes", "fitted")  # of every model: the version, and the time of the fit


def made_now() -> dict[str, Any]:
    """Return the metadata of a model that is being made."""
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return {"softmodes": versions()["softmodes"], "fitted": now}


def checked_metadata(metadata: Any) -> dict[str, Any]:
    """Return a user's metadata as JSON holds it; refuse what it cannot hold."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise ValueError(
            f"metadata={short_repr(metadata)} is not a dict with texts for keys. Pass one."
        )
    taken = [key for key in metadata if key in _OWN]
    if taken:
        raise ValueError(
            f"metadata={short_repr(metadata)} has the key {taken[0]!r}, which is the model's own. "
            "Pass another."
        )
    try:
        plain = json.loads(json.dumps(dict(metadata), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"metadata={short_repr(metadata)} cannot be saved: {error}. Pass what JSON can hold."
        ) from error
    return dict(plain)
