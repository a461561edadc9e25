"""Every view, wide and narrow, dark and light: no error, no request, it fits, all can use it."""

import pytest

from tests.web.conftest import NARROW, WIDE, Opener, Study
from tests.web.page import fragment, go, inaccessible, settle, squeezed, too_wide
from tests.web.views import views


@pytest.mark.parametrize("studied", ["demo", "hostile", "large"])
def test_every_view_is_shown_and_fits(
    studied: str, show: Opener, request: pytest.FixtureRequest
) -> None:
    """Console errors and requests fail the test when `show` closes its pages."""
    study = request.getfixturevalue(studied)
    page = show(study)
    for name, where in views(study.atlas).items():
        go(page, where)
        view = where.partition("view=")[2].partition("&")[0] or ("grid" if where else "maps")
        assert page.locator(f'main[data-view="{view}"]').count() == 1, name
        assert page.locator("main").inner_text().strip(), name
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 900})
            settle(page)
            assert too_wide(page) == [], (name, width)
            assert squeezed(page) == [], (name, width)


@pytest.mark.parametrize(
    ("studied", "size", "scheme"), [("hostile", WIDE, "light"), ("demo", NARROW, "dark")]
)
def test_axe_finds_nothing(
    studied: str,
    size: tuple[int, int],
    scheme: str,
    show: Opener,
    request: pytest.FixtureRequest,
) -> None:
    study = request.getfixturevalue(studied)
    page = show(study, size=size, scheme=scheme)
    found = {}
    for name, where in views(study.atlas).items():
        go(page, where)
        found[name] = inaccessible(page)
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_each_view_comes_back_after_a_reload(hostile: Study, show: Opener) -> None:
    """The address holds all: what is shown is the same in a page that was opened with it."""
    page = show(hostile)
    for name, where in views(hostile.atlas).items():
        go(page, where)
        before, address = page.locator("main").inner_text(), fragment(page)
        page.reload()
        page.wait_for_selector("[data-view]")
        settle(page)
        assert page.locator("main").inner_text() == before, name
        assert fragment(page) == address, name


def test_an_address_of_a_head_is_its_card_whatever_it_measures(demo: Study, show: Opener) -> None:
    page = show(demo, "head=2-3&measure=entropy.all")
    assert "2-3" in page.locator("main h2").first.inner_text()
    assert page.locator("nav [aria-current]").inner_text() == "Heads"


def test_an_encoded_fragment_is_understood(demo: Study, show: Opener) -> None:
    """As Snakemake writes it into its report: `=` and `&` are encoded, too."""
    page = show(demo, "view%3Dhead%26head%3D2-3")
    assert page.locator('main[data-view="head"]').count() == 1
    assert "2-3" in page.locator("main h2").first.inner_text()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("view=nothing", ["“nothing”; “maps” is shown"]),
        ("view=head&head=99-99", ["“99-99”; 1-1 is shown"]),
        ("model=nothing&measure=nothing", ["model “nothing”", "measure “nothing”"]),
        ("view=compare&a=nothing/1-1/x&b=", ["“nothing/1-1/x”; side A is"]),
        ("filter=nothing:x,:,entropy.all", ["“nothing:x”", "“:”", "“entropy.all”"]),
        ("view=head&head=1-1&state=nothing", ["checkpoint “nothing”"]),
        ("%E0%A4%A", []),
        ("view=__proto__&model=__proto__", ["view “__proto__”", "model “__proto__”"]),
    ],
)
def test_a_wrong_address_is_no_error_and_named(
    wrong: str, named: list[str], hostile: Study, show: Opener
) -> None:
    page = show(hostile, wrong)
    settle(page)
    notices = page.locator("main .notice").all_inner_texts()
    assert len(notices) == len(named)
    for words, notice in zip(named, notices, strict=True):
        assert words in notice
    assert "99-99" not in page.title()
    assert len(page.locator("main").inner_text().strip()) > len("".join(notices))
