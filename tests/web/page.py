"""What the tests do on a page, and what they read from it."""

import csv
import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Frame, Locator, Page

from workflow_scripts.core.data import tables

AXE = Axe()
RULES = {"runOnly": ["wcag2a", "wcag2aa"], "resultTypes": ["violations"]}
SETTLED = """async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const until = performance.now() + 10000;
  for (let quiet = 0; quiet < 3; quiet += 1) {
    await frame();
    if (document.querySelector('[aria-busy=true], .loading')) quiet = -1;
    if (performance.now() > until) throw new Error('the page is still busy');
  }
}"""
CELLS = """() => {
  const fill = (element) => {
    const style = getComputedStyle(element);
    const text = element instanceof SVGElement ? style.fill : style.backgroundColor;
    return text.match(/[0-9.]+/g)?.slice(0, 3).map(Number) ?? null;
  };
  const cells = document.querySelectorAll('main[data-view="grid"] [data-head][aria-label]');
  return Object.fromEntries(Array.from(cells, (cell) => [cell.dataset.head, {
    label: cell.getAttribute('aria-label'),
    hatched: cell.classList.contains('hatched'),
    classes: cell.getAttribute('class') ?? '',
    fill: fill(cell.tagName === 'g' ? cell.querySelector('rect') : cell),
  }]));
}"""


def settle(page: Page | Frame) -> None:
    """Wait until what was asked for is drawn, maps too."""
    page.evaluate(SETTLED)


def go(page: Page | Frame, fragment: str) -> None:
    """Another view of the same page."""
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
    settle(page)


def fragment(page: Page) -> str:
    """The part of the address after `#`."""
    return page.url.partition("#")[2]


def cell(page: Page | Frame, head: str) -> Locator:
    """A head of the grid."""
    return page.locator(f'[data-view="grid"] [data-head="{head}"]').first


def choose(page: Page, measure: dict[str, Any], field: str = "measure") -> None:
    """Choose a measure in a list of measures by a click."""
    page.locator(f"#{field}").click()
    page.locator(f'#{field}-list [data-id="{measure["id"]}"]').click()
    settle(page)


def cells(page: Page | Frame) -> dict[str, dict[str, Any]]:
    """What each head of the grid states, whether it is hatched, and its fill, 0 to 255."""
    return page.evaluate(CELLS)


def inaccessible(page: Page, within: str = "html") -> list[str]:
    """What axe-core finds against WCAG 2 A and AA in what a selector finds, with where it is."""
    found = AXE.run(page, context=within, options=RULES).response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary'][:300]}"
        for violation in found
        for node in violation["nodes"][:3]
    ]


def too_wide(page: Page) -> list[str]:
    """The elements that make the page scroll sideways."""
    return page.evaluate(
        """() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width) return [];
          return Array.from(document.querySelectorAll('body *'))
            .filter((element) => element.getBoundingClientRect().right > width + 1)
            .slice(0, 5)
            .map((element) => `${element.tagName}.${element.getAttribute('class')}`);
        }"""
    )


def squeezed(page: Page) -> list[str]:
    """Texts of words that are set with fewer than three letters a line."""
    return page.evaluate(
        """() => {
          const main = document.querySelector('main');
          const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
          const found = [];
          while (texts.nextNode()) {
            const text = texts.currentNode.data.trim();
            const parent = texts.currentNode.parentElement;
            if (text.length < 6 || parent.closest('svg, .only-screen-reader, .labels')) continue;
            const range = document.createRange();
            range.selectNodeContents(texts.currentNode);
            const tops = Array.from(range.getClientRects(), ({ top }) => Math.round(top));
            const lines = new Set(tops).size;
            if (lines * 3 > text.length) found.push(`${text.slice(0, 30)}: ${lines} lines`);
          }
          return found.slice(0, 5);
        }"""
    )


def saved(page: Page, button: Locator) -> str:
    """The text of the file that a button downloads, folded or not."""
    button.evaluate("one => one.closest('details')?.setAttribute('open', '')")
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def parsed_svg(text: str) -> ElementTree.Element:
    """A picture's root element."""
    root = ElementTree.fromstring(text)  # noqa: S314 (the page's own)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return root


def parsed_csv(text: str) -> list[dict[str, Any]]:
    """A table's rows, texts as they were before a quote kept them from being formulas."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{name: tables.from_text(cell) for name, cell in row.items()} for row in rows]
