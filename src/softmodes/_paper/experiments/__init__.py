"""The experiments, one module each; a module here joins the paper by its id in the list below."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from softmodes._paper.experiment import Experiment

# They run, and stand in the report, in this order: the quick ones first.
_IDS = (
    "fig-rounding",
    "theorem",
    "theorem-growth",
    "theorem-map",
    "fig-sbm",
    "table-real",
    "fig-t",
    "fig-convergence",
    "fig-noise",
    "fig-ccm",
)


def _declared(name: str) -> Experiment:
    experiment: Experiment = import_module(f"{__name__}.{name.replace('-', '_')}").EXPERIMENT
    return experiment


EXPERIMENTS: dict[str, Experiment] = {name: _declared(name) for name in _IDS}


def chosen(names: Iterable[str]) -> list[Experiment]:
    """Return experiments by their ids; "all" stands for every one."""
    wanted = list(names)
    unknown = [name for name in wanted if name not in (*EXPERIMENTS, "all")]
    if unknown:
        raise ValueError(
            f"experiment={unknown[0]!r} is not known. Pass 'all' or some of "
            f"{', '.join(map(repr, EXPERIMENTS))}."
        )
    if "all" in wanted:
        return list(EXPERIMENTS.values())
    return [EXPERIMENTS[name] for name in dict.fromkeys(wanted)]
