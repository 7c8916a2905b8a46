import numpy as np
import pytest
from made_up_results import all_made_up, found_in, made_up

from softmodes._paper import EXPERIMENTS
from softmodes._paper.judging import judgements_of
from softmodes._paper.recipe import Cell, blocks, soft_modes
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
    assert verdicts == ["holds", "holds for t in 1", "holds"]


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
