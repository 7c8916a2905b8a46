"""The rules: what one column is, and what will be done with it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from softmodes._prepare.columns import Column, as_texts
from softmodes._prepare.options import (
    Options,
    as_text,
    n_bands_of,
    n_top_of,
    separator_in,
)
from softmodes._prepare.several import parts_of, separator_of

Action: TypeAlias = Literal["use", "leave out", "band", "split", "lump"]

IGNORE_MISSING, COUNT_MISSING = "--missing ignore", "--missing category"
N_BANDS, N_TOP = 5, 49
MOST_NUMBERS, MOST_VALUES = 20, 50
ENOUGH_ROWS = 20  # with fewer, that all values differ tells nothing
_ONE_VALUE = 0.995
_MOSTLY = 0.5
_MANY_WORDS = 4
_NA_WORDS = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "<NA>", "")
_WEIGHT_NAME = re.compile(r"(^|[^a-z])(\w*weights?|wts?|wgts?|gewicht|poids|peso)\d*($|[^a-z])")


@dataclass(frozen=True)
class Reason:
    """Why something is done with a column.

    Attributes
    ----------
    sort
        Reasons of one sort are told in one line where there are many.
    why
        The reason, as it is told of one column.
    of_many
        The same of many columns; None where a line for each is to be read.
    option
        What has it done differently.
    """

    sort: str
    why: str
    of_many: str | None
    option: str


@dataclass(frozen=True)
class Verdict:
    """What is done with a column: its kind, an action, the treatment and the reason."""

    kind: str
    action: Action
    treatment: str
    reason: Reason
    checks: tuple[Reason, ...] = ()


def judge(column: Column, number: int, options: Options) -> Verdict:
    """Return what to do with a column, by the user's wishes and by the rules."""
    wished = _wished(column, number, options)
    if wished is not None:
        return wished
    kept = number in options.keep
    for rule in _USES if kept else (*_LEAVES_OUT_FIRST, *_RULES):
        verdict = rule(column, options)
        if verdict is not None:
            found = verdict
            break
    else:
        found = _used(column, "category")
    if kept:
        reason = replace(found.reason, why=f"{found.reason.why}, as asked")
        found = replace(found, reason=reason)
    return found if found.action == "leave out" else replace(found, checks=_checks(column, options))


def option_for(name: str, column: str, treatment: str = "") -> str:
    """Return a command-line option about a column, quoted as a shell needs it."""
    return f"--{name} {shlex.quote(column + (f'={treatment}' if treatment else ''))}"


# --- wishes --------------------------------------------------------------------------------------

_ROLES = {
    "id": ("id", "carried along, not clustered"),
    "weight": ("weight", "weighs the rows"),
    "describe": ("described", "shown by group, not clustered"),
    "drop": ("dropped", "as asked"),
}


def _wished(column: Column, number: int, options: Options) -> Verdict | None:
    if number in options.roles:
        kind, why = _ROLES[options.roles[number]]
        return Verdict(kind, "leave out", "text", Reason(kind, why, None, ""))
    treatment = options.treatments.get(number)
    if options.only is not None and number not in options.only and treatment is None:
        return Verdict("dropped", "leave out", "text", _not_among_only())
    return None if treatment is None else _treated(column, treatment, options)


def _not_among_only() -> Reason:
    return Reason("only", "not among those asked for", "{n} columns are not asked for", "")


def _treated(column: Column, treatment: str, options: Options) -> Verdict:
    if as_text(treatment):
        return Verdict("text", "leave out", treatment, Reason("asked", "text, as asked", None, ""))
    n_bands, n_top, separator = (
        n_bands_of(treatment),
        n_top_of(treatment),
        separator_in(treatment),
    )
    if n_bands is not None:
        found = _banded(column, n_bands)
    elif separator is not None:
        found = _split(column, separator)
    elif n_top is not None:
        found = _lumped(column, n_top)
    else:
        found = _used(column, "category")
    reason = replace(found.reason, why=f"{found.reason.why}, as asked", of_many=None, option="")
    return replace(found, reason=reason, checks=_checks(column, options))


# --- rules that leave a column out ---------------------------------------------------------------


def _empty(column: Column, options: Options) -> Verdict | None:
    if column.n_observed:
        return None
    return _left_out(column, "empty", "no value in any row", "{n} columns have no value in any row")


def _constant(column: Column, options: Options) -> Verdict | None:
    counts = column.counts if options.missing == "ignore" else [*column.counts, column.n_missing]
    share = max(counts) / max(1, sum(counts))
    if share <= _ONE_VALUE:
        return None
    where = "all rows" if share == 1 else f"{percent(share, 1)} of rows"
    return _left_out(
        column,
        "constant",
        f"one value in {where}",
        "{n} columns have one value in (nearly) all rows",
    )


def _weights(column: Column, options: Options) -> Verdict | None:
    scale = column.scale
    if scale is None or scale.name != "decimal" or len(column.values) <= MOST_NUMBERS:
        return None
    numbers = scale.at.astype(float)
    if not (np.isfinite(numbers).all() and numbers.min() > 0):
        return None
    off = abs(float(np.average(numbers, weights=column.counts)) - 1)
    named = _WEIGHT_NAME.search(column.name.lower()) is not None
    if off > (0.5 if named else 0.005):
        return None
    why = f"{len(column.values):,} numbers; looks like survey weights"
    option = option_for("weight", column.name)
    return Verdict("weight", "leave out", "text", Reason("weight", why, None, option))


def _id(column: Column, options: Options) -> Verdict | None:
    n_values = len(column.values)
    enough = n_values >= ENOUGH_ROWS and n_values > _MOSTLY * column.n_rows
    if not enough or n_values < column.n_observed:
        return None
    scale = column.scale
    numbered = scale is not None and scale.name != "decimal"
    one_word = column.texts is not None and not any(" " in text for text in column.texts)
    if not numbered and not one_word:
        return None
    return _left_out(
        column,
        "id",
        "every row has another value: an id",
        "{n} columns have another value in every row: ids",
    )


def _text(column: Column, options: Options) -> Verdict | None:
    """Find free text; long answers out of a list repeat, and stay categories."""
    texts, n_values = column.texts, len(column.values)
    if texts is None or column.scale is not None:
        return None
    mostly_different = n_values > _MOSTLY * column.n_observed
    if mostly_different and n_values >= ENOUGH_ROWS:
        why = f"{n_values:,} texts, most of them different: free text"
        return _left_out(column, "text", why, "{n} columns hold free text")
    if not mostly_different and n_values <= MOST_VALUES:
        return None
    words = np.fromiter((len(text.split()) for text in texts), np.float64, n_values)
    mean = float(np.average(words, weights=column.counts))
    if mean <= _MANY_WORDS:
        return None
    why = f"texts of {mean:.0f} words on average: free text"
    return _left_out(column, "text", why, "{n} columns hold free text")


def _left_out(column: Column, kind: str, why: str, of_many: str) -> Verdict:
    option = option_for("keep", column.name)
    return Verdict(kind, "leave out", "text", Reason(kind, why, of_many, option))


# --- rules that use it ---------------------------------------------------------------------------


def _several(column: Column, options: Options) -> Verdict | None:
    if column.texts is None or column.scale is not None:
        return None
    separator = separator_of(column.texts, column.counts)
    return None if separator is None else _split(column, separator)


def _numbers(column: Column, options: Options) -> Verdict | None:
    scale = column.scale
    if scale is None or len(column.values) <= MOST_NUMBERS:
        return None
    return _banded(column, N_BANDS)


def _many_values(column: Column, options: Options) -> Verdict | None:
    return None if len(column.values) <= MOST_VALUES else _lumped(column, N_TOP)


def _split(column: Column, separator: str) -> Verdict:
    parts = {part for text in as_texts(column.values) for part in parts_of(text, separator)}
    why = f"several answers -> {min(len(parts), MOST_VALUES)} yes/no columns that weigh as one"
    many = "{n} columns hold several answers -> yes/no columns, each weighing as one column"
    option = option_for("as", column.name, "category")
    reason = Reason("several", why, many, option)
    return Verdict("several answers", "split", f"multi:{separator}", reason)


def _banded(column: Column, n_bands: int) -> Verdict:
    scale, n = column.scale, len(column.values)
    what = "dates" if scale is not None and scale.name == "date" else "numbers"
    why = f"{n:,} {what} -> {n_bands} bands of equal size"
    many = f"{{n}} columns of {what} -> {n_bands} bands of equal size each"
    option = option_for("as", column.name, "category")
    return Verdict(what, "band", f"bands:{n_bands}", Reason(f"bands of {what}", why, many, option))


def _lumped(column: Column, n_top: int) -> Verdict:
    why = f"{len(column.values):,} values -> top {n_top} + other"
    many = f"{{n}} columns have over {n_top + 1} values -> top {n_top} + other each"
    option = option_for("as", column.name, "category")
    return Verdict("category", "lump", f"top:{n_top}", Reason("many values", why, many, option))


def _used(column: Column, treatment: str) -> Verdict:
    n = len(column.values)
    kind = "yes/no" if n == 2 else "category"
    why = f"{n:,} value{'' if n == 1 else 's'}"
    option = option_for("drop", column.name)
    return Verdict(kind, "use", treatment, Reason("use", why, None, option))


Rule: TypeAlias = Callable[[Column, Options], Verdict | None]
_LEAVES_OUT_FIRST: tuple[Rule, ...] = (_empty, _constant, _weights)
_RULES: tuple[Rule, ...] = (_several, _id, _numbers, _text, _many_values)
_USES: tuple[Rule, ...] = (_several, _numbers, _many_values)


# --- what to look at -----------------------------------------------------------------------------


def _checks(column: Column, options: Options) -> tuple[Reason, ...]:
    found = []
    if column.n_missing > _MOSTLY * column.n_rows and len(column.values) > 1:
        found.append(_mostly_missing(column.n_missing / column.n_rows, options))
    known = set(column.texts or (v for v in column.values.tolist() if isinstance(v, str)))
    for word in _NA_WORDS:
        if word in known:
            n_cells = int(column.counts[[value == word for value in column.values.tolist()]].sum())
            why = f'"{word}" in {n_cells:,} cells looks like missing'
            many = f'{{n}} columns hold "{word}", which looks like missing'
            found.append(Reason(f"na {word}", why, many, f"--na {shlex.quote(word)}"))
    return tuple(found)


def _mostly_missing(share: float, options: Options) -> Reason:
    why = f"{percent(share)} missing: asked of few"
    return about_missing(
        "mostly missing", why, "{n} columns are mostly missing: asked of few", options
    )


def about_missing(sort: str, why: str, of_many: str, options: Options) -> Reason:
    """Return a remark on missing cells, with what would make of them what they are not yet."""
    if options.missing == "ignore":
        ignored = "; such cells are ignored"
        return Reason(sort, why + ignored, of_many + ignored, COUNT_MISSING)
    return Reason(sort, why, of_many, IGNORE_MISSING)


def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent, as in "30 %"; only all of something is 100 %."""
    shown = f"{100 * share:.{digits}f}"
    if share < 1 and float(shown) == 100:
        return "over " + ("99.9" if digits else "99") + " %"
    return f"{shown} %"
