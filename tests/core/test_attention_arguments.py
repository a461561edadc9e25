"""Arguments of attention that change its scores are used or refused, never dropped."""

import copy

import pytest
import torch
from transformers import PreTrainedModel, T5Config, T5EncoderModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from tests.core.builders import batch
from tests.core.tiny_models import ARCHITECTURES, HEADS, LAYERS, VOCABULARY, enlarge, random_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention import HARMLESS, NAME, Capture, open_attention, watching

_T5 = T5Config(
    vocab_size=len(VOCABULARY), d_model=32, d_kv=8, d_ff=48, num_layers=LAYERS, num_heads=HEADS
)


def t5(**options: str) -> PreTrainedModel:
    torch.manual_seed(0)
    model = T5EncoderModel._from_config(copy.deepcopy(_T5), **options)
    return enlarge(model).eval()


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
def test_position_bias_is_used_as_t5_does(padded: bool) -> None:
    inputs = batch(padded)
    eager, ours = t5(attn_implementation="eager"), open_attention(t5())
    with torch.no_grad():
        expected = eager(**inputs, output_attentions=True, output_hidden_states=True)
        with watching(ours, capture := Capture()):
            actual = ours(**inputs, output_hidden_states=True)
        bias = ours.encoder.block[0].layer[0].SelfAttention.relative_attention_bias
        bias.weight.zero_()
        without = ours(**inputs, output_hidden_states=True)
    real = inputs["attention_mask"].bool()
    for a, b in zip(actual.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(a[real], b[real], atol=1e-5, rtol=1e-5)
    for layer in range(LAYERS):
        for row, n in enumerate(real.sum(dim=1)):
            a, b = (p[layer][row, :, :n, :n] for p in (capture.patterns, expected.attentions))
            torch.testing.assert_close(a, b, atol=1e-6, rtol=0)
    # The bias is large enough that a model without it would have failed above.
    assert (without.hidden_states[-1] - actual.hidden_states[-1])[real].abs().max() > 0.1


def test_an_unknown_argument_is_refused_by_name() -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    with pytest.raises(InputError, match="BertSelfAttention: attention is given head_mask"):
        model(**batch(padded=False), head_mask=torch.zeros(LAYERS, HEADS))
    model(**batch(padded=False), head_mask=None)  # as if it was not given


@pytest.mark.parametrize("name", ["output_attentions", "return_dict", "is_causal", "use_cache"])
def test_harmless_arguments_are_accepted(name: str) -> None:
    assert name in HARMLESS
    model, inputs = open_attention(random_model(ARCHITECTURES["bert"])), batch(padded=True)
    with torch.no_grad():
        expected = model(**inputs).last_hidden_state
        given = model(**inputs, **{name: True}).last_hidden_state
    torch.testing.assert_close(given, expected, atol=0, rtol=0)


def test_a_window_that_the_mask_does_not_hold_is_refused() -> None:
    """ModernBERT's window is in its mask; without one, a longer text would be read whole."""
    model = open_attention(random_model(ARCHITECTURES["modernbert"]))
    with watching(model, capture := Capture()), torch.no_grad():
        model(**batch(padded=False))
    assert capture.patterns[1][0, :, 0, 10:].max() == 0
    bert = open_attention(random_model(ARCHITECTURES["bert"]))
    with pytest.raises(InputError, match="BertSelfAttention: attention is given sliding_window"):
        bert(input_ids=torch.full((1, 9), 6), sliding_window=4)


@pytest.mark.parametrize("mask_rows", [1, 2, 6])
def test_neighbouring_rows_may_have_keys_in_common(mask_rows: int) -> None:
    model = open_attention(random_model(ARCHITECTURES["bert"]))
    module, attend = model.encoder.layer[0].attention.self, ALL_ATTENTION_FUNCTIONS[NAME]
    torch.manual_seed(1)
    query, (key, value) = torch.randn(6, HEADS, 3, 8), torch.randn(2, 2, HEADS, 5, 8)
    mask = torch.zeros(mask_rows, 1, 1, 5)
    mask[-1, ..., 2:] = torch.finfo(mask.dtype).min
    repeated = (each.repeat_interleave(6 // len(each), 0) for each in (key, value, mask))
    shared, whole = attend(module, query, key, value, mask), attend(module, query, *repeated)
    for actual, expected in zip(shared, whole, strict=True):
        torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-6)
    assert (shared[1] == 0).any()  # something is masked
