from decimal import Decimal
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from softmodes.metrics import (
    agreement,
    ari,
    expected_cost,
    hamming_cost,
    matching_accuracy,
    matching_f1,
    nmi,
)

labellings = st.integers(1, 40).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
)


def best_matching(y, labels):
    """Return the best accuracy, and the best F1 score of all matchings that reach it."""
    y, labels = np.array(y), np.array(labels)
    classes, clusters = np.unique(y), np.unique(labels)
    # Classes that are too few are filled up with such as never occur.
    targets = [*classes, *range(100, 100 + len(clusters))]
    scores = {}
    for chosen in permutations(targets[: max(len(classes), len(clusters))], len(clusters)):
        mapped = np.array(chosen)[np.searchsorted(clusters, labels)]
        f1 = f1_score(y, mapped, labels=classes, average="macro", zero_division=0.0)
        scores.setdefault(int((mapped == y).sum()), []).append(f1)
    return max(scores) / len(y), max(scores[max(scores)])


# --- agreement with classes ---


@settings(max_examples=80, deadline=None)
@given(labellings)
def test_accuracy_and_f1_are_those_of_the_best_of_all_matchings(pair):
    accuracy, f1 = best_matching(*pair)
    assert matching_accuracy(*pair) == accuracy
    assert matching_f1(*pair) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("n_classes", "n_clusters"), [(30, 30), (7, 200), (200, 7), (1, 5), (5, 1)]
)
def test_accuracy_equals_that_of_the_dense_assignment(n_classes, n_clusters):
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=3000)
    labels = np.where(rng.random(3000) < 0.6, y % n_clusters, rng.integers(n_clusters, size=3000))
    table = contingency_matrix(y, labels)
    agreeing = table[linear_sum_assignment(table, maximize=True)].sum()
    assert matching_accuracy(y, labels) == agreeing / 3000
    assert matching_accuracy(labels, y) == agreeing / 3000


def test_accuracy_with_a_cluster_for_every_row_needs_no_dense_table():
    n = 20_000  # a dense table would take 3 GB
    assert matching_accuracy(np.arange(n), np.arange(n)[::-1]) == 1
    assert matching_accuracy(np.zeros(n), np.arange(n)) == 1 / n


def test_a_cluster_is_not_counted_for_two_classes():
    y, labels = [0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 0]
    assert matching_accuracy(y, labels) == 0.5
    assert matching_f1(y, labels) == pytest.approx((2 * 3 / (3 + 6)) / 3)


@pytest.mark.parametrize("n_more", [0, 1])
def test_a_row_more_decides_the_matching_and_f1_only_a_tie(n_more):
    table = [[10 + n_more, 9], [1, 0]]
    y, labels = np.repeat([*np.ndindex(2, 2)], np.ravel(table), axis=0).T
    straight, swapped = (
        f1_score(y, mapped, average="macro", zero_division=0.0) for mapped in (labels, 1 - labels)
    )
    assert (labels == y).sum() - (1 - labels == y).sum() == n_more
    assert swapped > straight, "the rows and the score do not disagree: nothing tested"
    assert matching_accuracy(y, labels) == (labels == y).mean()
    assert matching_f1(y, labels) == pytest.approx(straight if n_more else swapped)


@pytest.mark.parametrize(
    "relabel",
    [
        lambda y: np.array(["cat", "dog", "eel"])[y],
        lambda y: list(np.array(["cat", "dog", "eel"], dtype=object)[y]),
        lambda y: [("1", 1, None)[i] for i in y],
        lambda y: tuple((b"x", 2.5, "x")[i] for i in y),
        lambda y: np.array([0.0, np.nan, np.inf])[y],
        lambda y: [float("nan") if i == 1 else str(i) for i in y],
        lambda y: pd.Series(y).map({0: "a", 1: None, 2: "c"}),
        lambda y: pd.Series(y, dtype="Int64").replace(1, pd.NA),
        lambda y: pd.Categorical.from_codes(y, ["c", "b", "a"]),
        lambda y: pl.Series(y).cast(pl.String),
        lambda y: y.astype(np.uint8),
        lambda y: np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]")[y],
        lambda y: [("north", "east")[: int(i)] for i in y],
        lambda y: [("cluster", int(i)) for i in y],
        lambda y: [((1, 5), 5, None)[i] for i in y],
        lambda y: np.array([1, 1j, -1])[y],
    ],
)
def test_labels_may_be_of_any_type(relabel):
    rng = np.random.default_rng(1)
    y, labels = rng.integers(3, size=(2, 200))
    for score in (matching_accuracy, matching_f1, ari, nmi):
        assert score(relabel(y), labels) == pytest.approx(score(y, labels))
        assert score(labels, relabel(y)) == pytest.approx(score(labels, y))


def test_the_string_1_is_another_label_than_the_number_1():
    assert matching_accuracy(["1", 1, "1", 1], [0, 1, 0, 1]) == 1
    assert matching_accuracy(["1", 1, "1", 1], [0, 0, 0, 0]) == 0.5


def test_labels_are_equal_where_cells_of_a_table_are():
    same, other = [1, 1.0, Decimal(1), np.uint8(1)], [True, "1", b"1", None]
    for more in ([], [("a", "tuple")]):
        for label in other:
            labels = [*same, label, *more]
            assert agreement(labels, labels)["clusters_in_use"] == 2 + len(more)


def test_ari_and_nmi_are_scikit_learns():
    y, labels = np.random.default_rng(2).integers(4, size=(2, 300))
    assert ari(y, labels) == pytest.approx(adjusted_rand_score(y, labels))
    assert nmi(y, labels) == pytest.approx(normalized_mutual_info_score(y, labels))


def test_agreement_gathers_all_scores():
    y = ["a"] * 6 + ["b"] * 3 + ["c"]
    labels = [5, 5, 5, 5, 5, 7, 7, 7, 5, 5]
    assert agreement(y, labels) == {
        "accuracy": matching_accuracy(y, labels),
        "f1": matching_f1(y, labels),
        "ari": ari(y, labels),
        "nmi": nmi(y, labels),
        "clusters_in_use": 2,
        "largest_share": 0.7,
        "all_in_one_accuracy": 0.6,
    }
    assert agreement(y, [0] * 10)["accuracy"] == agreement(y, labels)["all_in_one_accuracy"]


# --- cost on a table ---

ROWS = [
    ["red", 1, True], ["red", 2, False], ["blue", 2, True], ["blue", 1, True],
    ["green", 1, False], ["red", 2, True], ["blue", 3, True],
]  # fmt: skip
LABELS = [0, 1, 1, 0, 2, 1, 0]
CENTERS = [["red", 1, True], ["blue", 2, True], ["green", 3, False]]


def naive_hamming(rows, labels, centers):
    pairs = ((row, centers[i]) for row, i in zip(rows, labels, strict=True))
    return sum(
        cell != value for row, center in pairs for cell, value in zip(row, center, strict=True)
    )


def naive_expected(rows, labels):
    """Return the mean, over a center's choices among its cluster's rows, of the mismatches."""
    total = 0.0
    for cluster in set(labels):
        members = [row for row, label in zip(rows, labels, strict=True) if label == cluster]
        for column in zip(*members, strict=True):
            observed = [cell for cell in column if cell != "ignored"]
            total += sum(a != b for a in observed for b in observed) / max(1, len(observed))
    return total


CONTAINERS = {
    "list": list,
    "object": lambda rows: np.array(rows, dtype=object),
    "pandas": lambda rows: pd.DataFrame(rows, columns=list("abc")),
    "polars": lambda rows: pl.DataFrame(rows, schema=list("abc"), orient="row"),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_costs_equal_the_naive_ones_in_every_container(container):
    X, centers = CONTAINERS[container](ROWS), CONTAINERS[container](CENTERS)
    assert hamming_cost(X, LABELS, centers) == naive_hamming(ROWS, LABELS, CENTERS)
    assert hamming_cost(X, LABELS, np.array(CENTERS, dtype=object)) == hamming_cost(
        ROWS, LABELS, CENTERS
    )
    assert expected_cost(X, LABELS) == pytest.approx(naive_expected(ROWS, LABELS))


@pytest.mark.parametrize(
    ("as_table", "high"),
    [(np.asarray, 3), (lambda X: X.astype(np.int8) - 1, 3), (lambda X: X > 0, 2), (csr_array, 3)],
    ids=["int64", "int8", "bool", "sparse"],
)
def test_costs_of_number_tables_equal_the_naive_ones(as_table, high):
    rng = np.random.default_rng(3)
    cells, labels = rng.integers(high, size=(50, 150)), rng.integers(4, size=50)
    centers = rng.integers(high, size=(4, 150))
    naive = naive_hamming(cells.tolist(), labels, centers.tolist())
    assert hamming_cost(as_table(cells), labels, as_table(centers)) == naive
    expected = naive_expected(cells.tolist(), labels.tolist())
    assert expected_cost(as_table(cells), labels) == pytest.approx(expected)


def test_expected_cost_of_many_clusters_and_values_equals_the_naive_one():
    rng = np.random.default_rng(4)
    X, labels = rng.integers(300, size=(400, 3)), rng.integers(120, size=400)
    X[:, 0] %= 2
    naive = naive_expected(X.tolist(), labels.tolist())
    assert expected_cost(X, labels) == pytest.approx(naive)


def test_missing_cells_are_a_value_or_count_for_nothing():
    rows = [["a", None], ["a", "x"], [None, "x"], ["b", None], ["b", "y"]]
    labels, centers = [0, 0, 0, 1, 1], [["a", "x"], ["b", "z"]]
    assert hamming_cost(rows, labels, centers) == 4
    assert hamming_cost(rows, labels, centers, missing="ignore") == 1
    assert hamming_cost(rows, labels, [["a", None], ["b", None]]) == 4
    marked = [[cell or "ignored" for cell in row] for row in rows]
    assert expected_cost(rows, labels) == pytest.approx(naive_expected(rows, labels))
    assert expected_cost(rows, labels, missing="ignore") == pytest.approx(
        naive_expected(marked, labels)
    )
    assert expected_cost([[None], [None]], [0, 1], missing="ignore") == 0
    with pytest.raises(ValueError, match="missing"):
        expected_cost(rows, labels, missing="error")


def test_center_values_that_no_row_has_differ_from_all():
    assert hamming_cost([["a"], ["b"]], [0, 1], [["c"], [None]]) == 2
    assert hamming_cost([["a"], [None]], [0, 0], [["c"]], missing="ignore") == 1


def test_expected_cost_needs_no_particular_labels():
    words = np.array(["u", "v", "w"])[LABELS]
    assert expected_cost(ROWS, words) == expected_cost(ROWS, LABELS)
    assert_array_equal(expected_cost(ROWS, range(7)), 0)


def test_mode_centers_cost_at_most_the_expected_cost():
    rng = np.random.default_rng(5)
    X, labels = rng.integers(3, size=(60, 8)), rng.integers(3, size=60)
    modes = [[np.bincount(column).argmax() for column in X[labels == i].T] for i in range(3)]
    assert 0 < hamming_cost(X, labels, modes) < expected_cost(X, labels)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: matching_accuracy([1, 2], [1]), "labels_true has 2 labels, but labels_pred has 1"),
        (lambda: ari([], []), r"labels_true has shape \(0,\)\. Pass a one-dimensional"),
        (lambda: nmi([1], np.array([[1]])), r"labels_pred has shape \(1, 1\)"),
        (lambda: nmi([1], [[1]]), r"labels_pred holds a label that cannot be hashed \(.*list"),
        (lambda: agreement([1], [1, 2]), "Pass one of each for every row"),
        (lambda: expected_cost(ROWS, [0]), "labels has 1 entries, but X has 7 rows"),
        (lambda: hamming_cost(ROWS, [0], CENTERS), "labels has 1 entries, but X has 7 rows"),
        (
            lambda: hamming_cost(ROWS, LABELS, CENTERS[:2]),
            r"labels go from 0 to 2, but there are 2 centers\. Pass labels from 0 to 1",
        ),
        (lambda: hamming_cost(ROWS, [-1] * 7, CENTERS), "labels go from -1 to -1"),
        (lambda: hamming_cost(ROWS, ["a"] * 7, CENTERS), r"labels has shape \(7,\) and type <U1"),
        (
            lambda: hamming_cost(ROWS, LABELS, [["red"]]),
            r"centers has 1 columns, but X has 3\. Pass a value for every column",
        ),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
