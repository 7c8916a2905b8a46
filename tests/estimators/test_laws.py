"""Same seed, same answer: labels, centers, history."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from softmodes import KModes, SoftModes, _kernels
from support import table

SIZES = (2, 2, 3, 4, 2, 7, 12, 2, 18, 300)


def fingerprint(n_jobs: int) -> str:
    """One line that stands for labels, centers and history of several fits."""
    X = table(3000, SIZES, seed=1)
    ones = table(700, (2,) * 300, seed=2).astype(bool)
    weight = np.random.default_rng(3).random(3000)
    found = [
        SoftModes(5, n_init=2, random_state=1, n_jobs=n_jobs).fit(X),
        SoftModes(150, t=1.0, n_init=1, random_state=2, n_jobs=n_jobs).fit(X, None, weight),
        SoftModes(9, t=math.inf, feature_weight=range(1, 11), random_state=3, n_jobs=n_jobs).fit(X),
        KModes(4, n_init=2, random_state=4, n_jobs=n_jobs).fit(ones),
        SoftModes(3, t=1.5, n_init=2, random_state=5, n_jobs=n_jobs).fit(ones),
    ]
    digest = hashlib.sha256()
    for model in found:
        digest.update(model.labels_.tobytes())
        digest.update(json.dumps(model.cluster_centers_.tolist()).encode())
        digest.update(json.dumps([vars(r) for r in model.history_]).encode())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def one_thread() -> str:
    return fingerprint(n_jobs=1)


@pytest.mark.parametrize("n_jobs", [2, 8])
def test_same_answer_on_any_number_of_threads(n_jobs, one_thread, monkeypatch):
    monkeypatch.setattr("softmodes._parameters.usable_cores", lambda: n_jobs)
    assert fingerprint(n_jobs) == one_thread


@pytest.mark.parametrize("name", _kernels.instruction_sets())
def test_same_answer_on_every_instruction_set(name, one_thread):
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import test_laws;"
        "from softmodes import _kernels;"
        "print(_kernels.instruction_set(), test_laws.fingerprint(2))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, *map(str, Path(__file__).parents[:2])],
        env=os.environ | {"SOFTMODES_ISA": name},
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.split() == [name, one_thread]


def test_another_seed_gives_another_answer(one_thread, monkeypatch):
    X = table(3000, SIZES, seed=1)
    a, b = (SoftModes(5, n_init=1, random_state=seed).fit(X).history_ for seed in (1, 2))
    assert a != b


def test_an_unknown_instruction_set_is_refused_with_the_choices():
    out = subprocess.run(
        [sys.executable, "-c", "from softmodes import SoftModes"],
        env=os.environ | {"SOFTMODES_ISA": "mmx"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert out.returncode != 0
    assert "SOFTMODES_ISA" in out.stderr
    assert "mmx" in out.stderr
    assert "generic" in out.stderr
