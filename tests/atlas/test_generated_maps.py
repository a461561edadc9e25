"""A decoder's maps: of a prompt and of what it generates, against the library's own loop."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from tests.atlas.made_up_tables import MadeUpModel, written
from tests.atlas.plainly import bound, check, read
from tests.core.tiny_decoders import HEADS, LAYERS, POSITIONS, TEXTS, save_llama
from tests.core.tiny_models import write_card
from workflow_scripts.atlas import generated_maps
from workflow_scripts.atlas.texts import decode
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.cards import write_card as save_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import causal_engine, models

PROMPT, MORE = 6, 5


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny decoder whose tokenizer begins every text with the end token."""
    return save_llama(tmp_path_factory.mktemp("decoder"), start=True)


def run(folder: Path, decoder: Path, **options: Any) -> dict[str, Any]:
    """What the job writes of two corpora of this decoder."""
    texts = [folder / "wiki.jsonl", folder / "trees.jsonl"]
    for path in texts:
        examples = [Example(f"{path.stem}-{n}", f"d{n}", "x", (TEXTS[n],)) for n in range(2)]
        write_records(path, examples)
    card = write_card(folder, decoder)
    given = {"kinds": {"wiki": "text", "trees": "annotated"}, "segments": 2, "generated": ["trees"]}
    given |= {"prompt_tokens": PROMPT, "generated_tokens": MORE, "device": "cpu"} | options
    generated_maps.main(card, texts, folder / "maps.json", **given)
    return json.loads((folder / "maps.json").read_text(encoding="utf-8"))


def test_maps_are_those_of_the_prompt_and_of_what_is_generated(
    tmp_path: Path, decoder: Path
) -> None:
    """By the library's own attention, without a cache, token by token."""
    content = run(tmp_path, decoder)
    ids = [segment["id"] for segment in content["segments"]]
    assert ids == ["wiki-0", "wiki-1", "trees-0"]
    eager = AutoModelForCausalLM.from_pretrained(
        decoder, attn_implementation="eager", trust_remote_code=False
    ).eval()
    tokenizer = models.load_tokenizer(decoder)
    for segment, text in zip(content["segments"], (TEXTS[0], TEXTS[1], TEXTS[0]), strict=True):
        grown = torch.tensor([tokenizer(text)["input_ids"][:PROMPT]])
        with torch.inference_mode():
            for _ in range(MORE):
                best = int(eager(grown, use_cache=False).logits[0, -1].argmax())
                grown = torch.cat([grown, torch.tensor([[best]])], dim=1)
                if best == 0:
                    break
            weights = torch.cat(eager(grown, output_attentions=True).attentions).numpy()
        assert segment["generated"] == grown.shape[1] - PROMPT > 0
        assert len(segment["tokens"]) == len(segment["word"]) == grown.shape[1]
        assert segment["word"][0] == -1
        entry = content["maps"][segment["maps"]["pretrained"]]
        found = decode(entry)
        assert found.shape == (LAYERS, HEADS, grown.shape[1], grown.shape[1])
        assert (np.abs(found - weights) <= bound(weights, entry["largest"]) + 1e-3).all()
        assert (np.triu(found, 1) == 0).all()
    titles = [segment["title"] for segment in content["segments"]]
    assert titles[2].startswith("trees, generated: ") and not titles[0].startswith("wiki, ")


def test_the_token_that_ends_a_text_is_the_last(
    decoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = causal_engine.load_causal(decoder, torch.device("cpu"))
    prompt = np.arange(5, 9, dtype=np.int32)
    whole = generated_maps.continued(model, prompt, 8)
    assert whole[:4].tolist() == prompt.tolist() and whole.dtype == np.int32
    end = int(whole[6])
    for ends in (end, [3, end]):
        monkeypatch.setattr(model.generation_config, "eos_token_id", ends)
        shorter = generated_maps.continued(model, prompt, 8)
        assert shorter.tolist() == whole[: whole.tolist().index(end, 4) + 1].tolist()


def test_words_go_on_where_letters_meet(decoder: Path) -> None:
    tokenizer = models.load_tokenizer(decoder)
    pieces = ["a", "t", ",", "Ġ", "b", "o", "<|endoftext|>", "a"]
    ids = np.array([tokenizer.convert_tokens_to_ids(piece) for piece in pieces])
    found = generated_maps.words_after(tokenizer, ids, np.array([0], np.int32))
    assert found.tolist() == [0, 0, 1, 2, 3, 3, -1, 4]


def test_more_tokens_than_the_model_reads_are_refused(tmp_path: Path, decoder: Path) -> None:
    words = rf"atlas: prompt_tokens and generated_tokens .* tiny reads at most {POSITIONS}; lower"
    with pytest.raises(InputError, match=words):
        run(tmp_path, decoder, generated_tokens=POSITIONS)


def test_the_atlas_takes_them_over(tmp_path: Path, decoder: Path) -> None:
    model = MadeUpModel(tmp_path, shape=(LAYERS, HEADS))
    (folder := model.folder / "atlas").mkdir()
    content = run(folder, decoder, segments=1)
    about = {"n_kv_heads": 2, "bidirectional": False}
    save_card(read_card(model.card) | about, model.card)
    path = written(tmp_path, model, maps=[folder / "maps.json"])
    check(path)
    assert {key: read(path)[key] for key in content} == content
