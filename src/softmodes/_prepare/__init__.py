"""What columns hold, what to do with them before clustering, and doing it."""

from softmodes._prepare.advice import Advice
from softmodes._prepare.bands import Bands
from softmodes._prepare.examine import advise
from softmodes._prepare.prepare import Prepare

__all__ = ["Advice", "Bands", "Prepare", "advise"]
