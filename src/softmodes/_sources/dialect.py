"""What the first lines of a file tell: what parts its cells, and the names of its columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import pyarrow as pa

from softmodes._sources.reading import DELIMITERS, Reading
from softmodes._sources.types import MISSING_WORDS, typed

Row = list[str]

_CANDIDATES = (",", ";", "\t", "|")
_COMMA_OF_TEXTS = re.compile(r"(?<![0-9]),|,(?![0-9])")
_FEW_ROWS, _FEW_COLUMNS = 500, 200
NO_DELIMITER = "\x1f"  # of files of one column: a sign that no text holds


@dataclass(frozen=True)
class Columns:
    """The columns of a table.

    Attributes
    ----------
    names
        Their names, all different.
    in_file
        Whether the first row holds names.
    told
        What was made up, in a line each.
    renamed
        The name in the file of columns that have another one here, since it occurs again.
    """

    names: tuple[str, ...]
    in_file: bool
    told: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Dialect:
    """How the lines of a file are cut into cells.

    Attributes
    ----------
    delimiter
        What parts cells; `NO_DELIMITER` for one column.
    columns
        The columns.
    start
        The byte, in UTF-8, at which the first row of cells begins.
    start_line
        The line on which it begins, from 1.
    """

    delimiter: str
    columns: Columns
    start: int
    start_line: int

    @property
    def told(self) -> str:
        """What parts the cells, in a word or two."""
        if self.delimiter == NO_DELIMITER:
            return "one cell a line"
        return DELIMITERS.get(self.delimiter, f"parted by {self.delimiter!r}")


def dialect_of(head: str, whole: bool, reading: Reading) -> Dialect | None:
    """Return the dialect of a file that begins with these lines, None where all are blank.

    `whole` tells that nothing follows.
    """
    asked, n_skipped = _asked_for(head)
    lines = list(io.StringIO(head, newline=""))
    delimiter = reading.delimiter or asked or _delimiter(lines[n_skipped:], whole)
    rows = _rows(lines[n_skipped:], delimiter, whole)
    if not rows:
        return None
    columns = columns_of([cells for cells, _, _ in rows], reading.header)
    _, before, after = rows[0]
    if delimiter == NO_DELIMITER:
        before = 0  # a blank line is a row there
    n_lines = n_skipped + (after if columns.in_file else before)
    n_bytes = len("".join(lines[:n_lines]).encode())
    return Dialect(delimiter, columns, n_bytes, n_lines + 1)


def columns_of(rows: Sequence[Row], header: bool | None) -> Columns:
    """Return the columns of a table that begins with these rows."""
    has_names = _has_names(rows) if header is None else header
    if not has_names:
        names = tuple(f"column {j + 1}" for j in range(len(rows[0])))
        noticed = "" if header is False else ": the first line looks like the others"
        last = f' to "{names[-1]}"' if len(names) > 1 else ""
        told = f'No column names{noticed}. The columns are called "{names[0]}"{last}.'
        return Columns(names, False, (told,))
    return _unique([cell.strip() for cell in rows[0]])


# --- cells ---------------------------------------------------------------------------------------


def _asked_for(head: str) -> tuple[str | None, int]:
    """Return the delimiter that a first line "sep=;" asks for, and the number of such lines."""
    line = head[:8].partition("\n")[0].rstrip("\r")
    is_asked = len(line) == 5 and line[:4].lower() == "sep="
    return (line[4], 1) if is_asked else (None, 0)


def _rows(lines: list[str], delimiter: str, whole: bool) -> list[tuple[Row, int, int]]:
    """Return the first rows that are not blank, and the lines before and after each."""
    rows: list[tuple[Row, int, int]] = []
    reader = csv.reader(lines, delimiter=delimiter)
    before = 0
    try:
        for row in reader:
            if row:
                rows.append((row, before, reader.line_num))
            before = reader.line_num
            if len(rows) > _FEW_ROWS:
                break
    except csv.Error:
        return rows  # a cell too large for this reader, which need not be a fault
    is_cut = not whole and before == len(lines)
    return rows[:-1] if is_cut else rows


def _delimiter(lines: list[str], whole: bool) -> str:
    """Return the sign that cuts most lines into as many cells as the first; of equal ones, most.

    Where none cuts the first line, and half of the lines like it, each line is one cell, or, if
    blanks part it into as many numbers as all others, a row of numbers. Below a title it is the
    sign that cuts nearly all lines but the first: the first row is refused then.
    """
    sizes = {sign: [len(row) for row, _, _ in _rows(lines, sign, whole)] for sign in _CANDIDATES}
    evenness = {sign: _evenness(of) for sign, of in sizes.items() if of and of[0] > 1}
    if len(evenness) > 1 and not any(map(_COMMA_OF_TEXTS.search, lines)):
        evenness.pop(",", None)  # all of them are decimal
    delimiter = max(evenness, key=evenness.__getitem__, default=NO_DELIMITER)
    if evenness and evenness[delimiter][0] >= 0.5:
        return delimiter
    if _are_rows_of_numbers(_rows(lines, " ", whole)):
        return " "
    titled = (sign for sign, of in sizes.items() if _are_below_title(of))
    return next(titled, NO_DELIMITER)


def _are_below_title(sizes: list[int]) -> bool:
    """Tell whether nearly all rows but the first have one number of cells, three or more."""
    usual, n_usual = Counter(sizes[1:]).most_common(1)[0] if sizes[2:] else (1, 0)
    return usual > 2 and n_usual >= 0.9 * (len(sizes) - 1)


def _are_rows_of_numbers(rows: list[tuple[Row, int, int]]) -> bool:
    """Tell whether all rows but the first, which may be names, are as many numbers."""
    sizes = {len(cells) for cells, _, _ in rows}
    if len(rows) < 2 or len(sizes) > 1 or sizes == {1}:
        return False
    return _are_numbers({cell for row, _, _ in rows[1:] for cell in row[:_FEW_COLUMNS]})


def _evenness(sizes: list[int]) -> tuple[float, int]:
    """Return the share of rows as long as the first, or nearly that of rows as long as most."""
    like_first = sizes.count(sizes[0]) / len(sizes)
    usual, n_usual = Counter(sizes[1:] or sizes).most_common(1)[0]
    like_most = 0.75 * n_usual / len(sizes) if usual > 1 else 0.0
    return max(like_first, like_most), sizes[0]


# --- names ---------------------------------------------------------------------------------------


def _has_names(rows: Sequence[Row]) -> bool:
    """Tell whether the first row looks like names, not like the rows below it.

    They are none where most cells occur again in their columns, or are numbers above numbers; half
    of them will do where some are fractions or dates. Numbers that count on, such as years, are.
    """
    first = [cell.strip() for cell in rows[0]][:_FEW_COLUMNS]
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    n_same = below.count(rows[0])
    if len(first) > 1 and n_same <= max(1, len(below) // 20):
        below = [row for row in below if row != rows[0]]  # names that occur again, perhaps
    numbers: Row = []
    n_again = 0
    for j, cell in enumerate(first):
        column = {row[j].strip() for row in below}.difference(MISSING_WORDS)
        if not column or cell in MISSING_WORDS:
            continue
        if not _are_numbers(column):
            n_again += cell in column
        elif not _are_numbers({cell}):
            return True
        else:
            numbers.append(cell)
    if not n_again and _count_on(numbers):
        return True
    surplus = 2 * (n_again + len(numbers)) - len(first)
    return surplus < 0 or (surplus == 0 and all(cell.isdecimal() for cell in numbers))


def _are_numbers(texts: set[str]) -> bool:
    kind = typed(pa.array(sorted(texts), pa.string())).type
    return not (pa.types.is_string(kind) or pa.types.is_boolean(kind))


def _count_on(cells: Row) -> bool:
    whole = [int(cell) for cell in cells if cell.isdecimal()]
    return len(whole) == len(cells) > 2 and whole == list(range(whole[0], whole[0] + len(whole)))


def _unique(cells: Row) -> Columns:
    """Return columns with a name of its own for each."""
    taken = set(cells)
    seen: set[str] = set()
    names: list[str] = []
    nameless: list[str] = []
    renamed: dict[str, str] = {}
    for j, cell in enumerate(cells):
        name = cell or f"column {j + 1}"
        if not cell:
            name = name if name not in taken else _free(name, taken)
            nameless.append(name)
        elif name in seen:
            name = _free(name, taken)
            renamed[name] = cell
        taken.add(name)
        seen.add(name)
        names.append(name)
    told = []
    if nameless:
        told.append(f"Columns without a name are called {_listed(nameless)}.")
    if renamed:
        told.append(f"Names that occur again are changed to {_listed(list(renamed))}.")
    return Columns(tuple(names), True, tuple(told), renamed)


def _free(name: str, taken: set[str]) -> str:
    return next(free for i in count(2) if (free := f"{name}_{i}") not in taken)


def _listed(names: list[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:3])
    return shown + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
