"""Claims and figures on the page: numbers as in the tables, and links that lead somewhere."""

import base64
import zlib
from pathlib import Path

import pytest

from workflow_scripts.atlas.evidence import claims_of, figures_of
from workflow_scripts.claims.verdicts import JUDGED, NOT_RUN, NOT_TESTED
from workflow_scripts.core.measures.shown_claims import BADGES, fragment

MEASURES = ["entropy.all", "similarity.sst2.1", "disabling.sst2.1.head.zero.dev", "x.mrpc"]
EMPTY = "paper place case paper_model because later source n n_of seeds interval power about"
EMPTY += " paper_value ci_low ci_high rule_low rule_high reference central"


def of(task: str = "", run: str = "") -> dict[str, str]:
    return {"task": task, "run": run}


def test_every_verdict_has_a_badge() -> None:
    assert tuple(BADGES) == (*JUDGED, NOT_TESTED, NOT_RUN)


@pytest.mark.parametrize(
    ("view", "case", "found"),
    [
        ("measure=entropy.all", of(), "#model=m&measure=entropy.all"),
        ("measure=entropy.cls", of(), ""),
        ("measure=similarity.{task}.*", of(task="sst2"), "#model=m&measure=similarity.sst2.1"),
        ("measure=similarity.{task}.*", of(task="mnli"), ""),
        ("measure=similarity.{task}.*", of(), ""),
        ("view=figures&figure={model}/a-fig1", of(), "#model=m&view=figures&figure=m/a-fig1"),
        ("view=figures&figure={model}/a-fig2", of(), ""),
        ("model=translation.{run}&measure=x", of(run="2"), "#model=translation.2&measure=x"),
        ("model=translation.{run}&measure=x", of(run="3"), ""),
    ],
)
def test_fragments_name_measures_that_there_are(
    view: str, case: dict[str, str], found: str
) -> None:
    measures = [{"model": "m", "id": id_} for id_ in MEASURES] + [
        {"model": "translation.2", "id": "x"}
    ]
    assert fragment(view, case, "m", measures, [{"id": "m/a-fig1"}]) == found


def test_a_claim_has_its_numbers_and_leads_to_its_figures_and_its_view() -> None:
    row = dict.fromkeys(EMPTY.split(), "") | {"id": "one", "statement": "Says 5%.", "rule": "5 %"}
    row |= {"unit": "%", "verdict": "reproduced", "central": "1", "ours": "4", "ci_low": "3"}
    row |= {"ci_high": "6", "n": "9", "n_of": "words", "seeds": "1"}
    row |= {"source": "memory", "case": "SST-2", "about": "2-1"}
    other = row | {"case": "MNLI", "ours": "", "central": ""}
    published = {"one": {"shown": "a-fig1 a-fig2 a-none", "view": "measure=similarity.{task}.*"}}
    listed = (("m", "m/a-fig1"), ("n", "n/a-fig2"), ("", "a-fig2"))
    figures = [{"id": name, "model": model} for model, name in listed]
    models = {"m": [(row, of("sst2")), (other, of("mnli"))]}
    measures = [{"model": "m", "id": name} for name in MEASURES]
    first, second = claims_of(models, published, figures, measures)
    assert (first["ours"], first["ci_low"], first["ci_high"]) == (4, 3, 6)
    assert first["note"] == "n = 9 words; one seed; head 2-1"
    assert (first["central"], first["badge"]) == (1, "good")
    assert first["source"] == "as summarised from memory"
    assert first["figures"] == ["m/a-fig1", "a-fig2"]
    assert first["address"] == "#model=m&measure=similarity.sst2.1"
    assert second["central"] == 0 and second.keys().isdisjoint({"ours", "note", "address"})


def test_a_figure_comes_back_unchanged_with_its_size_and_caption(tmp_path: Path) -> None:
    svg = b'<?xml version="1.0"?>\n<svg width="60pt" viewBox="0 0 60.5 30" version="1.1"></svg>'
    (tmp_path / "a.svg").write_bytes(svg)
    (found,) = figures_of([tmp_path / "a.svg"], [{"id": "m/a", "caption": "Of *m*, ``x < 1``."}])
    assert (found["width"], found["height"]) == (60.5, 30)
    assert zlib.decompress(base64.b64decode(found["data"])) == svg
    parts = [("", "Of "), ("emphasis", "m"), ("", ", "), ("literal", "x < 1"), ("", ".")]
    assert found["caption"] == parts and "files" not in found


def test_the_curves_of_streaming_heads_have_the_list_of_heads(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_bytes(b'<svg width="60pt" viewBox="0 0 60.5 30"></svg>')
    folder = tmp_path / "m/context/lists"
    folder.mkdir(parents=True)
    for name in ("full_attention_heads.tsv", "config.json", "card.md"):
        (folder / name).write_text(name, encoding="utf-8")
    listed = [{"id": f"{model}/context-curves", "caption": "Of heads."} for model in "mn"]
    one, other = figures_of(2 * [tmp_path / "a.svg"], listed, [folder])
    assert one["files"] == {name: name for name in ("full_attention_heads.tsv", "config.json")}
    assert "files" not in other
