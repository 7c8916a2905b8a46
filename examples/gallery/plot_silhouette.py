"""
How well each row fits its group
================================

A row's silhouette is near 1 if it is alike to its own group and to no other, 0 between two groups,
and below 0 if it is more alike to another one. Five groups of animals hold; the same table with
every column shuffled has no groups, and the silhouettes say so.
"""

import matplotlib.pyplot as plt
import numpy as np

from softmodes import SoftModes
from softmodes.datasets import load_zoo
from softmodes.plots import SilhouetteDisplay

animals = load_zoo(as_frame=True).data
rng = np.random.default_rng(0)
shuffled = animals.apply(lambda column: rng.permutation(column))

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, rows, title in zip(axes, (animals, shuffled), ("animals", "shuffled"), strict=True):
    model = SoftModes(n_clusters=5, random_state=0).fit(rows)
    SilhouetteDisplay.from_estimator(model, rows, ax=ax)
    ax.set_xlim(-0.3, 1)
    ax.set_title(title, loc="left")
plt.show()
