"""What a measurement was made on, and with."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import softmodes
from softmodes import _kernels

PACKAGES = (
    "numpy",
    "scikit-learn",
    "faiss-cpu",
    "numkong",
    "kmodes",
    "stepmix",
    "pandas",
    "pyarrow",
)


def describe_machine(packages: Iterable[str] = PACKAGES) -> dict[str, Any]:
    """Return CPU, cores, instruction set, versions and date."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "instruction_set": _kernels.instruction_set(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {"softmodes": softmodes.__version__} | {p: _version(p) for p in packages},
        "date": datetime.now(UTC).date().isoformat(),
        "load": round(os.getloadavg()[0], 2),
    }


def in_words(machine: dict[str, Any]) -> str:
    """Return one paragraph: machine, versions, date."""
    versions = ", ".join(f"{name} {v}" for name, v in machine["versions"].items() if v)
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['instruction_set']} kernels; "
        f"Python {machine['python']}, {versions}; {machine['date']}, "
        f"load average {machine['load']} at the end."
    )


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
