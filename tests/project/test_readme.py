from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_python_of_the_readme_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {})


def test_the_commands_of_the_readme_exist():
    text = (ROOT / "README.md").read_text("utf-8")
    scripts = re.findall(r"^bash (\S+)$", text, re.MULTILINE)
    assert scripts == ["scripts/demo.sh", "scripts/test.sh"]
    assert len(BLOCKS) == 1
    assert all((ROOT / script).exists() for script in scripts)
