"""
A map of the rows
=================

Multiple correspondence analysis puts rows near each other that share values, above all rare ones.
It knows nothing of the groups: that these lie apart is no artefact of the picture.
"""

import matplotlib.pyplot as plt

from softmodes import SoftModes
from softmodes.datasets import load_mushroom
from softmodes.plots import MapDisplay

mushrooms = load_mushroom(as_frame=True).data
model = SoftModes(n_clusters=6, random_state=0).fit(mushrooms)
MapDisplay.from_estimator(model, mushrooms)
plt.show()

# %%
# Without rows, as from a saved model, the groups alone are drawn, by how often each value occurs in
# each. The larger the circle, the more rows.

MapDisplay.from_estimator(model)
plt.show()
