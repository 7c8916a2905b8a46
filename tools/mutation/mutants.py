"""All mutants of a source file, by the operators of mutmut, and a sample of them drawn by seed.

Of mutmut only the operators are used. Its own runner cannot draw a sample, passes over decorated
functions and whatever stands outside of functions, and forks from a process in which the threads
of the core have already run.
"""

from __future__ import annotations

import ast
import difflib
import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "softmodes"
FLOORS = ("_table", "_rows", "_algorithm", "_model", "_estimators", "rounding.py")
LEFT_OUT = tomllib.loads(Path(__file__).with_name("left_out.toml").read_text("utf-8"))

_SURE_TO_FAIL = ("len", "isinstance")  # their mutants raise at once, and say nothing of the tests
_NAME_OF_A_TYPE = re.compile(r"[A-Z]|_?[A-Z]\w*[a-z]\w*")

Span = tuple[int, int]  # lines, both included


@dataclass(frozen=True, eq=False)
class Mutant:
    """One change to one file.

    `spans` are lines whose tests may see it, the nearest first: its statement, the functions
    around it, the file.
    """

    path: Path
    line: int
    spans: tuple[Span, ...]
    _module: cst.Module
    _node: cst.CSTNode
    _changed: cst.CSTNode

    @property
    def floor(self) -> str:
        """Name of the floor, the first part of the path in the package."""
        return self.path.relative_to(SOURCE).parts[0].removesuffix(".py")

    @property
    def module(self) -> str:
        """Name by which the file is imported."""
        parts = self.path.relative_to(SOURCE.parent).with_suffix("").parts
        return ".".join(parts).removesuffix(".__init__")

    @cached_property
    def source(self) -> str:
        """The whole file, changed."""
        changed = self._module.deep_replace(self._node, self._changed)
        assert isinstance(changed, cst.Module)
        return changed.code

    def diff(self) -> list[str]:
        """Return the lines that differ, marked with - and +."""
        before, after = self._module.code.splitlines(), self.source.splitlines()
        return [
            line
            for line in difflib.unified_diff(before, after, lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@"))
        ]


def draw(n: int, seed: int, floors: Sequence[str] = FLOORS) -> list[Mutant]:
    """Draw mutants of some floors at random, none twice; all, if there are no more than `n`."""
    everything = list(all_mutants(floors))
    random.Random(seed).shuffle(everything)
    drawn: list[Mutant] = []
    for mutant in everything:
        if len(drawn) == n:
            break
        if _changes_the_program(mutant):
            drawn.append(mutant)
    return sorted(drawn, key=lambda mutant: (mutant.path, mutant.line))


def all_mutants(floors: Sequence[str]) -> Iterator[Mutant]:
    """Yield every mutant of some floors, in the order of the sources."""
    for floor in floors:
        files = [SOURCE / floor] if floor.endswith(".py") else (SOURCE / floor).rglob("*.py")
        for path in sorted(files):
            yield from mutants_of(path)


def mutants_of(path: Path) -> list[Mutant]:
    """Return every mutant of a file."""
    wrapper = MetadataWrapper(cst.parse_module(path.read_text("utf-8")))
    collector = _Collector(path, wrapper.module)
    wrapper.visit(collector)
    return collector.mutants


def _changes_the_program(mutant: Mutant) -> bool:
    """Tell whether the changed file is another program, and one at all."""
    try:
        changed = ast.parse(mutant.source)
        compile(changed, str(mutant.path), "exec")
    except SyntaxError:
        return False
    return ast.dump(changed) != ast.dump(ast.parse(mutant.path.read_text("utf-8")))


class _Collector(cst.CSTVisitor):
    """Visits a module and makes the mutants of every node that is not left out."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, path: Path, module: cst.Module) -> None:
        super().__init__()
        self.mutants: list[Mutant] = []
        self._path = path
        self._module = module
        self._statements: list[Span] = [(1, len(module.code.splitlines()))]
        self._functions: list[Span] = []
        self._spared: list[cst.Arg] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if self._is_left_out(node):
            return False
        if isinstance(node, _STATEMENTS):
            self._statements.append(self._seen_lines(node))
        if isinstance(node, cst.FunctionDef):
            self._functions.append(self._lines(node))
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                self._add(node, operator(node))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self._is_left_out(original_node):
            return
        if isinstance(original_node, _STATEMENTS):
            self._statements.pop()
        if isinstance(original_node, cst.FunctionDef):
            self._functions.pop()

    def _add(self, node: cst.CSTNode, changes: Iterator[cst.CSTNode]) -> None:
        spared = _spared_arguments(node)
        self._spared += spared
        statement = self._statements[-1]
        position = self.get_metadata(PositionProvider, node, None)
        line = position.start.line if position else statement[0]
        spans = (statement, *reversed(self._functions), self._statements[0])
        for changed in changes:
            if isinstance(changed, cst.Call) and not _holds(changed.args, spared):
                continue
            self.mutants.append(Mutant(self._path, line, spans, self._module, node, changed))

    def _lines(self, node: cst.CSTNode) -> Span:
        position = self.get_metadata(PositionProvider, node)
        return position.start.line, position.end.line

    def _seen_lines(self, node: cst.CSTNode) -> Span:
        """Return the lines of a statement, without those of the statements in it.

        What runs at import is no test's own: then it is the lines of its function or file.
        """
        if isinstance(node, cst.FunctionDef):
            return self._lines(node)
        if not self._functions:
            return self._statements[0]
        first, last = self._lines(node)
        body = getattr(node, "body", None)
        if isinstance(body, cst.IndentedBlock):
            last = max(first, self._lines(body.body[0])[0] - 1)
        return first, last

    def _is_left_out(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Annotation() | cst.Decorator() | cst.Raise() | cst.Import() | cst.ImportFrom():
                return True
            case cst.If(test=cst.Name(value="TYPE_CHECKING")):
                return True
            case cst.Expr(value=cst.SimpleString()):
                return True  # a docstring
            case cst.Call(func=cst.Name(value=name)):
                return name in _SURE_TO_FAIL
            case cst.FunctionDef(name=cst.Name(value=name)):
                return name in LEFT_OUT["functions"]
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
                return self._is_no_behaviour(name)
            case cst.AnnAssign(target=cst.Name(value=name)):
                return self._is_no_behaviour(name)
            case cst.Arg():
                return _holds(self._spared, [node])
            case _:
                return False

    def _is_no_behaviour(self, name: str) -> bool:
        at_top = not self._functions
        is_type = at_top and _NAME_OF_A_TYPE.fullmatch(name) is not None
        return name == "__all__" or name in LEFT_OUT["constants"] or is_type


_STATEMENTS = (cst.BaseStatement, cst.ExceptHandler)


def _spared_arguments(node: cst.CSTNode) -> list[cst.Arg]:
    """Return the arguments of a call that stay as they are."""
    if not isinstance(node, cst.Call):
        return []
    told = isinstance(node.func, cst.Name) and node.func.value in LEFT_OUT["messages"]
    return [
        argument
        for argument in node.args
        if (argument.keyword is not None and argument.keyword.value in LEFT_OUT["keywords"])
        or (told and isinstance(argument.value, cst.SimpleString | cst.FormattedString))
    ]


def _holds(arguments: Sequence[cst.Arg], spared: list[cst.Arg]) -> bool:
    return all(any(argument is one for argument in arguments) for one in spared)
