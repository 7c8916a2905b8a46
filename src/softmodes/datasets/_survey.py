"""A survey as surveys are: planted groups of people, and all that stands in the way of them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes._parameters import RandomState, check_most, choice, generator, share, whole
from softmodes._table.frames import frame_of

Cells: TypeAlias = NDArray[Any]

_REGIONS = ("north", "east", "south", "west", "centre", "coast", "islands", "capital")
_ANSWERS = {  # parts of the questions with several answers
    "media": ("radio", "television", "newspaper", "podcast", "video", "none of these"),
    "devices": ("phone", "laptop", "tablet", "watch", "console"),
    "reasons": ("price", "quality", "habit", "friends", "adverts", "near my home", "other"),
}
_WORDS = ("I", "would", "like", "more", "less", "time", "choice", "and", "the", "shops", "help")
_NO_ANSWER = 0.06
_ASKED = {"C": 0.2, "J": 0.7}  # share of the people that are asked a block of questions


def make_survey(
    n_samples: int = 5800,
    n_clusters: int = 4,
    *,
    clarity: float = 0.5,
    na_word: str | None = "NA",
    backend: str | None = None,
    random_state: RandomState = None,
) -> tuple[Any, NDArray[np.int64]]:
    """Draw a survey of 119 columns with planted groups and the usual obstacles.

    Columns that tell the group: A1 to A20 (of A1 to A40, agreement from 1 to 5), U1 to U12 (of U1
    to U25, yes or no), J1 to J6 (of J1 to J12, asked of 70 %), media and devices (of three with
    several answers, separated by ";"), and age a little. All others do not: RespId (an id), weight
    (survey weights), consent (one value), income (numbers), region and region_code (the same),
    started (dates), comment (text, mostly missing), reasons, M1 to M16 (3 to 8 values), C1 to C14
    (asked of 20 %). Who is asked C and J does not depend on the group, and 6 % of the answers of
    all others are missing at random.

    Parameters
    ----------
    n_samples : int, default=5800
        Number of people.
    n_clusters : int, default=4
        Number of planted groups, of sizes that fall by a fifth from one to the next.
    clarity : float, default=0.5
        Probability that a telling cell holds its group's answer; others are drawn at random.
    na_word : str or None, default="NA"
        What stands in a cell without an answer, as files have it; the columns with such cells are
        texts then. None leaves these cells missing.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame; by default pandas, or pyarrow where pandas is not installed.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int gives the same table on every call.

    Returns
    -------
    X : data frame of shape (n_samples, 119)
    y : ndarray of int64, shape (n_samples,)
        The planted group of every row.

    Examples
    --------
    >>> from softmodes.datasets import make_survey
    >>> X, y = make_survey(300, backend="pyarrow", random_state=0)
    >>> X.shape, y.shape
    ((300, 119), (300,))
    """
    n = whole("n_samples", n_samples, 1)
    k = whole("n_clusters", n_clusters, 1)
    check_most("n_clusters", k, "n_samples", n)
    backend = choice("backend", backend, (None, "pandas", "polars", "pyarrow"))
    rng = generator(random_state)
    sizes = 0.8 ** np.arange(k)
    y = rng.choice(k, n, p=sizes / sizes.sum()).astype(np.int64)
    draw = _Draw(rng, y, k, share("clarity", clarity))
    columns = _people(draw) | _questions(draw)
    never = {"RespId", "weight", "consent", "started"}
    filled = {name: _with_gaps(name, cells, draw, never) for name, cells in columns.items()}
    return frame_of({name: _shown(c, na_word) for name, c in filled.items()}, backend), y


class _Draw:
    """Answers of people in groups, each group with its own."""

    def __init__(self, rng: np.random.Generator, y: Cells, k: int, clarity: float) -> None:
        self.rng, self.y, self.k, self.clarity = rng, y, k, clarity
        self.asked = {block: rng.random(len(y)) < part for block, part in _ASKED.items()}

    def answers(self, n_values: int, tells: bool) -> Cells:
        """Return an answer for each person, from 0."""
        n = len(self.y)
        popular = self.rng.dirichlet(np.full(n_values, 3.0))
        found = self.rng.choice(n_values, n, p=popular)
        if not tells:
            return found
        own = self.rng.permutation(np.arange(self.k) + self.rng.integers(n_values)) % n_values
        return np.where(self.rng.random(n) < self.clarity, own[self.y], found)

    def several(self, parts: tuple[str, ...], tells: bool) -> Cells:
        """Return some of the parts for each person, at least one."""
        ticked = np.stack([self.answers(2, tells) for _ in parts], axis=1)
        ticked[np.arange(len(ticked)), self.rng.integers(len(parts), size=len(ticked))] = 1
        joined = (";".join(p for p, on in zip(parts, row, strict=True) if on) for row in ticked)
        return np.fromiter(joined, dtype=object, count=len(ticked))


def _people(draw: _Draw) -> dict[str, Cells]:
    rng, n = draw.rng, len(draw.y)
    weight = rng.lognormal(0, 0.4, n)
    region = rng.integers(len(_REGIONS), size=n)
    start = np.datetime64("2024-03-01") + rng.integers(0, 60, n)
    comments = [" ".join(rng.choice(_WORDS, 9)) + f" {i}" for i in range(n)]
    comment = np.array(comments, dtype=object)
    comment[rng.random(n) < 0.8] = None
    return {
        "RespId": 100_001 + rng.permutation(n),
        "weight": (weight / weight.mean()).round(4),
        "consent": np.full(n, "yes", dtype=object),
        "started": start.astype(str).astype(object),
        "age": np.clip(rng.normal(38 + 6 * (draw.y % 4), 13, n), 18, 90).astype(np.int64),
        "income": (rng.lognormal(10, 0.5, n) / 100).astype(np.int64) * 100,
        "region": np.array(_REGIONS, dtype=object)[region],
        "region_code": region + 1,
        "comment": comment,
    }


def _questions(draw: _Draw) -> dict[str, Cells]:
    yes_no = np.array(["no", "yes"], dtype=object)
    found: dict[str, Cells] = {f"A{i}": draw.answers(5, i <= 20) + 1 for i in range(1, 41)}
    found |= {f"U{i}": yes_no[draw.answers(2, i <= 12)] for i in range(1, 26)}
    found |= {name: draw.several(p, name != "reasons") for name, p in _ANSWERS.items()}
    found |= {f"C{i}": draw.answers(4, tells=False) + 1 for i in range(1, 15)}
    found |= {f"J{i}": draw.answers(4, i <= 6) + 1 for i in range(1, 13)}
    found |= {f"M{i}": draw.answers(3 + i % 6, tells=False) + 1 for i in range(1, 17)}
    return found


def _with_gaps(name: str, cells: Cells, draw: _Draw, never: set[str]) -> Cells:
    if name in never:
        return cells
    cells = cells.astype(object)
    # The two columns of the region are one answer.
    gaps = draw.rng.random(len(cells)) < _NO_ANSWER if not name.startswith("region") else False
    block = draw.asked.get(name[0]) if name[1:].isdigit() else None
    cells[gaps | (False if block is None else ~block)] = None
    return cells


def _shown(cells: Cells, na_word: str | None) -> list[Any]:
    values: list[Any] = cells.tolist()
    if na_word is None or None not in values:
        return values
    return [na_word if value is None else str(value) for value in values]
