"""Retrieval heads while the answer is generated, after Wu et al. 2024; the paper was not read here.

A head copies a token that the model generates if its most attended token is inside the needle and
is that token. Its score is the share of the needle's different tokens that it copies, mean over the
needles of which the answer has more than half of the words.
"""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel

from workflow_scripts.battery.retrieval import Haystack, MostAttended, opened
from workflow_scripts.core.data import tables
from workflow_scripts.core.model import attention, running
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, bootstrap_mean


def generated(model: PreTrainedModel, text: Haystack) -> tuple[np.ndarray, np.ndarray]:
    """The likeliest tokens after the question, as many as the answer has, each after the last.

    And the most attended keys when a token is predicted, [layer, head, token].
    """
    watcher, tokens = MostAttended(np.array([-1])), []
    kept = DynamicCache()  # of no config: layers with a window keep all keys
    ids = torch.from_numpy(text.ids[: text.answer[0]])[None].to(model.device)
    with torch.inference_mode(), running.OneDNN(), attention.watching(model, watcher):
        for _ in text.answer:
            given = {"past_key_values": kept, "use_cache": True, "logits_to_keep": 1}
            ids = model(ids, **given).logits.argmax(-1)
            tokens.append(int(ids))
    keys = np.reshape(watcher.keys, (len(tokens), attention.n_layers(model), -1))
    return np.array(tokens), np.moveaxis(keys, 0, -1)


def copied_share(tokens: np.ndarray, keys: np.ndarray, text: Haystack) -> np.ndarray:
    """The share of the needle's different tokens that heads copy, [...] for keys [..., token]."""
    copied = np.isin(keys, text.needle) & (text.ids[keys] == tokens)
    needle = np.unique(text.ids[text.needle])
    return np.mean([(copied & (tokens == token)).any(-1) for token in needle], axis=0)


def recall(answer: str, reference: str) -> float:
    """ROUGE-1 recall: the share of the reference's words that the answer has, each as often."""
    found, wanted = (Counter(re.findall(r"\w+", each.lower())) for each in (answer, reference))
    return (found & wanted).total() / wanted.total()


def main(
    model: Path,
    corpus: Path,
    scores: job.Out,
    n_needles: int,
    n_tokens: int,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write each head's score with its 95% interval over needles, and how many needles count."""
    decoder, tokenizer, needles, texts = opened(model, corpus, n_needles, n_tokens, device, seed)
    found = []
    for needle, text in zip(needles, job.progress(texts, desc="answers"), strict=True):
        tokens, keys = generated(decoder, text)
        counts = recall(tokenizer.decode(tokens), needle.answer) > 0.5
        found.append(
            copied_share(tokens, keys, text) if counts else np.full(keys.shape[:2], np.nan)
        )
    mean, low, high = bootstrap_mean(np.stack(found), bootstrap, seed, INDEPENDENT)
    axes = {"layer": range(len(mean)), "head": range(mean.shape[1])}
    n = np.isfinite(found).all((1, 2)).sum()
    tables.write(tables.tidy(axes, score=mean, ci_low=low, ci_high=high, n=n), scores)


if __name__ == "__main__":
    job.run(main, globals())
