"""Statistics of a partition, beside a slow reference that follows the formulas row by row."""

from itertools import combinations, pairwise
from math import exp, lgamma, log, nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import silhouette_score

from softmodes._rows.stores import MemoryStore, open_store
from softmodes.metrics import (
    deciding_columns,
    icl,
    line_share,
    silhouette,
    silhouette_samples,
    valley,
)
from softmodes.metrics._partition import Partition
from softmodes.metrics._separation import silhouette_of, valley_of

NONE = None  # a missing cell that is ignored


class Reference:
    """A table of lists; None is missing and ignored. Rows count as often as they are repeated."""

    def __init__(self, X, labels):
        self.X, self.labels = X, list(labels)
        self.d = len(X[0])
        self.groups = sorted(set(self.labels))
        self.values = [sorted({x[j] for x in X} - {NONE}, key=str) for j in range(self.d)]

    def rows(self, group):
        return [x for x, c in zip(self.X, self.labels, strict=True) if c == group]

    def column(self, j, group=None, without=None):
        """Observed cells of a column: of all rows or of a group, maybe one row left out."""
        cells = [
            x[j]
            for i, (x, c) in enumerate(zip(self.X, self.labels, strict=True))
            if (group is None or c == group) and i != without
        ]
        return [cell for cell in cells if cell is not NONE]

    def share(self, j, value, group, without=None):
        table, cells = self.column(j), self.column(j, group, without)
        return (cells.count(value) + table.count(value) / len(table)) / (len(cells) + 1)

    def icl(self, k=None):
        k, n = k or len(self.groups), len(self.X)
        found = lgamma(k / 2) - lgamma(n + k / 2)
        for c in self.groups:
            found += lgamma(len(self.rows(c)) + 0.5) - lgamma(0.5)
            for j, values in enumerate(self.values):
                cells, s = self.column(j, c), len(values)
                if s == 0:
                    continue
                found += lgamma(s / 2) - lgamma(len(cells) + s / 2)
                found += sum(lgamma(cells.count(v) + 0.5) - lgamma(0.5) for v in values)
        return -found

    def log_ratio(self, i, a, b):
        own, total = self.labels[i], 0.0
        for j, value in enumerate(self.X[i]):
            if value is not NONE:
                total += log(self.share(j, value, a, i if own == a else None))
                total -= log(self.share(j, value, b, i if own == b else None))
        return total

    def valley(self):
        if len(self.groups) < 2:
            return nan
        return max(self.valley_of(a, b) for a, b in combinations(self.groups, 2))

    def valley_of(self, a, b):
        if min(len(self.rows(a)), len(self.rows(b))) < 3:
            return 2.0
        rows = [i for i, c in enumerate(self.labels) if c in (a, b)]
        s = {i: self.log_ratio(i, a, b) for i in rows}
        mean = {c: np.mean([s[i] for i in rows if self.labels[i] == c]) for c in (a, b)}
        if mean[a] - mean[b] <= 1e-9:
            return 2.0
        u = [(s[i] - mean[b]) / (mean[a] - mean[b]) for i in rows]
        low, middle, high = (
            sum(exp(-((x - z) ** 2) / (2 * 0.125**2)) for x in u) + 0.05 for z in (0, 0.5, 1)
        )
        return middle / sqrt(low * high)

    def distance(self, i, group):
        """Mean distance of a row to the others of a group, column by column."""
        total = 0.0
        for j, value in enumerate(self.X[i]):
            cells, table = self.column(j, group, i), self.column(j)
            if value is NONE:
                continue
            if cells:
                total += 1 - cells.count(value) / len(cells)
            else:
                total += 1 - sum((table.count(v) / len(table)) ** 2 for v in self.values[j])
        return total

    def silhouette(self):
        if len(self.groups) < 2:
            return nan
        found = []
        for i, own in enumerate(self.labels):
            a = self.distance(i, own)
            b = min(self.distance(i, c) for c in self.groups if c != own)
            alone = len(self.rows(own)) == 1
            found.append(0.0 if alone or max(a, b) == 0 else (b - a) / max(a, b))
        return np.mean(found)

    def divergences(self, a, b):
        for j, values in enumerate(self.values):
            pairs = [(self.share(j, v, a), self.share(j, v, b)) for v in values]
            yield sum((p - q) * log(p / q) for p, q in pairs)

    def deciding_columns(self):
        found = [list(self.divergences(a, b)) for a, b in combinations(self.groups, 2)]
        ratio = [sum(d) ** 2 / sum(x * x for x in d) if any(d) else 0.0 for d in found]
        return min(ratio, default=nan)

    def line_share(self):
        rows = []
        for c in self.groups:
            row = []
            for j, values in enumerate(self.values):
                table = self.column(j)
                row += [self.share(j, v, c) - table.count(v) / len(table) for v in values]
            rows.append(sqrt(len(self.rows(c)) / len(self.X)) * np.array(row))
        squares = np.linalg.svd(np.array(rows), compute_uv=False) ** 2
        return squares[0] / squares.sum() if len(rows) > 1 and squares.sum() > 1e-20 else nan


STATISTICS = {
    "icl": (icl, 1e-11),
    "valley": (valley, 1e-6),
    "silhouette": (silhouette, 1e-8),
    "deciding_columns": (deciding_columns, 1e-9),
    "line_share": (line_share, 1e-9),
}


def assert_like_reference(X, labels, missing="ignore", **more):
    slow = Reference(X, labels)
    table = np.array(X, dtype=object)
    for name, (fast, close) in STATISTICS.items():
        found, expected = fast(table, labels, missing=missing, **more), getattr(slow, name)()
        assert found == pytest.approx(expected, rel=close, abs=close, nan_ok=True), name


def planted(n, d, k, seed, missing=0.0, n_values=4):
    """Rows around k prototypes; some cells are changed, some missing."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    cells = np.where(
        rng.random((n, d)) < 0.4,
        rng.integers(0, n_values, (n, d)),
        rng.integers(0, n_values, (k, d))[y],
    )
    gone = rng.random((n, d)) < missing
    return [
        [None if g else int(c) for c, g in zip(*row, strict=True)]
        for row in zip(cells, gone, strict=True)
    ], y


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(60, 5, 3), (40, 9, 2), (50, 3, 7), (30, 4, 30), (9, 2, 1)]
)
def test_every_statistic_is_that_of_the_formula(n, d, k, missing):
    for seed in range(3):
        assert_like_reference(*planted(n, d, k, seed, missing))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_statistic_is_defined_for_any_table(data):
    n, d = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    cell = st.sampled_from([None, "a", "b", "c"])
    X = data.draw(st.lists(st.lists(cell, min_size=d, max_size=d), min_size=n, max_size=n))
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    assert_like_reference(X, labels)


def test_columns_of_many_values_are_as_others():
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 3, n)
    wide = (y * 150 + rng.integers(0, 300, n)).tolist()
    wider = rng.integers(0, 10_000, n).tolist()
    few = (y + rng.integers(0, 2, n)).tolist()
    X = [
        [None if i % 7 == 0 else w, v, f]
        for i, (w, v, f) in enumerate(zip(wide, wider, few, strict=True))
    ]
    assert len(set(wide)) > 256 < len(set(wider))
    assert_like_reference(X, y)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_whole_weights_are_repeated_rows(statistic):
    fast, _ = STATISTICS[statistic]
    X, y = planted(80, 6, 3, seed=1)
    weight = np.random.default_rng(2).integers(1, 4, 80)
    again = np.repeat(np.arange(80), weight)
    found = fast(X, y, sample_weight=weight)
    assert found == pytest.approx(fast(np.array(X)[again], y[again]), rel=1e-9)
    assert found != pytest.approx(fast(X, y), rel=1e-6), "weights change nothing: nothing tested"


def test_many_repeated_rows_fit_the_sums():
    X, y = planted(80, 6, 3, seed=1)
    often, oftener = (np.full(80, 1 << bits) for bits in (20, 38))
    expected = silhouette(X, y, sample_weight=often)
    assert silhouette(X, y, sample_weight=oftener) == pytest.approx(expected, rel=1e-3)
    # The more rows, the surer is a value that a cluster lacks: the valley changes, but has a sign.
    assert 0 < valley(X, y, sample_weight=oftener) < 100


@pytest.mark.parametrize("statistic", STATISTICS)
def test_of_other_weights_only_ratios_count(statistic):
    fast, _ = STATISTICS[statistic]
    X, y = planted(80, 6, 3, seed=1)
    weight = np.random.default_rng(2).random(80)
    found = fast(X, y, sample_weight=weight)
    assert found == pytest.approx(fast(X, y, sample_weight=weight * 2.0**-7), rel=1e-9)
    assert np.isfinite(found)
    # Rows of weight 1/2 each count as one.
    assert fast(X, y, sample_weight=np.full(80, 0.5)) == pytest.approx(fast(X, y), rel=1e-9)


@pytest.mark.parametrize("cuts", [(1,), (17, 18, 40), (64,)])
def test_cut_and_order_of_the_rows_do_not_matter(cuts):
    X, y = planted(90, 5, 4, seed=3)
    opened = open_store(np.array(X))
    block = opened.store.blocks[0]
    parts = [block.part(a, b) for a, b in pairwise([0, *cuts, 90])]
    cut = MemoryStore(parts, opened.store.n_values)
    labels = y.astype(np.int32)
    whole, pieces = (Partition.in_store(s, opened.rows, labels, 4) for s in (opened.store, cut))
    assert valley_of(whole) == valley_of(pieces)
    assert silhouette_of(whole) == silhouette_of(pieces)
    order = np.random.default_rng(0).permutation(90)
    assert valley(np.array(X)[order], y[order]) == valley(X, y)
    assert silhouette(np.array(X)[order], y[order]) == silhouette(X, y)


def test_rows_are_taken_piece_by_piece(monkeypatch):
    X, y = planted(90, 5, 4, seed=3)
    whole = valley(X, y), silhouette(X, y), icl(X, y)
    monkeypatch.setattr("softmodes.metrics._row_totals._CELLS_AT_ONCE", 35)
    monkeypatch.setattr("softmodes._rows.tally._CELLS_AT_ONCE", 35)
    assert (valley(X, y), silhouette(X, y), icl(X, y)) == whole


def test_silhouette_is_that_of_all_pairs_of_rows():
    X, y = planted(150, 8, 4, seed=5)
    expected = silhouette_score(np.array(X), y, metric="hamming")
    assert silhouette(X, y) == pytest.approx(expected, abs=1e-8)


def test_an_empty_cluster_pays_in_icl_only():
    X, y = planted(50, 4, 3, seed=0)
    assert icl(X, y, n_clusters=5) == pytest.approx(Reference(X, y).icl(5))
    opened = open_store(np.array(X))
    three, five = (
        Partition.in_store(opened.store, opened.rows, y.astype(np.int32), k) for k in (3, 5)
    )
    assert valley_of(five) == valley_of(three)
    assert silhouette_of(five) == silhouette_of(three)


def test_left_out_rows_widen_the_valley():
    # A row that is not left out of its own cluster finds itself there: noise looks like a gap.
    X = np.random.default_rng(0).integers(0, 3, (60, 30))
    y = np.arange(60) % 2
    assert valley(X, y) > 0.8


def test_one_cluster_has_no_valley():
    for fast in (valley, silhouette, deciding_columns, line_share):
        assert np.isnan(fast([["a"], ["b"]], [0, 0]))
        assert np.isnan(fast([["a"]], ["x"]))
    assert icl([["a"]], [0]) == 0.0


def test_alike_clusters_are_not_apart():
    X = [["a", "b"]] * 8
    assert valley(X, [0, 1] * 4) == 2.0
    assert deciding_columns(X, [0, 1] * 4) == 0.0
    assert silhouette(X, [0, 1] * 4) == 0.0


def test_few_labels_are_refused():
    with pytest.raises(
        ValueError, match=r"n_clusters=2 is less than the 3 labels in use\. Pass at least 3"
    ):
        icl([["a"], ["b"], ["c"]], [0, 1, 2], n_clusters=2)
    with pytest.raises(ValueError, match="labels has 2 entries, but X has 3 rows"):
        valley([["a"], ["b"], ["c"]], [0, 1])


def test_silhouettes_of_rows_are_those_of_scikit_learn():
    from sklearn.metrics import silhouette_samples as of_all_pairs

    X = np.random.default_rng(0).integers(0, 4, (90, 6))
    labels = np.r_[np.zeros(1, int), np.arange(89) % 3 + 1]
    expected = of_all_pairs(X, labels, metric="hamming")
    np.testing.assert_allclose(silhouette_samples(X, labels), expected, atol=1e-12)
    assert np.isnan(silhouette_samples(X, labels * 0)).all()


def test_clusters_that_differ_by_roundings_alone_lie_on_no_line():
    rows = [[None], [None], ["a"], ["a"], [None], ["a"], ["a"], ["b"]]
    assert np.isnan(line_share(rows, [0, 0, 0, 0, 1, 0, 0, 0], missing="ignore"))
