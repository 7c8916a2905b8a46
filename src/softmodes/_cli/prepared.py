"""From a file to rows that can be clustered: read it, ask for advice, follow it, say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from softmodes._cli.options import Columns, ReadingOptions, names_in, treatments_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from softmodes._estimators.base import ModesEstimator
    from softmodes._prepare import Advice, Prepare
    from softmodes._table.codebook import Missing


@dataclass(frozen=True, eq=False)
class FileRows:
    """The rows of a file as they were read, and how."""

    table: Any  # of Arrow
    told: tuple[str, ...]

    @property
    def read_as(self) -> str:
        """How the file was read, as part of a line."""
        return " ".join(line.rstrip(".") + "." for line in self.told).removesuffix(".")

    @property
    def described(self) -> str:
        """How large the table is, and how it was read."""
        read = f" {self.read_as}." if self.told else ""
        return f"{self.table.num_rows:,} rows, {self.table.num_columns:,} columns.{read}"


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
    def most_groups(self) -> int:
        """The most groups that can be looked for in parts of the rows."""
        from softmodes._model.parts import part_size

        return part_size(self.table.num_rows)

    @property
    def told(self) -> str:
        """What was read, and what is done with its columns."""
        return self.preparation.advice_.to_text(self.rows.read_as)


def read_rows(file: str, reading: ReadingOptions) -> FileRows:
    """Read a file."""
    from pathlib import Path

    from softmodes._cli.tables import read_table

    return FileRows(read_table(Path(file), []), ())


def advice_for(rows: FileRows, columns: Columns, reading: ReadingOptions) -> Advice:
    """Return what the columns hold, and what will be done with them."""
    from softmodes._prepare import advise

    wishes = _wishes(rows.table.column_names, columns, reading)
    if columns.missing is None:
        missing = advise(rows.table, **wishes).missing
        return advise(rows.table, **wishes, missing=missing)
    return advise(rows.table, **wishes, missing=columns.missing)


def prepared(rows: FileRows, columns: Columns, reading: ReadingOptions) -> Prepared:
    """Follow the advice about the columns of a file."""
    from softmodes._prepare import Prepare, advise

    wishes = _wishes(rows.table.column_names, columns, reading)
    missing = columns.missing or advise(rows.table, **wishes).missing
    preparation = Prepare(**wishes, missing=missing).fit(rows.table)
    return Prepared(
        rows,
        preparation,
        preparation.transform(rows.table),
        preparation.sample_weight(rows.table),
    )


def prepared_as_before(rows: FileRows, model: ModesEstimator) -> Any:
    """Prepare new rows as those of a model's fit were; without a preparation, take its columns."""
    preparation = model.preparation_
    if preparation is not None:
        return preparation.transform(rows.table)
    names = list(getattr(model, "feature_names_in_", ()))
    lacking = [name for name in names if name not in rows.table.column_names]
    if lacking:
        raise ValueError(f"The file lacks columns of the model: {lacking}. Pass one that has them.")
    return rows.table.select(names) if names else rows.table


def _wishes(names: list[str], columns: Columns, reading: ReadingOptions) -> dict[str, Any]:
    """Return what the user wants done with columns, as parameters of `Prepare`."""
    by_name = {
        name: names_in(getattr(columns, name), names)
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
