"""Pages in a real browser: Chromium, driven by Playwright; skipped where one of them is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import made_reports
import numpy as np
import pytest

import softmodes

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Return the path of a browser: that of SOFTMODES_CHROMIUM, or one that is installed."""
    return os.environ.get("SOFTMODES_CHROMIUM") or next(
        filter(None, map(shutil.which, NAMES)), None
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("chromium is not installed")
    with driver.sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the file of a report by its name, written when first asked for."""
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "survey": made_reports.survey_report,
        "hostile": made_reports.hostile_report,
        "largest": made_reports.largest_report,
        "no groups": _report_of_no_groups,
        "cut": lambda: _report_of_no_groups(3),
        "three rows": _report_of_three_rows,
    }

    def written(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            made[name]().save(path)
        return path

    return written


def _report_of_no_groups(k: int = 1) -> softmodes.Report:
    X = np.random.default_rng(0).integers(0, 3, (300, 6))
    found = softmodes.sweep(X, (2, 4), random_state=0)
    return softmodes.report(found.model(k), X, sweep=found)


def _report_of_three_rows() -> softmodes.Report:
    X = [["a", "x"], ["b", "y"], ["a", "x"]]
    return softmodes.report(softmodes.SoftModes(2, random_state=0).fit(X), X)


@pytest.fixture
def open_page(browser: Any, pages: Callable[[str], Path]) -> Iterator[Callable[..., Any]]:
    """Open a report by its name; whatever its page says or asks for is in `page.said`."""
    contexts = []

    def opened(name: str, width: int = 1200, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
        url = pages(name).as_uri()
        page.on("request", lambda asked: asked.url == url or page.said.append(asked.url))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
