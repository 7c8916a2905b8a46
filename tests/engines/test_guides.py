"""The guides to engines, run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, which dask gives
@pytest.mark.parametrize("engine", ["dask"])
def test_the_guide_to_an_engine_runs(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = FENCE.findall((GUIDES / f"{engine}.md").read_text("utf-8"))
    assert blocks, "nothing to run"
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, f"{engine}.md", "exec"), names)
