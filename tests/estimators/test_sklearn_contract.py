from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from softmodes import KModes, SoftModes

WEIGHTS = "seeds are drawn row by row, so weights and repeats agree only in distribution"
EXPECTED_FAILURES = {
    "check_clustering": "its blobs are continuous: every value is a category of its own",
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}


@parametrize_with_checks(
    [SoftModes(n_clusters=2, n_init=2), KModes(n_clusters=2, n_init=2)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
