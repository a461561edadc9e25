"""Gradient importance of attention weights (Clark et al. 2019, section 3.2, Figure 3).

|dL/d alpha|, with L a segment's masked-LM loss: the mean over its masked tokens, in nats.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.model import attention, mlm, models, running
from workflow_scripts.core.model.mlm import IGNORED, mask_example
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import per_head
from workflow_scripts.surface.special_tokens import key_masks

TARGETS = ("cls", "sep", "punctuation", "unmasked")


def importance(
    model: PreTrainedModel, tokens: Sequence[Tokens], labels: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """|dL/d alpha| of each example of a batch, float32 [layer, head, query, key].

    `tokens` have masked ids, `labels` the true ones, -100 where nothing is predicted. Each
    example's own loss is differentiated, so that the rest of its batch has no effect.
    """
    batch = running.pad(tokens, model)
    target = torch.full(batch["input_ids"].shape, IGNORED)
    for row, label in enumerate(labels):
        target[row, : len(label)] = torch.from_numpy(label)
    capture = attention.Capture(with_gradients=True)
    with running.OneDNN(), attention.watching(model, capture):
        logits = model(**batch).logits
    target = target.to(logits.device)
    losses = functional.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=IGNORED, reduction="none"
    )
    (losses.sum(1) / (target != IGNORED).sum(1)).sum().backward()
    gradients = torch.stack([pattern.grad.abs() for pattern in capture.patterns]).cpu().numpy()
    lengths = map(len, tokens)
    return [gradients[:, row, :, :length, :length] for row, length in enumerate(lengths)]


def target_masks(tokens: Tokens, labels: np.ndarray, card: dict) -> dict[str, np.ndarray]:
    """The keys of each class that were not chosen for prediction, bool [L]."""
    masks = key_masks(tokens.ids, card) | {"unmasked": np.ones(len(labels), bool)}
    return {target: (labels == IGNORED) & masks[target] for target in TARGETS}


def average(gradient: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Mean of [layer, head, query, key] over all queries and the chosen keys: [layer, head].

    NaN where no key is chosen: the segment has no token of that class.
    """
    if not keys.any():
        return np.full(gradient.shape[:2], np.nan)
    return gradient[..., keys].mean(axis=(2, 3), dtype=np.float64)


def main(
    model: Path,
    corpus: Path,
    head: Path,
    gradients: job.Out,
    max_tokens: int,
    n_segments: int,
    bootstrap: int,
    batch_tokens: int = 4096,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the mean |dL/d alpha| of every head and class of attended token, with intervals.

    Column `masked_lm_head` states whether the head is the checkpoint's own or was fitted.
    """
    card = read_card(model)
    directory = models.directory_of(card)
    masked_lm, _ = mlm.load_masked_lm(directory, running.pick_device(device), head)
    masked_lm.requires_grad_(False)
    attention.open_attention(masked_lm)
    tokenizer = models.load_tokenizer(directory)
    examples = read_examples(corpus)[:n_segments]
    tokens = tokenize(examples, tokenizer, max_tokens, card["max_positions"])
    shape = (len(tokens), card["n_layers"], card["n_heads"])
    values = {target: np.full(shape, np.nan) for target in TARGETS}
    batches = running.by_length([len(example) for example in tokens], batch_tokens // 2)
    mask_id, vocabulary = card["special"]["mask"], masked_lm.config.vocab_size
    for batch in job.progress(batches, desc="gradients"):
        # Each example has a random stream, so that batches do not matter.
        pairs = [
            mask_example(tokens[index], mask_id, vocabulary, np.random.default_rng([seed, index]))
            for index in batch
        ]
        masked, labels = zip(*pairs, strict=True)
        found = importance(masked_lm, masked, labels)
        for index, example, label, gradient in zip(batch, masked, labels, found, strict=True):
            for target, keys in target_masks(example, label, card).items():
                values[target][index] = average(gradient, keys)
    documents = [example.document for example in examples]
    frame = per_head(values, "target", "gradient", bootstrap, seed, documents, by_unit=True)
    tables.write(frame.assign(masked_lm_head=mlm.head_kind(head)), gradients)


if __name__ == "__main__":
    job.run(main, globals())
