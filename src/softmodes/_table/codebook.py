"""Values to codes and back, column by column.

Any table becomes integer codes by one path, and a value's code depends on the values that occur,
never on the container or the order of rows. Codes follow the *canonical order*: first the type
class (bool, number, string, bytes, date, date-time, date-time with zone, time of day, duration),
then the value (numbers by value, strings by code point, bytes by byte, times by time).

- Numbers are equal by value: 1, 1.0, numpy.int8(1) and Decimal(1) are one value, as are 0.0 and
  -0.0. True is not 1, "1" is not 1, and a date is not midnight.
- Times with a zone are points in time, and are shown in UTC.
- None, NaN, NaT, pandas.NA and Arrow's null are missing. Infinity is a value.
- Categories that a pandas, polars or Arrow column declares but does not use are not values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from softmodes._table.factors import SparseColumns, TableFactors, factorize_table
from softmodes._table.read import Table, check_columns, frame_backend, read
from softmodes._table.unseen import Translation, Unseen, UnseenColumn, apply, unseen_column
from softmodes._table.values import (
    BadColumnError,
    Key,
    array_of,
    keys_from_json,
    keys_of,
    keys_to_json,
    python_values,
)

Missing: TypeAlias = Literal["category", "ignore", "error"]

MAX_CATEGORIES = 65_536

# Columns of a row-major matrix are transposed this many at a time: one cache line of bytes.
_COLUMNS_AT_ONCE = 64

__all__ = [
    "MAX_CATEGORIES",
    "Codebook",
    "Codes",
    "Missing",
    "SparseColumns",
    "Unseen",
    "UnseenColumn",
    "frame_backend",
    "learn",
]


@dataclass(frozen=True, eq=False)
class Codes:
    """Integer codes of a table, by column or as one row-major matrix.

    Attributes
    ----------
    n_rows
        Number of rows.
    by_column
        One contiguous array per feature, of uint8 (up to 256 codes), uint16 (up to 65,536) or
        int32; None if there is a `matrix`. Those of a sparse table are made when asked for.
    matrix, remap
        The cells as bytes, which may be the caller's own memory, and the code of each byte by
        feature: that of cell (i, j) is ``remap[j, matrix[i, j]]``.
    n_codes
        Number of codes that cells may hold, by feature.
    ignored
        The code that neither matches nor counts, by feature; -1 if there is none.

    Examples
    --------
    >>> from softmodes._table.codebook import learn
    >>> _, codes = learn([["red", 1], ["blue", 3], ["red", 2]])
    >>> codes.column(0)
    array([1, 0, 1], dtype=uint8)
    >>> [column.tolist() for column in codes.columns()]
    [[1, 0, 1], [0, 2, 1]]
    >>> codes.rows([1, 2])
    array([[0, 2],
           [1, 1]], dtype=int32)
    """

    n_rows: int
    by_column: Sequence[NDArray[Any]] | None
    matrix: NDArray[np.uint8] | None
    remap: NDArray[np.uint8] | None
    n_codes: NDArray[np.int32]
    ignored: NDArray[np.int32]

    def column(self, j: int) -> NDArray[Any]:
        """Return the codes of one feature."""
        if self.by_column is not None:
            return self.by_column[j]
        matrix, remap = self._bytes()
        return np.take(remap[j], matrix[:, j])

    def columns(self) -> Iterator[NDArray[Any]]:
        """Yield the codes of one feature after the other."""
        if self.by_column is not None:
            yield from self.by_column
            return
        matrix, remap = self._bytes()
        for start in range(0, len(remap), _COLUMNS_AT_ONCE):
            some = slice(start, start + _COLUMNS_AT_ONCE)
            yield from map(np.take, remap[some], np.ascontiguousarray(matrix[:, some].T))

    def rows(self, index: Any) -> NDArray[np.int32]:
        """Return the codes of some rows, given by a slice or by their numbers."""
        if self.by_column is not None:
            return np.stack([column[index] for column in self.by_column], axis=1, dtype=np.int32)
        matrix, remap = self._bytes()
        return np.take_along_axis(remap.T, matrix[index], axis=0).astype(np.int32)

    def _bytes(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        assert self.matrix is not None
        assert self.remap is not None
        return self.matrix, self.remap


@dataclass(frozen=True, eq=False)
class Codebook:
    """Which value has which code, column by column.

    Attributes
    ----------
    names
        Column names; None for tables without (NumPy, lists, sparse).
    categories
        The values that occur in each column, in canonical order, without missing: an array of
        bool, int64, uint64, float64, datetime64 or timedelta64, else of Python objects.
    has_missing
        Whether a column had missing cells.
    missing
        What missing cells are: a category, ignored, or an error.

    Examples
    --------
    >>> from softmodes._table.codebook import learn
    >>> codebook, codes = learn([["red", 1], ["blue", None], ["red", 2]])
    >>> codes.column(0)
    array([1, 0, 1], dtype=uint8)
    >>> codebook.decode([[0, 2]])
    array([['blue', None]], dtype=object)
    >>> codes, unseen = codebook.encode([["green", 1]])
    >>> print(unseen)
    Values unseen at fit differ from every center: column 0: 'green' in 1 cell.
    """

    names: tuple[str, ...] | None
    categories: tuple[NDArray[Any], ...]
    has_missing: tuple[bool, ...]
    missing: Missing

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.categories)

    @property
    def n_values(self) -> NDArray[np.int32]:
        """Number of values that a center may take in each column, at least 1."""
        return np.array([self._n_values(j) for j in range(self.n_features)], dtype=np.int32)

    def _n_values(self, j: int) -> int:
        own = self.missing == "category" and self.has_missing[j]
        return max(1, len(self.categories[j]) + own)

    def encode(
        self, table: Any, n_threads: int = 1, *, expecting: str = "Codebook"
    ) -> tuple[Codes, Unseen]:
        """Return the codes of another table with these columns.

        A value that did not occur at fit gets a code that no center has, and is reported. So does
        a missing cell under "category" if the column had none.

        Parameters
        ----------
        table
            A table of any container with the same columns in the same order.
        n_threads
            Number of threads.
        expecting
            Who expects these columns, for the error if there are others.

        Returns
        -------
        Codes
            The codes.
        Unseen
            What did not occur at fit.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> codebook, _ = learn([["red"], ["blue"]])
        >>> codes, unseen = codebook.encode([["blue"], ["green"]])
        >>> codes.column(0)
        array([0, 2], dtype=uint8)
        >>> unseen.columns[0].examples
        (('green', 1),)
        """
        opened = read(table)
        check_columns(opened, self.names, self.n_features, expecting)
        factors = factorize_table(opened, None, n_threads)
        if self.missing == "error":
            _refuse_missing(opened, factors)
        plans = [self._translate(j, factors) for j in range(self.n_features)]
        codes = _translated(opened.shape[0], factors, plans)
        unseen = (unseen_column(opened, j, factors, plan) for j, plan in enumerate(plans))
        return codes, Unseen(tuple(column for column in unseen if column is not None))

    def encode_rows(self, rows: Any, n_rows: int, parameter: str) -> NDArray[np.int32]:
        """Return the codes of a few given rows, such as first centers.

        An ignored missing cell has a code past the column's `n_values`.

        Parameters
        ----------
        rows
            A table of values that occurred at fit.
        n_rows
            How many rows there must be.
        parameter
            What to call the table in errors.

        Returns
        -------
        ndarray
            Codes of shape (n_rows, n_features).

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> learn([["red"], ["blue"]])[0].encode_rows([["red"]], 1, "init")
        array([[1]], dtype=int32)
        """
        opened = read(rows)
        if opened.shape != (n_rows, self.n_features):
            raise ValueError(
                f"{parameter} has {opened.shape[0]} rows and {opened.shape[1]} columns. Pass "
                f"n_clusters={n_rows} rows of {self.n_features} columns."
            )
        codes, unseen = self.encode(rows)
        if unseen:
            raise ValueError(
                f"{parameter} holds values that do not occur in the table: {unseen.listed()}."
            )
        return codes.rows(slice(None))

    def values(self, j: int) -> NDArray[Any]:
        """Return the value of each code that a center may have in column j; None is missing.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> learn([["red"], [None]])[0].values(0)
        array(['red', None], dtype=object)
        """
        values = self.categories[j]
        if len(values) == self._n_values(j):
            return values
        return np.append(python_values(values), np.array([None]))

    def decode(self, codes: Any) -> NDArray[Any]:
        """Return the values of codes, such as those of centers.

        Parameters
        ----------
        codes
            Integers of shape (n, n_features), each at least 0 and below `n_values`.

        Returns
        -------
        ndarray
            Of the columns' dtype if they share one and no cell is missing, else of Python objects
            with None for missing.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> learn([[10, 2], [30, 2]])[0].decode([[1, 0]])
        array([[30,  2]])
        """
        codes = self._checked(codes)
        lengths = np.array([len(values) for values in self.categories])
        dtypes = {values.dtype for values in self.categories}
        dtype = dtypes.pop() if len(dtypes) == 1 and (codes < lengths).all() else np.dtype(object)
        table = np.empty(codes.shape, dtype=dtype)
        for j, values in enumerate(self.categories):
            plain = python_values(values) if dtype.hasobject else values
            known = codes[:, j] < len(values)
            table[known, j] = plain[codes[known, j]]
        return table

    def to_json(self) -> dict[str, Any]:
        """Return the codebook as what JSON can hold, without loss.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> learn([["a"], ["b"]])[0].to_json()["categories"]
        [{'type': 'str', 'values': ['a', 'b']}]
        """
        return {
            "names": None if self.names is None else list(self.names),
            "categories": [keys_to_json(keys_of(values)) for values in self.categories],
            "has_missing": list(self.has_missing),
            "missing": self.missing,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Codebook:
        """Return the codebook that `to_json` wrote.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> codebook, _ = learn([["a"], ["b"]])
        >>> Codebook.from_json(codebook.to_json()) == codebook
        True
        """
        try:
            names, has_missing = data["names"], data["has_missing"]
            categories = tuple(array_of(keys_from_json(column)) for column in data["categories"])
            missing = _checked_policy(data["missing"])
            _require_list(has_missing, bool, len(categories), "has_missing")
            if names is not None:
                _require_list(names, str, len(categories), "names")
        except _BROKEN as error:
            raise ValueError(f"This is not a codebook: {error}.") from error
        return cls(names and tuple(names), categories, tuple(has_missing), missing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codebook) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _index(self) -> tuple[dict[Key, int], ...]:
        return tuple(
            {key: code for code, key in enumerate(keys_of(values))} for values in self.categories
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "_index"}

    def _translate(self, j: int, factors: TableFactors) -> Translation:
        """Plan how the codes of `factors` become those of this codebook."""
        n_values, index = len(self.categories[j]), self._index[j]
        codes = [index.get(key, -1) for key in keys_of(factors.values[j])]
        ignored = -1
        if factors.has_missing[j]:
            ignored = n_values if self.missing == "ignore" else -1
            own = ignored >= 0 or (self.missing == "category" and self.has_missing[j])
            codes.append(n_values if own else -1)
        known = max(self._n_values(j), ignored + 1)
        table = np.array(codes, dtype=np.int64)
        is_unseen = table < 0
        table[is_unseen] = known
        return Translation(table, is_unseen, known + bool(is_unseen.any()), ignored)

    def _checked(self, codes: Any) -> NDArray[np.int64]:
        codes = np.asarray(codes)
        if codes.dtype.kind not in "iu" or codes.ndim != 2 or codes.shape[1] != self.n_features:
            raise ValueError(
                f"codes of shape {codes.shape} and type {codes.dtype} are not a table of integers "
                f"with {self.n_features} columns. Pass integers of shape (n, {self.n_features})."
            )
        wrong = np.argwhere((codes < 0) | (codes >= self.n_values))
        if len(wrong):
            i, j = wrong[0]
            raise ValueError(
                f"codes[{i}, {j}]={codes[i, j]} is not a code of column {j}. Pass codes from 0 to "
                f"{self.n_values[j] - 1}."
            )
        return np.asarray(codes, dtype=np.int64)


def learn(table: Any, missing: Missing = "category", n_threads: int = 1) -> tuple[Codebook, Codes]:
    """Find the values of each column of a table, and the code of each cell.

    Parameters
    ----------
    table
        A frame (pandas, polars, Arrow or any that narwhals reads), a 2-D NumPy array, a list of
        rows, or a SciPy sparse matrix, where zero is a value.
    missing
        What missing cells are: "category" (a value of its own), "ignore" or "error".
    n_threads
        Number of threads.

    Returns
    -------
    Codebook
        The values by column.
    Codes
        The codes of the cells. A missing cell has the code after the last value's.

    Examples
    --------
    >>> from softmodes._table.codebook import learn
    >>> codebook, codes = learn([["b", True], ["a", None]], missing="ignore")
    >>> codebook.categories
    (array(['a', 'b'], dtype=object), array([ True]))
    >>> codes.n_codes, codes.ignored
    (array([2, 2], dtype=int32), array([-1,  1], dtype=int32))
    """
    missing = _checked_policy(missing)
    opened = read(table)
    factors = factorize_table(opened, MAX_CATEGORIES, n_threads)
    if missing == "error":
        _refuse_missing(opened, factors)
    codebook = Codebook(opened.names, factors.values, factors.has_missing, missing)
    n_values = np.array([len(values) for values in factors.values], dtype=np.int32)
    has_missing = np.array(factors.has_missing)
    ignored = np.where(has_missing & (missing == "ignore"), n_values, -1).astype(np.int32)
    codes = Codes(
        n_rows=opened.shape[0],
        by_column=factors.columns,
        matrix=factors.matrix,
        remap=factors.remap,
        n_codes=n_values + has_missing.astype(np.int32),
        ignored=ignored,
    )
    return codebook, codes


# --- translation to a codebook's codes -----------------------------------------------------------


def _translated(n_rows: int, factors: TableFactors, plans: Sequence[Translation]) -> Codes:
    n_codes = np.array([plan.n_codes for plan in plans], dtype=np.int32)
    ignored = np.array([plan.ignored for plan in plans], dtype=np.int32)
    if factors.remap is not None and n_codes.max() <= 256:
        remap = np.stack(
            [apply(plan, codes) for plan, codes in zip(plans, factors.remap, strict=True)]
        )
        return Codes(n_rows, None, factors.matrix, remap, n_codes, ignored)
    columns: Sequence[NDArray[Any]]
    if isinstance(factors.columns, SparseColumns):
        columns = factors.columns.recode([plan.table for plan in plans], n_codes)
    else:
        columns = tuple(apply(plan, factors.codes(j)) for j, plan in enumerate(plans))
    return Codes(n_rows, columns, None, None, n_codes, ignored)


# --- checks --------------------------------------------------------------------------------------


def _checked_policy(missing: Any) -> Missing:
    if missing not in get_args(Missing):
        raise ValueError(f"missing={missing!r} is not one of 'category', 'ignore' and 'error'.")
    return missing  # type: ignore[no-any-return]


# What reading a damaged codebook may raise.
_BROKEN = (BadColumnError, ArithmeticError, AttributeError, KeyError, TypeError, ValueError)


def _require_list(part: Any, kind: type, length: int, name: str) -> None:
    if type(part) is not list or len(part) != length or {type(item) for item in part} != {kind}:
        raise ValueError(f"{name} is not a list of {length} values of type {kind.__name__}")


def _refuse_missing(table: Table, factors: TableFactors) -> None:
    for j, has_missing in enumerate(factors.has_missing):
        if has_missing:
            rows = np.flatnonzero(factors.codes(j) == len(factors.values[j]))
            raise ValueError(
                f"{table.label(j)} has {len(rows)} missing cells, the first in row {rows[0]}, and "
                "missing='error'. Fill them, or pass missing='category' or missing='ignore'."
            )
