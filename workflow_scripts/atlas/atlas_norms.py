"""The norms of what heads read from each token (Kobayashi et al. 2020, on norm-based analysis).

A head's output at a query is the sum over the keys of alpha * f(x), with
f(x) = (x W_V + b_V) W_O: a key of small ||f(x)|| adds little, however large its weight.
The bias of the output projection, which belongs to no key, is no part of f.
"""

import json
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.atlas.chosen import Sources, Wanted, first_of_drawings, identity
from workflow_scripts.atlas.encoding import encode
from workflow_scripts.atlas.outcomes import tokens_of
from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model import attention, devices, models, padding
from workflow_scripts.core.model.layers import Attention, layers_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


class Values(attention.Watcher):
    """Collects every layer's values, [batch, head, key, dim], of the latest forward pass.

    The heads' outputs under an identity pattern are their values; afterwards each head's own
    pattern is put back, so that the pass goes on as without this watcher.
    """

    def start(self, model: torch.nn.Module) -> None:
        if model.training:
            raise RuntimeError("values are read in eval mode: call model.eval() first")
        self.values: list[torch.Tensor] = []

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self._pattern = pattern
        identity = torch.eye(pattern.shape[-1], dtype=pattern.dtype, device=pattern.device)
        return identity.expand_as(pattern)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.values.append(output)
        return self._pattern.to(output.dtype) @ output


def projections(model: PreTrainedModel) -> list[Attention] | None:
    """Each layer's projections; None for an architecture whose modules are not known."""
    layered = layers_of(model)
    return None if layered is None else [layer.attention for layer in layered.layers]


def value_norms(
    model: PreTrainedModel, known: list[Attention], example: CachedExample
) -> np.ndarray:
    """||f(x)|| of every token of an example, float32 [layer, head, key]."""
    watcher = Values()
    with torch.inference_mode(), attention.watching(model, watcher):
        model(**padding.pad([tokens_of(example)], model))
        norms = [
            layer.merged_by_head(values.transpose(1, 2)).norm(dim=-1)[:, 0]
            for layer, values in zip(known, watcher.values, strict=True)
        ]
    return torch.stack(norms).cpu().numpy()


def main(
    model: Path,
    attention_caches: list[Path],
    norms: Out,
    kinds: dict,
    segments: int,
    examples: int,
    most_tokens: int,
    drawings: Path | None = None,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the norms of the texts that the atlas shows, by their ids.

    `kinds` states what each corpus and task is, in the order of the caches.
    """
    card = read_card(model)
    wanted = Wanted(segments, examples, most_tokens, seed, first_of_drawings(drawings))
    body = models.load_body(models.directory_of(card), devices.pick(device))
    body = attention.open_attention(body)
    known = projections(body)
    found, left_out = {}, []
    if known is None:
        what = f"{card['name']}: norms, as the projections of {card['architecture']} are not known."
        left_out.append(what)
    else:
        with Sources(kinds, attention_caches, card) as sources:
            for name, index in job.progress(sources.chosen(wanted), desc="norms"):
                values = value_norms(body, known, sources.caches[name][index])
                found[identity(name, index)] = encode(values)
    content = {"norms": found, "left_out": left_out}
    norms.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
