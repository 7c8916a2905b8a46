"""Several files as one table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pyarrow as pa

from softmodes._sources.arrow_file import ArrowFile, check_kinds
from softmodes._sources.dialect import Columns
from softmodes._sources.raw import label_of
from softmodes._sources.reading import Reading
from softmodes._sources.source import Source
from softmodes._sources.texts import TextSource, counted
from softmodes._text import short_repr


def several(
    paths: list[str], sources: list[Source], reading: Reading, left_out: list[str]
) -> Source:
    """Return the rows of all files, one after the other; columns are found by their names."""
    first = sources[0]
    for path, source in zip(paths, sources, strict=True):
        _check_names(path, source.names, paths[0], first.names)
        if source.is_text != first.is_text:
            raise ValueError(
                f"{path} is another kind of file than {paths[0]}. Pass files of one kind at a time."
            )
    texts = [source for source in sources if isinstance(source, TextSource)]
    if texts:
        return _SeveralTexts(texts, reading, left_out)
    check_kinds([source for source in sources if isinstance(source, ArrowFile)])
    return _SeveralTables(sources, left_out)


def _check_names(path: str, names: tuple[str, ...], first: str, expected: tuple[str, ...]) -> None:
    lacking = [name for name in expected if name not in names]
    unexpected = [name for name in names if name not in expected]
    for listed, what in (lacking, "lacks"), (unexpected, "has"):
        if listed:
            raise ValueError(
                f"{label_of(path)} {what} {_listed(listed)}, unlike {label_of(first)}. Pass files "
                "with the same columns."
            )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(short_repr, names[:3]))
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"the column{'s' if names[1:] else ''} {shown}{more}"


def _told_left_out(left_out: list[str]) -> tuple[str, ...]:
    if not left_out:
        return ()
    shown = ", ".join(os.path.basename(file) for file in left_out[:3])
    more = f" and {len(left_out) - 3:,} more" if len(left_out) > 3 else ""
    return (f"Left out, being no tables by their endings: {shown}{more}.",)


class _SeveralTexts(TextSource):
    """Files of texts; the type of a column is decided over all of them."""

    def __init__(self, sources: list[TextSource], reading: Reading, left_out: list[str]) -> None:
        first = sources[0]
        told = (*first.made_up, *_told_left_out(left_out))
        super().__init__(Columns(first.names, True, told, first.renamed), reading)
        self._sources = sources

    @property
    def how(self) -> str:
        """How many files, and how each kind of them is read."""
        ways = dict.fromkeys(source.how for source in self._sources)
        return ". ".join([counted(len(self._sources), "file"), *ways])

    def columns_of_text(self) -> Iterator[list[pa.Array]]:
        """Return the rows of each file in turn."""
        for source in self._sources:
            order = [source.names.index(name) for name in self.names]
            for columns in source.columns_of_text():
                yield [columns[j] for j in order]


class _SeveralTables(Source):
    """Files of typed columns."""

    def __init__(self, sources: list[Source], left_out: list[str]) -> None:
        self.names = sources[0].names
        told = f"{counted(len(sources), 'file')}, {counted(len(self.names), 'column')}."
        self.told = (told, *_told_left_out(left_out))
        self._sources = sources

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows of each file in turn."""
        for source in self._sources:
            for batch in source.batches():
                yield batch.select(list(self.names))
