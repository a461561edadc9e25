"""What every view saves: pictures with whole titles, and numbers that no spreadsheet changes."""

import re
from itertools import product

from PIL import Image
from playwright.sync_api import Page

from tests.web.conftest import Opener, Study
from tests.web.page import parsed_csv, parsed_svg, saved, settle
from tests.web.views import views

DATE = re.compile(r"\d{1,2}-\d{1,2}")  # as Excel and LibreOffice read 1-2
OUTSIDE = """(text) => {
  const holder = document.createElement('div');
  holder.innerHTML = text.replace(/^<[?].*[?]>/, '');
  document.body.append(holder);
  const whole = holder.firstElementChild.getBoundingClientRect();
  const found = Array.from(holder.querySelectorAll('text'))
    .filter((one) => {
      const box = one.getBoundingClientRect();
      return box.left < whole.left - 1 || box.right > whole.right + 1
        || box.top < whole.top - 1 || box.bottom > whole.bottom + 1;
    })
    .map((one) => one.textContent);
  holder.remove();
  return found.slice(0, 5);
}"""


def outside(page: Page, picture: str) -> list[str]:
    """The texts of a saved picture that its edge cuts."""
    return page.evaluate(OUTSIDE, picture)


def test_pictures_are_whole_and_no_number_of_a_table_is_a_date(
    hostile: Study, show: Opener
) -> None:
    for view, where in views(hostile.atlas).items():
        page = show(hostile, where)  # a new one, as Chromium blocks every tenth download of a page
        settle(page)
        for button in page.locator(".save-svg:enabled").all():
            assert outside(page, saved(page, button)) == [], view
        for button in page.locator(".save-csv:enabled").all():
            rows = parsed_csv(saved(page, button))
            dates = [cell for row in rows for cell in row.values() if DATE.fullmatch(cell)]
            assert dates == [], view
            if "head" in rows[0]:
                for row, name in product(rows, ("layer", "head")):
                    assert int(row[name]) - 1 == int(row[f"{name}_from_0"]) >= 0, view


def test_a_picture_is_saved_as_png_too(demo: Study, show: Opener) -> None:
    page = show(demo, "measure=syntax.dobj")
    with page.expect_download() as download:
        page.locator(".save-png").click()
    width, height = Image.open(download.value.path()).size
    svg = parsed_svg(saved(page, page.locator(".save-svg")))
    assert [width, height] == [3 * int(float(svg.get(side))) for side in ("width", "height")]
