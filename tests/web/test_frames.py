"""The page within others: a report's data: address, and a notebook's sandbox."""

import base64
from pathlib import Path

import pytest

from tests.web.conftest import Opener, Study
from tests.web.page import settle
from workflow_scripts.atlas.notebook import Atlas

HOST = "<!doctype html><meta charset=utf-8><title>Host</title><p>host</p>{}"
STYLE = 'style="width: 1200px; height: 800px"'


def embedded(study: Study, how: str) -> str:
    """An iframe that holds the page."""
    page = study.path.read_bytes()
    if how == "data":
        data = base64.b64encode(page).decode()
        return f'<iframe {STYLE} src="data:text/html;base64,{data}"></iframe>'
    return Atlas(study.path.parent)._repr_html_()


@pytest.mark.parametrize("how", ["data", "notebook"])
def test_it_works_in_a_frame(
    how: str, request: pytest.FixtureRequest, show: Opener, tmp_path: Path
) -> None:
    """Chromium opens no data: address of more than 2 MB, so that a small page stands for all."""
    study: Study = request.getfixturevalue("hostile" if how == "data" else "demo")
    host = tmp_path / "host.html"
    host.write_text(HOST.format(embedded(study, how)), encoding="utf-8")
    page = show(study, url=host.as_uri())
    frame = page.frames[1]
    frame.locator('main[data-view="maps"] [data-head="2-2"]').click()
    frame.wait_for_selector('main[data-view="head"]')
    assert frame.locator("main h2").first.inner_text() == "2-2"
    settle(frame)
    page.keyboard.press("ArrowRight")
    frame.locator("h2", has_text="2-3").wait_for()
    page.keyboard.press("Escape")
    frame.wait_for_selector('main[data-view="maps"]')
    for name in ("Compare", "Claims", "Figures", "About", "Measures"):
        frame.locator("nav").get_by_text(name, exact=True).click()
        view = name.lower() if name != "Measures" else "grid"
        frame.wait_for_selector(f'main[data-view="{view}"]')
    frame.evaluate("history.back()")
    frame.wait_for_selector('main[data-view="about"]')
    frame.get_by_role("button", name="Dark").click()
    frame.wait_for_selector(':root[data-theme="dark"]')
    assert page.locator("p").inner_text() == "host"
