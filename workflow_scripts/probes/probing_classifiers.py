"""The probing classifiers of Clark et al. 2019, section 5, and their baselines.

Each scores every candidate head of every word: [sentence, dependent, candidate], candidate 0 the
root and k + 1 word k. A batch holds `pairs` [sentence, word i, 2 heads, word j], attention from i
to j and then from j to i; `edges` [sentence, word, 2 heads, 2], attention to (and from) the start
and the end token; `vectors` [sentence, word, dimension]; and `candidates` [sentence, candidate,
dimension], the vectors of the same words as candidates, with zeros for the root.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from workflow_scripts.core.model.running import chunks_by_length
from workflow_scripts.core.model.training import Recipe, ShuffledBatches, linear_schedule, train
from workflow_scripts.probes.probe_sentences import Sentence

N_DISTANCES = 8


@dataclass
class Batch:
    """Padded sentences."""

    pairs: torch.Tensor
    edges: torch.Tensor
    vectors: torch.Tensor
    candidates: torch.Tensor
    mask: torch.Tensor  # [sentence, word], true where there is a word
    heads: torch.Tensor  # [sentence, word], the correct candidates


class AttentionOnly(nn.Module):
    """A weight for every head and direction, and two for attention to the start and end token."""

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2 * n_heads))
        self.root = nn.Parameter(torch.full((2,), 0.5))

    def forward(self, batch: Batch) -> torch.Tensor:
        # A single row for every word: a vector would make matmul copy all pairs.
        weight = self.weight.expand(*batch.pairs.shape[:2], 1, -1)
        words = (weight @ batch.pairs)[:, :, 0]
        root = torch.matmul(self.weight, batch.edges) @ self.root
        return torch.cat([root[..., None], words], dim=-1)


class AttentionAndWords(nn.Module):
    """A weight for every head and direction, computed from the vectors of both words."""

    def __init__(self, n_heads: int, dimension: int) -> None:
        super().__init__()
        self.dependent = nn.Linear(dimension, 2 * n_heads)
        self.candidate = nn.Linear(dimension, 2 * n_heads, bias=False)
        self.root = nn.Parameter(torch.full((2,), 0.5))
        for layer in (self.dependent, self.candidate):
            nn.init.zeros_(layer.weight)
        nn.init.zeros_(self.dependent.bias)

    def forward(self, batch: Batch) -> torch.Tensor:
        first = self.dependent(batch.vectors)
        # Seen from the candidate, attention from i to j is attention to it: the halves swap.
        second = self.candidate(batch.candidates)
        turned = torch.cat(second[:, 1:].chunk(2, dim=-1)[::-1], dim=-1)
        both = torch.stack([first, turned], dim=2) @ batch.pairs
        words = both[:, :, 0] + both[:, :, 1].transpose(1, 2)
        root = ((first + second[:, :1]) * (batch.edges @ self.root)).sum(dim=-1)
        return torch.cat([root[..., None], words], dim=-1)


class DistancesAndWords(nn.Module):
    """One hidden layer over both words' vectors and their distance (footnote 4)."""

    def __init__(self, dimension: int, hidden: int) -> None:
        super().__init__()
        self.dependent = nn.Linear(dimension, hidden)
        self.candidate = nn.Linear(dimension, hidden, bias=False)
        self.distance = nn.Linear(N_DISTANCES, hidden, bias=False)
        self.out = nn.Linear(hidden, 1, bias=False)

    def forward(self, batch: Batch) -> torch.Tensor:
        candidates = self.candidate(batch.candidates)
        features = self.distance(distances(batch.mask))
        hidden = self.dependent(batch.vectors)[:, :, None] + candidates[:, None] + features
        return self.out(hidden.tanh())[..., 0]


def distances(mask: torch.Tensor) -> torch.Tensor:
    """Distance features [sentence, dependent, candidate, 8] of padded sentences.

    How far ahead and how far behind the candidate is, as a share of the length; indicators of the
    distances -2 to 2; an indicator of the root, for which all others are 0.
    """
    length = mask.sum(dim=1).clamp_min(1)
    positions = torch.arange(mask.shape[1], device=mask.device)
    offset = (positions[None, :] - positions[:, None]).float()
    share = offset / length[:, None, None]
    near = [(offset == k).float().expand_as(share) for k in range(-2, 3)]
    root = torch.zeros_like(share)
    features = torch.stack([share.clamp_min(0), (-share).clamp_min(0), *near, root], dim=-1)
    first = torch.zeros_like(features[:, :, :1])
    first[..., -1] = 1
    return torch.cat([first, features], dim=2)


BatchT = TypeVar("BatchT")
KEPT_BYTES = 2**31  # of padded attention that stay in memory


class Batches(Sequence[Batch]):
    """Batches of sentences of neighbouring lengths; up to `kept_bytes` of them stay in memory."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        heads: Sequence[np.ndarray],
        size: int,
        kept_bytes: int = KEPT_BYTES,
        released_pairing: bool = False,
    ) -> None:
        self.sentences, self.heads = sentences, heads
        self.chunks = chunks_by_length([len(sentence) for sentence in sentences], size)
        self.kept_bytes, self.released_pairing = kept_bytes, released_pairing
        self._kept: dict[int, Batch] = {}

    def __len__(self) -> int:
        return len(self.chunks)

    def __getitem__(self, index: int) -> Batch:
        chunk = self.chunks[index]
        return replace(self._collated(chunk), heads=_pad([self.heads[k] for k in chunk]))

    @property
    def order(self) -> list[int]:
        """Indices of the sentences in the batches' order, which `predictions` has too."""
        return np.concatenate(self.chunks).tolist()

    def with_heads(self, heads: Sequence[np.ndarray]) -> "Batches":
        """The same batches, kept together with these, with other correct candidates."""
        twin = copy.copy(self)
        twin.heads = heads
        return twin

    def _collated(self, chunk: np.ndarray) -> Batch:
        key = int(chunk[0])
        if key in self._kept:
            return self._kept[key]
        sentences, heads = ([of[k] for k in chunk] for of in (self.sentences, self.heads))
        batch = collate(sentences, heads, self.released_pairing)
        in_memory = sum(kept.pairs.nbytes for kept in self._kept.values())
        if in_memory + batch.pairs.nbytes <= self.kept_bytes:
            self._kept[key] = batch
        return batch


def collate(
    sentences: Sequence[Sentence], heads: Sequence[np.ndarray], released_pairing: bool = False
) -> Batch:
    """One padded batch, all numbers float32.

    With `released_pairing` each candidate comes with the vector of the next word, as in the
    released code: the root with that of the first word, the last word with none.
    """
    n, longest = len(sentences), max(len(sentence) for sentence in sentences)
    n_heads = len(sentences[0].attention)
    pairs = torch.zeros(n, longest, 2 * n_heads, longest)
    edges = torch.zeros(n, longest, 2 * n_heads, 2)
    for row, sentence in enumerate(sentences):
        length = len(sentence)
        attention = torch.from_numpy(sentence.attention).float()
        to_ends, from_ends = torch.from_numpy(sentence.edges).chunk(2)
        pairs[row, :length, :n_heads, :length] = attention.permute(1, 0, 2)
        pairs[row, :length, n_heads:, :length] = attention.permute(2, 0, 1)
        edges[row, :length, :n_heads] = to_ends.permute(2, 1, 0)
        edges[row, :length, n_heads:] = from_ends.permute(2, 1, 0)
    vectors = _pad([sentence.vectors for sentence in sentences])
    return Batch(
        pairs=pairs,
        edges=edges,
        vectors=vectors,
        candidates=functional.pad(vectors, (0, 0, 0, 1) if released_pairing else (0, 0, 1, 0)),
        mask=_pad([np.ones(len(sentence), dtype=bool) for sentence in sentences]),
        heads=_pad(heads),
    )


def _pad(arrays: Sequence[np.ndarray]) -> torch.Tensor:
    """Arrays [word, ...] as one tensor [sentence, word, ...], padded with 0."""
    return pad_sequence([torch.from_numpy(array) for array in arrays], batch_first=True)


def on(batch: Batch, device: torch.device) -> Batch:
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
    """Fit `probe` to the cross entropy of the correct heads, averaged over words."""
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
    """Adam over batches in a random order, by seed; the learning rate decays linearly to 0."""
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate)
    schedule = linear_schedule(optimizer, recipe.epochs * len(batches))
    shuffled = ShuffledBatches(batches, recipe.seed)
    train(model, shuffled, loss_of, recipe.epochs, schedule, desc=desc)


@torch.inference_mode()
def predictions(
    probe: torch.nn.Module, batches: Sequence[Batch], device: torch.device, itself: bool = False
) -> list[np.ndarray]:
    """The predicted head of every word, as `Sentence.heads`: int [word], in the batches' order."""
    predicted = []
    for batch in batches:
        scores = masked_scores(probe, on(batch, device), itself)
        lengths = batch.mask.sum(dim=1)
        heads = scores.argmax(dim=-1).cpu().numpy()
        predicted.extend(row[:length] for row, length in zip(heads, lengths, strict=True))
    return predicted
