from __future__ import annotations

import math
import re
import sys
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import Birch
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from softmodes import SoftModes
from softmodes._table.codebook import learn
from softmodes.baselines import (
    Rock,
    _methods,
    baseline,
    cluster,
    integer_codes,
    names,
    one_hot_codes,
    register,
    unregister,
)
from softmodes.baselines._rock import merging, plan
from softmodes.baselines._rock.merging import common_neighbors, expected_links, sparse_rows
from softmodes.baselines._rock.records import Records, Rule, neighbor_lists
from softmodes.datasets import load_mushroom, load_tic_tac_toe, load_zoo
from softmodes.metrics import expected_cost, hamming_cost, matching_accuracy
from support import table

THETAS = [0.0, 0.2, 1 / 3, 0.5, 0.6, 0.75, 0.99, 1.0]
NAMES = [
    "k-modes",
    "softmodes",
    "softmodes (refined)",
    "k-means",
    "k-means (one-hot)",
    "birch",
    "birch (one-hot)",
    "gaussian",
    "gaussian (one-hot)",
    "gaussian diagonal (one-hot)",
    "latent classes (stepmix)",
    "kmodes huang",
    "kmodes cao",
    "rock",
]
PACKAGES = {"latent classes (stepmix)": "stepmix", "kmodes huang": "kmodes", "kmodes cao": "kmodes"}


# --- the naive reference -------------------------------------------------------------------------


def are_neighbors(a, b, theta, eps):
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if eps is not None:
        return sum(x != y for x, y in both) <= eps
    mine, theirs = ({(j, x) for j, x in enumerate(row) if x is not None} for row in (a, b))
    return len(mine & theirs) / max(len(mine | theirs), 1) >= theta


def naive_neighbors(rows, theta, eps=None):
    n = len(rows)
    return [
        {j for j in range(n) if j != i and are_neighbors(rows[i], rows[j], theta, eps)}
        for i in range(n)
    ]


def naive_rock(neighbors, k, f, direct=False, tie=min):
    """Look at every pair of clusters, every pair of their rows, and all neighbours, each time.

    Clusters are numbered as they arise, rows first.
    """
    n = len(neighbors)
    expected = expected_links(n, f)
    clusters = {i: [i] for i in range(n)}

    def goodness(a, b):
        pairs = [(p, q) for p in clusters[a] for q in clusters[b]]
        links = sum(
            (q in neighbors[p]) if direct else len(neighbors[p] & neighbors[q]) for p, q in pairs
        )
        a, b = len(clusters[a]), len(clusters[b])
        return links / (expected[a + b] - (expected[a] + expected[b]))

    number = n
    while len(clusters) > k:
        pairs = {(b, a): goodness(a, b) for a, b in combinations(sorted(clusters), 2)}
        best = max(pairs.values())
        if best == 0:
            break
        newer, older = tie(pair for pair, value in pairs.items() if value == best)
        clusters[number] = clusters.pop(newer) + clusters.pop(older)
        number += 1
    return {frozenset(members) for members in clusters.values()}


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def f_of(theta):
    return (1 - theta) / (1 + theta)


tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(
        st.lists(st.sampled_from([0, 1, 2]), min_size=d, max_size=d), min_size=1, max_size=13
    )
)
holed_tables = st.lists(
    st.lists(st.sampled_from([0, 1, None]), min_size=3, max_size=3), min_size=1, max_size=11
)


# --- ROCK ----------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=200)
@given(tables, st.sampled_from(THETAS), st.integers(1, 4), st.booleans())
def test_rock_equals_the_naive_reference_by_similarity(rows, theta, k, direct):
    k = min(k, len(rows))
    links = "direct" if direct else "common"
    model = Rock(k, theta=theta, links=links, min_neighbors=0, leftover="separate").fit(rows)
    expected = naive_rock(naive_neighbors(rows, theta), k, f_of(theta), direct)
    assert partition(model.labels_) == expected
    assert model.n_clusters_ == model.n_remaining_ == len(expected)


@settings(deadline=None, max_examples=100)
@given(tables, st.integers(0, 4), st.integers(1, 4), st.sampled_from([None, 0.5]))
def test_rock_equals_the_naive_reference_by_distance(rows, eps, k, theta):
    d, k = len(rows[0]), min(k, len(rows))
    eps = min(eps, d)
    model = Rock(k, eps=eps, theta=theta, min_neighbors=0, leftover="separate").fit(rows)
    f = f_of((d - eps) / (d + eps) if theta is None else theta)
    assert partition(model.labels_) == naive_rock(naive_neighbors(rows, None, eps), k, f)


@settings(deadline=None, max_examples=100)
@given(holed_tables, st.sampled_from([(0.4, None), (0.5, None), (0.5, 0), (0.5, 1), (0.5, 2)]))
def test_ignored_cells_are_no_items_and_do_not_count_in_distances(rows, rule):
    theta, eps = rule
    _, codes = learn(rows, "ignore")
    found = neighbor_lists(Records.of(codes), Rule(theta, eps), n_threads=2)
    assert [set(ids.tolist()) for ids, _ in sparse_rows(found)] == naive_neighbors(rows, theta, eps)


@pytest.mark.parametrize("seed", range(6))
def test_rock_equals_the_naive_reference_over_many_merges(seed):
    rows = table(45, (2, 3, 3, 4, 2), seed=seed).tolist()
    theta = [0.4, 0.5, 0.25][seed % 3]
    model = Rock(3, theta=theta, min_neighbors=0, leftover="separate").fit(rows)
    assert partition(model.labels_) == naive_rock(naive_neighbors(rows, theta), 3, f_of(theta))


def test_ties_decide_results_that_are_compared():
    rows = [table(12, (2, 2, 2), seed=seed).tolist() for seed in range(20)]
    graphs = [naive_neighbors(some, 0.5) for some in rows]
    differ = [naive_rock(g, 3, f_of(0.5)) != naive_rock(g, 3, f_of(0.5), tie=max) for g in graphs]
    assert any(differ), "no result depends on ties: nothing tested"


@pytest.mark.parametrize("advantage", [0, math.inf], ids=["sparse", "dense"])
def test_links_are_common_neighbors_by_either_product(monkeypatch, advantage):
    monkeypatch.setattr(merging, "_DENSE_ADVANTAGE", advantage)
    monkeypatch.setattr(merging, "_ROWS_AT_ONCE", 7)
    near = np.triu(np.random.default_rng(0).random((40, 40)) < 0.2, 1)
    near |= near.T
    found = np.zeros((40, 40), int)
    for i, (ids, counts) in enumerate(common_neighbors(csr_array(near.astype(np.int32)), 2)):
        found[i, ids] = counts
    naive = [[sum(near[i] & near[j]) for j in range(40)] for i in range(40)]
    assert_array_equal(found, naive)


def test_links_of_the_baskets_in_the_rock_paper():
    baskets = [*combinations((1, 2, 3, 4, 5), 3), *combinations((1, 2, 6, 7), 3)]
    rows = [[1 if item in basket else None for item in range(1, 8)] for basket in baskets]
    _, codes = learn(rows, "ignore")
    near = neighbor_lists(Records.of(codes), Rule(0.5, None), 1)
    links = {
        (baskets[i], baskets[j]): count
        for i, (ids, counts) in enumerate(common_neighbors(near, 1))
        for j, count in zip(ids, counts, strict=True)
    }
    assert links[(1, 2, 6), (1, 2, 7)] == 5
    assert links[(1, 2, 6), (1, 2, 3)] == 3


@pytest.mark.parametrize("theta", THETAS)
def test_expected_links_between_clusters_are_those_of_the_formula(theta):
    f, n = f_of(theta), 50
    found = expected_links(2 * n, f)
    scale = None
    for a, b in combinations(range(1, n, 7), 2):
        if f == 0:
            exact = (a + b) * math.log(a + b) - a * math.log(a) - b * math.log(b)
        else:
            exact = (a + b) ** (1 + 2 * f) - a ** (1 + 2 * f) - b ** (1 + 2 * f)
        ratio = (found[a + b] - found[a] - found[b]) / exact
        scale = scale or ratio
        assert ratio == pytest.approx(scale, rel=1e-9)


def test_radius_is_the_same_as_its_equivalent_similarity():
    X = table(150, (3, 3, 2, 4, 5, 2), seed=3)
    for eps in range(7):
        by_distance, by_similarity = Rock(4, eps=eps), Rock(4, theta=(6 - eps) / (6 + eps))
        assert_array_equal(by_distance.fit_predict(X), by_similarity.fit_predict(X))


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 60), st.data())
def test_similarity_equal_to_theta_is_enough(d, data):
    shared = data.draw(st.integers(0, d))
    rows = np.zeros((2, d), int)
    rows[1, shared:] = 1
    theta = Fraction(shared, 2 * d - shared)
    _, codes = learn(rows.tolist())
    assert neighbor_lists(Records.of(codes), Rule(float(theta), None), 1).nnz == 2
    if theta < 1:
        above = math.nextafter(float(theta), 2)
        assert neighbor_lists(Records.of(codes), Rule(above, None), 1).nnz == 0


def test_rows_outside_the_sample_join_the_cluster_with_most_neighbors_for_its_size():
    X = table(400, (3, 3, 2, 4, 5, 2), seed=5, groups=4)
    model = Rock(4, eps=2, sample_size=120, random_state=1).fit(X)
    assert len(model.sample_indices_) == 120
    assert model.n_remaining_ == 4
    inside = [i for i in model.sample_indices_ if i not in model.outliers_]
    f = 2 / 6
    lonely = []
    for i in set(range(400)) - set(inside):
        near = np.array([j for j in inside if (X[i] != X[j]).sum() <= 2], int)
        if len(near) == 0:
            lonely.append(i)
            continue
        score = [
            (model.labels_[near] == c).sum() / ((model.labels_[inside] == c).sum() + 1) ** f
            for c in range(4)
        ]
        assert score[model.labels_[i]] == max(score)
    assert len(lonely) < 280, "hardly a row had neighbours: nothing tested"
    for i in lonely:
        equal = [(X[i] == X[inside][model.labels_[inside] == c]).sum(1).mean() for c in range(4)]
        assert equal[model.labels_[i]] == max(equal)


def test_same_seed_same_answer_on_any_number_of_threads(monkeypatch):
    X = table(600, (3, 3, 2, 4, 5, 2), seed=6)
    first, again, other = (
        Rock(3, eps=2, sample_size=200, random_state=seed, n_jobs=jobs).fit(X)
        for seed, jobs in ((0, 1), (0, 3), (1, 1))
    )
    assert_array_equal(first.labels_, again.labels_)
    assert not np.array_equal(first.sample_indices_, other.sample_indices_)
    monkeypatch.setattr(plan, "MAX_SAMPLE", 200)
    assert_array_equal(Rock(3, eps=2, random_state=0).fit_predict(X), first.labels_)


TWO_GROUPS_AND_A_STRANGER = [
    *[["a", "x", "p", i] for i in range(5)],
    *[["b", "y", "q", i] for i in range(5, 9)],
    *[["c", "z", "r", i] for i in range(9, 12)],
    ["c", "y", "s", 12],
]


@pytest.mark.parametrize(
    ("leftover", "expected"),
    [
        ("nearest", [0] * 5 + [1] * 4 + [0] * 3 + [1]),
        ("separate", [0] * 5 + [1] * 4 + [2] * 3 + [3]),
        ("noise", [0] * 5 + [1] * 4 + [-1] * 4),
    ],
)
def test_leftover_says_what_becomes_of_outliers_and_clusters_beyond_k(leftover, expected):
    model = Rock(2, eps=1, leftover=leftover).fit(TWO_GROUPS_AND_A_STRANGER)
    assert_array_equal(model.labels_, expected)
    assert_array_equal(model.outliers_, [12])
    assert model.n_remaining_ == 3
    assert model.n_clusters_ == max(expected) + 1


def test_lonely_rows_join_the_cluster_with_most_equal_cells_on_average():
    large, small = [["a", "x", "p", i] for i in range(7)], [["b", "y", "q", i] for i in (7, 8, 9)]
    stranger = ["a", "y", "q", 10]
    labels = Rock(2, eps=1).fit_predict([*large, *small, stranger])
    assert_array_equal(labels, [0] * 7 + [1] * 4)


@pytest.mark.parametrize(("leftover", "label"), [("nearest", 0), ("separate", 1), ("noise", -1)])
def test_rows_with_few_neighbors_are_set_aside(leftover, label):
    rows = [*[["a", "x", "p", i] for i in range(4)], ["a", "x", "q", 0]]
    model = Rock(1, eps=1, min_neighbors=2, leftover=leftover).fit(rows)
    assert_array_equal(model.outliers_, [4])
    assert_array_equal(model.labels_, [0] * 4 + [label])


@pytest.mark.parametrize(("leftover", "n_found"), [("nearest", 3), ("separate", 6), ("noise", 0)])
def test_labels_are_complete_where_no_row_has_a_neighbor(leftover, n_found):
    rows = [[i, i] for i in range(6)]
    model = Rock(3, theta=0.5, leftover=leftover).fit(rows)
    assert model.labels_.shape == (6,)
    assert model.n_clusters_ == n_found
    assert set(model.labels_.tolist()) == (set(range(n_found)) or {-1})


def test_one_row_one_column_and_equal_rows_are_clustered():
    assert_array_equal(Rock(1).fit_predict([["a"]]), [0])
    assert_array_equal(Rock(1, theta=1.0).fit_predict([["a"]] * 5), [0] * 5)
    assert len(set(Rock(5, eps=0).fit_predict([["a"]] * 5).tolist())) == 5


def test_frames_arrays_and_lists_give_the_same_clusters():
    X = table(80, (3, 4, 2, 300), seed=8)
    words = pd.DataFrame(X).map("v{:03d}".format).set_axis(list("abcd"), axis=1)
    expected = Rock(3, eps=2).fit_predict(X)
    for other in (words, X.astype(np.uint16), X.tolist(), csr_array(X)):
        assert_array_equal(Rock(3, eps=2).fit_predict(other), expected)
    bits = X[:, :3] % 2 == 1
    assert_array_equal(Rock(3, eps=1).fit_predict(bits), Rock(3, eps=1).fit_predict(bits.tolist()))


PYCLUSTERING = {"theta": 0.5, "links": "direct", "min_neighbors": 0, "leftover": "separate"}


def test_rock_on_direct_links_comes_within_a_few_rows_of_the_published_accuracy():
    X, y = load_tic_tac_toe(return_X_y=True)
    labels = cluster("rock", X, 2, eps=2, **PYCLUSTERING)
    assert matching_accuracy(y, labels) == pytest.approx(0.5803, abs=0.0012)


def test_mushroom_falls_into_21_clusters_of_which_one_is_mixed():
    X, y = load_mushroom(return_X_y=True)
    model = Rock(20, theta=0.8, leftover="separate").fit(X)
    found = pd.crosstab(model.labels_, np.asarray(y))[["e", "p"]].to_numpy().tolist()
    edible = [96, 704, 96, 768, 1728, 48, 48, 192, 288, 192, 16]
    poisonous = [256, 192, 32, 1296, 8, 288, 1728, 8, 36]
    expected = [[n, 0] for n in edible] + [[0, n] for n in poisonous] + [[32, 72]]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(("load", "published"), [(load_tic_tac_toe, 0.5135), (load_zoo, 0.7326)])
def test_birch_on_one_hot_codes_reaches_the_published_accuracy(load, published):
    X, y = load(return_X_y=True)
    labels = cluster("birch (one-hot)", X, len(set(y)))
    assert matching_accuracy(y, labels) == pytest.approx(published, abs=1.5e-4)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"theta": 1.5}, "theta=1.5 is not a number from 0 to 1. Pass the least similarity"),
        ({"theta": "half"}, "theta='half' is not a number from 0 to 1"),
        ({"theta": math.nan}, "theta=nan is not a number from 0 to 1"),
        ({"eps": 3}, "eps=3 is not a number from 0 to 2. Pass the largest"),
        ({"eps": -1}, "eps=-1 is not a number from 0 to 2"),
        ({"eps": True}, "eps=True is not a number from 0 to 2"),
        ({"links": "some"}, "links='some' is not known. Pass one of 'common', 'direct'."),
        ({"leftover": "drop"}, "leftover='drop' is not known. Pass one of 'nearest', 'separate'"),
        ({"missing": "drop"}, "missing='drop' is not known. Pass one of 'category', 'ignore'"),
        ({"min_neighbors": -1}, "min_neighbors=-1 is not an int >= 0."),
        ({"sample_size": 0}, "sample_size=0 is not an int >= 1."),
        ({"sample_size": 1}, "n_clusters=2 is more than sample_size=1. Pass sample_size of at"),
        ({"n_clusters": 4}, "n_clusters=4 is more than n_samples=3. Pass n_clusters of at most 3."),
        ({"n_clusters": 0}, "n_clusters=0 is not an int >= 1."),
    ],
)
def test_errors_name_parameter_value_limit_and_remedy(params, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
        Rock(**{"n_clusters": 2, **params}).fit([["a", "x"], ["a", "y"], ["b", "y"]])
    assert message in str(caught.value)


@parametrize_with_checks(
    [Rock(n_clusters=2)],
    expected_failed_checks=lambda estimator: {
        "check_clustering": "its blobs are continuous: every value is a category of its own"
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# --- one interface -------------------------------------------------------------------------------


def groups():
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat([0, 1], 60))
    noise = rng.random((120, 12)) < 0.15
    return np.where(noise, rng.integers(0, 3, (120, 12)), 2 * truth[:, None]).astype(str), truth


def test_all_methods_are_registered():
    assert names() == NAMES


def test_softmodes_as_it_comes_is_softmodes_without_restarts():
    X, _ = load_zoo(return_X_y=True, as_frame=False)
    model = SoftModes(7, n_init=1, random_state=3).fit(X)
    found = baseline("softmodes (refined)").outcome(X, 7, 3)
    assert_array_equal(found.labels, model.labels_)
    assert found.objective == model.objective_
    assert not np.array_equal(found.labels, cluster("softmodes", X, 7, 3))


OBJECTIVES = {
    "k-means (one-hot)": lambda X, labels: ((X - centers(X, labels)[labels]) ** 2).sum(),
    "k-modes": lambda X, labels: hamming_cost(X, labels, modes(X, labels)),
    "kmodes huang": lambda X, labels: hamming_cost(X, labels, modes(X, labels)),
    "softmodes": expected_cost,
}


def centers(X, labels):
    return np.stack([X[labels == c].mean(0) for c in range(labels.max() + 1)])


def modes(X, labels):
    return [
        [max(sorted(set(column)), key=list(column).count) for column in X[labels == c].T]
        for c in range(labels.max() + 1)
    ]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_objective_of_a_run_is_what_its_labels_cost(name):
    pytest.importorskip(PACKAGES.get(name, "sklearn"))
    X, _ = groups()
    rows = one_hot_codes(X) if "one-hot" in name else integer_codes(X)
    found = baseline(name).outcome(rows, 2, 0)
    assert found.objective == pytest.approx(OBJECTIVES[name](rows, found.labels))


@pytest.mark.parametrize("name", ["gaussian diagonal (one-hot)", "latent classes (stepmix)"])
def test_the_objective_of_a_mixture_falls_with_its_likelihood(name):
    pytest.importorskip(PACKAGES.get(name, "sklearn"))
    X, _ = groups()
    rows = one_hot_codes(X) if "one-hot" in name else integer_codes(X)
    two, one = (baseline(name).outcome(rows, k, 0).objective for k in (2, 1))
    assert two < one


@pytest.mark.parametrize("name", PACKAGES)
def test_a_method_whose_package_is_missing_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    monkeypatch.setitem(sys.modules, "kmodes.kmodes", None)
    text = f"The method {name!r} needs {PACKAGES[name]}. Install it with: pip install "
    with pytest.raises(ImportError, match=re.escape(text + PACKAGES[name])):
        cluster(name, [["a"], ["b"]], 2)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_finds_two_plain_groups(name):
    pytest.importorskip(PACKAGES.get(name, "sklearn"))
    X, truth = groups()
    params = {"theta": 0.4} if name == "rock" else {}
    labels = cluster(name, X, 2, random_state=0, **params)
    assert labels.dtype == np.intp
    assert matching_accuracy(truth, labels) > 0.98
    assert_array_equal(cluster(name, X, 2, random_state=0, **params), labels)


def test_parameters_reach_the_method():
    X, _ = load_zoo(return_X_y=True)
    one, best = (cluster("k-means", X, 7, 0, n_init=n_init) for n_init in (1, 20))
    assert not np.array_equal(one, best)
    with pytest.raises(TypeError, match="no_such_thing"):
        cluster("k-means", X, 7, 0, no_such_thing=1)


def test_encodings_are_those_of_scikit_learn():
    X = table(60, (2, 3, 5), seed=2)
    assert_array_equal(integer_codes(X), OrdinalEncoder().fit_transform(X))
    assert_array_equal(one_hot_codes(X), OneHotEncoder(sparse_output=False).fit_transform(X))
    bits = X[:, :2] % 2 == 1
    assert_array_equal(integer_codes(bits), OrdinalEncoder().fit_transform(bits))


def test_birch_raises_its_threshold_until_the_tree_is_small(monkeypatch):
    X = integer_codes(table(300, (5, 5, 5, 5), seed=4))
    monkeypatch.setattr(_methods, "_ROWS_AT_ONCE", 50)
    assert _methods._small_tree_threshold(X) == 0.5
    monkeypatch.setattr(_methods, "MAX_SUBCLUSTERS", 40)
    threshold = _methods._small_tree_threshold(X)
    sizes = [
        len(Birch(n_clusters=None, threshold=t).fit(X).subcluster_centers_)
        for t in (threshold / 1.25, threshold)
    ]
    assert sizes[0] > 40 >= sizes[1]
    steps = math.log(threshold / 0.5, 1.25)
    assert steps == pytest.approx(round(steps))
    labels = cluster("birch", table(300, (5, 5, 5, 5), seed=4), 3)
    assert_array_equal(labels, Birch(n_clusters=3, threshold=threshold).fit(X).labels_)


def test_birch_takes_a_given_threshold_as_it_is():
    X = table(100, (5, 5, 5), seed=4)
    expected = Birch(n_clusters=3, threshold=1.3).fit(integer_codes(X)).labels_
    assert_array_equal(cluster("birch", X, 3, threshold=1.3), expected)


def test_gaussian_survives_constant_and_collinear_columns():
    X = np.column_stack([table(100, (2, 3), seed=1), np.zeros(100, int)])
    X = np.column_stack([X, X[:, 0]])
    for name in ("gaussian", "gaussian (one-hot)"):
        assert len(set(cluster(name, X, 2, random_state=0).tolist())) == 2


@pytest.fixture
def own_method():
    @register("mine", encoding="codes")
    def mine(X, n_clusters, random_state):
        return X[:, 0].astype(int) % n_clusters

    yield mine
    unregister("mine")


def test_another_method_joins_by_one_function(own_method):
    assert baseline("mine").encoding == "codes"
    assert_array_equal(cluster("mine", [["b"], ["a"], ["c"]], 2), [1, 0, 0])
    assert_array_equal(own_method(np.array([[4.0]]), 3, None), [1])


def test_names_and_encodings_are_checked(own_method):
    with pytest.raises(ValueError, match=r"name='mine' is taken\. Pass another name, or call un"):
        register("mine")
    with pytest.raises(ValueError, match=r"encoding='bits' is not known\. Pass one of 'table'"):
        register("other", encoding="bits")
    with pytest.raises(ValueError, match=r"name='k-mode' is not known\. Pass one of"):
        cluster("k-mode", [["a"]], 1)


@pytest.mark.parametrize(
    ("labels", "got"),
    [([0, 1], r"shape \(2,\) and type int64"), ([0.5, 1, 2], r"shape \(3,\) and type float64")],
)
def test_labels_of_a_wrong_kind_are_refused(labels, got):
    register("wrong")(lambda X, n_clusters, random_state: labels)
    try:
        with pytest.raises(ValueError, match=f"'wrong' returned labels of {got}. Let it return"):
            cluster("wrong", [["a"], ["b"], ["c"]], 2)
    finally:
        unregister("wrong")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("SoftModes", "softmodes"),
        ("KModes", "k-modes"),
        ("K-MEANS", "k-means"),
        ("Birch_One_Hot", "birch (one-hot)"),
    ],
)
def test_a_method_is_found_in_any_case_with_or_without_dashes(given, name):
    assert baseline(given).name == name
