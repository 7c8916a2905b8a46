import math

import numpy as np
import pytest
from made_up_results import all_made_up, found_in, made_up

from softmodes._paper import EXPERIMENTS
from softmodes._paper.cell import dataset
from softmodes._paper.published import (
    Published,
    PublishedAndFound,
    choosing_runs_of_best_t,
    fresh_runs_of_best_t,
    percentile_among,
    reported_means,
    run_of_lowest_cost,
)
from softmodes._paper.real_report import trivial_notes
from softmodes._paper.recipe import Algorithm, Cell, Data
from softmodes._paper.summary import Series


def zoo_records():
    """Runs in which t = 2 wins among those that choose, and loses among fresh ones."""

    def record(cell):
        chooses = cell.run < 500
        accuracy = 0.9 if (cell.algorithm.t == 2) == chooses else 0.7
        cost = 5.0 if (cell.algorithm.t, cell.run) == (4.0, 7) else 10.0
        cost = 1.0 if cell.run == 900 else cost  # a fresh run must not be chosen
        return made_up(cell, accuracy, expected_cost=cost)

    cells = EXPERIMENTS["table-real"].cells("full")
    return [record(c) for c in cells if c.data.kind == "zoo"]


def test_the_best_t_is_scored_on_runs_that_did_not_choose_it():
    found, zoo = found_in(zoo_records(), "table-real", "full"), Data("zoo", 7)
    assert choosing_runs_of_best_t(found, zoo).algorithm.t == 2
    assert choosing_runs_of_best_t(found, zoo).mean() == pytest.approx(0.9)
    assert fresh_runs_of_best_t(found, zoo).algorithm.t == 2
    assert fresh_runs_of_best_t(found, zoo).mean() == pytest.approx(0.7)
    assert {r["run"] for r in fresh_runs_of_best_t(found, zoo).records} == set(range(500, 1000))


def test_the_choice_without_labels_has_the_lowest_expected_cost():
    free = run_of_lowest_cost(found_in(zoo_records(), "table-real", "full"), Data("zoo", 7))
    assert (free.algorithm.t, free.records[0]["run"]) == (4.0, 7)


def test_agreement_is_two_standard_errors_or_half_a_percent_without_a_spread():
    cells = [Cell("table-real", "full", Data("zoo", 7), Algorithm("k-means"), r) for r in range(25)]
    steps = np.linspace(-1, 1, 25) / np.linspace(-1, 1, 25).std(ddof=1)
    spread = Series(
        cells[0].data,
        cells[0].algorithm,
        tuple(made_up(c, 0.7 + 0.03 * s) for c, s in zip(cells, steps, strict=True)),
    )
    pair = PublishedAndFound(Published(0.7199, 0.04), spread)
    assert pair.allowed == pytest.approx(2 * math.sqrt(0.04**2 / 25 + 0.03**2 / 25))
    many = Series(spread.data, spread.algorithm, spread.records * 4)
    fewer = PublishedAndFound(Published(0.7199, 0.04), many).allowed
    assert fewer == pytest.approx(2 * math.hypot(0.04 / 5, many.std() / 10))
    assert pair.agrees
    assert not PublishedAndFound(Published(0.7201, 0.04), spread).agrees
    assert PublishedAndFound(Published(0.704), spread).agrees
    assert not PublishedAndFound(Published(0.706), spread).agrees
    single = spread.part(0, 1)
    assert PublishedAndFound(Published(0.7, 0.0), single).allowed == 0.005


def test_the_trivial_answer_beats_the_whole_table_where_it_does():
    trivial = {"connect-4": 0.6583, "nursery": 0.3333, "mushroom": 0.518, "tic-tac-toe": 0.6534}
    records = all_made_up("table-real", lambda cell: 0.5)
    for record in records:
        share = trivial.get(record["data"]["kind"], 0.4059)
        record["metrics"]["all_in_one_accuracy"] = share
    notes = trivial_notes(found_in(records, "table-real", "full"))
    assert [note.split(":")[0] for note in notes] == ["connect-4", "nursery", "tic-tac-toe"]
    for table, share in {"zoo": 0.4059, **trivial}.items():
        X, y = dataset(Data(table, 2)).table, dataset(Data(table, 2)).classes
        assert np.unique(y, return_counts=True)[1].max() / len(X) == pytest.approx(share, abs=1e-4)


# ------------------------------------------------------------- what 25 runs would report


def slow_reports(accuracies, runs, reports, seed):
    """The same reports one by one, from the same random numbers."""
    rng = np.random.default_rng(seed)
    draws = [rng.integers(len(found), size=(reports, runs)) for found in accuracies]
    made = []
    for report in range(reports):
        means = []
        for found, drawn in zip(accuracies, draws, strict=True):
            means.append(sum(found[i] for i in drawn[report]) / runs)
        made.append(max(means))
    return made


def slow_percentile(value, reports):
    score = 0.0
    for report in reports:
        score += 1 if report < value else 0.5 if report == value else 0
    return 100 * score / len(reports)


def test_reports_and_percentiles_are_those_of_a_slow_reference():
    rng = np.random.default_rng(3)
    accuracies = [rng.integers(0, 9, size=n) / 8 for n in (7, 40, 1000)]
    fast, slow = reported_means(accuracies, 4, 500, seed=8), slow_reports(accuracies, 4, 500, 8)
    np.testing.assert_array_equal(fast, slow)
    values = sorted(set(slow))[:: len(set(slow)) // 6]
    assert [percentile_among(v, fast) for v in values] == [slow_percentile(v, slow) for v in values]
    assert percentile_among(-1.0, fast) == 0
    assert percentile_among(2.0, fast) == 100


def test_reports_have_the_law_of_the_best_of_several_means():
    """Two t, each with runs 0 and 1 as likely, two runs a report: all 16 outcomes are counted."""
    reports = reported_means([np.array([0.0, 1.0])] * 2, 2, 40_000)
    exact = {0.0: 1 / 16, 0.5: 8 / 16, 1.0: 7 / 16}
    for value, share in exact.items():
        assert abs((reports == value).mean() - share) < 5 * math.sqrt(share * (1 - share) / 40_000)


def test_choosing_t_by_label_lifts_what_is_reported():
    rng = np.random.default_rng(0)
    same = [rng.normal(0.5, 0.05, size=1000) for _ in range(11)]
    alone, chosen = reported_means(same[:1], 25, 2_000), reported_means(same, 25, 2_000)
    assert percentile_among(0.515, alone) > 90 > 60 > percentile_among(0.515, chosen)
