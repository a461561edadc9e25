"""Models that would run, and give wrong numbers or none: each is refused in one line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, processors
from transformers import AutoConfig, PretrainedConfig

from tests.bad_input.refused import refused
from tests.core.tiny_models import _SIZES as SIZES
from tests.core.tiny_models import ARCHITECTURES, random_model, tokenizer
from workflow_scripts.core.data.cards import check_abilities
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import models, running, weights
from workflow_scripts.core.model.attention import Capture, open_attention, watching
from workflow_scripts.core.model.models import max_positions

MORE = {
    "data2vec-text": AutoConfig.for_model("data2vec-text", **SIZES, type_vocab_size=1),
    "gpt2": AutoConfig.for_model(
        "gpt2", n_layer=1, n_head=2, n_embd=8, n_positions=64, vocab_size=SIZES["vocab_size"]
    ),
    "gpt_neo": AutoConfig.for_model(
        "gpt_neo",
        attention_types=[[["local"], 1]],
        num_layers=1,
        num_heads=2,
        hidden_size=8,
        max_position_embeddings=64,
        vocab_size=SIZES["vocab_size"],
    ),
}
RELATIVE = ("modernbert", "deberta-v2-shared", "xlnet")  # their positions alone


@pytest.fixture
def directory(tiny_model_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model_dir, tmp_path / "model"))


def describe(directory: Path) -> dict[str, Any]:
    return models.describe(directory, "tiny", {"path": str(directory)})


def change(path: Path, **changed: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def change_weight(directory: Path, name: str, to: Callable[[torch.Tensor], torch.Tensor]) -> None:
    path = directory / "model.safetensors"
    state = load_file(path)
    save_file(state | {name: to(state[name])}, path, metadata={"format": "pt"})


@pytest.mark.parametrize("name", [*ARCHITECTURES, *MORE])
def test_a_text_of_full_length_is_read_and_no_longer_one(name: str) -> None:
    config: PretrainedConfig = (ARCHITECTURES | MORE)[name]
    model = open_attention(random_model(config))
    most = max_positions(model)
    offset = {"data2vec-text": 1, "roberta": 1, "mpnet": 2}
    stated = 512 if name == "xlnet" else config.max_position_embeddings
    assert most == stated - offset.get(name, 0)

    def read(length: int) -> None:
        model(torch.full((1, length), 5), attention_mask=torch.ones(1, length))

    with torch.inference_mode():
        read(most)
        if name not in RELATIVE:
            with pytest.raises((IndexError, RuntimeError)):
                read(most + 1)


def test_a_roberta_without_a_padding_token(tmp_path: Path) -> None:
    random_model(ARCHITECTURES["roberta"]).save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    change(tmp_path / "config.json", pad_token_id=None)
    refused(lambda: describe(tmp_path), tmp_path, "pad_token_id is null")
    change(tmp_path / "config.json", pad_token_id=7)
    refused(lambda: describe(tmp_path), "tokenizer's pad_token_id is 0, but config.json's is 7")


def test_tokens_beyond_the_embedding(directory: Path) -> None:
    rows = len(tokenizer())
    more = tokenizer()
    more.add_tokens("kayak")
    more.save_pretrained(directory)
    words = f"token 'kayak' has the number {rows}, but the embedding has {rows} rows"
    refused(lambda: describe(directory), directory, words)


def test_special_tokens_that_no_text_contains(directory: Path) -> None:
    """Gemma 3's token of images has the number after the embedding's last row."""
    more = tokenizer()
    more.add_special_tokens({"additional_special_tokens": ["<image>"]})
    more.save_pretrained(directory)
    assert describe(directory)["architecture"] == "bert"


@pytest.mark.parametrize("pad", [-1, 1, 10**6])
def test_padding_of_a_decoder_is_masked(tmp_path: Path, pad: int) -> None:
    """LLaMA-1 has -1, others not the tokenizer's: patterns are eager's of the text alone."""
    config = AutoConfig.for_model("llama", **(SIZES | {"pad_token_id": None}))
    random_model(config).save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    change(tmp_path / "config.json", pad_token_id=pad if pad < 2 else None, eos_token_id=pad)
    models.load_tokenizer(tmp_path)  # whose own padding token is 0
    model = models.load_body(tmp_path, torch.device("cpu"))
    model.set_attn_implementation("eager")
    with torch.no_grad():
        ids = torch.tensor([[5, 6]])
        alone = model(input_ids=ids, output_attentions=True).attentions
    capture = Capture()
    with watching(open_attention(model), capture), torch.no_grad():
        rows = [np.array(row) for row in ([5, 6], [1, 1, 1])]
        texts = [Tokens("", row, np.zeros(len(row)), np.zeros(len(row)), 1) for row in rows]
        model(**running.pad(texts, model))
    for pattern, expected in zip(capture.patterns, alone, strict=True):
        torch.testing.assert_close(pattern[:1, :, :2, :2], expected)


def test_an_inserted_layer_without_effect(tmp_path: Path) -> None:
    """As block expansion inserts it: what the layer adds is 0 (LLaMA Pro)."""
    model = random_model(AutoConfig.for_model("llama", **SIZES))
    with torch.no_grad():
        model.layers[1].self_attn.o_proj.weight.zero_()
        model.layers[1].mlp.down_proj.weight.zero_()
    open_attention(model)


def test_capitals_that_a_tokenizer_cannot_give() -> None:
    own = tokenizer()
    assert models.unreachable_capitals(own) == 0  # [CLS] is no text's
    state = json.loads(own.backend_tokenizer.to_str())
    state["model"]["vocab"] |= {"Anna": 1000, "Bob": 1001, "eve": 1002}
    lowering = type(own)(tokenizer_object=Tokenizer.from_str(json.dumps(state)))
    assert models.unreachable_capitals(lowering) == 2


QUERY = "encoder.layer.1.attention.self.query.weight"


def test_one_weight_that_is_not_finite(directory: Path) -> None:
    change_weight(directory, QUERY, lambda weight: weight.index_fill(0, torch.tensor(3), torch.nan))
    refused(lambda: describe(directory), directory, f"the weights hold NaN, in {QUERY}")


def test_integer_weights(directory: Path) -> None:
    change_weight(directory, QUERY, lambda weight: weight.to(torch.int8))
    words = f"{QUERY} is stored as I8: quantized weights are not read"
    refused(lambda: describe(directory), directory, words)


def test_integers_that_are_no_weights(directory: Path) -> None:
    """Positions and masks, which older checkpoints store."""
    path = directory / "model.safetensors"
    positions = {"embeddings.position_ids": torch.arange(128)[None]}
    save_file(load_file(path) | positions, path, metadata={"format": "pt"})
    assert describe(directory)["max_positions"] == 128
    for kind, part in (("gpt2", "h.0.attn"), ("gpt_neo", "h.0.attn.attention")):
        random_model(MORE[kind]).save_pretrained(directory)
        mask = {f"{part}.bias": torch.ones(1, 1, 64, 64, dtype=torch.bool)}
        constant = {f"{part}.masked_bias": torch.tensor(-1e4)}
        save_file(load_file(path) | mask | constant, path, metadata={"format": "pt"})
        assert describe(directory)["max_positions"] == 64


@pytest.mark.parametrize("key", ["quantization_config", "quant_method", "compression_config"])
def test_a_quantized_model(directory: Path, key: str) -> None:
    change(directory / "config.json", **{key: {"quant_method": "gptq"}})
    words = f"config.json: {key}: quantized weights are not read"
    refused(lambda: describe(directory), directory, words)


LEFT_OUT = {
    "[CLS] last": ("$A [SEP] [CLS]", "$A [SEP] $B:1 [SEP]:1 [CLS]", ("cls",)),
    "no [SEP] between": ("[CLS] $A [SEP]", "[CLS] $A $B:1 [SEP]:1", ("sep",)),
    "no [CLS] in pairs": ("[CLS] $A [SEP]", "$A [SEP] $B:1 [SEP]:1", ("cls",)),
    "adds both": ("[CLS] $A [SEP]", "[CLS] $A [SEP] [SEP] $B:1 [SEP]:1", ()),
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_special_tokens_that_texts_or_pairs_do_not_get(directory: Path, kind: str) -> None:
    single, pair, lacking = LEFT_OUT[kind]
    fast = tokenizer()
    numbers = [(token, fast.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")]
    fast.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=numbers
    )
    fast.save_pretrained(directory)
    card = describe(directory)
    assert {name for name in ("cls", "sep") if card["special"][name] is None} == set(lacking)
    for name in lacking:
        words = "lacks or leaves out of texts or pairs"
        refused(lambda name=name: check_abilities(card, {name: ["surface"]}), directory, words)


def test_a_models_own_code_never_runs(directory: Path) -> None:
    marker, own = directory / "ran", {"AutoConfig": "own.JinaBertConfig", "AutoModel": "own.Jina"}
    (directory / "own.py").write_text(f"open({str(marker)!r}, 'w')")
    change(directory / "config.json", auto_map=own)
    refused(lambda: describe(directory), directory, "auto_map asks for code of the model's own")
    change(directory / "config.json", auto_map={"AutoModel": "own.BertModel"})
    assert describe(directory)["max_positions"] == 128  # the library's own class
    change(directory / "config.json", auto_map=own, model_type="own")
    refused(lambda: weights.read_config(directory), directory, "contains custom code")
    assert not marker.exists()
