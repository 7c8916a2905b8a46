"""Which type the texts of a column have, decided on all of its distinct values.

A column has the first of these types that all of its values have: whole number, boolean, date, time
of day, date-time, date-time with zone, number with a point, number with a decimal comma; else text.
Nothing depends on which value came first, nor on how a file was cut. A number that begins with a
needless zero is a code ("01234"), and its column text; so is one too long for its type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from softmodes._table.values import ColumnValues, Kind, keys_of, object_array

# "None" and "-" are not among them: they are answers in many a survey.
MISSING_WORDS: tuple[str, ...] = (
    "",
    *("NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "-NaN", "NaT"),
    *("null", "NULL", "Null", "#NULL!"),
)

_FEW = 16


@dataclass(frozen=True)
class Spelling:
    """How the cells of a file spell missing values and numbers.

    Attributes
    ----------
    missing
        Texts of missing cells.
    decimal
        "." or ",", which parts a number from its fraction; None where each column shows it.
    """

    missing: tuple[str, ...] = MISSING_WORDS
    decimal: str | None = None


PLAIN = Spelling()


def typed(distinct: pa.Array, spelling: Spelling = PLAIN) -> pa.Array:
    """Return the distinct texts of a column as values of the one type that all of them have.

    Missing words become null. Two texts may become one value, as "1.0" and "1.00" do.

    Examples
    --------
    >>> import pyarrow as pa
    >>> typed(pa.array(["3", "NA", "12"])).to_pylist()
    [3, None, 12]
    >>> typed(pa.array(["3", "012"])).to_pylist()
    ['3', '012']
    """
    texts = _without_missing(distinct, spelling)
    if texts.null_count == len(texts):
        return pa.nulls(len(texts))
    found = _of_one_type(texts, _parsers(spelling))
    if found is None or _may_be_thousands(found, texts, spelling):
        return texts
    return found


def typed_as(
    distinct: pa.Array, values: ColumnValues, spelling: Spelling = PLAIN
) -> pa.Array | NDArray[Any]:
    """Return distinct texts as values of the kinds that a column has, those that can be.

    Others stay texts: values that the column does not have. Where there are some, the answer is an
    array of Python objects.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> numbers = ColumnValues(np.array([1.0, 2.5]), has_missing=False)
    >>> typed_as(pa.array(["2", "x"]), numbers)
    array([2, 'x'], dtype=object)
    >>> names = ColumnValues(np.array(["1", "x"], dtype=object), has_missing=False)
    >>> typed_as(pa.array(["1", "2"]), names).to_pylist()
    ['1', '2']
    """
    kinds = {kind for kind, _ in keys_of(values.array)}
    if not kinds:
        return typed(distinct, spelling)
    texts = _without_missing(distinct, spelling)
    if kinds == {Kind.STRING} or texts.null_count == len(texts):
        return texts
    parsers = [parser for parser in _parsers(spelling) if parser.kind in kinds]
    found = _of_one_type(texts, parsers)
    return _of_any_type(texts, parsers) if found is None else found


def is_missing(texts: pa.Array, spelling: Spelling = PLAIN) -> pa.Array:
    """Tell which texts mean that a value is missing, with or without blanks around them."""
    words = pa.array(spelling.missing, texts.type)
    return pc.is_in(pc.utf8_trim_whitespace(texts), words)


def _without_missing(distinct: pa.Array, spelling: Spelling) -> pa.Array:
    return pc.if_else(is_missing(distinct, spelling), pa.scalar(None, distinct.type), distinct)


def _of_one_type(texts: pa.Array, parsers: Collection[Parser]) -> pa.Array | None:
    """Return values by the first parser that knows them all, None if none does."""
    few = [text.strip() for text in texts[:_FEW].to_pylist() if text is not None]
    for parser in parsers:
        if all(map(parser.may_know, few)):  # which rules out most
            found = parser.parse(texts)
            if found.null_count == texts.null_count:
                return found
    return None


def _of_any_type(texts: pa.Array, parsers: Collection[Parser]) -> NDArray[Any]:
    """Return each value by the first parser that knows it, and texts that none knows."""
    mixed = object_array(texts.to_pylist(), len(texts))
    for parser in reversed(list(parsers)):
        found = parser.parse(texts)
        known = found.is_valid().to_numpy(zero_copy_only=False)
        mixed[known] = object_array(found.to_pylist(), len(found))[known]
    return mixed


def _may_be_thousands(found: pa.Array, texts: pa.Array, spelling: Spelling) -> bool:
    """Tell whether each comma in numbers may part thousands as well as decimals."""
    if spelling.decimal is not None or not pa.types.is_floating(found.type):
        return False
    texts = pc.utf8_trim_whitespace(texts.drop_null())
    with_comma = texts.filter(pc.match_substring(texts, ","))
    if not len(with_comma):
        return False
    return bool(pc.all(pc.match_substring_regex(with_comma, _THOUSANDS)).as_py())


# --- parsers -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parser:
    """Makes values of texts.

    Attributes
    ----------
    kind
        Of the values.
    pattern
        What such texts look like.
    convert
        The function from texts that do to values, null where there is none.
    """

    kind: Kind
    pattern: str
    convert: Callable[[pa.Array], pa.Array]

    def parse(self, texts: pa.Array) -> pa.Array:
        """Return the values of texts, with blanks around them or not; null where they are none."""
        trimmed = pc.utf8_trim_whitespace(texts)
        matches = pc.match_substring_regex(trimmed, self.pattern)
        return self.convert(pc.if_else(matches, trimmed, pa.scalar(None, texts.type)))

    def may_know(self, text: str) -> bool:
        """Tell whether a text looks like a value."""
        return re.search(self.pattern, text) is not None


def _cast(texts: pa.Array, to: Any) -> pa.Array:
    """Return texts as another type, null where they have no such value."""
    try:
        return pc.cast(texts, to)
    except pa.ArrowInvalid:
        if len(texts) == 1:
            return pa.nulls(1, to)
        half = len(texts) // 2
        return pa.concat_arrays([_cast(texts[:half], to), _cast(texts[half:], to)])


def _whole_numbers(texts: pa.Array) -> pa.Array:
    return _cast(_without_plus(texts), pa.int64())


def _with_point(texts: pa.Array) -> pa.Array:
    numbers = _cast(_without_plus(texts), pa.float64())
    too_large = pc.and_(pc.is_inf(numbers), pc.match_substring_regex(texts, "[0-9]"))
    return pc.if_else(too_large, pa.scalar(None, pa.float64()), numbers)


def _with_comma(texts: pa.Array) -> pa.Array:
    return _with_point(pc.replace_substring(texts, ",", "."))


def _without_plus(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, r"^\+", "")


def _booleans(texts: pa.Array) -> pa.Array:
    return _cast(texts, pa.bool_())


def _dates(texts: pa.Array) -> pa.Array:
    return _cast(texts, pa.date32())


def _times(texts: pa.Array) -> pa.Array:
    days = pc.binary_join_element_wise("1970-01-01", texts, " ")
    return _cast(days, pa.timestamp("s")).cast(pa.time32("s"))


def _datetimes(texts: pa.Array) -> pa.Array:
    return _timestamps(texts, None)


def _instants(texts: pa.Array) -> pa.Array:
    return _timestamps(texts, "UTC")


def _timestamps(texts: pa.Array, zone: str | None) -> pa.Array:
    """Return date-times in the coarsest unit that holds them: finer ones hold fewer years."""
    for unit, fraction in ("s", r"\."), ("us", r"\.[0-9]{7}"):
        if not pc.any(pc.match_substring_regex(texts, fraction)).as_py():
            return _cast(texts, pa.timestamp(unit, zone))
    return _cast(texts, pa.timestamp("ns", zone))


_WHOLE = r"^[+-]?(?:0|[1-9][0-9]{0,18})$"
# No number with more digits before the point is sure to have a float of its own.
_FLOAT = (
    r"^[+-]?(?:(?:(?:0|[1-9][0-9]{0,14})(?:%s[0-9]*)?|%s[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|(?i:inf|infinity))$"
)
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)?"
_ZONE = r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"

_PARSERS = (
    Parser(Kind.NUMBER, _WHOLE, _whole_numbers),
    Parser(Kind.BOOL, "^(?:true|True|TRUE|false|False|FALSE)$", _booleans),
    Parser(Kind.DATE, f"^{_DAY}$", _dates),
    Parser(Kind.TIME, "^[0-9]{2}:[0-9]{2}(?::[0-9]{2})?$", _times),
    Parser(Kind.DATETIME, f"^{_DAY}(?:[ T]{_CLOCK})?$", _datetimes),
    Parser(Kind.INSTANT, f"^{_DAY}[ T]{_CLOCK}{_ZONE}$", _instants),
)
_POINT = Parser(Kind.NUMBER, _FLOAT % (r"\.", r"\."), _with_point)
_COMMA = Parser(Kind.NUMBER, _FLOAT % (",", ","), _with_comma)


def _parsers(spelling: Spelling) -> tuple[Parser, ...]:
    """Return all parsers but that of texts."""
    fractions = {".": (_POINT,), ",": (_COMMA,), None: (_POINT, _COMMA)}
    return (*_PARSERS, *fractions[spelling.decimal])
