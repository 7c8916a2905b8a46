from __future__ import annotations

from typing import Any

import golden
import pytest

RECORDED = golden.recorded()


def assert_as_recorded(name: str, found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Fail with the name of the fit and of each part of its answer that changed."""
    parts = sorted(found.keys() | expected.keys())
    changed = [part for part in parts if found.get(part) != expected.get(part)]
    shown = [
        f"{part}: {found.get(part)!s:.300}, was {expected.get(part)!s:.300}" for part in changed
    ]
    assert not changed, f"{name!r} changed its answer in " + "\n".join(shown)


def test_every_fit_is_on_record_and_no_other() -> None:
    assert list(RECORDED["fits"]) == list(golden.FITS)


@pytest.mark.parametrize("name", golden.FITS)
def test_a_fit_answers_as_recorded(name: str) -> None:
    assert_as_recorded(name, golden.describe(*golden.run(name)), RECORDED["fits"][name])


def test_metrics_and_other_methods_answer_as_recorded() -> None:
    assert_as_recorded("functions", golden.describe_functions(), RECORDED["functions"])


@pytest.mark.parametrize("version", golden.MODELS)
def test_a_model_saved_by_any_version_loads_and_predicts_as_recorded(version: int) -> None:
    name = f"saved model of version {version}"
    expected = RECORDED["saved models"][str(version)]
    assert_as_recorded(name, golden.describe_saved_model(version), expected)


@pytest.mark.parametrize(
    ("twin", "of"), [("two threads", "defaults"), ("two threads, 5000 values", "5000 values")]
)
def test_threads_are_no_part_of_an_answer_on_record(twin: str, of: str) -> None:
    assert RECORDED["fits"][twin] == RECORDED["fits"][of]
