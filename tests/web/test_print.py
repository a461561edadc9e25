"""Every view on paper: light colours from a dark page, no controls, nothing cut off."""

import re

from playwright.sync_api import Page

from tests.web.conftest import Opener, Study
from tests.web.page import go, settle, too_wide
from tests.web.views import views

PAPER = (718, 1047)  # A4 less margins of 1 cm, in CSS pixels
# Buttons that are numbers or names.
TEXTS = ".chip, .roles button, .tokens button, table button, .ranked li button"
CONTROLS = f"button:not({TEXTS}), input:not([role=combobox]), dialog, nav, .tooltip"
CUT_OFF = """() => Array.from(document.querySelectorAll('main *'))
  .filter((one) => getComputedStyle(one).overflow !== 'visible')
  .filter((one) => !one.matches('svg, svg *, select, .only-screen-reader, li *, .labels *'))
  .filter(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
    scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1)
  .map((one) => `${one.tagName}.${one.className}`)"""


def printed(page: Page) -> Page:
    """The page as a printer of A4 is given it."""
    page.set_viewport_size({"width": PAPER[0], "height": PAPER[1]})
    page.emulate_media(media="print")
    settle(page)
    return page


def test_a_card_has_two_pages(demo: Study, show: Opener) -> None:
    page = show(demo)
    for where in ("head=3-10", "head=4-10&map=matrix", "model=smollm2&head=19-7"):
        go(page, f"view=head&{where}")
        pages = page.pdf(format="A4", margin=dict.fromkeys(("top", "bottom"), "1cm"))
        assert len(re.findall(rb"/Type\s*/Page\b", pages)) <= 2, where


def test_every_view_fits_on_paper_without_controls(study: Study, show: Opener) -> None:
    page = printed(show(study, scheme="dark"))
    for name, where in views(study.atlas).items():
        go(page, where)
        shown = page.locator(CONTROLS).filter(visible=True)
        assert shown.count() == 0, (name, shown.first.evaluate("one => one.outerHTML"))
        assert too_wide(page) == [], name
        assert page.evaluate(CUT_OFF) == [], name
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
