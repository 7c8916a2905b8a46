"""`softmodes fit`: clusters the rows of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from softmodes._cli.errors import plain_errors
from softmodes._cli.tables import read_table
from softmodes._files import checked_target, write_whole
from softmodes._text import harmless


def fit(
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file, a row for each case.")],
    n_clusters: Annotated[int, typer.Option("-k", "--n-clusters", help="Number of clusters.")],
    t: Annotated[
        str, typer.Option(help="Sharpness of the rounding: a number from 1 up to inf, or auto.")
    ] = "auto",
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out, such as an identifier.")
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Empty cells: category, ignore or error.")
    ] = "category",
    init: Annotated[
        str,
        typer.Option(help="First centers: d1-greedy, d1-parallel, d1, random, huang or cao."),
    ] = "d1-greedy",
    n_init: Annotated[
        str, typer.Option(help="Restarts, of which the best is kept: a number, or auto.")
    ] = "auto",
    refine: Annotated[
        str, typer.Option(help="What follows the rounds: latent, gini or none.")
    ] = "latent",
    seed: Annotated[int, typer.Option(help="Same seed, same answer.")] = 0,
    out: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="A .csv file to write the cluster of every row to."),
    ] = None,
) -> None:
    """Cluster the rows of a file; print the size of each cluster and what marks it."""
    from softmodes._parameters import check_seed  # NumPy, which help does not need

    with plain_errors(TypeError):
        check_seed(seed, "seed")
        if out is not None:
            _check_out(out, file)
        table = read_table(file, drop or [])
        from softmodes._estimators import SoftModes

        texts: dict[str, Any] = {
            "t": _number_or_text(t),
            "missing": missing,
            "init": init,
            "n_init": int(n_init) if n_init.removeprefix("-").isdecimal() else n_init,
            "refine": None if refine.lower() == "none" else refine,
        }
        model = SoftModes(n_clusters, **texts, random_state=seed)
        print(model.fit(table).summary())
        if out is not None:
            _write_labels(model.labels_, out)
            print(harmless(f"The cluster of every row is in {out}"))


def _number_or_text(given: str) -> float | str:
    """Return a number, or what was given instead: the estimator knows what it may be."""
    try:
        return float(given)
    except ValueError:
        return given


def _check_out(out: str, file: Path) -> None:
    """Refuse a place where labels cannot be written, or would take the place of the table."""
    checked_target(out, name="out")
    if os.path.exists(out) and file.exists() and os.path.samefile(out, file):
        raise ValueError(f"out={out!r} is the table itself. Pass another file for the labels.")


def _write_labels(labels: Any, path: str) -> None:
    lines = ["cluster", *map(str, labels.tolist()), ""]
    write_whole(path, "\n".join(lines).encode(), name="out")
