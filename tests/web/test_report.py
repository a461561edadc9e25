"""The report in a browser: tables sort and save, and a claim leads to what shows it."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.default_study import DEMO, MODEL, needs, needs_current
from tests.web.conftest import NARROW, WIDE
from tests.web.page import inaccessible, saved, settle, too_wide

PHONE = (400, 800)
CLAIMS = DEMO / MODEL / "tables/claims.html"
TABLE = DEMO / MODEL / "tables/clark2019-table1.html"
FRONT = "The central claims, with the papers"
FRONT_ATLAS = "The atlas: findings, and every head by every measure"
LINK = 'td a[data-path$="{}"]'
# Snakemake's own report states this about the styles that it brings along.
OF_SNAKEMAKE = "cdn.tailwindcss.com should not be used in production"


@pytest.fixture(autouse=True)
def finished_report() -> None:
    """The default study's pages, and what their links lead to."""
    needs(DEMO / "report.html", DEMO / MODEL / "figures/clark2019-fig2.svg")
    needs_current(DEMO / "atlas.html", "atlas_page")
    needs_current(CLAIMS, "claims_page")
    needs_current(TABLE, "table_pages_clark2019")


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens files without a network; an error or a request of a page fails the test."""
    problems: list[str] = []
    contexts = []

    def problem(message: object) -> None:
        if message.type in {"error", "warning"} and OF_SNAKEMAKE not in message.text:
            problems.append(f"console {message.type}: {message.text}")

    def open_file(path: Path, size: tuple[int, int] = WIDE, scheme: str = "light") -> Page:
        viewport = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", problem)
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: problems.append(request.url) if request.url[:4] == "http" else None,
        )
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert problems == []


def column(page: Page, number: int) -> list[str]:
    """The texts of a column, its first line each; rows of groups are left out."""
    cells = page.locator(f"tbody tr:not(.group) td:nth-child({number})").all_inner_texts()
    return [cell.partition("\n")[0] for cell in cells]


@pytest.mark.parametrize("path", [CLAIMS, TABLE], ids=lambda path: path.stem)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280", "390"])
def test_axe_finds_nothing_in_a_table(
    path: Path, scheme: str, size: tuple[int, int], open_page: Callable[..., Page]
) -> None:
    page = open_page(path, size, scheme)
    assert inaccessible(page) == []
    assert too_wide(page) == []


def test_a_table_sorts_by_click_and_by_keyboard(open_page: Callable[..., Page]) -> None:
    page = open_page(TABLE)
    unsorted = column(page, 4)
    button = page.get_by_role("button", name="accuracy", exact=True)
    button.click()
    numbers = [float(text) for text in column(page, 4) if text]
    assert numbers == sorted(numbers) != [float(text) for text in unsorted if text]
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("accuracy")
    button.press("Enter")
    assert [float(text) for text in column(page, 4) if text] == numbers[::-1]
    button.press("Enter")
    assert column(page, 4) == unsorted


def test_a_table_is_saved_as_it_stands_next_to_the_page(open_page: Callable[..., Page]) -> None:
    page = open_page(TABLE)
    for name, ending in (("CSV", "csv"), ("LaTeX", "tex")):
        text = saved(page, page.get_by_role("button", name=name))
        assert text == TABLE.with_suffix(f".{ending}").read_text(encoding="utf-8")


def test_claims_are_grouped_and_chosen(open_page: Callable[..., Page]) -> None:
    page = open_page(CLAIMS)
    rows = list(csv.DictReader(io.StringIO(CLAIMS.with_suffix(".csv").read_text("utf-8"))))
    rows = [row for row in rows if row["central"]]
    papers = sorted({row["paper"] for row in rows})
    heads = page.locator("tr.group").all_inner_texts()
    assert [head.partition(" (")[0] for head in heads] == papers
    page.locator("select[data-name=verdict]").select_option("carries over")
    wanted = [row["statement"] for row in rows if row["verdict"] == "carries over"]
    assert sorted(column(page, 1)) == sorted(wanted)


def test_links_in_an_unpacked_report(open_page: Callable[..., Page], tmp_path: Path) -> None:
    """Files lie there as Snakemake packs them: each in a folder named after its path's digest."""
    text = CLAIMS.read_text(encoding="utf-8")
    folder = tmp_path / "report/data/raw/0123456789abcdef"
    folder.mkdir(parents=True)
    (folder / "claims.html").write_text(text, encoding="utf-8")
    page = open_page(folder / "claims.html")
    link = page.locator(LINK.format("atlas.html")).first
    target = folder / link.get_attribute("data-report").partition("#")[0]
    target.parent.mkdir()
    target.write_bytes((DEMO / "atlas.html").read_bytes())
    link.click()
    settle(page)
    assert page.url.partition("#")[0] == target.resolve().as_uri()
    assert page.locator("#measure").get_attribute("data-measure") == "attention.sep"


def test_links_in_a_report_of_one_file(open_page: Callable[..., Page]) -> None:
    page = open_page(DEMO / "report.html")
    page.get_by_text(FRONT).first.click()
    claims = page.frame_locator("iframe")
    claims.locator(LINK.format("clark2019-fig2.svg")).first.click()
    page.wait_for_selector("img[src^='data:image/svg']:not(nav img)")
    page.get_by_text("Workflow", exact=True).click()
    page.get_by_text(FRONT).first.click()
    claims.locator(LINK.format("atlas.html")).first.click()
    atlas = page.frame_locator("iframe")
    atlas.locator('main[data-view="grid"]').wait_for()
    assert atlas.locator("#measure").get_attribute("data-measure") == "attention.sep"


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["1280", "400"])
def test_the_front_page_fits_and_leads_to_the_atlas(
    size: tuple[int, int], open_page: Callable[..., Page]
) -> None:
    page = open_page(DEMO / "report.html", size)
    link = page.get_by_text(FRONT_ATLAS)
    link.wait_for()
    if size == PHONE:
        assert page.locator("nav").first.bounding_box()["width"] == 0
    assert inaccessible(page, ".front-page") == []
    wide = "e => e.scrollWidth <= e.clientWidth"
    assert page.locator("#app .h-screen.overflow-auto:has(.front-page)").evaluate(wide)
    link.click()
    page.frame_locator("iframe").locator('main[data-view="maps"]').wait_for()
