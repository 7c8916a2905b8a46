from __future__ import annotations

import json
import math
import sys

import pytest
from made_up_cells import a_record, a_run, a_table

from softmodes._compare.bar import FAILS, HOLDS, NOT_RUN, SO_FAR, judge
from softmodes._compare.contenders import CONTENDERS
from softmodes._compare.losses import losses
from softmodes._compare.objectives import beside
from softmodes._compare.overview import overview
from softmodes._compare.page import markdown
from softmodes._compare.report import as_json, write_report
from softmodes._compare.summary import Summary

TABLES = ("a", "b", "c", "d")
RIVALS = ("KMeans", "BIRCH", "Gaussian diagonal", "Gaussian full", "StepMix", "kmodes Huang")


def everywhere(scores, restarts=10, again=None):
    """Records of contenders with an ARI (or what is the same again) on each of the tables."""
    records = []
    for name, by_table in scores.items():
        setting = 1 if name in ("BIRCH", "ROCK", "kmodes Cao") else restarts
        for table, score in zip(TABLES, by_table, strict=True):
            found = {"again": [score]} if again else {"aris": [score - 0.02, score + 0.02]}
            records.append(a_record(table, name, setting, **found))
    return records


SCORES = {
    "SoftModes": [0.5, 0.6, 0.7, 0.8],
    "KMeans": [0.4, 0.61, 0.7, 0.6],
    "StepMix": [0.5, 0.5, 0.5, 0.9],
    "BIRCH": [0.1, 0.1, 0.1, 0.1],
}


def test_rows_tell_means_ranks_differences_wins_and_losses():
    summary = Summary(everywhere(SCORES))
    ours, k_means, step_mix, birch = (summary.row(name, "10 restarts") for name in SCORES)
    assert ours.ari == pytest.approx(0.65)
    assert ours.rank == pytest.approx((1.5 + 2 + 1.5 + 2) / 4)
    assert k_means.rank == pytest.approx((3 + 1 + 1.5 + 3) / 4)
    assert (k_means.wins, k_means.losses) == (2, 1)
    assert k_means.difference.mean == pytest.approx(0.29 / 4)
    assert (step_mix.wins, step_mix.losses) == (2, 1)
    assert birch.ari == pytest.approx(0.1), "its single setting serves all"
    assert [row.contender for row in summary.rows("10 restarts")] == [
        "SoftModes",
        "StepMix",
        "KMeans",
        "BIRCH",
    ]


def test_a_win_is_more_than_five_thousandths():
    records = everywhere({"SoftModes": [0.5, 0.5, 0.5, 0.5], "KMeans": [0.496, 0.494, 0.504, 0.6]})
    row = Summary(records).row("KMeans", "10 restarts")
    assert (row.wins, row.losses) == (1, 1)


def test_runs_that_fail_count_as_one_cluster_and_are_shown():
    records = [
        a_record("a", "SoftModes", aris=[0.5, 0.5]),
        a_record("b", "SoftModes", aris=[0.5, 0.5]),
        a_record("a", "Gaussian full", aris=[0.8, None]),
        a_record("b", "Gaussian full", aris=[None, None]),
    ]
    summary = Summary(records)
    row = summary.row("Gaussian full", "10 restarts")
    assert row.ari == pytest.approx((0.4 + 0) / 2)
    assert row.accuracy == pytest.approx((0.6 + 0.4) / 2), "0.4 is the largest class"
    assert row.failed == 3
    page = markdown(summary, "Quality")
    assert "| Gaussian full | a | 10 restarts, runs | 1 | ValueError: no |" in page
    assert "| Gaussian full | b | 10 restarts, runs | 2 | ValueError: no |" in page
    assert "0.400 ± 0.566 (1 failed)" in page


def test_a_single_table_has_an_interval_over_its_runs():
    records = [
        a_record("a", "SoftModes", aris=[0.5, 0.6, 0.7]),
        a_record("a", "KMeans", aris=[0.4, 0.5, 0.6]),
        a_record("a", "BIRCH", 1, aris=[0.5]),
    ]
    summary = Summary(records)
    assert summary.row("KMeans", "10 restarts").difference == pytest.approx((0.1, 0.1, 0.1))
    mean, low, high = summary.row("BIRCH", "10 restarts").difference
    assert mean == pytest.approx(0.1)
    assert 0 <= low < mean < high <= 0.2


def test_contenders_that_lack_a_table_are_not_ranked():
    records = [*everywhere(SCORES), a_record("a", "ROCK", 1, aris=[0.99])]
    summary = Summary(records)
    assert "ROCK" not in summary.ranked("10 restarts")
    row = summary.row("ROCK", "10 restarts")
    assert row.tables == 1
    assert math.isnan(row.rank)
    assert row.difference.mean == pytest.approx(0.5 - 0.99)
    assert summary.row("SoftModes", "10 restarts").rank == pytest.approx(1.75)
    page = markdown(summary, "Quality")
    assert "- ROCK was not run on b, c, d (1 restart, 10 restarts)." in page
    assert "KMeans was not run on" in page, "at one restart"


def test_a_table_that_is_too_large_is_the_reason_that_is_told():
    records = [
        a_record("a", "SoftModes", aris=[0.5]),
        a_record("b", "SoftModes", aris=[0.5]) | {"table": a_table("b", rows=10_000)},
        a_record("a", "ROCK", 1, aris=[0.5]),
    ]
    page = markdown(Summary(records), "Quality")
    reason = "it is run on tables of up to 5,000 rows."
    assert f"- ROCK was not run on b (1 restart, 10 restarts): {reason}" in page


def test_a_single_fit_that_failed_agrees_with_none_and_few_fits_are_marked():
    failed, fit = {"seed": 1, "wall": 9.0, "cpu": 9.0, "error": "no"}, {"wall": 9.0, "cpu": 9.0}
    records = [
        a_record("a", "SoftModes", aris=[0.5]),
        a_record("a", "SoftModes", again=[0.9]),
        a_record("a", "KMeans", again=[], fits=[failed]),
        a_record("a", "StepMix", again=[], fits=[fit]),
        a_record("a", "Gaussian full", again=[0.7], fits=[fit] * 2),
    ]
    summary = Summary(records)
    found = [summary.same_again("a", name, "10 restarts") for name in summary.contenders]
    assert found == [0.9, 0.0, 0.7, pytest.approx(math.nan, nan_ok=True)]
    line = markdown(summary, "Quality").partition("## Same again by table")[2]
    assert "| a | 0.900 | 0.000* | 0.700* | -* |" in line


def test_overruns_and_short_cells_are_marked():
    slow, fast = [a_run(0.5, wall=1.2)], [a_run(0.5, wall=1.05)]
    records = [
        a_record("a", "SoftModes", None, aris=[0.5], runs=fast),
        a_record("a", "StepMix", None, aris=[0.5], runs=slow, wanted=5),
        a_record("a", "BIRCH", 1, aris=[0.5], runs=[a_run(0.5, wall=9.0)]),
        a_record("b", "SoftModes", None, aris=[0.5], runs=fast),
    ]
    summary = Summary(records)
    assert not summary.is_overrun("a", "SoftModes", "equal time")
    assert summary.is_overrun("a", "StepMix", "equal time")
    assert summary.is_overrun("a", "BIRCH", "equal time")
    assert not summary.is_overrun("a", "BIRCH", "1 restart")
    assert "0.500 ± 0.000*!" in markdown(summary, "Quality")


# --- the bar ---

LAST_RIVALS = [name for name, one in CONTENDERS.items() if one.side == "rival" and name != "KMeans"]


def barred(ours, rival, again_ours=0.9, again_rival=0.9, rival_name="KMeans", others=True):
    scores = {"SoftModes": ours, rival_name: rival}
    records = everywhere(scores) + everywhere(scores, None)
    again = {"SoftModes": _each(again_ours), rival_name: _each(again_rival)}
    records += everywhere(again, again=True)
    if others:
        last = dict.fromkeys(LAST_RIVALS, [0.0] * 4)
        records += everywhere(last) + everywhere(last, None) + everywhere(last, again=True)
    return judge(Summary(records))


def _each(score):
    return score if isinstance(score, list) else [score] * 4


def verdicts(lines):
    return [line.verdict for line in lines]


def test_the_bar_holds_where_all_of_it_does():
    lines = barred([0.5, 0.6, 0.7, 0.8], [0.4, 0.5, 0.6, 0.7])
    assert verdicts(lines) == [HOLDS] * (2 + 7 + 2)
    assert lines[0].evidence == "0.650, the best rival KMeans 0.550"
    assert lines[1].evidence == "+0.100 [+0.100, +0.100] against KMeans"
    assert lines[2].evidence == "4 wins, 0 losses, 0 within .005"


@pytest.mark.parametrize(
    ("below", "expected"),
    [(0.009, [HOLDS, HOLDS]), (0.011, [FAILS, HOLDS]), (0.031, [FAILS, FAILS])],
)
def test_the_bar_of_the_mean_and_of_its_interval(below, expected):
    ours = [0.5, 0.6, 0.7, 0.8]
    assert verdicts(barred(ours, [score + below for score in ours]))[:2] == expected


def test_the_bar_asks_for_more_wins_than_losses_against_each_rival():
    level = barred([0.5, 0.6, 0.7, 0.8], [0.4, 0.7, 0.7, 0.8])
    assert level[2].verdict == FAILS
    assert level[2].evidence == "1 wins, 1 losses, 2 within .005"


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (0.881, 0.9, [HOLDS, HOLDS]),
        (0.879, 0.9, [FAILS, HOLDS]),
        ([0.79, 0.79, 1.0, 1.0], 0.9, [HOLDS, HOLDS]),
        ([0.79, 0.79, 0.79, 1.3], 0.9, [HOLDS, FAILS]),
    ],
)
def test_the_bar_of_same_again(ours, theirs, expected):
    lines = barred([0.9] * 4, [0.1] * 4, ours, theirs)
    assert verdicts(lines)[-2:] == expected
    if expected[1] == FAILS:
        assert "3 against KMeans: a 0.79 against 0.90; b 0.79 against 0.90" in lines[-1].evidence


def test_the_bar_holds_so_far_while_rivals_are_lacking():
    lines = barred([0.5, 0.6, 0.7, 0.8], [0.4, 0.5, 0.6, 0.7], others=False)
    assert verdicts(lines) == [SO_FAR, SO_FAR, HOLDS, SO_FAR, SO_FAR]
    assert lines[0].evidence.endswith(f"; not run on all tables: {', '.join(LAST_RIVALS)}")
    assert "Cao" not in lines[-1].evidence
    assert verdicts(barred([0.5] * 4, [0.6] * 4, others=False))[0] == FAILS


def test_only_some_rivals_count_for_same_again():
    lines = barred([0.9] * 4, [0.1] * 4, 0.5, 1.0, rival_name="kmodes Cao", others=False)
    assert verdicts(lines)[-2:] == [NOT_RUN, NOT_RUN]


def test_the_bar_without_results_is_not_judged():
    lines = judge(Summary([a_record("a", "SoftModes", aris=[0.5])]))
    assert set(verdicts(lines)) == {NOT_RUN}


# --- losses ---


def runs(*pairs):
    """Runs of an ARI and an objective each."""
    return [a_run(ari, objective=objective) for ari, objective in pairs]


def loss(ours, gini=0.1, rival="KMeans", score=0.8, once=()):
    """The loss of our runs on a table on which a rival has a score."""
    records = [
        a_record("a", "SoftModes", aris=[0.5], runs=runs(*ours)),
        a_record("a", "SoftModes gini", aris=[gini]),
        a_record("a", rival, aris=[score, score]),
        a_record("a", "BIRCH", 1, aris=[0.55]),
    ]
    records += [a_record("a", "SoftModes", 1, aris=[0.5], runs=runs(*once))] if once else []
    (found,) = losses(Summary(records))
    return found


def test_a_loss_is_read_by_what_else_reaches_the_rival():
    same = [(0.5, 2.0), (0.5, 2.0)]
    assert loss(same).reading == "no method here reaches it"
    assert loss(same, gini=0.796).reading == "objective: reached by SoftModes gini"
    assert loss(same, gini=0.794).reading == "no method here reaches it"
    assert loss(same, rival="StepMix").reading.startswith("the same model from other starts")
    assert loss([(0.5, 2.0), (0.4, 2.1), (0.3, 2.2)]).reading == "no method here reaches it"
    wide = loss([(0.9, 2.0), (0.1, 2.1), (0.9, 2.2), (0.1, 2.3)])
    assert (wide.by_chance, wide.reading) == (True, "within the spread of the runs")
    lucky = loss([(0.5, 2.0)] * 30, once=[(0.9, 1.0), (0.4, 3.0)])
    assert (lucky.lowest, lucky.points) == (0.9, pytest.approx(1))
    assert lucky.reading == "search: our run of the lowest objective reaches it"
    astray = loss(same, once=[(0.2, 1.0), (0.3, 2.0), (0.4, 3.0)])
    assert astray.points == pytest.approx(-1)
    assert astray.reading.endswith("; the lower our objective, the lower our ARI")
    assert (loss(same).rivals_above, loss(same, score=0.55).rivals_above) == (2, 2)


def test_losses_are_only_those_beyond_the_margin_and_the_worst_come_first():
    found = losses(Summary(everywhere(SCORES)))
    assert [(one.table, one.best, round(one.gap, 3)) for one in found] == [
        ("d", "StepMix", 0.1),
        ("b", "KMeans", 0.01),
    ]
    assert losses(Summary(everywhere({"SoftModes": [0.5] * 4}))) == []


def test_objectives_are_compared_where_they_are_the_same():
    ours, theirs = [10.0, 10.0, 9.0, 0.0], [10.0, 8.0, 10.0, 0.0]
    records = []
    for name, objectives in (("SoftModes gini", ours), ("KMeans", theirs), ("StepMix", theirs)):
        records += [
            a_record(table, name, aris=[0.5], runs=[a_run(0.5, objective=objective)])
            for table, objective in zip(TABLES, objectives, strict=True)
        ]
    (found,) = beside(Summary(records), "10 restarts")
    assert (found.ours, found.theirs) == ("SoftModes gini", "KMeans")
    assert (found.lower, found.equal, found.higher) == (1, 2, 1)
    assert found.mean_difference == pytest.approx((0.2 - 0.1) / 4)
    assert found.most_above == (pytest.approx(0.2), "b")


# --- written down ---


def test_the_report_has_all_parts_and_its_numbers_are_finite(tmp_path):
    again = everywhere(dict.fromkeys(SCORES, [0.9] * 4), again=True)
    records = everywhere(SCORES) + everywhere(SCORES, None) + again
    paths = write_report(Summary(records), tmp_path / "new", "report", "Quality")
    names = ["report.md", "report.json", "report.svg", "report-tables.svg"]
    assert [path.name for path in paths] == names
    page = paths[0].read_text()
    for part in ("## The bar", "![Contenders compared](report.svg)", "## 10 restarts", "made up"):
        assert part in page
    assert "On 2 of 4 tables a rival is more than 0.005 above it, on 1 of them by more than" in page
    assert "| d | 100 x 5, 3 | 0.800 | StepMix 0.900 | +0.100 | 1 |" in page
    found = json.loads(paths[1].read_text(), parse_constant=pytest.fail)
    assert found["settings"]["10 restarts"]["test"]["critical_distance"] > 0
    assert len(found["settings"]["10 restarts"]["cells"]) == 16
    cells = found["settings"]["10 restarts"]["cells"]
    assert {c["contender"]: c["same_again"] for c in cells} == dict.fromkeys(SCORES, 0.9)
    drawing = paths[2].read_text()
    assert all(name in drawing for name in SCORES)
    assert write_report(Summary(records), tmp_path, "again")[2].read_text() == drawing


def test_a_report_of_part_of_the_results_is_written(tmp_path):
    records = everywhere(SCORES) + everywhere(SCORES, None)
    for part in (records[:1], records[:6], records[5:-2], records[2:3]):
        assert write_report(Summary(part), tmp_path, "part")[1].exists()


def test_order_of_records_does_not_matter():
    records = everywhere(SCORES) + everywhere(SCORES, None)
    assert as_json(Summary(records[::-1])) == as_json(Summary(records))


def test_without_matplotlib_the_figure_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    paths = write_report(Summary(everywhere(SCORES)), tmp_path, "report")
    assert [path.name for path in paths] == ["report.md", "report.json"]
    assert "![" not in paths[0].read_text()


def test_the_overview_of_a_single_table_tells_marks_and_failures():
    records = [
        a_record("a", "SoftModes", aris=[0.5, 0.6]),
        a_record("a", "SoftModes", 1, aris=[0.5, 0.6]),
        a_record("a", "KMeans", aris=[0.4, None], wanted=5),
    ]
    header, rows, notes = overview(Summary(records))
    assert header[:3] == ["", "ARI, 1 restart", "ARI, 10 restarts"]
    assert rows[0][:4] == ["SoftModes", "0.550", "0.550", "-"]
    assert rows[1][:3] == ["KMeans", "-", "0.200*"]
    assert any(note.startswith("* fewer runs") for note in notes)
    assert notes[-2].startswith("1 run failed and counts as all rows in one cluster.")
    assert notes[-1] == "  KMeans: ValueError: no"
