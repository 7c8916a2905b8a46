import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans

from softmodes._paper.capped_k_means import capped_k_means
from softmodes.datasets import make_ccm
from softmodes.metrics import matching_accuracy


@pytest.fixture(scope="module")
def points():
    X, _ = make_ccm(3_000, 60, 8, 0.3, random_state=0)
    return X.astype(np.float32)


def test_uncapped_k_means_is_that_of_scikit_learn(points):
    ours = capped_k_means(points, points[:8], max_iter=200)
    theirs = KMeans(8, init=points[:8], n_init=1, max_iter=199).fit(points)
    assert matching_accuracy(theirs.labels_, ours.labels) > 0.999
    assert not ours.capped
    assert abs(ours.rounds - theirs.n_iter_) <= 2


def test_k_means_is_watched_from_the_assignment_to_its_seeds_on(points):
    seen = []
    ours = capped_k_means(points, points[:8], max_iter=6, on_round=seen.append)
    distances = ((points[:, None] - points[None, :8]) ** 2).sum(axis=2)
    assert matching_accuracy(distances.argmin(axis=1), seen[0]) > 0.999
    assert len(seen) == ours.rounds == 6
    assert_array_equal(seen[-1], ours.labels)
    theirs = KMeans(8, init=points[:8], n_init=1, max_iter=5).fit(points)
    assert_array_equal(ours.labels, theirs.labels_)


def test_capped_k_means_stops_and_says_so(points):
    ours = capped_k_means(points, points[:8], max_iter=200, cap=0.0)
    assert ours.capped
    assert ours.rounds == 2
