"""Results of the paper's experiments as if they had been run."""

from softmodes._paper import EXPERIMENTS
from softmodes._paper.summary import Found


def found_in(records, name, size="small"):
    return Found(EXPERIMENTS[name], size, records)


def made_up(cell, accuracy, **more):
    """A record of a cell as if it had been run."""
    metrics = dict.fromkeys(("f1", "ari", "nmi", "largest_share"), 0.5)
    return {
        "key": cell.key,
        "experiment": cell.experiment,
        "size": cell.size,
        "data": {"kind": cell.data.kind, "k": cell.data.n_clusters, **dict(cell.data.params)},
        "algorithm": cell.algorithm.name,
        "params": dict(cell.algorithm.params),
        "run": cell.run,
        "metrics": metrics
        | {"accuracy": accuracy, "clusters_in_use": 2, "all_in_one_accuracy": 0.5},
        "expected_cost": 1.0,
        "rounds": 3,
        "capped": False,
        "trace": None,
        "seconds": {"wall": 1.0, "cpu": 1.0, "seeding": 0.0, "total": 1.0},
        "versions": {"softmodes": "0"},
        "machine": "none",
        "date": "2026-01-01T00:00:00+00:00",
    } | more


def all_made_up(name, accuracy_of, size="full"):
    return [made_up(cell, accuracy_of(cell)) for cell in EXPERIMENTS[name].cells(size)]
