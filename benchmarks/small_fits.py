"""Whole default fits of tables of all shapes with n d k up to 2e7, and which ones are slow.

    python -m benchmarks.small_fits
    python -m benchmarks.small_fits --share 1
    python -m benchmarks.small_fits --shapes 10000x4x5:500:noise 1000x20x5:1000:distinct

Rows, columns and clusters go from one to the most that the product allows, a column has from 2 to
5,000 values, and rows are noise, planted groups, constant, all distinct or heavily repeated; some
tables have missing cells, some are strings in a frame. All combinations are listed, and a share of
them is fitted, the same one each time. A shape is rows x columns x values : clusters : kind, and
may end in "+missing" and "+strings".
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.machine import describe_machine, in_words
from benchmarks.tables import markdown, write_results
from benchmarks.timing import Timing, measure
from softmodes import SoftModes

MOST = 2 * 10**7  # comparisons of cells in a round
MOST_CELLS = 2 * 10**7
ROWS = (10, 60, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (1, 4, 20, 200, 3_000, 30_000, 200_000)
VALUES = (2, 5, 30, 300, 5_000)
KINDS = ("noise", "planted", "constant", "distinct", "repeated")
DRESSES = ("", "+missing", "+strings", "+missing+strings")
LONGEST = 10  # shapes that are shown


@dataclass(frozen=True)
class Shape:
    """A table to be made, and the number of clusters to be found in it."""

    n: int
    d: int
    values: int
    k: int
    kind: str
    missing: bool = False
    strings: bool = False

    def __str__(self) -> str:
        dress = "+missing" * self.missing + "+strings" * self.strings
        return f"{self.n}x{self.d}x{self.values}:{self.k}:{self.kind}{dress}"

    @classmethod
    def of(cls, text: str) -> Shape:
        found = re.fullmatch(r"(\d+)x(\d+)x(\d+):(\d+):(\w+)((?:\+\w+)*)", text)
        if found is None or found[5] not in KINDS:
            raise ValueError(f"{text!r} is no shape. An example: 1000x20x5:10:noise+missing")
        n, d, values, k = map(int, found.groups()[:4])
        return cls(n, d, values, k, found[5], "+missing" in found[6], "+strings" in found[6])


def all_shapes() -> Iterator[Shape]:
    """Yield every combination that the limits allow."""
    for n, d in product(ROWS, COLUMNS):
        if n * d > MOST_CELLS:
            continue
        most = min(n, MOST // (n * d))
        for k in sorted({1, 2, round(most**0.5), most}):
            if k > most:
                continue
            for values, kind, dress in product(VALUES, KINDS, DRESSES):
                if values > 10 * n or (kind == "constant" and values > 2):
                    continue
                yield Shape(n, d, values, k, kind, "missing" in dress, "strings" in dress)


def make(shape: Shape) -> NDArray[np.int32] | pd.DataFrame:
    """Return the table of a shape."""
    rng = np.random.default_rng(0)
    codes = _codes(shape, rng)
    gone = rng.random(codes.shape, np.float32) < 0.1 if shape.missing else None
    if not shape.strings:
        if gone is None:
            return codes
        return np.where(gone, np.float32(np.nan), codes.astype(np.float32))
    names = np.array([f"value {v}" for v in range(int(codes.max()) + 1)], dtype=object)
    table = names[codes]
    if gone is not None:
        table[gone] = None
    return pd.DataFrame(table, columns=[f"c{j}" for j in range(shape.d)], dtype="str")


def _codes(shape: Shape, rng: np.random.Generator) -> NDArray[np.int32]:
    size = shape.n, shape.d
    if shape.kind == "constant":
        return np.zeros(size, np.int32)
    if shape.kind == "noise":
        return _noise(rng, shape.values, size)
    if shape.kind == "repeated":  # of rows that are all far apart
        few = _noise(rng, shape.values, (max(2, min(shape.n // 10, 2 * shape.k)), shape.d))
        return few[rng.integers(0, len(few), shape.n)]
    if shape.kind == "distinct":  # the row's number, in digits, then noise
        codes = _noise(rng, shape.values, size)
        number = np.arange(shape.n)
        for j in range(shape.d):
            if not number.any():
                break
            codes[:, j] = number % shape.values
            number = number // shape.values
        return codes
    centers = _noise(rng, shape.values, (shape.k, shape.d))
    codes = centers[rng.integers(0, shape.k, shape.n)]
    noisy = rng.random(size, np.float32) < 0.3
    codes[noisy] = _noise(rng, shape.values, (int(noisy.sum()),))
    return codes


def _noise(rng: np.random.Generator, values: int, size: tuple[int, ...]) -> NDArray[np.int32]:
    return rng.integers(0, values, size, dtype=np.int32)


def fit_seconds(shape: Shape, threads: int, repeats: int) -> dict[str, Any]:
    """Fit a shape; one that takes long is fitted again, for the least time."""
    table = make(shape)
    rounds = 0

    def fit() -> None:  # keeps no model: the next fit would have to do with other memory
        nonlocal rounds
        rounds = SoftModes(shape.k, n_jobs=threads, random_state=0).fit(table).n_iter_

    best = measure(fit)
    for _ in range(repeats - 1):
        if best.wall < 0.7:
            break
        best = best.least(measure(fit))
    return asdict(shape) | {"shape": str(shape), "rounds": rounds, **vars(best)}


def chosen_shapes(options: argparse.Namespace) -> list[Shape]:
    if options.shapes:
        return [Shape.of(text) for text in options.shapes]
    listed = list(all_shapes())
    n = max(1, round(options.share * len(listed)))
    return sorted(random.Random(options.seed).sample(listed, n), key=str)


def report(found: dict[str, Any]) -> str:
    slowest = sorted(found["fits"], key=lambda fit: -fit["wall"])[:LONGEST]
    over, busy = (sum(fit[time] > 1 for fit in found["fits"]) for time in ("wall", "cpu"))
    rows = [
        [fit["shape"], str(fit["rounds"]), str(Timing(fit["wall"], fit["cpu"]))] for fit in slowest
    ]
    return (
        f"{len(found['fits'])} of {found['listed']} shapes of n d k up to 2e7 were fitted with the "
        f"defaults and {found['threads']} threads; {over} took over a second, {busy} over a second "
        f"of CPU time. The slowest, as rows x columns x values : clusters : kind. "
        f"{in_words(found['machine'])}\n\n"
        f"{markdown(['shape', 'rounds of the best run', 'wall (CPU)'], rows)}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--share", type=float, default=0.05, help="of all shapes that are fitted")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument("--shapes", nargs="+", help="these instead of a share")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks"), help="a folder")
    options = parser.parse_args(arguments)
    fits = []
    for shape in chosen_shapes(options):
        print(shape, end=": ", flush=True)
        fits.append(fit_seconds(shape, options.threads, options.repeats))
        slow = "   OVER A SECOND" if fits[-1]["wall"] > 1 else ""
        print(Timing(fits[-1]["wall"], fits[-1]["cpu"]), slow, flush=True)
    found: dict[str, Any] = {"threads": options.threads, "fits": fits}
    found |= {"listed": sum(1 for _ in all_shapes()), "machine": describe_machine()}
    write_results(options.out, "small_fits", found, report(found))
    print(report(found))


if __name__ == "__main__":
    main()
