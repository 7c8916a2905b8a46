"""
How many groups?
================

A sweep fits every number of groups, also on the table with each column shuffled and on parts of the
rows, and picks the most that pay for themselves, lie apart, and are found again.
"""

import matplotlib.pyplot as plt

import softmodes
from softmodes.datasets import make_ccm

X, y = make_ccm(1000, 30, 4, eps=0.2, random_state=0)
sweep = softmodes.sweep(X, random_state=0)
sweep.plot()
plt.show()

# %%
print(sweep)
