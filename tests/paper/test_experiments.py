import os
import subprocess
import sys
from pathlib import Path

import pytest
from made_up_results import found_in

from softmodes._paper import EXPERIMENTS, chosen, experiments
from softmodes._paper.cell import dataset
from softmodes._paper.experiments.table_real import SHAPES
from softmodes._paper.recipe import GRID_OF_T, Data, blocks, codewords, soft_modes


@pytest.mark.parametrize(
    ("name", "data", "algorithms", "runs", "seeding"),
    [
        (
            "fig-sbm",
            [blocks(10**4, 10**4, *pq) for pq in ((0.6, 0.25), (0.45, 0.25), (0.3, 0.1), (0.3, 0))],
            {"k-modes", "SoftModes(1)"},
            50,
            "random",
        ),
        (
            "fig-ccm",
            [codewords(500_000, 1000, k, 0.2) for k in (2, 10, 100, 1000, 2000)],
            {"k-modes", "k-means", "SoftModes(1)", "SoftModes(3)", "SoftModes(10)"},
            5,
            "d1-greedy",
        ),
        (
            "fig-noise",
            [
                codewords(10**5, 500, k, 0.2, rho)
                for rho in (0.1, 0.5, 0.9)
                for k in (50, 200, 1000, 5000)
            ],
            {"k-modes", "k-means", "SoftModes(1)", "SoftModes(3)", "SoftModes(10)"},
            10,
            "d1-greedy",
        ),
        (
            "fig-convergence",
            [codewords(10**5, 200, 100, 0.3)],
            {"k-modes", "k-means", "SoftModes(1)", "SoftModes(3)", "SoftModes(10)"},
            10,
            "random",
        ),
        (
            "fig-t",
            [codewords(10**5, 200, 100, 0.3)],
            {"k-modes", *(f"SoftModes({t:g})" for t in GRID_OF_T[:-1])},
            10,
            "random",
        ),
    ],
)
def test_full_size_is_that_of_the_paper(name, data, algorithms, runs, seeding):
    experiment = EXPERIMENTS[name]
    assert [case.data for case in experiment.full] == data
    assert {a.title for case in experiment.full for a in case.algorithms} == algorithms
    assert {case.runs for case in experiment.full} == {runs}
    assert experiment.seeding == seeding


def test_real_tables_run_a_thousand_times_where_a_run_takes_milliseconds():
    for case in EXPERIMENTS["table-real"].full:
        runs = {a.key: case.runs_of(a) for a in case.algorithms}
        ours = {runs[soft_modes(t).key] for t in GRID_OF_T}
        assert ours == {200 if case.data.kind == "connect-4" else 1000}
        assert all(runs[f"{name}()"] >= 25 for name in ("default", "k-means", "gaussian"))
        once = {key for key in runs if runs[key] == 1}
        assert once == {key for key in runs if key.startswith(("birch", "rock"))}
    assert [case.data.kind for case in EXPERIMENTS["table-real"].full] == list(SHAPES)


@pytest.mark.parametrize("table", SHAPES)
def test_shapes_of_real_tables_are_theirs(table):
    found = dataset(Data(table, 2))
    n_one_hot = sum(len(set(column)) for column in found.table.T.tolist())
    n_classes = len(set(found.classes.tolist()))
    assert SHAPES[table] == (*found.table.shape, n_one_hot, n_classes)


def test_growth_goes_to_a_million_features_and_to_four_for_the_largest_t():
    cases = EXPERIMENTS["theorem-growth"].full
    widths = {case.data["d"] for case in cases if len(case.algorithms) == 6}
    assert widths == {2**i for i in range(10, 21)}
    widest = [case for case in cases if case.data["d"] == 2**22]
    assert [case.algorithms for case in widest] == [(soft_modes(10.0),)]
    assert {case.data["n"] for case in cases} == {400}
    keys = {case.data.key for case in cases}
    assert len(keys) == len(cases), "large numbers of features look the same in a key"


@pytest.mark.parametrize("size", ["small", "full"])
def test_no_two_cells_have_the_same_key(size):
    keys = [cell.key for experiment in EXPERIMENTS.values() for cell in experiment.cells(size)]
    assert len(keys) == len(set(keys)) > 400


def test_keys_and_seeds_never_change_lest_a_resumed_run_repeat_or_mix():
    cell = next(c for c in EXPERIMENTS["fig-noise"].cells("full") if c.algorithm.name == "k-means")
    assert cell.key == (
        "fig-noise/full/ccm(k=50, n=100000, d=500, eps=0.2, noise=0.1)/k-means(cap=15)/run=0"
    )
    assert (cell.data.seed, cell.seed) == (1087752743, 1483054610)


def test_every_module_of_the_folder_is_an_experiment_by_its_id():
    modules = {path.stem for path in Path(experiments.__file__).parent.glob("*.py")}
    assert {name.replace("-", "_") for name in EXPERIMENTS} == modules - {"__init__"}
    assert [experiment.id for experiment in EXPERIMENTS.values()] == list(EXPERIMENTS)


def test_experiments_are_declared_without_libraries_that_only_runs_and_reports_need():
    heavy = ("jinja2", "matplotlib", "scipy", "sklearn")
    code = f"import sys, softmodes._paper; print([m for m in {heavy} if m in sys.modules])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    printed = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert printed == "[]\n"


def test_unknown_experiments_are_refused_by_name():
    with pytest.raises(ValueError, match=r"experiment='fig-9' is not known. Pass 'all' or some of"):
        chosen(["fig-sbm", "fig-9"])


def test_everything_at_small_size_takes_under_three_minutes_of_a_processor(small):
    records, seconds = small
    declared = [c for e in EXPERIMENTS.values() for c in e.cells("small")]
    assert len(records) == len(declared)
    assert seconds < 180


def test_soft_modes_recovers_blocks_that_k_modes_cannot_see(small):
    found = found_in(small[0], "fig-sbm")
    data = blocks(4_000, 4_000, 0.3, 0.05)
    k_modes, ours = found.get(data, "k-modes"), found.get(data, "softmodes", 1.0)
    assert len(k_modes.records) == len(ours.records) == 10
    assert k_modes.mean() <= 0.55
    assert ours.mean() >= 0.95


def test_the_best_t_is_above_k_modes_on_fifty_codewords(small):
    found = found_in(small[0], "fig-ccm")
    data = next(d for d in found.data() if d.n_clusters == 50)
    best = max(found.get(data, "softmodes", t).mean() for t in found.finite_t())
    assert best > found.get(data, "k-modes").mean()


def test_accuracy_has_a_threshold_in_t(small):
    found = found_in(small[0], "fig-t")
    means = {s.algorithm.t: s.mean() for s in found.series}
    assert max(means[1.0], means[1.5]) < 0.5
    assert min(means[t] for t in (3.0, 5.0, 10.0)) > 0.8


def test_nothing_is_told_of_growth_that_was_not_run():
    (growth,) = chosen(["theorem-growth"])
    (notes,) = growth.notes
    assert notes(found_in([], "theorem-growth", "small")) == []
