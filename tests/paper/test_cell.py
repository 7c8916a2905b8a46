import json
import math

import numpy as np
import pytest

from softmodes import SoftModes
from softmodes._paper.cell import dataset, run_cell, seeds
from softmodes._paper.recipe import Cell, Data, blocks, codewords, k_means, soft_modes
from softmodes.datasets import load_zoo, make_bbm
from softmodes.metrics import matching_accuracy


def test_a_cell_is_algorithm_1_as_anyone_can_call_it():
    p, q = 0.3, 0.1
    data = blocks(300, 200, p, q)
    cell = Cell("theorem", "small", data, soft_modes(2.0), run=3)
    X, y = make_bbm(300, 200, [[p, q], [q, p]], random_state=data.seed)
    model = SoftModes(
        2,
        t=2,
        init="random",
        refine=None,
        n_init=1,
        max_iter=30,
        select="last",
        random_state=cell.seed,
    ).fit(X)
    record = run_cell(cell)
    assert record["metrics"]["accuracy"] == pytest.approx(matching_accuracy(y, model.labels_))
    assert record["cost"] == model.cost_
    assert record["expected_cost"] == pytest.approx(model.expected_cost_)
    assert record["rounds"] == model.n_iter_


def test_codes_of_a_table_give_the_answer_of_its_values():
    data = Data("zoo", 7)
    cell = Cell("table-real", "full", data, soft_modes(3.0), run=1, seeding="d1-greedy")
    X, y = load_zoo(return_X_y=True)
    algorithm_1 = SoftModes(refine=None, select="last", n_init=1, max_iter=30)
    model = algorithm_1.set_params(n_clusters=7, t=3, random_state=cell.seed).fit(X)
    assert run_cell(cell)["metrics"]["accuracy"] == pytest.approx(
        matching_accuracy(y, model.labels_)
    )


def test_shared_seeds_are_rows_that_all_algorithms_start_from():
    data = codewords(2_000, 200, 4, 0.2)
    cells = [
        Cell("fig-convergence", "small", data, algorithm, 0, "random", True, True)
        for algorithm in (soft_modes(1.0), soft_modes(math.inf), k_means(100.0))
    ]
    first = [run_cell(cell)["trace"][0] for cell in cells]
    assert first[0] == first[1]
    assert first[2] == pytest.approx(first[0], abs=0.05), "round 1 differs by more than ties"
    centers, seconds = seeds(data, "random", cells[0].seed, None)
    rows = {row.tobytes() for row in dataset(data).table}
    assert all(np.asarray(center, bool).tobytes() in rows for center in centers)
    assert seconds > 0


def test_a_record_says_all_that_should_stand_beside_an_accuracy():
    record = run_cell(Cell("theorem", "small", blocks(100, 50, 0.3, 0.1), soft_modes(1.0), 0))
    assert set(record["metrics"]) == {
        "accuracy",
        "f1",
        "ari",
        "nmi",
        "clusters_in_use",
        "largest_share",
        "all_in_one_accuracy",
    }
    assert set(record["versions"]) >= {"softmodes", "numpy", "scikit-learn", "python"}
    assert record["seconds"]["total"] >= record["seconds"]["wall"] > 0
    json.dumps(record, allow_nan=False)
