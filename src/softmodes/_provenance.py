"""What a result was made with: versions and machine."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version


@lru_cache
def versions(*more: str) -> dict[str, str]:
    """Return the versions of all that a result depends on, and of more packages if installed."""
    from softmodes import __version__

    packages = {name: _version(name) for name in ("numpy", "scipy", "scikit-learn", *more)}
    return {
        "softmodes": __version__,
        **{name: found for name, found in packages.items() if found},
        "python": platform.python_version(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@lru_cache
def machine() -> str:
    """Return the processor's name and the number of cores."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
        name = models[0] if models else name
    except OSError:
        pass  # elsewhere than on Linux the platform's word must do
    return f"{name}, {os.cpu_count()} cores"
