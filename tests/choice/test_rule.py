"""The rule that picks k, case by case."""

from dataclasses import replace
from math import nan

import pytest

from softmodes._choice.rule import Statistics, Verdict, choose

FINE = Statistics(
    k=2, icl=0.0, valley=0.3, found_again=0.9, silhouette=0.2, aic3=0.0, bic=0.0,
    deciding_columns=8.0, line_share=0.5, explained=0.2, smallest=100, n_rows=1000,
    n_columns=20, same_again=0.9, missing=0.0,
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
    for weak in (
        {"valley": 0.6},
        {"found_again": 0.74},
        {"same_again": 0.74},
        {"deciding_columns": 3.4},
        {"missing": 0.6},
    ):
        assert outcome({}, weak) == (3, Verdict.CARE, 2)
        assert outcome(weak) == (2, Verdict.CARE, None)
    assert "columns tell" in choose(rows({"deciding_columns": 2.6})).why
    assert "another seed" in choose(rows({"same_again": 0.7})).why
    assert "try missing='ignore'" in choose(rows({"missing": 0.7})).why
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


def test_groups_that_two_columns_make_are_none():
    choice = choose(rows({"deciding_columns": 2.1}))
    assert (choice.pick, choice.verdict) == (None, Verdict.NOT_SEPARATE)
    assert "repeat one another" in choice.why
    # Half of all columns are enough where there are few.
    assert choose(rows({"deciding_columns": 2.1, "n_columns": 4})).pick == 2
    assert choose(rows({"deciding_columns": 1.9, "n_columns": 4})).pick is None


def test_every_k_has_its_own_verdict():
    choice = choose(rows({}, {"valley": 0.7}, {"valley": 0.9}, {}, best=4))
    assert choice.verdicts == {
        2: Verdict.SOLID,
        3: Verdict.CARE,
        4: Verdict.DO_NOT_USE,
        5: Verdict.DO_NOT_USE,  # does not pay
    }
    assert choose(rows({"same_again": 0.5})).verdicts == {2: Verdict.DO_NOT_USE}


def test_the_pick_is_among_what_was_asked_for():
    found = rows({}, {}, {}, best=4)
    assert choose(found, among=(2, 3)).pick == 3
    assert choose(found, among=(2, 3)).more
    nothing = choose(found, among=())
    assert (nothing.pick, nothing.verdict) == (None, Verdict.NONE)
    assert "too few rows" in nothing.why


def test_what_was_not_tried_is_no_finding():
    alone = choose(rows({"found_again": nan}))
    assert alone.why == "whether the groups are found again in other rows was not tried."
    few = choose([replace(row, n_rows=19) for row in rows({"smallest": 9}, {"smallest": 6})])
    assert few.why == "with 19 rows, no two groups have 10 each."
