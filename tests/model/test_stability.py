"""Is a model found again in other rows, and which columns separate its clusters."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from softmodes import KModes, SoftModes, load
from softmodes._model.parts import part_of
from softmodes._model.stability import best_jaccards
from softmodes.datasets import make_ccm
from softmodes.metrics import ari, expected_cost
from support import table


def fitted(kind=SoftModes, k=3, eps=0.1, n=300, **options):
    X, _ = make_ccm(n, 20, k, eps, random_state=0)
    return kind(k, random_state=0, n_jobs=1, **options).fit(X), X


def test_the_best_jaccard_is_the_largest_of_all_pairs():
    rng = np.random.default_rng(0)
    labels, other = rng.integers(0, 4, (2, 200)).astype(np.int32)
    expected = [
        max(
            np.sum((labels == a) & (other == b)) / np.sum((labels == a) | (other == b))
            for b in range(4)
        )
        for a in range(4)
    ]
    assert best_jaccards(labels, other, 4) == pytest.approx(expected)


@pytest.mark.parametrize("kind", [SoftModes, KModes])
def test_it_is_the_agreement_with_the_same_fit_on_parts(kind):
    model, X = fitted(kind, eps=0.35)
    found = model.stability(X, n_resamples=3, random_state=5)
    assert found.agreements.min() < 1, "all alike: nothing tested"
    assert found.whole == pytest.approx(found.agreements.mean())
    assert found.by_cluster == pytest.approx(found.jaccards.mean(axis=0))
    again = model.stability(X, n_resamples=3, random_state=5)
    assert_array_equal(found.jaccards, again.jaccards)
    assert (model.stability(X, n_resamples=3, random_state=6).jaccards != found.jaccards).any()
    # A fit of the estimator on the same rows and from the same seed.
    for i, agreement in enumerate(found.agreements):
        rows = part_of(len(X), 5, i)
        key = _seed_of_part(5, i)
        other = kind(3, random_state=key, n_jobs=1).fit(X[rows])
        assert ari(model.labels_[rows], other.labels_) == pytest.approx(agreement)


def _seed_of_part(seed, i):
    from softmodes._algorithm.randomness import Use, address

    return address(seed, i, Use.SAMPLE)


def test_clear_groups_are_found_again_and_cuts_through_noise_are_not():
    model, X = fitted()
    assert model.stability(X).whole > 0.95
    noise = np.random.default_rng(0).integers(0, 3, (300, 10))
    assert SoftModes(4, random_state=0, n_jobs=1).fit(noise).stability(noise).whole < 0.5


def test_the_frame_and_the_text_tell_each_cluster():
    model, X = fitted()
    frame = model.stability(X).to_frame()
    assert list(frame.columns) == ["cluster", "name", "rows", "found_again", "dissolved"]
    assert frame["rows"].tolist() == model.cluster_sizes_.tolist()
    polar = SoftModes(3, random_state=0, n_jobs=1).fit(pl.DataFrame(X))
    assert isinstance(polar.stability(pl.DataFrame(X)).to_frame(), pl.DataFrame)
    text = repr(model.stability(X))
    assert text.startswith("3 groups are found again in other 80 % of the rows: ARI 1.00 (10 par")
    assert len(text.splitlines()) == 5


def test_weights_and_long_tables():
    model, X = fitted()
    both = np.vstack([X, X[::-1]])
    weight = np.r_[np.ones(300), np.zeros(300)]
    alone = model.stability(X, np.ones(300), random_state=1)
    found = model.stability(both, weight, random_state=1)
    assert_array_equal(found.jaccards, alone.jaccards)
    assert model.stability(X, max_rows=100, random_state=1).sizes.sum() == 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples=0 is not an int >= 1"),
        ({"max_rows": 0}, "max_rows=0 is not an int >= 1"),
        ({"max_rows": 3}, "n_clusters=3 is more than 80 % of the rows=2"),
        ({"random_state": "x"}, "random_state='x' is not a seed"),
    ],
)
def test_wrong_parameters_are_told(options, message):
    model, X = fitted()
    with pytest.raises(ValueError, match=message):
        model.stability(X, **options)


def test_a_loaded_model_is_as_stable(tmp_path):
    model, X = fitted(eps=0.3)
    model.save(tmp_path / "m.softmodes")
    found = load(tmp_path / "m.softmodes").stability(X, n_resamples=2)
    assert_array_equal(found.jaccards, model.stability(X, n_resamples=2).jaccards)


# --- importance ---


def tau(column, labels):
    """Goodman and Kruskal's tau, from the definition."""
    table = pd.crosstab(labels, column).to_numpy() / len(labels)
    before = 1 - (table.sum(axis=0) ** 2).sum()
    after = 1 - (table**2 / table.sum(axis=1, keepdims=True)).sum()
    return (before - after) / before


@pytest.mark.parametrize("weight", [None, [1, 2, 3, 4]])
def test_importance_is_tau_and_its_mean_is_what_is_explained(weight):
    X = table(400, (2, 3, 4, 300), groups=3)
    names = ["a", "b", "c", "d"]
    model = SoftModes(3, feature_weight=weight, random_state=0, n_jobs=1)
    model.fit(pd.DataFrame(X, columns=names))
    found = model.importance()
    assert list(found.columns) == ["feature", "importance", "weight"]
    assert (np.diff(found["importance"]) <= 0).all()
    for feature, importance in zip(found["feature"], found["importance"], strict=True):
        expected = tau(X[:, names.index(feature)], model.labels_)
        assert importance == pytest.approx(expected, abs=1e-12)
    costs = [
        sum(w * expected_cost(X[:, [j]], labels) for j, w in enumerate(weight or [1] * 4))
        for labels in (model.labels_, np.zeros(400))
    ]
    mean = (found["importance"] * found["weight"]).sum()
    assert mean == pytest.approx(1 - costs[0] / costs[1])


def test_importance_without_anything_to_explain():
    model = KModes(2, random_state=0, n_jobs=1).fit([["a", None], ["a", None], ["a", None]])
    assert model.importance()["importance"].tolist() == [0.0, 0.0]
    ignoring = SoftModes(2, missing="ignore", random_state=0, n_jobs=1)
    found = ignoring.fit([["a", "x", None], ["b", "y", None]] * 20).importance()
    assert found["importance"].tolist() == [1.0, 1.0, 0.0]
    assert found["weight"].tolist() == [0.5, 0.5, 0.0]
