"""The report of a model: the public face."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from softmodes._choice.outcome import Sweep
from softmodes._estimators.base import ModesEstimator
from softmodes._files import AnyPath, checked_target, write_whole
from softmodes._model.profile import as_frame
from softmodes._prepare import Prepare
from softmodes._prepare.options import ColumnRefs
from softmodes._provenance import versions
from softmodes._report.data import ReportData, report_data
from softmodes._report.findings import with_origin
from softmodes._report.kept import findings_in, kept
from softmodes._report.origin import citation, python_code
from softmodes._report.page import html_of, require_jinja
from softmodes._report.rows import find
from softmodes._report.words import Words
from softmodes._text import short_repr


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What there is to tell of a model: a page to send, and every number of it as a frame.

    What `softmodes.report` returns. Printed, it is the headline and the verdict.

    Attributes
    ----------
    headline : str
        How many groups there are among how many rows.
    verdict : str
        "Solid", "Use with care", "Do not use", "No separate groups" or "No groups".
    sentence : str
        Why.

    Examples
    --------
    >>> import softmodes
    >>> from softmodes.datasets import load_zoo
    >>> X = load_zoo(as_frame=False).data
    >>> found = softmodes.sweep(X, random_state=0)
    >>> report = softmodes.report(found.model(), X, sweep=found)
    >>> report.headline, report.verdict
    ('5 groups among 101 rows', 'Solid')
    >>> sorted(report.frames())[:4]
    ['columns', 'confused', 'described', 'differences']
    """

    data: ReportData
    backend: str | None = None

    @property
    def headline(self) -> str:
        """How many groups there are among how many rows."""
        return self.data.headline

    @property
    def verdict(self) -> str:
        """How far the groups are to be trusted."""
        return self.data.verdict

    @property
    def sentence(self) -> str:
        """Why the verdict is as it is."""
        return self.data.sentence

    def to_html(self) -> str:
        """Return the page: one HTML document that needs no other file and no network.

        Returns
        -------
        str
        """
        return html_of(self.data)

    def save(self, path: AnyPath) -> None:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write, as in "report.html".
        """
        require_jinja()
        checked_target(path)
        write_whole(path, self.to_html().encode())

    @property
    def metadata(self) -> dict[str, Any]:
        """What the report needs of the rows, for `model.save(path, metadata=report.metadata)`.

        `softmodes.report(softmodes.load(path))` then needs no rows.
        """
        return kept(self.data.findings)

    def frames(self) -> dict[str, Any]:
        """Return everything that the page shows as frames of the kind that `fit` got, by name.

        groups, marks (what each group has more and less of), differences (from the nearest group),
        trust, sweep, importance, shares (of values, by group), map, margins, confused (pairs of
        groups), described, columns. Hidden numbers are missing.

        Returns
        -------
        dict of frames
        """
        return {name: as_frame(columns, self.backend) for name, columns in _tables(self.data)}

    def __repr__(self) -> str:
        return f"{self.headline}\n{self.verdict}. {self.sentence}"

    def _repr_html_(self) -> str:
        told = f"<b>{escape(self.verdict)}.</b> {escape(self.sentence)}"
        return f"<p><b>{escape(self.headline)}</b><br>{told}</p>"


def report(
    model: Any,
    X: Any = None,
    *,
    sweep: Sweep | bool | None = None,
    prepare: Prepare | None = None,
    describe: ColumnRefs = None,
    sample_weight: Any = None,
    small_cells: bool = False,
    title: str | None = None,
    rows: str = "rows",
    columns: str = "columns",
    source: str | None = None,
    read_as: str | None = None,
    command: str | None = None,
    model_file: str | None = None,
) -> Report:
    """Tell all about a fitted model: how many groups, whether to trust them, what marks each.

    Parameters
    ----------
    model : fitted SoftModes, KModes, MiniBatchSoftModes, or a Pipeline of Prepare and one of these
        What to report. A model of one group reports that there are none.
    X : table, optional
        The rows of the fit; with `prepare`, as they were before. Not needed for a model that was
        saved with `metadata=report.metadata` and loaded again.
    sweep : Sweep, bool or None, default=None
        What `softmodes.sweep` has found in these rows; None or True to sweep here, up to 20 groups;
        False not to, and to leave the number of groups undefended.
    prepare : Prepare, optional
        How the rows were made ready for the fit.
    describe : str or list of str, optional
        Columns of `X` that are shown by group; by default those of `prepare`.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows at fit; by default those of `prepare`.
    small_cells : bool, default=False
        Whether to show shares of fewer than 5 rows, which may tell who somebody is.
    title : str, optional
        What the page is called; by default the headline.
    rows, columns : str, default="rows" and "columns"
        What these are called, as in "people" and "questions".
    source, read_as, command, model_file : str, optional
        Where the rows came from, how they were read, the command that made the model, and the file
        that keeps it.

    Returns
    -------
    Report
        To print, to save as one HTML file, and as frames.

    Examples
    --------
    >>> import softmodes
    >>> from softmodes.datasets import make_ccm
    >>> X, y = make_ccm(600, 30, 3, eps=0.2, random_state=0)
    >>> model = softmodes.SoftModes(3, random_state=0).fit(X)
    >>> softmodes.report(model, X, rows="people", columns="questions")
    3 groups among 600 people
    Solid. The groups explain 28 % of the answers; ...
    """
    model, prepare = _taken_apart(model, prepare)
    check_is_fitted(model)
    found = model._clustering
    told = {"source": source, "read_as": read_as, "command": command, "model_file": model_file}
    if X is None:
        findings = with_origin(findings_in(found.metadata, len(found.centers)), told)
        prepare = model.preparation_
    else:
        findings = find(
            model,
            X,
            sweep=sweep,
            prepare=prepare,
            describe=describe,
            sample_weight=sample_weight,
            told=told,
        )
    data = report_data(
        found,
        findings,
        words=Words(rows, columns),
        title=title or "",
        small_cells=bool(small_cells),
        python=python_code(model, prepare, findings.origin.source),
        seed=short_repr(model.random_state),
        versions=tuple(f"{name} {number}" for name, number in versions().items()),
        citation=citation(),
    )
    return Report(data, found.backend)


def _taken_apart(model: Any, prepare: Prepare | None) -> tuple[ModesEstimator, Prepare | None]:
    """Return the estimator of a pipeline, and its preparation."""
    if isinstance(model, Pipeline):
        *before, (_, model) = model.steps
        if (
            prepare is not None
            or len(before) > 1
            or not all(isinstance(s, Prepare) for _, s in before)
        ):
            raise ValueError(
                f"model has the steps {[name for name, _ in before]} before its last. "
                "Pass a pipeline of a Prepare and a model, or the model with its rows."
            )
        prepare = before[0][1] if before else None
    if not isinstance(model, ModesEstimator):
        raise TypeError(
            f"model={short_repr(model)} is no model of this package. "
            "Pass a fitted SoftModes, KModes or MiniBatchSoftModes."
        )
    return model, prepare


# --- frames --------------------------------------------------------------------------------------


def _tables(data: ReportData) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the columns of each frame by its name."""
    plain = ("number", "name", "rows", "share", "found_again", "undecided", "nearest")
    yield "groups", _columns_of(data.groups, plain)
    yield "marks", _marks(data)
    differences = [(g.number, g.nearest, d) for g in data.groups for d in g.differences]
    yield (
        "differences",
        {
            "group": [group for group, _, _ in differences],
            "nearest": [nearest for _, nearest, _ in differences],
            **_columns_of([d for _, _, d in differences], ("column", "value", "share", "other")),
        },
    )
    yield "trust", _columns_of(data.questions, ("question", "measured", "answer", "meaning"))
    tried = () if data.swept is None else data.swept.tried
    yield "sweep", _columns_of(tried, _TRIED)
    yield "importance", _columns_of(data.importance, ("column", "importance"))
    yield "shares", _share_columns(data.values, data.n_groups)
    places = () if data.map is None else data.map.places
    yield "map", _columns_of(places, ("kind", "number", "text", "x", "y"))
    yield "margins", _columns_of(data.bins, ("least", "most", "rows"))
    yield "confused", _columns_of(data.confused, ("group", "other", "rows", "share"))
    described = [row for column in data.described for row in column.values]
    yield "described", _share_columns(described, data.n_groups)
    yield "columns", _columns_of(data.columns, _LINE)


_TRIED = ("k", "explained", "shuffled", "same_again", "other_80", "smallest", "tied", "verdict")
_LINE = ("column", "kind", "action", "why", "option", "n_values", "missing")


def _columns_of(rows: Sequence[Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: _column([getattr(row, name) for row in rows]) for name in names}


def _column(cells: list[Any]) -> Any:
    """Return numbers with gaps as floats, so that every library gives the column a type."""
    if any(cell is None for cell in cells):
        return np.array([np.nan if cell is None else cell for cell in cells], np.float64)
    return cells


def _marks(data: ReportData) -> dict[str, Any]:
    rows = [
        (group.number, group.name, side, mark)
        for group in data.groups
        for side, marks in (("more", group.more), ("less", group.less))
        for mark in marks
    ]
    return {
        "group": [number for number, _, _, _ in rows],
        "name": [name for _, name, _, _ in rows],
        "side": [side for _, _, side, _ in rows],
        **_columns_of([mark for *_, mark in rows], ("column", "value", "share", "overall")),
    }


def _share_columns(rows: Sequence[Any], n_groups: int) -> dict[str, Any]:
    by_group = {f"group_{i}": _column([row.shares[i] for row in rows]) for i in range(n_groups)}
    return {**_columns_of(rows, ("column", "value", "overall")), **by_group}
