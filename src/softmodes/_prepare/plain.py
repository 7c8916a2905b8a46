"""A preparation as plain values that JSON can hold, and back, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

from softmodes._prepare.advice import Advice, Line
from softmodes._prepare.rules import Reason, Verdict
from softmodes._prepare.steps import Step, step_from_json
from softmodes._table.read import FRAME_BACKENDS
from softmodes._text import short_repr

VERSION = 1
_ACTIONS = ("use", "leave out", "band", "split", "lump")
_BROKEN = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of columns as JSON can hold them."""
    return {name: _plain(name, value) for name, value in params.items()}


def _plain(name: str, value: Any) -> Any:
    if value is None or isinstance(value, str):
        return str(value) if isinstance(value, str) else None
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(name, one) for key, one in value.items()}
    if isinstance(value, Iterable):
        return [_plain(name, one) for one in value]
    raise ValueError(f"{name}={short_repr(value)} cannot be saved. Pass names, words or numbers.")


def preparation_of(
    params: dict[str, Any],
    names: Sequence[str] | None,
    n_features: int,
    steps: Mapping[int, Step],
    advice: Advice,
) -> dict[str, Any]:
    """Return a fitted preparation as plain values."""
    return {
        "version": VERSION,
        "params": params,
        "names": None if names is None else list(names),
        "n_features": n_features,
        "steps": [{"column": j, **step.to_json()} for j, step in steps.items()],
        "advice": {
            "n_rows": advice.n_rows,
            "na": list(advice.na),
            "n_na": advice.n_na,
            "backend": advice.backend,
            "lines": list(map(_plain_line, advice.lines)),
        },
    }


def _plain_line(line: Line) -> dict[str, Any]:
    plain = asdict(line)
    plain["verdict"]["checks"] = list(plain["verdict"]["checks"])
    return plain


def preparation_from(
    data: Mapping[str, Any],
) -> tuple[dict[str, Any], list[str] | None, int, dict[int, Step], Advice]:
    """Return params, names, number of features, steps and advice of what `preparation_of` wrote."""
    try:
        if data["version"] != VERSION:
            raise ValueError(f"version {data['version']!r} is not {VERSION}: update softmodes")
        n_features, names = _whole(data["n_features"]), data["names"]
        if names is not None:
            _require(_are_texts(names) and len(set(names)) == n_features, "names")
        advice = _advice(data["advice"])
        _require(len(advice.lines) == n_features, "the lines of the advice")
        _require(names in (None, [line.column for line in advice.lines]), "names")
        steps = {_whole(step["column"]): step_from_json(step) for step in data["steps"]}
        used = [j for j, line in enumerate(advice.lines) if line.used]
        _require(list(steps) == used and len(data["steps"]) == len(used) > 0, "the steps")
        params = data["params"]
        _require(type(params) is dict, "params")
        return params, names, n_features, steps, advice
    except _BROKEN as error:
        raise ValueError(f"This is not a preparation: {error}.") from error


def _advice(data: Mapping[str, Any]) -> Advice:
    lines = tuple(map(_line, data["lines"]))
    backend = data["backend"]
    _require(backend in (None, *FRAME_BACKENDS), "backend")
    return Advice(lines, _whole(data["n_rows"]), tuple(data["na"]), _whole(data["n_na"]), backend)


def _line(data: Mapping[str, Any]) -> Line:
    verdict = data["verdict"]
    made = Verdict(
        _text(verdict["kind"]),
        verdict["action"],
        _text(verdict["treatment"]),
        _reason(verdict["reason"]),
        tuple(map(_reason, verdict["checks"])),
    )
    _require(made.action in _ACTIONS, "an action")
    missing = data["missing"]
    _require(isinstance(missing, int | float) and 0 <= missing <= 1, "missing")
    return Line(_text(data["column"]), made, _whole(data["n_values"]), float(missing))


def _reason(data: Mapping[str, Any]) -> Reason:
    many = data["of_many"]
    return Reason(
        _text(data["sort"]),
        _text(data["why"]),
        None if many is None else _text(many),
        _text(data["option"]),
    )


def _are_texts(given: Any) -> bool:
    return type(given) is list and all(type(one) is str for one in given)


def _text(given: Any) -> str:
    _require(type(given) is str, "a text")
    return str(given)


def _whole(given: Any) -> int:
    _require(type(given) is int and given >= 0, "a number")
    return int(given)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} cannot be right")
