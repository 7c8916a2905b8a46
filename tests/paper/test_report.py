import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_up_results import found_in, made_up

from softmodes._paper import EXPERIMENTS
from softmodes._paper.cell import run_cell
from softmodes._paper.experiment import Claim
from softmodes._paper.judging import judge_everywhere
from softmodes._paper.notes import notes_of
from softmodes._paper.published import PUBLISHED
from softmodes._paper.report import FILES, write_report
from softmodes._paper.results import read_folder

DOCS = Path(__file__).parents[2] / "docs"


class Balanced(HTMLParser):
    """Checks that every element is closed; collects pictures, ids and what is referred to."""

    def __init__(self):
        super().__init__()
        self.open, self.pictures, self.ids, self.referred = [], 0, [], []

    def handle_starttag(self, tag, attrs):
        self.pictures += tag == "svg"
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.referred += [named[n] for n in ("href", "xlink:href", "src") if n in named]
        self.referred += re.findall(r"url\(([^)]*)\)", " ".join(filter(None, named.values())))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="session")
def report(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return folder, write_report(small[0], folder, "small")


def test_the_report_shows_every_experiment_with_its_pictures(report):
    folder, (markdown, html) = report
    text = markdown.read_text()
    page = Balanced()
    page.feed(html.read_text())
    assert page.open == []
    for experiment in EXPERIMENTS.values():
        assert f"## {experiment.title}" in text
        assert experiment.claims == () or experiment.claims[0].text in text
    drawn = {path.name for path in (folder / "figures").iterdir()}
    assert len(drawn) == page.pictures == 11
    assert all(f"(figures/{name})" in text for name in drawn)
    assert "missing" not in text.split("## Claims")[0]


def test_the_page_needs_no_other_file_and_every_link_leads_somewhere(report):
    page = Balanced()
    page.feed(report[1][1].read_text())
    assert len(page.ids) == len(set(page.ids)), "two elements have the same id"
    inside = [reference for reference in page.referred if not reference.startswith("data:")]
    assert len(inside) > 100
    assert {reference for reference in inside if not reference.startswith("#")} == set()
    assert {reference[1:] for reference in inside} <= set(page.ids)
    contents = {f"#{experiment}" for experiment in EXPERIMENTS}
    assert contents <= set(inside)


def test_every_link_inside_the_markdown_leads_somewhere(report):
    text = report[1][0].read_text()
    titles = {re.sub(r"[^a-z0-9 -]", "", t.lower()).replace(" ", "-") for t in _titles(text)}
    anchors = set(re.findall(r'<a id="([^"]+)">', text)) | titles
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


def test_a_star_is_no_sign_of_markdown(report):
    text = report[1][0].read_text()
    assert r"*From seeds in two blocks a run is right from d = d\* on*: **too few runs**." in text


def _titles(text):
    return re.findall(r"^#+ (.*)$", text, re.MULTILINE)


def test_figures_take_the_colours_of_the_page_light_or_dark(report):
    page = report[1][1].read_text()
    assert "prefers-color-scheme: dark" in page
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    for fixed in ("fill: #ffffff", "#000000", "#222222", "#e4e4e4"):
        assert fixed not in drawings, f"{fixed} stays as it is on a dark page"


def test_a_map_of_thousands_of_points_is_a_small_picture(report):
    assert (report[0] / "figures" / "theorem-map.svg").stat().st_size < 150_000


def test_the_report_has_published_beside_found(report):
    text = report[1][0].read_text()
    rows = [line for line in text.splitlines() if line.startswith("| zoo | ")]
    for name, published in PUBLISHED["zoo"].items():
        title = {"k-modes": "k-modes", "softmodes": "SoftModes(3)"}.get(name, "")
        assert any(f"{published.mean:.4f}" in row and title in row for row in rows)
    assert "tic-tac-toe: putting all rows in one cluster has accuracy 0.6534" in text


def test_at_the_small_size_nothing_is_judged(report):
    text = report[1][0].read_text()
    claims = text.split("## Claims")[1].split("## How to read it")[0]
    verdicts = re.findall(r"\| ([^|]*) \|$", claims, re.MULTILINE)[1:]
    assert len(verdicts) == sum(len(experiment.claims) for experiment in EXPERIMENTS.values())
    assert set(verdicts) == {"too few runs"}
    assert "What it is:" not in text


def test_the_same_results_give_the_same_report(small, report, tmp_path):
    write_report(small[0], tmp_path, "small")
    for path in sorted(report[0].rglob("*.*")):
        assert (tmp_path / path.relative_to(report[0])).read_bytes() == path.read_bytes(), path


def test_a_report_of_part_of_the_results_says_what_is_missing(small, tmp_path):
    part = [r for r in small[0] if r["experiment"] in ("fig-sbm", "fig-ccm", "table-real")]
    part = [r for r in part if r["run"] < 2 and r["data"]["kind"] != "zoo"]
    text = write_report(part, tmp_path, "small")[0].read_text()
    assert "runs are missing**" in text
    assert "Incomplete: 32 of 40 runs are missing." in text
    assert "Not run yet: all 60 runs are missing." in text
    verdicts = [line for line in text.splitlines() if line.startswith("| [fig-sbm]")]
    assert len(verdicts) == 4, "three claims, and the minutes"
    assert (tmp_path / "figures" / "sbm.svg").exists()
    assert not (tmp_path / "figures" / "noise.svg").exists()


def test_a_report_of_any_single_cell_can_be_written(small, tmp_path):
    firsts = {r["experiment"]: r for r in small[0]}
    for record in firsts.values():
        write_report([record], tmp_path, "small")


def test_capped_runs_are_said_to_be_capped():
    records = [
        made_up(c, 0.5, capped=c.algorithm.name == "k-means", rounds=4 + c.run)
        for c in EXPERIMENTS["fig-ccm"].cells("full")
        if c.data.n_clusters == 2000
    ]
    assert notes_of(found_in(records, "fig-ccm", "full")) == [
        "k = 2,000: k-means was capped at 75 seconds in 5 of 5 runs, after 4 to 8 rounds."
    ]


def test_the_published_report_is_what_the_published_results_give(tmp_path):
    write_report(read_folder(DOCS / "paper", "full"), tmp_path, "full")
    for name in FILES:
        assert (tmp_path / name).read_text() == (DOCS / "paper" / name).read_text()
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert drawn == {path.name for path in (DOCS / "paper" / "figures").iterdir()}


@pytest.fixture
def new_experiment(monkeypatch):
    """The example of the documentation, with one more claim and a note."""
    text = (DOCS / "your-own-method.md").read_text("utf-8")
    (code,) = (b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "EXPERIMENT" in b)
    names = {}
    exec(compile(code, "your-own-method.md", "exec"), names)
    declared = names["EXPERIMENT"]
    unheard = Claim("k-modes is worse", judge_everywhere("k-modes", lambda s: s.mean() < 0))
    new = replace(
        declared,
        claims=(*declared.claims, unheard),
        notes=(lambda found: [f"{len(found.records)} runs."],),
    )
    monkeypatch.setitem(EXPERIMENTS, new.id, new)
    return new


def test_all_that_a_new_experiment_declares_is_run_judged_drawn_and_reported(
    new_experiment, tmp_path
):
    records = [run_cell(cell) for cell in new_experiment.cells("small")]
    text = write_report(records, tmp_path, "small")[0].read_text()
    section = text.split('<a id="dense-blocks"></a>')[1]
    assert "## Dense blocks\n\nTwo equal blocks, random seeds.\n\nComplete: 6 runs" in section
    assert "- *k-modes recovers the blocks*: **too few runs**. p = 0.9, q = 0.1: " in section
    assert "- *k-modes is worse*: **too few runs**." in section
    assert "![Dense blocks](figures/dense-blocks.svg)" in section
    assert "- 6 runs." in section
    assert "| p = 0.9, q = 0.1 | SoftModes(1) | 3 |" in section
    assert (tmp_path / "figures" / "dense-blocks.svg").exists()
