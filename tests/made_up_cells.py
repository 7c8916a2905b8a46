"""Records of comparisons as if they had been run, and a small table to run them on."""

from softmodes._compare.contenders import CONTENDERS
from softmodes._compare.tables import LabelledTable
from softmodes.datasets import load_zoo


def zoo():
    X, y = load_zoo(return_X_y=True, as_frame=False)
    return LabelledTable("zoo", X, y)


def zoo_alone():
    return {"zoo": zoo}


def a_table(name, rows=100, k=3, **more):
    return {
        "name": name,
        "role": "report",
        "source": "made up",
        "licence": "none",
        "fingerprint": "0",
        "rows": rows,
        "columns": 5,
        "values": 15,
        "classes": k,
        "k": k,
        "largest_class": 0.4,
    } | more


def a_run(ari, **more):
    scores = {"ari": ari, "nmi": ari, "accuracy": ari, "clusters": 3}
    return {"seed": 1, "wall": 1.0, "cpu": 1.0, "objective": 2.0} | scores | more


def a_record(table, contender, restarts=10, *, aris=(), again=None, **more):
    """Return the runs of a cell by their ARI (None fails), or what is the same again."""
    setting = {1: "1 restart", None: "equal time"}.get(restarts, f"{restarts} restarts")
    what = "runs" if again is None else "same again"
    found = {
        "runs": [
            {"seed": 1, "wall": 1.0, "cpu": 1.0, "error": "ValueError: no"}
            if ari is None
            else a_run(ari)
            for ari in aris
        ]
    }
    if again is not None:
        found = {"agreements": list(again), "fits": [{"seed": 1, "wall": 1.0, "cpu": 1.0}] * 8}
    if restarts is None:
        found |= {"budget": 1.0, "clock": "wall"}
    return {
        "key": f"{table}/{contender}/{setting}/{what}",
        "what": what,
        "setting": setting,
        "restarts": restarts,
        "table": a_table(table),
        "contender": CONTENDERS[contender].describe(),
        "wanted": len(aris) if again is None else 8,
        "threads": 1,
        "jobs": 1,
        **found,
        "versions": {"softmodes": "0"},
        "machine": "none",
        "date": "2026-01-01T00:00:00+00:00",
    } | more
