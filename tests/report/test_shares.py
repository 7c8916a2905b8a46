"""What may be shown of counts: few rows are hidden, and what would give them away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import softmodes
from softmodes import SoftModes
from softmodes._report.shares import FEWEST_ROWS, column_shares, shares_of, too_small

COUNTS = st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=1, max_size=5).map(
    lambda rows: np.array(rows, float)
)


@given(COUNTS)
def test_no_cell_of_few_rows_is_shown_or_can_be_worked_out_from_its_column(counts):
    hidden = too_small(counts)
    for row, hides in zip(counts, hidden, strict=True):
        assert not ((row > 0) & (row < FEWEST_ROWS) & ~hides).any()
        left = row[hides].sum()  # what a reader can work out: the size less all that is shown
        everything_is_hidden = hides[row > 0].all()
        assert left == 0 or left >= FEWEST_ROWS or everything_is_hidden


@given(COUNTS)
def test_nothing_is_hidden_without_need(counts):
    hidden = too_small(counts)
    few = (counts > 0) & (counts < FEWEST_ROWS)
    enough = counts.sum(axis=1) >= FEWEST_ROWS
    assert not hidden[enough & ~few.any(axis=1)].any()
    assert (hidden.sum(axis=1) <= few.sum(axis=1) + 1)[enough].all()
    assert not hidden[enough][counts[enough] == 0].any()


def test_values_of_few_rows_are_left_out_whole_unless_asked_for():
    counts = np.array([[3.0, 40.0, 0.0], [1.0, 40.0, 0.0]])
    shown = column_shares(counts, 7, small_cells=False)
    assert shown.code.tolist() == [1]
    assert shown.column.tolist() == [7]
    assert shown.n_left_out == 1
    asked = column_shares(counts, 7, small_cells=True)
    assert asked.code.tolist() == [0, 1]
    assert not asked.hidden.any()


def test_shares_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 3)).astype(object)
    X[rng.random((200, 3)) < 0.2] = None
    weight = rng.integers(1, 4, 200)
    model = SoftModes(3, missing="ignore", random_state=0).fit(X, sample_weight=weight)
    found = shares_of(model._clustering, small_cells=True)
    for v, (j, code) in enumerate(zip(found.column, found.code, strict=True)):
        for group in range(3):
            mine = (model.labels_ == group) & np.array([cell is not None for cell in X[:, j]])
            has = mine & (X[:, j] == model.categories_[j][code])
            assert found.shares[group, v] == pytest.approx(weight[has].sum() / weight[mine].sum())
        known = np.array([cell is not None for cell in X[:, j]])
        has = known & (X[:, j] == model.categories_[j][code])
        assert found.overall[v] == pytest.approx(weight[has].sum() / weight[known].sum())


def test_how_telling_a_value_is_is_the_correlation_ratio_of_having_it():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (150, 4))
    model = SoftModes(3, random_state=0).fit(X)
    found = shares_of(model._clustering, small_cells=True)
    for v, (j, code) in enumerate(zip(found.column, found.code, strict=True)):
        has = (X[:, j] == model.categories_[j][code]).astype(float)
        means = np.array([has[model.labels_ == group].mean() for group in range(3)])
        between = np.var(means[model.labels_])
        assert found.telling[v] == pytest.approx(between / np.var(has))


def test_of_very_many_values_the_most_telling_are_kept():
    rng = np.random.default_rng(2)
    group = np.arange(4000) % 2
    wide = rng.integers(0, 300, 4000)
    wide[(group == 0) & (rng.random(4000) < 0.3)] = 7
    X = np.stack([group, group, group, wide], axis=1)
    model = SoftModes(2, random_state=0).fit(X)
    found = shares_of(model._clustering, small_cells=False)
    kept = found.code[found.column == 3]
    assert 7 in kept
    assert len(kept) == 60
    assert found.n_left_out == 300 - 60


def test_marks_repeat_one_another_only_if_they_do_so_in_hidden_cells_too():
    rng = np.random.default_rng(0)
    a = np.repeat([1, 0, 0], 40)
    b = a.copy()
    b[41:44] = 1  # 3 of 40: hidden, and its group shows neither
    X = np.stack([a, b, rng.permutation(a), np.repeat([0, 1, 2], 40)], axis=1)
    model = SoftModes(3, init=X[[0, 50, 100]], n_init=1, refine=None, random_state=0).fit(X)
    report = softmodes.report(model, X, sweep=False)
    marks = {mark.column: mark.same_for for group in report.data.groups for mark in group.more}
    assert {"x0", "x1"} <= set(marks)
    assert not any("x0" in block or "x1" in block for block in marks.values())


def test_a_group_of_few_rows_shows_none_of_its_shares():
    X = [["a", "x"]] * 30 + [["b", "y"]] * 3
    model = SoftModes(2, random_state=0).fit(X)
    report = softmodes.report(model, X, sweep=False)
    few = report.data.groups[1]
    assert few.rows is None
    assert few.marks == few.more == few.less == few.differences == ()
    assert few.name == "group 1"
    assert all(row.shares[1] is None for row in report.data.values)
    open_ = softmodes.report(model, X, sweep=False, small_cells=True).data
    assert open_.groups[1].rows == 3
    assert open_.groups[1].marks
