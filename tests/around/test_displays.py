"""The Displays: what they show is what was found, and it looks as it looked."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from softmodes import KModes, SoftModes
from softmodes.datasets import load_zoo, make_ccm
from softmodes.metrics import silhouette, silhouette_samples
from softmodes.plots import (
    HistoryDisplay,
    MapDisplay,
    ProfileDisplay,
    RoundingDisplay,
    SilhouetteDisplay,
    SizesDisplay,
    StabilityDisplay,
    SweepDisplay,
)
from softmodes.rounding import plurality, soft

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.testing.compare import compare_images  # noqa: E402


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def zoo():
    return load_zoo(as_frame=True).data


@pytest.fixture(scope="module")
def model(zoo):
    return SoftModes(5, random_state=0, n_jobs=1).fit(zoo).set_names({1: "Birds"})


def tick_labels(axis):
    return [" ".join(label.get_text().split()) for label in axis.get_ticklabels()]


# ---------------------------------------------------------------------------- what they show


def test_sizes_are_bars_with_names(model):
    display = SizesDisplay.from_estimator(model)
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert_allclose(widths, 100 * model.cluster_sizes_ / 101)
    assert tick_labels(display.ax_.yaxis)[1] == "1 Birds"
    size = model.cluster_sizes_[1]
    assert display.ax_.texts[1].get_text() == f"{100 * size / 101:.0f} %  ({size})"
    assert display.figure_ is display.ax_.figure


def test_a_profile_shows_the_shares_of_the_most_telling_values(model, zoo):
    display = ProfileDisplay.from_estimator(model, n_values=6)
    assert len(display.values) == 6
    for label, shares, overall in zip(display.values, display.shares, display.overall, strict=True):
        feature, value = label.split(": ")
        has = zoo[feature] == int(value)
        assert overall == pytest.approx(has.mean())
        expected = [has[model.labels_ == i].mean() for i in range(5)]
        assert_allclose(shares, expected)
    assert not {"milk: 0", "hair: 0"} & set(display.values), "of two values the yes is shown"
    shown = [text.get_text() for text in display.ax_.texts]
    assert len(shown) == 6 * 6
    assert shown[0] == f"{100 * display.shares[0, 0]:.0f}"
    assert tick_labels(display.ax_.xaxis)[-1] == "all"


def test_values_that_repeat_one_another_are_one_row_of_a_profile(zoo):
    double = zoo[["milk", "legs", "fins"]].assign(again=zoo["milk"], third=zoo["milk"])
    display = ProfileDisplay.from_estimator(SoftModes(3, random_state=0).fit(double), n_values=9)
    assert "milk: 1  (+2 alike)" in display.values
    assert not [label for label in display.values if label.startswith(("again", "third"))]


def test_a_history_shows_every_round_by_its_stage(model):
    display = HistoryDisplay.from_estimator(model)
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    latent = [i for i, r in enumerate(model.history_) if r.stage == "latent"]
    assert_array_equal(lines["finish: latent classes"].get_xdata(), latent)
    assert lines["result"].get_xdata() == [model.best_round_]
    cost = model.history_[model.best_round_].expected_cost / 101
    assert lines["result"].get_ydata() == [pytest.approx(cost)]
    only_modes = HistoryDisplay.from_estimator(KModes(3, random_state=0).fit(np.eye(5)))
    labels = {line.get_label() for line in only_modes.ax_.get_lines()}
    assert not [label for label in labels if label.startswith("finish")]


def naive_correspondence(table):
    """Coordinates of rows by the textbook: SVD of standardised residuals."""
    P = table / table.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    S = (P - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    U, sigma, _ = np.linalg.svd(S, full_matrices=False)
    return (U * sigma)[:, :2] / np.sqrt(r)[:, None]


def assert_same_map(found, expected):
    for axis in (0, 1):
        sign = np.sign(found[:, axis] @ expected[:, axis])
        assert_allclose(found[:, axis], sign * expected[:, axis], atol=1e-8)


def test_rows_lie_where_multiple_correspondence_analysis_puts_them(model, zoo):
    display = MapDisplay.from_estimator(model, zoo)
    dummies = pd.get_dummies(zoo.astype(str)).to_numpy(float)
    common = (dummies.sum(axis=0) >= 2) & (dummies.sum(axis=0) < len(zoo))
    assert common.sum() < dummies.shape[1], "no rare value: nothing tested"
    assert_same_map(display.rows, naive_correspondence(dummies[:, common]))
    assert_array_equal(display.labels, model.labels_)
    assert_allclose(display.places[2], display.rows[model.labels_ == 2].mean(axis=0))


def test_groups_alone_lie_where_correspondence_analysis_of_their_counts_puts_them(model):
    display = MapDisplay.from_estimator(model)
    assert display.rows is None
    counts = np.hstack(model.cluster_counts_)
    assert_same_map(display.places, naive_correspondence(counts))


def test_a_map_shows_as_many_rows_as_asked_for_and_the_same_ones_again(model, zoo):
    first = MapDisplay.from_estimator(model, zoo, max_rows=40)
    again = MapDisplay.from_estimator(model, zoo, max_rows=40)
    other = MapDisplay.from_estimator(model, zoo, max_rows=40, random_state=1)
    assert first.rows.shape == (40, 2)
    assert_array_equal(first.rows, again.rows)
    assert first.labels.tolist() != other.labels.tolist()


@pytest.mark.parametrize("rows", [[["a", None]] * 3, [["a"], ["b"]], [["a", "x"], ["b", None]]])
def test_a_map_of_hardly_anything_is_drawn(rows):
    for missing in ("category", "ignore"):
        tiny = KModes(1, missing=missing, random_state=0).fit(rows)
        assert np.isfinite(MapDisplay.from_estimator(tiny, rows).rows).all()
        assert MapDisplay.from_estimator(tiny).places.shape == (1, 2)


def test_silhouettes_are_sorted_within_groups_and_their_mean_is_told(model, zoo):
    display = SilhouetteDisplay.from_estimator(model, zoo)
    own = silhouette_samples(zoo, model.labels_)
    assert_array_equal(display.silhouettes, own)
    assert own.mean() == pytest.approx(silhouette(zoo, model.labels_))
    drawn = [patch.get_data().values for patch in display.ax_.patches]
    assert [len(values) for values in drawn] == model.cluster_sizes_.tolist()
    for i, values in enumerate(drawn):
        assert_array_equal(values, np.sort(own[model.labels_ == i])[::-1])
    assert f"mean {own.mean():.2f}" in [text.get_text() for text in display.ax_.texts]


def test_rounding_is_drawn_as_the_estimator_does_it():
    curves = RoundingDisplay.from_estimator(SoftModes()).probability
    assert list(curves) == ["t = 3", "t = 8"]
    share = np.array([[0.3, 0.7]])
    assert curves["t = 8"][120] == pytest.approx(soft(8)(share)[0, 0])
    assert list(RoundingDisplay.from_estimator(KModes()).probability) == ["k-modes (t = inf)"]
    assert list(RoundingDisplay.from_estimator(SoftModes(t=5)).probability) == ["t = 5"]
    named = RoundingDisplay({"a": plurality}).plot()
    assert [line.get_label() for line in named.ax_.get_lines()][1:] == ["a"]


ALL = {
    "sizes": lambda model, X, ax: SizesDisplay.from_estimator(model, ax=ax),
    "profile": lambda model, X, ax: ProfileDisplay.from_estimator(model, ax=ax),
    "history": lambda model, X, ax: HistoryDisplay.from_estimator(model, ax=ax),
    "map": lambda model, X, ax: MapDisplay.from_estimator(model, X, ax=ax),
    "silhouette": lambda model, X, ax: SilhouetteDisplay.from_estimator(model, X, ax=ax),
    "rounding": lambda model, X, ax: RoundingDisplay.from_estimator(model, ax=ax),
}


@pytest.mark.parametrize("name", ALL)
def test_a_display_draws_where_it_is_told_and_says_what_it_needs(name, model, zoo, monkeypatch):
    ax = Figure().subplots()
    display = ALL[name](model, zoo, ax)
    assert display.ax_ is ax
    assert not pyplot.get_fignums()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Plots need matplotlib. .* pip install"):
        display.plot()


@pytest.mark.parametrize("name", sorted(set(ALL) - {"rounding"}))
def test_what_is_not_fitted_is_not_drawn(name, zoo):
    with pytest.raises(ValueError, match="not fitted yet"):
        ALL[name](SoftModes(3), zoo, None)


def test_many_groups_and_odd_names_are_drawn():
    X = make_ccm(400, 12, 30, 0.1, random_state=0)[0]
    many = SoftModes(30, random_state=0, n_init=1, refine="gini").fit(X)
    many.set_names({0: "costs $5 and $6", 1: "x" * 100, 2: "a_b^c{"})
    for name, draw in ALL.items():
        figure = draw(many, X, None).figure_
        figure.canvas.draw()
        assert figure.get_size_inches().max() <= 21, name


# -------------------------------------------------------------------------- how they look

IMAGES = Path(__file__).parent.parent / "data" / "plots"
# Root of the mean squared difference of pixels, from 0 to 255. Fonts are matplotlib's own, and axes
# have a fixed place: other versions of matplotlib differ by far less.
TOLERANCE = 3.0
RNG = np.random.default_rng(7)
ROWS = RNG.normal(size=(60, 2)) + 4 * np.array([[0, 0], [1, 0], [0.5, 1]])[np.arange(60) % 3]
NAMES = ["Early, urban", "Late", "Neither"]

LOOKS = {
    "sizes": lambda wrong: SizesDisplay([50, 30, 14 if wrong else 20], names=NAMES),
    "profile": lambda wrong: ProfileDisplay(
        ["tv: yes", "radio: no", "age: 18-25"],
        [[0.9, 0.1, 0.5], [0.2, 0.8, 0.4], [0.05, 0.0, 0.2 if wrong else 0.7]],
        [0.5, 0.45, 0.15],
        names=NAMES,
    ),
    "history": lambda wrong: HistoryDisplay(
        [5, 4, 3.6, 3.9 if wrong else 3.2, 3.1, 3.05],
        ["modes"] * 3 + ["gini"] + ["latent"] * 2,
        5,
    ),
    "map": lambda wrong: MapDisplay(
        [ROWS[i::3].mean(axis=0) for i in range(3)],
        [20, 20, 20],
        rows=ROWS if not wrong else ROWS[:, ::-1],
        labels=np.arange(60) % 3,
        names=NAMES,
    ),
    "groups": lambda wrong: MapDisplay(
        [[0, 0], [1, 0.2], [0.4, 1 if not wrong else 0.7]], [70, 40, 10], names=NAMES
    ),
    "silhouette": lambda wrong: SilhouetteDisplay(
        np.linspace(-0.1, 0.9 if not wrong else 0.8, 60), np.arange(60) % 3, names=NAMES
    ),
    "rounding": lambda wrong: RoundingDisplay(
        {"t = 3": soft(3), "t = 8": soft(9 if not wrong else 5)}
    ),
    "stability": lambda wrong: StabilityDisplay(
        0.8,
        [0.95, 0.8, 0.55 if not wrong else 0.4],
        [[0.9, 0.7, 0.5], [1.0, 0.9, 0.6]],
        names=NAMES,
    ),
    "sweep": lambda wrong: SweepDisplay(
        [2, 3, 4],
        [0.1, 0.22, 0.25 if not wrong else 0.23],
        [0.01, 0.02, 0.03],
        same_again=[0.9, 0.95, 0.6],
        other_80=[0.88, 0.93, 0.5],
        verdict=["Solid", "Solid", "Do not use"],
        pick=3,
        title="3 groups. Solid",
    ),
}


def drawn(name, path, wrong=False):
    figure = Figure(figsize=(5, 3), dpi=60)
    LOOKS[name](wrong).plot(ax=figure.add_axes((0.3, 0.2, 0.42, 0.6)))
    figure.savefig(path)
    return path


def difference(name, path):
    """How far a picture is from the one that was kept; None if it is nearer than the tolerance."""
    return compare_images(IMAGES / f"{name}.png", path, TOLERANCE, in_decorator=True)


@pytest.mark.parametrize("name", LOOKS)
def test_a_display_looks_as_it_looked(name, tmp_path):
    found = difference(name, drawn(name, tmp_path / f"{name}.png"))
    assert found is None, f"look at it, and if it is better, keep it: {found}"


@pytest.mark.parametrize("name", LOOKS)
def test_another_drawing_is_seen_to_differ(name, tmp_path):
    assert difference(name, drawn(name, tmp_path / f"{name}.png", wrong=True)) is not None
