"""
Is each group found again?
==========================

The fit is made again on other 80 % of the rows, ten times. A group that has hardly changed each
time can be relied upon; one that dissolves was made by a few rows.
"""

import matplotlib.pyplot as plt

from softmodes import SoftModes
from softmodes.datasets import load_zoo
from softmodes.plots import StabilityDisplay

animals = load_zoo(as_frame=True).data
model = SoftModes(n_clusters=5, random_state=0).fit(animals)
StabilityDisplay.from_estimator(model, animals)
plt.show()
