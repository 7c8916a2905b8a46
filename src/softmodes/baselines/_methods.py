"""The methods that SoftModes is compared with, each registered under its name.

One call is one run: methods that can restart do so once only, unless `n_init` is passed, so that
repeated calls show their spread.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmodes.baselines._registry import Outcome, register
from softmodes.baselines._rock.rock import Rock

# BIRCH merges the subclusters of its tree in time and memory of their number squared.
MAX_SUBCLUSTERS = 15_000
_ROWS_AT_ONCE = 2_000


@register("k-modes")
def k_modes(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run `softmodes.KModes` once."""
    from softmodes._estimators import KModes

    settings = {"n_init": 1, **params}
    model = KModes(n_clusters, random_state=random_state, **settings).fit(X)
    return Outcome(model.labels_, model.cost_)


@register("softmodes")
def soft_modes(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run Algorithm 1 of the paper, as `softmodes.SoftModes` does it with its last round."""
    settings = {"refine": None, "select": "last", "max_iter": 30, **params}
    return refined_soft_modes(X, n_clusters, random_state, **settings)


@register("softmodes (refined)")
def refined_soft_modes(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run `softmodes.SoftModes` as it comes, but once."""
    from softmodes._estimators import SoftModes

    settings = {"n_init": 1, **params}
    model = SoftModes(n_clusters, random_state=random_state, **settings).fit(X)
    return Outcome(model.labels_, model.objective_)


@register("k-means (one-hot)", encoding="one-hot")
@register("k-means", encoding="codes")
def k_means(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run scikit-learn's KMeans from one k-means++ seeding."""
    from sklearn.cluster import KMeans

    settings = {"n_init": 1, **params}
    model = KMeans(n_clusters, random_state=random_state, **settings).fit(X)
    return Outcome(model.labels_, model.inertia_)


@register("birch (one-hot)", encoding="one-hot")
@register("birch", encoding="codes")
def birch(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Any:
    """Run scikit-learn's Birch, raising its threshold until the tree is small enough.

    The tree starts with threshold 0.5, scikit-learn's default. Whenever it has more than 15,000
    subclusters, it is built anew with a threshold 1.25 times as large; the original algorithm does
    the same when it runs out of memory. A `threshold` that is passed is taken as it is. Nothing is
    random here.
    """
    threshold = params.pop("threshold", None)
    if threshold is None:
        threshold = _small_tree_threshold(X, **params)
    from sklearn.cluster import Birch

    return Birch(n_clusters=n_clusters, threshold=threshold, **params).fit(X).labels_


def _small_tree_threshold(X: NDArray[np.float64], **params: Any) -> float:
    threshold = 0.5
    while _overflows(X, threshold, **params):
        threshold *= 1.25
    return threshold


def _overflows(X: NDArray[np.float64], threshold: float, **params: Any) -> bool:
    """Tell whether the tree gets too many subclusters; stops reading rows once it does."""
    from sklearn.cluster import Birch

    tree = Birch(n_clusters=None, threshold=threshold, **params)
    for start in range(0, len(X), _ROWS_AT_ONCE):
        tree.partial_fit(X[start : start + _ROWS_AT_ONCE])
        if len(tree.subcluster_centers_) > MAX_SUBCLUSTERS:
            return True
    return False


@register("gaussian (one-hot)", encoding="one-hot")
@register("gaussian", encoding="codes")
def gaussian(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run scikit-learn's GaussianMixture with full covariances.

    Categorical columns easily make them singular (a value that a cluster lacks, one-hot columns
    that add up to 1), so `reg_covar` is 0.001 here, the variance added to every column.
    """
    from sklearn.mixture import GaussianMixture

    settings = {"reg_covar": 1e-3, **params}
    model = GaussianMixture(n_clusters, random_state=random_state, **settings)
    labels = model.fit_predict(X)
    return Outcome(labels, -model.lower_bound_)


@register("gaussian diagonal (one-hot)", encoding="one-hot")
def gaussian_diagonal(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run scikit-learn's GaussianMixture with diagonal covariances, and its own `reg_covar`."""
    settings = {"covariance_type": "diag", "reg_covar": 1e-6, **params}
    return gaussian(X, n_clusters, random_state, **settings)


@register("latent classes (stepmix)", encoding="codes")
def step_mix(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run the latent class model of the package stepmix, every column categorical."""
    model_class = _needed("stepmix", "latent classes (stepmix)").StepMix
    settings = {"measurement": "categorical", "n_init": 1, "progress_bar": 0, **params}
    codes = X.astype(np.int64)
    model = model_class(n_clusters, random_state=random_state, **settings).fit(codes)
    return Outcome(model.predict(codes), -model.lower_bound_)


@register("kmodes huang", encoding="codes")
def kmodes_huang(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run k-modes of the package kmodes from Huang's seeds."""
    return _kmodes(X, n_clusters, random_state, init="Huang", **params)


@register("kmodes cao", encoding="codes")
def kmodes_cao(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    """Run k-modes of the package kmodes from Cao's seeds, which are not random."""
    return _kmodes(X, n_clusters, random_state, init="Cao", **params)


def _kmodes(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Outcome:
    model_class = _needed("kmodes.kmodes", f"kmodes {params['init'].lower()}").KModes
    settings = {"n_init": 1, **params}
    model = model_class(n_clusters, random_state=random_state, **settings).fit(X)
    return Outcome(model.labels_, model.cost_)


def _needed(module: str, method: str) -> Any:
    """Import a module of a package that softmodes does not depend on."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"The method {method!r} needs {package}. Install it with: pip install {package}"
        ) from error


@register("rock")
def rock(X: Any, n_clusters: int, random_state: Any, **params: Any) -> Any:
    """Run `Rock`; pass `theta` or `eps`."""
    return Rock(n_clusters, random_state=random_state, **params).fit(X).labels_
