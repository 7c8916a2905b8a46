"""Columns of the bundled tables: codes into a list of values, from a file or from a rule."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Value: TypeAlias = str | int | None

LETTERS = tuple(map(chr, range(128)))


@dataclass(frozen=True, eq=False)
class Column:
    """A named column whose cells are `values[codes]`."""

    name: str
    values: Sequence[Value]
    codes: NDArray[np.uint8]

    def to_numpy(self) -> NDArray[Any]:
        """Return the cells, as int64 where all values are integers and as objects otherwise."""
        is_int = all(isinstance(value, int) for value in self.values)
        return np.array(self.values, dtype=np.int64 if is_int else object)[self.codes]

    def to_arrow(self) -> Any:
        """Return the cells as a plain Arrow array."""
        import pyarrow as pa

        values = pa.array(self.values)
        return pa.DictionaryArray.from_arrays(self.codes, values).cast(values.type)


def read_lines(name: str) -> dict[str, str]:
    """Return the bundled table `name`: for every column its cells, one letter each."""
    packed = files(__package__).joinpath("data", f"{name}.txt.gz").read_bytes()
    lines = gzip.decompress(packed).decode("ascii").splitlines()
    return dict(line.split(" ", maxsplit=1) for line in lines)


def letters(name: str, cells: str, replace: dict[str, Value] | None = None) -> Column:
    """Make a column of one-letter cells, where `replace` gives some letters another value."""
    values = [(replace or {}).get(letter, letter) for letter in LETTERS]
    return Column(name, values, np.frombuffer(cells.encode("ascii"), dtype=np.uint8))


def digits(name: str, cells: str) -> Column:
    """Make a column of one-digit integers."""
    return Column(name, range(10), np.frombuffer(cells.encode("ascii"), np.uint8) - ord("0"))


def numbers(name: str, cells: str) -> Column:
    """Make a column of whole numbers, with commas between them."""
    values, codes = np.unique(np.array(cells.split(","), np.int64), return_inverse=True)
    return Column(name, values.tolist(), codes.astype(np.uint8))


def read_description(name: str) -> str:
    """Return the text that describes the table `name`."""
    return files(__package__).joinpath("descr", f"{name}.md").read_text(encoding="utf-8")
