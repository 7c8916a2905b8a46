"""Bands: numbers and dates in bands of about equal size."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from softmodes._parameters import thread_count, whole
from softmodes._prepare.frames import FrameTable, MatrixTable, Output, open_table
from softmodes._prepare.steps import Band, learn_cuts
from softmodes._table.read import check_columns, read


class Bands(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cut columns of numbers or dates into bands of about equal size, with readable labels.

    Parameters
    ----------
    n_bands : int, default=5
        Number of bands; fewer where a column has fewer values.
    n_jobs : int, optional
        Number of threads; None and -1 take all cores.

    Attributes
    ----------
    labels_ : list of tuples
        The labels of each column's bands, in rising order.
    n_features_in_, feature_names_in_
        Number and names of the columns at fit.

    See Also
    --------
    Prepare : Bands where they are called for, and other columns as well.

    Notes
    -----
    Equal values share a band, so that bands differ in size where many rows have one value. Missing
    cells stay missing. Numbers beyond those of the fit fall into the outer bands. A label names the
    first and the last whole number of its band ("32-44"); of decimals "0.7-0.89" means 0.7 or more
    and less than 0.89. Texts that spell numbers are taken as such ("3,5" too). In a frame the bands
    are an ordered category.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from softmodes import Bands
    >>> table = pa.table({"age": [18, 25, 31, 32, 40, 44, 45, 60, 70, None]})
    >>> bands = Bands(3).fit(table)
    >>> bands.labels_
    [('31 or less', '32-44', '45 or more')]
    >>> bands.transform(pa.table({"age": [7, 33, 107, None]}))["age"].to_pylist()
    ['31 or less', '32-44', '45 or more', None]
    """

    labels_: list[tuple[str, ...]]
    n_features_in_: int
    _bands: list[Band]

    def __init__(self, n_bands: int = 5, *, n_jobs: int | None = None) -> None:
        self.n_bands = n_bands
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn where to cut each column.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Of numbers, or of dates; pandas, polars or pyarrow frame, NumPy array or list of rows.
        y : ignored

        Returns
        -------
        self
        """
        n_bands = whole("n_bands", self.n_bands, 2)
        table = open_table(X)
        columns = table.columns(range(len(table.names)), thread_count(self.n_jobs))
        bands = [Band(learn_cuts(column, n_bands)) for column in columns]
        validate_data(self, X, skip_check_array=True)
        self.n_features_in_ = len(bands)
        self._bands = bands
        self.labels_ = [band.cuts.labels for band in bands]
        return self

    def transform(self, X: Any) -> Any:
        """Return the band of every cell, as a frame of the kind that came in.

        Parameters
        ----------
        X : table
            With the columns of the fit.

        Returns
        -------
        frame or ndarray
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        known = None if names is None else tuple(names)
        check_columns(read(X), known, self.n_features_in_, type(self).__name__)
        table = open_table(X)
        return table.put_together(self._outputs(table))

    def _outputs(self, table: FrameTable | MatrixTable) -> list[Output]:
        columns = table.columns(range(len(table.names)), thread_count(self.n_jobs))
        return [
            Output(column.name, j, column, band.labels(column)[0])
            for j, (column, band) in enumerate(zip(columns, self._bands, strict=True))
        ]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags
