"""The block model at the paper's size: k-modes and SoftModes(1)."""

from softmodes._paper.experiment import Claim, Experiment
from softmodes._paper.judging import judge_everywhere
from softmodes._paper.plots import bars_by_data
from softmodes._paper.recipe import K_MODES, Data, blocks, cases_on, soft_modes
from softmodes._paper.tables import table_of_all_results


def _is_sparse(data: Data) -> bool:
    return bool(data["p"] < 0.5)


def _is_dense(data: Data) -> bool:
    return bool(data["p"] > 0.5)


EXPERIMENT = Experiment(
    id="fig-sbm",
    title="Block model: accuracy of k-modes and SoftModes(1)",
    setting="Two equal blocks, random seeds.",
    full=cases_on(
        (
            blocks(10_000, 10_000, p, q)
            for p, q in ((0.6, 0.25), (0.45, 0.25), (0.3, 0.1), (0.3, 0.0))
        ),
        (K_MODES, soft_modes(1.0)),
        runs=50,
    ),
    small=cases_on(
        (blocks(4_000, 4_000, p, q) for p, q in ((0.6, 0.25), (0.3, 0.05))),
        (K_MODES, soft_modes(1.0)),
        runs=10,
    ),
    claims=(
        Claim(
            "For p < 0.5 SoftModes(1) classifies perfectly",
            judge_everywhere("softmodes", lambda s: s.mean() >= 0.995, t=1.0, where=_is_sparse),
        ),
        Claim(
            "For p < 0.5 k-modes stays near 0.5",
            judge_everywhere("k-modes", lambda s: s.mean() <= 0.52, where=_is_sparse),
        ),
        Claim(
            "For p > 0.5 k-modes varies much from run to run",
            judge_everywhere("k-modes", lambda s: s.std() >= 0.05, where=_is_dense),
        ),
    ),
    figures={"sbm": bars_by_data},
    tables=(table_of_all_results,),
)
