"""A cache that drops the keys and values which heads that stream no longer see."""

from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, PreTrainedModel
from transformers.cache_utils import Cache, CacheLayerMixin, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from workflow_scripts.context.files import THRESHOLD, read_heads
from workflow_scripts.context.streaming import apply
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention import HARMLESS

NAME = "streaming_cache"


class StreamingLayer(CacheLayerMixin):
    """The keys and values of a layer, rotated as they were cached; `streams` is bool [kv head].

    Its `update` gives itself to the attention function in their place: heads differ in length.
    """

    def __init__(self, streams: torch.Tensor, sinks: int, recent: int) -> None:
        super().__init__()
        self.streams, self.sinks, self.recent, self.tokens = streams, sinks, recent, 0
        self.parts = [(heads, DynamicLayer()) for heads in (~streams, streams) if heads.any()]

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Nothing: its parts do this."""

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any):
        """Add the keys and values of tokens; gives itself twice."""
        self.tokens += key_states.shape[2]
        for heads, part in self.parts:
            part.update(key_states[:, heads], value_states[:, heads])
        return self, self

    def get_seq_length(self) -> int:
        """Tokens that were seen, those dropped included."""
        return self.tokens

    def get_max_length(self) -> int:
        """None: -1."""
        return -1

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Those of the whole context."""
        return self.tokens + query_length, 0

    def attend(
        self, query: torch.Tensor, mask: torch.Tensor | None, scaling: float | None
    ) -> torch.Tensor:
        """Outputs [row, head, query, dim]; drops the keys that the next token's query sees not.

        `mask` is that of the whole context, bool [row, 1, query, key].
        """
        by_group = query.unflatten(1, (len(self.streams), -1))
        output = torch.empty_like(by_group)
        for heads, part in self.parts:
            near, kept = bool(self.streams[heads].all()), part.keys.shape[2]
            output[:, heads] = scaled_dot_product_attention(
                by_group[:, heads].flatten(1, 2),
                part.keys,
                part.values,
                attn_mask=self.seen(query.shape[2], kept, query.device) if near else mask,
                is_causal=mask is None and query.shape[2] > 1 and not near,
                scale=scaling,
                enable_gqa=True,
            ).unflatten(1, (int(heads.sum()), -1))
            if near and kept >= self.sinks + self.recent:
                first, last = slice(self.sinks), slice(kept - self.recent + 1, None)
                part.keys = torch.cat([part.keys[:, :, first], part.keys[:, :, last]], 2)
                part.values = torch.cat([part.values[:, :, first], part.values[:, :, last]], 2)
        return output.flatten(1, 2)

    def seen(self, queries: int, kept: int, device: torch.device) -> torch.Tensor | None:
        """Which of the kept keys the last queries see, bool [query, key]; None where all."""
        if queries == 1:
            return None
        key = torch.arange(self.tokens - kept, self.tokens, device=device)
        key[: self.sinks] = torch.arange(min(self.sinks, kept), device=device)
        query = key[-queries:, None]
        return (key <= query) & ((key < self.sinks) | (key > query - self.recent))


class StreamingCache(Cache):
    """Keys and values of the heads of a list, for `model(past_key_values=...)` and `generate`.

    `path` and `threshold` are as in `apply`, whose outputs these are. The attention of `model`, a
    decoder, becomes PyTorch's, and it forgets a list that was applied. For texts of one length, and
    greedy search or sampling. Raises InputError for a list that cannot be read or is of another
    shape, and while the model runs for padding, windows of its own, and attention that PyTorch does
    not compute.
    """

    def __init__(
        self, model: PreTrainedModel, path: str | Path, threshold: float = THRESHOLD
    ) -> None:
        config = model.config.get_text_config()
        n_kv = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        heads = read_heads(Path(path), (config.num_hidden_layers, n_kv))
        streams = torch.from_numpy(heads.streams(threshold)).to(model.device)
        super().__init__([StreamingLayer(each, heads.sinks, heads.recent) for each in streams])
        apply(model, None)  # which leaves the model to a later `apply`
        model.set_attn_implementation(NAME)

    @property
    def bytes(self) -> int:
        """What all kept keys and values take."""
        parts = [part for layer in self.layers for _, part in layer.parts]
        return sum(part.keys.nbytes + part.values.nbytes for part in parts)


def _attend(
    module: nn.Module,
    query: torch.Tensor,
    key: Any,
    value: Any,
    mask: torch.Tensor | None,
    **others,
) -> tuple[torch.Tensor, None]:
    if not isinstance(key, StreamingLayer):
        return sdpa_attention_forward(module, query, key, value, mask, **others)
    known = {*HARMLESS, "scaling", "dropout", "sliding_window"}  # the mask has windows
    for name, given in others.items():  # None and False are as good as not given
        if name not in known and given is not None and given is not False:
            raise InputError(f"StreamingCache: attention with {name}; use apply")
    if mask is not None and not mask[:, :, -1].all():
        raise InputError("StreamingCache: padding, or a model's own windows; use apply")
    return key.attend(query, mask, others.get("scaling")).transpose(1, 2).contiguous(), None


AttentionInterface.register(NAME, _attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
