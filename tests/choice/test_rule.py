"""The rule that picks k, case by case; and whole sweeps of tables with and without groups."""

from dataclasses import asdict, replace
from math import nan

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes._choice.rule import Statistics, Verdict, choose
from softmodes._choice.sweep import sweep
from softmodes.datasets import make_ccm
from softmodes.metrics import ari, deciding_columns, icl, line_share, silhouette, valley

FINE = Statistics(
    k=2, icl=0.0, valley=0.3, found_again=0.9, silhouette=0.2, aic3=0.0, bic=0.0,
    deciding_columns=8.0, line_share=0.5, explained=0.2, smallest=100, n_rows=1000,
)  # fmt: skip
ONE = replace(
    FINE,
    k=1,
    icl=10.0,
    valley=nan,
    found_again=1.0,
    silhouette=nan,
    line_share=nan,
)


def rows(*changes, best=None):
    """Statistics of k = 1, 2, ...: ICL falls until k = `best`."""
    best = best or len(changes) + 1
    found = [ONE, *(replace(FINE, k=k, **change) for k, change in enumerate(changes, 2))]
    return [replace(row, icl=float(abs(row.k - best))) for row in found]


def outcome(*changes, best=None):
    choice = choose(rows(*changes, best=best))
    return choice.pick, choice.verdict, choice.solid


def test_the_largest_k_is_picked_that_is_separate_and_pays():
    assert outcome({}, {}, {}) == (4, Verdict.SOLID, 4)
    assert outcome({}, {}, {}, best=3) == (3, Verdict.SOLID, 3)
    assert outcome({}, {}, {}, best=1) == (None, Verdict.NONE, None)
    assert outcome({}, {"valley": 0.8}, {"valley": 0.9}) == (2, Verdict.SOLID, 2)
    assert outcome({}, {"found_again": 0.59}) == (2, Verdict.SOLID, 2)
    assert outcome({}, {"smallest": 9.9, "n_rows": 500}) == (2, Verdict.SOLID, 2)
    assert outcome({}, {"smallest": 19, "n_rows": 2000}) == (2, Verdict.SOLID, 2)
    assert outcome({}, {"smallest": 20, "n_rows": 2000}) == (3, Verdict.SOLID, 3)
    assert outcome({"found_again": nan}) == (2, Verdict.CARE, None)  # nobody has looked
    # A bad k does not hide a good larger one.
    assert outcome({"valley": 1.2}, {}) == (3, Verdict.SOLID, 3)


def test_one_weakness_asks_for_care():
    for weak in ({"valley": 0.6}, {"found_again": 0.74}, {"deciding_columns": 2.9}):
        assert outcome({}, weak) == (3, Verdict.CARE, 2)
        assert outcome(weak) == (2, Verdict.CARE, None)
    assert "columns tell" in choose(rows({"deciding_columns": 2.1})).why
    assert "found again in part" in choose(rows({"found_again": 0.7})).why
    assert "hardly apart" in choose(rows({"valley": 0.7})).why


def test_without_gaps_it_is_told_whether_there_is_a_scale():
    flat = {"valley": 1.1}
    assert outcome(flat, flat) == (None, Verdict.NOT_SEPARATE, None)
    assert "on a scale" in choose(rows(flat, flat | {"line_share": 0.9})).why
    assert "several directions" in choose(rows(flat, flat | {"line_share": 0.89})).why
    assert "no gap" in choose(rows(flat)).why


def test_a_pick_at_the_end_of_the_range_may_be_too_few():
    assert choose(rows({}, {})).more
    assert not choose(rows({}, {}, best=2)).more
    assert not choose(rows({"valley": 1.0})).more


def test_one_cluster_must_be_known():
    with pytest.raises(ValueError, match=r"found has k=\[2, 3\]. Pass the statistics of k=1, too"):
        choose(rows({}, {})[1:])


# --- whole sweeps ---


def test_a_sweep_has_the_statistics_of_its_partitions():
    X, _ = make_ccm(300, 12, 3, 0.1, random_state=0)
    found = sweep(X, 4, random_state=0)
    assert [row.k for row in found.statistics] == [1, 2, 3, 4]
    for row, level in zip(found.statistics, found.levels, strict=True):
        labels = level.labels
        assert row.icl == pytest.approx(icl(X, labels, n_clusters=row.k), rel=1e-12)
        assert row.n_rows == 300
        assert row.smallest == np.bincount(labels, minlength=row.k).min()
        for name, metric in {
            "valley": valley,
            "silhouette": silhouette,
            "deciding_columns": deciding_columns,
            "line_share": line_share,
        }.items():
            assert getattr(row, name) == pytest.approx(metric(X, labels), nan_ok=True), name


@pytest.mark.parametrize("k", [2, 4, 7])
def test_planted_groups_are_found(k):
    X, y = make_ccm(600, 40, k, 0.15, random_state=k)
    found = sweep(X, 9, random_state=0)
    assert (found.choice.pick, found.choice.verdict) == (k, Verdict.SOLID)
    assert ari(y, found.levels[k - 1].labels) > 0.95


def test_no_groups_are_found_in_noise():
    X = np.random.default_rng(0).integers(0, 3, (500, 20))
    assert sweep(X, 6, random_state=0).choice.verdict is Verdict.NONE


def test_bands_of_a_scale_are_no_groups():
    rng = np.random.default_rng(0)
    X = rng.random((800, 25)) < 1 / (1 + np.exp(-1.5 * rng.standard_normal((800, 1))))
    choice = sweep(X, 6, random_state=0).choice
    assert choice.pays > 1
    assert choice.verdict is Verdict.NOT_SEPARATE
    assert "scale" in choice.why


def test_a_sweep_depends_on_the_seed_alone():
    X, _ = make_ccm(200, 10, 3, 0.2, random_state=1)
    one, two = (sweep(X, 4, random_state=5, n_jobs=n) for n in (1, 2))
    assert list(map(str, one.statistics)) == list(map(str, two.statistics))
    for a, b in zip(one.levels, two.levels, strict=True):
        assert_array_equal(a.labels, b.labels)


@pytest.mark.parametrize(
    ("X", "most"),
    [
        ([["a"]], 1),
        ([["a"]] * 10, 4),
        ([["a", None], ["b", None]] * 5, 3),
        ([[None]] * 6, 2),
        ([[i, "x"] for i in range(8)], 6),
    ],
)
def test_a_sweep_is_defined_for_poor_tables(X, most):
    for missing in ("category", "ignore"):
        found = sweep(X, most, missing=missing, random_state=0)
        assert len(found.statistics) == most
        assert np.isfinite([row.icl for row in found.statistics]).all()
        assert found.choice.pick is None


def test_whole_weights_in_a_sweep_are_repeated_rows():
    X, _ = make_ccm(150, 12, 3, 0.1, random_state=0)
    weighted = sweep(X, 4, sample_weight=np.full(150, 2), random_state=0)
    for row, level in zip(weighted.statistics, weighted.levels, strict=True):
        twice = np.repeat(X, 2, axis=0), np.repeat(level.labels, 2)
        assert row.n_rows == 300
        assert row.icl == pytest.approx(icl(*twice, n_clusters=row.k), rel=1e-12)
    halves = sweep(X, 4, sample_weight=np.full(150, 0.5), random_state=0)
    plain = sweep(X, 4, random_state=0)
    for a, b in zip(halves.statistics, plain.statistics, strict=True):
        assert asdict(a) == pytest.approx(asdict(b), rel=1e-6, nan_ok=True)


def test_more_clusters_than_a_sample_has_rows_are_refused():
    X = [[i] for i in range(10)]
    with pytest.raises(ValueError, match=r"most=9 is more than the rows of a sample=8. Pass most"):
        sweep(X, 9)
    assert len(sweep(X, 8, random_state=0).statistics) == 8
    assert len(sweep(X, 10, n_samples=0, random_state=0).statistics) == 10
