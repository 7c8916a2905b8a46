from __future__ import annotations

import re
from pathlib import Path

import pytest

import softmodes
from softmodes import baselines, datasets, metrics, plots, rounding

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ENGINE_PAGES = ("dask.md", "spark.md")  # run by tests/engines
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if "```python" in page.read_text("utf-8")
    and "decisions" not in page.parts
    and page.name not in ENGINE_PAGES
]
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in FENCE.findall(page.read_text("utf-8")):
        exec(compile(block, page.name, "exec"), names)
    if "by_rarest_column" in names:  # a page that registers a method
        baselines.unregister("by rarest column")


def test_pages_were_found():
    assert len(PAGES) >= 7


@pytest.mark.parametrize("module", [softmodes, metrics, datasets, rounding, baselines, plots])
def test_every_public_name_is_in_the_reference(module):
    text = (DOCS / "reference" / "python.md").read_text("utf-8")
    section = text.split(f".. currentmodule:: {module.__name__}\n")[1].split("```")[0]
    assert set(re.findall(r"^   (\w+)$", section, re.MULTILINE)) == set(module.__all__)


def test_every_page_is_in_a_list_of_contents():
    listed = set()
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for line in block.splitlines():
                if line and not line.startswith(":"):
                    target = (page.parent / line).resolve()
                    listed |= {p.resolve() for p in target.parent.glob(target.name + ".md")}
    pages = {p.resolve() for p in DOCS.rglob("*.md") if "_build" not in p.parts}
    left = pages - listed - {(DOCS / "index.md").resolve()}
    assert not {str(p.relative_to(DOCS)) for p in left if "gallery" not in p.parts}
