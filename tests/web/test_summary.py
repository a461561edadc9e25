"""A card begins with what the head does: the numbers of atlas.json, in words."""

from pathlib import Path
from typing import Any

import yaml

from tests.web.conftest import Opener, Study
from tests.web.expected import head_name, interval, number, value_text
from tests.web.page import go

GOALS = ("previous", "next", "self", "cls", "sep", "punctuation")
STUDY = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text(encoding="utf-8"))
N_SEGMENTS = STUDY["corpora"]["text"]["wikipedia"]["n_segments"]


def by_id(study: Study, model: str | None = None) -> dict[str, Any]:
    return {measure["id"]: measure for measure in study.measures(model)}


def test_every_head_of_the_study_has_a_profile(demo: Study, show: Opener) -> None:
    """First what makes it its kind; then its relation, antecedents above the baseline, its task."""
    page, measures = show(demo), by_id(demo)
    kinds, relations = measures["behaviour.stratum"], list(measures)
    relations = [name for name in relations if name.startswith("syntax.")]
    relations = [measures[name] for name in relations if name not in {"syntax.best", "syntax.all"}]
    openings = set()
    for index in range(72):
        go(page, f"view=head&head={head_name(demo.atlas['models'][0], index)}")
        line = page.locator(".summary .does li").first.inner_text()
        openings.add(line)
        kind = value_text(kinds, index)
        if kind == "same word":
            assert (
                line.startswith("Gives ") and "of its attention to other copies of the same" in line
            )
        elif kind == "syntactic":
            assert line.startswith("Best relation: ")
        elif kind == "frames":
            assert "frame links" in line
        elif kind in {"position", "special tokens"}:
            goals = [measures[f"attention.{goal}"] for goal in GOALS]
            largest = max(goals, key=lambda measure: measure["value"][index])
            low, high = (number(end, 1) for end in interval(largest, index))
            assert (
                f"{value_text(largest, index)} ({low} to {high}; n = {N_SEGMENTS} segments)" in line
            )
        text = " ".join(page.locator(".summary .does").all_text_contents())
        assert f"Kind of head: {value_text(kinds, index)}" in text
        above = any(beats(measure, index) for measure in relations)
        assert ("Best relation: " in text) == above, index
        assert "on SST-2, seed 1" in text
        antecedents = [measures[f"coreference.words.{kind}"] for kind in ("all", "pronoun")]
        if any(measure["low"][index] > measure["null"] for measure in antecedents):
            assert "Finds an antecedent of" in text
    assert len(openings) == 72


def beats(relation: dict[str, Any], index: int) -> bool:
    """Whether a gain is above 0, with the errors of the head's accuracy and of the offset's."""
    value, low = (relation[name][index] for name in ("value", "low"))
    if value is None:
        return False
    none = relation["null"]
    n = relation["n"][index] if isinstance(relation["n"], list) else relation["n"]
    variance = (value - low) ** 2 + 1.96**2 * none * (100 - none) / n
    return value - none > variance**0.5


def test_a_translators_head_is_described_by_its_type(demo: Study, show: Opener) -> None:
    page = show(demo, "model=translation.1&view=head&head=Enc-Dec 2-1")
    bleu = by_id(demo, "translation.1")["translation.head.zero.test.bleu"]
    lines = page.locator(".summary .does li").all_text_contents()
    p, size = bleu["p"][16], number(abs(bleu["value"][16]), 2)
    costs = p < 0.05 and bleu["value"][16] < 0
    assert any(f"Disabling it costs {size} BLEU" in line for line in lines) == costs
    assert "to the source sentence" in lines[1 if p < 0.05 else 0]
    assert "many relations" not in page.locator(".summary").text_content()
