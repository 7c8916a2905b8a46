"""
What t does
===========

A center takes a value with probability proportional to its frequency to the power of t. With t = 1
that is the frequency itself; the larger t, the surer is the most frequent value; t = inf is
k-modes.
"""

import matplotlib.pyplot as plt
import numpy as np

from softmodes.rounding import soft

frequency = np.linspace(0, 1, 201)
counts = np.column_stack([frequency, 1 - frequency])

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for t, color in zip((1, 2, 3, 8, np.inf), plt.cm.viridis(np.linspace(0, 0.9, 5)), strict=True):
    label = "t = inf: k-modes" if np.isinf(t) else f"t = {t}"
    axes.plot(frequency, soft(t)(counts)[:, 0], color=color, label=label)
axes.set(xlabel="share of a value in the cluster", ylabel="probability that the center takes it")
axes.legend(frameon=False)
plt.show()

# %%
# With three values the same map works on all of them at once.

for t in (1, 3, 8):
    print(f"t = {t}:", soft(t)(np.array([[5, 3, 2]])).round(3)[0])
