"""The scikit-learn face: parameters in, attributes out, no algorithm."""

from softmodes._estimators.k_modes import KModes
from softmodes._estimators.mini_batch import MiniBatchSoftModes
from softmodes._estimators.saved import load
from softmodes._estimators.soft_modes import SoftModes
from softmodes._model.file import BadModelFile
from softmodes._model.stability import Stability
from softmodes._model.summary import Summary

__all__ = [
    "BadModelFile",
    "KModes",
    "MiniBatchSoftModes",
    "SoftModes",
    "Stability",
    "Summary",
    "load",
]
