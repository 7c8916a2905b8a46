"""The Displays: what they draw, where, and what they say without matplotlib."""

import sys

import numpy as np
import pytest

import softmodes
from softmodes import SoftModes
from softmodes.datasets import make_ccm
from softmodes.plots import StabilityDisplay, SweepDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def rows():
    return make_ccm(300, 20, 3, 0.15, random_state=0)[0]


@pytest.fixture(scope="module")
def found(rows):
    return softmodes.sweep(rows, (2, 5), random_state=0, n_jobs=1)


def lines_of(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_a_sweep_is_drawn_with_its_shuffled_table_and_agreement(found):
    display = found.plot()
    assert isinstance(display, SweepDisplay)
    ax, frame = display.ax_, found.to_frame()
    assert display.figure_ is ax.figure
    lines = lines_of(ax)
    np.testing.assert_allclose(lines["explained"].get_ydata(), 100 * frame["explained"])
    np.testing.assert_allclose(lines["columns shuffled"].get_ydata(), 100 * frame["shuffled"])
    assert lines["pick"].get_xdata() == [3]
    assert lines["solid"].get_xdata()[-1] == 3
    shown = [label.get_text() for label in ax.get_xticklabels()]
    same, other = frame["same_again"][1], frame["other_80"][1]
    assert shown[1] == f"3\n{same:.2f}\n{other:.2f}"
    assert ax.get_title(loc="left") == "3 groups. Solid"


def test_axes_may_be_given(found):
    ax = Figure().subplots()
    assert found.plot(ax=ax).ax_ is ax
    assert not pyplot.get_fignums()


def test_without_a_pick_nothing_is_ringed():
    noise = np.random.default_rng(0).integers(0, 3, (200, 8))
    display = softmodes.sweep(noise, (2, 3), random_state=0, n_jobs=1).plot()
    assert {"pick", "solid"}.isdisjoint(lines_of(display.ax_))
    assert display.ax_.get_title(loc="left") == "No groups"


def test_many_numbers_are_not_written_one_beside_the_other():
    k = range(2, 30)
    shares = np.linspace(0.1, 0.5, 28)
    display = SweepDisplay(
        k, shares, shares / 2, same_again=shares, other_80=shares, verdict=["Do not use"] * 28
    ).plot()
    assert display.ax_.get_xlabel() == "number of groups"


def test_a_sweep_of_one_row_is_drawn():
    assert softmodes.sweep([["a"]], random_state=0).plot().ax_.get_title(loc="left") == "No groups"


def test_stability_is_drawn_with_a_dot_for_each_part(rows):
    model = SoftModes(4, random_state=0, n_jobs=1).fit(rows)
    display = StabilityDisplay.from_estimator(model, rows, n_resamples=5)
    found = model.stability(rows, n_resamples=5)
    bars = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_allclose(bars, found.by_cluster)
    dots = [line for line in display.ax_.get_lines() if line.get_marker() == "."]
    np.testing.assert_allclose([dot.get_xdata() for dot in dots], found.jaccards.T)
    shown = [" ".join(label.get_text().split()) for label in display.ax_.get_yticklabels()]
    assert shown == [f"{i} {name}" for i, name in enumerate(model.names_)]


def test_without_matplotlib_it_is_told_what_to_install(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r'Plots need matplotlib. .* pip install "softmodes\[plot'
    ):
        found.plot()
