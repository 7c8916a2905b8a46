"""How many groups a table has, and whether to trust them: the public face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from softmodes._algorithm.plan import Plan
from softmodes._choice.chain import CHAIN_ABOVE
from softmodes._choice.fits import Fits, with_params
from softmodes._choice.measure import Effort, measure
from softmodes._choice.outcome import Sweep
from softmodes._choice.rule import choose
from softmodes._estimators.soft_modes import SoftModes
from softmodes._model.parts import part_size, rows_that_count, take_rows
from softmodes._parameters import is_whole, seed, thread_count, whole
from softmodes._rows.stores import Opened, open_store
from softmodes._table.codebook import Missing, checked_missing
from softmodes._table.read import frame_backend
from softmodes._text import short_repr

_STARTS = 3


def sweep(
    X: Any,
    k: range | tuple[int, int] = (2, 8),
    *,
    t: float | Literal["auto"] = "auto",
    missing: Missing = "category",
    sample_weight: Any = None,
    feature_weight: Any = None,
    max_rows: int | None = 50_000,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Sweep:
    """Tell how many groups a table has, and whether to trust them.

    The table is clustered into every number of groups, as it is, with its columns shuffled, and in
    three random parts of 80 % of the rows. The pick is the largest k that pays for itself (exact
    ICL), whose groups are separated by a gap (valley below 0.8) and by more than two columns, are
    found again in other rows (0.6 or more), and have at least 1 % of the rows and 10 rows each. If
    there is none, the table has no groups, or none that are separate. How often that is right was
    measured: see docs/trust.md.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Any table that the estimators take.
    k : pair (least, most) or range, default=(2, 8)
        Which numbers of groups to try, from 2 on. Those above 80 % of the rows are left out.
    t : float or "auto", default="auto"
        Sharpness of the rounding, as for `SoftModes`. It decides where fits begin, not what they
        end with.
    missing : {"category", "ignore", "error"}, default="category"
        Missing cells are a value of their own, or neither match nor count, or are refused.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows: whole ones stand for repeated rows, others are taken with a mean of 1.
    feature_weight : array of shape (n_features,) or mapping of column names, optional
        Weights of the features, as for `SoftModes`. Together they count as
        ``sum(w)**2 / sum(w**2)`` columns.
    max_rows : int or None, default=50_000
        Of a longer table, so many rows drawn at random are looked at; None for all.
    n_jobs : int, optional
        Number of threads, at most one per core; None and -1 take all. The answer does not depend
        on it.
    random_state : int, RandomState or None, default=None
        Same seed, same answer.

    Returns
    -------
    Sweep
        The pick, the verdict and why; what is known of every k as a frame; a plot; and a fitted
        model of any k.

    Examples
    --------
    >>> import softmodes
    >>> from softmodes.datasets import make_ccm
    >>> X, y = make_ccm(600, 30, 3, eps=0.2, random_state=0)
    >>> found = softmodes.sweep(X, k=(2, 5), random_state=0)
    >>> found
     k   explained  shuffled  same again  other 80 %  smallest  tied
     2      15.3 %     1.1 %        1.00        0.99      33 %   0 %
     3      27.9 %     2.5 %        1.00        1.00      33 %   0 %   <- pick
     4      28.8 %     4.3 %        0.92        0.91       6 %   0 %
     5      29.8 %     6.6 %        0.87        0.76       6 %   0 %
    3 groups. Solid: the groups are apart, and are found again in other rows (1.00).
    >>> found.pick, found.verdict
    (3, 'Solid')
    >>> model = found.model()
    >>> softmodes.metrics.ari(y, model.labels_) > 0.95
    True
    """
    asked, missing = _numbers(k), checked_missing(missing)
    model = SoftModes(
        t=t,
        missing=missing,
        feature_weight=feature_weight,
        n_jobs=n_jobs,
        random_state=seed(random_state),
    )
    most_rows = max_rows if max_rows is None else whole("max_rows", max_rows, 1)
    opened = open_store(
        X,
        missing=missing,
        sample_weight=sample_weight,
        feature_weight=feature_weight,
        n_threads=thread_count(n_jobs),
    )
    fits = Fits(model, opened, frame_backend(X))
    seen = take_rows(opened, rows_that_count(opened, most_rows, model.random_state))
    return _swept(fits, seen, asked)


def _swept(fits: Fits, seen: Opened, asked: Sequence[int]) -> Sweep:
    """Measure some of the rows of a table, and pick one of the numbers asked for."""
    n_rows = seen.store.n_rows
    tried = [k for k in asked if k <= part_size(n_rows)]
    refits = replace(fits, opened=seen, fitted=fits.fitted if seen is fits.opened else {})
    most = max([1, *tried])
    plan = first_plan(fits.model, seen, most)
    effort = Effort(refits=lambda k: refits.two_labels(k) if k in tried else [])
    statistics, _ = measure(seen, plan, most, effort)
    return Sweep(
        statistics=tuple(row for row in statistics if row.k in tried),
        choice=choose(statistics, among=tried),
        fits=fits,
        n_rows_seen=n_rows,
    )


def first_plan(model: SoftModes, seen: Opened, most: int, n_init: int = _STARTS) -> Plan:
    """Return the plan of the fit that a chain down from `most` clusters begins with."""
    top = min(most + CHAIN_ABOVE, seen.store.n_rows)
    return with_params(model, n_clusters=top, n_init=n_init)._plan(seen, None)


def _numbers(k: Any) -> list[int]:
    """Return the numbers of groups that are asked for, in ascending order."""
    if isinstance(k, range):
        numbers = sorted(k)
    elif isinstance(k, tuple | list) and len(k) == 2 and all(map(is_whole, k)):
        numbers = list(range(int(k[0]), int(k[1]) + 1))
    else:
        raise ValueError(
            f"k={short_repr(k)} is neither a pair (least, most) nor a range. Pass k=(2, 8), say."
        )
    if not numbers or numbers[0] < 2:
        raise ValueError(f"k={k!r} must hold numbers from 2 on, in order. Pass k=(2, 8), say.")
    return numbers
