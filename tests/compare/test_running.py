"""How many runs a cell has, what equal time is, and which rows fits on parts of them get."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes import SoftModes
from softmodes._compare import fitting, running
from softmodes._compare.cells import EQUAL_TIME, ONCE, Cell, Limits, Setting, cells_of, pace_of
from softmodes._compare.contenders import CONTENDERS, chosen
from softmodes._compare.fitting import Fit, Fitting
from softmodes._compare.running import (
    EqualTime,
    measured,
    repeated,
    restarts_that_fit,
    several,
)
from softmodes._compare.tables import LabelledTable, ReadyTable
from softmodes.baselines import Outcome, register, unregister
from softmodes.datasets import load_zoo
from softmodes.metrics import ari


def zoo():
    X, y = load_zoo(return_X_y=True, as_frame=False)
    return ReadyTable(LabelledTable("zoo", X, y))


def a_cell(name="SoftModes", setting=ONCE, what="runs", **limits):
    return Cell("zoo", "0", 7, CONTENDERS[name], setting, what, Limits(**limits))


# --- limits ---


def numbered(seconds, out_of_time=()):
    """Fits that take known seconds; returns the function and what it was called with."""
    called = []

    def one(number, left):
        called.append((number, left))
        return number, Fit(None, wall=seconds[number], out_of_time=number in out_of_time)

    return one, called


@pytest.mark.parametrize(
    ("seconds", "limits", "expected"),
    [
        ([1.0] * 30, Limits(), 20),
        ([10.0] * 30, Limits(), 20),
        ([10.1] * 30, Limits(), 5),
        ([130.0] * 30, Limits(), 4),  # four take 520 s, a fifth would end after 650
        ([700.0] * 30, Limits(), 1),
        ([0.5] * 30, Limits(runs=7), 7),
        ([3.0] * 30, Limits(slow_seconds=2, slow_runs=3), 3),
        ([1.0] * 30, Limits(cell_seconds=4.5), 4),
    ],
)
def test_a_cell_has_as_many_runs_as_its_limits_allow(seconds, limits, expected):
    one, called = numbered(seconds)
    assert several(one, limits.runs, limits) == list(range(expected))
    assert called[0] == (0, limits.cell_seconds)


def test_a_first_run_may_have_more_time_than_the_cell():
    one, called = numbered([7.0, 1.0])
    assert several(one, 9, Limits(cell_seconds=5.0, longest=60.0)) == [0]
    assert called == [(0, 60.0)]
    one, called = numbered([2.0] * 9)
    assert several(one, 9, Limits(cell_seconds=5.0, longest=60.0)) == [0, 1]
    assert called == [(0, 60.0), (1, 3.0)]


def test_a_run_that_is_stopped_counts_only_if_it_is_the_first():
    assert several(numbered([600.0], {0})[0], 20, Limits()) == [0]
    assert several(numbered([9.0, 9.0, 591.0], {2})[0], 20, Limits()) == [0, 1]


def test_runs_without_time_of_their_own_are_all_made():
    assert several(lambda number, left: (number, None), 6, Limits()) == list(range(6))


# --- equal time, by fits that take known seconds ---


def attempts_of(fits):
    made = []

    def attempt(number):
        made.append(number)
        return fits[number - 1]

    return attempt, made


def a_fit(objective, wall, labels=(0,)):
    failed = objective is None
    return Fit(None if failed else np.array(labels), objective, wall, 2 * wall)


def test_runs_are_repeated_while_another_is_expected_to_fit():
    first = {"wall": 2.0, "cpu": 4.0, "objective": 5.0}
    attempt, made = attempts_of([a_fit(7.0, 2.0), a_fit(3.0, 2.0), a_fit(4.0, 2.0)] * 5)
    best, more = repeated(first, attempt, budget=8.0, encoding=0.0)
    assert made == [1, 2, 3]  # 8 seconds in all: the last ends just in time
    assert best.objective == 3.0
    assert (more.attempts, more.wall, more.cpu) == (3, 6.0, 12.0)


def test_encoding_counts_once():
    first = {"wall": 3.0, "cpu": 3.0, "objective": 5.0}
    attempt, made = attempts_of([a_fit(7.0, 3.0)] * 9)
    _, more = repeated(first, attempt, budget=6.0, encoding=2.0)
    assert made == [1, 2, 3]  # 3, then 1 second each
    assert more.wall == 3.0


def test_equal_time_by_the_other_clock():
    first = {"wall": 2.0, "cpu": 4.0, "objective": 5.0}
    attempt, made = attempts_of([a_fit(7.0, 2.0)] * 9)
    repeated(first, attempt, budget=8.0, encoding=0.0, clock="cpu")
    assert made == [1]


def test_the_first_run_is_kept_if_it_is_the_best_or_the_only_one():
    first = {"wall": 2.0, "cpu": 2.0, "objective": 5.0}
    attempt, made = attempts_of([a_fit(5.0, 2.0)])
    best, _ = repeated(first, attempt, budget=4.0, encoding=0.0)
    assert made == [1]
    assert best.labels is None
    best, more = repeated(first, attempt, budget=0.5, encoding=0.0)
    assert best.labels is None
    assert more.attempts == 0


def test_a_slow_attempt_makes_the_next_less_likely():
    first = {"wall": 1.0, "cpu": 1.0, "objective": 5.0}
    attempt, made = attempts_of([a_fit(4.0, 5.0)] * 9)
    repeated(first, attempt, budget=8.0, encoding=0.0)
    assert made == [1]  # 6 seconds are spent, another is expected to take 3


def test_failures_are_repeated_and_no_objective_is_not():
    failed = {"wall": 1.0, "cpu": 1.0, "error": "ValueError: no"}
    attempt, made = attempts_of([a_fit(None, 1.0), a_fit(9.0, 1.0), a_fit(None, 1.0)])
    best, _ = repeated(failed, attempt, budget=4.0, encoding=0.0)
    assert made == [1, 2, 3]
    assert best.objective == 9.0
    untold = {"wall": 1.0, "cpu": 1.0, "objective": None}
    attempt, made = attempts_of([])
    repeated(untold, attempt, budget=100.0, encoding=0.0)
    assert made == []


def test_a_run_at_equal_time_begins_with_that_of_one_restart():
    table = zoo()
    once = measured(a_cell(runs=3), table, 1)["runs"]
    short = measured(a_cell(setting=EQUAL_TIME, runs=3), table, 1, EqualTime(0.0, tuple(once)))
    assert [run["attempts"] for run in short["runs"]] == [1, 1, 1]
    for run, first in zip(short["runs"], once, strict=True):
        assert {**run, "attempts": None} == {**first, "attempts": None}
    seconds = 20 * max(run["wall"] for run in once)
    long = measured(a_cell(setting=EQUAL_TIME, runs=3), table, 1, EqualTime(seconds, tuple(once)))[
        "runs"
    ]
    assert all(run["attempts"] > 2 for run in long)
    assert all(a["objective"] <= b["objective"] for a, b in zip(long, once, strict=True))
    assert any(a["objective"] < b["objective"] for a, b in zip(long, once, strict=True))


def test_a_method_that_restarts_itself_has_the_restarts_that_fit_in_one_fit():
    table, cell = zoo(), a_cell(setting=EQUAL_TIME, runs=3)
    once = tuple(measured(replace(cell, setting=Setting(1)), table, 1)["runs"])
    five = measured(replace(cell, setting=Setting(5)), table, 1)["runs"]
    found = measured(cell, table, 1, EqualTime(9.0, once, 5))
    assert (found["budget"], found["clock"]) == (9.0, cell.limits.clock)
    assert [run["attempts"] for run in found["runs"]] == [5, 5, 5]
    assert [run["objective"] for run in found["runs"]] == [run["objective"] for run in five]
    assert any(a["objective"] != b["objective"] for a, b in zip(once, five, strict=True))
    short = measured(cell, table, 1, EqualTime(0.0, once, 1))["runs"]
    assert short == [run | {"attempts": 1} for run in once]


@pytest.mark.parametrize(
    ("budget", "once", "many", "fit"),
    [
        (10.0, 2.0, 11.0, 9),  # 2 for the first, 1 for each of 8 others
        (2.9, 2.0, 11.0, 1),
        (1.0, 2.0, 11.0, 1),
        (3.0, 2.0, 2.0, 51),  # others seem to take no time: a tenth of the mean, 0.02
        (3.0, 2.0, 1.0, 101),
    ],
)
def test_restarts_that_fit_are_told_by_those_of_one_and_of_many(budget, once, many, fit):
    assert restarts_that_fit(budget, once, many, 10) == fit


# --- runs ---


def test_runs_are_those_that_anyone_can_make():
    cell = a_cell(setting=Setting(10), runs=2)
    table = zoo()
    X, y = load_zoo(return_X_y=True)
    for run, record in enumerate(measured(cell, table, 1)["runs"]):
        model = SoftModes(7, n_init=10, random_state=cell.run_seed(run)).fit(X)
        assert record["ari"] == pytest.approx(ari(y, model.labels_), abs=1e-6)
        assert record["objective"] == model.objective_
        assert record["clusters"] == 7


def test_what_is_not_random_runs_once():
    assert len(measured(a_cell("BIRCH", runs=4), zoo(), 1)["runs"]) == 1


@pytest.fixture
def broken():
    @register("broken")
    def fails(X, n_clusters, random_state):
        raise ArithmeticError("singular")

    yield "broken"
    unregister("broken")


def test_failures_are_told(broken):
    (guest,) = chosen(["broken"], [broken])
    cell = replace(a_cell(runs=2), contender=guest)
    runs = measured(cell, zoo(), 1)["runs"]
    assert [run["error"] for run in runs] == ["ArithmeticError: singular"] * 2
    assert all("ari" not in run for run in runs)
    again = measured(replace(cell, what="same again"), zoo(), 1)
    assert again["agreements"] == [0.0] * 28


@pytest.fixture
def endless():
    @register("endless", encoding="codes")
    def never(X, n_clusters, random_state):
        while len(X) > 20:  # the warm-up is short
            pass
        return np.zeros(len(X), int)

    yield "endless"
    unregister("endless")


def test_a_fit_is_stopped_where_its_time_ends(endless):
    (guest,) = chosen(["endless"], [endless])
    cell = replace(a_cell(runs=4, cell_seconds=0.2), contender=guest)
    (run,) = measured(cell, zoo(), 1)["runs"]
    assert run["error"] == "no answer within 0 seconds"
    assert run["wall"] == pytest.approx(0.2, abs=5)


@pytest.fixture
def lottery():
    @register("lottery", encoding="codes")
    def draws(X, n_clusters, random_state):
        rng = np.random.default_rng(random_state)
        return Outcome(rng.integers(0, n_clusters, len(X)), rng.random())

    yield draws
    unregister("lottery")


def test_a_method_without_restarts_is_repeated_and_the_best_kept(lottery):
    (guest,) = chosen(["lottery"], ["lottery"])
    assert not guest.restarts
    found = Fitting(guest, zoo(), 1).fit(5, restarts=10)
    objectives = [lottery(np.zeros((9, 1)), 7, 5 + i).objective for i in range(10)]
    assert len(set(objectives)) == 10
    rng_runs = [lottery(np.zeros((101, 1)), 7, 5 + i) for i in range(10)]
    expected = min(rng_runs, key=lambda outcome: outcome.objective)
    assert found.objective == expected.objective
    assert_array_equal(found.labels, expected.labels)


def test_methods_that_take_restarts_get_them():
    @register("counts", encoding="codes")
    def counts(X, n_clusters, random_state, n_init=1):
        return Outcome(np.zeros(len(X), int), n_init)

    try:
        (guest,) = chosen(["counts"], ["counts"])
        assert Fitting(guest, zoo(), 1).fit(0, restarts=10).objective == 10
        (own,) = chosen(["counts(n_init=4)"], ["counts"])[:1]
        assert Fitting(own, zoo(), 1).fit(0, restarts=10).objective == 4
    finally:
        unregister("counts")


# --- same again ---


def test_parts_of_the_rows_are_the_same_for_all_contenders(monkeypatch):
    seen = {}

    def fit(self, seed, restarts=1, index=None, seconds=0.0):
        seen.setdefault((self.contender.name, restarts), []).append((seed, index.tolist()))
        return Fit(np.zeros(len(index), int), wall=0.0)

    monkeypatch.setattr(running.Fitting, "fit", fit)
    table = zoo()
    for name in ("SoftModes", "KMeans", "BIRCH"):
        for setting in (ONCE, Setting(10)):
            measured(a_cell(name, setting, "same again"), table, 1)
    first, *others = seen.values()
    assert len(seen) == 6
    assert all(other == first for other in others)
    assert len(first) == 8
    assert len({seed for seed, _ in first}) == 8
    assert len({tuple(rows) for _, rows in first}) == 8
    assert all(len(rows) == 91 and rows == sorted(set(rows)) for _, rows in first)


@pytest.mark.parametrize(
    ("seconds", "n_fits"), [(9.0, 8), (11.0, 8), (100.0, 6), (300.0, 2), (400.0, 1)]
)
def test_slow_fits_on_parts_of_the_rows_are_as_many_while_there_is_time(
    monkeypatch, seconds, n_fits
):
    monkeypatch.setattr(
        running.Fitting, "fit", lambda self, seed, r, rows, left: Fit(rows % 2, wall=seconds)
    )
    found = measured(a_cell(what="same again"), zoo(), 1)
    assert len(found["fits"]) == n_fits
    assert found["agreements"] == [1.0] * (n_fits * (n_fits - 1) // 2)


def test_slow_fits_are_two_where_one_may_take_longer_than_the_cell(monkeypatch):
    def fit(self, seed, r, rows, left):
        assert left == 60
        return Fit(rows % 2, wall=7.0)

    monkeypatch.setattr(running.Fitting, "fit", fit)
    cell = a_cell(what="same again", cell_seconds=5.0, longest=60.0)
    assert measured(cell, zoo(), 1)["agreements"] == [1.0]


def test_a_fit_that_never_ends_is_not_tried_again(monkeypatch):
    monkeypatch.setattr(
        running.Fitting, "fit", lambda *_: Fit(None, wall=60.0, error="no", out_of_time=True)
    )
    cell = a_cell(what="same again", cell_seconds=5.0, longest=60.0)
    found = measured(cell, zoo(), 1)
    assert (len(found["fits"]), found["agreements"]) == (1, [])


def test_seeds_and_rows_depend_on_table_and_number_alone():
    a, b = a_cell("SoftModes"), a_cell("KMeans", Setting(10), "same again", runs=3)
    assert [a.run_seed(i) for i in range(9)] == [b.run_seed(i) for i in range(9)]
    assert_array_equal(a.again_rows(3, 50), b.again_rows(3, 50))
    other = replace(a, table="other")
    assert a.run_seed(0) != other.run_seed(0)
    assert a.again_rows(3, 50).tolist() != other.again_rows(3, 50).tolist()
    assert replace(a, seed=1).run_seed(0) != a.run_seed(0) != a.run_seed(0, 1)


def test_same_again_is_the_agreement_of_fits_on_parts_of_the_rows():
    X, _ = load_zoo(return_X_y=True, as_frame=False)
    cell = a_cell("KModes", what="same again")
    found = measured(cell, zoo(), 1)["agreements"]
    labels = []
    for fit in range(8):
        rows = cell.again_rows(fit, 101)
        model = fitting.baselines.baseline("k-modes").outcome(X[rows], 7, cell.again_seed(fit))
        labels.append(dict(zip(rows.tolist(), model.labels.tolist(), strict=True)))
    expected = []
    for i in range(8):
        for j in range(i + 1, 8):
            both = sorted(labels[i].keys() & labels[j].keys())
            expected.append(ari([labels[i][r] for r in both], [labels[j][r] for r in both]))
    assert len(found) == 28
    assert found == pytest.approx(expected, abs=1e-6)


# --- which cells ---


def cells(names, settings, rows=100):
    table = {"name": "t", "fingerprint": "f", "rows": rows, "k": 2}
    found = cells_of(table, [CONTENDERS[name] for name in names], settings, Limits())
    return [(cell.contender.name, cell.setting.name, cell.what) for cell in found]


def test_what_is_not_random_has_one_setting():
    assert cells(["BIRCH"], [Setting(1), Setting(10)]) == [
        ("BIRCH", "1 restart", "runs"),
        ("BIRCH", "1 restart", "same again"),
    ]


def test_equal_time_brings_what_it_needs():
    found = cells(["SoftModes"], [EQUAL_TIME])
    assert ("KMeans", "10 restarts", "runs") in found
    assert ("SoftModes", "1 restart", "runs") in found
    assert found[0][0] == "KMeans"
    assert ("SoftModes", "equal time", "same again") not in found
    assert pace_of([Setting(1), EQUAL_TIME]) == Setting(10)
    assert pace_of([Setting(1), Setting(4), EQUAL_TIME]) == Setting(4)


def test_contenders_that_are_too_slow_for_a_table_are_left_out():
    assert cells(["ROCK"], [ONCE], rows=5_000) != []
    assert cells(["ROCK"], [ONCE], rows=5_001) == []


def test_keys_tell_cells_apart():
    table = {"name": "t", "fingerprint": "f", "rows": 9, "k": 2}
    settings = [ONCE, Setting(10), EQUAL_TIME]
    found = [cell.key for cell in cells_of(table, CONTENDERS.values(), settings, Limits())]
    assert len(set(found)) == len(found) > 40
    other = [cell.key for cell in cells_of(table, CONTENDERS.values(), settings, Limits(runs=5))]
    assert len(set(other) & set(found)) == len([key for key in found if "same again" in key])
