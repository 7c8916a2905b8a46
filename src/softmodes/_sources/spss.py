"""Files of SPSS, Stata and SAS, read as texts: a value that has a label is its label."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from softmodes._sources.dialect import Columns
from softmodes._sources.reading import Reading
from softmodes._sources.texts import TextSource, counted

_ROWS_AT_ONCE = 100_000
_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
}


class LabelledSource(TextSource):
    """The rows of a file with labels for values; values that its user declared missing are."""

    def __init__(self, path: str, reading: Reading) -> None:
        self._path, self._encoding = path, reading.encoding
        ending = os.path.splitext(path)[1].lower()
        self._reader = _READERS.get(ending, "read_sav")
        _, facts = self._read(metadataonly=True)
        names = tuple(facts.column_names)
        if not names:
            raise ValueError(f"{path} has no columns. Pass a file with a table.")
        self._labels = {name: _told_apart(of) for name, of in facts.variable_value_labels.items()}
        super().__init__(Columns(names, True, ()), reading)

    @property
    def how(self) -> str:
        """What was read, and how many columns have labels."""
        program = {"read_dta": "Stata", "read_sas7bdat": "SAS"}.get(self._reader, "SPSS")
        labelled = sum(name in self._labels for name in self.names)
        return f"{program}, value labels for {counted(labelled, 'column')}"

    def columns_of_text(self) -> Iterator[list[pa.Array]]:
        """Return the rows, some at a time."""
        start = 0
        while True:
            columns, _ = self._read(row_offset=start, row_limit=_ROWS_AT_ONCE)
            n_rows = len(columns[self.names[0]])
            if n_rows:
                yield [self._texts(name, columns[name]) for name in self.names]
            if n_rows < _ROWS_AT_ONCE:
                return
            start += n_rows

    def _texts(self, name: str, cells: Any) -> pa.Array:
        """Return a column's cells as texts."""
        coded = pa.array(cells, from_pandas=True).dictionary_encode()
        distinct = coded.dictionary
        texts = distinct.cast(pa.string())
        if name in self._labels:
            labels, values = self._labels[name], distinct.to_pylist()
            pairs = zip(values, texts.to_pylist(), strict=True)
            texts = pa.array([labels.get(value, text) for value, text in pairs], pa.string())
        return texts.take(coded.indices).dictionary_encode()

    def _read(self, **options: Any) -> tuple[Any, Any]:
        try:
            import pyreadstat
        except ImportError:
            raise ImportError(
                "SPSS, Stata and SAS files need pyreadstat. "
                'Install it with: pip install "softmodes[spss]"'
            ) from None
        read = getattr(pyreadstat, self._reader)
        if self._encoding is not None and self._reader != "read_por":  # which is always ASCII
            options["encoding"] = self._encoding
        try:
            columns, facts = read(self._path, output_format="dict", **options)
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
            raise ValueError(
                f"{self._path} cannot be read: {error}. Open it with the program that wrote it, "
                "and save it anew."
            ) from error
        return columns, facts


def _told_apart(labels: dict[Any, Any]) -> dict[Any, str]:
    """Return the label of each value; one that several share is followed by the value."""
    n_values = Counter(labels.values())
    shown = {value: str(label) for value, label in labels.items() if str(label).strip()}
    return {
        value: label if n_values[label] == 1 else f"{label} ({value:g})"
        for value, label in shown.items()
    }
