"""The theorem: bounds on the accuracy of k-modes and of SoftModes on sparse blocks."""

from softmodes._paper.experiment import Claim, Experiment
from softmodes._paper.judging import judge_each_t_everywhere, judge_everywhere
from softmodes._paper.plots import bars_by_data
from softmodes._paper.recipe import K_MODES, blocks, cases_on, soft_modes
from softmodes._paper.summary import Series
from softmodes._paper.tables import table_of_all_results

_PAIRS = ((0.45, 0.25), (0.4, 0.3), (0.3, 0.1), (0.3, 0.05), (0.2, 0.02), (0.1, 0.0))


def _mostly_perfect(series: Series) -> bool:
    return float((series.values("accuracy") == 1).mean()) >= 0.95


EXPERIMENT = Experiment(
    id="theorem",
    title="The theorem: two blocks with q < p < 0.5",
    setting=(
        "Boolean Block Model, two equal blocks of rows and features, random seeds. The bounds are "
        "read as bounds on the mean accuracy: by the paper's proof a run from two seeds in "
        "different blocks is right, and one from the same block may stay at chance. The theorem "
        "holds with high probability for tables large enough, and does not say how large: what "
        "fails here, with 4,000 features, need not fail with more (theorem-map shows how the "
        "number of features matters)."
    ),
    full=cases_on(
        (blocks(10_000, 4_000, p, q) for p, q in _PAIRS),
        (K_MODES, *map(soft_modes, (1.0, 2.0, 3.0, 5.0, 10.0))),
        runs=50,
    ),
    small=cases_on(
        (blocks(2_000, 1_000, p, q) for p, q in ((0.45, 0.25), (0.3, 0.05))),
        (K_MODES, soft_modes(1.0), soft_modes(3.0)),
        runs=5,
    ),
    claims=(
        Claim(
            "k-modes has accuracy at most 0.51",
            judge_everywhere("k-modes", lambda series: series.mean() <= 0.51),
        ),
        Claim(
            "SoftModes(t) has accuracy at least 0.74 for every finite t",
            judge_each_t_everywhere(lambda series: series.mean() >= 0.74),
        ),
        Claim(
            "SoftModes(1) makes no mistake if q is small",
            judge_everywhere(
                "softmodes", _mostly_perfect, t=1.0, where=lambda data: data["q"] <= 0.05
            ),
        ),
    ),
    figures={"theorem": bars_by_data},
    tables=(table_of_all_results,),
)
