"""A reader's own text in a notebook: the model's attention to it, and what is refused."""

import html
import json
import re
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from tests.atlas.made_up import HOSTILE, made_up
from tests.atlas.plainly import SCHEMA, check_pages_expectations
from tests.core.tiny_models import HEADS, LAYERS, write_card
from workflow_scripts.atlas import Atlas, atlas_page
from workflow_scripts.atlas.own_text import DATA
from workflow_scripts.core.errors import InputError

PAIR = ("a king built the town .", "the town is old")


def written(folder: Path, model: Path) -> Path:
    """The results of a study of the tiny model `model`, in the folder that it was run in."""
    results = folder / "results/demo"
    (results / "tiny/attention").mkdir(parents=True)
    atlas = made_up(LAYERS, HEADS, n_translators=1)
    (results / "atlas.json").write_text(json.dumps(atlas), encoding="utf-8")
    (results / "atlas.html").write_text(atlas_page.build(atlas), encoding="utf-8")
    write_card(results / "tiny/attention", model)
    return results


@pytest.fixture
def results(tmp_path: Path, tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results, on a machine without a network."""

    def refuse(*_: Any) -> None:
        raise AssertionError("asked for a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return written(tmp_path, tiny_model_dir)


def with_source(results: Path, **source: str) -> Path:
    """The same results, whose model is from elsewhere."""
    path = results / "tiny/attention/model.json"
    card = json.loads(path.read_text(encoding="utf-8")) | {"source": source}
    path.write_text(json.dumps(card), encoding="utf-8")
    return results


@pytest.mark.parametrize("texts", [PAIR[:1], PAIR], ids=["sentence", "pair"])
def test_maps_are_those_of_a_forward_pass(
    results: Path, tiny_model_dir: Path, texts: tuple[str, ...]
) -> None:
    atlas = Atlas(results)
    assert atlas.add_text(*texts) is atlas
    tokenizer = AutoTokenizer.from_pretrained(tiny_model_dir, trust_remote_code=False)
    model = AutoModel.from_pretrained(
        tiny_model_dir, attn_implementation="eager", trust_remote_code=False
    ).eval()
    inputs = tokenizer(*texts, return_tensors="pt")
    # BERT's segments, which the tiny tokenizer does not write: 1 after the first [SEP].
    ends = (inputs["input_ids"] == tokenizer.sep_token_id).long()
    inputs["token_type_ids"] = ((ends.cumsum(1) - ends) > 0).long()
    with torch.no_grad():
        expected = torch.stack(model(**inputs, output_attentions=True).attentions)[:, 0].numpy()
    assert atlas.tokens("own-1") == tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    for layer, head in np.ndindex(LAYERS, HEADS):
        found = atlas.map("own-1", "pretrained", layer, head)
        np.testing.assert_allclose(found, expected[layer, head], atol=4e-3)


def test_the_page_has_the_texts_first_and_opens_there(results: Path) -> None:
    before = (results / "atlas.html").read_bytes(), (results / "atlas.json").read_bytes()
    atlas = Atlas(results)
    n_texts = len(atlas.segments)
    atlas.add_text(PAIR[0]).add_text(*PAIR)
    assert atlas.segments["segment"].tolist()[:2] == ["own-2", "own-1"]
    assert len(atlas.segments) == n_texts + 2
    page = html.unescape(atlas._repr_html_())
    data = json.loads(DATA.search(page)[1])
    assert [segment["id"] for segment in data["segments"]][:3] == ["own-2", "own-1", "wikipedia-0"]
    assert 'data-address="#view=maps&amp;model=tiny&amp;segment=own-2"' in page
    elements = dict(re.findall(r'<script type="text/plain" id="map:([^"]+)">([^<]*)<', page))
    assert elements.keys() == data["maps"].keys()
    whole = data | {"maps": {k: v | {"data": elements[k]} for k, v in data["maps"].items()}}
    SCHEMA.validate(whole)
    check_pages_expectations(whole)
    # The study's own files stay as they are.
    assert before == ((results / "atlas.html").read_bytes(), (results / "atlas.json").read_bytes())


def test_hostile_texts_stay_text(results: Path) -> None:
    atlas = Atlas(results)
    plain = atlas._repr_html_().count("&lt;/script&gt;")
    for text in HOSTILE:
        atlas.add_text(text, "town")
    added = atlas._repr_html_().count("&lt;/script&gt;") - plain
    assert added == len(HOSTILE)  # those that end the elements of the maps


def test_a_relative_path_starts_where_the_study_was_run(
    results: Path, tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "models").symlink_to(tiny_model_dir.parent)
    with_source(results, path=f"models/{tiny_model_dir.name}")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert "own-1" in Atlas(results).add_text(PAIR[0]).segments["segment"].tolist()


@pytest.mark.parametrize(
    "source",
    [
        {"path": "models/gone"},
        {"package": "no_such_package/model"},
        {"hub": "google/no-such-model", "revision": "0" * 40},
    ],
    ids=lambda source: next(iter(source)),
)
def test_a_model_that_is_not_here_is_one_error(
    results: Path, source: dict, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    kind, value = next(iter(source.items()))
    why = re.escape(f"add_text: the model tiny ({kind} {value}")
    with pytest.raises(InputError, match=why) as error:
        Atlas(with_source(results, **source)).add_text(PAIR[0])
    assert "\n" not in str(error.value)


def test_other_weights_are_refused(results: Path, tmp_path: Path, tiny_model_dir: Path) -> None:
    model = AutoModel.from_pretrained(tiny_model_dir, trust_remote_code=False)
    with torch.no_grad():
        next(model.parameters()).add_(1)
    AutoTokenizer.from_pretrained(tiny_model_dir, trust_remote_code=False).save_pretrained(
        tmp_path / "other"
    )
    model.save_pretrained(tmp_path / "other")
    with pytest.raises(InputError, match="are not those that the card of tiny"):
        Atlas(with_source(results, path=str(tmp_path / "other"))).add_text(PAIR[0])


@pytest.mark.parametrize(
    ("texts", "model", "why"),
    [
        (PAIR[:1], "other", "no model 'other'; there are: tiny"),
        (PAIR, "translation.1", r"no model 'translation\.1'"),
        ([""], None, "no token is left"),
        (["town " * 600], None, "602 tokens, but tiny reads at most"),
    ],
)
def test_what_cannot_be_run_is_reported(
    results: Path, texts: list[str], model: str | None, why: str
) -> None:
    atlas = Atlas(results)
    with pytest.raises(InputError, match=why):
        atlas.add_text(*texts, model=model)
    assert not atlas.segments["segment"].str.startswith("own").any()


def test_a_missing_card_is_reported(results: Path) -> None:
    (results / "tiny/attention/model.json").unlink()
    with pytest.raises(InputError, match=r"tiny/attention/model\.json"):
        Atlas(results).add_text(PAIR[0])


def test_a_decoder_reads_no_pair(results: Path) -> None:
    atlas = Atlas(results)
    atlas.data["models"][0]["causal"] = True
    with pytest.raises(InputError, match="tiny is a decoder, which reads one text, not a pair"):
        atlas.add_text(*PAIR)
