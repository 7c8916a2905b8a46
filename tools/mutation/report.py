"""What became of the mutants, as Markdown and JSON."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.mutation.mutants import FLOORS

_JUDGED = Path(__file__).with_name("judged.toml")
KILLED, TIMEOUT, SURVIVED = "killed", "timeout", "survived"


@dataclass(frozen=True)
class Outcome:
    """A mutant, and what the tests made of it; `test` is the one that found it."""

    floor: str
    path: str
    line: int
    diff: list[str]
    result: str
    test: str
    n_tests: int
    seconds: float

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}"


def killed_share(outcomes: Sequence[Outcome]) -> float:
    """Return the share of mutants that were found; a hang counts."""
    return sum(outcome.result != SURVIVED for outcome in outcomes) / max(1, len(outcomes))


def write(folder: Path, head: dict[str, object], outcomes: Sequence[Outcome]) -> Path:
    """Write both files, and return the one to read."""
    everything = {"run": head, "mutants": [asdict(outcome) for outcome in outcomes]}
    (folder / "mutation.json").write_text(json.dumps(everything, indent=1), "utf-8")
    path = folder / "mutation.md"
    path.write_text("\n".join(_document(head, outcomes)) + "\n", "utf-8")
    return path


def _document(head: dict[str, object], outcomes: Sequence[Outcome]) -> list[str]:
    survivors = [outcome for outcome in outcomes if outcome.result == SURVIVED]
    judged = _judgements()
    said = ", ".join(f"{name} {value}" for name, value in head.items())
    return [
        "# Mutants, and the tests that found them",
        "",
        f"{len(outcomes)} mutants, {killed_share(outcomes):.1%} found ({said}).",
        "",
        *_table(outcomes),
        "",
        f"## Survivors: {len(survivors)}",
        *(line for outcome in survivors for line in _survivor(outcome, judged)),
    ]


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    lines = [
        "| floor | mutants | killed | timeouts | survived | found |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for floor in (name.removesuffix(".py") for name in FLOORS):
        own = [outcome for outcome in outcomes if outcome.floor == floor]
        n = Counter(outcome.result for outcome in own)
        if own:
            lines.append(
                f"| `{floor}` | {len(own)} | {n[KILLED]} | {n[TIMEOUT]} | {n[SURVIVED]} "
                f"| {killed_share(own):.0%} |"
            )
    return lines


def _survivor(outcome: Outcome, judged: dict[str, str]) -> list[str]:
    met = f"met {outcome.n_tests} tests" if outcome.n_tests else "no test runs it"
    why = judged.get(_key(outcome.path, outcome.diff), "(not judged yet)")
    title = f"### `{outcome.path}` line {outcome.line}"
    return ["", title, "", "```diff", *outcome.diff, "```", "", f"{why} ({met})"]


def _judgements() -> dict[str, str]:
    """Return the judgements of survivors that were looked at, by path and change."""
    entries = tomllib.loads(_JUDGED.read_text("utf-8")).get("survivor", [])
    return {_key(entry["path"], entry["diff"].splitlines()): entry["why"] for entry in entries}


def _key(path: str, diff: Sequence[str]) -> str:
    return "\n".join([path, *(line[:1] + line[1:].strip() for line in diff if line.strip())])
