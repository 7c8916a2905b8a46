"""The tables on which quality is measured: read as their files say, prepared by the rule."""

import gzip
import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.quality import fetch, formats, listing, packages, planted, prepare, published
from benchmarks.quality.formats import Raw
from benchmarks.quality.tables import LabelledTable, planted_tables, report_tables, tuning_tables
from softmodes import SoftModes

TUNED = {"zoo", "soybean-small", "house-votes-84", "mushroom", "nursery", "tic-tac-toe"}
TUNED |= {"connect-4", "breast-w", "credit-a", "heart-c", "hepatitis", "anneal", "wine"}
TUNED |= {"segment", "pendigits", "vehicle", "digits", "news-w100", "xwindows"}

# What the descriptions at UCI say.
PUBLISHED_SIZES = {
    "breast-cancer": [85, 201],
    "dermatology": [20, 49, 52, 61, 72, 112],
    "german": [300, 700],
    "glass": [9, 13, 17, 29, 70, 76],
    "promoters": [53, 53],
    "spect": [55, 212],
    "splice": [767, 768, 1655],
    "yeast": [5, 20, 30, 35, 44, 51, 163, 244, 429, 463],
}

TAB = "name\tcolour\tsize\ty\nstring\td\tc\td\nmeta\t\ti\tclass \nann\tred\t1\tyes\nbob\t?\t2\tno\n"


def made_wheel(folder, **changes):
    path = folder / "made-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("made/data/small.tab", TAB)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    given = {"name": "made", "version": "1.0", "licence": "MIT", "file": path.name}
    return packages.Wheel(**given | {"sha256": sha256} | changes)


# Packages


def test_a_member_of_a_wheel_is_read_without_installing_it(tmp_path):
    assert made_wheel(tmp_path).read(tmp_path, "made/data/small.tab") == TAB.encode()


def test_a_package_that_is_not_there_is_told_in_a_line(tmp_path):
    with pytest.raises(packages.MissingPackageError) as error:
        made_wheel(tmp_path, file="other.whl").read(tmp_path, "x")
    told = f"made 1.0 (PyPI) is not in {tmp_path}. "
    assert str(error.value) == told + "Fetch it with: python -m benchmarks.quality.fetch"
    with pytest.raises(packages.MissingPackageError, match=r"on Debian or Ubuntu\)$"):
        packages.WEKA.read(tmp_path, "x")


def test_a_wheel_of_another_content_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"has sha256 \w{64}, not 00\. Delete it\."):
        made_wheel(tmp_path, sha256="00").read(tmp_path, "made/data/small.tab")


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb, of Debian")
def test_a_member_of_a_debian_package_is_read(tmp_path):
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    tree.chmod(0o755)
    (tree / "DEBIAN").chmod(0o755)
    control = "Package: made\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\n"
    (tree / "DEBIAN/control").write_text(control + "Description: x\n")
    (tree / "usr").mkdir()
    (tree / "usr/small.arff").write_text("@data\n")
    command = ["dpkg-deb", "--build", "--root-owner-group", tree, tmp_path / "made_1_all.deb"]
    subprocess.run(command, check=True, capture_output=True)
    assert packages.Debian("made", "1", "MIT").read(tmp_path, "usr/small.arff") == b"@data\n"


class Command:
    """A package that a command fetches."""

    def __init__(self, *command):
        self.command = list(command)

    def __str__(self):
        return "made"

    def path(self, folder):
        found = folder / "made.whl"
        if not found.exists():
            raise packages.MissingPackageError
        return found


def test_fetching_says_what_happened(tmp_path):
    python = [sys.executable, "-c"]
    assert fetch.fetch(Command("no-such-command"), tmp_path) == (
        "made: not fetched, no-such-command is not on this system"
    )
    said = fetch.fetch(Command(*python, "raise SystemExit('one\\nlast')"), tmp_path)
    assert said.startswith("made: not fetched, ")
    assert said.endswith(" said: last")
    write = "import pathlib; pathlib.Path('made.whl').touch()"
    assert fetch.fetch(Command(*python, write), tmp_path).startswith("made: fetched, ")
    assert fetch.fetch(Command("no-such-command"), tmp_path).startswith("made: there, ")


def test_a_wheel_is_asked_for_by_its_version_alone():
    for package in packages.PACKAGES:
        if isinstance(package, packages.Wheel):
            assert package.command[-1] == f"{package.name}=={package.version}"
            assert "--no-deps" in package.command
            assert package.version in package.file


# Formats


def test_orange_files_name_class_and_what_to_ignore():
    raw = formats.tab(TAB)
    assert (raw.target, raw.ignored) == ("y", ["name", "size"])
    assert raw.columns["colour"] == ["red", None]
    assert raw.columns["y"] == ["yes", "no"]


def test_orange_files_with_several_classes_name_none():
    assert formats.tab("a\tb\nd\td\nclass\tclass\n1\t2\n").target is None


def test_keel_files_and_arff_are_read_alike():
    keel = "@relation x\n@attribute A {1, 2}\n@attribute B real[0,1]\n@inputs B\n@outputs A\n"
    arff = "% note\n@relation x\n@ATTRIBUTE A {1, 2}\n@ATTRIBUTE B real\n"
    one = formats.attributes(keel + "@data\n1, 0.5\n<null>,?\n")
    two = formats.attributes(arff + "@DATA\n% note\n1,0.5\n?, ?\n")
    assert one.columns == two.columns == {"A": ["1", None], "B": ["0.5", None]}
    assert (one.target, two.target) == ("A", "B")


def test_quoted_names_and_cells_of_arff():
    raw = formats.attributes("@attribute 'b c' { t}\n@attribute y {'a,b', d}\n@data\nt,'a,b'\n")
    assert raw.columns == {"b c": ["t"], "y": ["a,b"]}


def test_lines_without_names():
    raw = formats.numbered("p1  0.5  x\np2  ?  y\n", None, -1, [0])
    assert raw.columns["c1"] == ["0.5", None]
    assert (raw.target, raw.ignored) == ("c2", ["c0"])
    both = formats.joined(raw, raw)
    assert both.columns["c2"] == ["x", "y", "x", "y"]
    assert (both.target, both.ignored) == ("c2", ["c0"])


def test_lines_of_unequal_width_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        formats.delimited("a,b\n1,2\n1\n")


def test_words_are_the_most_frequent_that_are_not_everywhere():
    texts = ["Oil price rises", "oil, price falls", "price rises again", "price holds"]
    found = formats.words(texts, 2, 0.5)
    assert found == {"rises": ["yes", "no", "yes", "no"], "again": ["no", "no", "yes", "no"]}


# Preparation


def slow_bands(numbers):
    """Return the least band whose share of the rows, or more, is at most the number."""
    n = len(numbers)
    return [
        next(
            band for band in range(1, 6) if band == 5 or x <= sorted(numbers)[-(-n * band // 5) - 1]
        )
        for x in numbers
    ]


@pytest.mark.parametrize("seed", range(5))
def test_bands_have_equal_counts_but_for_ties(seed):
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(np.r_[rng.integers(0, 12, 40), np.arange(13)] / 7).tolist()
    cells = [None, *map(str, numbers)]
    assert prepare.banded(cells) == [None, *map(str, slow_bands(numbers))]
    distinct = prepare.banded([str(x) for x in rng.permutation(100)])
    assert Counter(distinct) == dict.fromkeys("12345", 20)


def test_a_column_is_numeric_by_its_values():
    ten = [str(x) for x in range(10)]
    assert not prepare.is_numeric([*ten, None])
    assert prepare.is_numeric([*ten, "1e3", None])
    assert not prepare.is_numeric([*ten, "11", "many"])


def test_a_table_is_prepared_in_the_order_of_the_rule():
    n = 40
    raw = Raw(
        {
            "id": [str(i) for i in range(n)],
            "kind": ["a", "b"] * (n // 2),
            "same": ["x"] * n,
            "gap": ["u", None, "v", "u"] * (n // 4),
            "number": [str(i / 2) for i in range(n)],
            "y": [None] + ["p"] * 20 + ["q"] * 15 + ["rare"] * 4,
        }
    )
    table = prepare.prepared(raw, "y", ["id"])
    assert list(table.X) == ["kind", "gap", "number"]
    assert dict(Counter(table.y)) == {"p": 20, "q": 15}
    assert table.X["gap"].tolist()[:4] == [None, "v", "u", "u"]
    assert Counter(table.X["number"]) == dict.fromkeys("12345", 7)
    assert table.done == [
        "rows without a class dropped: 1",
        "rows of rare classes dropped: 4",
        "constant columns dropped: 1",
        "columns in bands: 1",
    ]


def test_a_large_table_is_a_sample_in_its_order():
    n = 12_000
    raw = Raw({"row": [f"r{i}" for i in range(n)], "y": ["p", "q"] * (n // 2)})
    one, two = prepare.prepared(raw, "y"), prepare.prepared(raw, "y")
    rows = [int(cell[1:]) for cell in one.X["row"]]
    assert len(set(rows)) == prepare.MOST_ROWS
    assert rows == sorted(rows)
    assert max(rows) > n - 100
    assert one.X.equals(two.X)
    assert one.done == ["5,000 of 12,000 rows"]


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"no columns \['z'\]"):
        prepare.prepared(Raw({"y": ["p"] * 9}), "y", ["z"])


def test_the_fingerprint_sees_every_change():
    X = pd.DataFrame({"a": ["1", None], "b": ["x", "y"]}, dtype=object)
    y = np.array(["p", "q"])
    changed = [
        (X.rename(columns={"a": "c"}), y),
        (X.assign(a=["1", "2"]), y),
        (X[["b", "a"]], y),
        (X[::-1], y),
        (X, y[::-1]),
    ]
    prints = {prepare.fingerprint(X, y), *(prepare.fingerprint(*table) for table in changed)}
    assert len(prints) == 6
    assert prepare.fingerprint(X.copy(), y.copy()) == prepare.fingerprint(X, y)


# Report tables


def made_table(folder, **changes):
    rows = "".join(f"r{i}\t{'ab'[i % 2]}\t{i}\t{'pq'[i // 5]}\n" for i in range(10))
    path = folder / "made-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("small.tab", "\n".join(TAB.split("\n")[:3]) + "\n" + rows)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    wheel = packages.Wheel("made", "1.0", "MIT", path.name, sha256)
    X = pd.DataFrame({"colour": ["a", "b"] * 5}, dtype=object)
    y = np.repeat(["p", "q"], 5)
    given = {"shape": (10, 1, 2), "sha256": prepare.fingerprint(X, y)} | changes
    return published.Published(
        "small", wheel, lambda read: formats.tab(read("small.tab").decode()), **given
    )


def test_a_report_table_is_read_out_of_its_package(tmp_path):
    table = published.load(made_table(tmp_path), tmp_path)
    assert isinstance(table, LabelledTable)
    assert (table.name, table.role, table.n_classes) == ("small", "report", 2)
    assert (table.source, table.licence) == ("made 1.0 (PyPI)", published.UCI)
    assert table.X.shape == (10, 1)


@pytest.mark.parametrize("change", [{"shape": (11, 1, 2)}, {"sha256": "0" * 64}])
def test_a_report_table_that_changed_is_refused(tmp_path, change):
    with pytest.raises(ValueError, match=r"^small in made 1\.0 \(PyPI\) has .*another table\.$"):
        published.load(made_table(tmp_path, **change), tmp_path)


def test_the_listed_tables_follow_the_rule():
    names = [table.name for table in published.TABLES]
    assert len(names) == len(set(names)) >= 20
    assert not TUNED & set(names)
    assert set(report_tables(Path())) == set(names)
    for table in published.TABLES:
        n, d, k = table.shape
        assert 60 <= n <= prepare.MOST_ROWS, table.name
        assert 4 <= d <= 300, table.name
        assert 2 <= k <= 30, table.name
        assert len(table.sha256) == 64, table.name
        assert table.licence, table.name
        assert table.package in packages.PACKAGES, table.name


def test_the_page_lists_the_tables():
    lines = listing.PAGE.read_text("utf-8").splitlines()
    told = {line.split(" | ")[0][2:]: line for line in lines if line.startswith("| ")}
    for table in published.TABLES:
        n, d, k = table.shape
        assert told[table.name].startswith(f"| {table.name} | {n:,} | {d} | {k} | ")
        assert f" | {table.package} | {table.licence} | " in told[table.name]
    assert set(planted.TABLES) <= set(told)


@pytest.fixture
def fetched():
    folder = packages.default_folder()
    for package in packages.PACKAGES:
        try:
            package.path(folder)
        except packages.MissingPackageError as missing:
            pytest.skip(str(missing))
    return folder


def test_the_page_is_what_the_packages_hold(fetched):
    assert listing.PAGE.read_text("utf-8") == listing.page(fetched)


def test_every_report_table_loads_and_follows_the_rule(fetched):
    for name, load in report_tables(fetched).items():
        table = load()
        assert min(Counter(table.y).values()) >= prepare.LEAST_OF_CLASS, name
        assert table.X.nunique().min() >= 2, name
        assert len(table.X) == len(table.y), name


@pytest.mark.parametrize(("name", "sizes"), PUBLISHED_SIZES.items())
def test_classes_have_the_sizes_that_were_published(fetched, name, sizes):
    assert sorted(Counter(report_tables(fetched)[name]().y).values()) == sizes


# Planted tables


@pytest.mark.parametrize("name", planted.TABLES)
def test_a_planted_table_is_the_same_every_time(name):
    one, two = planted_tables()[name](), planted_tables()[name]()
    assert one.role == "planted"
    assert pd.DataFrame(one.X).equals(pd.DataFrame(two.X))
    assert np.array_equal(one.y, two.y)
    n, d = np.shape(one.X)
    assert 1000 <= n <= 3000
    assert 15 <= d <= 200
    assert one.y.shape == (n,)
    assert 4 <= one.n_classes <= 25
    assert pd.DataFrame(one.X).nunique().min() >= 2


def test_groups_have_their_shares():
    y = planted.groups(np.random.default_rng(0), 100, [5, 3, 2])
    assert np.bincount(y).tolist() == [50, 30, 20]
    assert (np.diff(y) < 0).any()


def test_cells_follow_their_group_as_often_as_asked():
    X, y = planted.prototypes(0, 4000, [50] * 6, [1.0] * 4, 0.0)
    assert all(len({tuple(row) for row in X[y == group]}) == 1 for group in range(4))
    noisy, y = planted.prototypes(0, 4000, [50] * 6, [1.0] * 4, 0.3)
    usual = np.array([[np.bincount(c).argmax() for c in noisy[y == g].T] for g in range(4)])
    assert 0.7 < (noisy == usual[y]).mean() < 0.8


def test_questions_are_skipped_after_no():
    table = planted.load("skips")
    for i in range(6):
        skipped = table.X[f"q{i}"] == "no"
        assert 0 < skipped.mean() < 1
        for j in range(4):
            assert table.X[f"q{i}.{j}"].isna().equals(skipped)
    assert len(SoftModes(5, random_state=0).fit(table.X).labels_) == len(table.y)


def test_columns_of_a_survey_that_know_nothing_of_groups():
    X, y = planted.survey(0, 5000, 4, 3, 3)
    means = np.array([X[y == group].mean(axis=0) for group in range(4)])
    assert np.ptp(means, axis=0)[:3].min() > 0.3
    assert np.ptp(means, axis=0)[3:].max() < 0.3
    assert set(np.unique(X)) == {1, 2, 3, 4, 5}


def test_baskets_are_sparse():
    assert 0.02 < planted.load("baskets").X.mean() < 0.08


# Tables to tune on


def test_tables_of_a_folder(tmp_path):
    rows = [f"name{i},{'ab'[i % 2]},{'?' if i == 3 else 'c'},{'pq'[i % 2]}" for i in range(10)]
    (tmp_path / "named.csv").write_text("\n".join(["id,Class,u,v", *rows]) + "\n")
    last = "\n".join(["u,v,y", *(f"{i},{'ab'[i % 2]},{'pq'[i > 30]}" for i in range(20, 40))])
    (tmp_path / "last.csv.gz").write_bytes(gzip.compress(last.encode()))
    (tmp_path / "inside").mkdir()
    codes = {"X": np.eye(4, dtype=np.int32), "s": np.full(4, 2), "y": np.arange(4) % 2}
    np.savez(tmp_path / "inside" / "codes5.npz", **codes)

    tables = {name: load() for name, load in tuning_tables(tmp_path).items()}
    assert list(tables) == ["codes5", "last", "named"]
    assert {table.role for table in tables.values()} == {"tune"}
    assert list(tables["named"].X) == ["v"]  # id names rows, u has one value
    assert tables["named"].y.tolist() == ["a", "b"] * 5
    assert list(tables["last"].X) == ["u", "v"]
    assert set(tables["last"].X["u"]) == set("12345")
    assert np.array_equal(tables["codes5"].X, codes["X"])
    assert np.array_equal(tables["codes5"].y, codes["y"])


def test_tables_to_tune_on_keep_rare_classes(tmp_path):
    rows = [f"{'ab'[i % 2]},{'q' if i == 7 else 'p'}" for i in range(20)]
    (tmp_path / "rare.csv").write_text("\n".join(["u,class", *rows]) + "\n")
    assert tuning_tables(tmp_path)["rare"]().n_classes == 2
