"""Every console block of the documents is run, and what it prints compared."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from command import softmodes

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "```console" in page.read_text("utf-8")]


def steps(page):
    """Return the commands of a page, and what each prints; "..." stands for any lines."""
    for block in FENCE.findall(page.read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            yield line, shown


def test_pages_were_found():
    assert len(PAGES) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_commands_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line, shown in steps(page):
        program, *arguments = shlex.split(line)
        assert program == "softmodes"
        result = softmodes(*arguments)
        assert result.exit_code == 0, f"{line}: {result.stderr}"
        matches = doctest.OutputChecker().check_output(shown, result.stdout, doctest.ELLIPSIS)
        assert matches, f"$ {line}\n{result.stdout}"
