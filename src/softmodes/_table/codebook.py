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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from softmodes._parameters import choice
from softmodes._table.codes import CodeRanges, Codes
from softmodes._table.coding import code_table, too_many
from softmodes._table.held_values import HeldValues
from softmodes._table.json import keys_from_json, keys_to_json
from softmodes._table.read import Table, check_columns, column_label, read, require_rows
from softmodes._table.unseen import Unseen, unseen_column
from softmodes._table.values import (
    BadColumnError,
    ColumnValues,
    array_of,
    keys_of,
    python_values,
)

Missing: TypeAlias = Literal["category", "ignore", "error"]

MAX_CATEGORIES = 65_536


@dataclass(frozen=True, eq=False)
class Codebook:
    """Which value has which code, column by column.

    Attributes
    ----------
    names
        Column names; None for tables without (NumPy, lists, sparse).
    columns
        The values that occur in each column, and whether it had missing cells.
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
    columns: Sequence[ColumnValues]
    missing: Missing

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @cached_property
    def categories(self) -> tuple[NDArray[Any], ...]:
        """The values of each column as an array, in canonical order, without missing."""
        return tuple([column.array for column in self.columns])

    @cached_property
    def has_missing(self) -> tuple[bool, ...]:
        """Whether each column had missing cells."""
        if isinstance(self.columns, HeldValues):
            return tuple(self.columns.has_missing.tolist())
        return tuple([column.has_missing for column in self.columns])

    @property
    def n_values(self) -> NDArray[np.int32]:
        """Number of values that a center may take in each column, at least 1."""
        own = self._with_missing if self.missing == "category" else np.int32(0)
        n_values: NDArray[np.int32] = np.maximum(self.lengths + own, np.int32(1))
        return n_values

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """Number of values of each column, without missing."""
        if isinstance(self.columns, HeldValues):
            return self.columns.lengths
        return np.fromiter(map(len, self.categories), np.int32, len(self.columns))

    def numeric_among(self, columns: NDArray[np.intp]) -> list[int]:
        """Return those of some columns whose values are numbers."""
        held = self.columns
        if isinstance(held, HeldValues):  # of one kind
            return columns.tolist() if held.values.dtype.kind in "iuf" else []
        return [j for j in columns.tolist() if held[j].array.dtype.kind in "iuf"]

    @cached_property
    def _with_missing(self) -> NDArray[np.int32]:
        """1 for each column that had missing cells, else 0."""
        return np.array(self.has_missing, np.int32)

    @cached_property
    def fit_ranges(self) -> CodeRanges:
        """The codes of the rows of fit: those of values, then that of missing if it occurred."""
        ignoring = (self._with_missing > 0) & (self.missing == "ignore")
        ignored = np.where(ignoring, self.lengths, np.int32(-1))
        return CodeRanges(self.lengths + self._with_missing, ignored)

    @cached_property
    def unseen_ranges(self) -> CodeRanges:
        """The codes of fit, then one for missing cells to ignore, and last one for unseen values.

        A code means the same value in both ranges.
        """
        n_values = self.lengths
        ignored = n_values if self.missing == "ignore" else np.full_like(n_values, -1)
        return CodeRanges(np.maximum(self.n_values, ignored + 1) + np.int32(1), ignored)

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
        opened = require_rows(read(table))
        check_columns(opened, self.names, self.n_features, expecting)
        part = _coded(opened, self.missing, None, n_threads)
        return self._translate(*part)

    def merge(self, other: Codebook) -> Codebook:
        """Return the codebook of two parts of a table: that of the parts coded together.

        Parameters
        ----------
        other
            The codebook of a part with the same columns and the same policy for missing cells.

        Returns
        -------
        Codebook
            The same in whatever order parts are merged.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> first, _ = learn([["red", 1], ["blue", 2]])
        >>> second, _ = learn([["green", None], ["red", 0.5]])
        >>> first.merge(second).categories
        (array(['blue', 'green', 'red'], dtype=object), array([0.5, 1. , 2. ]))
        """
        self._check_same_columns(other)
        pairs = zip(self.columns, other.columns, strict=True)
        columns = tuple(_merged(column_label(self.names, j), *pair) for j, pair in enumerate(pairs))
        return replace(self, columns=columns)

    def translate(self, part: Codebook, codes: Codes) -> tuple[Codes, Unseen]:
        """Return the codes by this codebook of rows that were coded by that of their part.

        Parameters
        ----------
        part, codes
            What `learn_part` found in some rows.

        Returns
        -------
        Codes
            The same as `encode` gives for these rows. Their ranges are `unseen_ranges` if a cell
            needs them, else `fit_ranges`; parts that share a layout are packed by one for all.
        Unseen
            The values that this codebook does not have: none if `part` was merged into it.

        Examples
        --------
        >>> from softmodes._table.codebook import learn_part
        >>> parts = [learn_part([["red"]]), learn_part([["blue"]])]
        >>> whole = parts[0][0].merge(parts[1][0])
        >>> [whole.translate(*part)[0].column(0).tolist() for part in parts]
        [[1], [0]]
        """
        self._check_same_columns(part)
        return self._translate(part, codes)

    def codes_of(self, part: Codebook) -> list[NDArray[np.int64]]:
        """Return, for each column, the code by this codebook of each code by that of a part.

        A value that this codebook does not have gets the code of unseen ones.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> part, whole = learn([["red"], ["blue"]])[0], learn([["red"], ["green"], ["blue"]])[0]
        >>> whole.codes_of(part)
        [array([0, 2])]
        """
        unseen_code = self.unseen_ranges.n_codes - 1
        pairs = zip(self.columns, part.columns, unseen_code.tolist(), strict=True)
        return [self._new_codes(*pair) for pair in pairs]

    def narrowed(self, codes: NDArray[np.int32]) -> Codebook:
        """Return the codebook of some rows, given by their codes: without the values of others.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> codebook, _ = learn([["red"], ["green"], ["blue"]])
        >>> codebook.narrowed(np.array([[0], [2]])).categories
        (array(['blue', 'red'], dtype=object),)
        """
        columns = []
        for j, values in enumerate(self.columns):
            held = np.zeros(len(values) + 1, bool)
            held[codes[:, j]] = True
            columns.append(values.some(held[:-1], has_missing=bool(held[-1])))
        return replace(self, columns=tuple(columns))

    def covers(self, part: Codebook) -> bool:
        """Tell whether all values of a part, and missing cells if it has some, have codes here."""
        pairs = zip(self.columns, part.columns, strict=True)
        return all(own.merge(other) is own for own, other in pairs)

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
        return self._shown(self.columns[j])

    def all_values(self) -> list[NDArray[Any]]:
        """Return what `values` does, for one column after the other; some may share an array.

        Examples
        --------
        >>> from softmodes._table.codebook import learn
        >>> learn([["red", 1], [None, 2]])[0].all_values()
        [array(['red', None], dtype=object), array([1, 2])]
        """
        shown = {id(column): self._shown(column) for column in dict.fromkeys(self.columns)}
        return [shown[id(column)] for column in self.columns]

    def _shown(self, column: ColumnValues) -> NDArray[Any]:
        n = len(column)
        if n and not (self.missing == "category" and column.has_missing):
            return column.array
        values = np.empty(n + 1, object)  # all None
        values[:n] = python_values(column.array)
        return values

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
        known = codes < self.lengths
        dtypes = {values.dtype for values in self.categories}
        dtype = dtypes.pop() if len(dtypes) == 1 and known.all() else np.dtype(object)
        table = np.empty(codes.shape, dtype=dtype)
        starts = np.cumsum(self.lengths, dtype=np.int64) - self.lengths
        values = np.concatenate(self._categories_as(dtype))
        table[known] = values[(starts + codes)[known]]
        return table

    def _categories_as(self, dtype: np.dtype[Any]) -> list[NDArray[Any]]:
        if all(values.dtype == dtype for values in self.categories):
            return list(self.categories)
        # Many columns may share one array.
        natural = {id(values): values for values in self.categories}
        natural = {key: python_values(values) for key, values in natural.items()}
        return [natural[id(values)] for values in self.categories]

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
            arrays = [array_of(keys_from_json(column)) for column in data["categories"]]
            missing = checked_missing(data["missing"])
            _require_list(has_missing, bool, len(arrays), "has_missing")
            if names is not None:
                _require_list(names, str, len(arrays), "names")
        except _BROKEN as error:
            raise ValueError(f"This is not a codebook: {error}.") from error
        return cls(names and tuple(names), tuple(map(ColumnValues, arrays, has_missing)), missing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codebook) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("names", "columns", "missing")}

    def _check_same_columns(self, other: Codebook) -> None:
        if other.missing != self.missing:
            raise ValueError(
                f"The parts have missing={self.missing!r} and missing={other.missing!r}. "
                "Code all parts with one policy."
            )
        for j, (mine, theirs) in enumerate(zip_longest(self._titles(), other._titles())):
            if mine != theirs:
                raise ValueError(
                    f"Column {j} is {mine or 'lacking'} in one part and {theirs or 'lacking'} in "
                    "another. Pass parts with the same columns, in the same order."
                )

    def _titles(self) -> list[str]:
        return list(map(repr, self.names)) if self.names else ["without a name"] * self.n_features

    def _translate(self, part: Codebook, codes: Codes) -> tuple[Codes, Unseen]:
        unseen_code = self.unseen_ranges.n_codes - 1
        tables = self.codes_of(part)
        largest = np.array([table.max(initial=-1) for table in tables])
        ranges = self.fit_ranges
        if (largest >= ranges.n_codes).any():
            ranges = self.unseen_ranges
        unseen = []
        for j in np.flatnonzero(largest == unseen_code).tolist():
            counts = np.bincount(codes.column(j), minlength=len(tables[j]))
            counts *= tables[j] == unseen_code[j]
            name = part.names[j] if part.names else None
            unseen.append(unseen_column(j, name, part.columns[j], counts, self.columns[j]))
        return codes.translate(tables, ranges), Unseen(tuple(unseen))

    def _new_codes(self, own: ColumnValues, part: ColumnValues, unseen: int) -> NDArray[np.int64]:
        """Return the code by a column of this codebook of each code of a part's column."""
        codes = part.codes_in(own)
        codes = np.where(codes < 0, unseen, codes)
        if not part.has_missing:
            return codes
        has_code = self.missing == "ignore" or own.has_missing
        return np.append(codes, len(own) if has_code else unseen)

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
    >>> codes.ranges.n_codes, codes.ranges.ignored
    (array([2, 2], dtype=int32), array([-1,  1], dtype=int32))
    """
    return _coded(require_rows(read(table)), missing, MAX_CATEGORIES, n_threads)


def learn_part(
    table: Any, missing: Missing = "category", n_threads: int = 1
) -> tuple[Codebook, Codes]:
    """Do as `learn` for some rows of a table, maybe none.

    The codebooks of all parts merge to that of the table, which translates the parts' codes.

    Examples
    --------
    >>> from softmodes._table.codebook import learn_part
    >>> learn_part(np.zeros((0, 1)))[0].categories
    (array([], dtype=object),)
    """
    return _coded(read(table), missing, MAX_CATEGORIES, n_threads)


def _coded(
    table: Table, missing: Missing, limit: int | None, n_threads: int
) -> tuple[Codebook, Codes]:
    """Return the codebook of an open table, and its codes."""
    missing = checked_missing(missing)
    columns, codes = code_table(table, limit, n_threads)
    if missing == "error":
        _refuse_missing(table, columns, codes)
    codebook = Codebook(table.names, columns, missing)
    return codebook, replace(codes, ranges=codebook.fit_ranges)


def _merged(label: str, one: ColumnValues, other: ColumnValues) -> ColumnValues:
    try:
        values = one.merge(other)
    except BadColumnError as bad:
        raise bad.error(f"{label} {bad}") from None
    if len(values) > MAX_CATEGORIES:
        continuous = values.array.dtype.kind == "f"
        raise too_many(label, len(values), MAX_CATEGORIES, None, continuous)
    return values


# --- checks --------------------------------------------------------------------------------------


def checked_missing(missing: Any) -> Missing:
    """Return what missing cells are; refuse what they cannot be."""
    known: Missing = choice("missing", missing, get_args(Missing))
    return known


# What reading a damaged codebook may raise.
_BROKEN = (BadColumnError, ArithmeticError, AttributeError, KeyError, TypeError, ValueError)


def _require_list(part: Any, kind: type, length: int, name: str) -> None:
    if type(part) is not list or len(part) != length or {type(item) for item in part} != {kind}:
        raise ValueError(f"{name} is not a list of {length} values of type {kind.__name__}")


def _refuse_missing(table: Table, columns: Sequence[ColumnValues], codes: Codes) -> None:
    for j, values in enumerate(columns):
        if values.has_missing:
            rows = np.flatnonzero(codes.column(j) == len(values))
            raise missing_cells(table.names, j, len(rows), int(rows[0]))


def missing_cells(
    names: tuple[str, ...] | None, column: int, n_cells: int, first_row: int
) -> ValueError:
    """Tell that a column has missing cells, where none are allowed."""
    return ValueError(
        f"{column_label(names, column)} has {n_cells} missing cells, the first in row "
        f"{first_row}, and missing='error'. Fill them, or pass missing='category' or "
        "missing='ignore'."
    )
