"""The page within others: a report's data: address, and a notebook's sandbox."""

import base64
import html
from pathlib import Path

import pytest
from playwright.sync_api import Frame, Page

from tests.web.conftest import Opener, Study
from tests.web.page import cell, settle

HOST = "<!doctype html><title>Host</title><p>host</p>{}"
STYLE = 'style="width: 1200px; height: 800px"'


def embedded(study: Study, how: str) -> str:
    """An iframe that holds the page."""
    page = study.path.read_bytes()
    if how == "data":
        return f'<iframe {STYLE} src="data:text/html;base64,{base64.b64encode(page).decode()}">'
    return f'<iframe {STYLE} sandbox="allow-scripts" srcdoc="{html.escape(page.decode())}">'


def inner(page: Page) -> Frame:
    """The frame of the embedded page; it is another one after a navigation."""
    return page.frames[1]


@pytest.mark.parametrize("how", ["data", "srcdoc"])
def test_it_works_in_a_frame(how: str, demo: Study, show: Opener, tmp_path: Path) -> None:
    host = tmp_path / "host.html"
    host.write_text(HOST.format(embedded(demo, how) + "</iframe>"), encoding="utf-8")
    page = show(demo, url=host.as_uri())
    frame = inner(page)
    frame.wait_for_selector('main[data-view="grid"]')
    cell(frame, "2-3").click()
    frame.wait_for_selector('main[data-view="head"]')
    assert "2-3" in frame.locator("main h2").first.inner_text()
    settle(frame)
    page.keyboard.press("Escape")
    frame.wait_for_selector('main[data-view="grid"]')
    for name in ("Scatter", "Compare", "About", "Table", "Grid"):
        frame.locator("nav").get_by_text(name, exact=True).click()
        frame.wait_for_selector(f'main[data-view="{name.lower()}"]')
    frame.evaluate("history.back()")
    frame.wait_for_selector('main[data-view="table"]')
    assert page.locator("p").inner_text() == "host"
