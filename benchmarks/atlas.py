"""How soon the atlas is seen, and how soon it has other colours, in headless Chromium.

The pages are the default study's and one of the size of BERT-large: 24 layers by 16 heads, made-up
numbers, 20 MB. Before the default study was run, a made-up page of its size takes its place. Times
are in milliseconds. First paint counts from the start of the navigation, in a new context each
time; `grid` is when the frame begins in which the grid has its cells. A recolouring counts from the
change of the measure to the end of the first frame after the page has changed.
`make test-web` installs what this needs.
"""

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import ROOT, Busy, arguments, report

from tests.atlas.made_up import made_up
from tests.web.browser import installed
from workflow_scripts.atlas.atlas_page import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DEMO = ROOT / "results/demo/atlas.html"
MEASURES = 40  # recolourings of a page each time it is open
# When the frame begins in which the grid has all its cells.
WATCH = """
  const look = () => {
    if (document.querySelector('[data-view] [data-head]')) window.gridAt = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
"""
PAINT = """async () => {
  while (!window.gridAt || !performance.getEntriesByName('first-contentful-paint').length)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const at = (name) => performance.getEntriesByName(name)[0].startTime;
  return { first: at('first-paint'), content: at('first-contentful-paint'), grid: window.gridAt };
}"""
RECOLOUR = """async (most) => {
  const changed = (node) => new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('no head has another colour')), 10000);
    const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
    observer.observe(node, { subtree: true, childList: true, attributes: true });
  });
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(0);
  }));
  const field = document.getElementById('measure');
  const listed = async () => {
    field.click();
    await frame();
    return Array.from(document.querySelectorAll('#measure-list [data-id]'));
  };
  const all = (await listed()).map((option) => option.dataset.id);
  const step = Math.max(1, Math.floor(all.length / most));
  const options = all.filter((_, index) => index % step === 0).slice(0, most);
  const times = [];
  for (const id of options) {
    if (id === field.dataset.measure) continue;
    const option = (await listed()).find((one) => one.dataset.id === id);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const cells = changed(document.querySelector('[data-head]').parentNode.parentNode);
    const start = performance.now();
    option.click();
    await cells;
    await frame();
    times.push(performance.now() - start);
  }
  return times;
}"""


def main() -> None:
    """Time both pages in turn."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    from playwright.sync_api import sync_playwright  # --help needs no `make test-web` first

    rounds = 15 if options.full else 5
    with tempfile.TemporaryDirectory() as folder:
        pages = written(Path(folder))
        others = [idle_second()]
        paints: dict[str, list[dict[str, float]]] = {name: [] for name in pages}
        colours: dict[str, list[float]] = {name: [] for name in pages}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=installed())
            for turn in range(rounds + 1):
                for name, path in pages.items():
                    paint, colour = timed(browser, path)
                    if turn:  # the first is a warm-up
                        paints[name].append(paint)
                        colours[name] += colour
            version = browser.version
            browser.close()
        others.append(idle_second())
        report(
            "atlas",
            None if None in others else max(others),
            milliseconds={
                name: {
                    "first_paint": spread([paint["content"] for paint in paints[name]]),
                    "grid": spread([paint["grid"] for paint in paints[name]]),
                    "recolouring": spread(colours[name]),
                }
                for name in pages
            },
            detail={
                "pages": {name: label(path) for name, path in pages.items()},
                "bytes": {name: path.stat().st_size for name, path in pages.items()},
                "chromium": version,
            },
        )


def written(folder: Path) -> dict[str, Path]:
    """The pages, made up where they are not there."""
    pages = {"default": DEMO, "bert_large": folder / "bert-large.html"}
    if not DEMO.exists():
        pages["default"] = folder / "default.html"
        pages["default"].write_text(build(made_up(6, 12, tokens=128)), encoding="utf-8")
    large = made_up(24, 16, n_measures=60, tokens=88)
    pages["bert_large"].write_text(build(large), encoding="utf-8")
    return pages


def timed(browser: "Browser", path: Path) -> tuple[dict[str, float], list[float]]:
    """Paint times of a page that is opened anew, and the times of its recolourings."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    paint: dict[str, Any] = page.evaluate(PAINT)
    colours: list[float] = page.evaluate(RECOLOUR, MEASURES)
    context.close()
    return paint, colours


def spread(values: list[float]) -> dict[str, float]:
    """Median, 95th percentile, largest and number."""
    high = statistics.quantiles(values, n=20, method="inclusive")[-1]
    return {"median": statistics.median(values), "p95": high, "max": max(values), "n": len(values)}


def idle_second() -> float | None:
    """Cores that others keep busy in a second in which nothing runs here."""
    before = Busy.now()
    time.sleep(1)
    return Busy.now().others_since(before)


def label(path: Path) -> str:
    """How the record names a page."""
    return str(path.relative_to(ROOT)) if path == DEMO else "made up"


if __name__ == "__main__":
    main()
