from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sklearn.metrics import adjusted_rand_score

PAGE = (Path(__file__).parents[2] / "docs/prepare.md").read_text("utf-8")


def test_the_page_runs_and_shows_what_comes_out():
    found: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)), found)
    (shown,) = re.findall(r"```\n(5,800 rows.*?)\n```", PAGE, re.DOTALL)
    assert str(found["advice"]) == shown
    assert adjusted_rand_score(found["planted"], found["groups"]) > 0.95
    assert found["bands"]["income"].cat.categories.size == 4
