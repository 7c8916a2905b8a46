"""Who takes part: methods here, rivals, and guests from plugins."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from softmodes import baselines

Side: TypeAlias = Literal["here", "rival", "guest"]
Rule: TypeAlias = Callable[[Any, int], dict[str, Any]]

DEFAULT = "SoftModes"  # what all others are compared with
K_MEANS = "KMeans"  # whose ten restarts say what equal time is
_ROWS_FOR_THETA = 500


@dataclass(frozen=True)
class Contender:
    """A method with parameters, as it takes part.

    Attributes
    ----------
    name
        What it is called in results.
    method
        The registered method that is run.
    side
        "here": a method of this package; "rival": of another one; "guest": from a plugin.
    params
        Parameters of the method.
    rule
        More parameters, chosen from the rows and the number of clusters.
    is_random
        Whether seeds matter: if not, one run serves all settings.
    restarts
        Whether the method takes `n_init` itself; if not, runs are repeated and the best is kept.
    package
        What must be installed, as pip calls it.
    most_rows
        It is not run on larger tables.
    note
        What a reader must know of it.
    """

    name: str
    method: str
    side: Side = "rival"
    params: tuple[tuple[str, Any], ...] = ()
    rule: Rule | None = None
    is_random: bool = True
    restarts: bool = True
    package: str | None = None
    most_rows: int | None = None
    note: str = ""

    @property
    def form(self) -> str:
        """The form of the table that it gets."""
        encoding = baselines.baseline(self.method).encoding
        # Methods here find the same codes in values and in small integers.
        return "integers" if encoding == "table" and self.side == "here" else encoding

    @property
    def is_installed(self) -> bool:
        """Whether its package is there."""
        return self.package is None or find_spec(self.package) is not None

    def why_not(self, n_rows: int) -> str | None:
        """Return why it is not run on a table of so many rows; None if it is."""
        if not self.is_installed:
            return f"{self.package} is not installed (pip install {self.package})"
        if self.most_rows is not None and n_rows > self.most_rows:
            return f"it is run on tables of up to {self.most_rows:,} rows"
        return None

    def describe(self) -> dict[str, Any]:
        """Return what results say of it."""
        return {
            "name": self.name,
            "side": self.side,
            "is_random": self.is_random,
            "note": self.note,
        }


def similarity_of_neighbors(rows: NDArray[Any], n_clusters: int) -> dict[str, Any]:
    """Return ROCK's theta: the similarity that one of 2 k pairs of rows reaches.

    An average cluster holds 1/k of the rows; half of them are then neighbours of a row. The pairs
    are those of 500 rows, evenly spread over the table.
    """
    n, d = rows.shape
    sample = rows[np.linspace(0, n - 1, min(n, _ROWS_FOR_THETA)).astype(np.intp)]
    equal = sum((column[:, None] == column).astype(np.int32) for column in sample.T)
    pairs = np.asarray(equal)[np.triu_indices(len(sample), 1)]
    similarity = pairs / (2 * d - pairs)
    if not len(similarity):
        return {"theta": 0.5}
    return {"theta": float(np.quantile(similarity, 1 - 1 / (2 * n_clusters), method="lower"))}


_HERE = (
    Contender(DEFAULT, "softmodes (refined)", "here", note="our default"),
    Contender(
        "SoftModes gini",
        "softmodes (refined)",
        "here",
        (("refine", "gini"),),
        note='refine="gini": k-means on one-hot rows from the best round',
    ),
    Contender(
        "SoftModes unrefined",
        "softmodes (refined)",
        "here",
        (("refine", None),),
        note="refine=None: the best round as it is",
    ),
    Contender("Algorithm 1", "softmodes", "here", note="of the paper: t = 3, the last round of 30"),
    Contender("KModes", "k-modes", "here", note="softmodes.KModes"),
    Contender(
        "ROCK",
        "rock",
        "here",
        rule=similarity_of_neighbors,
        is_random=False,
        restarts=False,
        most_rows=5_000,
        note="theta is the similarity that one of 2 k pairs of rows reaches; up to 5,000 rows",
    ),
)
_RIVALS = (
    Contender(K_MEANS, "k-means (one-hot)", note="scikit-learn, on one-hot codes"),
    Contender(
        "BIRCH",
        "birch (one-hot)",
        is_random=False,
        restarts=False,
        note="scikit-learn, on one-hot codes; nothing is random",
    ),
    Contender(
        "Gaussian diagonal",
        "gaussian diagonal (one-hot)",
        note="scikit-learn's GaussianMixture, on one-hot codes",
    ),
    Contender(
        "Gaussian full",
        "gaussian (one-hot)",
        note="the same with full covariances, reg_covar=0.001",
    ),
    Contender(
        "StepMix",
        "latent classes (stepmix)",
        package="stepmix",
        note="latent classes, every column categorical, its own limits of rounds",
    ),
    Contender("kmodes Huang", "kmodes huang", package="kmodes", note="the package kmodes"),
    Contender(
        "kmodes Cao",
        "kmodes cao",
        package="kmodes",
        is_random=False,
        restarts=False,
        note="the package kmodes; its seeds are not random",
    ),
)

CONTENDERS = {contender.name: contender for contender in (*_HERE, *_RIVALS)}


def guest(method: str) -> Contender:
    """Return a method of a plugin as a contender."""
    parameters = inspect.signature(baselines.baseline(method).run).parameters
    return Contender(method, method, "guest", restarts="n_init" in parameters, note="a plugin")


def chosen(names: Iterable[str] = (), guests: Iterable[str] = ()) -> list[Contender]:
    """Return contenders by their names, or all, and guests by those of their methods.

    A name may bring parameters of its own: "SoftModes(t=2, refine='gini')".
    """
    joined = [guest(method) for method in guests]
    known = CONTENDERS | {contender.name: contender for contender in joined}
    named = [_named(text, known) for text in names]
    return list(dict.fromkeys([*(named or CONTENDERS.values()), *joined]))


def _named(text: str, known: dict[str, Contender]) -> Contender:
    if text in known:
        return known[text]
    call = re.fullmatch(r"(?P<name>[^(]+)\((?P<params>.*)\)", text)
    if call is None or call["name"] not in known:
        raise ValueError(
            f"method={text!r} is not known. Pass some of {', '.join(map(repr, known))}, with "
            "parameters if need be: 'SoftModes(t=2)'."
        )
    base, params = known[call["name"]], _parsed(text, call["params"])
    note = f"{call['name']} with {call['params']}"
    return replace(base, name=text, params=(*base.params, *params.items()), note=note)


def _parsed(text: str, params: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({params})", mode="eval").body
        assert isinstance(call, ast.Call)
        if call.args:
            raise ValueError("a parameter has no name")
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise ValueError(
            f"method={text!r} has parameters that cannot be read: {error}. "
            "Pass names and plain values: 'SoftModes(t=2, refine=\"gini\")'."
        ) from error


def how_to_install(contenders: Iterable[Contender]) -> list[str]:
    """Return a line for each package that contenders lack."""
    lacking: dict[str, list[str]] = {}
    for contender in contenders:
        if not contender.is_installed:
            lacking.setdefault(str(contender.package), []).append(contender.name)
    return [
        f"Not installed: {' and '.join(names)}. Install with: pip install {package}"
        for package, names in lacking.items()
    ]
