"""The ablation engine as a GPU runs it, on a CPU: in bfloat16, and whatever fits into a pass."""

import copy

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, PreTrainedModel

from tests.core.tiny_models import ARCHITECTURES, HEADS, LAYERS, random_classifier, random_tokens
from workflow_scripts.core.model.ablation_engine import ablate, one_head

DEPTH = {"shallow": LAYERS, "deep": 12}
LENGTHS = (9, 23, 14, 5, 17, 23, 40, 31) * 2
# Shares of the logits' standard deviation, about twice the highest measured with four seeds of each
# model: the mean and the largest difference of bfloat16 from float32. With its 8 significant bits
# each product is rounded by up to 2^-9 of itself, and layers add up what is lost. Effects of heads
# that are smaller than this may change their order and sign.
BOUNDS = {"shallow": (0.05, 0.2), "deep": (0.09, 0.4)}
MODES = ("uniform", "zero")
PASSES = (1, 1536, 200_000)  # one example at a time, the default, and all in one pass


def classifier(depth: str) -> PreTrainedModel:
    """A random BERT of 3 layers of 32 numbers, or of 12 layers of 64."""
    if depth == "shallow":
        return random_classifier("bert")
    config = copy.deepcopy(ARCHITECTURES["bert"])
    config.num_hidden_layers, config.hidden_size, config.intermediate_size = DEPTH[depth], 64, 256
    config.initializer_range = 0.12  # about 64 ** -0.5: no product shrinks towards 0
    config.num_labels = 3
    torch.manual_seed(0)
    return AutoModelForSequenceClassification.from_config(config, trust_remote_code=False).eval()


def swept(depth: str, mode: str, precision: str, pass_tokens: int) -> np.ndarray:
    """Logits [variant, example, label], with every third head disabled alone, and with none."""
    heads = one_head(DEPTH[depth], HEADS)[::3]
    disabled = np.concatenate([heads, np.zeros_like(heads[:1])])
    limits = {"pass_tokens": pass_tokens, "precision": precision}
    return ablate(classifier(depth), random_tokens(LENGTHS), disabled, mode, **limits)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("depth", DEPTH)
def test_bfloat16_is_close_to_float32_however_batched(depth: str, mode: str) -> None:
    exact = swept(depth, mode, "float32", PASSES[1])
    spread = exact.std(axis=(0, 1))  # of each label
    mean, largest = BOUNDS[depth]
    for pass_tokens in PASSES:
        rough = swept(depth, mode, "bfloat16", pass_tokens)
        share = np.abs(rough - exact) / spread
        assert 1e-3 < share.mean() < mean, pass_tokens  # not float32 under another name
        assert share.max() < largest, pass_tokens
