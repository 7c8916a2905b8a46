"""Prepare: the transformer that follows the advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from softmodes._parameters import thread_count
from softmodes._prepare.advice import Advice
from softmodes._prepare.examine import examine
from softmodes._prepare.frames import FrameTable, MatrixTable, Output, open_table
from softmodes._prepare.options import ColumnRefs, na_words
from softmodes._prepare.plain import plain_params, preparation_from, preparation_of
from softmodes._prepare.steps import AsIs, Split, Step, learn_step, weights_in
from softmodes._table.codebook import Missing


class Prepare(TransformerMixin, BaseEstimator):
    """Make a table ready for clustering, as `advise` says.

    Identifiers, free text, constants and duplicates are left out; numbers and dates become bands;
    cells with several answers become yes/no columns; rare values become "other". The outcome is a
    frame of the kind that came in.

    Parameters
    ----------
    keep : str or list of str, optional
        Columns to use against the advice.
    drop, only : str or list of str, optional
        Columns to leave out; the only ones to use.
    as_ : dict, optional
        What to do with a column: "category" (use it as it is), "text" (leave it out), "bands:5"
        (numbers or dates in 5 bands of about equal size), "multi:;" (several answers, separated by
        ";"), "top:49" (the 49 commonest values, and "other").
    na : list, optional
        Words and numbers that stand for a missing cell, such as "NA" or -99.
    id, weight, describe : str or list of str, optional
        Columns that are carried along, that weigh the rows (see `sample_weight`), or that are shown
        by group: none of them is clustered.
    missing : {"category", "ignore", "error"}, default="category"
        What the clustering will do with missing cells: where they are ignored, a column of one
        value and missing cells tells nothing.
    n_jobs : int, optional
        Number of threads; as for `SoftModes`.

    Attributes
    ----------
    advice_ : Advice
        What the columns hold, and what is done with each.
    feature_weight_ : dict
        The weight of each column of the outcome: 1, or a share of 1 for each of the yes/no columns
        that were one. Pass it to `SoftModes`, or let `SoftModes(feature_weight="parts")`, in a
        pipeline, find it by the columns' names.
    n_features_in_, feature_names_in_
        Number and names of the columns at fit.

    See Also
    --------
    advise : What will be done, without doing it.
    Bands : Bands for columns of your choice.

    Notes
    -----
    Columns are taken by name: new tables may have more of them, in another order; left-out ones may
    be lacking. Tables without names are taken by position. New values of a column in bands fall
    into a band, those of one with rare values become "other", new parts are no part of any.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from softmodes import Prepare
    >>> ages = [20 + 37 * i % 50 for i in range(200)]
    >>> table = pa.table({"age": ages, "tags": ["a;b", "a", "b;c", "c"] * 50, "one": [1] * 200})
    >>> prepare = Prepare().fit(table)
    >>> prepare.get_feature_names_out().tolist()
    ['age', 'tags[a]', 'tags[b]', 'tags[c]']
    >>> prepare.transform(table).slice(0, 1).to_pylist()
    [{'age': '29 or less', 'tags[a]': 'yes', 'tags[b]': 'yes', 'tags[c]': 'no'}]

    In a pipeline:

    >>> from sklearn.pipeline import make_pipeline
    >>> from softmodes import SoftModes
    >>> pipe = make_pipeline(Prepare(), SoftModes(2, feature_weight="parts", random_state=0))
    >>> pipe.fit_predict(table).shape
    (200,)
    """

    advice_: Advice
    feature_weight_: dict[str, float]
    n_features_in_: int
    _steps: dict[int, Step]
    _names_out: dict[int, list[str]]

    def __init__(
        self,
        *,
        keep: ColumnRefs = None,
        drop: ColumnRefs = None,
        only: ColumnRefs = None,
        as_: Mapping[str, str] | None = None,
        na: Any = None,
        id: ColumnRefs = None,
        weight: str | int | None = None,
        describe: ColumnRefs = None,
        missing: Missing = "category",
        n_jobs: int | None = None,
    ) -> None:
        self.keep = keep
        self.drop = drop
        self.only = only
        self.as_ = as_
        self.na = na
        self.id = id
        self.weight = weight
        self.describe = describe
        self.missing = missing
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a table what to do with its columns.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            pandas, polars or pyarrow frame, NumPy array or list of rows.
        y : ignored

        Returns
        -------
        self
        """
        table = open_table(X)
        found = examine(X, self.get_params(deep=False), thread_count(self.n_jobs))
        steps = {
            j: learn_step(column, line.verdict.treatment)
            for j, (column, line) in enumerate(zip(found.columns, found.advice.lines, strict=True))
            if line.used
        }
        if not steps:
            raise ValueError(
                f"No column of {len(table.names)} is left to use with "
                f"n_samples={found.advice.n_rows}. Pass keep with some of them:\n{found.advice}"
            )
        self._publish(found.names, len(table.names), steps, found.advice)
        return self

    def transform(self, X: Any) -> Any:
        """Do it: return the prepared table, as a frame of the kind that came in.

        An array comes out of one, or of a list of rows: of objects, unless no cell has changed.

        Parameters
        ----------
        X : table
            With the columns that are used, by name; without names, all columns of the fit.

        Returns
        -------
        frame or ndarray
        """
        check_is_fitted(self)
        table = open_table(X)
        place = self._places(table)
        words = na_words(self.na)
        read = [j for j, step in self._steps.items() if words.words or not isinstance(step, AsIs)]
        found = table.columns([place[j] for j in read], thread_count(self.n_jobs))
        columns = dict(zip(read, found, strict=True))
        outputs: list[Output] = []
        for j, step in self._steps.items():
            names, column = self._names_out[j], columns.get(j)
            if isinstance(step, AsIs) or column is None:
                outputs.append(Output(names[0], place[j], column, na=words))
                continue
            column = column.without(words)
            made = step.labels(column)
            outputs += [
                Output(name, place[j], column, labels)
                for name, labels in zip(names, made, strict=True)
            ]
        return table.put_together(outputs)

    def sample_weight(self, X: Any) -> NDArray[np.float64] | None:
        """Return the weights of the rows: the column `weight`, None if there is none.

        Parameters
        ----------
        X : table
            With the column `weight`.

        Returns
        -------
        ndarray of shape (n_samples,), or None
        """
        check_is_fitted(self)
        if self.weight is None:
            return None
        table = open_table(X)
        number = self._number_of(self.weight)
        place = self._place(table, number)
        column = table.columns([place], thread_count(self.n_jobs))[0].without(na_words(self.na))
        if column.n_missing:
            raise ValueError(
                f"weight={self.weight!r} is missing in {column.n_missing} rows. Fill these, with 0 "
                "for rows that count for nothing."
            )
        return weights_in(column)[column.codes.astype(np.intp)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of the outcome.

        Parameters
        ----------
        input_features : list of str, optional
            The names at fit, which are known.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if input_features is not None and list(input_features) != list(self._names_in()):
            raise ValueError(
                "input_features is not equal to feature_names_in_. Pass the names at fit, or none."
            )
        return np.array(list(self.feature_weight_), dtype=object)

    def to_dict(self) -> dict[str, Any]:
        """Return all that was learned as values that JSON can hold; `from_dict` takes them."""
        check_is_fitted(self)
        names = self._names_in() if hasattr(self, "feature_names_in_") else None
        params = plain_params(self.get_params(deep=False))
        return preparation_of(params, names, self.n_features_in_, self._steps, self.advice_)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the fitted preparation that `to_dict` wrote; ValueError for anything else."""
        params, names, n_features, steps, advice = preparation_from(data)
        unknown = set(params) - set(cls().get_params())
        if unknown:
            raise ValueError(f"This is not a preparation: unknown parameters {sorted(unknown)}.")
        made = cls(**params)
        made._publish(names, n_features, steps, advice)
        return made

    # ------------------------------------------------------------------------------ inside

    def _publish(
        self,
        names: Sequence[str] | None,
        n_features: int,
        steps: dict[int, Step],
        advice: Advice,
    ) -> None:
        """Set the fitted attributes: all of them at once."""
        shown = [line.column for line in advice.lines]
        names_out = _names_out(steps, shown)
        state = vars(self) | {
            "n_features_in_": n_features,
            "advice_": advice,
            "_steps": steps,
            "_names_out": names_out,
            "feature_weight_": {
                name: 1 / len(several) if isinstance(steps[j], Split) else 1.0
                for j, several in names_out.items()
                for name in several
            },
        }
        state.pop("feature_names_in_", None)
        if names is not None:
            state["feature_names_in_"] = np.array(names, dtype=object)
        self.__dict__ = state

    def _names_in(self) -> list[str]:
        return [line.column for line in self.advice_.lines]

    def _number_of(self, column: str | int) -> int:
        return self._names_in().index(column) if isinstance(column, str) else column

    def _places(self, table: FrameTable | MatrixTable) -> dict[int, int]:
        """Return where the columns of the steps are in a table."""
        self._check_width(table)
        if self._by_name(table):
            names = self._names_in()
            lacking = [names[j] for j in self._steps if names[j] not in set(table.names)]
            if lacking:
                raise ValueError(
                    f"X lacks columns that are used: {lacking}. Pass a table that has them."
                )
        return {j: self._place(table, j) for j in self._steps}

    def _place(self, table: FrameTable | MatrixTable, number: int) -> int:
        if not self._by_name(table):
            return number
        name = self._names_in()[number]
        if name not in table.names:
            raise ValueError(f"X lacks the column {name!r}. Pass a table that has it.")
        return table.names.index(name)

    def _by_name(self, table: FrameTable | MatrixTable) -> bool:
        return isinstance(table, FrameTable) and hasattr(self, "feature_names_in_")

    def _check_width(self, table: FrameTable | MatrixTable) -> None:
        n_columns = len(table.names)
        if not self._by_name(table) and n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input. Pass all columns of fit: without names "
                "they are taken by position."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return "advice_" in vars(self)  # the name of the parameter as_ looks like a fitted one's

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _names_out(steps: Mapping[int, Step], names: Sequence[str]) -> dict[int, list[str]]:
    """Return the names of each step's columns; a part that is called as a column gets a star."""
    taken = set(names)
    found: dict[int, list[str]] = {}
    for j, step in steps.items():
        found[j] = step.names(names[j])
        for i, name in enumerate(found[j] if isinstance(step, Split) else ()):
            while name in taken:
                name = f"{name[:-1]}*]"
            found[j][i] = name
            taken.add(name)
    return found
