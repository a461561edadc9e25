"""Pictures of every view: `python -m tests.web.screenshots FOLDER [--page PAGE]`.

Each view, dark and light, wide and narrow, as a PNG of at most 256 colours.
"""

import argparse
import io
import json
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.web.browser import installed
from tests.web.views import views

SIZES = {"1280": (1280, 900), "390": (390, 844)}
COLOURS = 256


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, default=Path("results/demo/atlas.html"))
    parser.add_argument("--whole", action="store_true", help="the whole page, not the window alone")
    parser.add_argument("--only", nargs="*", help="names of views")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed())
        for name, fragment in views(atlas_in(browser, options.page)).items():
            if options.only and name not in options.only:
                continue
            for size in SIZES:
                for scheme in ("light", "dark"):
                    image = taken(browser, options.page, fragment, size, scheme, options.whole)
                    image.save(options.folder / f"{name}-{size}-{scheme}.png", optimize=True)
        browser.close()


def atlas_in(browser: Browser, path: Path) -> dict[str, Any]:
    """The data of a page, less its maps."""
    page = browser.new_page(offline=True)
    page.goto(path.absolute().as_uri())
    text: str = page.evaluate("document.getElementById('atlas').textContent")
    page.close()
    return json.loads(text)


def taken(
    browser: Browser, path: Path, fragment: str, size: str, scheme: str, whole: bool
) -> Image.Image:
    """A view as a picture."""
    width, height = SIZES[size]
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
        offline=True,
    )
    page.goto(f"{path.absolute().as_uri()}#{fragment}")
    page.wait_for_selector("[data-view]")
    page.wait_for_function("!document.querySelector('[aria-busy=true], .loading')")
    page.wait_for_timeout(400)  # maps are inflated after the view is there
    image = Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB")
    page.close()
    return image.quantize(COLOURS, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
