"""Training of a probe on padded batches of sentences of neighbouring lengths, and its score."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import torch
from torch.nn import functional

from workflow_scripts.core.model.batches import in_chunks
from workflow_scripts.core.model.training import (
    Recipe,
    ShuffledBatches,
    linear_schedule,
    train,
)
from workflow_scripts.probes.attention_probes import Batch
from workflow_scripts.probes.probe_sentences import Sentence

BatchT = TypeVar("BatchT")
KEPT = 2**31  # bytes of attention that stay in memory, padded and ready for use


class Batches(Sequence[Batch]):
    """Sentences in batches of `size`, neighbours in length together.

    `heads` are the right candidates of each sentence. The first batches stay in memory, up to
    `kept` bytes; those of a large treebank are put together anew whenever they are needed.
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        heads: Sequence[np.ndarray],
        size: int,
        kept: int = KEPT,
    ) -> None:
        self.sentences, self.heads = sentences, heads
        self.chunks = in_chunks([len(one) for one in sentences], size)
        self._room = kept
        self._ready: dict[int, Batch] = {}

    def __len__(self) -> int:
        return len(self.chunks)

    def __getitem__(self, place: int) -> Batch:
        if place in self._ready:
            return self._ready[place]
        chunk = self.chunks[place]
        batch = collate([self.sentences[k] for k in chunk], [self.heads[k] for k in chunk])
        if batch.pairs.nbytes <= self._room:
            self._room -= batch.pairs.nbytes
            self._ready[place] = batch
        return batch


def collate(sentences: Sequence[Sentence], heads: Sequence[np.ndarray]) -> Batch:
    """One padded batch, all numbers float32."""
    n, longest = len(sentences), max(len(one) for one in sentences)
    n_heads, dimension = len(sentences[0].attention), sentences[0].vectors.shape[1]
    batch = Batch(
        pairs=torch.zeros(n, longest, 2 * n_heads, longest),
        edges=torch.zeros(n, longest, 2 * n_heads, 2),
        vectors=torch.zeros(n, longest, dimension),
        mask=torch.zeros(n, longest, dtype=torch.bool),
        heads=torch.zeros(n, longest, dtype=torch.long),
        scored=torch.zeros(n, longest, dtype=torch.bool),
    )
    for row, (one, right) in enumerate(zip(sentences, heads, strict=True)):
        size = len(one)
        attention, edges = torch.from_numpy(one.attention).float(), torch.from_numpy(one.edges)
        batch.pairs[row, :size, :n_heads, :size] = attention.permute(1, 0, 2)
        batch.pairs[row, :size, n_heads:, :size] = attention.permute(2, 0, 1)
        batch.edges[row, :size, :n_heads] = edges[:2].permute(2, 1, 0)
        batch.edges[row, :size, n_heads:] = edges[2:].permute(2, 1, 0)
        batch.vectors[row, :size] = torch.from_numpy(one.vectors)
        batch.mask[row, :size] = True
        batch.heads[row, :size] = torch.from_numpy(right)
        batch.scored[row, :size] = torch.from_numpy(one.scored)
    return batch


def on(batch: Batch, device: torch.device) -> Batch:
    """The batch on `device`."""
    return Batch(**{name: value.to(device) for name, value in vars(batch).items()})


def masked_scores(probe: torch.nn.Module, batch: Batch, itself: bool) -> torch.Tensor:
    """Scores with -inf at padding and, unless `itself` is allowed, at the word itself."""
    scores = probe(batch)
    allowed = functional.pad(batch.mask, (1, 0), value=True)[:, None].expand_as(scores)
    if not itself:
        own = torch.eye(batch.mask.shape[1], dtype=torch.bool, device=scores.device)
        allowed = allowed & ~functional.pad(own, (1, 0))
    return scores.masked_fill(~allowed, -torch.inf)


def fit(
    probe: torch.nn.Module,
    batches: Sequence[Batch],
    recipe: Recipe,
    device: torch.device,
    itself: bool = False,
) -> None:
    """Fit `probe`; the loss is the cross entropy of the right heads, averaged over words."""
    probe.to(device).train()

    def loss_of(batch: Batch) -> torch.Tensor:
        batch = on(batch, device)
        scores = masked_scores(probe, batch, itself)
        return functional.cross_entropy(scores[batch.mask], batch.heads[batch.mask])

    descend(probe, batches, loss_of, recipe, type(probe).__name__)
    probe.eval()


def descend(
    model: torch.nn.Module,
    batches: Sequence[BatchT],
    loss_of: Callable[[BatchT], torch.Tensor],
    recipe: Recipe,
    desc: str = "",
) -> None:
    """Adam over batches in an order drawn by seed; the learning rate decays linearly to 0."""
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate)
    schedule = linear_schedule(optimizer, recipe.epochs * len(batches))
    shuffled = ShuffledBatches(batches, recipe.seed)
    train(model, shuffled, loss_of, recipe.epochs, schedule, desc=desc)


@torch.inference_mode()
def counts(
    probe: torch.nn.Module, batches: Sequence[Batch], device: torch.device, itself: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Right heads and scored words of every sentence, int [sentence], in the batches' order."""
    right, total = [], []
    for batch in batches:
        batch = on(batch, device)
        found = masked_scores(probe, batch, itself).argmax(dim=-1) == batch.heads
        right.append((found & batch.scored).sum(dim=1).cpu())
        total.append(batch.scored.sum(dim=1).cpu())
    return torch.cat(right).numpy(), torch.cat(total).numpy()
