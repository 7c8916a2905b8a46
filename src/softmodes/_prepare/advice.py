"""The advice: a line for each column, as a frame, as text, as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from softmodes._prepare.rules import COUNT_MISSING, IGNORE_MISSING, Reason, Verdict
from softmodes._table.frames import frame_of
from softmodes._text import harmless

_SHOWN_ACTIONS = {
    "leave out": "left out",
    "band": "banded",
    "split": "split",
    "lump": "lumped",
    "check": "check",
}
_ABOUT_MISSING = (IGNORE_MISSING, COUNT_MISSING)
_LONGEST_NAME, _LONGEST_WHY = 24, 90
_MOST_LINES = 4  # of one sort; more are told in one


@dataclass(frozen=True)
class Line:
    """What is done with one column, and why.

    Attributes
    ----------
    column : str
        The column's name.
    verdict
        Its kind, what is done with it and why, and what else to look at.
    n_values : int
        How many different values it has.
    missing : float
        The share of its cells that are missing.
    """

    column: str
    verdict: Verdict
    n_values: int
    missing: float

    @property
    def action(self) -> str:
        """What is done: use, leave out, band, split, lump, or check (use, but look at it)."""
        to_check = self.verdict.action == "use" and self.verdict.checks
        return "check" if to_check else self.verdict.action

    @property
    def used(self) -> bool:
        """Whether the column is used, in whatever form."""
        return self.verdict.action != "leave out"

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """All that is to be told of the column; of one that is used as it is, what to check."""
        plain = self.verdict.action == "use" and self.verdict.checks
        return self.verdict.checks if plain else (self.verdict.reason, *self.verdict.checks)


@dataclass(frozen=True, eq=False, repr=False)
class Advice:
    """What the columns of a table hold, and what to do with them before clustering.

    `str(advice)` is a text to read, a notebook shows a table, and `to_frame` returns a frame.

    Attributes
    ----------
    lines : tuple
        A line for each column, in the table's order, with its `column`, `action` and `used`.
    n_rows : int
        Rows of the table.
    na : tuple
        The words that were read as missing.
    n_na : int
        How many cells held one of them.

    Examples
    --------
    >>> import numpy as np
    >>> from softmodes import advise
    >>> answers = ["yes", "no", "no"] * 20
    >>> table = np.array([range(1, 61), answers], dtype=object).T
    >>> print(advise(table))
    60 rows, 2 columns.
      1 of 2 columns is used
      left out   x0   every row has another value: an id   --keep x0
    """

    lines: tuple[Line, ...]
    n_rows: int
    na: tuple[Any, ...] = ()
    n_na: int = 0
    backend: str | None = None

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that are used, in whatever form."""
        return tuple(line.column for line in self.lines if line.used)

    @property
    def missing(self) -> Literal["category", "ignore"]:
        """What the clustering should do with missing cells: ignore them where blocks were skipped.

        Else who was asked decides the groups, and not what was answered.
        """
        checks = (check for line in self.lines for check in line.verdict.checks)
        return "ignore" if any(check.option in _ABOUT_MISSING for check in checks) else "category"

    def to_frame(self) -> Any:
        """Return a row for each column, as a frame of the kind that came in.

        Columns: column, kind (what it is), action (use, leave out, band, split, lump, check), why,
        option (of the command line, which does otherwise; parameters of `Prepare` have the same
        names), values (how many different ones) and missing (the share of such cells).
        """
        lines = self.lines
        columns: dict[str, list[Any]] = {
            "column": [line.column for line in lines],
            "kind": [line.verdict.kind for line in lines],
            "action": [line.action for line in lines],
            "why": ["; ".join(reason.why for reason in line.reasons) for line in lines],
            "option": [line.reasons[0].option for line in lines],
            "values": [line.n_values for line in lines],
            "missing": [line.missing for line in lines],
        }
        return frame_of(columns, self.backend)

    def to_text(self, read_as: str = "") -> str:
        """Return the advice as text; `read_as` says how a file was read, as in "comma, utf-8"."""
        n_used, n_columns = len(self.used), len(self.lines)
        read = f" {read_as}." if read_as else ""
        verb = "is" if n_used == 1 else "are"
        head = [
            f"{_counted(self.n_rows, 'row')}, {_counted(n_columns, 'column')}.{read}{self._na()}",
            f"  {n_used:,} of {_counted(n_columns, 'column')} {verb} used",
        ]
        rows = list(self._told())
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
        told = (
            f"  {action:<{max(8, widths[0])}}   {name:<{widths[1]}}   {why:<{widths[2]}}   {option}"
            for action, name, why, option in rows
        )
        return "\n".join((*head, *(line.rstrip() for line in told)))

    def _na(self) -> str:
        if not self.na:
            return ""
        words = " ".join(f'"{_cut(str(word), _LONGEST_NAME)}"' for word in self.na)
        return f" {words} read as missing ({_counted(self.n_na, 'cell')})."

    def _told(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield what is done, with which columns, why, and what to do else; many at once."""
        sorts: dict[tuple[str, str], list[tuple[Line, Reason]]] = {}
        for action in _SHOWN_ACTIONS:
            for line in self.lines:
                for reason in _reasons(line, action):
                    sorts.setdefault((action, reason.sort), []).append((line, reason))
        for (action, _), members in sorts.items():
            shown = _SHOWN_ACTIONS[action]
            line, reason = members[0]
            most = 1 if action == "check" else _MOST_LINES
            if len(members) > most and reason.of_many is not None:
                why = reason.of_many.format(n=f"{len(members):,}")
                name = f"{_cut(line.column, _LONGEST_NAME)} ..."
                yield shown, name, why, _of_some(reason.option, line.column)
            else:
                for line, reason in members:
                    yield (
                        shown,
                        _cut(line.column, _LONGEST_NAME),
                        _cut(reason.why, _LONGEST_WHY),
                        harmless(reason.option),
                    )

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        head = "".join(f"<th>{name}</th>" for name in ("column", "", "why", "option"))
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(text)}</td>" for text in (name, action, why, option))
            + "</tr>"
            for action, name, why, option in self._told()
        )
        summary = html.escape("\n".join(self.to_text().splitlines()[:2]))
        return f"<div><p>{summary}</p><table><tr>{head}</tr>{rows}</table></div>"

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__


def _reasons(line: Line, action: str) -> tuple[Reason, ...]:
    if action == "check":
        return line.verdict.checks
    return (line.verdict.reason,) if line.verdict.action == action else ()


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _cut(text: str, longest: int) -> str:
    """Return a text as it can be shown in a line: harmless, and not too long."""
    shown = harmless(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def _of_some(option: str, column: str) -> str:
    """Return an option with room for more columns, if it names one."""
    return harmless(option) + (",..." if option.startswith(("--keep", "--drop")) else "")
