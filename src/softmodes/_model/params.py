"""Parameters of an estimator as JSON can hold them, and back."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from softmodes._rows.weights import as_mapping
from softmodes._table.codebook import Codebook, learn
from softmodes.rounding import soft


def plain_params(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters as JSON can hold them, or say which cannot be saved."""
    return {
        name: _json_value(name, value) for name, value in estimator.get_params(deep=False).items()
    }


def _json_value(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return "inf" if math.isinf(value) else float(value)
    if isinstance(value, soft):
        return {"soft": _json_value(name, value.t)}
    if name == "init":
        codebook, given = learn(value)
        codes = codebook.encode_rows(value, given.n_rows, name)
        return {"codebook": codebook.to_json(), "codes": codes.tolist()}
    if name == "feature_weight":
        named = as_mapping(value)
        if named is not None:
            return {str(key): float(weight) for key, weight in named.items()}
        return np.asarray(value, np.float64).tolist()
    raise ValueError(
        f"{name}={value!r} cannot be saved without pickle. "
        f"Call set_params({name}=...) with a plain value first, or pickle the model."
    )


def restored_params(plain: dict[str, Any]) -> dict[str, Any]:
    """Return parameters from what `plain_params` made of them."""
    return {name: _restored(name, value) for name, value in plain.items()}


def _restored(name: str, value: Any) -> Any:
    if name == "t" and value == "inf":
        return math.inf
    if name == "rounding" and isinstance(value, dict):
        return soft(_restored("t", value["soft"]))
    if name == "init" and isinstance(value, dict):
        codebook = Codebook.from_json(value["codebook"])
        return codebook.decode(np.array(value["codes"])).tolist()
    return value
