"""A summary to read: the size of each cluster, and what marks it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from softmodes._model.marks import N_MARKS, Mark, marks_of, percent
from softmodes._model.profile import as_frame
from softmodes._rows.weights import in_weights

if TYPE_CHECKING:
    from softmodes._model.clustering import Clustering

_WIDTH = 100  # characters of a line
_NO_BREAK = "\0"  # stands for a space inside a mark, where a line must not be broken
_NOTHING = "nothing sets it apart"


@dataclass(frozen=True)
class Group:
    """A cluster in a summary.

    Attributes
    ----------
    number, name
        Its number, as in `labels_`, and its name.
    size, share
        Rows in it (or their weight), and their share of all.
    marks
        The values that mark it most.
    named
        Whether the name was given; if not, it is made of the first marks.
    """

    number: int
    name: str
    size: int | float
    share: float
    marks: tuple[Mark, ...]
    named: bool

    @property
    def rows(self) -> str:
        """The size as a text."""
        size = f"{self.size:,}" if isinstance(self.size, int) else f"{self.size:,.1f}"
        return f"{size} row{'' if self.size == 1 else 's'} ({percent(self.share)})"

    def lines(self) -> list[str]:
        """Return the group as lines of a text."""
        title = f"group {self.number}" + (f", {self.name}" if self.named else "")
        marks = [
            _unbroken(f"{mark.name}  {mark.shares}") + (f", {mark.block}" if mark.block else "")
            for mark in self.marks
        ]
        text = f"{_unbroken(f'{title}: {self.rows}:')} {'; '.join(marks) or _NOTHING}"
        lines = wrap(text, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
        return [line.replace(_NO_BREAK, " ") for line in lines]


@dataclass(frozen=True, repr=False)
class Summary:
    """The sizes of the clusters, and what marks each: a text to print, a table in a notebook.

    What `summary` of a fitted estimator returns. The share of a value in the cluster stands beside
    that in the whole table: "milk: 1  100 % (all 41 %)". Marks that repeat one another, because
    their shares are the same in every cluster, are told once.

    Attributes
    ----------
    groups : tuple
        For each cluster `number`, `name`, `size`, `share` and `marks`; a mark has `feature`,
        `value`, `share`, `overall`, and `same_for`, the other columns that say the same.

    Examples
    --------
    >>> from softmodes import SoftModes
    >>> answers = [["yes", "red", "a"]] * 20 + [["no", "blue", "b"]] * 25 + [["no", "red", "b"]] * 5
    >>> model = SoftModes(2, random_state=0).fit(answers)
    >>> print(model.summary(2))
    group 0: 30 rows (60 %): x2: b  100 % (all 60 %), the same for x0: no (one block);
        x1: blue  83 % (all 50 %)
    group 1: 20 rows (40 %): x0: yes  100 % (all 40 %), the same for x2: a (one block);
        x1: red  100 % (all 50 %)
    >>> model.summary().groups[1].marks[0].share
    1.0
    """

    groups: tuple[Group, ...]
    backend: str | None = field(default=None, compare=False)

    def to_frame(self) -> Any:
        """Return a row for each cluster, as a frame of the kind that `fit` got.

        Columns: cluster, name, rows (or their weight), share (of all rows), marks (a text).
        """
        columns = {
            "cluster": [group.number for group in self.groups],
            "name": [group.name for group in self.groups],
            "rows": [group.size for group in self.groups],
            "share": [group.share for group in self.groups],
            "marks": ["; ".join(map(str, group.marks)) for group in self.groups],
        }
        return as_frame(columns, self.backend)

    def __str__(self) -> str:
        return "\n".join(line for group in self.groups for line in group.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(_html_row(group) for group in self.groups)
        head = "<th>group</th><th>name</th><th>rows</th><th>marks</th>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def summary_of(found: Clustering, n_marks: int = N_MARKS) -> Summary:
    """Return the summary of a clustering, with so many marks of each cluster at most."""
    profile, given = found.profile, found.given_names
    sizes = found.tally.cluster_sizes
    groups = (
        Group(
            number=i,
            name=found.names[i],
            size=in_weights(size, found.row_unit),
            share=size / max(1, sum(sizes.tolist())),
            marks=tuple(marks_of(profile, i, n_marks)),
            named=given is not None and given[i] is not None,
        )
        for i, size in enumerate(sizes.tolist())
    )
    return Summary(tuple(groups), found.backend)


def _unbroken(text: str) -> str:
    return text.replace(" ", _NO_BREAK)


def _html_row(group: Group) -> str:
    marks = "<br>".join(escape(str(mark)) for mark in group.marks) or _NOTHING
    name = escape(group.name)
    left = 'style="text-align: left"'
    return (
        f"<tr><td>{group.number}</td><td {left}>{name}</td>"
        f"<td>{escape(group.rows)}</td><td {left}>{marks}</td></tr>"
    )
