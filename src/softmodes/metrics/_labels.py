"""Labels of any type as integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def label_codes(name: str, labels: Any) -> NDArray[np.intp]:
    """Return labels as integers from 0 without gaps, equal where cells of a table would be."""
    from softmodes._table.column import code_column
    from softmodes._table.values import BadColumnError, object_array

    # NumPy would turn a list of several types into strings, and one of tuples into a matrix.
    plain = isinstance(labels, list | tuple)
    values = object_array(labels, len(labels)) if plain else np.asarray(labels)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"{name} has shape {values.shape}. Pass a one-dimensional, non-empty sequence."
        )
    try:
        return code_column(values).codes.astype(np.intp)
    except BadColumnError:
        return _codes_of_others(name, values)


def _codes_of_others(name: str, values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the codes of labels among which are some that no table takes, such as tuples."""
    keys = [_key(value) for value in values.tolist()]
    try:
        position = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    except TypeError as error:
        raise ValueError(
            f"{name} holds a label that cannot be hashed ({error}). "
            "Pass a one-dimensional sequence of strings, numbers or other hashable values."
        ) from error
    return np.fromiter(map(position.__getitem__, keys), dtype=np.intp, count=len(keys))


def _key(label: Any) -> Any:
    from softmodes._table.values import BadColumnError, converter

    try:
        return converter(type(label))(label)
    except BadColumnError:
        return None, label


def check_rows(n_labels: int, n_rows: int) -> None:
    """Refuse labels that are not one for each row of `X`."""
    if n_labels != n_rows:
        raise ValueError(
            f"labels has {n_labels} entries, but X has {n_rows} rows. Pass one label per row."
        )
