"""Text files of tables: cells as texts, None where one is missing."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

MISSING = frozenset(["", "?", "<null>"])
Cells = list[str | None]


@dataclass(frozen=True)
class Raw:
    """A table as its file has it; `target` and `ignored` name columns, as far as the file does."""

    columns: dict[str, Cells]
    target: str | None = None
    ignored: Sequence[str] = ()


def delimited(text: str, separator: str | None = ",", names: Sequence[str] = ()) -> Raw:
    """Read lines of cells; without `names`, the first line has them. None: any white space."""
    lines = [_split(line, separator) for line in text.splitlines() if line.strip()]
    return _raw(names or lines[0], lines if names else lines[1:])


def numbered(text: str, separator: str | None, target: int, ignored: Sequence[int] = ()) -> Raw:
    """Read lines without names: columns are c0, c1, ...; `target` may count from the end."""
    width = len(_split(text.split("\n", 1)[0], separator))
    names = [f"c{i}" for i in range(width)]
    raw = delimited(text, separator, names)
    return Raw(raw.columns, names[target], [names[i] for i in ignored])


def tab(text: str) -> Raw:
    """Read a file of Orange: names, types and roles in three lines, then cells behind tabs."""
    header, rows = _lines(text, 3)
    names, types, roles = header
    roles += [""] * (len(names) - len(roles))
    targets = [n for n, role in zip(names, roles, strict=True) if role.strip() == "class"]
    ignored = [
        n
        for n, kind, role in zip(names, types, roles, strict=True)
        if role.strip() in ("i", "ignore", "m", "meta") or kind == "string"
    ]
    raw = _raw(names, [row + [""] * (len(names) - len(row)) for row in rows])
    return Raw(raw.columns, targets[0] if len(targets) == 1 else None, ignored)


def attributes(text: str) -> Raw:
    """Read KEEL's .dat or ARFF: lines @attribute NAME TYPE, then cells behind commas."""
    head, data = re.split(r"(?im)^@data[^\n]*\n", text, maxsplit=1)
    names = [
        quoted or plain
        for quoted, plain in re.findall(r"(?im)^@attribute\s+(?:'([^']*)'|([^\s{]+))", head)
    ]
    output = re.search(r"(?im)^@outputs?\s+(\S+)", head)
    lines = [line for line in data.splitlines() if line.strip() and line[0] != "%"]
    rows = csv.reader(lines, quotechar="'", skipinitialspace=True)
    return Raw(_raw(names, rows).columns, output[1] if output else names[-1])


def words(texts: Sequence[str], n_words: int = 100, most: float = 0.25) -> dict[str, Cells]:
    """Return whether texts hold the words that most of them do, up to a share of `most`."""
    held = [set(re.findall(r"[a-z]{4,}", text.lower())) for text in texts]
    count: dict[str, int] = {}
    for found in held:
        for word in found:
            count[word] = count.get(word, 0) + 1
    allowed = [word for word, n in count.items() if n <= most * len(texts)]
    chosen = sorted(allowed, key=lambda word: (-count[word], word))[:n_words]
    return {word: ["yes" if word in found else "no" for found in held] for word in chosen}


def joined(*parts: Raw) -> Raw:
    """Return the rows of all parts, which have the same columns."""
    columns = {name: [c for part in parts for c in part.columns[name]] for name in parts[0].columns}
    return Raw(columns, parts[0].target, parts[0].ignored)


def _lines(text: str, n_header: int) -> tuple[list[list[str]], list[list[str]]]:
    lines = text.splitlines()
    rows = [line.split("\t") for line in lines[n_header:] if line.strip()]
    return [line.split("\t") for line in lines[:n_header]], rows


def _split(line: str, separator: str | None) -> list[str]:
    return line.split() if separator is None else line.split(separator)


def _raw(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Raw:
    columns = zip(*rows, strict=True)
    return Raw({n: _cells(column) for n, column in zip(names, columns, strict=True)})


def _cells(column: Collection[str]) -> Cells:
    stripped = (cell.strip() for cell in column)
    return [None if cell in MISSING else cell for cell in stripped]
