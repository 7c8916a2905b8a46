"""Weights as whole numbers of a small unit, so that sums are exact in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from softmodes._table.parts import shared_weights

_LARGEST_TOTAL = 1 << 62
_PARTS = 1 << 16  # of a row that is shared among clusters
_LARGEST_FEATURE_WEIGHT = 65535
_MOST_REPEATS = 1 << 40  # a float of this size has 12 bits behind the point
_MANTISSA_BITS = 53
_HALF_BITS = 27  # of a mantissa: 2**20 halves add up exactly in a float
_SUMMED_AT_ONCE = 1 << 20
_NO_BITS = -(1 << 20)  # less than any weight has behind the binary point


@dataclass(frozen=True, eq=False)
class Units:
    """Weights in units: `counts * unit` are the weights. None stands for all ones.

    `repeats` tells whether weights stand for repeated rows: all are whole numbers as they were
    given, up to a size below which fractions could not become whole by being scaled.
    """

    counts: NDArray[Any] | None
    unit: float
    repeats: bool = True

    @property
    def total(self) -> int:
        """Sum of the counts."""
        return 0 if self.counts is None else int(self.counts.sum())


def in_weights(counts: Any, unit: float) -> Any:
    """Return counts of units as weights: left whole where a unit is 1."""
    return counts if unit == 1.0 else counts * unit


@dataclass(frozen=True)
class RowUnit:
    """The unit 2**-exponent of the weights of all rows, in whatever parts these come."""

    exponent: int
    repeats: bool

    @property
    def size(self) -> float:
        """The unit itself."""
        return 2.0**-self.exponent

    def counts(self, weight: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return weights of some rows in units."""
        return np.rint(np.ldexp(weight, self.exponent)).astype(np.int64)


@dataclass(frozen=True)
class WeightFacts:
    """What the unit of weights follows from; facts of parts add up to those of the whole.

    Attributes
    ----------
    n_rows
        Number of weights.
    total
        Their exact sum, which does not depend on the order of rows.
    fraction_bits
        How many bits stand behind the binary point of the finest weight.
    largest
        The largest weight.
    are_whole
        Whether all are whole numbers.

    Examples
    --------
    >>> facts = [WeightFacts.of(np.array(some)) for some in ([0.5, 1.0], [0.75])]
    >>> (facts[0] + facts[1]).unit(largest_distance=10)
    RowUnit(exponent=2, repeats=False)
    """

    n_rows: int = 0
    total: Fraction = Fraction(0)
    fraction_bits: int = _NO_BITS
    largest: float = 0.0
    are_whole: bool = True

    @classmethod
    def of(cls, weight: NDArray[np.float64]) -> Self:
        """Return the facts of some weights, which are finite and not negative."""
        largest = float(weight.max(initial=0.0))
        are_whole = bool((weight == np.rint(weight)).all())
        return cls(
            n_rows=len(weight),
            total=_exact_sum(weight, are_whole and len(weight) * largest < 1 << _MANTISSA_BITS),
            fraction_bits=_fraction_bits(weight),
            largest=largest,
            are_whole=are_whole,
        )

    def __add__(self, other: WeightFacts) -> WeightFacts:
        return WeightFacts(
            n_rows=self.n_rows + other.n_rows,
            total=self.total + other.total,
            fraction_bits=max(self.fraction_bits, other.fraction_bits),
            largest=max(self.largest, other.largest),
            are_whole=self.are_whole and other.are_whole,
        )

    def unit(self, largest_distance: int) -> RowUnit:
        """Return the unit: the smallest power of two that makes all whole.

        Where no such power fits, the largest with which the total cost stays below 2^62, and so
        does the sum of the weights in parts of 2^-16.
        """
        _check_sum("sample_weight", self.largest, self.n_rows)
        limit = _LARGEST_TOTAL / max(_PARTS, largest_distance)
        exponent = _exponent(self.fraction_bits, float(self.total), limit)
        return RowUnit(exponent, self.are_whole and self.largest <= _MOST_REPEATS)


def row_units(sample_weight: Any, n_rows: int, largest_distance: int) -> Units:
    """Scale `sample_weight` to int64: by the smallest power of two that makes all whole.

    Where no such power fits, by the largest with which the total cost stays below 2^62, and so does
    the sum of the weights in parts of 2^-16; the weights are then rounded, to a unit of less than
    n_rows * 2^-45 of their mean for all but extreme tables.
    """
    if sample_weight is None:
        return Units(None, 1.0)
    weight = checked_weights(sample_weight, n_rows)
    unit = WeightFacts.of(weight).unit(largest_distance)
    return Units(unit.counts(weight), unit.size, unit.repeats)


def checked_weights(sample_weight: Any, n_rows: int, first_row: int = 0) -> NDArray[np.float64]:
    """Return the weights of some rows, from `first_row` on, as numbers; refuse what is none."""
    return _checked("sample_weight", sample_weight, n_rows, "rows", first_row)


def feature_units(feature_weight: Any, names: Sequence[str] | None, n_features: int) -> Units:
    """Scale `feature_weight` (a sequence, a mapping of names, or "parts") to at most 65535."""
    if feature_weight is None:
        return Units(None, 1.0)
    if isinstance(feature_weight, str):
        feature_weight = _of_parts(feature_weight, names)
    named = as_mapping(feature_weight)
    if named is not None:
        feature_weight = _by_name(named, names)
    weight = _checked("feature_weight", feature_weight, n_features, "features")
    _check_sum("feature_weight", float(weight.max()), n_features)
    limit = most_feature_weight(n_features)
    exponent = _exponent(_fraction_bits(weight), float(weight.max()), float(limit))
    counts = np.rint(np.ldexp(weight, exponent)).astype(np.uint32)
    lost = np.flatnonzero((weight > 0) & (counts == 0))
    if len(lost):
        raise ValueError(
            f"feature_weight[{lost[0]}]={weight[lost[0]]:g} is too small beside the largest, "
            f"{weight.max():g}: weights are kept to 16 bits. Pass 0, or weights whose ratio is at "
            f"most {limit}."
        )
    return Units(counts, 2.0**-exponent)


def most_feature_weight(n_features: int) -> int:
    """Return the largest weight of a feature, in units: the distances fit in 32 bits."""
    return min(_LARGEST_FEATURE_WEIGHT, (2**32 - 2) // n_features)


def check_costs(rows: Units, features: Units, largest_distance: int, n_rows: int) -> None:
    """Refuse weights of rows and features whose products are no numbers between 0 and infinity."""
    unit = rows.unit * features.unit
    most = (n_rows if rows.counts is None else rows.total) * largest_distance
    if unit == 0.0:
        raise ValueError(
            "sample_weight times feature_weight underflows: costs would be counted in units of "
            f"{rows.unit:g} * {features.unit:g}, which is 0. Multiply one by a large number."
        )
    if most * unit == np.inf:
        raise ValueError(
            f"sample_weight times feature_weight overflows: costs of up to {most:g} units of "
            f"{rows.unit:g} * {features.unit:g} are infinite. Divide one by a large number."
        )


def as_mapping(feature_weight: Any) -> Mapping[Any, Any] | None:
    """Return weights by column name, from a mapping or a Series with names for its index."""
    if isinstance(feature_weight, Mapping):
        return feature_weight
    if not hasattr(feature_weight, "to_dict"):
        return None
    named: dict[Any, Any] = feature_weight.to_dict()
    return named if all(isinstance(key, str) for key in named) else None


def _checked(name: str, given: Any, n: int, of_what: str, first: int = 0) -> NDArray[np.float64]:
    try:
        weight = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from error
    if weight.ndim != 1 or len(weight) != n:
        raise ValueError(
            f"{name} has shape {weight.shape}, but there are {n} {of_what}. "
            f"Pass one number for each; {name}.shape == ({n},) is expected."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        worst = int(np.argmax(~np.isfinite(weight) | (weight < 0)))
        raise ValueError(
            f"{name}[{first + worst}] is {weight[worst]}. Weights must be finite and not negative."
        )
    return weight


def _check_sum(name: str, largest: float, n: int) -> None:
    if n and largest > np.finfo(np.float64).max / n:
        raise ValueError(f"The sum of {name} may overflow. Divide the weights by a large number.")
    if not largest:
        raise ValueError(f"{name} is zero everywhere. At least one weight must be positive.")


def _exponent(fraction_bits: int, size: float, limit: float) -> int:
    """Return the power of two to scale by: the least that makes all whole, within the limit."""
    largest = int(np.floor(np.log2(limit) - np.log2(size)))
    return min(max(0, fraction_bits), largest)


def _exact_sum(weight: NDArray[np.float64], in_float: bool) -> Fraction:
    """Return the sum of weights without rounding; `in_float`, if a float holds it anyway."""
    if in_float:
        return Fraction(float(weight.sum()))
    total = Fraction(0)
    for start in range(0, len(weight), _SUMMED_AT_ONCE):
        mantissa, exponent = np.frexp(weight[start : start + _SUMMED_AT_ONCE])
        whole = np.ldexp(mantissa, _MANTISSA_BITS).astype(np.int64)
        lowest = int(exponent.min())
        for shift, half in ((0, whole % (1 << _HALF_BITS)), (_HALF_BITS, whole >> _HALF_BITS)):
            sums = np.bincount(exponent - lowest, half)
            for i in np.flatnonzero(sums).tolist():
                size = Fraction(2) ** (i + lowest + shift - _MANTISSA_BITS)
                total += int(sums[i]) * size
    return total


def _fraction_bits(weight: NDArray[np.float64]) -> int:
    """Return how many bits stand behind the binary point of the finest weight."""
    mantissa, exponent = np.frexp(weight[weight > 0])
    whole = np.ldexp(mantissa, _MANTISSA_BITS).astype(np.int64)
    _, trailing = np.frexp((whole & -whole).astype(np.float64))
    return int((_MANTISSA_BITS - exponent - (trailing - 1)).max(initial=_NO_BITS))


def _of_parts(feature_weight: str, names: Sequence[str] | None) -> list[float]:
    if feature_weight != "parts":
        raise ValueError(
            f"feature_weight={feature_weight!r} is not known. Pass 'parts', a number for each "
            "column, or a mapping of column names."
        )
    if names is None:
        raise ValueError(
            "feature_weight='parts' goes by names such as 'media[radio]', but the columns of X "
            "have no names. Pass a data frame, or a sequence with one weight per column."
        )
    return shared_weights(names)


def _by_name(feature_weight: Mapping[Any, Any], names: Sequence[str] | None) -> list[Any]:
    if names is None:
        raise ValueError(
            "feature_weight is a mapping of column names, but the columns of X have no names. "
            "Pass a sequence with one weight per column."
        )
    unknown = [name for name in feature_weight if name not in names]
    if unknown:
        raise ValueError(f"feature_weight names unknown columns: {unknown}. X has {list(names)}.")
    return [feature_weight.get(name, 1.0) for name in names]
