"""What a decoder loses where a key-value head streams, and scores that stand in for that.

A head streams where it sees the first `sinks` tokens and the last `recent` alone. All scores are
[document, layer, key-value head]; the larger, the more a head needs the whole context.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.context.documents import of_groups, opened, sampled, token_scores
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.ablation_engine import one_head
from workflow_scripts.core.model.attention import n_kv_heads, n_layers
from workflow_scripts.core.model.causal_engine import token_losses
from workflow_scripts.core.model.interventions import between
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, bootstrap_mean

log = logging.getLogger(__name__)
REPEAT = "\n\nRepeat the previous context:\n\n"
LEAST = 1e-6  # of what a streaming head still sees of a row: the row is divided by no less


def exact(
    model: PreTrainedModel, tokens: Sequence[Tokens], sinks: int, recent: int
) -> dict[str, np.ndarray]:
    """Nats per token that each document costs more where this head alone streams: `exact`."""
    shape = n_layers(model), n_kv_heads(model)
    variants = np.concatenate([np.zeros((1, *shape), int), recent * one_head(*shape)])
    plain, *streaming = np.nanmean(
        token_scores(model, tokens, variants, sinks), axis=2, dtype=np.float64
    )
    return {"exact": (np.array(streaming) - plain).T.reshape(-1, *shape)}


def streamed(pattern: torch.Tensor, hidden: torch.Tensor, lost: torch.Tensor) -> torch.Tensor:
    """The pattern of streaming heads [..., query, key]; `lost` [..., query] is on `hidden` keys."""
    return pattern.masked_fill(hidden, 0) / (1 - lost).clamp(min=LEAST)[..., None]


@dataclass
class Estimated(attention.Watcher):
    """Adds `gates` [layer, key-value head], which are 0, times what streaming changes of patterns.

    Collects `outside` {layer: [key-value head]}, the weight that streaming hides.
    """

    gates: torch.Tensor
    sinks: int
    recent: int
    outside: dict[int, np.ndarray] = field(default_factory=dict)

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        weights, n_kv = pattern.detach(), self.gates.shape[1]
        last = torch.tensor(self.recent, device=weights.device)
        hidden = between(*weights.shape[2:], self.sinks, last)
        lost = (weights * hidden).sum(-1)
        of_queries = of_groups(lost[0, :, hidden.any(-1)], n_kv)
        self.outside[layer] = of_queries.mean((1, 2)).cpu().numpy()
        gates = self.gates[layer].repeat_interleave(weights.shape[1] // n_kv)[:, None, None]
        return torch.addcmul(pattern, gates, streamed(weights, hidden, lost) - weights)


def estimates(
    model: PreTrainedModel, tokens: Sequence[Tokens], sinks: int, recent: int
) -> dict[str, np.ndarray]:
    """`estimate`, the first order of `exact`, and `outside`, by one forward and backward pass.

    The first is the derivative of a text's mean loss by a gate that mixes the streaming pattern
    into the plain one, at no streaming (as Michel et al. 2019, section 4.1, with another gate). The
    second is the weight on the tokens that streaming hides, mean over the heads of a group and over
    the queries that predict a token and from which streaming hides some.
    """
    model.requires_grad_(False)
    estimate, outside = [], []
    for text in job.progress(tokens, len(tokens), "backward passes"):
        gates = torch.zeros(n_layers(model), n_kv_heads(model), device=model.device)
        watcher = Estimated(gates.requires_grad_(), sinks, recent)
        with running.recomputed(model), attention.watching(model, watcher):
            token_losses(model, running.pad([text], model)).nanmean().backward()
        estimate.append(gates.grad.cpu().numpy())
        outside.append([watcher.outside[layer] for layer in range(n_layers(model))])
    return {"estimate": np.array(estimate), "outside": np.array(outside)}


@dataclass
class LargestWeights(attention.Watcher):
    """Collects the largest weight of some queries on each of some keys, [key-value head, key]."""

    queries: slice
    keys: slice
    n_kv: int
    largest: list[np.ndarray] = field(default_factory=list)

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        largest = pattern[0, :, self.queries, self.keys].amax(1)
        self.largest.append(of_groups(largest, self.n_kv).amax(1).float().cpu().numpy())
        return pattern


def repeated(
    model: PreTrainedModel, tokens: Sequence[Tokens], prompt: Sequence[int], start: int
) -> dict[str, np.ndarray]:
    """`kvzip` and `kvzip_max`, by one pass over each text, a prompt and the text again.

    The score of a token is the largest weight that it gets while the text is repeated, over queries
    and the heads of a group (Kim et al. 2025, section 3, and their released score.py). `kvzip_max`
    is the largest over tokens, which they take for whole heads, and `kvzip` is the mean. A text's
    `start` special tokens are left out. Unlike in their code, queries also attend to the prompt,
    and the text is repeated in one piece.
    """
    found = []
    for text in job.progress(tokens, len(tokens), "repeated texts"):
        ids = [*text.ids, *prompt, *text.ids[start:]]
        queries = slice(len(text) + len(prompt) - 1, len(ids) - 1)  # the next token is repeated
        watcher = LargestWeights(queries, slice(start, len(text)), n_kv_heads(model))
        with torch.inference_mode(), running.OneDNN(), attention.watching(model, watcher):
            model.get_decoder()(torch.tensor([ids], device=model.device), use_cache=False)
        found.append(np.stack(watcher.largest))  # [layer, key-value head, token]
    means = {"kvzip": np.mean, "kvzip_max": np.max}
    return {name: np.stack([of(each, axis=-1) for each in found]) for name, of in means.items()}


def timed(
    what: str, score: Callable[..., dict[str, np.ndarray]], *given: object
) -> dict[str, np.ndarray]:
    """What `score` gives; its seconds go into the log alone, as they differ from run to run."""
    start = time.perf_counter()
    found = score(*given)
    seconds = time.perf_counter() - start
    log.info("%s for each document, %s: %.1f s", what, ", ".join(found), seconds)
    return found


def table_of(
    scores: dict[str, np.ndarray],
    of_query_heads: dict[str, np.ndarray],
    group: int,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """One row per query head with the scores of its key-value head, means over documents.

    Each has a 95% interval over documents, <score>_low and <score>_high. Scores `of_query_heads`
    are [layer, query head], without interval; a key-value head has the largest of its group.
    """
    n, n_layers, n_kv = scores["exact"].shape
    columns = {"key_value_head": np.tile(np.arange(n_kv), (n_layers, 1))}
    for name, values in scores.items():
        ends = bootstrap_mean(values, draws, seed, INDEPENDENT)
        columns |= zip((name, f"{name}_low", f"{name}_high"), ends, strict=True)
    for name, values in of_query_heads.items():
        columns[name] = values.reshape(n_layers, n_kv, -1).max(axis=2)
    columns = {name: values.repeat(group, axis=1) for name, values in columns.items()}
    axes = {"layer": range(n_layers), "head": range(n_kv * group)}
    return tables.tidy(axes, **columns, n=n)


def main(
    model: Path,
    corpus: Path,
    scores: job.Out,
    table: job.Out,
    n_tokens: int,
    n_documents: int,
    n_held_out: int,
    sinks: int,
    recent: int,
    bootstrap: int,
    retrieval: list[Path] = (),
    gates: list[Path] = (),
    seen: list[Path] = (),
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the scores; `retrieval` is the battery's table, of the text `seen`, or none.

    `gates` is that of `context_gates`, or none.
    """
    card = read_card(model)
    tokens, _ = sampled(card, corpus, seen, n_tokens, n_documents, n_held_out, seed)
    tokenizer = models.load_tokenizer(models.directory_of(card))
    prompt = tokenizer.encode(REPEAT, add_special_tokens=False)
    if (longest := 2 * n_tokens + len(prompt)) > card["max_positions"]:
        raise InputError(
            f"config: context.n_tokens: {n_tokens} tokens, a prompt and these again are {longest}, "
            f"but {card['name']} has {card['max_positions']} positions; lower it"
        )
    decoder = opened(card, n_tokens, sinks, recent, device)
    given = decoder, tokens
    start = int(card["start"] is not None)
    found = timed("one pass for each head", exact, *given, sinks, recent)
    found |= timed("one backward pass", estimates, *given, sinks, recent)
    found |= timed("one repeated pass", repeated, *given, prompt, start)
    of_query_heads = {
        name: tables.read(path).sort_values(["layer", "head"])["score"].to_numpy()
        for name, paths in (("retrieval", retrieval), ("gates", gates))
        for path in paths
    }
    group = card["n_heads"] // n_kv_heads(decoder)
    frame = table_of(found, of_query_heads, group, bootstrap, seed)
    tables.write(frame, scores)
    shown = frame.assign(head=head_labels(frame)).drop(columns="layer")
    shown["key_value_head"] += 1
    tables.write_csv(shown.sort_values("exact", ascending=False, kind="stable"), table)


if __name__ == "__main__":
    job.run(main, globals())
