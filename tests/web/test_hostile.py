"""Texts of a corpus are shown as text, whatever they hold; `show` fails where one ran."""

from tests.atlas.made_up import HOSTILE, IMAGE, SCRIPT
from tests.web.conftest import Opener, Study
from tests.web.page import go, parsed_csv, parsed_svg, saved, settle
from tests.web.views import views

VISIBLE = [text for text in HOSTILE if text.isascii()]


def test_tokens_are_shown_as_they_are(hostile: Study, show: Opener) -> None:
    page = show(hostile, "view=head&head=1-1")
    settle(page)
    shown = [
        text.replace("\u2423", " ")
        for text in page.locator(".tokens.query button").all_inner_texts()
    ]
    assert set(VISIBLE) <= set(shown)
    assert not any("\u202e" in text for text in shown), "an override of the direction acts"
    rows = parsed_csv(saved(page, page.locator(".maps .save-csv")))
    assert {row["query_token"] for row in rows} == set(hostile.atlas["segments"][0]["tokens"])
    text = "".join(parsed_svg(saved(page, page.locator(".maps .save-svg"))).itertext())
    assert "</script>" in text


def test_no_text_becomes_an_element(hostile: Study, show: Opener) -> None:
    page = show(hostile)
    for name, where in views(hostile.atlas).items():
        go(page, where)
        wrong = "main script, main img:not(figure img), main b:has-text('&amp;')"
        assert page.locator(wrong).count() == 0, name
    scripts = page.locator("script:not([type='application/json']):not([type='text/plain'])")
    assert scripts.count() == 1


def test_titles_and_sentences_are_shown_as_they_are(hostile: Study, show: Opener) -> None:
    page = show(hostile, "view=about")
    text = page.locator("main").inner_text()
    for sentence in (*hostile.atlas["left_out"], *hostile.atlas["study"]["about"]):
        if sentence.isascii():
            assert sentence in text
    go(page, "")
    assert SCRIPT in page.locator("#model option").first.inner_text()
    page.locator("#measure").click()
    assert IMAGE in page.locator("#measure-list").inner_text()
