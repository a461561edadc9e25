"""The atlas from Python: its numbers, the page in a frame, and the maps of a text."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from tests.atlas.made_up import HOSTILE, made_up
from tests.atlas.plainly import DATA, SCHEMA, as_list
from tests.core.test_causal_engine import CONFIGS
from tests.core.tiny_decoders import save_llama
from tests.core.tiny_models import ARCHITECTURES, HEADS, LAYERS
from workflow_scripts.atlas import Atlas, show
from workflow_scripts.atlas.texts import decode
from workflow_scripts.core.errors import InputError

PAGE = '<!doctype html><head></head><p title="a &amp; b">"quoted" &lt;b&gt; </iframe> é</p>\n'
PAIR = ("a king built the town .", "the town is old")


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return made_up(2, 3, n_models=2, segments=2, tokens=8, n_translators=1)


@pytest.fixture
def plain(data: dict[str, Any], tmp_path: Path) -> Atlas:
    """An atlas of made-up numbers, whose page is PAGE."""
    (tmp_path / "atlas.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "atlas.html").write_text(PAGE, encoding="utf-8")
    return Atlas(tmp_path, height=500)


def test_the_page_stands_in_a_frame(plain: Atlas) -> None:
    found: list[tuple[str, dict]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list) -> None:
            found.append((tag, dict(attrs)))

    shown = plain._repr_html_()
    assert shown.isascii()
    reader = Reader()
    reader.feed(shown)
    ((tag, attributes),) = found
    expected = PAGE.replace("<head>", '<head><base href="about:srcdoc">')
    assert tag == "iframe" and attributes["srcdoc"] == expected and attributes["height"] == "500"
    assert attributes["sandbox"].split() == ["allow-scripts", "allow-downloads"]
    assert repr(plain).startswith("Atlas of made-up: tiny, tiny-2, translation.1; ")


def test_measures_are_a_row_for_each_head(plain: Atlas, data: dict[str, Any]) -> None:
    frame = plain.measures
    for measure in data["measures"]:
        rows = frame[(frame["model"] == measure["model"]) & (frame["measure"] == measure["id"])]
        translator = measure["model"] == "translation.1"
        kinds = ["encoder"] * 6 + ["encoder-decoder"] * 3 + ["decoder"] * 3
        layers = [0] * 3 + [1] * 3 + ([0] * 6 if translator else [])
        assert rows["layer"].tolist() == layers
        assert rows["head"].tolist() == [0, 1, 2] * (len(layers) // 3)
        assert rows["type"].dropna().tolist() == (kinds if translator else [])
        assert set(rows["title"]) == {measure["title"]} and set(rows["unit"]) == {measure["unit"]}
        for name in ("value", "low", "high", "n", "p"):
            given = as_list(measure[name], len(layers))
            expected = [np.nan if value is None else value for value in given]
            np.testing.assert_array_equal(rows[name], np.array(expected, float))
        if measure["categories"]:
            expected = [measure["categories"][int(value)] for value in measure["value"]]
            assert rows["label"].tolist() == expected
        elif measure["label"]:
            assert rows["label"].tolist() == measure["label"]


def test_one_heads_map(plain: Atlas, data: dict[str, Any]) -> None:
    segment = data["segments"][0]
    whole = decode(data["maps"][segment["maps"]["sst2.1"]])
    found = plain.map(segment["id"], "sst2.1", 1, 2)
    np.testing.assert_array_equal(found, whole[1, 2])
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=0.05)
    other = plain.map(segment["id"], "pretrained", 0, 0, model="tiny-2")
    entry = next(s for s in data["segments"] if s["model"] == "tiny-2")
    np.testing.assert_array_equal(other, decode(data["maps"][entry["maps"]["pretrained"]])[0, 0])
    assert plain.tokens(segment["id"]) == segment["tokens"]
    for kind in ("encoder", "encoder-decoder", "decoder"):
        whole = decode(data["maps"][f"translation.1.translation-test-1.trained.{kind}"])
        where = ("translation-test-1", "trained", 0, 1, "translation.1")
        np.testing.assert_array_equal(plain.map(*where, type=kind), whole[0, 1])


def test_the_segments(plain: Atlas, data: dict[str, Any]) -> None:
    frame = plain.segments
    assert frame["segment"].tolist() == [segment["id"] for segment in data["segments"]]
    assert frame["n_tokens"].tolist() == [len(s["tokens"]) for s in data["segments"]]
    assert frame["states"].iloc[0] == ["pretrained", "sst2.1"]


def test_a_row_for_each_head_with_a_role(plain: Atlas) -> None:
    assert plain.roles.empty
    plain.data["models"][1]["badges"] = [{"id": "induction", "heads": [1, 5]}]
    del plain.roles
    rows = [list(row) for row in plain.roles.itertuples(index=False)]
    assert rows == [["tiny-2", "induction", 0, 1], ["tiny-2", "induction", 1, 2]]


def test_the_base_comes_before_the_policy_that_forbids_it(tiny_model_dir: Path) -> None:
    shown = html.unescape(show(tiny_model_dir, PAIR[0])._repr_html_())
    assert 0 < shown.index("<base ") < shown.index("base-uri 'none'")


def test_hostile_texts_stay_text(tiny_model_dir: Path) -> None:
    ends = [
        show(tiny_model_dir, text, "town")._repr_html_().count("&lt;/script&gt;")
        for text in ("town", *HOSTILE)
    ]
    assert len(set(ends)) == 1


def eager(model: PreTrainedModel, tokenizer: Any, text: str) -> np.ndarray:
    """The weights that the library gives: [layer, head, query, key]."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        output = model(**tokenizer(text, return_tensors="pt"), output_attentions=True)
    return torch.stack(output.attentions)[:, 0].numpy()


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_model_without_a_study_is_shown(kind: str, tiny_model_dir: Path, tmp_path: Path) -> None:
    """Its weights are eager's, and it is left as it was."""
    directory = tiny_model_dir if kind == "encoder" else save_llama(tmp_path)
    loader = AutoModel if kind == "encoder" else AutoModelForCausalLM
    model = loader.from_pretrained(directory, trust_remote_code=False).train()
    tokenizer = AutoTokenizer.from_pretrained(directory, trust_remote_code=False)
    before = model.config.to_dict(), model.config._attn_implementation
    shown = show(model, PAIR[0])
    assert (model.config.to_dict(), model.config._attn_implementation) == before
    assert all(part.training for part in model.modules())
    np.testing.assert_allclose(shown.weights, eager(model.eval(), tokenizer, PAIR[0]), atol=4e-3)
    page = html.unescape(shown._repr_html_())
    data = json.loads(DATA.search(page)[1])
    assert data["models"][0].get("causal", False) == (kind == "decoder")
    elements = dict(re.findall(r'<script type="text/plain" id="map:([^"]+)">([^<]*)<', page))
    SCHEMA.validate(
        data | {"maps": {k: v | {"data": elements[k]} for k, v in data["maps"].items()}}
    )
    again = show(directory, PAIR[0], layer=1, head=2)
    np.testing.assert_array_equal(again.weights, shown.weights)
    assert 'data-address="#view=head&amp;head=2-3"' in html.unescape(again._repr_html_())
    with pytest.raises(InputError, match=r"has \d layers of \d heads, from 0"):
        show(directory, PAIR[0], layer=LAYERS, head=0)


def state(model: PreTrainedModel) -> tuple[Any, ...]:
    """What opening a model changes: its config, its modules, and what stands on each of them."""
    parts = {name: {*vars(part)} for name, part in model.named_modules()}
    hooks = [len(part._forward_pre_hooks) for part in model.modules()]
    return parts, hooks, model.config.to_dict(), model.config._attn_implementation


@pytest.mark.parametrize("kind", ["mpnet", "deberta", "bloom", "gpt_neo"])
def test_a_shown_model_keeps_no_adapter(kind: str, tiny_model_dir: Path) -> None:
    config = CONFIGS[kind] if kind in CONFIGS else ARCHITECTURES[kind]
    model = AutoModel.from_config(config, trust_remote_code=False).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_model_dir, trust_remote_code=False)
    before, ids = state(model), tokenizer(PAIR[0], return_tensors="pt")["input_ids"]
    with torch.no_grad():
        expected = model(input_ids=ids).last_hidden_state
        show(model, PAIR[0], tokenizer=tokenizer)
        assert state(model) == before
        torch.testing.assert_close(model(input_ids=ids).last_hidden_state, expected)
    with pytest.raises(InputError, match="no token is left"):
        show(model, " ", tokenizer=tokenizer)
    assert state(model) == before


def test_a_model_from_nowhere_needs_its_tokenizer(tiny_model_dir: Path) -> None:
    found = AutoModel.from_pretrained(tiny_model_dir, trust_remote_code=False)
    model = type(found)(found.config)
    model.name_or_path = ""
    with pytest.raises(InputError, match="show: the model was not read from a directory; give"):
        show(model, PAIR[0])
    tokenizer = AutoTokenizer.from_pretrained(tiny_model_dir, trust_remote_code=False)
    assert show(model, PAIR[0], tokenizer=tokenizer).weights.shape[:2] == (LAYERS, HEADS)
