"""Saved models back to estimators."""

from __future__ import annotations

import os
from typing import TypeAlias

from softmodes._estimators.k_modes import KModes
from softmodes._estimators.mini_batch import MiniBatchSoftModes
from softmodes._estimators.soft_modes import SoftModes
from softmodes._model.file import load_model, refusal, refusing
from softmodes._model.params import restored_params

Model: TypeAlias = SoftModes | KModes | MiniBatchSoftModes

_KINDS: tuple[type[Model], ...] = (SoftModes, KModes, MiniBatchSoftModes)
_SAVED = {kind._saved_as: kind for kind in _KINDS}


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `save` wrote.

    Foreign, truncated, changed or newer files raise BadModelFile, a ValueError that names the file,
    and files that cannot be opened OSError; nothing in a file is executed.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    SoftModes, KModes or MiniBatchSoftModes
        The fitted model, as it was saved.
    """
    name, params, found = load_model(path)
    with refusing(path):
        if name not in _SAVED:
            raise refusal(path, f"it holds an unknown estimator {name!r}")
        unknown = set(params) - set(_SAVED[name]().get_params())
        if unknown:
            raise refusal(path, f"it holds unknown parameters {sorted(unknown)}")
        model = _SAVED[name](**restored_params(params))
        model._check_params(found)
        model._publish(found)
    return model
