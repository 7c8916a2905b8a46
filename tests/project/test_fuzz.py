"""A small share of `python -m fuzz`, and that it finds what it is there to find."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzz import __main__ as command
from fuzz import csv_files, models, naive, runner, tables
from softmodes._kernels import Layout

CASES = {"tables": 200, "models": 500, "csv": 100}


@pytest.mark.parametrize("kind", CASES)
def test_random_cases_give_right_answers(kind: str) -> None:
    failures = runner.run(kind, CASES[kind])
    assert not failures, "\n".join(command.summary(failures))


def test_a_case_is_told_by_its_number() -> None:
    def numbers(case: int) -> list[float]:
        return [runner.randomness(0, "tables", case).random() for _ in range(3)]

    assert numbers(7) == numbers(7)
    assert numbers(7) != numbers(8)


def test_a_wrong_label_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = tables.SoftModes.fit

    def with_last_row_elsewhere(self, X, *args, **kwargs):
        model = fit(self, X, *args, **kwargs)
        model.labels_[-1] = model.n_clusters - 1 - model.labels_[-1]
        return model

    monkeypatch.setattr(tables.SoftModes, "fit", with_last_row_elsewhere)
    found = [runner.problem(tables.check, 0, "tables", case) for case in range(30)]
    assert any(text and "labels_" in text for text in found)


def test_a_reader_that_merges_cells_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def merging(path: Path, dialect: csv_files.Dialect):
        header, rows = csv_files.read_by_python(path, dialect)
        columns = [[cell.strip() or None for cell in column] for column in zip(*rows, strict=True)]
        return header, columns

    monkeypatch.setattr(csv_files, "read_by_reader", merging)
    (tmp_path / "table.csv").write_text("a\nx\n x\n")
    with pytest.raises(runner.Wrong, match="'x' and ' x' are one value"):
        csv_files._check_file(tmp_path / "table.csv")


@pytest.mark.parametrize("error", [OSError("no name"), ValueError("no name"), KeyError("x")])
def test_a_load_that_does_not_name_the_file_is_found(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = models.prepare(tmp_path)

    def load(path: Path):
        raise error

    monkeypatch.setattr(models, "load", load)
    found = [runner.problem(check, 0, "models", case) for case in range(20)]
    assert all(text is not None for text in found)


@pytest.fixture
def cases_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Make a kind of case of the lines of a check."""

    def make(check: str) -> str:
        lines = (
            f"def prepare(folder):\n    return check\ndef check(random):\n{indent(check, '    ')}"
        )
        (tmp_path / "made_up_cases.py").write_text(lines)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setitem(runner.MODULES, "made up", "made_up_cases")
        return "made up"

    return make


def test_a_crash_is_told_and_the_cases_behind_it_still_run(
    cases_of: Callable[[str], str],
) -> None:
    kind = cases_of(
        "import os, signal\n"
        "if random.random() < 0.3:\n"
        "    os.kill(os.getpid(), signal.SIGSEGV)\n"
        "assert random.random() < 0.5, 'wrong'\n"
    )
    found = {failure.case: failure.text for failure in runner.run(kind, 12)}
    randoms = [runner.randomness(0, kind, case) for case in range(12)]
    crashing = [case for case, random in enumerate(randoms) if random.random() < 0.3]
    assert crashing, "no case crashed: nothing tested"
    assert {case for case, text in found.items() if "SIGSEGV" in text} == set(crashing)
    assert {case for case, text in found.items() if "wrong" in text} == {
        case
        for case, random in enumerate(randoms)
        if case not in crashing and random.random() >= 0.5
    }


def test_cases_that_cannot_begin_are_no_failures_of_the_cases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(runner.MODULES, "none", "no_such_module")
    with pytest.raises(RuntimeError, match="The cases of none cannot begin"):
        runner.run("none", 3)


def test_a_case_that_needs_much_memory_is_found(cases_of: Callable[[str], str]) -> None:
    kind = cases_of(f"assert b'x' * {runner.MOST_GROWTH + (8 << 20)}")
    ballast = np.ones(runner.MOST_GROWTH // 4)  # what this process has needed does not count
    (failure,) = runner.run(kind, 1)
    assert failure.text.endswith(" MB")
    del ballast


def test_ties_of_the_reference_are_settled_by_the_run() -> None:
    tied = np.zeros((50, 3))
    rows = naive.encode([[i // 5 for i in range(50)]], "category")
    runs = [naive.nearest(tied, naive.tie_key(seed=5, run=run), rows) for run in range(2)]
    assert set(runs[0]) == {0, 1, 2}
    assert (runs[0] != runs[1]).any()
    assert (runs[0] == np.repeat(runs[0][::5], 5)).all(), "equal rows are parted"
    assert not naive.nearest(tied, None).any()


@pytest.mark.parametrize("ignored", [False, True])
def test_the_reference_packs_features_where_the_core_does(ignored: bool) -> None:
    rng = np.random.default_rng(int(ignored))
    for _ in range(300):
        d = int(rng.integers(1, 60))
        n_codes = rng.choice([1, 2, 2, 2, 3, 3, 4, 5, 8, 9, 16, 17, 256, 257, 65536, 65537], d)
        last = np.where(ignored & (rng.random(d) < 0.5), n_codes - 1, -1)
        sizes = np.maximum(n_codes - (last >= 0), 1).tolist()
        rows = naive.Coded(np.zeros((1, d), np.int64), [], [], last, sizes)
        layout = Layout(n_codes.astype(np.int32), last.astype(np.int32))
        expected = 8 * layout.byte + layout.shift
        assert naive.bit_places(rows) == expected.tolist()


def test_the_command_prints_counts_and_fails_on_failures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = [runner.Failure("csv", case, f"cell {case} is wrong") for case in (3, 9)]
    monkeypatch.setattr(command, "runner", SimpleNamespace(**vars(runner)))
    monkeypatch.setattr(command.runner, "run", lambda *args: failures)
    assert command.main(["--only", "csv", "--cases", "10"]) == 1
    printed = capsys.readouterr().out
    assert "10 cases" in printed
    assert "2 x cell 3 is wrong" in printed
    assert "cases 3, 9" in printed
