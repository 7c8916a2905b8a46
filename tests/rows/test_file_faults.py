"""Disks that are full, and processes that are stopped: an error in words, and nothing left."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softmodes import SoftModes
from softmodes._rows import scratch
from softmodes._rows.scratch import Scratch

N = 60_000

FIT = """
import sys
from softmodes import SoftModes
from softmodes._rows.stores import file

file._LEAST_BLOCK_BYTES = 1 << 16

def told(state):
    print("round", state.round, flush=True)
    sys.stdin.readline()

model = SoftModes(3, n_init=1, random_state=0, memory_limit=0)
model.fit(sys.argv[1], on_round=told if "wait" in sys.argv else None)
print("fitted", type(model.labels_).__name__)
"""


@pytest.fixture(scope="module")
def big(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("big") / "big.parquet"
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({f"c{j}": rng.integers(0, 9, N) for j in range(8)}), path)
    return path


def command(big: Path, *more: str) -> list[str]:
    return [sys.executable, "-c", FIT, str(big), *more]


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}


def can_mount(folder: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    mount = f"mount -t tmpfs -o size=64k tmpfs '{folder}'"
    return (
        subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True).returncode == 0
    )


@pytest.mark.parametrize("n_kib", [100, 700])
def test_a_full_disk_is_an_error_that_names_folder_and_bytes(big, tmp_path, n_kib):
    if not can_mount(tmp_path):
        pytest.skip("no small disk can be mounted here")
    run = " ".join(f"'{part}'" for part in (sys.executable, "-"))
    script = f"mount -t tmpfs -o size={n_kib}k tmpfs '{tmp_path}' && {run} '{big}'"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        input=FIT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done  # 128 + 7 would be a SIGBUS
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"OSError: [Errno {errno.ENOSPC}] {tmp_path} is full: rows beyond")
    needed = int(last.split("at least ")[1].split()[0])
    assert needed > n_kib * 1024
    assert "TMPDIR" in last


def test_a_disk_of_which_a_write_takes_a_part_is_written_to_the_end(monkeypatch):
    class Slow:
        def __init__(self, file):
            self.file = file

        def write(self, data):
            return self.file.write(data[:3])

        def __getattr__(self, name):
            return getattr(self.file, name)

    kept = Scratch()
    kept._file = Slow(kept._file)
    kept.write(b"0123456789")
    assert kept.read(0, 10) == b"0123456789"


def test_other_errors_of_a_disk_are_raised_as_they_are(monkeypatch):
    class Broken:
        def seek(self, place):
            return place

        def write(self, data):
            raise OSError(errno.EIO, "Input/output error")

    kept = Scratch()
    kept._file = Broken()
    with pytest.raises(OSError, match="Input/output error"):
        kept.write(b"rows")


def open_files(pid: int) -> str:
    folder = f"/proc/{pid}/fd"
    return " ".join(os.readlink(f"{folder}/{number}") for number in os.listdir(folder))


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_fit_that_is_stopped_leaves_nothing(big, tmp_path, sent):
    with subprocess.Popen(
        command(big, "wait"),
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout.readline().startswith("round 0")
        if sys.platform == "linux":
            assert str(tmp_path) in open_files(process.pid), "no temporary file: nothing tested"
        process.send_signal(sent)
        process.wait(60)
    assert process.returncode != 0
    assert os.listdir(tmp_path) == []


def test_a_fit_that_fails_leaves_nothing(big, tmp_path, monkeypatch):
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ZeroDivisionError):
        SoftModes(3, memory_limit=0).fit(big, on_round=lambda state: 1 // 0)
    assert os.listdir(tmp_path) == []
