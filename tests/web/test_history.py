"""The way through the page: by mouse, by keyboard, back and forward."""

import pytest
from playwright.sync_api import expect

from tests.web.conftest import NARROW, WIDE, Opener, Study
from tests.web.page import cell, cells, fragment, settle


def test_a_click_opens_the_card_and_back_returns(demo: Study, show: Opener) -> None:
    page = show(demo, "view=grid")
    before = cells(page)
    cell(page, "2-3").click()
    page.wait_for_selector('main[data-view="head"]')
    assert "head=2-3" in fragment(page)
    assert "2-3" in page.locator("main h2").first.inner_text()
    page.go_back()
    page.wait_for_selector('main[data-view="grid"]')
    settle(page)
    assert cells(page) == before
    page.go_forward()
    page.wait_for_selector('main[data-view="head"]')
    assert "head=2-3" in fragment(page)


def test_arrows_move_enter_opens_escape_leaves(hostile: Study, show: Opener) -> None:
    """Layer 1 is at the bottom, so Up is the next layer."""
    page = show(hostile, "view=grid")
    cell(page, "1-1").focus()
    for key, head in [
        ("ArrowRight", "1-2"),
        ("ArrowUp", "2-2"),
        ("ArrowLeft", "2-1"),
        ("ArrowLeft", "2-1"),  # the first: it stays
        ("ArrowDown", "1-1"),
        ("ArrowDown", "1-1"),
        ("ArrowUp", "2-1"),
    ]:
        page.keyboard.press(key)
        focused = page.evaluate("document.activeElement.dataset.head")
        assert focused == head, key
    page.keyboard.press("Enter")
    page.wait_for_selector('main[data-view="head"]')
    assert "head=2-1" in fragment(page)
    page.keyboard.press("Escape")
    page.wait_for_selector('main[data-view="grid"]')
    settle(page)
    assert page.evaluate("document.activeElement.dataset.head") == "2-1", "the focus is lost"


def test_back_leads_to_where_the_claims_were_left(demo: Study, show: Opener) -> None:
    page = show(demo, "view=claims")
    link = page.get_by_role("link", name="In the atlas").nth(5)
    link.scroll_into_view_if_needed()
    settle(page)
    top = page.evaluate("scrollY")
    assert top > 0
    page.wait_for_function("history.state?.top === scrollY")
    link.click()
    page.wait_for_selector('main:not([data-view="claims"])')
    assert page.evaluate("scrollY") == 0
    page.go_back()
    page.wait_for_selector('main[data-view="claims"]')
    settle(page)
    assert page.evaluate("scrollY") == top


FOCUSED = "document.activeElement.id || document.activeElement.tagName"


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280", "390"])
def test_a_card_starts_at_its_top_and_leads_back_to_its_row(
    size: tuple[int, int], demo: Study, show: Opener
) -> None:
    page = show(demo, "measure=entropy.all", size=size)
    page.locator(".ranked [aria-pressed]").click()
    button = page.locator(".ranked li button").last
    button.scroll_into_view_if_needed()
    assert page.evaluate("scrollY") > 0
    head = button.inner_text()
    button.click()
    page.wait_for_selector('main[data-view="head"]')
    assert page.evaluate("scrollY") == 0
    assert page.evaluate(FOCUSED) == "card-title"
    page.keyboard.press("Escape")
    page.wait_for_selector('main[data-view="grid"]')
    assert page.evaluate("document.activeElement.dataset.head") == head
    expect(page.locator(":focus")).to_be_in_viewport()


def test_a_link_shows_what_was_chosen(demo: Study, show: Opener) -> None:
    page = show(demo, "view=head&head=2-3")
    dim, below = page.locator("#dim"), page.locator("#faintest")
    dimmed = not dim.is_checked()
    dim.set_checked(dimmed)
    below.select_option("0.2")
    page.reload()
    assert (dim.is_checked(), below.input_value()) == (dimmed, "0.2")
    page.go_back()
    expect(below).to_have_value("0.05")
    assert dim.is_checked() == dimmed
