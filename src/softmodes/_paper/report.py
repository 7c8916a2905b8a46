"""The report: every experiment with its figures, tables and judged claims, as Markdown and HTML."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from softmodes._files import write_whole
from softmodes._journal import Record
from softmodes._paper.experiments import EXPERIMENTS
from softmodes._paper.judging import Judgement, judgements_of
from softmodes._paper.notes import notes_of
from softmodes._paper.plots import draw_figures, inlined_svg
from softmodes._paper.recipe import Size
from softmodes._paper.summary import Found
from softmodes._paper.tables import ReportTable, tables_of

FILES = ("report.md", "report.html")


@dataclass(frozen=True)
class Drawn:
    """A figure: the name of its file, and its drawing, to stand inside a page."""

    file: str
    svg: str


@dataclass(frozen=True)
class Section:
    """What the report says about one experiment."""

    id: str
    title: str
    setting: str
    status: str
    n_cells: int
    minutes: str
    k_means_minutes: str
    figures: list[Drawn]
    judgements: list[Judgement]
    notes: list[str]
    tables: list[ReportTable]


@dataclass(frozen=True)
class Origin:
    """Where the results come from."""

    size: Size
    n_cells: int
    n_missing: int
    hours: str
    machines: list[str]
    versions: list[str]
    dates: str


def write_report(
    records: Iterable[Record], folder: str | os.PathLike[str], size: Size = "full"
) -> list[Path]:
    """Write the report into a folder and return its files.

    The HTML file holds all its figures; the Markdown file shows those in the folder `figures`.
    Works from part of the results too, and says what is missing. Needs matplotlib and Jinja.
    """
    _require_libraries()
    records = list(records)
    target = Path(folder)
    (target / "figures").mkdir(parents=True, exist_ok=True)
    everything = [Found(e, size, records) for e in EXPERIMENTS.values()]
    sections = [_section(found, _figures(found, target / "figures")) for found in everything]
    origin = _origin(everything, size)
    return [_render(name, target, sections, origin) for name in FILES]


def _figures(found: Found, folder: Path) -> list[Drawn]:
    files = draw_figures(found, folder)
    return [
        Drawn(name, inlined_svg((folder / name).read_text(), Path(name).stem)) for name in files
    ]


def _section(found: Found, figures: list[Drawn]) -> Section:
    experiment = found.experiment
    k_means = sum(r["seconds"]["total"] for r in found.records if r["algorithm"] == "k-means")
    return Section(
        id=experiment.id,
        title=experiment.title,
        setting=experiment.setting,
        status=_status(found),
        n_cells=len(found.records),
        minutes=f"{found.seconds / 60:.1f}",
        k_means_minutes=f"{k_means / 60:.1f}",
        figures=figures,
        judgements=judgements_of(found),
        notes=notes_of(found),
        tables=tables_of(found),
    )


def _status(found: Found) -> str:
    if not found.n_declared:
        return "Nothing to run: drawn from the definitions."
    if not found.records:
        return f"Not run yet: all {found.n_declared:,} runs are missing."
    ran = f"{len(found.records):,} runs that took {_duration(found.seconds)} together"
    if found.n_missing:
        return f"Incomplete: {found.n_missing:,} of {found.n_declared:,} runs are missing. {ran}."
    return f"Complete: {ran}."


def _origin(everything: list[Found], size: Size) -> Origin:
    records = [record for found in everything for record in found.records]
    days = sorted(record["date"][:10] for record in records)
    versions = {", ".join(f"{k} {v}" for k, v in r["versions"].items()) for r in records}
    return Origin(
        size=size,
        n_cells=len(records),
        n_missing=sum(found.n_missing for found in everything),
        hours=_duration(sum(found.seconds for found in everything)),
        machines=sorted({record["machine"] for record in records}),
        versions=sorted(versions),
        dates=" to ".join(dict.fromkeys((days[0], days[-1]))) if days else "",
    )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def _render(name: str, folder: Path, sections: list[Section], origin: Origin) -> Path:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("softmodes._paper"),
        autoescape=name.endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_plain if name.endswith(".md") else None,
    )
    text = environment.get_template(f"{name}.jinja").render(sections=sections, origin=origin)
    write_whole(folder / name, (text.rstrip() + "\n").encode())
    return folder / name


def _plain(text: object) -> object:
    """Return text in which a star, as that of d*, is no sign of Markdown."""
    return text.replace("*", r"\*") if isinstance(text, str) else text


def _require_libraries() -> None:
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f'The report needs {error.name}. Install it with: pip install "softmodes[paper]"'
        ) from error
