"""The paper's experiments: declared, run into a results file, and reported beside its numbers.

Examples
--------
>>> from softmodes._paper import EXPERIMENTS
>>> EXPERIMENTS["fig-sbm"].title
'Block model: accuracy of k-modes and SoftModes(1)'
"""

from softmodes._paper.experiment import Experiment
from softmodes._paper.experiments import EXPERIMENTS, chosen
from softmodes._paper.recipe import SIZES, Cell, Size

__all__ = ["EXPERIMENTS", "SIZES", "Cell", "Experiment", "Size", "chosen"]
