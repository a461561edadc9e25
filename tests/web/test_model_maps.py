"""All heads on one text: every map is there, opens its head's card, and is readable by keys."""

import math
import re

import numpy as np
from playwright.sync_api import Page

from tests.web.conftest import Opener, Study
from tests.web.expected import colour, decoded, hatched, head_name, weights
from tests.web.page import choose, fragment, parsed_svg, saved, settle

REDS = """() => Object.fromEntries(Array.from(document.querySelectorAll('.head-map'), (link) => {
  const canvas = link.querySelector('canvas').cloneNode();
  const copy = canvas.getContext('2d', { willReadFrequently: true });
  copy.drawImage(link.querySelector('canvas'), 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const reds = Array.from(data).filter((_, at) => at % 4 === 0);
  return [link.dataset.head, { width: canvas.width, height: canvas.height, reds }];
}))"""


def first(study: Study) -> tuple[dict, dict, str]:
    """The first model, its first text, and the text's first state."""
    model = study.atlas["models"][0]
    segment = next(s for s in study.atlas["segments"] if s["model"] == model["name"])
    return model, segment, next(iter(segment["maps"]))


def darkness(page: Page) -> dict[str, np.ndarray]:
    """Of each head how dark each point is on the light page, [height, width]."""
    drawn = page.evaluate(REDS)
    return {
        head: 255 - np.reshape(one["reds"], (one["height"], one["width"]))
        for head, one in drawn.items()
    }


def test_every_head_is_drawn_darker_where_it_attends_more(study: Study, show: Opener) -> None:
    model, segment, state = first(study)
    page = show(study, f"view=maps&segment={segment['id']}&state={state}")
    settle(page)
    expected, drawn = weights(study.atlas, segment, state), darkness(page)
    assert len(drawn) == model["n_layers"] * model["n_heads"]
    for index in range(len(drawn)):
        map_ = expected[divmod(index, model["n_heads"])]
        found = drawn[head_name(model, index)]
        step = math.ceil(len(map_) / len(found))
        size = math.ceil(len(map_) / step)
        largest = np.array(
            [
                [map_[i : i + step, j : j + step].max() for j in range(0, len(map_), step)]
                for i in range(0, len(map_), step)
            ]
        )
        assert found.shape == (size, size)
        order = np.argsort(largest, axis=None)
        assert (np.diff(found.reshape(-1)[order]) >= 0).all(), "one scale, monotonic"


def test_maps_of_a_translator_are_of_its_types(hostile: Study, show: Opener) -> None:
    model = hostile.atlas["models"][-1]
    segment = next(s for s in hostile.atlas["segments"] if s["model"] == model["name"])
    page = show(hostile, f"view=maps&model={model['name']}")
    settle(page)
    drawn = darkness(page)
    assert len(drawn) == model["n_layers"] * model["n_heads"]
    source, target = len(segment["tokens"]), len(segment["target"]["tokens"])
    shapes = {"Enc-Enc": (source, source), "Enc-Dec": (target, source), "Dec-Dec": (target, target)}
    for head, found in drawn.items():
        assert found.shape == shapes[head.split()[0]]
    (ids,) = segment["maps"].values()
    last = decoded(hostile.atlas["maps"][ids["encoder-decoder"]])[-1, -1]
    name = f"Enc-Dec {model['types'][1]['n_layers']}-{model['n_heads']}"
    assert (np.diff(drawn[name].reshape(-1)[np.argsort(last, axis=None)]) >= 0).all()
    page.locator(f'[data-head="{name}"]').click()
    settle(page)
    assert page.locator("main h2").first.inner_text() == name


def test_a_click_and_enter_open_the_card_on_this_text(demo: Study, show: Opener) -> None:
    segment = next(s for s in demo.atlas["segments"] if len(s["maps"]) > 1)
    state = list(segment["maps"])[1]
    page = show(demo, f"view=maps&segment={segment['id']}&state={state}")
    settle(page)
    page.locator('[data-head="2-3"]').click()
    settle(page)
    assert page.locator("main h2").first.inner_text() == "2-3"
    assert f"segment={segment['id']}&state={state}" in fragment(page)
    page.get_by_role("link", name="All heads on this text").click()
    settle(page)
    assert "view=maps" in fragment(page)
    page.locator('[data-head="1-1"]').focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowLeft", "ArrowLeft", "End", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.head") == "1-12"
    page.keyboard.press("Enter")
    settle(page)
    assert page.locator("main h2").first.inner_text() == "1-12"


def test_pointing_reads_a_weight_and_names_the_token_attended_to_most(
    demo: Study, show: Opener
) -> None:
    _, segment, state = first(demo)
    page = show(demo, f"view=maps&segment={segment['id']}&state={state}")
    settle(page)
    head = weights(demo.atlas, segment, state)[1, 2]
    n = len(head)
    link = page.locator('[data-head="2-3"]')
    box = link.bounding_box()
    query, key = 5, 2
    at = {"x": box["width"] * (key + 0.5) / n, "y": box["height"] * (query + 0.5) / n}
    link.hover(position=at)
    text = page.locator(".maps-readout").inner_text()
    assert f"{head[query, key]:.3f}" in text
    most = int(head.mean(axis=0).argmax())
    expected = f"{segment['tokens'][most]} (token {most + 1})"
    assert expected in text and expected in link.get_attribute("aria-label")
    picture = parsed_svg(saved(page, page.locator(".save-svg")))
    assert sum(element.tag.endswith("image") for element in picture.iter()) == 72
    assert {"syntactic", "weight 0"} <= {element.text for element in picture.iter()}


def test_special_tokens_are_left_out(demo: Study, show: Opener) -> None:
    segment = next(s for s in demo.atlas["segments"] if s["tokens"].count("[SEP]") == 2)
    page = show(demo, f"view=maps&segment={segment['id']}")
    page.get_by_label("Without special tokens").check()
    settle(page)
    (shape,) = {one.shape for one in darkness(page).values()}
    n = len(segment["tokens"]) - 3
    step = math.ceil(n / shape[0])  # tokens that a point of a map stands for
    assert shape == (math.ceil(n / step),) * 2


def test_findings_stand_next_to_the_maps_and_lead_to_what_shows_them(
    demo: Study, show: Opener
) -> None:
    page = show(demo)
    links = page.locator('main[data-view="maps"] .findings a')
    assert links.count() == 5
    assert "n = " in page.locator(".findings").inner_text()
    for place in range(5):
        address = links.nth(place).get_attribute("href") or ""
        view = address.partition("view=")[2].partition("&")[0] or "grid"
        links.nth(place).click()
        page.wait_for_selector(f'main[data-view="{view}"]')
        settle(page)
        assert page.locator("main .notice").count() == 0
        page.go_back()
        page.wait_for_selector('main[data-view="maps"]')
        settle(page)


def test_frames_have_the_colours_of_the_kinds(demo: Study, show: Opener) -> None:
    """As the legend has them, which leads to the grid of a kind's heads alone."""
    page = show(demo)
    settle(page)
    kinds = demo.opening
    outline = "one => getComputedStyle(one).outlineColor"
    for swatch in page.locator(".kinds li:has(i)").all():
        title = swatch.locator("a").inner_text()
        index = kinds["value"].index(kinds["categories"].index(title))
        head = head_name(demo.atlas["models"][0], index)
        border = swatch.locator("i").evaluate("one => getComputedStyle(one).borderTopColor")
        assert page.locator(f'.head-map[data-head="{head}"]').evaluate(outline) == border
    page.locator(".kinds a").first.click()
    page.wait_for_selector('main[data-view="grid"]')
    assert "filter=behaviour.stratum:" in fragment(page)


def test_a_measure_colours_the_borders_of_the_same_maps(demo: Study, show: Opener) -> None:
    page, measure = show(demo), next(one for one in demo.measures() if one["id"] == "syntax.dobj")
    choose(page, measure)
    assert fragment(page) == "view=maps&measure=syntax.dobj"
    style = "one => [getComputedStyle(one).outlineColor, getComputedStyle(one).outlineStyle]"
    for index in (0, 24, 40):
        head = head_name(demo.atlas["models"][0], index)
        found, shape = page.locator(f'.head-map[data-head="{head}"]').evaluate(style)
        expected = colour(measure, index, False)
        assert all(
            abs(int(a) - b) <= 4 for a, b in zip(re.findall(r"\d+", found), expected, strict=True)
        )
        assert (shape == "dotted") == hatched(measure, index)


def test_a_card_shows_the_text_on_which_what_it_says_shows_most(demo: Study, show: Opener) -> None:
    """Head 1-3 attends to the previous token: the text with its largest mean weight there."""
    page = show(demo, "view=head&head=1-3")
    settle(page)
    shares = {}
    for segment in demo.atlas["segments"]:
        if segment["model"] == "minilm":
            map_ = weights(demo.atlas, segment, "pretrained")[0, 2]
            shares[segment["id"]] = np.diag(map_, -1).mean()
    best = max(shares, key=shares.get)
    assert page.locator("#segment").input_value() == best
    note = page.locator(".maps .note").first.inner_text()
    assert f"previous token: {100 * shares[best]:.0f}%" in note
