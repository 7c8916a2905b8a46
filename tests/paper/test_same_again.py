from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from softmodes._paper.same_again import same_again


def test_same_again_is_the_mean_ari_of_all_pairs_on_their_common_rows():
    asked = []

    def cluster(rows, seed):
        labels = (rows * (seed % 7 + 1) // 11) % 3
        asked.append((rows, seed, labels))
        return labels

    found = same_again(cluster, 200, seed=4)
    assert len(asked) == 8
    assert len({seed for _, seed, _ in asked}) == 8, "fits share a seed"
    assert {len(set(rows)) for rows, _, _ in asked} == {180}
    scores = []
    for (rows, _, labels), (others, _, theirs) in combinations(asked, 2):
        a, b = dict(zip(rows, labels, strict=True)), dict(zip(others, theirs, strict=True))
        common = sorted(a.keys() & b.keys())
        scores.append(adjusted_rand_score([a[r] for r in common], [b[r] for r in common]))
    assert found == pytest.approx(np.mean(scores))
    assert min(scores) < 0.99, "all fits agree: nothing tested"


def test_a_method_that_always_answers_the_same_is_the_same_again():
    assert same_again(lambda rows, seed: rows % 2, 60, seed=0) == 1
