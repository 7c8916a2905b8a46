"""Draw the picture of a report that the documentation shows: the Zoo table, in Chromium.

Run it as `python tools/report_picture.py` in an environment with softmodes[browser-test].
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import softmodes
from softmodes.datasets import load_zoo

PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "report.png"
NAMES = ["Mammals", "Birds", "Fish", "Crawlers and soft ones", "Insects and kin"]
WIDTH, HEIGHT = 1120, 1130


def zoo_report() -> softmodes.Report:
    """Return the report of the Zoo table, its groups named by hand."""
    X = load_zoo(as_frame=True).data
    found = softmodes.sweep(X, random_state=0)
    model = found.model().set_names(NAMES)
    return softmodes.report(
        model, X, sweep=found, rows="animals", columns="questions", source="zoo.csv"
    )


def main() -> None:
    """Write the report, open it, and keep what a reader sees first."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = Path(folder) / "zoo.html"
        zoo_report().save(page_file)
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(page_file.as_uri())
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
