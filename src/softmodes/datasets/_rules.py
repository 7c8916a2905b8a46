"""The two tables that are nothing but a rule: Tic-Tac-Toe and Nursery."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes.datasets._columns import Column

CROSS, NOUGHT, BLANK = range(3)
SQUARES = (
    "top-left", "top-middle", "top-right",
    "middle-left", "middle-middle", "middle-right",
    "bottom-left", "bottom-middle", "bottom-right",
)  # fmt: skip
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

NURSERY = {
    "parents": ("usual", "pretentious", "great_pret"),
    "has_nurs": ("proper", "less_proper", "improper", "critical", "very_crit"),
    "form": ("complete", "completed", "incomplete", "foster"),
    "children": ("1", "2", "3", "more"),
    "housing": ("convenient", "less_conv", "critical"),
    "finance": ("convenient", "inconv"),
    "social": ("nonprob", "slightly_prob", "problematic"),
    "health": ("recommended", "priority", "not_recom"),
}
RANKS = ("not_recom", "recommend", "very_recom", "priority", "spec_prior")
NOT_RECOM, RECOMMEND, VERY_RECOM, PRIORITY, SPEC_PRIOR = range(5)
EMPLOY = np.array([[0, 1, 1, 2, 3], [1, 1, 2, 3, 3], [2, 2, 3, 3, 3]])
STRUCTURE = np.array([[0, 1, 2, 2], [1, 1, 2, 2], [1, 2, 2, 2], [2, 2, 2, 2]])


def tic_tac_toe() -> list[Column]:
    """Return every board on which a game can end, x moving first, and whether x has won.

    The order is the published one: boards that x won, that o won, drawn ones; within each, x
    before o before blank, square by square.
    """
    boards = _product([3] * 9)
    n_x, n_o = (boards == CROSS).sum(axis=1), (boards == NOUGHT).sum(axis=1)
    x_line, o_line = _has_line(boards == CROSS), _has_line(boards == NOUGHT)
    x_won = x_line & ~o_line & (n_x == n_o + 1)
    o_won = o_line & ~x_line & (n_x == n_o)
    drawn = ~x_line & ~o_line & (n_x == 5) & (n_o == 4)
    order = np.concatenate([np.flatnonzero(ended) for ended in (x_won, o_won, drawn)])
    target = Column("class", ("negative", "positive"), x_won[order].astype(np.uint8))
    squares = zip(SQUARES, boards[order].T, strict=True)
    return [*(Column(name, ("x", "o", "b"), codes) for name, codes in squares), target]


def nursery() -> list[Column]:
    """Return every combination of the eight attributes, last one fastest, and its rank."""
    codes = _product([len(values) for values in NURSERY.values()])
    columns = zip(NURSERY.items(), codes.T, strict=True)
    target = Column("class", RANKS, _rank(*codes.T))
    return [*(Column(name, values, column) for (name, values), column in columns), target]


def _rank(
    parents: NDArray[np.uint8],
    has_nurs: NDArray[np.uint8],
    form: NDArray[np.uint8],
    children: NDArray[np.uint8],
    housing: NDArray[np.uint8],
    finance: NDArray[np.uint8],
    social: NDArray[np.uint8],
    health: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Return the rank of an application, by the hierarchical model behind the table."""
    employ = EMPLOY[parents, has_nurs]
    home = np.select([housing == 2, (housing == 0) & (finance == 0)], [2, 0], default=1)
    burden = STRUCTURE[form, children] + home
    standing = 1 * (burden > 0) + (burden > 2)
    concern = np.where((health == 0) & (social != 2), 0, 1)
    good = (concern == 0) & (employ <= 1) & (standing <= 1)
    return np.select(
        [
            health == 2,
            good & (employ + standing == 0),
            good,
            employ + standing + concern >= 5,
        ],
        [NOT_RECOM, RECOMMEND, VERY_RECOM, SPEC_PRIOR],
        default=PRIORITY,
    ).astype(np.uint8)


def _has_line(taken: NDArray[np.bool_]) -> NDArray[np.bool_]:
    complete = np.logical_and.reduce(taken[:, np.array(LINES)], axis=2)
    return np.asarray(np.logical_or.reduce(complete, axis=1), dtype=np.bool_)


def _product(sizes: list[int]) -> NDArray[Any]:
    """Return all rows of codes below `sizes`, in lexicographic order."""
    return np.indices(sizes, dtype=np.uint8).reshape(len(sizes), -1).T
