"""
Why k-modes fails on sparse data
================================

Two groups of people answer 4,000 questions, and rarely say "yes": three in ten times to half of the
questions, one in ten times to the others; which half is which tells the groups apart. The most
frequent answer to every question is "no" in *both* groups, so that both centers of k-modes are the
same row of zeros, and where a row goes is a coin toss. Centers that are drawn from the shares of
the answers differ where the groups do.
"""

import matplotlib.pyplot as plt
import numpy as np

from softmodes import KModes, SoftModes
from softmodes.datasets import make_bbm
from softmodes.metrics import matching_accuracy

X, y = make_bbm(400, 4000, [[0.3, 0.1], [0.1, 0.3]], random_state=0)
print(f"{X.mean():.0%} of all answers are yes")

# %%
# Ten seeds each. k-modes comes out near one half, which is chance for two groups.

methods = {
    "k-modes": lambda seed: KModes(2, n_init=1, random_state=seed),
    "SoftModes": lambda seed: SoftModes(2, random_state=seed),
}
found = {
    name: [matching_accuracy(y, make(seed).fit(X).labels_) for seed in range(10)]
    for name, make in methods.items()
}
for name, accuracy in found.items():
    print(f"{name}: {np.mean(accuracy):.0%} of the rows are in their own group")

# %%
figure, axes = plt.subplots(figsize=(6, 2.4), layout="constrained")
for height, accuracy in enumerate(found.values()):
    axes.plot(accuracy, np.full(10, height), "o", alpha=0.6, color=("#b35806", "#2166ac")[height])
axes.set_yticks(range(2), found)
axes.set(
    xlim=(0.45, 1.02), ylim=(-0.6, 1.6), xlabel="share of rows in their own group, a dot a seed"
)
axes.axvline(0.5, color="grey", linewidth=1, linestyle=":")
plt.show()
