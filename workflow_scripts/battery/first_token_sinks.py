"""Attention to the first token (Gu et al. 2024, "When attention sink emerges in language models").

Read from the paper's released code (sail-sg/Attention-Sink, eval_sink_open_source.py): a head has a
sink in a text where its weight on the first token, averaged over all queries, the first included,
exceeds 0.3; the metric is the share of such pairs of head and text, of texts of 64 tokens.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.battery.head_roles import mean_measures
from workflow_scripts.battery.inputs import read_segments, start_token
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.measures.one_pass import Units, summed
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.head_maps import ValueNorms, output_grams
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import bootstrap_mean, document_weights, percentile_ends

BATCH_TOKENS = 1024
MEASURES = ("attention", "by_norm", "second")


def to_first_token(model: PreTrainedModel, ids: np.ndarray, desc: str) -> dict[str, np.ndarray]:
    """How much each head gives to the first token of each text, [text, layer, head], by measure.

    `attention` is the mean weight over all queries. `by_norm` is the first token's share of the
    norms of the weighted vectors, ||alpha f(x)|| with f(x) = v W_O (Kobayashi et al. 2020), summed
    over queries. `second` is the mean weight on the second token, over the queries from it on.
    `ids` is [text, token], of two tokens or more; `model` is an opened body.
    """
    of_layers: list[torch.Tensor] = []  # MEASURES of each, [measure, batch, head]

    def measure(layer: int, pattern: torch.Tensor, norms: torch.Tensor) -> None:
        weighted = pattern * norms[:, :, None]
        by_norm = weighted[..., 0].sum(-1) / weighted.sum((-2, -1))
        first, second = pattern[..., 0].mean(-1), pattern[:, :, 1:, 1].mean(-1)
        of_layers.append(torch.stack([first, by_norm, second]))

    watcher = ValueNorms(output_grams(model), measure)
    size = max(1, BATCH_TOKENS // ids.shape[1])
    found: list[np.ndarray] = []
    with torch.inference_mode(), running.OneDNN(), attention.watching(model, watcher):
        for start in job.progress(range(0, len(ids), size), desc=desc):
            model(torch.from_numpy(ids[start : start + size]).to(model.device), use_cache=False)
            found.append(torch.stack(of_layers, 2).double().cpu().numpy())
            of_layers.clear()
    return dict(zip(MEASURES, np.concatenate(found, 1), strict=True))


def beginnings(ids: np.ndarray, start: int, seed: int) -> dict[str, np.ndarray]:
    """The same texts [text, token] with another first token each.

    `text` begins with its own; in `start` and `random` the model's start token, or a random token
    of the texts, takes its place.
    """
    words = np.random.default_rng(seed).choice(np.unique(ids), (len(ids), 1))
    firsts = {"start": np.full((len(ids), 1), start), "random": words}
    made = {name: np.concatenate([first, ids[:, 1:]], axis=1) for name, first in firsts.items()}
    return {"text": ids} | made


def summary(
    found: dict[str, dict[str, np.ndarray]],
    threshold: float,
    documents: list[str],
    bootstrap: int,
    seed: int,
) -> pd.DataFrame:
    """One row per first token and measure of all heads together, with a 95% interval.

    `sinks` is the metric of Gu et al., the share of heads above `threshold` in a text, mean over
    texts; `heads` the share of heads whose mean over texts is above it. `norm_less_weight` is
    `by_norm` minus `attention`, in the same texts.
    """
    rows = []
    for first, numbers in found.items():
        of_texts = {"sinks": numbers["attention"] > threshold}
        of_texts |= {name: numbers[name] for name in MEASURES}
        of_texts["norm_less_weight"] = numbers["by_norm"] - numbers["attention"]
        for measure, values in of_texts.items():
            mean = values.mean(axis=(1, 2), dtype=np.float64)[:, None]
            ends = bootstrap_mean(mean, bootstrap, seed, documents)
            rows.append((first, measure, *(end[0] for end in ends)))
        by_text = numbers["attention"].reshape(len(documents), -1)
        whole = np.ones((1, len(documents)))
        observed, *sampled = (
            (weights @ by_text / weights.sum() > threshold).mean()
            for weights in (*whole, *document_weights(documents, bootstrap, seed))
        )
        ends = percentile_ends(np.array(sampled), len(set(documents)))
        rows.append((first, "heads", observed, *ends))
    frame = pd.DataFrame(rows, columns=["first", "measure", "value", "ci_low", "ci_high"])
    return frame.assign(n=len(documents), n_documents=len(set(documents)))


def heads_table(
    found: dict[str, dict[str, np.ndarray]],
    threshold: float,
    documents: list[str],
    bootstrap: int,
    seed: int,
) -> pd.DataFrame:
    """One row per head and first token: each measure with its interval, and the share of texts.

    `above` is the share of texts in which the head's mean weight exceeds `threshold`; a head
    `has_role` whose mean weight over all texts does.
    """
    frames = []
    for first, numbers in found.items():
        values = numbers | {"above": (numbers["attention"] > threshold).astype(float)}
        frames.append(mean_measures(values, "first", first, bootstrap, seed, documents))
    made = pd.concat(frames, ignore_index=True)
    made = made.rename(columns={"attention_low": "ci_low", "attention_high": "ci_high"})
    return made.assign(has_role=made["attention"] > threshold)


def main(
    model: Path,
    corpus: Path,
    sinks: job.Out,
    table: job.Out,
    heads: job.Out,
    n_segments: int,
    n_tokens: int,
    threshold: float,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write each head's attention to the first token, and that of all heads together."""
    card = read_card(model)
    directory = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)
    key = "battery.sinks.n_tokens"
    segments = read_segments(corpus, tokenizer, n_segments, n_tokens, key)
    start, _ = start_token(tokenizer, card["start"])
    body = attention.open_attention(models.load_body(directory, running.pick_device(device)))
    found = {
        first: to_first_token(body, ids, f"first token: {first}")
        for first, ids in beginnings(segments.ids, start, seed).items()
    }
    of_heads = heads_table(found, threshold, segments.documents, bootstrap, seed)
    of_heads["uniform"] = (1 / np.arange(1, n_tokens + 1)).mean()
    tables.write(of_heads, sinks)
    together = summary(found, threshold, segments.documents, bootstrap, seed)
    together = together.assign(threshold=threshold, n_tokens=n_tokens, too_short=segments.too_short)
    tables.write_csv(together, table)
    columns = ["first", "attention", "ci_low", "ci_high", "above", "by_norm", "second", "uniform"]
    shown = of_heads.assign(head=head_labels(of_heads))
    shown = shown.sort_values(["layer", "head", "first"], kind="stable")
    tables.write_csv(shown[["head", *columns, "n", "n_documents"]], heads)


def units(model: Path, corpus: Path, n_segments: int, n_tokens: int, device: str = "auto") -> Units:
    """Attention to the texts' own first token by document, for comparisons of models."""
    directory = models.directory_of(read_card(model))
    tokenizer = models.load_tokenizer(directory)
    key = "battery.sinks.n_tokens"
    segments = read_segments(corpus, tokenizer, n_segments, n_tokens, key)
    body = attention.open_attention(models.load_body(directory, running.pick_device(device)))
    found = to_first_token(body, segments.ids, "first token")["attention"]
    return {"text": summed(found, segments.documents)}


if __name__ == "__main__":
    job.run(main, globals())
