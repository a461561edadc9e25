"""Making a loaded model attend as a list of heads states, so that anyone can verify the list."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel

from workflow_scripts.context.files import THRESHOLD, read_heads
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.interventions import between


@dataclass(eq=False)
class Streaming(attention.Watcher):
    """Hides from heads that stream all but the first `sinks` tokens of a text and its last ones."""

    streams: torch.Tensor  # bool [layer, head of the queries]
    sinks: int
    recent: torch.Tensor  # a number of tokens, the query's own among them
    first: torch.Tensor | int = 0  # place of each text's first token, [row, 1, 1, 1]: after padding
    tokens: int = 0  # of a pass, with those whose keys were kept from earlier ones
    hook: RemovableHandle | None = None

    def read_pass(self, module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        """Before a decoder's forward pass: where its texts begin, and their length so far."""
        inputs = (*args[:1], kwargs.get("input_ids"), kwargs.get("inputs_embeds"))
        kept = kwargs.get("past_key_values")
        if kept is not None and kept.is_compileable:
            raise InputError("apply: a static cache has keys of no token; use the default cache")
        self.tokens = next(each for each in inputs if each is not None).shape[1]
        self.tokens += 0 if kept is None else kept.get_seq_length()
        mask = kwargs.get("attention_mask")
        padded = mask is not None and mask.ndim == 2
        self.first = mask.int().argmax(1)[:, None, None, None] if padded else 0

    def hidden(self, layer: int, scores: torch.Tensor) -> torch.Tensor | None:
        if not self.streams[layer].any():
            return None
        queries, keys = scores.shape[2:]
        dropped = self.tokens - keys  # by the cache of a layer with a window
        unseen = between(queries, keys, self.first + self.sinks - dropped, self.recent)
        return unseen & self.streams[layer][:, None, None]


def apply(
    model: PreTrainedModel, path: str | Path | None, threshold: float = THRESHOLD
) -> PreTrainedModel:
    """Make a decoder of transformers attend as a list of heads states, also in `generate`.

    `path` is a full_attention_heads.tsv with its config.json next to it, or their folder: heads
    with at most `threshold` stream. It takes the place of an earlier list; None lets all heads see
    all tokens again. This masks by head. All keys and values are kept and computed: it saves
    neither memory nor time. Returns the model; raises InputError for a list that cannot be read or
    is of another shape, and for a model other than a decoder.
    """
    body, use_cache = model.base_model, getattr(model.config, "use_cache", None)
    shape = attention.n_layers(body), attention.n_kv_heads(attention.open_attention(body))
    body.config.use_cache = use_cache
    if attention.is_bidirectional(body):
        raise InputError(f"{body.config.model_type}: tokens attend to later tokens; use a decoder")
    watchers = next(
        known.watched.watchers for each in body.modules() if (known := attention.MODULES.get(each))
    )
    heads = None if path is None else read_heads(Path(path), shape)
    for earlier in [each for each in watchers if isinstance(each, Streaming)]:
        watchers.remove(earlier)
        earlier.hook.remove()
    if heads is not None:
        streams = torch.from_numpy(heads.streams(threshold)).to(body.device)
        streams = streams.repeat_interleave(attention.n_heads(body) // shape[1], 1)
        recent = torch.tensor(heads.recent, device=body.device)
        watcher = Streaming(streams, heads.sinks, recent)
        decoder = body.get_decoder()  # OPT's body is not what its language model runs
        watcher.hook = decoder.register_forward_pre_hook(watcher.read_pass, with_kwargs=True)
        watchers.append(watcher)
    return model
