"""The tool that plants faults: what it changes, and what it leaves alone."""

from __future__ import annotations

import pytest

pytest.importorskip("mutmut", reason="nox -s mutation installs it")

from tools.mutation.mutants import LEFT_OUT, mutants_of

ALONE = '''"""A docstring."""
from typing import TYPE_CHECKING
from numpy.typing import NDArray
if TYPE_CHECKING:
    LIMIT = 3
__all__ = ["f"]
Rows = NDArray[int]
_ROWS_AT_ONCE = 512

@cache(maxsize=4)
def f(x: "str | None") -> "int":
    """Another docstring."""
    if x:
        raise ValueError("too " + "long" + str(4))
    _require(x, "the rows")
    return zip(x, x, strict=True)
'''


def changes(tmp_path, text):
    path = tmp_path / "made_up.py"
    path.write_text(text, "utf-8")
    return [(mutant.line, *mutant.diff()) for mutant in mutants_of(path)]


def test_a_change_is_told_by_its_line_and_its_difference(tmp_path):
    found = changes(tmp_path, "def f(x):\n    return x < 10\n")
    assert found == [
        (2, "-    return x < 10", "+    return x <= 10"),
        (2, "-    return x < 10", "+    return x < 11"),
    ]


def test_decorated_functions_and_constants_are_changed_too(tmp_path):
    found = changes(
        tmp_path, "LIMIT = 10\n\nclass C:\n    @property\n    def p(self):\n        return 1\n"
    )
    assert {line for line, *_ in found} == {1, 6}


def test_what_cannot_change_behaviour_is_left_alone(tmp_path):
    found = changes(tmp_path, ALONE)
    assert {line for line, *_ in found} == {15, 16}, "the calls of _require and zip"
    changed = {after for _, _, after in found}
    assert changed == {
        '+    _require(None, "the rows")',
        '+    _require("the rows")',
        "+    return zip(None, x, strict=True)",
        "+    return zip(x, None, strict=True)",
        "+    return zip(x, strict=True)",
    }


def test_the_tests_of_a_statement_are_those_that_run_any_of_its_lines(tmp_path):
    path = tmp_path / "made_up.py"
    path.write_text(
        "def f(x):\n    if x:\n        return (\n            x\n            + 1\n        )\n",
        "utf-8",
    )
    (plus, one) = mutants_of(path)
    assert plus.spans == one.spans == ((3, 6), (1, 6), (1, 6))


def test_what_runs_at_import_is_seen_by_the_tests_of_its_function_or_file(tmp_path):
    path = tmp_path / "made_up.py"
    path.write_text(
        "LIMIT = 1\nclass C:\n    b = 2\n    def f(self, c=3):\n        return c\n", "utf-8"
    )
    nearest = {mutant.line: mutant.spans[0] for mutant in mutants_of(path)}
    assert nearest == {1: (1, 5), 3: (1, 5), 4: (4, 5)}


def test_everything_left_out_has_a_reason():
    reasons = [why for section in LEFT_OUT.values() for why in section.values()]
    assert reasons
    assert all(len(why) > 5 for why in reasons)
