"""
What marks each group
=====================

The values that tell most of the group, in rows: their share in each group, and in all rows. Blue is
more than in all rows, orange less.
"""

import matplotlib.pyplot as plt

from softmodes import SoftModes
from softmodes.datasets import load_zoo
from softmodes.plots import ProfileDisplay

animals = load_zoo(as_frame=True).data
model = SoftModes(n_clusters=5, random_state=0).fit(animals)
model.set_names({0: "Mammals", 1: "Birds"})
ProfileDisplay.from_estimator(model, n_values=14)
plt.show()

# %%
print(model.summary(n_marks=3))
