"""
What t does
===========

A center takes a value with probability proportional to its frequency to the power of t. With t = 1
that is the frequency itself; the larger t, the surer is the most frequent value; t = inf is
k-modes.
"""

import matplotlib.pyplot as plt
import numpy as np

from softmodes.plots import RoundingDisplay
from softmodes.rounding import soft

curves = {f"t = {t}": soft(t) for t in (2, 3, 8)} | {"k-modes (t = inf)": soft(np.inf)}
RoundingDisplay(curves).plot()
plt.show()

# %%
# With three values the same map works on all of them at once.

for t in (1, 3, 8):
    print(f"t = {t}:", soft(t)(np.array([[5, 3, 2]])).round(3)[0])
