"""A card begins with what the head does: the numbers of atlas.json, in words."""

from typing import Any

import pytest

from tests.web.conftest import Opener, Study
from tests.web.expected import head_name, interval, number, value_text
from tests.web.page import fragment, go, settle

GOALS = ("previous", "next", "self", "cls", "sep", "punctuation")


def by_id(study: Study, model: str | None = None) -> dict[str, Any]:
    return {measure["id"]: measure for measure in study.measures(model)}


@pytest.mark.parametrize("head", ["1-3", "3-10", "4-5", "6-12"])
def test_the_first_line_is_where_the_attention_goes(demo: Study, show: Opener, head: str) -> None:
    page = show(demo, f"view=head&head={head}")
    names = [head_name(demo.atlas["models"][0], index) for index in range(72)]
    index, measures = names.index(head), by_id(demo)
    goals = [measures[f"attention.{goal}"] for goal in GOALS]
    largest = max(goals, key=lambda measure: measure["value"][index])
    lines = page.locator(".summary .does li")
    low, high = (number(end, 1) for end in interval(largest, index))
    assert f"{value_text(largest, index)} ({low} to {high}; n = 300)" in lines.first.inner_text()
    assert len({line.split("on ")[-1] for line in lines.all_inner_texts()}) == lines.count()
    lines.first.locator("a").click()
    settle(page)
    assert fragment(page).startswith(f"measure={largest['id']}")


def test_every_head_of_the_study_has_a_profile(demo: Study, show: Opener) -> None:
    """With its kind, its relation and a line for each task; antecedents only above the baseline."""
    page, measures = show(demo), by_id(demo)
    kinds, relations = measures["behaviour.stratum"], list(measures)
    relations = [name for name in relations if name.startswith("syntax.")]
    relations = [measures[name] for name in relations if name not in {"syntax.best", "syntax.all"}]
    for index in range(72):
        go(page, f"view=head&head={head_name(demo.atlas['models'][0], index)}")
        text = page.locator(".summary .does").inner_text()
        assert f"Kind of head: {value_text(kinds, index)}" in text
        above = sum(measure["low"][index] > measure["null"] for measure in relations)
        words = f"it beats the offset at {above}." if above else "Beats the best fixed offset at no"
        assert words in text, index
        assert all(f"on {task}, seed 1" in text for task in ("SST-2", "STS-B", "MNLI"))
        antecedents = [measures[f"coreference.words.{kind}"] for kind in ("all", "pronoun")]
        if any(measure["low"][index] > measure["null"] for measure in antecedents):
            assert "Finds an antecedent of" in text


def test_a_translators_head_is_described_by_its_type(demo: Study, show: Opener) -> None:
    page = show(demo, "model=translation.1&view=head&head=Enc-Dec 2-1")
    bleu = by_id(demo, "translation.1")["translation.head.zero.test.bleu"]
    lines = page.locator(".summary .does li").all_inner_texts()
    assert "to the source sentence" in lines[0]
    p, size = bleu["p"][16], number(abs(bleu["value"][16]), 2)
    assert (f"costs {size} BLEU" in lines[1]) == (p <= 0.05 and bleu["value"][16] < 0)
