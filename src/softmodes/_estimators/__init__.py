"""The scikit-learn face: parameters in, attributes out, no algorithm."""

from softmodes._estimators.k_modes import KModes
from softmodes._estimators.saved import load
from softmodes._estimators.soft_modes import SoftModes
from softmodes._model.file import BadModelFile

__all__ = ["BadModelFile", "KModes", "SoftModes", "load"]
