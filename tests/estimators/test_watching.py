"""Whoever watches a fit: the logger, scikit-learn's callbacks; and how many threads it takes."""

import logging
import os
import subprocess
import sys
from typing import get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

from softmodes import KModes, MiniBatchSoftModes, SoftModes, load
from softmodes._parameters import thread_count
from softmodes.datasets import make_ccm

X = make_ccm(200, 8, 3, 0.2, random_state=0)[0]


def test_runs_and_rounds_are_logged_for_whoever_listens_and_not_printed(caplog, capsys):
    with caplog.at_level(logging.DEBUG, "softmodes"):
        model = SoftModes(3, n_init=2, random_state=0, n_jobs=1).fit(X)
    runs = [r for r in caplog.records if r.levelno == logging.INFO]
    rounds = [r for r in caplog.records if r.levelno == logging.DEBUG]
    assert [r.getMessage().split(",")[0] for r in runs] == ["run 0", "run 1"]
    assert {r.name for r in caplog.records} == {"softmodes"}
    assert len(rounds) >= model.n_iter_
    assert capsys.readouterr().out == ""
    caplog.clear()
    with caplog.at_level(logging.INFO, "softmodes"):
        SoftModes(3, n_init=2, random_state=0, n_jobs=1, verbose=1).fit(X)
    assert len(caplog.records) == 2
    assert capsys.readouterr().out == "", "a line is told once"


def test_what_nobody_listens_to_is_printed_if_it_is_asked_for(caplog, capsys):
    with caplog.at_level(logging.WARNING, "softmodes"):
        SoftModes(3, n_init=2, random_state=0, n_jobs=1).fit(X)
        assert capsys.readouterr().out == ""
        SoftModes(3, n_init=2, random_state=0, n_jobs=1, verbose=1).fit(X)
    assert not caplog.records
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == [
        "run 0",
        "run 1",
    ]


def test_a_cluster_of_nearly_all_rows_of_a_sparse_table_is_mentioned(caplog):
    rng = np.random.default_rng(0)
    words = (rng.random((500, 40)) < 0.01).astype(int)
    words[:40, :8] = 1
    model = SoftModes(2, random_state=0, n_init=2).fit(words)
    assert model.cluster_sizes_[0] > 400
    (record,) = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert record.getMessage().startswith(
        "One cluster holds 92 % of the rows: the columns hardly vary (97 % of the cells hold"
    )
    caplog.clear()
    SoftModes(1, random_state=0).fit(words)
    SoftModes(2, random_state=0, n_init=2).fit(rng.integers(0, 2, (200, 5)))
    assert not [r for r in caplog.records if r.levelno == logging.WARNING]


class Recorder:
    """A callback of scikit-learn that writes down what it hears."""

    def __init__(self, stop_after=None):
        self.heard = []
        self.stop_after = stop_after

    def setup(self, estimator, context):
        self.heard.append(("setup", context.max_subtasks))

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.heard.append(("end", context.task_name, context.task_id))
        return (context.task_name, context.task_id) == self.stop_after

    def teardown(self, estimator, context):
        self.heard.append(("teardown",))


def pair(name, number):
    return [("begin", name, number), ("end", name, number)]


@pytest.mark.parametrize(
    ("model", "tasks"),
    [
        (SoftModes(3, n_init=2, random_state=0), ["run", "run", "finish"]),
        (SoftModes(3, n_init=2, refine=None, random_state=0), ["run", "run"]),
        (KModes(3, n_init=3, random_state=0), ["run", "run", "run"]),
    ],
)
def test_callbacks_of_scikit_learn_hear_of_every_run_and_change_nothing(model, tasks):
    pytest.importorskip("sklearn.callback")
    expected = model.fit(X).labels_
    recorder = Recorder()
    assert_array_equal(model.set_callbacks(recorder).fit(X).labels_, expected)
    inner = [event for number, name in enumerate(tasks) for event in pair(name, number)]
    fit = [("begin", "fit", 0), *inner, ("end", "fit", 0)]
    assert recorder.heard == [("setup", len(tasks)), *fit, ("teardown",)]
    assert "_callback_fit_ctx" not in vars(model)


def test_a_callback_of_scikit_learn_may_stop_a_fit():
    pytest.importorskip("sklearn.callback")
    recorder = Recorder(stop_after=("run", 0))
    model = SoftModes(3, n_init=9, random_state=0).set_callbacks(recorder).fit(X)
    runs = [event for event in recorder.heard if event[:2] == ("begin", "run")]
    assert len(runs) < 9
    assert model.labels_.shape == (200,)


def test_a_fit_that_fails_tears_its_callbacks_down():
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    model = SoftModes(3, n_init=2, random_state=0).set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, on_round=_fail)
    assert recorder.heard[-1] == ("teardown",)


def _fail(state):
    raise RuntimeError("enough")


def test_the_progress_bar_of_scikit_learn_runs(capsys):
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    SoftModes(3, n_init=2, random_state=0).set_callbacks(callback.ProgressBar()).fit(X)
    assert "fit" in capsys.readouterr().out


# ------------------------------------------------------------------------------------- threads


def test_threads_are_those_that_openmp_may_take(monkeypatch):
    monkeypatch.setattr("softmodes._parameters.usable_cores", lambda: 8)
    with threadpool_limits(3, user_api="openmp"):
        assert thread_count(None) == 3
        assert thread_count(-1) == 8, "who asks for all cores gets them"
        assert thread_count(5) == 5
    with threadpool_limits(1):
        assert thread_count(None) == 1
    with threadpool_limits(50, user_api="openmp"):
        assert thread_count(None) == 8


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("LOKY_MAX_CPU_COUNT", ["1", "1", "1"]),  # of all cores, as a cgroup would be
        ("OMP_NUM_THREADS", ["1", "2", "2"]),  # what joblib sets for its workers
    ],
)
def test_threads_are_limited_as_those_of_others_are(limit, expected):
    code = (
        "import joblib, sklearn.cluster; from softmodes import _parameters; "
        "joblib.cpu_count = (lambda count: lambda: min(count(), 2))(joblib.cpu_count); "
        "print(*map(_parameters.thread_count, (None, -1, 64)))"
    )
    env = {**os.environ, limit: "1"}
    told = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    cores = thread_count(-1)
    assert told.stdout.split() == [str(min(int(n), cores)) for n in expected], told.stderr


# --------------------------------------------------------------------------------------- types


@pytest.mark.parametrize("kind", [SoftModes, KModes, MiniBatchSoftModes])
def test_every_name_that_a_type_allows_is_taken_and_no_other(kind):
    hints = get_type_hints(kind.__init__)
    tried = 0
    for parameter in ("select", "refine", "missing", "init", "rounding"):
        names = [arg for arg in _literals(hints.get(parameter)) if isinstance(arg, str)]
        for name in names:
            params = {parameter: name, **({"t": "auto"} if parameter == "rounding" else {})}
            assert kind(2, random_state=0, **params).fit(X).labels_.shape == (200,)
            tried += 1
        if names:
            with pytest.raises(ValueError, match=f"{parameter}='other'"):
                kind(2, **{parameter: "other"}).fit(X)
    assert tried >= 9
    assert set(get_args(get_type_hints(load)["return"])) == {SoftModes, KModes, MiniBatchSoftModes}


def _literals(hint):
    for arg in get_args(hint):
        yield from _literals(arg) if get_args(arg) else [arg]


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_intervals_of_pandas_are_values_in_columns_categories_and_cells(missing):
    cut = pd.Series(pd.cut([1, 2, 3, 4, np.nan], 2))
    frames = {
        "category": cut,
        "interval": cut.astype(cut.cat.categories.dtype),
        "object": cut.astype(object),
    }
    models = [
        KModes(2, missing=missing, random_state=0).fit(pd.DataFrame({"a": column}))
        for column in frames.values()
    ]
    for model in models:
        assert list(model.categories_[0][:2]) == ["(0.997, 2.5]", "(2.5, 4.0]"]
        assert_array_equal(model.labels_, models[0].labels_)
    assert np.unique(models[0].labels_).size == 2
