"""How much memory there is, and how much a sparse table takes on its way to packed rows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from softmodes import KModes, SoftModes
from softmodes._rows import memory
from softmodes._rows.block import Layout

MIB = 1 << 20


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Lay out control groups as files, and make this process a member of some."""

    def lay_out(own: str, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "own").write_text(own)
        monkeypatch.setattr(memory, "_GROUPS", tmp_path / "cgroup")
        monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")

    return lay_out


def limited(folder: str, most: str, used: int, stat: str = "") -> dict[str, str]:
    return {
        f"{folder}/memory.max": f"{most}\n",
        f"{folder}/memory.current": f"{used}\n",
        f"{folder}/memory.stat": f"anon {used}\n{stat}",
    }


@pytest.mark.parametrize("tightest", ["pod", "pod/box", "pod/box/job"])
def test_the_tightest_group_on_the_own_path_is_the_limit(groups, tightest):
    files: dict[str, str] = {}
    for folder in ("pod", "pod/box", "pod/box/job"):
        files |= limited(folder, str(3 * MIB if folder == tightest else 8 * MIB), MIB)
    files |= limited("pod/other", "0", MIB)
    groups("0::/pod/box/job\n", files)
    assert memory.available_memory() == 2 * MIB


@pytest.mark.parametrize("group", ["pod", "pod.slice:cri-containerd:box"])
def test_groups_of_any_name_are_found_where_linux_keeps_them(group, monkeypatch):
    files = {f"/sys/fs/cgroup/{k}": v for k, v in limited(group, str(3 * MIB), MIB).items()}
    files["/proc/self/cgroup"] = f"0::/{group}\n"
    monkeypatch.setattr(memory, "_text", lambda path: files.get(path.as_posix(), ""))
    assert memory.available_memory() == 2 * MIB


def test_a_group_without_a_limit_leaves_what_the_machine_has(groups):
    groups("0::/pod\n", limited("pod", "max", MIB))
    available = memory.available_memory()
    assert available is not None
    assert available > 8 * MIB


def test_cached_files_of_a_group_count_as_free(groups):
    stat = f"active_file {MIB}\ninactive_file {MIB}\nfile {5 * MIB}\n"
    groups("0::/pod\n", limited("pod", str(4 * MIB), 3 * MIB, stat))
    assert memory.available_memory() == 3 * MIB


def test_a_group_past_its_limit_has_nothing_left(groups):
    groups("0::/pod\n", limited("pod", str(MIB), 2 * MIB))
    assert memory.available_memory() == 0


@pytest.mark.parametrize("own", ["4:cpu,memory:/box\n0::/\n", "1:cpu:/\n4:memory:/../box\n"])
@pytest.mark.parametrize("folder", ["memory", "memory/box"])
def test_limits_of_version_1_are_found_where_the_container_shows_them(groups, own, folder):
    groups(
        own,
        {
            f"{folder}/memory.limit_in_bytes": f"{5 * MIB}\n",
            f"{folder}/memory.usage_in_bytes": f"{3 * MIB}\n",
            f"{folder}/memory.stat": f"inactive_file 7\ntotal_inactive_file {MIB}\n",
        },
    )
    assert memory.available_memory() == 3 * MIB


def test_a_fit_beyond_the_limit_of_its_group_is_refused(groups):
    layout = Layout([2] * 1000, [-1] * 1000)
    groups("0::/pod\n", limited("pod", str(4 * MIB), MIB))
    memory.check_rows(layout, 1000)
    memory.check_counts(layout, 2, 1, None)
    with pytest.raises(MemoryError, match=r"n_clusters=1000 needs \d+ bytes .*3145728 \(0\.0 GiB"):
        memory.check_counts(layout, 1000, 1, None)
    with pytest.raises(
        MemoryError, match=r"100000 rows need 12800000 bytes .*3145728 .*Pass fewer rows or columns"
    ):
        memory.check_rows(layout, 100_000)


def test_a_fit_with_feature_weights_is_refused_where_one_without_fits(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 300))
    model = SoftModes(300, n_init=1, max_iter=1, n_jobs=1, random_state=0, refine=None)
    layout = Layout([2] * 300, [-1] * 300)
    weight = rng.integers(1, 60_000, 300)
    monkeypatch.setattr(memory, "available_memory", lambda: memory.count_bytes(layout, 300, 1))
    model.fit(X)
    with pytest.raises(MemoryError, match="n_clusters=300 needs"):
        model.set_params(feature_weight=weight).fit(X)


def test_a_refined_fit_is_refused_where_one_without_a_finish_fits(monkeypatch):
    X = np.random.default_rng(0).integers(0, 2, (400, 300))
    model = SoftModes(300, n_init=1, max_iter=1, n_jobs=1, random_state=0, refine=None)
    layout = Layout([2] * 300, [-1] * 300)
    plain, refined = (memory.count_bytes(layout, 300, 1, finalists=n) for n in (0, 3))
    assert refined > plain + 3 * 8 * 300 * layout.n_cells
    monkeypatch.setattr(memory, "available_memory", lambda: refined - 1)
    model.fit(X)
    for refine in ("gini", "latent"):
        with pytest.raises(MemoryError, match=f"n_clusters=300 needs {refined} bytes"):
            model.set_params(refine=refine).fit(X)


def test_rows_that_would_not_fit_when_packed_are_refused_before_they_are(groups, monkeypatch):
    def never(*_: object, **__: object) -> None:
        raise AssertionError("rows were packed")

    monkeypatch.setattr("softmodes._rows.stores.open.pack", never)
    groups("0::/pod\n", limited("pod", str(4 * MIB), MIB))
    with pytest.raises(MemoryError, match=r"4000000 rows need 64000000 bytes"):
        KModes(2).fit(sp.csr_array((4_000_000, 3)))


SPARSE_FIT = """
from pathlib import Path
import numpy as np
import scipy.sparse as sp
from softmodes import KModes

def peak():  # ru_maxrss would count the process that started this one
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

rng = np.random.default_rng(0)
n, d, cells = 40_000, 20_000, 200_000
where = rng.integers(0, n, cells), rng.integers(0, d, cells)
X = sp.csr_array((np.ones(cells, np.int8), where), (n, d))
model = KModes(2, init="random", n_init=1, max_iter=2, n_jobs=1, random_state=0)
model.fit(X[:50])
before = peak()
model.fit(X).predict(X)
print((peak() - before) / (n * d / 8))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from Linux's /proc")
def test_a_sparse_table_takes_little_more_than_its_packed_rows():
    """As bytes, the cells alone would take eight times the packed rows."""
    command = [sys.executable, "-W", "ignore", "-c", SPARSE_FIT]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(found.stdout) < 2


def test_the_memory_of_a_refined_fit_counts_sparse_counts_that_are_nearly_dense():
    X = np.random.default_rng(0).integers(0, 400, (3000, 2))
    model = SoftModes(20, n_init=1, n_jobs=1, random_state=0).fit(X)
    soft = model._clustering.soft
    held = sum(
        array.nbytes
        for counts in soft.counts.sparse.values()
        for array in (counts.data, counts.indices, counts.indptr)
    )
    assert held > 0.8 * 20 * 800 * (8 + 4), "the counts are not nearly dense: nothing tested"
    wide, narrow = (
        memory.count_bytes(Layout([size] * 2, [-1] * 2), 20, 1, finalists=3) for size in (400, 257)
    )
    assert wide - narrow > 7 * held * (400 - 257) / 400
