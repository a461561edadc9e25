"""Gates that learn which key-value heads need the whole context, after DuoAttention (Xiao et al.).

The paper was not read here: loss and schedule follow the released train.py, which hides ten
longer keys in a text and compares the states of the whole answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.context.context_recall import with_keys
from workflow_scripts.context.context_scores import streamed
from workflow_scripts.context.documents import opened, sampled
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.attention import n_heads, n_kv_heads, n_layers
from workflow_scripts.core.model.interventions import between
from workflow_scripts.core.run import job

RATE, REGULARISATION = 0.02, 0.05


@dataclass
class Gated(attention.Watcher):
    """Mixes patterns with streaming ones by `gates` [layer, key-value head], 1 for the whole."""

    gates: torch.Tensor
    sinks: int
    recent: int

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        gates = self.gates[layer].repeat_interleave(pattern.shape[1] // self.gates.shape[1])
        last = torch.tensor(self.recent, device=pattern.device)
        hidden = between(*pattern.shape[2:], self.sinks, last)
        streaming = streamed(pattern, hidden, (pattern * hidden).sum(-1))
        return streaming + gates[:, None, None] * (pattern - streaming)


def states(model: PreTrainedModel, text: Tokens, length: int) -> torch.Tensor:
    """The last hidden states that predict the `length` last tokens, float32 [1, length, size]."""
    inputs = torch.tensor(text.ids[None], device=model.device)
    found = model.get_decoder()(input_ids=inputs, use_cache=False).last_hidden_state
    return found[:, -length - 1 : -1].float()


def learnt(
    model: PreTrainedModel,
    texts: Sequence[Tokens],
    lengths: Sequence[int],
    sinks: int,
    recent: int,
) -> np.ndarray:
    """Gates [layer, key-value head] between 0 and 1, after a step of AdamW for each of `texts`.

    The loss is the mean squared change of `states` and REGULARISATION times the mean gate. The rate
    rises in the first fifth of the steps and falls in the last.
    """
    model.requires_grad_(False)
    shape, n = (n_layers(model), n_kv_heads(model)), len(texts)
    gates = torch.ones(shape, device=model.device, requires_grad=True)
    optimizer = torch.optim.AdamW([gates], lr=RATE, weight_decay=0)
    fifth = max(1, n // 5)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, max((step + 1) / fifth, 0.1), max((n - step) / fifth, 0.1))
    )
    steps = zip(texts, lengths, strict=True)
    for text, length in job.progress(steps, n, "steps of the gates"):
        optimizer.zero_grad()
        with torch.no_grad(), running.OneDNN():
            whole = states(model, text, length)
        watcher = Gated(gates, sinks, recent)
        with running.recomputed(model), attention.watching(model, watcher):
            change = (states(model, text, length) - whole).square().mean()
            (change + REGULARISATION * gates.mean()).backward()
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            gates.clamp_(0, 1)
    return gates.detach().cpu().numpy()


def main(
    model: Path,
    corpus: Path,
    gates: job.Out,
    n_tokens: int,
    n_documents: int,
    n_held_out: int,
    gate_steps: int,
    sinks: int,
    recent: int,
    seen: list[Path] = (),
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write a row per head; heads that share keys and values have one gate."""
    card = read_card(model)
    tokens, _ = sampled(card, corpus, seen, n_tokens, n_documents, n_held_out, seed)
    tokenizer = models.load_tokenizer(models.directory_of(card))
    start = max(sinks, int(card["start"] is not None))
    n_keys = -(-gate_steps // n_documents)
    texts, lengths = with_keys(tokens, tokenizer, n_keys, start, sinks + recent, seed + 1)
    order = np.random.default_rng(seed).permutation(len(texts))[:gate_steps]
    decoder = opened(card, n_tokens, sinks, recent, device)
    found = learnt(
        decoder, [texts[at] for at in order], [lengths[at] for at in order], sinks, recent
    )
    found = found.repeat(n_heads(decoder) // n_kv_heads(decoder), axis=1)
    tables.write(
        tables.tidy({"layer": range(len(found)), "head": range(found.shape[1])}, score=found), gates
    )


if __name__ == "__main__":
    job.run(main, globals())
