"""One iteration of softmodes beside every peer, with the roofs of the machine.

    python -m benchmarks.peers                                    all workloads at full size
    python -m benchmarks.peers W1 W4 --scale 0.05 --threads 1 --no-memory
    python -m benchmarks.peers --render build/benchmarks/peers.json

All methods run in one process, in turn; the least of the repeats counts. Writes `peers.json`,
`peers.md` and `peers.svg`. Full size needs about 10 GB of memory and a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine, in_words
from benchmarks.memory import peak_memory
from benchmarks.methods import LATE, METHODS, PEERS, Method, open_rows
from benchmarks.roofs import assignment_seconds, measure
from benchmarks.tables import markdown, ratio, size, write_results
from benchmarks.timing import Timing, alternate, duration
from benchmarks.workloads import WORKLOADS, Problem, Workload

Found = dict[str, Any]

NOTHING = "-"  # in a cell of a table

# ----------------------------------------------------------------------------------- measuring


def measure_all(options: argparse.Namespace) -> Found:
    """Measure every chosen workload; all that is printed or drawn comes from what it returns."""
    chosen = [w for w in WORKLOADS if not options.names or w.name in options.names]
    roofs = {str(n): measure(n) for n in options.threads}
    workloads = [measure_workload(w, options, roofs) for w in chosen]
    settings = {"scale": options.scale, "repeats": options.repeats}
    return {"machine": describe_machine(), **settings, "roofs": roofs, "workloads": workloads}


def measure_workload(
    workload: Workload, options: argparse.Namespace, roofs: dict[str, dict[str, float]]
) -> Found:
    """Time all methods on a workload, by number of threads."""
    problem = Problem(workload.make(options.scale), workload.k)
    store = open_rows(problem, 1)
    n, d = problem.table.shape
    found: Found = {"name": workload.name, "describe": workload.describe, "n": n, "d": d}
    found |= {"k": workload.k, "row_bytes": store.layout.stride, "times": {}, "roof_seconds": {}}
    n_values = store.n_values
    del store
    if options.memory:
        found["memory"] = measure_memory(problem)
    for threads in map(str, options.threads):
        methods = {name: m for name, m in METHODS.items() if name not in options.skip}
        found["times"][threads] = measure_times(problem, int(threads), options.repeats, methods)
        least = assignment_seconds(n_values, n, workload.k, roofs[threads])
        found["roof_seconds"][threads] = least
        print(f"{workload.name}, {threads} thread(s)", flush=True)
        for name, timing in found["times"][threads].items():
            print(f"    {name:30} {Timing(timing['wall'], timing['cpu'])}", flush=True)
    return found


def measure_times(
    problem: Problem, n_threads: int, repeats: int, methods: dict[str, Method]
) -> dict[str, Found]:
    """Time all methods that suit the problem; scale those that ran on fewer rows."""
    rows = {name: method.rows(problem) for name, method in methods.items()}
    ready = {
        name: METHODS[name].prepare(_first_rows(problem, n), n_threads)
        for name, n in rows.items()
        if n
    }
    often = {name: run for name, run in ready.items() if METHODS[name].repeats is None}
    timings = alternate(often, repeats, enough=60.0, around=lambda m: METHODS[m].around(n_threads))
    for name in ready.keys() - often.keys():
        few = min(repeats, METHODS[name].repeats or 1)
        one = {name: ready[name]}
        timings |= alternate(one, few, around=lambda m: METHODS[m].around(n_threads))
    return {
        name: vars(timings[name].times(len(problem.table) / rows[name])) | {"rows": rows[name]}
        for name in ready
    }


def _first_rows(problem: Problem, n: int) -> Problem:
    return problem if n == len(problem.table) else problem.head(n)


def measure_memory(problem: Problem) -> dict[str, int]:
    """Return the peak memory of every method that runs on all rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, problem.table)
        return {
            name: peak_memory(name, path, problem.k)
            for name in ("softmodes", *(method.name for method in PEERS))
            if METHODS[name].most_rows is None and METHODS[name].rows(problem)
        }


# ------------------------------------------------------------------------------------ telling


def report(found: Found) -> str:
    """Return all tables as Markdown."""
    full = "Full size" if found["scale"] == 1 else f"{found['scale']:g} of the rows"
    parts = [f"{full}; least of {found['repeats']} repeats. {in_words(found['machine'])}"]
    parts += [found["note"]] if "note" in found else []
    for threads in found["roofs"]:
        parts.append(f"## Ratios, {_threads(threads)}\n\n" + ratio_table(found, threads))
    parts += [
        f"## The finish, {_threads(threads)}\n\n" + finish_table(found, threads)
        for threads in found["roofs"]
        if all("soft round" in w["times"][threads] for w in found["workloads"])
    ]
    parts.append("## Times, wall (CPU)\n\n" + time_table(found))
    if "memory" in found["workloads"][0]:
        parts.append("## Peak memory beyond the table of codes\n\n" + memory_table(found))
    parts.append("## Share of the machine's roofs\n\n" + roof_table(found))
    parts.append("## What is timed\n\n" + "\n".join(_timed(m) for m in METHODS.values()))
    return "\n\n".join(parts) + "\n"


def ratio_table(found: Found, threads: str) -> str:
    """Return how many times longer the peers take: wall time, and CPU time in brackets."""
    peers = [method for method in PEERS if _used(found, method)]
    rows = []
    for w in found["workloads"]:
        times = w["times"][threads]
        cells = [_ratio(times, method, w["n"]) for method in peers]
        rows.append([w["name"], w["describe"], duration(times["softmodes"]["wall"]), *cells])
    names = [f"{m.name}{'' if m.what == 'iteration' else ', assignment only'}" for m in peers]
    table = markdown(["", "data", "softmodes", *names], rows)
    return table + "\n\n~ scaled linearly from a part of the rows. CPU time ratio in brackets."


def _ratio(times: Found, method: Method, n: int) -> str:
    if method.name not in times:
        return NOTHING
    peer = times[method.name]
    ours = times["softmodes" if method.what == "iteration" else "softmodes assignment"]
    scaled = "~" if peer["rows"] < n else ""
    wall, cpu = (ratio(peer[kind] / ours[kind]) for kind in ("wall", "cpu"))
    return f"{scaled}{wall} ({cpu})"


def finish_table(found: Found, threads: str) -> str:
    """Return passes by scores beside passes by codes, and soft rounds beside those of StepMix."""
    rows = []
    for w in found["workloads"]:
        times = {name: timing["cpu"] for name, timing in w["times"][threads].items()}
        row = [w["name"], duration(times["softmodes pass"])]
        for name in ("score pass", "score pass, late"):
            row.append(f"{times[name] / times['softmodes pass']:.2f}x")
        for name in ("soft round", "soft round, late"):
            peer = ratio(times["StepMix"] / times[name]) if "StepMix" in times else NOTHING
            row += [duration(times[name]), peer]
        rows.append(row)
    header = ["", "pass by codes", "pass by scores", "late"]
    header += ["soft round", "StepMix takes", "late soft round", "StepMix takes"]
    return markdown(header, rows) + f"\n\nCPU time. Late: {LATE} soft rounds later."


def time_table(found: Found) -> str:
    """Return all times, by method."""
    columns = [(w, threads) for w in found["workloads"] for threads in w["times"]]
    rows = []
    for name in METHODS:
        cells = [_time(w["times"][threads].get(name)) for w, threads in columns]
        if any(cell != NOTHING for cell in cells):
            rows.append([name, *cells])
    return markdown(["", *(f"{w['name']}, {_threads(t)}" for w, t in columns)], rows)


def _time(timing: Found | None) -> str:
    return NOTHING if timing is None else f"{duration(timing['wall'])} ({duration(timing['cpu'])})"


def memory_table(found: Found) -> str:
    """Return peak memory, by method."""
    workloads = found["workloads"]
    names = [name for name in METHODS if any(name in w["memory"] for w in workloads)]
    rows = [
        [name, *(size(w["memory"][name]) if name in w["memory"] else NOTHING for w in workloads)]
        for name in names
    ]
    return markdown(["", *(w["name"] for w in workloads)], rows)


def roof_table(found: Found) -> str:
    """Return our kernels beside what the machine allows, by CPU time per thread."""
    rows = [
        _roof_row(w, threads, found["roofs"][threads])
        for w in found["workloads"]
        for threads in w["times"]
    ]
    header = ["", "threads", "assignment", "its comparisons", "share", "reading the rows", "share"]
    header += ["counts", "share of reading", "wall time against fewest threads"]
    roofs = "; ".join(
        f"{_threads(t)}: look-up {r['lookup'] / 1e9:.0f} GB/s, popcount "
        f"{r['popcount'] / 1e9:.0f} GB/s, bit planes {r['planes'] / 1e9:.0f} GB/s, "
        f"memory {r['read'] / 1e9:.1f} GB/s"
        for t, r in found["roofs"].items()
    )
    return (
        markdown(header, rows)
        + "\n\nCPU time per thread. Shares: the roof's time over ours, for the comparisons at the "
        + f"speed of the first-level cache and for reading the packed rows once. Roofs, {roofs}."
    )


def _roof_row(w: Found, threads: str, roofs: dict[str, float]) -> list[str]:
    times, n_threads = w["times"][threads], int(threads)
    assigned, passed = (
        times[f"softmodes {what}"]["cpu"] / n_threads for what in ("assignment", "pass")
    )
    comparing, reading = w["roof_seconds"][threads], w["n"] * w["row_bytes"] / roofs["read"]
    row = [w["name"], threads, duration(assigned)]
    for roof in (comparing, reading):
        row += [duration(roof), f"{roof / assigned:.0%}"]
    counted = passed - assigned
    # A small difference of two times is noise.
    counts = [duration(counted), f"{reading / counted:.0%}"] if counted > 0.05 * passed else []
    first = w["times"][min(w["times"], key=int)]["softmodes"]["wall"]
    gain = f"{first / times['softmodes']['wall']:.2f}x"
    return [*row, *(counts or [NOTHING, NOTHING]), gain]


def _threads(n: str) -> str:
    return "1 thread" if n == "1" else f"{n} threads"


def _timed(method: Method) -> str:
    return f"- **{method.name}** ({method.what}): {method.timed}."


def _used(found: Found, method: Method) -> bool:
    return any(method.name in t for w in found["workloads"] for t in w["times"].values())


def write(found: Found, folder: Path) -> None:
    """Write the measurement, the tables and the chart."""
    from benchmarks.charts import draw_peers

    write_results(folder, "peers", found, report(found))
    draw_peers(found, folder / "peers.svg")
    print(f"\n{report(found)}\nWritten to {folder}: peers.json, peers.md, peers.svg")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="workloads (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--skip", nargs="+", default=[], choices=[m.name for m in PEERS], help="peers to leave out"
    )
    parser.add_argument("--no-memory", dest="memory", action="store_false")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    parser.add_argument("--note", help="a sentence about the circumstances, for the report")
    parser.add_argument("--render", type=Path, help="tables and chart of an earlier measurement")
    options = parser.parse_args(arguments)
    found = json.loads(options.render.read_text()) if options.render else measure_all(options)
    if options.note:
        found["note"] = options.note
    write(found, options.out)


if __name__ == "__main__":
    main()
