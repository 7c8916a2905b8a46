"""
What the finish buys
====================

The rounds of SoftModes compare rows with drawn centers and find the groups fast. The finish weighs
every value of every column: a few rounds of k-means on one-hot rows (without making them), then a
latent class model. Its objective falls until nothing moves.
"""

import matplotlib.pyplot as plt

from softmodes import SoftModes
from softmodes.datasets import load_mushroom
from softmodes.metrics import matching_accuracy

X, y = load_mushroom(return_X_y=True)
model = SoftModes(n_clusters=2, random_state=0).fit(X)

figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
colors = {"modes": "#b35806", "gini": "#998ec3", "latent": "#2166ac"}
for stage, color in colors.items():
    rounds = [(i, r.expected_cost) for i, r in enumerate(model.history_) if r.stage == stage]
    axes.plot(*zip(*rounds, strict=True), "o-", color=color, label=stage, markersize=4)
axes.set(xlabel="round", ylabel="expected mismatches")
axes.legend(frameon=False, title="stage")
plt.show()

# %%
for refine in (None, "gini", "latent"):
    labels = SoftModes(n_clusters=2, refine=refine, random_state=0).fit_predict(X)
    print(f"refine={refine!r}: {matching_accuracy(y, labels):.1%} agree with edible or poisonous")
