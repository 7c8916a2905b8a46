"""The page: one HTML document with styles and script inside, and nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from functools import partial
from importlib.resources import files
from typing import Any

from softmodes._choice.measure import TIED
from softmodes._model.stability import DISSOLVED, FOUND
from softmodes._report import drawing
from softmodes._report.data import ReportData
from softmodes._report.shares import FEWEST_ROWS
from softmodes._report.texts import LONGEST, LONGEST_OF_MANY, agreement, count, percent, shown
from softmodes._text import harmless

N_COLOURS = 10
_MANY_GROUPS = 20
_LONGEST_SENTENCE = 160  # characters


def require_jinja() -> None:
    """Refuse to go on without Jinja, and say how to get it."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'The page needs Jinja. Install it with: pip install "softmodes[report]"'
        ) from error


def html_of(data: ReportData) -> str:
    """Return the page of a report.

    Styles and script are allowed by their digests alone: nothing that data could smuggle in would
    run, and nothing is asked of a network.
    """
    require_jinja()
    import jinja2
    from markupsafe import Markup

    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("softmodes._report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_harmless,
    )
    large = data.n_groups > _MANY_GROUPS
    longest = LONGEST_OF_MANY if large else LONGEST
    environment.filters.update(_FILTERS | {"name": partial(shown, longest=longest)})
    template = environment.get_template("report.html.jinja")
    text = template.render(
        data=data,
        policy=policy,
        large=large,  # what is out of sight is laid out when it comes into sight
        style=Markup(style),
        script=Markup(script),
        figures=_figures(data),
        again_tone=_again_tone,
        colour=lambda number: f"g{number % N_COLOURS}",
        tied=TIED,
        fewest=FEWEST_ROWS,
        heat=drawing.heat,
    )
    return text.rstrip() + "\n"


def _figures(data: ReportData) -> dict[str, Any]:
    return {
        "n_across": drawing.n_across(len(data.shown_groups)),
        "pieces": drawing.pieces(data.groups),
        "sweep": data.swept and drawing.sweep_figure(data.swept, data.n_groups),
        "map": data.map and drawing.map_figure(data.map),
        "margins": drawing.histogram(data.bins, TIED),
        "sure": _share_of_bins(data.findings.margins.bins, 0.9, 1.0),
        "unsure": _share_of_bins(data.findings.margins.bins, 0.0, TIED),
    }


def _share_of_bins(bins: tuple[float, ...], least: float, most: float) -> float:
    """Return what share of the rows has a margin in a range."""
    first, last = round(least * len(bins)), round(most * len(bins))
    return sum(bins[first:last]) / (sum(bins) or 1.0)


def _again_tone(found_again: float) -> str:
    """Return the tone of how well a group is found again: none where nobody has looked."""
    if found_again >= FOUND:
        return "good"
    return "care" if found_again >= DISSOLVED else "bad" if found_again == found_again else "none"


def _asset(name: str) -> str:
    return files("softmodes._report").joinpath("templates", name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _harmless(value: Any) -> Any:
    """Return a text without controls but line breaks, whoever wrote it."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join(map(harmless, value.split("\n")))


def _unbroken(text: str) -> str:
    """Return a text whose numbers are not parted from what they count in."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _whole_percent(share: float | None) -> str:
    """Return a share in whole per cent without the sign, for cells of tables."""
    return "·" if share is None else percent(share).removesuffix(" %")


_FILTERS: dict[str, Any] = {
    "percent": lambda share, digits=0: _unbroken(percent(share, digits)),
    "unbroken": _unbroken,
    "whole": _whole_percent,
    "count": count,
    "agreement": agreement,
    "sentence": partial(shown, longest=_LONGEST_SENTENCE),
}
