"""Steps: what is done with one column, learned from its values, kept as plain JSON values.

A step looks only at the distinct values of a column: each of its output columns has labels, and
for each value the place of its label.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._prepare.columns import Column, as_texts
from softmodes._prepare.cuts import Cuts, cut
from softmodes._prepare.options import n_bands_of, n_top_of, separator_in
from softmodes._prepare.rules import MOST_VALUES, N_TOP
from softmodes._prepare.scale import Scale, scale_of
from softmodes._prepare.several import parts_of
from softmodes._table.parts import part_name
from softmodes._text import short_repr

NO, YES = 0, 1


@dataclass(frozen=True, eq=False)
class Labels:
    """An output column: its labels, whether they have an order, and the label of each value."""

    labels: tuple[str, ...]
    places: NDArray[np.int64]
    ordered: bool = False


@dataclass(frozen=True)
class AsIs:
    """The column as it is."""

    def names(self, column: str) -> list[str]:
        """Return the names of the output columns."""
        return [column]

    def to_json(self) -> dict[str, Any]:
        """Return what `step_from_json` takes."""
        return {"do": "use"}


@dataclass(frozen=True)
class Band:
    """Numbers or dates in bands."""

    cuts: Cuts

    def names(self, column: str) -> list[str]:
        """Return the names of the output columns."""
        return [column]

    def labels(self, column: Column) -> list[Labels]:
        """Return the band of each value; a value that is no number is an error."""
        if len(column.values) == 0:
            return [Labels(self.cuts.labels, np.zeros(0, np.int64), ordered=True)]
        scale = scale_in(column)
        if (scale.name == "date") != (self.cuts.scale == "date"):
            was, now = _things(self.cuts.scale), _things(scale.name)
            raise ValueError(
                f"Column {column.name!r} held {was} at fit, and now holds {now}. Pass {was}."
            )
        return [Labels(self.cuts.labels, self.cuts.bands(scale.at), ordered=True)]

    def to_json(self) -> dict[str, Any]:
        """Return what `step_from_json` takes."""
        return {"do": "band", **self.cuts.to_json()}


@dataclass(frozen=True)
class Split:
    """Several answers in a cell: a yes/no column for each part, and maybe one for all others."""

    separator: str
    parts: tuple[str, ...]
    rest: str | None

    def names(self, column: str) -> list[str]:
        """Return the names of the output columns."""
        rest = () if self.rest is None else (self.rest,)
        return [part_name(column, part) for part in (*self.parts, *rest)]

    def labels(self, column: Column) -> list[Labels]:
        """Return for each part whether each value has it."""
        place = {part: i for i, part in enumerate(self.parts)}
        has = np.zeros((len(self.parts) + 1, len(column.values)), np.int64)
        for i, text in enumerate(as_texts(column.values)):
            for part in parts_of(text, self.separator):
                has[place.get(part, -1), i] = YES
        shown = has if self.rest is not None else has[:-1]
        return [Labels(("no", "yes"), one) for one in shown]

    def to_json(self) -> dict[str, Any]:
        """Return what `step_from_json` takes."""
        parts = list(self.parts)
        return {"do": "split", "separator": self.separator, "parts": parts, "rest": self.rest}


@dataclass(frozen=True)
class Lump:
    """The commonest values as text, and one for all others."""

    values: tuple[str, ...]
    other: str

    def names(self, column: str) -> list[str]:
        """Return the names of the output columns."""
        return [column]

    def labels(self, column: Column) -> list[Labels]:
        """Return the text of each value, or that for all others."""
        place = {text: i for i, text in enumerate(self.values)}
        last = len(place)
        places = [place.get(text, last) for text in as_texts(column.values)]
        return [Labels((*self.values, self.other), np.array(places, np.int64))]

    def to_json(self) -> dict[str, Any]:
        """Return what `step_from_json` takes."""
        return {"do": "lump", "values": list(self.values), "other": self.other}


Step: TypeAlias = AsIs | Band | Split | Lump


def learn_step(column: Column, treatment: str) -> Step:
    """Learn how to treat a column from its values."""
    n_bands, n_top = n_bands_of(treatment), n_top_of(treatment)
    separator = separator_in(treatment)
    if n_bands is not None:
        return Band(learn_cuts(column, n_bands))
    if separator is not None:
        return _learn_split(column, separator)
    if n_top is not None and len(column.values) > n_top:
        counts = Counter[str]()
        for text, count in zip(as_texts(column.values), column.counts.tolist(), strict=True):
            counts[text] += count
        top = _commonest(counts, n_top)
        return Lump(top, _free("other", top))
    return AsIs()


def learn_cuts(column: Column, n_bands: int) -> Cuts:
    """Learn where to cut a column of numbers or dates; one without values is not cut."""
    if len(column.values) == 0:
        return Cuts("decimal", ())
    return cut(scale_in(column), column.counts, n_bands)


def scale_in(column: Column) -> Scale:
    """Return the scale of a column's values, or an error that names one that is no number."""
    scale = column.scale
    if scale is None:
        raise ValueError(
            f"Column {column.name!r} holds {_odd_in(column)}, and bands are made of numbers or of "
            "dates. Name words that stand for missing in na, or use the column as a category."
        )
    return scale


def weights_in(column: Column) -> NDArray[np.float64]:
    """Return the weight that each value of a column is, or an error that names one that is none."""
    scale = column.scale
    if scale is None or scale.name == "date":
        shown = _odd_in(column) if scale is None else "dates"
        raise ValueError(
            f"weight={column.name!r} is a column that holds {shown}, and weights are numbers. Pass "
            "another column, or name words that stand for missing in na."
        )
    return scale.at.astype(np.float64)


def _odd_in(column: Column) -> str:
    """Return what keeps a column from being a scale: a value that is no number, or a mixture."""
    odd = next((v for v in column.values if scale_of(np.array([v], object)) is None), None)
    return "both numbers and dates" if odd is None else short_repr(odd)


def _learn_split(column: Column, separator: str) -> Split:
    counts = Counter[str]()
    for text, count in zip(as_texts(column.values), column.counts.tolist(), strict=True):
        for part in parts_of(text, separator):
            counts[part] += count
    if len(counts) <= MOST_VALUES:
        return Split(separator, tuple(sorted(counts)), None)
    top = _commonest(counts, N_TOP)
    return Split(separator, top, _free("other", top))


def _commonest(counts: Counter[str], n: int) -> tuple[str, ...]:
    """Return the commonest texts in alphabetical order; of equally common ones, the first."""
    ranked = sorted(counts, key=lambda text: (-counts[text], text))
    return tuple(sorted(ranked[:n]))


def _free(word: str, taken: tuple[str, ...]) -> str:
    while word in taken:
        word = f"any {word}"
    return word


def step_from_json(data: dict[str, Any]) -> Step:
    """Return the step that `to_json` wrote; ValueError for anything else."""
    do = data["do"]
    if do == "use":
        return AsIs()
    if do == "band":
        return Band(Cuts.from_json(data))
    if do == "split":
        rest = data["rest"]
        _require_texts([data["separator"], *([] if rest is None else [rest])])
        return Split(data["separator"], _texts(data["parts"]), rest)
    if do == "lump":
        _require_texts([data["other"]])
        return Lump(_texts(data["values"]), data["other"])
    raise ValueError(f"step {short_repr(do)} is not known")


def _things(scale: str) -> str:
    return "dates" if scale == "date" else "numbers"


def _texts(given: Any) -> tuple[str, ...]:
    if type(given) is not list or len(set(given)) < len(given):
        raise ValueError("values of a step are not a list of different texts")
    _require_texts(given)
    return tuple(given)


def _require_texts(given: list[Any]) -> None:
    if not all(type(text) is str and text for text in given):
        raise ValueError("a step has an empty text, or something else instead of one")
