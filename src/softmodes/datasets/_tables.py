"""Categorical tables without a download: five of the UCI Machine Learning Repository, a survey."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._parameters import choice
from softmodes.datasets import _rules
from softmodes.datasets._columns import (
    Column,
    Value,
    digits,
    letters,
    numbers,
    read_description,
    read_lines,
)

if TYPE_CHECKING:
    from sklearn.utils import Bunch

AsFrame: TypeAlias = bool | Literal["auto"]

ANIMALS = ("mammal", "bird", "reptile", "fish", "amphibian", "insect", "invertebrate")
OUTCOMES = ("win", "loss", "draw")
_LEANINGS = (
    *("extremely liberal", "liberal", "slightly liberal", "moderate"),
    *("slightly conservative", "conservative", "extremely conservative"),
)
_INCOMES = (  # where each step begins, in dollars
    *(0, 3_000, 5_000, 7_000, 9_000, 10_000, 11_000, 12_000, 13_000, 14_000, 15_000, 17_000),
    *(20_000, 22_000, 25_000, 30_000, 35_000, 40_000, 45_000, 50_000, 60_000, 75_000, 90_000),
)
ANES96_WORDS: dict[str, tuple[str, dict[str, str]]] = {  # new names and words of columns
    "selfLR": ("self", dict(zip("1234567", _LEANINGS, strict=True))),
    "ClinLR": ("clinton", dict(zip("1234567", _LEANINGS, strict=True))),
    "DoleLR": ("dole", dict(zip("1234567", _LEANINGS, strict=True))),
    "PID": (
        "party",
        {
            "0": "strong Democrat",
            "1": "weak Democrat",
            "2": "independent, rather Democrat",
            "3": "independent",
            "4": "independent, rather Republican",
            "5": "weak Republican",
            "6": "strong Republican",
        },
    ),
    "educ": (
        "education",
        {
            "1": "8 grades or less",
            "2": "some high school",
            "3": "high school",
            "4": "some college",
            "5": "college degree",
            "6": "master's degree",
            "7": "PhD",
        },
    ),
    "income": (
        "income",
        {
            **{
                chr(ord("B") + i): f"${least:,}-{most - 1:,}"
                for i, (least, most) in enumerate(pairwise((*_INCOMES, 105_000)))
            },
            "Y": "$105,000 or more",
        },
    ),
    "vote": ("vote", {"0": "Clinton", "1": "Dole"}),
}


def load_zoo(*, return_X_y: bool = False, as_frame: AsFrame = "auto") -> Bunch | tuple[Any, Any]:
    """Load the Zoo table: 101 animals, 16 attributes, 7 classes.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool or "auto", default="auto"
        Whether data and target are pandas objects; "auto" does so where pandas is installed.

    Returns
    -------
    Bunch or (data, target)
        Fields `data`, `target`, `frame` (both together, or None), `feature_names`,
        `target_values` (the classes as in `target`, here 1 to 7), `target_names` (a readable
        name for each of them), `DESCR` (origin, licence, meaning) and `names`, the animals.

    Examples
    --------
    >>> from softmodes.datasets import load_zoo
    >>> zoo = load_zoo()
    >>> zoo.data.shape, zoo.names[0], zoo.target_names[zoo.target[0] - 1]
    ((101, 16), 'aardvark', 'mammal')
    """
    lines = read_lines("zoo")
    names = np.array(lines.pop("name").split(","), dtype=object)
    columns = [digits(name, cells) for name, cells in lines.items()]
    classes = range(1, 8), ANIMALS
    return _deliver("zoo", columns, classes, return_X_y, as_frame, names=names)


def load_mushroom(
    *,
    missing: Literal["value", "null"] = "value",
    return_X_y: bool = False,
    as_frame: AsFrame = "auto",
) -> Bunch | tuple[Any, Any]:
    """Load the Mushroom table: 8,124 mushrooms, 22 attributes, edible or poisonous.

    Parameters
    ----------
    missing : {"value", "null"}, default="value"
        What the 2,480 cells "?" of stalk-root become: the value "?", or None (which pandas
        shows as NaN).
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool or "auto", default="auto"
        Whether data and target are pandas objects; "auto" does so where pandas is installed.

    Returns
    -------
    Bunch or (data, target)
        Fields `data`, `target`, `frame` (both together, or None), `feature_names`,
        `target_values` (the classes as in `target`, here "e" and "p"), `target_names` (a
        readable name for each of them) and `DESCR` (origin, licence, meaning).

    Examples
    --------
    >>> from softmodes.datasets import load_mushroom
    >>> X, y = load_mushroom(missing="null", return_X_y=True, as_frame=True)
    >>> X.shape, int(X["stalk-root"].isna().sum()), int((y == "e").sum())
    ((8124, 22), 2480, 4208)
    """
    choice("missing", missing, ("value", "null"))
    replace: dict[str, Value] = {"?": None} if missing == "null" else {}
    columns = [letters(name, cells, replace) for name, cells in read_lines("mushroom").items()]
    classes = ("e", "p"), ("edible", "poisonous")
    return _deliver("mushroom", columns, classes, return_X_y, as_frame)


def load_nursery(
    *, return_X_y: bool = False, as_frame: AsFrame = "auto"
) -> Bunch | tuple[Any, Any]:
    """Load the Nursery table: 12,960 applications, 8 attributes, 5 ranks.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool or "auto", default="auto"
        Whether data and target are pandas objects; "auto" does so where pandas is installed.

    Returns
    -------
    Bunch or (data, target)
        Fields `data`, `target`, `frame` (both together, or None), `feature_names`,
        `target_values` and `target_names` (the classes) and `DESCR` (origin, licence, meaning).

    Examples
    --------
    >>> from softmodes.datasets import load_nursery
    >>> nursery = load_nursery(as_frame=False)
    >>> nursery.data.shape, nursery.target[0]
    ((12960, 8), 'recommend')
    """
    classes = _rules.RANKS, _rules.RANKS
    return _deliver("nursery", _rules.nursery(), classes, return_X_y, as_frame)


def load_tic_tac_toe(
    *, return_X_y: bool = False, as_frame: AsFrame = "auto"
) -> Bunch | tuple[Any, Any]:
    """Load the Tic-Tac-Toe table: 958 final boards, 9 squares, won by x or not.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool or "auto", default="auto"
        Whether data and target are pandas objects; "auto" does so where pandas is installed.

    Returns
    -------
    Bunch or (data, target)
        Fields `data`, `target`, `frame` (both together, or None), `feature_names`,
        `target_values` and `target_names` (the classes) and `DESCR` (origin, licence, meaning).

    Examples
    --------
    >>> from softmodes.datasets import load_tic_tac_toe
    >>> X, y = load_tic_tac_toe(return_X_y=True, as_frame=False)
    >>> print(X[0].reshape(3, 3), y[0])
    [['x' 'x' 'x']
     ['x' 'o' 'o']
     ['x' 'o' 'o']] positive
    """
    classes = ("positive", "negative"), ("positive", "negative")
    return _deliver("tic-tac-toe", _rules.tic_tac_toe(), classes, return_X_y, as_frame)


def load_connect4(
    *, return_X_y: bool = False, as_frame: AsFrame = "auto"
) -> Bunch | tuple[Any, Any]:
    """Load the Connect-4 table: 67,557 boards after eight moves, 42 squares, 3 outcomes.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool or "auto", default="auto"
        Whether data and target are pandas objects; "auto" does so where pandas is installed.

    Returns
    -------
    Bunch or (data, target)
        Fields `data`, `target`, `frame` (both together, or None), `feature_names`,
        `target_values` and `target_names` (the classes) and `DESCR` (origin, licence, meaning).

    Examples
    --------
    >>> from softmodes.datasets import load_connect4
    >>> connect4 = load_connect4(as_frame=False)
    >>> connect4.data.shape, connect4.target_names
    ((67557, 42), ['win', 'loss', 'draw'])
    """
    *squares, (target, cells) = read_lines("connect-4").items()
    words: dict[str, Value] = {word[0]: word for word in OUTCOMES}
    columns = [letters(name, column) for name, column in squares]
    columns.append(letters(target, cells, words))
    return _deliver("connect-4", columns, (OUTCOMES, OUTCOMES), return_X_y, as_frame)


def load_anes96(*, return_X_y: bool = False, as_frame: AsFrame = "auto") -> Bunch | tuple[Any, Any]:
    """Load a part of the American National Election Study of 1996: 944 people, 9 answers, a vote.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool or "auto", default="auto"
        Whether data and target are pandas objects; "auto" does so where pandas is installed.

    Returns
    -------
    Bunch or (data, target)
        Fields `data`, `target` (whom they expected to vote for), `frame` (both together, or None),
        `feature_names`, `target_values` and `target_names` (the classes) and `DESCR` (origin,
        licence, meaning).

    Examples
    --------
    >>> from softmodes.datasets import load_anes96
    >>> survey = load_anes96(as_frame=False)
    >>> survey.data.shape, survey.feature_names[:3], survey.data[0, 4]
    ((944, 9), ['population', 'tv_news', 'self'], 'conservative')
    """
    lines = read_lines("anes96")
    columns = [
        numbers("population", lines.pop("popul")),
        digits("tv_news", lines.pop("TVnews")),
        *(_in_words(name, lines.pop(name)) for name in ("selfLR", "ClinLR", "DoleLR", "PID")),
        numbers("age", lines.pop("age")),
        *(_in_words(name, cells) for name, cells in lines.items()),
    ]
    candidates = ("Clinton", "Dole")
    return _deliver("anes96", columns, (candidates, candidates), return_X_y, as_frame)


def _in_words(name: str, cells: str) -> Column:
    new_name, words = ANES96_WORDS[name]
    return letters(new_name, cells, dict(words))


def _deliver(
    table: str,
    columns: list[Column],
    classes: tuple[Sequence[Value], Sequence[str]],
    return_X_y: bool,
    as_frame: AsFrame,
    **more: NDArray[Any],
) -> Bunch | tuple[Any, Any]:
    """Return a table, whose last column is its target, the way the caller wants it."""
    features, target = [column.name for column in columns[:-1]], columns[-1].name
    if _wants_frame(as_frame):
        frame = _frame(columns)
        X, y = frame[features], frame[target]
    else:
        frame = None
        X, y = np.column_stack([c.to_numpy() for c in columns[:-1]]), columns[-1].to_numpy()
    if return_X_y:
        return X, y
    from sklearn.utils import Bunch

    return Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=features,
        target_values=list(classes[0]),
        target_names=list(classes[1]),
        DESCR=read_description(table),
        **more,
    )


def _wants_frame(as_frame: AsFrame) -> bool:
    choice("as_frame", as_frame, (True, False, "auto"))
    if as_frame is False:
        return False
    try:
        import_module("pandas")
    except ImportError as error:
        if as_frame == "auto":
            return False
        raise ImportError(
            "as_frame=True needs pandas. Install it with: pip install pandas, "
            "or pass as_frame=False for NumPy arrays."
        ) from error
    return True


def _frame(columns: list[Column]) -> Any:
    # Through Arrow, since pandas would look at every single string again.
    import pyarrow as pa

    return pa.table({column.name: column.to_arrow() for column in columns}).to_pandas()
