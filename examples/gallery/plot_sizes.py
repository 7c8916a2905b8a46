"""
How large the groups are
========================

Groups are numbered by size, and called by what marks them until they have a name of their own.
"""

import matplotlib.pyplot as plt

from softmodes import SoftModes
from softmodes.datasets import load_mushroom
from softmodes.plots import SizesDisplay

mushrooms = load_mushroom(as_frame=True).data
model = SoftModes(n_clusters=6, random_state=0).fit(mushrooms)
SizesDisplay.from_estimator(model)
plt.show()
