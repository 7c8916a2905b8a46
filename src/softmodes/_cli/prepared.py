"""From a file to rows that can be clustered: read it, ask for advice, follow it, say so."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from softmodes._cli.options import Columns, ReadingOptions, names_in, treatments_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from softmodes._estimators.base import ModesEstimator
    from softmodes._prepare import Advice, Prepare
    from softmodes._sources import Source
    from softmodes._table.codebook import Missing


@dataclass(frozen=True, eq=False)
class FileRows:
    """The rows of a file as they were read, and how."""

    table: Any  # of Arrow
    told: tuple[str, ...]
    renamed: Mapping[str, str]  # columns whose name another one had, and that name

    def named(self, given: Sequence[str] | None) -> list[str] | None:
        """Return the columns that an option names, all of those that had one name in the file."""
        names = names_in(given, self.table.column_names)
        if names is None:
            return None
        return [*names, *(new for new, old in self.renamed.items() if old in names)]

    def told_with(self, advice: Advice) -> str:
        """Return what was read and how, and what is done with the columns."""
        _, *lines = advice.to_text().splitlines()  # the first is told of the file
        return "\n".join((*self.told, *lines))


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows that can be clustered, and the preparation that made them so."""

    rows: FileRows
    preparation: Prepare
    table: Any  # of Arrow
    sample_weight: NDArray[np.float64] | None

    @property
    def missing(self) -> Missing:
        """What the clustering does with cells that are missing."""
        from softmodes._table.codebook import checked_missing

        return checked_missing(self.preparation.missing)

    @property
    def feature_weight(self) -> dict[str, float] | None:
        """The weights of the columns; None where all are equal."""
        weights = self.preparation.feature_weight_
        return weights if len(set(weights.values())) > 1 else None

    @property
    def told(self) -> str:
        """What was read, and what is done with its columns."""
        return self.rows.told_with(self.preparation.advice_)

    @property
    def names(self) -> list[str]:
        """The columns that are clustered by."""
        names: list[str] = self.table.column_names
        return names


def open_file(file: str, reading: ReadingOptions, name: str = "file") -> Source:
    """Open a file, or files, for reading; `name` is what errors call it."""
    from softmodes._sources.paths import open_path

    sheet = reading.sheet
    return open_path(
        file,
        name=name,
        delimiter=reading.delimiter,
        encoding=reading.encoding,
        header=reading.header,
        na=reading.na or (),
        decimal=reading.decimal,
        sheet=int(sheet) if sheet is not None and sheet.isdecimal() else sheet,
    )


def read_rows(
    file: str, reading: ReadingOptions, as_text: Collection[str] = (), name: str = "file"
) -> FileRows:
    """Read a file; columns of `as_text` are texts, whatever they look like.

    `name` is what errors call the file.
    """
    from softmodes._sources.whole import read_whole

    source = open_file(file, reading, name)
    table = read_whole(source, as_text)
    return FileRows(table, source.told, source.renamed)


def advice_for(rows: FileRows, columns: Columns, reading: ReadingOptions) -> Advice:
    """Return what the columns hold, and what will be done with them."""
    return _advised(rows, columns, reading)[0]


def prepared(rows: FileRows, columns: Columns, reading: ReadingOptions) -> Prepared:
    """Follow the advice about the columns of a file; refuse one of which nothing is left."""
    from softmodes._prepare import Prepare

    _check_rows(rows)
    advice, wishes = _advised(rows, columns, reading)
    if not advice.used:
        print(rows.told_with(advice), file=sys.stderr)
        raise ValueError("No column is left to use. Pass some with --keep, or another file.")
    preparation = Prepare(**wishes).fit(rows.table)
    return Prepared(
        rows,
        preparation,
        preparation.transform(rows.table),
        preparation.sample_weight(rows.table),
    )


def _check_rows(rows: FileRows) -> None:
    """Refuse a file of column names alone."""
    if not rows.table.num_rows:
        raise ValueError(
            f"The file has {rows.table.num_columns:,} columns and no rows. "
            "Pass one with a line for each case."
        )


def _advised(
    rows: FileRows, columns: Columns, reading: ReadingOptions
) -> tuple[Advice, dict[str, Any]]:
    """Return the advice, and the parameters of `Prepare` that it was asked for with."""
    from softmodes._prepare import advise

    wishes = _wishes(rows, columns, reading)
    missing = columns.missing
    if missing is None:
        first = advise(rows.table, **wishes)
        if first.missing == "category":
            return first, wishes
        missing = first.missing
    wishes |= {"missing": missing}
    return advise(rows.table, **wishes), wishes


def read_as_before(
    file: str, reading: ReadingOptions, model: ModesEstimator
) -> tuple[FileRows, Any]:
    """Read new rows and prepare them as those of a model's fit were.

    Columns are taken by name, and hold the kinds of values that they held at fit.
    """
    from softmodes._sources.whole import as_known, texts_among

    preparation, codebook = model.preparation_, model._clustering.codebook
    known = dict(zip(codebook.names or (), codebook.columns, strict=False))
    words = [] if preparation is None else [str(word) for word in preparation.na or ()]
    rows = read_rows(file, replace(reading, na=[*words, *(reading.na or ())]), texts_among(known))
    _check_rows(rows)
    if preparation is not None:
        return rows, as_known(preparation.transform(rows.table), known)
    check_lacking(list(known), rows.table.column_names)
    table = rows.table.select(list(known)) if known else rows.table
    return rows, as_known(table, known)


def check_lacking(wanted: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a file that lacks columns of a model."""
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise ValueError(f"The file lacks columns of the model: {lacking}. Pass one that has them.")


def _wishes(rows: FileRows, columns: Columns, reading: ReadingOptions) -> dict[str, Any]:
    """Return what the user wants done with columns, as parameters of `Prepare`."""
    names = rows.table.column_names
    by_name = {
        name: rows.named(getattr(columns, name))
        for name in ("drop", "only", "keep", "id", "describe")
    }
    treatments = treatments_in(columns.as_, names)
    if columns.raw:
        treatments = _as_they_are(names, columns, by_name, treatments)
    return by_name | {"weight": columns.weight, "as_": treatments, "na": reading.na}


def _as_they_are(
    names: list[str],
    columns: Columns,
    by_name: dict[str, list[str] | None],
    treatments: dict[str, str] | None,
) -> dict[str, str]:
    """Return the treatments of a table of which no advice is followed."""
    for option, given in (("--as", treatments), ("--keep", by_name["keep"])):
        if given:
            raise ValueError(
                f"--raw uses every column as it is, and {option} names some. Pass one of them."
            )
    no_features = {columns.weight, *(by_name["drop"] or ()), *(by_name["id"] or ())}
    no_features |= set(by_name["describe"] or ())
    used = names if by_name["only"] is None else by_name["only"]
    return dict.fromkeys((name for name in used if name not in no_features), "category")
