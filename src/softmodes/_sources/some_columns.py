"""Some columns of a source, by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from softmodes._sources.source import Source


class SomeColumns(Source):
    r"""A source with only some of its columns, in the order of their names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from softmodes._sources.paths import open_path
    >>> from softmodes._sources.whole import read_whole
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("a,b,c\n1,2,3\n")
    >>> read_whole(SomeColumns(open_path(path), ["c", "a"])).to_pydict()
    {'c': [3], 'a': [1]}
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        self._source = source
        self.names = tuple(names)
        self.renamed = {new: old for new, old in source.renamed.items() if new in self.names}
        self.spelling = source.spelling
        self.is_text = source.is_text  # type: ignore[misc]

    @property
    def told(self) -> tuple[str, ...]:  # type: ignore[override]
        """What is read, and how."""
        return self._source.told

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return all rows, with these columns."""
        for batch in self._source.batches():
            yield batch.select(list(self.names))
