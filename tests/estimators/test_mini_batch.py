from __future__ import annotations

import itertools
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

import reference
import softmodes
from softmodes import BadModelFile, MiniBatchSoftModes, SoftModes
from softmodes._algorithm import mini_batch
from softmodes._algorithm.mini_batch import MOST_IDLE, decay
from softmodes._algorithm.randomness import Use, address
from softmodes.datasets import load_mushroom, make_ccm
from softmodes.metrics import expected_cost, hamming_cost
from support import table

SIZES = (2, 3, 5, 17, 400)


def stream_of(n=500, seed=0, missing=False):
    """Rows whose values become more as the stream goes on, as strings; maybe with missing cells."""
    X = table(n, SIZES, seed=seed)
    X = np.minimum(X, 1 + np.arange(n)[:, None] // 3)
    X[:, 4] = np.random.default_rng(seed).integers(0, 400, n)
    X = X.astype(str).astype(object)
    X[:, 3] = [f"v{value}" for value in X[:, 3]]
    if missing:
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = None
        X[: n // 4, 1] = None  # a column of which nothing is known at first
    return X


def fed(model, X, cuts=(), weight=None):
    edges = [0, *cuts, len(X)]
    for a, b in itertools.pairwise(edges):
        model.partial_fit(X[a:b], sample_weight=None if weight is None else weight[a:b])
    return model


def assert_same(one, other, X):
    assert one.n_steps_ == other.n_steps_
    assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    assert_array_equal(one.cluster_sizes_, other.cluster_sizes_)
    for a, b in zip(one.cluster_counts_, other.cluster_counts_, strict=True):
        assert_array_equal(dense(a), dense(b))
    for a, b in zip(one.categories_, other.categories_, strict=True):
        assert_array_equal(a, b)
    assert_array_equal(one.predict(X), other.predict(X))
    assert_array_equal(one.transform(X), other.transform(X))
    assert one.cost_ == other.cost_
    assert one.expected_cost_ == other.expected_cost_


def dense(counts):
    return counts.toarray() if hasattr(counts, "toarray") else counts


def small(**params):
    given = {"n_clusters": 4, "n_init": 2, "batch_size": 64, "half_life": 150.0, "random_state": 0}
    return MiniBatchSoftModes(**(given | params))


# --------------------------------------------------------------------- same stream, same answer


@pytest.mark.parametrize("refine", ["gini", None])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"t": 1.0, "missing": "ignore"},
        {"t": math.inf, "missing": "ignore", "feature_weight": [1, 2, 0.5, 1, 3]},
        {"init": "random", "half_life": math.inf},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_cuts_of_a_stream_do_not_matter(refine, params, weighted):
    X = stream_of(missing=params.get("missing") == "ignore")
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(X)) / 3 if weighted else None
    whole = fed(small(refine=refine, **params), X, weight=weight)
    if not weighted:
        assert hasattr(whole.cluster_counts_[4], "toarray"), "no column outgrew the dense counts"
    assert whole.n_steps_ == math.ceil((len(X) if weight is None else (weight > 0).sum()) / 64)
    for n_cuts in (1, 12):
        cuts = np.sort(rng.choice(np.arange(3, len(X)), n_cuts, replace=False))
        taught = X if weight is None else X[weight > 0]
        assert_same(fed(small(refine=refine, **params), X, cuts, weight), whole, taught)


def test_a_stream_may_come_row_by_row():
    X = stream_of(150)
    by_row = fed(small(), X, range(1, len(X)))
    assert_same(by_row, fed(small(), X), X)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_threads_and_containers_do_not_matter(method):
    X = table(300, (2, 3, 5, 4))
    models = [
        getattr(small(n_jobs=n_jobs), method)(kind(X))
        for n_jobs, kind in (
            (1, np.asarray),
            (2, np.asfortranarray),
            (1, lambda X: X.astype(np.int8)),
            (2, lambda X: X.astype(float)),
            (1, np.ndarray.tolist),
            (2, csr_array),
        )
    ]
    for other in models[1:]:
        assert_same(models[0], other, X)
    frames = [pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))]
    named = [getattr(small(), method)(frame) for frame in frames]
    assert_same(named[0], named[1], frames[0])
    assert_array_equal(named[0].cluster_sizes_, models[0].cluster_sizes_)


@pytest.mark.parametrize("at", [10, 64, 100, 128, 400])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_loaded_model_goes_on_as_if_nothing_had_happened(at, weighted, tmp_path):
    X = stream_of(missing=True)
    weight = np.linspace(0.1, 2, len(X)) if weighted else None
    model = fed(small(missing="ignore"), X[:at], weight=None if weight is None else weight[:at])
    model.save(tmp_path / "m.softmodes")
    loaded = softmodes.load(tmp_path / "m.softmodes")
    assert_same(loaded, model, X[:at])
    for one in (loaded, model):
        one.partial_fit(X[at:], sample_weight=None if weight is None else weight[at:])
    assert_same(loaded, model, X)
    assert_same(loaded, fed(small(missing="ignore"), X, weight=weight), X)


def test_another_process_goes_on_to_the_same_answer(tmp_path):
    X = stream_of(200)
    path, rows, out = (str(tmp_path / name) for name in ("m.softmodes", "X.npy", "labels.npy"))
    np.save(rows, X.astype(str))
    fed(small(), X[:100].astype(str)).save(path)
    code = (
        "import sys, numpy as np, softmodes\n"
        "X = np.load(sys.argv[2])\n"
        "model = softmodes.load(sys.argv[1]).partial_fit(X[100:])\n"
        "np.save(sys.argv[3], model.predict(X))\n"
    )
    subprocess.run([sys.executable, "-c", code, path, rows, out], check=True)
    assert_array_equal(np.load(out), fed(small(), X.astype(str)).predict(X.astype(str)))


def test_a_fitted_model_goes_on_after_it_was_loaded(tmp_path):
    X = stream_of(300)
    model = small().fit(X[:200])
    model.save(tmp_path / "m.softmodes")
    loaded = softmodes.load(tmp_path / "m.softmodes")
    assert_array_equal(loaded.labels_, model.labels_)
    assert_same(loaded.partial_fit(X[200:]), model.partial_fit(X[200:]), X)
    assert not hasattr(loaded, "labels_")


def test_the_order_in_which_values_appear_does_not_change_categories():
    X = stream_of(300)
    model, backwards = fed(small(), X), fed(small(), X[::-1])
    for a, b in zip(model.categories_, backwards.categories_, strict=True):
        assert_array_equal(a, b)
    assert_array_equal(model.categories_[0], SoftModes(2).fit(X).categories_[0])


def test_weights_of_one_are_no_weights():
    X = stream_of(300)
    assert_same(fed(small(), X, weight=np.ones(len(X))), fed(small(), X), X)


# ---------------------------------------------------------------------------------- the counts


def naive_scaled(counts, factor, bits):
    """Scale sums over a feature's codes, as Python's integers, and take their differences."""
    rows = []
    for row in counts.tolist():
        sums = np.cumsum(np.array(row, object)).tolist()
        sums = [0, *(int(s) * factor >> bits for s in sums)]
        rows.append([b - a for a, b in itertools.pairwise(sums)])
    return np.array(rows, np.int64)


@pytest.mark.parametrize("half_life", [40.0, 1000.0, math.inf])
@pytest.mark.parametrize("refine", ["gini", None])
def test_counts_are_those_of_a_slow_reference(half_life, refine):
    X = table(320, (2, 3, 5, 7))
    B, seen = 64, None
    model = small(batch_size=B, half_life=half_life, refine=refine)
    # Values of all columns are known from the first batch on, so that codes stay as they are.
    assert all(set(X[:B, j]) == set(X[:, j]) for j in range(4))
    for first in range(0, len(X), B):
        model.partial_fit(X[first : first + B])
        learned = model._clustering.stream.learned
        if seen is not None:
            counts = seen.counts
            codes = X[first : first + B].astype(np.int32)
            ignored = np.full(4, -1, np.int32)
            labels, _ = reference.assign(
                codes,
                seen.centers.codes,
                ignored,
                None,
                address(0, seen.run, Use.TIE),
                reference.row_hashes(codes, counts.layout),
            )
            factor = decay(B, half_life)
            for j, size in enumerate((2, 3, 5, 7)):
                new = reference.counts(codes, labels, 4, j, size)
                old = naive_scaled(counts.feature(j), factor, 30)
                expected = old + (new << learned.exponent)
                assert_array_equal(learned.counts.feature(j), expected)
                assert_array_equal(learned.cluster_sizes, expected.sum(axis=1))
            key = address(address(0, seen.run, Use.BATCH), seen.run, Use.DRAW, learned.n_steps)
            t = (3.0, 8.0)[seen.run % 2]
            for cluster, j in np.ndindex(4, 4):
                drawn = reference.draw(learned.counts.feature(j)[cluster], t, key, cluster, j)
                assert learned.centers.codes[cluster, j] == drawn
        seen = learned
    assert seen.n_steps == 5
    total = sum(B * 2.0 ** (-first / half_life) for first in range(0, len(X), B))
    assert model.cluster_sizes_.sum() == pytest.approx(total, rel=1e-6)


def test_decay_is_by_rows():
    assert decay(700, 700.0) == 1 << 29
    assert decay(1400, 700.0) == 1 << 28
    assert decay(10**6, math.inf) == 1 << 30
    half = decay(350, 700.0)
    assert (half - 1) ** 2 < 1 << 59 < (half + 1) ** 2
    X = table(512, (2, 3, 5))
    sums = [
        fed(small(batch_size=B, half_life=100.0), X).cluster_sizes_.sum() for B in (32, 64, 128)
    ]
    # The last row of a batch counts as the first: smaller batches fade sooner.
    for B, found in zip((32, 64, 128), sums, strict=True):
        assert found == pytest.approx(B * sum(2.0 ** (-i / 100) for i in range(0, 512, B)))


def test_weights_of_any_size_fit():
    X = table(512, (2, 3, 5))
    weight = np.repeat([1e-9, 1.0, 1e12, 3e-4], 128)
    model = fed(small(half_life=math.inf), X, weight=weight)
    assert_allclose(model.cluster_sizes_.sum(), weight.sum(), rtol=1e-9)
    tiny = fed(small(half_life=math.inf), X, weight=weight * 2.0**-200)
    assert_array_equal(tiny.predict(X), model.predict(X))
    assert_array_equal(tiny.cluster_sizes_, model.cluster_sizes_ * 2.0**-200)


def test_a_long_stream_does_not_overflow(monkeypatch):
    X = table(640, (2, 3, 5))
    free = fed(small(half_life=math.inf), X)
    monkeypatch.setattr(mini_batch, "COST_BITS", 56)
    tight = fed(small(half_life=math.inf), X)
    assert tight._clustering.stream.learned.exponent < free._clustering.stream.learned.exponent
    assert_allclose(tight.cluster_sizes_, free.cluster_sizes_, rtol=1e-9)
    assert_array_equal(tight.predict(X), free.predict(X))


# -------------------------------------------------------------------------- what becomes of it


def groups(n, centers, seed):
    rng = np.random.default_rng(seed)
    rows = np.array(centers)[rng.integers(0, len(centers), n)]
    return np.where(rng.random(rows.shape) < 0.05, rng.integers(0, 4, rows.shape), rows)


def drifted(seed):
    """A group vanishes; a new one appears near the other, and so gets no cluster of its own."""
    a, b, c = [0] * 12, [1] * 12, [0] * 7 + [2] * 5
    before, after = groups(640, [a, b], seed), groups(64 * (MOST_IDLE + 6), [a, c], seed + 1)
    model = small(n_clusters=2, half_life=1e9, random_state=seed)
    labels = fed(model, before).predict([a, b])
    assert labels[0] != labels[1]
    fed(model, after)
    return model.predict([a, c])


def test_a_dead_cluster_is_seeded_again(monkeypatch):
    assert all(a != c for a, c in map(drifted, range(5)))
    monkeypatch.setattr(mini_batch, "MOST_IDLE", 10**9)
    assert any(a == c for a, c in map(drifted, range(5))), "nothing was tested"


def test_what_is_long_past_fades():
    a, b = [0] * 6, [1] * 6
    X = np.array([a] * 640 + [b] * 640)
    model = fed(small(n_clusters=1, half_life=100.0), X)
    assert_array_equal(model.cluster_centers_, [b])
    assert model.cluster_counts_[0][0, 0] < 0.02 * model.cluster_counts_[0][0, 1]


def test_clusters_keep_their_numbers():
    a, b = [0] * 8, [1] * 8
    model = small(n_clusters=2, half_life=100.0)
    first = fed(model, groups(64, [a, a, a, b], 0)).predict([a, b])
    assert_array_equal(first, [0, 1])
    later = fed(model, groups(1280, [a, b, b, b], 1)).predict([a, b])
    assert_array_equal(later, first)
    assert model.cluster_sizes_[0] < model.cluster_sizes_[1]


def test_given_seeds_may_hold_values_of_later_rows():
    seeds = [["x", "new"], ["y", "old"]]
    model = small(n_clusters=2, n_init=1, init=seeds)
    model.partial_fit([["x", "old"], ["y", "old"]]).partial_fit([["x", "new"]] * 3)
    assert_array_equal(model.predict(seeds), [0, 1])
    assert model.categories_[1].tolist() == ["new", "old"]
    with pytest.raises(ValueError, match="init has 2 rows and 1 columns"):
        small(n_clusters=2, init=[["x"], ["y"]]).partial_fit(seeds)


def test_fewer_rows_than_clusters_are_a_beginning():
    X = stream_of(200)
    model = small(n_clusters=5)
    for row in X[:4]:
        model.partial_fit([row])
    assert len(model.cluster_centers_) == 5
    assert_same(model.partial_fit(X[4:]), fed(small(n_clusters=5), X), X)


# ------------------------------------------------------------------------------------------ fit


@pytest.mark.parametrize("refine", ["gini", None])
def test_fit_describes_the_partition_of_its_table(refine):
    X = table(400, SIZES, seed=1)
    model = small(refine=refine, n_epochs=2).fit(X)
    assert model.n_steps_ == 2 * math.ceil(400 / 64)
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(np.bincount(model.labels_, minlength=4), model.cluster_sizes_)
    assert list(model.cluster_sizes_) == sorted(model.cluster_sizes_, reverse=True)
    assert model.expected_cost_ == pytest.approx(expected_cost(X, model.labels_))
    assert model.cost_ == hamming_cost(X, model.labels_, model.cluster_centers_)
    assert model.transform(X).shape == (400, 4)
    assert_array_equal(model.transform(X).argmin(axis=1)[:5].shape, (5,))
    assert -5 <= model.score(X) <= 0


def test_rows_without_weight_teach_nothing():
    X = table(300, (2, 3, 5, 4))
    noise = np.random.default_rng(0).integers(0, 2, (100, 4))
    weight = np.repeat([1.0, 0.0], [300, 100])
    both = np.concatenate([X, noise])
    with_noise = fed(small(), both, weight=weight)
    assert_same(with_noise, fed(small(), X), X)
    model = small().fit(both, sample_weight=weight)
    assert len(model.labels_) == 400
    assert model.cluster_sizes_.sum() == 300


def test_a_sorted_table_is_no_harder_than_a_shuffled_one():
    X, y = make_ccm(4000, 64, 8, 0.2, random_state=0)
    expected = SoftModes(8, refine=None, random_state=0).fit(X).expected_cost_
    for seed in range(3):
        model = MiniBatchSoftModes(8, batch_size=256, random_state=seed)
        assert model.fit(X[np.argsort(y)]).expected_cost_ < 1.01 * expected


@pytest.mark.parametrize("refine", ["gini", None])
def test_one_epoch_costs_hardly_more_than_a_whole_fit(refine):
    for X, k in (
        (load_mushroom(return_X_y=True, as_frame=False)[0], 10),
        (make_ccm(10_000, 64, 20, 0.2, random_state=0)[0], 20),
    ):
        means = [
            np.mean([model.set_params(random_state=s).fit(X).expected_cost_ for s in range(10)])
            for model in (MiniBatchSoftModes(k, refine=refine), SoftModes(k, refine=None))
        ]
        assert means[0] < 1.03 * means[1]


# --------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"batch_size": 0}, "batch_size=0 is not an int >= 1, nor 'auto'"),
        ({"half_life": 0.5}, "half_life=0.5 is not a number >= 1"),
        ({"n_init": "auto"}, "n_init='auto' is not an int >= 1"),
        ({"refine": "latent"}, "refine='latent' is not known. Pass one of 'gini', None"),
        ({"t": 0.5}, "t=0.5"),
        ({"missing": "drop"}, "missing='drop' is not known"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_wrong_parameters_are_refused_by_name(params, message, method):
    with pytest.raises(ValueError, match=message):
        getattr(small(**params), method)(table(100, (2, 3)))


def test_wrong_numbers_of_epochs_and_clusters_are_refused():
    with pytest.raises(ValueError, match="n_epochs=0 is not an int >= 1"):
        small(n_epochs=0).fit(table(100, (2, 3)))
    with pytest.raises(ValueError, match="n_clusters=4 is more than n_samples=3"):
        small().fit(table(3, (2, 3)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.set_params(n_clusters=3), "n_clusters=3 is not that of the fit"),
        (lambda model: model.set_params(missing="ignore"), "missing='ignore' is not that of the"),
    ],
)
def test_parameters_that_a_stream_cannot_change_are_refused(change, message):
    model = change(fed(small(), stream_of(100)))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(stream_of(100))


def test_a_call_that_fails_leaves_the_model_as_it_was():
    X = stream_of(200)
    model = fed(small(missing="error"), X[:150])
    bad = X[150:].copy()
    bad[7, 2] = None
    for rows, weight, message in (
        (bad, None, "1 missing cells, the first in row 7"),
        (X[150:, :3], None, "X has 3 features, but MiniBatchSoftModes is expecting 5"),
        (X[150:], [1.0], "sample_weight has shape"),
        (X[150:], [-1.0] * 50, "Weights must be finite and not negative"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, sample_weight=weight)
    assert_same(model, fed(small(missing="error"), X[:150]), X[:150])
    with pytest.raises(NotFittedError):
        small().predict(X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: replace(s, seed=-1), "the stream"),
        (lambda s: replace(s, waiting=s.waiting + 1000), "the rows that wait"),
        (lambda s: replace(s, waiting=s.waiting[:, 1:]), "the rows that wait"),
        (lambda s: replace(s, weight=np.full(len(s.waiting), -1.0)), "the weights of the rows"),
        (lambda s: replace(s, weight=np.ones(1)), "the weights of the rows"),
        (lambda s: replace(s, learned=None, waiting=s.waiting[:0]), "the rows that wait"),
        (lambda s: changed(s, exponent=5000), "the stream"),
        (lambda s: changed(s, run=-1), "the stream"),
        (lambda s: changed(s, idle=s.learned.idle - 100), "the idle clusters"),
        (lambda s: changed(s, cluster_sizes=s.learned.cluster_sizes + 1), "the counts of the"),
        (lambda s: changed(s, centers=s.learned.centers.reorder(np.arange(2))), "the centers"),
    ],
)
def test_a_file_with_a_forged_stream_is_refused(change, message, tmp_path):
    model = fed(small(), stream_of(100))
    found = model._clustering
    model._clustering = replace(found, stream=change(found.stream))
    model.save(tmp_path / "m.softmodes")
    with pytest.raises(BadModelFile, match=message):
        softmodes.load(tmp_path / "m.softmodes")


def changed(stream, **changes):
    return replace(stream, learned=replace(stream.learned, **changes))
