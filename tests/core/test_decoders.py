"""Decoders: patterns and logits equal eager's in each architecture; others are refused."""

from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel

from tests.bad_input.refused import refused
from tests.core.decoder_architectures import (
    HEADS,
    KV_HEADS,
    LAYERS,
    OPENED,
    POSITIONS,
    REFUSED,
    WINDOW,
    WINDOWED,
    WORDS,
)
from tests.core.tiny_decoders import (
    GPT2,
    LLAMA,
    byte_tokenizer,
    random_decoder,
    save_decoder,
    save_gpt2,
    save_llama,
)
from tests.core.tiny_models import save_bert
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, causal_engine, models
from workflow_scripts.core.model.attention import Capture, Watcher, open_attention, watching
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.model.models import max_positions

LENGTHS = (13, 20, 6)
# GPT-2's eager attention scales in another order where it does so by layer.
TOLERANCES = dict.fromkeys(("gpt2-scaled-by-layer", "bloom"), (1e-6, 1e-5))
TOLERANCES |= dict.fromkeys(("falcon", "falcon-groups"), (1e-6, 1e-5))  # it divides by sqrt(d)
FEWER_KEYS = {"falcon": 1, "falcon-groups": KV_HEADS}  # which their configs state in other ways
SINKS = {"gpt_oss"}


def batch() -> dict[str, torch.Tensor]:
    """Texts of different LENGTHS, padded on the right with the end token."""
    ids = torch.randint(3, WORDS, (3, max(LENGTHS)), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]).long()
    return {"input_ids": ids.masked_fill(mask == 0, 2), "attention_mask": mask}


class Directed(Watcher):
    """Later tokens are hidden in what watchers get as `real`."""

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        assert real.shape == (pattern.shape[0], *pattern.shape[2:])
        assert not real.triu(1).any()
        return pattern


def eager_decoder(name: str) -> PreTrainedModel:
    """Falcon's eager attention adds ALiBi to the scores, and its mask does so again: once here."""
    eager = random_decoder(OPENED[name], attn_implementation="eager")
    if name == "falcon-alibi":
        for layer in eager.transformer.h:
            layer.self_attention.register_forward_pre_hook(
                lambda _, args, given: (args, given | {"alibi": 0 * given["alibi"]}),
                with_kwargs=True,
            )
    return eager


def test_alibi_is_added_once_as_in_falcons_own_default() -> None:
    default = random_decoder(OPENED["falcon-alibi"])
    assert default.config._attn_implementation == "sdpa"
    real = batch()["attention_mask"].bool()
    with torch.no_grad():
        expected = default(**batch()).logits[real]
        assert (eager_decoder("falcon-alibi")(**batch()).logits[real] - expected).abs().max() < 1e-5


@pytest.mark.parametrize("name", OPENED)
def test_equals_eager_alone_and_in_a_batch(name: str) -> None:
    eager, ours = eager_decoder(name), open_attention(random_decoder(OPENED[name]))
    kv_heads = FEWER_KEYS.get(name, getattr(OPENED[name], "num_key_value_heads", HEADS))
    assert attention.n_layers(ours) == LAYERS
    assert (attention.n_heads(ours), attention.n_kv_heads(ours)) == (HEADS, kv_heads)
    assert not attention.is_bidirectional(ours)
    assert max_positions(ours) == (2048 if name == "bloom" else POSITIONS)
    assert attention.has_sinks(ours) == (name in SINKS)
    together = batch()
    alone = [
        {key: value[row : row + 1, :n] for key, value in together.items()}
        for row, n in enumerate(LENGTHS)
    ]
    patterns, logits = TOLERANCES.get(name, (0, 0))
    for inputs in (together, *alone):
        capture, gates = Capture(), Gates(torch.ones(LAYERS, HEADS))
        with torch.no_grad():
            expected = eager(**inputs, output_attentions=True, use_cache=False)
            with watching(ours, Directed(), gates, capture):
                actual = ours(**inputs)
        assert actual.past_key_values is None
        real = inputs["attention_mask"].bool()
        assert (actual.logits - expected.logits)[real].abs().max() <= logits
        assert len(capture.patterns) == len(expected.attentions) == LAYERS
        for layer, (a, b) in enumerate(zip(capture.patterns, expected.attentions, strict=True)):
            for row, n in enumerate(real.sum(1)):
                one = a[row, :, :n, :n]
                assert (one - b[row, :, :n, :n]).abs().max() <= patterns
                assert not one.triu(1).any()
                assert name in SINKS or (one.sum(-1) - 1).abs().max() < 1e-6
                far = one.tril(-WINDOW)
                assert far.any() == (n > WINDOW and layer not in WINDOWED.get(name, []))


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused_by_name(name: str) -> None:
    config, why = REFUSED[name]
    model = random_decoder(config)
    with pytest.raises(InputError, match=rf"^{name}: {why} hand their attention .*") as error:
        open_attention(model)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("config", [LLAMA, GPT2], ids=["llama", "gpt2"])
def test_losses_are_those_of_one_text_at_a_time(config: PretrainedConfig, tmp_path: Path) -> None:
    save_decoder(config, tmp_path)
    model = causal_engine.load_causal(tmp_path, torch.device("cpu"))
    inputs = batch()
    with torch.no_grad():
        losses = causal_engine.token_losses(model, inputs)
        assert losses.shape == (3, max(LENGTHS) - 1)
        for row, n in enumerate(LENGTHS):
            ids = inputs["input_ids"][row : row + 1, :n]
            chances = model(input_ids=ids).logits.double().softmax(-1)
            by_hand = [-chances[0, i, ids[0, i + 1]].log() for i in range(n - 1)]
            torch.testing.assert_close(losses[row, : n - 1], torch.stack(by_hand).float())
            assert losses[row, n - 1 :].isnan().all()
            alone = causal_engine.token_losses(
                model, {name: rows[row : row + 1, :n] for name, rows in inputs.items()}
            )
            torch.testing.assert_close(alone[0], losses[row, : n - 1])


def test_a_model_without_its_head_or_of_both_directions_is_no_decoder(tmp_path: Path) -> None:
    save_bert(tmp_path / "bert", mlm=True)
    with pytest.raises(InputError, match="tokens attend to later tokens; use a decoder"):
        causal_engine.load_causal(tmp_path / "bert", torch.device("cpu"))
    random_decoder(LLAMA).model.save_pretrained(tmp_path / "body")
    with pytest.raises(InputError, match=r"lm_head.weight is missing"):
        causal_engine.load_causal(tmp_path / "body", torch.device("cpu"))


@pytest.mark.parametrize("start", [False, True])
def test_a_card_without_a_padding_token(start: bool, tmp_path: Path) -> None:
    save_llama(tmp_path, start=start)
    card = models.describe(tmp_path, "tiny", {"path": str(tmp_path)})
    assert card["special"] == {"cls": None, "sep": None, "mask": None, "pad": None}
    assert card["start"] == (0 if start else None)
    assert (card["n_heads"], card["n_kv_heads"], card["bidirectional"]) == (4, 2, False)
    assert card["max_positions"] == 128
    save_gpt2(tmp_path)
    assert "n_kv_heads" not in models.describe(tmp_path, "t", {"path": str(tmp_path)})


def test_a_model_of_images_is_refused_in_one_line(tmp_path: Path) -> None:
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16}
    text = sizes | {"intermediate_size": 16, "vocab_size": 320}
    images = sizes | {"intermediate_size": 16, "image_size": 28, "patch_size": 14}
    config = AutoConfig.for_model("gemma3", text_config=text, vision_config=images)
    model = AutoModel.from_config(config, trust_remote_code=False)
    refused(lambda: open_attention(model), "gemma3")
    model.save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    source = {"path": str(tmp_path)}
    refused(
        lambda: models.describe(tmp_path, "tiny", source), tmp_path, "use a model of text alone"
    )


def test_layers_with_different_numbers_of_heads_are_refused() -> None:
    model = random_decoder(OPENED["llama-groups"])
    layer = model.model.layers[1].self_attn
    width = layer.k_proj.out_features
    layer.k_proj = torch.nn.Linear(32, width // KV_HEADS, bias=False)
    layer.v_proj = torch.nn.Linear(32, width // KV_HEADS, bias=False)
    refused(lambda: open_attention(model), "llama: layers with 4 (1 for keys) and 4 (2 for keys)")
