"""Comparisons: two heads, before and after fine-tuning, two models."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.atlas.made_up import made_up
from tests.web.conftest import Opener, Study
from tests.web.expected import weights
from tests.web.page import fragment, go, parsed_svg, saved, settle
from tests.web.views import views
from workflow_scripts.atlas.atlas_page import build


def tuned(study: Study) -> tuple[dict[str, Any], list[str]]:
    """A segment whose maps are there before and after fine-tuning, and the two states."""
    name = study.atlas["models"][0]["name"]
    for segment in study.atlas["segments"]:
        if segment["model"] == name and len(segment["maps"]) > 1:
            return segment, list(segment["maps"])[:2]
    raise AssertionError("no segment has maps of two states")


@pytest.mark.parametrize("of", ["heads", "states"])
def test_the_difference_is_the_difference(of: str, study: Study, show: Opener) -> None:
    segment, (before, after) = tuned(study)
    name = study.atlas["models"][0]["name"]
    a, b = (1, 2), (1, 2) if of == "states" else (3, 0)
    second = after if of == "states" else before
    labels = [f"{name}/{layer + 1}-{head + 1}/" for layer, head in (a, b)]
    page = show(
        study,
        f"view=compare&a={labels[0]}{before}&b={labels[1]}{second}&segment={segment['id']}",
    )
    settle(page)
    first = weights(study.atlas, segment, before)[a]
    other = weights(study.atlas, segment, second)[b]
    largest = number_after(page.locator(".apart").inner_text(), "Largest difference")
    assert abs(largest - np.abs(first - other).max()) < 6e-4
    divergence = number_after(page.locator(".apart").inner_text(), "Jensen-Shannon divergence")
    assert abs(divergence - jensen_shannon(first, other)) < 6e-4
    assert page.locator(".matrices canvas").count() == 3
    parsed_svg(saved(page, page.locator(".save-svg").first))


def number_after(text: str, title: str) -> float:
    """The first number after a title."""
    return float(text.partition(title)[2].split()[0])


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float:
    """In nats, mean over queries; rows are made to sum to 1 again after the rounding of bytes."""
    p, q = (rows / rows.sum(axis=1, keepdims=True) for rows in (p, q))
    middle = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(r > 0, r * np.log(r / middle), 0).sum(axis=1) for r in (p, q)]
    return float((parts[0] + parts[1]).mean() / 2)


def test_the_largest_difference_stands_first(hostile: Study, show: Opener) -> None:
    page = show(hostile, views(hostile.atlas)["compare-heads"])
    settle(page)
    shown = page.locator(".profile tbody td:nth-last-child(2)").all_inner_texts()
    sizes = [-1.0 if text == "–" else abs(float(text.replace("−", "-"))) for text in shown]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[len(sizes) // 2] > 0


def test_two_models_with_other_tokens_have_no_difference(hostile: Study, show: Opener) -> None:
    page = show(hostile)
    base = views(hostile.atlas)["compare-models"]
    go(page, f"{base}&segment=wikipedia-0")
    assert page.locator(".matrices canvas").count() == 3
    go(page, f"{base}&segment=wikipedia-1")
    assert page.locator(".matrices canvas").count() == 2
    assert "different tokens" in page.locator("main").inner_text()


def test_the_heads_that_changed_most_lead_to_both_models(tmp_path: Path, show: Opener) -> None:
    atlas = made_up(2, 3, n_models=2, hostile=False)
    before, after = (model["name"] for model in atlas["models"])
    first = next(measure for measure in atlas["measures"] if measure["scale"] == "sequential")
    change = {"id": "change.divergence", "model": after, "value": [1, 3, 2, 0, 6, 5]}
    labels = ["1-1", "1-2", "1-3", "2-3", "2-1", "2-2"]
    source = first["source"] | {"where": {"compared_with": before}}
    no = dict.fromkeys(("low", "high", "null", "null_title", "p"))
    atlas["measures"].append(first | no | change | {"label": labels, "source": source})
    path = tmp_path / "atlas.html"
    path.write_text(build(atlas), encoding="utf-8")
    page = show(Study(path, atlas), "view=compare")
    links = page.get_by_role("navigation", name="Heads that changed most").get_by_role("link")
    shown = [text.split()[0] for text in links.all_inner_texts()]
    assert shown == ["2-2", "2-3", "1-2", "1-3", "1-1", "2-1"]
    links.first.click()
    settle(page)
    assert f"a={before}/2-1/pretrained&b={after}/2-2/pretrained" in fragment(page)
