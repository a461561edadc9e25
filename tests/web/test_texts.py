"""Texts are chosen by their first words, and their ids are next to them."""

from tests.web.conftest import Opener, Study
from tests.web.page import settle


def test_texts_are_named_by_their_first_words(demo: Study, show: Opener) -> None:
    page = show(demo, "view=head&head=2-3")
    settle(page)
    model = demo.atlas["models"][0]["name"]
    segments = {s["id"]: s for s in demo.atlas["segments"] if s["model"] == model}
    options = {
        option.get_attribute("value"): option for option in page.locator("#segment option").all()
    }
    assert set(options) == set(segments)
    for identity, segment in segments.items():
        name, words = options[identity].inner_text(), segment["tokens"][1:]
        assert name.startswith(words[0]), "its first word, after [CLS]"
        assert identity not in name
        page.locator("#segment").select_option(identity)
        settle(page)
        about = page.locator(".text-source").inner_text()
        assert segment["title"] in about and f"{len(segment['tokens'])} tokens" in about


def test_texts_that_begin_alike_are_told_apart(hostile: Study, show: Opener) -> None:
    page = show(hostile, "view=head&head=1-1")
    settle(page)
    names = page.locator("#segment option").all_inner_texts()
    assert len(set(names)) == len(names) > 1
    assert all("</script>" in name for name in names)
