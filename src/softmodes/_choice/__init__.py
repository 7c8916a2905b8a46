"""How many clusters a table has, and whether to trust them."""

from softmodes._choice.outcome import Sweep
from softmodes._choice.sweeping import sweep

__all__ = ["Sweep", "sweep"]
