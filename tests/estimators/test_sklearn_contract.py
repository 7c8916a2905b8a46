from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from softmodes import KModes, MiniBatchSoftModes, SoftModes
from softmodes._estimators.base import ModesEstimator

WEIGHTS = "seeds are drawn row by row, so weights and repeats agree only in distribution"
CLASSIFIER = "it takes everything with predict_proba for a classifier, and asks for its tags"
EXPECTED_FAILURES = {
    "check_clustering": "its blobs are continuous: every value is a category of its own",
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
OF_LATENT = {
    "check_estimator_sparse_array": CLASSIFIER,
    "check_estimator_sparse_matrix": CLASSIFIER,
}


def expected_failures(estimator: ModesEstimator) -> dict[str, str]:
    """Return the checks that an estimator fails, and why."""
    return EXPECTED_FAILURES | (OF_LATENT if hasattr(estimator, "predict_proba") else {})


@parametrize_with_checks(
    [
        SoftModes(n_clusters=2, n_init=2),
        SoftModes(n_clusters=2, n_init=2, refine="gini"),
        SoftModes(n_clusters=2, n_init=2, refine=None),
        KModes(n_clusters=2, n_init=2),
        MiniBatchSoftModes(n_clusters=2, n_init=2),
        MiniBatchSoftModes(n_clusters=2, n_init=2, batch_size=7, refine=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
