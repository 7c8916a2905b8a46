"""Cluster the 101 animals of the zoo, and say what marks each group."""

from softmodes import SoftModes
from softmodes.datasets import load_zoo
from softmodes.metrics import matching_accuracy

zoo = load_zoo()
model = SoftModes(n_clusters=7, random_state=0).fit(zoo.data)
print(model.summary())
print()
for cluster in range(7):
    names = [name for name, label in zip(zoo.names, model.labels_, strict=True) if label == cluster]
    print(f"cluster {cluster}: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}")
accuracy = matching_accuracy(zoo.target, model.labels_)
print(f"\nThe clusters agree with the zoologists' seven classes on {accuracy:.0%} of the animals.")
