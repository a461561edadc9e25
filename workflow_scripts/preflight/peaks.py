"""The peak memory of the two heaviest jobs of an encoder, reckoned from its architecture.

Of the tensors of PyTorch alone: not of Python, CUDA's own memory, or what an allocator holds back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from transformers import AutoModel, PretrainedConfig

from workflow_scripts.core.run.findings import NOTE, OK, Finding
from workflow_scripts.core.run.units import size

FLOAT = 4  # bytes of a number; bfloat16 takes less for activations, the same for weights
ADAMW = 4  # numbers of a weight: itself, its gradient, two moments


@dataclass(frozen=True)
class Encoder:
    """What memory depends on: the number of weights, and the sizes of a layer."""

    weights: int
    layers: int
    heads: int
    width: int
    inner: int

    @classmethod
    def of(cls, config: PretrainedConfig) -> Self:
        """Those of the body that `config` describes; no weight takes memory meanwhile."""
        with torch.device("meta"):
            body = AutoModel.from_config(config, trust_remote_code=False)
        width = config.hidden_size
        inner = getattr(config, "intermediate_size", getattr(config, "hidden_dim", 4 * width))
        weights = sum(weight.numel() for weight in body.parameters())
        return cls(weights, config.num_hidden_layers, config.num_attention_heads, width, inner)

    def activations(self, batch_size: int, tokens: int) -> int:
        """Bytes that a forward pass keeps for the backward pass, of `batch_size` x `tokens`.

        Source: Korthikanti et al. 2022, section 4, s b h (34 + 5 a s / h) bytes a layer in 16 bits
        if inner = 4 h. A token has 8 h + 2 inner numbers (inputs of the linear layers, GELU and
        norms; queries, keys and values), 2 a s of attention before and after its dropout, and
        masks of dropout, 2 h + a s. Here each has 32 bits: s b h (72 + 12 a s / h) bytes. That
        is PyTorch on a CPU; on a GPU a mask has 8 bits, and fused attention keeps no a s.
        """
        masks = 2 * self.width + self.heads * tokens
        numbers = 8 * self.width + 2 * self.inner + 2 * self.heads * tokens
        return FLOAT * self.layers * batch_size * tokens * (numbers + masks)

    def training(self, batch_size: int, tokens: int) -> int:
        """Bytes of a step of fine-tuning: 16 of each weight, by AdamW, and the activations.

        The gradients of the step before are still there when the activations are most.
        """
        return FLOAT * ADAMW * self.weights + self.activations(batch_size, tokens)

    def sweep(self, pass_tokens: int) -> int:
        """Bytes of the weights and of a full pass of the ablation engine.

        It holds most inside the feed-forward part of a layer: of each token 6 h + 2 inner numbers
        (what the heads add, the variants with and without the rest of their layer, what entered
        this layer, its heads' outputs, and the norm of their sum; both sides of GELU).
        """
        return FLOAT * (self.weights + pass_tokens * (6 * self.width + 2 * self.inner))


def room(device: str, submits: bool, free: int | None) -> tuple[int, str] | None:
    """Bytes that one job can have, and in words where; None where that is not known here.

    `free` are those of this machine's memory, which count where `device` gives no CUDA GPU.
    """
    if submits:
        return None
    if device in ("auto", "cuda") and torch.cuda.is_available():
        total = torch.cuda.get_device_properties(0).total_memory
        return total, f"the GPU has {size(total)}"
    return None if free is None else (free, f"{size(free)} are free here")


def finding(
    name: str,
    study: Mapping[str, Any],
    config: PretrainedConfig,
    has: tuple[int, str] | None,
) -> Finding | None:
    """The peaks of the encoder `name` in the study's jobs; None where it has neither job.

    A note where one is above what there is, with the key to lower.
    """
    chapters = study["models"][name].get("chapters", ("checkpoints", "ablation"))
    tokens = [
        task["max_tokens"] for task in study.get("tasks", {}).values() if "max_tokens" in task
    ]
    encoder = Encoder.of(config)
    peaks = []  # of each job: its name, bytes, the least that they can be, the key that lowers them
    if tokens and "checkpoints" in chapters and study.get("checkpoints"):
        batch_size = study["checkpoints"]["finetune"]["batch_size"]
        peak, least = (encoder.training(n, max(tokens)) for n in (batch_size, 1))
        peaks.append(("fine-tuning", peak, least, "checkpoints.finetune.batch_size"))
    if tokens and "ablation" in chapters and study.get("ablation"):
        pass_tokens = max(study["ablation"]["pass_tokens"], max(tokens))
        peak, least = encoder.sweep(pass_tokens), encoder.sweep(max(tokens))
        peaks.append(("the sweep", peak, least, "ablation.pass_tokens"))
    if not peaks:
        return None
    why = ", ".join(f"{job} about {size(peak)}" for job, peak, _, _ in peaks)
    too_much = [peak for peak in peaks if has is not None and peak[1] > has[0]]
    for job, _, least, key in too_much:
        fix = f"lower {key}" if least <= has[0] else f"{job} needs a larger one, whatever {key} is"
        why += f"; {has[1]}: {fix}"
    return Finding(f"memory of {name}", NOTE if too_much else OK, why)
