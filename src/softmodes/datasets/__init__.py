"""Generators of planted clusters, and six tables that need no download."""

from softmodes.datasets._generators import ccm_best_accuracy, make_bbm, make_ccm
from softmodes.datasets._survey import make_survey
from softmodes.datasets._tables import (
    load_anes96,
    load_connect4,
    load_mushroom,
    load_nursery,
    load_tic_tac_toe,
    load_zoo,
)

__all__ = [
    "ccm_best_accuracy",
    "load_anes96",
    "load_connect4",
    "load_mushroom",
    "load_nursery",
    "load_tic_tac_toe",
    "load_zoo",
    "make_bbm",
    "make_ccm",
    "make_survey",
]
