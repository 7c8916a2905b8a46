"""The page: one file, safe, small, in the words that were promised. Its looks: tests/browser."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import made_reports
import numpy as np
import pytest

import softmodes
from softmodes import SoftModes
from softmodes._report.texts import shown

SECTIONS = ["groups", "trust", "how-many", "separate", "map", "each", "undecided", "described",
            "columns", "again"]  # fmt: skip


class Page(HTMLParser):
    """Tags, attributes and texts of a page, texts by the section that they stand in."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], {}
        self._section, self._inside = "head", []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self._inside.append(tag)
        if tag in ("section", "footer", "header"):
            self._section = dict(attrs).get("id", tag)

    def handle_data(self, data):
        if self._inside[-1:] not in (["script"], ["style"]):
            self.texts[self._section] = self.texts.get(self._section, "") + data

    def handle_endtag(self, tag):
        self._inside.append("")


@pytest.fixture(scope="module")
def html():
    return made_reports.survey_report().to_html()


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


@pytest.fixture(scope="module")
def hostile():
    return made_reports.hostile_report().to_html()


def test_the_sections_stand_in_their_order(html):
    found = re.findall(r'<section id="([\w-]+)"', html)
    assert found == SECTIONS
    assert re.findall(r'<a href="#([\w-]+)">[^<]', html) == SECTIONS


def test_a_report_of_no_groups_has_only_what_can_be_told():
    X = np.random.default_rng(0).integers(0, 3, (300, 6))
    found = softmodes.sweep(X, (2, 4), random_state=0)
    html = softmodes.report(found.model(1), X, sweep=found).to_html()
    assert re.findall(r'<section id="([\w-]+)"', html) == ["how-many", "columns", "again"]
    assert "<h1>No groups among 300 rows</h1>" in html


def test_the_first_sections_speak_plainly(page):
    for section in ("header", *SECTIONS[:4]):
        text = page.texts[section]
        assert len(text) > 50
        assert not re.search(r"cluster|lift|hamming|\bt\b|\brows\b", text, re.IGNORECASE), section


def test_the_four_questions_have_numbers_answers_and_meanings(page):
    text = page.texts["trust"]
    assert len(re.findall(r"\?", text)) >= 4
    for question in made_reports.survey_report().data.questions:
        for part in (question.question, question.answer, question.meaning):
            assert part in text.replace("\xa0", " ")
        assert re.search(r"\d", question.measured)


def test_nothing_is_asked_of_a_network_and_nothing_runs_that_is_not_ours(html, page):
    assert "://" not in re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    assert not {"img", "link", "iframe", "object", "base", "form"} & set(page.tags)
    loads = [(tag, name) for tag, name, _ in page.attributes if name in ("src", "srcset", "data")]
    assert loads == []
    assert [
        name for _, name, _ in page.attributes if name.startswith("on") or name == "style"
    ] == []
    assert "url(" not in html
    assert "@import" not in html


def test_styles_and_script_are_allowed_by_their_digests_alone(html):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name} &#39;sha256-{digest}&#39;" in policy


def test_hostile_cells_make_no_tags_attributes_or_controls(hostile, page):
    mine = Page(hostile)
    assert set(mine.tags) <= set(page.tags) | {"b"}
    assert {(tag, name) for tag, name, _ in mine.attributes} <= {
        (tag, name) for tag, name, _ in page.attributes
    }
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile
    )
    assert "{{" not in Page(hostile).texts.get("head", "")
    hostile.encode("utf-8")


def test_hostile_cells_are_shown_all_the_same(hostile):
    text = "".join(Page(hostile).texts.values())
    for told in (
        "<script>window.ran",
        "“=cmd()”",
        "{{ 7 * 7 }}",
        "\\x1b[31mred",
        "nothing\\x00here",
    ):
        assert told in text


def test_long_values_are_cut(hostile):
    assert "a" * 100 not in hostile
    assert "aaa…" in hostile


@pytest.mark.parametrize(
    "text", ["=1+1", "+1 234", "-a", "@x", "=", "-", "\t=x", " =x", "\u202e=x"]
)
def test_what_a_spreadsheet_would_run_is_quoted(text):
    assert not re.match(r"[\s=+\-@]", shown(text))


@pytest.mark.parametrize("text", ["-5", "+3.5", "-1,000.25", "-1e-5", "a=b", "5 - 3"])
def test_numbers_and_plain_texts_are_not_quoted(text):
    assert shown(text) == text


def test_the_largest_page_has_under_two_megabytes_and_says_what_it_leaves_out():
    report = made_reports.largest_report()
    html = report.to_html()
    assert len(html.encode()) < 2_000_000
    assert html.count('<li class="card') == 50
    assert "The 300 most telling of 3,000 values" in html
    shares = html.split('<table class="heat sortable"')[1].split("</table>")[0]
    assert shares.count("<tr>") == 301
    assert len(report.frames()["importance"]) == 500


def test_more_groups_than_a_page_has_room_for_are_left_to_the_frames():
    X = np.arange(70)[:, None].repeat(8, axis=0) * np.ones((1, 3), int)
    model = SoftModes(70, init=np.arange(70)[:, None] * np.ones((1, 3), int), n_init=1).fit(X)
    report = softmodes.report(model, X, sweep=False)
    html = report.to_html()
    assert "The 60 largest are shown" in html
    assert html.count('<li class="card') == 60
    assert len(report.frames()["groups"]) == 70


def test_the_same_report_is_the_same_page(html):
    assert made_reports.survey_report().to_html() == html


@pytest.mark.parametrize("X", [[["a", "x"], ["b", "y"], ["a", "x"]], [[v] for v in "abcde" * 40]])
@pytest.mark.parametrize("k", [1, 2])
def test_small_tables_have_a_page(X, k, tmp_path):
    report = softmodes.report(SoftModes(k, random_state=0).fit(X), X)
    report.save(tmp_path / "r.html")
    assert report.verdict in ("No groups", "Do not use")
    assert "<h1>No groups" in (tmp_path / "r.html").read_text("utf-8")


def test_cells_are_closed_and_ids_are_unique(page):
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    named = {value for _, name, value in page.attributes if name == "aria-labelledby"}
    assert named <= set(ids)
