"""Charts of the measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.methods import PEERS

COLOURS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#999999")


def draw_peers(found: Mapping[str, Any], path: Path) -> None:
    """Draw how many times longer each peer takes, at the least number of threads."""
    workloads = found["workloads"]
    threads = min(workloads[0]["times"], key=int)
    fig, axes = plt.subplots(
        1, len(workloads), figsize=(2.6 * len(workloads) + 1.6, 3.6), sharey=True, squeeze=False
    )
    names = [m.name + ("" if m.what == "iteration" else "*") for m in PEERS]
    for ax, w in zip(axes[0], workloads, strict=True):
        _draw_workload(ax, w, w["times"][threads])
    axes[0, 0].set_yticks(range(len(names)), names)
    axes[0, 0].invert_yaxis()
    many = "1 thread" if threads == "1" else f"{threads} threads"
    title = f"Time of one iteration over that of softmodes, {many} (* assignment over assignment)"
    fig.suptitle(title, fontsize=10)
    _save(fig, path)


def _draw_workload(ax: Any, w: Mapping[str, Any], times: Mapping[str, Any]) -> None:
    for y, (method, colour) in enumerate(zip(PEERS, COLOURS, strict=True)):
        if method.name not in times:
            ax.text(1.15, y, "binary data only" if method.binary_only else "not run",
                    va="center", fontsize=8, color="#777777")  # fmt: skip
            continue
        ours = times["softmodes" if method.what == "iteration" else "softmodes assignment"]
        factor = times[method.name]["wall"] / ours["wall"]
        ax.barh(y, factor - 1, left=1, color=colour)
        ax.text(max(factor, 1) * 1.15, y, f"{factor:,.1f}" if factor < 100 else f"{factor:,.0f}",
                va="center", fontsize=8)  # fmt: skip
    ax.axvline(1, color="black", linewidth=1)
    ax.set_xscale("log")
    ax.set_xlim(0.3, 1e5)
    ax.set_title(f"{w['name']}\n{w['describe']}", fontsize=8)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)


def draw_scaling(
    found: Mapping[str, Mapping[str, Any]], path: Path, labels: Mapping[str, str]
) -> None:
    """Draw time against size, one panel for each axis of growth."""
    fig, axes = plt.subplots(1, len(found), figsize=(3.2 * len(found), 3.4), squeeze=False)
    for ax, (axis, curve) in zip(axes[0], found.items(), strict=True):
        x, seconds = np.array(curve["x"]), np.array(curve["seconds"])
        ax.loglog(x, seconds * 1e3, "o", color=COLOURS[0], label="measured")
        grid = np.geomspace(x[0], x[-1], 100)
        growing = curve["per_unit"] * grid ** curve["slope"]
        ax.loglog(grid, (curve["fixed"] + growing) * 1e3, color=COLOURS[4], label="a + b x$^s$")
        linear = seconds[-1] * grid / grid[-1]
        ax.loglog(grid, linear * 1e3, ":", color="#777777", label="slope 1")
        ax.set_title(f"s = {curve['slope']:.2f}", fontsize=10)
        ax.set_xlabel(labels[axis], fontsize=9)
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("time of one iteration, ms")
    axes[0, 0].legend(fontsize=8, frameon=False)
    _save(fig, path)


def draw_rounds(curves: Mapping[str, Sequence[float]], path: Path) -> None:
    """Draw the share of rows that moved in each round."""
    fig, ax = plt.subplots(figsize=(5.5, 3.4))
    for (name, moved), colour in zip(curves.items(), COLOURS, strict=False):
        ax.semilogy(range(1, len(moved) + 1), moved, "o-", markersize=3, color=colour, label=name)
    ax.set_xlabel("round")
    ax.set_ylabel("share of rows that moved")
    ax.legend(fontsize=8, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    _save(fig, path)


def _save(fig: Any, path: Path) -> None:
    fig.tight_layout()
    fig.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(fig)
