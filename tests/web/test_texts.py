"""Texts are chosen by their first words, and their ids are next to them."""

from tests.web.conftest import Opener, Study
from tests.web.page import fragment, go, settle


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


def test_the_label_and_the_prediction_are_next_to_a_text(hostile: Study, show: Opener) -> None:
    """The texts of labels are shown as they are; a text without a label has none."""
    where = "view=head&head=1-1&segment=wikipedia"
    page = show(hostile, f"{where}-1&state=sst2.1")
    settle(page)
    segment = next(s for s in hostile.atlas["segments"] if s["id"] == "wikipedia-1")
    gold = f"label: {segment['label']}"
    predicted = segment["predictions"]["sst2.1"]["label"]
    assert page.locator(".outcome").inner_text() == f"{gold}; predicted: {predicted} (0.83)"
    go(page, f"{where}-1&state=pretrained")
    assert page.locator(".outcome").inner_text() == gold
    go(page, f"{where}-0&state=sst2.1")
    assert page.locator(".outcome").count() == 0
    go(page, "view=maps&segment=wikipedia-1&state=sst2.1")
    assert page.locator(".outcome").inner_text().endswith("(0.83)")
    sides = "&".join(f"{x}=tiny/1-1/{s}" for x, s in {"a": "pretrained", "b": "sst2.1"}.items())
    go(page, f"view=compare&{sides}&segment=wikipedia-1")
    assert page.locator(".outcome").inner_text().endswith("(0.83)")


def test_a_text_without_the_checkpoint_drops_it_from_the_address(demo: Study, show: Opener) -> None:
    model = demo.atlas["models"][0]["name"]
    segments = [s for s in demo.atlas["segments"] if s["model"] == model]
    tuned = next(s for s in segments if len(s["maps"]) > 1)
    state = list(tuned["maps"])[-1]
    other = next(s for s in segments if state not in s["maps"])
    page = show(demo, f"view=maps&segment={tuned['id']}&state={state}")
    settle(page)
    assert page.locator("#state").input_value() == state
    page.locator("#segment").select_option(other["id"])
    settle(page)
    assert "state=" not in fragment(page) and f"segment={other['id']}" in fragment(page)
    assert page.locator(".maps-layer").last.inner_text() == "Head"
    assert page.locator(".maps-layer").first.inner_text() == "Layer 6"
    words = page.locator(".choices + p").inner_text()
    assert words.replace(" ", "")[:20].lower() in "".join(other["tokens"]).replace("##", "")
