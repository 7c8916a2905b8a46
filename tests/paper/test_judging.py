import numpy as np
import pytest
from made_up_results import all_made_up, found_in, made_up

from softmodes._paper import EXPERIMENTS
from softmodes._paper.experiments.theorem_growth import expected_accuracy
from softmodes._paper.judging import judgements_of
from softmodes._paper.prediction import features_needed
from softmodes._paper.recipe import Cell, blocks, soft_modes, wide_blocks
from softmodes._paper.summary import Found, Series, compare


def test_levels_are_two_standard_errors_apart():
    def series(mean, spread, n=25):
        cells = [Cell("x", "full", blocks(2, 2, 0, 0), soft_modes(1.0), run) for run in range(n)]
        steps = np.linspace(-1, 1, n)
        values = mean + spread * steps / steps.std(ddof=1)
        return Series(
            cells[0].data,
            cells[0].algorithm,
            tuple(made_up(c, v) for c, v in zip(cells, values, strict=True)),
        )

    # The standard error of a difference of such means is 0.05 * sqrt(2 / 25) = 0.01414.
    assert compare(series(0.529, 0.05), series(0.5, 0.05)) == 1
    assert compare(series(0.528, 0.05), series(0.5, 0.05)) == 0
    assert compare(series(0.471, 0.05), series(0.5, 0.05)) == -1


def test_a_claim_about_t_names_the_t_for_which_it_holds():
    accuracy = {"k-modes": 0.5, "k-means": 0.6}

    def of(cell):
        return accuracy.get(cell.algorithm.name, 0.4 if cell.algorithm.t == 1 else 0.7)

    (answer,) = judgements_of(found_in(all_made_up("fig-noise", of), "fig-noise", "full"))
    assert answer.verdict == "holds for t in 3, 10"
    assert "t = 1: above in 0, level in 0, below in 12" in answer.evidence
    assert "0.400 against 0.600" in answer.evidence


@pytest.mark.parametrize(("level", "verdict"), [(0.9, "holds"), (0.1, "does not hold")])
def test_a_claim_holds_for_all_t_or_none(level, verdict):
    records = all_made_up("fig-noise", lambda c: level if c.algorithm.name == "softmodes" else 0.5)
    assert judgements_of(found_in(records, "fig-noise", "full"))[0].verdict == verdict


def test_the_theorem_is_judged_by_its_bounds():
    def of(cell):
        if cell.algorithm.name == "k-modes":
            return 0.505
        return 1.0 if cell.algorithm.t == 1 else 0.73

    verdicts = [
        j.verdict for j in judgements_of(found_in(all_made_up("theorem", of), "theorem", "full"))
    ]
    assert verdicts == ["holds", "does not hold", "holds"]


def test_the_theorem_is_held_to_what_it_says_of_many_features():
    def of(cell):
        if cell.algorithm.name == "k-modes":
            return 0.505
        return (
            1.0
            if features_needed(cell.data["p"], cell.data["q"], cell.algorithm.t) <= 4_000
            else 0.5
        )

    answer = judgements_of(found_in(all_made_up("theorem", of), "theorem", "full"))[1]
    assert answer.verdict == "holds from d = d*"
    assert "kept in 10 of 10 settings" in answer.evidence
    assert "in 0 of 20" in answer.evidence
    assert answer.reason.startswith("the size")


def growing(cell):
    """A record of a run that is right from 2^12 features on, if its seeds are in two blocks."""
    apart = cell.run % 4 > 0  # more often than by chance
    right = apart and cell.data["d"] >= 2**12 and cell.algorithm.name == "softmodes"
    return made_up(cell, 1.0 if right else 0.5, seeds_apart=apart)


def test_growth_is_judged_from_the_first_d_on_and_by_the_two_cases_of_seeds():
    cells = [c for c in EXPERIMENTS["theorem-growth"].cells("full") if c.data["p"] == 0.3]
    found = found_in(list(map(growing, cells)), "theorem-growth", "full")
    series = found.get(wide_blocks(400, 2**14, 0.3, 0.1), "softmodes", 3.0)
    assert series.mean() == pytest.approx(0.875)
    assert expected_accuracy(series) == pytest.approx(0.5 + 0.5 * 200 / 399)
    first, seeds, k_modes = judgements_of(found)
    assert first.verdict.startswith("holds from d = 4,096 (t = 1), 4,096 (t = 2), 4,096 (t = 3)")
    assert (
        "t = 5, p = 0.3, q = 0.1: from d = 4,096 (predicted to suffice: 28,165)" in first.evidence
    )
    assert seeds.verdict.startswith("holds")
    assert k_modes.verdict.startswith("holds")


def test_convergence_allows_two_standard_errors_run_by_run():
    """SoftModes lags by 0.01 in round 2: in every run (t = 3), or by chance (t = 10)."""

    def trace(cell):
        lag = {3.0: -0.01, 10.0: -0.01 + 0.05 * (-1) ** cell.run}.get(cell.algorithm.t, -0.4)
        above = 0.1 if cell.algorithm.name == "softmodes" else 0.0
        return [0.3, 0.5 + (lag if cell.algorithm.name == "softmodes" else 0), 0.8 + above]

    cells = EXPERIMENTS["fig-convergence"].cells("full")
    records = [made_up(c, trace(c)[-1], trace=trace(c)) for c in cells]
    above, _ = judgements_of(found_in(records, "fig-convergence", "full"))
    assert above.verdict == "holds for t in 10"
    assert above.reason


def test_convergence_is_judged_round_by_round():
    def trace(cell):
        level = {"k-modes": 0.5, "k-means": 0.6}.get(cell.algorithm.name, 0.8)
        second = 0.4 if cell.algorithm.t == 1 else level  # t = 1 lags at first
        return [0.3, second, *[level] * (1 if cell.algorithm.name == "k-means" else 20)]

    cells = EXPERIMENTS["fig-convergence"].cells("full")
    records = [made_up(c, trace(c)[-1], trace=trace(c)) for c in cells]
    above, faster = judgements_of(found_in(records, "fig-convergence", "full"))
    assert above.verdict == "holds for t in 3, 10"
    assert "k-means ends at 0.600" in faster.evidence


def test_claims_without_results_are_not_judged():
    for experiment in EXPERIMENTS.values():
        verdicts = {j.verdict for j in judgements_of(Found(experiment, "full", []))}
        assert verdicts <= {"not run"}


def test_at_the_small_size_there_are_too_few_runs_to_judge():
    for name, experiment in EXPERIMENTS.items():
        if experiment.claims and not experiment.trace:
            cells = experiment.cells("small")
            records = [made_up(c, 0.5, seeds_apart=c.run % 2 == 0) for c in cells]
            judged = judgements_of(found_in(records, name))
            assert {j.verdict for j in judged} == {"too few runs"}
            assert {j.reason for j in judged} == {""}
            assert all(j.evidence for j in judged)
